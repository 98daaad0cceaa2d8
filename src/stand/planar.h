/* Structures in a plane: bounds of friction that hold in every solution.
 *
 * Along an axis x_k all normals are level, and so are loads, and the assembly is its own mirror image. In the plane of
 * the other two axes every solution a, r of M a = w + G r has aᵀMa = wᵀa - sum_J mu_J R_J |t_J|, with the normal force
 * R_J of joint J and its slip t_J, the same at all points of a straight joint. Let rho_J <= R_J hold in every solution.
 * If forces f with G f = -w, f_N >= 0 exist whose tangential sums are |F_J| <= mu_J rho_J, then wᵀa = -sum f.u <= sum_J
 * |F_J| |t_J|, so that aᵀMa <= 0: every solution is at rest.
 *
 * Bounds: rho_I = -yᵀw - qᵀM⁻¹q / (4 alpha), q = M y - N pi - alpha w + T beta, is one for any motion y with
 * c - Gᵀy in K* (c = 1 along the normals of I), pi >= 0, alpha > 0, |beta_J| <= alpha mu_J rho_J: the Lagrangian of
 * min R_I over a, r with r in K, Nᵀa >= 0 and aᵀMa + sum mu_J rho_J |t_J| <= wᵀa. Starting from rho = 0 each bound
 * makes the next ones better. */
#ifndef DS_STAND_PLANAR_H
#define DS_STAND_PLANAR_H

#include "base/arena.h"
#include "drystone/stand.h"

/* One bound and its multipliers. Rotations are about the axis, velocities those of the centres, in the order of the
 * other two axes; supports have none. */
typedef struct ds_planar_bound {
  int32_t interface;
  double rho, alpha;
  double *y;    /* 3 x blocks */
  double *pi;   /* points */
  double *beta; /* interfaces */
} ds_planar_bound;

typedef struct ds_planar_proof {
  int32_t axis; /* 0, 1, 2 */
  ds_planar_bound *bounds;
  int32_t bound_count, bound_capacity;
  double *normal, *tangent; /* points: the forces f along the normal and a quarter turn from it */
} ds_planar_proof;

/* Tries to prove that every solution is at rest; sets verdict, reason and `planar`. False where memory ran out. */
bool ds_planar_stands(ds_arena *arena, ds_stand *stand, const ds_assembly *assembly);
void ds_planar_free(ds_planar_proof *proof);
/* Whether there is a plane across the axis that all centres of free blocks are in, and whose two sides are alike. */
#define DS_SAME_PLACE 1e-9 /* m: distance of points that are the same but for rounding */
bool ds_is_mirrored(const ds_assembly *assembly, int32_t axis);
/* Whether the proof holds: bounds beyond rounding, forces but for a rest as of ds_prove_forces. */
bool ds_prove_planar(double *residual, const ds_assembly *assembly, const ds_planar_proof *proof, char *fault);

#endif
