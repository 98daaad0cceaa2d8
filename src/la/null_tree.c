#include "la/null_tree.h"

#include <math.h>
#include <string.h>

/* Blocks that one front eliminates at once: 8, 16 and 32 took the same time for a bridge of 200 planks. Smaller systems
 * are eliminated as a whole. */
enum { LEAF = 16 };

/* ---- which blocks belong together ---- */

/* Blocks by their distance from a block at the far end of what is joined: halves of that order share few rows. */
typedef struct graph {
  int32_t *start, *neighbour; /* of every block, its neighbours */
  int32_t *order;             /* the blocks in order */
  bool *seen;
  int32_t count; /* blocks */
} graph;

static bool make_graph(ds_arena *arena, graph *g, const ds_null_row *rows, int32_t row_count) {
  g->start = DS_NEW0(arena, int32_t, g->count + 2);
  g->neighbour = DS_NEW(arena, int32_t, 2 * (size_t)row_count + 1);
  g->order = DS_NEW(arena, int32_t, g->count + 1);
  g->seen = DS_NEW(arena, bool, g->count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t k = 0; k < row_count; k++) {
      int32_t a = rows[k].at[0], b = rows[k].at[1];
      bool same = k > 0 && rows[k - 1].at[0] == a && rows[k - 1].at[1] == b;
      if (a < 0 || b < 0 || same) continue;
      a /= DS_NULL_BLOCK, b /= DS_NULL_BLOCK;
      if (pass == 0) {
        g->start[a + 2]++, g->start[b + 2]++;
      } else {
        g->neighbour[g->start[a + 1]++] = b;
        g->neighbour[g->start[b + 1]++] = a;
      }
    }
    for (int32_t i = 0; i < g->count && pass == 0; i++) g->start[i + 2] += g->start[i + 1];
  }
  return true;
}

/* Breadth first; what is not joined to the first block at all comes after it. */
static void walk(graph *g, int32_t first) {
  int32_t end = 0;
  memset(g->seen, 0, (size_t)g->count * sizeof(bool));
  for (int32_t next = -1; next < g->count; next++) {
    int32_t root = next < 0 ? first : next, at = end;
    if (g->seen[root]) continue;
    g->order[end++] = root;
    g->seen[root] = true;
    for (; at < end; at++)
      for (int32_t k = g->start[g->order[at]]; k < g->start[g->order[at] + 1]; k++) {
        int32_t to = g->neighbour[k];
        if (g->seen[to]) continue;
        g->seen[to] = true;
        g->order[end++] = to;
      }
  }
}

/* ---- the tree of halves ---- */

/* Front [begin, end) of the order, children first; returns its index. */
static int32_t halve(ds_null_tree *t, const int32_t *order, int32_t begin, int32_t end) {
  if (end - begin <= LEAF) {
    for (int32_t i = begin; i < end; i++) t->leaf[order[i]] = t->front_count;
  } else {
    int32_t middle = begin + (end - begin) / 2, one = halve(t, order, begin, middle),
            two = halve(t, order, middle, end);
    t->fronts[one].parent = t->fronts[two].parent = t->front_count;
  }
  t->fronts[t->front_count].parent = -1;
  return t->front_count++;
}

/* The front in which a row is eliminated: the first that has all its blocks. */
static int32_t front_of(const ds_null_tree *t, const ds_null_row *row) {
  int32_t one = row->at[0] >= 0 ? t->leaf[row->at[0] / DS_NULL_BLOCK] : -1;
  int32_t two = row->at[1] >= 0 ? t->leaf[row->at[1] / DS_NULL_BLOCK] : -1;
  if (one < 0 || two < 0) return one < 0 ? two : one;
  while (one != two) { /* a parent comes after its children */
    if (one < two)
      one = t->fronts[one].parent;
    else
      two = t->fronts[two].parent;
  }
  return one;
}

/* Each front's list of rows, in the order given. */
static bool deal_out(ds_arena *arena, ds_null_tree *t, const ds_null_row *rows, int32_t row_count) {
  for (int pass = 0; pass < 2; pass++) { /* count, then fill */
    for (int32_t f = 0; f < t->front_count; f++) {
      if (pass == 1 && !(t->fronts[f].row = DS_NEW(arena, int32_t, t->fronts[f].rows + 1))) return false;
      t->fronts[f].rows = 0;
    }
    for (int32_t k = 0; k < row_count; k++) {
      int32_t f = front_of(t, &rows[k]);
      if (f < 0) continue; /* it touches nothing */
      if (pass == 1) t->fronts[f].row[t->fronts[f].rows] = k;
      t->fronts[f].rows++;
    }
  }
  return true;
}

