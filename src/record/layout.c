/* The layout of a recording as tables: one line per member of a row, from which the types of memory and file are built.
 */
#include "record/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *ds_record_set_path(ds_record_set set) {
  switch (set) {
    case DS_SET_TIME:
      return "/frames/time";
    case DS_SET_MOTION:
      return "/frames/motion";
    case DS_SET_POSE:
      return "/frames/pose";
    case DS_SET_VELOCITY:
      return "/frames/velocity";
    case DS_SET_REDUCED:
      return "/frames/reduced";
    case DS_SET_REDUCED_RATE:
      return "/frames/reduced_rate";
    case DS_SET_REPORT:
      return "/frames/report";
    case DS_SET_CONTACT_START:
      return "/frames/contact_start";
    case DS_SET_CONTACT_COUNT:
      return "/frames/contact_count";
    case DS_SET_CONTACTS:
      return "/contacts";
    case DS_SET_STATE:
      return "/state";
    case DS_SET_COUNT:
      return "/frames/count";
    case DS_SET_CLOSED:
      return "/closed";
    case DS_SET_END:
      break;
  }
  return "";
}

const char *ds_record_tail_path(ds_record_set set) {
  static const char *const paths[DS_SET_STATE] = {
      [DS_SET_TIME] = "/tail/time",
      [DS_SET_MOTION] = "/tail/motion",
      [DS_SET_POSE] = "/tail/pose",
      [DS_SET_VELOCITY] = "/tail/velocity",
      [DS_SET_REDUCED] = "/tail/reduced",
      [DS_SET_REDUCED_RATE] = "/tail/reduced_rate",
      [DS_SET_REPORT] = "/tail/report",
      [DS_SET_CONTACT_START] = "/tail/contact_start",
      [DS_SET_CONTACT_COUNT] = "/tail/contact_count",
      [DS_SET_CONTACTS] = "/tail/contacts",
  };
  return paths[set];
}

/* SINGLE: a double in memory, of single precision in the file. */
typedef enum member_kind { REAL, SINGLE, INT32, INT64, UINT64 } member_kind;

typedef struct member {
  const char *name;
  size_t offset;
  member_kind kind;
  hsize_t length; /* 1 = scalar */
} member;

