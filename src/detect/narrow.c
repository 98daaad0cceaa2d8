/* The points of one pair of shapes. Pairs of kinds with a routine of their own have it in a table, for one order of the
 * kinds; the other order is the same with both swapped and normals turned. Every other pair of convex shapes, or of a
 * convex shape and a half-space, is found by supports (convex.c), so that a new kind needs no routine. */
#include "detect/pairs.h"

static ds_pair_function *const table[DS_SHAPE_KINDS_MAX][DS_SHAPE_KINDS_MAX] = {
    [DS_SHAPE_SPHERE] = {[DS_SHAPE_SPHERE] = ds_pair_sphere_sphere,
                         [DS_SHAPE_CAPSULE] = ds_pair_sphere_capsule,
                         [DS_SHAPE_CYLINDER] = ds_pair_sphere_convex,
                         [DS_SHAPE_BOX] = ds_pair_sphere_convex,
                         [DS_SHAPE_HULL] = ds_pair_sphere_convex,
                         [DS_SHAPE_HALF_SPACE] = ds_pair_sphere_half_space},
    [DS_SHAPE_CAPSULE] = {[DS_SHAPE_CAPSULE] = ds_pair_capsule_capsule,
                          [DS_SHAPE_CYLINDER] = ds_pair_capsule_cylinder,
                          [DS_SHAPE_BOX] = ds_pair_capsule_hull,
                          [DS_SHAPE_HULL] = ds_pair_capsule_hull,
                          [DS_SHAPE_HALF_SPACE] = ds_pair_capsule_half_space},
    [DS_SHAPE_CYLINDER] = {[DS_SHAPE_CYLINDER] = ds_pair_cylinder_cylinder,
                           [DS_SHAPE_BOX] = ds_pair_cylinder_hull,
                           [DS_SHAPE_HULL] = ds_pair_cylinder_hull,
                           [DS_SHAPE_HALF_SPACE] = ds_pair_cylinder_half_space},
    [DS_SHAPE_BOX] = {[DS_SHAPE_BOX] = ds_pair_hull_hull,
                      [DS_SHAPE_HULL] = ds_pair_hull_hull,
                      [DS_SHAPE_HALF_SPACE] = ds_pair_hull_half_space},
    [DS_SHAPE_HULL] = {[DS_SHAPE_BOX] = ds_pair_hull_hull,
                       [DS_SHAPE_HULL] = ds_pair_hull_hull,
                       [DS_SHAPE_HALF_SPACE] = ds_pair_hull_half_space},
};

/* NULL where the pair has no routine in this order. */
static ds_pair_function *routine(const ds_shape *a, const ds_shape *b) {
  if (table[a->kind][b->kind]) return table[a->kind][b->kind];
  if (table[b->kind][a->kind] || !ds_shape_is_convex(a)) return NULL;
  if (b->kind == DS_SHAPE_HALF_SPACE) return ds_pair_convex_half_space;
  if (!ds_shape_is_convex(b)) return NULL;
  if (b->kind == DS_SHAPE_SPHERE) return NULL; /* the sphere comes first */
  return a->kind == DS_SHAPE_SPHERE ? ds_pair_sphere_convex : ds_pair_convex;
}

void ds_narrow(ds_manifold *m, const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b, double reach,
               int32_t contacts_per_face) {
  m->count = 0;
  ds_placed pa = {a, mat3_from_quat(pose_a.q), pose_a.p}, pb = {b, mat3_from_quat(pose_b.q), pose_b.p};
  ds_query query = {reach, contacts_per_face};
  ds_pair_function *forward = routine(a, b), *backward = forward ? NULL : routine(b, a);
  if (forward) forward(m, &query, &pa, &pb);
  if (!backward) return;
  backward(m, &query, &pb, &pa);
  for (int32_t i = 0; i < m->count; i++) m->normal[i] = v3_neg(m->normal[i]);
}
