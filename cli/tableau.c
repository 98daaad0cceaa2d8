/* A scene as triangles.
 *
 * The picture is framed on the bodies that framed.c chooses. The highest horizontal half-space is the ground. A tilted
 * one is cut to a polygon around the bodies, now and at the start, and by the other half-spaces. A single one that is
 * not steep is drawn as a ramp with a floor at its foot; others are surfaces seen only from their free side. One that
 * faces down is not drawn. A solid is prepared for drawing once, with fewer triangles the more bodies have one, and
 * still fewer for shadows; a deformable body is prepared in its current shape. Hidden bodies are as if they were not in
 * the scene. */
#include "tableau.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/vec3.h"
#include "bodies.h"
#include "drystone/inspect.h"
#include "framed.h"
#include "palette.h"
#include "tessellate.h"
#include "wardrobe.h"

#define TRIANGLE_BUDGET 100000.0 /* for all curved shapes together */
#define SEGMENTS_MIN 8
#define SEGMENTS_MAX 96
#define POINTS_MAX 20000
#define POINTS_EXTRA 24 /* corners of a ramp, or two on the ground */
#define POLYGON_MAX 32
#define LEVEL 0.99996 /* a half-space whose normal is this much up is ground: within half a degree */
#define STEEP 0.3     /* below this it is a wall */

typedef struct builder {
  ds_tableau *tableau;
  const ds_scene *scene;
  const ds_pose *poses;
  const double *reduced; /* NULL = undeformed */
  const bool *hidden;    /* one per body; NULL = none */
  const ds_vec3 *colors; /* one per body; NULL = the usual ones */
  bool *framed;          /* a body */
  int32_t segments;
  ds_wardrobe wardrobe;
  bool muted, memory_ok;
} builder;

static int32_t body_paint(builder *b, int32_t body) {
  ds_vec3 color = b->colors ? b->colors[body] : ds_palette_color(b->scene, body);
  if (b->muted && !b->colors) color = v3_add(v3_scale(0.35, color), v3_scale(0.65, v3(0.86, 0.86, 0.87)));
  int32_t paint = 0;
  if (!ds_model_add_paint(&b->tableau->model, &paint, color, 0.06)) b->memory_ok = false;
  return paint;
}

static bool add_solid(builder *b, ds_model *model, const ds_solid *solid, ds_pose pose, int32_t paint) {
  const ds_dressed *d = ds_wardrobe_dress(&b->wardrobe, solid);
  if (!d) return false;
  return ds_model_add_skin(model, model == &b->tableau->casters ? &d->caster : &d->skin, pose, paint, false);
}

/* The current surface of a deformable body, in the model and among the casters. */
static bool add_deformed(builder *b, int32_t body, ds_pose pose, int32_t paint) {
  ds_tableau *t = b->tableau;
  ds_dressed dressed;
  const double *q = b->reduced ? b->reduced + ds_body_first_reduced(b->scene, body_at(body)) : NULL;
  bool good = ds_wardrobe_dress_reduced(&dressed, &b->wardrobe, body_reduced(b->scene, body), q) &&
              ds_model_add_skin(&t->model, &dressed.skin, pose, paint, false) &&
              (!b->wardrobe.has_casters || ds_model_add_skin(&t->casters, &dressed.caster, pose, paint, false));
  ds_dressed_free(&dressed);
  return good;
}

/* ---- bodies ---- */

static bool add_shape(builder *b, ds_model *model, int32_t body, int32_t index, int32_t paint) {
  ds_shape_def shape = ds_body_shape(b->scene, body_at(body), index);
  ds_pose pose = pose_mul(b->poses[body], shape.pose);
  return shape.solid ? add_solid(b, model, shape.solid, pose, paint)
                     : ds_model_add_shape(model, pose, b->scene, body_at(body), index, b->segments, paint);
}

/* A face of the world, which casts shadows as well. */
static bool add_face(builder *b, const ds_vec3 *points, int32_t count, int32_t paint) {
  ds_tableau *t = b->tableau;
  return ds_model_add_face(&t->model, pose_identity(), points, count, paint) &&
         (!b->wardrobe.has_casters || ds_model_add_face(&t->casters, pose_identity(), points, count, paint));
}

static int32_t shapes_of(const builder *b, int32_t body) { return ds_body_shape_count(b->scene, body_at(body)); }
static ds_shape_kind kind_of(const builder *b, int32_t body, int32_t shape) {
  return ds_body_shape(b->scene, body_at(body), shape).kind;
}

static bool is_hidden(const builder *b, int32_t body) { return b->hidden && b->hidden[body]; }

