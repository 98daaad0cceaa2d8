/* drystone check: reads scenes, meshes and body files, and reports whether they can be used. */
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "base/vec3.h"
#include "command.h"
#include "io/reduced_file.h"
#include "mesh_source.h"
#include "source.h"

static void print_counts(const char *source, const ds_scene *scene, const ds_run_settings *run) {
  int32_t kinds[3] = {0}, shapes = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    ds_body_id body = ds_scene_body(scene, i);
    kinds[ds_body_get_kind(scene, body)]++;
    shapes += ds_body_shape_count(scene, body);
  }
  int32_t interfaces = ds_scene_interface_count(scene);
  char touching[40] = "";
  if (interfaces > 0) snprintf(touching, sizeof touching, ", %d interfaces", (int)interfaces);
  printf("%s: ok: %s, %d bodies (%d dynamic, %d static, %d kinematic), %d shapes%s, %g s in steps of %g s\n", source,
         run->name, (int)ds_scene_body_count(scene), (int)kinds[DS_BODY_DYNAMIC], (int)kinds[DS_BODY_STATIC],
         (int)kinds[DS_BODY_KINEMATIC], (int)shapes, touching, run->time, run->options.step);
}

static bool check_scene(const char *source, const arg_list *settings, const source_reading *reading) {
  ds_error error = {{0}};
  ds_run_settings run;
  ds_scene *scene = source_scene(NULL, &run, source, settings, reading, &error);
  if (scene == NULL)
    fprintf(stderr, "drystone check: %s\n", error.message);
  else if (!reading->quiet)
    print_counts(source, scene, &run);
  ds_scene_destroy(scene);
  return scene != NULL;
}

/* ---- meshes ---- */

static const char *const advice[DS_MESH_FAULT_COUNT] = {
    [DS_MESH_EMPTY] = "there are no triangles; export the mesh again",
    [DS_MESH_NOT_FINITE] = "vertices that are not finite; export the mesh again",
    [DS_MESH_BAD_INDEX] = "triangles of vertices that do not exist; export the mesh again",
    [DS_MESH_DEGENERATE] = "triangles without area; delete them, or merge their corners, and close the gap",
    [DS_MESH_DUPLICATE] = "duplicate triangles; delete the copies",
    [DS_MESH_OPEN] = "edges with a triangle on one side only; close the holes, merge vertices at the same position",
    [DS_MESH_NOT_MANIFOLD] = "edges with more than two triangles; remove internal walls, separate touching parts",
    [DS_MESH_INCONSISTENT] = "neighbours with opposite orientation; flip one of them",
    [DS_MESH_CROSSING] = "triangles that intersect; join the parts by a Boolean union",
    [DS_MESH_INVERTED] = "a part that is inside out; flip its triangles",
    [DS_MESH_NO_VOLUME] = "the surface encloses nothing; give sheets a thickness",
};

static void print_faults(const char *source, const ds_mesh_report *r) {
  for (int f = 0; f < DS_MESH_FAULT_COUNT; f++) {
    if (r->count[f] == 0) continue;
    fprintf(stderr, "%s: %s: %d", source, ds_mesh_fault_name((ds_mesh_fault)f), (int)r->count[f]);
    if (r->where[f] >= 0)
      fprintf(stderr, ", first %s %d at (%.6g, %.6g, %.6g) m", f == DS_MESH_NOT_FINITE ? "vertex" : "triangle",
              (int)r->where[f], r->place[f].x, r->place[f].y, r->place[f].z);
    fprintf(stderr, ": %s\n", advice[f]);
  }
}

