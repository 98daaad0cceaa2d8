/* Stage 0: one step, a call a stage. The report is filled along the way; the state changes in the last stage only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/assemble.h"
#include "base/array.h"
#include "base/check.h"
#include "base/thread.h"
#include "detect/detect.h"
#include "drystone/drystone.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "problem/effort.h"
#include "problem/export.h"
#include "project/project.h"
#include "touch/hold.h"

enum { LOOKS_AGAIN = 1 };             /* at what the solution runs into, at most */
enum { JUDGEMENTS = 8 };              /* of how stiff deformable bodies are, after the first, at most */
static const double LAST_RATE = 1e-6; /* s a contact: what a contact projection takes, until it is known ... */
static const double LAST_SPARE = 1.2; /* ... and then what the slowest of late took and a fifth more */

struct ds_stepper {
  ds_pool *pool;
  ds_arena arena;    /* of the step */
  ds_arena *workers; /* of the islands, one a thread */
  ds_certificate *islands;
  int32_t island_count, island_capacity;
  double started;        /* ds_clock at the start of the step */
  double last_rate;      /* s a contact, of the contact projections that ended steps with a deadline */
  ds_observer *observer; /* or NULL */
  void *observer_user;
  atomic_bool stop; /* the caller wants the step to end */
  atomic_int work;  /* factorizations of this step */
};

ds_stepper *ds_stepper_create(int32_t threads) {
  ds_stepper *stepper = calloc(1, sizeof *stepper);
  if (!stepper) return NULL;
  stepper->pool = ds_pool_create(threads);
  stepper->last_rate = LAST_RATE;
  if (stepper->pool) stepper->workers = calloc((size_t)ds_pool_size(stepper->pool), sizeof *stepper->workers);
  if (!stepper->workers) {
    ds_stepper_destroy(stepper);
    return NULL;
  }
  return stepper;
}

void ds_stepper_destroy(ds_stepper *stepper) {
  if (!stepper) return;
  for (int32_t i = 0; stepper->workers && i < ds_pool_size(stepper->pool); i++) ds_arena_free(&stepper->workers[i]);
  ds_arena_free(&stepper->arena);
  free(stepper->workers);
  free(stepper->islands);
  ds_pool_destroy(stepper->pool);
  free(stepper);
}

const ds_certificate *ds_stepper_islands(const ds_stepper *stepper, int32_t *count) {
  *count = stepper->island_count;
  return stepper->islands;
}

void ds_stepper_observe(ds_stepper *stepper, ds_observer *observer, void *user) {
  DS_CHECK(stepper != NULL);
  stepper->observer = observer;
  stepper->observer_user = user;
}

void ds_stepper_stop(ds_stepper *stepper) { atomic_store_explicit(&stepper->stop, true, memory_order_relaxed); }

int64_t ds_stepper_work(const ds_stepper *stepper) {
  return atomic_load_explicit(&stepper->work, memory_order_relaxed);
}

/* What an observer wants to know of an island besides its solution. */
typedef struct island_watch {
  double *start; /* the warm start */
  double seconds;
} island_watch;

/* The problem of an island as it is solved: where joints are, in coordinates that they leave free. */
static ds_subproblem *problem_of(ds_island *island) {
  return island->articulation ? &island->articulation->problem : &island->problem;
}

typedef struct island_job {
  ds_stepper *stepper;
  ds_assembly *assembly;
  const ds_state *state;
  const ds_options *options;
  island_watch *watch; /* NULL where nobody observes */
  bool *done;
} island_job;

static void project_one(void *context, int32_t item, int32_t worker) {
  island_job *job = context;
  ds_arena *arena = &job->stepper->workers[worker];
  ds_island *island = &job->assembly->islands[item];
  if (job->done[item]) return;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  double clock = job->watch ? ds_clock() : 0;
  if (island->articulation)
    job->done[item] = ds_articulation_project(arena, island, job->watch ? job->watch[item].start : NULL, job->assembly,
                                              job->state, job->options);
  else
    job->done[item] = ds_project_split(arena, island->r, island->v, &island->certificate, &island->problem,
                                       job->options, DS_AIM_OF_STEP);
  if (job->watch) job->watch[item].seconds = ds_clock() - clock;
  ds_arena_release(arena, mark);
}

static island_watch *watch_islands(ds_arena *arena, const ds_assembly *assembly) {
  island_watch *watch = DS_NEW0(arena, island_watch, assembly->island_count + 1);
  for (int32_t i = 0; watch && i < assembly->island_count; i++) {
    size_t components = 3 * (size_t)assembly->islands[i].problem.contact_count;
    watch[i].start = DS_NEW(arena, double, components + 1);
    if (!watch[i].start) return NULL;
    memcpy(watch[i].start, assembly->islands[i].r, components * sizeof(double));
  }
  return watch;
}

