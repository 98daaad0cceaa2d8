/* Two passes [SP08 4]: contact as if there were no friction, then friction as if contact were settled,
 *
 *   N alpha <- P_C(-M v_p),   f <- P_F(alpha)(-M v_p - N alpha),
 *
 * the first iteration of staggered projections from f = 0, without the last contact projection. It is what many
 * programs do, and is here to be compared with. What friction does to the contacts is left: bodies may run into each
 * other, and normal impulses do not know of the friction that wedges, arches and cards stand by. Exact where friction
 * does not change normal velocities, as for a block that slides on a plane. */
#include "project/projections.h"
#include "project/solvers.h"

ds_solver_solve ds_two_pass_solve; /* for the table of solvers.c */

void ds_two_pass_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  double *after_contact = DS_NEW(s->arena, double, p->dof + 1);
  if (!after_contact || !ds_solve_needs_system(s, p)) return;
  ds_project_contact(s, x->r, after_contact, p, p->predicted, DS_EXACT);
  ds_project_friction(s, x->r, x->v, p, after_contact, DS_EXACT, p->samples);
  s->work.staggered = s->work.tool[DS_TOOL_STAGGERED] = 1;
  ds_iterate_update(x, p);
  x->error = ds_subproblem_error(p, x->r, x->u);
}
