/* The figures: recipes (or sweeps) with a name. Files figures_*.c hold them by theme, figures.c the table.
 *
 * Recipes of figures are in mm; figures.c makes m of them. */
#ifndef DS_SCENE_FIGURES_H
#define DS_SCENE_FIGURES_H

#include "drystone/scene_file.h"
#include "mesh/recipe.h"

typedef int32_t ds_figure_recipe(ds_recipe *recipe);              /* its root */
typedef ds_status ds_figure_mesh(ds_mesh *mesh, ds_error *error); /* a mesh made directly, in mm */

ds_figure_recipe ds_figure_king, ds_figure_queen, ds_figure_rook, ds_figure_bishop, ds_figure_knight, ds_figure_pawn;
ds_figure_recipe ds_figure_bunny, ds_figure_dinosaur, ds_figure_bone;
ds_figure_recipe ds_figure_helmet, ds_figure_log, ds_figure_log_half, ds_figure_chair, ds_figure_ring, ds_figure_hanger,
    ds_figure_funnel, ds_figure_tube;
ds_figure_mesh ds_figure_loop_track;

/* Shorthands for figures. */
static inline int32_t ds_figure_move(ds_recipe *r, int32_t part, ds_vec3 by) {
  return ds_recipe_place(r, part, by, quat_identity(), v3(1, 1, 1));
}
static inline int32_t ds_figure_turn(ds_recipe *r, int32_t part, ds_vec3 by, ds_vec3 axis, double degrees) {
  return ds_recipe_place(r, part, by, quat_axis_angle(axis, degrees * DS_PI / 180), v3(1, 1, 1));
}
static inline int32_t ds_figure_join(ds_recipe *r, double blend, int32_t a, int32_t b) {
  return ds_recipe_pair(r, DS_RECIPE_UNION, blend, a, b);
}
static inline int32_t ds_figure_cut(ds_recipe *r, double blend, int32_t a, int32_t b) {
  return ds_recipe_pair(r, DS_RECIPE_SUBTRACTION, blend, a, b);
}
static inline int32_t ds_figure_meet(ds_recipe *r, double blend, int32_t a, int32_t b) {
  return ds_recipe_pair(r, DS_RECIPE_INTERSECTION, blend, a, b);
}
/* What is above the plane z = height. */
static inline int32_t ds_figure_above(ds_recipe *r, int32_t part, double height) {
  return ds_figure_cut(r, 0, part, ds_figure_move(r, ds_recipe_half_space(r), v3(0, 0, height)));
}
#define DS_PROFILE_COUNT(profile) ((int32_t)(sizeof(profile) / (2 * sizeof(double))))

#endif
