/* Contacts in the middle of the step. What rolls or turns touches elsewhere in each moment: for the way that points
 * take over a step, the points that touch in its middle stand for all. So contacts that are closed at the start are
 * looked at once more, with the bodies half a step on at the velocities they have. What is not found again goes with
 * its bodies. Nothing is looked at where nothing moves. */
#include <math.h>

#include "detect/detection.h"

static ds_pose pose_then(const ds_scene *scene, const ds_state *state, int32_t i, double h) {
  const ds_body_state *s = &state->bodies[i];
  if (scene->bodies[i].kind == DS_BODY_KINEMATIC) return ds_motion_pose(&scene->bodies[i], state->time + 0.5 * h);
  if (scene->bodies[i].kind == DS_BODY_STATIC) return ds_principal_pose(s);
  return (ds_pose){v3_mad(s->x, 0.5 * h, s->v), quat_unit(quat_mul(quat_exp(v3_scale(0.5 * h, s->w)), s->q))};
}

static bool stands(const ds_scene *scene, const ds_state *state, int32_t i) {
  const ds_body_state *s = &state->bodies[i];
  return scene->bodies[i].kind == DS_BODY_STATIC || (v3_norm2(s->v) == 0 && v3_norm2(s->w) == 0);
}

/* Bodies with closed contacts that move. */
static bool mark(bool *active, const ds_contact_list *contacts, const ds_scene *scene, const ds_state *state) {
  bool any = false;
  for (int32_t k = 0; k < contacts->count; k++) {
    const ds_contact_point *c = &contacts->points[k];
    if (c->gap > DS_TOUCHING * ds_smaller_radius(scene, c->a, c->b)) continue;
    if (scene->bodies[c->a].reduced || scene->bodies[c->b].reduced) continue;
    if (ds_feature_is_limit(c->feature) || ds_feature_is_drive(c->feature)) continue;
    if (stands(scene, state, c->a) && stands(scene, state, c->b)) continue;
    active[c->a] = active[c->b] = any = true;
  }
  return any;
}

static int by_key(const ds_contact_point *p, const ds_contact_point *q) {
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  if (p->b != q->b) return p->b < q->b ? -1 : 1;
  return (p->feature > q->feature) - (p->feature < q->feature);
}

ds_status ds_detect_middle(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                           const ds_detect_options *options) {
  int32_t n = scene->body_count;
  bool *active = DS_NEW0(arena, bool, n + 1);
  if (!active) return DS_ERROR_MEMORY;
  if (!mark(active, contacts, scene, state)) return DS_OK;
  ds_state then = *state;
  then.bodies = DS_NEW(arena, ds_body_state, n + 1);
  if (!then.bodies) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) {
    ds_pose pose = pose_then(scene, state, i, options->step);
    then.bodies[i] = (ds_body_state){.x = pose.p, .q = pose.q, .v = state->bodies[i].v, .w = state->bodies[i].w};
  }
  ds_detect_options look = *options;
  look.step = 0, look.recall = NULL, look.active = active;
  ds_contact_list found;
  then.contact_count = 0;
  ds_status status = ds_detect(arena, &found, scene, &then, &look);
  for (int32_t k = 0, i = 0; status == DS_OK && k < contacts->count; k++) {
    ds_contact_point *c = &contacts->points[k];
    while (i < found.count && by_key(&found.points[i], c) < 0) i++;
    if (i == found.count) break;
    const ds_contact_point *f = &found.points[i];
    if (by_key(f, c) != 0 || c->gap > DS_TOUCHING * ds_smaller_radius(scene, c->a, c->b)) continue;
    c->in_middle = true;
    c->middle[0] = v3_sub(f->point, then.bodies[c->a].x);
    c->middle[1] = v3_sub(f->point, then.bodies[c->b].x);
    c->normal = f->normal;
  }
  return status;
}
