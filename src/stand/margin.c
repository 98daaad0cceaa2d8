#include "stand/margin.h"

bool ds_margin_solve(ds_arena *arena, ds_cone_answer *answer, double **share, const ds_graph *g, const double *mu,
                     double width) {
  const ds_assembly *a = g->assembly;
  double *d = DS_NEW0(arena, double, 6 * (size_t)g->n + 1), *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1);
  *share = DS_NEW0(arena, double, 3 * (size_t)g->points + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < a->interface_count; i++)
    for (int32_t k = 0; k < g->patch[i].count; k++) (*share)[3 * (g->patch[i].first + k)] = 1.0 / g->patch[i].count;
  ds_graph_add_forces(d, g, *share);
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i] - d[i], d[i] = -d[i];
  double *less = DS_NEW(arena, double, 3 * (size_t)g->points + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 3 * g->points; i++) less[i] = -(*share)[i];
  ds_cone_program program = {.graph = g, .b = b, .d = d, .e = 1, .d_limit = less, .mu = mu, .width = width};
  return ds_cone_solve(arena, answer, &program);
}

bool ds_margin_centre(ds_arena *arena, ds_cone_centre *centre, const ds_cone_program *p) {
  static const double width = 0.9; /* any forces inside the cones do */
  const ds_graph *g = p->graph;
  ds_cone_answer answer;
  double *share;
  *centre = (ds_cone_centre){.x = NULL};
  if (!ds_margin_solve(arena, &answer, &share, g, NULL, width)) return false;
  bool found = answer.forces && answer.upper < 1;
  for (int32_t i = 0; i < 3 * g->points && found; i++) answer.r[i] += (1 - answer.upper) * share[i];
  if (found && !ds_cone_find_centre(arena, centre, p, answer.r)) return false;
  centre->factorizations += answer.factorizations;
  return true;
}
