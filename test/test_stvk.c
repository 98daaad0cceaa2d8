/* Reduced St. Venant-Kirchhoff forces: the polynomial is what elements give, its stiffness and energy belong to it;
 * modal derivatives solve their equation and let a beam bend far; static large deflection against the elastica. */
#include <string.h>

#include "body/compression.h"
#include "fem_helper.h"
#include "la/small.h"
#include "random_pose.h"

typedef struct body {
  ds_tets tets;
  ds_reduced *reduced;
  ds_fem fem; /* in the principal frame */
} body;

static body make(ds_tets tets, int32_t r, double poisson, bool stvk) {
  ds_error error = {""};
  ds_reduced_def def = ds_default_reduced();
  def.modes = r;
  def.stvk = stvk;
  def.poisson = poisson;
  def.threads = 2;
  body b = {.tets = tets, .reduced = ds_reduced_create(&tets, &def, &error)};
  if (!b.reduced) printf("%s\n", error.message);
  CHECK(b.reduced != NULL);
  if (!b.reduced || ds_fem_create(&b.fem, &b.reduced->tets, def.young, poisson, def.density, &error) != DS_OK) abort();
  return b;
}

static void drop(body *b) {
  ds_reduced_release(b->reduced);
  ds_fem_free(&b->fem);
  tets_drop(&b->tets);
}

/* u = U q; f = Uᵀ F */
static void to_nodes(double *u, const ds_reduced *x, const double *q) {
  for (int64_t i = 0; i < 3 * (int64_t)x->tets.node_count; i++) {
    u[i] = 0;
    for (int32_t a = 0; a < x->r; a++) u[i] += x->node_basis[i * x->r + a] * q[a];
  }
}

static void to_reduced(double *f, const ds_reduced *x, const double *forces) {
  for (int32_t a = 0; a < x->r; a++) f[a] = 0;
  for (int64_t i = 0; i < 3 * (int64_t)x->tets.node_count; i++)
    for (int32_t a = 0; a < x->r; a++) f[a] += x->node_basis[i * x->r + a] * forces[i];
}

