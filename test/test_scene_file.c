/* Scene files: every key arrives in the scene, every mistake is named with its line, settings change single values, and
 * text that is cut or changed anywhere is refused without a crash. */
#include "drystone/scene_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "mistake.h"

/* One scene with every key of the format. */
static const char whole[] =
    "{ // every key\n"
    "  \"drystone\": 1, \"name\": \"whole\", \"note\": \"n\",\n"
    "  \"gravity\": [0, 0.5, -1.62], \"time\": 2.5,\n"
    "  \"options\": {\"step\": 0.005, \"tolerance\": 1e-6, \"method\": \"gauss-seidel\",\n"
    "    \"friction_samples\": 8, \"max_iterations\": 50, \"rel_err\": 1e-3, \"warm_start\": false,\n"
    "    \"restitution_law\": \"poisson\", \"impacts\": \"sequential\", \"face_pressure\": \"even\",\n"
    "    \"contacts_per_face\": 16, \"margin\": 1e-4, \"note\": \"n\"},\n"
    "  \"friction_rule\": \"min\", \"restitution_rule\": \"average\",\n"
    "  \"materials\": {\"card\": {\"mu\": 0.8, \"e\": 0.1, \"note\": \"n\"}, \"floor\": {\"mu\": 0.4}, \"note\": "
    "\"n\"},\n"
    "  \"pairs\": [{\"materials\": [\"card\", \"floor\"], \"mu\": 0.55, \"note\": \"n\"}],\n"
    "  \"allow_overlap\": false,\n"
    "  \"bodies\": [\n"
    "    {\"name\": \"ground\", \"kind\": \"static\", \"material\": \"floor\", \"shapes\": [{\"kind\": "
    "\"half-space\"}]},\n"
    "    {\"name\": \"card1\", \"position\": [1, 2, 3], \"rotation\": {\"axis\": [0, 0, 2], \"degrees\": 90, \"note\": "
    "\"n\"},\n"
    "     \"velocity\": [1, 0, 0], \"angular_velocity\": [0, 0, 3], \"material\": \"card\", \"mass\": 0.25, "
    "\"density\": 700,\n"
    "     \"linear_damping\": 0.1, \"angular_damping\": 0.2, \"force\": [1, 2, 3], \"torque\": [4, 5, 6],\n"
    "     \"release_time\": 0, \"color\": [1, 0.5, 0], \"note\": \"n\",\n"
    "     \"shapes\": [{\"kind\": \"box\", \"size\": [0.2, 0.4, 0.6], \"note\": \"n\"}]},\n"
    "    {\"position\": [0, 0, 10], \"mu\": 0.3, \"e\": 0.5, \"density\": 500, \"shapes\": [\n"
    "      {\"kind\": \"sphere\", \"radius\": 0.5},\n"
    "      {\"kind\": \"capsule\", \"radius\": 0.1, \"length\": 2, \"position\": [1, 0, 0], \"density\": 2000},\n"
    "      {\"kind\": \"cylinder\", \"radius\": 0.2, \"length\": 3, \"rotation\": [0.5, 0.5, 0.5, 0.5]},\n"
    "      {\"kind\": \"hull\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], \"position\": [0, 0, 2]}]},\n"
    "    {\"name\": \"same\", \"position\": [5, 0, 10], \"mu\": 0.3, \"e\": 0.5, \"shapes\": [{\"kind\": \"sphere\", "
    "\"radius\": 1}]},\n"
    "    {\"name\": \"belt\", \"kind\": \"kinematic\", \"position\": [0, 0, 20], \"shapes\": [{\"kind\": \"box\", "
    "\"size\": [1, 1, 1]}],\n"
    "     \"motion\": {\"kind\": \"velocity\", \"velocity\": [1, 0, 0], \"angular_velocity\": [0, 0, 1], "
    "\"start_time\": 1,\n"
    "       \"end_time\": 5, \"note\": \"n\"}},\n"
    "    {\"name\": \"table\", \"kind\": \"kinematic\", \"position\": [0, 0, 30], \"shapes\": [{\"kind\": \"box\", "
    "\"size\": [1, 1, 1]}],\n"
    "     \"motion\": {\"kind\": \"harmonic\", \"amplitude\": [0.1, 0, 0], \"angular_amplitude\": [0, 0, 0.2], "
    "\"frequency\": 2,\n"
    "       \"phase\": 0.5}},\n"
    "    {\"name\": \"door\", \"kind\": \"kinematic\", \"position\": [0, 0, 40], \"shapes\": [{\"kind\": \"box\", "
    "\"size\": [1, 1, 1]}],\n"
    "     \"motion\": {\"kind\": \"keyframes\", \"keyframes\": [{\"time\": 0}, {\"time\": 1, \"position\": [0, 0, 41], "
    "\"note\": \"n\"},\n"
    "       {\"time\": 2, \"rotation\": {\"axis\": [1, 0, 0], \"radians\": 1}}]}}\n"
    "  ]\n"
    "}\n";

