/* Random contact problems of rigid bodies, larger and worse conditioned than those of random_ds_problem.h: 5 to 300
 * contacts, masses up to 1:1,000,000. Five families:
 *
 *   massratio  towers: level faces of 3 to 8 points, light bodies under heavy ones
 *   redundant  2 to 4 bodies in a stack, tens of points in every face, normals equal up to rounding or a little more
 *   pebbles    a heap of stones that touch the floor and each other in 1 to 3 points with normals of their own
 *   wedge      a stack between two driven walls, friction near the limit at which it jams; some are infeasible
 *   gears      a ring of bodies that touch by inclined flanks, given as W and q alone
 *
 * All but some wedges have a motion `apart` that opens every contact against friction, u_N > mu |u_T|: then a solution
 * exists whatever the velocities are (Acary, Cadoux, Lemaréchal, Malick 2011).
 *
 * Form: M v = H r + M v_free, u = H' v + w; gears: u = W r + q with W = H' M^-1 H, q = H' v_free. Lengths are in m,
 * masses in kg, v_free is gravity times 10 ms and a random part. Random numbers are drawn one a statement: compilers
 * order the arguments of a call as they like. */
#ifndef DS_TEST_RANDOM_FAMILIES_H
#define DS_TEST_RANDOM_FAMILIES_H

#include "random_ds_problem.h"

typedef enum family { FAMILY_MASSRATIO, FAMILY_REDUNDANT, FAMILY_PEBBLES, FAMILY_WEDGE, FAMILY_GEARS } family;
enum { FAMILY_COUNT = 5, FAMILY_CONTACTS = 300, FAMILY_BODIES = 320 };

static const char *const family_names[FAMILY_COUNT] = {"massratio", "redundant", "pebbles", "wedge", "gears"};

typedef struct family_spec {
  family family;
  uint64_t seed;
  int32_t contacts; /* about as many: the last face is built to its end, up to FAMILY_CONTACTS */
  double ratio;     /* largest over smallest mass */
  double mu;        /* largest coefficient */
  int32_t friction; /* 0: mu everywhere; 1: uniform in 0..mu; 2: one of 0, 0.1, 0.3, 1 times mu */
} family_spec;

typedef struct family_body {
  double mass, inertia[3];
  ds_mat3 axes;  /* columns: axes of inertia */
  ds_vec3 place; /* of the centre */
  double free[6];
  double apart[6];
} family_body;

typedef struct family_contact {
  int32_t a, b;     /* b = -1: the world */
  ds_vec3 frame[3]; /* normal from b to a, tangents */
  ds_vec3 point;
  ds_vec3 drive; /* velocity of the world there */
  double mu;
} family_contact;

typedef struct family_heap {
  family_spec spec;
  uint64_t random;
  int32_t bodies, contacts;
  family_body body[FAMILY_BODIES];
  family_contact contact[FAMILY_CONTACTS];
  bool may_be_infeasible; /* no motion `apart` is known */
} family_heap;

typedef struct family_case {
  ds_problem problem;
  int32_t bodies;
  bool may_be_infeasible;
  double *apart; /* d nc: u of the motion that opens all contacts */
} family_case;

/* The number-th problem of a family. */
static inline family_spec family_draw(family which, uint64_t seed, int64_t number) {
  uint64_t s = (seed + 1000 * (uint64_t)which) * 0x2545f4914f6cdd1du + (uint64_t)number;
  random_next(&s);
  family_spec p = {.family = which, .seed = random_next(&s)};
  p.contacts = (int32_t)random_log(&s, 5, FAMILY_CONTACTS);
  p.ratio = random_log(&s, 1, 1e6);
  p.friction = random_int(&s, 3);
  p.mu = random_log(&s, 0.1, 3);
  if (which == FAMILY_PEBBLES) p.mu = fmin(p.mu, 1.5);
  return p;
}

/* ---- Bodies and contacts ---- */

static inline double family_mass(family_heap *h) {
  double kind = random_unit(&h->random), mass = random_log(&h->random, 1, h->spec.ratio);
  return kind < 0.1 ? 1 : kind > 0.9 ? h->spec.ratio : mass;
}

static inline ds_mat3 family_axes(uint64_t *s) {
  ds_vec3 v = random_in_ball(s, 3);
  double angle = random_in(s, 0, DS_PI);
  return mat3_from_quat(quat_axis_angle(v, angle));
}

