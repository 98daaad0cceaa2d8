/* With v standing for Gᵀ(v - v_p), the system H = I + G C Gᵀ of the tools becomes I + W C, because
 * Gᵀ (I + G C Gᵀ)⁻¹ = (I + GᵀG C)⁻¹ Gᵀ. Every C_k is split by Gaussian elimination with complete pivoting,
 *
 *   C_k = U_k D_k V_k,   U_k (3 x m) and V_k (m x 3) with entries of at most 1, D_k diagonal, m = rank of C_k:
 *
 * 3 for a contact that sticks, 2 for one that slides, 0 for one that is open. With y = D V x the system is
 *
 *   (D⁻¹ + V W U) y = V rhs,   x = rhs - W U y,
 *
 * of the size of the acting directions alone, well scaled however large C is, and symmetric positive definite where C
 * is symmetric (then V = Uᵀ). A block of W is kept at full size 3 x 3: directions that do not act are identity rows. */
#include "project/local_system.h"

#include <math.h>
#include <string.h>

typedef struct split {
  double u[9], v[9]; /* 3 x 3 row-major: columns of U, rows of V, zero beyond the rank */
  double d[3];
  int32_t rank;
} split;

struct ds_local_system {
  const ds_subproblem *problem;
  ds_block_pattern *pattern;
  ds_block_matrix *matrix;
  int32_t *slot; /* a block of W above its diagonal: its slot; else -1 */
  bool *swapped;
  split *splits;
  double *y, *uy, *work;
  bool symmetric;
};

ds_local_system *ds_local_system_create(ds_arena *arena, const ds_subproblem *p) {
  const ds_delassus *w = p->delassus;
  int32_t n = p->contact_count, blocks = w->start[n], pair_count = 0;
  ds_local_system *s = DS_NEW0(arena, ds_local_system, 1);
  int32_t *pairs = DS_NEW(arena, int32_t, 2 * (size_t)blocks + 1), *size = DS_NEW(arena, int32_t, n + 1);
  if (ds_arena_failed(arena)) return NULL;
  for (int32_t k = 0; k < n; k++) {
    size[k] = 3;
    for (int32_t t = w->start[k]; t < w->start[k + 1]; t++)
      if (w->column[t] > k) {
        pairs[2 * pair_count] = k;
        pairs[2 * pair_count++ + 1] = w->column[t];
      }
  }
  s->problem = p;
  s->pattern = ds_block_analyse(arena, size, pairs, pair_count, n);
  s->matrix = s->pattern ? ds_block_create(arena, s->pattern) : NULL;
  s->slot = DS_NEW(arena, int32_t, blocks + 1);
  s->swapped = DS_NEW(arena, bool, blocks + 1);
  s->splits = DS_NEW(arena, split, n + 1);
  s->y = DS_NEW(arena, double, 3 * (size_t)n + 1);
  s->uy = DS_NEW(arena, double, 3 * (size_t)n + 1);
  s->work = DS_NEW(arena, double, 3 * (size_t)n + 1);
  if (ds_arena_failed(arena) || !s->matrix) return NULL;
  for (int32_t k = 0; k < n; k++)
    for (int32_t t = w->start[k]; t < w->start[k + 1]; t++)
      s->slot[t] = w->column[t] > k ? ds_block_slot(&s->swapped[t], s->pattern, k, w->column[t]) : -1;
  return s;
}

/* Complete pivoting; on the diagonal alone where c is symmetric, so that V = Uᵀ. */
static void split_matrix(split *s, const double *c, bool symmetric) {
  double a[9], largest = 0;
  memcpy(a, c, sizeof a);
  memset(s, 0, sizeof *s);
  for (int m = 0; m < 3; m++) {
    int pi = 0, pj = 0;
    double pivot = 0;
    for (int i = 0; i < 3; i++)
      for (int j = symmetric ? i : 0; j < (symmetric ? i + 1 : 3); j++)
        if (fabs(a[3 * i + j]) > fabs(pivot)) pivot = a[3 * i + j], pi = i, pj = j;
    if (m == 0) largest = fabs(pivot);
    if (!(fabs(pivot) > 1e-15 * largest)) return; /* rounding of what was there before */
    for (int i = 0; i < 3; i++) {
      s->u[3 * i + m] = a[3 * i + pj] / pivot;
      s->v[3 * m + i] = a[3 * pi + i] / pivot;
    }
    s->d[m] = pivot;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        a[3 * i + j] = i == pi || j == pj ? 0 : a[3 * i + j] - s->u[3 * i + m] * pivot * s->v[3 * m + j];
    s->rank = m + 1;
  }
}

