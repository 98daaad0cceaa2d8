#include "methods/stewart_trinkle.h"

#include <math.h>
#include <string.h>

#include "la/vec3.h"

/* W = GᵀG, dense, 3 x contacts squared; column after column. */
static double *dense_w(ds_arena *arena, const ds_subproblem *p) {
  size_t rows = 3 * (size_t)p->contact_count;
  double *w = DS_NEW(arena, double, rows *rows), *r = DS_NEW0(arena, double, rows),
         *v = DS_NEW(arena, double, p->dof + 1);
  if (!w || !r || !v) return NULL;
  for (size_t i = 0; i < rows; i++) {
    memset(v, 0, (size_t)p->dof * sizeof *v);
    r[i] = 1;
    ds_subproblem_add_impulse(v, p, r);
    r[i] = 0;
    ds_subproblem_apply_transposed(w + i * rows, p, v); /* symmetric: a column is a row */
  }
  return w;
}

/* The row of W that unknown i < (1 + corners) contacts stands for, as a combination of a contact's three. */
typedef struct row {
  int32_t contact;
  double part[3];
} row;

static row row_of(const ds_lcp *l, int32_t i) {
  if (i < l->contacts) return (row){i, {1, 0, 0}};
  int32_t j = i - l->contacts;
  double angle = 2 * DS_PI * (j % l->corners) / l->corners;
  return (row){j / l->corners, {0, cos(angle), sin(angle)}};
}

bool ds_lcp_build(ds_arena *arena, ds_lcp *l, const ds_subproblem *p, int32_t corners) {
  int32_t nc = p->contact_count, impulses = nc * (1 + corners);
  size_t rows = 3 * (size_t)nc;
  *l = (ds_lcp){.n = nc * (2 + corners), .contacts = nc, .corners = corners, .unit = p->rho};
  if (nc > DS_LCP_CONTACTS) return false;
  size_t n = (size_t)l->n;
  const double *w = dense_w(arena, p);
  l->m = DS_NEW0(arena, double, n *n);
  l->q = DS_NEW0(arena, double, n);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < impulses; i++) {
    row a = row_of(l, i);
    const double *free_slip = p->free_slip + 3 * a.contact;
    l->q[i] = a.part[0] * free_slip[0] + a.part[1] * free_slip[1] + a.part[2] * free_slip[2];
    for (int32_t j = 0; j < impulses; j++) {
      row b = row_of(l, j);
      double sum = 0;
      for (int s = 0; s < 3; s++)
        for (int t = 0; t < 3 && a.part[s] != 0; t++)
          sum +=
              a.part[s] * w[(3 * (size_t)a.contact + (size_t)s) * rows + 3 * (size_t)b.contact + (size_t)t] * b.part[t];
      l->m[(size_t)i * n + (size_t)j] = l->unit * sum;
    }
    if (i < nc) continue;
    size_t lambda = (size_t)(impulses + a.contact);
    l->m[(size_t)i * n + lambda] = 1;
    l->m[lambda * n + (size_t)i] = -1;
    l->m[lambda * n + (size_t)a.contact] = p->mu[a.contact];
  }
  return true;
}

void ds_lcp_impulses(double *r, const ds_lcp *l, const double *z) {
  memset(r, 0, 3 * (size_t)l->contacts * sizeof *r);
  for (int32_t i = 0; i < l->contacts * (1 + l->corners); i++) {
    row a = row_of(l, i);
    for (int c = 0; c < 3; c++) r[3 * a.contact + c] += l->unit * a.part[c] * z[i];
  }
}
