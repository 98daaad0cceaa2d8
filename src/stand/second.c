#include "stand/second.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "drystone/problem.h"

enum { STARTS = 5, MOST_POINTS = 2000 /* larger problems take minutes */ };
/* A solution counts as moving where its kinetic norm is this share of free fall: the solver's error of 1e-8 leaves
 * motions of some 1e-4 that are not there. */
static const double least_share = 1e-3;
static const double push = 0.3;   /* of gravity, sideways, for the starts */
static const double budget = 300; /* factorizations per start */

typedef struct setting {
  ds_problem problem;
  double *f, *r, *u, *v;
  double fall; /* wᵀM⁻¹w */
} setting;

/* Inverse of a symmetric positive definite 3 x 3 matrix times x. */
static ds_vec3 inverse_times(const double *m, ds_vec3 x) {
  ds_vec3 a = v3(m[0], m[3], m[6]), b = v3(m[1], m[4], m[7]), c = v3(m[2], m[5], m[8]);
  double det = v3_dot(a, v3_cross(b, c));
  return v3(v3_dot(x, v3_cross(b, c)) / det, v3_dot(a, v3_cross(x, c)) / det, v3_dot(a, v3_cross(b, x)) / det);
}

/* M in units of the mean mass, block by block. */
static void fill_mass(ds_matrix *m, int32_t *row, int32_t *column, double *value, const ds_graph *g, double mean) {
  m->entries = 0;
  m->rows = m->columns = 6 * g->n;
  for (int32_t i = 0; i < g->n; i++) {
    const ds_block *b = &g->assembly->blocks[g->block[i]];
    for (int32_t j = 0; j < 12; j++) {
      int32_t e = m->entries++;
      row[e] = 6 * i + (j < 3 ? j : 3 + (j - 3) / 3);
      column[e] = 6 * i + (j < 3 ? j : 3 + (j - 3) % 3);
      value[e] = (j < 3 ? b->mass : b->inertia[j - 3]) / mean;
    }
  }
  m->row = row, m->column = column, m->value = value;
}

/* H: forces and torques about the centres, of contact forces along normal and tangents. */
static void fill_jacobian(ds_matrix *h, int32_t *row, int32_t *column, double *value, const ds_graph *g) {
  h->entries = 0;
  h->rows = 6 * g->n, h->columns = 3 * g->points;
  for (int32_t k = 0; k < g->points; k++)
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = g->body[2 * k + side];
      if (body < 0) continue;
      const double *rows = g->g + 36 * (size_t)k + 18 * side;
      for (int32_t j = 0; j < 18; j++) {
        int32_t e = h->entries++;
        double f = g->root_mass[body] * (j % 6 < 3 ? 1 : g->radius[body]);
        row[e] = 6 * body + j % 6, column[e] = 3 * k + j / 6, value[e] = f * rows[j];
      }
    }
  h->row = row, h->column = column, h->value = value;
}

static bool set_up(ds_arena *arena, setting *s, const ds_graph *g) {
  size_t n = (size_t)g->n, nc = (size_t)g->points;
  int32_t *rows = DS_NEW(arena, int32_t, 12 * n + 36 * nc + 1), *columns = DS_NEW(arena, int32_t, 12 * n + 36 * nc + 1);
  double *values = DS_NEW(arena, double, 12 * n + 36 * nc + 1), *zero = DS_NEW0(arena, double, 3 * nc + 1), mass = 0;
  s->f = DS_NEW(arena, double, 6 * n + 1);
  s->r = DS_NEW0(arena, double, 3 * nc + 1);
  s->u = DS_NEW0(arena, double, 3 * nc + 1);
  s->v = DS_NEW0(arena, double, 6 * n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < g->n; i++) mass += g->assembly->blocks[g->block[i]].mass / g->n;
  s->problem = (ds_problem){.form = DS_PROBLEM_GLOBAL, .dimension = 3, .contacts = g->points, .dof = 6 * g->n};
  fill_mass(&s->problem.M, rows, columns, values, g, mass);
  fill_jacobian(&s->problem.H, rows + 12 * n, columns + 12 * n, values + 12 * n, g);
  s->problem.f = s->f;
  s->problem.w = zero;
  s->problem.mu = g->mu;
  for (int32_t i = 0; i < g->n; i++) { /* wᵀM⁻¹w, in units of force² over the mean mass */
    const ds_block *b = &g->assembly->blocks[g->block[i]];
    ds_vec3 force = v3_mad(b->force, b->mass, g->assembly->gravity), turn = inverse_times(b->inertia, b->torque);
    s->fall += (v3_norm2(force) / b->mass + v3_dot(b->torque, turn)) * mass / (g->unit * g->unit);
  }
  return true;
}

