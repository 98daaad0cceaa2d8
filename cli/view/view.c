/* `drystone view`: a scene live, or a recording, in the browser. docs/viewer.md. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../args.h"
#include "../command.h"
#include "base/thread.h"
#include "drystone/drystone.h"
#include "export.h"
#include "interrupt.h"
#include "io/reduced_file.h"
#include "opening.h"
#include "page.h"
#include "server.h"

#define OPEN_AFTER 1.0 /* s: the browser is opened when the scene is there, or then */

typedef struct viewing {
  view_start start;
  const char *bind, *export_folder;
  const char *second; /* a recording beside the other; NULL: none */
  int32_t port;
  bool no_open, embed, recording;
} viewing;

static int complain(const char *message) {
  fprintf(stderr, "drystone view: %s\n", message);
  return EXIT_INPUT;
}

static bool check_viewing(viewing *v) {
  view_start *s = &v->start;
  v->recording = source_is_recording(s->source) && !ds_reduced_file_is(s->source);
  if (v->recording &&
      (s->settings.count > 0 || s->has_step || s->has_tolerance || s->has_step_budget || s->has_method ||
       s->has_integrator || s->has_restitution_law || s->has_impacts || s->has_face_pressure || s->has_metric)) {
    complain("a recording is shown as it is; --set and options of the simulation are for scenes");
    return false;
  }
  if (!v->recording && v->export_folder != NULL) {
    complain("--export takes a recording; make one with 'drystone run SCENE -o RECORD.h5'");
    return false;
  }
  if (v->second != NULL && (!v->recording || !source_is_recording(v->second) || ds_reduced_file_is(v->second))) {
    complain("two can be shown side by side if both are recordings");
    return false;
  }
  if (v->second != NULL && v->export_folder != NULL) {
    complain("--export takes one recording");
    return false;
  }
  return true;
}

static bool parse(viewing *v, const char **words, int argc, char **argv) {
  view_start *s = &v->start;
  ds_method_list methods = ds_method_choices(), laws = ds_restitution_choices();
  const arg_option table[] = {
      {"--port", NULL, ARG_INTEGER, &v->port, 0, 65535, NULL, NULL},
      {"--bind", NULL, ARG_TEXT, &v->bind, 0, 0, NULL, NULL},
      {"--no-open", NULL, ARG_FLAG, &v->no_open, 0, 0, NULL, NULL},
      {"--embed", NULL, ARG_FLAG, &v->embed, 0, 0, NULL, NULL},
      {"--export", NULL, ARG_TEXT, &v->export_folder, 0, 0, NULL, NULL},
      {"--set", NULL, ARG_LIST, &s->settings, 0, 0, NULL, NULL},
      {"--step", NULL, ARG_REAL, &s->step, 1e-9, 10, NULL, &s->has_step},
      {"--tol", NULL, ARG_REAL, &s->tolerance, 1e-16, 1, NULL, &s->has_tolerance},
      {"--step-budget", NULL, ARG_REAL, &s->step_budget, 0, 1e9, NULL, &s->has_step_budget},
      {"--method", NULL, ARG_CHOICE, &s->method, 0, 0, methods.text, &s->has_method},
      {"--integrator", NULL, ARG_CHOICE, &s->integrator, 0, 0, INTEGRATOR_CHOICES, &s->has_integrator},
      {"--restitution-law", NULL, ARG_CHOICE, &s->restitution_law, 0, 0, laws.text, &s->has_restitution_law},
      {"--impacts", NULL, ARG_CHOICE, &s->impacts, 0, 0, IMPACTS_CHOICES, &s->has_impacts},
      {"--face-pressure", NULL, ARG_CHOICE, &s->face_pressure, 0, 0, PRESSURE_CHOICES, &s->has_face_pressure},
      {"--metric", NULL, ARG_CHOICE, &s->metric, 0, 0, METRIC_CHOICES, &s->has_metric},
      {"--threads", "-j", ARG_INTEGER, &s->reading.threads, 0, 256, NULL, NULL},
      READING_OPTIONS(&s->reading),
  };
  arg_list list = {words, 0};
  s->settings.items = words + argc;
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1 && list.count != 2) {
    complain(list.count == 0 ? "give a scene, a generator or a recording; 'drystone scenes' lists the generators"
                             : "give one scene, or one or two recordings");
    return false;
  }
  s->source = words[0];
  v->second = list.count == 2 ? words[1] : NULL;
  if (!check_viewing(v)) return false;
  if (s->has_method) source_set_method(&s->settings, &s->method_setting, s->method);
  return true;
}

