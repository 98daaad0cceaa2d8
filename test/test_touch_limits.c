/* What a device is given: the opposite of the hand's force, in its own frame and scale, and never more than it may
 * have; where the hand goes for what the device says; and what a loop or a hand refuses. One tick at a time, by hand.
 */
#include <setjmp.h>

#include "body/scene.h"
#include "drystone/touch.h"
#include "scene_helper.h"

/* A device that says what it is told to, and keeps what it is given. */
typedef struct puppet {
  ds_device_motion motion;
  bool there;
  ds_vec3 force, torque;
  double time;
  int32_t closed;
} puppet;

static bool read_puppet(void *user, double time, ds_device_motion *motion) {
  puppet *p = user;
  p->time = time;
  *motion = p->motion;
  return p->there;
}
static void write_puppet(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  puppet *p = user;
  CHECK(time == p->time);
  p->force = force, p->torque = torque;
}
static void close_puppet(void *user) { ((puppet *)user)->closed++; }

static ds_device device_of(puppet *p) { return (ds_device){p, read_puppet, write_puppet, close_puppet}; }

/* A cube of 1 kg and 0.1 m at (1, 2, 3) that nothing pulls. */
static ds_touch_def start(sim *s, puppet *p) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.4, 0);
  ds_body_def def = body_at(1, 2, 3);
  def.name = "tool";
  scene_add(scene, &def, shape_box(0.1, 0.1, 0.1));
  ds_touch_def touch = ds_default_touch();
  if (sim_finish(s, "tool", scene)) touch.scene = s->scene, touch.state = s->state;
  *p = (puppet){.motion = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}}, .there = true};
  touch.device = device_of(p);
  touch.hand.body = sim_body(s, "tool");
  touch.hand.stiffness = 1000, touch.hand.damping = 5, touch.hand.turn_stiffness = 2, touch.hand.turn_damping = 0.01;
  touch.options.deadline = 0;
  return touch;
}

static ds_touch_loop *make(const ds_touch_def *def) {
  ds_error error = {""};
  ds_touch_loop *loop = ds_touch_create(def, &error);
  if (!loop) printf("%s\n", error.message);
  CHECK(loop != NULL);
  return loop;
}

static double turn_between(ds_quat a, ds_quat b) {
  ds_quat d = quat_mul(a, quat_conj(b));
  return 2 * v3_norm(v3(d.x, d.y, d.z));
}

/* First reading: the device is where the tool is. Then it jumps by (0.01, 0, 0) in its frame, which the world sees
 * turned by 90 degrees about z and scaled by 3: the target moves by (0, 0.03, 0). With u the velocity after the step
 * the hand feels k (e - h u) + c (a - u), a the target's velocity, smoothed from 30 m/s by 1/6. */
static void force_by_hand(void) {
  for (int limited = 0; limited < 2; limited++) {
    sim s;
    puppet p;
    ds_touch_def def = start(&s, &p);
    const double h = 1e-3, m = 1, k = 1000, c = 5, moved = 0.03, velocity = (moved / h) * h / (h + 0.005);
    def.scale = 3, def.force_scale = 0.5, def.max_force = limited ? 1 : 1e6, def.max_torque = 1e6;
    def.origin.q = quat_axis_angle(v3(0, 0, 1), 0.5 * DS_PI);
    ds_touch_loop *loop = make(&def);
    CHECK(loop && ds_touch_tick(loop) == DS_OK);
    CHECK_LE(v3_norm(p.force) + v3_norm(p.torque), 1e-12);
    p.motion.pose.p = v3(0.01, 0, 0);
    CHECK(ds_touch_tick(loop) == DS_OK);
    CHECK_NEAR(p.time, h, 1e-18);
    double u = h * (k * moved + c * velocity) / (m + h * c + h * h * k);
    double force = k * (moved - h * u) + c * (velocity - u);
    ds_hand hand = ds_touch_get_report(loop).hand;
    CHECK_LE(v3_dist(hand.force, v3(0, force, 0)), 1e-9 * force);
    CHECK_LE(v3_dist(hand.target.p, v3(1, 2.03, 3)), 1e-12);
    CHECK_NEAR(ds_state_velocity(s.state, hand.body).y, u, 1e-12);
    /* the opposite, as the device sees it */
    CHECK_LE(v3_dist(p.force, v3(limited ? -1 : -0.5 * force, 0, 0)), 1e-9 * force);
    /* a device that is no longer there is given nothing */
    p.there = false;
    CHECK(ds_touch_tick(loop) == DS_OK);
    CHECK(v3_norm(p.force) == 0 && v3_norm(p.torque) == 0);
    CHECK(ds_touch_get_report(loop).silent == 1 && ds_touch_get_report(loop).ticks == 3);
    /* and the hand stays where it was, at rest */
    hand = ds_touch_get_report(loop).hand;
    u = ds_state_velocity(s.state, hand.body).y;
    CHECK_LE(v3_dist(hand.target.p, v3(1, 2.03, 3)), 1e-12);
    CHECK_NEAR(hand.force.y, k * (2.03 - hand.grip.y) - c * u, 1e-9);
    ds_touch_destroy(loop);
    CHECK(p.closed == 1);
    sim_free(&s);
  }
}

