/* What one client is sent: see feed.h. */
#include "feed.h"

#include <math.h>
#include <string.h>

#include "base/thread.h"

#define STATUS_EVERY 1.0
#define RATE_USUAL 60.0

void view_feed_init(view_feed *f) {
  *f = (view_feed){.interval = 1 / RATE_USUAL, .contacts = VIEW_CONTACTS_USUAL, .status_serial = -1, .last_step = -1};
}

void view_feed_free(view_feed *f) {
  for (int32_t i = 0; i < f->answer_count; i++) view_message_release(f->answers[i]);
  view_bundle_release(f->bundle);
  view_feed_init(f);
}

void view_feed_answer(view_feed *f, view_message *message) {
  if (message == NULL) return;
  if (f->answer_count == VIEW_ANSWERS_MAX) /* it does not read what it asks for */
    view_message_release(message);
  else
    f->answers[f->answer_count++] = message;
}

static bool has_scene(const view_feed *f) { return f->bundle != NULL && f->bundle_sent == f->bundle->count; }

bool view_feed_may_get_frame(const view_feed *f, double now) {
  return has_scene(f) && f->unseen_count < VIEW_UNSEEN_MAX && now >= f->frame_at + f->interval;
}

/* Changes to the scene that is open now, if it is another one. */
static void take_bundle(view_feed *f, view_hub *hub) {
  view_bundle *newest = view_hub_bundle(hub);
  if (newest != NULL && (f->bundle == NULL || newest->generation != f->bundle->generation)) {
    view_bundle_release(f->bundle);
    f->bundle = view_bundle_retain(newest);
    f->bundle_sent = 0;
    f->unseen_count = 0;
    f->skipped = 0;
    f->last_step = -1;
  }
  view_bundle_release(newest);
}

static view_message *next_answer(view_feed *f) {
  view_message *message = f->answers[0];
  memmove(f->answers, f->answers + 1, (size_t)--f->answer_count * sizeof *f->answers);
  return message;
}

static view_message *next_frame(view_feed *f, view_hub *hub, double now) {
  view_message *frame = view_hub_frame(hub, f->contacts, f->bundle->generation, &f->frame_serial);
  if (frame == NULL) return NULL;
  double step;
  memcpy(&step, frame->bytes + VIEW_HEADER, sizeof step);
  if (f->last_step >= 0 && step > f->last_step + 1) f->skipped += (int64_t)(step - f->last_step) - 1;
  f->last_step = step;
  f->unseen[f->unseen_count++] = step;
  f->frame_at = fmax(f->frame_at + f->interval, now - f->interval); /* the rate holds on average */
  return frame;
}

view_message *view_feed_next(view_feed *f, view_hub *hub, view_message *hello, int32_t clients) {
  double now = ds_clock();
  if (!f->greeted) {
    f->greeted = true;
    return view_message_retain(hello);
  }
  if (f->answer_count > 0) return next_answer(f);
  if (hub == NULL) return NULL;
  take_bundle(f, hub);
  if (f->bundle != NULL && !has_scene(f)) return view_message_retain(f->bundle->messages[f->bundle_sent++]);
  int64_t status = view_hub_status_serial(hub);
  if (status >= 0 && (status != f->status_serial || now >= f->status_at + STATUS_EVERY)) {
    f->status_at = now;
    return view_hub_status(hub, &f->status_serial, f->skipped, clients);
  }
  return view_feed_may_get_frame(f, now) ? next_frame(f, hub, now) : NULL;
}

double view_feed_wait(const view_feed *f) {
  double wait = f->frame_at + f->interval - ds_clock();
  return has_scene(f) && f->unseen_count < VIEW_UNSEEN_MAX && wait > 0 ? wait : 0;
}

void view_feed_seen(view_feed *f, double step) {
  for (int32_t i = 0; i < f->unseen_count; i++) {
    if (f->unseen[i] != step) continue;
    f->unseen_count -= i + 1;
    memmove(f->unseen, f->unseen + i + 1, (size_t)f->unseen_count * sizeof *f->unseen);
    break;
  }
}

void view_feed_want(view_feed *f, const view_command *command) {
  f->contacts = (view_contacts)command->what;
  f->interval = 1 / (command->index > 0 ? (double)command->index : RATE_USUAL);
  f->frame_serial = 0;
}
