/* Isosurface stuffing: the angles of every stencil at the ends of what is possible, volumes that converge, angles and
 * surfaces of figures, what is lost is told, and the number of threads changes nothing. */
#include "check.h"
#include "drystone/scene_file.h"
#include "mesh/mesh.h"
#include "mesh_helper.h"
#include "reduce/stuffing.h"

static const double least_angle = 10.7 / 180 * DS_PI, greatest_angle = 164.8 / 180 * DS_PI;

static bool quick(void) { return getenv("DRYSTONE_TEST_QUICK") != NULL; }

/* ---- stencils ---- */

static const ds_vec3 lattice_tet[4] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}};

static double alpha(int i, int j) { return (i ^ j) == 1 ? DS_STUFFING_ALPHA_LONG : DS_STUFFING_ALPHA_SHORT; }

/* Where a point may be pulled to: nowhere, or as far as can be along one of its 14 edges. */
static ds_vec3 pulled(int way) {
  if (way == 0) return v3(0, 0, 0);
  if (way <= 6) {
    double a = (way & 1 ? 1 : -1) * DS_STUFFING_ALPHA_LONG;
    return v3((way - 1) / 2 == 0 ? a : 0, (way - 1) / 2 == 1 ? a : 0, (way - 1) / 2 == 2 ? a : 0);
  }
  double a = 0.5 * DS_STUFFING_ALPHA_SHORT;
  return v3((way - 7) & 1 ? a : -a, (way - 7) & 2 ? a : -a, (way - 7) & 4 ? a : -a);
}

/* Two points are never pulled along the edge between them: it has one cut point. */
static bool is_mutual(const ds_vec3 move[4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      ds_vec3 e = v3_sub(lattice_tet[j], lattice_tet[i]);
      if (i != j && v3_norm(v3_cross(move[i], e)) < 1e-9 && v3_norm(v3_cross(move[j], e)) < 1e-9 &&
          v3_dot(move[i], e) > 1e-9 && v3_dot(move[j], e) < -1e-9)
        return true;
    }
  return false;
}

static double volume_of(const ds_vec3 x[4]) {
  return fabs(v3_dot(v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0])), v3_sub(x[3], x[0]))) / 6;
}

typedef struct extremes {
  double least, greatest, volume;
} extremes;

static void look_at(extremes *e, const ds_stuffing_cell *c) {
  int piece[3][4], count = ds_stuffing_stencil(piece, c);
  e->volume = 0;
  for (int i = 0; i < count; i++) {
    ds_vec3 x[4];
    double angles[6];
    for (int k = 0; k < 4; k++) {
      int n = piece[i][k];
      x[k] = n < 4 ? c->x[n] : c->cut[(n - 4) / 4][(n - 4) % 4];
    }
    ds_tet_angles(angles, x);
    for (int k = 0; k < 6; k++) e->least = fmin(e->least, angles[k]), e->greatest = fmax(e->greatest, angles[k]);
    e->volume += volume_of(x);
  }
}

/* Cut points near or far, by the bits of `ends`. */
static int set_cuts(ds_stuffing_cell *c, int ends) {
  int count = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      if (!(c->sign[i] > 0 && c->sign[j] < 0)) continue;
      double t = ends >> count++ & 1 ? 1 - alpha(i, j) : alpha(i, j);
      c->cut[i][j] = v3_mad(lattice_tet[i], t, v3_sub(lattice_tet[j], lattice_tet[i]));
    }
  return count;
}

static void try_moves(extremes *e, ds_stuffing_cell *c) {
  int on[4], zeros = 0, ways = 1;
  for (int i = 0; i < 4; i++)
    if (c->sign[i] == 0) on[zeros++] = i, ways *= 15;
  for (int way = 0; way < ways; way++) {
    ds_vec3 move[4] = {{0}};
    for (int i = 0, w = way; i < zeros; i++, w /= 15) move[on[i]] = pulled(w % 15);
    if (is_mutual(move)) continue;
    for (int i = 0; i < 4; i++) c->x[i] = v3_add(lattice_tet[i], move[i]);
    int cuts = set_cuts(c, 0);
    for (int ends = 0; ends < 1 << cuts; ends++) {
      set_cuts(c, ends);
      look_at(e, c);
    }
  }
}

