/* An assembly as a scene file: every block a body with its own faces. A block whose corners lie behind all its faces is
 * a convex hull, any other a solid with a mesh of triangles. Interfaces are written where they were given, or found
 * between faces of convex blocks that touch as a whole. Where only a part of a patch is near enough, the rest touches
 * as soon as a block tilts: there, and between blocks that are not convex, contacts are found from the shapes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec3.h"
#include "stand/build.h"

static const double flat =
    1e-3;                   /* of the size of a block: corners that stand out of a face by less, as of warped faces */
enum { MOST_CORNERS = 64 }; /* of a face */

typedef struct text {
  char *at;
  size_t length, room;
  bool failed;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
  va_list list;
  if (t->failed) return;
  if (t->room - t->length < 512) {
    size_t room = 2 * t->room + 4096;
    char *more = realloc(t->at, room);
    if (!more) {
      t->failed = true;
      return;
    }
    t->at = more, t->room = room;
  }
  va_start(list, format);
  int n = vsnprintf(t->at + t->length, t->room - t->length, format, list);
  va_end(list);
  if (n < 0 || (size_t)n >= t->room - t->length)
    t->failed = true;
  else
    t->length += (size_t)n;
}

/* Names as JSON texts: quotes, backslashes and control characters become '_'. */
static void put_name(text *t, const char *name) {
  char clean[64];
  size_t n = 0;
  for (; name[n] && n < sizeof clean - 1; n++)
    clean[n] = name[n] == '"' || name[n] == '\\' || (unsigned char)name[n] < 32 ? '_' : name[n];
  clean[n] = 0;
  put(t, "\"%s\"", clean);
}

static ds_face face_of(const ds_assembly *a, int32_t f) {
  ds_face face = {.corners = a->corners + a->face[f], .count = a->face[f + 1] - a->face[f]};
  ds_face_finish(&face);
  return face;
}

static bool is_convex(const ds_assembly *a, int32_t block) {
  int32_t first = a->face[a->block_face[block]], end = a->face[a->block_face[block + 1]];
  double size = 0;
  for (int32_t k = first; k < end; k++) size = fmax(size, v3_dist(a->corners[k], a->corners[first]));
  for (int32_t f = a->block_face[block]; f < a->block_face[block + 1]; f++) {
    ds_face face = face_of(a, f);
    for (int32_t k = first; k < end; k++) {
      double out = -INFINITY; /* behind the highest corner of the face */
      for (int32_t j = 0; j < face.count; j++)
        out = fmax(out, v3_dot(face.normal, v3_sub(face.corners[j], a->corners[k])));
      if (out < -flat * size) return false;
    }
  }
  return true;
}

static void put_point(text *t, ds_vec3 p, bool first) {
  put(t, "%s[%.17g, %.17g, %.17g]", first ? "" : ", ", p.x, p.y, p.z);
}

/* Corners of a block, each once: their numbers go to `index`. */
static int32_t put_corners(text *t, int32_t *index, const ds_assembly *a, int32_t block) {
  int32_t first = a->face[a->block_face[block]], end = a->face[a->block_face[block + 1]], count = 0;
  for (int32_t k = first; k < end; k++) {
    int32_t same = first;
    while (same < k && v3_dist(a->corners[same], a->corners[k]) > 0) same++;
    index[k - first] = same < k ? index[same - first] : count++;
    if (same == k) put_point(t, v3_sub(a->corners[k], a->blocks[block].center), count == 1);
  }
  return count;
}

static void put_mesh(text *t, int32_t *index, const ds_assembly *a, int32_t block) {
  int32_t first = a->face[a->block_face[block]], triangles[3 * MOST_CORNERS];
  bool none = true;
  put(t, "{\"mesh\": {\"vertices\": [");
  put_corners(t, index, a, block);
  put(t, "], \"triangles\": [");
  for (int32_t f = a->block_face[block]; f < a->block_face[block + 1]; f++) {
    ds_face face = face_of(a, f);
    const int32_t *own = index + (a->face[f] - first);
    int32_t count = face.count <= MOST_CORNERS ? ds_face_triangles(triangles, &face) : 0;
    for (int32_t i = 0; i < count; i++, none = false)
      put(t, "%s[%d, %d, %d]", none ? "" : ", ", (int)own[triangles[3 * i]], (int)own[triangles[3 * i + 1]],
          (int)own[triangles[3 * i + 2]]);
  }
  put(t, "]}}");
}

