/* The order of tools for one island [DESIGN 3]: certify the better of the warm start and none; a few Newton steps, with
 * sweeps in large islands; there the interior points, too; the homotopy; a search for a proof that there is no
 * solution; Newton and sweeps once more from zero, where the start was warm; the homotopy from other starts;
 * Gauss-Seidel and Newton in turn; the staggered loop. Answers are compared by the full error, the best is kept, and
 * whatever path was taken it ends in the same certificate. The effort is bounded by counts (problem/effort.h), and by
 * the clock only where a deadline is set (deadline.c). docs/solver.md has the measurements behind the order. */
#include "project/project.h"

#include <math.h>

#include "problem/condense.h"
#include "problem/effort.h"
#include "project/cone.h"
#include "project/conflict.h"
#include "project/deadline.h"
#include "project/gauss_seidel.h"
#include "project/goal.h"
#include "project/homotopy.h"
#include "project/newton.h"
#include "project/staggered.h"
#include "project/system.h"

/* Steps of the first Newton. A problem of its own goes over to sweeps sooner, and back. */
enum { NEWTON_OF_STEP = 20, POLISH_OF_LOOSE = 8, POLISH_IN_TIME = 4, NEWTON_ONCE = 15, SWEEPS_BETWEEN = 15 };
enum { MORE_DIGITS = 6 }; /* that Newton goes for where the natural map is solved and the full error is not */

enum { LARGE = 100 };             /* bodies of an island that is large, */
static const double LOOSE = 1e-5; /* and tolerances at which sweeps help it */

/* A warm start is taken without a solve only where its error is well below the tolerance. */
static const double ACCEPT_WARM = 10;       /* over the aim */
static const double ACCEPT_SWEPT = 0.1;     /* over the aim: a residue drifts, and adds up in the long run */
enum { FEW_BODIES = 16, REST_SWEEPS = 20 }; /* in an island that sweeps keep at rest */
static const double NEAR = 1e-3;            /* error of a warm start from which Newton comes first, whatever it costs */
enum { SWEEPS_AT_ONCE = 120 };              /* after which their rate is looked at */
static const double MANY_SWEEPS = 26;       /* that a factorization costs, where sweeps come first */

/* Sweeps and Newton in turn: of at least so many sweeps and at most so many steps, from this error on. */
enum { SWEEPS_IN_TURN = 60, NEWTON_IN_TURN = 30, TURNS = 40, IDLE_TURNS = 3, ROUGH_TURNS = 4 };
enum { HOMOTOPY_STEPS = 1000 }; /* of one path; paths of walls may need 800 */
static const double OTHER_RELAXATIONS[] = {10, 0.1};
static const double NEAR_IN_TURN = 3e-3;
static const double BOGUS = 0.1; /* error of an answer to the natural map that is none */

static void newton(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_goal *g, double proximal,
                   int32_t steps) {
  int32_t before = s->work.projections;
  ds_newton_options o = {.tolerance = g->tolerance, .target = g->target, .proximal = proximal, .steps = steps};
  if (g->tolerance >= LOOSE) o.polish = POLISH_OF_LOOSE; /* the digits to come are worth a few steps */
  if (s->effort && s->effort->until != 0) o.polish = POLISH_IN_TIME;
  ds_iterate_update(x, p); /* it may have been judged */
  bool there = ds_newton_solve(s, x, p, &o);
  /* the natural map is solved, but the full error is above: a few digits more lower it, unless impulses cancel */
  for (int32_t more = 0; more < MORE_DIGITS && there && !ds_goal_is_met(x, p, g); more++) {
    if (x->error > BOGUS) break;
    ds_iterate_update(x, p);
    o.tolerance *= 0.1;
    there = ds_newton_solve(s, x, p, &o);
  }
  ds_goal_is_met(x, p, g);
  s->work.tool[DS_TOOL_NEWTON] += s->work.projections - before;
}

static double first_proximal(const ds_iterate *x) { return x->error < 1e-2 ? 1e-3 : 1e-2; }

/* The better of two is kept: one that will do, or that with the smaller full error. The tool goes on from its own
 * point, because the best one so far may sit in a trap. True where the one kept will do. */
static bool keep(ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g) {
  bool will_do = ds_goal_is_met(y, p, g), did = ds_goal_is_met(x, p, g);
  if (will_do == did ? y->error < x->error : will_do) ds_iterate_copy(x, y, p);
  return will_do || did;
}

