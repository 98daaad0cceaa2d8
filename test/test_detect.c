/* The narrow phase: every pair of shapes at known places, ties, invariance, random fuzz against supports. */
#include <stdlib.h>

#include "detect/pairs.h"
#include "detect_helper.h"

static ds_manifold m, m2; /* large: not on the stack of every test */

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
  double gap = least_gap(&m), rounded = rounding_of(a) + rounding_of(b);
  bool deep = gap < -rounded;
  CHECK(m.count == m2.count || deep);
  if (m.count == 0 || m2.count == 0) return;
  CHECK_NEAR(gap, least_gap(&m2), deep ? -0.5 * gap : 1e-12);
  if (deep) return;
  CHECK_LE(v3_norm(v3_add(least_normal(&m), least_normal(&m2))), 1e-9);
  /* the point is in the middle between the two */
  ds_vec3 n = least_normal(&m);
  for (int32_t i = 0; i < m.count; i++)
    if (m.gap[i] == gap && gap > 0) CHECK_NEAR(v3_dot(n, m.point[i]), low_of(a, pa, n) - 0.5 * gap, 1e-12 + rounded);
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
    narrow(&c, turned(0.5, 0, 0.5 + g, Y, 90), &c, turned(0, 0, 0, Y, -90), 0.2);
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

static const char *const names[6] = {"sphere", "box", "capsule", "cylinder", "hull", "half-space"};

/* Moves b along the line of centres until the true distance is about `wanted`. */
static void place_at_distance(ds_pose *pa, ds_pose *pb, const ds_shape *a, const ds_shape *b, double wanted) {
  ds_vec3 d = v3_unit(random_vec(1));
  *pa = random_pose(1);
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
        ds_pose move = random_pose(3);
        ds_narrow(&m2, &a, pose_mul(move, pa), &b, pose_mul(move, pb), reach, 8);
        if (m.count > 0 && m2.count > 0 && (gap > -1e-5 || (ka != 3 && kb != 3))) {
          worst_turn = fmax(worst_turn, fabs(least_gap(&m2) - gap));
        }
        /* a tiny motion changes no feature, but for rare coincidences */
        ds_vec3 push = random_vec(1e-10), turn = random_vec(1e-10);
        ds_pose nudged = {v3_add(pb.p, push), quat_mul(quat_exp(turn), pb.q)};
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
      ds_pose move = trial < 20 ? pose_identity() : random_pose(2);
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

/* A box by its formula and by its faces and edges: the same distances, inside, outside and between; the same normals
 * but where two faces are as near as each other. */
static void box_distance(void) {
  ds_shape b = box(0.3, 0.2, 0.1);
  for (int i = 0; i < 20000; i++) {
    ds_vec3 x = random_vec(0.6), n, n2;
    if (i % 4 == 1) x.x = 0.3;
    if (i % 4 == 2) x = v3(0.3, i % 8 < 4 ? 0.2 : -0.2, x.z);
    if (i % 4 == 3) x.z = copysign(0.1 + 1e-13, x.z);
    double d = ds_box_distance(&n, b.half, x), d2 = ds_hull_distance(&n2, &b.hull, x);
    CHECK_NEAR(d, d2, 1e-9);
    CHECK_NEAR(v3_norm(n), 1, 1e-12);
    /* either is the direction in which the distance grows by as much */
    ds_vec3 ignored;
    CHECK_NEAR(ds_box_distance(&ignored, b.half, v3_mad(x, 1e-6, n)) - d, 1e-6, 1e-8);
    if (d > 1e-6) CHECK_NEAR(v3_dist(n, n2), 0, 1e-6);
  }
  release(&b);
}

/* ---- segments ---- */

/* The stretch that two nearly parallel segments share: the same whichever way either runs, no farther apart sideways
 * than allowed, and not to be made longer. */
static void shared_stretches(void) {
  const double lateral = 0.02;
  int stretches = 0, cut = 0;
  for (int i = 0; i < 300; i++) {
    ds_vec3 along = v3(1, uniform(-0.04, 0.04), 0), middle = v3(uniform(-0.5, 0.5), uniform(-0.02, 0.02), -0.1);
    ds_segment a = {{-1, 0, 0}, {1, 0, 0}}, b = {v3_sub(middle, along), v3_add(middle, along)}, back = {b.b, b.a};
    double s[2], t[2], s2[2], t2[2], slope = fabs(along.y) / hypot(1, along.y);
    int count = ds_segment_overlap(s, t, &a, &b, Z, lateral),
        count2 = ds_segment_overlap(s2, t2, &a, &back, Z, lateral);
    CHECK(count == count2);
    for (int k = 0; k < count && k < count2; k++) {
      CHECK_NEAR(s[k], s2[k], 1e-12);
      CHECK_NEAR(t[k], 1 - t2[k], 1e-12);
    }
    if (count != 2) continue;
    double limit = lateral * (1 - slope / 0.1), beside[2];
    for (int k = 0; k < 2; k++) {
      ds_vec3 apart = v3_sub(ds_segment_at(&a, s[k]), ds_segment_at(&b, t[k]));
      beside[k] = fabs(apart.y);
      CHECK_LE(beside[k], limit * (1 + 1e-3) + 1e-12); /* sideways is across the mean direction */
      CHECK_LE(fabs(apart.x), 0.05 * lateral);         /* opposite each other */
      bool ends = s[k] < 1e-9 || s[k] > 1 - 1e-9 || t[k] < 1e-9 || t[k] > 1 - 1e-9;
      CHECK(ends || beside[k] > limit * (1 - 1e-3));
      cut += !ends;
    }
    stretches++;
  }
  printf("     %d stretches, %d ends cut sideways\n", stretches, cut);
  CHECK(stretches > 100 && cut > 50);
}

/* A capsule whose axis is below an edge of a cube, across it, goes out over that edge: each of the twelve. */
static void capsule_below_edge(void) {
  const double half = 0.1, radius = 0.02, depth = 0.012;
  ds_shape b = box(half, half, half), c = round_shape(DS_SHAPE_CAPSULE, radius, 0.3);
  for (int axis = 0; axis < 3; axis++)
    for (int corner = 0; corner < 4; corner++)
      for (int flip = 0; flip < 2; flip++) {
        double out[3] = {0, 0, 0}, across[3] = {0, 0, 0};
        int u = (axis + 1) % 3, w = (axis + 2) % 3;
        out[u] = corner & 1 ? 1 : -1, out[w] = corner & 2 ? 1 : -1;
        across[u] = out[u], across[w] = -out[w];
        ds_vec3 n = v3_unit(v3(out[0], out[1], out[2]));
        ds_vec3 d = v3_scale(flip ? -1 : 1, v3_unit(v3(across[0], across[1], across[2])));
        ds_pose pose = {v3_scale(sqrt(2) * half - depth, n), quat_unit(quat(1 + d.z, -d.y, d.x, 0))};
        ds_narrow(&m, &c, pose, &b, at(0, 0, 0), 0.01, 8);
        EXPECT(1, -depth - radius, n);
      }
  release(&b);
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
  RUN(box_distance);
  RUN(fuzz);
  RUN(shared_stretches);
  RUN(capsule_below_edge);
  return test_summary();
}
