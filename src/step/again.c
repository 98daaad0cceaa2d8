/* Reasons to solve a step once more: contacts that its solution runs into, and deformable bodies that end stiffer than
 * they were taken to be. */
#include "integrate/integrate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

/* The state with the impulses found, to start from once more. */
static bool keep_impulses(const ds_step_run *run, ds_state *solved) {
  *solved = *run->state;
  solved->contacts = DS_NEW(&run->stepper->arena, ds_contact, run->contacts.count + 1);
  if (!solved->contacts) return false;
  ds_store_contacts(solved->contacts, &run->assembly, &run->contacts);
  solved->contact_count = run->contacts.count;
  return true;
}

ds_status ds_step_look_again(ds_step_run *run, ds_state *solved, int32_t *added) {
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

ds_status ds_step_judge(const ds_step_run *run, ds_state *solved, double **stiffer, int32_t *count) {
  if (!ds_find_misjudged(&run->stepper->arena, stiffer, count, &run->assembly, run->scene->body_count,
                         run->options->step))
    return DS_ERROR_MEMORY;
  return *count == 0 || keep_impulses(run, solved) ? DS_OK : DS_ERROR_MEMORY;
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

bool ds_step_is_sound(const ds_step_run *run) {
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    if (!island->certificate.converged || is_pushed(island, &run->contacts)) return false;
  }
  return true;
}
