/* What the parts of the server share: server.c (listening), http.c (page and recordings), socket.c (clients). */
#ifndef DS_CLI_VIEW_SERVER_PARTS_H
#define DS_CLI_VIEW_SERVER_PARTS_H

#include <libwebsockets.h>

#include "server.h"
#include "stream.h"

typedef struct view_client view_client;

struct view_server {
  view_server_def def;
  view_access access;
  struct lws_context *context;
  struct lws_vhost *vhost;
  lws_sorted_usec_list_t tick; /* once per second */
  view_hub *hub;
  view_message *hello;
  view_client *clients;
  int32_t client_count;
  uint32_t last_client;
  bool ended;
};

/* What lies behind one connection; zero at first. */
typedef struct view_connection {
  const unsigned char *page; /* a file of the page that is being sent */
  size_t page_left;
  view_stream *stream; /* a recording that is being sent */
  view_message *message;
  size_t message_sent;
  view_client *client; /* a WebSocket */
} view_connection;

enum { VIEW_CLIENTS_MAX = 256, VIEW_CHUNK = 64 << 10 };

/* Headers of a request, empty where they are missing or too long. */
typedef struct view_request {
  char host[300], origin[320], path[128], token[VIEW_TOKEN_MAX + 2];
  bool second; /* of two recordings */
} view_request;
void view_request_read(view_request *request, struct lws *wsi);

/* ---- http.c: what lws calls for HTTP; the result is lws's: other than 0 closes ---- */
int view_http_request(view_server *server, view_connection *connection, struct lws *wsi);
int view_http_writable(view_connection *connection, struct lws *wsi);
void view_http_end(view_connection *connection);
int view_http_refuse(struct lws *wsi, unsigned status, const char *why); /* gives -1 */

/* ---- socket.c: the same for WebSockets ---- */
int view_socket_filter(view_server *server, struct lws *wsi);
int view_socket_open(view_server *server, view_connection *connection, struct lws *wsi);
int view_socket_receive(view_server *server, view_connection *connection, struct lws *wsi, const void *in, size_t size);
int view_socket_writable(view_server *server, view_connection *connection, struct lws *wsi);
void view_socket_close(view_server *server, view_connection *connection);
/* Something is new in the hub, or a second has passed: clients are asked to fetch it. */
void view_socket_look(view_server *server);

#endif
