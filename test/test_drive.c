/* Drives of joints against mechanics: a force-limited one speeds up by F/m to its speed and no faster, holds or lets
 * slip a carriage on an incline at exactly its force, lets a wheel run down by dry friction to a stand, stops at
 * limits, and works inside a chain; what is refused. */
#include "joint_helper.h"

static ds_joint_id join_driven(ds_scene *scene, ds_joint_kind kind, ds_body_id a, ds_body_id b, ds_vec3 point,
                               ds_vec3 axis, double speed, double max_force) {
  ds_joint_def def = ds_default_joint();
  ds_error error = {""};
  def.kind = kind, def.a = a, def.b = b, def.point = point, def.axis = axis;
  def.speed = speed, def.max_force = max_force;
  ds_joint_id id = ds_scene_add_joint(scene, &def, &error);
  if (id.index1 == 0) printf("%s\n", error.message);
  CHECK(id.index1 > 0);
  return id;
}

static double position(const sim *s, ds_joint_id joint) { return ds_state_joint(s->scene, s->state, joint).position; }

/* 8 kg, 4 N, 0.3 m/s, in a tilted frame, either body first: 0.5 m/s² for 0.6 s. */
static void speeding_up(void) {
  for (int i = 0; i < 4; i++) {
    bool swapped = i & 1;
    double sign = i & 2 ? -1 : 1, speed = 0.3 * sign;
    ds_vec3 axis = v3_unit(v3(1, 2, -0.5));
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def def = body_at(0.1, 0.3, 0);
    ds_body_id rail = scene_add_anchor(scene, 0, 0, 0), body = scene_add(scene, &def, shape_box(0.2, 0.2, 0.2));
    ds_joint_id slider =
        join_driven(scene, DS_JOINT_SLIDER, swapped ? body : rail, swapped ? rail : body, v3(0, 0, 0), axis, speed, 4);
    sim s;
    if (sim_finish(&s, "drive", scene)) {
      sim_run(&s, 0.5);
      double early = v3_norm(ds_state_velocity(s.state, body)), way = position(&s, slider);
      sim_run(&s, 0.5);
      double late = v3_norm(ds_state_velocity(s.state, body));
      printf("     %.12f m/s after 0.5 s, %.12f m/s after 1 s\n", early, late);
      CHECK_NEAR(early, 0.25, 1e-9);
      CHECK_NEAR(way, sign * 0.5 * 0.5 * 0.5 * 0.5, 1e-9);
      CHECK_NEAR(late, 0.3, 1e-9);
    }
    sim_close(&s);
  }
}

/* Dry friction of 0.999 of what an incline of 0.4 rad asks for lets a carriage slide at g sin/1000, 1.001 holds it. */
static void on_an_incline(void) {
  const double slope = 0.4, weight = 8 * 9.81 * sin(slope), share[2] = {0.999, 1.001};
  for (int i = 0; i < 2; i++) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    ds_body_def def = body_at(0.1, 0.3, 0);
    ds_body_id rail = scene_add_anchor(scene, 0, 0, 0), body = scene_add(scene, &def, shape_box(0.2, 0.2, 0.2));
    ds_joint_id slider = join_driven(scene, DS_JOINT_SLIDER, rail, body, v3(0, 0, 0), v3(cos(slope), 0, -sin(slope)), 0,
                                     share[i] * weight);
    sim s;
    if (sim_finish(&s, "brake", scene)) {
      sim_run(&s, 2);
      double want = i == 0 ? 0.001 * 9.81 * sin(slope) * 2 * 2 / 2 : 0;
      printf("     slid %.12f m of %.12f\n", position(&s, slider), want);
      CHECK_NEAR(position(&s, slider), want, 1e-9);
    }
    sim_close(&s);
  }
}

/* A wheel that is driven about its axis gains T/I of speed a second, up to the motor's speed in rad/s, and keeps that.
 */
static void turning(void) {
  for (int back = 0; back < 2; back++) {
    double sign = back ? -1 : 1, inertia = 1000 * 0.036 * (0.36 + 0.36) / 12;
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def def = body_at(0, 0, 0);
    ds_body_id post = scene_add_anchor(scene, 0, 0, 0), wheel = scene_add(scene, &def, shape_box(0.6, 0.6, 0.1));
    join_driven(scene, DS_JOINT_HINGE, post, wheel, v3(0, 0, 0), v3(0, 0, 1), 0.7 * sign, inertia);
    sim s;
    if (sim_finish(&s, "motor", scene)) {
      sim_run(&s, 0.5);
      double half = ds_state_angular_velocity(s.state, wheel).z;
      sim_run(&s, 1);
      double end = ds_state_angular_velocity(s.state, wheel).z;
      printf("     %.9f rad/s after 0.5 s, %.9f after 1.5\n", half, end);
      CHECK_NEAR(half, 0.5 * sign, 4e-5); /* torques of a drive: to (h w)²/12 */
      CHECK_NEAR(end, 0.7 * sign, 4e-5);
    }
    sim_close(&s);
  }
}

