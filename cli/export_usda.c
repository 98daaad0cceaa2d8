/* Recordings as USD text (.usda): an Xform per body with time samples of its translation and orientation, and in it a
 * Mesh, whose points have time samples where the body is deformable. Time codes are 1/60 s. Bodies of the same form
 * have a mesh each: references within a file are not understood by all readers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bodies.h"
#include "export.h"
#include "output.h"
#include "palette.h"

#define TIME_CODES 60.0 /* per second */

static void put_points(FILE *file, const ds_vec3 *points, int32_t count) {
  fputc('[', file);
  for (int32_t i = 0; i < count; i++)
    fprintf(file, "%s(%.7g, %.7g, %.7g)", i > 0 ? ", " : "", points[i].x, points[i].y, points[i].z);
  fputc(']', file);
}

/* Faces, and of a rigid body points and normals: members of a Mesh. */
static void put_mesh(FILE *file, const export_mesh *mesh) {
  const ds_model *m = &mesh->model;
  fputs("            uniform token subdivisionScheme = \"none\"\n            int[] faceVertexCounts = [", file);
  for (int32_t i = 0; i < m->triangle_count; i++) fputs(i > 0 ? ", 3" : "3", file);
  fputs("]\n            int[] faceVertexIndices = [", file);
  for (int32_t i = 0; i < m->triangle_count; i++)
    fprintf(file, "%s%d, %d, %d", i > 0 ? ", " : "", (int)m->triangles[i].corner[0], (int)m->triangles[i].corner[1],
            (int)m->triangles[i].corner[2]);
  fputs("]\n            point3f[] points = [", file);
  for (int32_t i = 0; i < m->vertex_count; i++) {
    const float *p = m->vertices[i].position;
    fprintf(file, "%s(%.7g, %.7g, %.7g)", i > 0 ? ", " : "", (double)p[0], (double)p[1], (double)p[2]);
  }
  fputs("]\n", file);
  if (mesh->reduced != NULL) return;
  fputs("            normal3f[] normals = [", file);
  for (int32_t i = 0; i < m->vertex_count; i++) {
    const float *n = m->vertices[i].normal;
    fprintf(file, "%s(%.5g, %.5g, %.5g)", i > 0 ? ", " : "", (double)n[0], (double)n[1], (double)n[2]);
  }
  fputs("] (\n                interpolation = \"vertex\"\n            )\n", file);
}

/* All poses and reduced coordinates of the frames. */
typedef struct motion {
  double *times;
  ds_pose *poses;  /* F x B */
  double *reduced; /* F x R */
  size_t bodies, coordinates;
} motion;

static void motion_free(motion *m) {
  free(m->times);
  free(m->poses);
  free(m->reduced);
}

static bool read_motion(motion *m, const export_set *set, ds_error *error) {
  size_t frames = (size_t)set->frame_count;
  m->bodies = (size_t)set->body_count;
  m->coordinates = (size_t)ds_scene_reduced_count(set->scene);
  m->times = malloc((frames + 1) * sizeof *m->times);
  m->poses = malloc((frames * m->bodies + 1) * sizeof *m->poses);
  m->reduced = malloc((frames * m->coordinates + 1) * sizeof *m->reduced);
  if (m->times == NULL || m->poses == NULL || m->reduced == NULL) return export_no_memory(error);
  for (size_t i = 0; i < frames; i++) {
    ds_frame frame;
    if (ds_recording_read_bodies(set->recording, &frame, set->frames[i], error) != DS_OK) return false;
    m->times[i] = frame.time;
    memcpy(m->poses + i * m->bodies, frame.poses, m->bodies * sizeof *m->poses);
    if (m->coordinates > 0) memcpy(m->reduced + i * m->coordinates, frame.reduced, m->coordinates * sizeof *m->reduced);
  }
  return true;
}

/* ---- bodies ---- */

static bool moves(const motion *m, size_t frames, size_t body) {
  for (size_t i = 1; i < frames; i++)
    if (memcmp(&m->poses[i * m->bodies + body], &m->poses[body], sizeof *m->poses) != 0) return true;
  return false;
}

static void put_translation(FILE *file, const ds_pose *pose) {
  fprintf(file, "(%.9g, %.9g, %.9g)", pose->p.x, pose->p.y, pose->p.z);
}

