/* Recordings of scenes with solids: meshes are in the file bit for bit and the scene opens without the files it was
 * made of; scenes without solids are written as before; meshes that are missing, cut, wrong or lie about their size are
 * refused. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "record/record.h"

static char folder[64];

static const char *place(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const char scene_text[] =
    "{\"drystone\": 1, \"solids\": {\"block\": {\"file\": \"block.obj\"}, \"n\xC3\xBCt\": {\"file\": \"block.obj\",\n"
    "  \"scale\": 0.5}, \"unused\": {\"file\": \"none.obj\"}}, \"bodies\": [\n"
    " {\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    " {\"name\": \"a\", \"position\": [0, 0, 1], \"shapes\": [{\"kind\": \"solid\", \"solid\": \"block\"}]},\n"
    " {\"name\": \"b\", \"position\": [0, 0, 4], \"shapes\": [{\"kind\": \"solid\", \"solid\": \"n\xC3\xBCt\"}]},\n"
    " {\"name\": \"c\", \"position\": [0, 0, 8], \"shapes\": [{\"kind\": \"solid\", \"solid\": \"block\"}]}]}\n";

static void write_block(void) {
  FILE *file = fopen(place("block.obj"), "wb");
  CHECK(file != NULL);
  if (file == NULL) return;
  for (int i = 0; i < 8; i++) fprintf(file, "v %.17g %d %d\n", (i & 1) / 3.0, (i & 2) / 2, (i & 4) / 4);
  fputs(
      "f 2 4 8 6\nf 1 5 7 3\nf 3 7 8 4\nf 1 2 6 5\nf 5 6 8 7\n"
      "f 1 3 4 2\n",
      file);
  fclose(file);
}

static ds_scene *open_scene(ds_run_settings *run) {
  ds_error error = {{0}};
  ds_scene_read_options options = ds_default_scene_read();
  options.folder = folder;
  options.surface_only = true; /* a recording keeps no more of a solid */
  ds_scene *scene = ds_scene_read_text_with(scene_text, strlen(scene_text), "test", &options, run, &error);
  CHECK(scene != NULL);
  if (scene == NULL) printf("  %s\n", error.message);
  return scene;
}

/* A recording of the start. */
static void record(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%.100s", place(name));
  ds_error error = {{0}};
  ds_run_settings run;
  write_block();
  ds_scene *scene = open_scene(&run);
  ds_state *state = scene != NULL ? ds_state_create(scene) : NULL;
  ds_step_report report = {.worst = {.converged = true}};
  ds_recorder *recorder = state != NULL ? ds_recorder_create(path, scene_text, &run, scene, &error) : NULL;
  CHECK(recorder != NULL);
  if (recorder == NULL) printf("  %s\n", error.message);
  if (recorder != NULL) {
    CHECK(ds_recorder_append(recorder, scene, state, &report, &error) == DS_OK);
    CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  }
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  unlink(place("block.obj")); /* the recording is whole without it */
}

static void test_round_trip(void) {
  ds_error error = {{0}};
  ds_run_settings run;
  record("run.h5");
  ds_recording *recording = ds_recording_open(place("run.h5"), &error);
  CHECK(recording != NULL);
  if (recording == NULL) {
    printf("  %s\n", error.message);
    return;
  }
  write_block();
  ds_scene *original = open_scene(&run);
  const ds_scene *scene = ds_recording_scene(recording);
  CHECK(ds_scene_body_count(scene) == 4);
  for (int32_t i = 1; original != NULL && i < 4; i++) {
    ds_shape_def shape = ds_body_shape(scene, ds_scene_body(scene, i), 0);
    ds_shape_def want = ds_body_shape(original, ds_scene_body(original, i), 0);
    CHECK(shape.kind == DS_SHAPE_SOLID && strcmp(ds_solid_name(shape.solid), ds_solid_name(want.solid)) == 0);
    const ds_mesh *a = ds_solid_mesh(shape.solid), *b = ds_solid_mesh(want.solid);
    CHECK(a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count);
    CHECK(memcmp(a->vertices, b->vertices, sizeof *a->vertices * (size_t)b->vertex_count) == 0);
    CHECK(memcmp(a->triangles, b->triangles, 3 * sizeof *a->triangles * (size_t)b->triangle_count) == 0);
    CHECK(ds_solid_get_info(shape.solid).cells == 0); /* a surface only */
    CHECK_NEAR(ds_body_mass(scene, ds_scene_body(scene, i)).mass, i == 2 ? 1000.0 / 24 : 1000.0 / 3, 1e-9);
  }
  CHECK(ds_body_shape(scene, ds_scene_body(scene, 1), 0).solid ==
        ds_body_shape(scene, ds_scene_body(scene, 3), 0).solid);
  ds_frame frame;
  CHECK(ds_recording_read(recording, &frame, 0, &error) == DS_OK);
  ds_scene_destroy(original);
  ds_recording_close(recording);
}

