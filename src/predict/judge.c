/* Deformable bodies whose prediction was wrong.
 *
 * After a hard impact, one Newton step moves a soft body too far: its forces grow with the third power of q, and its
 * energy V at the end is many times that of its quadratic model Q. This would create energy. Such a body gets the
 * missing stiffness along its motion d = h u,
 *
 *   K += 2 (V - Q)/|d|⁴ d dᵀ,
 *
 * so that the model has the actual energy there, and the step is solved again. Each time the model lies above V at one
 * more point, and the motion gets shorter, until no body has more energy than its model. */
#include "body/reduced.h"
#include "predict/predict.h"

static const double share = 0.02; /* of its energy: larger errors of the model are corrected */

double ds_deformable_surprise(double *energy, const ds_step_deformable *d, const double *rate, double h) {
  int32_t r = d->reduced->r;
  double q[DS_REDUCED_MAX], f[DS_REDUCED_MAX], model = 0, moving = 0;
  ds_reduced_force(f, d->reduced, d->q);
  for (int32_t i = 0; i < r; i++) q[i] = d->q[i] + h * rate[i];
  for (int32_t i = 0; i < r; i++) {
    double sum = 0;
    for (int32_t k = 0; k < r; k++) sum += d->tangent[i * r + k] * rate[k];
    model += (f[i] + 0.5 * h * sum) * h * rate[i];
    moving += 0.5 * rate[i] * rate[i];
  }
  double found = ds_reduced_energy(d->reduced, q);
  *energy = found + moving;
  return found - ds_reduced_energy(d->reduced, d->q) - model;
}

static void add_stiffness(double *stiffer, const double *rate, int32_t r, double surprise, double h) {
  double square = 0;
  for (int32_t i = 0; i < r; i++) square += rate[i] * rate[i];
  double c = 2 * surprise / (h * h * square * square);
  for (int32_t i = 0; i < r; i++)
    for (int32_t k = 0; k < r; k++) stiffer[i * r + k] += c * rate[i] * rate[k];
}

bool ds_find_misjudged(ds_arena *arena, double **stiffer, int32_t *count, const ds_assembly *assembly, int32_t bodies,
                       double h) {
  int32_t most = 6;
  for (int32_t i = 0; i < bodies; i++) most = assembly->bodies[i].size > most ? assembly->bodies[i].size : most;
  double *rate = DS_NEW(arena, double, most - 6 + 1);
  if (!rate) return false;
  *count = 0;
  for (int32_t i = 0; i < bodies; i++) {
    const ds_step_body *body = &assembly->bodies[i];
    int32_t r = body->size - 6;
    if (!body->ops->surprise || body->island < 0) continue;
    const ds_island *island = &assembly->islands[body->island];
    double energy;
    ds_vec3 v, w;
    ds_unscale_velocity(&v, &w, rate, body, island->v + island->problem.first[body->local]);
    double surprise = body->ops->surprise(&energy, body, rate, h);
    if (!(surprise > share * energy)) continue;
    if (!stiffer[i] && !(stiffer[i] = DS_NEW0(arena, double, r *r))) return false;
    add_stiffness(stiffer[i], rate, r, surprise, h);
    ++*count;
  }
  return true;
}