/* Its coordinates: of a leaf those of its blocks, else what its children leave free. */
static bool place_front(ds_arena *arena, ds_null_tree *t, int32_t f, int32_t blocks) {
  ds_null_front *front = &t->fronts[f];
  bool is_leaf = true;
  for (int pass = 0; pass < 2; pass++) {
    int32_t width = 0;
    for (int32_t c = 0; c < f; c++) {
      const ds_null_front *child = &t->fronts[c];
      if (child->parent != f) continue;
      is_leaf = false;
      for (int32_t i = child->space.rank; i < child->width; i++, width++)
        if (pass == 1) front->place[width] = child->place[i];
    }
    for (int32_t b = 0; b < blocks && is_leaf; b++)
      for (int32_t i = 0; t->leaf[b] == f && i < DS_NULL_BLOCK; i++, width++)
        if (pass == 1) front->place[width] = DS_NULL_BLOCK * b + i;
    if (pass == 0 && !(front->place = DS_NEW(arena, int32_t, width + 1))) return false;
    front->width = width;
  }
  return true;
}

/* ---- one front ---- */

static void front_enter(double *x, const ds_null_front *front, double *local) {
  for (int32_t i = 0; i < front->width; i++) local[i] = x[front->place[i]];
  ds_null_space_enter(local, &front->space);
  for (int32_t i = 0; i < front->width; i++) x[front->place[i]] = local[i];
}

/* Lists the fronts below f that its rows go through; offset: of a front, its first column in `left`, or -1. */
static bool list_path(ds_arena *arena, ds_null_tree *t, int32_t f, int32_t *offset, const ds_null_row *rows) {
  ds_null_front *front = &t->fronts[f];
  front->below = DS_NEW(arena, int32_t, f + 1);
  if (!front->below) return false;
  for (int32_t g = 0; g < f; g++) offset[g] = -1;
  for (int32_t k = 0; k < front->rows; k++)
    for (int side = 0; side < 2; side++) {
      int32_t at = rows[front->row[k]].at[side];
      for (int32_t g = at < 0 ? f : t->leaf[at / DS_NULL_BLOCK]; g != f && offset[g] < 0; g = t->fronts[g].parent) {
        offset[g] = front->spread;
        front->spread += t->fronts[g].space.rank;
        front->below[front->path++] = g;
      }
    }
  front->left = DS_NEW0(arena, double, (size_t)front->rows *(size_t)front->spread + 1);
  return front->left != NULL;
}

/* Row k of a front in the coordinates that fronts below leave; x is zero before and after. Returns its norm. */
static double row_in_front(double *out, ds_null_tree *t, int32_t f, int32_t k, const int32_t *offset, double *x,
                           const ds_null_row *row) {
  ds_null_front *front = &t->fronts[f];
  double squares = 0;
  for (int side = 0; side < 2; side++)
    for (int32_t i = 0; i < DS_NULL_BLOCK && row->at[side] >= 0; i++) {
      x[row->at[side] + i] = row->value[side][i];
      squares += row->value[side][i] * row->value[side][i];
    }
  for (int side = 0; side < 2; side++) {
    if (row->at[side] < 0) continue;
    for (int32_t g = t->leaf[row->at[side] / DS_NULL_BLOCK]; g != f; g = t->fronts[g].parent) {
      const ds_null_front *below = &t->fronts[g];
      front_enter(x, below, t->local);
      for (int32_t i = 0; i < below->space.rank; i++) {
        front->left[(size_t)k * (size_t)front->spread + (size_t)(offset[g] + i)] = x[below->place[i]];
        x[below->place[i]] = 0;
      }
    }
  }
  for (int32_t i = 0; i < front->width; i++) {
    out[i] = x[front->place[i]];
    x[front->place[i]] = 0;
  }
  return sqrt(squares);
}

static bool build_front(ds_arena *arena, ds_null_tree *t, int32_t f, int32_t *offset, double *x,
                        const ds_null_row *rows) {
  ds_null_front *front = &t->fronts[f];
  if (!list_path(arena, t, f, offset, rows)) return false;
  if (!ds_null_space_new(arena, &front->space, front->width, front->rows)) return false;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  size_t width = (size_t)front->width;
  double *a = DS_NEW(arena, double, (size_t)front->rows *width + 1), *work = DS_NEW(arena, double, 2 * front->rows + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < front->rows; k++)
    work[k] = row_in_front(a + (size_t)k * width, t, f, k, offset, x, &rows[front->row[k]]);
  ds_null_space_build(&front->space, a, work, front->rows);
  ds_arena_release(arena, mark);
  front->first = t->rank;
  for (int32_t i = 0; i < front->space.rank; i++) {
    t->row[t->rank] = front->row[front->space.row[i]];
    t->order[t->rank++] = front->place[i];
  }
  return true;
}

