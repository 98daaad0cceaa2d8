#include "la/rows.h"

#include <stddef.h>

#include "la/simd.h"

/* Rows first .. first + rows - 1 of every contact; both are constants where this is inlined. One row on one body is two
 * halves of three products each: lanes (0 1), (2 3), (4 5). */
DS_INLINE void times_one_body(double *restrict y, const double *g, const int32_t *at, const double *v, int32_t count,
                              const int first, const int rows) {
  ds_v2 v0 = ds_v2_load(v), v1 = ds_v2_load(v + 2), v2 = ds_v2_load(v + 4);
  for (int32_t k = 0; k < count; k++)
    for (int c = 0; c < rows; c++) {
      const double *a = g + at[2 * k] + 6 * (first + c);
      ds_v2 s = ds_v2_add(ds_v2_mul(ds_v2_load(a), v0), ds_v2_mul(ds_v2_load(a + 2), v1));
      s = ds_v2_add(s, ds_v2_mul(ds_v2_load(a + 4), v2));
      y[rows * k + c] = ds_v2_sum(s);
    }
}

DS_INLINE void times(double *restrict y, const double *g, const int32_t *at, const double *va, const double *vb,
                     int32_t count, const int first, const int rows) {
  if (!va || !vb) {
    times_one_body(y, g, va ? at : at + 1, va ? va : vb, count, first, rows);
    return;
  }
  ds_v2 a0 = ds_v2_load(va), a1 = ds_v2_load(va + 2), a2 = ds_v2_load(va + 4);
  ds_v2 b0 = ds_v2_load(vb), b1 = ds_v2_load(vb + 2), b2 = ds_v2_load(vb + 4);
  for (int32_t k = 0; k < count; k++)
    for (int c = 0; c < rows; c++) {
      const double *a = g + at[2 * k] + 6 * (first + c), *b = g + at[2 * k + 1] + 6 * (first + c);
      ds_v2 s = ds_v2_add(ds_v2_mul(ds_v2_load(a), a0), ds_v2_mul(ds_v2_load(a + 2), a1));
      ds_v2 t = ds_v2_add(ds_v2_mul(ds_v2_load(b), b0), ds_v2_mul(ds_v2_load(b + 2), b1));
      s = ds_v2_add(s, ds_v2_mul(ds_v2_load(a + 4), a2));
      t = ds_v2_add(t, ds_v2_mul(ds_v2_load(b + 4), b2));
      y[rows * k + c] = ds_v2_sum(ds_v2_add(s, t));
    }
}

DS_INLINE void ds_rows_times_body(double *y, const double *g, const int32_t *at, const double *va, const double *vb,
                                  int32_t count, ds_rows_part part) {
  if (part == DS_ROWS_NORMAL)
    times(y, g, at, va, vb, count, 0, 1);
  else if (part == DS_ROWS_TANGENT)
    times(y, g, at, va, vb, count, 1, 2);
  else
    times(y, g, at, va, vb, count, 0, 3);
}
DS_KERNEL(ds_rows_times,
          (double *y, const double *g, const int32_t *at, const double *va, const double *vb, int32_t count,
           ds_rows_part part),
          (y, g, at, va, vb, count, part))

DS_INLINE void ds_rows_squares_body(double *restrict w, const double *g, const int32_t *at, bool a, bool b,
                                    int32_t count) {
  for (int32_t k = 0; k < count; k++)
    for (int c = 0; c < 3; c++) {
      ds_v2 s = ds_v2_all(0);
      for (int side = 0; side < 2; side++) {
        if (!(side == 0 ? a : b)) continue;
        const double *row = g + at[2 * k + side] + 6 * c;
        ds_v2 x = ds_v2_load(row), y = ds_v2_load(row + 2), z = ds_v2_load(row + 4);
        s = ds_v2_add(s, ds_v2_add(ds_v2_add(ds_v2_mul(x, x), ds_v2_mul(y, y)), ds_v2_mul(z, z)));
      }
      w[3 * k + c] = ds_v2_sum(s);
    }
}
DS_KERNEL(ds_rows_squares, (double *w, const double *g, const int32_t *at, bool a, bool b, int32_t count),
          (w, g, at, a, b, count))

