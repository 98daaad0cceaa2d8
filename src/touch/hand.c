/* Hands of a state: taking hold, moving, letting go. What a hand does in a step is in assemble/hold.c. */
#include "body/hand.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/error.h"
#include "body/kind.h"
#include "detect/deformed.h"

ds_hand_def ds_default_hand(void) {
  ds_hand_def def = {.target = {{0, 0, 0}, {1, 0, 0, 0}}};
  return def;
}

ds_hand_def ds_default_tool(void) {
  ds_hand_def def = ds_default_hand();
  def.whole = def.turn = true;
  def.carry = 1;
  def.max_force = def.max_torque = INFINITY;
  return def;
}

static bool pose_ok(ds_pose pose) {
  return v3_finite(pose.p) && fabs(quat_norm(pose.q) - 1) < 1e-3; /* users' quaternions come in single precision */
}

/* Zero and infinity are given a meaning by their field. */
static ds_status check_amounts(const ds_hand_def *def, ds_error *error) {
  const struct {
    const char *name;
    double value;
    bool may_be_infinite;
  } amounts[] = {{"stiffness", def->stiffness, false},
                 {"damping", def->damping, false},
                 {"turn_stiffness", def->turn_stiffness, false},
                 {"turn_damping", def->turn_damping, false},
                 {"max_force", def->max_force, true},
                 {"max_torque", def->max_torque, true}};
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
    if (!(amounts[i].value >= 0) || (!amounts[i].may_be_infinite && isinf(amounts[i].value)))
      return ds_fail(error, DS_ERROR_INPUT, "%s = %g: must be 0, which chooses one, or positive", amounts[i].name,
                     amounts[i].value);
  if (!(def->carry >= 0) || !(def->carry <= 1))
    return ds_fail(error, DS_ERROR_INPUT, "carry = %g: must be between 0 and 1", def->carry);
  return DS_OK;
}

static ds_status check_hand(const ds_state *state, const ds_hand_def *def, ds_error *error) {
  if (def->body.index1 < 1 || def->body.index1 > state->body_count)
    return ds_fail(error, DS_ERROR_INPUT, "body %d is not in the scene: it has bodies 1 to %d", def->body.index1,
                   state->body_count);
  if (!state->scene->bodies[ds_index(def->body)].ops->dynamic)
    return ds_fail(error, DS_ERROR_INPUT, "body \"%s\" is not dynamic: only dynamic bodies can be held",
                   ds_body_name(state->scene, def->body));
  if (!v3_finite(def->grip) || !pose_ok(def->target))
    return ds_fail(error, DS_ERROR_INPUT,
                   "grip and target must be finite, and the target's rotation a unit quaternion");
  return check_amounts(def, error);
}

/* The point of a deformable's current surface nearest to the grip. */
static ds_status find_place(ds_hand_state *hand, const ds_state *state, const ds_body *body, ds_error *error) {
  const ds_skin *skin = body->skin;
  ds_deformed surface = {.skin = skin, .q = state->reduced + body->first_reduced};
  surface.vertices = malloc((size_t)skin->mesh->vertex_count * sizeof *surface.vertices);
  if (!surface.vertices) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  for (int32_t v = 0; v < skin->mesh->vertex_count; v++) surface.vertices[v] = ds_skin_vertex(skin, surface.q, v);
  double least = INFINITY;
  for (int32_t k = 0; k < skin->mesh->triangle_count; k++) {
    ds_nearest nearest;
    ds_deformed_on_triangle(&nearest, &surface, k, hand->def.grip);
    if (!(nearest.distance2 < least)) continue;
    least = nearest.distance2;
    hand->triangle = nearest.at.triangle, hand->s = nearest.at.s, hand->t = nearest.at.t;
  }
  free(surface.vertices);
  return DS_OK;
}

ds_hand_id ds_state_grab(ds_state *state, const ds_hand_def *def, ds_error *error) {
  DS_CHECK(state && def);
  int32_t slot = 0;
  if (check_hand(state, def, error) != DS_OK) return (ds_hand_id){0};
  while (slot < DS_HANDS_MAX && state->hands[slot].def.body.index1) slot++;
  if (slot == DS_HANDS_MAX) {
    ds_fail(error, DS_ERROR_INPUT, "all %d hands are in use: release one first", DS_HANDS_MAX);
    return (ds_hand_id){0};
  }
  const ds_body *body = &state->scene->bodies[ds_index(def->body)];
  ds_hand_state hand = {.def = *def, .triangle = -1, .stiffness = def->stiffness};
  hand.def.grip = pose_point(body->user_frame, def->grip);
  hand.def.target.q = quat_unit(def->target.q);
  if (body->skin && !def->whole && find_place(&hand, state, body, error) != DS_OK) return (ds_hand_id){0};
  state->hands[slot] = hand;
  if (slot >= state->hand_count) state->hand_count = slot + 1;
  return (ds_hand_id){slot + 1};
}

static int32_t index_of(const ds_state *state, ds_hand_id id) {
  DS_CHECK(state && id.index1 >= 1 && id.index1 <= state->hand_count && state->hands[id.index1 - 1].def.body.index1);
  return id.index1 - 1;
}

void ds_state_move_hand_at(ds_state *state, ds_hand_id id, ds_pose target, ds_vec3 velocity, ds_vec3 angular_velocity) {
  DS_CHECK(pose_ok(target) && v3_finite(velocity) && v3_finite(angular_velocity));
  ds_hand_state *hand = &state->hands[index_of(state, id)];
  hand->def.target = (ds_pose){target.p, quat_unit(target.q)};
  hand->velocity = velocity;
  hand->angular_velocity = angular_velocity;
}

void ds_state_move_hand(ds_state *state, ds_hand_id id, ds_pose target) {
  ds_state_move_hand_at(state, id, target, v3(0, 0, 0), v3(0, 0, 0));
}

void ds_state_release(ds_state *state, ds_hand_id id) {
  state->hands[index_of(state, id)] = (ds_hand_state){.triangle = -1};
  while (state->hand_count > 0 && !state->hands[state->hand_count - 1].def.body.index1) state->hand_count--;
}

ds_hand_id ds_state_next_hand(const ds_state *state, ds_hand_id hand) {
  DS_CHECK(state && hand.index1 >= 0);
  for (int32_t i = hand.index1; i < state->hand_count; i++)
    if (state->hands[i].def.body.index1) return (ds_hand_id){i + 1};
  return (ds_hand_id){0};
}

ds_hand ds_state_hand(const ds_state *state, ds_hand_id id) {
  const ds_hand_state *hand = &state->hands[index_of(state, id)];
  ds_pose pose = ds_principal_pose(&state->bodies[ds_index(hand->def.body)]);
  return (ds_hand){.body = hand->def.body,
                   .grip = pose_point(pose, ds_hand_grip(hand, state)),
                   .target = hand->def.target,
                   .force = hand->force,
                   .torque = hand->torque,
                   .stiffness = hand->stiffness};
}
