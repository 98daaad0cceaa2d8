/* A reduced deformable body inside: what simulation, detection and files read. Built by reduce/reduce.c.
 *
 * A material point X of the undeformed body, in its principal frame (origin at the centre of mass, axes along the
 * principal axes of inertia), stands at
 *
 *   x = c + R y,   y = X + U(X) q,      q: r reduced coordinates, U: 3 x r at every point.
 *
 * The basis is orthonormal in the mass, ∫ rho UᵀU = 1 kg · I, and orthogonal to the rigid motions of the undeformed
 * body: ∫ rho U = 0, ∫ rho X x U = 0. So c is the centre of mass whatever q is, gravity does not deform, and with the
 * generalized velocity (c', w, q'), w in the body frame, the mass matrix is
 *
 *       | m I    0       0    |      J(q) = tr(E) I - E,  E(q) = ∫ rho y yᵀ = E0 + sum_a q_a E1_a + sum_ab q_a q_b
 * E2_ab M = |  0    J(q)    C(q)  |      C(q) = sum_a q_a C_a,  C_a = ∫ rho U_a x U      (3 x r; C_a[b] = -C_b[a]) |  0
 * C(q)ᵀ    I    |      (the last block is 1 kg · I)
 *
 * Elastic forces f(q), to be subtracted: K q for a modal body; for StVK the cubic polynomial
 *   f_k = sum_a K_ka q_a + sum_{a<=b} P_k,ab q_a q_b + sum_{a<=b<=c} Q_k,abc q_a q_b q_c,
 * with terms in lexicographic order, and resistance to compression (compression.c) besides. */
#ifndef DS_BODY_REDUCED_H
#define DS_BODY_REDUCED_H

#include <stdatomic.h>

#include "body/skin.h"
#include "drystone/reduce.h"
#include "la/vec3.h"

/* Neighbouring tetrahedra, with the nodes of all of them. */
typedef struct ds_cluster {
  int32_t first, count; /* tetrahedra, in the order of the clusters */
  int32_t first_node, node_count;
} ds_cluster;

/* All tetrahedra, cluster by cluster (compression.c). */
typedef struct ds_clusters {
  ds_cluster *list;
  int32_t count;
  int32_t *node;   /* nodes of the clusters, one cluster after the other */
  uint8_t *corner; /* 4 per tetrahedron: places in the list of its cluster's nodes */
  double *inverse; /* per tetrahedron: 1 / 6 volume, 1/m³ */
  ds_vec3 *normal; /* 3 per tetrahedron: gradients of the shape functions of its corners 1, 2, 3 */
  double *growth;  /* count x r: largest displacement gradient in the cluster for a coordinate of 1 */
  double *mean;    /* count x 9 x r: its mean ... */
  double *spread;  /* count x r: ... and the farthest that one is from it */
} ds_clusters;

struct ds_reduced {
  atomic_int owners;
  char *name;
  ds_reduced_info info; /* info.frequency points to `frequency` */
  double *frequency;
  int32_t r;
  ds_pose frame;   /* the mesh's own frame, given in the principal frame: X = frame.p + frame.q x_mesh frame.q* */
  double mass;     /* kg */
  ds_vec3 inertia; /* principal, undeformed */

  /* the volume, for files and pictures of stress: principal frame */
  ds_tets tets;
  double *node_basis; /* tets.node_count x 3 x r */
  ds_clusters clusters;

  /* the surface, principal frame */
  ds_mesh surface;
  int32_t *surface_node; /* surface.vertex_count: node of the volume */
  double *basis;         /* surface.vertex_count x 3 x r, row-major: U of a vertex */
  ds_bd_tree tree;
  ds_skin skin; /* surface and tree, as detection sees them; from ds_reduced_finish on */

  /* inertia shape integrals; symmetric 3 x 3 as xx yy zz xy xz yz */
  double second0[6];
  double *second1;  /* r x 6: E1_a, symmetrized (E1_a is all of the coefficient of q_a) */
  double *second2;  /* r (r + 1) / 2 x 6: coefficient of q_a q_b, a <= b (both orders together) */
  double *coupling; /* r x r x 3: C_a[b] = ∫ rho U_a x U_b */

  /* elasticity */
  double *stiffness; /* r x r; diagonal for modal bodies */
  double *quadratic; /* stvk: r x r (r + 1) / 2, else NULL */
  double *cubic;     /* stvk: r x r (r + 1) (r + 2) / 6, else NULL */
};

/* ---- reduced.c: memory. For callers that fill the arrays themselves: reduce/reduce.c, files, tests ---- */
/* Every array, zeroed, with room for r linear frequencies; r = 1 .. DS_REDUCED_MAX. NULL if memory ran out. */
ds_reduced *ds_reduced_alloc(int32_t r, int32_t nodes, int32_t tets, int32_t vertices, int32_t triangles, bool stvk);
/* To be called when all arrays, mass, inertia, frame and of info: young, poisson, density, damping_mass,
 * damping_stiffness, linear_modes, mass_error, orthogonality are there. DS_ERROR_INPUT if a number is not finite, an
 * index out of range or a constant impossible; else the tree and the rest of info are built. */
ds_status ds_reduced_finish(ds_reduced *reduced, ds_error *error);

/* ---- reduced.c: evaluation. Nothing allocates. ---- */
double ds_reduced_energy(const ds_reduced *reduced, const double *q);                   /* elastic, J */
void ds_reduced_force(double *f, const ds_reduced *reduced, const double *q);           /* f(q), r */
void ds_reduced_stiffness(double *k, const ds_reduced *reduced, const double *q);       /* df/dq, r x r symmetric */
void ds_reduced_inertia(ds_mat3 *j, const ds_reduced *reduced, const double *q);        /* J(q) */
void ds_reduced_inertia_gradient(double *g, const ds_reduced *reduced, const double *q, /* g_a = 1/2 wᵀ dJ/dq_a w */
                                 ds_vec3 w);
void ds_reduced_coupling(double *c, const ds_reduced *reduced, const double *q);       /* C(q): 3 x r, row-major */
ds_vec3 ds_reduced_vertex(const ds_reduced *reduced, const double *q, int32_t vertex); /* y; q NULL: undeformed */
/* The same bits for the listed vertices, each to its own place in the array. */
void ds_reduced_place(ds_vec3 *y, const ds_reduced *reduced, const double *q, const int32_t *list, int32_t count);

/* ---- bd_tree.c ---- */
/* Builds reduced->tree from its surface and basis. */
ds_status ds_bd_tree_build(ds_reduced *reduced, ds_error *error);
void ds_bd_tree_free(ds_bd_tree *tree);
/* Sphere i with reduced coordinates q (NULL: undeformed): centre and radius. */
double ds_bd_sphere_at(ds_vec3 *center, const ds_reduced *reduced, const double *q, int32_t sphere);

#endif
