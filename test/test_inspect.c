/* What can be asked of a scene besides its motion: definitions, pairs, faces, bounds, reduced coordinates; spheres and
 * distances (drystone/inspect.h). */
#include "drystone/inspect.h"

#include "hand_reduced.h"
#include "scene_helper.h"

static void test_definitions(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_error error = {""};
  ds_material_def ice = {.mu = 0.1};
  ds_material_id id = ds_scene_add_material(scene, &ice, &error);
  CHECK(ds_scene_pair_count(scene) == 0);
  CHECK(ds_scene_set_pair(scene, (ds_material_id){0}, id, 0.2, 0.5, &error) == DS_OK);
  ds_body_def def = body_at(1, 2, 3);
  def.name = "brick";
  def.force = v3(0, 0, 4);
  ds_body_id brick = scene_add(scene, &def, shape_box(2, 4, 6));
  CHECK(ds_scene_finish(scene, &error) == DS_OK);

  ds_body_def got = ds_body_get_def(scene, brick);
  CHECK(strcmp(got.name, "brick") == 0 && got.kind == DS_BODY_DYNAMIC);
  CHECK_LE(v3_dist(got.pose.p, def.pose.p), 0);
  CHECK_LE(v3_dist(got.force, def.force), 0);
  /* m/12 (a² + b²), in the order of the principal axes */
  ds_vec3 inertia = ds_body_inertia(scene, brick);
  double m = 48e3;
  CHECK_NEAR(inertia.x + inertia.y + inertia.z, m / 12 * (20 + 40 + 52), 1e-6 * m);
  CHECK_NEAR(ds_body_radius(scene, brick), sqrt(14), 1e-12);

  ds_pair_def pair = ds_scene_get_pair(scene, 0);
  CHECK(ds_scene_pair_count(scene) == 1 && pair.a.index1 == 0 && pair.b.index1 == id.index1);
  CHECK_NEAR(pair.mu, 0.2, 0);
  CHECK_NEAR(pair.restitution, 0.5, 0);
  CHECK(ds_scene_change_pair(scene, 0, 0.3, 0.25, &error) == DS_OK);
  CHECK_NEAR(ds_scene_get_pair(scene, 0).mu, 0.3, 0);
  CHECK(ds_scene_change_pair(scene, 0, -1, 0, &error) == DS_ERROR_INPUT && strstr(error.message, "mu") != NULL);
  CHECK_NEAR(ds_scene_get_pair(scene, 0).mu, 0.3, 0);
  ds_scene_destroy(scene);
}

/* Faces are turned outwards and together enclose the volume. */
static void test_faces(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_error error = {""};
  ds_body_def def = body_at(0, 0, 0);
  ds_body_id body = scene_add(scene, &def, shape_box(1, 2, 3));
  ds_shape_def ball = shape_sphere(0.5);
  ball.pose.p = v3(4, 0, 0);
  CHECK(ds_scene_add_shape(scene, body, &ball, &error) == DS_OK && ds_scene_finish(scene, &error) == DS_OK);
  ds_polyhedron p = ds_body_polyhedron(scene, body, 0);
  CHECK(p.vertex_count == 8 && p.face_count == 6);
  double volume = 0;
  for (int32_t f = 0; f < p.face_count; f++)
    for (int32_t i = p.face_start[f] + 1; i + 1 < p.face_start[f + 1]; i++) {
      const int32_t *v = p.face_vertex;
      ds_vec3 a = p.vertices[v[p.face_start[f]]], b = p.vertices[v[i]], c = p.vertices[v[i + 1]];
      volume += v3_dot(a, v3_cross(b, c)) / 6;
    }
  CHECK_NEAR(volume, 6, 1e-12);
  CHECK(ds_body_polyhedron(scene, body, 1).face_count == 0);

  ds_vec3 low, high;
  ds_pose turned = {{10, 0, 0}, quat_axis_angle(v3(0, 0, 1), 0.5 * DS_PI)};
  ds_body_bounds(&low, &high, scene, body, 0, turned);
  CHECK_LE(v3_dist(low, v3(9, -0.5, -1.5)) + v3_dist(high, v3(11, 0.5, 1.5)), 1e-12);
  ds_body_bounds(&low, &high, scene, body, 1, turned);
  CHECK_LE(v3_dist(low, v3(9.5, 3.5, -0.5)) + v3_dist(high, v3(10.5, 4.5, 0.5)), 1e-12);
  ds_scene_destroy(scene);
}

