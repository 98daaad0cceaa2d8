#include "stand/proof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec3.h"
#include "stand/bounded.h"

typedef struct bounded3 {
  bounded x, y, z;
} bounded3;

static bounded3 of3(ds_vec3 a) { return (bounded3){of(a.x), of(a.y), of(a.z)}; }
static bounded3 minus3(bounded3 a, bounded3 b) { return (bounded3){minus(a.x, b.x), minus(a.y, b.y), minus(a.z, b.z)}; }
static bounded3 plus3(bounded3 a, bounded3 b) { return (bounded3){plus(a.x, b.x), plus(a.y, b.y), plus(a.z, b.z)}; }
static bounded dot(bounded3 a, bounded3 b) { return plus(plus(times(a.x, b.x), times(a.y, b.y)), times(a.z, b.z)); }
static bounded3 cross(bounded3 a, bounded3 b) {
  return (bounded3){minus(times(a.y, b.z), times(a.z, b.y)), minus(times(a.z, b.x), times(a.x, b.z)),
                    minus(times(a.x, b.y), times(a.y, b.x))};
}

static bool say(char *fault, const char *format, const char *a, const char *b) {
  if (fault) snprintf(fault, DS_FAULT_LENGTH, format, a, b);
  return false;
}

/* (u.n)² (1 + mu²) >= mu² |u|² |n|² and u.n >= 0 */
static bool is_separating(bounded3 u, ds_vec3 normal, double mu) {
  bounded3 n = of3(normal);
  bounded un = dot(u, n), m2 = times(of(mu), of(mu));
  if (!is_surely_not_negative(un)) return false;
  bounded left = times(times(un, un), plus(of(1), m2)), right = times(m2, times(dot(u, u), dot(n, n)));
  return is_surely_not_negative(minus(left, right));
}

double ds_crush_rate(const ds_assembly *a, const ds_twist *twist, int32_t interface, int32_t k) {
  const ds_interface *face = &a->interfaces[interface];
  if (!a->strength || !(a->strength[k] > 0)) return 0;
  ds_vec3 p = a->points[k], u = v3_sub(ds_twist_at(twist[face->b], p), ds_twist_at(twist[face->a], p));
  double un = v3_dot(u, face->normal), ut = v3_norm(v3_mad(u, -un, face->normal));
  double rounding = 1e-14 * (1 + face->mu) *
                    (v3_norm(u) + v3_norm(twist[face->a].v) + v3_norm(twist[face->b].v) +
                     (v3_norm(twist[face->a].w) + v3_norm(twist[face->b].w)) * v3_norm(p));
  double rate = face->mu * ut - un + rounding;
  return rate > 0 && v3_norm2(u) > 0 ? rate : 0;
}

/* The power of an interface: what its tension and the crushing of its points can take from the loads. False where a
 * point does not separate as its friction asks. */
static bool subtract_interface(bounded *power, const ds_assembly *a, const ds_twist *twist, int32_t i) {
  const ds_interface *face = &a->interfaces[i];
  bounded3 n = of3(face->normal), v = minus3(of3(twist[face->b].v), of3(twist[face->a].v));
  bounded3 w = minus3(of3(twist[face->b].w), of3(twist[face->a].w));
  for (int32_t k = face->first; k < face->first + face->count; k++) {
    bounded3 u = plus3(v, cross(w, of3(a->points[k])));
    if (face->tension > 0) *power = minus(*power, times(of(face->tension), dot(u, n)));
    double crush = ds_crush_rate(a, twist, i, k);
    if (crush > 0) {
      bounded z = of(crush);
      u = plus3(u, (bounded3){times(z, n.x), times(z, n.y), times(z, n.z)});
      *power = minus(*power, times(times(z, plus(of(a->strength[k]), of(face->tension))), dot(n, n)));
    }
    if (!is_separating(u, face->normal, face->mu)) return false;
  }
  return true;
}

bool ds_prove_mechanism(const ds_assembly *a, const ds_twist *twist, char *fault) {
  bounded power = of(0);
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    bool still = v3_norm2(twist[i].v) == 0 && v3_norm2(twist[i].w) == 0;
    if (!v3_finite(twist[i].v) || !v3_finite(twist[i].w)) return say(fault, "block %s moves by NaN%s", b->name, "");
    if (b->support && !still) return say(fault, "support %s moves%s", b->name, "");
    if (still) continue;
    bounded3 g = of3(a->gravity), m = {of(b->mass), of(b->mass), of(b->mass)};
    bounded3 weight = {times(m.x, g.x), times(m.y, g.y), times(m.z, g.z)}, force = plus3(weight, of3(b->force));
    bounded3 v = plus3(of3(twist[i].v), cross(of3(twist[i].w), of3(b->center)));
    power = plus(power, plus(dot(force, v), dot(of3(b->torque), of3(twist[i].w))));
  }
  for (int32_t i = 0; i < a->interface_count; i++)
    if (!subtract_interface(&power, a, twist, i))
      return say(fault, "blocks %s and %s do not separate as their friction asks", a->blocks[a->interfaces[i].a].name,
                 a->blocks[a->interfaces[i].b].name);
  if (!is_surely_positive(power)) return say(fault, "the loads do no work on the motion%s%s", "", "");
  return true;
}

