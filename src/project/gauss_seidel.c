/* Nonsmooth Gauss-Seidel with the projection on the Coulomb cone as local solver (Jean and Moreau 1992; Jourdan, Alart,
 * Jean 1998): contact by contact,
 *
 *   r_k <- P_K(r_k - (u_k + mu |u_T| n) / W_k),   v <- v + G_k dr_k. */
#include "project/gauss_seidel.h"

#include <math.h>

/* u_k += its row of Gᵀ v */
static void add_slip(double u[3], const ds_subproblem *p, const double *v_all, int32_t k) {
  for (int i = 0; i < 3 && p->delassus; i++) u[i] += v_all[3 * k + i];
  for (int32_t side = 0; side < 2 && !p->delassus; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side], *v = v_all + p->first[body];
    int32_t n = p->size[body];
    for (int32_t i = 0; i < n; i++) u[0] += g[i] * v[i], u[1] += g[n + i] * v[i], u[2] += g[2 * n + i] * v[i];
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
    int32_t n = p->size[body];
    for (int32_t i = 0; i < n; i++) v[i] += g[i] * d[0] + g[n + i] * d[1] + g[2 * n + i] * d[2];
  }
}

static void sweep(ds_iterate *x, const ds_subproblem *p) {
  for (int32_t k = 0; k < p->contact_count; k++) {
    double u[3] = {-p->b[3 * k], -p->b[3 * k + 1], -p->b[3 * k + 2]}, z[3], *r = x->r + 3 * k;
    add_slip(u, p, x->v, k);
    double step = 1 / p->scale[k];
    z[0] = r[0] - step * (u[0] + p->mu[k] * sqrt(u[1] * u[1] + u[2] * u[2]));
    z[1] = r[1] - step * u[1];
    z[2] = r[2] - step * u[2];
    ds_cone_project(z, z, p->mu[k]);
    double d[3] = {z[0] - r[0], z[1] - r[1], z[2] - r[2]};
    for (int i = 0; i < 3; i++) r[i] = z[i];
    push(x->v, p, d, k);
  }
}

bool ds_gauss_seidel_solve(ds_iterate *x, const ds_subproblem *p, ds_work *work, double tolerance, int32_t sweeps) {
  ds_iterate_update(x, p);
  for (int32_t i = 0; i < sweeps && x->error > tolerance; i++) {
    sweep(x, p);
    work->projections++;
    if (i % 10 == 9 || i + 1 == sweeps) ds_iterate_update(x, p);
  }
  return x->error <= tolerance;
}
