/* drystone sweep: many runs of one scene. A pool of workers on this machine, or one worker of a cluster's job;
 * progress; tables and maps at the end. docs/sweep.md. */
#include "sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "args.h"
#include "base/thread.h"
#include "command.h"

enum { WORKERS_MAX = 256, USELESS_MAX = 10 /* workers that end without a result, one after the other */ };

typedef struct sweeping {
  const char *file, *folder;
  int32_t workers, show;
  bool has_show, collect, worker, retry, list, strict, quiet;
  char default_folder[2048];
  sweep s;
  sweep_store *store;
  int32_t before; /* runs that were finished when it began */
} sweeping;

typedef struct tally {
  int32_t done, failed;
} tally;

static int complain(const char *message) {
  fprintf(stderr, "drystone sweep: %s\n", message);
  return EXIT_INPUT;
}

/* ---- arguments ---- */

/* Whether this process is one of many that a cluster started with the same command. */
static bool is_one_of_many(void) {
  static const char *const marks[] = {"SLURM_ARRAY_TASK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (getenv(marks[i]) != NULL) return true;
  const char *tasks = getenv("SLURM_NTASKS");
  return getenv("SLURM_PROCID") != NULL && tasks != NULL && atoi(tasks) > 1;
}

static bool parse(sweeping *w, const char **words, int argc, char **argv) {
  bool given = false;
  const arg_option table[] = {
      {"--output", "-o", ARG_TEXT, &w->folder, 0, 0, NULL, NULL},
      {"--workers", "-j", ARG_INTEGER, &w->workers, 0, WORKERS_MAX, NULL, &given},
      {"--worker", NULL, ARG_FLAG, &w->worker, 0, 0, NULL, NULL},
      {"--collect", NULL, ARG_FLAG, &w->collect, 0, 0, NULL, NULL},
      {"--list", NULL, ARG_FLAG, &w->list, 0, 0, NULL, NULL},
      {"--show", NULL, ARG_INTEGER, &w->show, 1, SWEEP_RUNS_MAX, NULL, &w->has_show},
      {"--retry", NULL, ARG_FLAG, &w->retry, 0, 0, NULL, NULL},
      {"--strict", NULL, ARG_FLAG, &w->strict, 0, 0, NULL, NULL},
      {"--quiet", "-q", ARG_FLAG, &w->quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1) {
    complain(list.count == 0 ? "give a sweep file; docs/sweep.md describes it" : "give one sweep file only");
    return false;
  }
  w->file = words[0];
  if (!given && is_one_of_many()) w->worker = true;
  if (w->workers == 0) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    w->workers = cores < 1 ? 1 : cores > WORKERS_MAX ? WORKERS_MAX : (int32_t)cores;
  }
  if (w->folder == NULL) { /* "map.json" has its results in "map.sweep" */
    size_t length = strlen(w->file);
    if (args_ends_in(w->file, ".json")) length -= 5;
    snprintf(w->default_folder, sizeof w->default_folder, "%.*s.sweep", (int)length, w->file);
    w->folder = w->default_folder;
  }
  return true;
}

/* ---- listing ---- */

/* A word as a shell takes it. */
static void print_word(const char *word) {
  if (word[0] != '\0' &&
      strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/") == strlen(word)) {
    printf(" %s", word);
    return;
  }
  fputs(" '", stdout);
  for (; *word != '\0'; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stdout);
  fputc('\'', stdout);
}

static bool print_command(const sweep *s, int32_t run) {
  sweep_words words;
  if (!sweep_words_make(&words, s, run)) return false;
  fputs("drystone", stdout);
  for (int32_t i = 0; i < words.count; i++) print_word(words.word[i]);
  fputc('\n', stdout);
  sweep_words_free(&words);
  return true;
}

static int show(const sweeping *w) {
  if (w->has_show && w->show > w->s.run_count) {
    fprintf(stderr, "drystone sweep: --show %d: there are %d runs\n", (int)w->show, (int)w->s.run_count);
    return EXIT_INPUT;
  }
  int32_t first = w->has_show ? w->show - 1 : 0, last = w->has_show ? w->show : w->s.run_count;
  for (int32_t i = first; i < last; i++)
    if (!print_command(&w->s, i)) return complain("out of memory");
  return EXIT_OK;
}

/* ---- progress ---- */

static tally count(const sweep *s) {
  tally t = {0};
  for (int32_t i = 0; i < s->run_count; i++) {
    t.done += s->runs[i].end == SWEEP_DONE;
    t.failed += s->runs[i].end == SWEEP_FAILED;
  }
  return t;
}

static void format_time(char *text, size_t size, double seconds) {
  if (seconds < 90)
    snprintf(text, size, "%.0f s", seconds);
  else if (seconds < 5400)
    snprintf(text, size, "%.0f min", seconds / 60);
  else if (seconds < 172800)
    snprintf(text, size, "%.1f h", seconds / 3600);
  else
    snprintf(text, size, "%.1f days", seconds / 86400);
}

/* Time left: as many seconds per run as so far. */
static void print_progress(const sweeping *w, tally t, double seconds) {
  int32_t ended = t.done + t.failed, here = ended - w->before, left = w->s.run_count - ended;
  char remaining[32] = "?";
  if (here > 0) format_time(remaining, sizeof remaining, seconds / here * left);
  fprintf(stderr, "\r\x1b[K%d of %d runs, %.0f %%, %.3g per s, %s left", (int)ended, (int)w->s.run_count,
          100.0 * ended / w->s.run_count, seconds > 0 ? here / seconds : 0, remaining);
  if (t.failed > 0) fprintf(stderr, ", %d failed", (int)t.failed);
}

/* ---- the pool ---- */

static pid_t start_worker(sweeping *w) {
  fflush(NULL);
  pid_t child = fork();
  if (child != 0) return child;
  ds_error error = {""};
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  bool ok = sweep_store_reopen(w->store, &error) && sweep_work(&w->s, w->store, w->folder, &error);
  if (!ok) complain(error.message);
  fflush(NULL);
  _exit(ok ? EXIT_OK : EXIT_INPUT);
}

typedef struct pool {
  pid_t worker[WORKERS_MAX];
  int32_t live;
  int32_t useless; /* that died since the last result */
  bool failed;
} pool;

/* Notes workers that ended, and replaces those that were killed. */
static void reap(sweeping *w, pool *p, bool progressed, bool left) {
  int status;
  pid_t ended;
  if (progressed) p->useless = 0;
  while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    for (int32_t i = 0; i < w->workers; i++) {
      if (p->worker[i] != ended) continue;
      p->worker[i] = 0;
      p->live--;
      if (WIFEXITED(status) && WEXITSTATUS(status) != EXIT_OK) p->failed = true;
      if (!WIFSIGNALED(status) || sweep_stopped || p->failed || !left) continue;
      if (++p->useless > USELESS_MAX) {
        complain("workers are killed again and again; is there enough memory?");
        p->failed = true;
      } else if ((p->worker[i] = start_worker(w)) > 0) {
        p->live++;
      }
    }
  }
}

