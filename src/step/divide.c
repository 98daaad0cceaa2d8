/* Impacts at their time. An island in which something lands within the step takes it in parts: to the impact without
 * what will touch only then, the impact (node.c), and on. So no force acts on what is not there yet. Slow approaches,
 * which a step of gravity alone would make, are left to the contact problem of the whole step. An island that was not
 * solved is tried again in halves. */
#include <math.h>
#include <string.h>

#include "detect/gap.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "project/project.h"
#include "step/step.h"

enum { PARTS = 12 };                 /* of a step, at most so many end with an impact */
enum { TRIES = 5, HALVINGS = 4 };    /* of the time of an impact; of a part that was not solved */
static const double SHORTEST = 1e-4; /* part, of the step */
static const double SHARE = 0.05;    /* of an island's energy: less is left to the whole step, where nothing rubs */
static const double GLANCE = 1e-2;   /* error of a solution that says whether or about when something lands */
static const double SLOW = 0.25;     /* of what gravity does in a step: approaches that are left alone */

/* ---- which contacts are impacts ---- */

static ds_vec3 velocity_at(const ds_step_run *run, int32_t i, ds_vec3 point) {
  const ds_step_body *body = &run->assembly.bodies[i];
  const ds_body_state *s = &run->state->bodies[i];
  ds_body_state scripted = {.x = s->x, .v = body->v, .w = body->w};
  return ds_velocity_at(body->moves ? s : &scripted, point);
}

/* The kinetic energy of an island at the start. */
static double energy_of(const ds_step_run *run, const ds_island *island) {
  double sum = 0;
  for (int32_t k = 0; k < island->problem.body_count; k++) sum += ds_body_energy(run->state, island->bodies[k]).kinetic;
  return sum;
}

static double approach_of(const ds_step_run *run, const ds_contact_point *c) {
  return v3_dot(c->normal, v3_sub(velocity_at(run, c->b, c->point), velocity_at(run, c->a, c->point)));
}

/* Whether contact k of an island is open at the start and comes fast. The whole step knows neither its rebound nor the
 * friction of the impact; without both its impulse is much the same whenever it acts, and it counts where it can take
 * away a share of the island's energy. */
static bool comes_fast(const ds_step_run *run, const ds_island *island, int32_t k, double energy) {
  const ds_contact_point *c = &run->contacts.points[island->contacts[k]];
  if (!ds_contact_is_open(c, run->scene)) return false;
  double approach = approach_of(run, c);
  if (!(approach > SLOW * run->slow)) return false;
  if (ds_feature_is_limit(c->feature)) return true; /* of few; a light body may stop what lies on it */
  const ds_contact_frame *frame = &run->assembly.frames[island->contacts[k]];
  if (frame->restitution > 0 || frame->mu > 0) return true;
  const ds_subproblem *p = &island->problem;
  double ease = 0; /* 1/kg, along the normal */
  for (int side = 0; side < 2; side++)
    for (int32_t j = 0; p->body[2 * k + side] >= 0 && j < p->size[p->body[2 * k + side]]; j++) {
      double g = island->g[p->jacobian[2 * k + side] + j];
      ease += g * g;
    }
  double n = p->body_count; /* of one or two bodies every impact counts */
  return 0.5 * approach * approach >= SHARE * fmax(0, n - 2) / n * energy * ease;
}

/* Whether such a contact acts. */
static bool is_impact(const ds_step_run *run, const ds_island *island, int32_t k, double energy) {
  return island->r[3 * k] > 0 && comes_fast(run, island, k, energy);
}

/* Whether something may land in an island that is to be solved. */
static bool may_land(const ds_step_run *run, const ds_island *island) {
  double energy = energy_of(run, island);
  bool any = false;
  for (int32_t k = 0; k < island->problem.contact_count && !any; k++) {
    const ds_contact_point *c = &run->contacts.points[island->contacts[k]];
    any = comes_fast(run, island, k, energy) && c->gap < run->options->step * (approach_of(run, c) + run->slow);
  }
  return any;
}

bool ds_step_lands(const ds_step_run *run, const ds_island *island) {
  double energy = energy_of(run, island);
  bool any = false;
  for (int32_t k = 0; k < island->problem.contact_count && !any; k++) any = is_impact(run, island, k, energy);
  return any;
}

