/* Deformable bodies in scene files: from the section or inside a body, of a figure, a mesh or a body file, each built
 * once; every mistake is named with its line; the reader's options reach the building; generators can write them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "body/reduced.h"
#include "body/scene.h"
#include "check.h"
#include "drystone/scene_file.h"
#include "mistake.h"
#include "scene/generate.h"

static char folder[] = "/tmp/drystone-test-XXXXXX";

static const char *place(const char *name) {
  static char path[100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* A box 1 x 1 x 2, corner at the origin; `open` leaves a side out. */
static void write_box(const char *name, bool open) {
  static const int faces[6][4] = {{2, 4, 8, 6}, {1, 5, 7, 3}, {3, 7, 8, 4}, {1, 2, 6, 5}, {5, 6, 8, 7}, {1, 3, 4, 2}};
  FILE *file = fopen(place(name), "wb");
  CHECK(file != NULL);
  if (!file) return;
  for (int i = 0; i < 8; i++) fprintf(file, "v %d %d %d\n", i & 1, (i & 2) / 2, (i & 4) / 2);
  for (int f = open; f < 6; f++) fprintf(file, "f %d %d %d %d\n", faces[f][0], faces[f][1], faces[f][2], faces[f][3]);
  fclose(file);
}

static const char whole[] =
    "{\"drystone\": 1, \"options\": {\"metric\": \"mass\", \"newton\": 4, \"newmark_damping\": 0.1},\n"
    " \"solids\": {\"block\": {\"file\": \"box.obj\", \"scale\": 0.1}},\n"
    " \"deformables\": {\"note\": \"n\",\n"
    "  \"rubber\": {\"shape\": \"block\", \"young\": 2e5, \"poisson\": 0.4, \"density\": 1200, \"modes\": 4,\n"
    "    \"damping_mass\": 0.5, \"damping_stiffness\": 0.002, \"tets\": 900, \"note\": \"n\"},\n"
    "  \"unused\": {\"file\": \"none.h5\"}},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"a\", \"deformable\": \"rubber\", \"reduced\": [1e-3, 0, 0, -2e-3]},\n"
    "  {\"name\": \"b\", \"position\": [0, 0, 1], \"deformable\": {\"shape\": {\"file\": \"box.obj\", \"scale\": "
    "0.2},\n"
    "    \"young\": 1e6, \"modes\": 3, \"stvk\": true, \"cell\": 0.15, \"mass\": 3.5}, \"reduced_rate\": [0, 0.1, "
    "0]},\n"
    "  {\"name\": \"c\", \"position\": [0, 0, 2], \"deformable\": \"rubber\"},\n"
    "  {\"name\": \"d\", \"position\": [0, 0, 3], \"deformable\": {\"shape\": {\"file\": \"box.obj\", \"scale\": "
    "0.2},\n"
    "    \"young\": 1e6, \"modes\": 3, \"stvk\": true, \"cell\": 0.15, \"mass\": 3.5}},\n"
    "  {\"name\": \"e\", \"position\": [0, 0, 4], \"deformable\": {\"file\": \"body.h5\"}}\n"
    " ]}\n";

/* The loader of the tests: what body.h5 holds is made here. */
typedef struct loading {
  int calls;
  char path[128];
} loading;

static ds_reduced *make_body(ds_error *error) {
  ds_mesh mesh;
  ds_tets tets = {0};
  if (ds_mesh_read(&mesh, place("box.obj"), 0.3, error) != DS_OK) return NULL;
  ds_stuffing_def stuffing = ds_default_stuffing();
  stuffing.wanted = 60;
  stuffing.threads = 1;
  ds_reduced_def def = ds_default_reduced();
  def.name = "loaded";
  def.modes = 2;
  def.threads = 1;
  ds_reduced *body = NULL;
  if (ds_tets_stuff(&tets, &mesh, &stuffing, error) == DS_OK) body = ds_reduced_create(&tets, &def, error);
  ds_tets_free(&tets);
  ds_mesh_free(&mesh);
  return body;
}

static ds_reduced *load(void *user, const char *path, ds_error *error) {
  loading *l = user;
  l->calls++;
  snprintf(l->path, sizeof l->path, "%s", path);
  if (strstr(path, "body.h5")) return make_body(error);
  snprintf(error->message, sizeof error->message, "%s: there is nothing", path);
  return NULL;
}

