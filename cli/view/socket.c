/* Clients: one WebSocket each.
 *
 * What a client is sent next is decided when its socket can take it: HELLO, answers, SCENE with its geometries, STATUS,
 * and the newest frame, of which three may be under way. So a client that reads slowly, or not at all, gets fewer
 * frames, and costs no more memory than those and one message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "server_parts.h"

#define STATUS_EVERY 1.0
#define RATE_USUAL 60.0
enum { UNSEEN_MAX = 3, ANSWERS_MAX = 32 };

struct view_client {
  view_client *next;
  struct lws *wsi;
  uint32_t id;
  bool greeted;
  view_bundle *bundle; /* of the scene that it is shown */
  int32_t bundle_sent;
  int64_t frame_serial, status_serial;
  double frame_at, status_at; /* clock, when they were sent or due */
  double interval;            /* s between frames at least */
  view_contacts contacts;
  double unseen[UNSEEN_MAX]; /* steps of frames under way */
  int32_t unseen_count;
  double last_step; /* sent */
  int64_t skipped;
  view_message *answers[ANSWERS_MAX];
  int32_t answer_count;
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
  *c = (view_client){.next = s->clients,
                     .wsi = wsi,
                     .id = ++s->last_client,
                     .interval = 1 / RATE_USUAL,
                     .contacts = VIEW_CONTACTS_USUAL,
                     .status_serial = -1,
                     .last_step = -1};
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
  for (int32_t i = 0; i < c->answer_count; i++) view_message_release(c->answers[i]);
  view_bundle_release(c->bundle);
  free(c->input);
  free(c);
  connection->client = NULL;
}

/* ---- sending ---- */

static void answer(view_client *c, view_message *message) {
  if (message == NULL) return;
  if (c->answer_count == ANSWERS_MAX) { /* it does not read what it asks for */
    view_message_release(message);
    return;
  }
  c->answers[c->answer_count++] = message;
  lws_callback_on_writable(c->wsi);
}

static bool has_scene(const view_client *c) { return c->bundle != NULL && c->bundle_sent == c->bundle->count; }

static bool may_get_frame(const view_client *c, double now) {
  return has_scene(c) && c->unseen_count < UNSEEN_MAX && now >= c->frame_at + c->interval;
}

/* Tells the session which frames are waited for. */
static void say_wanted(view_server *s) {
  double now = ds_clock();
  unsigned wanted = 0;
  for (const view_client *c = s->clients; c != NULL; c = c->next)
    if (may_get_frame(c, now)) wanted |= 1u << c->contacts;
  if (s->hub != NULL) view_hub_want(s->hub, wanted);
}

/* Changes to the scene that is open now, if it is another one. */
static void take_bundle(view_server *s, view_client *c) {
  view_bundle *newest = view_hub_bundle(s->hub);
  if (newest != NULL && (c->bundle == NULL || newest->generation != c->bundle->generation)) {
    view_bundle_release(c->bundle);
    c->bundle = view_bundle_retain(newest);
    c->bundle_sent = 0;
    c->unseen_count = 0;
    c->skipped = 0;
    c->last_step = -1;
  }
  view_bundle_release(newest);
}

static view_message *next_answer(view_client *c) {
  view_message *message = c->answers[0];
  memmove(c->answers, c->answers + 1, (size_t)--c->answer_count * sizeof *c->answers);
  return message;
}

static view_message *next_frame(view_server *s, view_client *c, double now) {
  view_message *frame = view_hub_frame(s->hub, c->contacts, c->bundle->generation, &c->frame_serial);
  if (frame == NULL) return NULL;
  double step;
  memcpy(&step, frame->bytes + VIEW_HEADER, sizeof step);
  if (c->last_step >= 0 && step > c->last_step + 1) c->skipped += (int64_t)(step - c->last_step) - 1;
  c->last_step = step;
  c->unseen[c->unseen_count++] = step;
  c->frame_at = fmax(c->frame_at + c->interval, now - c->interval); /* the rate holds on average */
  return frame;
}

/* What is sent next, adds a reference; NULL = nothing at the moment. */
static view_message *next_message(view_server *s, view_client *c) {
  double now = ds_clock();
  if (!c->greeted) {
    c->greeted = true;
    return view_message_retain(s->hello);
  }
  if (c->answer_count > 0) return next_answer(c);
  if (s->hub == NULL) return NULL;
  take_bundle(s, c);
  if (c->bundle != NULL && !has_scene(c)) return view_message_retain(c->bundle->messages[c->bundle_sent++]);
  int64_t status = view_hub_status_serial(s->hub);
  if (status >= 0 && (status != c->status_serial || now >= c->status_at + STATUS_EVERY)) {
    c->status_at = now;
    return view_hub_status(s->hub, &c->status_serial, c->skipped, s->client_count);
  }
  return may_get_frame(c, now) ? next_frame(s, c, now) : NULL;
}

/* The socket calls again when a frame may be sent that is too early now. */
static void set_timer(view_client *c) {
  double wait = c->frame_at + c->interval - ds_clock();
  if (has_scene(c) && c->unseen_count < UNSEEN_MAX && wait > 0)
    lws_set_timer_usecs(c->wsi, (lws_usec_t)(1e6 * fmin(wait, 1)) + 100);
}

int view_socket_writable(view_server *s, view_connection *connection, struct lws *wsi) {
  view_client *c = connection->client;
  view_message *message = c != NULL ? next_message(s, c) : NULL;
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

static void seen(view_server *s, view_client *c, double step) {
  for (int32_t i = 0; i < c->unseen_count; i++) {
    if (c->unseen[i] != step) continue;
    c->unseen_count -= i + 1;
    memmove(c->unseen, c->unseen + i + 1, (size_t)c->unseen_count * sizeof *c->unseen);
    break;
  }
  say_wanted(s);
  lws_callback_on_writable(c->wsi);
}

static void want(view_server *s, view_client *c, const view_command *command) {
  c->contacts = (view_contacts)command->what;
  c->interval = 1 / (command->index > 0 ? (double)command->index : RATE_USUAL);
  c->frame_serial = 0;
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
  if (command->type == VIEW_SEEN) {
    seen(s, c, command->value);
  } else if (command->type == VIEW_WANT) {
    want(s, c, command);
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
  size_t most = s->def.mode == VIEW_FILM ? VIEW_PICTURE_MAX : VIEW_COMMAND_MAX, need = c->input_size + size;
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
