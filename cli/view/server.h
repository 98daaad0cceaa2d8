/* The server: the page and recordings over HTTP, live scenes and films over WebSocket. Runs in the thread that calls
 * it. */
#ifndef DS_CLI_VIEW_SERVER_H
#define DS_CLI_VIEW_SERVER_H

#include "access.h"
#include "commands.h"
#include "describe.h"
#include "hub.h"

typedef struct view_server view_server;

typedef struct view_server_def {
  view_mode mode;
  const char *bind;      /* numeric address; NULL = 127.0.0.1 */
  int32_t port;          /* 0 = one that is free */
  bool embed;            /* other pages may show it in a frame, notebooks for example */
  const char *recording; /* in the modes recording and film */
  const char *second;    /* another one beside it; NULL: none */
  const view_film *film; /* in that mode */
  /* film: an image has arrived; false ends the server. The answer is TAKEN. */
  bool (*picture)(void *user, const view_command *command);
  void *user;
} view_server_def;

/* Listens. NULL with a message that says what to do. */
view_server *view_server_create(const view_server_def *def, ds_error *error);
void view_server_destroy(view_server *server); /* after the session, before the hub */
const view_access *view_server_access(const view_server *server);
void view_server_set_hub(view_server *server, view_hub *hub); /* live */
void view_server_wake(void *server);                          /* from any thread: there is something in the hub */
/* Serves until there is nothing to do or about a second has passed; false on a fatal error. */
bool view_server_serve(view_server *server);

#endif
