/* The deformed surface: nearest points through the tree of body/bd_tree.c, by branch and bound: a sphere farther away
 * than what is known already holds nothing nearer.
 *
 * Vertices, 3 r multiplications each, are computed for the patches that may touch something (patches.c), and balls
 * around them from the leaves up. The spheres that follow from q alone choose the patches, in O(r); for searching they
 * are too wide once a body is bent: on bodies bent by their own thickness it took four times as long.
 *
 * Inside or outside is decided by the normal of the nearest feature: that of the face, the sum of both faces at an
 * edge, the angle-weighted sum of all faces at a corner [Baerentzen and Aanaes 2005].
 *
 * The contact normal n is the direction to the nearest point, outward, d u; where the point is so near that rounding or
 * a grain of sliding would turn it, an edge or a corner has a normal m of its own: n = unit(d u + skin m). Of the
 * normals around an edge or corner those count for m that face the other surface, sum angle max(0, -own.n_i)² n_i: a
 * box that stands flush on a box touches its top, not its edges at 45 degrees. */
#include "detect/deformed.h"

#include <string.h>

static const double skin_share = 0.02; /* of the mean edge */
static const double same_way = 0.5; /* cosine to its own surface beyond which a wall is not the one it came through */
static const double better = 0.3;   /* by so much a side must face it better */
enum { FRONT = 32 };                /* spheres that bound a body */

bool ds_deformed_begin(ds_arena *arena, ds_deformed *d, const ds_skin *skin, const double *q, const double *rate,
                       double step) {
  *d = (ds_deformed){.skin = skin, .q = q, .rate = rate, .step = step};
  int32_t vertices = skin->mesh->vertex_count, triangles = skin->mesh->triangle_count;
  d->vertices = DS_NEW(arena, ds_vec3, vertices);
  d->normals = DS_NEW(arena, ds_vec3, triangles);
  d->known = DS_NEW0(arena, unsigned char, vertices > triangles ? vertices : triangles);
  d->placed = DS_NEW(arena, int32_t, vertices);
  d->faced = DS_NEW(arena, int32_t, triangles);
  d->balls = DS_NEW(arena, ds_round, skin->tree->sphere_count);
  d->marks = DS_NEW0(arena, unsigned char, skin->tree->sphere_count);
  if (rate && step > 0) d->displacements = DS_NEW(arena, ds_vec3, vertices);
  return !ds_arena_failed(arena);
}

ds_deformed ds_deformed_rest(const ds_skin *skin) {
  return (ds_deformed){.skin = skin, .vertices = skin->mesh->vertices};
}

/* ---- places, normals, displacements ---- */

ds_round ds_round_join(ds_round a, ds_round b) {
  ds_vec3 displacement = v3_sub(b.center, a.center);
  double d = v3_norm(displacement);
  if (d + b.radius <= a.radius) return a;
  if (d + a.radius <= b.radius) return b;
  double radius = 0.5 * (d + a.radius + b.radius);
  return (ds_round){v3_mad(a.center, (radius - a.radius) / d, displacement), radius * (1 + 1e-12)};
}

ds_vec3 ds_deformed_anchor_displacement(const ds_deformed *d, ds_anchor at) {
  if (!d->displacements || at.triangle < 0) return v3(0, 0, 0);
  const int32_t *v = d->skin->mesh->triangles + 3 * (size_t)at.triangle;
  ds_vec3 displacement = v3_scale(1 - at.s - at.t, d->displacements[v[0]]);
  return v3_mad(v3_mad(displacement, at.s, d->displacements[v[1]]), at.t, d->displacements[v[2]]);
}

ds_anchor ds_deformed_anchor(const ds_deformed *d, int32_t v) {
  int32_t half = d->skin->tree->corner[v];
  return (ds_anchor){half / 3, half % 3 == 1, half % 3 == 2};
}

static ds_vec3 corner(const ds_deformed *d, int32_t half) { return d->vertices[d->skin->mesh->triangles[half]]; }

