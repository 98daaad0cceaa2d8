/* Builds the tree of a recipe and its bounds; see recipe.h. Distances are in recipe_distance.c.
 *
 * Numbers of a node: sphere r0; box a = half extents, r0 = rounding; capsule a, b, r0, r1; torus r0, r1 = tube; cone
 * r0, r1, r2 = half length; ellipsoid a = radii; extrusion r2 = half length; operations r0 = blend; place a =
 * translation, b = scale, turn, r0 = smallest scale; mirror first = axis; shell and offset r0. */
#include "mesh/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

void ds_recipe_free(ds_recipe *r) {
  free(r->nodes);
  free(r->segments);
  free(r->blocks);
  *r = (ds_recipe){0};
}

static int32_t add_node(ds_recipe *r, ds_recipe_kind kind) {
  if (r->node_count >= DS_RECIPE_NODES_MAX) r->too_large = true;
  if (r->failed || r->too_large) return -1;
  if (!ds_array_reserve(&r->nodes, &r->node_capacity, r->node_count + 1, sizeof *r->nodes)) {
    r->failed = true;
    return -1;
  }
  ds_recipe_node *n = &r->nodes[r->node_count];
  memset(n, 0, sizeof *n);
  n->kind = kind;
  n->child = n->last = n->next = -1;
  return r->node_count++;
}

/* ---- primitives ---- */

/* A primitive that is not centred is placed. */
static int32_t moved(ds_recipe *r, int32_t part, ds_vec3 center) {
  if (center.x == 0 && center.y == 0 && center.z == 0) return part;
  return ds_recipe_place(r, part, center, quat_identity(), v3(1, 1, 1));
}

int32_t ds_recipe_sphere(ds_recipe *r, ds_vec3 center, double radius) {
  return ds_recipe_capsule(r, center, radius, center, radius);
}

int32_t ds_recipe_box(ds_recipe *r, ds_vec3 half, double rounding) {
  int32_t i = add_node(r, DS_RECIPE_BOX);
  if (i < 0) return i;
  r->nodes[i].a = half;
  r->nodes[i].r[0] = fmin(rounding, fmin(half.x, fmin(half.y, half.z)));
  return i;
}

int32_t ds_recipe_capsule(ds_recipe *r, ds_vec3 a, double radius_a, ds_vec3 b, double radius_b) {
  double length = v3_dist(a, b);
  /* one ball holds the other: a sphere */
  bool ball = !(length > fabs(radius_a - radius_b));
  int32_t i = add_node(r, ball ? DS_RECIPE_SPHERE : DS_RECIPE_CAPSULE);
  if (i < 0) return i;
  ds_recipe_node *n = &r->nodes[i];
  bool first = radius_a >= radius_b;
  n->a = ball && !first ? b : a;
  n->b = b;
  n->r[0] = ball ? fmax(radius_a, radius_b) : radius_a;
  n->r[1] = radius_b;
  n->r[2] = length;
  return i;
}

int32_t ds_recipe_torus(ds_recipe *r, double radius, double tube) {
  int32_t i = add_node(r, DS_RECIPE_TORUS);
  if (i < 0) return i;
  r->nodes[i].r[0] = radius;
  r->nodes[i].r[1] = tube;
  return i;
}

int32_t ds_recipe_cone(ds_recipe *r, double r0, double r1, double length) {
  int32_t i = add_node(r, DS_RECIPE_CONE);
  if (i < 0) return i;
  r->nodes[i].r[0] = r0;
  r->nodes[i].r[1] = r1;
  r->nodes[i].r[2] = 0.5 * length;
  return i;
}

int32_t ds_recipe_ellipsoid(ds_recipe *r, ds_vec3 center, ds_vec3 radii) {
  int32_t i = add_node(r, DS_RECIPE_ELLIPSOID);
  if (i < 0) return i;
  r->nodes[i].a = radii;
  return moved(r, i, center);
}

int32_t ds_recipe_half_space(ds_recipe *r) { return add_node(r, DS_RECIPE_HALF_SPACE); }

/* ---- profiles ---- */

static bool add_segment(ds_recipe *r, const double *from, const double *to) {
  if (from[0] == to[0] && from[1] == to[1]) return true;
  if (r->segment_count >= DS_RECIPE_SEGMENTS_MAX) {
    r->too_large = true;
    return false;
  }
  if (!ds_array_reserve(&r->segments, &r->segment_capacity, r->segment_count + 1, sizeof *r->segments)) {
    r->failed = true;
    return false;
  }
  r->segments[r->segment_count++] = (ds_recipe_segment){from[0], from[1], to[0], to[1]};
  return true;
}

