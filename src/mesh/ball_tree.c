/* A tree of balls over the samples of a surface (Quinlan 1994): every ball holds the samples below it.
 *
 * Samples are halved at the median of the longest side of their bounds; two halvings make a level, so a ball has up to
 * four children. A ball is near the least one: its centre moves to the farthest sample by 1/2, 1/3, 1/4, ... of the way
 * (Badoiu and Clarkson 2003). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mesh/build.h"

enum { LEAF = 8, ROUNDS = 100, WAYS = 4 };

typedef struct entry {
  double key;
  int32_t id; /* decides between equal keys */
} entry;

typedef struct builder {
  const ds_vec3 *points; /* by sample number */
  int32_t *ids;          /* tree order */
  entry *entries;
  ds_ball *balls;
  int32_t ball_count;
} builder;

static int compare_entries(const void *pa, const void *pb) {
  const entry *a = pa, *b = pb;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

static void halve(builder *b, int32_t first, int32_t count) {
  ds_vec3 low = b->points[b->ids[first]], high = low;
  for (int32_t i = first; i < first + count; i++) {
    low = v3_min(low, b->points[b->ids[i]]);
    high = v3_max(high, b->points[b->ids[i]]);
  }
  ds_vec3 size = v3_sub(high, low);
  ds_vec3 axis = size.x >= size.y && size.x >= size.z ? v3(1, 0, 0) : size.y >= size.z ? v3(0, 1, 0) : v3(0, 0, 1);
  for (int32_t i = 0; i < count; i++)
    b->entries[i] = (entry){v3_dot(axis, b->points[b->ids[first + i]]), b->ids[first + i]};
  qsort(b->entries, (size_t)count, sizeof *b->entries, compare_entries);
  for (int32_t i = 0; i < count; i++) b->ids[first + i] = b->entries[i].id;
}

static int32_t farthest(const builder *b, ds_vec3 x, int32_t first, int32_t count) {
  int32_t best = first;
  double best2 = -1;
  for (int32_t i = first; i < first + count; i++) {
    double d2 = v3_norm2(v3_sub(b->points[b->ids[i]], x));
    if (d2 > best2) best = i, best2 = d2;
  }
  return best;
}

static void set_ball(const builder *b, ds_ball *ball, int32_t first, int32_t count) {
  ds_vec3 center = b->points[b->ids[first]], best = center;
  double radius = INFINITY;
  for (int32_t round = 1; round <= ROUNDS; round++) {
    ds_vec3 far = b->points[b->ids[farthest(b, center, first, count)]];
    double distance = v3_dist(far, center);
    if (distance < radius) radius = distance, best = center;
    center = v3_mad(center, 1.0 / (round + 1), v3_sub(far, center));
  }
  *ball = (ds_ball){.center = best, .radius = radius * (1 + 1e-12), .first = first, .count = count};
}

static void build_children(builder *b, int32_t index) {
  int32_t first = b->balls[index].first, count = b->balls[index].count, child_count = 0;
  if (count <= LEAF) return;
  int32_t half = count / 2, starts[WAYS + 1] = {first, first + half, first + count};
  halve(b, first, count);
  child_count = 2;
  if (count > 2 * LEAF) {
    halve(b, first, half);
    halve(b, first + half, count - half);
    starts[1] = first + half / 2;
    starts[2] = first + half;
    starts[3] = first + half + (count - half) / 2;
    starts[4] = first + count;
    child_count = WAYS;
  }
  int32_t child = b->ball_count;
  b->ball_count += child_count;
  b->balls[index].child = child;
  b->balls[index].child_count = child_count;
  for (int32_t k = 0; k < child_count; k++) set_ball(b, &b->balls[child + k], starts[k], starts[k + 1] - starts[k]);
  for (int32_t k = 0; k < child_count; k++) build_children(b, child + k);
}

/* Moves an array from sample numbers to tree order. */
static void reorder(ds_vec3 *items, ds_vec3 *copy, const int32_t *ids, int32_t count) {
  memcpy(copy, items, (size_t)count * sizeof *copy);
  for (int32_t i = 0; i < count; i++) items[i] = copy[ids[i]];
}

ds_status ds_balls_build(ds_samples *s, ds_error *error) {
  size_t n = (size_t)s->count;
  builder b = {.points = s->points, .ball_count = 1};
  ds_vec3 *copy = malloc((n + 1) * sizeof *copy);
  b.ids = malloc((n + 1) * sizeof *b.ids);
  b.entries = malloc((n + 1) * sizeof *b.entries);
  b.balls = malloc((n + 1) * sizeof *b.balls); /* a leaf has more than LEAF / 2 samples: fewer balls than samples */
  if (!copy || !b.ids || !b.entries || !b.balls || s->count < 1) {
    free(copy);
    free(b.ids);
    free(b.entries);
    free(b.balls);
    return ds_fail(error, DS_ERROR_MEMORY, "no memory for the ball tree of %d samples", s->count);
  }
  for (int32_t i = 0; i < s->count; i++) b.ids[i] = i;
  set_ball(&b, &b.balls[0], 0, s->count);
  build_children(&b, 0);
  reorder(s->points, copy, b.ids, s->count);
  reorder(s->normals, copy, b.ids, s->count);
  ds_ball *shrunk = realloc(b.balls, (size_t)b.ball_count * sizeof *b.balls);
  s->balls = shrunk ? shrunk : b.balls;
  s->ball_count = b.ball_count;
  s->ids = b.ids;
  free(copy);
  free(b.entries);
  return DS_OK;
}
