/* A support that gives way by a small displacement d.
 *
 * Of all equilibria the one is reached that takes least work: hinges open, and the force F on the support has the least
 * F.d. That is min cᵀr over G r = -w, r in K, where c are the relative velocities of the points while the support alone
 * moves by d; a motion v of the other blocks with c + Gᵀv in K* proves F.d >= wᵀv, and is how they follow. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec3.h"
#include "stand/cone_program.h"

static const double width = 1e-8; /* relative, of the interval of values */

/* c, and what tension adds to F.d. */
static double support_slip(double *c, const ds_graph *g, int32_t support, ds_vec3 d) {
  const ds_assembly *a = g->assembly;
  double shift = 0;
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    double sign = face->b == support ? 1 : face->a == support ? -1 : 0;
    const ds_patch *patch = &g->patch[i];
    for (int32_t k = patch->first; k < patch->first + patch->count; k++)
      for (int32_t j = 0; j < 3; j++) c[3 * k + j] = sign * v3_dot(d, patch->axis[j]);
    shift += face->count * face->tension * sign * v3_dot(d, face->normal);
  }
  return shift;
}

/* Motions of the blocks, -y, and of the support. */
static bool keep_motion(ds_settlement *s, const ds_graph *g, double *y, int32_t support, ds_vec3 d) {
  s->mechanism = calloc((size_t)g->assembly->block_count + 1, sizeof *s->mechanism);
  if (!s->mechanism) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) y[i] = -y[i];
  ds_graph_twists(s->mechanism, g, y);
  s->mechanism[support].v = d;
  return true;
}

static bool keep_forces(ds_settlement *s, const ds_graph *g, const double *r) {
  size_t points = (size_t)g->assembly->point_count + 1;
  s->normal = malloc(points * sizeof *s->normal);
  s->friction = malloc(points * sizeof *s->friction);
  if (!s->normal || !s->friction) return false;
  ds_graph_forces(s->normal, s->friction, g, r);
  return true;
}

static bool settle(ds_arena *arena, ds_settlement *s, const ds_graph *g, int32_t support, ds_vec3 d) {
  double *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1), *c = DS_NEW0(arena, double, 3 * (size_t)g->points + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i];
  double shift = support_slip(c, g, support, d);
  for (int32_t side = 0; side < 2; side++) {
    ds_cone_program program = {.graph = g, .b = b, .c = c, .width = width};
    ds_cone_answer answer;
    if (!ds_cone_solve(arena, &answer, &program)) return false;
    s->factorizations += answer.factorizations;
    if (answer.mechanism || !answer.forces) return true;
    if (side == 1) {
      s->before_high = answer.motion ? -answer.lower * g->unit - shift : INFINITY;
      return true;
    }
    s->low = answer.motion ? answer.lower * g->unit - shift : -INFINITY;
    s->high = answer.upper * g->unit - shift;
    if (!keep_forces(s, g, answer.r)) return false;
    if (answer.motion && !keep_motion(s, g, answer.y, support, d)) return false;
    for (int32_t i = 0; i < 3 * g->points; i++) c[i] = -c[i];
  }
  return true;
}

void ds_settlement_free(ds_settlement *s) {
  free(s->normal);
  free(s->friction);
  free(s->mechanism);
  *s = (ds_settlement){.low = NAN, .high = NAN, .before_high = NAN};
}

ds_status ds_stand_settle(ds_settlement *s, const ds_assembly *assembly, int32_t support, ds_vec3 displacement,
                          ds_error *error) {
  *s = (ds_settlement){.low = NAN, .high = NAN, .before_high = NAN};
  double length = v3_norm(displacement);
  if (ds_assembly_check(assembly, error) != DS_OK) return DS_ERROR_INPUT;
  if (support < 0 || support >= assembly->block_count || !assembly->blocks[support].support)
    return ds_fail(error, DS_ERROR_INPUT, "only a support can settle");
  if (!(length > 0) || !isfinite(length))
    return ds_fail(error, DS_ERROR_INPUT, "the displacement of a support must not be zero");
  ds_arena arena = {0};
  ds_graph *g = ds_graph_create(&arena, assembly);
  bool good = g && settle(&arena, s, g, support, v3_scale(1 / length, displacement));
  ds_arena_free(&arena);
  if (good) return DS_OK;
  ds_settlement_free(s);
  return ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
}
