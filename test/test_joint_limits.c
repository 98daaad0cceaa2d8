/* Limits of hinges against mechanics: where a rod comes to rest and with which torque, in tilted frames, heavy on
 * light, moved by a script, for a minute; a second look; angles beyond half a turn; what is refused. */
#include "joint_helper.h"

/* The torque that the limits of a joint took in the last step about its axis, N m: lower limits push on. */
static double limit_torque(const sim *s, ds_joint_id joint) {
  int32_t count;
  const ds_contact *contacts = ds_state_contacts(s->state, &count);
  ds_joint_place place = ds_state_joint(s->scene, s->state, joint);
  ds_joint_def def = ds_joint_get_def(s->scene, joint);
  double torque = 0;
  for (int32_t i = 0; i < count; i++) {
    if (ds_contact_joint(&contacts[i]).index1 != joint.index1) continue;
    double sign = contacts[i].a.index1 == def.b.index1 ? 1 : -1;
    ds_vec3 arm = v3_sub(contacts[i].point, place.on_b);
    torque += sign * v3_dot(place.axis, v3_cross(arm, contacts[i].impulse)) / s->options.step;
  }
  return torque;
}

static ds_joint_id join_limited(ds_scene *scene, ds_body_id a, ds_body_id b, ds_vec3 point, ds_vec3 axis, double lower,
                                double upper) {
  ds_joint_def def = ds_default_joint();
  ds_error error = {""};
  def.kind = DS_JOINT_HINGE, def.a = a, def.b = b, def.point = point, def.axis = axis;
  def.limited = true, def.lower = lower, def.upper = upper;
  ds_joint_id id = ds_scene_add_joint(scene, &def, &error);
  if (id.index1 == 0) printf("%s\n", error.message);
  CHECK(id.index1 > 0);
  return id;
}

/* A rod of length 1, hinged at one end and let go level, in a frame tilted by q; which of its bodies is named first,
 * and the sign of the axis, turn the sign of the angle. */
static void a_rod_stops(ds_quat q, bool rod_first, double turn) {
  const double angle = 0.7, length = 1, mass = 1000 * length * 0.1 * 0.1;
  ds_scene *scene = scene_new(quat_rotate(q, v3(0, 0, -9.81)), 0.5, 0);
  ds_body_def rod = body_at(0, 0, 0), post = body_at(0, 0, 0);
  rod.pose = (ds_pose){quat_rotate(q, v3(0.5 * length, 0, 0)), q};
  post.pose = (ds_pose){v3(0, 0, 0), q};
  post.kind = DS_BODY_STATIC;
  ds_body_id anchor = scene_add(scene, &post, shape_box(0.02, 0.02, 0.02));
  ds_body_id body = scene_add(scene, &rod, shape_box(length, 0.1, 0.1));
  double sign = (rod_first ? -1 : 1) * turn, ends[2] = {-0.1, angle};
  ds_joint_id hinge =
      join_limited(scene, rod_first ? body : anchor, rod_first ? anchor : body, v3(0, 0, 0),
                   quat_rotate(q, v3(0, 3 * turn, 0)), sign > 0 ? ends[0] : -ends[1], sign > 0 ? ends[1] : -ends[0]);
  sim s;
  if (sim_finish(&s, "rod", scene)) {
    double most = 0, drift = 0;
    for (int i = 0; i < 200 && sim_step(&s); i++) {
      most = fmax(most, sign * ds_state_joint(s.scene, s.state, hinge).position);
      drift = fmax(drift, s.report.joint_drift);
    }
    double want = mass * 9.81 * 0.5 * length * cos(angle), got = limit_torque(&s, hinge);
    printf("     at most %.12f rad, torque %.9f N m of %.9f\n", most, sign * got, -want);
    CHECK_NEAR(sign * ds_state_joint(s.scene, s.state, hinge).position, angle, 1e-6);
    CHECK_LE(most, angle + 1e-12);
    CHECK_NEAR(sign * got, -want, 1e-7 * want);
    CHECK_LE(v3_norm(ds_state_angular_velocity(s.state, body)), 1e-9);
    CHECK_LE(drift, 1e-10);
  }
  sim_close(&s);
}

