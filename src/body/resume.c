/* A state put together from what was kept of another one: a run that goes on where a recording ends. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "body/scene.h"

void ds_state_set_time(ds_state *state, double time) {
  DS_CHECK(state && isfinite(time));
  state->time = time;
  state->time_rest = 0;
}

/* In the order that detection gives them. */
static bool in_order(const ds_contact *x, const ds_contact *y) {
  if (x->a.index1 != y->a.index1) return x->a.index1 < y->a.index1;
  if (x->b.index1 != y->b.index1) return x->b.index1 < y->b.index1;
  return x->feature < y->feature;
}

bool ds_contacts_in_order(const ds_contact *contacts, int32_t count) {
  for (int32_t i = 1; i < count; i++)
    if (!in_order(&contacts[i - 1], &contacts[i])) return false;
  return true;
}

ds_status ds_state_set_contacts(ds_state *state, const ds_contact *contacts, int32_t count) {
  DS_CHECK(state && count >= 0 && (contacts || count == 0));
  for (int32_t i = 0; i < count; i++) {
    const ds_contact *c = &contacts[i];
    bool bodies =
        c->a.index1 >= 1 && c->a.index1 <= state->body_count && c->b.index1 >= 1 && c->b.index1 <= state->body_count;
    if (!bodies || !v3_finite(c->impulse) || !v3_finite(c->normal) || !isfinite(c->gap)) return DS_ERROR_INPUT;
  }
  if (!ds_contacts_in_order(contacts, count)) return DS_ERROR_INPUT;
  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, count, sizeof *state->contacts))
    return DS_ERROR_MEMORY;
  if (count > 0) memcpy(state->contacts, contacts, (size_t)count * sizeof *contacts);
  state->contact_count = count;
  return DS_OK;
}
