/* Caps: the smooth surface that a mesh stands for, near each of its samples where it bulges.
 *
 * About a sample with the normal n a quadric is fitted to the vertices nearby, d from the sample, tangents t1, t2:
 *
 *     n.d = a + b u + c w - (k (u² + w²) + e (u² - w²) + 2 f u w) |d|²/2(u² + w²),   u = t1.d, w = t2.d,
 *
 * by least squares with weights that fade out (moving least squares: Levin 1998). Without a, b and c its sections along
 * n are circles, so a mesh of a ball has the radius of its vertices (as with algebraic spheres: Guennebaud and Gross
 * 2007). Where the fit is good the sample gets a cap: the point of the quadric, its normal and its curvatures; it
 * bulges where both are positive, and all around has caps. Near sharp edges and corners there is none, nor on
 * polyhedra. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "la/small.h"
#include "mesh/build.h"

#define SHARP 0.9063077870366499 /* cos 25 degrees, as in samples.c */
#define ALIKE 0.5                /* dot product of normals: vertices on the same side of a wall */
#define ENOUGH 12                /* vertices for six unknowns: two rings of a regular mesh have 18 */
#define GROWTH 1.4               /* of the radius, where there are too few */
#define FARTHEST 6.2             /* x spacing: largest radius */
#define MISFIT 0.1               /* of the height of the quadric over its radius: worst weighted distance of a vertex */
#define EVEN 0.02                /* ratio of curvatures below which a surface bulges in one direction only */
enum { UNKNOWNS = 6 };

typedef struct vertex {
  ds_vec3 x, normal;
  int32_t cell[3], number;
  bool smooth;
} vertex;

typedef struct fitter {
  vertex *vertices; /* ordered by cell */
  int32_t count;
  ds_vec3 low;
  double cell, radius;
} fitter;

typedef struct quadric {
  double x[UNKNOWNS]; /* a, b, c, k, e, f in units of the radius */
  ds_vec3 t1, t2, n;
  double worst; /* distance of a vertex over the radius */
} quadric;

static int compare(const void *pa, const void *pb) {
  const vertex *a = pa, *b = pb;
  for (int i = 2; i >= 0; i--)
    if (a->cell[i] != b->cell[i]) return a->cell[i] < b->cell[i] ? -1 : 1;
  return a->number - b->number;
}

static int compare_cell(const vertex *v, int32_t x, int32_t y, int32_t z) {
  int32_t c[3] = {x, y, z};
  for (int i = 2; i >= 0; i--)
    if (v->cell[i] != c[i]) return v->cell[i] < c[i] ? -1 : 1;
  return 0;
}

