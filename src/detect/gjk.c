/* Nearest points of two convex sets, from their support points (Gilbert, Johnson and Keerthi 1988).
 *
 * The simplex of at most four differences of support points is reduced, in each round, to the part nearest to the
 * origin. For polytopes the search ends exactly, when the next support point is already there; for cylinders when the
 * distance no longer shrinks by more than rounding. Regions of triangle and tetrahedron are distinguished by signed
 * areas and volumes (Ericson 2005). */
#include "detect/pairs.h"

typedef struct simplex {
  int32_t count;
  ds_vec3 w[4]; /* xa - xb */
  ds_vec3 xa[4], xb[4];
  int32_t ia[4], ib[4];
  double weight[4];
} simplex;

static ds_vec3 support(int32_t *index, const ds_convex *c, ds_vec3 direction) {
  ds_vec3 d = mat3_tmul_v3(&c->r, direction), x;
  if (c->points) {
    double best = -INFINITY;
    *index = 0;
    for (int32_t i = 0; i < c->count; i++) {
      double g = v3_dot(d, c->points[i]);
      if (g > best) {
        best = g;
        *index = i;
      }
    }
    x = c->points[*index];
  } else if (c->shape) {
    x = ds_shape_ops_of(c->shape)->support(c->shape, d);
    *index = -1;
  } else {
    double across = sqrt(d.x * d.x + d.y * d.y), s = across > 0 ? c->radius / across : 0;
    x = v3(s * d.x, s * d.y, d.z >= 0 ? c->half_length : -c->half_length);
    *index = -1;
  }
  return v3_add(c->p, mat3_mul_v3(&c->r, x));
}

/* The points listed, with their weights. */
static void keep(simplex *kept, const simplex *s, int count, const int *which, const double *weight) {
  kept->count = count;
  for (int i = 0; i < count; i++) {
    int k = which[i];
    kept->w[i] = s->w[k];
    kept->xa[i] = s->xa[k];
    kept->xb[i] = s->xb[k];
    kept->ia[i] = s->ia[k];
    kept->ib[i] = s->ib[k];
    kept->weight[i] = weight[i];
  }
}

/* Nearest point of part of the simplex to the origin: points used, weights; returns the point itself. */
static ds_vec3 nearest_segment(int *count, int which[3], double weight[3], const simplex *s, int i, int j) {
  ds_vec3 a = s->w[i], d = v3_sub(s->w[j], a);
  double l2 = v3_norm2(d), t = l2 > 0 ? -v3_dot(a, d) / l2 : 0;
  *count = 1;
  which[0] = t <= 0 ? i : j;
  weight[0] = 1;
  if (t <= 0) return a;
  if (t >= 1) return s->w[j];
  *count = 2;
  which[0] = i;
  which[1] = j;
  weight[0] = 1 - t;
  weight[1] = t;
  return v3_mad(a, t, d);
}

static ds_vec3 nearest_triangle(int *count, int which[3], double weight[3], const simplex *s, const int t[3]) {
  ds_vec3 a = s->w[t[0]], b = s->w[t[1]], c = s->w[t[2]], n = v3_cross(v3_sub(b, a), v3_sub(c, a));
  double n2 = v3_norm2(n);
  double wa = v3_dot(n, v3_cross(b, c)), wb = v3_dot(n, v3_cross(c, a)), wc = v3_dot(n, v3_cross(a, b));
  if (n2 > 0 && wa > 0 && wb > 0 && wc > 0) {
    double sum = wa + wb + wc;
    *count = 3;
    for (int i = 0; i < 3; i++) which[i] = t[i];
    weight[0] = wa / sum;
    weight[1] = wb / sum;
    weight[2] = wc / sum;
    return v3_scale(v3_dot(n, a) / n2, n);
  }
  /* outside or degenerate: the nearest of the three sides */
  double best = INFINITY;
  ds_vec3 x = a;
  for (int i = 0; i < 3; i++) {
    int cn, wh[3];
    double we[3];
    ds_vec3 y = nearest_segment(&cn, wh, we, s, t[i], t[(i + 1) % 3]);
    if (v3_norm2(y) < best) {
      best = v3_norm2(y);
      x = y;
      *count = cn;
      for (int k = 0; k < cn; k++) {
        which[k] = wh[k];
        weight[k] = we[k];
      }
    }
  }
  return x;
}

