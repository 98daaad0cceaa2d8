/* Proximal Newton on the Alart-Curnier map.
 *
 * Around a centre r_c, with rho_k = 1/W_k and weight alpha, solve Phi(r) = r - P(z) = 0,
 *
 *   z = r - rho (u + alpha W (r - r_c)),   P(z) = (max(0, z_N), z_T projected on the disk of radius mu max(0, z_N)),
 *
 * whose solution for r = r_c is a solution of the contact problem. alpha W (r - r_c) makes the Jacobian regular however
 * redundant the contacts are and picks impulses near the centre. With J = P'(z), E = I - (1 - alpha) J, C = rho E⁻¹ J a
 * Newton step is one block factorization on the body graph:
 *
 *   (I + G C Gᵀ) dv = -G E⁻¹ Phi,   dr = -E⁻¹ Phi - C Gᵀ dv.
 *
 * E⁻¹ and C have closed forms. With tau = z_T/|z_T| and kappa = mu z_N/|z_T|:
 *   open:  J = 0,  E⁻¹ = I,          C = 0
 *   stick: J = I,  E⁻¹ = I/alpha,    C = rho/alpha I
 *   slide: C = rho [1/alpha 0; mu tau/alpha  kappa/(1 - (1 - alpha) kappa) (I - tau tauᵀ)], not symmetric.
 *
 * Where a regular polygon of k corners d_j takes the place of the disk, P(z) is the nearest point of the polygon of
 * radius R = mu max(0, z_N). On an edge along e, with outward normal n, that is e eᵀ z_T + R cos(pi/k) n; at a corner
 * it is R d_j. So J = [1 0; mu g A] with g = cos(pi/k) n, A = e eᵀ on an edge and g = d_j, A = 0 at a corner, and
 *   polygon: C = rho/alpha [1 0; mu g A],  (E⁻¹ f)_T = ((1 - alpha) mu g f_N + A f_T)/alpha + (I - A) f_T.
 *
 * The outer loop moves the centre where the inner one succeeded, shrinks alpha after easy successes and raises it after
 * failures. Full steps: line searches on |Phi| were measured to be clearly worse.
 *
 * A round of the outer loop takes |Phi| to a tenth of the natural-map error. Where it is below that from the start, it
 * is taken to a tenth of itself: the error holds mu |u_T| and Phi does not, so that the slip of sticking contacts that
 * squeeze each other may be all that is left, and a round that ends before it begins would leave it. */
#include "project/newton.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "project/solve.h"

typedef struct newton {
  const ds_subproblem *p;
  ds_solve *solve;
  double *c;      /* 9 per contact */
  double *phi;    /* E⁻¹ Phi, 3 per contact */
  double *dv;     /* dof */
  double *gdv;    /* Gᵀ dv */
  double *center; /* r_c */
  int32_t left;   /* steps that may still be taken */
  double tolerance, target;
  double alpha, failed_at; /* of this round, and of the last one that failed */
  /* the round: steps around one centre */
  ds_iterate trial;
  double before, stop;      /* error at its start; |Phi| at which it ends well */
  double lowest, recent[3]; /* |Phi| of its steps: the last three, and the best before them */
  int32_t steps;
  bool symmetric;
  bool good; /* it has ended well */
} newton;

/* z of one contact. */
static void shift(double z[3], const double *r, const double *u, const double *center, double rho, double alpha) {
  for (int i = 0; i < 3; i++) z[i] = r[i] - rho * u[i] - alpha * (r[i] - center[i]);
}

/* Phi of one contact, and E⁻¹ Phi and C. Returns |Phi|²; *slides where C is not symmetric. */
static double linearize(double *phi, double *c, bool *slides, const double *r, const double *u, const double *center,
                        double mu, double w, double alpha) {
  double rho = 1 / w, z[3], p[3] = {0, 0, 0}, e = 1 - alpha;
  shift(z, r, u, center, rho, alpha);
  for (int i = 0; i < 9; i++) c[i] = 0;
  double zt = sqrt(z[1] * z[1] + z[2] * z[2]);
  if (z[0] <= 0) { /* open */
    for (int i = 0; i < 3; i++) phi[i] = r[i];
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  }
  if (zt <= mu * z[0] && mu > 0) { /* stick */
    double sum = 0;
    for (int i = 0; i < 3; i++) {
      double f = r[i] - z[i];
      sum += f * f;
      phi[i] = f / alpha;
      c[4 * i] = rho / alpha;
    }
    return sum;
  }
  double t1 = zt > 0 ? z[1] / zt : 0, t2 = zt > 0 ? z[2] / zt : 0, kappa = zt > 0 ? mu * z[0] / zt : 0;
  p[0] = z[0], p[1] = mu * z[0] * t1, p[2] = mu * z[0] * t2;
  double f0 = r[0] - p[0], f1 = r[1] - p[1], f2 = r[2] - p[2];
  double along = t1 * f1 + t2 * f2, across = 1 / (1 - e * kappa);
  phi[0] = f0 / alpha;
  phi[1] = e * mu * t1 * phi[0] + along * t1 + across * (f1 - along * t1);
  phi[2] = e * mu * t2 * phi[0] + along * t2 + across * (f2 - along * t2);
  c[0] = rho / alpha;
  c[3] = rho * mu * t1 / alpha;
  c[6] = rho * mu * t2 / alpha;
  double s = rho * kappa * across;
  c[4] = s * (1 - t1 * t1), c[5] = -s * t1 * t2;
  c[7] = -s * t1 * t2, c[8] = s * (1 - t2 * t2);
  if (mu > 0) *slides = true;
  return f0 * f0 + f1 * f1 + f2 * f2;
}

