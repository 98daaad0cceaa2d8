/* Vaults of wedge stones with closed joints, their feet level on the floor.
 *
 * barrel: half a cylinder along y. Every course is a row of stones between two joints that meet in the axis; every
 *   second course is shifted by half a stone, with half-stones at both ends, so that no joint goes through.
 * dome: half a sphere. Rings of stones between two cones that meet in the centre, and a keystone. A joint between two
 *   rings has four corners on two rays from the centre, so it is flat; the stones of all rings stand above each other,
 *   for those of a shifted ring would meet two flat joints at an angle.
 *
 * In the limit of many stones and without sliding, the barrel stands for a thickness of 0.1075 of the mean radius and
 * more, the dome for 0.042 and more (Heyman 1967). */
#include <stdio.h>

#include "scene/generate.h"

static const double stone_density = 2000;
enum { STONE_POINTS = 2 * 96 };

/* A stone from its corners; the body's origin is their mean. */
static void write_stone(ds_generation *g, int32_t number, const ds_vec3 *corners, int32_t count, ds_vec3 color) {
  ds_vec3 points[STONE_POINTS], mean = {0, 0, 0};
  char name[24];
  for (int32_t i = 0; i < count; i++) mean = v3_mad(mean, 1.0 / count, corners[i]);
  for (int32_t i = 0; i < count; i++) points[i] = v3_sub(corners[i], mean);
  snprintf(name, sizeof name, "stone%d", (int)number);
  ds_body_def def = {.name = name, .pose = {mean, quat_identity()}, .color = color};
  ds_shape_def shape = {.kind = DS_SHAPE_HULL, .density = stone_density, .points = points, .point_count = count};
  ds_generation_body(g, "stone", &def, &shape, 1);
}

typedef struct vault {
  double inner, outer; /* radii */
  double length;
  int32_t courses, stones;
} vault;

/* Joint i of a barrel, 0 at the left foot: sine and cosine of its angle from the vertical, mirrored bit by bit. */
static void joint_direction(double *x, double *z, const vault *v, int32_t i) {
  bool end = i == 0 || i == v->courses;
  double part = (double)(2 * i - v->courses) / v->courses, angle = 0.5 * DS_PI * part;
  *x = end ? part : sin(angle);
  *z = end ? 0 : cos(angle);
}

static void write_barrel(ds_generation *g, const vault *v) {
  int32_t number = 0;
  double stone = v->length / v->stones;
  for (int32_t course = 0; course < v->courses; course++) {
    double x[2], z[2];
    joint_direction(&x[0], &z[0], v, course);
    joint_direction(&x[1], &z[1], v, course + 1);
    bool shifted = course % 2 == 1;
    for (int32_t i = 0; i < v->stones + (shifted ? 1 : 0); i++) {
      double first = shifted ? i - 0.5 : i, last = first + 1;
      double y[2] = {fmax(first, 0) * stone - 0.5 * v->length, fmin(last, v->stones) * stone - 0.5 * v->length};
      ds_vec3 corners[8];
      for (int32_t k = 0; k < 8; k++) {
        double r = k & 1 ? v->outer : v->inner;
        int32_t joint = k & 2 ? 1 : 0, end = k & 4 ? 1 : 0;
        corners[k] = v3(r * x[joint], y[end], r * z[joint]);
      }
      write_stone(g, ++number, corners, 8, ds_color_hue(0.1 + 0.03 * ((course + i) % 2)));
    }
  }
}

static ds_vec3 dome_direction(const vault *v, int32_t ring, int32_t meridian) {
  double latitude = 0.5 * DS_PI * ring / (v->courses + 0.5), longitude = 2 * DS_PI * meridian / v->stones;
  return v3(cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), ring == 0 ? 0 : sin(latitude));
}

static void write_dome(ds_generation *g, const vault *v) {
  int32_t number = 0;
  ds_vec3 corners[STONE_POINTS];
  for (int32_t ring = 0; ring < v->courses; ring++) {
    for (int32_t i = 0; i < v->stones; i++) {
      for (int32_t k = 0; k < 8; k++) {
        double r = k & 1 ? v->outer : v->inner;
        int32_t meridian = (i + (k & 4 ? 1 : 0)) % v->stones; /* neighbours take the same numbers */
        corners[k] = v3_scale(r, dome_direction(v, ring + (k & 2 ? 1 : 0), meridian));
      }
      write_stone(g, ++number, corners, 8, ds_color_hue(0.1 + 0.03 * ((ring + i) % 2)));
    }
  }
  for (int32_t i = 0; i < 2 * v->stones; i++)
    corners[i] = v3_scale(i & 1 ? v->outer : v->inner, dome_direction(v, v->courses, i / 2));
  write_stone(g, ++number, corners, 2 * v->stones, v3(0.78, 0.5, 0.32));
}

void ds_generate_vault(ds_generation *g) {
  bool barrel = ds_generation_chose(g, "shape", "barrel");
  double radius = 0.5 * ds_generation_value(g, "span"), half = 0.5 * radius * ds_generation_value(g, "thickness");
  vault v = {.inner = radius - half,
             .outer = radius + half,
             .length = ds_generation_value(g, "length"),
             .courses = ds_generation_count(g, "courses"),
             .stones = ds_generation_count(g, "stones")};
  ds_generation_begin(g,
                      barrel ? "A barrel vault of wedge stones in running bond, its feet on the floor: for many stones "
                               "and without sliding it stands if and only if thickness / mean radius >= 0.1075."
                             : "A dome of wedge stones in rings under a keystone, its foot on the floor: for many "
                               "stones and without sliding it stands if and only if thickness / mean radius >= 0.042.",
                      10);
  ds_generation_option(g, "contacts_per_face", ds_generation_value(g, "contacts_per_face"));
  ds_generation_material(g, "stone", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "stone");
  if (barrel)
    write_barrel(g, &v);
  else
    write_dome(g, &v);
  ds_generation_end(g);
}
