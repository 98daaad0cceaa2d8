/* Hashes of the state after 100 to 300 steps of scenes of every generator: the same bits for every compiler, build and
 * number of threads, and after every change of the sources that is not meant to change what comes out.
 *
 * Where a change is meant to, `test_golden --print > /tmp/hashes && mv /tmp/hashes test/golden_hashes.inc` writes the
 * table again, in a commit of its own that says why. */
#include <inttypes.h>

#include "scene_cache.h"
#include "scene_helper.h"

typedef struct golden {
  const char *spec;
  int32_t steps;
  bool slow;            /* not in quick tests: its bodies take seconds to be built */
  uint64_t early, late; /* after EARLY steps and after all */
} golden;

enum { EARLY = 20 };

static const golden table[] = {
#include "golden_hashes.inc"
};
enum { SCENES = (int)(sizeof table / sizeof *table) };

/* Hashes of one scene; `late` is 0 where only the first steps are asked for. */
static golden run(const golden *of, int32_t threads, bool quick) {
  const char *spec = of->spec;
  golden result = {.spec = spec, .steps = of->steps, .slow = of->slow};
  ds_run_settings settings = {.options = ds_default_options()};
  ds_scene *scene = scene_generate(&settings, spec, NULL, 0);
  sim s = {.options = settings.options};
  if (sim_start(&s, spec, scene, threads)) {
    for (int32_t i = 1; i <= (quick ? EARLY : of->steps) && sim_step(&s); i++)
      if (i == EARLY) result.early = ds_state_hash(s.state);
    if (!quick) result.late = ds_state_hash(s.state);
    CHECK_NEAR(s.failed, 0, 0);
  }
  sim_free(&s);
  return result;
}

static bool check_one(const golden *want, int32_t threads, bool quick) {
  golden got = run(want, threads, quick);
  bool same = got.early == want->early && (quick || got.late == want->late);
  if (!same)
    printf("%s, %d threads: %016" PRIx64 " after %d steps, wanted %016" PRIx64 "; %016" PRIx64
           " after %d, wanted %016" PRIx64 "\n",
           want->spec, (int)threads, got.early, EARLY, want->early, got.late, (int)want->steps, want->late);
  return same;
}

static void test_hashes(void) {
  int32_t different = 0, compared = 0;
  for (int32_t i = 0; i < SCENES; i++) {
    if (test_quick() && table[i].slow) continue;
    different += !check_one(&table[i], 1, test_quick());
    compared++;
  }
  printf("     %d of %d scenes\n", (int)(compared - different), (int)compared);
  CHECK_NEAR(different, 0, 0);
  CHECK(SCENES >= 20);
}

/* Some of them with more threads: large islands, many islands, deformable bodies, joints. */
static void test_threads(void) {
  static const char *const some[] = {"pile", "wall", "soft-stack", "bridge", "card-house"};
  for (int32_t i = 0; i < SCENES; i++)
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
      size_t length = strlen(some[k]);
      bool chosen =
          strncmp(table[i].spec, some[k], length) == 0 && (table[i].spec[length] == 0 || table[i].spec[length] == ':');
      if (chosen) CHECK(check_one(&table[i], 2 + i % 3, true));
    }
}

/* Every generator has a scene here. */
static void test_all_generators(void) {
  int32_t count;
  const ds_generator *all = ds_generators(&count);
  for (int32_t g = 0; g < count; g++) {
    size_t length = strlen(all[g].name);
    bool found = false;
    for (int32_t i = 0; i < SCENES; i++)
      found |= strncmp(table[i].spec, all[g].name, length) == 0 &&
               (table[i].spec[length] == 0 || table[i].spec[length] == ':');
    if (!found) printf("no scene of %s\n", all[g].name);
    CHECK(found);
  }
}

int main(int argc, char **argv) {
  bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
  scene_cache_begin();
  if (print) {
    printf(
        "/* Written by test_golden --print: specification, steps, slow to build, hash after %d steps, hash after all. "
        "*/\n",
        EARLY);
    for (int32_t i = 0; i < SCENES; i++) {
      golden g = run(&table[i], 1, false);
      printf("{\"%s\", %d, %s, 0x%016" PRIx64 "u, 0x%016" PRIx64 "u},\n", g.spec, (int)g.steps,
             g.slow ? "true" : "false", g.early, g.late);
      fflush(stdout);
    }
  } else {
    RUN(test_hashes);
    RUN(test_all_generators);
    RUN_THREADS(test_threads);
  }
  scene_cache_end();
  return print ? 0 : test_summary();
}
