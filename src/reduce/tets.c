/* Tetrahedra as data: whether they can be simulated, and how good they are.
 *
 * With corners x0 .. x3 and edges e_i = x_i - x_0, six times the volume is the determinant (e1 x e2)'e3. The dihedral
 * angle at edge ab between the faces that hold c and d is the angle between n1 = (b - a) x (c - a) and n2 = (b - a) x
 * (d - a), from atan2(|n1 x n2|, n1'n2), which is exact for small and large angles alike. Quality is 6 sqrt(2) V / l³
 * with l the root mean square of the edges: 1 for a regular tetrahedron, 0 for a flat one [Parthasarathy, Graichen and
 * Hathaway 1994]. */
#include "reduce/tets.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/sets.h"
#include "mesh/mesh.h"

/* A tetrahedron is flat where six times its volume is below this part of its longest edge cubed, or below the rounding
 * of its coordinates: no step of a simulation would survive it. */
static const double flat_limit = 1e-12, rounding = 1e-15;

void ds_tets_free(ds_tets *tets) {
  if (!tets) return;
  free(tets->nodes);
  free(tets->tets);
  *tets = (ds_tets){0};
}

/* ---- form ---- */

int ds_tets_exponent(const ds_tets *tets) {
  double largest = 0;
  int exponent;
  for (int32_t i = 0; i < tets->node_count; i++) {
    ds_vec3 x = tets->nodes[i];
    largest = fmax(largest, fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))));
  }
  frexp(largest, &exponent);
  return exponent;
}

void ds_tets_corners(ds_vec3 x[4], const ds_tets *tets, int32_t tet, int exponent) {
  for (int k = 0; k < 4; k++) {
    ds_vec3 y = tets->nodes[tets->tets[4 * (int64_t)tet + k]];
    x[k] = v3(ldexp(y.x, -exponent), ldexp(y.y, -exponent), ldexp(y.z, -exponent));
  }
}

static double six_volume(const ds_vec3 x[4]) {
  return v3_dot(v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0])), v3_sub(x[3], x[0]));
}

static const int edge_ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static void edge_lengths(double lengths[6], const ds_vec3 x[4]) {
  for (int e = 0; e < 6; e++) lengths[e] = v3_dist(x[edge_ends[e][0]], x[edge_ends[e][1]]);
}

int ds_tet_sign(const ds_vec3 x[4]) {
  double lengths[6], longest = 0, volume = six_volume(x);
  edge_lengths(lengths, x);
  for (int e = 0; e < 6; e++) longest = fmax(longest, lengths[e]);
  if (!(fabs(volume) > longest * longest * fmax(flat_limit * longest, rounding))) return 0;
  return volume > 0 ? 1 : -1;
}

void ds_tet_angles(double angles[6], const ds_vec3 x[4]) {
  static const int others[6][2] = {{2, 3}, {1, 3}, {1, 2}, {0, 3}, {0, 2}, {0, 1}};
  for (int e = 0; e < 6; e++) {
    ds_vec3 a = x[edge_ends[e][0]], along = v3_sub(x[edge_ends[e][1]], a);
    ds_vec3 n1 = v3_cross(along, v3_sub(x[others[e][0]], a)), n2 = v3_cross(along, v3_sub(x[others[e][1]], a));
    angles[e] = atan2(v3_norm(v3_cross(n1, n2)), v3_dot(n1, n2));
  }
}

/* ---- the report ---- */

/* Lengths in units of 2^exponent until the end. */
static void measure(ds_tets_report *r, const ds_tets *tets, int exponent) {
  double volume = 0, quality = 0;
  r->least_angle = r->least_quality = r->least_edge = INFINITY;
  for (int32_t t = 0; t < tets->tet_count; t++) {
    double lengths[6], angles[6], square = 0;
    ds_vec3 x[4];
    ds_tets_corners(x, tets, t, exponent);
    edge_lengths(lengths, x);
    ds_tet_angles(angles, x);
    for (int e = 0; e < 6; e++) {
      int bin = (int)(angles[e] * (18 / DS_PI));
      r->angles[bin < 0 ? 0 : bin > 17 ? 17 : bin]++;
      r->least_angle = fmin(r->least_angle, angles[e]);
      r->greatest_angle = fmax(r->greatest_angle, angles[e]);
      r->least_edge = fmin(r->least_edge, lengths[e]);
      r->greatest_edge = fmax(r->greatest_edge, lengths[e]);
      square += lengths[e] * lengths[e] / 6;
    }
    double six = six_volume(x), q = sqrt(2) * six / (square * sqrt(square));
    volume += six / 6;
    quality += q;
    r->least_quality = fmin(r->least_quality, q);
  }
  r->volume = ldexp(volume, 3 * exponent);
  r->mean_quality = quality / tets->tet_count;
  r->least_edge = ldexp(r->least_edge, exponent);
  r->greatest_edge = ldexp(r->greatest_edge, exponent);
}

/* ---- what cannot be simulated ---- */

