/* drystone scenes: the generators and their parameters. drystone scene: the JSON that one of them writes. drystone
 * figures: the figures that solids can be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "command.h"
#include "source.h"

static void print_parameter(const ds_generator_parameter *p) {
  char range[80];
  if (p->choices != NULL)
    snprintf(range, sizeof range, "%s", p->choices);
  else
    snprintf(range, sizeof range, "%g to %g%s%s", p->low, p->high, p->unit != NULL && p->unit[0] != '\0' ? " " : "",
             p->unit != NULL ? p->unit : "");
  printf("    %-18s %-20s %s; default %s\n", p->name, range, p->summary, p->initial);
}

static void print_generator(const ds_generator *g, bool parameters) {
  printf("%-18s %s\n", g->name, g->summary);
  for (int32_t i = 0; parameters && i < g->parameter_count; i++) print_parameter(&g->parameters[i]);
}

/* Prints the generators that were named, all where none was; false if one is unknown. */
static bool print_named(const arg_list *names, bool brief) {
  int32_t count;
  const ds_generator *generators = ds_generators(&count);
  bool known = true;
  for (int32_t i = 0; names->count == 0 && i < count; i++) print_generator(&generators[i], !brief);
  for (int32_t n = 0; n < names->count; n++) {
    int32_t found = -1;
    for (int32_t i = 0; i < count; i++)
      if (strcmp(generators[i].name, names->items[n]) == 0) found = i;
    if (found >= 0) {
      print_generator(&generators[found], !brief);
    } else {
      ds_error error;
      source_say_unknown(names->items[n], &error);
      fprintf(stderr, "drystone scenes: %s\n", error.message);
      known = false;
    }
  }
  return known;
}

int command_scenes(int argc, char **argv) {
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  if (words == NULL) return fprintf(stderr, "drystone scenes: out of memory\n"), EXIT_INPUT;
  arg_list names = {words, 0};
  bool brief = false;
  const arg_option table[] = {{"--brief", NULL, ARG_FLAG, &brief, 0, 0, NULL, NULL}};
  bool ok = args_parse(&names, argc, argv, table, 1) && print_named(&names, brief);
  free(words);
  return ok ? EXIT_OK : EXIT_INPUT;
}

/* "name" and "key=value" ... as "name:key=value,...". Freed by the caller. */
static char *join(const arg_list *words) {
  size_t size = 1;
  for (int32_t i = 0; i < words->count; i++) size += strlen(words->items[i]) + 1;
  char *text = calloc(1, size);
  if (text == NULL) return NULL;
  strcpy(text, words->items[0]);
  for (int32_t i = 1; i < words->count; i++) {
    strcat(text, i == 1 && strchr(text, ':') == NULL ? ":" : ",");
    strcat(text, words->items[i]);
  }
  return text;
}

int command_scene(int argc, char **argv) {
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (words == NULL) return fprintf(stderr, "drystone scene: out of memory\n"), EXIT_INPUT;
  arg_list names = {words, 0}, settings = {words + argc, 0};
  const arg_option table[] = {{"--set", NULL, ARG_LIST, &settings, 0, 0, NULL, NULL}};
  int status = EXIT_INPUT;
  if (args_parse(&names, argc, argv, table, 1)) {
    ds_error error = {{0}};
    size_t length = 0;
    char *source = names.count > 0 ? join(&names) : NULL;
    char *text = source != NULL ? source_text(&length, source, &settings, &error) : NULL;
    if (text != NULL) {
      fwrite(text, 1, length, stdout);
      if (length > 0 && text[length - 1] != '\n') fputc('\n', stdout);
      status = EXIT_OK;
    } else {
      fprintf(stderr, "drystone scene: %s\n",
              names.count == 0 ? "give the name of a generator; 'drystone scenes' lists them" : error.message);
    }
    free(text);
    free(source);
  }
  free(words);
  return status;
}

int command_figures(int argc, char **argv) {
  if (argc > 1) return fprintf(stderr, "drystone %s: takes no arguments\n", argv[0]), EXIT_INPUT;
  int32_t count;
  const ds_figure *figures = ds_figures(&count);
  for (int32_t i = 0; i < count; i++) printf("%-18s %s\n", figures[i].name, figures[i].summary);
  return EXIT_OK;
}
