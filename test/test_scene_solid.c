/* Solids in scene files: figures, files and recipes become shapes with the right mass, each built once and only where
 * used; every mistake is named with its line; the reader's options reach the building; generators can write them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(place(name), "wb");
  CHECK(file != NULL);
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

/* A cube of edge 2, corner at the origin; `open` leaves a triangle out. */
static void write_cube(const char *name, bool open) {
  char text[1024] = "";
  size_t n = 0;
  for (int i = 0; i < 8; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "v %d %d %d\n", 2 * (i & 1), i & 2, (i & 4) / 2);
  static const int faces[6][4] = {{2, 4, 8, 6}, {1, 5, 7, 3}, {3, 7, 8, 4}, {1, 2, 6, 5}, {5, 6, 8, 7}, {1, 3, 4, 2}};
  for (int f = open; f < 6; f++)
    n += (size_t)snprintf(text + n, sizeof text - n, "f %d %d %d\nf %d %d %d\n", faces[f][0], faces[f][1], faces[f][2],
                          faces[f][0], faces[f][2], faces[f][3]);
  write_file(name, text);
}

/* The same without a file. */
static ds_status give_cube(void *user, ds_mesh *mesh, const char *name, ds_error *error) {
  if (user) ++*(int *)user;
  if (strcmp(name, "nothing") == 0) {
    snprintf(error->message, sizeof error->message, "there is nothing");
    return DS_ERROR_INPUT;
  }
  return ds_mesh_read(mesh, place("cube.obj"), 1, error);
}

static const char whole[] =
    "{\"drystone\": 1,\n"
    " \"solids\": {\"note\": \"n\",\n"
    "  \"cube\": {\"file\": \"cube.obj\", \"scale\": 0.1, \"cell\": 0.02, \"spacing\": 0.05, \"note\": \"n\"},\n"
    "  \"box\": {\"recipe\": {\"kind\": \"box\", \"size\": [0.3, 0.2, 0.1]}, \"cell\": 0.02},\n"
    "  \"unused\": {\"file\": \"none.obj\"}},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"a\", \"density\": 500, \"shapes\": [{\"kind\": \"solid\", \"solid\": \"cube\", \"note\": "
    "\"n\"}]},\n"
    "  {\"name\": \"b\", \"position\": [0, 0, 1], \"shapes\": [{\"kind\": \"solid\", \"solid\": \"box\"}]},\n"
    "  {\"name\": \"c\", \"position\": [0, 0, 2], \"shapes\": [{\"kind\": \"solid\", \"solid\": \"cube\",\n"
    "    \"position\": [1, 0, 0], \"density\": 250}, {\"kind\": \"sphere\", \"radius\": 0.1}]}\n"
    " ]}\n";

static ds_scene *read_scene(const char *text, const ds_scene_read_options *options, ds_error *error) {
  ds_scene_read_options own = options ? *options : ds_default_scene_read();
  if (!own.folder) own.folder = folder;
  own.threads = 1;
  return ds_scene_read_text_with(text, strlen(text), "s.json", &own, NULL, error);
}

static void test_whole(void) {
  ds_error error = {""};
  ds_scene *scene = read_scene(whole, NULL, &error);
  CHECK(scene != NULL);
  if (!scene) {
    printf("  %s\n", error.message);
    return;
  }
  ds_body_id a = ds_scene_find_body(scene, "a"), b = ds_scene_find_body(scene, "b"), c = ds_scene_find_body(scene, "c");
  ds_mass mass = ds_body_mass(scene, a);
  CHECK_NEAR(mass.mass, 500 * 0.008, 1e-12);
  CHECK_NEAR(mass.center.x, 0.1, 1e-12);
  CHECK_NEAR(mass.inertia[0], 4 * 0.04 / 6, 1e-12);
  ds_shape_def cube = ds_body_shape(scene, a, 0), other = ds_body_shape(scene, c, 0);
  CHECK(cube.kind == DS_SHAPE_SOLID && cube.solid != NULL && strcmp(ds_solid_name(cube.solid), "cube") == 0);
  CHECK(cube.solid == other.solid); /* built once */
  CHECK_NEAR(other.pose.p.x, 1, 0);
  CHECK_NEAR(other.density, 250, 0);
  ds_solid_info info = ds_solid_get_info(cube.solid);
  CHECK_NEAR(info.cell, 0.02, 1e-12);
  CHECK_NEAR(info.spacing, 0.05, 1e-12);
  CHECK_NEAR(ds_solid_distance(NULL, cube.solid, (ds_vec3){0.1, 0.1, 0.1}), -0.1, 1e-3);
  CHECK_NEAR(ds_body_mass(scene, b).mass, 1000 * 0.006, 0.06);
  ds_scene_destroy(scene);
}

