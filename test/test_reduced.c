/* Reduced bodies: the basis is what reduced.h says, inertia is that of the moving nodes, frames do not matter, threads
 * and the cache change nothing, and what cannot be built is refused. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "fem_helper.h"
#include "random_pose.h"

static ds_reduced *create(const ds_tets *tets, ds_reduced_def def) {
  ds_error error = {""};
  ds_reduced *x = ds_reduced_create(tets, &def, &error);
  if (!x) printf("%s\n", error.message);
  CHECK(x != NULL);
  if (!x) abort();
  return x;
}

/* A box that is none: sheared, shaken, away from the origin and turned. */
static ds_tets crooked(ds_pose pose) {
  ds_tets t = tets_box(v3(0.5, 0.3, 0.2), 5, 3, 2);
  tets_shake(&t, 0.1, 0.15);
  for (int32_t i = 0; i < t.node_count; i++) {
    t.nodes[i].x += 0.3 * t.nodes[i].y;
    t.nodes[i] = pose_point(pose, t.nodes[i]);
  }
  return t;
}

static ds_reduced_def def_of(int32_t modes, bool stvk) {
  ds_reduced_def def = ds_default_reduced();
  def.modes = modes;
  def.stvk = stvk;
  def.threads = 1;
  return def;
}

static ds_fem fem_of(const ds_reduced *x) {
  ds_fem fem;
  ds_error error;
  if (ds_fem_create(&fem, &x->tets, x->info.young, x->info.poisson, x->info.density, &error) != DS_OK) abort();
  return fem;
}

/* sum_ab M_ab u_a . v_b */
static double mass_product(const ds_fem *fem, const double *u, const double *v) {
  int32_t n = ds_fem_dimension(fem);
  double *image = need((size_t)n, sizeof *image), sum = 0;
  ds_fem_times_mass(image, fem, v);
  for (int32_t i = 0; i < n; i++) sum += u[i] * image[i];
  free(image);
  return sum;
}

static void column_of(double *u, const ds_reduced *x, int32_t a) {
  for (int64_t i = 0; i < 3 * (int64_t)x->tets.node_count; i++) u[i] = x->node_basis[i * x->r + a];
}

/* ∫ rho UᵀU = 1, ∫ rho U = 0, ∫ rho X x U = 0; centre and axes are principal. */
static void check_basis(const ds_reduced *x) {
  ds_fem fem = fem_of(x);
  int32_t n = ds_fem_dimension(&fem);
  double *u = need((size_t)n, sizeof *u), *v = need((size_t)n, sizeof *v), orthonormal = 0, rigid = 0, axes = 0;
  for (int32_t a = 0; a < x->r; a++) {
    column_of(u, x, a);
    for (int32_t b = 0; b <= a; b++) {
      column_of(v, x, b);
      orthonormal = fmax(orthonormal, fabs(mass_product(&fem, u, v) - (a == b)));
    }
    for (int k = 0; k < 6; k++) { /* of unit length themselves */
      double size = sqrt(k < 3 ? x->mass : (&x->inertia.x)[k - 3]);
      for (int32_t i = 0; i < n / 3; i++) {
        ds_vec3 e = v3(k % 3 == 0, k % 3 == 1, k % 3 == 2), d = k < 3 ? e : v3_cross(e, x->tets.nodes[i]);
        v[3 * i] = d.x, v[3 * i + 1] = d.y, v[3 * i + 2] = d.z;
      }
      rigid = fmax(rigid, fabs(mass_product(&fem, u, v)) / size);
      if (a == 0) CHECK_NEAR(mass_product(&fem, v, v), size * size, 1e-12 * size * size);
    }
  }
  ds_mat3 j;
  double zero[DS_REDUCED_MAX] = {0};
  ds_reduced_inertia(&j, x, zero);
  for (int k = 0; k < 9; k++) axes = fmax(axes, fabs(j.m[k] - (k % 4 == 0 ? (&x->inertia.x)[k / 4] : 0)));
  CHECK_LE(orthonormal, 1e-10);
  CHECK_LE(rigid, 1e-10);
  CHECK_LE(axes, 1e-12 * (j.m[0] + j.m[4] + j.m[8]));
  for (int32_t i = 0; i < x->surface.vertex_count; i++) {
    CHECK(v3_dist(x->surface.vertices[i], x->tets.nodes[x->surface_node[i]]) == 0);
    CHECK(memcmp(x->basis + 3 * (int64_t)i * x->r, x->node_basis + 3 * (int64_t)x->surface_node[i] * x->r,
                 3 * (size_t)x->r * sizeof(double)) == 0);
  }
  ds_fem_free(&fem);
  free(u), free(v);
}

