/* Friction projection [SP08 eq. 18, 24], in its dual form: min 1/2 |v - v_hat|² + sum_k R_k |D_kᵀ v - b_T|, R_k = mu_k
 * alpha_k.
 *
 * With t_k >= |y_k|, y = Dᵀ v - b_T, and multipliers zeta = (R_k, beta_k): v = v_hat + D beta, and (t, y) and (R, beta)
 * are complementary in the Lorentz cone. The first multiplier is fixed, so that t is eliminated contact by contact;
 * what is left is
 *
 *   (I + D S Dᵀ) dv = D h,   d_beta = h - S Dᵀ dv,   S = B_TT - B_T0 B_0T/B_00,   h = d_T - B_T0 d_0/B_00,
 *
 * B = W² the Nesterov-Todd scaling. The start beta = 0, t > |y| is feasible, so no residual is carried along. With
 * B = eta² (2 w wᵀ - diag(1, -1, -1)), w_0² = 1 + |w_T|², what is needed of it has a closed form without cancellation:
 *
 *   S = eta² f (1 + 2 w_2², -2 w_1 w_2; -2 w_1 w_2, 1 + 2 w_1²),   B_T0/B_00 = 2 w_0 f w_T,   f = 1/(1 + 2 |w_T|²).
 *
 * The polygon of k samples [SP08 eq. 7] has k inequalities t >= -d_jᵀ y with multipliers zeta_j >= 0, sum zeta_j = R,
 * beta = sum zeta_j d_j, and w_j = zeta_j/s_j in place of B:
 *   S = sum w_j d_j d_jᵀ - (sum w_j d_j)(sum w_j d_j)ᵀ / sum w_j. */
#include <math.h>

#include "la/lorentz.h"
#include "la/vec3.h"
#include "project/polish.h"
#include "project/projections.h"

/* The Nesterov-Todd scaling of a contact, with the inverses that every step needs. */
typedef struct disk {
  double w[3], eta, inverse_eta, inverse_1_w0;
  double lambda[3], inverse_lambda0, inverse_det; /* W z = W⁻¹ x, 1/lambda_0, 1/(lambda_0² - |lambda_T|²) */
  double g[2], inverse_b00;                       /* B_T0/B_00, 1/B_00 */
  double s[3];                                    /* S_11, S_12, S_22 */
} disk;

typedef struct friction {
  const ds_subproblem *p;
  ds_system *system;
  int32_t n, samples;
  int32_t *contact;   /* n: contacts with R > 0 */
  double *radius;     /* n: R */
  double *beta, *y;   /* 2 n */
  double *t;          /* n */
  double *dbeta, *dt; /* steps */
  double *dy;
  double *zeta, *dzeta; /* polygon: samples a contact; s_j = t + d_jᵀ y is recomputed */
  disk *disks;
  double *h;                  /* 2 n */
  double *d0;                 /* n: d_0 (disk) or sum of e_j (polygon) */
  double *direction;          /* 2 x samples: the corners */
  double *c, *full, *gv, *dv; /* of all contacts: 9, 2, 2 a contact; dof */
} friction;

/* v += D x, x a 2-vector for every contact with R > 0 */
static void add_impulse(friction *q, double *v, const double *x) {
  if (q->n < q->p->contact_count) memset(q->full, 0, 2 * (size_t)q->p->contact_count * sizeof(double));
  for (int32_t i = 0; i < q->n; i++) {
    q->full[2 * q->contact[i]] = x[2 * i];
    q->full[2 * q->contact[i] + 1] = x[2 * i + 1];
  }
  ds_subproblem_add_part(v, q->p, q->full, DS_ROWS_TANGENT);
}

/* y = Dᵀ v - b_T; returns the natural-map error |beta - P(beta - rho y)|, relative */
static double residual(friction *q, const double *v) {
  double sum = 0, norm = 0, rho = q->p->rho;
  ds_subproblem_times_part(q->gv, q->p, v, DS_ROWS_TANGENT);
  for (int32_t i = 0; i < q->n; i++) {
    int32_t k = q->contact[i];
    double z[2], m[2], *beta = q->beta + 2 * i, *y = q->y + 2 * i, radius = q->radius[i];
    for (int c = 0; c < 2; c++) {
      y[c] = q->gv[2 * k + c] - q->p->b[3 * k + 1 + c];
      z[c] = m[c] = beta[c] - rho * y[c];
    }
    double square = z[0] * z[0] + z[1] * z[1];
    if (q->samples) {
      ds_polygon_project(m, NULL, z, radius, q->samples);
    } else if (square > radius * radius) {
      double f = radius / sqrt(square);
      m[0] *= f, m[1] *= f;
    }
    sum += (beta[0] - m[0]) * (beta[0] - m[0]) + (beta[1] - m[1]) * (beta[1] - m[1]);
    norm += radius * radius;
  }
  double scale = fmax(sqrt(norm), rho * q->p->target);
  double error = sum > 0 ? sqrt(sum) / scale : 0;
  return isfinite(error) ? error : INFINITY;
}

