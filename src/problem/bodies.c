/* With M_b = L Lᵀ for every body, velocities are scaled by Lᵀ: G = L⁻¹ H, v_p = L⁻¹ f, b = -w. Where M is the identity
 * nothing is scaled, and the subproblem of a dumped step is the one that was solved, bit by bit: then the entries of a
 * contact come body by body, complete, and the order of its two bodies is theirs. */
#include "problem/bodies.h"

#include <string.h>

#include "base/error.h"
#include "la/small.h"

typedef struct bodies {
  int32_t count;
  int32_t *size, *first, *of_row; /* of_row: body of a degree of freedom */
  int64_t *factor;                /* offset of a body's L */
  int32_t (*touched)[2];          /* a contact: its bodies, -1 = none */
} bodies;

/* Two bodies of every contact in the order of its entries; false where one has more, or a row of M crosses bodies. */
static bool two_each(const bodies *b, const ds_problem *p) {
  for (int32_t k = 0; k < p->contacts; k++) b->touched[k][0] = b->touched[k][1] = -1;
  for (int32_t t = 0; t < p->H.entries; t++) {
    int32_t body = b->of_row[p->H.row[t]], *two = b->touched[p->H.column[t] / p->dimension];
    if (two[0] == body || two[1] == body) continue;
    if (two[0] < 0)
      two[0] = body;
    else if (two[1] < 0)
      two[1] = body;
    else
      return false;
  }
  for (int32_t t = 0; t < p->M.entries; t++)
    if (p->M.value[t] != 0 && b->of_row[p->M.row[t]] != b->of_row[p->M.column[t]]) return false;
  return true;
}

static bool is_identity(const ds_matrix *m) {
  int32_t ones = 0;
  for (int32_t t = 0; t < m->entries; t++) {
    if (m->value[t] == 0) continue;
    if (m->row[t] != m->column[t] || m->value[t] != 1) return false;
    ones++;
  }
  return ones == m->rows;
}

static ds_status factor_bodies(ds_arena *arena, ds_whole *whole, const bodies *b, const ds_problem *p,
                               ds_error *error) {
  double *l = DS_NEW0(arena, double, b->factor[b->count] + 1);
  if (!l) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  for (int32_t t = 0; t < p->M.entries; t++) {
    int32_t body = b->of_row[p->M.row[t]], n = b->size[body];
    int32_t i = p->M.row[t] - b->first[body], j = p->M.column[t] - b->first[body];
    if (p->M.value[t] == 0) continue;
    l[b->factor[body] + i * n + j] += 0.5 * p->M.value[t];
    l[b->factor[body] + j * n + i] += 0.5 * p->M.value[t];
  }
  for (int32_t i = 0; i < b->count; i++)
    if (!ds_small_cholesky(l + b->factor[i], b->size[i]))
      return ds_fail(error, DS_ERROR_INPUT,
                     "the block of M of body %d is not positive definite; expected its mass matrix", i);
  whole->body_factor = l;
  return DS_OK;
}

static bool fill_subproblem(ds_arena *arena, ds_whole *whole, const bodies *b, const ds_problem *p) {
  int32_t n = p->contacts, d = p->dimension, *body = DS_NEW(arena, int32_t, 2 * (size_t)n + 1);
  int32_t *jacobian = DS_NEW(arena, int32_t, 2 * (size_t)n + 1);
  int64_t length = 0;
  double *predicted = DS_NEW(arena, double, p->dof + 1), *bias = DS_NEW0(arena, double, 3 * (size_t)n + 1);
  double *q = DS_NEW0(arena, double, 3 * (size_t)n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < n; k++)
    for (int32_t side = 0; side < 2; side++) {
      int32_t at = b->touched[k][side];
      body[2 * k + side] = at;
      jacobian[2 * k + side] = (int32_t)length;
      if (at >= 0) length += 3 * (int64_t)b->size[at];
      if (length > INT32_MAX) return false;
    }
  double *g = DS_NEW0(arena, double, length + 1);
  if (!g) return false;
  for (int32_t t = 0; t < p->H.entries; t++) {
    int32_t k = p->H.column[t] / d, c = p->H.column[t] % d, at = b->of_row[p->H.row[t]];
    int32_t side = at == body[2 * k] ? 0 : 1;
    g[jacobian[2 * k + side] + c * b->size[at] + p->H.row[t] - b->first[at]] += p->H.value[t];
  }
  memcpy(predicted, p->f, (size_t)p->dof * sizeof(double));
  for (int32_t i = 0; i < d * n; i++) bias[3 * (i / d) + i % d] = -p->w[i];
  if (whole->body_factor) {
    for (int32_t i = 0; i < b->count; i++)
      ds_small_solve_l(predicted + b->first[i], whole->body_factor + b->factor[i], b->size[i]);
    for (int32_t i = 0; i < 2 * n; i++)
      for (int32_t c = 0; c < 3 && body[i] >= 0; c++)
        ds_small_solve_l(g + jacobian[i] + c * b->size[body[i]], whole->body_factor + b->factor[body[i]],
                         b->size[body[i]]);
  }
  whole->p = (ds_subproblem){.body_count = b->count,
                             .contact_count = n,
                             .dof = p->dof,
                             .size = b->size,
                             .first = b->first,
                             .body = body,
                             .jacobian = jacobian,
                             .g = g,
                             .predicted = predicted,
                             .b = bias,
                             .mu = p->mu,
                             .u_before = p->dimension == 3 ? p->u_before : NULL};
  whole->q = q;
  ds_subproblem_slip(q, &whole->p, predicted);
  return ds_subproblem_prepare(arena, &whole->p);
}

