/* Samples of a surface: points on it, so that none of its points is farther than `spacing` from one, few where it is
 * flat.
 *
 * In this order, which is that of the samples' numbers:
 * 1. corners: vertices where sharp convex edges meet, end or turn, and tips of cones;
 * 2. points of sharp convex edges (dihedral angle above 25 degrees), at most spacing / 2 apart along them, vertices
 *    where there are some: what touches first, so all of them;
 * 3. vertices, then points of triangles cut up by their longest edges, each where no sample with a like normal is
 *    within RADIUS x spacing (Poisson-disk sampling by throwing darts in a fixed order: Cook 1986). Pieces are small
 *    enough for the rest, (1 - RADIUS) x spacing, to cover them.
 *
 * Normals must be alike for one sample to stand for another: both sides of a thin wall are sampled. Concave edges get
 * no samples of their own, they never touch first. A surface rough everywhere would give too many of 1 and 2: they are
 * then thinned out like 3, by the least radius that is enough. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "mesh/build.h"

#define SHARP 0.9063077870366499 /* cos 25 degrees: more than the facets of a cylinder of 16 sides */
#define TURN 0.8660254037844387  /* cos 30 degrees: an edge that turns more has a corner there */
#define TIP 0.3                  /* rad: angle missing from 2 pi around the tip of a cone */
#define RADIUS 0.8
#define PIECE (1.7 * (1 - RADIUS)) /* longest edge of a piece / spacing; its middle is within 1/sqrt(3) of that */
#define ALIKE 0.3                  /* dot product of normals */
#define SAG 0.02                   /* x spacing: how far a sharp edge may leave the chord between its samples */
enum { FEATURE_LIMIT = 3000, SKIP_LIMIT = 64, SAMPLE_LIMIT = 4000000 };

typedef struct sampler {
  const ds_surface *s;
  double spacing;
  ds_vec3 *smooth;  /* corner normals, not averaged over sharp edges */
  bool *sharp;      /* half-edge */
  bool *visited;    /* half-edge, while edges are walked */
  bool *corner;     /* vertex */
  int32_t *leaving; /* 2 per vertex: sharp half-edges that start there, the first two */
  int32_t *sharps;  /* vertex: how many */
  int32_t *around;  /* vertex: a triangle corner of it, or -1 */
  ds_samples *out;
  int32_t capacity, normal_capacity;
  /* hash grid over the samples */
  double grid;
  int32_t *head, *next, next_capacity;
  uint32_t mask;
  double radius; /* what is nearer to a like sample is left out; 0 = nothing is */
  bool failed;   /* memory ran out */
} sampler;

/* ---- the samples so far ---- */

static uint32_t slot_of(const sampler *a, int64_t x, int64_t y, int64_t z) {
  uint64_t h =
      (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)z * 0x165667b19e3779f9u;
  h = (h ^ h >> 31) * 0xd6e8feb86659fd93u;
  return (uint32_t)(h >> 32) & a->mask;
}

static void grid_cell(int64_t cell[3], const sampler *a, ds_vec3 x) {
  ds_vec3 d = v3_sub(x, a->s->low);
  cell[0] = (int64_t)floor(d.x / a->grid);
  cell[1] = (int64_t)floor(d.y / a->grid);
  cell[2] = (int64_t)floor(d.z / a->grid);
}

static bool is_taken(const sampler *a, ds_vec3 x, ds_vec3 normal) {
  int64_t c[3];
  grid_cell(c, a, x);
  for (int64_t dx = -1; dx <= 1; dx++)
    for (int64_t dy = -1; dy <= 1; dy++)
      for (int64_t dz = -1; dz <= 1; dz++)
        for (int32_t i = a->head[slot_of(a, c[0] + dx, c[1] + dy, c[2] + dz)]; i >= 0; i = a->next[i])
          if (v3_dot(a->out->normals[i], normal) > ALIKE &&
              v3_norm2(v3_sub(a->out->points[i], x)) < a->radius * a->radius)
            return true;
  return false;
}

