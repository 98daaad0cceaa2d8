#include "problem/subproblem.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "la/rows.h"
#include "la/vec3.h"

/* Which of a contact's three rows are meant: from the first on, so many. */
typedef struct rows_meant {
  int32_t first, count;
} rows_meant;

static rows_meant rows_of(ds_rows_part part) {
  return part == DS_ROWS_NORMAL    ? (rows_meant){0, 1}
         : part == DS_ROWS_TANGENT ? (rows_meant){1, 2}
                                   : (rows_meant){0, 3};
}

/* y += G_kᵀ v for one side */
static inline void rows_times(double *restrict y, const double *restrict g, const double *restrict v, int32_t size,
                              rows_meant rows) {
  for (int32_t c = 0; c < rows.count; c++) {
    double sum = 0;
    for (int32_t i = 0; i < size; i++) sum += g[(rows.first + c) * size + i] * v[i];
    y[c] += sum;
  }
}

static inline void add_rows(double *restrict v, const double *restrict g, const double r[3], int32_t size) {
  for (int32_t i = 0; i < size; i++) v[i] += g[i] * r[0] + g[size + i] * r[1] + g[2 * size + i] * r[2];
}

/* The impulse of contact k in all three rows. False where there is none. */
static inline bool whole_impulse(double whole[3], const double *r, int32_t k, rows_meant rows) {
  bool any = false;
  whole[0] = whole[1] = whole[2] = 0;
  for (int32_t c = 0; c < rows.count; c++) {
    whole[rows.first + c] = r[rows.count * k + c];
    any |= r[rows.count * k + c] != 0;
  }
  return any;
}

/* v += W r, by columns so that open contacts cost nothing; W_jk = W_kjᵀ */
static void add_delassus(double *v, const ds_delassus *w, const double *r, int32_t contacts, rows_meant rows) {
  for (int32_t k = 0; k < contacts; k++) {
    double rk[3];
    if (!whole_impulse(rk, r, k, rows)) continue;
    for (int32_t s = w->start[k]; s < w->start[k + 1]; s++) {
      const double *m = w->value + 9 * s;
      double *vj = v + 3 * w->column[s];
      for (int i = 0; i < 3; i++) vj[i] += m[i] * rk[0] + m[3 + i] * rk[1] + m[6 + i] * rk[2];
    }
  }
}

int32_t ds_subproblem_end_of_pair(const ds_subproblem *p, int32_t k) {
  int32_t end = k + 1;
  while (end < p->contact_count && p->body[2 * end] == p->body[2 * k] && p->body[2 * end + 1] == p->body[2 * k + 1])
    end++;
  return end;
}

static bool is_rigid(const ds_subproblem *p, int32_t k) {
  int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
  return a != b && (a < 0 || p->size[a] == 6) && (b < 0 || p->size[b] == 6);
}

static void add_any(double *v, const ds_subproblem *p, const double *r, int32_t k, int32_t end, rows_meant rows) {
  for (; k < end; k++) {
    double rk[3];
    if (!whole_impulse(rk, r, k, rows)) continue;
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = p->body[2 * k + side];
      if (body >= 0) add_rows(v + p->first[body], p->g + p->jacobian[2 * k + side], rk, p->size[body]);
    }
  }
}

static void times_any(double *y, const ds_subproblem *p, const double *v, int32_t k, int32_t end, rows_meant rows) {
  for (; k < end; k++) {
    double *yk = y + rows.count * k;
    for (int32_t c = 0; c < rows.count; c++) yk[c] = 0;
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = p->body[2 * k + side];
      if (body >= 0) rows_times(yk, p->g + p->jacobian[2 * k + side], v + p->first[body], p->size[body], rows);
    }
  }
}

void ds_subproblem_add_part(double *v, const ds_subproblem *p, const double *r, ds_rows_part part) {
  rows_meant rows = rows_of(part);
  if (p->delassus) {
    add_delassus(v, p->delassus, r, p->contact_count, rows);
    return;
  }
  for (int32_t k = 0, end; k < p->contact_count; k = end) {
    end = ds_subproblem_end_of_pair(p, k);
    if (is_rigid(p, k)) {
      double *va = p->body[2 * k] < 0 ? NULL : v + p->first[p->body[2 * k]];
      double *vb = p->body[2 * k + 1] < 0 ? NULL : v + p->first[p->body[2 * k + 1]];
      ds_rows_add(va, vb, p->g, p->jacobian + 2 * k, r + rows.count * k, end - k, part);
    } else {
      add_any(v, p, r, k, end, rows);
    }
  }
}

