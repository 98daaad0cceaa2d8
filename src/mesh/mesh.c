/* Triangle meshes as data: merging of equal vertices, OBJ out, mass properties.
 *
 * Mass properties: the volume integrals of 1, x, x², xy, ... become integrals over the surface by the divergence
 * theorem [Mirtich 1996, Fast and accurate computation of polyhedral mass properties], which for a triangle are
 * polynomials of its corners. They are taken about the middle of the bounding box, so that a mesh far from the origin
 * loses nothing. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "la/vec3.h"
#include "mesh/mesh.h"

void ds_mesh_free(ds_mesh *mesh) {
  if (!mesh) return;
  free(mesh->vertices);
  free(mesh->triangles);
  *mesh = (ds_mesh){0};
}

/* ---- merging ---- */

uint32_t ds_mesh_hash(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t h = a * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 29 ^ b) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 32 ^ c) * 0x94d049bb133111ebu;
  return (uint32_t)(h >> 32);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* -0 and 0 are the same place. */
static ds_vec3 plain_zero(ds_vec3 a) { return v3(a.x + 0.0, a.y + 0.0, a.z + 0.0); }

ds_status ds_mesh_merge(ds_mesh *mesh, ds_error *error) {
  int32_t n = mesh->vertex_count, kept = 0;
  size_t slots = 16;
  while (slots < 2 * (size_t)n) slots *= 2;
  int32_t *place = malloc(slots * sizeof *place), *target = malloc(((size_t)n + 1) * sizeof *target);
  if (!place || !target) {
    free(place);
    free(target);
    return ds_fail(error, DS_ERROR_MEMORY, "memory ran out while merging the vertices of a mesh");
  }
  memset(place, 0xff, slots * sizeof *place);
  for (int32_t i = 0; i < n; i++) target[i] = -1;
  for (int64_t k = 0; k < 3 * (int64_t)mesh->triangle_count; k++) target[mesh->triangles[k]] = 0; /* in use */
  for (int32_t i = 0; i < n; i++) {
    if (target[i] < 0) continue;
    ds_vec3 x = plain_zero(mesh->vertices[i]);
    size_t slot = ds_mesh_hash(bits_of(x.x), bits_of(x.y), bits_of(x.z)) & (slots - 1);
    while (place[slot] >= 0 && memcmp(&mesh->vertices[place[slot]], &x, sizeof x) != 0) slot = (slot + 1) & (slots - 1);
    if (place[slot] < 0) {
      mesh->vertices[kept] = x;
      place[slot] = kept++;
    }
    target[i] = place[slot];
  }
  for (int64_t k = 0; k < 3 * (int64_t)mesh->triangle_count; k++) mesh->triangles[k] = target[mesh->triangles[k]];
  mesh->vertex_count = kept;
  free(place);
  free(target);
  return DS_OK;
}

/* ---- OBJ out ---- */

static void write_text(FILE *out, const ds_mesh *mesh) {
  for (int32_t i = 0; i < mesh->vertex_count; i++)
    fprintf(out, "v %.17g %.17g %.17g\n", mesh->vertices[i].x, mesh->vertices[i].y, mesh->vertices[i].z);
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *v = mesh->triangles + 3 * (int64_t)t;
    fprintf(out, "f %lld %lld %lld\n", v[0] + 1LL, v[1] + 1LL, v[2] + 1LL);
  }
}

ds_status ds_mesh_write_obj(const ds_mesh *mesh, const char *path, ds_error *error) {
  char reason[128] = "unknown reason";
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a point in numbers, whatever the program's locale */
  if (!c_locale) return ds_fail(error, DS_ERROR_MEMORY, "%.300s: memory ran out while writing the mesh", path);
  FILE *out = fopen(path, "wb");
  bool ok = out != NULL;
  if (out) {
    locale_t old = uselocale(c_locale);
    write_text(out, mesh);
    uselocale(old);
    ok = !ferror(out);
    if (fclose(out) != 0) ok = false;
  }
  int code = errno;
  freelocale(c_locale);
  if (ok) return DS_OK;
  if (strerror_r(code, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", code);
  return ds_fail(error, DS_ERROR_INPUT, "%.300s: cannot write it: %s; check the path and the space", path, reason);
}

/* ---- mass ---- */

/* Integrals over the enclosed volume of 1; x, y, z; x², y², z²; xy, yz, zx. */
typedef struct integrals {
  double one, first[3], second[3], mixed[3];
} integrals;

/* Adds the surface integrals of one triangle, of which d = (b - a) x (c - a) is twice the area times the normal.
 * With w_i(x) the sums over all monomials of degree i in the corners: int x dA = A w1/3, x² : A w2/6, x³ : A w3/10. */
static void add_triangle(integrals *sum, ds_vec3 pa, ds_vec3 pb, ds_vec3 pc) {
  ds_vec3 d = v3_cross(v3_sub(pb, pa), v3_sub(pc, pa));
  const double a[3] = {pa.x, pa.y, pa.z}, b[3] = {pb.x, pb.y, pb.z}, c[3] = {pc.x, pc.y, pc.z};
  const double normal[3] = {d.x, d.y, d.z};
  double w2[3], ga[3], gb[3], gc[3];
  for (int i = 0; i < 3; i++) {
    double w1 = a[i] + b[i] + c[i];
    w2[i] = a[i] * a[i] + b[i] * (a[i] + b[i]) + c[i] * w1;
    double w3 = a[i] * a[i] * a[i] + b[i] * (a[i] * a[i] + b[i] * (a[i] + b[i])) + c[i] * w2[i];
    /* for x²y: the corner's own weight */
    ga[i] = w2[i] + a[i] * (w1 + a[i]);
    gb[i] = w2[i] + b[i] * (w1 + b[i]);
    gc[i] = w2[i] + c[i] * (w1 + c[i]);
    if (i == 0) sum->one += normal[0] * w1 / 6;
    sum->first[i] += normal[i] * w2[i] / 24;
    sum->second[i] += normal[i] * w3 / 60;
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    sum->mixed[i] += normal[i] * (a[j] * ga[i] + b[j] * gb[i] + c[j] * gc[i]) / 120;
  }
}

ds_mass ds_mesh_mass(const ds_mesh *mesh, double density) {
  ds_mass result = {0};
  integrals sum = {0};
  ds_vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    low = v3_min(low, mesh->vertices[i]);
    high = v3_max(high, mesh->vertices[i]);
  }
  ds_vec3 middle = v3_add(v3_scale(0.5, low), v3_scale(0.5, high));
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *v = mesh->triangles + 3 * (int64_t)t;
    bool valid = true;
    for (int k = 0; k < 3; k++) valid = valid && v[k] >= 0 && v[k] < mesh->vertex_count;
    if (!valid) continue;
    add_triangle(&sum, v3_sub(mesh->vertices[v[0]], middle), v3_sub(mesh->vertices[v[1]], middle),
                 v3_sub(mesh->vertices[v[2]], middle));
  }
  if (sum.one == 0) return result;
  double r[3], inertia[3][3];
  for (int i = 0; i < 3; i++) r[i] = sum.first[i] / sum.one;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    inertia[i][i] = sum.second[j] + sum.second[k] - sum.one * (r[j] * r[j] + r[k] * r[k]);
    inertia[i][j] = inertia[j][i] = sum.one * r[i] * r[j] - sum.mixed[i];
  }
  result.mass = density * sum.one;
  result.center = v3_add(middle, v3(r[0], r[1], r[2]));
  for (int i = 0; i < 9; i++) result.inertia[i] = density * inertia[i / 3][i % 3];
  return result;
}
