/* One solve, apart from what is solved: its memory, threads, effort, goal and the work done so far. The problem is
 * constant, and every tool takes both.
 *
 * Memory that ran out is a matter of the arena (ds_arena_failed). A tool that finds it so stops and returns as if it
 * had found nothing; who started the solve looks at the arena in the end. */
#ifndef DS_PROJECT_SOLVE_H
#define DS_PROJECT_SOLVE_H

#include "problem/effort.h"
#include "project/goal.h"
#include "project/iterate.h"
#include "project/system.h"

/* Work done by tools, which the certificate reports. */
typedef struct ds_work {
  int32_t staggered, projections;
  int32_t tool[DS_TOOL_COUNT]; /* share of `projections` */
  double rel_err;
  double conflict;
  bool unbounded;
  bool gave_way; /* the answer is that of the problem with b less what `conflict` says */
} ds_work;

typedef struct ds_solve {
  /* set by who asks for it */
  ds_arena *arena;
  ds_pool *pool;     /* threads that are free to help with this problem alone; NULL: none */
  ds_effort *effort; /* what it may take; NULL: as much as the tools' own limits */
  const ds_options *options;
  ds_purpose purpose;
  bool part;            /* of an island that was split */
  bool ends_on_contact; /* where it misses its goal, a contact projection has the last word [SP08 7] */
  /* set by ds_project_island */
  ds_goal goal;
  bool rough;        /* of what moves, no more digits are wanted than its motion tells: the last ones cost most */
  bool warm;         /* the start has impulses of the step before */
  ds_system *system; /* NULL until a tool needs it */
  ds_work work;
} ds_solve;

/* Error of an approximate solution. A point that solves the natural map and has a larger full error is not: its
 * impulses cancel each other. */
#define DS_NEAR 1e-3

/* Islands of so many contacts are large heaps: most of their contacts carry nothing. */
#define DS_HEAP_CONTACTS 5000

/* Steps of Newton's method from a point that is near, or of an interior point of a convex program, at most. Of the
 * latter all take 4 to 33; with 60 in place of 30 our own problems take 18,313 factorizations in place of 18,283. Also
 * rounds of laws of restitution that are met by iteration, and collisions in sequence, per contact: heaps of 60 boxes
 * with e = 0.5 and 0.9 took 16 at most. */
#define DS_STEPS 30

/* Returns the answer x and the work of a solve to the caller. False where memory ran out. */
bool ds_solve_give_back(const ds_solve *solve, double *r, double *v, ds_certificate *certificate, const ds_iterate *x,
                        const ds_subproblem *problem);

/* The linear system of the problem, made when it is first needed. False where memory ran out. */
static inline bool ds_solve_needs_system(ds_solve *s, const ds_subproblem *p) {
  if (!s->system) s->system = ds_system_create(s->arena, p, s->pool, s->effort);
  return s->system != NULL;
}

#endif
