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
