#include <math.h>

#include "base/error.h"
#include "problem/condense.h"

static ds_status check_matrix(const ds_matrix *m, const char *name, int32_t rows, int32_t columns, ds_error *error) {
  if (m->rows != rows || m->columns != columns)
    return ds_fail(error, DS_ERROR_INPUT, "%s is %d x %d; expected %d x %d", name, m->rows, m->columns, rows, columns);
  if (m->entries < 0 || (m->entries > 0 && (!m->row || !m->column || !m->value)))
    return ds_fail(error, DS_ERROR_INPUT, "%s has %d entries but no arrays of rows, columns and values", name,
                   m->entries);
  for (int32_t i = 0; i < m->entries; i++) {
    if (m->row[i] < 0 || m->row[i] >= rows || m->column[i] < 0 || m->column[i] >= columns)
      return ds_fail(error, DS_ERROR_INPUT, "entry %d of %s is at row %d, column %d; expected less than %d and %d", i,
                     name, m->row[i], m->column[i], rows, columns);
    if (!isfinite(m->value[i])) return ds_fail(error, DS_ERROR_INPUT, "entry %d of %s is not a finite number", i, name);
  }
  return DS_OK;
}

static ds_status check_vector(const double *x, const char *name, int32_t length, ds_error *error) {
  if (length > 0 && !x) return ds_fail(error, DS_ERROR_INPUT, "%s is missing; expected %d numbers", name, length);
  for (int32_t i = 0; i < length; i++)
    if (!isfinite(x[i])) return ds_fail(error, DS_ERROR_INPUT, "%s[%d] is not a finite number", name, i);
  return DS_OK;
}

static ds_status check_local(const ds_problem *p, int32_t rows, ds_error *error) {
  ds_status s = check_matrix(&p->W, "W", rows, rows, error);
  if (s == DS_OK) s = check_vector(p->q, "q", rows, error);
  if (s == DS_OK && p->equalities > 0) s = check_matrix(&p->V, "V", rows, p->equalities, error);
  if (s == DS_OK && p->equalities > 0) s = check_matrix(&p->R, "R", p->equalities, p->equalities, error);
  if (s == DS_OK) s = check_vector(p->s, "s", p->equalities, error);
  return s;
}

static ds_status check_bodies(const ds_problem *p, ds_error *error) {
  int64_t sum = 0;
  ds_status s = p->u_before ? check_vector(p->u_before, "u_before", p->dimension * p->contacts, error) : DS_OK;
  if (s != DS_OK) return s;
  if (!p->body_size) return DS_OK;
  for (int32_t i = 0; i < p->body_count; i++) {
    if (p->body_size[i] < 1)
      return ds_fail(error, DS_ERROR_INPUT, "body_size[%d] is %d; expected at least 1", i, p->body_size[i]);
    sum += p->body_size[i];
  }
  if (sum != p->dof)
    return ds_fail(error, DS_ERROR_INPUT, "the sizes of %d bodies add up to %lld; expected the %d rows of M",
                   p->body_count, (long long)sum, p->dof);
  return DS_OK;
}

static ds_status check_global(const ds_problem *p, int32_t rows, ds_error *error) {
  if (p->dof < 0) return ds_fail(error, DS_ERROR_INPUT, "dof is %d; expected 0 or more", p->dof);
  ds_status s = check_matrix(&p->M, "M", p->dof, p->dof, error);
  if (s == DS_OK) s = check_matrix(&p->H, "H", p->dof, rows, error);
  if (s == DS_OK) s = check_vector(p->f, "f", p->dof, error);
  if (s == DS_OK) s = check_vector(p->w, "w", rows, error);
  if (s == DS_OK && p->equalities > 0) s = check_matrix(&p->G, "G", p->dof, p->equalities, error);
  if (s == DS_OK) s = check_vector(p->b, "b", p->equalities, error);
  if (s == DS_OK) s = check_bodies(p, error);
  return s;
}

ds_status ds_problem_validate(const ds_problem *p, ds_error *error) {
  enum { CONTACTS_MAX = INT32_MAX / 64 };
  if (p->dimension != 2 && p->dimension != 3)
    return ds_fail(error, DS_ERROR_INPUT, "dimension is %d; expected 2 or 3", p->dimension);
  if (p->contacts < 0 || p->contacts > CONTACTS_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "there are %d contacts; expected 0 to %d", p->contacts, (int)CONTACTS_MAX);
  if (p->equalities < 0 || p->equalities > CONTACTS_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "there are %d equality rows; expected 0 to %d", p->equalities,
                   (int)CONTACTS_MAX);
  ds_status s = check_vector(p->mu, "mu", p->contacts, error);
  for (int32_t k = 0; s == DS_OK && k < p->contacts; k++)
    if (p->mu[k] < 0) s = ds_fail(error, DS_ERROR_INPUT, "mu[%d] is %g; expected 0 or more", k, p->mu[k]);
  if (s != DS_OK) return s;
  int32_t rows = p->dimension * p->contacts;
  return p->form == DS_PROBLEM_LOCAL ? check_local(p, rows, error) : check_global(p, rows, error);
}
