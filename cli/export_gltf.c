/* Recordings as glTF 2.0: .glb, or .gltf with its data inside.
 *
 * A node per body under a root that turns z up to y up; bodies of the same form share a mesh. Motion is an animation of
 * translations and rotations, linear between the frames. Deformable bodies are exact: their surface is X + U q, so the
 * columns of U are morph targets and the reduced coordinates q their weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "bodies.h"
#include "export.h"
#include "output.h"
#include "palette.h"

enum { FLOAT = 5126, UINT = 5125, VERTICES = 34962, INDICES = 34963 };
#define GLB_MOST 4294967295.0 /* bytes: lengths have 32 bits */

/* Data and what refers to it. */
typedef struct gltf {
  unsigned char *data;
  size_t size, capacity;
  char *views_text, *accessors_text;
  size_t views_size, accessors_size;
  FILE *views, *accessors;
  int32_t count; /* of accessors, each with a view of its own */
  bool failed;
} gltf;

static bool gltf_open(gltf *g) {
  *g = (gltf){0};
  g->views = open_memstream(&g->views_text, &g->views_size);
  g->accessors = open_memstream(&g->accessors_text, &g->accessors_size);
  return g->views != NULL && g->accessors != NULL;
}

static void gltf_close(gltf *g) {
  if (g->views != NULL) fclose(g->views);
  if (g->accessors != NULL) fclose(g->accessors);
  free(g->views_text);
  free(g->accessors_text);
  free(g->data);
}

static bool append(gltf *g, const void *bytes, size_t size) {
  size_t padded = (size + 3) / 4 * 4;
  if (g->size + padded > g->capacity) {
    size_t capacity = 2 * (g->size + padded);
    unsigned char *data = realloc(g->data, capacity);
    if (data == NULL) return false;
    g->data = data;
    g->capacity = capacity;
  }
  if (size > 0) memcpy(g->data + g->size, bytes, size);
  memset(g->data + g->size + size, 0, padded - size);
  g->size += padded;
  return true;
}

/* Least and largest values of every component, as the file has them. */
static void put_bounds(FILE *file, const float *values, size_t count, int width) {
  for (int k = 0; k < 2; k++) {
    fprintf(file, ",\"%s\":[", k == 0 ? "min" : "max");
    for (int c = 0; c < width; c++) {
      float best = values[c];
      for (size_t i = 1; i < count; i++) {
        float v = values[i * (size_t)width + (size_t)c];
        if (k == 0 ? v < best : v > best) best = v;
      }
      fprintf(file, "%s%.9g", c > 0 ? "," : "", (double)best);
    }
    fputc(']', file);
  }
}

/* Adds an array as an accessor; returns its number. */
static int32_t add(gltf *g, const void *values, size_t count, int width, int kind, int target, bool bounds) {
  static const char *const types[] = {"", "SCALAR", "", "VEC3", "VEC4"};
  size_t at = g->size, size = 4 * count * (size_t)width;
  if (g->failed || !append(g, values, size)) {
    g->failed = true;
    return 0;
  }
  const char *comma = g->count > 0 ? "," : "";
  fprintf(g->views, "%s\n{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", comma, at, size);
  if (target != 0) fprintf(g->views, ",\"target\":%d", target);
  fputc('}', g->views);
  fprintf(g->accessors, "%s\n{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"", comma,
          (int)g->count, kind, count, types[width]);
  if (bounds) put_bounds(g->accessors, values, count, width);
  fputc('}', g->accessors);
  return g->count++;
}

static void put_text(FILE *file, const char *text) {
  fputc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if (*c < 32)
      fprintf(file, "\\u%04x", *c);
    else
      fputc(*c, file);
  }
  fputc('"', file);
}

/* ---- surfaces ---- */

typedef struct mesh_data {
  int32_t positions, normals, corners, first_target, targets;
} mesh_data;

