/* A tower of blocks as in the game: three per level, every second level crosswise. A block is three times as long as it
 * is wide, so that the three of a level fill a square, and five times as long as it is high. */
#include <stdio.h>

#include "scene/generate.h"

static const double wood_density = 600;

void ds_generate_tower(ds_generation *g) {
  int32_t levels = ds_generation_count(g, "levels"), number = 0;
  double length = ds_generation_value(g, "size"), gap = ds_generation_value(g, "side_gap");
  double width = (length - 2 * gap) / 3, height = length / 5;
  if (!(width >= 0.1 * length)) {
    snprintf(g->reason, sizeof g->reason, "side_gap %g leaves no width to blocks of size %g; at most %.3g", gap, length,
             0.35 * length);
    return;
  }
  ds_generation_begin(g, "A tower of wooden blocks, three a level, every second level crosswise.", 10);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "wood");
  for (int32_t level = 0; level < levels; level++) {
    bool crosswise = level % 2 == 1;
    for (int32_t i = -1; i <= 1; i++) {
      double aside = i * (width + gap), z = (level + 0.5) * height;
      ds_vec3 center = crosswise ? v3(0, aside, z) : v3(aside, 0, z);
      ds_vec3 size = crosswise ? v3(length, width, height) : v3(width, length, height);
      ds_brick block = ds_default_brick(center, size, wood_density);
      block.color = ds_color_hue(crosswise ? 0.1 : 0.13);
      ds_generation_brick(g, "wood", "block", ++number, &block);
    }
  }
  ds_generation_end(g);
}
