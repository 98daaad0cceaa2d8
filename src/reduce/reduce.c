/* A reduced body from tetrahedra: the mesh is looked at and moved to its principal frame; matrices; the lowest modes
 * that are no rigid motion; for large deformation their derivatives and the basis made of both; inertia integrals,
 * elastic forces, the surface and its tree. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reduce/fem.h"
#include "reduce/reduced_cache.h"

#define TETS_MAX 4000000

ds_reduced_def ds_default_reduced(void) {
  return (ds_reduced_def){.young = 1e6, .poisson = 0.3, .density = 1000, .modes = 12, .damping_stiffness = 1e-3};
}

/* ---- what was asked for ---- */

static ds_status check_number(double x, const char *what, ds_error *error) {
  if (x > 0 && isfinite(x)) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT, "deformable: %s = %g; expected a number above 0", what, x);
}

static ds_status check_def(const ds_reduced_def *def, ds_error *error) {
  if (check_number(def->young, "young", error) != DS_OK || check_number(def->density, "density", error) != DS_OK)
    return DS_ERROR_INPUT;
  if (!(def->mass >= 0) || !isfinite(def->mass))
    return ds_fail(error, DS_ERROR_INPUT, "deformable: mass = %g kg; expected a positive number, or 0", def->mass);
  if (!(def->poisson > -1 && def->poisson < 0.5))
    return ds_fail(error, DS_ERROR_INPUT, "deformable: poisson = %g; expected more than -1 and less than 0.5",
                   def->poisson);
  if (!(def->damping_mass >= 0) || !(def->damping_stiffness >= 0) ||
      !isfinite(def->damping_mass + def->damping_stiffness))
    return ds_fail(error, DS_ERROR_INPUT,
                   "deformable: damping_mass = %g, damping_stiffness = %g; expected numbers of at least 0",
                   def->damping_mass, def->damping_stiffness);
  if (def->modes < 1 || def->modes > DS_REDUCED_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "deformable: modes = %d; expected 1 to %d", def->modes, DS_REDUCED_MAX);
  if (def->threads < 0)
    return ds_fail(error, DS_ERROR_INPUT, "deformable: threads = %d; expected 1 or more, or 0 for all cores",
                   def->threads);
  return DS_OK;
}

static int32_t possible_modes(const ds_tets *tets) {
  return tets->node_count > DS_REDUCED_MAX ? DS_REDUCED_MAX : 3 * tets->node_count - DS_RIGID;
}

static ds_status check_size(const ds_tets *tets, const ds_reduced_def *def, ds_error *error) {
  if (!tets->nodes || !tets->tets || tets->node_count < 4 || tets->tet_count < 1)
    return ds_fail(error, DS_ERROR_INPUT, "deformable: the mesh is empty; expected tetrahedra");
  if (tets->tet_count > TETS_MAX)
    return ds_fail(error, DS_ERROR_INPUT, "deformable: %d tetrahedra; expected at most %d", tets->tet_count, TETS_MAX);
  if (def->modes > possible_modes(tets))
    return ds_fail(error, DS_ERROR_INPUT,
                   "deformable: modes = %d; a mesh of %d nodes has at most %d, 3 per node minus 6", def->modes,
                   tets->node_count, possible_modes(tets));
  return DS_OK;
}

/* A node that no tetrahedron uses has no mass. */
static ds_status check_used(const ds_tets *tets, ds_error *error) {
  bool *used = calloc((size_t)tets->node_count, sizeof *used);
  if (!used) return ds_fail(error, DS_ERROR_MEMORY, "no memory for a deformable body");
  int32_t node = 0;
  for (int64_t i = 0; i < 4 * (int64_t)tets->tet_count; i++) used[tets->tets[i]] = true;
  while (node < tets->node_count && used[node]) node++;
  free(used);
  if (node == tets->node_count) return DS_OK;
  return ds_fail(error, DS_ERROR_INPUT, "deformable: node %d belongs to no tetrahedron", node);
}

