/* The end of a step, or of a part of it: its node.
 *
 * The midpoint rule leads to the velocities 2 v - v0, as if the second half of the impulses were the first. They are
 * not where something has landed, come off or come to rest. So the second half is solved for: contacts that are closed
 * now, where the bodies are now, with the velocities that come before it; the impulses of the first half are where it
 * starts from, and mostly where it ends. What slides on keeps its friction of the first half, against the mean of its
 * way: that against the velocity of the end would be of first order where its direction changes. Impacts and rebounds
 * happen here. Linkages that touch something lose what
 * velocity they have across their joints (ds_articulation_keep); free ones keep it: to project it out at every node
 * would cost energy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/scene.h"
#include "integrate/integrate.h"
#include "joint/articulate.h"
#include "joint/limit.h"
#include "predict/predict.h"
#include "project/project.h"
#include "step/step.h"

static const double SAME = 0.5; /* cosine up to which a direction of sliding is the same */

/* Of what gravity does in a step: approaches that are left to the next one. A tower from which a block is pulled is
 * solved to 1e-4 while it moves; corners that come to lie above each other approached by 7e-4, and an impact of nothing
 * else has no scale to be solved to. */
static const double LANDS = 1e-3;

/* Bodies that have a node: of islands that move by the midpoint rule and do not rest. */
static bool *moving_bodies(ds_arena *arena, const ds_step_run *run, const ds_state *state, const bool *wait,
                           bool *any) {
  bool *active = DS_NEW0(arena, bool, run->scene->body_count + 1);
  *any = false;
  for (int32_t i = 0; active && i < run->assembly.island_count; i++) {
    const ds_island *island = &run->assembly.islands[i];
    bool moves = false;
    if (!island->midpoint || (wait && wait[i]) || island->problem.contact_count == 0) continue;
    for (int32_t k = 0; k < island->problem.body_count && !moves; k++) {
      const ds_body_state *s = &state->bodies[island->bodies[k]];
      moves = v3_norm2(s->v) > 0 || v3_norm2(s->w) > 0;
    }
    for (int32_t k = 0; k < island->problem.body_count; k++) active[island->bodies[k]] = moves;
    *any |= moves;
  }
  for (int32_t i = 0; active && run->active && i < run->scene->body_count; i++) /* a part ends where something lands */
    if (run->assembly.bodies[i].midpoint && run->assembly.bodies[i].moves) active[i] = *any = true;
  return active;
}

static int by_key(const ds_contact_point *p, const ds_contact *c) {
  return ds_compare_names(p->a, p->b, p->feature & ~DS_FEATURE_AGAIN, ds_index(c->a), ds_index(c->b),
                          c->feature & ~DS_FEATURE_AGAIN);
}

/* A contact of the chord as it is now: its points went with both bodies, its normal with b. */
static ds_contact_point carried(const ds_contact *c, const ds_step_run *run, const ds_state *state) {
  int32_t index[2] = {ds_index(c->a), ds_index(c->b)};
  ds_contact_point p = {.a = index[0], .b = index[1], .feature = c->feature, .on_a = {-1, 0, 0}, .on_b = {-1, 0, 0}};
  for (int side = 0; side < 2; side++) {
    const ds_body_state *before = &run->state->bodies[index[side]], *now = &state->bodies[index[side]];
    ds_vec3 local = quat_unrotate(before->q, v3_sub(c->point, before->x));
    p.point = v3_mad(p.point, 0.5, v3_add(now->x, quat_rotate(now->q, local)));
    if (side == 1) p.normal = quat_rotate(now->q, quat_unrotate(before->q, c->normal));
  }
  return p;
}

/* Whether a contact of the chord was open and did nothing: where it is closed now, it has landed, and is no part of the
 * second half. */
static bool has_landed(const ds_contact *c, const ds_scene *scene) {
  return c->mode == DS_CONTACT_OPEN && c->gap > DS_TOUCHING * ds_smaller_radius(scene, ds_index(c->a), ds_index(c->b));
}

static int by_point(const void *p, const void *q) { return ds_compare_points(p, q); }

static int by_contact(const void *pa, const void *pb) {
  const ds_contact *a = pa, *b = pb;
  return ds_compare_names(ds_index(a->a), ds_index(a->b), a->feature, ds_index(b->a), ds_index(b->b), b->feature);
}

static int by_plain_point(const void *pa, const void *pb) {
  const ds_contact_point *a = pa, *b = pb;
  int order = ds_compare_names(a->a, a->b, a->feature & ~DS_FEATURE_AGAIN, b->a, b->b, b->feature & ~DS_FEATURE_AGAIN);
  return order ? order : by_point(pa, pb);
}

