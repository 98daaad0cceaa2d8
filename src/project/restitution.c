/* Laws of restitution. v- are the velocities before an impact, u = Gᵀ v - b those of contacts, e of a contact or pair.
 *
 * Newton: u_N+ >= -e u_N-, complementary to r_N, in one frictional contact problem. Where friction turns a body, that
 * may add energy (Kane's paradox).
 *
 * Poisson: two phases. Compression ends with nothing approaching: u_N >= 0, complementary to r_N, gives v_c and r_c.
 * Restitution then gives back e times the normal impulses of compression, rho = e r_cN, with friction of its own, and
 * more where something would approach again [Glocker and Pfeiffer 1995, Multiple impacts with friction in rigid
 * multibody systems]:
 *
 *   v = v_c + G (rho + s, t),   0 <= s, u_N >= 0, s u_N = 0,   |t| <= mu (rho + s), opposite to u_T where that slides.
 *
 * As a standard problem (project/solve.h): the friction is a sum, |t1| <= mu s and |t2| <= mu rho, for both oppose the
 * same u_T. (s, t1) is a contact of Coulomb's. (rho, t2) is one too, whose normal row acts on a coordinate of its own,
 * which arrives with the velocity that rho stops (as a drive does, joint/articulate.h).
 *
 * Energetic: the same phases with rho = k r_cN, one k per pair of bodies, such that the normal impulses of the pair
 * return in restitution e² of the work that they took in compression [Stronge 1990, Rigid body collisions with
 * friction],
 *
 *   sum r_N (u_N start + u_N end)/2  over restitution  =  - e² sum r_cN (u_N- + u_Nc)/2,
 *
 * exact works of a phase in which velocities change linearly with impulses. The k are found by k <- k
 * sqrt(wanted/work); without friction k = e at once. Friction takes energy at the velocities in which a phase ends;
 * where those are turned about within it, its work may be positive. So all k are reduced by one factor, the largest for
 * which all impulses of both phases together do no work: it exists, compression alone takes energy. No impact adds
 * energy. */
#include "project/restitution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "drystone/drystone.h"
#include "project/project.h"
#include "project/projections.h"

/* ---- what laws share ---- */

/* Adds one solve of an impact to the certificate of all of it. */
static void count_work(ds_certificate *all, const ds_certificate *one) {
  ds_certificate_add_work(all, one);
  all->residual = fmax(all->residual, one->residual);
  all->natural_error = fmax(all->natural_error, one->natural_error);
  all->approach_velocity = fmax(all->approach_velocity, one->approach_velocity);
  all->cone_violation = fmax(all->cone_violation, one->cone_violation);
  all->dissipation_error = fmax(all->dissipation_error, one->dissipation_error);
  all->tolerance = fmax(all->tolerance, one->tolerance);
  all->unbounded |= one->unbounded;
  all->limited |= one->limited;
  all->converged &= one->converged;
}

/* Solves p as exactly as what rests: works are compared. */
static bool solve_one(const ds_solve *given, double *r, double *v, ds_certificate *all, const ds_subproblem *p) {
  ds_options tight = *given->options;
  ds_solve solve = *given;
  ds_certificate one;
  solve.options = &tight;
  tight.tolerance = ds_options_tolerance(given->options);
  ds_arena_mark mark = ds_arena_get_mark(given->arena);
  bool done = ds_project_island(&solve, r, v, &one, p);
  ds_arena_release(given->arena, mark);
  if (done) count_work(all, &one);
  return done;
}

static double rebound(const ds_impact *impact, const double *u, int32_t k) {
  double speed = impact->restitution[k] * fmax(0, -u[3 * k]);
  return speed > impact->slow ? speed : 0;
}

/* ---- Newton ---- */

static bool newton(const ds_solve *solve, double *r, double *v, ds_certificate *all, const ds_subproblem *p,
                   const ds_impact *impact) {
  int32_t nc = p->contact_count;
  double *b = DS_NEW(solve->arena, double, 3 * (size_t)nc + 1), *u = DS_NEW(solve->arena, double, 3 * (size_t)nc + 1);
  if (ds_arena_failed(solve->arena)) return false;
  ds_subproblem_slip(u, p, p->predicted);
  memcpy(b, p->b, 3 * (size_t)nc * sizeof(double));
  for (int32_t k = 0; k < nc; k++) b[3 * k] += rebound(impact, u, k);
  ds_subproblem q = *p;
  q.b = b;
  return solve_one(solve, r, v, all, &q);
}

/* ---- two phases ---- */

