/* Solids kept on disk: a second build is read back bit for bit; a damaged, cut, foreign or unreadable file is built
 * anew and replaced; a folder that cannot be used is no error. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "mesh/solid.h"
#include "sample_meshes.h"

static char folder[] = "test_solid_cache_XXXXXX";

/* The only .solid file of the folder. */
static int32_t find_file(char path[256]) {
  int32_t count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, 256, "%s/%.200s", folder, entry->d_name);
    count++;
  }
  if (dir) closedir(dir);
  return count;
}

static void empty_folder(void) {
  char path[256];
  while (find_file(path) > 0)
    if (remove(path) != 0) abort();
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) abort();
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) abort();
  fclose(file);
  return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

static ds_solid *create(const char *cache, double cell) {
  ds_mesh mesh = mesh_l(0.4);
  ds_solid_def def = ds_default_solid();
  ds_error error = {""};
  def.cell = cell;
  def.spacing = 0.4;
  def.threads = 1;
  def.cache = cache;
  ds_solid *solid = ds_solid_create(&mesh, &def, &error);
  if (!solid) {
    printf("%s\n", error.message);
    abort();
  }
  mesh_drop(&mesh);
  return solid;
}

static bool same_bytes(const void *a, const void *b, int64_t count, size_t size) {
  return memcmp(a, b, (size_t)count * size) == 0;
}

static bool same_solid(const ds_solid *a, const ds_solid *b) {
  const ds_distance_field *f = &a->field, *g = &b->field;
  const ds_samples *s = &a->samples, *t = &b->samples;
  int64_t cells = f->size[0] * f->size[1] * f->size[2];
  int64_t points = (f->size[0] + 1) * (f->size[1] + 1) * (f->size[2] + 1);
  ds_solid_info i = a->info, j = b->info;
  return i.cell == j.cell && i.spacing == j.spacing && i.thickness == j.thickness && i.bytes == j.bytes &&
         i.volume == j.volume && i.area == j.area && i.cells == j.cells && a->error == b->error &&
         same_bytes(&i.low, &j.low, 1, sizeof i.low) && same_bytes(&f->origin, &g->origin, 1, sizeof f->origin) &&
         f->coarse == g->coarse && f->fine == g->fine && f->brick_count == g->brick_count &&
         same_bytes(f->size, g->size, 3, sizeof f->size[0]) &&
         same_bytes(f->values, g->values, points, sizeof *f->values) &&
         same_bytes(f->brick, g->brick, cells, sizeof *f->brick) &&
         same_bytes(f->bricks, g->bricks, f->brick_count * 729, sizeof *f->bricks) && s->count == t->count &&
         s->ball_count == t->ball_count && same_bytes(s->points, t->points, s->count, sizeof *s->points) &&
         same_bytes(s->normals, t->normals, s->count, sizeof *s->normals) &&
         same_bytes(s->ids, t->ids, s->count, sizeof *s->ids) &&
         same_bytes(s->balls, t->balls, s->ball_count, sizeof *s->balls);
}

static void hit(void) {
  char path[256];
  ds_solid *plain = create(NULL, 0.2), *first = create(folder, 0.2);
  CHECK(find_file(path) == 1);
  ds_solid *second = create(folder, 0.2);
  CHECK(!plain->info.from_cache && !first->info.from_cache && second->info.from_cache);
  CHECK(same_solid(plain, first) && same_solid(first, second));
  CHECK(ds_solid_distance(NULL, second, v3(0.5, 0.5, 0.3)) == ds_solid_distance(NULL, first, v3(0.5, 0.5, 0.3)));
  /* other parameters, other file */
  ds_solid *other = create(folder, 0.25);
  CHECK(!other->info.from_cache && find_file(path) == 2);
  ds_solid_release(plain);
  ds_solid_release(first);
  ds_solid_release(second);
  ds_solid_release(other);
}

/* With the file as it is now: built anew, equal, and the file is good again. */
static void check_rebuilt(const ds_solid *want, const char *what, size_t where) {
  ds_solid *built = create(folder, 0.2);
  if (built->info.from_cache) printf("taken although %s, %zu\n", what, where);
  CHECK(!built->info.from_cache && same_solid(want, built));
  ds_solid_release(built);
}

