/* The folder of a sweep: journals of finished runs, and locks by which any number of processes, on one machine or on
 * several that share the folder, divide the runs among them.
 *
 * - `locks`: byte-range locks (fcntl), which end with the process that has them. One byte per run, at an offset given
 *   by its key; one per journal; and the first bytes, which hold the number of journals.
 * - `runs-000.jsonl`, ...: a line per finished run. Each has one writer at a time, which appends and waits for the
 * disk. A writer that is killed leaves at most a line without its end; the next one begins a new line, and readers skip
 * what is no result.
 *
 * A run is claimed first and looked up in the journals then: whoever had it before has written its line before the
 * claim ended. So no run is done twice, and no line is lost. Locks of a process end as soon as it closes *any*
 * descriptor of the file: `locks` is opened once and no journal is locked itself. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "sweep.h"

#define RUN_LOCKS ((uint64_t)1 << 62) /* a run's lock is at this offset or above it, ... */
enum {
  JOURNALS_MAX = 4096,
  JOURNAL_LOCKS = 1024 /* ... a journal's from here on, ... */,
  HEADER = 16 /* ... the count's below */
};

struct sweep_store {
  char *folder;
  int locks;
  int32_t own;        /* number of the journal that is written, or -1 */
  int journal;        /* its descriptor, or -1 */
  bool torn;          /* it ends within a line */
  int64_t *read;      /* bytes read of each journal */
  int32_t read_count; /* journals known */
  int32_t read_capacity;
};

static bool fail(ds_error *error, const char *what, const char *path) {
  snprintf(error->message, sizeof error->message, "%s %.300s: %s", what, path, strerror(errno));
  return false;
}

static bool lock(int file, short kind, uint64_t start, uint64_t length, bool wait) {
  struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = (off_t)start, .l_len = (off_t)length};
  int done;
  do done = fcntl(file, wait ? F_SETLKW : F_SETLK, &range);
  while (done != 0 && errno == EINTR && wait);
  return done == 0;
}

static uint64_t run_offset(const sweep_run *run) { return RUN_LOCKS | (run->key[0] & (RUN_LOCKS / 2 - 1)); }

static void journal_path(char *path, size_t size, const sweep_store *store, int32_t number) {
  snprintf(path, size, "%s/runs-%03d.jsonl", store->folder, (int)number);
}

bool sweep_store_reopen(sweep_store *store, ds_error *error) {
  char path[4096];
  sweep_store_forget(store);
  snprintf(path, sizeof path, "%s/locks", store->folder);
  store->locks = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (store->locks < 0) return fail(error, "cannot open", path);
  return (lock(store->locks, F_WRLCK, 0, HEADER, true) && lock(store->locks, F_UNLCK, 0, HEADER, true)) ||
         fail(error, "this file system has no locks (fcntl), or they do not work:", path);
}

sweep_store *sweep_store_open(const char *folder, ds_error *error) {
  sweep_store *store = calloc(1, sizeof *store);
  if (store == NULL || strlen(folder) > 3000 || (store->folder = strdup(folder)) == NULL) {
    snprintf(error->message, sizeof error->message, "out of memory, or the name of the folder is too long");
    free(store);
    return NULL;
  }
  store->own = store->journal = store->locks = -1;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    fail(error, "cannot make the folder", folder);
  else if (sweep_store_reopen(store, error))
    return store;
  sweep_store_close(store);
  return NULL;
}

void sweep_store_forget(sweep_store *store) {
  if (store->journal >= 0) close(store->journal);
  if (store->locks >= 0) close(store->locks);
  store->journal = store->locks = -1;
}

void sweep_store_close(sweep_store *store) {
  if (store == NULL) return;
  sweep_store_forget(store);
  free(store->read);
  free(store->folder);
  free(store);
}

/* The number of journals. Locking the file makes a network file system look at what the server has. */
static int32_t journal_count(const sweep_store *store, short kind) {
  char text[HEADER + 1] = "";
  if (!lock(store->locks, kind, 0, HEADER, true)) return 0;
  ssize_t n = pread(store->locks, text, HEADER, 0);
  if (kind == F_RDLCK) lock(store->locks, F_UNLCK, 0, HEADER, true);
  long count = n > 0 ? strtol(text, NULL, 10) : 0;
  return count < 0 ? 0 : count > JOURNALS_MAX ? JOURNALS_MAX : (int32_t)count;
}

