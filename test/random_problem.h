/* Random frictional contact problems: bodies in a chain or a cloud, face patches of several coplanar points between
 * them, so that the contacts are redundant (more rows than rank), with gaps and a predicted velocity that presses some
 * together. */
#ifndef DS_TEST_RANDOM_PROBLEM_H
#define DS_TEST_RANDOM_PROBLEM_H

#include <string.h>

#include "la/vec3.h"
#include "problem/subproblem.h"
#include "random.h"

static inline ds_vec3 random_direction(uint64_t *s) {
  ds_vec3 d;
  do { /* one number after the other: compilers order the arguments of a call as they like */
    d.z = random_in(s, -1, 1);
    d.y = random_in(s, -1, 1);
    d.x = random_in(s, -1, 1);
  } while (v3_norm(d) < 0.1 || v3_norm(d) > 1);
  return v3_unit(d);
}

static inline void random_rows(double *g, ds_vec3 arm, const ds_vec3 frame[3], double mass, double inertia,
                               double sign) {
  for (int i = 0; i < 3; i++) {
    ds_vec3 d = v3_scale(sign, frame[i]), l = v3_cross(arm, d);
    double m = 1 / sqrt(mass), w = 1 / sqrt(inertia);
    double row[6] = {m * d.x, m * d.y, m * d.z, w * l.x, w * l.y, w * l.z};
    memcpy(g + 6 * i, row, sizeof row);
  }
}

static inline ds_subproblem random_problem(ds_arena *arena, uint64_t *s, int32_t bodies, int32_t patches,
                                           int32_t per_patch) {
  int32_t nc = patches * per_patch;
  ds_subproblem p = {.body_count = bodies, .contact_count = nc, .dof = 6 * bodies};
  int32_t *size = DS_NEW(arena, int32_t, bodies), *first = DS_NEW(arena, int32_t, bodies);
  int32_t *body = DS_NEW(arena, int32_t, 2 * nc), *jacobian = DS_NEW(arena, int32_t, 2 * nc);
  double *g = DS_NEW0(arena, double, 36 * nc), *b = DS_NEW0(arena, double, 3 * nc), *mu = DS_NEW(arena, double, nc);
  double *predicted = DS_NEW(arena, double, 6 * bodies), *mass = DS_NEW(arena, double, bodies);
  for (int32_t i = 0; i < bodies; i++) {
    size[i] = 6, first[i] = 6 * i;
    mass[i] = pow(10, random_in(s, -1, 1));
    for (int j = 0; j < 6; j++) predicted[6 * i + j] = 0.1 * sqrt(mass[i]) * random_in(s, -1, 1);
    predicted[6 * i + 2] -= 0.1 * sqrt(mass[i]);
  }
  for (int32_t q = 0, k = 0; q < patches; q++) {
    int32_t a = random_int(s, bodies), other = random_int(s, bodies + 1) - 1;
    if (other == a) other = -1;
    ds_vec3 n = other < 0 ? v3_unit(v3_add(v3(0, 0, 1.5), random_direction(s))) : random_direction(s), frame[3];
    frame[0] = n;
    v3_tangents(&frame[1], &frame[2], n);
    ds_vec3 arm_a = v3_scale(-0.5, n), arm_b = v3_scale(0.5, n);
    double coefficient = random_unit(s) < 0.1 ? 0 : random_in(s, 0.05, 1);
    for (int32_t c = 0; c < per_patch; c++, k++) {
      double along2 = random_in(s, -0.5, 0.5), along1 = random_in(s, -0.5, 0.5);
      ds_vec3 in_plane = v3_add(v3_scale(along1, frame[1]), v3_scale(along2, frame[2]));
      body[2 * k] = a, body[2 * k + 1] = other;
      jacobian[2 * k] = 36 * k, jacobian[2 * k + 1] = 36 * k + 18;
      random_rows(g + 36 * k, v3_add(arm_a, in_plane), frame, mass[a], mass[a] / 6, 1);
      if (other >= 0) random_rows(g + 36 * k + 18, v3_add(arm_b, in_plane), frame, mass[other], mass[other] / 6, -1);
      mu[k] = coefficient;
      if (random_unit(s) < 0.2) b[3 * k] = -random_in(s, 0, 0.05);
    }
  }
  p.size = size, p.first = first, p.body = body, p.jacobian = jacobian;
  p.g = g, p.b = b, p.mu = mu, p.predicted = predicted;
  ds_subproblem_prepare(arena, &p);
  return p;
}

#endif
