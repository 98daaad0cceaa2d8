/* Files of tetrahedra: which format, from a path or from memory, and what is left to do when a reader has read.
 *
 * A file in which every tetrahedron is inverted follows the other convention: all are turned. One that has both, or a
 * flat one, is an error at the first that differs from the first of all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reduce/tets.h"

typedef struct format {
  const char *ending;
  bool (*read)(ds_mesh_input *in);
} format;

enum { MSH, VTK, VEG, NODE, ELE, FORMATS };
static const format formats[FORMATS] = {
    [MSH] = {".msh", ds_mesh_read_msh},    [VTK] = {".vtk", ds_tets_read_vtk},  [VEG] = {".veg", ds_tets_read_veg},
    [NODE] = {".node", ds_tets_read_node}, [ELE] = {".ele", ds_tets_read_node},
};

static int format_of(const char *name) {
  size_t n = strlen(name);
  for (int f = 0; f < FORMATS; f++) {
    size_t k = strlen(formats[f].ending);
    if (n <= k) continue;
    ds_mesh_word ending = {name + n - k, k, 0};
    if (ds_mesh_word_is_any_case(&ending, formats[f].ending)) return f;
  }
  return -1;
}

bool ds_tets_is_file(const char *path) { return path && format_of(path) >= 0; }

/* ---- orientation ---- */

bool ds_tets_orient(ds_mesh_input *in) {
  int first = 0;
  ds_tets tets = {.nodes = in->vertices,
                  .node_count = in->vertex_count,
                  .tets = in->tets ? in->tets[0] : NULL,
                  .tet_count = in->tet_count};
  int exponent = ds_tets_exponent(&tets);
  for (int32_t t = 0; t < in->tet_count; t++) {
    ds_vec3 x[4];
    ds_tets_corners(x, &tets, t, exponent);
    int sign = ds_tet_sign(x);
    if (sign == 0)
      return ds_mesh_fail(in, in->tet_at[t], "tetrahedron %d of the file is flat; expected one with volume", t + 1);
    if (t == 0) first = sign;
    if (sign != first)
      return ds_mesh_fail(in, in->tet_at[t],
                          "tetrahedron %d of the file is inverted against the first; expected all to turn the same way",
                          t + 1);
  }
  for (int32_t t = 0; t < in->tet_count && first < 0; t++) {
    int32_t swap = in->tets[t][2];
    in->tets[t][2] = in->tets[t][3], in->tets[t][3] = swap;
  }
  return true;
}

/* ---- the mesh ---- */

/* Leaves out the nodes that no tetrahedron uses; the order stays. */
static bool drop_unused(ds_mesh_input *in) {
  int32_t *number = malloc((size_t)in->vertex_count * sizeof *number + 1), kept = 0;
  if (!number) return ds_mesh_fail_memory(in);
  for (int32_t i = 0; i < in->vertex_count; i++) number[i] = -1;
  for (int32_t t = 0; t < in->tet_count; t++)
    for (int k = 0; k < 4; k++) number[in->tets[t][k]] = 0;
  for (int32_t i = 0; i < in->vertex_count; i++)
    if (number[i] == 0) in->vertices[kept] = in->vertices[i], number[i] = kept++;
  for (int32_t t = 0; t < in->tet_count; t++)
    for (int k = 0; k < 4; k++) in->tets[t][k] = number[in->tets[t][k]];
  in->vertex_count = kept;
  free(number);
  return true;
}

static bool finish(ds_mesh_input *in) {
  if (in->tet_count == 0) {
    in->status =
        ds_fail(in->error, DS_ERROR_INPUT,
                "%.200s: the file has no tetrahedra; expected some (a surface can be filled with them)", in->name);
    return false;
  }
  return ds_tets_orient(in) && drop_unused(in);
}

