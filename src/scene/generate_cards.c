/* Card houses: leaning cards that stand by friction alone [SP08 sections 4 and 8, figures 1, 2 and 7].
 *
 * Geometry, in the x-z plane. A right-hand card of length L and thickness t leans by theta: along it runs u = (-sin,
 * cos), out of its outer side m = (cos, sin). It stands on its inner lower edge, its lowest, and its inner upper edge
 * is at the middle plane of the pair, where it meets its mirror image. Its highest edge is the outer upper one.
 *
 * Layout, as in a real card house: the pairs of a level stand side by side; a lying card bridges every two
 * neighbours, resting on the right card of the left pair and the left card of the right pair; on it stands the pair
 * above, feet near the supports, so that it is hardly bent and ties these feet together. Level k from the top has k
 * pairs, and k - 1 lying cards on it: n (3n + 1)/2 cards for n levels. The pitch of pairs P must leave the lying cards
 * of a level apart, P > L, and resting on the upper edges, which are r = t cos from the middle of their pair,
 * P < L + 2r: P = L + r is halfway. Neighbouring feet keep apart if 2 (L sin + t cos) < P, that is, leans up to 29
 * degrees.
 *
 * With apex = edge the cards are boxes and meet edge on edge; the detector takes the normal of slightly rounded edges,
 * which is horizontal. With apex = bevel the meeting edges are cut off vertically, by half the thickness at most, so
 * that the cards meet face on face whatever the detector; r and the feet's distance are less by what was cut.
 */
#include <stdio.h>

#include "scene/generate.h"

static const double card_length = 0.1, card_width = 0.06, card_thickness = 0.003, card_density = 700;

typedef struct card_shape {
  double theta;
  bool bevel;
} card_shape;

/* The bevel cuts `along` off the inner side and `across` off the upper end. */
static void bevel_size(double *along, double *across, double theta) {
  double t = card_thickness;
  *along = 0.5 * t * fmin(1, 1 / tan(theta));
  *across = *along * tan(theta);
}

/* How far the foot of a card (its inner lower edge) is from the plane where the pair meets, and how high the meeting
 * reaches. */
static void pair_measures(double *foot, double *apex_height, card_shape card) {
  double s = sin(card.theta), c = cos(card.theta), along = 0, across = 0;
  if (card.bevel) bevel_size(&along, &across, card.theta);
  *foot = (card_length - along) * s;
  *apex_height = card_length * c + across * s;
}

/* One leaning card: `side` +1 for the right-hand card of a pair whose middle is at x, its foot at height z. */
static void write_leaning(ds_generation *g, const char *name, card_shape card, double side, double x, double z,
                          ds_vec3 color) {
  double s = sin(card.theta), c = cos(card.theta), length = card_length, t = card_thickness, foot, height;
  pair_measures(&foot, &height, card);
  ds_body_def def = {.name = name, .color = color};
  if (!card.bevel) {
    double center = foot - 0.5 * length * s + 0.5 * t * c;
    def.pose.p = v3(x + side * center, 0, z + 0.5 * (length * c + t * s));
    def.pose.q = quat_axis_angle(v3(0, 1, 0), -side * card.theta);
    ds_shape_def shape = {
        .kind = DS_SHAPE_BOX, .half = v3(0.5 * t, 0.5 * card_width, 0.5 * length), .density = card_density};
    ds_generation_body(g, "card", &def, &shape, 1);
    return;
  }
  double along, across;
  bevel_size(&along, &across, card.theta);
  /* foot, outer lower, outer upper, bevel's upper and lower corner: both of these exactly in the middle plane */
  ds_prism prism = {.corners = 5,
                    .width = card_width,
                    .x = {foot, foot + t * c, foot - length * s + t * c, 0, 0},
                    .z = {0, t * s, length * c + t * s, height, (length - along) * c}};
  for (int32_t i = 0; i < prism.corners; i++) {
    prism.x[i] = x + side * prism.x[i];
    prism.z[i] += z;
  }
  ds_generation_prism(g, "card", &def, card_density, &prism);
}

static void write_pair(ds_generation *g, int32_t *number, card_shape card, double x, double z, ds_vec3 color) {
  char name[24];
  for (int32_t side = -1; side <= 1; side += 2) {
    snprintf(name, sizeof name, "card%d", (int)++*number);
    write_leaning(g, name, card, side, x, z, color);
  }
}

/* The friction coefficient that a pair on the floor needs: each card turns about its foot, the other holds it at the
 * highest point of the meeting, mu = (foot - centre) / height; (tan theta - t/L)/2 for cards that meet at an edge. */
static double pair_needs(card_shape card) {
  double foot, height, s = sin(card.theta), c = cos(card.theta), along, across;
  pair_measures(&foot, &height, card);
  double center = foot - 0.5 * card_length * s + 0.5 * card_thickness * c;
  if (card.bevel) {
    bevel_size(&along, &across, card.theta);
    /* the whole rectangle less the triangle that was cut off */
    double area = card_length * card_thickness, cut = 0.5 * along * across;
    double corner = foot - card_length * s, cut_center = corner + (along * s + across * c) / 3;
    center = (area * center - cut * cut_center) / (area - cut);
  }
  return (foot - center) / height;
}

