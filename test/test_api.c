/* The public calls: what they return, what they refuse and with what words, and what a programmer's misuse does. */
#include <setjmp.h>

#include "scene_helper.h"

static const double gravity = 9.81;

/* ---- misuse ---- */

static struct {
  int32_t count, line;
  char file[64], condition[128];
  jmp_buf back;
} misuse;

/* Notes what was broken and leaves the call. */
static void note_misuse(const char *file, int line, const char *condition) {
  const char *slash = strrchr(file, '/');
  misuse.count++;
  misuse.line = line;
  snprintf(misuse.file, sizeof misuse.file, "%s", slash ? slash + 1 : file);
  snprintf(misuse.condition, sizeof misuse.condition, "%s", condition);
  longjmp(misuse.back, 1);
}

/* The statement must be caught once. */
#define MISUSE(statement)                                                      \
  do {                                                                         \
    misuse.count = 0;                                                          \
    if (setjmp(misuse.back) == 0) {                                            \
      statement;                                                               \
    }                                                                          \
    CHECK(misuse.count == 1);                                                  \
    CHECK(misuse.line > 0 && misuse.file[0] != 0 && misuse.condition[0] != 0); \
  } while (0)

static void test_misuse(void) {
  sim s;
  if (!sim_generate(&s, "stack:count=2")) return;
  ds_error error;
  ds_body_def body = ds_default_body();
  ds_shape_def shape = ds_default_shape();
  ds_material_def material = ds_default_material();
  ds_body_id none = {0}, beyond = {99};
  ds_vec3 zero = v3(0, 0, 0), broken = v3(NAN, 0, 0);
  ds_set_check_handler(note_misuse);
  MISUSE(ds_scene_create(NULL, &error));
  MISUSE(ds_scene_add_body(NULL, &body, &error));
  MISUSE(ds_scene_add_body(s.scene, &body, &error)); /* finished */
  MISUSE(ds_scene_add_shape(s.scene, ds_scene_body(s.scene, 0), &shape, &error));
  MISUSE(ds_scene_add_material(s.scene, &material, &error));
  MISUSE(ds_scene_finish(s.scene, &error));
  MISUSE(ds_body_name(s.scene, none));
  MISUSE(ds_body_mass(s.scene, beyond));
  MISUSE(ds_body_shape(s.scene, ds_scene_body(s.scene, 0), 1));
  MISUSE(ds_state_create(NULL));
  MISUSE(ds_state_center(s.state, none));
  MISUSE(ds_state_velocity(s.state, beyond));
  MISUSE(ds_state_set_velocity(s.state, ds_scene_body(s.scene, 1), broken, zero));
  MISUSE(ds_state_set_velocity(s.state, ds_scene_body(s.scene, 0), zero, zero)); /* the floor does not move */
  MISUSE(ds_state_apply_force(s.state, ds_scene_body(s.scene, 1), broken, zero));
  MISUSE(ds_state_apply_torque(s.state, ds_scene_body(s.scene, 1), broken));
  MISUSE(ds_step(NULL, s.state, &s.report, s.scene, &s.options));
  MISUSE(ds_step(s.stepper, NULL, &s.report, s.scene, &s.options));
  MISUSE(ds_step(s.stepper, s.state, &s.report, NULL, &s.options));
  /* an id that no body has must not be used before it is checked */
  MISUSE(ds_state_pose(s.scene, s.state, beyond));
  MISUSE(ds_state_apply_force(s.state, none, zero, zero));
  MISUSE(ds_state_apply_torque(s.state, beyond, zero));
  ds_set_check_handler(NULL);
  /* nothing of this did harm */
  sim_run(&s, 0.05);
  CHECK_LE(sim_displacement(&s, s.start), 1e-9);
  sim_close(&s);
}

