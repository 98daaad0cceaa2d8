/* W and q of a problem in either form:
 *
 *   local:  as given, less what equality rows take;
 *   global: W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹ f + w, and V = Hᵀ M⁻¹ G, R = Gᵀ M⁻¹ G, s = Gᵀ M⁻¹ f + b for the equality rows.
 *
 * A global problem whose M falls into bodies, of which a contact touches at most two, keeps them instead (bodies.c). */
#include "problem/condense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "problem/bodies.h"
#include "problem/delassus.h"
#include "problem/equality.h"
#include "problem/mass_factor.h"

static ds_status no_memory(ds_error *error) { return ds_fail(error, DS_ERROR_MEMORY, "out of memory"); }

/* One entry of [H G], to be sorted by component of M, then column. */
typedef struct entry {
  int32_t component, column, place;
  double value;
} entry;

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->component != y->component) return x->component < y->component ? -1 : 1;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static entry *sorted_entries(ds_arena *arena, int32_t *count, const ds_mass_factor *f, const ds_problem *p) {
  int32_t rows = p->dimension * p->contacts;
  entry *list = DS_NEW(arena, entry, (size_t)p->H.entries + (size_t)p->G.entries + 1);
  if (!list) return NULL;
  *count = 0;
  for (int32_t side = 0; side < 2; side++) {
    const ds_matrix *m = side == 0 ? &p->H : &p->G;
    for (int32_t t = 0; t < m->entries; t++)
      if (m->value[t] != 0)
        list[(*count)++] =
            (entry){f->component[m->row[t]], m->column[t] + (side == 0 ? 0 : rows), f->place[m->row[t]], m->value[t]};
  }
  qsort(list, (size_t)*count, sizeof *list, compare_entries);
  return list;
}

static double dot(const entry *column, const entry *end, const double *x) {
  double sum = 0;
  for (; column < end; column++) sum += column->value * x[column->place];
  return sum;
}

static const entry *column_end(const entry *e, const entry *end) {
  const entry *first = e;
  while (e < end && e->column == first->column) e++;
  return e;
}

typedef struct condensed {
  ds_triplets w, v, r;
  double *q, *s; /* d nc, ne */
  int32_t rows;
} condensed;

/* What one component of M adds. */
static void add_component(condensed *c, const ds_mass_factor *f, const double *force, const entry *begin,
                          const entry *end, double *x, double *work) {
  int32_t component = begin->component, n = f->start[component + 1] - f->start[component];
  for (int32_t i = 0; i < n; i++) x[i] = force[f->member[f->start[component] + i]];
  ds_mass_factor_solve(x, f, component, work);
  for (const entry *e = begin, *next; e < end; e = next) {
    next = column_end(e, end);
    *(e->column < c->rows ? &c->q[e->column] : &c->s[e->column - c->rows]) += dot(e, next, x);
  }
  for (const entry *j = begin, *after; j < end; j = after) {
    after = column_end(j, end);
    memset(x, 0, (size_t)n * sizeof *x);
    for (const entry *e = j; e < after; e++) x[e->place] += e->value;
    ds_mass_factor_solve(x, f, component, work);
    for (const entry *i = begin, *next; i <= j; i = next) { /* columns up to j: the other half is the same */
      next = column_end(i, end);
      double value = dot(i, next, x);
      int32_t a = i->column, b = j->column;
      if (b < c->rows) {
        ds_triplets_add(&c->w, a, b, value);
        if (a != b) ds_triplets_add(&c->w, b, a, value);
      } else if (a < c->rows) {
        ds_triplets_add(&c->v, a, b - c->rows, value);
      } else {
        ds_triplets_add(&c->r, a - c->rows, b - c->rows, value);
        if (a != b) ds_triplets_add(&c->r, b - c->rows, a - c->rows, value);
      }
    }
  }
}

static ds_status condense_global(ds_arena *arena, condensed *c, ds_whole *whole, const ds_problem *p, ds_error *error) {
  int32_t count = 0;
  ds_status status = ds_mass_factor_create(arena, &whole->mass, &p->M, error);
  if (status != DS_OK) return status;
  entry *list = sorted_entries(arena, &count, whole->mass, p);
  double *x = DS_NEW(arena, double, whole->mass->largest + 1), *work = DS_NEW(arena, double, whole->mass->largest + 1);
  if (ds_arena_failed(arena)) return no_memory(error);
  for (int32_t i = 0; i < c->rows; i++) c->q[i] = p->w[i];
  for (int32_t i = 0; i < p->equalities; i++) c->s[i] = p->b[i];
  for (int32_t t = 0, next; t < count; t = next) {
    for (next = t; next < count && list[next].component == list[t].component;) next++;
    add_component(c, whole->mass, p->f, list + t, list + next, x, work);
  }
  return ds_arena_failed(arena) ? no_memory(error) : DS_OK;
}

static ds_status take_local(ds_arena *arena, condensed *c, const ds_problem *p, ds_error *error) {
  for (int32_t t = 0; t < p->W.entries; t++) ds_triplets_add(&c->w, p->W.row[t], p->W.column[t], p->W.value[t]);
  for (int32_t t = 0; t < p->V.entries && p->equalities > 0; t++)
    ds_triplets_add(&c->v, p->V.row[t], p->V.column[t], p->V.value[t]);
  for (int32_t t = 0; t < p->R.entries && p->equalities > 0; t++)
    ds_triplets_add(&c->r, p->R.row[t], p->R.column[t], p->R.value[t]);
  memcpy(c->q, p->q, (size_t)c->rows * sizeof(double));
  if (p->equalities > 0) memcpy(c->s, p->s, (size_t)p->equalities * sizeof(double));
  return ds_arena_failed(arena) ? no_memory(error) : DS_OK;
}