/* ---- mistakes ---- */

#define BOX "\"recipe\": {\"kind\": \"box\", \"size\": [0.3, 0.2, 0.1]}, \"cell\": 0.02"
static const mistake mistakes[] = {
    {"\"file\": \"cube.obj\", ", "",
     "s.json:3:11: solid \"cube\": nothing says what the solid is; expected one of \"figure\", \"file\", "
     "\"mesh\" and \"recipe\""},
    {"\"file\": \"cube.obj\"", "\"file\": \"cube.obj\", \"figure\": \"king\"",
     "solid \"cube\": the solid is said to be several things; expected one of"},
    {"\"file\": \"cube.obj\"", "\"fil\": \"cube.obj\"", "solid \"cube\": unknown key \"fil\"; did you mean \"file\"?"},
    {"\"file\": \"cube.obj\"", "\"file\": 3", "solid \"cube\": \"file\" is a number; expected a text"},
    {"\"file\": \"cube.obj\"", "\"file\": \"\"", "solid \"cube\": \"file\" is empty"},
    {"\"file\": \"cube.obj\"", "\"file\": \"open.obj\"",
     "s.json:3:11: solid \"cube\": the mesh has faults: open, 4 times"},
    {"\"file\": \"cube.obj\"", "\"file\": \"no.obj\"", "no.obj"},
    {"\"file\": \"cube.obj\"", "\"file\": \"bad.obj\"", "bad.obj"},
    {"\"file\": \"cube.obj\"", "\"file\": \"cube.xyz\"", "cube.xyz"},
    {"\"file\": \"cube.obj\"", "\"figure\": \"kign\"",
     "s.json:3:22: solid \"cube\": unknown figure \"kign\"; did you mean \"king\"?"},
    {"\"file\": \"cube.obj\"", "\"figure\": \"zzzzzzzzz\"", "unknown figure \"zzzzzzzzz\"; known are king "},
    {"\"scale\": 0.1", "\"scale\": 0", "solid \"cube\": \"scale\" is 0; expected a number above 0"},
    {"\"scale\": 0.1", "\"scale\": -1", "\"scale\" is -1; expected a number above 0"},
    {"\"cell\": 0.02, ", "\"cell\": 0, ", "\"cell\" is 0; expected a number above 0"},
    {"\"cell\": 0.02, ", "\"cell\": 1e-9, ", "solid \"cube\": cell = 1e-09 m is too fine"},
    {"\"spacing\": 0.05", "\"spacing\": \"x\"", "\"spacing\" is a text; expected a number (m)"},
    {BOX, "\"recipe\": {\"kind\": \"box\", \"size\": [0.3, 0.2, 0.1]}, \"scale\": 2",
     "solid \"box\": \"scale\" of a recipe; give its sizes in m"},
    {BOX, "\"recipe\": 5", "solid \"box\": \"recipe\" is a number; expected an object"},
    {BOX, "\"recipe\": {\"kind\": \"bxo\", \"size\": [1, 1, 1]}", "s.json:4:30: "},
    {BOX, "\"recipe\": {\n \"kind\": \"box\",\n  \"siez\": [1, 1, 1]}", "s.json:6:3: "},
    {"\"solid\": \"box\"", "\"solid\": \"bxo\"",
     "s.json:8:78: body \"b\", shapes[0]: unknown solid \"bxo\"; did you mean \"box\"?"},
    {"\"solid\": \"box\"", "\"solid\": \"marble\"", "unknown solid \"marble\"; add it to \"solids\" at the top"},
    {"\"solid\": \"box\"", "\"solid\": 3", "body \"b\", shapes[0]: \"solid\" is a number; expected a text"},
    {", \"solid\": \"box\"", "", "a shape of kind \"solid\" without \"solid\"; expected a text"},
    {"\"kind\": \"solid\", \"solid\": \"box\"", "\"kind\": \"sphere\", \"radius\": 1, \"solid\": \"box\"",
     "unknown key \"solid\""},
    {"\"unused\": {", "\"un/used\": {", "the name \"un/used\"; expected one without \"/\""},
    {"\"unused\": {", "\".\": {", "expected one without \"/\" that is not \".\""},
    {"\"unused\": {", "\"\": {", "the name is empty"},
    {"\"unused\": {", "\"a\\u0007\": {", "the name holds a control character"},
    {"\"unused\": {", "\"0123456789012345678901234567890123456789012345678901234567890123\": {",
     "the name has 64 bytes; expected at most 63"},
    {"{\"file\": \"none.obj\"}", "5", "solid \"unused\": a number where a solid should stand"},
    {"\"position\": [0, 0, 1]", "\"position\": [0.1, 0.1, 0.1]", "body \"b\": overlaps body \"a\" by "},
};

