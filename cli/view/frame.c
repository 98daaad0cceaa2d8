/* FRAME: see frame.h and docs/protocol.md. Contacts belong to one island where bodies that can be pushed join them. */
#include "frame.h"

#include <stdlib.h>

#include "../bodies.h"
#include "base/sets.h"

enum { STATISTICS = 16, FLAG_CONVERGED = 1, FLAG_HAND = 2, FLAG_LEFT_OUT = 4, FLAG_MISSED = 8 };
#define NO_ISLAND 0xffffffffu

static bool carries(const ds_contact *c) { return c->impulse.x != 0 || c->impulse.y != 0 || c->impulse.z != 0; }

/* Whether a contact is among those that are sent. */
static bool is_wanted(const ds_contact *c, view_contacts which) {
  return which == VIEW_CONTACTS_ALL || (which == VIEW_CONTACTS_CARRYING && carries(c));
}

static int32_t count_wanted(const view_snapshot *s, view_contacts *which) {
  int32_t most = INT32_MAX, count = 0;
  if (*which == VIEW_CONTACTS_USUAL) {
    bool many = s->contact_count > VIEW_CONTACTS_MANY;
    *which = many ? VIEW_CONTACTS_CARRYING : VIEW_CONTACTS_ALL;
    most = many ? VIEW_CONTACTS_MANY : INT32_MAX;
  }
  for (int32_t i = 0; i < s->contact_count && count < most; i++) count += is_wanted(&s->contacts[i], *which);
  return count;
}

/* ---- islands ---- */

static bool is_pushed(const ds_scene *scene, ds_body_id id) { return ds_body_get_kind(scene, id) == DS_BODY_DYNAMIC; }

/* Gives bodies that can be pushed the number of their island: parent and number have an entry per body. */
static void number_islands(int32_t *parent, uint32_t *number, const view_snapshot *s) {
  int32_t n = ds_scene_body_count(s->scene);
  uint32_t islands = 0;
  ds_sets_single(parent, n);
  for (int32_t i = 0; i < s->contact_count; i++) {
    const ds_contact *c = &s->contacts[i];
    if (is_pushed(s->scene, c->a) && is_pushed(s->scene, c->b))
      ds_sets_join(parent, body_index(c->a), body_index(c->b));
  }
  for (int32_t i = 0; i < n; i++) number[i] = NO_ISLAND;
  for (int32_t i = 0; i < s->contact_count; i++) {
    const ds_contact *c = &s->contacts[i];
    if (!is_pushed(s->scene, c->a) && !is_pushed(s->scene, c->b)) continue;
    int32_t root = ds_sets_root(parent, body_index(is_pushed(s->scene, c->a) ? c->a : c->b));
    if (number[root] == NO_ISLAND) number[root] = islands++;
  }
}

/* ---- parts of the message ---- */

static void write_contact(view_bytes *out, const ds_contact *c, uint32_t island) {
  view_u32(out, (uint32_t)body_index(c->a));
  view_u32(out, (uint32_t)body_index(c->b));
  view_vec3(out, c->point);
  view_vec3(out, c->normal);
  view_vec3(out, c->impulse);
  view_vec3(out, c->velocity);
  view_f32(out, c->gap);
  view_f32(out, c->mu);
  view_u32(out, (uint32_t)c->mode);
  view_u32(out, island);
}

static bool write_contacts(view_bytes *out, const view_snapshot *s, view_contacts which, int32_t count) {
  if (count == 0) return true;
  size_t n = (size_t)ds_scene_body_count(s->scene) + 1;
  int32_t *parent = malloc(n * sizeof *parent);
  uint32_t *number = malloc(n * sizeof *number);
  bool good = parent != NULL && number != NULL;
  if (good) number_islands(parent, number, s);
  for (int32_t i = 0; good && count > 0; i++) {
    const ds_contact *c = &s->contacts[i];
    if (!is_wanted(c, which)) continue;
    ds_body_id pushed = is_pushed(s->scene, c->a) ? c->a : c->b;
    write_contact(out, c, number[ds_sets_root(parent, body_index(pushed))]);
    count--;
  }
  free(parent);
  free(number);
  return good;
}

