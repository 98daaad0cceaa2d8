/* drystone reduce: from a mesh to a deformable body in a file, with a report and pictures of its modes.
 *
 * Tetrahedra are read, or made inside a closed surface; ds_reduced_create does the rest. What can be wrong with the
 * arguments or the place to write to is found before anything is built, and the file appears whole or not at all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "base/thread.h"
#include "command.h"
#include "info_reduced.h"
#include "io/reduced_file.h"
#include "mesh_source.h"
#include "mode_pictures.h"
#include "output.h"
#include "progress.h"
#include "source.h"

typedef struct reduce_options {
  const char *source, *output, *pictures, *name;
  ds_reduced_def def;
  ds_stuffing_def stuffing;
  double scale;
  bool has_cell, has_tets, has_mass, json;
  ds_material_given given; /* by options */
  source_reading reading;  /* of the cache: threads, quiet and where it is */
} reduce_options;

/* Intermediate results, for the report. */
typedef struct reduction {
  char *mesh_name; /* the source as mesh_source.h knows it */
  char title[64];
  ds_tets tets;
  ds_mesh surface; /* what was filled; empty where the file had tetrahedra */
  ds_tets_report report;
  double surface_volume;
  double density; /* as requested; that of the tetrahedra makes up for what was cut off */
  ds_reduced *reduced;
  int64_t file_size;
  double mesh_seconds, reduce_seconds;
  progress line;
} reduction;

static int complain(const char *message) {
  fprintf(stderr, "drystone reduce: %s\n", message);
  return EXIT_INPUT;
}

/* ---- Arguments ---- */

static bool refuse(const char *message) {
  complain(message);
  return false;
}

static bool check_options(const reduce_options *o) {
  if (o->output == NULL) return refuse("give the output file: -o body.h5");
  if (source_same_file(o->source, o->output)) return refuse("the mesh would be overwritten by the body file");
  if (o->has_cell && o->has_tets) return refuse("--cell and --tets exclude each other; give one of them");
  if (o->has_mass && !(o->def.mass > 0)) return refuse("--mass must be above 0 kg");
  if (o->has_mass && o->given.density) return refuse("--mass and --density exclude each other; give one of them");
  if (!(o->def.density > 0)) return refuse("--density must be above 0 kg/m³");
  if (!(o->def.young > 0)) return refuse("--young must be above 0 Pa");
  if (!(o->def.poisson > -1 && o->def.poisson < 0.5))
    return refuse("--poisson must be above -1 and below 0.5; 0.5 would be incompressible, try 0.45");
  return true;
}

