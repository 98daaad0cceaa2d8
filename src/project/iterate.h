/* A candidate solution and its error; every tool of stage 4 takes one, improves it, and keeps the best. */
#ifndef DS_PROJECT_ITERATE_H
#define DS_PROJECT_ITERATE_H

#include <math.h>
#include <string.h>

#include "problem/subproblem.h"

typedef struct ds_iterate {
  double *r;    /* impulses, 3 x contacts */
  double *v;    /* v_p + G r, dof */
  double *u;    /* Gᵀ v - b, 3 x contacts */
  double error; /* of r: ds_subproblem_progress, or ds_subproblem_error where it was judged */
} ds_iterate;

static inline ds_iterate ds_iterate_new(ds_arena *arena, const ds_subproblem *p) {
  return (ds_iterate){DS_NEW0(arena, double, 3 * (size_t)p->contact_count + 1), DS_NEW0(arena, double, p->dof + 1),
                      DS_NEW0(arena, double, 3 * (size_t)p->contact_count + 1), 0};
}

/* v, u and the error from r */
static inline void ds_iterate_update(ds_iterate *x, const ds_subproblem *p) {
  ds_subproblem_velocity(x->v, p, x->r);
  ds_subproblem_slip(x->u, p, x->v);
  x->error = ds_subproblem_progress(p, x->r, x->u);
}

/* No impulses. */
static inline void ds_iterate_clear(ds_iterate *x, const ds_subproblem *p) {
  memset(x->r, 0, 3 * (size_t)p->contact_count * sizeof(double));
  ds_iterate_update(x, p);
}

static inline void ds_iterate_copy(ds_iterate *to, const ds_iterate *from, const ds_subproblem *p) {
  memcpy(to->r, from->r, 3 * (size_t)p->contact_count * sizeof(double));
  memcpy(to->v, from->v, (size_t)p->dof * sizeof(double));
  memcpy(to->u, from->u, 3 * (size_t)p->contact_count * sizeof(double));
  to->error = from->error;
}

#endif
