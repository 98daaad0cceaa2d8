#include "stand/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/plane_hull.h"
#include "base/vec3.h"

bool ds_builder_begin(ds_builder *builder) {
  *builder = (ds_builder){.assembly = calloc(1, sizeof *builder->assembly)};
  builder->failed = builder->assembly == NULL;
  return !builder->failed;
}

void ds_builder_cancel(ds_builder *builder) {
  ds_assembly_free(builder->assembly);
  free(builder->touch);
  *builder = (ds_builder){0};
}

ds_block *ds_builder_block(ds_builder *builder) {
  ds_assembly *a = builder->assembly;
  if (!ds_array_reserve(&a->blocks, &builder->block_capacity, a->block_count + 1, sizeof *a->blocks)) {
    builder->failed = true;
    return NULL;
  }
  memset(&a->blocks[a->block_count], 0, sizeof *a->blocks);
  return &a->blocks[a->block_count++];
}

void ds_builder_point(ds_builder *builder, ds_touch_point p) {
  if (builder->failed) return;
  if (!ds_array_reserve(&builder->touch, &builder->touch_capacity, builder->touch_count + 1, sizeof *builder->touch)) {
    builder->failed = true;
    return;
  }
  if (p.a > p.b) { /* the lower block first */
    int32_t a = p.a;
    p.a = p.b, p.b = a;
    p.normal = v3_neg(p.normal);
  }
  builder->touch[builder->touch_count++] = p;
}

/* By blocks, then in the order in which they were added: the sort is made stable by positions. */
typedef struct place {
  int32_t a, b, at;
} place;

static int compare(const void *x, const void *y) {
  const place *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  if (a->b != b->b) return a->b < b->b ? -1 : 1;
  return a->at < b->at ? -1 : 1;
}

static bool sort_points(ds_builder *builder) {
  int32_t n = builder->touch_count;
  place *order = malloc(((size_t)n + 1) * sizeof *order);
  ds_touch_point *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  bool good = order && sorted;
  for (int32_t i = 0; i < n && good; i++) order[i] = (place){builder->touch[i].a, builder->touch[i].b, i};
  if (good && n > 0) {
    qsort(order, (size_t)n, sizeof *order, compare);
    for (int32_t i = 0; i < n; i++) sorted[i] = builder->touch[order[i].at];
    memcpy(builder->touch, sorted, (size_t)n * sizeof *sorted);
  }
  free(order);
  free(sorted);
  return good;
}

/* Points of one interface are in one plane: normals agree to 1e-6, and offsets to this share of the patch's size or to
 * the tolerance. */
static const double same_normal = 1 - 1e-12, same_offset = 1e-6;

static bool is_coplanar(const ds_touch_point *p, const ds_touch_point *q, double tolerance) {
  if (p->given != 0 || q->given != 0) return p->given == q->given;
  double size = v3_dist(p->point, q->point);
  return v3_dot(p->normal, q->normal) > same_normal && p->mu == q->mu &&
         fabs(v3_dot(p->normal, v3_sub(q->point, p->point))) <= fmax(tolerance, same_offset * size);
}

/* ---- the convex hull in the plane of a normal ---- */

/* The corners of n points, and their number; those that stand out by less than a billionth of the size are left out. Of
 * nearly equal points the first is kept: p has them in front, and their numbers in `from`. */
static int32_t hull(int32_t *corners, int32_t *from, ds_plane_point *p, int32_t n) {
  double size = 0;
  int32_t kept = 0;
  for (int32_t i = 1; i < n; i++) size = fmax(size, fmax(fabs(p[i].x - p[0].x), fabs(p[i].y - p[0].y)));
  for (int32_t i = 0; i < n; i++) {
    bool twice = false;
    for (int32_t j = 0; j < kept && !twice; j++) twice = hypot(p[i].x - p[j].x, p[i].y - p[j].y) <= 1e-9 * size;
    if (twice) continue;
    p[kept] = p[i];
    from[kept++] = from[i];
  }
  int32_t count = ds_plane_hull(corners, p, kept, 1e-9 * size * size);
  for (int32_t i = 0; i < count; i++) corners[i] = from[corners[i]];
  return count;
}

/* The interface of those points of one pair of blocks that are members. */
static bool add_interface(ds_builder *builder, const ds_touch_point *p, const bool *member, int32_t count,
                          int32_t *interface_capacity, int32_t *point_capacity) {
  ds_assembly *a = builder->assembly;
  size_t size = (size_t)count + 1;
  ds_plane_point *plane = malloc(size * sizeof *plane);
  int32_t *in = malloc(size * sizeof *in), *out = malloc(3 * size * sizeof *out), n = 0, first = -1, corners = 0;
  bool good = plane && in && out, partial = false;
  for (int32_t i = 0; good && i < count; i++) {
    if (!member[i]) continue;
    if (first < 0) first = i;
    ds_vec3 t1, t2, d = v3_sub(p[i].point, p[first].point);
    v3_tangents(&t1, &t2, p[first].normal);
    plane[n] = (ds_plane_point){v3_dot(d, t1), v3_dot(d, t2)};
    out[n] = in[n] = i;
    n++;
    partial = partial || p[i].partial;
    a->widest_gap = fmax(a->widest_gap, p[i].gap);
    a->deepest_overlap = fmax(a->deepest_overlap, -p[i].gap);
  }
  if (good) corners = p[first].given != 0 ? n : hull(out, in, plane, n);
  good = good && ds_array_reserve(&a->interfaces, interface_capacity, a->interface_count + 1, sizeof *a->interfaces) &&
         ds_array_reserve(&a->points, point_capacity, a->point_count + corners, sizeof *a->points);
  if (good) {
    a->interfaces[a->interface_count++] = (ds_interface){.a = p[first].a,
                                                         .b = p[first].b,
                                                         .normal = v3_unit(p[first].normal),
                                                         .first = a->point_count,
                                                         .count = corners,
                                                         .mu = p[first].mu,
                                                         .partial = partial};
    for (int32_t i = 0; i < corners; i++) a->points[a->point_count++] = p[out[i]].point;
  }
  free(plane);
  free(in);
  free(out);
  return good;
}

ds_assembly *ds_builder_end(ds_builder *builder) {
  ds_touch_point *p = builder->touch;
  int32_t interface_capacity = 0, point_capacity = 0;
  bool *member = calloc((size_t)builder->touch_count + 1, 1), *done = calloc((size_t)builder->touch_count + 1, 1);
  bool good = !builder->failed && member && done && sort_points(builder);
  for (int32_t i = 0; i < builder->touch_count && good; i++) {
    if (done[i]) continue;
    int32_t end = i;
    while (end < builder->touch_count && p[end].a == p[i].a && p[end].b == p[i].b) end++;
    for (int32_t j = i; j < end; j++) {
      member[j] = !done[j] && is_coplanar(&p[i], &p[j], builder->assembly->tolerance);
      done[j] = done[j] || member[j];
    }
    good = add_interface(builder, p + i, member + i, end - i, &interface_capacity, &point_capacity);
  }
  free(member);
  free(done);
  ds_assembly *a = good ? builder->assembly : NULL;
  if (good) builder->assembly = NULL;
  ds_builder_cancel(builder);
  return a;
}
