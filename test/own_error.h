/* An error measure of the tests' own, so that no solve is checked by the code that made it. It reads a problem and uses
 * nothing of src but the layout of its structs: dense matrices, Gauss's elimination, Coulomb's law contact by contact.
 *
 * A problem in either form becomes u = W r + q, equality rows and masses eliminated. */
#ifndef DS_TEST_OWN_ERROR_H
#define DS_TEST_OWN_ERROR_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/problem.h"
#include "problem/subproblem.h"

typedef struct own_problem {
  int32_t n, d, contacts; /* n = d x contacts rows */
  double *w, *q;          /* n x n, n */
  const double *mu;       /* of the problem */
  double rho, mu_max;     /* 3 contacts / tr W */
  double terms;           /* size of the terms that q is the sum of */
} own_problem;

/* X := A⁻¹ X for `columns` right-hand sides, complete pivoting. Pivots of less than 1e-11 of the largest entry are
 * rows that say the same twice: their unknowns are zero. */
static inline void own_eliminate(double *a, double *x, int32_t n, int32_t columns) {
  int32_t *row_of = calloc((size_t)n + 1, sizeof *row_of);
  double first = 0;
  for (int32_t i = 0; i < n; i++) row_of[i] = -1;
  for (int32_t step = 0, top = 0; step < n; step++, top++) {
    int32_t row = top, column = -1;
    double most = 0;
    for (int32_t i = top; i < n; i++)
      for (int32_t j = 0; j < n; j++)
        if (row_of[j] < 0 && fabs(a[i * n + j]) > most) most = fabs(a[i * n + j]), row = i, column = j;
    first = step == 0 ? most : first;
    if (column < 0 || most <= 1e-11 * first) break;
    row_of[column] = top;
    for (int32_t j = 0; j < n && row != top; j++) {
      double t = a[row * n + j];
      a[row * n + j] = a[top * n + j], a[top * n + j] = t;
    }
    for (int32_t j = 0; j < columns && row != top; j++) {
      double t = x[row * columns + j];
      x[row * columns + j] = x[top * columns + j], x[top * columns + j] = t;
    }
    for (int32_t i = 0; i < n; i++) {
      double f = i == top ? 0 : a[i * n + column] / a[top * n + column];
      for (int32_t j = 0; j < n && f != 0; j++) a[i * n + j] -= f * a[top * n + j];
      for (int32_t j = 0; j < columns && f != 0; j++) x[i * columns + j] -= f * x[top * columns + j];
    }
  }
  double *solved = calloc((size_t)n * (size_t)columns + 1, sizeof *solved);
  for (int32_t j = 0; j < n; j++)
    for (int32_t c = 0; c < columns && row_of[j] >= 0; c++)
      solved[j * columns + c] = x[row_of[j] * columns + c] / a[row_of[j] * n + j];
  memcpy(x, solved, (size_t)n * (size_t)columns * sizeof *x);
  free(solved);
  free(row_of);
}

static inline void own_add(double *a, int32_t columns, const ds_matrix *m, int32_t row, int32_t column, double sign,
                           bool transposed) {
  for (int32_t t = 0; t < m->entries; t++)
    a[(row + (transposed ? m->column[t] : m->row[t])) * columns + column + (transposed ? m->row[t] : m->column[t])] +=
        sign * m->value[t];
}

static inline void own_finish(own_problem *o) {
  double trace = 0;
  for (int32_t i = 0; i < o->n; i++) trace += o->w[i * o->n + i];
  for (int32_t k = 0; k < o->contacts; k++) o->mu_max = fmax(o->mu_max, o->mu[k]);
  o->rho = trace > 0 ? 3 * o->contacts / trace : 1;
}

/* Z := Bᵀ X, added up: B is k x m, X is k x n */
static inline void own_transposed_times(double *z, const double *b, const double *x, int32_t k, int32_t m, int32_t n) {
  for (int32_t row = 0; row < k; row++)
    for (int32_t i = 0; i < m; i++) {
      double f = b[row * m + i];
      for (int32_t j = 0; j < n && f != 0; j++) z[i * n + j] += f * x[row * n + j];
    }
}

/* All columns at once: z = (u; g) with r and l as the unknowns, (W V q; Vᵀ R s), then l eliminated. The symmetric part
 * of W and of M counts. */