/* The same with a friction polygon. */
static double linearize_polygon(double *phi, double *c, bool *slides, const double *r, const double *u,
                                const double *center, double mu, double w, double alpha, int32_t samples) {
  double rho = 1 / w, z[3], p[2], e[2] = {0, 0};
  shift(z, r, u, center, rho, alpha);
  double radius = mu * z[0];
  int rank = z[0] > 0 && mu > 0 ? ds_polygon_project(p, e, z + 1, radius, samples) : 2;
  if (rank == 2) return linearize(phi, c, slides, r, u, center, z[0] > 0 && mu > 0 ? INFINITY : mu, w, alpha);
  double along = rank == 1 ? e[0] * p[0] + e[1] * p[1] : 0; /* what is left of p without it is R g */
  double g[2] = {p[0] / radius, p[1] / radius}, a[3] = {0, 0, 0};
  if (rank == 1) {
    for (int i = 0; i < 2; i++) g[i] = (p[i] - along * e[i]) / radius;
    a[0] = e[0] * e[0], a[1] = e[0] * e[1], a[2] = e[1] * e[1];
  }
  double f[3] = {r[0] - z[0], r[1] - p[0], r[2] - p[1]}, more = 1 / alpha - 1;
  double af[2] = {a[0] * f[1] + a[1] * f[2], a[1] * f[1] + a[2] * f[2]};
  phi[0] = f[0] / alpha;
  for (int i = 0; i < 2; i++) phi[1 + i] = more * mu * g[i] * f[0] + more * af[i] + f[1 + i];
  double s = rho / alpha;
  for (int i = 0; i < 9; i++) c[i] = 0;
  c[0] = s, c[3] = s * mu * g[0], c[6] = s * mu * g[1];
  c[4] = s * a[0], c[5] = c[7] = s * a[1], c[8] = s * a[2];
  *slides = true;
  return f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
}

/* |Phi| relative to the scale of the natural-map error, and the Newton matrix. */
static double build(newton *n) {
  const ds_subproblem *p = n->p;
  const ds_iterate *x = &n->trial;
  double sum = 0, norm = 0;
  bool slides = false;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *r = x->r + 3 * k, *u = x->u + 3 * k, *center = n->center + 3 * k;
    sum += p->samples
               ? linearize_polygon(n->phi + 3 * k, n->c + 9 * k, &slides, r, u, center, p->mu[k], p->weight[k],
                                   n->alpha, p->samples)
               : linearize(n->phi + 3 * k, n->c + 9 * k, &slides, r, u, center, p->mu[k], p->weight[k], n->alpha);
    for (int i = 0; i < 3; i++) norm += x->r[3 * k + i] * x->r[3 * k + i];
  }
  n->symmetric = !slides;
  double scale = fmax(sqrt(norm), p->rho * p->target);
  double error = scale > 0 ? sqrt(sum) / scale : sqrt(sum);
  return isfinite(error) ? error : INFINITY;
}

/* With the matrix factored. */
static void newton_step(newton *n) {
  const ds_subproblem *p = n->p;
  ds_iterate *x = &n->trial;
  memset(n->dv, 0, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(n->dv, p, n->phi);
  for (int32_t i = 0; i < p->dof; i++) n->dv[i] = -n->dv[i];
  ds_system_solve(n->dv, n->solve->system);
  ds_subproblem_apply_transposed(n->gdv, p, n->dv);
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *c = n->c + 9 * k, *g = n->gdv + 3 * k;
    for (int i = 0; i < 3; i++)
      x->r[3 * k + i] -= n->phi[3 * k + i] + c[3 * i] * g[0] + c[3 * i + 1] * g[1] + c[3 * i + 2] * g[2];
  }
  ds_iterate_update(x, p);
  n->steps++;
}

