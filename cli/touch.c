/* drystone touch: the haptic loop without a page. A tool of the scene follows a device. At the end it prints step
 * times, the share of converged steps, and the number of late ticks. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/thread.h"
#include "command.h"
#include "drystone/touch.h"
#include "output.h"
#include "record/record.h"
#include "report.h"
#include "source.h"
#include "udp_device.h"

static const double FRAME = 1.0 / 60; /* s, of a recording */

static volatile sig_atomic_t caught;
static void on_signal(int number) { caught = number; }

typedef struct touch_options {
  const char *source, *device, *tool, *bind, *report, *record;
  arg_list settings;
  double time, rate, deadline, stiffness, reach, max_force, spin;
  bool has_time, has_deadline, has_spin, free_run, realtime, absolute;
  source_reading reading;
} touch_options;

/* Figures of every tick. */
typedef struct touch_series {
  double *seconds, *cpu;
  int64_t count, capacity;
  int64_t contacts;
  int32_t contacts_max;
  double force_max, error_max, penetration_max;
  double stage[DS_STAGE_COUNT]; /* s, of all ticks */
} touch_series;

typedef struct touch_context {
  touch_options options;
  char *text;
  ds_scene *scene;
  ds_run_settings run;
  ds_state *state;
  ds_touch_loop *loop;
  ds_recorder *recorder;
  ds_state *seen; /* what is recorded */
  ds_device device;
  bool is_udp;
  udp_counts udp;
  touch_series series;
  int64_t ticks; /* planned */
} touch_context;

