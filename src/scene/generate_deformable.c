/* What the generators of scenes with deformable bodies share; see generate_deformable.h. */
#include "scene/generate_deformable.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

enum { NAME_MAX = 48 };

static void full_name(char text[NAME_MAX], const char *name, int32_t number) {
  snprintf(text, NAME_MAX, number > 0 ? "%s%d" : "%s", name, (int)number);
}

void ds_generation_soft_body(ds_generation *g, const char *material, const char *deformable, const ds_soft_body *body) {
  char name[NAME_MAX];
  full_name(name, body->name, body->number);
  ds_body_def def = {.name = name,
                     .kind = DS_BODY_DYNAMIC,
                     .pose = body->pose,
                     .velocity = body->velocity,
                     .angular_velocity = body->angular_velocity,
                     .release_time = body->release_time,
                     .color = body->color};
  ds_generation_soft(g, material, &def, deformable, NULL, NULL, 0);
}

/* A capsule lies along its own z. */
void ds_generation_rod(ds_generation *g, const char *material, const char *name, int32_t number, ds_vec3 a, ds_vec3 b,
                       double radius, ds_vec3 color) {
  char text[NAME_MAX];
  full_name(text, name, number);
  ds_vec3 along = v3_sub(b, a), side = v3_cross(v3(0, 0, 1), along);
  double angle = atan2(v3_norm(side), along.z);
  ds_quat turn = v3_norm(side) > 0 ? quat_axis_angle(v3_scale(1 / v3_norm(side), side), angle) : quat_identity();
  ds_body_def def = {.name = text, .kind = DS_BODY_STATIC, .pose = {v3_scale(0.5, v3_add(a, b)), turn}, .color = color};
  ds_shape_def shape = {
      .kind = DS_SHAPE_CAPSULE, .pose = pose_identity(), .radius = radius, .half_length = 0.5 * v3_norm(along)};
  ds_generation_body(g, material, &def, &shape, 1);
}

void ds_generation_slab(ds_generation *g, const char *material, const char *name, ds_pose pose, ds_vec3 size,
                        ds_vec3 color) {
  ds_body_def def = {.name = name, .kind = DS_BODY_STATIC, .pose = pose, .color = color};
  ds_shape_def shape = {.kind = DS_SHAPE_BOX, .pose = pose_identity(), .half = v3_scale(0.5, size)};
  ds_generation_body(g, material, &def, &shape, 1);
}

static void put(ds_text *text, const char *before, double x) {
  char digits[32];
  ds_json_write_number(digits, x);
  ds_text_print(text, "%s%s", before, digits);
}

/* The body just written is opened again, for its motion. */
static void reopen_body(ds_text *text) {
  static const char end[] = "\n    }";
  size_t length = sizeof end - 1;
  if (!text->failed && text->length >= length && memcmp(text->data + text->length - length, end, length) == 0)
    text->length -= length;
}

/* As a harmonic motion about the middle: half a period, from its one end to the other. */
void ds_generation_turning_floor(ds_generation *g, const char *material, const char *name, const ds_turning *turning) {
  ds_vec3 half = v3_scale(0.5, turning->turn);
  ds_pose middle = {turning->pose.p, quat_unit(quat_mul(quat_exp(half), turning->pose.q))};
  ds_body_def def = {.name = name, .kind = DS_BODY_KINEMATIC, .pose = middle, .color = turning->color};
  ds_shape_def shape = {.kind = DS_SHAPE_HALF_SPACE, .pose = pose_identity()};
  ds_generation_body(g, material, &def, &shape, 1);
  ds_text *text = &g->text;
  reopen_body(text);
  ds_text_print(text, ",\n      \"kind\": \"kinematic\",\n      \"motion\": {\"kind\": \"harmonic\"");
  put(text, ", \"angular_amplitude\": [", half.x);
  put(text, ", ", half.y);
  put(text, ", ", half.z);
  put(text, "], \"frequency\": ", 0.5 / (turning->end_time - turning->start_time));
  put(text, ", \"phase\": ", -0.5 * DS_PI);
  put(text, ", \"start_time\": ", turning->start_time);
  put(text, ", \"end_time\": ", turning->end_time);
  ds_text_print(text, "}\n    }");
}
