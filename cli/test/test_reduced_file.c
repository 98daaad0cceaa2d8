/* Body files and recordings of deformable bodies: what is written is read back bit for bit, the same body is the same
 * file, and what is damaged, foreign, of another version or untrue is refused with a reason. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "fem_helper.h"
#include "io/reduced_file.h"
#include "record/record.h"

static char folder[64];

static const char *place(const char *name) {
  static char path[2][128];
  static int turn;
  turn = 1 - turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static ds_reduced *make_body(bool stvk) {
  ds_error error = {""};
  ds_tets tets = tets_box(v3(0.3, 0.2, 0.1), 3, 2, 1);
  ds_reduced_def def = ds_default_reduced();
  def.name = stvk ? "soft n\xC3\xBCt" : "beam";
  def.modes = stvk ? 8 : 5;
  def.stvk = stvk;
  def.damping_mass = 0.25;
  def.threads = 1;
  ds_reduced *body = ds_reduced_create(&tets, &def, &error);
  CHECK(body != NULL);
  if (body == NULL) printf("  %s\n", error.message);
  tets_drop(&tets);
  return body;
}

/* ---- What is written is read ---- */

static bool same(const void *a, const void *b, size_t bytes) { return memcmp(a, b, bytes) == 0; }

static void check_same(const ds_reduced *a, const ds_reduced *b) {
  size_t r = (size_t)a->r, nodes = (size_t)a->tets.node_count, vertices = (size_t)a->surface.vertex_count;
  CHECK(a->r == b->r && a->tets.node_count == b->tets.node_count && a->tets.tet_count == b->tets.tet_count);
  CHECK(a->surface.vertex_count == b->surface.vertex_count && a->surface.triangle_count == b->surface.triangle_count);
  if (test_failures > 0) return;
  CHECK(strcmp(ds_reduced_name(a), ds_reduced_name(b)) == 0);
  CHECK(same(a->tets.nodes, b->tets.nodes, nodes * sizeof(ds_vec3)));
  CHECK(same(a->tets.tets, b->tets.tets, 4 * (size_t)a->tets.tet_count * sizeof(int32_t)));
  CHECK(same(a->node_basis, b->node_basis, 3 * r * nodes * sizeof(double)));
  CHECK(same(a->surface.vertices, b->surface.vertices, vertices * sizeof(ds_vec3)));
  CHECK(same(a->surface.triangles, b->surface.triangles, 3 * (size_t)a->surface.triangle_count * sizeof(int32_t)));
  CHECK(same(a->surface_node, b->surface_node, vertices * sizeof(int32_t)));
  CHECK(same(a->basis, b->basis, 3 * r * vertices * sizeof(double)));
  CHECK(same(&a->frame, &b->frame, sizeof a->frame) && same(&a->inertia, &b->inertia, sizeof a->inertia));
  CHECK(same(a->second0, b->second0, sizeof a->second0) && same(a->second1, b->second1, 6 * r * sizeof(double)));
  CHECK(same(a->second2, b->second2, 3 * r * (r + 1) * sizeof(double)));
  CHECK(same(a->coupling, b->coupling, 3 * r * r * sizeof(double)));
  CHECK(same(a->stiffness, b->stiffness, r * r * sizeof(double)));
  CHECK((a->quadratic == NULL) == (b->quadratic == NULL));
  if (a->quadratic != NULL && b->quadratic != NULL) {
    CHECK(same(a->quadratic, b->quadratic, r * r * (r + 1) / 2 * sizeof(double)));
    CHECK(same(a->cubic, b->cubic, r * r * (r + 1) * (r + 2) / 6 * sizeof(double)));
  }
  ds_reduced_info x = ds_reduced_get_info(a), y = ds_reduced_get_info(b);
  CHECK(same(x.frequency, y.frequency, (size_t)x.linear_modes * sizeof(double)));
  CHECK(x.young == y.young && x.poisson == y.poisson && x.density == y.density && x.mass == y.mass);
  CHECK(x.damping_mass == y.damping_mass && x.damping_stiffness == y.damping_stiffness);
  CHECK(x.stvk == y.stvk && x.linear_modes == y.linear_modes && x.modes == y.modes && x.spheres == y.spheres);
  CHECK(x.mass_error == y.mass_error && x.orthogonality == y.orthogonality);
}

