/* Nonsmooth Gauss-Seidel (Jean and Moreau 1992; Jourdan, Alart, Jean 1998): contact by contact, r_k is what solves that
 * contact with all others as they are, and v <- v + G_k dr_k. */
#include "project/gauss_seidel.h"

#include <math.h>

#include "project/solvers.h"

static inline void add_rows_times(double u[3], const double *g, const double *v, int32_t n) {
  for (int32_t i = 0; i < n; i++) u[0] += g[i] * v[i], u[1] += g[n + i] * v[i], u[2] += g[2 * n + i] * v[i];
}

static inline void add_columns(double *restrict v, const double *restrict g, const double d[3], int32_t n) {
  for (int32_t i = 0; i < n; i++) v[i] += g[i] * d[0] + g[n + i] * d[1] + g[2 * n + i] * d[2];
}

/* u_k += its row of Gᵀ v */
static void add_slip(double u[3], const ds_subproblem *p, const double *v_all, int32_t k) {
  for (int i = 0; i < 3 && p->delassus; i++) u[i] += v_all[3 * k + i];
  for (int32_t side = 0; side < 2 && !p->delassus; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side], *v = v_all + p->first[body];
    if (p->size[body] == 6)
      add_rows_times(u, g, v, 6);
    else
      add_rows_times(u, g, v, p->size[body]);
  }
}

/* v += G_k d */
static void push(double *v_all, const ds_subproblem *p, const double d[3], int32_t k) {
  const ds_delassus *w = p->delassus;
  for (int32_t s = w ? w->start[k] : 0; w && s < w->start[k + 1]; s++)
    for (int i = 0; i < 3; i++) {
      const double *m = w->value + 9 * s + i;
      v_all[3 * w->column[s] + i] += m[0] * d[0] + m[3] * d[1] + m[6] * d[2];
    }
  for (int32_t side = 0; side < 2 && !w; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side];
    double *v = v_all + p->first[body];
    if (p->size[body] == 6)
      add_columns(v, g, d, 6);
    else
      add_columns(v, g, d, p->size[body]);
  }
}

/* W_kk = G_kᵀ G_k */
static void own_block(double w[9], const ds_subproblem *p, int32_t k) {
  const ds_delassus *d = p->delassus;
  memset(w, 0, 9 * sizeof *w);
  for (int32_t s = d ? d->start[k] : 0; d && s < d->start[k + 1]; s++)
    if (d->column[s] == k) memcpy(w, d->value + 9 * (size_t)s, 9 * sizeof *w);
  for (int32_t side = 0; side < 2 && !d; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side];
    int32_t n = p->size[body];
    for (int32_t a = 0; a < 3; a++)
      for (int32_t b = a; b < 3; b++)
        for (int32_t i = 0; i < n; i++) w[3 * a + b] += g[a * n + i] * g[b * n + i];
  }
  w[3] = w[1], w[6] = w[2], w[7] = w[5];
}

ds_single_contact *ds_gauss_seidel_blocks(ds_arena *arena, const ds_subproblem *p) {
  ds_single_contact *blocks = DS_NEW(arena, ds_single_contact, p->contact_count + 1);
  for (int32_t k = 0; blocks && k < p->contact_count; k++) {
    double w[9];
    own_block(w, p, k);
    ds_single_contact_prepare(&blocks[k], w);
  }
  return blocks;
}

static void visit(ds_iterate *x, const ds_subproblem *p, const ds_single_contact *blocks, int32_t k) {
  double q[3] = {-p->b[3 * k], -p->b[3 * k + 1], -p->b[3 * k + 2]}, *r = x->r + 3 * k;
  const double *w = blocks[k].w;
  add_slip(q, p, x->v, k);
  q[0] -= w[0] * r[0] + w[1] * r[1] + w[2] * r[2];
  q[1] -= w[1] * r[0] + w[3] * r[1] + w[4] * r[2];
  q[2] -= w[2] * r[0] + w[4] * r[1] + w[5] * r[2];
  double z[3] = {r[0], r[1], r[2]};
  ds_single_contact_solve(z, &blocks[k], q, p->mu[k], p->corner, p->samples);
  double d[3] = {z[0] - r[0], z[1] - r[1], z[2] - r[2]};
  if (d[0] == 0 && d[1] == 0 && d[2] == 0) return;
  for (int i = 0; i < 3; i++) r[i] = z[i];
  push(x->v, p, d, k);
}

static void sweep(ds_iterate *x, const ds_subproblem *p, const ds_single_contact *blocks) {
  for (int32_t k = 0; k < p->contact_count; k++) visit(x, p, blocks, k);
}

/* A sweep over the contacts that carry something. */
static void sweep_loaded(ds_iterate *x, const ds_subproblem *p, const ds_single_contact *blocks) {
  for (int32_t k = 0; k < p->contact_count; k++)
    if (x->r[3 * k] > 0) visit(x, p, blocks, k);
}

bool ds_gauss_seidel_quick(ds_solve *s, ds_iterate *x, ds_iterate *trial, const ds_subproblem *p,
                           const ds_single_contact *blocks, double tolerance) {
  ds_iterate_copy(trial, x, p);
  while (x->error > tolerance) {
    sweep(trial, p, blocks);
    ds_iterate_update(trial, p);
    s->work.projections++;
    double before = x->error;
    if (trial->error < before) ds_iterate_copy(x, trial, p);
    if (!(x->error < 0.3 * before)) break;
  }
  return x->error <= tolerance;
}

bool ds_gauss_seidel_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_single_contact *blocks,
                           double tolerance, int32_t sweeps) {
  ds_iterate_update(x, p);
  for (int32_t i = 0; i < sweeps && x->error > tolerance; i++) {
    if (ds_effort_is_over(s->effort)) {
      ds_iterate_update(x, p);
      break;
    }
    /* most contacts of a large heap carry nothing: they are asked every fifth time */
    if (p->contact_count < DS_HEAP_CONTACTS || i % 5 == 0 || i % 10 == 9)
      sweep(x, p, blocks);
    else
      sweep_loaded(x, p, blocks);
    s->work.projections++;
    ds_effort_spend(s->effort, s->system ? 1 / ds_system_in_sweeps(s->system) : 0, p->contact_count);
    if (i % 10 == 9 || i + 1 == sweeps) ds_iterate_update(x, p);
  }
  return x->error <= tolerance;
}

ds_solver_solve ds_gauss_seidel_method; /* for the table of solvers.c */

void ds_gauss_seidel_method(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  if (!blocks) return;
  ds_gauss_seidel_solve(s, x, p, blocks, s->goal.tolerance, s->options->max_iterations);
  s->work.tool[DS_TOOL_GAUSS_SEIDEL] = s->work.projections;
}
