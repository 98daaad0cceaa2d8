/* drystone stand: whether an assembly of blocks stands, with a proof; drystone verify: whether a proof holds.
 * docs/stand.md explains what is printed. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/thread.h"
#include "base/vec3.h"
#include "command.h"
#include "drystone/stand.h"
#include "output.h"
#include "source.h"

enum { EXIT_CAN_STAND = 3, EXIT_FALLS = 4, EXIT_UNDECIDED = 5 };
enum { MOST_ROWS = 32 }; /* of a table, without --all */

typedef struct stand_options {
  arg_list words, settings, loads;
  const char *supports, *certificate;
  double mu, density, tolerance;
  bool least_mu, ranges, remove, json, quick, all;
  source_reading reading;
  int32_t *support;
  int32_t support_count;
} stand_options;

/* What is asked of, and where it comes from. */
typedef struct stand_case {
  const stand_options *o;
  char *text; /* of the source */
  size_t length;
  bool compas;
  ds_scene *scene;
  ds_state *state;
  ds_assembly *assembly;
  ds_stand stand;
  double seconds; /* of processor time, for the verdict */
} stand_case;

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
  o->mu = -1, o->density = 2500;
  const arg_option table[] = {READING_OPTIONS(&o->reading),
                              {"--set", NULL, ARG_LIST, &o->settings, 0, 0, NULL, NULL},
                              {"--mu", NULL, ARG_REAL, &o->mu, 0, 1e6, NULL, NULL},
                              {"--density", NULL, ARG_REAL, &o->density, 1e-9, 1e9, NULL, NULL},
                              {"--tolerance", NULL, ARG_REAL, &o->tolerance, 0, 1e6, NULL, NULL},
                              {"--supports", NULL, ARG_TEXT, &o->supports, 0, 0, NULL, NULL},
                              {"--load", NULL, ARG_LIST, &o->loads, 0, 0, NULL, NULL},
                              {"--least-mu", NULL, ARG_FLAG, &o->least_mu, 0, 0, NULL, NULL},
                              {"--ranges", NULL, ARG_FLAG, &o->ranges, 0, 0, NULL, NULL},
                              {"--remove", NULL, ARG_FLAG, &o->remove, 0, 0, NULL, NULL},
                              {"--quick", NULL, ARG_FLAG, &o->quick, 0, 0, NULL, NULL},
                              {"--certificate", NULL, ARG_TEXT, &o->certificate, 0, 0, NULL, NULL},
                              {"--all", "-a", ARG_FLAG, &o->all, 0, 0, NULL, NULL},
                              {"--json", NULL, ARG_FLAG, &o->json, 0, 0, NULL, NULL}};
  if (!args_parse(&o->words, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  if (o->words.count != 1) return complain("give one scene, generator or assembly"), false;
  return parse_supports(o);
}

/* ---- input ---- */

static ds_assembly *make_assembly(const stand_case *c, double tolerance, ds_error *error) {
  ds_assembly_options options = ds_default_assembly_options();
  options.mu = c->o->mu;
  options.density = c->o->density;
  options.tolerance = tolerance;
  options.supports = c->o->support;
  options.support_count = c->o->support_count;
  if (c->compas) return ds_assembly_read_compas(c->text, c->length, c->o->words.items[0], &options, error);
  return ds_assembly_of_scene(c->scene, c->state, &options, error);
}

static bool open_case(stand_case *c, ds_error *error) {
  const char *source = c->o->words.items[0];
  ds_run_settings run;
  c->text = source_text(&c->length, source, &c->o->settings, error);
  if (!c->text) return false;
  c->compas = ds_assembly_is_compas(c->text, c->length);
  if (!c->compas) {
    c->scene = source_scene(NULL, &run, source, &c->o->settings, &c->o->reading, error);
    c->state = c->scene ? ds_state_create(c->scene) : NULL;
    if (!c->scene) return false;
    if (!c->state) return snprintf(error->message, sizeof error->message, "memory ran out"), false;
  }
  c->assembly = make_assembly(c, c->o->tolerance, error);
  return c->assembly != NULL;
}

static void close_case(stand_case *c) {
  free(c->text);
  ds_state_destroy(c->state);
  ds_scene_destroy(c->scene);
  ds_assembly_free(c->assembly);
  ds_stand_free(&c->stand);
}

/* ---- the verdict in words ---- */

static const char *reason_text(const ds_stand *s) {
  switch (s->reason) {
    case DS_REASON_FRICTIONLESS:
      return "proven: it is in equilibrium without any friction, and every solution is at rest";
    case DS_REASON_PLANAR:
      return "proven for motions in its plane: every solution is at rest";
    case DS_REASON_MOVES:
      return "an equilibrium exists, but so does a solution that moves and obeys all laws";
    case DS_REASON_OPEN:
      return "an equilibrium exists; solutions that move are not excluded";
    case DS_REASON_NONE:
      break;
  }
  return s->verdict == DS_FALLS ? "proven: a mechanism; no forces within the friction cones hold it as drawn"
                                : "neither an equilibrium nor a mechanism was found: too near the edge";
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

static int32_t count_supports(const ds_assembly *a) {
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) count += a->blocks[i].support;
  return count;
}

/* The verdict where interfaces are searched with another tolerance. */
typedef struct retry {
  double tolerance;
  int32_t interfaces, points;
  ds_verdict verdict;
} retry;

static bool try_tolerance(retry *r, const stand_case *c, double factor, ds_error *error) {
  ds_stand_options options = {.planar = !c->o->quick};
  ds_stand stand;
  r->tolerance = factor * c->assembly->tolerance;
  ds_assembly *a = make_assembly(c, r->tolerance, error);
  if (!a) return false;
  ds_status status = ds_stand_check(&stand, a, &options, error);
  r->interfaces = a->interface_count, r->points = a->point_count, r->verdict = stand.verdict;
  if (status == DS_OK) ds_stand_free(&stand);
  ds_assembly_free(a);
  return status == DS_OK;
}

/* ---- load cases ---- */

typedef struct load_case {
  const char *text;
  bool tilt; /* the multiplier is the tangent of an angle */
  ds_multiplier result;
} load_case;

static bool bad_load(const char *text) {
  fprintf(
      stderr,
      "drystone stand: --load %s: expected tilt:DIR, push:DIR or point:BLOCK,FX,FY,FZ, where DIR is x, y, -x, -y or "
      "an azimuth in degrees\n",
      text);
  return false;
}

static bool parse_direction(ds_vec3 *direction, const char *text) {
  static const char *const names[] = {"x", "y", "-x", "-y"};
  static const ds_vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
  double degrees;
  for (int32_t i = 0; i < 4; i++)
    if (strcmp(text, names[i]) == 0) return *direction = axes[i], true;
  if (!args_real(&degrees, text)) return false;
  *direction = v3(cos(degrees * DS_PI / 180), sin(degrees * DS_PI / 180), 0);
  return true;
}

/* "BLOCK,FX,FY,FZ": a block by name. */
static bool parse_point(int32_t *block, ds_vec3 *force, const char *text, const ds_assembly *a) {
  char name[64];
  const char *comma = strchr(text, ',');
  if (!comma || (size_t)(comma - text) >= sizeof name) return false;
  memcpy(name, text, (size_t)(comma - text));
  name[comma - text] = 0;
  for (*block = 0; *block < a->block_count && strcmp(a->blocks[*block].name, name) != 0;) ++*block;
  char rest;
  return *block < a->block_count && sscanf(comma + 1, "%lf,%lf,%lf%c", &force->x, &force->y, &force->z, &rest) == 3 &&
         v3_finite(*force) && v3_norm(*force) > 0;
}

static bool solve_load(load_case *load, const ds_assembly *a, ds_error *error) {
  ds_vec3 direction, force;
  int32_t block;
  load->tilt = strncmp(load->text, "tilt:", 5) == 0;
  if (load->tilt || strncmp(load->text, "push:", 5) == 0) {
    if (!parse_direction(&direction, load->text + 5)) return bad_load(load->text);
    return ds_stand_push(&load->result, a, direction, error) == DS_OK;
  }
  if (strncmp(load->text, "point:", 6) != 0 || !parse_point(&block, &force, load->text + 6, a))
    return bad_load(load->text);
  ds_vec3 *forces = calloc((size_t)a->block_count + 1, sizeof *forces);
  if (!forces) return snprintf(error->message, sizeof error->message, "memory ran out"), false;
  forces[block] = force;
  ds_status status = ds_stand_multiplier(&load->result, a, forces, NULL, error);
  free(forces);
  return status == DS_OK;
}

static void print_load(const load_case *load) {
  const ds_multiplier *m = &load->result;
  printf("load %s:", load->text);
  if (m->equilibrium < 0) {
    printf(" %s\n", m->mechanism ? "proven: no equilibrium, with or without it" : "no equilibrium was found");
    return;
  }
  double f = 180 / DS_PI;
  if (load->tilt) {
    if (m->stands >= 0) printf(" proven to stand up to %.6g degrees,", f * atan(m->stands));
    printf(" equilibrium up to %.6g degrees", f * atan(m->equilibrium));
    if (isfinite(m->falls)) printf(", proven to fall above %.6g degrees", f * atan(m->falls));
  } else {
    if (m->stands >= 0) printf(" proven to stand up to %.6g,", m->stands);
    printf(" equilibrium up to %.8g", m->equilibrium);
    if (isfinite(m->falls)) printf(", proven to fall above %.8g", m->falls);
  }
  printf("%s\n", isfinite(m->falls) ? "" : isinf(m->equilibrium) ? ": no limit" : "; no fall proven");
}

/* ---- everything that was asked for ---- */

typedef struct answers {
  retry retries[2];
  int32_t retry_count;
  load_case *loads;
  ds_least_mu mu;
  ds_force_range *ranges;
  ds_verdict *without; /* one per block */
} answers;

static void free_answers(answers *x, const stand_options *o) {
  for (int32_t i = 0; i < o->loads.count && x->loads; i++) ds_multiplier_free(&x->loads[i].result);
  free(x->loads);
  free(x->ranges);
  free(x->without);
}

static bool try_removals(answers *x, const ds_assembly *a, ds_error *error) {
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

static bool answer_all(answers *x, const stand_case *c, ds_error *error) {
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
    if (!solve_load(&x->loads[i], a, error)) return false;
  }
  if (o->least_mu && ds_stand_least_mu(&x->mu, a, error) != DS_OK) return false;
  for (int32_t i = 0; i < a->interface_count && o->ranges; i++)
    if (ds_stand_range(&x->ranges[i], a, i, error) != DS_OK) return false;
  return !o->remove || try_removals(x, a, error);
}

/* ---- text ---- */

static void print_interfaces(const ds_assembly *a) {
  printf("%d blocks, %d of them supports; %d interfaces with %d points, ", (int)a->block_count, (int)count_supports(a),
         (int)a->interface_count, (int)a->point_count);
  if (a->tolerance > 0)
    printf("found at gaps up to %.3g m (widest %.2g m, deepest overlap %.2g m)\n", a->tolerance, a->widest_gap,
           a->deepest_overlap);
  else
    printf("as given\n");
}

/* An interface and how near it is to sliding or opening. */
typedef struct used {
  int32_t interface;
  double share;
} used;

static int compare_used(const void *x, const void *y) {
  const used *a = x, *b = y;
  if (a->share != b->share) return a->share > b->share ? -1 : 1;
  return a->interface < b->interface ? -1 : 1;
}

static void print_reactions(const stand_case *c) {
  const ds_assembly *a = c->assembly;
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    ds_vec3 f, t;
    if (!a->blocks[i].support) continue;
    ds_support_reaction(&f, &t, a, &c->stand, i);
    if (v3_norm(f) == 0 || (++count > MOST_ROWS && !c->o->all)) continue;
    printf("support %-12s carries (%.6g, %.6g, %.6g) N\n", a->blocks[i].name, f.x, f.y, f.z);
  }
  if (count > MOST_ROWS && !c->o->all) printf("%d more supports: --all\n", (int)count - MOST_ROWS);
}

