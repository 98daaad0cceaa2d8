/* Right-looking factorization by the panels of block.c: a panel's own rows are factored with pivots among themselves,
 * P D = L U; then L_b = A_b U⁻¹ below and U_b = L⁻¹ P A_b beside, and A_ij -= L_i U_j for all pairs of blocks below. */
#include "la/block_twofold.h"

#include <math.h>
#include <string.h>

ds_block_twofold *ds_block_twofold_create(ds_arena *arena, const ds_block_pattern *p) {
  ds_block_twofold *m = DS_NEW0(arena, ds_block_twofold, 1);
  if (!m) return NULL;
  m->pattern = p;
  m->lower = DS_NEW(arena, ds_twofold, p->factor_values + 1);
  m->upper = DS_NEW(arena, ds_twofold, p->factor_values + 1);
  m->inverse = DS_NEW(arena, ds_twofold, p->dimension + 1);
  m->work = DS_NEW(arena, ds_twofold, p->dimension + 1);
  m->pivots = DS_NEW(arena, int32_t, p->dimension + 1);
  return ds_arena_failed(arena) ? NULL : m;
}

/* Block (i, j), by position. */
static ds_block_view block_at(const ds_block_twofold *m, int32_t i, int32_t j) {
  const ds_block_pattern *p = m->pattern;
  int32_t first = i < j ? i : j, other = i < j ? j : i;
  const ds_panel *panel = &p->panels[p->panel_of[first]];
  ptrdiff_t ld = panel->ld, own = p->start[panel->first];
  if (other < panel->end)
    return (ds_block_view){m->lower + panel->at + (p->start[j] - own) * ld + (p->start[i] - own), 1, ld};
  int32_t s = panel->below;
  while (p->below[s] != other) s++;
  ptrdiff_t at = (ptrdiff_t)panel->at + (p->start[first] - own) * ld + p->below_at[s];
  return first == j ? (ds_block_view){m->lower + at, 1, ld} : (ds_block_view){m->upper + at, ld, 1};
}

ds_block_view ds_block_twofold_at(const ds_block_twofold *m, int32_t i, int32_t j) {
  return block_at(m, m->pattern->position[i], m->pattern->position[j]);
}

void ds_block_twofold_identity(ds_block_twofold *m) {
  const ds_block_pattern *p = m->pattern;
  memset(m->lower, 0, (size_t)p->factor_values * sizeof *m->lower);
  memset(m->upper, 0, (size_t)p->factor_values * sizeof *m->upper);
  for (int32_t k = 0; k < p->n; k++) {
    ds_block_view block = block_at(m, k, k);
    for (int32_t i = 0; i < p->size[k]; i++) block.at[i * (block.row + block.column)].hi = 1;
  }
}

static void interchange(ds_twofold *a, ds_twofold *b) {
  ds_twofold t = *a;
  *a = *b, *b = t;
}

/* The largest of column k from row k on becomes the pivot. */
static bool choose_pivot(ds_twofold *d, ds_twofold *inverse, int32_t *pivots, const ds_panel *panel, int32_t k) {
  ptrdiff_t ld = panel->ld;
  int32_t largest = k;
  for (int32_t r = k + 1; r < panel->width; r++)
    if (fabs(d[k * ld + r].hi) > fabs(d[k * ld + largest].hi)) largest = r;
  for (int32_t c = 0; c < panel->width && largest != k; c++) interchange(&d[c * ld + k], &d[c * ld + largest]);
  pivots[k] = largest;
  inverse[k] = ds_twofold_inverse(d[k * ld + k]);
  return d[k * ld + k].hi != 0 && isfinite(inverse[k].hi) && isfinite(inverse[k].lo);
}

static bool factor_panel(ds_block_twofold *m, const ds_panel *panel) {
  ds_twofold *l = m->lower + panel->at, *u = m->upper + panel->at;
  ds_twofold *inverse = m->inverse + m->pattern->start[panel->first];
  int32_t width = panel->width, rows = panel->rows, *pivots = m->pivots + m->pattern->start[panel->first];
  ptrdiff_t ld = panel->ld;
  for (int32_t k = 0; k < width; k++) {
    if (!choose_pivot(l, inverse, pivots, panel, k)) return false;
    if (pivots[k] != k)
      for (int32_t r = width; r < rows; r++) interchange(&u[k * ld + r], &u[pivots[k] * ld + r]);
    for (int32_t r = k + 1; r < rows; r++) l[k * ld + r] = ds_twofold_times(l[k * ld + r], inverse[k]);
    for (int32_t c = k + 1; c < width; c++) {
      ds_twofold above = l[c * ld + k], left = l[k * ld + c]; /* U_kc and L_ck */
      for (int32_t r = k + 1; r < rows; r++) l[c * ld + r] = ds_twofold_less(l[c * ld + r], l[k * ld + r], above);
      for (int32_t r = width; r < rows; r++) u[c * ld + r] = ds_twofold_less(u[c * ld + r], u[k * ld + r], left);
    }
  }
  return true;
}

