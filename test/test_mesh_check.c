/* What ds_mesh_check finds: every fault with its count and place, nothing in sound meshes, and the exact predicates
 * underneath. */
#include "check.h"
#include "mesh/mesh.h"
#include "mesh_helper.h"
#include "random_pose.h"

static ds_mesh_report check(const ds_mesh *mesh) {
  ds_mesh_report report;
  ds_error error = {""};
  CHECK(ds_mesh_check(&report, mesh, &error) == DS_OK);
  bool none = true;
  for (int i = 0; i < DS_MESH_FAULT_COUNT; i++) {
    none = none && report.count[i] == 0;
    CHECK((report.where[i] < 0) == (report.count[i] == 0) || i == DS_MESH_EMPTY);
  }
  CHECK(report.usable == none);
  return report;
}

/* The one fault and no other, at a place. */
#define CHECK_FAULT(report, fault, number, triangle, at)                              \
  do {                                                                                \
    for (int check_i = 0; check_i < DS_MESH_FAULT_COUNT; check_i++)                   \
      CHECK_NEAR((report).count[check_i], check_i == (int)(fault) ? (number) : 0, 0); \
    CHECK_NEAR((report).where[fault], triangle, 0);                                   \
    CHECK_NEAR(v3_dist((report).place[fault], at), 0, 1e-12);                         \
  } while (0)

static ds_mesh unit_box(void) { return mesh_box(v3(0, 0, 0), v3(1, 1, 1)); }

static ds_vec3 middle_of(const ds_mesh *m, int32_t t) {
  const int32_t *v = m->triangles + 3 * t;
  return v3_scale(1.0 / 3, v3_add(m->vertices[v[0]], v3_add(m->vertices[v[1]], m->vertices[v[2]])));
}

/* ---- sound meshes ---- */

static void sound(void) {
  static const double scales[] = {1e-150, 1e-6, 1, 1e6, 1e150};
  for (int k = 0; k < 5; k++) {
    double s = scales[k];
    ds_mesh m = mesh_box(v3(-s, -s, -s), v3(2 * s, s, s));
    ds_mesh_report r = check(&m);
    CHECK(r.usable && r.parts == 1);
    if (k > 0 && k < 4) CHECK_NEAR(r.volume / (12 * s * s * s), 1, 1e-14);
    CHECK_NEAR(r.area / (32 * s * s), 1, 1e-14);
    ds_mesh_free(&m);
    m = mesh_torus(2 * s, 0.5 * s, 40, 20);
    CHECK(check(&m).usable);
    ds_mesh_free(&m);
    m = mesh_sphere(s, 12);
    CHECK(ds_mesh_merge(&m, NULL) == DS_OK && m.vertex_count == 4 * 12 * 12 + 2);
    r = check(&m);
    CHECK(r.usable && r.parts == 1);
    ds_mesh_free(&m);
  }
}

/* Flat faces split in many coplanar triangles, turned so that rounding moves them: still no crossing. */
static void coplanar_faces(void) {
  for (int trial = 0; trial < 20; trial++) {
    ds_mesh m = mesh_sphere(1, 10);
    CHECK(ds_mesh_merge(&m, NULL) == DS_OK);
    for (int32_t i = 0; i < m.vertex_count; i++) { /* back to the octahedron */
      ds_vec3 x = m.vertices[i];
      m.vertices[i] = v3_scale(1 / (fabs(x.x) + fabs(x.y) + fabs(x.z)), x);
    }
    mesh_move(&m, random_pose(10));
    ds_mesh_report r = check(&m);
    CHECK(r.usable);
    CHECK_NEAR(r.volume, 4.0 / 3, 1e-12);
    ds_mesh_free(&m);
  }
}

static void many_parts(void) {
  ds_mesh m = unit_box();
  for (int i = 1; i < 20; i++) m = mesh_join(m, mesh_box(v3(2 * i, 0, 0), v3(2 * i + 1, 1, 1)));
  ds_mesh_report r = check(&m);
  CHECK(r.usable && r.parts == 20);
  CHECK_NEAR(r.volume, 20, 1e-12);
  ds_mesh_free(&m);
}

