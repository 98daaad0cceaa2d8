/* Gauss-Seidel with shock propagation [Guendelman, Bridson, Fedkiw 2003; Erleben 2007].
 *
 * Sweeps of PGS as in pgs.c. Then layer after layer, from below: a body's layer is its distance from the fixed world in
 * the graph of contacts. In each layer the bodies of all layers below are held, as if their masses were infinite, and
 * as many sweeps go over the contacts that the layer has with them and within itself. What is above comes to rest on
 * what is below, and what is below does not feel it.
 *
 * So velocities are not those that the impulses give, and momentum is not conserved: that is the method. The
 * certificate adds |v - v_p - G r| to its error, and the motion's certificate has the share of momentum. Bodies without
 * a path to the fixed world, and problems without bodies, have no layers: plain PGS. */
#include "methods/pgs.h"
#include "project/solvers.h"

enum { NO_LAYER = INT32_MAX };

/* Layers of bodies, breadth first from the world; the largest of them. */
static int32_t find_layers(int32_t *layer, const ds_subproblem *p) {
  int32_t highest = 0;
  for (int32_t i = 0; i < p->body_count; i++) layer[i] = NO_LAYER;
  for (bool grown = true; grown;) {
    grown = false;
    int32_t next = highest + 1;
    for (int32_t k = 0; k < p->contact_count; k++)
      for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->body[2 * k + side], other = p->body[2 * k + 1 - side];
        int32_t below = other < 0 ? 0 : layer[other];
        if (body < 0 || layer[body] != NO_LAYER || below != highest) continue;
        layer[body] = next;
        grown = true;
      }
    if (grown) highest = next;
  }
  return highest;
}

static int32_t layer_of(const int32_t *layer, const ds_subproblem *p, int32_t k) {
  int32_t a = p->body[2 * k], b = p->body[2 * k + 1], la = a < 0 ? 0 : layer[a], lb = b < 0 ? 0 : layer[b];
  return la > lb ? la : lb;
}

/* Sweeps over the contacts of one layer with the bodies below it held. */
static void propagate(ds_solve *s, ds_pgs *pgs, ds_iterate *x, bool *held, const int32_t *layer, int32_t at) {
  const ds_subproblem *p = pgs->view.p;
  for (int32_t i = 0; i < p->body_count; i++) held[i] = layer[i] < at;
  ds_row_diagonal(pgs->diagonal, &pgs->view);
  for (int32_t i = 0; i < s->options->max_iterations && !ds_effort_is_over(s->effort); i++)
    for (int32_t k = 0; k < p->contact_count; k++)
      if (layer_of(layer, p, k) == at) ds_pgs_visit(pgs, x, k);
}

ds_solver_solve ds_shock_solve; /* for the table of solvers.c */

void ds_shock_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  ds_pgs pgs;
  bool *held = DS_NEW0(s->arena, bool, p->body_count + 1);
  int32_t *layer = DS_NEW(s->arena, int32_t, p->body_count + 1);
  if (!held || !layer || !ds_pgs_prepare(s->arena, &pgs, p, DS_FRICTION_BOX)) return;
  for (int32_t i = 0; i < s->options->max_iterations; i++)
    if (!ds_pgs_sweep(s, &pgs, x)) break;
  int32_t highest = p->delassus ? 0 : find_layers(layer, p);
  pgs.view.held = held;
  for (int32_t at = 1; at <= highest; at++) propagate(s, &pgs, x, held, layer, at);
  s->work.projections += highest > 0 ? s->options->max_iterations : 0; /* every contact once more per iteration */
  s->work.tool[DS_TOOL_GAUSS_SEIDEL] = s->work.projections;
  ds_subproblem_slip(x->u, p, x->v);
  x->error = ds_subproblem_error(p, x->r, x->u);
}
