/* Fast Frictional Dynamics [FFD05: Kaufman, Edmunds, Pai 2005]: every body by itself, once, with two projections in its
 * own velocity space. Equations and the lines of their Fig. 7 are theirs; velocities are mass-scaled here, so that
 * their products aᵀ M b are a . b, and the embedded normals and tangents of contact k are rows of G.
 *
 *   d_k   = v_i + p/m_i,  p = (b_k - v_i - v_j) / (1/m_i + 1/m_j)      the velocity at maximum compression, eq. 29-30
 *   A     = {k : v_i + v_j <= b_k}                                     active contacts, line 18
 *   phi_t = nearest to phi_p with n_k . phi >= d_k, k in A             eq. 27;  r = phi_t - phi_p
 *   delta = nearest to -phi_t with n_k . delta >= 0 and s . delta <= mu_s n_k . r, all samples s of the tangent plane
 *                                                                      eq. 24
 *   phi   = phi_t + delta + e r                                        line 34, Poisson's restitution
 *
 * Positions: two half-steps with the same velocity are one step, so that Fig. 7 is semi-implicit Euler with states half
 * a step later. What acts on j is not the reaction of what acts on i: momentum is approximate, and velocities are not
 * those of impulses. docs/methods/ffd.md tells what is open in the paper, and what each choice leads to. */
#include <math.h>
#include <string.h>

#include "base/vec3.h"
#include "la/small.h"
#include "methods/half_spaces.h"
#include "methods/pgs.h"
#include "project/solvers.h"

/* What the text leaves open. */
typedef struct choice {
  bool exact;    /* nearest points, else by the Surrogate Constraint Method, as published */
  bool half;     /* half-spaces alone bound delta, else it is a sum of tangential wrenches, as eq. 24 says: y in S */
  bool relative; /* what is opposed is slip against what is touched, else absolute velocity, as published */
  bool other;    /* d_k is the velocity of the other body, eq. 25: it gives way to nothing. Else eq. 30, as published */
  bool least;    /* a body whose T(q) is empty violates it least, else it stops */
} choice;

enum { SAMPLES = 8 }; /* of the tangent plane, where no number is given */

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* One body at work: its active contacts and room for its projections. */
typedef struct body_task {
  ds_solve *solve;
  const ds_subproblem *p;
  const choice *how;
  int32_t body, n, samples;
  int32_t count;          /* of A */
  const int32_t *contact; /* contact and side: 2 k + side */
  const double *before;   /* phi_p */
  double *y, *delta;      /* phi_t; delta */
  double *lambda, *work;  /* one per row of h */
  double *flow;           /* n: the velocity that what is touched has, as that of this body; zero unless relative */
  ds_half_spaces h;
} body_task;

static const double *rows_of(const ds_subproblem *p, int32_t at) { return p->g + p->jacobian[at]; }

/* The velocity of a contact on one side along its row c, and |row|² = 1/m. */
static double side_velocity(double *inverse, const ds_subproblem *p, int32_t at, int c, const double *v) {
  int32_t body = p->body[at];
  *inverse = 0;
  if (body < 0) return 0;
  int32_t n = p->size[body];
  const double *g = rows_of(p, at) + c * n;
  *inverse = dot(g, g, n);
  return dot(g, v + p->first[body], n);
}

static double target_of(const ds_subproblem *p, int32_t k) {
  return p->b[3 * k] - (p->law ? p->law[k].rebound : 0); /* restitution is line 34's */
}

/* Lines 12 to 18: d_k of one side. False where the contact is not active. */
static bool offset(double *d, const ds_subproblem *p, int32_t at, const choice *how) {
  double w_i, w_j;
  double v_i = side_velocity(&w_i, p, at, 0, p->predicted), v_j = side_velocity(&w_j, p, at ^ 1, 0, p->predicted);
  double missing = target_of(p, at / 2) - v_i - v_j;
  *d = v_i + missing * (how->other ? 1 : w_i / (w_i + w_j));
  return w_i > 0 && missing >= 0;
}

/* The projection of y onto h as chosen; by the Surrogate Constraint Method to `rel_err` of `scale`, m/s. */
static void project(body_task *t, double *y, double scale) {
  ds_solve *s = t->solve;
  s->work.projections += t->how->exact
                             ? ds_half_spaces_nearest(s->arena, y, t->lambda, &t->h)
                             : ds_half_spaces_surrogate(y, t->lambda, t->work, &t->h, s->options->rel_err * scale,
                                                        s->options->max_iterations);
}