static double largest(const double *x, int64_t n) {
  double m = 0;
  for (int64_t i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
  return m;
}

/* Reduced coordinates that move the body by about `size` of its extent: so much that every degree counts. */
static void random_q(double *q, const ds_reduced *x, double size) {
  for (int32_t a = 0; a < x->r; a++) q[a] = uniform(-1, 1) * size * sqrt(x->mass);
}

static void check_against_elements(const body *b, double size) {
  const ds_reduced *x = b->reduced;
  int32_t r = x->r, n = ds_fem_dimension(&b->fem);
  double *u = need((size_t)n, sizeof *u), *forces = need((size_t)n, sizeof *forces);
  double *k = need(9 * (size_t)b->fem.start[n / 3], sizeof *k), *ku = need((size_t)n, sizeof *ku);
  double *column = need((size_t)n, sizeof *column), *reduced_k = need((size_t)(r * r), sizeof *reduced_k);
  double q[DS_REDUCED_MAX] = {0}, f[DS_REDUCED_MAX], want[DS_REDUCED_MAX];
  random_q(q, x, size);
  to_nodes(u, x, q);
  double energy = stvk_direct(forces, &b->fem, u), worst = 0;
  to_reduced(want, x, forces);
  ds_reduced_force(f, x, q);
  for (int32_t a = 0; a < r; a++) worst = fmax(worst, fabs(f[a] - want[a]));
  CHECK_LE(worst, 1e-10 * largest(want, r));
  CHECK_NEAR(ds_reduced_energy(x, q), energy, 1e-10 * fabs(energy));
  /* the tangent, column by column */
  stvk_tangent(k, &b->fem, u);
  ds_reduced_stiffness(reduced_k, x, q);
  ds_fem tangent = b->fem;
  tangent.stiffness = k;
  worst = 0;
  for (int32_t c = 0; c < r; c++) {
    for (int32_t i = 0; i < n; i++) column[i] = x->node_basis[(int64_t)i * r + c];
    ds_fem_times_stiffness(ku, &tangent, column);
    to_reduced(want, x, ku);
    for (int32_t a = 0; a < r; a++) {
      worst = fmax(worst, fabs(want[a] - reduced_k[a * r + c]));
      CHECK(reduced_k[a * r + c] == reduced_k[c * r + a]);
    }
  }
  CHECK_LE(worst, 1e-10 * largest(reduced_k, r * r));
  free(u), free(forces), free(k), free(ku), free(column), free(reduced_k);
}

/* Five-point differences are exact for polynomials of degree four: of the energy, and of the force. With resistance to
 * compression they are not, and have small steps; its third derivative jumps where it begins. */
static void check_derivatives(const ds_reduced *x, double size) {
  static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12};
  int32_t r = x->r;
  double q[DS_REDUCED_MAX] = {0}, f[DS_REDUCED_MAX], moved[DS_REDUCED_MAX], g[DS_REDUCED_MAX];
  random_q(q, x, size);
  bool pressed = false;
  for (int32_t a = 0; a < 2 * r; a++) {
    memcpy(moved, q, sizeof moved);
    moved[a / 2] += (a % 2 ? 0.6 : -0.6) * size * sqrt(x->mass);
    pressed |= ds_compression_energy(x, moved) > 0;
  }
  double *k = need((size_t)(r * r), sizeof *k), h = (pressed ? 1e-4 : 0.3) * size * sqrt(x->mass);
  ds_reduced_force(f, x, q);
  ds_reduced_stiffness(k, x, q);
  double force_error = 0, stiffness_error = 0;
  for (int32_t a = 0; a < r; a++) {
    double slope = 0, column[DS_REDUCED_MAX] = {0};
    for (int s = 0; s < 4; s++) {
      for (int32_t b = 0; b < r; b++) moved[b] = q[b] + (a == b ? h * at[s] : 0);
      slope += weight[s] / h * ds_reduced_energy(x, moved);
      ds_reduced_force(g, x, moved);
      for (int32_t b = 0; b < r; b++) column[b] += weight[s] / h * g[b];
    }
    force_error = fmax(force_error, fabs(slope - f[a]));
    for (int32_t b = 0; b < r; b++) stiffness_error = fmax(stiffness_error, fabs(column[b] - k[b * r + a]));
  }
  CHECK_LE(force_error, (pressed ? 1e-7 : 1e-10) * largest(f, r));
  CHECK_LE(stiffness_error, (pressed ? 1e-3 : 1e-10) * largest(k, r * r));
  free(k);
}

static void polynomials(void) {
  const double poisson[4] = {0.3, 0, 0.49, -0.6};
  for (int i = 0; i < (quick() ? 2 : 4); i++) {
    ds_tets tets = i % 2 == 0 ? tets_box(v3(1, 0.3, 0.2), 10, 3, 2) : tets_box(v3(0.1, 0.12, 0.1), 4, 4, 4);
    tets_shake(&tets, i % 2 == 0 ? 0.1 : 0.025, 0.2);
    body b = make(tets, quick() ? 8 : 10 + 3 * i, poisson[i], true);
    for (double size = 1e-3; size < 10; size *= 10) {
      check_against_elements(&b, size);
      check_derivatives(b.reduced, size);
    }
    drop(&b);
  }
}

/* The direct elements themselves: a bar stretched uniformly has the energy of its strain, and P on its end face. */
static void uniform_stretch(void) {
  ds_tets tets = tets_box(v3(2, 0.5, 0.4), 3, 2, 2);
  ds_fem fem;
  ds_error error;
  double e = 1e5, nu = 0.25, stretch = 1.3, side = 0.9, volume = 0.4;
  if (ds_fem_create(&fem, &tets, e, nu, 1000, &error) != DS_OK) abort();
  double *u = need((size_t)ds_fem_dimension(&fem), sizeof *u), *f = need((size_t)ds_fem_dimension(&fem), sizeof *f);
  for (int32_t i = 0; i < tets.node_count; i++) {
    u[3 * i] = (stretch - 1) * tets.nodes[i].x;
    u[3 * i + 1] = (side - 1) * tets.nodes[i].y;
    u[3 * i + 2] = (side - 1) * tets.nodes[i].z;
  }
  double ex = (stretch * stretch - 1) / 2, ey = (side * side - 1) / 2, trace = ex + 2 * ey;
  double lame = e * nu / ((1 + nu) * (1 - 2 * nu)), shear = e / (2 * (1 + nu));
  double want = volume * (lame / 2 * trace * trace + shear * (ex * ex + 2 * ey * ey)), end = 0;
  CHECK_NEAR(stvk_direct(f, &fem, u), want, 1e-12 * want);
  for (int32_t i = 0; i < tets.node_count; i++)
    if (tets.nodes[i].x > 0.99) end += f[3 * i];
  CHECK_NEAR(end, 0.2 * stretch * (lame * trace + 2 * shear * ex), 1e-10 * end);
  ds_fem_free(&fem);
  tets_drop(&tets);
  free(u), free(f);
}