/* Solid in a cavity in a solid. */
static void nested(void) {
  ds_mesh hole = mesh_box(v3(-2, -2, -2), v3(2, 2, 2));
  mesh_flip(&hole);
  ds_mesh m = mesh_join(mesh_join(hole, mesh_box(v3(-3, -3, -3), v3(3, 3, 3))), mesh_box(v3(-1, -1, -1), v3(1, 1, 1)));
  ds_mesh_report r = check(&m);
  CHECK(r.usable && r.parts == 3);
  CHECK_NEAR(r.volume, 216 - 64 + 8, 1e-11);
  ds_mesh_free(&m);
}

/* ---- faults ---- */

static void empty(void) {
  ds_mesh m = {0};
  ds_mesh_report r = check(&m);
  CHECK(r.count[DS_MESH_EMPTY] == 1 && !r.usable && r.parts == 0);
}

static void not_finite(void) {
  ds_mesh m = unit_box();
  m.vertices[3].y = NAN;
  ds_mesh_report r = check(&m);
  CHECK_FAULT(r, DS_MESH_NOT_FINITE, 1, 3, v3(1, 0, 0));
  m.vertices[3].y = INFINITY;
  m.vertices[6].z = -INFINITY;
  r = check(&m);
  CHECK_FAULT(r, DS_MESH_NOT_FINITE, 2, 3, v3(1, 0, 0));
  ds_mesh_free(&m);
}

static void bad_index(void) {
  for (int k = 0; k < 2; k++) {
    ds_mesh m = unit_box();
    ds_vec3 a = m.vertices[m.triangles[3 * 4]], b = m.vertices[m.triangles[3 * 4 + 2]];
    m.triangles[3 * 4 + 1] = k ? -1 : 8;
    ds_mesh_report r = check(&m);
    CHECK(r.count[DS_MESH_BAD_INDEX] == 1 && r.where[DS_MESH_BAD_INDEX] == 4 && r.count[DS_MESH_OPEN] == 3);
    CHECK_NEAR(v3_dist(r.place[DS_MESH_BAD_INDEX], v3_scale(0.5, v3_add(a, b))), 0, 1e-12);
    ds_mesh_free(&m);
  }
}

static void degenerate(void) {
  /* a collapsed triangle more: the surface is still closed */
  ds_mesh m = mesh_join(unit_box(), mesh_new(0, 1));
  mesh_set(&m, 12, 2, 2, 5);
  ds_mesh_report r = check(&m);
  CHECK_FAULT(r, DS_MESH_DEGENERATE, 1, 12, v3(1.0 / 3, 2.0 / 3, 1.0 / 3));
  ds_mesh_free(&m);
  /* a vertex on the edge of its neighbours, closed by a triangle without area */
  m = mesh_join(unit_box(), mesh_new(1, 2));
  m.vertices[8] = v3(0.5, 0, 0);
  const int32_t *v = m.triangles;
  int32_t t = 0;
  while (!((v[3 * t] == 0 && v[3 * t + 1] == 1) || (v[3 * t + 1] == 0 && v[3 * t + 2] == 1) ||
           (v[3 * t + 2] == 0 && v[3 * t] == 1)))
    t++; /* the triangle at edge 0 -> 1 */
  int32_t top = v[3 * t] + v[3 * t + 1] + v[3 * t + 2] - 1;
  mesh_set(&m, t, 0, 8, top);
  mesh_set(&m, 12, 8, 1, top);
  mesh_set(&m, 13, 0, 1, 8);
  r = check(&m);
  CHECK(r.count[DS_MESH_DEGENERATE] == 1 && r.where[DS_MESH_DEGENERATE] == 13 && r.count[DS_MESH_OPEN] == 0);
  CHECK(r.count[DS_MESH_CROSSING] == 2); /* its neighbours touch along the edge */
  CHECK_NEAR(v3_dist(r.place[DS_MESH_DEGENERATE], v3(0.5, 0, 0)), 0, 1e-15);
  ds_mesh_free(&m);
}

static void duplicate(void) {
  ds_mesh m = mesh_join(unit_box(), mesh_new(0, 2));
  mesh_set(&m, 12, m.triangles[1], m.triangles[2], m.triangles[0]);
  mesh_set(&m, 13, m.triangles[10], m.triangles[9], m.triangles[11]);
  ds_mesh_report r = check(&m);
  CHECK_FAULT(r, DS_MESH_DUPLICATE, 2, 12, middle_of(&m, 0));
  CHECK_NEAR(r.volume, 1, 1e-14);
  ds_mesh_free(&m);
}

