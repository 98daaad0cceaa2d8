/* A hash table from names to pointers. */
#ifndef DS_BASE_NAMES_H
#define DS_BASE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ds_name {
  const char *name; /* not copied; NULL = free place */
  const void *value;
} ds_name;

typedef struct ds_names { /* {0} is an empty table */
  ds_name *places;
  uint32_t capacity, count; /* capacity is a power of two, at most half full */
} ds_names;

/* The name must not be there yet and the value not be NULL. False if memory ran out. */
bool ds_names_add(ds_names *names, const char *name, const void *value);
const void *ds_names_find(const ds_names *names, const char *name); /* NULL = none */
void ds_names_free(ds_names *names);

#endif
