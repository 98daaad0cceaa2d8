/* The boundary of tetrahedra: the faces that belong to one of them only, as a closed surface.
 *
 * Every edge of such a boundary has an even number of triangles; where it has more than two, the body touches itself
 * along that edge, and no surface in the sense of ds_mesh_check is there. */
#include <stdlib.h>

#include "base/error.h"
#include "mesh/mesh.h"
#include "reduce/tets.h"

static int compare_keys(const void *pa, const void *pb) {
  uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
  return (a > b) - (a < b);
}

/* Triangles of node numbers, outward; false if memory ran out. */
static bool take_boundary(ds_mesh *surface, const int32_t *twin, const ds_tets *tets) {
  int32_t count = 0;
  for (int32_t f = 0; f < 4 * tets->tet_count; f++) count += twin[f] < 0;
  surface->triangles = malloc(3 * (size_t)count * sizeof *surface->triangles + 1);
  if (!surface->triangles) return false;
  for (int32_t f = 0; f < 4 * tets->tet_count; f++)
    if (twin[f] < 0) ds_tet_face(surface->triangles + 3 * (int64_t)surface->triangle_count++, tets->tets, f);
  return true;
}

/* An edge with more than two triangles, its nodes in *low and *high, which is -1 where there is none. False where
 * memory ran out. */
static bool find_pinch(int32_t *low, int32_t *high, const ds_mesh *surface) {
  size_t count = 3 * (size_t)surface->triangle_count;
  uint64_t *keys = malloc(count * sizeof *keys + 1);
  *high = -1;
  for (size_t h = 0; h < count && keys; h++) {
    uint32_t a = (uint32_t)surface->triangles[h], b = (uint32_t)surface->triangles[h % 3 == 2 ? h - 2 : h + 1];
    keys[h] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  }
  if (keys) qsort(keys, count, sizeof *keys, compare_keys);
  for (size_t h = 0; keys && h + 2 < count && *high < 0; h += 2)
    if (keys[h] == keys[h + 2]) *low = (int32_t)(keys[h] >> 32), *high = (int32_t)(uint32_t)keys[h];
  bool good = keys != NULL;
  free(keys);
  return good;
}

/* Numbers the nodes in use in ascending order, and puts that in place of them. */
static bool take_vertices(ds_mesh *surface, int32_t **node, const ds_tets *tets) {
  size_t nodes = (size_t)tets->node_count;
  int32_t *vertex = malloc(nodes * sizeof *vertex + 1), *list = malloc(nodes * sizeof *list + 1), count = 0;
  if (vertex && list) {
    for (int32_t i = 0; i < tets->node_count; i++) vertex[i] = -1;
    for (int64_t k = 0; k < 3 * (int64_t)surface->triangle_count; k++) vertex[surface->triangles[k]] = 0;
    for (int32_t i = 0; i < tets->node_count; i++)
      if (vertex[i] == 0) list[count] = i, vertex[i] = count++;
    for (int64_t k = 0; k < 3 * (int64_t)surface->triangle_count; k++)
      surface->triangles[k] = vertex[surface->triangles[k]];
    surface->vertices = malloc((size_t)count * sizeof *surface->vertices + 1);
  }
  free(vertex);
  if (!surface->vertices) return free(list), false;
  surface->vertex_count = count;
  for (int32_t i = 0; i < count; i++) surface->vertices[i] = tets->nodes[list[i]];
  if (node)
    *node = list;
  else
    free(list);
  return true;
}

ds_status ds_tets_surface(ds_mesh *surface, int32_t **node, const ds_tets *tets, ds_error *error) {
  int32_t low = 0, high = -1;
  *surface = (ds_mesh){0};
  if (node) *node = NULL;
  int32_t *twin = malloc(4 * (size_t)tets->tet_count * sizeof *twin + 1);
  ds_status status = twin ? ds_tets_pair(twin, tets, error) : DS_ERROR_MEMORY;
  if (status == DS_OK && !take_boundary(surface, twin, tets)) status = DS_ERROR_MEMORY;
  free(twin);
  if (status == DS_OK && !find_pinch(&low, &high, surface)) status = DS_ERROR_MEMORY;
  if (high >= 0) {
    ds_vec3 x = tets->nodes[low];
    status = ds_fail(error, DS_ERROR_INPUT,
                     "the body touches itself along the edge of nodes %d and %d, near %g %g %g m; expected a surface "
                     "with two triangles at every edge",
                     low, high, x.x, x.y, x.z);
  }
  if (status == DS_OK && !take_vertices(surface, node, tets)) status = DS_ERROR_MEMORY;
  if (status == DS_ERROR_MEMORY)
    ds_fail(error, status, "memory ran out while taking the surface of %d tetrahedra", tets->tet_count);
  if (status != DS_OK) ds_mesh_free(surface);
  return status;
}
