/* Broad phase: a uniform grid for every size class of boxes [SP08 uses one grid].
 *
 * A box belongs to the class of the power of two just above its largest extent, and lies in the cell of that size that
 * holds its middle; boxes of one class, or of a finer and a coarser one, can then overlap only if their middles are in
 * cells of the coarser class that touch. Classes of few boxes are merged into the next coarser one, and few very large
 * boxes (grounds, half-spaces) are tested against all, so n boxes of like size cost O(n) whatever stands among them.
 * Cells are found by hashing; the result is sorted and does not depend on the hash. */
#include <math.h>
#include <string.h>

#include "detect/broad.h"

enum { FEW = 16, CLASSES = 2400, CLASS_ZERO = 1200 };

typedef struct grid {
  const ds_box *boxes;
  const bool *moving;
  int32_t count;
  int32_t *class_of; /* -1 = tested against all, -2 = empty */
  int32_t *head, *next;
  uint32_t mask;
  int32_t levels[64], level_count; /* classes in use, coarsest first */
  ds_arena *arena;
  ds_box_pair *pairs;
  int32_t pair_count, pair_capacity;
} grid;

static bool overlap(const ds_box *a, const ds_box *b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool add_pair(grid *g, int32_t a, int32_t b) {
  if (!(g->moving[a] || g->moving[b]) || !overlap(&g->boxes[a], &g->boxes[b])) return true;
  if (g->pair_count == g->pair_capacity) {
    int32_t capacity = 2 * g->pair_capacity;
    ds_box_pair *pairs = DS_NEW(g->arena, ds_box_pair, capacity);
    if (!pairs) return false;
    memcpy(pairs, g->pairs, (size_t)g->pair_count * sizeof *pairs);
    g->pairs = pairs;
    g->pair_capacity = capacity;
  }
  g->pairs[g->pair_count++] = a < b ? (ds_box_pair){a, b} : (ds_box_pair){b, a};
  return true;
}

/* The class of a box: its extent is at most 2^(class - CLASS_ZERO). */
static int32_t class_of(const ds_box *b) {
  double x = b->high.x - b->low.x, y = b->high.y - b->low.y, z = b->high.z - b->low.z;
  if (!(x >= 0 && y >= 0 && z >= 0)) return -2;
  double size = fmax(x, fmax(y, z)), far = fmax(fabs(b->low.x), fmax(fabs(b->low.y), fabs(b->low.z)));
  /* a point, or so far away that cells cannot be distinguished */
  if (!isfinite(size) || size < 1e-9 * far || size < 1e-300) return -1;
  int exponent;
  frexp(size, &exponent);
  return exponent + CLASS_ZERO;
}

/* Merges classes of few boxes upwards, and lists those in use. */
static void set_classes(grid *g) {
  int32_t size[CLASSES] = {0}, target[CLASSES];
  for (int32_t i = 0; i < g->count; i++) {
    g->class_of[i] = class_of(&g->boxes[i]);
    if (g->class_of[i] >= 0) size[g->class_of[i]]++;
  }
  int32_t levels[CLASSES], level_count = 0, carried = 0;
  for (int32_t c = 0; c < CLASSES; c++) {
    carried += size[c];
    if (size[c] > 0 && carried > FEW && level_count < 64) {
      levels[level_count++] = c;
      carried = 0;
    }
  }
  for (int32_t c = 0, l = 0; c < CLASSES; c++) {
    while (l < level_count && levels[l] < c) l++;
    target[c] = l < level_count ? levels[l] : -1;
  }
  for (int32_t i = 0; i < g->count; i++)
    if (g->class_of[i] >= 0) g->class_of[i] = target[g->class_of[i]];
  g->level_count = level_count;
  for (int32_t l = 0; l < level_count; l++) g->levels[l] = levels[level_count - 1 - l];
}

static uint32_t cell_hash(int32_t level, int64_t x, int64_t y, int64_t z) {
  uint64_t h =
      (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)z * 0x165667b19e3779f9u;
  h += (uint64_t)level * 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return (uint32_t)(h >> 32);
}

static void cell_of(int64_t cell[3], const ds_box *b, int32_t level) {
  double size = ldexp(1, level - CLASS_ZERO);
  cell[0] = (int64_t)floor(0.5 * (b->low.x + b->high.x) / size);
  cell[1] = (int64_t)floor(0.5 * (b->low.y + b->high.y) / size);
  cell[2] = (int64_t)floor(0.5 * (b->low.z + b->high.z) / size);
}

/* Pairs of box i with those already in the grid, of its class or a coarser one. */
static bool query(grid *g, int32_t i) {
  for (int32_t l = 0; l < g->level_count && g->levels[l] >= g->class_of[i]; l++) {
    int32_t level = g->levels[l];
    int64_t c[3];
    cell_of(c, &g->boxes[i], level);
    /* two cells may share a slot: every slot is looked at once */
    uint32_t slots[27];
    int count = 0;
    for (int64_t dx = -1; dx <= 1; dx++)
      for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dz = -1; dz <= 1; dz++) {
          uint32_t slot = cell_hash(level, c[0] + dx, c[1] + dy, c[2] + dz) & g->mask;
          if (g->head[slot] < 0) continue;
          bool known = false;
          for (int k = 0; k < count; k++) known = known || slots[k] == slot;
          if (!known) slots[count++] = slot;
        }
    for (int k = 0; k < count; k++)
      for (int32_t j = g->head[slots[k]]; j >= 0; j = g->next[j])
        if (g->class_of[j] == level && !add_pair(g, i, j)) return false;
  }
  return true;
}

