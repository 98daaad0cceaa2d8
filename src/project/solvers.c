#include "project/solvers.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "drystone/drystone.h"

extern ds_solver_solve ds_coupled_solve, ds_gauss_seidel_method, ds_staggered_method, ds_two_pass_solve;

/* A solver is a file and a line here. The first is the default. Recordings hold the number of a line: add at the end.
 */
static const ds_solver SOLVERS[] = {
    {"coupled", "contact and friction at once, by several tools in turn (default)", ds_coupled_solve, true, true},
    {"gauss-seidel", "nonsmooth Gauss-Seidel over the contacts", ds_gauss_seidel_method, false, true},
    {"staggered", "staggered projections, Algorithm 1 of SP08 as published", ds_staggered_method, false, false},
    {"two-pass", "contact without friction, then friction, once [SP08 section 4]", ds_two_pass_solve, false, false},
};
enum { COUNT = sizeof SOLVERS / sizeof *SOLVERS };

const ds_solver *ds_solver_of(const ds_options *o) {
  DS_CHECK(o->method >= 0 && o->method < COUNT);
  return &SOLVERS[o->method];
}

ds_method ds_method_named(const char *name) {
  for (ds_method i = 0; i < COUNT; i++)
    if (strcmp(name, SOLVERS[i].name) == 0) return i;
  return -1;
}

const char *ds_method_name(ds_method method) { return method >= 0 && method < COUNT ? SOLVERS[method].name : NULL; }

const char *ds_method_summary(ds_method method) {
  return method >= 0 && method < COUNT ? SOLVERS[method].summary : NULL;
}

ds_method_list ds_method_choices(void) {
  ds_method_list list = {""};
  size_t used = 0;
  for (int32_t i = 0; i < COUNT && used < sizeof list.text; i++)
    used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s%s", i > 0 ? "|" : "", SOLVERS[i].name);
  DS_CHECK(used < sizeof list.text);
  return list;
}