/* A kinematic body moves as its script says. */
static void test_scripted_velocity(void) {
  sim s;
  if (!sim_generate(&s, "stack:count=2,shake=0.01")) return;
  ds_body_id floor = ds_scene_body(s.scene, 0);
  ds_vec3 v = v3(1, 0, 0);
  uint64_t before = ds_state_hash(s.state);
  CHECK(ds_body_get_kind(s.scene, floor) == DS_BODY_KINEMATIC);
  ds_set_check_handler(note_misuse);
  MISUSE(ds_state_set_velocity(s.state, floor, v, v));
  ds_set_check_handler(NULL);
  CHECK(strstr(misuse.condition, "dynamic") != NULL);
  CHECK(ds_state_hash(s.state) == before);
  sim_close(&s);
}

/* ---- what is refused ---- */

static bool says(const ds_error *error, const char *part) {
  bool found = strstr(error->message, part) != NULL;
  if (!found) printf("\"%s\" does not say \"%s\"\n", error->message, part);
  return found;
}

static void test_options(void) {
  ds_error error = {""};
  ds_options good = ds_default_options(), o;
  CHECK(ds_options_check(&good, &error) == DS_OK);
  CHECK(ds_options_check(&good, NULL) == DS_OK);
  CHECK_NEAR(good.step, 0.01, 0);
  CHECK_NEAR(good.tolerance, 0, 0);
  CHECK_NEAR(ds_options_tolerance(&good), 1e-8, 0);
  CHECK_NEAR(good.step_budget, 2000, 0);
  CHECK(good.warm_start && good.friction_samples == 0 && good.contacts_per_face == 8);
#define REFUSED(field, value, word)                        \
  do {                                                     \
    o = good;                                              \
    o.field = value;                                       \
    CHECK(ds_options_check(&o, &error) == DS_ERROR_INPUT); \
    CHECK(says(&error, word));                             \
    CHECK(ds_options_check(&o, NULL) == DS_ERROR_INPUT);   \
  } while (0)
  REFUSED(step, 0, "step");
  REFUSED(step, -0.01, "step");
  REFUSED(step, NAN, "step");
  REFUSED(step, INFINITY, "step");
  REFUSED(tolerance, -1e-8, "tolerance");
  REFUSED(step_budget, -1, "step_budget");
  REFUSED(step_budget, NAN, "step_budget");
  REFUSED(error_control, -1, "error_control");
  REFUSED(error_control, INFINITY, "error_control");
  REFUSED(tolerance, 2, "tolerance");
  REFUSED(tolerance, NAN, "tolerance");
  REFUSED(rel_err, 0, "rel_err");
  REFUSED(rel_err, NAN, "rel_err");
  REFUSED(friction_samples, 1, "friction_samples");
  REFUSED(friction_samples, -4, "friction_samples");
  REFUSED(friction_samples, 65, "friction_samples");
  REFUSED(max_iterations, 0, "max_iterations");
  REFUSED(contacts_per_face, 2, "contacts_per_face");
  REFUSED(contacts_per_face, 100000, "contacts_per_face");
  REFUSED(margin, -1, "margin");
  REFUSED(margin, NAN, "margin");
  REFUSED(method, (ds_method)99, "method");
  REFUSED(restitution_law, (ds_restitution_law)9, "restitution_law");
  REFUSED(restitution_law, (ds_restitution_law)-1, "restitution_law");
  REFUSED(impacts, (ds_impact_order)9, "impacts");
  REFUSED(face_pressure, (ds_face_pressure)9, "face_pressure");
#undef REFUSED
  /* a step with them is refused and changes nothing */
  sim s;
  if (sim_generate(&s, "slide")) {
    uint64_t hash = ds_state_hash(s.state);
    o = good;
    o.step = -1;
    CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &o) == DS_ERROR_INPUT);
    CHECK(ds_state_hash(s.state) == hash);
  }
  sim_close(&s);
}