static bool run_pool(sweeping *w, ds_error *error) {
  pool p = {{0}, 0, 0, false};
  double begin = ds_clock();
  bool shown = !w->quiet && isatty(STDERR_FILENO), told = false;
  int32_t before = w->before;
  for (int32_t i = 0; i < w->workers && i < w->s.run_count - w->before; i++)
    if ((p.worker[i] = start_worker(w)) > 0) p.live++;
  while (p.live > 0) {
    struct timespec pause = {0, 100000000};
    nanosleep(&pause, NULL);
    if (!sweep_store_update(w->store, &w->s, error)) p.failed = true;
    tally t = count(&w->s);
    if (shown) print_progress(w, t, ds_clock() - begin);
    reap(w, &p, t.done + t.failed > before, t.done + t.failed < w->s.run_count);
    before = t.done + t.failed;
    if ((sweep_stopped || p.failed) && !told) {
      told = true;
      for (int32_t i = 0; i < w->workers; i++)
        if (p.worker[i] > 0) kill(p.worker[i], SIGTERM);
    }
  }
  if (shown) fprintf(stderr, "\r\x1b[K");
  if (p.failed && error->message[0] == '\0') snprintf(error->message, sizeof error->message, "a worker has failed");
  return !p.failed && sweep_store_update(w->store, &w->s, error);
}

