/* Planar faces of a surface: groups of triangles that lie in one plane, each with its loops.
 *
 * A group grows from its largest triangle over all edges to triangles whose corners lie in its plane, within FLAT of
 * the surface's radius: a tenth of the margin within which contacts are looked for (detect.c). Its plane is then the
 * mean one of its border, which does not depend on how it is cut into triangles, and its points are moved into it.
 *
 * A quadrilateral that is slightly warped comes as two triangles. Where two triangles are left alone, are each other's
 * flattest neighbour, turn by less than WARP and leave their mean plane by less than half a cell of the distance field,
 * they are one face: the field does not show more. This is for coarse meshes: fine ones turn by as little wherever they
 * are round.
 *
 * Up to DS_FACES_MAX faces are all kept, and are the whole surface. Of a finer mesh those are kept that are wider than
 * the samples are apart, the largest FINE_MAX of them: what is left is round, and found by samples. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mesh/build.h"

#define FLAT 1e-4
#define ALONG 0.9659258262890683 /* cos 15 degrees: no steep triangle is taken for its small size alone */
#define WARP 0.9659258262890683  /* cos 15 degrees */
#define STRAIGHT 1e-9            /* of the radius: vertices nearer to the line of their neighbours are no corners */
enum { FINE_MAX = 64 };

typedef struct group {
  ds_vec3 sum, middle; /* area vectors; middles of the border's edges, by length */
  double area, perimeter;
  int32_t first, count; /* lowest triangle; triangles */
  int32_t face;         /* its number, or -1 */
} group;

typedef struct finder {
  const ds_surface *s;
  const ds_samples *samples;
  double radius, warp; /* half the size; how far a warped face may leave its plane */
  int32_t *of;         /* one per triangle: its group */
  int32_t *stack;      /* triangles, while a group grows; then groups in order of their size */
  double *area;        /* one per triangle */
  group *groups;
  int32_t group_count;
  bool *visited;   /* half-edge */
  int32_t *corner; /* vertex: its number, or -1 */
} finder;

/* ---- groups ---- */

typedef struct by_size {
  double size;
  int32_t id;
} by_size;

static int compare_sizes(const void *pa, const void *pb) {
  const by_size *a = pa, *b = pb;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return (a->id > b->id) - (a->id < b->id);
}

static void add_to_group(finder *f, int32_t g, int32_t t) {
  const ds_surface *s = f->s;
  group *to = &f->groups[g];
  ds_vec3 a = ds_half_point(s, 3 * t), b = ds_half_point(s, 3 * t + 1), c = ds_half_point(s, 3 * t + 2);
  f->of[t] = g;
  to->sum = v3_mad(to->sum, 0.5, v3_cross(v3_sub(b, a), v3_sub(c, a)));
  to->area += f->area[t];
  to->count++;
  if (t < to->first) to->first = t;
}

/* Whether a triangle lies in the plane of another. */
static bool lies_in(const finder *f, int32_t seed, int32_t t) {
  const ds_surface *s = f->s;
  ds_vec3 n = s->normals[seed], o = ds_half_point(s, 3 * seed);
  double flat = FLAT * f->radius, along = v3_dot(n, s->normals[t]), longest = 0;
  for (int k = 0; k < 3; k++) {
    ds_vec3 x = ds_half_point(s, 3 * t + k), y = ds_half_point(s, ds_half_next(3 * t + k));
    if (fabs(v3_dot(n, v3_sub(x, o))) > flat) return false;
    longest = fmax(longest, v3_dist(x, y));
  }
  /* the normal of a sliver says nothing */
  return along > ALONG || (along > 0 && 2 * f->area[t] < flat * longest);
}

static void grow(finder *f, int32_t seed) {
  int32_t g = f->group_count++, depth = 0;
  f->groups[g] = (group){.first = seed, .face = -1};
  add_to_group(f, g, seed);
  f->stack[depth++] = seed;
  while (depth > 0) {
    int32_t t = f->stack[--depth];
    for (int k = 0; k < 3; k++) {
      int32_t next = f->s->twin[3 * t + k] / 3;
      if (f->of[next] >= 0 || !lies_in(f, seed, next)) continue;
      add_to_group(f, g, next);
      f->stack[depth++] = next;
    }
  }
}

