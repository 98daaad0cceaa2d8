/* Heaps of solids: runs a scene like the drivers of the other engines, and evaluates the poses that any engine wrote.
 *
 *   bench-drop SCENE --meshes FOLDER                  writes FOLDER/NAME.obj for every solid of the scene
 *   bench-drop SCENE --run FILE [--time S] [--cpu-limit S]
 *                                                     simulates; places go to FILE; prints one line of JSON
 *   bench-drop SCENE --evaluate FILE                  evaluates the poses in FILE; prints one line of JSON
 *   --cache FOLDER                                    where built solids are kept
 *
 * FILE is what rivals/measure.hpp writes: "time T", then a line a dynamic body: place and rotation of its frame,
 * velocity of its centre, angular velocity. All engines are evaluated by this program: a body is lost if its centre
 * is under the floor (z = 0), 100 m away or not a number; what is not lost is measured with its triangles against the
 * floor, and against its neighbours with the distance fields. One thread; processor time is that of the steps alone,
 * memory that of the whole process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drystone/scene_file.h"
#include "drystone/solid.h"
#include "la/vec3.h"

#define FAR_AWAY 100.0 /* m */
#define AWAKE 0.01     /* m/s: what moves faster is not at rest */
#define FRAME 0.1      /* s between the places in a file */
enum { FRAMES_MAX = 1000 };

typedef struct arguments {
  const char *scene, *meshes, *run, *evaluate, *cache;
  double time, cpu_limit;
} arguments;

typedef struct motion {
  ds_pose pose;
  ds_vec3 v, w;
} motion;

static bool read_arguments(arguments *a, int argc, char **argv) {
  *a = (arguments){.cpu_limit = 1e9};
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-') {
      a->scene = argv[i];
      continue;
    }
    if (i + 1 >= argc) return false;
    const char *word = argv[i], *value = argv[++i];
    if (strcmp(word, "--meshes") == 0)
      a->meshes = value;
    else if (strcmp(word, "--run") == 0)
      a->run = value;
    else if (strcmp(word, "--evaluate") == 0)
      a->evaluate = value;
    else if (strcmp(word, "--cache") == 0)
      a->cache = value;
    else if (strcmp(word, "--time") == 0)
      a->time = atof(value);
    else if (strcmp(word, "--cpu-limit") == 0)
      a->cpu_limit = atof(value);
    else
      return false;
  }
  return a->scene && (a->meshes != NULL) + (a->run != NULL) + (a->evaluate != NULL) == 1;
}

static bool is_dynamic(const ds_scene *scene, int32_t i) {
  return ds_body_get_kind(scene, ds_scene_body(scene, i)) == DS_BODY_DYNAMIC;
}

/* The mesh of a body of one solid, else NULL. */
static const ds_solid *solid_of(const ds_scene *scene, int32_t i) {
  ds_body_id body = ds_scene_body(scene, i);
  if (ds_body_shape_count(scene, body) != 1) return NULL;
  ds_shape_def shape = ds_body_shape(scene, body, 0);
  return shape.kind == DS_SHAPE_SOLID ? shape.solid : NULL;
}

/* ---- meshes ---- */

/* A solid is written again for every body that has it, where it is not the solid of the body before: cheap enough. */
static bool write_meshes(const ds_scene *scene, const char *folder, ds_error *error) {
  const ds_solid *last = NULL;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    const ds_solid *solid = solid_of(scene, i);
    if (!solid || solid == last) continue;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.obj", folder, ds_solid_name(solid));
    if (ds_mesh_write_obj(ds_solid_mesh(solid), path, error) != DS_OK) return false;
    last = solid;
  }
  return true;
}

/* ---- judging ---- */

typedef struct verdict {
  double time;
  int32_t lost, awake;
  double sink, overlap;  /* m, at this time */
  double speed, kinetic; /* of what is not lost: largest m/s, sum J */
} verdict;

static bool is_lost(ds_vec3 center, const motion *m) {
  double sum = v3_norm2(m->v) + v3_norm2(m->w) + v3_norm2(center);
  return !isfinite(sum) || center.z < 0 || v3_norm2(center) > FAR_AWAY * FAR_AWAY;
}

static double sink_of(const ds_scene *scene, const ds_state *state, int32_t i) {
  const ds_solid *solid = solid_of(scene, i);
  if (!solid) return 0;
  const ds_mesh *mesh = ds_solid_mesh(solid);
  ds_pose pose = ds_state_pose(scene, state, ds_scene_body(scene, i));
  double low = 0;
  for (int32_t k = 0; k < mesh->vertex_count; k++) low = fmin(low, pose.p.z + quat_rotate(pose.q, mesh->vertices[k]).z);
  return -low;
}

