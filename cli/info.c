/* drystone info: what is in a scene or in a recording; info_mesh.c says it of a mesh, info_reduced.c of a body file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "bodies.h"
#include "command.h"
#include "drystone/inspect.h"
#include "frame_energy.h"
#include "info_mesh.h"
#include "info_reduced.h"
#include "io/reduced_file.h"
#include "mesh_source.h"
#include "record/record.h"
#include "source.h"

enum { LISTED = 20 }; /* bodies shown without --all */
enum { SHAPE_KINDS_MAX = 32 };

static const char *const kind_names[] = {"dynamic", "static", "kinematic"};

static int complain(const char *message) {
  fprintf(stderr, "drystone info: %s\n", message);
  return EXIT_INPUT;
}

/* ---- Scenes ---- */

static void print_joints(const ds_scene *scene) {
  int32_t count = ds_scene_joint_count(scene);
  if (count == 0) return;
  printf("joints       %d:", (int)count);
  for (int kind = 0; ds_joint_kind_name((ds_joint_kind)kind); kind++) {
    int32_t of_kind = 0;
    for (int32_t i = 0; i < count; i++) of_kind += (int)ds_joint_get_def(scene, ds_scene_joint(scene, i)).kind == kind;
    if (of_kind > 0) printf(" %d %s", (int)of_kind, ds_joint_kind_name((ds_joint_kind)kind));
  }
  putchar('\n');
}

static void print_totals(const ds_scene *scene) {
  int32_t kinds[3] = {0}, shapes[SHAPE_KINDS_MAX] = {0};
  double mass = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id body = body_at(i);
    kinds[ds_body_get_kind(scene, body)]++;
    if (body_is_dynamic(scene, i)) mass += ds_body_mass(scene, body).mass;
    for (int32_t s = 0; s < ds_body_shape_count(scene, body); s++) shapes[ds_body_shape(scene, body, s).kind]++;
  }
  printf("bodies       %d:", (int)ds_scene_body_count(scene));
  for (int i = 0; i < 3; i++)
    if (kinds[i] > 0) printf(" %d %s", (int)kinds[i], kind_names[i]);
  printf("; %d degrees of freedom\nmass         %g kg\nshapes      ",
         6 * (int)kinds[DS_BODY_DYNAMIC] + (int)ds_scene_reduced_count(scene), mass);
  for (int i = 0; i < SHAPE_KINDS_MAX && ds_shape_kind_name((ds_shape_kind)i); i++)
    if (shapes[i] > 0) printf(" %d %s", (int)shapes[i], ds_shape_kind_name((ds_shape_kind)i));
  putchar('\n');
  print_joints(scene);
}

/* Whether no earlier shape has this solid. */
static bool is_first(const ds_scene *scene, int32_t body, int32_t shape) {
  const ds_solid *solid = ds_body_shape(scene, body_at(body), shape).solid;
  for (int32_t i = 0; i <= body; i++)
    for (int32_t s = 0; s < (i < body ? ds_body_shape_count(scene, body_at(i)) : shape); s++)
      if (ds_body_shape(scene, body_at(i), s).solid == solid) return false;
  return true;
}

static void print_solids(const ds_scene *scene) {
  int32_t count = 0;
  int64_t bytes = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    for (int32_t s = 0; s < ds_body_shape_count(scene, body_at(i)); s++) {
      const ds_solid *solid = ds_body_shape(scene, body_at(i), s).solid;
      if (solid == NULL || !is_first(scene, i, s)) continue;
      ds_solid_info info = ds_solid_get_info(solid);
      printf("solid        %s: %d triangles, %d samples, %.1f MB\n", ds_solid_name(solid), (int)info.triangles,
             (int)info.samples, 1e-6 * (double)info.bytes);
      count++;
      bytes += info.bytes;
    }
  }
  if (count > 0) printf("solids       %d, %.1f MB together\n", (int)count, 1e-6 * (double)bytes);
}

/* Each reduced body once, with how many bodies are made of it. */
static void print_deformables(const ds_scene *scene) {
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    const ds_reduced *reduced = body_reduced(scene, i);
    bool first = reduced != NULL;
    int32_t users = 0;
    for (int32_t k = 0; reduced != NULL && k < ds_scene_body_count(scene); k++) {
      users += body_reduced(scene, k) == reduced;
      if (k < i && body_reduced(scene, k) == reduced) first = false;
    }
    if (first) info_reduced_line(reduced, users);
  }
}