/* The neighbour of a lone triangle that turns least from it, or -1; a corner of both together must not be concave. */
static int32_t flattest(const finder *f, int32_t t) {
  const ds_surface *s = f->s;
  int32_t best = -1;
  double most = WARP;
  for (int k = 0; k < 3; k++) {
    int32_t h = 3 * t + k, twin = s->twin[h];
    double c = v3_dot(s->normals[t], s->normals[twin / 3]);
    double start = ds_corner_angle(s, h) + ds_corner_angle(s, ds_half_next(twin));
    double end = ds_corner_angle(s, ds_half_next(h)) + ds_corner_angle(s, twin);
    if (f->groups[f->of[twin / 3]].count > 1 || !(c > most) || fmax(start, end) > DS_PI) continue;
    /* the corners leave the mean plane by a quarter of how far the fourth leaves the plane of the others */
    ds_vec3 fourth = ds_half_point(s, ds_half_next(ds_half_next(twin)));
    if (fabs(v3_dot(s->normals[t], v3_sub(fourth, ds_half_point(s, h)))) > 4 * f->warp) continue;
    most = c;
    best = twin / 3;
  }
  return best;
}

/* Joins pairs of lone triangles; the group of the higher one stays empty. */
static void join_warped(finder *f) {
  for (int32_t t = 0; t < f->s->mesh->triangle_count; t++) {
    if (f->groups[f->of[t]].count != 1) continue;
    int32_t other = flattest(f, t);
    if (other < t || flattest(f, other) != t) continue;
    f->groups[f->of[other]].count = 0;
    add_to_group(f, f->of[t], other);
  }
}

static bool is_border(const finder *f, int32_t half) { return f->of[half / 3] != f->of[f->s->twin[half] / 3]; }

static double half_length(const ds_surface *s, int32_t half) {
  return v3_dist(ds_half_point(s, half), ds_half_point(s, ds_half_next(half)));
}

static double width_of(const group *g) { return g->perimeter > 0 ? 2 * g->area / g->perimeter : 0; }

static bool all_bulge(const ds_samples *s) {
  for (int32_t i = 0; i < s->count; i++)
    if (!s->caps || !s->caps[i].bulges) return false;
  return true;
}

/* Whether the surface about a group is not plane but round: so says the sample that is nearest to one of its triangles.
 */
static bool bulges(const finder *f, const group *g) {
  const ds_samples *s = f->samples;
  int32_t h = 3 * g->first, best = -1;
  ds_vec3 x = v3_add(ds_half_point(f->s, h), v3_add(ds_half_point(f->s, h + 1), ds_half_point(f->s, h + 2)));
  double least = INFINITY;
  for (int32_t i = 0; i < s->count && s->caps; i++) {
    double d2 = v3_norm2(v3_sub(s->points[i], v3_scale(1.0 / 3, x)));
    if (d2 < least && v3_dot(s->normals[i], f->s->normals[g->first]) > 0) least = d2, best = i;
  }
  return best >= 0 && s->caps[best].bulges;
}

