/* Stage 4 over all islands: which threads solve which, and what each may take. Islands do not see each other. */
#include <math.h>

#include "base/thread.h"
#include "joint/articulate.h"
#include "problem/effort.h"
#include "step/step.h"

const ds_subproblem *ds_island_problem(const ds_island *island) {
  return island->articulation ? &island->articulation->problem : &island->problem;
}

typedef struct island_job {
  ds_step_run *run;
  const ds_state *warm;
  ds_island_solve *project;
  ds_pool *helpers; /* threads that are free to help with the island; NULL: none */
  bool *done;
} island_job;

static void solve_one(void *context, int32_t item, int32_t worker) {
  island_job *job = context;
  const ds_step_run *run = job->run;
  ds_arena *arena = &run->stepper->workers[worker];
  ds_island *island = &run->assembly.islands[item];
  if (job->done[item]) return;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  double clock = run->watch ? ds_clock() : 0;
  ds_solve solve = {.arena = arena,
                    .pool = job->helpers,
                    .effort = &run->efforts[item],
                    .options = run->options,
                    .purpose = DS_FOR_STEP,
                    .ends_on_contact = run->options->deadline > 0};
  job->done[item] = job->project(run, &solve, item, job->warm);
  if (run->watch) run->watch[item].seconds = ds_clock() - clock;
  if (!island->articulation) ds_arena_release(arena, mark); /* one of a later round is still needed */
}

/* An island with more than half of all contacts, such as a pile, would keep one thread busy and the others waiting: its
 * linear algebra is shared out instead. */
static bool takes_all_threads(const ds_stepper *stepper, const ds_subproblem *p, int32_t contacts) {
  return ds_pool_size(stepper->pool) > 1 && p->body_count >= 100 && 2 * (int64_t)p->contact_count > contacts;
}

enum { SOLVES = 10 }; /* a step, or a part of it, may take as much as so many solves that use up their budget */

/* What the bodies of an island have taken in this step before, with others perhaps. */
static double spent_by(const ds_step_run *run, const ds_island *island) {
  double spent = 0;
  for (int32_t k = 0; k < island->problem.body_count; k++) spent = fmax(spent, run->spent[island->bodies[k]]);
  return spent;
}

/* What of the budget of a solve is used up before it starts. */
static double already_spent(const ds_step_run *run, double before) {
  return fmax(0, before - (SOLVES - 1) * run->options->step_budget);
}

bool ds_step_is_spent(const ds_step_run *run, const ds_island *island) {
  double left = SOLVES * run->options->step_budget - spent_by(run, island);
  return run->options->step_budget > 0 && left < 1; /* not enough for a factorization */
}

static void keep_efforts(const ds_step_run *run) {
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    double before = spent_by(run, island), spent = before - already_spent(run, before) + run->efforts[i].spent;
    for (int32_t k = 0; k < island->problem.body_count; k++) run->spent[island->bodies[k]] = spent;
  }
}

/* What each island may take, of what the step may. False where memory ran out. */
static bool set_efforts(ds_step_run *run) {
  ds_stepper *stepper = run->stepper;
  const ds_assembly *assembly = &run->assembly;
  run->efforts = DS_NEW0(&stepper->arena, ds_effort, assembly->island_count + 1);
  if (!run->efforts) return false;
  for (int32_t i = 0; i < assembly->island_count; i++)
    run->efforts[i] = (ds_effort){.budget = run->options->step_budget,
                                  .spent = already_spent(run, spent_by(run, &assembly->islands[i])),
                                  .stop = &stepper->stop,
                                  .count = &stepper->work,
                                  .contacts = ds_island_problem(&assembly->islands[i])->contact_count};
  if (run->options->deadline > 0) ds_step_set_deadlines(run);
  return true;
}

bool ds_step_share(ds_step_run *run, const ds_state *warm, ds_island_solve *project) {
  ds_stepper *stepper = run->stepper;
  const ds_assembly *assembly = &run->assembly;
  int32_t count = assembly->island_count, contacts = 0;
  if (!set_efforts(run)) return false;
  island_job job = {run, warm, project, NULL, DS_NEW0(&stepper->arena, bool, count + 1)};
  if (!job.done) return false;
  for (int32_t i = 0; i < count; i++) contacts += assembly->islands[i].problem.contact_count;
  for (int32_t i = 0; i < count; i++) {
    if (!takes_all_threads(stepper, ds_island_problem(&assembly->islands[i]), contacts)) continue;
    job.helpers = stepper->pool;
    solve_one(&job, i, 0);
    job.helpers = NULL;
  }
  ds_pool_run(stepper->pool, count, solve_one, &job);
  keep_efforts(run);
  bool all = true;
  for (int32_t i = 0; i < count; i++) all &= job.done[i];
  if (run->options->deadline > 0) ds_step_learn_rate(run);
  return all;
}