/* ---- reading ---- */

static int32_t find_key(const sweep *s, const uint64_t key[2]) {
  int32_t low = 0, high = s->run_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const uint64_t *k = s->runs[s->order[middle]].key;
    if (k[0] < key[0] || (k[0] == key[0] && k[1] < key[1]))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool same_key(const sweep_run *run, const uint64_t key[2]) {
  return run->key[0] == key[0] && run->key[1] == key[1];
}

static bool read_values(sweep_run *run, const sweep *s, const ds_json *values) {
  if (values == NULL || values->kind != DS_JSON_ARRAY || values->count != s->metric_count) return false;
  sweep_value *list = calloc((size_t)s->metric_count, sizeof *list);
  if (list == NULL) return false;
  int32_t i = 0;
  for (const ds_json *v = values->first; v != NULL; v = v->next, i++) {
    list[i].number = v->kind == DS_JSON_NUMBER ? v->number : NAN;
    list[i].is_text = v->kind == DS_JSON_STRING;
    if (list[i].is_text) snprintf(list[i].text, sizeof list[i].text, "%s", v->string);
    if (v->kind == DS_JSON_NUMBER) ds_json_write_number(list[i].text, v->number);
  }
  free(run->values);
  run->values = list;
  return true;
}

static bool take_result(sweep_run *run, const sweep *s, const ds_json *root) {
  const ds_json *end = ds_json_find(root, "end"), *message = ds_json_find(root, "message");
  bool failed = end != NULL && end->kind == DS_JSON_STRING && strcmp(end->string, "failed") == 0;
  if (!failed && !read_values(run, s, ds_json_find(root, "values"))) return false;
  run->end = failed ? SWEEP_FAILED : SWEEP_DONE;
  free(run->message);
  run->message = message != NULL && message->kind == DS_JSON_STRING ? strdup(message->string) : NULL;
  return true;
}

/* One line; what is no result of this sweep is skipped. Rows with the same values have the same key. */
static void read_line(sweep *s, const char *text, size_t length) {
  ds_json_doc doc;
  ds_error ignored;
  uint64_t key[2];
  if (ds_json_parse(&doc, text, length, "journal", &ignored) != DS_OK) return;
  const ds_json *name = doc.root->kind == DS_JSON_OBJECT ? ds_json_find(doc.root, "key") : NULL;
  if (name != NULL && name->kind == DS_JSON_STRING && strlen(name->string) == 32) {
    char half[17] = "";
    memcpy(half, name->string, 16);
    key[0] = strtoull(half, NULL, 16);
    key[1] = strtoull(name->string + 16, NULL, 16);
    for (int32_t i = find_key(s, key); i < s->run_count && same_key(&s->runs[s->order[i]], key); i++)
      take_result(&s->runs[s->order[i]], s, doc.root);
  }
  ds_json_free(&doc);
}

/* Reads the complete lines of a journal that were added. */
static bool read_journal(sweep_store *store, sweep *s, int32_t number, ds_error *error) {
  char path[4096];
  struct stat status;
  journal_path(path, sizeof path, store, number);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || fail(error, "cannot read", path);
  bool ok = fstat(file, &status) == 0;
  size_t size = ok && status.st_size > store->read[number] ? (size_t)(status.st_size - store->read[number]) : 0;
  char *text = size > 0 ? malloc(size + 1) : NULL;
  ssize_t n = text != NULL ? pread(file, text, size, (off_t)store->read[number]) : 0;
  ok = ok && n >= 0 && (size == 0 || text != NULL);
  if (!ok) fail(error, "cannot read", path);
  close(file);
  char *line = text, *end;
  while (n > 0 && (end = memchr(line, '\n', (size_t)(text + n - line))) != NULL) {
    *end = '\0';
    read_line(s, line, (size_t)(end - line));
    line = end + 1;
  }
  if (n > 0) store->read[number] += line - text;
  free(text);
  return ok;
}

bool sweep_store_update(sweep_store *store, sweep *s, ds_error *error) {
  int32_t count = journal_count(store, F_RDLCK);
  if (!ds_array_reserve(&store->read, &store->read_capacity, count, sizeof *store->read)) {
    snprintf(error->message, sizeof error->message, "out of memory");
    return false;
  }
  while (store->read_count < count) store->read[store->read_count++] = 0;
  for (int32_t i = 0; i < store->read_count; i++)
    if (!read_journal(store, s, i, error)) return false;
  return true;
}

/* ---- writing ---- */

/* The first journal that nobody writes to, or a new one; the lock of the header is held. */
static bool choose_journal(sweep_store *store, int32_t count, ds_error *error) {
  for (store->own = 0; store->own < count; store->own++)
    if (lock(store->locks, F_WRLCK, JOURNAL_LOCKS + (uint64_t)store->own, 1, false)) return true;
  if (count == JOURNALS_MAX || !lock(store->locks, F_WRLCK, JOURNAL_LOCKS + (uint64_t)count, 1, false)) {
    snprintf(error->message, sizeof error->message, "%.300s: more than %d processes", store->folder, JOURNALS_MAX);
    return false;
  }
  char text[HEADER + 1];
  snprintf(text, sizeof text, "%-*d\n", HEADER - 1, (int)count + 1);
  return (pwrite(store->locks, text, HEADER, 0) == HEADER && fsync(store->locks) == 0) ||
         fail(error, "cannot write the locks in", store->folder);
}

bool sweep_store_join(sweep_store *store, int32_t *number, ds_error *error) {
  char path[4096], last = '\n';
  struct stat status;
  int32_t count = journal_count(store, F_WRLCK);
  bool ok = choose_journal(store, count, error);
  lock(store->locks, F_UNLCK, 0, HEADER, true);
  if (!ok) return false;
  journal_path(path, sizeof path, store, store->own);
  store->journal = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (store->journal < 0 || fstat(store->journal, &status) != 0) return fail(error, "cannot write", path);
  if (status.st_size > 0 && pread(store->journal, &last, 1, status.st_size - 1) != 1)
    return fail(error, "cannot read", path);
  store->torn = last != '\n';
  int folder = open(store->folder, O_RDONLY | O_CLOEXEC); /* the name itself has to reach the disk too */
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  *number = store->own;
  return true;
}

bool sweep_store_claim(sweep_store *store, const sweep_run *run) {
  return lock(store->locks, F_WRLCK, run_offset(run), 1, false);
}

void sweep_store_release(sweep_store *store, const sweep_run *run) {
  lock(store->locks, F_UNLCK, run_offset(run), 1, true);
}

/* A text in quotes, as JSON has it. */
static void put_text(FILE *out, const char *text) {
  fputc('"', out);
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(out, "\\%c", *c);
    else if (*c < 32)
      fprintf(out, "\\u%04x", *c);
    else
      fputc(*c, out);
  }
  fputc('"', out);
}

