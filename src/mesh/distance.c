/* Exact signed distance to a closed triangle mesh.
 *
 * The nearest triangle is found in a tree of boxes, split by the surface-area heuristic over bins (Wald 2007). The sign
 * is that of (x - c)'n, with c the nearest point and n the angle-weighted pseudonormal of the face, edge or vertex that
 * c lies on (Baerentzen and Aanaes 2005), which is right for every closed surface that does not cut itself, at sharp
 * edges and thin walls too.
 *
 * Of equally near triangles the first in the tree counts, so the answer depends on the point alone. */
#include "mesh/distance.h"

#include <stdlib.h>

#include "base/error.h"

enum { LEAF = 4, BINS = 16, DEPTH = 40, STACK = 128 };

/* ---- building ---- */

typedef struct builder {
  ds_distance *tree;
  int32_t *order; /* triangles, permuted so that every box has a range of them */
  ds_vec3 *middles;
} builder;

static double axis_of(ds_vec3 x, int axis) { return axis == 0 ? x.x : axis == 1 ? x.y : x.z; }

static void box_clear(ds_facet_box *box) {
  for (int k = 0; k < 3; k++) box->low[k] = INFINITY, box->high[k] = -INFINITY;
}

static void box_add_point(ds_facet_box *box, ds_vec3 x) {
  for (int k = 0; k < 3; k++) {
    double c = axis_of(x, k);
    if (c < box->low[k]) box->low[k] = c;
    if (c > box->high[k]) box->high[k] = c;
  }
}

static void box_add_triangle(ds_facet_box *box, const ds_surface *s, int32_t t) {
  for (int k = 0; k < 3; k++) box_add_point(box, ds_half_point(s, 3 * t + k));
}

static void box_add_box(ds_facet_box *box, const ds_facet_box *other) {
  for (int k = 0; k < 3; k++) {
    if (other->low[k] < box->low[k]) box->low[k] = other->low[k];
    if (other->high[k] > box->high[k]) box->high[k] = other->high[k];
  }
}

static double box_area(const ds_facet_box *box) {
  double x = box->high[0] - box->low[0], y = box->high[1] - box->low[1], z = box->high[2] - box->low[2];
  return x >= 0 ? x * y + y * z + z * x : 0;
}

