/* Woven strands that only friction and their own stiffness hold together [SP08 figure 5, left; section 8.1].
 *
 * A strand is flat, of width w and thickness t, and wavy: at its crossings, a pitch p apart, it runs alternately t/2
 * above and below the plane of the weave, level over the width of the strand that it crosses, and climbs in between.
 * Four cross four. At rest they fit with a little play and press on nothing. A strand that slides by s along itself
 * meets its neighbours with its slopes and has to flatten by d(s): they press with N = k d, k growing with Young's
 * modulus, and hold it by
 *
 *   N (d' + mu)/(1 - mu d'),      d': the slope.
 *
 * It comes out where its load is more than the largest of that on its way. So stiffness and friction stand for one
 * another, and a composite that is too soft by a little creeps: flattening takes time, by the damping of the material.
 *
 * composites hangs a patch on two pegs below its uppermost strand: the other seven hang on its four crossings.
 * composites-thrown throws patches at a board of pegs. */
#include <stdio.h>
#include <stdlib.h>

#include "scene/generate_deformable.h"

enum { STRANDS = 4, RAMP = 6, OUTLINE = (STRANDS + 1) * (RAMP + 1) + 2 };

static const double pitch = 0.02, width = 0.01, thickness = 0.003, overhang = 0.01, rounding = 0.0015; /* m */
static const double play = 1e-5; /* between strands that cross, and above the pegs */
static const double peg_radius = 0.0025, peg_length = 0.03;
static const double stiff_young = 3.05e7, soft_young = 1.65e7; /* Pa */

/* ---- a strand ---- */

/* Height of its middle over the plane of the weave, in units of t/2, at x along it: +1 at the first crossing, -1 at the
 * next. Crossing k is at (k - 3/2) p. */
static double wave(double x) {
  double place = x / pitch + 0.5 * (STRANDS - 1), nearest = floor(place + 0.5), off = (place - nearest) * pitch;
  double sign = fmod(fabs(nearest), 2) == 0 ? 1 : -1, ramp = (fabs(off) - 0.5 * width) / (pitch - width);
  return ramp > 0 ? sign * cos(DS_PI * ramp) : sign;
}

/* Places along it where its outline has points: both ends, and along each slope. */
static int32_t places(double x[OUTLINE]) {
  double end = 0.5 * (STRANDS - 1) * pitch + 0.5 * width + overhang;
  int32_t n = 0;
  x[n++] = -end;
  for (int32_t k = -1; k < STRANDS; k++)
    for (int32_t i = 0; i <= RAMP; i++) {
      double at = (k - 0.5 * (STRANDS - 1)) * pitch + 0.5 * width + (pitch - width) * i / RAMP;
      if (fabs(at) < end - 1e-9) x[n++] = at;
    }
  x[n++] = end;
  return n;
}

/* Along x, its thickness along y, its width along z; all edges rounded. */
static void write_recipe(ds_text *text) {
  double x[OUTLINE], high = 0.5 * (thickness + play);
  int32_t n = places(x);
  ds_text_print(text, "{\"shape\": {\"kind\": \"intersection\", \"blend\": %.9g, \"of\": [", rounding);
  ds_text_print(text, "{\"kind\": \"box\", \"size\": [%.9g, %.9g, %.9g]}, ", 2 * x[n - 1], 8 * thickness, width);
  ds_text_print(text, "{\"kind\": \"extrusion\", \"length\": %.9g, \"profile\": [", 4 * width);
  for (int32_t i = 0; i < 2 * n; i++) {
    double at = i < n ? x[i] : x[2 * n - 1 - i], side = i < n ? -0.5 : 0.5;
    ds_text_print(text, "%s[%.9g, %.9g]", i == 0 ? "" : ", ", at, high * wave(at) + side * thickness);
  }
  ds_text_print(text, "]}]}, \"cell\": %.9g}", 0.2 * thickness);
}

