/* Equality rows of a local problem, u = W r + V l + q, 0 = Vᵀ r + R l + s, eliminated:
 *
 *   l = -R⁺ (Vᵀ r + s),   W <- W - V R⁺ Vᵀ,   q <- q - V R⁺ s. */
#ifndef DS_PROBLEM_EQUALITY_H
#define DS_PROBLEM_EQUALITY_H

#include "problem/triplets.h"

typedef struct ds_equalities {
  int32_t count, rank;
  int32_t *pivot; /* count: the first `rank` are independent */
  double *l;      /* count x count, row-major: pivoted Cholesky factor of R, its rows in the order of R's */
  double *s;      /* count: L⁻¹ s, in pivot order */
  ds_matrix v;
} ds_equalities;

/* Adds -V R⁺ Vᵀ to w and subtracts V R⁺ s from q. DS_ERROR_INPUT where R is not positive semidefinite, or where the
 * rows contradict each other. */
ds_status ds_equalities_eliminate(ds_arena *arena, ds_equalities **equalities, ds_triplets *w, double *q,
                                  const ds_matrix *v, const ds_matrix *r, const double *s, ds_error *error);
/* l (count) of impulses r (rows of V) */
void ds_equalities_multipliers(double *l, const ds_equalities *equalities, const double *r);

#endif
