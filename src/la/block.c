/* Left-looking factorization by panels. A panel is its columns of the matrix less the products of the panels before it
 * that have rows among its columns, its sources, in their order:
 *
 *   A_ij -= L_ik U_kj,   with U_kj = L_jkᵀ in the symmetric case;
 *
 * then it is factored in itself, six columns at a time. Threads take panels in an order in which sources come first,
 * and wait for those that are not ready; sums are in the same order whichever thread computes them. */
#include "la/block.h"

#include <math.h>
#include <string.h>

#include "la/panel.h"

/* Of one thread. */
typedef struct ds_block_workspace {
  int32_t *where;     /* block -> its first row in the panel at hand */
  ds_panel_run *runs; /* rows of a source in it */
} ds_block_workspace;

/* Multiplications from which on threads are worth waking: some tenths of a millisecond. */
static const double SHARED_WORK = 5e6;

static bool make_workspaces(ds_arena *arena, ds_block_matrix *m, int32_t count) {
  m->workspaces = DS_NEW(arena, ds_block_workspace, count);
  for (int32_t i = 0; m->workspaces && i < count; i++) {
    m->workspaces[i].where = DS_NEW(arena, int32_t, m->pattern->n + 1);
    m->workspaces[i].runs = DS_NEW(arena, ds_panel_run, m->pattern->n + 1);
  }
  return !ds_arena_failed(arena);
}

ds_block_matrix *ds_block_create(ds_arena *arena, const ds_block_pattern *p) {
  ds_block_matrix *m = DS_NEW0(arena, ds_block_matrix, 1);
  if (!m) return NULL;
  m->pattern = p;
  m->diagonal = DS_NEW(arena, double, p->diagonal_values + 1);
  m->lower = DS_NEW(arena, double, p->values + 1);
  m->upper = DS_NEW(arena, double, p->values + 1);
  m->factor_lower = DS_NEW(arena, double, p->factor_values + 1);
  m->factor_upper = DS_NEW(arena, double, p->factor_values + 1);
  m->inverse = DS_NEW(arena, double, p->dimension + 1);
  m->pivots = DS_NEW(arena, int32_t, p->dimension + 1);
  m->below = DS_NEW(arena, double, p->longest + 1);
  return !ds_arena_failed(arena) && make_workspaces(arena, m, 1) ? m : NULL;
}

bool ds_block_share(ds_arena *arena, ds_block_matrix *m, ds_pool *pool) {
  if (!pool || ds_pool_size(pool) == 1 || m->pattern->work < SHARED_WORK) return true;
  m->finished = DS_NEW(arena, ds_flag, m->pattern->panel_count + 1);
  if (!m->finished || !make_workspaces(arena, m, ds_pool_size(pool))) return false;
  m->pool = pool;
  return true;
}

void ds_block_identity(ds_block_matrix *m, bool symmetric) {
  const ds_block_pattern *p = m->pattern;
  memset(m->diagonal, 0, (size_t)p->diagonal_values * sizeof(double));
  memset(m->lower, 0, (size_t)p->values * sizeof(double));
  if (!symmetric) memset(m->upper, 0, (size_t)p->values * sizeof(double));
  for (int32_t k = 0; k < p->n; k++)
    for (int32_t i = 0; i < p->size[k]; i++) m->diagonal[p->diagonal[k] + i * p->size[k] + i] = 1;
}

/* to (column-major, m x n) = block (row-major, m x n) */
static void copy_block(double *restrict to, const double *restrict block, int32_t m, int32_t n, int32_t ld) {
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < m; i++) to[(ptrdiff_t)j * ld + i] = block[i * n + j];
}

static void copy_transposed(double *restrict to, const double *restrict block, int32_t m, int32_t n, int32_t ld) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) to[(ptrdiff_t)i * ld + j] = block[i * n + j];
}

/* The panel's columns of the matrix. Inside the panel's own rows an unsymmetric matrix has both triangles in both
 * panels, each of which uses its own. */