static void test_scene_refusals(void) {
  ds_error error = {""};
  ds_scene_def def = ds_default_scene();
  def.gravity.x = NAN;
  CHECK(ds_scene_create(&def, &error) == NULL && says(&error, "gravity"));
  def = ds_default_scene();
  def.default_mu = -1;
  CHECK(ds_scene_create(&def, &error) == NULL && says(&error, "mu"));
  CHECK(ds_scene_create(&def, NULL) == NULL);
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_material_def material = {.mu = 0.5, .restitution = 1.5};
  CHECK(ds_scene_add_material(scene, &material, &error).index1 == 0 && says(&error, "e "));
#define REFUSED(change, word)                                   \
  do {                                                          \
    ds_body_def body = ds_default_body();                       \
    change;                                                     \
    error.message[0] = 0;                                       \
    CHECK(ds_scene_add_body(scene, &body, &error).index1 == 0); \
    CHECK(says(&error, word));                                  \
    CHECK(ds_scene_body_count(scene) == 0);                     \
  } while (0)
  REFUSED(body.kind = (ds_body_kind)7, "kind");
  REFUSED(body.pose.p.y = INFINITY, "position");
  REFUSED(body.pose.q.w = 2, "quaternion");
  REFUSED(body.velocity.x = NAN, "velocit");
  REFUSED(body.mass = -1, "mass");
  REFUSED(body.linear_damping = -1, "damping");
  REFUSED(body.force.z = NAN, "force");
  REFUSED(body.material.index1 = 7, "material");
  REFUSED(body.motion.kind = DS_MOTION_VELOCITY, "kinematic");
#undef REFUSED
  ds_body_def body = ds_default_body();
  ds_body_id id = ds_scene_add_body(scene, &body, &error);
  CHECK(id.index1 == 1);
#define REFUSED(change, word)                                               \
  do {                                                                      \
    ds_shape_def shape = ds_default_shape();                                \
    change;                                                                 \
    error.message[0] = 0;                                                   \
    CHECK(ds_scene_add_shape(scene, id, &shape, &error) == DS_ERROR_INPUT); \
    CHECK(says(&error, word));                                              \
    CHECK(ds_body_shape_count(scene, id) == 0);                             \
  } while (0)
  REFUSED(shape.half.y = 0, "box");
  REFUSED(shape.half.z = NAN, "box");
  REFUSED(shape.density = 0, "density");
  REFUSED((shape.kind = DS_SHAPE_SPHERE, shape.radius = -1), "sphere");
  REFUSED((shape.kind = DS_SHAPE_CAPSULE, shape.half_length = 0), "half length");
  REFUSED((shape.kind = DS_SHAPE_CYLINDER, shape.radius = INFINITY), "radius");
  REFUSED(shape.kind = DS_SHAPE_HALF_SPACE, "half-space");
  REFUSED(shape.kind = (ds_shape_kind)77, "kind");
  ds_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  REFUSED((shape.kind = DS_SHAPE_HULL, shape.points = flat, shape.point_count = 4), "");
  REFUSED((shape.kind = DS_SHAPE_HULL, shape.points = flat, shape.point_count = 2), "");
#undef REFUSED
  ds_shape_def shape = ds_default_shape();
  CHECK(ds_scene_add_shape(scene, (ds_body_id){5}, &shape, &error) == DS_ERROR_INPUT);
  CHECK(ds_scene_finish(scene, &error) == DS_ERROR_INPUT); /* a dynamic body without shape or mass */
  CHECK(error.message[0] != 0);
  ds_scene_destroy(scene);
  ds_scene_destroy(NULL);
  ds_state_destroy(NULL);
  ds_stepper_destroy(NULL);
}

/* ---- getters and queries ---- */

