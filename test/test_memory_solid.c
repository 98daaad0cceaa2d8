/* Memory and solids: where the k-th request fails, whatever k, reading and checking meshes, recipes and figures,
 * building solids and reduced bodies, reading scenes with them and steps in which they touch say so, leave nothing half
 * done and give all memory back; a step that was refused can be done again.
 *
 * The linker sends the library's malloc, calloc, realloc and free to the functions below, and its requests to arenas
 * too (--wrap in CMakeLists.txt): an arena asks malloc seldom, but any of its requests can be the one that fails. */
#include <dirent.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/arena.h"
#include "detect/detect.h"
#include "fem_helper.h"
#include "mesh_files.h"
#include "scene_helper.h"

/* What the linker calls a function of the library, and what it calls in its place. */
#define WRAPPED(result, name, ...)   \
  result __real_##name(__VA_ARGS__); \
  result __wrap_##name(__VA_ARGS__)
WRAPPED(void *, malloc, size_t size);
WRAPPED(void *, calloc, size_t count, size_t size);
WRAPPED(void *, realloc, void *old, size_t size);
WRAPPED(void, free, void *block);
WRAPPED(void *, ds_arena_alloc, ds_arena *arena, size_t count, size_t size);
WRAPPED(void *, ds_arena_zero, ds_arena *arena, size_t count, size_t size);

static atomic_long requests, fail_at; /* fail_at: the request that fails, 0 = none */
static atomic_long live;              /* blocks that were given and not given back */

static bool refused(void) {
  long number = atomic_fetch_add(&requests, 1) + 1;
  return number == atomic_load(&fail_at);
}

static void *given(void *block) {
  if (block) atomic_fetch_add(&live, 1);
  return block;
}

