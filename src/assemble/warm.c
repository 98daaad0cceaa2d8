/* Warm start: both lists are sorted by (a, b, feature), so matching is one merge. What only the second detection of the
 * last step found has a mark in its name, and is looked for among the rest of its pair. An impulse is kept as a world
 * vector; in the new frame its normal part stays >= 0 and its friction inside the cone by construction of the solver's
 * first check. */
#include "assemble/assemble.h"

static int compare(const ds_contact_point *p, const ds_contact *c) {
  return ds_compare_names(p->a, p->b, p->feature, ds_index(c->a), ds_index(c->b), c->feature);
}

/* The contact of the last step by this name, or by the same from a second detection; NULL if there is none. `old` is
 * the first that does not come before it. */
static const ds_contact *find(const ds_contact_point *p, const ds_contact *old, const ds_contact *end) {
  ds_contact_point again = *p;
  again.feature |= DS_FEATURE_AGAIN;
  for (; old < end && compare(&again, old) >= 0; old++)
    if (compare(p, old) == 0 || compare(&again, old) == 0) return old;
  return NULL;
}

void ds_match_warm_start(double *r, double *u, const ds_assembly *assembly, const ds_contact_list *contacts,
                         const ds_state *state) {
  const ds_contact *old = state->contacts, *end = old + state->contact_count;
  for (int32_t k = 0; k < contacts->count; k++) {
    const ds_contact_point *p = &contacts->points[k];
    const ds_contact_frame *f = &assembly->frames[k];
    r[3 * k] = r[3 * k + 1] = r[3 * k + 2] = 0;
    while (old < end && compare(p, old) > 0) old++;
    const ds_contact *same = find(p, old, end);
    if (!same) continue;
    r[3 * k] = v3_dot(f->normal, same->impulse);
    r[3 * k + 1] = v3_dot(f->t1, same->impulse) / (f->flat[0] * f->flat[0]);
    r[3 * k + 2] = v3_dot(f->t2, same->impulse) / (f->flat[1] * f->flat[1]);
    u[3 * k] = v3_dot(f->normal, same->velocity);
    u[3 * k + 1] = v3_dot(f->t1, same->velocity);
    u[3 * k + 2] = v3_dot(f->t2, same->velocity);
  }
}
