/* What the scene generators share: the parameters of one call, and a writer of scene text.
 *
 * A generator is a function that reads its parameters by name, calls ds_generation_begin once, writes materials and
 * bodies, and calls ds_generation_end. Memory running out is remembered in the text and found once, at the end. */
#ifndef DS_SCENE_GENERATE_H
#define DS_SCENE_GENERATE_H

#include <stddef.h>

#include "drystone/scene_file.h"
#include "la/vec3.h"

#define DS_GENERATION_PARAMETERS 32 /* largest number of parameters per generator */

/* Text that grows; after a failed allocation it stays as it is and `failed` is set. */
typedef struct ds_text {
  char *data;
  size_t length, capacity;
  bool failed;
} ds_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void ds_text_print(ds_text *text, const char *format, ...);

/* What a scene is to differ in from a perfect one (scene/imperfect.h). */
typedef struct ds_imperfection {
  bool wanted, uneven, ball; /* anything; of the bodies that stand; a ball */
  bool measuring;            /* the first of two passes: bodies are counted, not written */
  double jitter, tilt, size_jitter, gap, overlap;
  int32_t missing, seed;
  int32_t count, met, gone; /* bodies that stand: all, so far, left out */
  ds_vec3 low, high;        /* the box that they fill */
  char material[32];        /* of the first of them */
} ds_imperfection;

typedef struct ds_generation {
  ds_text text;
  const ds_generator *generator;
  double values[DS_GENERATION_PARAMETERS]; /* in the order of the generator's parameters; a choice as its index */
  int32_t options, materials, solids, deformables, bodies, joints; /* written so far */
  ds_imperfection imperfection;
  char reason[256]; /* why these parameters cannot go together; "" = they can */
} ds_generation;

/* Parameters of the call, by name. */
double ds_generation_value(const ds_generation *g, const char *name);
int32_t ds_generation_count(const ds_generation *g, const char *name);
bool ds_generation_chose(const ds_generation *g, const char *name, const char *choice);

/* Writing: begin, options (where wanted), materials, pairs, solids, deformables, bodies, joints, end; in this order. */
void ds_generation_begin(ds_generation *g, const char *note, double time);
void ds_generation_gravity(ds_generation *g, ds_vec3 gravity);
void ds_generation_option(ds_generation *g, const char *name, double value); /* all options one after the other */
void ds_generation_material(ds_generation *g, const char *name, double mu, double e);
void ds_generation_pair(ds_generation *g, const char *a, const char *b, double mu,
                        double e); /* at most one per scene */
/* Solids by name: a figure, or a recipe as JSON text with the size of its triangles (0 = chosen). */
void ds_generation_solid_figure(ds_generation *g, const char *name, const char *figure, double scale);
void ds_generation_solid_recipe(ds_generation *g, const char *name, const char *recipe, double cell);
/* A deformable by name: what it is made of, exactly one of the first four, and its material. Fill it by
 * ds_default_soft_text first. What equals the default is left out. */
typedef struct ds_soft_text {
  const char *figure; /* or NULL */
  const char *recipe; /* JSON text, or NULL */
  const char *solid;  /* one written by the calls above, or NULL */
  const char *file;   /* a body file, which has the rest; or NULL */
  double scale;       /* of a figure */
  ds_reduced_def def; /* material and modes */
  double cell;        /* m: of the tetrahedra; 0 = chosen */
  int32_t tets;       /* about this many, if cell is 0 */
} ds_soft_text;
ds_soft_text ds_default_soft_text(void);
void ds_generation_deformable(ds_generation *g, const char *name, const ds_soft_text *soft);
/* A deformable body; its mass comes from the deformable. `reduced` are its first coordinates and `reduced_rate` their
 * rates, modes each; NULL = 0. */
void ds_generation_soft(ds_generation *g, const char *material, const ds_body_def *def, const char *deformable,
                        const double *reduced, const double *reduced_rate, int32_t modes);
/* Densities of the shapes are written where the body gives no mass. Static bodies of generators that have a "shake"
 * parameter other than 0 are written as kinematic ones that shake along x, from 1 s for about 2 s. */
void ds_generation_body(ds_generation *g, const char *material, const ds_body_def *def, const ds_shape_def *shapes,
                        int32_t shape_count);
/* The same; solids[i] is the name of the solid of shape i, where that is of kind solid. */
void ds_generation_body_of(ds_generation *g, const char *material, const ds_body_def *def, const ds_shape_def *shapes,
                           const char *const *solids, int32_t shape_count);