static int32_t next_half(int32_t half) { return half % 3 == 2 ? half - 2 : half + 1; }

static ds_vec3 face_normal_of(const ds_deformed *d, int32_t t) {
  if (d->normals) return d->normals[t];
  ds_vec3 a = corner(d, 3 * t);
  return v3_unit(v3_cross(v3_sub(corner(d, 3 * t + 1), a), v3_sub(corner(d, 3 * t + 2), a)));
}

static double corner_angle(const ds_deformed *d, int32_t half) {
  ds_vec3 a = corner(d, half), u = v3_sub(corner(d, next_half(half)), a);
  ds_vec3 v = v3_sub(corner(d, next_half(next_half(half))), a);
  return atan2(v3_norm(v3_cross(u, v)), v3_dot(u, v));
}

/* Sums the normals around the start of a half-edge; `own` (where it is not zero) weighs them by how they face it. */
static ds_vec3 ring_normal(const ds_deformed *d, int32_t half, ds_vec3 own) {
  bool all = own.x == 0 && own.y == 0 && own.z == 0;
  ds_vec3 sum = v3(0, 0, 0);
  int32_t h = half;
  for (int i = 0; i < DS_RING_MAX; i++) {
    ds_vec3 n = face_normal_of(d, h / 3);
    double facing = fmax(0, -v3_dot(own, n)), weight = all ? 1 : facing * facing;
    if (weight > 0) sum = v3_mad(sum, weight * corner_angle(d, h), n);
    h = d->skin->tree->twin[next_half(next_half(h))]; /* the edge before it ends here: its twin starts here */
    if (h == half) break;
  }
  return sum;
}

ds_vec3 ds_deformed_normal(const ds_deformed *d, int32_t v) {
  int32_t half = d->skin->tree->corner[v];
  return half < 0 ? v3(0, 0, 0) : v3_unit(ring_normal(d, half, v3(0, 0, 0)));
}

/* ---- the nearest triangle ---- */

static void take(ds_nearest *best, ds_vec3 x, ds_vec3 p, ds_anchor at, int32_t feature) {
  double d2 = v3_norm2(v3_sub(x, p));
  if (d2 < best->distance2 || (d2 == best->distance2 && at.triangle < best->at.triangle))
    *best = (ds_nearest){d2, p, at, feature};
}

/* By the regions of a triangle's plane in which a corner, an edge or the face is next (Ericson 2005, 5.1.5). */
static void take_triangle(ds_nearest *best, const ds_deformed *d, int32_t t, ds_vec3 x) {
  ds_vec3 a = corner(d, 3 * t), b = corner(d, 3 * t + 1), c = corner(d, 3 * t + 2);
  ds_vec3 ab = v3_sub(b, a), ac = v3_sub(c, a), ax = v3_sub(x, a), bx = v3_sub(x, b), cx = v3_sub(x, c);
  double d1 = v3_dot(ab, ax), d2 = v3_dot(ac, ax), d3 = v3_dot(ab, bx), d4 = v3_dot(ac, bx);
  double d5 = v3_dot(ab, cx), d6 = v3_dot(ac, cx);
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0 && d2 <= 0) {
    take(best, x, a, (ds_anchor){t, 0, 0}, 4);
  } else if (d3 >= 0 && d4 <= d3) {
    take(best, x, b, (ds_anchor){t, 1, 0}, 5);
  } else if (d6 >= 0 && d5 <= d6) {
    take(best, x, c, (ds_anchor){t, 0, 1}, 6);
  } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    double s = d1 / (d1 - d3);
    take(best, x, v3_mad(a, s, ab), (ds_anchor){t, s, 0}, 1);
  } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    double s = d2 / (d2 - d6);
    take(best, x, v3_mad(a, s, ac), (ds_anchor){t, 0, s}, 3);
  } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    double s = (d4 - d3) / (d4 - d3 + (d5 - d6));
    take(best, x, v3_mad(b, s, v3_sub(c, b)), (ds_anchor){t, 1 - s, s}, 2);
  } else if (va + vb + vc > 0) {
    double s = vb / (va + vb + vc), w = vc / (va + vb + vc);
    take(best, x, v3_mad(v3_mad(a, s, ab), w, ac), (ds_anchor){t, s, w}, 0);
  }
}

