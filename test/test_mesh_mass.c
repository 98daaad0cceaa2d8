/* Mass properties of meshes: forms whose integrals are known, also moved, turned and with a cavity. */
#include "check.h"
#include "mesh_helper.h"
#include "random_pose.h"

static void check_mass(const ds_mass *m, double mass, ds_vec3 center, const double inertia[9], double tolerance) {
  double size = 0;
  for (int i = 0; i < 9; i++) size = fmax(size, fabs(inertia[i]));
  CHECK_NEAR(m->mass, mass, tolerance * fabs(mass));
  CHECK_NEAR(v3_dist(m->center, center), 0, tolerance * fmax(1, v3_norm(center)));
  for (int i = 0; i < 9; i++) CHECK_NEAR(m->inertia[i], inertia[i], tolerance * size);
}

static void box(void) {
  ds_mesh mesh = mesh_box(v3(-1, -2, -3), v3(3, 0, 2));
  ds_mass m = ds_mesh_mass(&mesh, 10);
  double mass = 10 * 4 * 2 * 5;
  check_mass(&m, mass, v3(1, -1, -0.5),
             (double[9]){mass * (4 + 25) / 12, 0, 0, 0, mass * (16 + 25) / 12, 0, 0, 0, mass * (16 + 4) / 12}, 1e-14);
  mesh_flip(&mesh);
  m = ds_mesh_mass(&mesh, 10);
  CHECK_NEAR(m.mass, -mass, 1e-12);
  ds_mesh_free(&mesh);
}

/* x, y, z >= 0, x + y + z <= 1: integrals of x² are 1/60, of xy 1/120. */
static void tetrahedron(void) {
  ds_mesh mesh = mesh_tetrahedron(v3(0, 0, 0), v3(1, 0, 0), v3(0, 1, 0), v3(0, 0, 1));
  ds_mass m = ds_mesh_mass(&mesh, 1);
  double on = 2.0 / 60 - 2.0 / 6 / 16, off = -1.0 / 120 + 1.0 / 6 / 16;
  check_mass(&m, 1.0 / 6, v3(0.25, 0.25, 0.25), (double[9]){on, off, off, off, on, off, off, off, on}, 1e-14);
  ds_mesh_free(&mesh);
}

/* Any tetrahedron: integral of x xT about the origin = V/20 (sum of v vT + s sT), s = sum of v. */
static void random_tetrahedra(void) {
  for (int trial = 0; trial < 200; trial++) {
    ds_vec3 v[4];
    for (int i = 0; i < 4; i++) v[i] = random_vec(1);
    double volume = v3_dot(v3_cross(v3_sub(v[1], v[0]), v3_sub(v[2], v[0])), v3_sub(v[3], v[0])) / 6;
    if (fabs(volume) < 0.01) continue;
    ds_vec3 s = v3_add(v3_add(v[0], v[1]), v3_add(v[2], v[3])), center = v3_scale(0.25, s);
    double xx[3][3], inertia[9];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        xx[i][j] = 0;
        for (int k = 0; k < 4; k++) { /* about the centre s = 0 */
          ds_vec3 p = v3_sub(v[k], center);
          const double a[3] = {p.x, p.y, p.z};
          xx[i][j] += volume / 20 * a[i] * a[j];
        }
      }
    double trace = xx[0][0] + xx[1][1] + xx[2][2];
    for (int i = 0; i < 9; i++) inertia[i] = (i % 4 == 0 ? trace : 0) - xx[i / 3][i % 3];
    ds_mesh mesh = mesh_tetrahedron(v[0], v[1], v[2], v[3]);
    ds_mass m = ds_mesh_mass(&mesh, 1);
    check_mass(&m, volume, center, inertia, 1e-12);
    ds_mesh_free(&mesh);
  }
}

