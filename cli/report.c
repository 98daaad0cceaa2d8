/* The report of a run: see report.h and docs/report.md.
 *
 * Maxima keep a NaN once they have met one, and the JSON shows it as null: a broken number is never hidden by a
 * comparison. Percentiles come from a histogram whose bins grow by 1 %, so memory does not grow with the run. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/vec3.h"
#include "bodies.h"
#include "drift.h"
#include "output.h"
#include "source.h"
#include "work.h"

#define BIN_LOW 1e-8   /* s, the first edge */
#define BIN_RATIO 1.01 /* from edge to edge */
#define SETTLED 1.0    /* s: displacement_settled_max counts from here */
enum { BIN_COUNT = 3000, TIMING_COUNT = DS_STAGE_COUNT + 1 /* and the total */ };
static const double joints_open = 1e-6; /* m: more than rounding */

typedef struct timing {
  double sum, max;
  int64_t bins[BIN_COUNT];
} timing;

/* The largest distance of a body, and which body it was. */
typedef struct farthest {
  double distance;
  int32_t body; /* index, -1 = none */
} farthest;

struct run_report {
  ds_run_settings run;
  char source[128];
  report_ending ending;
  int32_t joints;
  int32_t threads, bodies, dynamic_bodies, deformable_bodies, reduced;
  int64_t planned_steps, steps;
  double start_time, time;
  int64_t contacts, active_contacts, staggered_iterations, projection_iterations, factorizations; /* sums */
  int32_t contacts_max, active_contacts_max, islands_max, staggered_iterations_max;
  work_tally work;
  int64_t unconverged_steps, infeasible_steps, moving_steps, limited_steps;
  double moving_tolerance_max;
  double rest_error_max; /* of the steps in which nothing was solved as motion */
  double first_unconverged_time, first_infeasible_time;
  ds_certificate worst; /* the errors only */
  double penetration_max, penetration_first_second, penetration_last;
  double separation_max, joint_drift_max, joint_drift_time;
  int64_t stopped_bodies;
  int64_t parts;         /* of all steps */
  int64_t outside_steps; /* with deformable bodies outside the range of their model */
  int32_t parts_max, outside_bodies_max, inverted_max;
  double linear_strain_max, outside_time;
  char outside_name[64];
  double energy_start, energy_end, elastic_end, energy_gain_max, energy_gain_time, energy_gained;
  ds_motion motion; /* the largest; unjudged is a sum */
  double motion_gain_time, first_missed_time;
  int64_t motion_missed_steps;
  bool restitution, scripted, forced, driven; /* what may raise the energy */
  ds_vec3 *start, *settled, *window;          /* centres at the start, after the first second, before the last tenth */
  bool has_settled, has_window;
  double window_time;
  farthest moved, moved_settled, crept, drifted;
  char moved_name[64], settled_name[64], crept_name[64], drifted_name[64];
  drift drift;
  timing timings[TIMING_COUNT];
  double wall_seconds, cpu_seconds;
  uint64_t hash;
  int64_t peak_memory;
};

/* The larger number; a NaN wins and stays. */
static double worse(double a, double b) { return isnan(a) || b <= a ? a : b; }

static void copy_centers(ds_vec3 *centers, const ds_state *state, int32_t count) {
  for (int32_t i = 0; i < count; i++) centers[i] = ds_state_center(state, (ds_body_id){i + 1});
}

static void find_farthest(farthest *far, const ds_vec3 *from, const ds_scene *scene, const ds_state *state) {
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    if (!body_is_dynamic(scene, i)) continue;
    double distance = v3_dist(ds_state_center(state, (ds_body_id){i + 1}), from[i]);
    if (isnan(far->distance) || distance <= far->distance) continue;
    *far = (farthest){distance, i};
  }
}

