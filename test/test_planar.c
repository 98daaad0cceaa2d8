/* Planar joints and their drives, whose force is in a disk of fixed radius, against mechanics by hand: what is held and
 * what is free; a motor leads any velocity straight to its target, with F/m; dry friction holds or lets slip at exactly
 * its limit, against the resultant of two forces; a drive beside the centre of mass; two free bodies; what is refused.
 * By both integrators, in a skew frame, with either body first. */
#include <string.h>

#include "joint_helper.h"

enum { VARIANTS = 4 }; /* of the integrator, and of the order of bodies */

/* A skew frame: x and y in the plane, z along the axis. */
static ds_quat skew(void) { return quat_axis_angle(v3_unit(v3(1, 2, -0.5)), 0.8); }
static ds_vec3 in_world(double x, double y, double z) { return quat_rotate(skew(), v3(x, y, z)); }
static ds_vec3 in_frame(ds_vec3 v) { return quat_unrotate(skew(), v); }

/* A cube of 8 kg at the origin on a plane of a static body; or with the joint's point elsewhere. */
typedef struct puck {
  ds_body_def body;
  ds_vec3 gravity, point, velocity;
  double max_force;
} puck;

static puck puck_new(void) {
  puck p = {.body = body_at(0, 0, 0)};
  p.body.pose.q = quat_axis_angle(v3_unit(v3(0, 1, 1)), 0.3);
  return p;
}

static bool puck_start(sim *s, ds_body_id *body, int variant, const puck *p) {
  ds_scene *scene = scene_new(p->gravity, 0.5, 0);
  ds_body_id ground = scene_add_anchor(scene, 0.3, -1, 2);
  bool swapped = variant & 1;
  *body = scene_add(scene, &p->body, shape_box(0.2, 0.2, 0.2));
  ds_joint_def def = ds_default_joint();
  ds_error error = {""};
  def.kind = DS_JOINT_PLANAR, def.a = swapped ? *body : ground, def.b = swapped ? ground : *body;
  def.point = p->point, def.axis = in_world(0, 0, 3), def.max_force = p->max_force;
  def.velocity = v3_scale(swapped ? -1 : 1, p->velocity); /* of b against a */
  bool added = ds_scene_add_joint(scene, &def, &error).index1 > 0;
  if (!added) printf("     %s\n", error.message);
  CHECK(added);
  bool ok = sim_finish(s, "puck", scene);
  s->options.integrator = variant & 2 ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
  return ok;
}

/* Its gap, with bodies where no step would put them: how far b is out of the plane, not how far along it or turned. */
static void gap_by_hand(void) {
  for (int variant = 0; variant < 2; variant++) {
    puck p = puck_new();
    ds_body_id body;
    sim s;
    if (!puck_start(&s, &body, variant, &p)) continue;
    ds_joint_id joint = ds_scene_joint(s.scene, 0);
    ds_pose start = ds_state_pose(s.scene, s.state, body), moved = start;
    moved.p = v3_add(start.p, in_world(0.3, -0.2, 0.02));
    ds_state_set_pose(s.scene, s.state, body, moved);
    CHECK_NEAR(ds_state_joint(s.scene, s.state, joint).gap, 0.02, 1e-12);
    sim_free(&s);
  }
}

/* Thrown anyhow: what points out of the plane, and tilts, is gone after a step; the rest stays. Gravity along the axis
 * is carried. */
static void held_and_free(void) {
  for (int variant = 0; variant < VARIANTS; variant++) {
    puck p = puck_new();
    ds_body_id body;
    sim s;
    p.body.velocity = in_world(0.4, -0.3, 0.7), p.body.angular_velocity = in_world(0.5, -2, 1.5);
    p.gravity = in_world(0, 0, -9.81);
    if (puck_start(&s, &body, variant, &p)) {
      double drift = sim_drift(&s, 1);
      ds_vec3 v = in_frame(ds_state_velocity(s.state, body)), w = in_frame(ds_state_angular_velocity(s.state, body));
      ds_vec3 x = in_frame(ds_state_pose(s.scene, s.state, body).p);
      printf("     at (%.9f, %.9f, %.1g) m, drift %.1g m\n", x.x, x.y, x.z, drift);
      CHECK_LE(drift, 1e-12);
      CHECK_LE(v3_dist(v, v3(0.4, -0.3, 0)), 1e-11);
      CHECK_LE(v3_dist(w, v3(0, 0, 1.5)), 1e-11);
      CHECK_LE(v3_dist(x, v3(0.4, -0.3, 0)), 1e-11);
    }
    sim_close(&s);
  }
}