static void write_statistics(view_bytes *out, const view_snapshot *s) {
  const ds_step_report *r = s->report;
  view_f32(out, r->worst.staggered_iterations);
  view_f32(out, r->worst.projection_iterations);
  view_f32(out, r->worst.factorizations);
  view_f32(out, r->worst.natural_error);
  view_f32(out, r->worst.residual);
  view_f32(out, r->worst.rel_err);
  view_f32(out, s->energy.kinetic);
  view_f32(out, s->energy.potential);
  view_f32(out, s->energy.elastic);
  view_f32(out, r->active_contacts);
  view_f32(out, r->islands);
  for (int i = 0; i < DS_STAGE_COUNT; i++) view_f32(out, 1e3 * r->seconds[i]);
}

static void write_bodies(view_bytes *out, const view_snapshot *s) {
  int32_t n = ds_scene_body_count(s->scene);
  for (int32_t i = 0; i < n; i++) {
    const ds_pose *p = &s->poses[i];
    view_vec3(out, p->p);
    float q[4] = {(float)p->q.w, (float)p->q.x, (float)p->q.y, (float)p->q.z};
    view_raw(out, q, sizeof q);
  }
  for (int32_t i = 0; i < n; i++) {
    view_vec3(out, s->velocities[i]);
    view_vec3(out, s->angular_velocities[i]);
  }
  for (int32_t i = 0; i < ds_scene_reduced_count(s->scene); i++) view_f32(out, s->reduced != NULL ? s->reduced[i] : 0);
}

static void write_hand(view_bytes *out, const view_hand *hand) {
  view_u32(out, (uint32_t)hand->body);
  view_vec3(out, hand->grip);
  view_vec3(out, hand->target);
  view_vec3(out, hand->force);
  view_vec3(out, hand->torque);
  view_f32(out, hand->stiffness);
}

view_message *view_frame_message(const view_snapshot *s, view_contacts which) {
  view_bytes out;
  int32_t count = count_wanted(s, &which);
  uint32_t flags = (s->report->worst.converged ? FLAG_CONVERGED : 0u) | (s->hand.holds ? FLAG_HAND : 0u) |
                   (count < s->contact_count ? FLAG_LEFT_OUT : 0u) | (s->missed ? FLAG_MISSED : 0u);
  view_begin(&out, VIEW_FRAME);
  view_f64(&out, (double)s->report->step);
  view_f64(&out, s->report->time);
  view_u32(&out, (uint32_t)ds_scene_body_count(s->scene));
  view_u32(&out, (uint32_t)ds_scene_reduced_count(s->scene));
  view_u32(&out, (uint32_t)count);
  view_u32(&out, (uint32_t)s->contact_count);
  view_u32(&out, flags);
  view_u32(&out, STATISTICS);
  write_statistics(&out, s);
  write_bodies(&out, s);
  if (!write_contacts(&out, s, which, count)) out.failed = true;
  if (s->hand.holds) write_hand(&out, &s->hand);
  return view_end(&out);
}

/* ---- a state taken apart ---- */

bool view_poses_create(view_poses *p, int32_t body_count) {
  size_t n = (size_t)body_count + 1;
  *p = (view_poses){calloc(n, sizeof *p->poses), calloc(n, sizeof *p->velocities),
                    calloc(n, sizeof *p->angular_velocities)};
  if (p->poses != NULL && p->velocities != NULL && p->angular_velocities != NULL) return true;
  view_poses_free(p);
  return false;
}

void view_poses_free(view_poses *p) {
  free(p->poses);
  free(p->velocities);
  free(p->angular_velocities);
  *p = (view_poses){0};
}

void view_poses_read(view_poses *p, const ds_scene *scene, const ds_state *state) {
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id id = ds_scene_body(scene, i);
    p->poses[i] = ds_state_pose(scene, state, id);
    p->velocities[i] = ds_state_velocity(state, id);
    p->angular_velocities[i] = ds_state_angular_velocity(state, id);
  }
}