static char *read_bytes(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 22);
  *size = file != NULL && bytes != NULL ? fread(bytes, 1, 1 << 22, file) : 0;
  if (file != NULL) fclose(file);
  return bytes;
}

static void test_round_trip(void) {
  for (int stvk = 0; stvk < 2; stvk++) {
    ds_error error = {""};
    ds_reduced *body = make_body(stvk == 1);
    if (body == NULL) return;
    const char *name = stvk ? "stvk.h5" : "modal.h5";
    CHECK(ds_reduced_file_write(place(name), body, &error) == DS_OK);
    CHECK(ds_reduced_file_is(place(name)));
    ds_reduced *again = ds_reduced_file_read(place(name), &error);
    CHECK(again != NULL);
    if (again == NULL) printf("  %s\n", error.message);
    if (again != NULL) {
      check_same(body, again);
      CHECK(ds_reduced_file_write(place("again.h5"), again, &error) == DS_OK);
      size_t size[2];
      char *one = read_bytes(place(name), &size[0]), *two = read_bytes(place("again.h5"), &size[1]);
      CHECK(size[0] > 0 && size[0] == size[1] && same(one, two, size[0])); /* the same body is the same file */
      free(one);
      free(two);
    }
    ds_reduced_release(again);
    ds_reduced_release(body);
  }
}

/* ---- What is wrong ---- */

static bool overwrite(hid_t file, const char *name, int64_t at, double value) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
  hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
  double *data = count > 0 ? malloc((size_t)count * sizeof *data) : NULL;
  bool ok = data != NULL && at < count && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (ok) data[at] = value;
  ok = ok && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  free(data);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return ok;
}

static bool set_attribute(hid_t file, const char *name, double value) {
  hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  bool ok = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  return ok;
}

