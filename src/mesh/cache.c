/* Built solids on disk: a file a solid, named by a hash of its mesh, the parameters asked for and the format's version.
 *
 * The file: magic, version, byte order, key, length of the rest, then what was built, array by array, then a checksum
 * of all before it. A file is taken only where all of that fits and every index in it is in range; any other file is
 * as good as none, and is replaced. A file is written under another name and renamed, so nobody reads half of one.
 *
 * The hash finds equal content, it is no defence against forgery: a folder that others can write to is theirs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh/build.h"

/* To be raised whenever a build would give other bits. */
#define VERSION 1u
#define ORDER 0x01020304u
#define FILE_LIMIT ((int64_t)1 << 32)
#define BRICK_POINTS ((DS_BRICK + 1) * (DS_BRICK + 1) * (DS_BRICK + 1))
static const char magic[8] = {'D', 'S', 's', 'o', 'l', 'i', 'd', '\n'};

/* ---- hash ---- */

static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor) {
  hash = (hash ^ word) * factor;
  return hash ^ hash >> 29;
}

/* Two lanes with different factors, over words of 8 bytes; the last is filled up with its length. */
static void hash_bytes(ds_cache_key *key, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = size - i < 8 ? (uint64_t)(size - i) << 56 : 0;
    memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
    key->hash[0] = mix(key->hash[0], word, 0x9e3779b97f4a7c15u);
    key->hash[1] = mix(key->hash[1], word ^ 0x5bf0363546a5a1d3u, 0xd6e8feb86659fd93u);
  }
}

ds_cache_key ds_cache_hash(const ds_mesh *mesh, double cell, double spacing) {
  ds_cache_key key = {{VERSION, ~(uint64_t)VERSION}};
  int32_t counts[2] = {mesh->vertex_count, mesh->triangle_count};
  double sizes[2] = {cell, spacing};
  hash_bytes(&key, counts, sizeof counts);
  hash_bytes(&key, sizes, sizeof sizes);
  hash_bytes(&key, mesh->vertices, (size_t)mesh->vertex_count * sizeof *mesh->vertices);
  hash_bytes(&key, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
  return key;
}

static uint64_t checksum(const char *bytes, size_t size) {
  ds_cache_key sum = {{size, 0}};
  hash_bytes(&sum, bytes, size);
  return mix(sum.hash[0], sum.hash[1], 0x94d049bb133111ebu);
}

/* ---- the parts of a file, written or read by one function ---- */

/* Writing copies from the solid to the buffer, reading the other way; sizing only counts. */
typedef enum direction { SIZING, WRITING, READING } direction;

typedef struct stream {
  direction way;
  char *bytes;
  size_t at, size;
  bool failed;
} stream;

static void pass(stream *s, void *data, size_t size) {
  if (s->failed || (s->way != SIZING && size > s->size - s->at)) {
    s->failed = true;
    return;
  }
  if (s->way == WRITING && size > 0) memcpy(s->bytes + s->at, data, size);
  if (s->way == READING && size > 0) memcpy(data, s->bytes + s->at, size);
  s->at += size;
}

static void pass_number(stream *s, double *x) { pass(s, x, sizeof *x); }
static void pass_integer(stream *s, int32_t *x) { pass(s, x, sizeof *x); }
static void pass_vector(stream *s, ds_vec3 *x) {
  pass_number(s, &x->x);
  pass_number(s, &x->y);
  pass_number(s, &x->z);
}

/* An array of count items of a size; reading allocates it, after making sure that the file has so many bytes. */
static void *pass_array(stream *s, void *items, int64_t count, size_t size) {
  if (s->way == READING) {
    items = NULL;
    if (count < 0 || (uint64_t)count > (s->size - s->at) / size) s->failed = true;
    if (!s->failed) items = malloc((size_t)count * size + 1);
    if (!items) s->failed = true;
  }
  if (!s->failed) pass(s, items, (size_t)count * size);
  return items;
}

static void pass_field(stream *s, ds_distance_field *f) {
  int64_t cells = 1, points = 1;
  pass_vector(s, &f->origin);
  pass_number(s, &f->coarse);
  pass_number(s, &f->fine);
  for (int k = 0; k < 3; k++) {
    pass_integer(s, &f->size[k]);
    if (!s->failed && (f->size[k] < 1 || f->size[k] > 1 << 20)) s->failed = true;
    if (!s->failed) cells *= f->size[k], points *= f->size[k] + 1;
  }
  pass_integer(s, &f->brick_count);
  f->values = pass_array(s, f->values, points, sizeof *f->values);
  f->brick = pass_array(s, f->brick, cells, sizeof *f->brick);
  f->bricks = pass_array(s, f->bricks, (int64_t)f->brick_count * BRICK_POINTS, sizeof *f->bricks);
}

static void pass_samples(stream *s, ds_samples *a) {
  pass_integer(s, &a->count);
  pass_integer(s, &a->ball_count);
  a->points = pass_array(s, a->points, a->count, sizeof *a->points);
  a->normals = pass_array(s, a->normals, a->count, sizeof *a->normals);
  a->ids = pass_array(s, a->ids, a->count, sizeof *a->ids);
  a->balls = pass_array(s, a->balls, a->ball_count, sizeof *a->balls);
}

/* All but the checksum. False in the head of a file that is not ours; `key` is what it must be. */
static void pass_all(stream *s, ds_solid *solid, ds_cache_key key, int64_t size) {
  char head[sizeof magic];
  uint32_t version = VERSION, order = ORDER;
  ds_cache_key named = key;
  int64_t length = size;
  memcpy(head, magic, sizeof head);
  pass(s, head, sizeof head);
  pass(s, &version, sizeof version);
  pass(s, &order, sizeof order);
  pass(s, &named, sizeof named);
  pass(s, &length, sizeof length);
  if (memcmp(head, magic, sizeof head) != 0 || version != VERSION || order != ORDER || length != size ||
      memcmp(&named, &key, sizeof key) != 0)
    s->failed = true;
  pass_number(s, &solid->info.cell);
  pass_number(s, &solid->info.spacing);
  pass_number(s, &solid->info.thickness);
  pass_number(s, &solid->error);
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

static char *file_path(const char *folder, ds_cache_key key, const char *end) {
  size_t size = strlen(folder) + 64;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s/%016llx%016llx.%s", folder, (unsigned long long)key.hash[0],
             (unsigned long long)key.hash[1], end);
  return path;
}

/* The bytes of a plain file, or NULL. */
static char *read_file(const char *path, size_t *size) {
  struct stat about;
  int file = open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return NULL;
  char *bytes = NULL;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 && about.st_size < FILE_LIMIT)
    bytes = malloc((size_t)about.st_size);
  size_t got = 0;
  while (bytes && got < (size_t)about.st_size) {
    ssize_t n = read(file, bytes + got, (size_t)about.st_size - got);
    if (n <= 0) break;
    got += (size_t)n;
  }
  close(file);
  if (bytes && got == (size_t)about.st_size) {
    *size = got;
    return bytes;
  }
  free(bytes);
  return NULL;
}

