/* Reasons to solve a step once more: an island turns otherwise than was taken, rolling bodies touch elsewhere, the
 * solution runs into something that its contacts do not see, deformable bodies end stiffer than they were taken to be.
 */
#include <math.h>
#include <string.h>

#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

enum { LOOKS_AGAIN = 4 };         /* at what the solution runs into, at most */
enum { ROLLINGS = 4 };            /* of where rolling bodies touch, after the first, at most */
static const double ROLLS = 1e-2; /* of an island's speed: by so much its bodies may turn otherwise */
enum { JUDGEMENTS = 8 };          /* of how stiff deformable bodies are, after the first, at most */

/* Rounds of one island for its turns, after the first; and up to what share of its speed these may change velocities in
 * the end. Joints take no energy away, so that theirs have to be known better. With 1e-3 in place of 1e-4 a pile of
 * boxes needs half the rounds, and no scene gains energy; with 1e-2 some do. What is left spoils the order in h: a ball
 * that rolls on a turntable spins by 0.08 rad/s after a second. So one or two bodies, which cost little, are known
 * better if a few rounds suffice. Where contacts change from round to round turns may never be found: of 376 islands of
 * a chain that falls into a heap which had not come near after SOON rounds, 20 were found in ROUNDS. What is left near
 * the solver's own error is FAIR enough. */
enum { ROUNDS = 15, SOON = 5, FEW = 2, FEW_ROUNDS = 4 };
static const double ALONE = 1e-3, WELL = 1e-8, FAIR = 1e-6, STALLED = 0.3;

/* ---- turns ---- */

/* Whether turns of this island were not found before in this step. */
static bool was_adrift(const ds_step_run *run, const ds_island *island) {
  bool adrift = false;
  for (int32_t k = 0; k < island->problem.body_count; k++) adrift |= run->adrift[island->bodies[k]];
  return adrift;
}

bool ds_step_turns(const ds_step_run *run, const ds_solve *solve, ds_island *island, const ds_state *warm,
                   int32_t round) {
  ds_arena *arena = solve->arena;
  if (!island->midpoint || run->assembly.level == DS_LEVEL_NODE) return false;
  if (run->options->step_budget > 0 && solve->effort->spent >= run->options->step_budget) return false;
  bool few = island->problem.body_count <= FEW && round <= FEW_ROUNDS;
  double tolerance = island->articulation || few ? WELL : ALONE;
  if (island->articulation && !island->refinement && !ds_refine_new(arena, island)) return false;
  if (!ds_refine_island(island, &run->assembly, &run->contacts, run->scene, warm, run->options, tolerance,
                        round > 1 && island->problem.contact_count > 0 ? FAIR : 0))
    return false;
  if (round == 1) island->first_change = island->change;
  bool stalls = round > SOON && island->change > STALLED * island->first_change;
  island->unsettled = stalls || round > (was_adrift(run, island) ? SOON : ROUNDS);
  for (int32_t k = 0; island->unsettled && k < island->problem.body_count; k++) run->adrift[island->bodies[k]] = true;
  if (island->unsettled) return false;
  return !island->articulation ||
         ds_articulate(arena, island, &run->assembly, &run->contacts, run->scene, warm, run->options);
}

bool ds_step_is_adrift(const ds_step_run *run) {
  bool any = false;
  for (int32_t i = 0; i < run->assembly.island_count; i++) any |= run->assembly.islands[i].unsettled;
  return any;
}

/* ---- rolling ---- */

/* The speed of an island's fastest point, at most. */
static double speed_of(const ds_step_run *run, const ds_island *island) {
  double most = 0;
  for (int32_t k = 0; k < island->problem.body_count; k++) {
    ds_vec3 v, w;
    ds_body_velocity(&v, &w, NULL, &run->assembly, island->bodies[k]);
    most = fmax(most, v3_norm(v) + v3_norm(w) * run->scene->bodies[island->bodies[k]].bounding_radius);
  }
  return most;
}

/* Whether something rolls in an island that turns otherwise than it was thought to. */
static bool island_rolls_otherwise(const ds_step_run *run, const ds_island *island, const ds_body_state *moving) {
  double speed = -1;
  for (int32_t k = 0; island->midpoint && !island->unsettled && k < island->problem.contact_count; k++) {
    const ds_contact_point *c = &run->contacts.points[island->contacts[k]];
    for (int side = 0; side < 2 && c->in_middle[0] && c->in_middle[1]; side++) {
      int32_t i = side == 0 ? c->a : c->b;
      ds_vec3 v, w;
      if (!run->assembly.bodies[i].moves) continue;
      if (speed < 0) speed = speed_of(run, island);
      ds_body_velocity(&v, &w, NULL, &run->assembly, i);
      if (v3_dist(w, moving[i].w) * run->scene->bodies[i].bounding_radius > ROLLS * speed) return true;
    }
  }
  return false;
}

/* The same of all islands; `moving` becomes the velocities found. */
static bool rolls_otherwise(const ds_step_run *run, ds_body_state *moving) {
  bool otherwise = false;
  for (int32_t i = 0; i < run->assembly.island_count && !otherwise; i++)
    otherwise = island_rolls_otherwise(run, &run->assembly.islands[i], moving);
  for (int32_t i = 0; otherwise && i < run->scene->body_count; i++)
    if (run->assembly.bodies[i].midpoint) ds_body_velocity(&moving[i].v, &moving[i].w, NULL, &run->assembly, i);
  return otherwise;
}

