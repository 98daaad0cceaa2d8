/* Limits and drives: the free direction of a joint may end somewhere, and may be driven or held by a force.
 *
 * A limit is a contact without friction at a point of the joint, along its free direction, with the remaining distance
 * as its gap (of a hinge the arc of its lever). The joint carries the rest of the load. So limits are rows of the
 * island's problem as all contacts are, for every tool, in certificates, warm starts and recordings; solvers need no
 * change.
 *
 * A drive is a contact, too: one pressed together by its largest force, with a coefficient of 1, whose friction acts
 * along the free direction, or in the free plane of a planar joint (articulate.c).
 *
 * Only limits in reach are contacts: others would have gaps over h far larger than any velocity, and would dominate the
 * scale of the island's error. */
#include "joint/limit.h"

#include <math.h>

#include "joint/kind.h"

/* Besides 2 h |rate|: this many times the distance of a free fall in the step (a rod that falls about its end gains 3/2
 * g at its tip), and this share of the smaller body's radius. */
static const double FALLS = 4, MARGIN = 1e-3;

/* A limit at poses of its bodies. */
typedef struct limit {
  ds_joint_freedom freedom;
  double gap;  /* m */
  double sign; /* 1: lower, -1: upper */
} limit;

static limit limit_at(const ds_joint *joint, bool upper, ds_pose a, ds_pose b) {
  const ds_joint_ops *kind = ds_joint_ops_of(joint->def.kind);
  ds_joint_pose pose = ds_joint_posed(joint, a, b);
  limit l = {.freedom = kind->freedom(&pose), .sign = upper ? -1 : 1};
  double end = upper ? joint->def.upper : joint->def.lower;
  l.gap = l.freedom.lever * l.sign * (ds_joint_position(joint, &pose) - end);
  return l;
}

double ds_limit_gap(const ds_joint *joint, uint64_t feature, ds_pose a, ds_pose b) {
  return limit_at(joint, feature & 1, a, b).gap;
}

/* How fast the gap opens with the velocities of the bodies, m/s. */
static double rate_of(const limit *l, const ds_body_state *a, const ds_body_state *b) {
  ds_vec3 apart = v3_sub(ds_velocity_at(b, l->freedom.point), ds_velocity_at(a, l->freedom.point));
  return l->sign * v3_dot(l->freedom.direction, apart);
}

/* A contact at a point of a joint along which b moves against a. Its normal is that of the motion of the earlier body
 * against the later one. */
static ds_contact_point contact_at(const ds_joint *joint, uint64_t feature, ds_vec3 point, ds_vec3 along) {
  bool b_first = joint->b < joint->a;
  ds_contact_point c = {.a = b_first ? joint->b : joint->a, .b = b_first ? joint->a : joint->b, .feature = feature};
  c.point = point;
  c.normal = b_first ? along : v3_neg(along);
  c.on_a.triangle = c.on_b.triangle = -1;
  return c;
}

static ds_contact_point contact_of(const limit *l, const ds_joint *joint, uint64_t feature) {
  ds_contact_point c = contact_at(joint, feature, l->freedom.point, v3_scale(l->sign, l->freedom.direction));
  c.gap = l->gap;
  return c;
}

static ds_contact_point drive_of(const ds_joint *joint, int32_t index, const ds_body_state *a, const ds_body_state *b) {
  const ds_joint_ops *kind = ds_joint_ops_of(joint->def.kind);
  ds_joint_pose pose = ds_joint_posed(joint, ds_principal_pose(a), ds_principal_pose(b));
  uint64_t feature = DS_FEATURE_DRIVE | (uint64_t)(2 * index);
  if (kind->plane) {
    ds_joint_plane plane = kind->plane(&pose);
    ds_contact_point c = contact_at(joint, feature | 1, plane.point, plane.normal);
    ds_vec3 velocity = quat_rotate(ds_principal_pose(a).q, joint->velocity);
    c.aim = joint->b < joint->a ? velocity : v3_neg(velocity);
    c.strength = joint->def.max_force;
    return c;
  }
  ds_joint_freedom freedom = kind->freedom(&pose);
  ds_contact_point c = contact_at(joint, feature, freedom.point, freedom.direction);
  c.aim = v3_scale(freedom.lever * joint->def.speed, c.normal);
  c.strength = joint->def.max_force / freedom.lever;
  return c;
}