/* Blocks of M from its pattern: consecutive rows that it joins. */
static int32_t find_sizes(int32_t *size, int32_t *reach, const ds_problem *p) {
  int32_t count = 0;
  for (int32_t i = 0; i < p->dof; i++) reach[i] = i;
  for (int32_t t = 0; t < p->M.entries; t++) {
    int32_t low = p->M.row[t] < p->M.column[t] ? p->M.row[t] : p->M.column[t];
    int32_t high = p->M.row[t] < p->M.column[t] ? p->M.column[t] : p->M.row[t];
    if (p->M.value[t] != 0 && high > reach[low]) reach[low] = high;
  }
  for (int32_t i = 0, end; i < p->dof; i = end) {
    int32_t last = reach[i];
    for (end = i + 1; end <= last; end++)
      if (reach[end] > last) last = reach[end];
    size[count++] = end - i;
  }
  return count;
}

/* Rows and factors of bodies whose sizes are set. */
static void lay_out(bodies *b) {
  b->factor[0] = 0;
  for (int32_t i = 0, row = 0; i < b->count; row += b->size[i], i++) {
    b->first[i] = row;
    for (int32_t j = 0; j < b->size[i]; j++) b->of_row[row + j] = i;
    b->factor[i + 1] = b->factor[i] + (int64_t)b->size[i] * b->size[i];
  }
}

static bool all_of_size(bodies *b, const ds_problem *p, int32_t size) {
  if (p->dof % size != 0) return false;
  b->count = p->dof / size;
  for (int32_t i = 0; i < b->count; i++) b->size[i] = size;
  lay_out(b);
  return two_each(b, p);
}

/* Bodies of the problem, each contact with two of them at most. The pattern of M has them where its blocks are full. A
 * diagonal M, or one with uncoupled translations, falls apart into single rows, and a contact touches six of them and
 * more: then all bodies are taken to be of one kind, spatial or planar. Those of the problem's own dimension first: an
 * even number of planar bodies is also half as many spatial ones, each of two that are far apart. */
static bool find_bodies(bodies *b, const ds_problem *p) {
  if (p->body_size) {
    b->count = p->body_count;
    memcpy(b->size, p->body_size, (size_t)p->body_count * sizeof(int32_t));
  } else {
    b->count = find_sizes(b->size, b->of_row, p);
  }
  lay_out(b);
  if (two_each(b, p)) return true;
  int32_t own = p->dimension == 2 ? 3 : 6;
  return !p->body_size && (all_of_size(b, p, own) || all_of_size(b, p, 9 - own));
}

ds_status ds_problem_keep_bodies(ds_arena *arena, ds_whole *whole, bool *kept, const ds_problem *p, ds_error *error) {
  *kept = false;
  /* without a hint bodies pay only where contacts outnumber them */
  if (p->equalities > 0 || (!p->body_size && p->dof > 3 * p->contacts)) return DS_OK;
  bodies b = {0};
  b.size = DS_NEW(arena, int32_t, p->dof + 1);
  b.first = DS_NEW(arena, int32_t, p->dof + 1);
  b.of_row = DS_NEW(arena, int32_t, p->dof + 1);
  b.factor = DS_NEW(arena, int64_t, p->dof + 1);
  b.touched = ds_arena_alloc(arena, (size_t)p->contacts + 1, sizeof *b.touched);
  if (ds_arena_failed(arena)) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  if (!find_bodies(&b, p)) return DS_OK;
  if (!is_identity(&p->M)) {
    ds_status status = factor_bodies(arena, whole, &b, p, error);
    if (status != DS_OK) return status;
  }
  if (!fill_subproblem(arena, whole, &b, p)) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  *kept = true;
  return DS_OK;
}

void ds_whole_body_velocity(double *v, const ds_whole *whole, const double *r) {
  const ds_subproblem *p = &whole->p;
  const double *l = whole->body_factor;
  ds_subproblem_velocity(v, p, r);
  for (int32_t i = 0; i < p->body_count && l; l += p->size[i] * p->size[i], i++)
    ds_small_solve_lt(v + p->first[i], l, p->size[i]);
}
