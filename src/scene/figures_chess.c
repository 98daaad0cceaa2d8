/* Chess pieces after Staunton's pattern: bodies of revolution with carved tops. Our own design; mm, z up. */
#include "scene/figures.h"

/* A regular row of parts around z: n copies, the first at `degrees`. */
typedef int32_t part_maker(ds_recipe *r);

static int32_t around(ds_recipe *r, part_maker *make, int n, double degrees) {
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 0);
  for (int i = 0; i < n; i++)
    ds_recipe_add(r, all, ds_figure_turn(r, make(r), v3(0, 0, 0), v3(0, 0, 1), degrees + 360.0 * i / n));
  return all;
}

/* ---- pawn ---- */

int32_t ds_figure_pawn(ds_recipe *r) {
  static const double body[] = {0,    0,    0,    0,    15.3, 0,    15.3, 0,    16,  2.4,  15.2, 5.6,  13.6,
                                7.4,  13.6, 7.4,  11.7, 7.4,  11.7, 7.4,  11.7, 9,   11.7, 9,    8.6,  14.4,
                                6.4,  21,   5.4,  27,   5.2,  31,   5.2,  31,   9.4, 32.2, 9.4,  32.2, 9.4,
                                33.6, 9.4,  33.6, 5.8,  35.2, 5.8,  35.2, 0,    36,  0,    36};
  int32_t turned = ds_recipe_lathe(r, body, DS_PROFILE_COUNT(body), true);
  return ds_figure_join(r, 0, turned, ds_recipe_sphere(r, v3(0, 0, 41.5), 8.5));
}

/* ---- king ---- */

/* A cross whose arms widen, standing in the xz plane. */
static int32_t cross(ds_recipe *r) {
  static const double outline[] = {-1.3, 0,    1.3,  0,    1.6,  4,   5.2,  3.3, 5.2,  8.3, 1.6,  7.6,
                                   2.5,  12.2, -2.5, 12.2, -1.6, 7.6, -5.2, 8.3, -5.2, 3.3, -1.6, 4};
  int32_t flat = ds_recipe_extrusion(r, outline, DS_PROFILE_COUNT(outline), false, 3.6);
  return ds_figure_turn(r, flat, v3(0, 0, 0), v3(1, 0, 0), 90);
}

int32_t ds_figure_king(ds_recipe *r) {
  static const double body[] = {0,    0,    0,    0,    19,   0,    19,   0,    19.7, 2.4,  18.9, 5.6,  17.3, 7.4,
                                17.3, 7.4,  15.4, 7.4,  15.4, 7.4,  15.4, 9,    15.4, 9,    11.6, 16,   8.8,  26,
                                7.2,  38,   6.5,  49,   6.4,  55,   6.4,  55,   12,   56.4, 12,   56.4, 12,   58,
                                12,   58,   8.6,  59.6, 8.6,  59.6, 9.8,  60.6, 9.8,  62,   9.8,  62,   6.8,  63.4,
                                6.8,  63.4, 7.4,  67,   9.2,  73,   11.4, 79,   11.4, 79,   10.6, 80.6, 10.6, 80.6,
                                7,    83,   2.6,  84.4, 2.6,  84.4, 0,    84.8, 0,    84.8};
  int32_t turned = ds_recipe_lathe(r, body, DS_PROFILE_COUNT(body), true);
  return ds_figure_join(r, 0, turned, ds_figure_move(r, cross(r), v3(0, 0, 82.8)));
}

/* ---- queen ---- */

static int32_t scallop(ds_recipe *r) { return ds_recipe_sphere(r, v3(12.4, 0, 78.6), 3.3); }

