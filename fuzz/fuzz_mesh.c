/* Fuzz target: bytes as a mesh file; the first byte tells the format. What can be read is checked; a mesh that is
 * called usable has to have a mass. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/solid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *what, const char *detail) {
  fprintf(stderr, "fuzz_mesh: %s: %s\n", what, detail);
  abort();
}

static void look_at(const ds_mesh *mesh) {
  ds_mesh_report report;
  ds_error error = {""};
  if (mesh->triangle_count <= 0 || mesh->vertex_count <= 0) broken("a mesh without anything", "");
  if (ds_mesh_check(&report, mesh, &error) != DS_OK) broken("check failed", error.message);
  if (report.count[DS_MESH_BAD_INDEX] > 0 || report.count[DS_MESH_NOT_FINITE] > 0)
    broken("what was read has a fault", "bad index or not finite");
  ds_mass mass = ds_mesh_mass(mesh, 1);
  /* beyond this sizes overflow or vanish when they are cubed */
  if (report.usable && report.volume > 1e-250 && report.volume < 1e250 &&
      !(fabs(mass.mass - report.volume) <= 1e-6 * report.volume))
    broken("mass and volume differ", "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[4] = {"fuzz.obj", "fuzz.stl", "fuzz.ply", "fuzz.msh"};
  ds_error error = {""};
  ds_mesh mesh;
  if (size == 0) return 0;
  if (ds_mesh_read_bytes(&mesh, data + 1, size - 1, names[data[0] % 4], 1e-3, &error) != DS_OK) {
    if (strncmp(error.message, "fuzz.", 5) != 0 || !strstr(error.message, "; "))
      broken("a message without place or advice", error.message);
    return 0;
  }
  look_at(&mesh);
  ds_mesh_free(&mesh);
  return 0;
}
