/* Where friction acts under a face.
 *
 * Faces touch in the corners of their common polygon. Normal impulses there hold whatever a pressure under the face can
 * hold: the corners are its hull. Friction is another matter. Of a face under even pressure that spins on the spot it
 * has the torque mu N m, m the mean distance of the face's points from its middle c. In corners at the mean distance R
 * it has mu N R, 1.5 to 2 times as much. So the impulse of corner p stands for the pressure of its part of the face,
 * whose friction acts at
 *
 *   c + (m/R) (p - c):
 *
 * the normal row of the contact is that of the corner, the tangential rows are those of this point. It lies in the
 * plane of the face, so that friction has the same moments about axes in it: what slides, tips and stands is as before.
 * For equal distances the torque does not depend on how the corners share the load.
 *
 * m is that of the polygon, with d the distance of a side's line from c and t d its ends along it,
 *
 *   integral of r over the triangle of c and the side = d³/6 [t sqrt(1 + t²) + asinh t],
 *
 * 2/3 of the radius for the whole cap of a round body, and a quarter of the length for an edge. */
#include <math.h>

#include "assemble/assemble.h"
#include "base/plane_hull.h"

enum { POINTS_MAX = 64 };
static const double PARALLEL = 1e-6; /* of normals of one face: rounding, and less than what tips */
static const double ROUND = 1e-6;    /* of the radius: points at this distance from it are on the rim */
static const double NARROW = 1e-9;   /* of the length: a hull narrower than that is an edge */

/* Points of a patch in its plane. */
typedef struct patch {
  int32_t count;
  int32_t index[POINTS_MAX]; /* in the contact list */
  ds_plane_point at[POINTS_MAX];
  int32_t order[3 * POINTS_MAX], corner_count; /* of its convex hull, counter-clockwise */
  ds_vec3 origin, t1, t2;
} patch;

/* The name of the face that a contact is of: the shapes, or the interface. */
static uint64_t face_of(const ds_contact_point *c) {
  return ds_feature_is_interface(c->feature) ? c->feature >> 16 : c->feature >> 32;
}

/* Contacts of the same shapes from `first` on: the end, and those among them that touch with one plane. */
static int32_t take_patch(patch *p, const ds_contact_list *contacts, const ds_scene *scene, int32_t first) {
  const ds_contact_point *start = &contacts->points[first];
  double lowest = INFINITY, touching = DS_TOUCHING * ds_smaller_radius(scene, start->a, start->b);
  int32_t end = first;
  bool plain = true;
  for (; end < contacts->count; end++) {
    const ds_contact_point *c = &contacts->points[end];
    if (c->a != start->a || c->b != start->b || face_of(c) != face_of(start)) break;
    lowest = fmin(lowest, c->gap);
    plain &= !(c->in_middle[0] && c->in_middle[1]); /* what rolls has no face */
  }
  p->count = 0;
  for (int32_t k = first; k < end && plain; k++) {
    const ds_contact_point *c = &contacts->points[k];
    if (c->gap > lowest + touching) continue;
    if (p->count == POINTS_MAX || 1 - v3_dot(c->normal, contacts->points[first].normal) > PARALLEL * PARALLEL) {
      p->count = 0;
      break;
    }
    p->index[p->count++] = k;
  }
  if (p->count < 2) return end;
  p->origin = contacts->points[p->index[0]].point;
  v3_tangents(&p->t1, &p->t2, contacts->points[p->index[0]].normal);
  for (int32_t i = 0; i < p->count; i++) {
    ds_vec3 d = v3_sub(contacts->points[p->index[i]].point, p->origin);
    p->at[i] = (ds_plane_point){v3_dot(p->t1, d), v3_dot(p->t2, d)};
  }
  return end;
}

/* Middle and area of the hull. */
static double find_middle(double middle[2], const patch *p) {
  double area = 0;
  middle[0] = middle[1] = 0;
  for (int32_t i = 1; i + 1 < p->corner_count; i++) {
    int32_t a = p->order[0], b = p->order[i], c = p->order[i + 1];
    double part = 0.5 * ds_plane_turn(p->at[a], p->at[b], p->at[c]);
    area += part;
    middle[0] += part * (p->at[a].x + p->at[b].x + p->at[c].x) / 3;
    middle[1] += part * (p->at[a].y + p->at[b].y + p->at[c].y) / 3;
  }
  if (area > 0) middle[0] /= area, middle[1] /= area;
  return area;
}

/* Mean distance of the hull's points from its middle. */
static double mean_distance(const patch *p, const double middle[2], double area) {
  double sum = 0;
  for (int32_t i = 0; i < p->corner_count; i++) {
    int32_t a = p->order[i], b = p->order[(i + 1) % p->corner_count];
    double ux = p->at[b].x - p->at[a].x, uy = p->at[b].y - p->at[a].y, length = hypot(ux, uy);
    ux /= length, uy /= length;
    double ax = p->at[a].x - middle[0], ay = p->at[a].y - middle[1];
    double d = ux * ay - uy * ax, from = ux * ax + uy * ay, to = from + length;
    d = fabs(d);
    if (!(d > 0)) continue;
    from /= d, to /= d;
    sum += d * d * d / 6 * (to * hypot(1, to) - from * hypot(1, from) + asinh(to) - asinh(from));
  }
  return sum / area;
}

