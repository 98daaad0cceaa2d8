/* The midpoint rule of a rigid body, which conserves energy and momentum: with the mean velocities v, W of a step of h
 * (W in the body frame of its start), half-impulses rho and k = 2 tan(h |W|/2)/|W|,
 *
 *   x+ = x + h v,   R+ = R exp(h W),
 *   m v = m v0 + (h/2) f + sum rho,
 *   F(W) = (1 - (k/2) W^)⁻¹ (P0(W) - P) = Rᵀ ((h/2) torque + sum (k/h) a x rho),   P0(W) = I W - (k/2) (I W x W),
 *   v+ = 2 v - v0,   P+ = 2 I W - P,
 *
 * a the mean of the lever arms at start and end. The work of the impulses is sum 2 rho . s/h exactly, s the
 * displacement of the material point: what sticks or rolls does none. Without impulses F(W) = 0 is ds_free_spin
 * (rigid.c).
 *
 * The solver knows W = W_p + I⁻¹ torque only; so W_p is taken from a known W as Newton's method with the derivative I
 * would have it, and both are repeated (assemble/refine.c). */
#include "predict/predict.h"

/* F(W) */
static ds_vec3 surplus(ds_vec3 inertia, ds_vec3 momentum, ds_vec3 w, double h) {
  double rate = v3_norm(w), half = fmin(0.5 * h * rate, DS_HALF_TURN),
         c = rate > 0 ? tan(half) / rate : 0.5 * h; /* k/2 */
  ds_vec3 p = v3_mul(inertia, w), a = v3_scale(c, w);
  ds_vec3 z = v3_sub(v3_mad(p, -c, v3_cross(p, w)), momentum);
  ds_vec3 y = v3_mad(v3_add(z, v3_cross(a, z)), v3_dot(a, z), a);
  return v3_scale(1 / (1 + v3_norm2(a)), y);
}

ds_vec3 ds_midpoint_spin(ds_vec3 inertia, ds_vec3 momentum, ds_vec3 half_torque, ds_vec3 w, double h) {
  ds_vec3 f = v3_sub(surplus(inertia, momentum, w, h), half_torque);
  return v3_sub(w, v3(f.x / inertia.x, f.y / inertia.y, f.z / inertia.z));
}