static void offer(sampler *a, ds_vec3 x, ds_vec3 normal) {
  ds_samples *o = a->out;
  if (a->failed || (a->radius > 0 && is_taken(a, x, normal))) return;
  if (o->count >= SAMPLE_LIMIT || !ds_array_reserve(&o->points, &a->capacity, o->count + 1, sizeof *o->points) ||
      !ds_array_reserve(&o->normals, &a->normal_capacity, o->count + 1, sizeof *o->normals) ||
      !ds_array_reserve(&a->next, &a->next_capacity, o->count + 1, sizeof *a->next)) {
    a->failed = true;
    return;
  }
  int64_t c[3];
  grid_cell(c, a, x);
  uint32_t slot = slot_of(a, c[0], c[1], c[2]);
  o->points[o->count] = x;
  o->normals[o->count] = normal;
  a->next[o->count] = a->head[slot];
  a->head[slot] = o->count++;
}

static void forget_samples(sampler *a) {
  a->out->count = 0;
  memset(a->head, 0xff, ((size_t)a->mask + 1) * sizeof *a->head);
}

/* ---- sharp edges and corners ---- */

static ds_vec3 half_vector(const ds_surface *s, int32_t half) {
  return v3_sub(ds_half_point(s, ds_half_next(half)), ds_half_point(s, half));
}

/* Sharp and convex: the other triangle falls away behind this one. */
static bool is_sharp(const ds_surface *s, int32_t half) {
  int32_t twin = s->twin[half];
  ds_vec3 n = s->normals[half / 3];
  if (v3_dot(n, s->normals[twin / 3]) >= SHARP) return false;
  ds_vec3 opposite = ds_half_point(s, ds_half_next(ds_half_next(twin)));
  return v3_dot(n, v3_sub(opposite, ds_half_point(s, half))) < 0;
}

static void find_sharp(sampler *a, double *angle) {
  const ds_surface *s = a->s;
  for (int32_t v = 0; v < s->mesh->vertex_count; v++) {
    a->sharps[v] = 0;
    a->around[v] = -1;
    angle[v] = 0;
  }
  for (int32_t h = 0; h < 3 * s->mesh->triangle_count; h++) {
    int32_t v = ds_half_vertex(s, h);
    /* both sides must agree, whatever rounding says */
    a->sharp[h] = s->twin[h] < h ? a->sharp[s->twin[h]] : is_sharp(s, h);
    angle[v] += ds_corner_angle(s, h);
    if (a->around[v] < 0) a->around[v] = h;
    if (!a->sharp[h]) continue;
    if (a->sharps[v] < 2) a->leaving[2 * v + a->sharps[v]] = h;
    a->sharps[v]++;
  }
  for (int32_t v = 0; v < s->mesh->vertex_count; v++) {
    a->corner[v] =
        a->sharps[v] == 1 || a->sharps[v] > 2 || (a->sharps[v] == 0 && a->around[v] >= 0 && 2 * DS_PI - angle[v] > TIP);
    if (a->sharps[v] == 2) {
      ds_vec3 d = v3_unit(half_vector(s, a->leaving[2 * v])), e = v3_unit(half_vector(s, a->leaving[2 * v + 1]));
      a->corner[v] = -v3_dot(d, e) < TURN;
    }
  }
}

static void add_vertex(sampler *a, int32_t half) { offer(a, ds_half_point(a->s, half), a->s->corner_normals[half]); }

/* Inner points of an edge, so that no piece is longer than spacing / 2. */
static void add_edge_points(sampler *a, int32_t half) {
  ds_vec3 start = ds_half_point(a->s, half), d = half_vector(a->s, half);
  ds_vec3 normal = v3_unit(v3_add(a->s->normals[half / 3], a->s->normals[a->s->twin[half] / 3]));
  double pieces = ceil(2 * v3_norm(d) / a->spacing - 1e-9);
  for (int32_t i = 1; i < pieces && !a->failed; i++) offer(a, v3_mad(start, i / pieces, d), normal);
}

/* Whether a walk may go from vertex `from` straight to the end of `last` without leaving the vertices between. */
static bool may_skip(const sampler *a, const int32_t *walk, int32_t count) {
  const ds_surface *s = a->s;
  ds_vec3 start = ds_half_point(s, walk[0]), chord = v3_sub(ds_half_point(s, ds_half_next(walk[count - 1])), start);
  double length = v3_norm(chord);
  ds_vec3 along = v3_unit(chord);
  if (count >= SKIP_LIMIT || length > 0.5 * a->spacing) return false;
  for (int32_t i = 1; i < count; i++) {
    ds_vec3 d = v3_sub(ds_half_point(s, walk[i]), start);
    double t = fmax(0, fmin(length, v3_dot(d, along)));
    if (v3_dist(d, v3_scale(t, along)) > SAG * a->spacing) return false;
  }
  return true;
}

