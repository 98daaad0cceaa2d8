/* All generators and their parameters: names, units, defaults, ranges. docs/generators.md has the details. */
#include "scene/generate.h"

#define NUMBER(name, unit, initial, low, high, summary) \
  { name, unit, summary, initial, low, high, false, NULL }
#define WHOLE(name, initial, low, high, summary) \
  { name, "", summary, initial, low, high, true, NULL }
#define CHOICE(name, initial, choices, summary) \
  { name, "", summary, initial, 1, 0, false, choices }
#define MU(initial) NUMBER("mu", "", initial, 0, 10, "coefficient of friction")
#define SHAKE                                                                                                    \
  NUMBER("shake", "m", "0", 0, 1, "amplitude of the floor's shaking along x, from 1 s for about 2 s; 0 = none"), \
      NUMBER("frequency", "Hz", "2", 0.1, 20, "of the shaking")

/* For scene/imperfect.c, all of them or none. */
#define IMPERFECT(ball_radius, ball_yaw)                                                                     \
  NUMBER("jitter", "m", "0", 0, 0.1, "each body is moved by up to this along x, y and z"),                   \
      NUMBER("tilt", "deg", "0", 0, 45, "each body is rotated by up to this, about a random axis"),          \
      NUMBER("size_jitter", "", "0", 0, 0.5, "sizes differ by up to this share, either way"),                \
      NUMBER("gap", "m", "0", 0, 0.1, "bodies shrink by up to this, about their centres"),                   \
      NUMBER("overlap", "m", "0", 0, 0.1, "bodies grow by up to this, about their centres"),                 \
      WHOLE("missing", "0", 0, 1000, "bodies left out, at random"),                                          \
      WHOLE("seed", "1", 0, 1e6, "of the random numbers"),                                                   \
      NUMBER("ball_speed", "m/s", "0", 0, 100, "of a ball that flies at the middle of the scene; 0 = none"), \
      NUMBER("ball_radius", "m", ball_radius, 0.001, 10, "of the ball"),                                     \
      NUMBER("ball_mass", "kg", "0", 0, 1e6, "of the ball; 0 = that of 2000 kg/m3"),                         \
      NUMBER("ball_height", "", "0.5", 0, 1, "at which it arrives, over the height of the scene"),           \
      NUMBER("ball_yaw", "deg", ball_yaw, -360, 360, "direction of flight; 0 = along x, 90 = along y")

