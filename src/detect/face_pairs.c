/* Which faces of two shapes are near and face each other; and which points their contacts already cover. */
#include <string.h>

#include "detect/faces.h"

static const double facing = 0.02; /* cosine from which two faces face each other */
static const double like = 0.5;    /* cosine of normals: a point that is held by a patch has one like it */
static const double much = 1e-9;   /* of a coordinate: for rounding */
static const double wall = 0.7;    /* cosine of normals: faces that rise from a patch rather than run along it */

/* z <= 0 */
static const ds_face floor_face = {
    .normal = {0, 0, 1}, .t1 = {1, 0, 0}, .t2 = {0, 1, 0}, .area = INFINITY, .width = INFINITY};
static const ds_faces floor_faces = {.face = (ds_face *)&floor_face, /* only read */ .count = 1, .complete = true};

const ds_faces *ds_shape_get_faces(const ds_shape *shape) {
  if (shape->solid) return shape->solid->faces.count > 0 ? &shape->solid->faces : NULL;
  return shape->kind == DS_SHAPE_HALF_SPACE ? &floor_faces : shape->faces;
}

void ds_face_contacts_add(ds_arena *arena, ds_face_contacts *out, ds_candidate point) {
  if (out->count == out->capacity) {
    int32_t capacity = 2 * out->capacity + 64;
    ds_candidate *found = DS_NEW(arena, ds_candidate, capacity);
    if (!found) {
      out->failed = true;
      return;
    }
    if (out->count > 0) memcpy(found, out->found, (size_t)out->count * sizeof *found);
    out->found = found;
    out->capacity = capacity;
  }
  out->found[out->count++] = point;
}

/* ---- what the contacts hold ---- */

bool ds_corner_is_lowest(const ds_faces *f, int32_t corner, ds_vec3 up) {
  for (int32_t i = f->spoke_start[corner]; i < f->spoke_start[corner + 1]; i++)
    if (v3_dot(f->spokes[i], up) < -DS_BELOW) return false;
  return true;
}

/* How far a point lies beside a patch, less than 0 inside. */
static double beside_patch(const ds_face_patch *p, double u, double w) {
  double most = -INFINITY;
  for (int32_t i = 0; i < p->count; i++) {
    int32_t j = i + 1 < p->count ? i + 1 : 0;
    double du = p->u[j] - p->u[i], dw = p->w[j] - p->w[i], x = u - p->u[i], y = w - p->w[i];
    double l = sqrt(du * du + dw * dw);
    if (p->count < 3) { /* an edge or a corner */
      double t = l > 0 ? ds_clamp((x * du + y * dw) / (l * l), 0, 1) : 0;
      return hypot(x - t * du, y - t * dw);
    }
    double out = (dw * x - du * y) / l;
    most = out > most ? out : most;
  }
  return most;
}

/* Whether a point lies in a patch, within `beside`, and how wide the patch's gap is there. */
static bool lies_in(double *gap, const ds_face_patch *p, const ds_candidate *c, double beside, double error) {
  double u = v3_dot(c->point, p->t1), w = v3_dot(c->point, p->t2);
  *gap = p->gap + p->gap_u * u + p->gap_w * w;
  return fabs(v3_dot(p->normal, c->point) - p->d) <= fabs(c->gap) + fabs(*gap) + error + beside &&
         beside_patch(p, u, w) <= beside;
}

bool ds_faces_hold(const ds_face_contacts *contacts, const ds_candidate *c, double beside, double error) {
  for (int32_t i = 0; i < contacts->patch_count; i++) {
    const ds_face_patch *p = &contacts->patches[i];
    double gap, slack = error + p->error;
    if (v3_dot(p->normal, c->normal) < like || !lies_in(&gap, p, c, beside, slack)) continue;
    if (c->gap >= gap - slack) return true;
  }
  return false;
}

bool ds_faces_cover(const ds_face_contacts *contacts, ds_vec3 point, double beside) {
  ds_candidate c = {.point = point};
  double gap;
  for (int32_t i = 0; i < contacts->patch_count; i++)
    if (lies_in(&gap, &contacts->patches[i], &c, beside, contacts->patches[i].error)) return true;
  return false;
}

