/* `drystone film`: a recording as a film, drawn by the page of `drystone view` in a Chromium without a window.
 *
 * The server is the same as for a recording; the page sends the images one by one, each after the previous one was
 * taken. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../args.h"
#include "../command.h"
#include "../image.h"
#include "../progress.h"
#include "../source.h"
#include "base/thread.h"
#include "browser.h"
#include "interrupt.h"
#include "page.h"
#include "record/record.h"
#include "reel.h"
#include "server.h"

#define PATIENCE 60.0 /* s without a picture */

typedef struct filming {
  const char *source, *output, *size, *view, *look, *follow;
  view_film film;
  bool quiet;
  reel *reel;
  uint32_t next, count; /* images taken, and their total number */
  double last;          /* clock, of the last picture */
  progress line;
  ds_error error; /* of an image that could not be written */
} filming;

static int complain(const char *message) {
  fprintf(stderr, "drystone film: %s\n", message);
  return EXIT_INPUT;
}

/* ---- arguments ---- */

static bool check_show(const char *show) {
  static const char *const known[] = {"contacts", "forces",  "normal",  "friction",
                                      "cones",    "islands", "creases", "joints"};
  const int32_t count = (int32_t)(sizeof known / sizeof *known);
  while (*show != '\0') {
    size_t length = strcspn(show, ",");
    char word[64];
    bool found = false;
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), show);
    for (int32_t i = 0; i < count; i++) found = found || strcmp(word, known[i]) == 0;
    if (!found) {
      const char *nearest = args_nearest(word, known, count);
      fprintf(stderr, "drystone film: --show: '%s' is unknown; %s%s%s\n", word, nearest != NULL ? "did you mean " : "",
              nearest != NULL ? nearest : "give some of contacts,forces,normal,friction,cones,islands,creases,joints",
              nearest != NULL ? "?" : "");
      return false;
    }
    show += length + (show[length] == ',');
  }
  return true;
}

static bool check_filming(filming *f) {
  ds_error error;
  if (ds_image_parse_size(&f->film.width, &f->film.height, f->size, &error) != DS_OK) {
    fprintf(stderr, "drystone film: --size: %s\n", error.message);
    return false;
  }
  const char *wrong = NULL;
  if (f->film.width < 16 || f->film.height < 16 || f->film.width > 7680 || f->film.height > 4320)
    wrong = "--size is from 16x16 to 7680x4320";
  if (f->view != NULL &&
      (!args_reals(f->film.view, 2, f->view, 360) || !(f->film.view[1] <= 89.4 && f->film.view[1] >= -89.4)))
    wrong = "--view: give AZIMUTH,ELEVATION in degrees, such as -60,20, with an elevation within 89.4";
  if (f->look != NULL && !args_reals(f->film.look, 3, f->look, 1e6))
    wrong = "--look: give X,Y,Z in metres, such as 0,0,0.5";
  if (f->look != NULL && f->follow != NULL) wrong = "--look and --follow exclude each other";
  if (!(f->film.from <= f->film.to)) wrong = "--from is later than --to";
  if (f->output == NULL) wrong = "give the output: -o out.mp4, out.gif, or a folder for images, -o DIR/";
  if (wrong == NULL && source_same_file(f->source, f->output)) wrong = "the recording would be overwritten by its film";
  if (wrong == NULL && !source_is_recording(f->source))
    wrong = "give a recording; make one with 'drystone run SCENE -o RECORD.h5'";
  if (wrong == NULL && !view_page_is_built)
    wrong = "this program was built without the page, which renders films; build it with npm, see docs/viewer.md";
  if (wrong != NULL) complain(wrong);
  return wrong == NULL && check_show(f->film.show);
}

