/* The viewer's messages: forms enclose what they should and move as the library says, frames hold the state's numbers,
 * commands of any bytes are decoded or refused, and headers that name another server are told apart. */
#include <string.h>

#include "../access.h"
#include "../bytes.h"
#include "../commands.h"
#include "../frame.h"
#include "../geometry.h"
#include "../probe.h"
#include "body/reduced.h"
#include "body/scene.h"
#include "check.h"
#include "drystone/scene_file.h"

static uint32_t word(const view_message *m, size_t at) {
  uint32_t value;
  memcpy(&value, m->bytes + at, sizeof value);
  return value;
}

static float single(const view_message *m, size_t at) {
  float value;
  memcpy(&value, m->bytes + at, sizeof value);
  return value;
}

static ds_vec3 vector(const view_message *m, size_t at) {
  return v3(single(m, at), single(m, at + 4), single(m, at + 8));
}

static ds_scene *read(const char *text) {
  ds_run_settings run;
  ds_error error = {{0}};
  ds_scene *scene = ds_scene_read_text(text, strlen(text), "scene", &run, &error);
  if (scene == NULL) printf("%s\n", error.message);
  return scene;
}

/* ---- geometry ---- */

/* A GEOMETRY taken apart: offsets of its arrays. */
typedef struct form {
  const view_message *m;
  uint32_t kind, n, t, e, r, levels;
  size_t position, normal, corner, crease, mode, level;
} form;

static form take(const view_message *m) {
  form f = {.m = m, .kind = word(m, 20), .n = word(m, 24), .t = word(m, 28), .e = word(m, 32), .r = word(m, 36)};
  f.levels = word(m, 40), f.position = 48;
  f.normal = f.position + 12 * (size_t)f.n;
  f.corner = f.normal + 12 * (size_t)f.n;
  f.crease = f.corner + 12 * (size_t)f.t;
  f.mode = f.crease + 8 * (size_t)f.e;
  f.level = f.mode + 12 * (size_t)f.n * f.r;
  size_t end = f.level + 8 * (size_t)f.levels;
  for (uint32_t k = 0; k < f.levels; k++) end += 12 * (size_t)word(m, f.level + 8 * (size_t)k);
  CHECK_NEAR((double)word(m, 8), (double)(end - 16), 0);
  CHECK_NEAR((double)m->size, (double)((end + 7) / 8 * 8), 0);
  return f;
}

/* Volume; normals are unit and look outward, indices exist. */
static double check_form(const form *f) {
  double volume = 0, worst = 0, inward = 0;
  uint32_t largest = 0;
  for (uint32_t i = 0; i < 3 * f->t; i++) largest = (uint32_t)fmax(largest, word(f->m, f->corner + 4 * (size_t)i));
  for (uint32_t i = 0; i < 2 * f->e; i++) largest = (uint32_t)fmax(largest, word(f->m, f->crease + 4 * (size_t)i));
  CHECK_LE((double)largest, fmax(0, (double)f->n - 1));
  for (uint32_t i = 0; i < f->n; i++) worst = fmax(worst, fabs(v3_norm(vector(f->m, f->normal + 12 * (size_t)i)) - 1));
  for (uint32_t t = 0; t < f->t; t++) {
    ds_vec3 x[3], n = v3(0, 0, 0);
    for (uint32_t k = 0; k < 3; k++) {
      size_t corner = word(f->m, f->corner + 4 * (3 * (size_t)t + k));
      x[k] = vector(f->m, f->position + 12 * corner);
      n = v3_add(n, vector(f->m, f->normal + 12 * corner));
    }
    ds_vec3 area = v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0]));
    volume += v3_dot(x[0], v3_cross(x[1], x[2])) / 6;
    if (v3_norm(area) > 1e-12) inward += v3_dot(area, n) <= 0;
  }
  CHECK_LE(worst, 1e-6);
  CHECK_NEAR(inward, 0, 0);
  return volume;
}