/* No impulses, where those there are worse than none. */
static void forget(ds_iterate *x, const ds_subproblem *p) {
  memset(x->r, 0, 3 * (size_t)p->contact_count * sizeof(double));
  ds_iterate_update(x, p);
}

/* How much larger the impulses are than one contact alone would need: weight piles up in arches and stacks. */
static double impulse_scale(const ds_iterate *x, const ds_subproblem *p) {
  double sum = 0;
  for (int32_t i = 0; i < 3 * p->contact_count; i++) sum += x->r[i] * x->r[i];
  double ratio = sqrt(sum) / (p->rho * p->target);
  return isfinite(ratio) ? fmin(1e4, fmax(1, ratio)) : 1;
}

/* The convex program decides where nothing slides; the interior point goes where the path to the solution has no fold.
 * Each ends in Newton, for the last digits. In large islands they come before the homotopy, whose path has many folds
 * there: 25 steps of a wall of 105 bricks hit by a ball take 2,900 factorizations with them, 4,900 without. In small
 * ones they bring nothing: our own problems take 6,300 with them, 4,600 without. */
static bool interior_points(ds_solve *s, ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g) {
  double start = 1.5 * impulse_scale(x, p);
  const ds_cone_options cone[] = {
      {.tolerance = 1e-7, .iterations = 40, .convex = true, .centring = 0, .start = start},
      {.tolerance = g->target, .iterations = 100, .centring = 0.5, .start = start},
  };
  for (size_t i = 0; i < sizeof cone / sizeof *cone; i++) {
    int32_t before = s->work.projections;
    y->error = INFINITY;
    ds_cone_solve(s, y, p, &cone[i]);
    s->work.tool[cone[i].convex ? DS_TOOL_CONVEX : DS_TOOL_CONE] += s->work.projections - before;
    newton(s, y, p, g, fmin(1e-2, fmax(1e-10, y->error)), i == 0 ? 20 : 60);
    if (keep(x, y, p, g)) return true;
  }
  return false;
}

/* W alone, which the caller will solve as that of one body where this form fails: the dear tools are left to that,
 * and here the homotopy would lose the path to rounding. */
static bool has_other_form(const ds_solve *s, const ds_subproblem *p) {
  return s->purpose == DS_FOR_PROBLEM && ds_subproblem_can_have_body(p);
}

/* From the central path of a convex program, through the folds, to the solution. It does not depend on x. True where it
 * ends in an answer. */
static bool homotopy(ds_solve *s, ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g,
                     double relaxation) {
  ds_homotopy_options o = {.relaxation = relaxation, .iterations = HOMOTOPY_STEPS};
  int32_t before = s->work.projections;
  y->error = INFINITY;
  s->work.unbounded = ds_homotopy_solve(s, y, p, &o) == DS_HOMOTOPY_UNBOUNDED;
  s->work.tool[DS_TOOL_HOMOTOPY] += s->work.projections - before;
  if (y->error < NEAR && !s->work.unbounded && !ds_goal_is_met(y, p, g))
    newton(s, y, p, g, 1e-2, 60); /* lost, but not far from the end */
  return keep(x, y, p, g);
}

/* The same from other starts, where the first path got lost. A jam is believed only where two lead into it. */
static bool other_paths(ds_solve *s, ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g, bool jam) {
  for (size_t i = 0; i < sizeof OTHER_RELAXATIONS / sizeof *OTHER_RELAXATIONS; i++) {
    bool there = homotopy(s, x, y, p, g, OTHER_RELAXATIONS[i]), again = s->work.unbounded;
    s->work.unbounded = again && jam;
    if (there || s->work.unbounded || ds_effort_is_over(s->effort)) return true;
    jam |= again;
  }
  return false;
}

static void sweep(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_single_contact *blocks, double tolerance,
                  int32_t sweeps) {
  int32_t before = s->work.projections;
  ds_gauss_seidel_solve(s, x, p, blocks, tolerance, sweeps);
  s->work.tool[DS_TOOL_GAUSS_SEIDEL] += s->work.projections - before;
}

/* Gauss-Seidel sweeps move the set of sliding contacts towards the solution; now and then Newton tries its basin. */
static bool sweeps(ds_solve *s, ds_iterate *x, ds_iterate *y, ds_iterate *z, const ds_subproblem *p, const ds_goal *g) {
  const double proximal[3] = {1e-2, 1e-3, 1e-1};
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  if (!blocks) return false;
  memset(y->r, 0, 3 * (size_t)p->contact_count * sizeof(double));
  for (int32_t round = 0; round < 9; round++) {
    sweep(s, y, p, blocks, g->target, 200 * (round + 1));
    ds_iterate_copy(z, y, p);
    newton(s, z, p, g, proximal[round % 3], 60);
    if (keep(x, z, p, g)) return true;
  }
  return false;
}

