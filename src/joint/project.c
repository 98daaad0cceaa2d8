/* Stage 4 of an island with joints: contact and friction in free coordinates (articulate.h), and y so that joints hold
 * at the end of the step (close.c).
 *
 * y depends on w, and w on what contacts see of y, by Gᵀ Q (y, 0). They are found in turn: w from the impulses of the
 * last step gives y, and the solve gives w. If joints then still hold, this is the solution. Otherwise it is repeated
 * from the impulses found, by a secant method (la/anderson.h): in impacts a plain round reduces the error by a third
 * only. The last solve is used in any case, so that contacts always hold; remaining gaps of joints are closed in the
 * next step. */
#include <math.h>
#include <string.h>

#include "drystone/drystone.h"
#include "joint/articulate.h"
#include "la/anderson.h"
#include "project/project.h"
#include "project/restitution.h"

enum { ROUNDS = 60, PATIENCE = 8 }; /* rounds in all, and without a gain: contacts have changed their mode */
static const double AIM = 0.1;      /* over the tolerance of rest: joints close so far in motion, too */
static const double WORSE = 1.5;    /* a gap that grows by this factor: rounds lead away from the solution */

/* Contacts move with y, as they do with scripted bodies. Limits hold the position after the step, which is not linear
 * in velocities either: if (y, w) leave a gap, (Gᵀ v)_N - gap/h makes it 0 to first order. */
static void shift_contacts(ds_articulation *a, const ds_island *island, const ds_assembly *assembly,
                           const ds_state *state, double h) {
  if (a->limit_count > 0) {
    ds_articulation_leave(a->carried, island, a->w, true, true);
    ds_subproblem_apply_transposed(a->shift, &island->problem, a->carried);
    ds_articulation_limits(island, assembly, state, h);
    for (int32_t i = 0; i < a->limit_count; i++) {
      ds_held_limit *limit = &a->limits[i];
      limit->b = a->shift[3 * a->contact[limit->contact]] - limit->left / h;
    }
  }
  ds_articulation_leave(a->carried, island, NULL, true, false);
  ds_subproblem_apply_transposed(a->shift, &island->problem, a->carried);
  for (int32_t k = 0; k < a->problem.contact_count; k++)
    for (int c = 0; c < 3; c++) {
      int32_t of = 3 * a->contact[k] + c;
      a->b[3 * k + c] = island->problem.b[of] - a->shift[of];
    }
  for (int32_t i = 0; i < a->limit_count; i++) {
    int32_t k = a->limits[i].contact;
    a->b[3 * k] = a->limits[i].b - a->shift[3 * a->contact[k]];
  }
}

/* The impact of an island in free coordinates: contacts that these do not move are left out. */
static bool solve_impact(const ds_solve *solve, ds_island *island) {
  const ds_articulation *a = island->articulation;
  ds_impact impact = *island->impact;
  int32_t nc = a->problem.contact_count, *pair = DS_NEW(solve->arena, int32_t, nc + 1);
  double *e = DS_NEW(solve->arena, double, nc + 1);
  if (ds_arena_failed(solve->arena)) return false;
  for (int32_t k = 0; k < nc; k++) e[k] = impact.restitution[a->contact[k]], pair[k] = impact.pair[a->contact[k]];
  impact.restitution = e, impact.pair = pair;
  return ds_project_impact(solve, a->r, a->w, &island->certificate, &a->problem, &impact);
}

/* One solve: r and w of the articulation, r of the island. The certificate is of this one, its counts of all so far. */
static bool solve(const ds_solve *given, ds_island *island, double *start) {
  ds_articulation *a = island->articulation;
  ds_arena *arena = given->arena;
  int32_t nc = a->problem.contact_count;
  ds_certificate work = island->certificate;
  if (nc == 0) return true;
  if (start) memcpy(start, a->r, 3 * (size_t)nc * sizeof(double));
  ds_arena_mark mark = ds_arena_get_mark(arena);
  bool done = island->impact ? solve_impact(given, island)
                             : ds_project_island(given, a->r, a->w, &island->certificate, &a->problem);
  ds_arena_release(arena, mark);
  if (done) ds_certificate_add_work(&island->certificate, &work);
  for (int32_t k = 0; k < nc; k++) memcpy(island->r + 3 * a->contact[k], a->r + 3 * k, 3 * sizeof(double));
  return done;
}