static const ds_generator_parameter incline[] = {
    NUMBER("slope", "", "0.5", 0, 5, "tan theta"),
    MU("0.5005"),
    NUMBER("yaw", "deg", "0", -360, 360, "turn of the cube about the slope's normal"),
    NUMBER("size", "m", "0.2", 0.001, 100, "edge of the cube"),
    NUMBER("mass", "kg", "1", 1e-6, 1e6, "of the cube"),
    NUMBER("velocity", "m/s", "0", -100, 100, "at the start, down the slope"),
};
static const ds_generator_parameter slide[] = {
    NUMBER("velocity", "m/s", "2", 0, 100, "at the start"),
    NUMBER("mu", "", "0.3", 0.001, 10, "coefficient of friction"),
};
static const ds_generator_parameter roll[] = {
    NUMBER("velocity", "m/s", "2", 0, 100, "at the start"),
    NUMBER("mu", "", "0.3", 0.001, 10, "coefficient of friction"),
    NUMBER("radius", "m", "0.1", 0.001, 100, "of the ball"),
};
static const ds_generator_parameter disc[] = {
    NUMBER("velocity", "m/s", "1", 0, 100, "at the start"),
    NUMBER("omega", "rad/s", "10", -1000, 1000, "spin at the start"),
    NUMBER("mu", "", "0.3", 0.001, 10, "coefficient of friction"),
    WHOLE("contacts_per_face", "64", 3, 512, "points that carry the disc"),
};
static const ds_generator_parameter bounce[] = {
    NUMBER("e", "", "0.8", 0, 1, "restitution"),
    NUMBER("height", "m", "1", 0.001, 1000, "of the ball's lowest point at the start"),
};
static const ds_generator_parameter spin[] = {
    NUMBER("omega", "rad/s", "5", 0, 1000, "speed of rotation"),
    NUMBER("tilt", "deg", "1", 0, 90, "of the rotation from the middle towards the short axis"),
};
static const ds_generator_parameter billiard[] = {
    WHOLE("rows", "5", 1, 100, "rows of the rack, or balls of the row"),
    CHOICE("layout", "triangle", "triangle|row", "of the rack"),
    NUMBER("e", "", "0.95", 0, 1, "restitution of ball on ball"),
    NUMBER("mu", "", "0.05", 0, 10, "friction of ball on ball"),
    NUMBER("velocity", "m/s", "5", 0, 100, "of the cue ball"),
};
static const ds_generator_parameter bridge[] = {
    WHOLE("planks", "12", 2, 200, "hinged to one another"),
    WHOLE("blocks", "5", 0, 200, "on the planks, at most one per plank"),
    NUMBER("slope", "", "0.3", 0.01, 1, "of the chain at its ends"),
    NUMBER("mu", "", "0.6", 0, 10, "coefficient of friction"),
    NUMBER("damping", "1/s", "0.5", 0, 100, "of the planks; hinges have none"),
};
static const ds_generator_parameter linkage[] = {
    NUMBER("omega", "rad/s", "3", -30, 30, "of the crank"),
    MU("0.5"),
    WHOLE("blocks", "2", 0, 3, "one on the other"),
};
static const ds_generator_parameter mechanism[] = {
    WHOLE("count", "4", 1, 12, "followers"),
    NUMBER("mu", "", "0.3", 0.05, 2, "coefficient of friction in the guides"),
    NUMBER("spread", "", "0.4", 0, 0.6, "followers jam from a ratio of 1 on; theirs are 1 - spread to 1 + spread"),
};
static const ds_generator_parameter stack[] = {
    WHOLE("count", "10", 1, 1000, "cubes"),
    MU("0.5"),
    NUMBER("size", "m", "0.2", 0.001, 10, "edge of a cube"),
    NUMBER("top_mass", "kg", "0", 0, 1e6, "mass of the top cube; 0 = 1 kg like the others"),
    SHAKE,
    IMPERFECT("0.1", "0"),
};
static const ds_generator_parameter wall[] = {
    WHOLE("rows", "10", 1, 200, "courses"),
    WHOLE("bricks", "10", 1, 200, "bricks in a course"),
    MU("0.6"),
    NUMBER("joint", "m", "0", 0, 0.05, "gap between the ends of neighbours"),
    SHAKE,
    IMPERFECT("0.1", "90"),
};
static const ds_generator_parameter pyramid[] = {
    WHOLE("rows", "10", 1, 100, "rows of cubes"),
    MU("0.5"),
    NUMBER("gap", "m", "0.02", 0, 0.15, "between neighbours"),
};
static const ds_generator_parameter dominoes[] = {
    WHOLE("count", "20", 1, 1000, "dominoes"),
    NUMBER("spacing", "m", "0.035", 0.001, 0.085, "between neighbours"),
    MU("0.4"),
    NUMBER("push", "m/s", "0.4", 0, 10, "speed of the first one's upper edge"),
};
static const ds_generator_parameter overhang[] = {
    WHOLE("count", "5", 1, 100, "planks"),
    NUMBER("factor", "", "0.99", 0, 1.5, "of the harmonic overhang; stands below 1"),
    MU("0.5"),
};
static const ds_generator_parameter card_pair[] = {
    NUMBER("mu", "", "0.3", 0.05, 1, "coefficient of friction"),
    NUMBER("ratio", "", "0.99", 0.5, 1.5, "friction needed over friction there is; stands up to 1"),
    CHOICE("apex", "edge", "edge|bevel", "how the cards meet: edge on edge, or on a vertical face"),
};
static const ds_generator_parameter card_house[] = {
    WHOLE("levels", "5", 1, 30, "storeys"),
    MU("0.8"),
    NUMBER("e", "", "0", 0, 1, "restitution"),
    NUMBER("lean", "deg", "25", 5, 28, "of the cards from the vertical"),
    WHOLE("blocks", "0", 0, 50, "that fall on the house, from 2 s on, every 3 s"),
    NUMBER("block_size", "m", "0.025", 0.005, 0.1, "edge of a block, 2000 kg/m3"),
    CHOICE("apex", "edge", "edge|bevel", "how cards meet: edge on edge, or on a vertical face"),
    SHAKE,
    IMPERFECT("0.02", "0"),
};
static const ds_generator_parameter card_house_sp08[] = {
    WHOLE("blocks", "3", 0, 50, "that fall on the house, from 2 s on, every 3 s"),
    NUMBER("block_size", "m", "0.02", 0.005, 0.1, "edge of a block, 2000 kg/m3"),
    CHOICE("apex", "edge", "edge|bevel", "how cards meet: edge on edge, or on a vertical face"),
};
static const ds_generator_parameter arch[] = {
    CHOICE("shape", "catenary", "catenary|semicircle", "of the centre line"),
    WHOLE("stones", "25", 3, 2001, "wedge stones"),
    MU("0.6"),
    NUMBER("thickness", "", "0.1", 0.005, 0.5, "over the span (catenary) or the mean radius (semicircle)"),
    NUMBER("span", "m", "2", 0.01, 1000, "of the centre line; twice the mean radius of a semicircle"),
    NUMBER("rise", "", "1", 0.1, 3, "height of a catenary over its span"),
    NUMBER("width", "m", "0.3", 0.001, 1000, "along y"),
    CHOICE("drop", "none", "none|blocks|throw", "blocks dropped on the keystone or thrown at a leg"),
    WHOLE("contacts_per_face", "8", 3, 512, "contact points per joint"),
    SHAKE,
    IMPERFECT("0.1", "0"),
};
static const ds_generator_parameter arch_sp08[] = {
    CHOICE("load", "keystone", "keystone|leg|none", "blocks dropped on the keystone or thrown at a leg"),
};
static const ds_generator_parameter vault[] = {
    CHOICE("shape", "barrel", "barrel|dome", "half a cylinder, or half a sphere"),
    WHOLE("courses", "11", 3, 101, "stones across a barrel; rings of a dome under its keystone"),
    WHOLE("stones", "5", 3, 96, "stones in every second course of a barrel; in a ring of a dome"),
    MU("0.7"),
    NUMBER("thickness", "", "0.2", 0.02, 0.5, "over the mean radius"),
    NUMBER("span", "m", "2", 0.01, 1000, "twice the mean radius"),
    NUMBER("length", "m", "1", 0.01, 1000, "of a barrel, along y"),
    WHOLE("contacts_per_face", "8", 3, 512, "contact points per joint"),
    IMPERFECT("0.1", "0"),
};
static const ds_generator_parameter tower[] = {
    WHOLE("levels", "18", 1, 200, "of three blocks each, every second one crosswise"),
    MU("0.5"),
    NUMBER("size", "m", "0.075", 0.001, 10, "length of a block; a third as wide, a fifth as high"),
    NUMBER("side_gap", "m", "0", 0, 0.01, "between neighbours of a level"),
    IMPERFECT("0.02", "0"),
};
static const ds_generator_parameter pile[] = {
    WHOLE("count", "100", 1, 20000, "bodies"),
    WHOLE("seed", "1", 0, 1e6, "of the random numbers"),
    MU("0.5"),
    NUMBER("e", "", "0", 0, 1, "restitution"),
    CHOICE("kind", "mixed", "mixed|boxes|spheres|capsules|cylinders|rocks", "of the bodies"),
};