/* The first vertex that does not come before a cell. */
static int32_t find(const fitter *f, int32_t x, int32_t y, int32_t z) {
  int32_t low = 0, high = f->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (compare_cell(&f->vertices[middle], x, y, z) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool start(fitter *f, const ds_surface *s, double spacing) {
  int32_t halves = 3 * s->mesh->triangle_count, *number = malloc((size_t)s->mesh->vertex_count * sizeof *number);
  f->vertices = malloc((size_t)s->mesh->vertex_count * sizeof *f->vertices);
  f->low = s->low, f->cell = spacing;
  if (!number || !f->vertices) {
    free(number);
    return false;
  }
  memset(number, 0xff, (size_t)s->mesh->vertex_count * sizeof *number);
  for (int32_t h = 0; h < halves; h++) {
    int32_t v = ds_half_vertex(s, h);
    bool smooth = v3_dot(s->normals[h / 3], s->normals[s->twin[h] / 3]) >= SHARP;
    if (number[v] < 0) {
      number[v] = f->count++;
      ds_vec3 x = ds_half_point(s, h), d = v3_scale(1 / f->cell, v3_sub(x, f->low));
      f->vertices[number[v]] =
          (vertex){x, s->corner_normals[h], {(int32_t)d.x, (int32_t)d.y, (int32_t)d.z}, number[v], true};
    }
    f->vertices[number[v]].smooth &= smooth;
  }
  free(number);
  qsort(f->vertices, (size_t)f->count, sizeof *f->vertices, compare);
  return true;
}

static void terms(double row[UNKNOWNS], double u, double w, double q) {
  double flat = u * u + w * w, s = flat > 0 ? q / flat : 1;
  row[0] = 1, row[1] = u, row[2] = w;
  row[3] = -0.5 * q, row[4] = -0.5 * s * (u * u - w * w), row[5] = -s * u * w;
}

/* A vertex in units of the radius; false where it is no neighbour. */
static bool local(double at[3], double *q, const fitter *f, const quadric *m, ds_vec3 x, const vertex *v) {
  ds_vec3 d = v3_scale(1 / f->radius, v3_sub(v->x, x));
  *q = v3_norm2(d);
  if (!(*q < 1) || v3_dot(v->normal, m->n) < ALIKE) return false;
  at[0] = v3_dot(m->t1, d), at[1] = v3_dot(m->t2, d), at[2] = v3_dot(m->n, d);
  return true;
}

/* Calls back for vertices in the cells around. */
typedef bool visitor(void *context, const vertex *v);
static bool visit(const fitter *f, ds_vec3 x, visitor *each, void *context) {
  ds_vec3 d = v3_sub(x, f->low);
  int32_t low[3], high[3];
  double at[3] = {d.x, d.y, d.z};
  for (int i = 0; i < 3; i++) {
    low[i] = (int32_t)fmax(0, floor((at[i] - f->radius) / f->cell));
    high[i] = (int32_t)floor((at[i] + f->radius) / f->cell);
  }
  for (int32_t z = low[2]; z <= high[2]; z++)
    for (int32_t y = low[1]; y <= high[1]; y++)
      for (int32_t k = find(f, low[0], y, z); k < f->count && compare_cell(&f->vertices[k], high[0], y, z) <= 0; k++)
        if (!each(context, &f->vertices[k])) return false;
  return true;
}

typedef struct fit {
  const fitter *f;
  quadric *m;
  ds_vec3 x;
  double a[UNKNOWNS * UNKNOWNS];
  int32_t count;
} fit;

static bool add_vertex(void *context, const vertex *v) {
  fit *s = context;
  double at[3], q, row[UNKNOWNS];
  if (!local(at, &q, s->f, s->m, s->x, v)) return true;
  if (!v->smooth) return false;
  double weight = (1 - q) * (1 - q);
  terms(row, at[0], at[1], q);
  for (int i = 0; i < UNKNOWNS; i++) {
    for (int j = 0; j <= i; j++) s->a[UNKNOWNS * i + j] += weight * row[i] * row[j];
    s->m->x[i] += weight * row[i] * at[2];
  }
  s->count++;
  return true;
}

static bool judge_vertex(void *context, const vertex *v) {
  fit *s = context;
  double at[3], q, row[UNKNOWNS], off;
  if (!local(at, &q, s->f, s->m, s->x, v)) return true;
  terms(row, at[0], at[1], q);
  off = at[2];
  for (int i = 0; i < UNKNOWNS; i++) off -= row[i] * s->m->x[i];
  s->m->worst = fmax(s->m->worst, fabs(off) * (1 - q));
  return true;
}

/* The quadric of enough vertices about a sample; false near sharp edges, or where there are too few. */
static bool fit_quadric(quadric *m, fitter *f, ds_vec3 x, ds_vec3 n) {
  for (f->radius = f->cell; f->radius <= FARTHEST * f->cell; f->radius *= GROWTH) {
    *m = (quadric){.n = n};
    v3_tangents(&m->t1, &m->t2, n);
    fit s = {.f = f, .m = m, .x = x};
    if (!visit(f, x, add_vertex, &s)) return false;
    if (s.count < ENOUGH) continue;
    double least = 1e-6 * s.a[0];
    for (int i = 0; i < UNKNOWNS; i++) s.a[UNKNOWNS * i + i] += 1e-12 * s.a[0];
    if (!ds_small_cholesky(s.a, UNKNOWNS)) continue;
    bool known = true;
    for (int i = 0; i < UNKNOWNS; i++) known &= s.a[UNKNOWNS * i + i] * s.a[UNKNOWNS * i + i] < 1 / least;
    if (!known) continue; /* vertices in a row */
    ds_small_solve_l(m->x, s.a, UNKNOWNS);
    ds_small_solve_lt(m->x, s.a, UNKNOWNS);
    visit(f, x, judge_vertex, &s);
    return true;
  }
  return false;
}

/* [t]ᵀ H t of the quadric's second derivatives. */
static double bend(const quadric *m, ds_vec3 s, ds_vec3 t) {
  double u = v3_dot(m->t1, s), w = v3_dot(m->t2, s), p = v3_dot(m->t1, t), q = v3_dot(m->t2, t);
  return m->x[3] * v3_dot(s, t) + m->x[4] * (u * p - w * q) + m->x[5] * (u * q + w * p);
}

static ds_cap cap_of(const quadric *m, double radius, double narrowest, ds_vec3 x) {
  double height = m->x[0] - 0.5 * m->x[3] * m->x[0] * m->x[0];
  ds_vec3 g = v3_scale(1 + m->x[3] * height, m->n), s, t;
  g = v3_sub(v3_sub(g, v3_scale(m->x[1], m->t1)), v3_scale(m->x[2], m->t2));
  ds_cap cap = {.p = v3_mad(x, height * radius, m->n), .n = v3_unit(g)};
  if (v3_dot(cap.n, m->n) < SHARP) return (ds_cap){0};
  v3_tangents(&s, &t, cap.n);
  double scale = 1 / (radius * v3_norm(g)), p = scale * bend(m, s, s), q = scale * bend(m, s, t);
  double r = scale * bend(m, t, t), mean = 0.5 * (p + r), half = hypot(0.5 * (p - r), q);
  double most = fmax(fabs(mean + half), fabs(mean - half)) * radius;
  if (m->worst > MISFIT * fmax(0.5 * most, 0.1)) return (ds_cap){0};
  /* (p - k1, q; q, r - k1) e = 0 */
  double e = p > r ? mean + half - r : q, f = p > r ? q : mean + half - p;
  cap.t1 = half > 0 ? v3_unit(v3_add(v3_scale(e, s), v3_scale(f, t))) : s;
  cap.k1 = mean + half, cap.k2 = mean - half, cap.smooth = true;
  cap.bulges = cap.k1 * narrowest <= 1 && cap.k2 > EVEN * cap.k1 && m->worst <= MISFIT * 0.5 * most;
  return cap;
}

/* Whether the surface is not smooth at some sample near x whose normal is like n. */
static bool is_rough_near(const ds_samples *s, int32_t index, ds_vec3 x, ds_vec3 n) {
  const ds_ball *ball = &s->balls[index];
  if (v3_dist(ball->center, x) > ball->radius + s->spread) return false;
  for (int32_t i = 0; i < ball->child_count; i++)
    if (is_rough_near(s, ball->child + i, x, n)) return true;
  for (int32_t i = ball->first; i < ball->first + ball->count && ball->child_count == 0; i++)
    if (!s->caps[i].smooth && v3_dist(s->points[i], x) < s->spread && v3_dot(s->normals[i], n) > ALIKE) return true;
  return false;
}

/* Only what is smooth all around rolls: a tread that leaves its caps would step down to the mesh. */
static int32_t keep_inner(ds_samples *s) {
  int32_t count = 0;
  for (int32_t i = 0; i < s->count; i++) {
    ds_cap *cap = &s->caps[i];
    cap->bulges = cap->bulges && !is_rough_near(s, 0, s->points[i], s->normals[i]);
    if (!cap->bulges) continue;
    count++;
    s->lift = fmax(s->lift, v3_dist(cap->p, s->points[i]));
    s->bulge = fmax(s->bulge, v3_dist(cap->p, s->points[i]) + 0.5 * s->spread * s->spread * cap->k1);
  }
  return count;
}

ds_status ds_caps_build(ds_samples *samples, const ds_surface *s, double spacing, ds_error *error) {
  fitter f = {0};
  bool ok = start(&f, s, spacing);
  samples->caps = ok ? malloc((size_t)samples->count * sizeof *samples->caps) : NULL;
  samples->spread = DS_CAP_SPREAD * spacing;
  for (int32_t i = 0; i < samples->count && samples->caps; i++) {
    quadric m;
    bool fits = fit_quadric(&m, &f, samples->points[i], samples->normals[i]);
    samples->caps[i] = fits ? cap_of(&m, f.radius, samples->spread, samples->points[i]) : (ds_cap){0};
  }
  free(f.vertices);
  if (!samples->caps) return ds_fail(error, DS_ERROR_MEMORY, "no memory for the caps of %d samples", samples->count);
  if (keep_inner(samples) == 0) ds_caps_free(samples);
  return DS_OK;
}

void ds_caps_free(ds_samples *samples) {
  free(samples->caps);
  samples->caps = NULL;
  samples->bulge = samples->lift = 0;
}