static bool can_move(const ds_body *body, double time) { return body->ops->dynamic && !ds_body_is_held(body, time); }

/* Insertion sort: joints are mostly in order of their bodies, and qsort may allocate. */
static void put_in_order(ds_contact_point *points, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    ds_contact_point point = points[i];
    int32_t at = i;
    for (; at > 0 && ds_compare_points(&point, &points[at - 1]) < 0; at--) points[at] = points[at - 1];
    points[at] = point;
  }
}

/* Both lists are sorted; what is in the first list is skipped in the second. */
static bool merge(ds_arena *arena, ds_contact_list *contacts, const ds_contact_point *found, int32_t found_count) {
  ds_contact_point *all = DS_NEW(arena, ds_contact_point, contacts->count + found_count + 1);
  if (!all) return false;
  int32_t count = 0, i = 0, j = 0;
  while (i < contacts->count || j < found_count) {
    int order = i == contacts->count ? 1 : j == found_count ? -1 : ds_compare_points(&contacts->points[i], &found[j]);
    all[count++] = order <= 0 ? contacts->points[i] : found[j];
    i += order <= 0;
    j += order >= 0;
  }
  *contacts = (ds_contact_list){all, count};
  return true;
}

bool ds_limits_add(ds_arena *arena, ds_contact_list *contacts, const ds_scene *scene, const ds_state *state,
                   const ds_body_state *solved, double h) {
  int32_t count = 0, limited = 0;
  for (int32_t i = 0; i < scene->joint_count; i++)
    limited += scene->joints[i].def.limited || scene->joints[i].def.max_force > 0;
  if (limited == 0) return true;
  ds_contact_point *found = DS_NEW(arena, ds_contact_point, 3 * limited);
  if (!found) return false;
  for (int32_t i = 0; i < scene->joint_count; i++) {
    const ds_joint *joint = &scene->joints[i];
    const ds_body *a = &scene->bodies[joint->a], *b = &scene->bodies[joint->b];
    const ds_body_state *sa = &state->bodies[joint->a], *sb = &state->bodies[joint->b];
    if (!can_move(a, state->time) && !can_move(b, state->time)) continue;
    if (joint->def.max_force > 0 && !solved) found[count++] = drive_of(joint, i, sa, sb);
    if (!joint->def.limited) continue;
    double size = fmin(a->bounding_radius, b->bounding_radius);
    double reach = FALLS * h * h * v3_norm(scene->def.gravity) + MARGIN * size;
    for (int upper = 0; upper < 2; upper++) {
      if (!isfinite(upper ? joint->def.upper : joint->def.lower)) continue;
      limit l = limit_at(joint, upper, ds_principal_pose(sa), ds_principal_pose(sb));
      bool acts = solved ? l.gap + h * rate_of(&l, &solved[joint->a], &solved[joint->b]) < 0
                         : l.gap < reach + 2 * h * fabs(rate_of(&l, sa, sb));
      if (acts) found[count++] = contact_of(&l, joint, DS_FEATURE_LIMIT | (uint64_t)(2 * i + upper));
    }
  }
  put_in_order(found, count);
  return count == 0 || merge(arena, contacts, found, count);
}

ds_joint_id ds_contact_joint(const ds_contact *contact) {
  if (!ds_feature_is_limit(contact->feature) && !ds_feature_is_drive(contact->feature)) return (ds_joint_id){0};
  return (ds_joint_id){1 + (int32_t)ds_feature_joint(contact->feature)};
}
