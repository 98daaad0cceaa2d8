/* Recipes: distances of primitives against truth found in other ways, operations, placement; and their JSON. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mesh/recipe.h"
#include "random_pose.h"

typedef int32_t maker(ds_recipe *r);

static int32_t make_sphere(ds_recipe *r) { return ds_recipe_sphere(r, v3(0.1, -0.2, 0.3), 0.7); }
static int32_t make_box(ds_recipe *r) { return ds_recipe_box(r, v3(0.5, 0.3, 0.4), 0); }
static int32_t make_round_box(ds_recipe *r) { return ds_recipe_box(r, v3(0.5, 0.3, 0.4), 0.1); }
static int32_t make_capsule(ds_recipe *r) { return ds_recipe_capsule(r, v3(-0.4, 0, 0.1), 0.3, v3(0.5, 0.2, 0), 0.1); }
static int32_t make_torus(ds_recipe *r) { return ds_recipe_torus(r, 0.6, 0.2); }
static int32_t make_cone(ds_recipe *r) { return ds_recipe_cone(r, 0.6, 0.2, 0.9); }
static int32_t make_ellipsoid(ds_recipe *r) { return ds_recipe_ellipsoid(r, v3(0, 0.1, 0), v3(0.9, 0.5, 0.2)); }
static int32_t make_lathe(ds_recipe *r) {
  static const double p[] = {0, -0.5, 0.6, -0.5, 0.2, 0, 0.4, 0.5, 0, 0.4};
  return ds_recipe_lathe(r, p, 5, false);
}
static int32_t make_extrusion(ds_recipe *r) {
  static const double p[] = {-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, 0, 0, -0.5, 0.5};
  return ds_recipe_extrusion(r, p, 5, false, 0.8);
}
static int32_t make_spline(ds_recipe *r) {
  static const double p[] = {0, -0.6, 0, -0.6, 0.6, -0.5, 0.3, 0, 0.5, 0.4, 0, 0.6, 0, 0.6};
  return ds_recipe_lathe(r, p, 7, true);
}
static int32_t make_blend(ds_recipe *r) {
  int32_t all = ds_recipe_pair(r, DS_RECIPE_UNION, 0.2, make_sphere(r), make_capsule(r));
  return ds_recipe_pair(r, DS_RECIPE_SUBTRACTION, 0.1, all, make_ellipsoid(r));
}
static int32_t make_stretched(ds_recipe *r) {
  ds_quat q = quat_axis_angle(v3(1, 2, 3), 0.7);
  int32_t a = ds_recipe_place(r, make_lathe(r), v3(0.1, 0.2, 0), q, v3(1.2, 0.7, 0.9));
  return ds_recipe_mirror(r, ds_recipe_shell(r, a, 0.08), 1);
}

static maker *const makers[] = {make_sphere,    make_box,   make_round_box, make_capsule, make_torus, make_cone,
                                make_ellipsoid, make_lathe, make_extrusion, make_spline,  make_blend, make_stretched};
enum { MAKERS = (int)(sizeof makers / sizeof makers[0]), EXACT = 10 };

static ds_recipe build(maker *make) {
  ds_recipe r = {0};
  ds_error error;
  CHECK(ds_recipe_finish(&r, make(&r), &error) == DS_OK);
  return r;
}

/* A distance changes no faster than its place; and |f| is reached by going straight to the surface: f(x - f grad f) = 0
 * where f is the exact distance and smooth there. */
static void distances(void) {
  for (int m = 0; m < MAKERS; m++) {
    ds_recipe r = build(makers[m]);
    double steepest = 0;
    int tried = 0, missed = 0;
    for (int i = 0; i < 4000; i++) {
      ds_vec3 x = random_vec(1.5), y = v3_add(x, random_vec(i % 2 ? 0.3 : 0.01));
      double f = ds_recipe_distance(&r, x), g = ds_recipe_distance(&r, y), e = 1e-6;
      steepest = fmax(steepest, fabs(f - g) / v3_dist(x, y));
      ds_vec3 n = v3(ds_recipe_distance(&r, v3(x.x + e, x.y, x.z)) - ds_recipe_distance(&r, v3(x.x - e, x.y, x.z)),
                     ds_recipe_distance(&r, v3(x.x, x.y + e, x.z)) - ds_recipe_distance(&r, v3(x.x, x.y - e, x.z)),
                     ds_recipe_distance(&r, v3(x.x, x.y, x.z + e)) - ds_recipe_distance(&r, v3(x.x, x.y, x.z - e)));
      n = v3_scale(0.5 / e, n);
      if (m >= EXACT || fabs(v3_norm(n) - 1) > 1e-5) continue; /* a kink */
      tried++;
      missed += !(fabs(ds_recipe_distance(&r, v3_mad(x, -f, n))) < 1e-4);
    }
    CHECK_LE(steepest, 1 + 1e-9);
    CHECK(m >= EXACT || tried > 3500);
    CHECK(missed == 0);
    ds_recipe_free(&r);
  }
}

