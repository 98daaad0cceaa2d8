/* Which islands of a run become problem files, and under what names.
 *
 * A file holds the island's problem (docs/problems.md), its warm start as the guess, and in its title the result of the
 * solve. Names count steps and islands, so that the same run writes the same files. */
#include "dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "io/problem_file.h"

/* A run that fails its certificate in every step would fill the disk. */
enum { MOST_FILES = 1000 };

typedef enum dump_rule { DUMP_UNCONVERGED, DUMP_EVERY, DUMP_SLOWEST } dump_rule;

/* One of the slowest so far. */
typedef struct dump_entry {
  int64_t step;
  int32_t island;
  double seconds;
} dump_entry;

struct problem_dump {
  char *folder;
  char scene[64];
  dump_rule rule;
  int64_t number; /* N of every=N, K of slowest=K */
  int32_t count;  /* files there now */
  bool warned;    /* that MOST_FILES is reached */
  dump_entry *slowest;
  bool failed;
  ds_error error; /* of the first file that could not be written */
};

static bool parse_rule(problem_dump *d, const char *when, ds_error *error) {
  static const char *const names[] = {"every=", "slowest="};
  if (when == NULL || strcmp(when, "unconverged") == 0) return true; /* DUMP_UNCONVERGED */
  for (int i = 0; i < 2; i++) {
    size_t length = strlen(names[i]);
    if (strncmp(when, names[i], length) != 0) continue;
    int64_t most = i == 0 ? 1000000000 : MOST_FILES;
    d->rule = i == 0 ? DUMP_EVERY : DUMP_SLOWEST;
    if (args_integer(&d->number, when + length) && d->number >= 1 && d->number <= most) return true;
    snprintf(error->message, sizeof error->message, "--dump-when: '%.60s' is not %s and a whole number, 1 to %lld",
             when, names[i], (long long)most);
    return false;
  }
  snprintf(error->message, sizeof error->message,
           "--dump-when: '%.60s' is not one of unconverged, every=N (steps), slowest=K (islands)", when);
  return false;
}

static bool prepare_folder(const char *folder, ds_error *error) {
  struct stat info;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    snprintf(error->message, sizeof error->message, "--dump-problems: cannot create the folder %.300s: %s", folder,
             strerror(errno));
    return false;
  }
  if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
    snprintf(error->message, sizeof error->message, "--dump-problems: %.300s is not a folder", folder);
    return false;
  }
  if (access(folder, W_OK | X_OK) == 0) return true;
  snprintf(error->message, sizeof error->message, "--dump-problems: cannot write in %.300s: %s", folder,
           strerror(errno));
  return false;
}

problem_dump *dump_create(const char *folder, const char *when, const ds_run_settings *run, ds_error *error) {
  problem_dump *d = calloc(1, sizeof *d);
  if (d == NULL || (d->folder = malloc(strlen(folder) + 1)) == NULL) {
    snprintf(error->message, sizeof error->message, "out of memory");
    dump_destroy(d);
    return NULL;
  }
  strcpy(d->folder, folder);
  /* names of scenes may have any characters; names of files should be plain */
  snprintf(d->scene, sizeof d->scene, "%s", run->name[0] != '\0' ? run->name : "scene");
  for (char *c = d->scene; *c != '\0'; c++) {
    bool plain = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') || *c == '_';
    if (!plain) *c = '-';
  }
  bool ok = parse_rule(d, when, error) && prepare_folder(folder, error);
  if (ok && d->rule == DUMP_SLOWEST) {
    d->slowest = calloc((size_t)d->number, sizeof *d->slowest);
    if (d->slowest == NULL) snprintf(error->message, sizeof error->message, "out of memory");
    ok = d->slowest != NULL;
  }
  if (ok) return d;
  dump_destroy(d);
  return NULL;
}

void dump_destroy(problem_dump *d) {
  if (d == NULL) return;
  free(d->folder);
  free(d->slowest);
  free(d);
}

int32_t dump_count(const problem_dump *d) { return d->count; }

bool dump_ok(const problem_dump *d, ds_error *error) {
  if (d->failed) *error = d->error;
  return !d->failed;
}

static void fail(problem_dump *d, const char *message) {
  d->failed = true;
  snprintf(d->error.message, sizeof d->error.message, "%s", message);
}

/* Freed by the caller; NULL if memory ran out. */
static char *file_path(const problem_dump *d, int64_t step, int32_t island) {
  size_t room = strlen(d->folder) + sizeof d->scene + 64;
  char *path = malloc(room);
  if (path == NULL) return NULL;
  snprintf(path, room, "%s/%s-step%06lld-island%d.hdf5", d->folder, d->scene, (long long)step, (int)island);
  return path;
}

static void write_problem(problem_dump *d, const ds_observation *o) {
  char title[128];
  snprintf(title, sizeof title, "%.50s step %lld island %d: error %.2g, tolerance %g", d->scene, (long long)o->step,
           (int)o->island, o->certificate->natural_error, o->certificate->tolerance);
  char *path = file_path(d, o->step, o->island);
  ds_error error = {{0}};
  if (path == NULL)
    fail(d, "out of memory");
  else if (ds_problem_file_write(path, o->problem, o->start, title, &error) != DS_OK)
    fail(d, error.message);
  else
    d->count++;
  free(path);
}

static void remove_problem(problem_dump *d, const dump_entry *entry) {
  char *path = file_path(d, entry->step, entry->island);
  if (path == NULL) {
    fail(d, "out of memory");
  } else if (unlink(path) != 0 && errno != ENOENT) {
    d->failed = true;
    snprintf(d->error.message, sizeof d->error.message, "%.300s: cannot be removed: %s", path, strerror(errno));
  }
  d->count--;
  free(path);
}

/* A slower one replaces the fastest of the K slowest. */
static void consider(problem_dump *d, const ds_observation *o) {
  int32_t place = d->count;
  if (place == d->number) {
    place = 0;
    for (int32_t i = 1; i < d->count; i++)
      if (d->slowest[i].seconds < d->slowest[place].seconds) place = i;
    if (o->seconds <= d->slowest[place].seconds) return;
    remove_problem(d, &d->slowest[place]);
    if (d->failed) return;
  }
  write_problem(d, o);
  d->slowest[place] = (dump_entry){o->step, o->island, o->seconds};
}

static bool is_wanted(const problem_dump *d, const ds_observation *o) {
  return d->rule == DUMP_EVERY ? o->step % d->number == 0 : !o->certificate->converged;
}

void dump_observe(void *user, const ds_observation *o) {
  problem_dump *d = user;
  if (d->failed) return;
  if (d->rule == DUMP_SLOWEST) {
    consider(d, o);
    return;
  }
  if (!is_wanted(d, o)) return;
  if (d->count < MOST_FILES) {
    write_problem(d, o);
  } else if (!d->warned) {
    d->warned = true;
    fprintf(stderr, "drystone run: %d problems were written to %s, the limit; no more are written\n", MOST_FILES,
            d->folder);
  }
}
