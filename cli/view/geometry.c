/* The shapes of a scene as messages.
 *
 * Two shapes have the same form where kind and measures are equal bit for bit, or where they are the same solid or the
 * same reduced body. Curved forms get fewer corners the more bodies have one. A deformable form is drawn from the
 * skin of its undeformed surface: its vertices are the surface's, doubled at creases, so each moves with the basis of
 * the surface vertex that it came from. */
#include "geometry.h"

#include <stdlib.h>
#include <string.h>

#include "../bodies.h"
#include "../skin.h"
#include "../tessellate.h"
#include "../wardrobe.h"
#include "base/array.h"
#include "base/vec3.h"
#include "drystone/inspect.h"

#define CURVED_BUDGET 600000.0 /* triangles of all curved shapes together */
enum { SEGMENTS_MIN = 12, SEGMENTS_MAX = 48 };

typedef enum geometry_kind { GEOMETRY_MESH, GEOMETRY_HALF_SPACE, GEOMETRY_DEFORMABLE } geometry_kind;

/* A shape, and where it is in the scene. */
typedef struct form {
  ds_shape_def shape;
  ds_body_id body;
  int32_t index;
} form;

typedef struct builder {
  view_geometries *out;
  const ds_scene *scene;
  form *forms; /* a shape that has it, a geometry each */
  int32_t form_capacity, message_capacity;
  int32_t segments;
  ds_wardrobe wardrobe;
} builder;

/* ---- forms ---- */

static int32_t choose_segments(const ds_scene *scene) {
  double curved = 1;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++)
    for (int32_t s = 0; s < ds_body_shape_count(scene, body_at(i)); s++)
      curved += ds_shape_kind_is_curved(ds_body_shape(scene, body_at(i), s).kind);
  double segments = sqrt(CURVED_BUDGET / curved); /* a sphere of s segments has about s² triangles */
  return (int32_t)fmin(SEGMENTS_MAX, fmax(SEGMENTS_MIN, segments)) / 4 * 4;
}

/* ---- creases ---- */

typedef struct crease {
  float low[3], high[3]; /* ends in order, so that an edge is the same from both of its sides */
  uint32_t a, b;
} crease;