/* Sign and value against closed forms. */
static void known_values(void) {
  ds_recipe r = build(make_box);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 0)), -0.3, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0.8, 0.7, 0.4)), 0.5, 1e-15);
  ds_recipe_free(&r);
  r = build(make_torus);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 0)), 0.4, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0.36, 0.48, 0)), -0.2, 1e-15);
  ds_recipe_free(&r);
  r = build(make_cone);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 1.45)), 1, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(1.6, 0, -0.45)), 1, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 0)), -0.4 * cos(atan(0.4 / 0.9)), 1e-15);
  ds_recipe_free(&r);
  r = build(make_ellipsoid);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0.1, 0)), -0.2, 1e-7);
  CHECK_NEAR(ds_recipe_distance(&r, v3(1.4, 0.1, 0)), 0.5, 1e-7);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0.1, 2.2)), 2, 1e-7);
  ds_recipe_free(&r);
  /* the axis of a lathe is no surface */
  r = build(make_lathe);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, -0.4)), -0.1, 1e-15);
  ds_recipe_free(&r);
}

/* A lathe of a rectangle is a cylinder, an extruded square a box, a hull of two equal balls its own mirror image. */
static void same_solids(void) {
  static const double rectangle[] = {0, -0.4, 0.5, -0.4, 0.5, 0.4, 0, 0.4},
                      square[] = {-0.3, -0.2, 0.3, -0.2, 0.3, 0.2, -0.3, 0.2};
  ds_recipe a = {0}, b = {0}, c = {0}, d = {0};
  CHECK(ds_recipe_finish(&a, ds_recipe_lathe(&a, rectangle, 4, false), NULL) == DS_OK);
  CHECK(ds_recipe_finish(&b, ds_recipe_cone(&b, 0.5, 0.5, 0.8), NULL) == DS_OK);
  CHECK(ds_recipe_finish(&c, ds_recipe_extrusion(&c, square, 4, false, 1), NULL) == DS_OK);
  CHECK(ds_recipe_finish(&d, ds_recipe_box(&d, v3(0.3, 0.2, 0.5), 0), NULL) == DS_OK);
  for (int i = 0; i < 2000; i++) {
    ds_vec3 x = random_vec(1);
    CHECK_NEAR(ds_recipe_distance(&a, x), ds_recipe_distance(&b, x), 1e-14);
    CHECK_NEAR(ds_recipe_distance(&c, x), ds_recipe_distance(&d, x), 1e-14);
  }
  ds_recipe_free(&a);
  ds_recipe_free(&b);
  ds_recipe_free(&c);
  ds_recipe_free(&d);
}

static int32_t two_balls(ds_recipe *r, ds_recipe_kind kind, double blend) {
  return ds_recipe_pair(r, kind, blend, ds_recipe_sphere(r, v3(0, 0, 0), 1), ds_recipe_sphere(r, v3(1, 0, 0), 1));
}

/* Union, intersection and subtraction are those of sets; a blend only adds to a union, near where both surfaces meet.
 */
