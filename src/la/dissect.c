/* Multilevel vertex separators. A graph is made coarser by joining matched neighbours until it is small, split there by
 * the levels of a breadth-first search, and the split is carried back, improved on every level as Fiduccia and
 * Mattheyses do: a node leaves the separator for one side, its neighbours on the other side enter; the best state of a
 * run of such moves is kept, each node moving once. All choices are by weight, then by number: deterministic. */
#include "la/dissect.h"

#include <string.h>

enum {
  SMALLEST = 100,  /* nodes: below, minimum degree is as good */
  COARSEST = 50,   /* nodes at which to stop joining */
  STARTS = 8,      /* first splits tried */
  PASSES = 6,      /* of improvement, on every level */
  PATIENCE = 60,   /* moves without improvement before a pass ends */
  LEVELS_MAX = 20, /* of coarseness */
};

enum { LEFT, RIGHT, MIDDLE }; /* MIDDLE: the separator */

typedef struct graph {
  int32_t n;
  int32_t *start, *neighbour; /* n + 1, start[n] */
  int32_t *edges;             /* number of edges of the finest graph in an edge */
  int32_t *weight;            /* number of nodes of the finest graph in a node */
  int32_t total;
} graph;

typedef struct split {
  int32_t *side;     /* of a node */
  int32_t weight[3]; /* of the sides */
} split;

/* The heavier side has at most three fifths, so that the tree does not degenerate. */
static bool balanced(const int32_t weight[3], int32_t total) {
  int32_t heavier = weight[LEFT] > weight[RIGHT] ? weight[LEFT] : weight[RIGHT];
  return 5 * (int64_t)heavier <= 3 * (int64_t)total + 5;
}

/* Less separator first, then less difference. */
static bool better(const int32_t a[3], const int32_t b[3], int32_t total) {
  bool good = balanced(a, total), other = balanced(b, total);
  int32_t da = a[LEFT] > a[RIGHT] ? a[LEFT] - a[RIGHT] : a[RIGHT] - a[LEFT];
  int32_t db = b[LEFT] > b[RIGHT] ? b[LEFT] - b[RIGHT] : b[RIGHT] - b[LEFT];
  if (good != other) return good;
  if (!good) return da < db;
  return a[MIDDLE] != b[MIDDLE] ? a[MIDDLE] < b[MIDDLE] : da < db;
}

/* What the separator loses when node i goes to `side`. */
static int32_t gain_of(const graph *g, const split *s, int32_t i, int32_t side) {
  int32_t gain = g->weight[i];
  for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
    if (s->side[g->neighbour[e]] == (side == LEFT ? RIGHT : LEFT)) gain -= g->weight[g->neighbour[e]];
  return gain;
}

static void put(const graph *g, split *s, int32_t i, int32_t side) {
  s->weight[s->side[i]] -= g->weight[i];
  s->weight[side] += g->weight[i];
  s->side[i] = side;
}

typedef struct refiner {
  int32_t *middle, middle_count; /* nodes of the separator, some of which may have left */
  bool *listed, *moved;
  int32_t *log, *log_side, logged; /* nodes in the order they changed, and where they were */
} refiner;

static void change(refiner *r, const graph *g, split *s, int32_t i, int32_t side) {
  r->log[r->logged] = i;
  r->log_side[r->logged++] = s->side[i];
  put(g, s, i, side);
  if (side == MIDDLE && !r->listed[i]) {
    r->listed[i] = true;
    r->middle[r->middle_count++] = i;
  }
}

/* The best move that keeps the balance, or mends it; false if there is none. */
static bool choose(const refiner *r, const graph *g, const split *s, int32_t *node, int32_t *to) {
  int32_t best = INT32_MIN, best_lighter = 0;
  for (int32_t m = 0; m < r->middle_count; m++) {
    int32_t i = r->middle[m];
    if (s->side[i] != MIDDLE || r->moved[i]) continue;
    for (int32_t side = LEFT; side <= RIGHT; side++) {
      int32_t gain = gain_of(g, s, i, side), other = side == LEFT ? RIGHT : LEFT;
      int32_t after[3] = {0, 0, s->weight[MIDDLE] - gain};
      after[side] = s->weight[side] + g->weight[i];
      after[other] = s->weight[other] + gain - g->weight[i];
      int32_t lighter = s->weight[other] - s->weight[side];
      if (!balanced(after, g->total) && lighter <= 0) continue;
      if (gain > best || (gain == best && lighter > best_lighter)) {
        best = gain, best_lighter = lighter;
        *node = i, *to = side;
      }
    }
  }
  return best > INT32_MIN;
}

