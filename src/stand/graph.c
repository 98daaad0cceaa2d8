#include "stand/graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "stand/corners.h"

static double radius_of(const ds_block *b) {
  return sqrt((b->inertia[0] + b->inertia[4] + b->inertia[8]) / (3 * b->mass));
}

/* The weight of the mean free block, or where nothing weighs the largest of the given forces; 1 N where there is none.
 */
static double force_unit(const ds_assembly *a) {
  double mass = 0, largest = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    if (a->blocks[i].support) continue;
    mass += a->blocks[i].mass;
    largest = fmax(largest, v3_norm(a->blocks[i].force));
    count++;
  }
  double weight = count > 0 ? mass / count * v3_norm(a->gravity) : 0;
  return weight > 0 ? weight : largest > 0 ? largest : 1;
}

static int compare_pairs(const void *x, const void *y) {
  const int32_t *a = x, *b = y;
  if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
  return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Pairs of free blocks that touch, each once. */
static ds_block_pattern *analyse(ds_arena *arena, const ds_graph *g) {
  const ds_assembly *a = g->assembly;
  size_t room = (size_t)a->interface_count + 2 * (size_t)g->limits;
  int32_t *pairs = DS_NEW(arena, int32_t, 2 * room + 1), count = 0, kept = 0;
  int32_t *size = DS_NEW(arena, int32_t, g->n + g->limits + 1);
  if (ds_arena_failed(arena)) return NULL;
  for (int32_t i = 0; i < g->n + g->limits; i++) size[i] = i < g->n ? 6 : 1;
  for (int32_t j = 0; j < 2 * g->limits; j++) {
    int32_t body = g->body[2 * g->limit_point[j / 2] + j % 2];
    if (body < 0) continue;
    pairs[2 * count] = body, pairs[2 * count + 1] = g->n + j / 2;
    count++;
  }
  for (int32_t i = 0; i < a->interface_count; i++) {
    int32_t x = g->slot[a->interfaces[i].a], y = g->slot[a->interfaces[i].b];
    if (x < 0 || y < 0) continue;
    pairs[2 * count] = x < y ? x : y;
    pairs[2 * count + 1] = x < y ? y : x;
    count++;
  }
  if (count > 0) qsort(pairs, (size_t)count, 2 * sizeof *pairs, compare_pairs);
  for (int32_t i = 0; i < count; i++) {
    if (kept > 0 && compare_pairs(&pairs[2 * (kept - 1)], &pairs[2 * i]) == 0) continue;
    memmove(&pairs[2 * kept++], &pairs[2 * i], 2 * sizeof *pairs);
  }
  return ds_block_analyse(arena, size, pairs, kept, g->n + g->limits);
}

/* The rows of one body at a point: sign (axis, arm x axis), scaled. */
static void fill_rows(double *rows, const ds_graph *g, int32_t body, ds_vec3 point, const ds_vec3 axis[3],
                      double sign) {
  memset(rows, 0, 18 * sizeof *rows);
  if (body < 0) return;
  const ds_block *b = &g->assembly->blocks[g->block[body]];
  double f = sign / g->root_mass[body], h = f / g->radius[body];
  ds_vec3 arm = v3_sub(point, b->center);
  for (int32_t i = 0; i < 3; i++) {
    ds_vec3 turn = v3_cross(arm, axis[i]);
    double row[6] = {f * axis[i].x, f * axis[i].y, f * axis[i].z, h * turn.x, h * turn.y, h * turn.z};
    memcpy(rows + 6 * i, row, sizeof row);
  }
}

/* The points that matter. Where points crush each has a limit of its own, and all do. */
static bool choose_points(ds_arena *arena, ds_graph *g) {
  const ds_assembly *a = g->assembly;
  bool *keep = DS_NEW(arena, bool, a->point_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    ds_patch *patch = &g->patch[i];
    if (!ds_corners_find(arena, keep, a->points + face->first, face->count, face->normal)) return false;
    patch->first = g->points;
    for (int32_t k = 0; k < face->count; k++)
      if (keep[k] || a->strength) g->point[g->points++] = face->first + k;
    patch->count = g->points - patch->first;
  }
  return true;
}

static void fill_patch(ds_graph *g, int32_t i) {
  const ds_assembly *a = g->assembly;
  const ds_interface *face = &a->interfaces[i];
  ds_patch *patch = &g->patch[i];
  ds_vec3 *axis = patch->axis, first = a->points[g->point[patch->first]];
  axis[0] = face->normal;
  v3_tangents(&axis[1], &axis[2], face->normal);
  for (int32_t side = 0; side < 2; side++) {
    int32_t block = side == 0 ? face->a : face->b;
    patch->body[side] = g->slot[block];
    patch->arm[side] = v3_sub(first, a->blocks[block].center);
  }
  for (int32_t k = patch->first; k < patch->first + patch->count; k++) {
    ds_vec3 point = a->points[g->point[k]];
    g->mu[k] = face->mu;
    for (int32_t j = 0; j < 3; j++) g->offset[3 * k + j] = v3_dot(axis[j], v3_sub(point, first));
    for (int32_t side = 0; side < 2; side++) {
      g->body[2 * k + side] = patch->body[side];
      fill_rows(g->g + 36 * (size_t)k + 18 * side, g, patch->body[side], point, axis, side == 0 ? -1 : 1);
    }
  }
}

void ds_graph_scale_load(double *load, const ds_graph *g, const ds_vec3 *force, const ds_vec3 *torque) {
  for (int32_t i = 0; i < g->n; i++) {
    ds_vec3 f = force[g->block[i]], t = torque ? torque[g->block[i]] : v3(0, 0, 0);
    double s = 1 / (g->unit * g->root_mass[i]), h = s / g->radius[i];
    double *w = load + 6 * i;
    w[0] = s * f.x, w[1] = s * f.y, w[2] = s * f.z;
    w[3] = h * t.x, w[4] = h * t.y, w[5] = h * t.z;
  }
}

static bool fill_load(ds_arena *arena, ds_graph *g) {
  const ds_assembly *a = g->assembly;
  ds_vec3 *force = DS_NEW(arena, ds_vec3, a->block_count + 1), *torque = DS_NEW(arena, ds_vec3, a->block_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < a->block_count; i++) {
    force[i] = v3_mad(a->blocks[i].force, a->blocks[i].mass, a->gravity);
    torque[i] = a->blocks[i].torque;
  }
  for (int32_t i = 0; i < a->interface_count; i++) { /* tension draws the two blocks together */
    const ds_interface *face = &a->interfaces[i];
    for (int32_t k = face->first; k < face->first + face->count && face->tension > 0; k++)
      for (int32_t side = 0; side < 2; side++) {
        int32_t b = side == 0 ? face->a : face->b;
        ds_vec3 f = v3_scale(side == 0 ? face->tension : -face->tension, face->normal);
        force[b] = v3_add(force[b], f);
        torque[b] = v3_add(torque[b], v3_cross(v3_sub(a->points[k], a->blocks[b].center), f));
      }
  }
  ds_graph_scale_load(g->load, g, force, torque);
  return true;
}

static void fill_limits(ds_graph *g) {
  const ds_assembly *a = g->assembly;
  for (int32_t i = 0; i < a->interface_count && a->strength; i++)
    for (int32_t k = g->patch[i].first; k < g->patch[i].first + g->patch[i].count; k++) {
      double strength = a->strength[g->point[k]];
      if (!(strength > 0)) continue;
      g->limit_point[g->limits] = k;
      g->limit[g->limits++] = (strength + a->interfaces[i].tension) / g->unit;
    }
}

ds_graph *ds_graph_create(ds_arena *arena, const ds_assembly *a) {
  ds_graph *g = DS_NEW0(arena, ds_graph, 1);
  if (!g) return NULL;
  size_t blocks = (size_t)a->block_count, points = (size_t)a->point_count;
  *g = (ds_graph){.assembly = a, .unit = force_unit(a)};
  g->slot = DS_NEW(arena, int32_t, blocks + 1);
  g->block = DS_NEW(arena, int32_t, blocks + 1);
  g->root_mass = DS_NEW(arena, double, blocks + 1);
  g->radius = DS_NEW(arena, double, blocks + 1);
  g->load = DS_NEW(arena, double, 6 * blocks + 1);
  g->body = DS_NEW(arena, int32_t, 2 * points + 1);
  g->mu = DS_NEW(arena, double, points + 1);
  g->patch = DS_NEW(arena, ds_patch, a->interface_count + 1);
  g->point = DS_NEW(arena, int32_t, points + 1);
  g->offset = DS_NEW(arena, double, 3 * points + 1);
  g->limit_point = DS_NEW(arena, int32_t, a->strength ? points + 1 : 1);
  g->limit = DS_NEW(arena, double, a->strength ? points + 1 : 1);
  if (ds_arena_failed(arena) || !choose_points(arena, g)) return NULL;
  g->g = DS_NEW(arena, double, 36 * (size_t)g->points + 1);
  if (!g->g) return NULL;
  double mass = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    g->slot[i] = a->blocks[i].support ? -1 : g->n;
    if (a->blocks[i].support) continue;
    mass += a->blocks[i].mass;
    g->block[g->n++] = i;
  }
  for (int32_t i = 0; i < g->n; i++) {
    g->root_mass[i] = sqrt(a->blocks[g->block[i]].mass * g->n / mass);
    g->radius[i] = radius_of(&a->blocks[g->block[i]]);
  }
  for (int32_t i = 0; i < a->interface_count; i++) fill_patch(g, i);
  fill_limits(g);
  if (!fill_load(arena, g)) return NULL;
  g->pattern = analyse(arena, g);
  return g->pattern ? g : NULL;
}

