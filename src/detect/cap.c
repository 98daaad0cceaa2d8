/* Patches of cylinders: rim points, the lowest line, and what lies under a cap.
 *
 * A cap over a plane surface touches at points of its rim that are fixed in the body (8, or more over the disc), so
 * that they persist while a disc spins, and at the exact lowest point of the rim once it is tilted. A lying cylinder
 * touches with the two ends of its lowest line, which are the same lowest points. Corners of a polygon under the cap,
 * and crossings of its sides with the rim, complete the patch.
 *
 * Features: 0, 1 ends of the lowest line; 8, 9 crossings of two rims; 16 + k + 256 [upper cap] rim points; 0x1000 + v
 * vertices; 0x10000 + 2 side + end crossings of a side with the rim. */
#include "detect/pairs.h"

static const double tilt_tolerance = 1e-6; /* sine below which no point of a rim is the lowest */
static const double facing = 0.1;          /* cosine from which a cap or face faces the floor */
static const double near_flat = 0.9;       /* cosine from which a floor's corners are searched under a cap */
enum { RIM = 16, VERTEX = 0x1000, SIDE = 0x10000, MAX_RIM = 232 };

ds_can ds_can_in_frame(const ds_placed *a, const ds_placed *frame) {
  ds_mat3 r = ds_mat3_tmul(&frame->r, &a->r);
  return (ds_can){mat3_tmul_v3(&frame->r, v3_sub(a->p, frame->p)),
                  v3(r.m[2], r.m[5], r.m[8]),
                  a->shape->radius,
                  a->shape->half_length,
                  v3(r.m[0], r.m[3], r.m[6]),
                  v3(r.m[1], r.m[4], r.m[7])};
}

double ds_can_low(const ds_can *can, ds_vec3 n) {
  return v3_dot(n, can->c) - can->radius * v3_norm(v3_cross(n, can->u)) - can->half_length * fabs(v3_dot(n, can->u));
}

ds_vec3 ds_can_rim_low(const ds_can *can, ds_vec3 n, double cap) {
  /* by products, so that it stays square to the axis also where n nearly is along it */
  ds_vec3 down = v3_unit(v3_cross(can->u, v3_cross(can->u, n)));
  return v3_mad(v3_mad(can->c, cap * can->half_length, can->u), can->radius, down);
}

/* Length of r seen along n. */
static double across(ds_vec3 n, ds_vec3 r) { return v3_norm(v3_mad(r, -v3_dot(r, n), n)); }

static void add_spot(ds_spots *s, const ds_query *query, const ds_floor *f, ds_vec3 x, double gap, uint32_t feature) {
  if (!(gap < query->reach) || s->count >= 256) return;
  /* once per feature and once per place; but the lowest points move over the rim and hide no other */
  for (int32_t i = 0; i < s->count; i++)
    if (s->feature[i] == feature ||
        (s->feature[i] > 1 && fabs(s->gap[i] - gap) <= 2 * f->eps && across(f->n, v3_sub(s->x[i], x)) <= 2 * f->eps))
      return;
  /* x is on the floor's side or the body's: keep the middle between both surfaces */
  double over = v3_dot(f->n, x) - f->d;
  s->x[s->count] = v3_mad(x, 0.5 * gap - over, f->n);
  s->gap[s->count] = gap;
  s->feature[s->count++] = feature;
}

/* Whether the projection of x lies on the floor. */
static bool on_floor(const ds_floor *f, ds_vec3 x) {
  if (f->disc) {
    return across(f->n, v3_sub(x, f->disc->c)) <= f->disc->radius + f->eps;
  }
  if (!f->hull) return true;
  const ds_hull *h = f->hull;
  for (int32_t i = h->face_start[f->face]; i < h->face_start[f->face + 1]; i++) {
    ds_vec3 v = h->vertices[h->face_vertex[i]], w = h->vertices[h->face_vertex[ds_next_in_face(h, f->face, i)]];
    ds_vec3 in = v3_cross(f->n, v3_sub(w, v));
    if (v3_dot(in, v3_sub(x, v)) < -f->eps * v3_norm(in)) return false;
  }
  return true;
}