/* One pass: moves until nothing gets better for a while, then back to the best state. */
static bool improve(refiner *r, const graph *g, split *s) {
  int32_t best[3], at_best = 0, since = 0, node = 0, to = 0;
  bool improved = false;
  memcpy(best, s->weight, sizeof best);
  r->logged = r->middle_count = 0;
  for (int32_t i = 0; i < g->n; i++) {
    r->moved[i] = false;
    r->listed[i] = s->side[i] == MIDDLE;
    if (r->listed[i]) r->middle[r->middle_count++] = i;
  }
  /* a node enters the separator at most once after each of its neighbours' moves: the log has room for all */
  while (since < PATIENCE && choose(r, g, s, &node, &to)) {
    r->moved[node] = true;
    change(r, g, s, node, to);
    for (int32_t e = g->start[node]; e < g->start[node + 1]; e++)
      if (s->side[g->neighbour[e]] == (to == LEFT ? RIGHT : LEFT)) change(r, g, s, g->neighbour[e], MIDDLE);
    since++;
    if (better(s->weight, best, g->total)) {
      memcpy(best, s->weight, sizeof best);
      at_best = r->logged;
      since = 0;
      improved = true;
    }
  }
  while (r->logged > at_best) {
    r->logged--;
    put(g, s, r->log[r->logged], r->log_side[r->logged]);
  }
  return improved;
}

static bool refine(ds_arena *arena, const graph *g, split *s) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  refiner r = {.middle = DS_NEW(arena, int32_t, g->n + 1)};
  size_t changes = (size_t)g->n + (size_t)g->start[g->n] + 1;
  r.listed = DS_NEW(arena, bool, g->n + 1);
  r.moved = DS_NEW(arena, bool, g->n + 1);
  r.log = DS_NEW(arena, int32_t, changes);
  r.log_side = DS_NEW(arena, int32_t, changes);
  if (ds_arena_failed(arena)) return false;
  for (int32_t pass = 0; pass < PASSES && improve(&r, g, s); pass++) continue;
  ds_arena_release(arena, mark);
  return true;
}

/* Levels of a breadth-first search from `from`, going on with the next part where the graph falls apart; the last node
 * reached. */
static int32_t search(const graph *g, int32_t *level, int32_t *queue, int32_t from) {
  int32_t head = 0, tail = 0, unseen = 0;
  for (int32_t i = 0; i < g->n; i++) level[i] = -1;
  level[from] = 0;
  queue[tail++] = from;
  while (head < g->n) {
    if (head == tail) {
      while (level[unseen] >= 0) unseen++;
      level[unseen] = level[queue[tail - 1]] + 1;
      queue[tail++] = unseen;
    }
    int32_t i = queue[head++];
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
      int32_t j = g->neighbour[e];
      if (level[j] >= 0) continue;
      level[j] = level[i] + 1;
      queue[tail++] = j;
    }
  }
  return queue[tail - 1];
}

/* Left are the levels that hold less than half of the weight, the middle is the next, right the rest. */
static void split_by_levels(split *s, const graph *g, const int32_t *level, const int32_t *queue) {
  int32_t sum = 0, cut = 0;
  for (int32_t k = 0; k < g->n && 2 * sum < g->total; k++) { /* levels ascend in the queue */
    sum += g->weight[queue[k]];
    cut = level[queue[k]];
  }
  memset(s->weight, 0, sizeof s->weight);
  for (int32_t i = 0; i < g->n; i++) {
    s->side[i] = level[i] > cut ? RIGHT : level[i] == cut ? MIDDLE : LEFT;
    s->weight[s->side[i]] += g->weight[i];
  }
}

static bool first_split(ds_arena *arena, split *s, const graph *g) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  int32_t *level = DS_NEW(arena, int32_t, g->n + 1), *queue = DS_NEW(arena, int32_t, g->n + 1);
  split trial = {.side = DS_NEW(arena, int32_t, g->n + 1)};
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < STARTS; k++) {
    int32_t from = (int32_t)((int64_t)k * g->n / STARTS);
    if (k % 2 == 0) from = search(g, level, queue, from); /* from an end of the graph */
    search(g, level, queue, from);
    split_by_levels(&trial, g, level, queue);
    if (!refine(arena, g, &trial)) return false;
    if (k > 0 && !better(trial.weight, s->weight, g->total)) continue;
    memcpy(s->side, trial.side, (size_t)g->n * sizeof *s->side);
    memcpy(s->weight, trial.weight, sizeof s->weight);
  }
  ds_arena_release(arena, mark);
  return true;
}

/* Every node with the unmatched neighbour that most edges lead to, light nodes first choice. into[i] = its coarse node
 */