static void operations(void) {
  ds_recipe u = {0}, n = {0}, s = {0}, b = {0};
  CHECK(ds_recipe_finish(&u, two_balls(&u, DS_RECIPE_UNION, 0), NULL) == DS_OK);
  CHECK(ds_recipe_finish(&n, two_balls(&n, DS_RECIPE_INTERSECTION, 0), NULL) == DS_OK);
  CHECK(ds_recipe_finish(&s, two_balls(&s, DS_RECIPE_SUBTRACTION, 0), NULL) == DS_OK);
  CHECK(ds_recipe_finish(&b, two_balls(&b, DS_RECIPE_UNION, 0.3), NULL) == DS_OK);
  for (int i = 0; i < 4000; i++) {
    ds_vec3 x = random_vec(2.5);
    bool p = v3_norm(x) < 1, q = v3_dist(x, v3(1, 0, 0)) < 1;
    CHECK((ds_recipe_distance(&u, x) < 0) == (p || q));
    CHECK((ds_recipe_distance(&n, x) < 0) == (p && q));
    CHECK((ds_recipe_distance(&s, x) < 0) == (p && !q));
    double added = ds_recipe_distance(&u, x) - ds_recipe_distance(&b, x);
    CHECK(added >= 0 && added <= 0.075 + 1e-15);
    if (fabs(v3_norm(x) - v3_dist(x, v3(1, 0, 0))) > 0.3) CHECK_NEAR(added, 0, 1e-15);
  }
  CHECK_NEAR(ds_recipe_distance(&b, v3(0.5, 2, 0)), sqrt(4.25) - 1 - 0.075, 1e-14);
  ds_recipe_free(&u);
  ds_recipe_free(&n);
  ds_recipe_free(&s);
  ds_recipe_free(&b);
}

static void placement(void) {
  ds_recipe r = {0};
  ds_quat q = quat_axis_angle(v3(0, 0, 1), DS_PI / 2);
  int32_t box = ds_recipe_place(&r, ds_recipe_box(&r, v3(0.5, 0.1, 0.2), 0), v3(1, 2, 3), q, v3(2, 2, 2));
  CHECK(ds_recipe_finish(&r, ds_recipe_mirror(&r, box, 0), NULL) == DS_OK);
  CHECK_NEAR(ds_recipe_distance(&r, v3(1, 3.5, 3)), 0.5, 1e-14);
  CHECK_NEAR(ds_recipe_distance(&r, v3(-1, 3.5, 3)), 0.5, 1e-14);
  CHECK_NEAR(ds_recipe_distance(&r, v3(1, 2, 3)), -0.2, 1e-14);
  CHECK_NEAR(r.nodes[r.root].low.x, -1.2, 1e-14);
  CHECK_NEAR(r.nodes[r.root].high.y, 3, 1e-14);
  ds_recipe_free(&r);
  int32_t shell = ds_recipe_shell(&r, ds_recipe_offset(&r, ds_recipe_box(&r, v3(1, 1, 1), 0), 0.5), 0.2);
  CHECK(ds_recipe_finish(&r, shell, NULL) == DS_OK);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 2)), 0.5, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 1.4)), -0.1, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 0)), 1.3, 1e-15);
  ds_recipe_free(&r);
}

/* ---- JSON ---- */

static ds_status read(ds_recipe *r, const char *text, ds_error *error) {
  double cell = 0;
  int32_t triangles = 0;
  *r = (ds_recipe){0};
  *error = (ds_error){""};
  return ds_recipe_read(r, &cell, &triangles, text, strlen(text), "a.json", error);
}

static void json(void) {
  static const char text[] =
      "{\"shape\": {\"kind\": \"subtraction\", \"of\": [\n"
      "  {\"kind\": \"box\", \"size\": [2, 2, 2], \"rounding\": 0.1, \"note\": \"block\"},\n"
      "  {\"kind\": \"cylinder\", \"radius\": 0.5, \"length\": 3, \"rotation\": {\"axis\": [0, 1, 0], \"degrees\": "
      "90}},\n"
      "  {\"kind\": \"half-space\", \"position\": [0, 0, -0.5]},\n"
      "  {\"kind\": \"lathe\", \"profile\": [[0, 0.8], [0.3, 0.8], [0.3, 2], [0, 2]]}]},\n"
      " \"cell\": 0.05, \"triangles\": 900}";
  ds_recipe r = {0};
  ds_error error;
  double cell = 0;
  int32_t triangles = 0;
  CHECK(ds_recipe_read(&r, &cell, &triangles, text, sizeof text - 1, "a.json", &error) == DS_OK);
  CHECK(cell == 0.05 && triangles == 900);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 0)), 0.5, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0.9, 0)), -0.1, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0.9, -0.6)), 0.1, 1e-15);
  CHECK_NEAR(ds_recipe_distance(&r, v3(0, 0, 0.9)), 0.1, 1e-15);
  ds_recipe_free(&r);
  ds_mesh mesh;
  CHECK(ds_mesh_recipe(&mesh, text, sizeof text - 1, "a.json", 0, &error) == DS_OK);
  CHECK(mesh.triangle_count == 900);
  ds_mesh_free(&mesh);
}

