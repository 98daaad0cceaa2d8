/* Contacts of deformables: with all else (deformable.c) and of one with itself (self_contact.c). */
#ifndef DS_DETECT_DEFORMABLE_H
#define DS_DETECT_DEFORMABLE_H

#include "detect/deformed.h"
#include "detect/solid.h"

/* One side of a pair: a placed shape and, of a deformable, its surface. */
typedef struct ds_party {
  const ds_shape *shape;
  ds_pose pose;               /* of the shape; a deformable's is its principal frame */
  const ds_deformed *surface; /* NULL for rigid shapes */
} ds_party;

typedef struct ds_deformable_query {
  ds_solid_query solid;
  double deepest;           /* overlap of the pair in the last step, m; infinite: not known */
  bool has_past;            /* the bodies have come where they are by their velocities, in a step before this */
  const ds_contact *before; /* contacts of the pair in it, by feature */
  int32_t before_count;
  uint64_t shapes; /* upper half of their features */
} ds_deformable_query;

/* All points of two shapes of which at least one is deformable. The scratch is released before returning. False if
 * memory ran out. */
bool ds_narrow_deformable(ds_arena *scratch, ds_manifold *manifold, const ds_deformable_query *query, const ds_party *a,
                          const ds_party *b);
/* Those of one with itself: a is the side of the vertices. */
bool ds_narrow_self(ds_arena *scratch, ds_manifold *manifold, const ds_deformable_query *query, const ds_party *body);
/* False if it is deformed too little to touch itself, and will be after points have moved by `stir` more. */
bool ds_may_touch_itself(const ds_skin *skin, const double *q, double stir);
/* False if points below two spheres of its tree are displaced too little for it; *travel: farthest that they come
 * nearer to each other within the step. */
bool ds_may_fold(double *travel, const ds_skin *skin, int32_t a, int32_t b, const ds_displacement *of_a,
                 const ds_displacement *of_b);

/* ---- what both files share ---- */

/* Points that may become contacts, with the material points on both sides. */
typedef struct ds_found {
  ds_arena *scratch;
  ds_candidate *list; /* tag: its place in `anchors` */
  ds_anchor *anchors; /* 2 each: on a, on b */
  int32_t count, capacity;
  bool failed;
} ds_found;

void ds_found_add(ds_found *found, const ds_candidate *candidate, ds_anchor on_a, ds_anchor on_b);
/* At most `limit` of a patch, in order of their features. */
void ds_found_emit(ds_manifold *manifold, ds_found *found, int32_t limit, double eps);
/* Whether a point that seems to be inside this body cannot have come there since the last step, by its displacement
 * against it.
 */
bool ds_was_outside(const ds_deformable_query *query, const ds_skin *skin, double gap, ds_vec3 normal,
                    ds_vec3 displacement, uint32_t feature);
/* The part of an edge by which a point may be inside that was nowhere before. */
static inline double ds_fresh_depth(const ds_skin *skin) {
  return 0.25 * fmin(0.5 * skin->tree->thickness, skin->tree->spacing);
}
/* How far inside a deformable points are looked for: as deep as the pair overlapped in the last step and half as much
 * again, a part of what they move, for what was missed ahead, and a part of an edge; but no deeper than it is thick. */
static inline double ds_search_depth(const ds_skin *skin, double deepest, double motion) {
  double fresh = ds_fresh_depth(skin);
  return fmin(fresh + 1.5 * deepest + 0.1 * motion, fmax(fresh, skin->tree->thickness));
}

#endif
