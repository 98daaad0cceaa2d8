/* The definition of a joint, its checks, and where it is.
 *
 * Its points are as far from the joint's point as the smaller body is large, so that rotations are held as well as
 * positions and the gap of a joint, in metres, tells of both. */
#include "joint/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "body/kind.h"
#include "joint/kind.h"

ds_joint_def ds_default_joint(void) {
  return (ds_joint_def){.kind = DS_JOINT_BALL, .axis = {0, 0, 1}, .lower = -INFINITY, .upper = INFINITY};
}

static bool has_body(const ds_scene *scene, ds_body_id id) { return id.index1 >= 1 && id.index1 <= scene->body_count; }

static ds_status check_limits(const ds_joint_def *def, const ds_joint_ops *kind, ds_error *error) {
  const double turn = 2 * DS_PI;
  if (!def->limited) return DS_OK;
  if (!kind->freedom) return ds_fail(error, DS_ERROR_INPUT, "a %s has no limits", kind->name);
  if (!(def->lower <= 0 && def->upper >= 0))
    return ds_fail(error, DS_ERROR_INPUT,
                   "limits %g to %g; expected lower <= 0 <= upper, since a joint is at 0 at the start", def->lower,
                   def->upper);
  if (!(def->lower < def->upper)) return ds_fail(error, DS_ERROR_INPUT, "limits that leave nothing free; use a weld");
  if (kind->turns && !(def->upper - def->lower < turn))
    return ds_fail(error, DS_ERROR_INPUT, "limits %g to %g of a %s; expected two angles in rad less than a turn apart",
                   def->lower, def->upper, kind->name);
  return DS_OK;
}

static ds_status check_drive(const ds_joint_def *def, const ds_joint_ops *kind, ds_error *error) {
  bool planar = kind->plane != NULL;
  double rate = planar ? v3_norm(def->velocity) : def->speed;
  if (planar ? def->speed != 0 : v3_norm2(def->velocity) > 0)
    return ds_fail(error, DS_ERROR_INPUT, "a %s with a %s; the drive of a planar joint has a velocity, others a speed",
                   kind->name, planar ? "speed" : "velocity");
  if (def->max_force == 0 && rate == 0) return DS_OK;
  if (!kind->freedom && !planar) return ds_fail(error, DS_ERROR_INPUT, "a %s has no drive", kind->name);
  if (!(def->max_force > 0 && isfinite(def->max_force)))
    return ds_fail(error, DS_ERROR_INPUT, "a drive of max_force %g; expected a number above 0", def->max_force);
  if (!isfinite(rate)) return ds_fail(error, DS_ERROR_INPUT, "a drive of speed %g; expected a finite number", rate);
  if (planar && !(fabs(v3_dot(def->velocity, v3_unit(def->axis))) <= 1e-6 * rate))
    return ds_fail(error, DS_ERROR_INPUT, "a velocity along the axis of a planar joint; expected one across it");
  return DS_OK;
}

static ds_status check_joint(const ds_scene *scene, const ds_joint_def *def, ds_error *error) {
  if (!has_body(scene, def->a) || !has_body(scene, def->b))
    return ds_fail(error, DS_ERROR_INPUT, "a joint needs two bodies of this scene; add them first");
  if (def->a.index1 == def->b.index1) return ds_fail(error, DS_ERROR_INPUT, "a joint needs two different bodies");
  const ds_body *a = &scene->bodies[ds_index(def->a)], *b = &scene->bodies[ds_index(def->b)];
  if (!a->ops->dynamic && !b->ops->dynamic)
    return ds_fail(error, DS_ERROR_INPUT, "a joint between two bodies that are not dynamic holds nothing");
  if (a->ops->deforms || b->ops->deforms)
    return ds_fail(error, DS_ERROR_INPUT, "a joint holds rigid bodies; one of these is deformable");
  const ds_joint_ops *kind = ds_joint_ops_of(def->kind);
  if (!kind) return ds_fail(error, DS_ERROR_INPUT, "unknown joint kind %d", (int)def->kind);
  if (!v3_finite(def->point)) return ds_fail(error, DS_ERROR_INPUT, "the point of a joint must be finite (m)");
  if (kind->has_axis && (!v3_finite(def->axis) || !(v3_norm(def->axis) > 0)))
    return ds_fail(error, DS_ERROR_INPUT, "the axis of a %s must be finite and not zero", kind->name);
  ds_status status = check_limits(def, kind, error);
  return status == DS_OK ? check_drive(def, kind, error) : status;
}

