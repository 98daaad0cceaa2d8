/* No length is built in: where all lengths are scaled, gravity and velocities with them and masses as volumes, the same
 * happens at another size. Scaled by a power of two no rounding changes, and every bit has to be the same; scaled by
 * 1000 and 1/1000 positions agree to rounding.
 *
 * Scenes that touch in every way: stacks, tilted and skew boxes, hulls, cylinders, capsules, cones, ellipsoids, solids,
 * on a plane and on bodies far larger than they are; thick, thin and small bodies in one scene; joints. */
#include "random.h"
#include "sample_meshes.h"
#include "scene_helper.h"

static double scale; /* of all lengths */

static ds_vec3 at(double x, double y, double z) { return v3_scale(scale, v3(x, y, z)); }
static ds_shape_def box(double x, double y, double z) { return shape_box(scale * x, scale * y, scale * z); }
static ds_shape_def round_of(ds_shape_kind kind, double radius, double half_length) {
  return shape_round(kind, scale * radius, scale * half_length);
}

static ds_body_def body(double x, double y, double z, double tilt, ds_vec3 axis) {
  ds_body_def def = ds_default_body();
  def.pose = (ds_pose){at(x, y, z), quat_axis_angle(v3_unit(axis), tilt)};
  return def;
}

static ds_scene *world(void) { return scene_new(at(0, 0, -9.81), 0.5, 0.3); }

static void add_static(ds_scene *scene, double x, double y, double z, ds_shape_def shape) {
  ds_body_def def = body(x, y, z, 0, v3(0, 0, 1));
  def.kind = DS_BODY_STATIC;
  scene_add(scene, &def, shape);
}

/* ---- scenes ---- */

static ds_scene *stack(void) {
  ds_scene *scene = world();
  scene_add_floor(scene);
  for (int32_t i = 0; i < 6; i++) {
    double side = i % 2 ? 0.3 : 0.02;
    ds_body_def def = body(0.002 * i, 0.001 * i, 0.16 * i + 0.01 * (i + 1), 0.3 * i, v3(0, 0, 1));
    def.pose.p.z = scale * (0.32 * (i / 2) + (i % 2 ? 0.17 : 0.01));
    scene_add(scene, &def, box(0.3, 0.3, side));
  }
  return scene;
}

/* Boxes of 2 mm to 0.5 m that land askew on a block of 4 m and on each other. */
static ds_scene *tilted(void) {
  ds_scene *scene = world();
  add_static(scene, 0, 0, -1, box(4, 4, 2));
  static const double size[5] = {0.5, 0.05, 0.1, 0.002, 0.2};
  for (int32_t i = 0; i < 5; i++) {
    ds_body_def def = body(i - 2, 0.1 * i, 0.9 * size[i] + 0.02, 0.4 + 0.1 * i, v3(1, 0.3 * i, 0.2));
    def.velocity = at(0.1, 0, -0.2);
    scene_add(scene, &def, box(size[i], 0.8 * size[i], 0.6 * size[i]));
    def = body(i - 2 + 0.3 * size[i], 0.1 * i, 2.5 * size[i] + 0.02, 0.7, v3(0.1 * i, 1, 0));
    scene_add(scene, &def, box(0.6 * size[i], 0.6 * size[i], 0.5 * size[i]));
  }
  return scene;
}

/* A body that stands half over the rim of a far larger one, and tips over it. */
static ds_scene *rim(void) {
  ds_scene *scene = world();
  add_static(scene, 0, 0, -1, box(4, 4, 2));
  static const double size[4] = {0.4, 0.1, 0.02, 0.005};
  for (int32_t i = 0; i < 4; i++) {
    ds_body_def def = body(2 + 0.1 * size[i], i - 1.5, 0.25 * size[i], 0.1 * i, v3(0, 0, 1));
    if (i % 2)
      scene_add(scene, &def, box(size[i], size[i], 0.5 * size[i]));
    else
      scene_add(scene, &def, round_of(DS_SHAPE_CYLINDER, 0.5 * size[i], 0.25 * size[i]));
  }
  return scene;
}

/* Cylinders, capsules, cones, ellipsoids, balls and hulls that lie, lean and roll. */
static ds_scene *rounds(void) {
  static const ds_shape_kind kinds[5] = {DS_SHAPE_CYLINDER, DS_SHAPE_CAPSULE, DS_SHAPE_CONE, DS_SHAPE_ELLIPSOID,
                                         DS_SHAPE_SPHERE};
  ds_scene *scene = world();
  add_static(scene, 0, 0, -0.5, box(6, 6, 1));
  for (int32_t i = 0; i < 15; i++) {
    double r = i % 3 == 0 ? 0.2 : i % 3 == 1 ? 0.03 : 0.004;
    ds_shape_def shape = round_of(kinds[i % 5], r, 1.5 * r);
    shape.half = at(r, 0.8 * r, 1.3 * r);
    ds_body_def def = body(i % 5 - 2, i / 5 - 1, 2.1 * r, 0.3 * i, v3(1, 0.2, 0.1 * i));
    def.angular_velocity = v3(0.5, 1, 0.2 * i);
    scene_add(scene, &def, shape);
    def.pose.p.z += scale * 3.4 * r;
    scene_add(scene, &def, box(r, 1.5 * r, 0.7 * r));
  }
  return scene;
}

