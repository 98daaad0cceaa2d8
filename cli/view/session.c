/* A live scene: see session.h.
 *
 * Steps are taken when they are due: at speed s, a step of h every h/s seconds of wall time. If the machine is too
 * slow, lost time is not caught up. A new scene waits at its start until a client can show it; then it does not wait
 * any more. Frames are made only on request. If a scene cannot be opened, the current one is unchanged. */
#include "session.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "hold.h"
#include "probe.h"
#include "verdict.h"

#define LATE 0.1          /* s: a larger delay is not caught up */
#define STATUS_EVERY 0.25 /* s between measurements of the speed */
#define MU_MAX 100.0
#define GRAVITY_MAX 1e4
enum { COMMANDS_MAX = 64 /* between two steps */ };

/* A scene that is open. */
typedef struct world {
  char *source, *text; /* its name, and the scene as JSON */
  ds_scene *scene;
  ds_run_settings run;
  ds_state *state;
  view_geometries geometries;
  view_poses poses;
} world;

struct view_session {
  view_hub *hub;
  const view_opening *opening;
  pthread_t thread;
  bool threaded;
  ds_stepper *stepper;
  world world;
  ds_step_report report; /* of the last step */
  view_hold hold;
  int64_t generation, serial; /* of the scene; of what a frame would show */
  bool paused, watched;       /* watched: a client has seen the start */
  bool missed;                /* a step since the last frame was not certified */
  double speed;
  int32_t steps_left; /* asked for while paused */
  char failed[256];
  double anchor_wall, anchor_time; /* steps are due from here on */
  double status_wall, status_time; /* of the last look */
  double realtime;
};

/* ---- opening ---- */

static void world_free(world *w) {
  free(w->source);
  free(w->text);
  view_geometries_free(&w->geometries);
  view_poses_free(&w->poses);
  ds_state_destroy(w->state);
  ds_scene_destroy(w->scene);
  *w = (world){0};
}

static void show_building(void *user, const char *solid, double share) {
  view_session *s = user;
  char text[128];
  snprintf(text, sizeof text, "%.80s %.0f %%", solid, 100 * fmin(1, share));
  double now = ds_clock();
  if (now - s->status_wall < STATUS_EVERY && share < 1) return;
  s->status_wall = now;
  view_hub_say_building(s->hub, text);
}

/* A scene by its name, or, where `text` is not NULL, a client's text, which becomes a copy. */
static bool world_open(view_session *s, world *w, const char *source, const char *text, size_t length,
                       ds_error *error) {
  const view_opening *how = s->opening;
  bool trusted = text == NULL;
  snprintf(error->message, sizeof error->message, "out of memory");
  *w = (world){.source = strdup(source)};
  if (trusted)
    w->text = how->text(how->user, &length, source, error);
  else if ((w->text = malloc(length + 1)) != NULL)
    memcpy(w->text, text, length + 1);
  if (w->text == NULL || w->source == NULL) return false;
  w->scene = how->read(how->user, &w->run, w->text, length, source, trusted, show_building, s, error);
  if (w->scene == NULL) return false;
  snprintf(error->message, sizeof error->message, "out of memory");
  w->state = ds_state_create(w->scene);
  return w->state != NULL && view_poses_create(&w->poses, ds_scene_body_count(w->scene)) &&
         view_geometries_build(&w->geometries, w->scene);
}

/* ---- publishing ---- */

/* Steps are due from now on. */
static void anchor(view_session *s) {
  s->anchor_wall = ds_clock();
  s->anchor_time = s->world.state != NULL ? ds_state_time(s->world.state) : 0;
}

static void publish_status(view_session *s, bool changed) {
  const world *w = &s->world;
  if (w->scene == NULL) return;
  double *mu = malloc(((size_t)ds_scene_material_count(w->scene) + 1) * sizeof *mu);
  view_state_text text = {.paused = s->paused,
                          .speed = s->speed,
                          .realtime = s->realtime,
                          .time = ds_state_time(w->state),
                          .tolerance = ds_options_tolerance(&w->run.options),
                          .method = w->run.options.method,
                          .gravity = ds_scene_gravity(w->scene),
                          .mu_count = mu != NULL ? ds_scene_material_count(w->scene) : 0,
                          .mu = mu};
  for (int32_t i = 0; i < text.mu_count; i++) mu[i] = ds_scene_material(w->scene, (ds_material_id){i}).mu;
  snprintf(text.failed, sizeof text.failed, "%s", s->failed);
  view_hub_publish_status(s->hub, &text, changed);
  free(mu);
}

