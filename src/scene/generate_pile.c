/* A heap: bodies of several shapes, turned at random, dropped from a jittered grid. Every body stays inside a ball
 * within its own cell, so nothing overlaps at the start. The random numbers are our own and the same everywhere. */
#include <stdio.h>

#include "scene/generate_solids.h"

static const double largest = 0.1, smallest = 0.06, cell = 0.22; /* m: radii of the bounding balls, pitch of the grid */

enum { ROCK_POINTS = 14 };

/* Points near a sphere of radius r, none beyond it: six near the axes, so that there is always a volume, and eight
 * others. */
static void random_rock(ds_vec3 points[ROCK_POINTS], uint64_t *state, double r) {
  for (int32_t i = 0; i < ROCK_POINTS; i++) {
    double s = i % 2 == 0 ? 1 : -1;
    ds_vec3 d = i < 2 ? v3(s, 0, 0) : i < 4 ? v3(0, s, 0) : v3(0, 0, s);
    double spread = i < 6 ? 0.3 : 3;
    d.x += ds_random_between(state, -spread, spread);
    d.y += ds_random_between(state, -spread, spread);
    d.z += ds_random_between(state, -spread, spread);
    points[i] = v3_scale(r * ds_random_between(state, 0.85, 1), v3_unit(d));
  }
}

/* A shape inside the ball of radius r. */
static ds_shape_def random_shape(ds_vec3 points[ROCK_POINTS], uint64_t *state, ds_shape_kind kind, double r) {
  ds_shape_def shape = {.kind = kind, .pose = pose_identity(), .density = 1000};
  double ratio = ds_random_between(state, 0.35, 0.75);
  switch (kind) {
    case DS_SHAPE_SPHERE:
      shape.radius = r * ds_random_between(state, 0.7, 1);
      break;
    case DS_SHAPE_BOX: {
      double z = ds_random_between(state, 0.4, 1), y = ds_random_between(state, 0.5, 1); /* sides over the longest, x */
      ds_vec3 sides = v3(1, y, z);
      shape.half = v3_scale(r / v3_norm(sides), sides);
      break;
    }
    case DS_SHAPE_CAPSULE:
      shape.radius = ratio * r;
      shape.half_length = r - shape.radius;
      break;
    case DS_SHAPE_CYLINDER:
      shape.radius = ratio * r;
      shape.half_length = r * sqrt(1 - ratio * ratio);
      break;
    default:
      random_rock(points, state, r);
      shape.points = points;
      shape.point_count = ROCK_POINTS;
      break;
  }
  return shape;
}

static ds_shape_kind choose_kind(const ds_generation *g, uint64_t *state) {
  static const ds_shape_kind kinds[5] = {DS_SHAPE_BOX, DS_SHAPE_SPHERE, DS_SHAPE_CAPSULE, DS_SHAPE_CYLINDER,
                                         DS_SHAPE_HULL};
  double draw = ds_random_unit(state); /* drawn always, so that a seed gives the same places for every kind */
  if (ds_generation_chose(g, "kind", "boxes")) return DS_SHAPE_BOX;
  if (ds_generation_chose(g, "kind", "spheres")) return DS_SHAPE_SPHERE;
  if (ds_generation_chose(g, "kind", "capsules")) return DS_SHAPE_CAPSULE;
  if (ds_generation_chose(g, "kind", "cylinders")) return DS_SHAPE_CYLINDER;
  if (ds_generation_chose(g, "kind", "rocks")) return DS_SHAPE_HULL;
  return kinds[(int32_t)(5 * draw)];
}

void ds_generate_pile(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  uint64_t seed = (uint64_t)ds_generation_count(g, "seed") << 32;
  int32_t side = (int32_t)fmax(1, ceil(cbrt((double)count)));
  ds_generation_begin(g, "Bodies of several shapes fall from a loose grid into a heap on the floor.",
                      ceil(4 + 0.5 * side));
  ds_generation_material(g, "stone", ds_generation_value(g, "mu"), ds_generation_value(g, "e"));
  ds_generation_floor(g, "stone");
  ds_vec3 points[ROCK_POINTS];
  char name[24];
  for (int32_t i = 0; i < count; i++) {
    uint64_t state = seed + (uint64_t)i * 0xd1342543de82ef95u; /* a stream of its own for every body */
    double r = ds_random_between(&state, smallest, largest), play = 0.5 * cell - r;
    ds_vec3 p = v3((i % side - 0.5 * (side - 1)) * cell, (i / side % side - 0.5 * (side - 1)) * cell,
                   (i / (side * side) + 0.5) * cell);
    p.x += ds_random_between(&state, -play, play);
    p.y += ds_random_between(&state, -play, play);
    p.z += ds_random_between(&state, -play, play);
    snprintf(name, sizeof name, "body%d", (int)(i + 1));
    ds_quat q = ds_random_rotation(&state);
    ds_body_def def = {.name = name, .pose = {p, q}, .color = ds_color_hue(ds_random_unit(&state))};
    ds_shape_kind kind = choose_kind(g, &state);
    ds_shape_def shape = random_shape(points, &state, kind, r);
    ds_generation_body(g, "stone", &def, &shape, 1);
  }
  ds_generation_end(g);
}
