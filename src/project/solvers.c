#include "project/solvers.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "drystone/drystone.h"

extern ds_solver_solve ds_coupled_solve, ds_gauss_seidel_method, ds_staggered_method, ds_two_pass_solve;
extern ds_solver_solve ds_pgs_solve, ds_pgs_disk_solve, ds_nncg_solve, ds_nncg_disk_solve, ds_lcp_solve, ds_shock_solve,
    ds_convex_solve, ds_anitescu_hart_solve, ds_mass_split_solve, ds_sqp_solve, ds_ffd_solve, ds_ffd_qp_solve,
    ds_ffd_half_solve, ds_ffd_relative_solve, ds_ffd_other_solve, ds_ffd_least_solve; /* methods/ */

/* A solver is a file and a line here. The first is the default. Recordings hold the number of a line: add at the end.
 * The published ones are what their authors describe, and none is thorough or safeguarded. */
#define PUBLISHED .euler = true
#define FFD PUBLISHED, .own_velocity = true, .rigid = true
static const ds_solver SOLVERS[] = {
    {"coupled", "contact and friction at once, by several tools in turn (default)", ds_coupled_solve, .thorough = true,
     .safeguarded = true, .iterations = 200},
    {"gauss-seidel", "nonsmooth Gauss-Seidel over the contacts", ds_gauss_seidel_method, .safeguarded = true,
     .iterations = 200},
    {"staggered", "staggered projections, Algorithm 1 of SP08 as published", ds_staggered_method, PUBLISHED,
     .iterations = 200},
    {"two-pass", "contact without friction, then friction, once [SP08 section 4]", ds_two_pass_solve, PUBLISHED,
     .iterations = 200},
    {"pgs", "projected Gauss-Seidel row by row, box friction [Erleben 2007]", ds_pgs_solve, PUBLISHED,
     .iterations = 100},
    {"pgs-disk", "the same with friction on the disk", ds_pgs_disk_solve, PUBLISHED, .iterations = 100},
    {"nncg", "nonlinear conjugate gradients on sweeps of pgs [Silcowitz 2010]", ds_nncg_solve, PUBLISHED,
     .iterations = 75},
    {"nncg-disk", "the same with friction on the disk", ds_nncg_disk_solve, PUBLISHED, .iterations = 75},
    {"shock", "pgs, then shock propagation layer by layer [Erleben 2007]", ds_shock_solve, .own_velocity = true,
     PUBLISHED, .iterations = 10},
    {"lcp", "Stewart and Trinkle's LCP by Lemke's method, friction polygon", ds_lcp_solve, PUBLISHED,
     .iterations = 10000},
    {"convex", "convex contact: sliding bodies float [Anitescu 2006]", ds_convex_solve, PUBLISHED, .iterations = 200},
    {"anitescu-hart", "fixed point of convex problems with lagged slip [2004]", ds_anitescu_hart_solve, PUBLISHED,
     .iterations = 50},
    {"mass-split", "block Jacobi with split masses [Tonge 2012]", ds_mass_split_solve, PUBLISHED, .iterations = 100},
    {"sqp", "sequential quadratic programming, to a local minimum [SP08 5.3]", ds_sqp_solve, PUBLISHED,
     .iterations = 30},
    {"ffd", "Fast Frictional Dynamics: bodies one by one, two projections each [2005]", ds_ffd_solve, FFD,
     .iterations = 100},
    {"ffd-qp", "the same with exact projections", ds_ffd_qp_solve, FFD, .iterations = 100},
    {"ffd-half", "ffd, friction bounded by half-spaces alone", ds_ffd_half_solve, FFD, .iterations = 100},
    {"ffd-relative", "ffd-half, friction against relative slip", ds_ffd_relative_solve, FFD, .iterations = 100},
    {"ffd-other", "ffd, what is touched gives way to nothing", ds_ffd_other_solve, FFD, .iterations = 100},
    {"ffd-least", "ffd, squeezed bodies give way as little as they can", ds_ffd_least_solve, FFD, .iterations = 100},
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

bool ds_method_is_rigid(ds_method method) { return method >= 0 && method < COUNT && SOLVERS[method].rigid; }

void ds_options_choose(ds_options *o, ds_method method) {
  DS_CHECK(method >= 0 && method < COUNT);
  o->method = method;
  o->max_iterations = SOLVERS[method].iterations;
  if (SOLVERS[method].euler) o->integrator = DS_INTEGRATOR_EULER;
}

ds_method_list ds_method_choices(void) {
  ds_method_list list = {""};
  size_t used = 0;
  for (int32_t i = 0; i < COUNT && used < sizeof list.text; i++)
    used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s%s", i > 0 ? "|" : "", SOLVERS[i].name);
  DS_CHECK(used < sizeof list.text);
  return list;
}
