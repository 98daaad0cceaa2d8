/* The deformable bodies of a recording: /deformables/0, 1, ... are reduced bodies as in body files
 * (io/reduced_group.h), in the order in which bodies of the scene use them; /deformables/of_body is the deformable of
 * each body, -1 for rigid ones, and /deformables/first where its coordinates begin in a row of /frames/reduced. So
 * a recording can be drawn without the files that its scene was made of. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "body/scene.h"
#include "io/reduced_group.h"
#include "record/layout.h"

/* ---- writing ---- */

ds_status ds_record_list_reduced(ds_record_reduced *list, const ds_scene *scene, ds_error *error) {
  list->of_body = calloc((size_t)scene->body_count + 1, sizeof *list->of_body);
  if (list->of_body == NULL) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  for (int32_t b = 0; b < scene->body_count; b++) {
    const ds_reduced *body = scene->bodies[b].reduced;
    int32_t i = 0;
    while (body != NULL && i < list->count && list->items[i] != body) i++;
    list->of_body[b] = body != NULL ? i : -1;
    if (body == NULL || i < list->count) continue;
    if (!ds_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
      return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    list->items[list->count++] = body;
  }
  return DS_OK;
}

void ds_record_free_reduced(ds_record_reduced *list) {
  free(list->items);
  free(list->of_body);
  *list = (ds_record_reduced){0};
}

static bool write_integers(hid_t at, const char *name, const int32_t *data, int32_t count) {
  hsize_t length = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &length, NULL);
  hid_t set =
      space >= 0 ? H5Dcreate2(at, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : (hid_t)-1;
  bool ok = set >= 0 && H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static bool write_body(hid_t group, int32_t index, const ds_reduced *body) {
  char name[16];
  snprintf(name, sizeof name, "%d", (int)index);
  hid_t own = H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = own >= 0 && ds_reduced_group_write(own, body);
  if (own >= 0) H5Gclose(own);
  return ok;
}

bool ds_record_write_reduced(hid_t file, const ds_record_reduced *list, const ds_scene *scene) {
  if (list->count == 0) return true;
  int32_t bodies = scene->body_count;
  int32_t *first = malloc(((size_t)bodies + 1) * sizeof *first);
  if (first == NULL) return false;
  for (int32_t b = 0; b < bodies; b++) first[b] = scene->bodies[b].first_reduced;
  first[bodies] = scene->reduced_count;
  hid_t group = H5Gcreate2(file, "/deformables", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = group >= 0 && write_integers(group, "of_body", list->of_body, bodies) &&
            write_integers(group, "first", first, bodies + 1);
  for (int32_t i = 0; ok && i < list->count; i++) ok = write_body(group, i, list->items[i]);
  if (group >= 0) H5Gclose(group);
  free(first);
  return ok;
}

/* ---- reading ---- */

ds_reduced *ds_record_read_reduced(void *user, int32_t index, ds_error *error) {
  const ds_record_meshes *from = user;
  char name[32];
  snprintf(name, sizeof name, "/deformables/%d", (int)index);
  bool there = H5Lexists(from->file, "/deformables", H5P_DEFAULT) > 0 && H5Lexists(from->file, name, H5P_DEFAULT) > 0;
  hid_t group = there ? H5Gopen2(from->file, name, H5P_DEFAULT) : -1;
  if (group < 0) {
    ds_fail(error, DS_ERROR_INPUT, "%s is missing", name);
    return NULL;
  }
  ds_reduced *body = ds_reduced_group_read(group, from->file_size, name, error);
  H5Gclose(group);
  return body;
}
