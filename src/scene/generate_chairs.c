/* Plastic chairs on a plane that is slowly tilted until they slide: their legs chatter [SP08 figure 5, right].
 *
 * The plane turns about the y axis, from rest to rest, from level to a slope of `over` times mu. Up to tan = mu nothing
 * slides; then chairs go down by g (sin - mu cos). A leg that drags is bent by friction, which changes how hard it
 * presses, which changes friction: above some mu that feeds on itself, the foot sticks, lets go, sticks again. Below
 * it, or with rigid legs, feet slide evenly. */
#include <stdio.h>

#include "scene/generate_deformable.h"

static const double apart = 0.75; /* between chairs, m: nothing touches at the start */
static const double lift = 2e-5;  /* of the feet at the start, m */
static const double aside = 10;   /* degrees: chairs are turned by up to this at random */

static void write_definition(ds_generation *g) {
  ds_soft_text soft = ds_default_soft_text();
  soft.figure = "chair";
  soft.def.young = ds_generation_value(g, "young");
  soft.def.poisson = 0.35;
  soft.def.density = 1000;
  soft.def.modes = ds_generation_count(g, "modes");
  soft.def.damping_stiffness = ds_generation_value(g, "damping");
  soft.tets = ds_generation_count(g, "tets");
  ds_generation_deformable(g, "chair", &soft);
}

static void write_chair(ds_generation *g, int32_t number, ds_pose pose) {
  char name[24];
  ds_vec3 color = ds_color_hue(0.13 * number);
  snprintf(name, sizeof name, "chair%d", (int)number);
  if (ds_generation_chose(g, "kind", "rigid")) {
    ds_body_def def = {.name = name, .pose = pose, .color = color};
    ds_generation_solid(g, "plastic", &def, "chair", 1000);
    return;
  }
  ds_soft_body body = {.name = "chair", .number = number, .pose = pose, .color = color};
  ds_generation_soft_body(g, "plastic", "chair", &body);
}

/* Chair i of the grid, standing on the plane in its own coordinates. */
static ds_pose place(const ds_generation *g, int32_t i) {
  int32_t side = (int32_t)ceil(sqrt((double)ds_generation_count(g, "count")) - 1e-9);
  int32_t seed = ds_generation_count(g, "seed");
  uint64_t random = ds_random_stream(seed, i);
  double x = (0.5 * (side - 1) - i / side) * apart, y = (i % side - 0.5 * (side - 1)) * apart;
  double yaw = ds_generation_value(g, "yaw") + (seed > 0 ? ds_random_between(&random, -aside, aside) : 0);
  return (ds_pose){v3(x, y, lift), quat_axis_angle(v3(0, 0, 1), yaw * DS_PI / 180)};
}

void ds_generate_chairs(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  double mu = ds_generation_value(g, "mu"), tilt = atan(ds_generation_value(g, "over") * mu);
  double time = ds_generation_value(g, "tilting");
  ds_generation_begin(g, "Plastic chairs on a plane that inclines until they slide.", time + 2);
  ds_generation_material(g, "plastic", mu, 0);
  if (ds_generation_chose(g, "kind", "rigid"))
    ds_generation_solid_figure(g, "chair", "chair", 1);
  else
    write_definition(g);
  ds_turning plane = {.pose = pose_identity(),
                      .turn = v3(0, tilt, 0),
                      .start_time = 0.2,
                      .end_time = 0.2 + time,
                      .color = DS_COLOR_FLOOR};
  ds_generation_turning_floor(g, "plastic", "plane", &plane);
  for (int32_t i = 0; i < count; i++) write_chair(g, i + 1, place(g, i));
  ds_generation_end(g);
}