static int32_t match(int32_t *into, const graph *g) {
  int32_t count = 0;
  for (int32_t i = 0; i < g->n; i++) into[i] = -1;
  for (int32_t i = 0; i < g->n; i++) {
    if (into[i] >= 0) continue;
    int32_t best = -1, most = 0;
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
      int32_t j = g->neighbour[e];
      if (into[j] >= 0 || j == i || 10 * (g->weight[i] + g->weight[j]) > g->total) continue;
      if (best < 0 || g->edges[e] > most || (g->edges[e] == most && g->weight[j] < g->weight[best]))
        best = j, most = g->edges[e];
    }
    into[i] = count;
    if (best >= 0) into[best] = count;
    count++;
  }
  return count;
}

static bool new_graph(ds_arena *arena, graph *g, int32_t n, size_t edges) {
  g->n = n;
  g->start = DS_NEW0(arena, int32_t, n + 1);
  g->weight = DS_NEW0(arena, int32_t, n + 1);
  g->neighbour = DS_NEW(arena, int32_t, edges + 1);
  g->edges = DS_NEW(arena, int32_t, edges + 1);
  return !ds_arena_failed(arena);
}

/* The graph with matched nodes joined. */
static bool coarsen(ds_arena *arena, graph *coarse, const graph *g, const int32_t *into, int32_t count) {
  if (!new_graph(arena, coarse, count, (size_t)g->start[g->n])) return false;
  int32_t *first = DS_NEW(arena, int32_t, count + 1), *second = DS_NEW(arena, int32_t, count + 1);
  int32_t *place = DS_NEW(arena, int32_t, count + 1), used = 0;
  if (ds_arena_failed(arena)) return false;
  for (int32_t c = 0; c < count; c++) first[c] = second[c] = place[c] = -1;
  for (int32_t i = 0; i < g->n; i++) {
    coarse->weight[into[i]] += g->weight[i];
    if (first[into[i]] < 0)
      first[into[i]] = i;
    else
      second[into[i]] = i;
  }
  for (int32_t c = 0; c < count; c++) {
    int32_t members[2] = {first[c], second[c]}, begin = used;
    coarse->start[c] = begin;
    for (int32_t m = 0; m < 2 && members[m] >= 0; m++)
      for (int32_t e = g->start[members[m]]; e < g->start[members[m] + 1]; e++) {
        int32_t d = into[g->neighbour[e]];
        if (d == c) continue;
        if (place[d] < begin) {
          place[d] = used;
          coarse->neighbour[used] = d;
          coarse->edges[used++] = 0;
        }
        coarse->edges[place[d]] += g->edges[e];
      }
  }
  coarse->start[count] = used;
  coarse->total = g->total;
  return true;
}

static bool find_separator(ds_arena *arena, split *s, const graph *finest) {
  graph g[LEVELS_MAX];
  int32_t *into[LEVELS_MAX], top = 0;
  g[0] = *finest;
  while (top + 1 < LEVELS_MAX && g[top].n > COARSEST) {
    into[top] = DS_NEW(arena, int32_t, g[top].n + 1);
    if (!into[top]) return false;
    int32_t count = match(into[top], &g[top]);
    if (10 * count > 9 * g[top].n) break; /* nothing left to match */
    if (!coarsen(arena, &g[top + 1], &g[top], into[top], count)) return false;
    top++;
  }
  split coarse = {.side = DS_NEW(arena, int32_t, finest->n + 1)};
  if (ds_arena_failed(arena) || !first_split(arena, &coarse, &g[top])) return false;
  while (top > 0) {
    top--;
    for (int32_t i = 0; i < g[top].n; i++) s->side[i] = coarse.side[into[top][i]];
    memcpy(s->weight, coarse.weight, sizeof s->weight);
    if (!refine(arena, &g[top], s)) return false;
    memcpy(coarse.side, s->side, (size_t)g[top].n * sizeof *s->side);
    memcpy(coarse.weight, s->weight, sizeof s->weight);
  }
  memcpy(s->side, coarse.side, (size_t)finest->n * sizeof *s->side);
  memcpy(s->weight, coarse.weight, sizeof s->weight);
  return true;
}

typedef struct dissection {
  ds_arena *arena;
  const graph *whole;
  int32_t *class_of, *local; /* local: number within the part at hand, -1 = not in it */
  int32_t classes;
} dissection;