/* Numbers the groups that become faces, in order of their lowest triangles. */
static void choose(ds_faces *out, finder *f, by_size *order, double spacing) {
  int32_t n = 0;
  for (int32_t h = 0; h < 3 * f->s->mesh->triangle_count; h++) {
    if (!is_border(f, h)) continue;
    group *g = &f->groups[f->of[h / 3]];
    double length = half_length(f->s, h);
    g->perimeter += length;
    g->middle = v3_mad(g->middle, 0.5 * length, v3_add(ds_half_point(f->s, h), ds_half_point(f->s, ds_half_next(h))));
  }
  for (int32_t g = 0; g < f->group_count; g++)
    if (f->groups[g].count > 0) n++;
  out->complete = n <= DS_FACES_MAX && !all_bulge(f->samples);
  n = 0;
  for (int32_t g = 0; g < f->group_count; g++)
    if (f->groups[g].count > 0 && (out->complete || (width_of(&f->groups[g]) > spacing && !bulges(f, &f->groups[g]))))
      order[n++] = (by_size){f->groups[g].area, g};
  qsort(order, (size_t)n, sizeof *order, compare_sizes);
  if (!out->complete && n > FINE_MAX) n = FINE_MAX;
  for (int32_t i = 0; i < n; i++) f->groups[order[i].id].face = 0;
  for (int32_t t = 0; t < f->s->mesh->triangle_count; t++) {
    group *g = &f->groups[f->of[t]];
    if (g->face == 0 && g->first == t) g->face = ++out->count;
  }
  for (int32_t g = 0; g < f->group_count; g++) f->groups[g].face--; /* -1, or from 0 on */
}

/* ---- loops ---- */

static int32_t corner_of(ds_faces *out, finder *f, int32_t half) {
  int32_t v = ds_half_vertex(f->s, half);
  if (f->corner[v] < 0) {
    f->corner[v] = out->corner_count++;
    out->corners[f->corner[v]] = ds_half_point(f->s, half);
    out->corner_normals[f->corner[v]] = f->s->corner_normals[half];
  }
  return f->corner[v];
}

/* The border half-edge that follows: around the vertex at its end, through triangles of the same group. */
static int32_t next_border(const finder *f, int32_t half) {
  int32_t h = ds_half_next(half);
  while (!is_border(f, h)) h = ds_half_next(f->s->twin[h]);
  return h;
}

static ds_vec3 into_plane(const ds_face *face, ds_vec3 x) {
  return v3_mad(x, face->offset - v3_dot(face->normal, x), face->normal);
}

/* Whether the vertex where `half` starts turns the loop, seen from the last one that did. */
static bool turns(const finder *f, ds_vec3 last, int32_t half) {
  ds_vec3 x = ds_half_point(f->s, half), d = v3_unit(v3_sub(ds_half_point(f->s, ds_half_next(half)), last));
  ds_vec3 e = v3_sub(x, last);
  double along = v3_dot(d, e);
  return v3_norm(v3_mad(e, -along, d)) > STRAIGHT * f->radius || along < 0;
}

static ds_side side_of(const finder *f, const ds_face *face, int32_t half) {
  int32_t twin = f->s->twin[half];
  ds_vec3 x = ds_half_point(f->s, half), opposite = ds_half_point(f->s, ds_half_next(ds_half_next(twin)));
  const group *beyond = &f->groups[f->of[twin / 3]];
  return (ds_side){.point = into_plane(face, x),
                   .across = beyond->face >= 0 ? v3_unit(beyond->sum) : f->s->normals[twin / 3],
                   .convex = v3_dot(face->normal, v3_sub(opposite, x)) < 0};
}

static void add_loop(ds_faces *out, finder *f, int32_t face, int32_t start) {
  ds_face *to = &out->face[face];
  int32_t first = out->side_count, h = start, corners = 0;
  /* begin at a vertex that surely turns: the farthest from the first */
  double far = -1;
  do {
    double d = v3_dist(ds_half_point(f->s, h), ds_half_point(f->s, start));
    f->visited[h] = true;
    if (d > far * (1 + 1e-9)) far = d;
    h = next_border(f, h);
    corners++;
  } while (h != start);
  while (v3_dist(ds_half_point(f->s, h), ds_half_point(f->s, start)) < far * (1 - 1e-9)) h = next_border(f, h);
  ds_vec3 last = ds_half_point(f->s, h);
  for (int32_t i = 0; i < corners; i++, h = next_border(f, h)) {
    if (i > 0 && !turns(f, last, h)) continue;
    last = ds_half_point(f->s, h);
    out->side[out->side_count] = side_of(f, to, h);
    out->side[out->side_count].vertex = corner_of(out, f, h);
    out->side[out->side_count].next = out->side_count + 1;
    out->side_count++;
  }
  out->side[out->side_count - 1].next = first;
  to->count += out->side_count - first;
}

