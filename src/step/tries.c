/* A step in as many equal parts as its motion needs.
 *
 * A step whose motion does not pass (motion.c) is taken again in twice as many parts, and so on; once, a step at whose
 * end velocities were not solved for (node.c): they have no parts of their own, as chords do (divide.c). With error
 * control it is taken in twice as many parts until positions at its end do not differ by more than the bound times h:
 * the finer of the two is kept, which is nearer to the truth than they are to each other. What happened in earlier
 * steps has no say, so that a run can be continued from its state. */
#include <math.h>
#include <string.h>

#include "body/scene.h"
#include "project/solvers.h"
#include "step/step.h"

enum { PASS_PARTS = 16, CONTROL_PARTS = 64 }; /* at most: times the first, and all */

bool ds_step_is_guarded(const ds_options *o) {
  return ds_solver_of(o)->safeguarded && o->stabilization < DS_STABILIZE_BAUMGARTE;
}

bool ds_step_is_accepted(const ds_step_run *run) { return run->report->motion.passed || run->last_try; }

/* What is left of the report of a try that is not kept: the work that it took. */
static void forget(ds_step_report *report, const ds_step_report *before) {
  ds_certificate tried = report->worst;
  double seconds[DS_STAGE_COUNT];
  memcpy(seconds, report->seconds, sizeof seconds);
  *report = *before;
  memcpy(report->seconds, seconds, sizeof seconds);
  memcpy(report->worst.tool, tried.tool, sizeof tried.tool);
  report->worst.projection_iterations = tried.projection_iterations;
  report->worst.factorizations = tried.factorizations;
}

/* Largest distance of points of a body between two states. */
static double difference(const ds_state *a, const ds_state *b) {
  double worst = 0;
  for (int32_t i = 0; i < a->body_count; i++) {
    const ds_body *body = &a->scene->bodies[i];
    ds_vec3 v, w;
    if (!body->ops->dynamic) continue;
    ds_velocity_between(&v, &w, ds_principal_pose(&a->bodies[i]), ds_principal_pose(&b->bodies[i]), 1);
    worst = fmax(worst, v3_norm(v) + v3_norm(w) * body->bounding_radius);
  }
  return worst;
}

/* From `parts` on, until the motion passes. */
static ds_status pass(ds_step_run *run, ds_state *state, int32_t *parts, int32_t most, const ds_state *start,
                      const ds_step_report *before, ds_step_part *whole, ds_step_part *part) {
  bool missed = false; /* in halves its velocities are others: once more is mostly enough */
  run->missed = &missed;
  for (int32_t first = *parts;; *parts *= 2, missed = false) {
    run->last_try = 2 * *parts > most || run->options->deadline > 0 || !ds_step_is_guarded(run->options);
    run->report->parts = *parts;
    ds_status status = *parts > 1 ? ds_step_in_parts(run, state, *parts, part) : whole(run, state);
    missed &= *parts == first;
    bool again = status == DS_OK ? !ds_step_is_accepted(run) || missed : status == DS_ERROR_NOT_FINITE;
    if (!again || run->last_try) {
      run->missed = NULL;
      return status;
    }
    ds_step_restore(state, start);
    forget(run->report, before);
    run->moved = false;
  }
}

ds_status ds_step_try(ds_step_run *run, ds_state *state, int32_t parts, ds_step_part *whole, ds_step_part *part) {
  ds_state start = run->kept, coarse;
  ds_step_report before = *run->report;
  double bound = run->options->error_control * run->options->step, error = INFINITY;
  ds_status status = pass(run, state, &parts, PASS_PARTS * parts, &start, &before, whole, part);
  while (status == DS_OK && bound > 0 && error > bound && 2 * parts <= CONTROL_PARTS && run->options->deadline == 0) {
    if (!ds_step_keep(&run->stepper->arena, &coarse, state)) status = DS_ERROR_MEMORY;
    ds_step_restore(state, &start);
    if (status != DS_OK) return status;
    forget(run->report, &before);
    run->moved = false;
    parts *= 2;
    status = pass(run, state, &parts, CONTROL_PARTS, &start, &before, whole, part);
    error = difference(&coarse, state);
    run->report->motion.time_error = error / run->options->step;
  }
  return status;
}
