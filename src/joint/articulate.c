#include "joint/articulate.h"

#include <math.h>
#include <string.h>

#include "base/sets.h"

/* ---- which bodies belong together ---- */

static bool find_linkages(ds_arena *arena, ds_articulation *a, const ds_island *island, const ds_assembly *assembly,
                          const ds_scene *scene) {
  int32_t nb = island->problem.body_count;
  int32_t *parent = DS_NEW(arena, int32_t, nb + 1);
  a->linkage = DS_NEW(arena, int32_t, nb + 1);
  a->place = DS_NEW(arena, int32_t, nb + 1);
  a->linkages = DS_NEW0(arena, ds_linkage, nb + 1);
  if (ds_arena_failed(arena)) return false;
  ds_sets_single(parent, nb);
  for (int32_t j = 0; j < island->joint_count; j++) {
    const ds_joint *joint = &scene->joints[island->joints[j]];
    const ds_step_body *one = &assembly->bodies[joint->a], *other = &assembly->bodies[joint->b];
    if (one->moves && other->moves) ds_sets_join(parent, one->local, other->local);
  }
  for (int32_t i = 0; i < nb; i++) { /* a root comes before its members */
    int32_t root = ds_sets_root(parent, i);
    a->linkage[i] = root == i ? a->linkage_count++ : a->linkage[root];
    a->place[i] = -1;
    a->linkages[a->linkage[i]].body_count++;
  }
  for (int32_t j = 0; j < island->joint_count; j++) {
    const ds_joint *joint = &scene->joints[island->joints[j]];
    const ds_step_body *one = &assembly->bodies[joint->a], *other = &assembly->bodies[joint->b];
    ds_linkage *l = &a->linkages[a->linkage[one->moves ? one->local : other->local]];
    l->joint_count++;
    l->row_count += ds_joint_ops_of(joint->def.kind)->row_count;
  }
  return true;
}

/* Coordinates are numbered in the order in which joints name their bodies: rows of a chain then stay short. */
static void place_body(ds_articulation *a, int32_t body, int32_t size) {
  ds_linkage *l = &a->linkages[a->linkage[body]];
  if (a->place[body] >= 0) return;
  a->place[body] = l->size;
  l->bodies[l->body_count++] = body;
  l->size += size;
}

static void place_bodies(ds_articulation *a, const ds_island *island, const ds_assembly *assembly,
                         const ds_scene *scene) {
  const int32_t *size = island->problem.size;
  for (int32_t i = 0; i < a->linkage_count; i++) a->linkages[i].body_count = 0;
  for (int32_t j = 0; j < island->joint_count; j++) {
    const ds_joint *joint = &scene->joints[island->joints[j]];
    const ds_step_body *one = &assembly->bodies[joint->a], *other = &assembly->bodies[joint->b];
    if (one->moves) place_body(a, one->local, size[one->local]);
    if (other->moves) place_body(a, other->local, size[other->local]);
  }
  for (int32_t i = 0; i < island->problem.body_count; i++) place_body(a, i, size[i]);
}

static bool allocate_linkages(ds_arena *arena, ds_articulation *a) {
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    double **vectors[] = {&l->x, &l->best, &l->work};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) *vectors[k] = DS_NEW0(arena, double, l->size + 1);
    l->joints = DS_NEW(arena, ds_held_joint, l->joint_count + 1);
    l->gap = DS_NEW(arena, double, l->row_count + 1);
    l->rows = DS_NEW(arena, ds_null_row, l->row_count + 1);
  }
  return !ds_arena_failed(arena);
}

/* ---- rows of joints ---- */

static ds_pose pose_after(const ds_body *body, const ds_body_state *s, double time) {
  return body->ops->script ? body->ops->script(body, time) : ds_principal_pose(s);
}

