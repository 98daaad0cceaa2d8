/* From a recipe to its mesh, and from the text of a recipe. */
#include <stdlib.h>

#include "base/error.h"
#include "mesh/recipe.h"

static double distance(const void *recipe, ds_vec3 x) { return ds_recipe_distance(recipe, x); }

ds_status ds_recipe_mesh(ds_mesh *mesh, const ds_recipe *recipe, double cell, int32_t triangles, ds_error *error) {
  const ds_recipe_node *root = &recipe->nodes[recipe->root];
  ds_vec3 size = v3_sub(root->high, root->low);
  if (cell == 0) cell = fmax(size.x, fmax(size.y, size.z)) / 80;
  ds_status status = ds_isosurface(mesh, distance, recipe, root->low, root->high, cell, error);
  if (status == DS_OK && triangles > 0) status = ds_mesh_simplify(mesh, triangles, INFINITY, error);
  if (status != DS_OK) ds_mesh_free(mesh);
  return status;
}

ds_status ds_mesh_recipe(ds_mesh *mesh, const char *text, size_t length, const char *file, double cell,
                         ds_error *error) {
  ds_recipe recipe = {0};
  double own = 0;
  int32_t triangles = 0;
  *mesh = (ds_mesh){0};
  if (!(cell >= 0 && cell < INFINITY))
    return ds_fail(error, DS_ERROR_INPUT, "the cell of a recipe is %g m; expected a length, or 0", cell);
  ds_status status = ds_recipe_read(&recipe, &own, &triangles, text, length, file, error);
  if (status == DS_OK) status = ds_recipe_mesh(mesh, &recipe, cell > 0 ? cell : own, triangles, error);
  ds_recipe_free(&recipe);
  return status;
}