void *__wrap_malloc(size_t size) { return refused() ? NULL : given(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return refused() ? NULL : given(__real_calloc(count, size)); }
void *__wrap_realloc(void *old, size_t size) {
  if (refused()) return NULL;
  return old ? __real_realloc(old, size) : given(__real_realloc(old, size));
}
void __wrap_free(void *block) {
  if (block) atomic_fetch_sub(&live, 1);
  __real_free(block);
}

static bool arena_refused(ds_arena *arena) {
  if (!refused()) return false;
  arena->failed = true; /* as where malloc fails */
  return true;
}

void *__wrap_ds_arena_alloc(ds_arena *arena, size_t count, size_t size) {
  return arena_refused(arena) ? NULL : __real_ds_arena_alloc(arena, count, size);
}
void *__wrap_ds_arena_zero(ds_arena *arena, size_t count, size_t size) {
  return arena_refused(arena) ? NULL : __real_ds_arena_zero(arena, count, size);
}

/* ---- every request fails once ---- */

/* DS_OK with a hash of the result, DS_ERROR_MEMORY where the call was refused, anything else is broken. All that was
 * made is given back. */
typedef ds_status call(uint64_t *hash, const void *input, ds_error *error);

static long repeated; /* steps that were refused and done again, in one call */

/* Fails one request after the other until the call needs fewer, each of the first thousand, then ever fewer;
 * `stride` times fewer where a call takes long. At most `spared` requests are such that the call does as well without.
 */
static void every_request_fails(const char *name, call *run, const void *input, long spared, long stride) {
  uint64_t want = 0;
  ds_error error = {""};
  long before = atomic_load(&live), total = 0, tried = 0, refusals = 0, without = 0, again = 0;
  bool all = false;
  ds_status first = run(&want, input, &error);
  if (first != DS_OK) printf("%s: %s\n", name, error.message);
  CHECK(first == DS_OK);
  CHECK_NEAR((double)atomic_load(&live), (double)before, 0);
  if (test_quick()) stride *= 5;
  for (long k = 1; first == DS_OK && !all; k += (k < 1000 ? 1 : k / 50) * stride) {
    uint64_t hash = 0;
    error.message[0] = 0;
    repeated = 0;
    atomic_store(&requests, 0);
    atomic_store(&fail_at, k);
    ds_status status = run(&hash, input, &error);
    atomic_store(&fail_at, 0);
    all = atomic_load(&requests) < k;
    bool told = status == DS_ERROR_MEMORY && strstr(error.message, "memory");
    bool same = status == DS_OK && hash == want;
    long leaked = atomic_load(&live) - before;
    if (leaked != 0 || !(same || (told && !all)))
      printf("%s, request %ld: status %d, \"%s\", %s, %ld blocks left\n", name, k, (int)status, error.message,
             same ? "the same result" : "no or another result", leaked);
    CHECK(same || (told && !all));
    CHECK_NEAR((double)leaked, 0, 0);
    atomic_store(&live, before);
    total = k;
    tried++;
    refusals += told;
    again += repeated > 0;
    without += same && !all && repeated == 0;
  }
  printf("     %s: %ld of %ld requests, %ld calls refused, %ld with a step done again, %ld done without it\n", name,
         tried - 1, total - 1, refusals, again, without);
  CHECK(refusals + again > 0);
  CHECK_LE((double)without, (double)spared);
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) { /* FNV-1a */
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* ---- meshes ---- */

/* The hash of a mesh, which is given back. A call that was refused leaves an empty one. */
static ds_status take_mesh(uint64_t *hash, ds_mesh *mesh, ds_status status) {
  if (status == DS_OK) {
    *hash = hash_bytes(0xcbf29ce484222325u, mesh->vertices, (size_t)mesh->vertex_count * sizeof *mesh->vertices);
    *hash = hash_bytes(*hash, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
    if (mesh->triangle_count < 4) status = DS_ERROR_INPUT;
  } else if (mesh->vertices || mesh->triangles || mesh->vertex_count || mesh->triangle_count) {
    printf("a call that failed left a mesh\n");
    status = DS_ERROR_INPUT;
  }
  ds_mesh_free(mesh);
  return status;
}

typedef struct mesh_file {
  const char *name;
  bytes content;
} mesh_file;

static ds_status read_bytes(uint64_t *hash, const void *input, ds_error *error) {
  const mesh_file *file = input;
  ds_mesh mesh;
  ds_status status = ds_mesh_read_bytes(&mesh, file->content.data, file->content.length, file->name, 2, error);
  return take_mesh(hash, &mesh, status);
}

static ds_status read_path(uint64_t *hash, const void *input, ds_error *error) {
  ds_mesh mesh;
  return take_mesh(hash, &mesh, ds_mesh_read(&mesh, input, 1, error));
}

static void test_mesh_files(void) {
  bytes obj = {.length = 0};
  put(&obj, OBJ_VERTICES OBJ_FACES);
  const mesh_file files[] = {
      {"a.obj", obj},
      {"text.stl", stl_text()},
      {"binary.stl", stl_binary("box")},
      {"text.ply", ply_file(0)},
      {"binary.ply", ply_file(1)},
      {"quads-2.2.msh", msh_2(true, false, QUADS)},
      {"tetrahedra-2.2.msh", msh_2(false, false, TETRAHEDRA)},
      {"quads-4.1.msh", msh_4(false, false, 8, QUADS)},
      {"tetrahedra-4.1.msh", msh_4(true, false, 8, TETRAHEDRA)},
  };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    every_request_fails(files[i].name, read_bytes, &files[i], 0, 1);
}

static char folder[] = "/tmp/drystone-test-XXXXXX";

static void write_box(char path[64]) {
  snprintf(path, 64, "%s/box.obj", folder);
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  if (!file) return;
  fputs(OBJ_VERTICES OBJ_FACES, file);
  fclose(file);
}

static void test_mesh_path(void) {
  char path[64];
  write_box(path);
  every_request_fails("a file", read_path, path, 0, 1);
  remove(path);
}

static ds_status check_mesh(uint64_t *hash, const void *input, ds_error *error) {
  ds_mesh_report report;
  ds_status status = ds_mesh_check(&report, input, error);
  if (status != DS_OK) return report.usable ? DS_ERROR_INPUT : status;
  double numbers[] = {report.usable, report.parts, report.area, report.volume};
  *hash = hash_bytes(0, numbers, sizeof numbers);
  *hash = hash_bytes(*hash, report.count, sizeof report.count);
  *hash = hash_bytes(*hash, report.where, sizeof report.where);
  return DS_OK;
}

static void test_mesh_check(void) {
  ds_mesh good = mesh_torus(1, 0.3, 12, 8), bad = mesh_join(box_mesh(), mesh_box(v3(0.5, 0.5, 0.5), v3(2, 1, 1)));
  every_request_fails("check of a good mesh", check_mesh, &good, 0, 1);
  every_request_fails("check of a bad mesh", check_mesh, &bad, 0, 1);
  ds_mesh_free(&good);
  ds_mesh_free(&bad);
}

/* ---- recipes and figures ---- */

typedef struct recipe {
  const char *name, *text;
  double cell;
} recipe;

static ds_status mesh_recipe(uint64_t *hash, const void *input, ds_error *error) {
  const recipe *r = input;
  ds_mesh mesh;
  return take_mesh(hash, &mesh, ds_mesh_recipe(&mesh, r->text, strlen(r->text), "recipe", r->cell, error));
}

#define TURNED_BOX "{\"kind\": \"box\", \"size\": [1, 0.8, 0.6], \"rotation\": {\"axis\": [1, 2, 3], \"degrees\": 40}}"
static const recipe recipes[] = {
    {"a turned box", TURNED_BOX, 0.14},
    {"a box less a ball, simplified",
     "{\"shape\": {\"kind\": \"subtraction\", \"of\": [" TURNED_BOX ", {\"kind\": \"sphere\", \"radius\": 0.3, "
     "\"position\": [0.2, 0.1, 0.3]}]}, \"triangles\": 100}",
     0.14},
    {"a lathe",
     "{\"kind\": \"union\", \"blend\": 0.05, \"of\": [{\"kind\": \"lathe\", \"spline\": true, \"profile\": [[0, 0], "
     "[0.4, 0], [0.4, 0.1], [0.1, 0.3], [0.2, 0.5], [0, 0.6]]}, {\"kind\": \"extrusion\", \"length\": 0.1, "
     "\"profile\": [[-0.6, -0.1], [0.6, -0.1], [0, 0.4]]}]}",
     0.08},
    {"thin plates",
     "{\"kind\": \"union\", \"of\": [{\"kind\": \"box\", \"size\": [1, 1, 0.07], \"rotation\": {\"axis\": [1, 1, 0], "
     "\"degrees\": 31}}, {\"kind\": \"box\", \"size\": [1, 0.07, 1], \"rotation\": {\"axis\": [1, 0.2, 0], "
     "\"degrees\": 12}}]}",
     0.09},
};

static void test_recipes(void) {
  for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++)
    every_request_fails(recipes[i].name, mesh_recipe, &recipes[i], 0, 1);
}

static ds_status mesh_figure(uint64_t *hash, const void *input, ds_error *error) {
  ds_mesh mesh;
  return take_mesh(hash, &mesh, ds_mesh_figure(&mesh, input, 1, error));
}

static void test_figures(void) {
  every_request_fails("loop-track", mesh_figure, "loop-track", 0, 1);
  every_request_fails("ring", mesh_figure, "ring", 0, 7);
}

/* ---- solids ---- */

enum { SHRINKS = 3 }; /* requests of a solid for less memory: it can keep what it has */

typedef struct solid_input {
  const ds_mesh *mesh;
  const char *cache;
  int32_t threads;
  bool surface_only, forget; /* forget: the cache is emptied before */
} solid_input;

/* Takes out all files; how many there were, and *parts: of them those that a writer left. */
static int empty_folder(int *parts) {
  int count = 0;
  DIR *all = opendir(folder);
  for (struct dirent *entry; all && (entry = readdir(all));) {
    char path[300];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    count += remove(path) == 0;
    *parts += strstr(entry->d_name, ".part") != NULL;
  }
  if (all) closedir(all);
  return count;
}

static ds_status create_solid(uint64_t *hash, const void *input, ds_error *error) {
  const solid_input *in = input;
  ds_solid_def def = ds_default_solid();
  int parts = 0;
  def.name = "solid";
  def.cell = 0.2;
  def.spacing = 0.3;
  def.threads = in->threads;
  def.cache = in->cache;
  def.surface_only = in->surface_only;
  if (in->forget) empty_folder(&parts);
  ds_solid *solid = ds_solid_create(in->mesh, &def, error);
  if (parts > 0) return DS_ERROR_INPUT;
  if (!solid) return DS_ERROR_MEMORY; /* the message tells */
  ds_solid_info info = ds_solid_get_info(solid);
  double numbers[64] = {info.area, info.volume,  info.samples,   info.spheres,       info.cells,
                        info.cell, info.spacing, info.thickness, (double)info.bytes, info.triangles};
  for (int i = 10; i < 64 && !in->surface_only; i++)
    numbers[i] = ds_solid_distance(NULL, solid, v3(0.05 * i - 1.5, 0.03 * i - 1, 0.4 - 0.01 * i));
  *hash = hash_bytes(0, numbers, sizeof numbers);
  ds_solid_release(solid);
  return DS_OK;
}

static void test_solid(void) {
  ds_mesh torus = mesh_torus(1, 0.4, 12, 8);
  int parts = 0;
  solid_input one = {&torus, NULL, 1, false, false}, two = {&torus, NULL, 2, false, false};
  solid_input surface = {&torus, NULL, 1, true, false}, saved = {&torus, folder, 1, false, true};
  solid_input loaded = {&torus, folder, 1, false, false};
  every_request_fails("a solid", create_solid, &one, SHRINKS, 1);
  every_request_fails("a solid, two threads", create_solid, &two, SHRINKS, 3);
  every_request_fails("a solid to be drawn", create_solid, &surface, 0, 1);
  /* what cannot be kept, or read again, is built */
  every_request_fails("a solid that is kept", create_solid, &saved, SHRINKS + 4, 3);
  every_request_fails("a solid that was kept", create_solid, &loaded, 9, 2);
  CHECK(empty_folder(&parts) == 1);
  CHECK(parts == 0);
  ds_mesh_free(&torus);
}

/* ---- reduced bodies ---- */

typedef struct reduced_input {
  const ds_tets *tets;
  const char *cache;
  int32_t threads;
  bool stvk, forget; /* forget: the cache is emptied before */
} reduced_input;

static ds_status create_reduced(uint64_t *hash, const void *input, ds_error *error) {
  const reduced_input *in = input;
  ds_reduced_def def = ds_default_reduced();
  def.name = "jelly";
  def.modes = 5;
  def.stvk = in->stvk;
  def.threads = in->threads;
  def.cache = in->cache;
  int parts = 0;
  if (in->forget) empty_folder(&parts);
  ds_reduced *x = ds_reduced_create(in->tets, &def, error);
  if (!x) return DS_ERROR_MEMORY;
  *hash = hash_bytes(0xcbf29ce484222325u, x->node_basis, 15 * (size_t)x->tets.node_count * sizeof(double));
  *hash = hash_bytes(*hash, x->stiffness, 25 * sizeof(double));
  if (x->cubic) *hash = hash_bytes(*hash, x->cubic, 5 * 35 * sizeof(double));
  ds_reduced_release(x);
  return DS_OK;
}

static void test_reduced(void) {
  ds_tets tets = tets_box(v3(1, 0.8, 0.5), 2, 2, 1);
  int parts = 0;
  reduced_input modal = {&tets, NULL, 1, false, false}, stvk = {&tets, NULL, 2, true, false};
  reduced_input saved = {&tets, folder, 1, false, true};
  every_request_fails("a modal body", create_reduced, &modal, 0, 1);
  every_request_fails("a StVK body, two threads", create_reduced, &stvk, 0, 1);
  every_request_fails("a body that is kept", create_reduced, &saved, 4, 1); /* what cannot be kept is built again */
  CHECK(empty_folder(&parts) == 1);
  CHECK(parts == 0);
  tets_drop(&tets);
}

/* ---- scenes ---- */

static void look_away(void *user, const ds_observation *observation) {
  (void)user;
  (void)observation;
}

/* Puts the scene's last body elsewhere after the first step: overlaps of the start would be held, not taken away. */
static void put_last(ds_state *state, const ds_scene *scene, int32_t step, const ds_pose *pose) {
  if (step == 1 && pose) ds_state_set_pose(scene, state, ds_scene_body(scene, ds_scene_body_count(scene) - 1), *pose);
}

/* A state of the scene after some observed steps. A step that is refused changes nothing, and is done again. */
static ds_status run_steps(uint64_t *hash, const ds_scene *scene, const ds_options *options, int32_t threads,
                           int32_t steps, const ds_pose *pose, ds_error *error) {
  ds_status status = DS_ERROR_MEMORY;
  ds_state *state = ds_state_create(scene);
  ds_stepper *stepper = state ? ds_stepper_create(threads) : NULL;
  snprintf(error->message, sizeof error->message, "memory"); /* these two have no message */
  if (stepper) status = DS_OK, ds_stepper_observe(stepper, look_away, NULL);
  for (int32_t i = 0; i < steps && status == DS_OK; i++) {
    ds_step_report report;
    put_last(state, scene, i, pose);
    uint64_t before = ds_state_hash(state);
    double time = ds_state_time(state);
    status = ds_step(stepper, state, &report, scene, options);
    if (status != DS_ERROR_MEMORY) continue;
    repeated++;
    bool changed = ds_state_hash(state) != before || ds_state_time(state) != time;
    if (changed) printf("a step that was refused changed the state\n");
    status = changed ? DS_ERROR_INPUT : ds_step(stepper, state, &report, scene, options);
    if (status == DS_ERROR_MEMORY) status = DS_ERROR_INPUT; /* memory is there again */
  }
  if (status == DS_OK) *hash = ds_state_hash(state);
  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  return status;
}

#define SCENE(solids, more)                                                                          \
  "{\"drystone\": 1, \"solids\": {\"box\": {\"file\": \"box.obj\", \"scale\": 0.2, \"cell\": 0.05, " \
  "\"spacing\": 0.2}" solids                                                                         \
  "}, \"bodies\": [{\"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]}, "               \
  "{\"name\": \"lower\", \"shapes\": [{\"kind\": \"solid\", \"solid\": \"box\"}]}, "                 \
  "{\"name\": \"upper\", \"position\": [0.02, 0.03, 0.601], \"velocity\": [0, 0, -1], "              \
  "\"shapes\": [{\"kind\": \"solid\", \"solid\": \"box\"}]}, "                                       \
  "{\"name\": \"plain\", \"position\": [0.5, 0, 0.1], "                                              \
  "\"shapes\": [{\"kind\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}" more "]}"
#define RECIPE                                                                                                 \
  ", \"wedge\": {\"recipe\": {\"shape\": {\"kind\": \"extrusion\", \"length\": 0.4, \"profile\": [[-0.3, 0], " \
  "[0.3, 0], [0, 0.3]]}, \"triangles\": 60}, \"cell\": 0.1}, \"track\": {\"figure\": \"loop-track\"}"
#define WEDGE                                                                                                      \
  ", {\"shapes\": [{\"kind\": \"solid\", \"solid\": \"wedge\"}]}, {\"kind\": \"static\", \"shapes\": [{\"kind\": " \
  "\"solid\", \"solid\": \"track\"}]}"

typedef struct scene_input {
  const char *text;
  int32_t threads;
  bool surface_only; /* read alone */
} scene_input;

static ds_status read_scene(uint64_t *hash, const void *input, ds_error *error) {
  const scene_input *in = input;
  ds_scene_read_options options = ds_default_scene_read();
  ds_run_settings run;
  options.folder = folder;
  options.threads = in->threads;
  options.surface_only = in->surface_only;
  ds_scene *scene = ds_scene_read_text_with(in->text, strlen(in->text), "scene", &options, &run, error);
  if (!scene) return DS_ERROR_MEMORY; /* the message tells */
  ds_status status = run_steps(hash, scene, &run.options, in->threads, in->surface_only ? 0 : 1, NULL, error);
  ds_scene_destroy(scene);
  return status;
}

static void test_scene_file(void) {
  char path[64];
  write_box(path);
  scene_input one = {SCENE("", ""), 1, false}, two = {SCENE("", ""), 2, false};
  scene_input drawn = {SCENE(RECIPE, WEDGE), 1, true};
  every_request_fails("a scene", read_scene, &one, 9, 5);
  every_request_fails("a scene, two threads", read_scene, &two, 9, 11);
  every_request_fails("a scene to be drawn", read_scene, &drawn, 0, 2);
  remove(path);
}

/* ---- two solids in contact ---- */

static ds_solid *solid_of(const char *text) {
  ds_error error = {""};
  ds_mesh mesh;
  ds_solid_def def = ds_default_solid();
  def.cell = 0.05;
  def.spacing = 0.08;
  def.threads = 1;
  ds_status status = ds_mesh_recipe(&mesh, text, strlen(text), "recipe", 0.08, &error);
  ds_solid *solid = status == DS_OK ? ds_solid_create(&mesh, &def, &error) : NULL;
  if (!solid) printf("%s\n", error.message);
  ds_mesh_free(&mesh);
  CHECK(solid != NULL);
  return solid;
}

typedef struct step_input {
  const ds_scene *scene;
  int32_t threads, steps;
  const ds_pose *pose; /* of the last body after the first step, or NULL */
  ds_integrator integrator;
} step_input;

static ds_status step_scene(uint64_t *hash, const void *input, ds_error *error) {
  const step_input *in = input;
  ds_options options = ds_default_options();
  options.integrator = in->integrator;
  return run_steps(hash, in->scene, &options, in->threads, in->steps, in->pose, error);
}

/* What the steps are to go through. */
typedef struct events {
  int32_t again, separated, stopped; /* contacts of second looks; steps with separation; bodies stopped on their way */
} events;

static events count_events(const step_input *in) {
  const ds_scene *scene = in->scene;
  events e = {0};
  ds_options options = ds_default_options();
  options.integrator = in->integrator;
  ds_detect_options detect = {
      .step = options.step, .margin = options.margin, .contacts_per_face = options.contacts_per_face};
  ds_arena arena = {0};
  ds_state *state = ds_state_create(scene);
  ds_stepper *stepper = ds_stepper_create(1);
  for (int32_t i = 0; i < in->steps && state && stepper; i++) {
    ds_step_report report;
    ds_contact_list first;
    put_last(state, scene, i, in->pose);
    CHECK(ds_detect(&arena, &first, scene, state, &detect) == DS_OK);
    CHECK(ds_step(stepper, state, &report, scene, &options) == DS_OK);
    e.again += report.contacts - first.count;
    e.separated += report.separation > 0;
    e.stopped += report.stopped_bodies;
  }
  ds_arena_free(&arena);
  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  return e;
}

/* A bar against a fork that stands fast. */
static ds_scene *bar_on_fork(ds_solid *fork, ds_solid *bar, const ds_body_def *def) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_error error = {""};
  ds_shape_def shape = ds_default_shape();
  ds_body_def fast = ds_default_body();
  fast.kind = DS_BODY_STATIC;
  shape.kind = DS_SHAPE_SOLID;
  shape.solid = fork;
  scene_add(scene, &fast, shape);
  shape.solid = bar;
  scene_add(scene, def, shape);
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  return scene;
}

static void test_steps(void) {
  ds_solid *fork = solid_of(
      "{\"kind\": \"subtraction\", \"of\": [{\"kind\": \"box\", \"size\": [0.6, 0.4, 0.4]}, {\"kind\": \"box\", "
      "\"size\": [0.2, 1, 0.4], \"position\": [0, 0, 0.1]}]}");
  ds_solid *bar = solid_of("{\"kind\": \"box\", \"size\": [1, 0.2, 0.22]}");
  ds_body_def falling = body_at(0.1, 0, 0.45), caught = body_at(0, 0.55, 0.1), thrown = body_at(0, 0, 3);
  falling.velocity = v3(0, 0, -15);
  falling.pose.q = quat_axis_angle(v3(0.3, 1, 0), 0.2);
  /* then its end in the fork, too thick for it */
  caught.pose.q = quat_mul(quat_axis_angle(v3(0, 0, 1), 0.5 * DS_PI), quat_axis_angle(v3(1, 0, 0), 0.5 * DS_PI));
  ds_pose in_fork = caught.pose;
  caught.pose.p.z = 1;
  thrown.velocity = v3(0, 0, -400); /* farther in a step than contacts are looked for */
  const ds_body_def *defs[3] = {&falling, &caught, &thrown};
  static const char *const names[3] = {"steps, a second look", "steps, separation", "steps, a sweep"};
  for (int i = 0; i < 3 && fork && bar; i++) {
    ds_scene *scene = bar_on_fork(fork, bar, defs[i]);
    const ds_pose *pose = i == 1 ? &in_fork : NULL;
    /* parts of a step look for themselves what they run into */
    ds_integrator integrator = i == 0 ? DS_INTEGRATOR_EULER : DS_INTEGRATOR_AUTO;
    step_input one = {scene, 1, 3, pose, integrator}, two = {scene, 2, 3, pose, integrator};
    events e = count_events(&one);
    printf("     %d contacts more by second looks, %d steps with separation, %d stopped\n", (int)e.again,
           (int)e.separated, (int)e.stopped);
    CHECK(i != 0 || e.again > 0);
    CHECK(i != 1 || e.separated > 0);
    CHECK(i != 2 || e.stopped > 0);
    every_request_fails(names[i], step_scene, &one, 3, 2);
    every_request_fails(names[i], step_scene, &two, 3, 5);
    ds_scene_destroy(scene);
  }
  ds_solid_release(fork);
  ds_solid_release(bar);
}

/* So many pairs of solids that threads share them. */
static void test_many(void) {
  enum { SIDE = 9 };
  ds_solid *cube = solid_of("{\"kind\": \"box\", \"size\": [0.2, 0.2, 0.2]}");
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_error error = {""};
  ds_shape_def shape = ds_default_shape();
  shape.kind = DS_SHAPE_SOLID;
  shape.solid = cube;
  scene_add_floor(scene);
  for (int i = 0; i < SIDE * SIDE; i++) {
    ds_body_def def = body_at(0.5 * (i % SIDE), 0.5 * (i / SIDE), 0.1);
    scene_add(scene, &def, shape);
  }
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  step_input two = {scene, 2, 1, NULL, DS_INTEGRATOR_AUTO};
  every_request_fails("steps, shared out", step_scene, &two, 3, 5);
  ds_scene_destroy(scene);
  ds_solid_release(cube);
}

/* A scene whose shapes cannot be sampled can be finished later. */
static void test_finish_again(void) {
  ds_solid *cube = solid_of("{\"kind\": \"box\", \"size\": [0.2, 0.2, 0.2]}");
  bool all = false;
  int unharmed = 0; /* memory that was to be given back stays with it */
  for (long k = 1; k < 60 && !all && cube; k++) {
    long before = atomic_load(&live);
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
    ds_error error = {""};
    ds_body_def upper = body_at(0, 0, 0.2), lower = body_at(0, 0, 0);
    ds_shape_def shape = shape_box(0.2, 0.2, 0.2), solid = ds_default_shape();
    solid.kind = DS_SHAPE_SOLID;
    solid.solid = cube;
    scene_add(scene, &lower, shape);
    scene_add(scene, &upper, solid);
    upper = body_at(1, 0, 0);
    scene_add(scene, &upper, shape_round(DS_SHAPE_CYLINDER, 0.1, 0.2));
    atomic_store(&requests, 0);
    atomic_store(&fail_at, k);
    ds_status status = ds_scene_finish(scene, &error);
    all = atomic_load(&requests) < k;
    atomic_store(&fail_at, 0);
    CHECK(status == DS_OK || (status == DS_ERROR_MEMORY && !all));
    unharmed += status == DS_OK && !all;
    if (status == DS_ERROR_MEMORY) CHECK(ds_scene_finish(scene, &error) == DS_OK);
    ds_scene_destroy(scene);
    CHECK_NEAR((double)atomic_load(&live), (double)before, 0);
  }
  CHECK(all);
  CHECK(unharmed <= 2);
  ds_solid_release(cube);
}

int main(void) {
  CHECK(mkdtemp(folder) != NULL);
  RUN(test_mesh_files);
  RUN(test_mesh_path);
  RUN(test_mesh_check);
  RUN(test_recipes);
  RUN(test_figures);
  RUN_THREADS(test_solid);
  RUN_THREADS(test_reduced);
  RUN_THREADS(test_scene_file);
  RUN(test_steps);
  RUN_THREADS(test_many);
  RUN(test_finish_again);
  rmdir(folder);
  return test_summary();
}
