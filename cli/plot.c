/* `drystone plot`: quantities of recordings over time, as panels of lines. docs/pictures.md.
 *
 * One recording is shown with several lines per panel; of several recordings every panel shows the main quantity of
 * each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/vec3.h"
#include "bodies.h"
#include "chart.h"
#include "command.h"
#include "frame_energy.h"
#include "output.h"
#include "progress.h"
#include "record/record.h"
#include "source.h"

/* Every quantity that can be a line. */
typedef enum quantity {
  KINETIC,
  POTENTIAL,
  TOTAL,
  ELASTIC,
  CONTACTS,
  ACTIVE,
  NATURAL,
  RESIDUAL,
  STAGGERED,
  PROJECTION,
  FACTORIZATIONS,
  SPEED,
  PENETRATION,
  MS_TOTAL,
  MS_DETECT,
  MS_PROJECT,
  QUANTITY_COUNT,
} quantity;

enum { LINES_MAX = 4, METRIC_COUNT = 8, TRACKS_MAX = 8 };
_Static_assert(LINES_MAX <= TRACKS_MAX, "a panel has room for both");

typedef struct metric {
  const char *name, *title;
  bool log, from_zero, tolerance;
  int lines, main_line; /* the last line of "energy" is for deformable bodies alone */
  quantity line[LINES_MAX];
  const char *line_name[LINES_MAX];
  const char *main_title; /* of the panel that compares recordings */
} metric;

static const metric metrics[METRIC_COUNT] = {
    {"energy",
     "Energy since the start (J)",
     false,
     false,
     false,
     4,
     2,
     {KINETIC, POTENTIAL, TOTAL, ELASTIC},
     {"kinetic", "potential", "total", "elastic"},
     "Total energy since the start (J)"},
    {"contacts",
     "Contacts",
     false,
     true,
     false,
     2,
     1,
     {CONTACTS, ACTIVE},
     {"found", "carrying"},
     "Contacts with an impulse"},
    {"natural_error", "Natural-map error", true, false, true, 1, 0, {NATURAL}, {NULL}, "Natural-map error"},
    {"iterations",
     "Iterations per step",
     false,
     true,
     false,
     3,
     2,
     {STAGGERED, PROJECTION, FACTORIZATIONS},
     {"staggered", "in projections", "factorizations"},
     "Factorizations per step"},
    {"residual",
     "Residual, SP08 eq. 29 (J)",
     true,
     false,
     false,
     1,
     0,
     {RESIDUAL},
     {NULL},
     "Residual, SP08 eq. 29 (J)"},
    {"speed",
     "Speed of the fastest body (m/s)",
     true,
     false,
     false,
     1,
     0,
     {SPEED},
     {NULL},
     "Speed of the fastest body (m/s)"},
    {"penetration", "Deepest overlap (mm)", false, true, false, 1, 0, {PENETRATION}, {NULL}, "Deepest overlap (mm)"},
    {"ms",
     "Wall time per step (ms)",
     false,
     true,
     false,
     3,
     0,
     {MS_TOTAL, MS_DETECT, MS_PROJECT},
     {"total", "detect", "project"},
     "Wall time per step (ms)"},
};

/* One recording read to the end. */
typedef struct track {
  char name[64];
  int32_t frames, bodies;
  bool deformable; /* one of the bodies is */
  double *time, *value[QUANTITY_COUNT];
  double tolerance, step;
} track;

typedef struct plotting {
  const char *output, *size, *what;
  bool dark;
  int32_t width, height;
  int chosen[METRIC_COUNT], chosen_count;
  track tracks[TRACKS_MAX];
  int32_t track_count;
} plotting;

static void free_track(track *t) {
  free(t->time);
  for (int i = 0; i < QUANTITY_COUNT; i++) free(t->value[i]);
}

static bool allocate_track(track *t) {
  size_t bytes = (size_t)(t->frames > 0 ? t->frames : 1) * sizeof(double);
  t->time = malloc(bytes);
  bool good = t->time != NULL;
  for (int i = 0; i < QUANTITY_COUNT; i++) {
    t->value[i] = malloc(bytes);
    good = good && t->value[i] != NULL;
  }
  return good;
}

static double fastest(const ds_scene *scene, const ds_frame *frame) {
  double speed = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++)
    if (body_is_dynamic(scene, i)) speed = fmax(speed, v3_norm(frame->velocities[i]));
  return speed;
}

