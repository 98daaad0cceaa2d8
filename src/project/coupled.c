/* The default solver: the tools of this folder in the order of one table, each until the goal is met or its budget is
 * spent. Answers are compared by the full error and the best is kept; each tool goes on from its own point, because the
 * best one so far may sit in a trap. docs/solver.md has the measurements behind the order. */
#include <math.h>

#include "problem/condense.h"
#include "project/conflict.h"
#include "project/gauss_seidel.h"
#include "project/homotopy.h"
#include "project/newton.h"
#include "project/project.h"
#include "project/solvers.h"
#include "project/staggered.h"

enum { LARGE_BODIES = 100 }; /* of an island that is large */

static const double MANY_SWEEPS = 26; /* that a factorization costs, where sweeps come first */

/* Sweeps and Newton in turn: of so many sweeps, until so many turns bring nothing. */
enum { SWEEPS_IN_TURN = 60, IDLE_TURNS = 3 };

enum { SWEEPS_BEFORE_PATH = 1000 }; /* ten for a step of the path: about as much work */

/* What decides whether a tool is tried. */
enum fact {
  NEAR = 1,       /* the start has an error below DS_NEAR: Newton comes first, whatever it costs */
  FAR = 2,        /* it has not */
  DEAR = 4,       /* a factorization costs as much as MANY_SWEEPS */
  LARGE = 8,      /* LARGE_BODIES and more, or W alone with too many rows for one body */
  LOOSE = 16,     /* where things move, the tolerance may be DS_LOOSEST and above */
  STRICT = 32,    /* it is not as loose as that for a large island at rest */
  WARM = 64,      /* the start is that of the last step */
  FEASIBLE = 128, /* no proof was found that there is no solution */
  ONE_BODY = 256, /* W alone, which the caller will solve as that of one body where this form fails: the tools after the
                     first are left to that, and here the homotopy would lose the path to rounding */
  DISK = 512,     /* friction is that of the disk, not of a polygon */
  SMALL = 1024,   /* not LARGE */
  LOST = 2048,    /* the start has an error above the loosest tolerance */
  MOVING = 4096,  /* contacts slid before */
};

typedef struct search {
  ds_solve *s;
  const ds_subproblem *p; /* or `relaxed`, where b has to give way */
  ds_iterate *x;          /* the best answer so far */
  ds_iterate *at;         /* where tools start that depend on it: x, or `zero` */
  ds_iterate y, z, zero;
  ds_subproblem relaxed;
  uint32_t facts;
  int32_t reopened; /* rows that are to be tried again */
  int32_t jams;     /* paths that led to impulses without bound */
} search;

typedef struct tool tool;
struct tool {
  uint32_t when;                        /* facts that must hold */
  bool (*run)(search *q, const tool *); /* true where the search ends: the goal is met, or nothing is left to try */
  int32_t budget[2];                    /* in iterations of its own: of a step, of a problem of its own */
  double relaxation;                    /* of a path */
  enum { ONCE, PER_START, PER_PROBLEM } again;
};

/* The better of two is kept: one that will do, or that with the smaller full error. True where the one kept will do. */
static bool keep(ds_iterate *x, ds_iterate *y, const ds_subproblem *p, const ds_goal *g) {
  bool will_do = ds_goal_is_met(y, p, g), did = ds_goal_is_met(x, p, g);
  if (will_do == did ? y->error < x->error : will_do) ds_iterate_copy(x, y, p);
  return will_do || did;
}

static void sweep(ds_solve *s, ds_iterate *x, const ds_subproblem *p, const ds_single_contact *blocks, double tolerance,
                  int32_t sweeps) {
  int32_t before = s->work.projections;
  ds_gauss_seidel_solve(s, x, p, blocks, tolerance, sweeps);
  s->work.tool[DS_TOOL_GAUSS_SEIDEL] += s->work.projections - before;
}

/* ---- Tools that depend on where they start ---- */

/* Whether an answer of sweeps is used as it is: in a step of few bodies Newton goes on from it. */
static bool will_do(const ds_solve *s) { return s->rough || s->purpose != DS_FOR_STEP; }

static double first_proximal(const ds_iterate *x) { return x->error < DS_PROXIMAL ? 0.1 * DS_PROXIMAL : DS_PROXIMAL; }

/* Where Newton is not there after a few steps it waits for contacts to change their mode, one by one. A sweep costs a
 * quarter of a step and changes many: as many of them from Newton's best point, then Newton again. Not where it ended
 * by itself: its map is solved, far away. Nor in a step, where both have their turn: of 144 problems of impacts the
 * path took 6 % fewer factorizations without. */
