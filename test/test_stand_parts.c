/* The parts of drystone/stand.h by themselves: forces drawn into their cones, coplanar points of different friction,
 * corners of interfaces that are not quite plane, and the tension that linear normal forces use. */
#include "la/vec3.h"
#include "random.h"
#include "stand/build.h"
#include "stand/corners.h"
#include "stand/graph.h"
#include "stand_helper.h"

enum { CORNERS = 4 };

static ds_vec3 direction(uint64_t *seed) {
  double z = random_in(seed, -1, 1), turn = random_in(seed, 0, 6.28), flat = sqrt(1 - z * z);
  return v3(flat * cos(turn), flat * sin(turn), z);
}

/* A square of half edge 1 about `middle`, across `normal`. */
static void square(ds_vec3 corners[CORNERS], ds_vec3 middle, ds_vec3 normal) {
  ds_vec3 t1, t2;
  v3_tangents(&t1, &t2, normal);
  for (int k = 0; k < CORNERS; k++)
    corners[k] = v3_mad(v3_mad(middle, k == 1 || k == 2 ? 1 : -1, t1), k >= 2 ? 1 : -1, t2);
}

/* Forces on the sides of their cones are not outside after they were turned into space, and hardly less than given. */
static void test_friction_in_its_cone(void) {
  uint64_t seed = 3;
  int32_t outside = 0, count = 0;
  double least = 1;
  for (int i = 0; i < 500; i++) {
    static hand h;
    ds_arena arena = {0};
    ds_vec3 n = direction(&seed), corners[CORNERS];
    double mu = random_in(&seed, 0.1, 1.5), r[3 * CORNERS], normal[CORNERS];
    ds_vec3 friction[CORNERS];
    square(corners, v3(0, 0, 0), n);
    hand_begin(&h);
    hand_support(&h);
    hand_box(&h, v3_scale(0.5, n), v3(1, 1, 1));
    hand_interface(&h, 0, 1, n, mu, corners, CORNERS);
    const ds_graph *g = ds_graph_create(&arena, &h.a);
    CHECK(g != NULL && g->points == CORNERS);
    if (!g || g->points != CORNERS) return;
    for (int k = 0; k < CORNERS; k++) {
      double at = random_in(&seed, 0, 6.28);
      r[3 * k] = random_in(&seed, 0.1, 2);
      r[3 * k + 1] = mu * r[3 * k] * cos(at), r[3 * k + 2] = mu * r[3 * k] * sin(at);
    }
    ds_graph_forces(normal, friction, g, r);
    for (int k = 0; k < CORNERS; k++, count++) {
      double share = v3_norm(friction[k]) / (mu * normal[k]);
      outside += share > 1;
      least = fmin(least, share);
    }
    ds_arena_free(&arena);
  }
  printf("     %d of %d forces outside of their cones, the least friction is %.3g short\n", (int)outside, (int)count,
         1 - least);
  CHECK(outside == 0);
  CHECK_LE(1 - least, 1e-13);
}

static void add_square(ds_builder *builder, double x, double mu) {
  ds_vec3 corners[CORNERS];
  square(corners, v3(x, 0, 0.5), v3(0, 0, 1));
  for (int k = 0; k < CORNERS; k++)
    ds_builder_point(builder, (ds_touch_point){.a = 0, .b = 1, .point = corners[k], .normal = v3(0, 0, 1), .mu = mu});
}

/* Two squares in one plane are one interface of 4 corners, but two where their friction differs. */
static void test_coplanar_patches(void) {
  for (int differ = 0; differ < 2; differ++) {
    ds_builder builder;
    CHECK(ds_builder_begin(&builder));
    CHECK(ds_builder_block(&builder) && ds_builder_block(&builder));
    add_square(&builder, 0, 0.3);
    add_square(&builder, 2, differ ? 0.6 : 0.3);
    ds_assembly *a = ds_builder_end(&builder);
    CHECK(a != NULL);
    if (!a) continue;
    CHECK_NEAR(a->interface_count, 1 + differ, 0);
    CHECK_NEAR(a->point_count, differ ? 2 * CORNERS : CORNERS, 0);
    CHECK_NEAR(a->interfaces[a->interface_count - 1].mu, differ ? 0.6 : 0.3, 0);
    ds_assembly_free(a);
  }
}

/* A point in the middle of four is no corner in their plane; out of it by more than rounding all five count. */
static void test_points_out_of_plane(void) {
  const double off[] = {0, 1e-14, 1e-10, 1e-3};
  for (int i = 0; i < 4; i++) {
    ds_arena arena = {0};
    ds_vec3 p[CORNERS + 1], n = v3_unit(v3(1, 2, 3));
    bool corner[CORNERS + 1];
    square(p, v3(0, 0, 0), n);
    p[CORNERS] = v3_scale(off[i], n);
    CHECK(ds_corners_find(&arena, corner, p, CORNERS + 1, n));
    for (int k = 0; k < CORNERS; k++) CHECK(corner[k]);
    CHECK(corner[CORNERS] == (i >= 2));
    ds_arena_free(&arena);
  }
}

/* Normal forces that are linear over a slanted parallelogram use what their most negative one does of the tension. */
static void test_tension_used(void) {
  const ds_vec3 points[CORNERS] = {{0, 0, 0}, {2, 0.5, 0}, {2.7, 1.8, 0}, {0.7, 1.3, 0}};
  const double tension = 8, slope[][2] = {{1, 2}, {-3, 1}, {2, -2.5}, {0.3, 0}};
  for (int i = 0; i < 4; i++) {
    static hand h;
    double normal[CORNERS], least = 0;
    ds_vec3 friction[CORNERS] = {{0, 0, 0}};
    hand_begin(&h);
    hand_support(&h);
    hand_box(&h, v3(0, 0, 0.5), v3(1, 1, 1));
    hand_interface(&h, 0, 1, v3(0, 0, 1), 0.5, points, CORNERS);
    h.interfaces[0].tension = tension;
    for (int k = 0; k < CORNERS; k++) {
      normal[k] = 1 + slope[i][0] * (points[k].x - 1.35) + slope[i][1] * (points[k].y - 0.9);
      least = fmin(least, normal[k]);
    }
    ds_stand s = {.normal = normal, .friction = friction};
    CHECK_NEAR(ds_interface_thrust(&h.a, &s, 0).section, -least / tension, 1e-7);
  }
}

int main(void) {
  RUN(test_friction_in_its_cone);
  RUN(test_coplanar_patches);
  RUN(test_points_out_of_plane);
  RUN(test_tension_used);
  return test_summary();
}
