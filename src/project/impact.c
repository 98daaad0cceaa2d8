/* An impact: many contacts, all closed, of which some approach. How the velocities after it follow from those before is
 * a matter of the law of restitution, and of the order.
 *
 * Simultaneous: all contacts at once. Three balls in a row, the first with velocity 1 and e = 1, end with -1/3, 2/3 and
 * 2/3: what touches already moves as one.
 *
 * Sequential: the pair of bodies that approaches fastest collides by itself, as if the others did not touch, and so on
 * until no pair approaches [Ivanov 1995, On multiple impact]. The same balls end with 0, 0, 1. Pairs that approach
 * equally fast collide together, so that what is symmetric stays so. Approaches slower than what gravity does in a step
 * are left to one inelastic problem of all contacts in the end. So is the rest where collisions do not end, as those of
 * a ball with e < 1 between two others that close in on it. */
#include <math.h>
#include <string.h>

#include "project/project.h"
#include "project/restitution.h"

/* Of an approach: others that differ by less are as fast, and less is none. Above the error of velocities, 1e-8. */
static const double SAME = 1e-6;

typedef struct sequence {
  const ds_subproblem *p;
  const ds_impact *impact;
  double *v, *r, *u;
  double *fastest;  /* approach of a pair, by its number */
  int32_t *local;   /* of a body: its number in the collision; -1: takes no part */
  int32_t *contact; /* of the collision: which of the problem's it is */
} sequence;

static bool sequence_new(ds_arena *arena, sequence *s, const ds_subproblem *p, const ds_impact *impact, double *r,
                         double *v) {
  int32_t pairs = 0;
  for (int32_t k = 0; k < p->contact_count; k++) pairs = impact->pair[k] >= pairs ? impact->pair[k] + 1 : pairs;
  *s = (sequence){.p = p, .impact = impact, .v = v, .r = r};
  s->u = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  s->fastest = DS_NEW(arena, double, pairs + 1);
  s->local = DS_NEW(arena, int32_t, p->body_count + 1);
  s->contact = DS_NEW(arena, int32_t, p->contact_count + 1);
  return !ds_arena_failed(arena);
}

/* How fast the fastest pair approaches. */
static double find_fastest(const sequence *s) {
  double most = 0;
  ds_subproblem_slip(s->u, s->p, s->v);
  for (int32_t k = 0; k < s->p->contact_count; k++) s->fastest[s->impact->pair[k]] = 0;
  for (int32_t k = 0; k < s->p->contact_count; k++) {
    double *pair = &s->fastest[s->impact->pair[k]];
    *pair = fmax(*pair, -s->u[3 * k]);
    most = fmax(most, *pair);
  }
  return most;
}

/* The problem of pairs that approach at least so fast: their contacts and bodies. */
static bool select_pairs(ds_arena *arena, ds_subproblem *q, ds_impact *impact, const sequence *s, double least) {
  const ds_subproblem *p = s->p;
  int32_t nc = 0, nb = 0, dof = 0;
  for (int32_t i = 0; i < p->body_count; i++) s->local[i] = -1;
  for (int32_t k = 0; k < p->contact_count; k++) {
    if (!(s->fastest[s->impact->pair[k]] >= least)) continue;
    s->contact[nc++] = k;
    for (int side = 0; side < 2; side++) {
      int32_t body = p->body[2 * k + side];
      if (body >= 0 && s->local[body] < 0) s->local[body] = nb++;
    }
  }
  int32_t *size = DS_NEW(arena, int32_t, nb + 1), *first = DS_NEW(arena, int32_t, nb + 1);
  int32_t *body = DS_NEW(arena, int32_t, 2 * nc + 1), *jacobian = DS_NEW(arena, int32_t, 2 * nc + 1);
  int32_t *pair = DS_NEW(arena, int32_t, nc + 1);
  double *e = DS_NEW(arena, double, nc + 1), *mu = DS_NEW(arena, double, nc + 1);
  double *b = DS_NEW(arena, double, 3 * (size_t)nc + 1), *start = DS_NEW(arena, double, p->dof + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < p->body_count; i++)
    if (s->local[i] >= 0) size[s->local[i]] = p->size[i];
  for (int32_t i = 0; i < nb; i++) first[i] = dof, dof += size[i];
  for (int32_t i = 0; i < p->body_count; i++)
    if (s->local[i] >= 0) memcpy(start + first[s->local[i]], s->v + p->first[i], (size_t)p->size[i] * sizeof(double));
  for (int32_t i = 0; i < nc; i++) {
    int32_t k = s->contact[i];
    for (int side = 0; side < 2; side++) {
      int32_t whole = p->body[2 * k + side];
      body[2 * i + side] = whole < 0 ? -1 : s->local[whole];
      jacobian[2 * i + side] = p->jacobian[2 * k + side];
    }
    memcpy(b + 3 * i, p->b + 3 * k, 3 * sizeof(double));
    mu[i] = p->mu[k], e[i] = s->impact->restitution[k], pair[i] = s->impact->pair[k];
  }
  *q = (ds_subproblem){.body_count = nb, .contact_count = nc, .dof = dof, .size = size, .first = first, .g = p->g};
  q->body = body, q->jacobian = jacobian, q->b = b, q->mu = mu, q->predicted = start;
  *impact = *s->impact;
  impact->restitution = e, impact->pair = pair;
  return true;
}

