/* Pictures of a verdict. Blocks are coloured by how much their interfaces are used: of friction, or of the section. An
 * equilibrium is drawn as lines of thrust through the centres of pressure, as thick as their forces, with the
 * resultants on supports; a mechanism as arrows at the centres of the blocks, with the blocks as they will be; a second
 * solution as a ghost of the blocks after its first motion. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec3.h"
#include "bodies.h"
#include "canvas.h"
#include "font.h"
#include "output.h"
#include "overlay.h"
#include "picture.h"
#include "record/record.h"
#include "stand.h"
#include "tableau.h"

static const ds_color blue = {0.09f, 0.27f, 0.66f}, red = {0.80f, 0.12f, 0.12f}, grey = {0.45f, 0.46f, 0.49f},
                      purple = {0.48f, 0.20f, 0.62f};
static const double first_motion = 0.12; /* of the size of the assembly: how far the fastest block is moved */
enum { FILM_FRAMES = 61, AZIMUTHS = 36 };

typedef struct drawing {
  stand_case *c;
  ds_line_mark *lines;
  int32_t line_count, line_capacity;
  ds_vec3 *colors;
  ds_pose *poses, *moved;
  ds_vec3 low, high; /* centres and points */
} drawing;

static bool say(ds_error *error, const char *message) {
  snprintf(error->message, sizeof error->message, "%s", message);
  return false;
}

static bool add_line(drawing *d, ds_line_mark line) {
  if (!ds_array_reserve(&d->lines, &d->line_capacity, d->line_count + 1, sizeof *d->lines)) return false;
  d->lines[d->line_count++] = line;
  return true;
}

static double size_of(const drawing *d) { return v3_dist(d->low, d->high); }

static void find_size(drawing *d) {
  const ds_assembly *a = d->c->assembly;
  d->low = v3(INFINITY, INFINITY, INFINITY), d->high = v3_neg(d->low);
  for (int32_t i = 0; i < a->block_count; i++) {
    if (a->blocks[i].support) continue;
    d->low = v3_min(d->low, a->blocks[i].center), d->high = v3_max(d->high, a->blocks[i].center);
  }
  for (int32_t k = 0; k < a->point_count; k++)
    d->low = v3_min(d->low, a->points[k]), d->high = v3_max(d->high, a->points[k]);
}

/* White where nothing is used, orange at half, red where all of it is. */
static ds_vec3 used_color(double share) {
  static const ds_vec3 scale[3] = {{0.93, 0.92, 0.88}, {0.96, 0.70, 0.30}, {0.85, 0.22, 0.16}};
  double s = 2 * fmin(fmax(share, 0), 1);
  int32_t i = s < 1 ? 0 : 1;
  return v3_mad(v3_scale(1 - (s - i), scale[i]), s - i, scale[i + 1]);
}

static bool choose_colors(drawing *d) {
  const ds_assembly *a = d->c->assembly;
  double *share = calloc((size_t)a->block_count + 1, sizeof *share);
  d->colors = malloc(((size_t)a->block_count + 1) * sizeof *d->colors);
  bool good = share && d->colors;
  for (int32_t i = 0; i < a->interface_count && good && d->c->stand.normal; i++) {
    ds_thrust t = ds_interface_thrust(a, &d->c->stand, i);
    double used = fmax(t.friction, t.section);
    share[a->interfaces[i].a] = fmax(share[a->interfaces[i].a], used);
    share[a->interfaces[i].b] = fmax(share[a->interfaces[i].b], used);
  }
  for (int32_t i = 0; i < a->block_count && good; i++)
    d->colors[i] = a->blocks[i].support ? v3(0.60, 0.61, 0.63) : used_color(share[i]);
  free(share);
  return good;
}

/* ---- lines of thrust ---- */

typedef struct hub {
  ds_vec3 sum; /* of centres of pressure, weighted by force */
  double weight;
} hub;

/* Every block has a hub, the mean of its centres of pressure; lines go from hub to centre of pressure to hub. Where a
 * block has two interfaces that is the straight line between them. */