static void open(void) {
  ds_mesh m = unit_box();
  m.triangle_count = 11; /* the last one, 4 7 6, is missing */
  ds_mesh_report r = check(&m);
  CHECK_FAULT(r, DS_MESH_OPEN, 3, 0, v3(0, 0.5, 1));
  ds_mesh_free(&m);
  m = mesh_torus(2, 0.5, 20, 10);
  m.triangle_count--;
  CHECK(check(&m).count[DS_MESH_OPEN] == 3);
  ds_mesh_free(&m);
}

/* Two tetrahedra that share an edge. */
static void not_manifold(void) {
  ds_vec3 a = v3(0, 0, 0), b = v3(0, 0, 1);
  ds_mesh m =
      mesh_join(mesh_tetrahedron(a, v3(1, 0, 0), v3(0, 1, 0), b), mesh_tetrahedron(a, v3(-1, 0, 0), v3(0, -1, 0), b));
  CHECK(ds_mesh_merge(&m, NULL) == DS_OK && m.vertex_count == 6);
  ds_mesh_report r = check(&m);
  CHECK_FAULT(r, DS_MESH_NOT_MANIFOLD, 1, 1, v3(0, 0, 0.5));
  ds_mesh_free(&m);
}

/* One triangle turned: its three edges. */
static void inconsistent(void) {
  ds_mesh m = mesh_sphere(1, 4);
  CHECK(ds_mesh_merge(&m, NULL) == DS_OK);
  int32_t *v = m.triangles + 3 * 50, swap = v[0];
  v[0] = v[1], v[1] = swap;
  ds_mesh_report r = check(&m);
  CHECK(r.count[DS_MESH_INCONSISTENT] == 3 && r.count[DS_MESH_INVERTED] == 0 && r.parts == 1 && !r.usable);
  CHECK_LE(v3_dist(r.place[DS_MESH_INCONSISTENT], middle_of(&m, 50)), 0.3);
  ds_mesh_free(&m);
}

static void inverted(void) {
  ds_mesh m = unit_box();
  mesh_flip(&m);
  ds_mesh_report r = check(&m);
  CHECK_FAULT(r, DS_MESH_INVERTED, 1, 0, middle_of(&m, 0));
  CHECK_NEAR(r.volume, -1, 1e-14);
  /* beside a sound one */
  ds_mesh two = mesh_join(mesh_box(v3(2, 0, 0), v3(4, 2, 2)), m);
  r = check(&two);
  CHECK_FAULT(r, DS_MESH_INVERTED, 1, 12, middle_of(&two, 12));
  ds_mesh_free(&two);
  /* within the box of a part, but not in it: the hole of a torus is outside */
  m = mesh_box(v3(-0.1, -0.1, -0.1), v3(0.1, 0.1, 0.1));
  mesh_flip(&m);
  m = mesh_join(mesh_torus(2, 0.5, 40, 20), m);
  r = check(&m);
  CHECK_FAULT(r, DS_MESH_INVERTED, 1, 1600, middle_of(&m, 1600));
  ds_mesh_free(&m);
  /* a solid within a solid */
  m = mesh_join(mesh_box(v3(-3, -3, -3), v3(3, 3, 3)), mesh_box(v3(-1, -1, -1), v3(1, 1, 1)));
  r = check(&m);
  CHECK_FAULT(r, DS_MESH_INVERTED, 1, 12, middle_of(&m, 12));
  ds_mesh_free(&m);
}

/* ---- crossings ---- */