/* One collision of the pairs that approach at least so fast. */
static bool collide(const ds_solve *solve, ds_certificate *all, const sequence *s, double least) {
  ds_arena *arena = solve->arena;
  const ds_subproblem *p = s->p;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_subproblem q;
  ds_impact impact;
  if (!select_pairs(arena, &q, &impact, s, least)) return false;
  double *r = DS_NEW0(arena, double, 3 * (size_t)q.contact_count + 1), *v = DS_NEW(arena, double, q.dof + 1);
  if (ds_arena_failed(arena) || !ds_restitution_apply(solve, r, v, all, &q, &impact)) return false;
  for (int32_t i = 0; i < 3 * q.contact_count; i++) s->r[3 * s->contact[i / 3] + i % 3] += r[i];
  for (int32_t i = 0; i < p->body_count; i++)
    if (s->local[i] >= 0) memcpy(s->v + p->first[i], v + q.first[s->local[i]], (size_t)p->size[i] * sizeof(double));
  ds_arena_release(arena, mark);
  return true;
}

/* What still approaches is stopped. */
static bool stop(const ds_solve *solve, ds_certificate *all, const sequence *s) {
  ds_arena *arena = solve->arena;
  const ds_subproblem *p = s->p;
  size_t nc = (size_t)p->contact_count;
  double *r = DS_NEW0(arena, double, 3 * nc + 1), *start = DS_NEW(arena, double, p->dof + 1);
  double *e = DS_NEW0(arena, double, nc + 1);
  if (ds_arena_failed(arena)) return false;
  memcpy(start, s->v, (size_t)p->dof * sizeof(double));
  ds_subproblem q = *p;
  ds_impact inelastic = *s->impact;
  q.predicted = start, inelastic.restitution = e;
  if (!ds_restitution_apply(solve, r, s->v, all, &q, &inelastic)) return false;
  for (size_t i = 0; i < 3 * nc; i++) s->r[i] += r[i];
  return true;
}

static bool collide_in_sequence(const ds_solve *solve, double *r, double *v, ds_certificate *all,
                                const ds_subproblem *p, const ds_impact *impact) {
  sequence s;
  if (!sequence_new(solve->arena, &s, p, impact, r, v)) return false;
  memset(r, 0, 3 * (size_t)p->contact_count * sizeof(double));
  memcpy(v, p->predicted, (size_t)p->dof * sizeof(double));
  double first = find_fastest(&s), approach = first;
  for (int32_t i = 0; i < DS_STEPS * p->contact_count && approach > fmax(impact->slow, SAME * first); i++) {
    if (!collide(solve, all, &s, (1 - SAME) * approach)) return false;
    approach = find_fastest(&s);
  }
  return !(approach > 0) || stop(solve, all, &s);
}

/* Whether any contact would rebound. Else laws and orders make no difference: the impact is inelastic. */
static bool rebounds(ds_arena *arena, bool *any, const ds_subproblem *p, const ds_impact *impact) {
  double *u = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  *any = false;
  if (!u) return false;
  ds_subproblem_slip(u, p, p->predicted);
  for (int32_t k = 0; k < p->contact_count && !*any; k++) *any = -impact->restitution[k] * u[3 * k] > impact->slow;
  return true;
}

bool ds_project_impact(const ds_solve *solve, double *r, double *v, ds_certificate *all, const ds_subproblem *p,
                       const ds_impact *impact) {
  ds_arena_mark mark = ds_arena_get_mark(solve->arena);
  bool any;
  if (!rebounds(solve->arena, &any, p, impact)) return false;
  if (!any) return ds_project_island(solve, r, v, all, p);
  *all = (ds_certificate){.converged = true, .bodies = p->body_count, .contacts = p->contact_count};
  bool done = impact->sequential ? collide_in_sequence(solve, r, v, all, p, impact)
                                 : ds_restitution_apply(solve, r, v, all, p, impact);
  ds_arena_release(solve->arena, mark);
  return done;
}