bool ds_step_glance(const ds_step_run *run, const ds_solve *solve, ds_island *island) {
  ds_certificate *c = &island->certificate;
  const ds_subproblem *p = &island->problem;
  if (!island->midpoint || run->careful || island->articulation || island->impact) return false;
  if (run->assembly.level == DS_LEVEL_NODE || !(run->close ? run->hasty : may_land(run, island))) return false;
  if (!ds_project_roughly(solve, island->r, island->v, c, p, GLANCE)) return false;
  island->glanced = run->hasty || ds_step_lands(run, island);
  c->tolerance = ds_options_tolerance(run->options);
  c->converged = c->natural_error <= c->tolerance; /* where nothing is left to be spent, this is the answer */
  return island->glanced;
}

bool *ds_step_to_divide(const ds_step_run *run, bool *any) {
  const ds_assembly *assembly = &run->assembly;
  bool *divided = DS_NEW0(&run->stepper->arena, bool, assembly->island_count + 1);
  *any = false;
  for (int32_t i = 0; divided && i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    if (!island->midpoint) continue;
    divided[i] = ds_step_lands(run, island);
    divided[i] |= (island->unsettled || !island->certificate.converged) && run->options->deadline == 0 &&
                  !ds_step_is_spent(run, island);
    *any |= divided[i];
  }
  return divided;
}

/* ---- when they happen ---- */

/* Where a body is at time t of a part of length h: with the acceleration that takes it to the velocity found. */
static ds_pose pose_at(const ds_step_run *run, int32_t i, double t) {
  const ds_step_body *body = &run->assembly.bodies[i];
  const ds_body_state *s = &run->state->bodies[i];
  if (run->scene->bodies[i].ops->script)
    return run->scene->bodies[i].ops->script(&run->scene->bodies[i], run->state->time + t);
  if (!body->moves) return ds_principal_pose(s);
  ds_vec3 v, w;
  ds_body_velocity(&v, &w, NULL, &run->assembly, i);
  double late = t / run->options->step;
  v = v3_add(v3_scale(1 - late, s->v), v3_scale(late, v));
  w = v3_add(v3_scale(1 - late, s->w), v3_scale(late, w));
  return (ds_pose){v3_mad(s->x, t, v), quat_unit(quat_mul(quat_exp(v3_scale(t, w)), s->q))};
}

/* How far a contact is open at time t, by its points; of a limit what is left of its range. */
static double gap_at(const ds_step_run *run, const ds_contact_point *c, double t) {
  if (ds_feature_is_limit(c->feature)) {
    const ds_joint *joint = &run->scene->joints[ds_feature_joint(c->feature)];
    return ds_limit_gap(joint, c->feature, pose_at(run, joint->a, t), pose_at(run, joint->b, t));
  }
  ds_pose a = pose_at(run, c->a, t), b = pose_at(run, c->b, t);
  const ds_body_state *sa = &run->state->bodies[c->a], *sb = &run->state->bodies[c->b];
  ds_vec3 pa = pose_point(a, quat_unrotate(sa->q, v3_sub(c->point, sa->x)));
  ds_vec3 pb = pose_point(b, quat_unrotate(sb->q, v3_sub(c->point, sb->x)));
  return c->gap + v3_dot(c->normal, v3_sub(pa, pb));
}

/* How fast two bodies can come nearer to each other, at most. */
static double fastest(const ds_step_run *run, const ds_contact_point *c) {
  ds_vec3 v[2][2];
  double turns = 0;
  for (int side = 0; side < 2; side++) {
    int32_t i = side == 0 ? c->a : c->b;
    const ds_body_state *s = &run->state->bodies[i];
    const ds_body *body = &run->scene->bodies[i];
    ds_vec3 w;
    ds_body_velocity(&v[side][1], &w, NULL, &run->assembly, i);
    v[side][0] = run->assembly.bodies[i].moves ? s->v : v[side][1];
    if (body->ops->fixed) continue;
    double rate = fmax(v3_norm(s->w), v3_norm(v3_sub(v3_scale(2, w), s->w)));
    turns += rate * (isfinite(body->bounding_radius) ? body->bounding_radius : v3_dist(s->x, c->point));
  }
  double first = v3_dist(v[0][0], v[1][0]), mean = v3_dist(v[0][1], v[1][1]);
  return turns + fmax(first, 2 * mean + first);
}

/* The same of bodies apart, which may pass through each other and be apart again at the end: steps no longer than their
 * distance allows. Bodies that slide along each other come nearer by a third in 200 of them. */
