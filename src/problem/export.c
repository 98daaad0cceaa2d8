#include "problem/export.h"

static bool export_identity(ds_arena *arena, ds_matrix *out, int32_t n) {
  int32_t *index = DS_NEW(arena, int32_t, n + 1);
  double *value = DS_NEW(arena, double, n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < n; i++) index[i] = i, value[i] = 1;
  *out = (ds_matrix){.rows = n, .columns = n, .entries = n, .row = index, .column = index, .value = value};
  return true;
}

/* G: dof x 3 contacts. Zeros are entries too: a block without them would lose its size, and with it its place. */
static bool export_jacobian(ds_arena *arena, ds_matrix *out, const ds_subproblem *p) {
  int32_t entries = 0, filled = 0;
  for (int32_t side = 0; side < 2 * p->contact_count; side++)
    if (p->body[side] >= 0) entries += 3 * p->size[p->body[side]];
  int32_t *row = DS_NEW(arena, int32_t, entries + 1), *column = DS_NEW(arena, int32_t, entries + 1);
  double *value = DS_NEW(arena, double, entries + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t side = 0; side < 2 * p->contact_count; side++) {
    int32_t body = p->body[side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[side];
    for (int32_t c = 0; c < 3; c++)
      for (int32_t i = 0; i < p->size[body]; i++, filled++) {
        row[filled] = p->first[body] + i;
        column[filled] = 3 * (side / 2) + c;
        value[filled] = g[c * p->size[body] + i];
      }
  }
  *out = (ds_matrix){p->dof, 3 * p->contact_count, entries, row, column, value};
  return true;
}

bool ds_subproblem_export(ds_arena *arena, ds_problem *out, const ds_subproblem *p) {
  *out = (ds_problem){.form = DS_PROBLEM_GLOBAL,
                      .dimension = 3,
                      .contacts = p->contact_count,
                      .dof = p->dof,
                      .f = p->predicted,
                      .mu = p->mu,
                      .body_size = p->size,
                      .u_before = p->u_before,
                      .body_count = p->body_count};
  double *w = DS_NEW(arena, double, 3 * (size_t)p->contact_count + 1);
  if (!export_identity(arena, &out->M, p->dof) || !export_jacobian(arena, &out->H, p)) return false;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) w[i] = -p->b[i];
  out->w = w;
  return true;
}