void ds_generate_card_pair(ds_generation *g) {
  double mu = ds_generation_value(g, "mu"), ratio = ds_generation_value(g, "ratio");
  card_shape card = {0, ds_generation_chose(g, "apex", "bevel")};
  double low = 1e-3, high = 1.5; /* rad; needs about -0.01 and 7 */
  for (int32_t i = 0; i < 100; i++) {
    card.theta = 0.5 * (low + high);
    if (pair_needs(card) < ratio * mu)
      low = card.theta;
    else
      high = card.theta;
  }
  ds_generation_begin(
      g,
      "Two cards lean against each other on the floor. They lean so that they need a friction coefficient of "
      "ratio mu: thin cards stand if and only if tan theta <= 2 mu, and the thickness is allowed for, so "
      "that these stand if and only if ratio <= 1.",
      10);
  ds_generation_material(g, "card", mu, 0);
  ds_generation_floor(g, "card");
  int32_t number = 0;
  write_pair(g, &number, card, 0, 0, ds_color_hue(0.55));
  ds_generation_end(g);
}

static double pair_pitch(card_shape card) {
  double foot, height;
  pair_measures(&foot, &height, card);
  double highest_edge = foot - card_length * sin(card.theta) + card_thickness * cos(card.theta);
  return card_length + highest_edge;
}

static void write_house(ds_generation *g, int32_t levels, card_shape card) {
  double t = card_thickness, pitch = pair_pitch(card);
  double storey = card_length * cos(card.theta) + t * sin(card.theta);
  int32_t number = 0;
  char name[24];
  for (int32_t level = 0; level < levels; level++) {
    int32_t pairs = levels - level;
    double floor = level * (storey + t);
    for (int32_t i = 0; i < pairs; i++)
      write_pair(g, &number, card, (i - 0.5 * (pairs - 1)) * pitch, floor, ds_color_hue(0.55 + 0.06 * (level % 3)));
    for (int32_t i = 0; i < pairs - 1; i++) {
      snprintf(name, sizeof name, "card%d", (int)++number);
      ds_vec3 center = v3((i - 0.5 * (pairs - 2)) * pitch, 0, floor + storey + 0.5 * t);
      ds_body_def def = {.name = name, .pose = {center, quat_identity()}, .color = ds_color_hue(0.02)};
      ds_shape_def shape = {
          .kind = DS_SHAPE_BOX, .half = v3(0.5 * card_length, 0.5 * card_width, 0.5 * t), .density = card_density};
      ds_generation_body(g, "card", &def, &shape, 1);
    }
  }
}

/* Blocks wait above the house, to be dropped one after the other, first near one end, then the other, then between. */
static void write_blocks(ds_generation *g, int32_t blocks, int32_t levels, card_shape card) {
  double pitch = pair_pitch(card), size = ds_generation_value(g, "block_size");
  double height = levels * (card_length * cos(card.theta) + card_thickness * (1 + sin(card.theta)));
  static const double place[8] = {0.62, -0.75, 0.3, -0.4, 0.85, -0.1, 0.5, -0.6}; /* of the house's half width */
  for (int32_t i = 0; i < blocks; i++) {
    double x = place[i % 8] * 0.5 * levels * pitch, above = 0.3 + 0.5 * size + 2 * size * (i / 8);
    ds_brick block = ds_default_brick(v3(x, 0, height + above), v3(size, size, size), 2000);
    block.release_time = 2 + 3 * i;
    block.color = v3(0.8, 0.25, 0.2);
    ds_generation_brick(g, "card", "block", i + 1, &block);
  }
}

void ds_generate_card_house(ds_generation *g) {
  int32_t levels = ds_generation_count(g, "levels"), blocks = ds_generation_count(g, "blocks");
  card_shape card = {ds_generation_value(g, "lean") * DS_PI / 180, ds_generation_chose(g, "apex", "bevel")};
  char note[256];
  snprintf(note, sizeof note,
           "A house of %d cards of 0.1 x 0.06 x 0.003 m that stands by friction alone%s [SP08 figures 1 and 7].",
           (int)(levels * (3 * levels + 1) / 2), blocks > 0 ? ", then is hit by falling blocks" : "");
  ds_generation_begin(g, note, blocks > 0 ? 2 + 3 * blocks + 3 : 10);
  ds_generation_material(g, "card", ds_generation_value(g, "mu"), ds_generation_value(g, "e"));
  ds_generation_floor(g, "card");
  write_house(g, levels, card);
  write_blocks(g, blocks, levels, card);
  ds_generation_end(g);
}

void ds_generate_card_house_sp08(ds_generation *g) {
  int32_t levels = 6, blocks = ds_generation_count(g, "blocks");
  card_shape card = {25 * DS_PI / 180, ds_generation_chose(g, "apex", "bevel")};
  ds_generation_begin(
      g,
      "The card house of [SP08 figure 7]: 57 cards (58 bodies, 348 degrees of freedom while one block falls), "
      "e = 0.1, mu = 0.8, step 1 ms. In the paper it stands, blocks knock sections down, and what is left "
      "comes to rest again; sizes and places of the blocks are ours.",
      2 + 3 * blocks + 3);
  ds_generation_option(g, "step", 1e-3);
  ds_generation_material(g, "card", 0.8, 0.1);
  ds_generation_floor(g, "card");
  write_house(g, levels, card);
  write_blocks(g, blocks, levels, card);
  ds_generation_end(g);
}
