/* Metrics of a finished run: fields of its report, and places of bodies in the first and last frame of its recording.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "drystone/scene_file.h"
#include "record/record.h"
#include "sweep.h"

bool sweep_needs_record(const sweep *s) {
  for (int32_t i = 0; i < s->metric_count; i++)
    if (s->metrics[i].stands || s->metrics[i].body != NULL) return true;
  return false;
}

static bool fail(ds_error *error, const sweep *s, const sweep_metric *m, const char *what) {
  ds_json_message(error, s->file, s->text, m->at->start, "metric \"%s\": %s", m->name, what);
  return false;
}

static void set_number(sweep_value *value, double number) {
  *value = (sweep_value){.number = number};
  if (isfinite(number)) ds_json_write_number(value->text, number);
}

/* ---- the report ---- */

/* The value at a path such as "ms_mean.total" or "loads.0.falls". */
static const ds_json *find_path(const ds_json *value, const char *path) {
  char key[256];
  while (value != NULL) {
    size_t length = strcspn(path, ".");
    if (length >= sizeof key) return NULL;
    memcpy(key, path, length);
    key[length] = '\0';
    if (value->kind == DS_JSON_OBJECT) {
      value = ds_json_find(value, key);
    } else if (value->kind == DS_JSON_ARRAY) {
      char *end;
      long index = strtol(key, &end, 10);
      if (length == 0 || *end != '\0' || index < 0 || index >= value->count) return NULL;
      for (value = value->first; index > 0; index--) value = value->next;
    } else {
      return NULL;
    }
    if (path[length] == '\0') return value;
    path += length + 1;
  }
  return NULL;
}

static bool read_field(sweep_value *value, const sweep *s, const sweep_metric *m, const ds_json *root,
                       ds_error *error) {
  const ds_json *v = find_path(root, m->field);
  if (v == NULL) return fail(error, s, m, "the report has no such field");
  if (v->kind == DS_JSON_ARRAY || v->kind == DS_JSON_OBJECT)
    return fail(error, s, m, "is not one value; continue the path, as in \"ms_mean.total\" or \"list.0\"");
  set_number(value, v->kind == DS_JSON_NUMBER ? v->number : v->kind == DS_JSON_BOOLEAN ? v->boolean : (double)NAN);
  value->is_text = v->kind == DS_JSON_STRING;
  if (value->is_text) snprintf(value->text, sizeof value->text, "%s", v->string);
  return true;
}

/* ---- the recording ---- */

/* No dynamic body is farther from its start than half its bounding radius. */
static bool stands(const ds_scene *scene, const ds_pose *now, const ds_pose *start) {
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id body = ds_scene_body(scene, i);
    if (ds_body_get_kind(scene, body) != DS_BODY_DYNAMIC) continue;
    if (!(v3_dist(now[i].p, start[i].p) <= 0.5 * ds_body_radius(scene, body))) return false;
  }
  return true;
}

static double measure_body(const ds_frame *now, const ds_pose *start, int32_t i, sweep_quantity quantity) {
  ds_vec3 p = now->poses[i].p;
  switch (quantity) {
    case SWEEP_X:
      return p.x;
    case SWEEP_Y:
      return p.y;
    case SWEEP_Z:
      return p.z;
    case SWEEP_DISTANCE:
      return v3_dist(p, start[i].p);
    case SWEEP_SPEED:
      return v3_norm(now->velocities[i]);
    case SWEEP_ANGLE:
      break;
  }
  ds_quat turn = quat_mul(now->poses[i].q, quat_conj(start[i].q));
  return 360 / DS_PI * atan2(v3_norm(v3(turn.x, turn.y, turn.z)), fabs(turn.w));
}

static bool read_metric_of_frames(sweep_value *value, const sweep *s, const sweep_metric *m, const ds_scene *scene,
                                  const ds_frame *now, const ds_pose *start, ds_error *error) {
  if (m->stands) return set_number(value, stands(scene, now->poses, start)), true;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    if (strcmp(ds_body_name(scene, ds_scene_body(scene, i)), m->body) != 0) continue;
    set_number(value, measure_body(now, start, i, (sweep_quantity)m->quantity));
    return true;
  }
  char what[200];
  snprintf(what, sizeof what, "the scene has no body named %.120s", ds_quote(m->body).text);
  return fail(error, s, m, what);
}

static bool read_frames(sweep_run *run, const sweep *s, const char *path, ds_error *error) {
  ds_recording *recording = ds_recording_open(path, error);
  if (recording == NULL) return false;
  const ds_scene *scene = ds_recording_scene(recording);
  int32_t bodies = ds_scene_body_count(scene), last = ds_recording_frame_count(recording) - 1;
  ds_pose *start = malloc(((size_t)bodies + 1) * sizeof *start);
  ds_frame frame;
  bool ok = start != NULL && last >= 0 && ds_recording_read(recording, &frame, 0, error) == DS_OK;
  if (ok) memcpy(start, frame.poses, (size_t)bodies * sizeof *start);
  ok = ok && ds_recording_read(recording, &frame, last, error) == DS_OK;
  for (int32_t i = 0; ok && i < s->metric_count; i++) {
    const sweep_metric *m = &s->metrics[i];
    if (m->stands || m->body != NULL) ok = read_metric_of_frames(&run->values[i], s, m, scene, &frame, start, error);
  }
  free(start);
  ds_recording_close(recording);
  return ok;
}

bool sweep_measure(sweep_run *run, const sweep *s, const char *report, const char *record, ds_error *error) {
  size_t length;
  ds_json_doc doc;
  char *text = ds_text_read_file(report, &length, error);
  if (text == NULL) return false;
  if (ds_json_parse(&doc, text, length, report, error) != DS_OK) {
    free(text);
    return false;
  }
  snprintf(error->message, sizeof error->message, "out of memory");
  free(run->values);
  run->values = calloc((size_t)s->metric_count, sizeof *run->values);
  bool ok = run->values != NULL;
  for (int32_t i = 0; ok && i < s->metric_count; i++) {
    const sweep_metric *m = &s->metrics[i];
    if (m->body == NULL && !m->stands) ok = read_field(&run->values[i], s, m, doc.root, error);
  }
  if (ok && record != NULL) ok = read_frames(run, s, record, error);
  ds_json_free(&doc);
  free(text);
  return ok;
}
