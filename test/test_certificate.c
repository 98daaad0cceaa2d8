/* The certificate against numbers worked out by hand: every field, what is not a number, what joints leave open, and
 * how the certificates of islands become that of a step. */
#include <string.h>

#include "drystone/problem.h"
#include "joint_helper.h"
#include "own_error.h"
#include "problem/subproblem.h"

/* Two point masses of three coordinates each. Contact 0 is between body 0 and the world, with G = 1. Contact 1 is
 * between body 1, with G = 2, and body 0, with G = -1. So W = (1 -1; -1 5) times the unit matrix, rho = 6/18. */
typedef struct hand {
  ds_arena arena;
  ds_subproblem p;
  double g[27], v[6], u[6];
} hand;

static const int32_t SIZE[2] = {3, 3}, FIRST[2] = {0, 3}, BODY[4] = {0, -1, 1, 0}, JACOBIAN[4] = {0, 9, 9, 18};
static const double PREDICTED[6] = {-1, 0.5, 0, -0.5, 0, 0.25}, BOUND[6] = {0.1, 0, 0, 0, 0.2, 0}, MU[2] = {0.5, 0.25},
                    R[6] = {0.8, 0.3, -0.4, 0.1, 0, 0.05};

static void open_hand(hand *h) {
  memset(h, 0, sizeof *h);
  for (int i = 0; i < 3; i++) h->g[4 * i] = 1, h->g[9 + 4 * i] = 2, h->g[18 + 4 * i] = -1;
  h->p = (ds_subproblem){.body_count = 2, .contact_count = 2, .dof = 6, .size = SIZE, .first = FIRST, .body = BODY};
  h->p.jacobian = JACOBIAN, h->p.g = h->g, h->p.predicted = PREDICTED, h->p.b = BOUND, h->p.mu = MU;
  CHECK(ds_subproblem_prepare(&h->arena, &h->p));
}

static ds_certificate certify(hand *h, const double *r, double tolerance) {
  ds_certificate c = {.factorizations = 7};
  ds_subproblem_velocity(h->v, &h->p, r);
  ds_subproblem_certify(&c, &h->p, r, h->v, h->u, tolerance);
  return c;
}

static void fields_by_hand(void) {
  hand h;
  open_hand(&h);
  const double slip[6] = {-0.4, 0.8, -0.45, -0.3, -1, 1.15}, free_slip[6] = {-1.1, 0.5, 0, 0, -0.7, 0.5};
  ds_certificate c = certify(&h, R, 1e-8);
  for (int i = 0; i < 6; i++) CHECK_NEAR(h.u[i], slip[i], 1e-15);
  for (int i = 0; i < 6; i++) CHECK_NEAR(h.p.free_slip[i], free_slip[i], 1e-15);
  CHECK_NEAR(h.p.rho, 1.0 / 3, 1e-15);
  CHECK_NEAR(h.p.target, sqrt(2.2), 1e-15);
  CHECK_NEAR(h.p.noise, 1e-15 * sqrt(18 * 1.5625), 1e-20);
  CHECK(h.p.scale[0] == 1 && h.p.scale[1] == 5 && h.p.weight[0] == 1 && h.p.weight[1] == 5);
  CHECK(c.bodies == 2 && c.contacts == 2 && c.factorizations == 7);
  CHECK_NEAR(c.residual, 0.8 * 0.4 + 0.1 * 0.3, 1e-15);
  CHECK_NEAR(c.approach_velocity, 0.4, 1e-15);
  CHECK_NEAR(c.cone_violation, (0.5 - 0.4) / 0.8, 1e-15);
  CHECK_NEAR(c.dissipation_error, 0.42 + 0.4 * sqrt(0.8425), 1e-15);
  /* contact 0 is inside its cone and moves by rho u~; of contact 1 z = (0.0730, 1/3, -1/3) has its nearest point at
   * (0.1796, 0.0318, -0.0318). S = |r| = 0.95. Normal impulses work 0.35 J for an energy of 0.41625 J: that is more */
  const double map = 0.32867835576140886, want = (0.35 / 0.41625) * (0.35 / 0.41625);
  CHECK_NEAR(ds_subproblem_natural_map(&h.p, R, h.u, h.p.rho), map, 1e-14);
  CHECK_NEAR(ds_subproblem_progress(&h.p, R, h.u), map / 0.95, 1e-14);
  CHECK_NEAR(c.natural_error, want, 1e-14);
  own_problem own = own_of_subproblem(&h.p);
  CHECK_NEAR(own_natural_error(&own, R), want, 1e-14);
  own_free(&own);
  CHECK(c.tolerance == 1e-8 && !c.converged);
  CHECK(certify(&h, R, 1.01 * want).converged && !certify(&h, R, 0.99 * want).converged);
  ds_arena_free(&h.arena);
}