static void crossing(void) {
  /* two boxes through each other, their corners free */
  ds_mesh m = mesh_join(unit_box(), mesh_box(v3(0.4, 0.3, 0.5), v3(1.5, 0.7, 1.6)));
  ds_mesh_report r = check(&m);
  CHECK(r.count[DS_MESH_CROSSING] > 0 && r.count[DS_MESH_OPEN] == 0 && r.parts == 2);
  CHECK_NEAR(v3_dist(r.place[DS_MESH_CROSSING], middle_of(&m, r.where[DS_MESH_CROSSING])), 0, 1e-15);
  ds_mesh_free(&m);
  /* walls in one plane */
  m = mesh_join(unit_box(), mesh_box(v3(0.5, 0, 0), v3(1.5, 1, 1)));
  CHECK(check(&m).count[DS_MESH_CROSSING] > 0);
  ds_mesh_free(&m);
  /* touching in a face, then with a gap of one rounding */
  m = mesh_join(unit_box(), mesh_box(v3(0.25, 0.25, 1), v3(0.75, 0.75, 2)));
  CHECK(check(&m).count[DS_MESH_CROSSING] > 0);
  for (int i = 8; i < 12; i++) m.vertices[i].z = nextafter(1, 2);
  CHECK(check(&m).usable);
  ds_mesh_free(&m);
  /* a tip in a wall, and just not in it */
  for (int k = 0; k < 3; k++) {
    double z = k == 0 ? 1 : k == 1 ? nextafter(1, 2) : nextafter(1, 0);
    m = mesh_join(unit_box(), mesh_tetrahedron(v3(0.3, 0.4, z), v3(0.2, 0.1, 2), v3(0.9, 0.2, 2), v3(0.4, 0.8, 2)));
    r = check(&m);
    CHECK((r.count[DS_MESH_CROSSING] > 0) == (k != 1));
    CHECK(r.count[DS_MESH_INVERTED] == 0);
    ds_mesh_free(&m);
  }
}

/* A vertex of a sphere pulled through the other side: neighbours that share a corner and strangers cross. */
static void pulled_through(void) {
  ds_mesh m = mesh_sphere(1, 8);
  CHECK(ds_mesh_merge(&m, NULL) == DS_OK);
  m.vertices[30] = v3_scale(-1.5, m.vertices[30]);
  ds_mesh_report r = check(&m);
  CHECK(r.count[DS_MESH_CROSSING] > 0);
  CHECK(r.count[DS_MESH_OPEN] == 0 && r.count[DS_MESH_DEGENERATE] == 0);
  ds_mesh_free(&m);
}

/* A vertex in a flat face moved over its neighbour's edge: triangles lie on each other in one plane. */
static void folded(void) {
  ds_mesh m = mesh_join(unit_box(), mesh_new(1, 2));
  /* face z = 1, corners 4 5 7 6, gets a middle vertex */
  m.vertices[8] = v3(0.5, 0.5, 1);
  mesh_set(&m, 10, 4, 5, 8);
  mesh_set(&m, 11, 5, 7, 8);
  mesh_set(&m, 12, 7, 6, 8);
  mesh_set(&m, 13, 6, 4, 8);
  CHECK(check(&m).usable);
  m.vertices[8] = v3(1.25, 0.5, 1); /* over edge 5 7 */
  ds_mesh_report r = check(&m);
  CHECK(r.count[DS_MESH_CROSSING] > 0 && r.count[DS_MESH_OPEN] + r.count[DS_MESH_DEGENERATE] == 0);
  m.vertices[8] = v3(1.25, 0.5, 1.0001); /* a roof that stands out: sound */
  CHECK(check(&m).count[DS_MESH_CROSSING] == 0);
  ds_mesh_free(&m);
}

/* Two triangles of five points. */
static bool meet(const ds_vec3 x[5], int32_t a, int32_t b, int32_t c) {
  const int32_t triangles[6] = {0, 1, 2, a, b, c};
  const bool skip[2] = {false, false};
  int32_t count, first;
  CHECK(ds_mesh_find_crossings(&count, &first, x, triangles, 2, skip));
  return count > 0;
}

static void neighbours(void) {
  ds_vec3 x[5] = {{0, 0, 0}, {1, 0, 0}, {0.5, 1, 0}, {0.5, 0.75, 0}, {0.5, -0.75, 0}};
  /* an edge in common */
  CHECK(meet(x, 1, 0, 3));
  CHECK(!meet(x, 1, 0, 4));
  x[3].z = 1e-30;
  CHECK(!meet(x, 1, 0, 3));
  /* a corner in common, in one plane */
  x[3] = v3(-1, -0.5, 0);
  CHECK(!meet(x, 0, 3, 4));
  x[4] = v3(0.5, 0.25, 0);
  CHECK(meet(x, 0, 3, 4));
  x[3] = v3(-1, 3, 0), x[4] = v3(3, -1, 0); /* the other edge passes by */
  CHECK(meet(x, 0, 3, 4));
  /* and through the triangle, past it, and touching its edge */
  x[3] = v3(0.5, 0.5, -1), x[4] = v3(0.5, 0.5, 1);
  CHECK(meet(x, 0, 3, 4));
  x[3] = v3(0.5, 1.5, -1), x[4] = v3(-0.5, -0.5, 1);
  CHECK(!meet(x, 0, 3, 4));
  x[3] = v3(0.25, 0.5, -1), x[4] = v3(0.25, 0.5, 1);
  CHECK(meet(x, 0, 3, 4));
  x[3].x = x[4].x = nextafter(0.25, 0);
  CHECK(!meet(x, 0, 3, 4));
}

