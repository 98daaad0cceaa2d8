/* The server: see server.h. libwebsockets calls `callback` for everything that happens. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server_parts.h"

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size) {
  struct lws_context *context = lws_get_context(wsi);
  view_server *s = context != NULL ? lws_context_user(context) : NULL;
  view_connection *c = user;
  switch (reason) {
    case LWS_CALLBACK_HTTP:
      return view_http_request(s, c, wsi);
    case LWS_CALLBACK_HTTP_WRITEABLE:
      return view_http_writable(c, wsi);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
      return in != NULL && strcmp(in, "websocket") == 0 ? 0 : -1;
    case LWS_CALLBACK_CLOSED_HTTP:
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
      if (c != NULL) view_http_end(c);
      return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
      return view_socket_filter(s, wsi);
    case LWS_CALLBACK_ESTABLISHED:
      return view_socket_open(s, c, wsi);
    case LWS_CALLBACK_RECEIVE:
      return view_socket_receive(s, c, wsi, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE:
      return view_socket_writable(s, c, wsi);
    case LWS_CALLBACK_TIMER:
      if (c != NULL && c->client != NULL) lws_callback_on_writable(wsi);
      return 0;
    case LWS_CALLBACK_CLOSED:
      view_socket_close(s, c);
      return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
      view_socket_look(s);
      return 0;
    default:
      return 0;
  }
}

static const struct lws_protocols protocols[] = {
    {"drystone", callback, sizeof(view_connection), VIEW_CHUNK, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0},
};

static void tick(lws_sorted_usec_list_t *sul) {
  view_server *s = lws_container_of(sul, view_server, tick);
  view_socket_look(s);
  lws_sul_schedule(s->context, 0, &s->tick, tick, LWS_US_PER_SEC);
}

/* ---- listening ---- */

/* Tries the address first, for libwebsockets does not say what is wrong with it. */
static bool check_address(view_server *s, bool *six, ds_error *error) {
  const char *text = s->def.bind != NULL ? s->def.bind : "127.0.0.1";
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->def.port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)s->def.port)};
  *six = strchr(text, ':') != NULL;
  if (strlen(text) >= sizeof s->access.address ||
      inet_pton(*six ? AF_INET6 : AF_INET, text, *six ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr) != 1) {
    snprintf(error->message, sizeof error->message,
             "--bind %.100s is not a numeric address; give one such as 127.0.0.1, or 0.0.0.0 for all", text);
    return false;
  }
  snprintf(s->access.address, sizeof s->access.address, "%s", text);
  s->access.anywhere = strcmp(text, "0.0.0.0") == 0 || strcmp(text, "::") == 0;
  int on = 1, file = socket(*six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  bool good =
      file >= 0 && setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      (*six ? bind(file, (struct sockaddr *)&v6, sizeof v6) : bind(file, (struct sockaddr *)&v4, sizeof v4)) == 0 &&
      listen(file, 1) == 0;
  int why = errno;
  if (file >= 0) close(file);
  if (!good)
    snprintf(error->message, sizeof error->message, "cannot listen on %s port %d: %s; --port 0 selects a free port",
             text, (int)s->def.port, strerror(why));
  return good;
}

static bool listen_there(view_server *s, bool six, ds_error *error) {
  struct lws_context_creation_info info;
  memset(&info, 0, sizeof info);
  info.port = s->def.port;
  info.iface = s->access.anywhere ? NULL : s->access.address;
  info.protocols = protocols;
  info.user = s;
  info.gid = -1;
  info.uid = -1;
  info.server_string = "drystone";
  info.keepalive_timeout = 10;
  info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                 LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME | (six ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6);
  lws_set_log_level(0, NULL);
  s->context = lws_create_context(&info);
  s->vhost = s->context != NULL ? lws_create_vhost(s->context, &info) : NULL;
  s->access.port = s->vhost != NULL ? lws_get_vhost_listen_port(s->vhost) : 0;
  if (s->access.port > 0) return true;
  snprintf(error->message, sizeof error->message, "cannot listen on %s port %d; --port 0 selects a free port",
           s->access.address, (int)s->def.port);
  return false;
}

view_server *view_server_create(const view_server_def *def, ds_error *error) {
  bool six;
  view_server *s = calloc(1, sizeof *s);
  snprintf(error->message, sizeof error->message, "out of memory");
  if (s == NULL) return NULL;
  s->def = *def;
  s->hello = view_hello_message(def->mode, def->film);
  if (s->hello != NULL && view_access_make_token(&s->access, error) && check_address(s, &six, error) &&
      listen_there(s, six, error)) {
    lws_sul_schedule(s->context, 0, &s->tick, tick, LWS_US_PER_SEC);
    return s;
  }
  view_server_destroy(s);
  return NULL;
}

void view_server_destroy(view_server *s) {
  if (s == NULL) return;
  if (s->context != NULL) {
    lws_sul_schedule(s->context, 0, &s->tick, NULL, LWS_SET_TIMER_USEC_CANCEL);
    lws_context_destroy(s->context);
  }
  view_message_release(s->hello);
  free(s);
}

const view_access *view_server_access(const view_server *s) { return &s->access; }
void view_server_set_hub(view_server *s, view_hub *hub) { s->hub = hub; }

void view_server_wake(void *server) {
  view_server *s = server;
  lws_cancel_service(s->context);
}

bool view_server_serve(view_server *s) { return lws_service(s->context, 0) >= 0 && !s->ended; }
