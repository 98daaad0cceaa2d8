/* Stage 6, record: writes a run as an HDF5 file, layout.h.
 *
 * The file is made under a temporary name beside the wanted one, with every dataset in it, switched to SWMR (single
 * writer, multiple readers) and then renamed, so that the name always refers to a readable recording. From then on
 * datasets only grow. A frame is valid once /frames/count includes it, which is written after all rows have been
 * flushed: about every FLUSH_SECONDS, so that a killed run loses no more than that. Rows are compressed by the chunk
 * (growing.h). Until then frames are kept in
 * memory, some hundred at most, because HDF5 writes many rows at the cost of one. Poses, velocities
 * and reduced coordinates that are bit for bit those of the frame before are not written again; the new frame points to
 * the same row. So it is with contacts, whose impulses and velocities may differ by rounding (SAME).
 *
 * Where a write fails, on a full disk or at a size limit, the file stays as it was then: readable up to the last flush.
 * The clock decides when to flush, never what is written. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/thread.h"
#include "body/scene.h"
#include "io/attributes.h"
#include "io/hdf5_errors.h"
#include "io/hdf5_output.h"
#include "record/growing.h"
#include "record/layout.h"

#define FLUSH_SECONDS 0.25
/* Of the largest impulse of a frame, and m/s: contacts that differ less from those stored are the same. At rest solvers
 * move impulses by 1e-16 of the largest, and velocities by 1e-15 m/s, from step to step (card house, arch); what they
 * are asked for is 1e-8. */
#define SAME 1e-13
/* m, m/s: what is less in a contact's point, normal, gap and velocity is noise of its computation, which does not
 * compress: the solver is asked for 1e-8. Without it contacts of a wall that is hit take a quarter more. */
#define CONTACT_FLOOR 0x1p-40
enum {
  CHUNK_BYTES = 1 << 15,
  INDEX_BYTES = 1 << 12,   /* a chunk of what has a number per frame */
  CONTACT_BYTES = 1 << 18, /* larger ones compress better: a wall that is hit 9.1, 7.7, 6.4 MB at 2^16, 2^17, 2^18 */
  WAITING_BYTES = 1 << 20,
  WAITING_FRAMES = 256,
};

/* Frames that wait to be written. */
typedef struct waiting {
  int32_t capacity, count, motions; /* frames, and rows of motion */
  int64_t *motion;
  double *time, *pose, *velocity, *reduced, *reduced_rate;
  ds_report_row *report;
  int64_t *contact_start;
  int32_t *contact_count;
  ds_contact_row *contacts;
  int32_t contact_capacity, contacts_count;
} waiting;

struct ds_recorder {
  ds_hdf5_output out;
  hid_t sets[DS_SET_END];           /* those that do not grow */
  ds_growing growing[DS_SET_STATE]; /* the others */
  hid_t report_type, contact_type;  /* in memory */
  char *path;
  char reason[160]; /* of the first failure */
  int32_t body_count, reduced_count;
  int64_t frames, motion_rows, contact_rows; /* written */
  int64_t readable;                          /* frames that have been flushed */
  waiting next;
  double *last_motion;     /* of the last frame: poses, velocities, reduced coordinates and rates */
  int64_t last_motion_row; /* where it is or will be; -1 = there is none */
  ds_contact_row *last;    /* contacts of the last frame, and where they are or will be */
  int32_t last_count, last_capacity;
  int64_t last_start;
  unsigned char *state; /* of the last frame, where it is not yet written */
  size_t state_size, state_room;
  int32_t state_turn; /* row of /state to be written next */
  double flushed;     /* clock of the last flush */
};

/* Remembers the reason before another call clears it; returns false. */
static bool broken(ds_recorder *r) {
  if (r->reason[0] == '\0') ds_hdf5_output_reason(&r->out, r->reason, sizeof r->reason);
  return false;
}