/* Reads a copy that ends where the text ends, so that a sanitizer sees every read beyond. */
static ds_scene *read_copy(const char *text, size_t length, ds_run_settings *run, ds_error *error) {
  char *copy = malloc(length ? length : 1);
  memcpy(copy, text, length);
  error->message[0] = 0;
  ds_scene *scene = ds_scene_read_text(copy, length, "s.json", run, error);
  free(copy);
  return scene;
}

static void check_vec3(ds_vec3 v, double x, double y, double z) {
  CHECK_NEAR(v.x, x, 1e-15);
  CHECK_NEAR(v.y, y, 1e-15);
  CHECK_NEAR(v.z, z, 1e-15);
}

static void test_settings(void) {
  ds_run_settings run;
  ds_error error;
  ds_scene *scene = read_copy(whole, strlen(whole), &run, &error);
  CHECK(scene != NULL);
  if (!scene) {
    printf("  %s\n", error.message);
    return;
  }
  CHECK(strcmp(run.name, "whole") == 0);
  CHECK_NEAR(run.time, 2.5, 0);
  CHECK_NEAR(run.options.step, 0.005, 0);
  CHECK_NEAR(run.options.tolerance, 1e-6, 0);
  CHECK(run.options.method == ds_method_named("gauss-seidel"));
  CHECK(run.options.friction_samples == 8 && run.options.max_iterations == 50 && !run.options.warm_start);
  CHECK_NEAR(run.options.rel_err, 1e-3, 0);
  CHECK(run.options.contacts_per_face == 16);
  CHECK(run.options.restitution_law == ds_restitution_named("poisson"));
  CHECK(run.options.impacts == DS_IMPACTS_SEQUENTIAL && run.options.face_pressure == DS_PRESSURE_EVEN);
  CHECK_NEAR(run.options.margin, 1e-4, 0);
  check_vec3(ds_scene_gravity(scene), 0, 0.5, -1.62);
  ds_scene_destroy(scene);

  /* what is not given has its default; run may be NULL */
  const char *small = "{\"drystone\": 1, \"bodies\": [{\"shapes\": [{\"kind\": \"sphere\", \"radius\": 1}]}]}";
  scene = read_copy(small, strlen(small), &run, &error);
  CHECK(scene != NULL);
  ds_options options = ds_default_options();
  CHECK(run.name[0] == 0);
  CHECK_NEAR(run.time, 10, 0);
  CHECK_NEAR(run.options.step, options.step, 0);
  CHECK(run.options.warm_start == options.warm_start);
  check_vec3(ds_scene_gravity(scene), 0, 0, -9.81);
  ds_scene_destroy(scene);
  scene = read_copy(small, strlen(small), NULL, &error);
  CHECK(scene != NULL);
  ds_scene_destroy(scene);
}

static void test_bodies(void) {
  ds_error error;
  ds_scene *scene = read_copy(whole, strlen(whole), NULL, &error);
  CHECK(scene != NULL);
  if (!scene) return;
  CHECK(ds_scene_body_count(scene) == 7);
  ds_body_id ground = ds_scene_find_body(scene, "ground"), card = ds_scene_find_body(scene, "card1");
  CHECK(ground.index1 == 1 && card.index1 == 2);
  CHECK(ds_body_get_kind(scene, ground) == DS_BODY_STATIC && ds_body_get_kind(scene, card) == DS_BODY_DYNAMIC);
  CHECK(ds_body_shape(scene, ground, 0).kind == DS_SHAPE_HALF_SPACE);
  check_vec3(ds_body_color(scene, card), 1, 0.5, 0);
  CHECK_NEAR(ds_body_mass(scene, card).mass, 0.25, 1e-15);
  ds_shape_def box = ds_body_shape(scene, card, 0);
  CHECK(box.kind == DS_SHAPE_BOX);
  check_vec3(box.half, 0.1, 0.2, 0.3);
  CHECK_NEAR(box.density, 700, 0);

  ds_state *state = ds_state_create(scene);
  ds_pose pose = ds_state_pose(scene, state, card);
  check_vec3(pose.p, 1, 2, 3);
  CHECK_NEAR(fabs(pose.q.w), sqrt(0.5), 1e-12);
  CHECK_NEAR(fabs(pose.q.z), sqrt(0.5), 1e-12);
  check_vec3(ds_state_velocity(state, card), 1, 0, 0);
  check_vec3(ds_state_angular_velocity(state, card), 0, 0, 3);
  ds_state_destroy(state);

  ds_body_id many = ds_scene_body(scene, 2);
  CHECK(ds_body_name(scene, many)[0] == 0 && ds_body_shape_count(scene, many) == 4);
  ds_shape_def sphere = ds_body_shape(scene, many, 0), capsule = ds_body_shape(scene, many, 1);
  ds_shape_def cylinder = ds_body_shape(scene, many, 2), hull = ds_body_shape(scene, many, 3);
  CHECK(sphere.kind == DS_SHAPE_SPHERE && capsule.kind == DS_SHAPE_CAPSULE);
  CHECK(cylinder.kind == DS_SHAPE_CYLINDER && hull.kind == DS_SHAPE_HULL);
  CHECK_NEAR(sphere.radius, 0.5, 0);
  CHECK_NEAR(sphere.density, 500, 0);
  CHECK_NEAR(capsule.half_length, 1, 0);
  CHECK_NEAR(capsule.density, 2000, 0);
  check_vec3(capsule.pose.p, 1, 0, 0);
  CHECK_NEAR(cylinder.half_length, 1.5, 0);
  CHECK_NEAR(cylinder.pose.q.x, 0.5, 1e-15);
  CHECK(hull.point_count == 4);
  check_vec3(hull.points[3], 0, 0, 1);
  CHECK(ds_body_get_kind(scene, ds_scene_find_body(scene, "belt")) == DS_BODY_KINEMATIC);
  ds_scene_destroy(scene);
}

