/* A reduced deformable body as an HDF5 group: see reduced_group.h and docs/body-files.md.
 *
 * One table names every dataset with its shape, unit and meaning; writing and reading go through it. They are packed
 * (shuffle and deflate) with a checksum. Reading trusts nothing: version, types and shapes, no more numbers than the
 * stored bytes can hold at deflate's best ratio; then ds_reduced_finish looks at numbers and indices, and
 * ds_reduced_check at what they mean. The surface is kept as nodes of the volume, and its vertices and basis are
 * gathered from there. */
#include "io/reduced_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "drystone/drystone.h"
#include "io/attributes.h"
#include "io/reduced_check.h"

#define FORMAT "drystone-reduced"
enum { CHUNK_NUMBERS = 1 << 15, PACK_LEVEL = 6, DEFLATE_RATIO = 1032 };

/* ---- The table ---- */

/* How many there are of everything. */
typedef struct sizes {
  int32_t r, linear, nodes, tets, vertices, triangles, stvk;
} sizes;

typedef struct size_entry {
  const char *name, *what;
  size_t offset;
  int32_t low, high;
} size_entry;

#define SIZE(name, member, low, high, what) \
  { name, what, offsetof(sizes, member), low, high }
static const size_entry size_table[] = {
    SIZE("modes", r, 1, DS_REDUCED_MAX, "reduced coordinates"),
    SIZE("linear_modes", linear, 1, DS_REDUCED_MAX, "linear modes among them, or from which they were made"),
    SIZE("nodes", nodes, 4, INT32_MAX / 4, "nodes of the volume"),
    SIZE("tets", tets, 1, INT32_MAX / 4, "tetrahedra"),
    SIZE("vertices", vertices, 4, INT32_MAX / 4, "vertices of the surface"),
    SIZE("triangles", triangles, 4, INT32_MAX / 4, "triangles of the surface"),
    SIZE("stvk", stvk, 0, 1, "1: St. Venant-Kirchhoff, large deformation; 0: linear modes"),
};
enum { SIZE_COUNT = (int)(sizeof size_table / sizeof *size_table) };

typedef struct real_entry {
  const char *name, *unit;
  size_t offset; /* in ds_reduced */
} real_entry;

#define REAL(name, member, unit) \
  { name, unit, offsetof(ds_reduced, member) }
static const real_entry real_table[] = {
    REAL("young", info.young, "Pa"),
    REAL("poisson", info.poisson, "1"),
    REAL("density", info.density, "kg/m3"),
    REAL("damping_mass", info.damping_mass, "1/s"),
    REAL("damping_stiffness", info.damping_stiffness, "s"),
    REAL("mass", mass, "kg"),
    REAL("mass_error", info.mass_error, "1"),
    REAL("orthogonality", info.orthogonality, "1"),
};
enum { REAL_COUNT = (int)(sizeof real_table / sizeof *real_table) };

typedef struct set {
  const char *name, *unit, *what;
  void *data; /* NULL if there is no body yet */
  bool integer;
  int rank;
  hsize_t dims[3];
} set;
enum { SET_COUNT = 15 };