static void add_joints(ds_articulation *a, const ds_island *island, const ds_assembly *assembly, const ds_scene *scene,
                       const ds_state *state, double h) {
  for (int32_t i = 0; i < a->linkage_count; i++) a->linkages[i].joint_count = a->linkages[i].row_count = 0;
  for (int32_t j = 0; j < island->joint_count; j++) {
    const ds_joint *joint = &scene->joints[island->joints[j]];
    ds_held_joint held = {.joint = joint, .kind = ds_joint_ops_of(joint->def.kind), .body = {joint->a, joint->b}};
    ds_linkage *l = NULL;
    for (int side = 0; side < 2; side++) {
      int32_t body = held.body[side];
      const ds_step_body *step = &assembly->bodies[body];
      held.at[side] = step->moves ? a->place[step->local] : -1;
      held.end[side] = pose_after(&scene->bodies[body], &state->bodies[body], state->time + h);
      if (step->moves) l = &a->linkages[a->linkage[step->local]];
    }
    if (!l) continue; /* one of the two moves */
    held.first_row = l->row_count;
    l->row_count += held.kind->row_count;
    l->joints[l->joint_count++] = held;
  }
}

/* Where a joint is at the start of the step, or in the mean of start and end. */
static ds_joint_pose pose_before(const ds_held_joint *held, const ds_assembly *assembly, const ds_state *state,
                                 bool midpoint) {
  ds_joint_pose pose = {.stretch = {1, 1}};
  for (int side = 0; side < 2; side++) {
    const ds_vec3 *points = side == 0 ? held->joint->on_a : held->joint->on_b;
    const ds_step_body *body = &assembly->bodies[held->body[side]];
    pose.center[side] = state->bodies[held->body[side]].x;
    if (midpoint)
      pose.center[side] = v3_mad(pose.center[side], 0.5, body->displacement), pose.stretch[side] = body->stretch;
    for (int32_t k = 0; k < held->joint->point_count; k++) pose.arm[side][k] = mat3_mul_v3(&body->rotation, points[k]);
    if (side == 0 && held->kind->has_axis) pose.across = ds_joint_across(pose.arm[0]);
    if (!midpoint) continue;
    for (int32_t k = 0; k < held->joint->point_count; k++) pose.arm[side][k] = ds_mean_arm(body, pose.arm[side][k]);
    if (side == 0) pose.across = ds_mean_arm(body, pose.across);
  }
  return pose;
}

void ds_held_joint_rows(ds_null_row *out, const ds_held_joint *held, const ds_joint_row *rows,
                        const ds_assembly *assembly) {
  int32_t count = held->kind->row_count;
  bool swapped = held->at[1] >= 0 && held->at[1] < held->at[0]; /* blocks in the order of coordinates */
  for (int32_t c = 0; c < count; c++) out[c].at[0] = out[c].at[1] = -1;
  for (int side = 0; side < 2; side++) {
    const ds_step_body *body = &assembly->bodies[held->body[side]];
    int block = swapped ? 1 - side : side;
    for (int32_t i = 0; held->at[side] >= 0 && i < count; i += 3) {
      ds_vec3 force[3] = {{0}}, torque[3] = {{0}};
      double three[18];
      int32_t n = count - i < 3 ? count - i : 3;
      for (int32_t c = 0; c < n; c++) {
        force[c] = side == 0 ? rows[i + c].force : v3_neg(rows[i + c].force);
        torque[c] = rows[i + c].torque[side];
      }
      ds_force_rows(three, body, force, torque);
      for (int32_t c = 0; c < n; c++) {
        out[i + c].at[block] = held->at[side];
        memcpy(out[i + c].value[block], three + 6 * c, 6 * sizeof(double));
      }
    }
  }
}

static void fill_rows(ds_linkage *l, const ds_assembly *assembly, const ds_state *state, bool midpoint) {
  for (int32_t k = 0; k < l->joint_count; k++) {
    const ds_held_joint *held = &l->joints[k];
    ds_joint_pose pose = pose_before(held, assembly, state, midpoint);
    ds_joint_row rows[DS_JOINT_ROWS];
    held->kind->rows(rows, &pose);
    ds_held_joint_rows(l->rows + held->first_row, held, rows, assembly);
  }
}

/* Rows of all joints. Those of a chord are in the metric that joints stiffen. */
static bool fill_linkages(ds_arena *arena, ds_articulation *a, const ds_island *island, const ds_assembly *assembly,
                          const ds_contact_list *contacts, const ds_state *state, const ds_options *options) {
  for (int32_t i = 0; i < a->linkage_count; i++) fill_rows(&a->linkages[i], assembly, state, island->midpoint);
  if (!island->midpoint || assembly->level == DS_LEVEL_NODE) return true;
  ds_subproblem_velocity(island->v, &island->problem, island->r);
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    if (l->joint_count > 0 && !ds_linkage_stiffen(arena, l, a, island, assembly, state, options->step)) return false;
    fill_rows(l, assembly, state, true);
  }
  ds_fill_island(island, assembly, contacts, state, options, NULL);
  return true;
}

