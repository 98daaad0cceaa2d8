/* Elimination of rows by halves: the same space as all at once, for chains, rings, trees and nets, in any order of
 * their links and with more rows than are needed; a bridge of 200 planks. */
#include "joint_helper.h"
#include "la/null_tree.h"
#include "random.h"

enum { ROWS = 5 };

typedef struct net {
  int32_t blocks, rows;
  ds_null_row *row;
} net;

static void add_link(net *net, int32_t a, int32_t b, uint64_t *seed) {
  for (int32_t i = 0; i < ROWS; i++) {
    ds_null_row *row = &net->row[net->rows++];
    row->at[0] = DS_NULL_BLOCK * (a < b ? a : b), row->at[1] = b < 0 ? -1 : DS_NULL_BLOCK * (a < b ? b : a);
    if (b < 0) row->at[0] = DS_NULL_BLOCK * a;
    for (int side = 0; side < 2; side++)
      for (int32_t j = 0; j < DS_NULL_BLOCK; j++) row->value[side][j] = random_in(seed, -1, 1);
  }
}

/* Blocks joined as kind says, under shuffled names. */
static net make_net(int kind, int32_t blocks, uint64_t *seed) {
  net net = {.blocks = blocks, .row = calloc((size_t)(2 * ROWS * blocks + 100), sizeof(ds_null_row))};
  int32_t *name = malloc((size_t)blocks * sizeof *name);
  for (int32_t i = 0; i < blocks; i++) name[i] = i;
  for (int32_t i = blocks - 1; i > 0 && kind % 2; i--) {
    int32_t k = random_int(seed, i), old = name[i];
    name[i] = name[k], name[k] = old;
  }
  add_link(&net, name[0], -1, seed);
  for (int32_t i = 1; i < blocks; i++) {
    int32_t to = kind < 4 ? i - 1 : kind < 6 ? (i - 1) / 2 : i >= 7 ? i - 7 : i - 1;
    add_link(&net, name[to], name[i], seed);
  }
  if (kind == 2 || kind == 3) add_link(&net, name[0], name[blocks - 1], seed);
  for (int32_t i = 0; i < 2 * ROWS; i++) { /* once more what is there already: rows that depend on others */
    net.row[net.rows] = net.row[(i * 37) % net.rows];
    net.rows++;
  }
  free(name);
  return net;
}

static void a_net(int kind, int32_t blocks, uint64_t *seed) {
  net net = make_net(kind, blocks, seed);
  ds_arena arena = {0};
  ds_null_tree tree;
  int32_t n = DS_NULL_BLOCK * blocks;
  double *x = calloc((size_t)n, sizeof *x), *kept = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *x);
  double *c = calloc((size_t)net.rows, sizeof *c), turned = 0, length = 0, change = 0, left = 0, off = 0;
  CHECK(ds_null_tree_build(&arena, &tree, net.row, net.rows, n));
  CHECK_NEAR(tree.rank, fmin(n, net.rows - 2 * ROWS), 0);
  for (int32_t i = 0; i < n; i++) kept[i] = x[i] = random_in(seed, -1, 1), length += x[i] * x[i];
  ds_null_tree_enter(x, &tree);
  for (int32_t i = 0; i < n; i++) turned += x[i] * x[i];
  ds_null_tree_leave(x, &tree);
  for (int32_t i = 0; i < n; i++) change = fmax(change, fabs(x[i] - kept[i]));
  for (int32_t k = 0; k < net.rows; k++) { /* what is free moves no row */
    memset(x, 0, (size_t)n * sizeof *x);
    for (int side = 0; side < 2 && net.row[k].at[side] >= 0; side++)
      memcpy(x + net.row[k].at[side], net.row[k].value[side], sizeof net.row[k].value[side]);
    ds_null_tree_enter(x, &tree);
    for (int32_t i = tree.rank; i < n; i++) left = fmax(left, fabs(x[i]));
    c[k] = random_in(seed, -1, 1);
  }
  for (int32_t k = 0; k < 5; k++) { /* the path of one block alone gives the same */
    int32_t block = random_int(seed, blocks), i = random_int(seed, DS_NULL_BLOCK);
    ds_null_tree_free_part(y, &tree, block, i);
    memset(x, 0, (size_t)n * sizeof *x);
    x[DS_NULL_BLOCK * block + i] = 1;
    ds_null_tree_enter(x, &tree);
    for (int32_t j = tree.rank; j < n; j++) CHECK_NEAR(y[j - tree.rank], x[j], 0);
  }
  ds_null_tree_solve(y, &tree, c); /* A Q (y, 0) = c */
  memset(y + tree.rank, 0, (size_t)(n - tree.rank) * sizeof *y);
  ds_null_tree_leave(y, &tree);
  for (int32_t i = 0; i < tree.rank; i++) {
    const ds_null_row *row = &net.row[tree.row[i]];
    double sum = -c[tree.row[i]];
    for (int side = 0; side < 2; side++)
      for (int32_t j = 0; row->at[side] >= 0 && j < DS_NULL_BLOCK; j++)
        sum += row->value[side][j] * y[row->at[side] + j];
    off = fmax(off, fabs(sum));
  }
  printf("     kind %d, %d blocks: %d fronts, rank %d of %d; %.1e, %.1e, %.1e, %.1e\n", kind, (int)blocks,
         (int)tree.front_count, (int)tree.rank, (int)net.rows, fabs(turned - length), change, left, off);
  CHECK_NEAR(turned, length, 1e-11 * length);
  CHECK_LE(change, 1e-12);
  CHECK_LE(left, 1e-11);
  CHECK_LE(off, 1e-8);
  ds_arena_free(&arena);
  free(net.row), free(x), free(kept), free(y), free(c);
}

static void nets(void) {
  uint64_t seed = 5;
  for (int kind = 0; kind < 8; kind++) {
    a_net(kind, 3, &seed);
    a_net(kind, 17, &seed);
    a_net(kind, 100, &seed);
  }
}

static void nothing_to_eliminate(void) {
  ds_arena arena = {0};
  ds_null_tree tree;
  double x[5] = {1, 2, 3, 4, 5};
  CHECK(ds_null_tree_build(&arena, &tree, NULL, 0, 5));
  ds_null_tree_enter(x, &tree);
  ds_null_tree_leave(x, &tree);
  CHECK(tree.rank == 0 && x[0] == 1 && x[4] == 5);
  ds_arena_free(&arena);
}

/* Bare, with few blocks on it, of which contacts see some of the free coordinates, and with many. */
static void long_bridges(void) {
  const char *const bridges[] = {"bridge:planks=200,blocks=0", "bridge:planks=200,blocks=5",
                                 "bridge:planks=30,blocks=20"};
  for (size_t i = 0; i < sizeof bridges / sizeof *bridges; i++) {
    sim s;
    if (sim_generate(&s, bridges[i])) {
      double drift = sim_drift(&s, test_time(0.3, 0.05));
      printf("     %s: drift %.2g m\n", bridges[i], drift);
      CHECK_LE(drift, 1e-11);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(nets);
  RUN(nothing_to_eliminate);
  RUN(long_bridges);
  return test_summary();
}
