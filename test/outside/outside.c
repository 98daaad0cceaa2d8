/* A program outside the repository: it reads a generated scene, two cubes on the floor, and steps it for one second
 * with the installed library. Exit 0 where headers and library agree and every step converged. */
#include <drystone/drystone.h>
#include <drystone/scene_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(const ds_scene *scene, const ds_options *options) {
  ds_state *state = ds_state_create(scene);
  ds_stepper *stepper = ds_stepper_create(1);
  ds_step_report report = {0};
  int bad = state == NULL || stepper == NULL;
  for (int i = 0; i < 100 && !bad; i++) {
    bad = ds_step(stepper, state, &report, scene, options) != DS_OK || !report.worst.converged;
  }
  printf("drystone %s: t = %.2f s, %d contacts, natural-map error %.1e\n", ds_version(), report.time,
         (int)report.contacts, report.worst.natural_error);
  ds_stepper_destroy(stepper);
  ds_state_destroy(state);
  return bad || report.contacts < 6;
}

int main(void) {
  if (strcmp(ds_version(), DS_VERSION_STRING) != 0) {
    fprintf(stderr, "library %s, headers %s\n", ds_version(), DS_VERSION_STRING);
    return 1;
  }
  ds_error error = {{0}};
  ds_run_settings settings;
  char *text = ds_generate("stack:count=2", &error);
  ds_scene *scene = text != NULL ? ds_scene_read_text(text, strlen(text), "stack", &settings, &error) : NULL;
  free(text);
  if (scene == NULL) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  int status = run(scene, &settings.options);
  ds_scene_destroy(scene);
  return status;
}
