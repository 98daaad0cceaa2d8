/* One contact alone that slides, with a friction polygon: see single_contact.h. */
#ifndef DS_PROJECT_SINGLE_POLYGON_H
#define DS_PROJECT_SINGLE_POLYGON_H

#include <stdbool.h>
#include <stdint.h>

/* Whether t lies in the polygon of this radius; `corner` are those of the unit circle, 2 x samples. */
bool ds_polygon_holds(const double t[2], double radius, const double *corner, int32_t samples);

/* r that slides and solves u = W r + q with W as in ds_single_contact, q_N < 0. Left alone where there is none. */
void ds_single_polygon_slide(double r[3], const double w[6], const double q[3], double mu, const double *corner,
                             int32_t samples);

#endif