int32_t ds_figure_queen(ds_recipe *r) {
  static const double body[] = {0,    0,    0,    0,    18,   0,    18,   0,    18.7, 2.4,  17.9, 5.6,  16.3, 7.4,
                                16.3, 7.4,  14.4, 7.4,  14.4, 7.4,  14.4, 9,    14.4, 9,    10.8, 15.4, 8.2,  24,
                                6.6,  34,   5.9,  44,   5.8,  50,   5.8,  50,   11.2, 51.4, 11.2, 51.4, 11.2, 53,
                                11.2, 53,   8,    54.6, 8,    54.6, 9,    55.6, 9,    57,   9,    57,   6.2,  58.4,
                                6.2,  58.4, 6.6,  62,   8.4,  69,   11.9, 77.6, 11.9, 77.6, 9.4,  78.2, 9.4,  78.2,
                                8.6,  76.2, 8.6,  76.2, 6,    78.4, 2,    79.8, 2,    79.8, 0,    80,   0,    80};
  int32_t turned = ds_recipe_lathe(r, body, DS_PROFILE_COUNT(body), true);
  int32_t crown = ds_figure_cut(r, 0, turned, around(r, scallop, 9, 0));
  return ds_figure_join(r, 0, crown, ds_recipe_sphere(r, v3(0, 0, 81.8), 3.2));
}

/* ---- rook ---- */

static int32_t slot(ds_recipe *r) { return ds_figure_move(r, ds_recipe_box(r, v3(8, 1.9, 4), 0), v3(9, 0, 58)); }

int32_t ds_figure_rook(ds_recipe *r) {
  static const double body[] = {0,    0,    0,    0,    16.3, 0,    16.3, 0,    17,   2.4,  16.2, 5.6,  14.6,
                                7.4,  14.6, 7.4,  12.7, 7.4,  12.7, 7.4,  12.7, 9,    12.7, 9,    10.8, 14.6,
                                9.4,  24,   8.9,  34,   8.8,  40,   8.8,  40,   12.6, 42.6, 12.6, 42.6, 12.6,
                                44.4, 12.6, 44.4, 11.4, 45.6, 11.4, 45.6, 12.4, 58,   12.4, 58,   8.4,  58,
                                8.4,  58,   8.4,  52,   8.4,  52,   0,    51,   0,    51};
  int32_t turned = ds_recipe_lathe(r, body, DS_PROFILE_COUNT(body), true);
  return ds_figure_cut(r, 0, turned, around(r, slot, 6, 30));
}

/* ---- bishop ---- */

int32_t ds_figure_bishop(ds_recipe *r) {
  static const double body[] = {0,   0,    0,   0,    16,   0,    16, 0,    16.7, 2.4,  15.9, 5.6,  14.3, 7.4,  14.3,
                                7.4, 12.4, 7.4, 12.4, 7.4,  12.4, 9,  12.4, 9,    9.4,  14.4, 7,    22,   5.8,  31,
                                5.4, 39,   5.3, 43,   5.3,  43,   10, 44.2, 10,   44.2, 10,   45.6, 10,   45.6, 6.8,
                                47,  6.8,  47,  7.6,  47.8, 7.6,  49, 7.6,  49,   4.8,  50.2, 4.8,  50.2, 6.8,  53,
                                8.4, 57,   7.6, 61.6, 4.6,  66,   2,  68.2, 2,    68.2, 0,    68.4, 0,    68.4};
  int32_t turned = ds_recipe_lathe(r, body, DS_PROFILE_COUNT(body), true);
  int32_t cut = ds_figure_turn(r, ds_recipe_box(r, v3(6, 12, 0.9), 0), v3(7.2, 0, 63.2), v3(0, 1, 0), -52);
  int32_t mitre = ds_figure_cut(r, 0, turned, cut);
  return ds_figure_join(r, 0, mitre, ds_recipe_sphere(r, v3(0, 0, 69.4), 2.6));
}

/* ---- knight ---- */

/* The horse looks along +x. Three outlines, from the side (x, z), the front (y, z) and above (x, y), are cut out of
 * each other. */
