/* Reasons to solve a step once more: an island turns otherwise than was taken, rolling bodies touch elsewhere, the
 * solution runs into something that its contacts do not see, deformable bodies end stiffer than they were taken to be.
 */
#include <math.h>
#include <string.h>

#include "detect/gap.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "step/step.h"

enum { LOOKS_AGAIN = 4 };         /* at what the solution runs into, or goes past, at most */
enum { ROLLINGS = 4 };            /* of where rolling bodies touch, after the first, at most */
static const double ROLLS = 1e-2; /* of an island's speed: by so much its bodies may turn otherwise */
enum { JUDGEMENTS = 8 };          /* of how stiff deformable bodies are, after the first, at most */

/* Rounds of one island for its turns, after the first; and up to what share of its speed these may change velocities in
 * the end. Joints take no energy away, so that theirs have to be known better. With 1e-3 in place of 1e-4 a pile of
 * boxes takes 29 factorizations per step, not 31, and 20 structures hit by balls 11.9, not 12.2; one of these gains a
 * thousandth of the energy of its motion in a step then. What is left spoils the order in h: a ball that rolls on a
 * turntable spins by 0.08 rad/s after a second. So one or two bodies, which cost little, are known better if a few
 * rounds suffice. Where contacts change from round to round turns may never be found: they were not in 376 of 557
 * solves of a chain that falls into a heap, and the 30 of these that were looked at all had changes above STALLED of
 * the first after SOON rounds. What is left near the solver's own error is FAIR enough. */
enum { ROUNDS = 15, SOON = 5, FEW = 2, FEW_ROUNDS = 4 };
static const double ALONE = 1e-4, WELL = 1e-8, FAIR = 1e-6, STALLED = 0.3;
static const double ASIDE = 1e-3; /* sine of the angle up to which an axis is the same */

/* ---- turns ---- */

/* Whether turns of this island were not found before in this step. */
static bool was_adrift(const ds_step_run *run, const ds_island *island) {
  bool adrift = false;
  for (int32_t k = 0; k < island->problem.body_count; k++) adrift |= run->adrift[island->bodies[k]];
  return adrift;
}

/* Whether a joint is aside of the axis about which its body turns. */
static bool swings_joint(const ds_scene *scene, int32_t index, ds_vec3 local) {
  for (int32_t i = 0; i < scene->joint_count; i++) {
    const ds_joint *joint = &scene->joints[i];
    if (joint->a != index && joint->b != index) continue;
    const ds_vec3 *arm = joint->a == index ? joint->on_a : joint->on_b;
    for (int32_t k = 0; k < joint->point_count; k++)
      if (v3_norm(v3_cross(local, arm[k])) > ASIDE * v3_norm(local) * v3_norm(arm[k])) return true;
  }
  return false;
}

/* Whether a body turns farther than the midpoint rule goes, tan(h w/2) being infinite at half a turn; or nobody knows
 * how far. What spins steadily about an axis through its joints may do so. */
static bool turns_too_far(const ds_step_run *run, const ds_island *island) {
  const ds_subproblem *p = &island->problem;
  for (int32_t k = 0; k < p->body_count; k++) {
    int32_t index = island->bodies[k];
    const ds_step_body *body = &run->assembly.bodies[index];
    ds_vec3 v, w;
    ds_unscale_velocity(&v, &w, NULL, body, island->v + p->first[k]);
    if (0.5 * run->options->step * v3_norm(w) <= DS_HALF_TURN && isfinite(v3_norm(v))) continue;
    if (!isfinite(v3_norm(v)) || !isfinite(v3_norm(w))) return true;
    ds_vec3 local = mat3_tmul_v3(&body->rotation, w), spin = v3_mul(body->body->inertia, local);
    if (v3_norm(v3_cross(spin, local)) > ASIDE * v3_norm(spin) * v3_norm(local)) return true;
    if (swings_joint(run->scene, index, local)) return true;
  }
  return false;
}

