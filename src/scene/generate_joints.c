/* Joined bodies: a hanging bridge of hinged planks, and a four-bar linkage that pushes blocks. */
#include <stdio.h>

#include "scene/generate.h"

static const ds_vec3 across = {0, 1, 0}; /* the axis of all hinges */

static void hinge(ds_generation *g, const char *name, const char *a, const char *b, ds_vec3 point) {
  ds_joint_def def = {.name = name, .kind = DS_JOINT_HINGE, .point = point, .axis = across};
  ds_generation_joint(g, &def, a, b);
}

/* ---- bridge ---- */

enum { PLANKS_MAX = 200 };

typedef struct bridge {
  int32_t planks;
  double length, width, thick;  /* of a plank, and of its share of the chain */
  ds_vec3 ends[PLANKS_MAX + 1]; /* of the links */
  double slope[PLANKS_MAX];     /* angle of a link */
} bridge;

/* Links of one weight hang in balance where their slopes change by equal steps. */
static void hang(bridge *b, double steepest) {
  double span = 0;
  for (int32_t i = 0; i < b->planks; i++) {
    b->slope[i] = atan(-steepest * (1 - (2.0 * i + 1) / b->planks));
    span += b->length * cos(b->slope[i]);
  }
  b->ends[0] = v3(-0.5 * span, 0, 0);
  for (int32_t i = 0; i < b->planks; i++)
    b->ends[i + 1] = v3_add(b->ends[i], v3(b->length * cos(b->slope[i]), 0, b->length * sin(b->slope[i])));
}

/* Over the middle of a plank, along its normal. */
static ds_vec3 above(const bridge *b, int32_t plank, double height) {
  ds_vec3 middle = v3_scale(0.5, v3_add(b->ends[plank], b->ends[plank + 1]));
  return v3_add(middle, v3(-height * sin(b->slope[plank]), 0, height * cos(b->slope[plank])));
}

/* The ends are 1 m above the floor, or as high as it takes for the middle to be half a metre above it. */
static void lift(bridge *b) {
  double lowest = 0;
  for (int32_t i = 0; i <= b->planks; i++) lowest = fmin(lowest, b->ends[i].z);
  double height = fmax(1, 0.5 - lowest);
  for (int32_t i = 0; i <= b->planks; i++) b->ends[i].z += height;
}

static void write_abutment(ds_generation *g, const bridge *b, const char *name, double side) {
  ds_vec3 end = side < 0 ? b->ends[0] : b->ends[b->planks];
  ds_body_def def = {.name = name, .kind = DS_BODY_STATIC, .color = v3(0.55, 0.55, 0.57)};
  ds_shape_def shape = {.kind = DS_SHAPE_BOX, .pose = pose_identity(), .half = v3(0.3, 0.6 * b->width, 0.5 * end.z)};
  def.pose = (ds_pose){v3(end.x + side * 0.31, 0, 0.5 * end.z), quat_identity()};
  ds_generation_body(g, "wood", &def, &shape, 1);
}

void ds_generate_bridge(ds_generation *g) {
  bridge b = {.planks = ds_generation_count(g, "planks"), .length = 0.25, .width = 0.8, .thick = 0.04};
  int32_t wanted = ds_generation_count(g, "blocks"), blocks = wanted < b.planks ? wanted : b.planks; /* one per plank */
  double damping = ds_generation_value(g, "damping");
  char name[48], before[48];
  hang(&b, ds_generation_value(g, "slope"));
  lift(&b);
  ds_generation_begin(
      g, "Planks hinged to one another hang between two abutments and carry blocks, which friction holds on the slope.",
      10);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "wood");
  write_abutment(g, &b, "left", -1);
  write_abutment(g, &b, "right", 1);
  for (int32_t i = 0; i < b.planks; i++) {
    ds_body_def def = {.kind = DS_BODY_DYNAMIC, .color = ds_color_hue(0.07 + 0.02 * (i % 2))};
    ds_shape_def shape = {.kind = DS_SHAPE_BOX, .pose = pose_identity(), .density = 600};
    snprintf(name, sizeof name, "plank%d", (int)i + 1);
    shape.half = v3(0.5 * b.length - 0.01, 0.5 * b.width, 0.5 * b.thick);
    def.name = name;
    def.pose = (ds_pose){above(&b, i, 0), quat_axis_angle(across, -b.slope[i])};
    def.linear_damping = def.angular_damping = damping;
    ds_generation_body(g, "wood", &def, &shape, 1);
  }
  const double size = 0.14;
  for (int32_t i = 0; i < blocks; i++) {
    int32_t plank = (int32_t)((i + 0.5) * b.planks / blocks);
    ds_brick block = ds_default_brick(above(&b, plank, 0.5 * (b.thick + size)), v3(size, size, size), 600);
    block.center.y = i % 2 == 0 ? 0.15 : -0.15;
    block.rotation = quat_axis_angle(across, -b.slope[plank]);
    block.color = ds_color_hue(0.55 + 0.05 * (i % 4));
    ds_generation_brick(g, "wood", "block", i + 1, &block);
  }
  for (int32_t i = 0; i <= b.planks; i++) {
    char joint[48];
    snprintf(joint, sizeof joint, "hinge%d", (int)i);
    snprintf(before, sizeof before, i == 0 ? "left" : "plank%d", (int)i);
    snprintf(name, sizeof name, i == b.planks ? "right" : "plank%d", (int)i + 1);
    hinge(g, joint, before, name, b.ends[i]);
  }
  ds_generation_end(g);
}