static double mass_asymmetry(ds_arena *arena, const ds_problem *p) { /* |M - Mᵀ| / |M| */
  ds_delassus even, odd;
  double asymmetry = 0;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_delassus_build(arena, &even, &odd, &asymmetry, &p->M, p->dof, 1);
  ds_arena_release(arena, mark);
  return asymmetry;
}

/* Squares must neither overflow nor vanish. */
static ds_status check_units(const ds_whole *whole, ds_error *error) {
  const double low = 1e-60, high = 1e60;
  double w = whole->p.contact_count > 0 ? 1 / whole->p.rho : 1, q = whole->p.target;
  if (!(w >= low && w <= high))
    return ds_fail(error, DS_ERROR_INPUT, "the diagonal of W is of size %g; expected %g to %g: choose other units", w,
                   low, high);
  if (q != 0 && !(q >= low && q <= high))
    return ds_fail(error, DS_ERROR_INPUT, "q is of size %g; expected 0 or %g to %g: choose other units", q, low, high);
  return DS_OK;
}

static ds_status condense(ds_arena *arena, ds_whole *whole, const ds_problem *p, ds_error *error) {
  int32_t n = p->contacts, d = p->dimension;
  memset(whole, 0, sizeof *whole);
  whole->source = p;
  if (p->form == DS_PROBLEM_GLOBAL) {
    whole->asymmetry = mass_asymmetry(arena, p);
    bool bodies = false;
    ds_status status = ds_problem_keep_bodies(arena, whole, &bodies, p, error);
    if (status != DS_OK || bodies) return status;
  }
  condensed c = {.w = {.arena = arena}, .v = {.arena = arena}, .r = {.arena = arena}, .rows = d * n};
  c.q = DS_NEW0(arena, double, c.rows + 1);
  c.s = DS_NEW0(arena, double, p->equalities + 1);
  double *q = DS_NEW0(arena, double, 3 * (size_t)n + 1), *b = DS_NEW0(arena, double, 3 * (size_t)n + 1);
  double *zero = DS_NEW0(arena, double, 3 * (size_t)n + 1);
  if (ds_arena_failed(arena)) return no_memory(error);
  ds_status status =
      p->form == DS_PROBLEM_GLOBAL ? condense_global(arena, &c, whole, p, error) : take_local(arena, &c, p, error);
  if (status == DS_OK && p->equalities > 0) {
    ds_matrix v = ds_triplets_matrix(&c.v, c.rows, p->equalities);
    ds_matrix r = ds_triplets_matrix(&c.r, p->equalities, p->equalities);
    status = ds_equalities_eliminate(arena, &whole->equalities, &c.w, c.q, &v, &r, c.s, error);
  }
  if (status != DS_OK) return status;
  ds_delassus *even = DS_NEW(arena, ds_delassus, 1);
  ds_matrix w = ds_triplets_matrix(&c.w, c.rows, c.rows);
  double asymmetry;
  if (!even || !ds_delassus_build(arena, even, &whole->skew, &asymmetry, &w, n, d)) return no_memory(error);
  if (p->form == DS_PROBLEM_LOCAL)
    whole->asymmetry = asymmetry;
  else
    whole->skew.value = NULL; /* rounding */
  for (int32_t i = 0; i < c.rows; i++) q[3 * (i / d) + i % d] = c.q[i], b[3 * (i / d) + i % d] = -c.q[i];
  whole->q = q;
  whole->p =
      (ds_subproblem){.contact_count = n, .dof = 3 * n, .predicted = zero, .b = b, .mu = p->mu, .delassus = even};
  return ds_subproblem_prepare(arena, &whole->p) ? DS_OK : no_memory(error);
}

ds_status ds_problem_condense(ds_arena *arena, ds_whole *whole, const ds_problem *p, ds_error *error) {
  ds_status status = condense(arena, whole, p, error);
  return status == DS_OK ? check_units(whole, error) : status;
}

/* M v = H r + G l + f, component by component */
static void velocity_of_components(ds_arena *arena, double *v, const ds_whole *whole, const double *r) {
  const ds_problem *p = whole->source;
  const ds_mass_factor *f = whole->mass;
  double *x = DS_NEW(arena, double, f->largest + 1), *work = DS_NEW(arena, double, f->largest + 1);
  double *l = DS_NEW0(arena, double, p->equalities + 1), *flat = DS_NEW0(arena, double, p->dimension * p->contacts + 1);
  if (ds_arena_failed(arena)) return;
  for (int32_t i = 0; i < p->dimension * p->contacts; i++) flat[i] = r[3 * (i / p->dimension) + i % p->dimension];
  if (p->equalities > 0) ds_equalities_multipliers(l, whole->equalities, flat);
  memcpy(v, p->f, (size_t)p->dof * sizeof(double));
  for (int32_t t = 0; t < p->H.entries; t++) v[p->H.row[t]] += p->H.value[t] * flat[p->H.column[t]];
  for (int32_t t = 0; t < p->G.entries && p->equalities > 0; t++) v[p->G.row[t]] += p->G.value[t] * l[p->G.column[t]];
  for (int32_t c = 0; c < f->count; c++) {
    const int32_t *member = f->member + f->start[c];
    int32_t n = f->start[c + 1] - f->start[c];
    for (int32_t i = 0; i < n; i++) x[i] = v[member[i]];
    ds_mass_factor_solve(x, f, c, work);
    for (int32_t i = 0; i < n; i++) v[member[i]] = x[i];
  }
}

void ds_whole_velocity(ds_arena *arena, double *v, const ds_whole *whole, const double *r) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  if (whole->mass)
    velocity_of_components(arena, v, whole, r);
  else
    ds_whole_body_velocity(v, whole, r);
  ds_arena_release(arena, mark);
}
