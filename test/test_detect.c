/* Collision detection: every pair of shapes at known places, ties, invariance, random fuzz against supports, broad
 * phase against all pairs, rays, overlaps. */
#include "check.h"
#include "detect/broad.h"
#include "detect/detect.h"
#include "random_pose.h"

#include <stdlib.h>
#include <string.h>

static ds_pose at(double x, double y, double z) { return (ds_pose){{x, y, z}, {1, 0, 0, 0}}; }
static ds_pose turned(double x, double y, double z, ds_vec3 axis, double degrees) {
  return (ds_pose){{x, y, z}, quat_axis_angle(axis, degrees * DS_PI / 180)};
}
static const ds_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static ds_shape plain(ds_shape_kind kind) {
  ds_shape s = {.kind = kind, .density = 1000};
  s.pose = s.pose_in_body = pose_identity();
  return s;
}
static ds_shape box(double x, double y, double z) {
  ds_shape s = plain(DS_SHAPE_BOX);
  s.half = v3(x, y, z);
  s.bounding_radius = v3_norm(s.half);
  CHECK(ds_hull_box(&s.hull, s.half) == DS_OK);
  return s;
}
static ds_shape round_shape(ds_shape_kind kind, double radius, double half_length) {
  ds_shape s = plain(kind);
  s.radius = radius;
  s.half_length = half_length;
  s.bounding_radius = kind == DS_SHAPE_HALF_SPACE ? INFINITY : radius + half_length;
  return s;
}
static ds_shape hull(const ds_vec3 *points, int32_t n) {
  ds_shape s = plain(DS_SHAPE_HULL);
  CHECK(ds_hull_build(&s.hull, points, n, NULL) == DS_OK);
  for (int32_t i = 0; i < n; i++) s.bounding_radius = fmax(s.bounding_radius, v3_norm(points[i]));
  return s;
}
static void release(ds_shape *s) { ds_hull_free(&s->hull); }

static ds_manifold m, m2; /* large: not on the stack of every test */

static double least_gap(const ds_manifold *f) {
  double least = INFINITY;
  for (int32_t i = 0; i < f->count; i++) least = fmin(least, f->gap[i]);
  return least;
}
/* The normal of the nearest point. */
static ds_vec3 least_normal(const ds_manifold *f) {
  int32_t k = 0;
  for (int32_t i = 1; i < f->count; i++)
    if (f->gap[i] < f->gap[k] - 1e-12) k = i;
  return f->normal[k];
}
static bool same_features(const ds_manifold *a, const ds_manifold *b) {
  if (a->count != b->count) return false;
  for (int32_t i = 0; i < a->count; i++) {
    bool found = false;
    for (int32_t j = 0; j < b->count; j++) found = found || a->feature[i] == b->feature[j];
    if (!found) return false;
  }
  return true;
}

/* Lowest n.x of a placed shape. */
static double low_of(const ds_shape *s, ds_pose p, ds_vec3 n) {
  ds_vec3 d = quat_unrotate(p.q, n);
  double at_p = v3_dot(n, p.p), least = INFINITY;
  switch (s->kind) {
    case DS_SHAPE_SPHERE:
      return at_p - s->radius;
    case DS_SHAPE_CAPSULE:
      return at_p - s->radius - s->half_length * fabs(d.z);
    case DS_SHAPE_CYLINDER:
      return at_p - s->radius * hypot(d.x, d.y) - s->half_length * fabs(d.z);
    case DS_SHAPE_HALF_SPACE:
      return d.z < -1 + 1e-9 ? at_p : -INFINITY;
    case DS_SHAPE_BOX:
    case DS_SHAPE_HULL:
      for (int32_t i = 0; i < s->hull.vertex_count; i++) least = fmin(least, v3_dot(d, s->hull.vertices[i]));
      return at_p + least;
    case DS_SHAPE_SOLID:
      break;
  }
  return 0;
}
static double separation(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, ds_vec3 n) {
  return low_of(a, pa, n) + low_of(b, pb, v3_neg(n));
}
/* The best separation over all directions: the distance, or minus the depth. */
static double brute_distance(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, const ds_vec3 *hint) {
  ds_vec3 best_n = hint ? *hint : Z;
  double best = separation(a, pa, b, pb, best_n);
  for (int i = 0; i < 400; i++) {
    ds_vec3 n = v3_unit(random_vec(1));
    double s = separation(a, pa, b, pb, n);
    if (s > best) {
      best = s;
      best_n = n;
    }
  }
  for (double radius = 0.3; radius > 1e-8; radius *= 0.7)
    for (int i = 0; i < 12; i++) {
      ds_vec3 n = v3_unit(v3_add(best_n, random_vec(radius)));
      double s = separation(a, pa, b, pb, n);
      if (s > best) {
        best = s;
        best_n = n;
      }
    }
  return best;
}

/* How much edges and rims of a shape are rounded for the choice of normals. */
static double rounding_of(const ds_shape *s) {
  if (s->kind == DS_SHAPE_CYLINDER) return fmin(1e-4, 0.005 * fmin(s->radius, s->half_length));
  return s->kind == DS_SHAPE_BOX || s->kind == DS_SHAPE_HULL ? s->hull.retreat : 0;
}

/* Narrow phase in both orders; the second must mirror the first. Where overlap is deeper than the rounding, ties
 * between directions may go either way. */
static void narrow(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, double reach) {
  ds_narrow(&m2, b, pb, a, pa, reach, 8);
  ds_narrow(&m, a, pa, b, pb, reach, 8);
  double gap = least_gap(&m);
  bool deep = gap < -rounding_of(a) - rounding_of(b);
  CHECK(m.count == m2.count || deep);
  if (m.count == 0 || m2.count == 0) return;
  CHECK_NEAR(gap, least_gap(&m2), deep ? -0.5 * gap : 1e-12);
  if (!deep) CHECK_LE(v3_norm(v3_add(least_normal(&m), least_normal(&m2))), 1e-9);
}
static void expect(int32_t count, double gap, ds_vec3 normal, int line) {
  int before = test_failures;
  CHECK(m.count == count);
  if (m.count > 0) CHECK_NEAR(least_gap(&m), gap, 1e-14);
  for (int32_t i = 0; i < m.count; i++) CHECK_LE(v3_dist(m.normal[i], normal), 1e-12);
  if (test_failures != before)
    printf("  from line %d: %d points, gap %g, normal %g %g %g\n", line, m.count, least_gap(&m), m.normal[0].x,
           m.normal[0].y, m.normal[0].z);
}
#define EXPECT(count, gap, normal) expect(count, gap, normal, __LINE__)