static bool parse(reduce_options *o, const char **words, int argc, char **argv) {
  const arg_option table[] = {
      {"--output", "-o", ARG_TEXT, &o->output, 0, 0, NULL, NULL},
      {"--young", NULL, ARG_REAL, &o->def.young, -1e15, 1e15, NULL, &o->given.young},
      {"--poisson", NULL, ARG_REAL, &o->def.poisson, -1e9, 1e9, NULL, &o->given.poisson},
      {"--density", NULL, ARG_REAL, &o->def.density, -1e12, 1e12, NULL, &o->given.density},
      {"--mass", NULL, ARG_REAL, &o->def.mass, -1e15, 1e15, NULL, &o->has_mass},
      {"--modes", NULL, ARG_INTEGER, &o->def.modes, 1, DS_REDUCED_MAX, NULL, NULL},
      {"--stvk", NULL, ARG_FLAG, &o->def.stvk, 0, 0, NULL, NULL},
      {"--damping-mass", NULL, ARG_REAL, &o->def.damping_mass, 0, 1e12, NULL, NULL},
      {"--damping-stiffness", NULL, ARG_REAL, &o->def.damping_stiffness, 0, 1e12, NULL, NULL},
      {"--cell", NULL, ARG_REAL, &o->stuffing.cell, 1e-9, 1e9, NULL, &o->has_cell},
      {"--tets", NULL, ARG_INTEGER, &o->stuffing.wanted, 1, 1e7, NULL, &o->has_tets},
      {"--scale", NULL, ARG_REAL, &o->scale, 1e-9, 1e9, NULL, NULL},
      {"--name", NULL, ARG_TEXT, &o->name, 0, 0, NULL, NULL},
      {"--pictures", NULL, ARG_TEXT, &o->pictures, 0, 0, NULL, NULL},
      {"--json", NULL, ARG_FLAG, &o->json, 0, 0, NULL, NULL},
      {"--threads", "-j", ARG_INTEGER, &o->reading.threads, 0, 256, NULL, NULL},
      READING_OPTIONS(&o->reading),
      {"--quiet", "-q", ARG_FLAG, &o->reading.quiet, 0, 0, NULL, NULL},
  };
  arg_list list = {words, 0};
  o->def = ds_default_reduced();
  o->stuffing = ds_default_stuffing();
  o->scale = 1;
  if (!args_parse(&list, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (list.count != 1)
    return refuse(list.count == 0 ? "give a mesh, a recipe or a figure" : "give one mesh, recipe or figure only");
  o->source = words[0];
  return check_options(o);
}

/* ---- From the source to tetrahedra ---- */

static bool is_figure(const char *name) {
  int32_t count;
  const ds_figure *figures = ds_figures(&count);
  for (int32_t i = 0; i < count; i++)
    if (strcmp(figures[i].name, name) == 0) return true;
  return false;
}

/* A figure's bare name and a recipe's file become what other commands call them. */
static bool find_mesh(reduction *x, const reduce_options *o, ds_error *error) {
  struct stat status;
  const char *source = o->source, *dot = strrchr(source, '.');
  bool is_file = stat(source, &status) == 0;
  const char *prefix = mesh_source_is(source)                       ? ""
                       : dot != NULL && strcmp(dot, ".json") == 0   ? "recipe:"
                       : !is_file && strpbrk(source, "./:") == NULL ? "figure:"
                                                                    : NULL;
  if (prefix == NULL) {
    snprintf(error->message, sizeof error->message,
             "%.200s: unknown file type; give .obj, .stl, .ply, .msh, .vtk, .veg, .node or .ele, a recipe .json, or "
             "the name of a figure",
             source);
    return false;
  }
  x->mesh_name = malloc(strlen(prefix) + strlen(source) + 1);
  if (x->mesh_name == NULL) return snprintf(error->message, sizeof error->message, "out of memory"), false;
  sprintf(x->mesh_name, "%s%s", prefix, source);
  return true;
}

/* The name of the body: --name, or the source without folders and extension. */
static void find_title(reduction *x, const reduce_options *o) {
  const char *start = o->name != NULL ? o->name : o->source, *slash = strrchr(start, '/'), *colon = strrchr(start, ':');
  if (o->name == NULL && slash != NULL) start = slash + 1;
  if (o->name == NULL && colon != NULL && colon >= start) start = colon + 1;
  const char *dot = o->name == NULL && !is_figure(start) ? strrchr(start, '.') : NULL;
  size_t length = dot != NULL && dot > start ? (size_t)(dot - start) : strlen(start);
  snprintf(x->title, sizeof x->title, "%.*s", (int)(length < sizeof x->title ? length : sizeof x->title - 1), start);
}

static void show(void *user, const char *what, double share) {
  reduction *x = user;
  progress_build(&x->line, what, x->title, share);
}

static bool check_surface(reduction *x, ds_error *error) {
  ds_mesh_report report;
  if (ds_mesh_check(&report, &x->surface, error) != DS_OK) return false;
  x->surface_volume = report.volume;
  for (int f = 0; f < DS_MESH_FAULT_COUNT; f++) {
    if (report.count[f] == 0) continue;
    snprintf(error->message, sizeof error->message,
             "%.200s: the surface cannot be filled: %s, %d time%s; 'drystone check %.200s' lists all faults",
             x->mesh_name, ds_mesh_fault_name((ds_mesh_fault)f), (int)report.count[f], report.count[f] == 1 ? "" : "s",
             x->mesh_name);
    return false;
  }
  return true;
}

static bool make_tets(reduction *x, const reduce_options *o, ds_error *error) {
  double start = ds_clock();
  if (mesh_source_read_any(&x->tets, &x->surface, x->mesh_name, o->scale, error) != DS_OK) return false;
  if (x->tets.tet_count > 0 && (o->has_cell || o->has_tets)) {
    snprintf(error->message, sizeof error->message,
             "%.200s: has tetrahedra already; --cell and --tets are for surfaces that are filled", o->source);
    return false;
  }
  if (x->tets.tet_count == 0) {
    ds_stuffing_def def = o->stuffing;
    def.threads = o->reading.threads;
    def.progress = show;
    def.user = x;
    if (!check_surface(x, error)) return false;
    if (ds_tets_stuff(&x->tets, &x->surface, &def, error) != DS_OK) return false;
  }
  x->mesh_seconds = ds_clock() - start;
  return ds_tets_check(&x->report, &x->tets, error) == DS_OK;
}

/* Names in messages of the library as options: young is --young. */
static void name_options(ds_error *error) {
  char *at = strstr(error->message, "give young, poisson and density"), rest[sizeof error->message];
  if (at == NULL) return;
  snprintf(rest, sizeof rest, "%s", at + strlen("give young, poisson and density"));
  snprintf(at, sizeof error->message - (size_t)(at - error->message), "give --young, --poisson and --density%s", rest);
}

static bool make_reduced(reduction *x, const reduce_options *o, ds_error *error) {
  double start = ds_clock();
  char *cache = NULL;
  error->message[0] = '\0';
  if (!source_cache(&cache, &o->reading, error)) return false;
  ds_reduced_def def = o->def;
  ds_material_given given = o->given;
  given.density |= o->has_mass;
  if (ds_reduced_take_material(&def, &x->tets, given, error) != DS_OK) {
    name_options(error);
    free(cache);
    return false;
  }
  x->density = def.density;
  if (!o->has_mass && x->surface_volume > 0) def.mass = def.density * x->surface_volume; /* what stuffing cut off */
  def.name = x->title;
  def.threads = o->reading.threads;
  def.cache = cache;
  def.progress = show;
  def.user = x;
  x->reduced = ds_reduced_create(&x->tets, &def, error);
  free(cache);
  x->reduce_seconds = ds_clock() - start;
  return x->reduced != NULL;
}

static bool write_file(reduction *x, const reduce_options *o, ds_error *error) {
  struct stat status;
  if (ds_reduced_file_write(o->output, x->reduced, error) != DS_OK) return false;
  x->file_size = stat(o->output, &status) == 0 ? (int64_t)status.st_size : 0;
  return o->pictures == NULL || mode_pictures_write(o->pictures, x->reduced, error) == DS_OK;
}

/* Whether a file can be made there, before minutes are spent on it. */
static bool check_output(const reduce_options *o, ds_error *error) {
  struct stat status;
  output out;
  if (stat(o->output, &status) == 0 && !S_ISREG(status.st_mode)) {
    snprintf(error->message, sizeof error->message, "%.300s: cannot be written: it is %s", o->output,
             S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
    return false;
  }
  if (!output_open(&out, o->output, error)) return false;
  output_discard(&out);
  return true;
}

/* ---- The report ---- */

/* Volume of the tetrahedra against that of the surface, relative. */
static double volume_error(const reduction *x) {
  return x->surface_volume > 0 ? x->report.volume / x->surface_volume - 1 : 0;
}

/* The part of the material that comes from the file. */
static void print_taken(const reduction *x, const ds_material_given *given, bool has_mass) {
  const char *names[] = {"E", "nu", "density"};
  const bool by_option[] = {given->young, given->poisson, given->density || has_mass};
  const char *between = "the file's own ";
  if (x->tets.material.count != 1 || (by_option[0] && by_option[1] && by_option[2])) return;
  printf("of the file  ");
  for (int i = 0; i < 3; i++)
    if (!by_option[i]) printf("%s%s", between, names[i]), between = ", ";
  putchar('\n');
}

static void print_report(const reduction *x, const reduce_options *o) {
  ds_reduced_info info = ds_reduced_get_info(x->reduced);
  printf("body         %s, from %s\n", x->title, o->source);
  if (x->tets.tet_count > 0 && x->surface.triangle_count > 0)
    printf("filled       a surface of %d triangles, %.4g m³\n", (int)x->surface.triangle_count, x->surface_volume);
  info_tets_print(&x->tets, &x->report);
  printf("volume       %.6g m³", x->report.volume);
  if (x->surface_volume > 0) printf(", %+.2f %% of the surface's", 100 * volume_error(x));
  if (x->surface_volume > 0 && !o->has_mass) printf("; mass of the surface kept, at %g kg/m³", x->density);
  putchar('\n');
  print_taken(x, &o->given, o->has_mass);
  info_reduced_print(&info);
  printf("file         %s, %.2f MB\n", o->output, 1e-6 * (double)x->file_size);
  if (o->pictures != NULL) printf("pictures     %s-01.png to %s-%02d.png\n", o->pictures, o->pictures, (int)info.modes);
  printf("time         %.2f s: tetrahedra %.2f s, %s %.2f s\n", x->mesh_seconds + x->reduce_seconds, x->mesh_seconds,
         info.from_cache ? "from the cache" : "reduction", x->reduce_seconds);
  printf("next         drystone run %s -o run.h5    drops it on a floor\n", o->output);
  printf("             in a scene: {\"name\": \"soft\", \"position\": [0, 0, 1], \"deformable\": {\"file\": \"%s\"}}\n",
         o->output);
}

static void print_json(const reduction *x, const reduce_options *o) {
  ds_reduced_info i = ds_reduced_get_info(x->reduced);
  double angles[18];
  for (int k = 0; k < 18; k++) angles[k] = x->report.angles[k];
  json_object j = json_begin(stdout);
  json_text(&j, "name", x->title);
  json_text(&j, "source", o->source);
  json_text(&j, "file", o->output);
  json_integer(&j, "bytes", x->file_size);
  json_integer(&j, "nodes", i.nodes);
  json_integer(&j, "tets", i.tets);
  json_integer(&j, "surface_vertices", i.vertices);
  json_integer(&j, "surface_triangles", i.triangles);
  json_integer(&j, "spheres", i.spheres);
  json_real(&j, "least_angle", x->report.least_angle);
  json_real(&j, "greatest_angle", x->report.greatest_angle);
  json_reals(&j, "angles", angles, 18);
  json_real(&j, "least_quality", x->report.least_quality);
  json_real(&j, "mean_quality", x->report.mean_quality);
  json_real(&j, "volume", x->report.volume);
  json_real(&j, "volume_error", x->surface_volume > 0 ? volume_error(x) : NAN);
  json_real(&j, "mass", i.mass);
  json_real(&j, "mass_error", i.mass_error);
  json_real(&j, "young", i.young);
  json_real(&j, "poisson", i.poisson);
  json_real(&j, "density", i.density);
  json_real(&j, "surface_density", x->surface_volume > 0 ? i.mass / x->surface_volume : NAN);
  json_real(&j, "damping_mass", i.damping_mass);
  json_real(&j, "damping_stiffness", i.damping_stiffness);
  json_bool(&j, "stvk", i.stvk);
  json_integer(&j, "modes", i.modes);
  json_integer(&j, "linear_modes", i.linear_modes);
  json_reals(&j, "frequencies", i.frequency, i.linear_modes);
  json_real(&j, "orthogonality", i.orthogonality);
  json_bool(&j, "from_cache", i.from_cache);
  json_real(&j, "mesh_seconds", x->mesh_seconds);
  json_real(&j, "reduce_seconds", x->reduce_seconds);
  json_end(&j);
}

/* ---- All of it ---- */

static bool build(reduction *x, const reduce_options *o, ds_error *error) {
  if (!find_mesh(x, o, error) || !check_output(o, error)) return false;
  find_title(x, o);
  progress_begin(&x->line, o->reading.quiet, 0);
  bool ok = make_tets(x, o, error) && make_reduced(x, o, error) && write_file(x, o, error);
  progress_end(&x->line);
  return ok;
}

int command_reduce(int argc, char **argv) {
  reduce_options o = {0};
  reduction x = {0};
  ds_error error = {{0}};
  int status = EXIT_INPUT;
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  if (words == NULL) return complain("out of memory");
  if (parse(&o, words, argc, argv)) {
    if (build(&x, &o, &error)) {
      status = EXIT_OK;
      if (o.json)
        print_json(&x, &o);
      else if (!o.reading.quiet)
        print_report(&x, &o);
    } else {
      complain(error.message);
    }
  }
  ds_reduced_release(x.reduced);
  ds_tets_free(&x.tets);
  ds_mesh_free(&x.surface);
  free(x.mesh_name);
  free(words);
  return status;
}