static void put_line(FILE *out, const sweep *s, const sweep_run *run) {
  fprintf(out, "{\"key\":\"%016llx%016llx\",\"end\":\"%s\"", (unsigned long long)run->key[0],
          (unsigned long long)run->key[1], run->end == SWEEP_DONE ? "done" : "failed");
  if (run->end == SWEEP_DONE) {
    fputs(",\"values\":[", out);
    for (int32_t i = 0; i < s->metric_count; i++) {
      const sweep_value *v = &run->values[i];
      if (i > 0) fputc(',', out);
      if (v->is_text)
        put_text(out, v->text);
      else
        fputs(v->text[0] != '\0' ? v->text : "null", out);
    }
    fputc(']', out);
  }
  if (run->message != NULL) {
    fputs(",\"message\":", out);
    put_text(out, run->message);
  }
  fputs("}\n", out);
}

bool sweep_store_append(sweep_store *store, const sweep *s, const sweep_run *run, ds_error *error) {
  char *text = NULL;
  size_t size = 0, done = 0;
  FILE *out = open_memstream(&text, &size);
  if (out != NULL && store->torn) fputc('\n', out);
  if (out != NULL) put_line(out, s, run);
  bool ok = out != NULL && fclose(out) == 0;
  while (ok && done < size) {
    ssize_t n = write(store->journal, text + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    ok = n > 0;
    if (ok) done += (size_t)n;
  }
  store->torn = !ok && done > 0;
  ok = ok && fsync(store->journal) == 0;
  free(text);
  return ok || fail(error, "cannot write the journal in", store->folder);
}
