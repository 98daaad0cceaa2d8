/* Reads recordings, layout.h. Nothing in a file is trusted: types, ranks and sizes are checked when it is opened,
 * indices and numbers when a frame is read, and a recording never claims more rows than the file has bytes.
 *
 * A file whose writer was killed is still marked as being written; HDF5 opens it in SWMR-read mode only. Its valid
 * frames are those in /frames/count. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "body/scene.h"
#include "io/attributes.h"
#include "io/hdf5_errors.h"
#include "la/vec3.h"
#include "record/layout.h"
#include "record/rows.h"

/* What looks damaged may be half written: HDF5 reads it again, each time after twice the time, from 1 ns. 24 attempts
 * are 17 ms; the default of 100 would wait indefinitely for a damaged file. */
enum { READ_ATTEMPTS = 24, REPORT_BLOCK = 256 /* reports read at once */ };

struct ds_recording {
  hid_t file, sets[DS_SET_END];
  hid_t tails[DS_SET_STATE];       /* rows after those of the set, while it is written (growing.h); < 0: none */
  hid_t report_type, contact_type; /* in memory */
  char *path, *text;
  char version[32];
  ds_scene *scene;
  ds_run_settings settings;
  bool closed, has_state, has_tail, has_motion; /* has_motion: /frames/motion; else a frame's row is its number */
  int32_t body_count, reduced_count, frames;
  int64_t contact_rows, file_size;
  double *times;
  int64_t *motion, motion_rows; /* a frame's row of poses, velocities and reduced coordinates */
  int64_t *contact_start;
  int32_t *contact_count;
  double *row; /* 7 numbers per body */
  ds_pose *poses;
  ds_vec3 *velocities, *angular_velocities;
  double *reduced, *reduced_rate;
  ds_report_row *reports; /* a block of them, aligned to REPORT_BLOCK */
  int32_t report_block;   /* which, -1 = none */
  ds_contact_row *contact_rows_read;
  ds_contact *contacts;
  int32_t contact_capacity;
};

static ds_status damaged(const ds_recording *r, ds_error *error, const char *what) {
  return ds_fail(error, DS_ERROR_INPUT, "%s: not a readable Drystone recording: %s", r->path, what);
}

static const char too_short[] = "it claims more rows than it has bytes; it may have been cut short";

static ds_status no_memory(const ds_recording *r, ds_error *error) {
  return ds_fail(error, DS_ERROR_MEMORY, "%s: out of memory", r->path);
}

/* ---- Scene and settings ---- */

static ds_status read_scene_text(ds_recording *r, ds_error *error) {
  if (H5Lexists(r->file, "/scene", H5P_DEFAULT) <= 0) return damaged(r, error, "it has no /scene");
  hid_t set = H5Dopen2(r->file, "/scene", H5P_DEFAULT), type = set >= 0 ? H5Dget_type(set) : -1;
  hid_t space = set >= 0 ? H5Dget_space(set) : -1;
  bool ok = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
            H5Sget_simple_extent_npoints(space) == 1 && H5Tget_size(type) <= (size_t)r->file_size;
  if (ok) {
    r->text = calloc(1, H5Tget_size(type) + 1);
    ok = r->text != NULL && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->text) >= 0;
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (set >= 0) H5Dclose(set);
  return ok ? DS_OK : damaged(r, error, "the text of its scene cannot be read");
}

static bool read_setting(ds_setting_values *values, hid_t group, const ds_setting *setting) {
  void *value = (char *)values + setting->offset;
  return setting->kind == DS_SETTING_REAL ? ds_attribute_read_real(value, group, setting->name)
                                          : ds_attribute_read_integer(value, group, setting->name);
}