/* Remembers where everything is before the last tenth of the steps, at least one of them. */
static void open_window(run_report *r, const ds_state *state, double time) {
  int64_t tenth = r->planned_steps >= 10 ? r->planned_steps / 10 : 1;
  if (r->has_window || r->steps != r->planned_steps - tenth) return;
  copy_centers(r->window, state, r->bodies);
  r->window_time = time;
  r->has_window = true;
}

static int32_t core_count(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores > 256 ? 256 : (int32_t)cores;
}

run_report *report_create(const ds_scene *scene, const ds_state *state, const ds_run_settings *run, const char *source,
                          int32_t threads, int64_t planned_steps) {
  run_report *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  r->run = *run;
  snprintf(r->source, sizeof r->source, "%s", source);
  r->threads = threads > 0 ? threads : core_count();
  r->bodies = ds_scene_body_count(scene);
  r->reduced = ds_scene_reduced_count(scene);
  r->joints = ds_scene_joint_count(scene);
  r->planned_steps = planned_steps;
  r->time = r->start_time = ds_state_time(state);
  r->first_unconverged_time = r->first_infeasible_time = r->energy_gain_time = NAN;
  r->moved.body = r->moved_settled.body = r->crept.body = r->drifted.body = -1;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_def def = ds_body_get_def(scene, body_at(i));
    r->dynamic_bodies += def.kind == DS_BODY_DYNAMIC;
    r->deformable_bodies += body_reduced(scene, i) != NULL;
    r->scripted = r->scripted || def.kind == DS_BODY_KINEMATIC;
    r->forced = r->forced || v3_norm2(def.force) > 0 || v3_norm2(def.torque) > 0;
  }
  for (int32_t i = 0; i < r->joints; i++)
    r->driven = r->driven || ds_joint_get_def(scene, ds_scene_joint(scene, i)).speed != 0;
  size_t count = (size_t)ds_scene_body_count(scene) + 1;
  r->start = calloc(count, sizeof *r->start);
  r->settled = calloc(count, sizeof *r->settled);
  r->window = calloc(count, sizeof *r->window);
  bool has_drift = drift_create(&r->drift, ds_scene_body_count(scene), planned_steps);
  if (r->start == NULL || r->settled == NULL || r->window == NULL || !has_drift) {
    report_destroy(r);
    return NULL;
  }
  work_begin(&r->work, ds_state_time(state));
  copy_centers(r->start, state, ds_scene_body_count(scene));
  open_window(r, state, ds_state_time(state));
  ds_energy energy = ds_state_energy(scene, state);
  r->energy_start = r->energy_end = energy.kinetic + energy.potential + energy.elastic;
  return r;
}

void report_destroy(run_report *r) {
  if (r == NULL) return;
  free(r->start);
  free(r->settled);
  free(r->window);
  drift_destroy(&r->drift);
  free(r);
}

/* ---- One step ---- */

static void add_time(timing *t, double seconds) {
  t->sum += seconds;
  t->max = worse(t->max, seconds);
  double bin = seconds > BIN_LOW ? log(seconds / BIN_LOW) / log(BIN_RATIO) : 0;
  t->bins[bin < BIN_COUNT - 1 ? (int)bin : BIN_COUNT - 1]++;
}

/* The time that a share of the steps do not exceed, to within a bin. */
static double percentile(const timing *t, int64_t steps, double share) {
  int64_t seen = 0, want = (int64_t)ceil(share * (double)steps);
  for (int i = 0; i < BIN_COUNT; i++) {
    seen += t->bins[i];
    if (seen >= want) return fmin(t->max, BIN_LOW * pow(BIN_RATIO, i + 1));
  }
  return t->max;
}

