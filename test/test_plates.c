/* Nothing passes through: thin plates dropped, tipped over, thrown and spinning against a thin plate, and heaps, at the
 * default step.
 *
 * Overlaps are measured by overlap_helper.h, which knows nothing of the library's detection. A plate has passed where
 * a point of its middle plane goes through the middle plane of the other within its rim.
 * DRYSTONE_TEST_LONG=1 (make soak) runs 2,000 plates; its rows are the table of bench/results/plates.md. */
#include <string.h>

#include "drystone/solid.h"
#include "overlap_helper.h"
#include "random.h"
#include "scene_helper.h"

static const double thinnest = 0.3e-3, thickest = 5e-3, side = 0.2, table_side = 0.4;
static const double share_allowed = 0.01, always_allowed = 1e-4; /* overlap: of the thickness; m, whichever is more */
static const double rest_allowed = 1e-3;                         /* of the thickness */
static const double gain_allowed = 5e-4; /* of m g side, in a step: 3.4e-4 was measured, once in 2,000 plates */

typedef enum way { FLAT, TILTED, TIPPED, THROWN, SPINNING, WAYS } way;
static const char *const way_names[WAYS] = {"dropped flat", "dropped tilted", "tipped over", "thrown at up to 5 m/s",
                                            "thrown, spinning at up to 30 rad/s"};
typedef enum form { BOX, HULL, DISC, MESH } form;

typedef struct tally {
  int32_t runs, steps, through, over, unconverged, stops;
  int32_t deep;   /* rest deeper than they may */
  double deepest; /* of the thinner one's thickness, at the end of any step */
  double excess;  /* of what is allowed: the larger of 1 % and 0.1 mm */
  double rest;    /* of the thickness, at the end where it rests */
  double gain;    /* J over m g side, in a step */
} tally;

typedef struct throw {
  form form;
  double scale;       /* of all lengths */
  double table, card; /* thickness, m */
  ds_pose pose;
  ds_vec3 v, w;
}
throw;

static ds_quat about(double x, double y, double z, double angle) {
  return quat_axis_angle(v3_unit(v3(x, y, z)), angle);
}

static throw draw(uint64_t * s, way how, form f) {
  throw t = {.form = f, .scale = 1};
  t.table = thinnest * pow(thickest / thinnest, random_unit(s));
  t.card = thinnest * pow(thickest / thinnest, random_unit(s));
  double yaw = random_in(s, 0, 2 * DS_PI), axis = random_in(s, 0, 2 * DS_PI), fall = random_in(s, 0.005, 0.3);
  double tilt = how == FLAT ? random_in(s, 0, 0.05) : random_in(s, 0, 0.5 * DS_PI);
  if (how == TIPPED) tilt = random_in(s, 1.2, 1.5), fall = 1e-4;
  t.pose.q = quat_mul(about(cos(axis), sin(axis), 0, tilt), about(0, 0, 1, yaw));
  double radius = 0.5 * side * (f == BOX || f == MESH ? sqrt(2) : 1);
  t.pose.p.x = random_in(s, -0.1, 0.1);
  t.pose.p.y = random_in(s, -0.1, 0.1);
  t.pose.p.z = radius * sin(tilt) + t.card + fall + 0.5 * t.table;
  if (how >= THROWN) {
    double speed = random_in(s, 0.5, 5), down = random_in(s, 0.2, 0.5 * DS_PI), to = random_in(s, 0, 2 * DS_PI);
    t.v = v3(speed * cos(down) * cos(to), speed * cos(down) * sin(to), -speed * sin(down));
    t.pose.p = v3(t.pose.p.x - 0.1 * cos(down) * cos(to), t.pose.p.y - 0.1 * cos(down) * sin(to), t.pose.p.z);
  }
  if (how == SPINNING) {
    double rate = random_in(s, 0, 30), z = random_in(s, -1, 1), phi = random_in(s, 0, 2 * DS_PI), r = sqrt(1 - z * z);
    t.w = v3(rate * r * cos(phi), rate * r * sin(phi), rate * z);
    t.pose.p.z = fmax(t.pose.p.z, 0.75 * side + 0.5 * t.table);
  }
  return t;
}

static prism prism_of_form(form f, double width, double thickness) {
  if (f == BOX || f == MESH) return prism_box(width, width, thickness);
  return prism_regular(f == HULL ? 5 : PRISM_SIDES, 0.5 * width, thickness);
}

