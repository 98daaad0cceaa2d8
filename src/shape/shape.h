/* What a shape is: a table of operations per kind, one file per kind.
 *
 * Everything is in the shape's own frame unless it says otherwise. A kind fills in what it can: optional operations are
 * derived from others where they are NULL [CONTRIBUTING.md, "Add a shape"]. kinds.c has the table. */
#ifndef DS_SHAPE_SHAPE_H
#define DS_SHAPE_SHAPE_H

#include <stddef.h>

#include "drystone/drystone.h"
#include "drystone/inspect.h"
#include "la/vec3.h"
#include "shape/hull.h"

typedef struct ds_shape {
  ds_shape_kind kind;
  ds_pose pose;         /* in the body's principal frame (in the user frame until ds_scene_finish) */
  ds_pose pose_in_body; /* in the user frame, as given */
  double density;
  int32_t material; /* index; 0 = that of the body */
  double radius, half_length;
  ds_vec3 half;
  ds_hull hull;    /* BOX, HULL */
  ds_vec3 *points; /* HULL: as given */
  int32_t point_count;
  struct ds_solid *solid;     /* SOLID: shared with other shapes */
  struct ds_reduced *reduced; /* REDUCED: shared with other shapes; lies in the principal frame: pose is the identity */
  double *start;              /* REDUCED: r coordinates and r rates at the start, or NULL */
  struct ds_samples *samples; /* of convex shapes, where the scene has solids (detect/shape_samples.c) */
  struct ds_faces *faces;     /* of boxes and hulls, likewise */
  double bounding_radius;     /* of a ball about `pose.p` that holds the shape; infinite for half-spaces */
} ds_shape;

/* Points of the surface with outward normals, for contact with a distance field. */
typedef struct ds_shape_points {
  ds_vec3 *points, *normals;
  int32_t count, point_capacity, normal_capacity;
  bool failed; /* memory ran out */
} ds_shape_points;

/* The part of a convex surface that meets a plane: a corner, the two ends of a line, or a polygon. */
enum { DS_SHAPE_FACE_MAX = 64 };
typedef struct ds_shape_face {
  int32_t count;
  ds_vec3 points[DS_SHAPE_FACE_MAX]; /* of a polygon: counter-clockwise seen from outside */
  uint32_t ids[DS_SHAPE_FACE_MAX];   /* below 4096; the same from step to step for the same point of the body */
} ds_shape_face;

/* A measure of a shape: a key in scene files, a member of ds_shape_def. */
typedef enum ds_measure_kind {
  DS_MEASURE_LENGTH,  /* double, positive */
  DS_MEASURE_LENGTHS, /* ds_vec3, all positive */
  DS_MEASURE_POINTS,  /* ds_shape_def.points and point_count */
  DS_MEASURE_SOLID,   /* ds_shape_def.solid, by its name in the scene file */
} ds_measure_kind;
enum { DS_MEASURES_MAX = 3 };
typedef struct ds_measure {
  const char *key; /* NULL: none */
  ds_measure_kind kind;
  size_t offset; /* in ds_shape_def, of LENGTH and LENGTHS */
  double share;  /* member = share x number in the file: 0.5 where the file has a full length and the API half of it */
} ds_measure;

/* A kind of shape. */
typedef struct ds_shape_ops {
  const char *name; /* as in scene files */
  ds_measure measures[DS_MEASURES_MAX];
  bool not_in_files; /* no shape of a scene file has this kind */
  bool curved;       /* its triangles are finer where fewer shapes are curved */
  bool rounded;      /* `support` and `samples` give a core; the surface lies `radius` about it */
  bool smooth;       /* convex, without flat parts and straight lines: it touches a convex thing at one point */
  bool capped;       /* its flat faces are disks of `radius` about its z axis */
  bool unbounded;    /* has no mass and no bounds */

  /* Of a shape that is a whole body, and the only one of it: whether that body may be one, to which `others` were added
   * before. NULL for all others. */
  ds_status (*check)(const ds_shape_def *def, const ds_body_def *body, int32_t others, ds_error *error);
  /* Data built once from the definition, besides the members that are copied. May be NULL. */
  ds_status (*prepare)(ds_shape *shape, const ds_shape_def *def, ds_error *error);
  /* Volume, centre, and inertia about the centre at a density of 1 kg/m³; *mass is zero before. */
  void (*mass)(ds_mass *mass, const ds_shape *shape);
  double (*thickness)(const ds_shape *shape); /* the smallest width */
  /* Distance of the farthest point from the origin of the frame in which the shape has this pose. */
  double (*reach)(const ds_shape *shape, ds_pose pose);
  /* World bounding box. NULL: by `support`. */
  void (*bounds)(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose);
  /* Distance along a unit direction to the surface, from inside if the ray starts there, or a negative number. */
  double (*ray)(ds_vec3 *normal, const ds_shape *shape, ds_vec3 origin, ds_vec3 direction, double max_distance);
  /* Signed distance and its gradient. NULL: by `support`. */
  double (*distance)(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x);
  double (*distance_alone)(const ds_shape *shape, ds_vec3 x); /* where it costs less; may be NULL */
  /* A point farthest along a direction of any length. NULL where the shape is not convex or has no bounds. */
  ds_vec3 (*support)(const ds_shape *shape, ds_vec3 direction);
  /* The part of the surface that meets a plane whose normal is the unit direction, with about this many points of a
   * curve. NULL: by `support`. */
  void (*face)(ds_shape_face *face, const ds_shape *shape, ds_vec3 direction, int32_t wanted);
  /* Points at this spacing at most, on what can touch a plane: corners, edges, curves. NULL: none. */
  void (*samples)(ds_shape_points *points, const ds_shape *shape, double spacing);
  /* Distance of the points by which its own surface is held against others, which are sampled as finely; infinite if it
   * has none. NULL: it has none. */
  double (*spacing)(const ds_shape *shape);
  /* NULL where the shape is not drawn, or drawn otherwise (solids, deformable bodies). `segments` is the number of
   * corners of a full circle, at least 6. */
  void (*tessellate)(ds_facets *facets, const ds_shape *shape, int32_t segments);
} ds_shape_ops;

