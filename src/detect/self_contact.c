/* Self-contacts of a deformable: its vertices against its own triangles.
 *
 * Features that are close in the undeformed body are not in contact. Let D be the distance of a vertex and a triangle
 * in the undeformed body, d their signed distance now. They touch if their normals face each other, D > near, and
 *
 *   d < outside D (in front of the triangle)   or   -d < inside D (behind it),
 *
 * the last so that parts that lie behind each other at d = -D are none: only by squeezing what is between them to a
 * quarter would they be taken for one. d is that at the end of the step where they come nearer. So an undeformed body
 * never touches itself.
 *
 * The two sides of a wall never touch: there is material between them, not air. A vertex that lies straight behind the
 * triangle in the undeformed body, within 60 degrees of its normal, comes near it where the wall is pressed thin, and
 * in front of it where the wall was pressed inside out. Contact would push it out on the wrong side, or keep it there.
 *
 * Pairs of spheres of the tree are skipped, whatever lies below them, in three cases. The points cannot have come so
 * near: |d| < outside D takes a displacement against each other of more than (1 - outside) max(near, D). The balls
 * around what they hold are farther apart than the reach. Or no two normals below them can face each other [Volino and
 * Magnenat-Thalmann 1994]: the angle between the axes of their cones and both half angles are too little.
 *
 * The first two are asked twice. With balls that follow from q alone, in O(r) per sphere, down to patches (patches.c):
 * a body that is bent but not folded ends there, without a vertex worked out. Then for the patches that are left, with
 * balls around what the vertices do, and cones of normals, put together from the leaves up. */
#include <string.h>

#include "detect/deformable.h"

static const double near_share = 2.5; /* near, over the mean edge */
static const double outside = 0.7, inside = 0.25;
static const double ahead = 2;     /* of the thickness: contacts are searched at most this far ahead */
static const double facing = -0.1; /* cosine of the normals of vertex and triangle, at most; its sine: */
static const double sin_facing = 0.99498743710661997;
static const double ROUNDING = 1e-12; /* of a cosine: 1e-6 rad near the axis */
static const double SLIP = 1e-9;      /* of bounds that save work and decide nothing */

typedef struct fold_node {
  ds_displacement displaced;
  ds_vec3 axis;    /* of a cone that holds all normals ... */
  double cos, sin; /* ... and its half angle; a negative sine: all directions */
} fold_node;

typedef struct folder {
  const ds_deformed *now;
  ds_deformed rest;
  fold_node *nodes; /* a sphere of the tree each */
  const ds_solid_query *query;
  const ds_deformable_query *itself;
  ds_pose pose;
  ds_found *found;
  ds_vec3 *own; /* one per vertex: its normal, computed on demand */
  bool *own_known;
  ds_nearest *best; /* one per vertex: the nearest triangle that it may touch */
  double near, depth, farthest;
} folder;

bool ds_may_touch_itself(const ds_skin *skin, const double *q, double stir) {
  ds_vec3 c;
  double growth = ds_skin_sphere(&c, skin, q, 0) - skin->tree->spheres[0].radius + stir;
  return 2 * growth > (1 - outside) * near_share * skin->tree->spacing;
}

bool ds_may_fold(double *travel, const ds_skin *skin, int32_t a, int32_t b, const ds_displacement *of_a,
                 const ds_displacement *of_b) {
  const ds_bd_sphere *sa = &skin->tree->spheres[a], *sb = &skin->tree->spheres[b];
  double near = near_share * skin->tree->spacing;
  double rest = v3_dist(sa->center, sb->center), apart = rest - sa->radius - sb->radius;
  if (rest + sa->radius + sb->radius <= near) return false;
  ds_vec3 move = v3_sub(of_a->move.center, of_b->move.center),
          go = v3_sub(of_a->displacement.center, of_b->displacement.center);
  double spread = of_a->move.radius + of_b->move.radius, stray = of_a->displacement.radius + of_b->displacement.radius;
  double now = v3_norm(move), then = v3_norm(v3_add(move, go)) + stray, moved = (now > then ? now : then) + spread;
  *travel = v3_norm(go) + stray;
  return moved > (1 - outside) * (apart > near ? apart : near);
}

/* ---- balls and cones ---- */

static void set_all(fold_node *n) { n->cos = -1, n->sin = -1; }

/* Least cosine of the axis and the normals around the start of a half-edge: a vertex has its own from these. */
static double least_around(const folder *f, ds_vec3 axis, int32_t half) {
  double least = 1;
  int32_t h = half;
  for (int i = 0; i < DS_RING_MAX; i++) {
    double along = v3_dot(axis, f->now->normals[h / 3]);
    least = along < least ? along : least;
    h = f->now->skin->tree->twin[h % 3 == 0 ? h + 2 : h - 1];
    if (h == half) break;
  }
  return least;
}