bool ds_step_turns(const ds_step_run *run, const ds_solve *solve, ds_island *island, const ds_state *warm,
                   int32_t round) {
  ds_arena *arena = solve->arena;
  if (!island->midpoint || run->assembly.level == DS_LEVEL_NODE) return false;
  if (run->options->step_budget > 0 && solve->effort->spent >= run->options->step_budget) return false;
  if (round == 1 && (run->hasty || ds_step_lands(run, island))) return false; /* its parts will say how it turns */
  bool few = island->problem.body_count <= FEW && round <= FEW_ROUNDS;
  double tolerance = island->articulation || few ? WELL : ALONE;
  if (island->articulation && !island->refinement && !ds_refine_new(arena, island)) return false;
  if (!ds_refine_island(island, &run->assembly, &run->contacts, run->scene, warm, run->options, tolerance,
                        round > 1 && island->problem.contact_count > 0 ? FAIR : 0)) {
    island->unsettled = turns_too_far(run, island) || (island->articulation && island->articulation->pulled);
    return false;
  }
  if (round == 1) island->first_change = island->change;
  bool stalls = round > SOON && island->change > STALLED * island->first_change;
  island->unsettled = stalls || round > (was_adrift(run, island) ? SOON : ROUNDS);
  bool adrift = island->unsettled && island->problem.contact_count > 0;
  for (int32_t k = 0; adrift && k < island->problem.body_count; k++) run->adrift[island->bodies[k]] = true;
  if (island->unsettled) return false;
  return !island->articulation ||
         ds_articulate(arena, island, &run->assembly, &run->contacts, run->scene, warm, run->options);
}

bool ds_step_is_adrift(const ds_step_run *run) {
  bool any = false;
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    any |= island->unsettled && was_adrift(run, island);
  }
  return any;
}

/* Keeps the velocities found: the next solve starts from their turns. Without it every solve of a step would find them
 * from those of the start again: a tower of 54 blocks hit by a ball took six times 78 factorizations in a step. False
 * where memory ran out. */
static bool keep_found(ds_step_run *run) {
  run->found = DS_NEW0(&run->stepper->arena, ds_found_velocity, run->scene->body_count + 1);
  for (int32_t i = 0; run->found && i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    if (!island->midpoint || island->unsettled || !(island->certificate.converged || island->glanced)) continue;
    for (int32_t k = 0; k < island->problem.body_count; k++) {
      ds_found_velocity *f = &run->found[island->bodies[k]];
      ds_body_velocity(&f->v, &f->w, NULL, &run->assembly, island->bodies[k]);
      f->known = true;
    }
  }
  return run->found != NULL;
}

/* Impulses of the last step are scaled by the lengths of both steps (assemble.c); these are of this one. */
static void scale_to_last_step(ds_contact *contacts, const ds_step_run *run) {
  double last = run->state->reduced_step;
  for (int32_t i = 0; last > 0 && i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    for (int32_t k = 0; island->midpoint && k < island->problem.contact_count; k++) {
      ds_vec3 *impulse = &contacts[island->contacts[k]].impulse;
      *impulse = v3_scale(last / run->options->step, *impulse);
    }
  }
}

bool ds_step_keep_impulses(ds_step_run *run, ds_state *solved) {
  *solved = *run->state;
  solved->contacts = DS_NEW(&run->stepper->arena, ds_contact, run->contacts.count + 1);
  if (!solved->contacts || !keep_found(run)) return false;
  ds_store_contacts(solved->contacts, &run->assembly, &run->contacts);
  scale_to_last_step(solved->contacts, run);
  solved->contact_count = run->contacts.count;
  return true;
}

/* ---- what bodies go past ---- */

/* A contact ahead keeps a body on one side of a plane, as it was found at the start of the step. What turns about
 * another body, or flies past its edge, crosses that plane and touches nothing. So where an open contact acts, and at
 * the end of the step the bodies are apart all the same, it is left out, and the step solved again: what they run into
 * then is found on their path (below). By the midpoint rule: Euler's takes energy away anyway. Of 20 links let go
 * level, which never touch, it took 3.15 of 4.9 J in 10 s.
 *
 * Bodies that do touch end apart as well, by second order in their turns: of 12,000 contacts of piles, dominoes and
 * walls hit two are apart by half of their gap and a tenth of the thickness, of cards that fall 1 to 5 %; links are by
 * 5 times the thickness. */
static const double PASSED = 0.5, PASSED_THIN = 0.1;

/* Contacts ahead of jointed bodies are not even tried where they are farther away than FAR of the thickness. Joints
 * make the motion of the step another one than that which detection looked ahead for, and a solve without contacts
 * costs little: 100 links let go level took 290 s of processor time for 10 s and lost a quarter of their energy, with
 * this 80 s and 2e-9. Values of 0 to 2 do alike. */
static const double FAR = 0.5;

/* Whether the second look finds all that a body may run into, and where: not with planes, whose normals are right, nor
 * with solids and deformable bodies. */
static bool is_followed(const ds_body *body) {
  bool all = !body->skin;
  for (int32_t i = 0; i < body->shape_count; i++)
    all &= body->shapes[i].kind != DS_SHAPE_SOLID && body->shapes[i].kind != DS_SHAPE_HALF_SPACE;
  return all;
}