static void test_mistakes(void) {
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    ds_error error = {""};
    char *text = replace(whole, mistakes[i].old, mistakes[i].new);
    CHECK(text != NULL);
    if (!text) continue;
    ds_scene *scene = read_scene(text, NULL, &error);
    bool ok = !scene && strstr(error.message, mistakes[i].message) != NULL;
    CHECK(ok);
    if (!ok) printf("  got    %s\n  wanted %s\n", scene ? "a scene" : error.message, mistakes[i].message);
    CHECK(scene || strncmp(error.message, "s.json:", 7) == 0);
    ds_scene_destroy(scene);
    free(text);
  }
}

/* ---- options ---- */

typedef struct seen {
  int calls, wrong;
  double last;
  char names[64];
} seen;

static void see(void *user, const char *solid, double share) {
  seen *s = user;
  s->calls++;
  s->wrong += !(share >= 0 && share <= 1);
  s->last = share;
  if (!strstr(s->names, solid)) strncat(s->names, solid, sizeof s->names - strlen(s->names) - 1);
}

static void test_progress_and_cache(void) {
  ds_error error = {""};
  char cache[100];
  snprintf(cache, sizeof cache, "%s", place("cache"));
  CHECK(mkdir(cache, 0777) == 0);
  for (int round = 0; round < 2; round++) {
    seen s = {0};
    ds_scene_read_options options = ds_default_scene_read();
    options.solid_cache = cache;
    options.progress = see;
    options.user = &s;
    ds_scene *scene = read_scene(whole, &options, &error);
    CHECK(scene != NULL);
    if (!scene) return;
    CHECK(s.calls >= 2 && s.wrong == 0);
    CHECK_NEAR(s.last, 1, 0);
    CHECK(strcmp(s.names, "cubebox") == 0);
    ds_solid *solid = ds_body_shape(scene, ds_scene_body(scene, 0), 0).solid;
    CHECK(ds_solid_get_info(solid).from_cache == (round == 1));
    CHECK_NEAR(ds_body_mass(scene, ds_scene_body(scene, 0)).mass, 4, 1e-12);
    ds_scene_destroy(scene);
  }
}

