/* Friction that differs by direction and by place, against mechanics.
 *
 * On a slope of angle theta, with the coefficients m_i along two axes at right angles, N = g cos theta and G the pull
 * of gravity along the slope per mass: a block stays where sum (G_i / m_i)² <= N². Else it slides from rest with the
 * acceleration w of maximum dissipation, w = G - N Q w / sqrt(wᵀ Q w), Q = diag(m_i²); in general not along G. */
#include <string.h>

#include "drystone/stand.h"
#include "random.h"
#include "scene_helper.h"

static const double gravity = 9.81, pi = DS_PI;

/* A block on a slope that falls along its x axis, everything turned by `frame`. */
typedef struct slope {
  double angle;           /* rad */
  double mu, along;       /* of the material with an axis, across and along it */
  double azimuth, raised; /* of its axis: from the fall line, and out of the plane, rad */
  double yaw;             /* of the block */
  bool on_slope;          /* the slope has the material, not the block */
  ds_mix_rule rule;
  double other; /* coefficient of the other one */
  double pair;  /* that of the pair; below 0: by the rule */
  ds_quat frame;
} slope;

static slope usual_slope(double angle, double azimuth) {
  return (slope){.angle = angle,
                 .mu = 0.5,
                 .along = 0.2,
                 .azimuth = azimuth,
                 .yaw = 0.3,
                 .rule = DS_MIX_MIN,
                 .other = 10,
                 .pair = -1,
                 .frame = {1, 0, 0, 0}};
}

static ds_quat about(ds_vec3 axis, double angle) { return quat_exp(v3_scale(angle, axis)); }

static bool start(sim *s, const slope *p) {
  ds_scene_def def = ds_default_scene();
  ds_error error = {""};
  ds_quat tilt = quat_mul(p->frame, about(v3(0, 1, 0), p->angle));
  def.gravity = quat_rotate(p->frame, v3(0, 0, -gravity));
  def.friction_rule = p->rule;
  ds_scene *scene = ds_scene_create(&def, &error);
  CHECK(scene != NULL);
  if (!scene) return false;
  ds_quat block_q = quat_mul(tilt, about(v3(0, 0, 1), p->yaw));
  ds_vec3 axis = v3(cos(p->raised) * cos(p->azimuth), cos(p->raised) * sin(p->azimuth), sin(p->raised));
  if (!p->on_slope) axis = quat_rotate(about(v3(0, 0, 1), -p->yaw), axis);
  ds_material_def grain = {.mu = p->mu, .mu_along = p->along, .axis = v3_scale(3, axis)}, rough = {.mu = p->other};
  ds_material_id one = ds_scene_add_material(scene, &grain, &error);
  ds_material_id other = ds_scene_add_material(scene, &rough, &error);
  if (p->pair >= 0) CHECK(ds_scene_set_pair(scene, one, other, p->pair, 0, &error) == DS_OK);
  ds_body_def floor = ds_default_body(), block = ds_default_body();
  floor.kind = DS_BODY_STATIC;
  floor.pose.q = tilt;
  floor.material = p->on_slope ? one : other;
  block.pose = (ds_pose){quat_rotate(tilt, v3(0, 0, 0.05)), block_q};
  block.material = p->on_slope ? other : one;
  scene_add(scene, &floor, shape_half_space());
  scene_add(scene, &block, shape_box(0.4, 0.3, 0.1));
  return sim_finish(s, "slope", scene);
}

/* w in the frame of the slope, for the coefficients m along the axis at `azimuth` and across it. */
static ds_vec3 acceleration(const slope *p, const double m[2]) {
  double c = cos(p->azimuth), s = sin(p->azimuth), n = gravity * cos(p->angle);
  double g[2] = {gravity * sin(p->angle) * c, -gravity * sin(p->angle) * s}, w[2], low = 0, high = 1e6;
  for (int i = 0; i < 200; i++) { /* for |(m_1 w_1, m_2 w_2)| = length */
    double length = 0.5 * (low + high);
    for (int k = 0; k < 2; k++) w[k] = g[k] * length / (length + n * m[k] * m[k]);
    if (hypot(m[0] * w[0], m[1] * w[1]) > length)
      low = length;
    else
      high = length;
  }
  return v3(c * w[0] - s * w[1], s * w[0] + c * w[1], 0);
}

