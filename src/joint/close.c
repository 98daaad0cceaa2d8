/* Joints hold at the end of the step, not to first order.
 *
 * A step moves bodies along v and turns them about w; points that have the same velocity now are apart after it by
 * about h² w² r/2 for a link of length r. So y is chosen such that they are not: with gaps g after the step,
 *
 *   y <- y - L⁻¹ g(y, w)/h,
 *
 * Newton's method with the derivative of the start, gains about the angle of a step each time. Where that is slow the
 * derivative of the end takes its place: the point exp(h w) R s moves by (K h dw) x (exp(h w) R s) with the left
 * Jacobian K of the exponential map.
 *
 * The impulses stay along the joints' rows of the start. That is SHAKE (Ryckaert, Ciccotti and Berendsen 1977), which
 * for rotations in a plane conserves momenta and has no drift of energy; joints do not drift at all.
 *
 * SHAKE has a solution only up to a length of the step: waves across a chain under tension T have up to
 * ω² = 12 T/(m L), for planks that turn against each other, and h ω may be 2 at most. Beyond, joints pull along the
 * rows A of the end, too, as little as closes them,
 *
 *   (y, w) <- (y, w) - Aᵀ (A Aᵀ)⁻¹ g/h,
 *
 * and the change of w is a change of what contacts are told of it, w_p: they answer in the next round. */
#include <math.h>
#include <string.h>

#include "joint/articulate.h"
#include "joint/joint_system.h"
#include "joint/limit.h"

enum { CLOSINGS = 60, HALVINGS = 8, PULLS = 30 };
static const double ROUNDING = 1e-15; /* of the coordinates: gaps are not known better, |g| of 100 rows ... */
static const double NOTHING = 2e-14;  /* ... and after several roundings not as well */
static const double OPEN = 1e-10;     /* of the coordinates: gaps that no y closes */
static const double SLOW = 0.3;       /* gain of a step from which on the derivative of the end is taken */

/* The bodies of a joint after a step with the velocities x of the linkage, and the turns that took them there. */
static void poses_after(ds_pose end[2], ds_vec3 turn[2], const ds_linkage *l, const ds_held_joint *held,
                        const ds_assembly *assembly, const ds_state *state, double h) {
  for (int side = 0; side < 2; side++) {
    const ds_body_state *s = &state->bodies[held->body[side]];
    ds_vec3 v, w;
    turn[side] = v3(0, 0, 0);
    end[side] = held->end[side];
    if (held->at[side] < 0) continue;
    ds_unscale_velocity(&v, &w, NULL, &assembly->bodies[held->body[side]], l->x + held->at[side]);
    turn[side] = v3_scale(h, w);
    end[side] = (ds_pose){v3_mad(s->x, h, v), quat_unit(quat_mul(quat_exp(turn[side]), s->q))};
  }
}

/* The rows of a joint there, its pose, and the turns that led to it. */
static ds_joint_pose rows_after(ds_joint_row *rows, ds_vec3 turn[2], const ds_linkage *l, const ds_held_joint *held,
                                const ds_assembly *assembly, const ds_state *state, double h) {
  ds_pose end[2];
  poses_after(end, turn, l, held, assembly, state, h);
  ds_joint_pose pose = ds_joint_posed(held->joint, end[0], end[1]);
  held->kind->rows(rows, &pose);
  return pose;
}

double ds_linkage_gaps(ds_linkage *l, const ds_assembly *assembly, const ds_state *state, double h) {
  double largest = 0;
  l->extent = 0;
  for (int32_t k = 0; k < l->joint_count; k++) {
    const ds_held_joint *held = &l->joints[k];
    ds_vec3 turn[2];
    ds_joint_row rows[DS_JOINT_ROWS];
    ds_joint_pose pose = rows_after(rows, turn, l, held, assembly, state, h);
    for (int side = 0; side < 2; side++)
      for (int32_t i = 0; i < held->kind->middle; i++)
        l->extent = fmax(l->extent, v3_norm(ds_joint_point(&pose, side, i)));
    for (int32_t i = 0; i < held->kind->row_count; i++) l->gap[held->first_row + i] = rows[i].gap / h;
    largest = fmax(largest, ds_joint_gap(rows, held->kind->row_count));
  }
  return largest;
}

/* x = Q (y, w) */
static void velocities(ds_linkage *l, const ds_articulation *a) {
  int32_t rank = l->space.rank;
  memcpy(l->x, l->y, (size_t)rank * sizeof(double));
  if (l->body >= 0) memcpy(l->x + rank, a->w + a->problem.first[l->body], (size_t)l->seen * sizeof(double));
  memcpy(l->x + rank + l->seen, l->rest, (size_t)(l->free - l->seen) * sizeof(double));
  ds_linkage_leave(l->x, l);
}

/* |g| of the rows that are kept, h over */
static double distance(const ds_linkage *l) {
  double sum = 0;
  for (int32_t i = 0; i < l->space.rank; i++) sum += l->gap[l->space.row[i]] * l->gap[l->space.row[i]];
  return sqrt(sum);
}

/* ---- the derivative of the end ---- */