/* All kinds, by ds_shape_kind (kinds.c). */
extern const ds_shape_ops *const ds_shape_kinds[];
extern const int32_t ds_shape_kind_count;
enum { DS_SHAPE_KINDS_MAX = 32 }; /* sets of kinds are bits of an uint32_t */
static inline const ds_shape_ops *ds_shape_ops_of(const ds_shape *shape) { return ds_shape_kinds[shape->kind]; }

/* --- any shape (shape.c) --- */
/* Whether all measures of a definition can be used. */
ds_status ds_shape_check(const ds_shape_def *def, ds_error *error);
static inline bool ds_shape_is_convex(const ds_shape *shape) { return ds_shape_ops_of(shape)->support != NULL; }
/* The farthest point along a unit direction, of the surface rather than a core. */
ds_vec3 ds_shape_support(const ds_shape *shape, ds_vec3 direction);
/* Signed distance of a point, and its gradient; the distance alone may cost less. */
double ds_shape_distance(ds_vec3 *normal, const ds_shape *shape, ds_vec3 x);
double ds_shape_distance_alone(const ds_shape *shape, ds_vec3 x);
/* Distance along the unit direction (world) to one shape, or a negative number; the normal on a hit. */
double ds_shape_ray(ds_vec3 *normal, const ds_shape *shape, ds_pose pose, ds_vec3 origin, ds_vec3 direction,
                    double max_distance);
/* World bounding box of a shape. Half-spaces have infinite extents. */
void ds_shape_bounds(ds_vec3 *low, ds_vec3 *high, const ds_shape *shape, ds_pose pose);
/* The part of a convex shape that meets a plane, by `face` or by supports along directions near the given one. */
void ds_shape_get_face(ds_shape_face *face, const ds_shape *shape, ds_vec3 direction, int32_t wanted);
/* Whether two shapes have the same surface, by their kinds and measures. */
bool ds_shape_same_form(const ds_shape *a, const ds_shape *b);

/* --- distances --- */
/* Signed distance of a point to a polyhedron, with its outward normal (polyhedron.c). */
double ds_hull_distance(ds_vec3 *normal, const ds_hull *h, ds_vec3 x);
/* The same for a box about the origin, and for a cylinder about z (cylinder.c). */
double ds_box_distance(ds_vec3 *normal, ds_vec3 half, ds_vec3 x);
double ds_cylinder_distance(ds_vec3 *normal, double radius, double half_length, ds_vec3 x);

/* --- what the files of the kinds share --- */
/* Principal moments per volume, about the centre. */
static inline void ds_mass_diagonal(ds_mass *mass, double volume, double x, double y, double z) {
  mass->mass = volume;
  mass->inertia[0] = volume * x;
  mass->inertia[4] = volume * y;
  mass->inertia[8] = volume * z;
}
/* Along one edge, rim or axis, at this spacing (points.c). */
enum { DS_POINTS_ALONG_MAX = 64 };
int32_t ds_shape_pieces(double length, double spacing);
void ds_shape_point_add(ds_shape_points *points, ds_vec3 x, ds_vec3 normal);
/* A circle of points about z at a height, whose normals have this sine and cosine against the level; returns the first
 * (facets.c). */
int32_t ds_facets_ring(ds_facets *facets, double radius, double height, double sine, double cosine, int32_t segments);
/* The bands between rings that follow each other, as one smooth surface. */
void ds_facets_join(ds_facets *facets, int32_t first, int32_t rings, int32_t segments);
/* Two half spheres and what is between them; a sphere is a capsule of no length. */
void ds_facets_capsule(ds_facets *facets, double radius, double half_length, int32_t segments);
/* A disc square to z, seen from above (side 1) or from below (-1). */
void ds_facets_disc(ds_facets *facets, double radius, double height, int side, int32_t segments);
/* A convex polygon, counter-clockwise seen from outside. */
void ds_facets_polygon(ds_facets *facets, const ds_vec3 *points, int32_t count);
int32_t ds_facets_point(ds_facets *facets, ds_vec3 point, ds_vec3 normal);

/* The part of a ray inside a convex thing, with the normals where it enters and leaves (span.c). */
typedef struct ds_span {
  double in, out;
  ds_vec3 n_in, n_out;
} ds_span;
static inline ds_span ds_span_all(void) { return (ds_span){-INFINITY, INFINITY, {0, 0, 0}, {0, 0, 0}}; }
static inline ds_span ds_span_none(void) { return (ds_span){INFINITY, -INFINITY, {0, 0, 0}, {0, 0, 0}}; }
/* Cuts by the half-space n.x <= d. */
void ds_span_cut_plane(ds_span *s, ds_vec3 n, double d, ds_vec3 o, ds_vec3 dir);
/* Cuts by the infinite cylinder of a radius about z. */
void ds_span_cut_mantle(ds_span *s, double radius, ds_vec3 o, ds_vec3 dir);
/* A ball about c. */
ds_span ds_span_ball(double radius, ds_vec3 c, ds_vec3 o, ds_vec3 dir);
/* Where the ray meets the surface first, or a negative number. */
double ds_span_first(ds_vec3 *normal, const ds_span *s, double max_distance);

#endif
