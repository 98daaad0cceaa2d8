/* The haptic loop: a simulated hand feels walls as hard as it pushes, at any rate, without buzzing; what comes from
 * outside is looked at; late ticks are counted and not made up for. */
#include "drystone/touch.h"

#include "base/thread.h"
#include "scene_helper.h"

typedef struct touch {
  sim s;
  ds_touch_loop *loop;
} touch;

/* A tool of 0.1 kg, 46 mm wide, over a floor, 2 mm above it. */
static ds_scene *tool_scene(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.4, 0);
  ds_body_def def = body_at(0, 0, 0.025);
  def.name = "tool";
  scene_add_floor(scene);
  scene_add(scene, &def, shape_box(0.0464, 0.0464, 0.0464));
  return scene;
}

static bool touch_start(touch *t, ds_device device, double period, double stiffness) {
  ds_error error = {""};
  *t = (touch){0};
  if (!sim_finish(&t->s, "tool", tool_scene())) return false;
  ds_touch_def def = ds_default_touch();
  def.scene = t->s.scene, def.state = t->s.state, def.device = device;
  def.hand.body = sim_body(&t->s, "tool");
  def.hand.stiffness = stiffness;
  def.period = def.options.step = period;
  def.options.deadline = 0;
  def.max_force = INFINITY;
  t->loop = ds_touch_create(&def, &error);
  if (!t->loop) printf("%s\n", error.message);
  CHECK(t->loop != NULL);
  return t->loop != NULL;
}

static void touch_end(touch *t) {
  ds_touch_destroy(t->loop);
  sim_free(&t->s);
}

/* Between two lines of a trace: half way, the short way round although the quaternions have opposite signs, and at unit
 * length although the file has a digit less. */
static void test_trace_between(void) {
  const char *text = "0 0 0 0 0.9998 0 0 0\n0.2 1 2 3 -0.7071 0 0 -0.7071 # a quarter turn\n";
  ds_device device;
  ds_error error = {""};
  ds_device_motion m;
  CHECK(ds_device_trace_text(&device, text, strlen(text), "text", &error) == DS_OK);
  CHECK(device.read(device.user, 0.1, &m) && m.has_velocity);
  CHECK_LE(v3_dist(m.pose.p, v3(0.5, 1, 1.5)), 1e-12);
  CHECK_LE(v3_dist(m.velocity, v3(5, 10, 15)), 1e-12);
  CHECK_NEAR(m.pose.q.w, cos(DS_PI / 8), 1e-12);
  CHECK_NEAR(m.pose.q.z, sin(DS_PI / 8), 1e-12);
  CHECK(device.read(device.user, 0.3, &m));
  CHECK_NEAR(quat_norm(m.pose.q), 1, 1e-15);
  device.close(device.user);
}

/* An operator pushes the tool to the floor with 3 N for 2 s. The steady force is the operator's, and nothing swings. */
static void push_wall(double period, double stiffness) {
  const ds_operator_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {0.2, {0, 0, 0}, {0, 0, -3}}};
  ds_operator_def def = ds_default_operator();
  ds_device device;
  ds_error error = {""};
  touch t;
  def.keys = keys, def.key_count = 2, def.stiffness = 0;
  CHECK(ds_device_operator(&device, &def, &error) == DS_OK);
  if (!touch_start(&t, device, period, stiffness)) return;
  double low[4] = {1e9, 1e9, 1e9, 1e9}, high[4] = {-1e9, -1e9, -1e9, -1e9}, sum = 0, count = 0;
  int64_t ticks = (int64_t)(2 / period + 0.5);
  for (int64_t i = 0; i < ticks; i++) {
    CHECK(ds_touch_tick(t.loop) == DS_OK);
    double time = period * (double)i, force = -ds_touch_get_report(t.loop).hand.force.z;
    int quarter = (int)(2 * time);
    low[quarter] = fmin(low[quarter], force), high[quarter] = fmax(high[quarter], force);
    if (time >= 1.5) sum += force, count++;
  }
  printf("     %g Hz, %g N/m: %.5f N of 3 N; span of each half second %.3g, %.3g, %.3g, %.3g N\n", 1 / period,
         stiffness, sum / count, high[0] - low[0], high[1] - low[1], high[2] - low[2], high[3] - low[3]);
  CHECK_NEAR(sum / count, 3, 0.03);
  CHECK_LE(high[3] - low[3], 0.03);
  CHECK_LE(high[3] - low[3], high[1] - low[1] + 1e-9);
  CHECK(ds_touch_get_report(t.loop).unconverged == 0 && ds_touch_get_report(t.loop).ticks == ticks);
  touch_end(&t);
}