/* How far x is from a ball at least. */
static double ball_distance(const ds_deformed *d, int32_t sphere, ds_vec3 x) {
  const ds_round *ball = &d->balls[sphere];
  double away = v3_dist(x, ball->center) - ball->radius;
  return away > 0 ? away : 0;
}

/* Triangles that face a direction: own.n less than `most`; all where own is NULL. */
typedef struct filter {
  const ds_vec3 *own;
  double most;
} filter;

static void take_leaf(ds_nearest *best, const ds_deformed *d, int32_t leaf, ds_vec3 x, filter f) {
  const ds_bd_sphere *s = &d->skin->tree->spheres[leaf];
  for (int32_t i = s->first; i < s->first + s->count; i++) {
    int32_t t = d->skin->tree->triangle[i];
    ds_vec3 n = d->normals[t];
    double height = v3_dot(n, v3_sub(x, corner(d, 3 * t)));
    if (height * height > best->distance2 * (1 + 1e-9)) continue; /* its plane is farther away already */
    if (!f.own || v3_dot(*f.own, n) < f.most) take_triangle(best, d, t, x);
  }
}

static void search(ds_nearest *best, const ds_deformed *d, int32_t sphere, ds_vec3 x, filter f) {
  int32_t child = d->skin->tree->spheres[sphere].child;
  if (child == 0) {
    take_leaf(best, d, sphere, x, f);
    return;
  }
  double a = ball_distance(d, child, x), b = ball_distance(d, child + 1, x);
  int32_t near = child + (b < a), far = child + !(b < a);
  double near_by = b < a ? b : a, far_by = b < a ? a : b;
  if (near_by * near_by <= best->distance2) search(best, d, near, x, f);
  if (far_by * far_by <= best->distance2) search(best, d, far, x, f);
}

static bool within(ds_round ball, ds_vec3 x, double reach) {
  double far = reach + ball.radius;
  return v3_norm2(v3_sub(x, ball.center)) <= far * far;
}

/* Of those within reach first the one whose centre is nearest, then all that may hold something nearer. */
static void search_leaves(ds_nearest *best, const ds_deformed *d, const ds_nearby_spheres *leaves, ds_vec3 x) {
  int32_t close[DS_NEARBY_MAX], count = 0, first = -1;
  double least = INFINITY, reach = sqrt(best->distance2);
  filter all = {NULL, 0};
  for (int32_t i = 0; i < leaves->count; i++) {
    const ds_round *ball = &d->balls[leaves->sphere[i]];
    double away = v3_norm2(v3_sub(x, ball->center)), far = reach + ball->radius;
    if (!(away <= far * far)) continue;
    if (away < least) least = away, first = count;
    close[count++] = leaves->sphere[i];
  }
  if (first < 0) return;
  take_leaf(best, d, close[first], x, all);
  reach = sqrt(best->distance2);
  for (int32_t i = 0; i < count; i++) {
    if (i == first || !within(d->balls[close[i]], x, reach)) continue;
    take_leaf(best, d, close[i], x, all);
    reach = sqrt(best->distance2);
  }
}

static void gather(ds_nearby_spheres *out, const ds_deformed *d, int32_t sphere, ds_vec3 x, double reach, double fine) {
  int32_t child = d->skin->tree->spheres[sphere].child;
  if (out->count < 0 || !within(d->balls[sphere], x, reach)) return;
  if (child != 0 && d->balls[sphere].radius > fine) {
    gather(out, d, child, x, reach, fine);
    gather(out, d, child + 1, x, reach, fine);
  } else if (out->count == DS_NEARBY_MAX) {
    out->count = -1;
  } else {
    out->sphere[out->count++] = sphere;
  }
}

