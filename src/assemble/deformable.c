/* A deformable body in the contact problem: its metric and its contact rows.
 *
 * The metric of rotation and deformation, (w, q') of size n = 3 + r, is L Lᵀ = M(q) or, as the implicit integrator has
 * it, M(q) + gamma h D + beta h² K in the q block (docs/deformables.md says when to use which). The row of direction d
 * at a point of the surface with anchor (triangle, s, t) is
 *
 *   (d/sqrt(m), L⁻¹ (Rᵀ (arm x d), Uᵀ Rᵀ d)),
 *
 * with U interpolated between the corners. The arm leads to the contact's point, which lies between the two surfaces
 * and is the same for both bodies, so that impulses keep the angular momentum. Where a body touches itself the rows of
 * the two points are subtracted: what moves the body as a whole drops out.
 *
 * The tangent of a St. Venant-Kirchhoff body is indefinite where it is pressed together, and a step along a direction
 * of negative stiffness is unbounded: the implicit matrix has the positive part of the tangent. */
#include <math.h>
#include <string.h>

#include "assemble/assemble.h"
#include "body/deformable.h"
#include "la/eigen.h"
#include "la/small.h"

/* What a step cannot follow is damped: delta = damping x / (pi² + x), x = (h omega)², in the frequencies of the
 * undeformed body; pi is half a period per step. */
static void fill_newmark(ds_newmark *newmark, const ds_reduced *reduced, const ds_options *options) {
  for (int32_t i = 0; i < reduced->r; i++) {
    double x = newmark->h * newmark->h * reduced->stiffness[i * reduced->r + i];
    double delta = options->newmark_damping * x / (DS_PI * DS_PI + x);
    newmark->root_beta[i] = 0.5 * (1 + delta);
    newmark->root_gamma[i] = sqrt(0.5 + 0.5 * delta);
    newmark->root_delta[i] = sqrt(delta);
  }
}

/* M + gamma h (a + b K0) + beta h² K */
static void fill_implicit(double *m, const double *tangent, const ds_reduced *reduced, const double *q,
                          const ds_newmark *newmark) {
  int32_t r = reduced->r, n = 3 + r;
  double h = newmark->h;
  ds_deformable_mass(m, reduced, q);
  for (int32_t i = 0; i < r; i++) {
    double *row = m + (3 + i) * n + 3;
    double viscous = h * newmark->root_gamma[i], elastic = h * h * newmark->root_beta[i];
    row[i] += viscous * newmark->root_gamma[i] * reduced->info.damping_mass;
    for (int32_t k = 0; k < r; k++)
      row[k] += viscous * newmark->root_gamma[k] * reduced->info.damping_stiffness * reduced->stiffness[i * r + k] +
                elastic * newmark->root_beta[k] * tangent[i * r + k];
  }
}

/* The part of a tangent with eigenvalues that are not negative; that of the undeformed body if they cannot be computed.
 * The scratch holds r x r. */
static void make_positive(double *tangent, double *scratch, const ds_reduced *reduced) {
  int32_t r = reduced->r;
  size_t bytes = (size_t)r * (size_t)r * sizeof(double);
  double w[DS_REDUCED_MAX], work[DS_REDUCED_MAX];
  memcpy(scratch, tangent, bytes);
  if (ds_small_cholesky(scratch, r)) return;
  memcpy(scratch, tangent, bytes);
  if (!ds_symmetric_eigen(scratch, w, work, r)) {
    memcpy(tangent, reduced->stiffness, bytes);
    return;
  }
  memset(tangent, 0, bytes);
  for (int32_t e = 0; e < r; e++) {
    const double *z = scratch + e * r;
    for (int32_t i = 0; w[e] > 0 && i < r; i++)
      for (int32_t k = 0; k < r; k++) tangent[i * r + k] += w[e] * z[i] * z[k];
  }
}

void ds_implicit_factor(double *factor, double *tangent, const double *stiffer, const ds_reduced *reduced,
                        const double *q, const ds_newmark *newmark) {
  if (reduced->quadratic) make_positive(tangent, factor, reduced);
  for (int32_t i = 0; stiffer && i < reduced->r * reduced->r; i++) tangent[i] += stiffer[i];
  fill_implicit(factor, tangent, reduced, q, newmark);
  ds_small_cholesky(factor, 3 + reduced->r);
}