/* w, and a push sideways. */
static void set_loads(setting *s, const ds_graph *g, ds_vec3 sideways) {
  for (int32_t i = 0; i < g->n; i++) {
    double m = g->assembly->blocks[g->block[i]].mass / g->unit, *f = s->f + 6 * i;
    for (int32_t j = 0; j < 6; j++) f[j] = g->load[6 * i + j] * g->root_mass[i] * (j < 3 ? 1 : g->radius[i]);
    f[0] += m * sideways.x, f[1] += m * sideways.y, f[2] += m * sideways.z;
  }
}

/* vᵀMv of a solution */
static double motion_of(const setting *s) {
  double sum = 0;
  for (int32_t e = 0; e < s->problem.M.entries; e++)
    sum += s->v[s->problem.M.row[e]] * s->problem.M.value[e] * s->v[s->problem.M.column[e]];
  return sum;
}

static bool keep(ds_stand *stand, const ds_graph *g, const double *v, double mean) {
  stand->moving = calloc((size_t)g->assembly->block_count + 1, sizeof *stand->moving);
  if (!stand->moving) return false;
  double f = g->unit / mean; /* accelerations, m/s² */
  for (int32_t i = 0; i < g->n; i++) {
    const double *a = v + 6 * i;
    ds_twist *t = &stand->moving[g->block[i]];
    t->w = v3(f * a[3], f * a[4], f * a[5]);
    t->v = v3_sub(v3(f * a[0], f * a[1], f * a[2]), v3_cross(t->w, g->assembly->blocks[g->block[i]].center));
  }
  stand->reason = DS_REASON_MOVES;
  return true;
}

bool ds_second_solution(ds_arena *arena, ds_stand *stand, const ds_graph *g) {
  setting s = {.fall = 0};
  if (g->points > MOST_POINTS || g->n == 0 || g->limits > 0) return true;
  if (!set_up(arena, &s, g)) return false;
  ds_solve_options options = ds_default_solve_options();
  options.budget = budget;
  ds_vec3 down = v3_unit(g->assembly->gravity), side[2];
  v3_tangents(&side[0], &side[1], down);
  double mass = 0, size = push * v3_norm(g->assembly->gravity);
  for (int32_t i = 0; i < g->n; i++) mass += g->assembly->blocks[g->block[i]].mass / g->n;
  for (int32_t i = 0; i < STARTS; i++) { /* from nothing, and from what holds against a push to either side */
    ds_solution solution;
    memset(s.r, 0, 3 * (size_t)g->points * sizeof *s.r);
    if (i > 0) {
      set_loads(&s, g, v3_scale(i % 2 == 1 ? size : -size, side[(i - 1) / 2]));
      if (ds_problem_solve(&s.problem, &options, s.r, s.u, s.v, &solution, NULL) == DS_ERROR_MEMORY) return false;
    }
    set_loads(&s, g, v3(0, 0, 0));
    ds_status status = ds_problem_solve(&s.problem, &options, s.r, s.u, s.v, &solution, NULL);
    if (status == DS_ERROR_MEMORY) return false;
    if (status != DS_OK || solution.outcome != DS_SOLVED || !(s.fall > 0)) continue;
    double share = sqrt(motion_of(&s) / s.fall);
    if (!(share >= least_share)) continue;
    stand->moving_share = share;
    stand->moving_error = solution.certificate.natural_error;
    return keep(stand, g, s.v, mass);
  }
  return true;
}
