/* Detection in whole scenes: broad phase against all pairs, contacts against every pair alone, compounds, rays,
 * overlaps.
 */
#include <stdlib.h>

#include "detect/broad.h"
#include "detect_helper.h"

static ds_manifold m; /* large: not on the stack of every test */

static void broad_is_all_pairs(void) {
  for (int trial = 0; trial < 60; trial++) {
    int32_t n = trial < 2 ? trial : (int32_t)uniform(2, 400);
    ds_box *boxes = calloc((size_t)n + 1, sizeof *boxes);
    bool *moving = calloc((size_t)n + 1, sizeof *moving);
    for (int32_t i = 0; i < n; i++) {
      double s = pow(10, trial % 3 == 0 ? 0 : uniform(-3, 1));
      ds_vec3 c = random_vec(3), e = v3_scale(s, random_between(v3(0, 0, 0), v3(1, 1, 1)));
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
  w->scene.bodies[i].ops = ds_body_choose_kind(&w->scene.bodies[i]);
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
  double depth = -1;
  CHECK(ds_state_deepest_overlap(&depth, &a, &b, &w->scene, &w->state) == DS_OK);
  CHECK_NEAR(depth, 0, 1e-15);
  w->state.bodies[5].x.z = 0.07;
  CHECK(ds_state_deepest_overlap(&depth, &a, &b, &w->scene, &w->state) == DS_OK);
  CHECK_NEAR(depth, 0.03, 1e-15);
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

/* A ball at rest, so small that its margin is 1e-5 m, sees the floor as far ahead as gravity takes it in a step. */
static void seen_before_it_falls(void) {
  world *w = new_world();
  add_body(w, DS_BODY_STATIC, round_shape(DS_SHAPE_HALF_SPACE, 0, 0), at(0, 0, 0));
  add_body(w, DS_BODY_DYNAMIC, round_shape(DS_SHAPE_SPHERE, 0.01, 0), at(0, 0, 0));
  ds_detect_options options = {.step = 0.01, .contacts_per_face = 8};
  ds_arena arena = {0};
  ds_contact_list list;
  for (int k = 0; k < 2; k++) { /* h² g = 0.98 mm */
    w->state.bodies[1].x.z = k == 0 ? 0.0109 : 0.0112;
    CHECK(ds_detect(&arena, &list, &w->scene, &w->state, &options) == DS_OK);
    CHECK(list.count == (k == 0 ? 1 : 0));
  }
  ds_arena_free(&arena);
  free_world(w);
}

/* At least the contacts of all pairs of bodies one by one. */
static void detect_is_all_pairs(void) {
  world *w = new_world();
  add_body(w, DS_BODY_STATIC, box(20, 20, 1), at(0, 0, -2.5));
  for (int i = 0; i < 300; i++) {
    ds_shape shape = random_shape(i % 5);
    add_body(w, i % 10 ? DS_BODY_DYNAMIC : DS_BODY_STATIC, shape, random_pose(3));
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
      double least = INFINITY;
      for (; k < list.count && list.points[k].a == i && list.points[k].b == j; k++, all++) {
        here += list.points[k].gap < reach;
        least = fmin(least, list.points[k].gap);
      }
      /* and looking further, it may find the face that the nearest point belongs to: its gap is a little larger */
      CHECK(here == m.count || fabs(least_gap(&m) - reach) < 1e-9 || (all >= 8 && here > 0) ||
            (here == 0 && m.count == 1 && least < 1.01 * least_gap(&m)));
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

/* What only a second look found is looked for again by the next first look, while it carries and is near: closed, as
 * the way of the step has led onto it, whatever the velocity at its end is. */
static void second_look_is_kept(void) {
  world *w = new_world();
  add_body(w, DS_BODY_STATIC, box(1, 1, 0.1), at(0, 0, -0.1));
  add_body(w, DS_BODY_DYNAMIC, box(0.1, 0.1, 0.1), at(0, 0, 0.1));
  struct {
    ds_vec3 point;
    double impulse, x, velocity;
    int32_t kept;
    double gap;
  } cases[] = {
      {{0.01, 0, 0}, 1, 0, -1e-3, 1, 0},   /* in the middle of the face; closes its gap by that */
      {{0.01, 0, 0}, 1, 0, 0, 1, 0},       /* has come to rest at the end of the step */
      {{0.01, 0, 0}, 1, 0, 2e-3, 1, 2e-5}, /* rebounds */
      {{0.01, 0, 0}, 0, 0, 0, 0, 0},       /* carries nothing */
      {{0.095, 0.1, 0}, 1, 0, 0, 0, 0},    /* a corner stands for it */
      {{0.01, 0, 0}, 1, 0.3, 0, 0, 0},     /* the body has been put elsewhere */
      {{0.01, 0, 0.05}, 1, 0, 0, 0, 0},    /* nowhere near the floor */
  };
  ds_detect_options options = {.step = 0.01, .contacts_per_face = 8};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ds_contact again = {.a = ds_id(0), .b = ds_id(1), .point = cases[i].point, .normal = v3(0, 0, -1)};
    again.impulse = v3(0, 0, -cases[i].impulse);
    again.gap = 1e-5;
    again.velocity = v3(0, 0, -cases[i].velocity);
    again.feature = DS_FEATURE_AGAIN | 77;
    w->state.contacts = &again;
    w->state.contact_count = 1;
    w->state.reduced_step = 0.01;
    w->state.bodies[1].x.x = cases[i].x;
    ds_arena arena = {0};
    ds_contact_list list;
    CHECK(ds_detect(&arena, &list, &w->scene, &w->state, &options) == DS_OK);
    CHECK(list.count == 4 + cases[i].kept);
    const ds_contact_point *last = &list.points[list.count - 1];
    CHECK((last->feature == again.feature) == cases[i].kept);
    if (cases[i].kept) CHECK_NEAR(last->gap, cases[i].gap, 1e-18);
    ds_arena_free(&arena);
  }
  w->state.contacts = NULL;
  w->state.contact_count = 0;
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
      ds_pose pose = random_pose(1);
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
      ds_pose pose = random_pose(1);
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
  RUN(broad_is_all_pairs);
  RUN(whole_scene);
  RUN(seen_before_it_falls);
  RUN(detect_is_all_pairs);
  RUN(compound);
  RUN(second_look_is_kept);
  RUN(rays);
  return test_summary();
}