static bool parse(touch_options *o, const char **words, int argc, char **argv) {
  const arg_option table[] = {
      {"--device", "-d", ARG_TEXT, &o->device, 0, 0, NULL, NULL},
      {"--tool", NULL, ARG_TEXT, &o->tool, 0, 0, NULL, NULL},
      {"--bind", NULL, ARG_TEXT, &o->bind, 0, 0, NULL, NULL},
      {"--time", "-t", ARG_REAL, &o->time, 0, 1e6, NULL, &o->has_time},
      {"--rate", NULL, ARG_REAL, &o->rate, 1, 10000, NULL, NULL},
      {"--deadline", NULL, ARG_REAL, &o->deadline, 0, 10, NULL, &o->has_deadline},
      {"--stiffness", NULL, ARG_REAL, &o->stiffness, 0, 1e9, NULL, NULL},
      {"--max-force", NULL, ARG_REAL, &o->max_force, 0, 1e6, NULL, NULL},
      {"--reach", NULL, ARG_REAL, &o->reach, 0, 1e3, NULL, NULL},
      {"--absolute", NULL, ARG_FLAG, &o->absolute, 0, 0, NULL, NULL},
      {"--free-run", NULL, ARG_FLAG, &o->free_run, 0, 0, NULL, NULL},
      {"--realtime", NULL, ARG_FLAG, &o->realtime, 0, 0, NULL, NULL},
      {"--spin", NULL, ARG_REAL, &o->spin, 0, 1, NULL, &o->has_spin},
      {"--most-force", NULL, ARG_RENAMED, NULL, 0, 0, "--max-force", NULL},
      {"--hurry", NULL, ARG_RENAMED, NULL, 0, 0, "--realtime", NULL},
      {"--awake", NULL, ARG_RENAMED, NULL, 0, 0, "--spin", NULL},
      {"--report", NULL, ARG_TEXT, &o->report, 0, 0, NULL, NULL},
      {"--record", "-o", ARG_TEXT, &o->record, 0, 0, NULL, NULL},
      {"--set", NULL, ARG_LIST, &o->settings, 0, 0, NULL, NULL},
      READING_OPTIONS(&o->reading),
      {"--quiet", "-q", ARG_FLAG, &o->reading.quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  o->settings.items = words + argc;
  o->rate = 1000, o->stiffness = 300, o->reach = 0.05, o->max_force = 10;
  o->device = "operator", o->bind = "127.0.0.1";
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1) {
    fprintf(stderr, "drystone touch: give one scene file or generator, such as haptic\n");
    return false;
  }
  o->source = words[0];
  return true;
}

/* ---- devices ---- */

enum { KEYS_PER_SECOND = 50 };

/* A hand that stirs: three slow sines, down and around, from where the tool is. */
static ds_status stir(ds_device *device, double reach, double time, ds_error *error) {
  int32_t count = (int32_t)fmin(5e6, ceil(time * KEYS_PER_SECOND) + 1);
  ds_operator_key *keys = calloc((size_t)count, sizeof *keys);
  ds_operator_def def = ds_default_operator();
  ds_status status = DS_ERROR_MEMORY;
  for (int32_t i = 0; keys != NULL && i < count; i++) {
    double t = (double)i / KEYS_PER_SECOND, turn = 6.283185307179586 * t;
    keys[i] = (ds_operator_key){.time = t};
    keys[i].place =
        (ds_vec3){reach * sin(0.13 * turn), 0.4 * reach * sin(0.37 * turn), -0.55 * reach * (1 - cos(0.23 * turn))};
  }
  def.keys = keys, def.key_count = count;
  if (keys != NULL)
    status = ds_device_operator(device, &def, error);
  else
    snprintf(error->message, sizeof error->message, "out of memory");
  free(keys);
  return status;
}

static bool open_device(touch_context *c, ds_error *error) {
  const char *name = c->options.device;
  if (strcmp(name, "operator") == 0) return stir(&c->device, c->options.reach, c->run.time, error) == DS_OK;
  if (strncmp(name, "trace:", 6) == 0) return ds_device_trace(&c->device, name + 6, error) == DS_OK;
  if (strncmp(name, "udp:", 4) == 0) {
    int64_t number;
    if (!args_integer(&number, name + 4) || number < 0 || number > 65535) {
      snprintf(error->message, sizeof error->message, "device %.100s: expected udp:PORT with 0 to 65535", name);
      return false;
    }
    int32_t port = (int32_t)number;
    c->is_udp = udp_device(&c->device, c->options.bind, &port, error) == DS_OK;
    if (c->is_udp && !c->options.reading.quiet) printf("udp %s:%d\n", c->options.bind, (int)port), fflush(stdout);
    return c->is_udp;
  }
  snprintf(error->message, sizeof error->message, "device %.100s is unknown; expected operator, trace:FILE or udp:PORT",
           name);
  return false;
}

/* ---- the run ---- */

/* The body asked for; else the one called tool; else the first that moves. */
static ds_body_id find_tool(const touch_context *c, ds_error *error) {
  const char *name = c->options.tool != NULL ? c->options.tool : "tool";
  ds_body_id body = ds_scene_find_body(c->scene, name);
  if (body.index1 == 0 && c->options.tool != NULL)
    snprintf(error->message, sizeof error->message, "there is no body named \"%.100s\"; 'drystone info' lists them",
             name);
  for (int32_t i = 0; body.index1 == 0 && c->options.tool == NULL && i < ds_scene_body_count(c->scene); i++)
    if (ds_body_get_kind(c->scene, ds_scene_body(c->scene, i)) == DS_BODY_DYNAMIC) body = ds_scene_body(c->scene, i);
  if (body.index1 == 0 && c->options.tool == NULL)
    snprintf(error->message, sizeof error->message, "the scene has no dynamic body");
  return body;
}

static void observe(void *user, const ds_touch_tick_report *tick) {
  touch_series *s = user;
  if (s->count < s->capacity) s->seconds[s->count] = tick->seconds, s->cpu[s->count] = tick->cpu_seconds, s->count++;
  for (int i = 0; i < DS_STAGE_COUNT; i++) s->stage[i] += tick->step->seconds[i];
  s->contacts += tick->step->contacts;
  if (tick->step->contacts > s->contacts_max) s->contacts_max = tick->step->contacts;
  ds_vec3 f = ds_state_hand(tick->state, ds_state_next_hand(tick->state, (ds_hand_id){0})).force;
  s->force_max = fmax(s->force_max, sqrt(f.x * f.x + f.y * f.y + f.z * f.z));
  s->error_max = fmax(s->error_max, tick->step->worst.natural_error);
  s->penetration_max = fmax(s->penetration_max, tick->step->penetration);
}

static bool prepare(touch_context *c, ds_error *error) {
  const touch_options *o = &c->options;
  c->scene = source_scene(&c->text, &c->run, o->source, &o->settings, &o->reading, error);
  if (c->scene == NULL) return false;
  if (o->has_time) c->run.time = o->time;
  if (o->report != NULL && !report_check_path(o->report, error)) return false;
  ds_touch_def def = ds_default_touch();
  def.hand.body = find_tool(c, error);
  if (def.hand.body.index1 == 0 || !open_device(c, error)) return false;
  c->ticks = (int64_t)(c->run.time * o->rate + 0.5);
  touch_series *s = &c->series;
  s->capacity = c->ticks + 1;
  s->seconds = calloc((size_t)s->capacity, sizeof *s->seconds);
  s->cpu = calloc((size_t)s->capacity, sizeof *s->cpu);
  c->state = ds_state_create(c->scene);
  if (s->seconds == NULL || s->cpu == NULL || c->state == NULL) {
    snprintf(error->message, sizeof error->message, "out of memory");
    c->device.close(c->device.user);
    return false;
  }
  def.scene = c->scene, def.state = c->state, def.device = c->device;
  def.hand.stiffness = o->stiffness;
  def.absolute = o->absolute, def.realtime = o->realtime, def.max_force = o->max_force;
  def.period = 1 / o->rate;
  def.options = c->run.options;
  def.options.step = def.period;
  def.spin = o->has_spin ? o->spin : o->realtime ? 0.3 * def.period : 0; /* with the tick, less than a core */
  def.options.deadline = o->has_deadline ? o->deadline : o->free_run ? 0 : 0.85 * def.period;
  def.observer = observe, def.observer_user = s;
  c->run.options = def.options;
  c->loop = ds_touch_create(&def, error);
  if (c->loop == NULL || o->record == NULL) return c->loop != NULL;
  c->seen = ds_state_create(c->scene);
  if (c->seen != NULL) c->recorder = ds_recorder_create(o->record, c->text, &c->run, c->scene, error);
  return c->recorder != NULL;
}

/* Records a frame if the loop has a new one. */
static bool record_frame(touch_context *c, ds_error *error) {
  ds_step_report step;
  double before = c->seen != NULL ? ds_state_time(c->seen) : 0;
  if (c->recorder == NULL) return true;
  if (ds_touch_look(c->loop, c->seen, &step) != DS_OK) return false;
  if (!(ds_state_time(c->seen) > before)) return true;
  return ds_recorder_append(c->recorder, c->scene, c->seen, &step, error) == DS_OK;
}

/* Ticks without waiting, for results that do not depend on the clock. */
static bool run_free(touch_context *c, ds_error *error) {
  double frame = 0;
  while (c->series.count < c->ticks && caught == 0) {
    double clock = ds_clock(), cpu = ds_thread_clock();
    ds_step_report step;
    if (ds_touch_tick(c->loop) != DS_OK) return false;
    ds_touch_last_step(c->loop, &step);
    ds_touch_tick_report tick = {c->state, &step, ds_clock() - clock, ds_thread_clock() - cpu, false};
    observe(&c->series, &tick);
    if (step.time < frame) continue;
    if (!record_frame(c, error)) return false;
    frame += FRAME;
  }
  return true;
}

static bool run_timed(touch_context *c, ds_error *error) {
  double end = ds_clock() + c->run.time;
  bool ok = true;
  if (ds_touch_start(c->loop, error) != DS_OK) return false;
  while (ok && ds_clock() < end && caught == 0 && ds_touch_get_report(c->loop).status == DS_OK)
    ds_sleep_until(fmin(end, ds_clock() + FRAME)), ok = ok && record_frame(c, error);
  ds_touch_stop(c->loop);
  return ok && ds_touch_get_report(c->loop).status == DS_OK;
}

/* ---- results ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct distribution {
  double mean, median, p99, p999, max, within; /* ms; within: share of 1 ms */
} distribution;