static double first_touch(const ds_step_run *run, const ds_contact_point *c, double near) {
  const ds_body *one = &run->scene->bodies[c->a], *other = &run->scene->bodies[c->b];
  double t = 0, h = run->options->step, speed = fastest(run, c);
  if (!(speed > 0)) return h;
  for (int i = 0; i < 1000 && t < h; i++) {
    double enough = near + (h - t) * speed;
    double gap = ds_bodies_gap(one, pose_at(run, c->a, t), other, pose_at(run, c->b, t), enough);
    if (gap <= near) return t;
    if (gap > enough) return h;
    t += fmax(gap - 0.5 * near, 0.5 * near) / speed;
  }
  return fmin(t, h);
}

/* The last time before a contact closes; all of the part where it does not. */
static double meeting(const ds_step_run *run, const ds_contact_point *c, bool apart, double near) {
  double from = 0, to = run->options->step;
  if (apart) return first_touch(run, c, near);
  if (gap_at(run, c, to) > 0) return to;
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (from + to), gap = gap_at(run, c, middle);
    if (gap > 0) from = middle;
    if (gap > 0 && gap <= near) break;
    if (!(gap > 0)) to = middle;
  }
  return from;
}

/* ---- a part up to its first impact ---- */

static bool mark_impacts(const ds_step_run *run, bool *off) {
  bool any = false;
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    double energy = energy_of(run, island);
    for (int32_t k = 0; k < island->problem.contact_count; k++)
      if (is_impact(run, island, k, energy)) off[island->contacts[k]] = any = true;
  }
  return any;
}

/* Contacts that are impacts of a pair go together: others of theirs, open too, would act in their place. `touching`
 * says of every contact whether its pair has one that is closed at the start. */
static void mark_pairs(const ds_contact_list *all, bool *off, bool *touching, const ds_scene *scene) {
  for (int32_t first = 0, end; first < all->count; first = end) {
    const ds_contact_point *c = &all->points[first];
    bool lands = false, touches = false;
    for (end = first; end < all->count && all->points[end].a == c->a && all->points[end].b == c->b; end++) {
      lands |= off[end];
      touches |= !ds_contact_is_open(&all->points[end], scene);
    }
    for (int32_t k = first; k < end; k++) {
      off[k] |= lands && ds_contact_is_open(&all->points[k], scene);
      touching[k] = touches;
    }
  }
}

/* Contacts of second looks say where bodies get to in the whole of the part: a shorter one would be led there at once,
 * with any velocity. */
static void drop_ahead(ds_contact_list *list) {
  int32_t count = 0;
  for (int32_t k = 0; k < list->count; k++)
    if (!ds_feature_is_ahead(list->points[k].feature)) list->points[count++] = list->points[k];
  list->count = count;
}

/* When the first of the contacts that are off closes. */
static double first_meeting(const ds_step_run *run, const ds_contact_list *all, const bool *off, const bool *touching) {
  double first = run->options->step;
  const ds_contact_point *known = NULL; /* bodies apart: their first contact was enough */
  for (int32_t k = 0; k < all->count; k++) {
    const ds_contact_point *c = &all->points[k];
    bool apart = !touching[k] && !ds_feature_is_limit(c->feature);
    if (!off[k] || (apart && known && known->a == c->a && known->b == c->b)) continue;
    if (apart) known = c;
    double size = ds_smaller_radius(run->scene, c->a, c->b);
    first = fmin(first, meeting(run, c, apart, 0.5 * DS_TOUCHING * size));
  }
  return first;
}

/* Whether smaller parts and better times are of no use: nothing may be spent on them. */
static bool is_spent(const ds_step_run *run) {
  bool any = false;
  for (int32_t i = 0; i < run->assembly.island_count; i++) any |= ds_step_is_spent(run, &run->assembly.islands[i]);
  return any;
}