#define REPORT(name, kind, length) \
  { #name, offsetof(ds_report_row, name), kind, length }
static const member report_members[] = {
    REPORT(step, INT64, 1),
    REPORT(time, REAL, 1),
    REPORT(contacts, INT32, 1),
    REPORT(active_contacts, INT32, 1),
    REPORT(islands, INT32, 1),
    REPORT(unconverged_islands, INT32, 1),
    REPORT(bodies, INT32, 1),
    REPORT(staggered_iterations, INT32, 1),
    REPORT(projection_iterations, INT32, 1),
    REPORT(factorizations, INT32, 1),
    REPORT(rel_err, REAL, 1),
    REPORT(residual, REAL, 1),
    REPORT(natural_error, REAL, 1),
    REPORT(approach_velocity, REAL, 1),
    REPORT(cone_violation, REAL, 1),
    REPORT(dissipation_error, REAL, 1),
    REPORT(energy_before, REAL, 1),
    REPORT(energy_after, REAL, 1),
    REPORT(penetration, REAL, 1),
    REPORT(seconds, REAL, DS_STAGE_COUNT),
    REPORT(converged, INT32, 1),
};

#define CONTACT(name, kind, length) \
  { #name, offsetof(ds_contact_row, name), kind, length }
static const member contact_members[] = {
    CONTACT(a, INT32, 1),          CONTACT(b, INT32, 1),        CONTACT(point, SINGLE, 3),
    CONTACT(normal, SINGLE, 3),    CONTACT(gap, SINGLE, 1),     CONTACT(mu, REAL, 1),
    CONTACT(restitution, REAL, 1), CONTACT(impulse, SINGLE, 3), CONTACT(velocity, SINGLE, 3),
    CONTACT(feature, UINT64, 1),   CONTACT(mode, INT32, 1),
};

static hid_t scalar_type(member_kind kind, bool in_file) {
  switch (kind) {
    case REAL:
      return in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
    case SINGLE:
      return in_file ? H5T_IEEE_F32LE : H5T_NATIVE_DOUBLE;
    case INT32:
      return in_file ? H5T_STD_I32LE : H5T_NATIVE_INT32;
    case INT64:
      return in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64;
    case UINT64:
      break;
  }
  return in_file ? H5T_STD_U64LE : H5T_NATIVE_UINT64;
}

static hid_t compound_type(const member *members, size_t count, size_t row_size, bool in_file) {
  hid_t type = H5Tcreate(H5T_COMPOUND, row_size);
  bool ok = type >= 0;
  for (size_t i = 0; ok && i < count; i++) {
    const member *m = &members[i];
    hid_t scalar = scalar_type(m->kind, in_file);
    hid_t item = m->length == 1 ? H5Tcopy(scalar) : H5Tarray_create2(scalar, 1, &m->length);
    ok = item >= 0 && H5Tinsert(type, m->name, m->offset, item) >= 0;
    if (item >= 0) H5Tclose(item);
  }
  if (ok && in_file) ok = H5Tpack(type) >= 0;
  if (ok) return type;
  if (type >= 0) H5Tclose(type);
  return -1;
}

hid_t ds_record_report_type(bool in_file) {
  return compound_type(report_members, sizeof report_members / sizeof *report_members, sizeof(ds_report_row), in_file);
}

hid_t ds_record_contact_type(bool in_file) {
  return compound_type(contact_members, sizeof contact_members / sizeof *contact_members, sizeof(ds_contact_row),
                       in_file);
}

/* Number of elements of a member's type, 1 for a scalar; 0 where it is no one-dimensional array. */
static hsize_t type_length(hid_t type) {
  if (H5Tget_class(type) != H5T_ARRAY) return 1;
  hsize_t length = 0;
  return H5Tget_array_ndims(type) == 1 && H5Tget_array_dims2(type, &length) == 1 ? length : 0;
}

static H5T_class_t element_class(hid_t type) {
  if (H5Tget_class(type) != H5T_ARRAY) return H5Tget_class(type);
  hid_t element = H5Tget_super(type);
  H5T_class_t class = element >= 0 ? H5Tget_class(element) : H5T_NO_CLASS;
  if (element >= 0) H5Tclose(element);
  return class;
}

bool ds_record_has_members(hid_t file_type, hid_t memory_type) {
  if (H5Tget_class(file_type) != H5T_COMPOUND) return false;
  int count = H5Tget_nmembers(memory_type);
  bool ok = count > 0;
  for (int i = 0; ok && i < count; i++) {
    char *name = H5Tget_member_name(memory_type, (unsigned)i);
    int at = name != NULL ? H5Tget_member_index(file_type, name) : -1;
    H5free_memory(name);
    if (at < 0) return false;
    hid_t want = H5Tget_member_type(memory_type, (unsigned)i), have = H5Tget_member_type(file_type, (unsigned)at);
    ok = want >= 0 && have >= 0 && element_class(want) == element_class(have) && type_length(want) == type_length(have);
    if (want >= 0) H5Tclose(want);
    if (have >= 0) H5Tclose(have);
  }
  return ok;
}

#define SETTING(name, kind) \
  { #name, kind, offsetof(ds_setting_values, name), false }
#define LATER(name, kind) \
  { #name, kind, offsetof(ds_setting_values, name), true }
const ds_setting *ds_record_settings(int32_t *count) {
  static const ds_setting settings[] = {
      SETTING(time, DS_SETTING_REAL),
      SETTING(step, DS_SETTING_REAL),
      SETTING(tolerance, DS_SETTING_REAL),
      SETTING(rel_err, DS_SETTING_REAL),
      SETTING(margin, DS_SETTING_REAL),
      SETTING(method, DS_SETTING_INTEGER),
      SETTING(friction_samples, DS_SETTING_INTEGER),
      SETTING(max_iterations, DS_SETTING_INTEGER),
      SETTING(warm_start, DS_SETTING_INTEGER),
      SETTING(contacts_per_face, DS_SETTING_INTEGER),
      LATER(sub_islands, DS_SETTING_INTEGER),
      LATER(metric, DS_SETTING_INTEGER),
      LATER(integrator, DS_SETTING_INTEGER),
      LATER(restitution_law, DS_SETTING_INTEGER),
      LATER(impacts, DS_SETTING_INTEGER),
      LATER(face_pressure, DS_SETTING_INTEGER),
      LATER(stabilization, DS_SETTING_INTEGER),
      LATER(stabilization_gain, DS_SETTING_REAL),
      LATER(envelope, DS_SETTING_REAL),
      LATER(friction_stabilization, DS_SETTING_REAL),
      LATER(newton, DS_SETTING_INTEGER),
      LATER(newmark_damping, DS_SETTING_REAL),
      LATER(step_budget, DS_SETTING_REAL),
      LATER(error_control, DS_SETTING_REAL),
      LATER(deadline, DS_SETTING_REAL),
  };
  *count = (int32_t)(sizeof settings / sizeof *settings);
  return settings;
}
