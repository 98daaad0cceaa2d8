/* Discs in a plane that flow down a slope: thousands of contacts, each disc with 6 neighbours at most.
 *
 * Discs lie in rows, every other row half a disc aside, on the x axis. Sizes and places are random, and so is whether
 * neighbours touch or are apart by up to 1 mm. The free velocity is a shear, a random part, and gravity of a step. As
 * seen from a point far below all fly apart: every contact opens along its normal, so that a solution exists.
 *
 * Form: M v = H r + M v_free, u = Hᵀ v + w, w_N = gap/h, three velocities a disc; or W = Hᵀ M⁻¹ H and q alone. Lengths
 * in m, masses in kg, the step is 5 ms. */
#ifndef DS_TEST_RANDOM_FLOW_H
#define DS_TEST_RANDOM_FLOW_H

#include "problem/triplets.h"
#include "random_ds_problem.h"

typedef struct flow_spec {
  uint64_t seed;
  int32_t contacts; /* about as many */
  double ratio;     /* largest over smallest mass, beside what sizes do */
  double mu;
  bool alone; /* W and q */
} flow_spec;

typedef struct flow {
  int32_t discs, contacts;
  double *x, *y, *radius, *mass; /* a disc */
  double *free;                  /* three a disc: along x, along y, turning */
  int32_t *body;                 /* two a contact; the second may be -1, the floor */
  double *row;                   /* two rows of two bodies of three velocities a contact: 12 */
  double *gap;
} flow;

static const double FLOW_SLOPE = 0.35, FLOW_STEP = 0.005; /* rad, s */

static inline void flow_touch(flow *f, uint64_t *s, int32_t a, int32_t b) {
  double dx = b < 0 ? 0 : f->x[a] - f->x[b], dy = b < 0 ? 1 : f->y[a] - f->y[b], length = sqrt(dx * dx + dy * dy);
  double normal[2] = {dx / length, dy / length}, tangent[2] = {-normal[1], normal[0]};
  double *row = f->row + 12 * f->contacts;
  f->body[2 * f->contacts] = a, f->body[2 * f->contacts + 1] = b;
  for (int side = 0; side < 2; side++) {
    int32_t body = side == 0 ? a : b;
    double sign = side == 0 ? 1 : -1;
    for (int i = 0; i < 2 && body >= 0; i++) row[3 * side + i] = sign * normal[i];
    for (int i = 0; i < 2 && body >= 0; i++) row[6 + 3 * side + i] = sign * tangent[i];
    if (body >= 0) row[6 + 3 * side + 2] = -f->radius[body]; /* both surfaces turn away from the centres */
  }
  double open = random_unit(s);
  f->gap[f->contacts++] = open < 0.7 ? 0 : random_log(s, 1e-6, 1e-3);
}

static inline flow flow_make(ds_arena *arena, const flow_spec *spec) {
  uint64_t s = spec->seed * 0x2545f4914f6cdd1du + 1;
  int32_t across = (int32_t)ceil(sqrt(spec->contacts / 2.2)) + 1, discs = across * across, most = 4 * discs;
  flow f = {.discs = discs};
  double **numbers[] = {&f.x, &f.y, &f.radius, &f.mass};
  for (int i = 0; i < 4; i++) *numbers[i] = DS_NEW0(arena, double, discs);
  f.free = DS_NEW0(arena, double, 3 * (size_t)discs);
  f.body = DS_NEW0(arena, int32_t, 2 * (size_t)most);
  f.row = DS_NEW0(arena, double, 12 * (size_t)most);
  f.gap = DS_NEW0(arena, double, most);
  if (ds_arena_failed(arena)) return f;
  for (int32_t i = 0; i < discs; i++) {
    int32_t line = i / across;
    double size = random_in(&s, 0.8, 1), aside = random_in(&s, -0.1, 0.1), up = random_in(&s, -0.1, 0.1);
    f.radius[i] = 0.005 * size;
    f.mass[i] = random_log(&s, 1, spec->ratio) * size * size;
    f.x[i] = 0.01 * (i % across + 0.5 * (line % 2) + aside);
    f.y[i] = line == 0 ? f.radius[i] : 0.01 * (0.5 + 0.87 * line + up);
    double speed = 0.3 * f.y[i] / (0.01 * across);
    f.free[3 * i] = speed + 9.81 * FLOW_STEP * sin(FLOW_SLOPE) + 0.02 * random_normal(&s);
    f.free[3 * i + 1] = -9.81 * FLOW_STEP * cos(FLOW_SLOPE) + 0.02 * random_normal(&s);
    f.free[3 * i + 2] = 2 * random_normal(&s);
  }
  for (int32_t i = 0; i < discs; i++) {
    int32_t line = i / across, column = i % across, left = line % 2 ? 0 : -1;
    if (line == 0) flow_touch(&f, &s, i, -1);
    if (column > 0 && random_unit(&s) < 0.6) flow_touch(&f, &s, i, i - 1);
    for (int32_t k = left; line > 0 && k <= left + 1; k++) {
      bool touches = random_unit(&s) < 0.85;
      if (touches && column + k >= 0 && column + k < across) flow_touch(&f, &s, i, i - across + k);
    }
  }
  return f;
}

