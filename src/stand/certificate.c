/* Certificates: an assembly, a verdict and what proves it, as JSON whose numbers are exact: texts "m", "m/2^k" or
 * "m*2^k" with whole m and k. docs/stand-mathematics.md has the members. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/vec3.h"
#include "stand/build.h"
#include "stand/planar.h"
#include "stand/proof.h"

/* ---- writing ---- */

static void put(FILE *file, double x) {
  int exponent;
  int64_t whole = (int64_t)ldexp(frexp(x, &exponent), 53);
  exponent -= 53;
  while (whole != 0 && whole % 2 == 0 && exponent < 0) whole /= 2, exponent++;
  if (whole == 0 || exponent == 0)
    fprintf(file, "\"%" PRId64 "\"", whole);
  else
    fprintf(file, "\"%" PRId64 "%s2^%d\"", whole, exponent < 0 ? "/" : "*", abs(exponent));
}

static void put_vector(FILE *file, ds_vec3 x) {
  fputc('[', file);
  put(file, x.x), fputc(',', file);
  put(file, x.y), fputc(',', file);
  put(file, x.z), fputc(']', file);
}

static void put_name(FILE *file, const char *name) {
  fputc('"', file);
  for (const char *c = name; *c; c++) {
    if (*c == '"' || *c == '\\') fputc('\\', file);
    fputc((unsigned char)*c < 32 ? ' ' : *c, file);
  }
  fputc('"', file);
}

static void put_blocks(FILE *file, const ds_assembly *a) {
  fputs("\n\"blocks\": [", file);
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    fprintf(file, "%s\n {\"name\": ", i > 0 ? "," : "");
    put_name(file, b->name);
    fprintf(file, ", \"support\": %s, \"mass\": ", b->support ? "true" : "false");
    put(file, b->mass);
    fputs(", \"center\": ", file), put_vector(file, b->center);
    fputs(", \"force\": ", file), put_vector(file, b->force);
    fputs(", \"torque\": ", file), put_vector(file, b->torque);
    fputs(", \"inertia\": ", file), put_vector(file, v3(b->inertia[0], b->inertia[4], b->inertia[8]));
    fputc('}', file);
  }
  fputs("],", file);
}

static void put_list(FILE *file, const char *key, const double *values, int32_t count) {
  fprintf(file, ", \"%s\": [", key);
  for (int32_t k = 0; k < count; k++) {
    if (k > 0) fputc(',', file);
    put(file, values[k]);
  }
  fputs("]", file);
}

static void put_interfaces(FILE *file, const ds_assembly *a) {
  fputs("\n\"interfaces\": [", file);
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    fprintf(file, "%s\n {\"a\": %d, \"b\": %d, \"mu\": ", i > 0 ? "," : "", (int)face->a, (int)face->b);
    put(file, face->mu);
    if (face->tension > 0) fputs(", \"tension\": ", file), put(file, face->tension);
    if (a->strength) put_list(file, "strength", a->strength + face->first, face->count);
    fputs(", \"normal\": ", file), put_vector(file, face->normal);
    fputs(", \"points\": [", file);
    for (int32_t k = 0; k < face->count; k++) {
      if (k > 0) fputc(',', file);
      put_vector(file, a->points[face->first + k]);
    }
    fputs("]}", file);
  }
  fputs("]", file);
}

static void put_forces(FILE *file, const ds_stand *s, int32_t points) {
  fputs(",\n\"forces\": [", file);
  for (int32_t k = 0; k < points; k++) {
    fprintf(file, "%s\n [", k > 0 ? "," : "");
    put(file, s->normal[k]), fputc(',', file);
    put_vector(file, s->friction[k]);
    fputc(']', file);
  }
  fputs("]", file);
}

static void put_planar(FILE *file, const ds_planar_proof *p, const ds_assembly *a) {
  fprintf(file, ",\n\"planar\": {\"axis\": %d, \"bounds\": [", (int)p->axis);
  for (int32_t i = 0; i < p->bound_count; i++) {
    const ds_planar_bound *b = &p->bounds[i];
    fprintf(file, "%s\n {\"interface\": %d, \"rho\": ", i > 0 ? "," : "", (int)b->interface);
    put(file, b->rho);
    fputs(", \"alpha\": ", file), put(file, b->alpha);
    put_list(file, "y", b->y, 3 * a->block_count);
    put_list(file, "pi", b->pi, a->point_count);
    put_list(file, "beta", b->beta, a->interface_count);
    fputc('}', file);
  }
  fputs("]\n", file);
  put_list(file, "normal", p->normal, a->point_count);
  put_list(file, "tangent", p->tangent, a->point_count);
  fputs("}", file);
}