static bool is_far(const ds_step_run *run, const ds_contact_point *c, const bool *jointed) {
  const ds_body *a = &run->scene->bodies[c->a], *b = &run->scene->bodies[c->b];
  return (jointed[c->a] || jointed[c->b]) && !ds_feature_is_limit(c->feature) && !ds_feature_is_drive(c->feature) &&
         c->gap > FAR * fmin(a->thickness, b->thickness) && is_followed(a) && is_followed(b);
}

bool ds_step_leave_far(ds_step_run *run) {
  const ds_scene *scene = run->scene;
  if (scene->joint_count == 0 || !ds_moves_by_midpoint(run->options)) return true;
  ds_contact_list *all = &run->contacts;
  bool *jointed = DS_NEW0(&run->stepper->arena, bool, scene->body_count + 1);
  if (!jointed) return false;
  for (int32_t i = 0; i < scene->joint_count; i++) jointed[scene->joints[i].a] = jointed[scene->joints[i].b] = true;
  int32_t count = 0;
  for (int32_t first = 0, end; first < all->count; first = end) {
    const ds_contact_point *c = &all->points[first];
    bool far = true;
    for (end = first; end < all->count && all->points[end].a == c->a && all->points[end].b == c->b; end++)
      far &= is_far(run, &all->points[end], jointed);
    for (int32_t k = first; k < end && !far; k++) all->points[count++] = all->points[k];
  }
  all->count = count;
  return true;
}

/* m: how far apart the bodies of a contact are at the end of the step, beyond what the contact knows. */
static double apart_beyond(const ds_step_run *run, const ds_contact_point *c) {
  const ds_body *a = &run->scene->bodies[c->a], *b = &run->scene->bodies[c->b];
  ds_pose then[2];
  double h = run->options->step, linear = c->gap;
  for (int side = 0; side < 2; side++) {
    ds_body_state s = run->state->bodies[side == 0 ? c->a : c->b];
    ds_body_velocity(&s.v, &s.w, NULL, &run->assembly, side == 0 ? c->a : c->b);
    then[side] = (ds_pose){v3_mad(s.x, h, s.v), quat_unit(quat_mul(quat_exp(v3_scale(h, s.w)), s.q))};
    linear += (side == 0 ? h : -h) * v3_dot(c->normal, ds_velocity_at(&s, c->point));
  }
  double known = fmax(linear, 0), enough = known + c->gap + fmin(a->thickness, b->thickness);
  return ds_bodies_gap(a, then[0], b, then[1], enough) - known;
}

/* Whether a contact of an island acts and should not. */
static bool is_passed(const ds_step_run *run, const ds_island *island, int32_t k) {
  const ds_contact_point *c = &run->contacts.points[island->contacts[k]];
  const ds_body *a = &run->scene->bodies[c->a], *b = &run->scene->bodies[c->b];
  if (!island->midpoint || !(island->r[3 * k] > 0) || !ds_contact_is_open(c, run->scene)) return false;
  if (a->skin || b->skin || ds_feature_is_limit(c->feature) || ds_feature_is_drive(c->feature)) return false;
  return apart_beyond(run, c) > fmax(PASSED * c->gap, PASSED_THIN * fmin(a->thickness, b->thickness));
}

/* Leaves out the open contacts of pairs of which one is passed. *any says whether there are such; then `solved` is the
 * state to solve from. False where memory ran out. */
static bool leave_passed(ds_step_run *run, ds_state *solved, bool *any) {
  ds_arena *arena = &run->stepper->arena;
  ds_contact_list *all = &run->contacts;
  bool *passed = DS_NEW0(arena, bool, all->count + 1);
  ds_contact_point *kept = DS_NEW(arena, ds_contact_point, all->count + 1);
  if (!passed || !kept) return false;
  *any = false;
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    for (int32_t k = 0; k < island->problem.contact_count; k++)
      if (is_passed(run, island, k)) passed[island->contacts[k]] = *any = true;
  }
  if (!*any) return true;
  if (!ds_step_keep_impulses(run, solved)) return false;
  int32_t count = 0;
  for (int32_t first = 0, end; first < all->count; first = end) {
    const ds_contact_point *c = &all->points[first];
    bool off = false;
    for (end = first; end < all->count && all->points[end].a == c->a && all->points[end].b == c->b; end++)
      off |= passed[end];
    for (int32_t k = first; k < end; k++)
      if (!off || !ds_contact_is_open(&all->points[k], run->scene)) kept[count++] = all->points[k];
  }
  *all = (ds_contact_list){kept, count};
  return true;
}

