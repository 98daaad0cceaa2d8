/* The mechanics of one free deformable body: momentum, energy, rotation. Notation of reduced.h; velocities w are in the
 * body frame. Nothing allocates. */
#ifndef DS_BODY_DEFORMABLE_H
#define DS_BODY_DEFORMABLE_H

#include "body/reduced.h"

/* The rotational rows (J(q) C(q)) of the mass matrix: 3 x (3 + r), row-major. */
void ds_deformable_rows(double *rows, const ds_reduced *reduced, const double *q);
/* The mass matrix without its translational part, (3 + r)² row-major: J C; Cᵀ 1. */
void ds_deformable_mass(double *m, const ds_reduced *reduced, const double *q);

/* P = J(q) w + C(q) q' */
ds_vec3 ds_deformable_momentum(const ds_reduced *reduced, const double *q, ds_vec3 w, const double *rate);

/* The angular velocity, constant over a step of h, that turns a body of momentum P at its start: J w + C q' = P for h =
 * 0. Backward from the end for h < 0. */
ds_vec3 ds_deformable_spin(const ds_reduced *reduced, const double *q, const double *rate, ds_vec3 momentum, double h);

/* What drives q besides elasticity: s = 1/2 wᵀ J_q w + d/dq (wᵀ C(q) q'), and Cᵀ w. */
void ds_deformable_drive(double *s, double *coupled, const ds_reduced *reduced, const double *q, ds_vec3 w,
                         const double *rate);

/* Kinetic energy of rotation and deformation; the elastic one is added to *elastic. Rates are means over the step just
 * done, and what is conserved is the energy in its middle: h is that step, or 0. */
double ds_deformable_energy(double *elastic, const ds_reduced *reduced, const double *q, ds_vec3 w, const double *rate,
                            double h);

#endif