/* From the start of a sharp half-edge to the next corner, or around to where it began. The start has its sample. */
static void walk_edge(sampler *a, int32_t half) {
  int32_t walk[SKIP_LIMIT + 1], count = 0, first = ds_half_vertex(a->s, half);
  while (!a->visited[half]) {
    a->visited[half] = a->visited[a->s->twin[half]] = true;
    walk[count++] = half;
    if (count > 1 && !may_skip(a, walk, count)) {
      add_vertex(a, half);
      walk[0] = half;
      count = 1;
    }
    if (count == 1) add_edge_points(a, half);
    int32_t end = ds_half_vertex(a->s, ds_half_next(half));
    if (a->corner[end] || end == first) return;
    half = a->leaving[2 * end] == a->s->twin[half] ? a->leaving[2 * end + 1] : a->leaving[2 * end];
  }
}

static void sample_features(sampler *a) {
  const ds_surface *s = a->s;
  int32_t halves = 3 * s->mesh->triangle_count;
  memset(a->visited, 0, (size_t)halves * sizeof *a->visited);
  for (int32_t v = 0; v < s->mesh->vertex_count; v++)
    if (a->corner[v]) add_vertex(a, a->around[v]);
  for (int32_t h = 0; h < halves; h++)
    if (a->sharp[h] && !a->visited[h] && a->corner[ds_half_vertex(s, h)]) walk_edge(a, h);
  /* what is left runs around without a corner */
  for (int32_t h = 0; h < halves; h++)
    if (a->sharp[h] && !a->visited[h]) {
      add_vertex(a, h);
      walk_edge(a, h);
    }
}

/* ---- the rest ---- */

/* A point of a triangle by its corners' weights. */
typedef struct weights {
  double w[3];
} weights;

/* Exact where all corners agree in a coordinate: samples of a flat face along the axes lie in its plane. */
static ds_vec3 mix(const ds_vec3 c[3], weights m) {
  return v3_mad(v3_mad(c[0], m.w[1], v3_sub(c[1], c[0])), m.w[2], v3_sub(c[2], c[0]));
}

static weights middle(weights a, weights b) {
  return (weights){{0.5 * (a.w[0] + b.w[0]), 0.5 * (a.w[1] + b.w[1]), 0.5 * (a.w[2] + b.w[2])}};
}

/* Cuts a piece of a triangle in two at its longest edge until it is small, then offers its middle. */
static void cut_up(sampler *a, const ds_vec3 points[3], const ds_vec3 normals[3], const weights corners[3]) {
  ds_vec3 x[3] = {mix(points, corners[0]), mix(points, corners[1]), mix(points, corners[2])};
  int longest = 0;
  double length2[3];
  for (int k = 0; k < 3; k++) {
    length2[k] = v3_norm2(v3_sub(x[(k + 1) % 3], x[k]));
    if (length2[k] > length2[longest]) longest = k;
  }
  if (a->failed) return;
  double limit = PIECE * a->spacing;
  if (length2[longest] <= limit * limit) {
    weights m;
    for (int i = 0; i < 3; i++) m.w[i] = (corners[0].w[i] + corners[1].w[i] + corners[2].w[i]) / 3;
    offer(a, mix(points, m), v3_unit(mix(normals, m)));
    return;
  }
  weights p = corners[longest], q = corners[(longest + 1) % 3], r = corners[(longest + 2) % 3], m = middle(p, q);
  cut_up(a, points, normals, (weights[3]){p, m, r});
  cut_up(a, points, normals, (weights[3]){m, q, r});
}

