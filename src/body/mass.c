/* Mass, centre of mass and inertia of shapes and bodies; the principal frame of a body.
 *
 * Sphere, box, capsule and cylinder have closed forms. A hull is cut into tetrahedra from an inner point; with vertices
 * a, b, c and the origin, volume V = a.(b x c)/6, integral of x = V/4 (a + b + c), integral of x xᵀ =
 * V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ), s = a + b + c: exact. Principal axes come from cyclic Jacobi rotations. Where the
 * inertia is already diagonal within rounding, or a ball's, the user's axes are kept. */
#include <stdio.h>
#include <string.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "mesh/solid.h"

static const double diagonal_tolerance = 1e-13; /* of the trace: off-diagonal terms below it are rounding */

static ds_mat3 outer(double s, ds_vec3 a) {
  return (ds_mat3){{s * a.x * a.x, s * a.x * a.y, s * a.x * a.z, s * a.y * a.x, s * a.y * a.y, s * a.y * a.z,
                    s * a.z * a.x, s * a.z * a.y, s * a.z * a.z}};
}

static void add_to(double m[9], const ds_mat3 *a) {
  for (int i = 0; i < 9; i++) m[i] += a->m[i];
}

/* Inertia from the second moment C = integral of x xᵀ: tr(C) 1 - C. */
static void inertia_of_moments(double inertia[9], const double c[9]) {
  double trace = c[0] + c[4] + c[8];
  for (int i = 0; i < 9; i++) inertia[i] = (i % 4 == 0 ? trace : 0) - c[i];
}

