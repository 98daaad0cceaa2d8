/* Planar faces of solids: which faces a mesh has, and that their contacts are those of boxes and hulls. A brick as a
 * mesh touches as the brick does, at all slopes and depths of a resting body; concave faces and faces with holes touch
 * with the corners of the common polygon's hull, and with nothing else; edges touch with both their ends; and an arch
 * of solids costs what an arch of hulls does. */
#include "detect/faces.h"
#include "detect_helper.h"
#include "sample_meshes.h"
#include "scene_helper.h"

static ds_solid *solid_of(ds_mesh mesh) {
  ds_error error = {""};
  ds_solid_def def = ds_default_solid();
  ds_solid *solid = ds_solid_create(&mesh, &def, &error);
  if (!solid) printf("%s\n", error.message);
  CHECK(solid != NULL);
  mesh_drop(&mesh);
  return solid;
}

static ds_shape solid_shape(ds_mesh mesh) {
  ds_shape s = plain(DS_SHAPE_SOLID);
  s.solid = solid_of(mesh);
  if (s.solid) s.bounding_radius = fmax(v3_norm(s.solid->info.low), v3_norm(s.solid->info.high));
  return s;
}

/* A box that can meet solids, as ds_scene_finish makes it. */
static ds_shape box_for_solids(double x, double y, double z) {
  ds_shape s = box(x, y, z);
  CHECK(ds_shape_sample(&s, 0.01) == DS_OK);
  return s;
}

static void drop_shape(ds_shape *s) {
  ds_shape_samples_free(s);
  ds_hull_free(&s->hull);
  ds_solid_release(s->solid);
}

static ds_manifold touching; /* of the last call */

static const ds_manifold *touch(const ds_shape *a, ds_pose pa, const ds_shape *b, ds_pose pb, double reach) {
  ds_arena arena = {0};
  ds_solid_query query = {.slack = reach, .reach = reach, .per_face = 8};
  CHECK(ds_narrow_solid(&arena, &touching, &query, a, pa, b, pb));
  ds_arena_free(&arena);
  return &touching;
}

static double farthest(const ds_manifold *m, ds_vec3 d) {
  double most = -INFINITY;
  for (int32_t i = 0; i < m->count; i++) most = fmax(most, v3_dot(d, m->point[i]));
  return most;
}

/* ---- faces of meshes ---- */

