/* Touching faces: plane polygons of two blocks whose normals are opposite and whose planes are near, cut against each
 * other in the plane between them. Polygons need not be convex: they are cut into triangles, ear by ear. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "stand/build.h"

static const double opposite = -0.99;  /* cosine: faces of warped blocks are up to 8 degrees apart */
static const double least_area = 1e-6; /* of the smaller face: what has less is an edge along an edge */
enum { MOST_CORNERS = 64 };            /* of a face that is not cut into triangles by quadratic work alone */

bool ds_face_finish(ds_face *f) {
  ds_vec3 sum = {0, 0, 0};
  f->low = f->high = f->corners[0];
  for (int32_t i = 0; i < f->count; i++) { /* Newell */
    ds_vec3 a = v3_sub(f->corners[i], f->corners[0]), b = v3_sub(f->corners[(i + 1) % f->count], f->corners[0]);
    sum = v3_add(sum, v3_cross(a, b));
    f->low = v3_min(f->low, f->corners[i]);
    f->high = v3_max(f->high, f->corners[i]);
  }
  f->normal = v3_unit(sum);
  return v3_norm(sum) > 0;
}

typedef struct corner {
  double x, y;
  int32_t index; /* in its face */
} corner;

static double turn(corner a, corner b, corner c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

static bool is_ear(const corner *p, int32_t n, int32_t i) {
  corner a = p[(i + n - 1) % n], b = p[i], c = p[(i + 1) % n];
  if (!(turn(a, b, c) > 0)) return false;
  for (int32_t j = 0; j < n; j++) {
    if (j == i || j == (i + 1) % n || j == (i + n - 1) % n) continue;
    if (turn(a, b, p[j]) > 0 && turn(b, c, p[j]) > 0 && turn(c, a, p[j]) > 0) return false;
  }
  return true;
}

/* Triangles of a polygon that runs counter-clockwise; p is used up. Their number; corners that no ear cuts off, as of a
 * polygon that crosses itself, are dropped. */
static int32_t cut_ears(corner *triangles, corner *p, int32_t n) {
  int32_t count = 0;
  while (n >= 3) {
    int32_t i = 0;
    while (i < n && !is_ear(p, n, i)) i++;
    bool ear = i < n;
    if (!ear) i = 0;
    corner t[3] = {p[(i + n - 1) % n], p[i], p[(i + 1) % n]};
    if (ear) memcpy(triangles + 3 * count++, t, sizeof t);
    memmove(p + i, p + i + 1, (size_t)(n - 1 - i) * sizeof *p);
    n--;
  }
  return count;
}

/* Sutherland and Hodgman: the part of a convex polygon within a triangle. */
static int32_t clip(corner *p, int32_t n, const corner *triangle) {
  for (int32_t e = 0; e < 3; e++) {
    corner a = triangle[e], b = triangle[(e + 1) % 3], out[12];
    int32_t m = 0;
    for (int32_t i = 0; i < n; i++) {
      corner c = p[i], d = p[(i + 1) % n];
      double sc = turn(a, b, c), sd = turn(a, b, d);
      if (sc >= 0) out[m++] = c;
      if ((sc > 0 && sd < 0) || (sc < 0 && sd > 0)) {
        double t = sc / (sc - sd);
        out[m++] = (corner){c.x + t * (d.x - c.x), c.y + t * (d.y - c.y), -1};
      }
    }
    memcpy(p, out, (size_t)m * sizeof *p);
    n = m;
  }
  return n;
}

static double area_of(const corner *p, int32_t n) {
  double sum = 0;
  for (int32_t i = 1; i + 1 < n; i++) sum += turn(p[0], p[i], p[i + 1]);
  return 0.5 * sum;
}

/* A face in the plane's coordinates, as triangles that run counter-clockwise. */
static int32_t flatten(corner *triangles, const ds_face *f, ds_vec3 origin, ds_vec3 t1, ds_vec3 t2, bool reverse,
                       double *area) {
  corner p[MOST_CORNERS];
  int32_t n = f->count < MOST_CORNERS ? f->count : MOST_CORNERS;
  for (int32_t i = 0; i < n; i++) {
    int32_t k = reverse ? n - 1 - i : i;
    ds_vec3 d = v3_sub(f->corners[k], origin);
    p[i] = (corner){v3_dot(d, t1), v3_dot(d, t2), k};
  }
  int32_t count = cut_ears(triangles, p, n);
  *area = 0;
  for (int32_t i = 0; i < count; i++) *area += area_of(triangles + 3 * i, 3);
  return count;
}

int32_t ds_face_triangles(int32_t *triangles, const ds_face *face) {
  corner cut[3 * MOST_CORNERS];
  ds_vec3 t1, t2;
  double area;
  v3_tangents(&t1, &t2, face->normal);
  int32_t count = flatten(cut, face, face->corners[0], t1, t2, false, &area);
  for (int32_t i = 0; i < 3 * count; i++) triangles[i] = cut[i].index;
  return count;
}

/* Distance of a face's plane from a point of the middle plane, along the normal of that plane. */
static double height(const ds_face *f, ds_vec3 point, ds_vec3 normal) {
  ds_vec3 middle = {0, 0, 0};
  for (int32_t i = 0; i < f->count; i++) middle = v3_mad(middle, 1.0 / f->count, f->corners[i]);
  return v3_dot(f->normal, v3_sub(middle, point)) / v3_dot(f->normal, normal);
}

static void touch(ds_builder *builder, const ds_face *a, const ds_face *b, double tolerance, double mu) {
  ds_vec3 normal = v3_unit(v3_sub(a->normal, b->normal)), t1, t2, origin = a->corners[0];
  corner ta[3 * MOST_CORNERS], tb[3 * MOST_CORNERS];
  double area_a, area_b, area = 0;
  v3_tangents(&t1, &t2, normal);
  int32_t na = flatten(ta, a, origin, t1, t2, false, &area_a), nb = flatten(tb, b, origin, t1, t2, true, &area_b);
  bool partial = false;
  for (int32_t pass = 0; pass < 2; pass++) { /* first the area and the gaps, then the points */
    for (int32_t i = 0; i < na; i++)
      for (int32_t j = 0; j < nb; j++) {
        corner p[12];
        memcpy(p, ta + 3 * i, 3 * sizeof *p);
        int32_t n = clip(p, 3, tb + 3 * j);
        if (pass == 0) area += area_of(p, n);
        for (int32_t k = 0; k < n; k++) {
          ds_vec3 x = v3_mad(v3_mad(origin, p[k].x, t1), p[k].y, t2);
          double ha = height(a, x, normal), hb = height(b, x, normal);
          bool near = fabs(hb - ha) <= tolerance;
          if (pass == 0) partial = partial || !near;
          if (pass == 0 || !near) continue;
          ds_vec3 middle = v3_mad(x, 0.5 * (ha + hb), normal);
          ds_builder_point(builder, (ds_touch_point){a->block, b->block, middle, normal, hb - ha, mu, 0, partial});
        }
      }
    if (!(area > least_area * fmin(area_a, area_b))) return;
  }
}

static bool boxes_meet(const ds_face *a, const ds_face *b, double t) {
  return a->low.x <= b->high.x + t && b->low.x <= a->high.x + t && a->low.y <= b->high.y + t &&
         b->low.y <= a->high.y + t && a->low.z <= b->high.z + t && b->low.z <= a->high.z + t;
}

static int compare_low(const void *x, const void *y) {
  const ds_face *a = *(const ds_face *const *)x, *b = *(const ds_face *const *)y;
  if (a->low.x != b->low.x) return a->low.x < b->low.x ? -1 : 1;
  return a < b ? -1 : a > b;
}

void ds_faces_touch(ds_builder *builder, const ds_face *faces, int32_t count, double tolerance, double mu) {
  const ds_face **sorted = malloc(((size_t)count + 1) * sizeof *sorted);
  if (!sorted) {
    builder->failed = true;
    return;
  }
  for (int32_t i = 0; i < count; i++) sorted[i] = &faces[i];
  qsort(sorted, (size_t)count, sizeof *sorted, compare_low); /* sweep along x */
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = i + 1; j < count && sorted[j]->low.x <= sorted[i]->high.x + tolerance; j++) {
      const ds_face *a = sorted[i] < sorted[j] ? sorted[i] : sorted[j],
                    *b = sorted[i] < sorted[j] ? sorted[j] : sorted[i];
      const ds_block *blocks = builder->assembly->blocks;
      if (a->block == b->block || (blocks[a->block].support && blocks[b->block].support)) continue;
      if (v3_dot(a->normal, b->normal) > opposite || !boxes_meet(a, b, tolerance)) continue;
      touch(builder, a, b, tolerance, mu);
    }
  free(sorted);
}
