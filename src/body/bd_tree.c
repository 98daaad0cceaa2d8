/* The tree of spheres over a deformable's surface (BD-tree) [James and Pai 2004].
 *
 * A sphere holds all corners X_i of the triangles below it, undeformed: |X_i - c| <= R. Let it move with the body as if
 * it were a point of it, c + shift q, and let growth_a = max_i |U_i,a - shift_a| over the columns a. Then
 *
 *   |X_i + U_i q - (c + shift q)| <= |X_i - c| + sum_a |q_a| |U_i,a - shift_a| <= R + sum_a |q_a| growth_a,
 *
 * whatever q is: a sphere is found in O(r), without a look at what it holds. shift_a is the middle of the least ball
 * around the U_i,a, which makes growth_a least; those balls, and that of the X_i, are found as in mesh/ball_tree.c
 * (Badoiu and Clarkson 2003).
 *
 * Triangles are halved at the median of their middles along the longest side of their bounds; of equal ones the lower
 * number goes first, so the tree depends on nothing but the surface. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "body/reduced.h"

enum { LEAF = 4, ROUNDS = 64 };
/* Sums of DS_REDUCED_MAX terms, on both sides of the inequality, round by less than this share of their largest. */
static const double rounding = 1e-13;

typedef struct entry {
  double key;
  int32_t triangle; /* decides between equal keys */
} entry;

typedef struct builder {
  const ds_reduced *reduced;
  ds_bd_tree *tree;
  entry *entries;
  int32_t *stamp;   /* a vertex each: the last sphere that held it */
  int32_t *members; /* vertices below the sphere in hand */
  int32_t member_count;
  ds_vec3 *points; /* their X, or a column of their U */
} builder;

static ds_vec3 corner_of(const ds_reduced *reduced, int32_t half) {
  return reduced->surface.vertices[reduced->surface.triangles[half]];
}

static int32_t next_half(int32_t half) { return half % 3 == 2 ? half - 2 : half + 1; }

/* ---- neighbours, spacing and thickness ---- */

typedef struct edge_key {
  int32_t low, high; /* vertices */
  int32_t way;       /* 0 where it runs from low to high */
  int32_t half;
} edge_key;

static int compare_edges(const void *pa, const void *pb) {
  const edge_key *a = pa, *b = pb;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  if (a->way != b->way) return a->way - b->way;
  return (a->half > b->half) - (a->half < b->half);
}

/* Where tetrahedra hang together by an edge alone, four or more triangles share it: as many run one way as the other,
 * and any matching will do. */
static bool pair_edges(int32_t *twin, const edge_key *keys, int32_t count) {
  for (int32_t i = 0, end; i < count; i = end) {
    int32_t forward = 0;
    for (end = i; end < count && keys[end].low == keys[i].low && keys[end].high == keys[i].high; end++)
      forward += keys[end].way == 0;
    if (2 * forward != end - i) return false;
    for (int32_t k = i; k < i + forward; k++) {
      twin[keys[k].half] = keys[k + forward].half;
      twin[keys[k + forward].half] = keys[k].half;
    }
  }
  return true;
}

static ds_status find_neighbours(ds_reduced *reduced, ds_error *error) {
  const ds_mesh *s = &reduced->surface;
  ds_bd_tree *tree = &reduced->tree;
  int32_t count = 3 * s->triangle_count;
  edge_key *keys = malloc(((size_t)count + 1) * sizeof *keys);
  if (!keys) return ds_fail(error, DS_ERROR_MEMORY, "no memory for the edges of a surface");
  for (int32_t v = 0; v < s->vertex_count; v++) tree->corner[v] = -1;
  double length = 0;
  for (int32_t h = count - 1; h >= 0; h--) {
    int32_t a = s->triangles[h], b = s->triangles[next_half(h)];
    keys[h] = (edge_key){a < b ? a : b, a < b ? b : a, a > b, h};
    tree->corner[a] = h;
    length += v3_dist(s->vertices[a], s->vertices[b]);
  }
  tree->spacing = length / count;
  qsort(keys, (size_t)count, sizeof *keys, compare_edges);
  bool closed = pair_edges(tree->twin, keys, count);
  free(keys);
  if (closed) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT,
                 "the surface of a deformable body has an edge whose triangles do not match; "
                 "expected a closed surface");
}

