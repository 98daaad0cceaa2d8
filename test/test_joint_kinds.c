/* What each kind of joint holds and what it leaves free, one joint alone; where a joint says that it is; which are
 * refused. */
#include "joint_helper.h"

static const ds_vec3 AXES[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* A box of 0.4 x 0.3 x 0.2 m, its centre 0.5 m beside the joint, spins about one axis of the world through it, without
 * gravity. How far it has turned after half a second, rad. */
static double turned(ds_joint_kind kind, ds_vec3 spin, bool anchored_first) {
  const ds_vec3 center = {0.5, 0, 0};
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def def = body_at(center.x, center.y, center.z);
  def.angular_velocity = spin;
  def.velocity = v3_cross(spin, center);
  ds_body_id anchor = scene_add_anchor(scene, 0, 0, 0), box = scene_add(scene, &def, shape_box(0.4, 0.3, 0.2));
  scene_join(scene, kind, anchored_first ? anchor : box, anchored_first ? box : anchor, v3(0, 0, 0), v3(0, 2, 0));
  double angle = NAN;
  sim s;
  if (sim_finish(&s, "one joint", scene)) {
    double drift = sim_drift(&s, 0.5);
    ds_pose pose = ds_state_pose(s.scene, s.state, box);
    angle = 2 * atan2(v3_norm(v3(pose.q.x, pose.q.y, pose.q.z)), fabs(pose.q.w));
    CHECK_LE(drift, 1e-12);
    CHECK_LE(v3_dist(quat_rotate(pose.q, center), pose.p), 1e-12); /* it turns about the joint, as far as it does */
    CHECK_NEAR(s.report.joint_drift, ds_state_joint(s.scene, s.state, ds_scene_joint(s.scene, 0)).gap, 0);
  }
  sim_close(&s);
  return angle;
}

static void what_is_free(void) {
  for (int axis = 0; axis < 3; axis++)
    for (int order = 0; order < 2; order++) {
      ds_vec3 spin = v3_scale(2, AXES[axis]);
      double ball = turned(DS_JOINT_BALL, spin, order), hinge = turned(DS_JOINT_HINGE, spin, order),
             weld = turned(DS_JOINT_WELD, spin, order);
      printf("     axis %d: ball turns by %.4f, hinge by %.2g, weld by %.2g rad\n", axis, ball, hinge, weld);
      CHECK_NEAR(ball, 1, 1e-3);
      CHECK_NEAR(hinge, axis == 1 ? 1 : 0, axis == 1 ? 1e-3 : 1e-10); /* its axis is y */
      CHECK_LE(weld, 1e-10);
    }
}

/* A box on one weld, sticking out: its weight does not bend it. On a hinge it falls. */
static void a_weld_carries(void) {
  for (int kind = DS_JOINT_HINGE; kind <= DS_JOINT_WELD; kind++) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    ds_body_def def = body_at(0.6, 0.1, 1);
    ds_body_id anchor = scene_add_anchor(scene, 0, 0, 1), box = scene_add(scene, &def, shape_box(1, 0.2, 0.1));
    scene_join(scene, (ds_joint_kind)kind, anchor, box, v3(0.05, 0, 1), v3(0, 1, 0));
    sim s;
    if (sim_finish(&s, "cantilever", scene)) {
      double drift = sim_drift(&s, 1), moved = sim_displacement(&s, s.start);
      CHECK_LE(drift, 1e-11);
      if (kind == DS_JOINT_WELD)
        CHECK_LE(moved, 1e-11);
      else
        CHECK_LE(0.3, moved);
    }
    sim_close(&s);
  }
}

/* Where a joint is, with bodies where no step would put them. The lever of a hinge or weld is the smaller body's
 * radius. */
static void places_by_hand(void) {
  for (int kind = DS_JOINT_BALL; kind <= DS_JOINT_WELD; kind++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    /* frames of bodies that are not those of their centres of mass, at x = 0 and 1 */
    ds_body_def a = body_at(-0.1, 0, 0), b = body_at(1.05, 0, 0);
    ds_shape_def big = shape_sphere(0.5), small = shape_sphere(0.3);
    big.pose.p.x = 0.1, small.pose.p.x = -0.05;
    ds_body_id one = scene_add(scene, &a, big), other = scene_add(scene, &b, small);
    ds_joint_id id = scene_join(scene, (ds_joint_kind)kind, one, other, v3(0.6, 0, 0), v3(0, 0, 3));
    sim s;
    if (sim_finish(&s, "places", scene)) {
      const double lever = 0.3, angle = 0.2, chord = 2 * sin(0.5 * angle) * lever;
      ds_pose at_a = ds_state_pose(s.scene, s.state, one), at_b = ds_state_pose(s.scene, s.state, other);
      ds_joint_place p = ds_state_joint(s.scene, s.state, id);
      CHECK_LE(v3_dist(p.on_a, v3(0.6, 0, 0)) + v3_dist(p.on_b, v3(0.6, 0, 0)) + p.gap, 1e-15);
      CHECK_LE(v3_dist(p.axis, kind == DS_JOINT_HINGE ? v3(0, 0, 1) : v3(0, 0, 0)), 1e-15);
      ds_pose moved = at_b;
      moved.p = v3_add(moved.p, v3(0, 0.3, 0.4));
      p = ds_joint_at(s.scene, id, at_a, moved);
      CHECK_NEAR(p.gap, 0.5, 1e-15);
      CHECK_LE(v3_dist(p.on_b, v3(0.6, 0.3, 0.4)), 1e-15);
      for (int axis = 0; axis < 3; axis++) { /* turned about the joint's own point */
        ds_quat q = quat_axis_angle(AXES[axis], angle);
        ds_pose about = {v3_add(v3(0.6, 0, 0), quat_rotate(q, v3(0.45, 0, 0))), q};
        p = ds_joint_at(s.scene, id, at_a, about);
        /* points of a hinge lie on z, of a weld at 0, 120 and 240 degrees in the plane of x and y */
        const double hinge[3] = {chord, chord, 0}, weld[3] = {chord * sqrt(0.75), chord, chord};
        double want = kind == DS_JOINT_BALL ? 0 : kind == DS_JOINT_HINGE ? hinge[axis] : weld[axis];
        CHECK_NEAR(p.gap, want, 1e-14);
        /* and with both turned the axis goes with a */
        p = ds_joint_at(s.scene, id, (ds_pose){v3_add(v3(0.6, 0, 0), quat_rotate(q, v3(-0.7, 0, 0))), q}, about);
        CHECK_NEAR(p.gap, 0, 1e-14);
        if (kind == DS_JOINT_HINGE) CHECK_LE(v3_dist(p.axis, quat_rotate(q, v3(0, 0, 1))), 1e-14);
      }
      ds_joint_def def = ds_joint_get_def(s.scene, id);
      CHECK(def.a.index1 == one.index1 && def.b.index1 == other.index1 && (int)def.kind == kind && !def.collide);
      CHECK(ds_scene_joint_count(s.scene) == 1 && ds_scene_joint(s.scene, 0).index1 == id.index1);
      CHECK(ds_scene_joint(s.scene, 1).index1 == 0 && ds_scene_joint(s.scene, -1).index1 == 0);
    }
    sim_close(&s);
  }
}

