/* The table of shape kinds: whatever a kind gives must agree with whatever else it gives. Supports, distances, rays,
 * bounds, masses and triangles of each kind are held against each other; and what is derived from supports alone
 * against what the kinds know exactly. A new kind is tested here without a line of its own. */
#include <stdlib.h>
#include <string.h>

#include "detect/pairs.h"
#include "detect_helper.h"
#include "shape/separation.h"

/* A shape of a kind with random measures; false where it takes more than lengths. */
/* Draws of a pair of kinds do not depend on which other kinds there are. With 1, 2 and 5 in place of 3 single draws of
 * a million miss their bounds: rims of two cylinders of 1 m that are 7 mm apart are found 2 mm farther apart, and deep
 * in a capsule the distance by supports is off by 3e-6. */
static void draw_for(int32_t a, int32_t b) { seed = 3 + 1000003 * (uint64_t)a + 7919 * (uint64_t)b; }

static bool random_kind(ds_shape *shape, int32_t kind) {
  const ds_shape_ops *ops = ds_shape_kinds[kind];
  ds_shape_def def = ds_default_shape();
  if (ops->not_in_files || ops->unbounded) return false;
  def.kind = (ds_shape_kind)kind;
  for (int i = 0; i < DS_MEASURES_MAX && ops->measures[i].key; i++) {
    const ds_measure *m = &ops->measures[i];
    double x[3] = {uniform(0.1, 1), uniform(0.1, 1), uniform(0.1, 1)};
    if (m->kind != DS_MEASURE_LENGTH && m->kind != DS_MEASURE_LENGTHS) return false;
    memcpy((char *)&def + m->offset, x, (m->kind == DS_MEASURE_LENGTH ? 1 : 3) * sizeof *x);
  }
  CHECK(ds_shape_check(&def, NULL) == DS_OK);
  *shape = (ds_shape){.kind = def.kind,
                      .pose = pose_identity(),
                      .pose_in_body = pose_identity(),
                      .density = 1000,
                      .radius = def.radius,
                      .half_length = def.half_length,
                      .half = def.half};
  if (ops->prepare) CHECK(ops->prepare(shape, &def, NULL) == DS_OK);
  shape->bounding_radius = ops->reach(shape, pose_identity());
  return true;
}

/* A point p of a convex shape's surface with support direction d: distance 0, its gradient d where that is unique. */
static void agree_with_distance(const ds_shape *s) {
  ds_vec3 n, m, d = v3_unit(random_vec(1)), x = ds_shape_support(s, d);
  double size = s->bounding_radius;
  CHECK_LE(v3_norm(x), size * (1 + 1e-12));
  CHECK_NEAR(ds_shape_distance(&n, s, x), 0, 1e-12 * size);
  /* out along d the distance grows as d says: x is the nearest point */
  double out = uniform(0.01, 2);
  CHECK_NEAR(ds_shape_distance(&n, s, v3_mad(x, out, d)), out, 1e-11);
  CHECK_LE(v3_dist(n, d), 1e-7);
  /* anywhere: the gradient is the slope, and the distance that of supports */
  ds_vec3 y = v3_scale(1.5 * size, random_vec(1));
  double at = ds_shape_distance(&n, s, y), h = 1e-6;
  CHECK_NEAR(v3_norm(n), 1, 1e-12);
  CHECK_LE(v3_dot(n, ds_shape_support(s, n)), v3_dot(n, y) - at + 1e-11);
  CHECK_NEAR(ds_point_separation(&m, s, y), at, 1e-9);
  if (at > 0.01) {
    CHECK_NEAR(ds_shape_distance(&m, s, v3_mad(y, h, n)), at + h, 1e-11);
    ds_point_separation(&m, s, y);
    CHECK_LE(v3_dist(m, n), 1e-5);
  }
}