/* ---- linkage ---- */

/* A rod from one point to another in a plane y; its own x axis goes along it. */
static void rod(ds_generation *g, ds_body_def def, ds_vec3 from, ds_vec3 to, double y, double thick) {
  ds_vec3 d = v3_sub(to, from), middle = v3_scale(0.5, v3_add(from, to));
  ds_shape_def shape = {.kind = DS_SHAPE_BOX, .pose = pose_identity(), .density = 600};
  shape.half = v3(0.5 * v3_norm(d) + thick, 0.5 * thick, 0.5 * thick);
  def.pose = (ds_pose){v3(middle.x, y, middle.z), quat_axis_angle(across, -atan2(d.z, d.x))};
  if (def.kind == DS_BODY_KINEMATIC) { /* its frame stands where it turns about */
    shape.pose.p = quat_unrotate(def.pose.q, v3_sub(middle, from));
    def.pose.p = v3(from.x, y, from.z);
  }
  ds_generation_body(g, "wood", &def, &shape, 1);
}

/* The point at distance a from p and b from q, below their line. */
static ds_vec3 meet(ds_vec3 p, double a, ds_vec3 q, double b) {
  ds_vec3 d = v3_sub(q, p);
  double c = v3_norm(d), x = (a * a - b * b + c * c) / (2 * c), z = sqrt(a * a - x * x);
  ds_vec3 e = v3_scale(1 / c, d);
  return v3_add(p, v3(x * e.x + z * e.z, 0, x * e.z - z * e.x));
}

void ds_generate_linkage(ds_generation *g) {
  /* Grashof: shortest + longest = 0.12 + 0.5 < 0.45 + 0.3, so that the crank turns round and the paddle swings */
  const double crank = 0.12, coupler = 0.45, rocker = 0.3, size = 0.14;
  const ds_vec3 axle = {0, 0, 0.5}, pivot = {0.5, 0, 0.6};
  ds_vec3 pin = v3(axle.x, 0, axle.z + crank), knee = meet(pin, coupler, pivot, rocker);
  ds_vec3 foot = v3_mad(pivot, 0.5 / rocker, v3_sub(knee, pivot));
  ds_generation_begin(g,
                      "A four-bar linkage: a crank turns at a constant rate, the paddle it drives pushes a block along "
                      "the floor, and friction carries another on top of it.",
                      10);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "wood");
  ds_body_def frame = {.name = "frame", .kind = DS_BODY_STATIC, .color = v3(0.55, 0.55, 0.57)};
  rod(g, frame, axle, pivot, 0.2, 0.04);
  ds_body_def body = {.name = "crank", .kind = DS_BODY_KINEMATIC, .color = v3(0.75, 0.35, 0.3)};
  body.motion.kind = DS_MOTION_VELOCITY;
  body.motion.angular_velocity = v3(0, ds_generation_value(g, "omega"), 0);
  rod(g, body, axle, pin, 0.15, 0.03);
  rod(g, (ds_body_def){.name = "coupler", .color = ds_color_hue(0.55)}, pin, knee, 0.1, 0.03);
  rod(g, (ds_body_def){.name = "paddle", .color = ds_color_hue(0.1)}, pivot, foot, 0, 0.05);
  for (int32_t i = 0; i < ds_generation_count(g, "blocks"); i++) {
    ds_brick block = ds_default_brick(v3(foot.x + 0.28, 0, (i + 0.5) * size), v3(size, size, size), 600);
    block.color = ds_color_hue(0.3 + 0.1 * i);
    ds_generation_brick(g, "wood", "block", i + 1, &block);
  }
  hinge(g, "pin", "crank", "coupler", v3(pin.x, 0.125, pin.z));
  hinge(g, "knee", "coupler", "paddle", v3(knee.x, 0.05, knee.z));
  hinge(g, "pivot", "paddle", "frame", v3(pivot.x, 0.1, pivot.z));
  ds_generation_end(g);
}
