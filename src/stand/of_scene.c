/* The assembly of a scene: contacts of the project's own detection at gaps up to the tolerance, joined to interfaces;
 * those of the scene's own interfaces as these. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec3.h"
#include "body/scene.h"
#include "detect/detect.h"
#include "stand/build.h"

/* Points per face-face contact: more than the corners of any patch of common shapes; inner ones are left out later. */
enum { POINTS_PER_FACE = 64 };

static ds_status refuse(const ds_scene *scene, const ds_assembly_options *options, ds_error *error) {
  if (scene->joint_count > 0)
    return ds_fail(error, DS_ERROR_INPUT, "the scene has joints; assemblies are blocks that touch, without joints");
  for (int32_t i = 0; i < scene->body_count; i++)
    if (scene->bodies[i].reduced)
      return ds_fail(error, DS_ERROR_INPUT, "body %s is deformable; assemblies are of rigid blocks",
                     scene->bodies[i].def.name ? scene->bodies[i].def.name : "");
  for (int32_t i = 0; i < scene->material_count && options->mu < 0; i++)
    if (v3_norm2(scene->materials[i].axis) > 0)
      return ds_fail(error, DS_ERROR_INPUT,
                     "material %s has friction that differs by direction; verdicts are for cones, give one mu for all",
                     ds_material_name(scene, (ds_material_id){i}));
  return DS_OK;
}

/* R diag(I) Rᵀ */
static void world_inertia(double out[9], ds_quat q, ds_vec3 moments) {
  ds_vec3 e[3] = {quat_rotate(q, v3(1, 0, 0)), quat_rotate(q, v3(0, 1, 0)), quat_rotate(q, v3(0, 0, 1))};
  double m[3] = {moments.x, moments.y, moments.z};
  memset(out, 0, 9 * sizeof *out);
  for (int32_t k = 0; k < 3; k++) {
    double a[3] = {e[k].x, e[k].y, e[k].z};
    for (int32_t i = 0; i < 9; i++) out[i] += m[k] * a[i / 3] * a[i % 3];
  }
}

static void add_blocks(ds_builder *builder, const ds_scene *scene, const ds_state *state,
                       const ds_assembly_options *options) {
  for (int32_t i = 0; i < scene->body_count && !builder->failed; i++) {
    const ds_body *body = &scene->bodies[i];
    ds_block *b = ds_builder_block(builder);
    if (!b) return;
    if (body->def.name)
      strncpy(b->name, body->def.name, sizeof b->name - 1);
    else
      snprintf(b->name, sizeof b->name, "%d", (int)i);
    b->support = body->def.kind != DS_BODY_DYNAMIC;
    for (int32_t k = 0; k < options->support_count; k++) b->support = b->support || options->supports[k] == i;
    b->mass = body->mass.mass;
    b->center = state->bodies[i].x;
    b->force = body->def.force;
    b->torque = body->def.torque;
    world_inertia(b->inertia, state->bodies[i].q, body->inertia);
  }
}

/* A ten-thousandth of the mean size of the blocks. */
static double usual_tolerance(const ds_scene *scene) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < scene->body_count; i++)
    if (scene->bodies[i].def.kind == DS_BODY_DYNAMIC) sum += scene->bodies[i].bounding_radius, count++;
  return count > 0 ? 2e-4 * sum / count : 1e-6;
}

ds_assembly *ds_assembly_of_scene(const ds_scene *scene, const ds_state *state, const ds_assembly_options *options,
                                  ds_error *error) {
  ds_assembly_options usual = ds_default_assembly_options();
  if (!options) options = &usual;
  if (refuse(scene, options, error) != DS_OK) return NULL;
  for (int32_t i = 0; i < options->support_count; i++)
    if (options->supports[i] < 0 || options->supports[i] >= scene->body_count) {
      ds_fail(error, DS_ERROR_INPUT, "there is no body %d; there are %d", (int)options->supports[i],
              (int)scene->body_count);
      return NULL;
    }
  ds_builder builder;
  ds_arena arena = {0};
  ds_contact_list contacts = {0};
  double tolerance = options->tolerance > 0 ? options->tolerance : usual_tolerance(scene);
  ds_detect_options detect = {.margin = tolerance, .contacts_per_face = POINTS_PER_FACE};
  bool good = ds_builder_begin(&builder);
  if (good) {
    builder.assembly->gravity = scene->def.gravity;
    builder.assembly->tolerance = tolerance;
    add_blocks(&builder, scene, state, options);
    good = !builder.failed && ds_detect(&arena, &contacts, scene, state, &detect) == DS_OK;
  }
  for (int32_t i = 0; i < contacts.count && good; i++) {
    const ds_contact_point *c = &contacts.points[i];
    double mu = options->mu, restitution;
    if (!(c->gap <= tolerance) || (builder.assembly->blocks[c->a].support && builder.assembly->blocks[c->b].support))
      continue;
    int32_t a, b, given = ds_feature_is_interface(c->feature) ? 1 + ds_feature_interface(c->feature) : 0;
    ds_contact_materials(&a, &b, scene, c);
    if (mu < 0 && given > 0) mu = scene->interfaces[given - 1].def.mu;
    if (mu < 0) ds_scene_pair(&mu, &restitution, scene, a, b);
    /* its normal is from b to a */
    ds_builder_point(&builder, (ds_touch_point){c->b, c->a, c->point, c->normal, c->gap, mu, given, false});
  }
  ds_arena_free(&arena);
  ds_assembly *assembly = good ? ds_builder_end(&builder) : NULL;
  if (!good) ds_builder_cancel(&builder);
  if (!assembly) ds_fail(error, DS_ERROR_MEMORY, "memory ran out");
  return assembly;
}
