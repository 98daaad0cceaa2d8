/* Static bodies: no mass, no velocity. */
#include "body/kind.h"

static bool takes(const ds_body *body) { return body->kind == DS_BODY_STATIC; }

const ds_body_ops ds_body_static = {
    .name = "static",
    .fixed = true,
    .takes = takes,
    .finish = ds_body_place_shapes,
};
