/* Open addressing with linear probing; FNV-1a hash. The result of a look-up does not depend on the order of adding. */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *s) {
  uint32_t h = 2166136261u;
  for (; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
  return h ^ h >> 15;
}

static ds_name *place_of(ds_name *places, uint32_t capacity, const char *name) {
  uint32_t i = hash(name) & (capacity - 1);
  while (places[i].name && strcmp(places[i].name, name) != 0) i = (i + 1) & (capacity - 1);
  return &places[i];
}

static bool grow(ds_names *names) {
  uint32_t capacity = names->capacity ? names->capacity * 2 : 32;
  ds_name *places = calloc(capacity, sizeof *places);
  if (!places) return false;
  for (uint32_t i = 0; i < names->capacity; i++)
    if (names->places[i].name) *place_of(places, capacity, names->places[i].name) = names->places[i];
  free(names->places);
  names->places = places;
  names->capacity = capacity;
  return true;
}

bool ds_names_add(ds_names *names, const char *name, const void *value) {
  if (names->count >= names->capacity / 2 && !grow(names)) return false;
  *place_of(names->places, names->capacity, name) = (ds_name){name, value};
  names->count++;
  return true;
}

const void *ds_names_find(const ds_names *names, const char *name) {
  return names->capacity ? place_of(names->places, names->capacity, name)->value : NULL;
}

void ds_names_free(ds_names *names) {
  free(names->places);
  *names = (ds_names){0};
}
