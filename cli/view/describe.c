/* HELLO, SCENE and STATUS: see describe.h and docs/protocol.md.
 *
 * The camera is chosen as in pictures: framed on the bodies that framed.c chooses, by the corners of their boxes. */
#include "describe.h"

#include <stdio.h>
#include <stdlib.h>

#include "../bodies.h"
#include "../camera.h"
#include "../framed.h"
#include "../palette.h"
#include "../source.h"
#include "base/vec3.h"

/* Pictures have a lens of 2.5 heights, the page one of 35 degrees: 1.59 heights. A little more is left free. */
#define LENS 1.5

/* ---- HELLO ---- */

static void write_parameter(view_bytes *out, const ds_generator_parameter *p) {
  view_text(out, "{\"name\": ");
  view_json_text(out, p->name);
  view_text(out, ", \"unit\": ");
  view_json_text(out, p->unit != NULL ? p->unit : "");
  view_text(out, ", \"summary\": ");
  view_json_text(out, p->summary != NULL ? p->summary : "");
  view_text(out, ", \"initial\": ");
  view_json_text(out, p->initial != NULL ? p->initial : "");
  if (p->low <= p->high) {
    view_text(out, ", \"low\": ");
    view_json_number(out, p->low);
    view_text(out, ", \"high\": ");
    view_json_number(out, p->high);
  }
  view_text(out, ", \"integer\": %s", p->integer ? "true" : "false");
  if (p->choices != NULL) {
    view_text(out, ", \"choices\": ");
    view_json_text(out, p->choices);
  }
  view_text(out, "}");
}

static void write_scenes(view_bytes *out) {
  int32_t count;
  const ds_generator *generators = ds_generators(&count);
  view_text(out, ", \"scenes\": [");
  for (int32_t i = 0; i < count; i++) {
    view_text(out, "%s{\"name\": ", i > 0 ? ", " : "");
    view_json_text(out, generators[i].name);
    view_text(out, ", \"summary\": ");
    view_json_text(out, generators[i].summary);
    view_text(out, ", \"parameters\": [");
    for (int32_t k = 0; k < generators[i].parameter_count; k++) {
      if (k > 0) view_text(out, ", ");
      write_parameter(out, &generators[i].parameters[k]);
    }
    view_text(out, "]}");
  }
  view_text(out, "]");
}

static void write_numbers(view_bytes *out, const char *key, const double *values, int count) {
  view_text(out, ", \"%s\": [", key);
  for (int i = 0; i < count; i++) {
    if (i > 0) view_text(out, ", ");
    view_json_number(out, values[i]);
  }
  view_text(out, "]");
}

/* Which moments of the recording, exactly, since the page asks for no others; and where the camera is. */
static void write_shot(view_bytes *out, const view_film *film) {
  view_text(out, ", \"rate\": %.17g, \"speed\": %.17g, \"from\": %.17g, \"to\": %.17g, \"zoom\": ", film->rate,
            film->speed, film->from, film->to);
  view_json_number(out, film->zoom);
  view_text(out, ", \"follow\": %d, \"dark\": %s", (int)film->follow, film->dark ? "true" : "false");
  if (film->has_view) write_numbers(out, "view", film->view, 2);
  if (film->has_look) write_numbers(out, "look", film->look, 3);
}

view_message *view_hello_message(view_mode mode, const view_film *film) {
  static const char *const names[] = {"live", "recording", "film"};
  view_bytes out;
  view_begin(&out, VIEW_HELLO);
  view_text(&out, "{\"protocol\": %d, \"program\": \"drystone %s\", \"mode\": \"%s\"", VIEW_VERSION, ds_version(),
            names[mode]);
  if (mode == VIEW_FILM) {
    view_text(&out, ", \"film\": {\"width\": %d, \"height\": %d, \"show\": ", (int)film->width, (int)film->height);
    view_json_text(&out, film->show);
    write_shot(&out, film);
    view_text(&out, "}");
  }
  if (mode == VIEW_LIVE) write_scenes(&out);
  view_text(&out, "}");
  return view_end(&out);
}

/* ---- camera ---- */

/* The eight corners of the boxes of a body's shapes, at the start; those of half-spaces are left out. */
static int32_t add_corners(ds_vec3 *points, const ds_scene *scene, ds_body_id body) {
  ds_pose start = ds_body_get_def(scene, body).pose;
  int32_t count = 0;
  for (int32_t s = 0; s < ds_body_shape_count(scene, body); s++) {
    ds_vec3 low, high;
    ds_body_bounds(&low, &high, scene, body, s, start);
    if (!v3_finite(low) || !v3_finite(high)) continue;
    for (int k = 0; k < 8; k++)
      points[count++] = v3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
  }
  return count;
}