static void put_orientation(FILE *file, const ds_pose *pose) {
  fprintf(file, "(%.9g, %.9g, %.9g, %.9g)", pose->q.w, pose->q.x, pose->q.y, pose->q.z);
}

/* Position and orientation: constant, or a sample per frame. */
static void put_motion(FILE *file, const motion *m, size_t frames, size_t body) {
  for (int part = 0; part < 2; part++) {
    bool sampled = moves(m, frames, body);
    fprintf(file, "        %s%s = %s", part == 0 ? "double3 xformOp:translate" : "quatd xformOp:orient",
            sampled ? ".timeSamples" : "", sampled ? "{\n" : "");
    ds_pose before = m->poses[body];
    for (size_t i = 0; i < (sampled ? frames : 1); i++) {
      ds_pose pose = m->poses[i * m->bodies + body];
      double d = pose.q.w * before.q.w + pose.q.x * before.q.x + pose.q.y * before.q.y + pose.q.z * before.q.z;
      if (d < 0) pose.q = (ds_quat){-pose.q.w, -pose.q.x, -pose.q.y, -pose.q.z};
      if (sampled) fprintf(file, "            %.9g: ", TIME_CODES * m->times[i]);
      if (part == 0)
        put_translation(file, &pose);
      else
        put_orientation(file, &pose);
      fputs(sampled ? ",\n" : "\n", file);
      before = pose;
    }
    if (sampled) fputs("        }\n", file);
  }
  fputs("        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n", file);
}

static void put_body(FILE *file, const export_set *set, const motion *m, int32_t body, ds_vec3 *points) {
  char name[80];
  ds_vec3 c = ds_palette_color(set->scene, body);
  const export_mesh *mesh = &set->meshes[set->mesh_of[body]];
  size_t frames = (size_t)set->frame_count;
  export_name(name, sizeof name, set, body, true);
  fprintf(file, "    def Xform \"%s\"\n    {\n", name);
  put_motion(file, m, frames, (size_t)body);
  fputs("\n        def Mesh \"surface\"\n        {\n", file);
  put_mesh(file, mesh);
  fprintf(file, "            color3f[] primvars:displayColor = [(%.4g, %.4g, %.4g)]\n", c.x, c.y, c.z);
  if (mesh->reduced != NULL) {
    fputs("            point3f[] points.timeSamples = {\n", file);
    for (size_t i = 0; i < frames; i++) {
      fprintf(file, "                %.9g: ", TIME_CODES * m->times[i]);
      export_points(points, set, body, m->reduced + i * m->coordinates);
      put_points(file, points, mesh->model.vertex_count);
      fputs(",\n", file);
    }
    fputs("            }\n", file);
  }
  fputs("        }\n    }\n\n", file);
}

static void put_scene(FILE *file, const export_set *set, const motion *m, ds_vec3 *points) {
  fprintf(file,
          "#usda 1.0\n(\n    defaultPrim = \"drystone\"\n    metersPerUnit = 1\n    upAxis = \"Z\"\n"
          "    timeCodesPerSecond = %g\n    startTimeCode = %.9g\n    endTimeCode = %.9g\n)\n\n",
          TIME_CODES, TIME_CODES * m->times[0], TIME_CODES * m->times[set->frame_count - 1]);
  fputs("def Xform \"drystone\"\n{\n", file);
  for (int32_t i = 0; i < set->body_count; i++) put_body(file, set, m, i, points);
  fputs("}\n", file);
}

bool export_usda(const export_set *set, const char *path, ds_error *error) {
  motion m = {0};
  int32_t most = 0;
  for (int32_t i = 0; i < set->mesh_count; i++)
    if (set->meshes[i].model.vertex_count > most) most = set->meshes[i].model.vertex_count;
  ds_vec3 *points = malloc(((size_t)most + 1) * sizeof *points);
  bool ok = (points != NULL || export_no_memory(error)) && read_motion(&m, set, error);
  output out;
  if (ok) ok = output_open(&out, path, error);
  if (ok) {
    put_scene(out.file, set, &m, points);
    ok = output_commit(&out, error);
  }
  free(points);
  motion_free(&m);
  return ok;
}