/* --- disk --- */

static bool disk_scale(friction *q, int32_t i) {
  disk *k = &q->disks[i];
  const double *x = q->beta + 2 * i, *z = q->y + 2 * i;
  double x0 = q->radius[i], z0 = q->t[i];
  double lx = sqrt(x[0] * x[0] + x[1] * x[1]), lz = sqrt(z[0] * z[0] + z[1] * z[1]);
  double dx = (x0 - lx) * (x0 + lx), dz = (z0 - lz) * (z0 + lz);
  if (!(dx > 1e-280) || !(dz > 1e-280)) return false; /* not inside, or its slack underflows */
  double rx = sqrt(dx), rz = sqrt(dz), inverse = 1 / (rx * rz), sx = rz * inverse, sz = rx * inverse;
  double gamma = sqrt(0.5 * (1 + (x0 * z0 + x[0] * z[0] + x[1] * z[1]) * inverse)), half = 0.5 / gamma;
  double w0 = k->w[0] = (sx * x0 + sz * z0) * half;
  double w1 = k->w[1] = (sx * x[0] - sz * z[0]) * half, w2 = k->w[2] = (sx * x[1] - sz * z[1]) * half;
  double e2 = rx * sz, eta = k->eta = sqrt(e2);
  k->inverse_eta = 1 / eta;
  k->inverse_1_w0 = 1 / (1 + w0);
  double dot = w1 * z[0] + w2 * z[1], along = z0 + dot * k->inverse_1_w0;
  k->lambda[0] = eta * (w0 * z0 + dot);
  k->lambda[1] = eta * (z[0] + along * w1), k->lambda[2] = eta * (z[1] + along * w2);
  k->inverse_lambda0 = 1 / k->lambda[0];
  k->inverse_det = inverse;
  double f = 1 / (1 + 2 * (w1 * w1 + w2 * w2));
  k->g[0] = 2 * w0 * f * w1, k->g[1] = 2 * w0 * f * w2;
  k->inverse_b00 = f / e2;
  k->s[0] = e2 * f * (1 + 2 * w2 * w2), k->s[1] = -2 * e2 * f * w1 * w2, k->s[2] = e2 * f * (1 + 2 * w1 * w1);
  return true;
}

/* d = W (lambda \ (centre e - lambda o lambda - (W⁻¹ dx) o (W dz))) = -x + W (lambda \ (centre e - ...)); the affine
 * step has d = -x. */
static void disk_rhs(friction *q, int32_t i, double centre, bool corrector) {
  const disk *k = &q->disks[i];
  double d0 = -q->radius[i], d1 = -q->beta[2 * i], d2 = -q->beta[2 * i + 1];
  if (corrector) {
    const double *w = k->w, *l = k->lambda, *dx = q->dbeta + 2 * i, *dz = q->dy + 2 * i;
    double dt = q->dt[i], dot = w[1] * dx[0] + w[2] * dx[1], along = dot * k->inverse_1_w0;
    double a0 = -k->inverse_eta * dot; /* a = W⁻¹ dx, dx_0 = 0 */
    double a1 = k->inverse_eta * (dx[0] + along * w[1]), a2 = k->inverse_eta * (dx[1] + along * w[2]);
    dot = w[1] * dz[0] + w[2] * dz[1], along = dt + dot * k->inverse_1_w0; /* b = W dz */
    double b0 = k->eta * (w[0] * dt + dot), b1 = k->eta * (dz[0] + along * w[1]), b2 = k->eta * (dz[1] + along * w[2]);
    double r0 = centre - (a0 * b0 + a1 * b1 + a2 * b2), r1 = -(a0 * b1 + b0 * a1), r2 = -(a0 * b2 + b0 * a2);
    double p0 = (l[0] * r0 - l[1] * r1 - l[2] * r2) * k->inverse_det; /* lambda o p = r */
    double p1 = (r1 - p0 * l[1]) * k->inverse_lambda0, p2 = (r2 - p0 * l[2]) * k->inverse_lambda0;
    dot = w[1] * p1 + w[2] * p2, along = p0 + dot * k->inverse_1_w0;
    d0 += k->eta * (w[0] * p0 + dot), d1 += k->eta * (p1 + along * w[1]), d2 += k->eta * (p2 + along * w[2]);
  }
  q->d0[i] = d0;
  q->h[2 * i] = d1 - k->g[0] * d0;
  q->h[2 * i + 1] = d2 - k->g[1] * d0;
}