static void add_body(builder *b, int32_t body) {
  int32_t paint = body_paint(b, body);
  if (b->memory_ok && body_reduced(b->scene, body)) b->memory_ok = add_deformed(b, body, b->poses[body], paint);
  for (int32_t s = 0; b->memory_ok && s < ds_body_shape_count(b->scene, body_at(body)); s++)
    b->memory_ok = add_shape(b, &b->tableau->model, body, s, paint) &&
                   (!b->wardrobe.has_casters || add_shape(b, &b->tableau->casters, body, s, paint));
}

/* ---- what the picture is framed on ---- */

static ds_vec3 vertex_point(const ds_model *model, int32_t i) {
  const float *p = model->vertices[i].position;
  return v3_add(model->origin, v3(p[0], p[1], p[2]));
}

/* The box of all vertices. */
static void measure(ds_tableau *t) {
  for (int32_t i = 0; i < t->model.vertex_count; i++) {
    ds_vec3 p = vertex_point(&t->model, i);
    t->low = i == 0 ? p : v3_min(t->low, p);
    t->high = i == 0 ? p : v3_max(t->high, p);
  }
  t->radius = 0.5 * v3_dist(t->low, t->high);
}

static bool collect_points(ds_tableau *t, int32_t count) {
  int32_t stride = 1 + count / POINTS_MAX;
  t->points = malloc((size_t)(count / stride + 2 + POINTS_EXTRA) * sizeof *t->points);
  if (!t->points) return false;
  for (int32_t i = 0; i < count; i += stride) t->points[t->point_count++] = vertex_point(&t->model, i);
  if (t->point_count == 0) t->points[t->point_count++] = t->model.origin;
  return true;
}

/* ---- half-spaces ---- */

/* A rectangle in a tilted plane: origin, unit directions downhill and level, ranges along them. */
typedef struct patch {
  ds_vec3 origin, down, level, normal;
  double down0, down1, level0, level1;
} patch;

static void patch_include(patch *p, ds_vec3 point) {
  ds_vec3 d = v3_sub(point, p->origin);
  double s = v3_dot(d, p->down), t = v3_dot(d, p->level);
  p->down0 = fmin(p->down0, s), p->down1 = fmax(p->down1, s);
  p->level0 = fmin(p->level0, t), p->level1 = fmax(p->level1, t);
}

static ds_vec3 patch_point(const patch *p, double s, double t) {
  return v3_mad(v3_mad(p->origin, s, p->down), t, p->level);
}

static patch cut_patch(const builder *b, ds_pose plane) {
  ds_vec3 n = quat_rotate(plane.q, v3(0, 0, 1)), fall = v3(0, 0, -1);
  ds_vec3 down = v3_unit(v3_mad(fall, -v3_dot(fall, n), n));
  patch p = {.origin = plane.p,
             .down = down,
             .level = v3_cross(n, down),
             .normal = n,
             .down0 = INFINITY,
             .down1 = -INFINITY,
             .level0 = INFINITY,
             .level1 = -INFINITY};
  const ds_tableau *t = b->tableau;
  for (int32_t i = 0; i < t->point_count; i++) patch_include(&p, t->points[i]);
  for (int32_t i = 0; i < ds_scene_body_count(b->scene); i++) {
    if (b->framed[i] && body_is_dynamic(b->scene, i)) patch_include(&p, ds_body_get_def(b->scene, body_at(i)).pose.p);
  }
  return p;
}

static ds_pose half_space_pose(const builder *b, int32_t body, int32_t shape) {
  return pose_mul(b->poses[body], ds_body_shape(b->scene, body_at(body), shape).pose);
}

/* A convex polygon in the making. */
typedef struct polygon {
  ds_vec3 points[POLYGON_MAX];
  int32_t count;
} polygon;

/* Keeps what is on the free side of a plane, or within the tolerance of it. */
static void clip(polygon *poly, ds_vec3 origin, ds_vec3 normal, double tolerance) {
  polygon out = {.count = 0};
  for (int32_t i = 0; i < poly->count; i++) {
    ds_vec3 p = poly->points[i], q = poly->points[(i + 1) % poly->count];
    double dp = v3_dot(v3_sub(p, origin), normal) + tolerance, dq = v3_dot(v3_sub(q, origin), normal) + tolerance;
    if (dp >= 0 && out.count < POLYGON_MAX) out.points[out.count++] = p;
    if ((dp >= 0) != (dq >= 0) && out.count < POLYGON_MAX)
      out.points[out.count++] = v3_mad(p, dp / (dp - dq), v3_sub(q, p));
  }
  *poly = out;
}

