/* How `drystone view` opens scenes: see opening.h. Clients may name generators and what the command line named, and
 * send scenes as text; they can open no file. */
#include "opening.h"

#include <stdlib.h>
#include <string.h>

#include "../progress.h"
#include "io/reduced_file.h"

static bool is_first(const view_start *start, const char *source) { return strcmp(source, start->source) == 0; }

static char *text(void *user, size_t *length, const char *source, ds_error *error) {
  const view_start *start = user;
  if (is_first(start, source)) return source_text(length, source, &start->settings, error);
  char *made = ds_generate(source, error);
  if (made != NULL) *length = strlen(made);
  return made;
}

typedef struct building {
  progress line;
  ds_scene_progress *also;
  void *also_user;
} building;

static void show(void *user, const char *solid, double share) {
  building *b = user;
  progress_build(&b->line, "building", solid, share);
  b->also(b->also_user, solid, share);
}

static ds_reduced *load_body(void *user, const char *path, ds_error *error) {
  (void)user;
  return ds_reduced_file_read(path, error);
}

/* Options of the command line are for the scene that it names. */
static bool apply_options(ds_options *o, const view_start *start, ds_error *error) {
  if (start->has_step) o->step = start->step;
  if (start->has_tolerance) o->tolerance = start->tolerance;
  if (start->has_step_budget) o->step_budget = start->step_budget;
  if (start->has_integrator) o->integrator = (ds_integrator)start->integrator;
  if (start->has_restitution_law) o->restitution_law = start->restitution_law;
  if (start->has_impacts) o->impacts = (ds_impact_order)start->impacts;
  if (start->has_face_pressure) o->face_pressure = (ds_face_pressure)start->face_pressure;
  if (start->has_metric) o->metric = (ds_metric)start->metric;
  return ds_options_check(o, error) == DS_OK;
}

static ds_scene *read_scene(void *user, ds_run_settings *run, const char *json, size_t length, const char *source,
                            bool trusted, ds_scene_progress *also, void *also_user, ds_error *error) {
  const view_start *start = user;
  building b = {.also = also, .also_user = also_user};
  char *cache = NULL;
  error->message[0] = '\0';
  bool heavy = strstr(json, "\"solids\"") != NULL || strstr(json, "\"deformable\"") != NULL;
  if (heavy && !source_cache(&cache, &start->reading, error)) return NULL;
  ds_scene_read_options options = ds_default_scene_read();
  options.solid_cache = cache;
  options.threads = start->reading.threads;
  options.no_files = !trusted;
  options.progress = show;
  options.load = load_body;
  options.user = &b;
  progress_begin(&b.line, start->reading.quiet, 0);
  ds_scene *scene = ds_scene_read_text_with(json, length, source, &options, run, error);
  progress_end(&b.line);
  free(cache);
  if (scene == NULL || !trusted || !is_first(start, source) || apply_options(&run->options, start, error)) return scene;
  ds_scene_destroy(scene);
  return NULL;
}

view_opening view_opening_of(const view_start *start) {
  return (view_opening){.first = start->source,
                        .threads = start->reading.threads,
                        .user = (void *)start,
                        .text = text,
                        .read = read_scene};
}
