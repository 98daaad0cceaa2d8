/* Reads a sweep file: strict JSON with comments, every mistake with its line. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "base/fields.h"
#include "drystone/scene_file.h"
#include "image.h"
#include "source.h"
#include "sweep.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof *(table)))

typedef struct sweep_root {
  int32_t version;
  const char *name, *scene;
  int32_t command, design, samples, seed;
  double limit;
  const ds_json *arguments, *parameters, *metrics, *maps;
} sweep_root;

#define AT(member) .offset = offsetof(sweep_root, member)
static const ds_field root_fields[] = {
    {.key = "drystone_sweep", .kind = DS_FIELD_INTEGER, AT(version), .low = 1, .high = 1, .required = true},
    {.key = "name", .kind = DS_FIELD_NAME, AT(name)},
    {.key = "scene", .kind = DS_FIELD_NAME, AT(scene), .required = true},
    {.key = "command", .kind = DS_FIELD_CHOICE, AT(command), .choices = "run|stand"},
    {.key = "arguments", .kind = DS_FIELD_ARRAY, AT(arguments)},
    {.key = "design", .kind = DS_FIELD_CHOICE, AT(design), .choices = "grid|list|latin-hypercube"},
    {.key = "samples", .kind = DS_FIELD_INTEGER, AT(samples), .low = 1, .high = SWEEP_RUNS_MAX},
    {.key = "seed", .kind = DS_FIELD_INTEGER, AT(seed), .low = 0, .high = 1e9},
    {.key = "limit", .kind = DS_FIELD_NUMBER, AT(limit), .unit = "s", .low = 0, .high = 1e9},
    {.key = "parameters", .kind = DS_FIELD_ARRAY, AT(parameters), .required = true},
    {.key = "metrics", .kind = DS_FIELD_ARRAY, AT(metrics), .required = true},
    {.key = "maps", .kind = DS_FIELD_ARRAY, AT(maps)},
};
#undef AT

/* ---- parameters ---- */

typedef struct parameter_text {
  const char *name, *generator, *set, *option;
  const ds_json *values;
  double from, to;
  int32_t count, scale;
} parameter_text;

#define AT(member) .offset = offsetof(parameter_text, member)
static const ds_field parameter_fields[] = {
    {.key = "name", .kind = DS_FIELD_NAME, AT(name)},
    {.key = "generator", .kind = DS_FIELD_NAME, AT(generator)},
    {.key = "set", .kind = DS_FIELD_NAME, AT(set)},
    {.key = "option", .kind = DS_FIELD_NAME, AT(option)},
    {.key = "values", .kind = DS_FIELD_ARRAY, AT(values)},
    {.key = "from", .kind = DS_FIELD_NUMBER, AT(from)},
    {.key = "to", .kind = DS_FIELD_NUMBER, AT(to)},
    {.key = "count", .kind = DS_FIELD_INTEGER, AT(count), .low = 1, .high = SWEEP_RUNS_MAX},
    {.key = "scale", .kind = DS_FIELD_CHOICE, AT(scale), .choices = "linear|log"},
};
#undef AT
enum { P_NAME, P_GENERATOR, P_SET, P_OPTION, P_VALUES, P_FROM, P_TO, P_COUNT, P_SCALE };

/* A name of a column: of the tables, and of a dataset. */
static bool check_name(ds_reader *r, const sweep *s, const char *name, const ds_json *at) {
  static const char *const taken[] = {"run", "end", "message"};
  bool twice = false;
  for (int32_t i = 0; i < COUNT(taken); i++) twice |= strcmp(name, taken[i]) == 0;
  if (strchr(name, '/') != NULL || strlen(name) >= SWEEP_TEXT)
    return ds_reader_fail(r, at, "%s cannot be a name: no '/', and at most %d bytes", ds_quote(name).text,
                          SWEEP_TEXT - 1);
  for (int32_t i = 0; i < s->parameter_count; i++) twice |= strcmp(name, s->parameters[i].name) == 0;
  for (int32_t i = 0; i < s->metric_count; i++) twice |= strcmp(name, s->metrics[i].name) == 0;
  return !twice ||
         ds_reader_fail(r, at, "%s is the name of another column; give a \"name\" of its own", ds_quote(name).text);
}

