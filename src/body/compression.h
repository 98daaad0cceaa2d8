/* Deformation of a reduced body, measured on its tetrahedra: resistance to compression, which keeps bodies of St.
 * Venant and Kirchhoff from turning inside out, and whether the model is within its range (compression.c). */
#ifndef DS_BODY_COMPRESSION_H
#define DS_BODY_COMPRESSION_H

#include "body/reduced.h"

/* Builds reduced->clusters from its tetrahedra and node_basis. False if memory ran out. */
bool ds_clusters_build(ds_reduced *reduced);
void ds_clusters_free(ds_clusters *clusters);

/* The energy of compression, J; its gradient added to f (r), its second derivative to the lower triangle and the
 * diagonal of k (r x r). */
double ds_compression_energy(const ds_reduced *reduced, const double *q);
void ds_compression_force(double *f, const ds_reduced *reduced, const double *q);
void ds_compression_stiffness(double *k, const ds_reduced *reduced, const double *q);

/* How far a deformation takes the tetrahedra. */
typedef struct ds_extent {
  int32_t inverted; /* tetrahedra with a volume of zero or less */
  double
      nonlinear; /* largest |Gᵀ G|/2, spectral, G the displacement gradient: the strain that linear modes leave out */
} ds_extent;
/* Tetrahedra that certainly have nonlinear <= least and are not inverted may be left out of it; all where least is
 * infinite. */
ds_extent ds_reduced_extent(const ds_reduced *reduced, const double *q, double least);
/* Whether any tetrahedron has a volume of zero or less. */
bool ds_reduced_is_inverted(const ds_reduced *reduced, const double *q);

#endif
