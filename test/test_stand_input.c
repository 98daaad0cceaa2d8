/* What faces, bricks and files make of assemblies, against numbers by hand: gaps and edges of faces, clutch and inertia
 * of bricks, loads beside the centre, tension shared by points; and settlements and orders with one right answer. */
#include "la/vec3.h"
#include "scene_helper.h"
#include "stand/build.h"
#include "stand_helper.h"

static hand h;

/* Two blocks with a square each: z = 0, looking up, and one above it that looks down. */
static ds_assembly *faces_apart(const ds_vec3 upper[4], double tolerance) {
  const ds_vec3 lower[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  ds_face faces[2] = {{.block = 0, .corners = lower, .count = 4}, {.block = 1, .corners = upper, .count = 4}};
  ds_builder builder;
  CHECK(ds_builder_begin(&builder) && ds_builder_block(&builder) && ds_builder_block(&builder));
  for (int i = 0; i < 2; i++) CHECK(ds_face_finish(&faces[i]));
  ds_faces_touch(&builder, faces, 2, tolerance, 0.5);
  ds_assembly *a = ds_builder_end(&builder);
  CHECK(a != NULL);
  return a;
}

static void test_faces(void) {
  /* parallel, apart by half the tolerance: four points half way */
  const ds_vec3 above[4] = {{0, 0, 5e-4}, {0, 1, 5e-4}, {1, 1, 5e-4}, {1, 0, 5e-4}};
  ds_assembly *a = faces_apart(above, 1e-3);
  CHECK(a->interface_count == 1 && a->point_count == 4);
  for (int32_t k = 0; k < a->point_count; k++) CHECK_NEAR(a->points[k].z, 2.5e-4, 1e-12);
  CHECK(!a->interfaces[0].partial);
  ds_assembly_free(a);
  /* hinged open by 20 mm: only the points along the hinge are near */
  const ds_vec3 open[4] = {{0, 0, 0}, {0, 1, 0}, {1, 1, 0.02}, {1, 0, 0.02}};
  a = faces_apart(open, 1e-3);
  CHECK(a->point_count == 2 && a->interfaces[0].partial);
  for (int32_t k = 0; k < a->point_count; k++) CHECK_NEAR(a->points[k].x, 0, 1e-3);
  ds_assembly_free(a);
  /* side by side, an edge along an edge: they do not touch */
  const ds_vec3 beside[4] = {{1, 0, 0}, {1, 1, 0}, {2, 1, 0}, {2, 0, 0}};
  a = faces_apart(beside, 1e-3);
  CHECK(a->interface_count == 0);
  ds_assembly_free(a);
}

/* Two bricks of 2 x 4 knobs side by side: the clutch holds to the plate, not to each other. */
static void test_bricks(void) {
  const char *text =
      "{\"1\": {\"x\": 0, \"y\": 0, \"z\": 0, \"brick_id\": 2, \"ori\": 0},"
      " \"2\": {\"x\": 2, \"y\": 0, \"z\": 0, \"brick_id\": 2, \"ori\": 0}}";
  const double x = 2 * 0.0078, y = 4 * 0.0078, z = 0.0096, m = 0.00216 / 12;
  ds_error error = {""};
  ds_assembly *a = ds_assembly_read_bricks(text, strlen(text), "b.json", NULL, &error);
  CHECK(a != NULL && a->block_count == 3);
  if (!a) return;
  int32_t upright = 0;
  for (int32_t i = 0; i < a->interface_count; i++) {
    bool side = fabs(a->interfaces[i].normal.z) < 0.5;
    CHECK_NEAR(a->interfaces[i].tension, side ? 0 : ds_default_assembly_options().clutch, 0);
    upright += side;
  }
  CHECK(upright == 1);
  const double inertia[3] = {m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y)};
  for (int i = 0; i < 3; i++) CHECK_NEAR(a->blocks[1].inertia[4 * i], inertia[i], 1e-12 * inertia[i]);
  ds_assembly_free(a);
}

/* Loads act where they are said to; a tension is that of the interface, and stays so when its section is cut up. */
static void test_file(void) {
  const char *load = "{\"loads\": [{\"block\": \"b1\", \"force\": [0, 3, 0], \"point\": [2, 0, 1]}]}";
  const char *tension = "{\"interfaces\": [{\"tension\": 40}]}";
  const char *crush = "{\"interfaces\": [{\"strength\": 1e6}]}";
  ds_error error = {""};
  hand_begin(&h);
  int32_t ground = hand_support(&h), block = hand_box(&h, v3(0, 0, 1), v3(1, 1, 2));
  hand_joint(&h, ground, block, v3(-0.5, 0, 0), v3(0.5, 0, 0), 1, v3(0, 0, 1), 0.5);
  ds_assembly *a = ds_assembly_without(&h.a, -1);
  CHECK(a != NULL);
  if (!a) return;
  CHECK(ds_assembly_apply(a, load, strlen(load), "i.json", &error) == DS_OK);
  CHECK_LE(v3_dist(a->blocks[block].force, v3(0, 3, 0)), 0);
  CHECK_LE(v3_dist(a->blocks[block].torque, v3(0, 0, 6)), 0); /* (2, 0, 0) x (0, 3, 0) */
  CHECK(ds_assembly_apply(a, tension, strlen(tension), "i.json", &error) == DS_OK);
  CHECK_NEAR(a->interfaces[0].tension * a->interfaces[0].count, 40, 1e-12);
  CHECK(ds_assembly_apply(a, crush, strlen(crush), "i.json", &error) == DS_OK);
  CHECK(a->interfaces[0].count > 4);
  CHECK_NEAR(a->interfaces[0].tension * a->interfaces[0].count, 40, 1e-12);
  ds_assembly_free(a);
}

