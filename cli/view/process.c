/* Other programs: see process.h. */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool process_find(char *path, size_t size, const char *name) {
  const char *folder = getenv("PATH");
  if (folder == NULL) folder = "/usr/local/bin:/usr/bin:/bin";
  while (*folder != '\0') {
    size_t length = strcspn(folder, ":");
    struct stat status;
    int written = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    if (length > 0 && written > 0 && (size_t)written < size && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        access(path, X_OK) == 0)
      return true;
    folder += length + (folder[length] == ':');
  }
  return false;
}

/* In the child: only the pipe is inherited, and stderr if messages are wanted. */
static void become(const char *path, const char *const *arguments, int input, bool heard) {
  int nothing = open("/dev/null", O_RDWR);
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  if (nothing < 0 || dup2(input >= 0 ? input : nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
      (!heard && dup2(nothing, STDERR_FILENO) < 0))
    _exit(127);
  long most = sysconf(_SC_OPEN_MAX);
  for (int file = 3; file < (most > 0 && most < 4096 ? (int)most : 4096); file++) close(file);
  execv(path, (char *const *)arguments);
  _exit(127);
}

pid_t process_start(const char *path, const char *const *arguments, int *input, bool heard) {
  int ends[2] = {-1, -1};
  if (input != NULL && pipe(ends) != 0) return 0;
  pid_t child = fork();
  if (child == 0) become(path, arguments, ends[0], heard);
  if (ends[0] >= 0) close(ends[0]);
  if (child < 0) {
    if (ends[1] >= 0) close(ends[1]);
    return 0;
  }
  setpgid(child, child); /* whichever of the two comes first */
  if (input != NULL) {
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    *input = ends[1];
  }
  return child;
}

static int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : -1;
}

bool process_ended(pid_t process, int *status) {
  int raw;
  if (waitpid(process, &raw, WNOHANG) != process) return false;
  *status = exit_status(raw);
  return true;
}

int process_wait(pid_t process) {
  int raw;
  while (waitpid(process, &raw, 0) != process)
    if (errno != EINTR) return -1;
  return exit_status(raw);
}

void process_kill(pid_t process) {
  int status;
  if (process <= 0) return;
  kill(-process, SIGTERM);
  for (int i = 0; i < 30; i++) {
    struct timespec pause = {.tv_nsec = 100000000};
    if (process_ended(process, &status)) {
      kill(-process, SIGKILL); /* those that it left behind */
      return;
    }
    nanosleep(&pause, NULL);
  }
  kill(-process, SIGKILL);
  process_wait(process);
}

static void empty_folder(int folder) {
  DIR *list = fdopendir(folder);
  if (list == NULL) {
    close(folder);
    return;
  }
  const struct dirent *entry;
  while ((entry = readdir(list)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (unlinkat(folder, entry->d_name, 0) == 0) continue;
    int inner = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) empty_folder(inner);
    unlinkat(folder, entry->d_name, AT_REMOVEDIR);
  }
  closedir(list);
}

void remove_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  empty_folder(folder);
  rmdir(path);
}