/* Edges at the rim of a patch cross where its faces overlap: they belong to it. */
static void drop_rims(ds_face_contacts *out, double margin) {
  int32_t kept = 0;
  for (int32_t i = 0; i < out->count; i++) {
    const ds_candidate *c = &out->found[i];
    bool rim = false;
    double gap;
    for (int32_t k = 0; k < out->patch_count && c->tag == DS_TAG_EDGES && !rim; k++)
      rim = lies_in(&gap, &out->patches[k], c, margin + 2 * fabs(c->gap), margin + out->patches[k].error);
    if (!rim) out->found[kept++] = *c;
  }
  out->count = kept;
}

/* ---- faces near the other shape ---- */

typedef struct bounds {
  ds_vec3 low, high;
} bounds;

static bool apart(const bounds *a, ds_vec3 low, ds_vec3 high, double reach) {
  return a->low.x > high.x + reach || low.x > a->high.x + reach || a->low.y > high.y + reach ||
         low.y > a->high.y + reach || a->low.z > high.z + reach || low.z > a->high.z + reach;
}

/* Bounds of a turned box. */
static bounds turn_box(const ds_mat3 *r, ds_vec3 p, ds_vec3 low, ds_vec3 high) {
  ds_vec3 c = v3_scale(0.5, v3_add(low, high)), h = v3_scale(0.5, v3_sub(high, low));
  const double *m = r->m;
  ds_vec3 e =
      v3(fabs(m[0]) * h.x + fabs(m[1]) * h.y + fabs(m[2]) * h.z, fabs(m[3]) * h.x + fabs(m[4]) * h.y + fabs(m[5]) * h.z,
         fabs(m[6]) * h.x + fabs(m[7]) * h.y + fabs(m[8]) * h.z);
  c = v3_add(p, mat3_mul_v3(r, c));
  return (bounds){v3_sub(c, e), v3_add(c, e)};
}

/* The pose of shape b in the frame of a. */
typedef struct frame {
  ds_mat3 r, back;
  ds_vec3 p, q;
} frame;

static bool place_face(ds_arena *arena, ds_placed_face *out, const ds_faces *faces, int32_t number, const frame *b) {
  const ds_face *f = &faces->face[number];
  *out = (ds_placed_face){
      .faces = faces, .face = f, .number = number, .of_a = !b, .n = f->normal, .t1 = f->t1, .t2 = f->t2};
  out->d = f->offset;
  out->low = f->low, out->high = f->high;
  out->count = f->count;
  out->sides = faces->side + f->first;
  out->points = DS_NEW(arena, ds_vec3, f->count + 1);
  if (!out->points) return false;
  for (int32_t i = 0; i < f->count; i++) out->points[i] = out->sides[i].point;
  if (!b) return true;
  out->n = mat3_mul_v3(&b->r, f->normal);
  out->t1 = mat3_mul_v3(&b->r, f->t1);
  out->t2 = mat3_mul_v3(&b->r, f->t2);
  out->d = f->offset + v3_dot(out->n, b->p);
  for (int32_t i = 0; i < f->count; i++) {
    ds_vec3 x = out->points[i] = v3_add(b->p, mat3_mul_v3(&b->r, out->points[i]));
    out->low = i == 0 ? x : v3_min(out->low, x);
    out->high = i == 0 ? x : v3_max(out->high, x);
  }
  return true;
}

/* The faces of `faces` that are near `other`, given in their frame (NULL: without bounds), placed in the frame of a. */
static int32_t near_faces(ds_arena *arena, ds_placed_face **out, const ds_faces *faces, const bounds *other,
                          const frame *b, double reach) {
  int32_t count = 0;
  *out = DS_NEW(arena, ds_placed_face, faces->count);
  if (!*out) return 0;
  for (int32_t i = 0; i < faces->count; i++) {
    const ds_face *f = &faces->face[i];
    if (f->count > 0 && other && apart(other, f->low, f->high, reach)) continue;
    if (!place_face(arena, &(*out)[count], faces, i, b)) return count;
    count++;
  }
  return count;
}