/* A wheel with a dry bearing loses T/I of speed a second and then stands; one in a chain of two likewise. */
static void running_down(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def def = body_at(0, 0, 0);
  def.angular_velocity = v3(0, 0, 2);
  ds_shape_def disk = shape_box(0.6, 0.6, 0.1);
  ds_body_id post = scene_add_anchor(scene, 0, 0, 0), wheel = scene_add(scene, &def, disk);
  double inertia = 1000 * 0.036 * (0.36 + 0.36) / 12;
  ds_joint_id hinge = join_driven(scene, DS_JOINT_HINGE, post, wheel, v3(0, 0, 0), v3(0, 0, 1), 0, inertia);
  sim s;
  if (sim_finish(&s, "wheel", scene)) {
    sim_run(&s, 1);
    double half = ds_state_angular_velocity(s.state, wheel).z;
    sim_run(&s, 2);
    double way = position(&s, hinge), end = v3_norm(ds_state_angular_velocity(s.state, wheel));
    printf("     %.12f rad/s after 1 s, %.2g after 3; turned by %.9f rad\n", half, end, way);
    CHECK_NEAR(half, 1, 4e-5); /* torques of a drive: to (h w)²/12 */
    CHECK_LE(end, 1e-10);
    CHECK_NEAR(way, 2 * 2 / 2.0, 1e-4); /* v²/(2 a) */
  }
  sim_close(&s);
}

/* A motor lifts a rod against its weight to its limit, heavy on light; a weaker one does not. */
static void lifting(void) {
  for (int strong = 0; strong < 2; strong++) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
    ds_body_def arm = body_at(0.5, 0, 0), load = body_at(1.1, 0, 0);
    ds_shape_def light = shape_box(1, 0.05, 0.05), heavy = shape_box(0.2, 0.2, 0.2);
    light.density = 40, heavy.density = 12500; /* 0.1 and 100 kg */
    ds_body_id one = scene_add(scene, &arm, light), two = scene_add(scene, &load, heavy);
    scene_join(scene, DS_JOINT_WELD, one, two, v3(1, 0, 0), v3(0, 0, 1));
    double torque = 9.81 * (100 * 1.1 + 0.1 * 0.5);
    ds_joint_def def = ds_default_joint();
    def.kind = DS_JOINT_HINGE, def.a = post, def.b = one, def.axis = v3(0, -1, 0), def.limited = true;
    def.lower = -0.3, def.upper = 0.5, def.speed = 0.5, def.max_force = (strong ? 1.1 : 0.9) * torque;
    ds_joint_id hinge = ds_scene_add_joint(scene, &def, NULL);
    CHECK(hinge.index1 > 0);
    sim s;
    if (sim_finish(&s, "crane", scene)) {
      sim_run(&s, 5);
      printf("     at %.9f rad\n", position(&s, hinge));
      CHECK_NEAR(position(&s, hinge), strong ? 0.5 : -0.3, 1e-6);
    }
    sim_close(&s);
  }
}

static void refuse(ds_joint_kind kind, double speed, double max_force, const char *why) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_joint_def def = ds_default_joint();
  ds_body_def one = body_at(0, 0, 0);
  ds_error error = {""};
  def.a = scene_add_anchor(scene, 0, 0, 0), def.b = scene_add(scene, &one, shape_box(1, 1, 1));
  def.kind = kind, def.speed = speed, def.max_force = max_force;
  CHECK(ds_scene_add_joint(scene, &def, &error).index1 == 0);
  if (!strstr(error.message, why)) printf("     '%s' does not say '%s'\n", error.message, why);
  CHECK(strstr(error.message, why) != NULL);
  ds_scene_destroy(scene);
}

static void what_is_refused(void) {
  refuse(DS_JOINT_BALL, 1, 1, "has no drive");
  refuse(DS_JOINT_HINGE, 1, 0, "max_force");
  refuse(DS_JOINT_HINGE, 1, -1, "max_force");
  refuse(DS_JOINT_SLIDER, 1, INFINITY, "max_force");
  refuse(DS_JOINT_SLIDER, NAN, 1, "speed");
}

int main(void) {
  RUN(speeding_up);
  RUN(on_an_incline);
  RUN(turning);
  RUN(running_down);
  RUN(lifting);
  RUN(what_is_refused);
  return test_summary();
}