/* A contact that pulls; the violation is of the pull, relative to the larger impulse of the other. */
static void pulling_by_hand(void) {
  hand h;
  open_hand(&h);
  const double pull[6] = {-0.25, 0, 0, 0.1, 0.5, 0};
  ds_certificate c = certify(&h, pull, 1e-8);
  CHECK_NEAR(c.cone_violation, (0.5 - 0.025) / 0.5, 1e-15);
  const double more[6] = {-0.25, 0, 0, 1, 0.25, 0};
  c = certify(&h, more, 1e-8);
  CHECK_NEAR(c.cone_violation, 0.25, 1e-15);
  const double none[6] = {0};
  c = certify(&h, none, 1e-8);
  CHECK(c.cone_violation == 0 && c.residual == 0 && c.dissipation_error == 0);
  CHECK_NEAR(c.approach_velocity, 1.1, 1e-15);
  /* P_K of -rho u~ is all there is of the map: u~ of contact 0 is (-1.1 + 0.25, 0.5, 0) */
  double z0 = 0.85 / 3, z1 = -0.5 / 3, normal = (z0 + 0.5 * fabs(z1)) / 1.25;
  double u1 = 0.25 * sqrt(0.74), inside = u1 / 3 - 0.25 * sqrt(0.74) / 3; /* 0: on the edge of the polar cone */
  double map = sqrt(normal * normal * 1.25 + inside * inside);
  CHECK_NEAR(ds_subproblem_natural_map(&h.p, none, h.u, h.p.rho), map, 1e-15);
  CHECK_NEAR(c.natural_error, fmax(map / (sqrt(2.2) / 3), 1.21 / 2.2), 1e-14);
  ds_arena_free(&h.arena);
}

/* A contact that carries 1e4 N s beside one of a light body that is run into at 1 m/s and carries nothing. Relative to
 * the large impulse the map is small: what says that nothing is solved is the approach, (1 m/s)² over |q|² = 2. */
static void approach_by_hand(void) {
  hand h;
  open_hand(&h);
  const double predicted[6] = {-100, 0, 0, -1, 0, 0}, none[6] = {0}, r[6] = {1e4, 0, 0, 0, 0, 0};
  const int32_t body[4] = {0, -1, 1, -1};
  for (int i = 0; i < 3; i++) h.g[4 * i] = 0.01, h.g[9 + 4 * i] = 1;
  h.p.predicted = predicted, h.p.b = none, h.p.body = body;
  CHECK(ds_subproblem_prepare(&h.arena, &h.p));
  ds_certificate c = certify(&h, r, 1e-8);
  CHECK_LE(ds_subproblem_natural_map(&h.p, r, h.u, h.p.rho) / 1e4, 2.1e-4);
  CHECK_NEAR(c.natural_error, 0.5, 1e-12);
  CHECK_NEAR(ds_subproblem_progress(&h.p, r, h.u), 0.5, 1e-12);
  ds_arena_free(&h.arena);
}

/* Of the projection on K = {|r_T| <= mu r_N}: inside it stays, below the polar cone it is 0, else the nearest point. */
static void cone_by_hand(void) {
  const double in[3] = {1, 0.3, 0.4}, below[3] = {-1, 1.2, 1.6}, beside[3] = {0, 3, -4};
  double p[3];
  ds_cone_project(p, in, 0.5);
  CHECK(p[0] == 1 && p[1] == 0.3 && p[2] == 0.4);
  ds_cone_project(p, below, 0.5);
  CHECK(p[0] == 0 && p[1] == 0 && p[2] == 0);
  ds_cone_project(p, beside, 0.5); /* (0, 5) on (1, 1/2): 2 (1, 1/2) */
  CHECK_NEAR(p[0], 2, 1e-15);
  CHECK_NEAR(p[1], 0.6, 1e-15);
  CHECK_NEAR(p[2], -0.8, 1e-15);
}

