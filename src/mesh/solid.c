/* Solids: checks a mesh, chooses cell and spacing, builds field, samples and balls, or takes them from the cache,
 * and finds the planar faces.
 *
 * Chosen sizes, with L the longest side and t the thickness of walls (the distance through the solid against the
 * normal, of which a tenth of the surface has less):
 * - cell = L / 96, or t / 4 where that is less, so that a thin wall has an inside; coarser where field and samples
 * would take more than 24 MiB. Before that the band of bricks is cut from one coarse cell to a half.
 * - spacing = L / 24, or what gives 1,200 samples or so where that is more; where t is less (so that two thin bars that
 *   cross find each other), t, but not below L / 64 nor what gives 1,800. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mesh/build.h"

#define CELLS_ALONG 96
#define CELLS_ACROSS 4
#define CELLS_LIMIT 768 /* along the longest side, where chosen */
#define BUDGET ((int64_t)24 << 20)
#define SIZE_LOW 1e-9
#define SIZE_HIGH 1e9
enum { RAYS = 1024 };

ds_solid_def ds_default_solid(void) { return (ds_solid_def){0}; }

/* ---- checks ---- */

static ds_status check_def(const ds_solid_def *def, ds_error *error) {
  if (!(def->cell >= 0) || !isfinite(def->cell))
    return ds_fail(error, DS_ERROR_INPUT, "solid: cell = %g m; expected a positive number, or 0 to have it chosen",
                   def->cell);
  if (!(def->spacing >= 0) || !isfinite(def->spacing))
    return ds_fail(error, DS_ERROR_INPUT, "solid: spacing = %g m; expected a positive number, or 0 to have it chosen",
                   def->spacing);
  if (def->threads < 0)
    return ds_fail(error, DS_ERROR_INPUT, "solid: threads = %d; expected 1 or more, or 0 for all cores", def->threads);
  return DS_OK;
}

static ds_status check_mesh(const ds_mesh *mesh, ds_error *error) {
  ds_mesh_report report;
  ds_status status = ds_mesh_check(&report, mesh, error);
  if (status != DS_OK || report.usable) return status;
  int32_t first = -1, kinds = 0;
  for (int32_t k = 0; k < DS_MESH_FAULT_COUNT; k++)
    if (report.count[k] > 0 && kinds++ == 0) first = k;
  if (first < 0) return ds_fail(error, DS_ERROR_INPUT, "solid: the mesh cannot be used");
  ds_vec3 p = report.place[first];
  char more[64] = "";
  if (kinds > 1) snprintf(more, sizeof more, ", and %d other kind%s of fault", kinds - 1, kinds > 2 ? "s" : "");
  return ds_fail(error, DS_ERROR_INPUT,
                 "solid: the mesh has faults: %s, %d time%s (the first at %s %d, near %g %g %g m)%s; expected a closed "
                 "surface that faces outward and does not cut itself",
                 ds_mesh_fault_name((ds_mesh_fault)first), report.count[first], report.count[first] > 1 ? "s" : "",
                 first == DS_MESH_NOT_FINITE ? "vertex" : "triangle", report.where[first], p.x, p.y, p.z, more);
}

static double longest_side(const ds_surface *s) {
  ds_vec3 d = v3_sub(s->high, s->low);
  return fmax(d.x, fmax(d.y, d.z));
}

static ds_status check_size(const ds_surface *s, const ds_solid_def *def, ds_error *error) {
  double size = longest_side(s);
  if (!(size >= SIZE_LOW && size <= SIZE_HIGH))
    return ds_fail(error, DS_ERROR_INPUT, "solid: its longest side is %g m; expected %g to %g m", size, SIZE_LOW,
                   SIZE_HIGH);
  if (def->cell > 0 && def->cell < 1e-4 * size)
    return ds_fail(error, DS_ERROR_INPUT, "solid: cell = %g m is too fine for a solid of %g m; expected %g m or more",
                   def->cell, size, 1e-4 * size);
  if (def->spacing > 0 && def->spacing < 1e-5 * size)
    return ds_fail(error, DS_ERROR_INPUT,
                   "solid: spacing = %g m is too fine for a solid of %g m; expected %g m or more", def->spacing, size,
                   1e-5 * size);
  return DS_OK;
}

/* ---- what is chosen ---- */

static int compare_numbers(const void *pa, const void *pb) {
  const double *a = pa, *b = pb;
  return (*a > *b) - (*a < *b);
}