/* ---- results ---- */

static bool write_results(sweeping *w, ds_error *error) {
  return sweep_write_tables(&w->s, w->folder, error) && sweep_draw_maps(&w->s, w->folder, error);
}

static void print_summary(const sweeping *w, tally t, bool written) {
  int32_t ended = t.done + t.failed;
  printf("%s: %d of %d runs finished, %d of them now; %d failed\n", w->s.name, (int)ended, (int)w->s.run_count,
         (int)(ended - w->before), (int)t.failed);
  if (t.failed > 0) {
    int32_t i = 0;
    while (w->s.runs[i].end != SWEEP_FAILED) i++;
    printf("  first failure run %d: %s\n", (int)i + 1, w->s.runs[i].message != NULL ? w->s.runs[i].message : "");
  }
  if (!written) return;
  printf("  table         %s/results.csv, results.h5\n", w->folder);
  for (int32_t i = 0; i < w->s.map_count; i++) printf("  map           %s/%s\n", w->folder, w->s.maps[i].file);
}

/* Does what is left; the last to end writes the tables. */
static int sweep_all(sweeping *w) {
  ds_error error = {""};
  tally t = count(&w->s);
  w->before = t.done + t.failed;
  if (w->retry)
    for (int32_t i = 0; i < w->s.run_count; i++)
      if (w->s.runs[i].end == SWEEP_FAILED) w->s.runs[i].end = SWEEP_OPEN, w->before--;
  bool left = w->before < w->s.run_count && !w->collect;
  if (left && w->s.runs[0].end == SWEEP_OPEN && !sweep_try(&w->s, &error))
    return sweep_stopped ? 128 + sweep_stopped : complain(error.message);
  if (left && !(w->worker ? sweep_work(&w->s, w->store, w->folder, &error) : run_pool(w, &error)))
    return complain(error.message);
  if (!sweep_store_update(w->store, &w->s, &error)) return complain(error.message);
  t = count(&w->s);
  bool all = t.done + t.failed == w->s.run_count, written = false;
  if (all || w->collect) {
    if (!write_results(w, &error)) return complain(error.message);
    written = true;
  }
  if (!w->quiet) print_summary(w, t, written);
  if (sweep_stopped) {
    fprintf(stderr, "drystone sweep: stopped; the same command continues\n");
    return 128 + sweep_stopped;
  }
  return w->strict && t.failed > 0 ? EXIT_UNCERTIFIED : EXIT_OK;
}

int command_sweep(int argc, char **argv) {
  ds_error error = {""};
  int status = EXIT_INPUT;
  sweeping *w = calloc(1, sizeof *w);
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (w == NULL || words == NULL) {
    complain("out of memory");
  } else if (parse(w, words, argc, argv)) {
    if (!sweep_read(&w->s, w->file, &error)) {
      complain(error.message);
    } else if (w->list || w->has_show) {
      status = show(w);
    } else {
      sweep_catch_signals();
      w->store = sweep_store_open(w->folder, &error);
      if (w->store == NULL || !sweep_store_update(w->store, &w->s, &error))
        complain(error.message);
      else
        status = sweep_all(w);
    }
  }
  if (w != NULL) {
    sweep_store_close(w->store);
    sweep_free(&w->s);
  }
  free(words);
  free(w);
  return status;
}
