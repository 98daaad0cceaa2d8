/* The direction between the nearest points of two curves, each a circle, a line or a point.
 *
 * Newton's method on f(s, t) = |x(s) - y(t)|²/2 from a good start. It makes exact, to rounding, what the search by
 * support points (gjk.c) finds only to half the digits where rims of cylinders meet. */
#include "detect/pairs.h"

static ds_vec3 point_at(const ds_curve *c, double s, ds_vec3 *first, ds_vec3 *second) {
  if (c->radius == 0) {
    *first = c->e1;
    *second = v3(0, 0, 0);
    return v3_mad(c->c, s, c->e1);
  }
  ds_vec3 r = v3_add(v3_scale(c->radius * cos(s), c->e1), v3_scale(c->radius * sin(s), c->e2));
  *first = v3_add(v3_scale(-c->radius * sin(s), c->e1), v3_scale(c->radius * cos(s), c->e2));
  *second = v3_neg(r);
  return v3_add(c->c, r);
}

/* Parameter of the point of a curve nearest to x. */
static double nearest(const ds_curve *c, ds_vec3 x) {
  ds_vec3 r = v3_sub(x, c->c);
  if (c->radius > 0) return atan2(v3_dot(r, c->e2), v3_dot(r, c->e1));
  double l2 = v3_norm2(c->e1);
  return l2 > 0 ? v3_dot(r, c->e1) / l2 : 0;
}

ds_vec3 ds_curve_direction(const ds_curve *a, ds_vec3 near_a, const ds_curve *b, ds_vec3 near_b) {
  double s = nearest(a, near_a), t = nearest(b, near_b), last = INFINITY;
  ds_vec3 r = v3(0, 0, 0);
  for (int i = 0; i < 20; i++) {
    ds_vec3 x1, x2, y1, y2;
    r = v3_sub(point_at(a, s, &x1, &x2), point_at(b, t, &y1, &y2));
    double gs = v3_dot(r, x1), gt = -v3_dot(r, y1);
    double ss = v3_norm2(x1) + v3_dot(r, x2), tt = v3_norm2(y1) - v3_dot(r, y2), st = -v3_dot(x1, y1);
    /* a point has no parameter */
    if (v3_norm2(x1) == 0) ss = 1;
    if (v3_norm2(y1) == 0) tt = 1;
    double det = ss * tt - st * st, scale = fabs(ss * tt) + st * st;
    if (!(ss > 0 && tt > 0 && det > 1e-12 * scale)) break;
    double ds = (st * gt - tt * gs) / det, dt = (st * gs - ss * gt) / det;
    double step = ds * ds * v3_norm2(x1) + dt * dt * v3_norm2(y1);
    if (!(step < last)) break;
    s += ds;
    t += dt;
    last = step;
  }
  return v3_unit(r);
}
