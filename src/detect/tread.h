/* Treads: where the smooth surface that a mesh stands for (mesh/caps.c) comes nearest to another shape. */
#ifndef DS_DETECT_TREAD_H
#define DS_DETECT_TREAD_H

#include "detect/detection.h"

/* Bit of the feature of a tread besides the number of a sample; those are smaller (mesh/samples.c). */
#define DS_FEATURE_TREAD 0x08000000u
/* Whether a contact is a tread of the body on side 0 or 1 (kinds 0 and 1 of features). */
bool ds_feature_is_tread(uint64_t feature, int side);

typedef struct ds_tread {
  ds_candidate at;
  double spread; /* of the caps */
} ds_tread;

typedef struct ds_tread_list {
  ds_tread *tread;
  int32_t count, capacity;
  bool failed; /* memory ran out */
} ds_tread_list;

/* The distance of a point from the smooth surface that a shape stands for, and its normal; from the shape itself where
 * it is not smooth nearby. */
double ds_smooth_distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x);
/* Where a cap would touch a plane of the normal -m (frame of the cap). */
ds_vec3 ds_cap_point(const ds_cap *cap, ds_vec3 m);
/* The tread that caps have near x, with its gap and the other's normal there; in the frame of the other, in which that
 * of the caps is placed at r, p; farther from where x was than the spread where it leads away. False where none was
 * found. */
bool ds_tread_find(ds_vec3 *x, ds_vec3 *normal, double *gap, const ds_samples *samples, const ds_shape *other,
                   const ds_mat3 *r, ds_vec3 p);
void ds_tread_add(ds_arena *arena, ds_tread_list *list, const ds_candidate *c, double spread);
/* Whether a tread is so near to a point, with a like normal, that it stands for it. */
bool ds_tread_is_near(const ds_tread_list *list, const ds_candidate *c);
/* Drops candidates that treads stand for: near them, no deeper. `error` is that of gaps. Returns how many stay. */
int32_t ds_tread_hold(const ds_tread_list *list, ds_candidate *candidates, int32_t count, double error);
/* Treads from `first` on keep the names that they had in the state's contacts. */
void ds_tread_keep_names(ds_point_list *list, int32_t first, const ds_detection *d, ds_box_pair pair);

#endif
