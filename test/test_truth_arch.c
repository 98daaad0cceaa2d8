/* Milankovitch's and Heyman's arch: a semicircle of thickness t and mean radius R stands, without sliding, if and only
 * if t/R >= 0.1075 in the limit of many stones. With n stones hinges can open at the joints only, and the limit is a
 * little lower.
 *
 * The limit of n stones is computed here. By symmetry the crown carries a horizontal thrust H at a height z0. At the
 * joint at angle phi from the crown, W the weight between and S the moment of that weight about the middle plane, the
 * resultant crosses the joint at the radius r = (H z0 + S) / (H cos phi + W sin phi), and the arch stands if some H and
 * M = H z0 keep R - t/2 <= r <= R + t/2 at every joint: linear in (H, M). For each H the bounds leave an interval of M,
 * whose length is concave in H, so a search for its maximum decides. Sliding asks for |W cos phi - H sin phi| <= mu (H
 * cos phi + W sin phi), which bounds H alone. */
#include "scene_helper.h"

enum { STONES = 101 };

typedef struct half_arch {
  int32_t joints; /* from the one next to the crown to the springing */
  double ri, ro;
  double s[STONES], c[STONES], weight[STONES], moment[STONES];
} half_arch;

/* Stones are quadrilaterals between radii ri and ro, their sides at the joints; unit density and width, mean radius 1.
 */
static half_arch make_half(int32_t stones, double thickness) {
  half_arch a = {.joints = (stones + 1) / 2, .ri = 1 - 0.5 * thickness, .ro = 1 + 0.5 * thickness};
  double step = DS_PI / stones, weight = 0, moment = 0;
  /* area of a wedge of angle b is sin(b) (ro² - ri²)/2, its first moment in x, for rays at p and q, is
   * (ro³ - ri³) sin(b) (sin p + sin q)/6 */
  double area = 0.5 * (a.ro * a.ro - a.ri * a.ri), third = (a.ro * a.ro * a.ro - a.ri * a.ri * a.ri) / 6;
  for (int32_t i = 0; i < a.joints; i++) {
    double p = i == 0 ? 0 : (i - 0.5) * step, q = (i + 0.5) * step, b = q - p;
    if (i == 0) {
      /* half of the keystone: its right half, cut at the middle of its chords */
      double f = cos(q) * sin(q);
      weight += area * f;
      moment += third * f * sin(q);
    } else {
      weight += area * sin(b);
      moment += third * sin(b) * (sin(p) + sin(q));
    }
    a.s[i] = sin(q);
    a.c[i] = cos(q);
    a.weight[i] = weight;
    a.moment[i] = moment;
  }
  return a;
}

/* Room left for M at thrust H; negative where some joint cannot hold. */
static double room(const half_arch *a, double thrust) {
  double low = -INFINITY, high = INFINITY;
  for (int32_t i = 0; i < a->joints; i++) {
    double normal = thrust * a->c[i] + a->weight[i] * a->s[i];
    low = fmax(low, a->ri * normal - a->moment[i]);
    high = fmin(high, a->ro * normal - a->moment[i]);
  }
  return high - low;
}

/* The thrust with most room, by golden section. */
static double best_thrust(const half_arch *a) {
  double low = 0, high = 2 * a->weight[a->joints - 1], g = 0.5 * (sqrt(5) - 1);
  for (int32_t i = 0; i < 200; i++) {
    double x = high - g * (high - low), y = low + g * (high - low);
    if (room(a, x) < room(a, y))
      low = x;
    else
      high = y;
  }
  return 0.5 * (low + high);
}

/* Smallest thickness over radius that stands, and the friction its joints then need. */
static double limit_thickness(int32_t stones, double *mu) {
  double low = 0.01, high = 0.3;
  for (int32_t i = 0; i < 60; i++) {
    half_arch a = make_half(stones, 0.5 * (low + high));
    if (room(&a, best_thrust(&a)) < 0)
      low = 0.5 * (low + high);
    else
      high = 0.5 * (low + high);
  }
  half_arch a = make_half(stones, high);
  double thrust = best_thrust(&a);
  *mu = 0;
  for (int32_t i = 0; i < a.joints; i++)
    *mu = fmax(*mu, fabs(a.weight[i] * a.c[i] - thrust * a.s[i]) / (thrust * a.c[i] + a.weight[i] * a.s[i]));
  return high;
}

/* The analysis against the literature: 0.1075 for many stones, from below; sliding does not decide at mu = 0.8. */
static void test_limit(void) {
  double mu, limit = limit_thickness(STONES, &mu);
  CHECK_LE(limit, 0.1076);
  CHECK_LE(0.105, limit);
  CHECK_LE(mu, 0.6);
  printf("     limit of %d stones: t/R = %.6f, needs mu = %.3f; of 25 stones %.6f, of 51 %.6f\n", STONES, limit, mu,
         limit_thickness(25, &mu), limit_thickness(51, &mu));
}

/* Fallen: a stone has moved by its thickness. */
static void stand_or_fall(double factor, bool stands, double time) {
  double mu, limit = limit_thickness(STONES, &mu);
  char spec[128];
  snprintf(spec, sizeof spec, "arch:shape=semicircle,stones=%d,mu=0.8,thickness=%.17g", STONES, factor * limit);
  check_stands_or_falls(spec, stands, time, 1e-6, test_quick() ? 1e-3 : 0.1);
}

static void test_stands(void) { stand_or_fall(1.05, true, test_time(5, 0.1)); }
static void test_falls(void) { stand_or_fall(0.95, false, test_time(3, 0.5)); }

int main(void) {
  RUN(test_limit);
  RUN(test_stands);
  RUN(test_falls);
  return test_summary();
}