static bool add_thrust(drawing *d) {
  const ds_assembly *a = d->c->assembly;
  hub *hubs = calloc((size_t)a->block_count + 1, sizeof *hubs);
  double largest = 0;
  bool good = hubs != NULL;
  for (int32_t i = 0; i < a->interface_count && good; i++) {
    ds_thrust t = ds_interface_thrust(a, &d->c->stand, i);
    double f = v3_norm(t.force);
    largest = fmax(largest, f);
    for (int32_t side = 0; side < 2; side++) {
      hub *h = &hubs[side == 0 ? a->interfaces[i].a : a->interfaces[i].b];
      h->sum = v3_mad(h->sum, f, t.center), h->weight += f;
    }
  }
  for (int32_t i = 0; i < a->interface_count && good && largest > 0; i++) {
    ds_thrust t = ds_interface_thrust(a, &d->c->stand, i);
    double f = v3_norm(t.force) / largest;
    if (!(f > 1e-4)) continue;
    for (int32_t side = 0; side < 2 && good; side++) {
      int32_t b = side == 0 ? a->interfaces[i].a : a->interfaces[i].b;
      double sign = side == 0 ? -1 : 1;
      if (a->blocks[b].support) { /* what it carries */
        ds_vec3 arm = v3_scale(0.12 * size_of(d) * sign / largest, t.force);
        good = add_line(d, (ds_line_mark){t.center, v3_add(t.center, arm), red, 1.5 + 3 * f, true, 1});
      } else {
        ds_vec3 h = v3_scale(1 / hubs[b].weight, hubs[b].sum);
        good = add_line(d, (ds_line_mark){h, t.center, blue, 1 + 4 * sqrt(f), false, 0.9});
      }
    }
  }
  free(hubs);
  return good;
}

/* ---- motions ---- */

static double fastest(const ds_assembly *a, const ds_twist *twist) {
  double largest = 0;
  for (int32_t i = 0; i < a->block_count; i++)
    largest = fmax(largest, v3_norm(ds_twist_at(twist[i], a->blocks[i].center)));
  return largest;
}

static ds_pose move(ds_pose pose, const ds_block *b, ds_twist twist, double t) {
  double angle = t * v3_norm(twist.w);
  ds_quat turn = angle > 0 ? quat_axis_angle(v3_unit(twist.w), angle) : quat_identity();
  ds_vec3 center = v3_mad(b->center, t, ds_twist_at(twist, b->center));
  pose.p = v3_add(center, quat_rotate(turn, v3_sub(pose.p, b->center)));
  pose.q = quat_unit(quat_mul(turn, pose.q));
  return pose;
}

static void move_all(drawing *d, const ds_twist *twist, double t) {
  const ds_assembly *a = d->c->assembly;
  for (int32_t i = 0; i < a->block_count; i++)
    d->moved[i] = a->blocks[i].support ? d->poses[i] : move(d->poses[i], &a->blocks[i], twist[i], t);
}

/* The edges of all bodies at the moved poses. */
static bool add_ghost(drawing *d, const ds_pose *poses, ds_color color, double width, double alpha, ds_error *error) {
  ds_tableau t;
  ds_bodies_at bodies = {d->c->scene, poses, NULL, NULL, NULL};
  if (ds_tableau_build(&t, &bodies, false, error) != DS_OK) return false;
  bool good = true;
  for (int32_t i = 0; i < t.model.triangle_count && good; i++)
    for (int32_t e = 0; e < 3 && good; e++) {
      if (!(t.model.triangles[i].edges >> e & 1)) continue;
      const float *p = t.model.vertices[t.model.triangles[i].corner[e]].position;
      const float *q = t.model.vertices[t.model.triangles[i].corner[(e + 1) % 3]].position;
      ds_vec3 a = v3_add(t.model.origin, v3(p[0], p[1], p[2])), b = v3_add(t.model.origin, v3(q[0], q[1], q[2]));
      good = add_line(d, (ds_line_mark){a, b, color, width, false, alpha});
    }
  ds_tableau_free(&t);
  return good || say(error, "memory ran out");
}

static bool add_motion(drawing *d, const ds_twist *twist, ds_color color, ds_error *error) {
  const ds_assembly *a = d->c->assembly;
  double most = fastest(a, twist), scale = most > 0 ? first_motion * size_of(d) / most : 0;
  move_all(d, twist, scale);
  if (!add_ghost(d, d->moved, color, 1.2, 0.55, error)) return false;
  for (int32_t i = 0; i < a->block_count; i++) {
    ds_vec3 v = ds_twist_at(twist[i], a->blocks[i].center);
    if (a->blocks[i].support || !(v3_norm(v) > 0.02 * most)) continue;
    if (!add_line(d, (ds_line_mark){a->blocks[i].center, v3_mad(a->blocks[i].center, scale, v), color, 2.4, true, 1}))
      return say(error, "memory ran out");
  }
  return true;
}

/* ---- output ---- */

/* Arrows reach out of the blocks: the picture holds their ends, too. */
static bool add_line_ends(ds_tableau *t, const drawing *d) {
  ds_vec3 *points = realloc(t->points, ((size_t)t->point_count + 2 * (size_t)d->line_count + 1) * sizeof *points);
  if (!points) return false;
  t->points = points;
  for (int32_t i = 0; i < d->line_count; i++) {
    points[t->point_count++] = d->lines[i].from;
    points[t->point_count++] = d->lines[i].to;
  }
  return true;
}

