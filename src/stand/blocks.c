#include "stand/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "drystone/solid.h"

void ds_surfaces_free(ds_surfaces *s) {
  free(s->faces);
  free(s->corners);
  *s = (ds_surfaces){0};
}

/* The faces as triangles, fan by fan: enough for integrals. */
static bool make_mesh(ds_mesh *mesh, const ds_surfaces *s, int32_t first_face) {
  int32_t corners = 0;
  for (int32_t f = first_face; f < s->face_count; f++) corners += s->faces[f].count;
  *mesh = (ds_mesh){.vertices = malloc(((size_t)corners + 1) * sizeof *mesh->vertices),
                    .triangles = malloc(((size_t)corners + 1) * 3 * sizeof *mesh->triangles)};
  if (!mesh->vertices || !mesh->triangles) return false;
  for (int32_t f = first_face; f < s->face_count; f++) {
    const ds_face *face = &s->faces[f];
    for (int32_t i = 1; i + 1 < face->count; i++, mesh->triangle_count++)
      for (int32_t k = 0; k < 3; k++)
        mesh->triangles[3 * mesh->triangle_count + k] = mesh->vertex_count + (k == 0 ? 0 : i + k - 1);
    for (int32_t i = 0; i < face->count; i++) mesh->vertices[mesh->vertex_count++] = face->corners[i];
  }
  return true;
}

ds_status ds_surfaces_weigh(ds_surfaces *s, ds_block *block, int32_t first_face, double density) {
  ds_mesh mesh;
  if (!make_mesh(&mesh, s, first_face)) {
    ds_mesh_free(&mesh);
    return DS_ERROR_MEMORY;
  }
  ds_mass mass = ds_mesh_mass(&mesh, density);
  bool inward = mass.mass < 0;
  for (int32_t i = 0; i < mesh.triangle_count && inward; i++) {
    int32_t t = mesh.triangles[3 * i + 1];
    mesh.triangles[3 * i + 1] = mesh.triangles[3 * i + 2], mesh.triangles[3 * i + 2] = t;
  }
  if (inward) mass = ds_mesh_mass(&mesh, density);
  ds_mesh_free(&mesh);
  for (int32_t f = first_face; f < s->face_count && inward; f++) {
    ds_vec3 *p = s->corners + (s->faces[f].corners - s->corners);
    for (int32_t i = 0, j = s->faces[f].count - 1; i < j; i++, j--) {
      ds_vec3 swap = p[i];
      p[i] = p[j], p[j] = swap;
    }
  }
  if (!(mass.mass > 0)) return DS_ERROR_INPUT;
  block->mass = mass.mass;
  block->center = mass.center;
  memcpy(block->inertia, mass.inertia, sizeof block->inertia);
  return DS_OK;
}

static double usual_tolerance(const ds_assembly *a, double density) {
  double sum = 0;
  for (int32_t i = 0; i < a->block_count; i++) sum += cbrt(a->blocks[i].mass / density);
  return 1e-4 * sum / (a->block_count > 0 ? a->block_count : 1);
}

void ds_surfaces_touch(ds_surfaces *s, ds_builder *builder, const ds_assembly_options *options, double mu) {
  int32_t kept = 0;
  double tolerance = options->tolerance > 0 ? options->tolerance : usual_tolerance(builder->assembly, options->density);
  for (int32_t i = 0; i < s->face_count; i++)
    if (ds_face_finish(&s->faces[i])) s->faces[kept++] = s->faces[i];
  s->face_count = kept;
  builder->assembly->tolerance = tolerance;
  ds_faces_touch(builder, s->faces, kept, tolerance, mu);
}

bool ds_surfaces_keep(const ds_surfaces *s, ds_assembly *a) {
  a->corners = malloc(((size_t)s->corner_count + 1) * sizeof *a->corners);
  a->face = malloc(((size_t)s->face_count + 1) * sizeof *a->face);
  a->block_face = calloc((size_t)a->block_count + 1, sizeof *a->block_face);
  if (!a->corners || !a->face || !a->block_face) return false;
  int32_t count = 0;
  for (int32_t f = 0; f < s->face_count; f++) {
    a->face[f] = count;
    a->block_face[s->faces[f].block + 1] = f + 1;
    memcpy(a->corners + count, s->faces[f].corners, (size_t)s->faces[f].count * sizeof *a->corners);
    count += s->faces[f].count;
  }
  a->face[s->face_count] = count;
  for (int32_t i = 0; i < a->block_count; i++) /* blocks without faces */
    if (a->block_face[i + 1] < a->block_face[i]) a->block_face[i + 1] = a->block_face[i];
  return true;
}
