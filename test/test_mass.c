/* Mass properties: closed forms against each other, hulls against boxes, principal frames. */
#include "check.h"
#include "detect/detect.h"
#include "random_pose.h"

#include <string.h>

static ds_shape plain(ds_shape_kind kind, double radius, double half_length, ds_vec3 half) {
  ds_shape s = {.kind = kind, .density = 1000, .radius = radius, .half_length = half_length, .half = half};
  s.pose = s.pose_in_body = pose_identity();
  if (kind == DS_SHAPE_BOX) CHECK(ds_hull_box(&s.hull, half) == DS_OK);
  return s;
}

static void closed_forms(void) {
  ds_mass m;
  ds_shape s = plain(DS_SHAPE_SPHERE, 0.3, 0, v3(0, 0, 0));
  ds_shape_mass(&m, &s);
  CHECK_NEAR(m.mass, 1000 * 4 * DS_PI / 3 * 0.027, 1e-12);
  CHECK_NEAR(m.inertia[4], 0.4 * m.mass * 0.09, 1e-14);
  s = plain(DS_SHAPE_CYLINDER, 0.3, 0.5, v3(0, 0, 0));
  ds_shape_mass(&m, &s);
  CHECK_NEAR(m.mass, 1000 * DS_PI * 0.09, 1e-12);
  CHECK_NEAR(m.inertia[8], 0.5 * m.mass * 0.09, 1e-13);
  CHECK_NEAR(m.inertia[0], m.mass * (3 * 0.09 + 1) / 12, 1e-12);
  /* a capsule without length is a sphere; a long one against numerical integration of its sections */
  s = plain(DS_SHAPE_CAPSULE, 0.3, 0, v3(0, 0, 0));
  ds_shape_mass(&m, &s);
  CHECK_NEAR(m.inertia[0], 0.4 * m.mass * 0.09, 1e-12);
  s = plain(DS_SHAPE_CAPSULE, 0.3, 0.5, v3(0, 0, 0));
  ds_shape_mass(&m, &s);
  double mass = 0, ixx = 0, izz = 0;
  for (int i = 0; i < 200000; i++) {
    double z = -0.8 + 1.6 * (i + 0.5) / 200000, over = fmax(0, fabs(z) - 0.5), r2 = 0.09 - over * over;
    double dm = 1000 * DS_PI * r2 * 1.6 / 200000;
    mass += dm;
    izz += 0.5 * dm * r2;
    ixx += dm * (r2 / 4 + z * z);
  }
  CHECK_NEAR(m.mass, mass, 1e-6);
  CHECK_NEAR(m.inertia[0], ixx, 1e-6);
  CHECK_NEAR(m.inertia[8], izz, 1e-6);
}

static void hull_is_box(void) {
  ds_shape box = plain(DS_SHAPE_BOX, 0, 0, v3(0.1, 0.2, 0.35)), hull = box;
  ds_pose at = {v3(3, -2, 1), random_quat()};
  ds_vec3 points[8];
  for (int i = 0; i < 8; i++) points[i] = pose_point(at, box.hull.vertices[i]);
  hull.kind = DS_SHAPE_HULL;
  CHECK(ds_hull_build(&hull.hull, points, 8, NULL) == DS_OK);
  box.pose_in_body = at;
  ds_mass a, b;
  ds_shape_mass(&a, &box);
  ds_shape_mass(&b, &hull);
  CHECK_NEAR(a.mass, b.mass, 1e-11);
  CHECK_LE(v3_dist(a.center, b.center), 1e-13);
  for (int i = 0; i < 9; i++) CHECK_NEAR(a.inertia[i], b.inertia[i], 1e-11);
  ds_hull_free(&box.hull);
  ds_hull_free(&hull.hull);
}

static ds_body body_of(ds_shape *shapes, int32_t count) {
  ds_body b = {.kind = DS_BODY_DYNAMIC, .shapes = shapes, .shape_count = count};
  b.def.kind = DS_BODY_DYNAMIC;
  return b;
}

/* The principal frame gives back the tensor and the shapes' places. */
static void check_frame(const ds_body *b) {
  ds_pose principal = pose_inverse(b->user_frame);
  ds_mat3 r = mat3_from_quat(principal.q);
  const double i[3] = {b->inertia.x, b->inertia.y, b->inertia.z};
  double trace = i[0] + i[1] + i[2];
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += r.m[3 * p + k] * i[k] * r.m[3 * q + k];
      CHECK_NEAR(sum, b->mass.inertia[3 * p + q], 1e-13 * trace);
    }
  CHECK_LE(v3_dist(principal.p, b->mass.center), 1e-14 * (1 + v3_norm(b->mass.center)));
  for (int32_t k = 0; k < b->shape_count; k++) {
    ds_pose back = pose_mul(principal, b->shapes[k].pose);
    CHECK_LE(v3_dist(back.p, b->shapes[k].pose_in_body.p), 1e-14 * (1 + v3_norm(back.p)));
  }
}