/* Kinetic energy of the nodes, each moving with c' + w x y + U q', against the blocks of the mass matrix. */
static void check_kinetic(const ds_reduced *x, double size) {
  ds_fem fem = fem_of(x);
  int32_t r = x->r, n = ds_fem_dimension(&fem);
  double *v = need((size_t)n, sizeof *v), q[DS_REDUCED_MAX], rate[DS_REDUCED_MAX], c[3 * DS_REDUCED_MAX];
  ds_vec3 move = random_vec(1), w = random_vec(5);
  for (int32_t a = 0; a < r; a++) q[a] = uniform(-size, size), rate[a] = uniform(-1, 1);
  for (int32_t i = 0; i < n / 3; i++) {
    double y[3] = {0}, d[3] = {0};
    for (int k = 0; k < 3; k++)
      for (int32_t a = 0; a < r; a++) {
        double u = x->node_basis[(int64_t)(3 * i + k) * r + a];
        y[k] += u * q[a], d[k] += u * rate[a];
      }
    ds_vec3 at = v3_add(x->tets.nodes[i], v3(y[0], y[1], y[2]));
    ds_vec3 speed = v3_add(v3_add(move, v3_cross(w, at)), v3(d[0], d[1], d[2]));
    v[3 * i] = speed.x, v[3 * i + 1] = speed.y, v[3 * i + 2] = speed.z;
  }
  double want = mass_product(&fem, v, v) / 2, got = x->mass * v3_norm2(move) / 2;
  ds_mat3 j;
  ds_reduced_inertia(&j, x, q);
  ds_reduced_coupling(c, x, q);
  got += v3_dot(w, mat3_mul_v3(&j, w)) / 2;
  for (int32_t a = 0; a < r; a++)
    got += rate[a] * rate[a] / 2 + rate[a] * (w.x * c[a] + w.y * c[r + a] + w.z * c[2 * r + a]);
  CHECK_NEAR(got, want, 1e-10 * want);
  /* J is quadratic in q: differences across are exact */
  double g[DS_REDUCED_MAX], h = size / 3, worst = 0, largest = 0;
  ds_reduced_inertia_gradient(g, x, q, w);
  for (int32_t a = 0; a < r; a++) {
    ds_mat3 up, down;
    q[a] += h;
    ds_reduced_inertia(&up, x, q);
    q[a] -= 2 * h;
    ds_reduced_inertia(&down, x, q);
    q[a] += h;
    double slope = (v3_dot(w, mat3_mul_v3(&up, w)) - v3_dot(w, mat3_mul_v3(&down, w))) / (4 * h);
    worst = fmax(worst, fabs(slope - g[a]));
    largest = fmax(largest, fabs(g[a]));
    for (int32_t b = 0; b < r; b++)
      for (int k = 0; k < 3; k++) CHECK(x->coupling[3 * (a * r + b) + k] == -x->coupling[3 * (b * r + a) + k]);
  }
  CHECK_LE(worst, 1e-9 * largest);
  ds_fem_free(&fem);
  free(v);
}

static void basis_and_inertia(void) {
  for (int stvk = 0; stvk < 2; stvk++) {
    ds_tets tets = crooked(random_pose(2));
    ds_reduced *x = create(&tets, def_of(12, stvk));
    check_basis(x);
    for (double size = 1e-3; size < 20; size *= 10) check_kinetic(x, size);
    ds_reduced_info i = ds_reduced_get_info(x);
    CHECK(i.modes == 12 && i.stvk == stvk && i.linear_modes == (stvk ? 6 : 12));
    CHECK(i.nodes == tets.node_count && i.tets == tets.tet_count && i.spheres > 0 && i.bytes > 0 && !i.from_cache);
    CHECK_LE(i.mass_error, 1e-12);
    CHECK_LE(i.orthogonality, 1e-12);
    CHECK_NEAR(i.mass, 0.5 * 0.3 * 0.2 * 1000, 0.2 * i.mass); /* about: it was shaken */
    for (int32_t a = 0; a < i.linear_modes; a++) {
      double k = x->stiffness[a * 13], f = 4 * DS_PI * DS_PI * i.frequency[a] * i.frequency[a];
      if (!stvk) CHECK_NEAR(k, f, 1e-12 * f);
      if (stvk) CHECK(k > (1 - 1e-9) * f); /* on a subspace eigenvalues are not below */
    }
    ds_reduced_release(x);
    tets_drop(&tets);
  }
}

