/* The tree of spheres over a deformable's surface: no vertex is ever outside the spheres that hold it, however the body
 * is deformed; spheres are not much larger than they must be while the deformation is small; and the neighbours of
 * half-edges are right. */
#include "hand_reduced.h"

#include <time.h>

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Largest distance of a corner below a sphere from the sphere's centre, over its radius. */
static double worst_of(const ds_reduced *x, const double *q, int32_t sphere) {
  const ds_bd_sphere *s = &x->tree.spheres[sphere];
  ds_vec3 c;
  double radius = ds_bd_sphere_at(&c, x, q, sphere), far = 0;
  for (int32_t i = s->first; i < s->first + s->count; i++)
    for (int k = 0; k < 3; k++) {
      int32_t v = x->surface.triangles[3 * x->tree.triangle[i] + k];
      far = fmax(far, v3_dist(c, ds_reduced_vertex(x, q, v)));
    }
  return far / radius;
}

static void random_q(double *q, int32_t r, double size) {
  for (int32_t a = 0; a < r; a++) q[a] = size * uniform(-1, 1);
}

static double worst_of_all(const ds_reduced *x, const double *q) {
  double worst = 0;
  for (int32_t i = 0; i < x->tree.sphere_count; i++) worst = fmax(worst, worst_of(x, q, i));
  return worst;
}

/* However large q is: the triangle inequality knows no small deformations. */
static void test_bounds(void) {
  static const double sizes[7] = {0, 1e-6, 1e-3, 0.1, 3, 1e4, 1e9};
  ds_reduced *bodies[3] = {hand_box(v3(1, 0.2, 0.3), 20, 6, 6, 10), hand_ball(0.1, 8, 24),
                           hand_horseshoe((hand_shoe){1, 0.1, 2.5, 3.1}, 40, 3)};
  double q[DS_REDUCED_MAX];
  for (int b = 0; b < 3; b++) {
    for (int i = 0; i < 7; i++)
      for (int k = 0; k < 20; k++) {
        random_q(q, bodies[b]->r, sizes[i]);
        if (k % 4 == 3) /* one coordinate alone */
          for (int32_t a = 0; a < bodies[b]->r; a++) q[a] = a == k % bodies[b]->r ? sizes[i] : 0;
        CHECK_LE(worst_of_all(bodies[b], q), 1);
      }
    CHECK_LE(worst_of_all(bodies[b], NULL), 1);
    CHECK_LE(0.999, worst_of(bodies[b], NULL, 0)); /* and a sphere that holds all touches something */
    ds_reduced_release(bodies[b]);
  }
}

/* A sphere that is near the least one around the deformed points, by the same steps as the tree's but more of them. */
static double exact_radius(const ds_reduced *x, const double *q, int32_t sphere) {
  const ds_bd_sphere *s = &x->tree.spheres[sphere];
  ds_vec3 c = ds_reduced_vertex(x, q, x->surface.triangles[3 * x->tree.triangle[s->first]]);
  double least = INFINITY;
  for (int round = 1; round <= 300; round++) {
    double far = -1;
    ds_vec3 at = c;
    for (int32_t i = s->first; i < s->first + s->count; i++)
      for (int k = 0; k < 3; k++) {
        ds_vec3 y = ds_reduced_vertex(x, q, x->surface.triangles[3 * x->tree.triangle[i] + k]);
        if (v3_dist(c, y) > far) far = v3_dist(c, y), at = y;
      }
    least = fmin(least, far);
    c = v3_mad(c, 1.0 / (round + 1), v3_sub(at, c));
  }
  return least;
}

/* Mean of radius over that of the least ball around the deformed points. */
static double looseness(const ds_reduced *x, const double *q) {
  double sum = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < x->tree.sphere_count; i += 7, n++) {
    ds_vec3 c;
    sum += ds_bd_sphere_at(&c, x, q, i) / exact_radius(x, q, i);
  }
  return sum / n;
}

/* For deformations of 1, 5 and 20 per cent of the body's half length. */
static void test_looseness(void) {
  static const double sizes[4] = {0, 0.01, 0.05, 0.2}, most[4] = {1.02, 1.1, 1.4, 2.6};
  ds_reduced *x = hand_box(v3(1, 0.2, 0.3), 20, 6, 6, 10);
  double q[DS_REDUCED_MAX];
  for (int i = 0; i < 4; i++) {
    double sum = 0;
    for (int k = 0; k < 5; k++) {
      random_q(q, x->r, sizes[i]);
      sum += looseness(x, q) / 5;
    }
    printf("     q up to %.2f of the half length: spheres are %.3f times the least ones\n", sizes[i], sum);
    CHECK_LE(sum, most[i]);
    CHECK_LE(0.999, sum);
  }
  ds_reduced_release(x);
}

