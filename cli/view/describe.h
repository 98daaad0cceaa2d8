/* HELLO, SCENE and STATUS as JSON. */
#ifndef DS_CLI_VIEW_DESCRIBE_H
#define DS_CLI_VIEW_DESCRIBE_H

#include "drystone/scene_file.h"
#include "geometry.h"

typedef enum view_mode { VIEW_LIVE, VIEW_RECORDING, VIEW_FILM } view_mode;

/* What a film is to be like. */
typedef struct view_film {
  int32_t width, height;
  double rate, speed; /* frames per second; simulated over shown time */
  const char *show;   /* layers, with commas */
  double from, to;    /* s: the part of the recording */
  bool has_view, has_look, dark;
  double view[2], look[3]; /* azimuth and elevation, degrees; the point looked at, m */
  double zoom;             /* 1 = everything fills the image */
  int32_t follow;          /* the body that stays in the middle; -1 = none */
} view_film;

/* `film` in that mode only. NULL if memory ran out, as below. */
view_message *view_hello_message(view_mode mode, const view_film *film);

typedef struct view_scene_text {
  const ds_scene *scene;
  const ds_run_settings *run;
  const char *source;              /* as the user named it */
  int32_t frames;                  /* of a recording, else 0 */
  const view_geometries *geometry; /* of the scene */
} view_scene_text;
view_message *view_scene_message(const view_scene_text *text);

/* The status of a running scene; constant texts of the session are copied. */
typedef struct view_state_text {
  bool paused;
  double speed, realtime, time, tolerance;
  ds_method method;
  ds_vec3 gravity;
  char failed[256], building[128];
  int32_t mu_count; /* materials */
  double *mu;       /* owned by who keeps the text */
} view_state_text;
view_message *view_status_message(const view_state_text *text, int64_t skipped, int32_t clients);

#endif
