/* Triangle against triangle by their edges, and the grid that finds candidates; see crossing.h.
 *
 * An edge pq meets a triangle where p and q lie on different sides of its plane and the three tetrahedra of pq with its
 * edges turn the same way; in one plane, where no side of the triangle and not pq itself has the other on its far side.
 * Signs are exact: a determinant whose sign rounding may have changed is computed by exact.c. Touching counts as
 * crossing. */
#include "mesh/crossing.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "la/vec3.h"
#include "mesh/mesh.h"

static double volume(ds_vec3 a, ds_vec3 b, ds_vec3 c, ds_vec3 d) {
  return v3_dot(v3_sub(b, a), v3_cross(v3_sub(c, a), v3_sub(d, a)));
}

/* exact.c needs coordinates of at most 1; scaling by a power of two is exact. */
static ds_vec3 small(ds_vec3 x) { return v3_scale(1.0 / (1 << 24), x); }

/* Sign of the volume; `tiny` bounds the error of its rounded value. */
static int side(ds_vec3 a, ds_vec3 b, ds_vec3 c, ds_vec3 d, double tiny) {
  double v = volume(a, b, c, d);
  if (v > tiny) return 1;
  if (v < -tiny) return -1;
  return -ds_mesh_orient3(small(a), small(b), small(c), small(d));
}

static bool meets_in_plane(ds_vec3 p, ds_vec3 q, const ds_vec3 t[3]) {
  ds_vec3 n = v3_cross(v3_sub(t[1], t[0]), v3_sub(t[2], t[0]));
  double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
  int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2, of[3];
  ds_vec3 a = small(p), b = small(q), s[3] = {small(t[0]), small(t[1]), small(t[2])};
  int turn = ds_mesh_orient2(s[0], s[1], s[2], axis);
  for (int k = 0; k < 3; k++) {
    ds_vec3 u = s[k], v = s[(k + 1) % 3];
    of[k] = ds_mesh_orient2(a, b, u, axis);
    if (turn * ds_mesh_orient2(u, v, a, axis) < 0 && turn * ds_mesh_orient2(u, v, b, axis) < 0) return false;
  }
  return of[0] == 0 || of[0] != of[1] || of[1] != of[2];
}

static bool edge_meets(ds_vec3 p, ds_vec3 q, ds_vec3 a, ds_vec3 b, ds_vec3 c) {
  double size = v3_dist(a, b) + v3_dist(b, c) + v3_dist(p, q) + v3_dist(a, p);
  double tiny = 1e-14 * (fabs(a.x) + fabs(a.y) + fabs(a.z) + size) * size * size;
  int sp = side(a, b, c, p, tiny), sq = side(a, b, c, q, tiny);
  if (sp * sq > 0) return false;
  if (sp == 0 && sq == 0) return meets_in_plane(p, q, (const ds_vec3[3]){a, b, c});
  int u = side(p, q, a, b, tiny), v = side(p, q, b, c, tiny);
  if (u * v < 0) return false;
  int w = side(p, q, c, a, tiny);
  return u * w >= 0 && v * w >= 0;
}

static bool is_folded(const ds_vec3 *x, const int32_t a[3], const int32_t b[3]) {
  ds_vec3 n = v3_cross(v3_sub(x[a[1]], x[a[0]]), v3_sub(x[a[2]], x[a[0]]));
  ds_vec3 m = v3_cross(v3_sub(x[b[1]], x[b[0]]), v3_sub(x[b[2]], x[b[0]]));
  return v3_dot(n, m) < -0.9995 * v3_norm(n) * v3_norm(m);
}

bool ds_triangles_cross(const ds_vec3 *x, const int32_t a[3], const int32_t b[3]) {
  int shared = 0, at = 0, bt = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      if (a[i] == b[k]) shared++, at = i, bt = k;
  if (shared > 2) return true;
  if (shared == 2) return is_folded(x, a, b);
  if (shared == 1)
    return edge_meets(x[a[(at + 1) % 3]], x[a[(at + 2) % 3]], x[b[0]], x[b[1]], x[b[2]]) ||
           edge_meets(x[b[(bt + 1) % 3]], x[b[(bt + 2) % 3]], x[a[0]], x[a[1]], x[a[2]]);
  for (int i = 0; i < 3; i++)
    if (edge_meets(x[a[i]], x[a[(i + 1) % 3]], x[b[0]], x[b[1]], x[b[2]]) ||
        edge_meets(x[b[i]], x[b[(i + 1) % 3]], x[a[0]], x[a[1]], x[a[2]]))
      return true;
  return false;
}

