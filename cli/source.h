/* Where a scene comes from: a file, a generator with parameters, or a body file, whose body is dropped on a floor. */
#ifndef DS_CLI_SOURCE_H
#define DS_CLI_SOURCE_H

#include "args.h"
#include "drystone/scene_file.h"

/* The JSON text of SCENE|GENERATOR[:key=value,...]|BODY.h5, or the scene of an assembly (COMPAS, StableLego), with the
 * "path=value" settings applied; an existing file takes precedence over a generator. NULL with a message. Freed by the
 * caller. */
char *source_text(size_t *length, const char *source, const arg_list *settings, ds_error *error);
/* --method as one more setting: what goes with a method, such as its number of iterations, is then read with the scene,
 * where a setting of its own comes first. `text` is kept by the caller; the list has room for one more. */
typedef struct source_method {
  char text[64];
} source_method;
void source_set_method(arg_list *settings, source_method *text, ds_method method);
/* The same for 'stand': assemblies of COMPAS, StableLego and OBJ files stay what they are. */
char *source_file_text(size_t *length, const char *source, const arg_list *settings, ds_error *error);
/* Whether a text may be an assembly of COMPAS or StableLego, and is no scene. */
bool source_may_be_assembly(const char *text);
/* How the solids and deformables of a scene are built. */
typedef struct source_reading {
  const char *cache; /* folder, NULL = the usual one */
  bool no_cache;
  bool quiet;        /* no progress line */
  bool surface_only; /* for drawing */
  int32_t threads;   /* 0 = all cores */
} source_reading;
#define READING_OPTIONS(reading)                                         \
  {"--cache", NULL, ARG_TEXT, &(reading)->cache, 0, 0, NULL, NULL}, {    \
    "--no-cache", NULL, ARG_FLAG, &(reading)->no_cache, 0, 0, NULL, NULL \
  }
/* The cache folder; NULL = none. False with a message if the requested one cannot be used; the message is empty
 * before. */
bool source_cache(char **cache, const source_reading *reading, ds_error *error);
/* The text of source_text, read; it goes to *text, freed by the caller, unless that is NULL. */
ds_scene *source_scene(char **text, ds_run_settings *run, const char *source, const arg_list *settings,
                       const source_reading *reading, ds_error *error);
/* The same of a text that was read before; `source` is for messages. */
ds_scene *source_scene_of_text(ds_run_settings *run, const char *text, size_t length, const char *source,
                               const source_reading *reading, ds_error *error);
/* A solid of a mesh alone, built the same way; NULL with a message. */
ds_solid *source_solid(const ds_mesh *mesh, const char *name, const source_reading *reading, ds_error *error);
/* The message for a name that is neither, with the nearest generator. */
void source_say_unknown(const char *source, ds_error *error);
/* Whether both names are the same file. */
bool source_same_file(const char *a, const char *b);
/* Whether the file starts with the signature of HDF5. */
bool source_is_recording(const char *path);

const char *integrator_name(ds_integrator integrator);
const char *impacts_name(ds_impact_order order);
const char *pressure_name(ds_face_pressure pressure);
const char *stabilization_name(ds_stabilization stabilization);
const char *metric_name(ds_metric metric);
#define INTEGRATOR_CHOICES "euler|midpoint"
#define IMPACTS_CHOICES "simultaneous|sequential"
#define PRESSURE_CHOICES "corners|even"
#define METRIC_CHOICES "effective|mass"

#endif