static void disk_rest(friction *q, int32_t i) {
  const disk *k = &q->disks[i];
  q->dt[i] = q->d0[i] * k->inverse_b00 - k->g[0] * q->dy[2 * i] - k->g[1] * q->dy[2 * i + 1];
}

/* a + t d inside the cone */
static inline bool is_inside(double a0, double d0, const double a[2], const double d[2], double t) {
  double p0 = a0 + t * d0, p1 = a[0] + t * d[0], p2 = a[1] + t * d[1];
  return p0 >= 0 && p0 * p0 >= p1 * p1 + p2 * p2;
}

/* The cone is convex: where a step of `longest` stays inside there is nothing to compute. */
static double disk_step(const friction *q, int32_t i, double longest) {
  const double *beta = q->beta + 2 * i, *dbeta = q->dbeta + 2 * i, *y = q->y + 2 * i, *dy = q->dy + 2 * i;
  if (!is_inside(q->radius[i], 0, beta, dbeta, longest)) {
    double x[3] = {q->radius[i], beta[0], beta[1]}, dx[3] = {0, dbeta[0], dbeta[1]}, t = ds_lorentz_step(x, dx);
    longest = t < longest ? t : longest;
  }
  if (!is_inside(q->t[i], q->dt[i], y, dy, longest)) {
    double z[3] = {q->t[i], y[0], y[1]}, dz[3] = {q->dt[i], dy[0], dy[1]}, t = ds_lorentz_step(z, dz);
    longest = t < longest ? t : longest;
  }
  return longest;
}

static double disk_gap(const friction *q, int32_t i, double t) {
  double sum = q->radius[i] * (q->t[i] + t * q->dt[i]);
  for (int c = 0; c < 2; c++)
    sum += (q->beta[2 * i + c] + t * q->dbeta[2 * i + c]) * (q->y[2 * i + c] + t * q->dy[2 * i + c]);
  return sum;
}

/* --- polygon: d_j are the corners; t >= -d_jᵀ y because beta_j d_j opposes y --- */

static double sample_dot(const friction *q, const double *y, int32_t j) {
  return q->direction[2 * j] * y[0] + q->direction[2 * j + 1] * y[1];
}

static bool polygon_scale(friction *q, int32_t i, double *s) {
  double sw = 0, a[2] = {0, 0}, m[4] = {0, 0, 0, 0};
  for (int32_t j = 0; j < q->samples; j++) {
    double slack = q->t[i] + sample_dot(q, q->y + 2 * i, j), w = q->zeta[i * q->samples + j] / slack;
    const double *d = q->direction + 2 * j;
    if (!(slack > 0) || !isfinite(w)) return false;
    sw += w;
    a[0] += w * d[0], a[1] += w * d[1];
    m[0] += w * d[0] * d[0], m[1] += w * d[0] * d[1], m[3] += w * d[1] * d[1];
  }
  s[0] = m[0] - a[0] * a[0] / sw, s[1] = s[2] = m[1] - a[0] * a[1] / sw, s[3] = m[3] - a[1] * a[1] / sw;
  return sw > 0;
}

static void polygon_rhs(friction *q, int32_t i, double centre, bool corrector) {
  double sw = 0, se = 0, a[2] = {0, 0}, f[2] = {0, 0};
  for (int32_t j = 0; j < q->samples; j++) {
    const double *d = q->direction + 2 * j;
    double zeta = q->zeta[i * q->samples + j], slack = q->t[i] + sample_dot(q, q->y + 2 * i, j);
    double rhs = centre / q->samples - slack * zeta;
    if (corrector) rhs -= q->dzeta[i * q->samples + j] * (q->dt[i] + sample_dot(q, q->dy + 2 * i, j));
    double e = rhs / slack, w = zeta / slack;
    sw += w, se += e;
    a[0] += w * d[0], a[1] += w * d[1];
    f[0] += e * d[0], f[1] += e * d[1];
    q->dzeta[i * q->samples + j] = e; /* completed in polygon_rest */
  }
  q->d0[i] = se;
  q->h[2 * i] = f[0] - a[0] * se / sw;
  q->h[2 * i + 1] = f[1] - a[1] * se / sw;
}