/* (H : u) v from even parts of the forces: f(x) + f(-x) = 2 f2(x), f2(u + v) - f2(u - v) = 2 (H : u) v. */
static void second_derivative(void) {
  ds_tets tets = tets_box(v3(1, 0.6, 0.4), 4, 3, 2);
  ds_fem fem;
  ds_error error;
  if (ds_fem_create(&fem, &tets, 1e6, 0.3, 1000, &error) != DS_OK) abort();
  int32_t n = ds_fem_dimension(&fem);
  double *x[8];
  for (int i = 0; i < 8; i++) x[i] = need((size_t)n, sizeof(double));
  for (int32_t i = 0; i < n; i++) x[0][i] = uniform(-0.01, 0.01), x[1][i] = uniform(-0.01, 0.01);
  for (int sign = 0; sign < 4; sign++) {
    for (int32_t i = 0; i < n; i++) x[2][i] = (sign & 1 ? -1 : 1) * (x[0][i] + (sign & 2 ? -1 : 1) * x[1][i]);
    stvk_direct(x[3 + sign], &fem, x[2]);
  }
  ds_stvk_second(x[7], &fem, x[0], x[1]);
  double worst = 0;
  for (int32_t i = 0; i < n; i++) worst = fmax(worst, fabs((x[3][i] + x[4][i] - x[5][i] - x[6][i]) / 4 - x[7][i]));
  CHECK_LE(worst, 1e-10 * largest(x[7], n));
  for (int i = 0; i < 8; i++) free(x[i]);
  ds_fem_free(&fem);
  tets_drop(&tets);
}

/* K d = -(H : phi_i) phi_j but for forces that move the body as a whole, M times rigid motions. */
static void modal_derivatives(void) {
  enum { COUNT = 4 };
  ds_tets tets = tets_box(v3(1, 0.2, 0.1), 10, 3, 2);
  ds_fem fem;
  ds_error error;
  ds_modes modes;
  ds_vectors set;
  if (ds_fem_create(&fem, &tets, 1e6, 0.3, 1000, &error) != DS_OK ||
      ds_modes_find(&modes, &fem, COUNT, NULL, NULL, &error) != DS_OK ||
      ds_vectors_create(&set, &fem, NULL, 1, 1, &error) != DS_OK)
    abort();
  int32_t n = ds_fem_dimension(&fem), at = 0;
  double *d = need((size_t)(COUNT * (COUNT + 1) / 2) * (size_t)n, sizeof *d), *k = need((size_t)n, sizeof *k);
  double *h = need((size_t)n, sizeof *h), *m = need((size_t)n, sizeof *m);
  CHECK(ds_modal_derivatives(d, &fem, &modes, NULL, NULL, &error) == DS_OK);
  for (int32_t i = 0; i < COUNT; i++)
    for (int32_t j = i; j < COUNT; j++, at++) {
      const double *x = d + (int64_t)at * n;
      ds_fem_times_stiffness(k, &fem, x);
      ds_stvk_second(h, &fem, modes.phi + (int64_t)i * n, modes.phi + (int64_t)j * n);
      double size = largest(h, n), rigid = 0;
      for (int32_t a = 0; a < n; a++) h[a] += k[a];
      ds_fem_times_mass(m, &fem, x);
      for (int c = 0; c < DS_RIGID; c++) {
        const double *r = ds_vectors_at(&set, c);
        double part = ds_vectors_dot(r, h, n);
        rigid = fmax(rigid, fabs(ds_vectors_dot(r, m, n)));
        ds_fem_times_mass(k, &fem, r);
        for (int32_t a = 0; a < n; a++) h[a] -= part * k[a];
      }
      CHECK_LE(largest(h, n), 1e-8 * size);
      CHECK_LE(rigid, 1e-10 * sqrt(ds_vectors_dot(x, m, n)));
    }
  free(d), free(k), free(h), free(m);
  ds_vectors_free(&set);
  ds_modes_free(&modes);
  ds_fem_free(&fem);
  tets_drop(&tets);
}