/* A ball beside a box beside a half-space, in the body's own frame. */
static void test_distances(void) {
  sim s;
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_error error = {""};
  ds_body_def def = body_at(5, 6, 7);
  ds_body_id floor = scene_add_floor(scene), body = scene_add(scene, &def, shape_box(2, 2, 2));
  ds_shape_def ball = shape_sphere(0.5);
  ball.pose.p = v3(4, 0, 0);
  CHECK(ds_scene_add_shape(scene, body, &ball, &error) == DS_OK);
  if (!sim_finish(&s, "distances", scene)) return;
  ds_probe *probe = ds_probe_create(s.scene, s.state, body);
  ds_vec3 low, high;
  ds_probe_bounds(&low, &high, probe);
  CHECK_LE(v3_dist(low, v3(-1, -1, -1)) + v3_dist(high, v3(4.5, 1, 1)), 1e-12);
  CHECK_NEAR(ds_probe_distance(probe, v3(0, 0, 3)), 2, 1e-12);
  CHECK_NEAR(ds_probe_distance(probe, v3(0, 0, 0.75)), -0.25, 1e-12);
  CHECK_NEAR(ds_probe_distance(probe, v3(4, 0, 2)), 1.5, 1e-12);
  ds_probe_destroy(probe);
  probe = ds_probe_create(s.scene, s.state, floor);
  ds_probe_bounds(&low, &high, probe);
  CHECK(!isfinite(low.x) && !isfinite(high.x));
  CHECK_NEAR(ds_probe_distance(probe, v3(1, 2, 3)), 3, 1e-12);
  ds_probe_destroy(probe);
  ds_probe_destroy(NULL);
  int32_t count = 7;
  CHECK(ds_state_spheres(NULL, &count, 0, s.scene, s.state, body) == DS_OK && count == 0);
  sim_close(&s);
}

/* Spheres hold the surface as it is bent, distances are to it, modes are what bends it. */
static void test_deformable(void) {
  enum { ROOM = 64, R = 3 };
  sim s;
  ds_reduced *beam = hand_box(v3(0.5, 0.1, 0.1), 10, 2, 2, R);
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def def = body_at(0, 0, 2), rigid = body_at(0, 0, 5);
  ds_shape_def shape = ds_default_shape();
  shape.kind = DS_SHAPE_REDUCED;
  shape.reduced = beam;
  ds_body_id ball = scene_add(scene, &rigid, shape_sphere(0.5)), a = scene_add(scene, &def, shape);
  def.pose.p.z = 3;
  ds_body_id b = scene_add(scene, &def, shape);
  if (!sim_finish(&s, "deformable", scene)) return;
  CHECK(ds_scene_reduced_count(s.scene) == 2 * R);
  CHECK(ds_body_first_reduced(s.scene, a) == 0 && ds_body_first_reduced(s.scene, b) == R);
  CHECK(ds_body_first_reduced(s.scene, ball) == 0);
  double q[R] = {0.02, 0, 0};
  ds_state_set_reduced(s.state, b, q, NULL);
  CHECK_NEAR(ds_state_all_reduced(s.state)[R], q[0], 0);
  CHECK_NEAR(ds_state_all_reduced(s.state)[0], 0, 0);

  ds_reduced_info info = ds_reduced_get_info(beam);
  ds_vec3 *bent = calloc((size_t)info.vertices, sizeof *bent), *rest = calloc((size_t)info.vertices, sizeof *rest);
  ds_vec3 *mode = calloc((size_t)info.vertices, sizeof *mode);
  ds_reduced_shape(bent, beam, q);
  ds_reduced_shape(rest, beam, NULL);
  ds_reduced_mode(mode, beam, 0);
  ds_probe *probe = ds_probe_create(s.scene, s.state, b);
  ds_tree_sphere spheres[ROOM];
  int32_t count;
  CHECK(ds_state_spheres(spheres, &count, ROOM, s.scene, s.state, b) == DS_OK && count > 1 && count <= ROOM);
  CHECK(spheres[0].level == 0 && spheres[1].level == 1);
  ds_pose pose = ds_state_pose(s.scene, s.state, b);
  for (int32_t i = 0; i < info.vertices; i++) {
    CHECK_LE(v3_dist(bent[i], v3_mad(rest[i], q[0], mode[i])), 1e-12);
    CHECK_LE(v3_dist(pose_point(pose, bent[i]), spheres[0].center), spheres[0].radius * (1 + 1e-9));
    CHECK_NEAR(ds_probe_distance(probe, bent[i]), 0, 1e-9);
  }
  ds_probe_destroy(probe);
  free(bent);
  free(rest);
  free(mode);
  ds_reduced_release(beam);
  sim_close(&s);
}

/* Rates that are means over a step tell another energy than those of a moment. */
static void test_rates(void) {
  sim s;
  ds_reduced *beam = hand_box(v3(0.5, 0.1, 0.1), 10, 2, 2, 2);
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def def = body_at(0, 0, 2);
  ds_shape_def shape = ds_default_shape();
  shape.kind = DS_SHAPE_REDUCED;
  shape.reduced = beam;
  ds_body_id body = scene_add(scene, &def, shape);
  if (!sim_finish(&s, "rates", scene)) return;
  double q[2] = {0.01, 0}, rate[2] = {0.5, 0};
  ds_state_set_reduced(s.state, body, q, rate);
  ds_state_set_reduced_step(s.state, 0);
  double now = ds_state_energy(s.scene, s.state).elastic;
  ds_state_set_reduced_step(s.state, 0.01);
  double mean = ds_state_energy(s.scene, s.state).elastic;
  CHECK(isfinite(now) && isfinite(mean) && now > 0 && mean != now);
  ds_reduced_release(beam);
  sim_close(&s);
}

int main(void) {
  RUN(test_definitions);
  RUN(test_faces);
  RUN(test_distances);
  RUN(test_deformable);
  RUN(test_rates);
  return test_summary();
}
