/* Masonry arches of wedge stones with closed joints [SP08 section 8: catenary arch; Heyman 1966: semicircle].
 *
 * A joint is a straight line across the arch, normal to the centre line, from the inner to the outer surface; a stone
 * is the prism between two joints. Neighbours take the corners of their common joint from the same numbers.
 *
 * catenary: z = H - a (cosh(x/a) - 1), equal arc length a stone, s = a sinh(x/a). Weight is then spread evenly along
 *   the line, which is the curve a hanging chain takes: the thrust follows the centre line and crosses every joint at a
 * right angle. The end joints rest on fixed abutments, wedges of the same section, so that the feet, too, are normal to
 * the thrust. (Feet cut level with the floor would need mu >= 1/sinh(k), k = span/(2a), and leave no room for thin
 * stones.) The default rise equals the span, as in the arch at St. Louis. semicircle: equal angles, feet level on the
 * floor. In the limit of many stones, and without sliding, it stands if and only if thickness / mean radius >= 0.1075.
 */
#include <stdio.h>

#include "scene/generate.h"

static const double stone_density = 2000;

typedef struct arch {
  bool catenary;
  int32_t stones;
  double span, thickness, width; /* m; span of the centre line */
  double k, a;                   /* catenary: k = span / (2 a) */
  double foot;                   /* catenary: height of the centre line's ends */
  double crown;                  /* height of the centre line's middle */
} arch;

/* k of the catenary with (cosh k - 1) / (2 k) = rise / span; the left side grows with k. */
static double catenary_k(double rise_over_span) {
  double low = 1e-3, high = 20;
  for (int32_t i = 0; i < 100; i++) {
    double k = 0.5 * (low + high);
    if ((cosh(k) - 1) / (2 * k) < rise_over_span)
      low = k;
    else
      high = k;
  }
  return 0.5 * (low + high);
}

static arch make_arch(bool catenary, int32_t stones, double span, double thickness, double rise, double width) {
  arch arch = {.catenary = catenary, .stones = stones, .span = span, .width = width};
  if (!catenary) {
    arch.thickness = thickness * 0.5 * span;
    arch.crown = 0.5 * span;
    return arch;
  }
  arch.thickness = thickness * span;
  arch.k = catenary_k(rise);
  arch.a = 0.5 * span / arch.k;
  /* the lower corner of the end joints stands a quarter of the thickness above the floor */
  arch.foot = 0.25 * arch.thickness + 0.5 * arch.thickness / cosh(arch.k);
  arch.crown = arch.foot + rise * span;
  return arch;
}

/* Joint i, 0 at the left foot: the inner [0] and outer [1] corner. Joints i and stones - i are mirror images, bit by
 * bit. */
static void joint_corners(double x[2], double z[2], const arch *arch, int32_t i) {
  double part = (double)(2 * i - arch->stones) / arch->stones; /* -1 .. 1 */
  double half = 0.5 * arch->thickness;
  if (!arch->catenary) {
    double angle = 0.5 * DS_PI * part, radius = 0.5 * arch->span;
    bool end = i == 0 || i == arch->stones;
    for (int32_t side = 0; side < 2; side++) {
      double r = side == 0 ? radius - half : radius + half;
      x[side] = end ? part * r : r * sin(angle);
      z[side] = end ? 0 : r * cos(angle);
    }
    return;
  }
  double slope = part * sinh(arch->k), u = asinh(slope), c = sqrt(1 + slope * slope);
  double cx = arch->a * u, cz = arch->crown - arch->a * (c - 1);
  for (int32_t side = 0; side < 2; side++) {
    double d = side == 0 ? -half : half;
    x[side] = cx + d * slope / c;
    z[side] = cz + d / c;
  }
}

static void write_stones(ds_generation *g, const arch *arch) {
  double x0[2], z0[2], x1[2], z1[2];
  char name[24];
  joint_corners(x0, z0, arch, 0);
  for (int32_t i = 0; i < arch->stones; i++) {
    joint_corners(x1, z1, arch, i + 1);
    ds_prism stone = {
        .corners = 4, .width = arch->width, .x = {x0[0], x1[0], x1[1], x0[1]}, .z = {z0[0], z1[0], z1[1], z0[1]}};
    snprintf(name, sizeof name, "stone%d", (int)(i + 1));
    bool key = 2 * i + 1 == arch->stones;
    ds_body_def def = {.name = name, .color = key ? v3(0.78, 0.5, 0.32) : ds_color_hue(i % 2 == 0 ? 0.1 : 0.14)};
    ds_generation_prism(g, "stone", &def, stone_density, &stone);
    for (int32_t side = 0; side < 2; side++) {
      x0[side] = x1[side];
      z0[side] = z1[side];
    }
  }
}