static distribution distribution_of(double *seconds, int64_t count) {
  distribution d = {0};
  if (count == 0) return d;
  int64_t within = 0;
  qsort(seconds, (size_t)count, sizeof *seconds, compare);
  for (int64_t i = 0; i < count; i++) d.mean += 1e3 * seconds[i] / (double)count, within += seconds[i] <= 1e-3;
  const double share[] = {0.5, 0.99, 0.999};
  double *to[] = {&d.median, &d.p99, &d.p999};
  for (int i = 0; i < 3; i++) {
    int64_t k = (int64_t)ceil(share[i] * (double)count) - 1;
    *to[i] = 1e3 * seconds[k < 0 ? 0 : k];
  }
  d.max = 1e3 * seconds[count - 1];
  d.within = (double)within / (double)count;
  return d;
}

static void write_distribution(json_object *j, const char *key, const distribution *d, const double *sorted,
                               int64_t count) {
  enum { BINS = 300 }; /* of 10 us */
  double bins[BINS] = {0};
  json_object ms = json_child(j, key);
  json_real(&ms, "mean", d->mean);
  json_real(&ms, "median", d->median);
  json_real(&ms, "p99", d->p99);
  json_real(&ms, "p99_9", d->p999);
  json_real(&ms, "max", d->max);
  json_real(&ms, "within_1ms", d->within);
  for (int64_t i = 0; i < count; i++) {
    double bin = floor(1e5 * sorted[i]);
    bins[bin < BINS ? (int)bin : BINS - 1]++;
  }
  json_reals(&ms, "histogram_10us", bins, BINS);
  json_end(&ms);
}

