/* Sliders against mechanics: g sin on an incline, forces at their limits, a drawer with a body in it, heavy on light
 * for a minute, on a turning hub, lifted by a script, and pushed through its limit by one. */
#include "joint_helper.h"

static ds_joint_id join_slider(ds_scene *scene, ds_body_id a, ds_body_id b, ds_vec3 point, ds_vec3 axis, double lower,
                               double upper) {
  ds_joint_def def = ds_default_joint();
  ds_error error = {""};
  def.kind = DS_JOINT_SLIDER, def.a = a, def.b = b, def.point = point, def.axis = axis;
  def.limited = true, def.lower = lower, def.upper = upper;
  ds_joint_id id = ds_scene_add_joint(scene, &def, &error);
  if (id.index1 == 0) printf("%s\n", error.message);
  CHECK(id.index1 > 0);
  return id;
}

/* What the limits of a joint push body b with along its axis, N. */
static double limit_force(const sim *s, ds_joint_id joint) {
  int32_t count;
  const ds_contact *contacts = ds_state_contacts(s->state, &count);
  ds_joint_def def = ds_joint_get_def(s->scene, joint);
  ds_vec3 axis = ds_state_joint(s->scene, s->state, joint).axis;
  double force = 0;
  for (int32_t i = 0; i < count; i++)
    if (ds_contact_joint(&contacts[i]).index1 == joint.index1)
      force += (contacts[i].a.index1 == def.b.index1 ? 1 : -1) * v3_dot(axis, contacts[i].impulse) / s->options.step;
  return force;
}

static double position(const sim *s, ds_joint_id joint) { return ds_state_joint(s->scene, s->state, joint).position; }

/* A carriage on a rail that falls by `slope` rad and is seen in a frame tilted by q, its centre beside the rail. It
 * gains g sin(slope) h in every step until it is 0.5 m down the rail, and rests there. */
static void a_carriage(ds_quat q, bool carriage_first, bool down) {
  const double slope = 0.4, mass = 1000 * 0.2 * 0.1 * 0.1, h = 0.01;
  ds_vec3 along = v3(cos(slope), 0, -sin(slope));
  ds_scene *scene = scene_new(quat_rotate(q, v3(0, 0, -9.81)), 0.5, 0);
  ds_body_def rail = body_at(0, 0, 0), carriage = body_at(0, 0, 0);
  rail.kind = DS_BODY_STATIC;
  rail.pose = (ds_pose){v3(0, 0, 0), q};
  carriage.pose = (ds_pose){quat_rotate(q, v3(0.05, 0.3, 0.1)), quat_mul(q, quat_axis_angle(v3(3, 1, 2), 0.5))};
  ds_body_id fixed = scene_add(scene, &rail, shape_box(0.1, 0.1, 0.1));
  ds_body_id body = scene_add(scene, &carriage, shape_box(0.2, 0.1, 0.1));
  double sign = (carriage_first ? -1 : 1) * (down ? 1 : -1);
  ds_joint_id slider =
      join_slider(scene, carriage_first ? body : fixed, carriage_first ? fixed : body, v3(0, 0, 0),
                  quat_rotate(q, v3_scale(down ? 2 : -2, along)), sign > 0 ? -0.1 : -0.5, sign > 0 ? 0.5 : 0.1);
  sim s;
  if (sim_finish(&s, "carriage", scene)) {
    ds_quat before = ds_state_pose(s.scene, s.state, body).q;
    sim_run(&s, 30 * h);
    double got = sign * position(&s, slider), want = 0.5 * 9.81 * sin(slope) * 30 * h * 30 * h;
    CHECK_NEAR(got, want, 1e-12);
    double most = 0, drift = 0;
    for (int i = 0; i < 100 && sim_step(&s); i++) {
      most = fmax(most, sign * position(&s, slider));
      drift = fmax(drift, s.report.joint_drift);
    }
    ds_quat after = ds_state_pose(s.scene, s.state, body).q;
    double turned = v3_dist(v3(before.x, before.y, before.z), v3(after.x, after.y, after.z));
    double force = -sign * limit_force(&s, slider), weight = mass * 9.81 * sin(slope);
    printf("     after 0.3 s %.12f m of %.12f; at most %.12f m; %.9f N of %.9f\n", got, want, most, force, weight);
    CHECK_NEAR(sign * position(&s, slider), 0.5, 1e-6);
    CHECK_LE(most, 0.5 + 1e-12);
    CHECK_NEAR(force, weight, 1e-7 * weight);
    CHECK_LE(turned, 1e-10);
    CHECK_LE(drift, 1e-10);
    CHECK_LE(v3_norm(ds_state_velocity(s.state, body)), 1e-9);
  }
  sim_close(&s);
}

