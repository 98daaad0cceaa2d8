/* Which bodies a picture is framed on.
 *
 * Dynamic bodies are, except those that have flown far away from the others. So are the fixed ones around them, such as
 * a funnel or a track, as long as all of it is not so large that the dynamic bodies would be specks. A floor does not
 * count: a half-space, or what was below all dynamic bodies at the start and reaches far beyond them. Whatever is
 * fixed, near and not much larger than all dynamic bodies together counts always. Without dynamic bodies everything
 * counts. */
#include "framed.h"

#include <stdlib.h>

#include "base/vec3.h"
#include "bodies.h"

#define FAR 8.0    /* in median distances: bodies farther away are ignored */
#define SPECK 60.0 /* radii of a body in that of the picture: from there on it is a speck */
#define BEYOND 2.0 /* a floor is this many times wider than what stands on it */

typedef struct box {
  ds_vec3 low, high;
} box;

static const box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static box join(box a, box b) { return (box){v3_min(a.low, b.low), v3_max(a.high, b.high)}; }
static bool is_bounded(box b) { return b.low.x <= b.high.x && isfinite(b.high.x - b.low.x); }
static double radius_of(box b) { return b.low.x <= b.high.x ? 0.5 * v3_dist(b.low, b.high) : 0; }
static ds_vec3 middle_of(box b) { return v3_scale(0.5, v3_add(b.low, b.high)); }

static box body_box(const ds_scene *scene, int32_t body, ds_pose pose) {
  box all = nothing, one;
  for (int32_t s = 0; s < ds_body_shape_count(scene, body_at(body)); s++) {
    ds_body_bounds(&one.low, &one.high, scene, body_at(body), s, pose);
    all = join(all, one);
  }
  return all;
}

/* ---- dynamic bodies ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *values, int32_t count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

typedef struct chooser {
  bool *framed;
  const ds_scene *scene;
  const ds_pose *poses;
  const bool *hidden; /* NULL = none */
} chooser;

static bool is_there(const chooser *c, int32_t body, bool dynamic) {
  return !(c->hidden && c->hidden[body]) && body_is_dynamic(c->scene, body) == dynamic;
}

static ds_vec3 body_center(const chooser *c, int32_t body) {
  return pose_point(c->poses[body], ds_body_mass(c->scene, body_at(body)).center);
}

/* Collects those that have not flown away; returns their number. `values` has room for one per body. */
static int32_t frame_dynamic(const chooser *c, double *values) {
  ds_vec3 middle = v3(0, 0, 0);
  double spread = INFINITY;
  /* medians of x, y, z, then of the distance from there */
  for (int round = 0; round < 4; round++) {
    int32_t count = 0;
    for (int32_t i = 0; i < ds_scene_body_count(c->scene); i++) {
      if (!is_there(c, i, true)) continue;
      ds_vec3 x = body_center(c, i);
      values[count++] = round == 0 ? x.x : round == 1 ? x.y : round == 2 ? x.z : v3_dist(x, middle);
    }
    if (count == 0) return 0;
    double m = median(values, count);
    if (round == 0) middle.x = m;
    if (round == 1) middle.y = m;
    if (round == 2) middle.z = m;
    if (round == 3 && count > 3) spread = m;
  }
  int32_t framed = 0;
  for (int32_t i = 0; i < ds_scene_body_count(c->scene); i++) {
    if (!is_there(c, i, true)) continue;
    double limit = FAR * spread + 4 * radius_of(body_box(c->scene, i, c->poses[i]));
    c->framed[i] = v3_dist(body_center(c, i), middle) <= limit;
    framed += c->framed[i];
  }
  return framed;
}

/* ---- fixed bodies ---- */

/* The dynamic bodies that are framed. */
typedef struct cast {
  box now, start;
  double speck; /* radius of a picture in which a body of mean size is a speck */
} cast;

static cast gather(const chooser *c, int32_t count) {
  cast all = {nothing, nothing, 0};
  for (int32_t i = 0; i < ds_scene_body_count(c->scene); i++) {
    if (!c->framed[i]) continue;
    box now = body_box(c->scene, i, c->poses[i]);
    all.now = join(all.now, now);
    all.start = join(all.start, body_box(c->scene, i, ds_body_get_def(c->scene, body_at(i)).pose));
    all.speck += SPECK / count * radius_of(now);
  }
  return all;
}

static bool is_floor(const ds_scene *scene, int32_t body, const cast *all) {
  box b = body_box(scene, body, ds_body_get_def(scene, body_at(body)).pose), on = all->start;
  return b.high.z <= on.low.z + 0.02 * radius_of(on) && b.low.x <= on.low.x && b.low.y <= on.low.y &&
         b.high.x >= on.high.x && b.high.y >= on.high.y && b.high.x - b.low.x > BEYOND * (on.high.x - on.low.x) &&
         b.high.y - b.low.y > BEYOND * (on.high.y - on.low.y);
}

/* Not much larger than all dynamic bodies together, and near. */
static bool is_like(box b, const cast *all) {
  double radius = radius_of(all->now);
  return radius_of(b) <= 0.75 * radius && v3_dist(middle_of(b), middle_of(all->now)) < 3 * radius;
}

static void frame_fixed(const chooser *c, int32_t dynamic_count) {
  cast all = gather(c, dynamic_count);
  box whole = all.now;
  bool specks = false;
  /* first all that may be framed, for its size, then what is */
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < ds_scene_body_count(c->scene); i++) {
      box b = body_box(c->scene, i, c->poses[i]);
      if (!is_there(c, i, false) || !is_bounded(b)) continue;
      bool counts = is_like(b, &all) || (!specks && !is_floor(c->scene, i, &all));
      if (pass == 0 && counts) whole = join(whole, b);
      if (pass == 1) c->framed[i] = counts;
    }
    specks = !(radius_of(whole) <= all.speck);
  }
}

bool ds_framed_choose(bool *framed, const ds_scene *scene, const ds_pose *poses, const bool *hidden) {
  chooser c = {framed, scene, poses, hidden};
  double *values = malloc(((size_t)ds_scene_body_count(scene) + 1) * sizeof *values);
  if (!values) return false;
  int32_t count = frame_dynamic(&c, values);
  free(values);
  if (count > 0) {
    frame_fixed(&c, count);
  } else {
    for (int32_t i = 0; i < ds_scene_body_count(scene); i++) framed[i] = is_there(&c, i, false);
  }
  return true;
}
