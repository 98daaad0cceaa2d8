/* Which pulses of its base overturn a block: Housner's equation (1963) against steps of 10 ms.
 *
 * A block of half-diagonal R and slenderness alpha rocks on a base with the acceleration a(t) = A cos(w t) for one
 * period, which begins and ends at rest:
 *   theta'' = -p² (sin(±alpha - theta) + a/g cos(±alpha - theta)),   p² = 3 g/(4 R),   the sign that of theta,
 * and at every impact, theta = 0, r = 1 - (3/2) sin²(alpha) of the speed is left. It stands at first, as long as |a| <
 * g tan(alpha). The map over A/(g tan alpha) and w/p is not monotone: blocks fall after an impact, or before, or not at
 * all (Zhang and Makris 2001). Points within 3 % of a border of the theory are not compared, nor those where the block
 * leaves its base before it is past its balance. */
#include "scene_helper.h"

static const double gravity = 9.81, width = 0.2, height = 0.8;

typedef struct pulse {
  double a, w; /* m/s², rad/s */
} pulse;

static double acceleration(const pulse *p, double t) { return t * p->w < 2 * DS_PI ? p->a * cos(p->w * t) : 0; }

/* theta'' of the block while it rocks, towards `sign`. */
static double bend(const pulse *p, double t, double theta, double sign) {
  double alpha = atan(width / height), rate = 0.75 * gravity / (0.5 * hypot(width, height));
  double lean = sign * alpha - theta;
  return -rate * (sin(lean) + acceleration(p, t) / gravity * cos(lean));
}

/* What the base carries of its mass, m/s²: below zero the block leaves it, and the equation does not hold. */
static double load(double theta, double rate, double bent) {
  double lean = atan(width / height) - fabs(theta), toward = theta < 0 ? -bent : bent;
  return gravity + 0.5 * hypot(width, height) * (sin(lean) * toward - cos(lean) * rate * rate);
}

/* Whether it falls, by the equation: fourth-order steps of 0.1 ms, impacts at the end of one. */
static bool falls_in_theory(const pulse *p, bool *holds) {
  const double h = 1e-4, alpha = atan(width / height), kept = 1 - 1.5 * sin(alpha) * sin(alpha);
  double x = 0, v = 0, sign = 0;
  for (int32_t i = 0; i < 50000 && fabs(x) < 1.5; i++) {
    double t = h * i, a = acceleration(p, t);
    if (sign == 0) {
      if (!(fabs(a) > gravity * tan(alpha))) continue;
      sign = a > 0 ? -1 : 1;
    }
    double a1 = bend(p, t, x, sign), v2 = v + 0.5 * h * a1, a2 = bend(p, t + 0.5 * h, x + 0.5 * h * v, sign);
    double v3 = v + 0.5 * h * a2, a3 = bend(p, t + 0.5 * h, x + 0.5 * h * v2, sign), v4 = v + h * a3;
    double a4 = bend(p, t + h, x + h * v3, sign);
    x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    *holds &= load(x, v, a4) > 0 || fabs(x) > alpha;
    if (x * sign > 0) continue;
    x = 0, v *= kept;
    sign = fabs(v) > 1e-3 ? (v > 0 ? 1 : -1) : 0;
    if (sign == 0) v = 0;
  }
  return fabs(x) > 1.5;
}

/* The same by steps. */
static bool falls_in_steps(const pulse *p) {
  ds_scene *scene = scene_new(v3(0, 0, -gravity), 5, 0);
  ds_body_def base = body_at(0, 0, -0.5), body = body_at(-p->a / (p->w * p->w), 0, 0.5 * height);
  base.kind = DS_BODY_KINEMATIC;
  base.motion.kind = DS_MOTION_HARMONIC;
  base.motion.amplitude = v3(p->a / (p->w * p->w), 0, 0);
  base.motion.frequency = p->w / (2 * DS_PI);
  base.motion.phase = -0.5 * DS_PI;
  base.motion.end_time = 2 * DS_PI / p->w;
  scene_add(scene, &base, shape_box(20, 2, 1));
  ds_body_id block = scene_add(scene, &body, shape_box(width, 0.3, height));
  sim s;
  double up = 1;
  if (sim_finish(&s, "block", scene)) {
    s.options.integrator = DS_INTEGRATOR_AUTO;
    for (int32_t i = 0; i < 400 && up > 0.3 && sim_step(&s); i++)
      up = quat_rotate(ds_state_pose(s.scene, s.state, block).q, v3(0, 0, 1)).z;
  }
  sim_close(&s);
  return up < 0.7;
}

static void test_map(void) {
  static const double ratios[] = {1.5, 2, 3, 4, 5, 6, 8, 10};
  enum { COLUMNS = sizeof ratios / sizeof *ratios };
  const double p = sqrt(0.75 * gravity / (0.5 * hypot(width, height))), least = gravity * width / height;
  int32_t compared = 0, wrong = 0, fallen = 0;
  printf("     A/(g tan alpha) by w/p; x falls, . stands, ( ) not compared; ! the steps disagree\n          ");
  for (size_t k = 0; k < COLUMNS; k++) printf(" %5.1f", ratios[k]);
  for (int32_t i = test_long() ? 0 : 2; i < 24; i += test_long() ? 1 : test_quick() ? 12 : 5) {
    double share = 1.2 * pow(1.15, i);
    printf("\n     %5.2f", share);
    for (size_t k = 0; k < COLUMNS; k++) {
      pulse at = {share * least, ratios[k] * p}, less = {0.97 * at.a, at.w}, more = {1.03 * at.a, at.w};
      bool holds = true, falls = falls_in_theory(&at, &holds);
      bool clear = falls == falls_in_theory(&less, &holds) && falls == falls_in_theory(&more, &holds) && holds;
      bool same = falls_in_steps(&at) == falls;
      printf("  %c%c%c%c", clear ? ' ' : '(', falls ? 'x' : '.', clear ? ' ' : ')', same ? ' ' : '!');
      compared += clear, fallen += clear && falls, wrong += clear && !same;
    }
  }
  printf("\n     %d compared, %d of them fall, %d wrong\n", (int)compared, (int)fallen, (int)wrong);
  CHECK_NEAR(wrong, 0, 0);
  CHECK_LE(1, fallen);
}

int main(void) {
  RUN(test_map);
  return test_summary();
}
