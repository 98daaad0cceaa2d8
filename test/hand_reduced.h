/* Deformable bodies by hand, for tests of their surface alone: a box cut into cells, bent into other things, with
 * smooth displacement fields as its basis. Mass and elasticity are those of nothing in particular. */
#ifndef DS_TEST_HAND_REDUCED_H
#define DS_TEST_HAND_REDUCED_H

#include <stdlib.h>

#include "body/reduced.h"
#include "check.h"
#include "random_pose.h"

/* Where a point u of the cube [-1, 1]³ goes; and its displacement for coordinate a. */
typedef ds_vec3 hand_place(ds_vec3 u, const void *context);
typedef ds_vec3 hand_mode(ds_vec3 u, int32_t a, const void *context);

/* The number of grid point (i, j, k) on the surface of n[0] x n[1] x n[2] cells, in a table. */
typedef struct hand_grid {
  int32_t n[3], *number, count;
} hand_grid;

static inline int32_t hand_index(const hand_grid *g, int32_t i, int32_t j, int32_t k) {
  return (i * (g->n[1] + 1) + j) * (g->n[2] + 1) + k;
}

static inline void hand_number(hand_grid *g) {
  g->number = malloc((size_t)((g->n[0] + 1) * (g->n[1] + 1) * (g->n[2] + 1)) * sizeof *g->number);
  for (int32_t i = 0; i <= g->n[0]; i++)
    for (int32_t j = 0; j <= g->n[1]; j++)
      for (int32_t k = 0; k <= g->n[2]; k++) {
        bool edge = i == 0 || i == g->n[0] || j == 0 || j == g->n[1] || k == 0 || k == g->n[2];
        g->number[hand_index(g, i, j, k)] = edge ? g->count++ : -1;
      }
}

/* Two triangles of a cell face across `axis`, at its low or high side, seen from outside counter-clockwise. */
static inline void hand_face(int32_t *out, const hand_grid *g, int axis, int side, int32_t p, int32_t q) {
  int32_t v[4];
  for (int c = 0; c < 4; c++) {
    int32_t at[3];
    at[axis] = side ? g->n[axis] : 0;
    at[(axis + 1) % 3] = p + (c == 1 || c == 2);
    at[(axis + 2) % 3] = q + (c >= 2);
    v[side ? c : 3 - c] = g->number[hand_index(g, at[0], at[1], at[2])];
  }
  /* diagonals alternate */
  int turn = (p + q) % 2;
  const int32_t t[6] = {v[turn], v[turn + 1], v[turn + 2], v[turn], v[turn + 2], v[(turn + 3) % 4]};
  for (int c = 0; c < 6; c++) out[c] = t[c];
}

static inline void hand_fill(ds_reduced *x, const hand_grid *g, hand_place *place, hand_mode *mode,
                             const void *context) {
  size_t r = (size_t)x->r;
  for (int32_t i = 0; i <= g->n[0]; i++)
    for (int32_t j = 0; j <= g->n[1]; j++)
      for (int32_t k = 0; k <= g->n[2]; k++) {
        int32_t v = g->number[hand_index(g, i, j, k)];
        if (v < 0) continue;
        ds_vec3 u = v3(2.0 * i / g->n[0] - 1, 2.0 * j / g->n[1] - 1, 2.0 * k / g->n[2] - 1);
        x->surface.vertices[v] = x->tets.nodes[v] = place(u, context);
        x->surface_node[v] = v;
        for (size_t a = 0; a < r; a++) {
          ds_vec3 w = mode(u, (int32_t)a, context);
          double *b = x->basis + 3 * r * (size_t)v + a;
          b[0] = w.x, b[r] = w.y, b[2 * r] = w.z;
        }
      }
  int32_t *out = x->surface.triangles;
  for (int axis = 0; axis < 3; axis++)
    for (int side = 0; side < 2; side++)
      for (int32_t p = 0; p < g->n[(axis + 1) % 3]; p++)
        for (int32_t q = 0; q < g->n[(axis + 2) % 3]; q++, out += 6) hand_face(out, g, axis, side, p, q);
}