/* A ray that hits: the hit lies on the surface, nothing before it is inside. One that misses stays outside. */
static void agree_with_rays(const ds_shape *s) {
  ds_vec3 n, m, o = v3_scale(2 * s->bounding_radius, random_vec(1)), dir = v3_unit(random_vec(1));
  double t = ds_shape_ray(&n, s, pose_identity(), o, dir, 100), start = ds_shape_distance(&m, s, o);
  if (t >= 0) {
    CHECK_NEAR(ds_shape_distance(&m, s, v3_mad(o, t, dir)), 0, 1e-11);
    CHECK(start < 0 ? v3_dot(n, dir) >= -1e-9 : v3_dot(n, dir) <= 1e-9);
  }
  double end = t >= 0 ? t : 10;
  for (int k = 1; k < 50; k++) {
    double d = ds_shape_distance(&m, s, v3_mad(o, end * k / 50, dir));
    CHECK(start < 0 ? d <= 1e-9 : d >= -1e-9);
  }
}

static void agree_with_bounds(const ds_shape *s) {
  ds_pose pose = random_pose(1);
  ds_vec3 low, high;
  ds_shape_bounds(&low, &high, s, pose);
  const ds_vec3 axes[3] = {X, Y, Z};
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(lows[i], low_of(s, pose, axes[i]), 1e-12);
    CHECK_NEAR(highs[i], -low_of(s, pose, v3_neg(axes[i])), 1e-12);
  }
}

/* Volume, centre and inertia of the triangles, which lie on the surface: less than those of the shape by O(1/n²), so
 * that two refinements extrapolate to them. */
static void mass_of_triangles(double out[10], const ds_shape *s, int32_t segments) {
  ds_facets f = {0};
  ds_shape_ops_of(s)->tessellate(&f, s, segments);
  CHECK(!f.failed);
  memset(out, 0, 10 * sizeof *out);
  for (int32_t i = 0; i < f.point_count; i++) {
    ds_vec3 n;
    CHECK_NEAR(ds_shape_distance(&n, s, f.points[i]), 0, 1e-12);
    CHECK_NEAR(v3_norm(f.normals[i]), 1, 1e-12);
  }
  for (int32_t i = 0; i < f.triangle_count; i++) {
    ds_vec3 a = f.points[f.corners[3 * i]], b = f.points[f.corners[3 * i + 1]], c = f.points[f.corners[3 * i + 2]];
    double v = v3_dot(a, v3_cross(b, c)) / 6;
    const ds_vec3 terms[4] = {a, b, c, v3_add(a, v3_add(b, c))};
    out[0] += v;
    out[1] += v / 4 * terms[3].x, out[2] += v / 4 * terms[3].y, out[3] += v / 4 * terms[3].z;
    for (int k = 0; k < 4; k++) {
      ds_vec3 e = terms[k];
      out[4] += v / 20 * e.x * e.x, out[5] += v / 20 * e.y * e.y, out[6] += v / 20 * e.z * e.z;
      out[7] += v / 20 * e.x * e.y, out[8] += v / 20 * e.y * e.z, out[9] += v / 20 * e.z * e.x;
    }
  }
  ds_facets_free(&f);
}

static void agree_with_mass(const ds_shape *s) {
  double coarse[10], fine[10], v[10];
  mass_of_triangles(coarse, s, 96);
  mass_of_triangles(fine, s, 192);
  for (int i = 0; i < 10; i++) v[i] = fine[i] + (fine[i] - coarse[i]) / 3;
  ds_mass m = {0};
  ds_shape_ops_of(s)->mass(&m, s);
  double scale = m.mass;
  CHECK_NEAR(v[0], m.mass, 1e-6 * scale);
  CHECK_NEAR(v[1], m.mass * m.center.x, 1e-6 * scale);
  CHECK_NEAR(v[2], m.mass * m.center.y, 1e-6 * scale);
  CHECK_NEAR(v[3], m.mass * m.center.z, 1e-6 * scale);
  ds_vec3 c = m.center;
  CHECK_NEAR(v[5] + v[6] - m.mass * (c.y * c.y + c.z * c.z), m.inertia[0], 1e-6 * scale);
  CHECK_NEAR(v[4] + v[6] - m.mass * (c.x * c.x + c.z * c.z), m.inertia[4], 1e-6 * scale);
  CHECK_NEAR(v[4] + v[5] - m.mass * (c.x * c.x + c.y * c.y), m.inertia[8], 1e-6 * scale);
  CHECK_NEAR(v[7], 0, 1e-6 * scale);
}