/* One span p1 .. p2 of a centripetal Catmull-Rom spline [Barry and Goldman 1988], p0 and p3 its neighbours, equal to p1
 * or p2 at a corner. Radii of a lathe stay at or above `low`. */
static bool add_span(ds_recipe *r, const double *p0, const double *p1, const double *p2, const double *p3, double low) {
  enum { PARTS = 8 };
  double knot[4] = {0}, from[2] = {p1[0], p1[1]};
  const double *p[4] = {p0, p1, p2, p3};
  for (int i = 1; i < 4; i++) knot[i] = knot[i - 1] + sqrt(hypot(p[i][0] - p[i - 1][0], p[i][1] - p[i - 1][1]));
  if (!(knot[2] > knot[1])) return true;
  for (int k = 1; k <= PARTS; k++) {
    double t = knot[1] + (knot[2] - knot[1]) * k / PARTS, to[2];
    for (int c = 0; c < 2; c++) {
      /* tangents at both ends, from the neighbours; at a corner along the span */
      double h = knot[2] - knot[1], chord = (p2[c] - p1[c]) / h, s = (t - knot[1]) / h;
      double m1 = chord, m2 = chord;
      if (knot[1] > 0) m1 += (p1[c] - p0[c]) / knot[1] - (p2[c] - p0[c]) / knot[2];
      if (knot[3] > knot[2]) m2 += (p3[c] - p2[c]) / (knot[3] - knot[2]) - (p3[c] - p1[c]) / (knot[3] - knot[1]);
      to[c] = p1[c] + s * h * m1 + s * s * (3 * (p2[c] - p1[c]) - h * (2 * m1 + m2)) +
              s * s * s * (h * (m1 + m2) - 2 * (p2[c] - p1[c]));
    }
    to[0] = fmax(to[0], low);
    if (k == PARTS) to[0] = p2[0], to[1] = p2[1];
    if (!add_segment(r, from, to)) return false;
    from[0] = to[0], from[1] = to[1];
  }
  return true;
}

static bool same(const double *p, const double *q) { return p[0] == q[0] && p[1] == q[1]; }

static bool add_outline(ds_recipe *r, const double *p, int32_t n, bool spline, double low) {
  for (int32_t i = 0; i < n; i++) {
    const double *p1 = p + 2 * i, *p2 = p + 2 * ((i + 1) % n);
    if (!spline && !add_segment(r, p1, p2)) return false;
    if (spline && !same(p1, p2) && !add_span(r, p + 2 * ((i + n - 1) % n), p1, p2, p + 2 * ((i + 2) % n), low))
      return false;
  }
  return true;
}

static bool add_blocks(ds_recipe *r, int32_t first, int32_t count) {
  for (int32_t i = 0; i < count; i += DS_RECIPE_BLOCK) {
    ds_recipe_segment box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int32_t k = i; k < count && k < i + DS_RECIPE_BLOCK; k++) {
      const ds_recipe_segment *s = &r->segments[first + k];
      box.x0 = fmin(box.x0, fmin(s->x0, s->x1)), box.x1 = fmax(box.x1, fmax(s->x0, s->x1));
      box.y0 = fmin(box.y0, fmin(s->y0, s->y1)), box.y1 = fmax(box.y1, fmax(s->y0, s->y1));
    }
    if (!ds_array_reserve(&r->blocks, &r->block_capacity, r->block_count + 1, sizeof *r->blocks)) {
      r->failed = true;
      return false;
    }
    r->blocks[r->block_count++] = box;
  }
  return true;
}

static int32_t add_profile(ds_recipe *r, ds_recipe_kind kind, const double *profile, int32_t count, bool spline) {
  int32_t first = r->segment_count, block = r->block_count;
  double low = kind == DS_RECIPE_LATHE ? 0 : -INFINITY;
  if (r->failed || r->too_large || !add_outline(r, profile, count, spline, low)) return -1;
  if (!add_blocks(r, first, r->segment_count - first)) return -1;
  int32_t i = add_node(r, kind);
  if (i < 0) return i;
  r->nodes[i].first = first;
  r->nodes[i].count = r->segment_count - first;
  r->nodes[i].block = block;
  return i;
}

int32_t ds_recipe_lathe(ds_recipe *r, const double *profile, int32_t count, bool spline) {
  return add_profile(r, DS_RECIPE_LATHE, profile, count, spline);
}