static int by_plain_contact(const void *pa, const void *pb) {
  const ds_contact *a = pa, *b = pb;
  int order = ds_compare_names(ds_index(a->a), ds_index(a->b), a->feature & ~DS_FEATURE_AGAIN, ds_index(b->a),
                               ds_index(b->b), b->feature & ~DS_FEATURE_AGAIN);
  return order ? order : by_contact(pa, pb);
}

static int by_plain_place(const void *pa, const void *pb) {
  const ds_contact_point *const *a = pa, *const *b = pb;
  return by_plain_point(*a, *b);
}

/* What is merged by names without the mark of second looks is put in the order of these names; contacts come in that of
 * their whole names. Merged as they come, they doubled in every part of a step. */
static ds_contact *plain_contacts(ds_arena *arena, const ds_contact *contacts, int32_t count) {
  ds_contact *sorted = DS_NEW(arena, ds_contact, count + 1);
  if (sorted && count > 0) memcpy(sorted, contacts, (size_t)count * sizeof *sorted);
  if (sorted) qsort(sorted, (size_t)count, sizeof *sorted, by_plain_contact);
  return sorted;
}

static bool plain_points(ds_arena *arena, ds_contact_list *to, const ds_contact_list *from) {
  *to = (ds_contact_list){DS_NEW(arena, ds_contact_point, from->count + 1), from->count};
  if (to->points && to->count > 0) memcpy(to->points, from->points, (size_t)to->count * sizeof *to->points);
  if (to->points) qsort(to->points, (size_t)to->count, sizeof *to->points, by_plain_point);
  return to->points != NULL;
}

/* Contacts of the chord as they are now, where they are closed still or carried; with `all`, whatever is closed now. In
 * order. */
static bool gather(ds_arena *arena, ds_contact_list *list, const ds_contact_list *now, const ds_step_run *run,
                   const ds_state *state, const bool *active, bool all) {
  ds_contact_point *points = DS_NEW(arena, ds_contact_point, now->count + run->solved_count + 1);
  const ds_contact *solved = plain_contacts(arena, run->solved, run->solved_count);
  ds_contact_list plain, *found = &plain;
  int32_t count = 0, i = 0, k = 0;
  if (!points || !solved || !plain_points(arena, found, now)) return false;
  while (i < found->count || k < run->solved_count) {
    const ds_contact *c = &solved[k];
    int order = i == found->count ? 1 : k == run->solved_count ? -1 : by_key(&found->points[i], c);
    if (order <= 0) {
      bool drive = ds_feature_is_drive(found->points[i].feature);
      if (drive ? !all
                : (all || (order == 0 && !has_landed(c, run->scene))) &&
                      !ds_contact_is_open(&found->points[i], run->scene))
        points[count++] = found->points[i];
    } else if (c->mode != DS_CONTACT_OPEN && (active[ds_index(c->a)] || active[ds_index(c->b)])) {
      points[count++] = carried(c, run, state);
    }
    i += order <= 0;
    k += order >= 0;
  }
  qsort(points, (size_t)count, sizeof *points, by_point);
  *list = (ds_contact_list){points, count};
  return true;
}

/* Whether a contact that slid in the first half, with the friction r, slides on: as the velocities of `now` have it,
 * which the same friction again has led to. */
static bool slides_on(const ds_step_run *node, const ds_state *now, int32_t index, const double *r) {
  const ds_contact_frame *f = &node->assembly.frames[index];
  const ds_contact_point *c = &node->contacts.points[index];
  ds_vec3 va = ds_velocity_at(&now->bodies[c->a], v3_add(c->point, f->grip));
  ds_vec3 u = v3_sub(va, ds_velocity_at(&now->bodies[c->b], v3_add(c->point, f->grip)));
  double u1 = v3_dot(f->t1, u), u2 = v3_dot(f->t2, u), friction = hypot(r[1], r[2]);
  if (ds_feature_is_limit(c->feature) || ds_feature_is_drive(c->feature)) return false;
  if (!(friction >= (1 - 1e-6) * f->mu * r[0]) || !(friction > 0)) return false;
  return -(r[1] * u1 + r[2] * u2) > SAME * friction * hypot(u1, u2);
}

