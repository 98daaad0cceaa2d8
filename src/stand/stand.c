/* The verdict [docs/stand-mathematics.md]:
 *
 *   1. N s = -w, s >= 0: every solution has aᵀMa = wᵀa - sum mu r_N |u_T| and u_N >= 0, so that aᵀMa <= -sᵀu_N <= 0.
 *      STANDS.
 *   2. G r = -w, r in K: forces are an equilibrium; else a motion v with Gᵀv in K*, wᵀv > 0 (Farkas) proves that every
 *      acceleration a that forces in K allow has vᵀMa >= wᵀv > 0: it does not stay as drawn. FALLS.
 *   3. In the plane: the bounds of planar.c. STANDS.
 *   4. A moving solution of the exact problem, if one is found (second.c), else none is excluded. CAN STAND. */
#include "drystone/stand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "stand/cone_program.h"
#include "stand/margin.h"
#include "stand/planar.h"
#include "stand/proof.h"
#include "stand/second.h"

const char *ds_verdict_name(ds_verdict verdict) {
  static const char *const names[] = {"STANDS", "CAN STAND", "FALLS", "UNDECIDED"};
  return names[verdict];
}

ds_stand_options ds_default_stand_options(void) {
  return (ds_stand_options){.margin = true, .planar = true, .search = true};
}

void ds_stand_free(ds_stand *s) {
  free(s->normal);
  free(s->friction);
  free(s->pressure);
  free(s->mechanism);
  free(s->moving);
  ds_planar_free(s->planar);
  *s = (ds_stand){.verdict = DS_UNDECIDED, .margin = NAN};
}

/* ---- FALLS ---- */

/* Blocks that hardly move against each other, or against the world, are made to move as one, or not at all, and
 * components that are nearly nothing to be nothing: where a part of the assembly is jammed, motions of the rest are on
 * the boundary of the cone, which no iterate reaches. */
static void snap(ds_twist *twist, int32_t *set, const ds_assembly *a, double share) {
  double largest = 0;
  for (int32_t i = 0; i < a->block_count; i++)
    largest = fmax(largest, v3_norm(ds_twist_at(twist[i], a->blocks[i].center)));
  ds_sets_single(set, a->block_count);
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    double most = 0;
    for (int32_t k = face->first; k < face->first + face->count; k++)
      most = fmax(most, v3_dist(ds_twist_at(twist[face->a], a->points[k]), ds_twist_at(twist[face->b], a->points[k])));
    if (most <= share * largest && face->count > 2) ds_sets_join(set, face->a, face->b);
  }
  for (int32_t i = 0; i < a->block_count; i++) { /* the first block of a set, or the world */
    int32_t root = ds_sets_root(set, i);
    if (a->blocks[i].support) twist[root] = (ds_twist){{0, 0, 0}, {0, 0, 0}};
  }
  for (int32_t i = 0; i < a->block_count; i++) {
    twist[i] = twist[ds_sets_root(set, i)];
    double *part[6] = {&twist[i].v.x, &twist[i].v.y, &twist[i].v.z, &twist[i].w.x, &twist[i].w.y, &twist[i].w.z};
    for (int32_t j = 0; j < 6; j++)
      if (fabs(*part[j]) <= share * largest) *part[j] = 0;
  }
}

/* A motion -y of the cone program as a proven mechanism; NULL if it is none. */
static ds_twist *mechanism_of(ds_arena *arena, const ds_graph *g, const double *y) {
  const ds_assembly *a = g->assembly;
  static const double shares[] = {0, 1e-9, 1e-7, 1e-5};
  ds_twist *twist = malloc(((size_t)a->block_count + 1) * sizeof *twist);
  double *v = DS_NEW(arena, double, 6 * (size_t)g->n + 1), size = 0;
  int32_t *set = DS_NEW(arena, int32_t, a->block_count + 1);
  if (!twist || ds_arena_failed(arena)) {
    free(twist);
    arena->failed = true;
    return NULL;
  }
  for (int32_t i = 0; i < 6 * g->n; i++) size = fmax(size, fabs(y[i]));
  for (size_t i = 0; i < sizeof shares / sizeof *shares && size > 0; i++) {
    for (int32_t j = 0; j < 6 * g->n; j++) v[j] = -y[j] / size;
    ds_graph_twists(twist, g, v);
    if (shares[i] > 0) snap(twist, set, a, shares[i]);
    if (ds_prove_mechanism(a, twist, NULL)) return twist;
  }
  free(twist);
  return NULL;
}

