/* Random frictional contact problems in the public form, with rank, conditioning, units, friction and sparsity as asked
 * for, and a solution that is known to exist.
 *
 * All come from a factor A (d nc x k): W = A Aᵀ, and with equality rows B (ne x k): V = A Bᵀ, R = B Bᵀ. Two structures:
 *
 *   dense   an island's part of A is U S, U random with orthonormal columns, S from 1 down to 1/sqrt(condition)
 *   bodies  patches of contacts between random bodies, masses spread over `condition`, at most 1:10,000
 *
 * Rows over rank is the redundancy: above 1 impulses are not unique.
 *
 * In both some motion parts all contacts, A e = (positive, 0, 0) at every one, and leaves the equality rows alone: then
 * a solution exists whatever q is (Acary, Cadoux, Lemaréchal, Malick 2011). Without that a planted solution may be the
 * only one, between jams, and finding it is a search, not mechanics.
 *
 *   planted   q = u0 - W r0 - V l0 with a pair (r0, u0) of open, sticking, sliding and undecided contacts: a solution
 *   feasible  q = u0 - A y0 with u0 strictly inside the dual cones and any y0
 *
 * A part of u0 lies outside the range of W where that is deficient, and so does q. The global form hides the same
 * problem behind a random block-diagonal mass M = L Lᵀ: H = L Aᵀ, f = L y, w = q - A y. */
#ifndef DS_TEST_RANDOM_DS_PROBLEM_H
#define DS_TEST_RANDOM_DS_PROBLEM_H

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "drystone/problem.h"
#include "la/vec3.h"
#include "random.h"

#define RANDOM_MASS_RATIO 1e4

typedef struct random_spec {
  uint64_t seed;
  int32_t dimension, contacts, islands, equalities;
  bool bodies, planted, global;
  double redundancy; /* rows over rank of W, 1 to 4 and more */
  double condition;  /* of W on its range (dense); largest over smallest mass (bodies) */
  double compliance; /* units of W */
  double velocity;   /* units of q */
  double mu, spread; /* coefficients from mu / spread to mu */
  double smooth;     /* share of contacts with mu = 0 */
  double outside;    /* size of u0 against W r0 */
} random_spec;

typedef struct random_case {
  ds_problem problem;
  double *r; /* the planted solution, or NULL */
} random_case;

static inline double random_log(uint64_t *s, double low, double high) { return low * pow(high / low, random_unit(s)); }
static inline double random_normal(uint64_t *s) {
  double radius = sqrt(-2 * log(1 - random_unit(s)));
  return radius * cos(2 * DS_PI * random_unit(s));
}

/* The number-th problem of a family: small to middling, everything varied. */
static inline random_spec random_spec_draw(uint64_t seed, int64_t number) {
  uint64_t s = seed * 0x2545f4914f6cdd1du + (uint64_t)number;
  random_next(&s);
  random_spec p = {.seed = random_next(&s)};
  p.dimension = random_unit(&s) < 0.25 ? 2 : 3;
  p.contacts = 1 + (int32_t)(30 * pow(random_unit(&s), 2));
  p.islands = 1 + random_int(&s, 1 + p.contacts / 4);
  p.bodies = random_unit(&s) < 0.5;
  p.planted = random_unit(&s) < 0.6;
  p.global = random_unit(&s) < 0.4;
  p.equalities = random_unit(&s) < 0.25 ? 1 + random_int(&s, 3) : 0;
  p.redundancy = random_in(&s, 1, 4);
  p.condition = random_log(&s, 1, 1e8);
  p.compliance = random_log(&s, 1e-6, 1e6);
  p.velocity = random_log(&s, 1e-6, 1e6);
  p.mu = random_log(&s, 0.01, 10);
  p.spread = random_unit(&s) < 0.5 ? 1 : random_log(&s, 1, 100);
  p.smooth = random_unit(&s) < 0.2 ? random_unit(&s) : 0;
  p.outside = random_unit(&s) < 0.5 ? 1 : random_log(&s, 1e-6, 1);
  return p;
}

/* ---- The factor ---- */

