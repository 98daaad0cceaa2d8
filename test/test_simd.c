/* The kernels with vectors and with plain C give the same bits: both are compiled here, the plain ones under other
 * names, and run on the same random numbers. Which of the vector versions runs depends on the machine. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "la/panel.h"
#include "la/rows.h"
#include "random.h"

#define DS_SIMD_SCALAR
#define ds_panel_update plain_panel_update
#define ds_panel_divide plain_panel_divide
#define ds_panel_interchange plain_panel_interchange
#define ds_panel_times plain_panel_times
#define ds_panel_subtract_dots plain_panel_subtract_dots
#define ds_tile_cholesky plain_tile_cholesky
#define ds_tile_lu plain_tile_lu
#define ds_rows_times plain_rows_times
#define ds_rows_squares plain_rows_squares
#define ds_rows_add plain_rows_add
#define ds_rows_pair plain_rows_pair
#define ds_rows_body plain_rows_body
#define ds_rows_gram_any plain_rows_gram_any
#include "la/panel.c"
#include "la/rows.c"
#undef ds_panel_update
#undef ds_panel_divide
#undef ds_panel_interchange
#undef ds_panel_times
#undef ds_panel_subtract_dots
#undef ds_tile_cholesky
#undef ds_tile_lu
#undef ds_rows_times
#undef ds_rows_squares
#undef ds_rows_add
#undef ds_rows_pair
#undef ds_rows_body
#undef ds_rows_gram_any

enum { ROWS = 61, COLUMNS = 23, VALUES = 64 * COLUMNS };

static void random_fill(double *x, size_t count, uint64_t *s) {
  for (size_t i = 0; i < count; i++) x[i] = random_in(s, -1, 1);
}

static void check_same(const double *x, const double *y, size_t count) {
  CHECK(memcmp(x, y, count * sizeof *x) == 0);
  CHECK(x[0] == x[0]); /* not by being NaN */
}

/* c - a tᵀ by its definition, for every number of rows and columns up to two tiles and a half. */
static void panel_update(void) {
  uint64_t s = 1;
  static double a[VALUES], before[VALUES], c[VALUES], plain[VALUES];
  random_fill(a, VALUES, &s);
  random_fill(before, VALUES, &s);
  for (int32_t rows = 1; rows <= 25; rows++)
    for (int32_t n = 1; n <= 15; n++) {
      int32_t k = 1 + random_int(&s, COLUMNS), first = random_int(&s, ROWS - 2 * rows), t = random_int(&s, ROWS - n);
      ds_panel_run runs[2] = {{0, first, rows}, {rows + 3, first + rows, rows}};
      memcpy(c, before, sizeof c);
      memcpy(plain, before, sizeof c);
      ds_panel_update(c, a, a + t, runs, 2, n, k, 64, 64, DS_WHOLE);
      plain_panel_update(plain, a, a + t, runs, 2, n, k, 64, 64, DS_WHOLE);
      check_same(c, plain, VALUES);
      double worst = 0;
      for (int32_t r = 0; r < 2; r++)
        for (int32_t i = 0; i < rows; i++)
          for (int32_t j = 0; j < n; j++) {
            double sum = before[64 * j + runs[r].target + i];
            for (int32_t l = 0; l < k; l++) sum -= a[64 * l + runs[r].source + i] * a[64 * l + t + j];
            worst = fmax(worst, fabs(sum - c[64 * j + runs[r].target + i]));
            plain[64 * j + runs[r].target + i] = before[64 * j + runs[r].target + i];
          }
      CHECK_LE(worst, 1e-13);
      check_same(plain, before, VALUES); /* nothing else has changed */
    }
}

static void panel_solves(void) {
  uint64_t s = 2;
  static double x[VALUES], plain[VALUES], y[ROWS], z[ROWS];
  for (int32_t rows = 1; rows <= 19; rows++)
    for (int32_t n = 1; n <= COLUMNS; n++) {
      ds_tile tile, twin;
      random_fill(x, VALUES, &s);
      if (n <= DS_TILE) {
        for (int32_t j = 0; j < n; j++) x[64 * j + j] = 5;
        memcpy(plain, x, sizeof x);
        CHECK(ds_tile_cholesky(x, &tile, n, 64) && plain_tile_cholesky(plain, &twin, n, 64));
        ds_panel_divide(x + n, &tile, rows, n, 64);
        plain_panel_divide(plain + n, &twin, rows, n, 64);
        check_same(x, plain, VALUES);
      }
      random_fill(y, ROWS, &s);
      memcpy(z, y, sizeof y);
      ds_panel_times(y, x, x + 40, rows, n, 64);
      plain_panel_times(z, x, x + 40, rows, n, 64);
      check_same(y, z, ROWS);
      ds_panel_subtract_dots(y, x, x + 40, rows, n, 64);
      plain_panel_subtract_dots(z, x, x + 40, rows, n, 64);
      check_same(y, z, ROWS);
    }
}

