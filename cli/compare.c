/* `drystone compare`: one scene with several methods, each in a process of its own with a limit on its time, one after
 * the other; a table on stdout and one page. docs/compare.md.
 *
 * Each is `drystone run` with a recording and a report in a temporary folder. What is shown is read from these, so that
 * a comparison says nothing that a run does not say. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/vec3.h"
#include "command.h"
#include "record/record.h"
#include "report.h"
#include "source.h"

enum { RUNS_MAX = 24, WORDS_MAX = 64, POINTS_MAX = 400, GRACE_SECONDS = 5 };

typedef struct comparing {
  const char *source, *methods, *output, *size;
  arg_list settings;
  double time, step, limit;
  bool has_time, has_step, quiet;
  compare_run runs[RUNS_MAX];
  int32_t count;
  char folder[64];
} comparing;

static volatile sig_atomic_t stopped;
static void on_signal(int number) { stopped = number; }

static int complain(const char *message) {
  fprintf(stderr, "drystone compare: %s\n", message);
  return EXIT_INPUT;
}

/* ---- Arguments ---- */

/* "METHOD[:cold][:key=value]...": only its beginning is checked here; the rest is options of the scene. */
static bool add_run(comparing *c, const char *text, size_t length, ds_error *error) {
  compare_run *run = &c->runs[c->count];
  char method[32];
  size_t end = strcspn(text, ":,");
  if (c->count == RUNS_MAX || length >= sizeof run->name || length == 0 || end >= sizeof method) {
    snprintf(error->message, sizeof error->message, "--methods: %s",
             c->count == RUNS_MAX ? "24 at most" : "expected names such as coupled,pgs:cold,pgs:max_iterations=12");
    return false;
  }
  snprintf(run->name, sizeof run->name, "%.*s", (int)length, text);
  snprintf(method, sizeof method, "%.*s", (int)end, text);
  if (ds_method_named(method) < 0) {
    ds_method_list all = ds_method_choices();
    snprintf(error->message, sizeof error->message, "--methods: '%s' is unknown; expected names out of %.400s", method,
             all.text);
    return false;
  }
  for (int32_t i = 0; i < c->count; i++)
    if (strcmp(c->runs[i].name, run->name) == 0) {
      snprintf(error->message, sizeof error->message, "--methods: '%s' is there twice", run->name);
      return false;
    }
  c->count++;
  return true;
}

static bool read_methods(comparing *c, ds_error *error) {
  /* those that take a while on large scenes have to be asked for */
  const char *usual =
      "coupled,staggered,two-pass,gauss-seidel,pgs,pgs:cold,nncg,shock,convex,anitescu-hart,mass-split,ffd";
  for (const char *text = c->methods != NULL ? c->methods : usual; *text != '\0';) {
    size_t length = strcspn(text, ",");
    if (!add_run(c, text, length, error)) return false;
    text += length + (text[length] == ',');
  }
  return c->count > 0;
}

