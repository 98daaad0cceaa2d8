/* Neighbours by sorting the half-edges; normals by the angle-weighted mean of the triangles around a vertex, which
 * gives the right sign of a distance (Baerentzen and Aanaes 2005) and does not depend on how faces are cut into
 * triangles (Thuermer and Wuethrich 1998).
 *
 * Two parts of a surface that share only a vertex have separate normals there: corners are joined over edges. */
#include "mesh/surface.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/sets.h"

typedef struct edge_key {
  uint64_t vertices; /* the lower, then the higher */
  int32_t half;
} edge_key;

static int compare_edges(const void *pa, const void *pb) {
  const edge_key *a = pa, *b = pb;
  if (a->vertices != b->vertices) return a->vertices < b->vertices ? -1 : 1;
  return (a->half > b->half) - (a->half < b->half);
}

static ds_status find_twins(ds_surface *s, ds_error *error) {
  int32_t count = 3 * s->mesh->triangle_count;
  edge_key *keys = malloc((size_t)count * sizeof *keys);
  if (!keys) return ds_fail(error, DS_ERROR_MEMORY, "no memory for the edges of a surface");
  for (int32_t h = 0; h < count; h++) {
    uint64_t a = (uint64_t)ds_half_vertex(s, h), b = (uint64_t)ds_half_vertex(s, ds_half_next(h));
    keys[h] = (edge_key){a < b ? a << 32 | b : b << 32 | a, h};
  }
  qsort(keys, (size_t)count, sizeof *keys, compare_edges);
  int32_t bad = -1;
  for (int32_t i = 0; i < count && bad < 0; i += 2) {
    bool paired = i + 1 < count && keys[i].vertices == keys[i + 1].vertices &&
                  ds_half_vertex(s, keys[i].half) != ds_half_vertex(s, keys[i + 1].half) &&
                  (i + 2 == count || keys[i + 2].vertices != keys[i].vertices);
    if (!paired) {
      bad = keys[i].half;
    } else {
      s->twin[keys[i].half] = keys[i + 1].half;
      s->twin[keys[i + 1].half] = keys[i].half;
    }
  }
  free(keys);
  if (bad < 0) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT,
                 "edge %d of triangle %d has not exactly two triangles in opposite directions; expected a closed "
                 "surface",
                 bad % 3, bad / 3);
}

double ds_corner_angle(const ds_surface *s, int32_t corner) {
  ds_vec3 a = ds_half_point(s, corner), b = ds_half_point(s, ds_half_next(corner));
  ds_vec3 c = ds_half_point(s, ds_half_next(ds_half_next(corner)));
  ds_vec3 u = v3_sub(b, a), v = v3_sub(c, a);
  return atan2(v3_norm(v3_cross(u, v)), v3_dot(u, v));
}

bool ds_surface_corner_normals(ds_vec3 *normals, const ds_surface *s, double smooth) {
  int32_t count = 3 * s->mesh->triangle_count;
  int32_t *group = malloc((size_t)count * sizeof *group);
  if (!group) return false;
  ds_sets_single(group, count);
  for (int32_t h = 0; h < count; h++) {
    /* the twin ends where h starts */
    int32_t twin = s->twin[h];
    if (v3_dot(s->normals[h / 3], s->normals[twin / 3]) >= smooth) ds_sets_join(group, h, ds_half_next(twin));
    normals[h] = v3(0, 0, 0);
  }
  for (int32_t h = 0; h < count; h++) {
    ds_vec3 *sum = &normals[ds_sets_root(group, h)];
    *sum = v3_mad(*sum, ds_corner_angle(s, h), s->normals[h / 3]);
  }
  /* roots are the lowest of their group: normalized before any other corner reads them */
  for (int32_t h = 0; h < count; h++) {
    int32_t root = ds_sets_root(group, h);
    normals[h] = root == h ? v3_unit(normals[h]) : normals[root];
  }
  free(group);
  return true;
}

static void measure(ds_surface *s) {
  s->low = s->high = ds_half_point(s, 0);
  for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
    ds_vec3 a = ds_half_point(s, 3 * t), b = ds_half_point(s, 3 * t + 1), c = ds_half_point(s, 3 * t + 2);
    ds_vec3 twice = v3_cross(v3_sub(b, a), v3_sub(c, a));
    s->normals[t] = v3_unit(twice);
    s->area += 0.5 * v3_norm(twice);
    s->low = v3_min(s->low, v3_min(a, v3_min(b, c)));
    s->high = v3_max(s->high, v3_max(a, v3_max(b, c)));
  }
}

ds_status ds_surface_build(ds_surface *s, const ds_mesh *mesh, ds_error *error) {
  *s = (ds_surface){.mesh = mesh};
  if (mesh->triangle_count < 4 || mesh->triangle_count > INT32_MAX / 8)
    return ds_fail(error, DS_ERROR_INPUT, "a surface of %d triangles; expected 4 to %d", mesh->triangle_count,
                   INT32_MAX / 8);
  size_t count = (size_t)mesh->triangle_count;
  s->twin = malloc(3 * count * sizeof *s->twin);
  s->normals = malloc(count * sizeof *s->normals);
  s->corner_normals = malloc(3 * count * sizeof *s->corner_normals);
  ds_status status = DS_ERROR_MEMORY;
  if (s->twin && s->normals && s->corner_normals) {
    measure(s);
    status = find_twins(s, error);
    if (status == DS_OK && !ds_surface_corner_normals(s->corner_normals, s, -2)) status = DS_ERROR_MEMORY;
  }
  if (status == DS_ERROR_MEMORY)
    ds_fail(error, status, "no memory for a surface of %d triangles", mesh->triangle_count);
  if (status != DS_OK) ds_surface_free(s);
  return status;
}

void ds_surface_free(ds_surface *s) {
  free(s->twin);
  free(s->normals);
  free(s->corner_normals);
  *s = (ds_surface){0};
}
