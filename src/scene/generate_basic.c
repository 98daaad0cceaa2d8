/* Scenes of one or a few bodies whose motion is known in closed form: slopes, stopping, rolling, spinning, bouncing.
 *
 * The truths: a block on a slope stays if and only if tan theta <= mu; it stops after v²/(2 mu g); a sliding ball rolls
 * at 5/7 of its first speed; a sliding, spinning disc stops both motions at once; a free body keeps energy and angular
 * momentum. */
#include <stdio.h>

#include "scene/generate.h"

static const double gravity = 9.81;

void ds_generate_incline(ds_generation *g) {
  double slope = ds_generation_value(g, "slope"), mu = ds_generation_value(g, "mu");
  double size = ds_generation_value(g, "size"), speed = ds_generation_value(g, "velocity");
  double theta = atan(slope), yaw = ds_generation_value(g, "yaw") * DS_PI / 180;
  ds_generation_begin(
      g,
      "A cube on a slope that falls towards +x: it stays if and only if tan theta <= mu, whatever its yaw; "
      "otherwise it slides at g (sin theta - mu cos theta).",
      10);
  ds_generation_material(g, "stone", mu, 0);
  ds_quat tilt = quat_axis_angle(v3(0, 1, 0), theta);
  ds_vec3 normal = quat_rotate(tilt, v3(0, 0, 1)), down = quat_rotate(tilt, v3(1, 0, 0));
  ds_body_def ground = {.name = "slope", .kind = DS_BODY_STATIC, .pose = {v3(0, 0, 0), tilt}, .color = DS_COLOR_FLOOR};
  ds_shape_def half_space = {.kind = DS_SHAPE_HALF_SPACE};
  ds_generation_body(g, "stone", &ground, &half_space, 1);
  ds_brick cube = ds_default_brick(v3_scale(0.5 * size, normal), v3(size, size, size), 1000);
  cube.mass = ds_generation_value(g, "mass");
  cube.rotation = yaw == 0 ? tilt : quat_mul(tilt, quat_axis_angle(v3(0, 0, 1), yaw));
  cube.velocity = v3_scale(speed, down);
  ds_generation_brick(g, "stone", "cube", 0, &cube);
  ds_generation_end(g);
}

void ds_generate_slide(ds_generation *g) {
  double speed = ds_generation_value(g, "velocity"), mu = ds_generation_value(g, "mu");
  double stop = speed / (mu * gravity);
  ds_generation_begin(g, "A cube slides on the floor and stops after v / (mu g), having gone v^2 / (2 mu g).",
                      ceil(stop + 1));
  ds_generation_material(g, "stone", mu, 0);
  ds_generation_floor(g, "stone");
  ds_brick cube = ds_default_brick(v3(0, 0, 0.1), v3(0.2, 0.2, 0.2), 1000);
  cube.mass = 1;
  cube.velocity = v3(speed, 0, 0);
  ds_generation_brick(g, "stone", "cube", 0, &cube);
  ds_generation_end(g);
}

static ds_body_def ball_at(const char *name, ds_vec3 center, double mass) {
  return (ds_body_def){.name = name, .pose = {center, quat_identity()}, .mass = mass, .color = v3(0.75, 0.3, 0.25)};
}

void ds_generate_roll(ds_generation *g) {
  double speed = ds_generation_value(g, "velocity"), mu = ds_generation_value(g, "mu");
  double radius = ds_generation_value(g, "radius");
  double rolling = 2 * speed / (7 * mu * gravity);
  ds_generation_begin(g, "A ball is launched sliding, without spin: after 2 v / (7 mu g) it rolls, at 5/7 v.",
                      ceil(rolling + 2));
  ds_generation_material(g, "ball", mu, 0);
  ds_generation_floor(g, "ball");
  ds_body_def def = ball_at("ball", v3(0, 0, radius), 1);
  def.velocity = v3(speed, 0, 0);
  ds_shape_def shape = {.kind = DS_SHAPE_SPHERE, .radius = radius};
  ds_generation_body(g, "ball", &def, &shape, 1);
  ds_generation_end(g);
}