static bool from_start(search *q, const tool *row) {
  ds_solve *s = q->s;
  const ds_goal *g = &s->goal;
  int32_t before = s->work.projections;
  if (ds_newton_solve(s, q->at, q->p, g, first_proximal(q->at), row->budget[q->s->purpose])) return true;
  if (s->purpose == DS_FOR_STEP || s->work.projections - before < row->budget[q->s->purpose]) return false;
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, q->p);
  if (!blocks) return false;
  ds_iterate_copy(&q->y, q->at, q->p);
  sweep(s, &q->y, q->p, blocks, g->target, row->budget[q->s->purpose]);
  if (keep(q->at, &q->y, q->p, g)) return true;
  ds_newton_solve(s, &q->y, q->p, g, first_proximal(&q->y), row->budget[q->s->purpose]);
  return keep(q->at, &q->y, q->p, g);
}

/* Sweeps alone reach loose tolerances; in large piles a factorization costs as much as tens of them. As many as two
 * hundred factorizations cost are tried, while they get there at the present rate. */
static bool sweeps_alone(search *q, const tool *row) {
  ds_solve *s = q->s;
  const ds_goal *g = &s->goal;
  ds_iterate *y = &q->y;
  double enough = row->when & LOOSE ? g->moving : g->tolerance, wanted = fmax(g->target, 0.3 * enough);
  double budget = fmin(row->budget[q->s->purpose], 200 * ds_system_in_sweeps(s->system));
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, q->p);
  if (!blocks) return false;
  ds_iterate_copy(y, q->at, q->p);
  if (y->error > 1) ds_iterate_clear(y, q->p);
  for (int32_t done = 0; done < budget && y->error > wanted; done += SWEEPS_IN_TURN) {
    double before = y->error;
    sweep(s, y, q->p, blocks, wanted, SWEEPS_IN_TURN);
    double rate = y->error / before, blocks_left = (budget - done) / SWEEPS_IN_TURN - 1;
    if (!(rate < 1) || y->error * pow(rate, blocks_left) > enough) break;
  }
  return keep(q->at, y, q->p, g) && will_do(s);
}

/* Newton from where sweeps left off, where that is near enough; y is the better of both. */
static void newton_in_turn(ds_solve *s, ds_iterate *y, ds_iterate *z, const ds_subproblem *p, const ds_goal *g) {
  if (y->error > DS_NEAR) return;
  ds_iterate_copy(z, y, p);
  ds_newton_solve(s, z, p, g, DS_PROXIMAL, DS_STEPS);
  if (z->error < y->error) ds_iterate_copy(y, z, p);
}

/* Where the tolerance is loose and the island large, neither gets there soon: Newton has too many contacts to turn, and
 * sweeps carry loads one body a sweep. In turn, each from where the other left off, they halve the error each time; one
 * turn costs what a few dozen factorizations do. */
static bool in_turn(search *q, const tool *row) {
  ds_solve *s = q->s;
  const ds_subproblem *p = q->p;
  ds_iterate *x = q->at, *y = &q->y;
  ds_goal g = s->goal;
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  int32_t sweeps = (int32_t)fmax(SWEEPS_IN_TURN, fmin(600, ds_system_in_sweeps(s->system)));
  bool forgotten = false;
  if (!blocks) return false;
  g.tolerance = g.moving;
  if (x->error > 1) ds_iterate_clear(x, p);
  ds_iterate_copy(y, x, p);
  for (int32_t turn = 0, idle = 0; turn < row->budget[q->s->purpose] && idle < IDLE_TURNS; turn++) {
    double before = y->error;
    sweep(s, y, p, blocks, fmax(g.target, 0.3 * g.tolerance), sweeps);
    bool there = y->error <= g.tolerance;
    if (keep(x, y, p, &g)) break;
    if (there && y->error > DS_NEAR) { /* impulses that cancel each other, which sweeps keep as they are */
      if (forgotten) break;
      ds_iterate_clear(y, p);
      forgotten = true;
      continue;
    }
    newton_in_turn(s, y, &q->z, p, &g);
    if (keep(x, y, p, &g)) break;
    idle = y->error < 0.8 * before ? 0 : idle + 1;
  }
  if (!ds_goal_is_met(x, p, &s->goal)) return false;
  return will_do(s) || ds_newton_solve(s, x, p, &s->goal, first_proximal(x), DS_STEPS);
}

/* ---- Tools that do not ---- */