/* The same for a turn by 0.1 rad about z: bend 0.1 rad, its rate smoothed as above. I = m a²/6. A device may give the
 * same turn as -q. */
static void torque_by_hand(void) {
  for (int variant = 0; variant < 3; variant++) {
    bool limited = variant == 1, negative = variant == 2;
    sim s;
    puppet p;
    ds_touch_def def = start(&s, &p);
    const double h = 1e-3, inertia = 0.01 / 6, k = 2, c = 0.01, angle = 0.1;
    double rate = 2 * sin(0.5 * angle) / h * h / (h + 0.005);
    def.max_force = 1e6, def.max_torque = limited ? 0.05 : 1e6, def.force_scale = 2;
    ds_touch_loop *loop = make(&def);
    CHECK(loop && ds_touch_tick(loop) == DS_OK);
    ds_quat q = quat_axis_angle(v3(0, 0, 1), angle);
    p.motion.pose.q = negative ? quat(-q.w, -q.x, -q.y, -q.z) : q;
    CHECK(ds_touch_tick(loop) == DS_OK);
    double w = h * (k * angle + c * rate) / (inertia + h * c + h * h * k);
    double torque = k * (angle - h * w) + c * (rate - w);
    ds_hand hand = ds_touch_get_report(loop).hand;
    CHECK_LE(v3_dist(hand.torque, v3(0, 0, torque)), 1e-9);
    CHECK_LE(v3_norm(hand.force), 1e-12);
    CHECK_LE(v3_dist(p.torque, v3(0, 0, limited ? -0.05 : -2 * torque)), 1e-9);
    ds_touch_destroy(loop);
    sim_free(&s);
  }
}

/* A device that is turned, in a frame that is turned, holds a tool that is turned: at first the tool stays as it is,
 * then it turns with the device about the axes that the world sees. Velocities are scaled as the way is. */
static void turned_device(void) {
  sim s;
  puppet p;
  ds_touch_def def = start(&s, &p);
  ds_quat held = quat_axis_angle(v3(1, 0, 0), 0.5), frame = quat_axis_angle(v3(0, 0, 1), DS_PI / 2);
  ds_quat device = quat_axis_angle(v3(0, 1, 0), 0.4), more = quat_axis_angle(v3(1, 0, 0), 0.05);
  ds_state_set_pose(s.scene, s.state, def.hand.body, (ds_pose){v3(1, 2, 3), held});
  def.origin.q = frame, def.scale = 2;
  p.motion.pose.q = device;
  ds_touch_loop *loop = make(&def);
  CHECK(loop && ds_touch_tick(loop) == DS_OK);
  CHECK_LE(turn_between(ds_touch_get_report(loop).hand.target.q, held), 1e-7);
  p.motion.pose.q = quat_mul(more, device);
  p.motion.has_velocity = true, p.motion.velocity = v3(0.5, 0, 0), p.motion.angular_velocity = v3(0, 3, 0);
  CHECK(ds_touch_tick(loop) == DS_OK);
  ds_quat wanted = quat_mul(quat_axis_angle(v3(0, 1, 0), 0.05), held); /* x of the device is y of the world */
  CHECK_LE(turn_between(ds_touch_get_report(loop).hand.target.q, wanted), 1e-7);
  CHECK_LE(v3_dist(s.state->hands[0].velocity, v3(0, 1, 0)), 1e-12);
  CHECK_LE(v3_dist(s.state->hands[0].angular_velocity, v3(-3, 0, 0)), 1e-12);
  ds_touch_destroy(loop);
  sim_free(&s);
}

