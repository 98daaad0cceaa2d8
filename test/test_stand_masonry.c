/* Masonry against known values: an arch cut by vertical joints, a thin cap whose rings press against each other, and
 * bonded buttresses that break along their joints. */
#include "stand_helper.h"

static hand h;

/* ---- a semicircular arch with vertical joints ---- */

/* A part of a half ring between x0 and x1, seen from the front: its area and centroid by Simpson's rule. */
static void slice_of(double *area, ds_vec3 *center, double x0, double x1, double inner, double outer) {
  enum { STEPS = 64 }; /* the square roots at the springings: 1e-5 of their slice */
  double sum = 0, sx = 0, sz = 0;
  for (int32_t i = 0; i <= STEPS; i++) {
    double s = (double)i / STEPS, angle = acos(x0 / outer) + s * (acos(x1 / outer) - acos(x0 / outer));
    double x = outer * cos(angle), top = outer * sin(angle), low = fabs(x) < inner ? sqrt(inner * inner - x * x) : 0;
    double dx = outer * sin(angle) * fabs(acos(x1 / outer) - acos(x0 / outer));
    double weight = (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2) / (3.0 * STEPS) * dx;
    sum += weight * (top - low);
    sx += weight * x * (top - low);
    sz += weight * 0.5 * (top * top - low * low);
  }
  *area = sum;
  *center = v3(sx / sum, 0, sz / sum);
}

static void add_slice(double x0, double x1, double inner, double outer) {
  double area;
  ds_vec3 center;
  slice_of(&area, &center, x0, x1, inner, outer);
  hand_box(&h, center, v3(x1 - x0, 1, area / (x1 - x0)));
}

/* n slices between the springings of the intrados, and what is above the springings as a slice of its own. */
static void vertical_arch(int32_t n, double t, double mu) {
  double inner = 1 - t / 2, outer = 1 + t / 2;
  hand_begin(&h);
  int32_t ground = hand_support(&h);
  add_slice(-outer, -inner, inner, outer);
  for (int32_t i = 0; i < n; i++)
    add_slice(-inner * cos(DS_PI * i / n), -inner * cos(DS_PI * (i + 1) / n), inner, outer);
  add_slice(inner, outer, inner, outer);
  hand_joint(&h, ground, 1, v3(-outer, 0, 0), v3(-inner, 0, 0), 1, v3(0, 0, 1), mu);
  hand_joint(&h, ground, n + 2, v3(inner, 0, 0), v3(outer, 0, 0), 1, v3(0, 0, 1), mu);
  for (int32_t i = 0; i <= n; i++) {
    double x = -inner * cos(DS_PI * i / n), low = i == 0 || i == n ? 0 : sqrt(inner * inner - x * x);
    hand_joint(&h, i + 1, i + 2, v3(x, 0, low), v3(x, 0, sqrt(outer * outer - x * x)), 1, v3(1, 0, 0), mu);
  }
}

/* Radial joints need t/R = 0.1075, vertical ones 0.1095 [Makris and Alexakis, The effect of stereotomy on the shape of
 * the thrust-line and the minimum thickness of semicircular masonry arches, Archive of Applied Mechanics 83, 2013].
 * Friction is as large as it takes for joints that are nearly parallel to the thrust. */
static void test_vertical_joints(void) {
  double low = 0.1, high = 0.12;
  while (high - low > 1e-6) {
    double t = 0.5 * (low + high);
    vertical_arch(128, t, 20);
    *(hand_verdict(&h) == DS_FALLS ? &low : &high) = t;
  }
  printf("  t/R %.6f\n", high);
  CHECK_NEAR(high, 0.1095, 5e-5);
}

/* ---- a thin spherical cap ---- */

static ds_vec3 on_sphere(double r, double polar, double around) {
  return v3(r * sin(polar) * cos(around), r * sin(polar) * sin(around), r * cos(polar));
}

/* The joint below or above a stone: between the radii at polar angle u, and directed towards `way`. */
static void bed_joint(int32_t above, int32_t below, double u, double from, double to, double t, ds_vec3 way) {
  double inner = 1 - t / 2, outer = 1 + t / 2;
  ds_vec3 p[4] = {on_sphere(inner, u, from), on_sphere(outer, u, from), on_sphere(outer, u, to),
                  on_sphere(inner, u, to)};
  ds_vec3 normal = v3_cross(v3_sub(p[1], p[0]), v3_sub(p[3], p[0]));
  hand_interface(&h, above, below, v3_dot(normal, way) > 0 ? normal : v3_neg(normal), 0, p, 4);
}