static bool write_file(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wbx");
  if (!file) return false;
  bool ok = fwrite(bytes, 1, size, file) == size;
  return fclose(file) == 0 && ok;
}

bool ds_cache_load(ds_solid *solid, const char *folder, ds_cache_key key) {
  size_t size = 0;
  char *path = file_path(folder, key, "solid"), *bytes = path ? read_file(path, &size) : NULL;
  free(path);
  uint64_t sum = 0;
  if (!bytes || size < sizeof sum) {
    free(bytes);
    return false;
  }
  ds_solid read = {.error = 0};
  stream s = {.way = READING, .bytes = bytes, .size = size - sizeof sum};
  memcpy(&sum, bytes + s.size, sizeof sum);
  s.failed = sum != checksum(bytes, s.size);
  if (!s.failed) pass_all(&s, &read, key, (int64_t)size);
  bool ok = !s.failed && s.at == s.size && field_is_sound(&read.field) && samples_are_sound(&read.samples);
  free(bytes);
  if (!ok) {
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
  uint64_t sum;
  stream s = {.way = SIZING};
  pass_all(&s, &view, key, 0);
  size_t size = s.at + sizeof sum;
  s = (stream){.way = WRITING, .bytes = malloc(size), .size = size};
  char end[64];
  snprintf(end, sizeof end, "%ld-%p.part", (long)getpid(), (void *)s.bytes); /* one writer's own name */
  char *part = file_path(folder, key, end), *path = file_path(folder, key, "solid");
  if (s.bytes && part && path) {
    pass_all(&s, &view, key, (int64_t)size);
    sum = checksum(s.bytes, s.at);
    memcpy(s.bytes + s.at, &sum, sizeof sum);
    mkdir(folder, 0777); /* where it is not there yet */
    remove(part);        /* left by a writer that was killed */
    if (!write_file(part, s.bytes, size) || rename(part, path) != 0) remove(part);
  }
  free(s.bytes);
  free(part);
  free(path);
}
