/* The meshes of a recording's solids: /solids/NAME/vertices and /solids/NAME/triangles, so that a recording can be
 * drawn without the files its scene was made of.
 *
 * Both are compressed (shuffle and deflate) where HDF5 can do that. Reading checks everything: types and ranks, no more
 * rows than the stored bytes can hold at deflate's best ratio, finite coordinates, indices of vertices that exist.
 * Whether the surface is closed is not checked: it is only drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "la/vec3.h"
#include "record/layout.h"

#define CHUNK_ROWS 16384
#define DEFLATE_LEVEL 6
#define DEFLATE_RATIO 1032 /* deflate makes nothing smaller than by this factor */

/* ---- writing ---- */

static ds_status add_solid(ds_record_solids *list, const ds_solid *solid, ds_error *error) {
  const char *name = ds_solid_name(solid);
  if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0)
    return ds_fail(error, DS_ERROR_INPUT, "a solid is named \"%s\"; to be recorded it needs a name without \"/\"",
                   name);
  for (int32_t i = 0; i < list->count; i++)
    if (strcmp(ds_solid_name(list->items[i]), name) == 0)
      return ds_fail(error, DS_ERROR_INPUT, "two solids are named \"%s\"; to be recorded they need different names",
                     name);
  if (!ds_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  list->items[list->count++] = solid;
  return DS_OK;
}

ds_status ds_record_list_solids(ds_record_solids *list, const ds_scene *scene, ds_error *error) {
  for (int32_t b = 0; b < ds_scene_body_count(scene); b++) {
    ds_body_id body = ds_scene_body(scene, b);
    for (int32_t s = 0; s < ds_body_shape_count(scene, body); s++) {
      ds_shape_def shape = ds_body_shape(scene, body, s);
      if (shape.kind != DS_SHAPE_SOLID) continue;
      int32_t i = 0;
      while (i < list->count && list->items[i] != shape.solid) i++;
      ds_status status = i < list->count ? DS_OK : add_solid(list, shape.solid, error);
      if (status != DS_OK) return status;
    }
  }
  return DS_OK;
}

static bool write_rows(hid_t group, const char *name, hid_t file_type, hid_t memory_type, int32_t count,
                       const void *rows) {
  hsize_t dims[2] = {(hsize_t)count, 3}, chunk[2] = {count < CHUNK_ROWS ? (hsize_t)count : CHUNK_ROWS, 3};
  hid_t space = H5Screate_simple(2, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE), set = -1;
  bool ok = space >= 0 && list >= 0;
  if (ok && count > 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    ok = H5Pset_chunk(list, 2, chunk) >= 0 && H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, DEFLATE_LEVEL) >= 0;
  if (ok) set = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  ok = set >= 0 && H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0;
  if (set >= 0) H5Dclose(set);
  if (list >= 0) H5Pclose(list);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static bool write_solid(hid_t solids, hid_t link_list, const ds_solid *solid) {
  _Static_assert(sizeof(ds_vec3) == 3 * sizeof(double), "a vertex is a row of three numbers");
  const ds_mesh *mesh = ds_solid_mesh(solid);
  hid_t group = H5Gcreate2(solids, ds_solid_name(solid), link_list, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = group >= 0 &&
            write_rows(group, "vertices", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, mesh->vertex_count, mesh->vertices) &&
            write_rows(group, "triangles", H5T_STD_I32LE, H5T_NATIVE_INT32, mesh->triangle_count, mesh->triangles);
  if (group >= 0) H5Gclose(group);
  return ok;
}

bool ds_record_write_solids(hid_t file, const ds_record_solids *list) {
  if (list->count == 0) return true;
  hid_t names = H5Pcreate(H5P_LINK_CREATE);
  hid_t group = H5Gcreate2(file, "/solids", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = names >= 0 && group >= 0 && H5Pset_char_encoding(names, H5T_CSET_UTF8) >= 0;
  for (int32_t i = 0; ok && i < list->count; i++) ok = write_solid(group, names, list->items[i]);
  if (group >= 0) H5Gclose(group);
  if (names >= 0) H5Pclose(names);
  return ok;
}

/* ---- reading ---- */

/* Rows of three numbers in new memory, NULL with *what set where there are none that can be read. */
static void *read_rows(int32_t *count, hid_t group, const char *name, bool real, int64_t file_size, const char **what) {
  size_t row = 3 * (real ? sizeof(double) : sizeof(int32_t));
  *what = "is missing";
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return NULL;
  hid_t set = H5Dopen2(group, name, H5P_DEFAULT), type = set >= 0 ? H5Dget_type(set) : -1;
  hid_t space = set >= 0 ? H5Dget_space(set) : -1;
  hsize_t dims[2] = {0, 0};
  bool ok = type >= 0 && space >= 0 && H5Tget_class(type) == (real ? H5T_FLOAT : H5T_INTEGER) &&
            H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, dims, NULL) == 2 &&
            dims[0] > 0 && dims[0] <= INT32_MAX / 3 && dims[1] == 3;
  *what = "has another type or shape than expected";
  void *rows = NULL;
  if (ok) {
    hsize_t stored = H5Dget_storage_size(set);
    ok = stored <= (hsize_t)file_size && dims[0] * H5Tget_size(type) * 3 <= stored * DEFLATE_RATIO;
    if (!ok) *what = "claims more rows than the file has bytes for";
  }
  if (ok) {
    rows = malloc((size_t)dims[0] * row);
    *what = rows != NULL ? "cannot be read" : "needs more memory than there is";
    ok = rows != NULL &&
         H5Dread(set, real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0;
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (set >= 0) H5Dclose(set);
  if (ok) {
    *count = (int32_t)dims[0];
    return rows;
  }
  free(rows);
  return NULL;
}

static const char *mesh_fault(const ds_mesh *mesh) {
  for (int32_t i = 0; i < mesh->vertex_count; i++)
    if (!v3_finite(mesh->vertices[i])) return "has a vertex that is not finite";
  for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++)
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
      return "has a triangle of a vertex that does not exist";
  return NULL;
}

ds_status ds_record_read_solid(void *user, ds_mesh *mesh, const char *name, ds_error *error) {
  const ds_record_meshes *from = user;
  hid_t solids = H5Lexists(from->file, "/solids", H5P_DEFAULT) > 0 ? H5Gopen2(from->file, "/solids", H5P_DEFAULT) : -1;
  hid_t group = solids >= 0 && H5Lexists(solids, name, H5P_DEFAULT) > 0 ? H5Gopen2(solids, name, H5P_DEFAULT) : -1;
  const char *what = "is missing", *set = "";
  *mesh = (ds_mesh){0};
  if (group >= 0) {
    set = "/vertices";
    mesh->vertices = read_rows(&mesh->vertex_count, group, "vertices", true, from->file_size, &what);
    if (mesh->vertices != NULL) {
      set = "/triangles";
      mesh->triangles = read_rows(&mesh->triangle_count, group, "triangles", false, from->file_size, &what);
    }
  }
  if (mesh->triangles != NULL) set = "", what = mesh_fault(mesh);
  if (group >= 0) H5Gclose(group);
  if (solids >= 0) H5Gclose(solids);
  if (what == NULL) return DS_OK;
  free(mesh->vertices);
  free(mesh->triangles);
  *mesh = (ds_mesh){0};
  return ds_fail(error, DS_ERROR_INPUT, "/solids/%s%s %s", name, set, what);
}
