/* What a solve may take (problem/effort.h), and what its answer is where that was not enough: budgets are kept, the
 * answer is finite, the same every time, and adds no energy. Warm starts that are no good, problems that are nothing
 * but rounding, and jams cost little. */
#include <string.h>

#include "drystone/problem.h"
#include "random_families.h"
#include "scene_helper.h"

/* ---- Problems of their own ---- */

typedef struct hard {
  family family;
  int32_t number, least; /* factorizations that it takes at least */
} hard;

static const hard HARD[] = {
    {FAMILY_MASSRATIO, 82, 300}, {FAMILY_REDUNDANT, 283, 300}, {FAMILY_PEBBLES, 173, 300}, {FAMILY_GEARS, 295, 100}};
enum { HARDS = (int)(sizeof HARD / sizeof *HARD) };

typedef struct answer {
  ds_status status;
  ds_solution solution;
  double *r, *u;
  int32_t n;
} answer;

static answer solve(ds_arena *arena, const ds_problem *p, const ds_solve_options *options, const double *start) {
  answer a = {.n = p->dimension * p->contacts};
  ds_error error = {""};
  a.r = DS_NEW0(arena, double, a.n + 1);
  a.u = DS_NEW0(arena, double, a.n + 1);
  if (start) memcpy(a.r, start, (size_t)a.n * sizeof(double));
  a.status = ds_problem_solve(p, options, a.r, a.u, NULL, &a.solution, &error);
  if (a.status != DS_OK) printf("%s\n", error.message);
  CHECK(a.status == DS_OK);
  return a;
}

static bool is_finite(const answer *a) {
  bool finite = isfinite(a->solution.certificate.natural_error);
  for (int32_t i = 0; i < a->n; i++) finite &= isfinite(a->r[i]) && isfinite(a->u[i]);
  return finite;
}

/* The last word, contact projections, is not counted: three of them at most, of a few dozen factorizations each, and of
 * steps alone. A step is split into parts, each of which counts by its share of the contacts: they may be several a
 * unit. */
enum { LAST_WORD = 200, PARTS = 5, BEFORE_ASKED = 3 };

static void test_budget(void) {
  const double budgets[] = {1, 5, 50};
  ds_arena arena = {0};
  for (int i = 0; i < HARDS; i++)
    for (int j = 0; j < 3; j++)
      for (int as_step = 0; as_step < 2; as_step++) {
        ds_arena_reset(&arena);
        family_spec spec = family_draw(HARD[i].family, 1, HARD[i].number);
        ds_problem p = family_problem(&arena, &spec).problem;
        ds_solve_options o = ds_default_solve_options();
        o.budget = budgets[j], o.as_step = as_step;
        answer a = solve(&arena, &p, &o, NULL), again = solve(&arena, &p, &o, NULL);
        const ds_certificate *c = &a.solution.certificate;
        printf("     %s %d, budget %g%s: %d factorizations, error %.2g\n", family_names[HARD[i].family],
               (int)HARD[i].number, o.budget, as_step ? ", as a step" : "", (int)c->factorizations, c->natural_error);
        CHECK(a.solution.outcome == DS_UNSOLVED || (as_step && j == 2 && a.solution.outcome == DS_SOLVED));
        CHECK(c->converged == (a.solution.outcome == DS_SOLVED));
        CHECK_LE(c->factorizations, (as_step ? PARTS : 1) * o.budget + (as_step ? LAST_WORD : BEFORE_ASKED));
        CHECK_LE(1, c->factorizations);
        CHECK(is_finite(&a));
        CHECK(memcmp(a.r, again.r, (size_t)a.n * sizeof(double)) == 0);
        CHECK(memcmp(a.u, again.u, (size_t)a.n * sizeof(double)) == 0);
        CHECK_NEAR(again.solution.certificate.factorizations, c->factorizations, 0);
      }
  ds_arena_free(&arena);
}

