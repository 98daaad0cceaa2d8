/* The solids of a scene as they are drawn: see wardrobe.h. All solids together may have SKIN_BUDGET triangles in the
 * picture and CASTER_BUDGET in shadows, which are drawn once for every direction of light. */
#include "wardrobe.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/vec3.h"

#define SKIN_BUDGET 2500000.0
#define CASTER_BUDGET 300000.0
#define TRIANGLES_MIN 80.0 /* of one solid */

static void choose(ds_wardrobe *w, double count, double triangles) {
  *w = (ds_wardrobe){.skin_triangles = INT32_MAX, .caster_triangles = INT32_MAX};
  if (triangles > SKIN_BUDGET) w->skin_triangles = (int32_t)fmax(TRIANGLES_MIN, SKIN_BUDGET / count);
  w->has_casters = triangles > CASTER_BUDGET;
  if (w->has_casters) w->caster_triangles = (int32_t)fmax(TRIANGLES_MIN, CASTER_BUDGET / count);
}

void ds_wardrobe_open(ds_wardrobe *w, const ds_scene *scene, const bool *hidden) {
  double count = 0, triangles = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id body = ds_scene_body(scene, i);
    if (hidden && hidden[i]) continue;
    for (int32_t s = 0; s < ds_body_shape_count(scene, body); s++) {
      ds_shape_def shape = ds_body_shape(scene, body, s);
      if (shape.kind != DS_SHAPE_SOLID && shape.kind != DS_SHAPE_REDUCED) continue;
      count++;
      triangles += shape.kind == DS_SHAPE_SOLID ? ds_solid_mesh(shape.solid)->triangle_count
                                                : ds_reduced_get_info(shape.reduced).triangles;
    }
  }
  choose(w, count, triangles);
}

void ds_wardrobe_open_mesh(ds_wardrobe *w, const ds_mesh *mesh) { choose(w, 1, mesh->triangle_count); }

bool ds_wardrobe_dress_mesh(ds_dressed *dressed, const ds_wardrobe *w, const ds_mesh *mesh, const ds_vec3 *rest) {
  *dressed = (ds_dressed){0};
  return ds_skin_build(&dressed->skin, mesh, rest, w->skin_triangles) &&
         (!w->has_casters || ds_skin_build(&dressed->caster, mesh, rest, w->caster_triangles));
}

bool ds_wardrobe_dress_reduced(ds_dressed *dressed, const ds_wardrobe *w, const ds_reduced *reduced, const double *q) {
  ds_reduced_info info = ds_reduced_get_info(reduced);
  *dressed = (ds_dressed){0};
  ds_mesh mesh = {.vertices = malloc(2 * (size_t)info.vertices * sizeof(ds_vec3)), /* and at rest */
                  .vertex_count = info.vertices,
                  .triangles = (int32_t *)ds_reduced_triangles(reduced),
                  .triangle_count = info.triangles};
  if (mesh.vertices == NULL) return false;
  ds_vec3 *rest = mesh.vertices + info.vertices;
  ds_reduced_shape(mesh.vertices, reduced, q);
  ds_reduced_shape(rest, reduced, NULL);
  bool good = ds_wardrobe_dress_mesh(dressed, w, &mesh, rest);
  free(mesh.vertices);
  return good;
}

const ds_dressed *ds_wardrobe_dress(ds_wardrobe *w, const ds_solid *solid) {
  if (w->count > 0 && w->solids[w->last].solid == solid) return &w->solids[w->last];
  for (int32_t i = 0; i < w->count; i++)
    if (w->solids[i].solid == solid) return &w->solids[w->last = i];
  if (!ds_array_reserve(&w->solids, &w->capacity, w->count + 1, sizeof *w->solids)) return NULL;
  ds_dressed *dressed = &w->solids[w->count];
  if (!ds_wardrobe_dress_mesh(dressed, w, ds_solid_mesh(solid), NULL)) {
    ds_dressed_free(dressed);
    return NULL;
  }
  dressed->solid = solid;
  w->last = w->count++;
  return dressed;
}

void ds_dressed_free(ds_dressed *dressed) {
  ds_skin_free(&dressed->skin);
  ds_skin_free(&dressed->caster);
}

void ds_wardrobe_close(ds_wardrobe *w) {
  for (int32_t i = 0; i < w->count; i++) ds_dressed_free(&w->solids[i]);
  free(w->solids);
  *w = (ds_wardrobe){0};
}
