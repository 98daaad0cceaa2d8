/* Proximal Newton on the natural map of one projection, as in newton.c but with symmetric matrices, because the other
 * impulses are fixed:
 *
 *   contact:  z = alpha - rho (u_N + p W (alpha - alpha_c)),  P(z) = max(0, z)
 *   friction: z = beta - rho (u_T + p W (beta - beta_c)),     P(z) = z cut to the disk of radius R
 *
 * with E = I - (1 - p) P'(z), C = rho E⁻¹ P', (I + G C Gᵀ) dv = -G E⁻¹ Phi. */
#include "project/polish.h"

#include <math.h>

typedef struct polish {
  const ds_subproblem *p;
  const double *radius; /* NULL: contact */
  int32_t samples;      /* friction: 0 = disk */
  double *c, *phi, *gv, *center, *part, *dv;
} polish;

/* The part of r this projection moves; zero elsewhere. */
static void take_part(const polish *q, double *part, const double *r) {
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    part[3 * k] = q->radius ? 0 : r[3 * k];
    part[3 * k + 1] = q->radius ? r[3 * k + 1] : 0;
    part[3 * k + 2] = q->radius ? r[3 * k + 2] : 0;
  }
}

static void velocity(const polish *q, double *v, const double *v_hat) {
  memcpy(v, v_hat, (size_t)q->p->dof * sizeof(double));
  ds_subproblem_add_impulse(v, q->p, q->part);
}

/* Natural-map error with the common rho; gv = Gᵀ v - b. */
static double natural_error(polish *q, const double *v) {
  double sum = 0, norm = 0, rho = q->p->rho;
  ds_subproblem_slip(q->gv, q->p, v);
  for (int32_t k = 0; k < q->p->contact_count; k++) {
    const double *r = q->part + 3 * k, *u = q->gv + 3 * k;
    if (q->radius) {
      double z[2] = {r[1] - rho * u[1], r[2] - rho * u[2]}, m[2] = {z[0], z[1]}, radius = q->radius[k];
      double length = sqrt(z[0] * z[0] + z[1] * z[1]);
      if (q->samples)
        ds_polygon_project(m, NULL, z, radius, q->samples);
      else if (length > radius)
        m[0] *= radius / length, m[1] *= radius / length;
      sum += (r[1] - m[0]) * (r[1] - m[0]) + (r[2] - m[1]) * (r[2] - m[1]);
      norm += radius * radius;
    } else {
      double e = r[0] - fmax(0, r[0] - rho * u[0]);
      sum += e * e;
      norm += r[0] * r[0];
    }
  }
  double scale = fmax(sqrt(norm), rho * q->p->target), error = sum > 0 ? sqrt(sum) / scale : 0;
  return isfinite(error) ? error : INFINITY;
}

static void linearize_contact(const polish *q, int32_t k, double prox) {
  double w = q->p->weight[k], r = q->part[3 * k], *c = q->c + 9 * k, *phi = q->phi + 3 * k;
  double z = r - q->gv[3 * k] / w - prox * (r - q->center[3 * k]);
  phi[0] = z > 0 ? (r - z) / prox : r;
  c[0] = z > 0 ? 1 / (w * prox) : 0;
}

/* The polygon: P' = I inside, e eᵀ on an edge e, 0 at a corner. */
static void linearize_polygon(const polish *q, int32_t k, double prox) {
  double w = q->p->weight[k], *c = q->c + 9 * k, *phi = q->phi + 3 * k, z[2], m[2], e[2] = {0, 0};
  const double *r = q->part + 3 * k + 1;
  for (int i = 0; i < 2; i++) z[i] = r[i] - q->gv[3 * k + 1 + i] / w - prox * (r[i] - q->center[3 * k + 1 + i]);
  int rank = ds_polygon_project(m, e, z, q->radius[k], q->samples);
  double f[2] = {r[0] - m[0], r[1] - m[1]}, along = e[0] * f[0] + e[1] * f[1];
  for (int i = 0; i < 2; i++) {
    phi[1 + i] = rank == 2 ? f[i] / prox : rank == 1 ? f[i] + (1 / prox - 1) * along * e[i] : f[i];
    for (int j = 0; j < 2; j++)
      c[4 + 3 * i + j] = rank == 2 ? (i == j ? 1 / (w * prox) : 0) : rank == 1 ? e[i] * e[j] / (w * prox) : 0;
  }
}