typedef struct phases {
  const ds_solve *solve;
  const ds_subproblem *p;
  ds_certificate *all;
  double *before, *middle, *after;                      /* u: before the impact, after compression, after it */
  double *compression, *restitution;                    /* r of the phases */
  double *turning, *v;                                  /* v_c and v */
  double *given, *share;                                /* rho; k of each contact */
  int32_t *size, *first, *place, *body, *jacobian, *at; /* the problem of restitution; contact k is its at[k] */
} phases;

static bool phases_new(phases *f, const ds_solve *solve, const ds_subproblem *p, ds_certificate *all) {
  ds_arena *arena = solve->arena;
  size_t nc = (size_t)p->contact_count, nb = (size_t)p->body_count;
  *f = (phases){.solve = solve, .p = p, .all = all};
  double **vectors[] = {&f->before, &f->middle, &f->after, &f->compression, &f->restitution};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = DS_NEW0(arena, double, 3 * nc + 1);
  f->given = DS_NEW0(arena, double, nc + 1);
  f->share = DS_NEW0(arena, double, nc + 1);
  f->turning = DS_NEW(arena, double, p->dof + 1);
  f->v = DS_NEW(arena, double, p->dof + 1);
  f->size = DS_NEW(arena, int32_t, nb + 1);
  f->first = DS_NEW(arena, int32_t, nb + 1);
  f->place = DS_NEW(arena, int32_t, nb + 1);
  f->body = DS_NEW(arena, int32_t, 4 * nc + 1);
  f->jacobian = DS_NEW(arena, int32_t, 4 * nc + 1);
  f->at = DS_NEW(arena, int32_t, nc + 1);
  return !ds_arena_failed(arena);
}

static bool compress(phases *f) {
  const ds_subproblem *p = f->p;
  ds_subproblem_slip(f->before, p, p->predicted);
  if (!solve_one(f->solve, f->compression, f->turning, f->all, p)) return false;
  ds_subproblem_slip(f->middle, p, f->turning);
  return true;
}

static bool is_rubbed(const phases *f, int32_t k) { return f->p->mu[k] * f->given[k] > 0; }

/* Bodies and contacts of restitution: after a contact comes the friction of its given impulse, whose normal row is a
 * further coordinate of the first body. Returns the length of the rows. */
static size_t place_restitution(phases *f, ds_subproblem *q) {
  const ds_subproblem *p = f->p;
  size_t length = 0;
  int32_t dof = 0, count = 0;
  for (int32_t i = 0; i < p->body_count; i++) f->size[i] = p->size[i];
  for (int32_t k = 0; k < p->contact_count; k++)
    if (is_rubbed(f, k)) f->size[p->body[2 * k]]++;
  for (int32_t i = 0; i < p->body_count; i++) f->first[i] = dof, f->place[i] = p->size[i], dof += f->size[i];
  for (int32_t k = 0; k < p->contact_count; k++) {
    f->at[k] = count;
    for (int copy = 0; copy < (is_rubbed(f, k) ? 2 : 1); copy++, count++)
      for (int side = 0; side < 2; side++) {
        int32_t body = p->body[2 * k + side];
        f->body[2 * count + side] = body;
        f->jacobian[2 * count + side] = (int32_t)length;
        if (body >= 0) length += 3 * (size_t)f->size[body];
      }
  }
  *q = (ds_subproblem){.body_count = p->body_count, .contact_count = count, .dof = dof};
  q->size = f->size, q->first = f->first, q->body = f->body, q->jacobian = f->jacobian;
  return length;
}

/* Rows of contact `at` of restitution, with rows from `from` on those of contact k. */
static void copy_rows(const phases *f, double *g, int32_t at, int32_t k, int from) {
  const ds_subproblem *p = f->p;
  for (int side = 0; side < 2; side++) {
    int32_t body = p->body[2 * k + side];
    for (int c = from; body >= 0 && c < 3; c++)
      memcpy(g + f->jacobian[2 * at + side] + c * f->size[body], p->g + p->jacobian[2 * k + side] + c * p->size[body],
             (size_t)p->size[body] * sizeof(double));
  }
}

/* The size of a contact's sliding rows, for its coordinate of its own. */
static double row_size(const ds_subproblem *p, int32_t k) {
  double squares = 0;
  for (int side = 0; side < 2; side++) {
    int32_t body = p->body[2 * k + side];
    const double *rows = p->g + p->jacobian[2 * k + side];
    for (int32_t j = 0; body >= 0 && j < p->size[body]; j++)
      squares += rows[p->size[body] + j] * rows[p->size[body] + j];
  }
  return squares > 0 ? sqrt(squares) : 1;
}