/* ---- STANDS, CAN STAND ---- */

static bool keep_equilibrium(ds_stand *s, const ds_graph *g, const double *r) {
  size_t points = (size_t)g->assembly->point_count + 1;
  s->normal = malloc(points * sizeof *s->normal);
  s->friction = malloc(points * sizeof *s->friction);
  if (!s->normal || !s->friction) return false;
  ds_graph_forces(s->normal, s->friction, g, r);
  if (!ds_prove_forces(&s->residual, g->assembly, s->normal, s->friction, NULL)) s->residual = INFINITY;
  return true;
}

static bool try_frictionless(ds_arena *arena, ds_stand *s, const ds_graph *g, const double *b) {
  ds_cone_program program = {.graph = g, .b = b, .frictionless = true, .first = true, .forces_only = true};
  ds_cone_answer answer;
  double residual;
  if (!ds_cone_solve(arena, &answer, &program)) return false;
  s->factorizations += answer.factorizations;
  if (!answer.forces) return true;
  double *pressure = malloc(((size_t)g->assembly->point_count + 1) * sizeof *pressure);
  if (!pressure) return false;
  ds_graph_forces(pressure, NULL, g, answer.r);
  if (!ds_prove_forces(&residual, g->assembly, pressure, NULL, NULL) || !(residual <= DS_ACCEPTED_REST)) {
    free(pressure);
    return true;
  }
  s->pressure = pressure;
  s->verdict = DS_STANDS;
  s->reason = DS_REASON_FRICTIONLESS;
  return keep_equilibrium(s, g, answer.r);
}

static const double margin_width = 1e-4; /* of an interval that is a margin */

/* The margin is the multiplier of a load, the forces that every interface loses: where a part is jammed, and no motion
 * of the program inside its cones, that has proofs of falls with blocks that move as one. */
static bool margin_of_load(ds_arena *arena, ds_stand *s, const ds_graph *g, const double *share) {
  int32_t blocks = g->assembly->block_count;
  double *d = DS_NEW0(arena, double, 6 * (size_t)g->n + 1);
  ds_vec3 *force = DS_NEW0(arena, ds_vec3, blocks + 1), *torque = DS_NEW0(arena, ds_vec3, blocks + 1);
  ds_multiplier m;
  ds_error error;
  if (ds_arena_failed(arena)) return false;
  ds_graph_add_forces(d, g, share);
  for (int32_t i = 0; i < g->n; i++) {
    double f = g->unit * g->root_mass[i], *o = d + 6 * i;
    force[g->block[i]] = v3_scale(f, v3(o[0], o[1], o[2]));
    torque[g->block[i]] = v3_scale(f * g->radius[i], v3(o[3], o[4], o[5]));
  }
  if (ds_stand_multiplier(&m, g->assembly, force, torque, &error) != DS_OK) return false;
  if (m.equilibrium >= 0 && fmin(m.falls, 1) - m.equilibrium <= margin_width) s->margin = fmin(m.equilibrium, 1);
  ds_multiplier_free(&m);
  return true;
}

static bool find_margin(ds_arena *arena, ds_stand *s, const ds_graph *g) {
  ds_cone_answer answer;
  double *share;
  if (!ds_margin_solve(arena, &answer, &share, g, NULL, 1e-6)) return false;
  if (answer.forces && answer.motion && answer.upper - answer.lower <= margin_width * fmax(1, answer.upper))
    s->margin = 1 - answer.upper;
  else if (answer.forces && answer.upper < 1 && g->limits == 0)
    return margin_of_load(arena, s, g, share);
  return true;
}

/* Forces or a mechanism by the margin, to all digits that there are. */
static bool decide_by_margin(ds_arena *arena, ds_stand *s, ds_cone_answer *answer, const ds_graph *g) {
  double *share;
  if (!ds_margin_solve(arena, answer, &share, g, NULL, 1e-14)) return false;
  s->factorizations += answer->factorizations;
  answer->mechanism = answer->motion && answer->lower > 1;
  answer->last = answer->y;
  answer->forces = answer->forces && answer->upper < 1;
  for (int32_t i = 0; i < 3 * g->points && answer->forces; i++) answer->r[i] += (1 - answer->upper) * share[i];
  return true;
}