static void test_getters(void) {
  CHECK(strcmp(ds_version(), DS_VERSION_STRING) == 0);
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def def = body_at(1, 2, 3);
  def.name = "two balls";
  def.color = v3(0.1, 0.2, 0.3);
  def.velocity = v3(1, 0, 0);
  def.angular_velocity = v3(0, 0, 2);
  ds_body_id floor = scene_add_floor(scene), body = scene_add(scene, &def, shape_sphere(0.1));
  ds_shape_def second = shape_sphere(0.1);
  ds_error error;
  second.pose.p = v3(0.4, 0, 0);
  CHECK(ds_scene_add_shape(scene, body, &second, &error) == DS_OK);
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  CHECK(ds_scene_body_count(scene) == 2);
  CHECK(ds_scene_body(scene, 1).index1 == body.index1 && ds_scene_body(scene, 2).index1 == 0);
  CHECK(ds_scene_body(scene, -1).index1 == 0);
  CHECK(ds_scene_find_body(scene, "two balls").index1 == body.index1);
  CHECK(ds_scene_find_body(scene, "none").index1 == 0);
  CHECK(strcmp(ds_body_name(scene, body), "two balls") == 0 && strcmp(ds_body_name(scene, floor), "") == 0);
  CHECK(ds_body_get_kind(scene, floor) == DS_BODY_STATIC && ds_body_get_kind(scene, body) == DS_BODY_DYNAMIC);
  CHECK_LE(v3_dist(ds_body_color(scene, body), v3(0.1, 0.2, 0.3)), 0);
  CHECK_NEAR(ds_scene_gravity(scene).z, -gravity, 0);
  CHECK(ds_body_shape_count(scene, body) == 2);
  CHECK_LE(v3_dist(ds_body_shape(scene, body, 1).pose.p, second.pose.p), 1e-15);
  /* two balls: mass, centre, Steiner's moments */
  double ball = 1000 * 4.0 / 3 * DS_PI * 1e-3, own = 0.4 * ball * 0.01;
  ds_mass mass = ds_body_mass(scene, body);
  CHECK_NEAR(mass.mass, 2 * ball, 1e-12);
  CHECK_LE(v3_dist(mass.center, v3(0.2, 0, 0)), 1e-14);
  CHECK_NEAR(mass.inertia[0], 2 * own, 1e-14);
  CHECK_NEAR(mass.inertia[4], 2 * (own + ball * 0.04), 1e-14);
  CHECK_NEAR(mass.inertia[8], 2 * (own + ball * 0.04), 1e-14);
  CHECK_NEAR(ds_body_mass(scene, floor).mass, 0, 0);
  ds_state *state = ds_state_create(scene);
  CHECK_NEAR(ds_state_time(state), 0, 0);
  CHECK_LE(v3_dist(ds_state_pose(scene, state, body).p, v3(1, 2, 3)), 1e-14);
  CHECK_LE(v3_dist(ds_state_center(state, body), v3(1.2, 2, 3)), 1e-14);
  /* the velocity given is that of the frame's origin, the one kept that of the centre */
  CHECK_LE(v3_dist(ds_state_velocity(state, body), v3(1, 0.4, 0)), 1e-14);
  ds_pose pose = {v3(5, 6, 7), quat_axis_angle(v3(0, 0, 1), 0.5 * DS_PI)};
  ds_state_set_pose(scene, state, body, pose);
  ds_pose back = ds_state_pose(scene, state, body);
  CHECK_LE(v3_dist(back.p, pose.p), 1e-14);
  CHECK_LE(v3_dist(ds_state_center(state, body), v3(5, 6.2, 7)), 1e-14);
  CHECK_NEAR(fabs(back.q.w * pose.q.w + back.q.z * pose.q.z), 1, 1e-14);
  ds_state_set_velocity(state, body, v3(1, 2, 3), v3(0, 0, 4));
  CHECK_LE(v3_dist(ds_state_velocity(state, body), v3(1, 2, 3)), 0);
  CHECK_LE(v3_dist(ds_state_angular_velocity(state, body), v3(0, 0, 4)), 0);
  /* energies and momenta by hand: Iz is about the centre */
  ds_energy energy = ds_state_energy(scene, state);
  CHECK_NEAR(energy.kinetic, 0.5 * mass.mass * 14 + 0.5 * mass.inertia[8] * 16, 1e-11);
  CHECK_NEAR(energy.potential, mass.mass * gravity * 7, 1e-10);
  ds_momentum momentum = ds_state_momentum(scene, state);
  CHECK_LE(v3_dist(momentum.linear, v3_scale(mass.mass, v3(1, 2, 3))), 1e-12);
  ds_vec3 orbital = v3_scale(mass.mass, v3_cross(v3(5, 6.2, 7), v3(1, 2, 3)));
  CHECK_LE(v3_dist(momentum.angular, v3_add(orbital, v3(0, 0, 4 * mass.inertia[8]))), 1e-11);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
}