/* Whether a panel shows what poses and velocities are needed for; everything else is in the reports. */
static bool needs_bodies(const plotting *p) {
  for (int i = 0; i < p->chosen_count; i++) {
    const metric *m = &metrics[p->chosen[i]];
    for (int k = 0; k < m->lines; k++)
      if (m->line[k] <= ELASTIC || m->line[k] == SPEED) return true;
  }
  return false;
}

/* `state` is NULL where the bodies were not read. */
static void store_frame(track *t, int32_t i, ds_state *state, const ds_scene *scene, const ds_frame *frame) {
  double total_ms = 0;
  const ds_step_report *report = &frame->report;
  ds_energy energy = {0};
  if (state) energy = frame_energy(state, scene, frame, report->step > 0 ? t->step : 0);
  for (int k = 0; k < DS_STAGE_COUNT; k++) total_ms += 1e3 * report->seconds[k];
  const double values[QUANTITY_COUNT] = {
      [KINETIC] = energy.kinetic,
      [POTENTIAL] = energy.potential,
      [TOTAL] = energy.kinetic + energy.potential + energy.elastic,
      [ELASTIC] = energy.elastic,
      [CONTACTS] = report->contacts,
      [ACTIVE] = report->active_contacts,
      [NATURAL] = report->worst.natural_error,
      [RESIDUAL] = report->worst.residual,
      [STAGGERED] = report->worst.staggered_iterations,
      [PROJECTION] = report->worst.projection_iterations,
      [FACTORIZATIONS] = report->worst.factorizations,
      [SPEED] = state ? fastest(scene, frame) : 0,
      [PENETRATION] = 1e3 * report->penetration,
      [MS_TOTAL] = total_ms,
      [MS_DETECT] = 1e3 * report->seconds[DS_STAGE_DETECT],
      [MS_PROJECT] = 1e3 * report->seconds[DS_STAGE_PROJECT],
  };
  t->time[i] = frame->time;
  for (int q = 0; q < QUANTITY_COUNT; q++) t->value[q][i] = values[q];
}

/* The name of a file without folders and ending. */
static void base_name(char *out, size_t size, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), name);
}

/* No panel shows single contacts, and most of a large recording are contacts: they are not read. */
static ds_status read_frames(track *t, ds_recording *recording, ds_state *state, ds_error *error) {
  ds_status status = DS_OK;
  progress line;
  progress_begin(&line, false, 0);
  for (int32_t i = 0; status == DS_OK && i < t->frames; i++) {
    ds_frame frame = {.time = ds_recording_time(recording, i)};
    status = state ? ds_recording_read_bodies(recording, &frame, i, error)
                   : ds_recording_read_report(recording, &frame.report, i, error);
    if (status == DS_OK) store_frame(t, i, state, ds_recording_scene(recording), &frame);
    progress_build(&line, "reading", t->name, i / (double)t->frames);
  }
  progress_end(&line);
  return status;
}

static ds_status read_track(track *t, const char *path, bool bodies, ds_error *error) {
  if (!source_is_recording(path)) {
    FILE *file = fopen(path, "rb");
    snprintf(error->message, sizeof error->message,
             file ? "%.200s: is not a recording; plot shows recordings made by "
                    "'drystone run SCENE -o FILE'"
                  : "%.200s: cannot be read",
             path);
    if (file) fclose(file);
    return DS_ERROR_INPUT;
  }
  ds_recording *recording = ds_recording_open(path, error);
  if (!recording) return DS_ERROR_INPUT;
  const ds_scene *scene = ds_recording_scene(recording);
  const ds_run_settings *run = ds_recording_settings(recording);
  base_name(t->name, sizeof t->name, path);
  t->frames = ds_recording_frame_count(recording);
  t->bodies = ds_scene_body_count(scene);
  t->deformable = ds_scene_reduced_count(scene) > 0;
  t->tolerance = ds_options_tolerance(&run->options);
  t->step = run->options.step;
  ds_status status = DS_OK;
  ds_state *state = bodies ? ds_state_create(scene) : NULL;
  if (t->frames < 1) {
    snprintf(error->message, sizeof error->message, "%.200s: has no frames yet", path);
    status = DS_ERROR_INPUT;
  } else if ((bodies && !state) || !allocate_track(t)) {
    snprintf(error->message, sizeof error->message, "%.200s: no memory for %d frames", path, t->frames);
    status = DS_ERROR_MEMORY;
  }
  if (status == DS_OK) status = read_frames(t, recording, state, error);
  /* energies count from the first frame */
  double potential = status == DS_OK ? t->value[POTENTIAL][0] : 0, total = status == DS_OK ? t->value[TOTAL][0] : 0;
  for (int32_t i = 0; status == DS_OK && i < t->frames; i++) {
    t->value[POTENTIAL][i] -= potential;
    t->value[TOTAL][i] -= total;
  }
  ds_state_destroy(state);
  ds_recording_close(recording);
  return status;
}