/* What is not a number, or infinite, in any impulse or velocity is an infinite error, whatever the tolerance. */
static void no_number_passes(void) {
  const double bad[3] = {NAN, INFINITY, -INFINITY};
  hand h;
  open_hand(&h);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++) {
      double r[6];
      memcpy(r, R, sizeof r);
      r[i] = bad[k];
      ds_certificate c = certify(&h, r, 1e300);
      CHECK(c.natural_error == (double)INFINITY && !c.converged);
      ds_subproblem_velocity(h.v, &h.p, R);
      h.v[i] = bad[k];
      c = (ds_certificate){0};
      ds_subproblem_certify(&c, &h.p, R, h.v, h.u, 1e300);
      CHECK(c.natural_error == (double)INFINITY && !c.converged);
      CHECK(ds_subproblem_progress(&h.p, R, h.u) == (double)INFINITY);
    }
  ds_arena_free(&h.arena);
}

/* ---- A problem of its own ---- */

/* One contact, W far from symmetric: its symmetric part is (2 0.3; 0.3 1). */
static void solution_by_hand(void) {
  const int32_t row[4] = {0, 0, 1, 1}, column[4] = {0, 1, 0, 1};
  const double value[4] = {2, 0.5, 0.1, 1}, q[2] = {-1, 0.4}, mu[1] = {0.5}, r[2] = {0.5, -0.2};
  ds_problem p = {.form = DS_PROBLEM_LOCAL, .dimension = 2, .contacts = 1, .q = q, .mu = mu};
  p.W = (ds_matrix){2, 2, 4, row, column, value};
  ds_solution s;
  ds_error error = {""};
  CHECK(ds_problem_check(&p, r, &s, &error) == DS_OK);
  const double un = 2 * 0.5 - 0.3 * 0.2 - 1, ut = 0.3 * 0.5 - 0.2 + 0.4; /* -0.06, 0.35 */
  const double an = 2 * 0.5 - 0.5 * 0.2 - 1, at = 0.1 * 0.5 - 0.2 + 0.4; /* W as given: -0.1, 0.25 */
  CHECK_NEAR(s.complementarity, fabs(0.5 * (un + 0.5 * ut) - 0.2 * ut), 1e-15);
  CHECK_NEAR(s.asymmetry, sqrt(2 * 0.4 * 0.4) / sqrt(4 + 0.25 + 0.01 + 1), 1e-14);
  /* rho = 3/3: z = r - u~ lies outside the cone in all three */
  double errors[2], slips[2][2] = {{un, ut}, {an, at}}, size = sqrt(1.16);
  for (int i = 0; i < 2; i++) {
    double z0 = 0.5 - (slips[i][0] + 0.5 * slips[i][1]), z1 = -0.2 - slips[i][1];
    double n = (z0 + 0.5 * fabs(z1)) / 1.25;
    CHECK(fabs(z1) > 0.5 * z0 && n > 0);
    errors[i] = hypot(0.5 - n, -0.2 + 0.5 * n);
  }
  CHECK_NEAR(s.asymmetric_error, errors[1] / size, 1e-14);
  CHECK_NEAR(s.siconos_error, errors[0] / size, 1e-14); /* rho = 1 here as well */
  double energy = 0.5 * (0.5 * (un + 1) - 0.2 * (ut - 0.4)), idle = 0.5 * fabs(un) / energy;
  CHECK_NEAR(s.certificate.natural_error, fmax(errors[0] / size, fmax(un * un / 1.16, idle * idle)), 1e-14);
  CHECK(s.outcome == DS_UNSOLVED && s.conflict == 0);
  for (int i = 0; i < 2; i++) {
    double broken[2] = {r[0], r[1]};
    broken[i] = NAN;
    CHECK(ds_problem_check(&p, broken, &s, &error) == DS_OK);
    CHECK(s.certificate.natural_error == (double)INFINITY && s.asymmetric_error == (double)INFINITY);
    CHECK(s.outcome == DS_UNSOLVED);
  }
}

/* ---- Sums ---- */