/* What is left where the paths have failed: sweeps and Newton, then the staggered loop, a last resort that costs some
 * forty factorizations an iteration. */
static void rescue(ds_solve *s, ds_iterate *x, ds_iterate *y, ds_iterate *z, const ds_subproblem *p, const ds_goal *g,
                   int32_t max_iterations) {
  if (sweeps(s, x, y, z, p, g)) return;
  int32_t iterations = max_iterations < 10 ? max_iterations : 10;
  ds_staggered_options staggered = {.tolerance = g->tolerance, .iterations = iterations};
  ds_staggered_solve(s, x, p, &staggered);
  s->work.tool[DS_TOOL_STAGGERED] = s->work.staggered;
  newton(s, x, p, g, 1e-4, 60);
}

/* In large piles a factorization costs as much as tens of sweeps, and sweeps alone reach loose tolerances: they come
 * first where ten of them or more cost no more than a factorization. As many as two hundred factorizations cost are
 * tried, while they get there at the present rate. */
static bool sweeps_of_large(ds_solve *s, ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g) {
  double goal_of_sweeps = fmax(g->target, 0.3 * g->tolerance),
         budget = fmin(4000, 200 * ds_system_in_sweeps(s->system));
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  if (!blocks) return false;
  ds_iterate_copy(y, x, p);
  for (int32_t done = 0; done < budget && y->error > goal_of_sweeps; done += SWEEPS_AT_ONCE) {
    double before = y->error;
    sweep(s, y, p, blocks, goal_of_sweeps, SWEEPS_AT_ONCE);
    double rate = y->error / before, blocks_left = (budget - done) / SWEEPS_AT_ONCE - 1;
    if (!(rate < 1) || y->error * pow(rate, blocks_left) > g->tolerance) break;
  }
  return keep(x, y, p, g);
}

/* Newton from where sweeps left off, where that is near enough; y is the better of both. */
static void newton_in_turn(ds_solve *s, ds_iterate *y, ds_iterate *z, const ds_subproblem *p, const ds_goal *g) {
  if (y->error > NEAR_IN_TURN) return;
  ds_iterate_copy(z, y, p);
  newton(s, z, p, g, 1e-2, NEWTON_IN_TURN);
  if (z->error < y->error) ds_iterate_copy(y, z, p);
}

/* Where the tolerance is loose and the island large, neither gets there soon: Newton has too many contacts to turn, and
 * sweeps carry loads one body a sweep. In turn, each from where the other left off, they halve the error each time; one
 * turn costs what a few dozen factorizations do. (Of two thousand falling bunnies at 1e-4, in the hardest steps, some
 * five turns do what takes 3,000 sweeps or 1,500 factorizations of the homotopy.) */
static bool sweeps_and_newton(ds_solve *s, ds_iterate *x, ds_iterate *y, ds_iterate *z, const ds_subproblem *p,
                              const ds_goal *g) {
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  int32_t sweeps = (int32_t)fmax(SWEEPS_IN_TURN, fmin(600, ds_system_in_sweeps(s->system)));
  if (!blocks) return false;
  if (x->error > 1) forget(x, p);
  ds_iterate_copy(y, x, p);
  bool forgotten = false;
  for (int32_t turn = 0, idle = 0; turn < TURNS && idle < IDLE_TURNS; turn++) {
    double before = y->error;
    sweep(s, y, p, blocks, fmax(g->target, 0.3 * g->tolerance), sweeps);
    bool there = y->error <= g->tolerance;
    if (keep(x, y, p, g)) return true;
    if (there && y->error > BOGUS) { /* impulses that cancel each other, which sweeps keep as they are */
      if (forgotten) return false;
      forget(y, p);
      forgotten = true;
      continue;
    }
    newton_in_turn(s, y, z, p, g);
    if (keep(x, y, p, g)) return true;
    idle = y->error < 0.8 * before ? 0 : idle + 1;
  }
  return false;
}

/* From a warm start, Newton. A problem of its own has worse starts than a step: where Newton is not there after a few
 * steps it waits for contacts to change their mode, one by one. A sweep costs a quarter of a step and changes many:
 * some of them from Newton's best point, then Newton again. Not where it ended by itself: its map is solved, far away.
 */