static void split_box(void) {
  /* a box cut into two equals the whole; turned and moved */
  ds_shape half[2], whole;
  ds_pose at = random_pose(2);
  whole = plain(DS_SHAPE_BOX, 0, 0, v3(0.4, 0.2, 0.1));
  whole.pose_in_body = at;
  for (int i = 0; i < 2; i++) {
    half[i] = plain(DS_SHAPE_BOX, 0, 0, v3(0.2, 0.2, 0.1));
    half[i].pose_in_body = pose_mul(at, (ds_pose){v3(i ? 0.2 : -0.2, 0, 0), quat_identity()});
  }
  ds_body a = body_of(&whole, 1), b = body_of(half, 2);
  CHECK(ds_body_sum_shapes(&a, NULL) == DS_OK && ds_body_sum_shapes(&b, NULL) == DS_OK);
  CHECK_NEAR(a.mass.mass, b.mass.mass, 1e-12);
  CHECK_LE(v3_dist(a.mass.center, b.mass.center), 1e-14);
  for (int i = 0; i < 9; i++) CHECK_NEAR(a.mass.inertia[i], b.mass.inertia[i], 1e-12);
  check_frame(&a);
  check_frame(&b);
  CHECK_NEAR(a.bounding_radius, sqrt(0.16 + 0.04 + 0.01), 1e-14);
  b.def.mass = 5;
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK);
  CHECK(b.mass.mass == 5);
  CHECK_NEAR(b.mass.inertia[0] / 5, a.mass.inertia[0] / a.mass.mass, 1e-14);
  ds_hull_free(&whole.hull);
  ds_hull_free(&half[0].hull);
  ds_hull_free(&half[1].hull);
}

static void random_compounds(void) {
  for (int trial = 0; trial < 200; trial++) {
    ds_shape s[3];
    for (int i = 0; i < 3; i++) {
      double radius = uniform(0.1, 1), half_length = uniform(0.1, 1);
      s[i] = plain(i == 0   ? DS_SHAPE_SPHERE
                   : i == 1 ? DS_SHAPE_CAPSULE
                            : DS_SHAPE_CYLINDER,
                   radius, half_length, v3(0, 0, 0));
      s[i].pose_in_body = random_pose(2);
    }
    ds_body b = body_of(s, 3);
    CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK);
    check_frame(&b);
  }
}

/* A dumb-bell of two balls on a rod: Steiner's theorem by hand, each part at its own density, and the smallest width
 * any of them. */