static bool read_values(ds_reader *r, sweep_parameter *p) {
  if (p->values->count == 0) return ds_reader_fail(r, p->values, "there are no values");
  for (const ds_json *v = p->values->first; v != NULL; v = v->next) {
    bool scalar = v->kind == DS_JSON_NUMBER || v->kind == DS_JSON_BOOLEAN;
    if (!scalar && !(v->kind == DS_JSON_STRING && strlen(v->string) < SWEEP_TEXT))
      return ds_reader_fail(r, v, "a value is %s; expected a number, true, false, or a text of at most %d bytes",
                            ds_json_kind_name(v->kind), SWEEP_TEXT - 1);
  }
  p->items = malloc((size_t)p->values->count * sizeof *p->items);
  if (p->items == NULL) return ds_reader_fail(r, p->values, "out of memory");
  for (const ds_json *v = p->values->first; v != NULL; v = v->next) p->items[p->count++] = v;
  return true;
}

static bool check_range(ds_reader *r, const sweep *s, const sweep_parameter *p, uint64_t given, const ds_json *at) {
  bool both = (given >> P_FROM & 1) && (given >> P_TO & 1), counted = given >> P_COUNT & 1;
  if (s->design == SWEEP_LIST) return ds_reader_fail(r, at, "a list needs the \"values\" of every parameter");
  if (!both) return ds_reader_fail(r, at, "give \"values\", or \"from\" and \"to\"");
  if (p->log && !(p->from > 0 && p->to > 0))
    return ds_reader_fail(r, at, "\"scale\": \"log\" needs \"from\" and \"to\" above 0");
  if (s->design == SWEEP_GRID && !counted)
    return ds_reader_fail(r, at, "give the \"count\" of values from \"from\" to \"to\"");
  if (s->design == SWEEP_HYPERCUBE && counted)
    return ds_reader_fail(r, at, "a Latin hypercube has no \"count\" per parameter; \"samples\" is the number of runs");
  return true;
}

static bool read_target(ds_reader *r, const sweep *s, sweep_parameter *p, const parameter_text *t, const ds_json *at) {
  const char *paths[] = {t->generator, t->set, t->option};
  int32_t targets = 0;
  for (int32_t i = 0; i < 3; i++) {
    if (paths[i] == NULL) continue;
    targets++;
    p->target = (sweep_target)i;
    p->path = paths[i];
  }
  if (targets != 1) return ds_reader_fail(r, at, "give one of \"generator\", \"set\" and \"option\"");
  if (p->target == SWEEP_GENERATOR && !s->is_generator)
    return ds_reader_fail(r, at, "\"generator\": the scene is a file; use \"set\" with a path in it");
  if (p->target == SWEEP_OPTION && strncmp(p->path, "--", 2) != 0)
    return ds_reader_fail(r, at, "\"option\": expected the name of an option, such as \"--step\"");
  p->name = t->name != NULL ? t->name : p->target == SWEEP_OPTION ? p->path + 2 : p->path;
  return true;
}

static bool read_parameter(ds_reader *r, sweep *s, const ds_json *value) {
  const ds_fields fields = {"a parameter", parameter_fields, COUNT(parameter_fields), NULL};
  parameter_text t = {0};
  uint64_t given = 0;
  if (s->parameter_count == SWEEP_PARAMETERS_MAX)
    return ds_reader_fail(r, value, "%d parameters at most", SWEEP_PARAMETERS_MAX);
  if (value->kind != DS_JSON_OBJECT)
    return ds_reader_fail(r, value, "a parameter is %s; expected an object", ds_json_kind_name(value->kind));
  if (!ds_fields_read(r, &t, &given, value, &fields)) return false;
  sweep_parameter p = {.values = t.values, .from = t.from, .to = t.to, .count = t.count, .log = t.scale};
  if (!read_target(r, s, &p, &t, value) || !check_name(r, s, p.name, value)) return false;
  if (p.values != NULL) {
    if (given >> P_FROM & 0x7) return ds_reader_fail(r, value, "give \"values\", or \"from\" and \"to\", not both");
    p.count = 0;
  } else if (!check_range(r, s, &p, given, value)) {
    return false;
  }
  sweep_parameter *kept = &s->parameters[s->parameter_count++], *first = &s->parameters[0];
  *kept = p;
  if (kept->values != NULL && !read_values(r, kept)) return false;
  return s->design != SWEEP_LIST || kept->count == first->count ||
         ds_reader_fail(r, value, "a list has as many values of every parameter: %d here, %d of \"%s\"",
                        (int)kept->count, (int)first->count, first->name);
}

