/* Deformable and rigid bodies in a tight tube [SP08 section 8.1, jamming].
 *
 * Soft balls are a little wider than the tube below the funnel, rigid ones narrower. A soft ball that is squeezed to
 * the tube's width presses on its wall with a force N, in all; it slides down a wall that narrows by the angle phi from
 * the vertical as long as
 *
 *   N (sin phi + mu cos phi) <= its weight and what rests on it.
 *
 * So with little friction all pass, and with much the first soft ball that reaches the narrow part holds itself there
 * and carries all that come after. */
#include <stdio.h>

#include "scene/generate_deformable.h"

static const double radius = 0.05; /* of a soft ball, m */

static void write_ball(ds_generation *g, int32_t i, ds_vec3 p, bool soft) {
  if (soft) {
    ds_soft_body body = {
        .name = "soft", .number = i + 1, .pose = {p, quat_identity()}, .color = ds_color_hue(0.03 * i)};
    ds_generation_soft_body(g, "rubber", "ball", &body);
    return;
  }
  char name[24];
  snprintf(name, sizeof name, "hard%d", (int)(i + 1));
  ds_body_def def = {.name = name, .pose = {p, quat_identity()}, .color = v3(0.35, 0.37, 0.42)};
  ds_shape_def box = {.kind = DS_SHAPE_BOX, .half = v3(0.026, 0.026, 0.026), .density = 2000, .pose = pose_identity()};
  ds_shape_def sphere = {.kind = DS_SHAPE_SPHERE, .radius = 0.042, .density = 2000, .pose = pose_identity()};
  ds_generation_body(g, "rubber", &def, i % 4 == 1 ? &sphere : &box, 1);
}

void ds_generate_soft_jam(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count"), seed = ds_generation_count(g, "seed");
  double narrow = radius * (1 - ds_generation_value(g, "tight"));
  double wide = 1.2 * radius, bottom = 0.25, neck = bottom + 0.2, cone = neck + (wide - narrow) / tan(15 * DS_PI / 180);
  ds_soft_text soft = ds_default_soft_text();
  soft.recipe = "{\"kind\": \"sphere\", \"radius\": 0.05}";
  soft.tets = 1500;
  soft.def.young = ds_generation_value(g, "young");
  soft.def.modes = 20;
  ds_generation_begin(g,
                      "Soft and rigid bodies fall into a tight tube: with little friction they pass, with much they "
                      "jam [SP08 section 8.1].",
                      3);
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  ds_generation_deformable(g, "ball", &soft);
  ds_generation_floor(g, "rubber");
  ds_funnel tube = {.n = 12, .r0 = narrow, .z0 = bottom, .r1 = narrow, .z1 = neck, .thickness = 0.02};
  ds_funnel slant = {.n = 12, .r0 = narrow, .z0 = neck, .r1 = wide, .z1 = cone, .thickness = 0.02};
  ds_funnel shaft = {.n = 12, .r0 = wide, .z0 = cone, .r1 = wide, .z1 = cone + 2.2 * radius * count, .thickness = 0.02};
  ds_generation_funnel(g, "rubber", "tube", &tube, v3(0.5, 0.53, 0.56));
  ds_generation_funnel(g, "rubber", "slant", &slant, v3(0.58, 0.6, 0.63));
  ds_generation_funnel(g, "rubber", "shaft", &shaft, v3(0.5, 0.53, 0.56));
  for (int32_t i = 0; i < count; i++) {
    uint64_t state = ds_random_stream(seed, i);
    double aside = 0.4 * (wide - radius), x = ds_random_between(&state, -aside, aside);
    double y = ds_random_between(&state, -aside, aside);
    write_ball(g, i, v3(x, y, cone + 1.2 * radius + 2.2 * radius * i), i % 2 == 0);
  }
  ds_generation_end(g);
}