static bool fill_grid(grid *g) {
  for (int32_t l = 0; l < g->level_count; l++)
    for (int32_t i = 0; i < g->count; i++) {
      if (g->class_of[i] != g->levels[l]) continue;
      if (!query(g, i)) return false;
      int64_t c[3];
      cell_of(c, &g->boxes[i], g->levels[l]);
      uint32_t slot = cell_hash(g->levels[l], c[0], c[1], c[2]) & g->mask;
      g->next[i] = g->head[slot];
      g->head[slot] = i;
    }
  return true;
}

/* Boxes outside the grid against all others. */
static bool test_large(grid *g) {
  for (int32_t i = 0; i < g->count; i++) {
    if (g->class_of[i] != -1) continue;
    for (int32_t j = 0; j < g->count; j++)
      if (g->class_of[j] != -2 && (g->class_of[j] >= 0 || j > i) && !add_pair(g, i, j)) return false;
  }
  return true;
}

/* Counting sort by b, then by a. */
static bool sort_pairs(grid *g) {
  ds_box_pair *other = DS_NEW(g->arena, ds_box_pair, g->pair_count + 1);
  int32_t *start = DS_NEW(g->arena, int32_t, g->count + 1);
  if (!other || !start) return false;
  for (int pass = 0; pass < 2; pass++) {
    ds_box_pair *from = pass ? other : g->pairs, *to = pass ? g->pairs : other;
    memset(start, 0, ((size_t)g->count + 1) * sizeof *start);
    for (int32_t i = 0; i < g->pair_count; i++) start[(pass ? from[i].a : from[i].b) + 1]++;
    for (int32_t i = 0; i < g->count; i++) start[i + 1] += start[i];
    for (int32_t i = 0; i < g->pair_count; i++) to[start[pass ? from[i].a : from[i].b]++] = from[i];
  }
  return true;
}

bool ds_broad_pairs(ds_arena *arena, ds_box_pair **pairs, int32_t *pair_count, const ds_box *boxes, const bool *moving,
                    int32_t count) {
  grid g = {.boxes = boxes, .moving = moving, .count = count, .arena = arena, .pair_capacity = 4 * count + 64};
  uint32_t slots = 64;
  while (slots < 2 * (uint32_t)count) slots *= 2;
  g.mask = slots - 1;
  g.class_of = DS_NEW(arena, int32_t, count + 1);
  g.next = DS_NEW(arena, int32_t, count + 1);
  g.head = DS_NEW(arena, int32_t, slots);
  g.pairs = DS_NEW(arena, ds_box_pair, g.pair_capacity);
  if (!g.class_of || !g.next || !g.head || !g.pairs) return false;
  memset(g.head, 0xff, slots * sizeof *g.head);
  set_classes(&g);
  if (!fill_grid(&g) || !test_large(&g) || !sort_pairs(&g)) return false;
  *pairs = g.pairs;
  *pair_count = g.pair_count;
  return true;
}