static double thickness_of(const ds_reduced *reduced) {
  double area = 0, volume = 0;
  for (int32_t t = 0; t < reduced->surface.triangle_count; t++) {
    ds_vec3 a = corner_of(reduced, 3 * t), b = corner_of(reduced, 3 * t + 1), c = corner_of(reduced, 3 * t + 2);
    area += 0.5 * v3_norm(v3_cross(v3_sub(b, a), v3_sub(c, a)));
    volume += v3_dot(a, v3_cross(b, c)) / 6;
  }
  return area > 0 ? 2 * fabs(volume) / area : 0;
}

/* ---- spheres ---- */

static void collect_members(builder *b, int32_t sphere) {
  const ds_bd_sphere *s = &b->tree->spheres[sphere];
  b->member_count = 0;
  for (int32_t i = s->first; i < s->first + s->count; i++)
    for (int k = 0; k < 3; k++) {
      int32_t v = b->reduced->surface.triangles[3 * b->tree->triangle[i] + k];
      if (b->stamp[v] == sphere + 1) continue;
      b->stamp[v] = sphere + 1;
      b->members[b->member_count++] = v;
    }
}

/* A ball around the points that is near the least one; its radius. */
static double least_ball(ds_vec3 *center, const ds_vec3 *points, int32_t count) {
  ds_vec3 c = points[0];
  double radius = INFINITY, size = 0;
  for (int32_t i = 0; i < count; i++) size = fmax(size, v3_norm(points[i]));
  *center = c;
  for (int32_t round = 1; round <= ROUNDS; round++) {
    int32_t far = 0;
    double far2 = -1;
    for (int32_t i = 0; i < count; i++) {
      double d2 = v3_norm2(v3_sub(points[i], c));
      if (d2 > far2) far = i, far2 = d2;
    }
    if (sqrt(far2) < radius) radius = sqrt(far2), *center = c;
    c = v3_mad(c, 1.0 / (round + 1), v3_sub(points[far], c));
  }
  return radius * (1 + rounding) + rounding * size;
}

static void set_sphere(builder *b, int32_t sphere) {
  ds_bd_sphere *s = &b->tree->spheres[sphere];
  size_t r = (size_t)b->reduced->r;
  double *shift = b->tree->shift + 3 * r * (size_t)sphere, *growth = b->tree->growth + r * (size_t)sphere;
  collect_members(b, sphere);
  for (int32_t i = 0; i < b->member_count; i++) b->points[i] = b->reduced->surface.vertices[b->members[i]];
  s->radius = least_ball(&s->center, b->points, b->member_count);
  for (size_t a = 0; a < r; a++) {
    ds_vec3 c;
    for (int32_t i = 0; i < b->member_count; i++) {
      const double *u = b->reduced->basis + 3 * r * (size_t)b->members[i] + a;
      b->points[i] = v3(u[0], u[r], u[2 * r]);
    }
    growth[a] = least_ball(&c, b->points, b->member_count);
    shift[a] = c.x, shift[r + a] = c.y, shift[2 * r + a] = c.z;
  }
}

/* ---- the tree ---- */

