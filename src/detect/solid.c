/* Contacts of solids [SP08 8: sphere trees against distance fields]: a sample of one surface that is, or comes within
 * the step, near the other one is a contact; its gap is the other's signed distance, its normal the gradient.
 *
 * The tree of balls over the samples skips what is far away: a ball whose centre is farther than its radius and the
 * reach holds no contact. A sample that only passes by is no contact: its straight path within the step is followed by
 * steps of the distance itself (Hart 1996), so that thin walls are met too. Where a sample reaches the surface only
 * later, the distance function is linearized there, gap = phi(y) - n.(y - x): far ahead the normal at the start would
 * be the wrong one.
 *
 * Samples whose own surface looks the same way as the other's are on the far side of a thin thing, and skipped.
 *
 * Planar faces that touch planar faces are exact contacts (faces.h), and hold the samples that lie there. Of two
 * polyhedra only the corners are tried besides: where a corner touches what no face contact holds.
 *
 * Where the mesh stands for a smooth surface that bulges, samples have caps in their place, which touch in treads
 * (tread.h): points that move over the surface as it rolls, where samples would be the corners of a polyhedron. Samples
 * that touch where caps lead to no tread are contacts all the same.
 *
 * Round shapes are not sampled: balls have their centre in the field and their radius taken off, with more than one
 * contact where more than one place of the surface is near (a ball in a groove). */
#include "detect/faces.h"
#include "detect/tread.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_STEPS = 16 };
static const double aside = 1.25;   /* of the spread: caps that would touch farther from their sample are not tried */
static const double late = 0.25;    /* of its travel: a leaf farther than this from the surface touches late */
static const double backward = 0.3; /* sine by which a surface moves backwards: it meets nothing first */
static const double same_way = 0.5; /* cosine of surface normals beyond which two surfaces do not face each other */

typedef struct noted_cap {
  int32_t sample;
  double gap;      /* where it would touch */
  ds_candidate at; /* its own point */
} noted_cap;

typedef struct seeker {
  ds_arena *scratch;
  const ds_solid_query *query;
  const ds_shape *other; /* whose distance function is evaluated */
  ds_mat3 r, r_other;    /* samples -> other; other -> world */
  ds_vec3 p, p_other;
  double sign;    /* +1 where the samples belong to a */
  ds_twist twist; /* of the samples against the other, in the other's frame */
  uint32_t kind;  /* of features */
  double round;   /* radius about every sample */
  double thin;    /* displacements up to this length pass through no wall of the other unseen */
  ds_candidate *found;
  int32_t count, capacity;
  ds_tread_list treads, edges; /* edges: near what the other's normal does not hold still */
  noted_cap *caps;             /* that may touch */
  int32_t cap_count, cap_capacity;
  bool caps_only;    /* of samples */
  double error;      /* of gaps */
  double rise, lift; /* how far caps rise above samples, and smooth surfaces of the other above its mesh */
  bool failed;
} seeker;

static ds_candidate candidate_at(const seeker *s, ds_vec3 x, ds_vec3 normal, double gap, uint32_t feature) {
  ds_vec3 middle = v3_mad(x, -(s->round + 0.5 * gap), normal);
  return (ds_candidate){v3_add(s->p_other, mat3_mul_v3(&s->r_other, middle)),
                        v3_scale(s->sign, mat3_mul_v3(&s->r_other, normal)), gap, feature, 0};
}

static void add_candidate(seeker *s, const ds_candidate *c) {
  if (s->count == s->capacity) {
    int32_t capacity = 2 * s->capacity + 256;
    ds_candidate *found = DS_NEW(s->scratch, ds_candidate, capacity);
    if (!found) {
      s->failed = true;
      return;
    }
    if (s->count > 0) memcpy(found, s->found, (size_t)s->count * sizeof *found);
    s->found = found;
    s->capacity = capacity;
  }
  s->found[s->count++] = *c;
}

static void add(seeker *s, ds_vec3 x, ds_vec3 normal, double gap, uint32_t feature) {
  ds_candidate c = candidate_at(s, x, normal, gap, feature);
  add_candidate(s, &c);
}

