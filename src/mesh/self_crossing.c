/* Triangles of a mesh that cut or touch each other, or are folded onto each other.
 *
 * Candidates come from a tree of boxes over the triangles in Morton order (Karras 2012 uses the same order), tested
 * against itself. A pair is tested by exact predicates, so that no crossing is missed and none is invented:
 *   no corner shared    an edge of one meets the other triangle, touching included;
 *   one corner shared   the edge opposite to it of one meets the other: were there another common point, the segment
 *                       from the corner to it could be prolonged until it leaves one of the two, over that edge;
 *   an edge shared      both lie in one plane, on the same side of the edge.
 * An edge meets a triangle where its ends are not on one side of the plane and the line does not pass outside (the
 * signs of three volumes), or, in one plane, by the signs of areas after dropping a coordinate [Guigue and Devillers
 * 2003]. Limits: many large triangles whose boxes overlap cost time as the square of their number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "la/vec3.h"
#include "mesh/mesh.h"

enum { LEAF = 4 };

typedef struct box {
  double low[3], high[3];
} box;

typedef struct entry {
  uint64_t code;
  int32_t triangle;
} entry;

typedef struct search {
  const ds_vec3 *x;
  const int32_t *triangles;
  entry *order; /* the triangles that take part, sorted */
  box *boxes;   /* of order[i] */
  int32_t n;
  box *nodes;     /* 1 = root, children 2 i and 2 i + 1, leaves from `leaves` on */
  int32_t leaves; /* a power of two; leaf j has order[n j / leaves] up to order[n (j + 1) / leaves] */
  int32_t count, first;
} search;

/* ---- two triangles ---- */

/* A coordinate that can be dropped: the largest of the normal. */
static int dropped_axis(const ds_vec3 t[3]) {
  ds_vec3 n = v3_cross(v3_sub(t[1], t[0]), v3_sub(t[2], t[0]));
  double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
  return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

/* pq against t in one plane. Convex figures are apart where the line of one of their sides has them on either side. */
static bool segment_meets_in_plane(ds_vec3 p, ds_vec3 q, const ds_vec3 t[3]) {
  int axis = dropped_axis(t), turn = ds_mesh_orient2(t[0], t[1], t[2], axis), side[3];
  for (int k = 0; k < 3; k++) {
    ds_vec3 a = t[k], b = t[(k + 1) % 3];
    if (turn * ds_mesh_orient2(a, b, p, axis) < 0 && turn * ds_mesh_orient2(a, b, q, axis) < 0) return false;
  }
  for (int k = 0; k < 3; k++) side[k] = ds_mesh_orient2(p, q, t[k], axis);
  return side[0] == 0 || side[0] != side[1] || side[1] != side[2];
}

/* pq against t; sp, sq: sides of the plane of t on which p and q lie. */
static bool segment_meets(ds_vec3 p, ds_vec3 q, int sp, int sq, const ds_vec3 t[3]) {
  if (sp * sq > 0) return false;
  if (sp == 0 && sq == 0) return segment_meets_in_plane(p, q, t);
  int a = ds_mesh_orient3(p, q, t[0], t[1]), b = ds_mesh_orient3(p, q, t[1], t[2]);
  if (a * b < 0) return false;
  int c = ds_mesh_orient3(p, q, t[2], t[0]);
  return a * c >= 0 && b * c >= 0;
}

/* Sides of the plane of t for the three points; true if all are on one side of it and none on it. */
static bool apart(int side[3], const ds_vec3 point[3], const ds_vec3 t[3]) {
  for (int k = 0; k < 3; k++) side[k] = ds_mesh_orient3(t[0], t[1], t[2], point[k]);
  return side[0] != 0 && side[0] == side[1] && side[1] == side[2];
}

static bool strangers_meet(const ds_vec3 a[3], const ds_vec3 b[3]) {
  int sa[3], sb[3];
  if (apart(sa, a, b) || apart(sb, b, a)) return false;
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3;
    if (segment_meets(a[k], a[l], sa[k], sa[l], b) || segment_meets(b[k], b[l], sb[k], sb[l], a)) return true;
  }
  return false;
}

/* Corner i of a is corner k of b. */
static bool corner_neighbours_meet(const ds_vec3 a[3], const ds_vec3 b[3], int i, int k) {
  ds_vec3 pa = a[(i + 1) % 3], qa = a[(i + 2) % 3], pb = b[(k + 1) % 3], qb = b[(k + 2) % 3];
  int sp = ds_mesh_orient3(b[0], b[1], b[2], pa), sq = ds_mesh_orient3(b[0], b[1], b[2], qa);
  if (segment_meets(pa, qa, sp, sq, b)) return true;
  sp = ds_mesh_orient3(a[0], a[1], a[2], pb), sq = ds_mesh_orient3(a[0], a[1], a[2], qb);
  return segment_meets(pb, qb, sp, sq, a);
}

/* i, k: the corners that are not shared. */
static bool edge_neighbours_meet(const ds_vec3 a[3], const ds_vec3 b[3], int i, int k) {
  if (ds_mesh_orient3(a[0], a[1], a[2], b[k]) != 0) return false;
  ds_vec3 p = a[(i + 1) % 3], q = a[(i + 2) % 3];
  int axis = dropped_axis(a);
  return ds_mesh_orient2(p, q, a[i], axis) * ds_mesh_orient2(p, q, b[k], axis) > 0;
}

