/* Analysis of a block-sparse matrix: elimination order, structure of the factor, panels.
 *
 * The order is that of order.h, sorted so that every subtree of the elimination tree is contiguous and the child with
 * the longest column comes right before its parent (an equivalent order: the same fill). Block k and its parent k + 1
 * are joined to one panel where their columns agree, or nearly so: explicit zeros cost less than narrow panels. */
#include <string.h>

#include "base/array.h"
#include "la/block.h"
#include "la/order.h"

enum { WIDEST_PANEL = 48 }; /* columns: a square of them fits the first-level cache */

typedef struct analysis {
  ds_elimination e;
  int32_t n;
  int32_t *parent; /* in the elimination tree, by position; n = none */
  int32_t *start;  /* n + 1: the columns of the factor ... */
  int32_t *row;    /* ... their rows, ascending */
} analysis;

/* Positions after a postorder of the elimination tree: children before parents, the longest child last. */
static bool postorder(ds_arena *arena, analysis *a, int32_t *position) {
  int32_t n = a->n;
  int32_t *rank = DS_NEW(arena, int32_t, n + 1), *child = DS_NEW(arena, int32_t, n + 1);
  int32_t *sibling = DS_NEW(arena, int32_t, n + 1), *stack = DS_NEW(arena, int32_t, n + 1);
  int32_t *order = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++) rank[a->e.order[k]] = k, child[k] = -1;
  child[n] = -1;
  for (int32_t k = n - 1; k >= 0; k--) { /* children lists, shortest column first */
    int32_t parent = n, count = a->e.start[k + 1] - a->e.start[k];
    for (int32_t s = a->e.start[k]; s < a->e.start[k + 1]; s++)
      if (rank[a->e.column[s]] < parent) parent = rank[a->e.column[s]];
    int32_t *link = &child[parent];
    while (*link >= 0 && a->e.start[*link + 1] - a->e.start[*link] < count) link = &sibling[*link];
    sibling[k] = *link;
    *link = k;
  }
  int32_t depth = 0, next = 0;
  stack[depth++] = n;
  while (depth > 0) {
    int32_t k = stack[depth - 1], c = child[k];
    if (c >= 0) {
      child[k] = sibling[c];
      stack[depth++] = c;
    } else {
      depth--;
      if (k < n) order[next++] = k;
    }
  }
  for (int32_t k = 0; k < n; k++) position[a->e.order[order[k]]] = k;
  return true;
}

/* The columns of the factor with ascending rows: rows first, since going through the columns in order lists every row's
 * columns in order; then back. */
static bool sort_columns(ds_arena *arena, analysis *a, const int32_t *position) {
  int32_t n = a->n, slots = a->e.start[n];
  a->start = DS_NEW0(arena, int32_t, n + 1);
  a->row = DS_NEW(arena, int32_t, slots + 1);
  a->parent = DS_NEW(arena, int32_t, n + 1);
  ds_arena_mark mark = ds_arena_get_mark(arena);
  int32_t *row_start = DS_NEW0(arena, int32_t, n + 1), *column = DS_NEW(arena, int32_t, slots + 1);
  int32_t *fill = DS_NEW0(arena, int32_t, n + 1), *which = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++) which[position[a->e.order[k]]] = k;
  for (int32_t s = 0; s < slots; s++) row_start[position[a->e.column[s]] + 1]++;
  for (int32_t i = 0; i < n; i++) row_start[i + 1] += row_start[i];
  for (int32_t k = 0; k < n; k++) {
    for (int32_t s = a->e.start[which[k]]; s < a->e.start[which[k] + 1]; s++) {
      int32_t i = position[a->e.column[s]];
      column[row_start[i] + fill[i]++] = k;
    }
    a->start[k + 1] = a->start[k] + a->e.start[which[k] + 1] - a->e.start[which[k]];
  }
  memset(fill, 0, (size_t)n * sizeof *fill);
  for (int32_t i = 0; i < n; i++)
    for (int32_t t = row_start[i]; t < row_start[i + 1]; t++) {
      int32_t k = column[t];
      a->row[a->start[k] + fill[k]++] = i;
    }
  for (int32_t k = 0; k < n; k++) a->parent[k] = a->start[k + 1] > a->start[k] ? a->row[a->start[k]] : n;
  ds_arena_release(arena, mark);
  return true;
}

/* May a panel of `width` columns with `below` rows below and `zeros` explicit zeros be joined with the next block? Then
 * the rows below are those of the next. */
static bool worth_joining(int64_t *zeros, int64_t width, int64_t below, int64_t next_width, int64_t next_below) {
  if (width + next_width > WIDEST_PANEL) return false;
  int64_t more = *zeros + width * (next_width + next_below - below), all = width + next_width;
  int64_t values = all * (all + 1) / 2 + all * next_below;
  if (more * 10 > values) return false;
  *zeros = more;
  return true;
}

