/* Prints the content of a mesh and its contact data. */
#ifndef DS_CLI_INFO_MESH_H
#define DS_CLI_INFO_MESH_H

#include "source.h"

typedef struct info_mesh_options {
  double density; /* kg/m³ */
  double scale;   /* of the coordinates */
} info_mesh_options;

/* Prints it; the exit status. */
int info_mesh(const char *source, const info_mesh_options *options, const source_reading *reading);

#endif
