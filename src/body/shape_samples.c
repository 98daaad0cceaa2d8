/* Samples of convex shapes, to be held against a solid's distance field: what their kinds put there (corners, edges,
 * rims, the axis of what is round about it). Faces need none: where a face touches, it is the solid's own samples that
 * lie in it. And the faces of polyhedra, for where a face of the solid touches them. */
#include <stdlib.h>

#include "body/scene.h"
#include "mesh/build.h"
#include "mesh/solid.h"

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
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  if (!ops->samples) return DS_OK;
  ds_shape_samples_free(shape);
  ds_samples *out = shape->samples = calloc(1, sizeof *out);
  if (!out) return DS_ERROR_MEMORY;
  ds_error error;
  ds_shape_points found = {0};
  ops->samples(&found, shape, spacing);
  *out = (ds_samples){.points = found.points, .normals = found.normals, .count = found.count};
  if (found.failed) return DS_ERROR_MEMORY; /* freed with the shape */
  if (shape->hull.face_count > 0 && !(shape->faces = faces_of(&shape->hull))) return DS_ERROR_MEMORY;
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
