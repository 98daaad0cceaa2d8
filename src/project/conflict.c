/* A frictional contact problem asks for u_N = Nᵀ v - b >= 0 at every contact: that is all De Saxcé's dual cone says of
 * u. Where some velocity gives u_N > 0 everywhere a solution exists (Acary, Cadoux, Lemaréchal, Malick 2011). Where
 * none gives u_N >= 0 there is no solution: a wedge that scripted walls push apart. By Farkas' lemma the proof is a set
 * of normal impulses that push on no body but would be needed:
 *
 *   s >= 0,   N s = 0,   bᵀ s > 0.
 *
 * The residual s = (b - Nᵀ v)+ of the least-squares problem min_v |(b - Nᵀ v)+|² is such a set. It is found by proximal
 * steps with active-set Newton inside, one system of the usual kind a step: with C = 1/(eps w) on the contacts with
 * s > 0 and v = v_c + N a,
 *
 *   (I + N C Nᵀ) dv = N (C s - a),   a <- C (s - Nᵀ dv). */
#include "project/conflict.h"

#include <math.h>

typedef struct search {
  const ds_subproblem *p;
  ds_system *system;
  double *c, *a, *total, *push, *s, *u, *v, *dv, *gdv;
} search;

/* u = Gᵀ v - b of the impulses total + a; s = (-u_N)+ */
static double violations(search *q) {
  double sum = 0;
  for (int32_t i = 0; i < 3 * q->p->contact_count; i++) q->push[i] = q->total[i] + q->a[i];
  ds_subproblem_velocity(q->v, q->p, q->push);
  ds_subproblem_slip(q->u, q->p, q->v);
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    q->s[k] = fmax(0, -q->u[3 * k]);
    sum += q->s[k] * q->s[k];
  }
  return sqrt(sum);
}

/* One Newton step; false where the active set stands still or the system cannot be factored. */
static bool step(search *q, double stiffness) {
  const ds_subproblem *p = q->p;
  bool changed = false;
  for (int32_t k = 0; k < p->contact_count; k++) {
    double c = q->s[k] > 0 ? stiffness : 0;
    changed |= c != q->c[9 * k];
    q->c[9 * k] = c;
    q->push[3 * k] = c * q->s[k] - q->a[3 * k], q->push[3 * k + 1] = q->push[3 * k + 2] = 0;
  }
  if (!ds_system_factor(q->system, q->c, true)) return false;
  memset(q->dv, 0, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(q->dv, p, q->push);
  ds_system_solve(q->dv, q->system);
  ds_subproblem_apply_transposed(q->gdv, p, q->dv);
  for (int32_t k = 0; k < p->contact_count; k++)
    q->a[3 * k] = q->c[9 * k] > 0 ? q->c[9 * k] * (-q->u[3 * k] - q->gdv[3 * k]) : 0;
  return changed;
}

/* |N s| in the metric of velocities: sqrt(sᵀ W s) */
static double unbalanced(search *q) {
  double sum = 0;
  memset(q->dv, 0, (size_t)q->p->dof * sizeof(double));
  for (int32_t k = 0; k < q->p->contact_count; k++)
    q->push[3 * k] = q->s[k], q->push[3 * k + 1] = q->push[3 * k + 2] = 0;
  ds_subproblem_add_impulse(q->dv, q->p, q->push);
  ds_subproblem_apply_transposed(q->gdv, q->p, q->dv);
  for (int32_t k = 0; k < q->p->contact_count; k++) sum += q->s[k] * q->gdv[3 * k];
  return sqrt(fmax(0, sum));
}

double ds_conflict_find(ds_solve *s, double *violation, const ds_subproblem *p) {
  ds_arena *arena = s->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  size_t n = 3 * (size_t)p->contact_count + 1;
  search q = {.p = p, .system = s->system};
  double **vectors[] = {&q.a, &q.total, &q.push, &q.s, &q.u, &q.gdv};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, n);
  q.c = DS_NEW0(arena, double, 3 * n);
  q.v = DS_NEW0(arena, double, p->dof + 1);
  q.dv = DS_NEW0(arena, double, p->dof + 1);
  double found = 0;
  if (ds_arena_failed(arena) || !(p->target > 0)) return 0;
  double size = violations(&q), stiffness = p->rho * 1e8;
  for (int32_t i = 0; i < DS_STEPS && size > 1e-6 * p->target; i++) {
    double before = size;
    bool moved = step(&q, stiffness);
    s->work.projections++;
    size = violations(&q);
    if (moved && size < before) continue;
    for (int32_t k = 0; k < p->contact_count; k++) q.total[3 * k] += q.a[3 * k], q.a[3 * k] = 0;
    size = violations(&q);
    if (size > 1e-6 * p->target && unbalanced(&q) * sqrt(p->rho) <= 1e-6 * size) {
      found = size / p->target;
      memcpy(violation, q.s, (size_t)p->contact_count * sizeof(double));
      break;
    }
  }
  ds_arena_release(arena, mark);
  return found;
}