static bool publish_scene(view_session *s) {
  const world *w = &s->world;
  view_scene_text text = {.scene = w->scene, .run = &w->run, .source = w->source, .geometry = &w->geometries};
  view_bundle *bundle = view_bundle_create(view_scene_message(&text), &w->geometries, ++s->generation);
  if (bundle == NULL) return false;
  s->serial++;
  view_hub_publish_bundle(s->hub, bundle);
  publish_status(s, true);
  return true;
}

static void publish_frames(view_session *s) {
  world *w = &s->world;
  unsigned wanted = view_hub_wanted(s->hub, s->serial);
  if (wanted == 0 || w->scene == NULL) return;
  if (!s->watched) anchor(s);
  s->watched = true;
  view_poses_read(&w->poses, w->scene, w->state);
  view_snapshot shot = {.scene = w->scene,
                        .poses = w->poses.poses,
                        .velocities = w->poses.velocities,
                        .angular_velocities = w->poses.angular_velocities,
                        .reduced = ds_state_all_reduced(w->state),
                        .report = &s->report,
                        .missed = s->missed,
                        .energy = ds_state_energy(w->scene, w->state),
                        .hand = view_hold_read(&s->hold, w->state)};
  shot.contacts = ds_state_contacts(w->state, &shot.contact_count);
  for (int i = 0; i < VIEW_CONTACTS_END; i++) {
    view_message *frame = (wanted >> i & 1) != 0 ? view_frame_message(&shot, (view_contacts)i) : NULL;
    if (frame != NULL) view_hub_publish_frame(s->hub, frame, (view_contacts)i, s->serial);
  }
  s->missed = false;
}

static void say(view_session *s, uint32_t client, const char *what) {
  view_hub_publish_answer(s->hub, view_text_message(VIEW_ERROR, what), client);
}

/* ---- time ---- */

/* When the next step is due: 0 = now, infinity = not before a command. */
static double next_due(view_session *s) {
  if (s->world.scene == NULL) return INFINITY;
  if (s->steps_left > 0) return 0;
  if (s->paused || !s->watched) return INFINITY;
  if (s->speed == 0) return 0;
  double ahead = ds_state_time(s->world.state) + s->world.run.options.step - s->anchor_time;
  double due = s->anchor_wall + ahead / s->speed, now = ds_clock();
  if (now > due + LATE) anchor(s);
  return due > now ? due : 0;
}

static void begin_anew(view_session *s) {
  s->report = (ds_step_report){.time = ds_state_time(s->world.state)};
  s->report.worst.converged = true;
  s->hold = (view_hold){0};
  s->failed[0] = '\0';
  s->steps_left = 0;
  s->watched = s->missed = false;
  s->status_time = ds_state_time(s->world.state);
}

static void look_at_speed(view_session *s) {
  double now = ds_clock(), wall = now - s->status_wall, time = ds_state_time(s->world.state);
  if (wall < STATUS_EVERY) return;
  s->realtime = fmax(0, time - s->status_time) / wall;
  s->status_wall = now;
  s->status_time = time;
  publish_status(s, false);
}

static void take_step(view_session *s) {
  world *w = &s->world;
  ds_step_report report;
  ds_status status = ds_step(s->stepper, w->state, &report, w->scene, &w->run.options);
  if (status == DS_STOPPED) return; /* for a command that waits */
  if (s->steps_left > 0) s->steps_left--;
  if (status == DS_OK) {
    s->report = report;
    s->missed = s->missed || !report.worst.converged;
    s->serial++;
  } else {
    snprintf(s->failed, sizeof s->failed, "the step after t = %g s failed: %s", ds_state_time(w->state),
             status == DS_ERROR_MEMORY       ? "out of memory"
             : status == DS_ERROR_NOT_FINITE ? "positions or velocities became infinite; try a smaller step"
                                             : "the scene cannot be simulated");
    s->paused = true;
    s->steps_left = 0;
    publish_status(s, true);
  }
}