/* ---- the problem in free coordinates ---- */

enum { WIDE = 24 };                 /* free coordinates from which on it may pay to look for those that contacts see */
static const double UNSEEN = 1e-12; /* of a body's coordinate: what of it counts as rounding; 1e-14 finds 63 for 60 */

static int32_t block_of(const ds_articulation *a, int32_t body) {
  return body < 0 ? -1 : a->linkages[a->linkage[body]].body;
}

/* Linkages that move become bodies; contacts that none of them touches are fixed, drives there left out. */
static bool place_problem(ds_arena *arena, ds_articulation *a, size_t *length, const ds_island *island,
                          const ds_contact_list *contacts, double h) {
  const ds_subproblem *whole = &island->problem;
  ds_subproblem *p = &a->problem;
  int32_t nc = whole->contact_count, dof = 0, drives = 0;
  for (int32_t k = 0; k < nc; k++) drives += ds_feature_is_drive(contacts->points[island->contacts[k]].feature);
  int32_t most = a->linkage_count + drives;
  int32_t *size = DS_NEW(arena, int32_t, most + 1), *first = DS_NEW(arena, int32_t, most + 1);
  a->drives = DS_NEW(arena, ds_held_drive, drives + 1);
  int32_t *body = DS_NEW(arena, int32_t, 2 * nc + 1), *jacobian = DS_NEW(arena, int32_t, 2 * nc + 1);
  a->contact = DS_NEW(arena, int32_t, nc + 1);
  a->fixed = DS_NEW(arena, ds_fixed_contact, nc + 1);
  a->moving = DS_NEW(arena, int32_t, most + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    l->body = l->free > 0 ? p->body_count : -1;
    if (l->free == 0) continue;
    size[p->body_count] = l->seen;
    a->moving[p->body_count] = i;
    first[p->body_count++] = dof;
    dof += l->seen;
  }
  *length = 0;
  for (int32_t k = 0; k < nc; k++) {
    int32_t one = block_of(a, whole->body[2 * k]), other = block_of(a, whole->body[2 * k + 1]);
    if (one < 0 || one == other) one = other, other = -1; /* one that moves comes first, as in assemble.c */
    const ds_contact_point *c = &contacts->points[island->contacts[k]];
    if (one < 0) {
      int32_t of = whole->body[2 * k];
      if (!ds_feature_is_drive(c->feature))
        a->fixed[a->fixed_count++] = (ds_fixed_contact){.contact = k, .linkage = &a->linkages[a->linkage[of]]};
      continue;
    }
    int32_t at = p->contact_count++;
    a->contact[at] = k;
    if (ds_feature_is_drive(c->feature)) {
      a->drives[a->drive_count++] = (ds_held_drive){
          .contact = at, .body = p->body_count, .impulse = (island->midpoint ? 0.5 : 1) * h * c->strength};
      other = p->body_count++;
      size[other] = ds_feature_is_planar_drive(c->feature) ? 1 : 2, first[other] = dof, a->moving[other] = -1;
      dof += size[other];
    }
    body[2 * at] = one, body[2 * at + 1] = other;
    for (int side = 0; side < 2; side++) {
      jacobian[2 * at + side] = (int32_t)*length;
      if (body[2 * at + side] >= 0) *length += 3 * (size_t)size[body[2 * at + side]];
    }
    if (*length > INT32_MAX) return false;
  }
  p->dof = dof;
  p->size = size, p->first = first, p->body = body, p->jacobian = jacobian;
  return true;
}