int32_t ds_recipe_extrusion(ds_recipe *r, const double *profile, int32_t count, bool spline, double length) {
  int32_t i = add_profile(r, DS_RECIPE_EXTRUSION, profile, count, spline);
  if (i >= 0) r->nodes[i].r[2] = 0.5 * length;
  return i;
}

/* ---- operations ---- */

int32_t ds_recipe_operation(ds_recipe *r, ds_recipe_kind kind, double blend) {
  int32_t i = add_node(r, kind);
  if (i >= 0) r->nodes[i].r[0] = blend;
  return i;
}

void ds_recipe_add(ds_recipe *r, int32_t operation, int32_t part) {
  if (operation < 0 || part < 0) return;
  ds_recipe_node *n = &r->nodes[operation];
  if (n->last >= 0)
    r->nodes[n->last].next = part;
  else
    n->child = part;
  n->last = part;
}

int32_t ds_recipe_pair(ds_recipe *r, ds_recipe_kind kind, double blend, int32_t a, int32_t b) {
  int32_t i = ds_recipe_operation(r, kind, blend);
  ds_recipe_add(r, i, a);
  ds_recipe_add(r, i, b);
  return i;
}

int32_t ds_recipe_place(ds_recipe *r, int32_t part, ds_vec3 position, ds_quat rotation, ds_vec3 scale) {
  int32_t i = ds_recipe_operation(r, DS_RECIPE_PLACE, 0);
  if (i < 0) return i;
  ds_recipe_node *n = &r->nodes[i];
  n->a = position;
  n->b = scale;
  n->turn = mat3_from_quat(quat_unit(rotation));
  n->r[0] = fmin(scale.x, fmin(scale.y, scale.z));
  ds_recipe_add(r, i, part);
  return i;
}

int32_t ds_recipe_mirror(ds_recipe *r, int32_t part, int32_t axis) {
  int32_t i = ds_recipe_operation(r, DS_RECIPE_MIRROR, 0);
  if (i < 0) return i;
  r->nodes[i].first = axis;
  ds_recipe_add(r, i, part);
  return i;
}

int32_t ds_recipe_shell(ds_recipe *r, int32_t part, double thickness) {
  int32_t i = ds_recipe_operation(r, DS_RECIPE_SHELL, thickness);
  ds_recipe_add(r, i, part);
  return i;
}

int32_t ds_recipe_offset(ds_recipe *r, int32_t part, double distance) {
  int32_t i = ds_recipe_operation(r, DS_RECIPE_OFFSET, distance);
  ds_recipe_add(r, i, part);
  return i;
}

/* ---- bounds ---- */

typedef struct bounds {
  ds_vec3 low, high;
  bool tight;
} bounds;

static bounds bound_primitive(const ds_recipe *r, const ds_recipe_node *n) {
  ds_vec3 e = v3(n->r[0], n->r[0], n->r[0]), q = v3(n->r[1], n->r[1], n->r[1]);
  ds_recipe_segment box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  double wide = fmax(n->r[0], n->r[1]), far = n->r[0] + n->r[1];
  for (int32_t i = 0; i < n->count; i++) {
    const ds_recipe_segment *s = &r->segments[n->first + i];
    box.x0 = fmin(box.x0, s->x0), box.x1 = fmax(box.x1, s->x0);
    box.y0 = fmin(box.y0, s->y0), box.y1 = fmax(box.y1, s->y0);
  }
  switch (n->kind) {
    case DS_RECIPE_SPHERE:
      return (bounds){v3_sub(n->a, e), v3_add(n->a, e), true};
    case DS_RECIPE_CAPSULE:
      return (bounds){v3_min(v3_sub(n->a, e), v3_sub(n->b, q)), v3_max(v3_add(n->a, e), v3_add(n->b, q)), true};
    case DS_RECIPE_TORUS:
      return (bounds){v3(-far, -far, -n->r[1]), v3(far, far, n->r[1]), true};
    case DS_RECIPE_CONE:
      return (bounds){v3(-wide, -wide, -n->r[2]), v3(wide, wide, n->r[2]), true};
    case DS_RECIPE_BOX:
    case DS_RECIPE_ELLIPSOID:
      return (bounds){v3_neg(n->a), n->a, true};
    case DS_RECIPE_LATHE:
      return (bounds){v3(-box.x1, -box.x1, box.y0), v3(box.x1, box.x1, box.y1), true};
    case DS_RECIPE_EXTRUSION:
      return (bounds){v3(box.x0, box.y0, -n->r[2]), v3(box.x1, box.y1, n->r[2]), true};
    default:
      return (bounds){v3(-INFINITY, -INFINITY, -INFINITY), v3(INFINITY, INFINITY, INFINITY), true};
  }
}

