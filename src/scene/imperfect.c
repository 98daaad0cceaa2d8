/* Jitter, tilt, sizes, gaps, overlaps, missing bodies, and a ball: see imperfect.h.
 *
 * Every body has random numbers of its own, from the seed and its place in the order of writing, and always draws all
 * of them, each by a statement: changing one parameter leaves the effect of the others as it was. Order of the draws:
 *   missing; x, y, z of the shift; x, y, z of the turn; x, y, z of the size; gap; overlap.
 *
 * Missing: of n bodies, m are left out by selection sampling: body i goes with the chance (still to go) / (n - i). */
#include "scene/imperfect.h"

#include <stdio.h>
#include <string.h>

#include "scene/generate_solids.h"
#include "shape/shape.h"

static const char *const names[] = {"jitter", "tilt",       "size_jitter", "gap",       "overlap",     "missing",
                                    "seed",   "ball_speed", "ball_radius", "ball_mass", "ball_height", "ball_yaw"};
static const double least_size = 0.1;     /* of the size before: gaps take no more away */
static const double ball_density = 2000;  /* kg/m³ */
static const double ball_lead = 0.05;     /* s: flight of the ball before it can touch anything, at least */
static const double ball_distance = 0.02; /* m: the same as a distance */

/* Generators that have the group have all of it; others may have a parameter of one of the names. */
static bool has_group(const ds_generation *g) {
  for (int32_t i = 0; i < g->generator->parameter_count; i++)
    if (strcmp(g->generator->parameters[i].name, "size_jitter") == 0) return true;
  return false;
}

