#include "project/twofold_system.h"

#include <string.h>

/* Of the time of a step, over that of one in double: 6.3 to 6.7 for 62 to 225 contacts of 8 to 33 bodies. */
static const double COST = 6.5;

ds_twofold_system *ds_twofold_system_create(ds_arena *arena, ds_system *system) {
  if (system->local) return NULL;
  ds_twofold_system *s = DS_NEW0(arena, ds_twofold_system, 1);
  if (!s) return NULL;
  s->system = system;
  s->matrix = ds_block_twofold_create(arena, system->pattern);
  return s->matrix ? s : NULL;
}

/* Block (a, b) of H += G_a C G_bᵀ for one contact, 3 rows of na and nb numbers. */
static void add_product(ds_block_view to, const double *ga, const double *gb, const ds_twofold *c, int32_t na,
                        int32_t nb) {
  for (int32_t j = 0; j < nb; j++) {
    ds_twofold y[3];
    for (int i = 0; i < 3; i++) {
      y[i] = ds_twofold_scale(gb[j], c[3 * i]);
      y[i] = ds_twofold_add_scaled(y[i], gb[nb + j], c[3 * i + 1]);
      y[i] = ds_twofold_add_scaled(y[i], gb[2 * nb + j], c[3 * i + 2]);
    }
    for (int32_t i = 0; i < na; i++) {
      ds_twofold *at = to.at + i * to.row + j * to.column, h = *at;
      for (int k = 0; k < 3; k++) h = ds_twofold_add_scaled(h, ga[k * na + i], y[k]);
      *at = h;
    }
  }
}

static void assemble(ds_twofold_system *s, const ds_twofold *c) {
  const ds_subproblem *p = s->system->problem;
  ds_block_twofold_identity(s->matrix);
  for (int32_t k = 0; k < p->contact_count; k++)
    for (int32_t i = 0; i < 4; i++) {
      int32_t side = i / 2, other = i % 2, a = p->body[2 * k + side], b = p->body[2 * k + other];
      if (a < 0 || b < 0) continue;
      add_product(ds_block_twofold_at(s->matrix, a, b), p->g + p->jacobian[2 * k + side],
                  p->g + p->jacobian[2 * k + other], c + 9 * k, p->size[a], p->size[b]);
    }
}

bool ds_twofold_system_factor(ds_twofold_system *s, const ds_twofold *c) {
  if (ds_effort_is_over(s->system->effort)) return false;
  s->system->factorizations++;
  ds_effort_spend(s->system->effort, COST, s->system->problem->contact_count);
  assemble(s, c);
  return ds_block_twofold_lu(s->matrix);
}

void ds_twofold_system_solve(ds_twofold *x, const ds_twofold_system *s) { ds_block_twofold_solve(x, s->matrix); }

int32_t ds_twofold_system_sign(const ds_twofold_system *s) { return ds_block_twofold_sign(s->matrix); }

void ds_twofold_push(ds_twofold *v, const ds_subproblem *p, const ds_twofold *r) {
  memset(v, 0, (size_t)p->dof * sizeof *v);
  for (int32_t i = 0; i < 2 * p->contact_count; i++) {
    int32_t body = p->body[i], n = body >= 0 ? p->size[body] : 0;
    const double *g = p->g + p->jacobian[i];
    for (int32_t j = 0; j < n; j++)
      for (int c = 0; c < 3; c++) {
        ds_twofold *to = &v[p->first[body] + j];
        *to = ds_twofold_add_scaled(*to, g[c * n + j], r[3 * (i / 2) + c]);
      }
  }
}

void ds_twofold_slip(ds_twofold *y, const ds_subproblem *p, const ds_twofold *v) {
  memset(y, 0, 3 * (size_t)p->contact_count * sizeof *y);
  for (int32_t i = 0; i < 2 * p->contact_count; i++) {
    int32_t body = p->body[i], n = body >= 0 ? p->size[body] : 0;
    const double *g = p->g + p->jacobian[i];
    for (int c = 0; c < 3; c++)
      for (int32_t j = 0; j < n; j++) {
        ds_twofold *to = &y[3 * (i / 2) + c];
        *to = ds_twofold_add_scaled(*to, g[c * n + j], v[p->first[body] + j]);
      }
  }
}