static void refused(void) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "a.json:1:1"},
      {"[1]", "a.json:1:1: an array where a part should stand"},
      {"{\"kind\": \"ball\", \"radius\": 1}", "a.json:1:10: \"kind\" is \"ball\""},
      {"{\"kind\": \"sphere\"}", "without \"radius\""},
      {"{\"kind\": \"sphere\", \"radius\": -1}", "\"radius\" is -1"},
      {"{\"kind\": \"sphere\", \"radius\": 1e9}", "\"radius\" is 1e+09"},
      {"{\"kind\": \"sphere\", \"radius\": NaN}", "a.json:1:30"},
      {"{\"kind\": \"sphere\", \"radius\": 1, \"tube\": 1}", "unknown key \"tube\""},
      {"{\"kind\": \"cylinder\",\n \"radius\": 1}", "without \"length\""},
      {"{\"kind\": \"capsule\", \"radius\": 1, \"from\": [0, 0, 0]}", "needs its ends once"},
      {"{\"kind\": \"capsule\", \"radius\": 1}", "needs its ends once"},
      {"{\"kind\": \"union\", \"of\": []}", "\"of\" has 0 parts"},
      {"{\"kind\": \"subtraction\", \"of\": [{\"kind\": \"sphere\", \"radius\": 1}]}", "expected at least 2"},
      {"{\"kind\": \"union\", \"of\": [\n{\"kind\": \"sphere\", \"radius\": 1},\n{\"kind\": \"cube\"}]}",
       "a.json:3:10: of[1]: \"kind\" is \"cube\""},
      {"{\"kind\": \"lathe\", \"profile\": [[0, 0], [1, 0]]}", "has 2 points"},
      {"{\"kind\": \"lathe\", \"profile\": [[0, 0], [-1, 0], [0, 1]]}", "r = -1"},
      {"{\"kind\": \"lathe\", \"profile\": [[0, 0], [1], [0, 1]]}", "expected points like [r, z]"},
      {"{\"kind\": \"half-space\"}", "no bounds"},
      {"{\"kind\": \"sphere\", \"radius\": 1, \"scale\": 0}", "\"scale\" is 0"},
      {"{\"kind\": \"intersection\", \"of\": [{\"kind\": \"sphere\", \"radius\": 1}, {\"kind\": \"sphere\", "
       "\"radius\": 1, "
       "\"position\": [3, 0, 0]}]}",
       "empty"},
      {"{\"shape\": {\"kind\": \"sphere\", \"radius\": 1}, \"cells\": 1}", "unknown key \"cells\""},
      {"{\"shape\": {\"kind\": \"sphere\", \"radius\": 1}, \"triangles\": 1.5}", "\"triangles\" is 1.5"},
  };
  ds_recipe r;
  ds_error error;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK(read(&r, cases[i].text, &error) == DS_ERROR_INPUT);
    CHECK(strstr(error.message, cases[i].message) != NULL);
    if (!strstr(error.message, cases[i].message)) printf("  %s\n  %s\n", cases[i].text, error.message);
    ds_recipe_free(&r);
  }
}

/* Unions within each other are refused by depth, and by number. */
static void too_deep_or_many(void) {
  char *text = malloc(1 << 20);
  ds_recipe r;
  ds_error error;
  CHECK(text != NULL);
  if (!text) return;
  size_t n = 0;
  for (int i = 0; i < 100; i++) n += (size_t)sprintf(text + n, "{\"kind\":\"union\",\"of\":[");
  CHECK(read(&r, text, &error) == DS_ERROR_INPUT && strstr(error.message, "brackets"));
  ds_recipe_free(&r);
  n = (size_t)sprintf(text, "{\"kind\":\"union\",\"of\":[");
  for (int i = 0; i < 5000; i++) n += (size_t)sprintf(text + n, "%s{\"kind\":\"sphere\",\"radius\":1}", i ? "," : "");
  sprintf(text + n, "]}");
  CHECK(read(&r, text, &error) == DS_ERROR_INPUT && strstr(error.message, "more than"));
  ds_recipe_free(&r);
  free(text);
}

int main(void) {
  RUN(distances);
  RUN(known_values);
  RUN(same_solids);
  RUN(operations);
  RUN(placement);
  RUN(json);
  RUN(refused);
  RUN(too_deep_or_many);
  return test_summary();
}
