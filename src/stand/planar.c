#include "stand/planar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec3.h"
#include "stand/barrier.h"
#include "stand/proof.h"

enum {
  MOST_JOINTS = 40, /* dense programs of some ten unknowns per joint, one per joint and round */
  MOST_ROUNDS = 8,
};
static const double level = 1e-9;          /* part of a normal or load along the axis that counts as none */
static const double box = 1e4;             /* bounds of motions in the programs: they keep barriers finite */
static const double bound_gap = 1e-5;      /* accuracy of a bound, in mean weights */
static const double safety = 1e-7;         /* of a bound, in mean weights: taken off before it is used */
static const double least_progress = 1e-4; /* of the bounds in a round, in mean weights */

/* The structure in its plane: lengths, masses and accelerations over their means. Of a joint its outermost points. */
typedef struct plane_point {
  int32_t interface, point; /* of the assembly */
  int32_t a, b;             /* free blocks, -1 = support */
  double n[6], t[6];        /* normal and slip of b against a by the motions of a and b: (v1, v2, w) each */
} plane_point;

typedef struct plane {
  const ds_assembly *assembly;
  int32_t axis, n, points, joints;
  int32_t *slot;
  double mass_unit, length_unit, force_unit, speed_unit;
  double *mass;   /* 3 x n: m, m, I */
  double *load;   /* 3 x n */
  double *center; /* 2 x n */
  plane_point *point;
  double *mu, *rho; /* joints */
  double *P;        /* of barrier.h, for bounds */
  double *away;     /* 3 n: a motion that separates all points */
} plane;

static double part(ds_vec3 v, int32_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
static double first(const plane *p, ds_vec3 v) { return part(v, (p->axis + 1) % 3); }
static double second(const plane *p, ds_vec3 v) { return part(v, (p->axis + 2) % 3); }

/* The axis along which normals and loads have no part; -1 = none. */
static int32_t find_axis(const ds_assembly *a) {
  double g = v3_norm(a->gravity);
  for (int32_t k = 0; k < 3; k++) {
    bool good = fabs(part(a->gravity, k)) <= level * g;
    for (int32_t i = 0; i < a->interface_count && good; i++) good = fabs(part(a->interfaces[i].normal, k)) <= level;
    for (int32_t i = 0; i < a->block_count && good; i++) {
      const ds_block *b = &a->blocks[i];
      double turn = part(b->torque, (k + 1) % 3), other = part(b->torque, (k + 2) % 3);
      good = b->support || (part(b->force, k) == 0 && turn == 0 && other == 0);
    }
    if (good && ds_is_mirrored(a, k)) return k;
  }
  return -1;
}

static void fill_side(double *n, double *t, const plane *p, int32_t body, ds_vec3 point, double n1, double n2,
                      double sign) {
  if (body < 0) return;
  double x = first(p, point) / p->length_unit - p->center[2 * body];
  double z = second(p, point) / p->length_unit - p->center[2 * body + 1];
  n[0] = sign * n1, n[1] = sign * n2, n[2] = sign * (x * n2 - z * n1);
  t[0] = -sign * n2, t[1] = sign * n1, t[2] = sign * (x * n1 + z * n2); /* the normal, a quarter turn on */
}

static void add_point(plane *p, int32_t interface, int32_t k) {
  const ds_interface *face = &p->assembly->interfaces[interface];
  plane_point *q = &p->point[p->points++];
  *q = (plane_point){.interface = interface, .point = k, .a = p->slot[face->a], .b = p->slot[face->b]};
  double n1 = first(p, face->normal), n2 = second(p, face->normal);
  fill_side(q->n, q->t, p, q->a, p->assembly->points[k], n1, n2, -1);
  fill_side(q->n + 3, q->t + 3, p, q->b, p->assembly->points[k], n1, n2, 1);
}

/* The outermost points of every joint. */
static void add_points(plane *p) {
  const ds_assembly *a = p->assembly;
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    double n1 = first(p, face->normal), n2 = second(p, face->normal), low = INFINITY, high = -INFINITY;
    int32_t lowest = face->first, highest = face->first;
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      double s = n1 * second(p, a->points[k]) - n2 * first(p, a->points[k]);
      if (s < low) low = s, lowest = k;
      if (s > high) high = s, highest = k;
    }
    add_point(p, i, lowest);
    if (high > low) add_point(p, i, highest);
    p->mu[i] = face->mu;
  }
}