static void add_certificate(run_report *r, const ds_step_report *step) {
  const ds_certificate *c = &step->worst;
  r->staggered_iterations += c->staggered_iterations;
  r->projection_iterations += c->projection_iterations;
  r->factorizations += c->factorizations;
  if (c->staggered_iterations > r->staggered_iterations_max) r->staggered_iterations_max = c->staggered_iterations;
  r->worst.rel_err = worse(r->worst.rel_err, c->rel_err);
  r->worst.residual = worse(r->worst.residual, c->residual);
  r->worst.natural_error = worse(r->worst.natural_error, c->natural_error);
  r->worst.approach_velocity = worse(r->worst.approach_velocity, c->approach_velocity);
  r->worst.cone_violation = worse(r->worst.cone_violation, c->cone_violation);
  r->worst.dissipation_error = worse(r->worst.dissipation_error, c->dissipation_error);
  if (step->moving_islands > 0)
    r->moving_steps++, r->moving_tolerance_max = worse(r->moving_tolerance_max, c->tolerance);
  else
    r->rest_error_max = worse(r->rest_error_max, c->natural_error);
  r->limited_steps += c->limited;
  if (c->converged) return;
  if (r->unconverged_steps++ == 0) r->first_unconverged_time = step->time;
  if (c->conflict > 0 && r->infeasible_steps++ == 0) r->first_infeasible_time = step->time;
}

static void add_motion(run_report *r, const ds_scene *scene, const ds_state *state, double time) {
  find_farthest(&r->moved, r->start, scene, state);
  if (r->has_settled) {
    find_farthest(&r->moved_settled, r->settled, scene, state);
  } else if (time >= SETTLED * (1 - 1e-9)) {
    copy_centers(r->settled, state, r->bodies);
    r->has_settled = true;
  }
  open_window(r, state, time);
  drift_add(&r->drift, state, r->steps);
}

static void name_body(char *name, size_t size, const ds_scene *scene, int32_t index) {
  name[0] = '\0';
  if (index < 0) return;
  const char *given = ds_body_name(scene, (ds_body_id){index + 1});
  if (given[0] != '\0')
    snprintf(name, size, "%s", given);
  else
    snprintf(name, size, "#%d", (int)index);
}

static void add_range(run_report *r, const ds_scene *scene, const ds_step_report *step) {
  r->parts += step->parts;
  if (step->parts > r->parts_max) r->parts_max = step->parts;
  if (step->outside_bodies > 0 && r->outside_steps++ == 0) {
    name_body(r->outside_name, sizeof r->outside_name, scene, step->outside_body.index1 - 1);
    r->outside_time = step->time;
  }
  if (step->outside_bodies > r->outside_bodies_max) r->outside_bodies_max = step->outside_bodies;
  if (step->inverted_tets > r->inverted_max) r->inverted_max = step->inverted_tets;
  r->linear_strain_max = worse(r->linear_strain_max, step->linear_strain);
}

static void add_motion_certificate(run_report *r, const ds_step_report *step) {
  const ds_motion *m = &step->motion;
  if (!(m->gain_share <= r->motion.gain_share)) r->motion_gain_time = step->time;
  r->motion.gain = worse(r->motion.gain, m->gain);
  r->motion.gain_share = worse(r->motion.gain_share, m->gain_share);
  r->motion.momentum_share = worse(r->motion.momentum_share, m->momentum_share);
  r->motion.time_error = worse(r->motion.time_error, m->time_error);
  r->motion.slip = worse(r->motion.slip, m->slip);
  r->motion.unjudged += m->unjudged > 0;
  if (!m->passed && r->motion_missed_steps++ == 0) r->first_missed_time = step->time;
}

