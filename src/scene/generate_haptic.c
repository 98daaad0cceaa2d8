/* A tool among blocks in a tray, to be touched [SP08 section 8.1, Fig. 1a, last row of Table 1]: 72 degrees of freedom,
 * about 120 contacts, rigid and modal bodies, tolerance 1e-2, steps of 1 ms.
 *
 * Six rigid blocks and a soft one of twice their size stand in two rows on the floor of a tray, close to each other and
 * to its walls, but for a slot of 8 mm in the middle. The tool is a soft peg of 12 mm with a blunt tip: pushed into the
 * slot it has to make its way against blocks that jam between the walls, and the soft one gives way; dragged along them
 * it sticks and slips.
 *
 * `drystone touch haptic` moves the tool; without a hand it falls into the tray. */
#include <stdio.h>

#include "scene/generate_deformable.h"

static const double edge = 0.04, slot = 0.008; /* of a block, and between them, m */
static const double room = 0.0005;             /* around the soft block, m */
static const double peg_radius = 0.006, peg_length = 0.09;

/* The middle of a column of blocks: two on either side of the slot. */
static double column_place(int32_t column) { return (column - 1.5) * edge + (column < 2 ? -0.5 : 0.5) * slot; }

static void write_blocks(ds_generation *g) {
  for (int32_t i = 0; i < 6; i++) {
    int32_t column = i / 2, row = i % 2;
    char name[24];
    snprintf(name, sizeof name, "block%d", (int)(i + 1));
    ds_body_def def = {.name = name,
                       .pose = {v3(column_place(column), (row - 0.5) * edge, 0.5 * edge), quat_identity()},
                       .color = ds_color_hue(0.08 + 0.04 * i)};
    ds_shape_def box = {
        .kind = DS_SHAPE_BOX, .half = v3(0.5 * edge, 0.5 * edge, 0.5 * edge), .density = 800, .pose = pose_identity()};
    ds_generation_body(g, "wood", &def, &box, 1);
  }
  ds_soft_body soft = {
      .name = "soft", .pose = {v3(column_place(3), 0, 0.5 * edge), quat_identity()}, .color = v3(0.75, 0.4, 0.3)};
  ds_generation_soft_body(g, "wood", "block", &soft);
}

static void write_tray(ds_generation *g) {
  const double wall = 0.01, height = 0.03, along = 2 * edge + 0.5 * slot, across = edge;
  const ds_vec3 color = v3(0.5, 0.53, 0.56);
  const struct {
    const char *name;
    double x, y;
  } walls[] = {{"left", -1, 0}, {"right", 1, 0}, {"front", 0, -1}, {"back", 0, 1}};
  for (int32_t i = 0; i < 4; i++) {
    double x = walls[i].x * (along + 0.5 * wall), y = walls[i].y * (across + 0.5 * wall);
    ds_vec3 size = i < 2 ? v3(wall, 2 * across, height) : v3(2 * (along + wall), wall, height);
    ds_generation_slab(g, "wood", walls[i].name, (ds_pose){v3(x, y, 0.5 * height), quat_identity()}, size, color);
  }
}

static void write_deformables(ds_generation *g) {
  int32_t modes = ds_generation_count(g, "modes");
  ds_soft_text soft = ds_default_soft_text();
  char recipe[320];
  snprintf(recipe, sizeof recipe, "{\"kind\": \"box\", \"size\": [%.9g, %.9g, %.9g]}", edge - 2 * room,
           2 * (edge - room), edge);
  ds_generation_solid_recipe(g, "brick", recipe, 0.01);
  snprintf(recipe, sizeof recipe,
           "{\"kind\": \"lathe\", \"profile\": [[0, 0], [%.6g, 0], [%.6g, %.6g], [%.6g, %.6g], [0, %.6g]]}",
           0.4 * peg_radius, peg_radius, 2 * peg_radius, peg_radius, peg_length, peg_length);
  soft.def.modes = modes;
  soft.def.young = ds_generation_value(g, "young");
  soft.def.density = 800;
  soft.def.damping_stiffness = 2e-3;
  soft.solid = "brick";
  soft.cell = 0.02;
  ds_generation_deformable(g, "block", &soft);
  soft.solid = NULL;
  soft.recipe = recipe;
  soft.cell = 0;
  soft.tets = 120;
  soft.def.young = 1000 * ds_generation_value(g, "young");
  ds_generation_deformable(g, "peg", &soft);
}

void ds_generate_haptic(ds_generation *g) {
  ds_generation_begin(g, "A soft tool among rigid and soft blocks in a tray, for touch [SP08 Fig. 1a].", 2);
  ds_generation_option(g, "step", 0.001);
  ds_generation_option(g, "tolerance", 1e-2);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), 0);
  write_deformables(g);
  ds_generation_floor(g, "wood");
  write_tray(g);
  write_blocks(g);
  ds_soft_body tool = {.name = "tool", .pose = {v3(0, 0, edge + 0.01), quat_identity()}, .color = v3(0.25, 0.5, 0.75)};
  ds_generation_soft_body(g, "wood", "peg", &tool);
  ds_generation_end(g);
}