/* A plate as a surface of triangles. */
static ds_solid *solid_of(const prism *p) {
  ds_vec3 vertices[2 * PRISM_SIDES];
  int32_t triangles[12 * PRISM_SIDES], count = 0, n = p->sides;
  memcpy(vertices, p->vertex, sizeof vertices);
  for (int32_t i = 0; i < n; i++) {
    int32_t j = (i + 1) % n, around[6] = {2 * i, 2 * j, 2 * j + 1, 2 * i, 2 * j + 1, 2 * i + 1};
    for (int k = 0; k < 6; k++) triangles[count++] = around[k];
    if (i < 1 || i > n - 2) continue;
    int32_t caps[6] = {0, 2 * j, 2 * i, 1, 2 * i + 1, 2 * j + 1};
    for (int k = 0; k < 6; k++) triangles[count++] = caps[k];
  }
  ds_mesh mesh = {vertices, 2 * n, triangles, count / 3};
  ds_solid_def def = ds_default_solid();
  ds_error error = {""};
  def.threads = 1;
  ds_solid *solid = ds_solid_create(&mesh, &def, &error);
  if (!solid) printf("%s\n", error.message);
  CHECK(solid != NULL);
  return solid;
}

/* The solid, if there is one, is to be released. */
static ds_shape_def shape_of_form(form f, const prism *p, double width) {
  if (f == BOX) return shape_box(width, width, p->thickness);
  if (f == DISC) return shape_round(DS_SHAPE_CYLINDER, 0.5 * width, 0.5 * p->thickness);
  ds_shape_def def = ds_default_shape();
  def.kind = f == MESH ? DS_SHAPE_SOLID : DS_SHAPE_HULL;
  if (f == MESH) def.solid = solid_of(p);
  def.points = p->vertex;
  def.point_count = 2 * p->sides;
  return def;
}

static ds_pose between(ds_pose a, ds_pose b, double t) {
  double sign = a.q.w * b.q.w + a.q.x * b.q.x + a.q.y * b.q.y + a.q.z * b.q.z < 0 ? -1 : 1;
  ds_quat q = quat(a.q.w + t * (sign * b.q.w - a.q.w), a.q.x + t * (sign * b.q.x - a.q.x),
                   a.q.y + t * (sign * b.q.y - a.q.y), a.q.z + t * (sign * b.q.z - a.q.z));
  return (ds_pose){v3_mad(a.p, t, v3_sub(b.p, a.p)), quat_unit(q)};
}

/* Whether a point of the plate's middle plane goes through z = 0 within the table. */
static bool passes(const prism *p, ds_pose from, ds_pose to, double half) {
  enum { PARTS = 8 };
  for (int32_t v = 0; v < p->sides; v++)
    for (int share = 1; share <= 4; share++) {
      ds_vec3 x = v3_scale(0.25 * share, v3(p->vertex[2 * v].x, p->vertex[2 * v].y, 0)), last = pose_point(from, x);
      for (int k = 1; k <= PARTS; k++) {
        ds_vec3 next = pose_point(between(from, to, (double)k / PARTS), x);
        ds_vec3 at = v3_mad(last, last.z / (last.z - next.z), v3_sub(next, last));
        if (last.z * next.z < 0 && fmax(fabs(at.x), fabs(at.y)) < half) return true;
        last = next;
      }
    }
  return false;
}

static bool start(sim *s, const throw *t, const prism *card) {
  double l = t->scale;
  ds_scene *scene = scene_new(v3(0, 0, -9.81 * l), 0.5, 0);
  ds_body_def fixed = body_at(0, 0, 0), moving = ds_default_body();
  fixed.kind = DS_BODY_STATIC;
  moving.name = "card";
  moving.pose = (ds_pose){v3_scale(l, t->pose.p), t->pose.q};
  moving.velocity = v3_scale(l, t->v), moving.angular_velocity = t->w;
  ds_shape_def shape = shape_of_form(t->form, card, l * side);
  scene_add(scene, &fixed, shape_box(l * table_side, l * table_side, l * t->table));
  scene_add(scene, &moving, shape);
  ds_solid_release(shape.solid);
  return sim_finish(s, "plate", scene);
}