static void load(ds_block_matrix *m, const ds_panel *panel, const int32_t *where, bool symmetric) {
  const ds_block_pattern *p = m->pattern;
  double *lower = m->factor_lower + panel->at, *upper = m->factor_upper + panel->at;
  size_t bytes = (size_t)panel->ld * (size_t)panel->width * sizeof(double);
  memset(lower, 0, bytes);
  if (!symmetric) memset(upper, 0, bytes);
  for (int32_t k = panel->first; k < panel->end; k++) {
    int32_t size = p->size[k], column = where[k];
    ptrdiff_t at = (ptrdiff_t)column * panel->ld;
    copy_block(lower + at + column, m->diagonal + p->diagonal[k], size, size, panel->ld);
    if (!symmetric) copy_transposed(upper + at + column, m->diagonal + p->diagonal[k], size, size, panel->ld);
    for (int32_t s = p->column_start[k]; s < p->column_start[k + 1]; s++) {
      int32_t i = p->row[s], row = where[i];
      copy_block(lower + at + row, m->lower + p->offset[s], p->size[i], size, panel->ld);
      if (symmetric) continue;
      copy_block(upper + at + row, m->upper + p->offset[s], p->size[i], size, panel->ld);
      if (i >= panel->end) continue;
      ptrdiff_t across = (ptrdiff_t)row * panel->ld + column;
      copy_transposed(lower + across, m->upper + p->offset[s], p->size[i], size, panel->ld);
      copy_transposed(upper + across, m->lower + p->offset[s], p->size[i], size, panel->ld);
    }
  }
}

/* Rows of a source from entry `begin` of below[] on: runs that are contiguous in the panel too. */
static int32_t find_runs(ds_panel_run *runs, const ds_block_pattern *p, const int32_t *where, int32_t begin,
                         int32_t end) {
  int32_t count = 0;
  for (int32_t s = begin; s < end; s++) {
    int32_t target = where[p->below[s]], size = p->size[p->below[s]];
    ds_panel_run *last = runs + count - 1;
    if (count > 0 && last->target + last->rows == target)
      last->rows += size;
    else
      runs[count++] = (ds_panel_run){p->below_at[s], target, size};
  }
  return count;
}

/* The panel less the product of one of its sources: L rows times U columns, and in the unsymmetric case U rows times L
 * columns. */
static void apply_source(ds_block_matrix *m, const ds_panel *panel, const ds_panel_source *source,
                         const ds_block_workspace *w, bool symmetric) {
  const ds_block_pattern *p = m->pattern;
  const ds_panel *from = &p->panels[source->panel];
  const double *l = m->factor_lower + from->at, *u = symmetric ? l : m->factor_upper + from->at;
  int32_t count = find_runs(w->runs, p, w->where, source->begin, from->below_end);
  for (int32_t s = source->begin, end; s < source->end; s = end) { /* columns that are contiguous in the panel */
    int32_t columns = 0;
    for (end = s; end < source->end && p->below[end] == p->below[s] + (end - s); end++)
      columns += p->size[p->below[end]];
    int32_t column = w->where[p->below[s]], above = symmetric ? column : DS_WHOLE;
    int64_t at = panel->at + (int64_t)column * panel->ld;
    ds_panel_update(m->factor_lower + at, l, u + p->below_at[s], w->runs, count, columns, from->width, panel->ld,
                    from->ld, above);
    if (!symmetric)
      ds_panel_update(m->factor_upper + at, u, l + p->below_at[s], w->runs, count, columns, from->width, panel->ld,
                      from->ld, above);
  }
}

static void gather_panel(ds_block_matrix *m, const ds_panel *panel, const ds_block_workspace *w, bool symmetric) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t k = panel->first; k < panel->end; k++) w->where[k] = p->start[k] - p->start[panel->first];
  for (int32_t s = panel->below; s < panel->below_end; s++) w->where[p->below[s]] = p->below_at[s];
  load(m, panel, w->where, symmetric);
  for (int32_t s = panel->source; s < panel->source_end; s++) {
    if (m->pool) ds_flag_wait(&m->finished[p->source[s].panel]);
    apply_source(m, panel, &p->source[s], w, symmetric);
  }
}

static bool factor_symmetric(ds_block_matrix *m, const ds_panel *panel) {
  double *l = m->factor_lower + panel->at, *inverse = m->inverse + m->pattern->start[panel->first];
  int32_t ld = panel->ld;
  for (int32_t j = 0; j < panel->width; j += DS_TILE) {
    ds_tile tile;
    int32_t n = panel->width - j < DS_TILE ? panel->width - j : DS_TILE;
    double *column = l + (ptrdiff_t)j * ld;
    ds_panel_run run = {j, j, panel->rows - j};
    if (j > 0) ds_panel_update(column, l, l + j, &run, 1, n, j, ld, ld, DS_WHOLE);
    if (!ds_tile_cholesky(column + j, &tile, n, ld)) return false;
    ds_panel_divide(column + j + n, &tile, panel->rows - j - n, n, ld);
    memcpy(inverse + j, tile.inverse, (size_t)n * sizeof(double));
  }
  return true;
}

