/* States as bytes: saved, loaded into a state of another scene built from the same text, they go on bit for bit; what
 * is damaged, cut, of another scene or made up is refused and changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "drystone/touch.h"
#include "hand_body.h"
#include "random.h"
#include "scene_helper.h"

/* Steps on from bytes in a new scene, and beside it without a break. */
static void go_on(const char *spec, const char *setting, int32_t before, int32_t after) {
  const char *settings[] = {setting};
  sim s, t;
  bool ok = sim_generate_with(&s, spec, settings, setting ? 1 : 0);
  ok = sim_generate_with(&t, spec, settings, setting ? 1 : 0) && ok;
  size_t size = 0;
  ds_error error = {""};
  if (ok) {
    for (int32_t i = 0; i < before; i++) sim_step(&s);
    int32_t contacts;
    ds_state_contacts(s.state, &contacts);
    ds_body_id last = ds_scene_body(s.scene, ds_scene_body_count(s.scene) - 1);
    ds_state_apply_force(s.state, last, v3(0.01, 0, 0), v3(0, 0, 0)); /* forces that wait are part of the state */
    unsigned char *bytes = ds_state_save(s.state, &size);
    CHECK(bytes != NULL);
    CHECK(ds_state_load(t.state, bytes, size, &error) == DS_OK);
    if (error.message[0]) printf("%s: %s\n", spec, error.message);
    free(bytes);
    CHECK(ds_state_hash(t.state) == ds_state_hash(s.state));
    bytes = ds_state_save(t.state, &size);
    CHECK(bytes != NULL && ds_state_load(s.state, bytes, size, &error) == DS_OK);
    free(bytes);
    for (int32_t i = 0; i < after; i++) sim_step(&s), sim_step(&t);
    CHECK(ds_state_hash(t.state) == ds_state_hash(s.state));
    printf("     %s: %d contacts, %zu bytes\n", spec, (int)contacts, size);
  }
  sim_close(&s);
  sim_close(&t);
}

static void test_go_on(void) {
  go_on("card-house:levels=2,blocks=1", NULL, 10, 20);
  go_on("pile:count=15", NULL, 45, 15);
  go_on("stack:count=4,shake=0.02", NULL, 110, 30); /* kinematic */
  go_on("bridge:planks=5,blocks=2", NULL, 20, 20);  /* joints */
  go_on("dominoes:count=5", NULL, 20, 30);
}

/* Bodies whose contacts are looked for a second time: an impact turns a fall into a spin. */
static void test_second_look(void) { go_on("pile:count=10,kind=boxes", "options.step=0.02", 22, 20); }

static void test_deformable(void) { go_on("soft-stack:count=2", NULL, test_quick() ? 5 : 30, 10); }

/* A hand holds on. */
static void test_hands(void) {
  sim s, t;
  ds_error error = {""};
  if (sim_generate(&s, "stack:count=2") && sim_generate(&t, "stack:count=2")) {
    ds_hand_def def = ds_default_hand();
    def.body = sim_body(&s, "cube1");
    def.max_force = INFINITY;
    ds_hand_id first = ds_state_grab(s.state, &def, &error);
    def.body = sim_body(&s, "cube2"), def.target.p = v3(0.1, 0, 1);
    CHECK(ds_state_grab(s.state, &def, &error).index1 > 0);
    ds_state_release(s.state, first); /* a free place before one in use */
    for (int32_t i = 0; i < 5; i++) sim_step(&s);
    size_t size;
    unsigned char *bytes = ds_state_save(s.state, &size);
    CHECK(bytes && ds_state_load(t.state, bytes, size, &error) == DS_OK);
    free(bytes);
    for (int32_t i = 0; i < 10; i++) sim_step(&s), sim_step(&t);
    CHECK(ds_state_hash(t.state) == ds_state_hash(s.state));
    CHECK(ds_state_next_hand(t.state, (ds_hand_id){0}).index1 == 2);
  }
  sim_close(&s);
  sim_close(&t);
}

static void put_word(unsigned char *at, uint64_t x) {
  for (int i = 0; i < 8; i++) at[i] = (unsigned char)(x >> (8 * i) & 255);
}

