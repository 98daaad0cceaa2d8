/* The kinds of shapes, one line each. */
#include "shape/shape.h"

extern const ds_shape_ops ds_shape_sphere, ds_shape_box, ds_shape_capsule, ds_shape_cylinder, ds_shape_hull;
extern const ds_shape_ops ds_shape_half_space, ds_shape_solid, ds_shape_reduced, ds_shape_ellipsoid, ds_shape_cone;

const ds_shape_ops *const ds_shape_kinds[] = {
    [DS_SHAPE_SPHERE] = &ds_shape_sphere,         /* sphere.c */
    [DS_SHAPE_BOX] = &ds_shape_box,               /* polyhedron.c */
    [DS_SHAPE_CAPSULE] = &ds_shape_capsule,       /* capsule.c */
    [DS_SHAPE_CYLINDER] = &ds_shape_cylinder,     /* cylinder.c */
    [DS_SHAPE_HULL] = &ds_shape_hull,             /* polyhedron.c */
    [DS_SHAPE_HALF_SPACE] = &ds_shape_half_space, /* half_space.c */
    [DS_SHAPE_SOLID] = &ds_shape_solid,           /* solid.c */
    [DS_SHAPE_REDUCED] = &ds_shape_reduced,       /* detect/reduced_shape.c */
    [DS_SHAPE_ELLIPSOID] = &ds_shape_ellipsoid,   /* ellipsoid.c */
    [DS_SHAPE_CONE] = &ds_shape_cone,             /* cone.c */
};
const int32_t ds_shape_kind_count = (int32_t)(sizeof ds_shape_kinds / sizeof *ds_shape_kinds);
_Static_assert(sizeof ds_shape_kinds / sizeof *ds_shape_kinds <= DS_SHAPE_KINDS_MAX, "sets of kinds are 32 bits");
