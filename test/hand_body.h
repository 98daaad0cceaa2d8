/* A deformable body made by hand, of which everything is known: 24 equal point masses on a grid of 4 x 3 x 2, which are
 * its surface too, moved by polynomials of second degree. Its integrals are plain sums. */
#ifndef DS_TEST_HAND_BODY_H
#define DS_TEST_HAND_BODY_H

#include <stdlib.h>
#include <string.h>

#include "body/reduced.h"
#include "check.h"
#include "random.h"

enum { HAND_POINTS = 24 };

typedef struct hand_def {
  int32_t r;
  double mass;      /* kg, of all points */
  ds_vec3 size;     /* m */
  double frequency; /* Hz: mode a has frequency (1 + a/2) of it */
  double cubic;     /* > 0: St. Venant-Kirchhoff like, with an energy of fourth degree */
  double damping_mass, damping_stiffness;
} hand_def;

static inline hand_def hand_default(void) {
  return (hand_def){.r = 6, .mass = 12, .size = {0.6, 0.4, 0.2}, .frequency = 2};
}

static inline ds_vec3 hand_point(const hand_def *def, int32_t i) {
  return v3(def->size.x * (i % 4 / 3.0 - 0.5), def->size.y * (i / 4 % 3 / 2.0 - 0.5), def->size.z * (i / 12 - 0.5));
}

static inline double hand_dot(const ds_vec3 *a, const ds_vec3 *b, double m) {
  double sum = 0;
  for (int32_t i = 0; i < HAND_POINTS; i++) sum += m * v3_dot(a[i], b[i]);
  return sum;
}

/* Fields: six rigid ones, then r others, all orthonormal in the mass (Gram-Schmidt, twice). */
static inline void hand_fields(ds_vec3 (*field)[HAND_POINTS], const hand_def *def, uint64_t *random) {
  double m = def->mass / HAND_POINTS;
  for (int32_t k = 0; k < 6 + def->r; k++) {
    double c[30];
    for (int32_t j = 0; j < 30; j++) c[j] = random_in(random, -1, 1);
    for (int32_t i = 0; i < HAND_POINTS; i++) {
      ds_vec3 x = hand_point(def, i), e = v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
      double b[10] = {1, x.x, x.y, x.z, x.x * x.x, x.y * x.y, x.z * x.z, x.x * x.y, x.x * x.z, x.y * x.z}, u[3] = {0};
      for (int32_t j = 0; j < 30; j++) u[j / 10] += c[j] * b[j % 10];
      field[k][i] = k < 3 ? e : k < 6 ? v3_cross(e, x) : v3(u[0], u[1], u[2]);
    }
    for (int pass = 0; pass < 2; pass++)
      for (int32_t j = 0; j < k; j++) {
        double s = hand_dot(field[k], field[j], m);
        for (int32_t i = 0; i < HAND_POINTS; i++) field[k][i] = v3_mad(field[k][i], -s, field[j][i]);
      }
    double length = sqrt(hand_dot(field[k], field[k], m));
    for (int32_t i = 0; i < HAND_POINTS; i++) field[k][i] = v3_scale(1 / length, field[k][i]);
  }
}

static inline void hand_add_outer(double e[6], double s, ds_vec3 a, ds_vec3 b) {
  e[0] += s * a.x * b.x, e[1] += s * a.y * b.y, e[2] += s * a.z * b.z;
  e[3] += 0.5 * s * (a.x * b.y + a.y * b.x), e[4] += 0.5 * s * (a.x * b.z + a.z * b.x);
  e[5] += 0.5 * s * (a.y * b.z + a.z * b.y);
}

static inline void hand_integrals(ds_reduced *x, ds_vec3 (*u)[HAND_POINTS], double m) {
  int32_t r = x->r;
  for (int32_t i = 0; i < HAND_POINTS; i++) {
    ds_vec3 p = x->surface.vertices[i];
    hand_add_outer(x->second0, m, p, p);
    double *pair = x->second2;
    for (int32_t a = 0; a < r; a++) {
      hand_add_outer(x->second1 + 6 * a, 2 * m, p, u[a][i]);
      for (int32_t b = a; b < r; b++, pair += 6) hand_add_outer(pair, a == b ? m : 2 * m, u[a][i], u[b][i]);
      for (int32_t b = 0; b < r; b++) {
        ds_vec3 c = v3_scale(m, v3_cross(u[a][i], u[b][i]));
        double *to = x->coupling + 3 * (a * r + b);
        to[0] += c.x, to[1] += c.y, to[2] += c.z;
      }
    }
  }
  x->inertia = v3(x->second0[1] + x->second0[2], x->second0[0] + x->second0[2], x->second0[0] + x->second0[1]);
}