static bool factor_unsymmetric(ds_block_matrix *m, const ds_panel *panel) {
  double *l = m->factor_lower + panel->at, *u = m->factor_upper + panel->at;
  double *inverse = m->inverse + m->pattern->start[panel->first];
  int32_t ld = panel->ld, *pivots = m->pivots + m->pattern->start[panel->first];
  for (int32_t j = 0; j < panel->width; j += DS_TILE) {
    ds_tile right, left;
    int32_t n = panel->width - j < DS_TILE ? panel->width - j : DS_TILE, below = panel->rows - j - n;
    double *lj = l + (ptrdiff_t)j * ld, *uj = u + (ptrdiff_t)j * ld;
    ds_panel_run run = {j, j, panel->rows - j};
    if (j > 0) ds_panel_update(lj, l, u + j, &run, 1, n, j, ld, ld, DS_WHOLE);
    if (j > 0) ds_panel_update(uj, u, l + j, &run, 1, n, j, ld, ld, DS_WHOLE);
    if (!ds_tile_lu(lj + j, pivots + j, &right, &left, n, ld)) return false;
    ds_panel_divide(lj + j + n, &right, below, n, ld);
    ds_panel_interchange(uj + j + n, pivots + j, below, n, ld);
    ds_panel_divide(uj + j + n, &left, below, n, ld);
    memcpy(inverse + j, right.inverse, (size_t)n * sizeof(double));
  }
  return true;
}

static bool factor_panel(ds_block_matrix *m, int32_t i, const ds_block_workspace *w, bool symmetric) {
  const ds_panel *panel = &m->pattern->panels[i];
  gather_panel(m, panel, w, symmetric);
  return symmetric ? factor_symmetric(m, panel) : factor_unsymmetric(m, panel);
}

typedef struct factor_job {
  ds_block_matrix *m;
  bool symmetric;
  atomic_bool failed;
} factor_job;

/* Sources are tasks with lower numbers, and are applied in the order of the panels, whichever thread computed them. */
static void factor_task(void *context, int32_t item, int32_t worker) {
  factor_job *job = context;
  int32_t i = job->m->pattern->task[item];
  if (!atomic_load(&job->failed) && !factor_panel(job->m, i, &job->m->workspaces[worker], job->symmetric))
    atomic_store(&job->failed, true);
  ds_flag_raise(&job->m->finished[i]);
}

static bool factor(ds_block_matrix *m, bool symmetric) {
  int32_t count = m->pattern->panel_count;
  if (m->pool) {
    factor_job job = {.m = m, .symmetric = symmetric};
    for (int32_t i = 0; i < count; i++) atomic_init(&m->finished[i], 0);
    ds_pool_run(m->pool, count, factor_task, &job);
    return !atomic_load(&job.failed);
  }
  for (int32_t i = 0; i < count; i++)
    if (!factor_panel(m, i, m->workspaces, symmetric)) return false;
  return true;
}

bool ds_block_cholesky(ds_block_matrix *m) { return factor(m, true); }

bool ds_block_lu(ds_block_matrix *m) { return factor(m, false); }

int32_t ds_block_lu_sign(const ds_block_matrix *m) {
  const ds_block_pattern *p = m->pattern;
  int32_t sign = 1;
  for (int32_t i = 0; i < p->panel_count; i++) {
    const ds_panel *panel = &p->panels[i];
    for (int32_t j = 0, at = p->start[panel->first]; j < panel->width; j++) {
      if (m->inverse[at + j] < 0) sign = -sign;
      if (m->pivots[at + j] != j % DS_TILE) sign = -sign; /* an interchange */
    }
  }
  return sign;
}

static void to_permuted(double *work, const double *x, const ds_block_pattern *p) {
  for (int32_t k = 0; k < p->n; k++)
    memcpy(work + p->start[k], x + p->first_row[p->order[k]], (size_t)p->size[k] * sizeof(double));
}

static void from_permuted(double *x, const double *work, const ds_block_pattern *p) {
  for (int32_t k = 0; k < p->n; k++)
    memcpy(x + p->first_row[p->order[k]], work + p->start[k], (size_t)p->size[k] * sizeof(double));
}

/* The rows below a panel -= its part below times y, the panel's part of the vector. */
static void subtract_below(double *work, const ds_block_matrix *m, const ds_panel *panel, const double *values,
                           const double *y) {
  const ds_block_pattern *p = m->pattern;
  int32_t below = panel->rows - panel->width;
  if (below == 0) return;
  ds_panel_times(m->below, values + panel->width, y, below, panel->width, panel->ld);
  for (int32_t s = panel->below; s < panel->below_end; s++) {
    double *to = work + p->start[p->below[s]];
    const double *from = m->below + p->below_at[s] - panel->width;
    for (int32_t i = 0; i < p->size[p->below[s]]; i++) to[i] -= from[i];
  }
}

