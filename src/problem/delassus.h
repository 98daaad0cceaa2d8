/* W of triplets as rows of 3 x 3 blocks, split into its symmetric and its skew part. */
#ifndef DS_PROBLEM_DELASSUS_H
#define DS_PROBLEM_DELASSUS_H

#include "problem/subproblem.h"
#include "problem/triplets.h"

/* w has `dimension` rows a contact; in a plane the third row and column of a block are zero. `skew` gets a NULL value
 * where W is symmetric. The asymmetry is |W - Wᵀ| / |W|. False where memory ran out. */
bool ds_delassus_build(ds_arena *arena, ds_delassus *symmetric, ds_delassus *skew, double *asymmetry,
                       const ds_matrix *w, int32_t contacts, int32_t dimension);

#endif
