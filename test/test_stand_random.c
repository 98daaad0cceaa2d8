/* Verdicts against the dynamics on random assemblies: what is proven to stand does not move, what is proven to fall
 * moves in the first step as its mechanism says, and every certificate holds. DRYSTONE_TEST_LONG=1: a thousand of
 * either. */
#include "random.h"
#include "scene_helper.h"
#include "stand_helper.h"

typedef struct tally {
  int32_t stands, falls, open, undecided, planar;
} tally;

static void add_box(ds_scene *scene, ds_vec3 center, ds_vec3 edges, ds_body_kind kind) {
  ds_body_def body = ds_default_body();
  body.kind = kind;
  body.pose.p = center;
  scene_add(scene, &body, shape_box(edges.x, edges.y, edges.z));
}

static ds_vec3 random_edges(uint64_t *seed) { return random_vec3(seed, v3(0.2, 0.2, 0.1), v3(1, 1, 0.6)); }

/* A column of boxes that are set off from each other, also sideways or not (side = 1 or 0). */
static void column(ds_scene *scene, uint64_t *seed, double shift, double side) {
  double z = 0, x = 0, y = 0;
  for (int32_t i = 0, n = 1 + random_int(seed, 4); i < n; i++) {
    ds_vec3 e = random_edges(seed);
    x += random_in(seed, -shift, shift), y += side * random_in(seed, -shift, shift);
    add_box(scene, v3(x, y, z + e.z / 2), e, DS_BODY_DYNAMIC);
    z += e.z;
  }
}

/* Two piers, a lintel over them, a block on it somewhere. */
static void gate(ds_scene *scene, uint64_t *seed, double shift, double side) {
  double height = random_in(seed, 0.3, 1), span = random_in(seed, 0.5, 1.5), beam = random_in(seed, 0.1, 0.3);
  for (int32_t end = -1; end <= 1; end += 2)
    add_box(scene, v3(end * span / 2, side * random_in(seed, -shift, shift) / 4, height / 2),
            v3(random_in(seed, 0.15, 0.4), 0.5, height), DS_BODY_DYNAMIC);
  add_box(scene, v3(random_in(seed, -shift, shift), 0, height + beam / 2), v3(span + 0.3, 0.5, beam), DS_BODY_DYNAMIC);
  ds_vec3 e = random_edges(seed);
  add_box(scene, v3(random_in(seed, -span, span) * 0.8, 0, height + beam + e.z / 2), e, DS_BODY_DYNAMIC);
}

/* A block in the corner of floor and wall, others on it and against it. */
static void corner(ds_scene *scene, uint64_t *seed, double shift, double side) {
  add_box(scene, v3(-0.5, 0, 1), v3(1, 4, 2), DS_BODY_STATIC);
  ds_vec3 a = random_edges(seed), b = random_edges(seed), c = random_edges(seed);
  add_box(scene, v3(a.x / 2, 0, a.z / 2), a, DS_BODY_DYNAMIC);
  add_box(scene, v3(a.x + b.x / 2, side * random_in(seed, -shift, shift), b.z / 2), b, DS_BODY_DYNAMIC);
  add_box(scene, v3(c.x / 2, side * random_in(seed, -shift, shift), a.z + c.z / 2), c, DS_BODY_DYNAMIC);
}

static ds_scene *random_scene(uint64_t *seed) {
  double tilt = random_int(seed, 2) ? random_in(seed, 0, 0.6) : 0, azimuth = random_in(seed, 0, 6.28);
  bool flat = random_int(seed, 2); /* in the plane y = 0 */
  if (flat) azimuth = DS_PI * random_int(seed, 2);
  ds_vec3 gravity = v3(9.81 * sin(tilt) * cos(azimuth), flat ? 0 : 9.81 * sin(tilt) * sin(azimuth), -9.81 * cos(tilt));
  ds_error error = {""};
  ds_scene *scene = scene_new(gravity, random_in(seed, 0.1, 1), 0);
  scene_add_floor(scene);
  double shift = random_in(seed, 0, 0.5);
  int32_t kind = random_int(seed, 3);
  (kind == 0 ? column : kind == 1 ? gate : corner)(scene, seed, shift, flat ? 0 : 1);
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  return scene;
}

/* With forces r in the cones M (v+ - v) = h (w + G r / h): on a mechanism a they do no negative work, so that
 * aᵀM v+ >= h wᵀa. */
static void check_falls(sim *s, const ds_assembly *a, const ds_stand *stand) {
  double gain = 0, power = 0;
  sim_step(s);
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    if (b->support) continue;
    ds_vec3 v = ds_state_velocity(s->state, ds_scene_body(s->scene, i)),
            c = ds_twist_at(stand->mechanism[i], b->center);
    ds_vec3 w = ds_state_angular_velocity(s->state, ds_scene_body(s->scene, i)), t = stand->mechanism[i].w;
    const double *m = b->inertia;
    ds_vec3 turn = v3(m[0] * w.x + m[1] * w.y + m[2] * w.z, m[3] * w.x + m[4] * w.y + m[5] * w.z,
                      m[6] * w.x + m[7] * w.y + m[8] * w.z);
    gain += b->mass * v3_dot(c, v) + v3_dot(t, turn);
    power += b->mass * v3_dot(a->gravity, c);
  }
  CHECK(power > 0);
  CHECK_LE(0.99 * s->options.step * power, gain);
}

static void try_one(uint64_t seed, tally *t) {
  sim s = {.options = ds_default_options()};
  if (!sim_start(&s, "random", random_scene(&seed), 1)) return;
  ds_error error = {""};
  ds_stand_options options = {.planar = true};
  ds_stand stand;
  ds_verification v;
  ds_assembly *a = ds_assembly_of_scene(s.scene, s.state, NULL, &error);
  CHECK(a && ds_stand_check(&stand, a, &options, &error) == DS_OK);
  if (stand.verdict != DS_UNDECIDED) CHECK(certificate_holds(&stand, a, &v));
  int before = test_failures;
  if (stand.verdict == DS_STANDS) {
    t->stands++;
    t->planar += stand.reason == DS_REASON_PLANAR;
    sim_run(&s, 0.3);
    CHECK_LE(sim_displacement(&s, s.start), 1e-8);
  } else if (stand.verdict == DS_FALLS) {
    t->falls++;
    check_falls(&s, a, &stand);
  } else {
    *(stand.verdict == DS_CAN_STAND ? &t->open : &t->undecided) += 1;
  }
  if (test_failures != before) printf("  random assembly %llu\n", (unsigned long long)seed);
  ds_stand_free(&stand);
  ds_assembly_free(a);
  sim_free(&s);
}

static void test_random(void) {
  tally t = {0};
  int32_t wanted = test_long() ? 1000 : test_quick() ? 10 : 60;
  for (uint64_t seed = 1; (t.stands < wanted || t.falls < wanted) && seed < 100 * (uint64_t)wanted; seed++)
    try_one(seed * 7919, &t);
  printf("  %d stand (%d by a proof in the plane), %d fall, %d can stand, %d undecided\n", (int)t.stands, (int)t.planar,
         (int)t.falls, (int)t.open, (int)t.undecided);
  CHECK(10 * t.planar > t.stands);
  CHECK(t.stands >= wanted && t.falls >= wanted);
  CHECK_LE(t.undecided, 0.01 * (t.stands + t.falls + t.open));
}

int main(void) {
  RUN(test_random);
  return test_summary();
}