bool ds_null_tree_build(ds_arena *arena, ds_null_tree *t, const ds_null_row *rows, int32_t row_count, int32_t n) {
  int32_t blocks = row_count > 0 ? n / DS_NULL_BLOCK : 0, end = 0;
  graph g = {.count = blocks};
  *t = (ds_null_tree){.n = n};
  t->fronts = DS_NEW0(arena, ds_null_front, 2 * (size_t)blocks + 1);
  t->row = DS_NEW(arena, int32_t, row_count + 1);
  t->order = DS_NEW(arena, int32_t, n + 1);
  t->leaf = DS_NEW(arena, int32_t, blocks + 1);
  t->work = DS_NEW(arena, double, n + 1);
  t->local = DS_NEW(arena, double, (size_t)n + (size_t)row_count + 1);
  bool *fixed = DS_NEW0(arena, bool, n + 1);
  double *x = DS_NEW0(arena, double, n + 1);
  int32_t *offset = DS_NEW(arena, int32_t, 2 * (size_t)blocks + 1);
  if (ds_arena_failed(arena) || !make_graph(arena, &g, rows, row_count)) return false;
  if (blocks > 0) {
    walk(&g, 0);
    walk(&g, g.order[blocks - 1]);
    halve(t, g.order, 0, blocks);
    if (!deal_out(arena, t, rows, row_count)) return false;
  }
  for (int32_t f = 0; f < t->front_count; f++)
    if (!place_front(arena, t, f, blocks) || !build_front(arena, t, f, offset, x, rows)) return false;
  for (int32_t i = 0; i < t->rank; i++) fixed[t->order[i]] = true;
  for (int32_t i = 0; i < n; i++)
    if (!fixed[i]) t->order[t->rank + end++] = i;
  return true;
}

/* ---- products and solves ---- */

void ds_null_tree_enter(double *x, const ds_null_tree *t) {
  if (t->rank == 0) return;
  for (int32_t f = 0; f < t->front_count; f++) front_enter(x, &t->fronts[f], t->local);
  memcpy(t->work, x, (size_t)t->n * sizeof(double));
  for (int32_t i = 0; i < t->n; i++) x[i] = t->work[t->order[i]];
}

void ds_null_tree_free_part(double *w, const ds_null_tree *t, int32_t block, int32_t i) {
  memset(t->work, 0, (size_t)t->n * sizeof(double));
  t->work[DS_NULL_BLOCK * block + i] = 1;
  for (int32_t f = t->leaf[block]; f >= 0; f = t->fronts[f].parent) front_enter(t->work, &t->fronts[f], t->local);
  for (int32_t k = t->rank; k < t->n; k++) w[k - t->rank] = t->work[t->order[k]];
}

void ds_null_tree_leave(double *x, const ds_null_tree *t) {
  if (t->rank == 0) return;
  memcpy(t->work, x, (size_t)t->n * sizeof(double));
  for (int32_t i = 0; i < t->n; i++) x[t->order[i]] = t->work[i];
  for (int32_t f = t->front_count - 1; f >= 0; f--) {
    const ds_null_front *front = &t->fronts[f];
    for (int32_t i = 0; i < front->width; i++) t->local[i] = x[front->place[i]];
    ds_null_space_leave(t->local, &front->space);
    for (int32_t i = 0; i < front->width; i++) x[front->place[i]] = t->local[i];
  }
}

void ds_null_tree_solve(double *y, const ds_null_tree *t, const double *c) {
  for (int32_t f = 0; f < t->front_count; f++) {
    const ds_null_front *front = &t->fronts[f];
    for (int32_t k = 0; k < front->rows; k++) {
      const double *left = front->left + (size_t)k * (size_t)front->spread;
      double sum = c[front->row[k]];
      for (int32_t p = 0; p < front->path; p++) {
        const ds_null_front *below = &t->fronts[front->below[p]];
        for (int32_t i = 0; i < below->space.rank; i++) sum -= *left++ * y[below->first + i];
      }
      t->local[k] = sum;
    }
    ds_null_space_solve(y + front->first, &front->space, t->local);
  }
}
