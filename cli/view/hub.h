/* The data shared by the simulation and the server, which run in two threads.
 *
 * The server puts commands into a queue and requests frames. The session publishes the messages that begin a scene, the
 * newest frame of each kind, its status, and answers to single clients. A newer frame replaces an older one that was
 * not fetched, so that the simulation never waits. */
#ifndef DS_CLI_VIEW_HUB_H
#define DS_CLI_VIEW_HUB_H

#include "commands.h"
#include "describe.h"
#include "frame.h"

typedef struct view_hub view_hub;

/* SCENE and its geometries: what a client has to get before frames. Shared. */
typedef struct view_bundle {
  atomic_int owners;
  int64_t generation; /* ascends; 1 = the first scene */
  int32_t count;
  view_message *messages[]; /* SCENE, then GEOMETRY each */
} view_bundle;
/* With the geometries retained; the scene's message becomes the bundle's, also where it is NULL or memory ran out. */
view_bundle *view_bundle_create(view_message *scene, const view_geometries *geometries, int64_t generation);
view_bundle *view_bundle_retain(view_bundle *bundle);
void view_bundle_release(view_bundle *bundle);

/* `wake` is called, from any thread, when there is something to fetch. NULL if memory ran out. */
view_hub *view_hub_create(void (*wake)(void *user), void *user);
void view_hub_destroy(view_hub *hub);

/* ---- the server's side ---- */
/* `urgent` is called, from any thread, when a command arrives that should cancel a long step: pause, reset, another
 * scene, the end. NULL = none. */
void view_hub_on_urgent(view_hub *hub, void (*urgent)(void *user), void *user);

/* False if the queue is full; the command is then freed. A MOVE or PROBE replaces a pending one of the same client,
 * which gets no answer. */
bool view_hub_send(view_hub *hub, view_command *command);
void view_hub_stop(view_hub *hub); /* asks the session to end */
/* Requests frames with these contacts: bits 1 << view_contacts. */
void view_hub_want(view_hub *hub, unsigned contacts);
view_bundle *view_hub_bundle(view_hub *hub); /* adds a reference; NULL = there is none yet */
/* The newest frame with these contacts of that scene, if newer than *serial, which is updated. Else NULL. */
view_message *view_hub_frame(view_hub *hub, view_contacts contacts, int64_t generation, int64_t *serial);
/* STATUS for a client; `serial` identifies the last status sent, and is updated. */
view_message *view_hub_status(view_hub *hub, int64_t *serial, int64_t skipped, int32_t clients);
int64_t view_hub_status_serial(view_hub *hub); /* -1 = no status yet */
/* The next answer and its client; NULL = none. */
view_message *view_hub_answer(view_hub *hub, uint32_t *client);
bool view_hub_is_building(view_hub *hub);
bool view_hub_failed(view_hub *hub, ds_error *error); /* the first scene could not be opened */

/* ---- the session's side ---- */
/* The next command, waiting until `until` (ds_clock; 0 = not at all, INFINITY = as long as it takes) or until frames
 * are wanted that would be new. False if there is none. */
bool view_hub_receive(view_hub *hub, view_command *command, double until, int64_t serial);
bool view_hub_stopped(view_hub *hub);
unsigned view_hub_wanted(view_hub *hub, int64_t serial); /* kinds of frames that were requested */
void view_hub_publish_bundle(view_hub *hub, view_bundle *bundle);
void view_hub_publish_frame(view_hub *hub, view_message *frame, view_contacts contacts, int64_t serial);
/* `changed`: sent to clients at once; else within a second. The text is copied; mu has mu_count numbers. */
void view_hub_publish_status(view_hub *hub, const view_state_text *status, bool changed);
void view_hub_say_building(view_hub *hub, const char *text); /* in the status; "" = nothing */
void view_hub_publish_answer(view_hub *hub, view_message *message, uint32_t client);
void view_hub_fail(view_hub *hub, const ds_error *error);

#endif