static void rods_stop(void) {
  const ds_quat tilted = quat_axis_angle(v3(1, 2, -0.7), 1.1);
  for (int i = 0; i < 8; i++) a_rod_stops(i & 1 ? tilted : quat(1, 0, 0, 0), i & 2, i & 4 ? -1 : 1);
}

/* A rod on a rod on a post, the outer one 1000 times as heavy: both come to their limits and stay for a minute. */
static void heavy_on_light(void) {
  for (int heavy = 0; heavy < 2; heavy++) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
    ds_body_def def = body_at(0.5, 0, 0), outer = body_at(1.5, 0, 0);
    ds_shape_def box = shape_box(1, 0.1, 0.1), dense = box;
    box.density = heavy ? 10 : 1000, dense.density = heavy ? 10000 : 1000;
    ds_body_id one = scene_add(scene, &def, box), two = scene_add(scene, &outer, dense);
    ds_joint_id inner = join_limited(scene, post, one, v3(0, 0, 0), v3(0, 1, 0), -0.1, 0.5);
    ds_joint_id hinge = join_limited(scene, one, two, v3(1, 0, 0), v3(0, 1, 0), -0.1, 0.3);
    sim s;
    if (sim_finish(&s, "two rods", scene)) {
      sim_run(&s, 5);
      ds_state *settled = ds_state_copy(s.state);
      sim_run(&s, test_time(60, 5));
      double m1 = heavy ? 0.1 : 10, m2 = heavy ? 100 : 10, g = 9.81, far = cos(0.5) + 0.5 * cos(0.8);
      double at_hinge = m2 * g * 0.5 * cos(0.8), at_post = m2 * g * far + m1 * g * 0.5 * cos(0.5);
      printf("     angles %.9f, %.9f; torques %.6f of %.6f, %.6f of %.6f; moved %.2g m\n",
             ds_state_joint(s.scene, s.state, inner).position, ds_state_joint(s.scene, s.state, hinge).position,
             -limit_torque(&s, inner), at_post, -limit_torque(&s, hinge), at_hinge, sim_displacement(&s, settled));
      /* impacts are known to 1e-5 of the smaller radius */
      CHECK_NEAR(ds_state_joint(s.scene, s.state, inner).position, 0.5, 1e-5);
      CHECK_NEAR(ds_state_joint(s.scene, s.state, hinge).position, 0.3, 1e-5);
      CHECK_NEAR(-limit_torque(&s, inner), at_post, 1e-5 * at_post);
      CHECK_NEAR(-limit_torque(&s, hinge), at_hinge, 1e-5 * at_hinge);
      CHECK_LE(sim_displacement(&s, settled), 1e-9);
      ds_state_destroy(settled);
    }
    sim_close(&s);
  }
}

/* A flap on a wheel that turns by 0.1 rad in every step goes from one of its limits to the other and stays there. */
static void on_a_wheel(void) {
  const double speed = 10, radius = 0.5;
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def wheel = body_at(0, 0, 0), flap = body_at(radius + 0.25, 0, 0);
  wheel.angular_velocity = v3(0, speed, 0);
  ds_body_id hub = scene_add(scene, &wheel, shape_box(2 * radius, 0.2, 0.2));
  flap.velocity = v3(0, 0, -speed * (radius + 0.25)), flap.angular_velocity = v3(0, 0.5 * speed, 0);
  ds_body_id leaf = scene_add(scene, &flap, shape_box(0.5, 0.1, 0.02));
  ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
  scene_join(scene, DS_JOINT_HINGE, post, hub, v3(0, 0, 0), v3(0, 1, 0));
  ds_joint_id hinge = join_limited(scene, hub, leaf, v3(radius, 0, 0), v3(0, 1, 0), -0.2, 0.1);
  sim s;
  if (sim_finish(&s, "wheel", scene)) {
    double most = -1, least = 1;
    for (int i = 0; i < 100 && sim_step(&s); i++) {
      double at = ds_state_joint(s.scene, s.state, hinge).position;
      most = fmax(most, at), least = fmin(least, at);
    }
    printf("     between %.12f and %.12f rad\n", least, most);
    CHECK_LE(most, 0.1 + 1e-9);
    CHECK_LE(-0.2 - 1e-9, least);
    CHECK_LE(0.1, most - least); /* it went from one to the other */
  }
  sim_close(&s);
}

