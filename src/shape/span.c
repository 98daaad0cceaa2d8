/* Rays through convex shapes: the part of a line inside, cut by one surface after the other. */
#include "shape/shape.h"

void ds_span_cut_plane(ds_span *s, ds_vec3 n, double d, ds_vec3 o, ds_vec3 dir) {
  double g = v3_dot(n, o) - d, rate = v3_dot(n, dir);
  if (rate == 0) {
    if (g > 0) s->out = -INFINITY;
    return;
  }
  double t = -g / rate;
  if (rate < 0 && t > s->in) {
    s->in = t;
    s->n_in = n;
  } else if (rate > 0 && t < s->out) {
    s->out = t;
    s->n_out = n;
  }
}

void ds_span_cut_mantle(ds_span *s, double radius, ds_vec3 o, ds_vec3 dir) {
  double a = dir.x * dir.x + dir.y * dir.y, b = o.x * dir.x + o.y * dir.y, c = o.x * o.x + o.y * o.y - radius * radius;
  if (a <= 1e-30) {
    if (c > 0) s->out = -INFINITY;
    return;
  }
  double det = b * b - a * c;
  if (det < 0) {
    s->out = -INFINITY;
    return;
  }
  double t0 = (-b - sqrt(det)) / a, t1 = (-b + sqrt(det)) / a;
  if (t0 > s->in) {
    s->in = t0;
    s->n_in = v3_scale(1 / radius, v3(o.x + t0 * dir.x, o.y + t0 * dir.y, 0));
  }
  if (t1 < s->out) {
    s->out = t1;
    s->n_out = v3_scale(1 / radius, v3(o.x + t1 * dir.x, o.y + t1 * dir.y, 0));
  }
}

ds_span ds_span_ball(double radius, ds_vec3 c, ds_vec3 o, ds_vec3 dir) {
  ds_vec3 r = v3_sub(o, c);
  double b = v3_dot(r, dir);
  /* |r|² - b² without cancellation */
  double across2 = v3_norm2(v3_mad(r, -b, dir)), det = radius * radius - across2;
  ds_span s = ds_span_none();
  if (det < 0) return s;
  s.in = -b - sqrt(det);
  s.out = -b + sqrt(det);
  s.n_in = v3_scale(1 / radius, v3_mad(r, s.in, dir));
  s.n_out = v3_scale(1 / radius, v3_mad(r, s.out, dir));
  return s;
}

double ds_span_first(ds_vec3 *normal, const ds_span *s, double max_distance) {
  if (!(s->in <= s->out)) return -1;
  bool enters = s->in >= 0;
  double t = enters ? s->in : s->out;
  if (!(t >= 0 && t <= max_distance) || !isfinite(t)) return -1;
  *normal = enters ? s->n_in : s->n_out;
  return t;
}