static void write_strand(ds_generation *g, const char *name, double young) {
  ds_text recipe = {0};
  write_recipe(&recipe);
  ds_soft_text soft = ds_default_soft_text();
  soft.recipe = recipe.data;
  soft.def.young = young;
  soft.def.poisson = 0.4;
  soft.def.density = 1100;
  soft.def.modes = 18;
  soft.def.damping_stiffness = ds_generation_value(g, "damping");
  soft.cell = 0.00125;
  if (recipe.failed)
    g->text.failed = true;
  else
    ds_generation_deformable(g, name, &soft);
  free(recipe.data);
}

/* ---- a patch ---- */

typedef struct patch {
  int32_t number;
  const char *material, *deformable;
  ds_pose pose; /* woven in its x-z plane */
  ds_vec3 velocity, angular_velocity;
  double release_time;
  double jitter; /* m/s: of each strand, to start a little differently */
} patch;

/* Strand i of one direction: across (along x, counted from above) or upright (along z). Strands i and j cross with the
 * first in front where i + j is even. */
static void write_one(ds_generation *g, const patch *p, int32_t i, bool upright, uint64_t *random) {
  char name[32];
  double at = (i - 0.5 * (STRANDS - 1)) * pitch, j = p->jitter;
  ds_quat over = quat_axis_angle(v3(1, 0, 0), DS_PI), up = quat_axis_angle(v3(0, 1, 0), -0.5 * DS_PI);
  ds_pose in = {upright ? v3(at, 0, 0) : v3(0, 0, -at), upright ? up : quat_identity()};
  if (i % 2 == 1) in.q = quat_mul(in.q, over);
  snprintf(name, sizeof name, "patch%d-%s", (int)p->number, upright ? "upright" : "across");
  ds_soft_body body = {.name = name,
                       .number = i + 1,
                       .pose = pose_mul(p->pose, in),
                       .angular_velocity = p->angular_velocity,
                       .release_time = p->release_time,
                       .color = ds_color_hue((upright ? 0.08 : 0.58) + 0.02 * i)};
  ds_vec3 arm = v3_sub(body.pose.p, p->pose.p), dv = {0, 0, 0};
  if (j > 0) dv = ds_random_vec3(random, -j, j);
  body.velocity = v3_add(v3_add(p->velocity, dv), v3_cross(p->angular_velocity, arm));
  ds_generation_soft_body(g, p->material, p->deformable, &body);
}

static void write_patch(ds_generation *g, const patch *p) {
  uint64_t random = ds_random_stream(ds_generation_count(g, "seed"), p->number);
  for (int32_t upright = 0; upright <= 1; upright++)
    for (int32_t i = 0; i < STRANDS; i++) write_one(g, p, i, upright, &random);
}

/* ---- on pegs ---- */

/* Two pegs through the holes below the uppermost strand. */
static void write_hanging(ds_generation *g, patch p) {
  double below = 0.5 * (STRANDS - 1) * pitch - 0.5 * width - peg_radius - play;
  p.jitter = ds_generation_count(g, "seed") > 0 ? 0.01 : 0;
  write_patch(g, &p);
  for (int32_t side = 0; side <= 1; side++) {
    ds_vec3 at = v3_add(p.pose.p, v3((2 * side - 1) * pitch, 0, below)), half = v3(0, 0.5 * peg_length, 0);
    ds_generation_rod(g, p.material, "peg", 2 * p.number - 1 + side, v3_sub(at, half), v3_add(at, half), peg_radius,
                      v3(0.5, 0.5, 0.55));
  }
}

/* The figure of the paper: mu grows from right to left, stiffness from the lower row to the upper, which hangs farther
 * back so that what falls out of it passes behind the other. */
static void write_grid(ds_generation *g) {
  static const char *const material[] = {"mu-0.5", "mu-0.3", "mu-0.1"};
  static const double mu[] = {0.5, 0.3, 0.1};
  for (int32_t i = 0; i < 3; i++) ds_generation_material(g, material[i], mu[i], 0);
  write_strand(g, "stiff", stiff_young);
  write_strand(g, "soft", soft_young);
  for (int32_t i = 0; i < 6; i++) {
    bool soft = i >= 3;
    ds_vec3 p = v3((i % 3 - 1) * 0.14, soft ? 0 : 0.1, soft ? 0.15 : 0.3);
    write_hanging(g, (patch){.number = i + 1,
                             .material = material[i % 3],
                             .deformable = soft ? "soft" : "stiff",
                             .pose = {p, quat_identity()}});
  }
  ds_generation_floor(g, material[0]);
}

