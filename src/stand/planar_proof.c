/* The check of a proof in the plane, step by step as planar.h derives it. Normals need not be of exact unit length:
 * with f_N = f.n, f_T = f.n', n' a quarter turn from n, and k = 1/|n|², the power of a force is k (f_N u_N + f_T u_T).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "stand/bounded.h"
#include "stand/planar.h"
#include "stand/proof.h"

static const double straight = 1e-9; /* of the length of a joint: its points may be off its line by so much */

typedef struct checking {
  const ds_assembly *a;
  const ds_planar_proof *proof;
  double *rho; /* interfaces: so far */
  bounded *q;  /* 3 x blocks */
  char *fault;
} checking;

static bool wrong(const checking *c, const char *text) {
  if (c->fault) snprintf(c->fault, DS_FAULT_LENGTH, "%s", text);
  return false;
}

static double part(ds_vec3 v, int32_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* A vector, or the normal of an interface, in the plane. */
typedef struct flat {
  double x, y;
} flat;

static flat flat_of(const checking *c, ds_vec3 v) {
  return (flat){part(v, (c->proof->axis + 1) % 3), part(v, (c->proof->axis + 2) % 3)};
}

/* Whether a point has its mirror image among those of its interface. */
static bool has_twin(const ds_assembly *a, const ds_interface *face, ds_vec3 p, int32_t axis, double middle) {
  ds_vec3 twin = p;
  *(axis == 0 ? &twin.x : axis == 1 ? &twin.y : &twin.z) = 2 * middle - part(p, axis);
  for (int32_t k = face->first; k < face->first + face->count; k++)
    if (v3_dist(a->points[k], twin) <= DS_SAME_PLACE) return true;
  return false;
}

/* One middle plane of all blocks and interfaces: where weights or joints are beside each other along the axis, an
 * assembly may tip out of the plane. */
bool ds_is_mirrored(const ds_assembly *a, int32_t axis) {
  double middle = NAN;
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    if (b->support) continue;
    if (isnan(middle)) middle = part(b->center, axis);
    if (!(fabs(part(b->center, axis) - middle) <= DS_SAME_PLACE)) return false;
  }
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    for (int32_t k = face->first; k < face->first + face->count; k++)
      if (!has_twin(a, face, a->points[k], axis, middle)) return false;
  }
  return true;
}

/* Level normals and loads, straight joints, mirrored blocks. */
static bool is_planar(const checking *c) {
  const ds_assembly *a = c->a;
  int32_t k = c->proof->axis;
  if (!(fabs(part(a->gravity, k)) <= 1e-9 * v3_norm(a->gravity))) return wrong(c, "gravity is not in the plane");
  if (!ds_is_mirrored(a, k)) return wrong(c, "the assembly is not its own mirror image");
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    if (b->support) continue;
    if (part(b->force, k) != 0 || part(b->torque, (k + 1) % 3) != 0 || part(b->torque, (k + 2) % 3) != 0)
      return wrong(c, "a load is not in the plane");
    if (!(b->mass > 0) || !(b->inertia[4 * k] > 0)) return wrong(c, "a block has no mass or inertia");
  }
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    double off = 0, length = 0;
    if (!(fabs(part(face->normal, k)) <= 1e-9)) return wrong(c, "a normal is not in the plane");
    flat n = flat_of(c, face->normal), p = flat_of(c, a->points[face->first]);
    for (int32_t j = face->first + 1; j < face->first + face->count; j++) {
      flat q = flat_of(c, a->points[j]);
      off = fmax(off, fabs(n.x * (q.x - p.x) + n.y * (q.y - p.y)));
      length = fmax(length, fabs(n.x * (q.y - p.y) - n.y * (q.x - p.x)));
    }
    if (!(off <= straight * fmax(length, 1e-3))) return wrong(c, "a joint is not straight");
  }
  return true;
}