/* The fraction of its path, 0 .. 1, at which a sample comes nearer than slack, or -1. Short paths are tested at their
 * middle and end, those longer than a wall is thick step by step. */
static double first_touch(const seeker *s, ds_vec3 x, ds_vec3 displacement, double length, double gap, double slack) {
  if (length <= s->thin) {
    if (ds_shape_distance_alone(s->other, v3_add(x, displacement)) - s->round <= slack) return 1;
    return ds_shape_distance_alone(s->other, v3_mad(x, 0.5, displacement)) - s->round <= slack ? 0.5 : -1;
  }
  double t = 0, d = gap;
  for (int i = 0; i < PATH_STEPS && t < 1; i++) {
    t = fmin(1, t + (d - 0.5 * slack) / length);
    d = ds_shape_distance_alone(s->other, v3_mad(x, t, displacement)) - s->round;
    if (d <= slack) return t;
  }
  return -1;
}

/* Whether a point at x of the other's frame, with the outward normal of its own surface, touches: with which normal,
 * and gap. */
static bool touches(const seeker *s, ds_vec3 *n, double *at, ds_vec3 x, ds_vec3 own) {
  const ds_solid_query *q = s->query;
  ds_vec3 displacement = v3_add(s->twist.move, v3_cross(s->twist.turn, x));
  double length = v3_norm(displacement), slack = q->slack + q->relax * length;
  double gap = ds_shape_distance_alone(s->other, x) - s->round;
  if (!(gap < slack + length)) return false;
  if (gap > q->slack && v3_dot(own, displacement) < -backward * length) return false; /* others go ahead of it */
  double t = 0;
  if (q->after && ds_shape_distance_alone(s->other, v3_add(x, displacement)) - s->round < fmin(gap, 0) - q->slack) {
    t = 1; /* deeper at its end: that is where to look from */
  } else if (gap > slack) {
    t = first_touch(s, x, displacement, length, gap, slack);
    if (t < 0) return false; /* passes by */
  }
  *at = ds_shape_distance(n, s->other, v3_mad(x, t, displacement)) - s->round - t * v3_dot(*n, displacement);
  if (t > 0 && *at < 0 && !q->after) return false; /* comes from behind */
  return v3_dot(own, *n) <= same_way;
}

static void try_point(seeker *s, ds_vec3 x, ds_vec3 own, uint32_t id) {
  ds_vec3 n;
  double gap;
  if (touches(s, &n, &gap, x, own)) add(s, x, n, gap, DS_FEATURE(s->kind, id));
}

static void try_sample(seeker *s, const ds_samples *samples, int32_t i) {
  try_point(s, v3_add(s->p, mat3_mul_v3(&s->r, samples->points[i])), mat3_mul_v3(&s->r, samples->normals[i]),
            (uint32_t)samples->ids[i]);
}

/* A sample whose cap leads too far away: where the sample touches it is a contact itself, unless a tread elsewhere
 * stands for it. Without them one pair of rings in twelve that touch has no contact there (test_tread), until a second
 * look finds that they overlap. */
static void try_alone(seeker *s, const ds_samples *samples, int32_t i, double gap) {
  if (gap < s->error && !s->caps_only) try_sample(s, samples, i);
}

/* A sample with a cap that may touch: where, at what gap. Of a cap whose normal is not opposite to the other's it is at
 * some distance from the sample, and lower. */
static void note_cap(seeker *s, const ds_samples *samples, int32_t i) {
  const ds_cap *cap = &samples->caps[i];
  ds_vec3 x = v3_add(s->p, mat3_mul_v3(&s->r, cap->p)), n,
          displacement = v3_add(s->twist.move, v3_cross(s->twist.turn, x));
  double near = s->query->slack + (1 + s->query->relax) * v3_norm(displacement) + s->lift;
  if (!(ds_shape_distance_alone(s->other, x) < near + samples->bulge)) return;
  double gap = ds_shape_distance(&n, s->other, x);
  ds_vec3 m = v3_neg(mat3_tmul_v3(&s->r, n)), d = v3_sub(ds_cap_point(cap, m), cap->p);
  if (!(v3_dot(m, cap->n) > 0)) return;
  if (!(v3_norm(d) < aside * samples->spread)) {
    try_alone(s, samples, i, gap);
    return;
  }
  if (!(gap - v3_dot(m, d) < near)) return;
  if (s->cap_count == s->cap_capacity) {
    int32_t capacity = 2 * s->cap_capacity + 64;
    noted_cap *caps = DS_NEW(s->scratch, noted_cap, capacity);
    s->failed |= !caps;
    if (!caps) return;
    if (s->cap_count > 0) memcpy(caps, s->caps, (size_t)s->cap_count * sizeof *caps);
    s->caps = caps, s->cap_capacity = capacity;
  }
  s->caps[s->cap_count++] = (noted_cap){i, gap - v3_dot(m, d), candidate_at(s, x, n, gap, 0)};
}

