/* Contacts of deformable bodies: against all rigid shapes, against each other and against themselves, held against what
 * is known beforehand and against a search through all triangles; with the right material points; without flicker;
 * found ahead of their motion; the same for any number of threads. */
#include "detect/deformable.h"
#include "drystone/drystone.h"
#include "hand_reduced.h"
#include "scene_helper.h"

#include <time.h>

/* ---- a scene, and what is found in it ---- */

typedef struct stage {
  ds_scene *scene;
  ds_state *state;
  ds_arena arena;
  ds_contact_list found;
  ds_detect_options options;
} stage;

static stage stage_new(void) {
  stage s = {.options = {.step = 0.01, .margin = 1e-3, .contacts_per_face = 100}};
  s.scene = scene_new(v3(0, 0, 0), 0.5, 0);
  return s;
}

static int32_t put(stage *s, ds_shape_def shape, ds_pose pose, bool fixed) {
  ds_body_def body = body_at(pose.p.x, pose.p.y, pose.p.z);
  body.pose.q = pose.q;
  if (fixed) body.kind = DS_BODY_STATIC;
  return ds_index(scene_add(s->scene, &body, shape));
}

static int32_t put_reduced(stage *s, ds_reduced *reduced, ds_pose pose) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_REDUCED;
  def.reduced = reduced;
  return put(s, def, pose, false);
}

static void stage_finish(stage *s) {
  ds_error error = {""};
  ds_status status = ds_scene_finish(s->scene, &error);
  if (status != DS_OK) printf("%s\n", error.message);
  CHECK(status == DS_OK);
  s->state = ds_state_create(s->scene);
  CHECK(s->state != NULL);
}

static void set_q(stage *s, int32_t body, int32_t a, double q, double rate) {
  s->state->reduced[s->scene->bodies[body].first_reduced + a] = q;
  s->state->reduced_rate[s->scene->bodies[body].first_reduced + a] = rate;
}

static void stage_detect(stage *s) {
  ds_arena_reset(&s->arena);
  CHECK(ds_detect(&s->arena, &s->found, s->scene, s->state, &s->options) == DS_OK);
}

static void stage_free(stage *s) {
  ds_arena_free(&s->arena);
  ds_state_destroy(s->state);
  ds_scene_destroy(s->scene);
}

/* As if the last step had found this overlap. */
static void remember(stage *s, int32_t a, int32_t b, double gap) {
  if (!s->state->contacts) s->state->contacts = calloc(1, sizeof *s->state->contacts);
  s->state->contacts[0] = (ds_contact){.a = ds_id(a), .b = ds_id(b), .gap = gap};
  s->state->contact_count = s->state->contact_capacity = 1;
}

/* World place of a material point. */
static ds_vec3 anchored(const stage *s, int32_t body, ds_anchor at) {
  const ds_reduced *x = s->scene->bodies[body].reduced;
  const double *q = s->state->reduced + s->scene->bodies[body].first_reduced;
  const int32_t *v = x->surface.triangles + 3 * at.triangle;
  ds_vec3 a = ds_reduced_vertex(x, q, v[0]), b = ds_reduced_vertex(x, q, v[1]), c = ds_reduced_vertex(x, q, v[2]);
  ds_vec3 y = v3_mad(v3_mad(a, at.s, v3_sub(b, a)), at.t, v3_sub(c, a));
  return pose_point(ds_principal_pose(&s->state->bodies[body]), y);
}

/* The material points lie half a gap from the contact, along the normal: a's in front, b's behind. */
static double anchor_error(const stage *s) {
  double worst = 0;
  for (int32_t i = 0; i < s->found.count; i++) {
    const ds_contact_point *c = &s->found.points[i];
    const ds_anchor on[2] = {c->on_a, c->on_b};
    const int32_t body[2] = {c->a, c->b};
    for (int side = 0; side < 2; side++) {
      bool deforms = s->scene->bodies[body[side]].reduced != NULL;
      if (deforms != (on[side].triangle >= 0)) return INFINITY;
      if (!deforms) continue;
      double along = v3_dot(c->normal, v3_sub(anchored(s, body[side], on[side]), c->point));
      worst = fmax(worst, fabs(along - (side == 0 ? 0.5 : -0.5) * c->gap));
    }
  }
  return worst;
}

static bool in_order(const stage *s) {
  for (int32_t i = 1; i < s->found.count; i++) {
    const ds_contact_point *p = &s->found.points[i - 1], *c = &s->found.points[i];
    if (p->a > c->a || (p->a == c->a && p->b > c->b)) return false;
    if (p->a == c->a && p->b == c->b && p->feature >= c->feature) return false;
  }
  return true;
}

static double least_gap(const stage *s) {
  double least = INFINITY;
  for (int32_t i = 0; i < s->found.count; i++) least = fmin(least, s->found.points[i].gap);
  return least;
}

static ds_pose place(double x, double y, double z) { return (ds_pose){{x, y, z}, {1, 0, 0, 0}}; }

static ds_shape_def half_space(void) {
  ds_shape_def def = ds_default_shape();
  def.kind = DS_SHAPE_HALF_SPACE;
  return def;
}

/* ---- the truth, by looking at every triangle ---- */