static bool add_mesh(gltf *g, mesh_data *out, const export_mesh *mesh) {
  const ds_model *m = &mesh->model;
  size_t vertices = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
  float *numbers = malloc(3 * (vertices + 1) * sizeof *numbers);
  uint32_t *corners = malloc(3 * (triangles + 1) * sizeof *corners);
  ds_vec3 *shift = malloc((vertices + 1) * sizeof *shift);
  bool ok = numbers != NULL && corners != NULL && shift != NULL;
  if (ok) {
    for (size_t i = 0; i < vertices; i++) memcpy(numbers + 3 * i, m->vertices[i].position, 3 * sizeof *numbers);
    out->positions = add(g, numbers, vertices, 3, FLOAT, VERTICES, true);
    for (size_t i = 0; i < vertices; i++) memcpy(numbers + 3 * i, m->vertices[i].normal, 3 * sizeof *numbers);
    out->normals = mesh->reduced == NULL ? add(g, numbers, vertices, 3, FLOAT, VERTICES, false) : -1;
    for (size_t i = 0; i < triangles; i++)
      for (size_t k = 0; k < 3; k++) corners[3 * i + k] = (uint32_t)m->triangles[i].corner[k];
    out->corners = add(g, corners, 3 * triangles, 1, UINT, INDICES, false);
    out->targets = mesh->reduced != NULL ? ds_reduced_get_info(mesh->reduced).modes : 0;
    out->first_target = g->count;
    for (int32_t t = 0; t < out->targets; t++) {
      ds_reduced_mode(shift, mesh->reduced, t);
      for (size_t i = 0; i < vertices; i++)
        numbers[3 * i] = (float)shift[i].x, numbers[3 * i + 1] = (float)shift[i].y,
                    numbers[3 * i + 2] = (float)shift[i].z;
      add(g, numbers, vertices, 3, FLOAT, VERTICES, true);
    }
  }
  free(numbers);
  free(corners);
  free(shift);
  return ok && !g->failed;
}

/* A mesh and a material per body: glTF has the material in the mesh. Data are shared. */
static void put_meshes(FILE *file, const export_set *set, const mesh_data *data) {
  fputs(",\n\"meshes\":[", file);
  for (int32_t i = 0, first = 1; i < set->body_count; i++) {
    const mesh_data *m = &data[set->mesh_of[i]];
    if (set->meshes[set->mesh_of[i]].model.triangle_count == 0) continue;
    fprintf(file, "%s\n{\"primitives\":[{\"attributes\":{\"POSITION\":%d", first ? "" : ",", (int)m->positions);
    if (m->normals >= 0) fprintf(file, ",\"NORMAL\":%d", (int)m->normals);
    fprintf(file, "},\"indices\":%d,\"material\":%d", (int)m->corners, (int)i);
    for (int32_t t = 0; t < m->targets; t++)
      fprintf(file, "%s{\"POSITION\":%d}", t == 0 ? ",\"targets\":[" : ",", (int)(m->first_target + t));
    fputs(m->targets > 0 ? "]}]" : "}]", file);
    for (int32_t t = 0; t < m->targets; t++) fputs(t == 0 ? ",\"weights\":[0" : ",0", file);
    fputs(m->targets > 0 ? "]}" : "}", file);
    first = 0;
  }
  fputs("],\n\"materials\":[", file);
  for (int32_t i = 0; i < set->body_count; i++) {
    ds_vec3 c = ds_palette_color(set->scene, i);
    double linear[3] = {c.x, c.y, c.z};
    for (int k = 0; k < 3; k++)
      linear[k] = linear[k] <= 0.04045 ? linear[k] / 12.92 : pow((linear[k] + 0.055) / 1.055, 2.4);
    fprintf(file,
            "%s\n{\"pbrMetallicRoughness\":{\"baseColorFactor\":[%.4g,%.4g,%.4g,1],\"metallicFactor\":0,"
            "\"roughnessFactor\":0.8},\"doubleSided\":%s}",
            i > 0 ? "," : "", fmin(1, linear[0]), fmin(1, linear[1]), fmin(1, linear[2]), "true");
  }
  fputs("]", file);
}

/* ---- motion ---- */

/* Poses of all bodies in all frames, and reduced coordinates, in single precision. */
typedef struct motion {
  float *times, *places, *turns, *weights; /* F; body after body: F x 3, F x 4 (x y z w), F x R */
  bool *moves;
  ds_pose *start;
  size_t frames;
} motion;

static void motion_free(motion *m) {
  free(m->times);
  free(m->places);
  free(m->turns);
  free(m->weights);
  free(m->moves);
  free(m->start);
}

static bool motion_create(motion *m, const export_set *set) {
  size_t frames = (size_t)set->frame_count, bodies = (size_t)set->body_count + 1;
  size_t reduced = (size_t)ds_scene_reduced_count(set->scene) + 1;
  m->times = malloc(frames * sizeof *m->times);
  m->places = malloc(3 * frames * bodies * sizeof *m->places);
  m->turns = malloc(4 * frames * bodies * sizeof *m->turns);
  m->weights = malloc(frames * reduced * sizeof *m->weights);
  m->moves = calloc(bodies, sizeof *m->moves);
  m->start = calloc(bodies, sizeof *m->start);
  return m->times && m->places && m->turns && m->weights && m->moves && m->start;
}

