/* Bodies left out of a picture: see hide.h. */
#include "hide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks the bodies that a name of the given length means; false if there are none. */
static bool hide_name(bool *hidden, const ds_scene *scene, const char *name, size_t length) {
  bool prefix = name[length - 1] == '*', found = false;
  if (prefix) length--;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    const char *own = ds_body_name(scene, ds_scene_body(scene, i));
    if (strncmp(own, name, length) != 0 || (!prefix && own[length] != '\0')) continue;
    hidden[i] = found = true;
  }
  return found;
}

static const char *nearest_name(const ds_scene *scene, const char *name) {
  int32_t count = ds_scene_body_count(scene);
  const char **names = malloc((size_t)(count > 0 ? count : 1) * sizeof *names);
  if (!names) return NULL;
  for (int32_t i = 0; i < count; i++) names[i] = ds_body_name(scene, ds_scene_body(scene, i));
  const char *nearest = args_nearest(name, names, count);
  free(names);
  return nearest;
}

static void say_unknown(const ds_scene *scene, const char *name, size_t length, const char *source, ds_error *error) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
  bool prefix = name[length - 1] == '*';
  const char *nearest = prefix ? NULL : nearest_name(scene, word);
  bool guess = nearest && nearest[0] != '\0';
  snprintf(error->message, sizeof error->message,
           "--hide: no body %s '%s'; %s%.64s%s'drystone info --all %.200s' lists the names",
           prefix ? "has a name like" : "is named", word, guess ? "did you mean " : "", guess ? nearest : "",
           guess ? "? " : "", source);
}

static bool hide_list(bool *hidden, const ds_scene *scene, const char *list, const char *source, ds_error *error) {
  for (const char *name = list;; name++) {
    size_t length = strcspn(name, ",");
    if (length == 0) {
      snprintf(error->message, sizeof error->message,
               "--hide: a name in '%.100s' is empty; give names of bodies, separated by commas", list);
      return false;
    }
    if (!hide_name(hidden, scene, name, length)) {
      say_unknown(scene, name, length, source, error);
      return false;
    }
    name += length;
    if (*name == '\0') return true;
  }
}

bool *hide_bodies(const ds_scene *scene, const arg_list *lists, const char *source, ds_error *error) {
  int32_t count = ds_scene_body_count(scene);
  bool *hidden = calloc((size_t)(count > 0 ? count : 1), sizeof *hidden);
  if (!hidden) {
    snprintf(error->message, sizeof error->message, "no memory for %d bodies", count);
    return NULL;
  }
  for (int32_t i = 0; i < lists->count; i++) {
    if (hide_list(hidden, scene, lists->items[i], source, error)) continue;
    free(hidden);
    return NULL;
  }
  return hidden;
}