/* The checksum made right again, so that what it guards is looked at. */
static void seal(unsigned char *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 32; i + 8 <= size; i += 8) {
    uint64_t x = 0;
    for (int k = 0; k < 8; k++) x |= (uint64_t)bytes[i + (size_t)k] << (8 * k);
    hash = (hash ^ x) * 0x100000001b3u;
  }
  put_word(bytes + 24, hash);
}

static void test_refused(void) {
  sim s, t;
  ds_error error = {""};
  if (!sim_generate(&s, "pile:count=6") || !sim_generate(&t, "pile:count=5")) return;
  for (int32_t i = 0; i < 40; i++) sim_step(&s);
  size_t size;
  unsigned char *bytes = ds_state_save(s.state, &size), *copy = malloc(size);
  uint64_t before = ds_state_hash(s.state);
  CHECK(bytes && copy);
  CHECK(ds_state_load(t.state, bytes, size, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "another number of bodies") != NULL);
  CHECK(ds_state_load(s.state, NULL, 0, &error) == DS_ERROR_INPUT);
  for (size_t n = 0; n < size; n += n < 64 ? 1 : 97) CHECK(ds_state_load(s.state, bytes, n, &error) == DS_ERROR_INPUT);
  memcpy(copy, bytes, size);
  put_word(copy + 8, 99);
  CHECK(ds_state_load(s.state, copy, size, &error) == DS_ERROR_INPUT && strstr(error.message, "version 99") != NULL);
  /* any byte that differs is noticed, and where the checksum is made right nothing worse than a refusal happens */
  uint64_t seed = 1;
  int32_t accepted = 0;
  for (int32_t i = 0; i < 4000; i++) {
    size_t at = random_next(&seed) % size;
    unsigned char flip = (unsigned char)(1 + random_int(&seed, 255));
    memcpy(copy, bytes, size);
    copy[at] ^= flip;
    CHECK(ds_state_load(s.state, copy, size, &error) == DS_ERROR_INPUT);
    seal(copy, size);
    accepted += ds_state_load(t.state, copy, size, &error) == DS_OK;
    ds_state *other = ds_state_copy(s.state);
    if (other && ds_state_load(other, copy, size, &error) == DS_OK) accepted++;
    ds_state_destroy(other);
  }
  printf("     %d of 4000 changed states are states too\n", (int)accepted);
  CHECK(ds_state_hash(s.state) == before);
  free(bytes);
  free(copy);
  sim_close(&s);
  sim_close(&t);
}

/* States that differ in anything have different hashes. */
static void test_hash(void) {
  hand_def def = hand_default();
  ds_reduced *x = hand_body(&def);
  ds_scene *scene = scene_new(v3(0, 0, 0), 0.5, 0);
  ds_body_def body = body_at(0, 0, 0);
  ds_shape_def shape = ds_default_shape();
  shape.kind = DS_SHAPE_REDUCED, shape.reduced = x;
  ds_body_id id = scene_add(scene, &body, shape);
  sim s;
  if (sim_finish(&s, "hash", scene)) {
    const double one[6] = {0, 0, 0, 0, 0, 1e-9};
    uint64_t hash[7] = {ds_state_hash(s.state)};
    ds_state_set_reduced(s.state, id, one, NULL), hash[1] = ds_state_hash(s.state);
    ds_state_set_reduced(s.state, id, NULL, one), hash[2] = ds_state_hash(s.state);
    ds_state_set_velocity(s.state, id, v3(0, 0, 1e-9), v3(0, 0, 0)), hash[3] = ds_state_hash(s.state);
    ds_state_set_velocity(s.state, id, v3(0, 0, 1e-9), v3(0, 1e-9, 0)), hash[4] = ds_state_hash(s.state);
    ds_state_set_pose(s.scene, s.state, id, (ds_pose){v3(1e-9, 0, 0), quat_identity()}),
        hash[5] = ds_state_hash(s.state);
    ds_state_set_time(s.state, 1e-9), hash[6] = ds_state_hash(s.state);
    for (int i = 0; i < 7; i++)
      for (int k = 0; k < i; k++) CHECK(hash[i] != hash[k]);
  }
  sim_close(&s);
  ds_reduced_release(x);
}

int main(void) {
  RUN(test_hash);
  RUN(test_go_on);
  RUN(test_second_look);
  RUN(test_deformable);
  RUN(test_hands);
  RUN(test_refused);
  return test_summary();
}
