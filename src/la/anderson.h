/* Anderson's acceleration of a fixed-point iteration x <- F(x).
 *
 * With f_k = F(x_k) - x_k and the last differences dx_j, df_j, the next point is
 *
 *   x_k + f_k - sum c_j (dx_j + df_j),   c = argmin |f_k - sum c_j df_j|:
 *
 * a secant method that needs F alone, and ends after as many steps as a linear F has dimensions that matter. */
#ifndef DS_LA_ANDERSON_H
#define DS_LA_ANDERSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { DS_ANDERSON_DEPTH = 8 };

typedef struct ds_anderson {
  int32_t n, count; /* numbers of x; differences so far */
  double *x, *f;    /* of the last point */
  double *dx, *df;  /* DS_ANDERSON_DEPTH x n, in turn */
  double *q, *rest; /* work */
} ds_anderson;

bool ds_anderson_new(ds_arena *arena, ds_anderson *memory, int32_t n);
void ds_anderson_forget(ds_anderson *memory); /* what was is no guide any more */
/* x: the point; becomes the next one. image: F of it. */
void ds_anderson_next(ds_anderson *memory, double *x, const double *image);

#endif