/* Line 27. False where T(q) is empty, or the projection did not get near it. */
static bool find_tangential(body_task *t) {
  ds_half_spaces *h = &t->h;
  double scale = 0;
  h->n = t->n, h->count = t->count;
  for (int32_t i = 0; i < t->count; i++) {
    memcpy(h->a + i * t->n, rows_of(t->p, t->contact[i]), (size_t)t->n * sizeof(double));
    offset(&h->c[i], t->p, t->contact[i], t->how);
    scale = fmax(scale, fabs(h->c[i] - dot(h->a + i * t->n, t->before, t->n)));
  }
  memcpy(t->y, t->before, (size_t)t->n * sizeof(double));
  project(t, t->y, scale);
  return !(ds_half_spaces_violation(h, t->y) > fmax(1e-6, 2 * t->solve->options->rel_err) * scale);
}

/* Tangential velocity of this side, in m/s along unit tangents: rows of elliptic friction are shorter. */
static void slip_of(double s[2], const body_task *t, int32_t at, const double *v) {
  const double *g = rows_of(t->p, at);
  const ds_contact_law *law = t->p->law ? &t->p->law[at / 2] : NULL;
  for (int c = 0; c < 2; c++) s[c] = dot(g + (1 + c) * t->n, v, t->n) / (law ? law->flat[c] : 1);
}

/* The velocity of this body for which active contacts would not slip, as nearly as it can be: least squares over them,
 * against the velocity that both sides have in common, weighted by their masses as in eq. 30. */
static void find_flow(body_task *t) {
  int32_t n = t->n;
  double *matrix = DS_NEW0(t->solve->arena, double, n *n + 1), trace = 0;
  memset(t->flow, 0, (size_t)n * sizeof(double));
  if (!matrix) return;
  for (int32_t i = 0; i < t->count; i++)
    for (int c = 1; c < 3; c++) {
      int32_t at = t->contact[i];
      const double *g = rows_of(t->p, at) + c * n;
      double w_i, w_j, v_i = side_velocity(&w_i, t->p, at, c, t->p->predicted);
      double v_j = side_velocity(&w_j, t->p, at ^ 1, c, t->p->predicted);
      double common = v_i + (t->p->b[3 * (at / 2) + c] - v_i - v_j) * (t->how->other ? 1 : w_i / (w_i + w_j));
      for (int32_t a = 0; a < n; a++) {
        t->flow[a] += common * g[a];
        for (int32_t b = 0; b <= a; b++) matrix[a * n + b] += g[a] * g[b];
      }
      trace += w_i;
    }
  for (int32_t a = 0; a < n; a++) matrix[a * n + a] += 1e-9 * trace; /* the least one where contacts leave it open */
  if (!ds_small_cholesky(matrix, n)) {
    memset(t->flow, 0, (size_t)n * sizeof(double));
    return;
  }
  ds_small_solve_l(t->flow, matrix, n);
  ds_small_solve_lt(t->flow, matrix, n);
}

/* The half-spaces of eq. 24; the largest of their bounds. Samples start in the direction of slip, so that a point mass
 * has exactly mu in any. */
static double bound_friction(body_task *t) {
  ds_half_spaces *h = &t->h;
  const ds_subproblem *p = t->p;
  int32_t n = t->n;
  double largest = 0;
  h->n = n, h->count = 0;
  for (int32_t i = 0; i < t->count; i++) {
    int32_t at = t->contact[i], k = at / 2;
    const double *g = rows_of(p, at);
    double flat[2] = {1, 1}, slip[2], normal = dot(g, t->y, n) - dot(g, t->before, n); /* n_k . r */
    if (p->law) memcpy(flat, p->law[k].flat, sizeof flat);
    slip_of(slip, t, at, t->delta);
    double size = hypot(slip[0], slip[1]), e[2] = {size > 0 ? slip[0] / size : 1, size > 0 ? slip[1] / size : 0};
    memcpy(h->a + h->count * n, g, (size_t)n * sizeof(double));
    h->c[h->count++] = 0;
    for (int32_t m = 0; m < t->samples; m++) {
      double angle = 2 * DS_PI * m / t->samples, cosine = cos(angle), sine = sin(angle);
      double s[2] = {cosine * e[0] - sine * e[1], sine * e[0] + cosine * e[1]};
      double mu = p->mu[k] * hypot(flat[0] * s[0], flat[1] * s[1]); /* of this direction */
      double *a = h->a + h->count * n;
      for (int32_t j = 0; j < n; j++) a[j] = -(s[0] * g[n + j] / flat[0] + s[1] * g[2 * n + j] / flat[1]);
      h->c[h->count++] = -mu * fmax(0, normal);
      largest = fmax(largest, mu * normal);
    }
  }
  return largest;
}