/* out = V_i B U_j, or its transpose */
static void sandwich(double *out, const split *i, const double *b, const split *j, bool transposed) {
  double t[9];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      t[3 * r + c] = b[3 * r] * j->u[c] + b[3 * r + 1] * j->u[3 + c] + b[3 * r + 2] * j->u[6 + c];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      double sum = i->v[3 * r] * t[c] + i->v[3 * r + 1] * t[3 + c] + i->v[3 * r + 2] * t[6 + c];
      out[transposed ? 3 * c + r : 3 * r + c] = sum;
    }
}

bool ds_local_system_factor(ds_local_system *s, const double *c, bool symmetric) {
  const ds_subproblem *p = s->problem;
  const ds_delassus *w = p->delassus;
  const ds_block_pattern *pattern = s->pattern;
  s->symmetric = symmetric;
  ds_block_identity(s->matrix, symmetric);
  for (int32_t k = 0; k < p->contact_count; k++) split_matrix(&s->splits[k], c + 9 * k, symmetric);
  for (int32_t k = 0; k < p->contact_count; k++) {
    const split *sk = &s->splits[k];
    if (sk->rank == 0) continue;
    for (int32_t t = w->start[k]; t < w->start[k + 1]; t++) {
      int32_t j = w->column[t];
      const split *sj = &s->splits[j];
      const double *b = w->value + 9 * t;
      if (j < k || sj->rank == 0) continue;
      if (j == k) {
        double *d = s->matrix->diagonal + pattern->diagonal[pattern->position[k]];
        sandwich(d, sk, b, sk, false);
        for (int32_t m = 0; m < 3; m++) d[4 * m] += m < sk->rank ? 1 / sk->d[m] : 1;
        continue;
      }
      /* W_jk = W_kjᵀ; block (i, j) with i eliminated after j lies in lower, (j, i) transposed in upper */
      double *lower = s->matrix->lower + pattern->offset[s->slot[t]];
      double *upper = s->matrix->upper + pattern->offset[s->slot[t]];
      double bt[9] = {b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]};
      if (!s->swapped[t]) { /* k after j */
        sandwich(lower, sk, b, sj, false);
        if (!symmetric) sandwich(upper, sj, bt, sk, true);
      } else {
        sandwich(lower, sj, bt, sk, false);
        if (!symmetric) sandwich(upper, sk, b, sj, true);
      }
    }
  }
  return symmetric ? ds_block_cholesky(s->matrix) : ds_block_lu(s->matrix);
}

void ds_local_system_solve(double *x, const ds_local_system *s) {
  int32_t n = s->problem->contact_count;
  for (int32_t k = 0; k < n; k++)
    for (int m = 0; m < 3; m++) {
      const double *v = s->splits[k].v + 3 * m;
      s->y[3 * k + m] = v[0] * x[3 * k] + v[1] * x[3 * k + 1] + v[2] * x[3 * k + 2];
    }
  if (s->symmetric)
    ds_block_cholesky_solve(s->y, s->matrix, s->work);
  else
    ds_block_lu_solve(s->y, s->matrix, s->work);
  for (int32_t k = 0; k < n; k++)
    for (int i = 0; i < 3; i++) {
      const double *u = s->splits[k].u + 3 * i, *y = s->y + 3 * k;
      s->uy[3 * k + i] = -(u[0] * y[0] + u[1] * y[1] + u[2] * y[2]);
    }
  ds_subproblem_add_impulse(x, s->problem, s->uy);
}

/* det(I + W C) = det(I + V W U D) = det D det(D⁻¹ + V W U) */
int32_t ds_local_system_sign(const ds_local_system *s) {
  int32_t sign = s->symmetric ? 1 : ds_block_lu_sign(s->matrix);
  for (int32_t k = 0; k < s->problem->contact_count; k++)
    for (int32_t m = 0; m < s->splits[k].rank; m++)
      if (s->splits[k].d[m] < 0) sign = -sign;
  return sign;
}
