/* Which patches of a deformable's surface may touch something within the step. A patch is a sphere of the tree that
 * holds few triangles; whether it may touch follows from q alone, in O(r) per sphere [James and Pai 2004]. So if a body
 * touches with its feet, only the feet are computed. For a pair of deformables both trees are descended together, the
 * larger sphere first. */
#include <string.h>

#include "detect/deformable.h"

enum { PATCH = 64, WANTED = 1, BOUNDED = 2 };

static bool is_patch(const ds_deformed *d, int32_t sphere) {
  const ds_bd_sphere *s = &d->skin->tree->spheres[sphere];
  return s->child == 0 || s->count <= PATCH;
}

/* The sphere that follows from q; kept where the ball around what it holds will be. */
static ds_round bound(ds_deformed *d, int32_t sphere) {
  ds_round *ball = &d->balls[sphere];
  if (!(d->marks[sphere] & BOUNDED)) {
    ball->radius = ds_skin_sphere(&ball->center, d->skin, d->q, sphere);
    d->marks[sphere] |= BOUNDED;
  }
  return *ball;
}

static void want_near(ds_deformed *d, int32_t sphere, const ds_shape *shape, ds_pose pose, double reach) {
  ds_round ball = bound(d, sphere);
  if (!(ds_shape_distance_alone(shape, pose_point(pose, ball.center)) < ball.radius + reach)) return;
  if (is_patch(d, sphere)) {
    d->marks[sphere] |= WANTED;
    return;
  }
  int32_t child = d->skin->tree->spheres[sphere].child;
  want_near(d, child, shape, pose, reach);
  want_near(d, child + 1, shape, pose, reach);
}

void ds_want_near_shape(ds_deformed *d, const ds_shape *shape, ds_pose pose, double reach) {
  want_near(d, 0, shape, pose, reach);
}

static void want_both(ds_deformed *a, int32_t i, ds_deformed *b, int32_t j, ds_pose pose, double reach) {
  ds_round ball = bound(a, i), other = bound(b, j);
  bool last_a = is_patch(a, i), last_b = is_patch(b, j);
  if (last_a && last_b && (a->marks[i] & b->marks[j] & WANTED)) return;
  if (!(v3_dist(ball.center, pose_point(pose, other.center)) < ball.radius + other.radius + reach)) return;
  if (last_a && last_b) {
    a->marks[i] |= WANTED;
    b->marks[j] |= WANTED;
  } else if (last_b || (!last_a && ball.radius >= other.radius)) {
    int32_t child = a->skin->tree->spheres[i].child;
    want_both(a, child, b, j, pose, reach);
    want_both(a, child + 1, b, j, pose, reach);
  } else {
    int32_t child = b->skin->tree->spheres[j].child;
    want_both(a, i, b, child, pose, reach);
    want_both(a, i, b, child + 1, pose, reach);
  }
}

void ds_want_near_deformed(ds_deformed *a, ds_deformed *b, ds_pose pose, double reach) {
  want_both(a, 0, b, 0, pose, reach);
}

void ds_want_all(ds_deformed *d) {
  memset(d->marks, WANTED, (size_t)d->skin->tree->sphere_count);
  d->folds = true;
}

/* ---- patches of one body against each other ---- */

typedef struct folding {
  ds_deformed *d;
  ds_displacement *displaced; /* one per sphere of the tree, computed on demand; radius of `move` -1 before */
  double reach;
} folding;

/* |U_i q - shift q| <= sum |q_a| growth_a, and so for q' [bd_tree.c]. */
static const ds_displacement *displacement(folding *f, int32_t sphere) {
  ds_displacement *x = &f->displaced[sphere];
  const ds_deformed *d = f->d;
  const ds_bd_sphere *s = &d->skin->tree->spheres[sphere];
  if (x->move.radius >= 0) return x;
  ds_round now = bound(f->d, sphere);
  x->move = (ds_round){v3_sub(now.center, s->center), now.radius - s->radius};
  x->displacement = (ds_round){{0, 0, 0}, 0};
  if (d->displacements) {
    ds_vec3 c;
    double radius = ds_skin_sphere(&c, d->skin, d->rate, sphere);
    x->displacement = (ds_round){v3_scale(d->step, v3_sub(c, s->center)), d->step * (radius - s->radius)};
  }
  return x;
}

static void want_fold(folding *f, int32_t a, int32_t b) {
  ds_deformed *d = f->d;
  const ds_bd_sphere *sa = &d->skin->tree->spheres[a], *sb = &d->skin->tree->spheres[b];
  bool last_a = is_patch(d, a), last_b = is_patch(d, b);
  double travel;
  if (last_a && last_b && d->folds && (d->marks[a] & d->marks[b] & WANTED)) return;
  const ds_displacement *of_a = displacement(f, a), *of_b = displacement(f, b);
  if (!ds_may_fold(&travel, d->skin, a, b, of_a, of_b)) return;
  ds_round ball = bound(d, a), other = bound(d, b);
  if (!(v3_dist(ball.center, other.center) < ball.radius + other.radius + f->reach)) return;
  if (last_a && last_b) {
    d->marks[a] |= WANTED;
    d->marks[b] |= WANTED;
    d->folds = true;
  } else if (a == b) {
    want_fold(f, sa->child, sa->child);
    want_fold(f, sa->child + 1, sa->child + 1);
    want_fold(f, sa->child, sa->child + 1);
  } else if (last_b || (!last_a && sa->radius >= sb->radius)) {
    want_fold(f, sa->child, b);
    want_fold(f, sa->child + 1, b);
  } else {
    want_fold(f, a, sb->child);
    want_fold(f, a, sb->child + 1);
  }
}