/* Row c of contact k as it acts on a linkage: (Qᵀ g)_w. */
static void free_row(double *out, const ds_articulation *a, const ds_linkage *l, const ds_subproblem *whole, int32_t k,
                     int32_t c) {
  memset(l->x, 0, (size_t)l->size * sizeof(double));
  if (l->wide) memset(out, 0, (size_t)l->seen * sizeof(double));
  for (int side = 0; side < 2; side++) {
    int32_t body = whole->body[2 * k + side];
    if (body < 0 || &a->linkages[a->linkage[body]] != l) continue;
    int32_t size = whole->size[body];
    const double *g = whole->g + whole->jacobian[2 * k + side] + c * size;
    if (!l->wide) memcpy(l->x + a->place[body], g, (size_t)size * sizeof(double));
    for (int32_t i = 0; l->wide && i < size; i++) {
      const double *row = a->wide[body] + (size_t)i * (size_t)l->free;
      for (int32_t j = 0; j < l->seen; j++) out[j] += g[i] * row[j];
    }
  }
  if (l->wide) return;
  ds_linkage_enter(l->x, l);
  memcpy(out, l->x + l->space.rank, (size_t)l->seen * sizeof(double));
}

/* Bodies of a linkage that contacts touch; *rows: (Qᵀ e)_w of all their coordinates. False where memory ran out. */
static bool rows_of_touched(ds_arena *arena, double **rows, int32_t *count, const ds_articulation *a,
                            const ds_linkage *l, const ds_subproblem *whole) {
  bool *touched = DS_NEW0(arena, bool, whole->body_count + 1);
  *count = 0;
  if (!touched) return false;
  for (int32_t i = 0; i < 2 * whole->contact_count; i++)
    if (whole->body[i] >= 0) touched[whole->body[i]] = true;
  for (int32_t i = 0; i < l->body_count; i++) *count += touched[l->bodies[i]] ? DS_NULL_BLOCK : 0;
  double *row = *rows = DS_NEW(arena, double, (size_t)*count *(size_t)l->free + 1);
  if (!row) return false;
  for (int32_t k = 0; k < l->body_count; k++) {
    int32_t body = l->bodies[k];
    if (!touched[body]) continue;
    a->wide[body] = row;
    for (int32_t i = 0; i < DS_NULL_BLOCK; i++, row += l->free)
      ds_null_tree_free_part(row, &l->space, a->place[body] / DS_NULL_BLOCK, i);
  }
  return true;
}

/* Turns the free coordinates of a linkage so that the bodies that contacts touch see the first of them alone, where
 * these are fewer. */
static bool narrow(ds_arena *arena, const ds_articulation *a, ds_linkage *l, const ds_subproblem *whole) {
  int32_t rows;
  double *g;
  if (l->free < WIDE) return true;
  l->wide = true;
  if (!rows_of_touched(arena, &g, &rows, a, l, whole)) return false;
  if (rows == 0 || rows >= l->free) return true;
  if (!ds_null_space_new(arena, &l->touched, l->free, rows)) return false;
  l->touched.dependent = UNSEEN;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  double *work = DS_NEW(arena, double, 2 * rows + 1);
  if (!work) return false;
  for (int32_t i = 0; i < rows; i++) work[i] = 1; /* of unit vectors */
  ds_null_space_build(&l->touched, g, work, rows);
  ds_arena_release(arena, mark);
  if (l->touched.rank > 0) l->seen = l->touched.rank;
  for (int32_t i = 0; i < l->touched.rank; i++) { /* rows that are kept are those of L now; the others have no rest */
    double *row = g + (size_t)l->touched.row[i] * (size_t)l->free;
    memset(row, 0, (size_t)l->seen * sizeof(double));
    memcpy(row, l->touched.l + (size_t)i * (size_t)l->touched.most, ((size_t)i + 1) * sizeof(double));
  }
  return true;
}

/* Rows of drives on their slack bodies, as long as those on linkages. */
static void fill_drives(ds_articulation *a, double *g) {
  const ds_subproblem *p = &a->problem;
  for (int32_t i = 0; i < a->drive_count; i++) {
    ds_held_drive *drive = &a->drives[i];
    int32_t size = p->size[p->body[2 * drive->contact]], slack_size = p->size[drive->body];
    const double *rows = g + p->jacobian[2 * drive->contact];
    double *slack = g + p->jacobian[2 * drive->contact + 1], longest = 0;
    for (int tangent = 1; tangent <= 2; tangent++) {
      double squares = 0;
      for (int32_t k = 0; k < size; k++) squares += rows[tangent * size + k] * rows[tangent * size + k];
      longest = fmax(longest, squares);
    }
    drive->scale = longest > 0 ? sqrt(longest) : 1;
    memset(slack, 0, 3 * (size_t)slack_size * sizeof(double));
    slack[0] = drive->scale;
    if (slack_size == 2) slack[5] = drive->scale;
  }
}