static bool leave_to_one_body(search *q, const tool *row) {
  (void)q, (void)row;
  return true;
}

/* Sweeps move the set of sliding contacts towards the solution; now and then Newton tries its basin. From y. */
static bool in_rounds(search *q, int32_t rounds) {
  ds_solve *s = q->s;
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, q->p);
  if (!blocks) return true;
  for (int32_t round = 0; round < rounds; round++) {
    sweep(s, &q->y, q->p, blocks, s->goal.target, 200 * (round + 1));
    ds_iterate_copy(&q->z, &q->y, q->p);
    ds_newton_solve(s, &q->z, q->p, &s->goal, DS_PROXIMAL, 60);
    if (keep(q->x, &q->z, q->p, &s->goal)) return true;
  }
  return false;
}

/* The path is that of the disk. Its end is a start for a polygon, whose normal impulses are much the same. */
static bool from_disk(search *q, bool unbounded) {
  ds_iterate_update(&q->y, q->p);
  if (unbounded || !isfinite(q->y.error)) return false;
  ds_iterate_copy(&q->z, &q->y, q->p);
  ds_newton_solve(q->s, &q->z, q->p, &q->s->goal, DS_PROXIMAL, 60);
  return keep(q->x, &q->z, q->p, &q->s->goal) || in_rounds(q, IDLE_TURNS);
}

/* From the central path of a convex program, through the folds, to the solution. A jam is believed only where two paths
 * lead into it. */
static bool path(search *q, const tool *row) {
  ds_solve *s = q->s;
  ds_homotopy_options o = {.relaxation = row->relaxation, .iterations = row->budget[s->purpose]};
  if (o.iterations == 0) return false;
  ds_iterate_clear(&q->y, q->p);
  q->y.error = INFINITY;
  ds_subproblem disk = *q->p;
  disk.samples = 0, disk.corner = NULL;
  bool unbounded = ds_homotopy_solve(s, &q->y, &disk, &o) == DS_HOMOTOPY_UNBOUNDED;
  if (q->p->samples && from_disk(q, unbounded)) return true;
  if (!q->p->samples && q->y.error < DS_NEAR && !unbounded && !ds_goal_is_met(&q->y, q->p, &s->goal))
    ds_newton_solve(s, &q->y, q->p, &s->goal, DS_PROXIMAL, 60); /* lost, but not far from the end */
  q->jams += unbounded;
  s->work.unbounded = q->jams >= 2;
  return keep(q->x, &q->y, q->p, &s->goal) || s->work.unbounded;
}

/* In a large island the path from the central path has a fold for every few contacts that change their mode. Sweeps
 * change them for less: a path from where they end is shorter the nearer that is. Rounds of twice the sweeps and twice
 * the path, until one ends. Left to the others where sweeps carry loads too slowly: 1.8e-2 after the first ones on an
 * arch of 501 stones, 1e-4 to 2e-3 in flows. */
static bool from_sweeps(search *q, const tool *row) {
  ds_solve *s = q->s;
  const ds_goal *g = &s->goal;
  const ds_single_contact *blocks = row->budget[s->purpose] > 0 ? ds_gauss_seidel_blocks(s->arena, q->p) : NULL;
  ds_iterate *y = &q->y, *swept = &q->z;
  if (!blocks) return false;
  ds_iterate_clear(swept, q->p);
  for (int32_t round = 0; round < row->budget[s->purpose] && !ds_effort_is_over(s->effort); round++) {
    sweep(s, swept, q->p, blocks, g->target, SWEEPS_BEFORE_PATH << round);
    if (swept->error > 10 * DS_NEAR) return false;
    ds_iterate_copy(y, swept, q->p);
    if (keep(q->x, y, q->p, g)) return true;
    ds_newton_solve(s, y, q->p, g, DS_PROXIMAL, 20);
    if (keep(q->x, y, q->p, g)) return true;
    ds_homotopy_options o = {.from = swept, .relaxation = 1, .iterations = SWEEPS_BEFORE_PATH / 10 << round};
    y->error = INFINITY;
    ds_homotopy_solve(s, y, q->p, &o);
    if (keep(q->x, y, q->p, g)) return true;
  }
  return false;
}

/* Where no velocity keeps the contacts apart, b gives way by what it must, and the impulses of that problem are the
 * answer: they push where there is room. The certificate is the one of the problem as it was. */