static bool subgraph(ds_arena *arena, graph *g, const dissection *d, const int32_t *nodes, int32_t count) {
  size_t edges = 0;
  for (int32_t k = 0; k < count; k++) edges += (size_t)(d->whole->start[nodes[k] + 1] - d->whole->start[nodes[k]]);
  if (!new_graph(arena, g, count, edges)) return false;
  for (int32_t k = 0; k < count; k++) d->local[nodes[k]] = k;
  int32_t used = 0;
  for (int32_t k = 0; k < count; k++) {
    g->start[k] = used;
    g->weight[k] = d->whole->weight[nodes[k]];
    g->total += g->weight[k];
    for (int32_t e = d->whole->start[nodes[k]]; e < d->whole->start[nodes[k] + 1]; e++) {
      int32_t j = d->local[d->whole->neighbour[e]];
      if (j < 0) continue;
      g->neighbour[used] = j;
      g->edges[used++] = 1;
    }
  }
  g->start[count] = used;
  for (int32_t k = 0; k < count; k++) d->local[nodes[k]] = -1;
  return true;
}

/* Splits the nodes given, and the parts again; sorts them by part. */
static bool dissect(dissection *d, int32_t *nodes, int32_t count) {
  ds_arena_mark mark = ds_arena_get_mark(d->arena);
  graph g = {0};
  split s = {.side = DS_NEW(d->arena, int32_t, count + 1)};
  int32_t *sorted = DS_NEW(d->arena, int32_t, count + 1), size[3] = {0, 0, 0}, fill[3];
  bool whole = count < SMALLEST;
  if (ds_arena_failed(d->arena)) return false;
  if (!whole) {
    if (!subgraph(d->arena, &g, d, nodes, count) || !find_separator(d->arena, &s, &g)) return false;
    /* a separator of a quarter of all nodes saves nothing */
    whole = 4 * s.weight[MIDDLE] > g.total || !balanced(s.weight, g.total);
  }
  if (!whole) {
    for (int32_t k = 0; k < count; k++) size[s.side[k]]++;
    fill[LEFT] = 0, fill[RIGHT] = size[LEFT], fill[MIDDLE] = size[LEFT] + size[RIGHT];
    for (int32_t k = 0; k < count; k++) sorted[fill[s.side[k]]++] = nodes[k];
    memcpy(nodes, sorted, (size_t)count * sizeof *nodes);
  }
  ds_arena_release(d->arena, mark);
  if (!whole && (!dissect(d, nodes, size[LEFT]) || !dissect(d, nodes + size[LEFT], size[RIGHT]))) return false;
  for (int32_t k = whole ? 0 : count - size[MIDDLE]; k < count; k++) d->class_of[nodes[k]] = d->classes;
  d->classes++;
  return true;
}

/* Adjacency without loops and repeats. */
static bool whole_graph(ds_arena *arena, graph *g, const int32_t *pairs, int32_t pair_count, int32_t n) {
  if (!new_graph(arena, g, n, 2 * (size_t)pair_count)) return false;
  int32_t *fill = DS_NEW0(arena, int32_t, n + 1), *mark = DS_NEW0(arena, int32_t, n + 1), used = 0;
  if (ds_arena_failed(arena)) return false;
  for (int32_t q = 0; q < pair_count; q++)
    if (pairs[2 * q] != pairs[2 * q + 1]) g->start[pairs[2 * q] + 1]++, g->start[pairs[2 * q + 1] + 1]++;
  for (int32_t i = 0; i < n; i++) g->start[i + 1] += g->start[i];
  for (int32_t q = 0; q < pair_count; q++) {
    int32_t i = pairs[2 * q], j = pairs[2 * q + 1];
    if (i == j) continue;
    g->neighbour[g->start[i] + fill[i]++] = j;
    g->neighbour[g->start[j] + fill[j]++] = i;
  }
  for (int32_t i = 0, begin = 0; i < n; i++) {
    int32_t end = g->start[i + 1], first = begin;
    begin = end;
    g->start[i] = used;
    for (int32_t e = first; e < end; e++) {
      if (mark[g->neighbour[e]] == i + 1) continue;
      mark[g->neighbour[e]] = i + 1;
      g->neighbour[used++] = g->neighbour[e];
    }
    g->weight[i] = 1;
  }
  g->start[n] = used;
  g->total = n;
  return true;
}

bool ds_dissect(ds_arena *arena, int32_t *class_of, int32_t *classes, const int32_t *pairs, int32_t pair_count,
                int32_t n) {
  memset(class_of, 0, (size_t)n * sizeof *class_of);
  *classes = 1;
  if (n < 2 * SMALLEST) return true;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  graph g = {0};
  dissection d = {.arena = arena, .whole = &g, .class_of = class_of};
  int32_t *nodes = DS_NEW(arena, int32_t, n + 1);
  d.local = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena) || !whole_graph(arena, &g, pairs, pair_count, n)) return false;
  for (int32_t i = 0; i < n; i++) nodes[i] = i, d.local[i] = -1;
  if (!dissect(&d, nodes, n)) return false;
  ds_arena_release(arena, mark);
  *classes = d.classes;
  return true;
}
