/* Attributes of an HDF5 object: texts of fixed length, and numbers. */
#ifndef DS_IO_ATTRIBUTES_H
#define DS_IO_ATTRIBUTES_H

#include <hdf5.h>
#include <stddef.h>

/* All are false if HDF5 failed, which knows why; the reading ones also where the attribute is missing, has another
 * type or shape, or is too long for the room. */
bool ds_attribute_write_text(hid_t at, const char *name, const char *text);
bool ds_attribute_write_real(hid_t at, const char *name, double value);
bool ds_attribute_write_integer(hid_t at, const char *name, int32_t value);
bool ds_attribute_read_text(char *text, size_t size, hid_t at, const char *name);
bool ds_attribute_read_real(double *value, hid_t at, const char *name);
bool ds_attribute_read_integer(int32_t *value, hid_t at, const char *name);

#endif