/* A and B row by row, and the blocks of M that their columns fall into. */
typedef struct random_factor {
  int32_t rows, extra, columns; /* d nc, ne, k */
  double *a, *b;
  int32_t *block, block_count; /* sizes */
  double *apart;               /* columns: e */
  int32_t *first, *last;       /* island of contacts: its columns, first inclusive, last exclusive; a contact each */
} random_factor;

/* Orthonormal columns of u (m x k inside a wider row-major matrix), twice Gram-Schmidt. The first one parts the
 * contacts. */
static inline void random_orthonormal(uint64_t *s, double *u, int32_t m, int32_t k, int32_t d, int32_t stride) {
  for (int32_t j = 0; j < k; j++) {
    for (int32_t i = 0; i < m; i++)
      u[i * stride + j] = j > 0 ? random_normal(s) : i % d == 0 ? random_in(s, 0.1, 1) : 0;
    for (int32_t pass = 0; pass < 2 * j; pass++) {
      double dot = 0;
      for (int32_t i = 0; i < m; i++) dot += u[i * stride + j] * u[i * stride + pass % j];
      for (int32_t i = 0; i < m; i++) u[i * stride + j] -= dot * u[i * stride + pass % j];
    }
    double sum = 0;
    for (int32_t i = 0; i < m; i++) sum += u[i * stride + j] * u[i * stride + j];
    for (int32_t i = 0; i < m; i++) u[i * stride + j] /= sqrt(sum);
  }
}

/* contacts of island i: count / islands of them */
static inline int32_t random_share(int32_t count, int32_t islands, int32_t i) {
  return (int32_t)((int64_t)count * i / islands);
}

static inline random_factor random_factor_new(ds_arena *arena, const random_spec *p, int32_t columns) {
  random_factor f = {.rows = p->dimension * p->contacts, .extra = p->equalities, .columns = columns};
  f.a = DS_NEW0(arena, double, f.rows *columns + 1);
  f.b = DS_NEW0(arena, double, f.extra *columns + 1);
  f.apart = DS_NEW0(arena, double, columns + 1);
  f.block = DS_NEW0(arena, int32_t, columns + 1);
  f.first = DS_NEW0(arena, int32_t, p->contacts + 1);
  f.last = DS_NEW0(arena, int32_t, p->contacts + 1);
  return f;
}

static inline random_factor random_dense(ds_arena *arena, uint64_t *s, const random_spec *p) {
  int32_t rank[1024], total = 0;
  for (int32_t i = 0; i < p->islands; i++) {
    int32_t m =
        p->dimension * (random_share(p->contacts, p->islands, i + 1) - random_share(p->contacts, p->islands, i));
    rank[i] = (int32_t)fmax(1, floor(m / p->redundancy + 0.5));
    total += rank[i];
  }
  random_factor f = random_factor_new(arena, p, total);
  for (int32_t i = 0, column = 0; i < p->islands; column += rank[i++]) {
    int32_t begin = random_share(p->contacts, p->islands, i), end = random_share(p->contacts, p->islands, i + 1);
    int32_t m = p->dimension * (end - begin), k = rank[i];
    double *a = f.a + p->dimension * begin * total + column;
    random_orthonormal(s, a, m, k, p->dimension, total);
    f.apart[column] = 1;
    double norm = sqrt((double)m / k); /* trace of W about its size */
    for (int32_t j = 0; j < k; j++) {
      double scale = norm * pow(p->condition, k > 1 ? -0.5 * j / (k - 1) : 0);
      for (int32_t row = 0; row < m; row++) a[row * total + j] *= scale;
    }
    for (int32_t c = begin; c < end; c++) f.first[c] = column, f.last[c] = column + k;
    f.block[f.block_count++] = k;
  }
  return f;
}

/* Rows of one contact for one body: directions over the root of the mass, levers over the root of the inertia. */
static inline void random_lever(double *a, int32_t stride, const ds_vec3 frame[3], ds_vec3 arm, int32_t d, double mass,
                                double sign) {
  double m = sign / sqrt(mass), w = sign / sqrt(mass / 6);
  for (int32_t c = 0; c < d; c++, a += stride) {
    ds_vec3 lever = v3_cross(arm, frame[c]);
    double row[6] = {m * frame[c].x, m * frame[c].y, m * frame[c].z, w * lever.x, w * lever.y, w * lever.z};
    if (d == 2) row[2] = w * lever.z; /* the plane: x, y and the turn about z */
    memcpy(a, row, (d == 2 ? 3 : 6) * sizeof *row);
  }
}

