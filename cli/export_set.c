/* What is exported of a recording: see export.h. Bodies of the same form share a mesh. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bodies.h"
#include "export.h"
#include "skin.h"
#include "tessellate.h"

enum { SEGMENTS = 48 /* corners of a circle */ };

bool export_no_memory(ds_error *error) {
  snprintf(error->message, sizeof error->message, "out of memory");
  return false;
}

/* ---- surfaces ---- */

/* A square in place of a half-space, twice as wide as everything. */
static bool add_half_space(ds_model *model, ds_pose pose, double reach) {
  const ds_vec3 corners[4] = {{-reach, -reach, 0}, {reach, -reach, 0}, {reach, reach, 0}, {-reach, reach, 0}};
  return ds_model_add_face(model, pose, corners, 4, 0);
}

static bool add_solid(ds_model *model, const ds_solid *solid, ds_pose pose) {
  ds_skin skin;
  if (!ds_skin_build(&skin, ds_solid_mesh(solid), NULL, INT32_MAX / 8)) return false;
  bool ok = ds_model_add_skin(model, &skin, pose, 0, false);
  ds_skin_free(&skin);
  return ok;
}

static bool add_reduced(export_mesh *mesh, const ds_reduced *reduced) {
  ds_reduced_info info = ds_reduced_get_info(reduced);
  ds_model *m = &mesh->model;
  ds_vec3 *points = malloc(((size_t)info.vertices + 1) * sizeof *points);
  bool ok = points != NULL && ds_array_reserve(&m->vertices, &m->vertex_capacity, info.vertices, sizeof *m->vertices) &&
            ds_array_reserve(&m->triangles, &m->triangle_capacity, info.triangles, sizeof *m->triangles);
  if (ok) {
    const int32_t *corners = ds_reduced_triangles(reduced);
    ds_reduced_shape(points, reduced, NULL);
    for (int32_t i = 0; i < info.vertices; i++)
      m->vertices[i] = (ds_vertex){.position = {(float)points[i].x, (float)points[i].y, (float)points[i].z}};
    for (int32_t i = 0; i < info.triangles; i++)
      m->triangles[i] = (ds_triangle){.corner = {corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]}};
    m->vertex_count = info.vertices;
    m->triangle_count = info.triangles;
    mesh->reduced = reduced;
  }
  free(points);
  return ok;
}

static bool build_mesh(export_mesh *mesh, const ds_scene *scene, ds_body_id body, double reach) {
  bool ok = true;
  for (int32_t i = 0; ok && i < ds_body_shape_count(scene, body); i++) {
    ds_shape_def shape = ds_body_shape(scene, body, i);
    if (shape.reduced != NULL)
      ok = add_reduced(mesh, shape.reduced);
    else if (shape.kind == DS_SHAPE_HALF_SPACE)
      ok = add_half_space(&mesh->model, shape.pose, reach);
    else if (shape.solid != NULL)
      ok = add_solid(&mesh->model, shape.solid, shape.pose);
    else
      ok = ds_model_add_shape(&mesh->model, shape.pose, scene, body, i, SEGMENTS, 0);
  }
  return ok;
}

static bool same_mesh(const export_mesh *a, const export_mesh *b) {
  const ds_model *x = &a->model, *y = &b->model;
  return a->reduced == b->reduced && x->vertex_count == y->vertex_count && x->triangle_count == y->triangle_count &&
         (x->vertex_count == 0 ||
          memcmp(x->vertices, y->vertices, (size_t)x->vertex_count * sizeof *x->vertices) == 0) &&
         (x->triangle_count == 0 ||
          memcmp(x->triangles, y->triangles, (size_t)x->triangle_count * sizeof *x->triangles) == 0);
}

/* How far bodies are from the origin, at the start and at the end. */
static bool find_reach(double *reach, const export_set *set, ds_error *error) {
  *reach = 1;
  int32_t ends[2] = {0, ds_recording_frame_count(set->recording) - 1};
  for (int k = 0; k < 2; k++) {
    ds_frame frame;
    if (ds_recording_read_bodies(set->recording, &frame, ends[k], error) != DS_OK) return false;
    for (int32_t i = 0; i < set->body_count; i++) {
      double radius = ds_body_radius(set->scene, body_at(i)), far = v3_norm(frame.poses[i].p) + radius;
      if (isfinite(far)) *reach = fmax(*reach, 2 * far);
    }
  }
  return true;
}

