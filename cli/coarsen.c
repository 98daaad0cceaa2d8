/* Coarser meshes by vertex clustering (Rossignac and Borrel 1993): all vertices in a cell of a cubic grid become one,
 * their mean; triangles that lose a corner vanish. The cell is first guessed from the area and then grows until few
 * enough triangles are left. Linear in the size of the mesh. Limits: topology is not kept and thin walls close up,
 * which a picture can bear and contact could not. */
#include "coarsen.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"

#define GROWTH 1.25 /* of the cell from one attempt to the next */
enum { ATTEMPTS = 48 };

typedef struct clusters {
  uint64_t *keys; /* hash table: 0 = free, else 1 + the cell's number */
  int32_t *ids;
  uint32_t mask;
  int32_t *of_vertex;
  int32_t count;
} clusters;

static uint64_t cell_key(ds_vec3 p, ds_vec3 low, double cell) {
  const double last = (double)((1 << 20) - 1);
  uint64_t x = (uint64_t)fmin(last, (p.x - low.x) / cell), y = (uint64_t)fmin(last, (p.y - low.y) / cell);
  return 1 + (x << 40 | y << 20 | (uint64_t)fmin(last, (p.z - low.z) / cell));
}

static int32_t cluster_of(clusters *c, uint64_t key) {
  uint32_t at = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & c->mask;
  while (c->keys[at] != 0 && c->keys[at] != key) at = (at + 1) & c->mask;
  if (c->keys[at] == 0) {
    c->keys[at] = key;
    c->ids[at] = c->count++;
  }
  return c->ids[at];
}

static bool clusters_create(clusters *c, int32_t vertices) {
  size_t capacity = 64;
  while (capacity < 2 * (size_t)vertices) capacity *= 2;
  *c = (clusters){.mask = (uint32_t)(capacity - 1)};
  c->keys = malloc(capacity * sizeof *c->keys);
  c->ids = malloc(capacity * sizeof *c->ids);
  c->of_vertex = malloc((size_t)vertices * sizeof *c->of_vertex);
  return c->keys && c->ids && c->of_vertex;
}

static void clusters_free(clusters *c) {
  free(c->keys);
  free(c->ids);
  free(c->of_vertex);
}

/* Sorts the vertices into cells; gives the number of triangles that are left. */
static int32_t cluster(clusters *c, const ds_mesh *mesh, ds_vec3 low, double cell) {
  memset(c->keys, 0, ((size_t)c->mask + 1) * sizeof *c->keys);
  c->count = 0;
  for (int32_t i = 0; i < mesh->vertex_count; i++)
    c->of_vertex[i] = cluster_of(c, cell_key(mesh->vertices[i], low, cell));
  int32_t left = 0;
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles + 3 * (size_t)i;
    int32_t x = c->of_vertex[t[0]], y = c->of_vertex[t[1]], z = c->of_vertex[t[2]];
    left += x != y && y != z && z != x;
  }
  return left;
}

static bool collect(ds_mesh *coarse, const clusters *c, const ds_mesh *mesh, int32_t triangles) {
  *coarse = (ds_mesh){0};
  int32_t *members = calloc((size_t)c->count, sizeof *members);
  coarse->vertices = calloc((size_t)c->count, sizeof *coarse->vertices);
  coarse->triangles = malloc((size_t)(triangles > 0 ? triangles : 1) * 3 * sizeof *coarse->triangles);
  if (!members || !coarse->vertices || !coarse->triangles) {
    free(members);
    ds_mesh_free(coarse);
    return false;
  }
  coarse->vertex_count = c->count;
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    int32_t k = c->of_vertex[i];
    coarse->vertices[k] = v3_add(coarse->vertices[k], mesh->vertices[i]);
    members[k]++;
  }
  for (int32_t k = 0; k < c->count; k++) coarse->vertices[k] = v3_scale(1.0 / members[k], coarse->vertices[k]);
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles + 3 * (size_t)i;
    int32_t x = c->of_vertex[t[0]], y = c->of_vertex[t[1]], z = c->of_vertex[t[2]];
    if (x == y || y == z || z == x) continue;
    int32_t *out = coarse->triangles + 3 * (size_t)coarse->triangle_count++;
    out[0] = x, out[1] = y, out[2] = z;
  }
  free(members);
  return true;
}

static bool copy_mesh(ds_mesh *copy, const ds_mesh *mesh) {
  size_t vertices = (size_t)mesh->vertex_count, corners = 3 * (size_t)mesh->triangle_count;
  *copy = (ds_mesh){.vertex_count = mesh->vertex_count, .triangle_count = mesh->triangle_count};
  copy->vertices = malloc((vertices > 0 ? vertices : 1) * sizeof *copy->vertices);
  copy->triangles = malloc((corners > 0 ? corners : 1) * sizeof *copy->triangles);
  if (!copy->vertices || !copy->triangles) {
    ds_mesh_free(copy);
    return false;
  }
  if (vertices > 0) memcpy(copy->vertices, mesh->vertices, vertices * sizeof *copy->vertices);
  if (corners > 0) memcpy(copy->triangles, mesh->triangles, corners * sizeof *copy->triangles);
  return true;
}

static double mesh_area(const ds_mesh *mesh) {
  double area = 0;
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles + 3 * (size_t)i;
    ds_vec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
    area += 0.5 * v3_norm(v3_cross(v3_sub(b, a), v3_sub(c, a)));
  }
  return area;
}

bool coarsen_mesh(ds_mesh *coarse, const ds_mesh *mesh, int32_t triangles) {
  if (mesh->triangle_count <= triangles || mesh->vertex_count < 1) return copy_mesh(coarse, mesh);
  ds_vec3 low = mesh->vertices[0], high = low;
  for (int32_t i = 1; i < mesh->vertex_count; i++) {
    low = v3_min(low, mesh->vertices[i]);
    high = v3_max(high, mesh->vertices[i]);
  }
  double size = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
  /* a cell on the surface leaves about two triangles */
  double cell = fmax(sqrt(2 * mesh_area(mesh) / triangles), 1e-5 * size);
  if (!(size > 0) || !isfinite(cell)) return copy_mesh(coarse, mesh);
  clusters c;
  bool good = clusters_create(&c, mesh->vertex_count);
  int32_t left = 0;
  for (int i = 0; good && i < ATTEMPTS; i++, cell *= GROWTH) {
    left = cluster(&c, mesh, low, cell);
    if (left <= triangles) break;
  }
  good = good && collect(coarse, &c, mesh, left);
  clusters_free(&c);
  return good;
}