static bool check_surface(const char *source, const ds_mesh *mesh, bool quiet, ds_error *error) {
  ds_mesh_report report = {0};
  if (ds_mesh_check(&report, mesh, error) != DS_OK) return false;
  if (!report.usable) {
    print_faults(source, &report);
  } else if (!quiet) {
    ds_vec3 low, high;
    mesh_bounds(&low, &high, mesh);
    printf("%s: ok: %d triangles, %d vertices, %d part%s, %.4g x %.4g x %.4g m, area %.4g m², volume %.4g m³\n", source,
           (int)mesh->triangle_count, (int)mesh->vertex_count, (int)report.parts, report.parts == 1 ? "" : "s",
           high.x - low.x, high.y - low.y, high.z - low.z, report.area, report.volume);
  }
  return report.usable;
}

static bool check_tets(const char *source, const ds_tets *tets, bool quiet, ds_error *error) {
  ds_tets_report report;
  if (ds_tets_check(&report, tets, error) != DS_OK) return false;
  if (!quiet)
    printf("%s: ok: %d tetrahedra, %d nodes, angles from %.1f to %.1f degrees, volume %.4g m³\n", source,
           (int)tets->tet_count, (int)tets->node_count, 180 / DS_PI * report.least_angle,
           180 / DS_PI * report.greatest_angle, report.volume);
  return true;
}

static bool check_mesh(const char *source, double scale, bool quiet) {
  ds_error error = {{0}};
  ds_mesh mesh;
  ds_tets tets;
  bool read = mesh_source_read_any(&tets, &mesh, source, scale, &error) == DS_OK;
  bool good = read && (tets.tet_count > 0 ? check_tets(source, &tets, quiet, &error)
                                          : check_surface(source, &mesh, quiet, &error));
  if (error.message[0] != '\0') fprintf(stderr, "drystone check: %s\n", error.message);
  if (read) ds_mesh_free(&mesh);
  if (read) ds_tets_free(&tets);
  return good;
}

/* ---- body files ---- */

static bool check_body(const char *path, bool quiet) {
  ds_error error = {{0}};
  ds_reduced *reduced = ds_reduced_file_read(path, &error);
  if (reduced == NULL) {
    fprintf(stderr, "drystone check: %s\n", error.message);
    return false;
  }
  ds_reduced_info info = ds_reduced_get_info(reduced);
  if (!quiet)
    printf("%s: ok: deformable body %s, %d %s, %.4g kg, first frequency %.4g Hz, %d tetrahedra\n", path,
           ds_reduced_name(reduced), (int)info.modes, info.stvk ? "StVK coordinates" : "linear modes", info.mass,
           info.frequency[0], (int)info.tets);
  ds_reduced_release(reduced);
  return true;
}

static bool check_one(const char *source, const arg_list *settings, const source_reading *reading, double scale) {
  if (mesh_source_is(source)) return check_mesh(source, scale, reading->quiet);
  if (settings->count == 0 && ds_reduced_file_is(source)) return check_body(source, reading->quiet);
  return check_scene(source, settings, reading);
}

int command_check(int argc, char **argv) {
  const char **words = calloc(2 * (size_t)argc + 2, sizeof *words);
  if (words == NULL) return fprintf(stderr, "drystone check: out of memory\n"), EXIT_INPUT;
  arg_list sources = {words, 0}, settings = {words + argc, 0};
  source_reading reading = {0};
  double scale = 1;
  const arg_option table[] = {READING_OPTIONS(&reading),
                              {"--scale", NULL, ARG_REAL, &scale, 1e-9, 1e9, NULL, NULL},
                              {"--set", NULL, ARG_LIST, &settings, 0, 0, NULL, NULL},
                              {"--quiet", "-q", ARG_FLAG, &reading.quiet, 0, 0, NULL, NULL}};
  int status = EXIT_INPUT;
  if (args_parse(&sources, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) {
    if (sources.count == 0)
      fprintf(stderr, "drystone check: give one or more scene files, meshes or body files\n");
    else
      status = EXIT_OK;
  }
  for (int32_t i = 0; i < sources.count; i++) {
    if (!check_one(sources.items[i], &settings, &reading, scale)) status = EXIT_INPUT;
  }
  free(words);
  return status;
}
