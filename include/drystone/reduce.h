/* Deformable bodies: from a tetrahedral mesh to a reduced model.
 *
 * A ds_tets is plain data. A ds_reduced contains the data for simulation and contact, built once and shared by all
 * bodies that use it: modes, inertia integrals, elastic forces, the surface and its sphere tree. */
#ifndef DRYSTONE_REDUCE_H
#define DRYSTONE_REDUCE_H

#include <stddef.h>

#include "drystone/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tetrahedral meshes ---- */
/* The material in a file. Only .veg files have one. */
typedef struct ds_tets_material {
  int32_t count;                  /* number of materials in use; 0 = not given. If it is 1: */
  double young, poisson, density; /* Pa, 1, kg/m³; all 0 if its kind is unknown (other than VEGA's ENU) */
} ds_tets_material;

typedef struct ds_tets {
  ds_vec3 *nodes; /* m */
  int32_t node_count;
  int32_t *tets; /* 4 nodes each; the fourth lies on the side from which the first three run counter-clockwise ... */
  int32_t tet_count; /* ... so that (x1 - x0) x (x2 - x0) . (x3 - x0) > 0 */
  ds_tets_material material;
} ds_tets;
void ds_tets_free(ds_tets *tets); /* for the calls below; the struct is zeroed */

/* Reads .msh (Gmsh 2.2 and 4.1, text and binary), .vtk (legacy unstructured grid, text and binary), .veg (VEGA) and
 * TetGen's .node with the .ele beside it (either may be named). Coordinates are multiplied by scale; unused nodes
 * are dropped. Nothing is repaired: an inverted or flat tetrahedron is an error, reported with its position. */
ds_status ds_tets_read(ds_tets *tets, const char *path, double scale, ds_error *error);
/* The same from memory; the extension of `name` determines the format. .node with .ele: give both, one after the other,
 * in `second` the .ele; else second is NULL. */
ds_status ds_tets_read_bytes(ds_tets *tets, const void *bytes, size_t length, const void *second, size_t second_length,
                             const char *name, double scale, ds_error *error);
bool ds_tets_is_file(const char *path); /* by the extension (.msh may contain either) */

typedef void ds_reduce_progress(void *user, const char *what, double share); /* 0 .. 1, from the calling thread */

/* Either of the two from a file: tets where it has tetrahedra (tet_count > 0), else its surface. */
ds_status ds_tets_read_any(ds_tets *tets, ds_mesh *surface, const char *path, double scale, ds_error *error);

/* Fills a closed surface by isosurface stuffing [Labelle and Shewchuk 2007]: a body-centred lattice of cells of size
 * `cell`, cut and warped to the surface; rounded down so that whole cells span the longest side. 0 = a cell that gives
 * about `wanted` tetrahedra, or up to 16 times as many if the body has thin parts. If a part is too thin for the
 * cell, the error suggests a cell that works. */
typedef struct ds_stuffing_def {
  double cell;    /* m; 0 = automatic */
  int32_t wanted; /* approximate number of tetrahedra if cell is 0; default 4,000 */
  int32_t threads;
  ds_reduce_progress *progress; /* or NULL */
  void *user;
} ds_stuffing_def;
ds_stuffing_def ds_default_stuffing(void);
ds_status ds_tets_stuff(ds_tets *tets, const ds_mesh *surface, const ds_stuffing_def *def, ds_error *error);

typedef struct ds_tets_report {
  double volume;                      /* m³ */
  double least_angle, greatest_angle; /* dihedral, rad */
  double least_quality, mean_quality; /* 6 sqrt(2) volume / rms edge³: 1 = regular */
  double least_edge, greatest_edge;   /* m */
  int32_t parts;                      /* connected by faces */
  int32_t surface_triangles, surface_nodes;
  int32_t angles[18]; /* histogram of dihedral angles, 10 degrees each */
} ds_tets_report;
/* DS_ERROR_INPUT if it cannot be simulated: an inverted or flat tetrahedron, a face with three tetrahedra, several
 * disconnected parts, a body that touches itself along an edge, a node without a tetrahedron, NaN, indices out of
 * range. */
