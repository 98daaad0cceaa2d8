/* A live scene: the thread that owns it, takes commands from the hub and publishes frames. */
#ifndef DS_CLI_VIEW_SESSION_H
#define DS_CLI_VIEW_SESSION_H

#include "drystone/scene_file.h"
#include "hub.h"

/* How a session opens scenes: opening.c for the program, wasm/page.c for the module. Must not change until the session
 * ends. */
typedef struct view_opening {
  const char *first; /* name of the scene that is opened first */
  int32_t threads;
  void *user;
  /* The text of a scene by its name, freed by the caller; NULL with a message. */
  char *(*text)(void *user, size_t *length, const char *source, ds_error *error);
  /* The scene of a text. `trusted`: not from a client, so that it may name files. NULL with a message. */
  ds_scene *(*read)(void *user, ds_run_settings *run, const char *text, size_t length, const char *source, bool trusted,
                    ds_scene_progress *progress, void *progress_user, ds_error *error);
} view_opening;

typedef struct view_session view_session;
/* NULL if memory ran out. */
view_session *view_session_create(view_hub *hub, const view_opening *opening);
/* Starts the thread, which opens the first scene and then takes turns until the end. False if there is none. */
bool view_session_start(view_session *session);
/* Without a thread: opens the first scene; the hub has the message where it cannot be opened. */
bool view_session_open(view_session *session);
/* One turn: pending commands, frames that were requested, a step if one is due. `wait`: for a command or the next step.
 */
void view_session_turn(view_session *session, bool wait);
/* When the next step is due: 0 = now, else ds_clock, INFINITY = not before a command. */
double view_session_due(view_session *session);
/* Ends after the current step; the hub stays. NULL is allowed. */
void view_session_destroy(view_session *session);

#endif