static inline own_problem own_of_problem(const ds_problem *p) {
  int32_t n = p->dimension * p->contacts, ne = p->equalities, m = n + ne, columns = m + 1, dof = p->dof;
  own_problem o = {.n = n, .d = p->dimension, .contacts = p->contacts, .mu = p->mu};
  double *z = calloc((size_t)m * (size_t)columns + 1, sizeof *z);
  if (p->form == DS_PROBLEM_GLOBAL) {
    double *mass = calloc((size_t)dof * (size_t)dof + 1, sizeof *mass);
    double *b = calloc((size_t)dof * (size_t)m + 1, sizeof *b);
    double *x = calloc((size_t)dof * (size_t)columns + 1, sizeof *x);
    own_add(mass, dof, &p->M, 0, 0, 0.5, false), own_add(mass, dof, &p->M, 0, 0, 0.5, true);
    own_add(b, m, &p->H, 0, 0, 1, false), own_add(x, columns, &p->H, 0, 0, 1, false);
    if (ne > 0) own_add(b, m, &p->G, 0, n, 1, false), own_add(x, columns, &p->G, 0, n, 1, false);
    for (int32_t i = 0; i < dof; i++) x[i * columns + m] = p->f[i];
    own_eliminate(mass, x, dof, columns);
    own_transposed_times(z, b, x, dof, m, columns);
    free(mass), free(b), free(x);
  } else {
    own_add(z, columns, &p->W, 0, 0, 0.5, false), own_add(z, columns, &p->W, 0, 0, 0.5, true);
    if (ne > 0) own_add(z, columns, &p->V, 0, n, 1, false), own_add(z, columns, &p->V, n, 0, 1, true);
    if (ne > 0) own_add(z, columns, &p->R, n, n, 1, false);
  }
  for (int32_t i = 0; i < n; i++) o.terms = hypot(o.terms, z[i * columns + m]);
  for (int32_t i = 0; i < m; i++)
    z[i * columns + m] += i < n ? (p->form == DS_PROBLEM_GLOBAL ? p->w[i] : p->q[i])
                                : (p->form == DS_PROBLEM_GLOBAL ? p->b : p->s)[i - n];
  for (int32_t i = 0; i < n; i++) o.terms = hypot(o.terms, z[i * columns + m]);
  /* l = -R⁻¹ (Vᵀ r + s) */
  double *r = calloc((size_t)ne * (size_t)ne + 1, sizeof *r), *l = calloc((size_t)ne * (size_t)columns + 1, sizeof *l);
  for (int32_t i = 0; i < ne; i++) {
    for (int32_t j = 0; j < columns; j++) l[i * columns + j] = j < n || j == m ? -z[(n + i) * columns + j] : 0;
    for (int32_t j = 0; j < ne; j++) r[i * ne + j] = z[(n + i) * columns + n + j];
  }
  own_eliminate(r, l, ne, columns);
  o.w = calloc((size_t)n * (size_t)n + 1, sizeof *o.w), o.q = calloc((size_t)n + 1, sizeof *o.q);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < columns; j++) {
      double sum = z[i * columns + j];
      for (int32_t k = 0; k < ne; k++) sum += z[i * columns + n + k] * l[k * columns + j];
      if (j < n) o.w[i * n + j] = sum;
      if (j == m) o.q[i] = sum;
    }
  }
  free(z), free(r), free(l);
  own_finish(&o);
  return o;
}

/* u = Gᵀ (v_p + G r) - b */
static inline own_problem own_of_subproblem(const ds_subproblem *p) {
  own_problem o = {.n = 3 * p->contact_count, .d = 3, .contacts = p->contact_count, .mu = p->mu};
  size_t n = (size_t)o.n, dof = (size_t)p->dof;
  double *g = calloc(n * dof + 1, sizeof *g);
  o.w = calloc(n * n + 1, sizeof *o.w), o.q = calloc(n + 1, sizeof *o.q);
  for (int32_t side = 0; side < 2 * p->contact_count; side++)
    for (int32_t c = 0; c < 3 && p->body[side] >= 0; c++)
      for (int32_t i = 0, size = p->size[p->body[side]]; i < size; i++)
        g[(size_t)(3 * (side / 2) + c) * dof + (size_t)(p->first[p->body[side]] + i)] +=
            p->g[p->jacobian[side] + c * size + i];
  for (size_t i = 0; i < n; i++) {
    o.q[i] = -p->b[i];
    for (size_t m = 0; m < dof; m++) o.q[i] += g[i * dof + m] * p->predicted[m];
    for (size_t j = 0; j < n; j++)
      for (size_t m = 0; m < dof; m++) o.w[i * n + j] += g[i * dof + m] * g[j * dof + m];
  }
  free(g);
  own_finish(&o);
  return o;
}