void ds_deformed_gather(ds_nearby_spheres *out, const ds_deformed *d, const ds_nearby_spheres *among, ds_vec3 x,
                        double reach, double fine) {
  out->count = 0;
  if (among->count < 0) gather(out, d, 0, x, reach, fine);
  for (int32_t i = 0; i < among->count; i++) gather(out, d, among->sphere[i], x, reach, fine);
}

/* Inside or outside is the sign of what this returns times (x - nearest point). */
static ds_vec3 feature_normal(const ds_deformed *d, const ds_nearest *n, ds_vec3 own) {
  int32_t first = 3 * n->at.triangle;
  if (n->feature == 0) return face_normal_of(d, n->at.triangle);
  if (n->feature >= 4) return ring_normal(d, first + n->feature - 4, own);
  ds_vec3 a = face_normal_of(d, n->at.triangle);
  ds_vec3 b = face_normal_of(d, d->skin->tree->twin[first + n->feature - 1] / 3);
  if (own.x == 0 && own.y == 0 && own.z == 0) return v3_add(a, b);
  double wa = fmax(0, -v3_dot(own, a)), wb = fmax(0, -v3_dot(own, b));
  return v3_add(v3_scale(wa * wa, a), v3_scale(wb * wb, b));
}

void ds_deformed_foot(ds_foot *foot, const ds_deformed *d, const ds_nearest *n, ds_vec3 x, ds_vec3 own) {
  ds_vec3 away = v3_sub(x, n->point), plain = feature_normal(d, n, v3(0, 0, 0));
  double side = v3_dot(away, plain) < 0 ? -1 : 1;
  *foot = (ds_foot){.point = n->point, .anchor = n->at, .on_face = n->feature == 0};
  foot->distance = side * sqrt(n->distance2);
  foot->normal = v3_unit(plain);
  if (n->feature != 0) {
    ds_vec3 m = v3_unit(feature_normal(d, n, own));
    if (!(v3_norm2(m) > 0)) m = foot->normal;
    double skin = skin_share * d->skin->tree->spacing;
    foot->normal = v3_unit(v3_add(v3_scale(side, away), v3_scale(skin, m)));
  }
  foot->gap = v3_dot(foot->normal, away);
}

/* More than half way through a wall, or nearer than the skin to the rim of a side that faces it worse than another one:
 * the foot on the side that it came from. */
static void face_other(ds_foot *foot, const ds_deformed *d, ds_vec3 x, double deep, ds_vec3 own) {
  double skin = skin_share * d->skin->tree->spacing, facing = v3_dot(own, foot->normal);
  bool through = foot->distance < 0 && facing > same_way, rim = fabs(foot->distance) <= skin && facing > -same_way;
  if (!through && !rim) return;
  double far = through ? deep : 2 * skin;
  ds_nearest best = {.distance2 = far * far, .at = {-1, 0, 0}};
  ds_foot other;
  search(&best, d, 0, x, (filter){&own, facing - better});
  if (best.at.triangle < 0) return;
  ds_deformed_foot(&other, d, &best, x, own);
  if (other.distance < skin && v3_dot(own, other.normal) < fmin(0, facing - better)) *foot = other;
}

bool ds_deformed_find(ds_nearest *best, const ds_deformed *d, const ds_nearby_spheres *leaves, ds_vec3 x,
                      double reach) {
  *best = (ds_nearest){.distance2 = reach * reach, .at = {-1, 0, 0}};
  if (leaves->count >= 0)
    search_leaves(best, d, leaves, x);
  else if (ball_distance(d, 0, x) <= reach)
    search(best, d, 0, x, (filter){NULL, 0});
  return best->at.triangle >= 0;
}

void ds_deformed_face(ds_foot *foot, const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x, double deep,
                      ds_vec3 own) {
  ds_deformed_foot(foot, d, nearest, x, own);
  if (own.x != 0 || own.y != 0 || own.z != 0) face_other(foot, d, x, deep, own);
}

