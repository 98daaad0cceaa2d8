/* Scripted bodies, DS_BODY_KINEMATIC: where they are is a function of time (body/motion.c). They have no mass; others
 * feel their velocity. */
#include "assemble/assemble.h"
#include "body/kind.h"
#include "integrate/integrate.h"

static bool takes(const ds_body *body) { return body->kind == DS_BODY_KINEMATIC; }

/* Velocity of the script between t and t + h, so that one step lands on it exactly. */
static bool begin(ds_arena *arena, ds_step_body *step, const ds_state *state, const ds_options *options) {
  double h = options->step;
  (void)arena;
  ds_velocity_between(&step->v, &step->w, ds_motion_pose(step->body, state->time),
                      ds_motion_pose(step->body, state->time + h), h);
  return true;
}

static void move(ds_state *state, int32_t body, const ds_step_body *step, const ds_move *move, double h) {
  ds_pose pose = ds_motion_pose(step->body, state->time + h);
  (void)move;
  state->bodies[body] = (ds_body_state){pose.p, quat_unit(pose.q), step->v, step->w};
  if (step->midpoint) /* at the node; else the mean of the step */
    ds_motion_velocity(&state->bodies[body].v, &state->bodies[body].w, step->body, state->time + h);
}

const ds_body_ops ds_body_scripted = {
    .name = "scripted",
    .takes = takes,
    .finish = ds_body_place_shapes,
    .script = ds_motion_pose,
    .begin = begin,
    .move = move,
};