static bool check_recording(const char *path, ds_error *error) {
  view_stream *stream = view_stream_open(path, VIEW_RECORDING, NULL, error);
  view_stream_close(stream);
  return stream != NULL;
}

/* Errors that can be found before the first client connects. */
static bool check_source(const viewing *v, ds_error *error) {
  size_t length;
  if (v->recording)
    return check_recording(v->start.source, error) && (v->second == NULL || check_recording(v->second, error));
  char *text = source_text(&length, v->start.source, &v->start.settings, error);
  free(text);
  return text != NULL;
}

/* ---- browser ---- */

/* Two forks, so that no process waits for the browser. */
static void open_browser(const char *url) {
  if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) return;
  pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);
    setsid();
    if (freopen("/dev/null", "r", stdin) == NULL || freopen("/dev/null", "w", stdout) == NULL ||
        freopen("/dev/null", "w", stderr) == NULL)
      _exit(127);
    execlp("xdg-open", "xdg-open", url, (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

static void announce(const viewing *v, const view_server *server, char *url, size_t size) {
  const view_access *access = view_server_access(server);
  view_access_url(url, size, access, true);
  if (v->second != NULL) view_access_pair(url, size, access);
  printf("%s\n", url);
  fflush(stdout);
  if (!view_page_is_built)
    fprintf(stderr, "drystone view: the page is not in this program; build it with npm there, see docs/viewer.md\n");
  if (strncmp(access->address, "127.", 4) != 0 && strcmp(access->address, "::1") != 0)
    fprintf(stderr,
            "drystone view: others can reach this address, by a name of this machine in the URL; the connection is not "
            "encrypted, and whoever has the URL can drive the scene\n");
  if (isatty(STDERR_FILENO) == 1) fprintf(stderr, "showing %s; Ctrl-C ends\n", v->start.source);
}

/* Serves until a signal arrives or something fails. */
static int serve(const viewing *v, view_server *server, view_hub *hub) {
  char url[2 * VIEW_TOKEN_MAX + 256];
  ds_error error;
  double started = ds_clock();
  bool opened = v->no_open;
  announce(v, server, url, sizeof url);
  while (interrupt_caught() == 0) {
    if (!view_server_serve(server)) return complain("the server cannot go on");
    if (hub != NULL && view_hub_failed(hub, &error)) return complain(error.message);
    if (opened) continue;
    view_bundle *scene = hub != NULL ? view_hub_bundle(hub) : NULL;
    opened = hub == NULL || scene != NULL || ds_clock() > started + OPEN_AFTER;
    view_bundle_release(scene);
    if (opened) open_browser(url);
  }
  return interrupt_caught() == SIGINT ? EXIT_OK : 128 + interrupt_caught();
}

static int view(const viewing *v) {
  ds_error error = {{0}};
  if (!check_source(v, &error)) return complain(error.message);
  view_server_def def = {.mode = v->recording ? VIEW_RECORDING : VIEW_LIVE,
                         .bind = v->bind,
                         .port = v->port,
                         .embed = v->embed,
                         .recording = v->recording ? v->start.source : NULL,
                         .second = v->second};
  view_server *server = view_server_create(&def, &error);
  if (server == NULL) return complain(error.message);
  view_hub *hub = v->recording ? NULL : view_hub_create(view_server_wake, server);
  view_server_set_hub(server, hub);
  view_opening opening = view_opening_of(&v->start);
  view_session *session = hub != NULL ? view_session_create(hub, &opening) : NULL;
  bool ready = v->recording || (session != NULL && view_session_start(session));
  int status = ready ? serve(v, server, hub) : complain("out of memory, or no more threads");
  if (hub != NULL && view_hub_is_building(hub))
    fprintf(stderr, "drystone view: ends when what is being built is done; Ctrl-C again ends at once\n");
  view_session_destroy(session);
  view_server_destroy(server);
  view_hub_destroy(hub);
  return status;
}

int command_view(int argc, char **argv) {
  viewing v = {0};
  int status = EXIT_INPUT;
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (words == NULL) return complain("out of memory");
  if (parse(&v, words, argc, argv)) {
    ds_error error = {{0}};
    interrupt_catch();
    if (v.export_folder == NULL)
      status = view(&v);
    else if (view_export(v.start.source, v.export_folder, &error))
      status = EXIT_OK;
    else
      complain(error.message);
  }
  free(words);
  return status;
}
