/* Fuzz target: bytes as a file of tetrahedra; the first byte tells the format. TetGen's two files have a 0 between
 * them. What can be read has to be tetrahedra with volume, and its report and its surface have to agree. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/reduce.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *what, const char *detail) {
  fprintf(stderr, "fuzz_tets: %s: %s\n", what, detail);
  abort();
}

static void look_at(const ds_tets *tets) {
  static const char *const never[] = {"inverted", "flat", "finite", "has the node", "belongs to no", "at least one"};
  ds_error error = {""};
  ds_tets_report report;
  ds_mesh surface;
  ds_mesh_report found;
  ds_status status = ds_tets_check(&report, tets, &error);
  if (status == DS_ERROR_MEMORY) broken("no memory", error.message);
  for (size_t i = 0; i < sizeof never / sizeof never[0] && status != DS_OK; i++)
    if (strstr(error.message, never[i])) broken("what was read has a fault", error.message);
  if (status != DS_OK) {
    if (!strstr(error.message, "; expected")) broken("a message without advice", error.message);
    return;
  }
  if (ds_tets_surface(&surface, NULL, tets, &error) != DS_OK) broken("no surface", error.message);
  if (ds_mesh_check(&found, &surface, &error) != DS_OK) broken("check failed", error.message);
  if (found.count[DS_MESH_OPEN] + found.count[DS_MESH_NOT_MANIFOLD] + found.count[DS_MESH_INCONSISTENT] > 0)
    broken("a surface that is not closed", "");
  /* beyond this sizes overflow or vanish when they are cubed; volumes far from the origin lose digits */
  if (report.volume > 1e-250 && report.volume < 1e250 && report.least_quality > 1e-3 &&
      !(fabs(found.volume - report.volume) <= 1e-3 * report.volume))
    broken("the volume of the surface differs", "");
  ds_mesh_free(&surface);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[4] = {"fuzz.msh", "fuzz.vtk", "fuzz.veg", "fuzz.node"};
  if (size == 0) return 0;
  int format = data[0] % 4;
  const uint8_t *bytes = data + 1, *second = NULL;
  size_t length = size - 1, second_length = 0;
  if (format == 3) {
    const uint8_t *cut = length > 0 ? memchr(bytes, 0, length) : NULL;
    second = cut ? cut + 1 : bytes + length;
    second_length = (size_t)(bytes + length - second);
    length -= second_length + (cut ? 1 : 0);
  }
  ds_error error = {""};
  ds_tets tets;
  if (ds_tets_read_bytes(&tets, bytes, length, second, second_length, names[format], 1e-3, &error) != DS_OK) {
    if (strncmp(error.message, "fuzz.", 5) != 0 || !strstr(error.message, "; "))
      broken("a message without place or advice", error.message);
    return 0;
  }
  look_at(&tets);
  ds_tets_free(&tets);
  return 0;
}
