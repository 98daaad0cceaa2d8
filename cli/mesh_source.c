/* Where a mesh comes from: see mesh_source.h. */
#include "mesh_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "args.h"
#include "base/vec3.h"
#include "drystone/scene_file.h"

#define FIGURE "figure:"
#define RECIPE "recipe:"

bool mesh_source_is(const char *source) {
  static const char *const endings[] = {".obj", ".stl", ".ply", ".msh"};
  if (strncmp(source, FIGURE, strlen(FIGURE)) == 0 || strncmp(source, RECIPE, strlen(RECIPE)) == 0) return true;
  const char *dot = strrchr(source, '.');
  for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
    if (strcasecmp(dot, endings[i]) == 0) return true;
  return ds_tets_is_file(source);
}

static ds_status read_figure(ds_mesh *mesh, const char *name, double scale, ds_error *error) {
  enum { NAMES_MAX = 128 };
  const char *names[NAMES_MAX];
  int32_t count;
  const ds_figure *figures = ds_figures(&count);
  for (int32_t i = 0; i < count; i++)
    if (strcmp(figures[i].name, name) == 0) return ds_mesh_figure(mesh, name, scale, error);
  if (count > NAMES_MAX) count = NAMES_MAX;
  for (int32_t i = 0; i < count; i++) names[i] = figures[i].name;
  const char *nearest = args_nearest(name, names, count);
  snprintf(error->message, sizeof error->message, "there is no figure named '%.100s'; %s%s%s", name,
           nearest != NULL ? "did you mean " : "'drystone figures' lists them", nearest != NULL ? nearest : "",
           nearest != NULL ? "?" : "");
  return DS_ERROR_INPUT;
}

static ds_status read_recipe(ds_mesh *mesh, const char *path, double scale, ds_error *error) {
  size_t length;
  char *text = ds_text_read_file(path, &length, error);
  if (text == NULL) return DS_ERROR_INPUT;
  ds_status status = ds_mesh_recipe(mesh, text, length, path, 0, error);
  free(text);
  for (int32_t i = 0; status == DS_OK && i < mesh->vertex_count; i++)
    mesh->vertices[i] = v3_scale(scale, mesh->vertices[i]);
  return status;
}

ds_status mesh_source_read_any(ds_tets *tets, ds_mesh *mesh, const char *source, double scale, ds_error *error) {
  *tets = (ds_tets){0};
  *mesh = (ds_mesh){0};
  if (strncmp(source, FIGURE, strlen(FIGURE)) == 0) return read_figure(mesh, source + strlen(FIGURE), scale, error);
  if (strncmp(source, RECIPE, strlen(RECIPE)) == 0) return read_recipe(mesh, source + strlen(RECIPE), scale, error);
  return ds_tets_read_any(tets, mesh, source, scale, error);
}

ds_status mesh_source_read(ds_mesh *mesh, const char *source, double scale, ds_error *error) {
  ds_tets tets;
  ds_status status = mesh_source_read_any(&tets, mesh, source, scale, error);
  if (status == DS_OK && tets.tet_count > 0) status = ds_tets_surface(mesh, NULL, &tets, error);
  ds_tets_free(&tets);
  return status;
}

ds_status mesh_source_drawable(const ds_mesh *mesh, const char *source, ds_error *error) {
  const char *what = mesh->triangle_count < 1 || mesh->vertex_count < 1 ? "has no triangles" : NULL;
  for (int32_t i = 0; what == NULL && i < mesh->vertex_count; i++)
    if (!v3_finite(mesh->vertices[i])) what = "has a vertex that is not finite";
  for (int64_t i = 0; what == NULL && i < 3 * (int64_t)mesh->triangle_count; i++)
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
      what = "has a triangle with a vertex that does not exist";
  if (what == NULL) return DS_OK;
  snprintf(error->message, sizeof error->message, "%.300s: %s; export the mesh again", source, what);
  return DS_ERROR_INPUT;
}

void mesh_bounds(ds_vec3 *low, ds_vec3 *high, const ds_mesh *mesh) {
  *low = *high = mesh->vertices[0];
  for (int32_t i = 1; i < mesh->vertex_count; i++) {
    *low = v3_min(*low, mesh->vertices[i]);
    *high = v3_max(*high, mesh->vertices[i]);
  }
}
