/* Dense kernels on column-major panels: what the block factorizations are made of. Any sizes; six columns, a rigid
 * body, fill the registers. The order of every sum is fixed, so that all builds agree to the last bit. */
#ifndef DS_LA_PANEL_H
#define DS_LA_PANEL_H

#include <stdbool.h>
#include <stdint.h>

/* `rows` consecutive rows of a source and where they lie in the target. */
typedef struct ds_panel_run {
  int32_t source, target, rows;
} ds_panel_run;

/* For every run: c (rows x n) -= a (rows x k) tᵀ, t (n x k). The leading dimension of a and t is lda, that of c is ldc;
 * a and c are given without, t with its first row. Of a symmetric c, whose column 0 has its diagonal in row `above`,
 * what lies above the diagonal may be left out; `above` = DS_WHOLE: nothing is. */
enum { DS_WHOLE = -(1 << 30) };
void ds_panel_update(double *c, const double *a, const double *t, const ds_panel_run *runs, int32_t run_count,
                     int32_t n, int32_t k, int32_t ldc, int32_t lda, int32_t above);

enum { DS_TILE = 6 }; /* columns factored at once */

/* The n <= DS_TILE columns of a diagonal tile: x := x f⁻¹ for rows x, with f upper triangular; the entries above its
 * diagonal in f[DS_TILE k + j], k < j, and the reciprocals of its diagonal. */
typedef struct ds_tile {
  double f[DS_TILE * DS_TILE];
  double inverse[DS_TILE];
} ds_tile;

/* x (rows x n) := x f⁻¹ */
void ds_panel_divide(double *x, const ds_tile *tile, int32_t rows, int32_t n, int32_t ld);

/* a = l lᵀ, n <= DS_TILE, in place in the lower triangle, the reciprocals of l's diagonal in tile->inverse; x l⁻ᵀ is
 * then ds_panel_divide. False if a is not positive definite or not finite. */
bool ds_tile_cholesky(double *a, ds_tile *tile, int32_t n, int32_t ld);
/* p a = l u with row interchanges, in place; `right` divides by u from the right, and `left`, of rows whose entries
 * have been interchanged, by lᵀ. The reciprocals of u's diagonal in right->inverse. False if a is singular or not
 * finite. */
bool ds_tile_lu(double *a, int32_t *pivots, ds_tile *right, ds_tile *left, int32_t n, int32_t ld);
/* Interchanges columns of x as the rows of a were. */
void ds_panel_interchange(double *x, const int32_t *pivots, int32_t rows, int32_t n, int32_t ld);

/* y (rows) = a x, x (n) */
void ds_panel_times(double *y, const double *a, const double *x, int32_t rows, int32_t n, int32_t ld);
/* y (n) -= aᵀ x, x (rows) */
void ds_panel_subtract_dots(double *y, const double *a, const double *x, int32_t rows, int32_t n, int32_t ld);

#endif
