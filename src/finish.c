/* The end of building a scene: masses and samples of its bodies, then the joints and interfaces between them. */
#include "base/check.h"
#include "body/scene.h"
#include "detect/detect.h"
#include "joint/joint.h"

ds_status ds_scene_finish(ds_scene *scene, ds_error *error) {
  DS_CHECK(scene && !scene->finished);
  ds_status status = ds_bodies_finish(scene, error);
  if (status != DS_OK) return status;
  ds_joints_place(scene);
  status = ds_interfaces_place(scene, error);
  if (status != DS_OK) return status;
  scene->finished = true;
  status = ds_interfaces_measure(scene, error);
  scene->finished = status == DS_OK;
  return status;
}
