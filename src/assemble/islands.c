#include "assemble/assemble.h"
#include "base/sets.h"

/* The island of a joint: that of one of its bodies that moves; -1 where none does. */
static int32_t island_of(const ds_joint *joint, const ds_step_body *bodies) {
  return bodies[joint->a].moves ? bodies[joint->a].island : bodies[joint->b].island;
}

/* Each island's list of joints. */
static bool list_joints(ds_arena *arena, ds_assembly *assembly, const ds_scene *scene) {
  ds_island *islands = assembly->islands;
  for (int32_t pass = 0; pass < 2; pass++) { /* count, then fill */
    for (int32_t i = 0; i < assembly->island_count; i++) {
      if (pass == 1 && !(islands[i].joints = DS_NEW(arena, int32_t, islands[i].joint_count + 1))) return false;
      islands[i].joint_count = 0;
    }
    for (int32_t j = 0; j < scene->joint_count; j++) {
      int32_t i = island_of(&scene->joints[j], assembly->bodies);
      if (i >= 0 && pass == 1) islands[i].joints[islands[i].joint_count] = j;
      if (i >= 0) islands[i].joint_count++;
    }
  }
  return true;
}

bool ds_find_islands(ds_arena *arena, ds_assembly *assembly, const ds_contact_list *contacts, const ds_scene *scene) {
  ds_step_body *bodies = assembly->bodies;
  int32_t body_count = scene->body_count;
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
  for (int32_t j = 0; j < scene->joint_count; j++) {
    int32_t a = scene->joints[j].a, b = scene->joints[j].b;
    if (bodies[a].moves) touched[a] = true;
    if (bodies[b].moves) touched[b] = true;
    if (bodies[a].moves && bodies[b].moves) ds_sets_join(parent, a, b);
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
  return scene->joint_count == 0 || list_joints(arena, assembly, scene);
}
