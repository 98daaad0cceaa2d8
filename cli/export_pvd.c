/* Recordings for ParaView and VTK: NAME.pvd and, in the folder NAME.frames beside it, two PolyData files (.vtp) per
 * frame, the surfaces of all bodies in the world and the contacts with their forces. Data are appended as raw bytes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bodies.h"
#include "export.h"
#include "output.h"

/* Arrays of a .vtp file: first described, then written in the same order. */
typedef struct block {
  const void *data;
  size_t size;
} block;

typedef struct vtp {
  FILE *file;
  block blocks[24];
  int count;
  uint64_t offset;
} vtp;

static void array(vtp *f, const char *type, const char *name, int width, const void *data, size_t size) {
  fprintf(f->file,
          "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n", type,
          name, width, (unsigned long long)f->offset);
  f->blocks[f->count++] = (block){data, size};
  f->offset += 8 + size;
}

static void begin(vtp *f, FILE *file, size_t points, size_t verts, size_t polys) {
  *f = (vtp){.file = file};
  fprintf(file,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
          "header_type=\"UInt64\">\n<PolyData>\n<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" "
          "NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n",
          points, verts, polys);
}

static void end(vtp *f) {
  fputs("</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_", f->file);
  for (int i = 0; i < f->count; i++) {
    uint64_t size = f->blocks[i].size;
    for (int k = 0; k < 64; k += 8) fputc((int)(size >> k & 255), f->file);
    if (size > 0) fwrite(f->blocks[i].data, 1, f->blocks[i].size, f->file);
  }
  fputs("\n</AppendedData>\n</VTKFile>\n", f->file);
}

/* ---- surfaces: all but points and velocities is the same in every frame ---- */

typedef struct surfaces {
  ds_vec3 *local, *points, *velocities;
  int64_t *corners, *offsets;
  int32_t *body;
  size_t point_count, triangle_count;
} surfaces;

static void surfaces_free(surfaces *s) {
  free(s->local);
  free(s->points);
  free(s->velocities);
  free(s->corners);
  free(s->offsets);
  free(s->body);
}

static bool surfaces_create(surfaces *s, const export_set *set) {
  *s = (surfaces){0};
  for (int32_t i = 0; i < set->body_count; i++) {
    const ds_model *m = &set->meshes[set->mesh_of[i]].model;
    s->point_count += (size_t)m->vertex_count;
    s->triangle_count += (size_t)m->triangle_count;
  }
  s->local = malloc((s->point_count + 1) * sizeof *s->local);
  s->points = malloc((s->point_count + 1) * sizeof *s->points);
  s->velocities = malloc((s->point_count + 1) * sizeof *s->velocities);
  s->corners = malloc((3 * s->triangle_count + 1) * sizeof *s->corners);
  s->offsets = malloc((s->triangle_count + 1) * sizeof *s->offsets);
  s->body = malloc((s->triangle_count + 1) * sizeof *s->body);
  if (!s->local || !s->points || !s->velocities || !s->corners || !s->offsets || !s->body) return false;
  size_t point = 0, triangle = 0;
  for (int32_t i = 0; i < set->body_count; i++) {
    const ds_model *m = &set->meshes[set->mesh_of[i]].model;
    for (int32_t t = 0; t < m->triangle_count; t++, triangle++) {
      for (size_t k = 0; k < 3; k++) s->corners[3 * triangle + k] = (int64_t)point + m->triangles[t].corner[k];
      s->offsets[triangle] = 3 * (int64_t)(triangle + 1);
      s->body[triangle] = i;
    }
    point += (size_t)m->vertex_count;
  }
  return true;
}

