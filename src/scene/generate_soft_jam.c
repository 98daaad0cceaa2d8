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
#include <string.h>

#include "scene/generate_deformable.h"

static const double radius = 0.05; /* of a soft ball, m */

typedef struct tube {
  double narrow, wide;            /* radii inside, m */
  double bottom, neck, cone, top; /* heights, m */
} tube;

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
  ds_shape_def drum = {
      .kind = DS_SHAPE_CYLINDER, .radius = 0.036, .half_length = 0.025, .density = 2000, .pose = pose_identity()};
  ds_generation_body(g, "rubber", &def, i % 4 == 1 ? &drum : &box, 1);
}

/* Tube, funnel and shaft in one piece: a wall turned about z. Plates would have edges inside, on which soft things that
 * are pressed against them catch. */
static void write_tube(ds_generation *g, const tube *tube) {
  const double wall = 0.015, in = tube->narrow, out = tube->wide;
  const double profile[8][2] = {{in, tube->bottom},       {in + wall, tube->bottom}, {in + wall, tube->neck},
                                {out + wall, tube->cone}, {out + wall, tube->top},   {out, tube->top},
                                {out, tube->cone},        {in, tube->neck}};
  char recipe[400] = "{\"kind\": \"lathe\", \"profile\": [";
  size_t length = strlen(recipe);
  for (int32_t i = 0; i < 8; i++)
    length += (size_t)snprintf(recipe + length, sizeof recipe - length, "%s[%.6g, %.6g]", i == 0 ? "" : ", ",
                               profile[i][0], profile[i][1]);
  snprintf(recipe + length, sizeof recipe - length, "]}");
  ds_generation_solid_recipe(g, "tube", recipe, 0.006);
}

void ds_generate_soft_jam(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count"), seed = ds_generation_count(g, "seed");
  tube tube = {.narrow = radius * (1 - ds_generation_value(g, "tight")), .wide = 1.2 * radius, .bottom = 0.25};
  tube.neck = tube.bottom + 0.2;
  tube.cone = tube.neck + (tube.wide - tube.narrow) / tan(8 * DS_PI / 180);
  tube.top = tube.cone + 2.2 * radius * count;
  ds_soft_text soft = ds_default_soft_text();
  soft.recipe = "{\"kind\": \"sphere\", \"radius\": 0.05}";
  soft.tets = 1500;
  soft.def.young = ds_generation_value(g, "young");
  soft.def.modes = 20;
  soft.def.damping_stiffness = 5e-3;
  ds_generation_begin(g,
                      "Soft and rigid bodies fall into a tight tube: with little friction they pass, with much they "
                      "jam [SP08 section 8.1].",
                      3);
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  write_tube(g, &tube);
  ds_generation_deformable(g, "ball", &soft);
  ds_generation_floor(g, "rubber");
  ds_body_def def = {.name = "tube", .kind = DS_BODY_STATIC, .pose = pose_identity(), .color = v3(0.5, 0.53, 0.56)};
  ds_generation_solid(g, "rubber", &def, "tube", 1000);
  for (int32_t i = 0; i < count; i++) {
    uint64_t state = ds_random_stream(seed, i);
    double aside = 0.4 * (tube.wide - radius), x = ds_random_between(&state, -aside, aside);
    double y = ds_random_between(&state, -aside, aside);
    write_ball(g, i, v3(x, y, tube.cone + 1.2 * radius + 2.2 * radius * i), i % 2 == 0);
  }
  ds_generation_end(g);
}