static void linearize_friction(const polish *q, int32_t k, double prox) {
  double w = q->p->weight[k], radius = q->radius[k], *c = q->c + 9 * k, *phi = q->phi + 3 * k, z[2];
  const double *r = q->part + 3 * k + 1;
  for (int i = 0; i < 2; i++) z[i] = r[i] - q->gv[3 * k + 1 + i] / w - prox * (r[i] - q->center[3 * k + 1 + i]);
  double length = sqrt(z[0] * z[0] + z[1] * z[1]);
  if (length <= radius) { /* stick; a radius of zero sticks at zero */
    double f = radius > 0 ? 1 / prox : 1;
    for (int i = 0; i < 2; i++) phi[1 + i] = f * (r[i] - z[i]);
    c[4] = c[8] = radius > 0 ? 1 / (w * prox) : 0;
    return;
  }
  double t[2] = {z[0] / length, z[1] / length}, kappa = radius / length, across = 1 / (1 - (1 - prox) * kappa);
  double f[2] = {r[0] - radius * t[0], r[1] - radius * t[1]}, along = t[0] * f[0] + t[1] * f[1];
  double s = kappa * across / w;
  for (int i = 0; i < 2; i++) phi[1 + i] = along * t[i] + across * (f[i] - along * t[i]);
  c[4] = s * (1 - t[0] * t[0]), c[5] = c[7] = -s * t[0] * t[1], c[8] = s * (1 - t[1] * t[1]);
}

/* One Newton step of q->part. */
static bool newton_step(polish *q, ds_system *system, double prox) {
  const ds_subproblem *p = q->p;
  memset(q->c, 0, 9 * (size_t)p->contact_count * sizeof(double));
  memset(q->phi, 0, 3 * (size_t)p->contact_count * sizeof(double));
  for (int32_t k = 0; k < p->contact_count; k++)
    if (q->radius && q->samples)
      linearize_polygon(q, k, prox);
    else if (q->radius)
      linearize_friction(q, k, prox);
    else
      linearize_contact(q, k, prox);
  if (!ds_system_factor(system, q->c, true)) return false;
  memset(q->dv, 0, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(q->dv, p, q->phi);
  for (int32_t i = 0; i < p->dof; i++) q->dv[i] = -q->dv[i];
  ds_system_solve(q->dv, system);
  ds_subproblem_apply_transposed(q->gv, p, q->dv);
  for (int32_t k = 0; k < p->contact_count; k++)
    for (int i = 0; i < 3; i++) {
      const double *c = q->c + 9 * k + 3 * i, *g = q->gv + 3 * k;
      q->part[3 * k + i] -= q->phi[3 * k + i] + c[0] * g[0] + c[1] * g[1] + c[2] * g[2];
    }
  return true;
}

double ds_projection_polish(ds_solve *solve, double *r, double *v, const ds_subproblem *p, const double *v_hat,
                            const double *radius, double tolerance, int32_t samples) {
  ds_arena *arena = solve->arena;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  polish q = {.p = p, .radius = radius, .samples = samples};
  size_t n = 3 * (size_t)p->contact_count + 1;
  q.c = DS_NEW(arena, double, 3 * n);
  q.phi = DS_NEW(arena, double, n);
  q.gv = DS_NEW(arena, double, n);
  q.center = DS_NEW(arena, double, n);
  q.part = DS_NEW(arena, double, n);
  q.dv = DS_NEW(arena, double, p->dof + 1);
  double *trial = DS_NEW(arena, double, p->dof + 1);
  if (ds_arena_failed(arena)) return INFINITY;
  take_part(&q, q.part, r);
  velocity(&q, trial, v_hat);
  double best = natural_error(&q, trial), prox = 1e-4;
  memcpy(v, trial, (size_t)p->dof * sizeof(double));
  memcpy(q.center, q.part, 3 * (size_t)p->contact_count * sizeof(double));
  /* it starts near: half the steps will do, and more of them do not get to corners of a polygon */
  for (int32_t i = 0; i < DS_STEPS / 2 && best > tolerance; i++) {
    if (!newton_step(&q, solve->system, prox)) break;
    solve->work.projections++;
    velocity(&q, trial, v_hat);
    double error = natural_error(&q, trial);
    if (!isfinite(error)) break;
    if (error < best) {
      best = error;
      memcpy(v, trial, (size_t)p->dof * sizeof(double));
      for (int32_t k = 0; k < p->contact_count; k++)
        for (int c = radius ? 1 : 0; c < (radius ? 3 : 1); c++) r[3 * k + c] = q.part[3 * k + c];
      memcpy(q.center, q.part, 3 * (size_t)p->contact_count * sizeof(double));
    } else if (error > 1e3 * best) {
      take_part(&q, q.part, r); /* back, with more weight */
      velocity(&q, trial, v_hat);
      natural_error(&q, trial);
      prox = fmin(1, 10 * prox);
    }
  }
  ds_arena_release(arena, mark);
  return best;
}