/* ---- the grid ---- */

bool ds_triangle_grid_init(ds_triangle_grid *g, const ds_mesh *mesh, double cell) {
  ds_vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    low = v3_min(low, mesh->vertices[i]);
    high = v3_max(high, mesh->vertices[i]);
  }
  ds_vec3 d = v3_sub(high, low);
  /* at most 256 cells per side */
  cell = fmax(cell, fmax(d.x, fmax(d.y, d.z)) / 255);
  *g = (ds_triangle_grid){.origin = low, .cell = cell, .unused = -1};
  g->size[0] = (int32_t)(d.x / cell) + 1;
  g->size[1] = (int32_t)(d.y / cell) + 1;
  g->size[2] = (int32_t)(d.z / cell) + 1;
  size_t cells = (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2], n = (size_t)mesh->triangle_count + 1;
  g->head = malloc(cells * sizeof *g->head);
  g->stamp = calloc(n, sizeof *g->stamp);
  g->seen = calloc(n, sizeof *g->seen);
  g->boxes = malloc(n * sizeof *g->boxes);
  if (!g->head || !g->stamp || !g->seen || !g->boxes) {
    ds_triangle_grid_free(g);
    return false;
  }
  memset(g->head, 0xFF, cells * sizeof *g->head);
  return true;
}

void ds_triangle_grid_free(ds_triangle_grid *g) {
  free(g->head);
  free(g->stamp);
  free(g->seen);
  free(g->boxes);
  free(g->entries);
  free(g->found);
  *g = (ds_triangle_grid){0};
}

static int32_t clamp_cell(double x, int32_t size) {
  return x <= 0 ? 0 : x >= (double)(size - 1) ? size - 1 : (int32_t)x;
}

/* Cells low .. high of a box; what sticks out of the grid is counted to its border. */
static void reach(int32_t low[3], int32_t high[3], const ds_triangle_grid *g, ds_vec3 from, ds_vec3 to) {
  ds_vec3 a = v3_sub(from, g->origin), b = v3_sub(to, g->origin);
  const double lo[3] = {a.x, a.y, a.z}, hi[3] = {b.x, b.y, b.z};
  for (int k = 0; k < 3; k++) {
    low[k] = clamp_cell(lo[k] / g->cell, g->size[k]);
    high[k] = clamp_cell(hi[k] / g->cell, g->size[k]);
  }
}

bool ds_triangle_grid_put(ds_triangle_grid *g, int32_t triangle, const ds_vec3 *x, const int32_t c[3]) {
  int32_t low[3], high[3];
  ds_triangle_box box = ds_triangle_bounds(x, c);
  reach(low, high, g, box.low, box.high);
  g->boxes[triangle] = box;
  for (int32_t k = low[2]; k <= high[2]; k++)
    for (int32_t j = low[1]; j <= high[1]; j++)
      for (int32_t i = low[0]; i <= high[0]; i++) {
        int32_t e = g->unused, *head = &g->head[(k * g->size[1] + j) * g->size[0] + i];
        if (e >= 0) {
          g->unused = g->entries[e].next;
        } else {
          if (!ds_array_reserve(&g->entries, &g->entry_capacity, g->entry_count + 1, sizeof *g->entries)) return false;
          e = g->entry_count++;
        }
        g->entries[e] = (struct ds_grid_entry){triangle, g->stamp[triangle], *head};
        *head = e;
      }
  return true;
}

bool ds_triangle_grid_find(ds_triangle_grid *g, ds_vec3 from, ds_vec3 to) {
  int32_t low[3], high[3];
  reach(low, high, g, from, to);
  g->query++;
  g->found_count = 0;
  for (int32_t k = low[2]; k <= high[2]; k++)
    for (int32_t j = low[1]; j <= high[1]; j++)
      for (int32_t i = low[0]; i <= high[0]; i++) {
        int32_t *link = &g->head[(k * g->size[1] + j) * g->size[0] + i];
        while (*link >= 0) {
          int32_t e = *link, t = g->entries[e].triangle;
          if (g->entries[e].stamp != g->stamp[t]) { /* out of date: taken out */
            *link = g->entries[e].next;
            g->entries[e].next = g->unused;
            g->unused = e;
            continue;
          }
          link = &g->entries[e].next;
          if (g->seen[t] == g->query) continue;
          g->seen[t] = g->query;
          if (!ds_array_reserve(&g->found, &g->found_capacity, g->found_count + 1, sizeof *g->found)) return false;
          g->found[g->found_count++] = t;
        }
      }
  return true;
}
