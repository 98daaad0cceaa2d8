/* Writes the seeds of the fuzz targets: FOLDER/text has small problems in every storage, FOLDER/hdf5 the bytes of
 * well-formed structures, FOLDER/mesh and FOLDER/tets files of surfaces and of tetrahedra behind a byte that tells the
 * format. Usage: fuzz-seeds FOLDER */
#define _XOPEN_SOURCE 700 /* open_memstream, mkdir */
#include <errno.h>
#include <sys/stat.h>

#include "problem_sample.h"
#include "tets_files.h"

static bool write_bytes(const char *folder, const char *name, const void *bytes, size_t size) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "wb");
  bool ok = out != NULL && fwrite(bytes, 1, size, out) == size;
  if (out != NULL && fclose(out) != 0) ok = false;
  if (!ok) fprintf(stderr, "fuzz-seeds: %s: %s\n", path, strerror(errno));
  return ok;
}

static bool make_folder(char *path, size_t size, const char *folder, const char *name) {
  snprintf(path, size, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool write_texts(const char *folder) {
  bool ok = true;
  for (int kind = 0; kind < 4 * SAMPLE_STORAGES; kind++) {
    static sample s;
    size_t length = 0;
    char name[32];
    sample_make(&s, kind & 1, kind & 2 ? 2 : 3, 1 + kind % 3, 0, (uint64_t)kind);
    for (int i = 0; i < SAMPLE_ROWS; i++) s.vector[0][i] = (int)(4 * s.vector[0][i]); /* short texts change faster */
    char *text = sample_text(&length, &s.problem, (sample_storage)(kind / 4));
    snprintf(name, sizeof name, "sample%02d.dat", kind);
    ok = text != NULL && write_bytes(folder, name, text, length) && ok;
    free(text);
  }
  return ok;
}

static bool write_structures(const char *folder) {
  bool ok = true;
  for (int kind = 0; kind < 32; kind++) {
    uint8_t bytes[3000];
    uint64_t seed = 1000 + (uint64_t)kind;
    char name[32];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_int(&seed, 240); /* no trouble */
    bytes[0] = (uint8_t)(kind | 32);
    bytes[1] = (uint8_t)(1 + kind % 7);
    snprintf(name, sizeof name, "structure%02d", kind);
    ok = write_bytes(folder, name, bytes, sizeof bytes) && ok;
  }
  return ok;
}

static bool write_mesh(const char *folder, int number, const bytes *mesh, char format) {
  char name[32], whole[sizeof mesh->data + 1];
  snprintf(name, sizeof name, "mesh%02d", number);
  whole[0] = format;
  memcpy(whole + 1, mesh->data, mesh->length);
  return write_bytes(folder, name, whole, mesh->length + 1);
}

/* The first byte is the place of the format in fuzz_mesh.c's list: obj, stl, ply, msh. */
static bool write_meshes(const char *folder) {
  bytes b = {.length = 0};
  bool ok = true;
  int number = 0;
  put(&b, "# box\n" OBJ_VERTICES "vn 0 0 1\n" OBJ_FACES "f -1/1 -2/1/1 \\\n -3//1\n");
  ok = write_mesh(folder, number++, &b, 0);
  b = stl_text();
  ok = write_mesh(folder, number++, &b, 1) && ok;
  b = stl_binary("solid");
  ok = write_mesh(folder, number++, &b, 1) && ok;
  for (int storage = 0; storage < 3; storage++) {
    b = ply_file(storage);
    ok = write_mesh(folder, number++, &b, 2) && ok;
  }
  for (int kind = 0; kind < 12; kind++) {
    b = kind % 2 ? msh_2(kind / 2 % 2, false, kind / 4) : msh_4(kind / 2 % 2, kind == 4, 8, kind / 4);
    ok = write_mesh(folder, number++, &b, 3) && ok;
  }
  return ok;
}

/* The first byte is the place of the format in fuzz_tets.c's list: msh, vtk, veg, node. */
static bool write_tets(const char *folder) {
  bool ok = true;
  int number = 0;
  for (int kind = 0; kind < 4; kind++) {
    bytes b = kind & 2 ? msh_2(kind & 1, false, TETRAHEDRA_RIGHT) : msh_4(kind & 1, false, 8, TETRAHEDRA_RIGHT);
    ok = write_mesh(folder, number++, &b, 0) && ok;
  }
  for (int kind = 0; kind < 16; kind++) {
    bytes b = vtk_file(kind & 1, kind & 2, kind & 4, kind & 8);
    ok = write_mesh(folder, number++, &b, 1) && ok;
  }
  for (int kind = 0; kind < 4; kind++) {
    bytes b = veg_file(kind & 1, kind & 2), ele = ele_file(kind & 1, kind & 2, false);
    ok = write_mesh(folder, number++, &b, 2) && ok;
    b = node_file(kind & 1, kind & 2);
    b.data[b.length++] = 0;
    memcpy(b.data + b.length, ele.data, ele.length);
    b.length += ele.length;
    ok = write_mesh(folder, number++, &b, 3) && ok;
  }
  return ok;
}

int main(int argc, char **argv) {
  char text[256], hdf5[256], mesh[256], tets[256], all[256];
  if (argc != 2) return fprintf(stderr, "usage: fuzz-seeds FOLDER\n"), 2;
  if (!make_folder(all, sizeof all, argv[1], "") || !make_folder(text, sizeof text, argv[1], "text") ||
      !make_folder(hdf5, sizeof hdf5, argv[1], "hdf5") || !make_folder(mesh, sizeof mesh, argv[1], "mesh") ||
      !make_folder(tets, sizeof tets, argv[1], "tets"))
    return fprintf(stderr, "fuzz-seeds: %s: %s\n", argv[1], strerror(errno)), 2;
  return write_texts(text) && write_structures(hdf5) && write_meshes(mesh) && write_tets(tets) ? 0 : 2;
}