static bool newton_and_sweeps(ds_solve *s, ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g) {
  int32_t before = s->work.projections;
  newton(s, x, p, g, first_proximal(x), s->purpose == DS_FOR_PROBLEM ? NEWTON_ONCE : NEWTON_OF_STEP);
  if (ds_goal_is_met(x, p, g)) return true;
  if (s->purpose != DS_FOR_PROBLEM || s->work.projections - before < NEWTON_ONCE) return false;
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  if (!blocks) return false;
  ds_iterate_copy(y, x, p);
  sweep(s, y, p, blocks, g->target, SWEEPS_BETWEEN);
  if (keep(x, y, p, g)) return true;
  newton(s, y, p, g, first_proximal(y), NEWTON_OF_STEP);
  return keep(x, y, p, g);
}

/* The tools that depend on where they start, from x. True where x will do. */
static bool from_start(ds_solve *s, ds_iterate *x, ds_iterate *y, ds_iterate *z, const ds_subproblem *p,
                       const ds_goal *g) {
  bool near = x->error < NEAR, many = ds_system_in_sweeps(s->system) >= MANY_SWEEPS;
  if (g->moving >= LOOSE && p->body_count >= LARGE) {
    ds_goal loose = *g;
    loose.tolerance = g->moving;
    if (near && newton_and_sweeps(s, x, y, p, g)) return true;
    if (sweeps_and_newton(s, x, y, z, p, &loose) && ds_goal_is_met(x, p, g)) return true;
    if (g->tolerance >= LOOSE) return false;
  }
  if (many && !near && sweeps_of_large(s, x, y, p, g)) return true;
  if (newton_and_sweeps(s, x, y, p, g)) return true;
  return many && near && sweeps_of_large(s, x, y, p, g);
}

/* Where no velocity keeps the contacts apart, b gives way by what it must, and the impulses of that problem are the
 * answer: they push where there is room. The certificate is the one of the problem as it was. */
static void give_way(ds_solve *s, ds_iterate *x, ds_iterate *y, ds_iterate *z, const ds_subproblem *p,
                     const double *violation, const ds_goal *g, int32_t max_iterations) {
  ds_subproblem relaxed = *p;
  double *b = DS_NEW(s->arena, double, 3 * (size_t)p->contact_count + 1);
  if (!b) return;
  memcpy(b, p->b, 3 * (size_t)p->contact_count * sizeof(double));
  for (int32_t k = 0; k < p->contact_count; k++) b[3 * k] -= violation[k];
  relaxed.b = b;
  forget(x, &relaxed);
  if (!homotopy(s, x, y, &relaxed, g, 1) && !other_paths(s, x, y, &relaxed, g, s->work.unbounded))
    rescue(s, x, y, z, &relaxed, g, max_iterations);
  s->work.gave_way = ds_goal_is_met(x, &relaxed, g);
  ds_iterate_update(x, p);
  ds_goal_is_met(x, p, g);
}

/* A second start, from no impulses at all, where the first one was bad: y takes it, x is the best. */
static bool cold_start(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_goal *g) {
  ds_iterate c = ds_iterate_new(s->arena, p), y = ds_iterate_new(s->arena, p), z = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return false;
  forget(&c, p);
  bool there = from_start(s, &c, &y, &z, p, g);
  return keep(x, &c, p, g) || there;
}

static void coupled_path(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_goal *g, bool warm,
                         int32_t max_iterations) {
  ds_iterate y = ds_iterate_new(s->arena, p), z = ds_iterate_new(s->arena, p);
  double *violation = DS_NEW(s->arena, double, p->contact_count + 1);
  if (ds_arena_failed(s->arena)) return;
  if (from_start(s, x, &y, &z, p, g) || has_other_form(s, p) || ds_effort_is_over(s->effort)) return;
  if (p->body_count >= LARGE && interior_points(s, x, &y, p, g)) return;
  if (homotopy(s, x, &y, p, g, 1)) return;
  bool jam = s->work.unbounded;
  s->work.unbounded = false; /* until another path has confirmed it */
  if (ds_effort_is_over(s->effort)) return;
  s->work.conflict = ds_conflict_find(s, violation, p);
  if (s->work.conflict > 0) {
    give_way(s, x, &y, &z, p, violation, g, max_iterations);
    return;
  }
  if (warm && cold_start(s, x, p, g)) return;
  if (other_paths(s, x, &y, p, g, jam)) return;
  rescue(s, x, &y, &z, p, g, max_iterations);
}