static const char forms_text[] =
    "{\"drystone\": 1, \"bodies\": [\n"
    " {\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    " {\"name\": \"ball\", \"position\": [0, 0, 3], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}]},\n"
    " {\"name\": \"pair\", \"position\": [3, 0, 3], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5},\n"
    "   {\"kind\": \"box\", \"size\": [1, 2, 3], \"position\": [2, 0, 0]}]},\n"
    " {\"name\": \"pill\", \"position\": [9, 0, 3], \"shapes\": [{\"kind\": \"capsule\", \"radius\": 0.5, \"length\": "
    "1}]},\n"
    " {\"name\": \"can\", \"position\": [12, 0, 3], \"shapes\": [{\"kind\": \"cylinder\", \"radius\": 0.5, \"length\": "
    "2}]},\n"
    " {\"name\": \"wedge\", \"position\": [15, 0, 3], \"shapes\": [{\"kind\": \"hull\", \"points\": [[0, 0, 0], [1, 0, "
    "0],\n"
    "   [0, 1, 0], [0, 0, 1]]}]}]}\n";

static void test_forms(void) {
  ds_scene *scene = read(forms_text);
  view_geometries g;
  CHECK(scene != NULL);
  if (scene == NULL || !view_geometries_build(&g, scene)) return;
  CHECK_NEAR(g.count, 6, 0); /* the ball is there once */
  CHECK_NEAR(g.first_part[scene->body_count], 7, 0);
  CHECK_NEAR(g.parts[g.first_part[2]].geometry, g.parts[g.first_part[1]].geometry, 0);
  CHECK_NEAR(g.parts[g.first_part[2] + 1].pose.p.x, 2, 0);
  /* in the order in which they are found */
  const double volume[] = {0, DS_PI / 6, 6, DS_PI / 6 + DS_PI / 4, DS_PI / 2, 1.0 / 6};
  const double creases[] = {0, 0, 12, 0, -1, 6};
  for (int32_t i = 0; i < g.count && i < 6; i++) {
    form f = take(g.messages[i]);
    CHECK_NEAR((double)word(g.messages[i], 16), i, 0);
    CHECK_NEAR((double)f.kind, i == 0 ? 1 : 0, 0);
    double found = check_form(&f);
    CHECK_NEAR(found, volume[i], 0.02 * volume[i]);
    if (creases[i] >= 0) CHECK_NEAR((double)f.e, creases[i], 0);
    if (creases[i] < 0) CHECK(f.e > 20 && f.e % 2 == 0); /* the two rims, each edge once */
  }
  view_geometries_free(&g);
  ds_scene_destroy(scene);
}

/* A level as a form of its own: the same vertices, its own corners; *error is its distance from the finest. */
static form level_of(const form *f, uint32_t k, double *error) {
  form g = *f;
  float distance;
  memcpy(&distance, f->m->bytes + f->level + 8 * (size_t)k + 4, sizeof distance);
  *error = distance;
  g.t = word(f->m, f->level + 8 * (size_t)k);
  g.e = 0;
  g.corner = f->level + 8 * (size_t)f->levels;
  for (uint32_t i = 0; i < k; i++) g.corner += 12 * (size_t)word(f->m, f->level + 8 * (size_t)i);
  return g;
}

/* Edges of which the opposite is missing; vertices at one place, but for rounding, are one. */
static int open_edges(const form *f) {
  int open = 0;
  for (uint32_t i = 0; i < 3 * f->t; i++) {
    ds_vec3 x[2], y[2];
    for (uint32_t k = 0; k < 2; k++)
      x[k] = vector(f->m, f->position + 12 * (size_t)word(f->m, f->corner + 4 * (size_t)(i / 3 * 3 + (i + k) % 3)));
    bool found = v3_dist(x[0], x[1]) < 1e-6;
    for (uint32_t j = 0; j < 3 * f->t && !found; j++) {
      for (uint32_t k = 0; k < 2; k++)
        y[k] = vector(f->m, f->position + 12 * (size_t)word(f->m, f->corner + 4 * (size_t)(j / 3 * 3 + (j + k) % 3)));
      found = v3_dist(x[0], y[1]) < 1e-6 && v3_dist(x[1], y[0]) < 1e-6;
    }
    open += !found;
  }
  return open;
}

/* In a scene of many triangles, surfaces have coarser levels: closed, outward, and as near as they say. Their corners
 * stay on the surface, so that a convex form loses about its area times the distance. */
static void test_levels(void) {
  enum { BALLS = 100, KINDS = 4 };
  static const struct {
    const char *shape;
    double area;
    uint32_t levels; /* at least; 0 = none */
  } kinds[KINDS] = {{"\"kind\": \"sphere\", \"radius\": 0.5", DS_PI, 4},
                    {"\"kind\": \"capsule\", \"radius\": 0.5, \"length\": 1", 2 * DS_PI, 4},
                    {"\"kind\": \"cylinder\", \"radius\": 0.5, \"length\": 1", 1.5 * DS_PI, 1},
                    {"\"kind\": \"box\", \"size\": [1, 1, 1]", 6, 0}};
  char text[16000];
  int at = snprintf(text, sizeof text, "{\"drystone\": 1, \"bodies\": [");
  for (int i = 0; i < BALLS + KINDS - 1; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "%s{\"position\": [%d, 0, 0], \"shapes\": [{%s}]}",
                   i ? ", " : "", 3 * i, kinds[i < BALLS ? 0 : i - BALLS + 1].shape);
  snprintf(text + at, sizeof text - (size_t)at, "]}");
  ds_scene *scene = read(text);
  view_geometries g;
  CHECK(scene != NULL);
  if (scene == NULL || !view_geometries_build(&g, scene)) return;
  CHECK_NEAR(g.count, KINDS, 0);
  for (int k = 0; k < KINDS && k < g.count; k++) {
    form f = take(g.messages[k]);
    double whole = check_form(&f), error = 0;
    uint32_t triangles = f.t;
    CHECK(kinds[k].levels > 0 ? f.levels >= kinds[k].levels : f.levels == 0);
    for (uint32_t i = 0; i < f.levels; i++) {
      double farther;
      form level = level_of(&f, i, &farther);
      double lost = (whole - check_form(&level)) / kinds[k].area;
      CHECK_LE(level.t, 0.8 * triangles);
      CHECK_NEAR(open_edges(&level), 0, 0);
      CHECK_LE(error, farther);
      CHECK_LE(lost, 3 * farther);
      CHECK_LE(-1e-6, lost);
      triangles = level.t, error = farther;
    }
    CHECK_LE(error, 0.15 * sqrt(1.5)); /* of half the diagonal: still the same form */
    printf("     %u triangles, then %u levels down to %u, %.1f mm off\n", f.t, f.levels, triangles, 1e3 * error);
  }
  view_geometries_free(&g);
  ds_scene_destroy(scene);
}

/* A block of rubber as the page draws it: position + sum of q times mode, against the library's own surface. */
static ds_reduced *make_rubber(void) {
  ds_error error = {{0}};
  ds_tets tets = {0};
  ds_mesh mesh = {0};
  static const char obj[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 0.5\nv 1 0 0.5\nv 0 1 0.5\nv 1 1 0.5\n"
      "f 2 4 8 6\nf 1 5 7 3\nf 3 7 8 4\nf 1 2 6 5\nf 5 6 8 7\nf 1 3 4 2\n";
  ds_stuffing_def stuffing = ds_default_stuffing();
  stuffing.wanted = 300;
  ds_reduced_def def = ds_default_reduced();
  def.modes = 6;
  ds_reduced *body = NULL;
  if (ds_mesh_read_bytes(&mesh, obj, sizeof obj - 1, "block.obj", 1, &error) == DS_OK &&
      ds_tets_stuff(&tets, &mesh, &stuffing, &error) == DS_OK)
    body = ds_reduced_create(&tets, &def, &error);
  if (body == NULL) printf("%s\n", error.message);
  ds_tets_free(&tets);
  ds_mesh_free(&mesh);
  return body;
}

static void compare_deformed(const form *f, ds_reduced *body) {
  ds_reduced_info info = ds_reduced_get_info(body);
  const int32_t *triangles = ds_reduced_triangles(body);
  ds_vec3 *vertices = malloc((size_t)info.vertices * sizeof *vertices);
  double q[6], worst = 0, largest = 0;
  for (int a = 0; a < 6; a++) q[a] = 0.3 * (a % 2 == 0 ? 1 : -1) / (a + 1);
  ds_reduced_shape(vertices, body, q);
  for (uint32_t i = 0; i < 3 * f->t; i++) {
    size_t corner = word(f->m, f->corner + 4 * (size_t)i);
    ds_vec3 x = vector(f->m, f->position + 12 * corner), rest = x;
    for (uint32_t a = 0; a < f->r; a++) x = v3_mad(x, q[a], vector(f->m, f->mode + 12 * ((size_t)a * f->n + corner)));
    worst = fmax(worst, v3_dist(x, vertices[triangles[i]]));
    largest = fmax(largest, v3_dist(x, rest));
  }
  CHECK_LE(worst, 1e-5 * (1 + largest));
  CHECK(largest > 1e-3);
  free(vertices);
}

/* ---- probes ---- */

/* The root holds all others, which hold all corners; a deformed body's spheres are where it is. */
static void check_spheres(const ds_scene *scene, const ds_state *state, const ds_reduced *body) {
  ds_error error = {{0}};
  view_message *m = view_spheres_message(scene, state, 1, &error);
  CHECK(m != NULL);
  if (m == NULL) return;
  uint32_t count = word(m, 20), deepest = 0;
  CHECK_NEAR((double)word(m, 8), 8 + 32.0 * count, 0);
  CHECK_NEAR((double)count, body->tree.sphere_count, 0);
  ds_pose pose = ds_state_pose(scene, state, ds_scene_body(scene, 1));
  ds_vec3 *x = malloc((size_t)body->surface.vertex_count * sizeof *x);
  ds_reduced_shape(x, body, state->reduced + scene->bodies[1].first_reduced);
  double outside = 0;
  for (int32_t i = 0; i < body->surface.vertex_count; i++)
    outside = fmax(outside, v3_dist(pose_point(pose, x[i]), vector(m, 24)) - (double)single(m, 36));
  CHECK_LE(outside, 1e-6);
  for (uint32_t i = 0; i < count; i++) deepest = (uint32_t)fmax(deepest, single(m, 24 + 32 * (size_t)i + 16));
  CHECK(single(m, 40) == 0 && deepest >= 3 && deepest < count);
  free(x);
  view_message_release(m);
  CHECK(view_spheres_message(scene, state, 2, &error) == NULL);
}

/* Distances to a deformed body: no farther than its nearest vertex, nearer than that by an edge at most, and from one
 * place of the slice to the next no more different than the way between them. */
static void check_deformed_slice(const ds_scene *scene, const ds_state *state, const ds_reduced *body) {
  ds_error error = {{0}};
  view_message *m = view_field_message(scene, state, 1, 2, 0.5, &error);
  CHECK(m != NULL);
  if (m == NULL) return;
  uint32_t columns = word(m, 20), rows = word(m, 24);
  ds_vec3 origin = vector(m, 32), along = vector(m, 44), up = vector(m, 56);
  int32_t n = body->surface.vertex_count;
  ds_vec3 *vertices = malloc((size_t)n * sizeof *vertices);
  ds_reduced_shape(vertices, body, state->reduced + scene->bodies[1].first_reduced);
  double edge = 0, beyond = 0, short_by = 0, jump = 0, inside = 0, outside = 0;
  for (int32_t t = 0; t < 3 * body->surface.triangle_count; t++) {
    int32_t next = t % 3 == 2 ? t - 2 : t + 1;
    edge = fmax(edge, v3_dist(vertices[body->surface.triangles[t]], vertices[body->surface.triangles[next]]));
  }
  for (uint32_t i = 0; i < rows * columns; i++) {
    double value = single(m, 68 + 4 * (size_t)i), nearest = INFINITY;
    ds_vec3 x = v3_mad(v3_mad(origin, i % columns, along), i / columns, up);
    for (int32_t k = 0; k < n; k++) nearest = fmin(nearest, v3_dist(x, vertices[k]));
    beyond = fmax(beyond, fabs(value) - nearest);
    short_by = fmax(short_by, nearest - fabs(value));
    if (i % columns > 0) jump = fmax(jump, fabs(value - single(m, 64 + 4 * (size_t)i)) - v3_norm(along));
    inside = fmin(inside, value), outside = fmax(outside, value);
  }
  CHECK_LE(beyond, 1e-6);
  CHECK_LE(short_by, edge);
  CHECK_LE(jump, 1e-6);
  CHECK(inside < -0.05 && outside > 0.05);
  free(vertices);
  view_message_release(m);
}

static void test_deformable(void) {
  ds_reduced *body = make_rubber();
  CHECK(body != NULL);
  if (body == NULL) return;
  ds_scene_def scene_def = ds_default_scene();
  ds_error error;
  ds_scene *scene = ds_scene_create(&scene_def, &error);
  ds_shape_def shape = ds_default_shape();
  shape.kind = DS_SHAPE_REDUCED;
  shape.reduced = body;
  ds_body_def def = ds_default_body();
  for (int i = 0; i < 2; i++) {
    def.pose.p.z = 3 * i;
    CHECK(ds_scene_add_shape(scene, ds_scene_add_body(scene, &def, &error), &shape, &error) == DS_OK);
  }
  CHECK(ds_scene_finish(scene, &error) == DS_OK);
  view_geometries g;
  if (view_geometries_build(&g, scene)) {
    CHECK_NEAR(g.count, 1, 0); /* both bodies have it */
    form f = take(g.messages[0]);
    CHECK_NEAR((double)f.kind, 2, 0);
    CHECK_NEAR((double)f.r, 6, 0);
    CHECK_NEAR(check_form(&f), 0.5, 0.01);
    compare_deformed(&f, body);
    view_geometries_free(&g);
  }
  ds_state *state = ds_state_create(scene);
  if (state != NULL) {
    const double q[6] = {0.2, -0.1, 0.05};
    ds_state_set_reduced(state, ds_scene_body(scene, 1), q, NULL);
    check_spheres(scene, state, body);
    check_deformed_slice(scene, state, body);
  }
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  ds_reduced_release(body);
}

/* A slice through the middle of the box 1 x 2 x 3, across x. */
static void check_slice(const ds_scene *scene, const ds_state *state, uint32_t body) {
  ds_error error = {{0}};
  view_message *m = view_field_message(scene, state, body, 0, 0.5, &error);
  CHECK(m != NULL);
  if (m == NULL) return;
  uint32_t columns = word(m, 20), rows = word(m, 24);
  ds_vec3 origin = vector(m, 32), along = vector(m, 44), up = vector(m, 56);
  double worst = 0;
  CHECK_NEAR((double)word(m, 8), 52 + 4.0 * columns * rows, 0);
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t c = 0; c < columns; c++) {
      ds_vec3 x = v3_mad(v3_mad(origin, c, along), r, up);
      double dy = fabs(x.y) - 1, dz = fabs(x.z) - 1.5, dx = fabs(x.x) - 0.5;
      double inside = fmax(dx, fmax(dy, dz)),
             away = sqrt(pow(fmax(dx, 0), 2) + pow(fmax(dy, 0), 2) + pow(fmax(dz, 0), 2));
      worst = fmax(worst, fabs(single(m, 68 + 4 * ((size_t)r * columns + c)) - (away > 0 ? away : inside)));
    }
  CHECK_LE(worst, 1e-5);
  CHECK_NEAR(origin.x, 0, 1e-6);
  CHECK(origin.y < -1 && origin.z < -1.5);
  view_message_release(m);
}

/* The box as such and as the hull of its corners; a plane has no slice. */
static void test_slice(void) {
  ds_scene *scene = read(
      "{\"drystone\": 1, \"bodies\": [\n"
      " {\"position\": [7, 0, 3], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 2, 3]}]},\n"
      " {\"position\": [9, 0, 3], \"shapes\": [{\"kind\": \"hull\", \"points\": [[0.5, 1, 1.5], [0.5, 1, -1.5],\n"
      "   [0.5, -1, 1.5], [0.5, -1, -1.5], [-0.5, 1, 1.5], [-0.5, 1, -1.5], [-0.5, -1, 1.5], [-0.5, -1, -1.5]]}]},\n"
      " {\"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]}]}");
  ds_state *state = scene != NULL ? ds_state_create(scene) : NULL;
  ds_error error = {{0}};
  CHECK(state != NULL);
  if (state == NULL) return;
  check_slice(scene, state, 0);
  check_slice(scene, state, 1);
  CHECK(view_field_message(scene, state, 2, 0, 0.5, &error) == NULL && strstr(error.message, "half-space") != NULL);
  CHECK(view_field_message(scene, state, 3, 0, 0.5, &error) == NULL);
  ds_state_destroy(state);
  ds_scene_destroy(scene);
}

/* ---- frames ---- */

static const char stacks_text[] =
    "{\"drystone\": 1, \"bodies\": [\n"
    " {\"name\": \"floor\", \"kind\": \"static\", \"shapes\": [{\"kind\": \"half-space\"}]},\n"
    " {\"name\": \"a\", \"position\": [0, 0, 0.5], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1]}]},\n"
    " {\"name\": \"b\", \"position\": [5, 0, 0.5], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1]}]},\n"
    " {\"name\": \"c\", \"position\": [0.1, 0, 1.5], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1]}]},\n"
    " {\"name\": \"d\", \"position\": [9, 0, 7], \"velocity\": [0, 1, 2], \"shapes\": [{\"kind\": \"sphere\", "
    "\"radius\": 1}]}]}\n";

typedef struct shot {
  ds_scene *scene;
  ds_state *state;
  ds_step_report report;
  view_poses poses;
  view_snapshot snapshot;
} shot;

static bool shot_take(shot *s) {
  ds_stepper *stepper = ds_stepper_create(1);
  ds_options options = ds_default_options();
  s->scene = read(stacks_text);
  s->state = s->scene != NULL ? ds_state_create(s->scene) : NULL;
  bool good = stepper != NULL && s->state != NULL && view_poses_create(&s->poses, s->scene->body_count);
  for (int i = 0; good && i < 5; i++) good = ds_step(stepper, s->state, &s->report, s->scene, &options) == DS_OK;
  ds_stepper_destroy(stepper);
  CHECK(good);
  if (!good) return false;
  view_poses_read(&s->poses, s->scene, s->state);
  s->snapshot = (view_snapshot){.scene = s->scene,
                                .poses = s->poses.poses,
                                .velocities = s->poses.velocities,
                                .angular_velocities = s->poses.angular_velocities,
                                .report = &s->report,
                                .energy = ds_state_energy(s->scene, s->state)};
  s->snapshot.contacts = ds_state_contacts(s->state, &s->snapshot.contact_count);
  return true;
}

static void shot_free(shot *s) {
  view_poses_free(&s->poses);
  ds_state_destroy(s->state);
  ds_scene_destroy(s->scene);
}

/* Every number of a frame is the state's, rounded to single precision. */
static void test_frame(void) {
  shot s = {0};
  if (!shot_take(&s)) return;
  view_message *m = view_frame_message(&s.snapshot, VIEW_CONTACTS_ALL);
  CHECK(m != NULL);
  size_t n = 5, poses = 56 + 64, velocities = poses + 28 * n, contacts = velocities + 24 * n;
  double step, wrong = 0;
  memcpy(&step, m->bytes + 16, 8);
  CHECK_NEAR(step, 5, 0);
  CHECK_NEAR((double)word(m, 32), 5, 0);
  CHECK_NEAR((double)word(m, 40), s.snapshot.contact_count, 0);
  CHECK_NEAR((double)word(m, 48), 1, 0); /* converged, nobody holds anything, all contacts are there */
  for (size_t i = 0; i < n; i++) {
    ds_body_id id = ds_scene_body(s.scene, (int32_t)i);
    ds_pose p = ds_state_pose(s.scene, s.state, id);
    const double numbers[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
    for (size_t k = 0; k < 7; k++) wrong += single(m, poses + 28 * i + 4 * k) != (float)numbers[k];
    wrong += single(m, velocities + 24 * i + 8) != (float)ds_state_velocity(s.state, id).z;
  }
  CHECK_NEAR(wrong, 0, 0);
  uint32_t island[5] = {9, 9, 9, 9, 9};
  for (int32_t i = 0; i < s.snapshot.contact_count; i++) {
    size_t at = contacts + 72 * (size_t)i;
    const ds_contact *c = &s.snapshot.contacts[i];
    wrong += word(m, at) != (uint32_t)ds_index(c->a) || single(m, at + 40) != (float)c->impulse.z ||
             single(m, at + 56) != (float)c->gap || word(m, at + 64) != (uint32_t)c->mode;
    island[word(m, at + 4)] = word(m, at + 68);
  }
  CHECK_NEAR(wrong, 0, 0);
  CHECK_NEAR((double)island[3], (double)island[1], 0); /* c stands on a */
  CHECK(island[2] != island[1] && island[2] < 2 && island[1] < 2);
  view_message_release(m);
  shot_free(&s);
}

static void test_wanted(void) {
  shot s = {0};
  if (!shot_take(&s)) return;
  int32_t carrying = 0;
  for (int32_t i = 0; i < s.snapshot.contact_count; i++) carrying += s.snapshot.contacts[i].impulse.z != 0;
  const double wanted[VIEW_CONTACTS_END] = {0, s.snapshot.contact_count, carrying, s.snapshot.contact_count};
  for (int i = 0; i < VIEW_CONTACTS_END; i++) {
    view_message *m = view_frame_message(&s.snapshot, (view_contacts)i);
    CHECK_NEAR((double)word(m, 40), wanted[i], 0);
    CHECK_NEAR((double)word(m, 44), s.snapshot.contact_count, 0);
    CHECK_NEAR((double)(word(m, 48) & 4), wanted[i] < s.snapshot.contact_count ? 4 : 0, 0);
    view_message_release(m);
  }
  s.snapshot.hand = (view_hand){.holds = true, .body = 3, .force = {1, 2, 3}, .stiffness = 40};
  view_message *m = view_frame_message(&s.snapshot, VIEW_CONTACTS_NONE);
  size_t hand = 56 + 64 + 52 * 5;
  CHECK_NEAR((double)(word(m, 48) & 2), 2, 0);
  CHECK_NEAR((double)word(m, hand), 3, 0);
  CHECK_NEAR((double)single(m, hand + 36), 3, 0);
  CHECK_NEAR((double)single(m, hand + 52), 40, 0);
  CHECK_NEAR((double)word(m, 8), (double)(hand + 56 - 16), 0);
  view_message_release(m);
  shot_free(&s);
}

/* ---- commands ---- */

static size_t make_command(unsigned char *out, uint32_t type, const void *body, uint32_t length) {
  const uint32_t head[4] = {type, 1, length, 0};
  size_t size = (16 + (size_t)length + 7) / 8 * 8;
  memset(out, 0, size);
  memcpy(out, head, sizeof head);
  if (length > 0) memcpy(out + 16, body, length);
  return size;
}

static view_decoded decode(const unsigned char *bytes, size_t size, bool film) {
  view_command command;
  ds_error why = {{0}};
  unsigned char *copy = malloc(size + 1); /* so that sanitizers see what is read beyond the end */
  if (size > 0) memcpy(copy, bytes, size);
  view_decoded result = view_command_decode(&command, copy, size, film, &why);
  CHECK(result == VIEW_DECODED || why.message[0] != '\0');
  view_command_free(&command);
  free(copy);
  return result;
}

static void test_commands(void) {
  unsigned char bytes[256];
  const struct {
    uint32_t type, length;
  } known[] = {{VIEW_PLAY, 4},  {VIEW_PAUSE, 0}, {VIEW_RESET, 0},   {VIEW_SET, 16}, {VIEW_STAND, 20},
               {VIEW_GRAB, 28}, {VIEW_MOVE, 12}, {VIEW_RELEASE, 0}, {VIEW_WANT, 8}, {VIEW_SEEN, 8}};
  const unsigned char zeros[64] = {0};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size_t size = make_command(bytes, known[i].type, zeros, known[i].length);
    CHECK(decode(bytes, size, false) == VIEW_DECODED);
    for (size_t cut = 0; cut < size; cut++) CHECK(decode(bytes, cut, false) == VIEW_BROKEN);
    for (uint32_t other = 0; other < 40; other++) {
      size = make_command(bytes, known[i].type, zeros, other);
      if (other != known[i].length) CHECK(decode(bytes, size, false) == VIEW_BROKEN);
    }
  }
  const float negative = -1;
  CHECK(decode(bytes, make_command(bytes, VIEW_PLAY, &negative, 4), false) == VIEW_REFUSED);
  CHECK(decode(bytes, make_command(bytes, VIEW_STEP, zeros, 4), false) == VIEW_REFUSED);
  CHECK(decode(bytes, make_command(bytes, VIEW_OPEN, "arch", 4), false) == VIEW_DECODED);
  CHECK(decode(bytes, make_command(bytes, VIEW_OPEN, "a\nb", 3), false) == VIEW_REFUSED);
  const char picture[] = "\0\0\0\0\1\0\0\0\x89PNG\r\n\x1a\n";
  CHECK(decode(bytes, make_command(bytes, VIEW_PICTURE, picture, 16), true) == VIEW_DECODED);
  CHECK(decode(bytes, make_command(bytes, VIEW_PICTURE, picture, 16), false) == VIEW_BROKEN);
  CHECK(decode(bytes, make_command(bytes, VIEW_PICTURE, picture, 15), true) == VIEW_BROKEN);
}

static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
  return *state;
}