/* Normals of a leaf's triangles, and of vertices, each of which belongs to the leaf of its first triangle. */
static void set_cone(const folder *f, fold_node *n, const ds_bd_sphere *s) {
  const ds_skin *skin = f->now->skin;
  double least = 1;
  n->axis = v3(0, 0, 0);
  for (int32_t i = s->first; i < s->first + s->count; i++)
    n->axis = v3_add(n->axis, f->now->normals[skin->tree->triangle[i]]);
  n->axis = v3_unit(n->axis);
  for (int32_t i = s->first; i < s->first + s->count; i++)
    for (int32_t k = 0; k < 3; k++) {
      int32_t half = 3 * skin->tree->triangle[i] + k;
      double along = v3_dot(n->axis, f->now->normals[half / 3]);
      if (skin->tree->corner[skin->mesh->triangles[half]] == half) along = least_around(f, n->axis, half);
      least = along < least ? along : least;
    }
  n->cos = fmax(-1, least - ROUNDING), n->sin = sqrt(1 - n->cos * n->cos);
  if (!(v3_norm2(n->axis) > 0)) set_all(n);
}

/* A ball around what the vertices of a leaf have moved by, or will within the step. */
static ds_round leaf_ball(const folder *f, const ds_bd_sphere *s, bool will) {
  const ds_mesh *surface = f->now->skin->mesh;
  ds_round ball = {{0, 0, 0}, 0};
  if (will && !f->now->displacements) return ball;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 3 * s->first; i < 3 * (s->first + s->count); i++) {
      int32_t v = surface->triangles[3 * f->now->skin->tree->triangle[i / 3] + i % 3];
      ds_vec3 u = will ? f->now->displacements[v] : v3_sub(f->now->vertices[v], surface->vertices[v]);
      if (pass == 0) ball.center = v3_add(ball.center, u);
      if (pass == 1) ball.radius = fmax(ball.radius, v3_dist(ball.center, u));
    }
    if (pass == 0) ball.center = v3_scale(1.0 / (3 * s->count), ball.center);
  }
  return ball;
}

/* Widens the cone of n until it holds that of a. Angles are at most pi, so that the sine of their sum is negative where
 * it is more. */
static void hold_cone(fold_node *n, const fold_node *a) {
  double along = v3_dot(n->axis, a->axis), aside = v3_norm(v3_cross(n->axis, a->axis));
  double cos = along * a->cos - aside * a->sin, sin = aside * a->cos + along * a->sin;
  if (n->sin < 0 || a->sin < 0 || sin < 0)
    set_all(n);
  else if (cos < n->cos)
    n->cos = cos, n->sin = sin;
}

static void join_nodes(fold_node *n, const fold_node *a, const fold_node *b) {
  n->displaced.move = ds_round_join(a->displaced.move, b->displaced.move);
  n->displaced.displacement = ds_round_join(a->displaced.displacement, b->displaced.displacement);
  n->axis = v3_unit(v3_add(a->axis, b->axis));
  n->cos = 1, n->sin = 0;
  if (!(v3_norm2(n->axis) > 0)) set_all(n);
  hold_cone(n, a);
  hold_cone(n, b);
}

/* False if nothing below is needed. */
static bool set_node(folder *f, int32_t sphere) {
  const ds_bd_sphere *s = &f->now->skin->tree->spheres[sphere];
  fold_node *n = &f->nodes[sphere];
  if (f->now->balls[sphere].radius < 0) return false;
  if (s->child == 0) {
    n->displaced = (ds_displacement){leaf_ball(f, s, false), leaf_ball(f, s, true)};
    set_cone(f, n, s);
  } else {
    bool first = set_node(f, s->child), second = set_node(f, s->child + 1);
    const fold_node *a = &f->nodes[s->child], *b = &f->nodes[s->child + 1];
    if (first && second)
      join_nodes(n, a, b);
    else
      *n = first ? *a : *b;
  }
  return true;
}

/* ---- pairs ---- */

/* Whether some normals of two cones may face each other: the angle of the axes exceeds acos(facing) - angles. */
static bool may_face(const fold_node *a, const fold_node *b) {
  double cos_angle = a->cos * b->cos - a->sin * b->sin, sin_angle = a->sin * b->cos + a->cos * b->sin;
  if (a->sin < 0 || b->sin < 0 || sin_angle < 0 || cos_angle <= facing) return true;
  return v3_dot(a->axis, b->axis) < facing * cos_angle + sin_facing * sin_angle + 1e-9;
}

