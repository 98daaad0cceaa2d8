/* Scripted motion of kinematic bodies: pose of the user frame as a function of time, never of the state.
 *
 * The velocity that contacts feel is the one that leads from the pose at t to the pose at t + h in one step
 * (predict/predict.c), so that the script is followed exactly whatever the step. */
#include "body/scene.h"

/* A rotation between two, by the shorter way at constant speed. */
static ds_quat slerp(ds_quat a, ds_quat b, double s) {
  ds_quat d = quat_mul(b, quat_conj(a));
  if (d.w < 0) d = quat(-d.w, -d.x, -d.y, -d.z);
  ds_vec3 axis = v3(d.x, d.y, d.z);
  double sine = v3_norm(axis);
  if (sine < 1e-300) return a;
  double angle = 2 * atan2(sine, d.w);
  return quat_unit(quat_mul(quat_exp(v3_scale(s * angle / sine, axis)), a));
}

static ds_pose at_keyframe(const ds_motion_def *m, double time) {
  const ds_keyframe *k = m->keyframes;
  int32_t last = m->keyframe_count - 1;
  if (time <= k[0].time) return k[0].pose;
  if (time >= k[last].time) return k[last].pose;
  int32_t i = 0;
  while (time >= k[i + 1].time) i++;
  double s = (time - k[i].time) / (k[i + 1].time - k[i].time);
  ds_vec3 step = v3_sub(k[i + 1].pose.p, k[i].pose.p);
  return (ds_pose){v3_mad(k[i].pose.p, s, step), slerp(k[i].pose.q, k[i + 1].pose.q, s)};
}

ds_pose ds_motion_pose(const ds_body *body, double time) {
  const ds_motion_def *m = &body->def.motion;
  ds_pose start = body->def.pose;
  double t = fmin(fmax(time, m->start_time), m->end_time) - m->start_time;
  switch (m->kind) {
    case DS_MOTION_NONE:
      return start;
    case DS_MOTION_VELOCITY:
      return (ds_pose){v3_mad(start.p, t, m->velocity),
                       quat_unit(quat_mul(quat_exp(v3_scale(t, m->angular_velocity)), start.q))};
    case DS_MOTION_HARMONIC: {
      double s = sin(2 * DS_PI * m->frequency * t + m->phase);
      return (ds_pose){v3_mad(start.p, s, m->amplitude),
                       quat_unit(quat_mul(quat_exp(v3_scale(s, m->angular_amplitude)), start.q))};
    }
    case DS_MOTION_KEYFRAMES:
      return at_keyframe(m, time);
  }
  return start;
}

/* From one pose to another in some time: constant velocities. */
void ds_velocity_between(ds_vec3 *v, ds_vec3 *w, ds_pose a, ds_pose b, double seconds) {
  ds_quat d = quat_mul(b.q, quat_conj(a.q));
  if (d.w < 0) d = quat(-d.w, -d.x, -d.y, -d.z);
  ds_vec3 axis = v3(d.x, d.y, d.z);
  double sine = v3_norm(axis);
  *v = v3_scale(1 / seconds, v3_sub(b.p, a.p));
  *w = sine > 0 ? v3_scale(2 * atan2(sine, d.w) / (seconds * sine), axis) : v3(0, 0, 0);
}

void ds_motion_velocity(ds_vec3 *v, ds_vec3 *w, const ds_body *body, double time) {
  const ds_motion_def *m = &body->def.motion;
  bool acts = time > m->start_time && time <= m->end_time;
  double t = time - m->start_time, rate = 2 * DS_PI * m->frequency;
  *v = *w = v3(0, 0, 0);
  if (m->kind == DS_MOTION_VELOCITY && acts) {
    *v = m->velocity, *w = m->angular_velocity;
  } else if (m->kind == DS_MOTION_HARMONIC && acts) {
    *v = v3_scale(rate * cos(rate * t + m->phase), m->amplitude);
    *w = v3_scale(rate * cos(rate * t + m->phase), m->angular_amplitude);
  } else if (m->kind == DS_MOTION_KEYFRAMES) {
    const ds_keyframe *k = m->keyframes;
    int32_t last = m->keyframe_count - 1, i = 0;
    if (!(time > k[0].time) || time > k[last].time) return;
    while (time > k[i + 1].time) i++;
    ds_velocity_between(v, w, k[i].pose, k[i + 1].pose, k[i + 1].time - k[i].time);
  }
}
