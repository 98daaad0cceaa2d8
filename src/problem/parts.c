#include <string.h>

#include "base/sets.h"
#include "problem/condense.h"

/* label[k] = lowest contact of the part of contact k */
static bool label_contacts(ds_arena *arena, int32_t *label, const ds_subproblem *p) {
  int32_t *last = DS_NEW(arena, int32_t, p->body_count + 1);
  if (!last) return false;
  ds_sets_single(label, p->contact_count);
  for (int32_t i = 0; i < p->body_count; i++) last[i] = -1;
  for (int32_t k = 0; k < p->contact_count; k++) {
    if (p->delassus)
      for (int32_t t = p->delassus->start[k]; t < p->delassus->start[k + 1]; t++)
        ds_sets_join(label, k, p->delassus->column[t]);
    else
      for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->body[2 * k + side];
        if (body < 0) continue;
        if (last[body] >= 0) ds_sets_join(label, k, last[body]);
        last[body] = k;
      }
  }
  for (int32_t k = 0; k < p->contact_count; k++) label[k] = ds_sets_root(label, k);
  return true;
}

bool ds_parts_count(ds_arena *arena, int32_t *count, const ds_subproblem *whole) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  int32_t *label = DS_NEW(arena, int32_t, whole->contact_count + 1);
  if (!label || !label_contacts(arena, label, whole)) return false;
  *count = 0;
  for (int32_t k = 0; k < whole->contact_count; k++) *count += label[k] == k;
  ds_arena_release(arena, mark);
  return true;
}

/* Vectors of one part, in the whole's order. */
static bool take_vectors(ds_arena *arena, ds_subproblem *part, const int32_t *contact, int32_t n,
                         const ds_subproblem *whole) {
  double *b = DS_NEW(arena, double, 3 * (size_t)n + 1), *mu = DS_NEW(arena, double, n + 1);
  double *u_before = whole->u_before ? DS_NEW(arena, double, 3 * (size_t)n + 1) : NULL;
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++) {
    mu[k] = whole->mu[contact[k]];
    if (u_before) memcpy(u_before + 3 * k, whole->u_before + 3 * contact[k], 3 * sizeof(double));
    memcpy(b + 3 * k, whole->b + 3 * contact[k], 3 * sizeof(double));
  }
  part->contact_count = n, part->b = b, part->mu = mu, part->u_before = u_before;
  return true;
}

static bool take_delassus(ds_arena *arena, ds_subproblem *part, const int32_t *contact, int32_t n, const int32_t *place,
                          const ds_subproblem *whole) {
  const ds_delassus *from = whole->delassus;
  int32_t blocks = 0, *start = DS_NEW(arena, int32_t, n + 1);
  for (int32_t k = 0; k < n; k++) blocks += from->start[contact[k] + 1] - from->start[contact[k]];
  int32_t *column = DS_NEW(arena, int32_t, blocks + 1);
  double *value = DS_NEW(arena, double, 9 * (size_t)blocks + 1), *zero = DS_NEW0(arena, double, 3 * (size_t)n + 1);
  ds_delassus *w = DS_NEW(arena, ds_delassus, 1);
  if (ds_arena_failed(arena)) return false;
  start[0] = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t first = from->start[contact[k]], count = from->start[contact[k] + 1] - first;
    for (int32_t t = 0; t < count; t++) column[start[k] + t] = place[from->column[first + t]];
    memcpy(value + 9 * (size_t)start[k], from->value + 9 * (size_t)first, 9 * (size_t)count * sizeof(double));
    start[k + 1] = start[k] + count;
  }
  *w = (ds_delassus){start, column, value};
  part->delassus = w, part->dof = 3 * n, part->predicted = zero;
  return true;
}

static bool take_bodies(ds_arena *arena, ds_subproblem *part, const int32_t *contact, int32_t n, int32_t *body_place,
                        const ds_subproblem *whole) {
  int32_t *body = DS_NEW(arena, int32_t, 2 * (size_t)n + 1), *jacobian = DS_NEW(arena, int32_t, 2 * (size_t)n + 1);
  int32_t *used = DS_NEW(arena, int32_t, 2 * (size_t)n + 1), count = 0;
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++) /* bodies in order of first use; body_place is -1 before and after */
    for (int32_t side = 0; side < 2; side++) {
      int32_t from = whole->body[2 * contact[k] + side];
      if (from >= 0 && body_place[from] < 0) body_place[from] = count, used[count++] = from;
      body[2 * k + side] = from < 0 ? -1 : body_place[from];
      jacobian[2 * k + side] = whole->jacobian[2 * contact[k] + side];
    }
  int32_t *size = DS_NEW(arena, int32_t, count + 1), *first = DS_NEW(arena, int32_t, count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < count; i++) {
    size[i] = whole->size[used[i]];
    first[i] = part->dof;
    part->dof += size[i];
    body_place[used[i]] = -1;
  }
  double *predicted = DS_NEW(arena, double, part->dof + 1);
  if (!predicted) return false;
  for (int32_t i = 0; i < count; i++)
    memcpy(predicted + first[i], whole->predicted + whole->first[used[i]], (size_t)size[i] * sizeof(double));
  part->body_count = count, part->size = size, part->first = first, part->body = body, part->jacobian = jacobian;
  part->g = whole->g, part->predicted = predicted;
  return true;
}

bool ds_parts_find(ds_arena *arena, ds_parts *parts, const ds_subproblem *whole) {
  int32_t n = whole->contact_count, *label = DS_NEW(arena, int32_t, n + 1), *place = DS_NEW(arena, int32_t, n + 1);
  int32_t *body_place = DS_NEW(arena, int32_t, whole->body_count + 1);
  if (ds_arena_failed(arena) || !label_contacts(arena, label, whole)) return false;
  *parts = (ds_parts){.start = DS_NEW0(arena, int32_t, n + 2), .contact = DS_NEW(arena, int32_t, n + 1)};
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n;
       k++) { /* label becomes the part's number; a part's first contact comes before its others */
    label[k] = label[k] == k ? parts->count++ : label[label[k]];
    place[k] = parts->start[label[k] + 1]++;
  }
  for (int32_t i = 0; i < parts->count; i++) parts->start[i + 1] += parts->start[i];
  for (int32_t k = 0; k < n; k++) parts->contact[parts->start[label[k]] + place[k]] = k;
  for (int32_t i = 0; i < whole->body_count; i++) body_place[i] = -1;
  parts->part = DS_NEW0(arena, ds_subproblem, parts->count + 1);
  if (!parts->part) return false;
  if (parts->count == 1) {
    parts->part[0] = *whole;
    return true;
  }
  for (int32_t i = 0; i < parts->count; i++) {
    const int32_t *contact = parts->contact + parts->start[i];
    int32_t count = parts->start[i + 1] - parts->start[i];
    if (!take_vectors(arena, &parts->part[i], contact, count, whole)) return false;
    if (!(whole->delassus ? take_delassus(arena, &parts->part[i], contact, count, place, whole)
                          : take_bodies(arena, &parts->part[i], contact, count, body_place, whole)))
      return false;
  }
  return true;
}