static void test_no_limit(void) {
  ds_arena arena = {0};
  for (int i = 0; i < HARDS; i++) {
    ds_arena_reset(&arena);
    family_spec spec = family_draw(HARD[i].family, 1, HARD[i].number);
    ds_problem p = family_problem(&arena, &spec).problem;
    ds_solve_options o = ds_default_solve_options();
    o.budget = 0;
    answer a = solve(&arena, &p, &o, NULL);
    int32_t work = a.solution.certificate.factorizations;
    CHECK(a.solution.outcome == DS_SOLVED);
    if (work < HARD[i].least)
      printf("     %s %d is no longer hard: %d factorizations\n", family_names[HARD[i].family], (int)HARD[i].number,
             (int)work);
    o.budget = 1e9; /* a limit that is not met changes nothing */
    answer b = solve(&arena, &p, &o, NULL);
    CHECK(memcmp(a.r, b.r, (size_t)a.n * sizeof(double)) == 0);
    CHECK_NEAR(b.solution.certificate.factorizations, work, 0);
  }
  ds_arena_free(&arena);
}

/* ---- Balls ---- */

/* Balls in a row along x that touch, point masses of 1 kg: contact k is between k and k + 1. */
enum { BALLS = 3 };
typedef struct row_of_balls {
  ds_problem p;
  int32_t diagonal[3 * BALLS], size[BALLS], row[6 * BALLS], column[6 * BALLS];
  double one[3 * BALLS], value[6 * BALLS], f[3 * BALLS], w[3 * BALLS], mu[BALLS];
} row_of_balls;

static void make_balls(row_of_balls *b, const double velocity[BALLS][3]) {
  memset(b, 0, sizeof *b);
  int32_t dof = 3 * BALLS, entries = 0;
  for (int32_t i = 0; i < dof; i++) b->diagonal[i] = i, b->one[i] = 1, b->f[i] = velocity[i / 3][i % 3];
  for (int32_t k = 0; k + 1 < BALLS; k++)
    for (int32_t side = 0; side < 2; side++)
      for (int32_t i = 0; i < 3; i++, entries++) { /* from k to k + 1 */
        b->row[entries] = 3 * (k + side) + i, b->column[entries] = 3 * k + i;
        b->value[entries] = side ? 1 : -1;
      }
  for (int32_t i = 0; i < BALLS; i++) b->size[i] = 3, b->mu[i] = 0.5;
  b->p = (ds_problem){.form = DS_PROBLEM_GLOBAL, .dimension = 3, .contacts = BALLS - 1, .dof = dof};
  b->p.M = (ds_matrix){dof, dof, dof, b->diagonal, b->diagonal, b->one};
  b->p.H = (ds_matrix){dof, 3 * (BALLS - 1), entries, b->row, b->column, b->value};
  b->p.f = b->f, b->p.w = b->w, b->p.mu = b->mu;
  b->p.body_size = b->size, b->p.body_count = BALLS;
}