/* Impulses lie in the ellipse and never do work on what slides; the coefficient reported is the larger one. */
static void check_contacts(const sim *s, const slope *p, const double m[2]) {
  int32_t count;
  const ds_contact *c = ds_state_contacts(s->state, &count);
  ds_quat tilt = quat_mul(p->frame, about(v3(0, 1, 0), p->angle));
  ds_vec3 e[2] = {quat_rotate(tilt, v3(cos(p->azimuth), sin(p->azimuth), 0)),
                  quat_rotate(tilt, v3(-sin(p->azimuth), cos(p->azimuth), 0))};
  CHECK(count == 4);
  for (int32_t k = 0; k < count; k++) {
    double n = v3_dot(c[k].impulse, c[k].normal), square = 0;
    ds_vec3 f = v3_mad(c[k].impulse, -n, c[k].normal);
    for (int i = 0; i < 2; i++) square += pow(v3_dot(f, e[i]) / m[i], 2);
    CHECK_LE(sqrt(square), n * (1 + 1e-9));
    if (c[k].mode == DS_CONTACT_SLIDE) CHECK_NEAR(sqrt(square) / n, 1, 1e-9);
    CHECK_LE(v3_dot(f, c[k].velocity), 1e-15);
    CHECK_NEAR(c[k].mu, fmax(m[0], m[1]), 1e-12);
    CHECK_NEAR(v3_dist(c[k].velocity,
                       v3_scale(c[k].a.index1 == 2 ? 1 : -1, ds_state_velocity(s->state, ds_scene_body(s->scene, 1)))),
               0, 1e-7 * (1 + v3_norm(c[k].velocity)));
  }
}

/* The error of the velocity after half a second, relative. */
static double slide(const slope *p, const double m[2], ds_method method, ds_integrator integrator) {
  sim s;
  double off = INFINITY;
  if (start(&s, p)) {
    s.options.method = method;
    s.options.integrator = integrator;
    sim_run(&s, 0.5);
    ds_quat tilt = quat_mul(p->frame, about(v3(0, 1, 0), p->angle));
    ds_body_id block = ds_scene_body(s.scene, 1);
    ds_vec3 want = quat_rotate(tilt, v3_scale(0.5, acceleration(p, m)));
    off = v3_dist(ds_state_velocity(s.state, block), want) / v3_norm(want);
    CHECK_LE(0.2 * v3_norm(ds_state_angular_velocity(s.state, block)), 2e-6 * v3_norm(want));
    check_contacts(&s, p, m);
    CHECK_LE(s.energy_gain, 1e-12);
  }
  sim_close(&s);
  return off;
}

static void test_direction(void) {
  double worst = 0, turned = 0;
  uint64_t seed = 3;
  for (int i = 0; i < 24; i++) {
    slope p = usual_slope(random_in(&seed, 0.5, 1.2), random_in(&seed, -pi, pi));
    p.yaw = random_in(&seed, -1, 1);
    p.on_slope = i % 2;
    if (i % 4 > 1) p.mu = 0.15, p.along = 0.4; /* the axis is that of most friction */
    ds_vec3 turn = random_vec3(&seed, v3(-1, -1, -1), v3(1, 1, 1));
    if (i >= 8) p.frame = quat_exp(turn);
    double m[2] = {p.along, p.mu};
    ds_vec3 w = acceleration(&p, m);
    turned = fmax(turned, fabs(atan2(w.y, w.x)));
    double off = slide(&p, m, i < 20 ? 0 : 1, i % 3 == 2 ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER);
    CHECK_LE(off, 2e-6);
    worst = fmax(worst, off);
  }
  CHECK(turned > 0.2); /* the ellipse leads it off the fall line */
  printf("     24 blocks slide up to %.1f degrees off the fall line; velocity off by %.1e\n", 180 / pi * turned, worst);
}

static void test_threshold(void) {
  double worst = 0;
  for (int i = 0; i < 10; i++) {
    double azimuth = 0.35 * i, c = cos(azimuth), s = sin(azimuth);
    for (int over = 0; over < 2; over++) {
      slope p = usual_slope(0, azimuth);
      double m[2] = {p.along, p.mu}, limit = 1 / hypot(c / p.along, s / p.mu);
      p.angle = atan(limit * (over ? 1.01 : 0.999));
      p.on_slope = i % 2;
      sim run;
      if (start(&run, &p)) {
        sim_run(&run, 1);
        double moved = sim_displacement(&run, run.start), want = 0.5 * v3_norm(acceleration(&p, m));
        if (over) CHECK_NEAR(moved / want, 1, 0.03); /* steps of 0.01 s */
        if (!over) CHECK_LE(moved, 1e-9);
        if (!over) worst = fmax(worst, moved);
        int32_t before = 0;
        for (int k = 0; k < 10 && !over; k++) sim_step(&run), before += run.report.worst.factorizations;
        CHECK(before == 0); /* the warm start is the answer */
        check_contacts(&run, &p, m);
      }
      sim_close(&run);
    }
  }
  printf("     at 0.999 of the limit blocks creep %.1e m in 1 s\n", worst);
}

