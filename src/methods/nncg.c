/* Nonsmooth nonlinear conjugate gradients [Silcowitz, Niebe, Erleben 2010]. A sweep of PGS from r, S(r), is taken as
 * the step of a gradient method, grad_i = r_i - S(r_i), and accelerated by Fletcher and Reeves:
 *
 *   r_1 = S(r_0),   p_0 = -grad_0;
 *   r_i+1 = S(r_i),   beta = |grad_i|² / |grad_i-1|²;
 *   beta > 1:  p_i = 0                                           (restart)
 *   else:      r_i+1 += beta p_i-1,   p_i = beta p_i-1 - grad_i.
 *
 * Extrapolated impulses may leave their bounds. The last iteration is therefore a sweep alone, so that those returned
 * do not. One iteration costs a sweep of PGS and one product G p. */
#include "methods/pgs.h"
#include "project/solvers.h"

/* p and the sum of squares of the gradient, from the impulses before and after a sweep. */
static double square_of_step(const double *before, const double *after, size_t rows) {
  double sum = 0;
  for (size_t i = 0; i < rows; i++) sum += (after[i] - before[i]) * (after[i] - before[i]);
  return sum;
}

static void solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p, ds_friction_bound bound) {
  size_t rows = 3 * (size_t)p->contact_count;
  ds_pgs pgs;
  double *before = DS_NEW(s->arena, double, rows + 1), *direction = DS_NEW0(s->arena, double, rows + 1);
  double last = 0;
  if (!before || !direction || !ds_pgs_prepare(s->arena, &pgs, p, bound)) return;
  for (int32_t i = 0; i < s->options->max_iterations; i++) {
    memcpy(before, x->r, rows * sizeof *before);
    if (!ds_pgs_sweep(s, &pgs, x)) break;
    double square = square_of_step(before, x->r, rows), beta = i > 0 && last > 0 ? square / last : 2;
    if (square == 0 || i + 1 == s->options->max_iterations) break;
    bool restart = i > 0 && beta > 1;
    for (size_t j = 0; j < rows; j++) { /* beta p_i-1, and p_i from it */
      double carried = i > 0 && !restart ? beta * direction[j] : 0, step = x->r[j] - before[j];
      x->r[j] += carried;
      direction[j] = restart ? 0 : carried + step;
    }
    if (i > 0 && !restart) ds_subproblem_velocity(x->v, p, x->r);
    last = square;
  }
  ds_method_finish(x, p);
}

ds_solver_solve ds_nncg_solve, ds_nncg_disk_solve; /* for the table of solvers.c */

void ds_nncg_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { solve(s, x, p, DS_FRICTION_BOX); }
void ds_nncg_disk_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { solve(s, x, p, DS_FRICTION_DISK); }