/* An orthonormal basis of the span of tangential rows; how many vectors it has. */
static int32_t span_of(double *basis, const body_task *t) {
  int32_t n = t->n, rank = 0;
  for (int32_t i = 0; i < t->count && rank < n; i++)
    for (int c = 1; c < 3 && rank < n; c++) {
      double *q = basis + rank * n, before, after;
      memcpy(q, rows_of(t->p, t->contact[i]) + c * n, (size_t)n * sizeof(double));
      before = dot(q, q, n);
      for (int twice = 0; twice < 2; twice++)
        for (int32_t a = 0; a < rank; a++) {
          double along = dot(q, basis + a * n, n);
          for (int32_t j = 0; j < n; j++) q[j] -= along * basis[a * n + j];
        }
      after = dot(q, q, n);
      if (!(after > 1e-16 * before)) continue;
      for (int32_t j = 0; j < n; j++) q[j] /= sqrt(after);
      rank++;
    }
  return rank;
}

/* eq. 24 within S: the same projection in coordinates of the span. */
static void project_in_span(body_task *t, double scale) {
  int32_t n = t->n;
  double *basis = DS_NEW(t->solve->arena, double, n *n + 1), *z = DS_NEW0(t->solve->arena, double, n + 1);
  if (!basis || !z) return;
  int32_t rank = span_of(basis, t);
  for (int32_t k = 0; k < t->h.count; k++) {
    double *row = t->h.a + k * n, *narrow = t->h.a + k * rank; /* rows move down, never up */
    for (int32_t j = 0; j < rank; j++) z[j] = dot(row, basis + j * n, n);
    memcpy(narrow, z, (size_t)rank * sizeof(double));
  }
  for (int32_t j = 0; j < rank; j++) z[j] = dot(t->delta, basis + j * n, n);
  t->h.n = rank;
  project(t, z, scale);
  memset(t->delta, 0, (size_t)n * sizeof(double));
  for (int32_t j = 0; j < rank; j++)
    for (int32_t i = 0; i < n; i++) t->delta[i] += z[j] * basis[j * n + i];
}

/* Friction impulses of contacts that come to delta as nearly as they can, the least ones; half of them to contacts that
 * two bodies have. The certificate wants impulses; the method does not. */
static void store_friction(const body_task *t, double *r) {
  int32_t n = t->n;
  double *matrix = DS_NEW0(t->solve->arena, double, n *n + 1), *z = DS_NEW(t->solve->arena, double, n + 1), trace = 0;
  if (!matrix || !z) return;
  for (int32_t i = 0; i < t->count; i++)
    for (int c = 1; c < 3; c++) {
      const double *g = rows_of(t->p, t->contact[i]) + c * n;
      for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) matrix[a * n + b] += g[a] * g[b];
      trace += dot(g, g, n);
    }
  for (int32_t a = 0; a < n; a++) matrix[a * n + a] += 1e-9 * trace;
  memcpy(z, t->delta, (size_t)n * sizeof(double));
  if (!ds_small_cholesky(matrix, n)) return;
  ds_small_solve_l(z, matrix, n);
  ds_small_solve_lt(z, matrix, n);
  for (int32_t i = 0; i < t->count; i++)
    for (int c = 1; c < 3; c++) {
      int32_t at = t->contact[i];
      r[3 * (at / 2) + c] += (t->p->body[at ^ 1] >= 0 ? 0.5 : 1) * dot(rows_of(t->p, at) + c * n, z, n);
    }
}

/* Lines 27 to 34 of one body: its new velocity into v, its impulses onto r. */
static void resolve(body_task *t, double *v, double *r) {
  int32_t n = t->n;
  const ds_subproblem *p = t->p;
  bool squeezed = !find_tangential(t);
  if (squeezed && !t->how->least) memset(t->y, 0, (size_t)n * sizeof(double));
  memcpy(v, t->y, (size_t)n * sizeof(double));
  for (int32_t i = 0; i < t->count; i++) {
    int32_t at = t->contact[i], k = at / 2;
    double again = p->law && p->law[k].rebound > 0 ? p->law[k].restitution : 0;
    const double *g = rows_of(p, at);
    for (int32_t j = 0; j < n; j++) v[j] += again * t->lambda[i] * g[j];
    r[3 * k] += (p->body[at ^ 1] >= 0 ? 0.5 : 1) * (1 + again) * t->lambda[i];
  }
  if (t->how->relative) find_flow(t);
  for (int32_t j = 0; j < n; j++) t->delta[j] = t->flow[j] - t->y[j];
  double scale = bound_friction(t);
  if (!(scale > 0)) return;
  if (t->how->half)
    project(t, t->delta, scale);
  else
    project_in_span(t, scale);
  for (int32_t j = 0; j < n; j++) v[j] += t->delta[j];
  store_friction(t, r);
}

