/* Things piled in order: stacks, walls, pyramids, dominoes, planks over an edge. Faces that touch share their
 * coordinate to rounding: every height is a whole number of courses times the course's height. */
#include "scene/generate.h"

/* Alternating tones of one material. */
static ds_vec3 tone(int32_t i) {
  static const double hue[4] = {0.05, 0.09, 0.07, 0.11};
  return ds_color_hue(hue[i & 3]);
}

void ds_generate_stack(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  double size = ds_generation_value(g, "size"), top_mass = ds_generation_value(g, "top_mass");
  ds_generation_begin(
      g,
      "A stack of cubes of 1 kg each, resting face on face; with top_mass the last one is heavy, a hard mass "
      "ratio.",
      10);
  ds_generation_material(g, "stone", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "stone");
  for (int32_t i = 0; i < count; i++) {
    ds_brick cube = ds_default_brick(v3(0, 0, (i + 0.5) * size), v3(size, size, size), 1000);
    bool heavy = i == count - 1 && top_mass > 0;
    cube.mass = heavy ? top_mass : 1;
    cube.color = heavy ? v3(0.35, 0.36, 0.4) : tone(i);
    ds_generation_brick(g, "stone", "cube", i + 1, &cube);
  }
  ds_generation_end(g);
}

/* One course; `shifted` by half a brick, with half-bricks at both ends. */
static void write_course(ds_generation *g, int32_t *number, int32_t row, int32_t bricks, ds_vec3 size, double joint) {
  bool shifted = row % 2 == 1;
  double pitch = size.x + joint, half = 0.5 * (size.x - joint), end = 0.5 * (bricks * pitch - joint);
  double z = (row + 0.5) * size.z;
  for (int32_t i = 0; i < bricks + (shifted ? 1 : 0); i++) {
    bool first = shifted && i == 0, last = shifted && i == bricks;
    /* the same multiples of the pitch on both sides of the middle: the wall is symmetric to the last bit */
    double x = (shifted ? i - 0.5 * bricks : i - 0.5 * (bricks - 1)) * pitch;
    if (first || last) x = (first ? -1 : 1) * (end - 0.5 * half);
    ds_brick brick = ds_default_brick(v3(x, 0, z), v3(first || last ? half : size.x, size.y, size.z), 2000);
    brick.color = tone(3 * row + i);
    ds_generation_brick(g, "brick", "brick", ++*number, &brick);
  }
}

void ds_generate_wall(ds_generation *g) {
  int32_t rows = ds_generation_count(g, "rows"), bricks = ds_generation_count(g, "bricks"), number = 0;
  ds_vec3 size = v3(0.2, 0.1, 0.2 / 3);
  ds_generation_begin(
      g,
      "A dry brick wall in running bond, half-bricks at the ends of every second course; with joint = 0 "
      "neighbours touch at their ends too.",
      10);
  ds_generation_material(g, "brick", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "brick");
  for (int32_t row = 0; row < rows; row++) write_course(g, &number, row, bricks, size, ds_generation_value(g, "joint"));
  ds_generation_end(g);
}

void ds_generate_pyramid(ds_generation *g) {
  int32_t rows = ds_generation_count(g, "rows"), number = 0;
  double size = 0.2, pitch = size + ds_generation_value(g, "gap");
  ds_generation_begin(g, "A flat pyramid of cubes of 0.2 m, each on the edges of two.", 10);
  ds_generation_material(g, "stone", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "stone");
  for (int32_t row = 0; row < rows; row++) {
    for (int32_t i = 0; i < rows - row; i++) {
      double x = (i - 0.5 * (rows - row - 1)) * pitch;
      ds_brick cube = ds_default_brick(v3(x, 0, (row + 0.5) * size), v3(size, size, size), 1000);
      cube.mass = 1;
      cube.color = tone(row + i);
      ds_generation_brick(g, "stone", "cube", ++number, &cube);
    }
  }
  ds_generation_end(g);
}

void ds_generate_dominoes(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  double spacing = ds_generation_value(g, "spacing"), push = ds_generation_value(g, "push");
  ds_vec3 size = v3(0.015, 0.05, 0.1);
  ds_generation_begin(g, "A row of dominoes 0.1 m tall; the first is tipping over its lower edge towards the next.",
                      5 + 0.1 * count);
  ds_generation_material(g, "domino", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "domino");
  for (int32_t i = 0; i < count; i++) {
    ds_brick domino = ds_default_brick(v3(i * (size.x + spacing), 0, 0.5 * size.z), size, 700);
    domino.color = ds_color_hue((double)i / count);
    if (i == 0) {
      /* rotation about the edge at (size.x/2, 0): the upper edge's speed is `push` */
      double omega = push / size.z;
      domino.angular_velocity = v3(0, omega, 0);
      domino.velocity = v3(0.5 * omega * size.z, 0, 0.5 * omega * size.x);
    }
    ds_generation_brick(g, "domino", "domino", i + 1, &domino);
  }
  ds_generation_end(g);
}

/* Plank k from the top reaches beyond what is under it by factor L/(2k): at factor 1 the k planks above every edge have
 * their centre exactly over it. */
void ds_generate_overhang(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  double factor = ds_generation_value(g, "factor"), length = 0.4, height = 0.5;
  ds_vec3 size = v3(length, 0.1, 0.02);
  ds_generation_begin(g,
                      "Planks stacked over a table's edge, each reaching beyond the next by factor times the harmonic "
                      "overhang L/2, L/4, L/6, ...: they stand for factors below 1 and fall above.",
                      10);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "wood");
  ds_body_def table = {.name = "table",
                       .kind = DS_BODY_STATIC,
                       .pose = {v3(-0.5 * length, 0, 0.5 * height), quat_identity()},
                       .color = v3(0.5, 0.42, 0.36)};
  ds_shape_def top = {.kind = DS_SHAPE_BOX, .half = v3(0.5 * length, 0.1, 0.5 * height)};
  ds_generation_body(g, "wood", &table, &top, 1);
  double end = 0; /* right end of what is under the plank */
  for (int32_t i = 0; i < count; i++) {
    end += factor * length / (2 * (count - i));
    ds_brick plank = ds_default_brick(v3(end - 0.5 * length, 0, height + (i + 0.5) * size.z), size, 600);
    plank.color = tone(i);
    ds_generation_brick(g, "wood", "plank", i + 1, &plank);
  }
  ds_generation_end(g);
}
