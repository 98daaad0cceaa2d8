#include "stand/graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"

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

static void fill_points(ds_graph *g) {
  const ds_assembly *a = g->assembly;
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      ds_vec3 *axis = g->axis + 3 * k;
      axis[0] = face->normal;
      v3_tangents(&axis[1], &axis[2], face->normal);
      g->mu[k] = face->mu;
      g->body[2 * k] = g->slot[face->a];
      g->body[2 * k + 1] = g->slot[face->b];
      fill_rows(g->g + 36 * (size_t)k, g, g->body[2 * k], a->points[k], axis, -1);
      fill_rows(g->g + 36 * (size_t)k + 18, g, g->body[2 * k + 1], a->points[k], axis, 1);
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
    for (int32_t k = a->interfaces[i].first; k < a->interfaces[i].first + a->interfaces[i].count; k++) {
      if (!(a->strength[k] > 0)) continue;
      g->limit_point[g->limits] = k;
      g->limit[g->limits++] = (a->strength[k] + a->interfaces[i].tension) / g->unit;
    }
}

ds_graph *ds_graph_create(ds_arena *arena, const ds_assembly *a) {
  ds_graph *g = DS_NEW0(arena, ds_graph, 1);
  if (!g) return NULL;
  size_t blocks = (size_t)a->block_count, points = (size_t)a->point_count;
  *g = (ds_graph){.assembly = a, .points = a->point_count, .unit = force_unit(a)};
  g->slot = DS_NEW(arena, int32_t, blocks + 1);
  g->block = DS_NEW(arena, int32_t, blocks + 1);
  g->root_mass = DS_NEW(arena, double, blocks + 1);
  g->radius = DS_NEW(arena, double, blocks + 1);
  g->load = DS_NEW(arena, double, 6 * blocks + 1);
  g->body = DS_NEW(arena, int32_t, 2 * points + 1);
  g->g = DS_NEW(arena, double, 36 * points + 1);
  g->mu = DS_NEW(arena, double, points + 1);
  g->axis = DS_NEW(arena, ds_vec3, 3 * points + 1);
  g->limit_point = DS_NEW(arena, int32_t, a->strength ? points + 1 : 1);
  g->limit = DS_NEW(arena, double, a->strength ? points + 1 : 1);
  if (ds_arena_failed(arena)) return NULL;
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
  fill_points(g);
  fill_limits(g);
  if (!fill_load(arena, g)) return NULL;
  g->pattern = analyse(arena, g);
  return g->pattern ? g : NULL;
}

void ds_graph_add_forces(double *out, const ds_graph *g, const double *r) {
  for (int32_t k = 0; k < g->points; k++)
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = g->body[2 * k + side];
      if (body < 0) continue;
      const double *rows = g->g + 36 * (size_t)k + 18 * side, *x = r + 3 * k;
      double *o = out + 6 * body;
      for (int32_t j = 0; j < 6; j++) o[j] += rows[j] * x[0] + rows[6 + j] * x[1] + rows[12 + j] * x[2];
    }
}

void ds_graph_slip(double *u, const ds_graph *g, const double *v) {
  for (int32_t k = 0; k < g->points; k++) {
    double sum[3] = {0};
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = g->body[2 * k + side];
      if (body < 0) continue;
      const double *rows = g->g + 36 * (size_t)k + 18 * side, *x = v + 6 * body;
      for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 6; j++) sum[i] += rows[6 * i + j] * x[j];
    }
    memcpy(u + 3 * k, sum, sizeof sum);
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
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      const ds_vec3 *axis = g->axis + 3 * k;
      bool none = r[3 * k] < 1e-40;               /* of a mean weight */
      double sum = none ? 0 : g->unit * r[3 * k]; /* with tension, as it is after rounding */
      normal[k] = fmax(sum - face->tension, -face->tension);
      if (a->strength && a->strength[k] > 0) normal[k] = fmin(normal[k], a->strength[k]);
      if (face->tension > 0) sum = fmax(0, normal[k] + face->tension - 4 * DBL_EPSILON * face->tension);
      if (!friction) continue;
      double t = g->unit * hypot(r[3 * k + 1], r[3 * k + 2]), most = inward * g->mu[k] * sum,
             f = t > most ? most / t : 1;
      ds_vec3 along = v3_mad(v3_scale(r[3 * k + 1], axis[1]), r[3 * k + 2], axis[2]);
      friction[k] = g->mu[k] > 0 && !none ? v3_scale(f * g->unit, along) : v3(0, 0, 0);
    }
  }
}
