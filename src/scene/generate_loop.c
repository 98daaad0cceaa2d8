/* A ball that rolls twice through one loop, and falls off the second time [FFD05 figure 1c].
 *
 * Start ramp (35 degrees), loop, end ramp (50 degrees), all one V-shaped groove; the loop drifts sideways, so that the
 * way out passes beside the way in. The ball starts at rest, rolls through the loop and up the end ramp. That is too
 * steep to roll: the ball slides there, goes on spinning the wrong way, and comes back down without the energy of its
 * spin; from sliding to rolling on the flat piece it loses as much again. Then it meets the loop from the other side.
 *
 * With rho the radius of the centre's path, k = 0.4 / cos² of the groove's angle for a ball in a groove: the first pass
 * needs a start at least (2 + (1 + k)/2) rho = 2.74 rho above the bottom, less its losses. Nothing else takes energy
 * but the joints: the groove is a chain of convex plates, and at e = 0 a turn by a in every joint or step costs a share
 * a² of the motion; hence the many plates and the small step. */
#include <stdio.h>

#include "scene/generate.h"

enum { PLATES = 288 }; /* of a full turn */
static const double start_slope = 35 * DS_PI / 180, end_slope = 50 * DS_PI / 180;
static const double groove = 25 * DS_PI / 180; /* of its sides from flat */
static const double ball_ratio = 0.12;         /* ball over loop */

/* A place of the groove's lowest line, and the way up from it. */
typedef struct station {
  ds_vec3 x, up;
} station;

/* Writes a piece of groove wherever it goes. */
typedef struct pen {
  ds_generation *g;
  station last;
  int32_t pieces;
  double side, thick; /* m: of the plates */
} pen;

static station station_at(double x, double y, double z, double angle) {
  return (station){v3(x, y, z), v3(-sin(angle), 0, cos(angle))};
}

/* Both sides of the groove from the last station to this one. */
static void draw_to(pen *p, station next) {
  ds_vec3 points[2][8];
  ds_shape_def shapes[2];
  const station ends[2] = {p->last, next};
  ds_vec3 middle = v3_scale(0.5, v3_add(p->last.x, next.x));
  for (int32_t k = 0; k < 2; k++) {
    for (int32_t i = 0; i < 8; i++) {
      const station *s = &ends[i & 1];
      ds_vec3 out = v3_add(v3(0, (k == 0 ? 1 : -1) * cos(groove), 0), v3_scale(sin(groove), s->up));
      ds_vec3 x = i & 2 ? v3_mad(s->x, p->side, out) : s->x;
      points[k][i] = v3_sub(i & 4 ? v3_mad(x, -p->thick, s->up) : x, middle);
    }
    shapes[k] = (ds_shape_def){.kind = DS_SHAPE_HULL, .pose = pose_identity(), .points = points[k], .point_count = 8};
  }
  char name[24];
  snprintf(name, sizeof name, "track%d", (int)++p->pieces);
  ds_body_def def = {.name = name,
                     .kind = DS_BODY_STATIC,
                     .pose = {middle, quat_identity()},
                     .color = ds_color_hue(0.55 + 0.03 * (p->pieces & 1))};
  ds_generation_body(p->g, "track", &def, shapes, 2);
  p->last = next;
}

/* An arc in x and z from slope a0 to slope a1 > a0, of radius r; it goes sideways by `drift` meanwhile, slowest where
 * the ball is lightest. */
static void draw_arc(pen *p, double r, double a0, double a1, double drift) {
  int32_t n = (int32_t)ceil((a1 - a0) * PLATES / (2 * DS_PI) - 1e-9);
  ds_vec3 from = p->last.x;
  for (int32_t i = 1; i <= n; i++) {
    double s = (double)i / n, a = a0 + (a1 - a0) * s;
    draw_to(p, station_at(from.x + r * (sin(a) - sin(a0)), from.y + drift * s * s * (3 - 2 * s),
                          from.z + r * (cos(a0) - cos(a)), a));
  }
}

/* Straight on by `length`. */
static void draw_line(pen *p, double length, double angle) {
  ds_vec3 x = p->last.x;
  draw_to(p, station_at(x.x + length * cos(angle), x.y, x.z + length * sin(angle), angle));
}

static void write_ball(ds_generation *g, const station *s, double radius) {
  ds_body_def def = {.name = "ball", .color = v3(0.85, 0.35, 0.25)};
  def.pose = (ds_pose){v3_mad(s->x, radius / cos(groove), s->up), quat_identity()};
  ds_shape_def shape = {.kind = DS_SHAPE_SPHERE, .pose = pose_identity(), .radius = radius, .density = 1000};
  ds_generation_body(g, "track", &def, &shape, 1);
}

void ds_generate_ball_loop(ds_generation *g) {
  double radius = ds_generation_value(g, "radius"), height = ds_generation_value(g, "height") * radius;
  double ball = ball_ratio * radius, bend = radius, unit = sqrt(radius / 9.81);
  double run = (height - bend * (1 - cos(start_slope))) / sin(start_slope); /* of the straight part of the ramp */
  ds_generation_begin(g,
                      "A ball rolls through a loop and up a steep ramp, where it slides and loses energy to friction; "
                      "on its way back it is too slow for the loop and falls [FFD05 figure 1c].",
                      ceil(25 * unit * 10) / 10);
  ds_generation_option(g, "step", 0.0025 * unit);
  ds_generation_material(g, "track", ds_generation_value(g, "mu"), 0);
  ds_generation_floor(g, "track");
  pen p = {.g = g, .side = 1.5 * ball, .thick = 0.4 * ball};
  double bottom = 2 * p.thick, x = -radius - bend * sin(start_slope) - run * cos(start_slope), y = 0;
  double above = 2 * ball; /* of the ramp behind the ball */
  station start = station_at(x, y, bottom + height, -start_slope);
  p.last = station_at(x - above * cos(start_slope), y, bottom + height + above * sin(start_slope), -start_slope);
  draw_line(&p, above + run, -start_slope);
  draw_arc(&p, bend, -start_slope, 0, 0);
  draw_line(&p, radius, 0);
  draw_arc(&p, radius, 0, 2 * DS_PI, 2 * (p.side * cos(groove) + p.thick));
  draw_line(&p, radius, 0);
  draw_arc(&p, bend, 0, end_slope, 0);
  draw_line(&p, 0.8 * height / sin(end_slope), end_slope);
  write_ball(g, &start, ball);
  ds_generation_end(g);
}
