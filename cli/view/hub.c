/* What the simulation and the server share: see hub.h. One lock, held for the time of a few copies. */
#include "hub.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"

enum { QUEUE = 512, ANSWERS = 64 };

typedef struct answer {
  view_message *message;
  uint32_t client;
} answer;

struct view_hub {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* for the session */
  void (*wake)(void *user);
  void *user;
  void (*urgent)(void *user); /* for the session */
  void *urgent_user;
  view_command queue[QUEUE];
  int32_t queue_first, queue_count;
  answer answers[ANSWERS];
  int32_t answer_first, answer_count;
  view_bundle *bundle;
  view_message *frames[VIEW_CONTACTS_END];
  int64_t serials[VIEW_CONTACTS_END];
  unsigned wanted;
  view_state_text status;
  int64_t status_serial;
  bool stopped, failed;
  ds_error error;
};

/* ---- bundles ---- */

view_bundle *view_bundle_create(view_message *scene, const view_geometries *geometries, int64_t generation) {
  size_t count = 1 + (size_t)geometries->count;
  view_bundle *bundle = scene != NULL ? malloc(sizeof *bundle + count * sizeof *bundle->messages) : NULL;
  if (bundle == NULL) {
    view_message_release(scene);
    return NULL;
  }
  atomic_init(&bundle->owners, 1);
  bundle->generation = generation;
  bundle->count = (int32_t)count;
  bundle->messages[0] = scene;
  for (int32_t i = 0; i < geometries->count; i++)
    bundle->messages[i + 1] = view_message_retain(geometries->messages[i]);
  return bundle;
}

view_bundle *view_bundle_retain(view_bundle *bundle) {
  if (bundle != NULL) atomic_fetch_add(&bundle->owners, 1);
  return bundle;
}

void view_bundle_release(view_bundle *bundle) {
  if (bundle == NULL || atomic_fetch_sub(&bundle->owners, 1) != 1) return;
  for (int32_t i = 0; i < bundle->count; i++) view_message_release(bundle->messages[i]);
  free(bundle);
}

/* ---- the hub ---- */

