/* Mass, centre of mass and inertia of shapes and bodies; the principal frame of a body.
 *
 * Each kind of shape knows its own volume and moments [shape/]. Principal axes come from cyclic Jacobi rotations. Where
 * the inertia is already diagonal within rounding, or a ball's, the user's axes are kept. */
#include <stdio.h>
#include <string.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "shape/moments.h"

static const double diagonal_tolerance = 1e-13; /* of the trace: off-diagonal terms below it are rounding */

/* Adds the inertia of a mass at r: m (|r|² 1 - r rᵀ). */
static void add_point_mass(double inertia[9], double mass, ds_vec3 r) {
  double c[9] = {0}, i[9];
  ds_add_outer(c, mass, r);
  ds_inertia_of_moments(i, c);
  for (int k = 0; k < 9; k++) inertia[k] += i[k];
}

/* R I Rᵀ */
static void rotate_inertia(double inertia[9], ds_quat q) {
  ds_mat3 r = mat3_from_quat(q), t;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += r.m[3 * i + k] * inertia[3 * k + j];
      t.m[3 * i + j] = sum;
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += t.m[3 * i + k] * r.m[3 * j + k];
      inertia[3 * i + j] = sum;
    }
}

void ds_shape_mass(ds_mass *mass, const ds_shape *shape) {
  *mass = (ds_mass){0};
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  if (!ops->mass) return; /* of a deformable body, which has its own: reduced_mass */
  ops->mass(mass, shape);
  mass->mass *= shape->density;
  for (int i = 0; i < 9; i++) mass->inertia[i] *= shape->density;
  ds_quat q = shape->pose_in_body.q;
  mass->center = pose_point(shape->pose_in_body, mass->center);
  if (q.x != 0 || q.y != 0 || q.z != 0) rotate_inertia(mass->inertia, q);
}

/* Eigenvalues of a symmetric matrix on its diagonal, eigenvectors in the columns of v: cyclic Jacobi. */
static void jacobi(double a[9], double v[9]) {
  memcpy(v, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9 * sizeof(double));
  double trace = fabs(a[0]) + fabs(a[4]) + fabs(a[8]);
  for (int sweep = 0; sweep < 50; sweep++) {
    if (fabs(a[1]) + fabs(a[2]) + fabs(a[5]) <= 1e-17 * trace) return;
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        double apq = a[3 * p + q];
        if (apq == 0) continue;
        double theta = (a[4 * q] - a[4 * p]) / (2 * apq);
        double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
        double c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; k++) {
          double x = a[3 * k + p], y = a[3 * k + q];
          a[3 * k + p] = c * x - s * y;
          a[3 * k + q] = s * x + c * y;
        }
        for (int k = 0; k < 3; k++) {
          double x = a[3 * p + k], y = a[3 * q + k];
          a[3 * p + k] = c * x - s * y;
          a[3 * q + k] = s * x + c * y;
          x = v[3 * k + p];
          y = v[3 * k + q];
          v[3 * k + p] = c * x - s * y;
          v[3 * k + q] = s * x + c * y;
        }
      }
  }
}

/* Axes of the principal frame in the user frame, and moments along them. */
static ds_quat principal_axes(ds_vec3 *moments, const double inertia[9]) {
  double a[9], v[9], trace = inertia[0] + inertia[4] + inertia[8];
  memcpy(a, inertia, sizeof a);
  double off = fmax(fabs(a[1]), fmax(fabs(a[2]), fabs(a[5])));
  *moments = v3(a[0], a[4], a[8]);
  if (off <= diagonal_tolerance * trace) return quat_identity();
  jacobi(a, v);
  *moments = v3(a[0], a[4], a[8]);
  double low = fmin(a[0], fmin(a[4], a[8])), high = fmax(a[0], fmax(a[4], a[8]));
  if (high - low <= diagonal_tolerance * trace) return quat_identity();
  ds_vec3 x = v3(v[0], v[3], v[6]), y = v3(v[1], v[4], v[7]), z = v3(v[2], v[5], v[8]);
  if (v3_dot(v3_cross(x, y), z) < 0)
    for (int k = 0; k < 3; k++) v[3 * k + 2] = -v[3 * k + 2];
  return quat_from_mat3(v);
}

/* Radius about the shape's own origin, and about the body's centre of mass. */
static void bound_shape(ds_shape *shape, double *body_radius) {
  const ds_shape_ops *ops = ds_shape_ops_of(shape);
  shape->bounding_radius = ops->reach(shape, pose_identity());
  *body_radius = fmax(*body_radius, ops->reach(shape, shape->pose));
}