/* Angles beyond half a turn: a wheel that may turn from -0.1 to 6 rad is stopped at 6. */
static void nearly_a_turn(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
  ds_body_def def = body_at(0, 0, 0);
  def.angular_velocity = v3(0, 0, 3);
  ds_body_id wheel = scene_add(scene, &def, shape_box(1, 1, 0.1));
  ds_joint_id hinge = join_limited(scene, post, wheel, v3(0, 0, 0), v3(0, 0, 1), -0.1, 6);
  sim s;
  if (sim_finish(&s, "wheel", scene)) {
    sim_run(&s, 1.5);
    CHECK_NEAR(ds_state_joint(s.scene, s.state, hinge).position, 4.5, 1e-9);
    sim_run(&s, 1);
    CHECK_NEAR(ds_state_joint(s.scene, s.state, hinge).position, 6, 1e-6);
    CHECK_LE(v3_norm(ds_state_angular_velocity(s.state, wheel)), 1e-9);
  }
  sim_close(&s);
}

/* A ball hits a door that rests ajar, so hard that it goes past its limit in the same step: a second look finds it. */
static void slammed_with(ds_integrator integrator) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0, 0);
  ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
  ds_body_def def = body_at(0.5, 0, 0), shot = body_at(0.9, -0.5, 0);
  shot.velocity = v3(0, 100, 0);
  scene_add(scene, &def, shape_box(0.9, 0.05, 1));
  scene_add(scene, &shot, shape_sphere(0.1));
  ds_joint_id hinge = join_limited(scene, post, ds_scene_body(scene, 1), v3(0, 0, 0), v3(0, 0, 1), -0.2, 0.2);
  sim s;
  if (sim_finish(&s, "door", scene)) {
    double most = 0;
    s.options.integrator = integrator;
    for (int i = 0; i < 100 && sim_step(&s); i++) most = fmax(most, ds_state_joint(s.scene, s.state, hinge).position);
    printf("     at most %.9f rad\n", most);
    CHECK_NEAR(most, 0.2, 1e-6);
  }
  sim_close(&s);
}

static void slammed(void) {
  slammed_with(DS_INTEGRATOR_AUTO);
  slammed_with(DS_INTEGRATOR_EULER);
}

/* A carriage on a rail that goes from -1 m to 0.2 m, and a rod that moves at 1 m/s, from which it may differ by `play`:
 * from t = 0.2 + play on no velocity satisfies both. Without play the carriage has no freedom at all. Steps before
 * that are certified; those after it are infeasible, and say so. */
static void contradicted(double play, ds_quat q) {
  ds_scene *scene = scene_new(quat_rotate(q, v3(0, 0, -9.81)), 0.5, 0);
  ds_body_def rod = body_at(0, 0, 0), def = body_at(0, 0, 0);
  rod.pose = (ds_pose){quat_rotate(q, v3(-1, 0, 0)), q}, def.pose.q = q;
  rod.kind = DS_BODY_KINEMATIC, rod.motion.kind = DS_MOTION_VELOCITY;
  rod.motion.velocity = quat_rotate(q, v3(1, 0, 0));
  ds_body_id rail = scene_add_anchor(scene, 0, 0, 0), carriage = scene_add(scene, &def, shape_box(0.2, 0.2, 0.2));
  ds_body_id pusher = scene_add(scene, &rod, shape_box(0.1, 0.1, 0.1));
  ds_joint_def joint = ds_default_joint();
  joint.kind = DS_JOINT_SLIDER, joint.a = rail, joint.b = carriage, joint.axis = quat_rotate(q, v3(1, 0, 0));
  joint.limited = true, joint.lower = -1, joint.upper = 0.2;
  CHECK(ds_scene_add_joint(scene, &joint, NULL).index1 > 0);
  joint.a = pusher, joint.lower = -play, joint.upper = play;
  if (play == 0) joint.kind = DS_JOINT_WELD, joint.limited = false;
  CHECK(ds_scene_add_joint(scene, &joint, NULL).index1 > 0);
  sim s;
  if (sim_finish(&s, "contradicted", scene)) {
    int certified = 0, infeasible = 0, last = (int)lround((0.2 + play) / s.options.step);
    for (int i = 0; i < last + 20; i++) {
      CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &s.options) == DS_OK);
      const ds_certificate *c = &s.report.worst;
      certified += i < last && c->converged && c->conflict == 0;
      infeasible += i > last && !c->converged && c->conflict > 0.1;
    }
    printf("     play %g m: %d of %d steps certified, then %d of 19 infeasible\n", play, certified, last, infeasible);
    CHECK_NEAR(certified, last, 1); /* rounding decides the step in which they meet */
    CHECK_NEAR(infeasible, 19, 0);
  }
  sim_close(&s);
}