view_hub *view_hub_create(void (*wake)(void *user), void *user) {
  view_hub *hub = calloc(1, sizeof *hub);
  if (hub == NULL) return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* that of ds_clock */
  pthread_mutex_init(&hub->lock, NULL);
  pthread_cond_init(&hub->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  hub->wake = wake;
  hub->user = user;
  return hub;
}

static void drop_frames(view_hub *hub) {
  for (int i = 0; i < VIEW_CONTACTS_END; i++) {
    view_message_release(hub->frames[i]);
    hub->frames[i] = NULL;
  }
}

void view_hub_destroy(view_hub *hub) {
  if (hub == NULL) return;
  for (int32_t i = 0; i < hub->queue_count; i++) view_command_free(&hub->queue[(hub->queue_first + i) % QUEUE]);
  for (int32_t i = 0; i < hub->answer_count; i++)
    view_message_release(hub->answers[(hub->answer_first + i) % ANSWERS].message);
  drop_frames(hub);
  view_bundle_release(hub->bundle);
  free(hub->status.mu);
  pthread_cond_destroy(&hub->changed);
  pthread_mutex_destroy(&hub->lock);
  free(hub);
}

static void enter(view_hub *hub) { pthread_mutex_lock(&hub->lock); }
static void leave(view_hub *hub) { pthread_mutex_unlock(&hub->lock); }

static void leave_and_wake(view_hub *hub) {
  leave(hub);
  hub->wake(hub->user);
}

/* ---- the server's side ---- */

/* The command in the queue whose place a newer one takes: the last MOVE where it is the last of all, a PROBE or
 * STAND anywhere.
 */
static view_command *find_older(view_hub *hub, const view_command *command) {
  bool question = command->type == VIEW_PROBE || command->type == VIEW_STAND;
  if (command->type != VIEW_MOVE && command->type != VIEW_RELEASE && !question) return NULL;
  for (int32_t i = hub->queue_count - 1; i >= 0; i--) {
    view_command *c = &hub->queue[(hub->queue_first + i) % QUEUE];
    if (c->type == command->type && c->client == command->client && c->what == command->what) return c;
    if (!question) return NULL;
  }
  return NULL;
}

void view_hub_on_urgent(view_hub *hub, void (*urgent)(void *user), void *user) {
  enter(hub);
  hub->urgent = urgent;
  hub->urgent_user = user;
  leave(hub);
}

/* Commands that interrupt a long step. Moves arrive sixty times per second and would let no step finish. */
static bool is_urgent(const view_command *command) {
  return command->type == VIEW_PAUSE || command->type == VIEW_RESET || command->type == VIEW_OPEN ||
         command->type == VIEW_OPEN_TEXT;
}

bool view_hub_send(view_hub *hub, view_command *command) {
  enter(hub);
  if (is_urgent(command) && hub->urgent != NULL) hub->urgent(hub->urgent_user);
  view_command *older = find_older(hub, command);
  int32_t most = command->type == VIEW_RELEASE ? QUEUE : QUEUE / 2; /* who goes can always let go */
  bool room = older != NULL || hub->queue_count < most;
  if (older != NULL)
    *older = *command;
  else if (room)
    hub->queue[(hub->queue_first + hub->queue_count++) % QUEUE] = *command;
  else
    view_command_free(command);
  pthread_cond_signal(&hub->changed);
  leave(hub);
  return room;
}

void view_hub_stop(view_hub *hub) {
  enter(hub);
  hub->stopped = true;
  if (hub->urgent != NULL) hub->urgent(hub->urgent_user);
  pthread_cond_signal(&hub->changed);
  leave(hub);
}

void view_hub_want(view_hub *hub, unsigned contacts) {
  enter(hub);
  bool more = (contacts & ~hub->wanted) != 0;
  hub->wanted = contacts;
  if (more) pthread_cond_signal(&hub->changed);
  leave(hub);
}

view_bundle *view_hub_bundle(view_hub *hub) {
  enter(hub);
  view_bundle *bundle = view_bundle_retain(hub->bundle);
  leave(hub);
  return bundle;
}

view_message *view_hub_frame(view_hub *hub, view_contacts contacts, int64_t generation, int64_t *serial) {
  view_message *frame = NULL;
  enter(hub);
  if (hub->bundle != NULL && hub->bundle->generation == generation && hub->serials[contacts] > *serial &&
      hub->frames[contacts] != NULL) {
    frame = view_message_retain(hub->frames[contacts]);
    *serial = hub->serials[contacts];
  }
  leave(hub);
  return frame;
}

view_message *view_hub_status(view_hub *hub, int64_t *serial, int64_t skipped, int32_t clients) {
  enter(hub);
  view_message *message = view_status_message(&hub->status, skipped, clients);
  *serial = hub->status_serial;
  leave(hub);
  return message;
}

int64_t view_hub_status_serial(view_hub *hub) {
  enter(hub);
  bool nothing = hub->bundle == NULL && hub->status.building[0] == '\0';
  int64_t serial = nothing ? -1 : hub->status_serial;
  leave(hub);
  return serial;
}

view_message *view_hub_answer(view_hub *hub, uint32_t *client) {
  view_message *message = NULL;
  enter(hub);
  if (hub->answer_count > 0) {
    message = hub->answers[hub->answer_first].message;
    *client = hub->answers[hub->answer_first].client;
    hub->answer_first = (hub->answer_first + 1) % ANSWERS;
    hub->answer_count--;
  }
  leave(hub);
  return message;
}

bool view_hub_is_building(view_hub *hub) {
  enter(hub);
  bool building = hub->status.building[0] != '\0';
  leave(hub);
  return building;
}

bool view_hub_failed(view_hub *hub, ds_error *error) {
  enter(hub);
  bool failed = hub->failed;
  if (failed) *error = hub->error;
  leave(hub);
  return failed;
}

/* ---- the session's side ---- */

/* Kinds that are waited for and older than serial. */
static unsigned stale(const view_hub *hub, int64_t serial) {
  unsigned kinds = 0;
  for (int i = 0; i < VIEW_CONTACTS_END; i++)
    if ((hub->wanted >> i & 1) != 0 && (hub->serials[i] < serial || hub->frames[i] == NULL)) kinds |= 1u << i;
  return kinds;
}

bool view_hub_receive(view_hub *hub, view_command *command, double until, int64_t serial) {
  enter(hub);
  while (until > 0 && !hub->stopped && hub->queue_count == 0 && stale(hub, serial) == 0) {
    struct timespec at = {.tv_sec = (time_t)floor(until), .tv_nsec = (long)(1e9 * (until - floor(until)))};
    if (isinf(until))
      pthread_cond_wait(&hub->changed, &hub->lock);
    else if (pthread_cond_timedwait(&hub->changed, &hub->lock, &at) == ETIMEDOUT)
      break;
  }
  bool found = hub->queue_count > 0 && !hub->stopped;
  if (found) {
    *command = hub->queue[hub->queue_first];
    hub->queue_first = (hub->queue_first + 1) % QUEUE;
    hub->queue_count--;
  }
  leave(hub);
  return found;
}

bool view_hub_stopped(view_hub *hub) {
  enter(hub);
  bool stopped = hub->stopped;
  leave(hub);
  return stopped;
}

unsigned view_hub_wanted(view_hub *hub, int64_t serial) {
  enter(hub);
  unsigned wanted = hub->bundle != NULL ? stale(hub, serial) : 0;
  leave(hub);
  return wanted;
}

void view_hub_publish_bundle(view_hub *hub, view_bundle *bundle) {
  enter(hub);
  drop_frames(hub);
  view_bundle *before = hub->bundle;
  hub->bundle = bundle;
  leave_and_wake(hub);
  view_bundle_release(before);
}

void view_hub_publish_frame(view_hub *hub, view_message *frame, view_contacts contacts, int64_t serial) {
  enter(hub);
  view_message *before = hub->frames[contacts];
  hub->frames[contacts] = frame;
  hub->serials[contacts] = serial;
  hub->wanted &= ~(1u << contacts); /* requested again by clients that need another */
  leave_and_wake(hub);
  view_message_release(before);
}

void view_hub_publish_status(view_hub *hub, const view_state_text *status, bool changed) {
  enter(hub);
  double *mu = realloc(hub->status.mu, ((size_t)status->mu_count + 1) * sizeof *mu);
  int32_t mu_count = mu != NULL ? status->mu_count : 0;
  if (mu != NULL)
    memcpy(mu, status->mu, (size_t)mu_count * sizeof *mu);
  else
    mu = hub->status.mu;
  hub->status = *status;
  hub->status.mu = mu;
  hub->status.mu_count = mu_count;
  if (changed) hub->status_serial++;
  leave(hub);
  if (changed) hub->wake(hub->user);
}

void view_hub_say_building(view_hub *hub, const char *text) {
  enter(hub);
  snprintf(hub->status.building, sizeof hub->status.building, "%s", text);
  hub->status_serial++;
  leave_and_wake(hub);
}

void view_hub_publish_answer(view_hub *hub, view_message *message, uint32_t client) {
  if (message == NULL) return;
  enter(hub);
  bool room = hub->answer_count < ANSWERS;
  if (room) hub->answers[(hub->answer_first + hub->answer_count++) % ANSWERS] = (answer){message, client};
  leave_and_wake(hub);
  if (!room) view_message_release(message);
}

void view_hub_fail(view_hub *hub, const ds_error *error) {
  enter(hub);
  hub->failed = true;
  hub->error = *error;
  leave_and_wake(hub);
}