static ds_vec3 nearest_on_segment(ds_vec3 x, ds_vec3 a, ds_vec3 b) {
  ds_vec3 e = v3_sub(b, a);
  double t = v3_dot(v3_sub(x, a), e) / fmax(v3_norm2(e), 1e-300);
  return v3_mad(a, fmin(1, fmax(0, t)), e);
}

static ds_vec3 nearest_on_triangle(ds_vec3 x, ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  ds_vec3 n = v3_cross(v3_sub(b, a), v3_sub(c, a)), best = nearest_on_segment(x, a, b);
  ds_vec3 other[3] = {nearest_on_segment(x, b, c), nearest_on_segment(x, c, a), best};
  ds_vec3 p = v3_mad(x, -v3_dot(v3_sub(x, a), n) / v3_norm2(n), n);
  bool inside = v3_dot(n, v3_cross(v3_sub(b, a), v3_sub(p, a))) >= 0 &&
                v3_dot(n, v3_cross(v3_sub(c, b), v3_sub(p, b))) >= 0 &&
                v3_dot(n, v3_cross(v3_sub(a, c), v3_sub(p, c))) >= 0;
  if (inside) other[2] = p;
  for (int i = 0; i < 3; i++)
    if (v3_dist(x, other[i]) < v3_dist(x, best)) best = other[i];
  return best;
}

/* Signed distance of a point of the body's frame; inside by the solid angles of all triangles (Van Oosterom and
 * Strackee 1983). */
static double true_distance(const ds_vec3 *y, const ds_reduced *reduced, ds_vec3 x) {
  double least = INFINITY, angle = 0;
  for (int32_t t = 0; t < reduced->surface.triangle_count; t++) {
    const int32_t *v = reduced->surface.triangles + 3 * t;
    least = fmin(least, v3_dist(x, nearest_on_triangle(x, y[v[0]], y[v[1]], y[v[2]])));
    ds_vec3 a = v3_sub(y[v[0]], x), b = v3_sub(y[v[1]], x), c = v3_sub(y[v[2]], x);
    double la = v3_norm(a), lb = v3_norm(b), lc = v3_norm(c);
    double det = v3_dot(a, v3_cross(b, c));
    angle += 2 * atan2(det, la * lb * lc + v3_dot(a, b) * lc + v3_dot(b, c) * la + v3_dot(c, a) * lb);
  }
  return angle > 2 * DS_PI ? -least : least;
}

static ds_vec3 *deform(const ds_reduced *x, const double *q) {
  ds_vec3 *y = malloc((size_t)x->surface.vertex_count * sizeof *y);
  for (int32_t i = 0; i < x->surface.vertex_count; i++) y[i] = ds_reduced_vertex(x, q, i);
  return y;
}

/* ---- tests ---- */

/* The nearest point with its sign, of a bent and twisted box, for points all around and inside. */
static void test_nearest(void) {
  ds_reduced *x = hand_box(v3(0.5, 0.1, 0.15), 12, 4, 4, 6);
  double q[6] = {0.15, -0.05, 0.08, 0.03, 0.02, -0.03};
  ds_vec3 *y = deform(x, q);
  ds_arena arena = {0};
  ds_deformed d;
  int32_t wrong = 0, found = 0, inside = 0;
  double worst = 0;
  CHECK(ds_deformed_begin(&arena, &d, &x->skin, q, NULL, 0));
  ds_want_all(&d);
  ds_deformed_fill(&d);
  for (int i = 0; i < (test_quick() ? 300 : 3000); i++) {
    ds_vec3 p = v3_mul(random_vec(1), v3(0.7, 0.3, 0.4));
    if (i % 3 == 0) p = v3_add(y[i % x->surface.vertex_count], random_vec(0.01));
    double truth = true_distance(y, x, p);
    ds_foot foot;
    bool near = ds_deformed_nearest(&foot, &d, p, 0.1, v3(0, 0, 0));
    wrong += near != (fabs(truth) < 0.1);
    ds_nearby_spheres all = {.count = -1}, some;
    ds_deformed_gather(&some, &d, &all, p, fabs(truth) * (1 + 1e-9), 0);
    wrong += some.count == 0;
    if (!near) continue;
    found++;
    inside += truth < 0;
    worst = fmax(worst, fabs(foot.distance - truth));
    CHECK_NEAR(v3_norm(foot.normal), 1, 1e-12);
    CHECK_LE(fabs(foot.gap), fabs(foot.distance) * (1 + 1e-12));
  }
  printf("     %d points near the surface, %d inside: worst error %.2g m\n", found, inside, worst);
  CHECK_NEAR(wrong, 0, 0);
  CHECK(found > 100 && inside > 20);
  CHECK_LE(worst, 1e-14);
  ds_arena_free(&arena);
  free(y);
  ds_reduced_release(x);
}