/* A body of about `size` m with a velocity between 0.1 mm/s and 1 m/s beside that of gravity. */
static inline int32_t family_add_body(family_heap *h, ds_vec3 place, double size) {
  family_body *b = &h->body[h->bodies];
  *b = (family_body){.mass = family_mass(h), .place = place};
  for (int i = 0; i < 3; i++) b->inertia[i] = b->mass * size * size * random_in(&h->random, 0.1, 0.25);
  b->axes = family_axes(&h->random);
  double speed = random_log(&h->random, 1e-4, 1);
  for (int i = 0; i < 6; i++) b->free[i] = speed * random_normal(&h->random);
  b->free[2] -= 9.81 * 0.01;
  return h->bodies++;
}

static inline double family_friction(family_heap *h) {
  static const double steps[4] = {0, 0.1, 0.3, 1};
  double share = random_unit(&h->random);
  int32_t step = random_int(&h->random, 4);
  return h->spec.mu * (h->spec.friction == 0 ? 1 : h->spec.friction == 1 ? share : steps[step]);
}

static inline bool family_full(const family_heap *h) {
  return h->contacts >= h->spec.contacts || h->contacts >= FAMILY_CONTACTS || h->bodies >= FAMILY_BODIES;
}

/* A contact of body a with body b, or with the world, tangents turned by a random angle. */
static inline family_contact *family_add_contact(family_heap *h, int32_t a, int32_t b, ds_vec3 point, ds_vec3 normal) {
  static family_contact spare; /* a face that no longer fits is cut off */
  family_contact c = {.a = a, .b = b, .point = point};
  ds_vec3 t1, t2;
  double angle = random_in(&h->random, 0, 2 * DS_PI);
  v3_tangents(&t1, &t2, normal);
  c.frame[0] = normal;
  c.frame[1] = v3_add(v3_scale(cos(angle), t1), v3_scale(sin(angle), t2));
  c.frame[2] = v3_cross(normal, c.frame[1]);
  c.mu = family_friction(h);
  family_contact *place = h->contacts < FAMILY_CONTACTS ? &h->contact[h->contacts++] : &spare;
  *place = c;
  return place;
}

/* A unit vector near n. */
static inline ds_vec3 family_near(uint64_t *s, ds_vec3 n, double by) {
  ds_vec3 aside = random_in_ball(s, 3);
  return v3_unit(v3_mad(n, by, aside));
}

/* ---- The families ---- */

#define FAMILY_SIZE 0.2 /* m, distance of neighbours */

static inline void family_massratio(family_heap *h) {
  while (!family_full(h)) {
    /* most bodies stand on the last one, some begin a branch */
    int32_t below = h->bodies - 1, any = random_int(&h->random, h->bodies + 1) - 1;
    if (random_unit(&h->random) < 0.15) below = any;
    ds_vec3 base = below < 0 ? v3(0, 0, -0.5 * FAMILY_SIZE) : h->body[below].place;
    double aside[2];
    for (int i = 0; i < 2; i++) aside[i] = random_in(&h->random, -0.06, 0.06);
    ds_vec3 place = v3_add(base, v3(aside[0], aside[1], FAMILY_SIZE));
    int32_t a = family_add_body(h, place, 1.5 * FAMILY_SIZE), corners = 3 + random_int(&h->random, 6);
    double phase = random_in(&h->random, 0, 2 * DS_PI);
    h->body[a].apart[2] = below < 0 ? 1 : h->body[below].apart[2] + 1;
    for (int32_t i = 0; i < corners; i++) {
      double angle = phase + 2 * DS_PI * i / corners;
      ds_vec3 corner = v3(FAMILY_SIZE * cos(angle), FAMILY_SIZE * sin(angle), 0.5 * FAMILY_SIZE);
      family_add_contact(h, a, below, v3_add(base, corner), v3(0, 0, 1));
    }
  }
}

static inline void family_redundant(family_heap *h) {
  int32_t bodies = 2 + random_int(&h->random, 3);
  double warp = random_log(&h->random, 1e-12, 1e-4);
  if (random_unit(&h->random) < 0.5) warp = 0;
  for (int32_t i = 0; i < bodies; i++) {
    family_add_body(h, v3(0, 0, FAMILY_SIZE * (i + 0.5)), FAMILY_SIZE);
    h->body[i].apart[2] = i + 1;
  }
  while (!family_full(h)) {
    int32_t a = h->contacts < bodies ? h->contacts : random_int(&h->random, bodies); /* every face has one */
    double x = random_in(&h->random, -FAMILY_SIZE, FAMILY_SIZE);
    double y = random_in(&h->random, -FAMILY_SIZE, FAMILY_SIZE);
    ds_vec3 normal = family_near(&h->random, v3(0, 0, 1), warp);
    family_add_contact(h, a, a - 1, v3(x, y, FAMILY_SIZE * a), normal);
  }
}

