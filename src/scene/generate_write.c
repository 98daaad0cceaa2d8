/* Writes scene text for the generators: definitions of bodies and shapes in, JSON out.
 *
 * Numbers are written so that they read back as the same double: the geometry in the text is exactly the one computed.
 * What equals a default of the format is left out. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "scene/generate.h"
#include "scene/imperfect.h"
#include "shape/shape.h"

/* ---- Text ---- */

static bool text_reserve(ds_text *text, size_t more) {
  if (text->failed) return false;
  size_t need = text->length + more + 1;
  if (need <= text->capacity) return true;
  size_t capacity = need > 2048 ? 2 * need : 4096;
  char *data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void ds_text_print(ds_text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0 && text_reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

static void put_number(ds_text *text, double x) {
  char digits[32];
  ds_json_write_number(digits, x);
  ds_text_print(text, "%s", digits);
}

static void put_key_number(ds_text *text, const char *before, double x) {
  ds_text_print(text, "%s", before);
  put_number(text, x);
}

static void put_vec3(ds_text *text, ds_vec3 v) {
  put_key_number(text, "[", v.x);
  put_key_number(text, ", ", v.y);
  put_key_number(text, ", ", v.z);
  ds_text_print(text, "]");
}

/* `,\n      "key": [x, y, z]`, unless it is zero */
static void put_field_vec3(ds_text *text, const char *before, ds_vec3 v) {
  if (v.x == 0 && v.y == 0 && v.z == 0) return;
  ds_text_print(text, "%s", before);
  put_vec3(text, v);
}

/* ---- Head of the scene ---- */

static void put_value(ds_text *text, const ds_generator_parameter *parameter, double value) {
  if (!parameter->choices) {
    put_number(text, value);
    return;
  }
  const char *choice = parameter->choices;
  for (double i = 0; i < value; i++) choice = strchr(choice, '|') + 1;
  ds_text_print(text, "%.*s", (int)strcspn(choice, "|"), choice);
}

void ds_generation_begin(ds_generation *g, const char *note, double time) {
  ds_text *text = &g->text;
  ds_text_print(text, "{\n  \"drystone\": 1,\n  \"name\": \"%s\",\n  \"note\": \"%s Written by the generator %s",
                g->generator->name, note, g->generator->name);
  for (int32_t i = 0; i < g->generator->parameter_count; i++) {
    const ds_generator_parameter *parameter = &g->generator->parameters[i];
    if (ds_imperfect_parameter(g, parameter->name) && g->values[i] == strtod(parameter->initial, NULL)) continue;
    ds_text_print(text, "%s%s=", i == 0 ? ":" : ",", parameter->name);
    put_value(text, parameter, g->values[i]);
  }
  put_key_number(text, ".\",\n  \"time\": ", time);
  if (g->imperfection.uneven) ds_text_print(text, ",\n  \"allow_overlap\": true");
}

/* The options end where anything else begins. */
static void end_options(ds_generation *g) {
  if (g->options > 0) ds_text_print(&g->text, "}");
  g->options = 0;
}

void ds_generation_gravity(ds_generation *g, ds_vec3 gravity) {
  end_options(g);
  ds_text_print(&g->text, ",\n  \"gravity\": ");
  put_vec3(&g->text, gravity);
}

void ds_generation_option(ds_generation *g, const char *name, double value) {
  ds_text_print(&g->text, "%s\"%s\": ", g->options++ == 0 ? ",\n  \"options\": {" : ", ", name);
  put_number(&g->text, value);
}

void ds_generation_choice(ds_generation *g, const char *name, const char *value) {
  ds_text_print(&g->text, "%s\"%s\": \"%s\"", g->options++ == 0 ? ",\n  \"options\": {" : ", ", name, value);
}

void ds_generation_material(ds_generation *g, const char *name, double mu, double e) {
  end_options(g);
  ds_text_print(&g->text, "%s\"%s\": {\"mu\": ", g->materials++ == 0 ? ",\n  \"materials\": {\n    " : ",\n    ", name);
  put_number(&g->text, mu);
  put_key_number(&g->text, ", \"e\": ", e);
  ds_text_print(&g->text, "}");
}

/* A section ends where another, or the pairs, or the bodies begin. */
static void end_sections(ds_generation *g) {
  end_options(g);
  if (g->materials > 0 || g->solids > 0 || g->deformables > 0) ds_text_print(&g->text, "\n  }");
  g->materials = g->solids = g->deformables = 0;
}

void ds_generation_pair(ds_generation *g, const char *a, const char *b, double mu, double e) {
  end_sections(g);
  ds_text_print(&g->text, ",\n  \"pairs\": [{\"materials\": [\"%s\", \"%s\"], \"mu\": ", a, b);
  put_number(&g->text, mu);
  put_key_number(&g->text, ", \"e\": ", e);
  ds_text_print(&g->text, "}]");
}

static void begin_solid(ds_generation *g, const char *name) {
  if (g->solids == 0) end_sections(g);
  ds_text_print(&g->text, "%s\"%s\": {", g->solids++ == 0 ? ",\n  \"solids\": {\n    " : ",\n    ", name);
}

void ds_generation_solid_figure(ds_generation *g, const char *name, const char *figure, double scale) {
  begin_solid(g, name);
  ds_text_print(&g->text, "\"figure\": \"%s\"", figure);
  if (scale != 1) put_key_number(&g->text, ", \"scale\": ", scale);
  ds_text_print(&g->text, "}");
}

void ds_generation_solid_recipe(ds_generation *g, const char *name, const char *recipe, double cell) {
  begin_solid(g, name);
  ds_text_print(&g->text, "\"recipe\": %s", recipe);
  if (cell > 0) put_key_number(&g->text, ", \"cell\": ", cell);
  ds_text_print(&g->text, "}");
}

/* ---- Deformables ---- */

ds_soft_text ds_default_soft_text(void) { return (ds_soft_text){.scale = 1, .def = ds_default_reduced()}; }

static void put_source(ds_text *text, const ds_soft_text *soft) {
  if (soft->file) ds_text_print(text, "\"file\": \"%s\"", soft->file);
  if (soft->solid) ds_text_print(text, "\"shape\": \"%s\"", soft->solid);
  if (soft->recipe) ds_text_print(text, "\"shape\": {\"recipe\": %s}", soft->recipe);
  if (!soft->figure) return;
  ds_text_print(text, "\"shape\": {\"figure\": \"%s\"", soft->figure);
  if (soft->scale != 1) put_key_number(text, ", \"scale\": ", soft->scale);
  ds_text_print(text, "}");
}

void ds_generation_deformable(ds_generation *g, const char *name, const ds_soft_text *soft) {
  const ds_reduced_def *def = &soft->def, usual = ds_default_reduced();
  ds_text *text = &g->text;
  if (g->deformables == 0) end_sections(g);
  ds_text_print(text, "%s\"%s\": {", g->deformables++ == 0 ? ",\n  \"deformables\": {\n    " : ",\n    ", name);
  put_source(text, soft);
  if (!soft->file) {
    put_key_number(text, ",\n      \"young\": ", def->young);
    put_key_number(text, ", \"poisson\": ", def->poisson);
    put_key_number(text, ", \"density\": ", def->density);
    ds_text_print(text, ", \"modes\": %d%s", (int)def->modes, def->stvk ? ", \"stvk\": true" : "");
    if (def->damping_mass != usual.damping_mass) put_key_number(text, ", \"damping_mass\": ", def->damping_mass);
    if (def->damping_stiffness != usual.damping_stiffness)
      put_key_number(text, ", \"damping_stiffness\": ", def->damping_stiffness);
    if (soft->cell > 0) put_key_number(text, ", \"cell\": ", soft->cell);
    if (soft->tets > 0) ds_text_print(text, ", \"tets\": %d", (int)soft->tets);
  }
  ds_text_print(text, "}");
}

void ds_generation_joint(ds_generation *g, const ds_joint_def *def, const char *a, const char *b) {
  ds_text *text = &g->text;
  ds_text_print(text, "%s    {\"name\": \"%s\", \"kind\": \"%s\", \"bodies\": [\"%s\", \"%s\"], \"point\": ",
                g->joints++ == 0 ? "\n  ],\n  \"joints\": [\n" : ",\n", def->name, ds_joint_kind_name(def->kind), a, b);
  put_vec3(text, def->point);
  if (ds_joint_kind_has_axis(def->kind)) put_field_vec3(text, ", \"axis\": ", def->axis);
  ds_text_print(text, "%s}", def->collide ? ", \"collide\": true" : "");
}

void ds_generation_end(ds_generation *g) {
  end_sections(g);
  ds_imperfect_ball(g);
  ds_text_print(&g->text, "%s\n}\n", g->bodies == 0 ? ",\n  \"bodies\": []" : "\n  ]");
}

/* ---- Bodies ---- */

static void put_rotation(ds_text *text, const char *before, ds_quat q) {
  if (q.x == 0 && q.y == 0 && q.z == 0) return;
  put_key_number(text, before, q.w);
  put_key_number(text, ", ", q.x);
  put_key_number(text, ", ", q.y);
  put_key_number(text, ", ", q.z);
  ds_text_print(text, "]");
}

/* A measure of a shape as the member of a scene file. */
static void put_measure(ds_text *text, const ds_measure *m, const ds_shape_def *shape, const char *solid) {
  const char *at = (const char *)shape + m->offset;
  ds_text_print(text, ", \"%s\": ", m->key);
  switch (m->kind) {
    case DS_MEASURE_LENGTH:
      put_key_number(text, "", *(const double *)(const void *)at / m->share);
      break;
    case DS_MEASURE_LENGTHS:
      put_vec3(text, v3_scale(1 / m->share, *(const ds_vec3 *)(const void *)at));
      break;
    case DS_MEASURE_POINTS:
      ds_text_print(text, "[");
      for (int32_t i = 0; i < shape->point_count; i++) {
        ds_text_print(text, "%s\n          ", i == 0 ? "" : ",");
        put_vec3(text, shape->points[i]);
      }
      ds_text_print(text, "]");
      break;
    case DS_MEASURE_SOLID:
      ds_text_print(text, "\"%s\"", solid);
      break;
  }
}

static void put_shape(ds_text *text, const ds_shape_def *shape, const char *solid, bool with_density) {
  const ds_shape_ops *ops = ds_shape_kinds[shape->kind];
  if (!ops->not_in_files) ds_text_print(text, "{\"kind\": \"%s\"", ops->name);
  for (int i = 0; i < DS_MEASURES_MAX && ops->measures[i].key; i++) put_measure(text, &ops->measures[i], shape, solid);
  put_field_vec3(text, ", \"position\": ", shape->pose.p);
  put_rotation(text, ", \"rotation\": [", shape->pose.q);
  if (with_density) put_key_number(text, ", \"density\": ", shape->density);
  ds_text_print(text, "}");
}

/* The shaking floor: whole periods, so that it ends where it began. */
static void put_shake(ds_generation *g, double amplitude) {
  double frequency = ds_generation_value(g, "frequency");
  double periods = fmax(1, round(2 * frequency));
  ds_text_print(&g->text, ",\n      \"motion\": {\"kind\": \"harmonic\", \"amplitude\": ");
  put_vec3(&g->text, v3(amplitude, 0, 0));
  put_key_number(&g->text, ", \"frequency\": ", frequency);
  put_key_number(&g->text, ", \"start_time\": 1, \"end_time\": ", 1 + periods / frequency);
  ds_text_print(&g->text, "}");
}

static double shake_amplitude(const ds_generation *g) {
  for (int32_t i = 0; i < g->generator->parameter_count; i++)
    if (strcmp(g->generator->parameters[i].name, "shake") == 0) return g->values[i];
  return 0;
}

/* All of a body but what it is made of. */
static void begin_body(ds_generation *g, const char *material, const ds_body_def *def) {
  ds_text *text = &g->text;
  end_sections(g);
  ds_text_print(text, "%s    {\n      \"name\": \"%s\"", g->bodies++ == 0 ? ",\n  \"bodies\": [\n" : ",\n", def->name);
  double amplitude = def->kind == DS_BODY_STATIC ? shake_amplitude(g) : 0;
  if (amplitude != 0) {
    ds_text_print(text, ", \"kind\": \"kinematic\"");
    put_shake(g, amplitude);
  } else if (def->kind == DS_BODY_STATIC) {
    ds_text_print(text, ", \"kind\": \"static\"");
  } else if (def->kind == DS_BODY_KINEMATIC && def->motion.kind == DS_MOTION_VELOCITY) {
    ds_text_print(text, ", \"kind\": \"kinematic\",\n      \"motion\": {\"kind\": \"velocity\"");
    put_field_vec3(text, ", \"velocity\": ", def->motion.velocity);
    put_field_vec3(text, ", \"angular_velocity\": ", def->motion.angular_velocity);
    ds_text_print(text, "}");
  }
  put_field_vec3(text, ",\n      \"position\": ", def->pose.p);
  put_rotation(text, ",\n      \"rotation\": [", def->pose.q);
  put_field_vec3(text, ",\n      \"velocity\": ", def->velocity);
  put_field_vec3(text, ",\n      \"angular_velocity\": ", def->angular_velocity);
  ds_text_print(text, ",\n      \"material\": \"%s\"", material);
  if (def->mass > 0) put_key_number(text, ", \"mass\": ", def->mass);
  if (def->linear_damping > 0) put_key_number(text, ", \"linear_damping\": ", def->linear_damping);
  if (def->angular_damping > 0) put_key_number(text, ", \"angular_damping\": ", def->angular_damping);
  if (def->release_time > 0) put_key_number(text, ", \"release_time\": ", def->release_time);
  put_field_vec3(text, ", \"color\": ", def->color);
}

static void put_coordinates(ds_text *text, const char *key, const double *q, int32_t count) {
  if (!q) return;
  ds_text_print(text, ",\n      \"%s\": ", key);
  for (int32_t i = 0; i < count; i++) put_key_number(text, i == 0 ? "[" : ", ", q[i]);
  ds_text_print(text, "]");
}

void ds_generation_soft(ds_generation *g, const char *material, const ds_body_def *def, const char *deformable,
                        const double *reduced, const double *reduced_rate, int32_t modes) {
  begin_body(g, material, def);
  put_coordinates(&g->text, "reduced", reduced, modes);
  put_coordinates(&g->text, "reduced_rate", reduced_rate, modes);
  ds_text_print(&g->text, ",\n      \"deformable\": \"%s\"\n    }", deformable);
}

void ds_generation_body_of(ds_generation *g, const char *material, const ds_body_def *def, const ds_shape_def *shapes,
                           const char *const *solids, int32_t shape_count) {
  ds_text *text = &g->text;
  ds_imperfect_body changed;
  if (g->imperfection.wanted) {
    if (!ds_imperfect_change(g, &changed, material, def, shapes, shape_count)) return;
    def = &changed.def;
    if (shape_count <= DS_IMPERFECT_SHAPES) shapes = changed.shapes;
  }
  begin_body(g, material, def);
  ds_text_print(text, ",\n      \"shapes\": [");
  for (int32_t i = 0; i < shape_count; i++) {
    if (i > 0) ds_text_print(text, ",\n        ");
    put_shape(text, &shapes[i], solids ? solids[i] : "", def->kind == DS_BODY_DYNAMIC && def->mass <= 0);
  }
  ds_text_print(text, "]\n    }");
}

void ds_generation_body(ds_generation *g, const char *material, const ds_body_def *def, const ds_shape_def *shapes,
                        int32_t shape_count) {
  ds_generation_body_of(g, material, def, shapes, NULL, shape_count);
}

void ds_generation_solid(ds_generation *g, const char *material, const ds_body_def *def, const char *solid,
                         double density) {
  ds_shape_def shape = {.kind = DS_SHAPE_SOLID, .pose = pose_identity(), .density = density};
  ds_generation_body_of(g, material, def, &shape, &solid, 1);
}

void ds_generation_floor(ds_generation *g, const char *material) {
  ds_body_def def = {.name = "floor", .kind = DS_BODY_STATIC, .pose = pose_identity(), .color = DS_COLOR_FLOOR};
  ds_shape_def shape = {.kind = DS_SHAPE_HALF_SPACE, .pose = pose_identity()};
  ds_generation_body(g, material, &def, &shape, 1);
}

/* ---- Boxes, prisms, colours ---- */

ds_brick ds_default_brick(ds_vec3 center, ds_vec3 size, double density) {
  return (ds_brick){
      .center = center, .size = size, .density = density, .rotation = quat_identity(), .color = v3(0.72, 0.58, 0.45)};
}

void ds_generation_brick(ds_generation *g, const char *material, const char *name, int32_t number,
                         const ds_brick *brick) {
  char full_name[48];
  snprintf(full_name, sizeof full_name, number > 0 ? "%s%d" : "%s", name, (int)number);
  ds_body_def def = {.name = full_name,
                     .kind = DS_BODY_DYNAMIC,
                     .pose = {brick->center, brick->rotation},
                     .velocity = brick->velocity,
                     .angular_velocity = brick->angular_velocity,
                     .mass = brick->mass,
                     .release_time = brick->release_time,
                     .color = brick->color};
  ds_shape_def shape = {.kind = DS_SHAPE_BOX, .half = v3_scale(0.5, brick->size), .density = brick->density};
  ds_generation_body(g, material, &def, &shape, 1);
}

/* Area-weighted over the triangles that the corners make with corner 0. */
static void prism_centroid(double *x, double *z, const ds_prism *prism) {
  double area = 0, sum_x = 0, sum_z = 0, x0 = prism->x[0], z0 = prism->z[0];
  for (int32_t i = 1; i + 1 < prism->corners; i++) {
    double ax = prism->x[i] - x0, az = prism->z[i] - z0, bx = prism->x[i + 1] - x0, bz = prism->z[i + 1] - z0;
    double twice = ax * bz - az * bx;
    area += twice;
    sum_x += twice * (ax + bx);
    sum_z += twice * (az + bz);
  }
  *x = x0 + sum_x / (3 * area);
  *z = z0 + sum_z / (3 * area);
}

void ds_generation_prism(ds_generation *g, const char *material, const ds_body_def *def, double density,
                         const ds_prism *prism) {
  ds_vec3 points[2 * DS_PRISM_CORNERS];
  ds_body_def placed = *def;
  placed.pose = pose_identity();
  prism_centroid(&placed.pose.p.x, &placed.pose.p.z, prism);
  for (int32_t i = 0; i < prism->corners; i++) {
    double x = prism->x[i] - placed.pose.p.x, z = prism->z[i] - placed.pose.p.z;
    points[2 * i] = v3(x, -0.5 * prism->width, z);
    points[2 * i + 1] = v3(x, 0.5 * prism->width, z);
  }
  ds_shape_def shape = {.kind = DS_SHAPE_HULL, .density = density, .points = points, .point_count = 2 * prism->corners};
  ds_generation_body(g, material, &placed, &shape, 1);
}

ds_vec3 ds_color_hue(double hue) {
  double angle = 2 * DS_PI * hue;
  double r = 0.6 + 0.25 * cos(angle), g = 0.6 + 0.25 * cos(angle - 2 * DS_PI / 3);
  double b = 0.6 + 0.25 * cos(angle + 2 * DS_PI / 3);
  return v3(round(r * 1000) / 1000, round(g * 1000) / 1000, round(b * 1000) / 1000);
}
