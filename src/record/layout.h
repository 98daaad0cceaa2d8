/* The layout of a recording, shared by writer and reader: names, rows, and their HDF5 types. docs/recording.md
 * describes it for users. */
#ifndef DS_RECORD_LAYOUT_H
#define DS_RECORD_LAYOUT_H

#include <hdf5.h>

#include "record/record.h"

#define DS_RECORD_FORMAT "drystone-recording"
/* Version 2 may have /solids, version 3 /deformables, version 4 joints in its scene and /joints; version 5 has /state.
 * Version 6 has /frames/motion: what does not move is stored once. Version 7 is compressed and has /tail (growing.h).
 * Recordings are written as version 7; all are read. */
enum {
  DS_RECORD_FORMAT_FIRST = 1,
  DS_RECORD_FORMAT_STATE = 5,
  DS_RECORD_FORMAT_MOTION = 6,
  DS_RECORD_FORMAT_TAIL = 7,
  DS_RECORD_FORMAT_VERSION = 7
};

/* The datasets, each with one row per frame but for those with M rows and the last four. Those of reduced coordinates
 * are there where a scene has deformable bodies: R = 0 of them else. */
typedef enum ds_record_set {
  DS_SET_TIME,          /* F */
  DS_SET_MOTION,        /* F: row of the next four */
  DS_SET_POSE,          /* M x B x 7: x y z, w x y z */
  DS_SET_VELOCITY,      /* M x B x 6: linear, angular */
  DS_SET_REDUCED,       /* M x R: coordinates of all deformable bodies */
  DS_SET_REDUCED_RATE,  /* M x R: their rates */
  DS_SET_REPORT,        /* F rows of ds_report_row */
  DS_SET_CONTACT_START, /* F: first row in /contacts */
  DS_SET_CONTACT_COUNT, /* F: number of rows */
  DS_SET_CONTACTS,      /* C rows of ds_contact_row */
  DS_SET_STATE,         /* 2 x N bytes: states to continue from (ds_state_save), written alternately */
  DS_SET_COUNT,         /* scalar: complete frames */
  DS_SET_CLOSED,        /* scalar: 1 once the writer has finished */
  DS_SET_END,
} ds_record_set;

const char *ds_record_set_path(ds_record_set set);
const char *ds_record_tail_path(ds_record_set set); /* of those before DS_SET_STATE, which grow */
static inline bool ds_record_set_is_reduced(ds_record_set set) {
  return set == DS_SET_REDUCED || set == DS_SET_REDUCED_RATE;
}

static inline bool ds_record_set_is_motion(ds_record_set set) {
  return set == DS_SET_POSE || set == DS_SET_VELOCITY || ds_record_set_is_reduced(set);
}

/* A step report as a row: fixed-size integers, no padding that is not zero. */
typedef struct ds_report_row {
  int64_t step;
  double time;
  int32_t contacts, active_contacts, islands, unconverged_islands;
  int32_t bodies, staggered_iterations, projection_iterations, factorizations;
  double rel_err, residual, natural_error, approach_velocity, cone_violation, dissipation_error;
  double energy_before, energy_after, penetration;
  double seconds[DS_STAGE_COUNT];
  int32_t converged;
} ds_report_row;

typedef struct ds_contact_row {
  int32_t a, b; /* indices of the bodies, from 0 */
  double point[3], normal[3];
  double gap, mu, restitution;
  double impulse[3], velocity[3];
  uint64_t feature;
  int32_t mode; /* ds_contact_mode */
  int32_t zero; /* padding, not stored; zero, so that rows can be compared as bytes */
} ds_contact_row;

/* Compound types, in memory (native) or in the file (little-endian, packed). The caller closes them; < 0 on failure. */
hid_t ds_record_report_type(bool in_file);
hid_t ds_record_contact_type(bool in_file);
/* Whether a compound type of a file has every member, with its class and size of array. */
bool ds_record_has_members(hid_t file_type, hid_t memory_type);

/* Options kept as attributes of /settings; an enum is stored as its number. */
typedef enum ds_setting_kind { DS_SETTING_REAL, DS_SETTING_INTEGER } ds_setting_kind;
typedef struct ds_setting {
  const char *name;
  ds_setting_kind kind;
  size_t offset; /* of the double or int32_t in ds_setting_values */
  bool optional; /* recordings of earlier versions do not have it */
} ds_setting;
typedef struct ds_setting_values {
  double time, step, tolerance, rel_err, margin, newmark_damping, step_budget, error_control, stabilization_gain,
      envelope, friction_stabilization, deadline;
  int32_t method, friction_samples, max_iterations, warm_start, sub_islands, contacts_per_face;
  int32_t metric, newton, integrator, restitution_law, impacts, face_pressure, stabilization;
} ds_setting_values;
const ds_setting *ds_record_settings(int32_t *count);

/* The solids of a scene, each once, in the order in which bodies use them (solids.c). */
typedef struct ds_record_solids {
  const ds_solid **items; /* freed by the caller */
  int32_t count, capacity;
} ds_record_solids;
ds_status ds_record_list_solids(ds_record_solids *list, const ds_scene *scene, ds_error *error);
bool ds_record_write_solids(hid_t file, const ds_record_solids *list); /* false: HDF5 knows why */
/* A ds_mesh_source. */
typedef struct ds_record_meshes {
  hid_t file;
  int64_t file_size; /* bytes */
} ds_record_meshes;
ds_status ds_record_read_solid(void *meshes, ds_mesh *mesh, const char *name, ds_error *error);

/* The reduced bodies of a scene, each once, in the order in which bodies use them (deformables.c). */
typedef struct ds_record_reduced {
  const ds_reduced **items;
  int32_t *of_body; /* -1 = rigid */
  int32_t count, capacity;
} ds_record_reduced;
ds_status ds_record_list_reduced(ds_record_reduced *list, const ds_scene *scene, ds_error *error);
void ds_record_free_reduced(ds_record_reduced *list); /* also after a failure */
bool ds_record_write_reduced(hid_t file, const ds_record_reduced *list, const ds_scene *scene);
/* A ds_reduced_source; the user is a ds_record_meshes. */
ds_reduced *ds_record_read_reduced(void *meshes, int32_t index, ds_error *error);

bool ds_record_write_joints(hid_t file, const ds_scene *scene); /* joints.c; false: HDF5 knows why */

#endif
