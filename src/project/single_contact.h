/* One contact alone, exactly: the local solver of Gauss-Seidel. */
#ifndef DS_PROJECT_SINGLE_CONTACT_H
#define DS_PROJECT_SINGLE_CONTACT_H

#include <stdint.h>

/* What can be said of W (3 x 3, symmetric, positive semidefinite) before q is known. */
typedef struct ds_single_contact {
  double w[6];    /* W: NN, N1, N2, 11, 12, 22 */
  double inverse; /* 1/W_NN, 0 where that is 0 */
  double e[2];    /* eigenvector of A, see single_contact.c, of its larger eigenvalue */
  double a[2];    /* eigenvalues, at least 0 */
  double c[2];    /* W_TN/W_NN in the eigenvectors */
} ds_single_contact;

void ds_single_contact_prepare(ds_single_contact *contact, const double w[9]);

/* r that solves u = W r + q with Coulomb's law. r is left alone where the normal cannot move (W_NN = 0) and q presses.
 * `corner`: 2 x samples, of the friction polygon in the unit circle; NULL: the disk. */
void ds_single_contact_solve(double r[3], const ds_single_contact *contact, const double q[3], double mu,
                             const double *corner, int32_t samples);

#endif