/* ---- commands ---- */

static bool open_scene(view_session *s, const char *source, const char *text, size_t length, ds_error *error) {
  world next;
  bool good = world_open(s, &next, source, text, length, error);
  view_hub_say_building(s->hub, "");
  if (!good) {
    world_free(&next);
    return false;
  }
  if (s->failed[0] != '\0') s->paused = false;
  world before = s->world;
  s->world = next;
  begin_anew(s);
  good = publish_scene(s);
  if (!good) {
    world_free(&s->world);
    s->world = before;
    if (before.scene != NULL) begin_anew(s);
    snprintf(error->message, sizeof error->message, "out of memory");
  } else {
    world_free(&before);
  }
  return good;
}

static bool reset(view_session *s) {
  ds_state *state = ds_state_create(s->world.scene);
  if (state == NULL) return false;
  ds_state_destroy(s->world.state);
  s->world.state = state;
  if (s->failed[0] != '\0') s->paused = false;
  begin_anew(s);
  return publish_scene(s);
}

static const char *set_gravity(view_session *s, const view_command *c) {
  if (c->index > 2 || fabs(c->value) > GRAVITY_MAX) return "gravity needs an axis from 0 to 2 and at most 10,000 m/s²";
  ds_vec3 g = ds_scene_gravity(s->world.scene);
  *(c->index == 0 ? &g.x : c->index == 1 ? &g.y : &g.z) = c->value;
  ds_error error;
  return ds_scene_change_gravity(s->world.scene, g, &error) == DS_OK ? NULL : "this gravity cannot be used";
}

/* Of one material, or of all of them and of the pairs that have their own. */
static const char *set_mu(view_session *s, const view_command *c) {
  ds_scene *scene = s->world.scene;
  bool all = c->what == VIEW_SET_ALL_MU;
  int32_t count = ds_scene_material_count(scene);
  ds_error error;
  if (!all && c->index >= (uint32_t)count) return "there is no such material";
  if (!(c->value >= 0 && c->value <= MU_MAX)) return "mu is from 0 to 100";
  for (int32_t i = 0; i < count; i++) {
    ds_material_def material = ds_scene_material(scene, (ds_material_id){i});
    if (material.mu > 0) material.mu_along *= c->value / material.mu; /* the same share of it */
    material.mu = c->value;
    if ((all || (uint32_t)i == c->index) &&
        ds_scene_change_material(scene, (ds_material_id){i}, &material, &error) != DS_OK)
      return "this mu cannot be used";
  }
  for (int32_t i = 0; all && i < ds_scene_pair_count(scene); i++)
    if (ds_scene_change_pair(scene, i, c->value, ds_scene_get_pair(scene, i).restitution, &error) != DS_OK)
      return "this mu cannot be used";
  return NULL;
}

/* NULL, or what is wrong. */
static const char *set(view_session *s, const view_command *c) {
  ds_options options = s->world.run.options;
  ds_error error;
  switch (c->what) {
    case VIEW_SET_TOLERANCE:
      options.tolerance = c->value;
      if (ds_options_check(&options, &error) != DS_OK)
        return "the tolerance must be above 0 and at most 1, or 0 = automatic";
      s->world.run.options = options;
      return NULL;
    case VIEW_SET_GRAVITY:
      return set_gravity(s, c);
    case VIEW_SET_MU:
    case VIEW_SET_ALL_MU:
      return set_mu(s, c);
    case VIEW_SET_METHOD:
      for (ds_method i = 0; ds_method_name(i) != NULL; i++) {
        if (c->value != i) continue;
        s->world.run.options.method = i;
        return NULL;
      }
      return "the method must be an index into the scene's \"methods\", from 0";
    default:
      return "unknown setting; expected 1: tolerance, 2: gravity, 3: mu, 4: method, 5: mu of all materials";
  }
}

static void probe(view_session *s, const view_command *c) {
  ds_error error;
  view_message *answer =
      c->what == 1 ? view_spheres_message(s->world.scene, s->world.state, c->body, &error)
                   : view_field_message(s->world.scene, s->world.state, c->body, (int)c->index, c->value, &error);
  if (answer != NULL)
    view_hub_publish_answer(s->hub, answer, c->client);
  else
    say(s, c->client, error.message);
}