static ds_scene *hulls(void) {
  ds_scene *scene = world();
  scene_add_floor(scene);
  uint64_t s = 7;
  for (int32_t i = 0; i < 8; i++) {
    ds_vec3 points[12];
    double r = i % 2 ? 0.15 : 0.04;
    for (int32_t k = 0; k < 12; k++)
      points[k] = v3_scale(scale * r, v3(random_in(&s, -1, 1), random_in(&s, -1, 1), random_in(&s, -1, 1)));
    ds_shape_def shape = ds_default_shape();
    shape.kind = DS_SHAPE_HULL, shape.points = points, shape.point_count = 12;
    ds_body_def def = body(0.03 * i, -0.02 * i, 0.2 + 0.25 * i, 0.2 * i, v3(1, 1, 0));
    scene_add(scene, &def, shape);
  }
  return scene;
}

static ds_scene *solids(void) {
  ds_scene *scene = world();
  add_static(scene, 0, 0, -0.5, box(6, 6, 1));
  for (int32_t i = 0; i < 2; i++) {
    ds_mesh mesh = i ? mesh_l(0.5) : mesh_box(v3(1, 0.7, 0.4));
    mesh_move(&mesh, (ds_pose){{0, 0, 0}, {1, 0, 0, 0}}, 0.1 * scale);
    ds_solid_def def = ds_default_solid();
    ds_error error = {""};
    def.threads = 1;
    ds_solid *solid = ds_solid_create(&mesh, &def, &error);
    CHECK(solid != NULL);
    ds_shape_def shape = ds_default_shape();
    shape.kind = DS_SHAPE_SOLID, shape.solid = solid;
    for (int32_t k = 0; k < 2; k++) {
      ds_body_def b = body(0.5 * i, 0, 0.15 + 0.3 * k, 0.3 * k + 0.1, v3(1, 0.3, k));
      scene_add(scene, &b, shape);
    }
    ds_solid_release(solid);
    mesh_drop(&mesh);
  }
  return scene;
}

/* A chain of links that hangs, swings, and strikes the floor. */
static ds_scene *joints(void) {
  ds_scene *scene = world();
  ds_error error = {""};
  ds_body_id last = scene_add_floor(scene);
  for (int32_t i = 0; i < 5; i++) {
    ds_body_def def = body(0.2 * i + 0.1, 0, 0.7, 0, v3(0, 0, 1));
    ds_body_id link = scene_add(scene, &def, box(0.18, 0.04, 0.02));
    ds_joint_def joint = ds_default_joint();
    joint.kind = i % 2 ? DS_JOINT_HINGE : DS_JOINT_BALL;
    joint.a = last, joint.b = link;
    joint.point = at(0.2 * i, 0, 0.7);
    joint.axis = v3(0, 1, 0);
    CHECK(ds_scene_add_joint(scene, &joint, &error).index1 > 0);
    last = link;
  }
  return scene;
}

/* ---- comparisons ---- */

/* Centres in units of the scale after each of `count` steps; tolerance 0: the default. */
static void follow(ds_vec3 *centres, const char *name, ds_scene *(*make)(void), double by, int32_t count,
                   double tolerance) {
  sim s;
  scale = by;
  if (!sim_finish(&s, name, make())) return;
  if (tolerance > 0) s.options.tolerance = tolerance;
  int32_t n = ds_scene_body_count(s.scene);
  for (int32_t k = 0; k < count && sim_step(&s); k++)
    for (int32_t i = 0; i < n; i++) *centres++ = v3_scale(1 / by, ds_state_center(s.state, ds_scene_body(s.scene, i)));
  if (s.failed) CHECK(!s.failed);
  sim_free(&s);
}

/* With a factor that is no power of two rounding differs, and so does what the solver leaves: the tolerance is 1e-10
 * there, in both runs. Where bodies tumble on each other, rounding grows thirtyfold with every impact: after `smooth`
 * steps positions are not compared where the factor is no power of two. */
static void compare(const char *name, ds_scene *(*make)(void), int32_t bodies, int32_t count, int32_t smooth) {
  static const double factors[4] = {0x1p-10, 0x1p10, 1e-3, 1e3};
  enum { MOST = 40, LONGEST = 100 };
  static ds_vec3 one[MOST * LONGEST], other[MOST * LONGEST];
  if (bodies > MOST || count > LONGEST) abort();
  for (int k = 0; k < 4; k++) {
    if (k % 2 == 0) follow(one, name, make, 1, count, k == 0 ? 0 : 1e-10);
    double worst = 0, tolerance = k < 2 ? 0 : 1e-9;
    int32_t first = -1;
    int32_t steps = k < 2 ? count : smooth;
    follow(other, name, make, factors[k], steps, k < 2 ? 0 : 1e-10);
    for (int32_t i = 0; i < bodies * steps; i++) {
      double off = v3_dist(one[i], other[i]);
      if (first < 0 && !(off <= tolerance)) first = i;
      worst = off <= worst ? worst : off;
    }
    printf("     %s, lengths times %g: off by %.2g", name, factors[k], worst);
    if (first >= 0) printf(", first in step %d, body %d", (int)(first / bodies), (int)(first % bodies));
    printf("\n");
    CHECK_LE(worst, tolerance);
  }
}

static void stacks(void) { compare("stack", stack, 7, 60, 60); }
static void tilted_boxes(void) { compare("tilted boxes", tilted, 11, 60, 40); }
static void over_a_rim(void) { compare("over a rim", rim, 5, 60, 60); }
static void round_shapes(void) { compare("round shapes", rounds, 31, 60, 10); }
static void convex_hulls(void) { compare("hulls", hulls, 9, 60, 60); }
static void solid_bodies(void) { compare("solids", solids, 5, 40, 40); }
static void chains(void) { compare("chain", joints, 6, 100, 100); }

int main(void) {
  RUN(stacks);
  RUN(tilted_boxes);
  RUN(over_a_rim);
  RUN(round_shapes);
  RUN(convex_hulls);
  RUN(solid_bodies);
  RUN(chains);
  return test_summary();
}
