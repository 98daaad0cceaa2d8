/* Makes the boundary of a stuffed body a surface: two triangles at every edge, and no crumbs.
 *
 * Where a body is not much thicker than a cell, or has a sharp edge, pulling lattice points onto the surface can leave
 * tetrahedra that hang on the rest by an edge only. Around such an edge the tetrahedra form two or more fans; all but
 * the largest are taken away. A fan is a few tetrahedra less than a cell wide. It is done again until no such edge is
 * left; every round takes some away, so it ends. Then parts that are smaller than a cell and hang on nothing go. */
#include <stdlib.h>

#include "base/error.h"
#include "base/sets.h"
#include "mesh/mesh.h"
#include "reduce/stuffing.h"

static const int edge_ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

typedef struct around {
  int32_t edge, tet; /* a pinched edge, and a tetrahedron at it */
} around;

typedef struct trimmer {
  ds_tets *tets;
  int32_t *twin;
  bool *gone;
  uint64_t *keys; /* of all boundary edges; then of the pinched ones */
  int32_t key_count;
  around *around;
  int32_t *set; /* for parts and fans */
} trimmer;

static uint64_t key_of(int32_t a, int32_t b) {
  return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

static int compare_keys(const void *pa, const void *pb) {
  uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
  return (a > b) - (a < b);
}

static int compare_around(const void *pa, const void *pb) {
  const around *a = pa, *b = pb;
  if (a->edge != b->edge) return a->edge < b->edge ? -1 : 1;
  return (a->tet > b->tet) - (a->tet < b->tet);
}

/* Leaves the edges with more than two boundary triangles in keys, ascending. */
static void find_pinched(trimmer *t) {
  int32_t count = 0, kept = 0;
  for (int32_t f = 0; f < 4 * t->tets->tet_count; f++) {
    int32_t corner[3];
    if (t->twin[f] >= 0) continue;
    ds_tet_face(corner, t->tets->tets, f);
    for (int k = 0; k < 3; k++) t->keys[count++] = key_of(corner[k], corner[(k + 1) % 3]);
  }
  qsort(t->keys, (size_t)count, sizeof *t->keys, compare_keys);
  for (int32_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && t->keys[end] == t->keys[first];) end++;
    if (end - first > 2) t->keys[kept++] = t->keys[first];
  }
  t->key_count = kept;
}

static int32_t find_key(const trimmer *t, uint64_t key) {
  const uint64_t *found = bsearch(&key, t->keys, (size_t)t->key_count, sizeof key, compare_keys);
  return found ? (int32_t)(found - t->keys) : -1;
}

static double volume_of(const ds_tets *tets, int32_t t) {
  const int32_t *v = tets->tets + 4 * (int64_t)t;
  ds_vec3 a = tets->nodes[v[0]], b = v3_sub(tets->nodes[v[1]], a), c = v3_sub(tets->nodes[v[2]], a);
  return v3_dot(v3_cross(b, c), v3_sub(tets->nodes[v[3]], a)) / 6;
}

static bool has_node(const int32_t corner[3], int32_t node) {
  return corner[0] == node || corner[1] == node || corner[2] == node;
}

/* The tetrahedra at one edge, count of them in ascending order: joins those that share a face at it. */
static void join_fans(trimmer *t, const around *at, int32_t count) {
  int32_t low = (int32_t)(t->keys[at->edge] >> 32), high = (int32_t)(uint32_t)t->keys[at->edge];
  for (int32_t i = 0; i < count; i++) t->set[at[i].tet] = at[i].tet;
  for (int32_t i = 0; i < count; i++)
    for (int k = 0; k < 4; k++) {
      int32_t face = 4 * at[i].tet + k, corner[3];
      ds_tet_face(corner, t->tets->tets, face);
      if (t->twin[face] >= 0 && has_node(corner, low) && has_node(corner, high))
        ds_sets_join(t->set, at[i].tet, t->twin[face] / 4);
    }
}

static void drop_fans(trimmer *t, const around *at, int32_t count) {
  double largest = -1;
  int32_t best = -1;
  join_fans(t, at, count);
  for (int32_t i = 0; i < count; i++) {
    double volume = 0;
    if (ds_sets_root(t->set, at[i].tet) != at[i].tet) continue;
    for (int32_t j = 0; j < count; j++)
      if (ds_sets_root(t->set, at[j].tet) == at[i].tet) volume += volume_of(t->tets, at[j].tet);
    if (volume > largest) largest = volume, best = at[i].tet;
  }
  for (int32_t i = 0; i < count; i++)
    if (ds_sets_root(t->set, at[i].tet) != best) t->gone[at[i].tet] = true;
}