static void carriages(void) {
  const ds_quat tilted = quat_axis_angle(v3(1, -2, 0.7), 2.1);
  for (int i = 0; i < 8; i++) a_carriage(i & 1 ? tilted : quat(1, 0, 0, 0), i & 2, i & 4);
}

/* A drawer is pulled out at 1 m/s until its limit stops it. What lies in it slides on by v²/(2 mu g), as far as a step
 * can tell. Then the weight in it, 100 times as heavy as the drawer, rests for a minute. */
static void a_drawer(void) {
  const double mu = 0.3, speed = 1, h = 0.005;
  ds_scene *scene = scene_new(v3(0, 0, -9.81), mu, 0);
  ds_body_def chest = body_at(-1, 0, 0), drawer = body_at(0, 0, 0), load = body_at(-0.1, 0.02, 0.0125 + 0.05);
  ds_shape_def board = shape_box(0.8, 0.4, 0.025), weight = shape_box(0.1, 0.1, 0.1);
  chest.kind = DS_BODY_STATIC;
  drawer.velocity = load.velocity = v3(speed, 0, 0);
  board.density = 100, weight.density = 80000;
  ds_body_id fixed = scene_add(scene, &chest, shape_box(0.1, 0.1, 0.1)), moving = scene_add(scene, &drawer, board);
  ds_body_id lies = scene_add(scene, &load, weight);
  ds_joint_id slider = join_slider(scene, fixed, moving, v3(-0.4, 0, 0), v3(1, 0, 0), 0, 0.2);
  sim s;
  if (sim_finish(&s, "drawer", scene)) {
    s.options.step = h;
    sim_run(&s, 1.5);
    double slid = ds_state_pose(s.scene, s.state, lies).p.x + 0.1 - 0.2, want = speed * speed / (2 * mu * 9.81);
    printf("     drawer at %.9f m, its load slid %.5f m of %.5f\n", position(&s, slider), slid, want);
    CHECK_NEAR(position(&s, slider), 0.2, 1e-6);
    CHECK_NEAR(slid, want, speed * h);
    ds_state *settled = ds_state_copy(s.state);
    sim_run(&s, test_time(60, 5));
    CHECK_LE(sim_displacement(&s, settled), 1e-9);
    ds_state_destroy(settled);
  }
  sim_close(&s);
}

/* A bead on an arm of a hub that turns freely goes out to its limit, and its limit then carries m w² r though the arm
 * turns by 0.05 rad in a step. Angular momentum stays what it was. */
static void on_a_hub(void) {
  const double speed = 5;
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_id post = scene_add_anchor(scene, 0, 0, 0);
  ds_body_def hub = body_at(0, 0, 0), bead = body_at(0.3, 0, 0.1);
  hub.angular_velocity = bead.angular_velocity = v3(0, 0, speed);
  bead.velocity = v3(0, 0.3 * speed, 0);
  ds_body_id disk = scene_add(scene, &hub, shape_box(0.6, 0.6, 0.1)),
             mass = scene_add(scene, &bead, shape_sphere(0.05));
  scene_join(scene, DS_JOINT_HINGE, post, disk, v3(0, 0, 0), v3(0, 0, 1));
  ds_joint_id slider = join_slider(scene, disk, mass, v3(0.3, 0, 0.1), v3(1, 0, 0), -0.1, 0.2);
  sim s;
  if (sim_finish(&s, "hub", scene)) {
    double before = ds_state_momentum(s.scene, s.state).angular.z, most = 0, least = 1;
    sim_run(&s, 1);
    for (int i = 0; i < 200 && sim_step(&s); i++) {
      most = fmax(most, position(&s, slider)), least = fmin(least, position(&s, slider));
    }
    double w = ds_state_angular_velocity(s.state, disk).z;
    double m = 1000 * 4.0 / 3 * 3.141592653589793 * 0.05 * 0.05 * 0.05, want = m * w * w * 0.5;
    printf("     from %.12f to %.12f m; %.6f N of %.6f; angular momentum %.12f of %.12f\n", least, most,
           -limit_force(&s, slider), want, ds_state_momentum(s.scene, s.state).angular.z, before);
    CHECK_NEAR(most, 0.2, 1e-6);
    CHECK_NEAR(least, 0.2, 1e-6);
    CHECK_NEAR(-limit_force(&s, slider), want, 2e-3 * want); /* h w of the direction of a force within a step */
    CHECK_NEAR(ds_state_momentum(s.scene, s.state).angular.z, before, 1e-5 * before); /* of second order in h */
  }
  sim_close(&s);
}

