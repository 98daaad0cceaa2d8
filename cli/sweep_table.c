/* The result of a sweep as tables: results.csv and results.h5, a row per run. They hold no times, so that the same
 * sweep gives the same bytes, on any number of workers and however often it was interrupted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/table_file.h"
#include "output.h"
#include "sweep.h"

static const char *const ends[] = {"open", "done", "failed"};

/* ---- CSV ---- */

/* A field, in quotes where it has what would end it. */
static void put_field(FILE *out, const char *text, bool first) {
  if (!first) fputc(',', out);
  if (strpbrk(text, ",\"\n\r") == NULL) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text != '\0'; text++) fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
  fputc('"', out);
}

static void put_row(FILE *out, const sweep *s, int32_t run) {
  const sweep_run *r = &s->runs[run];
  sweep_value value;
  fprintf(out, "%d", (int)run + 1);
  for (int32_t p = 0; p < s->parameter_count; p++) {
    sweep_parameter_value(&value, s, run, p);
    put_field(out, value.text, false);
  }
  for (int32_t m = 0; m < s->metric_count; m++) put_field(out, r->end == SWEEP_DONE ? r->values[m].text : "", false);
  put_field(out, ends[r->end], false);
  put_field(out, r->message != NULL ? r->message : "", false);
  fputc('\n', out);
}

static bool write_csv(const sweep *s, const char *path, ds_error *error) {
  output out = {0};
  if (!output_open(&out, path, error)) return false;
  put_field(out.file, "run", true);
  for (int32_t p = 0; p < s->parameter_count; p++) put_field(out.file, s->parameters[p].name, false);
  for (int32_t m = 0; m < s->metric_count; m++) put_field(out.file, s->metrics[m].name, false);
  fputs(",end,message\n", out.file);
  for (int32_t i = 0; i < s->run_count; i++) put_row(out.file, s, i);
  return output_commit(&out, error);
}

/* ---- HDF5 ---- */

/* A column of values: numbers, unless one of them is a text. */
typedef struct column_data {
  double *numbers;
  char **texts;
} column_data;

static void free_data(column_data *d, int32_t rows) {
  for (int32_t i = 0; d->texts != NULL && i < rows; i++) free(d->texts[i]);
  free(d->texts);
  free(d->numbers);
}

/* Column c: parameters, then metrics, then the end and the message. */
static bool is_text_column(const sweep *s, int32_t c) {
  if (c >= s->parameter_count + s->metric_count) return true;
  for (int32_t i = 0; i < s->run_count; i++) {
    sweep_value value = {.is_text = false};
    if (c < s->parameter_count)
      sweep_parameter_value(&value, s, i, c);
    else if (s->runs[i].end == SWEEP_DONE)
      value = s->runs[i].values[c - s->parameter_count];
    if (value.is_text) return true;
  }
  return false;
}

static void value_at(sweep_value *value, const sweep *s, int32_t c, int32_t run) {
  const sweep_run *r = &s->runs[run];
  *value = (sweep_value){.number = NAN};
  if (c < s->parameter_count)
    sweep_parameter_value(value, s, run, c);
  else if (c < s->parameter_count + s->metric_count && r->end == SWEEP_DONE)
    *value = r->values[c - s->parameter_count];
}

static bool fill_column(column_data *d, const sweep *s, int32_t c) {
  bool text = is_text_column(s, c);
  int32_t end = s->parameter_count + s->metric_count;
  if (text)
    d->texts = calloc((size_t)s->run_count, sizeof *d->texts);
  else
    d->numbers = malloc((size_t)s->run_count * sizeof *d->numbers);
  if (text ? d->texts == NULL : d->numbers == NULL) return false;
  for (int32_t i = 0; i < s->run_count; i++) {
    const sweep_run *r = &s->runs[i];
    sweep_value value;
    value_at(&value, s, c, i);
    if (!text) {
      d->numbers[i] = value.number;
      continue;
    }
    const char *written = c == end ? ends[r->end] : c > end ? (r->message != NULL ? r->message : "") : value.text;
    d->texts[i] = strdup(written);
    if (d->texts[i] == NULL) return false;
  }
  return true;
}

static bool write_hdf5(const sweep *s, const char *path, ds_error *error) {
  enum { COLUMNS_MAX = SWEEP_PARAMETERS_MAX + SWEEP_METRICS_MAX + 2 };
  column_data data[COLUMNS_MAX] = {{0}};
  ds_column columns[COLUMNS_MAX];
  int32_t metrics = s->parameter_count, end = metrics + s->metric_count, count = end + 2;
  bool ok = true;
  for (int32_t c = 0; c < count && ok; c++) {
    ok = fill_column(&data[c], s, c);
    columns[c] = (ds_column){.role = c < metrics ? "parameter"
                                     : c < end   ? "metric"
                                                 : NULL,
                             .numbers = data[c].numbers,
                             .texts = data[c].texts};
    columns[c].name = c < metrics ? s->parameters[c].name
                      : c < end   ? s->metrics[c - metrics].name
                      : c == end  ? "end"
                                  : "message";
  }
  if (ok)
    ok = ds_table_write(path, columns, count, s->run_count, error);
  else
    snprintf(error->message, sizeof error->message, "out of memory");
  for (int32_t c = 0; c < count; c++) free_data(&data[c], s->run_count);
  return ok;
}

bool sweep_write_tables(const sweep *s, const char *folder, ds_error *error) {
  char path[4096];
  snprintf(path, sizeof path, "%.4000s/results.csv", folder);
  if (!write_csv(s, path, error)) return false;
  snprintf(path, sizeof path, "%.4000s/results.h5", folder);
  return write_hdf5(s, path, error);
}