/* How many tetrahedra stay. */
static int32_t sweep_up(trimmer *t) {
  int32_t kept = 0;
  for (int32_t i = 0; i < t->tets->tet_count; i++) {
    if (t->gone[i]) continue;
    for (int k = 0; k < 4; k++) t->tets->tets[4 * (int64_t)kept + k] = t->tets->tets[4 * (int64_t)i + k];
    kept++;
  }
  return t->tets->tet_count = kept;
}

static ds_status drop_pinched(trimmer *t, ds_error *error) {
  for (;;) {
    ds_status status = ds_tets_pair(t->twin, t->tets, error);
    if (status != DS_OK) return status;
    find_pinched(t);
    if (t->key_count == 0) return DS_OK;
    int32_t count = 0;
    for (int32_t i = 0; i < t->tets->tet_count; i++) {
      const int32_t *v = t->tets->tets + 4 * (int64_t)i;
      t->gone[i] = false;
      for (int e = 0; e < 6; e++) {
        int32_t edge = find_key(t, key_of(v[edge_ends[e][0]], v[edge_ends[e][1]]));
        if (edge >= 0) t->around[count++] = (around){edge, i};
      }
    }
    qsort(t->around, (size_t)count, sizeof *t->around, compare_around);
    for (int32_t first = 0, end; first < count; first = end) {
      for (end = first + 1; end < count && t->around[end].edge == t->around[first].edge;) end++;
      drop_fans(t, t->around + first, end - first);
    }
    sweep_up(t);
  }
}

static void drop_crumbs(trimmer *t, double least) {
  double *volume = (double *)t->keys; /* room for one a tetrahedron */
  int32_t n = t->tets->tet_count;
  ds_sets_single(t->set, n);
  for (int32_t f = 0; f < 4 * n; f++)
    if (t->twin[f] >= 0) ds_sets_join(t->set, f / 4, t->twin[f] / 4);
  for (int32_t i = 0; i < n; i++) volume[i] = 0;
  for (int32_t i = 0; i < n; i++) volume[ds_sets_root(t->set, i)] += volume_of(t->tets, i);
  for (int32_t i = 0; i < n; i++) t->gone[i] = volume[ds_sets_root(t->set, i)] < least;
  sweep_up(t);
}

static bool drop_nodes(ds_tets *tets) {
  int32_t *number = malloc((size_t)tets->node_count * sizeof *number + 1), kept = 0;
  if (!number) return false;
  for (int32_t i = 0; i < tets->node_count; i++) number[i] = -1;
  for (int64_t k = 0; k < 4 * (int64_t)tets->tet_count; k++) number[tets->tets[k]] = 0;
  for (int32_t i = 0; i < tets->node_count; i++)
    if (number[i] == 0) tets->nodes[kept] = tets->nodes[i], number[i] = kept++;
  for (int64_t k = 0; k < 4 * (int64_t)tets->tet_count; k++) tets->tets[k] = number[tets->tets[k]];
  tets->node_count = kept;
  free(number);
  return true;
}

ds_status ds_stuffing_trim(ds_tets *tets, double least, ds_error *error) {
  size_t n = (size_t)tets->tet_count + 1;
  trimmer t = {.tets = tets,
               .twin = malloc(4 * n * sizeof *t.twin),
               .gone = malloc(n * sizeof *t.gone),
               .keys = malloc(12 * n * sizeof *t.keys),
               .around = malloc(6 * n * sizeof *t.around),
               .set = malloc(n * sizeof *t.set)};
  bool ok = t.twin && t.gone && t.keys && t.around && t.set;
  ds_status status = ok ? drop_pinched(&t, error) : DS_ERROR_MEMORY;
  if (status == DS_OK) drop_crumbs(&t, least);
  if (status == DS_OK && !drop_nodes(tets)) status = DS_ERROR_MEMORY;
  if (status == DS_ERROR_MEMORY) ds_fail(error, status, "memory ran out while filling a surface");
  free(t.twin);
  free(t.gone);
  free(t.keys);
  free(t.around);
  free(t.set);
  return status;
}
