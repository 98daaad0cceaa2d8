/* drystone run: simulates a scene, and writes the requested output.
 *
 * Everything that can be wrong with the input or the places to write to is found before the first step. SIGINT, SIGTERM
 * and SIGHUP end the run after the current step, with recording and report complete; a second one ends the program. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "base/thread.h"
#include "command.h"
#include "drystone/drystone.h"
#include "dump.h"
#include "progress.h"
#include "record/record.h"
#include "report.h"
#include "resume.h"
#include "source.h"

/* The one place a signal handler can write to. */
static volatile sig_atomic_t caught;
static ds_stepper *volatile interrupted_stepper; /* whose step a signal ends */

static void on_signal(int number) {
  caught = number;
  if (interrupted_stepper != NULL) ds_stepper_stop(interrupted_stepper);
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction before; /* nohup stays in effect */
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
}

typedef struct run_options {
  const char *source, *from, *record, *report, *dump_folder, *dump_when;
  arg_list settings;
  double time, until_moved, step, tolerance, step_budget, error_control, deadline;
  int32_t method, metric, integrator, restitution_law, impacts, face_pressure, record_every;
  bool has_time, has_until_moved, has_step, has_tolerance, has_step_budget, has_error_control, has_deadline, has_method,
      has_metric, has_integrator, has_restitution_law, has_impacts, has_face_pressure, has_record_every;
  bool strict;
  source_reading reading; /* threads and quiet are those of the run */
  source_method method_setting;
} run_options;

/* All data of a run; freed as a whole. */
typedef struct run_context {
  run_options options;
  char *text;
  ds_scene *scene;
  ds_run_settings run;
  ds_state *state;
  ds_stepper *stepper;
  ds_recorder *recorder;
  problem_dump *dump;
  run_report *report;
  int64_t steps;  /* planned */
  int64_t frames; /* recorded */
} run_context;

static int complain(const char *message) {
  fprintf(stderr, "drystone run: %s\n", message);
  return EXIT_INPUT;
}