/* The floor, and for a catenary the two wedges between floor and end joint. */
static void write_ground(ds_generation *g, const arch *arch) {
  ds_generation_floor(g, "stone");
  if (!arch->catenary) return;
  double x[2], z[2];
  joint_corners(x, z, arch, 0);
  for (int32_t side = -1; side <= 1; side += 2) {
    double inner = side < 0 ? x[0] : -x[0], outer = side < 0 ? x[1] : -x[1];
    ds_prism wedge = {.corners = 4, .width = arch->width, .x = {inner, outer, outer, inner}, .z = {0, 0, z[1], z[0]}};
    ds_body_def def = {
        .name = side < 0 ? "abutment-left" : "abutment-right", .kind = DS_BODY_STATIC, .color = v3(0.45, 0.46, 0.48)};
    ds_generation_prism(g, "stone", &def, stone_density, &wedge);
  }
}

static ds_brick make_block(const arch *arch, double scale, ds_vec3 center) {
  double size = scale * arch->thickness;
  ds_brick block = ds_default_brick(center, v3(size, size, size), stone_density);
  block.color = v3(0.8, 0.25, 0.2);
  return block;
}

/* Three blocks let go above the keystone at 1, 3 and 5 s, a little to the right, to the left, to the right. Size and
 * height are such that the default arch gives way visibly and stands. */
static void write_dropped(ds_generation *g, const arch *arch) {
  double t = arch->thickness, top = arch->crown + 0.5 * t;
  for (int32_t i = 0; i < 3; i++) {
    ds_brick block = make_block(arch, 1.2, v3(i % 2 == 0 ? 0.25 * t : -0.25 * t, 0, top + (5 + 1.5 * i) * t));
    block.release_time = 1 + 2 * i;
    ds_generation_brick(g, "stone", "block", i + 1, &block);
  }
}

/* Three blocks thrown at the left leg, to hit it at 0.4 of the crown's height, fast enough to bring the default arch
 * down: 15 m/s at a span of 2 m, and similar at others. */
static void write_thrown(ds_generation *g, const arch *arch) {
  double gravity = 9.81, speed = 3.4 * sqrt(gravity * arch->span);
  for (int32_t i = 0; i < 3; i++) {
    double away = 0.6 * arch->span + 1.5 * arch->thickness * i;
    double x = -0.5 * (arch->span + arch->thickness) - away;
    ds_brick block = make_block(arch, 1, v3(x, 0, 0.4 * arch->crown));
    block.velocity = v3(speed, 0, 0.5 * gravity * away / speed);
    block.release_time = 1 + i;
    ds_generation_brick(g, "stone", "block", i + 1, &block);
  }
}

void ds_generate_arch(ds_generation *g) {
  bool catenary = ds_generation_chose(g, "shape", "catenary");
  arch arch =
      make_arch(catenary, ds_generation_count(g, "stones"), ds_generation_value(g, "span"),
                ds_generation_value(g, "thickness"), ds_generation_value(g, "rise"), ds_generation_value(g, "width"));
  /* a centre line that turns within half the thickness would make stones that cross each other */
  if (catenary && 0.5 * arch.thickness > 0.8 * arch.a) {
    snprintf(g->reason, sizeof g->reason,
             "thickness %g is too much for the curvature at the crown with rise %g; at most %.3g, or a smaller rise",
             ds_generation_value(g, "thickness"), ds_generation_value(g, "rise"), 1.6 * arch.a / arch.span);
    return;
  }
  ds_generation_begin(
      g,
      catenary ? "An arch of wedge stones along an inverted catenary, joints closed and normal to it, on two "
                 "abutments: it stands by contact and friction alone [SP08 section 8]."
               : "A semicircular arch of equal wedge stones on the floor: for many stones and without sliding "
                 "it stands if and only if thickness / mean radius >= 0.1075 (Milankovitch, Heyman).",
      10);
  ds_generation_option(g, "contacts_per_face", ds_generation_value(g, "contacts_per_face"));
  ds_generation_material(g, "stone", ds_generation_value(g, "mu"), 0);
  write_ground(g, &arch);
  write_stones(g, &arch);
  if (ds_generation_chose(g, "drop", "blocks")) write_dropped(g, &arch);
  if (ds_generation_chose(g, "drop", "throw")) write_thrown(g, &arch);
  ds_generation_end(g);
}

void ds_generate_arch_sp08(ds_generation *g) {
  arch arch = make_arch(true, 27, 2, 0.1, 1, 0.3);
  ds_generation_begin(
      g,
      "The catenary arch of [SP08 section 8]: 27 stones (162 degrees of freedom), mu = 0.6, about 75 contacts "
      "a joint, step 10 ms. Blocks dropped on the keystone make it deform and find a new equilibrium; blocks "
      "thrown at a leg bring it down.",
      10);
  ds_generation_option(g, "contacts_per_face", 75);
  ds_generation_material(g, "stone", 0.6, 0);
  write_ground(g, &arch);
  write_stones(g, &arch);
  if (ds_generation_chose(g, "load", "keystone")) write_dropped(g, &arch);
  if (ds_generation_chose(g, "load", "leg")) write_thrown(g, &arch);
  ds_generation_end(g);
}