/* The surface of every body where it is. Velocities are those of the rigid motion. */
static void place(surfaces *s, const export_set *set, const ds_frame *frame) {
  size_t at = 0;
  for (int32_t i = 0; i < set->body_count; i++) {
    int32_t count = set->meshes[set->mesh_of[i]].model.vertex_count;
    ds_vec3 center = pose_point(frame->poses[i], ds_body_mass(set->scene, body_at(i)).center);
    export_points(s->local, set, i, frame->reduced);
    for (int32_t k = 0; k < count; k++, at++) {
      s->points[at] = pose_point(frame->poses[i], s->local[k]);
      ds_vec3 arm = v3_sub(s->points[at], center);
      s->velocities[at] = v3_add(frame->velocities[i], v3_cross(frame->angular_velocities[i], arm));
    }
  }
}

static void put_surfaces(FILE *file, const surfaces *s) {
  vtp f;
  begin(&f, file, s->point_count, 0, s->triangle_count);
  fputs("<PointData Vectors=\"velocity\">\n", file);
  array(&f, "Float64", "velocity", 3, s->velocities, s->point_count * sizeof *s->velocities);
  fputs("</PointData>\n<CellData Scalars=\"body\">\n", file);
  array(&f, "Int32", "body", 1, s->body, s->triangle_count * sizeof *s->body);
  fputs("</CellData>\n<Points>\n", file);
  array(&f, "Float64", "Points", 3, s->points, s->point_count * sizeof *s->points);
  fputs("</Points>\n<Polys>\n", file);
  array(&f, "Int64", "connectivity", 1, s->corners, 3 * s->triangle_count * sizeof *s->corners);
  array(&f, "Int64", "offsets", 1, s->offsets, s->triangle_count * sizeof *s->offsets);
  fputs("</Polys>\n", file);
  end(&f);
}

/* ---- contacts ---- */

typedef struct contact_columns {
  ds_vec3 *point, *force, *normal_force, *friction, *normal, *velocity;
  double *gap, *mu;
  int32_t *a, *b, *mode;
  int64_t *index, *offsets;
  void *memory;
} contact_columns;

static bool columns_create(contact_columns *c, size_t n) {
  size_t row = 6 * sizeof(ds_vec3) + 2 * sizeof(double) + 2 * sizeof(int64_t) + 3 * sizeof(int32_t);
  char *at = c->memory = malloc((n + 1) * row);
  if (at == NULL) return false;
  ds_vec3 **vectors[] = {&c->point, &c->force, &c->normal_force, &c->friction, &c->normal, &c->velocity};
  for (size_t i = 0; i < 6; i++, at += n * sizeof(ds_vec3)) *vectors[i] = (ds_vec3 *)(void *)at;
  c->gap = (double *)(void *)at, c->mu = c->gap + n, at = (char *)(c->mu + n);
  c->index = (int64_t *)(void *)at, c->offsets = c->index + n, at = (char *)(c->offsets + n);
  c->a = (int32_t *)(void *)at, c->b = c->a + n, c->mode = c->b + n;
  return true;
}