static bool write_picture(drawing *d, ds_error *error) {
  const stand_options *o = d->c->o;
  ds_tableau tableau;
  ds_image image = {0};
  char label[128];
  ds_bodies_at bodies = {d->c->scene, d->poses, NULL, NULL, d->colors};
  ds_picture picture = {.framing = {.zoom = 1}, .label = label, .lines = d->lines, .line_count = d->line_count};
  if (ds_image_parse_size(&picture.width, &picture.height, o->size, error) != DS_OK) return false;
  if (o->view) {
    char rest;
    picture.framing.view_given = true;
    if (sscanf(o->view, "%lf,%lf%c", &picture.framing.azimuth, &picture.framing.elevation, &rest) != 2 ||
        !(fabs(picture.framing.azimuth) <= 360 && fabs(picture.framing.elevation) <= 89.9))
      return say(error, "--view: give AZIMUTH,ELEVATION in degrees, such as -60,20");
  }
  snprintf(label, sizeof label, "%s", ds_verdict_name(d->c->stand.verdict));
  output svg = {0};
  bool vector = args_ends_in(o->picture, ".svg"), good = !vector || output_open(&svg, o->picture, error);
  picture.svg = vector ? svg.file : NULL;
  good = good && ds_tableau_build(&tableau, &bodies, false, error) == DS_OK;
  if (good) {
    good = add_line_ends(&tableau, d) || say(error, "memory ran out");
    good = good && ds_picture_draw(&image, NULL, &tableau, &picture, error) == DS_OK;
    ds_tableau_free(&tableau);
  }
  if (good && !vector) good = ds_image_write_png(&image, o->picture, error) == DS_OK;
  if (vector && good) good = output_commit(&svg, error);
  if (vector && !good && svg.file) output_discard(&svg);
  ds_image_free(&image);
  return good;
}

/* The first motion, growing evenly in two seconds, for 'drystone film' and 'view'. */
static bool write_film(drawing *d, const ds_twist *twist, ds_error *error) {
  stand_case *c = d->c;
  ds_recorder *recorder = ds_recorder_create(c->o->picture, c->text, &c->run, c->scene, error);
  ds_step_report report = {0};
  bool good = recorder != NULL;
  double most = fastest(c->assembly, twist), scale = most > 0 ? first_motion * size_of(d) / most : 0;
  for (int32_t k = 0; k < FILM_FRAMES && good; k++) {
    double t = k / (FILM_FRAMES - 1.0);
    move_all(d, twist, scale * t * t);
    for (int32_t i = 0; i < c->assembly->block_count; i++)
      ds_state_set_pose(c->scene, c->state, ds_scene_body(c->scene, i), d->moved[i]);
    report.time = 2 * t;
    ds_state_set_time(c->state, report.time);
    good = ds_recorder_append(recorder, c->scene, c->state, &report, error) == DS_OK;
  }
  if (recorder && ds_recorder_close(recorder, error) != DS_OK) good = false;
  return good;
}

static bool draw(drawing *d, ds_error *error) {
  stand_case *c = d->c;
  const ds_twist *motion = c->stand.mechanism ? c->stand.mechanism : c->stand.moving;
  int32_t count = ds_scene_body_count(c->scene);
  d->poses = malloc(((size_t)count + 1) * sizeof *d->poses);
  d->moved = malloc(((size_t)count + 1) * sizeof *d->moved);
  if (!d->poses || !d->moved || !choose_colors(d)) return say(error, "memory ran out");
  for (int32_t i = 0; i < count; i++) d->poses[i] = ds_state_pose(c->scene, c->state, ds_scene_body(c->scene, i));
  find_size(d);
  if (args_ends_in(c->o->picture, ".h5")) {
    if (!motion)
      return say(error, "-o FILE.h5 is a film of the first motion; there is no mechanism and no moving solution");
    return write_film(d, motion, error);
  }
  if (args_ends_in(c->o->picture, ".svg") && !add_ghost(d, d->poses, grey, 1, 1, error)) return false;
  if (c->stand.normal && !add_thrust(d)) return say(error, "memory ran out");
  if (motion && !add_motion(d, motion, c->stand.mechanism ? red : purple, error)) return false;
  return write_picture(d, error);
}

bool stand_draw(stand_case *c, ds_error *error) {
  drawing d = {.c = c};
  if (source_same_file(c->o->words.items[0], c->o->picture)) return say(error, "-o would overwrite the assembly");
  bool good = stand_need_scene(c, error) && draw(&d, error);
  free(d.lines);
  free(d.colors);
  free(d.poses);
  free(d.moved);
  return good;
}

/* ---- tilt by azimuth ---- */

typedef struct polar {
  ds_canvas canvas;
  double x, y, radius, most; /* degrees at the rim */
} polar;

