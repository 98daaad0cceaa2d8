/* Things that interlock or block each other: rings on pegs, a chain of rings, bones that jam in a narrowing tube. No
 * hull of a ring or a bone would do here: what holds them are their holes and hollows. */
#include "scene/generate_solids.h"

#include <stdio.h>

/* The figure `ring`: a torus of radius 24 mm about z, tube of 6 mm. */
static const double ring_radius = 0.024, ring_tube = 0.006;
static const double ring_density = 2700;

static void write_ring(ds_generation *g, int32_t number, ds_vec3 p, ds_quat q, ds_body_kind kind, double hue) {
  char name[24];
  snprintf(name, sizeof name, "ring%d", (int)number);
  ds_body_def def = {.name = name, .kind = kind, .pose = {p, q}, .color = ds_color_hue(hue)};
  ds_generation_solid(g, "brass", &def, "ring", ring_density);
}

static void write_peg(ds_generation *g, const char *name, double x, double y, double height, double radius) {
  ds_body_def def = {.name = name,
                     .kind = DS_BODY_STATIC,
                     .pose = {v3(x, y, 0.5 * height - radius), quat_identity()},
                     .color = v3(0.55, 0.42, 0.3)};
  ds_shape_def shape = {
      .kind = DS_SHAPE_CAPSULE, .pose = pose_identity(), .radius = radius, .half_length = 0.5 * height};
  ds_generation_body(g, "brass", &def, &shape, 1);
}

/* Twelve rings per peg, one above the other, a little tilted and beside the middle. Pegs on a circle, the last first
 * with what is left. */
static void write_pegs(ds_generation *g, int32_t count) {
  enum { EACH = 12 };
  const double pitch = 0.045, height = 0.2, peg = 0.011;
  int32_t pegs = (count + EACH - 1) / EACH, seed = ds_generation_count(g, "seed");
  double around = pegs > 1 ? fmax(0.08, pegs * 0.09 / (2 * DS_PI)) : 0;
  char name[24];
  for (int32_t k = 0; k < pegs; k++) {
    snprintf(name, sizeof name, "peg%d", (int)(k + 1));
    double angle = 2 * DS_PI * k / pegs;
    write_peg(g, name, around * cos(angle), around * sin(angle), height, peg);
  }
  for (int32_t i = 0; i < count; i++) {
    uint64_t state = ds_random_stream(seed, i);
    double angle = 2 * DS_PI * (i % pegs) / pegs, aside = 0.006 * ds_random_unit(&state);
    double to = 2 * DS_PI * ds_random_unit(&state), lean = 2 * DS_PI * ds_random_unit(&state);
    double tilt = 0.4 * ds_random_unit(&state);
    ds_vec3 p = v3(around * cos(angle) + aside * cos(to), around * sin(angle) + aside * sin(to),
                   height + 0.03 + pitch * (i / pegs));
    ds_quat q = quat_axis_angle(v3(cos(lean), sin(lean), 0), tilt);
    write_ring(g, i + 1, p, q, DS_BODY_DYNAMIC, (double)(i % pegs) / pegs + 0.02 * (i / pegs % 3));
  }
}

/* Neighbours at right angles, each through the other. Taut they would be 36 mm apart, and nearer than 30 every second
 * ring would touch the next but one. */
static void write_chain(ds_generation *g, int32_t count) {
  const double apart = 0.031, taut = 2 * (ring_radius - ring_tube);
  double height = 0.08 + 0.5 * count * taut;
  for (int32_t i = 0; i < count; i++) {
    ds_quat q = quat_axis_angle(v3(1, 0, 0), i % 2 == 0 ? 0.25 * DS_PI : -0.25 * DS_PI);
    bool end = i == 0 || i == count - 1;
    write_ring(g, i + 1, v3((i - 0.5 * (count - 1)) * apart, 0, height), q, end ? DS_BODY_STATIC : DS_BODY_DYNAMIC,
               end ? 0.6 : 0.1 + 0.04 * (i % 2));
  }
}

void ds_generate_rings(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  bool chain = ds_generation_chose(g, "layout", "chain");
  if (chain && count < 3) {
    snprintf(g->reason, sizeof g->reason, "a chain of %d rings; expected count=3 or more", (int)count);
    return;
  }
  ds_generation_begin(g,
                      chain ? "A chain of rings, held at both ends, sags and comes to rest."
                            : "Rings fall over pegs and pile up on them.",
                      chain ? 6 : 3);
  ds_generation_many(g, count);
  if (chain) ds_generation_option(g, "step", 0.002); /* links go taut with a jerk */
  ds_generation_material(g, "brass", ds_generation_value(g, "mu"), ds_generation_value(g, "e"));
  ds_generation_solid_figure(g, "ring", "ring", 1);
  ds_generation_floor(g, "brass");
  if (chain)
    write_chain(g, count);
  else
    write_pegs(g, count);
  ds_generation_end(g);
}

/* A tube of 16 plates that narrows below at 60 degrees. Bones flow through the opening as long as they slide along the
 * slanted plates; where friction holds them there, they bridge it. */
void ds_generate_jam(ds_generation *g) {
  const ds_faller *bone = ds_faller_find("bone");
  int32_t count = ds_generation_count(g, "count");
  ds_grid grid = {.count = count, .side = 3, .cell = 0.164};
  double wide = 0.36, narrow = 0.5 * ds_generation_value(g, "opening"), neck = 0.5, height = 0.56;
  double cone = height + tan(60 * DS_PI / 180) * (wide - narrow);
  double layers = ceil(count / 9.0);
  grid.bottom = cone;
  ds_generation_begin(g, "Bones fall through a tube that narrows: with little friction they pass, with much they jam.",
                      ceil(4 + 0.1 * layers));
  ds_generation_many(g, count);
  ds_generation_material(g, "bone", ds_generation_value(g, "mu"), 0);
  ds_generation_fallers(g, bone, 1);
  ds_generation_floor(g, "bone");
  ds_funnel throat = {.n = 16, .r0 = narrow, .z0 = neck, .r1 = narrow, .z1 = height, .thickness = 0.02};
  ds_funnel slant = {.n = 16, .r0 = narrow, .z0 = height, .r1 = wide, .z1 = cone, .thickness = 0.02};
  ds_funnel tube = {.n = 16, .r0 = wide, .z0 = cone, .r1 = wide, .z1 = cone + 0.5, .thickness = 0.02};
  ds_generation_funnel(g, "bone", "throat", &throat, v3(0.5, 0.53, 0.56));
  ds_generation_funnel(g, "bone", "slant", &slant, v3(0.58, 0.6, 0.63));
  ds_generation_funnel(g, "bone", "tube", &tube, v3(0.5, 0.53, 0.56));
  ds_generation_drop(g, "bone", bone, 1, &grid);
  ds_generation_end(g);
}
