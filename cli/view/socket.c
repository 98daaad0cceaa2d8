/* Clients: one WebSocket each. What a client is sent next is decided when its socket can take it, by feed.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "feed.h"
#include "server_parts.h"

struct view_client {
  view_client *next;
  struct lws *wsi;
  uint32_t id;
  view_feed feed;
  unsigned char *input; /* a message that is not yet whole */
  size_t input_size, input_capacity;
};

/* ---- coming and going ---- */

int view_socket_filter(view_server *s, struct lws *wsi) {
  view_request r;
  view_request_read(&r, wsi);
  if (strcmp(r.path, "/socket") != 0) return view_http_refuse(wsi, HTTP_STATUS_NOT_FOUND, "The WebSocket is /socket.");
  if (!view_access_host_fits(&s->access, r.host))
    return view_http_refuse(wsi, HTTP_STATUS_FORBIDDEN, "Wrong host name.");
  if (!view_access_origin_fits(r.origin, r.host))
    return view_http_refuse(wsi, HTTP_STATUS_FORBIDDEN, "Only the server's own page may connect.");
  if (!view_access_token_fits(&s->access, r.token))
    return view_http_refuse(wsi, HTTP_STATUS_FORBIDDEN, "The access token is missing or wrong.");
  if (s->client_count >= VIEW_CLIENTS_MAX)
    return view_http_refuse(wsi, HTTP_STATUS_SERVICE_UNAVAILABLE, "There are too many clients.");
  return 0;
}

int view_socket_open(view_server *s, view_connection *connection, struct lws *wsi) {
  view_client *c = calloc(1, sizeof *c);
  if (c == NULL) return -1;
  *c = (view_client){.next = s->clients, .wsi = wsi, .id = ++s->last_client};
  view_feed_init(&c->feed);
  s->clients = c;
  s->client_count++;
  connection->client = c;
  return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

void view_socket_close(view_server *s, view_connection *connection) {
  view_client *c = connection->client;
  if (c == NULL) return;
  for (view_client **at = &s->clients; *at != NULL; at = &(*at)->next)
    if (*at == c) {
      *at = c->next;
      break;
    }
  s->client_count--;
  if (s->hub != NULL) {
    view_command release = {.type = VIEW_RELEASE, .client = c->id};
    view_hub_send(s->hub, &release);
  }
  view_feed_free(&c->feed);
  free(c->input);
  free(c);
  connection->client = NULL;
}

/* ---- sending ---- */

static void answer(view_client *c, view_message *message) {
  view_feed_answer(&c->feed, message);
  lws_callback_on_writable(c->wsi);
}

/* Tells the session which frames are waited for. */
static void say_wanted(view_server *s) {
  double now = ds_clock();
  unsigned wanted = 0;
  for (const view_client *c = s->clients; c != NULL; c = c->next)
    if (view_feed_may_get_frame(&c->feed, now)) wanted |= 1u << c->feed.contacts;
  if (s->hub != NULL) view_hub_want(s->hub, wanted);
}

/* The socket calls again when a frame may be sent that is too early now. */
static void set_timer(view_client *c) {
  double wait = view_feed_wait(&c->feed);
  if (wait > 0) lws_set_timer_usecs(c->wsi, (lws_usec_t)(1e6 * fmin(wait, 1)) + 100);
}

int view_socket_writable(view_server *s, view_connection *connection, struct lws *wsi) {
  view_client *c = connection->client;
  view_message *message = c != NULL ? view_feed_next(&c->feed, s->hub, s->hello, s->client_count) : NULL;
  if (message == NULL) {
    if (c != NULL && s->hub != NULL) {
      say_wanted(s);
      set_timer(c);
    }
    return 0;
  }
  int sent = lws_write(wsi, message->bytes, message->size, LWS_WRITE_BINARY);
  bool good = sent >= (int)message->size;
  view_message_release(message);
  return good && lws_callback_on_writable(wsi) >= 0 ? 0 : -1;
}

void view_socket_look(view_server *s) {
  view_message *message;
  uint32_t id;
  while (s->hub != NULL && (message = view_hub_answer(s->hub, &id)) != NULL) {
    view_client *c = s->clients;
    while (c != NULL && c->id != id) c = c->next;
    if (c != NULL)
      answer(c, message);
    else
      view_message_release(message);
  }
  for (view_client *c = s->clients; c != NULL; c = c->next) lws_callback_on_writable(c->wsi);
}

/* ---- receiving ---- */

static void hear(view_server *s, view_client *c, const view_command *command) {
  if (command->type == VIEW_SEEN)
    view_feed_seen(&c->feed, command->value);
  else
    view_feed_want(&c->feed, command);
  say_wanted(s);
  lws_callback_on_writable(c->wsi);
}

static int take_picture(view_server *s, view_client *c, const view_command *command) {
  if (s->def.picture == NULL || !s->def.picture(s->def.user, command)) {
    s->ended = true;
    return -1;
  }
  answer(c, view_text_message(VIEW_TAKEN, ""));
  return 0;
}

static int obey(view_server *s, view_client *c, view_command *command) {
  command->client = c->id;
  if (command->type == VIEW_PICTURE) return take_picture(s, c, command);
  if (command->type == VIEW_SEEN || command->type == VIEW_WANT) {
    hear(s, c, command);
  } else if (s->hub == NULL) {
    view_command_free(command);
    answer(c, view_text_message(VIEW_ERROR, "this is a recording; use 'drystone view SCENE' for a live scene"));
  } else if (!view_hub_send(s->hub, command)) {
    answer(c, view_text_message(VIEW_ERROR, "the simulation is busy; try again"));
  }
  return 0;
}

static int hang_up(struct lws *wsi, enum lws_close_status status, const char *why) {
  lws_close_reason(wsi, status, (unsigned char *)why, strlen(why));
  return -1;
}

static int take_message(view_server *s, view_client *c, struct lws *wsi) {
  view_command command;
  ds_error why = {{0}};
  size_t size = c->input_size;
  c->input_size = 0;
  switch (view_command_decode(&command, c->input, size, s->def.mode == VIEW_FILM, &why)) {
    case VIEW_DECODED:
      return obey(s, c, &command);
    case VIEW_REFUSED:
      answer(c, view_text_message(VIEW_ERROR, why.message));
      return 0;
    case VIEW_BROKEN:
      break;
  }
  return hang_up(wsi, LWS_CLOSE_STATUS_PROTOCOL_ERR, why.message);
}

int view_socket_receive(view_server *s, view_connection *connection, struct lws *wsi, const void *in, size_t size) {
  view_client *c = connection->client;
  if (c == NULL) return -1;
  const unsigned char *begin = c->input_size > 0 ? c->input : in;
  size_t need = c->input_size + size, known = c->input_size > 0 ? c->input_size : size;
  size_t most = view_command_limit(begin, known, s->def.mode == VIEW_FILM);
  if (!lws_frame_is_binary(wsi)) return hang_up(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "messages are binary");
  if (need > most) return hang_up(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "the message is too long");
  if (need > c->input_capacity) {
    size_t capacity = need < 4096 ? 4096 : need + need / 2;
    unsigned char *input = realloc(c->input, capacity);
    if (input == NULL) return hang_up(wsi, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
    c->input = input;
    c->input_capacity = capacity;
  }
  if (size > 0) memcpy(c->input + c->input_size, in, size);
  c->input_size = need;
  bool whole = lws_is_final_fragment(wsi) != 0 && lws_remaining_packet_payload(wsi) == 0;
  return whole ? take_message(s, c, wsi) : 0;
}