/* ---- material ---- */

ds_status ds_reduced_take_material(ds_reduced_def *def, const ds_tets *tets, ds_material_given given, ds_error *error) {
  const ds_tets_material *m = &tets->material;
  if (m->count == 0 || (given.young && given.poisson && given.density)) return DS_OK;
  bool known = m->young != 0 || m->poisson != 0 || m->density != 0;
  if (m->count > 1 || !known)
    return ds_fail(error, DS_ERROR_INPUT,
                   "the mesh file states %s; give young, poisson and density, of which a body has one each",
                   m->count > 1 ? "several materials" : "a material of unknown kind");
  if (!(m->young > 0 && m->density > 0 && m->poisson > -1 && m->poisson < 0.5))
    return ds_fail(
        error, DS_ERROR_INPUT,
        "the mesh file states E %g Pa, nu %g, density %g kg/m³; expected E and density above 0 and nu between "
        "-1 and 0.5, or give young, poisson and density",
        m->young, m->poisson, m->density);
  if (!given.young) def->young = m->young;
  if (!given.poisson) def->poisson = m->poisson;
  if (!given.density) def->density = m->density;
  return DS_OK;
}

/* ---- building ---- */

typedef struct building {
  const ds_tets *tets;
  const ds_reduced_def *def;
  ds_reduced *out;
  ds_fem fem;
  ds_modes modes;
  double *u, *k; /* the basis, vector by vector, and K along it */
  ds_pool *pool;
} building;

/* Shares of the time, about. */
static ds_reduce_meter meter_of(const building *b, const char *what, double from, double to) {
  return (ds_reduce_meter){b->def->progress, b->def->user, what, from, to};
}

static ds_status make_body(building *b, ds_error *error) {
  ds_mesh surface = {0};
  int32_t *node = NULL;
  ds_status status = ds_tets_surface(&surface, &node, b->tets, error);
  if (status != DS_OK) return status;
  const ds_tets *t = b->tets;
  b->out = ds_reduced_alloc(b->def->modes, t->node_count, t->tet_count, surface.vertex_count, surface.triangle_count,
                            b->def->stvk);
  if (b->out) {
    ds_reduced *x = b->out;
    memcpy(x->tets.nodes, t->nodes, (size_t)t->node_count * sizeof *t->nodes);
    memcpy(x->tets.tets, t->tets, 4 * (size_t)t->tet_count * sizeof *t->tets);
    memcpy(x->surface.triangles, surface.triangles, 3 * (size_t)surface.triangle_count * sizeof *surface.triangles);
    memcpy(x->surface_node, node, (size_t)surface.vertex_count * sizeof *node);
    x->info.mass_error = ds_mesh_mass(&surface, b->def->density).mass; /* by the surface; compared below */
  } else {
    status = ds_fail(error, DS_ERROR_MEMORY, "no memory for a deformable body");
  }
  ds_mesh_free(&surface);
  free(node);
  return status;
}

static ds_status make_matrices(building *b, ds_error *error) {
  ds_reduced *x = b->out;
  if (!ds_reduced_to_principal(x, b->def->density))
    return ds_fail(error, DS_ERROR_INPUT, "deformable: the mesh has no volume, or one that is too small or too large");
  for (int32_t i = 0; i < x->surface.vertex_count; i++) x->surface.vertices[i] = x->tets.nodes[x->surface_node[i]];
  ds_status status = ds_fem_create(&b->fem, &x->tets, b->def->young, b->def->poisson, b->def->density, error);
  if (status != DS_OK) return status;
  double mass = 0;
  for (int32_t e = 0; e < b->fem.start[x->tets.node_count]; e++) mass += b->fem.mass[e];
  x->info.mass_error = fabs(mass / x->info.mass_error - 1);
  return DS_OK;
}