static bool is_bounded(ds_vec3 low, ds_vec3 high) { return v3_finite(low) && v3_finite(high); }

static bounds bound_place(const ds_recipe_node *n, const ds_recipe_node *c) {
  if (!is_bounded(c->low, c->high)) return (bounds){c->low, c->high, false};
  ds_vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int k = 0; k < 8; k++) {
    ds_vec3 x = v3(k & 1 ? c->high.x : c->low.x, k & 2 ? c->high.y : c->low.y, k & 4 ? c->high.z : c->low.z);
    x = v3_add(n->a, mat3_mul_v3(&n->turn, v3_mul(n->b, x)));
    low = v3_min(low, x);
    high = v3_max(high, x);
  }
  return (bounds){low, high, c->tight && n->b.x == n->b.y && n->b.x == n->b.z};
}

static bounds bound_mirror(const ds_recipe_node *n, const ds_recipe_node *c) {
  ds_vec3 low = c->low, high = c->high;
  double *l = n->first == 0 ? &low.x : n->first == 1 ? &low.y : &low.z;
  double *h = n->first == 0 ? &high.x : n->first == 1 ? &high.y : &high.z;
  *h = fmax(fabs(*l), fabs(*h));
  *l = -*h;
  return (bounds){low, high, c->tight};
}

static bounds bound_operation(const ds_recipe *r, const ds_recipe_node *n) {
  const ds_recipe_node *c = &r->nodes[n->child];
  ds_vec3 low = c->low, high = c->high;
  double grow = n->kind == DS_RECIPE_UNION ? 0.25 * n->r[0] : 0;
  bool tight = c->tight && grow == 0;
  for (int32_t i = c->next; i >= 0 && n->kind != DS_RECIPE_SUBTRACTION; i = r->nodes[i].next) {
    bool both = n->kind == DS_RECIPE_UNION;
    tight = tight && both && r->nodes[i].tight;
    low = both ? v3_min(low, r->nodes[i].low) : v3_max(low, r->nodes[i].low);
    high = both ? v3_max(high, r->nodes[i].high) : v3_min(high, r->nodes[i].high);
    low = v3_sub(low, v3(grow, grow, grow)); /* every blend of the row may add its own */
    high = v3_add(high, v3(grow, grow, grow));
  }
  return (bounds){low, high, tight};
}

static bounds bounds_of(const ds_recipe *r, const ds_recipe_node *n) {
  if (n->child < 0) return bound_primitive(r, n);
  const ds_recipe_node *c = &r->nodes[n->child];
  ds_vec3 d = v3(n->r[0], n->r[0], n->r[0]);
  switch (n->kind) {
    case DS_RECIPE_PLACE:
      return bound_place(n, c);
    case DS_RECIPE_MIRROR:
      return bound_mirror(n, c);
    case DS_RECIPE_SHELL:
      return (bounds){c->low, c->high, c->tight};
    case DS_RECIPE_OFFSET:
      return (bounds){v3_sub(c->low, d), v3_add(c->high, d), false};
    default:
      return bound_operation(r, n);
  }
}

static void set_bounds(ds_recipe *r, int32_t i) {
  ds_recipe_node *n = &r->nodes[i];
  for (int32_t c = n->child; c >= 0; c = r->nodes[c].next) set_bounds(r, c);
  bounds b = bounds_of(r, n);
  n->low = b.low;
  n->high = b.high;
  n->tight = b.tight;
}

ds_status ds_recipe_finish(ds_recipe *r, int32_t root, ds_error *error) {
  if (r->failed) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while building a recipe");
  if (r->too_large || root < 0)
    return ds_fail(error, DS_ERROR_INPUT,
                   "the recipe has more than %d parts or %d profile segments; make it from fewer", DS_RECIPE_NODES_MAX,
                   DS_RECIPE_SEGMENTS_MAX);
  r->root = root;
  set_bounds(r, root);
  const ds_recipe_node *n = &r->nodes[root];
  if (!is_bounded(n->low, n->high))
    return ds_fail(error, DS_ERROR_INPUT,
                   "the recipe has no bounds; expected half-spaces only within intersections and subtractions");
  if (!(n->low.x < n->high.x && n->low.y < n->high.y && n->low.z < n->high.z))
    return ds_fail(error, DS_ERROR_INPUT,
                   "the recipe is empty; expected parts that overlap where they are intersected");
  return DS_OK;
}
