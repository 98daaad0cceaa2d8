/* Where an assembly comes from: a scene, a generator, a frame of a recording, COMPAS, StableLego or OBJ files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bodies.h"
#include "foreign.h"
#include "output.h"
#include "record/record.h"
#include "stand.h"

static bool say(ds_error *error, const char *message) {
  snprintf(error->message, sizeof error->message, "%s", message);
  return false;
}

static ds_assembly *read_assembly(const stand_case *c, const ds_assembly_options *options, ds_error *error) {
  const char *file = c->o->words.items[0];
  switch (c->source) {
    case STAND_COMPAS:
      return ds_assembly_read_compas(c->text, c->length, file, options, error);
    case STAND_BRICKS:
      return ds_assembly_read_bricks(c->text, c->length, file, options, error);
    case STAND_OBJ:
      return ds_assembly_read_obj(c->text, c->length, file, options, error);
    case STAND_SCENE:
      break;
  }
  return ds_assembly_of_scene(c->scene, c->state, options, error);
}

/* --cohesion, --strength, --interfaces */
static bool set_properties(ds_assembly *a, const stand_options *o, ds_error *error) {
  if ((o->cohesion > 0 || o->strength > 0) && ds_assembly_set_material(a, o->cohesion, o->strength, error) != DS_OK)
    return false;
  if (!o->interfaces) return true;
  size_t length;
  char *text = ds_text_read_file(o->interfaces, &length, error);
  bool good = text && ds_assembly_apply(a, text, length, o->interfaces, error) == DS_OK;
  free(text);
  return good;
}

ds_assembly *stand_make_assembly(const stand_case *c, double tolerance, ds_error *error) {
  ds_assembly_options options = ds_default_assembly_options();
  options.mu = c->o->mu;
  options.density = c->o->density;
  options.clutch = c->o->clutch;
  options.tolerance = tolerance;
  options.supports = c->o->support;
  options.support_count = c->o->support_count;
  ds_assembly *a = read_assembly(c, &options, error);
  if (!a || set_properties(a, c->o, error)) return a;
  ds_assembly_free(a);
  return NULL;
}

/* The scene of a recording, and its state in the frame nearest to --time, or in the last one. */
static bool open_recording(stand_case *c, ds_error *error) {
  const char *path = c->o->words.items[0];
  ds_recording *r = ds_recording_open(path, error);
  if (!r) return false;
  int32_t frames = ds_recording_frame_count(r), at = frames - 1;
  bool good = frames > 0 || say(error, "the recording has no frames yet");
  if (good && c->o->time_given) {
    double last = ds_recording_time(r, frames - 1), first = ds_recording_time(r, 0), slack = 1e-6;
    if (c->o->time < first - slack || c->o->time > last + slack) {
      snprintf(error->message, sizeof error->message, "%.200s: --time %g is out of range; it has times from %g to %g s",
               path, c->o->time, first, last);
      good = false;
    }
    at = ds_recording_find(r, c->o->time);
  }
  ds_frame frame;
  good = good && ds_recording_read(r, &frame, at, error) == DS_OK;
  if (good) {
    c->length = strlen(ds_recording_scene_text(r));
    c->text = malloc(c->length + 1);
    good = c->text || say(error, "memory ran out");
  }
  if (good) {
    memcpy(c->text, ds_recording_scene_text(r), c->length + 1);
    c->scene = source_scene_of_text(&c->run, c->text, c->length, path, &c->o->reading, error);
    c->state = c->scene ? ds_state_create(c->scene) : NULL;
    good = c->state || (c->scene && say(error, "memory ran out"));
  }
  for (int32_t i = 0; good && i < ds_scene_body_count(c->scene); i++)
    ds_state_set_pose(c->scene, c->state, ds_scene_body(c->scene, i), frame.poses[i]);
  ds_recording_close(r);
  return good;
}

static bool open_text(stand_case *c, ds_error *error) {
  const char *source = c->o->words.items[0];
  c->text = source_file_text(&c->length, source, NULL, error);
  if (!c->text) return false;
  if (c->source == STAND_SCENE && source_may_be_assembly(c->text)) {
    if (ds_assembly_is_compas(c->text, c->length)) c->source = STAND_COMPAS;
    if (ds_assembly_is_bricks(c->text, c->length)) c->source = STAND_BRICKS;
  }
  if (c->source != STAND_SCENE && c->o->settings.count > 0)
    return say(error, "--set changes scenes; of an assembly give --mu, --supports, --density, or -o SCENE.json first");
  if (c->source != STAND_SCENE) return true;
  free(c->text);
  c->text = source_file_text(&c->length, source, &c->o->settings, error);
  if (!c->text) return false;
  c->scene = source_scene(NULL, &c->run, source, &c->o->settings, &c->o->reading, error);
  c->state = c->scene ? ds_state_create(c->scene) : NULL;
  return c->state || (c->scene && say(error, "memory ran out"));
}

bool stand_open(stand_case *c, ds_error *error) {
  const char *source = c->o->words.items[0];
  bool recording = source_is_recording(source);
  if (c->o->time_given && !recording) return say(error, "--time is for recordings");
  if (args_ends_in(source, ".obj")) c->source = STAND_OBJ;
  if (!(recording ? open_recording(c, error) : open_text(c, error))) return false;
  c->assembly = stand_make_assembly(c, c->o->tolerance, error);
  return c->assembly != NULL;
}

bool stand_need_scene(stand_case *c, ds_error *error) {
  if (c->scene) return true;
  char *text = ds_assembly_scene(c->assembly, c->o->words.items[0], error);
  if (!text) return false;
  free(c->text);
  c->text = text;
  c->length = strlen(text);
  source_reading reading = c->o->reading;
  reading.surface_only = true;
  c->scene = source_scene_of_text(&c->run, c->text, c->length, c->o->words.items[0], &reading, error);
  c->state = c->scene ? ds_state_create(c->scene) : NULL;
  return c->state || (c->scene && say(error, "memory ran out"));
}

static bool has_tension(const ds_assembly *a) {
  for (int32_t i = 0; i < a->interface_count; i++)
    if (a->interfaces[i].tension > 0) return true;
  return false;
}

bool stand_write_scene(const stand_case *c, ds_error *error) {
  const char *source = c->o->words.items[0], *slash = strrchr(source, '/');
  output out;
  if (source_same_file(source, c->o->picture)) return say(error, "-o would overwrite the assembly");
  if (has_tension(c->assembly) || c->assembly->strength)
    return say(error, "-o FILE.json: a scene has neither cohesion, nor clutch, nor strength; leave them out");
  char *text = ds_assembly_scene(c->assembly, slash ? slash + 1 : source, error);
  bool good = text && output_open(&out, c->o->picture, error);
  if (good && fputs(text, out.file) < 0) {
    output_discard(&out);
    good = say(error, "cannot write the scene");
  } else if (good) {
    good = output_commit(&out, error);
  }
  free(text);
  return good;
}

void stand_close(stand_case *c) {
  free(c->text);
  ds_state_destroy(c->state);
  ds_scene_destroy(c->scene);
  ds_assembly_free(c->assembly);
  ds_stand_free(&c->stand);
}
