/* The text of every generator, character for character, as a hash: the same from every compiler and with every flag.
 * Random numbers drawn as arguments of one call would come in an order that each compiler chooses.
 *
 * A change of a generator changes its hash here; the failing check prints the new one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "drystone/scene_file.h"

static const struct {
  const char *spec;
  uint64_t hash;
} texts[] = {
    {"arch", 0x74be2a612f97f506u},
    {"arch-sp08", 0x3328f95a95289eedu},
    {"ball-loop", 0x165359711c828370u},
    {"billiard", 0xc3616d18cd6e19b8u},
    {"bounce", 0xbfeb6e29466fdca6u},
    {"bridge", 0x6eca1679f2d93587u},
    {"bunny-drop", 0x7eb7b1fe669f9403u},
    {"card-house", 0x7a27b021be390c6fu},
    {"card-house-sp08", 0xa065a100b3664c5eu},
    {"card-pair", 0xdf899a320ec416bfu},
    {"chairs", 0x5ab50c1a4f605375u},
    {"chess-drop", 0x84548f571374ea57u},
    {"composites", 0x10d4b77432142dcdu},
    {"composites-thrown", 0x988dffc1a1b54033u},
    {"dinosaurs", 0x5f32c379bdd2525cu},
    {"disc", 0xea16e300a5bb05a9u},
    {"dominoes", 0x5fce34c58885e2f3u},
    {"haptic", 0x657a939d1b87e377u},
    {"helmets", 0x807258d9641b4955u},
    {"hopper", 0xfe16a9882a4dc709u},
    {"hybrid", 0xf5aa6fdb871c5ae3u},
    {"incline", 0x2397ef781ca749f8u},
    {"jam", 0x9737c1649809e4feu},
    {"mechanism", 0x6b45094a4a735384u},
    {"linkage", 0xcbb4b433c28ca982u},
    {"log-house", 0x1c1fbf37eeaa5f85u},
    {"overhang", 0x58cb8ecda0196923u},
    {"pile", 0xa745643f9c0b2abbu},
    {"pyramid", 0x72a2d0560817f784u},
    {"rings", 0x7b0255aa8ce53bdcu},
    {"roll", 0x13021d1af8d2e5c4u},
    {"slide", 0x623382f489b1b801u},
    {"soft-bounce", 0x430fa00befcf9964u},
    {"soft-incline", 0x357ec8a8b3d3b524u},
    {"soft-jam", 0x6aefccfdc989033bu},
    {"soft-stack", 0x1b75d0c2d392e6a6u},
    {"spin", 0x8ec9144ba1a94442u},
    {"stack", 0x7f32b646c094cce1u},
    {"tower", 0x3ef693edeb8cfb2au},
    {"vault", 0x7cc73bbc40e0bc80u},
    {"wall", 0xee791afdbff5a08fu},
    {"arch:shape=semicircle,thickness=0.12,drop=throw", 0x4e9db9193512b7d6u},
    {"arch:jitter=0.001,tilt=0.2,seed=5", 0x627273e01220f09fu},
    {"card-house:size_jitter=0.01,overlap=0.0001,seed=2,ball_speed=3", 0xfff55154cc8b1039u},
    {"tower:missing=3,gap=0.0002,seed=4", 0xf130b844f8e5e79au},
    {"vault:tilt=0.1,jitter=0.0005,seed=3", 0x90f9b6d1d9f0bc71u},
    {"wall:jitter=0.001,tilt=0.2,size_jitter=0.01,missing=2,seed=7,ball_speed=6", 0x1373c94f15f44498u},
    {"billiard:layout=row", 0x1ec4eaf4e96ccc14u},
    {"card-house:levels=3,blocks=4,shake=0.01", 0x26582a1a898b1207u},
    {"chairs:kind=rigid,seed=5,count=20", 0x655dd3ba7b1ff4dbu},
    {"composites:seed=1", 0x952c7c6bd9b4e2feu},
    {"composites:seed=1,grid=1", 0x40a2fd6d34b401ddu},
    {"composites-thrown:seed=3", 0xdfc2705530e01db8u},
    {"pile:kind=boxes,seed=2", 0xbfb5a0c062fcb8e7u},
    {"pile:kind=rocks,seed=7", 0x5920e55bd90130a3u},
    {"hybrid:seed=4", 0x3d1ebb33d76976deu},
    {"soft-jam:seed=2", 0xb6e27787cd688f8du},
    {"jam:seed=9", 0x719409be99caec71u},
    {"rings:seed=3", 0x9b19aedd7b80992eu},
    {"dinosaurs:seed=2", 0x70d34ce6abc73812u},
    {"chess-drop:seed=4,count=50", 0x2a4b6f6659ad81fcu},
    {"hopper:seed=2,count=20", 0xff3c88fe7bf64fedu},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static uint64_t hash_text(const char *text) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

static void test_texts(void) {
  for (int32_t i = 0; i < TEXTS; i++) {
    ds_error error = {""};
    char *text = ds_generate(texts[i].spec, &error);
    if (!text) printf("%s: %s\n", texts[i].spec, error.message);
    CHECK(text != NULL);
    uint64_t hash = text ? hash_text(text) : 0;
    if (hash != texts[i].hash) printf("%s: 0x%016" PRIx64 "\n", texts[i].spec, hash);
    CHECK(hash == texts[i].hash);
    free(text);
  }
}

/* Every generator is in the table. */
static void test_complete(void) {
  int32_t count;
  const ds_generator *all = ds_generators(&count);
  for (int32_t i = 0; i < count; i++) {
    bool found = false;
    for (int32_t k = 0; k < TEXTS; k++) found |= strcmp(texts[k].spec, all[i].name) == 0;
    if (!found) printf("%s is not in the table\n", all[i].name);
    CHECK(found);
  }
}

int main(void) {
  RUN(test_texts);
  RUN(test_complete);
  return test_summary();
}