/* ---- known places ---- */

static void round_pairs(void) {
  ds_shape s = round_shape(DS_SHAPE_SPHERE, 0.5, 0), c = round_shape(DS_SHAPE_CAPSULE, 0.25, 1);
  ds_shape y = round_shape(DS_SHAPE_CYLINDER, 0.5, 1), b = box(1, 1, 0.5);
  const double gaps[3] = {0.125, 0, -0.125};
  for (int k = 0; k < 3; k++) {
    double g = gaps[k];
    narrow(&s, at(0, 0, 1 + g), &s, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    narrow(&s, at(0, 0, 1.75 + g), &c, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    narrow(&s, at(0.75 + g, 0, 0.3), &c, at(0, 0, 0), 0.2);
    EXPECT(1, g, X);
    narrow(&s, at(0.2, 0.1, 1.5 + g), &y, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    narrow(&s, at(1 + g, 0, 0.3), &y, at(0, 0, 0), 0.2);
    EXPECT(1, g, X);
    narrow(&s, at(0.3, 0.4, 1 + g), &b, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    narrow(&s, at(1 + (0.5 + g) * 0.6, 0, 0.5 + (0.5 + g) * 0.8), &b, at(0, 0, 0), 0.2);
    EXPECT(1, g, v3(0.6, 0, 0.8));
    /* capsules: crossed, parallel, end on */
    narrow(&c, turned(0, 0, 0.5 + g, X, 90), &c, turned(0, 0, 0, Y, 90), 0.2);
    EXPECT(1, g, Z);
    narrow(&c, turned(0.5, 0, 0.5 + g, Y, 90), &c, turned(0, 0, 0, Y, 90), 0.2);
    EXPECT(2, g, Z);
    narrow(&c, at(0, 0, 2.5 + g), &c, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    /* capsule lying and standing on a box, along its edge, hanging over */
    narrow(&c, turned(0, 0, 0.75 + g, Y, 90), &b, at(0, 0, 0), 0.2);
    EXPECT(2, g, Z);
    narrow(&c, turned(0.9, 0, 0.75 + g, Y, 90), &b, at(0, 0, 0), 0.2);
    EXPECT(2, g, Z);
    narrow(&c, at(0.3, 0.2, 1.75 + g), &b, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    narrow(&c, turned(0, 1 + 0.6 * (0.25 + g), 0.5 + 0.8 * (0.25 + g), Y, 90), &b, at(0, 0, 0), 0.2);
    EXPECT(2, g, v3(0, 0.6, 0.8));
    /* capsule against cylinder: on the cap, along the mantle, across it */
    narrow(&c, turned(0, 0, 1.25 + g, Y, 90), &y, at(0, 0, 0), 0.2);
    EXPECT(2, g, Z);
    narrow(&c, at(0.75 + g, 0, 0.5), &y, at(0, 0, 0), 0.2);
    EXPECT(2, g, X);
    narrow(&c, turned(0.75 + g, 0, 0.5, X, 90), &y, at(0, 0, 0), 0.2);
    EXPECT(1, g, X);
  }
  release(&b);
}

static void half_space_pairs(void) {
  ds_shape f = round_shape(DS_SHAPE_HALF_SPACE, 0, 0), s = round_shape(DS_SHAPE_SPHERE, 0.5, 0);
  ds_shape c = round_shape(DS_SHAPE_CAPSULE, 0.25, 1), y = round_shape(DS_SHAPE_CYLINDER, 0.5, 1), b = box(1, 2, 0.5);
  const double gaps[3] = {0.125, 0, -0.125};
  for (int k = 0; k < 3; k++) {
    double g = gaps[k];
    narrow(&s, at(1, 2, 0.5 + g), &f, at(0, 0, 0), 0.2);
    EXPECT(1, g, Z);
    narrow(&c, turned(1, 2, 0.25 + g, X, 90), &f, at(0, 0, 0), 0.2);
    EXPECT(2, g, Z);
    narrow(&b, at(1, 2, 0.5 + g), &f, at(0, 0, 0), 0.2);
    EXPECT(4, g, Z);
    narrow(&y, at(1, 2, 1 + g), &f, at(0, 0, 0), 0.2);
    EXPECT(8, g, Z);
    narrow(&y, turned(1, 2, 0.5 + g, X, 90), &f, at(0, 0, 0), 0.2);
    EXPECT(2, g, Z);
  }
  /* a tilted cylinder's lowest point is exact, wherever it is on the rim */
  for (int i = 0; i < 50; i++) {
    double tilt = pow(10, uniform(-5, 0)), spin = uniform(0, 7), g = uniform(-0.01, 0.01);
    ds_quat q =
        quat_mul(quat_axis_angle(Z, uniform(0, 7)), quat_mul(quat_exp(v3(tilt, 0, 0)), quat_axis_angle(Z, spin)));
    ds_pose p = {v3(0, 0, sin(tilt) * 0.5 + cos(tilt) + g), q};
    ds_narrow(&m, &y, p, &f, at(0, 0, 0), 0.02, 8);
    CHECK_NEAR(least_gap(&m), g, 1e-14);
  }
  /* tilted card: only the lower edge of the thin side is near */
  ds_shape card = box(0.03, 0.0015, 0.05);
  double a = 25 * DS_PI / 180;
  ds_pose p = turned(0, 0, 0.05 * cos(a) + 0.0015 * sin(a), X, 25);
  narrow(&card, p, &f, at(0, 0, 0), 1e-3);
  EXPECT(2, 0, Z);
  narrow(&card, p, &f, at(0, 0, 0), 2e-3);
  EXPECT(4, 0, Z);
  release(&card);
  release(&b);
}

static void box_on_box(void) {
  ds_shape b = box(0.1, 0.1, 0.1), plank = box(0.5, 0.05, 0.02);
  const double gaps[3] = {1e-3, 0, -1e-3};
  for (int k = 0; k < 3; k++) {
    double g = gaps[k];
    narrow(&b, at(0, 0, 0.2 + g), &b, at(0, 0, 0), 2e-3);
    EXPECT(4, g, Z);
    for (int32_t i = 0; i < m.count; i++) {
      CHECK_NEAR(m.gap[i], g, 1e-16);
      CHECK_NEAR(fabs(m.point[i].x), 0.1, 1e-15);
      CHECK_NEAR(m.point[i].z, 0.1 + g / 2, 1e-15);
    }
    narrow(&b, turned(0, 0, 0.2 + g, Z, 45), &b, at(0, 0, 0), 2e-3);
    EXPECT(8, g, Z);
    narrow(&b, at(0.05, 0.03, 0.2 + g), &b, at(0, 0, 0), 2e-3);
    EXPECT(4, g, Z);
    narrow(&plank, turned(0, 0, 0.04 + g, Z, 90), &plank, at(0, 0, 0), 2e-3);
    EXPECT(4, g, Z);
    for (int32_t i = 0; i < m.count; i++) CHECK_NEAR(fabs(m.point[i].x) + fabs(m.point[i].y), 0.1, 1e-15);
    /* vertex, edge on a face; crossed edges */
    ds_quat corner = quat_mul(quat_axis_angle(X, atan(1 / sqrt(2))), quat_axis_angle(Y, DS_PI / 4));
    narrow(&b, (ds_pose){v3(0.02, 0.01, 0.1 + 0.1 * sqrt(3) + g), corner}, &b, at(0, 0, 0), 2e-3);
    EXPECT(1, g, Z);
    narrow(&b, turned(0.02, 0.01, 0.1 + 0.1 * sqrt(2) + g, X, 45), &b, at(0, 0, 0), 2e-3);
    EXPECT(2, g, Z);
    ds_quat crossed = quat_mul(quat_axis_angle(Z, DS_PI / 2), quat_axis_angle(X, DS_PI / 4));
    narrow(&b, (ds_pose){v3(0, 0, 0.2 * sqrt(2) + g), crossed}, &b, turned(0, 0, 0, X, 45), 2e-3);
    EXPECT(1, g, Z);
  }
  narrow(&b, at(0, 0, 0.2 + 3e-3), &b, at(0, 0, 0), 2e-3);
  CHECK(m.count == 0);
  /* a narrow strip of overlap, narrower than the rounding, is still a face contact */
  narrow(&b, at(0.2 - 1e-4, 0, 0.2), &b, at(0, 0, 0), 1e-4);
  EXPECT(4, 0, Z);
  /* deep overlap: the least way out */
  narrow(&b, at(0.02, 0.15, 0.05), &b, at(0, 0, 0), 1e-3);
  EXPECT(4, -0.05, Y);
  release(&b);
  release(&plank);
}

static void leaning_cards(void) {
  ds_shape card = box(0.03, 0.0015, 0.05);
  for (double lean = 1; lean < 89; lean += 1.7)
    for (int k = -1; k <= 1; k++) {
      double a = lean * DS_PI / 180, gap = k * 1e-9;
      /* the inner top edges meet at y = 0: left card leans right, right card leans left */
      double y = sin(a) * 0.05 + cos(a) * 0.0015;
      ds_pose left = turned(0, -y - gap / 2, 0, X, -lean), right = turned(0.007, y + gap / 2, 0, X, lean);
      ds_narrow(&m, &card, left, &card, right, 1e-4, 8);
      CHECK(m.count == 2);
      for (int32_t i = 0; i < m.count; i++) {
        CHECK_LE(v3_dist(m.normal[i], v3(0, -1, 0)), 1e-8);
        CHECK_NEAR(m.gap[i], gap, 1e-15);
        CHECK_NEAR(fabs(m.point[i].x - 0.0035), 0.03 - 0.0035, 1e-12);
      }
      /* continuous: a small turn of one card turns the normal a little, and changes no feature */
      ds_pose moved = right;
      moved.p = v3_add(moved.p, random_vec(1e-10));
      moved.q = quat_mul(quat_exp(random_vec(1e-9)), moved.q);
      ds_narrow(&m2, &card, left, &card, moved, 1e-4, 8);
      CHECK(same_features(&m, &m2));
      CHECK_LE(v3_dist(m.normal[0], m2.normal[0]), 1e-3);
    }
  /* the normal turns continuously with the relative rotation */
  ds_vec3 last = {0, 0, 0};
  for (int i = 0; i <= 1000; i++) {
    double a = 25 * DS_PI / 180, b = (25 + i * 0.02) * DS_PI / 180;
    ds_pose left = turned(0, -(sin(a) * 0.05 + cos(a) * 0.0015), -cos(a) * 0.05 + sin(a) * 0.0015, X, -25);
    ds_pose right = turned(0, sin(b) * 0.05 + cos(b) * 0.0015, -cos(b) * 0.05 + sin(b) * 0.0015, X, 25 + i * 0.02);
    ds_narrow(&m, &card, left, &card, right, 1e-4, 8);
    CHECK(m.count == 2);
    CHECK_NEAR(m.gap[0], 0, 1e-15);
    if (i > 0) CHECK_LE(v3_dist(last, m.normal[0]), 2e-3);
    last = m.normal[0];
  }
  release(&card);
}

static void cylinder_pairs(void) {
  ds_shape y = round_shape(DS_SHAPE_CYLINDER, 0.1, 0.2), b = box(0.5, 0.5, 0.1);
  const double gaps[3] = {1e-3, 0, -1e-3};
  for (int k = 0; k < 3; k++) {
    double g = gaps[k];
    narrow(&y, at(0.1, 0.2, 0.3 + g), &b, at(0, 0, 0), 2e-3);
    EXPECT(8, g, Z);
    narrow(&y, turned(0, 0, 0.2 + g, X, 90), &b, at(0, 0, 0), 2e-3);
    EXPECT(2, g, Z);
    narrow(&y, turned(0.2, 0.1, 0.2 + g, v3(1, 1, 0), 90), &b, at(0, 0, 0), 2e-3);
    EXPECT(2, g, Z);
    /* lying across the rim of the box: the line is cut */
    narrow(&y, turned(0, 0.5, 0.2 + g, X, 90), &b, at(0, 0, 0), 2e-3);
    EXPECT(2, g, Z);
    CHECK_NEAR(fmax(m.point[0].y, m.point[1].y), 0.5, 1e-12);
    /* standing half over the rim: points of the rim and the box's side */
    narrow(&y, at(0.5, 0, 0.3 + g), &b, at(0, 0, 0), 2e-3);
    CHECK_NEAR(least_gap(&m), g, 1e-15);
    CHECK(m.count >= 4);
    /* tilted by 30 degrees on its rim */
    double t = DS_PI / 6;
    narrow(&y, turned(0, 0, 0.1 + 0.2 * cos(t) + 0.1 * sin(t) + g, X, 30), &b, at(0, 0, 0), 2e-3);
    CHECK_NEAR(least_gap(&m), g, 1e-15);
    /* cylinders: coaxial, shifted, crossed, side by side, standing on a lying one */
    narrow(&y, at(0, 0, 0.4 + g), &y, at(0, 0, 0), 2e-3);
    EXPECT(8, g, Z);
    narrow(&y, at(0.07, 0, 0.4 + g), &y, at(0, 0, 0), 2e-3);
    CHECK_NEAR(least_gap(&m), g, 1e-15);
    CHECK(m.count >= 4);
    narrow(&y, turned(0, 0, 0.2 + g, X, 90), &y, turned(0, 0, 0, Y, 90), 2e-3);
    EXPECT(1, g, Z);
    narrow(&y, at(0.2 + g, 0, 0.1), &y, at(0, 0, 0), 2e-3);
    EXPECT(2, g, X);
    narrow(&y, at(0, 0, 0.3 + g), &y, turned(0, 0, 0, X, 90), 2e-3);
    EXPECT(2, g, Z);
    /* a box's edge along and across the mantle; a box standing on a cap */
    narrow(&y, turned(0, 0, 0.1 + 0.3 * sqrt(2) * 2 - 0.6 * sqrt(2) + g + 0.1 * sqrt(2), Y, 90),
           &(ds_shape){.kind = DS_SHAPE_BOX, .hull = b.hull}, at(0, 0, -0.1 + 0.1 * sqrt(2)), 2e-3);
    EXPECT(2, g, Z);
    ds_shape cube = box(0.1, 0.1, 0.1);
    narrow(&y, turned(0, 0, 0.1 + 0.1 * sqrt(2) + g, Y, 90), &cube, turned(0, 0, 0, X, 45), 2e-3);
    EXPECT(2, g, Z);
    narrow(&y, turned(0, 0, 0.1 + 0.1 * sqrt(2) + g, X, 90), &cube, turned(0, 0, 0, X, 45), 2e-3);
    EXPECT(1, g, Z);
    narrow(&y, at(0, 0, -0.2 - 0.1 * sqrt(2) - g), &cube, turned(0, 0, 0, X, 45), 2e-3);
    EXPECT(2, g, v3(0, 0, -1));
    narrow(&cube, at(0.02, 0.03, 0.3 + g), &y, at(0, 0, 0), 2e-3);
    CHECK_NEAR(least_gap(&m), g, 1e-15);
    CHECK(m.count >= 4);
    release(&cube);
  }
  release(&b);
}

static void dense_patch(void) {
  ds_shape b = box(0.1, 0.2, 0.1);
  ds_narrow(&m, &b, turned(0, 0, 0.2, Z, 0), &b, at(0, 0, 0), 1e-3, 75);
  CHECK(m.count >= 65 && m.count <= 85);
  for (int32_t i = 0; i < m.count; i++) CHECK_NEAR(m.gap[i], 0, 1e-15);
  ds_narrow(&m2, &b, turned(1e-11, 1e-11, 0.2, Z, 1e-9), &b, at(0, 0, 0), 1e-3, 75);
  CHECK(same_features(&m, &m2));
  ds_narrow(&m, &b, turned(0.01, 0.02, 0.2, Z, 30), &b, at(0, 0, 0), 1e-3, 75);
  CHECK(m.count >= 60 && m.count <= 90);
  for (int32_t i = 0; i < m.count; i++)
    for (int32_t j = 0; j < i; j++) CHECK(m.feature[i] != m.feature[j] && v3_dist(m.point[i], m.point[j]) > 1e-4);
  ds_shape f = round_shape(DS_SHAPE_HALF_SPACE, 0, 0), y = round_shape(DS_SHAPE_CYLINDER, 0.1, 0.2);
  ds_narrow(&m, &b, at(0, 0, 0.1), &f, at(0, 0, 0), 1e-3, 75);
  CHECK(m.count >= 65 && m.count <= 85);
  ds_narrow(&m, &y, at(0, 0, 0.2), &f, at(0, 0, 0), 1e-3, 75);
  CHECK(m.count >= 65 && m.count <= 90);
  release(&b);
}

/* Hulls with many-sided faces keep at most 8 points by default, well spread. */
static void many_sided(void) {
  ds_vec3 p[64];
  for (int i = 0; i < 32; i++) {
    double a = 2 * DS_PI * i / 32;
    p[2 * i] = v3(cos(a), sin(a), -0.5);
    p[2 * i + 1] = v3(cos(a), sin(a), 0.5);
  }
  ds_shape drum = hull(p, 64), b = box(2, 2, 0.5);
  ds_narrow(&m, &drum, at(0, 0, 1), &b, at(0, 0, 0), 1e-3, 8);
  CHECK(m.count == 8);
  for (int32_t i = 0; i < m.count; i++)
    for (int32_t j = 0; j < i; j++) CHECK(v3_dist(m.point[i], m.point[j]) > 0.5);
  ds_narrow(&m2, &drum, turned(1e-12, 0, 1 + 1e-12, X, 1e-11), &b, at(0, 0, 0), 1e-3, 8);
  CHECK(same_features(&m, &m2));
  release(&drum);
  release(&b);
}

/* ---- all pairs at random ---- */

static ds_shape random_shape(int kind) {
  ds_vec3 p[24];
  switch (kind) {
    case 0:
      return round_shape(DS_SHAPE_SPHERE, uniform(0.05, 1), 0);
    case 1:
      return box(uniform(0.05, 1), uniform(0.05, 1), uniform(0.05, 1));
    case 2:
      return round_shape(DS_SHAPE_CAPSULE, uniform(0.05, 1), uniform(0.05, 1));
    case 3:
      return round_shape(DS_SHAPE_CYLINDER, uniform(0.05, 1), uniform(0.05, 1));
    case 4:
      for (int i = 0; i < 24; i++) p[i] = v3_mul(random_vec(1), v3(1, 0.7, 0.4));
      return hull(p, 24);
    default:
      return round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  }
}

static const char *const names[6] = {"sphere", "box", "capsule", "cylinder", "hull", "half-space"};

/* Moves b along the line of centres until the true distance is about `wanted`. */
static void place_at_distance(ds_pose *pa, ds_pose *pb, const ds_shape *a, const ds_shape *b, double wanted) {
  ds_vec3 d = v3_unit(random_vec(1));
  *pa = (ds_pose){random_vec(1), random_quat()};
  *pb = (ds_pose){v3_mad(pa->p, b->kind == DS_SHAPE_HALF_SPACE ? 0 : 4, d), random_quat()};
  if (b->kind == DS_SHAPE_HALF_SPACE) {
    ds_vec3 n = quat_rotate(pb->q, Z);
    pb->p = v3_mad(pb->p, low_of(a, *pa, n) - v3_dot(n, pa->p) - wanted, n);
    return;
  }
  /* bisect along d: the distance grows with the shift */
  double low = 0, high = 6;
  for (int i = 0; i < 30; i++) {
    double s = 0.5 * (low + high);
    pb->p = v3_mad(pa->p, s, d);
    if (brute_distance(a, *pa, b, *pb, NULL) < wanted)
      low = s;
    else
      high = s;
  }
}

static void check_points(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, double reach) {
  for (int32_t i = 0; i < m.count; i++) {
    CHECK(v3_finite(m.point[i]) && isfinite(m.gap[i]) && m.gap[i] < reach);
    CHECK_NEAR(v3_norm(m.normal[i]), 1, 1e-12);
    /* no point is nearer than the bodies are along its normal */
    CHECK_LE(separation(a, pa, b, pb, m.normal[i]) - m.gap[i], 1e-9);
    for (int32_t j = 0; j < i; j++) CHECK(m.feature[i] != m.feature[j]);
  }
}

static void fuzz(void) {
  int flips = 0, total = 0;
  for (int ka = 0; ka < 6; ka++)
    for (int kb = ka; kb < 6; kb++) {
      if (ka == 5) continue;
      double worst = 0, worst_gap = 0, worst_deep = 0, worst_turn = 0;
      int missing = 0;
      for (int trial = 0; trial < 60; trial++) {
        ds_shape a = random_shape(ka), b = random_shape(kb);
        ds_pose pa, pb;
        double wanted = trial % 3 == 0   ? uniform(0.001, 0.1)
                        : trial % 3 == 1 ? uniform(-0.003, 0.003)
                                         : uniform(-0.1, -0.01);
        place_at_distance(&pa, &pb, &a, &b, wanted);
        double reach = 0.2;
        narrow(&a, pa, &b, pb, reach);
        check_points(&a, pa, &b, pb, reach);
        total++;
        missing += m.count == 0;
        if (m.count > 0) {
          ds_vec3 n = least_normal(&m);
          double true_distance = kb == 5 ? separation(&a, pa, &b, pb, n) : brute_distance(&a, pa, &b, pb, &n);
          double along = separation(&a, pa, &b, pb, n), skin = rounding_of(&a) + rounding_of(&b);
          /* balls inside a cylinder go out the nearest way, whatever the rest of the capsule does */
          if (ka == 2 && kb == 3 && least_gap(&m) < -a.radius) along = true_distance;
          double loss = true_distance - along, allowed = 2 * skin + 1e-7;
          if (true_distance > -2 * skin) {
            worst = fmax(worst, loss / allowed);
            worst_gap = fmax(worst_gap, (least_gap(&m) - along) / allowed);
          } else {
            worst_deep = fmax(worst_deep, fmax(loss, least_gap(&m) - along) / -true_distance);
          }
        }
        /* the same after a rigid motion of the whole pair */
        double gap = least_gap(&m);
        ds_pose move = {random_vec(3), random_quat()};
        ds_narrow(&m2, &a, pose_mul(move, pa), &b, pose_mul(move, pb), reach, 8);
        if (m.count > 0 && m2.count > 0 && (gap > -1e-5 || (ka != 3 && kb != 3))) {
          worst_turn = fmax(worst_turn, fabs(least_gap(&m2) - gap));
        }
        /* a tiny motion changes no feature, but for rare coincidences */
        ds_pose nudged = {v3_add(pb.p, random_vec(1e-10)), quat_mul(quat_exp(random_vec(1e-10)), pb.q)};
        ds_narrow(&m2, &a, pa, &b, nudged, reach, 8);
        flips += !same_features(&m, &m2);
        release(&a);
        release(&b);
      }
      CHECK(missing == 0);
      CHECK_LE(worst, 1);
      CHECK_LE(worst_gap, 3);
      CHECK_LE(worst_deep, ka == 3 || kb == 3 ? 1.5 : 0.5);
      CHECK_LE(worst_turn, 1e-12);
      if (getenv("DS_VERBOSE"))
        printf("%s-%s: normal %.3f gap %.3f of the rounding; deep %.3f of the depth; turn %.1e; missing %d\n",
               names[ka], names[kb], worst, worst_gap, worst_deep, worst_turn, missing);
    }
  CHECK_LE(flips, total / 200);
}

/* Persistence where it matters: resting contacts with exact ties, nudged by 1e-12 and 1e-10. */
static void persistence(void) {
  ds_shape cube = box(0.1, 0.1, 0.1), brick = box(0.2, 0.1, 0.05), y = round_shape(DS_SHAPE_CYLINDER, 0.1, 0.1);
  ds_shape f = round_shape(DS_SHAPE_HALF_SPACE, 0, 0), c = round_shape(DS_SHAPE_CAPSULE, 0.1, 0.2);
  struct {
    const ds_shape *a, *b;
    ds_pose pa, pb;
  } cases[] = {
      {&cube, &cube, at(0, 0, 0.2), at(0, 0, 0)},
      {&cube, &cube, turned(0, 0, 0.2, Z, 45), at(0, 0, 0)},
      {&cube, &cube, turned(0, 0, 0.2, Z, 90), at(0, 0, 0)},
      {&brick, &brick, at(0.2, 0, 0.1), at(0, 0, 0)},
      {&brick, &cube, at(0.1, 0, 0.15), at(0, 0, 0)},
      {&cube, &cube, at(0.2, 0, 0.2), at(0, 0, 0)},
      {&cube, &f, at(0, 0, 0.1), at(0, 0, 0)},
      {&y, &f, at(0, 0, 0.1), at(0, 0, 0)},
      {&y, &cube, at(0, 0, 0.2), at(0, 0, 0)},
      {&y, &y, at(0, 0, 0.2), at(0, 0, 0)},
      {&y, &cube, turned(0, 0, 0.2, X, 90), at(0, 0, 0)},
      {&y, &f, turned(0, 0, 0.1, X, 90), at(0, 0, 0)},
      {&y, &y, at(0.2, 0, 0), at(0, 0, 0)},
      {&c, &cube, turned(0, 0, 0.2, X, 90), at(0, 0, 0)},
      {&c, &c, turned(0, 0, 0.2, X, 90), turned(0, 0, 0, X, 90)},
      {&cube, &cube, turned(0, 0, 0.1 + 0.1 * sqrt(2), X, 45), at(0, 0, 0)},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    for (int trial = 0; trial < 60; trial++) {
      ds_pose move = trial < 20 ? pose_identity() : (ds_pose){random_vec(2), random_quat()};
      ds_pose pa = pose_mul(move, cases[k].pa), pb = pose_mul(move, cases[k].pb), pc = pa;
      double size = trial % 2 ? 1e-10 : 1e-12;
      pc.p = v3_add(pc.p, random_vec(size));
      pc.q = quat_mul(quat_exp(random_vec(size)), pc.q);
      ds_narrow(&m, cases[k].a, pa, cases[k].b, pb, 1e-3, 8);
      ds_narrow(&m2, cases[k].a, pc, cases[k].b, pb, 1e-3, 8);
      int before = test_failures;
      CHECK(m.count > 0);
      CHECK(same_features(&m, &m2));
      CHECK_LE(v3_dist(m.normal[0], m2.normal[0]), 1e-5);
      for (int32_t i = 0; i < m.count; i++) {
        CHECK_NEAR(m.gap[i], 0, 2e-15);
        for (int32_t j = 0; j < m2.count; j++)
          if (m.feature[i] == m2.feature[j]) CHECK_LE(v3_dist(m.point[i], m2.point[j]), 1e-4);
      }
      if (test_failures != before) printf("  case %zu trial %d: %d and %d points\n", k, trial, m.count, m2.count);
    }
  release(&cube);
  release(&brick);
}

/* ---- whole scenes ---- */

static void broad_is_all_pairs(void) {
  for (int trial = 0; trial < 60; trial++) {
    int32_t n = trial < 2 ? trial : (int32_t)uniform(2, 400);
    ds_box *boxes = calloc((size_t)n + 1, sizeof *boxes);
    bool *moving = calloc((size_t)n + 1, sizeof *moving);
    for (int32_t i = 0; i < n; i++) {
      ds_vec3 c = random_vec(3), e = v3_scale(pow(10, trial % 3 == 0 ? 0 : uniform(-3, 1)),
                                              v3(uniform(0, 1), uniform(0, 1), uniform(0, 1)));
      boxes[i] = (ds_box){v3_sub(c, e), v3_add(c, e)};
      moving[i] = uniform(0, 1) > 0.2;
      if (i % 97 == 5) boxes[i] = (ds_box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
      if (i % 89 == 7) boxes[i] = (ds_box){{1, 1, 1}, {0, 0, 0}};
      if (i % 83 == 9) boxes[i].high.x = NAN;
    }
    ds_arena arena = {0};
    ds_box_pair *pairs = NULL;
    int32_t count = 0, k = 0;
    CHECK(ds_broad_pairs(&arena, &pairs, &count, boxes, moving, n));
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = i + 1; j < n; j++) {
        const ds_box *a = &boxes[i], *b = &boxes[j];
        bool empty = !(a->low.x <= a->high.x && b->low.x <= b->high.x);
        bool meet = a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
                    a->low.z <= b->high.z && b->low.z <= a->high.z;
        if (empty || !meet || !(moving[i] || moving[j])) continue;
        CHECK(k < count && pairs[k].a == i && pairs[k].b == j);
        k++;
      }
    CHECK(k == count);
    ds_arena_free(&arena);
    free(boxes);
    free(moving);
  }
}

typedef struct world {
  ds_scene scene;
  ds_state state;
  ds_shape shapes[2100];
} world;

/* A body of one shape, made by hand. */
static void add_body(world *w, ds_body_kind kind, ds_shape shape, ds_pose pose) {
  int32_t i = w->scene.body_count++;
  w->state.body_count = w->scene.body_count;
  w->shapes[i] = shape;
  w->scene.bodies[i] = (ds_body){.kind = kind, .shapes = &w->shapes[i], .shape_count = 1};
  w->scene.bodies[i].bounding_radius = shape.bounding_radius;
  w->state.bodies[i] = (ds_body_state){.x = pose.p, .q = pose.q};
}
static world *new_world(void) {
  world *w = calloc(1, sizeof *w);
  w->scene.def.gravity = v3(0, 0, -9.81);
  w->scene.bodies = calloc(2100, sizeof *w->scene.bodies);
  w->state.bodies = calloc(2100, sizeof *w->state.bodies);
  w->state.scene = &w->scene;
  return w;
}
static void free_world(world *w) {
  for (int32_t i = 0; i < w->scene.body_count; i++) release(&w->shapes[i]);
  free(w->scene.bodies);
  free(w->state.bodies);
  free(w);
}

static void whole_scene(void) {
  world *w = new_world();
  add_body(w, DS_BODY_STATIC, round_shape(DS_SHAPE_HALF_SPACE, 0, 0), at(0, 0, 0));
  add_body(w, DS_BODY_STATIC, box(1, 1, 0.1), at(0, 0, 0)); /* touches the ground: both static */
  add_body(w, DS_BODY_DYNAMIC, box(0.1, 0.1, 0.1), at(0, 0, 0.2));
  add_body(w, DS_BODY_DYNAMIC, box(0.1, 0.1, 0.1), at(0, 0, 0.4));
  add_body(w, DS_BODY_DYNAMIC, box(0.1, 0.1, 0.1), at(0.2, 0, 0.2));
  add_body(w, DS_BODY_DYNAMIC, round_shape(DS_SHAPE_SPHERE, 0.1, 0), at(3, 0, 0.1));
  add_body(w, DS_BODY_DYNAMIC, round_shape(DS_SHAPE_SPHERE, 0.1, 0), at(3, 0, 5));
  add_body(w, DS_BODY_DYNAMIC, round_shape(DS_SHAPE_SPHERE, 0.1, 0), at(3, 0, 0.1)); /* held */
  w->scene.bodies[7].def.release_time = 1;
  ds_detect_options options = {.step = 0.01, .contacts_per_face = 8};
  ds_arena arena = {0};
  ds_contact_list list;
  CHECK(ds_detect(&arena, &list, &w->scene, &w->state, &options) == DS_OK);
  int pairs[8][8] = {{0}};
  for (int32_t i = 0; i < list.count; i++) {
    const ds_contact_point *p = &list.points[i];
    pairs[p->a][p->b]++;
    CHECK(p->a < p->b);
    if (i > 0) {
      const ds_contact_point *o = p - 1;
      CHECK(o->a < p->a || (o->a == p->a && (o->b < p->b || (o->b == p->b && o->feature < p->feature))));
    }
  }
  CHECK(pairs[1][2] == 4 && pairs[2][3] == 4 && pairs[2][4] == 4 && pairs[1][4] == 4 && pairs[0][5] == 1);
  CHECK(pairs[0][1] == 0 && pairs[0][6] == 0 && pairs[0][7] == 0 && pairs[5][7] == 0 && pairs[3][4] == 2);
  /* a sphere is seen as early as it moves, up to its own size; faster ones are stopped on their way (test_sweep) */
  static const double heights[3] = {0.45, 0.45, 5}, speeds[3] = {-10, -1, -600};
  for (int k = 0; k < 3; k++) {
    w->state.bodies[6].x.z = heights[k];
    w->state.bodies[6].v = v3(0, 0, speeds[k]);
    CHECK(ds_detect(&arena, &list, &w->scene, &w->state, &options) == DS_OK);
    int found = 0;
    for (int32_t i = 0; i < list.count; i++) found += list.points[i].a == 5 && list.points[i].b == 6;
    CHECK(found == (k == 0));
  }
  ds_body_id a, b;
  CHECK_NEAR(ds_state_deepest_overlap(&w->scene, &w->state, &a, &b), 0, 1e-15);
  w->state.bodies[5].x.z = 0.07;
  CHECK_NEAR(ds_state_deepest_overlap(&w->scene, &w->state, &a, &b), 0.03, 1e-15);
  CHECK(a.index1 == 1 && b.index1 == 6);
  ds_ray_hit hit = ds_state_ray_cast(&w->scene, &w->state, v3(0.01, 0.02, 3), v3(0, 0, -2), 10);
  CHECK(hit.body.index1 == 4);
  CHECK_NEAR(hit.distance, 2.5, 1e-14);
  CHECK_NEAR(hit.normal.z, 1, 1e-15);
  CHECK(ds_state_ray_cast(&w->scene, &w->state, v3(0.01, 0.02, 3), v3(0, 0, -2), 1).body.index1 == 0);
  CHECK(ds_state_ray_cast(&w->scene, &w->state, v3(0.01, 0.02, 3), v3(0, 0, 0), 1).body.index1 == 0);
  ds_arena_free(&arena);
  free_world(w);
}

/* At least the contacts of all pairs of bodies one by one. */
static void detect_is_all_pairs(void) {
  world *w = new_world();
  add_body(w, DS_BODY_STATIC, box(20, 20, 1), at(0, 0, -2.5));
  for (int i = 0; i < 300; i++) {
    add_body(w, i % 10 ? DS_BODY_DYNAMIC : DS_BODY_STATIC, random_shape(i % 5),
             (ds_pose){random_vec(3), random_quat()});
    w->state.bodies[i + 1].v = random_vec(3);
    w->state.bodies[i + 1].w = random_vec(5);
  }
  ds_detect_options options = {.step = 0.01, .margin = 1e-3, .contacts_per_face = 8};
  ds_arena arena = {0};
  ds_contact_list list;
  CHECK(ds_detect(&arena, &list, &w->scene, &w->state, &options) == DS_OK);
  int32_t k = 0;
  for (int32_t i = 0; i <= 300; i++)
    for (int32_t j = i + 1; j <= 300; j++) {
      const ds_body *a = &w->scene.bodies[i], *b = &w->scene.bodies[j];
      if (a->kind != DS_BODY_DYNAMIC && b->kind != DS_BODY_DYNAMIC) continue;
      const ds_body_state *sa = &w->state.bodies[i], *sb = &w->state.bodies[j];
      bool ma = a->kind == DS_BODY_DYNAMIC, mb = b->kind == DS_BODY_DYNAMIC;
      ds_vec3 va = ma ? sa->v : v3(0, 0, 0), vb = mb ? sb->v : v3(0, 0, 0);
      double reach = 1e-3 + 0.01 * 0.01 * 9.81 + 2 * 0.01 * v3_dist(va, vb);
      if (ma) reach += 2 * 0.01 * v3_norm(sa->w) * a->bounding_radius;
      if (mb) reach += 2 * 0.01 * v3_norm(sb->w) * b->bounding_radius;
      ds_narrow(&m, &w->shapes[i], (ds_pose){sa->x, sa->q}, &w->shapes[j], (ds_pose){sb->x, sb->q}, reach, 8);
      /* the list may look further ahead, where motion is passed on: count what is within the plain reach */
      int32_t here = 0, all = 0;
      for (; k < list.count && list.points[k].a == i && list.points[k].b == j; k++, all++)
        here += list.points[k].gap < reach;
      CHECK(here == m.count || fabs(least_gap(&m) - reach) < 1e-9 || (all >= 8 && here > 0));
    }
  CHECK(k == list.count);
  ds_arena_free(&arena);
  free_world(w);
}

static void compound(void) {
  world *w = new_world();
  add_body(w, DS_BODY_STATIC, round_shape(DS_SHAPE_HALF_SPACE, 0, 0), at(0, 0, 0));
  add_body(w, DS_BODY_DYNAMIC, box(0.1, 0.1, 0.1), at(0, 0, 0.1));
  ds_shape two[2] = {box(0.1, 0.1, 0.1), box(0.1, 0.1, 0.1)};
  two[0].pose.p = v3(-0.3, 0, 0);
  two[1].pose.p = v3(0.3, 0, 0);
  w->scene.bodies[1].shapes = two;
  w->scene.bodies[1].shape_count = 2;
  w->scene.bodies[1].bounding_radius = 0.5;
  ds_detect_options options = {.step = 0.01, .contacts_per_face = 8};
  ds_arena arena = {0};
  ds_contact_list list;
  CHECK(ds_detect(&arena, &list, &w->scene, &w->state, &options) == DS_OK);
  CHECK(list.count == 8);
  for (int32_t i = 0; i < list.count; i++) {
    CHECK((list.points[i].feature >> 32) == (uint64_t)(i / 4));
    CHECK_NEAR(list.points[i].normal.z, -1, 1e-15);
    CHECK_NEAR(list.points[i].gap, 0, 1e-16);
  }
  ds_arena_free(&arena);
  release(&two[0]);
  release(&two[1]);
  free_world(w);
}

static void rays(void) {
  ds_vec3 p[24], n;
  for (int i = 0; i < 24; i++) p[i] = random_vec(1);
  ds_shape shapes[6] = {
      round_shape(DS_SHAPE_SPHERE, 0.5, 0),     box(0.3, 0.4, 0.5), round_shape(DS_SHAPE_CAPSULE, 0.3, 0.5),
      round_shape(DS_SHAPE_CYLINDER, 0.3, 0.5), hull(p, 24),        round_shape(DS_SHAPE_HALF_SPACE, 0, 0)};
  ds_shape dot = round_shape(DS_SHAPE_SPHERE, 1e-9, 0);
  for (int k = 0; k < 6; k++)
    for (int trial = 0; trial < 200; trial++) {
      ds_pose pose = {random_vec(1), random_quat()};
      ds_vec3 o = v3_mad(pose.p, 3, v3_unit(random_vec(1))), target = v3_add(pose.p, random_vec(0.4));
      ds_vec3 d = v3_unit(v3_sub(target, o));
      double t = ds_shape_ray(&n, &shapes[k], pose, o, d, 100);
      if (t < 0) continue;
      /* the point is on the surface, and the normal is the surface's */
      CHECK_NEAR(v3_norm(n), 1, 1e-12);
      ds_narrow(&m, &dot, (ds_pose){v3_mad(o, t, d), quat_identity()}, &shapes[k], pose, 1e-3, 8);
      CHECK(m.count == 1);
      CHECK_NEAR(least_gap(&m), 0, 1e-8);
      /* seen from inside */
      double back = ds_shape_ray(&n, &shapes[k], pose, v3_mad(o, t + 1e-6, d), v3_neg(d), 100);
      if (v3_dot(n, d) < -0.1) CHECK_NEAR(back, 1e-6, 1e-9);
      ds_vec3 low, high, x = v3_mad(o, t, d);
      ds_shape_bounds(&low, &high, &shapes[k], pose);
      CHECK(low.x <= x.x + 1e-9 && x.x <= high.x + 1e-9 && low.z <= x.z + 1e-9 && x.z <= high.z + 1e-9);
    }
  for (int k = 0; k < 5; k++)
    for (int trial = 0; trial < 50; trial++) {
      /* boxes are tight */
      ds_pose pose = {random_vec(1), random_quat()};
      ds_vec3 low, high;
      ds_shape_bounds(&low, &high, &shapes[k], pose);
      CHECK_NEAR(low.y, low_of(&shapes[k], pose, Y), 1e-14);
      CHECK_NEAR(high.x, -low_of(&shapes[k], pose, v3_neg(X)), 1e-14);
    }
  release(&shapes[1]);
  release(&shapes[4]);
}

int main(void) {
  seed = 3;
  RUN(round_pairs);
  RUN(half_space_pairs);
  RUN(box_on_box);
  RUN(leaning_cards);
  RUN(cylinder_pairs);
  RUN(dense_patch);
  RUN(many_sided);
  RUN(persistence);
  RUN(fuzz);
  RUN(broad_is_all_pairs);
  RUN(whole_scene);
  RUN(detect_is_all_pairs);
  RUN(compound);
  RUN(rays);
  return test_summary();
}
