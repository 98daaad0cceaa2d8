/* Stage 5, integrate: the new configuration from the new velocity. */
#ifndef DS_INTEGRATE_INTEGRATE_H
#define DS_INTEGRATE_INTEGRATE_H

#include "assemble/assemble.h"

/* Moves all bodies and stores the contacts with their impulses (room for them is reserved by the caller). */
void ds_integrate(ds_state *state, const ds_scene *scene, const ds_assembly *assembly, const ds_contact_list *contacts,
                  double h);

#endif