static ds_status make_modal_basis(building *b, ds_error *error) {
  ds_reduce_meter meter = meter_of(b, "modes", 0.05, 0.9);
  ds_status status = ds_modes_find(&b->modes, &b->fem, b->out->r, b->pool, &meter, error);
  if (status != DS_OK) return status;
  memcpy(b->u, b->modes.phi, (size_t)b->out->r * (size_t)ds_fem_dimension(&b->fem) * sizeof *b->u);
  memcpy(b->k, b->modes.lambda, (size_t)b->out->r * sizeof *b->k);
  return DS_OK;
}

static ds_status make_stvk_basis(building *b, ds_error *error) {
  int32_t r = b->out->r, k = ds_stvk_linear_modes(r, possible_modes(b->tets)), found = 0;
  ds_status status = DS_OK;
  ds_reduce_meter meter = meter_of(b, "modes", 0.05, 0.25), then = meter_of(b, "modal derivatives", 0.25, 0.55);
  for (;; k = 2 * k < r ? 2 * k : r) {
    ds_modes_free(&b->modes);
    status = ds_modes_find(&b->modes, &b->fem, k, b->pool, &meter, error);
    if (status == DS_OK) status = ds_stvk_basis(b->u, b->k, &found, &b->fem, &b->modes, r, b->pool, &then, error);
    if (status != DS_OK || found == r) return status;
    if (k == r) return ds_fail(error, DS_ERROR_INPUT, "deformable: modes = %d; only %d were found", r, found);
  }
}

/* From vector by vector to node by node; the surface's part; frequencies. */
static void store_basis(building *b) {
  ds_reduced *x = b->out;
  int64_t r = x->r, n = ds_fem_dimension(&b->fem);
  for (int64_t a = 0; a < r; a++)
    for (int64_t i = 0; i < n; i++) x->node_basis[i * r + a] = b->u[a * n + i];
  for (int64_t i = 0; i < x->surface.vertex_count; i++)
    memcpy(x->basis + 3 * r * i, x->node_basis + 3 * r * x->surface_node[i], 3 * (size_t)r * sizeof(double));
  x->info.linear_modes = b->modes.count;
  for (int32_t i = 0; i < b->modes.count; i++) x->frequency[i] = sqrt(b->modes.lambda[i]) / (2 * DS_PI);
}

/* The worst of Uᵀ K U off the diagonal, over its largest entry; work: a vector. */
static double orthogonality_of(const building *b, double *work) {
  int32_t r = b->out->r, n = ds_fem_dimension(&b->fem);
  double worst = 0;
  for (int32_t i = 0; i < r; i++) {
    ds_fem_times_stiffness(work, &b->fem, b->u + (int64_t)i * n);
    for (int32_t j = 0; j < r; j++) {
      double s = ds_vectors_dot(b->u + (int64_t)j * n, work, n);
      worst = fmax(worst, fabs(i == j ? s - b->k[i] : s));
    }
  }
  return worst / b->k[r - 1];
}

static ds_status make_forces(building *b, ds_error *error) {
  ds_reduced *x = b->out;
  for (int32_t i = 0; i < x->r; i++) x->stiffness[i * x->r + i] = b->k[i];
  if (!b->def->stvk) return DS_OK;
  ds_reduce_meter meter = meter_of(b, "elastic forces", 0.55, 0.95);
  return ds_stvk_polynomials(x, &b->fem, b->pool, &meter, error);
}

static ds_status build(building *b, ds_error *error) {
  ds_status status = make_body(b, error);
  if (status == DS_OK) status = make_matrices(b, error);
  if (status != DS_OK) return status;
  size_t r = (size_t)b->out->r, n = (size_t)ds_fem_dimension(&b->fem);
  b->pool = ds_pool_create(b->def->threads > 256 ? 256 : b->def->threads);
  b->u = malloc(r * n * sizeof(double));
  b->k = malloc((r + n) * sizeof(double));
  if (!b->pool || !b->u || !b->k)
    return ds_fail(error, DS_ERROR_MEMORY, "no memory or no threads to build a deformable body");
  status = b->def->stvk ? make_stvk_basis(b, error) : make_modal_basis(b, error);
  if (status != DS_OK) return status;
  store_basis(b);
  b->out->info.orthogonality = orthogonality_of(b, b->k + r);
  status = make_forces(b, error);
  if (status == DS_OK) status = ds_reduced_integrals(b->out, &b->fem, error);
  return status;
}