static void new_newmark(ds_newmark *newmark, ds_arena *arena, double h, size_t r) {
  newmark->h = h;
  newmark->root_beta = DS_NEW(arena, double, r);
  newmark->root_gamma = DS_NEW(arena, double, r);
  newmark->root_delta = DS_NEW(arena, double, r);
}

bool ds_new_deformable(ds_arena *arena, ds_step_body *step, const ds_state *state, const ds_options *options) {
  const ds_reduced *reduced = step->body->reduced;
  size_t r = (size_t)reduced->r, n = 3 + r;
  ds_step_deformable *d = DS_NEW0(arena, ds_step_deformable, 1);
  if (!d) return false;
  *d = (ds_step_deformable){
      .reduced = reduced, .q = step->q, .rate_before = step->rate_before, .stiffer = step->stiffer};
  d->rows = DS_NEW(arena, double, 3 * n);
  d->tangent = DS_NEW(arena, double, r *r);
  d->implicit = DS_NEW(arena, double, n *n);
  d->factor = options->metric == DS_METRIC_EFFECTIVE ? d->implicit : DS_NEW(arena, double, n *n);
  d->columns = DS_NEW(arena, double, n *n);
  d->rate = DS_NEW0(arena, double, r);
  new_newmark(&d->newmark, arena, options->step, r);
  new_newmark(&d->newmark_before, arena, state->reduced_step, r);
  if (options->newton > 1) {
    d->again_tangent = DS_NEW(arena, double, r *r);
    d->again_implicit = DS_NEW(arena, double, n *n);
  }
  step->own = d;
  step->rate = d->rate;
  step->size = 6 + reduced->r;
  return !ds_arena_failed(arena);
}

void ds_fill_deformable(ds_step_deformable *d, const ds_options *options) {
  int32_t n = 3 + d->reduced->r;
  ds_deformable_rows(d->rows, d->reduced, d->q);
  ds_reduced_stiffness(d->tangent, d->reduced, d->q);
  fill_newmark(&d->newmark, d->reduced, options);
  fill_newmark(&d->newmark_before, d->reduced, options);
  ds_implicit_factor(d->implicit, d->tangent, d->stiffer, d->reduced, d->q, &d->newmark);
  if (d->factor != d->implicit) {
    ds_deformable_mass(d->factor, d->reduced, d->q);
    ds_small_cholesky(d->factor, n);
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k <= i; k++) d->columns[k * n + i] = d->factor[i * n + k];
}

void ds_scale_deformable(double *out, const ds_step_deformable *d, ds_vec3 w, const double *rate) {
  int32_t n = 3 + d->reduced->r;
  out[0] = w.x, out[1] = w.y, out[2] = w.z;
  memcpy(out + 3, rate, (size_t)(n - 3) * sizeof(double));
  for (int32_t i = 0; i < n; i++) { /* Lᵀ, row by row: row i needs only what is below it; the diagonal is reciprocal */
    double sum = out[i] / d->factor[i * n + i];
    for (int32_t k = i + 1; k < n; k++) sum += d->factor[k * n + i] * out[k];
    out[i] = sum;
  }
}

ds_vec3 ds_unscale_deformable(double *rate, const ds_step_deformable *d, const double *in) {
  int32_t n = 3 + d->reduced->r;
  double x[3 + DS_REDUCED_MAX];
  memcpy(x, in, (size_t)n * sizeof(double));
  ds_small_solve_lt(x, d->factor, n);
  if (rate) memcpy(rate, x + 3, (size_t)(n - 3) * sizeof(double));
  return v3(x[0], x[1], x[2]);
}

/* The weights of a triangle's corners at an anchor. */
static void anchor_weights(double weight[3], ds_anchor anchor) {
  weight[0] = 1 - anchor.s - anchor.t, weight[1] = anchor.s, weight[2] = anchor.t;
}

ds_vec3 ds_deformable_stir(const ds_step_body *body, ds_anchor anchor, const double *rate) {
  const ds_reduced *reduced = body->body->reduced;
  int32_t r = reduced->r;
  double weight[3], local[3] = {0, 0, 0};
  if (anchor.triangle < 0) return v3(0, 0, 0);
  anchor_weights(weight, anchor);
  for (int corner = 0; corner < 3; corner++) {
    const double *u = reduced->basis + 3 * r * reduced->surface.triangles[3 * anchor.triangle + corner];
    for (int i = 0; i < 3; i++)
      for (int32_t a = 0; a < r; a++) local[i] += weight[corner] * u[i * r + a] * rate[a];
  }
  return mat3_mul_v3(&body->rotation, v3(local[0], local[1], local[2]));
}

