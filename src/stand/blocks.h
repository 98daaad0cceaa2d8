/* Blocks as surfaces of plane faces: what the readers of files share. */
#ifndef DS_STAND_BLOCKS_H
#define DS_STAND_BLOCKS_H

#include "stand/build.h"

/* Faces of all blocks, in the order of blocks; their corners are in one array. */
typedef struct ds_surfaces {
  ds_face *faces;
  ds_vec3 *corners;
  int32_t face_count, corner_count;
} ds_surfaces;

/* Mass, centre and inertia of the volume within the faces from first_face on, which are turned outward where they are
 * not. DS_ERROR_INPUT: they enclose no volume. */
ds_status ds_surfaces_weigh(ds_surfaces *surfaces, ds_block *block, int32_t first_face, double density);
/* Searches touching faces; the default tolerance is a ten-thousandth of the mean size of the blocks. */
void ds_surfaces_touch(ds_surfaces *surfaces, ds_builder *builder, const ds_assembly_options *options, double mu);
/* Copies the surfaces into the assembly. False where memory ran out. */
bool ds_surfaces_keep(const ds_surfaces *surfaces, ds_assembly *assembly);
void ds_surfaces_free(ds_surfaces *surfaces);

/* Friction of stone in compas_cra's examples: of files that have none. */
#define DS_USUAL_MU 0.84

#endif