static bool choose_metrics(plotting *p) {
  const char *names[METRIC_COUNT], *at = p->what;
  for (int i = 0; i < METRIC_COUNT; i++) names[i] = metrics[i].name;
  for (;;) {
    char word[32];
    size_t length = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
    int found = -1;
    for (int i = 0; i < METRIC_COUNT; i++) found = strcmp(word, names[i]) == 0 ? i : found;
    for (int i = 0; i < p->chosen_count; i++) {
      if (found != p->chosen[i]) continue;
      fprintf(stderr, "drystone plot: --what: %s is given twice\n", word);
      return false;
    }
    if (found < 0) {
      const char *nearest = args_nearest(word, names, METRIC_COUNT);
      fprintf(stderr, "drystone plot: --what: '%s' is unknown; ", word);
      if (nearest) {
        fprintf(stderr, "did you mean %s?\n", nearest);
      } else {
        fprintf(stderr, "give some of");
        for (int i = 0; i < METRIC_COUNT; i++) fprintf(stderr, "%s %s", i > 0 ? "," : "", names[i]);
        fprintf(stderr, "\n");
      }
      return false;
    }
    p->chosen[p->chosen_count++] = found;
    if (at[length] == '\0') return true;
    at += length + 1;
  }
}

static bool parse_plotting(plotting *p, arg_list *words, int argc, char **argv) {
  const arg_option options[] = {
      {.name = "--output", .alias = "-o", .kind = ARG_TEXT, .target = &p->output},
      {.name = "--what", .kind = ARG_TEXT, .target = &p->what},
      {.name = "--size", .kind = ARG_TEXT, .target = &p->size},
      {.name = "--dark", .kind = ARG_FLAG, .target = &p->dark},
  };
  ds_error error;
  if (!args_parse(words, argc, argv, options, sizeof options / sizeof options[0]) || !choose_metrics(p)) return false;
  if (words->count < 1 || words->count > TRACKS_MAX) {
    fprintf(stderr, "drystone plot: give one to %d recordings\n", TRACKS_MAX);
    return false;
  }
  if (!p->output) {
    fprintf(stderr, "drystone plot: give the output file: -o out.png, out.svg or out.pdf\n");
    return false;
  }
  for (int32_t i = 0; i < words->count; i++) {
    if (!source_same_file(words->items[i], p->output)) continue;
    fprintf(stderr, "drystone plot: %s would be overwritten by the plot\n", p->output);
    return false;
  }
  if (!args_ends_in(p->output, ".png") && !args_ends_in(p->output, ".svg") && !args_ends_in(p->output, ".pdf") &&
      !args_ends_in(p->output, "")) {
    fprintf(stderr, "drystone plot: %s: plots are PNG, SVG or PDF; give a name that ends in .png, .svg or .pdf\n",
            p->output);
    return false;
  }
  p->width = 1280;
  p->height = 160 + 215 * p->chosen_count;
  if (p->size && ds_image_parse_size(&p->width, &p->height, p->size, &error) != DS_OK) {
    fprintf(stderr, "drystone plot: --size: %s\n", error.message);
    return false;
  }
  return true;
}