/* The basis does not depend on units, mass or stiffness: a body ten times as large, of another material, has the same
 * shapes. */
static void units(void) {
  ds_tets small = tets_box(v3(0.1, 0.03, 0.02), 6, 3, 2), large = tets_box(v3(1, 0.3, 0.2), 6, 3, 2);
  ds_reduced_def def = ds_default_reduced();
  ds_error error;
  def.modes = 10;
  def.stvk = true;
  ds_reduced *a = ds_reduced_create(&small, &def, &error);
  def.young = 3e9;
  def.density = 7000;
  ds_reduced *b = ds_reduced_create(&large, &def, &error);
  if (!a || !b) abort();
  double ratio = sqrt(b->mass / a->mass), worst = 0;
  for (int64_t i = 0; i < 3 * (int64_t)a->tets.node_count * a->r; i++)
    worst = fmax(worst, fabs(a->node_basis[i] - ratio * b->node_basis[i]));
  CHECK_LE(worst, 1e-6 * largest(a->node_basis, 3 * (int64_t)a->tets.node_count * a->r));
  ds_reduced_release(a);
  ds_reduced_release(b);
  tets_drop(&small);
  tets_drop(&large);
}

/* ---- large deflection ---- */

/* A cantilever of length 1 with the dead load alpha = P L² / (E I) across its end: theta'' = -alpha cos theta from
 * theta(0) = 0 to theta'(1) = 0 [Bisshopp and Drucker 1945, eq. 1], by shooting from the free end. */
static double bend_back(double *x, double *y, double alpha, double end) {
  enum { STEPS = 2000 };
  double theta = end, slope = 0, h = 1.0 / STEPS;
  *x = *y = 0;
  for (int i = 0; i < STEPS; i++) { /* s runs back: the midpoint of theta by leapfrog, second order */
    double middle = theta - h / 2 * slope - h * h / 8 * alpha * cos(theta);
    *x += h * cos(middle);
    *y += h * sin(middle);
    slope += h * alpha * cos(middle);
    theta = theta - h * slope + h * h / 2 * alpha * cos(middle);
  }
  return theta;
}

static void elastica(double *x, double *y, double alpha) {
  double low = 0, high = DS_PI / 2;
  for (int i = 0; i < 60; i++) {
    double end = (low + high) / 2;
    if (bend_back(x, y, alpha, end) > 0)
      high = end;
    else
      low = end;
  }
}

static void elastica_itself(void) { /* the table of Bisshopp and Drucker's solution */
  const double alpha[3] = {1, 2, 5}, down[3] = {0.30172, 0.49346, 0.71379}, back[3] = {0.05643, 0.16064, 0.38763};
  for (int i = 0; i < 3; i++) {
    double x, y;
    elastica(&x, &y, alpha[i]);
    CHECK_NEAR(y, down[i], 1e-4);
    CHECK_NEAR(1 - x, back[i], 1e-4);
  }
}

typedef struct cantilever {
  ds_tets tets;
  ds_fem fem;
  bool *fixed;
  double *load; /* unit force across the end, along y, spread as the end face is */
  double inertia;
} cantilever;

