/* Assemblies: memory, checks, copies without a block; and what forces do at their interfaces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec3.h"
#include "drystone/stand.h"

ds_assembly_options ds_default_assembly_options(void) {
  return (ds_assembly_options){.mu = -1, .density = 2500, .clutch = 0.98};
}

void ds_assembly_free(ds_assembly *a) {
  if (!a) return;
  free(a->blocks);
  free(a->interfaces);
  free(a->points);
  free(a->strength);
  free(a->corners);
  free(a->face);
  free(a->block_face);
  free(a);
}

ds_vec3 ds_twist_at(ds_twist twist, ds_vec3 point) { return v3_add(twist.v, v3_cross(twist.w, point)); }

static ds_status check_block(const ds_block *b, int32_t i, ds_error *error) {
  if (!v3_finite(b->center) || !v3_finite(b->force) || !v3_finite(b->torque))
    return ds_fail(error, DS_ERROR_INPUT, "block %d (%s): centre or load is not finite", (int)i, b->name);
  if (b->support) return DS_OK;
  double inertia = b->inertia[0] + b->inertia[4] + b->inertia[8];
  if (!(b->mass > 0) || !isfinite(b->mass) || !(inertia > 0) || !isfinite(inertia))
    return ds_fail(error, DS_ERROR_INPUT, "block %d (%s): mass %g kg, inertia %g kg m²; both must be positive", (int)i,
                   b->name, b->mass, inertia);
  return DS_OK;
}

static ds_status check_interface(const ds_assembly *a, int32_t i, ds_error *error) {
  const ds_interface *face = &a->interfaces[i];
  if (face->a < 0 || face->b < 0 || face->a >= a->block_count || face->b >= a->block_count || face->a == face->b)
    return ds_fail(error, DS_ERROR_INPUT, "interface %d: blocks %d and %d; expected two different ones below %d",
                   (int)i, (int)face->a, (int)face->b, (int)a->block_count);
  if (face->first < 0 || face->count < 1 || face->first > a->point_count - face->count)
    return ds_fail(error, DS_ERROR_INPUT, "interface %d: points %d to %d; there are %d", (int)i, (int)face->first,
                   (int)face->first + (int)face->count - 1, (int)a->point_count);
  if (!(fabs(v3_norm(face->normal) - 1) < 1e-6))
    return ds_fail(error, DS_ERROR_INPUT, "interface %d: its normal has length %g; expected 1", (int)i,
                   v3_norm(face->normal));
  if (!(face->mu >= 0 && face->mu <= 1e6))
    return ds_fail(error, DS_ERROR_INPUT, "interface %d: friction %g; expected 0 to 1e6", (int)i, face->mu);
  if (!(face->tension >= 0 && isfinite(face->tension)))
    return ds_fail(error, DS_ERROR_INPUT, "interface %d: tension %g N; expected 0 or more", (int)i, face->tension);
  return DS_OK;
}

ds_status ds_assembly_check(const ds_assembly *a, ds_error *error) {
  if (!v3_finite(a->gravity)) return ds_fail(error, DS_ERROR_INPUT, "gravity is not finite");
  for (int32_t i = 0; i < a->block_count; i++)
    if (check_block(&a->blocks[i], i, error) != DS_OK) return DS_ERROR_INPUT;
  int32_t next = 0;
  for (int32_t i = 0; i < a->interface_count; i++) {
    if (check_interface(a, i, error) != DS_OK) return DS_ERROR_INPUT;
    if (a->interfaces[i].first != next)
      return ds_fail(error, DS_ERROR_INPUT, "interface %d: its points start at %d; expected %d", (int)i,
                     (int)a->interfaces[i].first, (int)next);
    next += a->interfaces[i].count;
  }
  if (next != a->point_count)
    return ds_fail(error, DS_ERROR_INPUT, "%d points, but the interfaces have %d", (int)a->point_count, (int)next);
  for (int32_t k = 0; k < a->point_count; k++)
    if (!v3_finite(a->points[k])) return ds_fail(error, DS_ERROR_INPUT, "point %d is not finite", (int)k);
  for (int32_t k = 0; k < a->point_count && a->strength; k++)
    if (!(a->strength[k] >= 0 && isfinite(a->strength[k])))
      return ds_fail(error, DS_ERROR_INPUT, "point %d: strength %g N; expected 0 (unlimited) or more", (int)k,
                     a->strength[k]);
  return DS_OK;
}

ds_assembly *ds_assembly_without(const ds_assembly *a, int32_t block) {
  ds_assembly *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  *b = *a;
  b->blocks = malloc(((size_t)a->block_count + 1) * sizeof *b->blocks);
  b->interfaces = malloc(((size_t)a->interface_count + 1) * sizeof *b->interfaces);
  b->points = malloc(((size_t)a->point_count + 1) * sizeof *b->points);
  b->strength = a->strength ? malloc(((size_t)a->point_count + 1) * sizeof *b->strength) : NULL;
  b->corners = NULL, b->face = b->block_face = NULL;
  b->block_count = b->interface_count = b->point_count = 0;
  if (!b->blocks || !b->interfaces || !b->points || (a->strength && !b->strength)) {
    ds_assembly_free(b);
    return NULL;
  }
  for (int32_t i = 0; i < a->block_count; i++)
    if (i != block) b->blocks[b->block_count++] = a->blocks[i];
  for (int32_t i = 0; i < a->interface_count; i++) {
    ds_interface face = a->interfaces[i];
    if (face.a == block || face.b == block) continue;
    memcpy(b->points + b->point_count, a->points + face.first, (size_t)face.count * sizeof *b->points);
    if (a->strength)
      memcpy(b->strength + b->point_count, a->strength + face.first, (size_t)face.count * sizeof *b->strength);
    face.first = b->point_count;
    face.a -= block >= 0 && face.a > block, face.b -= block >= 0 && face.b > block;
    b->point_count += face.count;
    b->interfaces[b->interface_count++] = face;
  }
  return b;
}

static ds_vec3 force_at(const ds_assembly *a, const ds_stand *s, int32_t interface, int32_t k) {
  return v3_mad(s->friction[k], s->normal[k], a->interfaces[interface].normal);
}

/* How near a point is to the edge of the polygon, seen from its middle: 0 in the middle, 1 on the edge. */
static double place_in_section(const ds_assembly *a, const ds_interface *face, ds_vec3 center) {
  ds_vec3 middle = {0, 0, 0};
  const ds_vec3 *p = a->points + face->first;
  double share = 0;
  for (int32_t k = 0; k < face->count; k++) middle = v3_mad(middle, 1.0 / face->count, p[k]);
  if (face->count == 2 && v3_dist(p[0], p[1]) > 0) return 2 * v3_dist(center, middle) / v3_dist(p[0], p[1]);
  for (int32_t k = 0; k < face->count && face->count > 2; k++) {
    ds_vec3 q = p[(k + 1) % face->count], out = v3_cross(v3_sub(q, p[k]), face->normal);
    double whole = v3_dot(out, v3_sub(p[k], middle));
    if (whole != 0) share = fmax(share, v3_dot(out, v3_sub(center, middle)) / whole);
  }
  return share;
}

