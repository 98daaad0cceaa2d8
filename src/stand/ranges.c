/* The least and the largest normal force of an interface over all equilibria: min and max of sum r_N over G r = -w, r
 * in K. Each is a cone program with the same equations and another cost, so that all interfaces share the graph and its
 * analysis; threads take interfaces, each of which has the same answer whichever thread computes it. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/thread.h"
#include "stand/margin.h"

static const double range_width = 1e-6; /* relative to the force, or to the weight of the mean block */

static bool find_range(ds_arena *arena, ds_force_range *range, const ds_graph *g, const ds_cone_centre *centre,
                       int32_t interface) {
  const ds_interface *face = &g->assembly->interfaces[interface];
  const ds_patch *patch = &g->patch[interface];
  double tension = face->count * face->tension;
  double *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1), *c = DS_NEW0(arena, double, 3 * (size_t)g->points + 1);
  *range = (ds_force_range){.low = 0, .high = INFINITY, .least = NAN, .most = NAN};
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i];
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t k = patch->first; k < patch->first + patch->count; k++) c[3 * k] = side == 0 ? 1 : -1;
    ds_cone_program program = {.graph = g, .b = b, .c = c, .width = range_width, .least = 1};
    if (centre->x) program.centre = centre;
    ds_cone_answer answer;
    if (!ds_cone_solve(arena, &answer, &program)) return false;
    range->factorizations += answer.factorizations;
    if (answer.forces && side == 0) range->least = answer.upper * g->unit - tension;
    if (answer.forces && side == 1) range->most = answer.unbounded ? INFINITY : -answer.upper * g->unit - tension;
    if (side == 0 && answer.motion) range->low = fmax(0, answer.lower) * g->unit - tension;
    if (side == 1 && answer.motion) range->high = -answer.lower * g->unit - tension;
    if (answer.mechanism) range->low = range->high = range->least = range->most = NAN;
  }
  return true;
}

typedef struct search {
  const ds_graph *graph;
  ds_cone_centre centre;
  ds_force_range *ranges;
  ds_arena *arenas; /* one per thread */
  int32_t first;
  atomic_bool failed;
} search;

static void find_one(void *context, int32_t item, int32_t worker) {
  search *s = context;
  ds_arena *arena = &s->arenas[worker];
  ds_arena_mark mark = ds_arena_get_mark(arena);
  if (atomic_load(&s->failed)) return;
  if (!find_range(arena, &s->ranges[item], s->graph, &s->centre, s->first + item)) atomic_store(&s->failed, true);
  ds_arena_release(arena, mark);
}

static bool find_start(ds_arena *arena, ds_cone_centre *centre, const ds_graph *g) {
  double *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1);
  if (!b) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i];
  return ds_margin_centre(arena, centre, &(ds_cone_program){.graph = g, .b = b});
}

/* Of `count` interfaces from `first` on. */
static ds_status find_all(ds_force_range *ranges, const ds_assembly *assembly, int32_t first, int32_t count,
                          int32_t threads, ds_error *error) {
  ds_arena arena = {0};
  ds_pool *pool = ds_pool_create(threads);
  search s = {.graph = ds_graph_create(&arena, assembly), .ranges = ranges, .first = first};
  s.arenas = pool ? calloc((size_t)ds_pool_size(pool), sizeof *s.arenas) : NULL;
  bool good = s.graph && s.arenas && find_start(&arena, &s.centre, s.graph);
  if (good) ds_pool_run(pool, count, find_one, &s);
  for (int32_t i = 0; s.arenas && i < ds_pool_size(pool); i++) ds_arena_free(&s.arenas[i]);
  if (pool) ds_pool_destroy(pool);
  free(s.arenas);
  ds_arena_free(&arena);
  return good && !atomic_load(&s.failed) ? DS_OK : ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
}

ds_status ds_stand_range(ds_force_range *range, const ds_assembly *assembly, int32_t interface, ds_error *error) {
  *range = (ds_force_range){.low = 0, .high = INFINITY, .least = NAN, .most = NAN};
  if (ds_assembly_check(assembly, error) != DS_OK) return DS_ERROR_INPUT;
  if (interface < 0 || interface >= assembly->interface_count)
    return ds_fail(error, DS_ERROR_INPUT, "there is no interface %d", (int)interface);
  return find_all(range, assembly, interface, 1, 1, error);
}

ds_status ds_stand_ranges(ds_force_range *ranges, const ds_assembly *assembly, int32_t threads, ds_error *error) {
  if (ds_assembly_check(assembly, error) != DS_OK) return DS_ERROR_INPUT;
  if (threads < 0) return ds_fail(error, DS_ERROR_INPUT, "the number of threads must not be negative");
  return find_all(ranges, assembly, 0, assembly->interface_count, threads, error);
}