static void polar_line(polar *p, const double *degrees, double width) {
  for (int32_t i = 0; i < AZIMUTHS; i++) {
    double a = 2 * DS_PI * i / AZIMUTHS, b = 2 * DS_PI * (i + 1) / AZIMUTHS, s = p->radius / p->most;
    double r = s * degrees[i], q = s * degrees[(i + 1) % AZIMUTHS];
    ds_canvas_segment(&p->canvas, p->x + r * cos(a), p->y - r * sin(a), p->x + q * cos(b), p->y - q * sin(b), width);
  }
}

static void polar_grid(polar *p) {
  const ds_color pale = {0.80f, 0.81f, 0.83f}, dark = {0.30f, 0.32f, 0.36f};
  double step = p->most > 40 ? 20 : p->most > 15 ? 10 : p->most > 6 ? 5 : 1, even[AZIMUTHS];
  char text[32];
  for (double d = step; d <= p->most; d += step) {
    for (int32_t i = 0; i < AZIMUTHS; i++) even[i] = d;
    polar_line(p, even, 1);
  }
  for (int32_t i = 0; i < 12; i++) {
    double a = DS_PI * i / 6;
    ds_canvas_segment(&p->canvas, p->x, p->y, p->x + p->radius * cos(a), p->y - p->radius * sin(a), 1);
  }
  ds_canvas_paint(&p->canvas, pale, 1);
  for (int32_t i = 0; i < 12; i++) {
    double a = DS_PI * i / 6, r = 1.08 * p->radius;
    snprintf(text, sizeof text, "%d", 30 * (int)i);
    ds_text_draw(&p->canvas, p->x + r * cos(a), p->y - r * sin(a) + 5, DS_ANCHOR_CENTER, text, 14, 1, dark);
  }
  for (double d = step; d <= p->most; d += step) {
    snprintf(text, sizeof text, "%g deg", d);
    ds_text_draw(&p->canvas, p->x + p->radius * d / p->most * 0.26 + 4, p->y - p->radius * d / p->most * 0.97,
                 DS_ANCHOR_LEFT, text, 12, 1, dark);
  }
}

static bool draw_polar(ds_image *image, FILE *svg, const double *stands, const double *falls, double most,
                       ds_error *error) {
  const ds_color dark = {0.30f, 0.32f, 0.36f}, white = {1, 1, 1};
  polar p = {.x = 360, .y = 360, .radius = 280, .most = fmax(1, 1.05 * most)};
  ds_svg marks;
  if (ds_image_create(image, 720, 720, error) != DS_OK) return false;
  ds_image_fill(image, white);
  if (ds_canvas_create(&p.canvas, image, error) != DS_OK) return false;
  if (svg) ds_svg_begin(&marks, &(ds_vector){svg, DS_VECTOR_SVG}, 720, 720, white), p.canvas.svg = &marks;
  polar_grid(&p);
  polar_line(&p, falls, 3);
  ds_canvas_paint(&p.canvas, red, 1);
  polar_line(&p, stands, 2);
  ds_canvas_paint(&p.canvas, blue, 1);
  ds_text_draw(&p.canvas, 20, 26, DS_ANCHOR_LEFT, "tilt of the ground, by azimuth", 16, 1, dark);
  ds_text_draw(&p.canvas, 20, 700, DS_ANCHOR_LEFT, "falls above", 14, 1, red);
  ds_text_draw(&p.canvas, 120, 700, DS_ANCHOR_LEFT, "stands without friction up to", 14, 1, blue);
  ds_canvas_free(&p.canvas);
  return !svg || ds_svg_end(&marks) || say(error, "memory ran out");
}

bool stand_draw_polar(const stand_case *c, ds_error *error) {
  double stands[AZIMUTHS], falls[AZIMUTHS], most = 0;
  const char *path = c->o->polar;
  bool vector = args_ends_in(path, ".svg");
  for (int32_t i = 0; i < AZIMUTHS; i++) {
    ds_multiplier m;
    double a = 2 * DS_PI * i / AZIMUTHS;
    if (ds_stand_push(&m, c->assembly, v3(cos(a), sin(a), 0), error) != DS_OK) return false;
    double limit = isfinite(m.falls) ? m.falls : m.equilibrium;
    stands[i] = 180 / DS_PI * atan(fmax(0, m.stands)), falls[i] = 180 / DS_PI * atan(fmax(0, limit));
    most = fmax(most, falls[i]);
    ds_multiplier_free(&m);
  }
  ds_image image = {0};
  output out = {0};
  bool good = (!vector || output_open(&out, path, error)) &&
              draw_polar(&image, vector ? out.file : NULL, stands, falls, most, error);
  if (vector && good) good = output_commit(&out, error);
  if (vector && !good && out.file) output_discard(&out);
  if (!vector && good) good = ds_image_write_png(&image, path, error) == DS_OK;
  ds_image_free(&image);
  return good;
}
