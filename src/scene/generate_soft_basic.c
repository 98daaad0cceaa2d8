/* Deformable bodies one by one: a figure that bounces, a block on a slope, a tower of blocks.
 *
 * The truths: a body thrown back by its own elasticity never rises above where it was let go; a block on a slope stays
 * if and only if tan theta <= mu, deformed or not, for all of its weight goes through the same plane; a tower of equal
 * blocks rests in the balance of weight and elasticity, whatever the step. */
#include <stdio.h>

#include "scene/generate_deformable.h"

/* ---- A figure that bounces ---- */

/* How a figure falls: turned about x and y, and how far it then reaches below its origin. */
typedef struct bouncer {
  const char *figure;
  double about_x, about_y; /* degrees */
  double below;            /* m */
} bouncer;

static const bouncer bouncers[] = {
    {"bunny", 0, -90, 0.0446}, {"dinosaur", 0, 0, 0}, {"bone", 90, 0, 0.0272}, {"ring", 90, 0, 0.0301},
    {"king", 0, 0, 0},         {"knight", 0, 0, 0},   {"pawn", 0, 0, 0},       {"chair", 0, 0, 0},
};

static const bouncer *chosen_bouncer(const ds_generation *g) {
  int32_t i = 0;
  while (!ds_generation_chose(g, "figure", bouncers[i].figure)) i++;
  return &bouncers[i];
}

/* What the modes of a body cannot follow at its foot is stopped there, as by a rigid one: many modes bounce better. */
void ds_generate_soft_bounce(ds_generation *g) {
  const bouncer *b = chosen_bouncer(g);
  ds_quat turn = quat_mul(quat_axis_angle(v3(1, 0, 0), b->about_x * DS_PI / 180),
                          quat_axis_angle(v3(0, 1, 0), b->about_y * DS_PI / 180));
  ds_soft_text soft = ds_default_soft_text();
  soft.figure = b->figure;
  soft.tets = 1500;
  soft.def.young = ds_generation_value(g, "young");
  soft.def.modes = ds_generation_count(g, "modes");
  soft.def.stvk = ds_generation_count(g, "stvk") == 1;
  soft.def.damping_stiffness = 2e-4;
  ds_generation_begin(g, "A deformable figure falls on the floor, is pressed together and bounces.", 2);
  ds_generation_option(g, "step", 0.001);
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  ds_generation_deformable(g, b->figure, &soft);
  ds_generation_floor(g, "rubber");
  ds_soft_body body = {.name = b->figure,
                       .pose = {v3(0, 0, ds_generation_value(g, "height") + b->below), turn},
                       .color = v3(0.8, 0.42, 0.36)};
  ds_generation_soft_body(g, "rubber", b->figure, &body);
  ds_generation_end(g);
}

/* ---- Blocks ---- */

/* A box of full size `size`: its faces and edges are met exactly by tetrahedra of that cell where the sizes are
 * multiples of it. */
static void write_block(ds_generation *g, const char *name, ds_vec3 size, double cell, double young) {
  char recipe[160];
  snprintf(recipe, sizeof recipe, "{\"kind\": \"box\", \"size\": [%.9g, %.9g, %.9g]}", size.x, size.y, size.z);
  ds_generation_solid_recipe(g, "box", recipe, 0.5 * cell);
  ds_soft_text soft = ds_default_soft_text();
  soft.solid = "box";
  soft.cell = cell;
  soft.def.young = young;
  ds_generation_deformable(g, name, &soft);
}

void ds_generate_soft_incline(ds_generation *g) {
  double theta = atan(ds_generation_value(g, "slope")), yaw = ds_generation_value(g, "yaw") * DS_PI / 180;
  double size = ds_generation_value(g, "size");
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), theta);
  ds_vec3 normal = quat_rotate(tilt, v3(0, 0, 1)), down = quat_rotate(tilt, v3(1, 0, 0));
  ds_generation_begin(g,
                      "A deformable cube on a slope that falls towards +x: it leans and settles, then stays if and "
                      "only if tan theta <= mu; otherwise it slides at g (sin theta - mu cos theta).",
                      10);
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  write_block(g, "block", v3(size, size, size), 0.25 * size, ds_generation_value(g, "young"));
  ds_body_def ground = {.name = "slope", .kind = DS_BODY_STATIC, .pose = {v3(0, 0, 0), tilt}, .color = DS_COLOR_FLOOR};
  ds_shape_def half_space = {.kind = DS_SHAPE_HALF_SPACE, .pose = pose_identity()};
  ds_generation_body(g, "rubber", &ground, &half_space, 1);
  ds_soft_body cube = {.name = "cube",
                       .pose = {v3_scale(0.5 * size, normal), quat_mul(tilt, quat_axis_angle(v3(0, 0, 1), yaw))},
                       .velocity = v3_scale(ds_generation_value(g, "velocity"), down),
                       .color = v3(0.75, 0.4, 0.3)};
  ds_generation_soft_body(g, "rubber", "block", &cube);
  ds_generation_end(g);
}

/* Blocks of 0.2 x 0.2 x 0.1 m, each turned a little against the one below. */
void ds_generate_soft_stack(ds_generation *g) {
  const ds_vec3 size = v3(0.2, 0.2, 0.1);
  int32_t count = ds_generation_count(g, "count");
  ds_generation_begin(g, "A tower of deformable blocks sinks under its own weight and stands.", 10);
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  write_block(g, "block", size, 0.05, ds_generation_value(g, "young"));
  ds_generation_floor(g, "rubber");
  for (int32_t i = 0; i < count; i++) {
    ds_soft_body block = {.name = "block",
                          .number = i + 1,
                          .pose = {v3(0, 0, (i + 0.5) * size.z), quat_axis_angle(v3(0, 0, 1), 0.1 * (i % 3 - 1))},
                          .color = ds_color_hue(0.05 * i)};
    ds_generation_soft_body(g, "rubber", "block", &block);
  }
  ds_generation_end(g);
}