static ds_scene *read_scene(const char *text, loading *l, ds_run_settings *run, ds_error *error) {
  loading own = {0};
  ds_scene_read_options options = ds_default_scene_read();
  options.folder = folder;
  options.threads = 1;
  options.load = load;
  options.user = l ? l : &own;
  return ds_scene_read_text_with(text, strlen(text), "s.json", &options, run, error);
}

static void test_whole(void) {
  ds_error error = {""};
  ds_run_settings run;
  loading l = {0};
  ds_scene *scene = read_scene(whole, &l, &run, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n", error.message);
  if (!scene) return;
  CHECK(run.options.metric == DS_METRIC_MASS && run.options.newton == 4);
  CHECK_NEAR(run.options.newmark_damping, 0.1, 0);
  const ds_body *b = scene->bodies;
  CHECK(b[0].reduced && b[0].reduced == b[2].reduced); /* by name */
  CHECK(b[1].reduced && b[1].reduced == b[3].reduced); /* in the same words */
  CHECK(b[4].reduced && l.calls == 1 && strcmp(ds_reduced_name(b[4].reduced), "loaded") == 0);
  char path[128];
  snprintf(path, sizeof path, "%s/body.h5", folder);
  CHECK(strcmp(l.path, path) == 0);
  ds_reduced_info rubber = ds_reduced_get_info(b[0].reduced), soft = ds_reduced_get_info(b[1].reduced);
  CHECK(strcmp(ds_reduced_name(b[0].reduced), "rubber") == 0);
  CHECK(strcmp(ds_reduced_name(b[1].reduced), "box.obj") == 0);
  CHECK_NEAR(rubber.young, 2e5, 0);
  CHECK_NEAR(rubber.poisson, 0.4, 0);
  CHECK_NEAR(rubber.density, 1200, 0);
  CHECK_NEAR(rubber.damping_mass, 0.5, 0);
  CHECK_NEAR(rubber.damping_stiffness, 0.002, 0);
  CHECK(rubber.modes == 4 && !rubber.stvk && soft.modes == 3 && soft.stvk);
  CHECK_NEAR(rubber.mass, 1200 * 2e-3, 0.2 * 1200 * 2e-3); /* stuffing rounds the edges of a coarse box */
  CHECK_NEAR(soft.mass, 3.5, 1e-12);
  CHECK_NEAR(rubber.high.z - rubber.low.z, 0.2, 0.04);
  CHECK(scene->reduced_count == 4 + 3 + 4 + 3 + 2);
  ds_state *state = ds_state_create(scene);
  int32_t r;
  const double *q = ds_state_reduced(state, ds_scene_body(scene, 0), &r);
  CHECK(r == 4 && q[0] == 1e-3 && q[1] == 0 && q[3] == -2e-3);
  const double *rate = ds_state_reduced_rate(state, ds_scene_body(scene, 1), &r);
  CHECK(r == 3 && rate[0] == 0 && rate[1] == 0.1);
  q = ds_state_reduced(state, ds_scene_body(scene, 2), &r);
  CHECK(r == 4 && q[0] == 0 && q[3] == 0);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
}

/* ---- mistakes ---- */

#define RUBBER "\"deformable\": \"rubber\", \"reduced\": [1e-3, 0, 0, -2e-3]"
static const mistake mistakes[] = {
    {"\"shape\": \"block\", ", "",
     "s.json:4:13: deformable \"rubber\": nothing says what the deformable is; expected one"},
    {"\"shape\": \"block\"", "\"shape\": \"block\", \"file\": \"x.h5\"", "the deformable is said to be two things"},
    {"\"shape\": \"block\"", "\"shape\": \"blok\"",
     "deformable \"rubber\": unknown solid \"blok\"; did you mean \"block\"?"},
    {"\"shape\": \"block\"", "\"shape\": 3",
     "\"shape\" is a number; expected an object in { }, or the name of one in double quotes"},
    {"\"shape\": \"block\"", "\"shape\": {}", "nothing says what the shape is; expected one of \"figure\""},
    {"\"shape\": \"block\"", "\"shape\": {\"figure\": \"bunni\"}", "unknown figure \"bunni\"; did you mean \"bunny\"?"},
    {"\"shape\": \"block\"", "\"shape\": {\"file\": \"box.obj\", \"spacing\": 1}", "unknown key \"spacing\""},
    {"\"shape\": \"block\"", "\"shape\": {\"file\": \"open.obj\"}", "s.json:4:13: deformable \"rubber\": "},
    {"\"shape\": \"block\"", "\"shape\": {\"file\": \"none.obj\"}", "none.obj"},
    {"\"shape\": \"block\"", "\"shape\": {\"recipe\": {\"kind\": \"bxo\", \"size\": [1, 1, 1]}}", "s.json:4:43: "},
    {"\"young\": 2e5", "\"young\": 0", "\"young\" is 0; expected a number above 0"},
    {"\"young\": 2e5", "\"yuong\": 2e5", "unknown key \"yuong\"; did you mean \"young\"?"},
    {"\"poisson\": 0.4", "\"poisson\": 0.5", "\"poisson\" is 0.5; expected a number above -1 and below 0.5"},
    {"\"poisson\": 0.4", "\"poisson\": -1", "\"poisson\" is -1; expected a number above -1"},
    {"\"poisson\": 0.4", "\"poisson\": 0.6", "\"poisson\" is 0.6; expected a number from -1 to 0.5"},
    {"\"density\": 1200", "\"density\": 0", "\"density\" is 0; expected a number above 0"},
    {"\"density\": 1200", "\"mass\": -2", "\"mass\" is -2; expected a number above 0"},
    {"\"density\": 1200", "\"density\": 1200, \"mass\": 2", "\"mass\" beside \"density\"; expected one of them"},
    {"{\"file\": \"none.h5\"}", "{\"file\": \"none.h5\", \"mass\": 1}", "\"mass\" beside \"file\", which has its own"},
    {"\"modes\": 4", "\"modes\": 0", "\"modes\" is 0; expected a whole number from 1 to 128"},
    {"\"modes\": 4", "\"modes\": 129", "\"modes\" is 129; expected a whole number from 1 to 128"},
    {"\"modes\": 4", "\"modes\": 4.5", "\"modes\" is 4.5; expected a whole number"},
    {"\"damping_mass\": 0.5", "\"damping_mass\": -1", "\"damping_mass\" is -1"},
    {"\"tets\": 900", "\"tets\": 0", "\"tets\" is 0"},
    {"{\"file\": \"none.h5\"}", "{\"file\": \"none.h5\", \"young\": 1}",
     "deformable \"unused\": \"young\" beside \"file\", which has its own"},
    {"\"unused\": {", "\"un/used\": {", "the name \"un/used\"; expected one without \"/\""},
    {RUBBER, "\"deformable\": \"rubbr\"",
     "s.json:8:31: body \"a\": unknown deformable \"rubbr\"; did you mean \"rubber\"?"},
    {RUBBER, "\"deformable\": \"xyz\"", "unknown deformable \"xyz\"; add it to \"deformables\" at the top"},
    {RUBBER, "\"deformable\": 4", "\"deformable\" is a number; expected an object in { }, or the name"},
    {RUBBER, "\"deformable\": \"rubber\", \"reduced\": [1]",
     "body \"a\": \"reduced\" has 1 numbers; expected 4, one per reduced coordinate"},
    {RUBBER, "\"deformable\": \"rubber\", \"reduced_rate\": [0, 0, \"x\", 0]", "\"reduced_rate\" holds a text"},
    {RUBBER, "\"deformable\": \"rubber\", \"reduced\": [0, 1e300, 0, 0]", "a number that is too large"},
    {RUBBER, "\"deformable\": \"rubber\", \"mass\": 2", "\"mass\" in a deformable body; expected \"density\" or"},
    {RUBBER, "\"deformable\": \"rubber\", \"density\": 2", "\"density\" in a deformable body"},
    {RUBBER, "\"deformable\": \"rubber\", \"kind\": \"static\"", "\"deformable\" in a body that is static"},
    {RUBBER, "\"deformable\": \"rubber\", \"shapes\": [{\"kind\": \"sphere\", \"radius\": 1}]",
     "\"shapes\" and \"deformable\" in one body; keep one of them"},
    {RUBBER, "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}], \"reduced\": [1]",
     "\"reduced\" in a rigid body; expected it beside \"deformable\""},
    {RUBBER, "\"mu\": 1", "body \"a\": a body without \"shapes\"; expected an array in [ ], or \"deformable\""},
    {"{\"file\": \"body.h5\"}", "{\"file\": \"other.h5\"}", "other.h5: there is nothing"},
    {"{\"file\": \"body.h5\"}", "{\"fil\": \"body.h5\"}",
     "body \"e\", deformable: unknown key \"fil\"; did you mean \"file\"?"},
    {"\"metric\": \"mass\"", "\"metric\": \"masss\"",
     "\"metric\" is \"masss\"; expected one of \"effective\", \"mass\""},
    {"\"newton\": 4", "\"newton\": 0", "\"newton\" is 0; expected a whole number from 1 to 100"},
    {"\"newmark_damping\": 0.1", "\"newmark_damping\": -1", "\"newmark_damping\" is -1"},
    {"\"position\": [0, 0, 1]", "\"position\": [0, 0, 0.1]", "overlaps body \"a\" by "},
};

static void test_mistakes(void) {
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    ds_error error = {""};
    char *text = replace(whole, mistakes[i].old, mistakes[i].new);
    CHECK(text != NULL);
    if (!text) continue;
    ds_scene *scene = read_scene(text, NULL, NULL, &error);
    bool ok = !scene && strstr(error.message, mistakes[i].message) != NULL;
    CHECK(ok);
    if (!ok) printf("  got    %s\n  wanted %s\n", scene ? "a scene" : error.message, mistakes[i].message);
    CHECK(scene || strncmp(error.message, "s.json:", 7) == 0);
    ds_scene_destroy(scene);
    free(text);
  }
}

