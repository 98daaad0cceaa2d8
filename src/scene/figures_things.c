/* Things that are used, thrown or built with. Their own design; mm, z up.
 *
 * Log: a round bar of radius 50 along x, 1000 long. At x = -400 and 400 it is notched to a neck of 68 by 50.5, 68.5
 * long. Logs that cross rest neck on neck: the layers are 50.5 apart, logs of one direction 101, with 1 of air between
 * their rounds and 0.25 on each side of a neck. Half logs (flat side z = 0) carry the first layer. */
#include "scene/figures.h"

/* A bar of round section through the points (x, z), in the plane y = 0. */
static int32_t bar(ds_recipe *r, const double *p, int n, double radius) {
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 0);
  for (int i = 0; i + 1 < n; i++, p += 2)
    ds_recipe_add(r, all, ds_recipe_capsule(r, v3(p[0], 0, p[1]), radius, v3(p[2], 0, p[3]), radius));
  return all;
}

/* An outline in (x, z), as thick as `length` along y. */
static int32_t upright(ds_recipe *r, const double *outline, int32_t count, bool spline, double length) {
  return ds_figure_turn(r, ds_recipe_extrusion(r, outline, count, spline, length), v3(0, 0, 0), v3(1, 0, 0), 90);
}

/* ---- helmet ---- */

/* The head it is made for, seen from the side a little longer than wide. */
static int32_t skull(ds_recipe *r) {
  static const double profile[] = {0,   -40, 0,   -40, 112, -40, 112, -40, 104, 10, 99,  60, 104,
                                   115, 112, 170, 108, 220, 88,  264, 50,  292, 0,  301, 0,  301};
  int32_t round = ds_recipe_lathe(r, profile, DS_PROFILE_COUNT(profile), true);
  return ds_recipe_place(r, round, v3(0, 0, 0), quat_identity(), v3(1.12, 0.88, 1));
}

/* Eyes and the slot below the nose guard, cut along x; half of it. */
static int32_t face(ds_recipe *r) {
  static const double half[] = {0,  -60, 0,  -60, 18, -60, 18, -60, 13, 40,  10, 90,  11, 122,
                                20, 142, 44, 147, 66, 164, 66, 164, 56, 180, 36, 187, 17, 178,
                                17, 178, 11, 158, 10, 132, 6,  118, 0,  112, 0,  112};
  int32_t flat = ds_recipe_extrusion(r, half, DS_PROFILE_COUNT(half), true, 200);
  ds_quat stand = quat_axis_angle(v3(1, 0, 0), DS_PI / 2), across = quat_axis_angle(v3(0, 0, 1), DS_PI / 2);
  int32_t cut = ds_recipe_place(r, flat, v3(110, 0, 0), quat_mul(across, stand), v3(1, 1, 1));
  return ds_recipe_mirror(r, cut, 1);
}

/* What is taken away below: cheek pieces reach down in front, the neck is guarded behind. */
static int32_t hem(ds_recipe *r) {
  static const double side[] = {-220, -90, -220, -90, 200, -90, 200, -90, 140, 10,   140, 10,   112, -4,   80,
                                -2,   46,  32,   10,  50,  -40, 44,  -90, 18,  -130, 0,   -220, -12, -220, -12};
  return upright(r, side, DS_PROFILE_COUNT(side), true, 400);
}

static int32_t crest(ds_recipe *r) {
  static const double arc[] = {112,  250, 112,  250, 104,  290, 70,   330, 10,   352, -60,  344, -118, 306,
                               -152, 250, -166, 180, -164, 120, -164, 120, -128, 118, -128, 118, -122, 170,
                               -116, 215, -96,  258, -55,  287, 0,    296, 55,   287, 90,   256};
  return upright(r, arc, DS_PROFILE_COUNT(arc), true, 18);
}

int32_t ds_figure_helmet(ds_recipe *r) {
  int32_t rim =
      ds_figure_meet(r, 0, ds_recipe_shell(r, ds_recipe_offset(r, skull(r), 3.5), 8), ds_recipe_offset(r, face(r), 8));
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 0);
  ds_recipe_add(r, all, ds_recipe_shell(r, skull(r), 5));
  ds_recipe_add(r, all, rim);
  ds_recipe_add(r, all, ds_figure_cut(r, 0, crest(r), ds_recipe_offset(r, skull(r), -2)));
  int32_t cut = ds_recipe_operation(r, DS_RECIPE_SUBTRACTION, 0);
  ds_recipe_add(r, cut, all);
  ds_recipe_add(r, cut, face(r));
  ds_recipe_add(r, cut, hem(r));
  return ds_figure_above(r, cut, 0);
}

/* ---- log ---- */

int32_t ds_figure_log(ds_recipe *r) {
  static const double half_neck = 34, neck_length = 34.25, height = 25.25;
  int32_t round = ds_figure_turn(r, ds_recipe_cone(r, 50, 50, 1000), v3(0, 0, 0), v3(0, 1, 0), 90);
  int32_t ring =
      ds_figure_cut(r, 0, ds_recipe_box(r, v3(neck_length, 70, 70), 0), ds_recipe_box(r, v3(60, half_neck, height), 0));
  return ds_figure_cut(r, 0, round, ds_recipe_mirror(r, ds_figure_move(r, ring, v3(400, 0, 0)), 0));
}

