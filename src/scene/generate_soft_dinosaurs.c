/* Large-deformation animals thrown together [SP08 section 8.1, figure 1b]: reduced St. Venant-Kirchhoff bodies hit each
 * other in the air, fall and end in a stable pile. The paper gives mu, the step and the degrees of freedom; everything
 * else is ours. */
#include "scene/generate_deformable.h"

/* The figure `dinosaur` lies within this ball about (ahead, 0, center). */
static const double ball = 0.19, ahead = -0.027, center = 0.09;

/* Rings of five, one above the other, each turned by half a place; every animal flies towards the axis, up enough to
 * be at its own height again when it gets there, and tumbles. */
static void write_thrown(ds_generation *g, int32_t i, double speed, int32_t seed) {
  enum { EACH = 5 };
  const double around = 0.6, gravity = 9.81;
  uint64_t state = ds_random_stream(seed, i);
  int32_t ring = i / EACH;
  double angle = 2 * DS_PI * (i % EACH + 0.5 * (ring % 2)) / EACH;
  ds_vec3 out = v3(cos(angle), sin(angle), 0);
  ds_vec3 p = v3_add(v3_scale(around, out), v3(0, 0, 0.35 + 2.1 * ball * ring));
  ds_quat q = ds_random_rotation(&state);
  ds_soft_body body = {.name = "dinosaur", .number = i + 1, .color = ds_color_hue(0.27 + 0.11 * i)};
  body.pose = (ds_pose){v3_sub(p, quat_rotate(q, v3(ahead, 0, center))), q};
  body.velocity = v3_add(v3_scale(-speed, out), v3(0, 0, 0.5 * gravity * around / speed));
  for (int32_t axis = 0; axis < 3; axis++) {
    double spin = ds_random_between(&state, -4, 4);
    *(axis == 0 ? &body.angular_velocity.x : axis == 1 ? &body.angular_velocity.y : &body.angular_velocity.z) = spin;
  }
  ds_generation_soft_body(g, "skin", "dinosaur", &body);
}

void ds_generate_dinosaurs(ds_generation *g) {
  ds_soft_text soft = ds_default_soft_text();
  soft.figure = "dinosaur";
  soft.tets = 2000;
  soft.def.young = ds_generation_value(g, "young");
  soft.def.modes = ds_generation_count(g, "modes");
  soft.def.stvk = true;
  ds_generation_begin(g,
                      "Soft dinosaurs are thrown together, hit each other, fall and pile up [SP08 figure 1b]; 9 of 6 + "
                      "29 degrees of freedom are the paper's 315.",
                      5);
  ds_generation_material(g, "skin", ds_generation_value(g, "mu"), 0);
  ds_generation_deformable(g, "dinosaur", &soft);
  ds_generation_floor(g, "skin");
  for (int32_t i = 0; i < ds_generation_count(g, "count"); i++)
    write_thrown(g, i, ds_generation_value(g, "speed"), ds_generation_count(g, "seed"));
  ds_generation_end(g);
}