/* Puts the bodies where they are; those that are lost go far away from everything and from each other. */
static verdict evaluate(const ds_scene *scene, ds_state *state, const motion *motions, double time) {
  verdict out = {.time = time};
  int32_t k = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    if (!is_dynamic(scene, i)) continue;
    ds_body_id body = ds_scene_body(scene, i);
    motion m = motions[k++];
    ds_mass mass = ds_body_mass(scene, body);
    ds_vec3 center = v3_add(m.pose.p, quat_rotate(m.pose.q, mass.center));
    bool lost = is_lost(center, &m);
    if (lost) m = (motion){.pose = {v3(1000 + 10.0 * k, 0, 1000), quat_identity()}};
    ds_state_set_pose(scene, state, body, m.pose);
    ds_state_set_velocity(state, body, m.v, m.w);
    out.lost += lost;
    if (lost) continue;
    double speed = sqrt(v3_norm2(m.v));
    out.awake += speed > AWAKE;
    out.speed = fmax(out.speed, speed);
    out.sink = fmax(out.sink, sink_of(scene, state, i));
  }
  out.kinetic = ds_state_energy(scene, state).kinetic;
  if (ds_state_deepest_overlap(&out.overlap, NULL, NULL, scene, state) != DS_OK) out.overlap = NAN;
  return out;
}

static bool read_motion(motion *m, FILE *file) {
  ds_pose *p = &m->pose;
  double n[13];
  for (int i = 0; i < 13; i++)
    if (fscanf(file, "%lf", &n[i]) != 1) return false;
  *p = (ds_pose){v3(n[0], n[1], n[2]), {n[3], n[4], n[5], n[6]}};
  m->v = v3(n[7], n[8], n[9]);
  m->w = v3(n[10], n[11], n[12]);
  return true;
}

static int32_t dynamic_count(const ds_scene *scene) {
  int32_t count = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) count += is_dynamic(scene, i);
  return count;
}

/* The last whole set of places, and the worst of all of them. */
static bool evaluate_file(const ds_scene *scene, ds_state *state, const char *path) {
  FILE *file = fopen(path, "r");
  int32_t count = dynamic_count(scene), frames = 0;
  motion *motions = calloc((size_t)count + 1, sizeof *motions);
  verdict last = {0};
  double time, sink = 0, overlap = 0;
  while (file && motions && fscanf(file, " time %lf", &time) == 1) {
    int32_t k = 0;
    while (k < count && read_motion(&motions[k], file)) k++;
    if (k < count) break;
    last = evaluate(scene, state, motions, time);
    sink = fmax(sink, last.sink);
    overlap = fmax(overlap, last.overlap);
    frames++;
  }
  if (file) fclose(file);
  free(motions);
  if (frames == 0) return false;
  printf("{\"judged_time\": %.9g, \"lost\": %d, \"awake\": %d, \"speed_end\": %.4g, \"kinetic_end\": %.4g, ", last.time,
         last.lost, last.awake, last.speed, last.kinetic);
  printf("\"sink_end\": %.4g, \"sink_max\": %.4g, \"overlap_end\": %.4g, \"overlap_max\": %.4g}\n", last.sink, sink,
         last.overlap, overlap);
  return true;
}

/* ---- running ---- */

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void write_motions(FILE *file, const ds_scene *scene, const ds_state *state) {
  fprintf(file, "time %.9g\n", ds_state_time(state));
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    if (!is_dynamic(scene, i)) continue;
    ds_body_id body = ds_scene_body(scene, i);
    ds_pose p = ds_state_pose(scene, state, body);
    ds_vec3 v = ds_state_velocity(state, body), w = ds_state_angular_velocity(state, body);
    fprintf(file, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g ", p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z);
    fprintf(file, "%.6g %.6g %.6g %.6g %.6g %.6g\n", v.x, v.y, v.z, w.x, w.y, w.z);
  }
}

typedef struct tally {
  int64_t steps, converged;
  int32_t contacts, contacts_max;
  double cpu, penetration, stages[DS_STAGE_COUNT];
  double cpu_at[FRAMES_MAX]; /* s spent up to the end of every FRAME */
  int32_t frames;
} tally;