void ds_graph_add_forces(double *out, const ds_graph *g, const double *r) {
  for (int32_t i = 0; i < g->assembly->interface_count; i++) {
    const ds_patch *p = &g->patch[i];
    ds_vec3 sum = v3(0, 0, 0), moment = v3(0, 0, 0); /* along the axes, about the first point */
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      ds_vec3 f = v3(r[3 * k], r[3 * k + 1], r[3 * k + 2]);
      sum = v3_add(sum, f);
      moment = v3_add(moment, v3_cross(v3(g->offset[3 * k], g->offset[3 * k + 1], g->offset[3 * k + 2]), f));
    }
    ds_vec3 f = v3_mad(v3_mad(v3_scale(sum.x, p->axis[0]), sum.y, p->axis[1]), sum.z, p->axis[2]);
    ds_vec3 t = v3_mad(v3_mad(v3_scale(moment.x, p->axis[0]), moment.y, p->axis[1]), moment.z, p->axis[2]);
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = p->body[side];
      if (body < 0) continue;
      double s = (side == 0 ? -1 : 1) / g->root_mass[body], h = s / g->radius[body], *o = out + 6 * body;
      ds_vec3 turn = v3_add(t, v3_cross(p->arm[side], f));
      o[0] += s * f.x, o[1] += s * f.y, o[2] += s * f.z;
      o[3] += h * turn.x, o[4] += h * turn.y, o[5] += h * turn.z;
    }
  }
}

