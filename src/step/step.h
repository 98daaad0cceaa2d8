/* A step under way, and what it does besides its stages: threads, deadlines, observers, second thoughts, the report. */
#ifndef DS_STEP_STEP_H
#define DS_STEP_STEP_H

#include <stdatomic.h>

#include "assemble/assemble.h"
#include "detect/detect.h"
#include "drystone/drystone.h"
#include "predict/predict.h"
#include "problem/effort.h"
#include "project/solve.h"

/* What is kept from step to step (stepper.c). */
struct ds_stepper {
  ds_pool *pool;
  ds_arena arena;    /* of the step */
  ds_arena *workers; /* of the islands, one a thread */
  ds_certificate *islands;
  int32_t island_count, island_capacity;
  double started;        /* ds_clock at the start of the step */
  double last_rate;      /* s a contact, of the contact projections that ended steps with a deadline (deadline.c) */
  ds_observer *observer; /* or NULL */
  void *observer_user;
  atomic_bool stop; /* the caller wants the step to end */
  atomic_int work;  /* factorizations of this step */
};

/* Before a step: nothing is spent of it, and its memory is free. */
void ds_stepper_begin(ds_stepper *stepper);

/* What an observer wants to know of an island besides its solution. */
typedef struct ds_island_watch {
  double *start; /* the warm start */
  double seconds;
} ds_island_watch;

/* What one step was given, and what its stages have found so far. */
typedef struct ds_step_run {
  ds_stepper *stepper;
  const ds_scene *scene;
  ds_state kept; /* at the start of the step ... */
  const ds_state
      *state; /* ... and with velocities that fit joints (node.c), or after impacts (impact.c), mostly the same */
  const ds_options *options;
  ds_detect_options detect;
  ds_contact_list contacts; /* stage 1 */
  ds_assembly assembly;     /* stages 2 to 4 */
  const ds_assembly *whole; /* that of the whole step, while it takes place; else NULL */
  ds_effort *efforts;       /* what each island may take */
  double *spent;            /* one per body: factorizations that its island has taken in this step (schedule.c) */
  ds_island_watch *watch;   /* NULL where nobody observes */
  ds_step_report *report;
  ds_found_velocity
      *found;           /* one per body: by earlier solves of this step, whose turns the next one starts from; NULL */
  bool counted;         /* what the last solve took is in the report */
  bool hasty;           /* turns of the start will do */
  bool careful;         /* a part that is not cut to an impact, or not again */
  bool close;           /* a part that is being cut: what is solved is used, and not only glanced at */
  bool *adrift;         /* one per body: turns of its island were not found (again.c) */
  bool last_try;        /* islands that gain energy are slowed down (motion.c) */
  bool moved;           /* a part of the step has taken place */
  bool *missed;         /* velocities at the end of it, or of a part, were not found (node.c) */
  double clock;         /* ds_clock at the end of the last stage */
  const bool *active;   /* one per body: the others are left alone; NULL: all are active */
  double slow;          /* m/s: approaches that would rebound more slowly do not */
  const double *swing;  /* of the integration */
  ds_energy *energies;  /* likewise: of every body, in run->state */
  ds_contact *solved;   /* after ds_step_move: the contacts with their impulses, in order ... */
  int32_t solved_count; /* ... so many */
  ds_contact *warm;     /* the same without impulses of impacts */
  int32_t warm_count;
  ds_contact *struck; /* with impulses of impacts at the start of the step (impact.c) */
  int32_t struck_count;
} ds_step_run;

/* ---- src/step.c ---- */
/* Stages 2 to 4 for the contacts of the run; `warm` is the state with the contacts that the impulses start from,
 * `stiffer` what the stiffness of deformable bodies lacks, or NULL. */
ds_status ds_step_solve(ds_step_run *run, const ds_state *warm, double *const *stiffer);
/* Stages 1 to 4: detects, and solves until no contact is missing. */
ds_status ds_step_find(ds_step_run *run);
/* Stage 4 over all islands. `warm` is the state with the contacts that the impulses start from. False where memory ran
 * out. */
bool ds_step_project(ds_step_run *run, const ds_state *warm);