static bool build_meshes(export_set *set, ds_error *error) {
  double reach;
  if (!find_reach(&reach, set, error)) return false;
  set->meshes = calloc((size_t)set->body_count + 1, sizeof *set->meshes);
  set->mesh_of = calloc((size_t)set->body_count + 1, sizeof *set->mesh_of);
  if (set->meshes == NULL || set->mesh_of == NULL) return export_no_memory(error);
  for (int32_t i = 0; i < set->body_count; i++) {
    export_mesh *mesh = &set->meshes[set->mesh_count];
    if (!build_mesh(mesh, set->scene, body_at(i), reach)) {
      set->mesh_count++;
      return export_no_memory(error);
    }
    int32_t other = 0;
    while (other < set->mesh_count && !same_mesh(&set->meshes[other], mesh)) other++;
    set->mesh_of[i] = other;
    if (other == set->mesh_count) {
      set->mesh_count++;
    } else {
      ds_model_free(&mesh->model);
      *mesh = (export_mesh){0};
    }
  }
  return true;
}

/* ---- frames ---- */

static bool choose_frames(export_set *set, const export_range *range, ds_error *error) {
  int32_t count = ds_recording_frame_count(set->recording);
  set->frames = malloc(((size_t)count + 1) * sizeof *set->frames);
  if (set->frames == NULL) return export_no_memory(error);
  double next = -INFINITY, slack = range->rate > 0 ? 1e-6 / range->rate : 0;
  for (int32_t i = 0; i < count; i++) {
    double time = ds_recording_time(set->recording, i);
    if (time < range->from - 1e-9 || time > range->to + 1e-9 || time < next - slack) continue;
    set->frames[set->frame_count++] = i;
    if (range->rate > 0) next = fmax(next, time) + 1 / range->rate;
    if (range->rate > 0 && next <= time) next = time + 1 / range->rate;
  }
  if (set->frame_count > 0) return true;
  snprintf(error->message, sizeof error->message, "%.200s: has no frame from %g to %g s", set->source, range->from,
           range->to);
  return false;
}

bool export_open(export_set *set, const char *path, const export_range *range, ds_error *error) {
  *set = (export_set){.source = path};
  set->recording = ds_recording_open(path, error);
  if (set->recording == NULL) return false;
  set->scene = ds_recording_scene(set->recording);
  set->body_count = ds_scene_body_count(set->scene);
  if (ds_recording_frame_count(set->recording) < 1) {
    snprintf(error->message, sizeof error->message, "%.200s: has no frames yet", path);
    return false;
  }
  return choose_frames(set, range, error) && build_meshes(set, error);
}

void export_close(export_set *set) {
  for (int32_t i = 0; set->meshes != NULL && i < set->mesh_count; i++) ds_model_free(&set->meshes[i].model);
  free(set->meshes);
  free(set->mesh_of);
  free(set->frames);
  if (set->recording != NULL) ds_recording_close(set->recording);
}

void export_name(char *name, size_t size, const export_set *set, int32_t body, bool plain) {
  const char *own = ds_body_name(set->scene, body_at(body));
  if (plain)
    snprintf(name, size, "%s%.40s_%d", isalpha((unsigned char)own[0]) ? "" : "body_", own, (int)body);
  else if (own[0] != '\0')
    snprintf(name, size, "%s", own);
  else
    snprintf(name, size, "body%d", (int)body);
  for (char *c = name; plain && *c != '\0'; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
}

void export_points(ds_vec3 *points, const export_set *set, int32_t body, const double *reduced) {
  const export_mesh *mesh = &set->meshes[set->mesh_of[body]];
  if (mesh->reduced != NULL) {
    ds_reduced_shape(points, mesh->reduced, reduced + ds_body_first_reduced(set->scene, body_at(body)));
    return;
  }
  for (int32_t i = 0; i < mesh->model.vertex_count; i++) {
    const float *p = mesh->model.vertices[i].position;
    points[i] = v3(p[0], p[1], p[2]);
  }
}