static bool has_tension(const ds_assembly *a) {
  for (int32_t i = 0; i < a->interface_count; i++)
    if (a->interfaces[i].tension > 0) return true;
  return false;
}

/* What an equilibrium is worth: is every solution at rest? */
static bool judge_equilibrium(ds_arena *arena, ds_stand *s, const ds_graph *g, const ds_stand_options *options) {
  s->verdict = DS_CAN_STAND;
  s->reason = DS_REASON_OPEN;
  bool planar = options->planar && !has_tension(g->assembly) && g->limits == 0;
  if (planar && !ds_planar_stands(arena, s, g->assembly)) return false;
  return s->verdict == DS_STANDS || !options->search || ds_second_solution(arena, s, g);
}

static bool decide(ds_arena *arena, ds_stand *s, const ds_graph *g, const ds_stand_options *options) {
  double *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i];
  ds_cone_program program = {.graph = g, .b = b, .first = true};
  ds_cone_answer answer;
  if (!try_frictionless(arena, s, g, b)) return false;
  if (s->verdict == DS_STANDS) return true;
  if (!ds_cone_solve(arena, &answer, &program)) return false;
  s->factorizations += answer.factorizations;
  if (!answer.forces && !answer.mechanism) {
    s->mechanism = mechanism_of(arena, g, answer.last);
    if (!s->mechanism && !decide_by_margin(arena, s, &answer, g)) return false;
  }
  if (!answer.forces) {
    if (!s->mechanism) s->mechanism = mechanism_of(arena, g, answer.last);
    if (s->mechanism) s->verdict = DS_FALLS;
    return !ds_arena_failed(arena);
  }
  if (!keep_equilibrium(s, g, answer.r)) return false;
  return !(s->residual <= DS_ACCEPTED_REST) || judge_equilibrium(arena, s, g, options);
}

ds_status ds_stand_check(ds_stand *s, const ds_assembly *assembly, const ds_stand_options *options, ds_error *error) {
  ds_stand_options usual = ds_default_stand_options();
  *s = (ds_stand){.verdict = DS_UNDECIDED, .margin = NAN};
  if (!options) options = &usual;
  if (ds_assembly_check(assembly, error) != DS_OK) return DS_ERROR_INPUT;
  ds_arena arena = {0};
  ds_graph *g = ds_graph_create(&arena, assembly);
  bool good = g && decide(&arena, s, g, options) && (!options->margin || g->n == 0 || find_margin(&arena, s, g));
  ds_arena_free(&arena);
  if (good) return DS_OK;
  ds_stand_free(s);
  return ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
}

/* ---- load cases ---- */

void ds_multiplier_free(ds_multiplier *m) {
  free(m->mechanism);
  m->mechanism = NULL;
}

static const double multiplier_width = 1e-7; /* relative, of the interval [equilibrium, falls] */
static const double least_multiplier =
    1e-9; /* what the accepted rests of equilibria allow where it should be nothing */

/* What tension and crushing take from the work of the loads on a motion. */
static double work_taken(const ds_assembly *a, const ds_twist *twist) {
  double sum = 0;
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    for (int32_t k = face->first; k < face->first + face->count; k++) {
      ds_vec3 p = a->points[k], u = v3_sub(ds_twist_at(twist[face->b], p), ds_twist_at(twist[face->a], p));
      sum += face->tension * v3_dot(u, face->normal);
      if (a->strength) sum += (a->strength[k] + face->tension) * ds_crush_rate(a, twist, i, k);
    }
  }
  return sum;
}

/* The work of forces and torques, one per block, on a motion. */
static double work_of(const ds_assembly *a, const ds_twist *twist, const ds_vec3 *force, const ds_vec3 *torque) {
  double sum = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    sum += v3_dot(force[i], ds_twist_at(twist[i], a->blocks[i].center));
    if (torque) sum += v3_dot(torque[i], twist[i].w);
  }
  return sum;
}

/* An assembly whose loads have grown to lambda. */
typedef struct loaded {
  ds_assembly assembly;
  const ds_assembly *dead;
  const ds_vec3 *force, *torque;
} loaded;

