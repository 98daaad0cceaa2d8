/* From tetrahedra to a reduced body: what the files of this folder share.
 *
 *   elements.c     volumes and gradients of linear tetrahedra
 *   matrices.c     mass and stiffness matrix, in blocks of nodes, and their products
 *   shifted.c      (K + sigma M)⁻¹ by Cholesky
 *   vectors.c      M-orthonormal sets of vectors, rigid motions left out
 *   modes.c        K phi = lambda M phi by block Lanczos
 *   derivatives.c  modal derivatives
 *   basis.c        the basis of a large-deformation body by PCA
 *   stvk.c         reduced cubic forces
 *   integrals.c    principal frame, inertia shape integrals
 *   reduced_cache.c  built bodies on disk
 *   reduce.c       puts them together
 *
 * A vector over the mesh has three numbers per node, x y z. Everything is the same bit for bit for any number of
 * threads: what a thread computes never depends on which one it is, and sums have a fixed order. */
#ifndef DS_REDUCE_FEM_H
#define DS_REDUCE_FEM_H

#include "base/arena.h"
#include "base/thread.h"
#include "body/reduced.h"
#include "la/block.h"

/* Items 0 .. count - 1 by all threads; pool = NULL: by the calling one. */
static inline void ds_reduce_share(ds_pool *pool, int32_t count, ds_pool_item *item, void *context) {
  if (pool) ds_pool_run(pool, count, item, context);
  for (int32_t i = 0; !pool && i < count; i++) item(context, i, 0);
}

/* A share of some work has been done. */
typedef struct ds_reduce_meter {
  ds_reduce_progress *progress; /* or NULL */
  void *user;
  const char *what;
  double from, to; /* of all work */
} ds_reduce_meter;
static inline void ds_reduce_tell(const ds_reduce_meter *meter, double share) {
  if (meter && meter->progress)
    meter->progress(meter->user, meter->what, meter->from + (meter->to - meter->from) * share);
}

/* ---- elements.c ---- */
typedef struct ds_element {
  double volume;
  ds_vec3 gradient[4]; /* of the shape functions: constant, sum = 0 */
} ds_element;
ds_element ds_element_of(const ds_vec3 *nodes, const int32_t tet[4]);
/* G = sum_a u_a gradient_aᵀ, row-major: the displacement gradient of a vector over the mesh */
ds_mat3 ds_element_gradient(const ds_element *element, const int32_t tet[4], const double *u);
/* sum_j t_ij gradient_j of corner a: force of the stress t on it, per volume */
ds_vec3 ds_element_force(const ds_element *element, const ds_mat3 *t, int corner);

/* ---- matrices.c ---- */
typedef struct ds_fem {
  const ds_tets *tets;
  double lame, shear; /* lambda and mu of Lamé, Pa */
  double density;
  ds_element *elements;
  int32_t *start, *column; /* nodes joined to a node, itself among them, ascending: rows of the matrices */
  double *stiffness;       /* 9 an entry, row-major */
  double *mass;            /* 1 an entry: times the 3 x 3 unit matrix */
} ds_fem;
/* Keeps a pointer to the tetrahedra, which must be sound. */
ds_status ds_fem_create(ds_fem *fem, const ds_tets *tets, double young, double poisson, double density,
                        ds_error *error);
void ds_fem_free(ds_fem *fem);
void ds_fem_times_stiffness(double *y, const ds_fem *fem, const double *x); /* y = K x */
void ds_fem_times_mass(double *y, const ds_fem *fem, const double *x);      /* y = M x */
static inline int32_t ds_fem_dimension(const ds_fem *fem) { return 3 * fem->tets->node_count; }

/* ---- shifted.c ---- */
typedef struct ds_shifted {
  ds_arena arena;
  ds_block_matrix *matrix;
  ds_block_matrix *views; /* one a thread, with its own workspace */
  double **work;
  double sigma;
  ds_pool *pool;
} ds_shifted;
/* Factors K + sigma M, sigma > 0. */
ds_status ds_shifted_create(ds_shifted *shifted, const ds_fem *fem, double sigma, ds_pool *pool, ds_error *error);
void ds_shifted_free(ds_shifted *shifted);
/* x := (K + sigma M)⁻¹ x for `count` vectors, one after the other in x */
void ds_shifted_solve(double *x, const ds_shifted *shifted, int32_t count);

/* ---- vectors.c ----
 * A set of vectors, orthonormal in the mass: xᵀ M y = 1 kg or 0. The first six span the rigid motions. */
