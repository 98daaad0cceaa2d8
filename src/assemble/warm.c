/* Warm start: both lists are sorted by (a, b, feature), so matching is one merge. An impulse is kept as a world vector;
 * in the new frame its normal part stays >= 0 and its friction inside the cone by construction of the solver's first
 * check. */
#include "assemble/assemble.h"

static int compare(const ds_contact_point *p, const ds_contact *c) {
  int32_t a = ds_index(c->a), b = ds_index(c->b);
  if (p->a != a) return p->a < a ? -1 : 1;
  if (p->b != b) return p->b < b ? -1 : 1;
  if (p->feature != c->feature) return p->feature < c->feature ? -1 : 1;
  return 0;
}

void ds_match_warm_start(double *r, const ds_assembly *assembly, const ds_contact_list *contacts,
                         const ds_state *state) {
  int32_t old = 0;
  for (int32_t k = 0; k < contacts->count; k++) {
    const ds_contact_point *p = &contacts->points[k];
    const ds_contact_frame *f = &assembly->frames[k];
    r[3 * k] = r[3 * k + 1] = r[3 * k + 2] = 0;
    while (old < state->contact_count && compare(p, &state->contacts[old]) > 0) old++;
    if (old >= state->contact_count || compare(p, &state->contacts[old]) != 0) continue;
    ds_vec3 impulse = state->contacts[old].impulse;
    r[3 * k] = v3_dot(f->normal, impulse);
    r[3 * k + 1] = v3_dot(f->t1, impulse);
    r[3 * k + 2] = v3_dot(f->t2, impulse);
  }
}
