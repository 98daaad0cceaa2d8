/* A deformable body that turns and vibrates.
 *
 * With P = J(q) w + C(q) q' and p = q' + C(q)ᵀ w Lagrange's equations in the body frame are (Shabana 2013, chapter 5,
 * for a basis that is orthogonal to the rigid motions)
 *
 *   P' = P x w + torque
 *   p' = 1/2 wᵀ J_q w + d/dq (wᵀ C(q) q') - f(q) - D q'.
 *
 * C_a[b] = -C_b[a] gives d/dq (wᵀ C(q) q') = -C(q')ᵀ w. Over one step w and q' are constant, and J and C are taken in
 * its middle (predict/deformable.c); the momentum Pm there is that at the start, P0, turned by half the step,
 *
 *   P0 = Pm + (k/2) w x Pm,   k = 2 tan(h |w|/2)/|w|,
 *
 * as of a rigid body (predict/rigid.c), of which this is the generalization. */
#include "body/deformable.h"

void ds_deformable_rows(double *rows, const ds_reduced *reduced, const double *q) {
  int32_t r = reduced->r, n = 3 + r;
  double c[3 * DS_REDUCED_MAX];
  ds_mat3 j;
  ds_reduced_inertia(&j, reduced, q);
  ds_reduced_coupling(c, reduced, q);
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t k = 0; k < 3; k++) rows[i * n + k] = j.m[3 * i + k];
    for (int32_t k = 0; k < r; k++) rows[i * n + 3 + k] = c[i * r + k];
  }
}

void ds_deformable_mass(double *m, const ds_reduced *reduced, const double *q) {
  int32_t n = 3 + reduced->r;
  ds_deformable_rows(m, reduced, q);
  for (int32_t i = 3; i < n; i++)
    for (int32_t k = 0; k < n; k++) m[i * n + k] = k < 3 ? m[k * n + i] : i == k ? 1 : 0;
}

/* J, and C(q) q' */
static ds_vec3 inertia_and_push(ds_mat3 *j, const ds_reduced *reduced, const double *q, const double *rate) {
  int32_t r = reduced->r;
  double c[3 * DS_REDUCED_MAX], push[3] = {0, 0, 0};
  ds_reduced_inertia(j, reduced, q);
  ds_reduced_coupling(c, reduced, q);
  for (int32_t i = 0; i < 3; i++)
    for (int32_t a = 0; a < r; a++) push[i] += c[i * r + a] * rate[a];
  return v3(push[0], push[1], push[2]);
}

ds_vec3 ds_deformable_momentum(const ds_reduced *reduced, const double *q, ds_vec3 w, const double *rate) {
  ds_mat3 j;
  ds_vec3 push = inertia_and_push(&j, reduced, q, rate);
  return v3_add(mat3_mul_v3(&j, w), push);
}

/* m⁻¹ b, or zero where m is singular */
static ds_vec3 solve3(const ds_mat3 *m, ds_vec3 b) {
  const double *a = m->m;
  ds_vec3 r0 = v3(a[0], a[1], a[2]), r1 = v3(a[3], a[4], a[5]), r2 = v3(a[6], a[7], a[8]);
  ds_vec3 c0 = v3_cross(r1, r2), c1 = v3_cross(r2, r0), c2 = v3_cross(r0, r1);
  double det = v3_dot(r0, c0);
  if (!(fabs(det) > 0)) return v3(0, 0, 0);
  return v3_scale(1 / det, v3_mad(v3_mad(v3_scale(b.x, c0), b.y, c1), b.z, c2));
}

/* The matrix of x -> J x + c (w x (J x) - P x x), the derivative of J w + c w x P at constant c */
static ds_mat3 spin_derivative(const ds_mat3 *j, ds_vec3 w, ds_vec3 p, double c) {
  ds_mat3 m;
  for (int i = 0; i < 3; i++) {
    ds_vec3 e = v3(i == 0, i == 1, i == 2), je = mat3_mul_v3(j, e);
    ds_vec3 column = v3_mad(je, c, v3_sub(v3_cross(w, je), v3_cross(p, e)));
    m.m[i] = column.x, m.m[3 + i] = column.y, m.m[6 + i] = column.z;
  }
  return m;
}

ds_vec3 ds_deformable_spin(const ds_reduced *reduced, const double *q, const double *rate, ds_vec3 momentum, double h) {
  ds_mat3 j;
  ds_vec3 push = inertia_and_push(&j, reduced, q, rate), w = solve3(&j, v3_sub(momentum, push)), best = w;
  double least = INFINITY, scale = v3_norm(momentum) + v3_norm(push);
  if (h == 0 || scale == 0) return w;
  for (int i = 0; i < 50; i++) { /* Newton */
    double speed = v3_norm(w),
           half = fmin(fmax(0.5 * h * speed, -1.4), 1.4); /* beyond a quarter turn the rate is cut */
    double c = speed > 0 ? tan(half) / speed : 0.5 * h;
    ds_vec3 p = v3_add(mat3_mul_v3(&j, w), push);
    ds_vec3 f = v3_sub(v3_mad(p, c, v3_cross(w, p)), momentum);
    double size = v3_norm(f);
    if (!(size < least)) break;
    least = size;
    best = w;
    if (size <= 1e-16 * scale) break;
    ds_mat3 m = spin_derivative(&j, w, p, c);
    w = v3_sub(w, solve3(&m, f));
  }
  return best;
}

void ds_deformable_drive(double *s, double *coupled, const ds_reduced *reduced, const double *q, ds_vec3 w,
                         const double *rate) {
  int32_t r = reduced->r;
  double c[3 * DS_REDUCED_MAX];
  ds_reduced_inertia_gradient(s, reduced, q, w);
  ds_reduced_coupling(c, reduced, rate);
  for (int32_t a = 0; a < r; a++) s[a] -= c[a] * w.x + c[r + a] * w.y + c[2 * r + a] * w.z;
  ds_reduced_coupling(c, reduced, q);
  for (int32_t a = 0; a < r; a++) coupled[a] = c[a] * w.x + c[r + a] * w.y + c[2 * r + a] * w.z;
}

double ds_deformable_energy(double *elastic, const ds_reduced *reduced, const double *q, ds_vec3 w, const double *rate,
                            double h) {
  int32_t r = reduced->r;
  double middle[DS_REDUCED_MAX] = {0}, kinetic = 0;
  for (int32_t a = 0; a < r; a++) middle[a] = q[a] - 0.5 * h * rate[a];
  if (h != 0) w = ds_deformable_spin(reduced, middle, rate, ds_deformable_momentum(reduced, q, w, rate), -h);
  ds_mat3 j;
  ds_vec3 push = inertia_and_push(&j, reduced, middle, rate);
  for (int32_t a = 0; a < r; a++) kinetic += 0.5 * rate[a] * rate[a];
  *elastic += ds_reduced_energy(reduced, middle);
  return kinetic + 0.5 * v3_dot(w, mat3_mul_v3(&j, w)) + v3_dot(w, push);
}