/* A body of one solid. */
void ds_generation_solid(ds_generation *g, const char *material, const ds_body_def *def, const char *solid,
                         double density);
void ds_generation_floor(ds_generation *g, const char *material); /* the half-space z <= 0 */
/* A joint of two bodies by name; `def` gives the rest, a and b are not looked at. */
void ds_generation_joint(ds_generation *g, const ds_joint_def *def, const char *a, const char *b);
void ds_generation_end(ds_generation *g);

/* A resting box of full size `size` and the rest of its definition at defaults. */
typedef struct ds_brick {
  ds_vec3 center, size;
  double mass;    /* kg; 0 = from density */
  double density; /* kg/m³ */
  ds_quat rotation;
  ds_vec3 velocity, angular_velocity;
  double release_time;
  ds_vec3 color;
} ds_brick;
ds_brick ds_default_brick(ds_vec3 center, ds_vec3 size, double density);
void ds_generation_brick(ds_generation *g, const char *material, const char *name, int32_t number,
                         const ds_brick *brick);

/* A prism: a convex polygon in the x-z plane, corners in order around it, from y = -width/2 to width/2. The body's
 * origin is the prism's centroid. */
#define DS_PRISM_CORNERS 8
typedef struct ds_prism {
  double x[DS_PRISM_CORNERS], z[DS_PRISM_CORNERS];
  int32_t corners;
  double width;
} ds_prism;
/* `def` gives everything but the position. */
void ds_generation_prism(ds_generation *g, const char *material, const ds_body_def *def, double density,
                         const ds_prism *prism);

/* Colours: hue from 0 to 1, muted. */
ds_vec3 ds_color_hue(double hue);
#define DS_COLOR_FLOOR v3(0.62, 0.64, 0.66)

/* The generators (one function a scene; generate_basic.c, _stacks.c, _cards.c, _arch.c, _vault.c, _tower.c, _pile.c,
 * and with solids _drop.c, _rings.c, _log_house.c, _loop.c; with joints _joints.c). */
void ds_generate_incline(ds_generation *g);
void ds_generate_slide(ds_generation *g);
void ds_generate_roll(ds_generation *g);
void ds_generate_disc(ds_generation *g);
void ds_generate_bounce(ds_generation *g);
void ds_generate_spin(ds_generation *g);
void ds_generate_billiard(ds_generation *g);
void ds_generate_stack(ds_generation *g);
void ds_generate_wall(ds_generation *g);
void ds_generate_pyramid(ds_generation *g);
void ds_generate_dominoes(ds_generation *g);
void ds_generate_overhang(ds_generation *g);
void ds_generate_card_pair(ds_generation *g);
void ds_generate_card_house(ds_generation *g);
void ds_generate_card_house_sp08(ds_generation *g);
void ds_generate_arch(ds_generation *g);
void ds_generate_arch_sp08(ds_generation *g);
void ds_generate_vault(ds_generation *g);
void ds_generate_tower(ds_generation *g);
void ds_generate_pile(ds_generation *g);
void ds_generate_chess_drop(ds_generation *g);
void ds_generate_bunny_drop(ds_generation *g);
void ds_generate_helmets(ds_generation *g);
void ds_generate_hopper(ds_generation *g);
void ds_generate_rings(ds_generation *g);
void ds_generate_jam(ds_generation *g);
void ds_generate_log_house(ds_generation *g);
void ds_generate_ball_loop(ds_generation *g);
void ds_generate_composites(ds_generation *g);
void ds_generate_composites_thrown(ds_generation *g);
void ds_generate_chairs(ds_generation *g);
void ds_generate_soft_bounce(ds_generation *g);
void ds_generate_soft_incline(ds_generation *g);
void ds_generate_soft_stack(ds_generation *g);
void ds_generate_haptic(ds_generation *g);
void ds_generate_soft_jam(ds_generation *g);
void ds_generate_dinosaurs(ds_generation *g);
void ds_generate_hybrid(ds_generation *g);
void ds_generate_bridge(ds_generation *g);
void ds_generate_linkage(ds_generation *g);
void ds_generate_mechanism(ds_generation *g);

/* The table of all generators (generate_table.c); functions[i] belongs to ds_generators()[i]. */
typedef void ds_generate_function(ds_generation *g);
extern ds_generate_function *const ds_generate_functions[];

#endif
