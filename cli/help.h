/* The table of commands: name, summary and options of each. */
#ifndef DS_CLI_HELP_H
#define DS_CLI_HELP_H

#include <stdint.h>
#include <stdio.h>

typedef struct command_entry {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *usage;   /* what follows "drystone " */
  const char *summary; /* one line */
  const char *options; /* lines, or NULL */
} command_entry;

const command_entry *command_list(int32_t *count);
const command_entry *command_find(const char *name); /* NULL = unknown */
const char *command_nearest(const char *name);       /* NULL = none is near */
void command_print_all(FILE *out);
void command_print_one(FILE *out, const command_entry *entry);

#endif