/* ---- metrics ---- */

typedef struct metric_text {
  const char *name, *field, *body;
  int32_t quantity;
} metric_text;

#define AT(member) .offset = offsetof(metric_text, member)
static const ds_field metric_fields[] = {
    {.key = "name", .kind = DS_FIELD_NAME, AT(name)},
    {.key = "field", .kind = DS_FIELD_NAME, AT(field)},
    {.key = "body", .kind = DS_FIELD_NAME, AT(body)},
    {.key = "quantity", .kind = DS_FIELD_CHOICE, AT(quantity), .choices = "x|y|z|distance|angle|speed"},
};
#undef AT

static bool read_metric(ds_reader *r, sweep *s, const ds_json *value) {
  const ds_fields fields = {"a metric", metric_fields, COUNT(metric_fields), NULL};
  metric_text t = {0};
  uint64_t given = 0;
  if (s->metric_count == SWEEP_METRICS_MAX) return ds_reader_fail(r, value, "%d metrics at most", SWEEP_METRICS_MAX);
  if (value->kind == DS_JSON_STRING)
    t.field = value->string;
  else if (value->kind != DS_JSON_OBJECT)
    return ds_reader_fail(r, value, "a metric is %s; expected the name of a field of the report, or an object",
                          ds_json_kind_name(value->kind));
  else if (!ds_fields_read(r, &t, &given, value, &fields))
    return false;
  sweep_metric m = {.name = t.name, .field = t.field, .body = t.body, .quantity = t.quantity, .at = value};
  bool measured = given >> 3 & 1;
  if ((m.body != NULL) == (m.field != NULL) || measured != (m.body != NULL))
    return ds_reader_fail(r, value, "give a \"field\" of the report, or a \"body\" and a \"quantity\"");
  if (m.name == NULL && m.body != NULL)
    return ds_reader_fail(r, value, "give a \"name\" to what is measured of a body");
  m.stands = m.field != NULL && strcmp(m.field, "stands") == 0;
  if (s->command == SWEEP_STAND && (m.body != NULL || m.stands))
    return ds_reader_fail(r, value,
                          "'drystone stand' has no motion; give a \"field\" of its JSON, such as \"verdict\"");
  if (m.name == NULL) m.name = m.field;
  if (!check_name(r, s, m.name, value)) return false;
  s->metrics[s->metric_count++] = m;
  return true;
}

/* ---- maps ---- */

#define AT(member) .offset = offsetof(sweep_map, member)
static const ds_field map_fields[] = {
    {.key = "x", .kind = DS_FIELD_NAME, AT(x), .required = true},
    {.key = "y", .kind = DS_FIELD_NAME, AT(y), .required = true},
    {.key = "value", .kind = DS_FIELD_NAME, AT(value), .required = true},
    {.key = "file", .kind = DS_FIELD_NAME, AT(file), .required = true},
    {.key = "title", .kind = DS_FIELD_NAME, AT(title)},
    {.key = "size", .kind = DS_FIELD_NAME, AT(size)},
    {.key = "log", .kind = DS_FIELD_BOOLEAN, AT(log)},
    {.key = "low", .kind = DS_FIELD_NUMBER, AT(low)},
    {.key = "high", .kind = DS_FIELD_NUMBER, AT(high)},
};
#undef AT

static bool has_texts(const sweep_parameter *p) {
  for (int32_t i = 0; p->items != NULL && i < p->count; i++)
    if (p->items[i]->kind == DS_JSON_STRING) return true;
  return false;
}

