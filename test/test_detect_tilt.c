/* Boxes and hulls that rest on each other, but not quite: tilted by 0 to 1 degree, turned, a little apart or
 * overlapping, thin, hanging over a border. Whatever the tilt, the contacts have to span what touches, with the right
 * gaps, and to keep their names. */
#include "detect/pairs.h"
#include "detect_helper.h"

static ds_manifold m, m2;

/* A body that rests on another: on the feature spanned by these vertices of it. */
typedef struct resting {
  const char *name;
  ds_shape upper, lower;
  ds_quat lean;        /* of the upper body, so that the feature is level */
  ds_vec3 feature[16]; /* in the upper body's frame */
  int count;
  double x, y;      /* where the feature's middle is over the lower body, whose top is z = 0 */
  double thickness; /* m: how deep an overlap can be that still is one of these features */
  ds_pose under;    /* the lower body's pose */
} resting;

static const double reach = 5e-3;

static ds_vec3 middle_of(const resting *r) {
  ds_vec3 sum = v3(0, 0, 0);
  for (int i = 0; i < r->count; i++) sum = v3_add(sum, r->feature[i]);
  return v3_scale(1.0 / r->count, sum);
}

/* The pose of the upper body with its feature tilted about a level axis; the middle of the feature at height z. */
static ds_pose tilted(const resting *r, double degrees, double axis, double yaw, double z) {
  ds_quat tilt = quat_axis_angle(v3(cos(axis), sin(axis), 0), degrees * DS_PI / 180);
  ds_quat q = quat_mul(tilt, quat_mul(quat_axis_angle(Z, yaw), r->lean));
  return (ds_pose){v3_sub(v3(r->x, r->y, z), quat_rotate(q, middle_of(r))), q};
}

/* Where the line x + t n leaves a hull; false where it misses it by `inside` or more, or leaves it through a face that
 * hardly looks along n. */
static bool leaves(double *t, const ds_shape *s, ds_pose pose, ds_vec3 x, ds_vec3 n, double inside) {
  ds_vec3 o = quat_unrotate(pose.q, v3_sub(x, pose.p)), d = quat_unrotate(pose.q, n);
  double low = -INFINITY, high = INFINITY, last = 0;
  for (int32_t f = 0; f < s->hull.face_count; f++) {
    double slope = v3_dot(s->hull.normals[f], d), room = s->hull.offsets[f] - inside - v3_dot(s->hull.normals[f], o);
    if (fabs(slope) < 1e-3) {
      if (room < 0) return false;
    } else if (slope < 0) {
      low = fmax(low, room / slope);
    } else if (room / slope < high) {
      high = room / slope;
      last = slope;
    }
  }
  *t = high;
  return low < high && last > 0.1;
}

/* Distance in the plane across n from x to the convex hull of the contacts. */
static double beyond(const ds_manifold *f, ds_vec3 x, ds_vec3 n) {
  double u[DS_MANIFOLD_MAX], w[DS_MANIFOLD_MAX], best = INFINITY;
  ds_vec3 t1 = v3_unit(v3_cross(n, fabs(n.x) < 0.6 ? X : Y)), t2 = v3_cross(n, t1);
  for (int32_t i = 0; i < f->count; i++) {
    u[i] = v3_dot(t1, v3_sub(f->point[i], x));
    w[i] = v3_dot(t2, v3_sub(f->point[i], x));
  }
  for (int32_t i = 0; i < f->count; i++)
    for (int32_t j = 0; j <= i; j++) {
      double du = u[j] - u[i], dw = w[j] - w[i], l2 = du * du + dw * dw;
      double t = l2 > 0 ? ds_clamp(-(u[i] * du + w[i] * dw) / l2, 0, 1) : 0;
      best = fmin(best, hypot(u[i] + t * du, w[i] + t * dw));
      for (int32_t k = 0; k < j; k++) {
        double a = u[i] * w[j] - w[i] * u[j], b = u[j] * w[k] - w[j] * u[k], c = u[k] * w[i] - w[k] * u[i];
        if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0)) return 0;
      }
    }
  return best;
}

static double skins(const resting *r) { return r->upper.hull.skin + r->lower.hull.skin; }

/* The points lie on both surfaces, half the gap from each. */
static double worst_gap(const resting *r, ds_pose pose) {
  double worst = 0;
  for (int32_t i = 0; i < m.count; i++) {
    ds_vec3 half = v3_scale(0.5 * m.gap[i], m.normal[i]), ignored;
    ds_vec3 a = v3_sub(v3_add(m.point[i], half), pose.p), b = v3_sub(v3_sub(m.point[i], half), r->under.p);
    worst = fmax(worst, fabs(ds_hull_distance(&ignored, &r->upper.hull, quat_unrotate(pose.q, a))));
    worst = fmax(worst, fabs(ds_hull_distance(&ignored, &r->lower.hull, quat_unrotate(r->under.q, b))));
  }
  return worst;
}