/* A body that is not finished, or NULL. */
static ds_reduced *build_new(const ds_tets *tets, const ds_reduced_def *def, ds_error *error) {
  ds_tets_report report;
  building b = {.tets = tets, .def = def};
  ds_status status = ds_tets_check(&report, tets, error);
  if (status == DS_OK) status = check_used(tets, error);
  if (status == DS_OK) status = build(&b, error);
  ds_pool_destroy(b.pool);
  ds_modes_free(&b.modes);
  ds_fem_free(&b.fem);
  free(b.u);
  free(b.k);
  if (status == DS_OK) return b.out;
  ds_reduced_release(b.out);
  return NULL;
}

/* ---- all of it ---- */

static ds_status finish(ds_reduced *x, const ds_reduced_def *def, ds_error *error) {
  x->info.young = def->young;
  x->info.poisson = def->poisson;
  x->info.density = def->density;
  x->info.damping_mass = def->damping_mass;
  x->info.damping_stiffness = def->damping_stiffness;
  size_t length = def->name ? strlen(def->name) : 0;
  x->name = malloc(length + 1);
  if (!x->name) return ds_fail(error, DS_ERROR_MEMORY, "no memory for a deformable body");
  if (length > 0) memcpy(x->name, def->name, length);
  x->name[length] = 0;
  return ds_reduced_finish(x, error);
}

/* From the file, finished, where there is a sound one that holds what was asked for. */
static ds_reduced *from_cache(const ds_tets *tets, const ds_reduced_def *def, ds_cache_key key) {
  ds_error ignored;
  ds_reduced *x = ds_reduced_cache_load(def, key);
  if (!x) return NULL;
  bool fits = x->r == def->modes && x->tets.node_count == tets->node_count && x->tets.tet_count == tets->tet_count &&
              (x->quadratic != NULL) == def->stvk;
  if (fits && finish(x, def, &ignored) == DS_OK) {
    x->info.from_cache = true;
    return x;
  }
  ds_reduced_release(x);
  return NULL;
}

/* The density that gives the mass. */
static ds_status choose_density(ds_reduced_def *def, const ds_tets *tets, ds_error *error) {
  ds_tets_report report;
  if (def->mass == 0) return DS_OK;
  ds_status status = ds_tets_check(&report, tets, error);
  if (status != DS_OK) return status;
  def->density = def->mass / report.volume;
  return check_number(def->density, "density", error);
}

ds_reduced *ds_reduced_create(const ds_tets *tets, const ds_reduced_def *given, ds_error *error) {
  ds_reduced_def own = *given, *def = &own;
  if (check_def(def, error) != DS_OK || check_size(tets, def, error) != DS_OK ||
      choose_density(def, tets, error) != DS_OK)
    return NULL;
  ds_reduce_meter meter = {def->progress, def->user, "mesh", 0, 1};
  ds_reduce_tell(&meter, 0);
  ds_cache_key key = {{0, 0}};
  if (def->cache) key = ds_reduced_cache_key(tets, def);
  ds_reduced *x = def->cache ? from_cache(tets, def, key) : NULL;
  if (!x) {
    x = build_new(tets, def, error);
    if (x && finish(x, def, error) != DS_OK) {
      ds_reduced_release(x);
      x = NULL;
    }
    if (x && def->cache) ds_reduced_cache_save(x, def, key);
  }
  meter.what = "done";
  if (x) ds_reduce_tell(&meter, 1);
  return x;
}