static void test_surface_only(void) {
  ds_error error = {""};
  int calls = 0;
  ds_scene_read_options options = ds_default_scene_read();
  options.surface_only = true;
  options.meshes = give_cube;
  options.user = &calls;
  char *text = replace(whole, "\"position\": [0, 0, 1]", "\"position\": [0.1, 0, 0]"); /* no overlap is looked for */
  ds_scene *scene = read_scene(text, &options, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n", error.message);
  if (scene) {
    CHECK(calls == 2);
    ds_solid_info info = ds_solid_get_info(ds_body_shape(scene, ds_scene_body(scene, 1), 0).solid);
    CHECK(info.samples == 0 && info.cells == 0);
    CHECK_NEAR(ds_body_mass(scene, ds_scene_body(scene, 1)).mass, 8000, 1e-9);
  }
  ds_scene_destroy(scene);
  free(text);
  char *nothing = replace(whole, "\"box\"", "\"nothing\"");
  text = replace(nothing, "\"solid\": \"box\"", "\"solid\": \"nothing\"");
  scene = read_scene(text, &options, &error);
  CHECK(!scene && strstr(error.message, "s.json:4:14: solid \"nothing\": there is nothing") != NULL);
  if (!scene && !strstr(error.message, "there is nothing")) printf("  %s\n", error.message);
  ds_scene_destroy(scene);
  free(text);
  free(nothing);
}

/* Files are relative to the scene file wherever the program stands. */
static void test_relative_files(void) {
  ds_error error = {""};
  char path[100];
  write_file("s.json", whole);
  snprintf(path, sizeof path, "%s", place("s.json"));
  ds_scene *scene = ds_scene_read_file(path, NULL, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n", error.message);
  ds_scene_destroy(scene);
  char absolute[256];
  snprintf(absolute, sizeof absolute, "\"file\": \"%s\"", place("cube.obj"));
  char *text = replace(whole, "\"file\": \"cube.obj\"", absolute);
  scene = ds_scene_read_text(text, strlen(text), "elsewhere.json", NULL, &error);
  CHECK(scene != NULL);
  ds_scene_destroy(scene);
  free(text);
  scene = ds_scene_read_text(whole, strlen(whole), "elsewhere.json", NULL, &error);
  CHECK(!scene && strstr(error.message, "cube.obj") != NULL);
  ds_scene_destroy(scene);
}

/* ---- changed text ---- */

static void test_mutations(void) {
  static const char *const pieces[] = {"{",      "}",          "\"",        ",",         ":",        "1e999",
                                       "-1",     "null",       "[]",        "\"solid\"", "\"file\"", "\"cube\"",
                                       "1e-300", "\"figure\"", "\"scale\"", "5"};
  size_t length = strlen(whole);
  uint64_t seed = 20261115;
  int silent = 0, read = 0, rounds = getenv("DRYSTONE_TEST_QUICK") ? 300 : 1500;
  ds_scene_read_options options = ds_default_scene_read();
  options.surface_only = true;
  options.meshes = give_cube;
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
    ds_error error = {""};
    ds_scene *scene = ds_scene_read_text_with(changed, n, "s.json", &options, NULL, &error);
    read += scene != NULL;
    silent += !scene && strncmp(error.message, "s.json:", 7) != 0;
    ds_scene_destroy(scene);
  }
  free(changed);
  CHECK_NEAR(silent, 0, 0);
  CHECK(read > 0);
}

/* ---- generators ---- */

static void test_generation(void) {
  static const ds_generator generator = {.name = "kings", .summary = "s"};
  ds_generation g = {.generator = &generator};
  ds_body_def def = {.name = "king", .pose = {{0, 0, 1}, {1, 0, 0, 0}}};
  ds_shape_def shapes[2] = {{.kind = DS_SHAPE_SOLID, .density = 500, .pose = {{1, 0, 0}, {0, 1, 0, 0}}},
                            {.kind = DS_SHAPE_SPHERE, .density = 500, .radius = 0.1}};
  const char *const names[2] = {"block", NULL};
  ds_generation_begin(&g, "n.", 1);
  ds_generation_material(&g, "wood", 0.5, 0);
  ds_generation_solid_figure(&g, "king", "king", 2);
  ds_generation_solid_recipe(&g, "block", "{\"kind\": \"box\", \"size\": [0.2, 0.2, 0.2]}", 0.02);
  ds_generation_floor(&g, "wood");
  ds_generation_solid(&g, "wood", &def, "block", 700);
  def.name = "both";
  def.pose.p.z = 3;
  ds_generation_body_of(&g, "wood", &def, shapes, names, 2);
  ds_generation_end(&g);
  CHECK(!g.text.failed);
  ds_error error = {""};
  ds_scene *scene = read_scene(g.text.data, NULL, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n%s\n", error.message, g.text.data);
  if (scene) {
    ds_shape_def king = ds_body_shape(scene, ds_scene_body(scene, 1), 0);
    ds_shape_def both = ds_body_shape(scene, ds_scene_body(scene, 2), 0);
    CHECK(king.kind == DS_SHAPE_SOLID && king.solid == both.solid && both.pose.p.x == 1);
    CHECK_NEAR(king.density, 700, 0);
    CHECK_NEAR(both.pose.q.x, 1, 0);
    CHECK_NEAR(ds_body_mass(scene, ds_scene_body(scene, 1)).mass, 700 * 0.008, 0.05);
  }
  ds_scene_destroy(scene);
  free(g.text.data);
}

static void clean_up(void) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(system(command) == 0);
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  write_cube("cube.obj", false);
  write_cube("open.obj", true);
  write_file("bad.obj", "v 0 0\nf 1 2 3\n");
  write_file("cube.xyz", "0 0 0\n");
  RUN(test_whole);
  RUN(test_mistakes);
  RUN(test_progress_and_cache);
  RUN(test_surface_only);
  RUN(test_relative_files);
  RUN(test_mutations);
  RUN(test_generation);
  clean_up();
  return test_summary();
}