static bool create(ds_arena *arena, plane *p) {
  const ds_assembly *a = p->assembly;
  size_t blocks = (size_t)a->block_count + 1, joints = (size_t)a->interface_count + 1;
  p->slot = DS_NEW(arena, int32_t, blocks);
  p->mass = DS_NEW0(arena, double, 3 * blocks), p->load = DS_NEW0(arena, double, 3 * blocks);
  p->center = DS_NEW0(arena, double, 2 * blocks), p->away = DS_NEW0(arena, double, 3 * blocks);
  p->mu = DS_NEW0(arena, double, joints), p->rho = DS_NEW0(arena, double, joints);
  p->point = DS_NEW(arena, plane_point, 2 * joints);
  if (ds_arena_failed(arena)) return false;
  p->joints = a->interface_count;
  double inertia = 0;
  int32_t k = p->axis;
  for (int32_t i = 0; i < a->block_count; i++) {
    p->slot[i] = a->blocks[i].support ? -1 : p->n++;
    if (p->slot[i] >= 0) p->mass_unit += a->blocks[i].mass, inertia += a->blocks[i].inertia[4 * k];
  }
  p->mass_unit /= p->n, p->speed_unit = v3_norm(a->gravity), p->force_unit = p->mass_unit * p->speed_unit;
  p->length_unit = sqrt(inertia / (p->n * p->mass_unit));
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    int32_t s = p->slot[i];
    if (s < 0) continue;
    double m = b->mass / p->mass_unit, *w = p->load + 3 * s;
    p->mass[3 * s] = p->mass[3 * s + 1] = m;
    p->mass[3 * s + 2] = b->inertia[4 * k] / (p->mass_unit * p->length_unit * p->length_unit);
    p->center[2 * s] = first(p, b->center) / p->length_unit,
                  p->center[2 * s + 1] = second(p, b->center) / p->length_unit;
    ds_vec3 f = v3_mad(b->force, b->mass, a->gravity);
    w[0] = first(p, f) / p->force_unit, w[1] = second(p, f) / p->force_unit;
    w[2] = part(b->torque, k) / (p->force_unit * p->length_unit);
  }
  add_points(p);
  return true;
}

/* Adds factor (row . motion) of a point to a row of a program whose unknowns begin with the motion. */
static void add_motion(ds_barrier_row *row, const plane_point *q, double n_factor, double t_factor) {
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = side ? q->b : q->a;
    for (int32_t j = 0; j < 3 && body >= 0; j++)
      ds_barrier_entry(row, 3 * body + j, n_factor * q->n[3 * side + j] + t_factor * q->t[3 * side + j]);
  }
}

static int32_t add_box(ds_barrier_row *rows, int32_t column, double low, double high) {
  memset(rows, 0, 2 * sizeof *rows);
  rows[0].constant = -low, rows[1].constant = high;
  ds_barrier_entry(&rows[0], column, 1), ds_barrier_entry(&rows[1], column, -1);
  return 2;
}

/* ---- a motion that separates all points: u_N >= mu |u_T| + x, x as large as possible ---- */