bool ds_imperfect_parameter(const ds_generation *g, const char *name) {
  if (!has_group(g)) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

bool ds_imperfect_begin(ds_generation *g) {
  if (!has_group(g)) return false;
  ds_imperfection *p = &g->imperfection;
  *p = (ds_imperfection){.jitter = ds_generation_value(g, "jitter"),
                         .tilt = ds_generation_value(g, "tilt") * DS_PI / 180,
                         .size_jitter = ds_generation_value(g, "size_jitter"),
                         .gap = ds_generation_value(g, "gap"),
                         .overlap = ds_generation_value(g, "overlap"),
                         .missing = ds_generation_count(g, "missing"),
                         .seed = ds_generation_count(g, "seed"),
                         .low = v3(INFINITY, INFINITY, INFINITY),
                         .high = v3(-INFINITY, -INFINITY, -INFINITY)};
  p->ball = ds_generation_value(g, "ball_speed") > 0;
  p->uneven = p->jitter > 0 || p->tilt > 0 || p->size_jitter > 0 || p->gap > 0 || p->overlap > 0;
  p->wanted = p->ball || p->uneven || p->missing > 0;
  p->measuring = p->wanted;
  return p->wanted;
}

void ds_imperfect_measured(ds_generation *g) {
  ds_imperfection *p = &g->imperfection;
  p->measuring = false;
  p->count = p->met;
  p->met = 0;
  if (p->missing > 0 && p->missing >= p->count)
    snprintf(g->reason, sizeof g->reason, "missing=%d leaves nothing of %d bodies", (int)p->missing, (int)p->count);
}

/* ---- Measuring ---- */

static void include_point(ds_imperfection *p, ds_vec3 x) { p->low = v3_min(p->low, x), p->high = v3_max(p->high, x); }

/* A length of a shape: half of an extent. */
static double *length_of(ds_shape_def *shape, const ds_measure *m, int k) {
  return (double *)(void *)((char *)shape + m->offset) + k;
}

static void include_shape(ds_imperfection *p, ds_pose body, const ds_shape_def *given) {
  ds_shape_def copy = *given, *shape = &copy;
  const ds_measure *measures = ds_shape_kinds[shape->kind]->measures;
  bool turned = measures[0].key && (measures[0].kind == DS_MEASURE_LENGTHS || measures[0].kind == DS_MEASURE_POINTS);
  ds_pose pose = turned ? shape->pose : pose_identity(); /* the others are bounded by a cube about their middle */
  if (quat_norm(pose.q) == 0) pose.q = quat_identity();  /* left at zero: none */
  pose = pose_mul(body, pose);
  ds_vec3 half = v3(0, 0, 0);
  double r = 0;
  for (int i = 0; i < DS_MEASURES_MAX && measures[i].key; i++) {
    if (measures[i].kind == DS_MEASURE_LENGTH) r += *length_of(shape, &measures[i], 0);
    if (measures[i].kind == DS_MEASURE_LENGTHS) half = *(ds_vec3 *)(void *)length_of(shape, &measures[i], 0);
    if (measures[i].kind != DS_MEASURE_POINTS) continue;
    for (int32_t k = 0; k < shape->point_count; k++) include_point(p, pose_point(pose, shape->points[k]));
    return;
  }
  half = v3_add(half, v3(r, r, r));
  for (int32_t i = 0; i < 8; i++) {
    ds_vec3 sign = v3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    include_point(p, pose_point(pose, v3_mul(sign, half)));
  }
}

/* ---- One body ---- */

typedef struct draws {
  double missing;
  ds_vec3 shift, turn, size; /* -1 .. 1 */
  double gap, overlap;       /* 0 .. 1 */
} draws;

static ds_vec3 draw_vector(uint64_t *random) {
  ds_vec3 v;
  v.x = ds_random_between(random, -1, 1);
  v.y = ds_random_between(random, -1, 1);
  v.z = ds_random_between(random, -1, 1);
  return v;
}

static draws draw(int32_t seed, int32_t number) {
  uint64_t random = ds_random_stream(seed, number);
  draws d;
  d.missing = ds_random_unit(&random);
  d.shift = draw_vector(&random);
  d.turn = draw_vector(&random);
  d.size = draw_vector(&random);
  d.gap = ds_random_unit(&random);
  d.overlap = ds_random_unit(&random);
  return d;
}

static double resized(double size, double by, double more) { return fmax(least_size * size, size * (1 + by) + more); }

/* Hulls grow evenly, so that flanks stay parallel: by `more` along their least extent. */
static void resize_hull(ds_shape_def *shape, ds_vec3 *points, double by, double more) {
  ds_vec3 low = shape->points[0], high = low;
  for (int32_t i = 1; i < shape->point_count; i++) {
    low = v3_min(low, shape->points[i]);
    high = v3_max(high, shape->points[i]);
  }
  ds_vec3 extent = v3_sub(high, low);
  double least = fmin(extent.x, fmin(extent.y, extent.z)), scale = resized(least, by, more) / least;
  for (int32_t i = 0; i < shape->point_count; i++) points[i] = v3_scale(scale, shape->points[i]);
  shape->points = points;
}

static void resize(ds_shape_def *shape, ds_vec3 *points, const ds_imperfection *p, const draws *d) {
  double more = p->overlap * d->overlap - p->gap * d->gap;
  ds_vec3 by = v3_scale(p->size_jitter, d->size);
  const ds_measure *measures = ds_shape_kinds[shape->kind]->measures;
  const double share[3] = {by.x, by.y, by.z};
  for (int i = 0; i < DS_MEASURES_MAX && measures[i].key; i++) {
    const ds_measure *m = &measures[i];
    if (m->kind == DS_MEASURE_POINTS && shape->point_count <= DS_IMPERFECT_POINTS)
      resize_hull(shape, points, by.x, more);
    int count = m->kind == DS_MEASURE_LENGTH ? 1 : m->kind == DS_MEASURE_LENGTHS ? 3 : 0;
    for (int k = 0; k < count; k++) {
      double *half = length_of(shape, m, k);
      *half = 0.5 * resized(2 * *half, share[count == 3 ? k : i == 0 ? 0 : 2], more);
    }
  }
}

static bool stands(const ds_body_def *def) {
  return def->kind == DS_BODY_DYNAMIC && def->release_time <= 0 && v3_norm2(def->velocity) == 0 &&
         v3_norm2(def->angular_velocity) == 0;
}

bool ds_imperfect_change(ds_generation *g, ds_imperfect_body *out, const char *material, const ds_body_def *def,
                         const ds_shape_def *shapes, int32_t shape_count) {
  ds_imperfection *p = &g->imperfection;
  out->def = *def;
  bool copied = shape_count <= DS_IMPERFECT_SHAPES;
  for (int32_t i = 0; copied && i < shape_count; i++) out->shapes[i] = shapes[i];
  if (!stands(def)) return !p->measuring;
  int32_t number = p->met++;
  if (p->measuring) {
    if (number == 0) snprintf(p->material, sizeof p->material, "%s", material);
    ds_pose pose = def->pose;
    if (quat_norm(pose.q) == 0) pose.q = quat_identity();
    for (int32_t i = 0; i < shape_count; i++) include_shape(p, pose, &shapes[i]);
    return false;
  }
  draws d = draw(p->seed, number);
  int32_t to_go = (p->missing < p->count ? p->missing : p->count) - p->gone;
  if (d.missing * (p->count - number) < to_go) {
    p->gone++;
    return false;
  }
  if (!p->uneven) return true;
  /* turned about its origin, where the generators have the centre */
  ds_quat turn = quat_exp(v3_scale(p->tilt / sqrt(3), d.turn));
  ds_quat before = quat_norm(def->pose.q) == 0 ? quat_identity() : def->pose.q;
  out->def.pose.p = v3_mad(def->pose.p, p->jitter, d.shift);
  if (p->tilt > 0) out->def.pose.q = quat_unit(quat_mul(turn, before));
  if (copied && shape_count == 1) resize(&out->shapes[0], out->points, p, &d);
  return true;
}

/* ---- The ball ---- */

/* It flies at the middle of the box that the perfect structure fills, at a share of its height, and gravity bends its
 * path so that it comes to the box at that height. */
void ds_imperfect_ball(ds_generation *g) {
  ds_imperfection *p = &g->imperfection;
  if (!p->ball || p->measuring || p->count == 0) return;
  static const double gravity = 9.81;
  double speed = ds_generation_value(g, "ball_speed"), radius = ds_generation_value(g, "ball_radius");
  double yaw = ds_generation_value(g, "ball_yaw") * DS_PI / 180;
  double height = p->low.z + ds_generation_value(g, "ball_height") * (p->high.z - p->low.z);
  ds_vec3 middle = v3_scale(0.5, v3_add(p->low, p->high)), half = v3_scale(0.5, v3_sub(p->high, p->low));
  ds_vec3 along = v3(cos(yaw), sin(yaw), 0);
  /* quarter turns are meant exactly */
  if (fabs(along.x) < 1e-15) along = v3(0, along.y > 0 ? 1 : -1, 0);
  if (fabs(along.y) < 1e-15) along = v3(along.x > 0 ? 1 : -1, 0, 0);
  double reach = fabs(along.x) * half.x + fabs(along.y) * half.y;
  double flight = fmax(ball_distance, ball_lead * speed);
  ds_vec3 aim = v3(middle.x, middle.y, fmax(height, radius + 1e-3));
  ds_body_def def = {.name = "ball",
                     .kind = DS_BODY_DYNAMIC,
                     .pose = {v3_mad(aim, -(reach + radius + flight), along), quat_identity()},
                     .velocity = v3_add(v3_scale(speed, along), v3(0, 0, 0.5 * gravity * flight / speed)),
                     .mass = ds_generation_value(g, "ball_mass"),
                     .color = v3(0.25, 0.27, 0.3)};
  ds_shape_def shape = {.kind = DS_SHAPE_SPHERE, .radius = radius, .density = ball_density};
  p->wanted = false; /* the ball is as it should be */
  ds_generation_body(g, p->material, &def, &shape, 1);
}