DS_INLINE void add_one_body(double *v, const double *g, const int32_t *at, const double *r, int32_t count) {
  ds_v4 head = ds_v4_load(v);
  ds_v2 tail = ds_v2_load(v + 4);
  for (int32_t k = 0; k < count; k++) {
    const double *a = g + at[2 * k], *rk = r + 3 * k;
    if (rk[1] == 0 && rk[2] == 0) {
      if (rk[0] == 0) continue;
      head = ds_v4_add(head, ds_v4_mul(ds_v4_load(a), ds_v4_all(rk[0])));
      tail = ds_v2_add(tail, ds_v2_mul(ds_v2_load(a + 4), ds_v2_all(rk[0])));
      continue;
    }
    ds_v4 h = ds_v4_add(ds_v4_mul(ds_v4_load(a), ds_v4_all(rk[0])), ds_v4_mul(ds_v4_load(a + 6), ds_v4_all(rk[1])));
    ds_v2 t =
        ds_v2_add(ds_v2_mul(ds_v2_load(a + 4), ds_v2_all(rk[0])), ds_v2_mul(ds_v2_load(a + 10), ds_v2_all(rk[1])));
    head = ds_v4_add(head, ds_v4_add(h, ds_v4_mul(ds_v4_load(a + 12), ds_v4_all(rk[2]))));
    tail = ds_v2_add(tail, ds_v2_add(t, ds_v2_mul(ds_v2_load(a + 16), ds_v2_all(rk[2]))));
  }
  ds_v4_store(v, head);
  ds_v2_store(v + 4, tail);
}

/* One row per contact. */
DS_INLINE void add_normals(double *v, const double *g, const int32_t *at, const double *r, int32_t count) {
  ds_v4 head = ds_v4_load(v);
  ds_v2 tail = ds_v2_load(v + 4);
  for (int32_t k = 0; k < count; k++) {
    const double *a = g + at[2 * k];
    head = ds_v4_add(head, ds_v4_mul(ds_v4_load(a), ds_v4_all(r[k])));
    tail = ds_v2_add(tail, ds_v2_mul(ds_v2_load(a + 4), ds_v2_all(r[k])));
  }
  ds_v4_store(v, head);
  ds_v2_store(v + 4, tail);
}

DS_INLINE void add_tangents(double *v, const double *g, const int32_t *at, const double *r, int32_t count) {
  ds_v4 head = ds_v4_load(v);
  ds_v2 tail = ds_v2_load(v + 4);
  for (int32_t k = 0; k < count; k++) {
    const double *a = g + at[2 * k] + 6, *rk = r + 2 * k;
    head = ds_v4_add(
        head, ds_v4_add(ds_v4_mul(ds_v4_load(a), ds_v4_all(rk[0])), ds_v4_mul(ds_v4_load(a + 6), ds_v4_all(rk[1]))));
    tail = ds_v2_add(tail, ds_v2_add(ds_v2_mul(ds_v2_load(a + 4), ds_v2_all(rk[0])),
                                     ds_v2_mul(ds_v2_load(a + 10), ds_v2_all(rk[1]))));
  }
  ds_v4_store(v, head);
  ds_v2_store(v + 4, tail);
}

DS_INLINE void ds_rows_add_body(double *va, double *vb, const double *g, const int32_t *at, const double *r,
                                int32_t count, ds_rows_part part) {
  for (int side = 0; side < 2; side++) {
    double *v = side == 0 ? va : vb;
    if (!v) continue;
    if (part == DS_ROWS_NORMAL)
      add_normals(v, g, at + side, r, count);
    else if (part == DS_ROWS_TANGENT)
      add_tangents(v, g, at + side, r, count);
    else
      add_one_body(v, g, at + side, r, count);
  }
}
DS_KERNEL(ds_rows_add,
          (double *va, double *vb, const double *g, const int32_t *at, const double *r, int32_t count,
           ds_rows_part part),
          (va, vb, g, at, r, count, part))

/* --- H of a pair: p += sum [A_k B_k]ᵀ C_k [A_k B_k] --- */

enum { PACKED_ROWS = 72, BOTH = DS_PAIR, ONE = 8 }; /* rows taken at once: 14 kB; columns, padded to fours */

typedef struct packed {
  int32_t rows;
  double z[PACKED_ROWS * BOTH], y[PACKED_ROWS * BOTH]; /* the rows that act, and C times them */
} packed;

/* Rows first .. first + count - 1 of one body's block g, and their products with the same rows and columns of c, as
 * columns `at` and following of z and y. Two columns of zeros go behind a single body. */
DS_INLINE void pack_body(packed *k, const double *g, const double *c, const int first, const int count, const int at,
                         const int width) {
  double *z = k->z + k->rows * width + at, *y = k->y + k->rows * width + at;
  ds_v4 head[3];
  ds_v2 tail[3];
  for (int i = 0; i < count; i++) {
    head[i] = ds_v4_load(g + 6 * (first + i));
    tail[i] = ds_v2_load(g + 6 * (first + i) + 4);
    ds_v4_store(z + i * width, head[i]);
    ds_v2_store(z + i * width + 4, tail[i]);
    if (width == ONE) ds_v2_store(z + i * width + 6, ds_v2_all(0)), ds_v2_store(y + i * width + 6, ds_v2_all(0));
  }
  for (int i = 0; i < count; i++) {
    const double *row = c + 3 * (first + i) + first;
    ds_v4 h = ds_v4_mul(ds_v4_all(row[0]), head[0]);
    ds_v2 t = ds_v2_mul(ds_v2_all(row[0]), tail[0]);
    for (int r = 1; r < count; r++) {
      h = ds_v4_add(h, ds_v4_mul(ds_v4_all(row[r]), head[r]));
      t = ds_v2_add(t, ds_v2_mul(ds_v2_all(row[r]), tail[r]));
    }
    ds_v4_store(y + i * width, h);
    ds_v2_store(y + i * width + 4, t);
  }
}

