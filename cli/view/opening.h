/* How `drystone view` opens scenes: by the options of the command line. */
#ifndef DS_CLI_VIEW_OPENING_H
#define DS_CLI_VIEW_OPENING_H

#include "../source.h"
#include "session.h"

/* The command line; must not change until the session ends. */
typedef struct view_start {
  const char *source;
  arg_list settings; /* --set, and --method as one of them */
  source_method method_setting;
  source_reading reading;
  double step, tolerance, step_budget;
  int32_t method, metric, integrator, restitution_law, impacts, face_pressure;
  bool has_step, has_tolerance, has_step_budget, has_method, has_metric, has_integrator;
  bool has_restitution_law, has_impacts, has_face_pressure;
} view_start;

view_opening view_opening_of(const view_start *start);

#endif