/* Whether vertices and triangles below two spheres can touch; *reach: how far apart they can be for it. */
static bool may_touch(const folder *f, double *reach, int32_t a, int32_t b) {
  const fold_node *na = &f->nodes[a], *nb = &f->nodes[b];
  const ds_round *pa = &f->now->balls[a], *pb = &f->now->balls[b];
  double travel;
  if (pa->radius < 0 || pb->radius < 0) return false;
  if (!ds_may_fold(&travel, f->now->skin, a, b, &na->displaced, &nb->displaced)) return false;
  double ahead_by = (1 + f->query->relax) * travel;
  *reach = f->query->slack + (ahead_by < f->farthest ? ahead_by : f->farthest);
  if (*reach < f->depth) *reach = f->depth;
  return v3_dist(pa->center, pb->center) - pa->radius - pb->radius < *reach && may_face(na, nb);
}

static ds_vec3 own_normal(folder *f, int32_t v) {
  if (!f->own_known[v]) f->own[v] = ds_deformed_normal(f->now, v);
  f->own_known[v] = true;
  return f->own[v];
}

static ds_vec3 relative_displacement(const folder *f, int32_t v, ds_anchor at) {
  return f->now->displacements ? v3_sub(f->now->displacements[v], ds_deformed_anchor_displacement(f->now, at))
                               : v3(0, 0, 0);
}

/* Whether vertex v and the point next to it on a triangle are the two sides of a wall in the undeformed body. */
static bool across_wall(const folder *f, int32_t v, const ds_nearest *rest) {
  const int32_t *corner = f->now->skin->mesh->triangles + 3 * rest->at.triangle;
  const ds_vec3 *x = f->rest.vertices;
  ds_vec3 n = v3_cross(v3_sub(x[corner[1]], x[corner[0]]), v3_sub(x[corner[2]], x[corner[0]]));
  return v3_dot(n, v3_sub(x[v], rest->point)) < -0.5 * v3_norm(n) * sqrt(rest->distance2);
}

/* Whether a vertex is too far from a triangle, as near as it was in the undeformed body. With its distances a and A
 * from a corner now and then, and the longer edge e there: d >= a - e and D <= A. */
static bool is_too_far(const folder *f, int32_t v, const int32_t *corner, bool behind, double most_way) {
  const ds_vec3 *y = f->now->vertices, *x = f->rest.vertices;
  double then = v3_norm(v3_sub(x[v], x[corner[0]])), e0 = v3_norm2(v3_sub(y[corner[1]], y[corner[0]]));
  if (then <= f->near * (1 - SLIP)) return true;
  double e1 = v3_norm2(v3_sub(y[corner[2]], y[corner[0]])), edge = sqrt(e0 > e1 ? e0 : e1);
  double touching = behind ? inside * then : outside * then + most_way;
  return v3_norm(v3_sub(y[v], y[corner[0]])) - edge > touching * (1 + SLIP);
}

/* Keeps the triangle if it is the nearest so far that the vertex may touch: only the nearest decides on which side it
 * is. */
static void try_vertex(folder *f, int32_t v, int32_t triangle, double reach, double most_way) {
  ds_nearest nearest, rest;
  const int32_t *corner = f->now->skin->mesh->triangles + 3 * triangle;
  ds_vec3 x = f->now->vertices[v], n = f->now->normals[triangle];
  double height = v3_dot(n, v3_sub(x, f->now->vertices[corner[0]]));
  if (!(fabs(height) < reach) || is_too_far(f, v, corner, height < 0, most_way)) return;
  if (!(v3_dot(own_normal(f, v), n) < facing)) return;
  ds_deformed_on_triangle(&nearest, f->now, triangle, x);
  if (!(nearest.distance2 < reach * reach && nearest.distance2 < f->best[v].distance2)) return;
  ds_deformed_on_triangle(&rest, &f->rest, triangle, f->rest.vertices[v]);
  double d = sqrt(nearest.distance2), apart = sqrt(rest.distance2),
         travel = v3_norm(relative_displacement(f, v, nearest.at));
  if (!(apart > f->near) || !(height < 0 ? d < inside * apart : d - travel < outside * apart)) return;
  if (across_wall(f, v, &rest)) return;
  f->best[v] = nearest;
}

