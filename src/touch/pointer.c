/* A pointer as a device: another thread sets its pose and reads its force. */
#include <stdlib.h>

#include "base/error.h"
#include "base/thread.h"
#include "drystone/touch.h"
#include "la/vec3.h"

typedef struct pointer {
  ds_lock *lock;
  bool there;
  ds_pose pose;
  ds_vec3 force, torque;
} pointer;

static bool read_pointer(void *user, double time, ds_device_motion *motion) {
  pointer *p = user;
  (void)time;
  ds_lock_take(p->lock);
  bool there = p->there;
  *motion = (ds_device_motion){.pose = p->pose};
  ds_lock_give(p->lock);
  return there;
}

static void write_pointer(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  pointer *p = user;
  (void)time;
  ds_lock_take(p->lock);
  p->force = force, p->torque = torque;
  ds_lock_give(p->lock);
}

static void close_pointer(void *user) {
  pointer *p = user;
  ds_lock_destroy(p->lock);
  free(p);
}

ds_status ds_device_pointer(ds_device *device, ds_error *error) {
  pointer *p = calloc(1, sizeof *p);
  if (p) p->lock = ds_lock_create();
  if (!p || !p->lock) {
    free(p);
    return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  }
  *device = (ds_device){p, read_pointer, write_pointer, close_pointer};
  return DS_OK;
}

void ds_pointer_set(const ds_device *device, ds_pose pose) {
  pointer *p = device->user;
  ds_lock_take(p->lock);
  p->pose = pose, p->there = true;
  ds_lock_give(p->lock);
}

void ds_pointer_feel(const ds_device *device, ds_vec3 *force, ds_vec3 *torque) {
  pointer *p = device->user;
  ds_lock_take(p->lock);
  *force = p->force, *torque = p->torque;
  ds_lock_give(p->lock);
}