static bool parse(run_options *o, const char **words, int argc, char **argv) {
  ds_method_list methods = ds_method_choices(), laws = ds_restitution_choices();
  const arg_option table[] = {
      {"--time", "-t", ARG_REAL, &o->time, 0, 1e9, NULL, &o->has_time},
      {"--until-moved", NULL, ARG_REAL, &o->until_moved, 0, 1e9, NULL, &o->has_until_moved},
      {"--step", NULL, ARG_REAL, &o->step, 1e-9, 10, NULL, &o->has_step},
      {"--tol", NULL, ARG_REAL, &o->tolerance, 1e-16, 1, NULL, &o->has_tolerance},
      {"--error-control", NULL, ARG_REAL, &o->error_control, 0, 1e12, NULL, &o->has_error_control},
      {"--step-budget", NULL, ARG_REAL, &o->step_budget, 0, 1e9, NULL, &o->has_step_budget},
      {"--deadline", NULL, ARG_REAL, &o->deadline, 0, 1e6, NULL, &o->has_deadline},
      {"--method", NULL, ARG_CHOICE, &o->method, 0, 0, methods.text, &o->has_method},
      {"--integrator", NULL, ARG_CHOICE, &o->integrator, 0, 0, INTEGRATOR_CHOICES, &o->has_integrator},
      {"--restitution-law", NULL, ARG_CHOICE, &o->restitution_law, 0, 0, laws.text, &o->has_restitution_law},
      {"--impacts", NULL, ARG_CHOICE, &o->impacts, 0, 0, IMPACTS_CHOICES, &o->has_impacts},
      {"--face-pressure", NULL, ARG_CHOICE, &o->face_pressure, 0, 0, PRESSURE_CHOICES, &o->has_face_pressure},
      {"--metric", NULL, ARG_CHOICE, &o->metric, 0, 0, METRIC_CHOICES, &o->has_metric},
      {"--threads", "-j", ARG_INTEGER, &o->reading.threads, 0, 256, NULL, NULL},
      {"--from", NULL, ARG_TEXT, &o->from, 0, 0, NULL, NULL},
      {"--record", "-o", ARG_TEXT, &o->record, 0, 0, NULL, NULL},
      {"--record-every", NULL, ARG_INTEGER, &o->record_every, 1, 1e9, NULL, &o->has_record_every},
      {"--report", NULL, ARG_TEXT, &o->report, 0, 0, NULL, NULL},
      {"--dump-problems", NULL, ARG_TEXT, &o->dump_folder, 0, 0, NULL, NULL},
      {"--dump-when", NULL, ARG_TEXT, &o->dump_when, 0, 0, NULL, NULL},
      {"--set", NULL, ARG_LIST, &o->settings, 0, 0, NULL, NULL},
      READING_OPTIONS(&o->reading),
      {"--strict", NULL, ARG_FLAG, &o->strict, 0, 0, NULL, NULL},
      {"--quiet", "-q", ARG_FLAG, &o->reading.quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  o->settings.items = words + argc;
  o->record_every = 1;
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1) {
    complain(list.count == 0 ? "give a scene file or a generator; 'drystone scenes' lists the generators"
                             : "give one scene only");
    return false;
  }
  if (o->record != NULL && strcmp(o->record, "-") == 0) {
    complain("--record -: a recording cannot go to the standard output; give the name of a file");
    return false;
  }
  if (o->has_record_every && o->record == NULL) {
    complain("--record-every needs --record FILE.h5");
    return false;
  }
  if (o->dump_when != NULL && o->dump_folder == NULL) {
    complain("--dump-when needs --dump-problems DIR");
    return false;
  }
  o->source = words[0];
  if (o->has_method) source_set_method(&o->settings, &o->method_setting, o->method);
  return true;
}

static bool check_outputs(const run_options *o, ds_error *error) {
  const char *clash = NULL;
  if (o->report != NULL && o->record != NULL && source_same_file(o->report, o->record)) clash = o->record;
  if (o->report != NULL && source_same_file(o->report, o->source)) clash = o->report;
  if (o->record != NULL && source_same_file(o->record, o->source)) clash = o->record;
  if (o->from != NULL && o->record != NULL && source_same_file(o->from, o->record)) clash = o->record;
  if (o->from != NULL && o->report != NULL && source_same_file(o->from, o->report)) clash = o->report;
  if (clash != NULL) {
    snprintf(error->message, sizeof error->message, "%.300s: scene, recording and report must be different files",
             clash);
    return false;
  }
  if (o->report == NULL) return true;
  ds_error why;
  if (report_check_path(o->report, &why)) return true;
  snprintf(error->message, sizeof error->message, "report %.500s", why.message);
  return false;
}

static bool plan(run_context *c, ds_error *error) {
  const run_options *o = &c->options;
  if (o->has_time) c->run.time = o->time;
  if (o->has_step) c->run.options.step = o->step;
  if (o->has_tolerance) c->run.options.tolerance = o->tolerance;
  if (o->has_error_control) c->run.options.error_control = o->error_control;
  if (o->has_deadline) c->run.options.deadline = o->deadline;
  if (o->has_step_budget) c->run.options.step_budget = o->step_budget;
  if (o->has_integrator) c->run.options.integrator = (ds_integrator)o->integrator;
  if (o->has_restitution_law) c->run.options.restitution_law = o->restitution_law;
  if (o->has_impacts) c->run.options.impacts = (ds_impact_order)o->impacts;
  if (o->has_face_pressure) c->run.options.face_pressure = (ds_face_pressure)o->face_pressure;
  if (o->has_metric) c->run.options.metric = (ds_metric)o->metric;
  if (ds_options_check(&c->run.options, error) != DS_OK) return false;
  /* 0.3 s at 0.1 s are three steps, though 0.3/0.1 is a little less or more */
  double start = ds_state_time(c->state), steps = ceil((c->run.time - start) / c->run.options.step * (1 - 1e-12));
  if (o->from != NULL && !(steps > 0)) {
    snprintf(error->message, sizeof error->message,
             "%.300s ends at t = %g s, and the run at %g s; give a later end with --time", o->from, start, c->run.time);
    return false;
  }
  if (!(steps >= 0 && steps <= 1e12)) {
    snprintf(error->message, sizeof error->message, "%g s at a step of %g s are too many steps", c->run.time,
             c->run.options.step);
    return false;
  }
  c->steps = (int64_t)steps;
  return true;
}

/* From the arguments to everything that is needed for the first step. */
static bool prepare(run_context *c, ds_error *error) {
  const run_options *o = &c->options;
  c->scene = source_scene(&c->text, &c->run, o->source, &o->settings, &o->reading, error);
  if (c->scene == NULL || !check_outputs(o, error)) return false;
  snprintf(error->message, sizeof error->message, "out of memory, or no more threads");
  c->state = ds_state_create(c->scene);
  c->stepper = ds_stepper_create(o->reading.threads);
  if (c->state == NULL || c->stepper == NULL) return false;
  interrupted_stepper = c->stepper;
  bool exact = true;
  if (o->from != NULL && !resume_state(c->state, &exact, c->scene, o->from, error)) return false;
  if (!exact)
    fprintf(stderr,
            "drystone run: %s has no state, only frames: the run continues from the last frame, not bit for bit\n",
            o->from);
  if (!plan(c, error)) return false;
  snprintf(error->message, sizeof error->message, "out of memory");
  c->report = report_create(c->scene, c->state, &c->run, o->source, o->reading.threads, c->steps);
  if (c->report == NULL) return false;
  if (o->dump_folder != NULL) {
    c->dump = dump_create(o->dump_folder, o->dump_when, &c->run, error);
    if (c->dump == NULL) return false;
    ds_stepper_observe(c->stepper, dump_observe, c->dump);
  }
  if (o->record == NULL) return true;
  c->recorder = ds_recorder_create(o->record, c->text, &c->run, c->scene, error);
  return c->recorder != NULL;
}

static bool record_frame(run_context *c, const ds_step_report *step, ds_error *error) {
  if (c->recorder == NULL) return true;
  if (ds_recorder_append(c->recorder, c->scene, c->state, step, error) != DS_OK) return false;
  c->frames++;
  return true;
}

/* The start is a frame too: nothing was solved, nothing failed. */
static ds_step_report start_report(const run_context *c) {
  ds_energy energy = ds_state_energy(c->scene, c->state);
  ds_step_report report = {.time = ds_state_time(c->state)};
  report.energy_before = report.energy_after = energy.kinetic + energy.potential + energy.elastic;
  report.worst.converged = true;
  return report;
}

/* False with a message where it failed, and where a signal has ended it: then the state is the one before. */
static bool take_step(run_context *c, ds_step_report *step, ds_error *error) {
  ds_status status = ds_step(c->stepper, c->state, step, c->scene, &c->run.options);
  if (status == DS_STOPPED) return false;
  if (status == DS_OK) {
    report_add_step(c->report, c->scene, c->state, step);
    return c->dump == NULL || dump_ok(c->dump, error);
  }
  snprintf(error->message, sizeof error->message, "the step after t = %g s failed: %s", ds_state_time(c->state),
           status == DS_ERROR_MEMORY       ? "out of memory"
           : status == DS_ERROR_NOT_FINITE ? "positions or velocities became infinite; try a smaller --step"
                                           : "the scene cannot be simulated");
  return false;
}

/* Whether a body is as far from its start as --until-moved says. */
static bool moved_enough(const run_context *c) {
  return c->options.has_until_moved && report_displacement(c->report) > c->options.until_moved;
}

/* Steps to the end, to --until-moved or to a signal. The start and the last step are always recorded. */
static report_ending simulate(run_context *c, ds_error *error) {
  progress line;
  progress_begin(&line, c->options.reading.quiet, c->run.time);
  progress_watch(&line, c->stepper);
  ds_step_report step = start_report(c);
  bool ok = record_frame(c, &step, error), recorded = true;
  int64_t done = 0;
  while (ok && done < c->steps && caught == 0 && !moved_enough(c)) {
    ds_step_report next;
    bool taken = take_step(c, &next, error);
    ok = taken || caught != 0;
    if (!taken) break;
    step = next;
    done++;
    recorded = done % c->options.record_every == 0;
    if (recorded) ok = record_frame(c, &step, error);
    progress_update(&line, &step);
  }
  if (ok && !recorded) ok = record_frame(c, &step, error);
  progress_end(&line);
  if (!ok) return ENDED_FAILED;
  if (done == c->steps) return ENDED_FINISHED;
  if (caught != 0) return ENDED_INTERRUPTED;
  c->steps = done;
  return ENDED_MOVED;
}

static double cpu_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_files(const run_context *c, bool recorded) {
  const run_options *o = &c->options;
  if (o->record != NULL && recorded) printf("  recording     %s, %lld frames\n", o->record, (long long)c->frames);
  if (o->report != NULL) printf("  report        %s\n", o->report);
  if (c->dump != NULL) printf("  problems      %d in %s\n", (int)dump_count(c->dump), o->dump_folder);
}

/* Files first, text last: a reader that closes the pipe early loses nothing else. */
static int conclude(run_context *c, report_ending ending, ds_error *error) {
  const run_options *o = &c->options;
  int status = EXIT_OK;
  if (ending == ENDED_FAILED) status = complain(error->message);
  ds_recorder *recorder = c->recorder;
  c->recorder = NULL;
  if (ds_recorder_close(recorder, error) != DS_OK && status == EXIT_OK) status = complain(error->message);
  if (o->report != NULL && !report_write(c->report, o->report, error)) status = complain(error->message);
  bool to_stdout = o->report != NULL && strcmp(o->report, "-") == 0;
  if (!o->reading.quiet && !to_stdout) {
    report_print(c->report, stdout);
    print_files(c, status == EXIT_OK);
  }
  if (status != EXIT_OK) return status;
  if (ending == ENDED_INTERRUPTED) {
    fprintf(stderr, "drystone run: interrupted at t = %g s of %g s; %s\n", ds_state_time(c->state), c->run.time,
            o->record != NULL || o->report != NULL || c->dump != NULL ? "output is complete up to there"
                                                                      : "no output was requested");
    return 128 + (int)caught;
  }
  double first;
  int64_t unconverged = report_unconverged_steps(c->report), missed = report_missed_steps(c->report, &first);
  if (!o->strict || (unconverged == 0 && missed == 0)) return EXIT_OK;
  if (unconverged > 0)
    fprintf(stderr, "drystone run: %lld of %lld steps did not pass their certificate, the first at t = %g s\n",
            (long long)unconverged, (long long)c->steps, report_first_unconverged_time(c->report));
  if (missed > 0)
    fprintf(stderr,
            "drystone run: %lld of %lld steps gained energy that nothing accounts for, the first at t = %g s; try a "
            "smaller --step\n",
            (long long)missed, (long long)c->steps, first);
  return EXIT_UNCERTIFIED;
}

int command_run(int argc, char **argv) {
  run_context c = {0};
  ds_error error = {{0}};
  int status = EXIT_INPUT;
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (words == NULL) return complain("out of memory");
  if (parse(&c.options, words, argc, argv)) {
    catch_signals();
    if (prepare(&c, &error)) {
      double wall = ds_clock(), cpu = cpu_clock();
      report_ending ending = simulate(&c, &error);
      wall = ds_clock() - wall;
      cpu = cpu_clock() - cpu;
      report_finish(c.report, c.scene, c.state, ending, wall, cpu);
      status = conclude(&c, ending, &error);
    } else {
      complain(error.message);
    }
  }
  ds_error ignored;
  ds_recorder_close(c.recorder, &ignored);
  report_destroy(c.report);
  dump_destroy(c.dump);
  interrupted_stepper = NULL;
  ds_stepper_destroy(c.stepper);
  ds_state_destroy(c.state);
  ds_scene_destroy(c.scene);
  free(c.text);
  free(words);
  return status;
}