/* A box that stands on the floor touches it with all vertices of its bottom, at gap 0. */
static void test_on_floor(void) {
  ds_reduced *x = hand_box(v3(0.1, 0.1, 0.05), 4, 4, 2, 4);
  stage s = stage_new();
  put(&s, half_space(), place(0, 0, 0), true);
  int32_t box = put_reduced(&s, x, place(0.3, -0.2, 0.05));
  stage_finish(&s);
  for (int turned = 0; turned < 2; turned++) {
    stage_detect(&s);
    CHECK_NEAR(s.found.count, 25, 0);
    CHECK(in_order(&s));
    CHECK_LE(anchor_error(&s), 1e-15);
    for (int32_t i = 0; i < s.found.count; i++) {
      const ds_contact_point *c = &s.found.points[i];
      CHECK(c->a == 0 && c->b == box && c->on_a.triangle < 0 && c->on_b.triangle >= 0);
      CHECK_NEAR(c->gap, 0, 1e-15);
      CHECK_NEAR(c->normal.z, -1, 1e-15); /* from the box to the floor */
      CHECK_NEAR(anchored(&s, box, c->on_b).z, 0, 1e-15);
    }
    s.state->bodies[box].q = quat_axis_angle(v3(0, 0, 1), 0.5);
  }
  /* bent downwards in its middle, it touches there */
  set_q(&s, box, 0, 0.02, 0);
  stage_detect(&s);
  CHECK_NEAR(s.found.count, 5, 0); /* the row x = 0 stays where it was */
  double depth = -1;
  CHECK(ds_state_deepest_overlap(&depth, NULL, NULL, s.scene, s.state) == DS_OK);
  CHECK_NEAR(depth, 0, 1e-15);
  stage_free(&s);
  ds_reduced_release(x);
}