static void stencils(void) {
  extremes e = {10, 0, 0};
  for (int code = 0; code < 81; code++)
    for (int parity = 0; parity < 4; parity++) {
      ds_stuffing_cell c = {.even = {parity & 1, !(parity & 1), parity & 2, !(parity & 2)}};
      for (int i = 0, n = code; i < 4; i++, n /= 3) c.sign[i] = n % 3 - 1;
      try_moves(&e, &c);
    }
  CHECK_LE(least_angle, e.least);
  CHECK_LE(e.greatest, greatest_angle);
  printf("     all stencils: %.2f to %.2f degrees\n", e.least * 180 / DS_PI, e.greatest * 180 / DS_PI);
}

/* Inside and outside together are the whole, where the piece of surface is flat. */
static void stencil_volumes(void) {
  double whole = volume_of(lattice_tet);
  for (int code = 0; code < 81; code++) {
    ds_stuffing_cell c = {.even = {true, false, true, false}};
    extremes in = {0}, out = {0};
    int inside = 0, outside = 0;
    for (int i = 0, n = code; i < 4; i++, n /= 3) {
      c.sign[i] = n % 3 - 1;
      c.x[i] = lattice_tet[i];
      inside += c.sign[i] > 0;
      outside += c.sign[i] < 0;
    }
    if (inside == 2 && outside == 2) continue;
    if (inside + outside == 0) continue;
    set_cuts(&c, 21); /* some near, some far */
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        if (c.sign[i] > 0 && c.sign[j] < 0) c.cut[j][i] = c.cut[i][j];
    look_at(&in, &c);
    for (int i = 0; i < 4; i++) c.sign[i] = -c.sign[i];
    look_at(&out, &c);
    CHECK_NEAR(in.volume + out.volume, whole, 1e-15);
  }
}

/* ---- bodies ---- */

typedef struct body {
  ds_tets tets;
  ds_tets_report report;
} body;

static body stuff(const ds_mesh *mesh, double cell, int32_t wanted, int32_t threads) {
  ds_error error = {""};
  ds_stuffing_def def = ds_default_stuffing();
  body b = {0};
  def.cell = cell;
  if (wanted > 0) def.wanted = wanted;
  def.threads = threads;
  ds_status status = ds_tets_stuff(&b.tets, mesh, &def, &error);
  CHECK(status == DS_OK);
  if (status == DS_OK) {
    status = ds_tets_check(&b.report, &b.tets, &error);
    CHECK(status == DS_OK);
  }
  if (status != DS_OK) printf("     %s\n", error.message);
  return b;
}

static void check_good(const body *b, const char *what) {
  ds_mesh surface;
  ds_mesh_report report;
  ds_error error = {""};
  CHECK_LE(least_angle, b->report.least_angle);
  CHECK_LE(b->report.greatest_angle, greatest_angle);
  CHECK(b->report.parts == 1);
  CHECK(ds_tets_surface(&surface, NULL, &b->tets, &error) == DS_OK);
  CHECK(ds_mesh_check(&report, &surface, &error) == DS_OK && report.usable);
  CHECK_NEAR(report.volume, b->report.volume, 1e-12 * b->report.volume);
  ds_mesh_free(&surface);
  printf("     %-10s %6d tetrahedra, %5.1f to %5.1f degrees, quality %.2f\n", what, b->tets.tet_count,
         b->report.least_angle * 180 / DS_PI, b->report.greatest_angle * 180 / DS_PI, b->report.mean_quality);
}

