/* The live scene of `drystone view` without a server: a worker of the page passes the same messages in and out
 * (docs/protocol.md). There is one client, and one thread: the worker calls drystone_page_turn when it is due. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "module.h"
#include "view/feed.h"
#include "view/session.h"

static struct {
  view_opening opening;
  view_hub *hub;
  view_session *session;
  view_message *hello;
  view_feed feed;
} page;

static void wake(void *user) { (void)user; }

static char *generate(void *user, size_t *length, const char *source, ds_error *error) {
  (void)user;
  char *text = ds_generate(source, error);
  if (text != NULL) *length = strlen(text);
  return text;
}

/* There are no files, so that a scene that names one is refused wherever it comes from. */
static ds_scene *read_scene(void *user, ds_run_settings *run, const char *text, size_t length, const char *source,
                            bool trusted, ds_scene_progress *progress, void *progress_user, ds_error *error) {
  (void)user, (void)trusted;
  ds_scene_read_options options = ds_default_scene_read();
  options.no_files = true;
  options.threads = 1;
  options.progress = progress;
  options.user = progress_user;
  return ds_scene_read_text_with(text, length, source, &options, run, error);
}

/* Opens a generator with parameters. False: memory ran out. If it is the scene that cannot be opened, an ERROR follows,
 * and the page may open another. */
EXPORT(drystone_page_open) bool drystone_page_open(char *source) {
  page.opening = (view_opening){.first = source, .threads = 1, .text = generate, .read = read_scene};
  page.hub = view_hub_create(wake, NULL);
  page.hello = view_hello_message(VIEW_LIVE, NULL);
  page.session = page.hub != NULL ? view_session_create(page.hub, &page.opening) : NULL;
  if (page.session == NULL || page.hello == NULL) return false;
  view_feed_init(&page.feed);
  ds_error error;
  if (!view_session_open(page.session) && view_hub_failed(page.hub, &error))
    view_feed_answer(&page.feed, view_text_message(VIEW_ERROR, error.message));
  return true;
}

/* A message of the page. What cannot be used is answered by an ERROR. */
EXPORT(drystone_page_receive) void drystone_page_receive(const unsigned char *bytes, size_t size) {
  view_command command;
  ds_error why = {{0}};
  if (view_command_decode(&command, bytes, size, false, &why) != VIEW_DECODED)
    view_feed_answer(&page.feed, view_text_message(VIEW_ERROR, why.message));
  else if (command.type == VIEW_SEEN)
    view_feed_seen(&page.feed, command.value);
  else if (command.type == VIEW_WANT)
    view_feed_want(&page.feed, &command);
  else if (!view_hub_send(page.hub, &command))
    view_feed_answer(&page.feed, view_text_message(VIEW_ERROR, "the simulation is busy; try again"));
}

/* One turn of the session. Seconds until the next one is due: 0 = now, infinity = not before a message. */
EXPORT(drystone_page_turn) double drystone_page_turn(void) {
  view_hub_want(page.hub, view_feed_may_get_frame(&page.feed, ds_clock()) ? 1u << page.feed.contacts : 0);
  view_session_turn(page.session, false);
  uint32_t client;
  for (view_message *answer; (answer = view_hub_answer(page.hub, &client)) != NULL;)
    view_feed_answer(&page.feed, answer);
  double due = view_session_due(page.session), wait = view_feed_wait(&page.feed);
  double step = isinf(due) ? due : fmax(0, due - ds_clock());
  return wait > 0 ? fmin(step, wait) : step;
}

/* The next message for the page, or 0; released after use. */
EXPORT(drystone_page_next) view_message *drystone_page_next(void) {
  return view_feed_next(&page.feed, page.hub, page.hello, 1);
}
EXPORT(drystone_page_bytes) const unsigned char *drystone_page_bytes(const view_message *m) { return m->bytes; }
EXPORT(drystone_page_size) size_t drystone_page_size(const view_message *m) { return m->size; }
EXPORT(drystone_page_release) void drystone_page_release(view_message *m) { view_message_release(m); }