static const char *const stage_names[DS_STAGE_COUNT] = {"detect", "assemble", "predict", "project", "integrate"};

static void write_udp(json_object *j, const udp_counts *counts) {
  json_object udp = json_child(j, "udp");
  json_integer(&udp, "received", counts->received);
  json_integer(&udp, "malformed", counts->malformed);
  json_integer(&udp, "old", counts->old);
  json_integer(&udp, "foreign", counts->foreign);
  json_end(&udp);
}

static bool write_report(const touch_context *c, const ds_touch_report *r, const distribution d[2], ds_error *error) {
  output out;
  if (!output_open(&out, c->options.report, error)) return false;
  json_object j = json_begin(out.file);
  const touch_series *s = &c->series;
  double ticks = fmax(1, (double)r->ticks);
  json_text(&j, "version", ds_version());
  json_text(&j, "source", c->options.source);
  json_text(&j, "device", c->options.device);
  json_real(&j, "rate", c->options.rate);
  json_real(&j, "deadline", c->run.options.deadline);
  json_real(&j, "tolerance", ds_options_tolerance(&c->run.options));
  json_integer(&j, "ticks", r->ticks);
  json_integer(&j, "late", r->late);
  json_integer(&j, "skipped", r->skipped);
  json_integer(&j, "silent", r->silent);
  json_real(&j, "converged_share", 1 - (double)r->unconverged / ticks);
  json_real(&j, "contacts_mean", (double)s->contacts / ticks);
  json_integer(&j, "contacts_max", s->contacts_max);
  json_real(&j, "force_max", s->force_max);
  json_real(&j, "natural_error_max", s->error_max);
  json_real(&j, "penetration_max", s->penetration_max);
  write_distribution(&j, "ms", &d[0], s->seconds, s->count);
  write_distribution(&j, "cpu_ms", &d[1], s->cpu, s->count);
  json_object stages = json_child(&j, "ms_stage_mean");
  for (int i = 0; i < DS_STAGE_COUNT; i++) json_real(&stages, stage_names[i], 1e3 * s->stage[i] / ticks);
  json_end(&stages);
  if (c->is_udp) write_udp(&j, &c->udp);
  json_end(&j);
  fputc('\n', out.file);
  return output_commit(&out, error);
}