/* ---- mistakes ---- */

static const char base[] =
    "{\n"
    "  \"drystone\": 1,\n"
    "  \"time\": 5,\n"
    "  \"gravity\": [0, 0, -9.81],\n"
    "  \"options\": {\"step\": 0.01},\n"
    "  \"materials\": {\"wood\": {\"mu\": 0.5, \"e\": 0.2}, \"stone\": {\"mu\": 0.7}},\n"
    "  \"pairs\": [{\"materials\": [\"wood\", \"stone\"], \"mu\": 0.4}],\n"
    "  \"bodies\": [\n"
    "    {\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    "    {\"name\": \"a\", \"position\": [0, 0, 0.5], \"material\": \"wood\", \"mass\": 2,\n"
    "      \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1]}]},\n"
    "    {\"name\": \"b\", \"position\": [0, 0, 1.5], \"rotation\": [1, 0, 0, 0], \"density\": 300,\n"
    "      \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}]},\n"
    "    {\"name\": \"k\", \"kind\": \"kinematic\", \"position\": [0, 0, 5], \"shapes\": [{\"kind\": \"sphere\", "
    "\"radius\": 0.5}],\n"
    "      \"motion\": {\"kind\": \"keyframes\", \"keyframes\": [{\"time\": 0}, {\"time\": 1}]}}\n"
    "  ]\n"
    "}\n";

static const mistake mistakes[] = {
    {"\"drystone\": 1,", "", "s.json:1:1: no format version; a scene starts with \"drystone\": 1"},
    {"\"drystone\": 1", "\"drystone\": 2", "s.json:2:15: format version 2 is unknown"},
    {"\"drystone\": 1", "\"drystone\": \"1\"", "s.json:2:15: \"drystone\" is a text; expected the format version 1"},
    {"\"time\": 5", "\"tiem\": 5", "s.json:3:3: unknown key \"tiem\"; did you mean \"time\"?"},
    {"\"time\": 5", "\"zzzzzz\": 5", "s.json:3:3: unknown key \"zzzzzz\"; a scene has \"drystone\", \"name\""},
    {"\"time\": 5", "\"time\": 0", "s.json:3:11: \"time\" is 0; expected a number above 0 and at most 1e+12 (s)"},
    {"\"time\": 5", "\"time\": \"5\"", "s.json:3:11: \"time\" is a text; expected a number (s)"},
    {"\"time\": 5", "\"time\": null", "\"time\" is null; expected a number (s)"},
    {"\"time\": 5", "\"time\": NaN", "s.json:3:11: \"NaN\" is not a finite number"},
    {"\"time\": 5", "\"name\": \"\"", "\"name\" is empty"},
    {"\"time\": 5", "\"name\": \"a\\u0007\"", "\"name\" holds a control character"},
    {"\"time\": 5", "\"name\": \"0123456789012345678901234567890123456789012345678901234567890123\"",
     "\"name\" has 64 bytes; expected at most 63"},
    {"\"time\": 5", "\"note\": 5", "\"note\" is a number; expected a text"},
    {"\"time\": 5", "\"allow_overlap\": 1", "\"allow_overlap\" is a number; expected true or false"},
    {"\"time\": 5", "\"friction_rule\": \"minimum\"",
     "\"friction_rule\" is \"minimum\"; expected one of \"geometric\", \"min\", \"max\", \"average\", \"product\""},
    {"[0, 0, -9.81]", "[0, -9.81]", "s.json:4:14: \"gravity\" has 2 elements; expected an array of 3 numbers (m/s²)"},
    {"[0, 0, -9.81]", "[0, 0, \"g\"]", "s.json:4:21: \"gravity\" holds a text; expected an array of 3 numbers"},
    {"[0, 0, -9.81]", "-9.81", "\"gravity\" is a number; expected an array of 3 numbers"},
    {"[0, 0, -9.81]", "[0, 0, -1e300]",
     "s.json:4:21: \"gravity\" is -1e+300; expected a number between -1e12 and 1e12"},
    {"\"step\": 0.01", "\"step\": 0",
     "s.json:5:23: options: \"step\" is 0; expected a number above 0, from 1e-09 to 1000 (s)"},
    {"\"step\": 0.01", "\"dt\": 0.01", "options: unknown key \"dt\"; did you mean \"step\"?"},
    {"\"step\": 0.01", "\"method\": \"gaus-seidel\"", "did you mean \"gauss-seidel\"?"},
    {"\"step\": 0.01", "\"friction_samples\": 2",
     "\"friction_samples\" is 2; expected 0 for the exact disk, or 3 to 64"},
    {"\"step\": 0.01", "\"max_iterations\": 1.5", "\"max_iterations\" is 1.5; expected a whole number from 1 to 1e+09"},
    {"\"step\": 0.01", "\"tolerance\": -1", "\"tolerance\" is -1; expected a number from 0 to 1"},
    {"\"step\": 0.01", "\"warm_start\": \"yes\"", "\"warm_start\" is a text; expected true or false"},
    {"\"mu\": 0.5", "\"mu\": -0.5",
     "s.json:6:32: material \"wood\": \"mu\" is -0.5; expected a number from 0 to 1e+12"},
    {"\"e\": 0.2", "\"e\": 1.2", "material \"wood\": \"e\" is 1.2; expected a number from 0 to 1"},
    {"\"e\": 0.2", "\"restitution\": 0.2", "material \"wood\": unknown key \"restitution\"; did you mean \"e\"?"},
    {"{\"mu\": 0.7}", "0.7", "material \"stone\": a number where a material should stand; expected an object"},
    {"[\"wood\", \"stone\"]", "[\"wood\", \"stonr\"]",
     "s.json:7:36: pairs[0]: unknown material \"stonr\"; did you mean \"stone\"?"},
    {"[\"wood\", \"stone\"]", "[\"wood\"]",
     "pairs[0]: \"materials\" has 1 elements; expected the names of two materials"},
    {"[\"wood\", \"stone\"]", "[1, 2]", "pairs[0]: a number where the name of a material should stand"},
    {", \"mu\": 0.4}", "}", "pairs[0]: a pair with neither \"mu\" nor \"e\""},
    {", \"mu\": 0.4}", ", \"mu\": 0.4}, {\"materials\": [\"stone\", \"wood\"], \"e\": 1}",
     "pairs[1]: these materials have a pair on line 7 already"},
    {"\"bodies\"", "\"bodys\"", "unknown key \"bodys\"; did you mean \"bodies\"?"},
    {"\"name\": \"b\"", "\"name\": \"a\"", "s.json:12:14: body \"a\": the body on line 10 has this name too"},
    {"\"name\": \"b\"", "\"name\": 7",
     "s.json:12:14: bodies[2]: \"name\" is a number; expected a text in double quotes"},
    {"\"position\": [0, 0, 0.5]", "\"postion\": [0, 0, 0.5]",
     "s.json:10:19: body \"a\": unknown key \"postion\"; did you mean \"position\"?"},
    {"\"kind\": \"static\"", "\"kind\": \"statc\"",
     "\"kind\" is \"statc\"; expected one of \"dynamic\", \"static\", \"kinematic\", did you mean \"static\"?"},
    {"\"material\": \"wood\"", "\"material\": \"iron\"",
     "body \"a\": unknown material \"iron\"; add it to \"materials\""},
    {"\"material\": \"wood\"", "\"material\": \"wood\", \"mu\": 1",
     "body \"a\": \"material\" and \"mu\" in one body; keep one"},
    {"\"material\": \"wood\"", "\"mu\": -1", "body \"a\": \"mu\" is -1; expected a number from 0"},
    {"\"material\": \"wood\"", "\"e\": -0.1", "body \"a\": \"e\" is -0.1; expected a number from 0 to 1"},
    {"\"mass\": 2", "\"mass\": 0", "s.json:10:72: body \"a\": \"mass\" is 0; expected a number above 0"},
    {"\"mass\": 2", "\"mass\": -3", "body \"a\": \"mass\" is -3; expected a number above 0"},
    {"\"mass\": 2", "\"color\": [2, 0, 0]", "body \"a\": \"color\" is 2; expected a number from 0 to 1"},
    {"\"mass\": 2", "\"linear_damping\": -1", "\"linear_damping\" is -1; expected a number from 0"},
    {"\"mass\": 2", "\"release_time\": -1", "\"release_time\" is -1; expected a number from 0"},
    {"\"mass\": 2", "\"motion\": {\"kind\": \"velocity\"}",
     "body \"a\": \"motion\" in a body that is dynamic; expected \"kind\": \"kinematic\""},
    {"\"density\": 300", "\"density\": 0", "body \"b\": \"density\" is 0; expected a number above 0"},
    {"[1, 0, 0, 0]", "[1, 1, 0, 0]",
     "body \"b\": quaternion \"rotation\" has length 1.41421356, not 1; write [0.7071067811865475, 0.7071067811865475, "
     "0, 0]"},
    {"[1, 0, 0, 0]", "[0, 0, 0, 0]", "quaternion \"rotation\" is zero; [1, 0, 0, 0] is no rotation"},
    {"[1, 0, 0, 0]", "[1, 0, 0]", "\"rotation\" has 3 elements; expected a quaternion [w, x, y, z] or {\"axis\""},
    {"[1, 0, 0, 0]", "[1, 0, 0, \"0\"]", "\"rotation\" holds a text; expected a quaternion [w, x, y, z] or {\"axis\""},
    {"[1, 0, 0, 0]", "[1e13, 0, 0, 0]", "\"rotation\" is 1e+13; expected a number between -1e12 and 1e12"},
    {"[1, 0, 0, 0]", "45", "\"rotation\" is a number; expected a quaternion"},
    {"[1, 0, 0, 0]", "{\"axis\": [0, 0, 0], \"degrees\": 30}",
     "s.json:12:65: body \"b\": \"axis\" is zero; expected a direction"},
    {"[1, 0, 0, 0]", "{\"axis\": [0, 0, 1]}", "\"rotation\" has no angle; expected one of \"degrees\" and \"radians\""},
    {"[1, 0, 0, 0]", "{\"axis\": [0, 0, 1], \"degrees\": 1, \"radians\": 1}", "\"rotation\" has both angles"},
    {"[1, 0, 0, 0]", "{\"degrees\": 30}", "a rotation without \"axis\"; expected an array of 3 numbers"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"box\", \"size\": [1, 0, 1]",
     "s.json:11:46: body \"a\", shapes[0]: \"size\" is 0; expected a number above 0, from 1e-09 to 1e+12 (m)"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"box\", \"radius\": 1",
     "body \"a\", shapes[0]: unknown key \"radius\"; a shape of kind \"box\" has \"kind\", \"size\", \"position\""},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"box\"",
     "a shape of kind \"box\" without \"size\"; expected an array of 3 numbers"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"size\": [1, 1, 1]",
     "a shape without \"kind\"; expected one of \"sphere\", \"box\""},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"cube\", \"size\": [1, 1, 1]",
     "\"kind\" is \"cube\"; expected one of \"sphere\", \"box\", \"capsule\", \"cylinder\", \"hull\", \"half-space\", "
     "\"solid\""},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"cube\", \"size\": [1, 1, 1]", ", did you mean \"box\"?"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"half-space\"",
     "body \"a\", shapes[0]: a dynamic body cannot have a half-space"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"sphere\", \"radius\": -1",
     "\"radius\" is -1; expected a number above 0"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"capsule\", \"radius\": 1, \"height\": 2",
     "unknown key \"height\"; did you mean \"length\"?"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0]]",
     "\"points\" has 3 points; expected at least 4, not in one plane"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]",
     "\"kind\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[1,1,0],[3,2,0]]", "the points lie in one plane"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"hull\", \"points\": [[0,0,0],[1,1,1],[2,2,2],[3,3,3]]",
     "the points lie in one plane"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"hull\", \"points\": [[0,0,0],[0,0,0],[0,0,0],[0,0,0]]",
     "the points lie in one plane"},
    {"\"kind\": \"box\", \"size\": [1, 1, 1]", "\"kind\": \"hull\", \"points\": [[0,0,0],[1,0],[0,1,0],[0,0,1]]",
     "\"points\" has 2 elements; expected an array of 3 numbers (m)"},
    {"[{\"kind\": \"box\", \"size\": [1, 1, 1]}]", "[]",
     "body \"a\": \"shapes\" is empty; expected at least one shape"},
    {"[{\"kind\": \"box\", \"size\": [1, 1, 1]}]", "[5]",
     "body \"a\", shapes[0]: a number where a shape should stand; expected an object in { }"},
    {"\"kind\": \"static\"", "\"kind\": \"static\", \"velocity\": [1, 0, 0]",
     "body \"floor\": \"velocity\" in a static body, which never moves"},
    {"\"kind\": \"static\"", "\"kind\": \"kinematic\", \"force\": [1, 0, 0]",
     "\"force\" in a kinematic body, which moves by its script only; use \"motion\""},
    {"{\"time\": 1}", "{\"time\": 0}",
     "s.json:15:75: body \"k\", motion, keyframes[1]: \"time\" is 0 s after 0 s; expected ascending times"},
    {"{\"time\": 1}", "{\"time\": -1}", "keyframes[1]: \"time\" is -1 s after 0 s"},
    {"{\"time\": 1}", "{\"position\": [0, 0, 1]}", "keyframes[1]: a keyframe without \"time\"; expected a number"},
    {"[{\"time\": 0}, {\"time\": 1}]", "[]", "\"keyframes\" is empty"},
    {"\"keyframes\", \"keyframes\": [{\"time\": 0}, {\"time\": 1}]", "\"velocity\"",
     "body \"k\", motion: no velocity; expected \"velocity\" or"},
    {"\"keyframes\", \"keyframes\": [{\"time\": 0}, {\"time\": 1}]", "\"harmonic\", \"amplitude\": [1, 0, 0]",
     "a motion of kind \"harmonic\" without \"frequency\""},
    {"\"keyframes\", \"keyframes\": [{\"time\": 0}, {\"time\": 1}]", "\"harmonic\", \"frequency\": 1",
     "no amplitude; expected"},
    {"\"keyframes\", \"keyframes\": [{\"time\": 0}, {\"time\": 1}]",
     "\"velocity\", \"velocity\": [1, 0, 0], \"start_time\": 2, \"end_time\": 1",
     "\"end_time\" 1 s is not after \"start_time\" 2 s"},
    {"\"position\": [0, 0, 1.5]", "\"position\": [0, 0, 1.25]",
     "s.json:12:5: body \"b\": overlaps body \"a\" by 0.25 m at the start; move it, or set \"allow_overlap\": true"},
};