/* A load on the lower limit of a lift, 1000 times as heavy as the cage between them, is lifted by a script. */
static void lifted(void) {
  const double rise = 0.8;
  const ds_keyframe frames[] = {{.time = 0, .pose = {{0, 0, 0}, {1, 0, 0, 0}}},
                                {.time = 2, .pose = {{0, 0, rise}, {1, 0, 0, 0}}}};
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_body_def lift = body_at(0, 0, 0), cage = body_at(0.5, 0, 0), load = body_at(0.6, 0.05, 0.15);
  ds_shape_def floor = shape_box(0.6, 0.6, 0.1), box = shape_box(0.2, 0.2, 0.2);
  lift.kind = DS_BODY_KINEMATIC;
  lift.motion.kind = DS_MOTION_KEYFRAMES, lift.motion.keyframes = frames, lift.motion.keyframe_count = 2;
  floor.density = 10, box.density = 45000;
  ds_body_id guide = scene_add(scene, &lift, shape_box(0.1, 0.1, 0.1)), moving = scene_add(scene, &cage, floor);
  ds_body_id heavy = scene_add(scene, &load, box);
  ds_joint_id slider = join_slider(scene, guide, moving, v3(0, 0, 0), v3(0, 0, 1), 0, 1);
  sim s;
  if (sim_finish(&s, "lift", scene)) {
    double weight = (10 * 0.036 + 45000 * 0.008) * 9.81;
    sim_run(&s, 1);
    CHECK_NEAR(limit_force(&s, slider), weight, 1e-6 * weight);
    sim_run(&s, 2);
    CHECK_NEAR(ds_state_pose(s.scene, s.state, moving).p.z, rise, 1e-6);
    CHECK_NEAR(ds_state_pose(s.scene, s.state, heavy).p.z, 0.15 + rise, 1e-6);
    CHECK_NEAR(position(&s, slider), 0, 1e-6);
  }
  sim_close(&s);
}

/* A scripted ram pushes a platform through its upper limit and goes back: no velocity satisfies both. The steps say so,
 * nothing flies away, and the platform comes back into its limits. */
static void through_its_limit(void) {
  const ds_keyframe frames[] = {{.time = 0, .pose = {{0, 0, -0.2}, {1, 0, 0, 0}}},
                                {.time = 1, .pose = {{0, 0, 0.1}, {1, 0, 0, 0}}},
                                {.time = 2, .pose = {{0, 0, -0.2}, {1, 0, 0, 0}}}};
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_body_def ram = body_at(0, 0, -0.2), guide = body_at(1, 0, 0), table = body_at(0, 0, 0);
  ram.kind = DS_BODY_KINEMATIC, guide.kind = DS_BODY_STATIC;
  ram.motion.kind = DS_MOTION_KEYFRAMES, ram.motion.keyframes = frames, ram.motion.keyframe_count = 3;
  scene_add(scene, &ram, shape_box(0.1, 0.1, 0.1));
  ds_body_id fixed = scene_add(scene, &guide, shape_box(0.1, 0.1, 0.1));
  ds_body_id moving = scene_add(scene, &table, shape_box(0.5, 0.5, 0.1));
  ds_joint_id slider = join_slider(scene, fixed, moving, v3(1, 0, 0), v3(0, 0, 1), -0.05, 0.05);
  sim s;
  if (sim_finish(&s, "ram", scene)) {
    double fastest = 0, most = 0;
    for (int i = 0; i < 300 && sim_step(&s); i++) {
      fastest = fmax(fastest, v3_norm(ds_state_velocity(s.state, moving)));
      most = fmax(most, position(&s, slider));
    }
    printf("     %d steps unconverged; at most %.4f m, %.3f m/s; at the end %.6f m\n", (int)s.unconverged, most,
           fastest, position(&s, slider));
    CHECK_LE(1, s.unconverged);
    CHECK_LE(fastest, 2);
    CHECK_NEAR(position(&s, slider), -0.05, 1e-3);
  }
  sim_free(&s);
}

int main(void) {
  RUN(carriages);
  RUN(a_drawer);
  RUN(on_a_hub);
  RUN(lifted);
  RUN(through_its_limit);
  return test_summary();
}