/* Lines of a panel into `series`, which has room for them. */
static ds_panel make_panel(ds_series *series, char *rule_name, size_t rule_size, const plotting *p, const metric *m) {
  bool several = p->track_count > 1;
  ds_panel panel = {.title = several ? m->main_title : m->title,
                    .log_y = m->log,
                    .from_zero = m->from_zero,
                    .series = series,
                    .series_count = several ? p->track_count : m->lines};
  if (!several && m->lines == LINES_MAX && !p->tracks[0].deformable) panel.series_count--;
  for (int32_t i = 0; i < panel.series_count; i++) {
    const track *t = &p->tracks[several ? i : 0];
    int line = several ? m->main_line : (int)i;
    series[i] = (ds_series){.name = several ? t->name : m->line_name[line],
                            .x = t->time,
                            .y = t->value[m->line[line]],
                            .count = t->frames,
                            .color = ds_chart_color(i, p->dark)};
  }
  if (m->tolerance) {
    panel.has_rule = true;
    panel.rule = p->tracks[0].tolerance;
    for (int32_t i = 1; i < p->track_count; i++)
      panel.has_rule = panel.has_rule && p->tracks[i].tolerance == panel.rule;
    double digits = panel.rule > 0 ? panel.rule / pow(10, floor(log10(panel.rule) + 1e-9)) : 0;
    if (panel.rule > 0 && panel.rule < 1e-3)
      snprintf(rule_name, rule_size, "tolerance %.3ge%.0f", digits, floor(log10(panel.rule) + 1e-9));
    else
      snprintf(rule_name, rule_size, "tolerance %g", panel.rule);
    panel.rule_name = rule_name;
  }
  return panel;
}

static ds_status write_vector(ds_image *image, const ds_chart *chart, const char *path, ds_error *error) {
  output out;
  if (!output_open(&out, path, error)) return DS_ERROR_INPUT;
  ds_vector vector = {out.file, args_ends_in(path, ".pdf") ? DS_VECTOR_PDF : DS_VECTOR_SVG};
  ds_status status = ds_chart_draw(image, &vector, chart, error);
  if (status == DS_OK) return output_commit(&out, error) ? DS_OK : DS_ERROR_INPUT;
  output_discard(&out);
  return status;
}

static ds_status plot(plotting *p, const arg_list *words, ds_error *error) {
  ds_status status = DS_OK;
  for (int32_t i = 0; status == DS_OK && i < words->count; i++) {
    status = read_track(&p->tracks[i], words->items[i], needs_bodies(p), error);
    p->track_count++;
  }
  if (status != DS_OK) return status;
  ds_series series[METRIC_COUNT][TRACKS_MAX];
  ds_panel panels[METRIC_COUNT];
  char rule_name[48], title[96], subtitle[128];
  for (int i = 0; i < p->chosen_count; i++)
    panels[i] = make_panel(series[i], rule_name, sizeof rule_name, p, &metrics[p->chosen[i]]);
  const track *t = &p->tracks[0];
  if (p->track_count == 1) {
    snprintf(title, sizeof title, "%s", t->name);
    snprintf(subtitle, sizeof subtitle, "%d bodies, step %g s, %d frames", t->bodies, t->step, t->frames);
  } else {
    snprintf(title, sizeof title, "%d recordings compared", p->track_count);
    subtitle[0] = '\0';
  }
  ds_chart chart = {.title = title,
                    .subtitle = subtitle[0] ? subtitle : NULL,
                    .x_title = "time (s)",
                    .dark = p->dark,
                    .panels = panels,
                    .panel_count = p->chosen_count};
  ds_image image;
  status = ds_image_create(&image, p->width, p->height, error);
  if (status == DS_OK && (args_ends_in(p->output, ".svg") || args_ends_in(p->output, ".pdf")))
    status = write_vector(&image, &chart, p->output, error);
  else if (status == DS_OK && (status = ds_chart_draw(&image, NULL, &chart, error)) == DS_OK)
    status = ds_image_write_png(&image, p->output, error);
  ds_image_free(&image);
  return status;
}

int command_plot(int argc, char **argv) {
  arg_list words = {malloc((size_t)(argc + 1) * sizeof(const char *)), 0};
  plotting p = {.what = "energy,contacts,natural_error,iterations"};
  ds_error error = {{0}};
  int result = EXIT_INPUT;
  if (!words.items) {
    fprintf(stderr, "drystone plot: out of memory\n");
  } else if (parse_plotting(&p, &words, argc, argv)) {
    result = plot(&p, &words, &error) == DS_OK ? EXIT_OK : EXIT_INPUT;
    if (result != EXIT_OK) fprintf(stderr, "drystone plot: %s\n", error.message);
  }
  for (int i = 0; i < TRACKS_MAX; i++) free_track(&p.tracks[i]);
  free(words.items);
  return result;
}