static void test_random_commands(void) {
  uint32_t state = 42;
  unsigned char bytes[128];
  int32_t rounds = getenv("DRYSTONE_TEST_QUICK") ? 20000 : 200000, counts[3] = {0};
  for (int32_t i = 0; i < rounds; i++) {
    size_t size = next_random(&state) % sizeof bytes;
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(next_random(&state) >> 7);
    if (i % 4 != 0) { /* a header that is right, mostly */
      uint32_t length = next_random(&state) % 40, type = 60 + next_random(&state) % 20;
      unsigned char body[40];
      memcpy(body, bytes, sizeof body);
      size = make_command(bytes, type, body, length);
      size_t at = next_random(&state) % size;
      if (i % 8 == 1) bytes[at] ^= (unsigned char)(1u << next_random(&state) % 8);
    }
    counts[decode(bytes, size, i % 2 == 0)]++;
  }
  CHECK(counts[VIEW_DECODED] > 0 && counts[VIEW_REFUSED] > 0 && counts[VIEW_BROKEN] > counts[VIEW_DECODED]);
}

/* ---- access and text ---- */

static void test_access(void) {
  view_access local = {.token = "0123456789abcdef", .address = "127.0.0.1", .port = 8000};
  const struct {
    const char *host;
    bool fits;
  } hosts[] = {{"127.0.0.1:8000", true},
               {"localhost:8000", true},
               {"LOCALHOST:8000", true},
               {"[::1]:8000", true},
               {"127.0.0.1", false},
               {"127.0.0.1:80", false},
               {"127.0.0.1:8000 ", false},
               {"127.0.0.1:08000x", false},
               {"example.org:8000", false},
               {"127.0.0.1.example.org", false},
               {"", false},
               {":8000", false},
               {"192.168.1.2:8000", false},
               {"[::1:8000", false},
               {"localhost:8000:8000", false}};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    bool fits = view_access_host_fits(&local, hosts[i].host);
    if (fits != hosts[i].fits) printf("Host: %s\n", hosts[i].host);
    CHECK_NEAR(fits, hosts[i].fits, 0);
  }
  view_access open = {.address = "0.0.0.0", .port = 8000, .anywhere = true};
  CHECK(view_access_host_fits(&open, "192.168.1.2:8000"));
  CHECK(!view_access_host_fits(&open, "example.org:8000"));
  CHECK(view_access_origin_fits("http://127.0.0.1:8000", "127.0.0.1:8000"));
  CHECK(!view_access_origin_fits("http://127.0.0.1:8000/", "127.0.0.1:8000"));
  CHECK(!view_access_origin_fits("https://127.0.0.1:8000", "127.0.0.1:8000"));
  CHECK(!view_access_origin_fits("", ""));
  CHECK(view_access_token_fits(&local, "0123456789abcdef"));
  CHECK(!view_access_token_fits(&local, "0123456789abcdeg"));
  CHECK(!view_access_token_fits(&local, "0123456789abcde"));
  CHECK(!view_access_token_fits(&local, "0123456789abcdef0"));
  CHECK(!view_access_token_fits(&local, ""));
}

static void test_text(void) {
  view_bytes out;
  view_begin(&out, VIEW_STATUS);
  view_json_text(&out, "a\"\\\n\xc3\xbc\xff\xc0\xaf\xed\xa0\x80z");
  view_message *m = view_end(&out);
  static const char wanted[] =
      "\"a\\\"\\\\\\u000a\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
      "\xef\xbf\xbdz\"";
  CHECK(word(m, 8) == sizeof wanted - 1 && memcmp(m->bytes + 16, wanted, sizeof wanted - 1) == 0);
  view_message_release(m);
  view_begin(&out, VIEW_STATUS);
  for (int i = 0; i < 1000; i++) view_text(&out, "%0300d", i);
  m = view_end(&out);
  CHECK_NEAR((double)word(m, 8), 300000, 0);
  CHECK_NEAR((double)(m->size % 8), 0, 0);
  view_message_release(m);
}

int main(void) {
  RUN(test_forms);
  RUN(test_levels);
  RUN(test_deformable);
  RUN(test_slice);
  RUN(test_frame);
  RUN(test_wanted);
  RUN(test_commands);
  RUN(test_random_commands);
  RUN(test_access);
  RUN(test_text);
  return test_summary();
}