/* Absolute: the device's origin is a place of the world. No faster than 100 m/s of the device: 0.1 m a tick. */
static void absolute_and_fast(void) {
  sim s;
  puppet p;
  ds_touch_def def = start(&s, &p);
  def.absolute = true, def.origin.p = v3(1, 2, 2.95), def.scale = 2;
  ds_touch_loop *loop = make(&def);
  CHECK(loop && ds_touch_tick(loop) == DS_OK);
  CHECK_LE(v3_dist(ds_touch_get_report(loop).hand.target.p, v3(1, 2, 2.95)), 1e-12);
  p.motion.pose.p = v3(10, 0, 0);
  CHECK(ds_touch_tick(loop) == DS_OK); /* 2 x 100 m/s x 1 ms */
  CHECK_LE(v3_dist(ds_touch_get_report(loop).hand.target.p, v3(1.2, 2, 2.95)), 1e-12);
  /* told velocities count as they are, up to that speed */
  p.motion.pose.p = v3(0.1, 0, 0), p.motion.has_velocity = true, p.motion.velocity = v3(0, 1e5, 0);
  CHECK(ds_touch_tick(loop) == DS_OK);
  ds_hand hand = ds_touch_get_report(loop).hand;
  double u = ds_state_velocity(s.state, hand.body).y, e = 2 - (hand.grip.y - 1e-3 * u);
  CHECK_NEAR(hand.force.y, 1000 * (e - 1e-3 * u) + 5 * (200 - u), 1e-6);
  ds_touch_destroy(loop);
  sim_free(&s);
}

/* Readings that cannot be: each component that is no number, and a quaternion of another length. The tool stays. */
static void no_reading(void) {
  sim s;
  puppet p;
  ds_touch_def def = start(&s, &p);
  ds_touch_loop *loop = make(&def);
  int64_t silent = 0;
  CHECK(loop && ds_touch_tick(loop) == DS_OK);
  for (int i = 0; i < 13; i++)
    for (int bad = 0; bad < 2; bad++) {
      p.motion = (ds_device_motion){.pose = {{0.001, 0, 0}, {1, 0, 0, 0}}, .has_velocity = true};
      double *number[13] = {&p.motion.pose.p.x,          &p.motion.pose.p.y,           &p.motion.pose.p.z,
                            &p.motion.pose.q.w,          &p.motion.pose.q.x,           &p.motion.pose.q.y,
                            &p.motion.pose.q.z,          &p.motion.velocity.x,         &p.motion.velocity.y,
                            &p.motion.velocity.z,        &p.motion.angular_velocity.x, &p.motion.angular_velocity.y,
                            &p.motion.angular_velocity.z};
      *number[i] = bad ? (double)INFINITY : (double)NAN;
      CHECK(ds_touch_tick(loop) == DS_OK);
      CHECK(ds_touch_get_report(loop).silent == ++silent);
      CHECK(v3_norm(p.force) == 0 && v3_norm(p.torque) == 0);
      CHECK_LE(v3_dist(ds_state_center(s.state, def.hand.body), v3(1, 2, 3)), 1e-12);
    }
  const double lengths[2] = {0.998, 1.002};
  for (int i = 0; i < 2; i++) {
    p.motion = (ds_device_motion){.pose = {{0.001, 0, 0}, {lengths[i], 0, 0, 0}}};
    CHECK(ds_touch_tick(loop) == DS_OK);
    CHECK(ds_touch_get_report(loop).silent == ++silent);
  }
  p.motion.pose.q.w = 1.0009;
  CHECK(ds_touch_tick(loop) == DS_OK && ds_touch_get_report(loop).silent == silent);
  CHECK_LE(1e-9, v3_norm(p.force));
  ds_touch_destroy(loop);
  sim_free(&s);
}

