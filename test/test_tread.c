/* Smooth convex parts of meshes roll (mesh/caps.c, detect/tread.c): balls by the 5/7 law on planes, boxes, balls and in
 * bowls, ellipsoids as the shape of that name does, rings on their rim. Rings touch each
 * other where their samples do. And what has edges has no caps. */
#include "detect/solid.h"
#include "drystone/solid.h"
#include "mesh/mesh.h"
#include "mesh/solid.h"
#include "mesh_helper.h"
#include "random_pose.h"
#include "scene_helper.h"

static const double gravity = 9.81;

static ds_solid *solid_of(ds_mesh mesh) {
  ds_error error = {""};
  ds_solid_def def = ds_default_solid();
  ds_solid *solid = ds_mesh_merge(&mesh, &error) == DS_OK ? ds_solid_create(&mesh, &def, &error) : NULL;
  if (!solid) printf("%s\n", error.message);
  CHECK(solid != NULL);
  ds_mesh_free(&mesh);
  return solid;
}

static ds_shape_def shape_solid(ds_solid *solid) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_SOLID;
  def.solid = solid;
  return def;
}

static ds_mesh mesh_ellipsoid(ds_vec3 half, int32_t n) {
  ds_mesh m = mesh_sphere(1, n);
  for (int32_t i = 0; i < m.vertex_count; i++) m.vertices[i] = v3_mul(half, m.vertices[i]);
  return m;
}

static double axial_share(const sim *s, ds_body_id body, double radius) {
  ds_mass m = ds_body_mass(s->scene, body);
  return m.inertia[8] / (m.mass * radius * radius);
}

/* ---- rolling down a plane ---- */

/* Down a slope of 10 degrees on `ground`, whose top is z = 0 of a frame turned by q, about the solid's z axis, which
 * lies across. The speed against g sin 10 t / (1 + I/mR²), with the mesh's own inertia; the most that it goes aside. */
static double roll_down(const char *name, ds_solid *solid, double radius, const ds_shape_def *ground, double depth,
                        ds_quat q, ds_integrator integrator, double *side) {
  double slope = 10 * DS_PI / 180, time = 2;
  ds_scene *scene = scene_new(quat_rotate(q, v3(gravity * sin(slope), 0, -gravity * cos(slope))), 0.5, 0);
  ds_body_def floor = ds_default_body(), body = ds_default_body();
  floor.kind = DS_BODY_STATIC;
  floor.pose = (ds_pose){quat_rotate(q, v3(0, 0, -depth)), q};
  scene_add(scene, &floor, *ground);
  body.pose = (ds_pose){quat_rotate(q, v3(0, 0, radius)), quat_mul(q, quat_axis_angle(v3(1, 0, 0), DS_PI / 2))};
  body.pose.q = quat_mul(body.pose.q, quat_axis_angle(v3(0, 0, 1), 0.4));
  ds_body_id id = scene_add(scene, &body, shape_solid(solid));
  sim s = {0};
  double share = 0;
  if (sim_finish(&s, name, scene)) {
    s.options.integrator = integrator;
    int32_t most = 0;
    while (s.steps < time / s.options.step - 0.5 && sim_step(&s))
      most = s.report.contacts > most ? s.report.contacts : most;
    ds_vec3 v = quat_unrotate(q, ds_state_velocity(s.state, id));
    share = v.x / (gravity * sin(slope) * time / (1 + axial_share(&s, id, radius)));
    *side = fabs(v.y) / v.x;
    printf("     %s: %.5f of the law, %.1e to a side, %d contacts at most\n", name, share, *side, (int)most);
    CHECK_NEAR(share, 1, 0.002);
    CHECK_LE(*side, 0.001);
    CHECK_LE(s.energy_gain, 1e-9);
  }
  sim_close(&s);
  return share;
}

static ds_quat frame(int i) { return i == 0 ? quat_identity() : quat_axis_angle(v3(1, 2, -0.7), 1.1); }

static void test_balls(void) {
  static const int32_t fineness[3] = {7, 12, 24}; /* 392 to 4,608 triangles */
  ds_shape_def plane = ds_default_shape(), box = shape_box(20, 20, 1);
  plane.kind = DS_SHAPE_HALF_SPACE;
  for (int i = 0; i < 3; i++) {
    ds_solid *ball = solid_of(mesh_sphere(0.1, fineness[i]));
    for (int k = 0; ball && k < 8; k++) {
      char name[80];
      double side;
      ds_integrator integrator = k & 1 ? DS_INTEGRATOR_EULER : DS_INTEGRATOR_AUTO;
      snprintf(name, sizeof name, "ball of %d triangles on a %s, frame %d, %s", ds_solid_get_info(ball).triangles,
               k & 4 ? "box" : "plane", k >> 1 & 1, k & 1 ? "euler" : "auto");
      roll_down(name, ball, 0.1, k & 4 ? &box : &plane, k & 4 ? 0.5 : 0, frame(k >> 1 & 1), integrator, &side);
    }
    ds_solid_release(ball);
  }
}