/* Forces are means over the step, on body a. */
static bool put_contacts(FILE *file, const ds_frame *frame, double step) {
  contact_columns c;
  size_t n = (size_t)frame->contact_count;
  if (!columns_create(&c, n)) return false;
  for (size_t i = 0; i < n; i++) {
    const ds_contact *k = &frame->contacts[i];
    c.point[i] = k->point, c.normal[i] = k->normal, c.velocity[i] = k->velocity;
    c.force[i] = v3_scale(1 / step, k->impulse);
    c.normal_force[i] = v3_scale(v3_dot(c.force[i], k->normal), k->normal);
    c.friction[i] = v3_sub(c.force[i], c.normal_force[i]);
    c.gap[i] = k->gap, c.mu[i] = k->mu;
    c.a[i] = body_index(k->a), c.b[i] = body_index(k->b), c.mode[i] = (int32_t)k->mode;
    c.index[i] = (int64_t)i, c.offsets[i] = (int64_t)i + 1;
  }
  vtp f;
  begin(&f, file, n, n, 0);
  fputs("<PointData Vectors=\"force\">\n", file);
  array(&f, "Float64", "force", 3, c.force, n * sizeof *c.force);
  array(&f, "Float64", "normal_force", 3, c.normal_force, n * sizeof *c.normal_force);
  array(&f, "Float64", "friction", 3, c.friction, n * sizeof *c.friction);
  array(&f, "Float64", "normal", 3, c.normal, n * sizeof *c.normal);
  array(&f, "Float64", "velocity", 3, c.velocity, n * sizeof *c.velocity);
  array(&f, "Float64", "gap", 1, c.gap, n * sizeof *c.gap);
  array(&f, "Float64", "mu", 1, c.mu, n * sizeof *c.mu);
  array(&f, "Int32", "a", 1, c.a, n * sizeof *c.a);
  array(&f, "Int32", "b", 1, c.b, n * sizeof *c.b);
  array(&f, "Int32", "mode", 1, c.mode, n * sizeof *c.mode);
  fputs("</PointData>\n<Points>\n", file);
  array(&f, "Float64", "Points", 3, c.point, n * sizeof *c.point);
  fputs("</Points>\n<Verts>\n", file);
  array(&f, "Int64", "connectivity", 1, c.index, n * sizeof *c.index);
  array(&f, "Int64", "offsets", 1, c.offsets, n * sizeof *c.offsets);
  fputs("</Verts>\n", file);
  end(&f);
  free(c.memory);
  return true;
}

/* ---- files ---- */

static bool write_frame(const char *folder, int32_t number, surfaces *s, const export_set *set, const ds_frame *frame,
                        ds_error *error) {
  for (int part = 0; part < 2; part++) {
    char path[4224];
    output out;
    snprintf(path, sizeof path, "%s/%s-%06d.vtp", folder, part == 0 ? "bodies" : "contacts", (int)number);
    if (!output_open(&out, path, error)) return false;
    bool ok = true;
    if (part == 0) {
      place(s, set, frame);
      put_surfaces(out.file, s);
    } else {
      ok = put_contacts(out.file, frame, ds_recording_settings(set->recording)->options.step);
    }
    if (!ok) {
      output_discard(&out);
      return export_no_memory(error);
    }
    if (!output_commit(&out, error)) return false;
  }
  return true;
}

static bool write_list(const char *path, const char *folder, const export_set *set, ds_error *error) {
  output out;
  if (!output_open(&out, path, error)) return false;
  const char *slash = strrchr(folder, '/'), *name = slash != NULL ? slash + 1 : folder;
  fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n", out.file);
  for (int32_t i = 0; i < set->frame_count; i++)
    for (int part = 0; part < 2; part++)
      fprintf(out.file, "<DataSet timestep=\"%.12g\" part=\"%d\" file=\"%s/%s-%06d.vtp\"/>\n",
              ds_recording_time(set->recording, set->frames[i]), part, name, part == 0 ? "bodies" : "contacts", (int)i);
  fputs("</Collection>\n</VTKFile>\n", out.file);
  return output_commit(&out, error);
}

bool export_pvd(const export_set *set, const char *path, ds_error *error) {
  char folder[4096];
  size_t length = strlen(path) - strlen(".pvd");
  if (length > sizeof folder - 64) {
    snprintf(error->message, sizeof error->message, "%.200s...: the name is too long", path);
    return false;
  }
  snprintf(folder, sizeof folder, "%.*s.frames", (int)length, path);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    snprintf(error->message, sizeof error->message, "%.200s: cannot be created: %s", folder, strerror(errno));
    return false;
  }
  surfaces s;
  bool ok = surfaces_create(&s, set) || export_no_memory(error);
  for (int32_t i = 0; ok && i < set->frame_count; i++) {
    ds_frame frame;
    ok = ds_recording_read(set->recording, &frame, set->frames[i], error) == DS_OK &&
         write_frame(folder, i, &s, set, &frame, error);
  }
  surfaces_free(&s);
  return ok && write_list(path, folder, set, error);
}