static bool parse(comparing *c, const char **words, int argc, char **argv) {
  const arg_option table[] = {
      {"--methods", "-m", ARG_TEXT, &c->methods, 0, 0, NULL, NULL},
      {"--time", "-t", ARG_REAL, &c->time, 0, 1e9, NULL, &c->has_time},
      {"--step", NULL, ARG_REAL, &c->step, 1e-9, 10, NULL, &c->has_step},
      {"--limit", NULL, ARG_REAL, &c->limit, 0.1, 1e9, NULL, NULL},
      {"--output", "-o", ARG_TEXT, &c->output, 0, 0, NULL, NULL},
      {"--set", NULL, ARG_LIST, &c->settings, 0, 0, NULL, NULL},
      {"--quiet", "-q", ARG_FLAG, &c->quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  ds_error error = {""};
  c->settings.items = words + argc;
  c->limit = 60;
  c->output = "compare.html";
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1) {
    complain(list.count == 0 ? "give a scene file or a generator; 'drystone scenes' lists the generators"
                             : "give one scene only");
    return false;
  }
  c->source = words[0];
  if (c->settings.count > 16) {
    complain("--set: 16 at most");
    return false;
  }
  if (source_same_file(c->output, c->source)) {
    complain("the page and the scene must be different files");
    return false;
  }
  if (!read_methods(c, &error)) {
    complain(error.message);
    return false;
  }
  return true;
}

/* ---- One run ---- */

typedef struct command_line {
  char text[WORDS_MAX][160];
  char *word[WORDS_MAX];
  int count;
} command_line;

static void add_word(command_line *l, const char *text) {
  if (l->count + 1 >= WORDS_MAX) return;
  l->word[l->count] = l->text[l->count];
  snprintf(l->text[l->count], sizeof l->text[l->count], "%s", text);
  l->count++;
}

static void add_number(command_line *l, const char *option, double value) {
  char number[32];
  snprintf(number, sizeof number, "%.17g", value);
  add_word(l, option);
  add_word(l, number);
}

static void path_of(char path[128], const comparing *c, int32_t index, const char *ending) {
  snprintf(path, 128, "%s/%d%s", c->folder, (int)index, ending);
}

/* The arguments of `drystone run`. Options of the entry come last: they are the more special ones. */
static void write_command(command_line *l, const comparing *c, int32_t index) {
  char path[128], name[sizeof c->runs->name], setting[160];
  add_word(l, "run");
  l->word[l->count] = (char *)(uintptr_t)c->source; /* of any length */
  l->count++;
  for (int32_t i = 0; i < c->settings.count; i++) {
    add_word(l, "--set");
    l->word[l->count] = (char *)(uintptr_t)c->settings.items[i];
    l->count++;
  }
  snprintf(name, sizeof name, "%s", c->runs[index].name);
  char *rest, *part = strtok_r(name, ":", &rest);
  add_word(l, "--method");
  add_word(l, part);
  while ((part = strtok_r(NULL, ":", &rest)) != NULL) {
    snprintf(setting, sizeof setting, "options.%s", strcmp(part, "cold") == 0 ? "warm_start=false" : part);
    add_word(l, "--set");
    add_word(l, setting);
  }
  if (c->has_time) add_number(l, "--time", c->time);
  if (c->has_step) add_number(l, "--step", c->step);
  path_of(path, c, index, ".h5");
  add_word(l, "--record");
  add_word(l, path);
  path_of(path, c, index, ".json");
  add_word(l, "--report");
  add_word(l, path);
  add_word(l, "--threads");
  add_word(l, "1");
  add_word(l, "--quiet");
}

/* Calls a command in a process of its own, its messages going to a file. The process, or -1. */
static pid_t start(int (*command)(int, char **), command_line *l, const char *messages) {
  fflush(stdout);
  fflush(stderr);
  pid_t child = fork();
  if (child != 0) return child;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  if (freopen(messages, "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL) _exit(EXIT_INPUT);
  int status = command(l->count, l->word);
  fflush(NULL);
  _exit(status);
}

/* Waits until it ends or its time is over; it is then asked to end, and killed where it does not. */
static int await(pid_t child, const comparing *c, const char *name, double limit, bool *late) {
  double begin = ds_clock(), asked = 0;
  int status = 0;
  *late = false;
  while (waitpid(child, &status, WNOHANG) == 0) {
    double now = ds_clock();
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    if (!c->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "\r\x1b[K%s: %.0f s", name, now - begin);
    if (asked == 0 && (now - begin > limit || stopped)) {
      *late = true;
      asked = now;
      kill(child, SIGTERM);
    }
    if (asked > 0 && now - asked > GRACE_SECONDS) kill(child, SIGKILL);
  }
  if (!c->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "\r\x1b[K");
  return status;
}

/* ---- What it left ---- */

static char *read_text(const char *path, size_t *length) {
  ds_error error;
  return ds_text_read_file(path, length, &error);
}

static double number_of(const ds_json *root, const char *key) {
  const ds_json *value = ds_json_find(root, key);
  return value != NULL && value->kind == DS_JSON_NUMBER ? value->number : NAN;
}

static bool read_report(compare_run *run, const char *path) {
  size_t length;
  ds_json_doc doc;
  ds_error error;
  char *text = read_text(path, &length);
  if (text == NULL || ds_json_parse(&doc, text, length, path, &error) != DS_OK) {
    free(text);
    return false;
  }
  const ds_json *root = doc.root, *warm = ds_json_find(root, "warm_start");
  run->warm = warm != NULL && warm->boolean;
  run->steps = (int64_t)number_of(root, "steps");
  run->time = number_of(root, "time") - number_of(root, "start_time");
  run->converged_share = number_of(root, "converged_share");
  run->error = number_of(root, "natural_error_max");
  run->moved = number_of(root, "displacement_max");
  run->creep = number_of(root, "creep_max");
  run->overlap = number_of(root, "penetration_max");
  run->gain = number_of(root, "unexplained_gain_max");
  run->momentum = number_of(root, "momentum_error_max");
  run->cpu = number_of(root, "cpu_seconds");
  run->iterations = number_of(root, "projection_iterations");
  ds_json_free(&doc);
  free(text);
  return true;
}

/* Largest way of a dynamic body from its start, m; `stands` is cleared where one is farther than half its radius. */
static double moved_in(const ds_scene *scene, const ds_pose *now, const ds_pose *start, bool *stands) {
  double most = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id body = ds_scene_body(scene, i);
    if (ds_body_get_kind(scene, body) != DS_BODY_DYNAMIC) continue;
    double distance = v3_norm(v3_sub(now[i].p, start[i].p));
    if (!(distance <= most)) most = distance;
    if (!(distance <= 0.5 * ds_body_radius(scene, body))) *stands = false;
  }
  return most;
}

static bool read_recording(compare_run *run, const char *path) {
  ds_error error;
  ds_recording *recording = ds_recording_open(path, &error);
  if (recording == NULL) return false;
  const ds_scene *scene = ds_recording_scene(recording);
  int32_t frames = ds_recording_frame_count(recording), bodies = ds_scene_body_count(scene);
  int32_t points = frames < POINTS_MAX ? frames : POINTS_MAX;
  ds_pose *begin = calloc((size_t)bodies + 1, sizeof *begin);
  run->at = calloc((size_t)points + 1, sizeof *run->at);
  bool ok = begin != NULL && run->at != NULL && frames > 0;
  for (int i = 0; i < CURVE_COUNT; i++) {
    run->curve[i] = calloc((size_t)points + 1, sizeof *run->curve[i]);
    ok &= run->curve[i] != NULL;
  }
  ds_step_report first = {0}; /* the first step knows the energy at the start */
  ok &= frames < 2 || ds_recording_read_report(recording, &first, 1, &error) == DS_OK;
  double energy = first.energy_before;
  for (int32_t i = 0; ok && i < points; i++) {
    ds_frame frame;
    int32_t index = points > 1 ? (int32_t)((int64_t)i * (frames - 1) / (points - 1)) : 0;
    if (ds_recording_read_bodies(recording, &frame, index, &error) != DS_OK) break;
    if (i == 0) memcpy(begin, frame.poses, (size_t)bodies * sizeof *begin);
    run->stands = true;
    run->at[i] = frame.time;
    run->curve[CURVE_ERROR][i] = frame.report.worst.natural_error;
    run->curve[CURVE_MOVED][i] = moved_in(scene, frame.poses, begin, &run->stands);
    run->curve[CURVE_OVERLAP][i] = frame.report.penetration;
    run->curve[CURVE_ENERGY][i] = i == 0 ? 0 : frame.report.energy_after - energy;
    run->points = i + 1;
  }
  free(begin);
  ds_recording_close(recording);
  return ok && run->points > 0;
}

static char *base64(const unsigned char *data, size_t length) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *text = malloc(4 * ((length + 2) / 3) + 1), *to = text;
  for (size_t i = 0; text != NULL && i < length; i += 3) {
    unsigned a = data[i], b = i + 1 < length ? data[i + 1] : 0, d = i + 2 < length ? data[i + 2] : 0;
    unsigned bits = a << 16 | b << 8 | d;
    *to++ = letters[bits >> 18], *to++ = letters[bits >> 12 & 63];
    *to++ = i + 1 < length ? letters[bits >> 6 & 63] : '=';
    *to++ = i + 2 < length ? letters[bits & 63] : '=';
  }
  if (text != NULL) *to = '\0';
  return text;
}

/* The last frame. */
static void draw(comparing *c, int32_t index) {
  char record[128], picture[128], messages[128];
  bool late;
  size_t length;
  path_of(record, c, index, ".h5");
  path_of(picture, c, index, ".png");
  path_of(messages, c, index, ".txt");
  command_line l = {.count = 0};
  add_word(&l, "draw");
  add_word(&l, record);
  add_word(&l, "--output");
  add_word(&l, picture);
  add_word(&l, "--size");
  add_word(&l, "480x300");
  pid_t child = start(command_draw, &l, messages);
  if (child < 0 || await(child, c, "drawing", 60, &late) != 0) return;
  char *data = read_text(picture, &length);
  if (data == NULL) return;
  c->runs[index].picture = base64((const unsigned char *)data, length);
  free(data);
}

/* The first line that the process said. */
static const char *first_message(const char *path) {
  size_t length;
  char *text = read_text(path, &length);
  if (text == NULL || length == 0) {
    free(text);
    return NULL;
  }
  text[strcspn(text, "\n")] = '\0';
  return text;
}

static void run_one(comparing *c, int32_t index) {
  compare_run *run = &c->runs[index];
  char path[128], messages[128];
  bool late = false;
  command_line l = {.count = 0};
  write_command(&l, c, index);
  path_of(messages, c, index, ".txt");
  pid_t child = start(command_run, &l, messages);
  int status = child < 0 ? -1 : await(child, c, run->name, c->limit, &late);
  run->end = late ? COMPARE_LIMIT : status == 0 ? COMPARE_DONE : COMPARE_FAILED;
  path_of(path, c, index, ".json");
  bool reported = read_report(run, path);
  path_of(path, c, index, ".h5");
  snprintf(run->record, sizeof run->record, "%s", path);
  bool recorded = reported && read_recording(run, path);
  if (!recorded || run->end == COMPARE_FAILED) {
    const char *said = first_message(messages);
    run->note = said != NULL ? said : "the process ended without a message";
    if (!recorded) run->end = COMPARE_FAILED;
  }
  if (recorded) draw(c, index);
}

/* ---- The table ---- */

static void print_head(int width) {
  printf("%-*s %-5s %-6s %9s %9s %9s %9s %9s %9s %9s  %s\n", width, "method", "start", "stands", "certified", "error",
         "moved mm", "creep mm/s", "overlap", "gain J", "cpu s/s", "");
}

static void print_run(const compare_run *r, int width) {
  if (r->end == COMPARE_FAILED && r->points == 0) {
    printf("%-*s failed: %s\n", width, r->name, r->note);
    return;
  }
  printf("%-*s %-5s %-6s %8.1f%% %9.1e %9.3g %10.2g %9.2g %9.2g %9.3g  %s\n", width, r->name, r->warm ? "warm" : "cold",
         r->stands ? "yes" : "no", 100 * r->converged_share, r->error, 1e3 * r->moved, 1e3 * r->creep, 1e3 * r->overlap,
         r->gain, r->time > 0 ? r->cpu / r->time : NAN,
         r->end == COMPARE_LIMIT    ? "time limit"
         : r->end == COMPARE_FAILED ? r->note
                                    : "");
  fflush(stdout);
}

static void clean_up(comparing *c) {
  static const char *const endings[] = {".h5", ".json", ".png", ".txt"};
  for (int32_t i = 0; i < c->count; i++) {
    for (int e = 0; e < 4; e++) {
      char path[128];
      path_of(path, c, i, endings[e]);
      remove(path);
    }
    free(c->runs[i].at);
    free(c->runs[i].picture);
    for (int k = 0; k < CURVE_COUNT; k++) free(c->runs[i].curve[k]);
  }
  rmdir(c->folder);
}

static int compare(comparing *c) {
  ds_error error = {""};
  size_t length;
  char *text = source_text(&length, c->source, &c->settings, &error); /* said once, not once per method */
  free(text);
  if (text == NULL || !report_check_path(c->output, &error)) return complain(error.message);
  const char *temporary = getenv("TMPDIR");
  snprintf(c->folder, sizeof c->folder, "%.40s/drystone-XXXXXX", temporary != NULL ? temporary : "/tmp");
  if (mkdtemp(c->folder) == NULL) return complain("cannot make a temporary folder; set TMPDIR to one that exists");
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  int32_t done = 0, width = 6;
  for (int32_t i = 0; i < c->count; i++)
    width = (int32_t)strlen(c->runs[i].name) > width ? (int32_t)strlen(c->runs[i].name) : width;
  print_head(width);
  while (done < c->count && !stopped) {
    run_one(c, done);
    print_run(&c->runs[done++], width);
  }
  double longest = 0;
  for (int32_t i = 0; i < done; i++) longest = fmax(longest, c->runs[i].points > 0 ? c->runs[i].time : 0);
  bool written = compare_page(c->output, c->source, c->runs, done, longest, &error);
  if (written) printf("\n%s\n", c->output);
  clean_up(c);
  if (stopped) return 128 + stopped;
  return written ? EXIT_OK : complain(error.message);
}

int command_compare(int argc, char **argv) {
  comparing *c = calloc(1, sizeof *c);
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  int status = EXIT_INPUT;
  if (c == NULL || words == NULL)
    complain("out of memory");
  else if (parse(c, words, argc, argv))
    status = compare(c);
  free(words);
  free(c);
  return status;
}