/* Velocity of block b against block a at a point along the direction d, for motions y. */
static bounded slip(const checking *c, const double *y, const ds_interface *face, ds_vec3 point, flat d) {
  bounded sum = of(0);
  flat p = flat_of(c, point);
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? face->b : face->a;
    if (c->a->blocks[i].support) continue;
    flat m = flat_of(c, c->a->blocks[i].center);
    bounded x = minus(of(p.x), of(m.x)), z = minus(of(p.y), of(m.y)), w = of(y[3 * i + 2]);
    bounded v =
        plus(times(of(d.x), minus(of(y[3 * i]), times(w, z))), times(of(d.y), plus(of(y[3 * i + 1]), times(w, x))));
    sum = side ? plus(sum, v) : minus(sum, v);
  }
  return sum;
}

/* q += s times the force along d at a point, on b, and the opposite on a */
static void push(checking *c, const ds_interface *face, ds_vec3 point, flat d, bounded s) {
  flat p = flat_of(c, point);
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? face->b : face->a;
    if (c->a->blocks[i].support) continue;
    flat m = flat_of(c, c->a->blocks[i].center);
    bounded x = minus(of(p.x), of(m.x)), z = minus(of(p.y), of(m.y)), *q = c->q + 3 * i;
    bounded f[3] = {times(s, of(d.x)), times(s, of(d.y)), times(s, minus(times(x, of(d.y)), times(z, of(d.x))))};
    for (int32_t j = 0; j < 3; j++) q[j] = side ? plus(q[j], f[j]) : minus(q[j], f[j]);
  }
}

static flat turned(flat n) { return (flat){-n.y, n.x}; }

/* Loads of a block: two forces and the torque about the axis. */
static void load_of(bounded w[3], const checking *c, int32_t i) {
  const ds_block *b = &c->a->blocks[i];
  flat g = flat_of(c, c->a->gravity), f = flat_of(c, b->force);
  w[0] = plus(of(f.x), times(of(b->mass), of(g.x)));
  w[1] = plus(of(f.y), times(of(b->mass), of(g.y)));
  w[2] = of(part(b->torque, c->proof->axis));
}

/* c - Gᵀy in K*: |n|² c >= y_N + mu |y_T| at all points, and the multipliers in their ranges. */
static bool is_feasible(const checking *c, const ds_planar_bound *b) {
  const ds_assembly *a = c->a;
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    flat n = flat_of(c, face->normal);
    bounded size = plus(times(of(n.x), of(n.x)), times(of(n.y), of(n.y)));
    bounded most = times(of(b->alpha), times(of(face->mu), of(c->rho[i])));
    if (!is_surely_not_negative(minus(most, of(fabs(b->beta[i])))) && b->beta[i] != 0)
      return wrong(c, "a multiplier of friction is too large");
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      bounded normal = slip(c, b->y, face, a->points[k], n), tangent = slip(c, b->y, face, a->points[k], turned(n));
      bounded rest = minus(i == b->interface ? size : of(0), normal), friction = times(of(face->mu), tangent);
      if (!is_surely_not_negative(minus(rest, friction)) || !is_surely_not_negative(plus(rest, friction)))
        return wrong(c, "the motion of a bound is not in the dual cone");
      if (!(b->pi[k] >= 0)) return wrong(c, "a multiplier is negative");
    }
  }
  return true;
}