static inline ds_vec3 random_in_ball(uint64_t *s, int32_t d) {
  ds_vec3 x = {0, 0, 0};
  do { /* one after the other: arguments of a call have no order */
    x.x = random_in(s, -1, 1);
    x.y = random_in(s, -1, 1);
    x.z = d == 2 ? 0 : random_in(s, -1, 1);
  } while (v3_norm(x) < 0.1 || v3_norm(x) > 1);
  return x;
}

static inline random_factor random_bodies(ds_arena *arena, uint64_t *s, const random_spec *p) {
  int32_t d = p->dimension, size = d == 2 ? 3 : 6;
  int32_t each = (int32_t)fmax(1, floor(d * p->contacts / (p->redundancy * size * p->islands) + 0.5));
  int32_t bodies = each * p->islands, columns = size * bodies;
  random_factor f = random_factor_new(arena, p, columns);
  double *mass = DS_NEW(arena, double, bodies + 1);
  ds_vec3 *place = DS_NEW(arena, ds_vec3, bodies + 1); /* bodies part by flying away from the origin */
  for (int32_t i = 0; i < bodies; i++) {
    mass[i] = random_log(s, 1, fmin(p->condition, RANDOM_MASS_RATIO)), f.block[i] = size;
    place[i] = random_in_ball(s, d);
    double away[3] = {place[i].x, place[i].y, place[i].z};
    for (int32_t c = 0; c < d; c++) f.apart[size * i + c] = sqrt(mass[i]) * away[c];
  }
  f.block_count = bodies;
  for (int32_t i = 0; i < p->islands; i++) {
    int32_t end = random_share(p->contacts, p->islands, i + 1);
    for (int32_t k = random_share(p->contacts, p->islands, i); k < end;) {
      int32_t a = i * each + random_int(s, each), b = i * each + random_int(s, each);
      ds_vec3 n = v3_unit(a == b ? place[a] : v3_sub(place[a], place[b])), frame[3] = {n, v3(-n.y, n.x, 0), n};
      if (d == 3) v3_tangents(&frame[1], &frame[2], n);
      for (int32_t patch = 1 + random_int(s, 5); patch > 0 && k < end; patch--, k++) {
        ds_vec3 point = v3_scale(0.5, random_in_ball(s, d)), in_plane = v3_mad(point, -v3_dot(point, n), n);
        double *row = f.a + d * k * columns;
        random_lever(row + size * a, columns, frame, v3_mad(in_plane, -0.5, n), d, mass[a], 1);
        if (b != a) random_lever(row + size * b, columns, frame, v3_mad(in_plane, 0.5, n), d, mass[b], -1);
        f.first[k] = size * i * each, f.last[k] = size * (i + 1) * each;
      }
    }
  }
  return f;
}

/* Equality rows act inside one island each; as many as leave its contacts something to do. */
static inline void random_equalities(uint64_t *s, random_factor *f, const random_spec *p) {
  int32_t k = random_int(s, p->contacts), width = f->last[k] - f->first[k], count = 0;
  for (int32_t e = 0; e < f->extra && 2 * (e + 1) <= width; e++, count++) {
    double *row = f->b + e * f->columns, along = 0, size = 0;
    for (int32_t j = f->first[k]; j < f->last[k]; j++) {
      row[j] = random_normal(s) / sqrt(width);
      along += row[j] * f->apart[j];
      size += f->apart[j] * f->apart[j];
    }
    for (int32_t j = f->first[k]; j < f->last[k]; j++) row[j] -= along / size * f->apart[j];
  }
  f->extra = count;
}

/* ---- Right-hand sides ---- */

static inline void random_tangent(double t[2], uint64_t *s, int32_t d) {
  double angle = 2 * DS_PI * random_unit(s);
  t[0] = d == 2 ? (random_unit(s) < 0.5 ? 1 : -1) : cos(angle);
  t[1] = d == 2 ? 0 : sin(angle);
}