static int32_t format_version(const char *path) {
  int32_t version = 0;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), at = H5Aopen(file, "format_version", H5P_DEFAULT);
  CHECK(H5Aread(at, H5T_NATIVE_INT32, &version) >= 0);
  H5Aclose(at);
  H5Fclose(file);
  return version;
}

static void test_versions(void) {
  static const char plain[] =
      "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}]}]}";
  ds_error error = {{0}};
  ds_run_settings run;
  char path[128];
  snprintf(path, sizeof path, "%.100s", place("plain.h5"));
  ds_scene *scene = ds_scene_read_text(plain, strlen(plain), "plain", &run, &error);
  CHECK(scene != NULL);
  CHECK(ds_recorder_close(ds_recorder_create(path, plain, &run, scene, &error), &error) == DS_OK);
  ds_scene_destroy(scene);
  CHECK(format_version(path) == 7);
  record("run.h5");
  CHECK(format_version(place("run.h5")) == 7);
}

/* ---- what is refused ---- */

static void check_refused(const char *reason) {
  ds_error error = {{0}};
  ds_recording *recording = ds_recording_open(place("bad.h5"), &error);
  bool ok = recording == NULL && strstr(error.message, reason) != NULL;
  CHECK(ok);
  if (!ok) printf("  said \"%s\", wanted \"%s\"\n", error.message, reason);
  ds_recording_close(recording);
}