static bool parse(filming *f, const char **words, int argc, char **argv) {
  const arg_option table[] = {
      {"--output", "-o", ARG_TEXT, &f->output, 0, 0, NULL, NULL},
      {"--size", NULL, ARG_TEXT, &f->size, 0, 0, NULL, NULL},
      {"--rate", NULL, ARG_REAL, &f->film.rate, 1, 240, NULL, NULL},
      {"--speed", NULL, ARG_REAL, &f->film.speed, 1e-4, 1e4, NULL, NULL},
      {"--show", NULL, ARG_TEXT, &f->film.show, 0, 0, NULL, NULL},
      {"--from", NULL, ARG_REAL, &f->film.from, -1e9, 1e9, NULL, NULL},
      {"--to", NULL, ARG_REAL, &f->film.to, -1e9, 1e9, NULL, NULL},
      {"--view", NULL, ARG_TEXT, &f->view, 0, 0, NULL, &f->film.has_view},
      {"--look", NULL, ARG_TEXT, &f->look, 0, 0, NULL, &f->film.has_look},
      {"--zoom", NULL, ARG_REAL, &f->film.zoom, 0.01, 100, NULL, NULL},
      {"--follow", NULL, ARG_TEXT, &f->follow, 0, 0, NULL, NULL},
      {"--dark", NULL, ARG_FLAG, &f->film.dark, 0, 0, NULL, NULL},
      {"--quiet", "-q", ARG_FLAG, &f->quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1) {
    complain("give one recording; make one with 'drystone run SCENE -o RECORD.h5'");
    return false;
  }
  f->source = words[0];
  return check_filming(f);
}

/* ---- filming ---- */

static bool take_picture(void *user, const view_command *command) {
  filming *f = user;
  if (command->index != f->next || (f->next > 0 && command->what != f->count)) {
    snprintf(f->error.message, sizeof f->error.message, "the page sent frame %u instead of %u", command->index,
             f->next);
    return false;
  }
  if (!reel_add(f->reel, command->at, command->size, &f->error)) return false;
  f->count = command->what;
  f->next++;
  f->last = ds_clock();
  char text[64];
  snprintf(text, sizeof text, "%u of %u", f->next, f->count);
  progress_build(&f->line, "picture", text, (double)f->next / f->count);
  return true;
}

/* NULL when the film is complete, or what went wrong. */
static const char *shoot(filming *f, view_server *server, browser *chromium) {
  int status;
  f->last = ds_clock();
  while (interrupt_caught() == 0) {
    bool good = view_server_serve(server);
    if (f->count > 0 && f->next == f->count) return NULL;
    if (!good) return f->error.message[0] != '\0' ? f->error.message : "the server failed";
    if (process_ended(chromium->process, &status)) {
      chromium->process = 0;
      return "Chromium ended before the film was complete; does it run on this machine?";
    }
    if (ds_clock() > f->last + PATIENCE)
      return f->next == 0 ? "the page has sent no frame for 60 s; does WebGL in software work in Chromium here?"
                          : "the page has sent no frame for 60 s; a smaller --size may help";
  }
  return "interrupted; the film is not complete and was not kept";
}

/* Times, which become those of the film, and the body to follow, against the recording. */
static bool check_recording(filming *f, ds_error *error) {
  ds_recording *r = ds_recording_open(f->source, error);
  if (r == NULL) return false;
  int32_t frames = ds_recording_frame_count(r);
  bool ok = true;
  if (frames == 0 || f->film.from > ds_recording_time(r, frames - 1) || f->film.to < ds_recording_time(r, 0)) {
    snprintf(error->message, sizeof error->message, "%.200s: %s", f->source,
             frames == 0 ? "has no frames yet" : "--from and --to are out of range");
    ok = false;
  } else if (f->follow != NULL) {
    f->film.follow = ds_scene_find_body(ds_recording_scene(r), f->follow).index1 - 1;
    if (f->film.follow < 0) {
      snprintf(error->message, sizeof error->message, "--follow: there is no body named '%.100s'", f->follow);
      ok = false;
    }
  }
  if (ok) {
    f->film.from = fmax(f->film.from, ds_recording_time(r, 0));
    f->film.to = fmin(f->film.to, ds_recording_time(r, frames - 1));
  }
  ds_recording_close(r);
  return ok;
}

static int film(filming *f) {
  char program[4096], url[256];
  ds_error error = {{0}};
  browser chromium = {0};
  int status = EXIT_INPUT;
  if (!check_recording(f, &error)) return complain(error.message);
  if (!browser_find(program, sizeof program, &error)) return complain(error.message);
  view_server_def def = {
      .mode = VIEW_FILM, .recording = f->source, .film = &f->film, .picture = take_picture, .user = f};
  view_server *server = view_server_create(&def, &error);
  f->reel = server != NULL ? reel_open(f->output, f->film.width, f->film.height, f->film.rate, &error) : NULL;
  if (f->reel != NULL) {
    view_access_url(url, sizeof url, view_server_access(server), true);
    progress_begin(&f->line, f->quiet, 0);
    const char *wrong = error.message;
    if (browser_open(&chromium, program, url, f->film.width, f->film.height, &error))
      wrong = shoot(f, server, &chromium);
    if (wrong == NULL && !reel_finish(f->reel, &error)) wrong = error.message;
    progress_end(&f->line);
    status = wrong == NULL ? EXIT_OK : complain(wrong);
    browser_close(&chromium);
  } else {
    complain(error.message);
  }
  reel_close(f->reel);
  view_server_destroy(server);
  if (status == EXIT_OK && !f->quiet)
    printf("%s: %u frames of %dx%d, %.3g s\n", f->output, f->count, (int)f->film.width, (int)f->film.height,
           f->count / f->film.rate);
  return status != EXIT_OK && interrupt_caught() != 0 ? 128 + interrupt_caught() : status;
}

int command_film(int argc, char **argv) {
  filming f = {.size = "1280x720",
               .film = {.rate = 30, .speed = 1, .show = "", .from = -1e9, .to = 1e9, .zoom = 1, .follow = -1}};
  int status = EXIT_INPUT;
  const char **words = calloc((size_t)argc + 2, sizeof *words);
  if (words == NULL) return complain("out of memory");
  interrupt_catch();
  if (parse(&f, words, argc, argv)) status = film(&f);
  free(words);
  return status;
}
