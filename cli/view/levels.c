/* Coarser surfaces of a form: see levels.h.
 *
 * Vertices at one place are one point of a mesh, which ds_mesh_decimate makes coarser; each level is made of the one
 * before, so that errors add up. At a point a triangle has the vertex whose normal is nearest to its own: that of its
 * side of a crease. */
#include "levels.h"

#include <stdlib.h>

#include "drystone/solid.h"

#define SHRINK 0.4                 /* triangles of a level over those of the finer one */
#define KEPT 0.8                   /* a level with a larger share is not worth it: nothing more can go */
#define FARTHEST 0.15              /* of half the diagonal: an error larger than this is another form */
#define GRAIN 1e-6                 /* of half the diagonal: vertices as near as this are at one place */
enum { WORTH = 100, FEWEST = 40 }; /* triangles: of a form that gets levels, and of a level */

/* A vertex and its place in whole grains. */
typedef struct spot {
  int64_t x, y, z;
  int32_t vertex;
} spot;

typedef struct welded {
  const ds_vertex *vertices;
  spot *spots;    /* sorted: those of a point follow one another */
  int32_t *first; /* of a point: its first spot; one more entry than points */
  ds_mesh mesh;   /* of points */
  double radius;  /* half the diagonal of its box, m */
} welded;

static int compare(const void *a, const void *b) {
  const spot *s = a, *t = b;
  if (s->x != t->x) return s->x < t->x ? -1 : 1;
  if (s->y != t->y) return s->y < t->y ? -1 : 1;
  if (s->z != t->z) return s->z < t->z ? -1 : 1;
  return s->vertex < t->vertex ? -1 : s->vertex > t->vertex;
}

static ds_vec3 position(const ds_vertex *v) { return v3(v->position[0], v->position[1], v->position[2]); }
static ds_vec3 normal(const ds_vertex *v) { return v3(v->normal[0], v->normal[1], v->normal[2]); }

static double half_diagonal(const ds_vertex *vertices, int32_t n) {
  ds_vec3 low = position(&vertices[0]), high = low;
  for (int32_t i = 1; i < n; i++) {
    low = v3_min(low, position(&vertices[i]));
    high = v3_max(high, position(&vertices[i]));
  }
  return 0.5 * v3_dist(low, high);
}

static bool weld(welded *w, const ds_vertex *vertices, int32_t n, const ds_triangle *triangles, int32_t m) {
  *w = (welded){.vertices = vertices, .radius = half_diagonal(vertices, n)};
  int32_t *point = malloc((size_t)n * sizeof *point), points = 0;
  w->spots = malloc((size_t)n * sizeof *w->spots);
  w->first = malloc(((size_t)n + 1) * sizeof *w->first);
  w->mesh.vertices = malloc((size_t)n * sizeof *w->mesh.vertices);
  w->mesh.triangles = malloc(3 * (size_t)m * sizeof *w->mesh.triangles);
  bool good = point && w->spots && w->first && w->mesh.vertices && w->mesh.triangles;
  double grain = fmax(GRAIN * w->radius, 1e-300);
  for (int32_t i = 0; good && i < n; i++) {
    const float *p = vertices[i].position;
    w->spots[i] = (spot){llround(p[0] / grain), llround(p[1] / grain), llround(p[2] / grain), i};
  }
  if (good) qsort(w->spots, (size_t)n, sizeof *w->spots, compare);
  for (int32_t i = 0; good && i < n; i++) {
    const spot *s = &w->spots[i], *last = s - 1;
    if (i == 0 || s->x != last->x || s->y != last->y || s->z != last->z) {
      w->first[points] = i;
      w->mesh.vertices[points++] = position(&vertices[s->vertex]);
    }
    point[s->vertex] = points - 1;
  }
  for (int32_t t = 0; good && t < m; t++)
    for (int k = 0; k < 3; k++) w->mesh.triangles[3 * (size_t)t + (size_t)k] = point[triangles[t].corner[k]];
  if (good) w->first[points] = n;
  w->mesh.vertex_count = points;
  w->mesh.triangle_count = m;
  free(point);
  return good;
}

static void welded_free(welded *w) {
  free(w->spots);
  free(w->first);
  ds_mesh_free(&w->mesh);
}

/* The vertex at a point whose normal is nearest to n. */
static uint32_t vertex_at(const welded *w, int32_t point, ds_vec3 n) {
  int32_t best = w->spots[w->first[point]].vertex;
  for (int32_t i = w->first[point] + 1; i < w->first[point + 1]; i++) {
    int32_t other = w->spots[i].vertex;
    if (v3_dot(normal(&w->vertices[other]), n) > v3_dot(normal(&w->vertices[best]), n)) best = other;
  }
  return (uint32_t)best;
}

static bool keep(view_levels *out, const welded *w, double error) {
  const ds_mesh *m = &w->mesh;
  view_level *level = &out->levels[out->count];
  *level = (view_level){.triangles = m->triangle_count, .error = error};
  level->corners = malloc(3 * (size_t)m->triangle_count * sizeof *level->corners);
  if (!level->corners) return false;
  out->count++;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *c = m->triangles + 3 * (size_t)t;
    ds_vec3 a = m->vertices[c[0]], b = m->vertices[c[1]], x = m->vertices[c[2]];
    ds_vec3 n = v3_cross(v3_sub(b, a), v3_sub(x, a));
    for (int k = 0; k < 3; k++) level->corners[3 * (size_t)t + (size_t)k] = vertex_at(w, c[k], n);
  }
  return true;
}

/* Triangles that welding has left with an area. */
static int32_t count_whole(const ds_mesh *m) {
  int32_t count = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *c = m->triangles + 3 * (size_t)t;
    count += c[0] != c[1] && c[1] != c[2] && c[2] != c[0];
  }
  return count;
}

bool view_levels_build(view_levels *out, const ds_vertex *vertices, int32_t n, const ds_triangle *triangles,
                       int32_t m) {
  *out = (view_levels){.count = 0};
  if (m < WORTH) return true;
  welded w;
  bool good = weld(&w, vertices, n, triangles, m);
  double error = 0;
  int32_t before = good ? count_whole(&w.mesh) : 0;
  while (good && SHRINK * before >= FEWEST && out->count < VIEW_LEVELS_MAX) {
    double more;
    good = ds_mesh_decimate(&w.mesh, &more, (int32_t)(SHRINK * before), FARTHEST * w.radius - error, NULL) == DS_OK;
    if (!good || w.mesh.triangle_count > KEPT * before) break;
    good = keep(out, &w, error += more);
    before = w.mesh.triangle_count;
  }
  welded_free(&w);
  return good;
}

void view_levels_free(view_levels *levels) {
  for (int32_t i = 0; i < levels->count; i++) free(levels->levels[i].corners);
  *levels = (view_levels){.count = 0};
}