/* Cuts the part to its first impact, if there is *any, and solves it without those to come. */
static ds_status cut(ds_step_run *run, ds_options *options, double shortest, bool *any) {
  ds_arena *arena = &run->stepper->arena;
  ds_contact_list all = run->contacts;
  bool *off = DS_NEW0(arena, bool, all.count + 1), *touching = DS_NEW(arena, bool, all.count + 1);
  ds_contact_point *kept = DS_NEW(arena, ds_contact_point, all.count + 1);
  if (ds_arena_failed(arena)) return DS_ERROR_MEMORY;
  *any = mark_impacts(run, off);
  if (!*any) return DS_OK;
  mark_pairs(&all, off, touching, run->scene);
  int32_t count = 0;
  for (int32_t k = 0; k < all.count; k++)
    if (!off[k]) kept[count++] = all.points[k];
  run->contacts = (ds_contact_list){kept, count};
  run->found = NULL; /* with the impacts */
  ds_state solved = *run->state;
  for (int i = 0; i < TRIES && (i == 0 || !is_spent(run)); i++) {
    run->hasty = i == 0; /* a guess of the time: a glance will do, and the turns of the start */
    ds_status status = ds_step_solve(run, &solved, NULL);
    run->hasty = false;
    if (status != DS_OK) return status;
    double first = first_meeting(run, &all, off, touching);
    if (!(first < options->step) && i > 0) return DS_OK;
    if (!ds_step_keep_impulses(run, &solved)) return DS_ERROR_MEMORY;
    if (i == 0) first *= 1 + GLANCE; /* beyond it, so that an exact solution sees it */
    if (!(first < options->step)) continue;
    options->step = run->detect.step = fmin(fmax(first, shortest), options->step);
    drop_ahead(&run->contacts);
    if (options->step == shortest) break;
  }
  return ds_step_solve(run, &solved, NULL);
}

/* Cuts the part to its first impact. What the bodies run into up to there may come earlier. */
static ds_status to_impact(ds_step_run *run, ds_options *options, double shortest) {
  ds_status status = DS_OK;
  bool any = true;
  run->close = true;
  for (int i = 1; status == DS_OK && !run->careful; i++) {
    status = cut(run, options, shortest, &any);
    if (status != DS_OK) return status;
    run->careful = !any || options->step == shortest || i == TRIES || is_spent(run);
    if (any) status = ds_step_look_again(run);
  }
  return status;
}

/* ---- all parts ---- */

static bool is_solved(const ds_step_run *run) {
  bool all = true;
  for (int32_t i = 0; i < run->assembly.island_count; i++)
    all &= run->assembly.islands[i].certificate.converged && !run->assembly.islands[i].unsettled;
  return all;
}

/* What the islands of a part have in common is its length: each goes on alone, those that nothing lands in to the end
 * at once. */
static ds_status take_apart(ds_step_run *part, ds_state *at, const bool *divided) {
  ds_step_count_islands(part, divided);
  ds_status status = ds_step_move(part, at, divided) ? ds_step_divide(part, at, divided) : DS_ERROR_MEMORY;
  part->warm = part->solved, part->warm_count = part->solved_count;
  return status;
}

/* Takes one part, halved up to so many times until it is solved. */
static ds_status take_part(ds_step_run *part, ds_state *at, ds_options *options, double shortest, int halvings) {
  if (!ds_step_keep(&part->stepper->arena, &part->kept, at)) return DS_ERROR_MEMORY;
  part->state = &part->kept;
  ds_status status = ds_step_find(part);
  if (status == DS_OK && !part->careful && part->assembly.island_count > 1) {
    bool any;
    const bool *divided = ds_step_to_divide(part, &any);
    if (!divided) return DS_ERROR_MEMORY;
    if (any) return take_apart(part, at, divided);
  }
  if (status == DS_OK && !is_spent(part)) status = to_impact(part, options, shortest);
  part->careful = true;
  for (int i = 0; i < halvings && status == DS_OK && !is_solved(part) && !is_spent(part); i++) {
    options->step *= 0.5;
    part->detect.step = options->step;
    status = ds_step_find(part);
  }
  if (status != DS_OK) return status;
  ds_step_count_islands(part, NULL);
  return ds_step_move(part, at, NULL) ? DS_OK : DS_ERROR_MEMORY;
}

static int by_name(const ds_contact *c, const ds_contact *d) {
  return ds_compare_names(ds_index(c->a), ds_index(c->b), c->feature, ds_index(d->a), ds_index(d->b), d->feature);
}

/* The contacts of one part after those of the parts before it: each as it was last, with all of its impulses. In order.
 */
