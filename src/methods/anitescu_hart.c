/* The fixed point of Anitescu and Hart (2004), on the exact cones: De Saxcé's term is taken from the slip of the
 * iteration before,
 *
 *   s <- mu |u_T|,   (v, r) = argmin ½|v - v_p|²  subject to  u_N + s_k >= mu |u_T|,
 *
 * each a convex cone program. A fixed point solves the contact problem. They prove that it contracts for small mu, and
 * report that it fails from mu = 0.2 on. It ends where s changes by less than `rel_err`² of itself, or after
 * `max_iterations`; the certificate's rel_err is the last change. Started from the slip of the start. */
#include <math.h>

#include "methods/cone_program.h"
#include "methods/pgs.h"
#include "project/solvers.h"

/* The slip of x into s; the relative change of s. */
static double update(double *shift, const ds_subproblem *p, const ds_iterate *x) {
  double change = 0, size = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *u = x->u + 3 * k;
    double now = p->mu[k] * sqrt(u[1] * u[1] + u[2] * u[2]);
    change += (now - shift[k]) * (now - shift[k]);
    size += now * now;
    shift[k] = now;
  }
  double scale = fmax(sqrt(size), 1e-12 * p->target); /* slip that is rounding does not count */
  return scale > 0 ? sqrt(change) / scale : 0;
}

ds_solver_solve ds_anitescu_hart_solve; /* for the table of solvers.c */

void ds_anitescu_hart_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  double *shift = DS_NEW0(s->arena, double, p->contact_count + 1);
  if (!shift) return;
  if (s->warm) update(shift, p, x);
  for (int32_t i = 0; i < s->options->max_iterations && !ds_effort_is_over(s->effort); i++) {
    ds_cone_program(s, x, p, shift);
    s->work.rel_err = update(shift, p, x);
    s->work.staggered++;
    if (!(s->work.rel_err > s->options->rel_err * s->options->rel_err)) break;
  }
  s->work.tool[DS_TOOL_STAGGERED] = s->work.staggered;
  ds_method_finish(x, p);
}