static ds_mesh sphere(double radius, int32_t n) {
  ds_error error;
  ds_mesh m = mesh_sphere(radius, n);
  if (ds_mesh_merge(&m, &error) != DS_OK) abort();
  return m;
}

/* Faces on the lattice: nothing is lost. */
static void box_is_exact(void) {
  ds_mesh m = mesh_box(v3(-0.3, 0.1, 2), v3(0.7, 0.35, 2.125));
  for (int n = 8; n <= 24; n += 8) {
    body b = stuff(&m, 1.0 / n, 0, 1);
    CHECK_NEAR(b.report.volume, 1.0 / 32, 1e-14);
    if (n == 8) CHECK_NEAR(b.report.greatest_edge, 1.0 / 8, 1e-12);
    check_good(&b, "box");
    ds_tets_free(&b.tets);
  }
  ds_mesh_free(&m);
}

/* Volume of a turned box and of a ball: the error falls with the cell, that of the ball with its square. */
static void volumes_converge(void) {
  ds_mesh turned = mesh_box(v3(0, 0, 0), v3(1, 0.7, 0.4)), ball = sphere(0.5, quick() ? 24 : 48);
  ds_mesh_report r;
  ds_error error;
  mesh_move(&turned, (ds_pose){{0.1, 0.2, 0.3}, quat_axis_angle(v3(1, 2, 3), 0.7)});
  CHECK(ds_mesh_check(&r, &ball, &error) == DS_OK);
  double before[2] = {INFINITY, INFINITY}, cell = 0.2;
  for (int i = 0; i < (quick() ? 2 : 3); i++, cell /= 2) {
    body b = stuff(&turned, cell, 0, 0), s = stuff(&ball, cell, 0, 0);
    double box_error = fabs(b.report.volume / 0.28 - 1), ball_error = fabs(s.report.volume / r.volume - 1);
    check_good(&b, "turned box");
    check_good(&s, "ball");
    printf("     cell %.3f: volumes off by %.4f and %.4f\n", cell, box_error, ball_error);
    CHECK_LE(box_error, 0.6 * before[0]);
    CHECK_LE(ball_error, 0.35 * before[1]);
    before[0] = box_error, before[1] = ball_error;
    ds_tets_free(&b.tets);
    ds_tets_free(&s.tets);
  }
  CHECK_LE(before[0], quick() ? 0.05 : 0.02);
  CHECK_LE(before[1], quick() ? 0.03 : 0.006);
  ds_mesh_free(&turned);
  ds_mesh_free(&ball);
}

/* Every vertex of the new surface is on the old one. */
static void surface_is_met(void) {
  ds_mesh ball = sphere(0.5, 16), mesh;
  ds_error error;
  ds_surface surface;
  ds_distance tree;
  ds_nearby nearby;
  double worst = 0;
  body b = stuff(&ball, 0.1, 0, 1);
  ds_nearby_all(&nearby);
  if (ds_surface_build(&surface, &ball, &error) != DS_OK || ds_distance_build(&tree, &surface, &error) != DS_OK)
    abort();
  CHECK(ds_tets_surface(&mesh, NULL, &b.tets, &error) == DS_OK);
  for (int32_t i = 0; i < mesh.vertex_count; i++)
    worst = fmax(worst, fabs(ds_distance_signed(&nearby, &tree, mesh.vertices[i])));
  CHECK_LE(worst, 2e-10);
  ds_mesh_free(&mesh);
  ds_mesh_free(&ball);
  ds_tets_free(&b.tets);
  ds_distance_free(&tree);
  ds_surface_free(&surface);
}

static void figures(void) {
  static const char *const names[] = {"bunny", "dinosaur", "chair", "bone", "king", "coat-hanger"};
  static const double cells[] = {0.005, 0.0065, 0.0136, 0.008, 0.004, 0};
  for (int i = 0; i < (quick() ? 2 : 6); i++) {
    ds_error error = {""};
    ds_mesh m;
    ds_mesh_report r;
    if (ds_mesh_figure(&m, names[i], 1, &error) != DS_OK || ds_mesh_check(&r, &m, &error) != DS_OK) abort();
    body b = stuff(&m, cells[i], 0, 0);
    check_good(&b, names[i]);
    CHECK_NEAR(b.report.volume / r.volume, 1, i == 5 ? 0.08 : 0.06); /* the last is about as thin as can be */
    ds_tets_free(&b.tets);
    ds_mesh_free(&m);
  }
}