static int32_t list_sets(set list[SET_COUNT], const sizes *n, const ds_reduced *b) {
  hsize_t r = (hsize_t)n->r, pairs = r * (r + 1) / 2, triples = r * (r + 1) * (r + 2) / 6;
  hsize_t nodes = (hsize_t)n->nodes, tets = (hsize_t)n->tets;
  const set all[SET_COUNT] = {
      {"nodes", "m", "nodes of the volume, principal frame", b ? b->tets.nodes : NULL, false, 2, {nodes, 3, 1}},
      {"tets", "1", "four nodes each, from 0, of positive volume", b ? b->tets.tets : NULL, true, 2, {tets, 4, 1}},
      {"node_basis",
       "1",
       "U, 3 x modes a node: y = X + U q, with q in m",
       b ? b->node_basis : NULL,
       false,
       3,
       {nodes, 3, r}},
      {"surface_nodes",
       "1",
       "node of each vertex of the surface",
       b ? b->surface_node : NULL,
       true,
       1,
       {(hsize_t)n->vertices, 1, 1}},
      {"surface_triangles",
       "1",
       "three vertices each, counter-clockwise seen from outside",
       b ? b->surface.triangles : NULL,
       true,
       2,
       {(hsize_t)n->triangles, 3, 1}},
      {"frame",
       "m, 1",
       "the mesh's own frame in the principal frame: x y z, then the quaternion w x y z",
       b ? (void *)&b->frame : NULL,
       false,
       1,
       {7, 1, 1}},
      {"inertia", "kg m2", "principal moments, undeformed", b ? (void *)&b->inertia : NULL, false, 1, {3, 1, 1}},
      {"second0",
       "kg m2",
       "integral of rho X X', as xx yy zz xy xz yz",
       b ? (void *)b->second0 : NULL,
       false,
       1,
       {6, 1, 1}},
      {"second1",
       "kg m",
       "coefficient of q_a in the same of the deformed body",
       b ? b->second1 : NULL,
       false,
       2,
       {r, 6, 1}},
      {"second2", "kg", "coefficient of q_a q_b, a <= b", b ? b->second2 : NULL, false, 2, {pairs, 6, 1}},
      {"coupling", "kg", "integral of rho U_a x U_b", b ? b->coupling : NULL, false, 3, {r, r, 3}},
      {"stiffness", "N/m", "K in f = K q + ...", b ? b->stiffness : NULL, false, 2, {r, r, 1}},
      {"frequencies",
       "Hz",
       "of the linear modes, ascending",
       b ? b->frequency : NULL,
       false,
       1,
       {(hsize_t)n->linear, 1, 1}},
      {"quadratic",
       "N/m2",
       "coefficients of q_a q_b, a <= b, in f_k",
       b ? b->quadratic : NULL,
       false,
       2,
       {r, pairs, 1}},
      {"cubic",
       "N/m3",
       "coefficients of q_a q_b q_c, a <= b <= c, in f_k",
       b ? b->cubic : NULL,
       false,
       2,
       {r, triples, 1}},
  };
  memcpy(list, all, sizeof all);
  return n->stvk ? SET_COUNT : SET_COUNT - 2;
}

/* ---- Writing ---- */

static hid_t creation_list(const set *s) {
  hsize_t row = 1, chunk[3];
  for (int i = 1; i < s->rank; i++) row *= chunk[i] = s->dims[i];
  chunk[0] = CHUNK_NUMBERS / row < 1 ? 1 : CHUNK_NUMBERS / row;
  if (chunk[0] > s->dims[0]) chunk[0] = s->dims[0];
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  bool ok = list >= 0 && H5Pset_obj_track_times(list, false) >= 0 && H5Pset_chunk(list, s->rank, chunk) >= 0;
  if (ok && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    ok = H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, PACK_LEVEL) >= 0;
  if (ok && H5Zfilter_avail(H5Z_FILTER_FLETCHER32) > 0) ok = H5Pset_fletcher32(list) >= 0;
  if (ok) return list;
  if (list >= 0) H5Pclose(list);
  return -1;
}