/* A beam on two edges, which can carry in one way only, glued to them or not: each has half the weight, and when one
 * gives way the beam turns about the other. */
static void test_settlement(void) {
  for (int glued = 0; glued < 2; glued++) {
    const double weight = 9.81 * 4000;
    hand_begin(&h);
    int32_t s[2] = {hand_support(&h), hand_support(&h)}, beam = hand_box(&h, v3(0, 0, 0.5), v3(4, 1, 1));
    for (int32_t i = 0; i < 2; i++) {
      ds_vec3 edge[2] = {v3(3 * i - 1.5, -0.5, 0), v3(3 * i - 1.5, 0.5, 0)};
      hand_interface(&h, s[i], beam, v3(0, 0, 1), 0, edge, 2);
      h.interfaces[i].tension = glued ? 0.1 * weight : 0;
    }
    ds_settlement r;
    ds_error error = {""};
    CHECK(ds_stand_settle(&r, &h.a, s[1], v3(0, 0, -1), &error) == DS_OK);
    CHECK_NEAR(r.low, 0.5 * weight, 1e-4 * weight);
    CHECK_NEAR(r.high, 0.5 * weight, 1e-4 * weight);
    CHECK_NEAR(r.before_high, 0.5 * weight, 1e-4 * weight);
    CHECK(r.mechanism != NULL);
    if (r.mechanism) {
      CHECK_LE(v3_dist(r.mechanism[s[1]].v, v3(0, 0, -1)), 1e-12);
      CHECK_NEAR(ds_twist_at(r.mechanism[beam], v3(1.5, 0, 0)).z, -1, 1e-4);
      CHECK_NEAR(ds_twist_at(r.mechanism[beam], v3(-1.5, 0, 0)).z, 0, 1e-4);
    }
    ds_settlement_free(&r);
  }
}

/* Two columns, of one cube and of two: the highest cube is the last to be put up, and the lowest of an arch that cannot
 * be put up in any order the first. A block that is held by friction between walls alone can stand at most. */
static void test_order(void) {
  int32_t order[16], placed;
  ds_verdict stages[16];
  ds_error error = {""};
  hand_begin(&h);
  int32_t ground = hand_support(&h);
  for (int32_t i = 0; i < 3; i++) {
    double x = i == 0 ? 0 : 3, z = i == 2 ? 1 : 0;
    int32_t b = hand_box(&h, v3(x, 0, z + 0.5), v3(1, 1, 1));
    hand_joint(&h, i == 2 ? b - 1 : ground, b, v3(x - 0.5, 0, z), v3(x + 0.5, 0, z), 1, v3(0, 0, 1), 0.5);
  }
  CHECK(ds_stand_order(order, &placed, stages, &h.a, &error) == DS_OK);
  CHECK(placed == 3 && order[0] == ground && order[3] == 3);
  hand_arch(&h, 7, 1, 0.25, 0, DS_PI, 0.7);
  CHECK(ds_stand_order(order, &placed, stages, &h.a, &error) == DS_OK);
  for (int32_t k = 2; k < 8 - placed; k++)
    CHECK_LE(h.blocks[order[k - 1]].center.z, h.blocks[order[k]].center.z + 1e-12);
  hand_begin(&h);
  int32_t left = hand_support(&h), right = hand_support(&h), held = hand_box(&h, v3(0, 0, 0), v3(1, 1, 1));
  hand_joint(&h, left, held, v3(-0.5, 0, -0.5), v3(-0.5, 0, 0.5), 1, v3(1, 0, 0), 0.5);
  hand_joint(&h, right, held, v3(0.5, 0, -0.5), v3(0.5, 0, 0.5), 1, v3(-1, 0, 0), 0.5);
  CHECK(ds_stand_order(order, &placed, stages, &h.a, &error) == DS_OK);
  CHECK(placed == 1);
  CHECK(order[2] == held && stages[2] == DS_CAN_STAND && stages[1] == DS_STANDS);
}

/* Cubes one above the other, with a gap and an overlap of a few hundredths of a millimetre, forces and torques. */
static void test_scene(void) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_body_def ground = body_at(0, 0, -0.5), low = body_at(0, 0, 0.5 - 3e-5), high = body_at(0, 0, 1.5 + 2e-5);
  ground.kind = DS_BODY_STATIC;
  high.force = v3(1, 2, 3), high.torque = v3(4, 5, 6);
  scene_add(scene, &ground, shape_box(3, 3, 1));
  scene_add(scene, &low, shape_box(1, 1, 1));
  scene_add(scene, &high, shape_box(1, 1, 1));
  sim s;
  if (!sim_finish(&s, "cubes", scene)) return;
  ds_error error = {""};
  ds_assembly *a = ds_assembly_of_scene(s.scene, s.state, NULL, &error);
  CHECK(a != NULL && a->block_count == 3 && a->interface_count == 2);
  if (a) {
    CHECK_NEAR(a->deepest_overlap, 3e-5, 1e-12);
    CHECK_NEAR(a->widest_gap, 5e-5, 1e-12);
    CHECK_LE(v3_dist(a->blocks[2].force, v3(1, 2, 3)), 0);
    CHECK_LE(v3_dist(a->blocks[2].torque, v3(4, 5, 6)), 0);
    CHECK_LE(v3_dist(a->blocks[1].torque, v3(0, 0, 0)), 0);
  }
  ds_assembly_free(a);
  sim_free(&s);
}

int main(void) {
  RUN(test_faces);
  RUN(test_bricks);
  RUN(test_file);
  RUN(test_settlement);
  RUN(test_order);
  RUN(test_scene);
  return test_summary();
}