static void print_materials(const ds_scene *scene) {
  for (int32_t m = 0; m < ds_scene_material_count(scene); m++) {
    int32_t users = 0;
    for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
      bool uses = ds_body_material(scene, body_at(i)).index1 == m;
      for (int32_t k = 0; k < ds_body_shape_count(scene, body_at(i)); k++)
        uses |= m > 0 && ds_body_shape(scene, body_at(i), k).material.index1 == m;
      users += uses;
    }
    ds_material_def material = ds_scene_material(scene, (ds_material_id){m});
    if (users == 0) continue;
    printf("material %-3d mu %g, ", (int)m, material.mu);
    if (material.axis.x != 0 || material.axis.y != 0 || material.axis.z != 0)
      printf("%g along [%g, %g, %g], ", material.mu_along, material.axis.x, material.axis.y, material.axis.z);
    printf("e %g, of %d bodies\n", material.restitution, (int)users);
  }
  for (int32_t i = 0; i < ds_scene_pair_count(scene); i++) {
    ds_pair_def pair = ds_scene_get_pair(scene, i);
    printf("pair         materials %d and %d: mu %g, e %g\n", (int)pair.a.index1, (int)pair.b.index1, pair.mu,
           pair.restitution);
  }
  ds_vec3 g = ds_scene_gravity(scene);
  printf("gravity      %g %g %g m/s²\n", g.x, g.y, g.z);
}

static void print_settings(const ds_scene *scene, const ds_run_settings *run) {
  const ds_options *o = &run->options;
  printf("time         %g s in steps of %g s\n", run->time, o->step);
  printf("method       %s, tolerance %g%s, %d iterations at most\n", ds_method_name(o->method), ds_options_tolerance(o),
         o->tolerance > 0 ? "" : " at rest", (int)o->max_iterations);
  if (o->friction_samples == 0)
    printf("friction     exact disk\n");
  else
    printf("friction     polygon of %d samples\n", (int)o->friction_samples);
  if (ds_scene_reduced_count(scene) > 0)
    printf("deformables  metric %s, %d Newton step%s at most, Newmark damping %g\n", metric_name(o->metric),
           (int)o->newton, o->newton == 1 ? "" : "s", o->newmark_damping);
  printf("contacts     at most %d per face, warm start %s\n", (int)o->contacts_per_face, o->warm_start ? "on" : "off");
}

static void print_overlap(const ds_scene *scene) {
  ds_state *state = ds_state_create(scene);
  if (state == NULL) return;
  ds_body_id a, b;
  double depth;
  if (ds_state_deepest_overlap(&depth, &a, &b, scene, state) != DS_OK)
    printf("overlap      unknown, out of memory\n");
  else if (depth > 0)
    printf("overlap      %.3g m at the start, of %s and %s\n", depth, ds_body_name(scene, a), ds_body_name(scene, b));
  else
    printf("overlap      none at the start\n");
  ds_state_destroy(state);
}

static void print_bodies(const ds_scene *scene, bool all) {
  int32_t count = ds_scene_body_count(scene), shown = all || count <= LISTED ? count : LISTED;
  printf("\n%5s %-16s %-9s %10s  %-33s %s\n", "index", "name", "kind", "mass kg", "principal inertia kg m²", "shapes");
  for (int32_t i = 0; i < shown; i++) {
    ds_body_id body = body_at(i);
    ds_vec3 inertia = ds_body_inertia(scene, body);
    int32_t shapes = ds_body_shape_count(scene, body);
    printf("%5d %-16s %-9s ", (int)i, ds_body_name(scene, body), kind_names[ds_body_get_kind(scene, body)]);
    if (body_is_dynamic(scene, i))
      printf("%10.4g  %-10.4g %-10.4g %-10.4g", ds_body_mass(scene, body).mass, inertia.x, inertia.y, inertia.z);
    else
      printf("%10s  %-32s", "-", "-");
    for (int32_t s = 0; s < shapes && s < 4; s++) printf(" %s", ds_shape_kind_name(ds_body_shape(scene, body, s).kind));
    if (shapes > 4) printf(" and %d more", (int)shapes - 4);
    putchar('\n');
  }
  if (shown < count) printf("      and %d more; --all lists them\n", (int)(count - shown));
}

static int info_scene(const char *source, const arg_list *settings, const source_reading *reading, bool all) {
  ds_error error = {{0}};
  ds_run_settings run;
  ds_scene *scene = source_scene(NULL, &run, source, settings, reading, &error);
  if (scene == NULL) return complain(error.message);
  printf("scene        %s\n", run.name);
  print_totals(scene);
  print_solids(scene);
  print_deformables(scene);
  print_materials(scene);
  print_settings(scene, &run);
  print_overlap(scene);
  print_bodies(scene, all);
  ds_scene_destroy(scene);
  return EXIT_OK;
}

/* ---- Recordings ---- */

typedef struct worst_frames {
  int32_t unconverged, contacts_max;
  double natural_error, residual, approach_velocity, cone_violation, penetration;
  double natural_error_time, penetration_time;
} worst_frames;

static bool scan(worst_frames *w, ds_recording *recording, ds_error *error) {
  *w = (worst_frames){0};
  for (int32_t i = 0; i < ds_recording_frame_count(recording); i++) {
    ds_step_report r;
    if (ds_recording_read_report(recording, &r, i, error) != DS_OK) return false;
    if (r.contacts > w->contacts_max) w->contacts_max = r.contacts;
    w->unconverged += !r.worst.converged;
    if (!(r.worst.natural_error <= w->natural_error)) {
      w->natural_error = r.worst.natural_error;
      w->natural_error_time = r.time;
    }
    if (!(r.penetration <= w->penetration)) w->penetration = r.penetration, w->penetration_time = r.time;
    w->residual = fmax(w->residual, r.worst.residual);
    w->approach_velocity = fmax(w->approach_velocity, r.worst.approach_velocity);
    w->cone_violation = fmax(w->cone_violation, r.worst.cone_violation);
  }
  return true;
}

