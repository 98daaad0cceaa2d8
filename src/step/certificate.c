/* What a step says of its solution: the certificate of every island, and the worst of them. Of a step in parts the
 * islands and what there is are those of the last part, errors the largest and iterations the sums over all parts. An
 * island has solved several problems where it moves by the midpoint rule: its certificate is of them all. */
#include <math.h>

#include "base/array.h"
#include "step/step.h"

static void add_certificate(ds_certificate *worst, const ds_certificate *c) {
  worst->bodies += c->bodies;
  worst->contacts += c->contacts;
  worst->staggered_iterations =
      c->staggered_iterations > worst->staggered_iterations ? c->staggered_iterations : worst->staggered_iterations;
  worst->projection_iterations += c->projection_iterations;
  worst->factorizations += c->factorizations;
  for (int32_t i = 0; i < DS_TOOL_COUNT; i++) worst->tool[i] += c->tool[i];
  worst->conflict = fmax(worst->conflict, c->conflict);
  worst->rel_err = fmax(worst->rel_err, c->rel_err);
  worst->residual = fmax(worst->residual, c->residual);
  worst->natural_error = fmax(worst->natural_error, c->natural_error);
  worst->approach_velocity = fmax(worst->approach_velocity, c->approach_velocity);
  worst->cone_violation = fmax(worst->cone_violation, c->cone_violation);
  worst->joint_gap = fmax(worst->joint_gap, c->joint_gap);
  worst->dissipation_error = fmax(worst->dissipation_error, c->dissipation_error);
  worst->unbounded |= c->unbounded;
  worst->limited |= c->limited;
  worst->tolerance = fmax(worst->tolerance, c->tolerance);
  worst->converged &= c->converged;
}

bool ds_step_reserve(const ds_step_run *run) {
  ds_stepper *stepper = run->stepper;
  return ds_array_reserve(&stepper->islands, &stepper->island_capacity, run->assembly.island_count,
                          sizeof *stepper->islands);
}

/* The island of the step that an island of a node or of a part belongs to; -1 where there is none. */
static int32_t island_of(const ds_step_run *run, const ds_island *island) {
  for (int32_t k = 0; run->whole && k < island->problem.body_count; k++) {
    int32_t i = run->whole->bodies[island->bodies[k]].island;
    if (i >= 0) return i;
  }
  return -1;
}

/* One more problem of an island: its error and tolerance are those of the one that misses by most. */
static void add_problem(ds_certificate *all, const ds_certificate *c) {
  double error = all->natural_error, tolerance = all->tolerance;
  bool worse = tolerance == 0 || c->natural_error * tolerance > error * c->tolerance;
  add_certificate(all, c);
  all->natural_error = worse ? c->natural_error : error;
  all->tolerance = worse ? c->tolerance : tolerance;
}

void ds_step_count(const ds_step_run *run, const ds_island *island) {
  ds_certificate more = island->certificate;
  int32_t i = island_of(run, island);
  more.bodies = more.contacts = 0; /* of islands that were counted */
  if (i >= 0)
    add_problem(&run->stepper->islands[i], &more);
  else
    add_certificate(&run->report->worst, &more);
}

static void count_work(const ds_step_run *run, const ds_island *island) {
  ds_certificate more = {.converged = true};
  int32_t i = island_of(run, island);
  ds_certificate_add_work(&more, &island->certificate);
  more.unbounded = false, more.conflict = more.rel_err = 0;
  add_certificate(i >= 0 ? &run->stepper->islands[i] : &run->report->worst, &more);
}

void ds_step_count_islands(ds_step_run *run, const bool *unused) {
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    if (unused && unused[i])
      count_work(run, &run->assembly.islands[i]);
    else
      ds_step_count(run, &run->assembly.islands[i]);
  }
  run->counted = true;
}

void ds_step_count_unused(ds_step_run *run) {
  for (int32_t i = 0; !run->counted && i < run->assembly.island_count; i++) count_work(run, &run->assembly.islands[i]);
  run->counted = true;
}

void ds_step_open_certificates(ds_step_run *run, const bool *divided) {
  ds_stepper *stepper = run->stepper;
  ds_step_report *report = run->report;
  double rest = ds_options_tolerance(run->options);
  run->whole = &run->assembly;
  run->counted = true;
  report->contacts = run->contacts.count;
  report->islands = stepper->island_count = run->assembly.island_count;
  report->moving_islands = report->active_contacts = 0;
  for (int32_t i = 0; i < stepper->island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    ds_certificate *c = &stepper->islands[i];
    *c = island->certificate;
    if (divided[i]) { /* what was found is not used, what it took is */
      *c = (ds_certificate){.bodies = c->bodies, .contacts = c->contacts, .converged = true};
      count_work(run, island);
    }
    report->moving_islands += island->certificate.tolerance > rest;
    for (int32_t k = 0; k < island->problem.contact_count; k++) report->active_contacts += island->r[3 * k] > 0;
  }
}

void ds_step_certify(ds_step_run *run) {
  const ds_stepper *stepper = run->stepper;
  ds_step_report *report = run->report;
  int32_t unconverged = 0;
  report->worst.bodies = report->worst.contacts = 0;
  for (int32_t i = 0; i < stepper->island_count; i++) {
    add_certificate(&report->worst, &stepper->islands[i]);
    unconverged += !stepper->islands[i].converged;
  }
  if (unconverged > report->unconverged_islands) report->unconverged_islands = unconverged;
  for (int32_t k = 0; k < run->contacts.count; k++)
    if (!ds_feature_is_limit(run->contacts.points[k].feature) && !ds_feature_is_ahead(run->contacts.points[k].feature))
      report->penetration = fmax(report->penetration, -run->contacts.points[k].gap);
  run->whole = NULL;
}