/* Length 1, thickness t, n elements across it; clamped at its left end. */
static void make_cantilever(cantilever *c, double t, int32_t n, double young) {
  ds_error error;
  *c = (cantilever){.tets = tets_box(v3(1, t, t), (int32_t)lround(n / t), n, 1), .inertia = t * t * t * t / 12};
  if (ds_fem_create(&c->fem, &c->tets, young, 0, 1000, &error) != DS_OK) abort();
  c->fixed = need((size_t)c->tets.node_count, sizeof *c->fixed);
  c->load = need((size_t)ds_fem_dimension(&c->fem), sizeof *c->load);
  double sum = 0;
  for (int32_t i = 0; i < c->tets.node_count; i++) {
    c->fixed[i] = c->tets.nodes[i].x < -0.4999;
    if (c->tets.nodes[i].x > 0.4999) sum += c->load[3 * i + 1] = fabs(c->tets.nodes[i].y) > 0.4999 * t ? 0.5 : 1;
  }
  for (int32_t i = 0; i < c->tets.node_count; i++) c->load[3 * i + 1] /= sum;
}

static void drop_cantilever(cantilever *c) {
  ds_fem_free(&c->fem);
  tets_drop(&c->tets);
  free(c->fixed);
  free(c->load);
}

/* Newton on f(u) = P load, the load in steps; where the end goes. */
static void bend(double *x, double *y, const cantilever *c, double force, int32_t steps) {
  int32_t n = ds_fem_dimension(&c->fem), rounds = 0;
  double *u = need((size_t)n, sizeof *u), *f = need((size_t)n, sizeof *f), *g = need((size_t)n, sizeof *g);
  double *k = need(9 * (size_t)c->fem.start[n / 3], sizeof *k), change = 1;
  for (int32_t step = 1; step <= steps; step++)
    for (change = 1; change > 1e-6 && rounds < 100; rounds++) {
      stvk_direct(f, &c->fem, u);
      stvk_tangent(k, &c->fem, u);
      for (int32_t i = 0; i < n; i++) g[i] = force * step / steps * c->load[i] - f[i];
      if (!solve_fixed(g, &c->fem, k, c->fixed)) break;
      for (int32_t i = 0; i < n; i++) u[i] += g[i];
      change = largest(g, n);
      if (steps == 1) break; /* one solve: linear */
    }
  CHECK(steps == 1 || change <= 1e-6);
  *x = *y = 0;
  double ends = 0;
  for (int32_t i = 0; i < n / 3; i++)
    if (c->load[3 * i + 1] > 0) ends++, *x += u[3 * i], *y += u[3 * i + 1];
  *x /= ends, *y /= ends;
  free(u), free(f), free(g), free(k);
}

/* Sag P L³ / (3 E I) with Timoshenko's shear, P L / (kappa G A), kappa = 5/6. Linear tetrahedra are too stiff in
 * bending, by an excess that falls by four where the cells are halved. */
static void small_sag(void) {
  double t = 0.1, young = 1e6, force = 1e-3, excess[4];
  int32_t last = quick() ? 2 : 4;
  for (int32_t i = 0; i < last; i++) {
    cantilever c;
    make_cantilever(&c, t, 2 << i, young);
    double x, sag, want = force / (3 * young * c.inertia) + force * 2 / (5.0 / 6 * young * t * t);
    bend(&x, &sag, &c, force, 1);
    excess[i] = want / sag - 1;
    printf("  %d cells across: %.2f %% too stiff\n", 2 << i, 100 * excess[i]);
    CHECK(excess[i] > 0);
    if (i > 0) CHECK_NEAR(excess[i - 1] / excess[i], 4, 0.2);
    drop_cantilever(&c);
  }
  CHECK_LE(fabs(excess[last - 1] - (excess[last - 2] - excess[last - 1]) / 3), quick() ? 0.01 : 0.003);
  if (!quick()) CHECK_LE(excess[3], 0.02);
}

/* A sag of half the length: the elastica with the stiffness that the mesh has for small loads. */
static void large_sag(void) {
  double t = 0.05, young = 1e6, x, y, small, want_x, want_y;
  cantilever c;
  make_cantilever(&c, t, 4, young);
  bend(&x, &small, &c, 1e-6, 1);
  double stiffness = 1e-6 / (3 * small); /* E I as meshed */
  printf("  E I as meshed %.3f of the beam's\n", stiffness / (young * c.inertia));
  elastica(&want_x, &want_y, 2);
  bend(&x, &y, &c, 2 * stiffness, 6);
  printf("  elastica: down %.4f (theory %.4f), back %.4f (%.4f)\n", y, want_y, -x, 1 - want_x);
  CHECK_NEAR(y, want_y, 0.01 * want_y);
  CHECK_NEAR(-x, 1 - want_x, 0.03 * (1 - want_x));
  drop_cantilever(&c);
}