/* The remaining gap, m, and the corresponding error. */
static double judge(double *error, ds_island *island, const ds_assembly *assembly, const ds_state *state, double h) {
  ds_subproblem_velocity(island->v, &island->problem, island->r);
  ds_articulation_scale(island, assembly, state, island->v, h);
  return ds_articulation_gap(error, island, assembly, state, h);
}

/* y for the next solve; `used` is work. False where memory ran out. */
static bool next_y(ds_arena *arena, ds_anderson *secant, double *used, const ds_island *island,
                   const ds_assembly *assembly, const ds_state *state, double h, bool first) {
  const ds_articulation *a = island->articulation;
  size_t bytes = (size_t)a->y_count * sizeof(double);
  memcpy(used, a->y, bytes);
  bool pulled;
  if (!ds_articulation_close(arena, &pulled, island, assembly, state, h)) return false;
  if (pulled) ds_anderson_forget(secant);
  if (first || pulled) return true;
  ds_anderson_next(secant, used, a->y); /* the y that gave w, and the one that w gives */
  memcpy(a->y, used, bytes);
  return true;
}

/* How fast gaps of a linkage's joints open, with its velocities x; scripted bodies have theirs. */
static void opening_rates(ds_linkage *l, const ds_assembly *assembly, const ds_state *state) {
  for (int32_t k = 0; k < l->joint_count; k++) {
    const ds_held_joint *held = &l->joints[k];
    ds_pose pose[2];
    ds_vec3 v[2], w[2];
    for (int side = 0; side < 2; side++) {
      const ds_step_body *body = &assembly->bodies[held->body[side]];
      pose[side] = ds_principal_pose(&state->bodies[held->body[side]]);
      v[side] = body->v, w[side] = body->w;
      if (held->at[side] >= 0) ds_unscale_velocity(&v[side], &w[side], NULL, body, l->x + held->at[side]);
    }
    ds_joint_pose at = ds_joint_posed(held->joint, pose[0], pose[1]);
    ds_joint_row rows[DS_JOINT_ROWS];
    held->kind->rows(rows, &at);
    for (int32_t i = 0; i < held->kind->row_count; i++)
      l->gap[held->first_row + i] =
          v3_dot(rows[i].force, v3_sub(v[0], v[1])) + v3_dot(rows[i].torque[0], w[0]) + v3_dot(rows[i].torque[1], w[1]);
  }
}

static void start_cold(ds_articulation *a) {
  for (int32_t i = 0; i < 3 * a->problem.contact_count; i++) a->r[i] = 0;
  for (int32_t i = 0; i < a->drive_count; i++) a->r[3 * a->drives[i].contact] = a->drives[i].impulse;
  ds_subproblem_velocity(a->w, &a->problem, a->r);
}

/* Impulses to start from that add energy, as those of an impact would, are dropped: joints would be closed for
 * velocities that have nothing to do with the solution. */
static void drop_bad_start(ds_articulation *a) {
  double with = 0, without = 0;
  for (int32_t i = 0; i < a->problem.dof; i++) {
    with += a->w[i] * a->w[i];
    without += a->predicted[i] * a->predicted[i];
  }
  if (with > without) start_cold(a);
}

void ds_articulation_keep(const ds_island *island, const ds_assembly *assembly, const ds_state *state) {
  const ds_articulation *a = island->articulation;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    for (int32_t k = 0; k < l->body_count; k++) {
      int32_t body = l->bodies[k];
      memcpy(l->x + a->place[body], island->predicted + island->problem.first[body],
             (size_t)island->problem.size[body] * sizeof(double));
    }
    opening_rates(l, assembly, state);
    ds_linkage_enter(l->x, l);
    memcpy(l->y, l->x, (size_t)l->space.rank * sizeof(double));
    if (l->space.rank == 0) continue;
    ds_null_tree_solve(l->work, &l->space, l->gap);
    for (int32_t k = 0; k < l->space.rank; k++) l->y[k] -= l->work[k];
  }
}