void ds_subproblem_add_impulse(double *v, const ds_subproblem *p, const double *r) {
  ds_subproblem_add_part(v, p, r, DS_ROWS_ALL);
}

void ds_subproblem_velocity(double *v, const ds_subproblem *p, const double *r) {
  memcpy(v, p->predicted, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(v, p, r);
}

void ds_subproblem_times_part(double *y, const ds_subproblem *p, const double *v, ds_rows_part part) {
  rows_meant rows = rows_of(part);
  if (p->delassus) {
    for (int32_t k = 0; k < p->contact_count; k++)
      for (int32_t c = 0; c < rows.count; c++) y[rows.count * k + c] = v[3 * k + rows.first + c];
    return;
  }
  for (int32_t k = 0, end; k < p->contact_count; k = end) {
    end = ds_subproblem_end_of_pair(p, k);
    if (is_rigid(p, k)) {
      const double *va = p->body[2 * k] < 0 ? NULL : v + p->first[p->body[2 * k]];
      const double *vb = p->body[2 * k + 1] < 0 ? NULL : v + p->first[p->body[2 * k + 1]];
      ds_rows_times(y + rows.count * k, p->g, p->jacobian + 2 * k, va, vb, end - k, part);
    } else {
      times_any(y, p, v, k, end, rows);
    }
  }
}

void ds_subproblem_apply_transposed(double *y, const ds_subproblem *p, const double *v) {
  ds_subproblem_times_part(y, p, v, DS_ROWS_ALL);
}

void ds_subproblem_slip(double *u, const ds_subproblem *p, const double *v) {
  ds_subproblem_apply_transposed(u, p, v);
  for (int32_t i = 0; i < 3 * p->contact_count; i++) u[i] -= p->b[i];
}

static void even_weights(double *weight, const double *scale, const ds_subproblem *p) {
  for (int32_t k = 0, end; k < p->contact_count; k = end) {
    double sum = 0;
    end = ds_subproblem_end_of_pair(p, k);
    for (int32_t i = k; i < end; i++) sum += scale[i];
    for (int32_t i = k; i < end; i++) weight[i] = sum / (end - k);
  }
}

/* w_k = the diagonal of W_kk for the contacts of one run */
static void diagonal_of_w(double *w, const ds_subproblem *p, int32_t k, int32_t end) {
  if (!p->delassus && is_rigid(p, k)) {
    ds_rows_squares(w + 3 * k, p->g, p->jacobian + 2 * k, p->body[2 * k] >= 0, p->body[2 * k + 1] >= 0, end - k);
    return;
  }
  for (; k < end; k++) {
    double *wk = w + 3 * k;
    wk[0] = wk[1] = wk[2] = 0;
    for (int32_t s = p->delassus ? p->delassus->start[k] : 0; p->delassus && s < p->delassus->start[k + 1]; s++)
      if (p->delassus->column[s] == k)
        for (int c = 0; c < 3; c++) wk[c] = p->delassus->value[9 * s + 4 * c];
    for (int32_t side = 0; side < 2 && !p->delassus; side++) {
      int32_t body = p->body[2 * k + side];
      if (body < 0) continue;
      const double *g = p->g + p->jacobian[2 * k + side];
      for (int32_t c = 0; c < 3; c++)
        for (int32_t i = 0; i < p->size[body]; i++) wk[c] += g[c * p->size[body] + i] * g[c * p->size[body] + i];
    }
  }
}

/* As fmax, and as quick as a comparison: what is not a number is left out. */
static inline double larger(double most, double x) { return x > most ? x : most; }

static bool prepare_corners(ds_arena *arena, ds_subproblem *p) {
  double *corner = p->samples > 0 ? DS_NEW(arena, double, 2 * (size_t)p->samples) : NULL;
  for (int32_t j = 0; corner && j < p->samples; j++) {
    corner[2 * j] = cos(2 * DS_PI * j / p->samples);
    corner[2 * j + 1] = sin(2 * DS_PI * j / p->samples);
  }
  p->corner = corner;
  return !ds_arena_failed(arena);
}

bool ds_subproblem_prepare(ds_arena *arena, ds_subproblem *p) {
  double *scale = DS_NEW(arena, double, p->contact_count + 1), *weight = DS_NEW(arena, double, p->contact_count + 1);
  double *q = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  if (ds_arena_failed(arena)) return false;
  double trace = 0, sum = 0;
  for (int32_t k = 0, end; k < p->contact_count; k = end) {
    end = p->delassus ? k + 1 : ds_subproblem_end_of_pair(p, k);
    diagonal_of_w(q, p, k, end);
  }
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *w = q + 3 * k;
    double largest = larger(larger(w[0], w[1]), w[2]);
    scale[k] = largest > 0 ? largest : 1;
    trace += w[0] + w[1] + w[2];
  }
  if (p->delassus)
    memcpy(weight, scale, (size_t)p->contact_count * sizeof(double));
  else
    even_weights(weight, scale, p);
  p->scale = scale;
  p->weight = weight;
  p->rho = trace > 0 ? 3 * p->contact_count / trace : 1;
  ds_subproblem_slip(q, p, p->predicted);
  for (int32_t i = 0; i < 3 * p->contact_count; i++) sum += q[i] * q[i];
  double speed = 0;
  for (int32_t i = 0; i < p->dof; i++) speed += p->predicted[i] * p->predicted[i];
  p->slip = sqrt(sum);
  p->target = fmax(p->slip, sqrt(p->contact_count) * p->least);
  p->noise = 1e-15 * sqrt(trace * speed);
  p->free_slip = q;
  return prepare_corners(arena, p);
}