/* The same without limits: a block that is welded to the rod is led into a wall; beside it, it passes. */
static void led_into_a_wall(bool beside) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def rod = body_at(-1, 0, 0), def = body_at(0, 0, 0), wall = body_at(0.35, beside ? 0.7 : 0, 0);
  rod.kind = DS_BODY_KINEMATIC, rod.motion.kind = DS_MOTION_VELOCITY, rod.motion.velocity = v3(1, 0, 0);
  wall.kind = DS_BODY_STATIC;
  scene_add(scene, &wall, shape_box(0.1, 1, 1));
  ds_body_id pusher = scene_add(scene, &rod, shape_box(0.1, 0.1, 0.1));
  scene_join(scene, DS_JOINT_WELD, pusher, scene_add(scene, &def, shape_box(0.2, 0.2, 0.2)), v3(0, 0, 0), v3(0, 0, 1));
  sim s;
  if (sim_finish(&s, "wall", scene)) {
    int infeasible = 0;
    for (int i = 0; i < 30; i++) {
      CHECK(ds_step(s.stepper, s.state, &s.report, s.scene, &s.options) == DS_OK);
      infeasible += s.report.worst.conflict > 0.1;
      CHECK(s.report.worst.converged == !(s.report.worst.conflict > 0));
    }
    CHECK_NEAR(infeasible, beside ? 0 : 10, beside ? 0 : 1); /* from 0.2 s on */
  }
  sim_close(&s);
}

static void scripts_against_limits(void) {
  const ds_quat tilted = quat_axis_angle(v3(1, 2, -0.7), 1.1);
  for (int i = 0; i < 4; i++) contradicted(i & 1 ? 0.3 : 0, i & 2 ? tilted : quat(1, 0, 0, 0));
  for (int beside = 0; beside < 2; beside++) led_into_a_wall(beside);
}

static void refuse(ds_joint_kind kind, double lower, double upper, const char *why) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_joint_def def = ds_default_joint();
  ds_body_def one = body_at(0, 0, 0);
  ds_error error = {""};
  def.a = scene_add_anchor(scene, 0, 0, 0), def.b = scene_add(scene, &one, shape_box(1, 1, 1));
  def.kind = kind, def.limited = true, def.lower = lower, def.upper = upper;
  CHECK(ds_scene_add_joint(scene, &def, &error).index1 == 0);
  if (!strstr(error.message, why)) printf("     '%s' does not say '%s'\n", error.message, why);
  CHECK(strstr(error.message, why) != NULL);
  ds_scene_destroy(scene);
}

static void what_is_refused(void) {
  refuse(DS_JOINT_BALL, -1, 1, "has no limits");
  refuse(DS_JOINT_WELD, -1, 1, "has no limits");
  refuse(DS_JOINT_HINGE, 0.1, 1, "lower <= 0 <= upper");
  refuse(DS_JOINT_HINGE, NAN, 1, "lower <= 0 <= upper");
  refuse(DS_JOINT_HINGE, 0, 0, "weld");
  refuse(DS_JOINT_HINGE, -4, 4, "less than a turn");
  refuse(DS_JOINT_HINGE, -INFINITY, 1, "less than a turn");
}

int main(void) {
  RUN(rods_stop);
  RUN(heavy_on_light);
  RUN(on_a_wheel);
  RUN(nearly_a_turn);
  RUN(slammed);
  RUN(scripts_against_limits);
  RUN(what_is_refused);
  return test_summary();
}
