/* The hand of a session: see hold.h. Stiffness and damping are the library's choice from the body's mass and the step.
 */
#include "hold.h"

#include <stdio.h>

#include "base/vec3.h"

static bool refuse(ds_error *error, const char *what) {
  snprintf(error->message, sizeof error->message, "%s", what);
  return false;
}

bool view_hold_take(view_hold *hold, ds_state *state, const ds_scene *scene, const view_command *c, ds_error *error) {
  if (c->body >= (uint32_t)ds_scene_body_count(scene)) return refuse(error, "there is no such body to grab");
  ds_body_id body = ds_scene_body(scene, (int32_t)c->body);
  if (ds_body_get_kind(scene, body) != DS_BODY_DYNAMIC) return refuse(error, "only dynamic bodies can be grabbed");
  if (hold->hand.index1 != 0 && hold->client != c->client)
    return refuse(error, "another client holds a body; wait until it is released");
  view_hold_release(hold, state, c->client);
  ds_hand_def def = ds_default_hand();
  def.body = body;
  def.grip = c->point;
  def.target = (ds_pose){c->target, quat_identity()};
  *hold = (view_hold){ds_state_grab(state, &def, error), c->client};
  return hold->hand.index1 != 0;
}

void view_hold_move(const view_hold *hold, ds_state *state, const view_command *c) {
  if (hold->hand.index1 != 0 && hold->client == c->client)
    ds_state_move_hand(state, hold->hand, (ds_pose){c->target, quat_identity()});
}

void view_hold_release(view_hold *hold, ds_state *state, uint32_t client) {
  if (hold->hand.index1 == 0 || hold->client != client) return;
  ds_state_release(state, hold->hand);
  *hold = (view_hold){0};
}

view_hand view_hold_read(const view_hold *hold, const ds_state *state) {
  if (hold->hand.index1 == 0) return (view_hand){0};
  ds_hand hand = ds_state_hand(state, hold->hand);
  return (view_hand){.holds = true,
                     .body = hand.body.index1 - 1,
                     .grip = hand.grip,
                     .target = hand.target.p,
                     .force = hand.force,
                     .torque = hand.torque,
                     .stiffness = hand.stiffness};
}
