/* What the parts of the scene reader share. */
#ifndef DS_SCENE_READ_H
#define DS_SCENE_READ_H

#include "drystone/drystone.h"
#include "scene/fields.h"
#include "scene/names.h"

/* A material of the file: in "materials", or given inside a body. */
typedef struct ds_file_material {
  char key[64]; /* of one given inside a body: its two numbers as text */
  ds_material_def def;
  ds_material_id id;
} ds_file_material;

typedef struct ds_scene_reader {
  ds_reader reader;
  ds_scene *scene;
  ds_scene_def def;
  ds_file_material *materials, *inline_materials;
  int32_t inline_count;
  ds_names material_names, inline_names; /* -> ds_file_material */
  ds_names body_names;                   /* -> ds_json of the body */
} ds_scene_reader;

/* Adds all bodies to the scene (read_body.c). */
bool ds_read_bodies(ds_scene_reader *scene_reader, const ds_json *bodies);
/* The material of that name, or NULL with a message. */
const ds_file_material *ds_read_material_name(ds_scene_reader *scene_reader, const ds_json *value);
/* Sets what messages are about: the body's name, or its index in the file. */
void ds_read_set_where(ds_reader *reader, const ds_json *body, int32_t index);

#endif
