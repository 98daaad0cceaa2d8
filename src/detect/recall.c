#include "detect/recall.h"

#include <stdlib.h>
#include <string.h>

void ds_recall_begin(ds_recall **recall, int32_t pairs, int32_t points) {
  ds_recall *r = *recall;
  if (!r || pairs > r->pair_capacity || points > r->point_capacity) {
    /* a quarter more than requested: it grows in few steps */
    size_t np = (size_t)pairs + (size_t)pairs / 4 + 16, nc = (size_t)points + (size_t)points / 4 + 64;
    free(r);
    *recall = r = malloc(sizeof *r + np * sizeof *r->pairs + nc * sizeof *r->points);
    if (!r) return;
    r->pairs = (ds_known_pair *)(r + 1);
    r->points = (ds_contact_point *)(r->pairs + np);
    r->pair_capacity = (int32_t)np;
    r->point_capacity = (int32_t)nc;
  }
  r->pair_count = r->point_count = 0;
}

void ds_recall_add(ds_recall *r, const ds_known_pair *pair, const ds_contact_point *points, int32_t count) {
  ds_known_pair *to = &r->pairs[r->pair_count++];
  *to = *pair;
  to->first = r->point_count;
  to->count = count;
  if (count > 0) memcpy(r->points + r->point_count, points, (size_t)count * sizeof *points);
  r->point_count += count;
}

static bool comes_before(const ds_known_pair *x, const ds_known_pair *y) {
  return x->a != y->a ? x->a < y->a : x->b < y->b;
}

/* Poses bit by bit. */
static bool is_same(const ds_known_pair *x, const ds_known_pair *y) {
  return x->a == y->a && x->b == y->b && x->step == y->step && x->reach == y->reach && x->slack == y->slack &&
         x->per_face == y->per_face && memcmp(&x->pose_a, &y->pose_a, sizeof x->pose_a) == 0 &&
         memcmp(&x->pose_b, &y->pose_b, sizeof x->pose_b) == 0;
}

const ds_contact_point *ds_recall_find(int32_t *count, const ds_recall *r, const ds_known_pair *pair) {
  int32_t low = 0, high = r->pair_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (comes_before(&r->pairs[middle], pair))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == r->pair_count || !is_same(&r->pairs[low], pair)) return NULL;
  *count = r->pairs[low].count;
  return r->points + r->pairs[low].first;
}
