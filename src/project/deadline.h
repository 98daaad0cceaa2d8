/* A solve that has to end in time [SP08 7]: tools stop, and a contact projection has the last word (deadline.c). */
#ifndef DS_PROJECT_DEADLINE_H
#define DS_PROJECT_DEADLINE_H

#include "project/solve.h"

/* Normal impulses that keep all contacts apart, with the friction of x or, where that would add energy, with none.
 * Takes what time it takes, and notes it in the effort. */
void ds_end_on_contact(ds_solve *solve, ds_iterate *x, const ds_subproblem *problem, double tolerance);

/* Whether impulses that solve nothing do work, against what supports and rebounds ask for: r'(u + q)/2 > 0, which no
 * solution does. */
bool ds_impulses_add_energy(const ds_iterate *x, const ds_subproblem *problem);

/* Makes impulses that add energy smaller, to where they take the most. True where that was needed. */
bool ds_limit_energy(ds_iterate *x, const ds_subproblem *problem);

#endif
