/* Reduced deformable bodies: linear modes, and large deformation of St. Venant and Kirchhoff (docs/deformables.md has
 * the mathematics). They differ in their elastic forces only (body/reduced.c), which are linear of modes: their model
 * of a step is exact. The files of the stages do the work: body/deformable.c, assemble/deformable.c,
 * predict/deformable.c, predict/judge.c. */
#include <string.h>

#include "assemble/assemble.h"
#include "body/deformable.h"
#include "body/kind.h"
#include "integrate/integrate.h"
#include "predict/predict.h"

static const ds_reduced *shape_of(const ds_body *body) {
  return body->kind == DS_BODY_DYNAMIC && body->shape_count > 0 ? body->shapes[0].reduced : NULL;
}

static bool takes_modal(const ds_body *body) { return shape_of(body) && !shape_of(body)->quadratic; }
static bool takes_stvk(const ds_body *body) { return shape_of(body) && shape_of(body)->quadratic; }

static void start(double *q, double *rate, const ds_body *body) {
  const double *given = body->shapes[0].start;
  size_t r = (size_t)body->r;
  if (!given) return;
  memcpy(q, given, r * sizeof(double));
  memcpy(rate, given + r, r * sizeof(double));
}

static ds_vec3 momentum(const ds_body *body, const double *q, ds_vec3 w, const double *rate) {
  return ds_deformable_momentum(body->reduced, q, w, rate);
}

static void energy(ds_energy *energy, const ds_body *body, const ds_body_state *s, const ds_state *state) {
  energy->kinetic += 0.5 * body->mass.mass * v3_norm2(s->v);
  energy->kinetic +=
      ds_deformable_energy(&energy->elastic, body->reduced, state->reduced + body->first_reduced,
                           quat_unrotate(s->q, s->w), state->reduced_rate + body->first_reduced, state->reduced_step);
}

static void fill(ds_step_body *step, const ds_options *options) { ds_fill_deformable(step->own, options); }

static void scale(double *out, const ds_step_body *step, ds_vec3 w, const double *rate) {
  ds_scale_deformable(out, step->own, w, rate);
}

static ds_vec3 unscale(double *rate, const ds_step_body *step, const double *in) {
  return ds_unscale_deformable(rate, step->own, in);
}

static ds_vec3 kick(const ds_step_body *step, ds_vec3 dw, const double *rate, const double *before) {
  const ds_step_deformable *d = step->own;
  int32_t r = d->reduced->r, n = 3 + r;
  double sum[3];
  for (int32_t i = 0; i < 3; i++) {
    const double *row = d->rows + i * n;
    sum[i] = row[0] * dw.x + row[1] * dw.y + row[2] * dw.z;
    for (int32_t a = 0; a < r; a++) sum[i] += row[3 + a] * (rate[a] - before[a]);
  }
  return v3(sum[0], sum[1], sum[2]);
}

static ds_vec3 predict(ds_step_body *step, ds_vec3 before, ds_vec3 momentum, const ds_options *options) {
  return ds_deformable_predict(step->own, before, momentum, options);
}

static double surprise(double *energy, const ds_step_body *step, const double *rate, double h) {
  return ds_deformable_surprise(energy, step->own, rate, h);
}

#define SHARED                                                                                            \
  .dynamic = true, .deforms = true, .finish = ds_body_take_reduced, .start = start, .momentum = momentum, \
  .energy = energy, .begin = ds_new_deformable, .fill = fill, .scale = scale, .unscale = unscale,         \
  .rows = ds_deformable_contact_rows, .row = ds_deformable_row, .stir = ds_deformable_stir, .kick = kick, \
  .predict = predict, .move = ds_move_deformable

const ds_body_ops ds_body_modal = {.name = "modal", .takes = takes_modal, SHARED};
const ds_body_ops ds_body_stvk = {.name = "stvk", .takes = takes_stvk, .surprise = surprise, SHARED};