static bool add_part(ds_arena *arena, ds_step_run *sum, const ds_contact *part, int32_t part_count) {
  ds_contact *all = DS_NEW(arena, ds_contact, sum->solved_count + part_count + 1);
  int32_t count = 0, i = 0, k = 0;
  if (!all) return false;
  while (i < sum->solved_count || k < part_count) {
    int order = i == sum->solved_count ? 1 : k == part_count ? -1 : by_name(&sum->solved[i], &part[k]);
    all[count] = order < 0 ? sum->solved[i] : part[k];
    if (order == 0) all[count].impulse = v3_add(part[k].impulse, sum->solved[i].impulse);
    count++;
    i += order <= 0;
    k += order >= 0;
  }
  sum->solved = all, sum->solved_count = count;
  return true;
}

static ds_status divide_one(ds_step_run *given, ds_state *before, const bool *active, ds_state *at) {
  ds_step_run copy = *given, *run = &copy;
  double left = run->options->step, longest = left;
  int halvings = HALVINGS;
  run->solved_count = 0;
  if (!ds_step_keep(&run->stepper->arena, at, before)) return DS_ERROR_MEMORY;
  for (int parts = 0; left > 0; parts++) {
    ds_options options = *run->options;
    options.step = fmin(left, longest);
    ds_step_run part = *run;
    part.options = &options, part.active = active, part.careful = parts >= PARTS;
    part.detect.active = active, part.detect.recall = NULL, part.detect.step = options.step;
    double shortest = fmin(options.step, SHORTEST * run->options->step);
    ds_status status = take_part(&part, at, &options, shortest, halvings);
    if (status != DS_OK) return status;
    if (!is_solved(&part)) halvings = 0, longest = is_spent(&part) ? left : options.step; /* nor will the rest be */
    at->time += options.step;
    at->contacts = part.warm, at->contact_count = part.warm_count;
    if (!add_part(&run->stepper->arena, run, part.solved, part.solved_count)) return DS_ERROR_MEMORY;
    at->reduced_step = options.step;
    at->step += at->step == 0;
    left -= options.step;
    if (left < 1e-9 * run->options->step) left = 0;
  }
  at->contacts = run->solved, at->contact_count = run->solved_count;
  return DS_OK;
}

/* The contacts of the run, less those of bodies that are active, and the others, in order. */
static bool merge(ds_arena *arena, ds_step_run *run, const bool *active, const ds_contact *others,
                  int32_t other_count) {
  ds_contact *all = DS_NEW(arena, ds_contact, run->solved_count + other_count + 1);
  int32_t count = 0, i = 0, k = 0;
  if (!all) return false;
  while (i < run->solved_count || k < other_count) {
    const ds_contact *c = &run->solved[i];
    if (i < run->solved_count && (active[ds_index(c->a)] || active[ds_index(c->b)]))
      i++;
    else if (k == other_count || (i < run->solved_count && by_name(c, &others[k]) <= 0))
      all[count++] = run->solved[i++];
    else
      all[count++] = others[k++];
  }
  run->solved = all, run->solved_count = count;
  return true;
}

ds_status ds_step_divide(ds_step_run *run, ds_state *state, const bool *divided) {
  ds_arena *arena = &run->stepper->arena;
  int32_t n = run->scene->body_count;
  ds_state before;
  if (!ds_step_keep(arena, &before, run->state)) return DS_ERROR_MEMORY;
  before.recall = NULL;
  before.contacts = run->solved, before.contact_count = run->solved_count; /* parts start from the whole step */
  before.reduced_step = run->options->step;
  for (int32_t i = 0; i < n; i++) /* scripted bodies were moved to the end of the step */
    if (run->scene->bodies[i].ops->script) {
      ds_pose pose = run->scene->bodies[i].ops->script(&run->scene->bodies[i], before.time);
      before.bodies[i].x = pose.p, before.bodies[i].q = pose.q;
    }
  for (int32_t i = 0; i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    if (!divided[i]) continue;
    bool *active = DS_NEW0(arena, bool, n + 1);
    if (!active) return DS_ERROR_MEMORY;
    for (int32_t k = 0; k < island->problem.body_count; k++) {
      active[island->bodies[k]] = true;
      if (run->whole == &run->assembly) run->spent[island->bodies[k]] = 0; /* the parts may take what the step may */
    }
    ds_state at;
    ds_status status = divide_one(run, &before, active, &at);
    if (status != DS_OK) return status;
    for (int32_t k = 0; k < island->problem.body_count; k++)
      state->bodies[island->bodies[k]] = at.bodies[island->bodies[k]];
    if (!merge(arena, run, active, at.contacts, at.contact_count)) return DS_ERROR_MEMORY;
  }
  return DS_OK;
}