/* Places beyond 1,000 km are no readings; a force beyond all numbers is not passed on. */
static void beyond_reach(void) {
  sim s;
  puppet p;
  ds_touch_def def = start(&s, &p);
  def.force_scale = 1e308, def.max_force = def.max_torque = INFINITY;
  ds_touch_loop *loop = make(&def);
  CHECK(loop && ds_touch_tick(loop) == DS_OK);
  const double far[4] = {9e5, 1.1e6, -9e5, -1.1e6};
  for (int i = 0; i < 4; i++) {
    p.motion.pose.p = v3(0, far[i], 0);
    int64_t silent = ds_touch_get_report(loop).silent;
    CHECK(ds_touch_tick(loop) == DS_OK);
    CHECK(ds_touch_get_report(loop).silent - silent == i % 2);
    if (i == 0) CHECK_LE(1.8, v3_norm(ds_touch_get_report(loop).hand.force)); /* 1e308 times that is no number */
    CHECK(v3_finite(p.force) && v3_finite(p.torque));
  }
  ds_touch_destroy(loop);
  sim_free(&s);
}

/* Ticks whose step had no time for friction are counted as such. */
static void unconverged_ticks_count(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.4, 0);
  ds_body_def def = body_at(0, 0, 0.05);
  def.name = "tool", def.velocity = v3(1, 0.3, 0), def.angular_velocity = v3(0, 0, 3);
  scene_add_floor(scene);
  scene_add(scene, &def, shape_box(0.1, 0.1, 0.1));
  sim s;
  puppet p = {.motion = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}}, .there = true};
  if (!sim_finish(&s, "tool", scene)) return;
  ds_touch_def touch = ds_default_touch();
  touch.scene = s.scene, touch.state = s.state, touch.device = device_of(&p);
  touch.hand = ds_default_hand();
  touch.hand.body = sim_body(&s, "tool"), touch.hand.stiffness = 1e-6, touch.hand.damping = 1e-6;
  touch.options.deadline = 1e-9;
  ds_touch_loop *loop = make(&touch);
  int64_t unconverged = 0;
  for (int i = 0; i < 5 && loop; i++) {
    ds_step_report step;
    CHECK(ds_touch_tick(loop) == DS_OK);
    ds_touch_last_step(loop, &step);
    unconverged += !step.worst.converged;
    CHECK(ds_touch_get_report(loop).unconverged == unconverged);
  }
  CHECK(unconverged > 0);
  ds_touch_destroy(loop);
  sim_free(&s);
}

/* What others see is the state after the tick that followed their last look; and what a loop is by default. */
static void looks_by_hand(void) {
  sim s;
  puppet p;
  ds_touch_def def = start(&s, &p), plain = ds_default_touch();
  CHECK(plain.max_force == 10 && plain.max_torque == 1 && plain.period == 1e-3 && plain.options.step == 1e-3);
  CHECK(plain.scale == 1 && plain.force_scale == 1 && plain.options.deadline == 8.5e-4 && !plain.absolute);
  CHECK(plain.hand.whole && plain.hand.turn && plain.hand.carry == 1 && isinf(plain.hand.max_force));
  ds_touch_loop *loop = make(&def);
  ds_state *seen = ds_state_create(s.scene);
  ds_step_report step;
  const double want[4] = {0, 1e-3, 3e-3, 5e-3}; /* two ticks between looks: the first of them is shown */
  for (int i = 0; i < 4 && loop && seen; i++) {
    CHECK(ds_touch_look(loop, seen, &step) == DS_OK);
    CHECK_NEAR(ds_state_time(seen), want[i], 1e-15);
    if (i > 0) CHECK_NEAR(step.time, want[i], 1e-15);
    for (int k = 0; k < 2; k++) CHECK(ds_touch_tick(loop) == DS_OK);
  }
  ds_state_destroy(seen);
  ds_touch_destroy(loop);
  sim_free(&s);
}

static void refuse_loop(const ds_touch_def *def, const char *says) {
  ds_error error = {""};
  CHECK(ds_touch_create(def, &error) == NULL);
  if (!strstr(error.message, says)) printf("     \"%s\" says nothing of \"%s\"\n", error.message, says);
  CHECK(strstr(error.message, says) != NULL);
}