/* The same mesh elsewhere is the same body; shapes come back in the mesh's own frame. */
static void frames(void) {
  ds_pose pose = random_pose(3);
  ds_tets here = crooked(pose_identity()), there = crooked(pose);
  ds_reduced *a = create(&here, def_of(8, true)), *b = create(&there, def_of(8, true));
  ds_vec3 *x = need((size_t)a->surface.vertex_count, sizeof *x), *y = need((size_t)a->surface.vertex_count, sizeof *y);
  double q[8], worst = 0, rest = 0;
  for (int32_t i = 0; i < 8; i++) {
    q[i] = uniform(-1, 1);
    CHECK_NEAR(a->stiffness[9 * i], b->stiffness[9 * i], 1e-8 * a->stiffness[9 * i]);
  }
  CHECK_NEAR(v3_dist(a->inertia, b->inertia), 0, 1e-12);
  CHECK_NEAR(v3_norm(pose_unpoint(a->frame, v3(0, 0, 0))), v3_norm(v3_sub(pose_unpoint(b->frame, v3(0, 0, 0)), pose.p)),
             1e-12);
  ds_reduced_shape(x, a, NULL);
  for (int32_t i = 0; i < a->surface.vertex_count; i++)
    rest = fmax(rest, v3_dist(x[i], here.nodes[a->surface_node[i]]));
  CHECK_LE(rest, 1e-14);
  ds_reduced_shape(x, a, q);
  ds_reduced_shape(y, b, q);
  for (int32_t i = 0; i < a->surface.vertex_count; i++) worst = fmax(worst, v3_dist(pose_point(pose, x[i]), y[i]));
  CHECK_LE(worst, 1e-6); /* axes may be turned half around: signs of modes follow the largest entry */
  ds_vec3 low = here.nodes[0], high = low;
  for (int32_t i = 0; i < here.node_count; i++) low = v3_min(low, here.nodes[i]), high = v3_max(high, here.nodes[i]);
  CHECK_LE(v3_dist(low, a->info.low) + v3_dist(high, a->info.high), 1e-14);
  CHECK(ds_reduced_triangles(a) == a->surface.triangles);
  free(x), free(y);
  ds_reduced_release(a);
  ds_reduced_release(b);
  tets_drop(&here);
  tets_drop(&there);
}

static bool same(const void *a, const void *b, int64_t count, size_t size) {
  return memcmp(a, b, (size_t)count * size) == 0;
}

static bool same_reduced(const ds_reduced *a, const ds_reduced *b) {
  int64_t r = a->r, n = a->tets.node_count, v = a->surface.vertex_count, pairs = r * (r + 1) / 2;
  size_t d = sizeof(double);
  return a->r == b->r && n == b->tets.node_count && v == b->surface.vertex_count &&
         a->info.linear_modes == b->info.linear_modes && a->info.spheres == b->info.spheres &&
         same(&a->frame, &b->frame, 1, sizeof a->frame) && a->mass == b->mass && same(&a->inertia, &b->inertia, 3, d) &&
         same(a->frequency, b->frequency, a->info.linear_modes, d) && same(a->tets.nodes, b->tets.nodes, 3 * n, d) &&
         same(a->tets.tets, b->tets.tets, a->tets.tet_count, 16) && same(a->node_basis, b->node_basis, 3 * n * r, d) &&
         same(a->surface.vertices, b->surface.vertices, 3 * v, d) &&
         same(a->surface.triangles, b->surface.triangles, a->surface.triangle_count, 12) &&
         same(a->surface_node, b->surface_node, v, 4) && same(a->basis, b->basis, 3 * v * r, d) &&
         same(a->second0, b->second0, 6, d) && same(a->second1, b->second1, 6 * r, d) &&
         same(a->second2, b->second2, 6 * pairs, d) && same(a->coupling, b->coupling, 3 * r * r, d) &&
         same(a->stiffness, b->stiffness, r * r, d) && !a->quadratic == !b->quadratic &&
         (!a->quadratic ||
          (same(a->quadratic, b->quadratic, r * pairs, d) && same(a->cubic, b->cubic, r * (pairs * (r + 2) / 3), d)));
}

static void threads(void) {
  ds_tets tets = crooked(pose_identity());
  for (int stvk = 0; stvk < 2; stvk++) {
    ds_reduced_def def = def_of(9, stvk);
    ds_reduced *one = create(&tets, def);
    for (def.threads = 2; def.threads <= 5; def.threads += 3) {
      ds_reduced *many = create(&tets, def);
      CHECK(same_reduced(one, many));
      ds_reduced_release(many);
    }
    ds_reduced_release(one);
  }
  tets_drop(&tets);
}

