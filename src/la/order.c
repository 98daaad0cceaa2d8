/* Minimum degree by quotient graph, with the approximate external degree of Amestoy, Davis and Duff (1996):
 *
 *   d_i <= |A_i| + |L_p \ i| + sum over elements e of i, e != p, of |L_e \ L_p|.
 *
 * A_i are the nodes still joined to i by original edges, E_i the elements (eliminated nodes) that i belongs to, L_e the
 * nodes of element e. When p is eliminated its elements are absorbed into the new element p. A_i and E_i together never
 * grow, so they share one array; the L_p are the columns of the factor. Ties go to the node that got its degree last:
 * deterministic. Nodes may come in classes that are eliminated one after the other: only the nodes of the current class
 * wait in the buckets. */
#include "la/order.h"

#include <string.h>

#include "la/dissect.h"

typedef struct graph {
  int32_t n;
  int32_t *begin;                      /* n: start of a node's list in `list` */
  int32_t *element_count, *node_count; /* a node's list: its elements first, then its nodes */
  int32_t *list;
  int32_t *element_begin, *element_end; /* of element e = node e in `column` */
  int32_t *column;
  int32_t column_used, column_capacity;
  bool *gone;     /* eliminated */
  bool *absorbed; /* element that is part of a newer one */
  int32_t *degree, *head, *next, *previous;
  int32_t *mark, stamp;
  int32_t *outside, *outside_stamp; /* |L_e \ L_p| of the current pivot */
  const int32_t *class_of;          /* NULL: one class */
  int32_t current;
} graph;

static void bucket_insert(graph *g, int32_t i) {
  int32_t d = g->degree[i];
  g->next[i] = g->head[d];
  g->previous[i] = -1;
  if (g->head[d] >= 0) g->previous[g->head[d]] = i;
  g->head[d] = i;
}

static void bucket_remove(graph *g, int32_t i) {
  if (g->previous[i] >= 0)
    g->next[g->previous[i]] = g->next[i];
  else
    g->head[g->degree[i]] = g->next[i];
  if (g->next[i] >= 0) g->previous[g->next[i]] = g->previous[i];
}

/* Adjacency lists without loops and repeats. */
static bool build(ds_arena *arena, graph *g, const int32_t *pairs, int32_t pair_count, int32_t n) {
  memset(g, 0, sizeof *g);
  g->n = n;
  g->begin = DS_NEW0(arena, int32_t, n + 1);
  g->element_count = DS_NEW0(arena, int32_t, n);
  g->node_count = DS_NEW0(arena, int32_t, n);
  g->list = DS_NEW(arena, int32_t, 2 * (size_t)pair_count + 1);
  g->element_begin = DS_NEW(arena, int32_t, n);
  g->element_end = DS_NEW(arena, int32_t, n);
  g->gone = DS_NEW0(arena, bool, n);
  g->absorbed = DS_NEW0(arena, bool, n);
  g->degree = DS_NEW(arena, int32_t, n);
  g->head = DS_NEW(arena, int32_t, n + 1);
  g->next = DS_NEW(arena, int32_t, n);
  g->previous = DS_NEW(arena, int32_t, n);
  g->mark = DS_NEW0(arena, int32_t, n);
  g->outside = DS_NEW(arena, int32_t, n);
  g->outside_stamp = DS_NEW0(arena, int32_t, n);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < pair_count; k++) {
    int32_t i = pairs[2 * k], j = pairs[2 * k + 1];
    if (i != j) g->begin[i + 1]++, g->begin[j + 1]++;
  }
  for (int32_t i = 0; i < n; i++) g->begin[i + 1] += g->begin[i];
  for (int32_t k = 0; k < pair_count; k++) {
    int32_t i = pairs[2 * k], j = pairs[2 * k + 1];
    if (i == j) continue;
    g->list[g->begin[i] + g->node_count[i]++] = j;
    g->list[g->begin[j] + g->node_count[j]++] = i;
  }
  for (int32_t i = 0; i < n; i++) { /* repeats out */
    int32_t *a = g->list + g->begin[i], kept = 0;
    g->stamp++;
    for (int32_t k = 0; k < g->node_count[i]; k++) {
      if (g->mark[a[k]] == g->stamp) continue;
      g->mark[a[k]] = g->stamp;
      a[kept++] = a[k];
    }
    g->node_count[i] = kept;
  }
  return true;
}

/* L_p = nodes of p and of its elements, appended to `column`; p's elements are absorbed. */
static bool form_element(ds_arena *arena, graph *g, int32_t p) {
  int32_t need = g->column_used + g->n;
  if (need > g->column_capacity) {
    int32_t capacity = 2 * g->column_capacity > need ? 2 * g->column_capacity : need;
    int32_t *grown = DS_NEW(arena, int32_t, capacity);
    if (!grown) return false;
    if (g->column_used > 0) memcpy(grown, g->column, (size_t)g->column_used * sizeof *grown);
    g->column = grown;
    g->column_capacity = capacity;
  }
  int32_t *list = g->list + g->begin[p], end = g->column_used;
  g->stamp++;
  g->mark[p] = g->stamp;
  for (int32_t k = 0; k < g->element_count[p]; k++) {
    int32_t e = list[k];
    for (int32_t s = g->element_begin[e]; s < g->element_end[e]; s++) {
      int32_t i = g->column[s];
      if (g->gone[i] || g->mark[i] == g->stamp) continue;
      g->mark[i] = g->stamp;
      g->column[end++] = i;
    }
    g->absorbed[e] = true;
  }
  for (int32_t k = g->element_count[p]; k < g->element_count[p] + g->node_count[p]; k++) {
    int32_t i = list[k];
    if (g->gone[i] || g->mark[i] == g->stamp) continue;
    g->mark[i] = g->stamp;
    g->column[end++] = i;
  }
  g->element_begin[p] = g->column_used;
  g->element_end[p] = end;
  g->column_used = end;
  return true;
}

