/* The haptic loop: reads a device, steps the scene with a hand on its tool, and sends the hand's force to the device.
 *
 * Ticks are due at start + k period. A late one is followed by the next that is due, so that simulated time falls
 * behind but never runs faster than the hand that feels it. Other threads see the state through a copy that the loop
 * makes after a tick on request: they never delay it by more than the time of that copy. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/error.h"
#include "base/thread.h"
#include "body/scene.h"
#include "drystone/touch.h"

static const double SMOOTHING = 0.005; /* s: smoothing of estimated velocities */
/* What a device may ask for. A target beyond REACH is no reading: there, 0.1 nm is the last bit of a coordinate. Nearer
 * ones are followed no faster than a hand can be; thrown balls reach 50 m/s and a flick of the wrist 50 rad/s. */
static const double REACH = 1e6;         /* m from the world's origin */
static const double FASTEST = 100;       /* m/s, of the device */
static const double FASTEST_TURN = 1000; /* rad/s */

struct ds_touch_loop {
  ds_touch_def def;
  ds_stepper *stepper;
  ds_hand_id hand;
  ds_step_report step;
  int64_t tick; /* the next */
  /* from the device's coordinates to the world's */
  bool begun;
  ds_pose target; /* the last */
  ds_vec3 origin, velocity, angular_velocity;
  ds_quat turn;
  /* the thread */
  ds_thread *thread;
  atomic_bool stop, wanted; /* wanted: a copy was requested */
  ds_lock *lock;            /* of what follows */
  ds_touch_report report;
  ds_state *shown;
  ds_step_report shown_step;
};

ds_touch_def ds_default_touch(void) {
  ds_touch_def def = {.options = ds_default_options(),
                      .hand = ds_default_tool(),
                      .origin = pose_identity(),
                      .scale = 1,
                      .force_scale = 1,
                      .max_force = 10,
                      .max_torque = 1,
                      .period = 1e-3};
  def.options.step = 1e-3;
  def.options.deadline = 8.5e-4;
  return def;
}

static ds_status check(const ds_touch_def *d, ds_error *error) {
  if (!(d->period > 0) || !isfinite(d->period))
    return ds_fail(error, DS_ERROR_INPUT, "period = %g s: must be positive and finite", d->period);
  if (!(d->spin >= 0 && d->spin <= d->period))
    return ds_fail(error, DS_ERROR_INPUT, "spin = %g s: must be from 0 to the period, %g s", d->spin, d->period);
  if (!(d->scale > 0) || !(d->force_scale >= 0) || !(d->max_force >= 0) || !(d->max_torque >= 0) ||
      !isfinite(d->scale + d->force_scale))
    return ds_fail(error, DS_ERROR_INPUT, "scale must be positive, force_scale, max_force and max_torque not negative");
  if (!v3_finite(d->origin.p) || !(fabs(quat_norm(d->origin.q) - 1) < 1e-3))
    return ds_fail(error, DS_ERROR_INPUT, "the origin must be finite and its rotation a unit quaternion");
  return ds_options_check(&d->options, error);
}