static void test_contacts(void) {
  sim s;
  if (sim_generate(&s, "stack:count=2")) {
    int32_t count = -1;
    ds_state_contacts(s.state, &count);
    CHECK_NEAR(count, 0, 0); /* none before the first step */
    sim_run(&s, 0.1);
    const ds_contact *c = ds_state_contacts(s.state, &count);
    CHECK_NEAR(count, 8, 0);
    CHECK_NEAR(s.report.contacts, 8, 0);
    CHECK_NEAR(s.report.islands, 1, 0);
    CHECK_NEAR((double)s.report.step, 10, 0);
    CHECK_NEAR(s.report.time, 0.1, 1e-15);
    int32_t islands;
    const ds_certificate *certificates = ds_stepper_islands(s.stepper, &islands);
    CHECK_NEAR(islands, 1, 0);
    CHECK(islands == 1 && certificates[0].converged && certificates[0].bodies == 2 && certificates[0].contacts == 8);
    double weight[2] = {0, 0};
    for (int32_t i = 0; i < count; i++) {
      CHECK(c[i].a.index1 < c[i].b.index1);
      if (i > 0)
        CHECK(c[i - 1].a.index1 < c[i].a.index1 || c[i - 1].b.index1 < c[i].b.index1 ||
              c[i - 1].feature < c[i].feature);
      CHECK_NEAR(fabs(c[i].normal.z), 1, 1e-12);
      CHECK_NEAR(c[i].normal.z, -1, 1e-12); /* from b, above, to a */
      CHECK_NEAR(c[i].mu, 0.5, 1e-15);
      CHECK_NEAR(c[i].restitution, 0, 0);
      CHECK_LE(fabs(c[i].gap), 1e-9);
      CHECK_LE(v3_norm(c[i].velocity), 1e-9);
      CHECK(c[i].mode == DS_CONTACT_STICK);
      CHECK_NEAR(fabs(c[i].point.x), 0.1, 1e-9);
      weight[c[i].a.index1 == 1 ? 0 : 1] -= c[i].impulse.z / s.options.step;
    }
    CHECK_NEAR(weight[0], 2 * gravity, 1e-6); /* on the floor two cubes of 1 kg, on the lower cube one */
    CHECK_NEAR(weight[1], gravity, 1e-6);
  }
  sim_close(&s);
  if (sim_generate(&s, "slide")) {
    sim_run(&s, 0.1);
    int32_t count;
    const ds_contact *c = ds_state_contacts(s.state, &count);
    for (int32_t i = 0; i < count; i++) {
      if (c[i].mode == DS_CONTACT_OPEN) continue;
      CHECK(c[i].mode == DS_CONTACT_SLIDE);
      /* the velocity is that of a, the floor, against b; friction on a pushes it along with b */
      CHECK_NEAR(c[i].velocity.x, -ds_state_velocity(s.state, c[i].b).x, 1e-8);
      CHECK_NEAR(c[i].impulse.x, 0.3 * fabs(c[i].impulse.z), 1e-8);
    }
  }
  sim_close(&s);
}