/* All interfaces, or those that are used most. */
static bool print_thrust(const stand_case *c, const answers *x) {
  const ds_assembly *a = c->assembly;
  int32_t rows = c->o->all || a->interface_count <= MOST_ROWS ? a->interface_count : MOST_ROWS;
  used *order = malloc(((size_t)a->interface_count + 1) * sizeof *order);
  if (!order) return false;
  for (int32_t i = 0; i < a->interface_count; i++) {
    ds_thrust t = ds_interface_thrust(a, &c->stand, i);
    order[i] = (used){i, fmax(t.friction, t.section)};
  }
  if (rows < a->interface_count) qsort(order, (size_t)a->interface_count, sizeof *order, compare_used);
  printf("\n%-20s %12s %9s %9s%s\n", "interface", "normal, N", "friction", "section",
         c->o->ranges ? "   normal from .. to, N" : "");
  for (int32_t k = 0; k < rows; k++) {
    int32_t i = order[k].interface;
    ds_thrust t = ds_interface_thrust(a, &c->stand, i);
    char name[136];
    snprintf(name, sizeof name, "%s - %s", a->blocks[a->interfaces[i].a].name, a->blocks[a->interfaces[i].b].name);
    printf("%-20s %12.6g %8.1f%% %8.1f%%", name, t.normal, 100 * t.friction, 100 * t.section);
    if (c->o->ranges) printf("   %.6g .. %.6g", x->ranges[i].low, x->ranges[i].high);
    printf("\n");
  }
  if (rows < a->interface_count) printf("%d more that are used less: --all\n", (int)a->interface_count - (int)rows);
  free(order);
  print_reactions(c);
  return true;
}