static bool read_map(ds_reader *r, sweep *s, const ds_json *value) {
  const ds_fields fields = {"a map", map_fields, COUNT(map_fields), NULL};
  sweep_map m = {
      .size = "900x720", .low = -INFINITY, .high = INFINITY, .x_parameter = -1, .y_parameter = -1, .metric = -1};
  ds_error why;
  int32_t width, height;
  if (s->map_count == SWEEP_MAPS_MAX) return ds_reader_fail(r, value, "%d maps at most", SWEEP_MAPS_MAX);
  if (value->kind != DS_JSON_OBJECT)
    return ds_reader_fail(r, value, "a map is %s; expected an object", ds_json_kind_name(value->kind));
  if (!ds_fields_read(r, &m, NULL, value, &fields)) return false;
  for (int32_t i = 0; i < s->parameter_count; i++) {
    if (strcmp(m.x, s->parameters[i].name) == 0) m.x_parameter = i;
    if (strcmp(m.y, s->parameters[i].name) == 0) m.y_parameter = i;
  }
  for (int32_t i = 0; i < s->metric_count; i++)
    if (strcmp(m.value, s->metrics[i].name) == 0) m.metric = i;
  if (m.x_parameter < 0 || m.y_parameter < 0 || m.x_parameter == m.y_parameter)
    return ds_reader_fail(r, value, "\"x\" and \"y\" must be the names of two parameters");
  if (m.metric < 0) return ds_reader_fail(r, value, "\"value\" must be the name of a metric");
  if (s->design != SWEEP_GRID && (has_texts(&s->parameters[m.x_parameter]) || has_texts(&s->parameters[m.y_parameter])))
    return ds_reader_fail(r, value, "\"x\" and \"y\": parameters with texts have a place on the map of a grid only");
  if (!(m.low < m.high) || (m.log && m.high <= 0) || (m.log && isfinite(m.low) && m.low <= 0))
    return ds_reader_fail(r, value, "\"low\" must be less than \"high\", and with \"log\" both above 0");
  if (!args_ends_in(m.file, ".png") && !args_ends_in(m.file, ".svg") && !args_ends_in(m.file, ".pdf"))
    return ds_reader_fail(r, value, "\"file\": expected a name that ends in .png, .svg or .pdf");
  if (strchr(m.file, '/') != NULL)
    return ds_reader_fail(r, value, "\"file\": a name without '/': pictures are in the folder of the sweep");
  if (ds_image_parse_size(&width, &height, m.size, &why) != DS_OK)
    return ds_reader_fail(r, value, "\"size\": %.200s", why.message);
  s->maps[s->map_count++] = m;
  return true;
}

/* ---- all of it ---- */

typedef bool item_reader(ds_reader *r, sweep *s, const ds_json *value);

static bool read_items(ds_reader *r, sweep *s, const ds_json *array, const char *what, item_reader *read) {
  int32_t index = 0;
  for (const ds_json *v = array != NULL ? array->first : NULL; v != NULL; v = v->next) {
    snprintf(r->where, sizeof r->where, "%s[%d]", what, (int)index++);
    if (!read(r, s, v)) return false;
  }
  r->where[0] = '\0';
  return true;
}

/* Options that a sweep gives itself. */
static bool read_argument(ds_reader *r, sweep *s, const ds_json *value) {
  static const char *const own[] = {"--report", "--record",  "-o", "--record-every", "--quiet", "-q",
                                    "--json",   "--threads", "-j", "--help",         "-h",      "--output",
                                    "--"};
  if (s->argument_count == SWEEP_ARGUMENTS_MAX)
    return ds_reader_fail(r, value, "%d arguments at most", SWEEP_ARGUMENTS_MAX);
  if (value->kind != DS_JSON_STRING)
    return ds_reader_fail(r, value, "an argument is %s; expected a text, such as \"--time\" or \"2\"",
                          ds_json_kind_name(value->kind));
  for (int32_t i = 0; i < COUNT(own); i++) {
    size_t length = strlen(own[i]);
    if (strncmp(value->string, own[i], length) == 0 && (value->string[length] == '\0' || value->string[length] == '='))
      return ds_reader_fail(r, value, "%s is for the sweep to give", own[i]);
  }
  s->arguments[s->argument_count++] = value->string;
  return true;
}