/* Whether some of g is nearer than reach to the plane of f, in front of it or not deeper than both are wide. */
static bool near_plane(const ds_placed_face *f, const ds_placed_face *g, double reach) {
  double low = INFINITY, high = -INFINITY, least = fmin(f->face->width, g->face->width);
  for (int32_t i = 0; i < g->count; i++) {
    double h = v3_dot(f->n, g->points[i]) - f->d;
    low = h < low ? h : low;
    high = h > high ? h : high;
  }
  return g->count == 0 || (low < reach && high > -least);
}

static bool look_at_each_other(const ds_placed_face *f, const ds_placed_face *g, double reach) {
  bounds of_f = {f->low, f->high};
  double deep = fmin(f->face->width, g->face->width); /* faces that overlap have passed each other */
  if (f->count > 0 && g->count > 0 && apart(&of_f, g->low, g->high, fmax(reach, deep))) return false;
  return near_plane(f, g, reach) && near_plane(g, f, reach);
}

static bool has_corner(const ds_faces *faces, int32_t face, int32_t vertex) {
  const ds_face *f = &faces->face[face];
  for (int32_t i = f->first; i < f->first + f->count; i++)
    if (faces->side[i].vertex == vertex) return true;
  return false;
}

/* Whether all of g that is near f belongs to a face that has its contacts with f already. */
static bool is_border_of_patch(const ds_face_contacts *out, const ds_placed_face *f, const ds_placed_face *g,
                               double reach) {
  for (int32_t k = 0; k < out->patch_count; k++) {
    const ds_face_patch *p = &out->patches[k];
    if (p->face[f->of_a ? 0 : 1] != f->number) continue;
    bool all = true;
    for (int32_t i = 0; i < g->count && all; i++)
      all = v3_dot(f->n, g->points[i]) - f->d >= reach ||
            has_corner(g->faces, p->face[f->of_a ? 1 : 0], g->sides[i].vertex);
    if (all) return true;
  }
  return false;
}

/* Whether a corner of a (`side` 0) or b (1) belongs to a face that has a patch. */
static bool corner_has_patch(const ds_face_contacts *out, int side, const ds_faces *faces, int32_t corner) {
  for (int32_t k = 0; k < out->patch_count; k++)
    if (has_corner(faces, out->patches[k].face[side], corner)) return true;
  return false;
}

/* How far corners lie behind the plane of a patch, on their own body's side, below 0 where they have crossed it. */
static double behind(const ds_face_patch *p, int side, const ds_faces *faces, const frame *b, int32_t corner) {
  ds_vec3 x = faces->corners[corner];
  double h = v3_dot(p->normal, side ? v3_add(b->p, mat3_mul_v3(&b->r, x)) : x) - p->d;
  return side ? -h : h;
}

/* Whether faces that have patches are all of two polyhedra that is near the plane of a patch, which is between them but
 * for what they cross it by. */
static bool holds_all(const ds_face_contacts *out, const ds_face_patch *p, const ds_faces *const faces[2],
                      const frame *b, double reach) {
  double crossed = 0;
  for (int side = 0; side < 2; side++)
    for (int32_t i = 0; i < faces[side]->corner_count; i++) {
      double h = behind(p, side, faces[side], b, i);
      crossed = -h > crossed ? -h : crossed;
    }
  for (int side = 0; side < 2; side++)
    for (int32_t i = 0; i < faces[side]->corner_count; i++)
      if (behind(p, side, faces[side], b, i) < reach + p->error + crossed &&
          !corner_has_patch(out, side, faces[side], i))
        return false;
  return true;
}

/* Such a patch, or NULL. Walls that rise from it on either side meet only at its rim, which is the patch's. */
static const ds_face_patch *dividing_patch(const ds_face_contacts *out, const ds_faces *fa, const ds_faces *fb,
                                           const frame *b, double reach) {
  const ds_faces *const faces[2] = {fa, fb};
  if (!fa->complete || !fb->complete || fa->corner_count == 0 || fb->corner_count == 0) return NULL;
  for (int32_t k = 0; k < out->patch_count; k++)
    if (holds_all(out, &out->patches[k], faces, b, reach)) return &out->patches[k];
  return NULL;
}