static void test_wall(void) {
  push_wall(1e-3, 300);
  push_wall(1e-3, 1000);
  push_wall(1e-3, 3000);
  push_wall(0.01, 300);
}

/* Led along a path in the air the tool follows, and its hand feels next to nothing. */
static void test_free(void) {
  const char text[] =
      "# up and around\n0 0 0 0\n0.5 0 0 0.1\n\n1, 0.1 0 0.1\t1 0 0 0 # turned\n1.5 0.1 0 0.1 0.70710678 0.70710678 0 "
      "0\n";
  ds_device device;
  ds_error error = {""};
  touch t;
  CHECK(ds_device_trace_text(&device, text, strlen(text), "text", &error) == DS_OK);
  if (!touch_start(&t, device, 1e-3, 0)) return;
  double most = 0;
  for (int i = 0; i < 2000; i++) {
    CHECK(ds_touch_tick(t.loop) == DS_OK);
    most = fmax(most, v3_norm(ds_touch_get_report(t.loop).hand.force));
  }
  ds_pose pose = ds_state_pose(t.s.scene, t.s.state, sim_body(&t.s, "tool"));
  CHECK_LE(v3_dist(pose.p, v3(0.1, 0, 0.125)), 1e-6);
  CHECK_NEAR(fabs(pose.q.x), sqrt(0.5), 1e-6);
  CHECK_LE(most, 5); /* starts and stops of the path are jerks */
  touch_end(&t);
}

