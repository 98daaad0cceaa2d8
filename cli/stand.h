/* drystone stand in parts: its input, the answers, text and JSON, pictures. docs/stand.md explains what is printed. */
#ifndef DS_CLI_STAND_H
#define DS_CLI_STAND_H

#include "args.h"
#include "drystone/stand.h"
#include "source.h"

enum { STAND_MOST_ROWS = 32 }; /* of a table, without --all */

typedef struct stand_options {
  arg_list words, settings, loads;
  const char *supports, *certificate, *interfaces, *picture, *polar, *size, *view;
  double mu, density, tolerance, cohesion, strength, clutch, time;
  bool time_given, least_mu, ranges, remove, order, json, quick, all;
  source_reading reading;
  int32_t *support;
  int32_t support_count;
} stand_options;

typedef enum stand_source {
  STAND_SCENE, /* or a frame of a recording */
  STAND_COMPAS,
  STAND_BRICKS,
  STAND_OBJ,
} stand_source;

/* What is asked of, and where it comes from. */
typedef struct stand_case {
  const stand_options *o;
  char *text; /* of the source; of a recording: of its scene */
  size_t length;
  stand_source source;
  ds_scene *scene; /* NULL until it is needed, for assemblies from files */
  ds_state *state;
  ds_run_settings run;
  ds_assembly *assembly;
  ds_stand stand;
  double seconds; /* of processor time, for the verdict */
} stand_case;

/* The assembly where faces touch at gaps up to the tolerance; 0 = the usual one. */
ds_assembly *stand_make_assembly(const stand_case *c, double tolerance, ds_error *error);
bool stand_open(stand_case *c, ds_error *error);
/* Scene and state of any source, to draw or to record it: bodies are the blocks, by number. */
bool stand_need_scene(stand_case *c, ds_error *error);
void stand_close(stand_case *c);

/* The verdict where interfaces are searched with another tolerance. */
typedef struct stand_retry {
  double tolerance;
  int32_t interfaces, points;
  ds_verdict verdict;
} stand_retry;

typedef struct stand_load {
  const char *text;
  bool tilt;   /* the multiplier is the tangent of an angle */
  bool settle; /* a settlement */
  ds_multiplier result;
  ds_settlement settlement;
  double seconds; /* of processor time */
} stand_load;

/* Everything that was asked for. */
typedef struct stand_answers {
  stand_retry retries[2];
  int32_t retry_count;
  stand_load *loads;
  ds_least_mu mu;
  ds_force_range *ranges;
  ds_verdict *without; /* one per block */
  int32_t *order, placed;
  ds_verdict *stages;
} stand_answers;

bool stand_solve_load(stand_load *load, const ds_assembly *a, ds_error *error);
bool stand_print_text(const stand_case *c, const stand_answers *x); /* false: memory ran out */
void stand_print_json(const stand_case *c, const stand_answers *x);

/* -o: a picture (.png, .svg), or the first motion as a recording (.h5). */
bool stand_draw(stand_case *c, ds_error *error);
/* -o FILE.json: the blocks as a scene, with the interfaces that were found, to run it. */
bool stand_write_scene(const stand_case *c, ds_error *error);
/* --polar: the tilt by azimuth, at which it stands and falls. */
bool stand_draw_polar(const stand_case *c, ds_error *error);

#endif
