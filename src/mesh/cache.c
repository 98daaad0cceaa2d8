/* Built solids on disk: one file per solid, named by a hash of its mesh and the requested parameters
 * (base/cache_file.h). A file is used only if every index in it is in range. */
#include <stdlib.h>

#include "mesh/build.h"

#define BRICK_POINTS ((DS_BRICK + 1) * (DS_BRICK + 1) * (DS_BRICK + 1))
static const ds_cache_kind kind = {{'D', 'S', 's', 'o', 'l', 'i', 'd', '\n'}, 1, "solid"};

ds_cache_key ds_cache_hash(const ds_mesh *mesh, double cell, double spacing) {
  ds_cache_key key = ds_cache_key_begin(&kind);
  int32_t counts[2] = {mesh->vertex_count, mesh->triangle_count};
  double sizes[2] = {cell, spacing};
  ds_cache_key_add(&key, counts, sizeof counts);
  ds_cache_key_add(&key, sizes, sizeof sizes);
  ds_cache_key_add(&key, mesh->vertices, (size_t)mesh->vertex_count * sizeof *mesh->vertices);
  ds_cache_key_add(&key, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
  return key;
}

/* ---- the parts of a file, written or read by one function ---- */

static void pass_vector(ds_stream *s, ds_vec3 *x) {
  ds_stream_number(s, &x->x);
  ds_stream_number(s, &x->y);
  ds_stream_number(s, &x->z);
}

static void pass_field(ds_stream *s, ds_distance_field *f) {
  int64_t cells = 1, points = 1;
  pass_vector(s, &f->origin);
  ds_stream_number(s, &f->coarse);
  ds_stream_number(s, &f->fine);
  for (int k = 0; k < 3; k++) {
    ds_stream_integer(s, &f->size[k]);
    if (!s->failed && (f->size[k] < 1 || f->size[k] > 1 << 20)) s->failed = true;
    if (!s->failed) cells *= f->size[k], points *= f->size[k] + 1;
  }
  ds_stream_integer(s, &f->brick_count);
  f->values = ds_stream_array(s, f->values, points, sizeof *f->values);
  f->brick = ds_stream_array(s, f->brick, cells, sizeof *f->brick);
  f->bricks = ds_stream_array(s, f->bricks, (int64_t)f->brick_count * BRICK_POINTS, sizeof *f->bricks);
}

static void pass_samples(ds_stream *s, ds_samples *a) {
  ds_stream_integer(s, &a->count);
  ds_stream_integer(s, &a->ball_count);
  a->points = ds_stream_array(s, a->points, a->count, sizeof *a->points);
  a->normals = ds_stream_array(s, a->normals, a->count, sizeof *a->normals);
  a->ids = ds_stream_array(s, a->ids, a->count, sizeof *a->ids);
  a->balls = ds_stream_array(s, a->balls, a->ball_count, sizeof *a->balls);
}

static void pass_solid(ds_stream *s, void *thing) {
  ds_solid *solid = thing;
  ds_stream_number(s, &solid->info.cell);
  ds_stream_number(s, &solid->info.spacing);
  ds_stream_number(s, &solid->info.thickness);
  ds_stream_number(s, &solid->error);
  pass_field(s, &solid->field);
  pass_samples(s, &solid->samples);
}

/* ---- soundness of what was read ---- */

static bool all_finite(const float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool field_is_sound(const ds_distance_field *f) {
  int64_t cells = (int64_t)f->size[0] * f->size[1] * f->size[2];
  int64_t points = (int64_t)(f->size[0] + 1) * (f->size[1] + 1) * (f->size[2] + 1);
  if (!v3_finite(f->origin) || !(f->coarse > 0) || !isfinite(f->coarse) || f->fine != f->coarse / DS_BRICK)
    return false;
  for (int64_t i = 0; i < cells; i++)
    if (f->brick[i] < -1 || f->brick[i] >= f->brick_count) return false;
  return all_finite(f->values, points) && all_finite(f->bricks, (int64_t)f->brick_count * BRICK_POINTS);
}

/* Children come after their parent, so no walk down the tree can go around. */
static bool samples_are_sound(const ds_samples *a) {
  if (a->count < 1 || a->ball_count < 1) return false;
  for (int32_t i = 0; i < a->count; i++)
    if (!v3_finite(a->points[i]) || !v3_finite(a->normals[i]) || a->ids[i] < 0 || a->ids[i] >= a->count) return false;
  for (int32_t i = 0; i < a->ball_count; i++) {
    const ds_ball *b = &a->balls[i];
    if (!v3_finite(b->center) || !isfinite(b->radius) || !(b->radius >= 0)) return false;
    if (b->first < 0 || b->count < 1 || b->first > a->count - b->count) return false;
    if (b->child_count < 0 || (b->child_count > 0 && b->child <= i) || (b->child_count == 0 && b->child != 0))
      return false;
    if (b->child > a->ball_count - b->child_count) return false;
  }
  return true;
}

/* ---- files ---- */

bool ds_cache_load(ds_solid *solid, const char *folder, ds_cache_key key) {
  ds_solid read = {.error = 0};
  if (!ds_cache_read(&read, pass_solid, &kind, folder, key) || !field_is_sound(&read.field) ||
      !samples_are_sound(&read.samples)) {
    ds_field_free(&read.field);
    ds_samples_free(&read.samples);
    return false;
  }
  solid->info.cell = read.info.cell;
  solid->info.spacing = read.info.spacing;
  solid->info.thickness = read.info.thickness;
  solid->error = read.error;
  solid->field = read.field;
  solid->samples = read.samples;
  return true;
}

void ds_cache_save(const ds_solid *solid, const char *folder, ds_cache_key key) {
  /* a view: the stream reads from it only */
  ds_solid view = {.info = solid->info, .error = solid->error, .field = solid->field, .samples = solid->samples};
  ds_cache_write(&view, pass_solid, &kind, folder, key);
}