static void loops_refused(void) {
  sim s;
  puppet p;
  ds_touch_def good = start(&s, &p), def;
  const double bad[3] = {-1, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    def = good, def.period = bad[i], refuse_loop(&def, "period");
    def = good, def.spin = bad[i], refuse_loop(&def, "spin");
    def = good, def.scale = bad[i], refuse_loop(&def, "scale");
    def = good, def.force_scale = bad[i], refuse_loop(&def, "force_scale");
    def = good, def.origin.p.y = i == 0 ? (double)NAN : bad[i], refuse_loop(&def, "origin");
    if (i == 2) continue; /* no limit is one */
    def = good, def.max_force = bad[i], refuse_loop(&def, "max_force");
    def = good, def.max_torque = bad[i], refuse_loop(&def, "max_torque");
  }
  def = good, def.period = 0, refuse_loop(&def, "period");
  def = good, def.scale = 0, refuse_loop(&def, "scale");
  def = good, def.origin.q.w = 0.99, refuse_loop(&def, "origin");
  def = good, def.options.step = 0, refuse_loop(&def, "step");
  def = good, def.hand.body.index1 = 9, refuse_loop(&def, "body");
  CHECK(p.closed == 3 * 5 + 2 * 2 + 5); /* the device is closed, created or not */
  sim_free(&s);
}

/* ---- Devices ---- */

/* A mass on a spring and a damper, led from 1 to 3 m along x within 0.1 s and pushed along y, in eight steps of
 * backward Euler's rule from reading to reading; then the device's own force besides. */
static void operator_by_hand(void) {
  const ds_operator_key keys[2] = {{0, {1, 0, 0}, {0, 0, 0}}, {0.1, {3, 0, 0}, {0, 5, 0}}};
  ds_operator_def def = {.mass = 0.5, .stiffness = 300, .damping = 7, .keys = keys, .key_count = 2};
  ds_device device;
  ds_error error = {""};
  CHECK(ds_device_operator(&device, &def, &error) == DS_OK);
  double x[2] = {1, 0}, v[2] = {0, 0}, force[2] = {0, 0}, time = 0;
  ds_device_motion m;
  CHECK(device.read(device.user, 0, &m) && v3_dist(m.pose.p, v3(1, 0, 0)) == 0 && m.has_velocity);
  for (int i = 1; i <= 30; i++) {
    const double h = 0.005 / 8;
    for (int k = 1; k <= 8; k++) {
      double share = fmin(1, (time + k * h) / 0.1), pull[2] = {300 * (1 + 2 * share - x[0]), 5 * share - 300 * x[1]};
      for (int c = 0; c < 2; c++) {
        v[c] = (0.5 * v[c] + h * (pull[c] + force[c])) / (0.5 + 7 * h + 300 * h * h);
        x[c] += h * v[c];
      }
    }
    time = 0.005 * i;
    CHECK(device.read(device.user, time, &m));
    CHECK_LE(v3_dist(m.pose.p, v3(x[0], x[1], 0)) + v3_dist(m.velocity, v3(v[0], v[1], 0)), 1e-11);
    force[0] = i > 20 ? -4 : 0, force[1] = i > 20 ? 1 : 0;
    device.write(device.user, time, v3(force[0], force[1], 0), v3(9, 9, 9));
  }
  device.close(device.user);
  const ds_operator_key back[2] = {{1, {0, 0, 0}, {0, 0, 0}}, {1, {0, 0, 0}, {0, 0, 0}}};
  def.keys = back;
  CHECK(ds_device_operator(&device, &def, &error) == DS_ERROR_INPUT && strstr(error.message, "later") != NULL);
  def.keys = keys, def.mass = 0;
  CHECK(ds_device_operator(&device, &def, &error) == DS_ERROR_INPUT);
}