static void keep_pose(motion *m, size_t frames, size_t body, size_t at, const ds_pose *pose) {
  float *p = m->places + 3 * (body * frames + at), *q = m->turns + 4 * (body * frames + at);
  p[0] = (float)pose->p.x, p[1] = (float)pose->p.y, p[2] = (float)pose->p.z;
  double sign = 1;
  if (at > 0 && q[-4] * pose->q.x + q[-3] * pose->q.y + q[-2] * pose->q.z + q[-1] * pose->q.w < 0) sign = -1;
  q[0] = (float)(sign * pose->q.x), q[1] = (float)(sign * pose->q.y);
  q[2] = (float)(sign * pose->q.z), q[3] = (float)(sign * pose->q.w);
  if (at == 0) return;
  for (int k = 0; k < 3; k++) m->moves[body] |= p[k] != p[k - 3];
  for (int k = 0; k < 4; k++) m->moves[body] |= q[k] != q[k - 4];
}

static bool read_motion(motion *m, const export_set *set, ds_error *error) {
  size_t frames = (size_t)set->frame_count, at = 0;
  if (!motion_create(m, set)) return export_no_memory(error);
  for (int32_t i = 0; i < set->frame_count; i++) {
    ds_frame frame;
    if (ds_recording_read_bodies(set->recording, &frame, set->frames[i], error) != DS_OK) return false;
    float time = (float)frame.time;
    if (at > 0 && !(time > m->times[at - 1])) continue; /* the same in single precision */
    m->times[at] = time;
    for (int32_t b = 0; b < set->body_count; b++) {
      if (at == 0) m->start[b] = frame.poses[b];
      keep_pose(m, frames, (size_t)b, at, &frame.poses[b]);
      const ds_reduced *reduced = set->meshes[set->mesh_of[b]].reduced;
      int32_t r = reduced != NULL ? ds_reduced_get_info(reduced).modes : 0;
      size_t first = r > 0 ? (size_t)ds_body_first_reduced(set->scene, body_at(b)) : 0;
      for (int32_t k = 0; k < r; k++)
        m->weights[first * frames + at * (size_t)r + (size_t)k] = (float)frame.reduced[first + (size_t)k];
    }
    at++;
  }
  m->frames = at;
  return true;
}

/* A node per body, after the root. */
static void put_nodes(FILE *file, const export_set *set, const motion *m) {
  fputs(
      "\"asset\":{\"version\":\"2.0\",\"generator\":\"drystone\"},\n\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\n"
      "\"nodes\":[\n{\"name\":\"drystone\",\"rotation\":[-0.70710678,0,0,0.70710678],\"children\":[",
      file);
  for (int32_t i = 0; i < set->body_count; i++) fprintf(file, "%s%d", i > 0 ? "," : "", (int)i + 1);
  fputs("]}", file);
  for (int32_t i = 0, mesh = 0; i < set->body_count; i++) {
    char name[80];
    const float *p = m->places + 3 * (size_t)i * (size_t)set->frame_count,
                *q = m->turns + 4 * (size_t)i * (size_t)set->frame_count;
    export_name(name, sizeof name, set, i, false);
    fputs(",\n{\"name\":", file);
    put_text(file, name);
    fprintf(file, ",\"translation\":[%.9g,%.9g,%.9g],\"rotation\":[%.9g,%.9g,%.9g,%.9g]", (double)p[0], (double)p[1],
            (double)p[2], (double)q[0], (double)q[1], (double)q[2], (double)q[3]);
    if (set->meshes[set->mesh_of[i]].model.triangle_count > 0) fprintf(file, ",\"mesh\":%d", (int)mesh++);
    fputc('}', file);
  }
  fputs("]", file);
}

typedef struct animation {
  FILE *samplers, *channels;
  char *samplers_text, *channels_text;
  size_t samplers_size, channels_size;
  int32_t count, input;
} animation;

static void add_channel(gltf *g, animation *a, int32_t node, const char *path, const float *values, size_t count,
                        int width) {
  int32_t output = add(g, values, count, width, FLOAT, 0, false);
  fprintf(a->samplers, "%s\n{\"input\":%d,\"output\":%d}", a->count > 0 ? "," : "", (int)a->input, (int)output);
  fprintf(a->channels, "%s\n{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", a->count > 0 ? "," : "",
          (int)a->count, (int)node, path);
  a->count++;
}