void report_add_step(run_report *r, const ds_scene *scene, const ds_state *state, const ds_step_report *step) {
  r->steps++;
  r->time = step->time;
  r->contacts += step->contacts;
  r->active_contacts += step->active_contacts;
  if (step->contacts > r->contacts_max) r->contacts_max = step->contacts;
  if (step->active_contacts > r->active_contacts_max) r->active_contacts_max = step->active_contacts;
  if (step->islands > r->islands_max) r->islands_max = step->islands;
  add_certificate(r, step);
  work_add(&r->work, scene, state, step);
  r->penetration_last = step->penetration;
  r->penetration_max = worse(r->penetration_max, step->penetration);
  if (step->time <= SETTLED * (1 + 1e-9)) r->penetration_first_second = r->penetration_max;
  r->separation_max = worse(r->separation_max, step->separation);
  if (!(step->joint_drift <= r->joint_drift_max)) r->joint_drift_time = step->time;
  r->joint_drift_max = worse(r->joint_drift_max, step->joint_drift);
  r->stopped_bodies += step->stopped_bodies;
  add_range(r, scene, step);
  double gain = step->energy_after - step->energy_before;
  if (!(gain <= 0)) r->energy_gained += gain;
  if (!(gain <= r->energy_gain_max) && !isnan(r->energy_gain_max)) {
    r->energy_gain_max = gain;
    r->energy_gain_time = step->time;
  }
  add_motion_certificate(r, step);
  /* of impacts by the energetic law none adds energy; those of deformable bodies are by Newton's */
  bool bounded = ds_restitution_is_bounded(r->run.options.restitution_law) && r->deformable_bodies == 0;
  if (!r->restitution && !bounded) {
    int32_t count;
    const ds_contact *contacts = ds_state_contacts(state, &count);
    for (int32_t i = 0; i < count && !r->restitution; i++) r->restitution = contacts[i].restitution > 0;
  }
  add_motion(r, scene, state, step->time);
  double total = 0;
  for (int i = 0; i < DS_STAGE_COUNT; i++) {
    add_time(&r->timings[i], step->seconds[i]);
    total += step->seconds[i];
  }
  add_time(&r->timings[DS_STAGE_COUNT], total);
}

/* ---- The end ---- */

/* Largest resident memory, bytes. The kernel's own figure for this program; getrusage would count what ran before it in
 * the same process. */
static int64_t peak_memory(void) {
  char line[128];
  long long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmHWM: %lld", &kib) == 1) break;
  if (file != NULL) fclose(file);
  struct rusage usage;
  if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0) kib = usage.ru_maxrss;
  return 1024 * (int64_t)kib;
}

static void find_drift(run_report *r, const ds_scene *scene) {
  r->drifted.distance = NAN;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    if (!body_is_dynamic(scene, i)) continue;
    double speed = drift_of(&r->drift, i, r->steps, r->run.options.step);
    if (isnan(speed) || speed <= r->drifted.distance) continue;
    r->drifted = (farthest){speed, i};
  }
}

void report_finish(run_report *r, const ds_scene *scene, const ds_state *state, report_ending ending,
                   double wall_seconds, double cpu_seconds) {
  r->ending = ending;
  r->wall_seconds = wall_seconds;
  r->cpu_seconds = cpu_seconds;
  ds_energy energy = ds_state_energy(scene, state);
  r->energy_end = energy.kinetic + energy.potential + energy.elastic;
  r->elastic_end = energy.elastic;
  double length = r->time - r->window_time;
  if (r->has_window && length > 0) {
    find_farthest(&r->crept, r->window, scene, state);
    r->crept.distance /= length;
  } else {
    r->has_window = false;
  }
  name_body(r->moved_name, sizeof r->moved_name, scene, r->moved.body);
  name_body(r->settled_name, sizeof r->settled_name, scene, r->moved_settled.body);
  name_body(r->crept_name, sizeof r->crept_name, scene, r->crept.body);
  find_drift(r, scene);
  name_body(r->drifted_name, sizeof r->drifted_name, scene, r->drifted.body);
  r->hash = ds_state_hash(state);
  r->peak_memory = peak_memory();
}

double report_displacement(const run_report *r) { return r->moved.distance; }
int64_t report_unconverged_steps(const run_report *r) { return r->unconverged_steps; }
double report_first_unconverged_time(const run_report *r) { return r->first_unconverged_time; }
int64_t report_missed_steps(const run_report *r, double *first) {
  *first = r->first_missed_time;
  return r->motion_missed_steps;
}