/* Contacts that slide on have no friction besides. False where memory ran out. */
static bool keep_frictions(const ds_step_run *node, const ds_state *now) {
  for (int32_t i = 0; i < node->assembly.island_count; i++) {
    ds_island *island = &node->assembly.islands[i];
    ds_subproblem *p = &island->problem;
    double *mu = DS_NEW(&node->stepper->arena, double, p->contact_count + 1);
    if (!mu) return false;
    for (int32_t k = 0; k < p->contact_count; k++) {
      bool same = island->midpoint && slides_on(node, now, island->contacts[k], island->r + 3 * k);
      mu[k] = same ? 0 : p->mu[k];
      if (same) island->r[3 * k + 1] = island->r[3 * k + 2] = 0;
    }
    p->mu = mu;
  }
  return true;
}

/* Predictions without the second half: less what the impulses of the first would do again. */
static void take_back(ds_island *island) {
  const ds_subproblem *p = &island->problem;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) island->r[i] = -island->r[i];
  ds_subproblem_add_impulse(island->predicted, p, island->r);
  for (int32_t i = 0; i < 3 * p->contact_count; i++) island->r[i] = -island->r[i];
}

/* Adds to the impulses of the chord what those of the node have more than `before`; contacts that are new are put in
 * their place. */
static bool add_impulses(ds_arena *arena, ds_step_run *run, const ds_assembly *assembly, const ds_contact_list *list,
                         const double *before) {
  ds_contact *now = DS_NEW(arena, ds_contact, list->count + 1);
  ds_contact *all = DS_NEW(arena, ds_contact, list->count + run->solved_count + 1);
  const ds_contact *solved = plain_contacts(arena, run->solved, run->solved_count);
  const ds_contact_point **sorted = DS_NEW(arena, const ds_contact_point *, list->count + 1);
  if (!now || !all || !solved || !sorted) return false;
  for (int32_t n = 0; n < list->count; n++) sorted[n] = &list->points[n];
  qsort(sorted, (size_t)list->count, sizeof *sorted, by_plain_place);
  double share = ds_moves_by_midpoint(run->options) ? 0.5 : 1; /* of ds_store_contacts, for halves */
  ds_store_contacts(now, assembly, list);
  int32_t count = 0, j = 0, k = 0;
  while (j < list->count || k < run->solved_count) {
    const ds_contact *c = &solved[k];
    int order = j == list->count ? 1 : k == run->solved_count ? -1 : by_key(sorted[j], c);
    int32_t i = j < list->count ? (int32_t)(sorted[j] - list->points) : 0;
    if (order > 0) {
      all[count++] = *c;
    } else if (order < 0) {
      all[count] = now[i];
      all[count++].impulse = v3_scale(share, now[i].impulse);
    } else {
      const ds_contact_frame *f = &assembly->frames[i];
      const double *r = before + 3 * i;
      ds_vec3 half = v3_add(v3_scale(r[0], f->normal), v3_add(v3_scale(r[1], f->t1), v3_scale(r[2], f->t2)));
      all[count] = *c;
      all[count].impulse = v3_add(c->impulse, v3_sub(v3_scale(share, now[i].impulse), half));
      all[count].velocity = now[i].velocity;
      bool slides_on = c->mode == DS_CONTACT_SLIDE && r[1] == 0 && r[2] == 0;
      if (now[i].mode != DS_CONTACT_OPEN && !slides_on) all[count].mode = now[i].mode;
      count++;
    }
    j += order <= 0;
    k += order >= 0;
  }
  qsort(all, (size_t)count, sizeof *all, by_contact);
  run->solved = all, run->solved_count = count;
  return true;
}

bool ds_step_solve_node(ds_step_run *node, ds_step_run *run, ds_state *now, bool impact) {
  ds_arena *arena = &node->stepper->arena;
  ds_assembly *assembly = &node->assembly;
  double *before = DS_NEW0(arena, double, 3 * (size_t)node->contacts.count + 1);
  bool laws = impact && ds_step_has_laws(node->options);
  double slow = impact && !laws ? node->slow : INFINITY;
  *assembly = (ds_assembly){.level = DS_LEVEL_NODE, .active = node->active, .slow = slow};
  now->contacts = run->solved, now->contact_count = impact ? 0 : run->solved_count;
  if (!before || !ds_assemble(arena, assembly, node->scene, now, &node->contacts, node->options, node->stepper->pool) ||
      (!impact && !keep_frictions(node, now)) ||
      !ds_articulate_islands(arena, assembly, &node->contacts, node->scene, now, node->options))
    return false;
  if (laws && !ds_step_set_laws(node)) return false;
  ds_predict(assembly, node->scene, now, node->options, node->stepper->pool);
  for (int32_t i = 0; i < assembly->island_count; i++) {
    ds_island *island = &assembly->islands[i];
    for (int32_t k = 0; k < island->problem.contact_count; k++)
      memcpy(before + 3 * island->contacts[k], island->r + 3 * k, 3 * sizeof(double));
    if (island->articulation) ds_articulation_keep(island, assembly, now);
    take_back(island);
    if (impact) island->problem.least = node->slow; /* slower approaches are left to the next step: LANDS */
  }
  node->watch = NULL;
  if (!ds_step_project(node, now)) return false;
  for (int32_t i = 0; i < node->scene->body_count; i++)
    if (assembly->bodies[i].moves && assembly->bodies[i].island >= 0)
      ds_body_velocity(&now->bodies[i].v, &now->bodies[i].w, NULL, assembly, i);
  for (int32_t i = 0; i < assembly->island_count; i++) {
    const ds_island *island = &assembly->islands[i];
    ds_step_count(run, island);
    bool had_enough = !(node->options->step_budget > 0 && node->efforts[i].spent >= node->options->step_budget);
    if (run->missed && !island->certificate.converged && had_enough) *run->missed = true;
  }
  return add_impulses(arena, run, assembly, &node->contacts, before);
}