/* The energy 1/2 sum w_a² q_a² + s3 (c.q)³ + s4 (c.q)⁴ with c a fixed direction: s3² < s4 w²... keeps it convex enough.
 */
static inline void hand_elasticity(ds_reduced *x, const hand_def *def) {
  int32_t r = x->r;
  double c[DS_REDUCED_MAX];
  for (int32_t a = 0; a < r; a++) {
    double w = 2 * DS_PI * def->frequency * (1 + 0.5 * a);
    x->stiffness[a * r + a] = w * w;
    x->frequency[a] = w / (2 * DS_PI);
    c[a] = (a % 2 ? -1 : 1) / sqrt(r);
  }
  if (!x->quadratic) return;
  double k = x->stiffness[0], s3 = 0.3 * def->cubic * k, s4 = def->cubic * def->cubic * k;
  double *p = x->quadratic, *q = x->cubic;
  for (int32_t i = 0; i < r; i++)
    for (int32_t a = 0; a < r; a++)
      for (int32_t b = a; b < r; b++) {
        *p++ = 3 * s3 * c[i] * c[a] * c[b] * (a == b ? 1 : 2);
        for (int32_t d = b; d < r; d++) {
          int32_t same = (a == b) + (b == d);
          *q++ = 4 * s4 * c[i] * c[a] * c[b] * c[d] * (same == 2 ? 1 : same == 1 ? 3 : 6);
        }
      }
}

/* Two triangles of a face of the grid, seen from outside: nodes i, i + s, i + s + t, i + t. */
static inline void hand_face(ds_reduced *x, int32_t *count, int32_t i, int32_t s, int32_t t) {
  int32_t *to = x->surface.triangles + 3 * *count;
  to[0] = i, to[1] = i + s, to[2] = i + s + t, to[3] = i, to[4] = i + s + t, to[5] = i + t;
  *count += 2;
}

static inline void hand_surface(ds_reduced *x) {
  int32_t n = 0;
  for (int32_t a = 0; a < 3; a++)
    for (int32_t b = 0; b < 2; b++) {
      hand_face(x, &n, a + 4 * b, 4, 1);
      hand_face(x, &n, 12 + a + 4 * b, 1, 4);
    }
  for (int32_t a = 0; a < 3; a++) {
    hand_face(x, &n, a, 1, 12);
    hand_face(x, &n, a + 8, 12, 1);
  }
  for (int32_t b = 0; b < 2; b++) {
    hand_face(x, &n, 4 * b, 12, 4);
    hand_face(x, &n, 3 + 4 * b, 4, 12);
  }
}

static inline ds_reduced *hand_body(const hand_def *def) {
  uint64_t random = 77;
  ds_vec3 field[6 + 32][HAND_POINTS];
  int32_t r = def->r;
  ds_error error = {""};
  ds_reduced *x = r <= 32 ? ds_reduced_alloc(r, HAND_POINTS, 1, HAND_POINTS, 44, def->cubic > 0) : NULL;
  CHECK(x != NULL);
  if (!x) return NULL;
  hand_fields(field, def, &random);
  for (int32_t i = 0; i < HAND_POINTS; i++) {
    x->tets.nodes[i] = x->surface.vertices[i] = hand_point(def, i);
    x->surface_node[i] = i;
    for (int32_t a = 0; a < r; a++) {
      double u[3] = {field[6 + a][i].x, field[6 + a][i].y, field[6 + a][i].z};
      for (int32_t k = 0; k < 3; k++) x->basis[(3 * i + k) * r + a] = x->node_basis[(3 * i + k) * r + a] = u[k];
    }
  }
  const int32_t corner[4] = {0, 1, 4, 12};
  memcpy(x->tets.tets, corner, sizeof corner);
  x->mass = def->mass;
  hand_integrals(x, field + 6, def->mass / HAND_POINTS);
  hand_elasticity(x, def);
  hand_surface(x);
  x->info.young = 1e6, x->info.poisson = 0.3, x->info.linear_modes = r;
  x->info.density = def->mass / (def->size.x * def->size.y * def->size.z);
  x->info.damping_mass = def->damping_mass, x->info.damping_stiffness = def->damping_stiffness;
  ds_status status = ds_reduced_finish(x, &error);
  if (status != DS_OK) printf("%s\n", error.message);
  CHECK(status == DS_OK);
  return x;
}

#endif
