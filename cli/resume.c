/* A run that continues where a recording ends: see resume.h. */
#include "resume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec3.h"
#include "drystone/reduce.h"
#include "drystone/touch.h"
#include "record/record.h"

static bool refuse(ds_error *error, const char *path, const char *why) {
  snprintf(error->message, sizeof error->message, "--from %.200s: %.290s", path, why);
  return false;
}

/* Reduced coordinates of a body, 0 of a rigid one. */
static int32_t coordinates(const ds_scene *scene, ds_body_id id) {
  if (ds_body_shape_count(scene, id) == 0) return 0;
  ds_shape_def shape = ds_body_shape(scene, id, 0);
  return shape.kind == DS_SHAPE_REDUCED ? ds_reduced_get_info(shape.reduced).modes : 0;
}

/* The same bodies: names, kinds, mass. Materials and gravity may differ. */
static bool is_same(const ds_scene *a, const ds_scene *b, ds_error *error, const char *path) {
  char why[256];
  int32_t count = ds_scene_body_count(a);
  if (count != ds_scene_body_count(b)) {
    snprintf(why, sizeof why, "it has %d bodies, the scene has %d; give the scene that was recorded",
             (int)ds_scene_body_count(b), (int)count);
    return refuse(error, path, why);
  }
  for (int32_t i = 0; i < count; i++) {
    ds_body_id id = ds_scene_body(a, i);
    double mass = ds_body_mass(a, id).mass;
    if (strcmp(ds_body_name(a, id), ds_body_name(b, id)) == 0 && ds_body_get_kind(a, id) == ds_body_get_kind(b, id) &&
        fabs(mass - ds_body_mass(b, id).mass) <= 1e-6 * mass && coordinates(a, id) == coordinates(b, id))
      continue;
    snprintf(why, sizeof why, "its body %d, \"%.60s\", differs from the scene's \"%.60s\"", (int)i + 1,
             ds_body_name(b, id), ds_body_name(a, id));
    return refuse(error, path, why);
  }
  return true;
}

static void set_bodies(ds_state *state, const ds_scene *scene, const ds_frame *frame) {
  int32_t first = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id id = ds_scene_body(scene, i);
    int32_t r = 0;
    ds_state_set_pose(scene, state, id, frame->poses[i]);
    if (ds_body_get_kind(scene, id) == DS_BODY_DYNAMIC)
      ds_state_set_velocity(state, id, frame->velocities[i], frame->angular_velocities[i]);
    if (ds_state_reduced(state, id, &r) != NULL)
      ds_state_set_reduced(state, id, frame->reduced + first, frame->reduced_rate + first);
    first += r;
  }
}

static bool is_finite(const ds_frame *frame, int32_t bodies) {
  bool finite = isfinite(frame->time);
  for (int32_t i = 0; i < bodies; i++) {
    const ds_pose *p = &frame->poses[i];
    finite &= v3_finite(p->p) && isfinite(p->q.w + p->q.x + p->q.y + p->q.z);
    finite &= v3_finite(frame->velocities[i]) && v3_finite(frame->angular_velocities[i]);
  }
  return finite;
}

/* What older recordings have: the last frame. */
static bool set_frame(ds_state *state, const ds_scene *scene, ds_recording *recording, const char *path,
                      ds_error *error) {
  ds_frame frame;
  int32_t frames = ds_recording_frame_count(recording);
  bool ok = ds_recording_read(recording, &frame, frames - 1, error) == DS_OK;
  if (ok && !is_finite(&frame, ds_scene_body_count(scene)))
    ok = refuse(error, path, "its last frame has numbers that are not finite");
  if (ok) {
    set_bodies(state, scene, &frame);
    ds_state_set_time(state, frame.time);
    ds_status status = ds_state_set_contacts(state, frame.contacts, frame.contact_count);
    if (status == DS_ERROR_MEMORY) ok = refuse(error, path, "out of memory");
    if (status == DS_ERROR_INPUT) ok = refuse(error, path, "contacts of its last frame are not in order");
  }
  return ok;
}

bool resume_state(ds_state *state, bool *exact, const ds_scene *scene, const char *path, ds_error *error) {
  ds_recording *recording = ds_recording_open(path, error);
  if (recording == NULL) return false;
  *exact = ds_recording_has_state(recording);
  bool ok = is_same(scene, ds_recording_scene(recording), error, path);
  if (ok && ds_recording_frame_count(recording) == 0) ok = refuse(error, path, "it has no frame to continue from");
  if (ok && *exact)
    ok = ds_recording_read_state(recording, state, error) == DS_OK;
  else if (ok)
    ok = set_frame(state, scene, recording, path, error);
  ds_recording_close(recording);
  for (ds_hand_id hand; ok && (hand = ds_state_next_hand(state, (ds_hand_id){0})).index1 > 0;)
    ds_state_release(state, hand);
  return ok;
}
