/* Verdicts for the page: see verdict.h. While a slider moves they are quick, forces or a mechanism; when it rests,
 * proofs in the plane and moving solutions are looked for, too. Lines to draw are sent along: lines of thrust and what
 * supports carry, or the first motion of the blocks; and how much of friction and section every body uses. */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"
#include "base/vec3.h"
#include "drystone/stand.h"

static const double arrow = 0.12; /* of the size of the assembly: the longest arrow */

/* Kinds of lines, for the page. */
enum { LINE_THRUST, LINE_REACTION, LINE_MOTION };

static double size_of(const ds_assembly *a) {
  ds_vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int32_t k = 0; k < a->point_count; k++) low = v3_min(low, a->points[k]), high = v3_max(high, a->points[k]);
  return a->point_count > 0 ? v3_dist(low, high) : 1;
}

static void put_line(view_bytes *out, bool *first, ds_vec3 a, ds_vec3 b, int kind) {
  view_text(out, "%s%.5g, %.5g, %.5g, %.5g, %.5g, %.5g, %d", *first ? "" : ", ", a.x, a.y, a.z, b.x, b.y, b.z, kind);
  *first = false;
}

/* From centres of pressure to the centres of the blocks; forces on supports as arrows. */
static void put_thrust(view_bytes *out, const ds_assembly *a, const ds_stand *s) {
  double largest = 0, size = size_of(a);
  bool first = true;
  for (int32_t i = 0; i < a->interface_count; i++) largest = fmax(largest, v3_norm(ds_interface_thrust(a, s, i).force));
  for (int32_t i = 0; i < a->interface_count && largest > 0; i++) {
    ds_thrust t = ds_interface_thrust(a, s, i);
    if (!(v3_norm(t.force) > 1e-4 * largest)) continue;
    for (int32_t side = 0; side < 2; side++) {
      int32_t b = side == 0 ? a->interfaces[i].a : a->interfaces[i].b;
      ds_vec3 end = a->blocks[b].center;
      if (a->blocks[b].support) end = v3_mad(t.center, (side == 0 ? -1 : 1) * arrow * size / largest, t.force);
      put_line(out, &first, t.center, end, a->blocks[b].support ? LINE_REACTION : LINE_THRUST);
    }
  }
}

static void put_motion(view_bytes *out, const ds_assembly *a, const ds_twist *twist) {
  double largest = 0, size = size_of(a);
  bool first = true;
  for (int32_t i = 0; i < a->block_count; i++)
    largest = fmax(largest, v3_norm(ds_twist_at(twist[i], a->blocks[i].center)));
  for (int32_t i = 0; i < a->block_count && largest > 0; i++) {
    ds_vec3 v = ds_twist_at(twist[i], a->blocks[i].center), c = a->blocks[i].center;
    if (v3_norm(v) > 0.02 * largest) put_line(out, &first, c, v3_mad(c, arrow * size / largest, v), LINE_MOTION);
  }
}

/* How much of friction or section is used at the interfaces of a body, at most: one number per body of the scene, where
 * `removed` is none of the blocks. */
static void put_use(view_bytes *out, const ds_assembly *a, const ds_stand *s, uint32_t removed) {
  int32_t bodies = a->block_count + (removed != VIEW_NO_BODY);
  double *used = calloc((size_t)bodies + 1, sizeof *used);
  for (int32_t i = 0; i < a->interface_count && used != NULL; i++) {
    ds_thrust t = ds_interface_thrust(a, s, i);
    for (int32_t side = 0; side < 2; side++) {
      uint32_t block = (uint32_t)(side == 0 ? a->interfaces[i].a : a->interfaces[i].b);
      double *most = &used[block + (block >= removed)];
      *most = fmin(fmax(*most, fmax(t.friction, t.section)), 1);
    }
  }
  for (int32_t i = 0; i < bodies && used != NULL; i++) view_text(out, "%s%.3f", i == 0 ? "" : ", ", used[i]);
  free(used);
}

static view_message *write_verdict(const ds_assembly *a, const ds_stand *s, uint32_t removed, double seconds) {
  view_bytes out;
  view_begin(&out, VIEW_VERDICT);
  view_text(&out, "{\"verdict\": ");
  view_json_text(&out, ds_verdict_name(s->verdict));
  view_text(&out, ", \"proof\": ");
  view_json_text(&out, s->reason == DS_REASON_FRICTIONLESS ? "in equilibrium without friction"
                       : s->reason == DS_REASON_PLANAR     ? "every motion in its plane is excluded"
                       : s->reason == DS_REASON_MOVES      ? "a moving solution exists, too"
                       : s->verdict == DS_FALLS            ? "a mechanism"
                       : s->verdict == DS_CAN_STAND        ? "an equilibrium exists; motions are not excluded"
                                                           : "too near the edge");
  view_text(&out, ", \"blocks\": %d, \"interfaces\": %d, \"points\": %d, \"factorizations\": %d, \"time\": ",
            (int)a->block_count, (int)a->interface_count, (int)a->point_count, (int)s->factorizations);
  view_json_number(&out, seconds);
  view_text(&out, ", \"lines\": [");
  const ds_twist *motion = s->mechanism ? s->mechanism : s->moving;
  if (motion)
    put_motion(&out, a, motion);
  else if (s->normal)
    put_thrust(&out, a, s);
  view_text(&out, "], \"used\": [");
  if (s->normal) put_use(&out, a, s, removed);
  view_text(&out, "]}");
  return view_end(&out);
}

/* Tilting the ground is turning gravity. */
static ds_vec3 tilted(ds_vec3 gravity, double degrees, double azimuth) {
  double t = degrees * DS_PI / 180, a = azimuth * DS_PI / 180, g = v3_norm(gravity);
  ds_vec3 along = v3(cos(a), sin(a), 0);
  return v3_add(v3_scale(cos(t), gravity), v3_scale(g * sin(t), along));
}

view_message *view_verdict_message(const ds_scene *scene, const ds_state *state, const view_command *c,
                                   ds_error *error) {
  ds_assembly_options options = ds_default_assembly_options();
  ds_stand_options how = ds_default_stand_options();
  options.mu = c->value;
  how.margin = false, how.planar = how.search = c->what == 1;
  double start = ds_thread_clock();
  ds_assembly *a = ds_assembly_of_scene(scene, state, &options, error);
  if (a != NULL && c->body != VIEW_NO_BODY) {
    bool there = c->body < (uint32_t)a->block_count && !a->blocks[c->body].support;
    ds_assembly *rest = there ? ds_assembly_without(a, (int32_t)c->body) : NULL;
    if (rest == NULL)
      snprintf(error->message, sizeof error->message, "%s",
               there ? "out of memory" : "only a moving body can be removed");
    ds_assembly_free(a);
    a = rest;
  }
  if (a == NULL) return NULL;
  a->gravity = tilted(a->gravity, c->point.x, c->point.y);
  ds_stand stand;
  view_message *message = NULL;
  if (ds_stand_check(&stand, a, &how, error) == DS_OK) {
    message = write_verdict(a, &stand, c->body, ds_thread_clock() - start);
    if (message == NULL) snprintf(error->message, sizeof error->message, "out of memory");
    ds_stand_free(&stand);
  }
  ds_assembly_free(a);
  return message;
}