static void test_ray_cast(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_id floor = scene_add_floor(scene);
  ds_body_def def = body_at(0, 0, 1);
  ds_body_id ball = scene_add(scene, &def, shape_sphere(0.5));
  def = body_at(3, 0, 1);
  def.pose.q = quat_axis_angle(v3(0, 0, 1), 0.25 * DS_PI);
  ds_body_id box = scene_add(scene, &def, shape_box(1, 1, 1));
  def = body_at(6, 0, 1);
  ds_body_id capsule = scene_add(scene, &def, shape_round(DS_SHAPE_CAPSULE, 0.2, 0.3));
  def = body_at(9, 0, 1);
  ds_body_id can = scene_add(scene, &def, shape_round(DS_SHAPE_CYLINDER, 0.2, 0.3));
  sim s;
  if (sim_finish(&s, "rays", scene)) {
    struct {
      ds_vec3 origin, direction;
      double reach;
      ds_body_id body;
      double distance;
      ds_vec3 normal;
    } rays[] = {
        {v3(0, 0, 5), v3(0, 0, -1), 100, ball, 3.5, v3(0, 0, 1)},
        {v3(0, 0, 5), v3(0, 0, -7), 100, ball, 3.5, v3(0, 0, 1)}, /* the direction need not be unit */
        {v3(0, 0, 5), v3(0, 0, -1), 3.4, {0}, 0, v3(0, 0, 0)},
        {v3(0, 0, 5), v3(0, 0, 1), 100, {0}, 0, v3(0, 0, 0)},
        {v3(1.5, 0, 5), v3(0, 0, -1), 100, floor, 5, v3(0, 0, 1)},
        {v3(3, 0, 5), v3(0, 0, -1), 100, box, 3.5, v3(0, 0, 1)},
        {v3(3, -5, 1), v3(sqrt(0.5), sqrt(0.5), 0), 100, {0}, 0, v3(0, 0, 0)},
        {v3(3 - 2 * sqrt(0.5), -2 * sqrt(0.5), 1), v3(1, 1, 0), 100, box, 1.5, v3(-sqrt(0.5), -sqrt(0.5), 0)},
        {v3(6, 0, 5), v3(0, 0, -1), 100, capsule, 3.5, v3(0, 0, 1)},
        {v3(6, -4, 1), v3(0, 1, 0), 100, capsule, 3.8, v3(0, -1, 0)},
        {v3(9.1, 0, 5), v3(0, 0, -1), 100, can, 3.7, v3(0, 0, 1)},
        {v3(9, -4, 1), v3(0, 1, 0), 100, can, 3.8, v3(0, -1, 0)},
        {v3(20, 0, 1), v3(-1, 0, 0), 100, can, 10.8, v3(1, 0, 0)}, /* the first of a row */
    };
    for (size_t i = 0; i < sizeof rays / sizeof rays[0]; i++) {
      ds_ray_hit hit = ds_state_ray_cast(s.scene, s.state, rays[i].origin, rays[i].direction, rays[i].reach);
      if (hit.body.index1 != rays[i].body.index1) printf("ray %d\n", (int)i);
      CHECK_NEAR(hit.body.index1, rays[i].body.index1, 0);
      if (rays[i].body.index1 == 0) continue;
      CHECK_NEAR(hit.distance, rays[i].distance, 1e-12);
      CHECK_LE(v3_dist(hit.normal, rays[i].normal), 1e-12);
      ds_vec3 want = v3_mad(rays[i].origin, rays[i].distance, v3_unit(rays[i].direction));
      CHECK_LE(v3_dist(hit.point, want), 1e-12);
    }
  }
  sim_close(&s);
}

static void test_overlap(void) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  scene_add_floor(scene);
  ds_body_def def = body_at(0, 0, 0.5);
  ds_body_id a = scene_add(scene, &def, shape_box(1, 1, 1));
  def = body_at(0, 0, 1.5 - 0.03);
  ds_body_id b = scene_add(scene, &def, shape_box(1, 1, 1));
  sim s;
  if (sim_finish(&s, "overlap", scene)) {
    ds_body_id x = {0}, y = {0};
    double depth = -1;
    CHECK(ds_state_deepest_overlap(&depth, &x, &y, s.scene, s.state) == DS_OK);
    CHECK_NEAR(depth, 0.03, 1e-12);
    CHECK(x.index1 == a.index1 && y.index1 == b.index1);
    ds_state_set_pose(s.scene, s.state, b, (ds_pose){v3(0, 0, 5), quat_identity()});
    CHECK(ds_state_deepest_overlap(&depth, &x, &y, s.scene, s.state) == DS_OK);
    CHECK_LE(depth, 1e-12);
  }
  sim_close(&s);
}