static bool conflict(search *q, const tool *row) {
  const ds_subproblem *p = q->p;
  (void)row;
  double *violation = DS_NEW(q->s->arena, double, p->contact_count + 1);
  double *b = DS_NEW(q->s->arena, double, 3 * (size_t)p->contact_count + 1);
  if (ds_arena_failed(q->s->arena)) return true;
  q->s->work.conflict = ds_conflict_find(q->s, violation, p);
  if (!(q->s->work.conflict > 0)) return false;
  memcpy(b, p->b, 3 * (size_t)p->contact_count * sizeof(double));
  for (int32_t k = 0; k < p->contact_count; k++) b[3 * k] -= violation[k];
  q->relaxed = *p;
  q->relaxed.b = b;
  q->p = &q->relaxed;
  q->facts &= ~(uint32_t)FEASIBLE;
  q->jams = 0;
  q->reopened = PER_PROBLEM;
  ds_iterate_clear(q->x, q->p);
  return false;
}

static void look_at_start(search *q) {
  q->facts &= ~(uint32_t)(NEAR | FAR | LOST);
  q->facts |= (q->at->error < DS_NEAR ? NEAR : FAR) | (q->at->error > DS_LOOSEST ? LOST : 0);
}

/* A second start, from no impulses at all, where the first one was bad. */
static bool from_zero(search *q, const tool *row) {
  (void)row;
  q->zero = ds_iterate_new(q->s->arena, q->p);
  if (ds_arena_failed(q->s->arena)) return true;
  ds_iterate_clear(&q->zero, q->p);
  q->at = &q->zero;
  q->reopened = PER_START;
  look_at_start(q);
  return false;
}

static bool rescue(search *q, const tool *row) {
  memset(q->y.r, 0, 3 * (size_t)q->p->contact_count * sizeof(double));
  return in_rounds(q, row->budget[q->s->purpose]);
}

/* The last resort, some forty factorizations an iteration. */
static bool stagger(search *q, const tool *row) {
  ds_solve *s = q->s;
  int32_t most = s->options->max_iterations;
  ds_staggered_options o = {.tolerance = s->goal.tolerance,
                            .iterations = most < row->budget[q->s->purpose] ? most : row->budget[q->s->purpose]};
  ds_staggered_solve(s, q->x, q->p, &o);
  s->work.tool[DS_TOOL_STAGGERED] = s->work.staggered;
  ds_newton_solve(s, q->x, q->p, &s->goal, DS_PROXIMAL, 60);
  return true;
}

/* The order. Read from top to bottom; a row is tried once, or once more for a new start or a new problem.
 *
 * measured                                                                               when, tool, budget */
static const tool ORDER[] = {
    /* Newton first where it is near: standing scenes take 0.5 to 2 factorizations per step */
    {LARGE | LOOSE | NEAR, from_start, {20, 20}, 0, PER_START},
    /* two thousand falling bunnies at 1e-4: five turns do what takes 3,000 sweeps or 1,500 factorizations of a path */
    {LARGE | LOOSE, in_turn, {40, 40}, 0, PER_START},
    /* large piles: sweeps reach loose tolerances for the price of a few factorizations */
    {STRICT | DEAR | FAR, sweeps_alone, {4000, 4000}, 0, PER_START},
    /* problems of structures hit by balls, the slowest of each scene, twice 160, and 1,344 at random: 9,340, 8,408 and
       2,422 factorizations without this and the last of these three, 6,736, 6,570 and 1,850 with, in the same time; 400
       sweeps 6,000 and 1.2 times the time. Not at rest: sweeps do not spread loads evenly */
    {LOOSE | LOST | MOVING, sweeps_alone, {120, 0}, 0, PER_START},
    /* 24 of the first 38 problems of problems/ end here */
    {STRICT, from_start, {20, 20}, 0, PER_START},
    {LOOSE | SMALL, in_turn, {10, 0}, 0, PER_START},
    {STRICT | DEAR | NEAR, sweeps_alone, {4000, 4000}, 0, PER_START},
    /* of 10,000 random problems 102 were unsolved on the graph of contacts alone, 40 with one body */
    {ONE_BODY, leave_to_one_body, {0, 0}, 0, ONCE},
    /* rocks in a heap, 1,000 to 2,300 contacts, are solved in 300 steps; sweeps before cost a quarter more */
    {LARGE | STRICT, path, {0, 300}, 1, PER_PROBLEM},
    /* flows of discs in a plane, 2,000 to 7,000 contacts: 400 to 900 factorizations; without, 500 to 1,200 or none */
    {LARGE | STRICT | DISK, from_sweeps, {0, 4}, 0, PER_PROBLEM},
    /* paths of walls may need 800 steps, those of wedges near their limit 3,500. In a step Newton from no impulses
       comes before the rest of a long one: it takes 97 where a path of a wall is lost after 1,000 */
    {0, path, {300, 5000}, 1, PER_PROBLEM},
    /* some 70 factorizations, and most problems that get here have a solution: after the first path */
    {0, conflict, {0, 0}, 0, ONCE},
    {WARM | FEASIBLE, from_zero, {0, 0}, 0, ONCE},
    {0, path, {1000, 0}, 1, PER_PROBLEM},
    /* 13 problems with mass ratios up to 1e8: all solved with these, 2,890 factorizations */
    {0, path, {1000, 5000}, 10, PER_PROBLEM},
    {0, path, {1000, 5000}, 0.1, PER_PROBLEM},
    /* of 300 random wedges 63 were unsolved without this one, 33 with it: jams that need room to be seen */
    {0, path, {1000, 5000}, 100, PER_PROBLEM},
    {0, rescue, {9, 9}, 0, PER_PROBLEM},
    {0, stagger, {10, 10}, 0, PER_PROBLEM},
};
enum { TOOLS = sizeof ORDER / sizeof *ORDER };

