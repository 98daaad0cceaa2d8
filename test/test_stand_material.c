/* Cohesion, crushing, cables, settlements, orders of assembly, toy bricks and OBJ files against statics that is known.
 */
#include "drystone/stand.h"
#include "stand_helper.h"

static hand h;

static ds_verdict proven_verdict(const ds_assembly *a) {
  ds_stand s;
  ds_verification v;
  ds_error error = {""};
  CHECK(ds_stand_check(&s, a, NULL, &error) == DS_OK);
  CHECK(certificate_holds(&s, a, &v));
  ds_verdict verdict = s.verdict;
  ds_stand_free(&s);
  return verdict;
}

static double push_limit(const ds_assembly *a) {
  ds_multiplier m;
  ds_error error = {""};
  CHECK(ds_stand_push(&m, a, v3(1, 0, 0), &error) == DS_OK);
  CHECK_NEAR(m.equilibrium, m.falls, 1e-5 * (1 + m.falls));
  double limit = m.falls;
  ds_multiplier_free(&m);
  return limit;
}

/* A block of breadth b, depth 1 and height t on the ground, 1000 kg/m³. */
static int32_t stand_block(double b, double t, double mu) {
  hand_begin(&h);
  int32_t ground = hand_support(&h), block = hand_box(&h, v3(0, 0, t / 2), v3(b, 1, t));
  hand_joint(&h, ground, block, v3(-b / 2, 0, 0), v3(b / 2, 0, 0), 1, v3(0, 0, 1), mu);
  return block;
}

/* A block glued to a ceiling falls when its weight is more than the tension of its four points. */
static void test_ceiling(void) {
  for (int32_t i = 0; i < 2; i++) {
    hand_begin(&h);
    int32_t ceiling = hand_support(&h), block = hand_box(&h, v3(0, 0, -0.5), v3(1, 1, 1));
    hand_joint(&h, block, ceiling, v3(-0.5, 0, 0), v3(0.5, 0, 0), 1, v3(0, 0, 1), 0.5);
    h.interfaces[0].tension = 9810.0 / 4 * (i == 0 ? 1 + 1e-6 : 1 - 1e-6);
    CHECK(proven_verdict(&h.a) == (i == 0 ? DS_STANDS : DS_FALLS));
  }
}

/* With tension T in all, a block tips at b/t (1 + T/W) and slides at mu (1 + T/W). */
static void test_cohesion(void) {
  for (int32_t i = 0; i < 2; i++) {
    double mu = i == 0 ? 0.3 : 5, b = 1, t = 2, weight = 9.81 * 1000 * b * t, tension = 0.7 * weight;
    stand_block(b, t, mu);
    h.interfaces[0].tension = tension / 4;
    CHECK_NEAR(push_limit(&h.a), fmin(mu, b / t) * (1 + tension / weight), 1e-6);
    ds_force_range range;
    ds_error error = {""};
    CHECK(ds_stand_range(&range, &h.a, 0, &error) == DS_OK);
    CHECK_NEAR(range.low, weight, 1e-3 * weight);
    CHECK_NEAR(range.high, weight, 1e-3 * weight);
    CHECK_NEAR(range.least, weight, 1e-3 * weight);
    CHECK_NEAR(range.most, weight, 1e-3 * weight);
  }
}

/* Points between the corners change nothing but the tension, which each of them has: a grid of n x n points holds as
 * one of four with the same sum. Proofs have all points. */
static void test_inner_points(void) {
  double b = 1, t = 2, weight = 9.81 * 1000 * b * t, mu = 5;
  enum { N = 7 };
  for (int32_t i = 0; i < 2; i++) {
    double tension = i == 0 ? 0 : 0.7 * weight;
    ds_vec3 points[N * N];
    hand_begin(&h);
    int32_t ground = hand_support(&h), block = hand_box(&h, v3(0, 0, t / 2), v3(b, 1, t));
    for (int32_t k = 0; k < N * N; k++) points[k] = v3(b * (k % N / (N - 1.0) - 0.5), k / N / (N - 1.0) - 0.5, 0);
    hand_interface(&h, ground, block, v3(0, 0, 1), mu, points, N * N);
    h.interfaces[0].tension = tension / (N * N);
    CHECK_NEAR(push_limit(&h.a), b / t * (1 + tension / weight), 1e-6);
    CHECK(proven_verdict(&h.a) == DS_STANDS);
    ds_stand stand;
    ds_error error = {""};
    h.blocks[block].force = v3(0, 0, i == 0 ? 0 : 1.35 * weight); /* lifted: 0.35 W of the tension, evenly */
    CHECK(ds_stand_check(&stand, &h.a, NULL, &error) == DS_OK);
    if (i == 1) CHECK_NEAR(ds_interface_thrust(&h.a, &stand, 0).section, 0.5, 1e-6);
    ds_stand_free(&stand);
    h.blocks[block].force = v3(1.001 * b / t * (weight + tension), 0, 0);
    CHECK(proven_verdict(&h.a) == DS_FALLS);
  }
}

