/* Scripted bodies, DS_BODY_KINEMATIC: where they are is a function of time (body/motion.c). They have no mass; others
 * feel their velocity. */
#include <math.h>

#include "assemble/assemble.h"
#include "body/kind.h"
#include "integrate/integrate.h"

static bool takes(const ds_body *body) { return body->kind == DS_BODY_KINEMATIC; }

/* Velocity of the script between t and t + h, so that one step lands on it exactly. */
static bool begin(ds_arena *arena, ds_step_body *step, const ds_state *state, const ds_options *options) {
  double h = options->step;
  ds_pose p0 = ds_motion_pose(step->body, state->time), p1 = ds_motion_pose(step->body, state->time + h);
  ds_quat d = quat_mul(p1.q, quat_conj(p0.q));
  (void)arena;
  if (d.w < 0) d = quat(-d.w, -d.x, -d.y, -d.z);
  double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), angle = 2 * atan2(sine, d.w);
  step->v = v3_scale(1 / h, v3_sub(p1.p, p0.p));
  step->w = sine > 0 ? v3_scale(angle / (h * sine), v3(d.x, d.y, d.z)) : v3(0, 0, 0);
  return true;
}

static void move(ds_state *state, int32_t body, const ds_step_body *step, const ds_move *move, double h) {
  ds_pose pose = ds_motion_pose(step->body, state->time + h);
  (void)move;
  state->bodies[body] = (ds_body_state){pose.p, quat_unit(pose.q), step->v, step->w};
}

const ds_body_ops ds_body_scripted = {
    .name = "scripted",
    .takes = takes,
    .finish = ds_body_place_shapes,
    .script = ds_motion_pose,
    .begin = begin,
    .move = move,
};