/* Restitution with the impulses given: r, v and u after it. */
static bool restore(phases *f) {
  ds_arena *arena = f->solve->arena;
  const ds_subproblem *p = f->p;
  ds_arena_mark mark = ds_arena_get_mark(arena);
  ds_subproblem q;
  size_t length = place_restitution(f, &q);
  if (length > INT32_MAX) return false;
  double *g = DS_NEW0(arena, double, length + 1), *mu = DS_NEW(arena, double, q.contact_count + 1);
  double *b = DS_NEW0(arena, double, 3 * (size_t)q.contact_count + 1), *start = DS_NEW0(arena, double, q.dof + 1);
  double *r = DS_NEW0(arena, double, 3 * (size_t)q.contact_count + 1), *v = DS_NEW(arena, double, q.dof + 1);
  if (ds_arena_failed(arena)) return false;
  for (int32_t k = 0; k < p->contact_count; k++) {
    f->restitution[3 * k] = f->given[k];
    f->restitution[3 * k + 1] = f->restitution[3 * k + 2] = 0;
  }
  memcpy(f->v, f->turning, (size_t)p->dof * sizeof(double));
  ds_subproblem_add_impulse(f->v, p, f->restitution);
  for (int32_t i = 0; i < p->body_count; i++)
    memcpy(start + q.first[i], f->v + p->first[i], (size_t)p->size[i] * sizeof(double));
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t at = f->at[k];
    copy_rows(f, g, at, k, 0);
    memcpy(b + 3 * at, p->b + 3 * k, 3 * sizeof(double));
    mu[at] = p->mu[k];
    if (!is_rubbed(f, k)) continue;
    int32_t body = p->body[2 * k], own = f->place[body]++;
    double scale = row_size(p, k);
    copy_rows(f, g, at + 1, k, 1);
    g[f->jacobian[2 * (at + 1)] + own] = scale;
    start[q.first[body] + own] = -scale * f->given[k];
    memcpy(b + 3 * (at + 1) + 1, p->b + 3 * k + 1, 2 * sizeof(double));
    mu[at + 1] = p->mu[k];
    r[3 * (at + 1)] = f->given[k];
  }
  q.g = g, q.mu = mu, q.b = b, q.predicted = start;
  if (!solve_one(f->solve, r, v, f->all, &q)) return false;
  for (int32_t i = 0; i < p->body_count; i++)
    memcpy(f->v + p->first[i], v + q.first[i], (size_t)p->size[i] * sizeof(double));
  for (int32_t k = 0; k < p->contact_count; k++)
    for (int c = 0; c < 3; c++) {
      f->restitution[3 * k + c] += r[3 * f->at[k] + c];
      if (c > 0 && is_rubbed(f, k)) f->restitution[3 * k + c] += r[3 * (f->at[k] + 1) + c];
    }
  ds_subproblem_slip(f->after, p, f->v);
  ds_arena_release(arena, mark);
  return true;
}

static void give_back(const phases *f, double *r, double *v, bool restored) {
  for (int32_t i = 0; i < 3 * f->p->contact_count; i++) r[i] = f->compression[i] + (restored ? f->restitution[i] : 0);
  memcpy(v, restored ? f->v : f->turning, (size_t)f->p->dof * sizeof(double));
}

/* Whether any contact would rebound: else the impact ends with its compression. */
static bool rebounds(const phases *f, const ds_impact *impact) {
  for (int32_t k = 0; k < f->p->contact_count; k++)
    if (rebound(impact, f->before, k) > 0) return true;
  return false;
}

static bool poisson(const ds_solve *solve, double *r, double *v, ds_certificate *all, const ds_subproblem *p,
                    const ds_impact *impact) {
  phases f;
  if (!phases_new(&f, solve, p, all) || !compress(&f)) return false;
  bool restored = rebounds(&f, impact);
  for (int32_t k = 0; k < p->contact_count; k++) f.given[k] = impact->restitution[k] * f.compression[3 * k];
  if (restored && !restore(&f)) return false;
  give_back(&f, r, v, restored);
  return true;
}

/* ---- energetic ---- */

/* Work of the normal impulses r of contacts of one pair, from contact k on, between u and then. */
static double pair_work(const phases *f, const ds_impact *impact, int32_t k, const double *r, const double *u,
                        const double *then) {
  double work = 0;
  for (int32_t i = k; i < f->p->contact_count && impact->pair[i] == impact->pair[k]; i++)
    work += 0.5 * r[3 * i] * (u[3 * i] + then[3 * i]);
  return work;
}

static double all_work(const phases *f) {
  double work = 0;
  for (int32_t i = 0; i < 3 * f->p->contact_count; i++)
    work += 0.5 * f->compression[i] * (f->before[i] + f->middle[i]) +
            0.5 * f->restitution[i] * (f->middle[i] + f->after[i]);
  return work;
}