static bool names_generator(const char *scene) {
  int32_t count;
  const ds_generator *generators = ds_generators(&count);
  size_t length = strcspn(scene, ":");
  for (int32_t i = 0; i < count; i++)
    if (strlen(generators[i].name) == length && memcmp(generators[i].name, scene, length) == 0) return true;
  return false;
}

/* A file, relative to the folder of the sweep file, or a generator. */
static bool find_scene(ds_reader *r, sweep *s) {
  struct stat status;
  const char *slash = s->scene[0] == '/' ? NULL : strrchr(s->file, '/');
  size_t folder = slash != NULL ? (size_t)(slash - s->file) + 1 : 0, size = folder + strlen(s->scene) + 1;
  s->source = malloc(size);
  if (s->source == NULL) return ds_reader_fail(r, s->at, "out of memory");
  snprintf(s->source, size, "%.*s%s", (int)folder, s->file, s->scene);
  if (stat(s->source, &status) == 0) return true;
  if (!names_generator(s->scene)) {
    ds_error why;
    source_say_unknown(s->scene, &why);
    return ds_reader_fail(r, ds_json_find(s->at, "scene"), "%.300s", why.message);
  }
  s->is_generator = true;
  snprintf(s->source, size, "%s", s->scene);
  return true;
}

static bool read_root(ds_reader *r, sweep *s) {
  const ds_fields fields = {"a sweep", root_fields, COUNT(root_fields), NULL};
  sweep_root root = {.seed = 1};
  uint64_t given = 0;
  if (s->doc.root->kind != DS_JSON_OBJECT)
    return ds_reader_fail(r, s->doc.root, "expected a sweep: an object with \"drystone_sweep\": 1");
  if (!ds_fields_read(r, &root, &given, s->doc.root, &fields)) return false;
  s->at = s->doc.root;
  s->scene = root.scene;
  s->name = root.name != NULL ? root.name : "sweep";
  s->command = (sweep_command)root.command;
  s->design = (sweep_design)root.design;
  s->samples = root.samples;
  s->seed = root.seed;
  s->limit = root.limit;
  if ((s->design == SWEEP_HYPERCUBE) != (root.samples > 0))
    return ds_reader_fail(r, s->at,
                          s->design == SWEEP_HYPERCUBE ? "a Latin hypercube needs \"samples\""
                                                       : "only a Latin hypercube has \"samples\"");
  if (!find_scene(r, s) || !read_items(r, s, root.arguments, "arguments", read_argument) ||
      !read_items(r, s, root.parameters, "parameters", read_parameter) ||
      !read_items(r, s, root.metrics, "metrics", read_metric) || !read_items(r, s, root.maps, "maps", read_map))
    return false;
  if (s->parameter_count == 0) return ds_reader_fail(r, root.parameters, "there are no parameters");
  return s->metric_count > 0 || ds_reader_fail(r, root.metrics, "there are no metrics");
}

bool sweep_read(sweep *s, const char *path, ds_error *error) {
  size_t length;
  s->file = path;
  s->text = ds_text_read_file(path, &length, error);
  if (s->text == NULL || ds_json_parse(&s->doc, s->text, length, path, error) != DS_OK) return false;
  ds_reader reader = {.doc = &s->doc, .file = path, .error = error};
  return read_root(&reader, s) && sweep_plan(s, error);
}

void sweep_free(sweep *s) {
  for (int32_t i = 0; i < s->run_count && s->runs != NULL; i++) {
    free(s->runs[i].message);
    free(s->runs[i].values);
  }
  for (int32_t i = 0; i < s->parameter_count; i++) free(s->parameters[i].items);
  free(s->runs);
  free(s->order);
  free(s->strata);
  free(s->source);
  ds_json_free(&s->doc);
  free(s->text);
}
