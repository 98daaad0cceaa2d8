/* What the parts of the scene reader share. */
#ifndef DS_SCENE_READ_H
#define DS_SCENE_READ_H

#include "base/fields.h"
#include "base/names.h"
#include "drystone/scene_file.h"

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
  const ds_json *recipe, *mesh;
  double scale, cell, spacing;
  ds_solid *solid; /* built where it is used first */
} ds_file_solid;

/* A deformable of the file: in "deformables", or given inside a body. It comes from a body file or from a shape. */
typedef struct ds_file_deformable {
  const ds_json *value;
  char *text; /* of one given inside a body: its text in the file, so that equal ones are shared; else NULL */
  const char *path;
  const ds_file_solid *of; /* own_shape, or one of the section "solids" */
  ds_file_solid own_shape;
  ds_reduced_def def;
  ds_material_given given; /* by the scene: the rest comes from the file of a mesh, where that says it */
  ds_stuffing_def stuffing;
  ds_reduced *reduced; /* built where it is used first */
} ds_file_deformable;

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
  ds_file_deformable *deformables, *inline_deformables;
  int32_t deformable_count, inline_deformable_count;
  ds_names deformable_names, inline_deformable_names; /* -> ds_file_deformable; by name, and by text */
  int32_t deformables_used;
} ds_scene_reader;

/* Adds all bodies to the scene (read_body.c). */
bool ds_read_bodies(ds_scene_reader *scene_reader, const ds_json *bodies);
/* The material of that name, or NULL with a message. */
const ds_file_material *ds_read_material_name(ds_scene_reader *scene_reader, const ds_json *value);
/* Fills the message for a name that the table does not have, with the nearest that it has; `what` is "material",
 * `section` is where such things stand in a scene. */
void ds_read_unknown_name(ds_scene_reader *scene_reader, const ds_json *value, const ds_names *names, const char *what,
                          const char *section);

/* The section "joints", which may be NULL, after the bodies (read_joint.c). */
bool ds_read_joints(ds_scene_reader *scene_reader, const ds_json *joints);

/* The section "interfaces", which may be NULL, after the bodies (read_interface.c). */
bool ds_read_interfaces(ds_scene_reader *scene_reader, const ds_json *interfaces);
/* A body by its name, or false with a message (read_joint.c). */
bool ds_read_body_name(ds_scene_reader *scene_reader, ds_body_id *body, const ds_json *value);

/* The section "solids", which may be NULL (read_solid.c). */
bool ds_read_solids(ds_scene_reader *scene_reader, const ds_json *object);
/* The solid of that name, built if it is not yet, or NULL with a message. It stays the reader's. */
ds_solid *ds_read_solid_name(ds_scene_reader *scene_reader, const ds_json *value);
void ds_read_release_solids(ds_scene_reader *scene_reader);
/* Whether a member can be called so in a section of `what`, such as "solid". */
bool ds_read_check_name(ds_reader *reader, const ds_json *member, const char *what);
/* Figure, file or recipe, checked as far as that needs no file. Without spacing where it is a deformable's shape. */
bool ds_read_solid(ds_reader *reader, ds_file_solid *solid, const ds_json *value, bool spacing);
/* Its mesh, to be freed. */
bool ds_read_solid_mesh(ds_scene_reader *scene_reader, ds_mesh *mesh, const ds_file_solid *solid);
/* The path of a file that the scene names; freed by the caller. NULL with a message if memory ran out or no file may be
 * named. */
char *ds_read_path(ds_scene_reader *scene_reader, const ds_json *value, const char *path);

/* The section "deformables", which may be NULL (read_deformable.c). */
bool ds_read_deformables(ds_scene_reader *scene_reader, const ds_json *object);
/* The deformable that a body gives or names, built if it is not yet, or NULL with a message. It stays the reader's. A
 * scene has at most body_count of them inside bodies. */
ds_reduced *ds_read_deformable(ds_scene_reader *scene_reader, const ds_json *value, int32_t body_count);
void ds_read_release_deformables(ds_scene_reader *scene_reader);
/* Sets what messages are about: the body's name, or its index in the file. */
void ds_read_set_where(ds_reader *reader, const ds_json *body, int32_t index);

#endif