static void polygon_rest(friction *q, int32_t i) {
  double sw = 0, ay = 0;
  for (int32_t j = 0; j < q->samples; j++) {
    double w = q->zeta[i * q->samples + j] / (q->t[i] + sample_dot(q, q->y + 2 * i, j));
    sw += w;
    ay += w * sample_dot(q, q->dy + 2 * i, j);
  }
  q->dt[i] = (q->d0[i] - ay) / sw;
  for (int32_t j = 0; j < q->samples; j++) {
    double w = q->zeta[i * q->samples + j] / (q->t[i] + sample_dot(q, q->y + 2 * i, j));
    q->dzeta[i * q->samples + j] -= w * (q->dt[i] + sample_dot(q, q->dy + 2 * i, j));
  }
}

static double polygon_step(const friction *q, int32_t i) {
  double t = 1;
  for (int32_t j = 0; j < q->samples; j++) {
    double slack = q->t[i] + sample_dot(q, q->y + 2 * i, j), ds = q->dt[i] + sample_dot(q, q->dy + 2 * i, j);
    double zeta = q->zeta[i * q->samples + j], dz = q->dzeta[i * q->samples + j];
    if (ds < 0) t = fmin(t, -slack / ds);
    if (dz < 0) t = fmin(t, -zeta / dz);
  }
  return t;
}

static double polygon_gap(const friction *q, int32_t i, double t) {
  double sum = 0;
  for (int32_t j = 0; j < q->samples; j++)
    sum += (q->zeta[i * q->samples + j] + t * q->dzeta[i * q->samples + j]) *
           (q->t[i] + t * q->dt[i] + sample_dot(q, q->y + 2 * i, j) + t * sample_dot(q, q->dy + 2 * i, j));
  return sum;
}

/* --- both --- */

static bool scale(friction *q) {
  for (int32_t i = 0; i < q->n; i++) {
    double *c = q->c + 9 * q->contact[i];
    if (q->samples) {
      double s[4];
      if (!polygon_scale(q, i, s)) return false;
      c[4] = s[0], c[5] = s[1], c[7] = s[2], c[8] = s[3];
    } else {
      if (!disk_scale(q, i)) return false;
      const double *s = q->disks[i].s;
      c[4] = s[0], c[5] = c[7] = s[1], c[8] = s[2];
    }
  }
  return ds_system_factor(q->system, q->c, true);
}

static void direction(friction *q, double centre, bool corrector) {
  for (int32_t i = 0; i < q->n; i++)
    if (q->samples)
      polygon_rhs(q, i, centre, corrector);
    else
      disk_rhs(q, i, centre, corrector);
  memset(q->dv, 0, (size_t)q->p->dof * sizeof(double));
  add_impulse(q, q->dv, q->h);
  ds_system_solve(q->dv, q->system);
  ds_subproblem_times_part(q->gv, q->p, q->dv, DS_ROWS_TANGENT);
  for (int32_t i = 0; i < q->n; i++) {
    const double *g = q->gv + 2 * q->contact[i], *c = q->c + 9 * q->contact[i];
    q->dy[2 * i] = g[0], q->dy[2 * i + 1] = g[1];
    q->dbeta[2 * i] = q->h[2 * i] - c[4] * g[0] - c[5] * g[1];
    q->dbeta[2 * i + 1] = q->h[2 * i + 1] - c[7] * g[0] - c[8] * g[1];
    if (q->samples)
      polygon_rest(q, i);
    else
      disk_rest(q, i);
  }
}

static double step_length(const friction *q) {
  double t = 1;
  for (int32_t i = 0; i < q->n; i++) t = q->samples ? fmin(t, polygon_step(q, i)) : disk_step(q, i, t);
  return t;
}

static double gap_after(const friction *q, double t) {
  double sum = 0;
  for (int32_t i = 0; i < q->n; i++) sum += q->samples ? polygon_gap(q, i, t) : disk_gap(q, i, t);
  return sum / q->n;
}