static void test_no_loader(void) {
  ds_error error = {""};
  ds_scene_read_options options = ds_default_scene_read();
  options.folder = folder;
  options.threads = 1;
  ds_scene *scene = ds_scene_read_text_with(whole, strlen(whole), "s.json", &options, NULL, &error);
  CHECK(!scene && strstr(error.message, "this program reads no body files; give a \"shape\"") != NULL);
  ds_scene_destroy(scene);
}

/* ---- in place of what the scene says, and with a cache ---- */

static ds_reduced *give(void *user, int32_t index, ds_error *error) {
  ds_reduced **bodies = user;
  snprintf(error->message, sizeof error->message, "number %d is missing", (int)index);
  return index < 3 ? ds_reduced_retain(bodies[index]) : NULL;
}

static void test_source(void) {
  ds_error error = {""};
  ds_reduced *bodies[3] = {make_body(&error), make_body(&error), make_body(&error)};
  CHECK(bodies[0] && bodies[1] && bodies[2]);
  ds_scene_read_options options = ds_default_scene_read();
  options.surface_only = true;
  options.reduced = give;
  options.user = bodies;
  char *plain = replace(whole, ", \"reduced\": [1e-3, 0, 0, -2e-3]", ""),
       *text = replace(plain, ", \"reduced_rate\": [0, 0.1, 0]", "");
  ds_scene *scene = ds_scene_read_text_with(text, strlen(text), "s.json", &options, NULL, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n", error.message);
  if (scene) {
    static const int32_t order[] = {0, 1, 0, 1, 2}; /* of first use */
    for (int32_t i = 0; i < 5; i++) CHECK(scene->bodies[i].reduced == bodies[order[i]]);
  }
  ds_scene_destroy(scene);
  free(text);
  free(plain);
  for (int i = 0; i < 3; i++) ds_reduced_release(bodies[i]);
}

static void count(void *user, const char *name, double share) {
  loading *l = user;
  l->calls += share >= 0 && share <= 1 && strcmp(name, "rubber") == 0;
}

static void test_cache(void) {
  ds_error error = {""};
  static const char text[] =
      "{\"drystone\": 1, \"deformables\": {\"rubber\": {\"shape\": {\"file\": \"box.obj\"}, \"modes\": 3, \"tets\": "
      "60}},\n"
      " \"bodies\": [{\"deformable\": \"rubber\"}]}";
  CHECK(mkdir(place("cache"), 0777) == 0);
  for (int round = 0; round < 2; round++) {
    loading l = {0};
    char cache[100];
    snprintf(cache, sizeof cache, "%s", place("cache"));
    ds_scene_read_options options = ds_default_scene_read();
    options.folder = folder;
    options.solid_cache = cache;
    options.threads = 1;
    options.progress = count;
    options.user = &l;
    ds_scene *scene = ds_scene_read_text_with(text, sizeof text - 1, "s.json", &options, NULL, &error);
    CHECK(scene != NULL);
    if (!scene) printf("  %s\n", error.message);
    if (!scene) return;
    CHECK(l.calls > 0);
    CHECK(ds_reduced_get_info(scene->bodies[0].reduced).from_cache == (round == 1));
    ds_scene_destroy(scene);
  }
}

/* ---- changed text ---- */

static void test_mutations(void) {
  static const char *const pieces[] = {"{",      "}",           "\"",        ",",         ":",        "1e999",
                                       "-1",     "null",        "[]",        "\"shape\"", "\"file\"", "\"rubber\"",
                                       "1e-300", "\"reduced\"", "\"modes\"", "5"};
  ds_error error = {""};
  ds_reduced *bodies[3] = {make_body(&error), make_body(&error), make_body(&error)};
  size_t length = strlen(whole);
  uint64_t seed = 20261115;
  int silent = 0, rounds = getenv("DRYSTONE_TEST_QUICK") ? 300 : 2000;
  ds_scene_read_options options = ds_default_scene_read();
  options.surface_only = true;
  options.reduced = give;
  options.user = bodies;
  char *changed = malloc(length + 64);
  for (int i = 0; i < rounds; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    size_t at = (size_t)(seed >> 33) % length, n = length;
    memcpy(changed, whole, length + 1);
    if (i % 2 == 0) {
      changed[at] = (char)(seed >> 20);
      if (changed[at] == 0) changed[at] = ' ';
    } else {
      const char *piece = pieces[(seed >> 20) % (sizeof pieces / sizeof pieces[0])];
      n += strlen(piece);
      memmove(changed + at + strlen(piece), changed + at, length - at + 1);
      memcpy(changed + at, piece, strlen(piece));
    }
    ds_scene *scene = ds_scene_read_text_with(changed, n, "s.json", &options, NULL, &error);
    silent += !scene && strncmp(error.message, "s.json:", 7) != 0;
    ds_scene_destroy(scene);
  }
  free(changed);
  CHECK_NEAR(silent, 0, 0);
  for (int i = 0; i < 3; i++) ds_reduced_release(bodies[i]);
}

/* ---- generators ---- */

static void test_written(void) {
  static const ds_generator generator = {.name = "test", .summary = "test"};
  static const char recipe[] = "{\"kind\": \"box\", \"size\": [0.2, 0.2, 0.4]}";
  ds_generation g = {.generator = &generator};
  ds_generation_begin(&g, "A test.", 1);
  ds_generation_option(&g, "newton", 2);
  ds_generation_material(&g, "m", 0.5, 0);
  ds_soft_text soft = ds_default_soft_text();
  soft.recipe = recipe;
  soft.def.young = 3e5;
  soft.def.modes = 3;
  soft.def.stvk = true;
  soft.def.damping_stiffness = 0.25;
  soft.tets = 80;
  ds_generation_deformable(&g, "soft", &soft);
  soft = ds_default_soft_text();
  soft.figure = "bunny";
  soft.scale = 2;
  soft.cell = 0.05;
  ds_generation_deformable(&g, "unused", &soft);
  ds_generation_floor(&g, "m");
  static const double q[3] = {1e-3, 0, -1.0 / 3000}, rate[3] = {0, 0.5, 0};
  ds_body_def def = {.name = "one", .pose = {{0, 0, 0.5}, {1, 0, 0, 0}}, .color = {1, 0, 0}};
  ds_generation_soft(&g, "m", &def, "soft", q, rate, 3);
  def.name = "two";
  def.pose.p.z = 1.5;
  ds_generation_soft(&g, "m", &def, "soft", NULL, NULL, 0);
  ds_generation_end(&g);
  CHECK(!g.text.failed && g.text.data != NULL);
  ds_error error = {""};
  ds_run_settings run;
  ds_scene *scene = read_scene(g.text.data, NULL, &run, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n%s\n", error.message, g.text.data);
  if (scene) {
    CHECK(run.options.newton == 2);
    CHECK(scene->bodies[1].reduced && scene->bodies[1].reduced == scene->bodies[2].reduced);
    ds_reduced_info info = ds_reduced_get_info(scene->bodies[1].reduced);
    CHECK(info.modes == 3 && info.stvk && info.young == 3e5 && info.damping_stiffness == 0.25);
    ds_state *state = ds_state_create(scene);
    CHECK(state && memcmp(state->reduced, q, sizeof q) == 0 && memcmp(state->reduced_rate, rate, sizeof rate) == 0);
    ds_state_destroy(state);
  }
  ds_scene_destroy(scene);
  free(g.text.data);
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  write_box("box.obj", false);
  write_box("open.obj", true);
  RUN(test_whole);
  RUN(test_mistakes);
  RUN(test_no_loader);
  RUN(test_source);
  RUN(test_cache);
  RUN(test_mutations);
  RUN(test_written);
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(system(command) == 0);
  return test_summary();
}