bool ds_deformed_is_plain(const ds_deformed *d, const ds_nearest *nearest, ds_vec3 x) {
  double skin = skin_share * d->skin->tree->spacing;
  return nearest->feature == 0 && nearest->distance2 > skin * skin * (1 + 1e-9) &&
         v3_dot(v3_sub(x, nearest->point), face_normal_of(d, nearest->at.triangle)) >= 0;
}

bool ds_deformed_nearest(ds_foot *foot, const ds_deformed *d, ds_vec3 x, double reach, ds_vec3 own) {
  ds_nearest best;
  ds_nearby_spheres all = {.count = -1};
  if (!ds_deformed_find(&best, d, &all, x, reach)) return false;
  ds_deformed_face(foot, d, &best, x, reach, own);
  return true;
}

void ds_deformed_on_triangle(ds_nearest *best, const ds_deformed *d, int32_t triangle, ds_vec3 x) {
  ds_vec3 a = corner(d, 3 * triangle);
  *best = (ds_nearest){v3_norm2(v3_sub(x, a)), a, {triangle, 0, 0}, 4}; /* what a flat triangle leaves */
  take_triangle(best, d, triangle, x);
}

/* ---- paths through the surface ---- */

typedef struct crossing {
  ds_vec3 x, displacement;
  double first;
  int32_t triangle;
} crossing;

/* Where the displacement meets a triangle from outside (Moeller and Trumbore 1997). */
static void cross_triangle(crossing *c, const ds_deformed *d, int32_t t) {
  ds_vec3 a = corner(d, 3 * t), e1 = v3_sub(corner(d, 3 * t + 1), a), e2 = v3_sub(corner(d, 3 * t + 2), a);
  ds_vec3 p = v3_cross(c->displacement, e2), s = v3_sub(c->x, a), w = v3_cross(s, e1);
  double det = v3_dot(e1, p), u = v3_dot(s, p), v = v3_dot(c->displacement, w), at = v3_dot(e2, w);
  if (!(det > 0)) return; /* along it, or from inside */
  if (!(u >= 0 && v >= 0 && u + v <= det && at >= 0 && at < c->first * det)) return;
  c->first = at / det;
  c->triangle = t;
}

static void cross_sphere(crossing *c, const ds_deformed *d, int32_t sphere) {
  const ds_bd_sphere *s = &d->skin->tree->spheres[sphere];
  double radius = d->balls[sphere].radius;
  ds_vec3 to = v3_sub(d->balls[sphere].center, c->x);
  double at = v3_dot(to, c->displacement) / v3_norm2(c->displacement), clamped = at < 0          ? 0
                                                                                 : at > c->first ? c->first
                                                                                                 : at;
  if (!(v3_norm2(v3_mad(to, -clamped, c->displacement)) <= radius * radius)) return;
  if (s->child != 0) {
    cross_sphere(c, d, s->child);
    cross_sphere(c, d, s->child + 1);
    return;
  }
  for (int32_t i = s->first; i < s->first + s->count; i++) cross_triangle(c, d, d->skin->tree->triangle[i]);
}

double ds_deformed_crossing(int32_t *triangle, const ds_deformed *d, ds_vec3 x, ds_vec3 displacement) {
  crossing c = {x, displacement, 1 + 1e-9, -1};
  if (v3_norm2(displacement) > 0) cross_sphere(&c, d, 0);
  *triangle = c.triangle;
  return c.triangle < 0 ? -1 : fmin(c.first, 1);
}

/* ---- bounds and rays: nothing is kept ---- */

/* Some spheres that together hold all: those of one level, for long things are badly held by one. */
static int32_t front_of(int32_t front[FRONT], const ds_skin *skin) {
  int32_t count = 1;
  front[0] = 0;
  for (bool grew = true; grew;) {
    grew = false;
    for (int32_t i = 0, n = count; i < n && count < FRONT; i++) {
      int32_t child = skin->tree->spheres[front[i]].child;
      if (child == 0) continue;
      front[i] = child;
      front[count++] = child + 1;
      grew = true;
    }
  }
  return count;
}

