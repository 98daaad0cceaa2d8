/* Colours of bodies that have none of their own. */
#ifndef DS_CLI_PALETTE_H
#define DS_CLI_PALETTE_H

#include "drystone/drystone.h"

/* The colour in which a body is drawn, sRGB, 0..1: its own, or one chosen by its kind and index. */
ds_vec3 ds_palette_color(const ds_scene *scene, int32_t body);

#endif