/* Whether everything that HDF5 wrote has reached the file. */
static bool arrived(ds_recorder *r) { return r->out.failure == 0 || broken(r); }

/* ---- Creation ---- */

static bool write_settings(hid_t file, const ds_run_settings *run) {
  const ds_options *o = &run->options;
  ds_setting_values values = {.time = run->time,
                              .step = o->step,
                              .tolerance = o->tolerance,
                              .rel_err = o->rel_err,
                              .margin = o->margin,
                              .method = o->method,
                              .friction_samples = o->friction_samples,
                              .max_iterations = o->max_iterations,
                              .warm_start = o->warm_start,
                              .sub_islands = o->sub_islands,
                              .contacts_per_face = o->contacts_per_face,
                              .metric = (int32_t)o->metric,
                              .integrator = (int32_t)o->integrator,
                              .restitution_law = o->restitution_law,
                              .impacts = (int32_t)o->impacts,
                              .face_pressure = (int32_t)o->face_pressure,
                              .stabilization = (int32_t)o->stabilization,
                              .stabilization_gain = o->stabilization_gain,
                              .envelope = o->envelope,
                              .friction_stabilization = o->friction_stabilization,
                              .newton = o->newton,
                              .newmark_damping = o->newmark_damping,
                              .step_budget = o->step_budget,
                              .deadline = o->deadline,
                              .error_control = o->error_control};
  int32_t count;
  const ds_setting *settings = ds_record_settings(&count);
  hid_t group = H5Gcreate2(file, "/settings", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = group >= 0 && ds_attribute_write_text(group, "name", run->name);
  for (int32_t i = 0; ok && i < count; i++) {
    const void *value = (const char *)&values + settings[i].offset;
    ok = settings[i].kind == DS_SETTING_REAL
             ? ds_attribute_write_real(group, settings[i].name, *(const double *)value)
             : ds_attribute_write_integer(group, settings[i].name, *(const int32_t *)value);
  }
  if (group >= 0) H5Gclose(group);
  return ok;
}

/* The scene's text as a dataset of one string: attributes are limited in size. */
static bool write_scene(hid_t file, const char *text) {
  size_t length = strlen(text);
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), set = -1;
  bool ok = type >= 0 && space >= 0 && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
            H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
  if (ok) set = H5Dcreate2(file, "/scene", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ok = ok && set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return ok;
}

/* Two rows of bytes that grow in length. Chunks are about as long as the state of a scene without contacts. */
static hid_t create_states(ds_recorder *r) {
  size_t least = 256 * (size_t)r->body_count + 16 * (size_t)r->reduced_count;
  hsize_t dims[2] = {2, 0}, limits[2] = {2, H5S_UNLIMITED};
  hsize_t chunk[2] = {1, least < CHUNK_BYTES / 16 ? CHUNK_BYTES / 16 : least < CHUNK_BYTES ? least : CHUNK_BYTES};
  hid_t space = H5Screate_simple(2, dims, limits), list = H5Pcreate(H5P_DATASET_CREATE), id = -1;
  if (space >= 0 && list >= 0 && H5Pset_chunk(list, 2, chunk) >= 0)
    id = H5Dcreate2(r->out.file, ds_record_set_path(DS_SET_STATE), H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (space >= 0) H5Sclose(space);
  if (list >= 0) H5Pclose(list);
  return id;
}

static hid_t create_scalar(hid_t file, ds_record_set set, hid_t file_type) {
  hid_t space = H5Screate(H5S_SCALAR), id = -1;
  int64_t zero = 0;
  if (space >= 0)
    id = H5Dcreate2(file, ds_record_set_path(set), file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (space >= 0) H5Sclose(space);
  if (id >= 0 && H5Dwrite(id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &zero) < 0) {
    H5Dclose(id);
    return -1;
  }
  return id;
}

static bool has_set(const ds_recorder *r, ds_record_set set) {
  return r->reduced_count > 0 || !ds_record_set_is_reduced(set);
}

/* Row by row: the dataset, its type in memory, and its dimensions besides the rows. */
static bool create_growing(ds_recorder *r, ds_record_set set, hid_t stored, hid_t type, hsize_t c1, hsize_t c2,
                           size_t bytes) {
  ds_growing *g = &r->growing[set];
  g->type = type;
  g->columns = c2 > 0 ? 2 : c1 > 0 ? 1 : 0;
  g->size[1] = c1, g->size[2] = c2;
  return ds_growing_create(g, r->out.file, ds_record_set_path(set), ds_record_tail_path(set), stored, bytes);
}

static bool create_rows(ds_recorder *r, hid_t report, hid_t contact) {
  /* a scene without bodies still has rows, of one unused body */
  hsize_t bodies = r->body_count > 0 ? (hsize_t)r->body_count : 1, reduced = (hsize_t)r->reduced_count;
  const hid_t real = H5T_NATIVE_DOUBLE, stored = H5T_IEEE_F64LE, index = H5T_NATIVE_INT64;
  return create_growing(r, DS_SET_TIME, stored, real, 0, 0, INDEX_BYTES) &&
         create_growing(r, DS_SET_MOTION, H5T_STD_I64LE, index, 0, 0, INDEX_BYTES) &&
         create_growing(r, DS_SET_POSE, stored, real, bodies, 7, CHUNK_BYTES) &&
         create_growing(r, DS_SET_VELOCITY, stored, real, bodies, 6, CHUNK_BYTES) &&
         (reduced == 0 || (create_growing(r, DS_SET_REDUCED, stored, real, reduced, 0, CHUNK_BYTES) &&
                           create_growing(r, DS_SET_REDUCED_RATE, stored, real, reduced, 0, CHUNK_BYTES))) &&
         create_growing(r, DS_SET_REPORT, report, r->report_type, 0, 0, CHUNK_BYTES / 2) &&
         create_growing(r, DS_SET_CONTACT_START, H5T_STD_I64LE, index, 0, 0, INDEX_BYTES) &&
         create_growing(r, DS_SET_CONTACT_COUNT, H5T_STD_I32LE, H5T_NATIVE_INT32, 0, 0, INDEX_BYTES) &&
         create_growing(r, DS_SET_CONTACTS, contact, r->contact_type, 0, 0, CONTACT_BYTES);
}

static bool create_sets(ds_recorder *r) {
  hid_t report = ds_record_report_type(true), contact = ds_record_contact_type(true);
  hid_t group = H5Gcreate2(r->out.file, "/frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t tails = H5Gcreate2(r->out.file, "/tail", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = report >= 0 && contact >= 0 && group >= 0 && tails >= 0 && create_rows(r, report, contact);
  if (ok) {
    hid_t *s = r->sets;
    s[DS_SET_STATE] = create_states(r);
    s[DS_SET_COUNT] = create_scalar(r->out.file, DS_SET_COUNT, H5T_STD_I64LE);
    s[DS_SET_CLOSED] = create_scalar(r->out.file, DS_SET_CLOSED, H5T_STD_I32LE);
    for (int i = DS_SET_STATE; i < DS_SET_END; i++) ok = ok && s[i] >= 0;
  }
  if (report >= 0) H5Tclose(report);
  if (contact >= 0) H5Tclose(contact);
  if (group >= 0) H5Gclose(group);
  if (tails >= 0) H5Gclose(tails);
  return ok;
}

static bool create_file(ds_recorder *r, const char *name, const char *scene_text, const ds_run_settings *run,
                        const ds_record_solids *solids, const ds_record_reduced *reduced, const ds_scene *scene) {
  if (!ds_hdf5_output_open(&r->out, name, true)) return broken(r);
  hid_t file = r->out.file;
  bool ok = ds_attribute_write_text(file, "format", DS_RECORD_FORMAT) &&
            ds_attribute_write_integer(file, "format_version", DS_RECORD_FORMAT_VERSION) &&
            ds_attribute_write_text(file, "drystone_version", ds_version()) && write_settings(file, run) &&
            write_scene(file, scene_text) && ds_record_write_solids(file, solids) &&
            ds_record_write_reduced(file, reduced, scene) && ds_record_write_joints(file, scene) && create_sets(r) &&
            H5Fstart_swmr_write(file) >= 0;
  return (ok && arrived(r)) || broken(r);
}

/* Reserves a name beside the path, so that the system reports at once why a file cannot be created there. */
static ds_status reserve_name(char **name, const char *path, ds_error *error) {
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
    return ds_fail(error, DS_ERROR_INPUT, "recording %s: is %s; give the name of a file", path,
                   S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
  size_t size = strlen(path) + 32;
  *name = malloc(size);
  if (*name == NULL) return ds_fail(error, DS_ERROR_MEMORY, "recording %s: out of memory", path);
  int file = -1;
  for (int attempt = 0; file < 0 && attempt < 100; attempt++) {
    snprintf(*name, size, "%s.part%ld-%d", path, (long)getpid(), attempt);
    file = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file >= 0) return close(file), DS_OK;
  ds_status failed = ds_fail(error, DS_ERROR_INPUT, "recording %s: cannot be created there: %s", path, strerror(errno));
  free(*name);
  *name = NULL;
  return failed;
}

/* Closes and frees; false if something did not reach the file. */
static bool recorder_free(ds_recorder *r) {
  bool ok = true;
  for (int i = 0; i < DS_SET_STATE; i++)
    if (!ds_growing_close(&r->growing[i])) ok = broken(r);
  for (int i = 0; i < DS_SET_END; i++)
    if (r->sets[i] >= 0 && H5Dclose(r->sets[i]) < 0) ok = broken(r);
  if (!ds_hdf5_output_close(&r->out)) ok = broken(r);
  if (r->report_type >= 0) H5Tclose(r->report_type);
  if (r->contact_type >= 0) H5Tclose(r->contact_type);
  return ok;
}

static void recorder_free_memory(ds_recorder *r) {
  waiting *w = &r->next;
  free(w->time);
  free(w->motion);
  free(w->pose);
  free(w->velocity);
  free(w->reduced);
  free(w->reduced_rate);
  free(w->report);
  free(w->contact_start);
  free(w->contact_count);
  free(w->contacts);
  free(r->last);
  free(r->last_motion);
  free(r->state);
  free(r->path);
  free(r);
}

static bool waiting_create(waiting *w, int32_t body_count, int32_t reduced_count) {
  size_t bodies = body_count > 0 ? (size_t)body_count : 1, reduced = (size_t)reduced_count;
  size_t frame = ((7 + 6) * bodies + 2 * reduced) * sizeof(double) + sizeof(ds_report_row);
  size_t n = WAITING_BYTES / frame < 1                ? 1
             : WAITING_BYTES / frame > WAITING_FRAMES ? WAITING_FRAMES
                                                      : WAITING_BYTES / frame;
  w->capacity = (int32_t)n;
  w->time = calloc(n, sizeof *w->time);
  w->motion = calloc(n, sizeof *w->motion);
  w->pose = calloc(n * bodies, 7 * sizeof *w->pose);
  w->velocity = calloc(n * bodies, 6 * sizeof *w->velocity);
  w->reduced = calloc(n * reduced + 1, sizeof *w->reduced);
  w->reduced_rate = calloc(n * reduced + 1, sizeof *w->reduced_rate);
  w->report = calloc(n, sizeof *w->report);
  w->contact_start = calloc(n, sizeof *w->contact_start);
  w->contact_count = calloc(n, sizeof *w->contact_count);
  return w->time && w->motion && w->pose && w->velocity && w->reduced && w->reduced_rate && w->report &&
         w->contact_start && w->contact_count;
}

static ds_recorder *recorder_new(const char *path, const ds_scene *scene) {
  ds_recorder *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  r->out.file = -1;
  for (int i = 0; i < DS_SET_END; i++) r->sets[i] = -1;
  for (int i = 0; i < DS_SET_STATE; i++) r->growing[i].set = r->growing[i].tail = -1;
  r->body_count = scene->body_count;
  r->reduced_count = scene->reduced_count;
  r->report_type = ds_record_report_type(false);
  r->contact_type = ds_record_contact_type(false);
  r->path = strdup(path);
  r->last_motion_row = -1;
  r->last_motion = calloc(13 * (size_t)r->body_count + 2 * (size_t)r->reduced_count + 1, sizeof *r->last_motion);
  if (waiting_create(&r->next, r->body_count, r->reduced_count) && r->path != NULL && r->last_motion != NULL &&
      r->report_type >= 0 && r->contact_type >= 0)
    return r;
  recorder_free(r);
  recorder_free_memory(r);
  return NULL;
}

/* Makes the file under the reserved name and moves it to its own; false with a message. */
static bool create_at(ds_recorder *r, const char *name, const char *scene_text, const ds_run_settings *run,
                      const ds_scene *scene, ds_error *error) {
  ds_record_solids solids = {0};
  ds_record_reduced reduced = {0};
  ds_error why = {{0}};
  bool made =
      ds_record_list_solids(&solids, scene, &why) == DS_OK && ds_record_list_reduced(&reduced, scene, &why) == DS_OK;
  if (!made) {
    snprintf(r->reason, sizeof r->reason, "%.159s", why.message);
  } else {
    made = create_file(r, name, scene_text, run, &solids, &reduced, scene);
    if (made && rename(name, r->path) != 0) {
      snprintf(r->reason, sizeof r->reason, "%s", strerror(errno));
      made = false;
    }
  }
  free(solids.items);
  ds_record_free_reduced(&reduced);
  if (!made) ds_fail(error, DS_ERROR_INPUT, "recording %s: cannot be created: %s", r->path, r->reason);
  return made;
}

ds_recorder *ds_recorder_create(const char *path, const char *scene_text, const ds_run_settings *run,
                                const ds_scene *scene, ds_error *error) {
  ds_hdf5_quiet();
  char *name = NULL;
  if (reserve_name(&name, path, error) != DS_OK) return NULL;
  ds_recorder *r = recorder_new(path, scene);
  if (r == NULL) {
    ds_fail(error, DS_ERROR_MEMORY, "recording %s: out of memory", path);
  } else if (create_at(r, name, scene_text, run, scene, error)) {
    free(name);
    return r;
  } else {
    recorder_free(r);
    recorder_free_memory(r);
  }
  unlink(name);
  free(name);
  return NULL;
}

/* ---- Frames ---- */

static bool append_rows(ds_recorder *r, ds_record_set set, int64_t count, const void *rows) {
  return ds_growing_append(&r->growing[set], rows, count) || broken(r);
}

static void to_array(double *x, ds_vec3 v) { x[0] = v.x, x[1] = v.y, x[2] = v.z; }

static bool write_scalar(ds_recorder *r, ds_record_set set, int64_t value) {
  return (H5Dwrite(r->sets[set], H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0 &&
          H5Dflush(r->sets[set]) >= 0 && arrived(r)) ||
         broken(r);
}

/* Hands the waiting frames to HDF5. */
static bool write_waiting(ds_recorder *r) {
  waiting *w = &r->next;
  if (w->count == 0) return true;
  const struct {
    ds_record_set set;
    const double *rows;
  } motion[] = {{DS_SET_POSE, w->pose},
                {DS_SET_VELOCITY, w->velocity},
                {DS_SET_REDUCED, w->reduced},
                {DS_SET_REDUCED_RATE, w->reduced_rate}};
  bool ok = true;
  for (int i = 0; ok && w->motions > 0 && i < (r->reduced_count > 0 ? 4 : 2); i++)
    ok = append_rows(r, motion[i].set, w->motions, motion[i].rows);
  ok = ok && append_rows(r, DS_SET_TIME, w->count, w->time) && append_rows(r, DS_SET_MOTION, w->count, w->motion) &&
       append_rows(r, DS_SET_REPORT, w->count, w->report) &&
       append_rows(r, DS_SET_CONTACT_START, w->count, w->contact_start) &&
       append_rows(r, DS_SET_CONTACT_COUNT, w->count, w->contact_count) &&
       append_rows(r, DS_SET_CONTACTS, w->contacts_count, w->contacts);
  if (!ok || !arrived(r)) return false;
  r->frames += w->count;
  r->motion_rows += w->motions;
  r->contact_rows += w->contacts_count;
  w->count = w->motions = w->contacts_count = 0;
  return true;
}

/* The state of the last frame, replaces the one before the last: if this one is only half written, as its checksum
 * shows, the last one is still complete. */
static bool write_state(ds_recorder *r) {
  if (r->state == NULL) return true;
  hsize_t start[2] = {(hsize_t)r->state_turn, 0}, count[2] = {1, (hsize_t)r->state_size};
  hsize_t dims[2] = {2, (hsize_t)(r->state_size > r->state_room ? r->state_size : r->state_room)};
  if (H5Dset_extent(r->sets[DS_SET_STATE], dims) < 0) return broken(r);
  r->state_room = (size_t)dims[1];
  hid_t file_space = H5Dget_space(r->sets[DS_SET_STATE]), memory_space = H5Screate_simple(2, count, NULL);
  bool ok = file_space >= 0 && memory_space >= 0 &&
            H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
            H5Dwrite(r->sets[DS_SET_STATE], H5T_NATIVE_UCHAR, memory_space, file_space, H5P_DEFAULT, r->state) >= 0;
  if (!ok) broken(r);
  if (file_space >= 0) H5Sclose(file_space);
  if (memory_space >= 0) H5Sclose(memory_space);
  free(r->state);
  r->state = NULL;
  r->state_turn = 1 - r->state_turn;
  return ok;
}

/* All rows first, then how many frames they make. */
static bool flush(ds_recorder *r) {
  if (!write_waiting(r) || !write_state(r)) return false;
  for (int i = 0; i < DS_SET_STATE; i++)
    if (has_set(r, (ds_record_set)i) && (!ds_growing_flush(&r->growing[i]) || !arrived(r))) return broken(r);
  if (H5Dflush(r->sets[DS_SET_STATE]) < 0 || !arrived(r)) return broken(r);
  r->flushed = ds_clock();
  if (!write_scalar(r, DS_SET_COUNT, r->frames)) return false;
  r->readable = r->frames;
  return true;
}

static void keep_motion(ds_recorder *r, const ds_scene *scene, const ds_state *state) {
  waiting *w = &r->next;
  size_t bodies = (size_t)r->body_count, reduced = (size_t)r->reduced_count, row = (size_t)w->motions;
  double *pose = w->pose + 7 * bodies * row, *velocity = w->velocity + 6 * bodies * row, *x = pose, *v = velocity;
  for (int32_t i = 0; i < r->body_count; i++, x += 7, v += 6) {
    ds_body_id body = ds_scene_body(scene, i);
    ds_pose pose = ds_state_pose(scene, state, body);
    to_array(x, pose.p);
    x[3] = pose.q.w, x[4] = pose.q.x, x[5] = pose.q.y, x[6] = pose.q.z;
    to_array(v, ds_state_velocity(state, body));
    to_array(v + 3, ds_state_angular_velocity(state, body));
  }
  size_t at = reduced * row, size = sizeof(double);
  if (reduced > 0) memcpy(w->reduced + at, state->reduced, reduced * size);
  if (reduced > 0) memcpy(w->reduced_rate + at, state->reduced_rate, reduced * size);
  double *last = r->last_motion;
  bool same = r->last_motion_row >= 0 && memcmp(last, pose, 7 * bodies * size) == 0 &&
              memcmp(last + 7 * bodies, velocity, 6 * bodies * size) == 0 &&
              memcmp(last + 13 * bodies, w->reduced + at, reduced * size) == 0 &&
              memcmp(last + 13 * bodies + reduced, w->reduced_rate + at, reduced * size) == 0;
  if (!same) {
    memcpy(last, pose, 7 * bodies * size);
    memcpy(last + 7 * bodies, velocity, 6 * bodies * size);
    memcpy(last + 13 * bodies, w->reduced + at, reduced * size);
    memcpy(last + 13 * bodies + reduced, w->reduced_rate + at, reduced * size);
    r->last_motion_row = r->motion_rows + w->motions++;
  }
  w->motion[w->count] = r->last_motion_row;
}

static void keep_report(ds_recorder *r, const ds_step_report *report) {
  const ds_certificate *c = &report->worst;
  ds_report_row *row = &r->next.report[r->next.count];
  memset(row, 0, sizeof *row);
  row->step = report->step;
  row->time = report->time;
  row->contacts = report->contacts;
  row->active_contacts = report->active_contacts;
  row->islands = report->islands;
  row->unconverged_islands = report->unconverged_islands;
  row->bodies = c->bodies;
  row->staggered_iterations = c->staggered_iterations;
  row->projection_iterations = c->projection_iterations;
  row->factorizations = c->factorizations;
  row->rel_err = c->rel_err;
  row->residual = c->residual;
  row->natural_error = c->natural_error;
  row->approach_velocity = c->approach_velocity;
  row->cone_violation = c->cone_violation;
  row->dissipation_error = c->dissipation_error;
  row->energy_before = report->energy_before;
  row->energy_after = report->energy_after;
  row->penetration = report->penetration;
  for (int i = 0; i < DS_STAGE_COUNT; i++) row->seconds[i] = report->seconds[i];
  row->converged = c->converged;
}

/* To single precision, as the file has it; what is too large for that becomes its largest number. */
static double to_single(double x) {
  return isfinite(x) ? (double)(float)fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX) : x;
}

/* The same without what is less than CONTACT_FLOOR; + 0.0 makes -0 one of the zeros. */
static double rounded(double x) { return to_single(rint(x / CONTACT_FLOOR) * CONTACT_FLOOR + 0.0); }

static void to_rounded(double *x, ds_vec3 v) { to_array(x, (ds_vec3){rounded(v.x), rounded(v.y), rounded(v.z)}); }

static void contact_to_row(ds_contact_row *row, const ds_contact *c) {
  memset(row, 0, sizeof *row);
  row->a = c->a.index1 - 1;
  row->b = c->b.index1 - 1;
  to_rounded(row->point, c->point);
  to_rounded(row->normal, c->normal);
  row->gap = rounded(c->gap);
  row->mu = c->mu;
  row->restitution = c->restitution;
  to_array(row->impulse, (ds_vec3){to_single(c->impulse.x), to_single(c->impulse.y), to_single(c->impulse.z)});
  to_rounded(row->velocity, c->velocity);
  row->feature = c->feature;
  row->mode = (int32_t)c->mode;
}

static bool near(const double *a, const double *b, double bound) {
  return fabs(a[0] - b[0]) <= bound && fabs(a[1] - b[1]) <= bound && fabs(a[2] - b[2]) <= bound;
}

/* Whether contacts are those stored but for rounding. They are compared with what is stored, so nothing adds up. */
static bool same_contacts(const ds_contact_row *rows, const ds_contact_row *stored, int32_t count) {
  double largest = 0;
  for (int32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(stored[i].impulse[k]));
  for (int32_t i = 0; i < count; i++) {
    ds_contact_row exact = rows[i];
    memcpy(exact.impulse, stored[i].impulse, sizeof exact.impulse);
    memcpy(exact.velocity, stored[i].velocity, sizeof exact.velocity);
    if (memcmp(&exact, &stored[i], sizeof exact) != 0 || !near(rows[i].velocity, stored[i].velocity, SAME) ||
        !near(rows[i].impulse, stored[i].impulse, SAME * largest))
      return false;
  }
  return true;
}

static bool keep_contacts(ds_recorder *r, const ds_state *state) {
  waiting *w = &r->next;
  int32_t count;
  const ds_contact *contacts = ds_state_contacts(state, &count);
  if (count > INT32_MAX - w->contacts_count ||
      !ds_array_reserve(&w->contacts, &w->contact_capacity, w->contacts_count + count, sizeof *w->contacts) ||
      !ds_array_reserve(&r->last, &r->last_capacity, count, sizeof *r->last)) {
    snprintf(r->reason, sizeof r->reason, "out of memory");
    return false;
  }
  ds_contact_row *rows = w->contacts != NULL ? w->contacts + w->contacts_count : NULL;
  size_t bytes = (size_t)count * sizeof *rows;
  for (int32_t i = 0; i < count; i++) contact_to_row(&rows[i], &contacts[i]);
  if (count != r->last_count || !same_contacts(rows, r->last, count)) {
    r->last_start = r->contact_rows + w->contacts_count;
    r->last_count = count;
    w->contacts_count += count;
    if (count > 0) memcpy(r->last, rows, bytes);
  }
  w->contact_start[w->count] = r->last_start;
  w->contact_count[w->count] = count;
  return true;
}

static bool keep_state(ds_recorder *r, const ds_state *state) {
  free(r->state);
  r->state = ds_state_save(state, &r->state_size);
  if (r->state == NULL) snprintf(r->reason, sizeof r->reason, "out of memory");
  return r->state != NULL;
}

static ds_status failed(const ds_recorder *r, ds_error *error) {
  return ds_fail(error, DS_ERROR_INPUT, "recording %s: cannot be written: %s; frames that can be read: %lld", r->path,
                 r->reason, (long long)r->readable);
}

ds_status ds_recorder_append(ds_recorder *r, const ds_scene *scene, const ds_state *state, const ds_step_report *report,
                             ds_error *error) {
  if (scene->body_count != r->body_count || scene->reduced_count != r->reduced_count)
    return ds_fail(error, DS_ERROR_INPUT, "recording %s: was created for another scene", r->path);
  if (r->reason[0] != '\0') return failed(r, error); /* what failed once stays as it was */
  waiting *w = &r->next;
  bool ok = (w->count < w->capacity || write_waiting(r)) && keep_contacts(r, state) && keep_state(r, state);
  if (ok) {
    w->time[w->count] = ds_state_time(state);
    keep_motion(r, scene, state);
    keep_report(r, report);
    w->count++;
    bool full = w->contacts_count > WAITING_BYTES / (int32_t)sizeof *w->contacts;
    if (ds_clock() - r->flushed >= FLUSH_SECONDS)
      ok = flush(r);
    else if (full)
      ok = write_waiting(r);
  }
  return ok ? DS_OK : failed(r, error);
}

ds_status ds_recorder_close(ds_recorder *r, ds_error *error) {
  if (r == NULL) return DS_OK;
  bool ok = r->reason[0] == '\0' && flush(r);
  for (int i = 0; ok && i < DS_SET_STATE; i++)
    ok = (!has_set(r, (ds_record_set)i) || ds_growing_finish(&r->growing[i]) || broken(r)) && arrived(r);
  ok = ok && write_scalar(r, DS_SET_CLOSED, 1);
  ok = recorder_free(r) && ok;
  ds_status status = ok ? DS_OK : failed(r, error);
  recorder_free_memory(r);
  return status;
}