#define HEAP(count)                                                                                \
  WHOLE("count", count, 1, 20000, "bodies"), MU("0.4"), NUMBER("e", "", "0", 0, 1, "restitution"), \
      WHOLE("seed", "1", 0, 1e6, "of the random numbers")
static const ds_generator_parameter chess_drop[] = {HEAP("1000")};
static const ds_generator_parameter bunny_drop[] = {HEAP("2046")};
static const ds_generator_parameter helmets[] = {HEAP("1000")};
static const ds_generator_parameter hopper[] = {
    HEAP("2016"),
    NUMBER("opening", "m", "0.66", 0.05, 2, "width of the square opening"),
    NUMBER("pour", "s", "0.25", 0, 10, "between the release of one layer of pieces and the next; 0 = all at once"),
};
static const ds_generator_parameter rings[] = {
    HEAP("60"),
    CHOICE("layout", "pegs", "pegs|chain", "rings that fall over pegs, or a chain of rings held at its ends"),
};
static const ds_generator_parameter jam[] = {
    WHOLE("count", "100", 1, 2000, "bones"),
    WHOLE("seed", "1", 0, 1e6, "of the random numbers"),
    MU("0.8"),
    NUMBER("opening", "m", "0.22", 0.02, 0.7, "width of the narrow part"),
};
static const ds_generator_parameter log_house[] = {
    NUMBER("mu", "", "0.3", 0, 10, "coefficient of friction"),
    WHOLE("ramp", "1", 0, 1, "0 = the house stands on the ground, 1 = on a ramp"),
    NUMBER("slope", "", "0.6", 0, 2, "of the ramp"),
};
static const ds_generator_parameter ball_loop[] = {
    NUMBER("radius", "m", "0.4", 0.01, 100, "of the loop"),
    MU("0.3"),
    NUMBER("height", "", "3.2", 0.5, 20, "of the start above the loop's bottom, over its radius"),
};
static const ds_generator_parameter chairs[] = {
    WHOLE("count", "49", 1, 400, "chairs"),
    MU("0.5"),
    CHOICE("kind", "soft", "soft|rigid", "of the chairs"),
    NUMBER("young", "Pa", "1e9", 1e3, 1e15, "Young's modulus"),
    NUMBER("damping", "s", "1e-4", 0, 10, "C = damping K"),
    NUMBER("over", "", "1.1", 0, 10, "slope in the end, over mu"),
    NUMBER("tilting", "s", "4", 0.1, 1000, "time that the plane takes to incline"),
    NUMBER("yaw", "deg", "0", -360, 360, "of the chairs; at 0 they look downhill"),
    WHOLE("tets", "12000", 1000, 1e6, "tetrahedra of a chair, about"),
    WHOLE("seed", "1", 0, 1e6, "of small random turns of the chairs; 0 = none"),
    WHOLE("modes", "30", 1, 128, "of a chair"),
};
#define STRAND_DAMPING(initial) NUMBER("damping", "s", initial, 0, 10, "of the strands: C = damping K")
static const ds_generator_parameter composites[] = {
    MU("0.5"),
    CHOICE("stiffness", "stiff", "stiff|soft", "of the strands: Young's modulus 30.5 or 16.5 MPa"),
    WHOLE("grid", "0", 0, 1, "1 = six patches: mu 0.5, 0.3, 0.1 from left to right, stiff above soft"),
    NUMBER("young", "Pa", "0", 0, 1e12, "Young's modulus in place of stiffness, where it is not 0"),
    STRAND_DAMPING("0.3"),
    WHOLE("seed", "0", 0, 1e6, "of small random velocities at the start; 0 = none"),
};
static const ds_generator_parameter composites_thrown[] = {
    WHOLE("count", "3", 1, 30, "patches"),
    MU("0.5"),
    NUMBER("speed", "m/s", "16", 0.5, 50, "with which they are thrown"),
    STRAND_DAMPING("0.002"),
    WHOLE("seed", "1", 0, 1e6, "of the random numbers"),
};