static ds_status fail(const ds_body *body, ds_error *error, const char *message) {
  if (error) {
    const char *name = body->name ? body->name : "";
    snprintf(error->message, sizeof error->message, "body '%.100s': %s", name, message);
  }
  return DS_ERROR_INPUT;
}

/* Sums the shapes in the user frame. */
static void sum_shapes(ds_mass *total, const ds_body *body) {
  *total = (ds_mass){0};
  for (int32_t i = 0; i < body->shape_count; i++) {
    ds_mass m;
    ds_shape_mass(&m, &body->shapes[i]);
    total->mass += m.mass;
    total->center = v3_mad(total->center, m.mass, m.center);
  }
  if (!(total->mass > 0)) return;
  /* one shape keeps its centre to the last bit */
  total->center = v3_scale(1 / total->mass, total->center);
  for (int32_t i = 0; i < body->shape_count; i++) {
    ds_mass m;
    ds_shape_mass(&m, &body->shapes[i]);
    if (body->shape_count == 1) total->center = m.center;
    for (int k = 0; k < 9; k++) total->inertia[k] += m.inertia[k];
    add_point_mass(total->inertia, m.mass, v3_sub(m.center, total->center));
  }
  for (int i = 0; i < 3; i++)
    for (int j = i + 1; j < 3; j++)
      total->inertia[3 * i + j] = total->inertia[3 * j + i] =
          0.5 * (total->inertia[3 * i + j] + total->inertia[3 * j + i]);
}

/* Mass, centre and inertia of a deformable body, undeformed, from its principal frame into the user frame. */
static void reduced_mass(ds_mass *mass, const ds_reduced *reduced) {
  ds_pose principal = pose_inverse(reduced->frame);
  *mass = (ds_mass){.mass = reduced->mass, .center = principal.p};
  mass->inertia[0] = reduced->inertia.x, mass->inertia[4] = reduced->inertia.y, mass->inertia[8] = reduced->inertia.z;
  rotate_inertia(mass->inertia, principal.q);
}

ds_status ds_body_take_reduced(ds_body *body, ds_error *error) {
  (void)error;
  ds_shape *shape = &body->shapes[0];
  body->reduced = shape->reduced;
  body->r = body->reduced->r;
  body->skin = &body->reduced->skin;
  reduced_mass(&body->mass, body->reduced);
  body->inertia = body->reduced->inertia;
  body->user_frame = body->reduced->frame;
  shape->pose = pose_identity(); /* its surface lies in the principal frame */
  body->bounding_radius = 0;
  bound_shape(shape, &body->bounding_radius);
  body->thickness = ds_shape_ops_of(shape)->thickness(shape);
  return DS_OK;
}

/* Places the shapes in the principal frame, which is given in the user frame, and bounds the body. */
static void place_shapes(ds_body *body, ds_pose principal) {
  body->user_frame = pose_inverse(principal);
  body->bounding_radius = 0;
  body->thickness = INFINITY;
  for (int32_t i = 0; i < body->shape_count; i++) {
    ds_shape *shape = &body->shapes[i];
    shape->pose = pose_mul(body->user_frame, shape->pose_in_body);
    shape->pose.q = quat_unit(shape->pose.q);
    bound_shape(shape, &body->bounding_radius);
    body->thickness = fmin(body->thickness, ds_shape_ops_of(shape)->thickness(shape));
  }
}

ds_status ds_body_place_shapes(ds_body *body, ds_error *error) {
  (void)error;
  place_shapes(body, pose_identity());
  return DS_OK;
}

ds_status ds_body_sum_shapes(ds_body *body, ds_error *error) {
  ds_mass mass;
  ds_vec3 moments;
  for (int32_t i = 0; i < body->shape_count; i++)
    if (ds_shape_ops_of(&body->shapes[i])->unbounded)
      return fail(body, error, "a half-space cannot move; make the body static or kinematic");
  if (body->shape_count == 0) return fail(body, error, "a dynamic body needs at least one shape to have a mass");
  sum_shapes(&mass, body);
  if (!(mass.mass > 0) || !isfinite(mass.mass))
    return fail(body, error, "a dynamic body needs a positive, finite mass; give its shapes a density above 0");
  double given = body->def.mass;
  if (given > 0) {
    for (int i = 0; i < 9; i++) mass.inertia[i] *= given / mass.mass;
    mass.mass = given;
  }
  ds_quat axes = principal_axes(&moments, mass.inertia);
  if (!(moments.x > 0 && moments.y > 0 && moments.z > 0) || !isfinite(moments.x + moments.y + moments.z))
    return fail(body, error, "the inertia of a dynamic body must be positive; its shapes are too small or too thin");
  body->mass = mass;
  body->inertia = moments;
  place_shapes(body, (ds_pose){mass.center, axes});
  return DS_OK;
}