static bool build_problem(ds_arena *arena, ds_articulation *a, const ds_island *island, const ds_contact_list *contacts,
                          double h) {
  const ds_subproblem *whole = &island->problem;
  ds_subproblem *p = &a->problem;
  size_t length;
  a->wide = DS_NEW0(arena, double *, whole->body_count + 1);
  if (!a->wide) return false;
  for (int32_t i = 0; i < a->linkage_count; i++)
    if (!narrow(arena, a, &a->linkages[i], whole)) return false;
  if (!place_problem(arena, a, &length, island, contacts, h)) return false;
  size_t nc = (size_t)p->contact_count;
  double *g = DS_NEW(arena, double, length + 1), *mu = DS_NEW(arena, double, nc + 1);
  a->predicted = DS_NEW(arena, double, p->dof + 1);
  a->w = DS_NEW(arena, double, p->dof + 1);
  a->b = DS_NEW(arena, double, 3 * nc + 1);
  a->r = DS_NEW(arena, double, 3 * nc + 1);
  a->carried = DS_NEW0(arena, double, whole->dof + 1);
  a->shift = DS_NEW(arena, double, 3 * (size_t)whole->contact_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t of = a->contact[k];
    mu[k] = whole->mu[of];
    for (int side = 0; side < 2; side++) {
      int32_t body = p->body[2 * k + side];
      double *rows = g + p->jacobian[2 * k + side];
      for (int32_t c = 0; c < 3 && body >= 0 && a->moving[body] >= 0; c++)
        free_row(rows + c * p->size[body], a, &a->linkages[a->moving[body]], whole, of, c);
    }
  }
  fill_drives(a, g);
  p->g = g, p->mu = mu, p->b = a->b, p->predicted = a->predicted;
  return true;
}

static ds_held_limit held_limit(const ds_contact_point *c, const ds_linkage *l, const ds_scene *scene, double h) {
  const ds_held_joint *held = l->joints;
  while (held->joint != &scene->joints[ds_feature_joint(c->feature)]) held++;
  return (ds_held_limit){.linkage = l,
                         .held = held,
                         .feature = c->feature,
                         .travel = fabs(c->gap) + h * h * v3_norm(scene->def.gravity),
                         .stay = ds_contact_is_open(c, scene) ? 0 : c->gap};
}

/* The limits among the problem's contacts, and among the fixed ones. */
static bool list_limits(ds_arena *arena, ds_articulation *a, const ds_island *island, const ds_contact_list *contacts,
                        const ds_scene *scene, double h) {
  int32_t count = 0;
  for (int32_t k = 0; k < a->problem.contact_count; k++)
    count += ds_feature_is_limit(contacts->points[island->contacts[a->contact[k]]].feature);
  a->limits = DS_NEW(arena, ds_held_limit, count + 1);
  if (!a->limits) return false;
  for (int32_t k = 0; k < a->problem.contact_count; k++) {
    const ds_contact_point *c = &contacts->points[island->contacts[a->contact[k]]];
    if (!ds_feature_is_limit(c->feature)) continue;
    ds_held_limit *limit = &a->limits[a->limit_count++];
    *limit = held_limit(c, &a->linkages[a->moving[a->problem.body[2 * k]]], scene, h);
    limit->contact = k;
  }
  for (int32_t i = 0; i < a->fixed_count; i++) {
    const ds_contact_point *c = &contacts->points[island->contacts[a->fixed[i].contact]];
    if (ds_feature_is_limit(c->feature)) a->fixed[i].limit = held_limit(c, a->fixed[i].linkage, scene, h);
  }
  return true;
}