/* Kᵀ t, K = sin(f)/f 1 + (1 - sin(f)/f) a aᵀ + (1 - cos(f))/f [a]x for a turn f a */
static ds_vec3 turned_back(ds_vec3 turn, ds_vec3 t) {
  double angle = v3_norm(turn), sine = angle > 0 ? sin(angle) / angle : 1;
  double versine = angle > 0 ? (1 - cos(angle)) / angle : 0;
  ds_vec3 axis = v3_unit(turn), along = v3_scale((1 - sine) * v3_dot(axis, t), axis);
  return v3_mad(v3_mad(along, sine, t), -versine, v3_cross(axis, t));
}

/* The rows of the end: derivatives of gaps, over h, by the velocities of the bodies. */
static void end_rows(ds_linkage *l, const ds_assembly *assembly, const ds_state *state, double h) {
  for (int32_t k = 0; k < l->joint_count; k++) {
    const ds_held_joint *held = &l->joints[k];
    ds_vec3 turn[2];
    ds_joint_row rows[DS_JOINT_ROWS];
    rows_after(rows, turn, l, held, assembly, state, h);
    for (int32_t i = 0; i < held->kind->row_count; i++)
      for (int side = 0; side < 2; side++) rows[i].torque[side] = turned_back(turn[side], rows[i].torque[side]);
    ds_held_joint_rows(l->end_rows + held->first_row, held, rows, assembly);
  }
}

/* ---- steps ---- */

/* What the derivative of the end needs; made where it is needed. */
static bool need_system(ds_arena *arena, ds_joint_system **system, ds_linkage *l) {
  if (*system) return true;
  l->end_rows = DS_NEW(arena, ds_null_row, l->row_count + 1);
  *system = l->end_rows ? ds_joint_system_create(arena, l, false) : NULL;
  return *system != NULL;
}

/* work = the change of y, by the derivative of the end: Jᵀ (A Jᵀ)⁻¹ g/h. */
static bool end_direction(ds_linkage *l, ds_joint_system *system, const ds_assembly *assembly, const ds_state *state,
                          double h) {
  end_rows(l, assembly, state, h);
  if (!ds_joint_system_solve(l->work, system, l->end_rows, l->rows, l->gap)) return false;
  ds_linkage_enter(l->work, l);
  return true;
}

/* One step of y, as far as it makes gaps smaller: from a distance to the one that is returned, which is the same where
 * no part of the step does. */
static double step_closer(ds_linkage *l, const ds_articulation *a, double before, int halvings,
                          const ds_assembly *assembly, const ds_state *state, double h) {
  int32_t rank = l->space.rank;
  double share = 1;
  memcpy(l->best, l->y, (size_t)rank * sizeof(double));
  for (int i = 0; i <= halvings; i++, share *= 0.5) {
    for (int32_t k = 0; k < rank; k++) l->y[k] = l->best[k] - share * l->work[k];
    velocities(l, a);
    ds_linkage_gaps(l, assembly, state, h);
    double now = distance(l);
    if (now < before) return now;
  }
  memcpy(l->y, l->best, (size_t)rank * sizeof(double));
  velocities(l, a);
  ds_linkage_gaps(l, assembly, state, h);
  return before;
}

/* work = Aᵀ (A Aᵀ)⁻¹ g/h, the least change of (y, w) that closes to first order. */
static bool pull_direction(ds_linkage *l, ds_joint_system *system, const ds_assembly *assembly, const ds_state *state,
                           double h) {
  end_rows(l, assembly, state, h);
  if (!ds_joint_system_solve(l->work, system, l->end_rows, l->end_rows, l->gap)) return false;
  ds_linkage_enter(l->work, l);
  return true;
}

static void pull(ds_linkage *l, const ds_articulation *a, double share) {
  int32_t rank = l->space.rank;
  double *w = a->w + a->problem.first[l->body], *predicted = a->predicted + a->problem.first[l->body];
  for (int32_t k = 0; k < rank; k++) l->y[k] -= share * l->work[k];
  for (int32_t k = 0; k < l->seen; k++) {
    w[k] -= share * l->work[rank + k];
    predicted[k] -= share * l->work[rank + k];
  }
  for (int32_t k = l->seen; k < l->free; k++) l->rest[k - l->seen] -= share * l->work[rank + k];
}

/* From a distance on; true where something was changed. */
static bool pull_together(ds_linkage *l, ds_joint_system *system, const ds_articulation *a, double now,
                          const ds_assembly *assembly, const ds_state *state, double h) {
  bool pulled = false;
  for (int k = 0; k < PULLS && h * now > NOTHING * l->extent; k++) {
    double share = 1, next = now;
    if (!pull_direction(l, system, assembly, state, h)) break;
    for (int i = 0; i <= HALVINGS && !(next < now); i++, share *= 0.5) {
      pull(l, a, share);
      velocities(l, a);
      ds_linkage_gaps(l, assembly, state, h);
      next = distance(l);
      if (!(next < now)) pull(l, a, -share);
    }
    if (!(next < now)) break;
    pulled = true;
    now = next;
  }
  return pulled;
}