static void test_on_mesh(void) {
  ds_solid *ball = solid_of(mesh_sphere(0.1, 12)), *slab = solid_of(mesh_box(v3(-10, -10, -1), v3(10, 10, 0)));
  ds_shape_def ground = shape_solid(slab);
  double side;
  for (int k = 0; ball && slab && k < 2; k++)
    roll_down("ball on a mesh of a box", ball, 0.1, &ground, 0, frame(k), DS_INTEGRATOR_AUTO, &side);
  ds_solid_release(ball);
  ds_solid_release(slab);
}

static void test_ring(void) {
  ds_solid *ring = solid_of(mesh_torus(0.1, 0.03, 64, 32));
  ds_shape_def plane = ds_default_shape();
  plane.kind = DS_SHAPE_HALF_SPACE;
  double side;
  for (int k = 0; ring && k < 2; k++)
    roll_down("ring", ring, 0.13, &plane, 0, frame(0), k ? DS_INTEGRATOR_EULER : DS_INTEGRATOR_AUTO, &side);
  ds_solid_release(ring);
}

/* ---- on and in round things ---- */

/* Off the top of a ball of 1 m, of `ground` or of `shape`. Where it is after 0.8 s. */
static ds_vec3 roll_off(const char *name, ds_shape_def ground, ds_shape_def shape) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def floor = ds_default_body(), body = ds_default_body();
  floor.kind = DS_BODY_STATIC;
  scene_add(scene, &floor, ground);
  body.pose.p = v3(1.1 * sin(0.05), 0, 1.1 * cos(0.05));
  ds_body_id id = scene_add(scene, &body, shape);
  sim s = {0};
  ds_vec3 x = {0, 0, 0};
  if (sim_finish(&s, name, scene)) {
    sim_run(&s, 0.8);
    x = ds_state_center(s.state, id);
    printf("     %s: at %.4f %.4f %.4f m\n", name, x.x, x.y, x.z);
  }
  sim_close(&s);
  return x;
}

static void test_on_balls(void) {
  ds_solid *ball = solid_of(mesh_sphere(0.1, 12)), *hill = solid_of(mesh_sphere(1, 24));
  if (ball && hill) {
    ds_vec3 want = roll_off("ball on a ball", shape_sphere(1), shape_sphere(0.1));
    ds_vec3 found[2] = {roll_off("mesh on a ball", shape_sphere(1), shape_solid(ball)),
                        roll_off("mesh on a mesh", shape_solid(hill), shape_solid(ball))};
    for (int i = 0; i < 2; i++) {
      CHECK_NEAR(found[i].x, want.x, 0.005 * want.x); /* the mesh has 0.5 % less inertia */
      CHECK_NEAR(found[i].y, 0, 1e-4);
      CHECK_NEAR(found[i].z, want.z, 0.001);
    }
  }
  ds_solid_release(ball);
  ds_solid_release(hill);
}

/* A ball in a bowl keeps its energy as it rolls to and fro. */
static void test_in_bowl(void) {
  ds_mesh inside = mesh_sphere(0.6, 24);
  mesh_flip(&inside);
  ds_solid *ball = solid_of(mesh_sphere(0.1, 12)), *bowl = solid_of(mesh_join(mesh_sphere(1, 24), inside));
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 0.5, 0);
  ds_body_def floor = ds_default_body(), body = ds_default_body();
  floor.kind = DS_BODY_STATIC;
  scene_add(scene, &floor, shape_solid(bowl));
  body.pose.p = v3(0.5 * sin(0.5), 0, -0.5 * cos(0.5));
  ds_body_id id = scene_add(scene, &body, shape_solid(ball));
  sim s = {0};
  if (sim_finish(&s, "ball in a bowl", scene)) {
    sim_run(&s, 2);
    double share = 1 + axial_share(&s, id, 0.1), v2 = v3_norm2(ds_state_velocity(s.state, id));
    double swing = gravity * 0.5 * (1 - cos(0.5));
    double change = 0.5 * share * v2 + gravity * (ds_state_center(s.state, id).z - body.pose.p.z);
    printf("     energy in a bowl after 2 s: %.2e of its swing\n", change / swing);
    CHECK_NEAR(change, 0, 0.01 * swing);
    CHECK_NEAR(ds_state_center(s.state, id).y, 0, 1e-4);
  }
  sim_close(&s);
  ds_solid_release(ball);
  ds_solid_release(bowl);
}

