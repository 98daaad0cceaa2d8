/* A recording as messages: see stream.h. */
#include "stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../frame_energy.h"
#include "frame.h"
#include "record/record.h"

struct view_stream {
  ds_recording *recording;
  char *source;
  view_geometries geometries;
  ds_state *state; /* for energies */
  view_message *hello;
  int32_t next;          /* message: 0 HELLO, 1 SCENE, geometries, frames; -1 after END */
  int32_t sent;          /* the last frame that was sent, -1 = none */
  const view_film *film; /* NULL: all frames are sent */
  int64_t moment;        /* of the film, whose frames are being sent */
};

view_stream *view_stream_open(const char *path, view_mode mode, const view_film *film, ds_error *error) {
  view_stream *s = calloc(1, sizeof *s);
  snprintf(error->message, sizeof error->message, "%.200s: out of memory", path);
  if (s == NULL) return NULL;
  s->recording = ds_recording_open(path, error);
  if (s->recording == NULL) {
    view_stream_close(s);
    return NULL;
  }
  const ds_scene *scene = ds_recording_scene(s->recording);
  s->source = strdup(path);
  s->film = mode == VIEW_FILM ? film : NULL;
  s->sent = -1;
  s->state = ds_state_create(scene);
  s->hello = view_hello_message(mode, film);
  if (s->source != NULL && s->state != NULL && s->hello != NULL && view_geometries_build(&s->geometries, scene))
    return s;
  view_stream_close(s);
  snprintf(error->message, sizeof error->message, "%.200s: out of memory", path);
  return NULL;
}

void view_stream_close(view_stream *s) {
  if (s == NULL) return;
  view_message_release(s->hello);
  view_geometries_free(&s->geometries);
  ds_state_destroy(s->state);
  ds_recording_close(s->recording);
  free(s->source);
  free(s);
}

bool view_stream_is_film(const view_stream *s) { return s->film != NULL; }

int32_t view_stream_frames(const view_stream *s) { return ds_recording_frame_count(s->recording); }

/* The last frame that is not later than `time`; the first one where all are. */
static int32_t frame_at(const view_stream *s, double time) {
  int32_t index = ds_recording_find(s->recording, time);
  while (index > 0 && ds_recording_time(s->recording, index) > time) index--;
  while (index + 1 < view_stream_frames(s) && ds_recording_time(s->recording, index + 1) <= time) index++;
  return index;
}

/* The next frame to be sent, -1 after the last. A film needs the two frames around each of its moments, which are those
 * of filmMoments (web/src/capture.ts); a film of a part of a long recording begins at once. */
static int32_t next_index(view_stream *s) {
  int32_t frames = view_stream_frames(s);
  const view_film *f = s->film;
  if (f == NULL) return s->sent + 1 < frames ? ++s->sent : -1;
  double last = floor((f->to - f->from) * f->rate / f->speed + 1e-6);
  for (; (double)s->moment <= last; s->moment++) {
    int32_t at = frame_at(s, fmin(f->from + (double)s->moment * f->speed / f->rate, f->to));
    int32_t wanted = s->sent < at ? at : at + 1;
    if (wanted > s->sent && wanted < frames) return s->sent = wanted;
  }
  return -1;
}

static view_message *next_frame(view_stream *s, int32_t index, ds_error *error) {
  ds_frame frame;
  if (ds_recording_read(s->recording, &frame, index, error) != DS_OK) return NULL;
  const ds_scene *scene = ds_recording_scene(s->recording);
  double step = frame.report.step > 0 ? ds_recording_settings(s->recording)->options.step : 0;
  view_snapshot shot = {.scene = scene,
                        .poses = frame.poses,
                        .velocities = frame.velocities,
                        .angular_velocities = frame.angular_velocities,
                        .reduced = frame.reduced,
                        .contacts = frame.contacts,
                        .contact_count = frame.contact_count,
                        .report = &frame.report,
                        .energy = frame_energy(s->state, scene, &frame, step)};
  return view_frame_message(&shot, VIEW_CONTACTS_ALL);
}

static view_message *scene_message(const view_stream *s) {
  view_scene_text text = {.scene = ds_recording_scene(s->recording),
                          .run = ds_recording_settings(s->recording),
                          .source = s->source,
                          .frames = view_stream_frames(s),
                          .geometry = &s->geometries};
  return view_scene_message(&text);
}

view_message *view_stream_next(view_stream *s, ds_error *error) {
  int32_t index = s->next, first_frame = 2 + s->geometries.count, frame = -1;
  view_message *message;
  error->message[0] = '\0';
  if (index < 0) return NULL;
  snprintf(error->message, sizeof error->message, "%.200s: out of memory", s->source);
  if (index == 0)
    message = view_message_retain(s->hello);
  else if (index == 1)
    message = scene_message(s);
  else if (index < first_frame)
    message = view_message_retain(s->geometries.messages[index - 2]);
  else if ((frame = next_index(s)) >= 0)
    message = next_frame(s, frame, error);
  else
    message = view_text_message(VIEW_END, "");
  if (message == NULL) return NULL;
  error->message[0] = '\0';
  s->next = index < first_frame ? index + 1 : frame >= 0 ? index : -1;
  return message;
}