ds_touch_loop *ds_touch_create(const ds_touch_def *def, ds_error *error) {
  DS_CHECK(def && def->scene && def->state && def->device.read && def->device.write);
  ds_touch_loop *loop = calloc(1, sizeof *loop);
  if (!loop) {
    if (def->device.close) def->device.close(def->device.user);
    ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  loop->def = *def;
  loop->stepper = ds_stepper_create(1); /* waking other threads takes longer than most work that they could share */
  loop->lock = ds_lock_create();
  loop->shown = ds_state_copy(def->state);
  if (!loop->stepper || !loop->lock || !loop->shown)
    ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  else if (check(def, error) == DS_OK)
    loop->hand = ds_state_grab(def->state, &def->hand, error);
  if (loop->hand.index1 == 0) {
    ds_touch_destroy(loop);
    return NULL;
  }
  ds_hand hand = ds_state_hand(def->state, loop->hand);
  loop->target = (ds_pose){hand.grip, ds_state_pose(def->scene, def->state, hand.body).q};
  return loop;
}

void ds_touch_destroy(ds_touch_loop *loop) {
  if (!loop) return;
  ds_touch_stop(loop);
  if (loop->hand.index1 > 0) ds_state_release(loop->def.state, loop->hand);
  if (loop->def.device.close) loop->def.device.close(loop->def.device.user);
  ds_stepper_destroy(loop->stepper);
  ds_lock_destroy(loop->lock);
  ds_state_destroy(loop->shown);
  free(loop);
}

/* ---- one tick ---- */

/* The first reading defines which point of the device is at the tool. */
static void begin(ds_touch_loop *loop, const ds_device_motion *m) {
  const ds_touch_def *d = &loop->def;
  ds_hand hand = ds_state_hand(d->state, loop->hand);
  ds_quat body = ds_state_pose(d->scene, d->state, hand.body).q;
  loop->origin = d->origin.p;
  loop->turn = quat_identity();
  if (!d->absolute) {
    loop->origin = v3_mad(hand.grip, -d->scale, quat_rotate(d->origin.q, m->pose.p));
    loop->turn = quat_mul(quat_conj(quat_mul(d->origin.q, m->pose.q)), body);
  }
  loop->begun = true;
}

static ds_vec3 rotation_rate(ds_quat from, ds_quat to, double time) {
  ds_quat d = quat_mul(to, quat_conj(from));
  return v3_scale((d.w < 0 ? -2 : 2) / time, v3(d.x, d.y, d.z));
}

static ds_vec3 cut(ds_vec3 x, double longest) {
  double length = v3_norm(x);
  return length > longest ? v3_scale(longest / length, x) : x;
}

static bool within_reach(ds_vec3 p) { return fabs(p.x) <= REACH && fabs(p.y) <= REACH && fabs(p.z) <= REACH; }

/* The target of the hand for a reading; false if the reading is invalid. */
static bool find_target(ds_touch_loop *loop, ds_pose *target, const ds_device_motion *m) {
  const ds_touch_def *d = &loop->def;
  ds_vec3 moved = v3_scale(d->scale, quat_rotate(d->origin.q, m->pose.p));
  if (!within_reach(moved)) return false;
  if (!loop->begun) begin(loop, m);
  target->p = v3_add(loop->origin, moved);
  target->q = quat_unit(quat_mul(quat_mul(d->origin.q, m->pose.q), loop->turn));
  return within_reach(target->p);
}

/* The hand follows the device, no faster than a hand can be. False: the reading cannot be followed. */
static bool follow(ds_touch_loop *loop, const ds_device_motion *m) {
  const ds_touch_def *d = &loop->def;
  double fastest = fmin(FASTEST * d->scale, REACH);
  ds_pose target;
  if (!find_target(loop, &target, m)) return false;
  target.p = v3_add(loop->target.p, cut(v3_sub(target.p, loop->target.p), fastest * d->period));
  if (m->has_velocity) {
    loop->velocity = cut(v3_scale(d->scale, quat_rotate(d->origin.q, m->velocity)), fastest);
    loop->angular_velocity = cut(quat_rotate(d->origin.q, m->angular_velocity), FASTEST_TURN);
  } else {
    double share = d->period / (d->period + SMOOTHING);
    ds_vec3 v = v3_scale(1 / d->period, v3_sub(target.p, loop->target.p));
    ds_vec3 w = rotation_rate(loop->target.q, target.q, d->period);
    loop->velocity = v3_mad(loop->velocity, share, v3_sub(v, loop->velocity));
    loop->angular_velocity =
        v3_mad(loop->angular_velocity, share, v3_sub(cut(w, FASTEST_TURN), loop->angular_velocity));
  }
  if (!v3_finite(loop->velocity)) loop->velocity = v3(0, 0, 0); /* from one that overflowed on its way to the world */
  if (!v3_finite(loop->angular_velocity)) loop->angular_velocity = v3(0, 0, 0);
  loop->target = target;
  ds_state_move_hand_at(d->state, loop->hand, target, loop->velocity, loop->angular_velocity);
  return true;
}

/* The force for the device: the opposite, in its own frame, limited. */
static ds_vec3 for_device(const ds_touch_def *d, ds_vec3 on_body, double most) {
  ds_vec3 f = quat_unrotate(d->origin.q, v3_scale(-d->force_scale, on_body));
  double size = v3_norm(f);
  if (!v3_finite(f)) return v3(0, 0, 0);
  return size > most ? v3_scale(most / size, f) : f;
}

static bool usable(const ds_device_motion *m) {
  return v3_finite(m->pose.p) && fabs(quat_norm(m->pose.q) - 1) < 1e-3 && v3_finite(m->velocity) &&
         v3_finite(m->angular_velocity);
}

ds_status ds_touch_tick(ds_touch_loop *loop) {
  DS_CHECK(loop != NULL);
  const ds_touch_def *d = &loop->def;
  double time = d->period * (double)loop->tick++;
  ds_device_motion motion = {.pose = pose_identity()};
  bool heard = d->device.read(d->device.user, time, &motion) && usable(&motion) && follow(loop, &motion);
  if (!heard) ds_state_move_hand(d->state, loop->hand, loop->target);
  ds_status status = ds_step(loop->stepper, d->state, &loop->step, d->scene, &d->options);
  ds_hand hand = ds_state_hand(d->state, loop->hand);
  bool feels = heard && status == DS_OK;
  d->device.write(d->device.user, time, feels ? for_device(d, hand.force, d->max_force) : v3(0, 0, 0),
                  feels ? for_device(d, hand.torque, d->max_torque) : v3(0, 0, 0));
  ds_lock_take(loop->lock);
  ds_touch_report *r = &loop->report;
  r->ticks++;
  r->unconverged += !loop->step.worst.converged;
  r->silent += !heard;
  r->time = ds_state_time(d->state);
  r->hand = hand;
  r->status = status;
  if (atomic_load(&loop->wanted) && ds_state_assign(loop->shown, d->state) == DS_OK) {
    loop->shown_step = loop->step;
    atomic_store(&loop->wanted, false);
  }
  ds_lock_give(loop->lock);
  return status;
}

void ds_touch_last_step(const ds_touch_loop *loop, ds_step_report *report) { *report = loop->step; }

/* ---- the thread ---- */

/* A tick with its times; true if it was done before `due`. */
static bool timed_tick(ds_touch_loop *loop, double due) {
  double clock = ds_clock(), cpu = ds_thread_clock();
  ds_status status = ds_touch_tick(loop);
  double end = ds_clock(), seconds = end - clock, cpu_seconds = ds_thread_clock() - cpu;
  bool late = end > due;
  ds_lock_take(loop->lock);
  loop->report.late += late;
  loop->report.seconds += seconds;
  loop->report.cpu_seconds += cpu_seconds;
  loop->report.worst = fmax(loop->report.worst, seconds);
  ds_lock_give(loop->lock);
  if (loop->def.observer)
    loop->def.observer(loop->def.observer_user,
                       &(ds_touch_tick_report){loop->def.state, &loop->step, seconds, cpu_seconds, late});
  if (status != DS_OK) atomic_store(&loop->stop, true);
  return !late;
}

static void run(void *context) {
  ds_touch_loop *loop = context;
  double period = loop->def.period, start = ds_clock();
  if (loop->def.realtime) ds_thread_realtime();
  for (int64_t k = 0; !atomic_load(&loop->stop);) {
    ds_wait_until(start + (double)k * period, loop->def.spin);
    timed_tick(loop, start + (double)(k + 1) * period);
    int64_t next = (int64_t)ceil((ds_clock() - start) / period);
    if (next > k + 1) {
      ds_lock_take(loop->lock);
      loop->report.skipped += next - (k + 1);
      ds_lock_give(loop->lock);
    }
    k = next > k + 1 ? next : k + 1;
  }
}

ds_status ds_touch_start(ds_touch_loop *loop, ds_error *error) {
  DS_CHECK(loop && !loop->thread);
  atomic_store(&loop->stop, false);
  loop->thread = ds_thread_start(run, loop);
  return loop->thread ? DS_OK : ds_fail(error, DS_ERROR_MEMORY, "no thread for the haptic loop");
}

void ds_touch_stop(ds_touch_loop *loop) {
  atomic_store(&loop->stop, true);
  ds_thread_join(loop->thread);
  loop->thread = NULL;
}

/* ---- for others ---- */

ds_touch_report ds_touch_get_report(ds_touch_loop *loop) {
  ds_lock_take(loop->lock);
  ds_touch_report report = loop->report;
  ds_lock_give(loop->lock);
  return report;
}

ds_status ds_touch_look(ds_touch_loop *loop, ds_state *into, ds_step_report *step) {
  ds_lock_take(loop->lock);
  ds_status status = ds_state_assign(into, loop->shown);
  if (step) *step = loop->shown_step;
  ds_lock_give(loop->lock);
  atomic_store(&loop->wanted, true); /* the next request gets the newest state */
  return status;
}