/* A trace between its lines, at them, and after the last; back in time, too. */
static void trace_by_hand(void) {
  const char text[] = "1 0 0 0\n2 2 0 0 0 0 0 1\n4 2 6 0 -1 0 0 0\n";
  ds_device device;
  ds_error error = {""};
  CHECK(ds_device_trace_text(&device, text, strlen(text), "text", &error) == DS_OK);
  const double times[6] = {0.5, 1, 1.5, 3, 9, 1.25};
  const ds_vec3 places[6] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {2, 3, 0}, {2, 6, 0}, {0.5, 0, 0}};
  const ds_vec3 speeds[6] = {{0, 0, 0}, {2, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, 0, 0}, {2, 0, 0}};
  for (int i = 0; i < 6; i++) {
    ds_device_motion m;
    CHECK(device.read(device.user, times[i], &m) && m.has_velocity);
    CHECK_LE(v3_dist(m.pose.p, places[i]) + v3_dist(m.velocity, speeds[i]), 1e-14);
    CHECK_NEAR(quat_norm(m.pose.q), 1, 1e-14);
    if (i == 2) CHECK_LE(fabs(m.pose.q.w - sqrt(0.5)) + fabs(m.pose.q.z - sqrt(0.5)), 1e-14);
  }
  device.close(device.user);
  const char bad[] = "0 0 0 0 0.9 0 0 0\n";
  CHECK(ds_device_trace_text(&device, bad, strlen(bad), "text", &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "length 1") != NULL);
}

static void pointer_by_hand(void) {
  ds_device device;
  ds_error error = {""};
  ds_device_motion m;
  ds_vec3 force, torque;
  CHECK(ds_device_pointer(&device, &error) == DS_OK);
  CHECK(!device.read(device.user, 0, &m)); /* nothing has been set */
  ds_pointer_set(&device, (ds_pose){{1, 2, 3}, {1, 0, 0, 0}});
  CHECK(device.read(device.user, 0, &m) && v3_dist(m.pose.p, v3(1, 2, 3)) == 0 && !m.has_velocity);
  device.write(device.user, 0, v3(4, 5, 6), v3(7, 8, 9));
  ds_pointer_feel(&device, &force, &torque);
  CHECK(v3_dist(force, v3(4, 5, 6)) == 0 && v3_dist(torque, v3(7, 8, 9)) == 0);
  device.close(device.user);
}

/* ---- Hands ---- */

static jmp_buf misused;
static void leap(const char *file, int line, const char *condition) {
  (void)file, (void)line, (void)condition;
  longjmp(misused, 1);
}

static bool is_misuse(ds_state *state, ds_hand_id hand, ds_pose target, ds_vec3 v, ds_vec3 w) {
  ds_set_check_handler(leap);
  bool caught = setjmp(misused) != 0;
  if (!caught) ds_state_move_hand_at(state, hand, target, v, w);
  ds_set_check_handler(NULL);
  return caught;
}

static void hands_refused(void) {
  sim s;
  puppet p;
  ds_touch_def touch = start(&s, &p);
  ds_hand_def good = touch.hand;
  for (int i = 0; i < 7; i++) {
    ds_hand_def def = good;
    double *number[7] = {&def.target.p.x, &def.target.p.y, &def.target.p.z, &def.target.q.w,
                         &def.target.q.z, &def.grip.y,     &def.grip.z};
    ds_error error = {""};
    *number[i] = NAN;
    CHECK(ds_state_grab(s.state, &def, &error).index1 == 0 && strstr(error.message, "finite") != NULL);
  }
  for (int i = 0; i < 6; i++)
    for (int bad = 0; bad < 2; bad++) {
      ds_hand_def def = good;
      double *number[6] = {&def.stiffness,    &def.damping,   &def.turn_stiffness,
                           &def.turn_damping, &def.max_force, &def.max_torque};
      *number[i] = bad ? (double)NAN : -1;
      CHECK(ds_state_grab(s.state, &def, NULL).index1 == 0);
    }
  for (int i = 0; i < 4; i++) {
    const double carry[4] = {-0.01, 1.01, NAN, INFINITY};
    ds_hand_def def = good;
    def.carry = carry[i];
    CHECK(ds_state_grab(s.state, &def, NULL).index1 == 0);
  }
  ds_hand_id hand = ds_state_grab(s.state, &good, NULL), second = ds_state_grab(s.state, &good, NULL);
  CHECK(hand.index1 == 1 && second.index1 == 2);
  ds_pose fine = pose_identity(), broken = fine, longer = fine;
  ds_vec3 none = v3(0, 0, 0), nan = v3(0, NAN, 0);
  broken.p.x = NAN, longer.q.w = 1.1;
  CHECK(is_misuse(s.state, hand, broken, none, none) && is_misuse(s.state, hand, longer, none, none));
  CHECK(is_misuse(s.state, hand, fine, nan, none) && is_misuse(s.state, hand, fine, none, nan));
  CHECK(is_misuse(s.state, (ds_hand_id){3}, fine, none, none) && is_misuse(s.state, (ds_hand_id){0}, fine, none, none));
  CHECK(!is_misuse(s.state, second, fine, none, none));
  /* a hand that lets go leaves its place to the next */
  ds_state_release(s.state, hand);
  CHECK(is_misuse(s.state, hand, fine, none, none));
  CHECK(ds_state_next_hand(s.state, (ds_hand_id){0}).index1 == 2 && ds_state_next_hand(s.state, second).index1 == 0);
  CHECK(ds_state_grab(s.state, &good, NULL).index1 == 1);
  sim_free(&s);
}

