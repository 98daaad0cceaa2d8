/* Where a scene comes from: see source.h. */
#include "source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache.h"
#include "drystone/stand.h"
#include "foreign.h"
#include "io/reduced_file.h"
#include "progress.h"

static bool is_generator(const char *source) {
  int32_t count;
  const ds_generator *generators = ds_generators(&count);
  size_t length = strcspn(source, ":");
  for (int32_t i = 0; i < count; i++)
    if (strlen(generators[i].name) == length && memcmp(generators[i].name, source, length) == 0) return true;
  return false;
}

void source_say_unknown(const char *source, ds_error *error) {
  enum { NAMES_MAX = 64 };
  const char *names[NAMES_MAX];
  char word[64];
  int32_t count;
  const ds_generator *generators = ds_generators(&count);
  if (count > NAMES_MAX) count = NAMES_MAX;
  for (int32_t i = 0; i < count; i++) names[i] = generators[i].name;
  snprintf(word, sizeof word, "%.*s", (int)strcspn(source, ":"), source);
  const char *nearest = args_nearest(word, names, count);
  snprintf(error->message, sizeof error->message, "there is no file and no generator named '%.200s'; %s%s", source,
           nearest != NULL ? "did you mean " : "'drystone scenes' lists the generators",
           nearest != NULL ? nearest : "");
  if (nearest != NULL) strncat(error->message, "?", sizeof error->message - strlen(error->message) - 1);
}

/* A body file alone: the body falls on a floor from its own height, in steps that follow its slowest mode. */
static char *drop_text(const char *path, ds_error *error) {
  enum { SIZE = 4096 };
  ds_reduced *body = ds_reduced_file_read(path, error);
  if (body == NULL) return NULL;
  ds_reduced_info info = ds_reduced_get_info(body);
  double step = fmin(0.01, fmax(0.001, 0.02 / info.frequency[0]));
  ds_reduced_release(body);
  const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
  char *text = strlen(file) < 1024 && strpbrk(file, "\"\\") == NULL ? malloc(SIZE) : NULL;
  double height = info.high.z - info.low.z;
  if (text == NULL)
    snprintf(error->message, sizeof error->message, "%.200s: its name cannot be used in a scene; rename it", path);
  else
    snprintf(text, SIZE,
             "{\n  \"drystone\": 1,\n  \"name\": \"drop\",\n  \"note\": \"A deformable body falls on a floor.\",\n"
             "  \"time\": 3,\n  \"options\": {\"step\": %.2g},\n  \"bodies\": [\n"
             "    {\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
             "    {\"name\": \"body\", \"position\": [0, 0, %.9g], \"deformable\": {\"file\": \"%s\"}}\n  ]\n}\n",
             step, height - info.low.z, file);
  return text;
}

bool source_may_be_assembly(const char *text) {
  return strstr(text, "\"drystone\"") == NULL &&
         (strstr(text, "\"graph\"") != NULL || strstr(text, "\"brick_id\"") != NULL);
}

/* The scene of an assembly of blocks or bricks; NULL with a message. Other text stays what it is. */
static char *convert_assembly(char *text, size_t *length, const char *source, ds_error *error) {
  if (text == NULL || !source_may_be_assembly(text)) return text;
  ds_assembly *a = NULL;
  if (ds_assembly_is_compas(text, *length))
    a = ds_assembly_read_compas(text, *length, source, NULL, error);
  else if (ds_assembly_is_bricks(text, *length))
    a = ds_assembly_read_bricks(text, *length, source, NULL, error);
  else
    return text;
  const char *slash = strrchr(source, '/');
  char *scene = a != NULL ? ds_assembly_scene(a, slash != NULL ? slash + 1 : source, error) : NULL;
  ds_assembly_free(a);
  free(text);
  if (scene != NULL) *length = strlen(scene);
  return scene;
}

/* The text of a file or generator as it is, assemblies converted where asked for. */
static char *read_source(size_t *length, const char *source, const arg_list *settings, bool convert, ds_error *error) {
  struct stat status;
  char *text = NULL;
  const char *dot = strrchr(source, '.');
  if (ds_reduced_file_is(source)) {
    text = drop_text(source, error);
    if (text != NULL) *length = strlen(text);
  } else if (stat(source, &status) == 0 || (strchr(source, '/') != NULL && strchr(source, ':') == NULL) ||
             (dot != NULL && strcmp(dot, ".json") == 0)) {
    bool blocks = !convert && args_ends_in(source, ".obj");
    if (stat(source, &status) != 0 || !S_ISREG(status.st_mode) || blocks || !foreign_refuse(source, error))
      text = ds_text_read_file(source, length, error); /* says so if there is none */
    if (convert) text = convert_assembly(text, length, source, error);
  } else if (is_generator(source)) {
    text = ds_generate(source, error);
    if (text != NULL) *length = strlen(text);
  } else {
    source_say_unknown(source, error);
  }
  if (text == NULL || settings == NULL || settings->count == 0) return text;
  char *changed = ds_scene_set(text, *length, source, settings->items, settings->count, error);
  free(text);
  if (changed != NULL) *length = strlen(changed);
  return changed;
}