static inline double flow_mass(const flow *f, int32_t i) { /* of the i-th velocity */
  return i % 3 < 2 ? f->mass[i / 3] : 0.5 * f->mass[i / 3] * f->radius[i / 3] * f->radius[i / 3];
}

/* W_cd over the discs that c and d share */
static inline void flow_add_delassus(ds_triplets *w, const flow *f) {
  for (int32_t c = 0; c < f->contacts; c++)
    for (int32_t d = 0; d < f->contacts; d++)
      for (int k = 0; k < 4; k++) {
        int32_t body = f->body[2 * c + k / 2];
        if (body < 0 || body != f->body[2 * d + k % 2]) continue;
        const double *g = f->row + 12 * c + 3 * (k / 2), *h = f->row + 12 * d + 3 * (k % 2);
        for (int e = 0; e < 4; e++) {
          double sum = 0;
          for (int32_t i = 0; i < 3; i++) sum += g[6 * (e / 2) + i] * h[6 * (e % 2) + i] / flow_mass(f, 3 * body + i);
          ds_triplets_add(w, 2 * c + e / 2, 2 * d + e % 2, sum);
        }
      }
}

/* Memory comes from the arena; a failed one shows in ds_arena_failed. */
static inline ds_problem flow_problem(ds_arena *arena, const flow_spec *spec) {
  flow f = flow_make(arena, spec);
  int32_t dof = 3 * f.discs, rows = 2 * f.contacts;
  ds_problem p = {.dimension = 2, .contacts = f.contacts, .form = spec->alone ? DS_PROBLEM_LOCAL : DS_PROBLEM_GLOBAL};
  ds_triplets m = {.arena = arena}, h = {.arena = arena}, w = {.arena = arena};
  double *mu = DS_NEW(arena, double, f.contacts + 1), *load = DS_NEW(arena, double, dof + 1);
  double *q = DS_NEW0(arena, double, rows + 1);
  if (ds_arena_failed(arena)) return p;
  for (int32_t i = 0; i < dof; i++) {
    ds_triplets_add(&m, i, i, flow_mass(&f, i));
    load[i] = flow_mass(&f, i) * f.free[i];
  }
  for (int32_t i = 0; i < 12 * f.contacts; i++) {
    int32_t c = i / 12, body = f.body[2 * c + i / 3 % 2], j = 3 * body + i % 3, to = 2 * c + i % 12 / 6;
    if (body < 0 || f.row[i] == 0) continue;
    ds_triplets_add(&h, j, to, f.row[i]);
    if (spec->alone) q[to] += f.row[i] * f.free[j];
  }
  for (int32_t c = 0; c < f.contacts; c++) mu[c] = spec->mu, q[2 * c] += f.gap[c] / FLOW_STEP;
  p.mu = mu;
  if (spec->alone) {
    flow_add_delassus(&w, &f);
    p.W = ds_triplets_matrix(&w, rows, rows), p.q = q;
  } else {
    p.M = ds_triplets_matrix(&m, dof, dof), p.H = ds_triplets_matrix(&h, dof, rows);
    p.dof = dof, p.f = load, p.w = q;
  }
  return p;
}

#endif