static bool close_linkage(ds_arena *arena, ds_linkage *l, const ds_articulation *a, const ds_assembly *assembly,
                          const ds_state *state, double h) {
  ds_joint_system *system = NULL;
  bool of_end = false;
  velocities(l, a);
  ds_linkage_gaps(l, assembly, state, h);
  double now = distance(l), rounding = ROUNDING * fmax(1, 0.1 * sqrt(l->space.rank));
  for (int k = 0; k < CLOSINGS && h * now > rounding * l->extent; k++) {
    if (!of_end)
      ds_null_tree_solve(l->work, &l->space, l->gap);
    else if (!need_system(arena, &system, l) || !end_direction(l, system, assembly, state, h))
      break;
    double next = step_closer(l, a, now, of_end ? HALVINGS : 0, assembly, state, h);
    bool ends = h * now <= NOTHING * l->extent || of_end;
    if (!(next < now) && ends) break;
    of_end |= !(next < SLOW * now);
    now = next;
  }
  return l->body >= 0 && h * now > OPEN * l->extent && need_system(arena, &system, l) &&
         pull_together(l, system, a, now, assembly, state, h);
}

bool ds_articulation_close(ds_arena *arena, bool *pulled, const ds_island *island, const ds_assembly *assembly,
                           const ds_state *state, double h) {
  const ds_articulation *a = island->articulation;
  *pulled = false;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    if (a->linkages[i].space.rank == 0) continue;
    ds_arena_mark mark = ds_arena_get_mark(arena);
    *pulled |= close_linkage(arena, &a->linkages[i], a, assembly, state, h);
    ds_arena_release(arena, mark);
  }
  return !ds_arena_failed(arena);
}

/* ---- how well ---- */

/* The gap of a limit after a step with the velocities of its linkage, beyond the one that it may keep. */
static double left_of(const ds_held_limit *limit, const ds_assembly *assembly, const ds_state *state, double h) {
  ds_pose end[2];
  ds_vec3 turn[2];
  poses_after(end, turn, limit->linkage, limit->held, assembly, state, h);
  return ds_limit_gap(limit->held->joint, limit->feature, end[0], end[1]) - limit->stay;
}

void ds_articulation_limits(const ds_island *island, const ds_assembly *assembly, const ds_state *state, double h) {
  const ds_articulation *a = island->articulation;
  for (int32_t i = 0; a->limit_count > 0 && i < a->linkage_count; i++) velocities(&a->linkages[i], a);
  for (int32_t i = 0; i < a->limit_count; i++) a->limits[i].left = left_of(&a->limits[i], assembly, state, h);
}

void ds_articulation_scale(const ds_island *island, const ds_assembly *assembly, const ds_state *state, const double *v,
                           double h) {
  const ds_articulation *a = island->articulation;
  const ds_subproblem *whole = &island->problem;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    for (int32_t k = 0; k < l->body_count; k++) {
      int32_t body = l->bodies[k];
      memcpy(l->x + a->place[body], v + whole->first[body], (size_t)whole->size[body] * sizeof(double));
    }
    l->without = ds_linkage_gaps(l, assembly, state, h);
  }
}

double ds_articulation_gap(double *error, const ds_island *island, const ds_assembly *assembly, const ds_state *state,
                           double h) {
  const ds_articulation *a = island->articulation;
  double largest = 0;
  *error = 0;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    if (l->joint_count == 0) continue;
    velocities(l, a);
    double gap = ds_linkage_gaps(l, assembly, state, h);
    largest = fmax(largest, gap);
    if (gap <= NOTHING * l->extent) continue;
    *error = fmax(*error, isfinite(gap) ? gap / l->without : INFINITY);
  }
  ds_articulation_limits(island, assembly, state, h);
  for (int32_t i = 0; i < a->limit_count; i++) {
    const ds_held_limit *limit = &a->limits[i];
    double off = a->r[3 * limit->contact] > 0 ? fabs(limit->left) : -limit->left;
    if (off > NOTHING * limit->linkage->extent)
      *error = fmax(*error, off / fmax(limit->linkage->without, limit->travel));
  }
  return largest;
}

double ds_articulation_conflict(const ds_island *island, const ds_assembly *assembly, const ds_state *state,
                                const double *v, double h) {
  const ds_articulation *a = island->articulation;
  double largest = 0;
  if (a->fixed_count == 0) return 0;
  ds_subproblem_apply_transposed(a->shift, &island->problem, v);
  for (int32_t i = 0; i < a->linkage_count; i++) velocities(&a->linkages[i], a);
  for (int32_t i = 0; i < a->fixed_count; i++) {
    const ds_fixed_contact *f = &a->fixed[i];
    double moved = a->shift[3 * f->contact], b = island->problem.b[3 * f->contact];
    double off = f->limit.held ? -left_of(&f->limit, assembly, state, h) : h * (b - moved);
    if (off > NOTHING * f->linkage->extent)
      largest = fmax(largest, off / fmax(h * (fabs(moved) + fabs(b)), f->linkage->without));
  }
  return largest;
}