ds_status ds_step_pass_by(ds_step_run *run) {
  bool any = true;
  ds_status status = DS_OK;
  for (int k = 0; k < LOOKS_AGAIN && status == DS_OK && any && !ds_step_is_late(run); k++) {
    ds_state solved;
    if (!leave_passed(run, &solved, &any)) return DS_ERROR_MEMORY;
    if (any) status = ds_step_solve(run, &solved, NULL);
  }
  return status;
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

/* Whether an island is to take the step in parts, which look for themselves where it goes: this solution is not used.
 */
static bool is_left_to_parts(const ds_step_run *run, const ds_island *island) {
  return island->midpoint && !run->careful && ds_step_lands(run, island);
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
      if (v3_dist(w, moving[i].w) * run->scene->bodies[i].bounding_radius > ROLLS * speed)
        return !is_left_to_parts(run, island);
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

ds_status ds_step_roll_on(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  ds_body_state *moving = DS_NEW(arena, ds_body_state, run->scene->body_count + 1);
  ds_status status = moving ? DS_OK : DS_ERROR_MEMORY;
  if (moving) memcpy(moving, run->state->bodies, (size_t)run->scene->body_count * sizeof *moving);
  for (int k = 0; k < ROLLINGS && status == DS_OK && rolls_otherwise(run, moving); k++) {
    ds_state solved;
    if (!ds_step_keep_impulses(run, &solved)) return DS_ERROR_MEMORY;
    status = ds_detect_middle(arena, &run->contacts, run->scene, run->state, moving, &run->detect);
    if (status == DS_OK) status = ds_step_solve(run, &solved, NULL);
  }
  return status;
}

/* ---- what the solution runs into ---- */

/* The island of which both bodies of a contact are; NULL where there is none. */
static const ds_island *island_of(const ds_step_run *run, const ds_contact_point *c) {
  const ds_step_body *a = &run->assembly.bodies[c->a], *b = &run->assembly.bodies[c->b];
  int32_t i = a->moves ? a->island : b->island, j = b->moves ? b->island : a->island;
  return i == j && i >= 0 ? &run->assembly.islands[i] : NULL;
}

/* Of the contacts that a second look has added those within islands that are left to their parts are taken out. */
static bool leave_to_parts(ds_step_run *run, ds_contact_list *now, const ds_contact_list *before) {
  bool *left = DS_NEW(&run->stepper->arena, bool, run->assembly.island_count + 1);
  int32_t count = 0, i = 0;
  if (!left) return false;
  for (int32_t k = 0; k < run->assembly.island_count; k++) left[k] = is_left_to_parts(run, &run->assembly.islands[k]);
  for (int32_t k = 0; k < now->count; k++) {
    const ds_contact_point *c = &now->points[k];
    while (i < before->count && ds_compare_points(&before->points[i], c) < 0) i++;
    bool known = i < before->count && ds_compare_points(&before->points[i], c) == 0;
    const ds_island *island = island_of(run, c);
    if (known || !island || !left[island - run->assembly.islands]) now->points[count++] = *c;
  }
  now->count = count;
  return true;
}

/* Adds contacts that the solution runs into; `solved` becomes the state to solve from. */
static ds_status add_missing(ds_step_run *run, ds_state *solved, int32_t *added) {
  ds_arena *arena = &run->stepper->arena;
  if (!ds_step_keep_impulses(run, solved)) return DS_ERROR_MEMORY;
  solved->bodies = DS_NEW(arena, ds_body_state, run->scene->body_count + 1);
  if (!solved->bodies) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < run->scene->body_count; i++) {
    solved->bodies[i] = run->state->bodies[i];
    ds_body_velocity(&solved->bodies[i].v, &solved->bodies[i].w, NULL, &run->assembly, i);
  }
  ds_contact_list before = run->contacts;
  ds_status status =
      ds_detect_again(arena, &run->contacts, added, run->scene, run->state, solved->bodies, &run->detect);
  if (status == DS_OK && !run->close &&
      !ds_limits_add(arena, &run->contacts, run->scene, run->state, solved->bodies, run->detect.step))
    status = DS_ERROR_MEMORY;
  if (status == DS_OK && run->contacts.count > before.count && !leave_to_parts(run, &run->contacts, &before))
    status = DS_ERROR_MEMORY;
  *added = run->contacts.count - before.count;
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
    if (is_left_to_parts(run, island)) continue;
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
    run->found = NULL;
    return ds_step_solve(run, run->state, NULL);
  }
  return DS_OK;
}

/* ---- stiffness ---- */

/* Finds deformable bodies that were misjudged, and what their stiffness lacks. */
static ds_status judge(ds_step_run *run, ds_state *solved, double **stiffer, int32_t *count) {
  if (!ds_find_misjudged(&run->stepper->arena, stiffer, count, &run->assembly, run->scene->body_count,
                         run->options->step))
    return DS_ERROR_MEMORY;
  return *count == 0 || ds_step_keep_impulses(run, solved) ? DS_OK : DS_ERROR_MEMORY;
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