static void test_kinds_agree(void) {
  for (int32_t kind = 0; kind < ds_shape_kind_count; kind++) {
    int before = test_failures;
    for (int round = 0; round < 20; round++) {
      ds_shape s;
      if (round == 0) draw_for(kind, 0);
      if (!random_kind(&s, kind)) break;
      if (round < 3) agree_with_mass(&s);
      for (int i = 0; i < 50; i++) {
        agree_with_distance(&s);
        agree_with_rays(&s);
        agree_with_bounds(&s);
      }
      CHECK(ds_shape_ops_of(&s)->thickness(&s) <= 2 * s.bounding_radius);
      release(&s);
    }
    if (test_failures > before) printf("  of kind %s\n", ds_shape_kinds[kind]->name);
  }
}

/* Samples lie on the surface, or on the core, with normals that look out; faces too, and they hold the support. */
static void test_points_on_surface(void) {
  for (int32_t kind = 0; kind < ds_shape_kind_count; kind++)
    for (int round = 0; round < 20; round++) {
      ds_shape s;
      ds_vec3 n;
      if (round == 0) draw_for(kind, 0);
      if (!random_kind(&s, kind)) break;
      const ds_shape_ops *ops = ds_shape_ops_of(&s);
      ds_shape_points points = {0};
      if (ops->samples) ops->samples(&points, &s, 0.1);
      CHECK(!points.failed);
      for (int32_t i = 0; i < points.count; i++)
        CHECK_NEAR(ds_shape_distance(&n, &s, points.points[i]), ops->rounded ? -s.radius : 0,
                   ops->distance ? 1e-12 : 1e-8);
      free(points.points), free(points.normals);
      for (int i = 0; i < 200; i++) {
        ds_shape_face face;
        ds_vec3 d = v3_unit(random_vec(1));
        ds_shape_get_face(&face, &s, d, 8);
        CHECK(face.count >= 1 && face.count <= DS_SHAPE_FACE_MAX);
        for (int32_t k = 0; k < face.count; k++) {
          double at = ds_shape_distance(&n, &s, face.points[k]); /* balls at ends of a tilted line reach inside */
          CHECK_LE(ops->rounded ? at : fabs(at), 1e-12);
          for (int32_t l = 0; l < k; l++) CHECK(face.ids[k] != face.ids[l]);
        }
      }
      release(&s);
    }
}

/* ---- pairs ---- */

static ds_manifold m, other; /* large: not on the stack */

static double separation(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, ds_vec3 n) {
  return low_of(a, pa, n) + low_of(b, pb, v3_neg(n));
}

/* The best direction of many, refined: nothing of the library but supports. */
static double brute_force(ds_vec3 *best_n, const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb) {
  double best = -INFINITY;
  *best_n = Z;
  for (int i = 0; i < 3000; i++) {
    ds_vec3 n = v3_unit(random_vec(1));
    double s = separation(a, pa, b, pb, n);
    if (s > best) best = s, *best_n = n;
  }
  for (double radius = 0.1; radius > 1e-9; radius *= 0.85)
    for (int i = 0; i < 60; i++) {
      ds_vec3 n = v3_unit(v3_add(*best_n, random_vec(radius)));
      double s = separation(a, pa, b, pb, n);
      if (s > best) best = s, *best_n = n;
    }
  return best;
}

/* Contacts by supports alone, for all pairs of kinds, also those that have routines of their own: gap and normal
 * against brute force, in every depth from apart to deep overlap. */