static int compare_caps(const void *pa, const void *pb) {
  const noted_cap *a = pa, *b = pb;
  if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
  return (a->sample > b->sample) - (a->sample < b->sample);
}

/* Whether a tread touches within the step, as a sample does there; its gap is then as seen from the start. */
static bool tread_touches(const seeker *s, ds_vec3 *n, double *gap, ds_vec3 x) {
  const ds_solid_query *q = s->query;
  ds_vec3 displacement = v3_add(s->twist.move, v3_cross(s->twist.turn, x));
  double length = v3_norm(displacement), slack = q->slack + q->relax * length;
  if (!(*gap < slack + length)) return false;
  if (*gap > q->slack && -v3_dot(*n, displacement) < -backward * length) return false;
  if (!(*gap > slack)) return true;
  double t = first_touch(s, x, displacement, length, *gap, slack);
  if (t < 0) return false;
  *gap = ds_smooth_distance(n, s->other, v3_mad(x, t, displacement)) - t * v3_dot(*n, displacement);
  return *gap >= 0;
}

/* Treads, from the lowest cap on; a cap stands for its sample where the other's normal does not hold still. */
static void try_caps(seeker *s, const ds_samples *samples) {
  if (s->cap_count > 1) qsort(s->caps, (size_t)s->cap_count, sizeof *s->caps, compare_caps);
  for (int32_t k = 0; k < s->cap_count && !s->failed; k++) {
    int32_t i = s->caps[k].sample;
    if (ds_tread_is_near(&s->treads, &s->caps[k].at)) continue;
    ds_vec3 start = v3_add(s->p, mat3_mul_v3(&s->r, samples->caps[i].p)), x = start, n;
    double gap;
    if (ds_tread_is_near(&s->edges, &s->caps[k].at) || !ds_tread_find(&x, &n, &gap, samples, s->other, &s->r, s->p)) {
      if (!s->caps_only) try_sample(s, samples, i);
      if (v3_dist(x, start) > 0) ds_tread_add(s->scratch, &s->edges, &s->caps[k].at, samples->spread);
      continue;
    }
    if (!(v3_dist(x, start) < samples->spread)) {
      try_alone(s, samples, i, s->caps[k].at.gap);
      continue;
    }
    if (!tread_touches(s, &n, &gap, x)) continue;
    ds_candidate c = candidate_at(s, x, n, gap, DS_FEATURE(s->kind, DS_FEATURE_TREAD | (uint32_t)samples->ids[i]));
    if (!ds_tread_is_near(&s->treads, &c)) ds_tread_add(s->scratch, &s->treads, &c, samples->spread);
  }
  s->failed |= s->treads.failed || s->edges.failed;
}

/* How far a point of the other's frame lies outside the box of a solid at most in one coordinate: a quick bound. */
static double outside_box(const ds_shape *other, ds_vec3 x) {
  if (other->kind != DS_SHAPE_SOLID) return -INFINITY;
  ds_vec3 low = other->solid->info.low, high = other->solid->info.high;
  return fmax(fmax(fmax(low.x - x.x, x.x - high.x), fmax(low.y - x.y, x.y - high.y)), fmax(low.z - x.z, x.z - high.z));
}

