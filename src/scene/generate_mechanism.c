/* Followers on a camshaft that slide in guides, or jam [FFD05 figure 4: a mechanism that slides and jams].
 *
 * A follower is a post in a guide with an arm and a weight on one side. With its centre of mass at e from the post and
 * a guide of height L, the guide carries N = W e/L at either end, and friction up to 2 mu N: the cam lifts all
 * followers, and those with
 *
 *   2 mu e / L >= 1
 *
 * do not come down again. Followers have that ratio from 1 - spread to 1 + spread. Cams are greased. */
#include <math.h>
#include <stdio.h>

#include "scene/generate.h"

static const double post = 0.04, post_length = 0.5, guide = 0.15; /* m: width, length; height of the guide */
static const double clearance = 2e-4, wall = 0.06;                /* m: on either side; thickness of the guide */
static const double cam = 0.1, eccentric = 0.05, apart = 0.3; /* m: radius of cams, of their path, along the shaft */
static const double density = 500, turn = 2;                  /* kg/m³; s per turn of the shaft */

/* Where follower i is along the shaft. */
static double place(const ds_generation *g, int32_t i) {
  return apart * (i - 0.5 * (ds_generation_count(g, "count") - 1));
}

static ds_shape_def box(ds_vec3 middle, ds_vec3 size, double weight) {
  return (ds_shape_def){.kind = DS_SHAPE_BOX,
                        .pose = {middle, quat_identity()},
                        .half = v3_scale(0.5, size),
                        .density = weight / (size.x * size.y * size.z)};
}

/* The post stands on `foot`; its centre of mass is at e. */
static void write_follower(ds_generation *g, int32_t i, double foot, double e) {
  double weight = 2 * e, length = weight - 0.5 * post, side = 0.1, top = post_length - 0.5 * post;
  double m_post = density * post * post * post_length, m_arm = density * post * post * length;
  double m_weight = (e * (m_post + m_arm) - m_arm * 0.5 * (post + length)) / e;
  ds_shape_def shapes[3] = {
      box(v3(0, 0, 0.5 * post_length), v3(post, post, post_length), m_post),
      box(v3(0.5 * (post + length), 0, top), v3(length, post, post), m_arm),
      box(v3(weight, 0, top + 0.5 * (post + side)), v3(side, side, side), m_weight),
  };
  char name[24];
  snprintf(name, sizeof name, "follower%d", (int)i + 1);
  ds_body_def def = {
      .name = name, .pose = {v3(0, place(g, i), foot), quat_identity()}, .color = ds_color_hue(0.02 + 0.11 * i)};
  ds_generation_body(g, "post", &def, shapes, 3);
}

static void write_guide(ds_generation *g, int32_t i, double bottom) {
  double at = 0.5 * post + clearance + 0.5 * wall;
  ds_shape_def shapes[2];
  for (int k = 0; k < 2; k++) shapes[k] = box(v3(k == 0 ? at : -at, 0, 0.5 * guide), v3(wall, 2 * post, guide), 1);
  char name[24];
  snprintf(name, sizeof name, "guide%d", (int)i + 1);
  ds_body_def def = {.name = name,
                     .kind = DS_BODY_STATIC,
                     .pose = {v3(0, place(g, i), bottom), quat_identity()},
                     .color = v3(0.55, 0.57, 0.6)};
  ds_generation_body(g, "post", &def, shapes, 2);
}

static void write_shaft(ds_generation *g, double height) {
  enum { MOST = 12 };
  ds_shape_def shapes[MOST];
  int32_t count = ds_generation_count(g, "count");
  ds_quat along = quat_axis_angle(v3(1, 0, 0), 0.5 * DS_PI); /* z to -y */
  for (int32_t i = 0; i < count && i < MOST; i++)
    shapes[i] = (ds_shape_def){.kind = DS_SHAPE_CYLINDER,
                               .pose = {v3(0, place(g, i), -eccentric), along},
                               .radius = cam,
                               .half_length = post,
                               .density = 1000};
  ds_body_def def = {.name = "camshaft",
                     .kind = DS_BODY_KINEMATIC,
                     .pose = {v3(0, 0, height), quat_identity()},
                     .color = v3(0.75, 0.6, 0.25)};
  def.motion =
      (ds_motion_def){.kind = DS_MOTION_VELOCITY, .angular_velocity = v3(0, 2 * DS_PI / turn, 0), .end_time = INFINITY};
  ds_generation_body(g, "cam", &def, shapes, count);
}

void ds_generate_mechanism(ds_generation *g) {
  int32_t count = ds_generation_count(g, "count");
  double mu = ds_generation_value(g, "mu"), spread = ds_generation_value(g, "spread");
  double shaft = 0.25, foot = shaft - eccentric + cam, bottom = foot + 2 * eccentric + 0.02;
  ds_generation_begin(
      g, "A camshaft lifts followers; those that are loaded too far from their guides jam [FFD05 figure 4].", 2 * turn);
  ds_generation_material(g, "post", mu, 0);
  ds_generation_material(g, "cam", 0.05, 0);
  ds_generation_pair(g, "cam", "post", 0.05, 0);
  ds_generation_floor(g, "post");
  for (int32_t i = 0; i < count; i++) {
    double ratio = 1 + spread * (count > 1 ? 2.0 * i / (count - 1) - 1 : 0);
    write_guide(g, i, bottom);
    write_follower(g, i, foot, ratio * guide / (2 * mu));
  }
  write_shaft(g, shaft);
  ds_generation_end(g);
}