typedef struct viewpoint {
  ds_vec3 eye, look;
} viewpoint;

static viewpoint stand(const ds_vec3 *points, int32_t count) {
  ds_camera camera;
  ds_vec3 sun, middle = v3(0, 0, 0);
  ds_framing framing = {.points = points, .count = count, .fill = LENS, .zoom = 1};
  for (int32_t i = 0; i < count; i++) middle = v3_mad(middle, 1.0 / count, points[i]);
  ds_camera_frame(&camera, &sun, &framing, 1280, 720);
  double distance = fmax(1e-3, v3_dot(v3_sub(middle, camera.eye), camera.forward));
  return (viewpoint){camera.eye, v3_mad(camera.eye, distance, camera.forward)};
}

/* False if memory ran out. */
static bool find_viewpoint(viewpoint *out, const ds_scene *scene) {
  size_t bodies = (size_t)ds_scene_body_count(scene) + 1, shapes = 1;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) shapes += (size_t)ds_body_shape_count(scene, body_at(i));
  bool *framed = calloc(bodies, sizeof *framed);
  ds_pose *poses = calloc(bodies, sizeof *poses);
  ds_vec3 *points = malloc(8 * shapes * sizeof *points);
  bool good = framed != NULL && poses != NULL && points != NULL;
  if (good) {
    for (int32_t i = 0; i < ds_scene_body_count(scene); i++) poses[i] = ds_body_get_def(scene, body_at(i)).pose;
    good = ds_framed_choose(framed, scene, poses, NULL);
  }
  if (good) {
    int32_t count = 0;
    for (int32_t i = 0; i < ds_scene_body_count(scene); i++)
      if (framed[i]) count += add_corners(points + count, scene, body_at(i));
    if (count == 0) {
      points[count++] = v3(-1, -1, 0);
      points[count++] = v3(1, 1, 1);
    }
    *out = stand(points, count);
  }
  free(framed);
  free(poses);
  free(points);
  return good;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The median size of bodies that can be pushed, 1 m where there are none. False if memory ran out. */
static bool near_size(double *size, const ds_scene *scene) {
  double *sizes = malloc(((size_t)ds_scene_body_count(scene) + 1) * sizeof *sizes);
  int32_t count = 0;
  if (sizes == NULL) return false;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++)
    if (body_is_dynamic(scene, i) && isfinite(ds_body_radius(scene, body_at(i))))
      sizes[count++] = 2 * ds_body_radius(scene, body_at(i));
  qsort(sizes, (size_t)count, sizeof *sizes, compare);
  *size = count > 0 ? sizes[count / 2] : 1;
  free(sizes);
  return true;
}

/* ---- SCENE ---- */

static void write_body(view_bytes *out, const view_scene_text *t, int32_t index) {
  static const char *const kinds[] = {"dynamic", "static", "kinematic"};
  ds_body_id body = body_at(index);
  view_text(out, "%s{\"name\": ", index > 0 ? ", " : "");
  view_json_text(out, ds_body_name(t->scene, body));
  view_text(out, ", \"kind\": \"%s\", \"color\": ", kinds[ds_body_get_kind(t->scene, body)]);
  view_json_vec3(out, ds_palette_color(t->scene, index));
  view_text(out, ", \"mass\": ");
  view_json_number(out, body_is_dynamic(t->scene, index) ? ds_body_mass(t->scene, body).mass : 0);
  view_text(out, ", \"material\": %d, \"parts\": [", (int)ds_body_material(t->scene, body).index1);
  for (int32_t p = t->geometry->first_part[index]; p < t->geometry->first_part[index + 1]; p++) {
    const view_part *part = &t->geometry->parts[p];
    view_text(out, "%s{\"geometry\": %d, \"position\": ", p > t->geometry->first_part[index] ? ", " : "",
              (int)part->geometry);
    view_json_vec3(out, part->pose.p);
    view_text(out, ", \"rotation\": [%.9g, %.9g, %.9g, %.9g]}", part->pose.q.w, part->pose.q.x, part->pose.q.y,
              part->pose.q.z);
  }
  const ds_reduced *made_of = body_reduced(t->scene, index);
  int32_t reduced = made_of != NULL ? ds_reduced_get_info(made_of).modes : 0;
  view_text(out, "], \"first_reduced\": %d, \"reduced\": %d}", (int)ds_body_first_reduced(t->scene, body),
            (int)reduced);
}