/* Throws a plate and adds what happened to the tally; returns where it is in the end. */
static ds_pose run(tally *all, const throw *t, double time) {
  double l = t->scale, thin = l * fmin(t->card, t->table), deepest = 0, last = 0;
  prism card = prism_of_form(t->form, l * side, l * t->card);
  prism table = prism_box(l * table_side, l * table_side, l * t->table);
  double allowed = fmax(share_allowed * thin, l * always_allowed), lift = 9.81 * l * l * side; /* per mass */
  ds_pose still = {{0, 0, 0}, {1, 0, 0, 0}}, from = still;
  bool through = false;
  int32_t unmoved = 0;
  sim s;
  if (!start(&s, t, &card)) return still;
  ds_body_id id = sim_body(&s, "card");
  double mass = ds_body_mass(s.scene, id).mass;
  from = ds_state_pose(s.scene, s.state, id);
  for (int32_t k = 0; k < (int32_t)(time / s.options.step + 0.5) && sim_step(&s); k++) {
    ds_pose to = ds_state_pose(s.scene, s.state, id);
    last = fmax(0, prism_overlap(&table, still, &card, to));
    through |= passes(&card, from, to, 0.5 * l * table_side);
    deepest = fmax(deepest, last);
    all->stops += s.report.stopped_bodies;
    all->steps++;
    unmoved = v3_dist(from.p, to.p) == 0 ? unmoved + 1 : 0;
    from = to;
    if (to.p.z < -0.5 * l) break;
  }
  all->runs++;
  all->through += through;
  all->over += !(deepest <= allowed);
  all->unconverged += s.unconverged + s.failed;
  all->deepest = fmax(all->deepest, deepest / thin);
  all->excess = fmax(all->excess, deepest / allowed);
  if (unmoved > 2) all->rest = fmax(all->rest, last / thin);
  all->deep += unmoved > 2 && last > rest_allowed * thin;
  all->gain = fmax(all->gain, s.energy_gain / (mass * lift));
  sim_free(&s);
  return from;
}

static void check(const tally *t, const char *what) {
  printf("| %s | %d | %d | %.2g %% | %.2f | %.3f %% | %.1g | %.1f %% |\n", what, (int)t->runs, (int)t->through,
         100 * t->deepest, t->excess, 100 * t->rest, t->gain, 100.0 * t->stops / t->steps);
  CHECK_NEAR(t->through, 0, 0);
  CHECK_NEAR(t->over, 0, 0);
  CHECK_NEAR(t->unconverged, 0, 0);
  CHECK_LE(t->deep, t->runs / 400); /* a disc across the rim of the table, 0.23 %, once in 2,000 plates */
  CHECK_LE(t->gain, gain_allowed);
}

static void plates(void) {
  int32_t runs = test_long() ? 400 : test_quick() ? 9 : 45;
  for (way how = 0; how < WAYS; how++) {
    tally t = {0};
    for (int32_t i = 0; i < runs; i++) {
      uint64_t s = 1000 * (uint64_t)how + (uint64_t)i;
      throw it = draw(&s, how, (form)(i % 3));
      run(&t, &it, 1.5);
    }
    check(&t, way_names[how]);
  }
}

/* A disc that lands nearly flat on a plate, both thinner than what it falls in half a step: where it would
 * be in the middle of a step, as its velocity before the impact has it, it is below the plate, whose other side held on
 * to it: it kept 0.6 of its energy, without moving, and gained 2 % of m g l in a step. */
static void lands_on_thin(void) {
  tally t = {0};
  uint64_t s = 359;
  throw it = draw(&s, FLAT, DISC);
  run(&t, &it, 0.5);
  check(&t, "a disc on a plate as thin");
}

/* Surfaces of triangles, which have no separating directions. */
static void meshes(void) {
  int32_t runs = test_long() ? 20 : test_quick() ? 1 : 4;
  tally t = {0};
  for (way how = 0; how < WAYS; how++)
    for (int32_t i = 0; i < runs; i++) {
      uint64_t s = 77000 + 1000 * (uint64_t)how + (uint64_t)i;
      throw it = draw(&s, how, MESH);
      run(&t, &it, 1);
    }
  check(&t, "surfaces of triangles, all of these");
}

/* The same with all lengths 1024 times as small and as large, powers of two that change no rounding: no length is built
 * in (test_scaling has other scenes). */
static void scales(void) {
  static const double factors[2] = {0x1p-10, 0x1p10};
  double worst = 0;
  for (int32_t i = 0; i < 9; i++) {
    uint64_t s = 5000 + (uint64_t)i;
    throw it = draw(&s, (way)(i % WAYS), (form)(i % 3));
    tally t = {0};
    ds_pose one = run(&t, &it, 0.4);
    for (int k = 0; k < 2; k++) {
      it.scale = factors[k];
      ds_pose other = run(&t, &it, 0.4);
      double off = v3_dist(v3_scale(1 / it.scale, other.p), one.p) / side;
      if (off > 1e-9) printf("     plate %d, lengths times %g: off by %.2g of its side\n", (int)i, it.scale, off);
      worst = fmax(worst, off);
    }
  }
  printf("     lengths times 1/1024 and 1024: off by %.2g of the side\n", worst);
  CHECK_LE(worst, 0);
}

/* Bodies that fall on each other and on a floor. */
typedef struct heap {
  const char *name;
  int32_t count;
  double size[3]; /* of the bodies, m: they differ by up to a fifth */
  double height;  /* of one layer over the other */
  double speed, spin, tilt, aside;
} heap;

