/* Deformable bodies: from a tetrahedral mesh to the few numbers that move it.
 *
 * A ds_tets is plain data. A ds_reduced is what simulation and contact need of it, built once and shared by all bodies
 * that are made of it: modes, inertia integrals, elastic forces, the surface and its tree of spheres. */
#ifndef DRYSTONE_REDUCE_H
#define DRYSTONE_REDUCE_H

#include <stddef.h>

#include "drystone/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tetrahedral meshes ---- */
/* What a file says of the material. Of the formats below .veg alone does. */
typedef struct ds_tets_material {
  int32_t count;                  /* different ones in use; 0 = nothing is said. Where it is 1: */
  double young, poisson, density; /* Pa, 1, kg/m³; all 0 where its kind is not known (other than VEGA's ENU) */
} ds_tets_material;

typedef struct ds_tets {
  ds_vec3 *nodes; /* m */
  int32_t node_count;
  int32_t *tets; /* 4 nodes each; the fourth lies on the side from which the first three run counter-clockwise ... */
  int32_t tet_count; /* ... so that (x1 - x0) x (x2 - x0) . (x3 - x0) > 0 */
  ds_tets_material material;
} ds_tets;
void ds_tets_free(ds_tets *tets); /* of the calls below; the struct is zeroed */

/* Reads .msh (Gmsh 2.2 and 4.1, text and binary), .vtk (legacy unstructured grid, text and binary), .veg (VEGA) and
 * TetGen's .node with the .ele beside it (either may be named). Coordinates are multiplied by scale; nodes that no
 * tetrahedron uses are left out. Nothing is repaired: an inverted or flat tetrahedron is an error that says where. */
ds_status ds_tets_read(ds_tets *tets, const char *path, double scale, ds_error *error);
/* The same from memory; the ending of `name` tells the format. .node with .ele: give both, one after the other, in
 * `second` the .ele; else second is NULL. */
ds_status ds_tets_read_bytes(ds_tets *tets, const void *bytes, size_t length, const void *second, size_t second_length,
                             const char *name, double scale, ds_error *error);
bool ds_tets_is_file(const char *path); /* whether the ending is one that holds tetrahedra (.msh may hold either) */

typedef void ds_reduce_progress(void *user, const char *what, double share); /* 0 .. 1, from the calling thread */

/* Either of the two from a file: tets where it has tetrahedra (tet_count > 0), else its surface. */
ds_status ds_tets_read_any(ds_tets *tets, ds_mesh *surface, const char *path, double scale, ds_error *error);

/* Fills a closed surface by isosurface stuffing [Labelle and Shewchuk 2007]: a body-centred lattice of cells of size
 * `cell`, cut and warped to the surface; rounded down so that whole cells span the longest side. 0 = a cell that gives
 * about `wanted` tetrahedra, or up to 16 times as many where the body has thin parts. Where a part is too thin for the
 * cell, the error names a cell that works. */
typedef struct ds_stuffing_def {
  double cell;    /* m; 0 = chosen */
  int32_t wanted; /* tetrahedra, about, where cell is 0; default 4,000 */
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
  int32_t parts;                      /* that hang together over faces */
  int32_t surface_triangles, surface_nodes;
  int32_t angles[18]; /* histogram of dihedral angles, 10 degrees each */
} ds_tets_report;
/* DS_ERROR_INPUT where it cannot be simulated: an inverted or flat tetrahedron, a face with three tetrahedra, parts
 * that do not hang together, a body that touches itself along an edge, a node without a tetrahedron, NaN, indices out
 * of range. */
ds_status ds_tets_check(ds_tets_report *report, const ds_tets *tets, ds_error *error);
/* The boundary as a closed surface; `node` (may be NULL) receives an array, to be freed, of the node of each vertex. */
ds_status ds_tets_surface(ds_mesh *surface, int32_t **node, const ds_tets *tets, ds_error *error);

/* ---- Reduced bodies ---- */
typedef struct ds_reduced ds_reduced;
enum { DS_REDUCED_MAX = 128 }; /* reduced coordinates at most */

typedef struct ds_reduced_def {
  const char *name;             /* copied; may be NULL */
  double young;                 /* Pa, default 1e6 */
  double poisson;               /* -1 .. 0.5 without the ends, default 0.3 */
  double density;               /* kg/m³, default 1000 */
  double mass;                  /* kg: the density is chosen for it; default 0 = density x volume of the tetrahedra */
  int32_t modes;                /* r: reduced coordinates, default 12 */
  bool stvk;                    /* large deformation: St. Venant-Kirchhoff on linear modes and modal derivatives */
  double damping_mass;          /* Rayleigh: C = damping_mass M + damping_stiffness K; 1/s, default 0 */
  double damping_stiffness;     /* s, default 1e-3 */
  int32_t threads;              /* 0 = all cores */
  const char *cache;            /* folder in which built bodies are kept, NULL = none */
  ds_reduce_progress *progress; /* or NULL */
  void *user;
} ds_reduced_def;
ds_reduced_def ds_default_reduced(void);

/* NULL with the reason where the mesh or the definition cannot be used. The mesh is copied. */
ds_reduced *ds_reduced_create(const ds_tets *tets, const ds_reduced_def *def, ds_error *error);
ds_reduced *ds_reduced_retain(ds_reduced *reduced); /* one more owner */
void ds_reduced_release(ds_reduced *reduced);       /* the last one frees it; NULL is fine */

/* The material of the file, where `def` is to take it: each of the three that is not `given`. DS_ERROR_INPUT where the
 * file has several materials, or one of a kind that is not known, and one of the three is not given. */
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
  double mass_error;       /* of the mass matrix against density x volume, relative */
  double orthogonality;    /* worst |UᵀKU - diag|, relative to the largest entry; modal bodies */
  int32_t nodes, tets, vertices, triangles, spheres;
  ds_vec3 low, high; /* bounds of the undeformed mesh, in its own frame, m */
  int64_t bytes;
  bool from_cache;
} ds_reduced_info;
ds_reduced_info ds_reduced_get_info(const ds_reduced *reduced);
const char *ds_reduced_name(const ds_reduced *reduced); /* "" where it has none */
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
