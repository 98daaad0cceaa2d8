/* Contacts of a deformable with anything else: vertices and samples of either surface in the distance function of the
 * other, as for solids (solid.c), with surfaces that move in themselves.
 *
 *   from \ to        rigid shape                 deformable
 *   deformable       ds_shape_distance           nearest point of its triangles (deformed.c)
 *   rigid shape      (solid.c, narrow.c)         the same; balls by their centre, capsules by points of their axis
 *
 * All is done in the frame of the other. A tree of spheres over the vertices (or balls over the samples) skips what is
 * far from it: against a rigid shape by the distance of the centre, against a deformable by the other's tree.
 *
 * Within the step a vertex moves by the rigid motions of both bodies and by h U dq/dt, the other surface by its own
 * h U dq/dt at the nearest point. A vertex that touches only later is followed to where it does; its gap is linearized
 * there, g = phi(y) - n.(y - x), as for solids.
 *
 * How far inside points are looked for says ds_search_depth. A soft body can turn a thin part of itself inside out, and
 * all around it then seems to be inside: so a point is inside only as far as it was in the last step and has come since
 * (ds_was_outside). */
#include "detect/deformable.h"

#include <string.h>

enum {
  PATH_STEPS = 16,
  GROUP = 16
}; /* GROUP: triangles whose vertices are tested against the same leaves of the other */
static const double backward = 0.3; /* as in solid.c */
static const double same_way = 0.5;
static const double sideways = 0.3;      /* of a displacement along a surface may have led into it */
static const double shallow_share = 0.1; /* of a rigid shape's thickness: deeper points may have come through it */
static const double still = 1e-3;        /* of the slack: displacements shorter than this lead nowhere */
static const double SLIP = 1e-9;         /* of bounds that save work and decide nothing */

/* ---- candidates ---- */

void ds_found_add(ds_found *f, const ds_candidate *candidate, ds_anchor on_a, ds_anchor on_b) {
  if (f->count == f->capacity) {
    int32_t capacity = 2 * f->capacity + 256;
    ds_candidate *list = DS_NEW(f->scratch, ds_candidate, capacity);
    ds_anchor *anchors = DS_NEW(f->scratch, ds_anchor, 2 * capacity);
    if (!list || !anchors) {
      f->failed = true;
      return;
    }
    if (f->count > 0) memcpy(list, f->list, (size_t)f->count * sizeof *list);
    if (f->count > 0) memcpy(anchors, f->anchors, 2 * (size_t)f->count * sizeof *anchors);
    f->list = list;
    f->anchors = anchors;
    f->capacity = capacity;
  }
  f->anchors[2 * f->count] = on_a;
  f->anchors[2 * f->count + 1] = on_b;
  f->list[f->count] = *candidate;
  f->list[f->count].tag = f->count;
  f->count++;
}

void ds_found_emit(ds_manifold *m, ds_found *f, int32_t limit, double eps) {
  int32_t count = ds_reduce(f->scratch, f->list, f->count, limit, eps);
  while (count > DS_MANIFOLD_MAX && limit > 8) {
    limit /= 2;
    count = ds_reduce(f->scratch, f->list, count, limit, eps);
  }
  for (int32_t i = 0; i < count && m->count < DS_MANIFOLD_MAX; i++) {
    const ds_candidate *c = &f->list[i];
    ds_emit(m, c->point, c->normal, c->gap, c->feature);
    m->on_a[m->count - 1] = f->anchors[2 * c->tag];
    m->on_b[m->count - 1] = f->anchors[2 * c->tag + 1];
  }
}

/* ---- one way ---- */

typedef struct side {
  const ds_party *party;
  ds_mat3 r; /* local -> world */
  ds_vec3 p;
  const ds_deformed *surface; /* NULL: rigid */
} side;

typedef struct seeker {
  ds_found *found;
  const ds_solid_query *query;
  const ds_deformable_query *pair;
  side *from, *to;
  ds_mat3 r; /* from -> to */
  ds_vec3 p;
  bool from_is_a;
  ds_twist twist;              /* of from against to, in the frame of to */
  double round;                /* radius about every sample */
  double thin;                 /* displacements up to this length pass through no wall of the other unseen */
  double deep;                 /* how far inside a deformable points are looked for */
  double stir;                 /* of both surfaces, at most */
  double shallow;              /* up to this depth a point has come in here, whichever way it faces */
  ds_nearby_spheres near, end; /* of the other, for the points in hand where they are and at the end of the step */
} seeker;

/* The other's surface as seen from a point. */
typedef struct sight {
  double gap;
  double clear; /* no part of it is nearer than this */
  ds_vec3 normal;
  ds_anchor anchor;
} sight;