/* f has the tension added, s has not */
static bool is_in_cone(bounded3 f, double s, double tension, ds_vec3 t, ds_vec3 normal, double mu) {
  if (!(s >= -tension)) return false;
  if (v3_norm2(t) == 0) return true;
  bounded3 n = of3(normal);
  bounded fn = dot(f, n), m2 = times(of(mu), of(mu));
  if (!is_surely_not_negative(fn)) return false;
  bounded left = times(plus(of(1), m2), times(fn, fn)), right = times(dot(f, f), dot(n, n));
  return is_surely_not_negative(minus(left, right));
}

static double rounded3(bounded3 a) {
  return sqrt(a.x.value.hi * a.x.value.hi + a.y.value.hi * a.y.value.hi + a.z.value.hi * a.z.value.hi);
}

/* Adds a force at a point to the force and torque of a block. */
static void add_force(bounded3 *sum, const ds_assembly *a, int32_t block, ds_vec3 point, bounded3 f, bool reaction) {
  if (a->blocks[block].support) return;
  bounded3 arm = minus3(of3(point), of3(a->blocks[block].center)), t = cross(arm, f);
  sum[2 * block] = reaction ? minus3(sum[2 * block], f) : plus3(sum[2 * block], f);
  sum[2 * block + 1] = reaction ? minus3(sum[2 * block + 1], t) : plus3(sum[2 * block + 1], t);
}

/* Loads of all blocks: force and torque each. */
static void add_loads(bounded3 *sum, const ds_assembly *a) {
  for (int32_t i = 0; i < a->block_count; i++) {
    bounded m = of(a->blocks[i].mass);
    bounded3 g = of3(a->gravity), weight = {times(m, g.x), times(m, g.y), times(m, g.z)};
    sum[2 * i] = plus3(weight, of3(a->blocks[i].force)), sum[2 * i + 1] = of3(a->blocks[i].torque);
  }
}

/* Forces over the weight of the block, torques over weight and the distance of its farthest point; the weight of the
 * mean block at least. arm: one per block. */
static double worst_rest(const bounded3 *sum, double *arm, const ds_assembly *a) {
  double mean = 0, worst = 0, largest = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    if (a->blocks[i].support) continue;
    mean += a->blocks[i].mass * v3_norm(a->gravity), count++;
    largest = fmax(largest, v3_norm(a->blocks[i].force));
  }
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      arm[face->a] = fmax(arm[face->a], v3_dist(a->points[k], a->blocks[face->a].center));
      arm[face->b] = fmax(arm[face->b], v3_dist(a->points[k], a->blocks[face->b].center));
    }
  }
  for (int32_t i = 0; i < a->block_count; i++) {
    if (a->blocks[i].support) continue;
    double weight = fmax(a->blocks[i].mass * v3_norm(a->gravity), mean / count);
    double scale = weight > 0 ? weight : largest > 0 ? largest : 1, turn = rounded3(sum[2 * i + 1]);
    worst = fmax(worst, rounded3(sum[2 * i]) / scale);
    if (turn > 0) worst = fmax(worst, arm[i] > 0 ? turn / (scale * arm[i]) : INFINITY);
  }
  return worst;
}

bool ds_prove_forces(double *residual, const ds_assembly *a, const double *normal, const ds_vec3 *friction,
                     char *fault) {
  bounded3 *sum = calloc(2 * (size_t)a->block_count + 1, sizeof *sum);
  double *arm = calloc((size_t)a->block_count + 1, sizeof *arm);
  *residual = INFINITY;
  if (!sum || !arm) {
    free(sum);
    free(arm);
    return say(fault, "memory ran out%s%s", "", "");
  }
  add_loads(sum, a);
  bool good = true;
  for (int32_t i = 0; i < a->interface_count && good; i++) {
    const ds_interface *face = &a->interfaces[i];
    bounded3 n = of3(face->normal);
    for (int32_t k = face->first; k < face->first + face->count && good; k++) {
      ds_vec3 t = friction ? friction[k] : v3(0, 0, 0);
      bounded s = of(normal[k]);
      bounded3 f = plus3((bounded3){times(s, n.x), times(s, n.y), times(s, n.z)}, of3(t));
      bounded held = plus(s, of(face->tension));
      bounded3 whole = plus3((bounded3){times(held, n.x), times(held, n.y), times(held, n.z)}, of3(t));
      bool crushed = a->strength && a->strength[k] > 0 && normal[k] > a->strength[k];
      good = v3_finite(t) && isfinite(normal[k]) && !crushed &&
             is_in_cone(whole, normal[k], face->tension, t, face->normal, face->mu);
      add_force(sum, a, face->a, a->points[k], f, true);
      add_force(sum, a, face->b, a->points[k], f, false);
    }
    if (!good)
      say(fault, "the force between blocks %s and %s is not in its friction cone, or crushes", a->blocks[face->a].name,
          a->blocks[face->b].name);
  }
  if (good) *residual = worst_rest(sum, arm, a);
  free(sum);
  free(arm);
  return good;
}
