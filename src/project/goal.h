/* How exactly a problem is to be solved, and whether it has been.
 *
 * What rests needs many digits: the same impulses are used step after step, and their error would add up to a drift. It
 * is solved to `tolerance`. Where contacts slide the same digits cost most of the work and say nothing: the step's own
 * error of the motion is larger by orders. An error e of the natural map stands for an error e S/rho of the contacts'
 * velocities, S = max(|r|, rho |q|) the scale of the map. It will do where that is a small share of the sliding itself,
 *
 *   e <= rho max(0.01 s_after, 0.7 s_before) / S,   s² = sum |u_T|² over the contacts that carry load,
 *
 * after this step and after the last one, but never above `moving`, and never has to be below `tolerance`. What tips or
 * rolls slides nowhere: before, a hundredth of the speed counts too at which the bodies of a contact turned against
 * each other (ds_problem.u_before). What comes to rest is solved more exactly from step to step: the slip of sticking
 * contacts is part of the error, rho s <= e S, so that the next step is allowed 0.7 e at most. With moving = tolerance
 * that one holds everywhere. */
#ifndef DS_PROJECT_GOAL_H
#define DS_PROJECT_GOAL_H

#include "drystone/types.h"
#include "project/iterate.h"

/* What a solve is for. */
typedef enum ds_purpose {
  DS_FOR_STEP, /* one of a row of steps: impulses with an error of the tolerance, reused step after step, would add up
                  to a drift of the whole structure. It aims 1e-5 lower, which Newton gives nearly free */
  DS_FOR_PROBLEM, /* a problem of its own, solved once: it aims at a tenth of the tolerance */
} ds_purpose;

typedef struct ds_goal {
  double tolerance; /* at which the problem counts as solved, whatever moves */
  double moving;    /* at which it may, where contacts slide */
  double target;    /* which Newton tries to reach while that is easy */
} ds_goal;

/* What options ask for. */
ds_goal ds_goal_of(const ds_options *options, ds_purpose purpose);

/* The error at which x counts as solved. */
double ds_goal_tolerance(const ds_goal *goal, const ds_subproblem *problem, const double *r, const double *u);

/* Whether contacts slid before so fast that `moving` is the tolerance, as far as is known before the solve. */
bool ds_goal_moves(const ds_goal *goal, const ds_subproblem *problem);

/* Whether x solves the problem; its error becomes the full one. */
bool ds_goal_is_met(ds_iterate *x, const ds_subproblem *problem, const ds_goal *goal);

#endif