/* Two triangles back to back. */
static void no_volume(void) {
  ds_mesh m = mesh_new(4, 4);
  m.vertices[1] = v3(1, 0, 0), m.vertices[2] = v3(1, 1, 0), m.vertices[3] = v3(0, 1, 0);
  mesh_set(&m, 0, 0, 1, 2);
  mesh_set(&m, 1, 0, 2, 3);
  mesh_set(&m, 2, 0, 3, 1); /* the other diagonal */
  mesh_set(&m, 3, 1, 3, 2);
  ds_mesh_report r = check(&m);
  CHECK(r.count[DS_MESH_NO_VOLUME] == 1 && r.where[DS_MESH_NO_VOLUME] == 0 && r.count[DS_MESH_CROSSING] > 0);
  CHECK(r.count[DS_MESH_OPEN] == 0 && r.count[DS_MESH_INVERTED] == 0);
  m.vertices[0].z = 1e-6; /* thin, but something */
  CHECK(check(&m).count[DS_MESH_NO_VOLUME] == 0);
  ds_mesh_free(&m);
}

static void names(void) {
  for (int i = 0; i < DS_MESH_FAULT_COUNT; i++)
    for (int k = 0; k <= i; k++)
      CHECK((strcmp(ds_mesh_fault_name((ds_mesh_fault)i), ds_mesh_fault_name((ds_mesh_fault)k)) == 0) == (i == k));
  CHECK(strcmp(ds_mesh_fault_name(DS_MESH_OPEN), "open") == 0);
}

/* ---- against slow and simple ---- */

/* Small random integers: every determinant is exact in doubles. Scaled and moved by powers of two nothing changes. */
static void predicates(void) {
  int zeros = 0;
  for (int trial = 0; trial < 200000; trial++) {
    ds_vec3 p[4], q[4];
    double shift = ldexp(1, (int)uniform(0, 40)) / 1e3;
    for (int i = 0; i < 4; i++) {
      ds_vec3 x = random_between(v3(-4, -4, -4), v3(5, 5, 5));
      p[i] = v3(floor(x.x), floor(x.y), floor(x.z));
      q[i] = v3_scale(ldexp(1, -45), v3_add(p[i], v3(floor(shift), floor(2 * shift), floor(shift / 3))));
    }
    double volume = v3_dot(v3_cross(v3_sub(p[0], p[3]), v3_sub(p[1], p[3])), v3_sub(p[2], p[3]));
    int want = (volume > 0) - (volume < 0);
    zeros += want == 0;
    CHECK(ds_mesh_orient3(q[0], q[1], q[2], q[3]) == want);
    double area = v3_cross(v3_sub(p[0], p[2]), v3_sub(p[1], p[2])).z;
    CHECK(ds_mesh_orient2(q[0], q[1], q[2], 2) == (area > 0) - (area < 0));
  }
  CHECK(zeros > 1000);
  /* a point moved by its last bit off a plane that is not aligned with anything */
  ds_vec3 a = v3(0.1, 0.2, 0.3), b = v3(0.7, 0.1, 0.9), c = v3(0.3, 0.8, 0.4);
  for (int trial = 0; trial < 2000; trial++) {
    double s = uniform(-1, 1), t = uniform(-1, 1);
    ds_vec3 on = v3_mad(v3_mad(a, s, v3_sub(b, a)), t, v3_sub(c, a)), n = v3_cross(v3_sub(b, a), v3_sub(c, a));
    int last = 2;
    /* the sign falls once along the line through the plane, never rises */
    for (int k = -8; k <= 8; k++) {
      ds_vec3 p = v3(on.x, on.y, on.z + k * 0x1p-54);
      int sign = ds_mesh_orient3(a, b, c, p) * (n.z > 0 ? 1 : -1);
      CHECK(sign <= last);
      last = sign;
    }
    CHECK(last < 1);
  }
}

