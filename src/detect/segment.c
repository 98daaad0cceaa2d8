/* Segments: nearest points, the stretch that two share side by side, clipping to a face; contacts of round things.
 *
 * Nearest points of two segments follow from the 2x2 normal equations, each parameter clamped to [0, 1] in turn. */
#include "detect/pairs.h"

static const double parallel_limit = 0.1; /* sine of the angle from which two edges only cross */

double ds_segment_nearest(const ds_segment *s, ds_vec3 x) {
  ds_vec3 d = v3_sub(s->b, s->a);
  double l2 = v3_norm2(d);
  return l2 > 0 ? ds_clamp(v3_dot(d, v3_sub(x, s->a)) / l2, 0, 1) : 0;
}

double ds_segment_closest(double *s, double *t, const ds_segment *a, const ds_segment *b) {
  ds_vec3 da = v3_sub(a->b, a->a), db = v3_sub(b->b, b->a), r = v3_sub(a->a, b->a);
  double aa = v3_norm2(da), bb = v3_norm2(db), ab = v3_dot(da, db);
  ds_vec3 c = v3_cross(da, db);
  double det = v3_norm2(c);
  *s = det > 1e-20 * aa * bb ? ds_clamp(v3_dot(v3_cross(db, r), c) / det, 0, 1) : 0.5;
  *t = bb > 0 ? (ab * *s + v3_dot(db, r)) / bb : 0;
  *t = ds_clamp(*t, 0, 1);
  *s = aa > 0 ? ds_clamp((ab * *t - v3_dot(da, r)) / aa, 0, 1) : 0;
  *t = ds_segment_nearest(b, ds_segment_at(a, *s));
  return v3_dist(ds_segment_at(a, *s), ds_segment_at(b, *t));
}

int ds_segment_overlap(double s[2], double t[2], const ds_segment *a, const ds_segment *b, ds_vec3 n, double lateral) {
  ds_vec3 da = v3_sub(a->b, a->a), db = v3_sub(b->b, b->a);
  double la = v3_norm(da), lb = v3_norm(db);
  if (!(la > 0 && lb > 0)) return 0;
  ds_vec3 ea = v3_scale(1 / la, da), eb = v3_scale((v3_dot(da, db) < 0 ? -1 : 1) / lb, db);
  double sine = v3_norm(v3_cross(ea, eb));
  if (sine >= parallel_limit) return 0;
  /* coordinate x along e, 0 at a->a */
  ds_vec3 e = v3_unit(v3_add(ea, eb)), side = v3_cross(n, e);
  double slope_a = v3_dot(da, e), slope_b = v3_dot(db, e), x0 = v3_dot(e, v3_sub(b->a, a->a)), x1 = x0 + slope_b;
  double low = fmax(0, fmin(x0, x1)), high = fmin(slope_a, fmax(x0, x1));
  if (!(high - low > 1e-6 * fmin(la, lb))) return 0;
  /* how far a lies beside b, at both ends: linear in x */
  ds_vec3 rl = v3_sub(ds_segment_at(a, low / slope_a), ds_segment_at(b, (low - x0) / slope_b));
  ds_vec3 rh = v3_sub(ds_segment_at(a, high / slope_a), ds_segment_at(b, (high - x0) / slope_b));
  double sl = v3_dot(side, rl), sh = v3_dot(side, rh), limit = lateral * (1 - sine / parallel_limit), change = sh - sl;
  double cut0 = 0, cut1 = 1;
  if (fabs(change) > 1e-12 * limit) {
    double u = (-limit - sl) / change, w = (limit - sl) / change;
    cut0 = fmax(0, fmin(u, w));
    cut1 = fmin(1, fmax(u, w));
  } else if (fabs(sl) > limit) {
    return 0;
  }
  if (!(cut1 >= cut0)) return 0;
  int count = (cut1 - cut0) * (high - low) > 1e-9 * fmin(la, lb) ? 2 : 1;
  for (int i = 0; i < count; i++) {
    double x = low + (i ? cut1 : cut0) * (high - low);
    s[i] = ds_clamp(x / slope_a, 0, 1);
    t[i] = ds_clamp((x - x0) / slope_b, 0, 1);
  }
  return count;
}

bool ds_segment_clip(double *t0, double *t1, const ds_segment *s, const ds_hull *h, int32_t face, double eps) {
  ds_vec3 n = h->normals[face];
  *t0 = 0;
  *t1 = 1;
  for (int32_t i = h->face_start[face]; i < h->face_start[face + 1]; i++) {
    ds_vec3 v = h->vertices[h->face_vertex[i]], w = h->vertices[h->face_vertex[ds_next_in_face(h, face, i)]];
    ds_vec3 in = v3_unit(v3_cross(n, v3_sub(w, v)));
    double a = v3_dot(in, v3_sub(s->a, v)), b = v3_dot(in, v3_sub(s->b, v));
    if (a < -eps && b < -eps) return false;
    if (a < -eps) *t0 = fmax(*t0, a / (a - b));
    if (b < -eps) *t1 = fmin(*t1, a / (a - b));
  }
  return *t1 >= *t0;
}

void ds_emit_round(ds_manifold *m, const ds_query *query, ds_vec3 xa, double ra, ds_vec3 xb, double rb,
                   ds_vec3 fallback_normal, uint32_t feature) {
  ds_vec3 d = v3_sub(xa, xb);
  double distance = v3_norm(d), gap = distance - ra - rb;
  if (!(gap < query->reach)) return;
  ds_vec3 n = distance > 1e-12 * (ra + rb) ? v3_scale(1 / distance, d) : fallback_normal;
  ds_emit(m, v3_mad(xb, rb + 0.5 * gap, n), n, gap, feature);
}
