/* Contacts of bodies that touch where the scene says so.
 *
 * Stones are seldom what their models are: measured or curved faces leave gaps here and overlap there, and what touches
 * in the model is not what the structure was designed to rest on. An interface is where two bodies touch at the start,
 * as given: plane faces of both, one upon the other, that move with their bodies from then on. Corners x of the smaller
 * body, which lay at y on the larger, are its contacts, with the normal n of the larger body's face and
 *
 *     gap = n . (x - y).
 *
 * They have the same names as long as the bodies lie as they did: all corners within `near` of their places, seen along
 * n, at least one of them as near along n, and the faces nearly parallel. Where an interface does not hold, contacts of
 * the pair come from the shapes. These may overlap at the start; as far as they did then they may do so for ever, gaps
 * count from there on: else what has parted could not come back to its place.
 *
 * Interfaces of a pair are all of its contacts while all of them hold. Which contacts a pair has follows from the poses
 * of its bodies alone. */
#include <math.h>

#include "base/error.h"
#include "detect/detection.h"

static const double flat = 0.99; /* cosine of 8 degrees: as faces that touch in an assembly (stand/faces.c) */
static const double beside = 1;  /* of the thinner body's thickness: points farther from a surface are not on it. Those
                                    of  the Armadillo Vault, on warped faces, are up to 0.26 from the hulls */

/* An interface with its bodies where they are. */
typedef struct placed {
  const ds_scene_interface *f;
  ds_pose a, b;
  ds_vec3 n; /* of the larger body's face, from b to a */
} placed;

static placed place(const ds_scene_interface *f, const ds_state *state) {
  placed p = {.f = f, .a = ds_principal_pose(&state->bodies[f->a]), .b = ds_principal_pose(&state->bodies[f->b])};
  p.n = f->corners_of_a ? quat_rotate(p.b.q, f->normal_b) : quat_rotate(p.a.q, f->normal_a);
  return p;
}

/* How far point k of a is from where it was on b. */
static ds_vec3 apart(const placed *p, int32_t k) {
  return v3_sub(pose_point(p->a, p->f->on_a[k]), pose_point(p->b, p->f->on_b[k]));
}

static bool holds(const ds_scene_interface *f, const ds_state *state) {
  placed p = place(f, state);
  if (v3_dot(quat_rotate(p.a.q, f->normal_a), quat_rotate(p.b.q, f->normal_b)) < flat) return false;
  double least = INFINITY;
  for (int32_t k = 0; k < f->def.point_count; k++) {
    ds_vec3 d = apart(&p, k);
    double gap = v3_dot(p.n, d);
    if (v3_norm(v3_mad(d, -gap, p.n)) > f->near) return false;
    least = fmin(least, fabs(gap));
  }
  return least <= f->near;
}

bool ds_interfaces_hold(const ds_scene_interface *f, int32_t count, const ds_state *state) {
  for (int32_t i = 0; i < count; i++)
    if (!holds(&f[i], state)) return false;
  return true;
}

bool ds_interface_points(ds_arena *arena, ds_point_list *list, const ds_scene *scene, const ds_scene_interface *f,
                         int32_t count, const ds_state *state, double reach) {
  for (int32_t i = 0; i < count; i++) {
    placed p = place(&f[i], state);
    uint64_t name = DS_FEATURE_INTERFACE | (uint64_t)(&f[i] - scene->interfaces) << 16;
    for (int32_t k = 0; k < f[i].def.point_count; k++) {
      double gap = v3_dot(p.n, apart(&p, k));
      if (!(gap < reach)) continue;
      ds_vec3 corner = f[i].corners_of_a ? pose_point(p.a, f[i].on_a[k]) : pose_point(p.b, f[i].on_b[k]);
      ds_contact_point c = {.a = f[i].a,
                            .b = f[i].b,
                            .point = v3_mad(corner, f[i].corners_of_a ? -0.5 * gap : 0.5 * gap, p.n),
                            .normal = p.n,
                            .gap = gap,
                            .feature = name | (uint64_t)k,
                            .on_a = {-1, 0, 0},
                            .on_b = {-1, 0, 0}};
      if (!ds_append_point(arena, list, &c)) return false;
    }
  }
  return true;
}

static bool can_meet(const ds_detection *d, const ds_scene_interface *f) {
  const ds_box *a = &d->boxes[f->a], *b = &d->boxes[f->b];
  if (a->low.x > a->high.x || b->low.x > b->high.x) return false; /* held, or not active */
  return (d->moving[f->a] || d->moving[f->b]) && !ds_scene_apart(d->scene, f->a, f->b);
}

static bool comes_before(int32_t a, int32_t b, ds_box_pair pair) { return a != pair.a ? a < pair.a : b < pair.b; }

