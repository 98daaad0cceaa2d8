/* A recorded motion as a device: a text of lines "t x y z [qw qx qy qz]".
 *
 * Straight between lines; the rotation by the shorter way, normalized. After the last line it stays there. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "drystone/scene_file.h"
#include "drystone/touch.h"
#include "la/vec3.h"

enum { NUMBERS = 8, LINE_MAX = 400 };

typedef struct trace_line {
  double time;
  ds_pose pose;
} trace_line;

typedef struct trace {
  trace_line *lines;
  int32_t count, capacity;
  int32_t at; /* the last line that has begun */
} trace;

static bool read_trace(void *user, double time, ds_device_motion *motion) {
  trace *t = user;
  if (time < t->lines[t->at].time) t->at = 0;
  while (t->at + 1 < t->count && t->lines[t->at + 1].time <= time) t->at++;
  const trace_line *a = &t->lines[t->at];
  *motion = (ds_device_motion){.pose = a->pose, .has_velocity = true};
  if (t->at + 1 == t->count || time < a->time) return true;
  double length = a[1].time - a->time, s = (time - a->time) / length;
  ds_quat p = a->pose.q, q = a[1].pose.q;
  double sign = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z < 0 ? -s : s;
  motion->velocity = v3_scale(1 / length, v3_sub(a[1].pose.p, a->pose.p));
  motion->pose.p = v3_mad(a->pose.p, s, v3_sub(a[1].pose.p, a->pose.p));
  motion->pose.q = quat_unit(quat((1 - s) * p.w + sign * q.w, (1 - s) * p.x + sign * q.x, (1 - s) * p.y + sign * q.y,
                                  (1 - s) * p.z + sign * q.z));
  return true;
}

static void write_trace(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  (void)user, (void)time, (void)force, (void)torque;
}

static void close_trace(void *user) {
  trace *t = user;
  free(t->lines);
  free(t);
}

/* ---- reading ---- */

typedef struct trace_source {
  const char *name;
  int32_t line;
  ds_error *error;
} trace_source;

static ds_status wrong(const trace_source *s, const char *what) {
  size_t n = strlen(s->name);
  return ds_fail(s->error, DS_ERROR_INPUT, "%s:%d: %s; expected \"t x y z\" or \"t x y z qw qx qy qz\"",
                 n > 300 ? s->name + n - 300 : s->name, (int)s->line, what);
}

/* The count of numbers on one line, which ends with 0; -1 if there is anything else. */
static int numbers_of(double *number, const char *line) {
  int count = 0;
  for (const char *c = line;;) {
    while (*c == ' ' || *c == '\t' || *c == '\r' || *c == ',') c++;
    if (*c == 0 || *c == '#') return count;
    char *end;
    double x = strtod(c, &end);
    if (end == c || count == NUMBERS || strchr(" \t\r,#", *end) == NULL || !isfinite(x)) return -1;
    number[count++] = x;
    c = end;
  }
}

static ds_status add_line(trace *t, const trace_source *s, const char *line) {
  double x[NUMBERS];
  int count = numbers_of(x, line);
  if (count == 0) return DS_OK;
  if (count != 4 && count != 8) return wrong(s, "these are not four or eight finite numbers");
  trace_line next = {x[0], {v3(x[1], x[2], x[3]), quat_identity()}};
  if (count == 8) next.pose.q = quat(x[4], x[5], x[6], x[7]);
  if (fabs(quat_norm(next.pose.q) - 1) > 1e-3) return wrong(s, "the quaternion has not length 1");
  if (t->count > 0 && !(next.time > t->lines[t->count - 1].time)) return wrong(s, "the time does not grow");
  if (!ds_array_reserve(&t->lines, &t->capacity, t->count + 1, sizeof *t->lines))
    return ds_fail(s->error, DS_ERROR_MEMORY, "out of memory");
  next.pose.q = quat_unit(next.pose.q);
  t->lines[t->count++] = next;
  return DS_OK;
}

static ds_status add_lines(trace *t, trace_source *s, const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    const char *end = memchr(text + i, '\n', length - i);
    size_t n = end ? (size_t)(end - (text + i)) : length - i;
    char line[LINE_MAX];
    s->line++;
    if (n >= sizeof line || memchr(text + i, 0, n)) return wrong(s, "this line is too long, or no text");
    memcpy(line, text + i, n);
    line[n] = 0;
    ds_status status = add_line(t, s, line);
    if (status != DS_OK) return status;
    i += n + 1;
  }
  return t->count > 0 ? DS_OK : wrong(s, "no line has numbers");
}

ds_status ds_device_trace_text(ds_device *device, const char *text, size_t length, const char *name, ds_error *error) {
  trace *t = calloc(1, sizeof *t);
  trace_source source = {name, 0, error};
  if (!t) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* strtod may not read "0.5" in other locales */
  locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
  ds_status status = c_locale ? add_lines(t, &source, text, length) : ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  if (c_locale) uselocale(before), freelocale(c_locale);
  *device = (ds_device){t, read_trace, write_trace, close_trace};
  if (status == DS_OK) return DS_OK;
  close_trace(t);
  *device = (ds_device){0};
  return status;
}

ds_status ds_device_trace(ds_device *device, const char *path, ds_error *error) {
  size_t length;
  ds_error why = {""};
  char *text = ds_text_read_file(path, &length, &why);
  if (!text) return ds_fail(error, DS_ERROR_INPUT, "trace %s", why.message);
  ds_status status = ds_device_trace_text(device, text, length, path, error);
  free(text);
  return status;
}