static bool is_wall(const ds_face_patch *p, const ds_placed_face *f) { return fabs(v3_dot(p->normal, f->n)) < wall; }

typedef struct near_set { /* faces of one shape that are near the other */
  ds_placed_face *face;
  int32_t count;
} near_set;

static void pair_parallel(ds_arena *arena, ds_face_contacts *out, const ds_face_query *query, const near_set *a,
                          const near_set *b, double reach) {
  for (int32_t i = 0; i < a->count; i++)
    for (int32_t j = 0; j < b->count; j++)
      if (-v3_dot(a->face[i].n, b->face[j].n) >= DS_PARALLEL && look_at_each_other(&a->face[i], &b->face[j], reach))
        ds_face_pair(arena, out, query, &a->face[i], &b->face[j]);
}

/* Faces that touch with an edge or a corner. Of faces beside a patch, most is the patch's. */
static void pair_others(ds_arena *arena, ds_face_contacts *out, const ds_face_query *query, const near_set *a,
                        const near_set *b, const ds_face_patch *divide, double reach) {
  for (int32_t i = 0; i < a->count; i++)
    for (int32_t j = 0; j < b->count; j++) {
      const ds_placed_face *f = &a->face[i], *g = &b->face[j];
      double cosine = -v3_dot(f->n, g->n);
      if (cosine >= DS_PARALLEL || cosine < facing) continue;
      if (divide && is_wall(divide, f) && is_wall(divide, g)) continue;
      if (!look_at_each_other(f, g, reach)) continue;
      if (is_border_of_patch(out, f, g, reach) || is_border_of_patch(out, g, f, reach)) continue;
      ds_face_pair(arena, out, query, f, g);
    }
}

/* Drops what repeats a place with the same normal: a corner or crossing that belongs to more than one pair of faces. */
static void drop_doubles(ds_face_contacts *out, double eps) {
  int32_t kept = 0;
  for (int32_t i = 0; i < out->count; i++) {
    const ds_candidate *c = &out->found[i];
    bool again = false;
    for (int32_t k = 0; k < kept && !again; k++)
      again = out->found[k].feature == c->feature ||
              (v3_dist(out->found[k].point, c->point) < 2 * eps && v3_dot(out->found[k].normal, c->normal) > 1 - 1e-6);
    if (!again) out->found[kept++] = *c;
  }
  out->count = kept;
}

void ds_face_pairs(ds_arena *arena, ds_face_contacts *out, const ds_face_query *query) {
  const ds_faces *fa = ds_shape_get_faces(query->a->shape), *fb = ds_shape_get_faces(query->b->shape);
  *out = (ds_face_contacts){0};
  if (!fa || !fb) return;
  frame b = {.r = ds_mat3_tmul(&query->a->r, &query->b->r)};
  b.back = ds_mat3_transpose(&b.r);
  b.p = mat3_tmul_v3(&query->a->r, v3_sub(query->b->p, query->a->p));
  b.q = v3_neg(mat3_mul_v3(&b.back, b.p));
  bounds a_in_b = turn_box(&b.back, b.q, fa->low, fa->high), b_in_a = turn_box(&b.r, b.p, fb->low, fb->high);
  bool plane_a = fa->side_count == 0, plane_b = fb->side_count == 0;
  double reach = query->reach + query->eps + much * (v3_norm(b.p) + query->reach);
  near_set of_a, of_b;
  of_a.count = near_faces(arena, &of_a.face, fa, plane_b ? NULL : &b_in_a, NULL, reach);
  of_b.count = near_faces(arena, &of_b.face, fb, plane_a ? NULL : &a_in_b, &b, reach);
  pair_parallel(arena, out, query, &of_a, &of_b, reach);
  const ds_face_patch *divide = dividing_patch(out, fa, fb, &b, reach);
  ds_face_patch copy = divide ? *divide : (ds_face_patch){.count = 0}; /* their array may move */
  pair_others(arena, out, query, &of_a, &of_b, divide ? &copy : NULL, reach);
  if (ds_arena_failed(arena)) out->failed = true;
  drop_rims(out, query->check);
  drop_doubles(out, query->eps);
}