/* The deepest overlap over the thinner one's thickness, and over what is allowed. */
static double deepest_of(double *excess, const sim *s, const prism *forms, const ds_body_id *ids, int32_t count) {
  double deepest = 0;
  for (int32_t i = 0; i < count; i++) {
    ds_pose a = ds_state_pose(s->scene, s->state, ids[i]);
    for (int32_t j = -1; j < i; j++) {
      double thin = forms[i].thickness, depth = 0;
      if (j < 0) { /* the floor */
        for (int32_t v = 0; v < 2 * forms[i].sides; v++) depth = fmax(depth, -pose_point(a, forms[i].vertex[v]).z);
      } else {
        thin = fmin(thin, forms[j].thickness);
        depth = prism_overlap(&forms[j], ds_state_pose(s->scene, s->state, ids[j]), &forms[i], a);
      }
      deepest = fmax(deepest, depth / thin);
      *excess = fmax(*excess, depth / fmax(share_allowed * thin, always_allowed));
    }
  }
  return deepest;
}

static void run_heap(tally *all, const heap *h, uint64_t seed) {
  enum { MOST = 64 };
  prism forms[MOST];
  ds_body_id ids[MOST];
  uint64_t r = seed;
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  scene_add_floor(scene);
  for (int32_t i = 0; i < h->count; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = h->size[k] * random_in(&r, 0.8, 1);
    int32_t sides = random_int(&r, 3) == 0 ? 3 + random_int(&r, 5) : 4;
    forms[i] = sides == 4 ? prism_box(x[0], x[1], x[2]) : prism_regular(sides, 0.5 * x[0], x[2]);
    ds_body_def def = ds_default_body();
    double a = random_in(&r, 0, 2 * DS_PI), tilt = random_in(&r, 0, h->tilt), yaw = random_in(&r, 0, 2 * DS_PI);
    double px = random_in(&r, -h->aside, h->aside), py = random_in(&r, -h->aside, h->aside);
    def.pose.p = v3(px, py, h->height * (i + 1));
    def.pose.q = quat_mul(about(cos(a), sin(a), 0, tilt), about(0, 0, 1, yaw));
    def.velocity.x = random_in(&r, -h->speed, h->speed);
    def.velocity.z = -random_in(&r, 0, h->speed);
    def.angular_velocity.x = random_in(&r, -h->spin, h->spin);
    def.angular_velocity.y = random_in(&r, -h->spin, h->spin);
    ids[i] = scene_add(scene, &def, shape_of_form(HULL, &forms[i], x[0]));
  }
  sim s;
  if (!sim_finish(&s, h->name, scene)) return;
  double last = 0, weight = 0;
  for (int32_t i = 0; i < h->count; i++) weight += 9.81 * ds_body_mass(scene, ids[i]).mass;
  for (int32_t k = 0; k < 300 && sim_step(&s); k++) {
    last = deepest_of(&all->excess, &s, forms, ids, h->count);
    all->deepest = fmax(all->deepest, last);
    all->stops += s.report.stopped_bodies;
    all->steps += h->count;
  }
  all->runs++;
  all->over += all->excess > 1;
  all->unconverged += s.unconverged + s.failed;
  all->rest = fmax(all->rest, last);
  all->deep += last > rest_allowed;
  all->gain = fmax(all->gain, s.energy_gain / (weight * h->size[0]));
  sim_free(&s);
}

static void heaps(void) {
  static const heap list[] = {{"40 bodies of 100 mm", 40, {0.1, 0.1, 0.1}, 0.18, 0, 5, 1.5, 0.1},
                              {"30 slabs of 20 mm", 30, {0.2, 0.1, 0.02}, 0.23, 0, 5, 1.5, 0.1},
                              {"20 cards of 0.3 mm", 20, {0.09, 0.06, 0.0003}, 0.012, 0, 0, 0.1, 0.02},
                              {"20 cards of 1 mm, thrown", 20, {0.09, 0.06, 0.001}, 0.11, 2, 10, 1.5, 0.02}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    tally t = {0};
    if (i == 1 && !test_long()) continue; /* the flat ones take seconds each */
    for (uint64_t k = 0; k < (test_long() ? 4 : 1); k++) run_heap(&t, &list[i], 77 + k);
    check(&t, list[i].name);
  }
}

int main(void) {
  printf(
      "| plates | runs | through | deepest overlap | of what is allowed | at rest | energy gained in a step, of m g "
      "0.2 m | stopped in |\n|---|---|---|---|---|---|---|---|\n");
  RUN(plates);
  RUN(lands_on_thin);
  RUN(meshes);
  RUN(heaps);
  RUN(scales);
  return test_summary();
}