/* One contact of a solution. Undecided: no impulse and no velocity, or no velocity at the edge of the cone. */
static inline void random_pair(double *r, double *u, uint64_t *s, double mu, int32_t d, double stick, double slide) {
  double t[2], mode = random_unit(s), normal = random_in(s, 0.1, 1), size = random_unit(s);
  random_tangent(t, s, d);
  double friction = 0, slip = 0, lift = 0;
  if (random_unit(s) < 0.03)
    normal = random_unit(s) < 0.5 ? 0 : normal, friction = mu * normal;
  else if (mode < stick)
    friction = 0.95 * size * mu * normal;
  else if (mode < stick + slide)
    friction = mu * normal, slip = -size;
  else
    normal = 0, lift = random_unit(s), slip = random_in(s, -1, 1);
  r[0] = normal, u[0] = lift;
  for (int32_t c = 1; c < d; c++) r[c] = friction * t[c - 1], u[c] = slip * t[c - 1];
}

/* y += x_i times row i of a (n x k) for all i */
static inline void random_add_rows(double *y, const double *a, const double *x, int32_t n, int32_t k) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < k; j++) y[j] += x[i] * a[i * k + j];
}

static inline double random_dot(const double *x, const double *y, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* q and s of the local form, and the planted solution. */
static inline void random_right_side(ds_arena *arena, double **q, double **rest, double **planted, uint64_t *s,
                                     const random_factor *f, const double *mu, const random_spec *p) {
  int32_t d = p->dimension;
  double *r = DS_NEW0(arena, double, f->rows + 1), *u = DS_NEW0(arena, double, f->rows + 1);
  double *y = DS_NEW0(arena, double, f->columns + 1), *l = DS_NEW0(arena, double, f->extra + 1);
  double stick = random_unit(s), slide = random_unit(s) * (1 - stick);
  for (int32_t k = 0; k < p->contacts; k++) {
    double *uk = u + d * k;
    random_pair(r + d * k, uk, s, mu[k], d, stick, slide);
    if (!p->planted) uk[0] = mu[k] * sqrt(random_dot(uk + 1, uk + 1, d - 1)) + random_in(s, 0.01, 1);
    for (int32_t c = 0; c < d; c++) uk[c] *= p->outside * p->velocity, r[d * k + c] *= p->velocity / p->compliance;
  }
  for (int32_t e = 0; e < f->extra; e++) l[e] = random_normal(s) * p->velocity / p->compliance;
  if (p->planted) { /* y = Aᵀ r + Bᵀ l */
    random_add_rows(y, f->a, r, f->rows, f->columns);
    random_add_rows(y, f->b, l, f->extra, f->columns);
  } else {
    for (int32_t j = 0; j < f->columns; j++) y[j] = random_normal(s) * p->velocity / sqrt(p->compliance);
  }
  *q = DS_NEW(arena, double, f->rows + 1), *rest = DS_NEW(arena, double, f->extra + 1);
  for (int32_t i = 0; i < f->rows; i++) (*q)[i] = u[i] - random_dot(f->a + i * f->columns, y, f->columns);
  for (int32_t e = 0; e < f->extra; e++) (*rest)[e] = -random_dot(f->b + e * f->columns, y, f->columns);
  *planted = p->planted ? r : NULL;
}

/* ---- Matrices as triplets ---- */

/* The part of x (rows x columns) that is not zero. */
static inline ds_matrix random_triplets(ds_arena *arena, const double *x, int32_t rows, int32_t columns) {
  int32_t count = 0, size = rows * columns;
  for (int32_t i = 0; i < size; i++) count += x[i] != 0;
  int32_t *row = DS_NEW(arena, int32_t, count + 1), *column = DS_NEW(arena, int32_t, count + 1);
  double *value = DS_NEW(arena, double, count + 1);
  for (int32_t i = 0, n = 0; i < size; i++)
    if (x[i] != 0) row[n] = i / columns, column[n] = i % columns, value[n++] = x[i];
  return (ds_matrix){rows, columns, count, row, column, value};
}

/* x yᵀ for row-major x (m x k), y (n x k) */
static inline ds_matrix random_product(ds_arena *arena, const double *x, const double *y, int32_t m, int32_t n,
                                       int32_t k) {
  double *z = DS_NEW(arena, double, m *n + 1);
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) z[i * n + j] = random_dot(x + i * k, y + j * k, k);
  return random_triplets(arena, z, m, n);
}