static void check_refused(const char *text, const char *message) {
  ds_error error;
  ds_scene *scene = read_copy(text, strlen(text), NULL, &error);
  bool ok = !scene && strstr(error.message, message) != NULL;
  CHECK(ok);
  if (!ok) printf("  got    %s\n  wanted %s\n", scene ? "a scene" : error.message, message);
  ds_scene_destroy(scene);
}

static void test_mistakes(void) {
  ds_error error;
  ds_scene *scene = read_copy(base, strlen(base), NULL, &error);
  CHECK(scene != NULL);
  if (!scene) printf("  %s\n", error.message);
  ds_scene_destroy(scene);
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    char *text = replace(base, mistakes[i].old, mistakes[i].new);
    CHECK(text != NULL);
    if (text) check_refused(text, mistakes[i].message);
    free(text);
  }
  check_refused("", "s.json:1:1: the text is empty");
  check_refused("[]", "s.json:1:1: an array where the scene should stand; expected an object");
  check_refused("{\"drystone\": 1}", "s.json:1:1: a scene without \"bodies\"; expected an array");
  check_refused("{\"drystone\": 1, \"bodies\": []}", "\"bodies\" is empty; expected at least one body");
  check_refused("{\"drystone\": 1, \"bodies\": [{}]}", "bodies[0]: a body without \"shapes\"");
  check_refused("{\"drystone\": 1, \"bodies\": [1]}", "bodies[0]: a number where a body should stand");
  check_refused("\x89PNG\r\n\x1a\n", "s.json:1:1: byte 0x89 is not UTF-8");
  CHECK(ds_scene_read_text("{", 1, NULL, NULL, NULL) == NULL);
}