static int compare_points(const float *a, const float *b) {
  for (int i = 0; i < 3; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int compare_creases(const void *x, const void *y) {
  const crease *a = x, *b = y;
  int order = compare_points(a->low, b->low);
  return order != 0 ? order : compare_points(a->high, b->high);
}

/* The edges to be drawn as lines, each once; *kept is their number. NULL if memory ran out. */
static crease *find_creases(int32_t *kept, const ds_vertex *vertices, const ds_triangle *triangles, int32_t count) {
  crease *found = malloc((3 * (size_t)count + 1) * sizeof *found);
  int32_t n = 0;
  *kept = 0;
  if (found == NULL) return NULL;
  for (int32_t t = 0; t < count; t++)
    for (int k = 0; k < 3; k++) {
      if ((triangles[t].edges >> k & 1) == 0) continue;
      int32_t a = triangles[t].corner[k], b = triangles[t].corner[(k + 1) % 3];
      if (compare_points(vertices[a].position, vertices[b].position) > 0) {
        int32_t swap = a;
        a = b, b = swap;
      }
      crease *c = &found[n++];
      memcpy(c->low, vertices[a].position, sizeof c->low);
      memcpy(c->high, vertices[b].position, sizeof c->high);
      c->a = (uint32_t)a, c->b = (uint32_t)b;
    }
  qsort(found, (size_t)n, sizeof *found, compare_creases);
  for (int32_t i = 0; i < n; i++)
    if (*kept == 0 || compare_creases(&found[*kept - 1], &found[i]) != 0) found[(*kept)++] = found[i];
  return found;
}

/* ---- messages ---- */

static void write_mesh(view_bytes *out, const ds_vertex *vertices, int32_t n, const ds_triangle *triangles, int32_t m,
                       const crease *creases, int32_t e, int32_t r, geometry_kind kind, int32_t index) {
  view_begin(out, VIEW_GEOMETRY);
  const uint32_t head[8] = {(uint32_t)index, (uint32_t)kind, (uint32_t)n, (uint32_t)m, (uint32_t)e, (uint32_t)r};
  view_raw(out, head, sizeof head);
  for (int32_t i = 0; i < n; i++) view_raw(out, vertices[i].position, sizeof vertices[i].position);
  for (int32_t i = 0; i < n; i++) view_raw(out, vertices[i].normal, sizeof vertices[i].normal);
  for (int32_t t = 0; t < m; t++) view_raw(out, triangles[t].corner, sizeof triangles[t].corner);
  for (int32_t i = 0; i < e; i++) {
    view_u32(out, creases[i].a);
    view_u32(out, creases[i].b);
  }
}

/* How each vertex of a skin moves with each reduced coordinate, in the mesh's frame. The skin's triangles are those of
 * the surface, in their order. */
static bool write_modes(view_bytes *out, const ds_skin *skin, const ds_reduced *body) {
  ds_reduced_info info = ds_reduced_get_info(body);
  int32_t *from = malloc(((size_t)skin->vertex_count + 1) * sizeof *from);
  ds_vec3 *mode = malloc(((size_t)info.vertices + 1) * sizeof *mode);
  bool good = from != NULL && mode != NULL;
  for (int32_t t = 0; good && t < skin->triangle_count; t++)
    for (int k = 0; k < 3; k++)
      from[skin->triangles[t].corner[k]] = ds_reduced_triangles(body)[3 * (size_t)t + (size_t)k];
  for (int32_t a = 0; good && a < info.modes; a++) {
    ds_reduced_mode(mode, body, a);
    for (int32_t i = 0; i < skin->vertex_count; i++) view_vec3(out, mode[from[i]]);
  }
  free(from);
  free(mode);
  return good;
}

static view_message *deformable_message(const ds_reduced *body, int32_t index) {
  ds_wardrobe whole = {.skin_triangles = INT32_MAX};
  ds_dressed dressed;
  crease *creases = NULL;
  int32_t e;
  view_bytes out = {0};
  view_message *message = NULL;
  bool good = ds_wardrobe_dress_reduced(&dressed, &whole, body, NULL);
  const ds_skin *skin = &dressed.skin;
  if (good) creases = find_creases(&e, skin->vertices, skin->triangles, skin->triangle_count);
  if (creases != NULL) {
    write_mesh(&out, skin->vertices, skin->vertex_count, skin->triangles, skin->triangle_count, creases, e,
               ds_reduced_get_info(body).modes, GEOMETRY_DEFORMABLE, index);
    if (!write_modes(&out, skin, body)) out.failed = true;
    message = view_end(&out);
  }
  free(creases);
  ds_dressed_free(&dressed);
  return message;
}

static bool add_to_model(builder *b, ds_model *model, const form *of) {
  if (!of->shape.solid)
    return ds_model_add_shape(model, pose_identity(), b->scene, of->body, of->index, b->segments, 0);
  const ds_dressed *dressed = ds_wardrobe_dress(&b->wardrobe, of->shape.solid);
  return dressed != NULL && ds_model_add_skin(model, &dressed->skin, pose_identity(), 0, false);
}

static view_message *form_message(builder *b, const form *of, int32_t index) {
  const ds_shape_def *shape = &of->shape;
  if (shape->kind == DS_SHAPE_REDUCED) return deformable_message(shape->reduced, index);
  ds_model model = {0};
  crease *creases = NULL;
  int32_t e;
  view_bytes out = {0};
  view_message *message = NULL;
  geometry_kind kind = shape->kind == DS_SHAPE_HALF_SPACE ? GEOMETRY_HALF_SPACE : GEOMETRY_MESH;
  if (add_to_model(b, &model, of)) creases = find_creases(&e, model.vertices, model.triangles, model.triangle_count);
  if (creases != NULL) {
    write_mesh(&out, model.vertices, model.vertex_count, model.triangles, model.triangle_count, creases, e, 0, kind,
               index);
    message = view_end(&out);
  }
  free(creases);
  ds_model_free(&model);
  return message;
}

/* ---- the scene ---- */

/* *index is that of a shape's form, which is added where it is new. False where memory ran out. */
static bool find_form(builder *b, int32_t *index, const form *of) {
  view_geometries *out = b->out;
  for (*index = out->count - 1; *index >= 0; --*index) {
    const form *known = &b->forms[*index];
    if (ds_body_same_form(b->scene, known->body, known->index, of->body, of->index)) return true;
  }
  if (!ds_array_reserve(&b->forms, &b->form_capacity, out->count + 1, sizeof *b->forms) ||
      !ds_array_reserve(&out->messages, &b->message_capacity, out->count + 1, sizeof *out->messages))
    return false;
  view_message *message = form_message(b, of, out->count);
  if (message == NULL) return false;
  *index = out->count++;
  b->forms[*index] = *of;
  out->messages[*index] = message;
  return true;
}

static bool add_bodies(builder *b) {
  int32_t part = 0;
  for (int32_t i = 0; i < ds_scene_body_count(b->scene); i++) {
    ds_body_id body = body_at(i);
    b->out->first_part[i] = part;
    for (int32_t s = 0; s < ds_body_shape_count(b->scene, body); s++) {
      form of = {ds_body_shape(b->scene, body, s), body, s};
      int32_t index;
      if (!find_form(b, &index, &of)) return false;
      b->out->parts[part++] = (view_part){index, of.shape.pose};
    }
  }
  b->out->first_part[ds_scene_body_count(b->scene)] = part;
  return true;
}

bool view_geometries_build(view_geometries *out, const ds_scene *scene) {
  builder b = {.out = out, .scene = scene, .segments = choose_segments(scene)};
  size_t parts = 1;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) parts += (size_t)ds_body_shape_count(scene, body_at(i));
  *out = (view_geometries){.parts = malloc(parts * sizeof *out->parts),
                           .first_part = malloc(((size_t)ds_scene_body_count(scene) + 1) * sizeof *out->first_part)};
  ds_wardrobe_open(&b.wardrobe, scene, NULL);
  bool good = out->parts != NULL && out->first_part != NULL && add_bodies(&b);
  ds_wardrobe_close(&b.wardrobe);
  free(b.forms);
  if (!good) view_geometries_free(out);
  return good;
}

void view_geometries_free(view_geometries *geometries) {
  for (int32_t i = 0; i < geometries->count; i++) view_message_release(geometries->messages[i]);
  free(geometries->messages);
  free(geometries->parts);
  free(geometries->first_part);
  *geometries = (view_geometries){0};
}