static void put_body(text *t, int32_t *index, const ds_assembly *a, int32_t i, double mu, bool convex) {
  const ds_block *b = &a->blocks[i];
  put(t, "{\"name\": ");
  put_name(t, b->name);
  put(t, ", \"position\": [%.17g, %.17g, %.17g], \"mu\": %.17g, ", b->center.x, b->center.y, b->center.z, mu);
  if (b->support)
    put(t, "\"kind\": \"static\", ");
  else
    put(t, "\"mass\": %.17g, ", b->mass);
  if (v3_norm(b->force) > 0) put(t, "\"force\": [%.17g, %.17g, %.17g], ", b->force.x, b->force.y, b->force.z);
  if (v3_norm(b->torque) > 0) put(t, "\"torque\": [%.17g, %.17g, %.17g], ", b->torque.x, b->torque.y, b->torque.z);
  put(t, "\"shapes\": [");
  if (convex) {
    put(t, "{\"kind\": \"hull\", \"points\": [");
    put_corners(t, index, a, i);
    put(t, "]}");
  } else {
    put(t, "{\"kind\": \"solid\", \"solid\": \"block%d\"}", (int)i);
  }
  put(t, "]}");
}

/* Blocks have one friction each: that of the interfaces, where they agree. */
static double friction_of(const ds_assembly *a) {
  double mu = a->interface_count > 0 ? a->interfaces[0].mu : 0;
  for (int32_t i = 0; i < a->interface_count; i++) mu = fmin(mu, a->interfaces[i].mu);
  return mu;
}

static void put_interface(text *t, const ds_assembly *a, const ds_interface *f, double mu) {
  put(t, "{\"bodies\": [");
  put_name(t, a->blocks[f->a].name);
  put(t, ", ");
  put_name(t, a->blocks[f->b].name);
  put(t, "], \"normal\": ");
  put_point(t, f->normal, true);
  if (f->mu != mu) put(t, ", \"mu\": %.17g", f->mu);
  put(t, ", \"points\": [");
  for (int32_t k = 0; k < f->count; k++) put_point(t, a->points[f->first + k], k == 0);
  put(t, "]}");
}

/* The end of the interfaces of the pair of blocks of interface i; `kept`: whether the scene has them. */
static int32_t end_of_pair(bool *kept, const ds_assembly *a, const bool *convex, int32_t i) {
  const ds_interface *f = &a->interfaces[i];
  bool whole = convex[f->a] && convex[f->b];
  int32_t end = i;
  for (; end < a->interface_count && a->interfaces[end].a == f->a && a->interfaces[end].b == f->b; end++)
    whole = whole && !a->interfaces[end].partial;
  *kept = a->given || (a->tolerance > 0 && whole); /* those of toy bricks are held by clutch: no interfaces */
  return end;
}

static void put_interfaces(text *t, const ds_assembly *a, const bool *convex) {
  double mu = friction_of(a);
  bool first = true, kept;
  put(t, ",\n\"interfaces\": [");
  for (int32_t i = 0, end = 0; i < a->interface_count; i = end) {
    end = end_of_pair(&kept, a, convex, i);
    for (int32_t k = i; k < end && kept; k++, first = false) {
      put(t, "%s\n", first ? "" : ",");
      put_interface(t, a, &a->interfaces[k], mu);
    }
  }
  put(t, "]");
}

static void put_all(text *t, int32_t *index, bool *convex, const ds_assembly *a, const char *name) {
  bool first = true;
  double mu = friction_of(a);
  put(t, "{\"drystone\": 1, \"name\": ");
  put_name(t, name);
  put(t, ", \"allow_overlap\": true, \"time\": 5,\n\"gravity\": [%.17g, %.17g, %.17g],\n\"solids\": {", a->gravity.x,
      a->gravity.y, a->gravity.z);
  for (int32_t i = 0; i < a->block_count; i++) {
    if (a->block_face[i] == a->block_face[i + 1]) continue;
    convex[i] = is_convex(a, i);
    if (convex[i]) continue;
    put(t, "%s\n\"block%d\": ", first ? "" : ",", (int)i);
    put_mesh(t, index, a, i);
    first = false;
  }
  put(t, "},\n\"bodies\": [");
  first = true;
  for (int32_t i = 0; i < a->block_count; i++) {
    put(t, "%s\n", first ? "" : ",");
    first = false;
    if (a->block_face[i] == a->block_face[i + 1]) /* the plate under toy bricks */
      put(t, "{\"name\": \"plate\", \"kind\": \"static\", \"mu\": %.17g, \"shapes\": [{\"kind\": \"half-space\"}]}",
          mu);
    else
      put_body(t, index, a, i, mu, convex[i]);
  }
  put(t, "]");
  put_interfaces(t, a, convex);
  put(t, "}\n");
}

char *ds_assembly_scene(const ds_assembly *a, const char *name, ds_error *error) {
  text t = {0};
  if (!a->corners) {
    ds_fail(error, DS_ERROR_INPUT, "the assembly has no surfaces: it is a scene already");
    return NULL;
  }
  int32_t faces = a->block_face[a->block_count];
  int32_t *index = malloc(((size_t)a->face[faces] + 1) * sizeof *index);
  bool *convex = calloc((size_t)a->block_count + 1, sizeof *convex);
  t.failed = !index || !convex;
  if (!t.failed) put_all(&t, index, convex, a, name);
  free(index);
  free(convex);
  if (!t.failed) return t.at;
  free(t.at);
  ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
  return NULL;
}