/* What is right but near a mistake. */
static void test_accepted(void) {
  static const mistake changes[] = {
      {"[1, 0, 0, 0]", "[0.70710678, 0.70710678, 0, 0]", ""},
      {"[0, 0, 1.5]", "[0, 0, 1.49999]", ""}, /* rounding in a file */
      {"\"time\": 5", "\"time\": 5, \"allow_overlap\": true", ""},
      {"[0, 0, 1.5]", "[0, 0, 0.2]", "overlaps"},
      {"\"mu\": 0.5", "\"mu\": 0", ""},
      {"\"kind\": \"static\"", "\"kind\": \"static\", \"velocity\": [0, 0, 0]", ""},
  };
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    char *text = replace(base, changes[i].old, changes[i].new);
    if (changes[i].message[0]) {
      check_refused(text, changes[i].message);
    } else {
      ds_error error;
      ds_scene *scene = read_copy(text, strlen(text), NULL, &error);
      CHECK(scene != NULL);
      if (!scene) printf("  %s\n", error.message);
      ds_scene_destroy(scene);
    }
    free(text);
  }
  char *moved = replace(base, "[0, 0, 1.5]", "[0, 0, 0.2]");
  char *allowed = replace(moved, "\"time\": 5", "\"allow_overlap\": true");
  ds_error error;
  ds_scene *scene = read_copy(allowed, strlen(allowed), NULL, &error);
  CHECK(scene != NULL);
  ds_scene_destroy(scene);
  free(moved);
  free(allowed);
}