static void form_panels(ds_block_pattern *p, const analysis *a) {
  int64_t zeros = 0;
  int32_t below_next = 0;
  for (int32_t k = 0; k < p->n; k++) {
    int32_t below = 0; /* rows below block k */
    for (int32_t s = a->start[k]; s < a->start[k + 1]; s++) below += p->size[a->row[s]];
    ds_panel *last = p->panel_count > 0 ? &p->panels[p->panel_count - 1] : NULL;
    if (last && a->parent[k - 1] == k && worth_joining(&zeros, last->width, below_next, p->size[k], below)) {
      last->end = k + 1;
      last->width += p->size[k];
    } else {
      zeros = 0;
      last = &p->panels[p->panel_count++];
      *last = (ds_panel){.first = k, .end = k + 1, .width = p->size[k]};
    }
    last->rows = last->width + below;
    p->panel_of[k] = p->panel_count - 1;
    below_next = below;
  }
}

/* Rows below the panels, the places of their values, and which panel is a source of which. */
static bool fill_panels(ds_arena *arena, ds_block_pattern *p, const analysis *a) {
  int32_t below = 0, sources = 0;
  for (int32_t i = 0; i < p->panel_count; i++) {
    ds_panel *panel = &p->panels[i];
    panel->below = below;
    below += a->start[panel->end] - a->start[panel->end - 1];
    panel->below_end = below;
    panel->ld = (panel->rows + 3) / 4 * 4;
    panel->at = p->factor_values;
    p->factor_values += (int64_t)panel->ld * panel->width;
    if (panel->rows > p->longest) p->longest = panel->rows;
  }
  p->below = DS_NEW(arena, int32_t, below + 1);
  p->below_at = DS_NEW(arena, int32_t, below + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < p->panel_count; i++) {
    ds_panel *panel = &p->panels[i];
    const int32_t *rows = a->row + a->start[panel->end - 1];
    for (int32_t s = panel->below, at = panel->width; s < panel->below_end; s++) {
      p->below[s] = rows[s - panel->below];
      p->below_at[s] = at;
      at += p->size[p->below[s]];
      if (s == panel->below || p->panel_of[p->below[s]] != p->panel_of[p->below[s - 1]]) {
        p->panels[p->panel_of[p->below[s]]].source_end++; /* counted first */
        sources++;
      }
    }
  }
  p->source = DS_NEW(arena, ds_panel_source, sources + 1);
  if (!p->source) return false;
  for (int32_t i = 0, next = 0; i < p->panel_count; i++) {
    ds_panel *panel = &p->panels[i];
    panel->source = next;
    next += panel->source_end;
    panel->source_end = panel->source;
  }
  for (int32_t i = 0; i < p->panel_count; i++)
    for (int32_t s = p->panels[i].below, end; s < p->panels[i].below_end; s = end) {
      ds_panel *target = &p->panels[p->panel_of[p->below[s]]];
      for (end = s + 1; end < p->panels[i].below_end && p->below[end] < target->end;) end++;
      p->source[target->source_end++] = (ds_panel_source){i, s, end};
    }
  return true;
}

/* The order of tasks: a panel's height is one more than that of its highest source. Panels of the same height do not
 * need each other. */
static bool order_tasks(ds_arena *arena, ds_block_pattern *p) {
  int32_t n = p->panel_count;
  p->task = DS_NEW(arena, int32_t, n + 1);
  ds_arena_mark mark = ds_arena_get_mark(arena);
  int32_t *height = DS_NEW0(arena, int32_t, n + 1), *start = DS_NEW0(arena, int32_t, n + 2);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < n; i++) {
    const ds_panel *panel = &p->panels[i];
    double width = panel->width, below = panel->rows - panel->width;
    p->work += width * width * width / 6 + below * width * width / 2;
    for (int32_t s = panel->source; s < panel->source_end; s++) {
      const ds_panel *from = &p->panels[p->source[s].panel];
      int32_t first = p->below_at[p->source[s].begin], h = height[p->source[s].panel] + 1;
      int32_t end = p->source[s].end < from->below_end ? p->below_at[p->source[s].end] : from->rows;
      p->work += (double)(end - first) * (from->rows - first) * from->width;
      if (h > height[i]) height[i] = h;
    }
    start[height[i] + 1]++;
  }
  for (int32_t h = 0; h < n; h++) start[h + 1] += start[h];
  for (int32_t i = 0; i < n; i++) p->task[start[height[i]]++] = i;
  ds_arena_release(arena, mark);
  return true;
}