/* Points between two stones, on normals of their own. 0.15 rad: up to mu = 6 flying apart still opens them. */
static inline void family_touch(family_heap *h, int32_t a, int32_t b) {
  ds_vec3 from = h->body[b].place, to = h->body[a].place, between = v3_unit(v3_sub(to, from));
  for (int32_t count = 1 + random_int(&h->random, 3); count > 0; count--) {
    ds_vec3 aside = random_in_ball(&h->random, 3);
    ds_vec3 point = v3_mad(v3_scale(0.5, v3_add(from, to)), 0.3 * FAMILY_SIZE, aside);
    ds_vec3 normal = family_near(&h->random, between, 0.15);
    family_add_contact(h, a, b, point, normal);
  }
}

static inline void family_pebbles(family_heap *h) {
  while (!family_full(h)) {
    ds_vec3 place = {0, 0, 0.5 * FAMILY_SIZE};
    int32_t other = h->bodies > 0 ? random_int(&h->random, h->bodies) : -1;
    if (other >= 0) { /* beside or above another */
      ds_vec3 aside = random_in_ball(&h->random, 3);
      aside.z = fabs(aside.z);
      place = v3_mad(h->body[other].place, FAMILY_SIZE, v3_unit(aside));
    }
    int32_t a = family_add_body(h, place, 0.7 * FAMILY_SIZE);
    for (int32_t b = 0, near = 0; b < a && near < 3; b++) {
      if (b != other && v3_dist(place, h->body[b].place) > 1.2 * FAMILY_SIZE) continue;
      family_touch(h, a, b);
      near++;
    }
    int32_t floor = place.z < 0.8 * FAMILY_SIZE ? 1 + random_int(&h->random, 3) : 0;
    for (int32_t i = 0; i < floor; i++) {
      ds_vec3 aside = random_in_ball(&h->random, 3);
      ds_vec3 point = v3(place.x + 0.5 * FAMILY_SIZE * aside.x, place.y + 0.5 * FAMILY_SIZE * aside.y, 0);
      family_add_contact(h, a, -1, point, v3(0, 0, 1));
    }
  }
  /* all fly away from a point far below the floor, so that they leave it steeply */
  for (int32_t i = 0; i < h->bodies; i++) {
    ds_vec3 away = v3_add(h->body[i].place, v3(0, 0, 1000 * FAMILY_SIZE));
    h->body[i].apart[0] = away.x, h->body[i].apart[1] = away.y, h->body[i].apart[2] = away.z;
  }
}

/* Walls with the normals (+-cos t, 0, sin t) come closer at 10 mm/s. Upwards is the way out: it opens them where
 * mu < tan t. Walls that are parallel or lean inwards (t <= 0) over a floor leave no way: infeasible. */
static inline void family_wedge(family_heap *h) {
  static const double to_limit[6] = {0.5, 0.99, 0.9999, 1, 1.01, 2};
  double lean = random_in(&h->random, 0.05, 1), share = to_limit[random_int(&h->random, 6)];
  bool closed = random_unit(&h->random) < 0.15;
  if (closed) lean = -0.5 * lean;
  double mu = closed ? h->spec.mu : share * tan(lean);
  h->may_be_infeasible = closed || share >= 1;
  while (!family_full(h)) {
    int32_t a = family_add_body(h, v3(0, 0, FAMILY_SIZE * (h->bodies + 0.5)), FAMILY_SIZE), below = a - 1;
    h->body[a].apart[2] = 10 + a;
    for (int side = -1; side <= 1; side += 2) {
      ds_vec3 normal = v3(side * cos(lean), 0, sin(lean)), along = v3(-side * sin(lean), 0, cos(lean));
      for (int32_t count = 1 + random_int(&h->random, 4); count > 0; count--) {
        double y = random_in(&h->random, -0.5 * FAMILY_SIZE, 0.5 * FAMILY_SIZE);
        double up = random_in(&h->random, -0.5 * FAMILY_SIZE, 0.5 * FAMILY_SIZE);
        ds_vec3 point = v3_mad(v3_mad(h->body[a].place, -0.5 * FAMILY_SIZE, normal), up, along);
        point.y = y;
        family_contact *c = family_add_contact(h, a, -1, point, normal);
        c->mu = mu;
        c->drive = v3(side * 0.01, 0, 0);
      }
    }
    if (below < 0 && !closed) continue; /* the lowest hangs between the walls */
    for (int32_t count = 1 + random_int(&h->random, 4); count > 0; count--) {
      double x = random_in(&h->random, -0.5 * FAMILY_SIZE, 0.5 * FAMILY_SIZE);
      double y = random_in(&h->random, -0.5 * FAMILY_SIZE, 0.5 * FAMILY_SIZE);
      family_add_contact(h, a, below, v3(x, y, FAMILY_SIZE * a), v3(0, 0, 1));
    }
  }
}