static bool allocate(ds_arena *arena, friction *q) {
  size_t n = (size_t)q->p->contact_count + 1;
  double **vectors[] = {&q->beta, &q->y, &q->dbeta, &q->dy, &q->h, &q->radius, &q->t, &q->dt, &q->d0};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, 2 * n);
  q->contact = DS_NEW(arena, int32_t, n);
  q->zeta = DS_NEW0(arena, double, n *(size_t)q->samples + 1);
  q->dzeta = DS_NEW0(arena, double, n *(size_t)q->samples + 1);
  q->direction = DS_NEW(arena, double, 2 * (size_t)q->samples + 1);
  q->disks = DS_NEW(arena, disk, n);
  q->full = DS_NEW0(arena, double, 2 * n);
  q->gv = DS_NEW0(arena, double, 2 * n);
  q->c = DS_NEW0(arena, double, 9 * n);
  q->dv = DS_NEW0(arena, double, q->p->dof + 1);
  return !ds_arena_failed(arena);
}

static void start(friction *q, const double *r, const double *v_hat) {
  const ds_subproblem *p = q->p;
  q->n = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    double radius = p->mu[k] * r[3 * k];
    if (!(radius > 0)) continue;
    q->contact[q->n] = k;
    q->radius[q->n] = radius;
    for (int32_t j = 0; j < q->samples; j++) q->zeta[q->n * q->samples + j] = radius / q->samples;
    q->n++;
  }
  for (int32_t j = 0; j < q->samples; j++) {
    q->direction[2 * j] = cos(2 * DS_PI * j / q->samples);
    q->direction[2 * j + 1] = sin(2 * DS_PI * j / q->samples);
  }
  residual(q, v_hat);
  double sum = 0;
  for (int32_t i = 0; i < 2 * q->n; i++) sum += q->y[i] * q->y[i];
  double speed = fmax(sqrt(sum / fmax(1, q->n)), 1e-12 * p->target);
  for (int32_t i = 0; i < q->n; i++)
    q->t[i] = sqrt(q->y[2 * i] * q->y[2 * i] + q->y[2 * i + 1] * q->y[2 * i + 1]) + (speed > 0 ? speed : 1);
}

double ds_project_friction(ds_solve *solve, double *r, double *v, const ds_subproblem *p, const double *v_hat,
                           double tolerance, int32_t samples) {
  ds_arena *arena = solve->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  friction q = {.p = p, .system = solve->system, .samples = samples};
  double *trial = DS_NEW(arena, double, p->dof + 1), best = INFINITY;
  double *radius = DS_NEW(arena, double, p->contact_count + 1);
  if (!allocate(arena, &q)) return INFINITY;
  for (int32_t k = 0; k < p->contact_count; k++) r[3 * k + 1] = r[3 * k + 2] = 0;
  memcpy(v, v_hat, (size_t)p->dof * sizeof(double));
  start(&q, r, v_hat);
  for (int32_t i = 0; q.n > 0 && i <= DS_STEPS; i++) {
    memcpy(trial, v_hat, (size_t)p->dof * sizeof(double));
    add_impulse(&q, trial, q.beta);
    double error = residual(&q, trial);
    if (error < best) {
      best = error;
      memcpy(v, trial, (size_t)p->dof * sizeof(double));
      for (int32_t j = 0; j < q.n; j++) {
        r[3 * q.contact[j] + 1] = q.beta[2 * j];
        r[3 * q.contact[j] + 2] = q.beta[2 * j + 1];
      }
    }
    if (best <= tolerance || i == DS_STEPS || !isfinite(error) || error > 10 * best || !scale(&q)) break;
    solve->work.projections++;
    double gap = gap_after(&q, 0);
    direction(&q, 0, false);
    double ratio = gap_after(&q, step_length(&q)) / gap;
    direction(&q, fmin(1, ratio * ratio * ratio) * gap, true);
    double t = step_length(&q);
    if (!isfinite(t) || !(gap > 1e-300)) break;
    t = ds_step_inside(t);
    for (int32_t j = 0; j < q.n; j++) q.t[j] += t * q.dt[j];
    for (int32_t j = 0; j < 2 * q.n; j++) q.beta[j] += t * q.dbeta[j];
    for (int32_t j = 0; j < q.n * q.samples; j++) q.zeta[j] += t * q.dzeta[j];
  }
  if (q.n > 0 && best > tolerance) {
    for (int32_t k = 0; k < p->contact_count; k++) radius[k] = p->mu[k] * fmax(0, r[3 * k]);
    best = fmin(best, ds_projection_polish(solve, r, v, p, v_hat, radius, tolerance, samples));
  }
  ds_arena_release(arena, mark);
  return q.n > 0 ? best : 0;
}