static void put_crushing(FILE *file, const ds_stand *s, const ds_assembly *a) {
  fputs(",\n\"crush\": [", file);
  for (int32_t i = 0; i < a->interface_count; i++)
    for (int32_t k = a->interfaces[i].first; k < a->interfaces[i].first + a->interfaces[i].count; k++) {
      if (k > 0) fputc(',', file);
      put(file, ds_crush_rate(a, s->mechanism, i, k));
    }
  fputs("]", file);
}

bool ds_stand_write_certificate(FILE *file, const ds_stand *s, const ds_assembly *a) {
  fprintf(file, "{\"drystone_certificate\": 1, \"verdict\": \"%s\", \"gravity\": ", ds_verdict_name(s->verdict));
  put_vector(file, a->gravity);
  fputc(',', file);
  put_blocks(file, a);
  put_interfaces(file, a);
  if (s->normal) put_forces(file, s, a->point_count);
  if (s->pressure) put_list(file, "pressure", s->pressure, a->point_count);
  if (s->planar) put_planar(file, s->planar, a);
  if (s->mechanism) {
    fputs(",\n\"mechanism\": [", file);
    for (int32_t i = 0; i < a->block_count; i++) {
      fprintf(file, "%s\n [", i > 0 ? "," : "");
      put_vector(file, s->mechanism[i].v), fputc(',', file);
      put_vector(file, s->mechanism[i].w), fputc(']', file);
    }
    fputs("]", file);
    if (a->strength) put_crushing(file, s, a);
  }
  fputs("}\n", file);
  return !ferror(file);
}

/* ---- reading ---- */

typedef struct reading {
  ds_reader reader;
  ds_assembly assembly;
} reading;

static const char number_form[] = "a number must be a text \"m\", \"m/2^k\" or \"m*2^k\" with whole m and k";

static bool read_number(reading *r, double *x, const ds_json *value) {
  char *end;
  if (!value || value->kind != DS_JSON_STRING)
    return ds_reader_fail(&r->reader, value ? value : r->reader.doc->root, "%s", number_form);
  errno = 0;
  long long whole = strtoll(value->string, &end, 10);
  long exponent = 0;
  bool good = end != value->string && errno == 0 && llabs(whole) <= 1LL << 53;
  if (good && *end) {
    bool divide = strncmp(end, "/2^", 3) == 0;
    good = divide || strncmp(end, "*2^", 3) == 0;
    const char *digits = end + 3;
    if (good) exponent = strtol(digits, &end, 10);
    good = good && end != digits && *end == 0 && exponent >= 0 && exponent < 1100;
    if (divide) exponent = -exponent;
  }
  *x = good ? ldexp((double)whole, (int)exponent) : 0;
  good = good && isfinite(*x) && fabs(*x) < 1e100 && (whole == 0 || fabs(*x) > 1e-100);
  return good || ds_reader_fail(&r->reader, value, "%s", number_form);
}

static bool read_vector(reading *r, ds_vec3 *x, const ds_json *value, const ds_json *at) {
  if (!value || value->kind != DS_JSON_ARRAY || value->count != 3)
    return ds_reader_fail(&r->reader, value ? value : at, "expected a vector of three numbers");
  const ds_json *y = value->first->next;
  return read_number(r, &x->x, value->first) && read_number(r, &x->y, y) && read_number(r, &x->z, y->next);
}

static const ds_json *array_of(reading *r, const ds_json *object, const char *key, int32_t count) {
  const ds_json *value = ds_json_find(object, key);
  if (value && value->kind == DS_JSON_ARRAY && (count < 0 || value->count == count)) return value;
  if (count < 0)
    ds_reader_fail(&r->reader, value ? value : object, "expected an array \"%s\"", key);
  else
    ds_reader_fail(&r->reader, value ? value : object, "expected an array \"%s\" of %d", key, (int)count);
  return NULL;
}

