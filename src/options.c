/* Options of a step: defaults that work untuned, and their ranges. */
#include <math.h>

#include "base/error.h"
#include "drystone/drystone.h"

ds_options ds_default_options(void) {
  return (ds_options){.step = 0.01,
                      .tolerance = 0,
                      .method = 0,
                      .friction_samples = 0,
                      .max_iterations = 200,
                      .rel_err = 1e-4,
                      .warm_start = true,
                      .sub_islands = true,
                      .contacts_per_face = 8,
                      .margin = 0,
                      .integrator = DS_INTEGRATOR_AUTO,
                      .restitution_law = 0,
                      .impacts = DS_IMPACTS_SIMULTANEOUS,
                      .face_pressure = DS_PRESSURE_CORNERS,
                      .stabilization = DS_STABILIZE_POSITIONS,
                      .stabilization_gain = 0.5,
                      .envelope = 0.0625,
                      .friction_stabilization = 0,
                      .metric = DS_METRIC_EFFECTIVE,
                      .newton = 1,
                      .newmark_damping = 1,
                      .step_budget = 2000,
                      .error_control = 0,
                      .deadline = 0};
}

double ds_options_tolerance(const ds_options *o) { return o->tolerance > 0 ? o->tolerance : 1e-8; }

static ds_status check_stabilization(const ds_options *o, ds_error *error) {
  if (o->stabilization < DS_STABILIZE_POSITIONS || o->stabilization > DS_STABILIZE_ENVELOPE)
    return ds_fail(error, DS_ERROR_INPUT, "stabilization = %d is unknown", (int)o->stabilization);
  if (!(o->stabilization_gain >= 0) || !(o->stabilization_gain <= 1))
    return ds_fail(error, DS_ERROR_INPUT, "stabilization_gain = %g: 0 to 1", o->stabilization_gain);
  if (!(o->envelope > 0) || !isfinite(o->envelope))
    return ds_fail(error, DS_ERROR_INPUT, "envelope = %g m: must be positive and finite", o->envelope);
  if (!(o->friction_stabilization >= 0) || !(o->friction_stabilization <= 1))
    return ds_fail(error, DS_ERROR_INPUT, "friction_stabilization = %g: 0 to 1", o->friction_stabilization);
  bool used = o->stabilization != DS_STABILIZE_POSITIONS || o->friction_stabilization > 0;
  if (used && o->integrator != DS_INTEGRATOR_EULER)
    return ds_fail(error, DS_ERROR_INPUT, "stabilization by velocities needs the integrator euler");
  return DS_OK;
}

ds_status ds_options_check(const ds_options *o, ds_error *error) {
  if (!(o->step > 0) || !isfinite(o->step))
    return ds_fail(error, DS_ERROR_INPUT, "step = %g s: must be positive and finite", o->step);
  if (!(o->tolerance >= 0) || !(o->tolerance <= 1))
    return ds_fail(error, DS_ERROR_INPUT, "tolerance = %g: must be 0 (automatic), or above 0 and at most 1",
                   o->tolerance);
  if (!(o->step_budget >= 0) || !isfinite(o->step_budget))
    return ds_fail(error, DS_ERROR_INPUT, "step_budget = %g: 0 for no limit, or a number of factorizations",
                   o->step_budget);
  if (!(o->rel_err > 0) || !isfinite(o->rel_err))
    return ds_fail(error, DS_ERROR_INPUT, "rel_err = %g: must be positive and finite", o->rel_err);
  if (o->friction_samples != 0 && (o->friction_samples < 3 || o->friction_samples > 64))
    return ds_fail(error, DS_ERROR_INPUT, "friction_samples = %d: 0 for the exact disk, or 3 to 64",
                   o->friction_samples);
  if (o->max_iterations < 1)
    return ds_fail(error, DS_ERROR_INPUT, "max_iterations = %d: at least 1", o->max_iterations);
  if (o->contacts_per_face < 3 || o->contacts_per_face > 400)
    return ds_fail(error, DS_ERROR_INPUT, "contacts_per_face = %d: 3 to 400", o->contacts_per_face);
  if (!(o->margin >= 0) || !isfinite(o->margin))
    return ds_fail(error, DS_ERROR_INPUT, "margin = %g m: at least 0 and finite", o->margin);
  if (!ds_method_name(o->method)) return ds_fail(error, DS_ERROR_INPUT, "method = %d is unknown", (int)o->method);
  if (o->integrator < DS_INTEGRATOR_EULER || o->integrator > DS_INTEGRATOR_AUTO)
    return ds_fail(error, DS_ERROR_INPUT, "integrator = %d is unknown", (int)o->integrator);
  if (!ds_restitution_name(o->restitution_law))
    return ds_fail(error, DS_ERROR_INPUT, "restitution_law = %d is unknown", (int)o->restitution_law);
  if (o->impacts != DS_IMPACTS_SIMULTANEOUS && o->impacts != DS_IMPACTS_SEQUENTIAL)
    return ds_fail(error, DS_ERROR_INPUT, "impacts = %d is unknown", (int)o->impacts);
  if (o->face_pressure != DS_PRESSURE_CORNERS && o->face_pressure != DS_PRESSURE_EVEN)
    return ds_fail(error, DS_ERROR_INPUT, "face_pressure = %d is unknown", (int)o->face_pressure);
  if (o->metric != DS_METRIC_EFFECTIVE && o->metric != DS_METRIC_MASS)
    return ds_fail(error, DS_ERROR_INPUT, "metric = %d is unknown", (int)o->metric);
  if (o->newton < 1 || o->newton > 100)
    return ds_fail(error, DS_ERROR_INPUT, "newton = %d: 1 to 100 Newton steps", o->newton);
  if (!(o->newmark_damping >= 0) || !(o->newmark_damping <= 1))
    return ds_fail(error, DS_ERROR_INPUT, "newmark_damping = %g: 0 to 1", o->newmark_damping);
  if (!(o->error_control >= 0) || !isfinite(o->error_control))
    return ds_fail(error, DS_ERROR_INPUT, "error_control = %g m/s: 0 for none, or positive and finite",
                   o->error_control);
  if (!(o->deadline >= 0) || !isfinite(o->deadline))
    return ds_fail(error, DS_ERROR_INPUT, "deadline = %g s: 0 for none, or positive and finite", o->deadline);
  return check_stabilization(o, error);
}
