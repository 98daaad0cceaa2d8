/* Contacts in the middle of the step. What rolls or turns touches elsewhere in each moment: for the path that points
 * take over a step, the points that touch in its middle stand for all. So contacts that are closed at the start are
 * looked at once more, with the bodies half a step on at the velocities that are known. What is not found again goes
 * with its bodies; so does what is found with a normal more than a quarter turn away: these velocities may lead through
 * a thin body, and its other side would hold on to what lies on it. Nothing is looked at where nothing moves. */
#include <math.h>

#include "detect/detection.h"
#include "detect/tread.h"

static ds_pose pose_then(const ds_scene *scene, const ds_state *state, const ds_body_state *moving, int32_t i,
                         double h) {
  const ds_body_state *s = &state->bodies[i];
  if (scene->bodies[i].ops->script) return scene->bodies[i].ops->script(&scene->bodies[i], state->time + 0.5 * h);
  if (!scene->bodies[i].ops->dynamic) return ds_principal_pose(s);
  return (ds_pose){v3_mad(s->x, 0.5 * h, moving[i].v),
                   quat_unit(quat_mul(quat_exp(v3_scale(0.5 * h, moving[i].w)), s->q))};
}

static bool stands(const ds_scene *scene, const ds_state *state, int32_t i) {
  const ds_body_state *s = &state->bodies[i];
  return scene->bodies[i].ops->fixed || (v3_norm2(s->v) == 0 && v3_norm2(s->w) == 0);
}

/* Whether a contact is farther apart than it is looked for. The fitted surface of a mesh is not quite the one that its
 * tread has followed: it may be open by as much as
 * a point of what rolls rises in half a step. */
static bool is_apart(const ds_contact_point *c, const ds_scene *scene, const ds_body_state *moving, double h) {
  double size = ds_smaller_radius(scene, c->a, c->b), rise = 0;
  for (int side = 0; side < 2; side++) {
    double turn = h * v3_norm(moving[side == 0 ? c->a : c->b].w);
    if (ds_feature_is_tread(c->feature, side)) rise = fmax(rise, 0.125 * turn * turn * size);
  }
  return c->gap > fmax(DS_TOUCHING * size, rise);
}

/* Bodies with closed contacts that move. */
static bool mark(bool *active, const ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                 const ds_body_state *moving, double h) {
  bool any = false;
  for (int32_t k = 0; k < contacts->count; k++) {
    const ds_contact_point *c = &contacts->points[k];
    if (is_apart(c, scene, moving, h)) continue;
    if (scene->bodies[c->a].skin || scene->bodies[c->b].skin) continue;
    if (ds_feature_is_limit(c->feature) || ds_feature_is_drive(c->feature)) continue;
    if (stands(scene, state, c->a) && stands(scene, state, c->b)) continue;
    active[c->a] = active[c->b] = any = true;
  }
  return any;
}

/* How far the place of a contact goes in the first half of the step on one of its bodies. */
static double travel_on(ds_vec3 *then_arm, const ds_contact_point *c, ds_vec3 point, const ds_body_state *start,
                        const ds_body_state *then) {
  *then_arm = v3_sub(point, then->x);
  return v3_dist(quat_unrotate(then->q, *then_arm), quat_unrotate(start->q, v3_sub(c->point, start->x)));
}

/* Whether a body has no corners: what touches is never the same point, however slowly it turns. */
static bool is_round(const ds_body *body) {
  bool round = body->shape_count > 0;
  for (int32_t i = 0; i < body->shape_count; i++) {
    const ds_shape_ops *ops = ds_shape_ops_of(&body->shapes[i]);
    round &= ops->smooth || ops->rounded;
  }
  return round;
}

/* Which points stand for a contact: the same ones of a body throughout where it has a corner there; those of the middle
 * on both where one rolls on the other, and where the corner of one surely slides on the other. (What sticks to a body
 * that turns seems to slide by about (h w)² arm: half a step at the velocity of its start leads off a circle. On what
 * is round the place of a contact goes h w arm/2.) */
static void place(ds_contact_point *c, const ds_contact_point *found, const ds_state *state, const ds_state *then,
                  double h, double size) {
  int32_t index[2] = {c->a, c->b};
  double travel[2], apparent = 1e-9 * size;
  for (int side = 0; side < 2; side++) {
    const ds_body_state *s = &state->bodies[index[side]];
    double turn = h * v3_norm(s->w);
    travel[side] = travel_on(&c->middle[side], c, found->point, s, &then->bodies[index[side]]);
    apparent += fmin(2 * turn, 0.25) * turn * v3_dist(c->point, s->x);
  }
  double least = fmin(travel[0], travel[1]), most = fmax(travel[0], travel[1]);
  bool rolls = least > apparent;
  for (int side = 0; side < 2; side++) {
    bool moves_over = rolls || (travel[side] == most && most > apparent);
    bool round = ds_feature_is_tread(c->feature, side) || is_round(&state->scene->bodies[index[side]]);
    c->in_middle[side] = moves_over || round;
  }
  c->normal = found->normal;
}

/* Treads have the names of the start. */
static bool name_after(ds_arena *arena, ds_state *then, const ds_contact_list *contacts, const ds_scene *scene) {
  ds_contact *names = DS_NEW0(arena, ds_contact, contacts->count + 1);
  for (int32_t k = 0; names && k < contacts->count; k++) {
    const ds_contact_point *c = &contacts->points[k];
    names[k] = (ds_contact){.a = ds_scene_body(scene, c->a), .b = ds_scene_body(scene, c->b), .feature = c->feature};
    names[k].point = c->point, names[k].normal = c->normal;
  }
  then->contacts = names, then->contact_count = contacts->count;
  return names != NULL;
}

ds_status ds_detect_middle(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                           const ds_body_state *moving, const ds_detect_options *options) {
  int32_t n = scene->body_count;
  bool *active = DS_NEW0(arena, bool, n + 1);
  if (!active) return DS_ERROR_MEMORY;
  if (!mark(active, contacts, scene, state, moving, options->step)) return DS_OK;
  ds_state then = *state;
  then.bodies = DS_NEW(arena, ds_body_state, n + 1);
  if (!then.bodies) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) {
    ds_pose pose = pose_then(scene, state, moving, i, options->step);
    then.bodies[i] = (ds_body_state){.x = pose.p, .q = pose.q, .v = moving[i].v, .w = moving[i].w};
  }
  ds_detect_options look = *options;
  look.step = 0, look.recall = NULL, look.active = active;
  ds_contact_list found;
  if (!name_after(arena, &then, contacts, scene)) return DS_ERROR_MEMORY;
  ds_status status = ds_detect(arena, &found, scene, &then, &look);
  for (int32_t k = 0, i = 0; status == DS_OK && k < contacts->count; k++) {
    ds_contact_point *c = &contacts->points[k];
    double size = ds_smaller_radius(scene, c->a, c->b);
    while (i < found.count && ds_compare_points(&found.points[i], c) < 0) i++;
    if (i == found.count) break;
    if (ds_compare_points(&found.points[i], c) != 0 || is_apart(c, scene, moving, options->step)) continue;
    if (v3_dot(found.points[i].normal, c->normal) > 0) place(c, &found.points[i], state, &then, options->step, size);
  }
  return status;
}