static bool write_set(hid_t at, const set *s) {
  hid_t space = H5Screate_simple(s->rank, s->dims, NULL), list = creation_list(s), id = -1;
  if (space >= 0 && list >= 0)
    id = H5Dcreate2(at, s->name, s->integer ? H5T_STD_I32LE : H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  bool ok =
      id >= 0 && ds_attribute_write_text(id, "unit", s->unit) && ds_attribute_write_text(id, "description", s->what) &&
      H5Dwrite(id, s->integer ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, s->data) >= 0;
  if (id >= 0 && H5Dclose(id) < 0) ok = false;
  if (list >= 0) H5Pclose(list);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static sizes sizes_of(const ds_reduced *b) {
  return (sizes){.r = b->r,
                 .linear = b->info.linear_modes,
                 .nodes = b->tets.node_count,
                 .tets = b->tets.tet_count,
                 .vertices = b->surface.vertex_count,
                 .triangles = b->surface.triangle_count,
                 .stvk = b->quadratic != NULL};
}

bool ds_reduced_group_write(hid_t group, const ds_reduced *body) {
  sizes n = sizes_of(body);
  set list[SET_COUNT];
  int32_t count = list_sets(list, &n, body);
  bool ok = ds_attribute_write_text(group, "format", FORMAT) &&
            ds_attribute_write_integer(group, "drystone_reduced", DS_REDUCED_GROUP_VERSION) &&
            ds_attribute_write_text(group, "drystone_version", ds_version()) &&
            ds_attribute_write_text(group, "name", ds_reduced_name(body));
  for (int i = 0; ok && i < SIZE_COUNT; i++)
    ok = ds_attribute_write_integer(group, size_table[i].name,
                                    *(const int32_t *)((const char *)&n + size_table[i].offset));
  for (int i = 0; ok && i < REAL_COUNT; i++)
    ok = ds_attribute_write_real(group, real_table[i].name,
                                 *(const double *)((const char *)body + real_table[i].offset));
  for (int32_t i = 0; ok && i < count; i++) ok = write_set(group, &list[i]);
  return ok;
}

/* ---- Reading ---- */

static ds_status bad(ds_error *error, const char *name, const char *what, const char *why) {
  return ds_fail(error, DS_ERROR_INPUT, "%.250s: not a usable reduced body: %s%s%.120s", name, what,
                 what[0] != '\0' ? " " : "", why);
}

static ds_status read_version(hid_t group, const char *name, ds_error *error) {
  char format[32];
  int32_t version;
  if (!ds_attribute_read_text(format, sizeof format, group, "format") || strcmp(format, FORMAT) != 0 ||
      !ds_attribute_read_integer(&version, group, "drystone_reduced"))
    return bad(error, name, "", "no reduced body is in it; 'drystone reduce MESH -o body.h5' makes one");
  if (version == DS_REDUCED_GROUP_VERSION) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT,
                 "%.250s: a reduced body of format version %d; Drystone %s reads version %d: make it again with "
                 "'drystone reduce', or use %s program",
                 name, (int)version, ds_version(), (int)DS_REDUCED_GROUP_VERSION,
                 version > DS_REDUCED_GROUP_VERSION ? "a newer" : "an older");
}

static ds_status read_sizes(sizes *n, hid_t group, const char *name, ds_error *error) {
  for (int i = 0; i < SIZE_COUNT; i++) {
    const size_entry *e = &size_table[i];
    int32_t *value = (int32_t *)((char *)n + e->offset);
    if (!ds_attribute_read_integer(value, group, e->name)) return bad(error, name, e->name, "is missing");
    if (*value < e->low || *value > e->high)
      return ds_fail(error, DS_ERROR_INPUT, "%.250s: not a usable reduced body: %s is %d, expected %d to %d", name,
                     e->name, (int)*value, (int)e->low, (int)e->high);
  }
  if (n->linear > n->r) return bad(error, name, "linear_modes", "is larger than modes");
  return DS_OK;
}

/* Whether a dataset has the type and shape of the table, and bytes for it. NULL = it has. */
static const char *set_fault(hid_t id, const set *s, int64_t file_size) {
  hid_t type = H5Dget_type(id), space = H5Dget_space(id);
  hsize_t dims[3] = {1, 1, 1}, numbers = 1;
  bool ok = type >= 0 && space >= 0 && H5Tget_class(type) == (s->integer ? H5T_INTEGER : H5T_FLOAT) &&
            H5Sget_simple_extent_ndims(space) == s->rank && H5Sget_simple_extent_dims(space, dims, NULL) == s->rank;
  for (int i = 0; i < s->rank; i++) {
    ok = ok && dims[i] == s->dims[i];
    numbers *= s->dims[i]; /* 2^29 x 3 x 128 at most */
  }
  hsize_t stored = ok ? H5Dget_storage_size(id) : 0, size = type >= 0 ? H5Tget_size(type) : 0;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (!ok) return "has another type or shape than its body says";
  if (stored > (hsize_t)file_size || numbers * size > stored * DEFLATE_RATIO)
    return "claims more numbers than the file has bytes for";
  return NULL;
}

/* Looks at a dataset, and reads it where there is room for it. */
static const char *read_set(hid_t group, const set *s, int64_t file_size) {
  if (H5Lexists(group, s->name, H5P_DEFAULT) <= 0) return "is missing";
  hid_t id = H5Dopen2(group, s->name, H5P_DEFAULT);
  if (id < 0) return "is not a dataset";
  const char *fault = set_fault(id, s, file_size);
  if (fault == NULL && s->data != NULL &&
      H5Dread(id, s->integer ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, s->data) < 0)
    fault = "cannot be read; the file is damaged";
  H5Dclose(id);
  return fault;
}

static ds_status read_sets(const sizes *n, const ds_reduced *body, hid_t group, int64_t file_size, const char *name,
                           ds_error *error) {
  set list[SET_COUNT];
  int32_t count = list_sets(list, n, body);
  for (int32_t i = 0; i < count; i++) {
    const char *fault = read_set(group, &list[i], file_size);
    if (fault != NULL) return bad(error, name, list[i].name, fault);
  }
  return DS_OK;
}

/* Vertices and basis of the surface are those of its nodes. */
static bool gather_surface(ds_reduced *b) {
  size_t row = 3 * (size_t)b->r;
  for (int32_t i = 0; i < b->surface.vertex_count; i++) {
    int32_t node = b->surface_node[i];
    if (node < 0 || node >= b->tets.node_count) return false;
    b->surface.vertices[i] = b->tets.nodes[node];
    memcpy(b->basis + row * (size_t)i, b->node_basis + row * (size_t)node, row * sizeof *b->basis);
  }
  return true;
}

static ds_status read_body(ds_reduced *b, const sizes *n, hid_t group, int64_t file_size, const char *name,
                           ds_error *error) {
  ds_error why = {{0}};
  char title[256];
  b->info.linear_modes = n->linear;
  for (int i = 0; i < REAL_COUNT; i++)
    if (!ds_attribute_read_real((double *)((char *)b + real_table[i].offset), group, real_table[i].name))
      return bad(error, name, real_table[i].name, "is missing");
  if (!ds_attribute_read_text(title, sizeof title, group, "name")) return bad(error, name, "its name", "is not a text");
  b->name = strdup(title);
  if (b->name == NULL) return ds_fail(error, DS_ERROR_MEMORY, "%.250s: out of memory", name);
  ds_status status = read_sets(n, b, group, file_size, name, error);
  if (status != DS_OK) return status;
  if (!gather_surface(b)) return bad(error, name, "surface_nodes", "names a node that does not exist");
  status = ds_reduced_finish(b, &why);
  if (status == DS_OK) status = ds_reduced_check(b, &why);
  return status == DS_OK ? DS_OK : bad(error, name, "", why.message);
}

ds_reduced *ds_reduced_group_read(hid_t group, int64_t file_size, const char *name, ds_error *error) {
  sizes n;
  if (read_version(group, name, error) != DS_OK || read_sizes(&n, group, name, error) != DS_OK ||
      read_sets(&n, NULL, group, file_size, name, error) != DS_OK)
    return NULL;
  ds_reduced *body = ds_reduced_alloc(n.r, n.nodes, n.tets, n.vertices, n.triangles, n.stvk != 0);
  if (body == NULL) {
    ds_fail(error, DS_ERROR_MEMORY, "%.250s: out of memory", name);
    return NULL;
  }
  if (read_body(body, &n, group, file_size, name, error) == DS_OK) return body;
  ds_reduced_release(body);
  return NULL;
}