/* All pairs by the same rule without the tree: the same count, on a mess of random triangles. */
static void tree(void) {
  int32_t n = 60;
  for (int trial = 0; trial < 30; trial++) {
    ds_mesh m = mesh_new(3 * n, n);
    bool skip[60] = {false};
    for (int32_t t = 0; t < n; t++) {
      ds_vec3 x = random_vec(0.6);
      for (int k = 0; k < 3; k++) m.vertices[3 * t + k] = v3_add(x, random_vec(0.2));
      mesh_set(&m, t, 3 * t, 3 * t + 1, 3 * t + 2);
    }
    int32_t count, first, want = 0, want_first = -1;
    CHECK(ds_mesh_find_crossings(&count, &first, m.vertices, m.triangles, n, skip));
    for (int32_t a = 0; a < n; a++)
      for (int32_t b = a + 1; b < n; b++) {
        int32_t pair[6], c, f;
        memcpy(pair, m.triangles + 3 * a, 3 * sizeof *pair);
        memcpy(pair + 3, m.triangles + 3 * b, 3 * sizeof *pair);
        CHECK(ds_mesh_find_crossings(&c, &f, m.vertices, pair, 2, skip));
        want += c;
        if (c > 0 && want_first < 0) want_first = a;
      }
    CHECK_NEAR(count, want, 0);
    CHECK_NEAR(first, want_first, 0);
    ds_mesh_free(&m);
  }
}

/* Two triangles cross exactly where their distance along some separating axis is not positive (17 axes). */
static bool separated(const ds_vec3 *a, const ds_vec3 *b, ds_vec3 axis) {
  double a_low = INFINITY, a_high = -INFINITY, b_low = INFINITY, b_high = -INFINITY;
  for (int i = 0; i < 3; i++) {
    double p = v3_dot(a[i], axis), q = v3_dot(b[i], axis);
    a_low = fmin(a_low, p), a_high = fmax(a_high, p);
    b_low = fmin(b_low, q), b_high = fmax(b_high, q);
  }
  return a_high < b_low || b_high < a_low;
}

static void separating_axes(void) {
  int crossings = 0;
  for (int trial = 0; trial < 20000; trial++) {
    ds_vec3 x[6], ea[3], eb[3], na, nb;
    /* every other trial on small integers, in space or in one plane, where touching is common */
    for (int i = 0; i < 6; i++) {
      x[i] = random_vec(1);
      if (trial % 2) x[i] = v3(floor(4 * x[i].x), floor(4 * x[i].y), trial % 4 == 1 ? 0 : floor(4 * x[i].z));
    }
    const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    for (int i = 0; i < 3; i++) ea[i] = v3_sub(x[(i + 1) % 3], x[i]), eb[i] = v3_sub(x[3 + (i + 1) % 3], x[3 + i]);
    na = v3_cross(ea[0], ea[1]), nb = v3_cross(eb[0], eb[1]);
    if (v3_norm(na) == 0 || v3_norm(nb) == 0) continue;
    bool apart = separated(x, x + 3, na) || separated(x, x + 3, nb);
    for (int i = 0; i < 3 && !apart; i++) {
      apart = separated(x, x + 3, v3_cross(na, ea[i])) || separated(x, x + 3, v3_cross(nb, eb[i]));
      for (int k = 0; k < 3 && !apart; k++) apart = separated(x, x + 3, v3_cross(ea[i], eb[k]));
    }
    int32_t count, first;
    bool skip[2] = {false, false};
    for (int i = 0; i < 6; i++) x[i] = v3_scale(0.125, x[i]);
    CHECK(ds_mesh_find_crossings(&count, &first, x, triangles, 2, skip));
    CHECK(count == !apart);
    crossings += count;
  }
  CHECK(crossings > 2000);
}

static void large(void) {
  ds_mesh m = mesh_torus(2, 0.5, 160, 80); /* 25,600 triangles */
  CHECK(check(&m).usable);
  ds_mesh_free(&m);
}

int main(void) {
  RUN(sound);
  RUN(coplanar_faces);
  RUN(many_parts);
  RUN(nested);
  RUN(empty);
  RUN(not_finite);
  RUN(bad_index);
  RUN(degenerate);
  RUN(duplicate);
  RUN(open);
  RUN(not_manifold);
  RUN(inconsistent);
  RUN(inverted);
  RUN(crossing);
  RUN(pulled_through);
  RUN(folded);
  RUN(neighbours);
  RUN(no_volume);
  RUN(names);
  RUN(predicates);
  RUN(tree);
  RUN(separating_axes);
  RUN(large);
  return test_summary();
}