/* From v to the target V: v - V keeps its direction and loses F/m per second, then v = V. 8 kg, 4 N: 0.5 m/s². Limits
 * for each of two directions would let it go along a diagonal first. */
static void straight_to_its_target(void) {
  for (int variant = 0; variant < VARIANTS; variant += 2) { /* a drive acts at the point of the second body */
    puck p = puck_new();
    ds_body_id body;
    sim s;
    const ds_vec3 first = {0.4, -0.3, 0}, target = {-0.2, 0.5, 0};
    p.body.velocity = in_world(first.x, first.y, 0), p.velocity = in_world(target.x, target.y, 0), p.max_force = 4;
    if (puck_start(&s, &body, variant, &p)) {
      sim_run(&s, 1.2);
      ds_vec3 early = in_frame(ds_state_velocity(s.state, body));
      ds_vec3 want = v3_mad(target, 1 - 0.5 * 1.2 / v3_dist(first, target), v3_sub(first, target));
      ds_vec3 impulse = in_frame(ds_state_contacts(s.state, &(int32_t){0})[0].impulse);
      sim_run(&s, 1.2); /* 2 s are enough */
      ds_vec3 late = in_frame(ds_state_velocity(s.state, body));
      printf("     off by %.2g m/s after 1.2 s, %.2g after 2.4 s\n", v3_dist(early, want), v3_dist(late, target));
      CHECK_LE(v3_dist(early, want), 1e-9);
      CHECK_LE(v3_dist(late, target), 1e-9);
      CHECK_NEAR(v3_norm(impulse), 4 * s.options.step, 1e-9);
      CHECK_NEAR(impulse.z, 0, 1e-12);
    }
    sim_close(&s);
  }
}

/* A plane tilted by 0.4 rad, and a force across the slope: their resultant R decides, and shows the way. */
static void dry_friction(void) {
  const double share[2] = {0.999, 1.001};
  for (int variant = 0; variant < VARIANTS; variant++)
    for (int i = 0; i < 2; i++) {
      puck p = puck_new();
      ds_body_id body;
      sim s;
      const double down = 8 * 9.81 * sin(0.4), across = 20, resultant = hypot(down, across);
      p.gravity = in_world(9.81 * sin(0.4), 0, -9.81 * cos(0.4)), p.body.force = in_world(0, across, 0);
      p.max_force = share[i] * resultant;
      if (puck_start(&s, &body, variant, &p)) {
        sim_run(&s, 2);
        ds_vec3 x = in_frame(ds_state_pose(s.scene, s.state, body).p), v = in_frame(ds_state_velocity(s.state, body));
        ds_vec3 way = v3(down / resultant, across / resultant, 0);
        double a = i == 0 ? 0.001 * resultant / 8 : 0, h = s.options.step;
        double late = variant & 2 ? 0 : 0.5 * h * 2 * a; /* Euler's rule: h v/2 more */
        printf("     slid %.12f m of %.12f\n", v3_norm(x), 2 * a + late);
        CHECK_LE(v3_dist(x, v3_scale(2 * a + late, way)), 1e-9);
        CHECK_LE(v3_dist(v, v3_scale(2 * a, way)), 1e-9);
      }
      sim_close(&s);
    }
}

/* Pulled beside its centre, by d across the force: v = F h/m and w = F d h/I in the first step. I = m a²/6 of a cube.
 */
static void beside_the_centre(void) {
  for (int variant = 0; variant < 2; variant++) {
    puck p = puck_new();
    ds_body_id body;
    sim s;
    p.point = in_world(0, 0.05, 0.02), p.velocity = in_world(1, 0, 0), p.max_force = 4;
    if (puck_start(&s, &body, variant, &p)) {
      sim_run(&s, s.options.step);
      ds_vec3 v = in_frame(ds_state_velocity(s.state, body)), w = in_frame(ds_state_angular_velocity(s.state, body));
      double h = s.options.step, inertia = 8 * 0.04 / 6;
      CHECK_LE(v3_dist(v, v3(4 * h / 8, 0, 0)), 1e-12);
      CHECK_LE(v3_dist(w, v3(0, 0, -4 * 0.05 * h / inertia)), 1e-12);
    }
    sim_close(&s);
  }
}

/* Two free bodies, 8 and 1 kg: momentum stays, the impulse never exceeds F h, and the velocity of one against the other
 * comes to the target, which goes with the first. */