static ds_shape_def rigid_kind(int kind, ds_solid *solid) {
  static ds_vec3 points[8];
  ds_shape_def def = ds_default_shape();
  switch (kind) {
    case 0:
      return shape_sphere(0.05);
    case 1:
      return shape_box(0.1, 0.1, 0.1);
    case 2:
      return shape_round(DS_SHAPE_CAPSULE, 0.05, 0.05);
    case 3:
      return shape_round(DS_SHAPE_CYLINDER, 0.05, 0.05);
    case 4:
      for (int i = 0; i < 8; i++) points[i] = v3_scale(0.05, v3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
      def.kind = DS_SHAPE_HULL;
      def.points = points, def.point_count = 8;
      return def;
    case 5:
      def.kind = DS_SHAPE_SOLID;
      def.solid = solid;
      return def;
    default:
      return half_space();
  }
}

static ds_solid *cube_solid(void) {
  ds_vec3 v[8];
  int32_t t[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                   2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  for (int i = 0; i < 8; i++) v[i] = v3_scale(0.1, v3((i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2 & 1) - 0.5));
  ds_mesh mesh = {v, 8, t, 12};
  ds_error error;
  ds_solid_def def = ds_default_solid();
  return ds_solid_create(&mesh, &def, &error);
}

/* Every rigid shape lies on the top of a deformable box, 0.3 mm over it, in it by 0.3 mm, and far off; its lowest
 * points are 5 cm below its middle. Whichever of the two comes first, normals point up on the rigid one. */
static void test_rigid_kinds(void) {
  static const char *const names[7] = {"sphere", "box", "capsule", "cylinder", "hull", "solid", "half-space"};
  ds_reduced *x = hand_box(v3(0.2, 0.15, 0.05), 16, 12, 4, 4);
  ds_solid *solid = cube_solid();
  for (int kind = 0; kind < 7; kind++)
    for (int first = 0; first < 2; first++) {
      stage s = stage_new();
      ds_pose pose = place(0.013, 0.017, kind == 6 ? 0.05 : 0.1);
      if (kind == 2) pose.q = quat_axis_angle(v3(0, 1, 0), DS_PI / 2);
      if (kind == 6) pose.q = quat_axis_angle(v3(1, 0, 0), DS_PI);
      if (first) put(&s, rigid_kind(kind, solid), pose, true);
      int32_t box = put_reduced(&s, x, place(0, 0, 0));
      if (!first) put(&s, rigid_kind(kind, solid), pose, true);
      stage_finish(&s);
      for (int k = 0; k < 3; k++) {
        double gap = k == 0 ? 3e-4 : k == 1 ? -3e-4 : 5e-3;
        s.state->bodies[!box].x.z = pose.p.z + gap;
        stage_detect(&s);
        if (k == 2) {
          CHECK_NEAR(s.found.count, 0, 0);
          continue;
        }
        double sign = box == 0 ? -1 : 1, upright = 1;
        for (int32_t i = 0; i < s.found.count; i++) upright = fmin(upright, sign * s.found.points[i].normal.z);
        if (k == 0 && first)
          printf("     %s: %d contacts, least gap %.2g mm, normals up by %.3f at least\n", names[kind], s.found.count,
                 1e3 * least_gap(&s), upright);
        CHECK(s.found.count >= (kind == 0 ? 1 : 2));
        CHECK(in_order(&s));
        CHECK_NEAR(least_gap(&s), gap, kind == 5 ? 1e-4 : 1e-12);
        if (k == 0 || kind != 3) CHECK_LE(kind == 3 ? 0.6 : 0.9, upright); /* beside a cylinder's rim normals lean */
        CHECK_LE(anchor_error(&s), 1e-12);
      }
      stage_free(&s);
    }
  ds_solid_release(solid);
  ds_reduced_release(x);
}

/* A rigid ball pressed into a dented surface: every contact lies where ball and surface are nearest. */
static void test_ball_in_dent(void) {
  ds_reduced *x = hand_box(v3(0.3, 0.1, 0.05), 30, 10, 4, 4);
  stage s = stage_new();
  int32_t box = put_reduced(&s, x, place(0, 0, 0)), ball = put(&s, shape_sphere(0.1), place(0, 0, 0.1495), false);
  stage_finish(&s);
  for (int k = 0; k < 3; k++) {
    double bend = 0.1 * k; /* upwards at the ends, about the ball: radius of curvature 0.45, 0.225 m */
    set_q(&s, box, 0, bend, 0);
    stage_detect(&s);
    double q[4] = {bend, 0, 0, 0};
    ds_vec3 *y = deform(x, q);
    double truth = true_distance(y, x, v3(0, 0, 0.1495)) - 0.1;
    printf("     bent by %.1f: %d contacts, least gap %.3g mm, true %.3g mm\n", bend, s.found.count,
           1e3 * least_gap(&s), 1e3 * truth);
    CHECK_NEAR(least_gap(&s), truth, 1e-12);
    CHECK(s.found.count >= 1);
    CHECK_LE(anchor_error(&s), 1e-12);
    free(y);
  }
  CHECK_LE(s.found.count, 60);
  CHECK(s.state->bodies[ball].x.z > 0);
  stage_free(&s);
  ds_reduced_release(x);
}

/* Two equal boxes, one flush on the other: vertices meet vertices, edges edges, and nothing pushes sideways. */
static void test_flush(void) {
  ds_reduced *x = hand_box(v3(0.1, 0.1, 0.05), 4, 4, 2, 4);
  stage s = stage_new();
  put_reduced(&s, x, place(0, 0, 0));
  put_reduced(&s, x, place(0, 0, 0.1));
  stage_finish(&s);
  int32_t counts[2] = {INT32_MAX, 0};
  double upright = 1;
  for (int i = 0; i < 50; i++) {
    ds_vec3 nudge = random_vec(i == 0 ? 0 : i < 25 ? 1e-9 : 1e-6);
    s.state->bodies[1].x = v3_add(v3(0, 0, 0.1), nudge);
    stage_detect(&s);
    for (int32_t k = 0; k < s.found.count; k++) upright = fmin(upright, -s.found.points[k].normal.z);
    CHECK_NEAR(least_gap(&s), nudge.z, 1e-8);
    CHECK_LE(anchor_error(&s), 1e-12);
    counts[0] = s.found.count < counts[0] ? s.found.count : counts[0];
    counts[1] = s.found.count > counts[1] ? s.found.count : counts[1];
  }
  printf("     flush: %d to %d contacts, normals upright by %.9f\n", counts[0], counts[1], upright);
  CHECK_NEAR(counts[0], 50, 0); /* 25 vertices of either */
  CHECK_NEAR(counts[1], 50, 0);
  CHECK_LE(1 - 1e-6, upright);
  stage_free(&s);
  ds_reduced_release(x);
}

/* With few points a face too: the same ones while nothing moves by more than a hair. */
static void test_no_flicker(void) {
  ds_reduced *x = hand_box(v3(0.2, 0.15, 0.05), 16, 12, 4, 4);
  stage s = stage_new();
  s.options.contacts_per_face = 8;
  put(&s, half_space(), place(0, 0, 0), true);
  int32_t low = put_reduced(&s, x, place(0, 0, 0.05)), high = put_reduced(&s, x, place(0.031, 0.022, 0.15));
  stage_finish(&s);
  int32_t count = 0, changed = 0;
  uint64_t *features = NULL;
  for (int i = 0; i < 30; i++) {
    s.state->bodies[low].x = v3_add(v3(0, 0, 0.05), random_vec(1e-10));
    s.state->bodies[high].x = v3_add(v3(0.031, 0.022, 0.15), random_vec(1e-10));
    for (int32_t a = 0; a < 4; a++) set_q(&s, low, a, uniform(-1e-10, 1e-10), 0);
    stage_detect(&s);
    if (!features) {
      count = s.found.count;
      features = malloc((size_t)count * sizeof *features);
      for (int32_t k = 0; k < count; k++) features[k] = s.found.points[k].feature;
    }
    changed += s.found.count != count;
    for (int32_t k = 0; k < count && k < s.found.count; k++) changed += s.found.points[k].feature != features[k];
  }
  printf("     %d contacts at rest, %d changes\n", count, changed);
  CHECK_NEAR(changed, 0, 0);
  CHECK(count > 20 && count <= 2 * 48);
  free(features);
  stage_free(&s);
  ds_reduced_release(x);
}

/* Every vertex of one body that lies near the surface of another is a contact, with the true gap; nothing else is. */
static void check_against_truth(const stage *s, int32_t from, int32_t to, int32_t *matched) {
  const ds_body *a = &s->scene->bodies[from], *b = &s->scene->bodies[to];
  ds_pose pa = ds_principal_pose(&s->state->bodies[from]), pb = ds_principal_pose(&s->state->bodies[to]);
  ds_vec3 *y = deform(a->reduced, s->state->reduced + a->first_reduced);
  ds_vec3 *z = deform(b->reduced, s->state->reduced + b->first_reduced);
  uint32_t kind = from < to ? 0 : 1;
  for (int32_t v = 0; v < a->reduced->surface.vertex_count; v++) {
    ds_vec3 x = pose_unpoint(pb, pose_point(pa, y[v]));
    double truth = true_distance(z, b->reduced, x);
    const ds_contact_point *hit = NULL;
    for (int32_t i = 0; i < s->found.count; i++)
      if ((uint32_t)s->found.points[i].feature == (kind << 30 | (uint32_t)v)) hit = &s->found.points[i];
    if (hit) {
      (*matched)++;
      CHECK_LE(hit->gap, fabs(truth) + 1e-12); /* along the normal, which is rounded at edges */
      CHECK_LE(fabs(truth - hit->gap), 0.02 * b->reduced->tree.spacing);
      ds_vec3 at = anchored(s, from, from < to ? hit->on_a : hit->on_b);
      CHECK_NEAR(v3_dist(at, pose_point(pa, y[v])), 0, 1e-12);
    } else {
      CHECK(!(truth < 1e-3 && truth > -1e-3)); /* slack = 1 mm; shallow vertices are never left out here */
    }
  }
  free(y);
  free(z);
}

static void test_bent_beams(void) {
  ds_reduced *x = hand_box(v3(0.3, 0.04, 0.03), 24, 4, 4, 5);
  stage s = stage_new();
  s.options.contacts_per_face = 400;
  int32_t a = put_reduced(&s, x, place(0, 0, 0)), b = put_reduced(&s, x, place(0, 0, 0.07)), matched = 0, pairs = 0;
  stage_finish(&s);
  for (int i = 0; i < (test_quick() ? 6 : 24); i++) {
    for (int32_t k = 0; k < 5; k++) {
      set_q(&s, a, k, uniform(-0.03, 0.03), 0);
      set_q(&s, b, k, uniform(-0.03, 0.03), 0);
    }
    set_q(&s, a, 0, uniform(-0.1, 0.1), 0);
    double yaw = uniform(-3, 3), pitch = uniform(-0.3, 0.3), roll = uniform(-0.3, 0.3);
    s.state->bodies[b].q = quat_exp(v3(roll, pitch, yaw));
    s.state->bodies[b].x = v3(uniform(-0.1, 0.1), 0, 0.2);
    stage_detect(&s);
    for (int k = 0; k < 200 && !(least_gap(&s) < -1e-3); k++) { /* down, until they touch */
      s.state->bodies[b].x.z -= 1e-3;
      stage_detect(&s);
    }
    CHECK(in_order(&s));
    pairs += s.found.count > 0;
    if (s.found.count == 0) continue;
    CHECK_LE(anchor_error(&s), 1e-12);
    check_against_truth(&s, a, b, &matched);
    check_against_truth(&s, b, a, &matched);
  }
  printf("     %d pairs of bent beams touch; %d contacts as they should be\n", pairs, matched);
  CHECK(matched > (test_quick() ? 10 : 50));
  stage_free(&s);
  ds_reduced_release(x);
}

/* What comes within the step is found before, by the speed of the body and by that of its deformation. */
static void test_ahead(void) {
  ds_reduced *x = hand_box(v3(0.2, 0.05, 0.05), 16, 4, 4, 4);
  for (int way = 0; way < 3; way++) {
    stage s = stage_new();
    int32_t box = put_reduced(&s, x, place(0, 0, 0.06)); /* 10 mm over the floor */
    put(&s, half_space(), place(0, 0, 0), true);
    int32_t other = put_reduced(&s, x, place(0, 0, 0.17)); /* 10 mm over the first */
    stage_finish(&s);
    stage_detect(&s);
    CHECK_NEAR(s.found.count, 0, 0);
    if (way == 0) s.state->bodies[box].v = v3(0, 0, -1.1);
    if (way == 1) set_q(&s, box, 0, 0, -1.1); /* its ends go down */
    if (way == 2) set_q(&s, box, 0, 0, 1.1);  /* up, to the other */
    stage_detect(&s);
    int32_t touched = way == 2 ? other : 1, others = 0;
    for (int32_t i = 0; i < s.found.count; i++) others += s.found.points[i].b != touched;
    printf("     %s: %d contacts ahead, gap %.4f mm\n",
           way == 0   ? "falls"
           : way == 1 ? "bends down"
                      : "bends up",
           s.found.count, 1e3 * least_gap(&s));
    CHECK(s.found.count > 3);
    CHECK_NEAR(others, 0, 0);
    CHECK_NEAR(least_gap(&s), 0.01, 1e-12);
    /* away from each other: nothing */
    set_q(&s, box, 0, 0, 0);
    s.state->bodies[box].v = v3(0, 0, 0);
    s.state->bodies[other].v = v3(0, 0, 1);
    stage_detect(&s);
    for (int32_t i = 0; i < s.found.count; i++) CHECK_LE(0.01 - 1e-12, s.found.points[i].gap);
    stage_free(&s);
  }
  ds_reduced_release(x);
}

/* A plate that has sunk into a thin one by more than half is pushed back to where it came from. */
static void test_thin_wall(void) {
  ds_reduced *x = hand_box(v3(0.1, 0.1, 0.005), 10, 10, 1, 4);
  stage s = stage_new();
  s.options.margin = 1e-4;
  put_reduced(&s, x, place(0, 0, 0));
  put_reduced(&s, x, place(0.033, 0.027, 0.01));
  stage_finish(&s);
  for (int i = 1; i <= 4; i++) {
    double depth = 0.002 * i; /* of 0.01 */
    s.state->bodies[1].x.z = 0.01 - depth;
    remember(&s, 0, 1, -0.9 * depth); /* it sinks slowly */
    stage_detect(&s);
    int32_t back = 0, through = 0;
    for (int32_t k = 0; k < s.found.count; k++) {
      double up = -s.found.points[k].normal.z;
      back += up > 0.9 && fabs(s.found.points[k].gap + depth) < 1e-9;
      through += up < -0.9;
    }
    printf("     %g of the thickness deep: %d contacts, %d back, %d through\n", depth / 0.01, s.found.count, back,
           through);
    CHECK(back >= 50);
    CHECK_NEAR(through, 0, 0);
  }
  stage_free(&s);
  ds_reduced_release(x);
}

/* ---- self-contact ---- */

/* A horseshoe that is bent until its ends meet touches itself there; before it does not. A ball never does. */
static void test_self(void) {
  hand_shoe shoe = {.radius = 0.2, .thick = 0.03, .open = 2.4, .closed = 3.1};
  ds_reduced *x = hand_horseshoe(shoe, 60, 4);
  stage s = stage_new();
  int32_t id = put_reduced(&s, x, place(0.1, 0.2, 0.3));
  stage_finish(&s);
  s.state->bodies[id].q = quat_axis_angle(v3(1, 2, 3), 0.4);
  double last = INFINITY;
  for (int i = 0; i <= 24; i++) {
    double q = i <= 10 ? 0.1 * i : 1 + 0.005 * (i - 10), gap;
    set_q(&s, id, 0, q, 0);
    stage_detect(&s);
    /* the least distance of the two end faces */
    double c[1] = {q};
    ds_vec3 *y = deform(x, c);
    gap = INFINITY;
    for (int32_t v = 0; v < x->surface.vertex_count; v++)
      if (x->surface.vertices[v].z < -0.1 && x->surface.vertices[v].x > 0) gap = fmin(gap, 2 * y[v].x);
    free(y);
    if (i % 5 == 0)
      printf("     closed by %.2f: ends %.2f mm apart, %d contacts, least gap %.2f mm\n", q, 1e3 * gap, s.found.count,
             1e3 * least_gap(&s));
    CHECK_LE(anchor_error(&s), 1e-12);
    CHECK(in_order(&s));
    if (gap > 2e-3) CHECK_NEAR(s.found.count, 0, 0);
    if (gap < 0.5e-3 && gap > -0.01) CHECK(s.found.count >= 2);
    for (int32_t k = 0; k < s.found.count; k++) {
      const ds_contact_point *p = &s.found.points[k];
      CHECK(p->a == id && p->b == id && p->on_a.triangle >= 0 && p->on_b.triangle >= 0);
      ds_vec3 n = quat_unrotate(s.state->bodies[id].q, p->normal);
      if (gap > -1e-3) CHECK_LE(0.95, fabs(n.x)); /* along the way in which it closes */
      CHECK(p->gap > -0.02);
    }
    remember(&s, id, id, least_gap(&s));
    if (s.found.count > 0) {
      CHECK_LE(least_gap(&s), last + 1e-12); /* ever deeper */
      last = least_gap(&s);
    }
  }
  CHECK_LE(last, -1e-3);
  /* about to close within the step: found ahead, at its full opening; slower ones are not */
  for (int fast = 0; fast < 2; fast++) {
    set_q(&s, id, 0, 0.8, fast ? 30 : 20); /* open by 54 mm: a quarter of all */
    stage_detect(&s);
    printf("     %s: %d contacts ahead, gap %.2f mm\n", fast ? "closes" : "nearly", s.found.count, 1e3 * least_gap(&s));
    CHECK((s.found.count > 0) == (fast == 1));
    if (fast) CHECK_LE(0.05, least_gap(&s));
  }
  stage_free(&s);
  ds_reduced_release(x);
}

static int32_t self_contacts(ds_arena *arena, ds_manifold *m, ds_deformed *d, const ds_reduced *x, const double *q,
                             const double *rate, bool all) {
  const double step = 0.01;
  ds_deformable_query query = {.solid = {.slack = 1e-3, .relax = 0.5, .per_face = 8}, .deepest = 0.01};
  ds_shape shape = {.kind = DS_SHAPE_REDUCED, .bounding_radius = 0.3};
  double way = 2 * step * ds_skin_stir(&x->skin, rate), reach = 1e-3 + 1.5 * way + ds_search_depth(&x->skin, 0.01, way);
  shape.reduced = (ds_reduced *)(uintptr_t)x;
  CHECK(ds_deformed_begin(arena, d, &x->skin, q, rate, step));
  if (all)
    ds_want_all(d);
  else
    CHECK(ds_want_folds(arena, d, reach));
  ds_deformed_fill(d);
  ds_party body = {&shape, pose_identity(), d};
  CHECK(ds_narrow_self(arena, m, &query, &body));
  return m->count;
}

/* Patches that are left out by the bounds from q alone hold no contact: the same list as with all of them. */
static void test_folds_by_bounds(void) {
  ds_reduced *x = hand_horseshoe((hand_shoe){.radius = 0.2, .thick = 0.03, .open = 2.4, .closed = 3.1}, 60, 4);
  ds_manifold *all = malloc(sizeof *all), *some = malloc(sizeof *some);
  int32_t touching = 0, left_out = 0, none = 0, rounds = test_quick() ? 60 : 400;
  for (int i = 0; i < rounds; i++) {
    double q[1] = {uniform(0, 1.1)}, rate[1] = {uniform(-40, 40)};
    ds_arena arena = {0};
    ds_deformed whole, part;
    int32_t count = self_contacts(&arena, all, &whole, x, q, rate, true);
    CHECK_NEAR(self_contacts(&arena, some, &part, x, q, rate, false), count, 0);
    for (int32_t k = 0; k < count; k++) {
      CHECK(all->feature[k] == some->feature[k] && all->gap[k] == some->gap[k]);
      CHECK(all->on_b[k].triangle == some->on_b[k].triangle && v3_dist(all->normal[k], some->normal[k]) == 0);
    }
    touching += count > 0;
    left_out += part.placed_count < whole.placed_count;
    none += part.placed_count == 0;
    ds_arena_free(&arena);
  }
  printf("     %d horseshoes: %d touch themselves; %d not worked out whole, %d not at all\n", rounds, touching,
         left_out, none);
  CHECK(touching > rounds / 10 && left_out > rounds / 4 && none > 0);
  free(all);
  free(some);
  ds_reduced_release(x);
}

static void test_no_self(void) {
  ds_reduced *bodies[3] = {hand_ball(0.1, 8, 8), hand_box(v3(0.3, 0.02, 0.005), 30, 4, 1, 8),
                           hand_horseshoe((hand_shoe){0.2, 0.03, 2.9, 3.1}, 60, 4)};
  int32_t folded = 0;
  for (int b = 0; b < 3; b++) {
    stage s = stage_new();
    s.options.margin = 0.05; /* far more than gaps and walls */
    int32_t id = put_reduced(&s, bodies[b], place(0, 0, 0));
    stage_finish(&s);
    stage_detect(&s);
    CHECK_NEAR(s.found.count, 0, 0);
    for (int i = 0; i < 30 && b < 2; i++) {
      /* the ball is flattened to a third, waves of a tenth; the strip is bent by its length */
      for (int32_t a = 0; a < bodies[b]->r; a++) set_q(&s, id, a, uniform(-0.01, 0.01), 0);
      set_q(&s, id, 0, b == 0 ? uniform(-0.06, 0.06) : uniform(-0.3, 0.3), 0);
      folded += ds_may_touch_itself(&bodies[b]->skin, s.state->reduced,
                                    0.01 * ds_skin_stir(&bodies[b]->skin, s.state->reduced_rate));
      stage_detect(&s);
      CHECK_NEAR(s.found.count, 0, 0);
    }
    stage_free(&s);
    ds_reduced_release(bodies[b]);
  }
  CHECK(folded > 20); /* it was looked for */
}

/* ---- the rest ---- */

/* The same list, bit for bit, for any number of threads. */
static void test_threads(void) {
  ds_reduced *x = hand_box(v3(0.1, 0.1, 0.05), 6, 6, 3, 4);
  stage s = stage_new();
  put(&s, half_space(), place(0, 0, 0), true);
  for (int i = 0; i < 27; i++) put_reduced(&s, x, place(0.199 * (i % 3), 0.199 * (i / 3 % 3), 0.05 + 0.0999 * (i / 9)));
  stage_finish(&s);
  for (int32_t i = 1; i <= 27; i++)
    for (int32_t a = 0; a < 4; a++) {
      double rate = uniform(-0.1, 0.1), q = uniform(-1e-3, 1e-3);
      set_q(&s, i, a, q, rate);
    }
  stage_detect(&s);
  int32_t count = s.found.count;
  ds_contact_point *first = malloc((size_t)count * sizeof *first);
  memcpy(first, s.found.points, (size_t)count * sizeof *first);
  printf("     27 boxes: %d contacts\n", count);
  CHECK(count > 500);
  for (int32_t threads = 2; threads <= 4; threads++) {
    ds_pool *pool = ds_pool_create(threads);
    ds_arena workers[4] = {0};
    s.options.pool = pool, s.options.workers = workers;
    for (int again = 0; again < 2; again++) {
      for (int32_t i = 0; i < threads; i++) ds_arena_reset(&workers[i]);
      stage_detect(&s);
      int32_t different = s.found.count != count;
      for (int32_t i = 0; i < count && !different; i++) {
        const ds_contact_point *p = &first[i], *c = &s.found.points[i];
        different += p->a != c->a || p->b != c->b || p->feature != c->feature || p->gap != c->gap ||
                     v3_dist(p->point, c->point) != 0 || v3_dist(p->normal, c->normal) != 0 ||
                     p->on_a.triangle != c->on_a.triangle || p->on_b.s != c->on_b.s || p->on_b.t != c->on_b.t;
      }
      CHECK_NEAR(different, 0, 0);
    }
    for (int32_t i = 0; i < threads; i++) ds_arena_free(&workers[i]);
    ds_pool_destroy(pool);
  }
  free(first);
  stage_free(&s);
  ds_reduced_release(x);
}

/* A second look with other velocities leaves deformable bodies alone. */
static void test_again(void) {
  ds_reduced *x = hand_box(v3(0.1, 0.1, 0.05), 6, 6, 3, 4);
  stage s = stage_new();
  put(&s, half_space(), place(0, 0, 0), true);
  int32_t a = put_reduced(&s, x, place(0, 0, 0.09)), b = put_reduced(&s, x, place(0.3, 0, 0.09));
  stage_finish(&s);
  stage_detect(&s);
  CHECK_NEAR(s.found.count, 0, 0);
  ds_body_state solved[3];
  memcpy(solved, s.state->bodies, sizeof solved);
  int32_t added;
  solved[a].v = v3(0, 0, -6);  /* 60 mm a step; the floor is 40 mm away */
  solved[b].v = v3(-12, 0, 0); /* 120 mm a step; the other is 100 mm away */
  CHECK(ds_detect_again(&s.arena, &s.found, &added, s.scene, s.state, solved, &s.options) == DS_OK);
  CHECK_NEAR(added, 0, 0);
  CHECK_NEAR(s.found.count, 0, 0);
  stage_free(&s);
  ds_reduced_release(x);
}

/* A point is inside only as far as it was before and has come since: all around a part that is inside out seems to be
 * inside. */
static void test_was_outside(void) {
  ds_reduced *x = hand_box(v3(0.1, 0.1, 0.05), 6, 6, 3, 4);
  double fresh = ds_fresh_depth(&x->skin), deep = fresh + 4e-3;
  ds_contact before[2] = {{.gap = 1e-3, .feature = 7}, {.gap = -3e-3, .feature = 9}};
  ds_deformable_query q = {.has_past = true, .before = before, .before_count = 2};
  ds_vec3 up = {0, 0, 1}, down = {0, 0, -4.1e-3}, along = {5e-3, 0, 0};
  CHECK(ds_was_outside(&q, &x->skin, -deep, up, v3(0, 0, 0), 7));
  CHECK(ds_was_outside(&q, &x->skin, -deep, up, along, 7));
  CHECK(!ds_was_outside(&q, &x->skin, -deep, up, down, 7));          /* came by its way */
  CHECK(!ds_was_outside(&q, &x->skin, -deep, up, along, 9));         /* was inside, and has come by a part of its way */
  CHECK(ds_was_outside(&q, &x->skin, -deep, up, v3(0, 0, 0), 9));    /* was, but not as deep */
  CHECK(!ds_was_outside(&q, &x->skin, -fresh, up, v3(0, 0, 0), 11)); /* hardly inside */
  q.has_past = false;
  CHECK(!ds_was_outside(&q, &x->skin, -1, up, v3(0, 0, 0), 11)); /* put there */
  ds_reduced_release(x);
}

static void test_ray(void) {
  ds_reduced *x = hand_box(v3(0.3, 0.05, 0.05), 24, 4, 4, 4);
  stage s = stage_new();
  int32_t box = put_reduced(&s, x, place(1, 2, 3));
  stage_finish(&s);
  set_q(&s, box, 0, 0.1, 0); /* up by 0.1 (x / 0.3)² */
  for (int i = -2; i <= 2; i++) {
    double px = 0.11 * i, q[4] = {0.1, 0, 0, 0};
    ds_ray_hit hit = ds_state_ray_cast(s.scene, s.state, v3(1 + px, 2.01, 5), v3(0, 0, -3), 10);
    CHECK(ds_index(hit.body) == box);
    ds_vec3 *y = deform(x, q), on = v3_sub(hit.point, v3(1, 2, 3));
    CHECK_NEAR(true_distance(y, x, on), 0, 1e-14);
    for (int k = 1; k < 10; k++) CHECK_LE(1e-3 * k, true_distance(y, x, v3_mad(on, 0.01 * k, v3(0, 0, 1))));
    CHECK_LE(0.5, hit.normal.z);
    free(y);
  }
  CHECK(ds_state_ray_cast(s.scene, s.state, v3(1.4, 2, 5), v3(0, 0, -1), 10).body.index1 == 0);
  stage_free(&s);
  ds_reduced_release(x);
}

/* Nothing here is asserted: what it costs. */
static void test_cost(void) {
  ds_reduced *x = hand_box(v3(0.2, 0.15, 0.05), 28, 21, 7, 30);
  stage s = stage_new();
  s.options.contacts_per_face = 8;
  put(&s, half_space(), place(0, 0, 0), true);
  for (int i = 0; i < 5; i++) put_reduced(&s, x, place(0.01 * i, 0.007 * i, 0.05 + 0.1 * i));
  stage_finish(&s);
  int n = test_quick() ? 2 : 10;
  for (int deformed = 0; deformed < 2; deformed++) {
    for (int32_t i = 1; i <= 5; i++)
      for (int32_t a = 0; a < 30; a++) set_q(&s, i, a, deformed ? uniform(-1e-3, 1e-3) : 0, 0);
    clock_t start = clock();
    for (int i = 0; i < n; i++) stage_detect(&s);
    printf("     5 boxes of %d vertices, r = 30, %s: %d contacts in %.2f ms\n", x->surface.vertex_count,
           deformed ? "deformed" : "undeformed", s.found.count, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / n);
  }
  stage_free(&s);
  ds_reduced_release(x);
}

int main(void) {
  RUN(test_nearest);
  RUN(test_on_floor);
  RUN(test_rigid_kinds);
  RUN(test_ball_in_dent);
  RUN(test_flush);
  RUN(test_no_flicker);
  RUN(test_bent_beams);
  RUN(test_ahead);
  RUN(test_thin_wall);
  RUN(test_self);
  RUN(test_folds_by_bounds);
  RUN(test_no_self);
  RUN_THREADS(test_threads);
  RUN(test_again);
  RUN(test_was_outside);
  RUN(test_ray);
  RUN(test_cost);
  return test_summary();
}