int32_t ds_figure_log_half(ds_recipe *r) { return ds_figure_above(r, ds_figure_log(r), 0); }

/* ---- chair ---- */

/* Slab of the back, as if lying; x to the side, y up. */
static int32_t back_of_chair(ds_recipe *r) {
  static const double outline[] = {-175, 0,   -175, 0, 175, 0,    175, 0,    205, 150,  210, 300,  190,
                                   375,  110, 405,  0, 412, -110, 405, -190, 375, -210, 300, -205, 150};
  static const double slot[] = {-16, 70, 16, 70, 19, 200, 17, 320, 0, 335, -17, 320, -19, 200};
  int32_t slab = ds_recipe_extrusion(r, outline, DS_PROFILE_COUNT(outline), true, 20);
  int32_t cut = ds_recipe_operation(r, DS_RECIPE_SUBTRACTION, 4);
  ds_recipe_add(r, cut, slab);
  for (int i = -2; i <= 2; i++)
    ds_recipe_add(
        r, cut, ds_figure_move(r, ds_recipe_extrusion(r, slot, DS_PROFILE_COUNT(slot), true, 60), v3(66.0 * i, 0, 0)));
  /* upright, its face along x, leaning back */
  ds_quat stand = quat_mul(quat_axis_angle(v3(0, 0, 1), DS_PI / 2), quat_axis_angle(v3(1, 0, 0), DS_PI / 2));
  return ds_recipe_place(r, cut, v3(-195, 0, 425), quat_mul(quat_axis_angle(v3(0, 1, 0), -0.2), stand), v3(1, 1, 1));
}

int32_t ds_figure_chair(ds_recipe *r) {
  static const ds_vec3 rest[] = {{-240, 200, 640}, {-190, 214, 646}, {-120, 228, 650}, {-20, 235, 651},
                                 {70, 236, 650},   {110, 235, 646},  {138, 233, 636},  {156, 230, 618},
                                 {168, 226, 590},  {200, 205, 430}};
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 22), side = ds_recipe_operation(r, DS_RECIPE_UNION, 16);
  int32_t seat = ds_recipe_box(r, v3(215, 215, 12), 10);
  int32_t hollow = ds_recipe_ellipsoid(r, v3(10, 0, 20), v3(190, 180, 22));
  ds_recipe_add(r, all, ds_figure_move(r, ds_figure_cut(r, 12, seat, hollow), v3(0, 0, 430)));
  ds_recipe_add(r, all, back_of_chair(r));
  ds_recipe_add(r, side, ds_recipe_capsule(r, v3(190, 190, 425), 24, v3(222, 222, 0), 17));
  ds_recipe_add(r, side, ds_recipe_capsule(r, v3(-190, 190, 425), 24, v3(-238, 222, 0), 17));
  int32_t arm = ds_recipe_operation(r, DS_RECIPE_UNION, 0);
  for (int i = 0; i + 1 < (int)(sizeof rest / sizeof rest[0]); i++)
    ds_recipe_add(r, arm, ds_recipe_capsule(r, rest[i], 17, rest[i + 1], 17));
  ds_recipe_add(r, side, arm);
  ds_recipe_add(r, all, side);
  return ds_figure_above(r, ds_recipe_mirror(r, all, 1), 0);
}

/* ---- small things ---- */

int32_t ds_figure_ring(ds_recipe *r) { return ds_recipe_torus(r, 24, 6); }

int32_t ds_figure_hanger(ds_recipe *r) {
  static const double half[] = {0,   2,   22,  0,   50,  -10,  120, -40,  185, -69,
                                200, -80, 205, -94, 200, -106, 186, -111, 0,   -111};
  double hook[40] = {0, 0, 0, 30, 3, 36};
  int n = 3;
  for (int i = 0; i <= 16; i++, n++) {
    double a = (-62 + 17.0 * i) * DS_PI / 180;
    hook[2 * n] = 23 * cos(a), hook[2 * n + 1] = 62 + 23 * sin(a);
  }
  int32_t frame = ds_recipe_mirror(r, bar(r, half, DS_PROFILE_COUNT(half), 5), 0);
  return ds_figure_join(r, 6, frame, bar(r, hook, n, 3.5));
}

int32_t ds_figure_funnel(ds_recipe *r) {
  static const double wall[] = {30, 0, 37, 0, 37, 78, 157, 300, 150, 300, 30, 80};
  return ds_recipe_lathe(r, wall, DS_PROFILE_COUNT(wall), false);
}

int32_t ds_figure_tube(ds_recipe *r) {
  static const double wall[] = {40, 0, 60, 0, 60, 300, 40, 300};
  return ds_recipe_lathe(r, wall, DS_PROFILE_COUNT(wall), false);
}