/* Neighbours in a ring touch by teeth whose flanks are inclined by the usual 20 degrees to either side, and lie on the
 * floor. A second row of spokes joins the hub. 0.35 rad: flying apart opens teeth up to mu = 2.7. */
static inline void family_gears(family_heap *h) {
  static const double pressure_angle = 20 * DS_PI / 180;
  int32_t bodies = 3 + random_int(&h->random, 3 + h->spec.contacts / 8);
  bodies = bodies < FAMILY_BODIES ? bodies : FAMILY_BODIES;
  h->spec.mu = fmin(h->spec.mu, 2);
  double radius = FAMILY_SIZE * bodies / (2 * DS_PI);
  for (int32_t i = 0; i < bodies; i++) {
    double angle = 2 * DS_PI * i / bodies;
    family_add_body(h, v3(radius * cos(angle), radius * sin(angle), 0), FAMILY_SIZE);
    h->body[i].apart[0] = cos(angle), h->body[i].apart[1] = sin(angle), h->body[i].apart[2] = 10;
  }
  for (int32_t i = 0; !family_full(h); i++) {
    int32_t a = i % bodies, b = (a + 1) % bodies;
    ds_vec3 from = h->body[b].place, to = h->body[a].place, between = v3_unit(v3_sub(to, from));
    ds_vec3 aside = v3(-between.y, between.x, 0);
    for (int32_t tooth = 1 + random_int(&h->random, 4); tooth > 0; tooth--) {
      double turn = random_unit(&h->random) < 0.5 ? pressure_angle : -pressure_angle;
      double at = random_in(&h->random, -0.2, 0.2), deep = random_in(&h->random, -0.3, 0.3);
      ds_vec3 normal = v3_add(v3_scale(cos(turn), between), v3_scale(sin(turn), aside));
      ds_vec3 point = v3_mad(v3_scale(0.5, v3_add(from, to)), at * FAMILY_SIZE, aside);
      point.z = deep * FAMILY_SIZE;
      family_add_contact(h, a, b, point, normal);
    }
    int32_t floor = 1 + random_int(&h->random, 3);
    for (int32_t k = 0; k < floor; k++) {
      double x = random_in(&h->random, -0.4, 0.4), y = random_in(&h->random, -0.4, 0.4);
      ds_vec3 point = v3(to.x + x * FAMILY_SIZE, to.y + y * FAMILY_SIZE, -0.4 * FAMILY_SIZE);
      family_add_contact(h, a, -1, point, v3(0, 0, 1));
    }
  }
}

/* ---- Matrices ---- */

/* Rows of contact c for body i, 3 x 6: the change of u with the body's velocity. False where they do not meet. */
static inline bool family_rows(double g[18], const family_heap *h, const family_contact *c, int32_t i) {
  if (c->a != i && c->b != i) return false;
  double sign = c->a == i ? 1 : -1;
  ds_vec3 arm = v3_sub(c->point, h->body[i].place);
  for (int k = 0; k < 3; k++) {
    ds_vec3 d = v3_scale(sign, c->frame[k]), l = v3_cross(arm, d);
    double row[6] = {d.x, d.y, d.z, l.x, l.y, l.z};
    memcpy(g + 6 * k, row, sizeof row);
  }
  return true;
}

/* M of a body to the power +1 or -1, 6 x 6. */
static inline void family_mass_block(double m[36], const family_body *b, int power) {
  memset(m, 0, 36 * sizeof *m);
  for (int i = 0; i < 3; i++) m[7 * i] = power > 0 ? b->mass : 1 / b->mass;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) {
        double principal = power > 0 ? b->inertia[k] : 1 / b->inertia[k];
        m[6 * (3 + i) + 3 + j] += principal * (b->axes.m[3 * i + k] * b->axes.m[3 * j + k]);
      }
}

/* u = H' v for a velocity that `offset` finds in each body, less that of the world. */
static inline double *family_velocities(ds_arena *arena, const family_heap *h, size_t offset, bool driven) {
  double *u = DS_NEW0(arena, double, 3 * h->contacts + 1);
  if (!u) return u;
  for (int32_t c = 0; c < h->contacts; c++) {
    const family_contact *contact = &h->contact[c];
    const int32_t both[2] = {contact->a, contact->b};
    for (int side = 0; side < 2; side++) {
      double g[18];
      if (both[side] < 0 || !family_rows(g, h, contact, both[side])) continue;
      const double *v = (const double *)(const void *)((const char *)&h->body[both[side]] + offset);
      for (int k = 0; k < 3; k++) u[3 * c + k] += random_dot(g + 6 * k, v, 6);
    }
    for (int k = 0; driven && k < 3; k++) u[3 * c + k] -= v3_dot(contact->frame[k], contact->drive);
  }
  return u;
}