static void judge(view_session *s, const view_command *c) {
  ds_error error;
  view_message *answer = view_verdict_message(s->world.scene, s->world.state, c, &error);
  if (answer != NULL)
    view_hub_publish_answer(s->hub, answer, c->client);
  else
    say(s, c->client, error.message);
}

static void play(view_session *s, const view_command *c) {
  s->paused = c->type == VIEW_PAUSE;
  if (c->type == VIEW_PLAY) s->speed = c->value;
  s->steps_left = 0;
  s->realtime = 0;
  s->failed[0] = '\0';
  anchor(s);
}

static void execute(view_session *s, const view_command *c) {
  ds_error error = {{0}};
  const char *wrong = NULL;
  switch (c->type) {
    case VIEW_PLAY:
    case VIEW_PAUSE:
      play(s, c);
      break;
    case VIEW_STEP:
      s->paused = true;
      s->steps_left += (int32_t)c->index;
      if (s->steps_left > 10000) s->steps_left = 10000;
      break;
    case VIEW_RESET:
      if (!reset(s)) wrong = "out of memory";
      break;
    case VIEW_OPEN:
      if (!open_scene(s, c->text, NULL, 0, &error)) wrong = error.message;
      break;
    case VIEW_OPEN_TEXT:
      if (!open_scene(s, c->text, c->scene, c->size, &error)) wrong = error.message;
      break;
    case VIEW_ASK_TEXT:
      view_hub_publish_answer(s->hub, view_text_message(VIEW_SCENE_TEXT, s->world.text), c->client);
      return;
    case VIEW_SET:
      wrong = set(s, c);
      break;
    case VIEW_GRAB:
      if (!view_hold_take(&s->hold, s->world.state, s->world.scene, c, &error)) wrong = error.message;
      s->serial++;
      break;
    case VIEW_MOVE:
      view_hold_move(&s->hold, s->world.state, c);
      return;
    case VIEW_RELEASE:
      view_hold_release(&s->hold, s->world.state, c->client);
      s->serial++;
      return;
    case VIEW_PROBE:
      probe(s, c);
      return;
    case VIEW_STAND:
      judge(s, c);
      return;
    default:
      return;
  }
  if (wrong != NULL) say(s, c->client, wrong);
  publish_status(s, true);
}

double view_session_due(view_session *s) { return next_due(s); }

bool view_session_open(view_session *s) {
  ds_error error = {{0}};
  bool good = open_scene(s, s->opening->first, NULL, 0, &error);
  if (!good) view_hub_fail(s->hub, &error);
  return good;
}

void view_session_turn(view_session *s, bool wait) {
  view_command command;
  for (int i = 0; i < COMMANDS_MAX && view_hub_receive(s->hub, &command, wait ? next_due(s) : 0, s->serial); i++) {
    execute(s, &command);
    view_command_free(&command);
  }
  publish_frames(s);
  look_at_speed(s);
  if (next_due(s) == 0) take_step(s);
}

static void *run(void *user) {
  view_session *s = user;
  if (!view_session_open(s)) return NULL;
  while (!view_hub_stopped(s->hub)) view_session_turn(s, true);
  return NULL;
}

static void stop_step(void *stepper) { ds_stepper_stop(stepper); }

view_session *view_session_create(view_hub *hub, const view_opening *opening) {
  view_session *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  *s = (view_session){.hub = hub, .opening = opening, .speed = 1};
  s->stepper = ds_stepper_create(opening->threads);
  if (s->stepper != NULL) {
    view_hub_on_urgent(hub, stop_step, s->stepper);
    return s;
  }
  free(s);
  return NULL;
}

bool view_session_start(view_session *s) { return s->threaded = pthread_create(&s->thread, NULL, run, s) == 0; }

void view_session_destroy(view_session *s) {
  if (s == NULL) return;
  view_hub_stop(s->hub);
  if (s->threaded) pthread_join(s->thread, NULL);
  view_hub_on_urgent(s->hub, NULL, NULL);
  world_free(&s->world);
  ds_stepper_destroy(s->stepper);
  free(s);
}