static double mean(const run_report *r, double sum) { return r->steps > 0 ? sum / (double)r->steps : NAN; }
static double converged_share(const run_report *r) { return mean(r, (double)(r->steps - r->unconverged_steps)); }
static double speed(const run_report *r) {
  return r->wall_seconds > 0 ? (r->time - r->start_time) / r->wall_seconds : NAN;
}

/* ---- As JSON ---- */

static void write_setup(json_object *j, const run_report *r) {
  static const char *const endings[] = {"finished", "interrupted", "failed", "moved"};
  const ds_options *o = &r->run.options;
  json_text(j, "version", ds_version());
  json_text(j, "scene", r->run.name);
  json_text(j, "source", r->source);
  json_text(j, "ended", endings[r->ending]);
  json_text(j, "method", ds_method_name(o->method));
  json_text(j, "integrator", integrator_name(o->integrator));
  json_text(j, "restitution_law", ds_restitution_name(o->restitution_law));
  json_text(j, "impacts", impacts_name(o->impacts));
  json_text(j, "face_pressure", pressure_name(o->face_pressure));
  json_text(j, "stabilization", stabilization_name(o->stabilization));
  json_real(j, "stabilization_gain", o->stabilization_gain);
  json_real(j, "envelope", o->envelope);
  json_real(j, "friction_stabilization", o->friction_stabilization);
  json_text(j, "metric", metric_name(o->metric));
  json_integer(j, "newton", o->newton);
  json_real(j, "newmark_damping", o->newmark_damping);
  json_real(j, "step", o->step);
  json_real(j, "tolerance", ds_options_tolerance(o));
  json_text(j, "tolerance_of", o->tolerance > 0 ? "every step" : "rest");
  json_real(j, "step_budget", o->step_budget);
  json_real(j, "error_control", o->error_control);
  json_real(j, "deadline", o->deadline);
  json_integer(j, "friction_samples", o->friction_samples);
  json_integer(j, "max_iterations", o->max_iterations);
  json_bool(j, "warm_start", o->warm_start);
  json_bool(j, "sub_islands", o->sub_islands);
  json_integer(j, "contacts_per_face", o->contacts_per_face);
  json_integer(j, "threads", r->threads);
  json_integer(j, "steps", r->steps);
  json_real(j, "start_time", r->start_time);
  json_real(j, "time", r->time);
  json_integer(j, "bodies", r->bodies);
  json_integer(j, "dynamic_bodies", r->dynamic_bodies);
  json_integer(j, "deformable_bodies", r->deformable_bodies);
  json_integer(j, "dof", 6 * (int64_t)r->dynamic_bodies + r->reduced);
  json_integer(j, "joints", r->joints);
}

static void write_solution(json_object *j, const run_report *r) {
  json_real(j, "contacts_mean", mean(r, (double)r->contacts));
  json_integer(j, "contacts_max", r->contacts_max);
  json_real(j, "active_contacts_mean", mean(r, (double)r->active_contacts));
  json_integer(j, "active_contacts_max", r->active_contacts_max);
  json_integer(j, "islands_max", r->islands_max);
  json_real(j, "staggered_iterations_mean", mean(r, (double)r->staggered_iterations));
  json_integer(j, "staggered_iterations_max", r->staggered_iterations_max);
  json_integer(j, "projection_iterations", r->projection_iterations);
  json_integer(j, "factorizations", r->factorizations);
  json_real(j, "factorizations_mean", mean(r, (double)r->factorizations));
  json_integer(j, "factorizations_max", r->work.max);
  json_real(j, "factorizations_max_time", r->work.max_time);
  json_real(j, "factorizations_worst_mean", work_worst_mean(&r->work));
  json_real(j, "factorizations_rest_mean", work_rest_mean(&r->work));
  json_real(j, "converged_share", converged_share(r));
  json_integer(j, "unconverged_steps", r->unconverged_steps);
  json_integer(j, "infeasible_steps", r->infeasible_steps);
  json_real(j, "first_infeasible_time", r->first_infeasible_time);
  json_integer(j, "limited_steps", r->limited_steps);
  json_integer(j, "moving_steps", r->moving_steps);
  json_real(j, "natural_error_rest_max", r->rest_error_max);
  json_real(j, "first_unconverged_time", r->first_unconverged_time);
  json_real(j, "rel_err_max", r->worst.rel_err);
  json_real(j, "residual_max", r->worst.residual);
  json_real(j, "natural_error_max", r->worst.natural_error);
  json_real(j, "approach_velocity_max", r->worst.approach_velocity);
  json_real(j, "cone_violation_max", r->worst.cone_violation);
  json_real(j, "dissipation_error_max", r->worst.dissipation_error);
}