bool ds_articulate(ds_arena *arena, ds_island *island, const ds_assembly *assembly, const ds_contact_list *contacts,
                   const ds_scene *scene, const ds_state *state, const ds_options *options) {
  ds_articulation *a = DS_NEW0(arena, ds_articulation, 1);
  if (!a || !find_linkages(arena, a, island, assembly, scene)) return false;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    a->linkages[i].bodies = DS_NEW(arena, int32_t, a->linkages[i].body_count + 1);
    if (!a->linkages[i].bodies) return false;
  }
  place_bodies(a, island, assembly, scene);
  if (!allocate_linkages(arena, a)) return false;
  add_joints(a, island, assembly, scene, state, options->step);
  if (!fill_linkages(arena, a, island, assembly, contacts, state, options)) return false;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    ds_linkage *l = &a->linkages[i];
    if (!ds_null_tree_build(arena, &l->space, l->rows, l->row_count, l->size)) return false;
    a->y_count += a->linkages[i].space.rank;
    a->linkages[i].free = a->linkages[i].seen = a->linkages[i].size - a->linkages[i].space.rank;
    if (!(a->linkages[i].rest = DS_NEW0(arena, double, a->linkages[i].free + 1))) return false;
  }
  a->y = DS_NEW0(arena, double, a->y_count + 1);
  if (!a->y) return false;
  for (int32_t i = 0, at = 0; i < a->linkage_count; at += a->linkages[i++].space.rank) a->linkages[i].y = a->y + at;
  island->articulation = a;
  return build_problem(arena, a, island, contacts, options->step) &&
         (assembly->level == DS_LEVEL_NODE || list_limits(arena, a, island, contacts, scene, options->step));
}

bool ds_articulate_islands(ds_arena *arena, const ds_assembly *assembly, const ds_contact_list *contacts,
                           const ds_scene *scene, const ds_state *state, const ds_options *options) {
  for (int32_t i = 0; i < assembly->island_count; i++)
    if (assembly->islands[i].joint_count > 0 &&
        !ds_articulate(arena, &assembly->islands[i], assembly, contacts, scene, state, options))
      return false;
  return true;
}

/* ---- from velocities of bodies to free ones and back ---- */

void ds_linkage_enter(double *x, const ds_linkage *l) {
  ds_null_tree_enter(x, &l->space);
  if (l->seen < l->free) ds_null_space_enter(x + l->space.rank, &l->touched);
}

void ds_linkage_leave(double *x, const ds_linkage *l) {
  if (l->seen < l->free) ds_null_space_leave(x + l->space.rank, &l->touched);
  ds_null_tree_leave(x, &l->space);
}

void ds_articulation_enter(double *w, const ds_island *island, const double *v) {
  const ds_articulation *a = island->articulation;
  const ds_subproblem *whole = &island->problem;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    const ds_linkage *l = &a->linkages[i];
    if (l->body < 0) continue;
    for (int32_t k = 0; k < l->body_count; k++) {
      int32_t body = l->bodies[k];
      memcpy(l->x + a->place[body], v + whole->first[body], (size_t)whole->size[body] * sizeof(double));
    }
    ds_linkage_enter(l->x, l);
    const double *free = l->x + l->space.rank;
    memcpy(w + a->problem.first[l->body], free, (size_t)l->seen * sizeof(double));
    memcpy(l->rest, free + l->seen, (size_t)(l->free - l->seen) * sizeof(double));
  }
}

void ds_articulation_leave(double *v, const ds_island *island, const double *w, bool with_y, bool with_rest) {
  const ds_articulation *a = island->articulation;
  const ds_subproblem *whole = &island->problem;
  for (int32_t i = 0; i < a->linkage_count; i++) {
    const ds_linkage *l = &a->linkages[i];
    int32_t rank = l->space.rank;
    memset(l->x, 0, (size_t)l->size * sizeof(double));
    if (with_y) memcpy(l->x, l->y, (size_t)rank * sizeof(double));
    if (w && l->body >= 0) memcpy(l->x + rank, w + a->problem.first[l->body], (size_t)l->seen * sizeof(double));
    if (with_rest) memcpy(l->x + rank + l->seen, l->rest, (size_t)(l->free - l->seen) * sizeof(double));
    ds_linkage_leave(l->x, l);
    for (int32_t k = 0; k < l->body_count; k++) {
      int32_t body = l->bodies[k];
      memcpy(v + whole->first[body], l->x + a->place[body], (size_t)whole->size[body] * sizeof(double));
    }
  }
}
