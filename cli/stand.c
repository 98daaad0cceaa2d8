/* drystone stand: whether an assembly of blocks stands, with a proof; drystone verify: whether a proof holds.
 * docs/stand.md explains what is printed. */
#include "stand.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "base/vec3.h"
#include "command.h"
#include "output.h"

enum { EXIT_CAN_STAND = 3, EXIT_FALLS = 4, EXIT_UNDECIDED = 5 };

static int complain(const char *message) {
  fprintf(stderr, "drystone stand: %s\n", message);
  return EXIT_INPUT;
}

/* ---- arguments ---- */

static bool parse_supports(stand_options *o) {
  const char *at = o->supports;
  o->support = calloc(strlen(at ? at : "") + 1, sizeof *o->support);
  if (!o->support) return complain("memory ran out"), false;
  while (at && *at) {
    char *end;
    errno = 0;
    long key = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || errno != 0 || key < 0 || key > INT32_MAX) {
      fprintf(stderr, "drystone stand: --supports %s: expected numbers of blocks, such as 0,1\n", o->supports);
      return false;
    }
    o->support[o->support_count++] = (int32_t)key;
    at = *end ? end + 1 : end;
  }
  return true;
}

static bool parse(stand_options *o, const char **words, int argc, char **argv) {
  o->words = (arg_list){words, 0}, o->settings = (arg_list){words + argc, 0},
  o->loads = (arg_list){words + 2 * argc, 0};
  o->mu = -1, o->density = 2500, o->clutch = ds_default_assembly_options().clutch, o->size = "1280x720";
  const arg_option table[] = {READING_OPTIONS(&o->reading),
                              {"--set", NULL, ARG_LIST, &o->settings, 0, 0, NULL, NULL},
                              {"--mu", NULL, ARG_REAL, &o->mu, 0, 1e6, NULL, NULL},
                              {"--density", NULL, ARG_REAL, &o->density, 1e-9, 1e9, NULL, NULL},
                              {"--tolerance", NULL, ARG_REAL, &o->tolerance, 0, 1e6, NULL, NULL},
                              {"--supports", NULL, ARG_TEXT, &o->supports, 0, 0, NULL, NULL},
                              {"--load", NULL, ARG_LIST, &o->loads, 0, 0, NULL, NULL},
                              {"--interfaces", NULL, ARG_TEXT, &o->interfaces, 0, 0, NULL, NULL},
                              {"--cohesion", NULL, ARG_REAL, &o->cohesion, 0, 1e12, NULL, NULL},
                              {"--strength", NULL, ARG_REAL, &o->strength, 0, 1e12, NULL, NULL},
                              {"--clutch", NULL, ARG_REAL, &o->clutch, 0, 1e9, NULL, NULL},
                              {"--time", "-t", ARG_REAL, &o->time, -1e9, 1e9, NULL, &o->time_given},
                              {"--order", NULL, ARG_FLAG, &o->order, 0, 0, NULL, NULL},
                              {"--output", "-o", ARG_TEXT, &o->picture, 0, 0, NULL, NULL},
                              {"--polar", NULL, ARG_TEXT, &o->polar, 0, 0, NULL, NULL},
                              {"--size", NULL, ARG_TEXT, &o->size, 0, 0, NULL, NULL},
                              {"--view", NULL, ARG_TEXT, &o->view, 0, 0, NULL, NULL},
                              {"--least-mu", NULL, ARG_FLAG, &o->least_mu, 0, 0, NULL, NULL},
                              {"--ranges", NULL, ARG_FLAG, &o->ranges, 0, 0, NULL, NULL},
                              {"--remove", NULL, ARG_FLAG, &o->remove, 0, 0, NULL, NULL},
                              {"--quick", NULL, ARG_FLAG, &o->quick, 0, 0, NULL, NULL},
                              {"--certificate", NULL, ARG_TEXT, &o->certificate, 0, 0, NULL, NULL},
                              {"--all", "-a", ARG_FLAG, &o->all, 0, 0, NULL, NULL},
                              {"--json", NULL, ARG_FLAG, &o->json, 0, 0, NULL, NULL}};
  if (!args_parse(&o->words, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (o->words.count != 1) return complain("give one scene, generator, recording or assembly"), false;
  if (o->picture && !args_ends_in(o->picture, ".png") && !args_ends_in(o->picture, ".svg") &&
      !args_ends_in(o->picture, ".h5") && !args_ends_in(o->picture, ".json"))
    return complain(
               "-o: give a name that ends in .png or .svg, in .h5 for a film of the first motion, or in .json for "
               "a scene"),
           false;
  if (o->polar && !args_ends_in(o->polar, ".png") && !args_ends_in(o->polar, ".svg"))
    return complain("--polar: give a name that ends in .png or .svg"), false;
  return parse_supports(o);
}

static int exit_status(ds_verdict verdict) {
  switch (verdict) {
    case DS_STANDS:
      return EXIT_OK;
    case DS_CAN_STAND:
      return EXIT_CAN_STAND;
    case DS_FALLS:
      return EXIT_FALLS;
    case DS_UNDECIDED:
      break;
  }
  return EXIT_UNDECIDED;
}

static bool try_tolerance(stand_retry *r, const stand_case *c, double factor, ds_error *error) {
  ds_stand_options options = {.planar = !c->o->quick};
  ds_stand stand;
  r->tolerance = factor * c->assembly->tolerance;
  ds_assembly *a = stand_make_assembly(c, r->tolerance, error);
  if (!a) return false;
  ds_status status = ds_stand_check(&stand, a, &options, error);
  r->interfaces = a->interface_count, r->points = a->point_count, r->verdict = stand.verdict;
  if (status == DS_OK) ds_stand_free(&stand);
  ds_assembly_free(a);
  return status == DS_OK;
}

/* ---- everything that was asked for ---- */

static void free_answers(stand_answers *x, const stand_options *o) {
  for (int32_t i = 0; i < o->loads.count && x->loads; i++) {
    ds_multiplier_free(&x->loads[i].result);
    ds_settlement_free(&x->loads[i].settlement);
  }
  free(x->loads);
  free(x->ranges);
  free(x->without);
  free(x->order);
  free(x->stages);
}

static bool try_removals(stand_answers *x, const ds_assembly *a, ds_error *error) {
  ds_stand_options options = {.margin = false};
  for (int32_t i = 0; i < a->block_count; i++) {
    ds_stand stand;
    x->without[i] = DS_UNDECIDED;
    if (a->blocks[i].support) continue;
    ds_assembly *rest = ds_assembly_without(a, i);
    if (!rest) return snprintf(error->message, sizeof error->message, "memory ran out"), false;
    ds_status status = ds_stand_check(&stand, rest, &options, error);
    ds_assembly_free(rest);
    if (status != DS_OK) return false;
    x->without[i] = stand.verdict;
    ds_stand_free(&stand);
  }
  return true;
}

static bool find_order(stand_answers *x, const ds_assembly *a, ds_error *error) {
  x->order = malloc(((size_t)a->block_count + 1) * sizeof *x->order);
  x->stages = malloc(((size_t)a->block_count + 1) * sizeof *x->stages);
  if (!x->order || !x->stages) return snprintf(error->message, sizeof error->message, "memory ran out"), false;
  return ds_stand_order(x->order, &x->placed, x->stages, a, error) == DS_OK;
}

static bool answer_all(stand_answers *x, const stand_case *c, ds_error *error) {
  const stand_options *o = c->o;
  const ds_assembly *a = c->assembly;
  x->loads = calloc((size_t)o->loads.count + 1, sizeof *x->loads);
  x->ranges = calloc((size_t)a->interface_count + 1, sizeof *x->ranges);
  x->without = calloc((size_t)a->block_count + 1, sizeof *x->without);
  if (!x->loads || !x->ranges || !x->without)
    return snprintf(error->message, sizeof error->message, "memory ran out"), false;
  for (int32_t i = 0; i < 2 && a->tolerance > 0; i++, x->retry_count++)
    if (!try_tolerance(&x->retries[i], c, i == 0 ? 0.1 : 10, error)) return false;
  for (int32_t i = 0; i < o->loads.count; i++) {
    x->loads[i].text = o->loads.items[i];
    double start = ds_thread_clock();
    if (!stand_solve_load(&x->loads[i], a, error)) return false;
    x->loads[i].seconds = ds_thread_clock() - start;
  }
  if (o->least_mu && ds_stand_least_mu(&x->mu, a, error) != DS_OK) return false;
  if (o->ranges && ds_stand_ranges(x->ranges, a, 0, error) != DS_OK) return false;
  if (o->order && !find_order(x, a, error)) return false;
  return !o->remove || try_removals(x, a, error);
}

/* ---- the commands ---- */

static bool write_certificate(const stand_case *c, ds_error *error) {
  output out;
  if (!output_open(&out, c->o->certificate, error)) return false;
  if (!ds_stand_write_certificate(out.file, &c->stand, c->assembly)) {
    snprintf(error->message, sizeof error->message, "cannot write %s", c->o->certificate);
    output_discard(&out);
    return false;
  }
  return output_commit(&out, error);
}

static int run(const stand_options *o) {
  stand_case c = {.o = o, .stand = {.verdict = DS_UNDECIDED}};
  stand_answers x = {.retry_count = 0};
  ds_error error = {{0}};
  ds_stand_options options = ds_default_stand_options();
  if (o->quick) options = (ds_stand_options){.margin = false};
  bool good = stand_open(&c, &error);
  double start = ds_thread_clock();
  good = good && ds_stand_check(&c.stand, c.assembly, &options, &error) == DS_OK;
  c.seconds = ds_thread_clock() - start;
  good = good && answer_all(&x, &c, &error) && (!o->certificate || write_certificate(&c, &error));
  good = good && (!o->polar || stand_draw_polar(&c, &error));
  int status = good ? exit_status(c.stand.verdict) : EXIT_INPUT;
  if (good && o->json)
    stand_print_json(&c, &x);
  else if (good && !stand_print_text(&c, &x))
    complain("memory ran out");
  bool scene = o->picture && args_ends_in(o->picture, ".json");
  if (good && o->picture && !(scene ? stand_write_scene(&c, &error) : stand_draw(&c, &error))) {
    complain(error.message);
    status = EXIT_INPUT;
  }
  if (good) error.message[0] = '\0';
  if (!good && error.message[0] != '\0') complain(error.message);
  free_answers(&x, o);
  stand_close(&c);
  return status;
}

int command_stand(int argc, char **argv) {
  stand_options o = {.mu = -1};
  const char **words = calloc(3 * (size_t)argc + 3, sizeof *words);
  if (!words) return complain("memory ran out");
  int status = parse(&o, words, argc, argv) ? run(&o) : EXIT_INPUT;
  free(o.support);
  free(words);
  return status;
}

static int verify_one(const char *path) {
  ds_error error = {{0}};
  ds_verification v;
  size_t length;
  char *text = ds_text_read_file(path, &length, &error);
  if (!text || ds_stand_verify(&v, text, length, path, &error) != DS_OK) {
    fprintf(stderr, "drystone verify: %s\n", error.message);
    free(text);
    return EXIT_INPUT;
  }
  free(text);
  if (!v.valid) {
    printf("%s: not valid: %s\n", path, v.fault);
    return EXIT_UNCERTIFIED;
  }
  printf("%s: valid: %s", path, ds_verdict_name(v.verdict));
  if (v.verdict != DS_FALLS) printf(", balanced to %.1e of a block's weight", v.residual);
  printf("\n");
  return EXIT_OK;
}

int command_verify(int argc, char **argv) {
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  arg_list files = {words, 0};
  int status = EXIT_OK;
  if (!words) return fprintf(stderr, "drystone verify: memory ran out\n"), EXIT_INPUT;
  if (!args_parse(&files, argc, argv, NULL, 0)) status = EXIT_INPUT;
  if (status == EXIT_OK && files.count == 0) {
    fprintf(stderr, "drystone verify: give one or more certificates of 'drystone stand'\n");
    status = EXIT_INPUT;
  }
  for (int32_t i = 0; i < files.count && status != EXIT_INPUT; i++) {
    int one = verify_one(files.items[i]);
    if (one > status) status = one;
  }
  free(words);
  return status;
}