bool ds_want_folds(ds_arena *scratch, ds_deformed *d, double reach) {
  ds_arena_mark mark = ds_arena_get_mark(scratch);
  int32_t n = d->skin->tree->sphere_count;
  folding f = {d, DS_NEW(scratch, ds_displacement, n), reach};
  for (int32_t i = 0; i < n && f.displaced; i++) f.displaced[i].move.radius = -1;
  if (f.displaced) want_fold(&f, 0, 0);
  ds_arena_release(scratch, mark);
  return f.displaced != NULL;
}

/* ---- computation of what is needed ---- */

enum { HAS_PLACE = 1, HAS_RING = 2, HAS_FACE = 4 };

static void list_triangle(ds_deformed *d, int32_t t) {
  if (d->known[t] & HAS_FACE) return;
  d->known[t] |= HAS_FACE;
  d->faced[d->faced_count++] = t;
  for (int k = 0; k < 3; k++) {
    int32_t v = d->skin->mesh->triangles[3 * t + k];
    if (!(d->known[v] & HAS_PLACE)) d->placed[d->placed_count++] = v;
    d->known[v] |= HAS_PLACE;
  }
}

/* All triangles around a vertex: its normal needs them. */
static void list_ring(ds_deformed *d, int32_t half) {
  const ds_bd_tree *tree = d->skin->tree;
  int32_t v = d->skin->mesh->triangles[half], h = half;
  if (d->known[v] & HAS_RING) return;
  d->known[v] |= HAS_RING;
  for (int i = 0; i < DS_RING_MAX; i++) {
    list_triangle(d, h / 3);
    h = tree->twin[h % 3 == 0 ? h + 2 : h - 1];
    if (h == half) break;
  }
}

static void list_wanted(ds_deformed *d, int32_t sphere) {
  const ds_bd_sphere *s = &d->skin->tree->spheres[sphere];
  if (!is_patch(d, sphere)) {
    list_wanted(d, s->child);
    list_wanted(d, s->child + 1);
  } else if (d->marks[sphere] & WANTED) {
    for (int32_t i = 3 * s->first; i < 3 * (s->first + s->count); i++)
      list_ring(d, 3 * d->skin->tree->triangle[i / 3] + i % 3);
  }
}

static void place_listed(ds_deformed *d) {
  ds_skin_place(d->vertices, d->skin, d->q, d->placed, d->placed_count);
  if (d->displacements) ds_skin_place(d->displacements, d->skin, d->rate, d->placed, d->placed_count);
  for (int32_t i = 0; i < d->placed_count && d->displacements; i++) {
    ds_vec3 *u = &d->displacements[d->placed[i]];
    *u = v3_scale(d->step, v3_sub(*u, d->skin->mesh->vertices[d->placed[i]]));
    d->stir = fmax(d->stir, v3_norm(*u));
  }
  for (int32_t i = 0; i < d->faced_count; i++) {
    const int32_t *v = d->skin->mesh->triangles + 3 * (size_t)d->faced[i];
    ds_vec3 a = d->vertices[v[0]];
    d->normals[d->faced[i]] = v3_unit(v3_cross(v3_sub(d->vertices[v[1]], a), v3_sub(d->vertices[v[2]], a)));
  }
}

static ds_round leaf_ball(const ds_deformed *d, const ds_bd_sphere *s) {
  ds_round ball = {{0, 0, 0}, 0};
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 3 * s->first; i < 3 * (s->first + s->count); i++) {
      ds_vec3 x = d->vertices[d->skin->mesh->triangles[3 * d->skin->tree->triangle[i / 3] + i % 3]];
      if (pass == 0) ball.center = v3_add(ball.center, x);
      if (pass == 1) ball.radius = fmax(ball.radius, v3_dist(ball.center, x) * (1 + 1e-12));
    }
    if (pass == 0) ball.center = v3_scale(1.0 / (3 * s->count), ball.center);
  }
  return ball;
}

/* Balls from the leaves up; those not needed are empty. */
static void fill(ds_deformed *d, int32_t sphere, bool within_patch) {
  const ds_bd_sphere *s = &d->skin->tree->spheres[sphere];
  ds_round *ball = &d->balls[sphere];
  if (!within_patch && is_patch(d, sphere)) {
    *ball = (ds_round){{INFINITY, INFINITY, INFINITY}, -1};
    if (!(d->marks[sphere] & WANTED)) return;
    within_patch = true;
  }
  if (s->child == 0) {
    *ball = leaf_ball(d, s);
    return;
  }
  fill(d, s->child, within_patch);
  fill(d, s->child + 1, within_patch);
  const ds_round *a = &d->balls[s->child], *b = &d->balls[s->child + 1];
  *ball = a->radius < 0 ? *b : b->radius < 0 ? *a : ds_round_join(*a, *b);
}

void ds_deformed_fill(ds_deformed *d) {
  list_wanted(d, 0);
  place_listed(d);
  fill(d, 0, false);
}
