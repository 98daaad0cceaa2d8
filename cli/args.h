/* Arguments of a command: a table of options, strict numbers, and suggestions for mistyped names.
 *
 * An option is "--name value", "--name=value" or, with an alias, "-o value"; "--" ends the options. Errors are
 * printed to stderr, one line, and the caller returns EXIT_INPUT. */
#ifndef DS_CLI_ARGS_H
#define DS_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum arg_kind {
  ARG_FLAG,    /* target: bool, set to true */
  ARG_TEXT,    /* target: const char *, into argv */
  ARG_REAL,    /* target: double, low..high */
  ARG_INTEGER, /* target: int32_t, low..high */
  ARG_CHOICE,  /* target: int32_t, index of the value in choices */
  ARG_LIST,    /* target: arg_list, one more entry each time */
  ARG_RENAMED, /* an old name, refused with the new one, which is in choices */
} arg_kind;

typedef struct arg_list {
  const char **items; /* room for argc of them, given by the caller */
  int32_t count;
} arg_list;

typedef struct arg_option {
  const char *name;  /* "--time" */
  const char *alias; /* "-t", or NULL */
  arg_kind kind;
  void *target;
  double low, high;    /* range of a number, inclusive */
  const char *choices; /* "one|two", of a choice */
  bool *given;         /* set to true if the option was used; may be NULL */
} arg_option;

/* Parses argv[1..]. Arguments that are not options go to `words`, which has room for argc entries. argv[0] is the name
 * of the command, for messages. */
bool args_parse(arg_list *words, int argc, char **argv, const arg_option *options, int32_t option_count);

/* Whole-text numbers: no blanks, no trailing characters, finite. */
bool args_real(double *value, const char *text);
bool args_integer(int64_t *value, const char *text);
/* `count` numbers with commas between them, each within +-limit. */
bool args_reals(double *out, int count, const char *text, double limit);

/* Whether a file name has an extension such as ".png", in lower or upper case; "": whether it has none. */
bool args_ends_in(const char *name, const char *ending);

/* The candidate nearest to a mistyped word by edits and swaps, or NULL if none is near. */
const char *args_nearest(const char *word, const char *const *candidates, int32_t count);

#endif