static ds_status read_settings(ds_recording *r, ds_error *error) {
  const ds_options usual = ds_default_options(); /* what older recordings do not say */
  ds_setting_values values = {.sub_islands = usual.sub_islands,
                              .metric = (int32_t)usual.metric,
                              .newton = usual.newton,
                              .newmark_damping = usual.newmark_damping,
                              .step_budget = usual.step_budget,
                              .stabilization_gain = usual.stabilization_gain,
                              .envelope = usual.envelope,
                              .error_control = usual.error_control};
  int32_t count;
  const ds_setting *settings = ds_record_settings(&count);
  hid_t group = H5Lexists(r->file, "/settings", H5P_DEFAULT) > 0 ? H5Gopen2(r->file, "/settings", H5P_DEFAULT) : -1;
  bool ok = group >= 0 && ds_attribute_read_text(r->settings.name, sizeof r->settings.name, group, "name");
  for (int32_t i = 0; ok && i < count; i++)
    ok =
        (settings[i].optional && H5Aexists(group, settings[i].name) <= 0) || read_setting(&values, group, &settings[i]);
  int32_t predictor = 0; /* of earlier versions, in which "staggered" was this setting's 1 */
  if (ok && H5Aexists(group, "predictor") > 0) ok = ds_attribute_read_integer(&predictor, group, "predictor");
  if (group >= 0) H5Gclose(group);
  if (!ok) return damaged(r, error, "its /settings are not complete");
  if (!isfinite(values.time) || values.time < 0) return damaged(r, error, "its time is not a duration");
  if (values.method < 0 || values.metric < 0 || values.integrator < 0 || values.restitution_law < 0 ||
      values.impacts < 0 || values.face_pressure < 0 || values.stabilization < 0)
    return damaged(r, error, "its method is unknown");
  r->settings.time = values.time;
  ds_options *o = &r->settings.options;
  o->step = values.step;
  o->tolerance = values.tolerance;
  o->rel_err = values.rel_err;
  o->margin = values.margin;
  o->method = predictor == 1 && values.method == 0 ? ds_method_named("staggered") : values.method;
  o->friction_samples = values.friction_samples;
  o->max_iterations = values.max_iterations;
  o->warm_start = values.warm_start != 0;
  o->sub_islands = values.sub_islands != 0;
  o->contacts_per_face = values.contacts_per_face;
  o->metric = (ds_metric)values.metric;
  o->integrator = (ds_integrator)values.integrator;
  o->restitution_law = values.restitution_law;
  o->impacts = (ds_impact_order)values.impacts;
  o->face_pressure = (ds_face_pressure)values.face_pressure;
  o->stabilization = (ds_stabilization)values.stabilization;
  o->stabilization_gain = values.stabilization_gain;
  o->envelope = values.envelope;
  o->friction_stabilization = values.friction_stabilization;
  o->newton = values.newton;
  o->newmark_damping = values.newmark_damping;
  o->step_budget = values.step_budget;
  o->error_control = values.error_control;
  o->deadline = values.deadline;
  ds_error why;
  return ds_options_check(o, &why) == DS_OK ? DS_OK : damaged(r, error, why.message);
}

/* ---- Datasets ---- */

