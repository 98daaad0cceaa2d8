/* Shapes as triangles: rings of vertices about local z joined by bands, discs, flat polygons. */
#include <stdlib.h>

#include "base/array.h"
#include "shape/shape.h"

int32_t ds_facets_point(ds_facets *f, ds_vec3 point, ds_vec3 normal) {
  int32_t i = f->point_count;
  if (f->failed || !ds_array_reserve(&f->points, &f->point_capacity, i + 1, sizeof *f->points) ||
      !ds_array_reserve(&f->normals, &f->normal_capacity, i + 1, sizeof *f->normals)) {
    f->failed = true;
    return 0;
  }
  f->points[i] = point;
  f->normals[i] = normal;
  return f->point_count++;
}

static void add_triangle(ds_facets *f, int32_t a, int32_t b, int32_t c, int edges) {
  int32_t i = f->triangle_count;
  if (f->failed || !ds_array_reserve(&f->corners, &f->corner_capacity, 3 * (i + 1), sizeof *f->corners) ||
      !ds_array_reserve(&f->surfaces, &f->surface_capacity, i + 1, sizeof *f->surfaces) ||
      !ds_array_reserve(&f->edges, &f->edge_capacity, i + 1, sizeof *f->edges)) {
    f->failed = true;
    return;
  }
  f->corners[3 * i] = a, f->corners[3 * i + 1] = b, f->corners[3 * i + 2] = c;
  f->surfaces[i] = f->surface_count;
  f->edges[i] = (uint8_t)edges;
  f->triangle_count++;
}

int32_t ds_facets_ring(ds_facets *f, double radius, double height, double sine, double cosine, int32_t segments) {
  int32_t first = f->point_count;
  for (int32_t i = 0; i < segments; i++) {
    double angle = 2 * DS_PI * i / segments;
    ds_facets_point(f, v3(radius * cos(angle), radius * sin(angle), height),
                    v3(cosine * cos(angle), cosine * sin(angle), sine));
  }
  return first;
}

void ds_facets_join(ds_facets *f, int32_t first, int32_t rings, int32_t segments) {
  for (int32_t r = 0; r + 1 < rings; r++)
    for (int32_t i = 0; i < segments; i++) {
      int32_t next = (i + 1) % segments, low = first + r * segments, high = low + segments;
      add_triangle(f, low + i, low + next, high + next, 0);
      add_triangle(f, low + i, high + next, high + i, 0);
    }
  f->surface_count++;
}

void ds_facets_capsule(ds_facets *f, double radius, double half_length, int32_t segments) {
  int32_t quarter = segments / 4 < 2 ? 2 : segments / 4, rings = 2 * (quarter + 1), first = f->point_count;
  for (int32_t r = 0; r < rings; r++) {
    bool upper = r > quarter;
    double latitude = 0.5 * DS_PI * (upper ? r - quarter - 1 : r - quarter) / quarter;
    for (int32_t i = 0; i < segments; i++) {
      double angle = 2 * DS_PI * i / segments;
      ds_vec3 normal = v3(cos(latitude) * cos(angle), cos(latitude) * sin(angle), sin(latitude));
      ds_facets_point(f, v3_add(v3_scale(radius, normal), v3(0, 0, upper ? half_length : -half_length)), normal);
    }
  }
  ds_facets_join(f, first, rings, segments);
}

void ds_facets_disc(ds_facets *f, double radius, double height, int side, int32_t segments) {
  int32_t center = ds_facets_point(f, v3(0, 0, height), v3(0, 0, side));
  ds_facets_ring(f, radius, height, side, 0, segments);
  for (int32_t i = 0; i < segments; i++) {
    int32_t a = center + 1 + i, b = center + 1 + (i + 1) % segments;
    add_triangle(f, center, side > 0 ? a : b, side > 0 ? b : a, 2);
  }
  f->surface_count++;
}

void ds_facets_polygon(ds_facets *f, const ds_vec3 *points, int32_t count) {
  if (count < 3) return;
  ds_vec3 area = v3(0, 0, 0);
  for (int32_t i = 1; i + 1 < count; i++)
    area = v3_add(area, v3_cross(v3_sub(points[i], points[0]), v3_sub(points[i + 1], points[0])));
  ds_vec3 normal = v3_unit(area);
  int32_t first = f->point_count;
  for (int32_t i = 0; i < count; i++) ds_facets_point(f, points[i], normal);
  for (int32_t i = 1; i + 1 < count; i++) {
    int edges = 2 | (i == 1 ? 1 : 0) | (i + 2 == count ? 4 : 0);
    add_triangle(f, first, first + i, first + i + 1, edges);
  }
  f->surface_count++;
}

void ds_facets_free(ds_facets *f) {
  free(f->points);
  free(f->normals);
  free(f->corners);
  free(f->surfaces);
  free(f->edges);
  *f = (ds_facets){0};
}
