/* Assemblies by hand, for tests of drystone/stand.h. */
#ifndef DS_TEST_STAND_HELPER_H
#define DS_TEST_STAND_HELPER_H

#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "check.h"
#include "drystone/stand.h"

enum { HAND_MOST = 512 };

typedef struct hand {
  ds_assembly a;
  ds_block blocks[HAND_MOST];
  ds_interface interfaces[2 * HAND_MOST];
  ds_vec3 points[8 * HAND_MOST];
} hand;

static inline void hand_begin(hand *h) {
  memset(h, 0, sizeof *h);
  h->a = (ds_assembly){.blocks = h->blocks, .interfaces = h->interfaces, .points = h->points, .gravity = {0, 0, -9.81}};
}

/* A block as heavy as a box of these edges at 1000 kg/m³. */
static inline int32_t hand_box(hand *h, ds_vec3 center, ds_vec3 edges) {
  ds_block *b = &h->blocks[h->a.block_count];
  double m = 1000 * edges.x * edges.y * edges.z;
  snprintf(b->name, sizeof b->name, "b%d", (int)h->a.block_count);
  b->mass = m;
  b->center = center;
  b->inertia[0] = m / 12 * (edges.y * edges.y + edges.z * edges.z);
  b->inertia[4] = m / 12 * (edges.x * edges.x + edges.z * edges.z);
  b->inertia[8] = m / 12 * (edges.x * edges.x + edges.y * edges.y);
  return h->a.block_count++;
}

static inline int32_t hand_support(hand *h) {
  int32_t i = hand_box(h, v3(0, 0, 0), v3(1, 1, 1));
  h->blocks[i].support = true;
  return i;
}

static inline void hand_interface(hand *h, int32_t a, int32_t b, ds_vec3 normal, double mu, const ds_vec3 *points,
                                  int32_t count) {
  h->interfaces[h->a.interface_count++] =
      (ds_interface){.a = a, .b = b, .normal = v3_unit(normal), .first = h->a.point_count, .count = count, .mu = mu};
  memcpy(h->points + h->a.point_count, points, (size_t)count * sizeof *points);
  h->a.point_count += count;
}

/* A joint of a structure that is `depth` deep along y: from p to q in the plane y = 0. */
static inline void hand_joint(hand *h, int32_t a, int32_t b, ds_vec3 p, ds_vec3 q, double depth, ds_vec3 normal,
                              double mu) {
  ds_vec3 y = v3(0, depth / 2, 0), corners[4] = {v3_sub(p, y), v3_add(p, y), v3_add(q, y), v3_sub(q, y)};
  hand_interface(h, a, b, normal, mu, corners, 4);
}

/* A circular arch of n voussoirs between angles from..to, of mean radius r and thickness t, on a support. */
static inline void hand_arch(hand *h, int32_t n, double r, double t, double from, double to, double mu) {
  hand_begin(h);
  double inner = r - t / 2, outer = r + t / 2, step = (to - from) / n;
  int32_t ground = hand_support(h);
  for (int32_t i = 0; i < n; i++) { /* the exact area and centroid of a sector */
    double half = step / 2, middle = from + (i + 0.5) * step, area = half * (outer * outer - inner * inner);
    double c = 2.0 / 3 * (pow(outer, 3) - pow(inner, 3)) / (outer * outer - inner * inner) * sin(half) / half;
    int32_t b = hand_box(h, v3(c * cos(middle), 0, c * sin(middle)), v3(t, 1, step * r));
    double scale = 1000 * area / h->blocks[b].mass;
    h->blocks[b].mass *= scale;
    for (int32_t k = 0; k < 9; k++) h->blocks[b].inertia[k] *= scale;
  }
  for (int32_t i = 0; i <= n; i++) {
    double s = from + i * step;
    ds_vec3 out = v3(cos(s), 0, sin(s));
    hand_joint(h, i == 0 ? ground : i, i == n ? ground : i + 1, v3_scale(inner, out), v3_scale(outer, out), 1,
               v3(-sin(s), 0, cos(s)), mu);
  }
}

static inline ds_verdict hand_verdict(const hand *h) {
  ds_stand_options options = {.margin = false};
  ds_stand s;
  ds_error error = {""};
  CHECK(ds_stand_check(&s, &h->a, &options, &error) == DS_OK);
  ds_verdict verdict = s.verdict;
  ds_stand_free(&s);
  return verdict;
}

/* Whether its certificate, written and read again, holds. */
static inline bool certificate_holds(const ds_stand *s, const ds_assembly *a, ds_verification *v) {
  char *text = NULL;
  size_t length = 0;
  ds_error error = {""};
  FILE *file = open_memstream(&text, &length);
  bool good = file && ds_stand_write_certificate(file, s, a);
  if (file) fclose(file);
  good = good && ds_stand_verify(v, text, length, "certificate", &error) == DS_OK;
  if (error.message[0]) printf("%s\n", error.message);
  free(text);
  return good && v->valid && v->verdict == s->verdict;
}

#endif