/* Cuts the polygon, which lies on one half-space, by all the others. */
static void clip_by_others(polygon *poly, const builder *b, int32_t body, int32_t shape) {
  for (int32_t i = 0; i < ds_scene_body_count(b->scene); i++) {
    for (int32_t s = 0; !is_hidden(b, i) && s < shapes_of(b, i); s++) {
      if (kind_of(b, i, s) != DS_SHAPE_HALF_SPACE || (i == body && s == shape)) continue;
      ds_pose plane = half_space_pose(b, i, s);
      clip(poly, plane.p, quat_rotate(plane.q, v3(0, 0, 1)), 1e-4 * b->tableau->radius);
    }
  }
}

static void frame_polygon(ds_tableau *t, const polygon *poly) {
  for (int32_t i = 0; i < poly->count && i < POINTS_EXTRA / 2; i++) {
    t->points[t->point_count++] = poly->points[i];
    t->points[t->point_count++] = v3(poly->points[i].x, poly->points[i].y, t->ground);
  }
}

/* A tilted half-space, cut to a polygon around the bodies. A single ramp stands on the ground, which is added if there
 * is none; if there are several, only their surfaces are drawn, and so they hide nothing from behind. */
static bool add_tilted(builder *b, int32_t body, int32_t shape, bool ramp) {
  ds_tableau *t = b->tableau;
  patch p = cut_patch(b, half_space_pose(b, body, shape));
  double margin = (!ramp ? 0.25 : t->framed_count <= 4 ? 0.9 : 0.4) * t->radius;
  p.down0 -= margin, p.down1 += (ramp ? 1.6 : 1) * margin, p.level0 -= margin, p.level1 += margin;
  polygon poly = {{patch_point(&p, p.down0, p.level0), patch_point(&p, p.down1, p.level0),
                   patch_point(&p, p.down1, p.level1), patch_point(&p, p.down0, p.level1)},
                  4};
  if (ramp && !t->has_ground) {
    t->has_ground = true;
    t->ground = fmin(t->low.z, poly.points[1].z) - 0.05 * t->radius;
  }
  clip_by_others(&poly, b, body, shape);
  if (poly.count < 3) return true;
  int32_t paint = body_paint(b, body);
  bool good = paint >= 0 && add_face(b, poly.points, poly.count, paint);
  if (!ramp) return good;
  frame_polygon(t, &poly);
  t->has_surroundings = true;
  for (int32_t i = 0; good && i < poly.count; i++) {
    ds_vec3 c = poly.points[i], a = poly.points[(i + 1) % poly.count];
    ds_vec3 side[4] = {a, c, v3(c.x, c.y, t->ground), v3(a.x, a.y, t->ground)};
    good = add_face(b, side, 4, paint);
  }
  return good;
}

/* First the level ones, which give the ground, then the others. */
static void add_half_spaces(builder *b) {
  ds_tableau *t = b->tableau;
  int32_t tilted = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; b->memory_ok && i < ds_scene_body_count(b->scene); i++) {
      for (int32_t s = 0; b->memory_ok && !is_hidden(b, i) && s < shapes_of(b, i); s++) {
        if (kind_of(b, i, s) != DS_SHAPE_HALF_SPACE) continue;
        ds_pose plane = half_space_pose(b, i, s);
        double up = quat_rotate(plane.q, v3(0, 0, 1)).z;
        if (pass == 0 && up > LEVEL) {
          t->ground = t->has_ground ? fmax(t->ground, plane.p.z) : plane.p.z;
          t->has_ground = true;
        }
        if (up > LEVEL || up < -0.02) continue;
        if (pass == 0) tilted++;
        if (pass == 1) b->memory_ok = add_tilted(b, i, s, tilted == 1 && up >= STEEP);
      }
    }
  }
}

/* The ground belongs to the picture where it is not too far below. */
static void frame_ground(ds_tableau *t) {
  double drop = t->low.z - t->ground, few = t->framed_count <= 4 ? 20 : 1;
  if (!t->has_ground || t->has_surroundings || !(drop > 0.1 * t->radius) || drop > few * t->radius) return;
  t->low.z = t->ground;
  t->radius = 0.5 * v3_dist(t->low, t->high);
  t->points[t->point_count++] = t->low;
  t->points[t->point_count++] = v3(t->high.x, t->high.y, t->ground);
  t->has_surroundings = true;
}

/* ---- all together ---- */

static int32_t choose_segments(const builder *b) {
  int32_t curved = 0;
  for (int32_t i = 0; i < ds_scene_body_count(b->scene); i++) {
    for (int32_t s = 0; !is_hidden(b, i) && s < shapes_of(b, i); s++)
      curved += ds_shape_kind_is_curved(kind_of(b, i, s));
  }
  double segments = sqrt(TRIANGLE_BUDGET / fmax(1, curved));
  return (int32_t)fmin(SEGMENTS_MAX, fmax(SEGMENTS_MIN, segments));
}