/* Rings of stones between plane joints through the centre, below a keystone, on the ground; mean radius 1. No friction.
 */
static void cap(int32_t rings, int32_t stones, double polar, double t) {
  double step = polar / (rings + 0.5), wide = 2 * DS_PI / stones, inner = 1 - t / 2, outer = 1 + t / 2;
  hand_begin(&h);
  int32_t ground = hand_support(&h), key = hand_box(&h, v3(0, 0, cos(0.5 * step)), v3(0.5 * step, 0.5 * step, t));
  h.blocks[key].mass = 1000 * t * 0.5 * stones * sin(wide) * pow(sin(0.5 * step), 2);
  for (int32_t k = 0; k < rings; k++)
    for (int32_t i = 0; i < stones; i++) {
      double u = (k + 0.5) * step, v = u + step, from = (i - 0.5) * wide, to = from + wide;
      double upper = 2 * sin(u) * sin(0.5 * wide), lower = 2 * sin(v) * sin(0.5 * wide);
      ds_vec3 p = v3_scale(0.5, v3_add(on_sphere(1, u, from), on_sphere(1, u, to)));
      ds_vec3 q = v3_scale(0.5, v3_add(on_sphere(1, v, from), on_sphere(1, v, to))), way = v3_sub(q, p);
      double share = (upper + 2 * lower) / (3 * (upper + lower)); /* of a trapezium's height, from its upper edge */
      int32_t stone = hand_box(&h, v3_mad(p, share, way), v3(v3_norm(way), 0.5 * (upper + lower), t));
      ds_vec3 head[4] = {on_sphere(inner, u, from), on_sphere(outer, u, from), on_sphere(outer, v, from),
                         on_sphere(inner, v, from)};
      hand_interface(&h, i > 0 ? stone - 1 : stone + stones - 1, stone, v3(-sin(from), cos(from), 0), 0, head, 4);
      bed_joint(k == 0 ? key : stone - stones, stone, u, from, to, t, way);
      if (k + 1 == rings) bed_joint(stone, ground, v, from, to, t, way);
    }
}

/* Where hoops of a spherical membrane go from compression to tension, cos = 1 / (1 + cos): 51.83 degrees from the crown
 * [Heyman, On shell solutions for masonry domes, International Journal of Solids and Structures 3, 1967]. Down to there
 * a thin cap needs no friction, and no tension. Stones resist the change of thrust over a ring, at the middle of it. */
static void test_cap(void) {
  static const int32_t size[][2] = {{6, 16}, {6, 32}, {12, 16}, {12, 32}};
  double limit = acos(0.5 * (sqrt(5) - 1)), at[4];
  for (int32_t i = 0; i < 4; i++) {
    double low = 0.7, high = 1.2, step = 0;
    while (high - low > 1e-5) {
      double polar = 0.5 * (low + high);
      step = polar / (size[i][0] + 0.5);
      cap(size[i][0], size[i][1], polar, 0.01);
      *(hand_verdict(&h) == DS_FALLS ? &high : &low) = polar;
    }
    at[i] = low - 0.5 * step;
    printf("  %d rings of %d stones: %.4f degrees, a membrane %.4f\n", (int)size[i][0], (int)size[i][1],
           at[i] * 180 / DS_PI, limit * 180 / DS_PI);
  }
  CHECK_NEAR(at[3], limit, 1e-3);
  CHECK_LE(fabs(at[3] - limit), 0.5 * fabs(at[2] - limit));
}

/* ---- bonded buttresses ---- */

enum { HALVES = 6 };
static const double half_stone = 0.2, course = 0.15, slab = 2000;

/* Stones of two halves in running bond, HALVES broad, below a slab that keeps them from sliding; `offset`: the lowest
 * course begins with a half. Head joints carry no friction. */
