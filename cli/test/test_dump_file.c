/* A step, dumped to a file, read back and solved alone, has the impulses it had, bit for bit. */
#include <unistd.h>

#include "io/problem_file.h"
#include "scene_helper.h"

static const char path[] = "test_dump_file.hdf5";

typedef struct tally {
  double tolerance;
  int32_t every, files, different;
} tally;

static bool same_again(const ds_observation *o, double tolerance) {
  ds_error error = {""};
  size_t components = 3 * (size_t)o->problem->contacts, bytes = components * sizeof(double);
  ds_solve_options options = ds_default_solve_options();
  ds_solution solution;
  options.as_step = true;
  options.tolerance = tolerance;
  bool written = ds_problem_file_write(path, o->problem, o->start, "dump", &error) == DS_OK;
  ds_problem_file *file = written ? ds_problem_file_read(path, &error) : NULL;
  if (!file) printf("%s\n", error.message);
  CHECK(file != NULL);
  if (!file) return false;
  double *r = calloc(components, sizeof(double)), *u = calloc(components, sizeof(double));
  bool same = r && u && file->guess && file->problem.contacts == o->problem->contacts &&
              file->problem.body_count == o->problem->body_count;
  if (same) {
    memcpy(r, file->guess, bytes);
    same = ds_problem_solve(&file->problem, &options, r, u, NULL, &solution, &error) == DS_OK &&
           memcmp(r, o->r, bytes) == 0;
  }
  free(r);
  free(u);
  ds_problem_file_free(file);
  return same;
}

static void watch(void *user, const ds_observation *o) {
  tally *t = user;
  if (o->step % t->every != 0) return;
  t->files++;
  t->different += !same_again(o, t->tolerance);
}

static void check_scene(const char *spec, int32_t steps, int32_t every) {
  sim s;
  if (sim_generate(&s, spec)) {
    tally t = {.tolerance = s.options.tolerance, .every = every};
    ds_stepper_observe(s.stepper, watch, &t);
    for (int32_t i = 0; i < steps; i++) sim_step(&s);
    printf("     %s: %d files, %d different\n", spec, (int)t.files, (int)t.different);
    CHECK(t.files > 0);
    CHECK_NEAR(t.different, 0, 0);
  }
  sim_free(&s);
}

static void test_files_give_the_step_again(void) {
  check_scene("card-house:levels=3", 20, 5);
  check_scene("pile:count=20", 80, 10);
  check_scene("wall:rows=3,bricks=3,shake=0.05", 130, 13);
  check_scene("stack:count=3,mu=0", 5, 1);
  unlink(path);
}

int main(void) {
  RUN(test_files_give_the_step_again);
  return test_summary();
}
