/* One contact alone, exactly: the local solver of Gauss-Seidel. */
#ifndef DS_PROJECT_SINGLE_CONTACT_H
#define DS_PROJECT_SINGLE_CONTACT_H

/* r that solves u = W r + q with Coulomb's law, W (3 x 3, symmetric, positive semidefinite). r is left alone where the
 * normal cannot move (W_NN = 0) and q presses. */
void ds_single_contact_solve(double r[3], const double w[9], const double q[3], double mu);

#endif
