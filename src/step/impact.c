/* Impacts by other laws than Newton's of all contacts at once (project/restitution.c, project/impact.c).
 *
 * With the midpoint rule impacts are problems of their own, at nodes (node.c). Otherwise they are solved at the start
 * of the step in which contacts would close: velocities change, and the step goes on from there. Contacts that the new
 * velocities close within the step, and that would rebound, collide in turn. Newton's law of all contacts at once is
 * part of the contact problem of the step instead (assemble/assemble.c), and so is that of islands with deformable
 * bodies or hands. */
#include <math.h>
#include <string.h>

#include "base/sets.h"
#include "body/scene.h"
#include "project/restitution.h"
#include "step/step.h"

enum { ROUNDS = 16 }; /* of impacts in a step, each by what the one before set in motion */

bool ds_step_has_laws(const ds_options *options) {
  return options->restitution_law != 0 || options->impacts != DS_IMPACTS_SIMULTANEOUS;
}

bool ds_step_set_laws(const ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  const ds_assembly *assembly = &run->assembly;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_island *island = &assembly->islands[i];
    int32_t nc = island->problem.contact_count;
    ds_impact *impact = DS_NEW(arena, ds_impact, 1);
    double *e = DS_NEW(arena, double, nc + 1);
    int32_t *pair = DS_NEW(arena, int32_t, nc + 1);
    if (ds_arena_failed(arena)) return false;
    const ds_contact_point *last = NULL;
    for (int32_t k = 0; k < nc; k++) {
      const ds_contact_point *c = &run->contacts.points[island->contacts[k]];
      e[k] = assembly->frames[island->contacts[k]].restitution;
      pair[k] = k > 0 ? pair[k - 1] + (c->a != last->a || c->b != last->b) : 0;
      last = c;
    }
    *impact = (ds_impact){.restitution = e,
                          .pair = pair,
                          .slow = run->slow,
                          .law = run->options->restitution_law,
                          .sequential = run->options->impacts == DS_IMPACTS_SEQUENTIAL};
    island->impact = impact;
  }
  return true;
}

/* ---- at the start of a step ---- */

/* How fast a contact closes, and whether it is closed, or will be in this step. */
static double approach_of(const ds_contact_point *c, const ds_state *now) {
  ds_vec3 va = ds_velocity_at(&now->bodies[c->a], c->point), vb = ds_velocity_at(&now->bodies[c->b], c->point);
  return -v3_dot(c->normal, v3_sub(va, vb));
}

static bool is_reached(const ds_contact_point *c, const ds_step_run *run, const ds_state *now) {
  if (ds_feature_is_drive(c->feature)) return false;
  return !ds_contact_is_open(c, run->scene) || c->gap <= run->options->step * approach_of(c, now);
}

static bool rebounds(const ds_contact_point *c, const ds_step_run *run, const ds_state *now) {
  double mu, e;
  int32_t a, b;
  if (ds_feature_is_limit(c->feature)) return false;
  ds_contact_materials(&a, &b, run->scene, c);
  ds_scene_pair(&mu, &e, run->scene, a, b);
  return e * approach_of(c, now) > run->slow;
}

static bool moves(const ds_step_run *run, int32_t i) {
  const ds_body *body = &run->scene->bodies[i];
  return body->ops->dynamic && !ds_body_is_held(body, run->state->time);
}

/* Bodies that take part: all that touch, or are joined to, what rebounds, unless one of them deforms or is in a hand.
 * NULL where memory ran out. */