/* Slots of the matrix itself: the given pairs, sorted by column and row, without loops and repeats. */
static bool fill_slots(ds_arena *arena, ds_block_pattern *p, const int32_t *pairs, int32_t pair_count) {
  int32_t n = p->n;
  p->column_start = DS_NEW0(arena, int32_t, n + 1);
  p->row = DS_NEW(arena, int32_t, pair_count + 1);
  p->offset = DS_NEW(arena, int32_t, pair_count + 1);
  ds_arena_mark mark = ds_arena_get_mark(arena);
  int32_t *row_start = DS_NEW0(arena, int32_t, n + 1), *fill = DS_NEW0(arena, int32_t, n + 1);
  int32_t *column = DS_NEW(arena, int32_t, pair_count + 1), *last = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int pass = 0; pass < 2; pass++) { /* count, then fill: sorted by row */
    for (int32_t q = 0; q < pair_count; q++) {
      int32_t r = p->position[pairs[2 * q]], c = p->position[pairs[2 * q + 1]];
      if (r == c) continue;
      int32_t low = r < c ? c : r, left = r < c ? r : c;
      if (pass == 0)
        row_start[low + 1]++;
      else
        column[row_start[low] + fill[low]++] = left;
    }
    for (int32_t i = 0; pass == 0 && i < n; i++) row_start[i + 1] += row_start[i];
  }
  for (int pass = 0; pass < 2; pass++) { /* the same by column, rows ascending; a repeat follows its first */
    for (int32_t k = 0; k < n; k++) last[k] = -1, fill[k] = 0;
    for (int32_t i = 0; i < n; i++)
      for (int32_t t = row_start[i]; t < row_start[i + 1]; t++) {
        int32_t k = column[t];
        if (last[k] == i) continue;
        last[k] = i;
        if (pass == 0)
          p->column_start[k + 1]++;
        else
          p->row[p->column_start[k] + fill[k]++] = i;
      }
    for (int32_t k = 0; pass == 0 && k < n; k++) p->column_start[k + 1] += p->column_start[k];
  }
  int64_t values = 0;
  for (int32_t k = 0; k < n; k++)
    for (int32_t s = p->column_start[k]; s < p->column_start[k + 1] && values <= INT32_MAX; s++) {
      p->offset[s] = (int32_t)values;
      values += (int64_t)p->size[p->row[s]] * p->size[k];
    }
  ds_arena_release(arena, mark);
  if (values > INT32_MAX) arena->failed = true; /* 16 GB of blocks */
  p->values = (int32_t)(values > INT32_MAX ? 0 : values);
  return !ds_arena_failed(arena);
}

ds_block_pattern *ds_block_analyse(ds_arena *arena, const int32_t *size, const int32_t *pairs, int32_t pair_count,
                                   int32_t n) {
  analysis a = {.n = n};
  ds_block_pattern *p = DS_NEW0(arena, ds_block_pattern, 1);
  if (!p) return NULL;
  int32_t **arrays[] = {&p->order, &p->position, &p->size, &p->first_row, &p->start, &p->diagonal, &p->panel_of};
  p->n = n;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = DS_NEW0(arena, int32_t, n + 1);
  p->panels = DS_NEW(arena, ds_panel, n + 1);
  if (ds_arena_failed(arena) || !ds_eliminate(arena, &a.e, pairs, pair_count, n)) return NULL;
  if (!postorder(arena, &a, p->position) || !sort_columns(arena, &a, p->position)) return NULL;
  int64_t diagonal = 0;
  for (int32_t i = 0; i < n; i++) {
    p->order[p->position[i]] = i;
    p->first_row[i] = p->dimension;
    p->dimension += size[i];
  }
  for (int32_t k = 0; k < n && diagonal <= INT32_MAX; k++) {
    p->size[k] = size[p->order[k]];
    p->start[k + 1] = p->start[k] + p->size[k];
    p->diagonal[k] = (int32_t)diagonal;
    diagonal += (int64_t)p->size[k] * p->size[k];
    if (p->size[k] > p->largest) p->largest = p->size[k];
  }
  if (diagonal > INT32_MAX) {
    arena->failed = true;
    return NULL;
  }
  p->diagonal_values = (int32_t)diagonal;
  form_panels(p, &a);
  return fill_panels(arena, p, &a) && order_tasks(arena, p) && fill_slots(arena, p, pairs, pair_count) ? p : NULL;
}

int32_t ds_block_slot(bool *swapped, const ds_block_pattern *p, int32_t i, int32_t j) {
  int32_t r = p->position[i], c = p->position[j];
  *swapped = r < c;
  if (*swapped) {
    int32_t t = r;
    r = c;
    c = t;
  }
  return ds_array_find(p->row, p->column_start[c], p->column_start[c + 1], r);
}
