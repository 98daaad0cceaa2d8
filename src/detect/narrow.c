/* The points of one pair of shapes: dispatch over their kinds. Functions exist for one order of the kinds; the other
 * order is the same with both swapped and normals turned. */
#include "detect/pairs.h"

enum { SPHERE, CAPSULE, CYLINDER, POLYHEDRON, HALF_SPACE, KINDS };

static int rank_of(ds_shape_kind kind) {
  switch (kind) {
    case DS_SHAPE_SPHERE:
      return SPHERE;
    case DS_SHAPE_CAPSULE:
      return CAPSULE;
    case DS_SHAPE_CYLINDER:
      return CYLINDER;
    case DS_SHAPE_BOX:
    case DS_SHAPE_HULL:
      return POLYHEDRON;
    case DS_SHAPE_HALF_SPACE:
    case DS_SHAPE_SOLID:   /* solid.c */
    case DS_SHAPE_REDUCED: /* deformable.c */
      return HALF_SPACE;
  }
  return HALF_SPACE;
}

static ds_pair_function *const table[KINDS][KINDS] = {
    [SPHERE] = {ds_pair_sphere_sphere, ds_pair_sphere_capsule, ds_pair_sphere_convex, ds_pair_sphere_convex,
                ds_pair_sphere_half_space},
    [CAPSULE] = {NULL, ds_pair_capsule_capsule, ds_pair_capsule_cylinder, ds_pair_capsule_hull,
                 ds_pair_capsule_half_space},
    [CYLINDER] = {NULL, NULL, ds_pair_cylinder_cylinder, ds_pair_cylinder_hull, ds_pair_cylinder_half_space},
    [POLYHEDRON] = {NULL, NULL, NULL, ds_pair_hull_hull, ds_pair_hull_half_space},
};

void ds_narrow(ds_manifold *m, const ds_shape *a, ds_pose pose_a, const ds_shape *b, ds_pose pose_b, double reach,
               int32_t contacts_per_face) {
  m->count = 0;
  ds_placed pa = {a, mat3_from_quat(pose_a.q), pose_a.p}, pb = {b, mat3_from_quat(pose_b.q), pose_b.p};
  ds_query query = {reach, contacts_per_face};
  int ra = rank_of(a->kind), rb = rank_of(b->kind);
  if (ra <= rb) {
    if (table[ra][rb]) table[ra][rb](m, &query, &pa, &pb);
    return;
  }
  if (!table[rb][ra]) return;
  table[rb][ra](m, &query, &pb, &pa);
  for (int32_t i = 0; i < m->count; i++) m->normal[i] = v3_neg(m->normal[i]);
}