/* The sample of a leaf that is farthest ahead on its path: it represents all if the leaf touches late in the step. */
static int32_t foremost(const seeker *s, const ds_samples *samples, const ds_ball *ball, ds_vec3 c) {
  ds_vec3 displacement = mat3_tmul_v3(&s->r, v3_add(s->twist.move, v3_cross(s->twist.turn, c)));
  int32_t best = ball->first;
  for (int32_t i = ball->first + 1; i < ball->first + ball->count; i++)
    if (v3_dot(displacement, samples->points[i]) > v3_dot(displacement, samples->points[best])) best = i;
  return best;
}

static void seek(seeker *s, const ds_samples *samples, int32_t index) {
  const ds_ball *ball = &samples->balls[index];
  ds_vec3 c = v3_add(s->p, mat3_mul_v3(&s->r, ball->center)), turn = s->twist.turn;
  double travel = v3_norm(v3_add(s->twist.move, v3_cross(turn, c))) + v3_norm(turn) * ball->radius;
  double reach = s->query->slack + (1 + s->query->relax) * travel + ball->radius + s->round + s->rise + s->lift;
  if (outside_box(s->other, c) > reach || s->failed) return;
  double d = ds_shape_distance_alone(s->other, c);
  if (!(d < reach)) return;
  for (int32_t i = 0; i < ball->child_count; i++) seek(s, samples, ball->child + i);
  if (ball->child_count > 0) return;
  int32_t first = ball->first, last = ball->first + ball->count;
  if (d - ball->radius - s->round - s->rise > fmax(s->query->slack, late * travel)) {
    first = foremost(s, samples, ball, c);
    last = first + 1;
  }
  for (int32_t i = first; i < last; i++) {
    if (samples->caps && samples->caps[i].bulges && !s->query->after)
      note_cap(s, samples, i);
    else if (!s->caps_only)
      try_sample(s, samples, i);
  }
}

/* ---- a ball in a distance field ---- */

enum { DIRECTIONS = 26 };