/* A good recording, opened to be damaged. */
static hid_t open_bad(void) {
  record("bad.h5");
  hid_t file = H5Fopen(place("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK(file >= 0);
  return file;
}

/* Writes a number over one of a dataset. */
static void doctor(const char *set, hsize_t row, hsize_t column, double value) {
  hid_t file = open_bad(), at = H5Dopen2(file, set, H5P_DEFAULT), space = H5Dget_space(at);
  hsize_t start[2] = {row, column}, count[2] = {1, 1}, one = 1;
  hid_t memory = H5Screate_simple(1, &one, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  CHECK(H5Dwrite(at, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(at);
  H5Fclose(file);
}

/* Puts an empty dataset of that shape in the place of one. */
static void replace_set(const char *set, int rank, hsize_t rows, hsize_t columns, hid_t type, bool chunked) {
  hid_t file = open_bad();
  hsize_t dims[2] = {rows, columns}, chunk[2] = {16, columns};
  CHECK(H5Ldelete(file, set, H5P_DEFAULT) >= 0);
  hid_t space = H5Screate_simple(rank, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) H5Pset_chunk(list, rank, chunk);
  hid_t at = H5Dcreate2(file, set, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(at >= 0);
  H5Dclose(at);
  H5Pclose(list);
  H5Sclose(space);
  H5Fclose(file);
}

static void test_damaged(void) {
  doctor("/solids/block/triangles", 3, 1, 8);
  check_refused("solid \"block\": /solids/block has a triangle of a vertex that does not exist");
  doctor("/solids/block/triangles", 3, 1, -1);
  check_refused("a vertex that does not exist");
  doctor("/solids/block/vertices", 2, 0, (double)NAN);
  check_refused("/solids/block has a vertex that is not finite");
  doctor("/solids/block/vertices", 2, 0, (double)INFINITY);
  check_refused("not finite");
  const char *const links[] = {"/solids", "/solids/block", "/solids/block/vertices", "/solids/block/triangles"};
  for (int i = 0; i < 4; i++) {
    hid_t file = open_bad();
    CHECK(H5Ldelete(file, links[i], H5P_DEFAULT) >= 0);
    H5Fclose(file);
    check_refused("is missing");
  }
  replace_set("/solids/block/vertices", 2, 8, 4, H5T_IEEE_F64LE, false);
  check_refused("another type or shape");
  replace_set("/solids/block/vertices", 1, 24, 1, H5T_IEEE_F64LE, false);
  check_refused("another type or shape");
  replace_set("/solids/block/vertices", 2, 8, 3, H5T_STD_I32LE, false);
  check_refused("another type or shape");
  replace_set("/solids/block/triangles", 2, 12, 3, H5T_IEEE_F64LE, false);
  check_refused("another type or shape");
  replace_set("/solids/block/triangles", 2, 0, 3, H5T_STD_I32LE, false);
  check_refused("another type or shape");
  replace_set("/solids/block/vertices", 2, 600000000, 3, H5T_IEEE_F64LE, true);
  check_refused("claims more rows than the file has bytes for");
  replace_set("/solids/block/vertices", 2, 5000000000, 3, H5T_IEEE_F64LE, true);
  check_refused("another type or shape");
}

/* Bytes changed in the compressed meshes: no crash, and a recording or a reason. HDF5's own tables are left alone, for
 * the library leaks where they are damaged. */
static void test_mutations(void) {
  static unsigned char bytes[1 << 20];
  haddr_t start[2];
  hsize_t size[2];
  record("good.h5");
  hid_t h5 = H5Fopen(place("good.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (int i = 0; i < 2; i++) {
    hid_t set = H5Dopen2(h5, i == 0 ? "/solids/block/vertices" : "/solids/block/triangles", H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    CHECK(H5Dget_chunk_info(set, space, 0, NULL, NULL, &start[i], &size[i]) >= 0);
    H5Sclose(space);
    H5Dclose(set);
  }
  H5Fclose(h5);
  FILE *file = fopen(place("good.h5"), "rb");
  CHECK(file != NULL);
  if (file == NULL) return;
  size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  uint64_t seed = 7;
  int silent = 0, refused = 0, rounds = getenv("DRYSTONE_TEST_QUICK") != NULL ? 60 : 300;
  for (int i = 0; i < rounds; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    size_t at = (size_t)start[i % 2] + (size_t)(seed >> 33) % (size_t)size[i % 2];
    unsigned char old = bytes[at];
    bytes[at] = (unsigned char)(seed >> 24);
    file = fopen(place("bad.h5"), "wb");
    CHECK(file != NULL && fwrite(bytes, 1, length, file) == length);
    if (file != NULL) fclose(file);
    ds_error error = {{0}};
    ds_recording *recording = ds_recording_open(place("bad.h5"), &error);
    refused += recording == NULL;
    silent += recording == NULL && strstr(error.message, "bad.h5") == NULL;
    ds_recording_close(recording);
    bytes[at] = old;
  }
  CHECK(refused > 0);
  CHECK_NEAR(silent, 0, 0);
}

/* A program may give solids the same name, or none: no recording could tell them apart. */
static void test_names(void) {
  ds_error error = {{0}};
  ds_run_settings run = {.options = ds_default_options(), .time = 1};
  ds_mesh mesh;
  write_block();
  CHECK(ds_mesh_read(&mesh, place("block.obj"), 1, &error) == DS_OK);
  const char *const names[3] = {"same", "same", ""};
  for (int k = 0; k < 2; k++) {
    ds_scene_def def = ds_default_scene();
    ds_scene *scene = ds_scene_create(&def, &error);
    for (int i = k; i < k + 2; i++) {
      ds_body_def body = ds_default_body();
      ds_body_id id = ds_scene_add_body(scene, &body, &error);
      ds_shape_def shape = ds_default_shape();
      ds_solid_def solid = ds_default_solid();
      solid.name = names[i];
      solid.surface_only = true;
      shape.kind = DS_SHAPE_SOLID;
      shape.solid = ds_solid_create(&mesh, &solid, &error);
      CHECK(ds_scene_add_shape(scene, id, &shape, &error) == DS_OK);
      ds_solid_release(shape.solid);
    }
    CHECK(ds_scene_finish(scene, &error) == DS_OK);
    ds_recorder *recorder = ds_recorder_create(place("names.h5"), "{}", &run, scene, &error);
    CHECK(recorder == NULL && strstr(error.message, k == 0 ? "two solids are named \"same\"" : "needs a name") != NULL);
    CHECK(access(place("names.h5"), F_OK) != 0);
    ds_scene_destroy(scene);
  }
  ds_mesh_free(&mesh);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/drystone-test-XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  RUN(test_round_trip);
  RUN(test_versions);
  RUN(test_damaged);
  RUN(test_mutations);
  RUN(test_names);
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(system(command) == 0);
  return test_summary();
}
