/* Animals, and a bone: rounded parts blended into each other. Their own design; mm, z up, looking along +x. */
#include <stdlib.h>

#include "scene/figures.h"

/* A limb: balls along a smooth curve through the points (x, z, radius), in the plane y, with their hulls between. */
static int32_t limb(ds_recipe *r, const double (*p)[3], int n, double y) {
  enum { PARTS = 6 };
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 0);
  double from[3] = {p[0][0], p[0][1], p[0][2]};
  for (int i = 0; i + 1 < n; i++)
    for (int k = 1; k <= PARTS; k++) {
      double s = (double)k / PARTS, to[3];
      const double *a = p[i > 0 ? i - 1 : 0], *b = p[i], *c = p[i + 1], *d = p[i + 2 < n ? i + 2 : n - 1];
      for (int e = 0; e < 3; e++) { /* Hermite, tangents from the neighbours */
        double m = 0.5 * (c[e] - a[e]), q = 0.5 * (d[e] - b[e]), step = c[e] - b[e];
        to[e] = b[e] + s * (m + s * (3 * step - 2 * m - q + s * (m + q - 2 * step)));
      }
      ds_recipe_add(r, all, ds_recipe_capsule(r, v3(from[0], y, from[1]), from[2], v3(to[0], y, to[1]), to[2]));
      for (int e = 0; e < 3; e++) from[e] = to[e];
    }
  return all;
}

static int32_t ear(ds_recipe *r) {
  int32_t outer = ds_recipe_ellipsoid(r, v3(0, 0, 0), v3(4.4, 7.2, 22));
  int32_t inner = ds_recipe_ellipsoid(r, v3(4.6, 0, 1.5), v3(3.4, 4.4, 16.5));
  ds_quat back = quat_axis_angle(v3(0, 1, 0), -0.3), apart = quat_axis_angle(v3(1, 0, 0), -0.2);
  return ds_recipe_place(r, ds_figure_cut(r, 1, outer, inner), v3(9, 8.6, 79.5), quat_mul(apart, back), v3(1, 1, 1));
}

int32_t ds_figure_bunny(ds_recipe *r) {
  int32_t body = ds_recipe_operation(r, DS_RECIPE_UNION, 5);
  int32_t trunk = ds_recipe_ellipsoid(r, v3(0, 0, 0), v3(30, 20, 23));
  ds_recipe_add(r, body, ds_figure_turn(r, trunk, v3(-6, 0, 25), v3(0, 1, 0), -18));
  ds_recipe_add(r, body, ds_recipe_ellipsoid(r, v3(15, 0, 28), v3(13, 14, 18)));
  ds_recipe_add(r, body, ds_recipe_ellipsoid(r, v3(22, 0, 52), v3(17, 13.5, 14)));
  ds_recipe_add(r, body, ds_recipe_sphere(r, v3(34, 3, 47.5), 6.2));
  ds_recipe_add(r, body, ear(r));
  int32_t limbs = ds_recipe_operation(r, DS_RECIPE_UNION, 2);
  ds_recipe_add(r, limbs, ds_recipe_ellipsoid(r, v3(-11, 14, 17), v3(17, 9, 16)));
  ds_recipe_add(r, limbs, ds_recipe_capsule(r, v3(-10, 16, 4.6), 5, v3(12, 16, 4.2), 5));
  ds_recipe_add(r, limbs, ds_recipe_capsule(r, v3(19, 7.5, 24), 6, v3(23, 7.5, 4.4), 4.6));
  ds_recipe_add(r, limbs, ds_recipe_capsule(r, v3(23, 7.5, 4.4), 4.6, v3(27, 7.5, 4), 4.4));
  ds_recipe_add(r, limbs, ds_recipe_sphere(r, v3(-36, 0, 17), 8.5));
  int32_t all = ds_figure_join(r, 1.5, body, limbs), face = ds_recipe_operation(r, DS_RECIPE_UNION, 0.3);
  ds_recipe_add(r, face, all);
  ds_recipe_add(r, face, ds_recipe_sphere(r, v3(29, 10.8, 55.5), 2.7));
  ds_recipe_add(r, face, ds_recipe_ellipsoid(r, v3(40, 0, 50.2), v3(2, 2.6, 1.8)));
  return ds_figure_above(r, ds_recipe_mirror(r, face, 1), 0);
}

int32_t ds_figure_dinosaur(ds_recipe *r) {
  static const double neck[][3] = {{34, 78, 24}, {66, 98, 16}, {86, 126, 12}, {98, 154, 10}, {106, 172, 9.5}};
  static const double tail[][3] = {{-34, 66, 25}, {-76, 56, 16}, {-116, 43, 10}, {-154, 34, 6}, {-190, 32, 2.6}};
  static const double fore[][3] = {{32, 60, 17}, {34, 34, 12}, {33, 8, 10.5}};
  static const double hind[][3] = {{-30, 60, 21}, {-24, 36, 14}, {-31, 8, 11.5}};
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 11);
  ds_recipe_add(r, all, ds_recipe_ellipsoid(r, v3(2, 0, 66), v3(56, 30, 33)));
  ds_recipe_add(r, all, limb(r, neck, 5, 0));
  ds_recipe_add(r, all, limb(r, tail, 5, 0));
  int32_t legs = ds_recipe_operation(r, DS_RECIPE_UNION, 5);
  ds_recipe_add(r, legs, limb(r, fore, 3, 19));
  ds_recipe_add(r, legs, limb(r, hind, 3, 20));
  ds_recipe_add(r, all, legs);
  int32_t head = ds_recipe_operation(r, DS_RECIPE_UNION, 5);
  ds_recipe_add(r, head, ds_recipe_ellipsoid(r, v3(113, 0, 177), v3(13, 9.6, 9.4)));
  ds_recipe_add(r, head, ds_recipe_ellipsoid(r, v3(127, 0, 172.5), v3(12, 8, 6.6)));
  int32_t mouth = ds_recipe_box(r, v3(12, 12, 0.9), 0);
  head = ds_figure_cut(r, 0, head, ds_figure_turn(r, mouth, v3(134, 0, 170), v3(0, 1, 0), -6));
  int32_t whole = ds_figure_join(r, 6, all, head), eyes = ds_recipe_operation(r, DS_RECIPE_UNION, 0.5);
  ds_recipe_add(r, eyes, whole);
  ds_recipe_add(r, eyes, ds_recipe_sphere(r, v3(117, 7.6, 181.5), 3));
  for (int i = 0; i < 3; i++) { /* toes */
    ds_recipe_add(r, eyes, ds_recipe_sphere(r, v3(42.5 - 2.0 * abs(i - 1), 19 + 6.0 * (i - 1), 2.6), 3.8));
    ds_recipe_add(r, eyes, ds_recipe_sphere(r, v3(-20.5 - 2.0 * abs(i - 1), 20 + 6.5 * (i - 1), 2.6), 4));
  }
  return ds_figure_above(r, ds_recipe_mirror(r, eyes, 1), 0);
}

int32_t ds_figure_bone(ds_recipe *r) {
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 9);
  ds_recipe_add(r, all, ds_recipe_capsule(r, v3(0, 0, 0), 9, v3(60, 0, 0), 11));
  ds_recipe_add(r, all, ds_recipe_sphere(r, v3(64, 12, 0), 15));
  return ds_recipe_mirror(r, ds_recipe_mirror(r, all, 0), 1);
}
