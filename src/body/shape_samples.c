/* Samples of convex shapes, to be held against a solid's distance field: corners and points along the edges of
 * polyhedra, rims and mantle lines of cylinders, points along the axis of capsules (which are round about them). Faces
 * need none: where a face touches, it is the solid's own samples that lie in it. And the faces of polyhedra, for where
 * a face of the solid touches them. */
#include <stdlib.h>

#include "body/scene.h"
#include "mesh/build.h"
#include "mesh/solid.h"

enum { MOST_ALONG = 64 }; /* points along one edge, rim or axis */

typedef struct sampler {
  ds_samples *out;
  int32_t capacity;
  ds_vec3 center; /* normals point away from it */
} sampler;

static void put(sampler *s, ds_vec3 x, ds_vec3 normal) {
  if (s->out->count >= s->capacity) return;
  int32_t i = s->out->count++;
  s->out->points[i] = x;
  s->out->normals[i] = v3_unit(normal);
}

static int32_t pieces(double length, double spacing) {
  double n = ceil(length / spacing);
  return n < 1 ? 1 : n > MOST_ALONG ? MOST_ALONG : (int32_t)n;
}

static void sample_hull(sampler *s, const ds_hull *h, double spacing) {
  for (int32_t i = 0; i < h->vertex_count; i++) put(s, h->vertices[i], v3_sub(h->vertices[i], h->center));
  for (int32_t e = 0; e < h->edge_count; e++) {
    ds_vec3 a = h->vertices[h->edges[4 * e]], b = h->vertices[h->edges[4 * e + 1]];
    ds_vec3 n = v3_add(h->normals[h->edges[4 * e + 2]], h->normals[h->edges[4 * e + 3]]);
    int32_t count = pieces(v3_dist(a, b), spacing);
    for (int32_t k = 1; k < count; k++) put(s, v3_mad(a, (double)k / count, v3_sub(b, a)), n);
  }
}

static void sample_cylinder(sampler *s, double radius, double half, double spacing) {
  int32_t around = pieces(2 * DS_PI * radius, spacing), along = pieces(2 * half, spacing);
  if (around < 8) around = 8;
  for (int32_t k = 0; k <= along; k++)
    for (int32_t i = 0; i < around; i++) {
      double angle = 2 * DS_PI * i / around, z = half * (2.0 * k / along - 1);
      ds_vec3 out = v3(cos(angle), sin(angle), 0);
      double cap = k == 0 ? -1 : k == along ? 1 : 0;
      put(s, v3(radius * out.x, radius * out.y, z), v3(out.x, out.y, cap));
    }
}

static void sample_capsule(sampler *s, double half, double spacing) {
  int32_t along = pieces(2 * half, spacing);
  for (int32_t k = 0; k <= along; k++) put(s, v3(0, 0, half * (2.0 * k / along - 1)), v3(0, 0, 0));
}

/* The face that has the side from v to w the other way round. */
static int32_t face_across(const ds_hull *h, int32_t face, int32_t v, int32_t w) {
  for (int32_t e = 0; e < h->edge_count; e++) {
    const int32_t *edge = h->edges + 4 * e;
    bool same = (edge[0] == v && edge[1] == w) || (edge[0] == w && edge[1] == v);
    if (same) return edge[2] == face ? edge[3] : edge[2];
  }
  return face;
}

/* The faces of a polyhedron as those of a solid. NULL if memory ran out. */
static ds_faces *faces_of(const ds_hull *h) {
  int32_t sides = h->face_start[h->face_count], n = h->vertex_count;
  ds_faces *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  if (sides > DS_FACE_SIDES_MAX) return f; /* no room for their numbers: by samples */
  f->face = calloc((size_t)h->face_count + 1, sizeof *f->face);
  f->side = calloc((size_t)sides + 1, sizeof *f->side);
  f->corners = calloc((size_t)n + 1, sizeof *f->corners);
  f->corner_normals = calloc((size_t)n + 1, sizeof *f->corner_normals);
  bool ok = f->face && f->side && f->corners && f->corner_normals;
  for (int32_t i = 0; i < h->face_count && ok; i++) {
    int32_t first = h->face_start[i], end = h->face_start[i + 1];
    f->face[i] = (ds_face){.normal = h->normals[i], .offset = h->offsets[i], .first = first, .count = end - first};
    for (int32_t k = first; k < end; k++) {
      int32_t next = ds_next_in_face(h, i, k), v = h->face_vertex[k];
      ds_vec3 x = h->vertices[v];
      f->side[k] = (ds_side){.point = v3_mad(x, h->offsets[i] - v3_dot(h->normals[i], x), h->normals[i]),
                             .vertex = v,
                             .next = next,
                             .across = h->normals[face_across(h, i, v, h->face_vertex[next])],
                             .convex = true};
    }
  }
  for (int32_t v = 0; v < n && ok; v++) {
    f->corners[v] = h->vertices[v];
    f->corner_normals[v] = v3_unit(v3_sub(h->vertices[v], h->center));
  }
  f->count = h->face_count, f->side_count = sides, f->corner_count = n;
  f->complete = true;
  if (ok && ds_faces_finish(f)) return f;
  ds_faces_free(f);
  free(f);
  return NULL;
}

ds_status ds_shape_sample(ds_shape *shape, double spacing) {
  bool polyhedron = shape->kind == DS_SHAPE_BOX || shape->kind == DS_SHAPE_HULL;
  if (!polyhedron && shape->kind != DS_SHAPE_CYLINDER && shape->kind != DS_SHAPE_CAPSULE) return DS_OK;
  ds_shape_samples_free(shape);
  ds_samples *out = shape->samples = calloc(1, sizeof *out);
  if (!out) return DS_ERROR_MEMORY;
  ds_error error;
  sampler s = {.out = out, .capacity = (MOST_ALONG + 1) * MOST_ALONG};
  if (polyhedron) s.capacity = shape->hull.vertex_count + MOST_ALONG * shape->hull.edge_count;
  out->points = calloc((size_t)s.capacity, sizeof *out->points);
  out->normals = calloc((size_t)s.capacity, sizeof *out->normals);
  if (!out->points || !out->normals) return DS_ERROR_MEMORY; /* freed with the shape */
  if (polyhedron)
    sample_hull(&s, &shape->hull, spacing);
  else if (shape->kind == DS_SHAPE_CYLINDER)
    sample_cylinder(&s, shape->radius, shape->half_length, spacing);
  else
    sample_capsule(&s, shape->half_length, spacing);
  if (polyhedron && !(shape->faces = faces_of(&shape->hull))) return DS_ERROR_MEMORY;
  return ds_balls_build(out, &error);
}

void ds_shape_samples_free(ds_shape *shape) {
  if (shape->faces) ds_faces_free(shape->faces);
  free(shape->faces);
  shape->faces = NULL;
  if (!shape->samples) return;
  free(shape->samples->points);
  free(shape->samples->normals);
  free(shape->samples->ids);
  free(shape->samples->balls);
  free(shape->samples);
  shape->samples = NULL;
}