/* ---- schedule.c ---- */
/* Solves one island; false where memory ran out. ds_step_share calls it for all of them, in parallel. */
typedef bool ds_island_solve(const ds_step_run *run, const ds_solve *solve, int32_t item, const ds_state *warm);
bool ds_step_share(ds_step_run *run, const ds_state *warm, ds_island_solve *project);
/* Whether an island has taken all that it may take in this step: it is not tried in another way. */
bool ds_step_is_spent(const ds_step_run *run, const ds_island *island);

/* ---- keep.c ---- */
/* Keeps the state, so that the stages read a copy that stays while the other changes. False where memory ran out. */
bool ds_step_begin(ds_step_run *run, const ds_state *state);
/* A copy of what a step changes of a state; false where memory ran out. What was kept becomes the state again, or the
 * forces on its bodies alone. */
bool ds_step_keep(ds_arena *arena, ds_state *kept, const ds_state *state);
void ds_step_restore(ds_state *state, const ds_state *kept);
void ds_step_restore_forces(ds_state *state, const ds_state *kept);

/* ---- node.c ---- */
/* Velocities after a chord: `state` has what the first half of the impulses led to, and the contacts of the run are as
 * `run->solved` tells. Impacts happen here. False where memory ran out. */
bool ds_step_node(ds_step_run *run, ds_state *state, const bool *wait);

/* Velocities at the start of the first step that do not fit joints change as in an impact: else the midpoint rule would
 * turn what is across a joint about in every step, forever. `run->state` is a copy with them then. False where memory
 * ran out. */
bool ds_step_fit(ds_step_run *run);

/* Solves for the second half of the impulses, or for those of an impact, at the contacts of `node`: then bodies of
 * `now` have the velocities found, and the contacts of `run` the impulses besides. False where memory ran out. */
bool ds_step_solve_node(ds_step_run *node, ds_step_run *run, ds_state *now, bool impact);

/* ---- impact.c ---- */
/* Whether impacts have other laws than Newton's of all contacts at once; islands get them. False where memory ran out.
 */
bool ds_step_has_laws(const ds_options *options);
bool ds_step_set_laws(const ds_step_run *run);
/* Without the midpoint rule: impacts by these laws at the start of the step. `run->state` is a copy with the velocities
 * after them then. False where memory ran out. Then their impulses are added to those of the step. */
bool ds_step_strike(ds_step_run *run);
void ds_step_add_struck(const ds_step_run *run);

/* ---- divide.c ---- */
/* Where something may land in an island, a glance says whether it does: true, then it takes the step in parts, and what
 * was found is no more than a start. Else its solution goes on from there; so it does where memory ran out. */
bool ds_step_glance(const ds_step_run *run, const ds_solve *solve, ds_island *island);
/* Whether something lands in an island, as it was solved: it is to take the step in parts. */
bool ds_step_lands(const ds_step_run *run, const ds_island *island);
/* Which islands have impacts, or were not solved, within the step: one flag per island; *any says whether there is one.
 * NULL where memory ran out. */
bool *ds_step_to_divide(const ds_step_run *run, bool *any);
/* Takes the step of these islands in parts. */
ds_status ds_step_divide(ds_step_run *run, ds_state *state, const bool *divided);

/* The problem of an island as it is solved: where joints are, in coordinates that they leave free (schedule.c). */
const ds_subproblem *ds_island_problem(const ds_island *island);

/* deadline.c: when each island has to be done, from now to the deadline of the step; and after the solve, what the last
 * contact projections took. */
void ds_step_set_deadlines(const ds_step_run *run);
void ds_step_learn_rate(const ds_step_run *run);
bool ds_step_is_late(const ds_step_run *run);
/* Whether the caller has asked for the step to end (stepper.c); to be asked once. */
bool ds_step_is_stopped(const ds_step_run *run);

/* observe.c: where somebody observes, room for the starts of all islands; the start of one; the islands as they were
 * solved, to the observer. False where memory ran out. */
bool ds_step_watch(ds_step_run *run);
void ds_step_watch_start(const ds_step_run *run, int32_t island);
bool ds_step_show(const ds_step_run *run);

