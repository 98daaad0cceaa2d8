/* Reads a mesh file: the whole of it into memory, the format by the ending of its name, checked against its content.
 *
 * Numbers are read in the C locale whatever the program's locale is. Limits: DS_MESH_BYTES_MAX, DS_MESH_ELEMENTS_MAX.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "mesh/mesh.h"

/* ---- the format ---- */

typedef struct format {
  const char *ending, *name;
  bool (*read)(ds_mesh_input *in);
} format;

enum { OBJ, STL, PLY, MSH, FORMATS };
static const format formats[FORMATS] = {
    [OBJ] = {".obj", "OBJ", ds_mesh_read_obj},
    [STL] = {".stl", "STL", ds_mesh_read_stl},
    [PLY] = {".ply", "PLY", ds_mesh_read_ply},
    [MSH] = {".msh", "Gmsh", ds_mesh_read_msh},
};

static int format_of_name(const char *name) {
  size_t n = strlen(name);
  for (int f = 0; n >= 4 && f < FORMATS; f++) {
    ds_mesh_word ending = {name + n - 4, 4, 0};
    if (ds_mesh_word_is_any_case(&ending, formats[f].ending)) return f;
  }
  return -1;
}

static bool starts(const char *bytes, size_t length, const char *with) {
  size_t n = strlen(with);
  return length >= n && memcmp(bytes, with, n) == 0;
}

/* What the content says without doubt, or -1. */
static int format_of_content(const char *bytes, size_t length) {
  if (ds_mesh_is_binary_stl(bytes, length)) return STL;
  if (starts(bytes, length, "ply\n") || starts(bytes, length, "ply\r")) return PLY;
  if (starts(bytes, length, "$MeshFormat")) return MSH;
  if (starts(bytes, length, "solid ") || starts(bytes, length, "solid\n") || starts(bytes, length, "solid\r"))
    return STL;
  return -1;
}

static ds_status choose_format(int *chosen, const char *bytes, size_t length, const char *name, ds_error *error) {
  int by_name = format_of_name(name), by_content = format_of_content(bytes, length);
  if (by_name < 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "%.200s: unknown kind of mesh file; expected a name that ends with .obj, .stl, "
                   ".ply or .msh",
                   name);
  if (length == 0)
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the file is empty; expected a mesh in %s format", name,
                   formats[by_name].name);
  if (by_content >= 0 && by_content != by_name)
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the content is in %s format; expected a name that ends with %s",
                   name, formats[by_content].name, formats[by_content].ending);
  *chosen = by_name;
  return DS_OK;
}

/* ---- the mesh ---- */

static bool check_result(ds_mesh_input *in, const format *f) {
  if (in->triangle_count == 0)
    return in->status = ds_fail(in->error, DS_ERROR_INPUT,
                                "%.200s: the file has no faces; expected a surface of triangles "
                                "in %s format",
                                in->name, f->name),
           false;
  if (in->highest >= in->vertex_count)
    return ds_mesh_fail(in, in->highest_at, "vertex %d does not exist; the file has %d vertices",
                        in->highest + in->base, in->vertex_count);
  return true;
}

bool ds_mesh_run_reader(ds_mesh_input *in, bool (*read)(ds_mesh_input *in)) {
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* strtod reads "0.5" in no other locale for sure */
  if (!c_locale) return ds_mesh_fail_memory(in);
  locale_t old = uselocale(c_locale);
  bool ok = read(in);
  uselocale(old);
  freelocale(c_locale);
  return ok;
}

static ds_status read_as(ds_mesh *mesh, ds_mesh_input *in, const format *f) {
  bool ok = ds_mesh_run_reader(in, f->read) && check_result(in, f);
  free(in->tets);
  free(in->tet_at);
  ds_mesh whole = {in->vertices, in->vertex_count, in->triangles ? in->triangles[0] : NULL, in->triangle_count};
  ds_status status = ok ? ds_mesh_merge(&whole, in->error) : in->status;
  if (status != DS_OK)
    ds_mesh_free(&whole);
  else
    *mesh = whole;
  return status;
}

ds_status ds_mesh_read_bytes(ds_mesh *mesh, const void *bytes, size_t length, const char *name, double scale,
                             ds_error *error) {
  int chosen = OBJ;
  *mesh = (ds_mesh){0};
  if (!(scale > 0) || !isfinite(scale))
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the scale is %g; expected a finite number above 0", name, scale);
  if (length > DS_MESH_BYTES_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "%.200s: the file has %zu bytes; expected at most 2 GiB", name, length);
  ds_status status = choose_format(&chosen, bytes, length, name, error);
  if (status != DS_OK) return status;
  ds_mesh_input in = {.bytes = bytes, .length = length, .name = name, .scale = scale, .highest = -1, .error = error};
  return read_as(mesh, &in, &formats[chosen]);
}

/* ---- the file ---- */

static ds_status fail_errno(ds_error *error, const char *path, const char *action, int code) {
  char reason[128] = "unknown reason";
  if (strerror_r(code, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", code);
  return ds_fail(error, DS_ERROR_INPUT, "%.200s: cannot %s: %s; check the path", path, action, reason);
}

/* The rest of a stream, pipes included. */
static ds_status read_all(char **bytes, size_t *length, FILE *stream, size_t hint, const char *path, ds_error *error) {
  size_t capacity = hint + 1, used = 0;
  char *all = malloc(capacity);
  while (all) {
    used += fread(all + used, 1, capacity - used, stream);
    int code = errno;
    if (ferror(stream) || used > DS_MESH_BYTES_MAX) {
      free(all);
      if (used <= DS_MESH_BYTES_MAX) return fail_errno(error, path, "read it", code);
      return ds_fail(error, DS_ERROR_INPUT, "%.200s: the file is larger than 2 GiB; expected a smaller mesh", path);
    }
    if (used < capacity) { /* the end */
      *bytes = all;
      *length = used;
      return DS_OK;
    }
    capacity *= 2;
    char *larger = realloc(all, capacity);
    if (!larger) free(all);
    all = larger;
  }
  return ds_fail(error, DS_ERROR_MEMORY, "%.200s: memory ran out while reading the file", path);
}

ds_status ds_mesh_load_file(char **bytes, size_t *length, const char *path, ds_error *error) {
  struct stat info;
  size_t hint = (size_t)1 << 16;
  if (stat(path, &info) != 0) return fail_errno(error, path, "open it", errno);
  if (S_ISDIR(info.st_mode)) return ds_fail(error, DS_ERROR_INPUT, "%.200s: is a folder; expected a mesh file", path);
  if (S_ISREG(info.st_mode)) {
    if (info.st_size > (off_t)DS_MESH_BYTES_MAX)
      return ds_fail(error, DS_ERROR_INPUT, "%.200s: the file has %lld bytes; expected at most 2 GiB", path,
                     (long long)info.st_size);
    hint = (size_t)info.st_size;
  }
  FILE *stream = fopen(path, "rb");
  if (!stream) return fail_errno(error, path, "open it", errno);
  ds_status status = read_all(bytes, length, stream, hint, path, error);
  fclose(stream);
  return status;
}

ds_status ds_mesh_read(ds_mesh *mesh, const char *path, double scale, ds_error *error) {
  char *bytes = NULL;
  size_t length = 0;
  *mesh = (ds_mesh){0};
  ds_status status = ds_mesh_load_file(&bytes, &length, path, error);
  if (status == DS_OK) status = ds_mesh_read_bytes(mesh, bytes, length, path, scale, error);
  free(bytes);
  return status;
}
