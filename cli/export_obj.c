/* Recordings as Wavefront files, one per frame: NAME-000000.obj, ..., with the colours in NAME.mtl. Everything is in
 * the world; z is up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "output.h"
#include "palette.h"

static bool write_colors(const char *stem, const export_set *set, ds_error *error) {
  char path[4224];
  output out;
  snprintf(path, sizeof path, "%s.mtl", stem);
  if (!output_open(&out, path, error)) return false;
  for (int32_t i = 0; i < set->body_count; i++) {
    char name[80];
    ds_vec3 c = ds_palette_color(set->scene, i);
    export_name(name, sizeof name, set, i, true);
    fprintf(out.file, "newmtl %s\nKd %.4g %.4g %.4g\n", name, c.x, c.y, c.z);
  }
  return output_commit(&out, error);
}

static void put_body(FILE *file, const export_set *set, const ds_frame *frame, int32_t body, ds_vec3 *points,
                     int64_t *first) {
  char name[80];
  const ds_model *m = &set->meshes[set->mesh_of[body]].model;
  export_name(name, sizeof name, set, body, true);
  fprintf(file, "o %s\nusemtl %s\n", name, name);
  export_points(points, set, body, frame->reduced);
  for (int32_t i = 0; i < m->vertex_count; i++) {
    ds_vec3 x = pose_point(frame->poses[body], points[i]);
    fprintf(file, "v %.7g %.7g %.7g\n", x.x, x.y, x.z);
  }
  for (int32_t i = 0; i < m->triangle_count; i++) {
    fputc('f', file);
    for (int k = 0; k < 3; k++) fprintf(file, " %lld", (long long)(*first + m->triangles[i].corner[k]));
    fputc('\n', file);
  }
  *first += m->vertex_count;
}

bool export_obj(const export_set *set, const char *path, ds_error *error) {
  char stem[4096];
  size_t length = strlen(path) - strlen(".obj");
  int32_t most = 0;
  if (length > sizeof stem - 64) {
    snprintf(error->message, sizeof error->message, "%.200s...: the name is too long", path);
    return false;
  }
  snprintf(stem, sizeof stem, "%.*s", (int)length, path);
  const char *slash = strrchr(stem, '/'), *name = slash != NULL ? slash + 1 : stem;
  for (int32_t i = 0; i < set->mesh_count; i++)
    if (set->meshes[i].model.vertex_count > most) most = set->meshes[i].model.vertex_count;
  ds_vec3 *points = malloc(((size_t)most + 1) * sizeof *points);
  bool ok = (points != NULL || export_no_memory(error)) && write_colors(stem, set, error);
  for (int32_t i = 0; ok && i < set->frame_count; i++) {
    char file[4200];
    ds_frame frame;
    output out;
    int64_t first = 1;
    snprintf(file, sizeof file, "%s-%06d.obj", stem, (int)i);
    ok = ds_recording_read_bodies(set->recording, &frame, set->frames[i], error) == DS_OK &&
         output_open(&out, file, error);
    if (!ok) break;
    fprintf(out.file, "# t = %.9g s\nmtllib %s.mtl\n", frame.time, name);
    for (int32_t b = 0; b < set->body_count; b++) put_body(out.file, set, &frame, b, points, &first);
    ok = output_commit(&out, error);
  }
  free(points);
  return ok;
}