static void write_motion(json_object *j, const run_report *r) {
  const char *causes[5];
  int32_t count = 0;
  if (r->restitution) causes[count++] = "restitution";
  if (r->scripted) causes[count++] = "scripted motion";
  if (r->forced) causes[count++] = "external force";
  if (r->joints > 0) causes[count++] = "joints";
  if (r->driven) causes[count++] = "motors";
  json_real(j, "penetration_max", r->penetration_max);
  json_real(j, "penetration_first_second", r->penetration_first_second);
  json_real(j, "penetration_last", r->penetration_last);
  json_real(j, "separation_max", r->separation_max);
  json_real(j, "joint_drift_max", r->joint_drift_max);
  json_real(j, "joint_drift_time", r->joint_drift_max > 0 ? r->joint_drift_time : NAN);
  json_integer(j, "stopped_bodies", r->stopped_bodies);
  json_real(j, "parts_mean", mean(r, (double)r->parts));
  json_integer(j, "parts_max", r->parts_max);
  json_integer(j, "outside_range_steps", r->outside_steps);
  json_integer(j, "outside_range_bodies_max", r->outside_bodies_max);
  json_text(j, "outside_range_body", r->outside_steps > 0 ? r->outside_name : NULL);
  json_real(j, "outside_range_time", r->outside_steps > 0 ? r->outside_time : NAN);
  json_integer(j, "inverted_tets_max", r->inverted_max);
  json_real(j, "linear_strain_max", r->linear_strain_max);
  json_real(j, "displacement_max", r->moved.distance);
  json_text(j, "displacement_body", r->moved.body >= 0 ? r->moved_name : NULL);
  json_real(j, "displacement_settled_max", r->has_settled ? r->moved_settled.distance : NAN);
  json_text(j, "displacement_settled_body", r->moved_settled.body >= 0 ? r->settled_name : NULL);
  json_real(j, "creep_max", r->has_window ? r->crept.distance : NAN);
  json_text(j, "creep_body", r->crept.body >= 0 ? r->crept_name : NULL);
  json_real(j, "drift_max", r->drifted.distance);
  json_text(j, "drift_body", r->drifted.body >= 0 ? r->drifted_name : NULL);
  json_real(j, "rest_time", work_rest_time(&r->work, r->time));
  json_real(j, "energy_start", r->energy_start);
  json_real(j, "energy_end", r->energy_end);
  json_real(j, "elastic_energy_end", r->elastic_end);
  json_real(j, "energy_gain_max", r->energy_gain_max);
  json_real(j, "energy_gain_time", r->energy_gain_time);
  json_real(j, "energy_gained", r->energy_gained);
  json_texts(j, "energy_gain_causes", causes, count);
  json_real(j, "unexplained_gain_max", r->motion.gain);
  json_real(j, "unexplained_gain_share_max", r->motion.gain_share);
  json_real(j, "unexplained_gain_time", r->motion.gain_share > 0 ? r->motion_gain_time : NAN);
  json_integer(j, "motion_missed_steps", r->motion_missed_steps);
  json_real(j, "momentum_error_max", r->motion.momentum_share);
  json_real(j, "time_error_max", r->run.options.error_control > 0 ? r->motion.time_error : NAN);
  json_real(j, "stick_slip_max", r->motion.slip);
  json_integer(j, "energy_unjudged_steps", r->motion.unjudged);
}