static void print_summary(const touch_context *c, const ds_touch_report *r, const distribution d[2]) {
  double ticks = fmax(1, (double)r->ticks);
  const char *names[2] = {"wall", "processor"};
  printf("%lld ticks at %g Hz, %.3f s simulated; %lld late, %lld skipped, %lld without a device\n", (long long)r->ticks,
         c->options.rate, r->time, (long long)r->late, (long long)r->skipped, (long long)r->silent);
  printf("converged  %.2f %% of the steps; %.0f contacts, %d at most; force %.3g N at most\n",
         100 * (1 - (double)r->unconverged / ticks), (double)c->series.contacts / ticks, (int)c->series.contacts_max,
         c->series.force_max);
  for (int i = 0; i < 2; i++)
    printf("%-10s mean %.3f, median %.3f, 99 %% %.3f, 99.9 %% %.3f, max %.3f ms; %.3f %% within 1 ms\n", names[i],
           d[i].mean, d[i].median, d[i].p99, d[i].p999, d[i].max, 100 * d[i].within);
  printf("stages    ");
  for (int i = 0; i < DS_STAGE_COUNT; i++)
    printf("%s %s %.3f", i == 0 ? "" : ",", stage_names[i], 1e3 * c->series.stage[i] / ticks);
  printf(" ms wall\n");
  if (c->is_udp)
    printf("udp        %lld received, %lld malformed, %lld old, %lld foreign\n", (long long)c->udp.received,
           (long long)c->udp.malformed, (long long)c->udp.old, (long long)c->udp.foreign);
}

static void tear_down(touch_context *c) {
  ds_error ignored;
  ds_recorder_close(c->recorder, &ignored);
  ds_state_destroy(c->seen);
  ds_touch_destroy(c->loop);
  ds_state_destroy(c->state);
  ds_scene_destroy(c->scene);
  free(c->series.seconds);
  free(c->series.cpu);
  free(c->text);
}

int command_touch(int argc, char **argv) {
  touch_context c = {0};
  ds_error error = {""};
  int status = EXIT_INPUT;
  const char **words = calloc(2 * (size_t)argc + 1, sizeof *words);
  if (words == NULL || !parse(&c.options, words, argc, argv)) {
    free(words);
    return EXIT_INPUT;
  }
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  bool ok = prepare(&c, &error) && (c.options.free_run ? run_free(&c, &error) : run_timed(&c, &error));
  if (ok && c.recorder != NULL) {
    ok = ds_recorder_close(c.recorder, &error) == DS_OK;
    c.recorder = NULL;
  }
  if (ok) {
    ds_touch_report report = ds_touch_get_report(c.loop);
    if (c.is_udp) c.udp = udp_device_counts(&c.device);
    distribution d[2] = {distribution_of(c.series.seconds, c.series.count),
                         distribution_of(c.series.cpu, c.series.count)};
    bool to_stdout = c.options.report != NULL && strcmp(c.options.report, "-") == 0;
    if (c.options.report != NULL) ok = write_report(&c, &report, d, &error);
    if (ok && !c.options.reading.quiet && !to_stdout) print_summary(&c, &report, d);
    if (ok) status = caught != 0 ? 128 + (int)caught : EXIT_OK;
  }
  if (!ok) fprintf(stderr, "drystone touch: %s\n", error.message[0] ? error.message : "out of memory");
  tear_down(&c);
  free(words);
  return status;
}