static inline void family_global(ds_arena *arena, ds_problem *out, const family_heap *h) {
  int32_t dof = 6 * h->bodies, rows = 3 * h->contacts;
  double *m = DS_NEW0(arena, double, dof *dof + 1), *g = DS_NEW0(arena, double, dof *rows + 1);
  double *f = DS_NEW0(arena, double, dof + 1), *w = DS_NEW0(arena, double, rows + 1);
  if (ds_arena_failed(arena)) return;
  for (int32_t b = 0; b < h->bodies; b++) {
    double block[36], part[18];
    family_mass_block(block, &h->body[b], 1);
    for (int i = 0; i < 6; i++) {
      memcpy(m + (6 * b + i) * dof + 6 * b, block + 6 * i, 6 * sizeof *m);
      f[6 * b + i] = random_dot(block + 6 * i, h->body[b].free, 6);
    }
    for (int32_t c = 0; c < h->contacts; c++)
      if (family_rows(part, h, &h->contact[c], b))
        for (int i = 0; i < 18; i++) g[(6 * b + i % 6) * rows + 3 * c + i / 6] = part[i];
  }
  for (int32_t i = 0; i < rows; i++) w[i] = -v3_dot(h->contact[i / 3].frame[i % 3], h->contact[i / 3].drive);
  out->form = DS_PROBLEM_GLOBAL, out->dof = dof;
  out->M = random_triplets(arena, m, dof, dof);
  out->H = random_triplets(arena, g, dof, rows);
  out->f = f, out->w = w;
}

/* W block by block: G_c M^-1 G_d' over the bodies that c and d share. */
static inline void family_local(ds_arena *arena, ds_problem *out, const family_heap *h) {
  int32_t rows = 3 * h->contacts;
  double *w = DS_NEW0(arena, double, rows *rows + 1);
  out->form = DS_PROBLEM_LOCAL;
  out->q = family_velocities(arena, h, offsetof(family_body, free), true);
  if (ds_arena_failed(arena)) return;
  for (int32_t b = 0; b < h->bodies; b++) {
    double inverse[36];
    family_mass_block(inverse, &h->body[b], -1);
    for (int32_t c = 0; c < h->contacts; c++) {
      double at_c[18], at_d[18], moved[18] = {0};
      if (!family_rows(at_c, h, &h->contact[c], b)) continue;
      for (int i = 0; i < 18; i++) moved[i] = random_dot(at_c + i / 6 * 6, inverse + i % 6 * 6, 6);
      for (int32_t d = 0; d < h->contacts; d++)
        if (family_rows(at_d, h, &h->contact[d], b))
          for (int i = 0; i < 9; i++)
            w[(3 * c + i / 3) * rows + 3 * d + i % 3] += random_dot(moved + i / 3 * 6, at_d + i % 3 * 6, 6);
    }
  }
  out->W = random_triplets(arena, w, rows, rows);
}

/* Memory comes from the arena; a failed one shows in ds_arena_failed. */
static inline family_case family_problem(ds_arena *arena, const family_spec *spec) {
  family_case out = {.problem = {.dimension = 3}};
  family_heap *h = DS_NEW0(arena, family_heap, 1);
  if (!h) return out;
  h->spec = *spec, h->random = spec->seed;
  switch (spec->family) {
    case FAMILY_MASSRATIO:
      family_massratio(h);
      break;
    case FAMILY_REDUNDANT:
      family_redundant(h);
      break;
    case FAMILY_PEBBLES:
      family_pebbles(h);
      break;
    case FAMILY_WEDGE:
      family_wedge(h);
      break;
    case FAMILY_GEARS:
      family_gears(h);
      break;
  }
  double *mu = DS_NEW(arena, double, h->contacts + 1);
  for (int32_t c = 0; mu && c < h->contacts; c++) mu[c] = h->contact[c].mu;
  out.problem.contacts = h->contacts, out.problem.mu = mu;
  out.bodies = h->bodies, out.may_be_infeasible = h->may_be_infeasible;
  out.apart = family_velocities(arena, h, offsetof(family_body, apart), false);
  if (spec->family == FAMILY_GEARS)
    family_local(arena, &out.problem, h);
  else
    family_global(arena, &out.problem, h);
  return out;
}

#endif
