/* Scenes as JSON text (schema/scene.schema.json, docs/scenes.md), the generators that write such text, and figures. A
 * library of its own, libdrystone-scenes: what is in drystone.h does without. */
#ifndef DRYSTONE_SCENE_FILE_H
#define DRYSTONE_SCENE_FILE_H

#include <stddef.h>

#include "drystone/drystone.h"
#include "drystone/reduce.h"
#include "drystone/solid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Settings in a scene file. */
typedef struct ds_run_settings {
  char name[64];
  double time;        /* how long to simulate, s; default 10 */
  ds_options options; /* step and solver options; defaults if the file does not set them */
} ds_run_settings;

/* Reads a scene. `file` is used in messages "file:line:column: what is wrong; what was expected". NULL on error. The
 * scene is finished. */
ds_scene *ds_scene_read_text(const char *text, size_t length, const char *file, ds_run_settings *run, ds_error *error);
ds_scene *ds_scene_read_file(const char *path, ds_run_settings *run, ds_error *error);

/* Callbacks for building the solids and deformables of a scene. Each is built when a body first uses it; unused ones
 * are not built. */
typedef void ds_scene_progress(void *user, const char *solid, double share); /* 0 .. 1, from the calling thread */
/* The mesh of a solid by name, freed by the reader; a status other than DS_OK with a message if there is none. */
typedef ds_status ds_mesh_source(void *user, ds_mesh *mesh, const char *solid, ds_error *error);

/* Loads a body file (HDF5) by its path; NULL with a message. The library itself does not read HDF5. */
typedef ds_reduced *ds_reduced_loader(void *user, const char *path, ds_error *error);
/* Deformable number `index` of the scene, in the order in which its bodies use them; NULL with a message. */
typedef ds_reduced *ds_reduced_source(void *user, int32_t index, ds_error *error);

typedef struct ds_scene_read_options {
  const char *folder;          /* mesh and body files are relative to it; NULL = the folder of the scene file */
  const char *solid_cache;     /* cache folder for built data; NULL = none (default) */
  int32_t threads;             /* to build with; 0 = all cores (default) */
  bool no_files;               /* refuses scenes that name mesh or body files: for text of unknown origin */
  bool surface_only;           /* for drawing: no distance fields, no check for overlaps */
  ds_scene_progress *progress; /* or NULL */
  ds_mesh_source *meshes;      /* replaces figure, file and recipe of all solids; NULL = as in the scene */
  ds_reduced_loader *load;     /* body files of deformables; NULL = scenes with body files are refused */
  ds_reduced_source *reduced;  /* replaces the definitions of all deformables; NULL = as in the scene */
  void *user;                  /* for all callbacks */
} ds_scene_read_options;
ds_scene_read_options ds_default_scene_read(void);
/* The two calls above with options, which may be NULL. */
ds_scene *ds_scene_read_text_with(const char *text, size_t length, const char *file,
                                  const ds_scene_read_options *options, ds_run_settings *run, ds_error *error);
ds_scene *ds_scene_read_file_with(const char *path, const ds_scene_read_options *options, ds_run_settings *run,
                                  ds_error *error);

/* Text of a file, or NULL with a message. The caller frees it. */
char *ds_text_read_file(const char *path, size_t *length, ds_error *error);

/* Applies "path=value" settings, e.g. "options.tolerance=1e-6", "gravity.2=-1.62", "materials.card.mu=0.3", to scene
 * text. An existing value of another type, or a path whose parent does not exist, is an error. New text, freed by the
 * caller. */
char *ds_scene_set(const char *text, size_t length, const char *file, const char *const *settings, int32_t count,
                   ds_error *error);

typedef struct ds_generator_parameter {
  const char *name, *unit, *summary;
  const char *initial; /* default, as text */
  double low, high;    /* range of a number; low > high if the value is one of `choices` */
  bool integer;
  const char *choices; /* "catenary|semicircle", or NULL */
} ds_generator_parameter;

typedef struct ds_generator {
  const char *name, *summary;
  const ds_generator_parameter *parameters;
  int32_t parameter_count;
} ds_generator;

const ds_generator *ds_generators(int32_t *count);
/* Scene text for "name" or "name:key=value,key=value"; NULL with a message that lists the valid names. Freed by
 * the caller. */
char *ds_generate(const char *specification, ds_error *error);

/* ---- Figures: ready-made solids ---- */
/* A figure by name, such as "king"; sizes in m are the figure's own times scale. */
typedef struct ds_figure {
  const char *name, *summary;
} ds_figure;
const ds_figure *ds_figures(int32_t *count);
ds_status ds_mesh_figure(ds_mesh *mesh, const char *name, double scale, ds_error *error);

#ifdef __cplusplus
}
#endif

#endif