/* The owned copy of an assembly, for calls that change its points. */
static ds_assembly *copy(void) {
  ds_assembly *a = ds_assembly_without(&h.a, -1);
  CHECK(a != NULL);
  return a;
}

/* Even pressure of strength s on a strip at the edge: a block tips at b/t (1 - W/(s A)). The cells err by less than
 * 1/24 of the depth, on the safe side, and crush in pure compression at exactly s A. */
static void test_crushing(void) {
  double b = 1, t = 2, weight = 9.81 * 1000 * b * t;
  ds_error error = {""};
  static const double ratios[] = {1.5, 3, 10, 100};
  for (int32_t i = 0; i < 4; i++) {
    stand_block(b, t, 5);
    ds_assembly *a = copy();
    CHECK(ds_assembly_set_material(a, 0, ratios[i] * weight / b, &error) == DS_OK);
    double limit = push_limit(a), exact = b / t * (1 - 1 / ratios[i]);
    CHECK_LE(limit, exact * (1 + 1e-6));
    CHECK_LE(exact - b / t / 12, limit);
    CHECK(proven_verdict(a) == DS_STANDS);
    ds_assembly_free(a);
  }
  for (int32_t i = 0; i < 2; i++) {
    stand_block(b, t, 5);
    ds_assembly *a = copy();
    CHECK(ds_assembly_set_material(a, 0, weight / b * (i == 0 ? 1 + 1e-6 : 1 - 1e-6), &error) == DS_OK);
    CHECK(proven_verdict(a) == (i == 0 ? DS_STANDS : DS_FALLS));
    ds_assembly_free(a);
  }
}

static ds_status apply(ds_assembly *a, const char *text, ds_error *error) {
  return ds_assembly_apply(a, text, strlen(text), "i.json", error);
}

/* A cable through the middle holds a block down: it tips at b/t (1 + P/W). */
static void test_cable(void) {
  double b = 1, t = 2, weight = 9.81 * 1000 * b * t;
  ds_error error = {""};
  stand_block(b, t, 5);
  ds_assembly *a = copy();
  char text[256];
  snprintf(text, sizeof text,
           "{\"cables\": [{\"tension\": %.17g, \"path\": [{\"block\": \"b0\", \"point\": [0, 0, 0]}, {\"block\": "
           "\"b1\", \"point\": [0, 0, 2]}]}]}",
           weight);
  CHECK(apply(a, text, &error) == DS_OK);
  CHECK_NEAR(push_limit(a), 2 * b / t, 1e-6);
  ds_assembly_free(a);
}

