/* Pairs of bodies, one after the other or shared out to threads.
 *
 * Pairs come sorted from the broad phase, and points are sorted within a pair, so the list is ordered and unique: whole
 * runs of pairs are shared out to threads and put together in their order. */
#include <string.h>

#include "detect/detection.h"

/* pairs of a run; and from which on threads pay */
enum { RUN = 16, RUN_DEFORMABLE = 2, PAIRS_TO_SHARE = 1000, SOLIDS_TO_SHARE = 64, DEFORMABLES_TO_SHARE = 4 };

/* Pairs in runs, each with a list of its own in the memory of the thread that did it. */
typedef struct detect_job {
  const ds_detection *d;
  ds_collide_function *collide;
  const ds_box_pair *pairs;
  int32_t pair_count, per_face, run; /* pairs per run */
  ds_arena *workers;
  ds_manifold *manifolds; /* one per thread */
  ds_point_list *lists;   /* one per run */
  bool *done;
} detect_job;

static void detect_run(void *context, int32_t run, int32_t worker) {
  detect_job *job = context;
  ds_arena *arena = &job->workers[worker];
  const ds_detection *d = job->d;
  ds_point_list *list = &job->lists[run];
  int32_t first = run * job->run, last = first + job->run < job->pair_count ? first + job->run : job->pair_count;
  for (int32_t i = first; i < last; i++)
    if (!job->collide(arena, list, d, &job->manifolds[worker], job->pairs[i], job->per_face)) return;
  job->done[run] = true;
}

static ds_status detect_shared(ds_arena *arena, ds_contact_list *contacts, detect_job *job, ds_pool *pool) {
  int32_t runs = (job->pair_count + job->run - 1) / job->run, count = 0;
  job->lists = DS_NEW0(arena, ds_point_list, runs + 1);
  job->done = DS_NEW0(arena, bool, runs + 1);
  job->manifolds = DS_NEW(arena, ds_manifold, ds_pool_size(pool));
  if (ds_arena_failed(arena)) return DS_ERROR_MEMORY;
  ds_pool_run(pool, runs, detect_run, job);
  for (int32_t i = 0; i < runs; i++) {
    if (!job->done[i]) return DS_ERROR_MEMORY;
    count += job->lists[i].count;
  }
  ds_contact_point *points = DS_NEW(arena, ds_contact_point, count + 1);
  if (!points) return DS_ERROR_MEMORY;
  *contacts = (ds_contact_list){points, count};
  for (int32_t i = 0; i < runs; i++) {
    if (job->lists[i].count > 0) memcpy(points, job->lists[i].points, (size_t)job->lists[i].count * sizeof *points);
    points += job->lists[i].count;
  }
  return DS_OK;
}

static ds_status detect_alone(ds_arena *arena, ds_contact_list *contacts, const detect_job *job, int32_t expected) {
  ds_point_list list = {.capacity = expected + expected / 4 + 256};
  list.points = DS_NEW(arena, ds_contact_point, list.capacity);
  ds_manifold *m = DS_NEW(arena, ds_manifold, 1);
  if (!list.points || !m) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < job->pair_count; i++)
    if (!job->collide(arena, &list, job->d, m, job->pairs[i], job->per_face)) return DS_ERROR_MEMORY;
  *contacts = (ds_contact_list){list.points, list.count};
  return DS_OK;
}

ds_status ds_detect_pairs(ds_arena *arena, ds_contact_list *contacts, const ds_detection *d,
                          ds_collide_function *collide, const ds_box_pair *pairs, int32_t pair_count, int32_t expected,
                          const ds_detect_options *options) {
  int32_t enough = d->deformables ? DEFORMABLES_TO_SHARE : d->solids ? SOLIDS_TO_SHARE : PAIRS_TO_SHARE;
  detect_job job = {.d = d,
                    .collide = collide,
                    .pairs = pairs,
                    .pair_count = pair_count,
                    .per_face = options->contacts_per_face,
                    .run = d->deformables ? RUN_DEFORMABLE : RUN,
                    .workers = options->workers};
  if (!options->pool || ds_pool_size(options->pool) == 1 || pair_count < enough)
    return detect_alone(arena, contacts, &job, expected);
  int32_t size = ds_pool_size(options->pool);
  ds_arena_mark *marks = DS_NEW(arena, ds_arena_mark, size);
  if (!marks) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < size; i++) marks[i] = ds_arena_get_mark(&job.workers[i]);
  ds_status status = detect_shared(arena, contacts, &job, options->pool);
  for (int32_t i = 0; i < size; i++) ds_arena_release(&job.workers[i], marks[i]);
  return status;
}
