/* Few well-spread points in place of many: what touches keeps its support polygon, what will touch keeps its own.
 *
 * Candidates whose normals lie within 25 degrees of one another form a patch; of those that do not touch yet, within 60
 * degrees, and half as many. Of a patch the deepest stays, then always the one farthest from those kept. A later point
 * must be better by a millionth, so that ties go to the lower feature and nothing flickers at rest. */
#include <stdlib.h>
#include <string.h>

#include "detect/solid.h"

static const double same_patch = 0.9, same_open_patch = 0.5; /* cosines of the angle between normals */
static const double touching = 100;                          /* gaps up to this many eps */

static int compare(const void *x, const void *y) {
  const ds_candidate *a = x, *b = y;
  return a->feature < b->feature ? -1 : a->feature > b->feature;
}

/* Marks up to `limit` of the members: state 1 = member, 2 = kept. */
static void spread(unsigned char *state, double *far, const ds_candidate *c, int32_t count, int32_t limit, double eps) {
  double least = INFINITY;
  for (int32_t i = 0; i < count; i++)
    if (state[i] == 1) least = fmin(least, c[i].gap), far[i] = INFINITY;
  int32_t last = 0;
  while (last < count && !(state[last] == 1 && c[last].gap <= least + eps)) last++;
  for (int32_t n = 1; last < count; n++) {
    state[last] = 2;
    if (n == limit) return;
    double best = -INFINITY;
    int32_t next = count;
    for (int32_t i = 0; i < count; i++) {
      if (state[i] != 1) continue;
      far[i] = fmin(far[i], v3_dist(c[i].point, c[last].point));
      double worth = far[i] - 2 * (c[i].gap - least);
      if (next == count || worth > best + 1e-6 * fabs(best)) best = worth, next = i;
    }
    last = next;
  }
}

/* Reduces all candidates that touch, or all that do not, patch by patch. */
static void reduce_all(bool *kept, unsigned char *state, double *far, bool *done, const ds_candidate *c, int32_t count,
                       bool open, int32_t limit, double eps) {
  double same = open ? same_open_patch : same_patch;
  for (int32_t i = 0; i < count; i++) done[i] = (c[i].gap > touching * eps) != open;
  for (;;) {
    int32_t seed = -1;
    for (int32_t i = 0; i < count; i++)
      if (!done[i] && (seed < 0 || c[i].gap < c[seed].gap - eps)) seed = i;
    if (seed < 0) return;
    for (int32_t i = 0; i < count; i++) {
      state[i] = !done[i] && (i == seed || v3_dot(c[i].normal, c[seed].normal) > same);
      done[i] |= state[i];
    }
    spread(state, far, c, count, limit, eps);
    for (int32_t i = 0; i < count; i++) kept[i] |= state[i] == 2;
  }
}

int32_t ds_reduce(ds_arena *scratch, ds_candidate *c, int32_t count, int32_t limit, double eps) {
  if (count <= 1) return count;
  qsort(c, (size_t)count, sizeof *c, compare);
  if (count <= limit) return count;
  unsigned char *state = DS_NEW(scratch, unsigned char, count);
  bool *done = DS_NEW(scratch, bool, count), *kept = DS_NEW0(scratch, bool, count);
  double *far = DS_NEW(scratch, double, count);
  if (ds_arena_failed(scratch)) return 0;
  reduce_all(kept, state, far, done, c, count, false, limit, eps);
  reduce_all(kept, state, far, done, c, count, true, limit > 8 ? limit / 2 : 4, eps);
  int32_t out = 0;
  for (int32_t i = 0; i < count; i++)
    if (kept[i]) c[out++] = c[i];
  return out;
}
