/* The content of a mesh and its contact data: see info_mesh.h. */
#include "info_mesh.h"

#include <stdio.h>

#include "base/thread.h"
#include "command.h"
#include "info_reduced.h"
#include "mesh_source.h"

static int complain(const char *message) {
  fprintf(stderr, "drystone info: %s\n", message);
  return EXIT_INPUT;
}

static void print_size(ds_vec3 low, ds_vec3 high) {
  printf("size         %.6g x %.6g x %.6g m, from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g)\n", high.x - low.x,
         high.y - low.y, high.z - low.z, low.x, low.y, low.z, high.x, high.y, high.z);
}

static void print_mass(const ds_mesh *mesh, double density) {
  ds_mass m = ds_mesh_mass(mesh, density);
  printf("mass         %.6g kg at %g kg/m³\n", m.mass, density);
  printf("centre       %.6g %.6g %.6g m\n", m.center.x, m.center.y, m.center.z);
  printf("inertia      about the centre: xx %.4g, yy %.4g, zz %.4g, xy %.4g, xz %.4g, yz %.4g kg m²\n", m.inertia[0],
         m.inertia[4], m.inertia[8], m.inertia[1], m.inertia[2], m.inertia[5]);
}

static void print_solid(const ds_solid_info *info, double seconds) {
  printf("thickness    %.4g m at most\n", info->thickness);
  printf("samples      %d of the surface, at most %.4g m apart, in %d balls\n", (int)info->samples, info->spacing,
         (int)info->spheres);
  printf("field        %d cells, the finest %.4g m\n", (int)info->cells, info->cell);
  printf("memory       %.1f MB; %s %.2f s\n", 1e-6 * (double)info->bytes,
         info->from_cache ? "read from the cache in" : "built in", seconds);
}

static int info_tets(const char *source, const ds_tets *tets, double density) {
  ds_error error = {{0}};
  ds_tets_report report;
  ds_mesh surface;
  if (ds_tets_check(&report, tets, &error) != DS_OK) return complain(error.message);
  if (ds_tets_surface(&surface, NULL, tets, &error) != DS_OK) return complain(error.message);
  ds_vec3 low, high;
  mesh_bounds(&low, &high, &surface);
  printf("mesh         %s\n", source);
  print_size(low, high);
  info_tets_print(tets, &report);
  printf("volume       %.6g m³\n", report.volume);
  print_mass(&surface, density);
  printf("next         drystone reduce %s --young 1e6 -o body.h5\n", source);
  ds_mesh_free(&surface);
  return EXIT_OK;
}

int info_mesh(const char *source, const info_mesh_options *options, const source_reading *reading) {
  ds_error error = {{0}};
  ds_mesh mesh;
  ds_tets tets;
  if (mesh_source_read_any(&tets, &mesh, source, options->scale, &error) != DS_OK) return complain(error.message);
  if (tets.tet_count > 0) {
    int status = info_tets(source, &tets, options->density);
    ds_tets_free(&tets);
    return status;
  }
  double start = ds_clock();
  ds_solid *solid = source_solid(&mesh, source, reading, &error);
  if (solid == NULL) {
    ds_mesh_free(&mesh);
    complain(error.message);
    fprintf(stderr, "drystone info: 'drystone check %s' lists all faults\n", source);
    return EXIT_INPUT;
  }
  ds_solid_info info = ds_solid_get_info(solid);
  printf("mesh         %s\n", source);
  print_size(info.low, info.high);
  printf("surface      %d triangles, %d vertices, %.6g m²\n", (int)info.triangles, (int)info.vertices, info.area);
  printf("volume       %.6g m³\n", info.volume);
  print_mass(&mesh, options->density);
  print_solid(&info, ds_clock() - start);
  ds_solid_release(solid);
  ds_mesh_free(&mesh);
  return EXIT_OK;
}
