/* Attributes of an HDF5 object: see attributes.h. */
#include "io/attributes.h"

#include <string.h>

bool ds_attribute_write_text(hid_t at, const char *name, const char *text) {
  size_t length = strlen(text);
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
  bool ok = type >= 0 && space >= 0 && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
            H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
  if (ok) attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  ok = ok && attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return ok;
}

static bool write_number(hid_t at, const char *name, hid_t file_type, hid_t memory_type, const void *value) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = space >= 0 ? H5Acreate2(at, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
  bool ok = attribute >= 0 && H5Awrite(attribute, memory_type, value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (space >= 0) H5Sclose(space);
  return ok;
}

bool ds_attribute_write_real(hid_t at, const char *name, double value) {
  return write_number(at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

bool ds_attribute_write_integer(hid_t at, const char *name, int32_t value) {
  return write_number(at, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value);
}

bool ds_attribute_read_text(char *text, size_t size, hid_t at, const char *name) {
  if (H5Aexists(at, name) <= 0) return false;
  hid_t attribute = H5Aopen(at, name, H5P_DEFAULT), type = attribute >= 0 ? H5Aget_type(attribute) : -1;
  hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
  bool ok = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
            H5Tget_size(type) < size && H5Sget_simple_extent_npoints(space) == 1;
  memset(text, 0, size);
  ok = ok && H5Aread(attribute, type, text) >= 0;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return ok;
}

static bool read_number(void *value, hid_t at, const char *name, H5T_class_t class, hid_t memory_type) {
  if (H5Aexists(at, name) <= 0) return false;
  hid_t attribute = H5Aopen(at, name, H5P_DEFAULT), type = attribute >= 0 ? H5Aget_type(attribute) : -1;
  hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
  bool ok = type >= 0 && space >= 0 && H5Tget_class(type) == class && H5Sget_simple_extent_npoints(space) == 1 &&
            H5Aread(attribute, memory_type, value) >= 0;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return ok;
}

bool ds_attribute_read_real(double *value, hid_t at, const char *name) {
  return read_number(value, at, name, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}

bool ds_attribute_read_integer(int32_t *value, hid_t at, const char *name) {
  return read_number(value, at, name, H5T_INTEGER, H5T_NATIVE_INT32);
}