/* Triangles that are small have their vertices within reach. */
static void sample_faces(sampler *a) {
  static const weights whole[3] = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  const ds_surface *s = a->s;
  double limit = PIECE * a->spacing;
  for (int32_t v = 0; v < s->mesh->vertex_count; v++)
    if (a->around[v] >= 0) add_vertex(a, a->around[v]);
  for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
    ds_vec3 points[3];
    double longest = 0;
    for (int k = 0; k < 3; k++) {
      points[k] = ds_half_point(s, 3 * t + k);
      longest = fmax(longest, v3_norm(half_vector(s, 3 * t + k)));
    }
    if (longest > limit) cut_up(a, points, &a->smooth[3 * t], whole);
  }
}

static void sample_all(sampler *a) {
  a->radius = 0;
  for (;;) {
    forget_samples(a);
    sample_features(a);
    if (a->failed || a->out->count <= FEATURE_LIMIT || a->radius >= 0.5 * a->spacing) break;
    a->radius = a->radius > 0 ? 2 * a->radius : a->spacing / 32;
  }
  a->radius = RADIUS * a->spacing;
  sample_faces(a);
}

static ds_status fail(ds_error *error, const sampler *a) {
  if (a->out->count >= SAMPLE_LIMIT)
    return ds_fail(error, DS_ERROR_INPUT,
                   "samples %g m apart of a surface of %g m² are more than %d; expected a larger spacing", a->spacing,
                   a->s->area, SAMPLE_LIMIT);
  return ds_fail(error, DS_ERROR_MEMORY, "no memory for the samples of a surface");
}

/* Gives back what the arrays grew too far; failing to is no harm. */
static void shrink(ds_samples *out) {
  ds_vec3 *points = realloc(out->points, (size_t)out->count * sizeof *points);
  if (points) out->points = points;
  ds_vec3 *normals = realloc(out->normals, (size_t)out->count * sizeof *normals);
  if (normals) out->normals = normals;
}

ds_status ds_samples_build(ds_samples *out, const ds_surface *s, double spacing, ds_error *error) {
  size_t halves = 3 * (size_t)s->mesh->triangle_count, vertices = (size_t)s->mesh->vertex_count;
  *out = (ds_samples){0};
  sampler a = {.s = s, .spacing = spacing, .out = out, .grid = RADIUS * spacing};
  if (s->area / (spacing * spacing) > SAMPLE_LIMIT) {
    out->count = SAMPLE_LIMIT;
    ds_status status = fail(error, &a);
    out->count = 0;
    return status;
  }
  uint32_t slots = 1024;
  while (slots < 2 * s->area / (spacing * spacing)) slots *= 2;
  a.mask = slots - 1;
  a.smooth = malloc(halves * sizeof *a.smooth);
  a.sharp = malloc(halves * sizeof *a.sharp);
  a.visited = malloc(halves * sizeof *a.visited);
  a.corner = malloc(vertices * sizeof *a.corner);
  a.leaving = malloc(2 * vertices * sizeof *a.leaving);
  a.sharps = malloc(vertices * sizeof *a.sharps);
  a.around = malloc(vertices * sizeof *a.around);
  a.head = malloc(slots * sizeof *a.head);
  double *angle = malloc(vertices * sizeof *angle);
  a.failed = !a.smooth || !a.sharp || !a.visited || !a.corner || !a.leaving || !a.sharps || !a.around || !a.head ||
             !angle || !ds_surface_corner_normals(a.smooth, s, SHARP);
  if (!a.failed) {
    find_sharp(&a, angle);
    sample_all(&a);
  }
  free(a.smooth);
  free(a.sharp);
  free(a.visited);
  free(a.corner);
  free(a.leaving);
  free(a.sharps);
  free(a.around);
  free(a.head);
  free(a.next);
  free(angle);
  if (!a.failed && out->count > 0) {
    shrink(out);
    return DS_OK;
  }
  ds_status status = fail(error, &a);
  ds_samples_free(out);
  return status;
}

int64_t ds_samples_bytes(const ds_samples *s) {
  int64_t each = (int64_t)(2 * sizeof *s->points + sizeof *s->ids + (s->caps ? sizeof *s->caps : 0));
  return s->count * each + s->ball_count * (int64_t)sizeof *s->balls;
}

void ds_samples_free(ds_samples *s) {
  free(s->points);
  free(s->normals);
  free(s->ids);
  free(s->balls);
  free(s->caps);
  *s = (ds_samples){0};
}
