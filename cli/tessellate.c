/* Shapes as triangles, which the library gives (ds_body_facets). */
#include "tessellate.h"

#include <stdlib.h>

#include "base/array.h"
#include "drystone/inspect.h"

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

bool ds_model_add_paint(ds_model *model, int32_t *paint, ds_vec3 color, double gloss) {
  if (!ds_array_reserve(&model->paints, &model->paint_capacity, model->paint_count + 1, sizeof *model->paints))
    return false;
  *paint = model->paint_count++;
  model->paints[*paint] = (ds_paint){{linear(color.x), linear(color.y), linear(color.z)}, (float)gloss};
  return true;
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

bool ds_model_add_shape(ds_model *model, ds_pose pose, const ds_scene *scene, ds_body_id body, int32_t index,
                        int32_t segments, int32_t paint) {
  ds_facets f;
  bool good =
      ds_body_facets(&f, scene, body, index, segments) == DS_OK && reserve(model, f.point_count, f.triangle_count);
  int32_t first = model->vertex_count, surface = model->surface_count;
  for (int32_t i = 0; good && i < f.point_count; i++) add_vertex(model, pose, f.points[i], f.normals[i]);
  for (int32_t i = 0; good && i < f.triangle_count; i++) {
    const int32_t *c = f.corners + 3 * (size_t)i;
    model->surface_count = surface + f.surfaces[i];
    add_triangle(model, first + c[0], first + c[1], first + c[2], paint, f.edges[i]);
  }
  if (good) model->surface_count = surface + f.surface_count;
  ds_facets_free(&f);
  return good;
}