/* What a set has to look like: class of its numbers, rank, and the fixed dimensions. */
static bool set_fits(ds_recording *r, ds_record_set set, int64_t *rows) {
  hid_t type = H5Dget_type(r->sets[set]), space = H5Dget_space(r->sets[set]);
  hsize_t dims[3] = {0, 0, 0}, bodies = r->body_count > 0 ? (hsize_t)r->body_count : 1;
  int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  bool ok = type >= 0 && rank >= 0 && rank <= 3 && H5Sget_simple_extent_dims(space, dims, NULL) >= 0;
  H5T_class_t class = ok ? H5Tget_class(type) : H5T_NO_CLASS;
  switch (set) {
    case DS_SET_TIME:
      ok = ok && class == H5T_FLOAT && rank == 1;
      break;
    case DS_SET_POSE:
      ok = ok && class == H5T_FLOAT && rank == 3 && dims[1] == bodies && dims[2] == 7;
      break;
    case DS_SET_VELOCITY:
      ok = ok && class == H5T_FLOAT && rank == 3 && dims[1] == bodies && dims[2] == 6;
      break;
    case DS_SET_REDUCED:
    case DS_SET_REDUCED_RATE:
      ok = ok && class == H5T_FLOAT && rank == 2 && dims[1] == (hsize_t)r->reduced_count;
      break;
    case DS_SET_REPORT:
      ok = ok && rank == 1 && ds_record_has_members(type, r->report_type);
      break;
    case DS_SET_CONTACTS:
      ok = ok && rank == 1 && ds_record_has_members(type, r->contact_type);
      break;
    case DS_SET_MOTION:
    case DS_SET_CONTACT_START:
    case DS_SET_CONTACT_COUNT:
      ok = ok && class == H5T_INTEGER && rank == 1;
      break;
    case DS_SET_STATE:
      ok = ok && class == H5T_INTEGER && rank == 2 && dims[0] == 2 && H5Tget_size(type) == 1;
      break;
    case DS_SET_COUNT:
    case DS_SET_CLOSED:
    case DS_SET_END:
      ok = ok && class == H5T_INTEGER && rank == 0;
      break;
  }
  *rows = ok && dims[0] < (hsize_t)INT64_MAX ? (int64_t)dims[0] : 0;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static ds_status bad_set(const ds_recording *r, ds_error *error, int set, const char *what) {
  char text[128];
  snprintf(text, sizeof text, "%s %s", ds_record_set_path((ds_record_set)set), what);
  return damaged(r, error, text);
}

static bool has_set(const ds_recording *r, int set) {
  if (set == DS_SET_STATE) return r->has_state;
  if (set == DS_SET_MOTION) return r->has_motion;
  return r->reduced_count > 0 || !ds_record_set_is_reduced((ds_record_set)set);
}

static ds_status open_tails(ds_recording *r, ds_error *error) {
  for (int i = 0; r->has_tail && i < DS_SET_STATE; i++) {
    const char *path = ds_record_tail_path((ds_record_set)i);
    if (!has_set(r, i)) continue;
    if (H5Lexists(r->file, "/tail", H5P_DEFAULT) > 0 && H5Lexists(r->file, path, H5P_DEFAULT) > 0)
      r->tails[i] = H5Dopen2(r->file, path, H5P_DEFAULT);
    if (r->tails[i] < 0) return bad_set(r, error, i, "has no tail");
    if (!ds_rows_fit(r->sets[i], r->tails[i], r->file_size))
      return bad_set(r, error, i, "has a tail of another type or shape");
  }
  return DS_OK;
}

/* Opens the datasets and finds their number of rows. Reads first how many frames there are, then the sizes: a writer
 * may be adding to them. */
static ds_status open_sets(ds_recording *r, int64_t *rows, ds_error *error) {
  bool frames = H5Lexists(r->file, "/frames", H5P_DEFAULT) > 0;
  for (int i = 0; i < DS_SET_END; i++) {
    const char *path = ds_record_set_path((ds_record_set)i);
    if (!has_set(r, i)) continue;
    if (frames && H5Lexists(r->file, path, H5P_DEFAULT) > 0) r->sets[i] = H5Dopen2(r->file, path, H5P_DEFAULT);
    if (r->sets[i] < 0) return bad_set(r, error, i, "is missing");
  }
  int64_t scalars[DS_SET_END] = {0};
  for (int i = DS_SET_COUNT; i < DS_SET_END; i++)
    if (!set_fits(r, (ds_record_set)i, &rows[i]) ||
        H5Dread(r->sets[i], H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &scalars[i]) < 0 || scalars[i] < 0)
      return bad_set(r, error, i, "is not a count");
  for (int i = 0; i < DS_SET_COUNT; i++)
    if (has_set(r, i) && (H5Drefresh(r->sets[i]) < 0 || !set_fits(r, (ds_record_set)i, &rows[i])))
      return bad_set(r, error, i, "has another type or shape than expected");
  rows[DS_SET_COUNT] = scalars[DS_SET_COUNT];
  r->closed = scalars[DS_SET_CLOSED] == 1;
  ds_status status = open_tails(r, error);
  for (int i = 0; status == DS_OK && r->has_tail && i < DS_SET_STATE; i++) {
    if (!has_set(r, i)) continue;
    if (!ds_rows_have_bytes(r->sets[i], r->file_size)) return damaged(r, error, too_short);
    if (!r->closed) rows[i] += ds_rows_count(r->tails[i]); /* at most */
  }
  return status;
}

static bool read_rows(const ds_recording *r, void *rows, ds_record_set set, hid_t type, int64_t at, int64_t count) {
  return ds_rows_read(r->sets[set], set < DS_SET_STATE ? r->tails[set] : -1, rows, type, at, count);
}

/* The number of complete frames. Before version 7 rows were not compressed: they cannot take more bytes than the file
 * has. */
static ds_status count_frames(ds_recording *r, const int64_t *rows, ds_error *error) {
  int64_t frames = rows[DS_SET_COUNT];
  for (int i = 0; i <= DS_SET_CONTACT_COUNT; i++) {
    if (!has_set(r, i) || rows[i] >= frames || (r->has_motion && ds_record_set_is_motion((ds_record_set)i))) continue;
    if (r->closed) return damaged(r, error, "its datasets are shorter than its number of frames");
    frames = rows[i];
  }
  struct stat status; /* it may have grown since */
  if (stat(r->path, &status) == 0 && (int64_t)status.st_size > r->file_size) r->file_size = (int64_t)status.st_size;
  int64_t bodies = r->body_count > 0 ? r->body_count : 1, bytes = 8 * (7 + 6) * bodies + 16 * (int64_t)r->reduced_count;
  r->motion_rows = INT64_MAX;
  for (int i = 0; i < DS_SET_COUNT; i++)
    if (has_set(r, i) && ds_record_set_is_motion((ds_record_set)i) && rows[i] < r->motion_rows)
      r->motion_rows = rows[i];
  int64_t of_frame = 8 + 8 + 4 + (r->has_motion ? 8 : bytes);
  if ((!r->has_tail && frames > r->file_size / of_frame) || frames > INT32_MAX) return damaged(r, error, too_short);
  r->frames = (int32_t)frames;
  r->contact_rows = rows[DS_SET_CONTACTS];
  return DS_OK;
}

static ds_status read_index(ds_recording *r, ds_error *error) {
  size_t frames = (size_t)r->frames + 1, bodies = (size_t)r->body_count + 1;
  r->times = calloc(frames, sizeof *r->times);
  r->motion = calloc(frames, sizeof *r->motion);
  r->contact_start = calloc(frames, sizeof *r->contact_start);
  r->contact_count = calloc(frames, sizeof *r->contact_count);
  r->row = calloc(bodies, 7 * sizeof *r->row);
  r->reports = calloc(REPORT_BLOCK, sizeof *r->reports);
  r->report_block = -1;
  r->poses = calloc(bodies, sizeof *r->poses);
  r->velocities = calloc(bodies, sizeof *r->velocities);
  r->angular_velocities = calloc(bodies, sizeof *r->angular_velocities);
  r->reduced = calloc((size_t)r->reduced_count + 1, sizeof *r->reduced);
  r->reduced_rate = calloc((size_t)r->reduced_count + 1, sizeof *r->reduced_rate);
  if (!r->times || !r->motion || !r->contact_start || !r->contact_count || !r->row || !r->reports || !r->poses ||
      !r->velocities || !r->angular_velocities || !r->reduced || !r->reduced_rate)
    return no_memory(r, error);
  if (r->frames == 0) return DS_OK;
  if (!read_rows(r, r->times, DS_SET_TIME, H5T_NATIVE_DOUBLE, 0, r->frames) ||
      (r->has_motion && !read_rows(r, r->motion, DS_SET_MOTION, H5T_NATIVE_INT64, 0, r->frames)) ||
      !read_rows(r, r->contact_start, DS_SET_CONTACT_START, H5T_NATIVE_INT64, 0, r->frames) ||
      !read_rows(r, r->contact_count, DS_SET_CONTACT_COUNT, H5T_NATIVE_INT32, 0, r->frames))
    return damaged(r, error, "the index of its frames cannot be read");
  int64_t row_size = 8 * (7 + 6) * (r->body_count > 0 ? (int64_t)r->body_count : 1) + 16 * (int64_t)r->reduced_count;
  for (int32_t i = 0; i < r->frames; i++) {
    int64_t start = r->contact_start[i], count = r->contact_count[i];
    if (!isfinite(r->times[i]) || (i > 0 && r->times[i] < r->times[i - 1]))
      return damaged(r, error, "its times do not ascend");
    if (!r->has_motion) r->motion[i] = i;
    if (r->motion[i] < 0) return damaged(r, error, "a frame's motion has a negative index");
    if (r->motion[i] >= r->motion_rows) {
      if (r->closed) return damaged(r, error, "a frame's motion is missing");
      r->frames = i; /* its writer was killed before it was there */
      break;
    }
    if (!r->has_tail && r->motion[i] + 1 > r->file_size / row_size) return damaged(r, error, too_short);
    if (start < 0 || count < 0) return damaged(r, error, "a frame's contacts have a negative index");
    if (start > r->contact_rows || count > r->contact_rows - start) {
      if (r->closed) return damaged(r, error, "a frame's contacts are missing");
      r->frames = i; /* its writer was killed before they were there */
    } else if (!r->has_tail && start + count > r->file_size / ((int64_t)sizeof(ds_contact_row) - 4)) {
      return damaged(r, error, too_short);
    }
  }
  return DS_OK;
}

/* ---- Opening and closing ---- */

static ds_status open_file(ds_recording *r, ds_error *error) {
  struct stat status;
  int file = open(r->path, O_RDONLY | O_CLOEXEC);
  bool known = file >= 0 && fstat(file, &status) == 0;
  int why = errno;
  if (file >= 0) close(file);
  if (!known) return ds_fail(error, DS_ERROR_INPUT, "%s: cannot be opened: %s", r->path, strerror(why));
  if (!S_ISREG(status.st_mode)) return ds_fail(error, DS_ERROR_INPUT, "%s: is not a regular file", r->path);
  if (H5Fis_hdf5(r->path) <= 0) return damaged(r, error, "it is not an HDF5 file");
  r->file_size = (int64_t)status.st_size;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_metadata_read_attempts(access, READ_ATTEMPTS) >= 0)
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
  if (access >= 0) H5Pclose(access);
  if (r->file < 0) r->file = H5Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT); /* written by an older HDF5 */
  if (r->file < 0) {
    char reason[160];
    ds_hdf5_reason(reason, sizeof reason);
    return damaged(r, error, reason);
  }
  char format[64];
  if (!ds_attribute_read_text(format, sizeof format, r->file, "format") || strcmp(format, DS_RECORD_FORMAT) != 0)
    return damaged(r, error, "an HDF5 file of another kind");
  int32_t version;
  if (!ds_attribute_read_integer(&version, r->file, "format_version"))
    return damaged(r, error, "it has no format version");
  if (version < DS_RECORD_FORMAT_FIRST || version > DS_RECORD_FORMAT_VERSION)
    return ds_fail(error, DS_ERROR_INPUT, "%s: recording of format version %d; this program reads versions %d to %d",
                   r->path, (int)version, (int)DS_RECORD_FORMAT_FIRST, (int)DS_RECORD_FORMAT_VERSION);
  r->has_state = version >= DS_RECORD_FORMAT_STATE;
  r->has_motion = version >= DS_RECORD_FORMAT_MOTION;
  r->has_tail = version >= DS_RECORD_FORMAT_TAIL;
  if (!ds_attribute_read_text(r->version, sizeof r->version, r->file, "drystone_version"))
    return damaged(r, error, "it has no drystone_version");
  return DS_OK;
}