/* A mesh with few nodes: as many modes as there are, and a basis that needs more than the usual linear modes. */
static void few_nodes(void) {
  ds_tets tets = tets_box(v3(1, 0.8, 0.7), 1, 1, 1);
  for (int stvk = 0; stvk < 2; stvk++) {
    ds_reduced *x = create(&tets, def_of(18, stvk));
    check_basis(x);
    check_kinetic(x, 1);
    ds_reduced_release(x);
  }
  tets_drop(&tets);
}

/* ---- what is refused ---- */

static void check_refused(const ds_tets *tets, ds_reduced_def def, const char *word) {
  ds_error error = {""};
  ds_reduced *x = ds_reduced_create(tets, &def, &error);
  if (x || !strstr(error.message, word)) printf("'%s' not in '%s'\n", word, error.message);
  CHECK(!x && strstr(error.message, word));
  ds_reduced_release(x);
}

static void refused(void) {
  ds_tets tets = tets_box(v3(1, 1, 1), 2, 1, 1);
  ds_reduced_def good = def_of(4, false), def;
  const double bad[4] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    def = good, def.young = bad[i];
    check_refused(&tets, def, "young");
    def = good, def.density = bad[i];
    check_refused(&tets, def, "density");
    if (i == 0) continue;
    def = good, def.damping_mass = bad[i];
    check_refused(&tets, def, "damping_mass");
    def = good, def.damping_stiffness = bad[i];
    check_refused(&tets, def, "damping_stiffness");
  }
  const double poisson[4] = {0.5, -1, NAN, 2};
  for (int i = 0; i < 4; i++) {
    def = good, def.poisson = poisson[i];
    check_refused(&tets, def, "poisson");
  }
  def = good, def.modes = 0;
  check_refused(&tets, def, "expected 1 to 128");
  def.modes = 129;
  check_refused(&tets, def, "expected 1 to 128");
  def.modes = 31;
  check_refused(&tets, def, "at most 30");
  def = good, def.threads = -1;
  check_refused(&tets, def, "threads");
  /* meshes */
  ds_tets other = tets;
  other.tet_count = 0;
  check_refused(&other, good, "empty");
  int32_t keep = tets.tets[0];
  tets.tets[0] = 99;
  check_refused(&tets, good, "99");
  tets.tets[0] = tets.tets[1], tets.tets[1] = keep;
  check_refused(&tets, good, "inverted");
  tets.tets[1] = tets.tets[0], tets.tets[0] = keep;
  ds_vec3 place = tets.nodes[3];
  tets.nodes[3].y = NAN;
  check_refused(&tets, good, "finite");
  tets.nodes[3] = place;
  other = tets;
  other.nodes = need((size_t)tets.node_count + 1, sizeof *other.nodes);
  memcpy(other.nodes, tets.nodes, (size_t)tets.node_count * sizeof *other.nodes);
  other.node_count++;
  check_refused(&other, good, "node 12");
  free(other.nodes);
  tets_drop(&tets);
}

/* What a file might hold: numbers that are none, indices out of range. */
static void unsound(void) {
  ds_tets tets = tets_box(v3(1, 1, 1), 2, 1, 1);
  ds_reduced *x = create(&tets, def_of(4, true));
  ds_error error;
  double *numbers[] = {&x->mass,
                       &x->inertia.y,
                       &x->frame.q.x,
                       x->frequency,
                       &x->tets.nodes[3].z,
                       x->node_basis + 7,
                       &x->surface.vertices[1].x,
                       x->basis + 5,
                       x->second0 + 2,
                       x->second1 + 3,
                       x->second2 + 9,
                       x->coupling + 8,
                       x->stiffness + 5,
                       x->quadratic + 3,
                       x->cubic + 11,
                       &x->info.young,
                       &x->info.damping_mass};
  int32_t *indices[] = {x->tets.tets + 3, x->surface.triangles + 5, x->surface_node + 1, &x->info.linear_modes};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    double keep = *numbers[i];
    *numbers[i] = NAN;
    CHECK(ds_reduced_finish(x, &error) == DS_ERROR_INPUT);
    *numbers[i] = keep;
  }
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
    for (int32_t wrong = -1; wrong < 1000; wrong += 1000) {
      int32_t keep = *indices[i];
      *indices[i] = wrong;
      CHECK(ds_reduced_finish(x, &error) == DS_ERROR_INPUT);
      *indices[i] = keep;
    }
  ds_reduced_release(x);
  CHECK(!ds_reduced_alloc(0, 4, 1, 4, 4, false) && !ds_reduced_alloc(129, 4, 1, 4, 4, false));
  CHECK(!ds_reduced_alloc(3, -1, 1, 4, 4, false));
  tets_drop(&tets);
}