/* Parameters where a segment, projected along n, enters and leaves a disc; false if it misses it or comes no deeper
 * into it than eps. */
static bool cut_disc(double *t0, double *t1, ds_vec3 a, ds_vec3 b, ds_vec3 c, ds_vec3 n, double radius, double eps) {
  ds_vec3 d = v3_sub(b, a), r = v3_sub(a, c);
  d = v3_mad(d, -v3_dot(d, n), n);
  r = v3_mad(r, -v3_dot(r, n), n);
  double dd = v3_norm2(d), dr = v3_dot(d, r), rr = v3_norm2(r) - radius * radius, det = dr * dr - dd * rr;
  if (!(dd > 1e-24 * radius * radius) || det < 0) return false;
  if (across(n, v3_mad(r, -dr / dd, d)) > radius - eps) return false;
  *t0 = (-dr - sqrt(det)) / dd;
  *t1 = (-dr + sqrt(det)) / dd;
  return true;
}

static bool clip_to_floor(double *t0, double *t1, const ds_floor *f, const ds_segment *s) {
  *t0 = 0;
  *t1 = 1;
  if (f->hull) return ds_segment_clip(t0, t1, s, f->hull, f->face, f->eps);
  if (!f->disc) return true;
  double u, w;
  if (!cut_disc(&u, &w, s->a, s->b, f->disc->c, f->n, f->disc->radius + f->eps, 0)) return on_floor(f, s->a);
  *t0 = fmax(0, u);
  *t1 = fmin(1, w);
  return *t1 >= *t0;
}

/* Body-fixed points of a cap: 8 on the rim, and, if more are requested, groups of four that fill the disc evenly: the
 * j-th group lies at the radius that holds its share of the area, turned by the golden angle, so that friction of a
 * disc under even pressure comes out isotropic. Returns the number of points; fills point k where k is in range. */
static int32_t cap_point(ds_vec3 *x, const ds_can *can, ds_vec3 middle, int32_t wanted, int32_t k) {
  const double golden = 2.39996322972865332;
  int32_t most = wanted > MAX_RIM ? MAX_RIM : wanted, fours = most > 8 ? (most - 8 + 2) / 4 : 0, total = 8 + 4 * fours;
  double angle = 0.25 * DS_PI * k, r = can->radius;
  if (k >= 8) {
    int32_t j = (k - 8) / 4;
    angle = golden * j + 0.5 * DS_PI * ((k - 8) % 4);
    r *= sqrt(4 * (j + 0.5) / total);
  }
  if (k < total) *x = v3_mad(v3_mad(middle, r * cos(angle), can->e1), r * sin(angle), can->e2);
  return total;
}

/* Corners of a floor's polygon under a cap with outward normal w, and crossings of its sides with the rim. */
static void add_floor_polygon(ds_spots *s, const ds_query *query, const ds_can *can, const ds_floor *f, ds_vec3 middle,
                              ds_vec3 w) {
  const ds_hull *h = f->hull;
  double wn = v3_dot(w, f->n);
  for (int32_t i = h->face_start[f->face]; i < h->face_start[f->face + 1]; i++) {
    int32_t j = ds_next_in_face(h, f->face, i), v = h->face_vertex[i];
    ds_vec3 p = h->vertices[v], q = h->vertices[h->face_vertex[j]];
    double gp = v3_dot(w, v3_sub(middle, p)) / wn, gq = v3_dot(w, v3_sub(middle, q)) / wn;
    ds_vec3 pc = v3_mad(p, gp, f->n), qc = v3_mad(q, gq, f->n); /* on the cap's plane */
    double rp = v3_dist(pc, middle), rq = v3_dist(qc, middle), t[2];
    if (rp <= can->radius + f->eps) add_spot(s, query, f, p, gp, VERTEX + (uint32_t)v);
    if (!cut_disc(&t[0], &t[1], pc, qc, middle, w, can->radius, f->eps)) continue;
    double skip = 2 * f->eps / fmax(v3_dist(pc, qc), f->eps);
    for (int e = 0; e < 2; e++)
      if (t[e] > skip && t[e] < 1 - skip && fabs((e ? rq : rp) - can->radius) > f->eps)
        add_spot(s, query, f, v3_mad(p, t[e], v3_sub(q, p)), gp + t[e] * (gq - gp),
                 SIDE + 2 * ((uint32_t)i & 0x7fffu) + (uint32_t)e);
  }
}