/* The part of the simplex that is nearest to the origin, and where; false if it holds the origin. */
static bool reduce(simplex *part, ds_vec3 *v, const simplex *s) {
  int count = 1, which[3] = {0, 0, 0};
  double weight[3] = {1, 0, 0};
  if (s->count == 1) {
    *v = s->w[0];
  } else if (s->count == 2) {
    *v = nearest_segment(&count, which, weight, s, 0, 1);
  } else if (s->count == 3) {
    *v = nearest_triangle(&count, which, weight, s, (int[3]){0, 1, 2});
  } else {
    static const int faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    double best = INFINITY;
    for (int f = 0; f < 4; f++) {
      ds_vec3 a = s->w[faces[f][0]];
      ds_vec3 n = v3_cross(v3_sub(s->w[faces[f][1]], a), v3_sub(s->w[faces[f][2]], a));
      ds_vec3 inward = v3_sub(s->w[faces[f][3]], a);
      double inner = v3_dot(n, inward), origin = -v3_dot(n, a);
      /* the origin is on the inner side, of a tetrahedron that is not flat */
      if (inner * origin > 0 && fabs(inner) > 1e-10 * v3_norm(n) * v3_norm(inward)) continue;
      int cn, wh[3];
      double we[3];
      ds_vec3 x = nearest_triangle(&cn, wh, we, s, faces[f]);
      if (v3_norm2(x) < best) {
        best = v3_norm2(x);
        *v = x;
        count = cn;
        for (int k = 0; k < cn; k++) {
          which[k] = wh[k];
          weight[k] = we[k];
        }
      }
    }
    if (best == INFINITY) return false;
  }
  keep(part, s, count, which, weight);
  return true;
}

void ds_gjk(ds_closest *closest, const ds_convex *a, const ds_convex *b, ds_vec3 direction, double far) {
  simplex two[2], *s = &two[0], *part = &two[1];
  s->count = 0;
  closest->overlap = closest->far = false;
  ds_vec3 v = direction;
  double scale = 0, last = INFINITY;
  bool apart = false; /* a separating direction was seen: whatever rounding says later, the sets do not meet */
  for (int round = 0; round < 128; round++) {
    int k = s->count;
    s->xa[k] = support(&s->ia[k], a, v3_neg(v));
    s->xb[k] = support(&s->ib[k], b, v);
    s->w[k] = v3_sub(s->xa[k], s->xb[k]);
    scale = fmax(scale, v3_norm(s->w[k]));
    if (round > 0) {
      bool known = false;
      for (int i = 0; i < k; i++) known = known || v3_norm2(v3_sub(s->w[i], s->w[k])) <= 1e-32 * scale * scale;
      if (known || v3_norm2(v) - v3_dot(v, s->w[k]) <= 1e-15 * v3_norm2(v)) break;
    }
    double along = v3_dot(v, s->w[k]);
    apart = apart || (round > 0 && along > 0);
    if (along > far * v3_norm(v)) { /* a plane square to v holds them so far apart */
      closest->far = true;
      return;
    }
    s->count = k + 1;
    ds_vec3 next;
    bool inside = !reduce(part, &next, s) || v3_norm(next) <= 1e-14 * scale;
    if (inside && !apart) {
      closest->overlap = true;
      return;
    }
    if (inside || !(v3_norm2(next) < last)) {
      s->count = k;
      break;
    }
    simplex *spare = s;
    s = part, part = spare;
    v = next;
    last = v3_norm2(v);
  }
  closest->distance = v3_norm(v);
  closest->v = v;
  closest->count = s->count;
  for (int i = 0; i < s->count; i++) {
    closest->ia[i] = s->ia[i];
    closest->ib[i] = s->ib[i];
    closest->weight[i] = s->weight[i];
    closest->xa[i] = s->xa[i];
    closest->xb[i] = s->xb[i];
  }
}