/* ---- owners, names, progress ---- */

typedef struct told {
  int32_t count;
  double last;
  bool back;
} told;

static void hear(void *user, const char *what, double share) {
  told *t = user;
  if (share < t->last || share > 1 || !what[0]) t->back = true;
  t->last = share;
  t->count++;
}

static void owners(void) {
  ds_tets tets = tets_box(v3(1, 1, 1), 3, 3, 3);
  told t = {0};
  ds_reduced_def def = def_of(6, true);
  def.name = "jelly";
  def.progress = hear;
  def.user = &t;
  def.damping_mass = 0.5;
  ds_reduced *x = create(&tets, def);
  CHECK(t.count > 5 && t.last == 1 && !t.back);
  CHECK(strcmp(ds_reduced_name(x), "jelly") == 0 && ds_reduced_get_info(x).damping_mass == 0.5);
  CHECK(ds_reduced_retain(x) == x);
  ds_reduced_release(x);
  CHECK(strcmp(ds_reduced_name(x), "jelly") == 0);
  ds_reduced_release(x);
  ds_reduced_release(NULL);
  x = create(&tets, def_of(6, false));
  CHECK(ds_reduced_name(x)[0] == 0);
  ds_reduced_release(x);
  tets_drop(&tets);
}

/* ---- cache ---- */

static char folder[] = "test_reduced_XXXXXX";

/* How many files there are, and one of them. */
static int32_t find_file(char path[256]) {
  int32_t count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, 256, "%s/%.200s", folder, entry->d_name);
    count++;
  }
  if (dir) closedir(dir);
  return count;
}

/* Changes a byte, or cuts the file there. */
static void damage(const char *path, long at, bool cut) {
  FILE *file = fopen(path, "r+b");
  if (!file || fseek(file, at, SEEK_SET) != 0) abort();
  int byte = fgetc(file);
  if (byte == EOF || fseek(file, at, SEEK_SET) != 0) abort();
  fputc(byte ^ 0x10, file);
  if (fclose(file) != 0 || (cut && truncate(path, at) != 0)) abort();
}

static long length_of(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) abort();
  long length = ftell(file);
  fclose(file);
  return length;
}

static void cache(void) {
  char path[256];
  if (!mkdtemp(folder)) abort();
  ds_tets tets = tets_box(v3(1, 0.8, 0.5), 3, 2, 2);
  ds_reduced_def def = def_of(5, true), other;
  def.cache = folder;
  ds_reduced *first = create(&tets, def);
  CHECK(!first->info.from_cache && find_file(path) == 1);
  def.damping_mass = 3; /* the caller's own: not part of the file */
  def.name = "again";
  ds_reduced *second = create(&tets, def);
  CHECK(second->info.from_cache && same_reduced(first, second) && find_file(path) == 1);
  CHECK(second->info.damping_mass == 3 && strcmp(second->name, "again") == 0 && second->info.young == def.young);
  CHECK(second->info.mass_error == first->info.mass_error && second->info.bytes == first->info.bytes);
  ds_reduced_release(second);
  long length = length_of(path), step = length / (quick() ? 20 : 100);
  for (long at = 0; at < length; at += step)
    for (int cut = 0; cut < 2; cut++) {
      damage(path, at, cut);
      ds_reduced *built = create(&tets, def);
      CHECK(!built->info.from_cache && same_reduced(first, built));
      ds_reduced_release(built);
    }
  for (int i = 0; i < 6; i++) { /* anything else asked for is another file */
    other = def;
    if (i == 0) other.modes = 6;
    if (i == 1) other.young *= 2;
    if (i == 2) other.poisson = 0.2;
    if (i == 3) other.density = 500;
    if (i == 4) other.stvk = false;
    if (i == 5) tets.nodes[0].x -= 0.01;
    ds_reduced *built = create(&tets, other);
    CHECK(!built->info.from_cache && find_file(path) == i + 2);
    ds_reduced_release(built);
  }
  def.cache = "no/such/folder";
  ds_reduced *plain = create(&tets, def);
  CHECK(!plain->info.from_cache);
  ds_reduced_release(plain);
  ds_reduced_release(first);
  tets_drop(&tets);
  while (find_file(path) > 0)
    if (remove(path) != 0) abort();
  if (rmdir(folder) != 0) abort();
}

int main(void) {
  RUN(basis_and_inertia);
  RUN(frames);
  RUN_THREADS(threads);
  RUN(few_nodes);
  RUN(refused);
  RUN(unsound);
  RUN(owners);
  RUN(cache);
  return test_summary();
}