/* A grip is in the body's frame, wherever its centre of mass is. */
static void grip_by_hand(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.4, 0);
  ds_body_def def = body_at(1, 2, 3);
  ds_shape_def shape = shape_box(0.1, 0.2, 0.3);
  def.pose.q = quat_axis_angle(v3(0, 0, 1), 0.5 * DS_PI);
  shape.pose.p = v3(0.3, 0, 0);
  ds_body_id id = scene_add(scene, &def, shape);
  sim s;
  if (sim_finish(&s, "grip", scene)) {
    ds_hand_def hand = ds_default_hand();
    hand.body = id, hand.grip = v3(0.1, 0, 0.2);
    ds_hand_id held = ds_state_grab(s.state, &hand, NULL);
    CHECK(held.index1 == 1);
    CHECK_LE(v3_dist(ds_state_hand(s.state, held).grip, v3(1, 2.1, 3.2)), 1e-14);
  }
  sim_free(&s);
}

/* The pull of a hand is cut to max_force, its twist to max_torque; where none is given to 50 times the weight, and
 * that at the body's radius. Without damping and mass in the way the first step shows it. */
static void pull_is_cut(void) {
  for (int given = 0; given < 2; given++) {
    sim s;
    puppet p;
    ds_touch_def touch = start(&s, &p);
    ds_hand_def def = touch.hand;
    const double h = s.options.step = 1e-3, m = 1, inertia = 0.01 / 6, radius = 0.05 * sqrt(3);
    double most = given ? 3 : 50 * 9.81 * m, twist = given ? 0.2 : 50 * 9.81 * m * radius;
    def.max_force = given ? 3 : 0, def.max_torque = given ? 0.2 : 0;
    def.turn_stiffness = 1e4; /* so that any turn is too much */
    def.target = (ds_pose){v3(1, 2, 13), quat_axis_angle(v3(1, 0, 0), 1)};
    ds_hand_id hand = ds_state_grab(s.state, &def, NULL);
    CHECK(hand.index1 == 1);
    sim_step(&s);
    double u = h * most / (m + h * def.damping + h * h * def.stiffness);
    double w = h * twist / (inertia + h * def.turn_damping + h * h * def.turn_stiffness);
    CHECK_NEAR(ds_state_velocity(s.state, def.body).z, u, 1e-9 * u);
    CHECK_NEAR(ds_state_angular_velocity(s.state, def.body).x, w, 1e-9 * w);
    ds_hand now = ds_state_hand(s.state, hand);
    CHECK_NEAR(now.force.z, most - h * def.stiffness * u - def.damping * u, 1e-9 * most);
    CHECK_NEAR(now.torque.x, twist - h * def.turn_stiffness * w - def.turn_damping * w, 1e-9 * twist);
    CHECK(now.stiffness == def.stiffness);
    sim_free(&s);
  }
}