static void two_free_bodies(void) {
  for (int variant = 0; variant < VARIANTS; variant++) {
    ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
    ds_body_def one = body_at(0, 0, 0), two = body_at(0.05, 0.02, 0.2);
    one.velocity = v3(0.1, 0.2, 0), two.velocity = v3(-0.5, 0.1, 0);
    bool swapped = variant & 1;
    ds_body_id big = scene_add(scene, &one, shape_box(0.2, 0.2, 0.2));
    ds_body_id small = scene_add(scene, &two, shape_box(0.1, 0.1, 0.1));
    ds_joint_def def = ds_default_joint();
    def.kind = DS_JOINT_PLANAR, def.a = swapped ? small : big, def.b = swapped ? big : small;
    def.point = v3(0, 0, 0.1), def.velocity = v3(0.06, -0.08, 0), def.max_force = 0.5;
    CHECK(ds_scene_add_joint(scene, &def, NULL).index1 > 0);
    sim s;
    if (sim_finish(&s, "two", scene)) {
      s.options.integrator = variant & 2 ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
      double most = 0, drift = 0;
      for (int32_t i = 0; i < 300 && sim_step(&s); i++) {
        int32_t count;
        const ds_contact *c = ds_state_contacts(s.state, &count);
        CHECK(count == 1);
        if (count == 1) most = fmax(most, v3_norm(c->impulse));
        drift = fmax(drift, s.report.joint_drift);
      }
      ds_vec3 p = v3_mad(v3_scale(8, ds_state_velocity(s.state, big)), 1, ds_state_velocity(s.state, small));
      ds_pose at = ds_state_pose(s.scene, s.state, def.a);
      ds_vec3 point = ds_state_joint(s.scene, s.state, ds_scene_joint(s.scene, 0)).on_b, v[2];
      for (int side = 0; side < 2; side++) {
        ds_body_id body = side == 0 ? def.a : def.b;
        ds_vec3 arm = v3_sub(point, ds_state_pose(s.scene, s.state, body).p);
        v[side] = v3_add(ds_state_velocity(s.state, body), v3_cross(ds_state_angular_velocity(s.state, body), arm));
      }
      ds_vec3 apart = quat_unrotate(at.q, v3_sub(v[1], v[0]));
      double spin =
          v3_norm(ds_state_angular_velocity(s.state, big)) + v3_norm(ds_state_angular_velocity(s.state, small));
      /* Euler's rule has plane and point as they were at the start of the step */
      double late = variant & 2 ? 1e-12 : 2 * s.options.step * spin * v3_norm(def.velocity);
      printf("     momentum off by %.1g, velocity by %.1g (%.1g) m/s, impulse %.4f of %.4f N s, drift %.1g m\n",
             v3_dist(p, v3(0.3, 1.7, 0)), v3_dist(apart, def.velocity), late, most, 0.5 * s.options.step, drift);
      CHECK_LE(v3_dist(p, v3(0.3, 1.7, 0)), 1e-10);
      CHECK_LE(v3_dist(apart, def.velocity), late);
      CHECK_LE(most, 0.5 * s.options.step * (1 + 1e-4)); /* the tolerance of motion */
      CHECK_LE(0.5 * s.options.step * (1 - 1e-4), most);
      CHECK_LE(drift, 1e-12);
    }
    sim_close(&s);
  }
}

static void refuse(ds_joint_def def, const char *why) {
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def one = body_at(0, 0, 0);
  ds_error error = {""};
  def.a = scene_add_anchor(scene, 0, 0, 0), def.b = scene_add(scene, &one, shape_box(1, 1, 1));
  CHECK(ds_scene_add_joint(scene, &def, &error).index1 == 0);
  if (!strstr(error.message, why)) printf("     '%s' does not say '%s'\n", error.message, why);
  CHECK(strstr(error.message, why) != NULL);
  ds_scene_destroy(scene);
}

static void what_is_refused(void) {
  ds_joint_def planar = ds_default_joint(), d;
  planar.kind = DS_JOINT_PLANAR, planar.max_force = 1;
  d = planar, d.speed = 1;
  refuse(d, "planar with a speed");
  d = planar, d.velocity = v3(1, 0, 1e-3);
  refuse(d, "across it");
  d = planar, d.velocity = v3(NAN, 0, 0);
  refuse(d, "finite");
  d = planar, d.velocity = v3(1, 0, 0), d.max_force = 0;
  refuse(d, "max_force");
  d = planar, d.limited = true;
  refuse(d, "a planar has no limits");
  d = planar, d.axis = v3(0, 0, 0);
  refuse(d, "axis of a planar");
  d = planar, d.kind = DS_JOINT_SLIDER, d.velocity = v3(0, 0, 1);
  refuse(d, "slider with a velocity");
}

int main(void) {
  RUN(gap_by_hand);
  RUN(held_and_free);
  RUN(straight_to_its_target);
  RUN(dry_friction);
  RUN(beside_the_centre);
  RUN(two_free_bodies);
  RUN(what_is_refused);
  return test_summary();
}
