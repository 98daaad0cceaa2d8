/* Staggered projections: the paper's loop. */
#ifndef DS_PROJECT_STAGGERED_H
#define DS_PROJECT_STAGGERED_H

#include "project/solve.h"

typedef struct ds_staggered_options {
  bool published;     /* Algorithm 1 as printed: stop at rel_err, end on a contact projection whatever it does */
  double rel_err;     /* [SP08 eq. 28] */
  double tolerance;   /* natural-map error; used where not `published` */
  int32_t iterations; /* at most */
} ds_staggered_options;

/* From the friction impulses of x. x becomes the result (published) or the best iterate seen. */
bool ds_staggered_solve(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem,
                        const ds_staggered_options *options);

#endif