/* Chosen where not given: natural frequency 1/(2 h), at most 100/s, and critical damping. */
static void chosen_by_hand(void) {
  const double steps[2] = {0.01, 1e-3}, rates[2] = {50, 100};
  for (int i = 0; i < 2; i++) {
    sim s;
    puppet p;
    ds_touch_def touch = start(&s, &p);
    ds_hand_def def = ds_default_hand();
    const double h = s.options.step = steps[i], k = rates[i] * rates[i], c = 2 * rates[i], e = 1e-4;
    def.body = touch.hand.body, def.target.p = v3(1 + e, 2, 3);
    ds_hand_id hand = ds_state_grab(s.state, &def, NULL);
    sim_step(&s);
    double u = h * k * e / (1 + h * c + h * h * k);
    CHECK_NEAR(ds_state_velocity(s.state, def.body).x, u, 1e-12);
    CHECK_NEAR(ds_state_hand(s.state, hand).stiffness, k, 1e-9 * k);
    CHECK_NEAR(ds_state_hand(s.state, hand).force.x, u / h, 1e-9);
    sim_free(&s);
  }
}

/* Half of the weight is carried: the spring bears the other half. */
static void carry_by_hand(void) {
  ds_error error = {""};
  sim s;
  puppet p;
  ds_touch_def touch = start(&s, &p);
  ds_hand_def def = touch.hand;
  CHECK(ds_scene_change_gravity(s.scene, v3(0, 0, -10), &error) == DS_OK);
  def.carry = 0.5, def.target.p = v3(1, 2, 3), def.damping = 60;
  ds_hand_id hand = ds_state_grab(s.state, &def, NULL);
  sim_run(&s, 3);
  CHECK_NEAR(ds_state_center(s.state, def.body).z, 3 - 5.0 / 1000, 1e-6);
  CHECK_NEAR(ds_state_hand(s.state, hand).force.z, 5, 1e-4);
  /* a second hand carries 0.3 more, with the springs of both; a third one has nothing left to carry but 0.2 */
  def.carry = 0.3;
  CHECK(ds_state_grab(s.state, &def, NULL).index1 > 0);
  sim_run(&s, 3);
  CHECK_NEAR(ds_state_center(s.state, def.body).z, 3 - 2.0 / 2000, 1e-6);
  def.carry = 0.9;
  CHECK(ds_state_grab(s.state, &def, NULL).index1 > 0);
  sim_run(&s, 3);
  CHECK_NEAR(ds_state_center(s.state, def.body).z, 3, 1e-6);
  sim_free(&s);
}

/* A spring beyond all numbers does not pull, and spoils nothing. */
static void beyond_all_numbers(void) {
  sim s;
  puppet p;
  ds_touch_def touch = start(&s, &p);
  ds_hand_def def = touch.hand;
  def.stiffness = 1e308, def.target.p = v3(1, 2, 3.1), def.grip = v3(0.04, 0.03, 0);
  ds_hand_id hand = ds_state_grab(s.state, &def, NULL);
  CHECK(hand.index1 > 0 && sim_step(&s));
  CHECK_LE(v3_dist(ds_state_center(s.state, def.body), v3(1, 2, 3)), 1e-12);
  CHECK(v3_finite(ds_state_hand(s.state, hand).force));
  sim_free(&s);
}

/* A target whose quaternion is nearly of length 1, as devices and files have them, is made exactly so. */
static void targets_are_rotations(void) {
  sim s;
  puppet p;
  ds_touch_def def = start(&s, &p);
  ds_hand_id hand = ds_state_grab(s.state, &def.hand, NULL);
  CHECK(hand.index1 > 0);
  ds_state_move_hand(s.state, hand, (ds_pose){v3(1, 2, 3), quat(0.8004, 0, 0.6003, 0)});
  ds_quat q = ds_state_hand(s.state, hand).target.q;
  CHECK_NEAR(quat_norm(q), 1, 1e-15);
  CHECK_NEAR(q.y / q.w, 0.6003 / 0.8004, 1e-15);
  sim_free(&s);
}

int main(void) {
  RUN(force_by_hand);
  RUN(torque_by_hand);
  RUN(absolute_and_fast);
  RUN(no_reading);
  RUN(beyond_reach);
  RUN(unconverged_ticks_count);
  RUN(looks_by_hand);
  RUN(loops_refused);
  RUN(operator_by_hand);
  RUN(trace_by_hand);
  RUN(pointer_by_hand);
  RUN(hands_refused);
  RUN(grip_by_hand);
  RUN(pull_is_cut);
  RUN(chosen_by_hand);
  RUN(turned_device);
  RUN(carry_by_hand);
  RUN(beyond_all_numbers);
  RUN(targets_are_rotations);
  return test_summary();
}
