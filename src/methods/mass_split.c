/* Mass splitting [Tonge, Benevolenski, Voroshilov 2012; the slides of 2016 name it as their faster variant]:
 *
 * Each body is split into as many parts as it has contacts, n_b, each with a share 1/n_b of its mass. Contact k then
 * acts on parts of its own, and all contacts are solved at once, each exactly and for itself, with
 *
 *   W_k = sum over its bodies of n_b G_kbᵀ G_kb,   r_k <- Coulomb(W_k, u_k - W_k r_k).
 *
 * Afterwards the parts of a body are joined: its velocity is their mean, which is v = v_p + G r. It is block Jacobi
 * with a diagonal large enough that no two contacts overshoot together: free of jitter, parallel, and slower than
 * Gauss-Seidel by about the number of contacts of a body. */
#include "methods/pgs.h"
#include "project/single_contact.h"
#include "project/solvers.h"

/* Blocks of all contacts, with the masses of the parts. NULL where memory ran out. */
static ds_single_contact *split(ds_arena *arena, const ds_subproblem *p) {
  ds_single_contact *blocks = DS_NEW(arena, ds_single_contact, p->contact_count + 1);
  int32_t *parts = DS_NEW0(arena, int32_t, p->body_count + 1);
  if (!blocks || !parts) return NULL;
  for (int32_t i = 0; i < 2 * p->contact_count && !p->delassus; i++)
    if (p->body[i] >= 0) parts[p->body[i]]++;
  for (int32_t k = 0; k < p->contact_count; k++) {
    double w[9];
    ds_row_block(w, p, parts, k);
    ds_single_contact_prepare(&blocks[k], w);
  }
  return blocks;
}

ds_solver_solve ds_mass_split_solve; /* for the table of solvers.c */

void ds_mass_split_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  const ds_single_contact *blocks = split(s->arena, p);
  if (!blocks) return;
  for (int32_t i = 0; i < s->options->max_iterations && !ds_effort_is_over(s->effort); i++) {
    for (int32_t k = 0; k < p->contact_count; k++) {
      const double *w = blocks[k].w, *u = x->u + 3 * k;
      double *r = x->r + 3 * k;
      double q[3] = {u[0] - w[0] * r[0] - w[1] * r[1] - w[2] * r[2], u[1] - w[1] * r[0] - w[3] * r[1] - w[4] * r[2],
                     u[2] - w[2] * r[0] - w[4] * r[1] - w[5] * r[2]};
      ds_single_contact_solve(r, &blocks[k], q, p->mu[k], p->corner, p->samples);
    }
    ds_subproblem_velocity(x->v, p, x->r);
    ds_subproblem_slip(x->u, p, x->v);
    s->work.projections++;
  }
  ds_method_finish(x, p);
}
