/* A house of 69 notched logs, 414 degrees of freedom [SP08 8.2]: it stands, or slides down a ramp, jumps off its end
 * and hits the ground. The paper does not give its measures: these are ours.
 *
 * A log is a bar of 16 sides with notches above and below, each a quarter of its height deep: what is left between is
 * half as high as the log, and logs that cross rest notch on notch, one layer half a log above the other. Between logs
 * of one direction stay 0.4 mm of air and on each side of a notch 0.1 mm of play; the faces that carry touch to
 * rounding. A log is written as convex lengths, so that contact is exact.
 *
 *   layer 0        2 sills along x, half logs, flat below
 *   layers 1..22   2 walls along y, 2 along x, in turn
 *   then, 5 times  2 gable logs along y, shorter each time, and 2 purlins along x on them, nearer to the middle
 *   at last        2 gable logs and the ridge                                             2 + 44 + 20 + 3 = 69 */
#include <stdio.h>
#include <stdlib.h>

#include "scene/generate.h"

enum { COURSES = 11, STEPS = 6, SIDES = 16, CORNERS_MAX = SIDES + 4, LENGTHS_MAX = 12 };
static const double radius = 0.05;            /* m: from the axis to an edge */
static const double neck = 0.0251;            /* m: half height between notches, and half the pitch of layers */
static const double notch = 0.0501;           /* m: half its length along the log */
static const double span = 0.7, beyond = 0.1; /* m: from the middle to the corner, and from there to the end */
static const double density = 600;

/* Half the gable's width under purlin k; 0 is the wall, STEPS the ridge. */
static double purlin_place(int32_t k) { return span * (STEPS - k) / STEPS; }

/* ---- A log ---- */

/* Along x, of half length `half`, notched above at +-above and below at +-below (negative = not); a sill has nothing
 * under z = 0. */
typedef struct timber {
  double half, above, below;
  bool sill;
} timber;

/* Keeps of a convex polygon in (y, z) what is on the side sign * z <= sign * at. */
static int32_t clip(double out[][2], const double in[][2], int32_t n, double sign, double at) {
  int32_t count = 0;
  for (int32_t i = 0; i < n; i++) {
    const double *p = in[i], *q = in[(i + 1) % n];
    double d = sign * (p[1] - at), e = sign * (q[1] - at);
    if (d <= 0) out[count][0] = p[0], out[count++][1] = p[1];
    if ((d < 0 && e > 0) || (d > 0 && e < 0)) {
      out[count][0] = p[0] + (q[0] - p[0]) * d / (d - e);
      out[count++][1] = at;
    }
  }
  return count;
}