static int bin_of(double middle, double low, double size) {
  int bin = (int)(BINS * ((middle - low) / size));
  return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

/* The bin before which to cut, by the least sum of area times count; 0 where all lie in one bin. */
static int find_cut(const builder *b, int32_t first, int32_t count, int axis, double low, double size) {
  ds_facet_box bins[BINS];
  double right_cost[BINS];
  for (int i = 0; i < BINS; i++) box_clear(&bins[i]), bins[i].count = 0;
  for (int32_t i = first; i < first + count; i++) {
    int32_t t = b->order[i];
    int bin = bin_of(axis_of(b->middles[t], axis), low, size);
    box_add_triangle(&bins[bin], b->tree->surface, t);
    bins[bin].count++;
  }
  ds_facet_box sum;
  box_clear(&sum);
  int32_t n = 0;
  for (int i = BINS - 1; i > 0; i--) {
    box_add_box(&sum, &bins[i]);
    n += bins[i].count;
    right_cost[i] = n * box_area(&sum);
  }
  box_clear(&sum);
  n = 0;
  int best = 0;
  double best_cost = INFINITY;
  for (int i = 1; i < BINS; i++) {
    box_add_box(&sum, &bins[i - 1]);
    n += bins[i - 1].count;
    double cost = n * box_area(&sum) + right_cost[i];
    if (n > 0 && n < count && cost < best_cost) best = i, best_cost = cost;
  }
  return best;
}

/* Moves the facets of the lower half to the front; how many. A cut that fails, or that goes too deep, is by number. */
static int32_t split(builder *b, int32_t first, int32_t count, int32_t depth) {
  ds_facet_box middles;
  box_clear(&middles);
  for (int32_t i = first; i < first + count; i++) box_add_point(&middles, b->middles[b->order[i]]);
  int axis = 0;
  for (int k = 1; k < 3; k++)
    if (middles.high[k] - middles.low[k] > middles.high[axis] - middles.low[axis]) axis = k;
  double low = middles.low[axis], size = middles.high[axis] - low;
  int cut = size > 0 && depth < DEPTH ? find_cut(b, first, count, axis, low, size) : 0;
  if (cut == 0) return count / 2;
  int32_t n = 0;
  for (int32_t i = first; i < first + count; i++) {
    int32_t t = b->order[i];
    if (bin_of(axis_of(b->middles[t], axis), low, size) >= cut) continue;
    b->order[i] = b->order[first + n];
    b->order[first + n++] = t;
  }
  return n;
}

static void build_box(builder *b, int32_t index, int32_t first, int32_t count, int32_t depth) {
  ds_distance *tree = b->tree;
  ds_facet_box *box = &tree->boxes[index];
  box_clear(box);
  for (int32_t i = first; i < first + count; i++) box_add_triangle(box, tree->surface, b->order[i]);
  box->first = first;
  box->count = count;
  if (count <= LEAF) return;
  int32_t left = split(b, first, count, depth), child = tree->box_count;
  tree->box_count += 2;
  box->first = child;
  box->count = 0;
  build_box(b, child, first, left, depth + 1);
  build_box(b, child + 1, first + left, count - left, depth + 1);
}

ds_status ds_distance_build(ds_distance *tree, const ds_surface *s, ds_error *error) {
  int32_t count = s->mesh->triangle_count;
  size_t n = (size_t)count;
  *tree = (ds_distance){.surface = s, .box_count = 1};
  builder b = {tree, malloc(n * sizeof *b.order), malloc(n * sizeof *b.middles)};
  tree->facets = malloc(n * sizeof *tree->facets);
  tree->boxes = malloc(2 * n * sizeof *tree->boxes);
  bool ok = b.order && b.middles && tree->facets && tree->boxes;
  if (ok) {
    for (int32_t t = 0; t < count; t++) {
      ds_vec3 sum = v3_add(ds_half_point(s, 3 * t), v3_add(ds_half_point(s, 3 * t + 1), ds_half_point(s, 3 * t + 2)));
      b.middles[t] = v3_scale(1.0 / 3, sum);
      b.order[t] = t;
    }
    build_box(&b, 0, 0, count, 0);
    for (int32_t i = 0; i < count; i++) {
      int32_t t = b.order[i];
      ds_facet *f = &tree->facets[i];
      *f = (ds_facet){.normal = s->normals[t], .triangle = t};
      for (int k = 0; k < 3; k++) {
        f->v[k] = ds_half_point(s, 3 * t + k);
        f->out[k] = v3_cross(v3_sub(ds_half_point(s, ds_half_next(3 * t + k)), f->v[k]), f->normal);
      }
    }
  }
  free(b.order);
  free(b.middles);
  if (ok) return DS_OK;
  ds_distance_free(tree);
  return ds_fail(error, DS_ERROR_MEMORY, "no memory for the distance tree of %d triangles", count);
}

void ds_distance_free(ds_distance *tree) {
  free(tree->facets);
  free(tree->boxes);
  *tree = (ds_distance){0};
}

/* ---- the nearest triangle ---- */

typedef struct nearest {
  double distance2;
  ds_vec3 point;
  int32_t facet;
  int32_t feature; /* 0 = face, 1 + k = edge k, 4 + k = vertex k */
} nearest;

/* The point of an edge next to x. */
static void take_edge(nearest *best, const ds_facet *f, int32_t index, int k, ds_vec3 x) {
  ds_vec3 a = f->v[k], e = v3_sub(f->v[(k + 1) % 3], a);
  double t = v3_dot(v3_sub(x, a), e), length2 = v3_dot(e, e);
  int32_t feature = t <= 0 ? 4 + k : t >= length2 ? 4 + (k + 1) % 3 : 1 + k;
  ds_vec3 c = t <= 0 ? a : t >= length2 ? f->v[(k + 1) % 3] : v3_mad(a, t / length2, e);
  double d2 = v3_norm2(v3_sub(x, c));
  if (d2 < best->distance2 || (d2 == best->distance2 && index < best->facet)) *best = (nearest){d2, c, index, feature};
}

/* A point above the triangle is next to its face, any other next to an edge that it is outside of. */
static void take_facet(nearest *best, const ds_distance *tree, int32_t index, ds_vec3 x) {
  const ds_facet *f = &tree->facets[index];
  double h = v3_dot(v3_sub(x, f->v[0]), f->normal);
  if (h * h > best->distance2 || (h * h == best->distance2 && index > best->facet)) return;
  bool above = true;
  for (int k = 0; k < 3; k++) {
    if (v3_dot(f->out[k], v3_sub(x, f->v[k])) > 0) {
      above = false;
      take_edge(best, f, index, k, x);
    }
  }
  if (above && (h * h < best->distance2 || index < best->facet))
    *best = (nearest){h * h, v3_mad(x, -h, f->normal), index, 0};
}

static double outside(double low, double high, double x) {
  double a = low - x, b = x - high, c = a > b ? a : b;
  return c > 0 ? c : 0;
}

static double box_distance2(const ds_facet_box *box, ds_vec3 x) {
  double dx = outside(box->low[0], box->high[0], x.x), dy = outside(box->low[1], box->high[1], x.y);
  double dz = outside(box->low[2], box->high[2], x.z);
  return dx * dx + dy * dy + dz * dz;
}

#define SLACK (1 + 1e-12) /* keeps rounding from hiding the nearest of nearly equal ones */

/* Improves `best` from a box and all below it. */
static void search(nearest *best, const ds_distance *tree, int32_t index, ds_vec3 x) {
  struct {
    int32_t box;
    double distance2;
  } stack[STACK];
  int32_t top = 0;
  for (;;) {
    const ds_facet_box *box = &tree->boxes[index];
    if (box->count > 0) {
      for (int32_t i = 0; i < box->count; i++) take_facet(best, tree, box->first + i, x);
    } else {
      double a = box_distance2(&tree->boxes[box->first], x), b = box_distance2(&tree->boxes[box->first + 1], x);
      int32_t near = box->first + (b < a), far = box->first + !(b < a);
      double near2 = b < a ? b : a, far2 = b < a ? a : b;
      if (far2 <= best->distance2 * SLACK) {
        stack[top].box = far;
        stack[top++].distance2 = far2;
      }
      if (near2 <= best->distance2 * SLACK) {
        index = near;
        continue;
      }
    }
    do {
      if (top == 0) return;
      top--;
    } while (!(stack[top].distance2 <= best->distance2 * SLACK));
    index = stack[top].box;
  }
}

static ds_vec3 feature_normal(const ds_distance *tree, const nearest *n) {
  const ds_surface *s = tree->surface;
  const ds_facet *f = &tree->facets[n->facet];
  int32_t first = 3 * f->triangle;
  if (n->feature == 0) return f->normal;
  if (n->feature < 4) return v3_add(f->normal, s->normals[s->twin[first + n->feature - 1] / 3]);
  return s->corner_normals[first + n->feature - 4];
}

void ds_nearby_all(ds_nearby *nearby) { nearby->count = nearby->hint = -1; }

/* A facet at distance c from the middle of the ball is at least c - |x - middle| from x. */
static nearest find_nearest(ds_nearby *nearby, const ds_distance *tree, ds_vec3 x) {
  nearest best = {.distance2 = INFINITY, .facet = 0};
  if (nearby->hint >= 0) take_facet(&best, tree, nearby->hint, x);
  if (nearby->count < 0) search(&best, tree, 0, x);
  double off = nearby->count < 0 ? 0 : v3_dist(x, nearby->middle);
  for (int32_t i = 0; i < nearby->count; i++) {
    double least = nearby->distances[i] - off;
    if (least > 0 && least * least > best.distance2 * SLACK) break;
    take_facet(&best, tree, nearby->facets[i], x);
  }
  nearby->hint = best.facet;
  return best;
}

/* Keeps the facets in the order of their distances; false if there is no room. */
static bool add_nearby(ds_nearby *nearby, int32_t facet, double distance) {
  int32_t i = nearby->count;
  if (i == DS_NEARBY) return false;
  for (; i > 0 && nearby->distances[i - 1] > distance; i--) {
    nearby->distances[i] = nearby->distances[i - 1];
    nearby->facets[i] = nearby->facets[i - 1];
  }
  nearby->distances[i] = distance;
  nearby->facets[i] = facet;
  nearby->count++;
  return true;
}

/* A point of the ball is at most D + radius from the surface, D being the distance of the middle, so its nearest facet
 * is at most D + 2 radius from the middle. */
void ds_distance_gather(ds_nearby *nearby, const ds_distance *tree, ds_vec3 middle, double radius) {
  int32_t stack[STACK], top = 0;
  nearby->count = -1;
  double reach = (sqrt(find_nearest(nearby, tree, middle).distance2) + 2 * radius) * SLACK;
  nearby->count = 0;
  nearby->middle = middle;
  stack[top++] = 0;
  while (top > 0) {
    const ds_facet_box *box = &tree->boxes[stack[--top]];
    if (!(box_distance2(box, middle) <= reach * reach)) continue;
    if (box->count == 0) {
      stack[top++] = box->first;
      stack[top++] = box->first + 1;
    }
    for (int32_t i = box->first; i < box->first + box->count; i++) {
      nearest one = {.distance2 = reach * reach, .facet = -1};
      take_facet(&one, tree, i, middle);
      if (one.facet >= 0 && !add_nearby(nearby, i, sqrt(one.distance2))) {
        nearby->count = -1;
        return;
      }
    }
  }
}

double ds_distance_signed(ds_nearby *nearby, const ds_distance *tree, ds_vec3 x) {
  if (!v3_finite(x)) return NAN;
  nearest best = find_nearest(nearby, tree, x);
  double side = v3_dot(v3_sub(x, best.point), feature_normal(tree, &best));
  return side < 0 ? -sqrt(best.distance2) : sqrt(best.distance2);
}

bool ds_distance_within(const ds_distance *tree, ds_vec3 x, double radius) {
  nearest best = {.distance2 = radius * radius, .facet = -1};
  search(&best, tree, 0, x);
  return best.facet >= 0;
}

/* ---- rays ---- */

static bool ray_meets_box(const ds_facet_box *box, ds_vec3 x, ds_vec3 d, double from, double to) {
  for (int k = 0; k < 3; k++) {
    double a = (box->low[k] - axis_of(x, k)) / axis_of(d, k), b = (box->high[k] - axis_of(x, k)) / axis_of(d, k);
    /* a NaN, where the ray runs in the plane of a side, changes nothing */
    from = fmax(from, fmin(a, b));
    to = fmin(to, fmax(a, b));
  }
  return from <= to * (1 + 1e-12);
}

static double ray_leaves_facet(const ds_facet *f, ds_vec3 x, ds_vec3 d) {
  double along = v3_dot(d, f->normal);
  if (!(along > 1e-6)) return INFINITY;
  double t = v3_dot(v3_sub(f->v[0], x), f->normal) / along;
  ds_vec3 hit = v3_mad(x, t, d);
  for (int k = 0; k < 3; k++) {
    if (v3_dot(f->out[k], v3_sub(hit, f->v[k])) > 1e-9 * v3_norm2(f->out[k])) return INFINITY;
  }
  return t;
}

double ds_distance_exit(const ds_distance *tree, ds_vec3 x, ds_vec3 d, double from) {
  double best = INFINITY;
  int32_t stack[STACK], top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const ds_facet_box *box = &tree->boxes[stack[--top]];
    if (!ray_meets_box(box, x, d, from, best)) continue;
    if (box->count == 0) {
      stack[top++] = box->first;
      stack[top++] = box->first + 1;
    }
    for (int32_t i = 0; i < box->count; i++) {
      double t = ray_leaves_facet(&tree->facets[box->first + i], x, d);
      if (t > from && t < best) best = t;
    }
  }
  return best;
}