/* What is found, vertex by vertex. */
static void keep(folder *f, int32_t v) {
  const ds_solid_query *q = f->query;
  ds_vec3 x = f->now->vertices[v], own = own_normal(f, v), displacement = relative_displacement(f, v, f->best[v].at);
  ds_foot foot;
  ds_deformed_foot(&foot, f->now, &f->best[v], x, own);
  ds_nearest rest;
  ds_deformed_on_triangle(&rest, &f->rest, f->best[v].at.triangle, f->rest.vertices[v]);
  if (!(-foot.distance < inside * sqrt(rest.distance2))) return;
  if (ds_was_outside(f->itself, f->now->skin, foot.gap, foot.normal, displacement, DS_FEATURE(0, v))) return;
  double coming = fmin(0, v3_dot(foot.normal, displacement)), slack = q->slack + q->relax * v3_norm(displacement);
  if (!(foot.gap + coming < slack) || !(v3_dot(own, foot.normal) < facing)) return;
  ds_candidate c = {.point = pose_point(f->pose, v3_mad(x, -0.5 * foot.gap, foot.normal)), .gap = foot.gap};
  c.normal = quat_rotate(f->pose.q, foot.normal);
  c.feature = DS_FEATURE(0, v);
  ds_found_add(f->found, &c, ds_deformed_anchor(f->now, v), foot.anchor);
}

/* Vertices of leaf a against triangles of leaf b. */
static void try_leaves(folder *f, int32_t a, int32_t b, double reach) {
  const ds_skin *skin = f->now->skin;
  const ds_bd_sphere *sa = &skin->tree->spheres[a], *sb = &skin->tree->spheres[b];
  for (int32_t i = 3 * sa->first; i < 3 * (sa->first + sa->count); i++) {
    int32_t half = 3 * skin->tree->triangle[i / 3] + i % 3, v = skin->mesh->triangles[half];
    if (skin->tree->corner[v] != half) continue;
    double far = reach + f->now->balls[b].radius;
    if (!(v3_norm2(v3_sub(f->now->vertices[v], f->now->balls[b].center)) < far * far)) continue;
    const ds_round *displacement = &f->nodes[b].displaced.displacement;
    double most =
        f->now->displacements ? v3_dist(f->now->displacements[v], displacement->center) + displacement->radius : 0;
    for (int32_t k = sb->first; k < sb->first + sb->count; k++) try_vertex(f, v, skin->tree->triangle[k], reach, most);
  }
}

static void fold(folder *f, int32_t a, int32_t b) {
  const ds_bd_sphere *sa = &f->now->skin->tree->spheres[a], *sb = &f->now->skin->tree->spheres[b];
  double reach;
  if (f->found->failed || !may_touch(f, &reach, a, b)) return;
  if (a == b) {
    if (sa->child == 0) return; /* neighbours */
    fold(f, sa->child, sa->child);
    fold(f, sa->child + 1, sa->child + 1);
    fold(f, sa->child, sa->child + 1);
  } else if (sa->child == 0 && sb->child == 0) {
    try_leaves(f, a, b, reach);
    try_leaves(f, b, a, reach);
  } else if (sb->child == 0 || (sa->child != 0 && sa->radius >= sb->radius)) {
    fold(f, sa->child, b);
    fold(f, sa->child + 1, b);
  } else {
    fold(f, a, sb->child);
    fold(f, a, sb->child + 1);
  }
}

bool ds_narrow_self(ds_arena *scratch, ds_manifold *m, const ds_deformable_query *query, const ds_party *body) {
  ds_arena_mark mark = ds_arena_get_mark(scratch);
  const ds_skin *skin = body->surface->skin;
  int32_t vertices = skin->mesh->vertex_count;
  m->count = 0;
  if (!body->surface->folds) return true;
  ds_found found = {.scratch = scratch};
  folder f = {.now = body->surface, .query = &query->solid, .itself = query, .pose = body->pose, .found = &found};
  f.rest = ds_deformed_rest(skin);
  f.own = DS_NEW(scratch, ds_vec3, vertices);
  f.own_known = DS_NEW0(scratch, bool, vertices);
  f.best = DS_NEW(scratch, ds_nearest, vertices);
  f.nodes = DS_NEW(scratch, fold_node, skin->tree->sphere_count);
  f.near = near_share * skin->tree->spacing;
  f.farthest = ahead * skin->tree->thickness;
  f.depth = ds_search_depth(skin, query->deepest, 2 * f.now->stir);
  if (!ds_arena_failed(scratch) && set_node(&f, 0)) {
    for (int32_t v = 0; v < vertices; v++) f.best[v].distance2 = INFINITY;
    fold(&f, 0, 0);
    for (int32_t v = 0; v < vertices && !found.failed; v++)
      if (f.best[v].distance2 < INFINITY) keep(&f, v);
    if (!found.failed)
      ds_found_emit(m, &found, 4 * query->solid.per_face + skin->freedoms, 1e-6 * body->shape->bounding_radius);
  }
  ds_arena_release(scratch, mark);
  return !found.failed && !ds_arena_failed(scratch);
}