double ds_skin_bounds(ds_vec3 *low, ds_vec3 *high, const ds_skin *skin, const double *q, ds_pose pose) {
  int32_t front[FRONT], count = front_of(front, skin);
  double far = 0;
  *low = v3(INFINITY, INFINITY, INFINITY);
  *high = v3_neg(*low);
  for (int32_t i = 0; i < count; i++) {
    ds_vec3 c;
    double radius = ds_skin_sphere(&c, skin, q, front[i]);
    ds_vec3 x = pose_point(pose, c), size = v3(radius, radius, radius);
    *low = v3_min(*low, v3_sub(x, size));
    *high = v3_max(*high, v3_add(x, size));
    far = fmax(far, v3_norm(c) + radius);
  }
  return far;
}

/* |U_i dq| <= |shift dq| + sum |dq_a| growth_a for every sphere that holds i. */
double ds_skin_stir(const ds_skin *skin, const double *dq) {
  int32_t front[FRONT], count = front_of(front, skin);
  double most = 0;
  for (int32_t i = 0; i < count; i++) {
    const ds_bd_sphere *s = &skin->tree->spheres[front[i]];
    ds_vec3 c;
    double radius = ds_skin_sphere(&c, skin, dq, front[i]);
    most = fmax(most, v3_dist(c, s->center) + (radius - s->radius));
  }
  return most;
}

typedef struct ray {
  const ds_skin *skin;
  const double *q;
  ds_vec3 origin, direction, normal;
  double nearest;
  bool hit;
} ray;

/* Moeller and Trumbore 1997. */
static void ray_triangle(ray *ray, int32_t t) {
  const int32_t *v = ray->skin->mesh->triangles + 3 * (size_t)t;
  ds_vec3 a = ds_skin_vertex(ray->skin, ray->q, v[0]);
  ds_vec3 e1 = v3_sub(ds_skin_vertex(ray->skin, ray->q, v[1]), a);
  ds_vec3 e2 = v3_sub(ds_skin_vertex(ray->skin, ray->q, v[2]), a);
  ds_vec3 p = v3_cross(ray->direction, e2), s = v3_sub(ray->origin, a), w = v3_cross(s, e1);
  double det = v3_dot(e1, p);
  if (det == 0) return;
  double u = v3_dot(s, p) / det, v2 = v3_dot(ray->direction, w) / det, distance = v3_dot(e2, w) / det;
  if (!(u >= 0 && v2 >= 0 && u + v2 <= 1 && distance >= 0 && distance <= ray->nearest)) return;
  if (ray->hit && distance == ray->nearest) return;
  ray->hit = true;
  ray->nearest = distance;
  ray->normal = v3_unit(v3_cross(e1, e2));
}

static void ray_sphere(ray *ray, int32_t sphere) {
  const ds_bd_tree *tree = ray->skin->tree;
  const ds_bd_sphere *s = &tree->spheres[sphere];
  ds_vec3 c;
  double radius = ds_skin_sphere(&c, ray->skin, ray->q, sphere);
  ds_vec3 to = v3_sub(c, ray->origin);
  double along = v3_dot(to, ray->direction), across = v3_norm(v3_mad(to, -along, ray->direction));
  if (!(across <= radius && along >= -radius && along - radius <= ray->nearest)) return;
  for (int32_t i = s->first; s->child == 0 && i < s->first + s->count; i++) ray_triangle(ray, tree->triangle[i]);
  if (s->child == 0) return;
  ray_sphere(ray, s->child);
  ray_sphere(ray, s->child + 1);
}

double ds_skin_ray(ds_vec3 *normal, const ds_skin *skin, const double *q, ds_vec3 origin, ds_vec3 direction,
                   double max_distance) {
  ray ray = {.skin = skin, .q = q, .origin = origin, .direction = direction, .nearest = max_distance};
  ray_sphere(&ray, 0);
  *normal = ray.normal;
  return ray.hit ? ray.nearest : -1;
}
