/* What is in a body file, and in tetrahedra: see info_reduced.h. */
#include "info_reduced.h"

#include <stdio.h>

#include "base/vec3.h"
#include "command.h"
#include "io/reduced_file.h"

#define DEGREES (180 / DS_PI)

void info_tets_print(const ds_tets *tets, const ds_tets_report *r) {
  printf("tetrahedra   %d of %d nodes; surface %d triangles, %d nodes\n", (int)tets->tet_count, (int)tets->node_count,
         (int)r->surface_triangles, (int)r->surface_nodes);
  printf("edges        %.4g to %.4g m\n", r->least_edge, r->greatest_edge);
  printf("angles       %.1f to %.1f degrees between faces; quality %.3f at least, %.3f mean (1 = regular)\n",
         DEGREES * r->least_angle, DEGREES * r->greatest_angle, r->least_quality, r->mean_quality);
  double all = 6 * (double)tets->tet_count;
  printf("             share of angles in steps of 10 degrees, %%:");
  for (int i = 0; i < 18; i++) printf(" %.3g", 100 * r->angles[i] / all);
  putchar('\n');
}

static void print_frequencies(const ds_reduced_info *info) {
  enum { A_ROW = 6 };
  for (int32_t i = 0; i < info->linear_modes; i++)
    printf("%s%10.4g%s",
           i == 0           ? "frequencies "
           : i % A_ROW == 0 ? "            "
                            : "",
           info->frequency[i],
           i + 1 == info->linear_modes ? "  Hz\n"
           : i % A_ROW == A_ROW - 1    ? "\n"
                                       : "");
}

void info_reduced_print(const ds_reduced_info *info) {
  ds_vec3 size = v3_sub(info->high, info->low);
  printf("size         %.4g x %.4g x %.4g m\n", size.x, size.y, size.z);
  printf("material     E %g Pa, nu %g, %g kg/m³; damping %g 1/s of mass, %g s of stiffness\n", info->young,
         info->poisson, info->density, info->damping_mass, info->damping_stiffness);
  printf("mass         %.6g kg; mass matrix off by %.1e\n", info->mass, info->mass_error);
  if (info->stvk)
    printf("deformation  large: %d coordinates, from %d linear modes and their derivatives; StVK\n", (int)info->modes,
           (int)info->linear_modes);
  else
    printf("deformation  small: %d linear modes; stiffness diagonal to %.1e\n", (int)info->modes, info->orthogonality);
  print_frequencies(info);
}

void info_reduced_line(const ds_reduced *reduced, int32_t users) {
  ds_reduced_info info = ds_reduced_get_info(reduced);
  printf("deformable   %s, of %d bod%s: %d %s, %.4g to %.4g Hz, %.4g kg, %d tetrahedra, %.1f MB\n",
         ds_reduced_name(reduced), (int)users, users == 1 ? "y" : "ies", (int)info.modes,
         info.stvk ? "StVK coordinates" : "linear modes", info.frequency[0], info.frequency[info.linear_modes - 1],
         info.mass, (int)info.tets, 1e-6 * (double)info.bytes);
}

int info_reduced(const char *path) {
  ds_error error = {{0}};
  ds_reduced *reduced = ds_reduced_file_read(path, &error);
  if (reduced == NULL) {
    fprintf(stderr, "drystone info: %s\n", error.message);
    return EXIT_INPUT;
  }
  ds_reduced_info info = ds_reduced_get_info(reduced);
  printf("body         %s\n", ds_reduced_name(reduced));
  info_reduced_print(&info);
  printf("tetrahedra   %d of %d nodes\n", (int)info.tets, (int)info.nodes);
  printf("surface      %d triangles, %d vertices, %d spheres\n", (int)info.triangles, (int)info.vertices,
         (int)info.spheres);
  printf("memory       %.1f MB\n", 1e-6 * (double)info.bytes);
  ds_reduced_release(reduced);
  return EXIT_OK;
}
