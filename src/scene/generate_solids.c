/* What the generators of scenes with solids share; see generate_solids.h.
 *
 * A figure stays inside its bounding ball, and the ball inside its own cell of a grid, however it is turned: nothing
 * overlaps at the start. Containers are rings of convex plates, whose contact with anything is exact. */
#include "scene/generate_solids.h"

#include <stdio.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014) */
double ds_random_unit(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

double ds_random_between(uint64_t *state, double low, double high) {
  return low + (high - low) * ds_random_unit(state);
}

ds_vec3 ds_random_vec3(uint64_t *state, double low, double high) {
  double z = ds_random_between(state, low, high), y = ds_random_between(state, low, high);
  double x = ds_random_between(state, low, high);
  return v3(x, y, z);
}

/* Shoemake 1992 */
ds_quat ds_random_rotation(uint64_t *state) {
  double u = ds_random_unit(state), a = 2 * DS_PI * ds_random_unit(state), b = 2 * DS_PI * ds_random_unit(state);
  return quat(sqrt(1 - u) * sin(a), sqrt(1 - u) * cos(a), sqrt(u) * sin(b), sqrt(u) * cos(b));
}

uint64_t ds_random_stream(int32_t seed, int32_t i) {
  return ((uint64_t)seed << 32) + (uint64_t)i * 0xd1342543de82ef95u;
}

/* ---- Figures that fall ---- */

#define IVORY \
  { 0.87, 0.82, 0.7 }
#define EBONY \
  { 0.25, 0.2, 0.19 }
const ds_faller ds_fallers[DS_FALLERS] = {
    {"king", 0.0457, 0, 0.0500, 700, {IVORY, EBONY}},
    {"queen", 0.0407, 0, 0.0450, 700, {IVORY, EBONY}},
    {"rook", 0.0281, 0, 0.0330, 700, {IVORY, EBONY}},
    {"bishop", 0.0342, 0, 0.0383, 700, {IVORY, EBONY}},
    {"knight", 0.0309, 0, 0.0358, 700, {IVORY, EBONY}},
    {"pawn", 0.0227, 0, 0.0280, 700, {IVORY, EBONY}},
    {"bunny", 0.0466, 0, 0.0575, 1000, {{0.82, 0.76, 0.7}, {0.55, 0.43, 0.35}}},
    {"helmet", 0.1585, 0.0053, 0.204, 8000, {{0.72, 0.55, 0.3}, {0.6, 0.5, 0.36}}},
    {"bone", 0, 0, 0.0812, 1800, {{0.86, 0.82, 0.74}, {0.78, 0.73, 0.64}}},
};

const ds_faller *ds_faller_find(const char *figure) {
  int32_t i = 0;
  while (strcmp(ds_fallers[i].figure, figure) != 0) i++;
  return &ds_fallers[i];
}

int32_t ds_grid_side(int32_t count, double tall) { return (int32_t)fmax(1, ceil(cbrt((double)count / tall) - 1e-9)); }

void ds_generation_many(ds_generation *g, int32_t count) {
  if (count > 100) ds_generation_option(g, "tolerance", 1e-4);
}

void ds_generation_fallers(ds_generation *g, const ds_faller *kinds, int32_t kind_count) {
  for (int32_t i = 0; i < kind_count; i++) ds_generation_solid_figure(g, kinds[i].figure, kinds[i].figure, 1);
}

static int32_t random_below(uint64_t *state, int32_t n) { return (int32_t)(n * ds_random_unit(state)); }

void ds_generation_drop(ds_generation *g, const char *material, const ds_faller *kinds, int32_t kind_count,
                        const ds_grid *grid) {
  int32_t seed = ds_generation_count(g, "seed"), side = grid->side;
  char name[48];
  for (int32_t i = 0; i < grid->count; i++) {
    uint64_t state = ds_random_stream(seed, i);
    const ds_faller *kind = &kinds[random_below(&state, kind_count)];
    double play = 0.5 * grid->cell - kind->radius;
    ds_vec3 p = v3((i % side - 0.5 * (side - 1)) * grid->cell, (i / side % side - 0.5 * (side - 1)) * grid->cell,
                   grid->bottom + (i / (side * side) + 0.5) * grid->cell);
    p.x += ds_random_between(&state, -play, play);
    p.y += ds_random_between(&state, -play, play);
    p.z += ds_random_between(&state, -play, play);
    ds_quat q = ds_random_rotation(&state);
    p = v3_sub(p, quat_rotate(q, v3(kind->ahead, 0, kind->center)));
    snprintf(name, sizeof name, "%s%d", kind->figure, (int)(i + 1));
    ds_body_def def = {.name = name,
                       .pose = {p, q},
                       .color = kind->colors[random_below(&state, 2)],
                       .release_time = i / (side * side) * grid->interval};
    ds_generation_solid(g, material, &def, kind->figure, kind->density);
  }
}

/* ---- Containers ---- */

/* Plate k is the hull of its inner face and of the same face pushed outward; half a plate's angle each side. */
void ds_generation_funnel(ds_generation *g, const char *material, const char *name, const ds_funnel *f, ds_vec3 color) {
  double half = DS_PI / f->n, slope = (f->r1 - f->r0) / (f->z1 - f->z0);
  double out = f->thickness * sqrt(1 + slope * slope); /* horizontally, for that thickness across the plate */
  char full_name[48];
  for (int32_t k = 0; k < f->n; k++) {
    ds_quat turn = quat_axis_angle(v3(0, 0, 1), 2 * half * k);
    ds_vec3 points[8];
    for (int32_t i = 0; i < 8; i++) {
      double r = (i & 1 ? f->r1 : f->r0) + (i & 2 ? out : 0), side = (i & 4 ? 1 : -1) * r * tan(half);
      points[i] = quat_rotate(turn, v3(r, side, i & 1 ? f->z1 : f->z0));
    }
    snprintf(full_name, sizeof full_name, "%s%d", name, (int)(k + 1));
    ds_body_def def = {.name = full_name, .kind = DS_BODY_STATIC, .pose = pose_identity(), .color = color};
    ds_shape_def shape = {.kind = DS_SHAPE_HULL, .pose = pose_identity(), .points = points, .point_count = 8};
    ds_generation_body(g, material, &def, &shape, 1);
  }
}
