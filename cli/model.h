/* Triangles in world coordinates: what the renderer draws and what casts shadows. */
#ifndef DS_CLI_MODEL_H
#define DS_CLI_MODEL_H

#include "base/vec3.h"

typedef struct ds_vertex {
  float position[3]; /* relative to the model's origin */
  float normal[3];   /* unit, outward */
} ds_vertex;

typedef struct ds_triangle {
  int32_t corner[3]; /* counter-clockwise seen from outside */
  int32_t surface;   /* the flat face or smooth patch it belongs to: unique in the model */
  int32_t paint;
  uint8_t edges; /* bit i: the edge from corner i to corner i + 1 is a crease, drawn as a line */
} ds_triangle;

/* How a body looks: linear reflectance, and how glossy it is. */
typedef struct ds_paint {
  float albedo[3];
  float gloss;
} ds_paint;

typedef struct ds_model {
  ds_vec3 origin; /* near the bodies, so that single precision is enough */
  ds_vertex *vertices;
  ds_triangle *triangles;
  ds_paint *paints;
  int32_t vertex_count, vertex_capacity;
  int32_t triangle_count, triangle_capacity;
  int32_t paint_count, paint_capacity;
  int32_t surface_count;
} ds_model;

#endif