/* y -= (part below the panel)ᵀ times the rows below */
static void subtract_above(double *y, const ds_block_matrix *m, const ds_panel *panel, const double *values,
                           const double *work) {
  const ds_block_pattern *p = m->pattern;
  int32_t below = panel->rows - panel->width;
  if (below == 0) return;
  for (int32_t s = panel->below; s < panel->below_end; s++)
    memcpy(m->below + p->below_at[s] - panel->width, work + p->start[p->below[s]],
           (size_t)p->size[p->below[s]] * sizeof(double));
  ds_panel_subtract_dots(y, values + panel->width, m->below, below, panel->width, panel->ld);
}

void ds_block_cholesky_solve(double *x, const ds_block_matrix *m, double *work) {
  const ds_block_pattern *p = m->pattern;
  to_permuted(work, x, p);
  for (int32_t i = 0; i < p->panel_count; i++) {
    const ds_panel *panel = &p->panels[i];
    const double *l = m->factor_lower + panel->at, *inverse = m->inverse + p->start[panel->first];
    double *y = work + p->start[panel->first];
    for (int32_t j = 0; j < panel->width; j++) {
      double yj = y[j] *= inverse[j];
      for (int32_t r = j + 1; r < panel->width; r++) y[r] -= l[(ptrdiff_t)j * panel->ld + r] * yj;
    }
    subtract_below(work, m, panel, l, y);
  }
  for (int32_t i = p->panel_count - 1; i >= 0; i--) {
    const ds_panel *panel = &p->panels[i];
    const double *l = m->factor_lower + panel->at, *inverse = m->inverse + p->start[panel->first];
    double *y = work + p->start[panel->first];
    subtract_above(y, m, panel, l, work);
    for (int32_t j = panel->width - 1; j >= 0; j--) {
      double s = y[j];
      for (int32_t r = j + 1; r < panel->width; r++) s -= l[(ptrdiff_t)j * panel->ld + r] * y[r];
      y[j] = s * inverse[j];
    }
  }
  from_permuted(x, work, p);
}

/* y := L⁻¹ y within a panel: tile by tile interchange, divide by the unit lower triangle, subtract from what follows.
 */
static void panel_forward(double *y, const double *l, const int32_t *pivots, const ds_panel *panel) {
  for (int32_t j = 0; j < panel->width; j += DS_TILE) {
    int32_t n = panel->width - j < DS_TILE ? panel->width - j : DS_TILE;
    for (int32_t k = 0; k < n; k++) {
      double t = y[j + k];
      y[j + k] = y[j + pivots[j + k]];
      y[j + pivots[j + k]] = t;
    }
    for (int32_t k = j; k < j + n; k++)
      for (int32_t r = k + 1; r < panel->width; r++) y[r] -= l[(ptrdiff_t)k * panel->ld + r] * y[k];
  }
}

/* y := U⁻¹ y within a panel: U inside a tile lies in l, beyond it transposed in u. */
static void panel_backward(double *y, const double *l, const double *u, const double *inverse, const ds_panel *panel) {
  for (int32_t k = panel->width - 1; k >= 0; k--) {
    int32_t j = k / DS_TILE * DS_TILE, end = j + DS_TILE < panel->width ? j + DS_TILE : panel->width;
    double s = y[k];
    for (int32_t r = end; r < panel->width; r++) s -= u[(ptrdiff_t)k * panel->ld + r] * y[r];
    for (int32_t r = k + 1; r < end; r++) s -= l[(ptrdiff_t)r * panel->ld + k] * y[r];
    y[k] = s * inverse[k];
  }
}

void ds_block_lu_solve(double *x, const ds_block_matrix *m, double *work) {
  const ds_block_pattern *p = m->pattern;
  to_permuted(work, x, p);
  for (int32_t i = 0; i < p->panel_count; i++) {
    const ds_panel *panel = &p->panels[i];
    double *y = work + p->start[panel->first];
    panel_forward(y, m->factor_lower + panel->at, m->pivots + p->start[panel->first], panel);
    subtract_below(work, m, panel, m->factor_lower + panel->at, y);
  }
  for (int32_t i = p->panel_count - 1; i >= 0; i--) {
    const ds_panel *panel = &p->panels[i];
    double *y = work + p->start[panel->first];
    subtract_above(y, m, panel, m->factor_upper + panel->at, work);
    panel_backward(y, m->factor_lower + panel->at, m->factor_upper + panel->at, m->inverse + p->start[panel->first],
                   panel);
  }
  from_permuted(x, work, p);
}