/* ---- again.c: what is to be solved once more ---- */
/* An island, for the turns that its solution has: true where these are others than it was solved for. False, too, where
 * memory ran out (ds_arena_failed). `round`: how often it was solved. */
bool ds_step_turns(const ds_step_run *run, const ds_solve *solve, ds_island *island, const ds_state *warm,
                   int32_t round);
/* Whether there are islands whose turns were not found. Their work so far is counted. */
bool ds_step_is_adrift(const ds_step_run *run);
/* Before the first solve: contacts ahead of jointed bodies are left out. False where memory ran out. */
bool ds_step_leave_far(ds_step_run *run);
/* The step, where rolling bodies touch elsewhere in the middle of it than it was solved for; where it runs into
 * something that its contacts do not see; where deformable bodies are stiffer (predict/judge.c). */
/* The state with the impulses found, to start from once more, and the velocities found. False where memory ran out. */
bool ds_step_keep_impulses(ds_step_run *run, ds_state *solved);
ds_status ds_step_pass_by(ds_step_run *run);
ds_status ds_step_roll_on(ds_step_run *run);
ds_status ds_step_look_again(ds_step_run *run);
ds_status ds_step_settle(ds_step_run *run);

/* certificate.c: room for the certificates of all islands, false where memory ran out; these, of islands that are to be
 * divided what they took so far; one more solution that was used, or not; in the end the worst of all. */
bool ds_step_reserve(const ds_step_run *run);
void ds_step_open_certificates(ds_step_run *run, const bool *divided);
void ds_step_count(const ds_step_run *run, const ds_island *island);
/* All islands of the last solve; of those that `unused` marks (or NULL: of none) what they took alone. */
void ds_step_count_islands(ds_step_run *run, const bool *unused);
void ds_step_count_unused(ds_step_run *run); /* what a solve took that another one takes the place of */
void ds_step_certify(ds_step_run *run);

/* energy.c: kinetic, potential and elastic, J. */
double ds_step_energy(const ds_scene *scene, const ds_state *state);

/* ---- finish.c ---- */
/* The certificate and stage 5. Where it fails the state is as it was. */
ds_status ds_step_finish(ds_step_run *run, ds_state *state);
/* Stage 5 and the node: moves bodies, save those of islands that `wait` marks (or NULL), and finds their velocities
 * then. False where memory ran out. */
bool ds_step_move(ds_step_run *run, ds_state *state, const bool *wait);

/* motion.c: what has happened, against mechanics; `after` is the state at the end. Islands that have gained energy are
 * slowed down where the run says so. */
ds_status ds_step_motion(const ds_step_run *run, ds_state *after);

/* range.c: which deformable bodies are outside the range of their model. */
void ds_step_range(ds_step_report *report, const ds_state *state);

/* parts.c: in how many equal parts the step that was just solved has to be taken, 1: as it is. False where memory ran
 * out. */
bool ds_step_parts(int32_t *parts, const ds_step_run *run);
/* parts.c: takes the step in that many equal parts, each by `take`. If one fails the state is as it was. */
typedef ds_status ds_step_part(ds_step_run *run, ds_state *state);
ds_status ds_step_in_parts(ds_step_run *run, ds_state *state, int32_t parts, ds_step_part *take);

/* Whether a step that gains energy is taken again, and slowed down in the end. Not with methods that are what others
 * published, nor where velocities are corrected for overlaps: the motion is then what these give. */
bool ds_step_is_guarded(const ds_options *options);
/* tries.c: takes a step that was solved as a whole, in so many parts at first: by `whole` if it is one, else by `part`,
 * until its motion passes and has the accuracy asked for. If it fails the state is as it was. */
ds_status ds_step_try(ds_step_run *run, ds_state *state, int32_t parts, ds_step_part *whole, ds_step_part *part);
bool ds_step_is_accepted(const ds_step_run *run); /* its motion passed, or it is the last try */

/* Adds the time since the end of the last stage to this one. */
void ds_step_lap(ds_step_run *run, ds_stage stage);

#endif