/* Contacts of bodies, as 2 k + side: those of body i are list[start[i]] to list[start[i + 1] - 1]. */
static bool list_contacts(ds_arena *arena, int32_t **start, int32_t **list, const ds_subproblem *p) {
  int32_t *count = DS_NEW0(arena, int32_t, p->body_count + 2);
  *start = DS_NEW0(arena, int32_t, p->body_count + 2);
  *list = DS_NEW(arena, int32_t, 2 * p->contact_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t at = 0; at < 2 * p->contact_count; at++)
    if (p->body[at] >= 0) count[p->body[at]]++;
  for (int32_t i = 0; i < p->body_count; i++) (*start)[i + 1] = (*start)[i] + count[i];
  memset(count, 0, (size_t)p->body_count * sizeof *count);
  for (int32_t at = 0; at < 2 * p->contact_count; at++) {
    int32_t body = p->body[at];
    if (body >= 0) (*list)[(*start)[body] + count[body]++] = at;
  }
  return true;
}

/* Lines 5 to 34: the active contacts of one body, and what they do. */
static void process(body_task *t, ds_iterate *x, const int32_t *list, int32_t count) {
  const ds_subproblem *p = t->p;
  ds_arena *arena = t->solve->arena;
  int32_t n = p->size[t->body], *active = DS_NEW(arena, int32_t, count + 1);
  size_t rows = (size_t)count * (size_t)(1 + t->samples) + 1;
  t->n = n, t->count = 0, t->contact = active, t->before = p->predicted + p->first[t->body];
  t->y = DS_NEW(arena, double, n + 1), t->delta = DS_NEW(arena, double, n + 1), t->flow = DS_NEW0(arena, double, n + 1);
  t->lambda = DS_NEW(arena, double, rows), t->work = DS_NEW(arena, double, 2 * rows + (size_t)n);
  t->h.a = DS_NEW(arena, double, rows *(size_t)n), t->h.c = DS_NEW(arena, double, rows);
  if (ds_arena_failed(arena)) return;
  double d;
  for (int32_t i = 0; i < count; i++)
    if (offset(&d, p, list[i], t->how)) active[t->count++] = list[i];
  if (t->count > 0) resolve(t, x->v + p->first[t->body], x->r);
}

static void run(ds_solve *s, ds_iterate *x, const ds_subproblem *p, choice how) {
  int32_t *start, *list;
  ds_iterate_clear(x, p);
  if (!p->delassus && list_contacts(s->arena, &start, &list, p)) {
    body_task task = {.solve = s, .p = p, .how = &how};
    task.samples = s->options->friction_samples ? s->options->friction_samples : SAMPLES;
    for (int32_t i = 0; i < p->body_count; i++) {
      ds_arena_mark mark = ds_arena_get_mark(s->arena);
      task.body = i;
      process(&task, x, list + start[i], start[i + 1] - start[i]);
      ds_arena_release(s->arena, mark);
    }
  }
  s->work.tool[DS_TOOL_STAGGERED] = s->work.projections;
  ds_subproblem_slip(x->u, p, x->v);
  x->error = ds_subproblem_error(p, x->r, x->u);
}

ds_solver_solve ds_ffd_solve, ds_ffd_qp_solve, ds_ffd_half_solve, ds_ffd_relative_solve, ds_ffd_other_solve,
    ds_ffd_least_solve; /* for the table of solvers.c */

void ds_ffd_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { run(s, x, p, (choice){0}); }
void ds_ffd_qp_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { run(s, x, p, (choice){.exact = true}); }
void ds_ffd_half_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { run(s, x, p, (choice){.half = true}); }
void ds_ffd_relative_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  run(s, x, p, (choice){.half = true, .relative = true});
}
void ds_ffd_other_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { run(s, x, p, (choice){.other = true}); }
void ds_ffd_least_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) { run(s, x, p, (choice){.least = true}); }
