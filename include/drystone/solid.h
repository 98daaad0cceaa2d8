/* Solids: closed triangle surfaces for bodies of any form, convex or not.
 *
 * A ds_mesh is plain data. A ds_solid contains the data for contact, built once and shared by all bodies of that form:
 * the signed distance field, samples of the surface, a tree of balls over them, mass properties. */
#ifndef DRYSTONE_SOLID_H
#define DRYSTONE_SOLID_H

#include <stddef.h>

#include "drystone/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Meshes ---- */
typedef struct ds_mesh {
  ds_vec3 *vertices; /* m */
  int32_t vertex_count;
  int32_t *triangles; /* 3 vertex indices per triangle, counter-clockwise seen from outside */
  int32_t triangle_count;
} ds_mesh;
void ds_mesh_free(ds_mesh *mesh); /* for the calls below; the struct is zeroed */

/* Reads .obj, .stl (text and binary), .ply (text and binary), .msh (Gmsh 2.2 and 4.1). Coordinates are multiplied by
 * scale, equal vertices are merged, unused vertices are dropped. Nothing else is repaired: ds_mesh_check
 * reports whether the surface is valid. At most 2 GiB and 100 million elements. */
ds_status ds_mesh_read(ds_mesh *mesh, const char *path, double scale, ds_error *error);
/* The same from memory; the extension of `name` determines the format, and messages start with it. */
ds_status ds_mesh_read_bytes(ds_mesh *mesh, const void *bytes, size_t length, const char *name, double scale,
                             ds_error *error);
ds_status ds_mesh_write_obj(const ds_mesh *mesh, const char *path, ds_error *error);

typedef enum ds_mesh_fault {
  DS_MESH_EMPTY,        /* no triangles */
  DS_MESH_NOT_FINITE,   /* vertex with a coordinate that is not finite */
  DS_MESH_BAD_INDEX,    /* triangle with a vertex that does not exist */
  DS_MESH_DEGENERATE,   /* triangle without area */
  DS_MESH_DUPLICATE,    /* duplicate triangle */
  DS_MESH_OPEN,         /* edge with a triangle on one side only */
  DS_MESH_NOT_MANIFOLD, /* edge with more than two triangles */
  DS_MESH_INCONSISTENT, /* edge whose two triangles run along it in the same direction */
  DS_MESH_CROSSING,     /* two triangles that intersect, touch or are folded onto each other */
  DS_MESH_INVERTED,     /* a closed part oriented inward that is not a cavity; or a solid within a solid */
  DS_MESH_NO_VOLUME,    /* encloses nothing */
  DS_MESH_FAULT_COUNT,
} ds_mesh_fault;

typedef struct ds_mesh_report {
  bool usable;                        /* all counts below are 0 */
  int32_t count[DS_MESH_FAULT_COUNT]; /* vertices, triangles, edges, pairs (up to 100,000) or parts with it */
  int32_t where[DS_MESH_FAULT_COUNT]; /* the first triangle (vertex for NOT_FINITE) with it, or -1 */
  ds_vec3 place[DS_MESH_FAULT_COUNT]; /* the middle of that triangle or edge, m */
  int32_t parts;                      /* connected surfaces */
  double area, volume;                /* m², m³ */
} ds_mesh_report;
/* Checks the whole mesh. DS_ERROR_MEMORY is the only failure; faults of the mesh are in the report. */
ds_status ds_mesh_check(ds_mesh_report *report, const ds_mesh *mesh, ds_error *error);
/* "open", "inverted", ... */
const char *ds_mesh_fault_name(ds_mesh_fault fault);
/* Mass, centre and inertia of the enclosed volume (Mirtich 1996). */
ds_mass ds_mesh_mass(const ds_mesh *mesh, double density);

/* Both make a mesh coarser: edges are collapsed until `triangles` are left, or none is left that departs from the
 * surface by less than `tolerance` (m; INFINITY = any). DS_ERROR_MEMORY is the only failure; the mesh is then somewhere
 * between. The first takes a mesh that can be a solid (ds_mesh_check), which stays one. */
ds_status ds_mesh_simplify(ds_mesh *mesh, int32_t triangles, double tolerance, ds_error *error);
/* For drawing: any mesh of valid indices and finite coordinates. Vertices are not written, and those
 * that are no longer used stay. *departure is an estimate of how far the surfaces are apart, m; may be NULL. */
ds_status ds_mesh_decimate(ds_mesh *mesh, double *departure, int32_t triangles, double tolerance, ds_error *error);

/* ---- Recipes: signed-distance primitives put together, meshed with their edges kept ---- */
/* A recipe as JSON text, docs/shapes.md; cell is the size of the mesh's triangles, 0 = chosen. `file` is for messages.
 */
ds_status ds_mesh_recipe(ds_mesh *mesh, const char *text, size_t length, const char *file, double cell,
                         ds_error *error);

/* ---- Solids ---- */
typedef struct ds_solid ds_solid;

typedef void ds_solid_progress(void *user, double share); /* 0 .. 1, from the calling thread */

typedef struct ds_solid_def {
  const char *name;            /* copied; may be NULL */
  double cell;                 /* m: finest cell of the distance field; 0 = automatic, from size and memory */
  double spacing;              /* m: largest distance of surface samples; 0 = automatic */
  bool surface_only;           /* for drawing: no distance field, no samples, no contact */
  int32_t threads;             /* 0 = all cores */
  const char *cache;           /* folder for built solids, NULL = none */
  ds_solid_progress *progress; /* or NULL */
  void *user;
} ds_solid_def;
ds_solid_def ds_default_solid(void);

/* Checks the mesh and builds; NULL with the reason and the position if the mesh is invalid. The mesh is copied. */
ds_solid *ds_solid_create(const ds_mesh *mesh, const ds_solid_def *def, ds_error *error);
ds_solid *ds_solid_retain(ds_solid *solid); /* adds a reference */
void ds_solid_release(ds_solid *solid);     /* drops a reference, the last one frees it; NULL is allowed */

typedef struct ds_solid_info {
  ds_vec3 low, high; /* bounds, m */
  double area, volume;
  ds_vec3 center; /* of volume */
  int32_t triangles, vertices, samples, spheres, cells;
  double cell, spacing; /* m, as used */
  double thickness;     /* m: twice the largest depth inside */
  int64_t bytes;        /* total memory */
  bool from_cache;
} ds_solid_info;
ds_solid_info ds_solid_get_info(const ds_solid *solid);
const char *ds_solid_name(const ds_solid *solid); /* "" = none */
const ds_mesh *ds_solid_mesh(const ds_solid *solid);
/* Signed distance of a point to the surface, negative inside, and its gradient (may be NULL). NAN if surface_only. */
double ds_solid_distance(ds_vec3 *gradient, const ds_solid *solid, ds_vec3 x);

#ifdef __cplusplus
}
#endif

#endif