/* The floor is another cap: its rim points under this cap, and the crossings of both rims. */
static void add_floor_disc(ds_spots *s, const ds_query *query, const ds_can *can, const ds_floor *f, ds_vec3 middle,
                           ds_vec3 w) {
  const ds_can *o = f->disc;
  double wn = v3_dot(w, f->n);
  ds_vec3 d = v3_sub(middle, o->c);
  d = v3_mad(d, -v3_dot(d, f->n), f->n);
  double apart = v3_norm(d), r0 = o->radius, r1 = can->radius;
  if (apart + r1 <= r0 + f->eps) return;
  for (int32_t k = 0, count = 1; k < count; k++) {
    ds_vec3 x = o->c;
    count = cap_point(&x, o, o->c, query->per_face, k);
    double g = v3_dot(w, v3_sub(middle, x)) / wn;
    if (v3_dist(v3_mad(x, g, f->n), middle) <= r1 + f->eps)
      add_spot(s, query, f, x, g, DS_SPOT_RIM_OF_FLOOR + RIM + (uint32_t)k);
  }
  if (apart + r0 <= r1 + f->eps || apart >= r0 + r1) return;
  double along = (apart * apart + r0 * r0 - r1 * r1) / (2 * apart), across2 = r0 * r0 - along * along;
  ds_vec3 e = v3_scale(1 / apart, d), t = v3_cross(f->n, e);
  for (int i = 0; i < 2 && across2 > 0; i++) {
    double angle = atan2((i ? 1 : -1) * sqrt(across2), along), gap = 0;
    ds_vec3 x = o->c;
    /* exact for parallel caps; a few steps of Newton's method for tilted ones, whose rim is an ellipse seen along n */
    double miss = INFINITY;
    for (int k = 0; k < 12 && fabs(miss) > 1e-14 * r1; k++) {
      ds_vec3 r = v3_add(v3_scale(r0 * cos(angle), e), v3_scale(r0 * sin(angle), t));
      ds_vec3 dr = v3_add(v3_scale(-r0 * sin(angle), e), v3_scale(r0 * cos(angle), t));
      x = v3_add(o->c, r);
      gap = v3_dot(w, v3_sub(middle, x)) / wn;
      ds_vec3 y = v3_sub(v3_mad(x, gap, f->n), middle), dy = v3_mad(dr, -v3_dot(w, dr) / wn, f->n);
      double radius = v3_norm(y), rate = v3_dot(y, dy) / radius;
      miss = radius - r1;
      if (!(fabs(rate) > 1e-6 * r0)) break;
      angle -= miss / rate;
    }
    if (fabs(miss) <= f->eps) add_spot(s, query, f, x, gap, 8 + (uint32_t)i);
  }
}

void ds_can_over_floor(ds_spots *s, const ds_query *query, const ds_can *can, const ds_floor *f) {
  double c = v3_dot(f->n, can->u), sine = v3_norm(v3_cross(f->n, can->u));
  if (sine > tilt_tolerance) {
    ds_segment line = {ds_can_rim_low(can, f->n, -1), ds_can_rim_low(can, f->n, 1)};
    double t[2];
    if (clip_to_floor(&t[0], &t[1], f, &line))
      for (int i = 0; i < 2; i++) {
        ds_vec3 x = ds_segment_at(&line, t[i]);
        add_spot(s, query, f, x, v3_dot(f->n, x) - f->d, (uint32_t)i);
      }
  }
  if (fabs(c) <= facing) return;
  double cap = c > 0 ? -1 : 1;
  ds_vec3 w = v3_scale(cap, can->u), middle = v3_mad(can->c, can->half_length, w);
  bool flat = fabs(c) > near_flat, covered = false;
  if (flat && f->disc) {
    ds_vec3 d = v3_sub(middle, f->disc->c);
    double apart = v3_norm(v3_mad(d, -v3_dot(d, f->n), f->n));
    covered = apart + f->disc->radius <= can->radius + f->eps && apart + can->radius > f->disc->radius + f->eps;
  }
  for (int32_t k = 0, count = 1; k < count && !covered; k++) {
    ds_vec3 x = middle;
    count = cap_point(&x, can, middle, query->per_face, k);
    double gap = v3_dot(f->n, x) - f->d;
    if (gap < query->reach && on_floor(f, x)) add_spot(s, query, f, x, gap, RIM + (uint32_t)k + (cap > 0 ? 256u : 0u));
  }
  if (!flat) return;
  if (f->hull) add_floor_polygon(s, query, can, f, middle, w);
  if (f->disc) add_floor_disc(s, query, can, f, middle, w);
}