static void set_plane(ds_face *face, const group *g) {
  face->normal = v3_unit(g->sum);
  face->offset = v3_dot(face->normal, g->middle) / g->perimeter;
}

static void add_face(ds_faces *out, finder *f, const group *g, int32_t *of_face, int32_t count) {
  ds_face *face = &out->face[g->face];
  set_plane(face, g);
  face->first = out->side_count;
  for (int32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      int32_t h = 3 * of_face[i] + k;
      double off = v3_dot(face->normal, ds_half_point(f->s, h)) - face->offset;
      face->deviation = fmax(face->deviation, fabs(off));
      if (is_border(f, h) && !f->visited[h]) add_loop(out, f, g->face, h);
    }
}

/* ---- what follows from the loops ---- */

static void measure_face(ds_faces *out, ds_face *face) {
  ds_vec3 n = face->normal;
  if (face->count == 0) return;
  const ds_side *first = &out->side[face->first];
  ds_vec3 e = v3_sub(out->side[first->next].point, first->point);
  face->t1 = v3_unit(v3_mad(e, -v3_dot(e, n), n));
  face->t2 = v3_cross(n, face->t1);
  face->low = face->high = first->point;
  double twice = 0, around = 0;
  for (int32_t i = face->first; i < face->first + face->count; i++) {
    ds_side *side = &out->side[i];
    side->u = v3_dot(side->point, face->t1);
    side->w = v3_dot(side->point, face->t2);
    face->low = v3_min(face->low, side->point);
    face->high = v3_max(face->high, side->point);
  }
  for (int32_t i = face->first; i < face->first + face->count; i++) {
    const ds_side *a = &out->side[i], *b = &out->side[a->next];
    twice += (a->u - first->u) * (b->w - first->w) - (a->w - first->w) * (b->u - first->u);
    around += v3_dist(a->point, b->point);
  }
  face->area = 0.5 * twice;
  face->width = around > 0 ? twice / around : 0;
}

static bool add_spokes(ds_faces *out) {
  int32_t *start = out->spoke_start = calloc((size_t)out->corner_count + 2, sizeof *start);
  out->spokes = malloc(((size_t)out->side_count + 1) * sizeof *out->spokes);
  if (!start || !out->spokes) return false;
  for (int32_t i = 0; i < out->side_count; i++) start[out->side[i].vertex + 2]++;
  for (int32_t v = 0; v < out->corner_count; v++) start[v + 2] += start[v + 1];
  for (int32_t i = 0; i < out->side_count; i++) {
    const ds_side *a = &out->side[i];
    out->spokes[start[a->vertex + 1]++] = v3_unit(v3_sub(out->side[a->next].point, a->point));
  }
  return true;
}

bool ds_faces_finish(ds_faces *out) {
  for (int32_t i = 0; i < out->count; i++) {
    measure_face(out, &out->face[i]);
    out->low = i == 0 ? out->face[i].low : v3_min(out->low, out->face[i].low);
    out->high = i == 0 ? out->face[i].high : v3_max(out->high, out->face[i].high);
  }
  return add_spokes(out);
}

/* ---- all of it ---- */

