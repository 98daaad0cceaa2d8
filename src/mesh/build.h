/* Building a solid: the parts that solid.c puts together. Each is the same bit for bit for any number of threads. */
#ifndef DS_MESH_BUILD_H
#define DS_MESH_BUILD_H

#include "base/cache_file.h"
#include "base/thread.h"
#include "mesh/distance.h"
#include "mesh/solid.h"

typedef struct ds_build {
  const ds_surface *surface;
  const ds_distance *tree;
  ds_pool *pool;
  ds_solid_progress *progress; /* or NULL; called from the calling thread */
  void *user;
} ds_build;

/* ---- field.c ---- */
/* Lays out the grid and finds which cells have bricks: all that come nearer to the surface than `band` coarse cells.
 * DS_ERROR_INPUT if the grid would be too large. */
ds_status ds_field_plan(ds_distance_field *field, const ds_build *build, double fine, double band, ds_error *error);
/* Computes all distances of a planned field. */
ds_status ds_field_fill(ds_distance_field *field, const ds_build *build, ds_error *error);
int64_t ds_field_bytes(const ds_distance_field *field); /* also of a field that is only planned */
void ds_field_free(ds_distance_field *field);

/* ---- samples.c ---- */
/* Points and normals in the order of their numbers; no balls yet. No point of the surface is farther from a sample
 * than spacing. */
ds_status ds_samples_build(ds_samples *samples, const ds_surface *surface, double spacing, ds_error *error);
int64_t ds_samples_bytes(const ds_samples *samples);
void ds_samples_free(ds_samples *samples);

/* ---- ball_tree.c ---- */
/* Puts the samples in tree order and builds the balls. */
ds_status ds_balls_build(ds_samples *samples, ds_error *error);

/* ---- caps.c ---- */
/* Adds the caps of samples in tree order. */
ds_status ds_caps_build(ds_samples *samples, const ds_surface *surface, double spacing, ds_error *error);
void ds_caps_free(ds_samples *samples);

/* ---- faces.c ---- */
/* The planar faces of a surface: all where they are few and not all samples bulge, else those that are wider than the
 * spacing of samples and do not bulge. `cell` is that of the distance field. */
ds_status ds_faces_build(ds_faces *faces, const ds_surface *surface, const ds_samples *samples, double spacing,
                         double cell, ds_error *error);
/* Fills what follows from normals, offsets and the sides' points: axes, bounds, sizes, spokes. False if memory ran
 * out. */
bool ds_faces_finish(ds_faces *faces);
int64_t ds_faces_bytes(const ds_faces *faces);
void ds_faces_free(ds_faces *faces);

/* ---- cache.c ---- */
ds_cache_key ds_cache_hash(const ds_mesh *mesh, double cell, double spacing);
/* Reads field, samples and what was chosen into the solid; false, nothing changed, where there is no sound file. */
bool ds_cache_load(ds_solid *solid, const char *folder, ds_cache_key key);
/* Best effort: a folder that cannot be written to is no error. */
void ds_cache_save(const ds_solid *solid, const char *folder, ds_cache_key key);

#endif