/* Three right-hand sides at once, x := L⁻¹ x, column by column: the innermost loop runs along memory. */
static void solve_three(double *restrict x, double *restrict y, double *restrict z, const double *columns, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    const double *l = columns + k * n;
    double a = x[k] *= l[k], b = y[k] *= l[k], c = z[k] *= l[k];
    for (int32_t i = k + 1; i < n; i++) x[i] -= a * l[i], y[i] -= b * l[i], z[i] -= c * l[i];
  }
}

/* Adds Uᵀ d for three directions d, in the body frame. */
static void add_deformation(double *const row[3], const ds_reduced *reduced, ds_anchor anchor, const ds_vec3 d[3]) {
  int32_t r = reduced->r;
  double weight[3];
  anchor_weights(weight, anchor);
  for (int corner = 0; corner < 3 && anchor.triangle >= 0; corner++) {
    if (weight[corner] == 0) continue;
    const double *u = reduced->basis + 3 * r * reduced->surface.triangles[3 * anchor.triangle + corner];
    for (int k = 0; k < 3; k++) {
      double x = weight[corner] * d[k].x, y = weight[corner] * d[k].y, z = weight[corner] * d[k].z;
      double *restrict to = row[k];
      for (int32_t a = 0; a < r; a++) to[a] += x * u[a] + y * u[r + a] + z * u[2 * r + a];
    }
  }
}

void ds_deformable_contact_rows(double *g, const ds_step_body *body, ds_vec3 arm, ds_anchor anchor,
                                const ds_anchor *itself, const ds_contact_frame *f, double sign) {
  const ds_step_deformable *deformable = body->own;
  const ds_vec3 directions[3] = {v3_scale(sign, f->normal), v3_scale(sign, f->t1), v3_scale(sign, f->t2)};
  int32_t n = 3 + deformable->reduced->r;
  double m = itself ? 0 : body->inverse_root_mass;
  double *row[3] = {g, g + 3 + n, g + 2 * (3 + n)}, *deformation[3];
  ds_vec3 local[3], opposite[3];
  memset(g, 0, 3 * (size_t)(3 + n) * sizeof(double));
  for (int k = 0; k < 3; k++) {
    ds_vec3 d = directions[k], lever = mat3_tmul_v3(&body->rotation, v3_cross(arm, d));
    row[k][0] = m * d.x, row[k][1] = m * d.y, row[k][2] = m * d.z;
    if (!itself) row[k][3] = lever.x, row[k][4] = lever.y, row[k][5] = lever.z;
    local[k] = mat3_tmul_v3(&body->rotation, d);
    opposite[k] = v3_neg(local[k]);
    deformation[k] = row[k] + 6;
  }
  add_deformation(deformation, deformable->reduced, anchor, local);
  if (itself) add_deformation(deformation, deformable->reduced, *itself, opposite);
  solve_three(row[0] + 3, row[1] + 3, row[2] + 3, deformable->columns, n);
}

void ds_deformable_row(double *row, const ds_step_body *body, ds_vec3 force, ds_vec3 torque, ds_anchor anchor) {
  const ds_step_deformable *deformable = body->own;
  const ds_reduced *reduced = deformable->reduced;
  ds_vec3 lever = mat3_tmul_v3(&body->rotation, torque), local = mat3_tmul_v3(&body->rotation, force);
  int32_t r = reduced->r;
  double weight[3], m = body->inverse_root_mass;
  memset(row, 0, (size_t)body->size * sizeof(double));
  row[0] = m * force.x, row[1] = m * force.y, row[2] = m * force.z;
  row[3] = lever.x, row[4] = lever.y, row[5] = lever.z;
  anchor_weights(weight, anchor);
  for (int k = 0; k < 3 && anchor.triangle >= 0; k++) {
    const double *u = reduced->basis + 3 * r * reduced->surface.triangles[3 * anchor.triangle + k];
    for (int32_t a = 0; a < r; a++)
      row[6 + a] += weight[k] * (local.x * u[a] + local.y * u[r + a] + local.z * u[2 * r + a]);
  }
  ds_small_solve_l(row + 3, deformable->factor, 3 + r);
}