static const ds_generator_parameter soft_bounce[] = {
    CHOICE("figure", "bunny", "bunny|dinosaur|bone|ring|king|knight|pawn|chair", "what falls"),
    NUMBER("young", "Pa", "1e5", 1e3, 1e12, "Young's modulus"),
    NUMBER("height", "m", "0.3", 0, 100, "of the figure's lowest point at the start"),
    WHOLE("modes", "60", 1, 120, "reduced coordinates"),
    WHOLE("stvk", "0", 0, 1, "0 = small deformations, 1 = large ones"),
    MU("0.5"),
};
static const ds_generator_parameter soft_incline[] = {
    NUMBER("slope", "", "0.5", 0, 5, "tan theta"),
    MU("0.505"),
    NUMBER("yaw", "deg", "0", -360, 360, "turn of the cube about the slope's normal"),
    NUMBER("size", "m", "0.2", 0.001, 100, "edge of the cube"),
    NUMBER("young", "Pa", "1e5", 1e3, 1e12, "Young's modulus"),
    NUMBER("velocity", "m/s", "0", -100, 100, "at the start, down the slope"),
};
static const ds_generator_parameter soft_stack[] = {
    WHOLE("count", "8", 1, 100, "blocks"),
    MU("0.5"),
    NUMBER("young", "Pa", "1e6", 1e3, 1e12, "Young's modulus"),
};
static const ds_generator_parameter haptic[] = {
    MU("0.4"),
    NUMBER("young", "Pa", "2e4", 1e3, 1e8, "Young's modulus of the soft block; the tool's is 1000 times that"),
    WHOLE("modes", "12", 1, 30, "reduced coordinates of the tool and of the soft block"),
};
static const ds_generator_parameter soft_jam[] = {
    WHOLE("count", "6", 1, 100, "bodies, every second one soft"),
    MU("0.5"),
    NUMBER("young", "Pa", "2e4", 1e3, 1e9, "Young's modulus"),
    NUMBER("tight", "", "0.04", -0.5, 0.4, "how much narrower than a soft ball the tube is, over the ball's radius"),
    WHOLE("seed", "1", 0, 1e6, "of the random numbers"),
};
static const ds_generator_parameter dinosaurs[] = {
    WHOLE("count", "9", 1, 200, "dinosaurs"),
    MU("0.5"),
    NUMBER("young", "Pa", "5e4", 1e3, 1e9, "Young's modulus"),
    WHOLE("modes", "29", 1, 60, "reduced coordinates of each"),
    NUMBER("speed", "m/s", "3", 0.5, 20, "towards the middle, at the start"),
    WHOLE("seed", "1", 0, 1e6, "of the random numbers"),
};
static const ds_generator_parameter hybrid[] = {
    WHOLE("count", "4", 1, 20, "bunnies of each colour"),
    NUMBER("mu_red", "", "0.4", 0, 10, "friction of the red bunnies"),
    NUMBER("mu_blue", "", "0.1", 0, 10, "friction of the blue bunnies"),
    NUMBER("mu_blocks", "", "0.5", 0, 10, "friction of the arches' blocks"),
    NUMBER("slope", "", "0.45", 0, 2, "tan theta of the ramp"),
    NUMBER("young", "Pa", "1e5", 1e3, 1e9, "Young's modulus"),
    WHOLE("seed", "1", 0, 1e6, "of the random numbers"),
};