static void write_cost(json_object *j, const run_report *r) {
  static const char *const stages[TIMING_COUNT] = {"detect", "assemble", "predict", "project", "integrate", "total"};
  json_object means = json_child(j, "ms_mean");
  for (int i = 0; i < TIMING_COUNT; i++) json_real(&means, stages[i], mean(r, 1e3 * r->timings[i].sum));
  json_end(&means);
  json_object p99 = json_child(j, "ms_p99");
  for (int i = 0; i < TIMING_COUNT; i++)
    json_real(&p99, stages[i], r->steps > 0 ? 1e3 * percentile(&r->timings[i], r->steps, 0.99) : NAN);
  json_end(&p99);
  json_object max = json_child(j, "ms_max");
  for (int i = 0; i < TIMING_COUNT; i++) json_real(&max, stages[i], r->steps > 0 ? 1e3 * r->timings[i].max : NAN);
  json_end(&max);
  char hash[17];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
  json_real(j, "wall_seconds", r->wall_seconds);
  json_real(j, "cpu_seconds", r->cpu_seconds);
  json_real(j, "speed", speed(r));
  json_text(j, "state_hash", hash);
  json_integer(j, "peak_memory", r->peak_memory);
}

bool report_check_path(const char *path, ds_error *error) {
  output out;
  if (!output_open(&out, path, error)) return false;
  output_discard(&out);
  return true;
}

bool report_write(const run_report *r, const char *path, ds_error *error) {
  output out;
  if (!output_open(&out, path, error)) return false;
  json_object j = json_begin(out.file);
  write_setup(&j, r);
  write_solution(&j, r);
  write_motion(&j, r);
  write_cost(&j, r);
  json_end(&j);
  return output_commit(&out, error);
}

/* ---- For people ---- */

/* Bodies outside the range of their model: what they show may be wrong. */
static void write_range(FILE *out, const run_report *r) {
  fprintf(out, "  range         WARNING: outside the range of the model in %lld steps, first %s at t = %g s:",
          (long long)r->outside_steps, r->outside_name, r->outside_time);
  if (r->linear_strain_max > 0)
    fprintf(out, " linear modes leave out strains of up to %.2g (use stvk)%s", r->linear_strain_max,
            r->inverted_max > 0 ? ";" : "");
  if (r->inverted_max > 0) fprintf(out, " up to %d tetrahedra inverted", (int)r->inverted_max);
  fputc('\n', out);
}