static void test_trace_refused(void) {
  const struct {
    const char *text, *says;
  } bad[] = {{"", "no line"},
             {"0 0 0\n", ":1:"},
             {"0 0 0 0\n1 2 3\n", ":2:"},
             {"0 0 0 0\n0 0 0 0\n", "grow"},
             {"# c\n0 0 0 x\n", ":2:"},
             {"0 0 0 nan\n", "finite"},
             {"0 0 0 0 1 1 0 0\n", "length 1"},
             {"0 0 0 0 1 0 0 0 9\n", ":1:"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ds_device device;
    ds_error error = {""};
    CHECK(ds_device_trace_text(&device, bad[i].text, strlen(bad[i].text), "t.txt", &error) == DS_ERROR_INPUT);
    if (!strstr(error.message, bad[i].says)) printf("     \"%s\" lacks \"%s\"\n", error.message, bad[i].says);
    CHECK(strstr(error.message, bad[i].says) != NULL);
  }
  ds_device device;
  ds_error error = {""};
  CHECK(ds_device_trace(&device, "/nowhere/trace.txt", &error) == DS_ERROR_INPUT && strstr(error.message, "nowhere"));
  ds_operator_def nobody = ds_default_operator();
  CHECK(ds_device_operator(&device, &nobody, &error) == DS_ERROR_INPUT);
}

/* A device that is heard of from the 100th to the 199th tick only. */
typedef struct faint {
  int64_t reads;
  double felt[3]; /* largest force before, while and after */
  int closed;
} faint;

static bool read_faint(void *user, double time, ds_device_motion *motion) {
  faint *f = user;
  *motion = (ds_device_motion){.pose = {{5, 5, 5 - 0.05 * (time > 0.12)}, {1, 0, 0, 0}}};
  f->reads++;
  return f->reads > 100 && f->reads <= 200;
}
static void write_faint(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  faint *f = user;
  int part = f->reads <= 100 ? 0 : f->reads <= 200 ? 1 : 2;
  (void)time, (void)torque;
  f->felt[part] = fmax(f->felt[part], v3_norm(force));
}
static void close_faint(void *user) { ((faint *)user)->closed++; }

static void test_silent(void) {
  faint f = {0};
  touch t;
  if (!touch_start(&t, (ds_device){&f, read_faint, write_faint, close_faint}, 1e-3, 500)) return;
  for (int i = 0; i < 300; i++) CHECK(ds_touch_tick(t.loop) == DS_OK);
  CHECK_NEAR(f.felt[0], 0, 0);
  CHECK_LE(1, f.felt[1]); /* it pressed the tool to the floor */
  CHECK_NEAR(f.felt[2], 0, 0);
  CHECK_NEAR((double)ds_touch_get_report(t.loop).silent, 200, 0);
  CHECK_LE(sim_displacement(&t.s, t.s.start), 0.01); /* it began where the tool was, wherever the device is */
  touch_end(&t);
  CHECK(f.closed == 1);
}

/* The thread: a pointer set by this one, ticks in time, and looks at the state meanwhile. */
/* Readings that no device can have made: far away, fast, not finite. None is followed, nothing overflows, and the tool
 * stays where it can be seen. */
typedef struct wild {
  const ds_device_motion *motions;
  int32_t count, at;
  bool felt_finite;
} wild;

static bool read_wild(void *user, double time, ds_device_motion *motion) {
  wild *w = user;
  (void)time;
  *motion = w->motions[w->at++ % w->count];
  return true;
}

static void write_wild(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  (void)time;
  ((wild *)user)->felt_finite &= v3_finite(force) && v3_finite(torque);
}

static void test_absurd(void) {
  const double most = 1.7e308;
  const ds_quat one = {1, 0, 0, 0}, turned = {0, 0, 0, 1};
  const ds_device_motion motions[] = {
      {.pose = {{0, 0, 0}, one}},
      {.pose = {{most, 0, 0}, one}},
      {.pose = {{0, NAN, 0}, one}},
      {.pose = {{0, 0, 0}, {NAN, 0, 0, 0}}},
      {.pose = {{-most, most, -most}, one}},
      {.pose = {{0, 0, INFINITY}, one}},
      {.pose = {{9e5, -9e5, 9e5}, turned}}, /* within reach: limited */
      {.pose = {{0, 0, 0}, one}, .velocity = {most, most, most}, .has_velocity = true},
      {.pose = {{0, 0, 0}, one}, .angular_velocity = {0, -most, 0}, .has_velocity = true},
      {.pose = {{0, 0, 0}, one}, .velocity = {0, NAN, 0}, .has_velocity = true},
  };
  const int32_t count = (int32_t)(sizeof motions / sizeof *motions), rounds = 20;
  for (int32_t first = 0; first < count; first++) {
    wild w = {motions, count, first, true};
    touch t;
    if (!touch_start(&t, (ds_device){&w, read_wild, write_wild, NULL}, 1e-3, 0)) return;
    for (int32_t i = 0; i < rounds * count; i++) CHECK(ds_touch_tick(t.loop) == DS_OK);
    ds_touch_report r = ds_touch_get_report(t.loop);
    ds_vec3 p = ds_state_pose(t.s.scene, t.s.state, r.hand.body).p;
    CHECK_NEAR((double)r.silent, 6 * rounds, 0);
    CHECK(w.felt_finite && v3_finite(p) && v3_finite(r.hand.force) && v3_finite(r.hand.torque));
    CHECK_LE(v3_norm(p), 100 * r.time); /* no faster than a hand */
    touch_end(&t);
  }
}

static void test_thread(void) {
  ds_device device;
  ds_error error = {""};
  touch t;
  CHECK(ds_device_pointer(&device, &error) == DS_OK);
  if (!touch_start(&t, device, 1e-3, 500)) return;
  ds_state *seen = ds_state_create(t.s.scene);
  double start = ds_clock();
  ds_pointer_set(&device, (ds_pose){{0, 0, 0}, {1, 0, 0, 0}});
  CHECK(seen && ds_touch_start(t.loop, &error) == DS_OK);
  for (int i = 1; i <= 20 && seen; i++) {
    ds_sleep_until(start + 0.02 * i);
    ds_pointer_set(&device, (ds_pose){{0, 0, 0.002 * i}, {1, 0, 0, 0}});
    CHECK(ds_touch_look(t.loop, seen, NULL) == DS_OK);
  }
  ds_sleep_until(ds_clock() + 0.2);
  ds_step_report step;
  CHECK(ds_touch_look(t.loop, seen, &step) == DS_OK && step.time == ds_state_time(seen));
  ds_touch_stop(t.loop);
  double passed = ds_clock() - start;
  ds_touch_report r = ds_touch_get_report(t.loop);
  printf("     %lld ticks, %lld late, %lld skipped in %.3f s\n", (long long)r.ticks, (long long)r.late,
         (long long)r.skipped, passed);
  CHECK_NEAR((double)(r.ticks + r.skipped), passed / 1e-3, 0.02 * passed / 1e-3 + 20);
  CHECK(r.status == DS_OK);
  CHECK_LE(0.01, ds_state_center(seen, sim_body(&t.s, "tool")).z - 0.025);
  ds_vec3 force, torque;
  ds_pointer_feel(&device, &force, &torque);
  CHECK(v3_finite(force) && v3_finite(torque));
  touch_end(&t);
  ds_state_destroy(seen);
}

/* A tick that takes five periods: those in between are skipped, not made up for. */
static bool read_slow(void *user, double time, ds_device_motion *motion) {
  (void)user, (void)time;
  *motion = (ds_device_motion){.pose = pose_identity()};
  ds_sleep_until(ds_clock() + 0.025);
  return true;
}

static void test_late(void) {
  touch t;
  ds_error error = {""};
  faint f = {0};
  if (!touch_start(&t, (ds_device){&f, read_slow, write_faint, NULL}, 5e-3, 500)) return;
  double start = ds_clock();
  CHECK(ds_touch_start(t.loop, &error) == DS_OK);
  ds_sleep_until(start + 0.3);
  ds_touch_stop(t.loop);
  double passed = ds_clock() - start;
  ds_touch_report r = ds_touch_get_report(t.loop);
  printf("     %lld ticks, %lld late, %lld skipped\n", (long long)r.ticks, (long long)r.late, (long long)r.skipped);
  CHECK(r.late == r.ticks && r.ticks > 0);
  CHECK_LE(4.0 * (double)r.ticks, (double)r.skipped);
  CHECK_LE((double)(r.ticks + r.skipped), passed / 5e-3 + 2);
  CHECK_LE((double)r.ticks, 12);
  touch_end(&t);
}

/* Waiting ends neither before the time nor in sleep; how long it took in processor time tells which. */
static void test_spin(void) {
  double slept = 0, stayed = 0;
  for (int i = 0; i < 10; i++) {
    double start = ds_clock(), cpu = ds_thread_clock();
    ds_wait_until(start + 0.01, 0);
    CHECK_LE(start + 0.01, ds_clock());
    slept += ds_thread_clock() - cpu;
    start = ds_clock(), cpu = ds_thread_clock();
    ds_wait_until(start + 0.01, 0.005);
    CHECK_LE(start + 0.01, ds_clock());
    stayed += ds_thread_clock() - cpu;
  }
  CHECK_LE(slept, stayed);
  ds_error error = {""};
  ds_touch_def def = ds_default_touch();
  sim s;
  CHECK(ds_device_pointer(&def.device, &error) == DS_OK);
  if (!sim_finish(&s, "tool", tool_scene())) return;
  def.scene = s.scene, def.state = s.state, def.hand.body = sim_body(&s, "tool");
  def.spin = 2e-3;
  CHECK(ds_touch_create(&def, &error) == NULL && strstr(error.message, "spin") != NULL);
  sim_free(&s);
}

int main(void) {
  RUN(test_wall);
  RUN(test_free);
  RUN(test_trace_between);
  RUN(test_trace_refused);
  RUN(test_silent);
  RUN(test_absurd);
  RUN(test_spin);
  RUN_THREADS(test_thread);
  RUN_THREADS(test_late);
  return test_summary();
}