/* A dataset of the same name with another type or shape. */
static bool reshape(hid_t file, const char *name, bool integer, hsize_t rows) {
  H5Ldelete(file, name, H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &rows, NULL);
  hid_t set =
      H5Dcreate2(file, name, integer ? H5T_STD_I32LE : H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return set >= 0 && H5Dclose(set) >= 0;
}

typedef enum damage_kind { NUMBER, ATTRIBUTE, MISSING, NO_ATTRIBUTE, SHAPE, TYPE } damage_kind;
typedef struct damage {
  damage_kind kind;
  const char *name;
  int64_t at;
  double value;
  const char *message;
} damage;

static const damage damages[] = {
    {ATTRIBUTE, "drystone_reduced", 0, 2, "a reduced body of format version 2; Drystone"},
    {ATTRIBUTE, "drystone_reduced", 0, 0, "make it again with 'drystone reduce'"},
    {NO_ATTRIBUTE, "drystone_reduced", 0, 0, "no reduced body is in it"},
    {NO_ATTRIBUTE, "format", 0, 0, "no reduced body is in it"},
    {NO_ATTRIBUTE, "name", 0, 0, "its name is not a text"},
    {NO_ATTRIBUTE, "young", 0, 0, "young is missing"},
    {NO_ATTRIBUTE, "modes", 0, 0, "modes is missing"},
    {ATTRIBUTE, "modes", 0, 0, "modes is 0, expected 1 to 128"},
    {ATTRIBUTE, "modes", 0, 129, "modes is 129, expected 1 to 128"},
    {ATTRIBUTE, "modes", 0, 9, "has another type or shape"},
    {ATTRIBUTE, "linear_modes", 0, 100, "linear_modes is larger than modes"},
    {ATTRIBUTE, "nodes", 0, 500000000, "nodes has another type or shape"},
    {ATTRIBUTE, "nodes", 0, -1, "nodes is -1"},
    {ATTRIBUTE, "tets", 0, 35, "tets has another type or shape"},
    {ATTRIBUTE, "stvk", 0, 2, "stvk is 2"},
    {ATTRIBUTE, "young", 0, -1, "young and density must be above 0"},
    {ATTRIBUTE, "density", 0, 0, "young and density must be above 0"},
    {ATTRIBUTE, "density", 0, 999, "its volume times its density"},
    {ATTRIBUTE, "poisson", 0, 0.5, "poisson between -1 and 0.5"},
    {ATTRIBUTE, "mass", 0, 0, "mass and inertia must be above 0"},
    {ATTRIBUTE, "mass", 0, 7, "its mass is 7 kg"},
    {ATTRIBUTE, "damping_mass", 0, -1, "damping must not be negative"},
    {MISSING, "nodes", 0, 0, "nodes is missing"},
    {MISSING, "cubic", 0, 0, "cubic is missing"},
    {MISSING, "frame", 0, 0, "frame is missing"},
    {SHAPE, "coupling", 0, 0, "coupling has another type or shape"},
    {TYPE, "stiffness", 0, 0, "stiffness has another type or shape"},
    {NUMBER, "nodes", 5, NAN, "not finite"},
    {NUMBER, "nodes", 5, 1e3, "is flat or inverted"},
    {NUMBER, "node_basis", 17, INFINITY, "not finite"},
    {NUMBER, "tets", 3, 1000, "a tetrahedron has a node that does not exist"},
    {NUMBER, "tets", 3, -1, "a tetrahedron has a node that does not exist"},
    {NUMBER, "surface_nodes", 0, 1000, "surface_nodes names a node that does not exist"},
    {NUMBER, "surface_triangles", 0, 5000, "a triangle has a vertex that does not exist"},
    {NUMBER, "surface_triangles", 0, 20, "expected a closed surface"},
    {NUMBER, "frame", 3, 2, "its frame is not a rotation"},
    {NUMBER, "inertia", 1, 1e-9, "its inertia and second0 do not belong together"},
    {NUMBER, "second0", 3, 1, "its inertia and second0 do not belong together"},
    {NUMBER, "second1", 3, NAN, "not finite"},
    {NUMBER, "second2", 3, NAN, "not finite"},
    {NUMBER, "coupling", 5, 0.5, "its coupling is not an integral"},
    {NUMBER, "stiffness", 1, 1e9, "its stiffness is not symmetric"},
    {NUMBER, "stiffness", 0, -1, "its stiffness is not symmetric with a positive diagonal"},
    {NUMBER, "frequencies", 1, 1e-3, "its frequencies do not ascend"},
    {NUMBER, "quadratic", 40, 1e12, "its elastic forces have no energy"},
    {NUMBER, "cubic", 150, 1e15, "its elastic forces have no energy"},
};

static bool inflict(hid_t file, const damage *d) {
  switch (d->kind) {
    case NUMBER:
      return overwrite(file, d->name, d->at, d->value);
    case ATTRIBUTE:
      return set_attribute(file, d->name, d->value);
    case MISSING:
      return H5Ldelete(file, d->name, H5P_DEFAULT) >= 0;
    case NO_ATTRIBUTE:
      return H5Adelete(file, d->name) >= 0;
    case SHAPE:
      return reshape(file, d->name, false, 7);
    case TYPE:
      return reshape(file, d->name, true, 64);
  }
  return false;
}

static void refuse(const char *path, const char *message) {
  ds_error error = {""};
  ds_reduced *body = ds_reduced_file_read(path, &error);
  bool ok = body == NULL && strstr(error.message, message) != NULL && strstr(error.message, path) == error.message;
  CHECK(ok);
  if (!ok) printf("  got    %s\n  wanted %s\n", body != NULL ? "a body" : error.message, message);
  ds_reduced_release(body);
}

static void test_damages(void) {
  ds_error error = {""};
  ds_reduced *body = make_body(true);
  if (body == NULL) return;
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    CHECK(ds_reduced_file_write(place("bad.h5"), body, &error) == DS_OK);
    hid_t file = H5Fopen(place("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0 && inflict(file, &damages[i]));
    if (file >= 0) H5Fclose(file);
    refuse(place("bad.h5"), damages[i].message);
  }
  ds_reduced_release(body);
}

static void test_foreign(void) {
  refuse(place("none.h5"), "cannot be opened");
  refuse(folder, "is not a regular file");
  FILE *file = fopen(place("text.h5"), "wb");
  fputs("v 0 0 0\n", file);
  fclose(file);
  refuse(place("text.h5"), "it is not an HDF5 file; 'drystone reduce");
  hid_t other = H5Fcreate(place("other.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  refuse(place("other.h5"), "no reduced body is in it");
  CHECK(!ds_reduced_file_is(place("other.h5")) && !ds_reduced_file_is(place("text.h5")));
}

/* Where the bytes of a dataset stand in the file. */
static bool find_bytes(size_t *start, size_t *size, hid_t file, const char *name) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
  haddr_t at = HADDR_UNDEF;
  hsize_t length = 0, chunks = 0;
  if (space >= 0 && H5Dget_num_chunks(set, space, &chunks) >= 0 && chunks > 0)
    H5Dget_chunk_info(set, space, 0, NULL, NULL, &at, &length);
  else if (set >= 0)
    at = H5Dget_offset(set), length = H5Dget_storage_size(set);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  *start = (size_t)at, *size = (size_t)length;
  return at != HADDR_UNDEF && length > 0;
}

/* Whatever bytes of the data are wrong, and wherever the file ends: a body or a message, never a crash. HDF5's own
 * tables are left alone: it reads beyond its memory where they are damaged. */
static void test_mutations(void) {
  static const char *const names[] = {"nodes",   "tets",     "node_basis", "surface_nodes", "surface_triangles",
                                      "second2", "coupling", "stiffness",  "quadratic",     "cubic"};
  enum { NAMES = sizeof names / sizeof *names };
  size_t size, start[NAMES], length[NAMES];
  char *bytes = read_bytes(place("stvk.h5"), &size);
  hid_t h5 = H5Fopen(place("stvk.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (int i = 0; i < NAMES; i++) CHECK(find_bytes(&start[i], &length[i], h5, names[i]));
  H5Fclose(h5);
  uint64_t seed = 7;
  int refused = 0, read = 0, rounds = quick() ? 60 : 400;
  for (int i = 0; test_failures == 0 && i < rounds; i++) {
    FILE *file = fopen(place("mutated.h5"), "wb");
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    size_t at = start[i % NAMES] + (size_t)(seed >> 33) % length[i % NAMES];
    char old = bytes[at];
    bytes[at] = (char)(seed >> 24);
    fwrite(bytes, 1, i % 12 == 11 ? at : size, file);
    fclose(file);
    bytes[at] = old;
    ds_error error = {""};
    ds_reduced *body = ds_reduced_file_read(place("mutated.h5"), &error);
    read += body != NULL;
    refused += body == NULL && error.message[0] != '\0';
    ds_reduced_release(body);
  }
  printf("  %d refused, %d read\n", refused, read);
  CHECK(refused + read == rounds && refused > 0.9 * rounds); /* checksums */
  free(bytes);
}

/* ---- Places that cannot be written to ---- */

static void test_no_partial_file(void) {
  ds_error error = {""};
  ds_reduced *body = make_body(false);
  if (body == NULL) return;
  CHECK(ds_reduced_file_write(place("no/such/x.h5"), body, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "cannot be written") != NULL);
  CHECK(ds_reduced_file_write(folder, body, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "it is a directory") != NULL);
  ds_reduced_release(body);
}

/* ---- Recordings ---- */

static const char scene_text[] =
    "{\"drystone\": 1, \"options\": {\"metric\": \"mass\", \"newton\": 3, \"newmark_damping\": 0.125},\n"
    " \"deformables\": {\"a\": {\"file\": \"modal.h5\"}}, \"bodies\": [\n"
    " {\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    " {\"name\": \"one\", \"position\": [0, 0, 1], \"deformable\": \"a\", \"reduced\": [1e-3, 0, 0, 0, 2e-3]},\n"
    " {\"name\": \"two\", \"position\": [0, 0, 2], \"deformable\": {\"file\": \"stvk.h5\"}},\n"
    " {\"name\": \"three\", \"position\": [0, 0, 3], \"deformable\": \"a\", \"reduced_rate\": [0, 3, 0, 0, 0]}]}\n";

static ds_reduced *load(void *user, const char *path, ds_error *error) {
  (void)user;
  return ds_reduced_file_read(path, error);
}

static ds_scene *open_scene(ds_run_settings *run) {
  ds_error error = {""};
  ds_scene_read_options options = ds_default_scene_read();
  options.folder = folder;
  options.load = load;
  ds_scene *scene = ds_scene_read_text_with(scene_text, strlen(scene_text), "s.json", &options, run, &error);
  CHECK(scene != NULL);
  if (scene == NULL) printf("  %s\n", error.message);
  return scene;
}

enum { FRAMES = 5, COORDINATES = 5 + 8 + 5 };

static double coordinate(int frame, int i) { return 1e-3 * frame + 1e-5 * i; }

static void write_recording(const ds_scene *scene, const ds_run_settings *run) {
  ds_error error = {""};
  ds_state *state = ds_state_create(scene);
  ds_recorder *recorder = ds_recorder_create(place("run.h5"), scene_text, run, scene, &error);
  CHECK(state != NULL && recorder != NULL);
  if (recorder == NULL) printf("  %s\n", error.message);
  CHECK(state->reduced[0] == 1e-3 && state->reduced[4] == 2e-3 && state->reduced_rate[5 + 8 + 1] == 3);
  for (int k = 0; recorder != NULL && k < FRAMES; k++) {
    ds_step_report report = {.step = k, .worst = {.converged = true}};
    state->time = 0.01 * k;
    for (int i = 0; i < COORDINATES; i++) state->reduced[i] = coordinate(k, i), state->reduced_rate[i] = -i - k;
    CHECK(ds_recorder_append(recorder, scene, state, &report, &error) == DS_OK);
  }
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  ds_state_destroy(state);
}

static void check_frames(ds_recording *recording) {
  ds_error error = {""};
  ds_frame frame;
  CHECK(ds_recording_frame_count(recording) == FRAMES);
  for (int k = FRAMES - 1; k >= 0; k--) {
    CHECK(ds_recording_read(recording, &frame, k, &error) == DS_OK);
    CHECK(frame.reduced != NULL && frame.reduced_rate != NULL);
    for (int i = 0; i < COORDINATES; i++)
      CHECK(frame.reduced[i] == coordinate(k, i) && frame.reduced_rate[i] == -i - k);
  }
}

static void test_recording(void) {
  ds_error error = {""};
  ds_run_settings run;
  ds_scene *scene = open_scene(&run);
  if (scene == NULL) return;
  CHECK(scene->reduced_count == COORDINATES);
  CHECK(scene->bodies[1].reduced == scene->bodies[3].reduced && scene->bodies[1].reduced != scene->bodies[2].reduced);
  write_recording(scene, &run);
  unlink(place("modal.h5")); /* the recording is whole without it */
  ds_recording *recording = ds_recording_open(place("run.h5"), &error);
  CHECK(recording != NULL);
  if (recording == NULL) printf("  %s\n", error.message);
  if (recording != NULL) {
    const ds_scene *again = ds_recording_scene(recording);
    CHECK(again->reduced_count == COORDINATES);
    check_same(scene->bodies[1].reduced, again->bodies[1].reduced);
    check_same(scene->bodies[2].reduced, again->bodies[2].reduced);
    CHECK(again->bodies[1].reduced == again->bodies[3].reduced);
    const ds_options *o = &ds_recording_settings(recording)->options;
    CHECK(o->metric == DS_METRIC_MASS && o->newton == 3 && o->newmark_damping == 0.125);
    check_frames(recording);
  }
  ds_recording_close(recording);
  ds_scene_destroy(scene);
}

/* What docs/recording.md says of /deformables, for who reads the file without the library: bodies 1 and 3 share one,
 * body 0 is rigid, and coordinates follow each other. */
static void test_as_documented(void) {
  hid_t file = H5Fopen(place("run.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  int32_t of_body[8] = {0}, first[8] = {0}, sizes[2] = {0};
  static const int32_t wanted[4] = {-1, 0, 1, 0};
  for (int i = 0; i < 2; i++) {
    hid_t set = H5Dopen2(file, i == 0 ? "/deformables/of_body" : "/deformables/first", H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    CHECK_NEAR((double)H5Sget_simple_extent_npoints(space), 4 + i, 0);
    CHECK(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, i == 0 ? of_body : first) >= 0);
    H5Sclose(space);
    H5Dclose(set);
  }
  for (int i = 0; i < 4; i++) CHECK_NEAR(of_body[i], wanted[i], 0);
  for (int i = 1; i < 3; i++) sizes[wanted[i]] = first[i + 1] - first[i];
  CHECK(first[0] == 0 && first[1] == 0 && sizes[0] > 0 && sizes[1] > 0);
  CHECK_NEAR(first[4] - first[3], sizes[0], 0);
  CHECK_NEAR(first[4], COORDINATES, 0);
  CHECK(H5Lexists(file, "/deformables/1", H5P_DEFAULT) > 0 && H5Lexists(file, "/deformables/2", H5P_DEFAULT) == 0);
  H5Fclose(file);
}

static const damage recording_damages[] = {
    {MISSING, "/deformables/1", 0, 0, "/deformables/1 is missing"},
    {MISSING, "/deformables/0/nodes", 0, 0, "/deformables/0: not a usable reduced body: nodes is missing"},
    {MISSING, "/frames/reduced", 0, 0, "/frames/reduced is missing"},
    {MISSING, "/frames/reduced_rate", 0, 0, "/frames/reduced_rate is missing"},
    {SHAPE, "/frames/reduced", 0, 0, "/frames/reduced has another type or shape"},
    {NUMBER, "/frames/reduced", 3, NAN, "reduced coordinates cannot be read, or one is not finite"},
};

static void test_bad_recordings(void) {
  size_t size;
  char *bytes = read_bytes(place("run.h5"), &size);
  for (size_t i = 0; i < sizeof recording_damages / sizeof *recording_damages; i++) {
    const damage *d = &recording_damages[i];
    ds_error error = {""};
    FILE *out = fopen(place("bad_run.h5"), "wb");
    fwrite(bytes, 1, size, out);
    fclose(out);
    hid_t file = H5Fopen(place("bad_run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0 && inflict(file, d));
    if (file >= 0) H5Fclose(file);
    ds_recording *recording = ds_recording_open(place("bad_run.h5"), &error);
    ds_frame frame;
    bool refused = recording == NULL || ds_recording_read(recording, &frame, 0, &error) != DS_OK;
    CHECK(refused && strstr(error.message, d->message) != NULL);
    if (!refused || strstr(error.message, d->message) == NULL)
      printf("  got %s, wanted %s\n", error.message, d->message);
    ds_recording_close(recording);
  }
  free(bytes);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/drystone-test-XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  RUN(test_round_trip);
  RUN(test_damages);
  RUN(test_foreign);
  RUN(test_mutations);
  RUN(test_no_partial_file);
  RUN(test_recording);
  RUN(test_as_documented);
  RUN(test_bad_recordings);
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(system(command) == 0);
  return test_summary();
}