static bool *find_struck(const ds_step_run *run, const ds_state *now, bool *any) {
  ds_arena *arena = &run->stepper->arena;
  const ds_scene *scene = run->scene;
  int32_t n = scene->body_count, *parent = DS_NEW(arena, int32_t, n + 1);
  bool *struck = DS_NEW0(arena, bool, n + 1), *left = DS_NEW0(arena, bool, n + 1),
       *active = DS_NEW0(arena, bool, n + 1);
  *any = false;
  if (ds_arena_failed(arena)) return NULL;
  ds_sets_single(parent, n);
  for (int32_t k = 0; k < run->contacts.count; k++) {
    const ds_contact_point *c = &run->contacts.points[k];
    if (is_reached(c, run, now) && moves(run, c->a) && moves(run, c->b)) ds_sets_join(parent, c->a, c->b);
  }
  for (int32_t i = 0; i < scene->joint_count; i++)
    if (moves(run, scene->joints[i].a) && moves(run, scene->joints[i].b))
      ds_sets_join(parent, scene->joints[i].a, scene->joints[i].b);
  for (int32_t i = 0; i < n; i++) left[ds_sets_root(parent, i)] |= scene->bodies[i].ops->deforms;
  for (int32_t i = 0; i < now->hand_count; i++)
    if (now->hands[i].def.body.index1) left[ds_sets_root(parent, ds_index(now->hands[i].def.body))] = true;
  for (int32_t k = 0; k < run->contacts.count; k++) {
    const ds_contact_point *c = &run->contacts.points[k];
    if (!is_reached(c, run, now) || !rebounds(c, run, now)) continue;
    for (int side = 0; side < 2; side++) {
      int32_t body = side == 0 ? c->a : c->b;
      if (moves(run, body)) struck[ds_sets_root(parent, body)] = true;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t root = ds_sets_root(parent, i);
    active[i] = struck[root] && !left[root] && moves(run, i);
    *any |= active[i];
  }
  return active;
}

/* Contacts of these bodies that are closed, or will be. */
static bool gather(const ds_step_run *run, ds_contact_list *list, const ds_state *now, const bool *active) {
  ds_contact_point *points = DS_NEW(&run->stepper->arena, ds_contact_point, run->contacts.count + 1);
  *list = (ds_contact_list){points, 0};
  for (int32_t k = 0; points && k < run->contacts.count; k++) {
    const ds_contact_point *c = &run->contacts.points[k];
    if ((active[c->a] || active[c->b]) && is_reached(c, run, now)) points[list->count++] = *c;
  }
  return points != NULL;
}

bool ds_step_strike(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  const ds_scene *scene = run->scene;
  if (!ds_step_has_laws(run->options) || ds_moves_by_midpoint(run->options)) return true;
  for (int round = 0; round < ROUNDS; round++) {
    bool any;
    ds_state *now = DS_NEW(arena, ds_state, 1);
    if (!now || !ds_step_keep(arena, now, run->state)) return false;
    for (int32_t i = 0; i < scene->body_count; i++)
      if (scene->bodies[i].ops->script)
        ds_motion_velocity(&now->bodies[i].v, &now->bodies[i].w, &scene->bodies[i], nextafter(now->time, INFINITY));
    const bool *active = find_struck(run, now, &any);
    if (!active) return false;
    if (!any) return true;
    ds_step_run node = *run, impact = *run;
    node.active = active, node.state = now;
    impact.solved = run->struck, impact.solved_count = run->struck_count;
    if (!gather(run, &node.contacts, now, active) || !ds_step_solve_node(&node, &impact, now, true)) return false;
    now->contacts = run->state->contacts, now->contact_count = run->state->contact_count;
    run->struck = impact.solved, run->struck_count = impact.solved_count;
    run->state = now;
  }
  return true;
}

static int by_name(const ds_contact *c, const ds_contact *d) {
  return ds_compare_names(ds_index(c->a), ds_index(c->b), c->feature, ds_index(d->a), ds_index(d->b), d->feature);
}

void ds_step_add_struck(const ds_step_run *run) {
  for (int32_t i = 0, k = 0; i < run->struck_count && k < run->solved_count; k++) {
    ds_contact *c = &run->solved[k];
    while (i < run->struck_count && by_name(&run->struck[i], c) < 0) i++;
    if (i == run->struck_count || by_name(&run->struck[i], c) > 0) continue;
    c->impulse = v3_add(c->impulse, run->struck[i].impulse);
    if (c->mode == DS_CONTACT_OPEN) c->mode = run->struck[i].mode;
  }
}
