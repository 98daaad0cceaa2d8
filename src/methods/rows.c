#include "methods/rows.h"

#include <string.h>

double ds_row_velocity(const ds_row_view *view, const double *v, int32_t k, int c) {
  const ds_subproblem *p = view->p;
  double u = -p->b[3 * k + c];
  if (p->delassus) return u + v[3 * k + c];
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side] + c * p->size[body], *vb = v + p->first[body];
    for (int32_t i = 0; i < p->size[body]; i++) u += g[i] * vb[i];
  }
  return u;
}

void ds_row_push(double *v, const ds_row_view *view, double impulse, int32_t k, int c) {
  const ds_subproblem *p = view->p;
  const ds_delassus *w = p->delassus;
  if (impulse == 0) return;
  for (int32_t s = w ? w->start[k] : 0; w && s < w->start[k + 1]; s++)
    for (int i = 0; i < 3; i++) v[3 * w->column[s] + i] += w->value[9 * s + 3 * c + i] * impulse; /* W_jk = W_kjᵀ */
  for (int32_t side = 0; side < 2 && !w; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0 || (view->held && view->held[body])) continue;
    const double *g = p->g + p->jacobian[2 * k + side] + c * p->size[body];
    double *vb = v + p->first[body];
    for (int32_t i = 0; i < p->size[body]; i++) vb[i] += g[i] * impulse;
  }
}

void ds_row_diagonal(double *diagonal, const ds_row_view *view) {
  const ds_subproblem *p = view->p;
  for (int32_t k = 0; k < p->contact_count; k++) {
    double *d = diagonal + 3 * k;
    d[0] = d[1] = d[2] = 0;
    if (p->delassus) {
      double w[9];
      ds_row_block(w, p, NULL, k);
      for (int c = 0; c < 3; c++) d[c] = w[4 * c];
      continue;
    }
    for (int32_t side = 0; side < 2; side++) {
      int32_t body = p->body[2 * k + side];
      if (body < 0 || (view->held && view->held[body])) continue;
      const double *g = p->g + p->jacobian[2 * k + side];
      int32_t n = p->size[body];
      for (int32_t c = 0; c < 3; c++)
        for (int32_t i = 0; i < n; i++) d[c] += g[c * n + i] * g[c * n + i];
    }
  }
}

void ds_row_block(double w[9], const ds_subproblem *p, const int32_t *times, int32_t k) {
  const ds_delassus *d = p->delassus;
  memset(w, 0, 9 * sizeof *w);
  if (d) {
    double factor = times ? d->start[k + 1] - d->start[k] : 1;
    for (int32_t s = d->start[k]; s < d->start[k + 1]; s++)
      for (int i = 0; i < 9 && d->column[s] == k; i++) w[i] = factor * d->value[9 * s + i];
    return;
  }
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = p->body[2 * k + side];
    if (body < 0) continue;
    const double *g = p->g + p->jacobian[2 * k + side];
    int32_t n = p->size[body];
    for (int32_t a = 0; a < 3; a++)
      for (int32_t b = 0; b < 3; b++) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += g[a * n + i] * g[b * n + i];
        w[3 * a + b] += (times ? times[body] : 1) * sum;
      }
  }
}