static void grow_loads(loaded *l, double lambda) {
  const ds_assembly *a = l->dead;
  memcpy(l->assembly.blocks, a->blocks, (size_t)a->block_count * sizeof *a->blocks);
  for (int32_t i = 0; i < a->block_count; i++) {
    l->assembly.blocks[i].force = v3_mad(a->blocks[i].force, lambda, l->force[i]);
    if (l->torque) l->assembly.blocks[i].torque = v3_mad(a->blocks[i].torque, lambda, l->torque[i]);
  }
}

/* A motion of the program as a mechanism of loads just above the multiplier that it gives, proven for those. */
static bool prove_fall(ds_arena *arena, ds_multiplier *m, loaded *l, const double *y, double lambda) {
  grow_loads(l, lambda = lambda * (1 + 1e-9) + 1e-12);
  ds_graph *g = ds_graph_create(arena, &l->assembly);
  if (!g) return false;
  m->mechanism = mechanism_of(arena, g, y);
  if (m->mechanism) m->falls = lambda;
  return !ds_arena_failed(arena);
}

/* Where a part is jammed no motion of the program is inside its cones. Then the verdict on loads a little above the
 * last equilibrium gives a mechanism, and with it the multiplier from which on it proves a fall. */
static bool fall_above(ds_arena *arena, ds_multiplier *m, loaded *l) {
  static const double above[] = {1e-5, 1e-3, 1e-1};
  const ds_assembly *a = l->dead;
  ds_vec3 *dead = DS_NEW(arena, ds_vec3, a->block_count + 1), *turn = DS_NEW(arena, ds_vec3, a->block_count + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < a->block_count; i++) {
    dead[i] = v3_mad(a->blocks[i].force, a->blocks[i].mass, a->gravity);
    turn[i] = a->blocks[i].torque;
  }
  for (size_t k = 0; k < sizeof above / sizeof *above && !m->mechanism; k++) {
    ds_stand stand = {.verdict = DS_UNDECIDED};
    ds_stand_options options = {.margin = false};
    double lambda = m->equilibrium * (1 + above[k]) + above[k] * 1e-3;
    grow_loads(l, lambda);
    ds_graph *g = ds_graph_create(arena, &l->assembly);
    bool good = g && decide(arena, &stand, g, &options);
    m->factorizations += stand.factorizations;
    m->mechanism = stand.mechanism, stand.mechanism = NULL;
    ds_stand_free(&stand);
    if (!good) return false;
    if (!m->mechanism) continue;
    double work = work_of(a, m->mechanism, l->force, l->torque),
           first = work_of(a, m->mechanism, dead, turn) - work_taken(a, m->mechanism);
    m->falls = work > 0 ? fmin(lambda, (1 + 1e-9) * fmax(m->equilibrium, -first / work)) : lambda;
  }
  return true;
}

static bool find_multiplier(ds_arena *arena, ds_multiplier *m, const ds_graph *g, const ds_vec3 *force,
                            const ds_vec3 *torque) {
  const ds_assembly *a = g->assembly;
  double *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1), *d = DS_NEW(arena, double, 6 * (size_t)g->n + 1);
  loaded l = {*a, a, force, torque};
  l.assembly.blocks = DS_NEW(arena, ds_block, a->block_count + 1);
  ds_cone_answer answer;
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i];
  ds_graph_scale_load(d, g, force, torque);
  ds_cone_program program = {.graph = g, .b = b, .d = d, .e = -1, .width = multiplier_width};
  ds_cone_centre centre;
  if (!ds_margin_centre(arena, &centre, &program)) return false;
  if (centre.x) program.centre = &centre;
  if (!ds_cone_solve(arena, &answer, &program)) return false;
  m->factorizations = centre.factorizations + answer.factorizations;
  program.centre = NULL;
  if (answer.forces) m->equilibrium = answer.unbounded ? INFINITY : answer.t;
  if (answer.mechanism && !prove_fall(arena, m, &l, answer.y, 0)) return false;
  if (!answer.mechanism && answer.motion && !prove_fall(arena, m, &l, answer.y, -answer.lower)) return false;
  bool limited = m->equilibrium >= 0 && isfinite(m->equilibrium);
  if (limited && !m->mechanism && !fall_above(arena, m, &l)) return false;
  program.frictionless = true;
  if (!ds_cone_solve(arena, &answer, &program)) return false;
  m->factorizations += answer.factorizations;
  if (answer.forces) m->stands = answer.unbounded ? INFINITY : answer.t > least_multiplier ? answer.t : 0;
  return !ds_arena_failed(arena);
}