static bool triangles_meet(const search *s, int32_t ta, int32_t tb) {
  const int32_t *va = s->triangles + 3 * (int64_t)ta, *vb = s->triangles + 3 * (int64_t)tb;
  ds_vec3 a[3], b[3];
  int shared = 0, i = 0, k = 0, sum_a = 0, sum_b = 0;
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++)
      if (va[p] == vb[q]) shared++, i = p, k = q, sum_a += p, sum_b += q;
  for (int p = 0; p < 3; p++) a[p] = s->x[va[p]], b[p] = s->x[vb[p]];
  if (shared == 0) return strangers_meet(a, b);
  if (shared == 1) return corner_neighbours_meet(a, b, i, k);
  if (shared == 2) return edge_neighbours_meet(a, b, 3 - sum_a, 3 - sum_b);
  return false; /* the same triangle again is another fault */
}

/* ---- the tree ---- */

static bool overlap(const box *a, const box *b) {
  for (int k = 0; k < 3; k++)
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  return true;
}

static void join_box(box *a, const box *b) {
  for (int k = 0; k < 3; k++) {
    a->low[k] = fmin(a->low[k], b->low[k]);
    a->high[k] = fmax(a->high[k], b->high[k]);
  }
}

static box empty_box(void) { return (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}; }

static box triangle_box(const search *s, int32_t t) {
  box b = empty_box();
  for (int k = 0; k < 3; k++) {
    ds_vec3 p = s->x[s->triangles[3 * (int64_t)t + k]];
    join_box(&b, &(box){{p.x, p.y, p.z}, {p.x, p.y, p.z}});
  }
  return b;
}

/* Two zeros between any two of the 21 bits. */
static uint64_t spread(uint64_t bits) {
  bits = (bits | bits << 32) & 0x001f00000000ffffu;
  bits = (bits | bits << 16) & 0x001f0000ff0000ffu;
  bits = (bits | bits << 8) & 0x100f00f00f00f00fu;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3u;
  return (bits | bits << 2) & 0x1249249249249249u;
}

static uint64_t morton_code(const box *b, const box *all) {
  uint64_t code = 0;
  for (int k = 0; k < 3; k++) {
    double size = all->high[k] - all->low[k];
    double at = size > 0 ? (0.5 * (b->low[k] + b->high[k]) - all->low[k]) / size : 0;
    code |= spread((uint64_t)(fmin(fmax(at, 0), 1) * 2097151.0)) << k;
  }
  return code;
}

static int compare_entries(const void *a, const void *b) {
  const entry *p = a, *q = b;
  if (p->code != q->code) return p->code < q->code ? -1 : 1;
  return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static void build_tree(search *s) {
  box all = empty_box();
  for (int32_t i = 0; i < s->n; i++) {
    box b = triangle_box(s, s->order[i].triangle);
    join_box(&all, &b);
  }
  for (int32_t i = 0; i < s->n; i++) {
    box b = triangle_box(s, s->order[i].triangle);
    s->order[i].code = morton_code(&b, &all);
  }
  qsort(s->order, (size_t)s->n, sizeof *s->order, compare_entries);
  for (int32_t i = 0; i < s->n; i++) s->boxes[i] = triangle_box(s, s->order[i].triangle);
  for (int32_t i = 2 * s->leaves - 1; i >= 1; i--) {
    s->nodes[i] = empty_box();
    if (i < s->leaves) {
      join_box(&s->nodes[i], &s->nodes[2 * i]);
      join_box(&s->nodes[i], &s->nodes[2 * i + 1]);
      continue;
    }
    int64_t j = i - s->leaves;
    for (int64_t k = s->n * j / s->leaves; k < s->n * (j + 1) / s->leaves; k++) join_box(&s->nodes[i], &s->boxes[k]);
  }
}

static void test_leaves(search *s, int64_t a, int64_t b) {
  for (int64_t i = s->n * a / s->leaves; i < s->n * (a + 1) / s->leaves; i++)
    for (int64_t k = a == b ? i + 1 : s->n * b / s->leaves; k < s->n * (b + 1) / s->leaves; k++) {
      int32_t ta = s->order[i].triangle, tb = s->order[k].triangle, low = ta < tb ? ta : tb;
      if (s->count >= DS_MESH_CROSSINGS_MAX || !overlap(&s->boxes[i], &s->boxes[k])) continue;
      if (!triangles_meet(s, ta, tb)) continue;
      s->count++;
      if (s->first < 0 || low < s->first) s->first = low;
    }
}

/* All pairs with one triangle below node a and one below node b; both are on one level. */
static void test_nodes(search *s, int32_t a, int32_t b) {
  if (s->count >= DS_MESH_CROSSINGS_MAX || (a != b && !overlap(&s->nodes[a], &s->nodes[b]))) return;
  if (a >= s->leaves) {
    test_leaves(s, a - s->leaves, b - s->leaves);
    return;
  }
  test_nodes(s, 2 * a, 2 * b);
  test_nodes(s, 2 * a, 2 * b + 1);
  if (a != b) test_nodes(s, 2 * a + 1, 2 * b);
  test_nodes(s, 2 * a + 1, 2 * b + 1);
}

bool ds_mesh_find_crossings(int32_t *count, int32_t *first, const ds_vec3 *x, const int32_t *triangles, int32_t n,
                            const bool *skip) {
  search s = {.x = x, .triangles = triangles, .leaves = 1, .first = -1};
  while ((int64_t)s.leaves * LEAF < n) s.leaves *= 2;
  s.order = malloc(((size_t)n + 1) * sizeof *s.order);
  s.boxes = malloc(((size_t)n + 1) * sizeof *s.boxes);
  s.nodes = malloc(2 * (size_t)s.leaves * sizeof *s.nodes);
  bool ok = s.order && s.boxes && s.nodes;
  if (ok) {
    for (int32_t t = 0; t < n; t++)
      if (!skip[t]) s.order[s.n++].triangle = t;
    build_tree(&s);
    test_nodes(&s, 1, 1);
  }
  free(s.order);
  free(s.boxes);
  free(s.nodes);
  *count = s.count;
  *first = s.first;
  return ok;
}