/* About as many as wanted: cells along a side are whole. */
static void wanted(void) {
  static const int32_t numbers[] = {300, 1000, 4000, 20000};
  ds_mesh ball = sphere(2, 24);
  for (int i = 0; i < (quick() ? 3 : 4); i++) {
    body b = stuff(&ball, 0, numbers[i], 0);
    CHECK_NEAR(log((double)b.tets.tet_count / numbers[i]), 0, log(1.6));
    ds_tets_free(&b.tets);
  }
  ds_mesh_free(&ball);
}

static void cavity(void) {
  ds_mesh inner = sphere(0.25, 12);
  mesh_flip(&inner);
  ds_mesh shell = mesh_join(sphere(0.5, 16), inner);
  ds_error error;
  ds_mesh_report r;
  CHECK(ds_mesh_check(&r, &shell, &error) == DS_OK && r.usable && r.parts == 2);
  body b = stuff(&shell, 0.06, 0, 0);
  CHECK(b.report.parts == 1);
  CHECK_NEAR(b.report.volume / r.volume, 1, 0.03);
  ds_tets_free(&b.tets);
  ds_mesh_free(&shell);
}

static void threads(void) {
  ds_mesh m;
  ds_error error;
  if (ds_mesh_figure(&m, "bone", 1, &error) != DS_OK) abort();
  body one = stuff(&m, 0, 3000, 1);
  for (int n = 2; n <= 5; n += 3) {
    body many = stuff(&m, 0, 3000, n);
    CHECK(many.tets.tet_count == one.tets.tet_count && many.tets.node_count == one.tets.node_count);
    CHECK(memcmp(many.tets.nodes, one.tets.nodes, (size_t)one.tets.node_count * sizeof(ds_vec3)) == 0);
    CHECK(memcmp(many.tets.tets, one.tets.tets, 4 * (size_t)one.tets.tet_count * sizeof(int32_t)) == 0);
    ds_tets_free(&many.tets);
  }
  ds_tets_free(&one.tets);
  ds_mesh_free(&m);
}

/* ---- what is refused ---- */

static void refuse(const ds_mesh *mesh, ds_stuffing_def def, const char *part) {
  ds_error error = {""};
  ds_tets tets;
  CHECK(ds_tets_stuff(&tets, mesh, &def, &error) == DS_ERROR_INPUT);
  CHECK(tets.nodes == NULL && tets.tets == NULL);
  CHECK(strstr(error.message, part) != NULL);
  if (!strstr(error.message, part)) printf("     got \"%s\", wanted \"... %s\"\n", error.message, part);
}

/* A dumb-bell: two balls and a bar that a coarse lattice misses. The cell of the message works. */
static void thin_parts(void) {
  ds_mesh plate = mesh_box(v3(0, 0, 0), v3(1, 1, 0.01)), m;
  ds_stuffing_def def = ds_default_stuffing();
  ds_error error = {""};
  ds_tets tets;
  def.cell = 0.2;
  refuse(&plate, def, "cells of 0.2 m are too coarse for the thinnest part of the surface, near ");
  ds_mesh_free(&plate);
  if (ds_mesh_figure(&m, "coat-hanger", 1, &error) != DS_OK) abort();
  def.cell = 0.02;
  refuse(&m, def, "; try a cell of ");
  CHECK(ds_tets_stuff(&tets, &m, &def, &error) == DS_ERROR_INPUT);
  const char *advice = strstr(error.message, "try a cell of ");
  if (advice) {
    double cell = strtod(advice + strlen("try a cell of "), NULL);
    CHECK(cell < 0.02 && cell > 0.001);
    body b = stuff(&m, cell, 0, 0);
    CHECK(b.report.parts == 1);
    ds_tets_free(&b.tets);
  }
  ds_mesh_free(&m);
}

