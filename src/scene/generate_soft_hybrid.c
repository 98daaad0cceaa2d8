/* Deformable and rigid together [SP08 section 8.1, figure 6]: red and blue bunnies, which differ in friction alone,
 * fall on a ramp, slide down and run into two semicircular arches of rigid blocks, which stand by friction and did so
 * before. The paper gives the three coefficients; the dimensions are ours.
 *
 * The ramp falls towards -y at tan theta = slope between the two coefficients: blue bunnies slide as they come, red
 * ones stick or stick and slip. Arches stand in the plane y = 0, the left one before the red bunnies. A contact takes
 * the smaller mu of its two materials. */
#include <stdio.h>

#include "scene/generate_deformable.h"

static const double bunny_scale = 2;
static const double arch_radius = 0.3, arch_thickness = 0.08, arch_width = 0.1, arch_middle = 0.4;
static const double stone_density = 500; /* wood */
enum { STONES = 9 };

/* ---- Arches: equal wedges between radial joints; neighbours take their corners from the same numbers. ---- */

static void joint_corners(double x[2], double z[2], double middle, int32_t i) {
  double angle = DS_PI * (2 * i - STONES) / (2.0 * STONES);
  bool end = i == 0 || i == STONES;
  for (int32_t side = 0; side < 2; side++) {
    double r = arch_radius + (side - 0.5) * arch_thickness;
    x[side] = middle + (end ? (i == 0 ? -r : r) : r * sin(angle));
    z[side] = end ? 0 : r * cos(angle);
  }
}

static void write_arch(ds_generation *g, const char *name, double middle) {
  double x0[2], z0[2], x1[2], z1[2];
  char text[32];
  joint_corners(x0, z0, middle, 0);
  for (int32_t i = 0; i < STONES; i++) {
    joint_corners(x1, z1, middle, i + 1);
    ds_prism stone = {
        .corners = 4, .width = arch_width, .x = {x0[0], x1[0], x1[1], x0[1]}, .z = {z0[0], z1[0], z1[1], z0[1]}};
    snprintf(text, sizeof text, "%s%d", name, (int)(i + 1));
    ds_body_def def = {.name = text, .color = ds_color_hue(i % 2 == 0 ? 0.1 : 0.14)};
    ds_generation_prism(g, "block", &def, stone_density, &stone);
    for (int32_t side = 0; side < 2; side++) {
      x0[side] = x1[side];
      z0[side] = z1[side];
    }
  }
}

/* ---- Ramp and bunnies ---- */

typedef struct ramp {
  double slope, foot, length; /* y at which it meets the floor; along the slope, m */
} ramp;

static void write_ramp(ds_generation *g, const ramp *ramp) {
  const double thickness = 0.06, width = 1.8, theta = atan(ramp->slope);
  ds_quat tilt = quat_axis_angle(v3(1, 0, 0), theta);
  ds_vec3 up = quat_rotate(tilt, v3(0, 1, 0)), normal = quat_rotate(tilt, v3(0, 0, 1));
  ds_vec3 middle = v3_add(v3(0, ramp->foot, 0), v3_scale(0.5 * ramp->length, up));
  middle = v3_sub(middle, v3_scale(0.5 * thickness, normal));
  ds_generation_slab(g, "ramp", "ramp", (ds_pose){middle, tilt}, v3(width, ramp->length, thickness), DS_COLOR_FLOOR);
}

/* Two bunnies per row, one above each leg of their arch; rows up the ramp. Each starts a little above it, not quite in
 * line and turned by chance. */
static void write_bunnies(ds_generation *g, const char *color, double side, const ramp *ramp, int32_t count) {
  const double row = 0.28, fall = 0.08, theta = atan(ramp->slope);
  ds_vec3 paint = side < 0 ? v3(0.8, 0.25, 0.22) : v3(0.25, 0.4, 0.8);
  for (int32_t i = 0; i < count; i++) {
    uint64_t state = ds_random_stream(ds_generation_count(g, "seed"), i);
    double x = side * (arch_middle + (i % 2 == 0 ? 0.9 : -0.9) * arch_radius) + ds_random_between(&state, -0.02, 0.02);
    double y = ramp->foot + 1.1 + row * (i / 2), turn = ds_random_between(&state, -0.6, 0.6) - 0.5 * DS_PI;
    ds_soft_body body = {.name = color, .number = i + 1, .color = paint};
    body.pose.p = v3(x, y, ramp->slope * (y - ramp->foot) + fall);
    body.pose.q = quat_mul(quat_axis_angle(v3(1, 0, 0), theta), quat_axis_angle(v3(0, 0, 1), turn));
    ds_generation_soft_body(g, color, "bunny", &body);
  }
}

void ds_generate_hybrid(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  ramp ramp = {.slope = ds_generation_value(g, "slope"), .foot = 0.25, .length = 1.5 + 0.3 * ceil(0.5 * count)};
  ds_soft_text soft = ds_default_soft_text();
  soft.figure = "bunny";
  soft.scale = bunny_scale;
  soft.tets = 1200;
  soft.def.young = ds_generation_value(g, "young");
  soft.def.modes = 20;
  soft.def.stvk = true;
  ds_generation_begin(g,
                      "Soft bunnies, red with much and blue with little friction, slide down a ramp into two arches of "
                      "rigid blocks [SP08 figure 6].",
                      6);
  ds_text_print(&g->text, ",\n  \"friction_rule\": \"min\"");
  ds_generation_material(g, "ramp", 1, 0);
  ds_generation_material(g, "block", ds_generation_value(g, "mu_blocks"), 0);
  ds_generation_material(g, "red", ds_generation_value(g, "mu_red"), 0);
  ds_generation_material(g, "blue", ds_generation_value(g, "mu_blue"), 0);
  ds_generation_deformable(g, "bunny", &soft);
  ds_generation_floor(g, "ramp");
  write_ramp(g, &ramp);
  write_arch(g, "left", -arch_middle);
  write_arch(g, "right", arch_middle);
  write_bunnies(g, "red", -1, &ramp, count);
  write_bunnies(g, "blue", 1, &ramp, count);
  ds_generation_end(g);
}