static bool find_away(ds_arena *arena, plane *p, bool *found) {
  int32_t n = 3 * p->n + 1, count = 0;
  ds_barrier_row *rows = DS_NEW0(arena, ds_barrier_row, 2 * (size_t)p->points + 2 * (size_t)n);
  double *x = DS_NEW0(arena, double, n), *l = DS_NEW0(arena, double, n);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 2 * p->points; i++, count++) {
    const plane_point *q = &p->point[i / 2];
    add_motion(&rows[count], q, 1, i % 2 ? p->mu[q->interface] : -p->mu[q->interface]);
    ds_barrier_entry(&rows[count], n - 1, -1);
  }
  for (int32_t i = 0; i < n; i++) count += add_box(rows + count, i, -100, i == n - 1 ? 1 : 100);
  l[n - 1] = 1, x[n - 1] = -1;
  ds_barrier program = {.n = n, .rows = count, .l = l, .row = rows, .gap = 1e-6, .enough = 0.1};
  if (!ds_barrier_solve(arena, x, &program)) return false;
  *found = x[n - 1] > 1e-5;
  memcpy(p->away, x, (size_t)(n - 1) * sizeof *x);
  return true;
}

/* ---- bounds: unknowns y, pi, beta, alpha ---- */

static int32_t unknowns(const plane *p) { return 3 * p->n + p->points + p->joints + 1; }

/* The first point of a joint: its slip is that of all. */
static const plane_point *point_of(const plane *p, int32_t joint) {
  int32_t i = 0;
  while (p->point[i].interface != joint) i++;
  return &p->point[i];
}

/* P = Qᵀ M⁻¹ Q, q = Q x = M y - N pi - alpha w + T beta */
static bool fill_quadratic(ds_arena *arena, plane *p) {
  int32_t n = unknowns(p), rows = 3 * p->n;
  double *q = DS_NEW0(arena, double, (size_t)rows *(size_t)n);
  p->P = DS_NEW0(arena, double, (size_t)n *(size_t)n);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < rows; i++) q[i * n + i] = p->mass[i], q[i * n + n - 1] = -p->load[i];
  for (int32_t i = 0; i < p->points + p->joints; i++) {
    bool tangent = i >= p->points;
    const plane_point *c = tangent ? point_of(p, i - p->points) : &p->point[i];
    for (int32_t j = 0; j < 6; j++) {
      int32_t body = j < 3 ? c->a : c->b;
      if (body >= 0) q[(3 * body + j % 3) * n + 3 * p->n + i] = tangent ? c->t[j] : -c->n[j];
    }
  }
  for (int32_t k = 0; k < rows; k++)
    for (int32_t i = 0; i < n; i++) {
      double f = q[k * n + i] / p->mass[k];
      for (int32_t j = 0; j < n && f != 0; j++) p->P[(size_t)i * (size_t)n + (size_t)j] += f * q[k * n + j];
    }
  return true;
}

static int32_t fill_bound_rows(ds_barrier_row *rows, const plane *p, int32_t joint) {
  int32_t count = 0, n = unknowns(p);
  for (int32_t i = 0; i < 2 * p->points; i++, count++) { /* c - y_N -+ mu y_T >= 0 */
    const plane_point *q = &p->point[i / 2];
    memset(&rows[count], 0, sizeof *rows);
    add_motion(&rows[count], q, -1, i % 2 ? p->mu[q->interface] : -p->mu[q->interface]);
    rows[count].constant = q->interface == joint;
  }
  for (int32_t i = 0; i < 3 * p->n; i++) count += add_box(rows + count, i, -box, box);
  for (int32_t i = 0; i < p->points; i++) count += add_box(rows + count, 3 * p->n + i, 0, box);
  for (int32_t i = 0; i < p->joints; i++) { /* alpha mu rho -+ beta >= 0 */
    double most = p->mu[i] * p->rho[i];
    int32_t column = 3 * p->n + p->points + i;
    count += add_box(rows + count, column, most > 0 ? 0 : -1, most > 0 ? 0 : 1);
    if (most > 0) ds_barrier_entry(&rows[count - 2], n - 1, most), ds_barrier_entry(&rows[count - 1], n - 1, most);
  }
  return count + add_box(rows + count, n - 1, 0, box);
}