bool ds_add_interfaces(ds_arena *arena, const ds_detection *d, ds_box_pair **pairs, int32_t *pair_count) {
  const ds_scene *scene = d->scene;
  int32_t n = scene->interface_count, count = 0, k = 0;
  if (n == 0) return true;
  ds_box_pair *all = DS_NEW(arena, ds_box_pair, *pair_count + n);
  if (!all) return false;
  for (int32_t i = 0; i < n; i++) {
    const ds_scene_interface *f = &scene->interfaces[i];
    bool known = i > 0 && f[-1].a == f->a && f[-1].b == f->b;
    if (known || !can_meet(d, f)) continue;
    while (k < *pair_count && !comes_before(f->a, f->b, (*pairs)[k]) &&
           !((*pairs)[k].a == f->a && (*pairs)[k].b == f->b))
      all[count++] = (*pairs)[k++];
    if (k < *pair_count && (*pairs)[k].a == f->a && (*pairs)[k].b == f->b) k++;
    all[count++] = (ds_box_pair){f->a, f->b};
  }
  while (k < *pair_count) all[count++] = (*pairs)[k++];
  *pairs = all;
  *pair_count = count;
  return true;
}

/* ---- at the end of building a scene ---- */

/* How far a point is from the surface of a body; 0 if that is not known. */
static double distance_to(const ds_detection *d, int32_t body, ds_vec3 x) {
  const ds_body *b = &d->scene->bodies[body];
  double least = INFINITY;
  for (int32_t i = 0; i < b->shape_count; i++) {
    if (!ds_can_collide(&b->shapes[i])) return 0;
    ds_pose pose = d->shapes[d->first_shape[body] + i].pose;
    least = fmin(least, fabs(ds_shape_distance_alone(&b->shapes[i], pose_unpoint(pose, x))));
  }
  return least;
}

/* Without limit where it is not known, as of a solid that is only drawn. */
static double thickness_of(const ds_body *b) {
  for (int32_t i = 0; i < b->shape_count; i++)
    if (!ds_can_collide(&b->shapes[i])) return INFINITY;
  return b->thickness;
}

static const char *name_of(const ds_scene *scene, int32_t body) {
  return scene->bodies[body].name ? scene->bodies[body].name : "";
}

static ds_status check_points(const ds_detection *d, const ds_scene_interface *f, ds_error *error) {
  double most = beside * fmin(thickness_of(&d->scene->bodies[f->a]), thickness_of(&d->scene->bodies[f->b]));
  for (int32_t k = 0; k < 2 * f->def.point_count; k++) {
    ds_body_id id = k % 2 == 0 ? f->def.a : f->def.b;
    double far = distance_to(d, ds_index(id), f->def.points[k / 2]);
    if (!(far > most)) continue;
    return ds_fail(
        error, DS_ERROR_INPUT,
        "point %d of an interface of bodies %s and %s is %.3g m off the surface of %s; expected points on both",
        (int)(k / 2), name_of(d->scene, f->a), name_of(d->scene, f->b), far, name_of(d->scene, ds_index(id)));
  }
  return DS_OK;
}

/* Of the shapes of two bodies. */
static bool measure(double *overlap, ds_arena *arena, const ds_detection *d, ds_manifold *m, ds_box_pair pair) {
  ds_point_list list = {0};
  *overlap = 0;
  if (!ds_collide_shapes(arena, &list, d, m, pair, 0, 8)) return false;
  for (int32_t i = 0; i < list.count; i++) *overlap = fmax(*overlap, -list.points[i].gap);
  return true;
}

static ds_status measure_all(ds_arena *arena, ds_scene *scene, const ds_state *state, ds_error *error) {
  ds_detection d = {.scene = scene, .state = state};
  ds_manifold *m = DS_NEW(arena, ds_manifold, 1);
  if (!m || !ds_place_shapes(arena, &d, NULL)) return DS_ERROR_MEMORY;
  d.deformed = DS_NEW0(arena, ds_deformed *, scene->body_count + 1);
  if (!d.deformed) return DS_ERROR_MEMORY;
  for (int32_t i = 0; i < scene->interface_count; i++) {
    ds_scene_interface *f = &scene->interfaces[i];
    ds_arena_mark mark = ds_arena_get_mark(arena);
    ds_status status = check_points(&d, f, error);
    if (status != DS_OK) return status;
    bool known = i > 0 && f[-1].a == f->a && f[-1].b == f->b;
    if (known)
      f->overlap = f[-1].overlap;
    else if (!measure(&f->overlap, arena, &d, m, (ds_box_pair){f->a, f->b}))
      return DS_ERROR_MEMORY;
    ds_arena_release(arena, mark);
  }
  return DS_OK;
}

ds_status ds_interfaces_measure(ds_scene *scene, ds_error *error) {
  if (scene->interface_count == 0) return DS_OK;
  ds_arena arena = {0};
  ds_state *state = ds_state_create(scene);
  ds_status status = state ? measure_all(&arena, scene, state, error) : DS_ERROR_MEMORY;
  if (status == DS_ERROR_MEMORY) ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  ds_arena_free(&arena);
  ds_state_destroy(state);
  return status;
}
