/* What the parts of the scene reader share. */
#ifndef DS_SCENE_READ_H
#define DS_SCENE_READ_H

#include "drystone/scene_file.h"
#include "scene/fields.h"
#include "scene/names.h"

/* A material of the file: in "materials", or given inside a body. */
typedef struct ds_file_material {
  char key[64]; /* of one given inside a body: its two numbers as text */
  ds_material_def def;
  ds_material_id id;
} ds_file_material;

/* A solid of the file: exactly one of figure, path and recipe is given. */
typedef struct ds_file_solid {
  const ds_json *value;
  const char *figure, *path;
  const ds_json *recipe;
  double scale, cell, spacing;
  ds_solid *solid; /* built where it is used first */
} ds_file_solid;

typedef struct ds_scene_reader {
  ds_reader reader;
  ds_scene *scene;
  ds_scene_def def;
  ds_scene_read_options options;
  ds_file_material *materials, *inline_materials;
  int32_t inline_count;
  ds_names material_names, inline_names; /* -> ds_file_material */
  ds_names body_names;                   /* -> ds_json of the body */
  ds_file_solid *solids;
  int32_t solid_count;
  ds_names solid_names; /* -> ds_file_solid */
} ds_scene_reader;

/* Adds all bodies to the scene (read_body.c). */
bool ds_read_bodies(ds_scene_reader *scene_reader, const ds_json *bodies);
/* The material of that name, or NULL with a message. */
const ds_file_material *ds_read_material_name(ds_scene_reader *scene_reader, const ds_json *value);
/* Fills the message for a name that the table does not have, with the nearest that it has; `what` is "material",
 * `section` is where such things stand in a scene. */
void ds_read_unknown_name(ds_scene_reader *scene_reader, const ds_json *value, const ds_names *names, const char *what,
                          const char *section);

/* The section "solids", which may be NULL (read_solid.c). */
bool ds_read_solids(ds_scene_reader *scene_reader, const ds_json *object);
/* The solid of that name, built if it is not yet, or NULL with a message. It stays the reader's. */
ds_solid *ds_read_solid_name(ds_scene_reader *scene_reader, const ds_json *value);
void ds_read_release_solids(ds_scene_reader *scene_reader);
/* Sets what messages are about: the body's name, or its index in the file. */
void ds_read_set_where(ds_reader *reader, const ds_json *body, int32_t index);

#endif
