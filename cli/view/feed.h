/* What one client is sent, and when: HELLO, answers, SCENE with its geometries, STATUS, and the newest frame, of which
 * three may be under way. So a client that reads slowly, or not at all, gets fewer frames, and costs no more memory
 * than those and its answers. Used by the server for each WebSocket, and by the WebAssembly module for its page. */
#ifndef DS_CLI_VIEW_FEED_H
#define DS_CLI_VIEW_FEED_H

#include "hub.h"

enum { VIEW_UNSEEN_MAX = 3, VIEW_ANSWERS_MAX = 32 };

typedef struct view_feed {
  bool greeted;
  view_bundle *bundle; /* of the scene that it is shown */
  int32_t bundle_sent;
  int64_t frame_serial, status_serial;
  double frame_at, status_at; /* clock, when they were sent or due */
  double interval;            /* s between frames at least */
  view_contacts contacts;
  double unseen[VIEW_UNSEEN_MAX]; /* steps of frames under way */
  int32_t unseen_count;
  double last_step; /* sent */
  int64_t skipped;
  view_message *answers[VIEW_ANSWERS_MAX];
  int32_t answer_count;
} view_feed;

void view_feed_init(view_feed *feed);
void view_feed_free(view_feed *feed);
/* The message becomes the feed's; dropped where the client does not read what it asks for. NULL is allowed. */
void view_feed_answer(view_feed *feed, view_message *message);
/* What is sent next, adds a reference; NULL = nothing at the moment. The hub may be NULL: no live scene. */
view_message *view_feed_next(view_feed *feed, view_hub *hub, view_message *hello, int32_t clients);
/* Whether a frame may be sent at that time. */
bool view_feed_may_get_frame(const view_feed *feed, double now);
/* Seconds until a frame may be sent that is too early now; 0 = there is none. */
double view_feed_wait(const view_feed *feed);
void view_feed_seen(view_feed *feed, double step);                 /* that frame has arrived */
void view_feed_want(view_feed *feed, const view_command *command); /* WANT */

#endif