static void dumb_bell(void) {
  ds_shape s[3] = {plain(DS_SHAPE_CYLINDER, 0.02, 0.4, v3(0, 0, 0)), plain(DS_SHAPE_SPHERE, 0.1, 0, v3(0, 0, 0)),
                   plain(DS_SHAPE_SPHERE, 0.15, 0, v3(0, 0, 0))};
  s[1].pose_in_body.p = v3(0, 0, -0.5), s[2].pose_in_body.p = v3(0.1, 0, 0.5);
  s[1].density = 7800, s[2].density = 500;
  double m[3] = {1000 * DS_PI * 0.0004 * 0.8, 7800 * 4 * DS_PI / 3 * 0.001, 500 * 4 * DS_PI / 3 * 0.003375};
  double all = m[0] + m[1] + m[2], cx = 0.1 * m[2] / all, cz = (0.5 * m[2] - 0.5 * m[1]) / all;
  const double x[3] = {0, 0, 0.1}, z[3] = {0, -0.5, 0.5};
  const double own[3][2] = {{m[0] * (3 * 0.0004 + 0.64) / 12, 0.5 * m[0] * 0.0004},
                            {0.4 * m[1] * 0.01, 0.4 * m[1] * 0.01},
                            {0.4 * m[2] * 0.0225, 0.4 * m[2] * 0.0225}}; /* across and along the rod */
  double ixx = 0, iyy = 0, izz = 0, ixz = 0, reach = 0;
  for (int i = 0; i < 3; i++) {
    double dx = x[i] - cx, dz = z[i] - cz;
    ixx += own[i][0] + m[i] * dz * dz, iyy += own[i][0] + m[i] * (dx * dx + dz * dz), izz += own[i][1] + m[i] * dx * dx;
    ixz -= m[i] * dx * dz;
    const double size[3] = {hypot(0.02, 0.4), 0.1, 0.15};
    reach = fmax(reach, hypot(dx, dz) + size[i]);
  }
  ds_body b = body_of(s, 3);
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK);
  CHECK_NEAR(b.mass.mass, all, 1e-12 * all);
  CHECK_LE(v3_dist(b.mass.center, v3(cx, 0, cz)), 1e-14);
  const double want[9] = {ixx, 0, ixz, 0, iyy, 0, ixz, 0, izz};
  for (int i = 0; i < 9; i++) CHECK_NEAR(b.mass.inertia[i], want[i], 1e-13 * ixx);
  CHECK_NEAR(b.inertia.x + b.inertia.y + b.inertia.z, ixx + iyy + izz, 1e-13 * ixx);
  CHECK_NEAR(b.inertia.x * b.inertia.z, ixx * izz - ixz * ixz, 1e-12 * ixx * ixx);
  CHECK_NEAR(b.thickness, 0.04, 1e-15);
  CHECK_NEAR(b.bounding_radius, reach, 1e-14);
  check_frame(&b);
  /* of each shape alone */
  const double thick[3] = {0.04, 0.2, 0.3}, reaches[3] = {hypot(0.02, 0.4), 0.1, 0.15};
  for (int i = 0; i < 3; i++) {
    b = body_of(&s[i], 1);
    CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK);
    CHECK_NEAR(b.thickness, thick[i], 1e-15);
    CHECK_NEAR(b.bounding_radius, reaches[i], 1e-15);
    CHECK_NEAR(s[i].bounding_radius, reaches[i], 1e-15);
  }
  ds_shape flat = plain(DS_SHAPE_CYLINDER, 0.5, 0.01, v3(0, 0, 0)), box = plain(DS_SHAPE_BOX, 0, 0, v3(0.3, 0.2, 0.05));
  ds_shape capsule = plain(DS_SHAPE_CAPSULE, 0.02, 0.4, v3(0, 0, 0));
  b = body_of(&flat, 1);
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK && fabs(b.thickness - 0.02) < 1e-15);
  b = body_of(&box, 1);
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK && fabs(b.thickness - 0.1) < 1e-15);
  CHECK_NEAR(b.mass.inertia[0], b.mass.mass * (0.16 + 0.01) / 12, 1e-13 * b.mass.mass);
  b = body_of(&capsule, 1);
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK && fabs(b.thickness - 0.04) < 1e-15);
  CHECK_NEAR(b.bounding_radius, 0.42, 1e-15);
  ds_hull_free(&box.hull);
}

static void keeps_axes(void) {
  ds_shape s = plain(DS_SHAPE_BOX, 0, 0, v3(0.4, 0.2, 0.1));
  s.pose_in_body.p = v3(1, 2, 3);
  ds_body b = body_of(&s, 1);
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK);
  CHECK(b.user_frame.q.w == 1 && b.user_frame.q.x == 0 && b.user_frame.q.y == 0 && b.user_frame.q.z == 0);
  CHECK(s.pose.p.x == 0 && s.pose.p.y == 0 && s.pose.p.z == 0);
  /* a turned cube or ball has no principal axes of its own: none are made up */
  ds_hull_free(&s.hull);
  s = plain(DS_SHAPE_BOX, 0, 0, v3(0.2, 0.2, 0.2));
  s.pose_in_body.q = random_quat();
  b = body_of(&s, 1);
  CHECK(ds_body_sum_shapes(&b, NULL) == DS_OK);
  CHECK(b.user_frame.q.w == 1);
  ds_hull_free(&s.hull);
}

static void refused(void) {
  ds_error error = {{0}};
  ds_shape s = plain(DS_SHAPE_HALF_SPACE, 0, 0, v3(0, 0, 0));
  ds_body b = body_of(&s, 1);
  CHECK(ds_body_sum_shapes(&b, &error) == DS_ERROR_INPUT && strstr(error.message, "static"));
  b.kind = DS_BODY_STATIC;
  s.pose_in_body.p = v3(1, 2, 3);
  CHECK(ds_body_place_shapes(&b, &error) == DS_OK);
  CHECK(b.mass.mass == 0 && isinf(b.bounding_radius) && s.pose.p.y == 2 && b.user_frame.q.w == 1);
  b = body_of(NULL, 0);
  CHECK(ds_body_sum_shapes(&b, &error) == DS_ERROR_INPUT && strstr(error.message, "shape"));
  s = plain(DS_SHAPE_SPHERE, 1, 0, v3(0, 0, 0));
  s.density = 0;
  b = body_of(&s, 1);
  CHECK(ds_body_sum_shapes(&b, &error) == DS_ERROR_INPUT && strstr(error.message, "density"));
}

int main(void) {
  seed = 7;
  RUN(closed_forms);
  RUN(hull_is_box);
  RUN(split_box);
  RUN(random_compounds);
  RUN(dumb_bell);
  RUN(keeps_axes);
  RUN(refused);
  return test_summary();
}