/* Adds the inertia of a mass at r: m (|r|² 1 - r rᵀ). */
static void add_point_mass(double inertia[9], double mass, ds_vec3 r) {
  double c[9] = {0}, i[9];
  ds_mat3 o = outer(mass, r);
  add_to(c, &o);
  inertia_of_moments(i, c);
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

/* Volume, centre and inertia about the centre, at density 1. */
static void hull_moments(ds_mass *mass, const ds_hull *h) {
  double volume = 0, c[9] = {0};
  ds_vec3 first = v3(0, 0, 0);
  for (int32_t f = 0; f < h->face_count; f++) {
    ds_vec3 a = v3_sub(h->vertices[h->face_vertex[h->face_start[f]]], h->center);
    for (int32_t i = h->face_start[f] + 1; i + 1 < h->face_start[f + 1]; i++) {
      ds_vec3 b = v3_sub(h->vertices[h->face_vertex[i]], h->center);
      ds_vec3 d = v3_sub(h->vertices[h->face_vertex[i + 1]], h->center), s = v3_add(a, v3_add(b, d));
      double v = v3_dot(a, v3_cross(b, d)) / 6;
      const ds_vec3 terms[4] = {a, b, d, s};
      volume += v;
      first = v3_mad(first, v / 4, s);
      for (int k = 0; k < 4; k++) {
        ds_mat3 o = outer(v / 20, terms[k]);
        add_to(c, &o);
      }
    }
  }
  ds_vec3 r = v3_scale(1 / volume, first);
  ds_mat3 shift = outer(-volume, r);
  add_to(c, &shift);
  mass->mass = volume;
  mass->center = v3_add(h->center, r);
  inertia_of_moments(mass->inertia, c);
}

static void diagonal(ds_mass *mass, double volume, double x, double y, double z) {
  mass->mass = volume;
  mass->inertia[0] = volume * x;
  mass->inertia[4] = volume * y;
  mass->inertia[8] = volume * z;
}

void ds_shape_mass(ds_mass *mass, const ds_shape *shape) {
  *mass = (ds_mass){0};
  double r = shape->radius, l = 2 * shape->half_length, r2 = r * r;
  switch (shape->kind) {
    case DS_SHAPE_SPHERE:
      diagonal(mass, 4.0 / 3.0 * DS_PI * r2 * r, 0.4 * r2, 0.4 * r2, 0.4 * r2);
      break;
    case DS_SHAPE_BOX: {
      ds_vec3 s = v3_mul(shape->half, shape->half);
      double volume = 8 * shape->half.x * shape->half.y * shape->half.z;
      diagonal(mass, volume, (s.y + s.z) / 3, (s.x + s.z) / 3, (s.x + s.y) / 3);
      break;
    }
    case DS_SHAPE_CYLINDER:
      diagonal(mass, DS_PI * r2 * l, r2 / 4 + l * l / 12, r2 / 4 + l * l / 12, r2 / 2);
      break;
    case DS_SHAPE_CAPSULE: {
      /* a cylinder and two half-balls, each with its centre 3r/8 beyond the cylinder's end */
      double cyl = DS_PI * r2 * l, ball = 4.0 / 3.0 * DS_PI * r2 * r;
      double across = cyl * (r2 / 4 + l * l / 12) + ball * (0.4 * r2 + l * l / 4 + 3 * l * r / 8);
      mass->mass = cyl + ball;
      mass->inertia[0] = mass->inertia[4] = across;
      mass->inertia[8] = cyl * r2 / 2 + ball * 0.4 * r2;
      break;
    }
    case DS_SHAPE_HULL:
      hull_moments(mass, &shape->hull);
      break;
    case DS_SHAPE_HALF_SPACE:
      break;
    case DS_SHAPE_SOLID:
      *mass = shape->solid->mass;
      break;
    case DS_SHAPE_REDUCED: /* with its own density: reduced_mass */
      return;
  }
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

/* The least way across a shape. */
static double thickness_of(const ds_shape *shape) {
  switch (shape->kind) {
    case DS_SHAPE_SPHERE:
    case DS_SHAPE_CAPSULE:
      return 2 * shape->radius;
    case DS_SHAPE_CYLINDER:
      return 2 * fmin(shape->radius, shape->half_length);
    case DS_SHAPE_BOX:
    case DS_SHAPE_HULL: { /* twice the way from a point well inside to the nearest face */
      double least = INFINITY;
      for (int32_t f = 0; f < shape->hull.face_count; f++)
        least = fmin(least, shape->hull.offsets[f] - v3_dot(shape->hull.normals[f], shape->hull.center));
      return 2 * least;
    }
    case DS_SHAPE_HALF_SPACE:
      return INFINITY;
    case DS_SHAPE_SOLID:
      return shape->solid->info.thickness;
    case DS_SHAPE_REDUCED:
      return shape->reduced->tree.thickness;
  }
  return INFINITY;
}

/* Radius about the shape's own origin, and about the body's centre of mass. */
static void bound_shape(ds_shape *shape, double *body_radius) {
  double own = 0, body = 0, at = v3_norm(shape->pose.p);
  switch (shape->kind) {
    case DS_SHAPE_BOX:
    case DS_SHAPE_HULL:
      for (int32_t i = 0; i < shape->hull.vertex_count; i++) {
        own = fmax(own, v3_norm(shape->hull.vertices[i]));
        body = fmax(body, v3_norm(pose_point(shape->pose, shape->hull.vertices[i])));
      }
      break;
    case DS_SHAPE_SPHERE:
      own = shape->radius;
      body = at + own;
      break;
    case DS_SHAPE_CAPSULE:
      own = shape->radius + shape->half_length;
      body = at + own;
      break;
    case DS_SHAPE_CYLINDER:
      own = hypot(shape->radius, shape->half_length);
      body = at + own;
      break;
    case DS_SHAPE_HALF_SPACE:
      own = body = INFINITY;
      break;
    case DS_SHAPE_SOLID:
      for (int32_t i = 0; i < shape->solid->mesh.vertex_count; i++) {
        own = fmax(own, v3_norm(shape->solid->mesh.vertices[i]));
        body = fmax(body, v3_norm(pose_point(shape->pose, shape->solid->mesh.vertices[i])));
      }
      break;
    case DS_SHAPE_REDUCED: /* undeformed */
      for (int32_t i = 0; i < shape->reduced->surface.vertex_count; i++)
        own = body = fmax(own, v3_norm(shape->reduced->surface.vertices[i]));
      break;
  }
  shape->bounding_radius = own;
  *body_radius = fmax(*body_radius, body);
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

static void compute_reduced(ds_body *body) {
  ds_shape *shape = &body->shapes[0];
  body->reduced = shape->reduced;
  body->r = body->reduced->r;
  reduced_mass(&body->mass, body->reduced);
  body->inertia = body->reduced->inertia;
  body->user_frame = body->reduced->frame;
  shape->pose = pose_identity(); /* its surface lies in the principal frame */
  body->bounding_radius = 0;
  bound_shape(shape, &body->bounding_radius);
  body->thickness = thickness_of(shape);
}

ds_status ds_body_compute_mass(ds_body *body, ds_error *error) {
  if (body->shape_count > 0 && body->shapes[0].kind == DS_SHAPE_REDUCED) {
    compute_reduced(body);
    return DS_OK;
  }
  ds_mass mass = {0};
  ds_pose principal = pose_identity(); /* in the user frame */
  ds_vec3 moments = v3(0, 0, 0);
  if (body->kind == DS_BODY_DYNAMIC) {
    for (int32_t i = 0; i < body->shape_count; i++)
      if (body->shapes[i].kind == DS_SHAPE_HALF_SPACE)
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
    principal = (ds_pose){mass.center, principal_axes(&moments, mass.inertia)};
    if (!(moments.x > 0 && moments.y > 0 && moments.z > 0) || !isfinite(moments.x + moments.y + moments.z))
      return fail(body, error, "the inertia of a dynamic body must be positive; its shapes are too small or too thin");
  }
  body->mass = mass;
  body->inertia = moments;
  body->user_frame = pose_inverse(principal);
  body->bounding_radius = 0;
  body->thickness = INFINITY;
  for (int32_t i = 0; i < body->shape_count; i++) {
    ds_shape *shape = &body->shapes[i];
    shape->pose = pose_mul(body->user_frame, shape->pose_in_body);
    shape->pose.q = quat_unit(shape->pose.q);
    bound_shape(shape, &body->bounding_radius);
    body->thickness = fmin(body->thickness, thickness_of(shape));
  }
  return DS_OK;
}
