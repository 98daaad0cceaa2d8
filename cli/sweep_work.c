/* A worker of a sweep: claims a run, does it in a process of its own, writes its result, and goes on until nothing is
 * left that no other worker has. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "command.h"
#include "drystone/scene_file.h"
#include "sweep.h"

enum { ATTEMPTS = 3 /* of a run whose process is killed from outside */ };

volatile int sweep_stopped;
static volatile sig_atomic_t child_process; /* ended together with the worker */

static void on_signal(int number) {
  sweep_stopped = number;
  if (child_process > 0) kill((pid_t)child_process, SIGTERM);
}

void sweep_catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction before; /* nohup stays in effect */
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
}

/* Files of a run, in the worker's own folder. */
typedef struct work_files {
  char report[4096], record[4096], messages[4096];
} work_files;

static void name_files(work_files *f, const char *folder) {
  snprintf(f->report, sizeof f->report, "%s/report.json", folder);
  snprintf(f->record, sizeof f->record, "%s/record.h5", folder);
  snprintf(f->messages, sizeof f->messages, "%s/messages.txt", folder);
}

static void remove_files(const work_files *f) {
  remove(f->report);
  remove(f->record);
  remove(f->messages);
}

/* What the sweep adds to the words of a run. `trial`: no steps. */
static bool add_outputs(sweep_words *words, const sweep *s, const work_files *f, bool trial) {
  if (s->command == SWEEP_STAND) return sweep_words_add(words, "--json");
  bool ok = sweep_words_add(words, "--threads") && sweep_words_add(words, "1") && sweep_words_add(words, "--quiet") &&
            sweep_words_add(words, "--report") && sweep_words_add(words, f->report);
  if (ok && sweep_needs_record(s)) /* the first and the last frame */
    ok = sweep_words_add(words, "--record") && sweep_words_add(words, f->record) &&
         sweep_words_add(words, "--record-every") && sweep_words_add(words, "1000000000");
  if (ok && trial) ok = sweep_words_add(words, "--time") && sweep_words_add(words, "0");
  return ok;
}