static void test_separation(void) {
  int apart = 0, deep = 0;
  double worst_gap = 0, worst_normal = 0;
  for (int32_t round = 0; round < 400; round++) {
    ds_shape a, b;
    int32_t ka = round % ds_shape_kind_count, kb = round / ds_shape_kind_count % ds_shape_kind_count;
    if (!random_kind(&a, ka)) continue;
    if (!random_kind(&b, kb)) {
      release(&a);
      continue;
    }
    ds_pose pb = random_pose(1), pa = random_pose(1);
    pa.p = v3_mad(pb.p, uniform(0.2, 1.2) * (a.bounding_radius + b.bounding_radius), v3_unit(random_vec(1)));
    ds_mat3 rb = mat3_from_quat(pb.q), ra = mat3_from_quat(quat_mul(quat_conj(pb.q), pa.q));
    ds_vec3 n, xa, xb, brute_n;
    double gap = ds_shape_separation(&n, &xa, &xb, &a, &ra, mat3_tmul_v3(&rb, v3_sub(pa.p, pb.p)), &b, 10);
    double brute = brute_force(&brute_n, &a, pa, &b, pb);
    n = mat3_mul_v3(&rb, n);
    CHECK(gap >= brute - 1e-9);
    CHECK_NEAR(separation(&a, pa, &b, pb, n), gap, 1e-10);
    CHECK_NEAR(gap, brute, gap > 0 ? 1e-4 : 0.02); /* brute force finds a ridge, or one of several, but nearly */
    if (gap > 0) worst_gap = fmax(worst_gap, gap - brute);
    CHECK_NEAR(v3_dot(mat3_tmul_v3(&rb, n), v3_sub(xa, xb)), gap, 1e-6);
    if (gap > 0.01) worst_normal = fmax(worst_normal, v3_dist(n, brute_n)), apart++;
    deep += gap < -0.01;
    release(&a);
    release(&b);
  }
  printf("  %d apart, %d overlapping; brute force falls short by %.1e of the gap, normals differ by %.1e\n", apart,
         deep, worst_gap, worst_normal);
  CHECK(apart > 20 && deep > 20);
  CHECK_LE(worst_normal, 0.01);
}

static double exact_gap(ds_vec3 *n, const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb) {
  ds_mat3 rb = mat3_from_quat(pb.q), r = mat3_from_quat(quat_mul(quat_conj(pb.q), pa.q));
  ds_vec3 xa, xb;
  double gap = ds_shape_separation(n, &xa, &xb, a, &r, mat3_tmul_v3(&rb, v3_sub(pa.p, pb.p)), b, 10);
  *n = mat3_mul_v3(&rb, *n);
  return gap;
}

/* What contacts of any pair must be. */
static void check_contacts(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, double gap, double tolerance) {
  if (!(fabs(least_gap(&m) - gap) <= tolerance))
    printf("  %s and %s: gap %g, expected %g\n", ds_shape_ops_of(a)->name, ds_shape_ops_of(b)->name, least_gap(&m),
           gap);
  CHECK_NEAR(least_gap(&m), gap, tolerance);
  for (int32_t i = 0; i < m.count; i++) {
    ds_vec3 n;
    double reach = 0.5 * fabs(m.gap[i]) + 5 * tolerance; /* lines side by side touch between them */
    CHECK_NEAR(v3_norm(m.normal[i]), 1, 1e-12);
    for (int32_t k = 0; k < i; k++) CHECK(m.feature[i] != m.feature[k]);
    /* the point lies between the surfaces: no farther from either than half the gap along the normal */
    CHECK_LE(ds_shape_distance_alone(a, pose_unpoint(pa, m.point[i])), reach);
    CHECK_LE(ds_shape_distance_alone(b, pose_unpoint(pb, m.point[i])), reach);
    /* and is no deeper than the shapes are, whatever the normal */
    CHECK_LE(gap - tolerance, m.gap[i]);
    n = m.normal[i];
    CHECK_LE(separation(a, pa, b, pb, n) - tolerance, m.gap[i]);
  }
}

/* Every pair of kinds has contacts where it touches, with the least gap; the other order mirrors it. By the routine of
 * the pair, and by supports alone. */
