/* The joints of a recording: /joints has one row per joint, for programs that do not read the scene's text. Drystone
 * reads the text. */
#include <stdlib.h>

#include "body/scene.h"
#include "record/layout.h"

static bool write_table(hid_t at, const char *name, hid_t file_type, hid_t memory_type, const void *data, int32_t rows,
                        int32_t columns) {
  hsize_t size[2] = {(hsize_t)rows, (hsize_t)columns};
  hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);
  hid_t set = space >= 0 ? H5Dcreate2(at, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : (hid_t)-1;
  bool ok = set >= 0 && H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
  return ok;
}

/* Joints with their bodies' frames at the origin, so that points are in those frames. */
static void fill_tables(int32_t *bodies, int32_t *kinds, ds_vec3 *on_a, ds_vec3 *on_b, ds_vec3 *axis,
                        const ds_scene *scene) {
  for (int32_t i = 0; i < scene->joint_count; i++) {
    const ds_joint *joint = &scene->joints[i];
    ds_joint_place place = ds_joint_at(scene, ds_scene_joint(scene, i), pose_identity(), pose_identity());
    bodies[2 * i] = joint->a, bodies[2 * i + 1] = joint->b;
    kinds[i] = (int32_t)joint->def.kind;
    on_a[i] = place.on_a, on_b[i] = place.on_b, axis[i] = place.axis;
  }
}

bool ds_record_write_joints(hid_t file, const ds_scene *scene) {
  int32_t n = scene->joint_count;
  if (n == 0) return true;
  int32_t *integers = malloc(3 * (size_t)n * sizeof *integers);
  ds_vec3 *vectors = malloc(3 * (size_t)n * sizeof *vectors);
  hid_t group = H5Gcreate2(file, "/joints", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = integers && vectors && group >= 0;
  if (ok) {
    ds_vec3 *on_a = vectors, *on_b = vectors + n, *axis = vectors + 2 * n;
    fill_tables(integers, integers + 2 * n, on_a, on_b, axis, scene);
    ok = write_table(group, "bodies", H5T_STD_I32LE, H5T_NATIVE_INT32, integers, n, 2) &&
         write_table(group, "kind", H5T_STD_I32LE, H5T_NATIVE_INT32, integers + 2 * n, n, 1) &&
         write_table(group, "on_a", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, on_a, n, 3) &&
         write_table(group, "on_b", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, on_b, n, 3) &&
         write_table(group, "axis", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, axis, n, 3);
  }
  if (group >= 0) H5Gclose(group);
  free(integers);
  free(vectors);
  return ok;
}
