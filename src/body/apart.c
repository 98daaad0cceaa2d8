/* Pairs of bodies that do not touch each other: those that a joint holds together, unless it says otherwise. */
#include <stdlib.h>

#include "base/error.h"
#include "body/scene.h"

static int by_bodies(const void *x, const void *y) {
  const ds_apart *p = x, *q = y;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

static ds_apart apart(int32_t a, int32_t b) { return a < b ? (ds_apart){a, b} : (ds_apart){b, a}; }

const ds_apart *ds_scene_apart(const ds_scene *scene, int32_t a, int32_t b) {
  ds_apart key = apart(a, b);
  if (scene->apart_count == 0) return NULL;
  return bsearch(&key, scene->apart, (size_t)scene->apart_count, sizeof key, by_bodies);
}

ds_status ds_scene_find_apart(ds_scene *scene, ds_error *error) {
  free(scene->apart);
  scene->apart = NULL;
  scene->apart_count = 0;
  if (scene->joint_count == 0) return DS_OK;
  scene->apart = calloc((size_t)scene->joint_count, sizeof *scene->apart);
  if (!scene->apart) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  int32_t found = 0;
  for (int32_t i = 0; i < scene->joint_count; i++) {
    const ds_joint *joint = &scene->joints[i];
    if (!joint->def.collide) scene->apart[found++] = apart(joint->a, joint->b);
  }
  qsort(scene->apart, (size_t)found, sizeof *scene->apart, by_bodies);
  for (int32_t i = 0, *kept = &scene->apart_count; i < found; i++)
    if (i == 0 || by_bodies(&scene->apart[i], &scene->apart[*kept - 1]) != 0) scene->apart[(*kept)++] = scene->apart[i];
  return DS_OK;
}
