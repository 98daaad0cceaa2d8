/* The program: finds the command and calls it. If output cannot be written, the exit status says so. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "drystone/drystone.h"
#include "help.h"
#include "manual.h"

static int unknown(const char *name) {
  const char *nearest = command_nearest(name);
  fprintf(stderr, "drystone: unknown command '%s'; ", name);
  if (nearest != NULL)
    fprintf(stderr, "did you mean '%s'?\n", nearest);
  else
    fprintf(stderr, "'drystone help' lists them\n");
  return EXIT_INPUT;
}

int command_help(int argc, char **argv) {
  if (argc < 2) {
    command_print_all(stdout);
    return EXIT_OK;
  }
  if (strcmp(argv[1], "--man") == 0) {
    manual_print(stdout);
    return EXIT_OK;
  }
  if (strcmp(argv[1], "--completion") == 0) {
    if (argc == 3 && completion_print(stdout, argv[2])) return EXIT_OK;
    fprintf(stderr, "drystone help: --completion: give bash, zsh or fish\n");
    return EXIT_INPUT;
  }
  const command_entry *entry = command_find(argv[1]);
  if (entry == NULL) return unknown(argv[1]);
  command_print_one(stdout, entry);
  return EXIT_OK;
}

int command_version(int argc, char **argv) {
  if (argc > 1) return fprintf(stderr, "drystone %s: takes no arguments\n", argv[0]), EXIT_INPUT;
  printf("drystone %s\n", ds_version());
  return EXIT_OK;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    command_print_all(stderr);
    return EXIT_INPUT;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
  const command_entry *entry = command_find(name);
  if (entry == NULL) return unknown(name);
  for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
    command_print_one(stdout, entry);
    return EXIT_OK;
  }
  return entry->run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is an error to report, not an end */
  int status = dispatch(argc, argv);
  errno = 0;
  if (fflush(stdout) != 0 || ferror(stdout) != 0) {
    fprintf(stderr, "drystone: cannot write to the standard output: %s\n", strerror(errno));
    if (status == EXIT_OK) status = EXIT_INPUT;
  }
  return status;
}
