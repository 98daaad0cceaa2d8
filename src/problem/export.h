/* An island's problem in the public form, so that it can be written to a file and solved again alone. */
#ifndef DS_PROBLEM_EXPORT_H
#define DS_PROBLEM_EXPORT_H

#include "drystone/problem.h"
#include "problem/subproblem.h"

/* Global form in mass-scaled velocities: M = I, H = G, f = v_p, w = -b, one block of M a body. Nothing is rounded, and
 * the entries of H tell the order of a contact's bodies: side after side, component after component, whole blocks with
 * their zeros. ds_problem_solve finds the same subproblem in it, bit for bit. Arrays are the subproblem's own or come
 * from the arena. False where memory ran out. */
bool ds_subproblem_export(ds_arena *arena, ds_problem *out, const ds_subproblem *problem);

#endif