/* How far points of the feature that are over the lower body, and within the reach, lie beyond the contacts. */
static double worst_span(const resting *r, ds_pose pose) {
  double worst = 0;
  ds_vec3 n = m.normal[0];
  for (int trial = 0; trial < 40; trial++) {
    double weight[16], sum = 0, t;
    ds_vec3 x = v3(0, 0, 0);
    for (int i = 0; i < r->count; i++) sum += weight[i] = trial < r->count ? i == trial : pow(uniform(0, 1), 4);
    for (int i = 0; i < r->count; i++) x = v3_mad(x, weight[i] / sum, r->feature[i]);
    x = pose_point(pose, x);
    /* -t is its height over the lower body */
    if (leaves(&t, &r->lower, r->under, x, n, 2 * skins(r)) && -t < reach - 1e-5) worst = fmax(worst, beyond(&m, x, n));
  }
  return worst;
}

/* At the given tilt, with the least gap as wanted. */
static ds_pose place(const resting *r, double degrees, double axis, double yaw, double gap) {
  double z = gap;
  ds_pose pose = tilted(r, degrees, axis, yaw, z);
  for (int i = 0; i < 3; i++) {
    ds_narrow(&m, &r->upper, pose, &r->lower, r->under, 0.1, 8);
    z += gap - least_gap(&m);
    pose = tilted(r, degrees, axis, yaw, z);
  }
  return pose;
}

static void sweep(const resting *r) {
  const double gaps[8] = {1e-4, 0, -1e-7, -1e-6, -1e-5, -1e-4, -1e-3, -3e-3};
  double gap_error = 0, span = 0, turn = 0;
  int lost = 0, steps = 0;
  for (int trial = 0; trial < 40; trial++) {
    double axis = uniform(0, 7), yaw = trial % 4 == 0 ? 0 : uniform(0, 7), gap = gaps[trial % 8];
    if (-gap > 0.3 * r->thickness) gap = -0.3 * r->thickness;
    if (trial % 3 == 0) axis = yaw + 0.5 * DS_PI * (trial % 2);
    /* 0, 1e-6 ... 1e-2 degrees, and on to 1 in even steps */
    for (int i = 0; i < 140; i++) {
      double degrees = i == 0 ? 0 : i < 40 ? pow(10, -6 + 0.1 * i) : 0.01 * (i - 39);
      m2 = m;
      ds_pose pose = place(r, degrees, axis, yaw, gap);
      ds_narrow(&m, &r->upper, pose, &r->lower, r->under, reach, 8);
      CHECK(m.count > 0);
      if (m.count == 0) continue;
      gap_error = fmax(gap_error, worst_gap(r, pose));
      span = fmax(span, worst_span(r, pose));
      turn = fmax(turn, acos(fmin(1, m.normal[0].z)) * 180 / DS_PI - degrees);
      /* what is near keeps its name from tilt to tilt */
      for (int32_t k = 0; k < m2.count && i > 0; k++) {
        bool found = m2.gap[k] > 0.2 * reach;
        for (int32_t j = 0; j < m.count && !found; j++) found = m.feature[j] == m2.feature[k];
        lost += !found;
        steps++;
      }
    }
  }
  printf(
      "     %s: gaps wrong by %.2g m, feature beyond contacts by %.2g m, normal turns %.2g degrees more than the body, "
      "%d of %d names lost\n",
      r->name, gap_error, span, turn, lost, steps);
  CHECK_LE(gap_error, 0.02 * skins(r) + 1e-9); /* points nearer than 0.02 skins are one */
  CHECK_LE(span, 0.02 * skins(r) + 1e-9);
  CHECK_LE(lost, steps / 200);
}

static void finish(resting *r) {
  sweep(r);
  release(&r->upper);
  release(&r->lower);
}

static void box_faces(void) {
  static const double upper[4][3] = {
      {0.03, 0.05, 0.02}, {0.03, 0.045, 0.00015}, {0.05, 0.01, 0.0025}, {0.01, 0.01, 0.01}};
  static const double at_x[4] = {0, 0.05, 0.049, 0.055};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++) {
      double thin = j ? 0.00035 : 0.03;
      resting r = {.name = j ? "box on a thin plate" : "box on a box", .x = at_x[i], .y = 0.003};
      r.under = at(0, 0, -thin);
      r.upper = box(upper[i][0], upper[i][1], upper[i][2]);
      r.lower = box(0.06, 0.04, thin);
      r.thickness = 2 * fmin(thin, upper[i][2]);
      r.lean = quat_identity();
      r.count = 4;
      for (int k = 0; k < 4; k++) r.feature[k] = v3_mul(v3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, -1), r.upper.half);
      finish(&r);
    }
}

/* On a face, and with part of the edge over its border. */
static void cards_on_edge(void) {
  static const double half[3] = {0.00015, 0.00035, 0.0025};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      double thin = half[i], lean = j == 3 ? 80 : 25 + 15 * j;
      resting r = {.name = "card on its edge", .x = j == 0 ? 0 : 0.04, .y = 0.002, .under = at(0, 0, -thin)};
      r.upper = box(0.032, thin, 0.047);
      r.lower = box(0.047, 0.032, thin);
      r.thickness = 2 * thin;
      r.lean = quat_axis_angle(X, lean * DS_PI / 180);
      r.count = 2;
      r.feature[0] = v3(-0.032, -thin, -0.047);
      r.feature[1] = v3(0.032, -thin, -0.047);
      finish(&r);
    }
}