/* A slab welded to the ground rests on a rough floor, where nothing can move; a block on it, smooth, is pushed and
 * slides. Contacts that cannot act drop out of the problem, and the others keep their own friction. */
static void friction_of_the_right_contact(void) {
  ds_scene *scene = scene_new(v3(0, 0, -10), 0.9, 0);
  ds_material_def smooth = {.mu = 0.1};
  ds_error error = {""};
  ds_material_id ice = ds_scene_add_material(scene, &smooth, &error);
  ds_body_id floor = scene_add_floor(scene);
  ds_body_def slab = body_at(0, 0, 0.1), block = body_at(0, 0, 0.3);
  block.material = ice, block.mass = 1, block.force = v3(2, 0, 0);
  ds_body_id under = scene_add(scene, &slab, shape_box(2, 1, 0.2)),
             over = scene_add(scene, &block, shape_box(0.2, 0.2, 0.2));
  CHECK(ds_scene_set_pair(scene, (ds_material_id){0}, ice, 0.1, 0, &error) == DS_OK);
  ds_joint_def weld = ds_default_joint();
  weld.kind = DS_JOINT_WELD, weld.a = floor, weld.b = under, weld.collide = true;
  CHECK(ds_scene_add_joint(scene, &weld, &error).index1 == 1);
  sim s;
  if (sim_finish(&s, "slab", scene)) {
    sim_run(&s, 0.5);
    CHECK_NEAR(ds_state_velocity(s.state, over).x, 0.5 * (2 - 0.1 * 10), 1e-6);
    CHECK(s.report.contacts > 4);
  }
  sim_close(&s);
}

static void refuse(ds_scene *scene, ds_joint_def def, const char *says) {
  ds_error error = {""};
  CHECK(ds_scene_add_joint(scene, &def, &error).index1 == 0);
  if (!strstr(error.message, says)) printf("     \"%s\" says nothing of \"%s\"\n", error.message, says);
  CHECK(strstr(error.message, says) != NULL);
}

static void what_is_refused(void) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def a = body_at(0, 0, 0), b = body_at(1, 0, 0);
  ds_joint_def good = ds_default_joint(), def;
  good.a = scene_add(scene, &a, shape_sphere(0.5)), good.b = scene_add(scene, &b, shape_sphere(0.3));
  ds_body_id fixed = scene_add_anchor(scene, 3, 0, 0), other = scene_add_anchor(scene, 4, 0, 0);
  def = good, def.a = (ds_body_id){0}, refuse(scene, def, "two bodies");
  def = good, def.b = (ds_body_id){5}, refuse(scene, def, "two bodies");
  def = good, def.b = def.a, refuse(scene, def, "different");
  def = good, def.a = fixed, def.b = other, refuse(scene, def, "not dynamic");
  def = good, def.kind = (ds_joint_kind)1000, refuse(scene, def, "kind");
  def = good, def.kind = (ds_joint_kind)-1, refuse(scene, def, "kind");
  def = good, def.point.z = NAN, refuse(scene, def, "point");
  def = good, def.kind = DS_JOINT_HINGE, def.axis = v3(0, 0, 0), refuse(scene, def, "axis");
  def = good, def.kind = DS_JOINT_HINGE, def.axis = v3(INFINITY, 0, 0), refuse(scene, def, "axis");
  def = good, def.kind = DS_JOINT_SLIDER, def.axis = v3(0, 0, 0), refuse(scene, def, "axis");
  def = good, def.b = fixed; /* one of them may stand */
  CHECK(ds_scene_add_joint(scene, &def, NULL).index1 == 1);
  def = good, def.kind = DS_JOINT_HINGE;
  CHECK(ds_scene_add_joint(scene, &def, NULL).index1 == 2);
  ds_scene_destroy(scene);
}

int main(void) {
  RUN(what_is_free);
  RUN(a_weld_carries);
  RUN(places_by_hand);
  RUN(friction_of_the_right_contact);
  RUN(what_is_refused);
  return test_summary();
}