static bool read_blocks(reading *r, const ds_json *root) {
  const ds_json *list = array_of(r, root, "blocks", -1);
  if (!list) return false;
  r->assembly.blocks = calloc((size_t)list->count + 1, sizeof *r->assembly.blocks);
  if (!r->assembly.blocks) return ds_reader_fail_memory(&r->reader);
  for (const ds_json *v = list->first; v; v = v->next) {
    ds_block *b = &r->assembly.blocks[r->assembly.block_count++];
    if (v->kind != DS_JSON_OBJECT) return ds_reader_fail(&r->reader, v, "a block must be an object");
    const ds_json *name = ds_json_find(v, "name"), *support = ds_json_find(v, "support"),
                  *mass = ds_json_find(v, "mass");
    if (!name || name->kind != DS_JSON_STRING || !support || support->kind != DS_JSON_BOOLEAN || !mass)
      return ds_reader_fail(&r->reader, v, "a block must have a name, support and mass");
    strncpy(b->name, name->string, sizeof b->name - 1);
    b->support = support->boolean;
    ds_vec3 inertia;
    if (!read_vector(r, &inertia, ds_json_find(v, "inertia"), v)) return false;
    b->inertia[0] = inertia.x, b->inertia[4] = inertia.y, b->inertia[8] = inertia.z;
    if (!read_number(r, &b->mass, mass) || !read_vector(r, &b->center, ds_json_find(v, "center"), v) ||
        !read_vector(r, &b->force, ds_json_find(v, "force"), v) ||
        !read_vector(r, &b->torque, ds_json_find(v, "torque"), v))
      return false;
  }
  return true;
}

static bool read_index(reading *r, int32_t *index, const ds_json *value, const ds_json *at) {
  double n = value && value->kind == DS_JSON_NUMBER ? value->number : -1;
  if (!(n >= 0 && n < r->assembly.block_count && n == floor(n)))
    return ds_reader_fail(&r->reader, value ? value : at, "an interface must have the numbers a and b of two blocks");
  *index = (int32_t)n;
  return true;
}

/* One number per point of the interface. */
static bool read_strength(reading *r, const ds_json *v, const ds_interface *face) {
  const ds_json *list = array_of(r, v, "strength", face->count);
  int32_t k = face->first;
  for (const ds_json *x = list ? list->first : NULL; x; x = x->next)
    if (!read_number(r, &r->assembly.strength[k++], x)) return false;
  return list != NULL;
}

static bool read_interfaces(reading *r, const ds_json *root) {
  ds_assembly *a = &r->assembly;
  const ds_json *list = array_of(r, root, "interfaces", -1);
  if (!list) return false;
  int32_t points = 0;
  for (const ds_json *v = list->first; v; v = v->next) {
    const ds_json *p = v->kind == DS_JSON_OBJECT ? array_of(r, v, "points", -1) : NULL;
    if (!p) return v->kind == DS_JSON_OBJECT ? false : ds_reader_fail(&r->reader, v, "an interface must be an object");
    points += p->count;
  }
  a->interfaces = calloc((size_t)list->count + 1, sizeof *a->interfaces);
  a->points = calloc((size_t)points + 1, sizeof *a->points);
  a->strength = calloc((size_t)points + 1, sizeof *a->strength);
  if (!a->interfaces || !a->points || !a->strength) return ds_reader_fail_memory(&r->reader);
  for (const ds_json *v = list->first; v; v = v->next) {
    ds_interface *face = &a->interfaces[a->interface_count++];
    const ds_json *p = ds_json_find(v, "points"), *mu = ds_json_find(v, "mu");
    face->first = a->point_count, face->count = p->count;
    if (!mu) return ds_reader_fail(&r->reader, v, "an interface must have its friction mu");
    const ds_json *tension = ds_json_find(v, "tension"), *strength = ds_json_find(v, "strength");
    if (tension && !read_number(r, &face->tension, tension)) return false;
    if (strength && !read_strength(r, v, face)) return false;
    if (!read_index(r, &face->a, ds_json_find(v, "a"), v) || !read_index(r, &face->b, ds_json_find(v, "b"), v) ||
        !read_number(r, &face->mu, mu) || !read_vector(r, &face->normal, ds_json_find(v, "normal"), v))
      return false;
    for (const ds_json *x = p->first; x; x = x->next)
      if (!read_vector(r, &a->points[a->point_count++], x, v)) return false;
  }
  return true;
}

