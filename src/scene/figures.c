/* The table of figures, and a figure's mesh by name. Triangle counts are what a figure is simplified to. */
#include "scene/figures.h"

#include <string.h>

#include "base/error.h"
#include "base/fields.h"

static const ds_figure figures[] = {
    {"king", "chess king with a cross, 95 mm tall"},
    {"queen", "chess queen with a coronet, 85 mm tall"},
    {"rook", "chess rook with battlements, 58 mm tall"},
    {"bishop", "chess bishop with its slit, 72 mm tall"},
    {"knight", "chess knight, a horse's head, 65 mm tall"},
    {"pawn", "chess pawn, 50 mm tall"},
    {"helmet", "Corinthian helmet, a thin shell with eyes and cheek pieces, 0.35 m tall with its crest"},
    {"bunny", "sitting rabbit, 0.1 m tall"},
    {"dinosaur", "long-necked dinosaur, 0.33 m long"},
    {"bone", "bone, 0.16 m long"},
    {"log", "round log of 1 m by 0.1 m, notched on top and bottom near both ends"},
    {"log-half", "upper half of a log, for the first layer of a log house; turned over, for the last"},
    {"chair", "plastic chair in one piece, 0.8 m tall"},
    {"ring", "ring of 60 mm"},
    {"coat-hanger", "coat-hanger of round bar, 0.42 m wide"},
    {"funnel", "thin-walled funnel with a hole of 60 mm, 0.3 m tall"},
    {"tube", "thick-walled tube, 0.3 m long"},
    {"loop-track", "channel for a ball: ramp, vertical loop of 0.36 m, run-out"},
};

enum { FIGURES = (int)(sizeof figures / sizeof figures[0]) };

typedef struct making {
  ds_figure_recipe *recipe;
  double cell; /* mm */
  int32_t triangles;
  ds_figure_mesh *mesh; /* instead of a recipe */
} making;

static const making makings[] = {
    {ds_figure_king, 1.0, 5600, NULL},    {ds_figure_queen, 1.0, 5600, NULL},  {ds_figure_rook, 0.9, 3600, NULL},
    {ds_figure_bishop, 0.9, 4000, NULL},  {ds_figure_knight, 0.8, 5200, NULL}, {ds_figure_pawn, 0.9, 1960, NULL},
    {ds_figure_helmet, 3.7, 24000, NULL}, {ds_figure_bunny, 1.5, 3600, NULL},  {ds_figure_dinosaur, 2.4, 5200, NULL},
    {ds_figure_bone, 2.0, 1600, NULL},    {ds_figure_log, 5.5, 1600, NULL},    {ds_figure_log_half, 5.5, 1200, NULL},
    {ds_figure_chair, 8.0, 6500, NULL},   {ds_figure_ring, 1.5, 2400, NULL},   {ds_figure_hanger, 3.4, 4000, NULL},
    {ds_figure_funnel, 6.0, 4000, NULL},  {ds_figure_tube, 6.0, 1600, NULL},   {NULL, 0, 0, ds_figure_loop_track},
};
_Static_assert(sizeof makings / sizeof makings[0] == FIGURES, "a making for every figure");

const ds_figure *ds_figures(int32_t *count) {
  *count = FIGURES;
  return figures;
}

static ds_status fail_unknown(const char *name, ds_error *error) {
  char words[512] = "";
  for (int i = 0; i < FIGURES; i++) {
    if (i > 0) strcat(words, "|"); /* the table is short: it fits */
    strcat(words, figures[i].name);
  }
  ds_word nearest = ds_nearest_word(name, words);
  if (nearest.text[0])
    return ds_fail(error, DS_ERROR_INPUT, "no figure %s; did you mean \"%s\"?", ds_quote(name).text, nearest.text);
  return ds_fail(error, DS_ERROR_INPUT, "no figure %s; expected one of %s", ds_quote(name).text, words);
}

static ds_status make(ds_mesh *mesh, const making *m, ds_error *error) {
  if (m->mesh) return m->mesh(mesh, error);
  ds_recipe recipe = {0};
  ds_status status = ds_recipe_finish(&recipe, m->recipe(&recipe), error);
  if (status == DS_OK) status = ds_recipe_mesh(mesh, &recipe, m->cell, m->triangles, error);
  ds_recipe_free(&recipe);
  return status;
}

/* mm to m. What stands on z = 0 stands flat, whatever simplification did to the rim of its foot. */
static void finish(ds_mesh *mesh, double near, double scale) {
  double low = INFINITY;
  for (int32_t v = 0; v < mesh->vertex_count; v++) low = fmin(low, mesh->vertices[v].z);
  for (int32_t v = 0; v < mesh->vertex_count; v++) {
    ds_vec3 x = mesh->vertices[v];
    if (low > -near && fabs(x.z) < near) x.z = 0;
    mesh->vertices[v] = v3_scale(0.001 * scale, x);
  }
}

ds_status ds_mesh_figure(ds_mesh *mesh, const char *name, double scale, ds_error *error) {
  *mesh = (ds_mesh){0};
  if (!name) return ds_fail(error, DS_ERROR_INPUT, "a figure without a name; expected one of ds_figures");
  if (!(scale >= 1e-6 && scale <= 1e6))
    return ds_fail(error, DS_ERROR_INPUT, "the scale of figure %s is %g; expected 1e-6 to 1e6", ds_quote(name).text,
                   scale);
  int i = 0;
  while (i < FIGURES && strcmp(figures[i].name, name) != 0) i++;
  if (i == FIGURES) return fail_unknown(name, error);
  ds_status status = make(mesh, &makings[i], error);
  if (status == DS_OK) finish(mesh, 0.2 * makings[i].cell, scale);
  return status;
}