/* The section between the heights low and high. */
static int32_t cut_section(double out[CORNERS_MAX][2], double low, double high) {
  double whole[SIDES][2], part[CORNERS_MAX][2];
  for (int32_t i = 0; i < SIDES; i++) {
    double angle = 2 * i * DS_PI / SIDES, z = radius * sin(angle);
    whole[i][0] = radius * cos(angle), whole[i][1] = i % (SIDES / 2) == 0 ? 0 : z; /* exactly where a sill is cut */
  }
  int32_t n = clip(part, (const double(*)[2])whole, SIDES, 1, high);
  return clip(out, (const double(*)[2])part, n, -1, low);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* All places where the section changes, ascending. */
static int32_t find_breaks(double x[LENGTHS_MAX], const timber *t) {
  int32_t n = 0;
  for (int32_t sign = -1; sign <= 1; sign += 2) {
    x[n++] = sign * t->half;
    for (int32_t end = -1; end <= 1; end += 2) {
      if (t->above >= 0) x[n++] = sign * t->above + end * notch;
      if (t->below >= 0) x[n++] = sign * t->below + end * notch;
    }
  }
  qsort(x, (size_t)n, sizeof x[0], compare);
  return n;
}

static void write_timber(ds_generation *g, const ds_body_def *def, const timber *t) {
  double x[LENGTHS_MAX], section[CORNERS_MAX][2];
  ds_vec3 points[LENGTHS_MAX][2 * CORNERS_MAX];
  ds_shape_def shapes[LENGTHS_MAX];
  int32_t breaks = find_breaks(x, t), count = 0;
  for (int32_t i = 0; i + 1 < breaks; i++) {
    double middle = fabs(0.5 * (x[i] + x[i + 1]));
    if (x[i + 1] - x[i] < 1e-9) continue; /* the ridge's notches are one */
    double high = t->above >= 0 && fabs(middle - t->above) < notch ? neck : 1;
    double low = t->below >= 0 && fabs(middle - t->below) < notch ? -neck : t->sill ? 0 : -1;
    int32_t n = cut_section(section, low, high);
    for (int32_t k = 0; k < 2 * n; k++) points[count][k] = v3(x[i + k % 2], section[k / 2][0], section[k / 2][1]);
    shapes[count] = (ds_shape_def){.kind = DS_SHAPE_HULL,
                                   .pose = pose_identity(),
                                   .density = density,
                                   .points = points[count],
                                   .point_count = 2 * n};
    count++;
  }
  ds_generation_body(g, "wood", def, shapes, count);
}

/* ---- The house ---- */

typedef struct house {
  ds_generation *g;
  ds_pose pose; /* of the middle of its floor */
  int32_t logs;
} house;

/* A log of the layer, along x at y = place or along y at x = place. */
static void write_log(house *h, const timber *t, int32_t layer, bool along_x, double place) {
  char name[24];
  snprintf(name, sizeof name, "log%d", (int)++h->logs);
  ds_pose at = {along_x ? v3(0, place, 2 * neck * layer) : v3(place, 0, 2 * neck * layer),
                along_x ? quat_identity() : quat_axis_angle(v3(0, 0, 1), 0.5 * DS_PI)};
  double shade = 0.03 * (h->logs * 7 % 5);
  bool roof = along_x && layer > 2 * COURSES;
  ds_vec3 color = roof ? v3(0.5 - shade, 0.33 - shade, 0.25 - shade) : v3(0.74 - shade, 0.56 - shade, 0.38 - shade);
  ds_body_def def = {.name = name, .pose = pose_mul(h->pose, at), .color = color};
  write_timber(h->g, &def, t);
}

static void write_pair(house *h, const timber *t, int32_t layer, bool along_x, double place) {
  write_log(h, t, layer, along_x, -place);
  write_log(h, t, layer, along_x, place);
}

static void write_house(ds_generation *g, ds_pose pose) {
  house h = {.g = g, .pose = pose};
  const timber sill = {span + beyond, span, -1, true}, wall = {span + beyond, span, span, false};
  int32_t layer = 0;
  write_pair(&h, &sill, layer++, true, span);
  for (int32_t i = 0; i < 2 * COURSES; i++, layer++) write_pair(&h, &wall, layer, i % 2 == 1, span);
  for (int32_t k = 1; k <= STEPS; k++) {
    timber gable = {purlin_place(k - 1) + beyond, purlin_place(k), purlin_place(k - 1), false};
    write_pair(&h, &gable, layer++, false, span);
    if (k < STEPS)
      write_pair(&h, &wall, layer++, true, purlin_place(k));
    else
      write_log(&h, &wall, layer, true, 0);
  }
}

/* ---- The ramp ---- */

/* Its surface ends at x = 0, `drop` above the ground, and rises towards -x. Gives the pose of the house's floor: behind
 * the end by `run` along the slope. */
static ds_pose write_ramp(ds_generation *g, double slope, double run, double drop) {
  double angle = atan(slope), length = run + 2;
  double x = -length * cos(angle), z = drop + length * sin(angle);
  ds_prism ramp = {.x = {x, 0, 0, x}, .z = {0, 0, drop, z}, .corners = 4, .width = 2.2};
  ds_body_def def = {.name = "ramp", .kind = DS_BODY_STATIC, .color = v3(0.5, 0.53, 0.56)};
  ds_generation_prism(g, "wood", &def, 1000, &ramp);
  return (ds_pose){v3(-run * cos(angle), 0, drop + run * sin(angle)), quat_axis_angle(v3(0, 1, 0), angle)};
}

void ds_generate_log_house(ds_generation *g) {
  bool ramp = ds_generation_count(g, "ramp") != 0;
  ds_generation_begin(g,
                      ramp ? "A house of 69 notched logs slides down a ramp, jumps off its end and hits the ground "
                             "[SP08 8.2]."
                           : "A house of 69 notched logs stands [SP08 8.2].",
                      5);
  ds_generation_material(g, "wood", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "wood");
  ds_pose pose = pose_identity();
  if (ramp) pose = write_ramp(g, ds_generation_value(g, "slope"), 3.5, 0.6);
  write_house(g, pose);
  ds_generation_end(g);
}