enum { DS_RIGID = 6, DS_VECTORS_MAX = 512 };
typedef struct ds_vectors {
  const ds_fem *fem;
  ds_pool *pool;
  double *x; /* capacity vectors */
  int32_t count, capacity;
  double *image;  /* M times the vectors at hand */
  double *weight; /* capacity x those at hand */
  int32_t at_once;
} ds_vectors;
/* Room for the rigid motions and `capacity` more; the mesh must be in its principal frame. At most `at_once` vectors
 * are given at a time. */
ds_status ds_vectors_create(ds_vectors *set, const ds_fem *fem, ds_pool *pool, int32_t capacity, int32_t at_once,
                            ds_error *error);
void ds_vectors_free(ds_vectors *set);
double *ds_vectors_at(const ds_vectors *set, int32_t i); /* the i-th, rigid ones among them */
/* x (n vectors) -= V (Vᵀ M x), twice, V: the first `count` of the set. c (count x n, row-major; may be NULL) receives
 * Vᵀ M x. */
void ds_vectors_subtract(double *x, double *c, ds_vectors *set, int32_t n, int32_t count);
/* x (n vectors), made orthogonal to the set already, = N b with N orthonormal, in place; b (n x n, row-major, upper
 * triangular; may be NULL). A vector that depends on those before it, or is no longer than `least`, is left zero, with
 * a zero row in b. Returns how many are not. */
int32_t ds_vectors_orthonormalize(double *x, double *b, ds_vectors *set, int32_t n, double least);
/* x (count vectors of length n) := their sums with the rows of s (kept x count, row-major) as weights, kept <= count.
 */
void ds_vectors_combine(double *x, const double *s, int32_t kept, int32_t count, int32_t n, ds_pool *pool);
/* Turns m orthonormal vectors within their space until K is diagonal, lambda ascending; a holds m x m numbers, work
 * as many as a vector and m. False if that failed. */
bool ds_vectors_diagonalize(double *x, double *lambda, double *a, double *work, const ds_fem *fem, int32_t m,
                            ds_pool *pool);
double ds_vectors_dot(const double *x, const double *y, int32_t n);
/* Signs so that the first of the largest entries is positive: the same whatever the rounding. */
void ds_vectors_set_sign(double *x, int32_t n);

/* ---- modes.c ---- */
typedef struct ds_modes {
  int32_t count;
  double *lambda;  /* ascending, 1/s² */
  double *phi;     /* count vectors, orthonormal in the mass and to the rigid motions */
  double residual; /* worst |K phi - lambda M phi| / (lambda |M phi|) */
  double sigma;    /* shift that was used */
} ds_modes;
/* The `count` lowest modes that deform the body; count + 6 <= 3 nodes. */
ds_status ds_modes_find(ds_modes *modes, const ds_fem *fem, int32_t count, ds_pool *pool, const ds_reduce_meter *meter,
                        ds_error *error);
void ds_modes_free(ds_modes *modes);

/* ---- derivatives.c ---- */
/* The second derivative of the StVK forces at rest, along u and v: y = (H : u) v, symmetric in u and v. */
void ds_stvk_second(double *y, const ds_fem *fem, const double *u, const double *v);
/* d (count (count + 1) / 2 vectors, pairs i <= j in lexicographic order): K d_ij = -(H : phi_i) phi_j. */
ds_status ds_modal_derivatives(double *d, const ds_fem *fem, const ds_modes *modes, ds_pool *pool,
                               const ds_reduce_meter *meter, ds_error *error);

/* ---- basis.c ---- */
int32_t ds_stvk_linear_modes(int32_t r, int32_t possible); /* how many linear modes a basis of r is made from */
/* u: r vectors, orthonormal in the mass and to the rigid motions, along which K is diagonal (k: r, ascending). Where
 * *found comes back less than r, there is no such basis, and more modes are needed. */
ds_status ds_stvk_basis(double *u, double *k, int32_t *found, const ds_fem *fem, const ds_modes *modes, int32_t r,
                        ds_pool *pool, const ds_reduce_meter *meter, ds_error *error);

/* ---- stvk.c ---- */
/* stiffness, quadratic and cubic of reduced.h from node_basis. */
ds_status ds_stvk_polynomials(ds_reduced *reduced, const ds_fem *fem, ds_pool *pool, const ds_reduce_meter *meter,
                              ds_error *error);

/* ---- integrals.c ---- */
/* Moves the nodes to the principal frame; frame, mass, inertia of reduced.h. False if the body has no volume. */
bool ds_reduced_to_principal(ds_reduced *reduced, double density);
/* second0, second1, second2, coupling from tets and node_basis. */
ds_status ds_reduced_integrals(ds_reduced *reduced, const ds_fem *fem, ds_error *error);

#endif
