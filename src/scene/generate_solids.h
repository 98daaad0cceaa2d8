/* What the generators of scenes with solids share: random numbers, figures with their bounding balls, grids of figures
 * that fall, and static containers. */
#ifndef DS_SCENE_GENERATE_SOLIDS_H
#define DS_SCENE_GENERATE_SOLIDS_H

#include "scene/generate.h"

/* ---- Random numbers: our own, the same everywhere ---- */
double ds_random_unit(uint64_t *state); /* [0, 1) */
double ds_random_between(uint64_t *state, double low, double high);
/* A vector with each coordinate in [low, high): z is drawn first, then y, then x. Several draws as arguments of one
 * call would come in an order that each compiler chooses; draws are statements of their own. */
ds_vec3 ds_random_vec3(uint64_t *state, double low, double high);
ds_quat ds_random_rotation(uint64_t *state); /* evenly spread over all rotations */
/* A stream of its own for body i of a seed. */
uint64_t ds_random_stream(int32_t seed, int32_t i);

/* ---- Figures that fall ---- */
typedef struct ds_faller {
  const char *figure;
  double center;     /* m: height of its bounding ball's centre above its origin */
  double ahead;      /* m: and how far that is along its x */
  double radius;     /* m: of the ball, with a little to spare */
  double density;    /* kg/m³ */
  ds_vec3 colors[2]; /* one of them, by chance */
} ds_faller;

#define DS_FALLERS 9
#define DS_CHESS_MEN 6 /* the first of them */
extern const ds_faller ds_fallers[DS_FALLERS];

/* count bodies in a grid of side x side cells a layer, above z = bottom; each a random one of the kinds, turned at
 * random, anywhere within its cell. Solids of the kinds' names have to be written before: ds_generation_fallers. */
typedef struct ds_grid {
  int32_t count, side;
  double cell, bottom; /* m */
  double interval;     /* s: between the release of one layer and the next; 0 = all at once */
} ds_grid;
const ds_faller *ds_faller_find(const char *figure); /* one of ds_fallers */
void ds_generation_fallers(ds_generation *g, const ds_faller *kinds, int32_t kind_count);
void ds_generation_drop(ds_generation *g, const char *material, const ds_faller *kinds, int32_t kind_count,
                        const ds_grid *grid);
/* The side for which a grid is `tall` times as high as wide. */
int32_t ds_grid_side(int32_t count, double tall);

/* Options for hundreds of bodies in one heap: tolerance 1e-4. Small scenes keep the default. */
void ds_generation_many(ds_generation *g, int32_t count);

/* ---- Containers ---- */
/* A ring of n flat plates about z, static: from radius r0 at height z0 up to r1 at z1, measured from the axis to the
 * middles of the plates' inner faces; the outer faces are `thickness` farther out. n = 4 is square. */
typedef struct ds_funnel {
  int32_t n;
  double r0, z0, r1, z1, thickness;
} ds_funnel;
void ds_generation_funnel(ds_generation *g, const char *material, const char *name, const ds_funnel *funnel,
                          ds_vec3 color);

#endif
