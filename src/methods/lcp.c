/* Stewart and Trinkle's complementarity problem by Lemke's method.
 *
 * w = M z + q + d z_0 with d = (1 ... 1): z_0 is driven in to make w >= 0, and then, always with z_i w_i = 0, the
 * complement of what left the basis enters, until z_0 leaves. M is copositive, so that in exact arithmetic it ends with
 * a solution, if ties are broken lexicographically: of the rows of least ratio the one whose row of B⁻¹, divided by its
 * pivot, comes first.
 *
 * B⁻¹ is kept explicitly: a pivot costs n² twice. At the end the basis is solved for again with one refinement, so that
 * errors of the updates do not show. It may end on a ray, or run out of pivots (`max_iterations`): the answer is then
 * the start, and the certificate says how wrong it is. The start has no other use. Its polygon has 8 corners where
 * `friction_samples` gives none, and the certificate is that of `friction_samples`. */
#include <math.h>

#include "methods/pgs.h"
#include "methods/stewart_trinkle.h"
#include "project/solvers.h"

/* Entries of an entering column below this share of its largest are rounding; values closer than this share of the
 * largest are tied; a pivot below this share of another tied one is not taken. With 1e-9, 1e-12 and any share a card
 * house of two levels ends on a ray; with a share of 1, which leaves the lexicographic order nothing to decide, so do
 * stacks of 5 and 10 cubes. */
static const double SMALL_PIVOT = 1e-7, NEAR = 1e-10, FAIR_PIVOT = 0.1;
static const double SAME = 1e-9; /* relative: entries of two rows of B⁻¹ that are the same number */

typedef struct tableau {
  const ds_lcp *l;
  size_t n;
  double *inverse; /* B⁻¹, n x n */
  double *x;       /* values of the basis */
  double *column, *right;
  int32_t *basis; /* n: variable of a row; w_i is i, z_i is n + i, z_0 is 2 n */
} tableau;

/* The column of variable `id` in I w - M z - d z_0 = q. */
static void column_of(double *a, const tableau *t, int32_t id) {
  size_t n = t->n;
  for (size_t i = 0; i < n; i++)
    a[i] = (size_t)id == 2 * n ? -1 : (size_t)id >= n ? -t->l->m[i * n + (size_t)id - n] : (size_t)id == i ? 1 : 0;
}

static void times_inverse(double *y, const tableau *t, const double *a) {
  for (size_t i = 0; i < t->n; i++) {
    const double *row = t->inverse + i * t->n;
    double sum = 0;
    for (size_t j = 0; j < t->n; j++) sum += row[j] * a[j];
    y[i] = sum;
  }
}

/* Whether row a of B⁻¹ over its pivot comes before row b. */
static bool comes_first(const tableau *t, size_t a, size_t b) {
  const double *ra = t->inverse + a * t->n, *rb = t->inverse + b * t->n;
  for (size_t j = 0; j < t->n; j++) {
    double x = ra[j] / t->column[a], y = rb[j] / t->column[b];
    if (fabs(x - y) > SAME * (fabs(x) + fabs(y))) return x < y;
  }
  return a < b;
}

/* Whether row i can leave, if rows leave at `least`. */
static bool is_tied(const tableau *t, size_t i, double least, double size) {
  return fmax(0, t->x[i]) <= least * t->column[i] + NEAR * size;
}

/* Which row leaves for the column; n where none does: a ray. Of tied rows those with a pivot that is next to nothing
 * beside another's are left out, and the lexicographic order decides among the others. */
static size_t leaving(const tableau *t) {
  double largest = 0, least = INFINITY, size = 0, pivot = 0;
  size_t found = t->n;
  for (size_t i = 0; i < t->n; i++) largest = fmax(largest, fabs(t->column[i])), size = fmax(size, fabs(t->x[i]));
  for (size_t i = 0; i < t->n; i++)
    if (t->column[i] > SMALL_PIVOT * largest) least = fmin(least, fmax(0, t->x[i]) / t->column[i]);
  for (size_t i = 0; i < t->n; i++)
    if (t->column[i] > SMALL_PIVOT * largest && is_tied(t, i, least, size)) pivot = fmax(pivot, t->column[i]);
  for (size_t i = 0; i < t->n; i++) {
    if (!(t->column[i] > SMALL_PIVOT * largest) || !(t->column[i] >= FAIR_PIVOT * pivot)) continue;
    if (!is_tied(t, i, least, size)) continue;
    if ((size_t)t->basis[i] == 2 * t->n) return i; /* z_0 leaves as soon as it can */
    if (found == t->n || comes_first(t, i, found)) found = i;
  }
  return found;
}