/* ---- cut and changed text ---- */

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static void test_truncation(void) {
  size_t end = strlen(whole);
  while (end > 0 && whole[end - 1] != '}') end--;
  int accepted = 0, silent = 0;
  for (size_t n = 0; n < end; n++) {
    ds_error error;
    ds_scene *scene = read_copy(whole, n, NULL, &error);
    accepted += scene != NULL;
    silent += strncmp(error.message, "s.json:", 7) != 0;
    ds_scene_destroy(scene);
  }
  CHECK_NEAR(accepted, 0, 0);
  CHECK_NEAR(silent, 0, 0);
}

static void test_mutations(void) {
  static const char *const pieces[] = {
      "{",      "}",    "[",    "]",    "\"",           ",",  ":",  "-",  "1e999",    "1e11",
      "0",      "null", "true", "\\",   "/*",           "//", "[]", "{}", "\"kind\"", "\"hull\"",
      "1e-300", "-0",   "\xFF", "\x01", "999999999999", ".",  "e"};
  size_t length = strlen(whole);
  uint64_t seed = 20260101;
  int silent = 0, read = 0;
  char *changed = malloc(length + 64);
  for (int i = 0; i < 6000; i++) {
    memcpy(changed, whole, length + 1);
    size_t n = length, at = next_random(&seed) % length;
    if (i % 3 == 0) { /* a byte */
      changed[at] = (char)next_random(&seed);
    } else if (i % 3 == 1) { /* a piece */
      const char *piece = pieces[next_random(&seed) % (sizeof pieces / sizeof pieces[0])];
      size_t size = strlen(piece);
      memmove(changed + at + size, changed + at, length - at);
      memcpy(changed + at, piece, size);
      n += size;
    } else { /* a few bytes removed */
      size_t size = next_random(&seed) % 12 + 1;
      if (size > length - at) size = length - at;
      memmove(changed + at, changed + at + size, length - at - size);
      n -= size;
    }
    ds_error error;
    ds_scene *scene = read_copy(changed, n, NULL, &error);
    read += scene != NULL;
    silent += !scene && strncmp(error.message, "s.json:", 7) != 0;
    ds_scene_destroy(scene);
  }
  free(changed);
  CHECK_NEAR(silent, 0, 0);
  CHECK(read > 0);
}