/* Restitution with `factor` of the shares found. */
static bool restore_share(phases *f, double factor) {
  for (int32_t k = 0; k < f->p->contact_count; k++) f->given[k] = factor * f->share[k] * f->compression[3 * k];
  return restore(f);
}

/* Shares for the next round; false where works are as wanted. */
static bool next_shares(phases *f, const ds_impact *impact, double scale) {
  bool changed = false;
  for (int32_t k = 0; k < f->p->contact_count; k++) {
    if (k > 0 && impact->pair[k] == impact->pair[k - 1]) continue;
    double e = impact->restitution[k];
    double wanted = -e * e * pair_work(f, impact, k, f->compression, f->before, f->middle);
    double work = pair_work(f, impact, k, f->restitution, f->middle, f->after), share = 0;
    if (wanted > DS_EXACT * DS_EXACT * scale && fabs(work - wanted) <= DS_EXACT * scale) continue;
    if (wanted > DS_EXACT * DS_EXACT * scale) share = f->share[k] * (work > 0.25 * wanted ? sqrt(wanted / work) : 2);
    changed |= share != f->share[k];
    for (int32_t i = k; i < f->p->contact_count && impact->pair[i] == impact->pair[k]; i++) f->share[i] = share;
  }
  return changed;
}

/* Where impulses add energy, the largest factor of all shares with which they do not. */
static bool bound_energy(phases *f, double scale) {
  double low = 0, high = 1;
  for (int i = 0; i < DS_STEPS && (i > 0 || all_work(f) > DS_EXACT * scale); i++) {
    double middle = 0.5 * (low + high);
    if (!restore_share(f, middle)) return false;
    if (all_work(f) > 0)
      high = middle;
    else
      low = middle;
  }
  return high == 1 || restore_share(f, low);
}

static bool energetic(const ds_solve *solve, double *r, double *v, ds_certificate *all, const ds_subproblem *p,
                      const ds_impact *impact) {
  phases f;
  double scale = 0;
  if (!phases_new(&f, solve, p, all) || !compress(&f)) return false;
  bool restored = rebounds(&f, impact);
  for (int32_t k = 0; k < p->contact_count; k++) {
    f.share[k] = impact->restitution[k];
    scale += 0.5 * fabs(f.compression[3 * k] * (f.before[3 * k] + f.middle[3 * k]));
  }
  for (int i = 0; restored && i < DS_STEPS; i++) {
    if (!restore_share(&f, 1)) return false;
    if (!next_shares(&f, impact, scale)) break;
  }
  if (restored && !bound_energy(&f, scale)) return false;
  give_back(&f, r, v, restored);
  return true;
}

/* ---- the table ---- */

typedef struct law {
  const char *name;
  ds_restitution_solve *solve;
  bool bounded; /* no impact adds energy */
} law;

/* A law is a function and a line here. The first is the default. Recordings hold the number of a line: add at the end.
 */
static const law LAWS[] = {
    {"newton", newton, false},      /* of the velocities: u+ = -e u- */
    {"poisson", poisson, false},    /* of the impulses: those of restitution are e times those of compression */
    {"energetic", energetic, true}, /* of the works: normal impulses return e² of the work they took */
};
enum { COUNT = sizeof LAWS / sizeof *LAWS };

bool ds_restitution_apply(const ds_solve *solve, double *r, double *v, ds_certificate *all, const ds_subproblem *p,
                          const ds_impact *impact) {
  DS_CHECK(impact->law >= 0 && impact->law < COUNT);
  ds_arena_mark mark = ds_arena_get_mark(solve->arena);
  bool done = LAWS[impact->law].solve(solve, r, v, all, p, impact);
  ds_arena_release(solve->arena, mark);
  return done;
}

ds_restitution_law ds_restitution_named(const char *name) {
  for (ds_restitution_law i = 0; i < COUNT; i++)
    if (strcmp(name, LAWS[i].name) == 0) return i;
  return -1;
}

const char *ds_restitution_name(ds_restitution_law i) { return i >= 0 && i < COUNT ? LAWS[i].name : NULL; }

ds_method_list ds_restitution_choices(void) {
  ds_method_list list = {""};
  size_t used = 0;
  for (int32_t i = 0; i < COUNT && used < sizeof list.text; i++)
    used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s%s", i > 0 ? "|" : "", LAWS[i].name);
  DS_CHECK(used < sizeof list.text);
  return list;
}

bool ds_restitution_is_bounded(ds_restitution_law i) { return i >= 0 && i < COUNT && LAWS[i].bounded; }