/* Keeps a bound with its multipliers, in SI units; those of points that are not outermost are nothing. */
static bool keep_bound(ds_planar_proof *proof, const plane *p, const double *x, int32_t joint, double rho) {
  const ds_assembly *a = p->assembly;
  if (!ds_array_reserve(&proof->bounds, &proof->bound_capacity, proof->bound_count + 1, sizeof *proof->bounds))
    return false;
  ds_planar_bound *b = &proof->bounds[proof->bound_count++];
  *b = (ds_planar_bound){.interface = joint, .rho = rho * p->force_unit, .alpha = x[unknowns(p) - 1] / p->speed_unit};
  b->y = calloc(3 * (size_t)a->block_count + 1, sizeof *b->y);
  b->pi = calloc((size_t)a->point_count + 1, sizeof *b->pi);
  b->beta = calloc((size_t)p->joints + 1, sizeof *b->beta);
  if (!b->y || !b->pi || !b->beta) return false;
  for (int32_t i = 0; i < a->block_count; i++)
    for (int32_t j = 0; j < 3 && p->slot[i] >= 0; j++)
      b->y[3 * i + j] = x[3 * p->slot[i] + j] / (j == 2 ? p->length_unit : 1);
  for (int32_t i = 0; i < p->points; i++) b->pi[p->point[i].point] = x[3 * p->n + i] * p->mass_unit;
  for (int32_t i = 0; i < p->joints; i++)
    if (p->mu[i] * p->rho[i] > 0) b->beta[i] = x[3 * p->n + p->points + i] * p->mass_unit * (1 - 1e-12);
  return true;
}

/* Bounds of all joints, each with those before. *gain: the largest improvement. */
static bool improve_bounds(ds_arena *arena, plane *p, ds_planar_proof *proof, double *gain) {
  int32_t n = unknowns(p), most = 4 * p->points + 6 * p->n + 2 * p->joints + 2;
  ds_barrier_row *rows = DS_NEW(arena, ds_barrier_row, most);
  double *x = DS_NEW(arena, double, n), *l = DS_NEW0(arena, double, n),
         *P = DS_NEW(arena, double, (size_t)n *(size_t)n);
  if (ds_arena_failed(arena)) return false;
  *gain = 0;
  for (int32_t i = 0; i < 3 * p->n; i++) l[i] = -p->load[i];
  for (int32_t joint = 0; joint < p->joints; joint++) {
    memcpy(P, p->P, (size_t)n * (size_t)n * sizeof *P);
    for (int32_t i = 0; i < p->joints; i++) { /* joints without friction so far have no beta */
      int32_t c = 3 * p->n + p->points + i;
      for (int32_t k = 0; k < n && !(p->mu[i] * p->rho[i] > 0); k++)
        P[(size_t)c * (size_t)n + (size_t)k] = P[(size_t)k * (size_t)n + (size_t)c] = 0;
    }
    memset(x, 0, (size_t)n * sizeof *x);
    for (int32_t i = 0; i < 3 * p->n; i++) x[i] = -p->away[i];
    for (int32_t i = 0; i < p->points; i++) x[3 * p->n + i] = 1;
    x[n - 1] = 1;
    ds_barrier program = {.n = n,
                          .rows = fill_bound_rows(rows, p, joint),
                          .l = l,
                          .P = P,
                          .row = rows,
                          .gap = bound_gap,
                          .enough = INFINITY};
    if (!ds_barrier_solve(arena, x, &program)) return false;
    double rho = ds_barrier_value(&program, x) - safety;
    if (!(rho > p->rho[joint] + least_progress)) continue;
    if (!keep_bound(proof, p, x, joint, rho)) return false;
    *gain = fmax(*gain, rho - p->rho[joint]);
    p->rho[joint] = rho;
  }
  return true;
}