/* Impulses outside the cone by rounding are put on it, so that it holds exactly: a frictionless contact carries no
 * friction at all. Those that are nothing but an interior point's distance from its boundary become zero. Taken where
 * the error does not suffer. */
static void clip_to_cone(ds_solve *s, ds_iterate *x, const ds_subproblem *p, double tolerance) {
  ds_iterate y = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return;
  bool changed = false;
  double largest = 0;
  for (int32_t k = 0; k < p->contact_count; k++) largest = fmax(largest, x->r[3 * k]);
  double nothing = fmin(x->error, 1e-9) * largest;
  for (int32_t k = 0; k < p->contact_count; k++) {
    const double *from = x->r + 3 * k;
    double *to = y.r + 3 * k, friction = sqrt(from[1] * from[1] + from[2] * from[2]);
    double normal = from[0] > nothing ? from[0] : 0, limit = p->mu[k] * normal,
           f = friction > limit ? limit / friction : 1;
    to[0] = normal, to[1] = f * from[1], to[2] = f * from[2];
    changed |= to[0] != from[0] || to[1] != from[1] || to[2] != from[2];
  }
  if (!changed) return;
  ds_iterate_update(&y, p);
  y.error = ds_subproblem_error(p, y.r, y.u, 0);
  if (y.error > tolerance && ds_impulses_add_energy(&y, p)) return;
  if (y.error <= fmax(x->error, 0.1 * tolerance)) ds_iterate_copy(x, &y, p);
}

/* The answer and the work of a solve. False where memory ran out. */
static bool give_back(const ds_solve *s, double *r, double *v, ds_certificate *certificate, const ds_iterate *x,
                      const ds_subproblem *p) {
  if (ds_arena_failed(s->arena)) return false;
  memcpy(r, x->r, 3 * (size_t)p->contact_count * sizeof(double));
  memcpy(v, x->v, (size_t)p->dof * sizeof(double));
  *certificate = (ds_certificate){.staggered_iterations = s->work.staggered,
                                  .projection_iterations = s->work.projections,
                                  .factorizations = s->system ? s->system->factorizations : 0,
                                  .rel_err = s->work.rel_err,
                                  .conflict = s->work.conflict};
  memcpy(certificate->tool, s->work.tool, sizeof s->work.tool);
  return true;
}

bool ds_project_roughly(const ds_solve *given, double *r, double *v, ds_certificate *certificate,
                        const ds_subproblem *problem, double tolerance) {
  ds_subproblem prepared = *problem;
  const ds_subproblem *p = &prepared;
  ds_solve solve = *given, *s = &solve;
  if (!ds_subproblem_prepare(s->arena, &prepared)) return false;
  ds_iterate x = ds_iterate_new(s->arena, p), z = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return false;
  memcpy(x.r, r, 3 * (size_t)p->contact_count * sizeof(double));
  ds_iterate_update(&x, p);
  bool warm = x.error <= tolerance;
  const ds_single_contact *blocks = warm ? NULL : ds_gauss_seidel_blocks(s->arena, p);
  if (!warm && (!ds_solve_needs_system(s, p) || !blocks)) return false;
  if (x.error > 1) forget(&x, p);
  ds_goal g = {.tolerance = tolerance, .moving = tolerance, .target = tolerance};
  for (int32_t turn = 0; turn < ROUGH_TURNS && x.error > tolerance; turn++) {
    sweep(s, &x, p, blocks, tolerance, SWEEPS_IN_TURN);
    if (x.error > tolerance) newton_in_turn(s, &x, &z, p, &g);
  }
  return give_back(s, r, v, certificate, &x, p);
}

/* The better start of two: the impulses given, or none. True for the former. They are compared by the natural map, for
 * how near a start is the full error does not say; and those that add energy are far from any solution. */
static bool choose_start(ds_iterate *x, const ds_subproblem *p, const double *r) {
  bool any = false;
  for (int32_t i = 0; i < 3 * p->contact_count && !any; i++) any = r[i] != 0;
  ds_iterate_update(x, p); /* of zero */
  double none = x->error;
  if (any) {
    memcpy(x->r, r, 3 * (size_t)p->contact_count * sizeof(double));
    ds_iterate_update(x, p);
    any = x->error <= none && !ds_impulses_add_energy(x, p);
    if (!any) forget(x, p);
  }
  x->error = ds_subproblem_error(p, x->r, x->u, 0);
  return any;
}

