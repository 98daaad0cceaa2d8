/* One step of a block that slides on two feet, as a contact problem in the plane: no scene, no simulator.
 *
 *   M v = H r + f,   u = Hᵀ v,   and Coulomb's law between r and u
 *
 * Unknown are the velocity v = (v_x, v_z, omega) after the step, and at each foot the impulse r and the velocity u,
 * both as (normal, tangent). A foot at (x, z) from the centre of mass has u = (v_z + omega x, v_x - omega z). */
#include <drystone/problem.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  enum { FEET = 2, DOF = 3, ROWS = 2 * FEET };
  const double mass = 2, inertia = 0.03, h = 0.01, g = 9.81;                               /* kg, kg m², s, m/s² */
  const double masses[DOF] = {mass, mass, inertia}, f[DOF] = {mass * 1, -mass * g * h, 0}; /* slides at 1 m/s */
  const double w[ROWS] = {0}, mu[FEET] = {0.4, 0.4};
  const int32_t place[DOF] = {0, 1, 2};
  /* the feet stand at (-0.2, -0.1) and (0.2, -0.1) m */
  const int32_t row[8] = {1, 2, 0, 2, 1, 2, 0, 2}, column[8] = {0, 0, 1, 1, 2, 2, 3, 3};
  const double value[8] = {1, -0.2, 1, 0.1, 1, 0.2, 1, 0.1};
  ds_problem problem = {.form = DS_PROBLEM_GLOBAL, .dimension = 2, .contacts = FEET, .dof = DOF};
  problem.M = (ds_matrix){.rows = DOF, .columns = DOF, .entries = DOF, .row = place, .column = place, .value = masses};
  problem.H = (ds_matrix){.rows = DOF, .columns = ROWS, .entries = 8, .row = row, .column = column, .value = value};
  problem.f = f, problem.w = w, problem.mu = mu;

  double r[ROWS] = {0}, u[ROWS], v[DOF]; /* r: start in, impulses out */
  ds_solve_options options = ds_default_solve_options();
  ds_solution solution;
  ds_error error;
  if (ds_problem_solve(&problem, &options, r, u, v, &solution, &error) != DS_OK)
    return fprintf(stderr, "%s\n", error.message), 2;

  for (int k = 0; k < FEET; k++) {
    const double *rk = r + 2 * k, *uk = u + 2 * k;
    printf("foot %d: r = (%.5f, %.5f) N s, u = (%.5f, %.5f) m/s\n", k + 1, rk[0], rk[1], uk[0], uk[1]);
  }
  printf("natural-map error %.1e, path: %s\n", solution.certificate.natural_error, solution.path);
  return solution.outcome == DS_SOLVED && fabs(v[0] - (1 - mu[0] * g * h)) < 1e-9 ? 0 : 1;
}