/* ---- forces f with G f = -w, f_N >= x, |F_J| <= mu rho_J - x: unknowns f_N, F_J, x ---- */

static void equation(double *column, const plane_point *q, const double *part_of) { /* of one unknown, by blocks */
  for (int32_t j = 0; j < 6; j++) {
    int32_t body = j < 3 ? q->a : q->b;
    if (body >= 0) column[3 * body + j % 3] = part_of[j];
  }
}

/* The solution of E x = -w that is nearest to x; false where there is none. */
static bool balance(ds_arena *arena, double *x, const double *E, const plane *p, int32_t n) {
  int32_t m = 3 * p->n;
  double *s = DS_NEW0(arena, double, (size_t)m *(size_t)m + 1), *y = DS_NEW(arena, double, m + 1), worst = 0;
  if (ds_arena_failed(arena)) return false;
  for (int32_t round = 0; round < 3; round++) {
    for (int32_t i = 0; i < m; i++) {
      y[i] = -p->load[i];
      for (int32_t k = 0; k < n; k++) y[i] -= E[(size_t)i * (size_t)n + (size_t)k] * x[k];
      for (int32_t j = 0; j < m; j++) {
        double sum = i == j ? 1e-9 : 0;
        for (int32_t k = 0; k < n; k++)
          sum += E[(size_t)i * (size_t)n + (size_t)k] * E[(size_t)j * (size_t)n + (size_t)k];
        s[i * m + j] = sum;
      }
    }
    for (int32_t i = 0; i < m; i++) { /* Gauss: s is positive definite */
      for (int32_t j = i + 1; j < m; j++) {
        double f = s[j * m + i] / s[i * m + i];
        for (int32_t k = i; k < m; k++) s[j * m + k] -= f * s[i * m + k];
        y[j] -= f * y[i];
      }
    }
    for (int32_t i = m - 1; i >= 0; i--) {
      for (int32_t k = i + 1; k < m; k++) y[i] -= s[i * m + k] * y[k];
      y[i] /= s[i * m + i];
    }
    for (int32_t k = 0; k < n; k++)
      for (int32_t i = 0; i < m; i++) x[k] += E[(size_t)i * (size_t)n + (size_t)k] * y[i];
  }
  for (int32_t i = 0; i < m; i++) {
    double rest = p->load[i];
    for (int32_t k = 0; k < n; k++) rest += E[(size_t)i * (size_t)n + (size_t)k] * x[k];
    worst = fmax(worst, fabs(rest));
  }
  return worst <= 1e-10;
}

static bool keep_forces(ds_planar_proof *proof, const plane *p, const double *x) {
  size_t points = (size_t)p->assembly->point_count + 1;
  proof->normal = calloc(points, sizeof *proof->normal);
  proof->tangent = calloc(points, sizeof *proof->tangent);
  if (!proof->normal || !proof->tangent) return false;
  for (int32_t i = 0; i < p->points; i++) proof->normal[p->point[i].point] = x[i] * p->force_unit;
  for (int32_t i = 0; i < p->joints; i++) proof->tangent[point_of(p, i)->point] = x[p->points + i] * p->force_unit;
  return true;
}