static ds_status open_scene(ds_recording *r, ds_error *error) {
  ds_error why = {{0}};
  ds_run_settings in_text;
  ds_record_meshes meshes = {r->file, r->file_size};
  ds_scene_read_options options = ds_default_scene_read();
  options.surface_only = true;
  options.meshes = ds_record_read_solid;
  options.reduced = ds_record_read_reduced;
  options.user = &meshes;
  r->scene = ds_scene_read_text_with(r->text, strlen(r->text), "scene", &options, &in_text, &why);
  if (r->scene == NULL) return damaged(r, error, why.message);
  r->body_count = r->scene->body_count;
  r->reduced_count = r->scene->reduced_count;
  return DS_OK;
}

ds_recording *ds_recording_open(const char *path, ds_error *error) {
  ds_hdf5_quiet();
  ds_recording *r = calloc(1, sizeof *r);
  if (r == NULL) {
    ds_fail(error, DS_ERROR_MEMORY, "%s: out of memory", path);
    return NULL;
  }
  r->file = -1;
  for (int i = 0; i < DS_SET_END; i++) r->sets[i] = -1;
  for (int i = 0; i < DS_SET_STATE; i++) r->tails[i] = -1;
  r->report_type = ds_record_report_type(false);
  r->contact_type = ds_record_contact_type(false);
  r->path = strdup(path);
  int64_t rows[DS_SET_END];
  if (r->path == NULL || r->report_type < 0 || r->contact_type < 0) {
    ds_fail(error, DS_ERROR_MEMORY, "%s: out of memory", path);
  } else if (open_file(r, error) == DS_OK && read_scene_text(r, error) == DS_OK && read_settings(r, error) == DS_OK &&
             open_scene(r, error) == DS_OK && open_sets(r, rows, error) == DS_OK &&
             count_frames(r, rows, error) == DS_OK && read_index(r, error) == DS_OK) {
    return r;
  }
  ds_recording_close(r);
  return NULL;
}

