/* Linear tetrahedra. With edges e_k = x_k - x_0, k = 1, 2, 3, and six times the volume d = e_1 x e_2 . e_3, the shape
 * functions N_a, one at node a and zero at the others, have the constant gradients
 *
 *   g_1 = e_2 x e_3 / d,  g_2 = e_3 x e_1 / d,  g_3 = e_1 x e_2 / d,  g_0 = -(g_1 + g_2 + g_3). */
#include "reduce/fem.h"

ds_element ds_element_of(const ds_vec3 *nodes, const int32_t tet[4]) {
  ds_vec3 x0 = nodes[tet[0]];
  ds_vec3 e1 = v3_sub(nodes[tet[1]], x0), e2 = v3_sub(nodes[tet[2]], x0), e3 = v3_sub(nodes[tet[3]], x0);
  ds_vec3 n1 = v3_cross(e2, e3), n2 = v3_cross(e3, e1), n3 = v3_cross(e1, e2);
  double d = v3_dot(n3, e3);
  ds_element e = {.volume = d / 6};
  e.gradient[1] = v3_scale(1 / d, n1);
  e.gradient[2] = v3_scale(1 / d, n2);
  e.gradient[3] = v3_scale(1 / d, n3);
  e.gradient[0] = v3_neg(v3_add(e.gradient[1], v3_add(e.gradient[2], e.gradient[3])));
  return e;
}

ds_mat3 ds_element_gradient(const ds_element *e, const int32_t tet[4], const double *u) {
  ds_mat3 g = {{0}};
  for (int a = 0; a < 4; a++) {
    const double *ua = u + 3 * (int64_t)tet[a], n[3] = {e->gradient[a].x, e->gradient[a].y, e->gradient[a].z};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) g.m[3 * i + j] += ua[i] * n[j];
  }
  return g;
}

ds_vec3 ds_element_force(const ds_element *e, const ds_mat3 *t, int corner) {
  return mat3_mul_v3(t, e->gradient[corner]);
}