/* ---- what the verdicts need ---- */

static void *room(int32_t count, size_t size) { return calloc(count > 0 ? (size_t)count : 1, size); }

/* A list of points or blocks: [s, [x, y, z]] each, or [[x, y, z], [x, y, z]], or plain numbers. */
static bool verify_forces(reading *r, ds_verification *result, const ds_json *root) {
  int32_t n = r->assembly.point_count, k = 0;
  const ds_json *list = array_of(r, root, "forces", n);
  double *normal = room(n, sizeof *normal);
  ds_vec3 *friction = room(n, sizeof *friction);
  bool good = list && ((normal && friction) || ds_reader_fail_memory(&r->reader));
  for (const ds_json *v = good ? list->first : NULL; v && good; v = v->next, k++) {
    good = (v->kind == DS_JSON_ARRAY && v->count == 2) || ds_reader_fail(&r->reader, v, "expected [s, [x, y, z]]");
    good = good && read_number(r, &normal[k], v->first) && read_vector(r, &friction[k], v->first->next, v);
  }
  if (good) result->valid = ds_prove_forces(&result->residual, &r->assembly, normal, friction, result->fault);
  free(normal);
  free(friction);
  return good;
}

/* An array of so many numbers; NULL with a message. The caller frees it. */
static double *read_list(reading *r, const ds_json *object, const char *key, int32_t count) {
  const ds_json *list = array_of(r, object, key, count);
  double *values = list ? room(count, sizeof *values) : NULL;
  bool good = values != NULL;
  int32_t k = 0;
  if (list && !values) ds_reader_fail_memory(&r->reader);
  for (const ds_json *v = good ? list->first : NULL; v && good; v = v->next) good = read_number(r, &values[k++], v);
  if (good) return values;
  free(values);
  return NULL;
}

static bool verify_pressure(reading *r, ds_verification *result, const ds_json *root) {
  double *pressure = read_list(r, root, "pressure", r->assembly.point_count);
  if (pressure) result->valid = ds_prove_forces(&result->residual, &r->assembly, pressure, NULL, result->fault);
  free(pressure);
  return pressure != NULL;
}

static bool read_bound(reading *r, ds_planar_bound *b, const ds_json *v) {
  const ds_assembly *a = &r->assembly;
  const ds_json *interface = v->kind == DS_JSON_OBJECT ? ds_json_find(v, "interface") : NULL;
  double i = interface && interface->kind == DS_JSON_NUMBER ? interface->number : -1;
  if (!(i >= 0 && i < a->interface_count && i == floor(i)))
    return ds_reader_fail(&r->reader, v, "a bound must have the number of its interface");
  b->interface = (int32_t)i;
  if (!read_number(r, &b->rho, ds_json_find(v, "rho")) || !read_number(r, &b->alpha, ds_json_find(v, "alpha")))
    return false;
  b->y = read_list(r, v, "y", 3 * a->block_count);
  b->pi = b->y ? read_list(r, v, "pi", a->point_count) : NULL;
  b->beta = b->pi ? read_list(r, v, "beta", a->interface_count) : NULL;
  return b->beta != NULL;
}

static bool read_planar(reading *r, ds_planar_proof *proof, const ds_json *value) {
  const ds_json *axis = value->kind == DS_JSON_OBJECT ? ds_json_find(value, "axis") : NULL;
  if (!axis || axis->kind != DS_JSON_NUMBER || (axis->number != 0 && axis->number != 1 && axis->number != 2))
    return ds_reader_fail(&r->reader, value, "expected a proof with its \"axis\": 0, 1 or 2");
  proof->axis = (int32_t)axis->number;
  const ds_json *bounds = array_of(r, value, "bounds", -1);
  if (!bounds) return false;
  proof->bounds = room(bounds->count, sizeof *proof->bounds);
  if (!proof->bounds) return ds_reader_fail_memory(&r->reader);
  memset(proof->bounds, 0, (size_t)bounds->count * sizeof *proof->bounds);
  for (const ds_json *v = bounds->first; v; v = v->next)
    if (!read_bound(r, &proof->bounds[proof->bound_count++], v)) return false;
  proof->normal = read_list(r, value, "normal", r->assembly.point_count);
  proof->tangent = proof->normal ? read_list(r, value, "tangent", r->assembly.point_count) : NULL;
  return proof->tangent != NULL;
}