void ds_generate_disc(ds_generation *g) {
  double speed = ds_generation_value(g, "velocity"), mu = ds_generation_value(g, "mu");
  double omega = ds_generation_value(g, "omega"), radius = 0.1, thickness = 0.02;
  /* alone, sliding ends after v / (mu g) and spinning after 3 R omega / (4 mu g); together later than either */
  double alone = fmax(fabs(speed), 0.75 * radius * fabs(omega)) / (mu * gravity);
  ds_generation_begin(
      g,
      "A flat disc of radius 0.1 m slides and spins on the floor: both motions stop at once, and v / (R "
      "omega) tends to 0.653 for a pressure spread evenly, which takes many contact points.",
      ceil(2 * alone + 1));
  ds_generation_option(g, "contacts_per_face", ds_generation_value(g, "contacts_per_face"));
  ds_generation_material(g, "disc", mu, 0);
  ds_generation_floor(g, "disc");
  ds_body_def def = ball_at("disc", v3(0, 0, 0.5 * thickness), 1);
  def.velocity = v3(speed, 0, 0);
  def.angular_velocity = v3(0, 0, omega);
  ds_shape_def shape = {.kind = DS_SHAPE_CYLINDER, .radius = radius, .half_length = 0.5 * thickness};
  ds_generation_body(g, "disc", &def, &shape, 1);
  ds_generation_end(g);
}

void ds_generate_bounce(ds_generation *g) {
  double height = ds_generation_value(g, "height"), e = ds_generation_value(g, "e"), radius = 0.1;
  double fall = sqrt(2 * height / gravity);
  ds_generation_begin(g, "A ball falls from a height h above the floor: the k-th bounce rises to e^(2k) h.",
                      e < 0.95 ? ceil(fall * (1 + e) / (1 - e) + 1) : ceil(40 * fall));
  ds_generation_material(g, "ball", 0.5, e);
  ds_generation_floor(g, "ball");
  ds_body_def def = ball_at("ball", v3(0, 0, height + radius), 1);
  ds_shape_def shape = {.kind = DS_SHAPE_SPHERE, .radius = radius};
  ds_generation_body(g, "ball", &def, &shape, 1);
  ds_generation_end(g);
}

void ds_generate_spin(ds_generation *g) {
  double omega = ds_generation_value(g, "omega"), tilt = ds_generation_value(g, "tilt") * DS_PI / 180;
  ds_generation_begin(
      g,
      "A free box without gravity, spun about nearly its middle axis: it turns over again and again, and "
      "keeps its energy and angular momentum.",
      10);
  ds_generation_gravity(g, v3(0, 0, 0));
  ds_generation_material(g, "box", 0.5, 0);
  ds_brick box = ds_default_brick(v3(0, 0, 0), v3(0.3, 0.2, 0.1), 1000);
  box.mass = 1;
  box.angular_velocity = v3(0, omega * cos(tilt), omega * sin(tilt));
  ds_generation_brick(g, "box", "box", 0, &box);
  ds_generation_end(g);
}

void ds_generate_billiard(ds_generation *g) {
  int32_t rows = ds_generation_count(g, "rows");
  double e = ds_generation_value(g, "e"), mu = ds_generation_value(g, "mu"), speed = ds_generation_value(g, "velocity");
  bool triangle = ds_generation_chose(g, "layout", "triangle");
  double radius = 0.028575, mass = 0.17, length = 20 * radius;
  ds_generation_begin(
      g,
      "Billiard balls of 57.15 mm, touching, struck by a cue ball that slides before it rolls. Ball on ball: "
      "mu and e as given; ball on cloth: mu 0.2 and no bouncing.",
      5);
  ds_generation_material(g, "ball", mu, e);
  ds_generation_material(g, "cloth", 0.2, 0);
  ds_generation_pair(g, "ball", "cloth", 0.2, 0);
  ds_generation_floor(g, "cloth");
  ds_shape_def shape = {.kind = DS_SHAPE_SPHERE, .radius = radius};
  ds_body_def cue = ball_at("cue", v3(-length, 0, radius), mass);
  cue.velocity = v3(speed, 0, 0);
  cue.color = v3(0.95, 0.93, 0.88);
  ds_generation_body(g, "ball", &cue, &shape, 1);
  int32_t number = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < (triangle ? i + 1 : 1); j++) {
      char name[24];
      snprintf(name, sizeof name, "ball%d", (int)++number);
      double x = triangle ? i * (sqrt(3) * radius) : i * (2 * radius), y = triangle ? (2 * j - i) * radius : 0;
      ds_body_def def = ball_at(name, v3(x, y, radius), mass);
      def.color = ds_color_hue(0.618034 * number);
      ds_generation_body(g, "ball", &def, &shape, 1);
    }
  }
  ds_generation_end(g);
}