static ds_status check_numbers(const ds_tets *tets, ds_error *error) {
  if (tets->tet_count < 1 || tets->node_count < 4 || !tets->tets || !tets->nodes)
    return ds_fail(error, DS_ERROR_INPUT, "%d tetrahedra of %d nodes; expected at least one, of four nodes",
                   tets->tet_count, tets->node_count);
  if (tets->tet_count > DS_MESH_ELEMENTS_MAX || tets->node_count > DS_MESH_ELEMENTS_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "%d tetrahedra of %d nodes; expected at most %d", tets->tet_count,
                   tets->node_count, DS_MESH_ELEMENTS_MAX);
  for (int32_t i = 0; i < tets->node_count; i++)
    if (!v3_finite(tets->nodes[i]))
      return ds_fail(error, DS_ERROR_INPUT, "node %d is at %g %g %g; expected finite coordinates", i, tets->nodes[i].x,
                     tets->nodes[i].y, tets->nodes[i].z);
  for (int64_t k = 0; k < 4 * (int64_t)tets->tet_count; k++)
    if (tets->tets[k] < 0 || tets->tets[k] >= tets->node_count)
      return ds_fail(error, DS_ERROR_INPUT, "tetrahedron %lld has the node %d; expected 0 to %d", (long long)(k / 4),
                     tets->tets[k], tets->node_count - 1);
  return DS_OK;
}

static ds_status check_signs(const ds_tets *tets, int exponent, ds_error *error) {
  for (int32_t t = 0; t < tets->tet_count; t++) {
    ds_vec3 x[4], middle = {0, 0, 0};
    ds_tets_corners(x, tets, t, exponent);
    int sign = ds_tet_sign(x);
    if (sign > 0) continue;
    for (int k = 0; k < 4; k++) middle = v3_mad(middle, 0.25, tets->nodes[tets->tets[4 * (int64_t)t + k]]);
    return ds_fail(error, DS_ERROR_INPUT,
                   "tetrahedron %d, near %g %g %g m, is %s; expected all with the fourth corner on the side from which "
                   "the first three run counter-clockwise",
                   t, middle.x, middle.y, middle.z, sign < 0 ? "inverted" : "flat");
  }
  return DS_OK;
}

ds_status ds_tets_pair(int32_t *twin, const ds_tets *tets, ds_error *error) {
  ds_tet_fault fault;
  int32_t corner[3];
  if (!ds_tet_faces_pair(twin, &fault, tets->tets, tets->tet_count))
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while pairing the faces of %d tetrahedra", tets->tet_count);
  if (fault.face < 0) return DS_OK;
  ds_tet_face(corner, tets->tets, fault.face);
  return ds_fail(error, DS_ERROR_INPUT,
                 "tetrahedron %d has a face, of nodes %d, %d and %d, that %s; expected at most two tetrahedra at a "
                 "face, one on each side",
                 fault.face / 4, corner[0], corner[1], corner[2], fault.what);
}

/* One piece that hangs together over faces, of which every node is a part. */
static ds_status check_parts(ds_tets_report *report, int32_t *set, const ds_tets *tets, const int32_t *twin,
                             ds_error *error) {
  int32_t apart = -1;
  ds_sets_single(set, tets->tet_count);
  for (int32_t f = 0; f < 4 * tets->tet_count; f++)
    if (twin[f] >= 0) ds_sets_join(set, f / 4, twin[f] / 4);
  report->parts = 0;
  for (int32_t t = 0; t < tets->tet_count; t++) {
    if (ds_sets_root(set, t) != t) continue;
    if (report->parts++ == 1) apart = t;
  }
  if (report->parts == 1) return DS_OK;
  ds_vec3 x = tets->nodes[tets->tets[4 * (int64_t)apart]];
  return ds_fail(error, DS_ERROR_INPUT,
                 "%d parts that are not connected by faces (the second has tetrahedron %d, near %g %g %g m); "
                 "expected one body",
                 report->parts, apart, x.x, x.y, x.z);
}

static ds_status check_nodes(bool *used, const ds_tets *tets, ds_error *error) {
  for (int32_t i = 0; i < tets->node_count; i++) used[i] = false;
  for (int64_t k = 0; k < 4 * (int64_t)tets->tet_count; k++) used[tets->tets[k]] = true;
  for (int32_t i = 0; i < tets->node_count; i++)
    if (!used[i])
      return ds_fail(error, DS_ERROR_INPUT, "node %d belongs to no tetrahedron; expected none such: it has no mass", i);
  return DS_OK;
}

static ds_status check_joints(ds_tets_report *report, const ds_tets *tets, ds_error *error) {
  int32_t *twin = malloc(4 * (size_t)tets->tet_count * sizeof *twin);
  int32_t *set = malloc((size_t)tets->tet_count * sizeof *set);
  bool *used = malloc((size_t)tets->node_count * sizeof *used);
  ds_status status = DS_ERROR_MEMORY;
  if (!twin || !set || !used)
    ds_fail(error, status, "memory ran out while checking %d tetrahedra", tets->tet_count);
  else
    status = ds_tets_pair(twin, tets, error);
  if (status == DS_OK) status = check_parts(report, set, tets, twin, error);
  if (status == DS_OK) status = check_nodes(used, tets, error);
  free(twin);
  free(set);
  free(used);
  return status;
}

ds_status ds_tets_check(ds_tets_report *report, const ds_tets *tets, ds_error *error) {
  ds_mesh surface;
  *report = (ds_tets_report){0};
  ds_status status = check_numbers(tets, error);
  if (status != DS_OK) return status;
  int exponent = ds_tets_exponent(tets);
  status = check_signs(tets, exponent, error);
  if (status != DS_OK) return status;
  measure(report, tets, exponent);
  status = check_joints(report, tets, error);
  if (status == DS_OK) status = ds_tets_surface(&surface, NULL, tets, error);
  if (status != DS_OK) return status;
  report->surface_triangles = surface.triangle_count;
  report->surface_nodes = surface.vertex_count;
  ds_mesh_free(&surface);
  return DS_OK;
}