DS_INLINE void pack_rows(packed *k, const double *a, const double *b, const double *c, const int first, const int count,
                         const int width) {
  pack_body(k, a, c, first, count, 0, width);
  if (width == BOTH) pack_body(k, b, c, first, count, 6, width);
  k->rows += count;
}

/* Normal and tangents by themselves where C does not couple them: each projection has only one of the two. */
DS_INLINE void pack_contact(packed *k, const double *a, const double *b, const double *c, const int width) {
  if (c[1] != 0 || c[2] != 0 || c[3] != 0 || c[6] != 0) {
    pack_rows(k, a, b, c, 0, 3, width);
    return;
  }
  if (c[0] != 0) pack_rows(k, a, b, c, 0, 1, width);
  if (c[4] != 0 || c[5] != 0 || c[7] != 0 || c[8] != 0) pack_rows(k, a, b, c, 1, 2, width);
}

/* Four rows of p from row `i` on and its first 4 m columns += zᵀ y: 4 m sums in registers over all packed rows. */
DS_INLINE void gram_rows(double *p, const packed *k, const int i, const int n, const int m) {
  const double *z = k->z, *y = k->y;
  ds_v4 sum[4][3];
  for (int a = 0; a < 4; a++)
    for (int c = 0; c < m; c++) sum[a][c] = ds_v4_load(p + (i + a) * n + 4 * c);
  for (int32_t r = 0; r < k->rows; r++)
    for (int a = 0; a < 4; a++) {
      double f = z[r * n + i + a];
      for (int c = 0; c < m; c++)
        sum[a][c] = ds_v4_add(sum[a][c], ds_v4_mul(ds_v4_all(f), ds_v4_load(y + r * n + 4 * c)));
    }
  for (int a = 0; a < 4; a++)
    for (int c = 0; c < m; c++) ds_v4_store(p + (i + a) * n + 4 * c, sum[a][c]);
}

DS_INLINE void gram(double *p, const double *g, const int32_t *at, const double *c, int32_t count, bool lower,
                    const int n) {
  packed rows;
  for (int i = 0; i < n * n; i += 4) ds_v4_store(p + i, ds_v4_all(0));
  for (int32_t k = 0; k < count;) {
    for (rows.rows = 0; k < count && rows.rows + 3 <= PACKED_ROWS; k++)
      pack_contact(&rows, g + at[2 * k], n == BOTH ? g + at[2 * k + 1] : NULL, c + 9 * k, n);
    for (int i = 0; i < n; i += 4) {
      if (i == 0 && lower)
        gram_rows(p, &rows, 0, n, 1);
      else if (i == 4 && lower)
        gram_rows(p, &rows, 4, n, 2);
      else
        gram_rows(p, &rows, i, n, n / 4);
    }
  }
}

DS_INLINE void ds_rows_pair_body(double *p, const double *g, const int32_t *at, const double *c, int32_t count,
                                 bool lower) {
  gram(p, g, at, c, count, lower, BOTH);
}
DS_KERNEL(ds_rows_pair, (double *p, const double *g, const int32_t *at, const double *c, int32_t count, bool lower),
          (p, g, at, c, count, lower))

DS_INLINE void ds_rows_body_body(double *p, const double *g, const int32_t *at, const double *c, int32_t count,
                                 bool lower) {
  gram(p, g, at, c, count, lower, ONE);
}
DS_KERNEL(ds_rows_body, (double *p, const double *g, const int32_t *at, const double *c, int32_t count, bool lower),
          (p, g, at, c, count, lower))

DS_INLINE void ds_rows_gram_any_body(double *p, const double *z, const double *y, int32_t m, int32_t n, int32_t rows) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t k = 0; k < rows; k++) {
      double f = z[k * m + i], *row = p + (ptrdiff_t)i * n;
      const double *yk = y + (ptrdiff_t)k * n;
      int32_t j = 0;
      for (; j + 4 <= n; j += 4)
        ds_v4_store(row + j, ds_v4_add(ds_v4_load(row + j), ds_v4_mul(ds_v4_all(f), ds_v4_load(yk + j))));
      for (; j < n; j++) row[j] += f * yk[j];
    }
}
DS_KERNEL(ds_rows_gram_any, (double *p, const double *z, const double *y, int32_t m, int32_t n, int32_t rows),
          (p, z, y, m, n, rows))