static void test_pairs(void) {
  for (int32_t ka = 0; ka < ds_shape_kind_count; ka++)
    for (int32_t kb = 0; kb < ds_shape_kind_count; kb++)
      for (int round = 0; round < 20; round++) {
        ds_shape a, b;
        if (round == 0) draw_for(ka, kb);
        if (!random_kind(&a, ka)) continue;
        if (!random_kind(&b, kb)) {
          release(&a);
          continue;
        }
        ds_pose pa = random_pose(1), pb = random_pose(1);
        ds_vec3 n;
        pa.p = v3_mad(pb.p, 3, v3_unit(random_vec(1)));
        double gap = exact_gap(&n, &a, pa, &b, pb), wanted = uniform(-0.002, 0.01);
        pa.p = v3_mad(pa.p, wanted - gap, n); /* along the normal the gap changes as much */
        gap = exact_gap(&n, &a, pa, &b, pb);
        ds_narrow(&other, &b, pb, &a, pa, 0.02, 8);
        ds_narrow(&m, &a, pa, &b, pb, 0.02, 8);
        CHECK(m.count > 0 && other.count > 0);
        CHECK_NEAR(least_gap(&m), gap, 1e-3); /* edges of some kinds are rounded for the choice of normals */
        CHECK_NEAR(least_gap(&other), least_gap(&m), 1e-3);
        m.count = 0;
        ds_placed sa = {&a, mat3_from_quat(pa.q), pa.p}, sb = {&b, mat3_from_quat(pb.q), pb.p};
        ds_pair_convex(&m, &(ds_query){0.02, 8}, &sa, &sb);
        check_contacts(&a, pa, &b, pb, gap, 2e-6);
        release(&a);
        release(&b);
      }
}

/* On a half-space: the lowest point is a contact, and all contacts are points of the shape at their own heights. */
static void test_half_space(void) {
  ds_shape floor = round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  for (int32_t kind = 0; kind < ds_shape_kind_count; kind++)
    for (int round = 0; round < 50; round++) {
      ds_shape s;
      if (round == 0) draw_for(kind, 0);
      if (!random_kind(&s, kind)) break;
      ds_pose plane = random_pose(1), pose = random_pose(1);
      ds_vec3 up = quat_rotate(plane.q, Z);
      double wanted = uniform(-0.01, 0.01), low = low_of(&s, pose, up) - v3_dot(up, plane.p);
      pose.p = v3_mad(pose.p, wanted - low, up);
      for (int generic = 0; generic < 2; generic++) {
        m.count = 0;
        ds_placed sa = {&s, mat3_from_quat(pose.q), pose.p}, sb = {&floor, mat3_from_quat(plane.q), plane.p};
        if (generic)
          ds_pair_convex_half_space(&m, &(ds_query){0.02, 8}, &sa, &sb);
        else
          ds_narrow(&m, &s, pose, &floor, plane, 0.02, 8);
        CHECK_NEAR(least_gap(&m), wanted, 1e-5);
        for (int32_t i = 0; i < m.count; i++) {
          CHECK_LE(v3_dist(m.normal[i], up), 1e-12);
          CHECK_NEAR(v3_dot(up, v3_sub(m.point[i], plane.p)), 0.5 * m.gap[i], 1e-12);
          ds_vec3 x = v3_mad(m.point[i], 0.5 * m.gap[i], up);
          CHECK_LE(ds_shape_distance_alone(&s, pose_unpoint(pose, x)), 1e-12);
        }
      }
      release(&s);
    }
}

/* Bad measures are refused by name. */
static void test_bad_measures(void) {
  for (int32_t kind = 0; kind < ds_shape_kind_count; kind++) {
    const ds_shape_ops *ops = ds_shape_kinds[kind];
    for (int i = 0; i < DS_MEASURES_MAX && ops->measures[i].key; i++) {
      ds_shape_def def = ds_default_shape();
      ds_error error = {""};
      double bad[3] = {-1, NAN, INFINITY};
      def.kind = (ds_shape_kind)kind;
      if (ops->measures[i].kind != DS_MEASURE_LENGTH) continue;
      for (int k = 0; k < 3; k++) {
        memcpy((char *)&def + ops->measures[i].offset, &bad[k], sizeof *bad);
        CHECK(ds_shape_check(&def, &error) == DS_ERROR_INPUT);
        CHECK(strstr(error.message, ops->measures[i].key) != NULL);
      }
    }
  }
  ds_shape_def def = ds_default_shape();
  def.kind = (ds_shape_kind)99;
  CHECK(ds_shape_check(&def, NULL) == DS_ERROR_INPUT);
}

int main(void) {
  RUN(test_kinds_agree);
  RUN(test_points_on_surface);
  RUN(test_separation);
  RUN(test_pairs);
  RUN(test_half_space);
  RUN(test_bad_measures);
  return test_summary();
}