static inline void random_local(ds_arena *arena, ds_problem *out, const random_factor *f) {
  out->W = random_product(arena, f->a, f->a, f->rows, f->rows, f->columns);
  if (f->extra == 0) return;
  out->V = random_product(arena, f->a, f->b, f->rows, f->extra, f->columns);
  out->R = random_product(arena, f->b, f->b, f->extra, f->extra, f->columns);
}

/* M = L Lᵀ with random lower triangular blocks of condition about 10; f = L y, w = q - A y, b = s - B y. */
static inline void random_global(ds_arena *arena, ds_problem *out, uint64_t *s, const random_factor *f, const double *q,
                                 const double *rest, const random_spec *p) {
  int32_t k = f->columns;
  double *l = DS_NEW0(arena, double, k *k + 1), *y = DS_NEW(arena, double, k + 1),
         *force = DS_NEW(arena, double, k + 1);
  double *w = DS_NEW(arena, double, f->rows + 1), *b = DS_NEW(arena, double, f->extra + 1);
  double unit = sqrt(1 / p->compliance);
  for (int32_t block = 0, at = 0; block < f->block_count; at += f->block[block++])
    for (int32_t i = at; i < at + f->block[block]; i++)
      for (int32_t j = at; j <= i; j++) l[i * k + j] = unit * (i == j ? random_in(s, 0.5, 2) : 0.2 * random_normal(s));
  for (int32_t i = 0; i < k; i++) y[i] = 0.3 * random_normal(s) * p->velocity * unit;
  for (int32_t i = 0; i < k; i++) force[i] = random_dot(l + i * k, y, k);
  for (int32_t i = 0; i < f->rows; i++) w[i] = q[i] - random_dot(f->a + i * k, y, k);
  for (int32_t i = 0; i < f->extra; i++) b[i] = rest[i] - random_dot(f->b + i * k, y, k);
  out->dof = k;
  out->M = random_product(arena, l, l, k, k, k);
  out->H = random_product(arena, l, f->a, k, f->rows, k);
  out->f = force, out->w = w;
  if (f->extra == 0) return;
  out->G = random_product(arena, l, f->b, k, f->extra, k);
  out->b = b;
}

/* A problem of at most 1000 contacts. Memory comes from the arena; a failed one shows in ds_arena_failed. */
static inline random_case random_ds_problem(ds_arena *arena, const random_spec *spec) {
  uint64_t s = spec->seed;
  random_spec p = *spec;
  p.islands = p.islands < p.contacts ? p.islands : p.contacts;
  random_factor f = p.bodies ? random_bodies(arena, &s, &p) : random_dense(arena, &s, &p);
  random_equalities(&s, &f, &p);
  double *mu = DS_NEW(arena, double, p.contacts + 1), *q, *rest, root = sqrt(p.compliance);
  for (int32_t k = 0; k < p.contacts; k++)
    mu[k] = random_unit(&s) < p.smooth ? 0 : random_log(&s, p.mu / p.spread, p.mu);
  for (int32_t i = 0; i < f.rows * f.columns; i++) f.a[i] *= root;
  for (int32_t i = 0; i < f.extra * f.columns; i++) f.b[i] *= root;
  random_case out = {.problem = {.form = p.global ? DS_PROBLEM_GLOBAL : DS_PROBLEM_LOCAL,
                                 .dimension = p.dimension,
                                 .contacts = p.contacts,
                                 .equalities = f.extra,
                                 .mu = mu}};
  random_right_side(arena, &q, &rest, &out.r, &s, &f, mu, &p);
  if (p.global) {
    random_global(arena, &out.problem, &s, &f, q, rest, &p);
  } else {
    random_local(arena, &out.problem, &f);
    out.problem.q = q;
    if (f.extra > 0) out.problem.s = rest;
  }
  return out;
}

#endif