/* Numbers in 0 .. 1 spread evenly over a square: multiples of the roots of x³ = x + 1, modulo 1 (Roberts 2018). */
static double spread(int32_t i, double step) { return fmod(0.5 + i * step, 1); }

/* The wall thickness that a tenth of the surface is below, from rays that start evenly over the area. */
static double find_wall(const ds_build *build) {
  const ds_surface *s = build->surface;
  double through[RAYS], passed = 0, size = longest_side(s);
  int32_t ray = 0;
  for (int32_t t = 0; t < s->mesh->triangle_count; t++) {
    ds_vec3 a = ds_half_point(s, 3 * t), u = v3_sub(ds_half_point(s, 3 * t + 1), a);
    ds_vec3 v = v3_sub(ds_half_point(s, 3 * t + 2), a), inward = v3_neg(s->normals[t]);
    passed += 0.5 * v3_norm(v3_cross(u, v));
    for (; ray < RAYS && (ray + 0.5) * s->area <= passed * RAYS; ray++) {
      double p = spread(ray, 0.7548776662466927), q = spread(ray, 0.5698402909980532);
      if (p + q > 1) p = 1 - p, q = 1 - q;
      through[ray] = ds_distance_exit(build->tree, v3_mad(v3_mad(a, p, u), q, v), inward, 1e-6 * size);
    }
  }
  if (ray == 0) return size;
  qsort(through, (size_t)ray, sizeof *through, compare_numbers);
  return fmin(size, through[ray / 10]);
}

static double choose_spacing(const ds_surface *s, double wall) {
  double size = longest_side(s), spacing = fmax(size / 24, sqrt(s->area / 1000));
  return fmin(spacing, fmax(wall, fmax(size / 64, sqrt(s->area / 1500))));
}

/* Plans the field with the requested cell, or the finest that memory allows. */
static ds_status choose_cell(ds_distance_field *field, const ds_build *build, double asked, double wall,
                             int64_t samples_bytes, ds_error *error) {
  double size = longest_side(build->surface), band = 1;
  if (asked > 0) return ds_field_plan(field, build, size / ceil(size / asked - 1e-9), band, error);
  double along = fmin(CELLS_LIMIT, fmax(CELLS_ALONG, ceil(CELLS_ACROSS * size / wall)));
  for (;;) {
    ds_status status = ds_field_plan(field, build, size / along, band, error);
    if (status != DS_OK) return status;
    double excess = (double)(ds_field_bytes(field) + samples_bytes) / (double)BUDGET;
    if (excess <= 1 || along <= 16) return DS_OK;
    ds_field_free(field);
    if (band == 1)
      band = 0.5;
    else
      along = floor(fmin(0.97, 0.99 / sqrt(excess)) * along); /* bricks grow with the square */
  }
}

/* ---- the largest depth ---- */

/* Moves from a point to where it is deepest nearby: a step in any of 26 directions that goes deeper, or half the step.
 */
