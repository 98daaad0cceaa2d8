/* Torque-free rotation over one step, conserving energy and angular momentum to rounding.
 *
 * The implicit midpoint rule in the body frame, P1 - P0 = k Pm x wm with Pm = (P0 + P1)/2 and wm = I⁻¹ Pm, conserves
 * |P| and the energy for any k, and P1 = cay(-k wm) P0: the body turns by the angle 2 atan(k |wm|/2) about wm while its
 * momentum stands still in space. With k = 2 tan(h |wm|/2)/|wm| that angle is h |wm|, so that the exponential map with
 * the constant angular velocity wm is the exact companion: both conservation laws hold and a body that spins about a
 * principal axis spins at its true rate, whatever the step. Accuracy is of second order. */
#include "predict/predict.h"

ds_vec3 ds_free_spin(ds_vec3 inertia, ds_vec3 momentum, double h) {
  ds_vec3 w = v3(momentum.x / inertia.x, momentum.y / inertia.y, momentum.z / inertia.z);
  if (v3_norm2(w) == 0) return w;
  /* Newton on F(w) = I w - P0 - (k/2) (I w x w) = 0, with k frozen in the derivative */
  ds_vec3 best = w;
  double least = INFINITY, scale = v3_norm(momentum);
  for (int i = 0; i < 50; i++) {
    double rate = v3_norm(w), half = fmin(0.5 * h * rate, DS_HALF_TURN);
    double c = rate > 0 ? tan(half) / rate : 0.5 * h; /* k/2 */
    ds_vec3 p = v3_mul(inertia, w);
    ds_vec3 f = v3_sub(v3_sub(p, momentum), v3_scale(c, v3_cross(p, w)));
    double size = v3_norm(f);
    if (!(size < least)) break;
    least = size;
    best = w;
    if (size <= 1e-16 * scale) break;
    /* dF = I - c (d(p x w)) ; d(p x w) = (I dw) x w + p x dw */
    double a = inertia.x, b = inertia.y, d = inertia.z;
    double m[9] = {a, -c * (b - d) * w.z, -c * (b - d) * w.y, -c * (d - a) * w.z,
                   b, -c * (d - a) * w.x, -c * (a - b) * w.y, -c * (a - b) * w.x,
                   d};
    double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    double det = m[0] * c0 + m[1] * c1 + m[2] * c2;
    if (!(fabs(det) > 0)) break;
    ds_vec3 dw = v3((c0 * f.x + (m[2] * m[7] - m[1] * m[8]) * f.y + (m[1] * m[5] - m[2] * m[4]) * f.z) / det,
                    (c1 * f.x + (m[0] * m[8] - m[2] * m[6]) * f.y + (m[2] * m[3] - m[0] * m[5]) * f.z) / det,
                    (c2 * f.x + (m[1] * m[6] - m[0] * m[7]) * f.y + (m[0] * m[4] - m[1] * m[3]) * f.z) / det);
    w = v3_sub(w, dw);
  }
  return best;
}
