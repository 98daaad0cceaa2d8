/* Projected Gauss-Seidel on the rows of the contact problem [Erleben 2007; NFS10]:
 *
 *   r_i <- clamp(r_i - u_i / W_ii, l_i, h_i),   v <- v + G_i dr_i,   row after row,
 *
 * with l = 0, h = inf for normals. Box friction bounds each tangential row by mu r_N, with the r_N of the moment: a
 * square around the friction disk, up to sqrt(2) too strong along its diagonals. With `pgs-disk` the two tangential
 * rows of a contact are relaxed together and cut to the disk. A fixed number of sweeps, as published: the answer is
 * what they leave, and the certificate says how good it is. A sweep that changes nothing ends it. */
#include "methods/pgs.h"

#include <math.h>

#include "project/solvers.h"

bool ds_pgs_prepare(ds_arena *arena, ds_pgs *pgs, const ds_subproblem *p, ds_friction_bound bound) {
  *pgs = (ds_pgs){.view = {p, NULL}, .bound = bound};
  pgs->diagonal = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  if (!pgs->diagonal) return false;
  ds_row_diagonal(pgs->diagonal, &pgs->view);
  return true;
}

/* One row solved for itself, within bounds. */
static void relax(const ds_pgs *pgs, ds_iterate *x, int32_t k, int c, double low, double high) {
  double w = pgs->diagonal[3 * k + c], *r = x->r + 3 * k + c;
  if (!(w > 0)) return;
  double z = *r - ds_row_velocity(&pgs->view, x->v, k, c) / w;
  z = z < low ? low : z > high ? high : z;
  ds_row_push(x->v, &pgs->view, z - *r, k, c);
  *r = z;
}

/* Both tangents at once, z_T = r_T - u_T/w cut to the disk, with the larger of their W_ii as w: the answer is then a
 * fixed point. One after the other and cut afterwards, friction is not along the slip where the rows are coupled, and a
 * box on an incline loses 6 % of it. */
static void relax_disk(const ds_pgs *pgs, ds_iterate *x, int32_t k, double most) {
  double *r = x->r + 3 * k, w = fmax(pgs->diagonal[3 * k + 1], pgs->diagonal[3 * k + 2]), z[2];
  if (!(w > 0)) return;
  for (int c = 0; c < 2; c++) z[c] = r[1 + c] - ds_row_velocity(&pgs->view, x->v, k, 1 + c) / w;
  double size = sqrt(z[0] * z[0] + z[1] * z[1]), f = size > most ? most / size : 1;
  for (int c = 0; c < 2; c++) {
    ds_row_push(x->v, &pgs->view, f * z[c] - r[1 + c], k, 1 + c);
    r[1 + c] = f * z[c];
  }
}

void ds_pgs_visit(const ds_pgs *pgs, ds_iterate *x, int32_t k) {
  relax(pgs, x, k, 0, 0, INFINITY);
  double most = pgs->view.p->mu[k] * x->r[3 * k];
  if (pgs->bound == DS_FRICTION_DISK) {
    relax_disk(pgs, x, k, most);
    return;
  }
  for (int c = 1; c < 3; c++) relax(pgs, x, k, c, -most, most);
}

bool ds_pgs_sweep(ds_solve *s, const ds_pgs *pgs, ds_iterate *x) {
  const ds_subproblem *p = pgs->view.p;
  if (ds_effort_is_over(s->effort)) return false;
  for (int32_t k = 0; k < p->contact_count; k++) ds_pgs_visit(pgs, x, k);
  s->work.projections++;
  s->work.tool[DS_TOOL_GAUSS_SEIDEL]++;
  return true;
}

void ds_method_finish(ds_iterate *x, const ds_subproblem *p) {
  ds_iterate_update(x, p);
  x->error = ds_subproblem_error(p, x->r, x->u);
}

static void solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p, ds_friction_bound bound) {
  size_t rows = 3 * (size_t)p->contact_count;
  ds_pgs pgs;
  double *before = DS_NEW(s->arena, double, rows + 1);
  if (!before || !ds_pgs_prepare(s->arena, &pgs, p, bound)) return;
  for (int32_t i = 0; i < s->options->max_iterations; i++) {
    memcpy(before, x->r, rows * sizeof *before);
    if (!ds_pgs_sweep(s, &pgs, x) || memcmp(before, x->r, rows * sizeof *before) == 0) break;
  }
  ds_method_finish(x, p);
}

ds_solver_solve ds_pgs_solve, ds_pgs_disk_solve; /* for the table of solvers.c */

void ds_pgs_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { solve(s, x, p, DS_FRICTION_BOX); }
void ds_pgs_disk_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { solve(s, x, p, DS_FRICTION_DISK); }