/* ---- the same in reduced coordinates ---- */

/* A free beam of length 2, pushed in its middle and held back at its ends: two cantilevers back to back. Newton on
 * f(q) = Uᵀ F; how far the ends go, against the middle. */
static void bend_reduced(double *x, double *y, const ds_reduced *b, double force, int32_t steps) {
  enum { R = 24 };
  int32_t r = b->r, vertices = b->surface.vertex_count;
  double place[3][2 * R] = {{0}}, count[3] = {0}, q[R] = {0}, f[R], k[R * R]; /* mean of U, x and y rows */
  for (int32_t i = 0; i < vertices; i++) {
    ds_vec3 p = pose_unpoint(b->frame, b->surface.vertices[i]);
    int end = p.x < -0.999 ? 0 : p.x > 0.999 ? 2 : fabs(p.x) < 1e-9 ? 1 : -1;
    if (end < 0) continue;
    count[end]++;
    for (int32_t a = 0; a < r; a++) {
      const double *u = b->basis + 3 * (int64_t)i * r + a;
      ds_vec3 d = quat_unrotate(b->frame.q, v3(u[0], u[r], u[2 * r]));
      place[end][a] += d.x, place[end][R + a] += d.y;
    }
  }
  for (int32_t step = 1, rounds = 0; step <= steps; step++)
    for (double change = 1; change > 1e-10 && rounds < 200; rounds++) {
      ds_reduced_force(f, b, q);
      ds_reduced_stiffness(k, b, q);
      for (int32_t a = 0; a < r; a++)
        f[a] = force * step / steps *
                   (place[0][R + a] / count[0] + place[2][R + a] / count[2] - 2 * place[1][R + a] / count[1]) -
               f[a];
      CHECK(ds_small_cholesky(k, r));
      ds_small_solve_l(f, k, r);
      ds_small_solve_lt(f, k, r);
      change = 0;
      for (int32_t a = 0; a < r; a++) q[a] += f[a], change = fmax(change, fabs(f[a]));
    }
  *x = *y = 0;
  for (int32_t a = 0; a < r; a++) {
    *x += q[a] * (place[2][a] / count[2] - place[0][a] / count[0]) / 2;
    *y += q[a] * (place[0][R + a] / count[0] / 2 + place[2][R + a] / count[2] / 2 - place[1][R + a] / count[1]);
  }
}

static void large_sag_reduced(void) {
  double t = 0.05, small, x, y, want_x, want_y;
  int32_t n = quick() ? 1 : 2;
  elastica(&want_x, &want_y, 1);
  for (int stvk = 0; stvk < 2; stvk++) {
    body b = make(tets_box(v3(2, t, t), 40 * n, n, 1), 24, 0, stvk);
    bend_reduced(&x, &small, b.reduced, 1e-6, 1);
    double stiffness = 1e-6 / (3 * small);
    bend_reduced(&x, &y, b.reduced, stiffness, 8);
    printf("  %s: down %.4f (theory %.4f), back %.4f (%.4f)\n", stvk ? "StVK" : "modal", y, want_y, -x, 1 - want_x);
    if (stvk) {
      CHECK_NEAR(y, want_y, 0.05 * want_y);
      CHECK_NEAR(-x, 1 - want_x, 0.1 * (1 - want_x));
    } else { /* linear: the sag goes on as it begins, the beam becomes longer */
      CHECK_NEAR(y, 1.0 / 3, 1e-3);
      CHECK_LE(fabs(x), 1e-3);
    }
    drop(&b);
  }
}

int main(void) {
  RUN_THREADS(polynomials);
  RUN(uniform_stretch);
  RUN(second_derivative);
  RUN(modal_derivatives);
  RUN(units);
  RUN(elastica_itself);
  RUN(small_sag);
  RUN(large_sag);
  RUN(large_sag_reduced);
  return test_summary();
}
