#include "assemble/assemble.h"
#include "base/sets.h"

bool ds_find_islands(ds_arena *arena, ds_assembly *assembly, const ds_contact_list *contacts, int32_t body_count) {
  ds_step_body *bodies = assembly->bodies;
  int32_t *parent = DS_NEW(arena, int32_t, body_count + 1);
  int32_t *body_total = DS_NEW0(arena, int32_t, body_count + 1);
  int32_t *contact_total = DS_NEW0(arena, int32_t, body_count + 1);
  if (ds_arena_failed(arena)) return false;
  ds_sets_single(parent, body_count);
  bool *touched = DS_NEW0(arena, bool, body_count + 1);
  if (!touched) return false;
  for (int32_t k = 0; k < contacts->count; k++) {
    int32_t a = contacts->points[k].a, b = contacts->points[k].b;
    if (bodies[a].moves) touched[a] = true;
    if (bodies[b].moves) touched[b] = true;
    if (!bodies[a].moves || !bodies[b].moves) continue;
    ds_sets_join(parent, a, b);
  }
  int32_t count = 0;
  for (int32_t i = 0; i < body_count; i++) { /* a root comes before its members */
    bodies[i].island = bodies[i].local = -1;
    if (!touched[i]) continue;
    int32_t root = ds_sets_root(parent, i);
    bodies[i].island = root == i ? count++ : bodies[root].island;
    bodies[i].local = body_total[bodies[i].island]++;
  }
  for (int32_t k = 0; k < contacts->count; k++) {
    int32_t a = contacts->points[k].a, b = contacts->points[k].b;
    contact_total[bodies[a].moves ? bodies[a].island : bodies[b].island]++;
  }
  assembly->island_count = count;
  assembly->islands = DS_NEW0(arena, ds_island, count + 1);
  if (!assembly->islands) return false;
  for (int32_t i = 0; i < count; i++) {
    assembly->islands[i].problem.body_count = body_total[i];
    assembly->islands[i].problem.contact_count = contact_total[i];
    assembly->islands[i].bodies = DS_NEW(arena, int32_t, body_total[i] + 1);
    assembly->islands[i].contacts = DS_NEW(arena, int32_t, contact_total[i] + 1);
    contact_total[i] = 0;
  }
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < body_count; i++)
    if (bodies[i].island >= 0) assembly->islands[bodies[i].island].bodies[bodies[i].local] = i;
  for (int32_t k = 0; k < contacts->count; k++) {
    int32_t a = contacts->points[k].a, b = contacts->points[k].b;
    int32_t island = bodies[a].moves ? bodies[a].island : bodies[b].island;
    assembly->islands[island].contacts[contact_total[island]++] = k;
  }
  return true;
}