static const ds_anchor rigid = {-1, 0, 0};

/* A point of the one surface, in the other's frame; its outward normal is computed on demand. */
typedef struct probe {
  ds_vec3 x, own;
  int32_t vertex; /* of a deformable whose normal is not known yet, or -1 */
} probe;

static ds_vec3 own_normal(const seeker *s, probe *p) {
  if (p->vertex >= 0) p->own = mat3_mul_v3(&s->r, ds_deformed_normal(s->from->surface, p->vertex));
  p->vertex = -1;
  return p->own;
}

static void see(sight *at, const seeker *s, probe *p, ds_vec3 y, const ds_nearest *nearest) {
  ds_foot foot;
  bool plain = ds_deformed_is_plain(s->to->surface, nearest, y);
  ds_deformed_face(&foot, s->to->surface, nearest, y, s->deep, plain ? v3(0, 0, 0) : own_normal(s, p));
  *at = (sight){foot.gap - s->round, sqrt(nearest->distance2), foot.normal, foot.anchor};
}

/* The nearest surface point from y among some leaves of the other; false if the surface is farther than reach: then the
 * gap is a lower bound. */
static bool look(sight *at, const seeker *s, probe *p, const ds_nearby_spheres *leaves, ds_vec3 y, double reach) {
  if (!s->to->surface) {
    at->gap = ds_shape_distance(&at->normal, s->to->party->shape, y) - s->round;
    at->clear = 0;
    at->anchor = rigid;
    return at->gap < reach;
  }
  ds_nearest nearest;
  double far = (reach > s->deep ? reach : s->deep) + s->round;
  at->gap = far - s->round;
  at->clear = far;
  if (!ds_deformed_find(&nearest, s->to->surface, leaves, y, far)) return false;
  see(at, s, p, y, &nearest);
  return at->gap < reach;
}

static void add(seeker *s, ds_vec3 x, const sight *at, double gap, ds_anchor anchor, uint32_t feature) {
  const side *to = s->to;
  ds_vec3 middle = v3_mad(x, -(s->round + 0.5 * gap), at->normal), n = mat3_mul_v3(&to->r, at->normal);
  ds_candidate c = {.point = v3_add(to->p, mat3_mul_v3(&to->r, middle)), .gap = gap, .feature = feature};
  c.normal = s->from_is_a ? n : v3_neg(n);
  ds_found_add(s->found, &c, s->from_is_a ? anchor : at->anchor, s->from_is_a ? at->anchor : anchor);
}

/* The displacement of a vertex by its own deformation. */
static ds_vec3 own_displacement(const seeker *s, const probe *p) {
  if (p->vertex < 0 || !s->from->surface->displacements) return v3(0, 0, 0);
  return mat3_mul_v3(&s->r, s->from->surface->displacements[p->vertex]);
}

/* That of the other at the nearest point. */
static ds_vec3 other_displacement(const seeker *s, const sight *at) {
  return s->to->surface ? ds_deformed_anchor_displacement(s->to->surface, at->anchor) : v3(0, 0, 0);
}

/* The fraction of its path, 0 .. 1, at which the probe comes nearer than slack, and the nearest point there; -1 if it
 * passes by. Step by step as far as nothing can be met (Hart 1996). */
static double march(sight *at, const seeker *s, probe *p, ds_vec3 displacement, double length, double slack) {
  const ds_nearby_spheres all = {.count = -1};
  double t = 0;
  if (!look(at, s, p, &all, p->x, slack + length)) return -1;
  if (length <= s->thin) {
    if (look(at, s, p, &all, v3_add(p->x, displacement), slack)) return 1;
    return look(at, s, p, &all, v3_mad(p->x, 0.5, displacement), slack) ? 0.5 : -1;
  }
  for (int i = 0; i < PATH_STEPS && t < 1; i++) {
    t = fmin(1, t + (at->gap - 0.5 * slack) / length);
    if (!look(at, s, p, &all, v3_mad(p->x, t, displacement), slack + (1 - t) * length))
      return -1; /* its displacement is too short */
    if (at->gap <= slack) return t;
  }
  return -1;
}

/* The same against triangles: the first that its displacement crosses, or what is near at its end, where the other may
 * have come to meet it. A displacement that is shorter than the distance to the surface crosses none. */