/* Whether closed contacts approach that the second half did not know: something has landed. What approaches of those
 * that it `knew` is what its solution is exact to. */
static bool something_lands(const ds_contact_list *list, const ds_contact_list *knew, const ds_step_run *run,
                            const ds_state *now) {
  for (int32_t k = 0, i = 0; k < list->count; k++) {
    const ds_contact_point *c = &list->points[k];
    while (i < knew->count && ds_compare_points(&knew->points[i], c) < 0) i++;
    if (i < knew->count && ds_compare_points(&knew->points[i], c) == 0) continue;
    ds_vec3 va = ds_velocity_at(&now->bodies[c->a], c->point), vb = ds_velocity_at(&now->bodies[c->b], c->point);
    if (v3_dot(c->normal, v3_sub(va, vb)) < -LANDS * run->slow) return true;
  }
  return false;
}

bool ds_step_node(ds_step_run *run, ds_state *state, const bool *wait) {
  ds_arena *arena = &run->stepper->arena;
  bool any;
  const bool *active = moving_bodies(arena, run, state, wait, &any);
  if (!active) return false;
  run->warm = run->solved, run->warm_count = run->solved_count;
  if (!any) return true;
  ds_state now = *state; /* its bodies are those of the state */
  now.time += run->options->step;
  now.contacts = run->solved, now.contact_count = run->solved_count;
  now.reduced_step = run->options->step;
  ds_step_run node = *run;
  node.active = active, node.state = &now;
  node.detect.active = active, node.detect.recall = NULL, node.detect.step = 0;
  ds_contact_list found;
  if (ds_detect(arena, &found, run->scene, &now, &node.detect) != DS_OK ||
      !ds_limits_add(arena, &found, run->scene, &now, NULL, 0) ||
      !gather(arena, &node.contacts, &found, run, &now, active, false))
    return false;
  ds_step_lap(run, DS_STAGE_DETECT);
  if (node.contacts.count > 0 && !ds_step_solve_node(&node, run, &now, false)) return false;
  run->warm = run->solved, run->warm_count = run->solved_count;
  ds_contact_list knew = node.contacts;
  if (!gather(arena, &node.contacts, &found, run, &now, active, true)) return false;
  bool done = !something_lands(&node.contacts, &knew, run, &now) || ds_step_solve_node(&node, run, &now, true);
  ds_step_lap(run, DS_STAGE_PROJECT);
  return done;
}

bool ds_step_fit(ds_step_run *run) {
  ds_arena *arena = &run->stepper->arena;
  const ds_scene *scene = run->scene;
  ds_state *now = DS_NEW(arena, ds_state, 1);
  bool *active = DS_NEW0(arena, bool, scene->body_count + 1);
  if (!now || !active || !ds_step_keep(arena, now, &run->kept)) return false;
  for (int32_t i = 0; i < scene->joint_count; i++) active[scene->joints[i].a] = active[scene->joints[i].b] = true;
  for (int32_t i = 0; i < scene->body_count; i++) {
    ds_body_state *s = &now->bodies[i];
    if (scene->bodies[i].ops->script) /* from now on */
      ds_motion_velocity(&s->v, &s->w, &scene->bodies[i], nextafter(now->time, INFINITY));
  }
  ds_step_run node = *run;
  node.active = active, node.state = now, node.contacts = (ds_contact_list){NULL, 0};
  run->state = now;
  return ds_step_solve_node(&node, run, now, true);
}