/* One solve, in which y is as it is. */
static bool project_node(const ds_solve *given, ds_island *island) {
  ds_articulation *a = island->articulation;
  ds_articulation_leave(a->carried, island, NULL, true, false);
  ds_subproblem_apply_transposed(a->shift, &island->problem, a->carried);
  for (int32_t k = 0; k < a->problem.contact_count; k++)
    for (int c = 0; c < 3; c++)
      a->b[3 * k + c] = island->problem.b[3 * a->contact[k] + c] - a->shift[3 * a->contact[k] + c];
  if (!solve(given, island, NULL)) return false;
  ds_articulation_leave(island->v, island, a->w, true, true);
  island->certificate.bodies = island->problem.body_count;
  island->certificate.contacts = island->problem.contact_count;
  return true;
}

bool ds_articulation_project(const ds_solve *given, ds_island *island, double *start, const ds_assembly *assembly,
                             const ds_state *state) {
  const ds_options *options = given->options;
  ds_arena *arena = given->arena;
  ds_articulation *a = island->articulation;
  ds_certificate *certificate = &island->certificate;
  double error = 0, last = 0, gap = 0, last_gap = 0, best = INFINITY, h = options->step,
         *used = DS_NEW(arena, double, a->y_count + 1);
  int idle = 0;
  bool fresh = true, restarted = false;
  ds_anderson secant;
  if (!ds_anderson_new(arena, &secant, a->y_count) || !used) return false;
  *certificate = (ds_certificate){.converged = true, .tolerance = ds_options_tolerance(options)};
  ds_articulation_enter(a->predicted, island, island->predicted);
  for (int32_t k = 0; k < a->problem.contact_count; k++)
    memcpy(a->r + 3 * k, island->r + 3 * a->contact[k], 3 * sizeof(double));
  for (int32_t i = 0; i < a->drive_count; i++) { /* r_N = N stops the slack body */
    const ds_held_drive *drive = &a->drives[i];
    double *predicted = a->predicted + a->problem.first[drive->body];
    predicted[0] = -drive->scale * drive->impulse;
    if (a->problem.size[drive->body] == 2) predicted[1] = 0;
    a->r[3 * drive->contact] = drive->impulse;
  }
  memset(island->r, 0, 3 * (size_t)island->problem.contact_count * sizeof(double)); /* where nothing can move */
  ds_subproblem_velocity(a->w, &a->problem, a->r);
  if (island->midpoint) drop_bad_start(a);
  if (assembly->level == DS_LEVEL_NODE) return project_node(given, island);
  for (int round = 0; round < ROUNDS; round++) {
    if (!next_y(arena, &secant, used, island, assembly, state, h, fresh)) return false;
    fresh = false;
    shift_contacts(a, island, assembly, state, h);
    if (!solve(given, island, start)) return false;
    gap = judge(&error, island, assembly, state, h);
    if (a->problem.contact_count == 0 || error <= AIM * ds_options_tolerance(options) || !certificate->converged) break;
    if (ds_effort_is_over(given->effort)) break;
    if (round > 0 && error == last) break; /* nothing closes them: the same y gives the same w */
    if (round > 0 && gap > WORSE * last_gap && !restarted) {
      /* Joints were first closed for the velocities that the impulses of the last step give. Where contacts have
       * changed, these may have nothing to do with the solution: a block pulled out of a tower got 460 m/s. */
      start_cold(a);
      memset(a->y, 0, (size_t)a->y_count * sizeof(double));
      ds_anderson_forget(&secant);
      fresh = restarted = true;
    }
    last = error, last_gap = gap;
    if (error < 0.5 * best) best = error, idle = 0;
    if (++idle < PATIENCE) continue;
    ds_anderson_forget(&secant);
    best = error, idle = 0;
  }
  ds_articulation_leave(island->v, island, a->w, true, true);
  certificate->bodies = island->problem.body_count;
  certificate->contacts = island->problem.contact_count;
  certificate->joint_gap = gap;
  double conflict = ds_articulation_conflict(island, assembly, state, island->v, h);
  certificate->conflict = fmax(certificate->conflict, conflict);
  error = fmax(error, conflict);
  certificate->natural_error = fmax(certificate->natural_error, error);
  certificate->converged &= error <= certificate->tolerance;
  return true;
}