/* The state with the impulses found, to start from once more. */
static bool keep_impulses(const ds_step_run *run, ds_state *solved) {
  *solved = *run->state;
  solved->contacts = DS_NEW(&run->stepper->arena, ds_contact, run->contacts.count + 1);
  if (!solved->contacts) return false;
  ds_store_contacts(solved->contacts, &run->assembly, &run->contacts);
  solved->contact_count = run->contacts.count;
  return true;
}

ds_status ds_step_roll_on(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  ds_body_state *moving = DS_NEW(arena, ds_body_state, run->scene->body_count + 1);
  ds_status status = moving ? DS_OK : DS_ERROR_MEMORY;
  if (moving) memcpy(moving, run->state->bodies, (size_t)run->scene->body_count * sizeof *moving);
  for (int k = 0; k < ROLLINGS && status == DS_OK && rolls_otherwise(run, moving); k++) {
    ds_state solved;
    if (!keep_impulses(run, &solved)) return DS_ERROR_MEMORY;
    status = ds_detect_middle(arena, &run->contacts, run->scene, run->state, moving, &run->detect);
    if (status == DS_OK) status = ds_step_solve(run, &solved, NULL);
  }
  return status;
}

/* ---- what the solution runs into ---- */

/* Adds contacts that the solution runs into; `solved` becomes the state to solve from. */
static ds_status add_missing(ds_step_run *run, ds_state *solved, int32_t *added) {
  ds_arena *arena = &run->stepper->arena;
  if (!keep_impulses(run, solved)) return DS_ERROR_MEMORY;
  solved->bodies = DS_NEW(arena, ds_body_state, run->scene->body_count + 1);
  if (!solved->bodies) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < run->scene->body_count; i++) {
    solved->bodies[i] = run->state->bodies[i];
    ds_body_velocity(&solved->bodies[i].v, &solved->bodies[i].w, NULL, &run->assembly, i);
  }
  int32_t before = run->contacts.count;
  ds_status status =
      ds_detect_again(arena, &run->contacts, added, run->scene, run->state, solved->bodies, &run->detect);
  if (status == DS_OK &&
      !ds_limits_add(arena, &run->contacts, run->scene, run->state, solved->bodies, run->detect.step))
    status = DS_ERROR_MEMORY;
  *added = run->contacts.count - before;
  solved->bodies = run->state->bodies;
  ds_step_lap(run, DS_STAGE_DETECT);
  return status;
}

/* Whether contacts of a second look have pushed: impulses at the others never add energy, in coordinates of which the
 * kinetic energy is half the square. */
static bool is_pushed(const ds_island *island, const ds_contact_list *contacts) {
  const ds_subproblem *p = &island->problem;
  bool ahead = false;
  double before = 0, after = 0;
  for (int32_t k = 0; k < p->contact_count && !ahead; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    ahead = ds_feature_is_ahead(c->feature) && c->gap < 0 && island->r[3 * k] > 0;
  }
  for (int32_t i = 0; i < p->dof && ahead; i++) {
    before += island->predicted[i] * island->predicted[i];
    after += island->v[i] * island->v[i];
  }
  return after > before;
}

/* All islands converged, and second looks added no energy. */
static bool is_sound(const ds_step_run *run) {
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    if (!island->certificate.converged || is_pushed(island, &run->contacts)) return false;
  }
  return true;
}

/* Impacts at the contacts that were added; `solved` has the velocities after them. */
static ds_status strike(ds_step_run *run, ds_state *solved) {
  if (!ds_step_strike(run)) return DS_ERROR_MEMORY;
  solved->bodies = run->state->bodies;
  return DS_OK;
}

ds_status ds_step_look_again(ds_step_run *run) {
  for (int32_t look = 0, added; look < LOOKS_AGAIN; look++) {
    ds_state solved;
    ds_status status = add_missing(run, &solved, &added);
    if (status == DS_OK && added > 0) status = strike(run, &solved);
    if (status == DS_OK && added > 0) status = ds_step_solve(run, &solved, NULL);
    if (status != DS_OK || added == 0 || ds_step_is_late(run)) return status;
    if (is_sound(run)) continue;
    ds_relax_ahead(&run->contacts);
    return ds_step_solve(run, run->state, NULL);
  }
  return DS_OK;
}

/* ---- stiffness ---- */

/* Finds deformable bodies that were misjudged, and what their stiffness lacks. */
static ds_status judge(const ds_step_run *run, ds_state *solved, double **stiffer, int32_t *count) {
  if (!ds_find_misjudged(&run->stepper->arena, stiffer, count, &run->assembly, run->scene->body_count,
                         run->options->step))
    return DS_ERROR_MEMORY;
  return *count == 0 || keep_impulses(run, solved) ? DS_OK : DS_ERROR_MEMORY;
}

ds_status ds_step_settle(ds_step_run *run) {
  if (run->scene->reduced_count == 0 || run->options->metric != DS_METRIC_EFFECTIVE) return DS_OK;
  double **stiffer = DS_NEW0(&run->stepper->arena, double *, run->scene->body_count + 1);
  if (!stiffer) return DS_ERROR_MEMORY;
  ds_status status = DS_OK;
  int32_t count = 1;
  for (int k = 0; k < JUDGEMENTS && count > 0 && status == DS_OK && !ds_step_is_late(run); k++) {
    ds_state solved;
    status = judge(run, &solved, stiffer, &count);
    if (status == DS_OK && count > 0) status = ds_step_solve(run, &solved, stiffer);
  }
  return status;
}