/* A_ij -= L_i U_j, blocks i and j of below[] */
static void update(ds_block_twofold *m, const ds_panel *panel, int32_t i, int32_t j) {
  const ds_block_pattern *p = m->pattern;
  const ds_twofold *l = m->lower + panel->at + p->below_at[i], *u = m->upper + panel->at + p->below_at[j];
  ds_block_view to = block_at(m, p->below[i], p->below[j]);
  for (int32_t r = 0; r < p->size[p->below[i]]; r++)
    for (int32_t c = 0; c < p->size[p->below[j]]; c++) {
      ds_twofold *at = to.at + r * to.row + c * to.column, a = *at;
      for (ptrdiff_t k = 0; k < panel->width; k++) a = ds_twofold_less(a, l[k * panel->ld + r], u[k * panel->ld + c]);
      *at = a;
    }
}

bool ds_block_twofold_lu(ds_block_twofold *m) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t k = 0; k < p->panel_count; k++) {
    const ds_panel *panel = &p->panels[k];
    if (!factor_panel(m, panel)) return false;
    for (int32_t i = panel->below; i < panel->below_end; i++)
      for (int32_t j = panel->below; j < panel->below_end; j++) update(m, panel, i, j);
  }
  return true;
}

int32_t ds_block_twofold_sign(const ds_block_twofold *m) {
  const ds_block_pattern *p = m->pattern;
  int32_t sign = 1;
  for (int32_t i = 0; i < p->panel_count; i++)
    for (int32_t k = 0, at = p->start[p->panels[i].first]; k < p->panels[i].width; k++) {
      if (m->inverse[at + k].hi < 0) sign = -sign;
      if (m->pivots[at + k] != k) sign = -sign;
    }
  return sign;
}

/* y := L⁻¹ P y in the panel's own rows, and the rows below less L_b y */
static void forward(ds_twofold *work, const ds_block_twofold *m, const ds_panel *panel) {
  const ds_block_pattern *p = m->pattern;
  const ds_twofold *l = m->lower + panel->at;
  ds_twofold *y = work + p->start[panel->first];
  for (int32_t k = 0; k < panel->width; k++) interchange(&y[k], &y[m->pivots[p->start[panel->first] + k]]);
  for (ptrdiff_t k = 0; k < panel->width; k++) {
    for (ptrdiff_t r = k + 1; r < panel->width; r++) y[r] = ds_twofold_less(y[r], l[k * panel->ld + r], y[k]);
    for (int32_t s = panel->below; s < panel->below_end; s++)
      for (int32_t i = 0; i < p->size[p->below[s]]; i++) {
        ds_twofold *to = &work[p->start[p->below[s]] + i];
        *to = ds_twofold_less(*to, l[k * panel->ld + p->below_at[s] + i], y[k]);
      }
  }
}

/* y := U⁻¹ (y - U_b x) in the panel's own rows */
static void backward(ds_twofold *work, const ds_block_twofold *m, const ds_panel *panel) {
  const ds_block_pattern *p = m->pattern;
  const ds_twofold *l = m->lower + panel->at, *u = m->upper + panel->at;
  ds_twofold *y = work + p->start[panel->first];
  for (ptrdiff_t k = panel->width - 1; k >= 0; k--) {
    for (int32_t s = panel->below; s < panel->below_end; s++)
      for (int32_t i = 0; i < p->size[p->below[s]]; i++)
        y[k] = ds_twofold_less(y[k], u[k * panel->ld + p->below_at[s] + i], work[p->start[p->below[s]] + i]);
    for (ptrdiff_t c = k + 1; c < panel->width; c++) y[k] = ds_twofold_less(y[k], l[c * panel->ld + k], y[c]);
    y[k] = ds_twofold_times(y[k], m->inverse[p->start[panel->first] + k]);
  }
}

void ds_block_twofold_solve(ds_twofold *x, const ds_block_twofold *m) {
  const ds_block_pattern *p = m->pattern;
  for (int32_t k = 0; k < p->n; k++)
    memcpy(m->work + p->start[k], x + p->first_row[p->order[k]], (size_t)p->size[k] * sizeof *x);
  for (int32_t i = 0; i < p->panel_count; i++) forward(m->work, m, &p->panels[i]);
  for (int32_t i = p->panel_count - 1; i >= 0; i--) backward(m->work, m, &p->panels[i]);
  for (int32_t k = 0; k < p->n; k++)
    memcpy(x + p->first_row[p->order[k]], m->work + p->start[k], (size_t)p->size[k] * sizeof *x);
}