static double cross(sight *at, const seeker *s, probe *p, ds_vec3 displacement, double length, double slack) {
  const ds_deformed *to = s->to->surface;
  ds_nearest nearest;
  double t = -1;
  if (length > at->clear * (1 - SLIP)) t = ds_deformed_crossing(&nearest.at.triangle, to, p->x, displacement);
  if (t >= 0) {
    ds_vec3 y = v3_mad(p->x, t, displacement);
    ds_deformed_on_triangle(&nearest, to, nearest.at.triangle, y);
    see(at, s, p, y, &nearest);
    return t;
  }
  if (!look(at, s, p, &s->end, v3_add(p->x, displacement), slack + to->stir)) return -1;
  return at->gap - v3_dot(at->normal, other_displacement(s, at)) <= slack ? 1 : -1;
}

/* How deep the point of this feature was in the last step, at least 0. */
static double depth_before(const ds_deformable_query *q, uint32_t feature) {
  uint64_t wanted = q->shapes << 32 | feature;
  int32_t low = 0, high = q->before_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (q->before[middle].feature < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < q->before_count && q->before[low].feature == wanted ? fmax(0, -q->before[low].gap) : 0;
}

bool ds_was_outside(const ds_deformable_query *q, const ds_skin *skin, double gap, ds_vec3 normal, ds_vec3 displacement,
                    uint32_t feature) {
  double fresh = ds_fresh_depth(skin);
  if (gap > -fresh || !q->has_past) return false;
  double come = fmax(-v3_dot(normal, displacement), sideways * v3_norm(displacement));
  return -gap > fresh + come + depth_before(q, feature);
}

static void try_point(seeker *s, probe *p, ds_anchor anchor, uint32_t feature) {
  const ds_solid_query *q = s->query;
  ds_vec3 displacement = v3_add(v3_add(s->twist.move, v3_cross(s->twist.turn, p->x)), own_displacement(s, p));
  double length = v3_norm(displacement), meets = s->to->surface ? s->to->surface->stir : 0, t = 0;
  double slack = q->slack + q->relax * (length + meets);
  sight at;
  bool near = look(&at, s, p, &s->near, p->x, slack);
  if (near && s->to->surface &&
      ds_was_outside(s->pair, s->to->surface->skin, at.gap, at.normal, v3_sub(displacement, other_displacement(s, &at)),
                     feature))
    return;
  if (!near || at.gap > q->slack + q->relax * v3_norm(v3_sub(displacement, other_displacement(s, &at)))) {
    if (!(at.gap < slack + length + meets)) return;
    bool may_lag = meets < (1 + SLIP - backward) * length;
    if (s->to->surface && may_lag && v3_dot(own_normal(s, p), displacement) + meets < -backward * length)
      return; /* others go ahead of it */
    t = s->to->surface && s->round == 0 ? cross(&at, s, p, displacement, length, slack)
                                        : march(&at, s, p, displacement, length, slack);
    if (t < 0) return; /* passes by */
  }
  double gap = at.gap - t * v3_dot(at.normal, displacement);
  if (t > 0 && gap < 0) return;                                                       /* comes from behind */
  if (-at.gap > s->shallow && v3_dot(own_normal(s, p), at.normal) > same_way) return; /* is on the far side */
  add(s, p->x, &at, gap, anchor, feature);
}

/* Bounds for all points within `radius` of c: their displacements, and how near the other counts as touching. */
typedef struct bounds {
  ds_vec3 displacement; /* of c */
  double stray, slack;
} bounds;

static bounds bounds_of(const seeker *s, ds_vec3 c, double radius) {
  bounds b = {.displacement = v3_add(s->twist.move, v3_cross(s->twist.turn, c))};
  b.stray = v3_norm(s->twist.turn) * radius + s->stir;
  b.slack = s->query->slack + s->query->relax * (v3_norm(b.displacement) + b.stray);
  return b;
}

/* Whether any of them can touch it within the step; of a deformable, what of it is `near`, `among` what was known to be
 * for more of them. */
static bool is_near(const seeker *s, ds_nearby_spheres *near, const ds_nearby_spheres *among, ds_vec3 c,
                    double radius) {
  bounds b = bounds_of(s, c, radius);
  double reach = v3_norm(b.displacement) + b.stray + radius + s->round;
  if (!s->to->surface) return ds_shape_distance_alone(s->to->party->shape, c) < b.slack + reach;
  reach += fmax(b.slack, s->deep);
  ds_deformed_gather(near, s->to->surface, among, c, reach, radius);
  return near->count != 0;
}

/* The leaves to test when they are tested one by one from here on. False if none is near, where they are and at the end
 * of their displacements, and these are too short to cross any in between. */
static bool gather_near(seeker *s, const ds_nearby_spheres *among, ds_vec3 c, double radius) {
  if (!s->to->surface) return true;
  bounds b = bounds_of(s, c, radius);
  double far = fmax(b.slack, s->deep), reach = radius + far + s->round, travel = v3_norm(b.displacement) + b.stray;
  ds_deformed_gather(&s->near, s->to->surface, among, c, reach, 0);
  s->end.count = 0;
  if (travel > still * s->query->slack)
    ds_deformed_gather(&s->end, s->to->surface, among, v3_add(c, b.displacement), reach + b.stray, 0);
  return s->round > 0 || s->near.count != 0 || s->end.count != 0 || travel > far * (1 - SLIP);
}

static uint32_t sample_feature(const seeker *s, int32_t number) { return DS_FEATURE(s->from_is_a ? 0 : 1, number); }

/* A vertex belongs to the leaf of its first triangle. */
static void try_vertices(seeker *s, int32_t first, int32_t last) {
  const ds_deformed *d = s->from->surface;
  const ds_bd_tree *tree = d->skin->tree;
  for (int32_t i = 3 * first; i < 3 * last; i++) {
    int32_t half = 3 * tree->triangle[i / 3] + i % 3, v = d->skin->mesh->triangles[half];
    if (tree->corner[v] != half) continue;
    probe p = {.x = v3_add(s->p, mat3_mul_v3(&s->r, d->vertices[v])), .vertex = v};
    try_point(s, &p, ds_deformed_anchor(d, v), sample_feature(s, v));
  }
}

static void seek_vertices(seeker *s, int32_t sphere, const ds_nearby_spheres *among) {
  const ds_deformed *d = s->from->surface;
  const ds_bd_sphere *ball = &d->skin->tree->spheres[sphere];
  double radius = d->balls[sphere].radius;
  ds_vec3 x = v3_add(s->p, mat3_mul_v3(&s->r, d->balls[sphere].center));
  ds_nearby_spheres near;
  if (s->found->failed || radius < 0 || !is_near(s, &near, among, x, radius)) return;
  if (ball->child == 0 || ball->count <= GROUP) {
    if (gather_near(s, &near, x, radius)) try_vertices(s, ball->first, ball->first + ball->count);
  } else {
    seek_vertices(s, ball->child, &near);
    seek_vertices(s, ball->child + 1, &near);
  }
}

static void seek_samples(seeker *s, const ds_samples *samples, int32_t index, const ds_nearby_spheres *among) {
  const ds_ball *ball = &samples->balls[index];
  ds_vec3 c = v3_add(s->p, mat3_mul_v3(&s->r, ball->center));
  ds_nearby_spheres near;
  if (s->found->failed || !is_near(s, &near, among, c, ball->radius)) return;
  for (int32_t i = 0; i < ball->child_count; i++) seek_samples(s, samples, ball->child + i, &near);
  if (ball->child_count > 0 || !gather_near(s, &near, c, ball->radius)) return;
  for (int32_t i = ball->first; i < ball->first + ball->count; i++) {
    probe p = {.x = v3_add(s->p, mat3_mul_v3(&s->r, samples->points[i])), .vertex = -1};
    p.own = mat3_mul_v3(&s->r, samples->normals[i]);
    try_point(s, &p, rigid, sample_feature(s, samples->ids[i]));
  }
}

/* ---- a ball against triangles ---- */

/* Feet of the normals through the centre c on triangles below a sphere: a ball in a dent or a groove has several. */
static void seek_feet(seeker *s, int32_t sphere, ds_vec3 c, double reach) {
  const ds_deformed *d = s->to->surface;
  const ds_bd_sphere *ball = &d->skin->tree->spheres[sphere];
  const ds_round *around = &d->balls[sphere];
  if (s->found->failed || !(v3_dist(around->center, c) < around->radius + s->round + reach)) return;
  for (int32_t i = ball->first; ball->child == 0 && i < ball->first + ball->count; i++) {
    ds_nearest nearest;
    ds_foot foot;
    ds_deformed_on_triangle(&nearest, d, d->skin->tree->triangle[i], c);
    if (nearest.feature != 0) continue;
    ds_deformed_foot(&foot, d, &nearest, c, v3(0, 0, 0));
    if (!(foot.gap > 0 && foot.gap - s->round < reach)) continue;
    sight at = {foot.gap - s->round, 0, foot.normal, foot.anchor};
    add(s, c, &at, at.gap, rigid, DS_FEATURE(3, foot.anchor.triangle));
  }
  if (ball->child == 0) return;
  seek_feet(s, ball->child, c, reach);
  seek_feet(s, ball->child + 1, c, reach);
}

static void seek_ball(seeker *s, ds_vec3 c) {
  ds_vec3 displacement = v3_add(s->twist.move, v3_cross(s->twist.turn, c));
  double reach = s->query->slack + (1 + s->query->relax) * (v3_norm(displacement) + s->stir);
  ds_foot foot;
  if (!ds_deformed_nearest(&foot, s->to->surface, c, fmax(reach, s->deep) + s->round, v3(0, 0, 0))) return;
  sight at = {foot.gap - s->round, 0, foot.normal, foot.anchor};
  if (!(at.gap < reach)) return;
  if (!foot.on_face || foot.gap <= 0)
    add(s, c, &at, at.gap, rigid, DS_FEATURE(2, 0)); /* an edge or a corner, or the centre is inside */
  if (foot.gap > 0) seek_feet(s, 0, c, reach);
}

/* ---- both ways ---- */

static seeker seeker_of(ds_found *found, const ds_deformable_query *query, side *from, side *to, bool from_is_a) {
  seeker s = {.found = found, .query = &query->solid, .pair = query, .from = from, .to = to, .from_is_a = from_is_a};
  const ds_twist *twist = &query->solid.twist;
  double sign = from_is_a ? 1 : -1;
  s.r = ds_mat3_tmul(&to->r, &from->r);
  s.p = mat3_tmul_v3(&to->r, v3_sub(from->p, to->p));
  /* move + turn x (p_to + R y) in the frame of the other */
  ds_vec3 move = v3_add(twist->move, v3_cross(twist->turn, to->p));
  s.twist.move = v3_scale(sign, mat3_tmul_v3(&to->r, move));
  s.twist.turn = v3_scale(sign, mat3_tmul_v3(&to->r, twist->turn));
  const ds_shape *shape = to->party->shape;
  s.shallow = to->surface ? -(double)INFINITY : shallow_share * ds_shape_ops_of(shape)->thickness(shape);
  if (shape->kind == DS_SHAPE_SOLID) s.thin = 0.5 * shape->solid->info.thickness;
  if (to->surface) s.thin = 0.5 * to->surface->skin->tree->thickness;
  s.stir = (from->surface ? from->surface->stir : 0) + (to->surface ? to->surface->stir : 0);
  if (to->surface) {
    double radius = from->surface ? from->surface->balls[0].radius : from->party->shape->bounding_radius;
    double travel = v3_norm(v3_add(s.twist.move, v3_cross(s.twist.turn, s.p))) + v3_norm(s.twist.turn) * radius;
    s.deep = ds_search_depth(to->surface->skin, query->deepest, isfinite(radius) ? travel + s.stir : s.stir);
  }
  return s;
}

static void seek_from(seeker *s) {
  const ds_shape *shape = s->from->party->shape;
  const ds_nearby_spheres all = {.count = -1};
  if (s->from->surface) {
    seek_vertices(s, 0, &all);
    return;
  }
  if (ds_shape_ops_of(shape)->rounded) s->round = shape->radius;
  const ds_samples *samples = ds_shape_get_samples(shape);
  if (shape->kind == DS_SHAPE_SPHERE)
    seek_ball(s, s->p);
  else if (samples && samples->count > 0)
    seek_samples(s, samples, 0, &all);
}

static side side_of(const ds_party *party) {
  return (side){party, mat3_from_quat(party->pose.q), party->pose.p, party->surface};
}

/* As many points as there are ways to move and to deform: fewer would let surfaces sink in between them. */
static int32_t limit_of(const ds_party *a, const ds_party *b, int32_t per_face) {
  int32_t r = 0;
  if (a->surface) r += a->surface->skin->freedoms;
  if (b->surface) r += b->surface->skin->freedoms;
  return 4 * per_face + r;
}

bool ds_narrow_deformable(ds_arena *scratch, ds_manifold *m, const ds_deformable_query *query, const ds_party *a,
                          const ds_party *b) {
  ds_arena_mark mark = ds_arena_get_mark(scratch);
  side sa = side_of(a), sb = side_of(b);
  ds_found found = {.scratch = scratch};
  seeker s = seeker_of(&found, query, &sa, &sb, true), t = seeker_of(&found, query, &sb, &sa, false);
  m->count = 0;
  if ((sa.surface && sa.surface->balls[0].radius < 0) || (sb.surface && sb.surface->balls[0].radius < 0)) return true;
  seek_from(&s);
  seek_from(&t);
  double size = fmin(a->shape->bounding_radius, b->shape->bounding_radius);
  if (!found.failed) ds_found_emit(m, &found, limit_of(a, b, query->solid.per_face), 1e-6 * size);
  ds_arena_release(scratch, mark);
  return !found.failed && !ds_arena_failed(scratch);
}