static uint32_t facts_of(const ds_solve *s, const ds_subproblem *p) {
  bool alone = p->delassus && !ds_subproblem_can_have_body(p), large = p->body_count >= LARGE_BODIES || alone;
  bool loose = s->goal.moving >= DS_LOOSEST;
  bool strict = !(large && loose && s->goal.tolerance >= DS_LOOSEST);
  bool dear = ds_system_in_sweeps(s->system) >= MANY_SWEEPS;
  bool one_body = s->purpose == DS_FOR_PROBLEM && ds_subproblem_can_have_body(p);
  return FEASIBLE | (p->samples ? 0 : DISK) | (ds_goal_moves(&s->goal, p) ? MOVING : 0) | (large ? LARGE : SMALL) |
         (loose ? LOOSE : 0) | (strict ? STRICT : 0) | (dear ? DEAR : 0) | (s->warm ? WARM : 0) |
         (one_body ? ONE_BODY : 0);
}

/* One contact alone is solved by its closed form. */
static bool is_alone(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  const ds_single_contact *blocks = ds_gauss_seidel_blocks(s->arena, p);
  if (!blocks) return false;
  sweep(s, x, p, blocks, s->goal.target, 2);
  return ds_goal_is_met(x, p, &s->goal);
}

ds_solver_solve ds_coupled_solve; /* for the table of solvers.c */

void ds_coupled_solve(ds_solve *s, ds_iterate *x, const ds_subproblem *p) {
  if (x->error <= s->goal.target || !ds_solve_needs_system(s, p)) return;
  if (p->contact_count == 1 && is_alone(s, x, p)) return;
  search q = {.s = s, .p = p, .x = x, .at = x, .y = ds_iterate_new(s->arena, p), .z = ds_iterate_new(s->arena, p)};
  bool done[TOOLS] = {false};
  q.facts = facts_of(s, p);
  look_at_start(&q);
  for (int32_t i = 0; i < TOOLS && !ds_arena_failed(s->arena) && !ds_effort_is_over(s->effort); i++) {
    if (done[i] || (ORDER[i].when & ~q.facts)) continue;
    done[i] = true;
    bool ends = ORDER[i].run(&q, &ORDER[i]);
    if (q.at != x) ends = keep(x, q.at, p, &s->goal) || ends;
    if (ends) break;
    if (!q.reopened) continue;
    for (int32_t j = 0; j < TOOLS; j++) done[j] &= (int32_t)ORDER[j].again != q.reopened;
    q.reopened = 0;
    i = -1;
  }
  if (q.p == p) return;
  s->work.gave_way = ds_goal_is_met(x, q.p, &s->goal);
  ds_iterate_update(x, p);
  ds_goal_is_met(x, p, &s->goal);
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
  if (x.error > 1) ds_iterate_clear(&x, p);
  ds_goal g = {.tolerance = tolerance, .moving = tolerance, .target = tolerance};
  for (int32_t turn = 0; turn < IDLE_TURNS && x.error > tolerance; turn++) {
    sweep(s, &x, p, blocks, tolerance, SWEEPS_IN_TURN);
    if (x.error > tolerance) newton_in_turn(s, &x, &z, p, &g);
  }
  if (!ds_solve_give_back(s, r, v, certificate, &x, p)) return false;
  ds_subproblem_certify(certificate, p, r, v, x.u, tolerance);
  return true;
}
