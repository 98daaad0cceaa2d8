/* Heaps of figures: chess pieces, bunnies, helmets dropped from a grid; chess pieces through a hopper [FFD05 figures 1,
 * 5, 8; SP08 figure 1c]. The papers do not give dimensions; these are ours. */
#include "scene/generate_solids.h"

/* Time to pour, to fall from the top of the grid, and some seconds to come to rest. */
static double time_of(const ds_grid *grid, double rest) {
  double layers = ceil((double)grid->count / ((double)grid->side * grid->side));
  return ceil(rest + (layers - 1) * grid->interval + sqrt(2 * (grid->bottom + layers * grid->cell) / 9.81));
}

/* A cubic grid of figures over the floor. */
static void drop_on_floor(ds_generation *g, const char *note, const char *material, const ds_faller *kinds,
                          int32_t kind_count, double cell, double rest) {
  int32_t count = ds_generation_count(g, "count");
  ds_grid grid = {.count = count, .side = ds_grid_side(count, 1), .cell = cell};
  ds_generation_begin(g, note, time_of(&grid, rest));
  ds_generation_many(g, count);
  ds_generation_material(g, material, ds_generation_value(g, "mu"), ds_generation_value(g, "e"));
  ds_generation_fallers(g, kinds, kind_count);
  ds_generation_floor(g, material);
  ds_generation_drop(g, material, kinds, kind_count, &grid);
  ds_generation_end(g);
}

void ds_generate_chess_drop(ds_generation *g) {
  drop_on_floor(g, "Chess pieces of all six kinds fall from a grid into a heap on the floor [FFD05 figures 1, 8].",
                "wood", ds_fallers, DS_CHESS_MEN, 0.11, 3);
}

/* The basin is a shallow square tray as wide as the grid; the bunnies would else roll apart. */
void ds_generate_bunny_drop(ds_generation *g) {
  const ds_faller *bunny = ds_faller_find("bunny");
  int32_t count = ds_generation_count(g, "count");
  ds_grid grid = {.count = count, .side = ds_grid_side(count, 1.4), .cell = 0.125};
  double half = 0.5 * grid.side * grid.cell, rim = fmax(0.1, 0.3 * half);
  ds_generation_begin(g, "Bunnies fall from a grid into a heap in a shallow basin [SP08 figure 1c].",
                      time_of(&grid, 4));
  ds_generation_many(g, count);
  ds_generation_material(g, "clay", ds_generation_value(g, "mu"), ds_generation_value(g, "e"));
  ds_generation_fallers(g, bunny, 1);
  ds_generation_floor(g, "clay");
  ds_funnel basin = {.n = 4, .r0 = half, .z0 = 0, .r1 = half + rim, .z1 = rim, .thickness = 0.05};
  ds_generation_funnel(g, "clay", "rim", &basin, v3(0.5, 0.53, 0.56));
  ds_generation_drop(g, "clay", bunny, 1, &grid);
  ds_generation_end(g);
}

void ds_generate_helmets(ds_generation *g) {
  drop_on_floor(g, "Thin-walled helmets fall from a grid into a heap [FFD05 figure 1e].", "bronze",
                ds_faller_find("helmet"), 1, 0.43, 5);
}

/* Four slanted plates under four upright ones, wide enough for the grid; the walls rise at 60 degrees from an opening
 * of several pieces' lengths, steeper than the slope of a heap. */
void ds_generate_hopper(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  double opening = ds_generation_value(g, "opening"), height = 0.5;
  ds_grid grid = {.count = count, .side = ds_grid_side(count, 14.0 / 12), .cell = 0.11};
  grid.interval = ds_generation_value(g, "pour");
  double half = fmax(0.5 * grid.side * grid.cell + 0.01, 0.75 * opening), r0 = 0.5 * opening;
  double bin = height + sqrt(3) * (half - r0), top = bin + 0.4 * half;
  grid.bottom = bin;
  ds_generation_begin(g, "Chess pieces fall through a hopper and pile up on the floor [FFD05 figure 5].",
                      time_of(&grid, 5));
  if (count > 1000) /* all of it flows: a third of the work of 1e-4, and nothing has to stand before the end */
    ds_generation_option(g, "tolerance", 1e-3);
  else
    ds_generation_many(g, count);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), ds_generation_value(g, "e"));
  ds_generation_fallers(g, ds_fallers, DS_CHESS_MEN);
  ds_generation_floor(g, "wood");
  ds_funnel slanted = {.n = 4, .r0 = r0, .z0 = height, .r1 = half, .z1 = bin, .thickness = 0.03};
  ds_funnel upright = {.n = 4, .r0 = half, .z0 = bin, .r1 = half, .z1 = top, .thickness = 0.03};
  ds_generation_funnel(g, "wood", "slant", &slanted, v3(0.58, 0.6, 0.63));
  ds_generation_funnel(g, "wood", "wall", &upright, v3(0.5, 0.53, 0.56));
  ds_generation_drop(g, "wood", ds_fallers, DS_CHESS_MEN, &grid);
  ds_generation_end(g);
}