static void work_adds_up(void) {
  ds_certificate a = {.staggered_iterations = 1, .projection_iterations = 2, .factorizations = 3, .rel_err = 0.5};
  ds_certificate b = {.staggered_iterations = 10, .projection_iterations = 20, .factorizations = 30, .rel_err = 0.25};
  a.conflict = 0.1, b.conflict = 0.2, b.unbounded = true, b.natural_error = 5;
  for (int i = 0; i < DS_TOOL_COUNT; i++) a.tool[i] = i, b.tool[i] = 100 * (i + 1);
  ds_certificate_add_work(&a, &b);
  CHECK(a.staggered_iterations == 11 && a.projection_iterations == 22 && a.factorizations == 33);
  CHECK(a.rel_err == 0.5 && a.conflict == 0.2 && a.unbounded && a.natural_error == 0);
  for (int i = 0; i < DS_TOOL_COUNT; i++) CHECK(a.tool[i] == i + 100 * (i + 1));
}

/* The certificate of a step: errors are the largest of its islands', counts the sums, and those of solves that others
 * took the place of besides: they are of no island. */
static void check_worst(const sim *s) {
  int32_t count, unconverged = 0, tools = 0, of_islands = 0;
  const ds_certificate *c = ds_stepper_islands(s->stepper, &count), *w = &s->report.worst;
  ds_certificate want = {.converged = true};
  for (int32_t i = 0; i < count; i++) {
    want.bodies += c[i].bodies, want.contacts += c[i].contacts;
    want.projection_iterations += c[i].projection_iterations, want.factorizations += c[i].factorizations;
    want.residual = fmax(want.residual, c[i].residual);
    want.natural_error = fmax(want.natural_error, c[i].natural_error);
    want.approach_velocity = fmax(want.approach_velocity, c[i].approach_velocity);
    want.cone_violation = fmax(want.cone_violation, c[i].cone_violation);
    want.dissipation_error = fmax(want.dissipation_error, c[i].dissipation_error);
    want.joint_gap = fmax(want.joint_gap, c[i].joint_gap);
    want.tolerance = fmax(want.tolerance, c[i].tolerance);
    want.converged &= c[i].converged, unconverged += !c[i].converged;
    for (int k = 0; k < DS_TOOL_COUNT; k++) of_islands += c[i].tool[k];
  }
  for (int k = 0; k < DS_TOOL_COUNT; k++) tools += w->tool[k];
  CHECK(w->bodies == want.bodies && w->contacts == want.contacts && tools >= of_islands);
  CHECK(w->projection_iterations >= want.projection_iterations && w->factorizations >= want.factorizations);
  CHECK(w->residual == want.residual && w->natural_error == want.natural_error && w->joint_gap == want.joint_gap);
  CHECK(w->approach_velocity == want.approach_velocity && w->cone_violation == want.cone_violation);
  CHECK(w->dissipation_error == want.dissipation_error && w->tolerance == want.tolerance);
  CHECK(w->converged == want.converged && s->report.unconverged_islands == unconverged);
  CHECK(s->report.islands == count && s->report.contacts == want.contacts);
}

static void step_is_the_worst_of_islands(void) {
  for (int run = 0; run < 3; run++) {
    sim s;
    int32_t islands = 0, factored = 0, budget = run == 1;
    if (sim_generate(&s, "pile:count=20")) {
      s.options.step_budget = budget;
      s.options.integrator = run == 2 ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
      for (int i = 0; i < 60 && sim_step(&s); i++) {
        check_worst(&s);
        islands = s.report.islands > islands ? s.report.islands : islands;
        factored += s.report.worst.factorizations;
      }
      CHECK(islands > 2 && factored > 0 && (s.unconverged > 0) == (budget == 1));
    }
    sim_free(&s);
  }
}

/* ---- Joints ---- */

/* A bar held by balls at both ends, which scripts draw apart: joints cannot hold, and the certificate says by how much.
 * In a step of 0.01 s they part by 0.02 m, at one end or at both. */