static bool show_islands(ds_stepper *stepper, const ds_assembly *assembly, const island_watch *watch, int64_t step) {
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_island *island = &assembly->islands[i];
    const ds_articulation *joined = island->articulation;
    ds_problem problem;
    ds_arena_mark mark = ds_arena_get_mark(&stepper->arena);
    if (problem_of(island)->contact_count == 0) continue; /* joints alone: nothing was to be solved */
    if (!ds_subproblem_export(&stepper->arena, &problem, problem_of(island))) return false;
    ds_observation observation = {.step = step,
                                  .island = i,
                                  .problem = &problem,
                                  .start = watch[i].start,
                                  .r = joined ? joined->r : island->r,
                                  .v = joined ? joined->w : island->v,
                                  .certificate = &island->certificate,
                                  .seconds = watch[i].seconds};
    stepper->observer(stepper->observer_user, &observation);
    ds_arena_release(&stepper->arena, mark);
  }
  return true;
}

/* An island with more than half of all contacts, such as a pile, would keep one thread busy and the others waiting: its
 * linear algebra is shared out instead. */
static bool takes_all_threads(const ds_stepper *stepper, const ds_subproblem *p, int32_t contacts) {
  return ds_pool_size(stepper->pool) > 1 && p->body_count >= 100 && 2 * (int64_t)p->contact_count > contacts;
}

/* When each island has to be done: a share of the time by its contacts where one thread does all, and before that what
 * its last contact projection will take. */
static void set_deadlines(const ds_stepper *stepper, const ds_assembly *assembly, double start, double end) {
  double all = 0, so_far = 0;
  for (int32_t i = 0; i < assembly->island_count; i++) all += problem_of(&assembly->islands[i])->contact_count;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_subproblem *p = problem_of(&assembly->islands[i]);
    so_far += p->contact_count;
    double share = ds_pool_size(stepper->pool) > 1 || all == 0 ? 1 : so_far / all;
    p->effort->until = start + share * (end - start) - stepper->last_rate * p->contact_count;
    p->ends_on_contact = true;
  }
}

/* What each island may take. False where memory ran out. */
static bool set_efforts(ds_stepper *stepper, const ds_assembly *assembly, const ds_options *options) {
  ds_effort *efforts = DS_NEW0(&stepper->arena, ds_effort, assembly->island_count + 1);
  if (!efforts) return false;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_subproblem *p = problem_of(&assembly->islands[i]);
    p->effort = &efforts[i];
    efforts[i] = (ds_effort){
        .budget = options->step_budget, .stop = &stepper->stop, .count = &stepper->work, .contacts = p->contact_count};
  }
  if (options->deadline > 0) set_deadlines(stepper, assembly, ds_clock(), stepper->started + options->deadline);
  return true;
}

/* What last contact projections take: a slower one is believed at once, quicker ones only by and by. */
static void learn_rate(ds_stepper *stepper, const ds_assembly *assembly) {
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_subproblem *p = problem_of(&assembly->islands[i]);
    if (!(p->last_seconds > 0)) continue;
    double rate = LAST_SPARE * p->last_seconds / p->contact_count, change = rate - stepper->last_rate;
    stepper->last_rate += change > 0 ? change : 0.2 * change;
  }
}

/* Stage 4 over all islands, in parallel; islands do not see each other. */
static bool project(ds_stepper *stepper, ds_assembly *assembly, const ds_state *state, island_watch *watch,
                    const ds_options *options) {
  int32_t count = assembly->island_count;
  if (!set_efforts(stepper, assembly, options)) return false;
  island_job job = {stepper, assembly, state, options, watch, DS_NEW0(&stepper->arena, bool, count + 1)};
  if (!job.done) return false;
  int32_t contacts = 0;
  for (int32_t i = 0; i < count; i++) contacts += assembly->islands[i].problem.contact_count;
  for (int32_t i = 0; i < count; i++) {
    ds_subproblem *p = problem_of(&assembly->islands[i]);
    if (!takes_all_threads(stepper, p, contacts)) continue;
    p->pool = stepper->pool;
    project_one(&job, i, 0);
    p->pool = NULL;
  }
  ds_pool_run(stepper->pool, count, project_one, &job);
  bool all = true;
  for (int32_t i = 0; i < count; i++) all &= job.done[i];
  if (options->deadline > 0) learn_rate(stepper, assembly);
  return all;
}

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