static inline void cone_project(double p[3], const double x[3], double mu) {
  double n = x[0], t1 = x[1], t2 = x[2], t = sqrt(t1 * t1 + t2 * t2);
  if (mu * t <= -n) {
    p[0] = p[1] = p[2] = 0;
  } else if (t <= mu * n) {
    p[0] = n, p[1] = t1, p[2] = t2;
  } else {
    double pn = (n + mu * t) / (1 + mu * mu), f = mu * pn / t;
    p[0] = pn, p[1] = f * t1, p[2] = f * t2;
  }
}

void ds_cone_project(double p[3], const double x[3], double mu) { cone_project(p, x, mu); }

int ds_polygon_project(double p[2], double edge[2], const double x[2], double radius, int32_t samples) {
  double width = 2 * DS_PI / samples, angle = atan2(x[1], x[0]);
  double corner = floor(angle / width) * width; /* x lies in the wedge from `corner` to the next corner */
  double c0 = radius * cos(corner), s0 = radius * sin(corner);
  double ex = radius * cos(corner + width) - c0, ey = radius * sin(corner + width) - s0, length2 = ex * ex + ey * ey;
  double outside = (x[0] - c0) * ey - (x[1] - s0) * ex; /* > 0 beyond the edge */
  if (!(radius > 0)) {
    p[0] = p[1] = 0;
    return 0;
  }
  if (outside <= 0) {
    p[0] = x[0], p[1] = x[1];
    return 2;
  }
  double s = ((x[0] - c0) * ex + (x[1] - s0) * ey) / length2;
  if (edge) edge[0] = ex / sqrt(length2), edge[1] = ey / sqrt(length2);
  int rank = s > 0 && s < 1 ? 1 : 0;
  s = s < 0 ? 0 : s > 1 ? 1 : s;
  p[0] = c0 + s * ex;
  p[1] = s0 + s * ey;
  return rank;
}

/* r - P(r - rho u~) of one contact, squared */
static inline double natural_residual(const double *r, const double *u, double mu, double rho, int32_t samples) {
  double z[3], p[3];
  if (samples >= 3) {
    p[0] = fmax(0, r[0] - rho * u[0]);
    z[1] = r[1] - rho * u[1], z[2] = r[2] - rho * u[2];
    ds_polygon_project(p + 1, NULL, z + 1, mu * fmax(0, r[0]), samples);
  } else {
    z[0] = r[0] - rho * (u[0] + mu * sqrt(u[1] * u[1] + u[2] * u[2]));
    z[1] = r[1] - rho * u[1], z[2] = r[2] - rho * u[2];
    cone_project(p, z, mu);
  }
  double d0 = r[0] - p[0], d1 = r[1] - p[1], d2 = r[2] - p[2];
  return d0 * d0 + d1 * d1 + d2 * d2;
}

