/* Signed distance of a recipe; see recipe.h.
 *
 * Primitives are exact. Operations: min for union, max for intersection, max(a, -b) for subtraction; blended, the
 * quadratic smooth minimum min(a, b) - (k - |a - b|)²/(4k), a convex mix of both gradients, so still 1-Lipschitz. Parts
 * of a union that are farther away than the result so far are skipped by their bounds; this changes no value near a
 * surface. */
#include "mesh/recipe.h"

static double length2(double x, double y) { return sqrt(x * x + y * y); }
/* fmin and fmax are calls, for the sake of NaNs that do not come here. */
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double box_distance(const ds_recipe_node *n, ds_vec3 x) {
  double r = n->r[0], a = fabs(x.x) - n->a.x + r, b = fabs(x.y) - n->a.y + r, c = fabs(x.z) - n->a.z + r;
  ds_vec3 out = v3(fmax(a, 0), fmax(b, 0), fmax(c, 0));
  return v3_norm(out) + fmin(fmax(a, fmax(b, c)), 0) - r;
}

/* In the half plane (radial, along a..b): the tangent of both circles leaves them where t = 0 and t = c length. */
static double capsule_distance(const ds_recipe_node *n, ds_vec3 x) {
  ds_vec3 d = v3_sub(x, n->a), axis = v3_scale(1 / n->r[2], v3_sub(n->b, n->a));
  double along = v3_dot(d, axis), radial = v3_norm(v3_mad(d, -along, axis));
  double s = (n->r[0] - n->r[1]) / n->r[2], c = sqrt(fmax(0, 1 - s * s)), t = c * along - s * radial;
  if (t <= 0) return v3_norm(d) - n->r[0];
  if (t >= c * n->r[2]) return v3_dist(x, n->b) - n->r[1];
  return c * radial + s * along - n->r[0];
}

static double segment_distance2(double x, double y, const ds_recipe_segment *s) {
  double ex = s->x1 - s->x0, ey = s->y1 - s->y0, dx = x - s->x0, dy = y - s->y0, e2 = ex * ex + ey * ey;
  double t = e2 > 0 ? smaller(1, larger(0, (dx * ex + dy * ey) / e2)) : 0;
  dx -= t * ex, dy -= t * ey;
  return dx * dx + dy * dy;
}

static double cone_distance(const ds_recipe_node *n, ds_vec3 x) {
  double r0 = n->r[0], r1 = n->r[1], h = n->r[2], r = length2(x.x, x.y);
  ds_recipe_segment sides[3] = {{0, -h, r0, -h}, {r0, -h, r1, h}, {0, h, r1, h}};
  double best = INFINITY;
  for (int i = 0; i < 3; i++) best = fmin(best, segment_distance2(r, x.z, &sides[i]));
  bool inside = fabs(x.z) < h && r < r0 + (r1 - r0) * (x.z + h) / (2 * h);
  return inside ? -sqrt(best) : sqrt(best);
}

/* The nearest point is e²y/(t + e²) for the largest root t of F(t) = sum (e y/(t + e²))² - 1, which is convex and
 * falls: Newton from the left converges without steps back [Eberly 2013]. */
static double ellipsoid_distance(const ds_recipe_node *n, ds_vec3 x) {
  double e[3] = {n->a.x, n->a.y, n->a.z}, y[3] = {fabs(x.x), fabs(x.y), fabs(x.z)};
  double small = fmin(e[0], fmin(e[1], e[2])), large = fmax(e[0], fmax(e[1], e[2])), t = -INFINITY, sum = 0, d2 = 0;
  for (int i = 0; i < 3; i++) {
    y[i] = fmax(y[i], 1e-9 * small); /* off the planes of symmetry, where the root may sit in a pole */
    t = fmax(t, e[i] * (y[i] - e[i]));
    sum += e[i] * e[i] * y[i] * y[i];
  }
  t = fmax(t, sqrt(sum) - large * large);
  for (int k = 0; k < 80; k++) {
    double value = -1, slope = 0;
    for (int i = 0; i < 3; i++) {
      double q = e[i] * y[i] / (t + e[i] * e[i]);
      value += q * q;
      slope -= 2 * q * q / (t + e[i] * e[i]);
    }
    double next = t - value / slope;
    if (!(next > t + 1e-15 * fabs(t)) || !(value > 1e-15)) break;
    t = next;
  }
  for (int i = 0; i < 3; i++) {
    double d = y[i] * t / (t + e[i] * e[i]);
    d2 += d * d;
  }
  return t < 0 ? -sqrt(d2) : sqrt(d2);
}

/* Squared distance to the box over a block of segments. */
static double block_distance2(const ds_recipe_segment *box, double x, double y) {
  double dx = larger(0, larger(box->x0 - x, x - box->x1)), dy = larger(0, larger(box->y0 - y, y - box->y1));
  return dx * dx + dy * dy;
}

/* The end of a segment that is nearest in its block: an upper bound to begin with. */
static double first_guess(const ds_recipe *r, const ds_recipe_node *n, double x, double y) {
  double least = INFINITY, best = INFINITY;
  int32_t block = 0;
  for (int32_t i = 0; i < n->count; i += DS_RECIPE_BLOCK) {
    double d = block_distance2(&r->blocks[n->block + i / DS_RECIPE_BLOCK], x, y);
    if (d < least) least = d, block = i;
  }
  for (int32_t k = block; k < n->count && k < block + DS_RECIPE_BLOCK; k++) {
    const ds_recipe_segment *s = &r->segments[n->first + k];
    double d = (s->x0 - x) * (s->x0 - x) + (s->y0 - y) * (s->y0 - y);
    if (d < best && !(n->kind == DS_RECIPE_LATHE && s->x0 <= 0)) best = d;
  }
  return best;
}