static bool verify_planar(reading *r, ds_verification *result, const ds_json *value) {
  ds_planar_proof *proof = calloc(1, sizeof *proof);
  if (!proof) return ds_reader_fail_memory(&r->reader);
  bool good = read_planar(r, proof, value);
  if (good) result->valid = ds_prove_planar(&result->residual, &r->assembly, proof, result->fault);
  ds_planar_free(proof);
  return good;
}

/* STANDS has a proof without friction, or one in the plane. */
static bool verify_stands(reading *r, ds_verification *result, const ds_json *root) {
  const ds_json *planar = ds_json_find(root, "planar");
  return planar ? verify_planar(r, result, planar) : verify_pressure(r, result, root);
}

static bool verify_mechanism(reading *r, ds_verification *result, const ds_json *root) {
  int32_t n = r->assembly.block_count, k = 0;
  const ds_json *list = array_of(r, root, "mechanism", n);
  ds_twist *twist = room(n, sizeof *twist);
  bool good = list && (twist || ds_reader_fail_memory(&r->reader));
  for (const ds_json *v = good ? list->first : NULL; v && good; v = v->next, k++) {
    good = (v->kind == DS_JSON_ARRAY && v->count == 2) || ds_reader_fail(&r->reader, v, "expected [v, w]");
    good = good && read_vector(r, &twist[k].v, v->first, v) && read_vector(r, &twist[k].w, v->first->next, v);
  }
  if (good) result->valid = ds_prove_mechanism(&r->assembly, twist, result->fault);
  free(twist);
  return good;
}

static bool read_verdict(reading *r, ds_verdict *verdict, const ds_json *root) {
  const ds_json *value = ds_json_find(root, "verdict");
  for (int32_t i = 0; value && value->kind == DS_JSON_STRING && i < 4; i++)
    if (strcmp(value->string, ds_verdict_name((ds_verdict)i)) == 0) {
      *verdict = (ds_verdict)i;
      return true;
    }
  return ds_reader_fail(&r->reader, value ? value : root,
                        "expected a \"verdict\": STANDS, CAN STAND, FALLS or UNDECIDED");
}

static bool verify(reading *r, ds_verification *result, const ds_json *root) {
  const ds_json *version = root->kind == DS_JSON_OBJECT ? ds_json_find(root, "drystone_certificate") : NULL;
  if (!version || version->kind != DS_JSON_NUMBER || version->number != 1)
    return ds_reader_fail(&r->reader, root, "expected an object with \"drystone_certificate\": 1");
  if (!read_verdict(r, &result->verdict, root) ||
      !read_vector(r, &r->assembly.gravity, ds_json_find(root, "gravity"), root) || !read_blocks(r, root) ||
      !read_interfaces(r, root))
    return false;
  ds_error fault;
  if (ds_assembly_check(&r->assembly, &fault) != DS_OK) return ds_reader_fail(&r->reader, root, "%s", fault.message);
  if (result->verdict == DS_UNDECIDED) {
    snprintf(result->fault, sizeof result->fault, "UNDECIDED claims nothing");
    return true;
  }
  if (result->verdict == DS_FALLS) return verify_mechanism(r, result, root);
  if (!(result->verdict == DS_STANDS ? verify_stands(r, result, root) : verify_forces(r, result, root))) return false;
  if (result->valid && !(result->residual <= DS_ACCEPTED_REST)) {
    result->valid = false;
    snprintf(result->fault, sizeof result->fault, "the forces leave %.3g of a weight unbalanced", result->residual);
  }
  return true;
}

ds_status ds_stand_verify(ds_verification *result, const char *text, size_t length, const char *file, ds_error *error) {
  ds_json_doc doc;
  *result = (ds_verification){.verdict = DS_UNDECIDED};
  ds_status status = ds_json_parse(&doc, text, length, file, error);
  if (status != DS_OK) return status;
  reading r = {.reader = {.doc = &doc, .file = file, .error = error}};
  bool good = verify(&r, result, doc.root);
  free(r.assembly.blocks);
  free(r.assembly.interfaces);
  free(r.assembly.points);
  free(r.assembly.strength);
  ds_json_free(&doc);
  return good ? DS_OK : DS_ERROR_INPUT;
}