/* Whether x, projected along n, lies in a face that looks against n. */
static bool under_face(const ds_hull *h, int32_t face, ds_vec3 x, ds_vec3 n, double eps) {
  for (int32_t i = h->face_start[face]; i < h->face_start[face + 1]; i++) {
    ds_vec3 v = h->vertices[h->face_vertex[i]], w = h->vertices[h->face_vertex[ds_next_in_face(h, face, i)]];
    ds_vec3 in = v3_cross(v3_sub(w, v), n);
    if (v3_dot(in, v3_sub(x, v)) < -eps * v3_norm(in)) return false;
  }
  return true;
}

void ds_hull_over_floor(ds_spots *s, const ds_query *query, const ds_hull *h, const ds_floor *f) {
  const ds_can *disc = f->disc;
  for (int32_t face = 0; face < h->face_count; face++) {
    double c = v3_dot(f->n, h->normals[face]), least = INFINITY;
    if (c > -facing) continue;
    for (int32_t i = h->face_start[face]; i < h->face_start[face + 1]; i++)
      least = fmin(least, v3_dot(f->n, h->vertices[h->face_vertex[i]]) - f->d);
    if (least >= query->reach) continue;
    for (int32_t i = h->face_start[face]; i < h->face_start[face + 1]; i++) {
      int32_t v = h->face_vertex[i], v1 = h->face_vertex[ds_next_in_face(h, face, i)];
      ds_vec3 p = h->vertices[v], q = h->vertices[v1];
      if (on_floor(f, p)) add_spot(s, query, f, p, v3_dot(f->n, p) - f->d, VERTEX + (uint32_t)v);
      double t[2], skip = 2 * f->eps / fmax(v3_dist(p, q), f->eps);
      /* an edge of two such faces is taken once, from its lower vertex */
      if (v > v1 || !cut_disc(&t[0], &t[1], p, q, disc->c, f->n, disc->radius, f->eps)) continue;
      for (int e = 0; e < 2; e++) {
        ds_vec3 x = v3_mad(p, t[e], v3_sub(q, p));
        if (t[e] > skip && t[e] < 1 - skip)
          add_spot(s, query, f, x, v3_dot(f->n, x) - f->d, SIDE + 2 * ((uint32_t)i & 0x7fffu) + (uint32_t)e);
      }
    }
    for (int32_t k = 0, count = 1; k < count; k++) {
      ds_vec3 x = disc->c;
      count = cap_point(&x, disc, disc->c, query->per_face, k);
      double g = (h->offsets[face] - v3_dot(h->normals[face], x)) / c;
      if (g < query->reach && under_face(h, face, x, f->n, f->eps))
        add_spot(s, query, f, x, g, RIM + (uint32_t)k + (v3_dot(f->n, disc->u) > 0 ? 256u : 0u));
    }
  }
}

void ds_emit_spots(ds_manifold *m, const ds_spots *s, const ds_placed *frame, ds_vec3 normal) {
  ds_vec3 n = mat3_mul_v3(&frame->r, normal);
  for (int32_t i = 0; i < s->count; i++)
    ds_emit(m, ds_placed_point(frame, s->x[i]), n, s->gap[i], DS_FEATURE(3, s->feature[i]));
}