void source_set_method(arg_list *settings, source_method *setting, ds_method method) {
  snprintf(setting->text, sizeof setting->text, "options.method=%s", ds_method_name(method));
  settings->items[settings->count++] = setting->text;
}

char *source_text(size_t *length, const char *source, const arg_list *settings, ds_error *error) {
  return read_source(length, source, settings, true, error);
}

char *source_file_text(size_t *length, const char *source, const arg_list *settings, ds_error *error) {
  return read_source(length, source, settings, false, error);
}

bool source_cache(char **cache, const source_reading *reading, ds_error *error) {
  *cache = reading->no_cache ? NULL : cache_folder(reading->cache, error);
  return *cache != NULL || error->message[0] == '\0';
}

static void show_progress(void *user, const char *name, double share) { progress_build(user, "building", name, share); }

static ds_reduced *load_body(void *user, const char *path, ds_error *error) {
  (void)user;
  return ds_reduced_file_read(path, error);
}

ds_scene *source_scene_of_text(ds_run_settings *run, const char *json, size_t length, const char *source,
                               const source_reading *reading, ds_error *error) {
  char *cache = NULL;
  ds_scene *scene = NULL;
  error->message[0] = '\0';
  /* no folder is made for scenes that have nothing to keep there */
  bool solids = strstr(json, "\"solids\"") != NULL && !reading->surface_only;
  if ((!solids && strstr(json, "\"deformable\"") == NULL) || source_cache(&cache, reading, error)) {
    progress line;
    progress_begin(&line, reading->quiet, 0);
    ds_scene_read_options options = ds_default_scene_read();
    options.solid_cache = cache;
    options.threads = reading->threads;
    options.surface_only = reading->surface_only;
    options.progress = show_progress;
    options.load = load_body;
    options.user = &line;
    scene = ds_scene_read_text_with(json, length, source, &options, run, error);
    progress_end(&line);
  }
  free(cache);
  return scene;
}

ds_scene *source_scene(char **text, ds_run_settings *run, const char *source, const arg_list *settings,
                       const source_reading *reading, ds_error *error) {
  size_t length = 0;
  char *json = source_text(&length, source, settings, error);
  if (json == NULL) return NULL;
  ds_scene *scene = source_scene_of_text(run, json, length, source, reading, error);
  if (scene != NULL && text != NULL)
    *text = json;
  else
    free(json);
  return scene;
}

typedef struct solid_progress {
  progress line;
  const char *name;
} solid_progress;

static void show_solid(void *user, double share) {
  solid_progress *p = user;
  progress_build(&p->line, "building", p->name, share);
}

ds_solid *source_solid(const ds_mesh *mesh, const char *name, const source_reading *reading, ds_error *error) {
  char *cache = NULL;
  error->message[0] = '\0';
  if (!reading->surface_only && !source_cache(&cache, reading, error)) return NULL;
  solid_progress p = {.name = name};
  progress_begin(&p.line, reading->quiet, 0);
  ds_solid_def def = ds_default_solid();
  def.name = name;
  def.cache = cache;
  def.threads = reading->threads;
  def.surface_only = reading->surface_only;
  def.progress = show_solid;
  def.user = &p;
  ds_solid *solid = ds_solid_create(mesh, &def, error);
  progress_end(&p.line);
  free(cache);
  return solid;
}

bool source_same_file(const char *a, const char *b) {
  struct stat x, y;
  if (strcmp(a, b) == 0) return true;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool source_is_recording(const char *path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char start[8];
  struct stat status;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  bool same = fread(start, 1, sizeof start, file) == sizeof start && memcmp(start, signature, sizeof start) == 0;
  fclose(file);
  return same;
}

const char *integrator_name(ds_integrator integrator) {
  return integrator == DS_INTEGRATOR_MIDPOINT ? "midpoint" : "euler";
}
const char *stabilization_name(ds_stabilization stabilization) {
  static const char *const names[] = {"positions", "none", "baumgarte", "envelope"};
  return names[stabilization];
}
const char *impacts_name(ds_impact_order order) {
  return order == DS_IMPACTS_SEQUENTIAL ? "sequential" : "simultaneous";
}
const char *pressure_name(ds_face_pressure pressure) { return pressure == DS_PRESSURE_EVEN ? "even" : "corners"; }
const char *metric_name(ds_metric metric) { return metric == DS_METRIC_MASS ? "mass" : "effective"; }