/* Whether all points lie on the rim of a round shape: then `middle` is on its axis. */
static bool is_cap(double middle[2], const patch *p, const ds_contact_list *contacts, const ds_body_state *s,
                   const ds_shape *shape) {
  if (!shape || !ds_shape_ops_of(shape)->capped) return false;
  ds_pose pose = pose_mul(ds_principal_pose(s), shape->pose);
  ds_vec3 axis = quat_rotate(pose.q, v3(0, 0, 1));
  for (int32_t i = 0; i < p->count; i++) {
    ds_vec3 d = v3_sub(contacts->points[p->index[i]].point, pose.p);
    double r = v3_norm(v3_mad(d, -v3_dot(d, axis), axis));
    if (fabs(r - shape->radius) > ROUND * shape->radius) return false;
  }
  ds_vec3 c = v3_sub(pose.p, p->origin);
  middle[0] = v3_dot(p->t1, c), middle[1] = v3_dot(p->t2, c);
  return p->count > 2;
}

/* The middle of an edge, and the mean distance of its points from it. */
static double find_edge(double middle[2], const patch *p) {
  int32_t low = 0, high = 0;
  for (int32_t i = 1; i < p->count; i++) {
    if (p->at[i].x < p->at[low].x || (p->at[i].x == p->at[low].x && p->at[i].y < p->at[low].y)) low = i;
    if (p->at[i].x > p->at[high].x || (p->at[i].x == p->at[high].x && p->at[i].y > p->at[high].y)) high = i;
  }
  middle[0] = 0.5 * (p->at[low].x + p->at[high].x), middle[1] = 0.5 * (p->at[low].y + p->at[high].y);
  return 0.25 * hypot(p->at[high].x - p->at[low].x, p->at[high].y - p->at[low].y);
}

static const ds_shape *shape_of(const ds_body *body, uint64_t feature, int side) {
  int32_t number = ds_feature_shape(feature, side);
  return number < body->shape_count ? &body->shapes[number] : NULL;
}

/* Mean distance of the face's points from its middle. */
static double find_mean(double middle[2], patch *p, const ds_contact_list *contacts, const ds_state *state) {
  const ds_contact_point *c = &contacts->points[p->index[0]];
  for (int side = 0; side < 2; side++) {
    int32_t body = side == 0 ? c->a : c->b;
    const ds_shape *shape = shape_of(&state->scene->bodies[body], c->feature, side);
    if (is_cap(middle, p, contacts, &state->bodies[body], shape)) return 2.0 / 3 * shape->radius;
  }
  p->corner_count = ds_plane_hull(p->order, p->at, p->count, 0);
  double edge[2], quarter = find_edge(edge, p), area = find_middle(middle, p);
  if (area > NARROW * quarter * quarter) return mean_distance(p, middle, area);
  middle[0] = edge[0], middle[1] = edge[1];
  return quarter;
}

static void spread(ds_contact_frame *frames, patch *p, const ds_contact_list *contacts, const ds_state *state) {
  double middle[2] = {0, 0}, sum = 0, mean = find_mean(middle, p, contacts, state);
  for (int32_t i = 0; i < p->count; i++) sum += hypot(p->at[i].x - middle[0], p->at[i].y - middle[1]);
  if (!(sum > 0)) return;
  double inwards = 1 - fmin(1, mean * p->count / sum);
  for (int32_t i = 0; i < p->count; i++) {
    double x = inwards * (middle[0] - p->at[i].x), y = inwards * (middle[1] - p->at[i].y);
    frames[p->index[i]].grip = v3_add(v3_scale(x, p->t1), v3_scale(y, p->t2));
  }
}

/* Whether the face between these shapes is convex. */
static bool is_plain(const ds_contact_point *c, ds_cone cone, const ds_scene *scene) {
  const ds_body *a = &scene->bodies[c->a], *b = &scene->bodies[c->b];
  if (cone != DS_CONE_COULOMB || a->ops->deforms || b->ops->deforms) return false;
  if (ds_feature_is_interface(c->feature)) return true;
  const ds_shape *one = shape_of(a, c->feature, 0), *other = shape_of(b, c->feature, 1);
  return one && other && !one->solid && !other->solid;
}

void ds_spread_friction(ds_contact_frame *frames, const ds_contact_list *contacts, const ds_state *state) {
  for (int32_t k = 0; k < contacts->count;) {
    patch p;
    const ds_contact_point *c = &contacts->points[k];
    ds_cone cone = frames[k].cone;
    k = take_patch(&p, contacts, state->scene, k);
    if (p.count > 1 && is_plain(c, cone, state->scene)) spread(frames, &p, contacts, state);
  }
}