static bool print_elastic(ds_recording *recording, ds_error *error) {
  const ds_scene *scene = ds_recording_scene(recording);
  double most = 0, time = 0, last = 0, step = ds_recording_settings(recording)->options.step;
  if (ds_scene_reduced_count(scene) == 0) return true;
  ds_state *state = ds_state_create(scene);
  bool ok = state != NULL;
  if (!ok) snprintf(error->message, sizeof error->message, "out of memory");
  for (int32_t i = 0; ok && i < ds_recording_frame_count(recording); i++) {
    ds_frame frame;
    ok = ds_recording_read_bodies(recording, &frame, i, error) == DS_OK;
    if (ok) last = frame_energy(state, scene, &frame, frame.report.step > 0 ? step : 0).elastic;
    if (ok && !(last <= most)) most = last, time = frame.time;
  }
  ds_state_destroy(state);
  if (ok) printf("elastic      energy %.4g J at most, at t = %g s; %.4g J at the end\n", most, time, last);
  return ok;
}

static int info_recording(const char *path, bool all) {
  ds_error error = {{0}};
  ds_recording *recording = ds_recording_open(path, &error);
  if (recording == NULL) return complain(error.message);
  worst_frames w;
  int32_t frames = ds_recording_frame_count(recording);
  const ds_run_settings *run = ds_recording_settings(recording);
  int status = EXIT_OK;
  printf("recording    %s, by Drystone %s, %s\n", run->name, ds_recording_version(recording),
         ds_recording_closed(recording) ? "complete" : "not closed: still being written, or its writer was killed");
  if (frames > 0)
    printf("frames       %d, from t = %g s to %g s\n", (int)frames, ds_recording_time(recording, 0),
           ds_recording_time(recording, frames - 1));
  else
    printf("frames       none\n");
  if (!scan(&w, recording, &error)) {
    status = complain(error.message);
  } else if (frames > 0) {
    printf("contacts     %d at most\n", (int)w.contacts_max);
    printf("certificate  %d of %d frames converged; natural-map error %.2g at most, at t = %g s\n",
           (int)(frames - w.unconverged), (int)frames, w.natural_error, w.natural_error_time);
    printf("             residual %.2g J, approach %.2g m/s, cone violation %.2g\n", w.residual, w.approach_velocity,
           w.cone_violation);
    printf("penetration  %.3g m at most, at t = %g s\n", w.penetration, w.penetration_time);
    if (!print_elastic(recording, &error)) status = complain(error.message);
  }
  if (status == EXIT_OK) {
    print_totals(ds_recording_scene(recording));
    print_solids(ds_recording_scene(recording));
    print_deformables(ds_recording_scene(recording));
    print_materials(ds_recording_scene(recording));
    print_settings(ds_recording_scene(recording), run);
    if (all) print_bodies(ds_recording_scene(recording), true);
  }
  ds_recording_close(recording);
  return status;
}

int command_info(int argc, char **argv) {
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (words == NULL) return complain("out of memory");
  arg_list names = {words, 0}, settings = {words + argc, 0};
  source_reading reading = {0};
  info_mesh_options mesh = {.density = 1000, .scale = 1};
  bool all = false, for_mesh = false;
  const arg_option table[] = {{"--all", "-a", ARG_FLAG, &all, 0, 0, NULL, NULL},
                              {"--density", NULL, ARG_REAL, &mesh.density, 1e-9, 1e12, NULL, &for_mesh},
                              {"--scale", NULL, ARG_REAL, &mesh.scale, 1e-9, 1e9, NULL, &for_mesh},
                              {"--threads", "-j", ARG_INTEGER, &reading.threads, 0, 256, NULL, NULL},
                              READING_OPTIONS(&reading),
                              {"--set", NULL, ARG_LIST, &settings, 0, 0, NULL, NULL}};
  int status = EXIT_INPUT;
  if (args_parse(&names, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) {
    const char *name = names.count == 1 ? names.items[0] : "";
    bool is_mesh = mesh_source_is(name), is_body = !is_mesh && ds_reduced_file_is(name);
    bool recording = !is_mesh && !is_body && source_is_recording(name);
    if (names.count != 1)
      complain("give one scene file, generator, recording, body file or mesh");
    else if ((recording || is_mesh || is_body) && settings.count > 0)
      complain(recording ? "--set changes scenes, not recordings"
               : is_body ? "--set changes scenes, not body files"
                         : "--set changes scenes, not meshes");
    else if (for_mesh && !is_mesh)
      complain("--density and --scale are for meshes");
    else
      status = is_mesh     ? info_mesh(name, &mesh, &reading)
               : is_body   ? info_reduced(name)
               : recording ? info_recording(name, all)
                           : info_scene(name, &settings, &reading, all);
  }
  free(words);
  return status;
}