#define GENERATOR(name, parameters, summary) \
  { name, summary, parameters, (int32_t)(sizeof parameters / sizeof parameters[0]) }

static const ds_generator table[] = {
    GENERATOR("arch", arch, "masonry arch of wedge stones, catenary or semicircle"),
    GENERATOR("arch-sp08", arch_sp08, "the catenary arch of SP08 with its blocks"),
    GENERATOR("ball-loop", ball_loop, "a ball rolls twice through a loop and falls the second time"),
    GENERATOR("billiard", billiard, "a rack of balls and the cue ball"),
    GENERATOR("bounce", bounce, "a ball that bounces"),
    GENERATOR("bridge", bridge, "a hanging bridge of hinged planks with blocks on it"),
    GENERATOR("bunny-drop", bunny_drop, "bunnies that fall into a heap"),
    GENERATOR("card-house", card_house, "a house of cards, optionally with falling blocks"),
    GENERATOR("card-house-sp08", card_house_sp08, "the card house of SP08 figure 7"),
    GENERATOR("card-pair", card_pair, "two leaning cards close to their friction limit"),
    GENERATOR("chairs", chairs, "plastic chairs that chatter down a slope"),
    GENERATOR("chess-drop", chess_drop, "chess pieces that fall into a heap"),
    GENERATOR("composites", composites, "woven strands that hang on pegs, hold or come apart"),
    GENERATOR("composites-thrown", composites_thrown, "woven patches thrown at a board of pegs"),
    GENERATOR("dinosaurs", dinosaurs, "soft dinosaurs thrown together, into a pile"),
    GENERATOR("disc", disc, "a flat disc that slides and spins to a stop"),
    GENERATOR("dominoes", dominoes, "a row of dominoes, the first one tipping"),
    GENERATOR("haptic", haptic, "a soft tool among blocks in a tray, for touch"),
    GENERATOR("helmets", helmets, "thin-walled helmets that fall into a heap"),
    GENERATOR("hopper", hopper, "chess pieces that fall through a hopper"),
    GENERATOR("hybrid", hybrid, "soft bunnies slide down a ramp into arches of rigid blocks"),
    GENERATOR("incline", incline, "a cube on a slope close to its friction limit"),
    GENERATOR("jam", jam, "bones that pass through a narrowing tube, or jam in it"),
    GENERATOR("linkage", linkage, "a four-bar linkage that pushes blocks"),
    GENERATOR("log-house", log_house, "a house of 69 notched logs, on a ramp or standing"),
    GENERATOR("mechanism", mechanism, "followers on a camshaft that slide in their guides, or jam"),
    GENERATOR("overhang", overhang, "planks with harmonic overhang"),
    GENERATOR("pile", pile, "many bodies that fall into a heap"),
    GENERATOR("pyramid", pyramid, "a flat pyramid of cubes"),
    GENERATOR("rings", rings, "rings that pile up on pegs, or hang as a chain"),
    GENERATOR("roll", roll, "a ball from sliding to rolling"),
    GENERATOR("slide", slide, "a cube that slides to a stop"),
    GENERATOR("soft-bounce", soft_bounce, "a deformable figure that falls and bounces"),
    GENERATOR("soft-incline", soft_incline, "a deformable cube on a slope close to its friction limit"),
    GENERATOR("soft-jam", soft_jam, "soft and rigid bodies that pass through a tight tube, or jam in it"),
    GENERATOR("soft-stack", soft_stack, "a tower of deformable blocks"),
    GENERATOR("spin", spin, "a free box that turns over"),
    GENERATOR("stack", stack, "a stack of cubes"),
    GENERATOR("tower", tower, "a tower of blocks, three per level, as in the game"),
    GENERATOR("vault", vault, "a barrel vault or a dome of wedge stones"),
    GENERATOR("wall", wall, "a dry brick wall"),
};

