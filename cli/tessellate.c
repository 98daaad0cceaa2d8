/* Shapes as triangles.
 *
 * Spheres and capsules are rows of quadrilaterals between circles of latitude about local z; cylinders a smooth side
 * and two flat caps; boxes flat faces. Flat faces have their own vertices, so that shading is flat, and their outlines
 * are marked as creases. */
#include "tessellate.h"

#include <stdlib.h>

#include "base/array.h"

void ds_model_free(ds_model *model) {
  free(model->vertices);
  free(model->triangles);
  free(model->paints);
  *model = (ds_model){0};
}

static float linear(double c) {
  c = fmin(1, fmax(0, c));
  return (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

int32_t ds_model_add_paint(ds_model *model, ds_vec3 color, double gloss) {
  if (!ds_array_reserve(&model->paints, &model->paint_capacity, model->paint_count + 1, sizeof *model->paints))
    return -1;
  model->paints[model->paint_count] = (ds_paint){{linear(color.x), linear(color.y), linear(color.z)}, (float)gloss};
  return model->paint_count++;
}

static bool reserve(ds_model *model, int32_t vertices, int32_t triangles) {
  return model->vertex_count <= INT32_MAX - vertices && model->triangle_count <= INT32_MAX - triangles &&
         ds_array_reserve(&model->vertices, &model->vertex_capacity, model->vertex_count + vertices,
                          sizeof *model->vertices) &&
         ds_array_reserve(&model->triangles, &model->triangle_capacity, model->triangle_count + triangles,
                          sizeof *model->triangles);
}

/* Room must be reserved. */
static int32_t add_vertex(ds_model *model, ds_pose pose, ds_vec3 position, ds_vec3 normal) {
  ds_vec3 p = v3_sub(pose_point(pose, position), model->origin), n = quat_rotate(pose.q, normal);
  model->vertices[model->vertex_count] =
      (ds_vertex){{(float)p.x, (float)p.y, (float)p.z}, {(float)n.x, (float)n.y, (float)n.z}};
  return model->vertex_count++;
}

static void add_triangle(ds_model *model, int32_t a, int32_t b, int32_t c, int32_t paint, int edges) {
  model->triangles[model->triangle_count++] = (ds_triangle){{a, b, c}, model->surface_count, paint, (uint8_t)edges};
}

bool ds_model_add_face(ds_model *model, ds_pose pose, const ds_vec3 *points, int32_t count, int32_t paint) {
  if (count < 3) return true;
  if (!reserve(model, count, count - 2)) return false;
  ds_vec3 area = v3(0, 0, 0);
  for (int32_t i = 1; i + 1 < count; i++)
    area = v3_add(area, v3_cross(v3_sub(points[i], points[0]), v3_sub(points[i + 1], points[0])));
  ds_vec3 normal = v3_unit(area);
  int32_t first = model->vertex_count;
  for (int32_t i = 0; i < count; i++) add_vertex(model, pose, points[i], normal);
  for (int32_t i = 1; i + 1 < count; i++) {
    int edges = 2 | (i == 1 ? 1 : 0) | (i + 2 == count ? 4 : 0);
    add_triangle(model, first, first + i, first + i + 1, paint, edges);
  }
  model->surface_count++;
  return true;
}

bool ds_model_add_polyhedron(ds_model *model, ds_pose pose, const ds_polyhedron *hull, int32_t paint) {
  ds_vec3 loop[64];
  for (int32_t f = 0; f < hull->face_count; f++) {
    int32_t start = hull->face_start[f], count = hull->face_start[f + 1] - start;
    ds_vec3 *points = count <= 64 ? loop : malloc((size_t)count * sizeof *points);
    if (!points) return false;
    for (int32_t i = 0; i < count; i++) points[i] = hull->vertices[hull->face_vertex[start + i]];
    bool good = ds_model_add_face(model, pose, points, count, paint);
    if (points != loop) free(points);
    if (!good) return false;
  }
  return true;
}

bool ds_model_add_box(ds_model *model, ds_pose pose, ds_vec3 half, int32_t paint) {
  /* corner bits: 1 = +x, 2 = +y, 4 = +z */
  static const int8_t faces[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3},
                                     {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
  for (int f = 0; f < 6; f++) {
    ds_vec3 points[4];
    for (int i = 0; i < 4; i++) {
      int bits = faces[f][i];
      points[i] = v3(bits & 1 ? half.x : -half.x, bits & 2 ? half.y : -half.y, bits & 4 ? half.z : -half.z);
    }
    if (!ds_model_add_face(model, pose, points, 4, paint)) return false;
  }
  return true;
}

/* One circle of vertices at a latitude, given by the sine and cosine of its normal, shifted along z. */
static void add_ring(ds_model *model, ds_pose pose, double radius, double sine, double cosine, double shift,
                     int32_t segments) {
  for (int32_t i = 0; i < segments; i++) {
    double angle = 2 * DS_PI * i / segments;
    ds_vec3 normal = v3(cosine * cos(angle), cosine * sin(angle), sine);
    add_vertex(model, pose, v3_add(v3_scale(radius, normal), v3(0, 0, shift)), normal);
  }
}

static void join_rings(ds_model *model, int32_t first, int32_t rings, int32_t segments, int32_t paint) {
  for (int32_t r = 0; r + 1 < rings; r++) {
    for (int32_t i = 0; i < segments; i++) {
      int32_t next = (i + 1) % segments, low = first + r * segments, high = low + segments;
      add_triangle(model, low + i, low + next, high + next, paint, 0);
      add_triangle(model, low + i, high + next, high + i, paint, 0);
    }
  }
}

/* Two half spheres and what is between them; a sphere is a capsule of no length. */
bool ds_model_add_capsule(ds_model *model, ds_pose pose, double radius, double half_length, int32_t segments,
                          int32_t paint) {
  int32_t quarter = segments / 4 < 2 ? 2 : segments / 4, rings = 2 * (quarter + 1);
  if (!reserve(model, rings * segments, 2 * (rings - 1) * segments)) return false;
  int32_t first = model->vertex_count;
  for (int32_t r = 0; r < rings; r++) {
    bool upper = r > quarter;
    double latitude = 0.5 * DS_PI * (upper ? r - quarter - 1 : r - quarter) / quarter;
    add_ring(model, pose, radius, sin(latitude), cos(latitude), upper ? half_length : -half_length, segments);
  }
  join_rings(model, first, rings, segments, paint);
  model->surface_count++;
  return true;
}

bool ds_model_add_sphere(ds_model *model, ds_pose pose, double radius, int32_t segments, int32_t paint) {
  return ds_model_add_capsule(model, pose, radius, 0, segments, paint);
}

bool ds_model_add_cylinder(ds_model *model, ds_pose pose, double radius, double half_length, int32_t segments,
                           int32_t paint) {
  if (!reserve(model, 4 * segments + 2, 4 * segments)) return false;
  int32_t first = model->vertex_count;
  add_ring(model, pose, radius, 0, 1, -half_length, segments);
  add_ring(model, pose, radius, 0, 1, half_length, segments);
  join_rings(model, first, 2, segments, paint);
  model->surface_count++;
  for (int side = -1; side <= 1; side += 2) {
    int32_t center = add_vertex(model, pose, v3(0, 0, side * half_length), v3(0, 0, side));
    for (int32_t i = 0; i < segments; i++) {
      double angle = 2 * DS_PI * i / segments;
      add_vertex(model, pose, v3(radius * cos(angle), radius * sin(angle), side * half_length), v3(0, 0, side));
    }
    for (int32_t i = 0; i < segments; i++) {
      int32_t a = center + 1 + i, b = center + 1 + (i + 1) % segments;
      add_triangle(model, center, side > 0 ? a : b, side > 0 ? b : a, paint, 2);
    }
    model->surface_count++;
  }
  return true;
}
