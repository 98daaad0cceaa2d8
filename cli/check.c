/* drystone check: reads scenes and says whether they can be run. */
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "command.h"
#include "source.h"

static void print_counts(const char *source, const ds_scene *scene, const ds_run_settings *run) {
  int32_t kinds[3] = {0}, shapes = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id body = ds_scene_body(scene, i);
    kinds[ds_body_get_kind(scene, body)]++;
    shapes += ds_body_shape_count(scene, body);
  }
  printf("%s: ok: %s, %d bodies (%d dynamic, %d static, %d kinematic), %d shapes, %g s in steps of %g s\n", source,
         run->name, (int)ds_scene_body_count(scene), (int)kinds[DS_BODY_DYNAMIC], (int)kinds[DS_BODY_STATIC],
         (int)kinds[DS_BODY_KINEMATIC], (int)shapes, run->time, run->options.step);
}

int command_check(int argc, char **argv) {
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (words == NULL) return fprintf(stderr, "drystone check: out of memory\n"), EXIT_INPUT;
  arg_list sources = {words, 0}, settings = {words + argc, 0};
  bool quiet = false;
  const arg_option table[] = {{"--set", NULL, ARG_LIST, &settings, 0, 0, NULL, NULL},
                              {"--quiet", "-q", ARG_FLAG, &quiet, 0, 0, NULL, NULL}};
  int status = EXIT_INPUT;
  if (args_parse(&sources, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) {
    if (sources.count == 0)
      fprintf(stderr, "drystone check: give one or more scene files\n");
    else
      status = EXIT_OK;
  }
  for (int32_t i = 0; i < sources.count; i++) {
    ds_error error = {{0}};
    ds_run_settings run;
    ds_scene *scene = source_scene(NULL, &run, sources.items[i], &settings, &error);
    if (scene == NULL) {
      fprintf(stderr, "drystone check: %s\n", error.message);
      status = EXIT_INPUT;
    } else if (!quiet) {
      print_counts(sources.items[i], scene, &run);
    }
    ds_scene_destroy(scene);
  }
  free(words);
  return status;
}