ds_generate_function *const ds_generate_functions[] = {
    ds_generate_arch,
    ds_generate_arch_sp08,
    ds_generate_ball_loop,
    ds_generate_billiard,
    ds_generate_bounce,
    ds_generate_bridge,
    ds_generate_bunny_drop,
    ds_generate_card_house,
    ds_generate_card_house_sp08,
    ds_generate_card_pair,
    ds_generate_chairs,
    ds_generate_chess_drop,
    ds_generate_composites,
    ds_generate_composites_thrown,
    ds_generate_dinosaurs,
    ds_generate_disc,
    ds_generate_dominoes,
    ds_generate_haptic,
    ds_generate_helmets,
    ds_generate_hopper,
    ds_generate_hybrid,
    ds_generate_incline,
    ds_generate_jam,
    ds_generate_linkage,
    ds_generate_log_house,
    ds_generate_mechanism,
    ds_generate_overhang,
    ds_generate_pile,
    ds_generate_pyramid,
    ds_generate_rings,
    ds_generate_roll,
    ds_generate_slide,
    ds_generate_soft_bounce,
    ds_generate_soft_incline,
    ds_generate_soft_jam,
    ds_generate_soft_stack,
    ds_generate_spin,
    ds_generate_stack,
    ds_generate_tower,
    ds_generate_vault,
    ds_generate_wall,
};

_Static_assert(sizeof ds_generate_functions / sizeof *ds_generate_functions == sizeof table / sizeof *table,
               "one function a generator");

const ds_generator *ds_generators(int32_t *count) {
  *count = (int32_t)(sizeof table / sizeof table[0]);
  return table;
}