/* Small islands at rest are swept before they are solved. The impulses of the last step are forces that do not give
 * way: what stands on them is not stable, and rounding grows. They also contain the push that took away the velocity of
 * the step before; used once more they bring it back with the other sign, and an island would be solved in every second
 * step. A few sweeps mend both. Heaps of 30 boxes, rocks or chess pieces, some 20 islands, take 9 to 12 factorizations
 * per step at rest without them, and less than 1 with them. Sweeps do not reach through large structures: these would
 * be solved less often, but drift (a stack of 20 by 4e-12 m/s). False where memory ran out. */
static bool sweep_at_rest(ds_solve *s, ds_iterate *x, const ds_subproblem *p, double enough) {
  ds_iterate y = ds_iterate_new(s->arena, p);
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  if (!blocks || ds_arena_failed(s->arena)) return false;
  ds_iterate_copy(&y, x, p);
  for (int32_t i = 0; i < REST_SWEEPS && y.error > enough; i += 5) {
    ds_gauss_seidel_solve(s, &y, p, blocks, 0, 5);
    y.error = ds_subproblem_error(p, y.r, y.u, 0);
    if (y.error < x->error) ds_iterate_copy(x, &y, p);
  }
  return true;
}

bool ds_project_island(const ds_solve *given, double *r, double *v, ds_certificate *certificate,
                       const ds_subproblem *problem) {
  ds_subproblem prepared = *problem;
  const ds_subproblem *p = &prepared;
  ds_solve solve = *given, *s = &solve;
  const ds_options *options = s->options;
  int32_t samples = options->friction_samples;
  if (!ds_subproblem_prepare(s->arena, &prepared)) return false;
  ds_iterate x = ds_iterate_new(s->arena, p);
  if (ds_arena_failed(s->arena)) return false;
  bool warm = choose_start(&x, p, r);
  if (samples) x.error = ds_subproblem_error(p, x.r, x.u, samples);

  bool published = options->predictor == DS_PREDICTOR_NONE && options->method == DS_METHOD_STAGGERED;
  bool coupled = !published && !samples && options->method == DS_METHOD_STAGGERED;
  s->goal = ds_goal_of(options, s->purpose);
  ds_goal *g = &s->goal;
  bool rests = coupled && p->body_count <= FEW_BODIES && x.error <= g->tolerance;
  double enough = g->target * (rests ? ACCEPT_SWEPT : ACCEPT_WARM);
  if (rests && !sweep_at_rest(s, &x, p, enough)) return false;
  if (rests) g->target *= ACCEPT_SWEPT;
  if (options->method == DS_METHOD_GAUSS_SEIDEL) {
    const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
    if (!blocks) return false;
    ds_gauss_seidel_solve(s, &x, p, blocks, g->tolerance, options->max_iterations);
    s->work.tool[DS_TOOL_GAUSS_SEIDEL] = s->work.projections;
  } else if (published || !(x.error <= enough)) {
    if (!ds_solve_needs_system(s, p)) return false;
    if (coupled) {
      coupled_path(s, &x, p, g, warm, options->max_iterations);
    } else {
      ds_staggered_options o = {.published = published,
                                .rel_err = options->rel_err,
                                .tolerance = g->tolerance,
                                .iterations = options->max_iterations,
                                .samples = samples};
      ds_staggered_solve(s, &x, p, &o);
      s->work.tool[DS_TOOL_STAGGERED] = s->work.staggered;
    }
  }
  double tolerance = ds_goal_tolerance(g, p, x.r, x.u);
  bool missed = !published && x.error > tolerance && !ds_effort_is_stopped(s->effort), limited = false;
  bool gave_way = s->work.gave_way && !ds_impulses_add_energy(&x, p); /* there is no better answer */
  bool unsafe = missed && s->purpose == DS_FOR_STEP && !gave_way &&
                (s->ends_on_contact || x.error > NEAR || ds_impulses_add_energy(&x, p));
  if (unsafe) { /* a step goes on with what keeps bodies apart and adds no energy */
    ds_end_on_contact(s, &x, p, tolerance);
    limited = (ds_limit_energy(&x, p) || !s->ends_on_contact) && x.error > tolerance;
  } else if (coupled) {
    clip_to_cone(s, &x, p, tolerance);
  }
  if (!give_back(s, r, v, certificate, &x, p)) return false;
  certificate->unbounded = s->work.unbounded && x.error > tolerance;
  certificate->limited = limited;
  ds_subproblem_certify(certificate, p, r, v, x.u, tolerance, samples);
  return true;
}