static int32_t horse(ds_recipe *r) {
  static const double side[] = {-9.6, 8.6,  -9.6, 8.6,  9.8,  8.6,  9.8,   8.6,  10,    15,   7.6,  21,   4.6, 27,
                                3.4,  31.5, 4.2,  34.6, 7.4,  35.8, 10.4,  34.6, 12.6,  32.4, 15.4, 32.2, 18,  34.2,
                                19.2, 37.6, 18.2, 41,   14.4, 46.4, 11,    52,   8.4,   56.4, 5.2,  59.6, 0.6, 61,
                                -4.6, 58.6, -9.6, 52,   -12,  44,   -12.2, 35,   -10.6, 27,   -9.4, 18};
  static const double front[] = {-8.2, 6,  -8.2, 6,  8.2,  6,  8.2,  6,  7.8, 20, 7.2,  32, 7,  42, 6.4,  50, 5,    57,
                                 3.6,  64, 3.6,  64, -3.6, 64, -3.6, 64, -5,  57, -6.4, 50, -7, 42, -7.2, 32, -7.8, 20};
  static const double above[] = {-20, -9,   -20, -9,   -12, -4.5, -6,  -8.6, 4,   -8.2, 10,  -5.8,
                                 15,  -4.3, 22,  -4.1, 22,  -4.1, 22,  4.1,  22,  4.1,  15,  4.3,
                                 10,  5.8,  4,   8.2,  -6,  8.6,  -12, 4.5,  -20, 9,    -20, 9};
  ds_quat stand = quat_axis_angle(v3(1, 0, 0), DS_PI / 2), across = quat_axis_angle(v3(0, 0, 1), DS_PI / 2);
  int32_t a = ds_recipe_extrusion(r, side, DS_PROFILE_COUNT(side), true, 40);
  int32_t b = ds_recipe_extrusion(r, front, DS_PROFILE_COUNT(front), true, 60);
  int32_t c = ds_recipe_extrusion(r, above, DS_PROFILE_COUNT(above), true, 200);
  a = ds_recipe_place(r, a, v3(0, 0, 0), stand, v3(1, 1, 1));
  b = ds_recipe_place(r, b, v3(0, 0, 0), quat_mul(across, stand), v3(1, 1, 1));
  return ds_figure_meet(r, 3.5, ds_figure_meet(r, 3.5, a, b), c);
}

/* One side of what is added: ear, brow, cheek, locks of the mane down the neck. */
static int32_t mane_and_ear(ds_recipe *r) {
  static const double crest[][2] = {{1, 60.6}, {-4.4, 58.2},  {-8.4, 53.6}, {-11, 47.6},
                                    {-12, 41}, {-11.6, 34.4}, {-10.4, 28}};
  int32_t all = ds_recipe_operation(r, DS_RECIPE_UNION, 0.4);
  for (int i = 0; i < 7; i++) {
    double x = crest[i][0], z = crest[i][1], out = i < 2 ? 5.2 : 7;
    ds_vec3 middle = v3(x + 3, out - 1.6, z - 1.8);
    ds_recipe_add(r, all, ds_recipe_capsule(r, v3(x, 0.6, z), 2.2, middle, 2));
    ds_recipe_add(r, all, ds_recipe_capsule(r, middle, 2, v3(x + 7.4, out, z - 6.6), 0.7));
  }
  ds_recipe_add(r, all, ds_recipe_capsule(r, v3(4.2, 3, 58), 2.4, v3(5.6, 3.6, 64.4), 0.6));
  ds_recipe_add(r, all, ds_recipe_ellipsoid(r, v3(5.2, 3.6, 43), v3(6.4, 4.6, 6.6)));
  ds_recipe_add(r, all, ds_recipe_ellipsoid(r, v3(9.2, 4.5, 51.6), v3(2.2, 1.9, 1.7)));
  return all;
}

int32_t ds_figure_knight(ds_recipe *r) {
  static const double base[] = {0,    0,   0,    0,   16.5, 0, 16.5, 0, 17.2, 2.4, 16.4, 5.6, 14.8, 7.4, 14.8, 7.4,
                                12.9, 7.4, 12.9, 7.4, 12.9, 9, 12.9, 9, 12.2, 11,  12.2, 11,  0,    12,  0,    12};
  int32_t head = ds_figure_join(r, 1, horse(r), mane_and_ear(r));
  int32_t cuts = ds_recipe_operation(r, DS_RECIPE_UNION, 0);
  ds_recipe_add(r, cuts, ds_figure_turn(r, ds_recipe_box(r, v3(4, 9, 0.6), 0), v3(18.4, 0, 35.8), v3(0, 1, 0), 8));
  ds_recipe_add(r, cuts, ds_recipe_sphere(r, v3(17.4, 4, 39.4), 1.2));
  head = ds_recipe_mirror(r, ds_figure_cut(r, 0, head, cuts), 1);
  return ds_figure_join(r, 1.5, head, ds_recipe_lathe(r, base, DS_PROFILE_COUNT(base), true));
}