static void print_motion(const ds_assembly *a, const ds_twist *twist, const char *title) {
  double largest = 0;
  for (int32_t i = 0; i < a->block_count; i++)
    largest = fmax(largest, v3_norm(ds_twist_at(twist[i], a->blocks[i].center)));
  printf("\n%s\n", title);
  for (int32_t i = 0; i < a->block_count; i++) {
    ds_vec3 v = v3_scale(1 / largest, ds_twist_at(twist[i], a->blocks[i].center)),
            w = v3_scale(1 / largest, twist[i].w);
    if (v3_norm(v) > 1e-3)
      printf("  %-18s moves (%.3f, %.3f, %.3f), turns (%.3f, %.3f, %.3f)\n", a->blocks[i].name, v.x, v.y, v.z, w.x, w.y,
             w.z);
  }
}

static void print_text(const stand_case *c, const answers *x) {
  const ds_assembly *a = c->assembly;
  const ds_stand *s = &c->stand;
  print_interfaces(a);
  printf("%s: %s\n", ds_verdict_name(s->verdict), reason_text(s));
  if (s->normal) printf("equilibrium to %.1e of a block's weight", s->residual);
  if (s->normal && isfinite(s->margin))
    printf(", margin %s%.4g weights of the mean block at every interface", s->margin >= 1 - 1e-4 ? "at least " : "",
           s->margin);
  if (s->normal) printf("\n");
  if (s->moving) printf("the moving solution has %.3g of free fall, error %.1e\n", s->moving_share, s->moving_error);
  for (int32_t i = 0; i < x->retry_count; i++)
    printf("with gaps up to %.3g m: %d interfaces with %d points, %s\n", x->retries[i].tolerance,
           (int)x->retries[i].interfaces, (int)x->retries[i].points, ds_verdict_name(x->retries[i].verdict));
  for (int32_t i = 0; i < c->o->loads.count; i++) print_load(&x->loads[i]);
  if (c->o->least_mu && isfinite(x->mu.equilibrium))
    printf("least friction: an equilibrium at %.6g, none below %.6g\n", x->mu.equilibrium, x->mu.falls);
  else if (c->o->least_mu)
    printf("least friction: no equilibrium with any up to 10\n");
  if (c->o->remove) {
    printf("can be removed:");
    for (int32_t i = 0; i < a->block_count; i++)
      if (!a->blocks[i].support && x->without[i] != DS_FALLS && x->without[i] != DS_UNDECIDED)
        printf(" %s", a->blocks[i].name);
    printf("\n");
  }
  if (s->normal && !print_thrust(c, x)) complain("memory ran out");
  if (s->mechanism) print_motion(a, s->mechanism, "mechanism, velocities over the largest:");
  if (s->moving) print_motion(a, s->moving, "second solution, accelerations over the largest:");
}