static const ds_vec3 u_polygon[8] = {{0, 0, 0}, {3, 0, 0}, {3, 2, 0}, {2, 2, 0},
                                     {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
static const int32_t u_caps[18] = {0, 5, 7, 5, 6, 7, 0, 1, 5, 1, 4, 5, 1, 2, 4, 2, 3, 4};

static ds_mesh mesh_u(double half) { return mesh_prism(u_polygon, 8, u_caps, 6, half); }

/* A square plate with a square hole. */
static ds_mesh mesh_frame(double outer, double inner, double half) {
  ds_mesh m = mesh_new(16, 32);
  int32_t t = 0;
  for (int32_t i = 0; i < 4; i++) {
    double x = i == 0 || i == 3 ? -1 : 1, y = i < 2 ? -1 : 1;
    for (int32_t k = 0; k < 4; k++) { /* bottom outer, bottom inner, top outer, top inner */
      double r = k % 2 ? inner : outer;
      m.vertices[4 * i + k] = v3(r * x, r * y, k < 2 ? -half : half);
    }
  }
  for (int32_t i = 0; i < 4; i++) {
    int32_t a = 4 * i, b = 4 * ((i + 1) % 4);
    const int32_t quads[4][4] = {
        {a, b, b + 2, a + 2}, {b + 1, a + 1, a + 3, b + 3}, {a + 2, b + 2, b + 3, a + 3}, {b, a, a + 1, b + 1}};
    for (int32_t q = 0; q < 4; q++) {
      mesh_triangle(&m, &t, quads[q][0], quads[q][1], quads[q][2]);
      mesh_triangle(&m, &t, quads[q][0], quads[q][2], quads[q][3]);
    }
  }
  return m;
}

static void check_faces(const char *name, ds_mesh mesh, int32_t faces, int32_t sides, double deviation) {
  ds_solid *s = solid_of(mesh);
  if (!s) return;
  double area = 0, most = 0;
  for (int32_t i = 0; i < s->faces.count; i++) {
    area += s->faces.face[i].area;
    most = fmax(most, s->faces.face[i].deviation);
  }
  printf("     %s: %d faces with %d sides, %.3g m off their planes at most\n", name, (int)s->faces.count,
         (int)s->faces.side_count, most);
  CHECK(s->faces.complete);
  CHECK_NEAR(s->faces.count, faces, 0);
  CHECK_NEAR(s->faces.side_count, sides, 0);
  CHECK_LE(most, deviation);
  if (deviation < 1e-6) CHECK_NEAR(area, s->info.area, 1e-9 * s->info.area);
  ds_solid_release(s);
}

static void test_which_faces(void) {
  check_faces("box", mesh_box(v3(0.5, 0.3, 0.2)), 6, 24, 1e-12);
  check_faces("L", mesh_l(0.5), 8, 36, 1e-12);
  check_faces("U", mesh_u(0.5), 10, 48, 1e-12);
  check_faces("frame", mesh_frame(0.5, 0.2, 0.1), 10, 48, 1e-12);
  /* a corner moved by 2 mm: the faces around it are warped, and still faces */
  ds_mesh warped = mesh_box(v3(0.5, 0.3, 0.2));
  warped.vertices[6] = v3_add(warped.vertices[6], v3(0.002, 0.002, 0.002));
  check_faces("warped box", warped, 6, 24, 1e-3);
  /* by 5 cm: it is an edge */
  ds_mesh bent = mesh_box(v3(0.5, 0.3, 0.2));
  bent.vertices[6] = v3_add(bent.vertices[6], v3(0.05, 0, 0));
  check_faces("bent box", bent, 7, 26, 1e-12);
  /* what is round has no faces, a foot is one */
  ds_error error = {""};
  ds_mesh king = {0};
  CHECK(ds_mesh_figure(&king, "king", 1, &error) == DS_OK);
  ds_solid *s = solid_of(king);
  if (s) {
    int32_t down = 0;
    for (int32_t i = 0; i < s->faces.count; i++) down += s->faces.face[i].normal.z < -0.999999;
    CHECK(!s->faces.complete);
    CHECK_NEAR(down, 1, 0);
    CHECK_LE(s->faces.count, 3);
  }
  ds_solid_release(s);
}

/* ---- bricks ---- */

/* The region in which b's contacts lie is that of a's: support in many directions, gaps and normals. */
static void check_like(const ds_manifold *got, const ds_manifold *want, double place, double gap) {
  CHECK(got->count >= 2 && got->count <= 8);
  for (int i = 0; i < 16; i++) {
    double angle = 2 * DS_PI * i / 16;
    CHECK_NEAR(farthest(got, v3(cos(angle), sin(angle), 0)), farthest(want, v3(cos(angle), sin(angle), 0)), place);
  }
  CHECK_NEAR(least_gap(got), least_gap(want), gap);
  for (int32_t i = 0; i < got->count; i++) {
    CHECK_LE(0.9998, v3_dot(got->normal[i], want->normal[0]));
    CHECK(got->feature[i] >> 30 == 2 || (got->feature[i] & DS_FEATURE_CORNER)); /* of faces, not of samples */
  }
}

static bool same_features(const ds_manifold *a, const ds_manifold *b) {
  bool same = a->count == b->count;
  for (int32_t i = 0; i < a->count && same; i++) same = a->feature[i] == b->feature[i];
  return same;
}

static void test_bricks(void) {
  ds_shape below = solid_shape(mesh_box(v3(0.2, 0.12, 0.06))), above = solid_shape(mesh_box(v3(0.15, 0.1, 0.05)));
  ds_shape low = box_for_solids(0.2, 0.12, 0.06), high = box_for_solids(0.15, 0.1, 0.05);
  static ds_manifold want, before;
  double reach = 2e-3;
  for (int tilt = 0; tilt <= 5; tilt++)
    for (int depth = -2; depth <= 2; depth++)
      for (int place = 0; place < 4; place++) {
        double degrees = tilt == 0 ? 0 : pow(10, 0.75 * (tilt - 5)), gap = 1e-4 * depth; /* 0, 0.001 .. 1 */
        double x = place == 0 ? 0 : place == 1 ? 0.05 : place == 2 ? 0.13 : 0.3, yaw = place == 3 ? 0.4 : 0;
        ds_quat turn = quat_mul(quat_axis_angle(v3(0.3, 1, 0), degrees * DS_PI / 180), quat_axis_angle(Z, yaw));
        ds_pose pose = {{x, 0.02 * place, 0}, turn};
        ds_pose lowest = {{0, 0, 0}, turn};
        pose.p.z = 0.06 + gap - low_of(&high, lowest, Z);
        if (place == 3) pose.p.x = 0.22;
        ds_narrow(&want, &high, pose, &low, at(0, 0, 0), reach, 8);
        if (want.count < 3) continue;
        /* hulls round their edges by their skin, up to 0.25 mm here */
        double slip = 3e-4 + (degrees > 0.3 ? 0.01 : 0);
        check_like(touch(&above, pose, &below, at(0, 0, 0), reach), &want, slip, 2e-5);
        check_like(touch(&above, pose, &low, at(0, 0, 0), reach), &want, slip, 2e-5);
        check_like(touch(&high, pose, &below, at(0, 0, 0), reach), &want, slip, 2e-5);
        before = *touch(&above, pose, &below, at(0, 0, 0), reach);
        pose.p = v3_add(pose.p, v3(1e-10, -1e-10, 1e-10));
        CHECK(same_features(&before, touch(&above, pose, &below, at(0, 0, 0), reach)));
      }
  drop_shape(&below);
  drop_shape(&above);
  drop_shape(&low);
  drop_shape(&high);
}

/* Points (x, y) that contacts must be at, all of them and no others. */
static void check_places(const ds_manifold *m, const double (*want)[2], int32_t count, double gap, ds_vec3 normal) {
  CHECK_NEAR(m->count, count, 0);
  for (int32_t k = 0; k < count; k++) {
    double nearest = INFINITY;
    for (int32_t i = 0; i < m->count; i++)
      nearest = fmin(nearest, hypot(m->point[i].x - want[k][0], m->point[i].y - want[k][1]));
    if (!(nearest < 1e-9)) printf("     nothing at %g %g\n", want[k][0], want[k][1]);
    CHECK_LE(nearest, 1e-9);
  }
  for (int32_t i = 0; i < m->count; i++) {
    CHECK_NEAR(m->gap[i], gap, 1e-12);
    CHECK_NEAR(v3_dist(m->normal[i], normal), 0, 1e-12);
  }
}

static void test_half_space(void) {
  ds_shape brick = solid_shape(mesh_box(v3(0.15, 0.1, 0.05))), floor = round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  static const double corners[4][2] = {{-0.15, -0.1}, {0.15, -0.1}, {0.15, 0.1}, {-0.15, 0.1}};
  check_places(touch(&brick, at(0, 0, 0.05), &floor, at(0, 0, 0), 1e-3), corners, 4, 0, Z);
  check_places(touch(&brick, at(0, 0, 0.0499), &floor, at(0, 0, 0), 1e-3), corners, 4, -1e-4, Z);
  check_places(touch(&floor, at(0, 0, 0), &brick, at(0, 0, 0.0505), 1e-3), corners, 4, 5e-4, v3(0, 0, -1));
  /* on an edge, on a corner */
  double s = sqrt(0.5);
  ds_pose edge = turned(0, 0, 0.15 * s, X, 45);
  const ds_manifold *m = touch(&brick, edge, &floor, at(0, 0, 0), 1e-3);
  CHECK_NEAR(m->count, 2, 0);
  CHECK_NEAR(farthest(m, X), 0.15, 1e-9);
  CHECK_NEAR(farthest(m, v3(-1, 0, 0)), 0.15, 1e-9);
  CHECK_NEAR(least_gap(m), 0, 1e-12);
  drop_shape(&brick);
}

/* ---- concave faces and holes ---- */

static void test_concave(void) {
  ds_shape l = solid_shape(mesh_l(0.5)), u = solid_shape(mesh_u(0.5)), plate = box_for_solids(5, 5, 0.1);
  ds_shape slab = solid_shape(mesh_box(v3(5, 5, 0.1))), small = solid_shape(mesh_box(v3(0.25, 0.25, 0.1)));
  static const double of_l[5][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 2}, {0, 2}};
  static const double of_u[4][2] = {{0, 0}, {3, 0}, {3, 2}, {0, 2}};
  check_places(touch(&plate, at(0, 0, 0.6), &l, at(0, 0, 0), 1e-3), of_l, 5, 0, Z);
  check_places(touch(&slab, at(0, 0, 0.6), &l, at(0, 0, 0), 1e-3), of_l, 5, 0, Z);
  check_places(touch(&slab, at(0, 0, 0.6), &u, at(0, 0, 0), 1e-3), of_u, 4, 0, Z);
  /* L on L: the outline of both; and turned, where only one leg of each is over the other */
  check_places(touch(&l, at(0, 0, 0.9999), &l, at(0, 0, 0), 1e-3), of_l, 5, -1e-4, Z);
  static const double legs[4][2] = {{1, 0}, {2, 0}, {2, 1}, {1, 1}};
  check_places(touch(&l, at(1, 0, 1), &l, at(0, 0, 0), 1e-3), legs, 4, 0, Z);
  /* a block over the notch touches nothing; half over it, what is left */
  CHECK_NEAR(touch(&small, at(1.5, 1.5, 0.6), &l, at(0, 0, 0), 1e-3)->count, 0, 0);
  static const double half[4][2] = {{1.25, 0.75}, {1.75, 0.75}, {1.75, 1}, {1.25, 1}};
  check_places(touch(&small, at(1.5, 1, 0.6), &l, at(0, 0, 0), 1e-3), half, 4, 0, Z);
  /* a U standing on its legs: both feet */
  ds_pose standing = turned(0, 0, 2, X, -90);
  static const double feet[8][2] = {{0, -0.5}, {1, -0.5}, {1, 0.5}, {0, 0.5}, {2, -0.5}, {3, -0.5}, {3, 0.5}, {2, 0.5}};
  check_places(touch(&u, standing, &slab, at(0, 0, -0.1), 1e-3), feet, 8, 0, Z);
  ds_shape floor = round_shape(DS_SHAPE_HALF_SPACE, 0, 0);
  check_places(touch(&u, standing, &floor, at(0, 0, 0), 1e-3), feet, 8, 0, Z);
  /* a block in the U: bottom and both sides, each with its own normal */
  ds_shape tongue = solid_shape(mesh_box(v3(0.5, 0.4, 0.3)));
  const ds_manifold *m = touch(&tongue, at(1.5, 1.4, 0), &u, at(0, 0, 0), 1e-3);
  int32_t sides[3] = {0, 0, 0};
  for (int32_t i = 0; i < m->count; i++) {
    sides[0] += m->normal[i].y > 1 - 1e-9;
    sides[1] += m->normal[i].x > 1 - 1e-9;
    sides[2] += m->normal[i].x < -1 + 1e-9;
    CHECK_NEAR(m->gap[i], 0, 1e-12);
  }
  CHECK_NEAR(sides[0], 4, 0);
  CHECK_NEAR(sides[1], 4, 0);
  CHECK_NEAR(sides[2], 4, 0);
  CHECK_NEAR(m->count, 12, 0);
  drop_shape(&l);
  drop_shape(&u);
  drop_shape(&plate);
  drop_shape(&slab);
  drop_shape(&small);
  drop_shape(&tongue);
}

static void test_hole(void) {
  ds_shape frame = solid_shape(mesh_frame(0.5, 0.2, 0.1)), slab = solid_shape(mesh_box(v3(2, 2, 0.1)));
  ds_shape thin = solid_shape(mesh_box(v3(0.15, 0.15, 0.4))), thick = solid_shape(mesh_box(v3(0.25, 0.25, 0.4)));
  static const double outer[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
  static const double ring[4][2] = {{-0.25, -0.25}, {0.25, -0.25}, {0.25, 0.25}, {-0.25, 0.25}};
  check_places(touch(&frame, at(0, 0, 0.2), &slab, at(0, 0, 0), 1e-3), outer, 4, 0, Z);
  check_places(touch(&thick, at(0, 0, 0.5), &frame, at(0, 0, 0), 1e-3), ring, 4, 0, Z);
  /* a peg through the hole: free; at its wall, the four corners of the common polygon */
  CHECK_NEAR(touch(&thin, at(0, 0, 0.2), &frame, at(0, 0, 0), 1e-3)->count, 0, 0);
  const ds_manifold *m = touch(&thin, at(0.05, 0, 0.2), &frame, at(0, 0, 0), 1e-3);
  CHECK_NEAR(m->count, 4, 0);
  CHECK_NEAR(farthest(m, Y), 0.15, 1e-12);
  CHECK_NEAR(farthest(m, Z), 0.1, 1e-12);
  CHECK_NEAR(farthest(m, v3(0, 0, -1)), 0.1, 1e-12);
  for (int32_t i = 0; i < m->count; i++) CHECK_NEAR(m->normal[i].x, -1, 1e-12);
  /* the peg's end 1 cm in the hole, and a hair too wide: not on the frame's top */
  ds_shape tight = solid_shape(mesh_box(v3(0.2000001, 0.2000001, 0.4)));
  m = touch(&tight, at(0, 0, 0.49), &frame, at(0, 0, 0), 1e-4);
  for (int32_t i = 0; i < m->count; i++) CHECK_LE(fabs(m->normal[i].z), 0.1);
  drop_shape(&frame);
  drop_shape(&slab);
  drop_shape(&thin);
  drop_shape(&thick);
  drop_shape(&tight);
}

/* ---- edges ---- */

static void test_edges(void) {
  ds_shape slab = solid_shape(mesh_box(v3(0.5, 0.5, 0.1))), bar = solid_shape(mesh_box(v3(0.3, 0.05, 0.05)));
  double s = sqrt(0.5);
  for (int degrees = 10; degrees <= 80; degrees += 5) {
    /* on its lower edge, within the slab and over its border: both ends, the normal of the slab */
    ds_pose pose = turned(0, 0, 0, X, degrees);
    pose.p.z = 0.1 - 1e-5 + 0.05 * (sin(degrees * DS_PI / 180) + cos(degrees * DS_PI / 180));
    for (int over = 0; over < 2; over++) {
      pose.p.x = over ? 0.4 : 0.1;
      const ds_manifold *m = touch(&bar, pose, &slab, at(0, 0, 0), 1e-4);
      CHECK_NEAR(m->count, 2, 0);
      CHECK_NEAR(farthest(m, X), over ? 0.5 : 0.4, 1e-9);
      CHECK_NEAR(farthest(m, v3(-1, 0, 0)), over ? -0.1 : 0.2, 1e-9);
      for (int32_t i = 0; i < m->count; i++) {
        CHECK_NEAR(m->gap[i], -1e-5, 1e-12);
        CHECK_NEAR(m->normal[i].z, 1, 1e-12);
      }
    }
  }
  /* two bars on edge that cross: one point, the normal square to both edges */
  for (int degrees = 30; degrees <= 90; degrees += 20) {
    ds_pose lower = turned(0, 0, 0, X, 45), upper = turned(0, 0, 0.1 * 2 * s - 1e-5, X, 45);
    upper.q = quat_mul(quat_axis_angle(Z, degrees * DS_PI / 180), upper.q);
    const ds_manifold *m = touch(&bar, upper, &bar, lower, 1e-4);
    CHECK_NEAR(m->count, 1, 0);
    CHECK_NEAR(m->gap[0], -1e-5, 1e-12);
    CHECK_NEAR(m->normal[0].z, 1, 1e-12);
    CHECK_NEAR(hypot(m->point[0].x, m->point[0].y), 0, 1e-9);
  }
  drop_shape(&slab);
  drop_shape(&bar);
}

/* Thin plates that overlap by more than half their thickness: the nearer sides, not the far ones. */
static void test_overlap(void) {
  ds_shape plate = solid_shape(mesh_box(v3(0.5, 0.5, 0.01)));
  for (int percent = 1; percent <= 40; percent += 13) {
    double depth = 0.02 * percent / 100;
    const ds_manifold *m = touch(&plate, at(0.1, 0.05, 0.02 - depth), &plate, at(0, 0, 0), 1e-4);
    CHECK_NEAR(m->count, 4, 0);
    for (int32_t i = 0; i < m->count; i++) {
      CHECK_NEAR(m->gap[i], -depth, 1e-12);
      CHECK_NEAR(m->normal[i].z, 1, 1e-12);
    }
  }
  /* flush side by side, on top of each other: nothing behind */
  const ds_manifold *m = touch(&plate, at(1, 0, 0), &plate, at(0, 0, 0), 1e-4);
  for (int32_t i = 0; i < m->count; i++) CHECK_NEAR(m->normal[i].x, 1, 1e-12);
  CHECK_NEAR(m->count, 4, 0);
  m = touch(&plate, at(1 - 1e-7, 0, 0.02 - 1e-7), &plate, at(0, 0, 0), 1e-4); /* edge on edge */
  for (int32_t i = 0; i < m->count; i++) CHECK_LE(-1e-6, m->gap[i]);
  drop_shape(&plate);
}

/* ---- structures ---- */

static ds_mesh mesh_of_hull(const ds_hull *h) {
  int32_t triangles = h->face_start[h->face_count] - 2 * h->face_count, t = 0;
  ds_mesh m = mesh_new(h->vertex_count, triangles);
  for (int32_t i = 0; i < h->vertex_count; i++) m.vertices[i] = h->vertices[i];
  for (int32_t f = 0; f < h->face_count; f++) {
    const int32_t *v = h->face_vertex + h->face_start[f];
    for (int32_t k = 1; k + 1 < h->face_start[f + 1] - h->face_start[f]; k++)
      mesh_triangle(&m, &t, v[0], v[k], v[k + 1]);
  }
  return m;
}

/* The same scene with its hulls as solids. */
static ds_scene *hulls_as_solids(const ds_scene *from) {
  ds_scene *scene = scene_new(from->def.gravity, 0.6, 0);
  for (int32_t i = 0; i < from->body_count; i++) {
    const ds_body *body = &from->bodies[i];
    ds_body_def def = ds_default_body();
    def.kind = body->kind;
    def.pose = body->def.pose;
    const ds_shape *shape = &body->shapes[0];
    ds_shape_def as = ds_default_shape();
    as.kind = shape->kind, as.half = shape->half, as.density = shape->density, as.pose = shape->pose_in_body;
    if (shape->kind != DS_SHAPE_HULL) {
      scene_add(scene, &def, as);
      continue;
    }
    ds_mesh mesh = mesh_of_hull(&shape->hull);
    ds_solid *solid = solid_of(mesh);
    as.kind = DS_SHAPE_SOLID;
    as.solid = solid;
    scene_add(scene, &def, as);
    ds_solid_release(solid);
  }
  return scene;
}

typedef struct cost {
  int32_t contacts, factorizations;
  double moved;
} cost;

static cost run_at_rest(sim *s) {
  cost c = {0, 0, 0};
  int32_t steps = test_quick() ? 40 : 200;
  sim_run(s, 0.2);
  ds_state *settled = ds_state_copy(s->state);
  for (int32_t i = 0; i < steps && sim_step(s); i++) {
    c.factorizations += s->report.worst.factorizations;
    c.contacts = s->report.contacts > c.contacts ? s->report.contacts : c.contacts;
  }
  c.moved = sim_displacement(s, settled);
  CHECK_LE(sim_displacement(s, s->start), 1e-9);
  CHECK_LE(s->energy_gain, 1e-9);
  ds_state_destroy(settled);
  return c;
}

/* An arch of 25 stones costs as solids what it costs as hulls: the same contacts, and no solve at rest. */
static void test_arch(void) {
  sim hulls = {.options = ds_default_options()}, solids;
  if (!sim_generate(&hulls, "arch:stones=25")) return;
  ds_scene *scene = hulls_as_solids(hulls.scene);
  ds_error error = {""};
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  solids.options = hulls.options;
  if (!sim_start(&solids, "arch of solids", scene, 1)) return;
  cost of_hulls = run_at_rest(&hulls), of_solids = run_at_rest(&solids);
  printf(
      "     arch of hulls: %d contacts, %d factorizations; of solids: %d contacts, %d factorizations, moved %.2g m\n",
      (int)of_hulls.contacts, (int)of_hulls.factorizations, (int)of_solids.contacts, (int)of_solids.factorizations,
      of_solids.moved);
  CHECK_NEAR(of_solids.contacts, of_hulls.contacts, 0);
  CHECK_LE(of_solids.factorizations, 2 * of_hulls.factorizations + 4);
  CHECK_LE(of_solids.moved, 1e-10);
  sim_close(&hulls);
  sim_close(&solids);
}

int main(void) {
  RUN(test_which_faces);
  RUN(test_bricks);
  RUN(test_half_space);
  RUN(test_concave);
  RUN(test_hole);
  RUN(test_edges);
  RUN(test_overlap);
  RUN(test_arch);
  return test_summary();
}
