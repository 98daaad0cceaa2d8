/* The cone of a constraint block: which impulses its three rows may have.
 *
 * Every block is solved in Coulomb's cone {|r_T| <= mu r_N}, so that solvers know no other. Its rows make the rest:
 *
 *   cone        what has it             rows and coefficient
 *   Coulomb     contact                 normal, two tangents; mu of the pair
 *   half-line   limit of a joint        the free direction of the joint as the normal; mu = 0
 *   interval    drive, dry friction     mu = 1 along that direction, pressed by F h through a row that acts on no body
 *               of a joint              of the scene (joint/articulate.c), so that |r| <= F h
 *   disk        the same of a planar    mu = 1 along two directions, pressed likewise, so that |(r_1, r_2)| <= F h and
 *               joint                   r_1, r_2 dissipate most: against the slip u - aim, or any that holds u = aim
 *   free        joint                   no block: eliminated before (joint/articulate.c)
 *
 * Friction that differs by direction has an ellipse of impulses with the semi-axes mu_1 r_N and mu_2 r_N along tangents
 * e_1 and e_2, and of these the one that dissipates most. With mu the larger of the two, s_i = mu_i / mu and the rows
 * t_i = s_i e_i, the impulse is r_1 t_1 + r_2 t_2 with |(r_1, r_2)| <= mu r_N, the slip is u_i = t_i . v, and r_T . u_T
 * is the dissipated energy as before: maximum dissipation in the ellipse is maximum dissipation in the disk.
 *
 * A material has mu across its axis a, and mu_a along it. Its friction on a slip of unit direction d is
 *
 *   mu(d)² = mu² + (mu_a² - mu²) (d . a)²
 *
 * per normal force, also where a is not in the plane of contact: where a is its normal, all directions are alike. Of
 * two materials the scene's rule makes one, along the projected axis of that which differs more by direction, and
 * across it; a pair's own mu scales both. Contacts of one body with itself are no exception. */
#include <math.h>

#include "assemble/assemble.h"

/* Of the two coefficients: a smaller share counts as this one, so that the velocity can be told from the rows. */
static const double FLATTEST = 1e-6;

/* One of two surfaces that touch. */
typedef struct surface {
  const ds_material_def *material;
  ds_vec3 axis; /* world */
} surface;

static surface surface_of(const ds_scene *scene, const ds_state *state, int32_t body, int32_t material) {
  surface s = {.material = &scene->materials[material]};
  ds_quat q = quat_mul(state->bodies[body].q, scene->bodies[body].user_frame.q);
  if (v3_norm2(s.material->axis) > 0) s.axis = quat_rotate(q, s.material->axis);
  return s;
}

/* mu(d). */
static double friction_along(const surface *s, ds_vec3 d) {
  double mu = s->material->mu, along = s->material->mu_along, cosine = v3_dot(d, s->axis);
  return sqrt(fmax(0, mu * mu + (along * along - mu * mu) * cosine * cosine));
}

/* By how much friction on a plane differs by direction, from 1 on; `projected` is the axis in the plane. */
static double contrast(ds_vec3 *projected, const surface *s, ds_vec3 normal) {
  *projected = v3_mad(s->axis, -v3_dot(s->axis, normal), normal);
  double length = v3_norm(*projected);
  if (!(length > FLATTEST)) return 1;
  double mu = s->material->mu, along = friction_along(s, v3_scale(1 / length, *projected));
  return mu == along ? 1 : fmax(mu, along) / fmin(mu, along);
}

/* Tangents along the axes of the ellipse, as long as its semi-axes. */
static void flatten(ds_contact_frame *f, const ds_scene *scene, const surface s[2]) {
  ds_vec3 axis[2], e[2];
  double by[2] = {contrast(&axis[0], &s[0], f->normal), contrast(&axis[1], &s[1], f->normal)};
  if (by[0] == 1 && by[1] == 1) return;
  e[0] = v3_unit(axis[by[1] > by[0]]);
  e[1] = v3_cross(f->normal, e[0]);
  ds_mix_rule rule = scene->def.friction_rule;
  double plain = ds_mix(rule, s[0].material->mu, s[1].material->mu), mu[2];
  if (plain == 0 && f->mu > 0) return; /* a pair's own mu, with nothing to scale */
  double share = plain > 0 ? f->mu / plain : 1;
  for (int i = 0; i < 2; i++) mu[i] = share * ds_mix(rule, friction_along(&s[0], e[i]), friction_along(&s[1], e[i]));
  f->mu = fmax(mu[0], mu[1]);
  for (int i = 0; i < 2; i++) f->flat[i] = f->mu > 0 ? fmax(mu[i] / f->mu, FLATTEST) : 1;
  f->t1 = v3_scale(f->flat[0], e[0]);
  f->t2 = v3_scale(f->flat[1], e[1]);
}

void ds_contact_cone(ds_contact_frame *f, const ds_contact_point *c, const ds_scene *scene, const ds_state *state) {
  *f = (ds_contact_frame){.normal = c->normal, .flat = {1, 1}};
  f->cone = ds_feature_is_planar_drive(c->feature) ? DS_CONE_DISK
            : ds_feature_is_drive(c->feature)      ? DS_CONE_INTERVAL
            : ds_feature_is_limit(c->feature)      ? DS_CONE_HALF_LINE
                                                   : DS_CONE_COULOMB;
  v3_tangents(&f->t1, &f->t2, c->normal);
  if (f->cone == DS_CONE_INTERVAL) f->t1 = c->normal, f->normal = f->t2 = v3(0, 0, 0), f->mu = 1;
  if (f->cone == DS_CONE_DISK) f->normal = v3(0, 0, 0), f->mu = 1;
  if (f->cone != DS_CONE_COULOMB) return;
  int32_t a, b;
  ds_contact_materials(&a, &b, scene, c);
  ds_scene_pair(&f->mu, &f->restitution, scene, a, b);
  double own = ds_feature_is_interface(c->feature) ? scene->interfaces[ds_feature_interface(c->feature)].def.mu : -1;
  if (own >= 0) {
    f->mu = own;
    return;
  }
  surface s[2] = {surface_of(scene, state, c->a, a), surface_of(scene, state, c->b, b)};
  flatten(f, scene, s);
}