/* Points and axes are in the frame of body a, whose pose is in every FRAME. */
static void write_joints(view_bytes *out, const ds_scene *scene) {
  view_text(out, ", \"joints\": [");
  for (int32_t i = 0; i < ds_scene_joint_count(scene); i++) {
    ds_joint_id id = ds_scene_joint(scene, i);
    ds_joint_def joint = ds_joint_get_def(scene, id);
    ds_joint_place place = ds_joint_at(scene, id, pose_identity(), pose_identity());
    view_text(out, "%s{\"name\": ", i > 0 ? ", " : "");
    view_json_text(out, joint.name != NULL ? joint.name : "");
    view_text(out, ", \"kind\": \"%s\", \"a\": %d, \"b\": %d, \"point\": ", ds_joint_kind_name(joint.kind),
              (int)body_index(joint.a), (int)body_index(joint.b));
    view_json_vec3(out, place.on_a);
    view_text(out, ", \"axis\": ");
    view_json_vec3(out, place.axis);
    view_text(out, "}");
  }
  view_text(out, "]");
}

static void write_materials(view_bytes *out, const ds_scene *scene) {
  view_text(out, ", \"materials\": [");
  for (int32_t i = 0; i < ds_scene_material_count(scene); i++) {
    const char *name = ds_material_name(scene, (ds_material_id){i});
    char number[32];
    snprintf(number, sizeof number, "material %d", (int)i);
    view_text(out, "%s{\"name\": ", i > 0 ? ", " : "");
    view_json_text(out, name[0] != '\0' ? name : i == 0 ? "default" : number);
    view_text(out, ", \"mu\": ");
    view_json_number(out, ds_scene_material(scene, (ds_material_id){i}).mu);
    view_text(out, "}");
  }
  view_text(out, "]");
}

static void write_settings(view_bytes *out, const view_scene_text *t) {
  view_text(out, "{\"name\": ");
  view_json_text(out, t->run->name);
  view_text(out, ", \"source\": ");
  view_json_text(out, t->source);
  view_text(out, ", \"step\": ");
  view_json_number(out, t->run->options.step);
  view_text(out, ", \"time\": ");
  view_json_number(out, t->run->time);
  view_text(out, ", \"tolerance\": ");
  view_json_number(out, ds_options_tolerance(&t->run->options));
  view_text(out, ", \"method\": \"%s\", \"methods\": [", ds_method_name(t->run->options.method));
  for (ds_method i = 0; ds_method_name(i) != NULL; i++)
    view_text(out, "%s\"%s\"", i > 0 ? ", " : "", ds_method_name(i));
  view_text(out, "], \"gravity\": ");
  view_json_vec3(out, ds_scene_gravity(t->scene));
  view_text(out, ", \"frames\": %d, \"geometries\": %d, \"reduced\": %d", (int)t->frames, (int)t->geometry->count,
            (int)ds_scene_reduced_count(t->scene));
}

view_message *view_scene_message(const view_scene_text *t) {
  viewpoint from;
  double size;
  if (!near_size(&size, t->scene) || !find_viewpoint(&from, t->scene)) return NULL;
  view_bytes out;
  view_begin(&out, VIEW_SCENE);
  write_settings(&out, t);
  view_text(&out, ", \"up\": [0, 0, 1], \"eye\": ");
  view_json_vec3(&out, from.eye);
  view_text(&out, ", \"look\": ");
  view_json_vec3(&out, from.look);
  view_text(&out, ", \"near_size\": ");
  view_json_number(&out, size);
  write_materials(&out, t->scene);
  view_text(&out, ", \"bodies\": [");
  for (int32_t i = 0; i < ds_scene_body_count(t->scene); i++) write_body(&out, t, i);
  view_text(&out, "]");
  write_joints(&out, t->scene);
  view_text(&out, "}");
  return view_end(&out);
}

/* ---- STATUS ---- */

view_message *view_status_message(const view_state_text *t, int64_t skipped, int32_t clients) {
  view_bytes out;
  view_begin(&out, VIEW_STATUS);
  view_text(&out, "{\"paused\": %s, \"speed\": ", t->paused ? "true" : "false");
  view_json_number(&out, t->speed);
  view_text(&out, ", \"realtime\": ");
  view_json_number(&out, t->realtime);
  view_text(&out, ", \"skipped\": %lld, \"clients\": %d, \"tolerance\": ", (long long)skipped, (int)clients);
  view_json_number(&out, t->tolerance);
  view_text(&out, ", \"method\": \"%s\", \"gravity\": ", ds_method_name(t->method));
  view_json_vec3(&out, t->gravity);
  view_text(&out, ", \"mu\": [");
  for (int32_t i = 0; i < t->mu_count; i++) {
    if (i > 0) view_text(&out, ", ");
    view_json_number(&out, t->mu[i]);
  }
  view_text(&out, "], \"time\": ");
  view_json_number(&out, t->time);
  view_text(&out, ", \"failed\": ");
  view_json_text(&out, t->failed);
  view_text(&out, ", \"building\": ");
  view_json_text(&out, t->building);
  view_text(&out, "}");
  return view_end(&out);
}