static void collect(ds_stepper *stepper, ds_step_report *report, const ds_assembly *assembly,
                    const ds_contact_list *contacts, double rest) {
  report->contacts = contacts->count;
  report->islands = assembly->island_count;
  report->worst.converged = true;
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    stepper->islands[i] = island->certificate;
    add_certificate(&report->worst, &island->certificate);
    report->unconverged_islands += !island->certificate.converged;
    report->moving_islands += island->certificate.tolerance > rest;
    for (int32_t k = 0; k < island->problem.contact_count; k++) report->active_contacts += island->r[3 * k] > 0;
  }
  stepper->island_count = assembly->island_count;
  for (int32_t k = 0; k < contacts->count; k++)
    if (!ds_feature_is_limit(contacts->points[k].feature))
      report->penetration = fmax(report->penetration, -contacts->points[k].gap);
}

/* Rates at the start count as means over a step like this one. */
static double total_energy(const ds_scene *scene, const ds_state *state, double h) {
  ds_state seen = *state;
  if (seen.reduced_step == 0) seen.reduced_step = h;
  ds_energy e = ds_state_energy(scene, &seen);
  return e.kinetic + e.potential + e.elastic;
}

static double lap(double *clock) {
  double now = ds_clock(), passed = now - *clock;
  *clock = now;
  return passed;
}

/* Stages 2 to 4 for given contacts; `warm` is the state with the contacts that the impulses start from. */
static bool solve_contacts(ds_stepper *stepper, ds_assembly *assembly, island_watch **watch, ds_step_report *report,
                           const ds_scene *scene, const ds_state *warm, const ds_contact_list *contacts,
                           double *const *stiffer, const ds_options *options) {
  double clock = ds_clock();
  *assembly = (ds_assembly){.stiffer = stiffer};
  if (!ds_assemble(&stepper->arena, assembly, scene, warm, contacts, options, stepper->pool)) return false; /* 2 */
  report->seconds[DS_STAGE_ASSEMBLE] += lap(&clock);
  ds_predict(assembly, scene, warm, options, stepper->pool); /* 3 */
  report->seconds[DS_STAGE_PREDICT] += lap(&clock);
  *watch = stepper->observer ? watch_islands(&stepper->arena, assembly) : NULL;
  if (stepper->observer && !*watch) return false;
  bool done = project(stepper, assembly, warm, *watch, options); /* 4 */
  report->seconds[DS_STAGE_PROJECT] += lap(&clock);
  return done;
}

/* The state with the impulses found, to start from once more. */
static bool keep_impulses(ds_arena *arena, ds_state *solved, const ds_state *state, const ds_assembly *assembly,
                          const ds_contact_list *contacts) {
  *solved = *state;
  solved->contacts = DS_NEW(arena, ds_contact, contacts->count + 1);
  if (!solved->contacts) return false;
  ds_store_contacts(solved->contacts, assembly, contacts);
  solved->contact_count = contacts->count;
  return true;
}

/* Solves again until no deformable body was misjudged (predict/judge.c). */
static ds_status judge_again(ds_stepper *stepper, ds_assembly *assembly, island_watch **watch, ds_step_report *report,
                             const ds_scene *scene, const ds_state *state, const ds_contact_list *contacts,
                             const ds_options *options) {
  if (scene->reduced_count == 0 || options->metric != DS_METRIC_EFFECTIVE) return DS_OK;
  ds_arena *arena = &stepper->arena;
  double **stiffer = DS_NEW0(arena, double *, scene->body_count + 1);
  if (!stiffer) return DS_ERROR_MEMORY;
  for (int k = 0; k < JUDGEMENTS; k++) {
    if (options->deadline > 0 && ds_clock() >= stepper->started + options->deadline) break;
    int32_t count;
    ds_state solved;
    if (!ds_find_misjudged(arena, stiffer, &count, assembly, scene->body_count, options->step)) return DS_ERROR_MEMORY;
    if (count == 0) break;
    if (!keep_impulses(arena, &solved, state, assembly, contacts) ||
        !solve_contacts(stepper, assembly, watch, report, scene, &solved, contacts, stiffer, options))
      return DS_ERROR_MEMORY;
  }
  return DS_OK;
}