/* An axis out of the plane of contact: only its share in the plane counts. */
static void test_raised_axis(void) {
  for (int i = 0; i < 4; i++) {
    slope p = usual_slope(0.8, 0.7);
    p.raised = i * pi / 6;
    double share = cos(p.raised) * cos(p.raised);
    double m[2] = {sqrt(p.mu * p.mu * (1 - share) + p.along * p.along * share), p.mu};
    CHECK_LE(slide(&p, m, 0, DS_INTEGRATOR_EULER), 2e-6);
  }
}

/* The rule of two materials along the axis and across it, and a pair's own coefficient, which scales both. */
static void test_pair(void) {
  for (int i = 0; i < 6; i++) {
    static const ds_mix_rule rules[6] = {DS_MIX_GEOMETRIC, DS_MIX_MIN,     DS_MIX_MAX,
                                         DS_MIX_AVERAGE,   DS_MIX_PRODUCT, DS_MIX_AVERAGE};
    slope p = usual_slope(0.9, 0.7);
    p.rule = rules[i], p.other = 0.3;
    double a[2] = {p.along, p.mu}, m[2];
    for (int k = 0; k < 2; k++) {
      double two[6] = {sqrt(a[k] * 0.3),   fmin(a[k], 0.3), fmax(a[k], 0.3),
                       0.5 * (a[k] + 0.3), a[k] * 0.3,      0.6 * 0.5 * (a[k] + 0.3) / 0.4};
      m[k] = two[i];
    }
    if (i == 5) p.pair = 0.6;
    CHECK_LE(slide(&p, m, 0, DS_INTEGRATOR_EULER), 2e-6);
  }
}

/* Two grains at right angles make friction that is the same in all directions. */
static void test_crossed(void) {
  ds_error error = {""};
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  if (!scene) return;
  ds_material_id grain =
      ds_scene_add_material(scene, &(ds_material_def){.mu = 0.8, .mu_along = 0.2, .axis = v3(1, 0, 0)}, &error);
  ds_body_def floor = ds_default_body(), block = body_at(0, 0, 0.05);
  floor.kind = DS_BODY_STATIC;
  floor.material = block.material = grain;
  block.pose.q = about(v3(0, 0, 1), 0.5 * pi);
  block.velocity = v3(3, 1, 0);
  scene_add(scene, &floor, shape_half_space());
  ds_body_id id = scene_add(scene, &block, shape_box(0.4, 0.4, 0.1));
  sim s;
  if (sim_finish(&s, "crossed", scene)) {
    sim_run(&s, 0.2);
    ds_vec3 v = ds_state_velocity(s.state, id);
    CHECK_NEAR(v3_norm(v), sqrt(10) - 0.4 * gravity * 0.2, 1e-6); /* sqrt(0.2 x 0.8) both ways */
    CHECK_NEAR(v.y / v.x, 1.0 / 3, 1e-6);
  }
  sim_close(&s);
}

/* A skate: nothing along the blade, everything across. What is thrown across stops that way, and glides on. */
static void test_skate(void) {
  ds_error error = {""};
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  if (!scene) return;
  ds_body_def block = body_at(0, 0, 0.05);
  block.material =
      ds_scene_add_material(scene, &(ds_material_def){.mu = 1, .mu_along = 0, .axis = v3(1, 0, 0)}, &error);
  block.velocity = v3(2, 1, 0);
  scene_add_floor(scene);
  ds_body_id id = scene_add(scene, &block, shape_box(0.4, 0.4, 0.1));
  sim s;
  if (sim_finish(&s, "skate", scene)) {
    sim_run(&s, 0.05);
    ds_vec3 v = ds_state_velocity(s.state, id);
    CHECK_NEAR(v.y, 1 - gravity * 0.05, 1e-5);
    sim_run(&s, 0.95);
    v = ds_state_velocity(s.state, id);
    CHECK_NEAR(v.x, 2, 2e-5);
    CHECK_LE(fabs(v.y), 1e-6);
    CHECK_LE(v3_norm(ds_state_angular_velocity(s.state, id)), 1e-5);
    int32_t count;
    const ds_contact *c = ds_state_contacts(s.state, &count);
    for (int32_t k = 0; k < count; k++) CHECK_NEAR(fabs(c[k].velocity.x), 2, 1e-4);
  }
  sim_close(&s);
}