void ds_recording_close(ds_recording *r) {
  if (r == NULL) return;
  for (int i = 0; i < DS_SET_END; i++)
    if (r->sets[i] >= 0) H5Dclose(r->sets[i]);
  for (int i = 0; i < DS_SET_STATE; i++)
    if (r->tails[i] >= 0) H5Dclose(r->tails[i]);
  if (r->file >= 0) H5Fclose(r->file);
  if (r->report_type >= 0) H5Tclose(r->report_type);
  if (r->contact_type >= 0) H5Tclose(r->contact_type);
  ds_scene_destroy(r->scene);
  free(r->path);
  free(r->text);
  free(r->times);
  free(r->motion);
  free(r->contact_start);
  free(r->contact_count);
  free(r->row);
  free(r->reports);
  free(r->poses);
  free(r->velocities);
  free(r->angular_velocities);
  free(r->reduced);
  free(r->reduced_rate);
  free(r->contact_rows_read);
  free(r->contacts);
  free(r);
}

const ds_scene *ds_recording_scene(const ds_recording *r) { return r->scene; }
const char *ds_recording_scene_text(const ds_recording *r) { return r->text; }
const ds_run_settings *ds_recording_settings(const ds_recording *r) { return &r->settings; }
int32_t ds_recording_frame_count(const ds_recording *r) { return r->frames; }
bool ds_recording_closed(const ds_recording *r) { return r->closed; }
const char *ds_recording_version(const ds_recording *r) { return r->version; }

