/* Imperfections of generated scenes, and a ball that hits them: one pass over the bodies of any generator that has the
 * parameters (DS_IMPERFECT in generate_table.c). docs/generators.md has what each of them does.
 *
 * A generator writes its bodies one after the other, so it is called twice: first to count them and to measure the box
 * that they fill, then to write them. Bodies that stand are changed: dynamic ones that start at rest and at once. */
#ifndef DS_SCENE_IMPERFECT_H
#define DS_SCENE_IMPERFECT_H

#include "scene/generate.h"

enum { DS_IMPERFECT_SHAPES = 4, DS_IMPERFECT_POINTS = 256 }; /* of a body; one with more keeps its size */

/* A body, changed. */
typedef struct ds_imperfect_body {
  ds_body_def def;
  ds_shape_def shapes[DS_IMPERFECT_SHAPES];
  ds_vec3 points[DS_IMPERFECT_POINTS];
} ds_imperfect_body;

/* Whether a parameter is one of those that are handled here; notes name them where they are not at their defaults. */
bool ds_imperfect_parameter(const ds_generation *g, const char *name);

/* Reads the parameters; false if all have no effect. */
bool ds_imperfect_begin(ds_generation *g);

/* Of the pass that measures: its end. The next pass writes. */
void ds_imperfect_measured(ds_generation *g);

/* One body. False if it is not to be written: in the pass that measures, or as one of the missing. */
bool ds_imperfect_change(ds_generation *g, ds_imperfect_body *out, const char *material, const ds_body_def *def,
                         const ds_shape_def *shapes, int32_t shape_count);

/* The ball, after all other bodies. */
void ds_imperfect_ball(ds_generation *g);

#endif