/* Adds contacts that the solution runs into. The state `solved` is filled with the velocities and contacts found. */
static ds_status look_again(ds_stepper *stepper, ds_state *solved, ds_contact_list *contacts, int32_t *added,
                            ds_step_report *report, const ds_scene *scene, const ds_state *state,
                            const ds_assembly *assembly, const ds_detect_options *detect) {
  ds_arena *arena = &stepper->arena;
  double clock = ds_clock();
  if (!keep_impulses(arena, solved, state, assembly, contacts)) return DS_ERROR_MEMORY;
  solved->bodies = DS_NEW(arena, ds_body_state, scene->body_count + 1);
  if (!solved->bodies) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < scene->body_count; i++) {
    solved->bodies[i] = state->bodies[i];
    ds_body_velocity(&solved->bodies[i].v, &solved->bodies[i].w, NULL, assembly, i);
  }
  int32_t before = contacts->count;
  ds_status status = ds_detect_again(arena, contacts, added, scene, state, solved->bodies, detect);
  if (status == DS_OK && !ds_limits_add(arena, contacts, scene, state, solved->bodies, detect->step))
    status = DS_ERROR_MEMORY;
  *added = contacts->count - before;
  solved->bodies = state->bodies;
  report->seconds[DS_STAGE_DETECT] += lap(&clock);
  return status;
}

static ds_status step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                      const ds_options *options) {
  ds_arena *arena = &stepper->arena;
  ds_contact_list contacts = {NULL, 0};
  ds_assembly assembly;
  island_watch *watch;
  ds_detect_options detect = {.step = options->step,
                              .margin = options->margin,
                              .contacts_per_face = options->contacts_per_face,
                              .pool = stepper->pool,
                              .workers = stepper->workers};
  double clock = ds_clock();

  ds_status status = ds_detect(arena, &contacts, scene, state, &detect); /* 1 */
  if (status == DS_OK && !ds_limits_add(arena, &contacts, scene, state, NULL, options->step)) status = DS_ERROR_MEMORY;
  report->seconds[DS_STAGE_DETECT] = lap(&clock);
  if (status != DS_OK) return status;
  if (!solve_contacts(stepper, &assembly, &watch, report, scene, state, &contacts, NULL, options))
    return DS_ERROR_MEMORY;
  for (int look = 0; look < LOOKS_AGAIN; look++) {
    ds_state solved;
    int32_t added;
    status = look_again(stepper, &solved, &contacts, &added, report, scene, state, &assembly, &detect);
    if (status != DS_OK) return status;
    if (added == 0) break;
    if (!solve_contacts(stepper, &assembly, &watch, report, scene, &solved, &contacts, NULL, options))
      return DS_ERROR_MEMORY;
  }

  status = judge_again(stepper, &assembly, &watch, report, scene, state, &contacts, options);
  if (status != DS_OK) return status;
  if (atomic_exchange_explicit(&stepper->stop, false, memory_order_relaxed)) return DS_STOPPED;

  if (!ds_array_reserve(&state->contacts, &state->contact_capacity, contacts.count, sizeof *state->contacts) ||
      !ds_array_reserve(&stepper->islands, &stepper->island_capacity, assembly.island_count, sizeof *stepper->islands))
    return DS_ERROR_MEMORY;
  if (watch && !show_islands(stepper, &assembly, watch, state->step + 1)) return DS_ERROR_MEMORY;
  collect(stepper, report, &assembly, &contacts, ds_options_tolerance(options));
  clock = ds_clock();
  ds_integration integration;
  if (!ds_integrate(arena, state, &integration, scene, &assembly, &contacts, options->step)) /* 5 */
    return DS_ERROR_MEMORY;
  ds_hold_feel(state, &assembly, options->step);
  for (int32_t i = 0; i < scene->joint_count; i++)
    report->joint_drift = fmax(report->joint_drift, ds_state_joint(scene, state, ds_scene_joint(scene, i)).gap);
  report->separation = integration.separation;
  report->stopped_bodies = integration.stopped;
  report->seconds[DS_STAGE_INTEGRATE] = lap(&clock);
  return DS_OK;
}

ds_status ds_step(ds_stepper *stepper, ds_state *state, ds_step_report *report, const ds_scene *scene,
                  const ds_options *options) {
  DS_CHECK(stepper && state && report && scene && options && scene == state->scene);
  ds_error error;
  if (ds_options_check(options, &error) != DS_OK) return DS_ERROR_INPUT;
  stepper->started = ds_clock();
  memset(report, 0, sizeof *report);
  atomic_store_explicit(&stepper->work, 0, memory_order_relaxed);
  ds_arena_reset(&stepper->arena);
  for (int32_t i = 0; i < ds_pool_size(stepper->pool); i++) ds_arena_reset(&stepper->workers[i]);
  report->energy_before = total_energy(scene, state, options->step);
  ds_status status = step(stepper, state, report, scene, options);
  report->energy_after = total_energy(scene, state, options->step);
  report->step = state->step;
  report->time = state->time;
  return status;
}