/* |L_e \ L_p| for every element e that touches L_p */
static void count_outside(graph *g, int32_t p) {
  for (int32_t s = g->element_begin[p]; s < g->element_end[p]; s++) {
    int32_t i = g->column[s], *list = g->list + g->begin[i];
    for (int32_t k = 0; k < g->element_count[i]; k++) {
      int32_t e = list[k];
      if (g->absorbed[e]) continue;
      if (g->outside_stamp[e] != g->stamp) {
        g->outside_stamp[e] = g->stamp;
        g->outside[e] = 0;
        for (int32_t t = g->element_begin[e]; t < g->element_end[e]; t++) g->outside[e] += !g->gone[g->column[t]];
      }
      g->outside[e]--;
    }
  }
}

/* Lists and degrees of the nodes of L_p after p has become an element. */
static void update_nodes(graph *g, int32_t p, int32_t remaining) {
  int32_t size = g->element_end[p] - g->element_begin[p];
  for (int32_t s = g->element_begin[p]; s < g->element_end[p]; s++) {
    int32_t i = g->column[s], *list = g->list + g->begin[i];
    int32_t elements = g->element_count[i], nodes = g->node_count[i], kept = 0;
    int64_t degree = size - 1;
    for (int32_t k = 0; k < elements; k++) {
      if (g->absorbed[list[k]]) continue;
      degree += g->outside[list[k]];
      list[kept++] = list[k];
    }
    int32_t kept_elements = kept, kept_nodes = 0;
    for (int32_t k = elements; k < elements + nodes; k++) {
      int32_t j = list[k];
      if (g->gone[j] || g->mark[j] == g->stamp) continue; /* p itself, or joined through element p now */
      list[kept + kept_nodes++] = j;
    }
    /* room for p: something was dropped, see the head of the file */
    memmove(list + kept_elements + 1, list + kept_elements, (size_t)kept_nodes * sizeof *list);
    list[kept_elements] = p;
    g->element_count[i] = kept_elements + 1;
    g->node_count[i] = kept_nodes;
    degree += kept_nodes;
    if (degree > remaining - 1) degree = remaining - 1;
    bool waits = !g->class_of || g->class_of[i] == g->current;
    if (waits) bucket_remove(g, i);
    g->degree[i] = (int32_t)degree;
    if (waits) bucket_insert(g, i);
  }
}

bool ds_minimum_degree(ds_arena *arena, ds_elimination *out, const int32_t *pairs, int32_t pair_count, int32_t n,
                       const int32_t *class_of, int32_t classes) {
  graph g;
  out->order = DS_NEW(arena, int32_t, n + 1);
  out->start = DS_NEW(arena, int32_t, n + 1);
  if (!build(arena, &g, pairs, pair_count, n)) return false;
  g.class_of = class_of;
  for (int32_t d = 0; d <= n; d++) g.head[d] = -1;
  for (int32_t i = 0; i < n; i++) g.degree[i] = g.node_count[i];
  int32_t done = 0;
  for (g.current = 0; g.current < classes; g.current++) {
    int32_t left = 0;
    for (int32_t i = n - 1; i >= 0; i--) {
      if (class_of && class_of[i] != g.current) continue;
      bucket_insert(&g, i);
      left++;
    }
    for (; left > 0; left--, done++) {
      int32_t lowest = 0;
      while (g.head[lowest] < 0) lowest++;
      int32_t p = g.head[lowest];
      bucket_remove(&g, p);
      if (!form_element(arena, &g, p)) return false;
      g.gone[p] = true;
      count_outside(&g, p);
      update_nodes(&g, p, n - done - 1);
      out->order[done] = p;
      out->start[done] = g.element_begin[p];
    }
  }
  out->start[n] = g.column_used;
  out->column = g.column;
  return true;
}

/* Multiplications of a factorization with blocks of one. */
static double elimination_work(const ds_elimination *e, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) {
    double length = e->start[k + 1] - e->start[k] + 1;
    sum += length * length;
  }
  return sum;
}

/* Dissection takes about 5 microseconds per node and saves a third of the work or more of large piles; measured there,
 * it pays from about 1,000 rigid bodies on. */
static const double DISSECTED_WORK = 4e6;

bool ds_eliminate(ds_arena *arena, ds_elimination *out, const int32_t *pairs, int32_t pair_count, int32_t n) {
  if (!ds_minimum_degree(arena, out, pairs, pair_count, n, NULL, 1)) return false;
  if (elimination_work(out, n) < DISSECTED_WORK) return true;
  int32_t *class_of = DS_NEW(arena, int32_t, n + 1), classes;
  if (!class_of || !ds_dissect(arena, class_of, &classes, pairs, pair_count, n)) return false;
  if (classes == 1) return true;
  ds_elimination other;
  if (!ds_minimum_degree(arena, &other, pairs, pair_count, n, class_of, classes)) return false;
  if (elimination_work(&other, n) < elimination_work(out, n)) *out = other;
  return true;
}