/* Normals alone and tangents alone are the same numbers as all rows, `all`, and those of plain C. */
static void parts_of_rows(const double *all, const double *g, const int32_t *at, const double *a, const double *b,
                          int32_t count) {
  double normal[60], tangent[120], plain[120];
  ds_rows_times(normal, g, at, a, b, count, DS_ROWS_NORMAL);
  plain_rows_times(plain, g, at, a, b, count, DS_ROWS_NORMAL);
  check_same(normal, plain, (size_t)count);
  ds_rows_times(tangent, g, at, a, b, count, DS_ROWS_TANGENT);
  plain_rows_times(plain, g, at, a, b, count, DS_ROWS_TANGENT);
  check_same(tangent, plain, 2 * (size_t)count);
  for (int32_t k = 0; k < count; k++) {
    CHECK(all[3 * k] == normal[k]);
    CHECK(all[3 * k + 1] == tangent[2 * k] && all[3 * k + 2] == tangent[2 * k + 1]);
  }
}

/* Runs of 1 to 60 contacts, with the modes of C that occur: open, normal alone, tangents alone, all, not symmetric. */
static void contact_rows(void) {
  uint64_t s = 3;
  enum { CONTACTS = 60 };
  static double g[36 * CONTACTS], c[9 * CONTACTS], r[3 * CONTACTS], y[3 * CONTACTS], z[3 * CONTACTS];
  static int32_t at[2 * CONTACTS];
  for (int32_t k = 0; k < 2 * CONTACTS; k++) at[k] = 18 * k;
  for (int32_t count = 1; count <= CONTACTS; count++) {
    double v[12], w[12], p[144], q[144];
    random_fill(g, 36 * CONTACTS, &s), random_fill(c, 9 * CONTACTS, &s), random_fill(r, 3 * CONTACTS, &s);
    random_fill(v, 12, &s);
    for (int32_t k = 0; k < count; k++) {
      int32_t mode = random_int(&s, 5);
      for (int i = 0; i < 9; i++) {
        bool coupled = i == 1 || i == 2 || i == 3 || i == 6;
        if (mode == 0 || (mode < 3 && coupled) || (mode == 1 && i > 3) || (mode == 2 && i == 0)) c[9 * k + i] = 0;
      }
      for (int i = 0; i < 3; i++)
        if (mode == 0 || (mode == 1 && i > 0) || (mode == 2 && i == 0)) r[3 * k + i] = 0;
    }
    memcpy(w, v, sizeof v);
    for (ds_rows_part part = DS_ROWS_ALL; part <= DS_ROWS_TANGENT; part++) {
      ds_rows_add(v, v + 6, g, at, r, count, part);
      plain_rows_add(w, w + 6, g, at, r, count, part);
      check_same(v, w, 12);
    }
    for (int sides = 1; sides < 4; sides++) {
      const double *a = sides & 1 ? v : NULL, *b = sides & 2 ? v + 6 : NULL;
      ds_rows_times(y, g, at, a, b, count, DS_ROWS_ALL);
      plain_rows_times(z, g, at, a, b, count, DS_ROWS_ALL);
      check_same(y, z, 3 * (size_t)count);
      parts_of_rows(y, g, at, a, b, count);
      ds_rows_squares(y, g, at, sides & 1, sides & 2, count);
      plain_rows_squares(z, g, at, sides & 1, sides & 2, count);
      check_same(y, z, 3 * (size_t)count);
    }
    ds_rows_pair(p, g, at, c, count, false);
    plain_rows_pair(q, g, at, c, count, false);
    check_same(p, q, 144);
    double worst = 0; /* by its definition */
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) {
        double sum = p[12 * i + j];
        for (int32_t k = 0; k < count; k++)
          for (int e = 0; e < 9; e++)
            sum -= g[36 * k + 18 * (i / 6) + 6 * (e / 3) + i % 6] * c[9 * k + e] *
                   g[36 * k + 18 * (j / 6) + 6 * (e % 3) + j % 6];
        worst = fmax(worst, fabs(sum));
      }
    CHECK_LE(worst, 1e-13 * CONTACTS);
    ds_rows_body(p, g, at, c, count, false);
    plain_rows_body(q, g, at, c, count, false);
    check_same(p, q, 64);
  }
}

int main(void) {
  RUN(panel_update);
  RUN(panel_solves);
  RUN(contact_rows);
  return test_summary();
}