static void pivot(tableau *t, size_t row, int32_t entering) {
  size_t n = t->n;
  double *r = t->inverse + row * n, f = 1 / t->column[row];
  for (size_t j = 0; j < n; j++) r[j] *= f;
  t->x[row] *= f;
  for (size_t i = 0; i < n; i++) {
    double c = t->column[i];
    if (i == row || c == 0) continue;
    double *to = t->inverse + i * n;
    for (size_t j = 0; j < n; j++) to[j] -= c * r[j];
    t->x[i] -= c * t->x[row];
  }
  t->basis[row] = entering;
}

/* The values of the basis from the problem itself: x += B⁻¹ (q - B x), twice. */
static void refine(tableau *t) {
  for (int round = 0; round < 2; round++) {
    memcpy(t->right, t->l->q, t->n * sizeof *t->right);
    for (size_t i = 0; i < t->n; i++) {
      column_of(t->column, t, t->basis[i]);
      for (size_t j = 0; j < t->n; j++) t->right[j] -= t->column[j] * t->x[i];
    }
    times_inverse(t->column, t, t->right);
    for (size_t i = 0; i < t->n; i++) t->x[i] += t->column[i];
  }
}

/* The first pivot: z_0 enters for the row of least (q, I). False where z = 0 solves it. */
static bool start(tableau *t, int32_t *entering) {
  size_t row = 0;
  for (size_t i = 0; i < t->n; i++) {
    t->inverse[i * t->n + i] = 1;
    t->x[i] = t->l->q[i];
    t->basis[i] = (int32_t)i;
    t->column[i] = -1;
    if (t->x[i] <= t->x[row]) row = i; /* of equals the last: its row of I comes first */
  }
  if (!(t->x[row] < 0)) return false;
  *entering = (int32_t)(row + t->n);
  pivot(t, row, (int32_t)(2 * t->n));
  return true;
}

/* True where it ended with z. */
static bool lemke(ds_solve *s, tableau *t) {
  int32_t entering;
  if (!start(t, &entering)) return true;
  for (int32_t i = 0; i < s->options->max_iterations && !ds_effort_is_over(s->effort); i++) {
    column_of(t->right, t, entering);
    times_inverse(t->column, t, t->right);
    size_t row = leaving(t);
    if (row == t->n) return false;
    int32_t left = t->basis[row];
    pivot(t, row, entering);
    s->work.projections++;
    if ((size_t)left == 2 * t->n) return true;
    entering = (size_t)left < t->n ? left + (int32_t)t->n : left - (int32_t)t->n;
  }
  return false;
}

ds_solver_solve ds_lcp_solve; /* for the table of solvers.c */

void ds_lcp_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  ds_arena_mark mark = ds_arena_get_mark(s->arena);
  int32_t corners = s->options->friction_samples > 0 ? s->options->friction_samples : DS_LCP_CORNERS;
  ds_lcp l;
  if (!ds_lcp_build(s->arena, &l, p, corners)) return;
  tableau t = {.l = &l, .n = (size_t)l.n};
  t.inverse = DS_NEW0(s->arena, double, t.n *t.n);
  t.x = DS_NEW(s->arena, double, t.n), t.column = DS_NEW(s->arena, double, t.n);
  t.right = DS_NEW(s->arena, double, t.n), t.basis = DS_NEW(s->arena, int32_t, t.n);
  double *z = DS_NEW0(s->arena, double, t.n);
  if (ds_arena_failed(s->arena)) return;
  if (lemke(s, &t)) {
    refine(&t);
    for (size_t i = 0; i < t.n; i++)
      if ((size_t)t.basis[i] >= t.n && (size_t)t.basis[i] < 2 * t.n) z[(size_t)t.basis[i] - t.n] = fmax(0, t.x[i]);
    ds_lcp_impulses(x->r, &l, z);
    ds_method_finish(x, p);
  }
  ds_arena_release(s->arena, mark);
}
