/* What the simulation and the server share: the only place where the two threads meet.
 *
 * The server puts commands into a queue and says which frames somebody waits for. The session publishes: the messages
 * that begin a scene, the newest frame of each kind, its status, answers to one client. A newer frame takes the place
 * of an older one that nobody fetched, so that the simulation never waits. */
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

/* `wake` is called, from any thread, when there is something to fetch. NULL where memory ran out. */
view_hub *view_hub_create(void (*wake)(void *user), void *user);
void view_hub_destroy(view_hub *hub);

/* ---- the server's side ---- */
/* `urgent` is called, from any thread, when a command comes that a long step must not keep waiting: pause, reset,
 * another scene, the end. NULL: nobody. */
void view_hub_on_urgent(view_hub *hub, void (*urgent)(void *user), void *user);

/* False where the queue is full; the command is freed then. A MOVE or PROBE takes the place of one of the same client
 * that still waits, which gets no answer. */
bool view_hub_send(view_hub *hub, view_command *command);
void view_hub_stop(view_hub *hub); /* asks the session to end */
/* Somebody waits for frames with these contacts: bits 1 << view_contacts. */
void view_hub_want(view_hub *hub, unsigned contacts);
view_bundle *view_hub_bundle(view_hub *hub); /* one more owner; NULL = there is none yet */
/* The newest frame with these contacts of that scene, if newer than *serial, which becomes its own. Else NULL. */
view_message *view_hub_frame(view_hub *hub, view_contacts contacts, int64_t generation, int64_t *serial);
/* STATUS for a client; `serial` tells whether it has changed since, and is made new. */
view_message *view_hub_status(view_hub *hub, int64_t *serial, int64_t skipped, int32_t clients);
int64_t view_hub_status_serial(view_hub *hub); /* -1 = there is nothing to say yet */
/* The next answer and for whom; NULL = none. */
view_message *view_hub_answer(view_hub *hub, uint32_t *client);
bool view_hub_is_building(view_hub *hub);
bool view_hub_failed(view_hub *hub, ds_error *error); /* the first scene could not be opened */

/* ---- the session's side ---- */
/* The next command, waiting until `until` (ds_clock; 0 = not at all, INFINITY = as long as it takes) or until frames
 * are wanted that would be new. False where there is none. */
bool view_hub_receive(view_hub *hub, view_command *command, double until, int64_t serial);
bool view_hub_stopped(view_hub *hub);
unsigned view_hub_wanted(view_hub *hub, int64_t serial); /* kinds of frames that somebody waits for */
void view_hub_publish_bundle(view_hub *hub, view_bundle *bundle);
void view_hub_publish_frame(view_hub *hub, view_message *frame, view_contacts contacts, int64_t serial);
/* `changed`: clients are told now; else within a second. The text is copied; mu has to have mu_count numbers. */
void view_hub_publish_status(view_hub *hub, const view_state_text *status, bool changed);
void view_hub_say_building(view_hub *hub, const char *text); /* in the status; "" = nothing */
void view_hub_publish_answer(view_hub *hub, view_message *message, uint32_t client);
void view_hub_fail(view_hub *hub, const ds_error *error);

#endif