/* ---- settings ---- */

static void check_set(const char *one, const char *wanted) {
  ds_error error = {""};
  char *text = ds_scene_set(base, strlen(base), "s.json", &one, 1, &error);
  bool ok = text && strstr(text, wanted);
  CHECK(ok);
  if (!ok) printf("  %s: %s\n", one, text ? text : error.message);
  free(text);
}

static void check_not_set(const char *one, const char *wanted) {
  ds_error error = {""};
  char *text = ds_scene_set(base, strlen(base), "s.json", &one, 1, &error);
  bool ok = !text && strstr(error.message, wanted);
  CHECK(ok);
  if (!ok) printf("  %s: got %s\n  wanted %s\n", one, text ? "a text" : error.message, wanted);
  free(text);
}

static void test_set(void) {
  check_set("options.step=0.5", "\"options\": {\"step\": 0.5},\n");
  check_set("options.tolerance=1e-6", "\"options\": {\"step\": 0.01, \"tolerance\": 1e-06},\n");
  check_set("options.method=gauss-seidel", "\"step\": 0.01, \"method\": \"gauss-seidel\"}");
  check_set("options.warm_start=false", "\"warm_start\": false}");
  check_set("gravity.2=-1.62", "[0, 0, -1.62]");
  check_set("gravity=[1,2,3]", "\"gravity\": [1, 2, 3],");
  check_set("materials.wood.mu=0.3", "\"wood\": {\"mu\": 0.3, \"e\": 0.2}");
  check_set("bodies.b.position.0=7", "\"name\": \"b\", \"position\": [7, 0, 1.5]");
  check_set("bodies.1.mass=9", "\"mass\": 9,");
  check_set("bodies.b.mass=9", "\"radius\": 0.5}], \"mass\": 9},\n");
  check_set("bodies.b.shapes.0.radius=0.25", "\"radius\": 0.25}]},");
  check_set("bodies.a.material=stone", "\"material\": \"stone\"");
  check_set("bodies.a.material=\"stone\"", "\"material\": \"stone\"");
  check_set("name=my house", ", \"name\": \"my house\"\n}");
  check_set("pairs.0.e=1", "\"mu\": 0.4, \"e\": 1}");
  check_set("materials.ice={\"mu\": 0.02}", ", \"ice\": {\"mu\": 0.02}}");

  check_not_set("options.step", "s.json: setting \"options.step\": expected path=value");
  check_not_set("options.step=", "expected path=value");
  check_not_set("=3", "expected a path like options.step");
  check_not_set("options..step=3", "expected a path like options.step");
  check_not_set(".options=3", "expected a path");
  check_not_set("options.step=abc", "the value is a text; expected a number, as in the file");
  check_not_set("options.step=NaN", "the value is a text; expected a number, as in the file");
  check_not_set("options.step=1e999", "\"1e999\" is too large");
  check_not_set("options.step=[1", "never closed");
  check_not_set("options=5", "the value is a number; expected an object, as in the file");
  check_not_set("options.step.x=5", "a plain value has nothing below it");
  check_not_set("optoins.step=5", "no such key; add its parent to the file first: \"optoins.step\"");
  check_not_set("bodies.9.mass=5", "expected an index below 4 or the name of an element, found \"9.mass\"");
  check_not_set("bodies.zz.mass=5", "expected an index below 4 or the name of an element");
  check_not_set("gravity.3=5", "expected an index below 3");
}