static bool put_animation(FILE *file, gltf *g, const export_set *set, const motion *m) {
  animation a = {.input = -1};
  a.samplers = open_memstream(&a.samplers_text, &a.samplers_size);
  a.channels = open_memstream(&a.channels_text, &a.channels_size);
  bool ok = a.samplers != NULL && a.channels != NULL;
  size_t frames = (size_t)set->frame_count;
  for (int32_t i = 0; ok && m->frames > 1 && i < set->body_count; i++) {
    const ds_reduced *reduced = set->meshes[set->mesh_of[i]].reduced;
    if (!m->moves[i] && reduced == NULL) continue;
    if (a.input < 0) a.input = add(g, m->times, m->frames, 1, FLOAT, 0, true);
    add_channel(g, &a, i + 1, "translation", m->places + 3 * (size_t)i * frames, m->frames, 3);
    add_channel(g, &a, i + 1, "rotation", m->turns + 4 * (size_t)i * frames, m->frames, 4);
    if (reduced == NULL) continue;
    size_t r = (size_t)ds_reduced_get_info(reduced).modes;
    size_t first = (size_t)ds_body_first_reduced(set->scene, body_at(i));
    add_channel(g, &a, i + 1, "weights", m->weights + first * frames, m->frames * r, 1);
  }
  if (a.samplers != NULL) fclose(a.samplers);
  if (a.channels != NULL) fclose(a.channels);
  if (ok && a.count > 0)
    fprintf(file, ",\n\"animations\":[{\"name\":\"motion\",\"samplers\":[%s],\"channels\":[%s]}]", a.samplers_text,
            a.channels_text);
  free(a.samplers_text);
  free(a.channels_text);
  return ok && !g->failed;
}

/* ---- the file ---- */

static void put_word(FILE *file, size_t value) {
  for (int k = 0; k < 32; k += 8) fputc((int)(value >> k & 255), file);
}

/* All of the JSON but its buffer. */
static bool put_json(FILE *json, gltf *g, const export_set *set, const motion *m) {
  mesh_data *data = calloc((size_t)set->mesh_count + 1, sizeof *data);
  bool ok = data != NULL;
  for (int32_t i = 0; ok && i < set->mesh_count; i++)
    if (set->meshes[i].model.triangle_count > 0) ok = add_mesh(g, &data[i], &set->meshes[i]);
  if (ok) {
    fputc('{', json);
    put_nodes(json, set, m);
    put_meshes(json, set, data);
    ok = put_animation(json, g, set, m);
    fclose(g->views);
    fclose(g->accessors);
    g->views = g->accessors = NULL;
    fprintf(json, ",\n\"bufferViews\":[%s],\n\"accessors\":[%s],\n\"buffers\":[{\"byteLength\":%zu", g->views_text,
            g->accessors_text, g->size);
  }
  free(data);
  return ok;
}

static void put_glb(FILE *file, const char *json, size_t json_size, const gltf *g) {
  size_t padded = (json_size + 3) / 4 * 4;
  fputs("glTF", file);
  put_word(file, 2);
  put_word(file, 12 + 8 + padded + 8 + g->size);
  put_word(file, padded);
  fputs("JSON", file);
  fwrite(json, 1, json_size, file);
  for (size_t i = json_size; i < padded; i++) fputc(' ', file);
  put_word(file, g->size);
  fwrite("BIN", 1, 4, file);
  fwrite(g->data, 1, g->size, file);
}

static bool write_file(const char *path, const char *json, size_t size, const gltf *g, bool binary, ds_error *error) {
  if (binary && (double)size + (double)g->size > GLB_MOST - 64) {
    snprintf(error->message, sizeof error->message,
             "%.200s: would be larger than 4 GiB, the most a .glb can be; give fewer frames with --rate", path);
    return false;
  }
  output out;
  if (!output_open(&out, path, error)) return false;
  if (binary) {
    put_glb(out.file, json, size, g);
  } else {
    fwrite(json, 1, size - 3, out.file); /* without the end of the buffer */
    fputs(",\"uri\":\"data:application/octet-stream;base64,", out.file);
    base64_write(out.file, g->data, g->size);
    fputs("\"}]}", out.file);
  }
  return output_commit(&out, error);
}

bool export_gltf(const export_set *set, const char *path, bool binary, ds_error *error) {
  gltf g;
  motion m = {0};
  char *text = NULL;
  size_t size = 0;
  FILE *json = open_memstream(&text, &size);
  bool ok = gltf_open(&g) && json != NULL;
  if (!ok) export_no_memory(error);
  if (ok) ok = read_motion(&m, set, error);
  if (ok && !put_json(json, &g, set, &m)) ok = export_no_memory(error);
  if (json != NULL) {
    fputs("}]}", json);
    fclose(json);
  }
  if (ok) ok = write_file(path, text, size, &g, binary, error);
  free(text);
  motion_free(&m);
  gltf_close(&g);
  return ok;
}