double ds_recording_time(const ds_recording *r, int32_t index) {
  return index >= 0 && index < r->frames ? r->times[index] : 0;
}

int32_t ds_recording_find(const ds_recording *r, double time) {
  int32_t low = 0, high = r->frames - 1;
  if (high < 0) return -1;
  while (low < high) { /* the first frame not before the time */
    int32_t middle = low + (high - low) / 2;
    if (r->times[middle] < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && time - r->times[low - 1] <= r->times[low] - time ? low - 1 : low;
}

/* ---- Frames ---- */

static ds_status bad_frame(const ds_recording *r, ds_error *error, int32_t index, const char *what) {
  return ds_fail(error, DS_ERROR_INPUT, "%s: frame %d: %s", r->path, (int)index, what);
}

static ds_status check_index(const ds_recording *r, ds_error *error, int32_t index) {
  if (index >= 0 && index < r->frames) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT, "%s: has no frame %d; it has %d", r->path, (int)index, (int)r->frames);
}

static bool read_report_block(ds_recording *r, int32_t block) {
  if (block == r->report_block) return true;
  int32_t at = block * REPORT_BLOCK, count = r->frames - at < REPORT_BLOCK ? r->frames - at : REPORT_BLOCK;
  r->report_block = -1;
  memset(r->reports, 0, REPORT_BLOCK * sizeof *r->reports);
  if (!read_rows(r, r->reports, DS_SET_REPORT, r->report_type, at, count)) return false;
  r->report_block = block;
  return true;
}

ds_status ds_recording_read_report(ds_recording *r, ds_step_report *report, int32_t index, ds_error *error) {
  if (check_index(r, error, index) != DS_OK) return DS_ERROR_INPUT;
  if (!read_report_block(r, index / REPORT_BLOCK)) return bad_frame(r, error, index, "its report cannot be read");
  ds_report_row row = r->reports[index % REPORT_BLOCK];
  if (row.contacts < 0 || row.active_contacts < 0 || row.islands < 0 || row.unconverged_islands < 0 ||
      row.staggered_iterations < 0 || row.projection_iterations < 0 || row.factorizations < 0)
    return bad_frame(r, error, index, "its report counts below zero");
  *report = (ds_step_report){.step = row.step,
                             .time = row.time,
                             .contacts = row.contacts,
                             .active_contacts = row.active_contacts,
                             .islands = row.islands,
                             .unconverged_islands = row.unconverged_islands,
                             .worst = {.bodies = row.bodies,
                                       .contacts = row.contacts,
                                       .staggered_iterations = row.staggered_iterations,
                                       .projection_iterations = row.projection_iterations,
                                       .factorizations = row.factorizations,
                                       .rel_err = row.rel_err,
                                       .residual = row.residual,
                                       .natural_error = row.natural_error,
                                       .approach_velocity = row.approach_velocity,
                                       .cone_violation = row.cone_violation,
                                       .dissipation_error = row.dissipation_error,
                                       .converged = row.converged != 0},
                             .energy_before = row.energy_before,
                             .energy_after = row.energy_after,
                             .penetration = row.penetration};
  for (int i = 0; i < DS_STAGE_COUNT; i++) report->seconds[i] = row.seconds[i];
  return DS_OK;
}

static ds_status read_motion(ds_recording *r, int32_t index, ds_error *error) {
  if (!read_rows(r, r->row, DS_SET_POSE, H5T_NATIVE_DOUBLE, r->motion[index], 1))
    return bad_frame(r, error, index, "its poses cannot be read");
  for (int32_t i = 0; i < r->body_count; i++) {
    const double *x = r->row + 7 * (size_t)i;
    ds_pose pose = {{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
    /* a row that was never written is all zero, and no rotation */
    if (!v3_finite(pose.p) || !(fabs(quat_norm(pose.q) - 1) < 1e-6))
      return bad_frame(r, error, index, "a pose is not finite, or its rotation not a unit quaternion");
    r->poses[i] = pose;
  }
  if (!read_rows(r, r->row, DS_SET_VELOCITY, H5T_NATIVE_DOUBLE, r->motion[index], 1))
    return bad_frame(r, error, index, "its velocities cannot be read");
  for (int32_t i = 0; i < r->body_count; i++) {
    const double *x = r->row + 6 * (size_t)i;
    r->velocities[i] = v3(x[0], x[1], x[2]);
    r->angular_velocities[i] = v3(x[3], x[4], x[5]);
    if (!v3_finite(r->velocities[i]) || !v3_finite(r->angular_velocities[i]))
      return bad_frame(r, error, index, "a velocity is not finite");
  }
  return DS_OK;
}

static bool read_numbers(ds_recording *r, double *x, ds_record_set set, int32_t index) {
  if (!read_rows(r, x, set, H5T_NATIVE_DOUBLE, r->motion[index], 1)) return false;
  for (int32_t i = 0; i < r->reduced_count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static ds_status read_reduced(ds_recording *r, int32_t index, ds_error *error) {
  if (r->reduced_count == 0 || (read_numbers(r, r->reduced, DS_SET_REDUCED, index) &&
                                read_numbers(r, r->reduced_rate, DS_SET_REDUCED_RATE, index)))
    return DS_OK;
  return bad_frame(r, error, index, "its reduced coordinates cannot be read, or one is not finite");
}

static bool reserve_contacts(ds_recording *r, int32_t count) {
  if (count <= r->contact_capacity) return true;
  ds_contact_row *rows = realloc(r->contact_rows_read, (size_t)count * sizeof *rows);
  if (rows != NULL) r->contact_rows_read = rows;
  ds_contact *contacts = realloc(r->contacts, (size_t)count * sizeof *contacts);
  if (contacts != NULL) r->contacts = contacts;
  if (rows == NULL || contacts == NULL) return false;
  r->contact_capacity = count;
  return true;
}

static ds_vec3 from_array(const double *x) { return v3(x[0], x[1], x[2]); }

static bool row_to_contact(ds_contact *c, const ds_contact_row *row, int32_t body_count) {
  if (row->a < 0 || row->a >= body_count || row->b < 0 || row->b >= body_count) return false;
  if (row->mode < DS_CONTACT_OPEN || row->mode > DS_CONTACT_SLIDE) return false;
  *c = (ds_contact){.a = {row->a + 1},
                    .b = {row->b + 1},
                    .point = from_array(row->point),
                    .normal = from_array(row->normal),
                    .gap = row->gap,
                    .mu = row->mu,
                    .restitution = row->restitution,
                    .impulse = from_array(row->impulse),
                    .velocity = from_array(row->velocity),
                    .mode = (ds_contact_mode)row->mode,
                    .feature = row->feature};
  return v3_finite(c->point) && v3_finite(c->normal) && v3_finite(c->impulse) && v3_finite(c->velocity) &&
         isfinite(c->gap) && isfinite(c->mu) && isfinite(c->restitution);
}

static ds_status read_contacts(ds_recording *r, int32_t index, ds_error *error) {
  int32_t count = r->contact_count[index];
  if (count == 0) return DS_OK;
  if (!reserve_contacts(r, count)) return no_memory(r, error);
  memset(r->contact_rows_read, 0, (size_t)count * sizeof *r->contact_rows_read);
  if (!read_rows(r, r->contact_rows_read, DS_SET_CONTACTS, r->contact_type, r->contact_start[index], count))
    return bad_frame(r, error, index, "its contacts cannot be read");
  for (int32_t i = 0; i < count; i++)
    if (!row_to_contact(&r->contacts[i], &r->contact_rows_read[i], r->body_count))
      return bad_frame(r, error, index, "a contact names no body of the scene, or a number is not finite");
  return DS_OK;
}

ds_status ds_recording_read_bodies(ds_recording *r, ds_frame *frame, int32_t index, ds_error *error) {
  ds_step_report report;
  ds_status status = ds_recording_read_report(r, &report, index, error);
  if (status == DS_OK) status = read_motion(r, index, error);
  if (status == DS_OK) status = read_reduced(r, index, error);
  if (status != DS_OK) return status;
  *frame = (ds_frame){.time = r->times[index],
                      .poses = r->poses,
                      .velocities = r->velocities,
                      .angular_velocities = r->angular_velocities,
                      .reduced = r->reduced_count > 0 ? r->reduced : NULL,
                      .reduced_rate = r->reduced_count > 0 ? r->reduced_rate : NULL,
                      .report = report};
  return DS_OK;
}

ds_status ds_recording_read(ds_recording *r, ds_frame *frame, int32_t index, ds_error *error) {
  ds_status status = ds_recording_read_bodies(r, frame, index, error);
  if (status == DS_OK) status = read_contacts(r, index, error);
  if (status != DS_OK) return status;
  frame->contacts = r->contacts;
  frame->contact_count = r->contact_count[index];
  return DS_OK;
}

/* ---- The saved state ---- */

/* One of the two saved states in new memory, or NULL. */
static unsigned char *read_saved(ds_recording *r, int32_t which, size_t *size) {
  hsize_t dims[2] = {0, 0}, start[2] = {(hsize_t)which, 0};
  hid_t space = H5Dget_space(r->sets[DS_SET_STATE]), memory = -1;
  bool ok = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, dims, NULL) == 2 &&
            dims[1] > 0 && dims[1] <= (hsize_t)r->file_size;
  dims[0] = 1;
  unsigned char *bytes = ok ? malloc((size_t)dims[1]) : NULL;
  if (bytes != NULL) memory = H5Screate_simple(2, dims, NULL);
  ok = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) >= 0 &&
       H5Dread(r->sets[DS_SET_STATE], H5T_NATIVE_UCHAR, memory, space, H5P_DEFAULT, bytes) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  *size = (size_t)dims[1];
  if (ok) return bytes;
  free(bytes);
  return NULL;
}

bool ds_recording_has_state(const ds_recording *r) { return r->has_state; }

/* The later valid one of the two; a state of a frame beyond /frames/count is ignored. */
ds_status ds_recording_read_state(ds_recording *r, ds_state *state, ds_error *error) {
  ds_error why = {"it has none"};
  ds_state *other = r->has_state ? ds_state_copy(state) : NULL;
  double last = r->frames > 0 ? r->times[r->frames - 1] : -INFINITY, best = -INFINITY;
  if (r->has_state && other == NULL) return no_memory(r, error);
  for (int32_t i = 0; other != NULL && i < 2; i++) {
    size_t size;
    unsigned char *bytes = read_saved(r, i, &size);
    bool ok = bytes != NULL && ds_state_load(other, bytes, size, &why) == DS_OK;
    double time = ds_state_time(other);
    if (ok && time <= last && time > best && ds_state_assign(state, other) == DS_OK) best = time;
    free(bytes);
  }
  ds_state_destroy(other);
  return isfinite(best) ? DS_OK
                        : ds_fail(error, DS_ERROR_INPUT, "%s: no state to continue from: %s", r->path, why.message);
}