static void test_set_many(void) {
  const char *const two[] = {"options.step=0.002", "options.step=0.001", "time=3"};
  ds_error error = {""};
  ds_run_settings run;
  char *text = ds_scene_set(base, strlen(base), "s.json", two, 3, &error);
  CHECK(text != NULL);
  ds_scene *scene = ds_scene_read_text(text, strlen(text), "s.json", &run, &error);
  CHECK(scene != NULL);
  CHECK_NEAR(run.options.step, 0.001, 0);
  CHECK_NEAR(run.time, 3, 0);
  ds_scene_destroy(scene);
  free(text);

  /* names with dots, comments that stay, an object of options where there was none, an empty object */
  const char *dotted =
      "{\"drystone\": 1, // one\n\"materials\": {\"a\": {}, \"a.b\": {\"mu\": 1}}, \"bodies\": [{\"name\": \"x.1\", "
      "\"mass\": 1 // kg\n}]}";
  const char *const settings[] = {"materials.a.b.mu=2", "bodies.x.1.mass=3", "options.step=0.1", "materials.a.mu=5",
                                  "bodies.x.1.e=0"};
  text = ds_scene_set(dotted, strlen(dotted), "s.json", settings, 5, &error);
  const char *wanted =
      "{\"drystone\": 1, // one\n\"materials\": {\"a\": {\"mu\": 5}, \"a.b\": {\"mu\": 2}}, \"bodies\": [{\"name\": "
      "\"x.1\", "
      "\"mass\": 3, \"e\": 0 // kg\n}], \"options\": {\"step\": 0.1}}";
  CHECK(text && strcmp(text, wanted) == 0);
  if (!text || strcmp(text, wanted) != 0) printf("  %s\n", text ? text : error.message);
  free(text);

  /* an unknown key is added and the reader names it on the line of its object */
  const char *const unknown[] = {"options.tolernce=1"};
  text = ds_scene_set(base, strlen(base), "s.json", unknown, 1, &error);
  if (text) check_refused(text, "s.json:5:29: options: unknown key \"tolernce\"; did you mean \"tolerance\"?");
  free(text);
  text = ds_scene_set("{", 1, "s.json", unknown, 1, &error);
  CHECK(text == NULL && strstr(error.message, "s.json:1:2:") == error.message);
  text = ds_scene_set(base, strlen(base), "s.json", unknown, 0, &error);
  CHECK(text && strcmp(text, base) == 0);
  free(text);
}

static void test_set_mutations(void) {
  static const char *const paths[] = {
      "options.step=0.5", "bodies.a.mass=1", "bodies.2.shapes.0.radius=2", "x=y", "materials={}",
      "gravity.1=5",      "name=z"};
  uint64_t seed = 7;
  size_t length = strlen(base);
  for (int i = 0; i < 4000; i++) {
    char *copy = malloc(length), one[64];
    memcpy(copy, base, length);
    size_t at = next_random(&seed) % length;
    if (i % 2) copy[at] = (char)next_random(&seed);
    snprintf(one, sizeof one, "%s", paths[next_random(&seed) % 7]);
    at = next_random(&seed) % strlen(one);
    one[at] = (char)(next_random(&seed) % 127 + 1);
    const char *setting = one;
    ds_error error = {""};
    char *text = ds_scene_set(copy, length, "s.json", &setting, 1, &error);
    CHECK((text != NULL) != (error.message[0] != 0));
    free(text);
    free(copy);
  }
}

/* ---- files ---- */

static void check_file(const char *path, const char *message) {
  ds_error error = {""};
  ds_run_settings run;
  ds_scene *scene = ds_scene_read_file(path, &run, &error);
  bool ok = !scene && strstr(error.message, message);
  CHECK(ok);
  if (!ok) printf("  %s: %s\n", path, error.message);
  ds_scene_destroy(scene);
}

static void test_files(void) {
  char folder[] = "/tmp/drystone-test-XXXXXX", path[128];
  CHECK(mkdtemp(folder) != NULL);
  check_file(folder, "is a directory; give a scene file");
  snprintf(path, sizeof path, "%s/none.json", folder);
  check_file(path, "none.json: cannot open it: No such file or directory; check the path");
  snprintf(path, sizeof path, "%s/s.json", folder);
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  fclose(file);
  check_file(path, "s.json:1:1: the text is empty");
  CHECK(truncate(path, (off_t)300 << 20) == 0); /* sparse */
  check_file(path, "at most 256 MiB are read");
  CHECK(truncate(path, 1000) == 0);
  check_file(path, "s.json:1:1: control character 0x00");
  file = fopen(path, "wb");
  fwrite(whole, 1, strlen(whole), file);
  fclose(file);
  ds_error error = {""};
  ds_run_settings run;
  ds_scene *scene = ds_scene_read_file(path, &run, &error);
  CHECK(scene != NULL && strcmp(run.name, "whole") == 0);
  ds_scene_destroy(scene);
  size_t length;
  char *text = ds_text_read_file(path, &length, &error);
  CHECK(text && length == strlen(whole) && strcmp(text, whole) == 0);
  free(text);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  RUN(test_settings);
  RUN(test_bodies);
  RUN(test_mistakes);
  RUN(test_accepted);
  RUN(test_truncation);
  RUN(test_mutations);
  RUN(test_set);
  RUN(test_set_many);
  RUN(test_set_mutations);
  RUN(test_files);
  return test_summary();
}
