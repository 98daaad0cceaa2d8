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
#include "levels.h"

#define PLAIN 100000.0         /* triangles of a scene that is drawn as it is, without levels */
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
  form *forms; /* one per geometry: a shape that has it */
  int32_t form_capacity, message_capacity;
  int32_t segments;
  bool leveled; /* the scene has more than PLAIN triangles */
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

/* Whether all parts together have more than PLAIN triangles. False too where memory runs out: what follows finds out.
 */
static bool needs_levels(const builder *b) {
  double triangles = 0;
  for (int32_t i = 0; i < ds_scene_body_count(b->scene) && triangles <= PLAIN; i++)
    for (int32_t s = 0; s < ds_body_shape_count(b->scene, body_at(i)); s++) {
      ds_shape_def shape = ds_body_shape(b->scene, body_at(i), s);
      if (shape.kind == DS_SHAPE_SOLID) {
        triangles += fmin(ds_solid_mesh(shape.solid)->triangle_count, b->wardrobe.skin_triangles);
      } else if (shape.kind == DS_SHAPE_REDUCED) {
        triangles += ds_reduced_get_info(shape.reduced).triangles;
      } else {
        ds_facets facets;
        if (ds_body_facets(&facets, b->scene, body_at(i), s, b->segments) == DS_OK) triangles += facets.triangle_count;
        ds_facets_free(&facets);
      }
    }
  return triangles > PLAIN;
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

/* A form as it is sent. */
typedef struct drawing {
  const ds_vertex *vertices;
  const ds_triangle *triangles;
  int32_t vertex_count, triangle_count;
  crease *creases;
  int32_t crease_count;
  view_levels levels;
} drawing;

/* Adds creases, and levels where the scene needs them. False if memory ran out; to be freed in any case. */
static bool drawing_fill(drawing *d, const builder *b) {
  d->creases = find_creases(&d->crease_count, d->vertices, d->triangles, d->triangle_count);
  return d->creases != NULL &&
         (!b->leveled || view_levels_build(&d->levels, d->vertices, d->vertex_count, d->triangles, d->triangle_count));
}

static void drawing_free(drawing *d) {
  free(d->creases);
  view_levels_free(&d->levels);
}

static void write_surface(view_bytes *out, const drawing *d, int32_t modes, geometry_kind kind, int32_t index) {
  view_begin(out, VIEW_GEOMETRY);
  const uint32_t head[8] = {
      (uint32_t)index,           (uint32_t)kind,  (uint32_t)d->vertex_count, (uint32_t)d->triangle_count,
      (uint32_t)d->crease_count, (uint32_t)modes, (uint32_t)d->levels.count};
  view_raw(out, head, sizeof head);
  for (int32_t i = 0; i < d->vertex_count; i++) view_raw(out, d->vertices[i].position, sizeof d->vertices[i].position);
  for (int32_t i = 0; i < d->vertex_count; i++) view_raw(out, d->vertices[i].normal, sizeof d->vertices[i].normal);
  for (int32_t t = 0; t < d->triangle_count; t++) view_raw(out, d->triangles[t].corner, sizeof d->triangles[t].corner);
  for (int32_t i = 0; i < d->crease_count; i++) {
    view_u32(out, d->creases[i].a);
    view_u32(out, d->creases[i].b);
  }
}

static void write_levels(view_bytes *out, const view_levels *levels) {
  for (int32_t i = 0; i < levels->count; i++) {
    view_u32(out, (uint32_t)levels->levels[i].triangles);
    view_f32(out, levels->levels[i].error);
  }
  for (int32_t i = 0; i < levels->count; i++) {
    const view_level *level = &levels->levels[i];
    view_raw(out, level->corners, 3 * (size_t)level->triangles * sizeof *level->corners);
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

static view_message *deformable_message(const builder *b, const ds_reduced *body, int32_t index) {
  ds_wardrobe whole = {.skin_triangles = INT32_MAX};
  ds_dressed dressed;
  view_bytes out = {0};
  view_message *message = NULL;
  bool good = ds_wardrobe_dress_reduced(&dressed, &whole, body, NULL);
  const ds_skin *skin = &dressed.skin;
  drawing d = {skin->vertices, skin->triangles, skin->vertex_count, skin->triangle_count, NULL, 0, {.count = 0}};
  if (good && drawing_fill(&d, b)) {
    write_surface(&out, &d, ds_reduced_get_info(body).modes, GEOMETRY_DEFORMABLE, index);
    if (!write_modes(&out, skin, body)) out.failed = true;
    write_levels(&out, &d.levels);
    message = view_end(&out);
  }
  drawing_free(&d);
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
  if (shape->kind == DS_SHAPE_REDUCED) return deformable_message(b, shape->reduced, index);
  ds_model model = {0};
  view_bytes out = {0};
  view_message *message = NULL;
  geometry_kind kind = shape->kind == DS_SHAPE_HALF_SPACE ? GEOMETRY_HALF_SPACE : GEOMETRY_MESH;
  bool good = add_to_model(b, &model, of);
  drawing d = {model.vertices, model.triangles, model.vertex_count, model.triangle_count, NULL, 0, {.count = 0}};
  if (good && drawing_fill(&d, b)) {
    write_surface(&out, &d, 0, kind, index);
    write_levels(&out, &d.levels);
    message = view_end(&out);
  }
  drawing_free(&d);
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
  b.leveled = needs_levels(&b);
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