static void damage(void) {
  char path[256];
  size_t size;
  empty_folder();
  ds_solid *want = create(folder, 0.2);
  CHECK(find_file(path) == 1);
  char *bytes = read_file(path, &size);
  size_t step = 1 + size / 60;
  for (size_t i = 0; i < size; i += i < 64 || i + 16 > size ? 1 : step) {
    bytes[i] ^= (char)(1 << i % 8);
    write_file(path, bytes, size);
    bytes[i] ^= (char)(1 << i % 8);
    check_rebuilt(want, "damaged at byte", i);
  }
  for (size_t i = 0; i < size; i += i < 16 ? 1 : size / 8) {
    write_file(path, bytes, i);
    check_rebuilt(want, "cut to", i);
  }
  bytes[size] = 7;
  write_file(path, bytes, size + 1);
  check_rebuilt(want, "longer by", 1);
  ds_solid *again = create(folder, 0.2);
  CHECK(again->info.from_cache && same_solid(want, again) && find_file(path) == 1);
  ds_solid_release(again);
  ds_solid_release(want);
  free(bytes);
}

static void foreign(void) {
  char path[256];
  size_t size;
  empty_folder();
  ds_solid *want = create(folder, 0.2);
  CHECK(find_file(path) == 1);
  char text[4000];
  memset(text, 'x', sizeof text);
  write_file(path, text, sizeof text);
  check_rebuilt(want, "text", sizeof text);
  /* the sound file of another solid under this name */
  char other_path[256], *other;
  ds_solid_release(create(folder, 0.3));
  CHECK(find_file(other_path) == 2);
  if (strcmp(other_path, path) == 0) {
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
      if (entry->d_name[0] != '.' && !strstr(path, entry->d_name))
        snprintf(other_path, sizeof other_path, "%s/%.200s", folder, entry->d_name);
    if (dir) closedir(dir);
  }
  CHECK(strcmp(other_path, path) != 0);
  other = read_file(other_path, &size);
  write_file(path, other, size);
  free(other);
  check_rebuilt(want, "another solid's", size);
  /* a folder where the file should be: cannot be replaced, does not matter */
  remove(path);
  CHECK(mkdir(path, 0777) == 0);
  check_rebuilt(want, "a folder", 0);
  check_rebuilt(want, "a folder", 0);
  CHECK(rmdir(path) == 0);
  /* a pipe does not hang the reader */
  CHECK(mkfifo(path, 0666) == 0);
  check_rebuilt(want, "a pipe", 0);
  ds_solid_release(want);
}

static void unusable_folder(void) {
  char path[300];
  ds_solid *want = create(NULL, 0.2);
  static const char *const folders[] = {"/nonexistent/deep/folder", "/dev/null"};
  for (int i = 0; i < 2; i++) {
    ds_solid *solid = create(folders[i], 0.2);
    CHECK(!solid->info.from_cache && same_solid(want, solid));
    ds_solid_release(solid);
  }
  /* a folder that is not there yet is made */
  empty_folder();
  snprintf(path, sizeof path, "%s/new", folder);
  ds_solid_release(create(path, 0.2));
  ds_solid *solid = create(path, 0.2);
  CHECK(solid->info.from_cache && same_solid(want, solid));
  ds_solid_release(solid);
  DIR *dir = opendir(path);
  CHECK(dir != NULL);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char inner[600];
    if (entry->d_name[0] == '.') continue;
    snprintf(inner, sizeof inner, "%s/%.200s", path, entry->d_name);
    remove(inner);
  }
  if (dir) closedir(dir);
  CHECK(rmdir(path) == 0);
  ds_solid_release(want);
}

/* A mesh that cannot be used stays refused, and leaves nothing behind. */
static void bad_mesh(void) {
  char path[256];
  empty_folder();
  ds_mesh mesh = mesh_l(0.4);
  ds_solid_def def = ds_default_solid();
  def.cache = folder;
  mesh.triangle_count--;
  for (int i = 0; i < 2; i++) {
    ds_error error = {""};
    CHECK(ds_solid_create(&mesh, &def, &error) == NULL && strstr(error.message, "open"));
  }
  CHECK(find_file(path) == 0);
  mesh_drop(&mesh);
}

int main(void) {
  if (!mkdtemp(folder)) {
    printf("no folder for the test\n");
    return 1;
  }
  RUN(hit);
  RUN(damage);
  RUN(foreign);
  RUN(unusable_folder);
  RUN(bad_mesh);
  empty_folder();
  CHECK(rmdir(folder) == 0);
  return test_summary();
}