static double climb(const ds_distance *tree, ds_vec3 x, double step) {
  ds_nearby nearby;
  ds_nearby_all(&nearby);
  double best = ds_distance_signed(&nearby, tree, x);
  for (int32_t halvings = 0, moves = 0; halvings < 24 && moves < 200;) {
    ds_vec3 better = x;
    for (int32_t k = 0; k < 27; k++) {
      ds_vec3 y = v3_mad(x, step, v3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
      double d = ds_distance_signed(&nearby, tree, y);
      if (d < best) best = d, better = y;
    }
    if (v3_dist(better, x) > 0) {
      x = better;
      moves++;
    } else {
      step *= 0.5;
      halvings++;
    }
  }
  return best;
}

/* Twice the depth of the deepest point. */
static double find_thickness(const ds_distance_field *f, const ds_distance *tree) {
  int32_t n = DS_BRICK + 1;
  double best = INFINITY;
  ds_vec3 x = f->origin;
  for (int32_t c = 0; c < f->size[0] * f->size[1] * f->size[2]; c++) {
    if (f->brick[c] < 0) {
      int32_t i = c % f->size[0], j = c / f->size[0] % f->size[1], k = c / f->size[0] / f->size[1];
      double d = (double)f->values[i + (f->size[0] + 1) * (j + (int64_t)(f->size[1] + 1) * k)];
      if (d < best) best = d, x = v3_mad(f->origin, f->coarse, v3(i, j, k));
      continue;
    }
    const float *brick = f->bricks + (int64_t)f->brick[c] * n * n * n;
    ds_vec3 low =
        v3_mad(f->origin, f->coarse, v3(c % f->size[0], c / f->size[0] % f->size[1], c / f->size[0] / f->size[1]));
    for (int32_t i = 0; i < n * n * n; i++)
      if ((double)brick[i] < best) best = (double)brick[i], x = v3_mad(low, f->fine, v3(i % n, i / n % n, i / n / n));
  }
  return fmax(0, -2 * climb(tree, x, f->fine));
}

/* ---- building ---- */

static ds_status build_parts(ds_solid *solid, ds_build *build, const ds_solid_def *def, ds_error *error) {
  double wall = def->cell > 0 && def->spacing > 0 ? INFINITY : find_wall(build);
  double spacing = def->spacing > 0 ? def->spacing : choose_spacing(build->surface, wall);
  ds_status status = ds_samples_build(&solid->samples, build->surface, spacing, error);
  if (status == DS_OK) status = ds_balls_build(&solid->samples, error);
  if (status == DS_OK && build->progress) build->progress(build->user, 0.05);
  if (status == DS_OK)
    status = choose_cell(&solid->field, build, def->cell, wall, ds_samples_bytes(&solid->samples), error);
  if (status == DS_OK) status = ds_field_fill(&solid->field, build, error);
  if (status != DS_OK) return status;
  solid->info.cell = solid->field.fine;
  solid->info.spacing = spacing;
  solid->info.thickness = find_thickness(&solid->field, build->tree);
  for (int32_t i = 0; i < solid->samples.count; i++)
    solid->error = fmax(solid->error, fabs(ds_field_distance(&solid->field, solid->samples.points[i])));
  return DS_OK;
}

/* What needs no field: caps and faces. A polyhedron has faces only. */
static ds_status build_smooth(ds_solid *solid, const ds_surface *surface, ds_error *error) {
  ds_status status = ds_caps_build(&solid->samples, surface, solid->info.spacing, error);
  if (status != DS_OK) return status;
  status = ds_faces_build(&solid->faces, surface, &solid->samples, solid->info.spacing, solid->info.cell, error);
  if (solid->faces.complete) ds_caps_free(&solid->samples);
  return status;
}

static ds_status build_solid(ds_solid *solid, const ds_surface *surface, const ds_solid_def *def, ds_error *error) {
  ds_distance tree;
  ds_status status = ds_distance_build(&tree, surface, error);
  if (status != DS_OK) return status;
  ds_pool *pool = ds_pool_create(def->threads > 256 ? 256 : def->threads);
  ds_build build = {surface, &tree, pool, def->progress, def->user};
  status = pool ? build_parts(solid, &build, def, error)
                : ds_fail(error, DS_ERROR_MEMORY, "no memory or no threads to build a solid");
  ds_pool_destroy(pool);
  ds_distance_free(&tree);
  return status;
}

static ds_status copy_mesh(ds_solid *solid, const ds_mesh *mesh, const char *name, ds_error *error) {
  size_t vertices = (size_t)mesh->vertex_count * sizeof *mesh->vertices;
  size_t triangles = 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles;
  size_t length = name ? strlen(name) : 0;
  solid->mesh.vertices = malloc(vertices);
  solid->mesh.triangles = malloc(triangles);
  solid->name = malloc(length + 1);
  if (!solid->mesh.vertices || !solid->mesh.triangles || !solid->name)
    return ds_fail(error, DS_ERROR_MEMORY, "no memory for a solid of %d triangles", mesh->triangle_count);
  memcpy(solid->mesh.vertices, mesh->vertices, vertices);
  memcpy(solid->mesh.triangles, mesh->triangles, triangles);
  if (length > 0) memcpy(solid->name, name, length);
  solid->name[length] = 0;
  solid->mesh.vertex_count = mesh->vertex_count;
  solid->mesh.triangle_count = mesh->triangle_count;
  return DS_OK;
}

static void fill_info(ds_solid *solid, const ds_surface *surface) {
  ds_solid_info *info = &solid->info;
  const ds_distance_field *f = &solid->field;
  solid->mass = ds_mesh_mass(&solid->mesh, 1);
  info->low = surface->low;
  info->high = surface->high;
  info->area = surface->area;
  info->volume = solid->mass.mass;
  info->center = solid->mass.center;
  info->triangles = solid->mesh.triangle_count;
  info->vertices = solid->mesh.vertex_count;
  info->samples = solid->samples.count;
  info->spheres = solid->samples.ball_count;
  info->bytes = (int64_t)sizeof *solid + (int64_t)strlen(solid->name) + 1 +
                info->vertices * (int64_t)sizeof *solid->mesh.vertices +
                3 * (int64_t)info->triangles * (int64_t)sizeof *solid->mesh.triangles;
  if (!f->brick) return;
  int32_t bricks = f->brick_count;
  info->cells = f->size[0] * f->size[1] * f->size[2] - bricks + bricks * DS_BRICK * DS_BRICK * DS_BRICK;
  info->bytes += ds_field_bytes(f) + ds_samples_bytes(&solid->samples) + ds_faces_bytes(&solid->faces);
}

static bool indices_fit(const ds_mesh *mesh) {
  for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++)
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count) return false;
  return true;
}