/* Nothing to be solved: balls at rest, flying along together but for rounding, or parting. */
static void test_rounding(void) {
  const double e = 1e-14;
  const double velocities[][BALLS][3] = {
      {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
      {{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}},
      {{-e, 0, 0}, {0, 0, 0}, {e, 0, 0}},
      {{10, 20, -30}, {10 - e, 20 + e, -30}, {10 - 2 * e, 20, -30 - e}}, /* approaching by rounding */
      {{10, 20, -30}, {10 + e, 20 - e, -30}, {10 + 2 * e, 20, -30 + e}},
  };
  for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
    for (int as_step = 0; as_step < 2; as_step++) {
      static row_of_balls b;
      ds_arena arena = {0};
      ds_solve_options o = ds_default_solve_options();
      o.as_step = as_step;
      make_balls(&b, velocities[i]);
      answer a = solve(&arena, &b.p, &o, NULL);
      const ds_certificate *c = &a.solution.certificate;
      if (c->projection_iterations > 0) printf("     case %d: %s\n", (int)i, a.solution.path);
      CHECK(a.solution.outcome == DS_SOLVED && c->converged);
      CHECK_NEAR(c->projection_iterations, 0, 0);
      CHECK_NEAR(c->factorizations, 0, 0);
      for (int32_t k = 0; k < a.n; k++) CHECK_NEAR(a.r[k], 0, 0);
      ds_arena_free(&arena);
    }
  /* what approaches as slowly from rest is a problem like any other: r = e twice brings them to rest */
  const double slow[BALLS][3] = {{e, 0, 0}, {0, 0, 0}, {-e, 0, 0}};
  static row_of_balls b;
  ds_arena arena = {0};
  ds_solve_options o = ds_default_solve_options();
  make_balls(&b, slow);
  answer a = solve(&arena, &b.p, &o, NULL);
  CHECK(a.solution.outcome == DS_SOLVED);
  CHECK_NEAR(a.r[0], e, 1e-7 * e);
  CHECK_NEAR(a.r[3], e, 1e-7 * e);
  ds_arena_free(&arena);
}

/* A point mass between two walls that lean by `lean` from the vertical and close at 1 m/s. It can rise at 1/tan(lean),
 * sliding, where friction does not hold it: mu < tan(lean). Between vertical walls it cannot escape at all. */
static ds_outcome squeeze(double lean, double mu, bool as_step, int32_t *factorizations, double *conflict) {
  const int32_t diagonal[3] = {0, 1, 2}, one_body = 3;
  const double one[3] = {1, 1, 1}, f[3] = {0, 0, -0.0981}, coefficients[2] = {mu, mu};
  int32_t row[18], column[18];
  double value[18], w[6];
  for (int32_t wall = 0, t = 0; wall < 2; wall++) {
    double side = wall ? -1 : 1;
    const double frame[3][3] = {{side * cos(lean), 0, sin(lean)}, {-side * sin(lean), 0, cos(lean)}, {0, 1, 0}};
    for (int32_t c = 0; c < 3; c++) {
      w[3 * wall + c] = -side * frame[c][0]; /* less the velocity of the wall, along x */
      for (int32_t i = 0; i < 3; i++, t++) row[t] = i, column[t] = 3 * wall + c, value[t] = frame[c][i];
    }
  }
  ds_problem p = {.form = DS_PROBLEM_GLOBAL, .dimension = 3, .contacts = 2, .dof = 3};
  p.M = (ds_matrix){3, 3, 3, diagonal, diagonal, one};
  p.H = (ds_matrix){3, 6, 18, row, column, value};
  p.f = f, p.w = w, p.mu = coefficients, p.body_size = &one_body, p.body_count = 1;
  ds_arena arena = {0};
  ds_solve_options o = ds_default_solve_options();
  o.as_step = as_step;
  answer a = solve(&arena, &p, &o, NULL);
  CHECK(is_finite(&a));
  *factorizations = a.solution.certificate.factorizations;
  *conflict = a.solution.conflict;
  ds_arena_free(&arena);
  return a.solution.outcome;
}

static void test_jam(void) {
  const double lean = 10 * DS_PI / 180;
  for (int as_step = 0; as_step < 2; as_step++) {
    int32_t work;
    double conflict;
    CHECK(squeeze(lean, 0.5 * tan(lean), as_step, &work, &conflict) == DS_SOLVED);
    CHECK(squeeze(lean, 2 * tan(lean), as_step, &work, &conflict) == DS_JAM);
    CHECK_NEAR(conflict, 0, 0);
    CHECK_LE(work, 1000);
    for (int friction = 0; friction < 2; friction++) {
      CHECK(squeeze(0, 0.5 * friction, as_step, &work, &conflict) == DS_NO_SOLUTION);
      CHECK(conflict > 0.1 && conflict <= 1);
      CHECK_LE(work, 1000);
    }
  }
}

/* ---- Steps ---- */

/* Of the impulses of uncertified islands: what they change |v|²/2 by, which without restitution, scripts and overlaps
 * is never more than nothing. Velocities are scaled, M = 1, so that f is the velocity without impulses. */
typedef struct meter {
  double gain, scale; /* J: the largest gain, and |f|²/2 there */
  int64_t step;       /* of it */
  double pull;        /* largest negative normal impulse over the largest of all */
} meter;

static void measure(void *user, const ds_observation *o) {
  meter *m = user;
  if (o->certificate->converged) return;
  double before = 0, after = 0, least = 0, most = 0;
  for (int32_t i = 0; i < o->problem->dof; i++) {
    before += 0.5 * o->problem->f[i] * o->problem->f[i];
    after += 0.5 * o->v[i] * o->v[i];
  }
  for (int32_t k = 0; k < o->problem->contacts; k++) {
    least = fmin(least, o->r[3 * k]);
    most = fmax(most, fabs(o->r[3 * k]));
  }
  if (most > 0) m->pull = fmax(m->pull, -least / most);
  double gain = (after - before) / (before + 1e-300);
  if (!(gain <= m->gain)) m->gain = gain, m->scale = before, m->step = o->step;
}

/* The report of a step against the certificates of its islands. */
static void check_report(const sim *s, double budget) {
  const ds_certificate *worst = &s->report.worst;
  int32_t islands, unconverged = 0;
  const ds_certificate *island = ds_stepper_islands(s->stepper, &islands);
  bool limited = false;
  for (int32_t k = 0; k < islands; k++) {
    unconverged += !island[k].converged;
    limited |= island[k].limited;
    CHECK(island[k].converged == (island[k].natural_error <= island[k].tolerance));
    CHECK(!(island[k].limited && island[k].converged));
    CHECK_LE(island[k].factorizations, 4 * PARTS * (budget + LAST_WORD)); /* a step and its parts */
  }
  CHECK_LE(unconverged, s->report.unconverged_islands); /* most of any part; islands are those of the last */
  CHECK(worst->converged <= (unconverged == 0) && worst->limited >= limited);
  if (s->report.parts == 1) {
    CHECK_NEAR(s->report.unconverged_islands, unconverged, 0);
    CHECK(worst->converged == (unconverged == 0) && worst->limited == limited);
  }
  CHECK(isfinite(worst->natural_error) && isfinite(s->report.energy_after));
}

/* With next to no work allowed, steps are not certified; but nothing gains energy. */
typedef struct short_run {
  const char *spec;
  double budget;
} short_run;

static int32_t limited_steps; /* of all runs */

static void run_short_of_work(const short_run *c, double seconds) {
  sim s;
  if (sim_generate(&s, c->spec)) {
    meter m = {.gain = -INFINITY};
    double start = 0, most = -INFINITY;
    int32_t steps = (int32_t)(seconds / s.options.step + 0.5), limited = 0;
    s.options.step_budget = c->budget;
    ds_stepper_observe(s.stepper, measure, &m);
    for (int32_t i = 0; i < steps && sim_step(&s); i++) {
      check_report(&s, c->budget);
      limited += s.report.worst.limited;
      if (i == 0) start = s.report.energy_before;
      most = fmax(most, s.report.energy_after - start);
    }
    printf(
        "     %s, budget %g: %d of %d steps unconverged, %d limited; %.2g J over the start of %.2g J at most; "
        "impulses add %.2g times %.2g J at most (step %d); pull %.2g\n",
        c->spec, c->budget, (int)s.unconverged, (int)s.steps, (int)limited, most, start, m.gain, m.scale, (int)m.step,
        m.pull);
    CHECK_LE(most, 1e-9 * (fabs(start) + 1));
    CHECK_LE(m.gain, 1e-9);
    CHECK(s.failed == 0 && s.unconverged > 0);
    limited_steps += limited;
  }
  sim_free(&s);
}

static void test_energy(void) {
  const short_run runs[] = {
      {"pile:count=30", 1},
      {"pile:count=30", 2},
      {"pile:count=30", 5},
      {"pile:count=30,kind=rocks,mu=3", 1},
      {"pile:count=30,kind=rocks,mu=3", 2},
      {"pile:count=30,kind=rocks,mu=3", 5},
      {"wall:rows=5,bricks=4,ball_speed=12", 1},
      {"wall:rows=5,bricks=4,ball_speed=12", 2},
      {"wall:rows=5,bricks=4,ball_speed=12", 5},
      {"card-house:levels=3,ball_speed=3", 1},
      {"card-house:levels=3,ball_speed=3", 2},
      {"card-house:levels=3,ball_speed=3", 5},
      {"vault:courses=7,stones=3,ball_speed=15", 1},
      {"vault:courses=7,stones=3,ball_speed=15", 2},
      {"vault:courses=7,stones=3,ball_speed=15", 5},
  };
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) run_short_of_work(&runs[i], test_time(0.8, 0.3));
  CHECK(limited_steps > 0);
}

