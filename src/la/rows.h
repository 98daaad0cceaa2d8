/* The rows of contacts: a contact is three rows on the columns of one or two bodies. Contacts of the same two bodies
 * follow one another, and everything here takes such a run at once: what belongs to the bodies stays in registers.
 *
 * g holds 3 x 6 row-major blocks; those of contact k begin at at[2 k] for the first body and at[2 k + 1] for the
 * second. A body that is NULL does not take part: the fixed world. */
#ifndef DS_LA_ROWS_H
#define DS_LA_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Which rows of a contact: vectors over contacts hold three numbers per contact, one, or two. */
typedef enum ds_rows_part { DS_ROWS_ALL, DS_ROWS_NORMAL, DS_ROWS_TANGENT } ds_rows_part;

/* y_k = A_k va + B_k vb, those rows */
void ds_rows_times(double *y, const double *g, const int32_t *at, const double *va, const double *vb, int32_t count,
                   ds_rows_part part);
/* w_k = diagonal of A_k A_kᵀ + B_k B_kᵀ, three numbers per contact; the bodies that take part are given as above */
void ds_rows_squares(double *w, const double *g, const int32_t *at, bool a, bool b, int32_t count);
/* va += sum A_kᵀ r_k, vb += sum B_kᵀ r_k with those rows; where all are meant, rows with zero impulses cost nothing */
void ds_rows_add(double *va, double *vb, const double *g, const int32_t *at, const double *r, int32_t count,
                 ds_rows_part part);

/* p = sum [A_k B_k]ᵀ C_k [A_k B_k], DS_PAIR x DS_PAIR, of two rigid bodies, with a row-major 3 x 3 matrix C_k per
 * contact. With `lower` C is symmetric and only the blocks of four by four on and below the diagonal of p are valid. */
enum { DS_PAIR = 12, DS_ALONE = 8 };
void ds_rows_pair(double *p, const double *g, const int32_t *at, const double *c, int32_t count, bool lower);
/* The same for one body, DS_ALONE x DS_ALONE; the last two rows and columns are zero. */
void ds_rows_body(double *p, const double *g, const int32_t *at, const double *c, int32_t count, bool lower);
/* p (m x n) += zᵀ y, z (rows x m) and y (rows x n) row-major: any size */
void ds_rows_gram_any(double *p, const double *z, const double *y, int32_t m, int32_t n, int32_t rows);

#endif