static inline ds_reduced *hand_body(int32_t nx, int32_t ny, int32_t nz, int32_t r, hand_place *place, hand_mode *mode,
                                    const void *context) {
  hand_grid g = {.n = {nx, ny, nz}};
  hand_number(&g);
  int32_t triangles = 4 * (nx * ny + ny * nz + nz * nx);
  ds_reduced *x = ds_reduced_alloc(r, g.count, 1, g.count, triangles, false);
  CHECK(x != NULL);
  hand_fill(x, &g, place, mode, context);
  for (int32_t i = 0; i < 4; i++) x->tets.tets[i] = i;
  for (int32_t a = 0; a < r; a++) {
    x->stiffness[a * r + a] = 100 * (a + 1) * (a + 1);
    x->frequency[a] = sqrt(x->stiffness[a * r + a]) / (2 * DS_PI);
  }
  x->mass = 1;
  x->inertia = v3(0.01, 0.01, 0.01);
  x->second0[0] = x->second0[1] = x->second0[2] = 0.005;
  x->info.young = 1e6, x->info.poisson = 0.3, x->info.density = 1000;
  x->info.linear_modes = r;
  ds_error error = {""};
  ds_status status = ds_reduced_finish(x, &error);
  if (status != DS_OK) printf("%s\n", error.message);
  CHECK(status == DS_OK);
  free(g.number);
  return x;
}

/* ---- a box ---- */

static inline ds_vec3 hand_box_place(ds_vec3 u, const void *half) { return v3_mul(u, *(const ds_vec3 *)half); }

/* 0: bends along x, towards z at the ends; 1: along x, towards y; 2: twist about x; 3: longer; then waves. */
static inline ds_vec3 hand_box_mode(ds_vec3 u, int32_t a, const void *context) {
  ds_vec3 half = *(const ds_vec3 *)context;
  double l = half.x;
  switch (a) {
    case 0:
      return v3(-2 * u.x * u.z * half.z / l, 0, u.x * u.x);
    case 1:
      return v3(-2 * u.x * u.y * half.y / l, u.x * u.x, 0);
    case 2:
      return v3(0, -u.x * u.z, u.x * u.y);
    case 3:
      return v3(u.x, 0, 0);
    default: {
      double k = 1 + 0.5 * (a - 4), p = 0.7 * a;
      return v3_scale(0.3, v3(sin(k * u.y + p), cos(k * u.z + 2 * p), sin(k * u.x - p)));
    }
  }
}

static inline ds_reduced *hand_box(ds_vec3 half, int32_t nx, int32_t ny, int32_t nz, int32_t r) {
  return hand_body(nx, ny, nz, r, hand_box_place, hand_box_mode, &half);
}

/* ---- a ball: the cube blown up ---- */

static inline ds_vec3 hand_ball_place(ds_vec3 u, const void *radius) {
  return v3_scale(*(const double *)radius,
                  v3_unit(v3(tan(DS_PI / 4 * u.x), tan(DS_PI / 4 * u.y), tan(DS_PI / 4 * u.z))));
}

static inline ds_vec3 hand_ball_mode(ds_vec3 u, int32_t a, const void *radius) {
  ds_vec3 x = v3_unit(hand_ball_place(u, radius)), half = v3(1, 1, 1);
  if (a == 0) return v3(0.5 * x.x, 0.5 * x.y, -x.z); /* flat */
  return hand_box_mode(x, a, &half);
}

static inline ds_reduced *hand_ball(double radius, int32_t n, int32_t r) {
  return hand_body(n, n, n, r, hand_ball_place, hand_ball_mode, &radius);
}

/* ---- a horseshoe: a bar along x bent by a half angle `open`; its one coordinate bends it to `closed` at 1 ---- */

typedef struct hand_shoe {
  double radius, thick, open, closed; /* m, m, rad, rad */
} hand_shoe;

static inline ds_vec3 hand_shoe_at(ds_vec3 u, const hand_shoe *s, double angle) {
  double r = s->radius * s->open / angle + s->thick * u.z, phi = angle * u.x; /* the middle line keeps its length */
  return v3(r * sin(phi), s->thick * u.y, r * cos(phi));
}
static inline ds_vec3 hand_shoe_place(ds_vec3 u, const void *context) {
  const hand_shoe *s = context;
  return hand_shoe_at(u, s, s->open);
}
static inline ds_vec3 hand_shoe_mode(ds_vec3 u, int32_t a, const void *context) {
  const hand_shoe *s = context;
  (void)a;
  return v3_sub(hand_shoe_at(u, s, s->closed), hand_shoe_at(u, s, s->open));
}

static inline ds_reduced *hand_horseshoe(hand_shoe shoe, int32_t n, int32_t across) {
  return hand_body(n, across, across, 1, hand_shoe_place, hand_shoe_mode, &shoe);
}

#endif