static bool add_faces(ds_faces *out, finder *f) {
  int32_t triangles = f->s->mesh->triangle_count, sides = 0, *start = calloc((size_t)out->count + 2, sizeof *start);
  if (!start) return false;
  for (int32_t h = 0; h < 3 * triangles; h++)
    if (is_border(f, h) && f->groups[f->of[h / 3]].face >= 0) sides++;
  for (int32_t t = 0; t < triangles; t++)
    if (f->groups[f->of[t]].face >= 0) start[f->groups[f->of[t]].face + 2]++;
  for (int32_t i = 0; i < out->count; i++) start[i + 2] += start[i + 1];
  for (int32_t t = 0; t < triangles; t++)
    if (f->groups[f->of[t]].face >= 0) f->stack[start[f->groups[f->of[t]].face + 1]++] = t;
  out->face = calloc((size_t)out->count + 1, sizeof *out->face);
  out->side = calloc((size_t)sides + 1, sizeof *out->side);
  out->corners = malloc(((size_t)sides + 1) * sizeof *out->corners);
  out->corner_normals = malloc(((size_t)sides + 1) * sizeof *out->corner_normals);
  bool ok = out->face && out->side && out->corners && out->corner_normals;
  for (int32_t t = 0; t < triangles && ok; t++) {
    const group *g = &f->groups[f->of[t]];
    if (g->face >= 0 && g->first == t)
      add_face(out, f, g, f->stack + start[g->face], start[g->face + 1] - start[g->face]);
  }
  free(start);
  return ok && ds_faces_finish(out);
}

static void find_groups(finder *f, by_size *order) {
  int32_t n = f->s->mesh->triangle_count;
  for (int32_t t = 0; t < n; t++) {
    ds_vec3 a = ds_half_point(f->s, 3 * t);
    f->area[t] =
        0.5 * v3_norm(v3_cross(v3_sub(ds_half_point(f->s, 3 * t + 1), a), v3_sub(ds_half_point(f->s, 3 * t + 2), a)));
    order[t] = (by_size){f->area[t], t};
    f->of[t] = -1;
  }
  qsort(order, (size_t)n, sizeof *order, compare_sizes);
  for (int32_t i = 0; i < n; i++)
    if (f->of[order[i].id] < 0) grow(f, order[i].id);
  if (f->group_count <= 2 * DS_FACES_MAX) join_warped(f);
}

ds_status ds_faces_build(ds_faces *out, const ds_surface *s, const ds_samples *samples, double spacing, double cell,
                         ds_error *error) {
  size_t n = (size_t)s->mesh->triangle_count, vertices = (size_t)s->mesh->vertex_count;
  finder f = {.s = s, .samples = samples, .radius = 0.5 * v3_dist(s->low, s->high), .warp = 0.5 * cell};
  *out = (ds_faces){0};
  by_size *order = malloc(n * sizeof *order);
  f.of = malloc(n * sizeof *f.of);
  f.stack = malloc(n * sizeof *f.stack);
  f.area = malloc(n * sizeof *f.area);
  f.groups = calloc(n, sizeof *f.groups);
  f.visited = calloc(3 * n, sizeof *f.visited);
  f.corner = malloc(vertices * sizeof *f.corner);
  bool ok = order && f.of && f.stack && f.area && f.groups && f.visited && f.corner;
  if (ok) {
    memset(f.corner, 0xff, vertices * sizeof *f.corner);
    find_groups(&f, order);
    choose(out, &f, order, spacing);
    ok = add_faces(out, &f);
  }
  free(order);
  free(f.of);
  free(f.stack);
  free(f.area);
  free(f.groups);
  free(f.visited);
  free(f.corner);
  if (ok && out->side_count > DS_FACE_SIDES_MAX) ds_faces_free(out); /* no room for their numbers: all by samples */
  if (ok) return DS_OK;
  ds_faces_free(out);
  return ds_fail(error, DS_ERROR_MEMORY, "no memory for the faces of a surface of %d triangles",
                 s->mesh->triangle_count);
}

int64_t ds_faces_bytes(const ds_faces *f) {
  return f->count * (int64_t)sizeof *f->face + f->side_count * (int64_t)(sizeof *f->side + sizeof *f->spokes) +
         f->corner_count * (int64_t)(2 * sizeof *f->corners + sizeof *f->spoke_start);
}

void ds_faces_free(ds_faces *f) {
  free(f->face);
  free(f->side);
  free(f->corners);
  free(f->corner_normals);
  free(f->spoke_start);
  free(f->spokes);
  *f = (ds_faces){0};
}