static ds_status take(ds_tets *tets, ds_mesh_input *in, bool ok) {
  free(in->tet_at);
  free(in->triangles);
  if (ok) {
    *tets = (ds_tets){
        .nodes = in->vertices, .node_count = in->vertex_count, .tets = in->tets[0], .tet_count = in->tet_count};
    tets->material = (ds_tets_material){in->materials, in->material[0], in->material[1], in->material[2]};
    return DS_OK;
  }
  free(in->vertices);
  free(in->tets);
  return in->status;
}

/* ---- memory ---- */

/* The name with another ending, of the same case. */
static void rename_ending(char *other, size_t size, const char *name, const char *ending) {
  size_t stem = strlen(name) - strlen(formats[format_of(name)].ending);
  bool upper = name[stem + 1] >= 'A' && name[stem + 1] <= 'Z';
  snprintf(other, size, "%.*s%s", (int)(stem < size ? stem : size), name, ending);
  for (size_t i = stem; upper && i < size && other[i]; i++)
    if (other[i] >= 'a' && other[i] <= 'z') other[i] = (char)(other[i] - 'a' + 'A');
}

/* The nodes were read; now the tetrahedra, from a second file. */
static bool read_second(ds_mesh_input *in, const void *bytes, size_t length, const char *name) {
  in->bytes = bytes;
  in->length = length;
  in->at = 0;
  in->name = name;
  return ds_mesh_run_reader(in, ds_tets_read_ele);
}

static ds_status read_memory(ds_tets *tets, const void *bytes, size_t length, const void *second, size_t second_length,
                             const char *name, double scale, bool from_file, ds_error *error) {
  char node[4096], ele[4096];
  int f = format_of(name);
  if (f < 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "%.200s: unknown kind of file; expected a name that ends with .msh, .vtk, .veg, .node or .ele",
                   name);
  if (!(scale > 0) || !isfinite(scale))
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the scale is %g; expected a finite number above 0", name, scale);
  if (length > DS_MESH_BYTES_MAX || second_length > DS_MESH_BYTES_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the file is too large; expected at most 2 GiB", name);
  if ((f == NODE || f == ELE) && !second)
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: half of a mesh; expected the .node and the .ele file", name);
  ds_mesh_input in = {.bytes = bytes,
                      .length = length,
                      .name = name,
                      .scale = scale,
                      .volume = true,
                      .from_file = from_file,
                      .highest = -1,
                      .error = error};
  if (f == NODE || f == ELE) {
    rename_ending(node, sizeof node, name, ".node");
    rename_ending(ele, sizeof ele, name, ".ele");
    in.name = node;
  }
  bool ok = ds_mesh_run_reader(&in, formats[f].read);
  if (ok && (f == NODE || f == ELE)) ok = read_second(&in, second, second_length, ele);
  return take(tets, &in, ok && finish(&in));
}

ds_status ds_tets_read_bytes(ds_tets *tets, const void *bytes, size_t length, const void *second, size_t second_length,
                             const char *name, double scale, ds_error *error) {
  *tets = (ds_tets){0};
  return read_memory(tets, bytes, length, second, second ? second_length : 0, name, scale, false, error);
}

/* ---- files ---- */

ds_status ds_tets_read(ds_tets *tets, const char *path, double scale, ds_error *error) {
  char node[4096], ele[4096], *bytes = NULL, *second = NULL;
  size_t length = 0, second_length = 0;
  int f = format_of(path);
  bool two = f == NODE || f == ELE;
  *tets = (ds_tets){0};
  if (strlen(path) + 8 > sizeof node)
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the path is too long; expected less than %zu bytes", path,
                   sizeof node - 8);
  if (two) {
    rename_ending(node, sizeof node, path, ".node");
    rename_ending(ele, sizeof ele, path, ".ele");
  }
  ds_status status = f < 0 ? DS_OK : ds_mesh_load_file(&bytes, &length, two ? node : path, error);
  if (status == DS_OK && two) status = ds_mesh_load_file(&second, &second_length, ele, error);
  if (status == DS_OK) status = read_memory(tets, bytes, length, second, second_length, path, scale, true, error);
  free(bytes);
  free(second);
  return status;
}