/* Every part of the state changes the hash. */
static void test_hash(void) {
  sim s;
  if (sim_generate(&s, "stack:count=2")) {
    ds_body_id cube = ds_scene_body(s.scene, 1);
    uint64_t first = ds_state_hash(s.state);
    CHECK(first == ds_state_hash(s.start));
    ds_pose pose = ds_state_pose(s.scene, s.state, cube), moved = pose;
    moved.p.x += 1e-15;
    ds_state_set_pose(s.scene, s.state, cube, moved);
    CHECK(ds_state_hash(s.state) != first);
    ds_state_set_pose(s.scene, s.state, cube, pose);
    CHECK(ds_state_hash(s.state) == first);
    ds_state_set_velocity(s.state, cube, v3(0, 0, 0), v3(1e-300, 0, 0));
    CHECK(ds_state_hash(s.state) != first);
    ds_state_set_velocity(s.state, cube, v3(0, 0, 0), v3(0, 0, 0));
    CHECK(ds_state_hash(s.state) == first);
    sim_step(&s);
    CHECK(ds_state_hash(s.state) != first);
  }
  sim_close(&s);
}

/* An empty scene, and one of fixed bodies only, are scenes too. */
static void test_empty(void) {
  for (int32_t floor = 0; floor < 2; floor++) {
    ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
    if (floor) scene_add_floor(scene);
    sim s;
    if (sim_finish(&s, "empty", scene)) {
      sim_run(&s, 0.05);
      CHECK_NEAR(s.report.contacts, 0, 0);
      CHECK_NEAR(ds_state_time(s.state), 0.05, 1e-15);
      CHECK(s.report.worst.converged);
    }
    sim_close(&s);
  }
}

/* mu and e of a pair: the five rules, and entries that override them. Measured by what a step does. */
static void test_mixing(void) {
  static const ds_mix_rule rules[5] = {DS_MIX_GEOMETRIC, DS_MIX_MIN, DS_MIX_MAX, DS_MIX_AVERAGE, DS_MIX_PRODUCT};
  const double a = 0.2, b = 0.8, want[5] = {0.4, 0.2, 0.8, 0.5, 0.16};
  for (int32_t i = 0; i < 6; i++) {
    ds_scene_def def = ds_default_scene();
    ds_error error;
    def.friction_rule = def.restitution_rule = rules[i % 5];
    ds_scene *scene = ds_scene_create(&def, &error);
    CHECK(scene != NULL);
    if (!scene) return;
    ds_material_id ma = ds_scene_add_material(scene, &(ds_material_def){.mu = a, .restitution = a}, &error);
    ds_material_id mb = ds_scene_add_material(scene, &(ds_material_def){.mu = b, .restitution = b}, &error);
    ds_material_id mc = ds_scene_add_material(scene, &(ds_material_def){.mu = 0.1, .restitution = 0}, &error);
    if (i == 5) CHECK(ds_scene_set_pair(scene, mb, ma, 0.33, 0.44, &error) == DS_OK);
    const ds_material_id one[4] = {ma, mb, mc, mc}, other[4] = {mc, mc, ma, mb}; /* pairs with one of the two only */
    for (int k = 0; k < 4; k++) CHECK(ds_scene_set_pair(scene, one[k], other[k], 0.9, 0.9, &error) == DS_OK);
    ds_body_def floor = ds_default_body(), cube = body_at(0, 0, 0.1);
    floor.kind = DS_BODY_STATIC;
    floor.material = ma;
    cube.material = mb;
    cube.velocity = v3(5, 0, 0);
    scene_add(scene, &floor, shape_half_space());
    ds_body_id id = scene_add(scene, &cube, shape_box(0.2, 0.2, 0.2));
    sim s;
    if (sim_finish(&s, "mixing", scene)) {
      double mu = i == 5 ? 0.33 : want[i];
      sim_step(&s);
      CHECK_NEAR(5 - ds_state_velocity(s.state, id).x, mu * gravity * s.options.step, 1e-9);
      int32_t count;
      const ds_contact *c = ds_state_contacts(s.state, &count);
      CHECK(count > 0);
      if (count > 0) CHECK_NEAR(c[0].mu, mu, 1e-15);
      if (count > 0) CHECK_NEAR(c[0].restitution, i == 5 ? 0.44 : want[i], 1e-15);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(test_misuse);
  RUN(test_scripted_velocity);
  RUN(test_options);
  RUN(test_scene_refusals);
  RUN(test_getters);
  RUN(test_contacts);
  RUN(test_ray_cast);
  RUN(test_overlap);
  RUN(test_hash);
  RUN(test_empty);
  RUN(test_mixing);
  return test_summary();
}