/* Distance to an outline in its plane; inside by counting what a ray along +x crosses. Edges on the axis of a lathe are
 * no surface. */
static double outline_distance(const ds_recipe *r, const ds_recipe_node *n, double x, double y) {
  double best = first_guess(r, n, x, y);
  bool inside = false, lathe = n->kind == DS_RECIPE_LATHE;
  for (int32_t i = 0, b = n->block; i < n->count; i += DS_RECIPE_BLOCK, b++) {
    const ds_recipe_segment *box = &r->blocks[b];
    bool near = block_distance2(box, x, y) < best, ray = y >= box->y0 && y <= box->y1 && x <= box->x1;
    if (!near && !ray) continue;
    int32_t end = i + DS_RECIPE_BLOCK < n->count ? i + DS_RECIPE_BLOCK : n->count;
    for (int32_t k = i; k < end; k++) {
      const ds_recipe_segment *s = &r->segments[n->first + k];
      if (near && !(lathe && s->x0 <= 0 && s->x1 <= 0)) best = smaller(best, segment_distance2(x, y, s));
      if ((s->y0 > y) != (s->y1 > y) && x < s->x0 + (s->x1 - s->x0) * ((y - s->y0) / (s->y1 - s->y0))) inside = !inside;
    }
  }
  return inside ? -sqrt(best) : sqrt(best);
}

static double extrusion_distance(const ds_recipe *r, const ds_recipe_node *n, ds_vec3 x) {
  double side = outline_distance(r, n, x.x, x.y), end = fabs(x.z) - n->r[2];
  return fmin(fmax(side, end), 0) + length2(fmax(side, 0), fmax(end, 0));
}

static double bounds_distance(const ds_recipe_node *n, ds_vec3 x) {
  ds_vec3 out = v3_max(v3_max(v3_sub(n->low, x), v3_sub(x, n->high)), v3(0, 0, 0));
  return v3_norm(out);
}

static double smooth_min(double a, double b, double k) {
  double h = k - fabs(a - b);
  return fmin(a, b) - (h > 0 ? h * h / (4 * k) : 0);
}

static double distance_of(const ds_recipe *r, int32_t i, ds_vec3 x);

static double operation_distance(const ds_recipe *r, const ds_recipe_node *n, ds_vec3 x) {
  double k = n->r[0], d = distance_of(r, n->child, x);
  for (int32_t i = r->nodes[n->child].next; i >= 0; i = r->nodes[i].next) {
    const ds_recipe_node *part = &r->nodes[i];
    switch (n->kind) {
      case DS_RECIPE_UNION:
        if ((k == 0 || part->tight) && bounds_distance(part, x) > fmax(d, 0) + k) break;
        d = k > 0 ? smooth_min(d, distance_of(r, i, x), k) : fmin(d, distance_of(r, i, x));
        break;
      case DS_RECIPE_INTERSECTION:
        d = k > 0 ? -smooth_min(-d, -distance_of(r, i, x), k) : fmax(d, distance_of(r, i, x));
        break;
      default: /* less this part */
        if (part->tight && bounds_distance(part, x) > fmax(-d, 0) + k) break;
        d = k > 0 ? -smooth_min(-d, distance_of(r, i, x), k) : fmax(d, -distance_of(r, i, x));
    }
  }
  return d;
}

static double distance_of(const ds_recipe *r, int32_t i, ds_vec3 x) {
  const ds_recipe_node *n = &r->nodes[i];
  double d;
  switch (n->kind) {
    case DS_RECIPE_SPHERE:
      return v3_dist(x, n->a) - n->r[0];
    case DS_RECIPE_BOX:
      return box_distance(n, x);
    case DS_RECIPE_CAPSULE:
      return capsule_distance(n, x);
    case DS_RECIPE_TORUS:
      return length2(length2(x.x, x.y) - n->r[0], x.z) - n->r[1];
    case DS_RECIPE_CONE:
      return cone_distance(n, x);
    case DS_RECIPE_ELLIPSOID:
      return ellipsoid_distance(n, x);
    case DS_RECIPE_LATHE:
      return outline_distance(r, n, length2(x.x, x.y), x.z);
    case DS_RECIPE_EXTRUSION:
      return extrusion_distance(r, n, x);
    case DS_RECIPE_HALF_SPACE:
      return x.z;
    case DS_RECIPE_PLACE:
      x = mat3_tmul_v3(&n->turn, v3_sub(x, n->a));
      return n->r[0] * distance_of(r, n->child, v3(x.x / n->b.x, x.y / n->b.y, x.z / n->b.z));
    case DS_RECIPE_MIRROR:
      if (n->first == 0) x.x = fabs(x.x);
      if (n->first == 1) x.y = fabs(x.y);
      if (n->first == 2) x.z = fabs(x.z);
      return distance_of(r, n->child, x);
    case DS_RECIPE_SHELL:
      d = distance_of(r, n->child, x);
      return fmax(d, -d - n->r[0]);
    case DS_RECIPE_OFFSET:
      return distance_of(r, n->child, x) - n->r[0];
    default:
      return operation_distance(r, n, x);
  }
}

double ds_recipe_distance(const ds_recipe *r, ds_vec3 x) { return distance_of(r, r->root, x); }