void report_print(const run_report *r, FILE *out) {
  const ds_options *o = &r->run.options;
  fprintf(out, "%s: %d bodies (%d dynamic), %lld steps of %g s to t = %g s%s\n",
          r->run.name[0] != 0 ? r->run.name : r->source, (int)r->bodies, (int)r->dynamic_bodies, (long long)r->steps,
          o->step, r->time,
          r->ending == ENDED_FINISHED      ? ""
          : r->ending == ENDED_INTERRUPTED ? ", interrupted"
          : r->ending == ENDED_MOVED       ? ", ended by --until-moved"
                                           : ", failed");
  if (r->steps == 0) return;
  fprintf(out, "  contacts      %.1f mean, %d max; %d island%s at most\n", mean(r, (double)r->contacts),
          (int)r->contacts_max, (int)r->islands_max, r->islands_max == 1 ? "" : "s");
  fprintf(out, "  converged     %lld of %lld steps", (long long)(r->steps - r->unconverged_steps), (long long)r->steps);
  if (r->unconverged_steps > 0) fprintf(out, ", first failure at t = %g s", r->first_unconverged_time);
  if (r->moving_steps == 0) {
    fprintf(out, "; natural-map error %.2g at most, tolerance %g\n", r->worst.natural_error, ds_options_tolerance(o));
  } else {
    fprintf(out, "\n  error         %.2g at most, in %lld steps with sliding contacts (tolerance up to %g)",
            r->worst.natural_error, (long long)r->moving_steps, r->moving_tolerance_max);
    fprintf(out, "; %.2g in the others (%g)\n", r->rest_error_max, ds_options_tolerance(o));
  }
  if (r->infeasible_steps > 0)
    fprintf(
        out,
        "  infeasible    %lld of them, first at t = %g s: scripted bodies or joints leave no velocity that satisfies "
        "all contacts and joint limits\n",
        (long long)r->infeasible_steps, r->first_infeasible_time);
  if (r->limited_steps > 0)
    fprintf(out, "  limited       %lld steps without a solution, impulses reduced so that they add no energy\n",
            (long long)r->limited_steps);
  fprintf(out, "  work          %.4g factorizations per step, worst percent %.4g, worst step %lld",
          mean(r, (double)r->factorizations), work_worst_mean(&r->work), (long long)r->work.max);
  if (!isnan(work_rest_mean(&r->work))) fprintf(out, "; at rest %.4g", work_rest_mean(&r->work));
  fprintf(out, "\n  displacement  %.3g m", r->moved.distance);
  if (r->moved.body >= 0) fprintf(out, " (%s)", r->moved_name);
  if (r->has_settled) fprintf(out, ", after the first second %.3g m", r->moved_settled.distance);
  fputc('\n', out);
  if (r->has_window) fprintf(out, "  creep         %.3g m/s over the last tenth\n", r->crept.distance);
  fprintf(out, "  penetration   %.3g m, in the first second %.3g m, at the end %.3g m\n", r->penetration_max,
          r->penetration_first_second, r->penetration_last);
  if (r->joints > 0) fprintf(out, "  joints        %d; drift %.2g m at most", (int)r->joints, r->joint_drift_max);
  if (r->joint_drift_max > joints_open) fprintf(out, " at t = %g s: joints have opened", r->joint_drift_time);
  if (r->joints > 0) fputc('\n', out);
  fprintf(out, "  energy        %.6g J, at the start %.6g J; largest gain per step %.2g J\n", r->energy_end,
          r->energy_start, r->energy_gain_max);
  if (o->error_control > 0)
    fprintf(out, "  time error    %.2g m/s at most, bound %g m/s\n", r->motion.time_error, o->error_control);
  if (r->motion_missed_steps > 0)
    fprintf(
        out,
        "  motion        %lld of %lld steps gained energy that nothing accounts for, first at t = %g s; slowed down\n",
        (long long)r->motion_missed_steps, (long long)r->steps, r->first_missed_time);
  if (r->deformable_bodies > 0)
    fprintf(out, "  deformable    %d bod%s, %d coordinates; elastic energy %.4g J at the end\n",
            (int)r->deformable_bodies, r->deformable_bodies == 1 ? "y" : "ies", (int)r->reduced, r->elastic_end);
  if (r->parts_max > 1)
    fprintf(out, "  parts         steps taken in up to %d parts, %.3g on average\n", (int)r->parts_max,
            mean(r, (double)r->parts));
  if (r->outside_steps > 0) write_range(out, r);
  const timing *total = &r->timings[DS_STAGE_COUNT];
  fprintf(out, "  cost          %.3g ms per step, 99 %% below %.3g ms; %.3g times real time on %d thread%s\n",
          mean(r, 1e3 * total->sum), 1e3 * percentile(total, r->steps, 0.99), speed(r), (int)r->threads,
          r->threads == 1 ? "" : "s");
}