ds_status ds_stand_multiplier(ds_multiplier *m, const ds_assembly *assembly, const ds_vec3 *force,
                              const ds_vec3 *torque, ds_error *error) {
  *m = (ds_multiplier){.stands = -1, .equilibrium = -1, .falls = INFINITY};
  if (ds_assembly_check(assembly, error) != DS_OK) return DS_ERROR_INPUT;
  ds_arena arena = {0};
  ds_graph *g = ds_graph_create(&arena, assembly);
  bool good = g && find_multiplier(&arena, m, g, force, torque);
  ds_arena_free(&arena);
  return good ? DS_OK : ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
}

ds_status ds_stand_push(ds_multiplier *m, const ds_assembly *assembly, ds_vec3 direction, ds_error *error) {
  double g = v3_norm(assembly->gravity), length = v3_norm(direction);
  if (!(g > 0)) return ds_fail(error, DS_ERROR_INPUT, "a tilt or push needs gravity");
  if (!(length > 0) || !isfinite(length))
    return ds_fail(error, DS_ERROR_INPUT, "the direction of a push must not be zero");
  ds_vec3 *force = malloc(((size_t)assembly->block_count + 1) * sizeof *force);
  if (!force) return ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
  for (int32_t i = 0; i < assembly->block_count; i++)
    force[i] = v3_scale(assembly->blocks[i].mass * g / length, direction);
  ds_status status = ds_stand_multiplier(m, assembly, force, NULL, error);
  free(force);
  return status;
}

/* ---- friction ---- */

static const double most_mu = 10, mu_width = 1e-4; /* relative width of the interval */

/* One verdict with another friction: 1 = equilibrium, -1 = mechanism, 0 = neither. */
static int try_mu(ds_arena *arena, int32_t *work, ds_cone_program *program, double *mu, double value) {
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_cone_answer answer;
  for (int32_t k = 0; k < program->graph->points; k++) mu[k] = value;
  program->frictionless = value == 0;
  if (!ds_cone_solve(arena, &answer, program)) return 0;
  *work += answer.factorizations;
  if (!answer.forces && !answer.mechanism) { /* too near the edge */
    double *share;
    if (!ds_margin_solve(arena, &answer, &share, program->graph, mu, 1e-14)) return 0;
    *work += answer.factorizations;
    answer.mechanism = answer.motion && answer.lower > 1;
    answer.forces = answer.forces && answer.upper < 1;
  }
  ds_arena_release(arena, mark);
  return answer.forces ? 1 : answer.mechanism ? -1 : 0;
}

static bool bisect_mu(ds_arena *arena, ds_least_mu *m, const ds_graph *g) {
  double *b = DS_NEW(arena, double, 6 * (size_t)g->n + 1), *mu = DS_NEW(arena, double, g->points + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t i = 0; i < 6 * g->n; i++) b[i] = -g->load[i];
  ds_cone_program program = {.graph = g, .b = b, .mu = mu, .first = true};
  if (try_mu(arena, &m->factorizations, &program, mu, 0) == 1) {
    m->equilibrium = 0;
    return !ds_arena_failed(arena);
  }
  double low = 0, high = most_mu;
  int top = try_mu(arena, &m->factorizations, &program, mu, most_mu);
  if (top == -1) m->falls = most_mu;
  if (top != 1) return !ds_arena_failed(arena);
  m->equilibrium = most_mu;
  while (high - low > mu_width * high) {
    double middle = low < 0.1 * high ? (low > 0 ? sqrt(low * high) : 0.2 * high) : 0.5 * (low + high);
    int side = try_mu(arena, &m->factorizations, &program, mu, middle);
    if (side == 0 || high < 1e-9) break;
    if (side > 0)
      high = m->equilibrium = middle;
    else
      low = m->falls = middle;
  }
  return !ds_arena_failed(arena);
}

ds_status ds_stand_least_mu(ds_least_mu *m, const ds_assembly *assembly, ds_error *error) {
  *m = (ds_least_mu){.falls = 0, .equilibrium = INFINITY};
  if (ds_assembly_check(assembly, error) != DS_OK) return DS_ERROR_INPUT;
  ds_arena arena = {0};
  ds_graph *g = ds_graph_create(&arena, assembly);
  bool good = g && bisect_mu(&arena, m, g);
  ds_arena_free(&arena);
  return good ? DS_OK : ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
}
