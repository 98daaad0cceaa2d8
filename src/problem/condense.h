/* From a problem as users have it (include/drystone/problem.h) to what the solver takes: one subproblem of all
 * contacts, and its independent parts. */
#ifndef DS_PROBLEM_CONDENSE_H
#define DS_PROBLEM_CONDENSE_H

#include "drystone/problem.h"
#include "problem/subproblem.h"

/* Sizes agree, indices are in range, numbers are finite, mu >= 0. The message says which member is wrong. */
ds_status ds_problem_validate(const ds_problem *problem, ds_error *error);

/* The whole problem, in 3D: contacts of a plane get a second tangent along which nothing moves. */
typedef struct ds_whole {
  ds_subproblem p;
  const double *q;             /* 3 nc: u of zero impulses */
  double asymmetry;            /* |W - Wᵀ| / |W| (local form) or |M - Mᵀ| / |M| */
  ds_delassus skew;            /* (W - Wᵀ)/2 as full blocks on the pattern of W; value NULL where W is symmetric */
  const ds_problem *source;    /* for ds_whole_velocity */
  struct ds_mass_factor *mass; /* global form without bodies: M⁻¹ */
  struct ds_equalities *equalities;
  const double *body_factor; /* global form with bodies: L_b of M_b = L Lᵀ, one after the other; NULL where M = I */
} ds_whole;

ds_status ds_problem_condense(ds_arena *arena, ds_whole *whole, const ds_problem *problem, ds_error *error);
/* v (dof of the source) of impulses r (3 nc); global form only. */
void ds_whole_velocity(ds_arena *arena, double *v, const ds_whole *whole, const double *r);

/* Independent parts: contacts that share no body, or no entry of W. */
typedef struct ds_parts {
  int32_t count;
  ds_subproblem *part; /* count */
  int32_t *start;      /* count + 1: contacts of a part ... */
  int32_t *contact;    /* ... ascending */
} ds_parts;

/* A part that has W alone, small enough for a dense factor of it. */
bool ds_subproblem_can_have_body(const ds_subproblem *part);
/* W = L Lᵀ as one body with as many degrees of freedom as W has rank. False where memory ran out. */
bool ds_subproblem_give_body(ds_arena *arena, ds_subproblem *part);

/* Both return false where memory ran out. */
bool ds_parts_count(ds_arena *arena, int32_t *count, const ds_subproblem *whole);
bool ds_parts_find(ds_arena *arena, ds_parts *parts, const ds_subproblem *whole);

#endif