void ds_graph_slip(double *u, const ds_graph *g, const double *v) {
  for (int32_t i = 0; i < g->assembly->interface_count; i++) {
    const ds_patch *p = &g->patch[i];
    ds_vec3 velocity = v3(0, 0, 0), turn = v3(0, 0, 0); /* of b against a, at the first point */
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = p->body[side];
      if (body < 0) continue;
      const double *x = v + 6 * body;
      double s = (side == 0 ? -1 : 1) / g->root_mass[body], h = s / g->radius[body];
      ds_vec3 w = v3(h * x[3], h * x[4], h * x[5]);
      velocity = v3_add(velocity, v3_add(v3(s * x[0], s * x[1], s * x[2]), v3_cross(w, p->arm[side])));
      turn = v3_add(turn, w);
    }
    ds_vec3 along = v3(v3_dot(velocity, p->axis[0]), v3_dot(velocity, p->axis[1]), v3_dot(velocity, p->axis[2]));
    ds_vec3 about = v3(v3_dot(turn, p->axis[0]), v3_dot(turn, p->axis[1]), v3_dot(turn, p->axis[2]));
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      ds_vec3 at = v3_cross(about, v3(g->offset[3 * k], g->offset[3 * k + 1], g->offset[3 * k + 2]));
      u[3 * k] = along.x + at.x, u[3 * k + 1] = along.y + at.y, u[3 * k + 2] = along.z + at.z;
    }
  }
}

void ds_graph_twists(ds_twist *twist, const ds_graph *g, const double *v) {
  for (int32_t b = 0; b < g->assembly->block_count; b++) {
    int32_t i = g->slot[b];
    twist[b] = (ds_twist){{0, 0, 0}, {0, 0, 0}};
    if (i < 0) continue;
    double s = 1 / g->root_mass[i], h = s / g->radius[i];
    ds_vec3 center = v3(s * v[6 * i], s * v[6 * i + 1], s * v[6 * i + 2]);
    twist[b].w = v3(h * v[6 * i + 3], h * v[6 * i + 4], h * v[6 * i + 5]);
    twist[b].v = v3_sub(center, v3_cross(twist[b].w, g->assembly->blocks[b].center));
  }
}

void ds_graph_forces(double *normal, ds_vec3 *friction, const ds_graph *g, const double *r) {
  const ds_assembly *a = g->assembly;
  const double inward = 1 - 1e-14; /* some rounding errors of the frame */
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    const ds_patch *patch = &g->patch[i];
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      normal[k] = -face->tension;
      if (friction) friction[k] = v3(0, 0, 0);
    }
    for (int32_t k = patch->first; k < patch->first + patch->count; k++) {
      int32_t at = g->point[k];
      bool none = r[3 * k] < 1e-40;               /* of a mean weight */
      double sum = none ? 0 : g->unit * r[3 * k]; /* with tension, as it is after rounding */
      normal[at] = fmax(sum - face->tension, -face->tension);
      if (a->strength && a->strength[at] > 0) normal[at] = fmin(normal[at], a->strength[at]);
      if (face->tension > 0) sum = fmax(0, normal[at] + face->tension - 4 * DBL_EPSILON * face->tension);
      if (!friction || none || !(g->mu[k] > 0)) continue;
      double t = g->unit * hypot(r[3 * k + 1], r[3 * k + 2]), most = inward * g->mu[k] * sum,
             f = t > most ? most / t : 1;
      ds_vec3 along = v3_mad(v3_scale(r[3 * k + 1], patch->axis[1]), r[3 * k + 2], patch->axis[2]);
      friction[at] = v3_scale(f * g->unit, along);
    }
  }
}