/* The share of the tension that is used if normal forces are linear over the points, n = N / count + b x + c y about
 * their middle, with the same sum and moments: sum n x = b sum x² + c sum x y, likewise y. At most 1. */
static double tension_used(const ds_assembly *a, const double *normal, const ds_interface *face, ds_vec3 middle) {
  double sum = 0, xx = 0, xy = 0, yy = 0, mx = 0, my = 0, used = 0;
  ds_vec3 t1, t2;
  v3_tangents(&t1, &t2, face->normal);
  for (int32_t k = face->first; k < face->first + face->count; k++) {
    ds_vec3 d = v3_sub(a->points[k], middle);
    double x = v3_dot(d, t1), y = v3_dot(d, t2);
    sum += normal[k], mx += normal[k] * x, my += normal[k] * y;
    xx += x * x, xy += x * y, yy += y * y;
  }
  double line = 1e-9 * (xx + yy); /* points in a line have no slope across it */
  xx += line, yy += line;
  double det = xx * yy - xy * xy, b = det > 0 ? (yy * mx - xy * my) / det : 0,
         c = det > 0 ? (xx * my - xy * mx) / det : 0;
  for (int32_t k = face->first; k < face->first + face->count; k++) {
    ds_vec3 d = v3_sub(a->points[k], middle);
    used = fmax(used, -(sum / face->count + b * v3_dot(d, t1) + c * v3_dot(d, t2)) / face->tension);
  }
  return fmin(used, 1);
}

ds_thrust ds_interface_thrust(const ds_assembly *a, const ds_stand *s, int32_t interface) {
  const ds_interface *face = &a->interfaces[interface];
  ds_thrust thrust = {.center = {0, 0, 0}};
  double friction = 0, limit = 0;
  for (int32_t k = face->first; k < face->first + face->count; k++) {
    thrust.force = v3_add(thrust.force, force_at(a, s, interface, k));
    thrust.normal += s->normal[k];
    thrust.center = v3_mad(thrust.center, s->normal[k], a->points[k]);
    friction += v3_norm(s->friction[k]), limit += face->mu * (s->normal[k] + face->tension);
  }
  thrust.friction = limit > 0 ? friction / limit : 0;
  if (face->tension > 0) { /* it has no centre of pressure: the share of the tension that is used, in the middle */
    thrust.center = v3(0, 0, 0);
    for (int32_t k = face->first; k < face->first + face->count; k++)
      thrust.center = v3_mad(thrust.center, 1.0 / face->count, a->points[k]);
    thrust.section = tension_used(a, s->normal, face, thrust.center);
    return thrust;
  }
  if (!(thrust.normal > 0)) {
    thrust.center = a->points[face->first];
    return thrust;
  }
  thrust.center = v3_scale(1 / thrust.normal, thrust.center);
  thrust.section = place_in_section(a, face, thrust.center);
  return thrust;
}

void ds_support_reaction(ds_vec3 *force, ds_vec3 *torque, const ds_assembly *a, const ds_stand *s, int32_t block) {
  *force = *torque = v3(0, 0, 0);
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    if (face->a != block && face->b != block) continue;
    double sign = face->b == block ? 1 : -1;
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      ds_vec3 f = v3_scale(sign, force_at(a, s, i, k));
      *force = v3_add(*force, f);
      *torque = v3_add(*torque, v3_cross(v3_sub(a->points[k], a->blocks[block].center), f));
    }
  }
}