/* In the child: does the run, and ends. Its parent's end is its own; so is its time limit. */
static void be_run(const sweep *s, const sweep_words *words, const work_files *f) {
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (s->limit > 0) {
    struct itimerval timer = {{0, 0}, {(time_t)s->limit, (suseconds_t)(1e6 * fmod(s->limit, 1)) + 1}};
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  bool stand = s->command == SWEEP_STAND;
  if (freopen(f->messages, "w", stderr) == NULL || freopen(stand ? f->report : "/dev/null", "w", stdout) == NULL)
    _exit(EXIT_INPUT);
  int status = (stand ? command_stand : command_run)(words->count, words->word);
  if (fflush(NULL) != 0) status = EXIT_INPUT;
  _exit(status);
}

static int run_child(const sweep *s, sweep_store *store, const sweep_words *words, const work_files *f) {
  sigset_t ours, before;
  int status = 0;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  sigaddset(&ours, SIGHUP);
  fflush(NULL);
  sigprocmask(SIG_BLOCK, &ours, &before); /* none between the fork and the note of its number */
  pid_t child = fork();
  if (child == 0) {
    if (store != NULL) sweep_store_forget(store);
    be_run(s, words, f);
  }
  child_process = (sig_atomic_t)child;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (child < 0) return -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  child_process = 0;
  return status;
}

/* The last line that the process said, without the program's name. */
static char *last_message(const char *path) {
  size_t length;
  ds_error ignored;
  char *text = ds_text_read_file(path, &length, &ignored);
  if (text == NULL) return NULL;
  while (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  char *line = strrchr(text, '\n');
  char *message = strdup(line != NULL ? line + 1 : text);
  free(text);
  return message;
}

typedef enum outcome { OUTCOME_RECORD, OUTCOME_AGAIN, OUTCOME_STOP } outcome;

static void set_failed(sweep_run *run, const char *message) {
  run->end = SWEEP_FAILED;
  free(run->message);
  run->message = strdup(message);
}

/* What the end of the process means for the run. */
static outcome judge(sweep_run *run, const sweep *s, int status, const work_files *f) {
  char text[128];
  ds_error error = {""};
  if (sweep_stopped) return OUTCOME_STOP;
  if (WIFSIGNALED(status)) {
    int number = WTERMSIG(status);
    bool outside = number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
    snprintf(text, sizeof text, outside ? "killed by signal %d, %d times" : "crashed: signal %d", number, ATTEMPTS);
    if (number == SIGALRM) snprintf(text, sizeof text, "time limit of %g s", s->limit);
    set_failed(run, text);
    return outside ? OUTCOME_AGAIN : OUTCOME_RECORD;
  }
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INPUT;
  if (code > 128) return OUTCOME_AGAIN; /* a signal that the run itself caught */
  bool good = s->command == SWEEP_STAND ? code == 0 || (code >= 3 && code <= 5) : code <= EXIT_UNCERTIFIED;
  if (good && sweep_measure(run, s, f->report, sweep_needs_record(s) ? f->record : NULL, &error)) {
    run->end = SWEEP_DONE;
    return OUTCOME_RECORD;
  }
  char *said = good ? NULL : last_message(f->messages);
  set_failed(run, good ? error.message : said != NULL && said[0] != '\0' ? said : "ended without a message");
  free(said);
  return OUTCOME_RECORD;
}

static bool do_run(sweep *s, sweep_store *store, int32_t index, const work_files *f, bool trial, ds_error *error) {
  sweep_run *run = &s->runs[index];
  sweep_words words;
  if (!sweep_words_make(&words, s, index) || !add_outputs(&words, s, f, trial)) {
    snprintf(error->message, sizeof error->message, "out of memory");
    return false;
  }
  outcome result = OUTCOME_AGAIN;
  for (int32_t i = 0; i < ATTEMPTS && result == OUTCOME_AGAIN; i++)
    result = judge(run, s, run_child(s, store, &words, f), f);
  sweep_words_free(&words);
  remove_files(f);
  if (result == OUTCOME_STOP) run->end = SWEEP_OPEN;
  return true;
}

/* Claims a run and does it, unless it was finished meanwhile. */
static bool take_run(sweep *s, sweep_store *store, int32_t index, const work_files *f, bool *taken, ds_error *error) {
  sweep_run *run = &s->runs[index];
  if (!sweep_store_claim(store, run)) return true;
  bool ok = sweep_store_update(store, s, error);
  if (ok && run->end == SWEEP_OPEN) {
    ok = do_run(s, store, index, f, false, error);
    if (ok && run->end != SWEEP_OPEN) ok = sweep_store_append(store, s, run, error);
    *taken = true;
  }
  sweep_store_release(store, run);
  return ok;
}

bool sweep_work(sweep *s, sweep_store *store, const char *folder, ds_error *error) {
  char own[2048];
  int32_t number;
  work_files files;
  if (!sweep_store_join(store, &number, error)) return false;
  snprintf(own, sizeof own, "%.1900s/work-%03d", folder, (int)number);
  name_files(&files, own);
  if (mkdir(own, 0777) != 0 && errno != EEXIST) {
    snprintf(error->message, sizeof error->message, "cannot make the folder %.300s: %s", own, strerror(errno));
    return false;
  }
  remove_files(&files); /* of one that was killed */
  pid_t parent = getppid();
  bool ok = true, taken = true;
  while (ok && taken && !sweep_stopped) { /* a second look finds what others did not finish */
    taken = false;
    for (int32_t i = 0; ok && i < s->run_count && !sweep_stopped; i++) {
      if (s->runs[i].end == SWEEP_OPEN) ok = take_run(s, store, i, &files, &taken, error);
      if (getppid() != parent) sweep_stopped = SIGHUP; /* whoever started it is gone */
    }
  }
  rmdir(own);
  return ok;
}

bool sweep_try(sweep *s, ds_error *error) {
  char folder[2048];
  const char *temporary = getenv("TMPDIR");
  work_files files;
  sweep_run *first = &s->runs[0];
  snprintf(folder, sizeof folder, "%.1900s/drystone-XXXXXX", temporary != NULL ? temporary : "/tmp");
  if (mkdtemp(folder) == NULL) {
    snprintf(error->message, sizeof error->message, "cannot make a temporary folder; set TMPDIR to one that exists");
    return false;
  }
  name_files(&files, folder);
  bool ok = do_run(s, NULL, 0, &files, true, error);
  rmdir(folder);
  if (ok && first->end == SWEEP_FAILED) {
    const char *message = first->message != NULL ? first->message : "out of memory";
    bool located = strncmp(message, s->file, strlen(s->file)) == 0;
    if (located)
      snprintf(error->message, sizeof error->message, "%.500s", message);
    else
      ds_json_message(error, s->file, s->text, s->at->start, "the first run cannot be done: %.400s", message);
    ok = false;
  }
  free(first->message);
  free(first->values);
  first->message = NULL;
  first->values = NULL;
  first->end = SWEEP_OPEN;
  return ok;
}