static int compare_entries(const void *pa, const void *pb) {
  const entry *a = pa, *b = pb;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static ds_vec3 middle_of(const ds_reduced *reduced, int32_t t) {
  ds_vec3 sum = v3_add(corner_of(reduced, 3 * t), v3_add(corner_of(reduced, 3 * t + 1), corner_of(reduced, 3 * t + 2)));
  return v3_scale(1.0 / 3, sum);
}

static void halve(builder *b, int32_t first, int32_t count) {
  int32_t *order = b->tree->triangle + first;
  ds_vec3 low = middle_of(b->reduced, order[0]), high = low;
  for (int32_t i = 1; i < count; i++) {
    ds_vec3 x = middle_of(b->reduced, order[i]);
    low = v3_min(low, x);
    high = v3_max(high, x);
  }
  ds_vec3 size = v3_sub(high, low);
  ds_vec3 axis = size.x >= size.y && size.x >= size.z ? v3(1, 0, 0) : size.y >= size.z ? v3(0, 1, 0) : v3(0, 0, 1);
  for (int32_t i = 0; i < count; i++) b->entries[i] = (entry){v3_dot(axis, middle_of(b->reduced, order[i])), order[i]};
  qsort(b->entries, (size_t)count, sizeof *b->entries, compare_entries);
  for (int32_t i = 0; i < count; i++) order[i] = b->entries[i].triangle;
}

static void build_sphere(builder *b, int32_t index, int32_t first, int32_t count) {
  ds_bd_tree *tree = b->tree;
  tree->spheres[index] = (ds_bd_sphere){.first = first, .count = count};
  set_sphere(b, index);
  if (count <= LEAF) {
    for (int32_t i = first; i < first + count; i++) tree->leaf_of[tree->triangle[i]] = index;
    return;
  }
  int32_t half = count / 2, child = tree->sphere_count;
  tree->sphere_count += 2;
  tree->spheres[index].child = child;
  halve(b, first, count);
  build_sphere(b, child, first, half);
  build_sphere(b, child + 1, first + half, count - half);
}

/* Spheres of a tree over so many triangles. */
static int32_t count_spheres(int32_t triangles) {
  if (triangles <= LEAF) return 1;
  return 1 + count_spheres(triangles / 2) + count_spheres(triangles - triangles / 2);
}

static bool alloc_tree(ds_bd_tree *tree, const ds_reduced *reduced) {
  size_t t = (size_t)reduced->surface.triangle_count, v = (size_t)reduced->surface.vertex_count;
  size_t n = (size_t)count_spheres(reduced->surface.triangle_count), r = (size_t)reduced->r;
  *tree = (ds_bd_tree){.sphere_count = 1};
  tree->spheres = calloc(n, sizeof *tree->spheres);
  tree->shift = calloc(3 * n * r + 1, sizeof *tree->shift);
  tree->growth = calloc(n * r + 1, sizeof *tree->growth);
  tree->triangle = calloc(t, sizeof *tree->triangle);
  tree->leaf_of = calloc(t, sizeof *tree->leaf_of);
  tree->twin = calloc(3 * t, sizeof *tree->twin);
  tree->corner = calloc(v, sizeof *tree->corner);
  return tree->spheres && tree->shift && tree->growth && tree->triangle && tree->leaf_of && tree->twin && tree->corner;
}

static bool build_spheres(ds_reduced *reduced) {
  size_t t = (size_t)reduced->surface.triangle_count, v = (size_t)reduced->surface.vertex_count;
  builder b = {.reduced = reduced, .tree = &reduced->tree};
  b.entries = malloc(t * sizeof *b.entries);
  b.stamp = calloc(v, sizeof *b.stamp);
  b.members = malloc(v * sizeof *b.members);
  b.points = malloc(v * sizeof *b.points);
  bool ok = b.entries && b.stamp && b.members && b.points;
  for (int32_t i = 0; i < reduced->surface.triangle_count; i++) reduced->tree.triangle[i] = i;
  if (ok) build_sphere(&b, 0, 0, reduced->surface.triangle_count);
  free(b.entries);
  free(b.stamp);
  free(b.members);
  free(b.points);
  return ok;
}

ds_status ds_bd_tree_build(ds_reduced *reduced, ds_error *error) {
  const ds_mesh *s = &reduced->surface;
  ds_bd_tree_free(&reduced->tree);
  if (s->triangle_count < 4 || s->vertex_count < 4 || s->triangle_count > INT32_MAX / 8)
    return ds_fail(error, DS_ERROR_INPUT, "a surface of %d triangles and %d vertices; expected 4 of each at least",
                   s->triangle_count, s->vertex_count);
  ds_status status = DS_ERROR_MEMORY;
  if (alloc_tree(&reduced->tree, reduced)) status = find_neighbours(reduced, error);
  if (status == DS_OK && !build_spheres(reduced)) status = DS_ERROR_MEMORY;
  if (status == DS_ERROR_MEMORY)
    ds_fail(error, status, "no memory for the sphere tree of %d triangles", s->triangle_count);
  reduced->tree.thickness = thickness_of(reduced);
  if (status != DS_OK) ds_bd_tree_free(&reduced->tree);
  return status;
}

void ds_bd_tree_free(ds_bd_tree *tree) {
  free(tree->spheres);
  free(tree->shift);
  free(tree->growth);
  free(tree->triangle);
  free(tree->leaf_of);
  free(tree->twin);
  free(tree->corner);
  *tree = (ds_bd_tree){0};
}

double ds_bd_sphere_at(ds_vec3 *center, const ds_reduced *reduced, const double *q, int32_t sphere) {
  const ds_bd_sphere *s = &reduced->tree.spheres[sphere];
  *center = s->center;
  if (!q) return s->radius;
  size_t r = (size_t)reduced->r;
  const double *shift = reduced->tree.shift + 3 * r * (size_t)sphere,
               *growth = reduced->tree.growth + r * (size_t)sphere;
  double radius = s->radius;
  ds_vec3 moved = v3(0, 0, 0);
  for (size_t a = 0; a < r; a++) {
    moved.x += shift[a] * q[a];
    moved.y += shift[r + a] * q[a];
    moved.z += shift[2 * r + a] * q[a];
    radius += fabs(q[a]) * growth[a];
  }
  *center = v3_add(s->center, moved);
  return radius;
}
