/* Distances of placed shapes and the point between them (detect/gap.h) where they can be written down, in either order:
 * half-spaces, spheres, boxes and ellipsoids; and the samples of a solid against all of them, one by one. */
#include <stdlib.h>

#include "detect/gap.h"
#include "detect/solid.h"
#include "detect_helper.h"
#include "mesh/solid.h"
#include "sample_meshes.h"
#include "scene_helper.h"

static ds_shape ellipsoid(double x, double y, double z) {
  ds_shape s = plain(DS_SHAPE_ELLIPSOID);
  s.half = v3(x, y, z);
  s.bounding_radius = fmax(x, fmax(y, z));
  return s;
}

/* In both orders: the distance, the normal, from b to a, and the point half way. */
static void check_pair(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, double gap, ds_vec3 normal,
                       ds_vec3 middle) {
  for (int swapped = 0; swapped < 2; swapped++) {
    const ds_shape *one = swapped ? b : a, *other = swapped ? a : b;
    ds_pose p = swapped ? pb : pa, q = swapped ? pa : pb;
    ds_vec3 n, point, want = swapped ? v3_neg(normal) : normal;
    CHECK_NEAR(ds_shape_apart(&n, one, p, other, q), gap, 1e-9);
    CHECK_LE(v3_dist(n, want), 1e-6);
    CHECK_NEAR(ds_shape_nearest(&n, &point, one, p, other, q), gap, 1e-9);
    CHECK_LE(v3_dist(n, want), 1e-6);
    CHECK_LE(v3_dist(point, middle), 1e-6);
  }
}

static void test_pairs(void) {
  ds_shape sphere = round_shape(DS_SHAPE_SPHERE, 0.3, 0), ground = round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  ds_shape egg = ellipsoid(0.2, 0.3, 0.5), cube = box(0.2, 0.2, 0.2);
  const double gaps[] = {0.1, 0.02, -0.04};
  for (int i = 0; i < 3; i++) {
    double g = gaps[i];
    check_pair(&sphere, at(1, 2, 0.3 + g), &ground, at(0, 0, 0), g, Z, v3(1, 2, 0.5 * g));
    check_pair(&egg, at(1, 2, 0.5 + g), &ground, at(0, 0, 0), g, Z, v3(1, 2, 0.5 * g));
    check_pair(&sphere, at(0, 0, 0.5 + g), &cube, at(0, 0, 0), g, Z, v3(0, 0, 0.2 + 0.5 * g));
    check_pair(&sphere, at(0.5 + g, 0, 0), &egg, at(0, 0, 0), g, X, v3(0.2 + 0.5 * g, 0, 0));
  }
  release(&cube);
}

/* Two spheres, whose distance is less than that of their middles by both radii. */
static void test_bodies(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_error error = {""};
  ds_body_def one = body_at(0, 0, 0), other = body_at(1, 0, 0);
  ds_body_id a = scene_add(scene, &one, shape_sphere(0.25)), b = scene_add(scene, &other, shape_sphere(0.4));
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  const ds_body *x = &scene->bodies[ds_index(a)], *y = &scene->bodies[ds_index(b)];
  CHECK_NEAR(ds_bodies_gap(x, at(0, 0, 0), y, at(1, 0, 0), 10), 0.35, 1e-12);
  CHECK_NEAR(ds_bodies_gap(y, at(0, 3, 0), x, at(0, 0, 4), 10), 4.35, 1e-12);
  CHECK(ds_bodies_gap(x, at(0, 0, 0), y, at(9, 0, 0), 1) > 1); /* more than was asked for */
  ds_scene_destroy(scene);
}

/* Samples of a solid against a sphere and a cube: the least over all of them, though most balls of the tree are left
 * out. */
static void test_samples(void) {
  ds_mesh mesh = mesh_box(v3(0.3, 0.2, 0.1));
  ds_solid_def def = ds_default_solid();
  ds_error error = {""};
  ds_solid *solid = ds_solid_create(&mesh, &def, &error);
  CHECK(solid != NULL);
  if (!solid) return;
  ds_shape block = plain(DS_SHAPE_SOLID), sphere = round_shape(DS_SHAPE_SPHERE, 0.15, 0), cube = box(0.1, 0.15, 0.2);
  block.solid = solid, block.bounding_radius = v3_norm(v3(0.3, 0.2, 0.1));
  const ds_shape *others[2] = {&sphere, &cube};
  const ds_samples *samples = ds_shape_get_samples(&block);
  CHECK(samples->count > 50);
  for (int i = 0; i < 100; i++) {
    const ds_shape *other = others[i % 2];
    ds_pose p = random_pose(0.5), q = random_pose(0.5);
    double least = INFINITY;
    for (int32_t k = 0; k < samples->count; k++) {
      ds_vec3 n, x = pose_unpoint(q, pose_point(p, samples->points[k]));
      least = fmin(least, ds_shape_distance(&n, other, x));
    }
    double gap = ds_samples_gap(&block, p, other, q, 10);
    CHECK_LE(gap, least + 1e-12); /* samples of the cube against the solid count as well */
    CHECK_NEAR(ds_samples_gap(other, q, &block, p, 10), gap, 1e-12);
  }
  ds_solid_release(solid);
  mesh_drop(&mesh);
  release(&cube);
}

int main(void) {
  RUN(test_pairs);
  RUN(test_bodies);
  RUN(test_samples);
  return test_summary();
}