double ds_subproblem_natural_map(const ds_subproblem *p, const double *r, const double *u, double rho) {
  double sum = 0;
  for (int32_t k = 0; k < p->contact_count; k++) sum += natural_residual(r + 3 * k, u + 3 * k, p->mu[k], rho, 0);
  return sqrt(sum);
}

double ds_subproblem_progress(const ds_subproblem *p, const double *r, const double *u) {
  double sum = 0, norm = 0, approach = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *rk = r + 3 * k, *uk = u + 3 * k;
    sum += natural_residual(rk, uk, p->mu[k], p->rho, p->samples);
    for (int32_t c = 0; c < 3; c++) norm += rk[c] * rk[c];
    if (uk[0] < 0) approach += uk[0] * uk[0];
  }
  double scale = fmax(sqrt(norm), p->rho * p->target);
  if (sum == 0 || sqrt(sum) <= p->rho * p->noise) return 0; /* nothing to do, or rounding is what is left of it */
  double error = sqrt(sum) / scale;
  if (!isfinite(error) || !isfinite(scale)) return INFINITY; /* a NaN must never pass a comparison */
  return p->target > 0 ? fmax(error, approach / (p->target * p->target)) : error;
}

/* (sum W_k |r_k|²)^½: what impulses do to velocities if they do not cancel. */
static double effect(const ds_subproblem *p, const double *r) {
  double sum = 0;
  for (int32_t k = 0; k < p->contact_count; k++)
    sum += p->scale[k] * (r[3 * k] * r[3 * k] + r[3 * k + 1] * r[3 * k + 1] + r[3 * k + 2] * r[3 * k + 2]);
  return sqrt(sum);
}

double ds_subproblem_error(const ds_subproblem *p, const double *r, const double *u) {
  double error = ds_subproblem_progress(p, r, u), work = 0, energy = 0;
  if (error == 0 || !(p->target > 0)) return error;
  double rounding = DBL_EPSILON * effect(p, r); /* of velocities: impulses have no more digits */
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *rk = r + 3 * k, *uk = u + 3 * k, *q = p->free_slip + 3 * k;
    work += fabs(rk[0]) * fmax(0, fabs(uk[0]) - sqrt(p->scale[k]) * rounding);
    for (int32_t c = 0; c < 3; c++) energy += 0.5 * rk[c] * (uk[c] - q[c]); /* rᵀGᵀ(v - v_p)/2 */
  }
  double idle = work / fmax(energy, 1e-3 * p->rho * p->target * p->target);
  return fmax(error, idle * idle);
}

void ds_subproblem_certify(ds_certificate *c, const ds_subproblem *p, const double *r, const double *v, double *u,
                           double tolerance) {
  ds_subproblem_slip(u, p, v);
  double residual = 0, approach = 0, cone = 0, dissipation = 0, largest = 0;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *rk = r + 3 * k, *uk = u + 3 * k;
    double rt = sqrt(rk[1] * rk[1] + rk[2] * rk[2]), ut = sqrt(uk[1] * uk[1] + uk[2] * uk[2]);
    residual += fabs(rk[0] * uk[0]); /* [SP08 eq. 29], with b */
    approach = larger(approach, -uk[0]);
    cone = larger(larger(cone, rt - p->mu[k] * rk[0]), -rk[0]);
    dissipation = larger(dissipation, fabs(rk[1] * uk[1] + rk[2] * uk[2] + p->mu[k] * rk[0] * ut));
    largest = larger(larger(largest, fabs(rk[0])), rt);
  }
  c->bodies = p->body_count;
  c->contacts = p->contact_count;
  c->residual = residual;
  c->approach_velocity = approach;
  c->cone_violation = largest > 0 ? fmax(cone, 0) / largest : 0;
  c->dissipation_error = dissipation;
  c->natural_error = ds_subproblem_error(p, r, u);
  c->tolerance = tolerance;
  c->converged = c->natural_error <= tolerance;
}

void ds_certificate_add_work(ds_certificate *sum, const ds_certificate *c) {
  sum->staggered_iterations += c->staggered_iterations;
  sum->projection_iterations += c->projection_iterations;
  sum->factorizations += c->factorizations;
  for (int32_t i = 0; i < DS_TOOL_COUNT; i++) sum->tool[i] += c->tool[i];
  sum->rel_err = fmax(sum->rel_err, c->rel_err);
  sum->conflict = fmax(sum->conflict, c->conflict);
  sum->unbounded |= c->unbounded;
}