static void test_rules(void) {
  ds_error error = {""};
  stand_block(1, 2, 5);
  ds_assembly *a = copy();
  CHECK(apply(a, "{\"interfaces\": [{\"mu\": 0.5}, {\"a\": \"b1\", \"b\": \"b0\", \"mu\": 0.2, \"cohesion\": 100}]}",
              &error) == DS_OK);
  CHECK_NEAR(a->interfaces[0].mu, 0.2, 0);
  CHECK_NEAR(a->interfaces[0].tension, 25, 1e-9);
  static const char *const bad[][2] = {
      {"{\"interfaces\": [{\"a\": \"nobody\", \"mu\": 1}]}", "i.json:1:17: no interface is between"},
      {"{\"interfaces\": [{\"mu\": -1}]}", "\"mu\""},
      {"{\"interface\": []}", "unknown key"},
      {"{\"cables\": [{\"tension\": 1, \"path\": []}]}", "two or more anchors"},
      {"{\"cables\": [{\"tension\": 0}]}", "a tension above 0 N"},
      {"{\"loads\": [{\"block\": \"b1\"}]}", "a load must have a force"},
      {"{\"loads\": [{\"block\": \"x\", \"force\": [0, 0, 1]}]}", "there is no block"},
      {"[]", "i.json:1:1"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(apply(a, bad[i][0], &error) == DS_ERROR_INPUT);
    if (!strstr(error.message, bad[i][1])) printf("%s\n", error.message);
    CHECK(strstr(error.message, bad[i][1]) != NULL);
  }
  ds_assembly_free(a);
}

/* A beam on three points: one that gives way carries nothing, and could have carried all at most. */
static void test_settlement(void) {
  hand_begin(&h);
  int32_t s[3] = {hand_support(&h), hand_support(&h), hand_support(&h)};
  int32_t beam = hand_box(&h, v3(0, 0, 0.5), v3(4, 1, 1));
  double weight = 9.81 * 4000;
  for (int32_t i = 0; i < 3; i++) {
    double x = 1.5 * (i - 1);
    hand_joint(&h, s[i], beam, v3(x - 1e-3, 0, 0), v3(x + 1e-3, 0, 0), 1, v3(0, 0, 1), 0.5);
  }
  ds_settlement r;
  ds_error error = {""};
  CHECK(ds_stand_settle(&r, &h.a, s[1], v3(0, 0, -2), &error) == DS_OK);
  CHECK_NEAR(r.high, 0, 1e-3 * weight);
  CHECK_LE(r.low, r.high);
  CHECK_NEAR(r.before_high, weight, 1e-3 * weight);
  CHECK(r.mechanism && v3_norm(r.mechanism[beam].v) < 1e-3); /* it stays on the outer two */
  ds_settlement_free(&r);
  CHECK(ds_stand_settle(&r, &h.a, s[0], v3(0, 0, -1), &error) == DS_OK);
  CHECK_NEAR(r.high, 0, 1e-3 * weight); /* the middle one carries all */
  ds_settlement_free(&r);
  CHECK(ds_stand_settle(&r, &h.a, beam, v3(0, 0, -1), &error) == DS_ERROR_INPUT);
  CHECK(ds_stand_settle(&r, &h.a, s[0], v3(0, 0, 0), &error) == DS_ERROR_INPUT);
}

/* A tower is put up from below; an arch needs a centring up to its keystone. */
static void test_order(void) {
  int32_t order[16], placed;
  ds_verdict stages[16];
  ds_error error = {""};
  hand_begin(&h);
  int32_t last = hand_support(&h);
  for (int32_t i = 0; i < 4; i++) {
    int32_t b = hand_box(&h, v3(0, 0, 3.5 - i), v3(1, 1, 1)); /* from above */
    hand_joint(&h, i < 3 ? b + 1 : last, b, v3(-0.5, 0, 3 - i), v3(0.5, 0, 3 - i), 1, v3(0, 0, 1), 0.5);
  }
  CHECK(ds_stand_order(order, &placed, stages, &h.a, &error) == DS_OK);
  CHECK(placed == 4);
  for (int32_t i = 1; i < 5; i++) CHECK(order[i] == 5 - i && stages[i] == DS_STANDS);
  hand_arch(&h, 7, 1, 0.25, 0, DS_PI, 0.7);
  CHECK(ds_stand_order(order, &placed, stages, &h.a, &error) == DS_OK);
  CHECK(placed <= 2); /* the springers stand alone */
}

/* The stairs of StableLego's paper: 19 levels stand, 20 do not. */
static void test_bricks(void) {
  for (int32_t levels = 19; levels <= 20; levels++) {
    char text[4096] = "{";
    ds_error error = {""};
    for (int32_t i = 0; i < levels; i++)
      snprintf(text + strlen(text), sizeof text - strlen(text),
               "%s\"%d\": {\"x\": %d, \"y\": 21, \"z\": %d, \"brick_id\": 2, \"ori\": 1}", i ? ", " : "", (int)i + 1,
               2 * (int)i, (int)i);
    strcat(text, "}");
    CHECK(ds_assembly_is_bricks(text, strlen(text)) && !ds_assembly_is_compas(text, strlen(text)));
    ds_assembly *a = ds_assembly_read_bricks(text, strlen(text), "stair.json", NULL, &error);
    CHECK(a != NULL);
    if (!a) continue;
    CHECK(a->block_count == levels + 1 && a->interface_count == levels);
    CHECK(proven_verdict(a) == (levels == 19 ? DS_STANDS : DS_FALLS));
    ds_assembly_free(a);
  }
  static const char *const bad[][2] = {
      {"{\"1\": {\"x\": 0, \"y\": 0, \"z\": 0, \"brick_id\": 7, \"ori\": 0}}", "no brick with the id 7"},
      {"{\"1\": {\"x\": 0.5, \"y\": 0, \"z\": 0, \"brick_id\": 2, \"ori\": 0}}", "\"x\", a whole number"},
      {"{\"a\": {\"x\": 0, \"y\": 0, \"z\": 0, \"brick_id\": 2, \"ori\": 0}}", "key is a number"},
      {"{\"1\": {\"x\": 0, \"y\": 0, \"z\": 0, \"brick_id\": 2, \"ori\": 0}, \"2\": {\"x\": 1, \"y\": 0, \"z\": 0, "
       "\"brick_id\": 2, \"ori\": 0}}",
       "bricks 1 and 2 overlap"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ds_error error = {""};
    CHECK(ds_assembly_read_bricks(bad[i][0], strlen(bad[i][0]), "b.json", NULL, &error) == NULL);
    CHECK(strstr(error.message, bad[i][1]) != NULL);
  }
}

/* Boxes as OBJ: a column that leans beyond its middle falls, and not before. */
static void test_obj(void) {
  for (int32_t k = 0; k < 2; k++) {
    char text[2048] = "# two boxes\n";
    double shift = k == 0 ? 0.49 : 0.51;
    for (int32_t b = 0; b < 2; b++) {
      snprintf(text + strlen(text), sizeof text - strlen(text), "o box%d\n", (int)b);
      for (int32_t i = 0; i < 8; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "v %g %g %g\n", (i & 1) + b * shift,
                 (double)(i >> 1 & 1), (double)(i >> 2 & 1) + b);
      strcat(text,
             "f -8 -6 -5 -7\nf -4 -3 -1 -2\nf -8/1 -7/2 -3/3 -4/4\nf -6 -2 -1 -5\nf -8 -4 -2 -6\nf -7 -5 -1 -3\n");
    }
    ds_assembly_options options = ds_default_assembly_options();
    int32_t supports[] = {0};
    ds_error error = {""};
    options.supports = supports, options.support_count = 1, options.density = 1000;
    ds_assembly *a = ds_assembly_read_obj(text, strlen(text), "boxes.obj", &options, &error);
    if (!a) printf("%s\n", error.message);
    CHECK(a != NULL);
    if (!a) continue;
    CHECK(a->block_count == 2 && a->interface_count == 1 && strcmp(a->blocks[1].name, "box1") == 0);
    CHECK_NEAR(a->blocks[1].mass, 1000, 1e-9);
    CHECK(proven_verdict(a) == (k == 0 ? DS_STANDS : DS_FALLS));
    char *scene = ds_assembly_scene(a, "boxes", &error);
    CHECK(scene && strstr(scene, "\"hull\"") && strstr(scene, "\"static\""));
    free(scene);
    ds_assembly_free(a);
    supports[0] = 5;
    CHECK(ds_assembly_read_obj(text, strlen(text), "boxes.obj", &options, &error) == NULL);
    CHECK(strstr(error.message, "there is no group 5") != NULL);
  }
  static const char *const bad[][2] = {{"f 1 2 3\n", "b.obj:1: a face names a vertex"},
                                       {"v 0 0\n", "b.obj:1: expected three coordinates"},
                                       {"v 0 0 0\nv 1 0 0\nf 1 2\n", "b.obj:3: a face must have three"},
                                       {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "encloses no volume"},
                                       {"", "there are no faces"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ds_error error = {""};
    CHECK(ds_assembly_read_obj(bad[i][0], strlen(bad[i][0]), "b.obj", NULL, &error) == NULL);
    CHECK(strstr(error.message, bad[i][1]) != NULL);
  }
}

/* A box whose lower face opens by 10 mm along its length: an interface of the scene where the tolerance has all of it.
 */
static void test_partial(void) {
  char text[2048] = "";
  for (int32_t b = 0; b < 2; b++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "g box%d\n", (int)b);
    for (int32_t i = 0; i < 8; i++)
      snprintf(text + strlen(text), sizeof text - strlen(text), "v %d %d %g\n", (int)(i & 1), (int)(i >> 1 & 1),
               (double)(i >> 2 & 1) + b * (1 + 0.01 * (i & 1)));
    strcat(text, "f -8 -6 -5 -7\nf -4 -3 -1 -2\nf -8 -7 -3 -4\nf -6 -2 -1 -5\nf -8 -4 -2 -6\nf -7 -5 -1 -3\n");
  }
  for (int32_t i = 0; i < 2; i++) {
    ds_assembly_options options = ds_default_assembly_options();
    ds_error error = {""};
    options.tolerance = i == 0 ? 5e-3 : 2e-2;
    ds_assembly *a = ds_assembly_read_obj(text, strlen(text), "boxes.obj", &options, &error);
    CHECK(a && a->interface_count == 1 && a->interfaces[0].partial == (i == 0));
    char *scene = a ? ds_assembly_scene(a, "boxes", &error) : NULL;
    CHECK(scene && (strstr(scene, "\"normal\"") != NULL) == (i == 1));
    free(scene);
    ds_assembly_free(a);
  }
}

int main(void) {
  RUN(test_ceiling);
  RUN(test_cohesion);
  RUN(test_inner_points);
  RUN(test_crushing);
  RUN(test_cable);
  RUN(test_rules);
  RUN(test_settlement);
  RUN(test_order);
  RUN(test_bricks);
  RUN(test_obj);
  RUN(test_partial);
  return test_summary();
}