/* By place: the shapes of one body have materials of their own. Front feet slide, rear feet brake. */
static void test_shapes(void) {
  ds_error error = {""};
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  if (!scene) return;
  ds_material_id ice = ds_scene_add_material(scene, &(ds_material_def){.mu = 0.04}, &error);
  ds_body_def block = body_at(0, 0, 0.05);
  block.velocity = v3(1, 0, 0);
  scene_add_floor(scene);
  ds_body_id id = ds_scene_add_body(scene, &block, &error);
  for (int i = 0; i < 2; i++) {
    ds_shape_def foot = shape_box(0.1, 0.3, 0.1);
    foot.pose.p.x = i ? 0.3 : -0.3;
    if (i) foot.material = ice;
    CHECK(ds_scene_add_shape(scene, id, &foot, &error) == DS_OK);
  }
  sim s;
  if (sim_finish(&s, "feet", scene)) {
    sim_run(&s, 0.1);
    double pushed = 0, m = ds_body_mass(scene, id).mass;
    int32_t count, front = 0;
    const ds_contact *c = ds_state_contacts(s.state, &count);
    CHECK(count == 8);
    for (int32_t k = 0; k < count; k++) {
      bool ahead = c[k].point.x > ds_state_center(s.state, id).x;
      CHECK_NEAR(c[k].mu, ahead ? 0.2 : 1, 1e-15); /* sqrt(0.04 x 1) */
      double n = v3_dot(c[k].impulse, c[k].normal);
      pushed += c[k].mu * n;
      front += ahead;
    }
    CHECK(front == 4);
    CHECK(ds_body_shape(scene, id, 1).material.index1 == ice.index1);
    CHECK(ds_body_shape(scene, id, 0).material.index1 == 0);
    /* moments about the middle of the floor under it: 0.05 of friction, and the load of each foot within its length */
    CHECK_LE(pushed, 0.6 * m * gravity * s.options.step + 1e-9);
    CHECK_LE(0.5 * m * gravity * s.options.step, pushed);
    CHECK_NEAR(1 - ds_state_velocity(s.state, id).x, 10 * pushed / m, 1e-6);
  }
  sim_close(&s);
}

/* A tumbling heap of bodies with grains of all directions: every step is certified, none gains energy. By Euler's rule,
 * which has one impulse and one velocity for a contact in a step, each is on its cone, and friction takes energy. */
static void tumble(ds_integrator integrator) {
  ds_error error = {""};
  uint64_t seed = 9;
  ds_scene *scene = scene_new(v3(0.5, 0.3, -gravity), 0.6, 0);
  if (!scene) return;
  scene_add_floor(scene);
  for (int i = 0; i < 24; i++) {
    ds_vec3 axis = random_vec3(&seed, v3(-1, -1, -1), v3(1, 1, 1));
    double mu = random_in(&seed, 0.1, 1), along = i % 5 ? random_in(&seed, 0, 1) : 0;
    ds_body_def body = body_at(0.25 * (i % 3), 0.25 * (i / 3 % 2), 0.2 + 0.25 * (i / 6));
    body.material = ds_scene_add_material(scene, &(ds_material_def){.mu = mu, .mu_along = along, .axis = axis}, &error);
    body.pose.q = quat_exp(axis);
    body.angular_velocity = random_vec3(&seed, v3(-3, -3, -3), v3(3, 3, 3));
    scene_add(scene, &body,
              i % 3 == 0   ? shape_box(0.2, 0.14, 0.1)
              : i % 3 == 1 ? shape_sphere(0.09)
                           : shape_round(DS_SHAPE_CAPSULE, 0.05, 0.06));
  }
  sim s;
  if (sim_finish(&s, "heap", scene)) {
    double work = 0;
    s.options.tolerance = 1e-8;
    s.options.integrator = integrator;
    for (int i = 0; i < (test_quick() ? 60 : 200) && sim_step(&s); i++) {
      int32_t count;
      const ds_contact *c = ds_state_contacts(s.state, &count);
      for (int32_t k = 0; integrator == DS_INTEGRATOR_EULER && k < count; k++) {
        ds_vec3 f = v3_mad(c[k].impulse, -v3_dot(c[k].impulse, c[k].normal), c[k].normal);
        if (s.report.stopped_bodies == 0) work = fmax(work, v3_dot(f, c[k].velocity)); /* else they change after it */
        CHECK_LE(v3_norm(f), c[k].mu * v3_dot(c[k].impulse, c[k].normal) * (1 + 1e-9) + 1e-12);
      }
    }
    printf("     friction did %.1e J of work at most, a step gained %.1e J\n", work, s.energy_gain);
    CHECK_LE(work, 1e-7);
    CHECK_LE(s.energy_gain, 1e-8); /* of joules, solved to 1e-8 */
  }
  sim_close(&s);
}
static void test_heap(void) {
  tumble(DS_INTEGRATOR_EULER);
  tumble(DS_INTEGRATOR_AUTO);
}

