/* A live scene: the thread that owns it, takes commands from the hub and publishes frames. */
#ifndef DS_CLI_VIEW_SESSION_H
#define DS_CLI_VIEW_SESSION_H

#include "../source.h"
#include "hub.h"

/* The start of a session; must not change until the session ends. */
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

typedef struct view_session view_session;
/* Starts the thread, which opens the scene first. NULL if memory or threads ran out. */
view_session *view_session_create(view_hub *hub, const view_start *start);
/* Ends after the current step; the hub stays. NULL is allowed. */
void view_session_destroy(view_session *session);

#endif
