/* Points on the surface of a shape, as many as its kind puts there. */
#include <stdlib.h>

#include "base/array.h"
#include "shape/shape.h"

int32_t ds_shape_pieces(double length, double spacing) {
  double n = ceil(length / spacing);
  return n < 1 ? 1 : n > DS_POINTS_ALONG_MAX ? DS_POINTS_ALONG_MAX : (int32_t)n;
}

void ds_shape_point_add(ds_shape_points *p, ds_vec3 x, ds_vec3 normal) {
  if (p->failed || !ds_array_reserve(&p->points, &p->point_capacity, p->count + 1, sizeof *p->points) ||
      !ds_array_reserve(&p->normals, &p->normal_capacity, p->count + 1, sizeof *p->normals)) {
    p->failed = true;
    return;
  }
  p->points[p->count] = x;
  p->normals[p->count++] = v3_unit(normal);
}