/* Every triangle is in one leaf, children share out what their parent has, and a leaf knows its triangles. */
static void test_structure(void) {
  ds_reduced *x = hand_box(v3(0.5, 0.2, 0.1), 9, 7, 3, 4);
  const ds_bd_tree *tree = &x->tree;
  int32_t in_leaves = 0, wrong = 0, bad_twins = 0, bad_corners = 0;
  for (int32_t i = 0; i < tree->sphere_count; i++) {
    const ds_bd_sphere *s = &tree->spheres[i];
    if (s->child == 0) {
      in_leaves += s->count;
      for (int32_t k = s->first; k < s->first + s->count; k++) wrong += tree->leaf_of[tree->triangle[k]] != i;
    } else {
      const ds_bd_sphere *a = &tree->spheres[s->child], *b = &tree->spheres[s->child + 1];
      wrong += a->first != s->first || b->first != s->first + a->count || a->count + b->count != s->count;
    }
  }
  CHECK_NEAR(in_leaves, x->surface.triangle_count, 0);
  CHECK_NEAR(wrong, 0, 0);
  for (int32_t h = 0; h < 3 * x->surface.triangle_count; h++) {
    int32_t t = tree->twin[h], n = h % 3 == 2 ? h - 2 : h + 1, m = t % 3 == 2 ? t - 2 : t + 1;
    const int32_t *v = x->surface.triangles;
    bad_twins += tree->twin[t] != h || v[h] != v[m] || v[n] != v[t];
  }
  for (int32_t v = 0; v < x->surface.vertex_count; v++) bad_corners += x->surface.triangles[tree->corner[v]] != v;
  CHECK_NEAR(bad_twins, 0, 0);
  CHECK_NEAR(bad_corners, 0, 0);
  CHECK_NEAR(tree->thickness, 2 * 0.08 / 1.36, 1e-12);
  ds_reduced_release(x);
}

/* A surface that is not closed, or of nothing, is refused with a reason. */
static void test_refused(void) {
  ds_error error = {""};
  ds_reduced *x = hand_box(v3(0.5, 0.2, 0.1), 3, 3, 3, 2);
  int32_t count = x->surface.triangle_count;
  x->surface.triangle_count = count - 1;
  CHECK(ds_bd_tree_build(x, &error) == DS_ERROR_INPUT);
  printf("     %s\n", error.message);
  CHECK(x->tree.spheres == NULL);
  x->surface.triangle_count = 3;
  CHECK(ds_bd_tree_build(x, &error) == DS_ERROR_INPUT);
  printf("     %s\n", error.message);
  x->surface.triangle_count = count;
  CHECK(ds_bd_tree_build(x, &error) == DS_OK);
  ds_reduced_release(x);
}

/* The same surface gives the same tree, to the last bit. */
static void test_same_again(void) {
  ds_reduced *a = hand_ball(0.2, 6, 5), *b = hand_ball(0.2, 6, 5);
  double q[5], difference = 0;
  random_q(q, 5, 0.3);
  CHECK(a->tree.sphere_count == b->tree.sphere_count);
  for (int32_t i = 0; i < a->tree.sphere_count; i++) {
    ds_vec3 ca, cb;
    difference += fabs(ds_bd_sphere_at(&ca, a, q, i) - ds_bd_sphere_at(&cb, b, q, i)) + v3_dist(ca, cb);
  }
  CHECK_NEAR(difference, 0, 0);
  ds_reduced_release(a);
  ds_reduced_release(b);
}

static void test_time(void) {
  double start = seconds();
  ds_reduced *x = hand_box(v3(1, 0.2, 0.3), 50, 20, 20, 32);
  printf("     %d triangles, r = 32: %d spheres in %.2f s, %.1f MB\n", x->surface.triangle_count, x->tree.sphere_count,
         seconds() - start, (double)x->info.bytes * 1e-6);
  ds_reduced_release(x);
}

int main(void) {
  RUN(test_bounds);
  RUN(test_looseness);
  RUN(test_structure);
  RUN(test_refused);
  RUN(test_same_again);
  RUN(test_time);
  return test_summary();
}