ds_joint_id ds_scene_add_joint(ds_scene *scene, const ds_joint_def *def, ds_error *error) {
  DS_CHECK(scene && def && !scene->finished);
  if (check_joint(scene, def, error) != DS_OK) return (ds_joint_id){0};
  ds_joint joint = {.def = *def, .a = ds_index(def->a), .b = ds_index(def->b)};
  size_t length = def->name ? strlen(def->name) + 1 : 0;
  if (length > 0) joint.name = malloc(length);
  if ((length > 0 && !joint.name) ||
      !ds_array_reserve(&scene->joints, &scene->joint_capacity, scene->joint_count + 1, sizeof *scene->joints)) {
    free(joint.name);
    ds_fail(error, DS_ERROR_MEMORY, "out of memory");
    return (ds_joint_id){0};
  }
  if (length > 0) memcpy(joint.name, def->name, length);
  joint.def.name = joint.name;
  scene->joints[scene->joint_count++] = joint;
  return (ds_joint_id){scene->joint_count};
}

void ds_joints_place(ds_scene *scene) {
  for (int32_t i = 0; i < scene->joint_count; i++) {
    ds_joint *joint = &scene->joints[i];
    const ds_body *a = &scene->bodies[joint->a], *b = &scene->bodies[joint->b];
    double size_a = a->ops->dynamic ? a->bounding_radius : INFINITY;
    double size_b = b->ops->dynamic ? b->bounding_radius : INFINITY;
    const ds_joint_ops *kind = ds_joint_ops_of(joint->def.kind);
    ds_vec3 points[DS_JOINT_POINTS];
    kind->place(points, joint->def.point, v3_unit(joint->def.axis), fmin(size_a, size_b));
    joint->point_count = kind->points;
    for (int32_t k = 0; k < joint->point_count; k++) {
      joint->on_a[k] = pose_unpoint(ds_start_pose(a), points[k]);
      joint->on_b[k] = pose_unpoint(ds_start_pose(b), points[k]);
    }
    joint->velocity = quat_unrotate(ds_start_pose(a).q, joint->def.velocity);
  }
}

int32_t ds_scene_joint_count(const ds_scene *scene) { return scene->joint_count; }

ds_joint_id ds_scene_joint(const ds_scene *scene, int32_t index) {
  return index >= 0 && index < scene->joint_count ? (ds_joint_id){index + 1} : (ds_joint_id){0};
}

static const ds_joint *get_joint(const ds_scene *scene, ds_joint_id id) {
  DS_CHECK(scene && id.index1 >= 1 && id.index1 <= scene->joint_count);
  return &scene->joints[id.index1 - 1];
}

ds_joint_def ds_joint_get_def(const ds_scene *scene, ds_joint_id id) { return get_joint(scene, id)->def; }

/* Of some points of a body, the middle. */
static ds_vec3 middle(const ds_vec3 *points, int32_t count, ds_pose pose) {
  ds_vec3 sum = v3(0, 0, 0);
  for (int32_t i = 0; i < count; i++) sum = v3_add(sum, points[i]);
  return pose_point(pose, v3_scale(1.0 / count, sum));
}

/* With the principal frames of its bodies at these poses. */
static ds_joint_place place_of(const ds_joint *joint, ds_pose a, ds_pose b) {
  const ds_joint_ops *kind = ds_joint_ops_of(joint->def.kind);
  ds_joint_pose pose = ds_joint_posed(joint, a, b);
  ds_joint_row rows[DS_JOINT_ROWS];
  ds_joint_place place = {.on_a = middle(joint->on_a, kind->middle, a), .on_b = middle(joint->on_b, kind->middle, b)};
  if (kind->has_axis) place.axis = v3_unit(quat_rotate(a.q, v3_sub(joint->on_a[0], joint->on_a[1])));
  kind->rows(rows, &pose);
  place.gap = ds_joint_gap(rows, kind->row_count);
  if (kind->freedom) place.position = ds_joint_position(joint, &pose);
  return place;
}

ds_joint_place ds_joint_at(const ds_scene *scene, ds_joint_id id, ds_pose a, ds_pose b) {
  const ds_joint *joint = get_joint(scene, id);
  DS_CHECK(scene->finished);
  ds_pose user_a = scene->bodies[joint->a].user_frame, user_b = scene->bodies[joint->b].user_frame;
  return place_of(joint, pose_mul(a, pose_inverse(user_a)), pose_mul(b, pose_inverse(user_b)));
}

ds_joint_place ds_state_joint(const ds_scene *scene, const ds_state *state, ds_joint_id id) {
  const ds_joint *joint = get_joint(scene, id);
  DS_CHECK(state && state->scene == scene);
  return place_of(joint, ds_principal_pose(&state->bodies[joint->a]), ds_principal_pose(&state->bodies[joint->b]));
}
