/* Proofs: what is claimed of an assembly holds for its numbers as they are, beyond rounding.
 *
 * A force f = s n + t at a point is in the cone where f.n >= 0 and |f|² |n|² <= (1 + mu²) (f.n)²; a relative velocity u
 * is in the dual cone where u.n >= 0 and (u.n)² (1 + mu²) >= mu² |u|² |n|²: no roots. Both are computed with twice the
 * digits and a bound of the error, 2⁻⁹⁸ of the sum of all terms. Where an interface has tension T, f + T n is in the
 * cone, and T u.n is taken from the power of the loads; where points crush at a force P, s <= P, u + z n is in the dual
 * cone for some z >= 0, and (P + T) z is taken. */
#ifndef DS_STAND_PROOF_H
#define DS_STAND_PROOF_H

#include "drystone/stand.h"

enum { DS_FAULT_LENGTH = 256 }; /* of messages */
/* Rests of an equilibrium that is accepted, in weights of a block: the rounding of forces written as vectors. */
#define DS_ACCEPTED_REST 1e-9

/* Whether the motion obeys every interface and the loads do work on it: then no forces hold the assembly at rest. The
 * fault may be NULL. */
bool ds_prove_mechanism(const ds_assembly *assembly, const ds_twist *twist, char *fault);
/* The rate at which a motion crushes point k of an interface, m/s along its normal, rounded up: 0 where it separates as
 * friction asks, or where its strength has no limit. Its power is strength times rate. */
double ds_crush_rate(const ds_assembly *assembly, const ds_twist *twist, int32_t interface, int32_t k);
/* Whether all forces normal[k] n + friction[k] are in their cones, and the largest unbalanced force or torque of a
 * block over its weight and radius (those of the mean block at least). friction may be NULL: none. */
bool ds_prove_forces(double *residual, const ds_assembly *assembly, const double *normal, const ds_vec3 *friction,
                     char *fault);

#endif