/* The errors of mass and inertia fall by 4 when the triangles are halved. */
static void sphere(void) {
  double last = 0, r = 0.7, mass = 4 * DS_PI / 3 * r * r * r, moment = 0.4 * mass * r * r;
  for (int32_t n = 8; n <= 64; n *= 2) {
    ds_mesh mesh = mesh_sphere(r, n);
    ds_mass m = ds_mesh_mass(&mesh, 1);
    double error = fmax(fabs(m.mass / mass - 1), fabs(m.inertia[0] / moment - 1));
    if (last > 0) CHECK_NEAR(last / error, 4, 0.2);
    CHECK_NEAR(v3_norm(m.center), 0, 1e-14);
    for (int i = 0; i < 9; i++)
      CHECK_NEAR(m.inertia[i], i % 4 == 0 ? m.inertia[0] : 0, 1e-13); /* the octahedron's symmetry */
    last = error;
    ds_mesh_free(&mesh);
  }
  CHECK_LE(last, 2e-3);
}

static void torus(void) {
  double large = 2, small = 0.5, mass = 2 * DS_PI * DS_PI * large * small * small, last = 0;
  double axis = mass * (large * large + 0.75 * small * small);
  double across = mass * (0.5 * large * large + 0.625 * small * small);
  for (int32_t n = 32; n <= 128; n *= 2) {
    ds_mesh mesh = mesh_torus(large, small, 2 * n, n);
    ds_mass m = ds_mesh_mass(&mesh, 1);
    double error = fmax(fabs(m.mass / mass - 1), fmax(fabs(m.inertia[8] / axis - 1), fabs(m.inertia[0] / across - 1)));
    if (last > 0) CHECK_NEAR(last / error, 4, 0.1);
    last = error;
    ds_mesh_free(&mesh);
  }
  CHECK_LE(last, 1e-3);
}

static void cavity(void) {
  ds_mesh inner = mesh_box(v3(-0.5, -0.5, 0), v3(0.5, 0.5, 1));
  mesh_flip(&inner);
  ds_mesh mesh = mesh_join(mesh_box(v3(-1, -1, -2), v3(1, 1, 2)), inner);
  ds_mass m = ds_mesh_mass(&mesh, 1);
  double z = -0.5 / 15; /* 16 at 0 less 1 at 0.5 */
  double side = 16.0 * (4 + 16) / 12 + 16 * z * z - 1.0 * 2 / 12 - (0.5 - z) * (0.5 - z);
  check_mass(&m, 15, v3(0, 0, z), (double[9]){side, 0, 0, 0, side, 0, 0, 0, 16.0 * 8 / 12 - 2.0 / 12}, 1e-14);
  ds_mesh_free(&mesh);
}

/* Moved and turned, the inertia turns with it, also far away. */
static void moved(void) {
  for (int trial = 0; trial < 100; trial++) {
    double far = pow(10, uniform(-2, 4));
    ds_pose pose = random_pose(far);
    ds_mat3 turn = mat3_from_quat(pose.q);
    ds_mesh mesh = mesh_tetrahedron(v3(0, 0, 0), v3(1, 0, 0), v3(0, 2, 0), v3(0, 0, 3));
    ds_mass before = ds_mesh_mass(&mesh, 3);
    mesh_move(&mesh, pose);
    ds_mass after = ds_mesh_mass(&mesh, 3);
    double inertia[9];
    for (int i = 0; i < 9; i++) {
      inertia[i] = 0;
      for (int k = 0; k < 9; k++)
        inertia[i] += turn.m[3 * (i / 3) + k / 3] * before.inertia[k] * turn.m[3 * (i % 3) + k % 3];
    }
    check_mass(&after, before.mass, pose_point(pose, before.center), inertia, 1e-13 + 2e-15 * far);
    ds_mesh_free(&mesh);
  }
}

static void nothing(void) {
  ds_mesh mesh = {0};
  ds_mass m = ds_mesh_mass(&mesh, 1);
  CHECK(m.mass == 0 && m.inertia[0] == 0 && m.center.x == 0);
  mesh = mesh_tetrahedron(v3(0, 0, 0), v3(1, 0, 0), v3(0, 1, 0), v3(0, 0, 1));
  mesh.triangles[4] = 7; /* left out, never followed */
  m = ds_mesh_mass(&mesh, 1);
  CHECK(isfinite(m.mass));
  ds_mesh_free(&mesh);
}

int main(void) {
  RUN(box);
  RUN(tetrahedron);
  RUN(random_tetrahedra);
  RUN(sphere);
  RUN(torus);
  RUN(cavity);
  RUN(moved);
  RUN(nothing);
  return test_summary();
}
