/* Signs of determinants without rounding: on which side of a plane or line a point lies.
 *
 * Three stages, each only if the one before cannot decide: doubles with a bound of their error; pairs of doubles, good
 * to about 100 bits, in 3D; all products of the exact differences summed as an expansion, which is exact. Sources:
 * Shewchuk 1997, Adaptive precision floating-point arithmetic and fast robust geometric predicates (bounds, two-sum,
 * expansions); Dekker 1971 (product, pairs). Limits: coordinates of at most about 1, and differences not below 1e-95 of
 * it, whose products would underflow. Needs IEEE doubles rounded to nearest and no contraction. */
#include <math.h>

#include "mesh/mesh.h"

/* ---- exact sums and products: x + y is the result, x its rounding ---- */

typedef struct pair {
  double x, y;
} pair;

static pair two_sum(double a, double b) {
  double x = a + b, bv = x - a, av = x - bv;
  return (pair){x, (a - av) + (b - bv)};
}

/* where |a| >= |b| */
static pair fast_sum(double a, double b) {
  double x = a + b;
  return (pair){x, b - (x - a)};
}

static pair two_product(double a, double b) {
  double ca = 134217729.0 * a, cb = 134217729.0 * b; /* 2^27 + 1 splits a double in halves */
  double ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh, x = a * b;
  return (pair){x, al * bl - (((x - ah * bh) - al * bh) - ah * bl)};
}

static pair pair_product(pair a, pair b) {
  pair p = two_product(a.x, b.x);
  return fast_sum(p.x, p.y + (a.x * b.y + a.y * b.x));
}

static pair pair_sum(pair a, pair b) {
  pair s = two_sum(a.x, b.x), t = two_sum(a.y, b.y);
  s = fast_sum(s.x, s.y + t.x);
  return fast_sum(s.x, s.y + t.y);
}

static pair pair_minus(pair a, pair b) { return pair_sum(a, (pair){-b.x, -b.y}); }

/* ---- expansions: sums of doubles that do not overlap, small ones first ---- */

typedef struct expansion {
  double e[200];
  int count;
} expansion;

static void expansion_add(expansion *s, double b) {
  int count = 0;
  if (b == 0) return;
  for (int i = 0; i < s->count; i++) {
    pair p = two_sum(b, s->e[i]);
    b = p.x;
    if (p.y != 0) s->e[count++] = p.y;
  }
  if (b != 0) s->e[count++] = b;
  s->count = count;
}

static int sign(double x) { return (x > 0) - (x < 0); }

static int expansion_sign(const expansion *s) { return s->count > 0 ? sign(s->e[s->count - 1]) : 0; }

/* s += k a b c with k = +1 or -1 */
static void add_products3(expansion *s, double k, pair a, pair b, pair c) {
  const double pa[2] = {a.x, a.y}, pb[2] = {b.x, b.y}, pc[2] = {k * c.x, k * c.y};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      if (pa[i] == 0 || pb[j] == 0) continue;
      pair ab = two_product(pa[i], pb[j]);
      for (int l = 0; l < 2; l++) {
        if (pc[l] == 0) continue;
        pair low = two_product(ab.y, pc[l]), high = two_product(ab.x, pc[l]);
        expansion_add(s, low.y);
        expansion_add(s, low.x);
        expansion_add(s, high.y);
        expansion_add(s, high.x);
      }
    }
}

static void add_products2(expansion *s, double k, pair a, pair b) {
  const double pa[2] = {a.x, a.y}, pb[2] = {k * b.x, k * b.y};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      pair p = two_product(pa[i], pb[j]);
      expansion_add(s, p.y);
      expansion_add(s, p.x);
    }
}

/* ---- predicates ---- */

/* Rows are the exact differences; the error of pairs is below 2^-96 of the sum of absolute products. */
static int orient3_close(const pair m[3][3], double permanent) {
  pair sum = {0, 0};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    pair minor = pair_minus(pair_product(m[1][j], m[2][k]), pair_product(m[1][k], m[2][j]));
    sum = pair_sum(sum, pair_product(m[0][i], minor));
  }
  if (fabs(sum.x) > 0x1p-96 * permanent) return sign(sum.x);
  expansion s;
  s.count = 0;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    add_products3(&s, 1, m[1][j], m[2][k], m[0][i]);
    add_products3(&s, -1, m[1][k], m[2][j], m[0][i]);
  }
  return expansion_sign(&s);
}

int ds_mesh_orient3(ds_vec3 a, ds_vec3 b, ds_vec3 c, ds_vec3 d) {
  double ax = a.x - d.x, ay = a.y - d.y, az = a.z - d.z;
  double bx = b.x - d.x, by = b.y - d.y, bz = b.z - d.z;
  double cx = c.x - d.x, cy = c.y - d.y, cz = c.z - d.z;
  double bxcy = bx * cy, cxby = cx * by, cxay = cx * ay, axcy = ax * cy, axby = ax * by, bxay = bx * ay;
  double value = az * (bxcy - cxby) + bz * (cxay - axcy) + cz * (axby - bxay);
  double permanent = (fabs(bxcy) + fabs(cxby)) * fabs(az) + (fabs(cxay) + fabs(axcy)) * fabs(bz) +
                     (fabs(axby) + fabs(bxay)) * fabs(cz);
  if (fabs(value) > 7.8e-16 * permanent) return sign(value); /* (7 + 56 u) u with u = 2^-53 [Shewchuk 1997] */
  if (permanent == 0) return 0;                              /* every product has a factor that is exactly 0 */
  const pair m[3][3] = {{two_sum(a.x, -d.x), two_sum(a.y, -d.y), two_sum(a.z, -d.z)},
                        {two_sum(b.x, -d.x), two_sum(b.y, -d.y), two_sum(b.z, -d.z)},
                        {two_sum(c.x, -d.x), two_sum(c.y, -d.y), two_sum(c.z, -d.z)}};
  return orient3_close(m, permanent);
}

int ds_mesh_orient2(ds_vec3 a, ds_vec3 b, ds_vec3 c, int axis) {
  double au = axis == 0 ? a.y : axis == 1 ? a.z : a.x, av = axis == 0 ? a.z : axis == 1 ? a.x : a.y;
  double bu = axis == 0 ? b.y : axis == 1 ? b.z : b.x, bv = axis == 0 ? b.z : axis == 1 ? b.x : b.y;
  double cu = axis == 0 ? c.y : axis == 1 ? c.z : c.x, cv = axis == 0 ? c.z : axis == 1 ? c.x : c.y;
  double left = (au - cu) * (bv - cv), right = (av - cv) * (bu - cu), value = left - right;
  if (fabs(value) > 3.4e-16 * (fabs(left) + fabs(right))) return sign(value); /* (3 + 16 u) u */
  if (left == 0 && right == 0) return 0;
  expansion s;
  s.count = 0;
  add_products2(&s, 1, two_sum(au, -cu), two_sum(bv, -cv));
  add_products2(&s, -1, two_sum(av, -cv), two_sum(bu, -cu));
  return expansion_sign(&s);
}
