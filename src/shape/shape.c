/* Operations of all shapes, by the table of their kind. An operation that a kind leaves out and that follows from
 * another one is derived here. */
#include "shape/shape.h"

#include <string.h>

#include "base/error.h"
#include "shape/separation.h"

/* ---- measures ---- */

static bool positive(double x) { return x > 0 && isfinite(x); }

/* The value of a measure of one or three lengths; returns how many. */
static int lengths_of(double out[3], const ds_measure *m, const void *def) {
  int count = m->kind == DS_MEASURE_LENGTH ? 1 : 3;
  memcpy(out, (const char *)def + m->offset, (size_t)count * sizeof *out);
  return count;
}

ds_status ds_shape_check(const ds_shape_def *def, ds_error *error) {
  if ((int)def->kind < 0 || (int)def->kind >= ds_shape_kind_count)
    return ds_fail(error, DS_ERROR_INPUT, "unknown shape kind %d", (int)def->kind);
  const ds_shape_ops *ops = ds_shape_kinds[def->kind];
  for (int i = 0; i < DS_MEASURES_MAX && ops->measures[i].key; i++) {
    const ds_measure *m = &ops->measures[i];
    double x[3];
    if (m->kind == DS_MEASURE_SOLID && !def->solid)
      return ds_fail(error, DS_ERROR_INPUT, "a shape of kind solid needs a solid: build one with ds_solid_create");
    if (m->kind != DS_MEASURE_LENGTH && m->kind != DS_MEASURE_LENGTHS) continue; /* points: ds_hull_build checks */
    for (int k = 0, count = lengths_of(x, m, def); k < count; k++)
      if (!positive(x[k]))
        return ds_fail(error, DS_ERROR_INPUT, "%s with %s%s = %g m: must be positive", ops->name,
                       m->share == 1 ? "" : "half ", m->key, x[k]);
  }
  return DS_OK;
}

bool ds_shape_same_form(const ds_shape *a, const ds_shape *b) {
  if (a->kind != b->kind || a->solid != b->solid || a->reduced != b->reduced) return false;
  const ds_shape_ops *ops = ds_shape_ops_of(a);
  ds_shape_def da = {.radius = a->radius, .half_length = a->half_length, .half = a->half};
  ds_shape_def db = {.radius = b->radius, .half_length = b->half_length, .half = b->half};
  for (int i = 0; i < DS_MEASURES_MAX && ops->measures[i].key; i++) {
    const ds_measure *m = &ops->measures[i];
    double x[3], y[3];
    if (m->kind == DS_MEASURE_POINTS && (a->point_count != b->point_count ||
                                         memcmp(a->points, b->points, (size_t)a->point_count * sizeof *a->points) != 0))
      return false;
    if (m->kind != DS_MEASURE_LENGTH && m->kind != DS_MEASURE_LENGTHS) continue;
    size_t count = (size_t)lengths_of(x, m, &da);
    lengths_of(y, m, &db);
    if (memcmp(x, y, count * sizeof *x) != 0) return false;
  }
  return true;
}

/* ---- geometry ---- */

ds_vec3 ds_shape_support(const ds_shape *shape, ds_vec3 direction) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  ds_vec3 x = ops->support(shape, direction);
  return ops->rounded ? v3_mad(x, shape->radius, direction) : x;
}

double ds_shape_distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  if (ops->distance) return ops->distance(normal, shape, x);
  if (ops->support) return ds_point_separation(normal, shape, x);
  *normal = v3(0, 0, 1);
  return INFINITY;
}

double ds_shape_distance_alone(const ds_shape *shape, ds_vec3 x) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  ds_vec3 n;
  return ops->distance_alone ? ops->distance_alone(shape, x) : ds_shape_distance(&n, shape, x);
}

double ds_shape_ray(ds_vec3 *normal, const ds_shape *shape, ds_pose pose, ds_vec3 origin, ds_vec3 direction,
                    double max_distance) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  if (!ops->ray) return -1;
  ds_vec3 o = pose_unpoint(pose, origin), dir = quat_unrotate(pose.q, direction);
  double t = ops->ray(normal, shape, o, dir, max_distance);
  if (t >= 0) *normal = quat_rotate(pose.q, *normal);
  return t;
}

void ds_shape_bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  if (ops->bounds) {
    ops->bounds(low, high, shape, pose);
    return;
  }
  ds_mat3 r = mat3_from_quat(pose.q);
  double most[6];
  for (int i = 0; i < 6; i++) {
    double sign = i < 3 ? -1 : 1;
    const double *row = r.m + 3 * (i % 3); /* the axis of the world, in the shape's frame */
    ds_vec3 d = v3(sign * row[0], sign * row[1], sign * row[2]);
    most[i] = sign * v3_dot(d, ds_shape_support(shape, d));
  }
  *low = v3_add(pose.p, v3(most[0], most[1], most[2]));
  *high = v3_add(pose.p, v3(most[3], most[4], most[5]));
}

/* ---- the part that meets a plane ---- */

static const double nudge = 1e-3; /* rad: a flat part this much off the plane is still found */
static const double apart = 0.05; /* of the bounding radius: supports nearer to each other belong to a curve */

/* Supports along directions around the given one: far apart on a flat part or a line, near each other on a curve. */
static void face_by_supports(ds_shape_face *face, const ds_shape *shape, ds_vec3 d) {
  enum { AROUND = 8 };
  ds_vec3 t1, t2, x0 = ds_shape_support(shape, d);
  face->count = 0;
  /* directions of the shape's own frame: points of a face keep their numbers while the body turns */
  t1 = fabs(d.x) < 0.8 ? v3_unit(v3_cross(d, v3(1, 0, 0))) : v3_unit(v3_cross(d, v3(0, 1, 0)));
  t2 = v3_cross(d, t1);
  for (int i = 0; i < AROUND; i++) {
    double angle = 2 * DS_PI * i / AROUND;
    ds_vec3 e = v3_add(v3_scale(cos(angle), t1), v3_scale(sin(angle), t2));
    ds_vec3 x = ds_shape_support(shape, v3_unit(v3_mad(d, nudge, e)));
    bool far = v3_dist(x, x0) > apart * shape->bounding_radius;
    for (int32_t k = 0; k < face->count && far; k++) far = v3_dist(x, face->points[k]) > apart * shape->bounding_radius;
    if (!far && i > 0) continue;
    if (i == 0 && !far) x = x0;
    face->points[face->count] = x;
    face->ids[face->count++] = (uint32_t)i;
  }
}

void ds_shape_get_face(ds_shape_face *face, const ds_shape *shape, ds_vec3 direction, int32_t wanted) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  if (ops->smooth) {
    face->count = 1;
    face->points[0] = ds_shape_support(shape, direction);
    face->ids[0] = 0;
  } else if (ops->face) {
    ops->face(face, shape, direction, wanted);
  } else {
    face_by_supports(face, shape, direction);
  }
}

const char *ds_shape_kind_name(ds_shape_kind kind) {
  return (int)kind >= 0 && (int)kind < ds_shape_kind_count ? ds_shape_kinds[kind]->name : NULL;
}

bool ds_shape_kind_is_curved(ds_shape_kind kind) { return ds_shape_kinds[kind]->curved; }