static int32_t buttress(int32_t courses, bool offset, double mu) {
  int32_t below[HALVES] = {0}, own[HALVES];
  hand_begin(&h);
  hand_support(&h);
  for (int32_t k = 0; k <= courses; k++) {
    double z = k * course;
    for (int32_t x = 0, end; x < HALVES; x = end) {
      bool whole = (x % 2 == 0) != ((k % 2 == 0) == offset) && x + 2 <= HALVES;
      end = k == courses ? HALVES : x + (whole ? 2 : 1);
      int32_t stone =
          hand_box(&h, v3(0.5 * (x + end) * half_stone, 0, z + 0.5 * course), v3((end - x) * half_stone, 1, course));
      double left = x * half_stone;
      if (x > 0) hand_joint(&h, stone - 1, stone, v3(left, 0, z), v3(left, 0, z + course), 1, v3(1, 0, 0), 0);
      for (int32_t i = x, last; i < end; i = last) { /* one joint per stone below */
        for (last = i + 1; last < end && (k == 0 || below[last] == below[i]);) last++;
        hand_joint(&h, below[i], stone, v3(i * half_stone, 0, z), v3(last * half_stone, 0, z), 1, v3(0, 0, 1), mu);
      }
      for (int32_t i = x; i < end; i++) own[i] = stone;
    }
    memcpy(below, own, sizeof below);
  }
  h.blocks[below[0]].mass = slab;
  return below[0];
}

/* The largest horizontal thrust at the middle of the slab. */
static double thrust_limit(int32_t courses, bool offset) {
  ds_vec3 force[HAND_MOST] = {{0, 0, 0}};
  ds_multiplier m;
  ds_error error = {""};
  force[buttress(courses, offset, 1)] = v3(1, 0, 0);
  CHECK(ds_stand_multiplier(&m, &h.a, force, NULL, &error) == DS_OK);
  CHECK_NEAR(m.equilibrium, m.falls, 1e-6 * m.falls);
  double limit = m.falls;
  ds_multiplier_free(&m);
  return limit;
}

/* What is to the right of a crack that climbs half a stone per course from the toe of course `from`: its moment about
 * the toe, and the sum of weights times their heights above it. */
static void cracked_part(double *moment, double *heights, int32_t courses, bool offset, int32_t from) {
  int32_t first = (from % 2 == 0) == offset ? 1 : 2; /* half stones of the lowest course that turns */
  *moment = *heights = 0;
  for (int32_t k = from; k <= courses; k++) {
    double length = half_stone * (k < courses ? fmin(HALVES, first + k - from) : HALVES);
    double weight = 9.81 * (k < courses ? 1000 * course * length : slab);
    *moment += weight * 0.5 * length;
    *heights += weight * (k - from + 0.5) * course;
  }
}

/* Limits by hand: of a thrust at the middle of the slab, and of the tangent at which the ground tilts. */
static void cracked_limits(double *thrust, double *tilt, int32_t courses, bool offset) {
  *thrust = *tilt = INFINITY;
  for (int32_t from = 0; from < courses; from++) {
    double moment, heights;
    cracked_part(&moment, &heights, courses, offset, from);
    *thrust = fmin(*thrust, moment / ((courses - from + 0.5) * course));
    *tilt = fmin(*tilt, moment / heights);
  }
}

/* A buttress that overturns does not do so as a whole: it breaks from its toe upwards, and what is below the crack does
 * not help [Ochsendorf, Hernando and Huerta, Collapse of masonry buttresses, Journal of Architectural Engineering 10,
 * 2004; Huerta, The safety of masonry buttresses, ICE Engineering History and Heritage 163, 2010]. With stones in
 * running bond the crack climbs their joints. Where a half stone is at the toe, this crack is the worst; above a whole
 * one there are worse ones. */
static void test_buttress(void) {
  for (int32_t courses = 8; courses <= 24; courses += 8)
    for (int32_t offset = 0; offset < 2; offset++) {
      double b = HALVES * half_stone, thrust, tilt, limit = thrust_limit(courses, offset);
      double whole = (1000 * 9.81 * courses * course * b + slab * 9.81) * 0.5 * b / ((courses + 0.5) * course);
      ds_multiplier m;
      ds_error error = {""};
      cracked_limits(&thrust, &tilt, courses, offset);
      CHECK(ds_stand_push(&m, &h.a, v3(1, 0, 0), &error) == DS_OK);
      printf("  %d courses: thrust %.3f N, by hand %.3f N, unbroken %.3f N; tilt %.6f, by hand %.6f\n", (int)courses,
             limit, thrust, whole, m.falls, tilt);
      if (offset) CHECK_NEAR(limit, thrust, 1e-6 * thrust);
      if (offset) CHECK_NEAR(m.falls, tilt, 1e-6 * tilt);
      CHECK_LE(limit, thrust * (1 + 1e-6));
      CHECK_LE(m.falls, tilt * (1 + 1e-6));
      CHECK_LE(limit, 0.95 * whole);
      ds_multiplier_free(&m);
    }
}

int main(void) {
  RUN(test_vertical_joints);
  RUN(test_cap);
  RUN(test_buttress);
  return test_summary();
}