/* ---- JSON ---- */

static void json_vector(json_object *j, const char *key, ds_vec3 v) {
  double x[3] = {v.x, v.y, v.z};
  json_reals(j, key, x, 3);
}

static void json_interfaces(json_object *j, const stand_case *c, const answers *x) {
  const ds_assembly *a = c->assembly;
  json_object all = json_child(j, "interfaces");
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    char key[16];
    snprintf(key, sizeof key, "%d", (int)i);
    json_object k = json_child(&all, key);
    json_text(&k, "a", a->blocks[face->a].name);
    json_text(&k, "b", a->blocks[face->b].name);
    json_real(&k, "mu", face->mu);
    json_integer(&k, "points", face->count);
    if (c->stand.normal) {
      ds_thrust t = ds_interface_thrust(a, &c->stand, i);
      json_vector(&k, "force", t.force);
      json_real(&k, "normal", t.normal);
      json_vector(&k, "center", t.center);
      json_real(&k, "friction", t.friction);
      json_real(&k, "section", t.section);
    }
    if (c->o->ranges) {
      double range[2] = {x->ranges[i].low, x->ranges[i].high};
      json_reals(&k, "range", range, 2);
    }
    json_end(&k);
  }
  json_end(&all);
}

static void json_blocks(json_object *j, const stand_case *c, const answers *x) {
  const ds_assembly *a = c->assembly;
  json_object all = json_child(j, "blocks");
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    char key[16];
    snprintf(key, sizeof key, "%d", (int)i);
    json_object k = json_child(&all, key);
    json_text(&k, "name", b->name);
    json_bool(&k, "support", b->support);
    if (!b->support) json_real(&k, "mass", b->mass);
    if (b->support && c->stand.normal) {
      ds_vec3 f, t;
      ds_support_reaction(&f, &t, a, &c->stand, i);
      json_vector(&k, "force", f);
      json_vector(&k, "torque", t);
    }
    const ds_twist *motion[2] = {c->stand.mechanism, c->stand.moving};
    for (int32_t m = 0; m < 2; m++) {
      if (!motion[m]) continue;
      json_vector(&k, m == 0 ? "mechanism" : "acceleration", ds_twist_at(motion[m][i], b->center));
      json_vector(&k, m == 0 ? "mechanism_turn" : "angular_acceleration", motion[m][i].w);
    }
    if (c->o->remove && !b->support) json_text(&k, "without", ds_verdict_name(x->without[i]));
    json_end(&k);
  }
  json_end(&all);
}