static bool find_forces(ds_arena *arena, plane *p, ds_planar_proof *proof, bool *found) {
  int32_t n = p->points + p->joints + 1, m = 3 * p->n, count = 0;
  double *E = DS_NEW0(arena, double, (size_t)m *(size_t)n + 1), *x = DS_NEW0(arena, double, n),
         *l = DS_NEW0(arena, double, n);
  double *column = DS_NEW(arena, double, m + 1), least = INFINITY;
  ds_barrier_row *rows = DS_NEW0(arena, ds_barrier_row, (size_t)p->points + 2 * (size_t)p->joints + 1);
  if (ds_arena_failed(arena)) return false;
  *found = false;
  for (int32_t i = 0; i < n - 1; i++) {
    bool tangent = i >= p->points;
    const plane_point *q = tangent ? point_of(p, i - p->points) : &p->point[i];
    if (tangent && !(p->mu[i - p->points] * p->rho[i - p->points] > 0)) continue;
    memset(column, 0, (size_t)m * sizeof *column);
    equation(column, q, tangent ? q->t : q->n);
    for (int32_t k = 0; k < m; k++) E[(size_t)k * (size_t)n + (size_t)i] = column[k];
  }
  if (!balance(arena, x, E, p, n)) return !ds_arena_failed(arena);
  for (int32_t i = 0; i < n - 1; i++) {
    bool tangent = i >= p->points;
    double most = tangent ? p->mu[i - p->points] * p->rho[i - p->points] : 0;
    if (tangent && !(most > 0)) most = 1; /* the force is nothing and stays so */
    for (int32_t side = 0; side < (tangent ? 2 : 1); side++, count++) {
      rows[count].constant = most;
      ds_barrier_entry(&rows[count], i, side ? -1 : 1);
      ds_barrier_entry(&rows[count], n - 1, -1);
      least = fmin(least, most + (side ? -x[i] : x[i]));
    }
  }
  rows[count].constant = 1;
  ds_barrier_entry(&rows[count++], n - 1, -1);
  l[n - 1] = 1, x[n - 1] = fmin(least, 1) - 1;
  ds_barrier program = {
      .n = n, .rows = count, .l = l, .row = rows, .E = E, .equalities = m, .gap = 1e-7, .enough = 1e-6};
  if (!ds_barrier_solve(arena, x, &program)) return false;
  *found = x[n - 1] > 0 && balance(arena, x, E, p, n); /* and what the steps have lost of the equations */
  return ds_arena_failed(arena) ? false : !*found || keep_forces(proof, p, x);
}

void ds_planar_free(ds_planar_proof *proof) {
  if (!proof) return;
  for (int32_t i = 0; i < proof->bound_count; i++) {
    free(proof->bounds[i].y);
    free(proof->bounds[i].pi);
    free(proof->bounds[i].beta);
  }
  free(proof->bounds);
  free(proof->normal);
  free(proof->tangent);
  free(proof);
}

static bool search(ds_arena *arena, plane *p, ds_planar_proof *proof, bool *proven) {
  bool found = false;
  if (!create(arena, p) || !find_away(arena, p, &found)) return false;
  if (!found) return true; /* forces can jam: nothing bounds friction from below */
  if (!fill_quadratic(arena, p)) return false;
  for (int32_t round = 0; round < MOST_ROUNDS && !*proven; round++) {
    double gain;
    ds_arena_mark mark = ds_arena_get_mark(arena);
    if (!find_forces(arena, p, proof, proven)) return false;
    if (!*proven && !improve_bounds(arena, p, proof, &gain)) return false;
    ds_arena_release(arena, mark);
    if (!*proven && !(gain > least_progress)) return true;
  }
  return true;
}

bool ds_planar_stands(ds_arena *arena, ds_stand *stand, const ds_assembly *a) {
  plane p = {.assembly = a, .axis = find_axis(a)};
  double residual;
  bool proven = false;
  if (p.axis < 0 || a->interface_count > MOST_JOINTS || a->interface_count == 0 || !(v3_norm(a->gravity) > 0))
    return true;
  ds_planar_proof *proof = calloc(1, sizeof *proof);
  if (!proof) return false;
  proof->axis = p.axis;
  bool good = search(arena, &p, proof, &proven);
  if (good && proven && ds_prove_planar(&residual, a, proof, NULL) && residual <= DS_ACCEPTED_REST) {
    stand->planar = proof;
    stand->verdict = DS_STANDS;
    stand->reason = DS_REASON_PLANAR;
    return true;
  }
  ds_planar_free(proof);
  return good;
}