/* The advice holds, whatever the cell was that it is given for: followed as it is printed, the surface is filled. */
static void advice_holds(void) {
  static const char *const names[] = {"bunny", "ring", "coat-hanger"};
  int given = 0;
  for (int i = 0; i < (quick() ? 2 : 3); i++) {
    ds_error error = {""};
    ds_mesh m;
    ds_tets tets;
    if (ds_mesh_figure(&m, names[i], 1, &error) != DS_OK) abort();
    for (double coarse = 0.008; coarse < 0.04; coarse *= 1.17) {
      ds_stuffing_def def = ds_default_stuffing();
      def.cell = coarse;
      if (ds_tets_stuff(&tets, &m, &def, &error) != DS_OK) {
        const char *advice = strstr(error.message, "try a cell of ");
        if (!advice) continue;
        given++;
        def.cell = strtod(advice + strlen("try a cell of "), NULL);
        ds_error again = {""};
        CHECK(def.cell < coarse);
        CHECK(ds_tets_stuff(&tets, &m, &def, &again) == DS_OK);
        if (again.message[0]) printf("     %s: %s\n     then: %s\n", names[i], error.message, again.message);
      }
      ds_tets_free(&tets);
    }
    ds_mesh_free(&m);
  }
  printf("     %d times advice, each of which held\n", given);
  CHECK(given > 5);
}

static void bad_input(void) {
  ds_mesh m = mesh_box(v3(0, 0, 0), v3(1, 1, 1));
  ds_stuffing_def def = ds_default_stuffing();
  def.cell = -1;
  refuse(&m, def, "cell = -1");
  def.cell = NAN;
  refuse(&m, def, "cell = ");
  def = ds_default_stuffing();
  def.wanted = 0;
  refuse(&m, def, "wanted = 0");
  def = ds_default_stuffing();
  def.threads = -2;
  refuse(&m, def, "threads = -2");
  def = ds_default_stuffing();
  def.cell = 1e-4;
  refuse(&m, def, "too fine");
  def.cell = 1e-300;
  refuse(&m, def, "too fine");
  def.cell = 0.5;
  mesh_flip(&m);
  refuse(&m, def, "inverted");
  mesh_flip(&m);
  m.triangle_count--;
  refuse(&m, def, "open");
  m.triangle_count++;
  m = mesh_join(m, mesh_box(v3(2, 0, 0), v3(3, 1, 1)));
  refuse(&m, def, "encloses 2 separate bodies");
  ds_mesh_free(&m);
}

/* Told in order, from 0 to 1. */
static void note_progress(void *user, const char *what, double share) {
  double *last = user;
  CHECK(what != NULL && share >= *last && share <= 1);
  *last = share;
}

static void progress(void) {
  ds_mesh m = mesh_box(v3(0, 0, 0), v3(1, 1, 1));
  ds_stuffing_def def = ds_default_stuffing();
  ds_error error = {""};
  ds_tets tets;
  double last = 0;
  def.progress = note_progress;
  def.user = &last;
  CHECK(ds_tets_stuff(&tets, &m, &def, &error) == DS_OK);
  CHECK_NEAR(last, 1, 0);
  ds_tets_free(&tets);
  ds_mesh_free(&m);
}

int main(void) {
  RUN(stencils);
  RUN(stencil_volumes);
  RUN(box_is_exact);
  RUN(volumes_converge);
  RUN(surface_is_met);
  RUN(figures);
  RUN(wanted);
  RUN(cavity);
  RUN_THREADS(threads);
  RUN(thin_parts);
  RUN(advice_holds);
  RUN(bad_input);
  RUN(progress);
  return test_summary();
}
