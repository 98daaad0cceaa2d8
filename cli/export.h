/* Recordings for other programs: what all formats of `drystone export` share, and their writers. docs/export.md. */
#ifndef DS_CLI_EXPORT_H
#define DS_CLI_EXPORT_H

#include "drystone/reduce.h"
#include "model.h"
#include "record/record.h"

/* The surface of one or more bodies, in their frame. */
typedef struct export_mesh {
  ds_model model;            /* a deformable one has no normals */
  const ds_reduced *reduced; /* NULL = rigid */
} export_mesh;

/* What is written: frames of a recording, and surfaces of its bodies. */
typedef struct export_set {
  ds_recording *recording;
  const ds_scene *scene;
  const char *source; /* name of the recording, for messages */
  int32_t body_count;
  export_mesh *meshes;
  int32_t mesh_count;
  int32_t *mesh_of; /* a body's mesh */
  int32_t *frames;  /* indices of the frames */
  int32_t frame_count;
} export_set;

typedef struct export_range {
  double from, to; /* s */
  double rate;     /* frames per second at most; 0 = all */
} export_range;

bool export_open(export_set *set, const char *path, const export_range *range, ds_error *error);
void export_close(export_set *set);
/* A body's name, or "body7"; letters, digits and _ alone, and unique, where `plain`. */
void export_name(char *name, size_t size, const export_set *set, int32_t body, bool plain);
/* Points of a body's surface in its frame, with reduced coordinates; room for the vertices of its mesh. */
void export_points(ds_vec3 *points, const export_set *set, int32_t body, const double *reduced);

/* Writers: false with a message. */
bool export_gltf(const export_set *set, const char *path, bool binary, ds_error *error);
bool export_pvd(const export_set *set, const char *path, ds_error *error);
bool export_usda(const export_set *set, const char *path, ds_error *error);
bool export_obj(const export_set *set, const char *path, ds_error *error);
bool export_csv(const export_set *set, const char *path, const char *what, ds_error *error);
#define EXPORT_TABLES "report|bodies|contacts|joints"

/* "out of memory", false. */
bool export_no_memory(ds_error *error);

#endif
