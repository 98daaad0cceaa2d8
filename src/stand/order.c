/* An order of assembly: from the whole, one block after the other is taken away so that what is left has an
 * equilibrium. Reversed, every stage stands. The highest block that can go is taken first, as a mason would build from
 * below; where none can, as in an arch, what is left is put up together, on a centring.
 *
 * What falls without a block mostly falls the same way after others have gone: the mechanism is kept, and tried before
 * the solver is. It proves the fall by itself, so that the order is the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec3.h"
#include "stand/proof.h"

enum { MOST_MEMORY = 1 << 26 }; /* bytes of mechanisms that are kept */

typedef struct stage {
  ds_assembly *assembly; /* what is left */
  int32_t *block;        /* its blocks, as numbered in the whole */
  ds_twist **motion;     /* per block of the whole: how what is left falls without it; NULL = not known */
  ds_twist *twist;       /* work: one per block */
  int32_t whole, room;   /* blocks of the whole; motions that can be kept */
} stage;

static bool falls_as_before(const stage *s, const ds_assembly *rest, int32_t i) {
  const ds_twist *motion = s->motion[s->block[i]];
  int32_t count = 0;
  if (!motion) return false;
  for (int32_t k = 0; k < s->assembly->block_count; k++)
    if (k != i) s->twist[count++] = motion[s->block[k]];
  return ds_prove_mechanism(rest, s->twist, NULL);
}

/* The mechanism of what is left without block i. */
static void keep_motion(stage *s, const ds_twist *mechanism, int32_t i) {
  ds_twist **motion = &s->motion[s->block[i]];
  int32_t count = 0;
  if (!*motion && s->room > 0) {
    *motion = calloc((size_t)s->whole + 1, sizeof **motion);
    s->room--;
  }
  for (int32_t k = 0; k < s->assembly->block_count && *motion; k++)
    if (k != i) (*motion)[s->block[k]] = mechanism[count++];
}

/* The verdict without block i; the assembly without it goes to *rest. */
static ds_status try_without(ds_assembly **rest, ds_verdict *verdict, stage *s, int32_t i, ds_error *error) {
  ds_stand_options options = {.margin = false};
  ds_stand stand;
  *rest = ds_assembly_without(s->assembly, i);
  *verdict = DS_FALLS;
  if (!*rest) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
  if (falls_as_before(s, *rest, i)) return DS_OK;
  ds_status status = ds_stand_check(&stand, *rest, &options, error);
  if (status != DS_OK) return status;
  *verdict = stand.verdict;
  if (stand.mechanism) keep_motion(s, stand.mechanism, i);
  ds_stand_free(&stand);
  return DS_OK;
}

typedef struct height {
  int32_t block;
  double z;
} height;

static int compare(const void *x, const void *y) {
  const height *a = x, *b = y;
  if (a->z != b->z) return a->z > b->z ? -1 : 1;
  return a->block > b->block ? -1 : 1;
}

/* Takes one block away: the highest that can go. *taken: its number in the whole, -1 = none can. */
static ds_status take_one(stage *s, int32_t *taken, ds_verdict *verdict, height *order, ds_error *error) {
  const ds_assembly *a = s->assembly;
  ds_vec3 up = v3_unit(v3_neg(a->gravity));
  int32_t count = 0;
  *taken = -1;
  for (int32_t i = 0; i < a->block_count; i++)
    if (!a->blocks[i].support) order[count++] = (height){i, v3_dot(up, a->blocks[i].center)};
  qsort(order, (size_t)count, sizeof *order, compare);
  for (int32_t k = 0; k < count; k++) {
    ds_assembly *rest;
    int32_t i = order[k].block;
    ds_status status = try_without(&rest, verdict, s, i, error);
    bool stands = status == DS_OK && (*verdict == DS_STANDS || *verdict == DS_CAN_STAND);
    if (!stands) ds_assembly_free(rest);
    if (status != DS_OK) return status;
    if (!stands) continue;
    *taken = s->block[i];
    memmove(s->block + i, s->block + i + 1, (size_t)(a->block_count - 1 - i) * sizeof *s->block);
    ds_assembly_free(s->assembly);
    s->assembly = rest;
    return DS_OK;
  }
  return DS_OK;
}

/* Blocks that no order was found for, in order of height. */
static void put_rest(int32_t *order, ds_verdict *verdicts, const stage *s, height *by) {
  int32_t count = 0, at = 0;
  ds_vec3 up = v3_unit(v3_neg(s->assembly->gravity));
  for (int32_t i = 0; i < s->assembly->block_count; i++) {
    if (s->assembly->blocks[i].support)
      order[at++] = s->block[i];
    else
      by[count++] = (height){s->block[i], v3_dot(up, s->assembly->blocks[i].center)};
  }
  qsort(by, (size_t)count, sizeof *by, compare);
  for (int32_t k = count; k > 0; k--) order[at++] = by[k - 1].block;
  for (int32_t k = 0; k < at && verdicts; k++) verdicts[k] = k < at - 1 && count > 0 ? DS_FALLS : DS_STANDS;
}

static ds_status run(int32_t *order, int32_t *placed, ds_verdict *verdicts, stage *s, height *by, ds_verdict whole,
                     ds_error *error) {
  ds_verdict last = whole; /* of what is there with the block that is taken next */
  for (int32_t left = s->assembly->block_count; left > 0;) {
    int32_t taken;
    ds_verdict verdict = DS_UNDECIDED;
    ds_status status = take_one(s, &taken, &verdict, by, error);
    if (status != DS_OK) return status;
    if (taken < 0) break;
    order[--left] = taken;
    if (verdicts) verdicts[left] = last;
    last = verdict;
    ++*placed;
  }
  put_rest(order, verdicts, s, by);
  if (verdicts && s->assembly->block_count > 0) verdicts[s->assembly->block_count - 1] = last;
  return DS_OK;
}

ds_status ds_stand_order(int32_t *order, int32_t *placed, ds_verdict *verdicts, const ds_assembly *assembly,
                         ds_error *error) {
  ds_stand_options options = {.margin = false};
  ds_stand whole;
  *placed = 0;
  ds_status status = ds_stand_check(&whole, assembly, &options, error);
  if (status != DS_OK) return status;
  ds_verdict verdict = whole.verdict;
  ds_stand_free(&whole);
  size_t room = (size_t)assembly->block_count + 1;
  stage s = {.assembly = ds_assembly_without(assembly, -1), .whole = assembly->block_count};
  s.room = (int32_t)(MOST_MEMORY / (room * sizeof(ds_twist)));
  s.block = malloc(room * sizeof *s.block);
  s.motion = calloc(room, sizeof *s.motion);
  s.twist = malloc(room * sizeof *s.twist);
  height *by = malloc(room * sizeof *by);
  if (s.assembly && s.block && s.motion && s.twist && by) {
    for (int32_t i = 0; i < assembly->block_count; i++) s.block[i] = i;
    status = run(order, placed, verdicts, &s, by, verdict, error);
  } else {
    status = ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
  }
  ds_assembly_free(s.assembly);
  for (int32_t i = 0; i < s.whole && s.motion; i++) free(s.motion[i]);
  free(s.motion);
  free(s.twist);
  free(s.block);
  free(by);
  return status;
}