/* A round around the best point x. */
static void begin_round(newton *n, const ds_iterate *x) {
  memcpy(n->center, x->r, 3 * (size_t)n->p->contact_count * sizeof(double));
  ds_iterate_copy(&n->trial, x, n->p);
  n->before = x->error, n->stop = 0.1 * x->error;
  n->lowest = n->recent[0] = n->recent[1] = n->recent[2] = INFINITY;
  n->steps = 0;
  n->good = false;
}

/* Whether the round ends here: |Phi| is small enough, or does not become so. Else the matrix of the next step is ready.
 * The best natural-map error seen goes to `best`. */
static bool ends_round(newton *n, ds_iterate *best) {
  double error = build(n), *recent = n->recent;
  if (n->steps == 0 && error <= n->stop && error > DBL_EPSILON) n->stop = 0.1 * error; /* else solved to rounding */
  if (n->trial.error < best->error) ds_iterate_copy(best, &n->trial, n->p);
  n->good = error <= n->stop || best->error <= n->target;
  if (n->good || !isfinite(error) || n->left <= 0) return true;
  /* the best of the last three must be better than half of the best before them */
  if (n->steps >= 4 && fmin(error, fmin(recent[0], recent[1])) > 0.5 * n->lowest) return true;
  n->lowest = fmin(n->lowest, recent[2]);
  recent[2] = recent[1], recent[1] = recent[0], recent[0] = error;
  return false;
}

/* The weight of the next round: less after an easy one, more after a failure. */
static void adapt(newton *n, double error, bool easy) {
  if (easy) {
    double smaller = n->alpha * (n->steps <= 2 ? 0.01 : n->steps <= 4 ? 0.1 : 0.3);
    bool fast = error <= 0.1 * n->before && error <= 1e-6; /* keep alpha, and with it the factorization */
    if (smaller > 1.5 * n->failed_at && !fast) n->alpha = fmax(smaller, 1e-13);
  } else {
    n->failed_at = n->alpha;
    n->alpha *= 4;
  }
}

static bool allocate(ds_arena *arena, newton *n) {
  size_t rows = 3 * (size_t)n->p->contact_count + 1;
  n->c = DS_NEW(arena, double, 3 * rows);
  n->phi = DS_NEW(arena, double, rows);
  n->gdv = DS_NEW(arena, double, rows);
  n->center = DS_NEW(arena, double, rows);
  n->dv = DS_NEW(arena, double, n->p->dof + 1);
  n->trial = ds_iterate_new(arena, n->p);
  return !ds_arena_failed(arena);
}

/* Whether x is to have more digits. The natural map may be solved where the full error is not: ten times less lowers
 * that, too, unless impulses cancel each other. */
static bool goes_on(newton *n, const ds_iterate *x, const ds_goal *goal) {
  ds_iterate judged = *x;
  if (ds_goal_is_met(&judged, n->p, goal) || judged.error > DS_NEAR) return false;
  n->tolerance *= 0.1, n->target *= 0.1;
  return true;
}

/* Whether x is exact enough for what moves, where no more is asked for or more digits do not come easily. */
static bool will_do(const ds_solve *s, const ds_iterate *x, const ds_subproblem *p, const ds_goal *goal, bool slow) {
  ds_iterate judged = *x;
  return (s->rough || slow) && x->error <= goal->moving && ds_goal_is_met(&judged, p, goal);
}

bool ds_newton_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_goal *goal, double proximal,
                     int32_t steps) {
  ds_arena_mark mark = ds_arena_get_mark(s->arena);
  newton n = {
      .p = p, .solve = s, .left = steps, .tolerance = goal->tolerance, .target = goal->target, .alpha = proximal};
  if (!allocate(s->arena, &n)) return false;
  int32_t before_all = s->work.projections;
  ds_iterate_update(x, p); /* its error may have been the full one */
  while (n.left > 0 && n.alpha <= 1e3 && !ds_effort_is_over(s->effort)) {
    if (x->error <= n.target) {
      if (!goes_on(&n, x, goal)) break;
      continue;
    }
    begin_round(&n, x);
    while (!ends_round(&n, x)) {
      s->work.projections++, n.left--;
      if (!ds_system_factor(s->system, n.c, n.symmetric)) break;
      newton_step(&n);
    }
    if (n.good && n.trial.error < x->error) ds_iterate_copy(x, &n.trial, p);
    if (n.steps == 0 && !(x->error < n.before)) break; /* the map is solved to rounding already */
    bool slow = !(x->error < 0.7 * n.before), easy = !slow || n.good;
    if (x->error > n.tolerance && will_do(s, x, p, goal, slow)) break;
    if (x->error <= n.tolerance && !easy && !goes_on(&n, x, goal)) break; /* the last digits do not come easily */
    adapt(&n, x->error, easy);
  }
  ds_arena_release(s->arena, mark);
  s->work.tool[DS_TOOL_NEWTON] += s->work.projections - before_all;
  return ds_goal_is_met(x, p, goal);
}