/* Where the first dynamic body is that is framed, or else the first body that is. */
static ds_vec3 choose_origin(const builder *b) {
  int32_t best = -1;
  for (int32_t i = 0; i < ds_scene_body_count(b->scene); i++) {
    if (!b->framed[i]) continue;
    if (body_is_dynamic(b->scene, i)) return b->poses[i].p;
    if (best < 0) best = i;
  }
  return best < 0 ? v3(0, 0, 0) : b->poses[best].p;
}

/* Those that are framed first, the others after their points are collected. */
static void add_bodies(builder *b) {
  int32_t count = ds_scene_body_count(b->scene);
  ds_tableau *t = b->tableau;
  t->model.origin = t->casters.origin = t->low = t->high = choose_origin(b);
  for (int32_t i = 0; i < count; i++) {
    if (!b->framed[i]) continue;
    t->framed_count++;
    add_body(b, i);
  }
  measure(t);
  b->memory_ok = b->memory_ok && collect_points(t, t->model.vertex_count);
  for (int32_t i = 0; i < count; i++) {
    if (!b->framed[i] && !is_hidden(b, i)) add_body(b, i);
  }
}

ds_status ds_tableau_build(ds_tableau *tableau, const ds_bodies_at *bodies, bool muted, ds_error *error) {
  const ds_scene *scene = bodies->scene;
  *tableau = (ds_tableau){0};
  builder b = {.tableau = tableau,
               .scene = scene,
               .poses = bodies->poses,
               .reduced = bodies->reduced,
               .hidden = bodies->hidden,
               .colors = bodies->colors,
               .muted = muted,
               .memory_ok = true};
  b.segments = choose_segments(&b);
  ds_wardrobe_open(&b.wardrobe, scene, bodies->hidden);
  b.framed = calloc((size_t)ds_scene_body_count(scene) + 1, sizeof *b.framed);
  if (b.framed) {
    b.memory_ok = ds_framed_choose(b.framed, scene, bodies->poses, bodies->hidden);
    if (b.memory_ok) add_bodies(&b);
    if (b.memory_ok) add_half_spaces(&b);
    if (b.memory_ok) frame_ground(tableau);
  }
  bool good = b.framed && b.memory_ok;
  free(b.framed);
  ds_wardrobe_close(&b.wardrobe);
  if (good) return DS_OK;
  ds_tableau_free(tableau);
  snprintf(error->message, sizeof error->message, "no memory to draw %d bodies", ds_scene_body_count(scene));
  return DS_ERROR_MEMORY;
}

ds_status ds_tableau_build_mesh(ds_tableau *tableau, const ds_mesh *mesh, const ds_vec3 *rest, ds_error *error) {
  static const ds_vec3 front = {0.86, 0.70, 0.48}, behind = {0.75, 0.05, 0.05};
  ds_tableau *t = tableau;
  *t = (ds_tableau){.framed_count = 2, .has_ground = true};
  ds_wardrobe wardrobe;
  ds_dressed dressed;
  ds_wardrobe_open_mesh(&wardrobe, mesh);
  bool good = ds_wardrobe_dress_mesh(&dressed, &wardrobe, mesh, rest);
  const ds_skin *skin = &dressed.skin;
  if (good) {
    t->model.origin = t->casters.origin = t->low = t->high = mesh->vertices[mesh->triangles[0]];
    int32_t paint, inner;
    good = ds_model_add_paint(&t->model, &paint, front, 0.06) && ds_model_add_paint(&t->model, &inner, behind, 0) &&
           ds_model_add_skin(&t->model, skin, pose_identity(), paint, false);
    if (good && (skin->open_edges > 0 || skin->volume < 0))
      good = ds_model_add_skin(&t->model, skin, pose_identity(), inner, true);
    if (good && wardrobe.has_casters)
      good = ds_model_add_skin(&t->casters, &dressed.caster, pose_identity(), paint, false);
    measure(t);
    t->ground = t->low.z;
    good = good && collect_points(t, t->model.vertex_count);
  }
  ds_dressed_free(&dressed);
  if (good) return DS_OK;
  ds_tableau_free(t);
  snprintf(error->message, sizeof error->message, "no memory to draw %d triangles", mesh->triangle_count);
  return DS_ERROR_MEMORY;
}

void ds_tableau_free(ds_tableau *tableau) {
  ds_model_free(&tableau->model);
  ds_model_free(&tableau->casters);
  free(tableau->points);
  *tableau = (ds_tableau){0};
}