ds_status ds_tets_check(ds_tets_report *report, const ds_tets *tets, ds_error *error);
/* The boundary as a closed surface; `node` (may be NULL) receives an array, to be freed, of the node of each vertex. */
ds_status ds_tets_surface(ds_mesh *surface, int32_t **node, const ds_tets *tets, ds_error *error);

/* ---- Reduced bodies ---- */
typedef struct ds_reduced ds_reduced;
enum { DS_REDUCED_MAX = 128 }; /* reduced coordinates at most */

typedef struct ds_reduced_def {
  const char *name;             /* copied; may be NULL */
  double young;                 /* Pa, default 1e6 */
  double poisson;               /* above -1, below 0.5; default 0.3 */
  double density;               /* kg/m³, default 1000 */
  double mass;                  /* kg: determines the density; default 0 = density x volume of the tetrahedra */
  int32_t modes;                /* r: reduced coordinates, default 12 */
  bool stvk;                    /* large deformation: St. Venant-Kirchhoff on linear modes and modal derivatives */
  double damping_mass;          /* Rayleigh: C = damping_mass M + damping_stiffness K; 1/s, default 0 */
  double damping_stiffness;     /* s, default 1e-3 */
  int32_t threads;              /* 0 = all cores */
  const char *cache;            /* folder for built bodies, NULL = none */
  ds_reduce_progress *progress; /* or NULL */
  void *user;
} ds_reduced_def;
ds_reduced_def ds_default_reduced(void);

/* NULL with the reason if the mesh or the definition is invalid. The mesh is copied. */
ds_reduced *ds_reduced_create(const ds_tets *tets, const ds_reduced_def *def, ds_error *error);
ds_reduced *ds_reduced_retain(ds_reduced *reduced); /* adds a reference */
void ds_reduced_release(ds_reduced *reduced);       /* drops a reference, the last one frees it; NULL is allowed */

/* Copies to `def` the values of the file's material that are not `given`. DS_ERROR_INPUT if the file has several
 * materials, or one of unknown kind, and one of the three values is not given. */
typedef struct ds_material_given {
  bool young, poisson, density;
} ds_material_given;
ds_status ds_reduced_take_material(ds_reduced_def *def, const ds_tets *tets, ds_material_given given, ds_error *error);

typedef struct ds_reduced_info {
  double young, poisson, density, damping_mass, damping_stiffness;
  bool stvk;
  int32_t modes;           /* r */
  int32_t linear_modes;    /* of them or, for stvk, used to build the basis */
  const double *frequency; /* linear_modes, Hz, ascending, without the six rigid ones */
  double mass;             /* kg */
  double mass_error;       /* of the mass matrix compared with density x volume, relative */
  double orthogonality;    /* worst |UᵀKU - diag|, relative to the largest entry; modal bodies */
  int32_t nodes, tets, vertices, triangles, spheres;
  ds_vec3 low, high; /* bounds of the undeformed mesh, in its own frame, m */
  int64_t bytes;
  bool from_cache;
} ds_reduced_info;
ds_reduced_info ds_reduced_get_info(const ds_reduced *reduced);
const char *ds_reduced_name(const ds_reduced *reduced); /* "" = none */
/* The surface with reduced coordinates q (NULL: undeformed), in the mesh's own frame; vertices have room for
 * info.vertices. Triangles are always those of ds_reduced_triangles. */
void ds_reduced_shape(ds_vec3 *vertices, const ds_reduced *reduced, const double *q);
/* How every vertex moves with one reduced coordinate, in the mesh's own frame; room for info.vertices. */
void ds_reduced_mode(ds_vec3 *displacements, const ds_reduced *reduced, int32_t mode);
const int32_t *ds_reduced_triangles(const ds_reduced *reduced);

#ifdef __cplusplus
}
#endif

#endif