static void add_step(tally *t, const ds_step_report *report) {
  t->steps++;
  t->converged += report->worst.converged;
  t->contacts = report->contacts;
  if (report->contacts > t->contacts_max) t->contacts_max = report->contacts;
  t->penetration = fmax(t->penetration, report->penetration);
  for (int i = 0; i < DS_STAGE_COUNT; i++) t->stages[i] += report->seconds[i];
}

/* Bytes: the kernel's own figure for this program; getrusage would count what ran before it in the same process. */
static long long peak_memory(void) {
  char line[128];
  long long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %lld", &kib) == 1) break;
  if (file) fclose(file);
  return 1024 * kib;
}

static void print_tally(const tally *t, const ds_scene *scene, const ds_run_settings *run, bool stopped) {
  static const char *const names[DS_STAGE_COUNT] = {"detect", "assemble", "predict", "project", "integrate"};
  double time = (double)t->steps * run->options.step, steps = t->steps > 0 ? (double)t->steps : 1;
  printf("{\"engine\": \"Drystone\", \"version\": \"%s\", \"settings\": \"%g ms, tolerance %g\", ", ds_version(),
         1e3 * run->options.step, run->options.tolerance);
  printf("\"step\": %.9g, \"steps\": %lld, \"time\": %.9g, \"bodies\": %d, ", run->options.step, (long long)t->steps,
         time, dynamic_count(scene));
  printf("\"contacts\": %d, \"contacts_max\": %d, \"penetration_max\": %.4g, \"converged_share\": %.6g, ", t->contacts,
         t->contacts_max, t->penetration, (double)t->converged / steps);
  for (int i = 0; i < DS_STAGE_COUNT; i++) printf("\"ms_%s\": %.5g, ", names[i], 1e3 * t->stages[i] / steps);
  printf("\"ms_cpu\": %.5g, \"peak_memory\": %lld, ", 1e3 * t->cpu / steps, peak_memory());
  printf("\"cpu_at\": [");
  for (int32_t i = 0; i < t->frames; i++) printf("%s%.5g", i ? ", " : "", t->cpu_at[i]);
  printf("], \"cpu_per_second\": %.6g, \"stopped\": %s}\n", time > 0 ? t->cpu / time : 0,
         stopped ? "\"cpu-limit\"" : "null");
}

static bool simulate(const ds_scene *scene, ds_state *state, const ds_run_settings *run, const arguments *a) {
  double time = a->time > 0 ? a->time : run->time, h = run->options.step;
  int64_t steps = llround(time / h), frame = llround(fmax(FRAME / h, 1));
  ds_stepper *stepper = ds_stepper_create(1);
  FILE *file = fopen(a->run, "w");
  tally t = {0};
  bool ok = stepper && file, stopped = false;
  while (ok && !stopped && t.steps < steps) {
    ds_step_report report;
    double begin = cpu_seconds();
    ok = ds_step(stepper, state, &report, scene, &run->options) == DS_OK;
    t.cpu += cpu_seconds() - begin;
    if (!ok) break;
    add_step(&t, &report);
    stopped = t.cpu > a->cpu_limit && t.steps < steps;
    if (t.steps % frame == 0 && t.frames < FRAMES_MAX) t.cpu_at[t.frames++] = t.cpu;
    if (t.steps % frame == 0 || t.steps == steps || stopped) write_motions(file, scene, state);
  }
  if (file) ok = fclose(file) == 0 && ok;
  ds_stepper_destroy(stepper);
  if (ok) print_tally(&t, scene, run, stopped);
  return ok;
}

int main(int argc, char **argv) {
  arguments a;
  if (!read_arguments(&a, argc, argv)) {
    fprintf(stderr,
            "usage: bench-drop SCENE.json --meshes FOLDER | --run FILE [--time S] [--cpu-limit S] | "
            "--evaluate FILE; [--cache FOLDER]\n");
    return 2;
  }
  ds_error error = {""};
  ds_run_settings run;
  ds_scene_read_options options = ds_default_scene_read();
  options.solid_cache = a.cache;
  options.threads = 1;
  ds_scene *scene = ds_scene_read_file_with(a.scene, &options, &run, &error);
  ds_state *state = scene ? ds_state_create(scene) : NULL;
  bool ok = state != NULL;
  if (ok && a.meshes) ok = write_meshes(scene, a.meshes, &error);
  if (ok && a.evaluate) ok = evaluate_file(scene, state, a.evaluate);
  if (ok && a.run) ok = simulate(scene, state, &run, &a);
  if (!ok) fprintf(stderr, "bench-drop: %s\n", error.message[0] ? error.message : "no result");
  ds_state_destroy(state);
  ds_scene_destroy(scene);
  return ok ? 0 : 1;
}