static ds_vec3 direction(int i) {
  int k = i < 13 ? i : i + 1; /* the middle of 27 is no direction */
  return v3_unit(v3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
}

/* Places of the surface nearest to the ball about c, each the foot of a normal through c: from every direction u, steps
 * of u <- -gradient at c + radius u, which a plane wall ends at once. */
static void seek_ball(seeker *s, ds_vec3 c, double radius) {
  ds_vec3 feet[DIRECTIONS + 1], n, displacement = v3_add(s->twist.move, v3_cross(s->twist.turn, c));
  const ds_solid_query *q = s->query;
  int count = 0;
  double d = ds_shape_distance(&n, s->other, c), reach = q->slack + (1 + q->relax) * v3_norm(displacement);
  if (!(d - radius < reach)) return;
  for (int i = 0; i <= DIRECTIONS; i++) {
    ds_vec3 u = i < DIRECTIONS ? direction(i) : v3_neg(n), g = n;
    double out = 0, along = 0;
    for (int k = 0; k < 6 && along > -0.9999; k++) {
      out = ds_shape_distance(&g, s->other, v3_mad(c, radius, u));
      along = v3_dot(g, u);
      if (along > -0.9999) u = v3_neg(g);
    }
    if (!(out < reach) || !(along < -0.99)) continue; /* no foot of a normal through the centre */
    bool known = false;
    for (int k = 0; k < count; k++) known = known || v3_dot(feet[k], g) > 0.95;
    if (known) continue;
    feet[count++] = g;
    add(s, v3_mad(c, -radius, g), g, out, DS_FEATURE(3, i));
  }
  if (count > 0) return;
  /* outside its grid the distance of a solid is but a lower bound */
  ds_vec3 x = v3_mad(c, -radius, n), g;
  bool far = !ds_field_covers(&s->other->solid->field, c);
  double out = far ? ds_shape_distance(&g, s->other, x) : d - radius;
  if (out < reach) add(s, x, n, out, DS_FEATURE(3, DIRECTIONS + 1));
}

/* ---- another smooth shape in a distance field ---- */

/* As for a ball: places where the surfaces face each other, from every direction u by steps of u <- -gradient at the
 * shape's point farthest along u. False where none was found: an edge that is sharper than the steps. */
static bool seek_smooth(seeker *s, const ds_shape *shape) {
  ds_vec3 feet[DIRECTIONS + 1], n;
  const ds_solid_query *q = s->query;
  int count = 0;
  double d = ds_shape_distance(&n, s->other, s->p), turn = v3_norm(s->twist.turn) * shape->bounding_radius;
  double travel = v3_norm(v3_add(s->twist.move, v3_cross(s->twist.turn, s->p))) + turn;
  double reach = q->slack + (1 + q->relax) * travel;
  if (!(d - shape->bounding_radius < reach)) return true;
  for (int i = 0; i <= DIRECTIONS; i++) {
    ds_vec3 u = i < DIRECTIONS ? direction(i) : v3_neg(n), g = n, x = s->p;
    double out = 0, along = 0;
    for (int k = 0; k < 12 && along > -0.9999; k++) {
      x = v3_add(s->p, mat3_mul_v3(&s->r, ds_shape_support(shape, mat3_tmul_v3(&s->r, u))));
      out = ds_shape_distance(&g, s->other, x);
      along = v3_dot(g, u);
      if (along > -0.9999) u = v3_unit(v3_sub(u, v3_scale(k < 4 ? 4 : 1, g))); /* half steps where whole ones swing */
    }
    if (!(out < reach) || !(along < -0.99)) continue;
    bool known = false;
    for (int k = 0; k < count; k++) known = known || v3_dot(feet[k], g) > 0.95;
    if (known) continue;
    feet[count++] = g;
    add(s, x, g, out, DS_FEATURE(3, i));
  }
  return count > 0;
}

/* ---- one way ---- */

static const double one_point = 1e-6; /* of the smaller radius: points nearer than this are one */

static double field_error(const ds_shape *shape) { return shape->kind == DS_SHAPE_SOLID ? shape->solid->error : 0; }

static double bulge_of(const ds_shape *shape) {
  const ds_samples *samples = ds_shape_get_samples(shape);
  return samples ? samples->bulge : 0;
}

static double lift_of(const ds_shape *shape) {
  const ds_samples *samples = ds_shape_get_samples(shape);
  return samples ? samples->lift : 0;
}

static seeker seeker_of(ds_arena *scratch, const ds_solid_query *query, const ds_placed *from, const ds_placed *other,
                        bool from_is_a) {
  seeker s = {.scratch = scratch, .query = query, .other = other->shape, .r_other = other->r, .p_other = other->p};
  double sign = from_is_a ? 1 : -1;
  s.sign = sign;
  s.kind = from_is_a ? 0 : 1;
  s.r = ds_mat3_tmul(&other->r, &from->r);
  s.p = mat3_tmul_v3(&other->r, v3_sub(from->p, other->p));
  /* move + turn x (p_other + R y) in the frame of the other */
  ds_vec3 move = v3_add(query->twist.move, v3_cross(query->twist.turn, other->p));
  s.twist.move = v3_scale(sign, mat3_tmul_v3(&other->r, move));
  s.twist.turn = v3_scale(sign, mat3_tmul_v3(&other->r, query->twist.turn));
  double size = fmin(from->shape->bounding_radius, other->shape->bounding_radius);
  s.error = field_error(from->shape) + field_error(other->shape) + one_point * size;
  s.rise = bulge_of(from->shape);
  s.lift = lift_of(other->shape);
  s.thin = other->shape->kind == DS_SHAPE_SOLID ? 0.5 * other->shape->solid->info.thickness : 0;
  return s;
}

static void seek_from(seeker *s, const ds_placed *from) {
  const ds_shape *shape = from->shape;
  const ds_samples *samples = ds_shape_get_samples(shape);
  if (shape->kind == DS_SHAPE_SPHERE && s->other->kind == DS_SHAPE_SOLID) {
    seek_ball(s, s->p, shape->radius);
    return;
  }
  if (ds_shape_ops_of(shape)->smooth && s->other->kind == DS_SHAPE_SOLID && seek_smooth(s, shape)) return;
  if (ds_shape_ops_of(shape)->rounded) s->round = shape->radius;
  if (!samples || samples->count == 0) return;
  seek(s, samples, 0);
  try_caps(s, samples);
}

/* ---- planar faces ---- */

static const double shallow = 1e-3; /* of the smaller radius: faces that overlap by less need no proof */
enum { ENOUGH = 8 };                /* patches of faces; the contacts of more are reduced like samples */

/* A pair of shapes, and what is found of it. */
typedef struct meeting {
  const ds_solid_query *query;
  ds_placed a, b;
  ds_placed then; /* a at the end of the step, in the frame of b; equal to a if that is not requested */
  double size;    /* radius of the smaller one */
  ds_face_contacts faces;
} meeting;

static meeting meet(const ds_solid_query *query, const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b) {
  meeting m = {.query = query, .size = fmin(a->bounding_radius, b->bounding_radius)};
  m.a = m.then = (ds_placed){a, mat3_from_quat(pose_a.q), pose_a.p};
  m.b = (ds_placed){b, mat3_from_quat(pose_b.q), pose_b.p};
  if (!query->after) return m;
  m.then.r = mat3_from_quat(quat_mul(quat_exp(query->twist.turn), pose_a.q));
  m.then.p = v3_add(pose_a.p, v3_add(query->twist.move, v3_cross(query->twist.turn, pose_a.p)));
  return m;
}

static bool is_polyhedron(const ds_shape *shape) {
  const ds_faces *f = ds_shape_get_faces(shape);
  return f && f->complete;
}

static ds_vec3 displacement_at(const meeting *m, ds_vec3 x) {
  return v3_add(m->query->twist.move, v3_cross(m->query->twist.turn, x));
}

/* The contacts of planar faces: looking ahead, or those that overlap after the step, with gaps as seen from its start.
 */
static void seek_faces(ds_arena *scratch, meeting *m) {
  const ds_solid_query *query = m->query;
  ds_face_query q = {.reach = query->after ? 0 : fmax(query->reach, query->slack),
                     .per_face = query->per_face,
                     .eps = one_point * m->size,
                     .check = shallow * m->size,
                     .error = field_error(m->a.shape) + field_error(m->b.shape),
                     .a = &m->then,
                     .b = &m->b};
  ds_face_pairs(scratch, &m->faces, &q);
  bool round = !is_polyhedron(m->a.shape) || !is_polyhedron(m->b.shape);
  int32_t kept = 0;
  for (int32_t i = 0; i < m->faces.count; i++) {
    ds_candidate c = m->faces.found[i];
    ds_vec3 x = ds_placed_point(&m->a, c.point), displacement = displacement_at(m, x);
    c.normal = mat3_mul_v3(&m->then.r, c.normal);
    c.point = query->after ? v3_mad(x, 0.5, displacement) : x;
    if (query->after) c.gap -= v3_dot(c.normal, displacement);
    /* beside samples the same holds as for them: what does not come near is no contact */
    double nearest = c.gap + fmin(0, v3_dot(c.normal, displacement));
    if (!round || query->after || nearest < query->slack + query->relax * v3_norm(displacement))
      m->faces.found[kept++] = c;
  }
  m->faces.count = kept;
}

/* Whether contacts of faces hold a point that was found otherwise. */
static bool is_held(const meeting *m, const ds_candidate *c) {
  ds_vec3 displacement = m->query->after ? displacement_at(m, c->point) : v3(0, 0, 0),
          x = v3_mad(c->point, 0.5, displacement);
  ds_candidate local = {mat3_tmul_v3(&m->then.r, v3_sub(x, m->then.p)), mat3_tmul_v3(&m->then.r, c->normal),
                        c->gap + v3_dot(c->normal, displacement), 0, 0};
  double error = field_error(m->a.shape) + field_error(m->b.shape) + one_point * m->size;
  return ds_faces_hold(&m->faces, &local, m->query->slack + 0.5 * v3_norm(displacement), error);
}

/* Corners stand for all samples where both shapes are polyhedra: faces and crossing edges have their contacts already,
 * and corners that lie in them. Returns whether any other was near. */
static bool seek_corners(seeker *s, const meeting *m, const ds_placed *from) {
  const ds_faces *f = ds_shape_get_faces(from->shape);
  bool near = false, ahead = !m->query->after;
  for (int32_t i = 0; i < f->corner_count && !s->failed; i++) {
    ds_vec3 x = v3_add(s->p, mat3_mul_v3(&s->r, f->corners[i]));
    double travel = v3_norm(v3_add(s->twist.move, v3_cross(s->twist.turn, x)));
    int32_t before = s->count;
    if (outside_box(s->other, x) > s->query->slack + (1 + s->query->relax) * travel) continue;
    if (ahead && ds_faces_cover(&m->faces, s->sign > 0 ? f->corners[i] : x, m->query->slack)) continue;
    try_point(s, x, mat3_mul_v3(&s->r, f->corner_normals[i]), DS_FEATURE_LONE | (uint32_t)i);
    if (s->count == before) continue;
    near = true;
    ds_vec3 up = v3_scale(s->sign, s->found[before].normal);
    if (m->faces.count > 0 && !ds_corner_is_lowest(f, i, mat3_tmul_v3(&from->r, up))) s->count = before;
  }
  return near;
}

/* ---- both ways ---- */

/* All points that are not found by faces. */
static seeker seek_points(ds_arena *scratch, const meeting *m) {
  const ds_shape *a = m->a.shape, *b = m->b.shape;
  seeker s = seeker_of(scratch, m->query, &m->a, &m->b, true), t = seeker_of(scratch, m->query, &m->b, &m->a, false);
  if (is_polyhedron(a) && is_polyhedron(b)) {
    bool near = seek_corners(&s, m, &m->a);
    t.found = s.found, t.count = s.count, t.capacity = s.capacity, t.failed = s.failed;
    near |= seek_corners(&t, m, &m->b);
    if (near || m->faces.count > 0) return t;
    s.found = t.found, s.capacity = t.capacity, s.failed = t.failed;
  }
  seek_from(&s, &m->a);
  bool smooth_a = ds_shape_ops_of(a)->smooth, smooth_b = ds_shape_ops_of(b)->smooth;
  t.found = s.found, t.count = s.count, t.capacity = s.capacity, t.failed = s.failed, t.treads = s.treads;
  /* the feet of a smooth shape are all the contacts it needs; but caps are better */
  t.caps_only = smooth_a;
  if (!smooth_a || (b->kind == DS_SHAPE_SOLID && b->solid->samples.caps)) seek_from(&t, &m->b);
  if (smooth_b) {
    int32_t of_ball = t.count - s.count;
    if (of_ball > 0) memmove(t.found, t.found + s.count, (size_t)of_ball * sizeof *t.found);
    t.count = of_ball;
  }
  double error = smooth_a || smooth_b ? INFINITY : field_error(a) + field_error(b) + one_point * m->size;
  t.count = ds_tread_hold(&t.treads, t.found, t.count, error);
  for (int32_t i = 0; i < t.treads.count && !t.failed; i++) add_candidate(&t, &t.treads.tread[i].at);
  return t;
}

static void emit_all(ds_manifold *m, const ds_candidate *c, int32_t count) {
  for (int32_t i = 0; i < count; i++) ds_emit(m, c[i].point, c[i].normal, c[i].gap, c[i].feature);
}

bool ds_narrow_solid(ds_arena *scratch, ds_manifold *m, const ds_solid_query *query, const ds_shape *a, ds_pose pose_a,
                     const ds_shape *b, ds_pose pose_b) {
  meeting pair = meet(query, a, pose_a, b, pose_b);
  ds_arena_mark mark = ds_arena_get_mark(scratch);
  m->count = 0;
  seek_faces(scratch, &pair);
  seeker t = seek_points(scratch, &pair);
  bool ok = !t.failed && !pair.faces.failed;
  if (ok) {
    ds_face_contacts *f = &pair.faces;
    int32_t kept = 0;
    for (int32_t i = 0; i < t.count; i++)
      if (!is_held(&pair, &t.found[i])) t.found[kept++] = t.found[i];
    if (f->count > ENOUGH * query->per_face)
      f->count = ds_reduce(scratch, f->found, f->count, query->per_face, 1e-6 * pair.size);
    emit_all(m, f->found, f->count);
    emit_all(m, t.found, ds_reduce(scratch, t.found, kept, query->per_face, 1e-6 * pair.size));
  }
  ds_arena_release(scratch, mark);
  return ok && !ds_arena_failed(scratch);
}
