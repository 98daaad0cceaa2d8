/* What every fuzz target does with a problem that was read: it has to hold together, small ones have to be solved or
 * not without a crash, and what the solver says of its answer has to be what the check says. */
#ifndef DS_FUZZ_SOLVE_H
#define DS_FUZZ_SOLVE_H

#include "io/problem_file.h"

/* Ends the program with a message where a promise is broken. */
void fuzz_problem(const ds_problem_file *file);

/* Whether two problems are the same as matrices and vectors. */
bool fuzz_same(const ds_problem *a, const ds_problem *b);

void fuzz_fail(const char *what, const char *detail);

#endif