static void write_single(ds_generation *g) {
  double young = ds_generation_value(g, "young");
  if (!(young > 0)) young = ds_generation_chose(g, "stiffness", "stiff") ? stiff_young : soft_young;
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  write_strand(g, "strand", young);
  write_hanging(
      g, (patch){.number = 1, .material = "rubber", .deformable = "strand", .pose = {v3(0, 0, 0.15), quat_identity()}});
  ds_generation_floor(g, "rubber");
}

void ds_generate_composites(ds_generation *g) {
  ds_generation_begin(g, "Strands woven into a patch that hangs on two pegs [SP08 figure 5].", 3);
  ds_generation_option(g, "step", 0.003);
  if (ds_generation_count(g, "grid") == 1)
    write_grid(g);
  else
    write_single(g);
  ds_generation_end(g);
}

/* ---- at a board of pegs ---- */

/* Pegs stand out of the board y = 0 towards -y, every second row between those of the first. */
static void write_board(ds_generation *g) {
  enum { ROWS = 7, COLUMNS = 7 };
  const double apart = 0.06, radius = 0.004, length = 0.05;
  ds_pose board = {v3(0, 0.01, 0.25), quat_identity()};
  ds_generation_slab(g, "rubber", "board", board, v3(0.5, 0.02, 0.5), v3(0.6, 0.5, 0.38));
  for (int32_t i = 0; i < ROWS * COLUMNS; i++) {
    int32_t row = i / COLUMNS, column = i % COLUMNS;
    if (row % 2 == 1 && column == COLUMNS - 1) continue;
    double x = (column - 0.5 * (COLUMNS - 1) + 0.5 * (row % 2)) * apart, z = 0.1 + row * 0.866 * apart;
    ds_generation_rod(g, "rubber", "peg", i + 1, v3(x, 0, z), v3(x, radius - length, z), radius, v3(0.5, 0.5, 0.55));
  }
}

/* Edge first or flat, in turn, each turned a little at random. */
static void write_thrown(ds_generation *g, int32_t i, double speed) {
  uint64_t random = ds_random_stream(ds_generation_count(g, "seed"), 1000 + i);
  double x = 0.1 * (i % 3 - 1) + ds_random_between(&random, -0.02, 0.02), z = ds_random_between(&random, 0.25, 0.4);
  double angle = ds_random_between(&random, 0, 0.6);
  double axis_y = ds_random_between(&random, -1, 1), axis_x = ds_random_between(&random, -1, 1);
  double spin_z = ds_random_between(&random, -3, 3), spin_x = ds_random_between(&random, -3, 3);
  ds_quat lean = quat_axis_angle(v3(axis_x, axis_y, 0.5), angle);
  ds_quat edge = quat_axis_angle(v3(0, 0, 1), (i + ds_generation_count(g, "seed")) % 2 == 1 ? 0.5 * DS_PI : 0);
  patch p = {.number = i + 1,
             .material = "rubber",
             .deformable = "strand",
             .pose = {v3(x, -0.2, z), quat_mul(lean, edge)},
             .velocity = v3(0, speed, 0),
             .angular_velocity = v3(spin_x, 0, spin_z),
             .release_time = 0.15 * i};
  write_patch(g, &p);
}

void ds_generate_composites_thrown(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  ds_generation_begin(g, "Woven patches thrown at a board of pegs.", 0.15 * count + 0.6);
  ds_generation_option(g, "step", 0.001);
  ds_generation_material(g, "rubber", ds_generation_value(g, "mu"), 0);
  write_strand(g, "strand", stiff_young);
  write_board(g);
  for (int32_t i = 0; i < count; i++) write_thrown(g, i, ds_generation_value(g, "speed"));
  ds_generation_floor(g, "rubber");
  ds_generation_end(g);
}