/* A start a million times too large: the step is certified, takes no more than one without a start, and ends at the
 * same velocities. */
static void test_bogus_start(void) {
  const char *const specs[] = {"stack:count=5", "card-house:levels=3", "arch:stones=15", "pile:count=20"};
  for (int i = 0; i < 4; i++) {
    sim s;
    if (sim_generate(&s, specs[i])) {
      int32_t count;
      sim_run(&s, 0.3);
      const ds_contact *contacts = ds_state_contacts(s.state, &count);
      ds_contact *bogus = malloc(((size_t)count + 1) * sizeof *bogus);
      ds_state *good = ds_state_copy(s.state);
      ds_step_report report = {0};
      CHECK(bogus && good && count > 0);
      for (int32_t k = 0; bogus && k < count; k++) {
        bogus[k] = contacts[k];
        bogus[k].impulse = v3_scale(1e6, contacts[k].impulse);
      }
      if (bogus && good) {
        CHECK(ds_state_set_contacts(s.state, bogus, count) == DS_OK);
        CHECK(ds_step(s.stepper, good, &report, s.scene, &s.options) == DS_OK);
        sim_step(&s);
        printf("     %s: %d factorizations, %d from a good start\n", specs[i], (int)s.report.worst.factorizations,
               (int)report.worst.factorizations);
        CHECK(s.report.worst.converged && !s.report.worst.limited);
        CHECK_LE(s.report.worst.factorizations, 150);
        for (int32_t k = 0; k < ds_scene_body_count(s.scene); k++) {
          ds_body_id id = ds_scene_body(s.scene, k);
          CHECK_LE(v3_dist(ds_state_velocity(s.state, id), ds_state_velocity(good, id)), 1e-4);
        }
        sim_run(&s, 0.1);
      }
      free(bogus);
      ds_state_destroy(good);
    }
    sim_close(&s);
  }
}

/* What has come to rest stays there and costs next to nothing: islands are pushed back to rest, solved twice in a row,
 * and held down by sweeps. */
static void test_rest(void) {
  const char *const specs[] = {"pile:count=12,kind=boxes", "pile:count=12,kind=rocks,seed=2"};
  for (int i = 0; i < 2; i++) {
    sim s;
    if (sim_generate(&s, specs[i])) {
      int32_t work = 0;
      sim_run(&s, 4);
      for (int k = 0; k < 100 && sim_step(&s); k++) work += s.report.worst.factorizations;
      printf("     %s: %d factorizations in 100 steps at rest\n", specs[i], (int)work);
      CHECK_LE(work, 40);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(test_budget);
  RUN(test_no_limit);
  RUN(test_rounding);
  RUN(test_jam);
  RUN(test_energy);
  RUN(test_bogus_start);
  RUN(test_rest);
  return test_summary();
}
