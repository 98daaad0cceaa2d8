/* A recording as messages: see stream.h. */
#include "stream.h"

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
  int32_t next; /* message: 0 HELLO, 1 SCENE, geometries, frames, END */
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

int32_t view_stream_frames(const view_stream *s) { return ds_recording_frame_count(s->recording); }

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
  int32_t index = s->next, first_frame = 2 + s->geometries.count, end = first_frame + view_stream_frames(s);
  view_message *message;
  error->message[0] = '\0';
  if (index > end) return NULL;
  snprintf(error->message, sizeof error->message, "%.200s: out of memory", s->source);
  if (index == 0)
    message = view_message_retain(s->hello);
  else if (index == 1)
    message = scene_message(s);
  else if (index < first_frame)
    message = view_message_retain(s->geometries.messages[index - 2]);
  else if (index < end)
    message = next_frame(s, index - first_frame, error);
  else
    message = view_text_message(VIEW_END, "");
  if (message == NULL) return NULL;
  error->message[0] = '\0';
  s->next++;
  return message;
}