/* ---- ellipsoids ---- */

typedef struct rocking {
  double period, least, most; /* least and most of the angle, rad */
  ds_vec3 end;
} rocking;

/* On its shortest axis, tilted, and turning at `spin` about the longest one. */
static rocking rock(const char *name, ds_shape_def shape, ds_vec3 half, double tilt, double spin) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 1, 0);
  scene_add_floor(scene);
  ds_body_def body = body_at(0, 0, hypot(half.x * sin(tilt), half.z * cos(tilt)));
  body.pose.q = quat_axis_angle(v3(0, 1, 0), tilt);
  body.velocity = v3(0, -spin * body.pose.p.z, 0), body.angular_velocity = v3(spin, 0, 0);
  ds_body_id id = scene_add(scene, &body, shape);
  sim s = {0};
  rocking r = {0};
  double last = tilt, first = 0;
  int turns = 0;
  if (sim_finish(&s, name, scene)) {
    s.options.step = 0.005;
    while (s.steps < 400 && sim_step(&s)) {
      double now = asin(-quat_rotate(ds_state_pose(s.scene, s.state, id).q, v3(1, 0, 0)).z);
      double zero = ds_state_time(s.state) - s.options.step * now / (now - last);
      if (last > 0 && now <= 0 && turns++ == 0) first = zero;
      if (last > 0 && now <= 0 && turns > 1) r.period = (zero - first) / (turns - 1);
      last = now, r.least = fmin(r.least, now), r.most = fmax(r.most, now);
    }
    r.end = ds_state_center(s.state, id);
    printf("     %s: period %.4f s, angles %.4f to %.4f, ends at %.4f %.4f m\n", name, r.period, r.least, r.most,
           r.end.x, r.end.y);
  }
  sim_close(&s);
  return r;
}

static void test_ellipsoids(void) {
  static const double tilt[3] = {0.05, 0.5, 0.1}, spin[3] = {0, 0, 3};
  ds_vec3 half = {0.2, 0.15, 0.1};
  ds_solid *mesh = solid_of(mesh_ellipsoid(half, 24));
  for (int i = 0; mesh && i < 3; i++) {
    ds_shape_def shape = ds_default_shape();
    shape.kind = DS_SHAPE_ELLIPSOID, shape.half = half;
    rocking want = rock("ellipsoid", shape, half, tilt[i], spin[i]);
    rocking found = rock("mesh of an ellipsoid", shape_solid(mesh), half, tilt[i], spin[i]);
    CHECK_NEAR(found.period, want.period, 0.005 * want.period);
    CHECK_NEAR(found.least, want.least, 0.01 * tilt[i]);
    CHECK_NEAR(found.most, want.most, 0.01 * tilt[i]);
    CHECK_LE(v3_dist(found.end, want.end), 0.002);
  }
  ds_solid_release(mesh);
}

/* ---- where caps are almost flat ---- */

/* The gap of the sample of a that is deepest in b, and where it is. */
static double deepest_sample(ds_vec3 *where, const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb) {
  const ds_samples *samples = &a->solid->samples;
  double least = INFINITY;
  for (int32_t i = 0; i < samples->count; i++) {
    ds_vec3 x = pose_point(pa, samples->points[i]);
    double gap = ds_shape_distance_alone(b, pose_unpoint(pb, x));
    if (gap < least) least = gap, *where = x;
  }
  return least;
}

/* The same of the samples of both. */
static double deepest_of_both(ds_vec3 *where, const ds_shape *shape, ds_pose pa, ds_pose pb) {
  ds_vec3 x;
  double a = deepest_sample(where, shape, pa, shape, pb), b = deepest_sample(&x, shape, pb, shape, pa);
  if (b < a) *where = x;
  return fmin(a, b);
}

/* The least gap of contacts of two placed shapes within `far` of a place. */
static double gap_near(ds_vec3 x, double far, const ds_shape *shape, ds_pose pa, ds_pose pb) {
  ds_arena arena = {0};
  ds_manifold m = {.count = 0};
  ds_solid_query query = {.slack = 1e-3, .reach = 1e-3, .per_face = 8};
  double gap = INFINITY;
  CHECK(ds_narrow_solid(&arena, &m, &query, shape, pa, shape, pb));
  for (int32_t i = 0; i < m.count; i++)
    if (v3_dist(m.point[i], x) < far) gap = fmin(gap, m.gap[i]);
  ds_arena_free(&arena);
  return gap;
}

/* A ring beside another, tilted, and lowered until one sample overlaps by so much; false where it passes by. `where` is
 * that sample. */