static void print_json(const stand_case *c, const answers *x) {
  const ds_assembly *a = c->assembly;
  const ds_stand *s = &c->stand;
  json_object j = json_begin(stdout);
  json_text(&j, "source", c->o->words.items[0]);
  json_text(&j, "verdict", ds_verdict_name(s->verdict));
  json_text(&j, "reason", reason_text(s));
  json_real(&j, "margin", s->margin);
  json_real(&j, "residual", s->normal ? s->residual : NAN);
  json_integer(&j, "factorizations", s->factorizations);
  json_real(&j, "time_ms", 1e3 * c->seconds);
  json_real(&j, "tolerance", a->tolerance);
  json_real(&j, "widest_gap", a->widest_gap);
  json_real(&j, "deepest_overlap", a->deepest_overlap);
  if (s->moving) json_real(&j, "moving_share", s->moving_share);
  for (int32_t i = 0; i < x->retry_count; i++)
    json_text(&j, i == 0 ? "verdict_at_0.1_tolerance" : "verdict_at_10_tolerance",
              ds_verdict_name(x->retries[i].verdict));
  json_object loads = json_child(&j, "loads");
  for (int32_t i = 0; i < c->o->loads.count; i++) {
    const ds_multiplier *m = &x->loads[i].result;
    json_object k = json_child(&loads, x->loads[i].text);
    json_real(&k, "stands", m->stands);
    json_real(&k, "equilibrium", m->equilibrium);
    json_real(&k, "falls", m->falls);
    json_integer(&k, "factorizations", m->factorizations);
    json_end(&k);
  }
  json_end(&loads);
  if (c->o->least_mu) {
    json_object k = json_child(&j, "least_mu");
    json_real(&k, "falls", x->mu.falls);
    json_real(&k, "equilibrium", x->mu.equilibrium);
    json_end(&k);
  }
  json_blocks(&j, c, x);
  json_interfaces(&j, c, x);
  json_end(&j);
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
  answers x = {.retry_count = 0};
  ds_error error = {{0}};
  ds_stand_options options = ds_default_stand_options();
  if (o->quick) options = (ds_stand_options){.margin = false};
  bool good = open_case(&c, &error);
  double start = ds_thread_clock();
  good = good && ds_stand_check(&c.stand, c.assembly, &options, &error) == DS_OK;
  c.seconds = ds_thread_clock() - start;
  good = good && answer_all(&x, &c, &error) && (!o->certificate || write_certificate(&c, &error));
  int status = good ? exit_status(c.stand.verdict) : EXIT_INPUT;
  if (good && o->json)
    print_json(&c, &x);
  else if (good)
    print_text(&c, &x);
  else if (error.message[0] != '\0')
    complain(error.message);
  free_answers(&x, o);
  close_case(&c);
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