/* A block whose upper side is bent by `bend` across its diagonal, as those of a vault. */
static ds_shape warped(double x, double y, double z, double bend) {
  ds_vec3 p[8];
  for (int i = 0; i < 8; i++) p[i] = v3(i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
  p[4].z -= bend;
  p[3].z += bend;
  return hull(p, 8);
}

/* Facets that are coplanar but for 1e-7 to 1e-4 m: they touch all over. */
static void nearly_coplanar(void) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++) {
      double bend = 1e-7 * pow(10, i);
      resting r = {
          .name = "warped block", .x = j ? 0.04 : 0.005, .y = 0.01, .under = at(0, 0, -0.03), .thickness = 0.02};
      r.lower = warped(0.06, 0.05, 0.03, bend);
      r.upper = warped(0.03, 0.04, 0.02, bend);
      r.lean = quat_identity();
      r.count = 4;
      for (int k = 0; k < 4; k++)
        r.feature[k] = v3(k & 1 ? 0.03 : -0.03, k & 2 ? 0.04 : -0.04, -0.02 + (k == 3 ? bend : 0));
      finish(&r);
    }
}

/* A wedge of 40 degrees that stands on its edge, and a prism that lies on a face. */
static void wedges(void) {
  for (int i = 0; i < 4; i++) {
    double s = 0.03 * tan(20 * DS_PI / 180);
    ds_vec3 p[6] = {{-0.04, 0, 0},    {0.04, 0, 0},     {-0.04, -s, 0.03},
                    {0.04, -s, 0.03}, {-0.04, s, 0.03}, {0.04, s, 0.03}};
    resting r = {.name = i < 2 ? "wedge on its edge" : "prism on a face", .x = i % 2 ? 0.03 : 0, .thickness = 0.01};
    r.under = at(0, 0, -0.02);
    r.lower = box(0.05, 0.04, 0.02);
    r.upper = hull(p, 6);
    r.lean = i < 2 ? quat_identity() : quat_axis_angle(X, -110 * DS_PI / 180);
    r.count = i < 2 ? 2 : 4;
    for (int k = 0; k < r.count; k++) r.feature[k] = p[k];
    finish(&r);
  }
}

/* Two cards against each other at their upper edges, each leaning by 25 degrees: the normal is level. */
static void edge_on_edge(void) {
  for (int i = 0; i < 3; i++) {
    double thin = i == 0 ? 0.00015 : i == 1 ? 0.00035 : 0.0025, lean = 25 * DS_PI / 180;
    ds_shape card = box(0.032, thin, 0.047);
    double y = sin(lean) * 0.047 + cos(lean) * thin, span = 0, gap_error = 0;
    for (int trial = 0; trial < 4000; trial++) {
      double tilt = trial % 10 == 0 ? 0 : pow(10, uniform(-6, 0)) * DS_PI / 180, shift = uniform(-0.03, 0.03);
      double gap = trial % 4 == 0 ? 0 : -pow(10, uniform(-7, log10(0.3 * thin)));
      ds_pose left = turned(0, -y, 0, X, -25), right = turned(shift, y + gap, 0, X, 25);
      right.q = quat_mul(quat_exp(v3_scale(tilt, v3_unit(random_vec(1)))), right.q);
      ds_narrow(&m, &card, left, &card, right, reach, 8);
      CHECK(m.count > 0);
      /* a turn about the vertical lets one end of the edges part: as long as it is within the reach, it is held */
      ds_vec3 a = pose_point(right, v3(-0.032, -thin, 0.047)), b = pose_point(right, v3(0.032, -thin, 0.047));
      double low = fmax(-0.032, a.x), high = fmin(0.032, b.x), least = INFINITY, most = -INFINITY;
      for (int32_t k = 0; k < m.count; k++) {
        least = fmin(least, m.point[k].x);
        most = fmax(most, m.point[k].x);
      }
      /* touching or overlapping, the normal is level */
      if (tilt == 0) gap_error = fmax(gap_error, fmax(fabs(least_gap(&m) - gap), 1e-3 * fabs(m.normal[0].z)));
      if (fabs(a.z - b.z) < 2 * card.hull.skin) span = fmax(span, fmax(least - low, high - most));
    }
    printf("     edge on edge: ends beyond contacts by %.2g m, gaps wrong by %.2g m\n", span, gap_error);
    CHECK_LE(span, 1e-4);
    CHECK_LE(gap_error, 1e-9);
    release(&card);
  }
}

int main(void) {
  seed = 11;
  RUN(box_faces);
  RUN(cards_on_edge);
  RUN(nearly_coplanar);
  RUN(wedges);
  RUN(edge_on_edge);
  return test_summary();
}