static inline void own_free(own_problem *o) {
  free(o->w);
  free(o->q);
}

static inline double own_norm(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static inline void own_slip(double *u, const own_problem *o, const double *r) {
  for (int32_t i = 0; i < o->n; i++) {
    u[i] = o->q[i];
    for (int32_t j = 0; j < o->n; j++) u[i] += o->w[i * o->n + j] * r[j];
  }
}

static inline double own_tangent(const double *x, int32_t d) { return d == 3 ? hypot(x[1], x[2]) : fabs(x[1]); }

/* Coulomb's law, line by line, impulses over S = max(|r|, rho |q|) and velocities over S/rho: nothing pulls, friction
 * is within its cone, nothing approaches; what carries does not part; what slides has all the friction there is,
 * against its motion. The worst of all contacts. */
static inline double own_coulomb_error(const own_problem *o, const double *r) {
  double *u = calloc((size_t)o->n + 1, sizeof *u), worst = 0;
  own_slip(u, o, r);
  double s = fmax(own_norm(r, o->n), o->rho * own_norm(o->q, o->n)), v = s / o->rho;
  for (int32_t k = 0; k < o->contacts && s > 0; k++) {
    const double *rk = r + o->d * k, *uk = u + o->d * k;
    double rt = own_tangent(rk, o->d), ut = own_tangent(uk, o->d), limit = o->mu[k] * rk[0], against = 0;
    for (int32_t c = 1; c < o->d; c++) against = hypot(against, rk[c] * ut + limit * uk[c]);
    double errors[] = {-rk[0] / s,        (rt - limit) / s,
                       -uk[0] / v,        fmin(rk[0] / s, uk[0] / v),
                       against / (s * v), fmin(ut / v, (limit - rt) / s)};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
      worst = errors[i] <= worst ? worst : isfinite(errors[i]) ? errors[i] : (double)INFINITY;
  }
  free(u);
  return isfinite(s) ? worst : (double)INFINITY;
}

/* What a natural-map error allows the law to be off by. */
static inline double own_allowed(const own_problem *o, double error) { return 4 * (1 + o->mu_max) * error; }

/* The error as docs/problems.md defines it: |r - P_K(r - rho (u + mu |u_T| n))| / S, and no less than
 * (|(-u_N)+| / |q|)² and (sum |r_N u_N| / E)², E = rᵀ W r/2, not less than rho |q|²/1000. */
static inline double own_natural_error(const own_problem *o, const double *r) {
  double *u = calloc((size_t)o->n + 1, sizeof *u), sum = 0, approach = 0, work = 0, energy = 0;
  double q = own_norm(o->q, o->n), s = fmax(own_norm(r, o->n), o->rho * q);
  own_slip(u, o, r);
  for (int32_t k = 0; k < o->contacts; k++) {
    const double *rk = r + o->d * k, *uk = u + o->d * k;
    double mu = o->mu[k], z[3] = {0}, scale = 1;
    for (int32_t c = 0; c < o->d; c++) z[c] = rk[c] - o->rho * uk[c];
    z[0] -= o->rho * mu * own_tangent(uk, o->d);
    double zt = own_tangent(z, o->d), normal = z[0];
    if (z[0] < 0 || zt > mu * z[0]) { /* outside: on the side of the cone, or at its tip */
      normal = fmax(0, (z[0] + mu * zt) / (1 + mu * mu));
      scale = zt > 0 ? mu * normal / zt : 0;
    }
    sum += (rk[0] - normal) * (rk[0] - normal);
    for (int32_t c = 1; c < o->d; c++) sum += (rk[c] - scale * z[c]) * (rk[c] - scale * z[c]);
    approach += uk[0] < 0 ? uk[0] * uk[0] : 0;
    work += fabs(rk[0] * uk[0]);
    for (int32_t c = 0; c < o->d; c++) energy += 0.5 * rk[c] * (uk[c] - o->q[o->d * k + c]);
  }
  free(u);
  double idle = work / fmax(energy, 1e-3 * o->rho * q * q);
  return s > 0 ? fmax(sqrt(sum) / s, q > 0 ? fmax(approach / (q * q), idle * idle) : 0) : 0;
}

#endif