static void joints_that_cannot_hold(bool touching) {
  ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.5, 0);
  ds_body_id ends[2];
  for (int i = 0; i < 2; i++) {
    ds_body_def def = body_at(i == 0 ? -1 : 1, 0, 1);
    def.kind = DS_BODY_KINEMATIC;
    def.motion.kind = DS_MOTION_VELOCITY;
    def.motion.velocity = v3(i == 0 ? -1 : 1, 0, 0);
    ends[i] = scene_add(scene, &def, shape_box(0.1, 0.1, 0.1));
  }
  ds_body_def def = body_at(0, 0, 1), load = body_at(0, 0, 1.15);
  ds_body_id bar = scene_add(scene, &def, shape_box(1.8, 0.1, 0.1));
  if (touching) scene_add(scene, &load, shape_box(0.2, 0.2, 0.2));
  scene_join(scene, DS_JOINT_BALL, ends[0], bar, v3(-1, 0, 1), v3(0, 0, 1));
  scene_join(scene, DS_JOINT_BALL, bar, ends[1], v3(1, 0, 1), v3(0, 0, 1));
  sim s;
  if (sim_finish(&s, "drawn apart", scene)) {
    sim_step(&s);
    const ds_certificate *c = &s.report.worst;
    printf("     gap %.4g m, error %.3g\n", c->joint_gap, c->natural_error);
    CHECK_NEAR(c->joint_gap, 0.015, 0.005 + 1e-9);
    CHECK_NEAR(s.report.joint_drift, c->joint_gap, 1e-9);
    CHECK_LE(0.9, c->natural_error); /* as far apart as without joints */
    CHECK(!c->converged && s.report.unconverged_islands == 1);
    CHECK(c->bodies == (touching ? 2 : 1) && c->contacts == s.report.contacts && touching == (c->contacts > 0));
  }
  sim_free(&s);
}

static void joint_gap_counts(void) {
  joints_that_cannot_hold(false);
  joints_that_cannot_hold(true);
}

/* With joints and contacts a step solves several times: its certificate counts the work of all of them, as the stepper
 * does. */
static void work_of_joints_counts(void) {
  sim s;
  for (int midpoint = 0; midpoint < 2; midpoint++) {
    if (!sim_generate(&s, "linkage")) continue;
    int32_t all = 0, counted = 0, most = 0;
    s.options.integrator = midpoint ? DS_INTEGRATOR_MIDPOINT : DS_INTEGRATOR_EULER;
    for (int i = 0; i < 150 && sim_step(&s); i++) {
      all += (int32_t)ds_stepper_work(s.stepper), counted += s.report.worst.factorizations;
      most = s.report.worst.factorizations > most ? s.report.worst.factorizations : most;
    }
    printf("     %d factorizations, %d counted, %d in a step\n", (int)all, (int)counted, (int)most);
    CHECK(most > 2);
    CHECK_LE(0.9 * all, counted);
    CHECK_LE(counted, all);
    sim_close(&s);
  }
}

/* Two boxes slide and three lie still, each an island: the report says how many have a looser tolerance for that. With
 * a given tolerance none has. */
static void moving_islands_are_counted(void) {
  for (int given = 0; given < 2; given++) {
    ds_scene *scene = scene_new(v3(0, 0, -9.81), 0.4, 0);
    scene_add_floor(scene);
    for (int i = 0; i < 5; i++) {
      ds_body_def def = body_at(0, i, 0.05);
      def.velocity = v3(i < 2 ? 2 : 0, 0, 0);
      scene_add(scene, &def, shape_box(0.2, 0.2, 0.1));
    }
    sim s;
    if (sim_finish(&s, "some slide", scene)) {
      s.options.tolerance = given ? 1e-8 : 0;
      sim_run(&s, 0.1);
      CHECK_NEAR(s.report.islands, 5, 0);
      CHECK_NEAR(s.report.moving_islands, given ? 0 : 2, 0);
      sim_run(&s, 1); /* they come to rest after 2/(mu g) = 0.51 s */
      CHECK_NEAR(s.report.moving_islands, 0, 0);
    }
    sim_close(&s);
  }
}

int main(void) {
  RUN(fields_by_hand);
  RUN(pulling_by_hand);
  RUN(approach_by_hand);
  RUN(cone_by_hand);
  RUN(no_number_passes);
  RUN(solution_by_hand);
  RUN(work_adds_up);
  RUN(step_is_the_worst_of_islands);
  RUN(moving_islands_are_counted);
  RUN(joint_gap_counts);
  RUN(work_of_joints_counts);
  return test_summary();
}