/* The cache makes the check of the mesh needless: only what passed it is kept there. */
static ds_status make_solid(ds_solid *solid, const ds_solid_def *def, ds_error *error) {
  const ds_mesh *mesh = &solid->mesh;
  ds_cache_key key = {{0, 0}};
  bool cached = def->cache && !def->surface_only && indices_fit(mesh);
  if (cached) {
    key = ds_cache_hash(mesh, def->cell, def->spacing);
    solid->info.from_cache = ds_cache_load(solid, def->cache, key);
  }
  ds_status status = solid->info.from_cache ? DS_OK : check_mesh(mesh, error);
  ds_surface surface = {0};
  if (status == DS_OK) status = ds_surface_build(&surface, mesh, error);
  if (status == DS_OK) status = check_size(&surface, def, error);
  if (status == DS_OK && !solid->info.from_cache && !def->surface_only) {
    status = build_solid(solid, &surface, def, error);
    if (status == DS_OK && cached) ds_cache_save(solid, def->cache, key);
  }
  if (status == DS_OK && !def->surface_only) status = build_smooth(solid, &surface, error);
  if (status == DS_OK) fill_info(solid, &surface);
  ds_surface_free(&surface);
  return status;
}

ds_solid *ds_solid_create(const ds_mesh *mesh, const ds_solid_def *def, ds_error *error) {
  if (check_def(def, error) != DS_OK) return NULL;
  if (mesh->vertex_count < 1 || mesh->triangle_count < 1 || !mesh->vertices || !mesh->triangles) {
    ds_fail(error, DS_ERROR_INPUT, "solid: the mesh is empty; expected a closed surface of triangles");
    return NULL;
  }
  ds_solid *solid = calloc(1, sizeof *solid);
  if (!solid) {
    ds_fail(error, DS_ERROR_MEMORY, "no memory for a solid");
    return NULL;
  }
  atomic_init(&solid->owners, 1);
  if (def->progress) def->progress(def->user, 0);
  if (copy_mesh(solid, mesh, def->name, error) != DS_OK || make_solid(solid, def, error) != DS_OK) {
    ds_solid_release(solid);
    return NULL;
  }
  if (def->progress) def->progress(def->user, 1);
  return solid;
}

ds_solid *ds_solid_retain(ds_solid *solid) {
  if (solid) atomic_fetch_add_explicit(&solid->owners, 1, memory_order_relaxed);
  return solid;
}

void ds_solid_release(ds_solid *solid) {
  if (!solid || atomic_fetch_sub_explicit(&solid->owners, 1, memory_order_acq_rel) > 1) return;
  ds_field_free(&solid->field);
  ds_samples_free(&solid->samples);
  ds_faces_free(&solid->faces);
  ds_mesh_free(&solid->mesh);
  free(solid->name);
  free(solid);
}

ds_solid_info ds_solid_get_info(const ds_solid *solid) { return solid->info; }

const char *ds_solid_name(const ds_solid *solid) { return solid->name; }

const ds_mesh *ds_solid_mesh(const ds_solid *solid) { return &solid->mesh; }

double ds_solid_distance(ds_vec3 *gradient, const ds_solid *solid, ds_vec3 x) {
  if (solid->field.brick) return ds_field_sample(gradient, &solid->field, x);
  if (gradient) *gradient = v3(NAN, NAN, NAN);
  return NAN;
}