static void refused(const char *materials, const char *shape, const char *want) {
  char text[512];
  ds_error error = {""};
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene_read_options options = ds_default_scene_read();
  snprintf(text, sizeof text,
           "{\"drystone\": 1, \"materials\": {\"wood\": {%s}}, \"bodies\": [{\"shapes\": [{\"kind\": \"sphere\", "
           "\"radius\": 1%s}]}]}",
           materials, shape);
  ds_scene *scene = ds_scene_read_text_with(text, strlen(text), "x.json", &options, &run, &error);
  if (want[0] ? scene || !strstr(error.message, want) : !scene) printf("%s: %s\n", text, error.message);
  CHECK(want[0] ? !scene && strstr(error.message, want) != NULL : scene != NULL);
  if (scene && shape[0]) CHECK(ds_body_shape(scene, ds_scene_body(scene, 0), 0).material.index1 == 1);
  ds_scene_destroy(scene);
}

static void test_files(void) {
  refused("\"mu\": 0.6, \"mu_along\": 0.2, \"axis\": [0, 0, 2]", ", \"material\": \"wood\"", "");
  refused("\"mu_along\": 0.2", "", "\"mu_along\" without \"axis\"");
  refused("\"axis\": [1, 0, 0]", "", "\"axis\" without \"mu_along\"");
  refused("\"mu_along\": 0.2, \"axis\": [0, 0, 0]", "", "\"axis\" has no length");
  refused("\"mu_along\": -1, \"axis\": [1, 0, 0]", "", "mu_along");
  refused("\"mu\": 1", ", \"material\": \"woode\"", "did you mean \"wood\"");
  ds_error error;
  ds_scene *scene = scene_new(v3(0, 0, -1), 0.5, 0);
  if (!scene) return;
  ds_material_def bad[4] = {{.mu_along = 0.1},
                            {.mu_along = NAN, .axis = {1, 0, 0}},
                            {.axis = {NAN, 0, 0}},
                            {.mu_along = -1, .axis = {1, 0, 0}}};
  for (int i = 0; i < 4; i++) CHECK(ds_scene_add_material(scene, &bad[i], &error).index1 == 0);
  ds_material_def good = {.mu_along = 0.1, .axis = {0, 3, 4}};
  ds_material_id id = ds_scene_add_material(scene, &good, &error);
  CHECK(id.index1 > 0);
  CHECK_NEAR(ds_scene_material(scene, id).axis.z, 0.8, 1e-15);
  CHECK(ds_scene_change_material(scene, id, &bad[0], &error) == DS_ERROR_INPUT);
  CHECK_NEAR(ds_scene_material(scene, id).axis.z, 0.8, 1e-15);
  ds_scene_destroy(scene);
}

/* Verdicts are for circular cones. */
static void test_stand(void) {
  slope p = usual_slope(0.05, 0);
  sim s;
  if (start(&s, &p)) {
    ds_error error = {""};
    ds_assembly_options options = ds_default_assembly_options();
    CHECK(ds_assembly_of_scene(s.scene, s.state, &options, &error) == NULL);
    CHECK(strstr(error.message, "differs by direction") != NULL);
    options.mu = 0.3;
    ds_assembly *assembly = ds_assembly_of_scene(s.scene, s.state, &options, &error);
    CHECK(assembly != NULL);
    ds_assembly_free(assembly);
  }
  sim_close(&s);
}

int main(void) {
  RUN(test_direction);
  RUN(test_threshold);
  RUN(test_raised_axis);
  RUN(test_pair);
  RUN(test_crossed);
  RUN(test_skate);
  RUN(test_shapes);
  RUN(test_heap);
  RUN(test_files);
  RUN(test_stand);
  return test_summary();
}