static bool lower_ring(ds_pose *ring, ds_vec3 *where, const ds_shape *shape, double overlap) {
  double around = uniform(0, 2 * DS_PI), gap = INFINITY;
  ring->q = quat_axis_angle(v3(cos(around), sin(around), 0), uniform(0, 0.5 * DS_PI));
  ring->p = v3(uniform(0.02, 0.06), 0, 0.06);
  for (int i = 0; i < 30 && ring->p.z > -0.06 && fabs(gap + overlap) > 1e-3 * overlap; i++) {
    gap = deepest_of_both(where, shape, *ring, pose_identity());
    ring->p.z -= gap + overlap;
  }
  return deepest_of_both(where, shape, *ring, pose_identity()) < 0;
}

/* Rings of 30 mm that overlap by 10 um at one sample. About the circle where a ring begins to curve the other way one
 * radius of its caps is large: they touch a plane millimetres away from their samples, where the ring is elsewhere. By
 * caps alone 215 of 2,650 pairs had no contact near that sample. */
static void test_rings(void) {
  ds_solid *ring = solid_of(mesh_torus(0.024, 0.006, 48, 24));
  ds_shape shape = {.kind = DS_SHAPE_SOLID, .solid = ring, .bounding_radius = 0.03};
  double error = ring ? 2 * ring->error : 0;
  int32_t missed = 0, touching = 0;
  seed = 5;
  for (int32_t k = 0; ring && k < 3000; k++) {
    ds_pose high;
    ds_vec3 where;
    if (!lower_ring(&high, &where, &shape, 1e-5)) continue;
    touching++;
    missed += !(gap_near(where, 0.003, &shape, high, pose_identity()) < error);
  }
  printf("     of %d pairs of rings %d touch where no contact is\n", (int)touching, (int)missed);
  CHECK(touching > 2000);
  CHECK(missed == 0);
  ds_solid_release(ring);
}

/* ---- what does not roll ---- */

static ds_mesh mesh_prism(int32_t sides) {
  ds_mesh m = mesh_new(2 * sides + 2, 4 * sides);
  int32_t low = 2 * sides, high = low + 1;
  m.vertices[low] = v3(0, 0, -0.1), m.vertices[high] = v3(0, 0, 0.1);
  for (int32_t i = 0; i < sides; i++) {
    double angle = 2 * DS_PI * i / sides;
    int32_t a = 2 * i, b = 2 * ((i + 1) % sides);
    m.vertices[a] = v3(0.1 * cos(angle), 0.1 * sin(angle), -0.1);
    m.vertices[a + 1] = v3(0.1 * cos(angle), 0.1 * sin(angle), 0.1);
    mesh_set(&m, 4 * i, a, b, b + 1);
    mesh_set(&m, 4 * i + 1, a, b + 1, a + 1);
    mesh_set(&m, 4 * i + 2, low, b, a);
    mesh_set(&m, 4 * i + 3, high, a + 1, b + 1);
  }
  return m;
}

/* Faces, edges and corners stay what they are; of a coarse mesh of a ball, too. */
static void test_polyhedra(void) {
  ds_solid *plain[5] = {solid_of(mesh_box(v3(-1, -1, -1), v3(1, 1, 1))), solid_of(mesh_prism(16)),
                        solid_of(mesh_prism(300)), solid_of(mesh_sphere(0.1, 1)), solid_of(mesh_sphere(0.1, 3))};
  for (int i = 0; i < 5; i++) {
    CHECK(plain[i] && plain[i]->samples.caps == NULL);
    CHECK(plain[i] && plain[i]->faces.count > 0);
    ds_solid_release(plain[i]);
  }
}

/* A mesh of a ball has the radius and the middle of its vertices everywhere. */
static void test_caps(void) {
  ds_solid *ball = solid_of(mesh_sphere(0.1, 12));
  double off = 0, bend = 0;
  for (int32_t i = 0; ball && ball->samples.caps && i < ball->samples.count; i++) {
    const ds_cap *cap = &ball->samples.caps[i];
    CHECK(cap->bulges);
    off = fmax(off, v3_norm(v3_mad(cap->p, -0.1, cap->n)));
    bend = fmax(bend, fmax(fabs(0.1 * cap->k1 - 1), fabs(0.1 * cap->k2 - 1)));
  }
  printf("     middles off by %.1e m, curvatures by %.1e\n", off, bend);
  CHECK(ball && ball->samples.caps != NULL);
  CHECK_LE(off, 1e-7);
  CHECK_LE(bend, 1e-6);
  ds_solid_release(ball);
}

int main(void) {
  RUN(test_caps);
  RUN(test_polyhedra);
  RUN(test_balls);
  RUN(test_on_mesh);
  RUN(test_ring);
  RUN(test_on_balls);
  RUN(test_in_bowl);
  RUN(test_ellipsoids);
  RUN(test_rings);
  return test_summary();
}
