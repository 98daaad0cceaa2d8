/* `drystone export`: a recording for other programs, in the format that the name of the output asks for.
 * docs/export.md. */
#include "export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "command.h"
#include "source.h"

typedef struct exporting {
  const char *source, *output;
  int32_t what;
  bool has_what, quiet;
  export_range range;
} exporting;

static int complain(const char *message) {
  fprintf(stderr, "drystone export: %s\n", message);
  return EXIT_INPUT;
}

static const char *const endings[] = {".glb", ".gltf", ".pvd", ".usda", ".obj", ".csv"};
enum { ENDING_COUNT = sizeof endings / sizeof *endings };

static int format_of(const char *name) {
  for (int i = 0; i < ENDING_COUNT; i++)
    if (args_ends_in(name, endings[i])) return i;
  return -1;
}

static bool parse(exporting *e, const char **words, int argc, char **argv) {
  const arg_option table[] = {
      {"--output", "-o", ARG_TEXT, &e->output, 0, 0, NULL, NULL},
      {"--from", NULL, ARG_REAL, &e->range.from, -1e9, 1e9, NULL, NULL},
      {"--to", NULL, ARG_REAL, &e->range.to, -1e9, 1e9, NULL, NULL},
      {"--rate", NULL, ARG_REAL, &e->range.rate, 1e-6, 1e6, NULL, NULL},
      {"--what", NULL, ARG_CHOICE, &e->what, 0, 0, EXPORT_TABLES, &e->has_what},
      {"--quiet", "-q", ARG_FLAG, &e->quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  e->range = (export_range){-1e9, 1e9, 0};
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  const char *fault = NULL;
  if (list.count != 1)
    fault = "give one recording; make one with 'drystone run SCENE -o RECORD.h5'";
  else if (e->output == NULL)
    fault = "give the output: -o FILE.glb, .gltf, .pvd, .usda, .obj or .csv";
  else if (format_of(e->output) < 0)
    fault = "the output is .glb, .gltf, .pvd, .usda, .obj or .csv, by the end of its name";
  else if (e->has_what && strcmp(endings[format_of(e->output)], ".csv") != 0)
    fault = "--what is for .csv";
  else if (source_same_file(list.items[0], e->output))
    fault = "the recording would be overwritten";
  else if (!source_is_recording(list.items[0]))
    fault = "is not a recording; make one with 'drystone run SCENE -o RECORD.h5'";
  if (fault == NULL) {
    e->source = list.items[0];
    return true;
  }
  if (strncmp(fault, "is not", 6) == 0)
    fprintf(stderr, "drystone export: %s: %s\n", list.items[0], fault);
  else
    complain(fault);
  return false;
}

static bool write(const export_set *set, const exporting *e, ds_error *error) {
  static const char *const tables[] = {"report", "bodies", "contacts", "joints"};
  switch (format_of(e->output)) {
    case 0:
      return export_gltf(set, e->output, true, error);
    case 1:
      return export_gltf(set, e->output, false, error);
    case 2:
      return export_pvd(set, e->output, error);
    case 3:
      return export_usda(set, e->output, error);
    case 4:
      return export_obj(set, e->output, error);
    default:
      return export_csv(set, e->output, tables[e->what], error);
  }
}

int command_export(int argc, char **argv) {
  exporting e = {0};
  int status = EXIT_INPUT;
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  if (words == NULL) return complain("out of memory");
  if (parse(&e, words, argc, argv)) {
    export_set set;
    ds_error error = {{0}};
    bool ok = export_open(&set, e.source, &e.range, &error) && write(&set, &e, &error);
    if (!ok)
      complain(error.message);
    else if (!e.quiet)
      printf("%s: %d frames of %d bodies\n", e.output, (int)set.frame_count, (int)set.body_count);
    export_close(&set);
    if (ok) status = EXIT_OK;
  }
  free(words);
  return status;
}
