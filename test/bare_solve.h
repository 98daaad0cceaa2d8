/* A solve with memory and nothing else, and its linear system, for tools on their own. */
#ifndef BARE_SOLVE_H
#define BARE_SOLVE_H

#include "project/solve.h"

static inline ds_solve bare_solve(ds_arena *arena, const ds_subproblem *p) {
  return (ds_solve){.arena = arena, .system = ds_system_create(arena, p, NULL, NULL)};
}

#endif