/* rho <= -yᵀw - qᵀM⁻¹q / (4 alpha), as 4 alpha (rho + yᵀw) + qᵀM⁻¹q <= 0 */
static bool check_bound(checking *c, const ds_planar_bound *b) {
  const ds_assembly *a = c->a;
  if (!(b->alpha > 0) || !is_feasible(c, b)) return b->alpha > 0 ? false : wrong(c, "alpha is not positive");
  bounded sum = of(b->rho), square = of(0);
  for (int32_t i = 0; i < a->block_count; i++) {
    bounded w[3];
    load_of(w, c, i);
    for (int32_t j = 0; j < 3 && !a->blocks[i].support; j++) {
      bounded m = of(j < 2 ? a->blocks[i].mass : a->blocks[i].inertia[4 * c->proof->axis]), y = of(b->y[3 * i + j]);
      sum = plus(sum, times(y, w[j]));
      c->q[3 * i + j] = minus(times(m, y), times(of(b->alpha), w[j]));
    }
  }
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    flat n = flat_of(c, face->normal);
    for (int32_t k = face->first; k < face->first + face->count; k++)
      if (b->pi[k] != 0) push(c, face, a->points[k], n, of(-b->pi[k]));
    if (b->beta[i] != 0) push(c, face, a->points[face->first], turned(n), of(b->beta[i]));
  }
  for (int32_t i = 0; i < a->block_count; i++)
    for (int32_t j = 0; j < 3 && !a->blocks[i].support; j++) {
      double m = j < 2 ? a->blocks[i].mass : a->blocks[i].inertia[4 * c->proof->axis];
      bounded part_of = times(c->q[3 * i + j], c->q[3 * i + j]);
      part_of.value = ds_twofold_times(part_of.value, ds_twofold_inverse(ds_twofold_of(m)));
      part_of.terms = 2 * part_of.terms / m;
      square = plus(square, part_of);
    }
  bounded total = plus(times(times(of(4), of(b->alpha)), sum), square);
  return is_surely_not_negative(minus(of(0), total)) || wrong(c, "a bound is larger than its multipliers prove");
}

/* f_N >= 0, |F_J| <= mu rho_J, and the rest of G f = -w. */
static bool check_forces(checking *c, double *residual) {
  const ds_assembly *a = c->a;
  double mean = 0, worst = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    load_of(c->q + 3 * i, c, i);
    if (!a->blocks[i].support) mean += a->blocks[i].mass * v3_norm(a->gravity), count++;
  }
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    flat n = flat_of(c, face->normal);
    bounded sum = of(0), most = times(of(face->mu), of(c->rho[i]));
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      if (!(c->proof->normal[k] >= 0)) return wrong(c, "a point pulls");
      sum = plus(sum, of(c->proof->tangent[k]));
      push(c, face, a->points[k], n, of(c->proof->normal[k]));
      push(c, face, a->points[k], turned(n), of(c->proof->tangent[k]));
    }
    bool none = sum.value.hi == 0 && sum.terms == 0;
    if (!none && (!is_surely_not_negative(minus(most, sum)) || !is_surely_not_negative(plus(most, sum))))
      return wrong(c, "a joint needs more friction than is proven");
  }
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    if (b->support) continue;
    double weight = fmax(b->mass * v3_norm(a->gravity), mean / count),
           arm = sqrt(b->inertia[4 * c->proof->axis] / b->mass);
    worst = fmax(worst, hypot(c->q[3 * i].value.hi, c->q[3 * i + 1].value.hi) / weight);
    worst = fmax(worst, fabs(c->q[3 * i + 2].value.hi) / (weight * arm));
  }
  *residual = worst;
  return true;
}

bool ds_prove_planar(double *residual, const ds_assembly *a, const ds_planar_proof *proof, char *fault) {
  checking c = {.a = a, .proof = proof, .fault = fault};
  *residual = INFINITY;
  c.rho = calloc((size_t)a->interface_count + 1, sizeof *c.rho);
  c.q = calloc(3 * (size_t)a->block_count + 1, sizeof *c.q);
  bool good = (c.rho && c.q) || wrong(&c, "memory ran out");
  for (int32_t i = 0; i < a->interface_count && good; i++)
    if (a->interfaces[i].tension > 0) good = wrong(&c, "a proof in the plane is for interfaces without tension");
  for (int32_t k = 0; k < a->point_count && good && a->strength; k++)
    if (a->strength[k] > 0) good = wrong(&c, "a proof in the plane is for points that do not crush");
  good = good && is_planar(&c);
  for (int32_t i = 0; i < proof->bound_count && good; i++) {
    const ds_planar_bound *b = &proof->bounds[i];
    good = check_bound(&c, b);
    if (good) c.rho[b->interface] = fmax(c.rho[b->interface], b->rho);
  }
  good = good && check_forces(&c, residual);
  free(c.rho);
  free(c.q);
  return good;
}
