/* Sub-islands from inactive contacts [SP08 8.2].
 *
 * Many contacts of an island carry nothing: gaps found ahead that are not reached, bodies that part. Without them the
 * island falls into parts, each solved alone with its own active contacts. Which are inactive is guessed from the warm
 * start (no impulse, and parting by more than a little), and checked on the result: a contact that the solution runs
 * into joins its parts, and those are solved again from where they were. Where no contact is run into, the impulses
 * solve the island as a whole, zero at the inactive contacts, and its certificate says so. Where the guess keeps
 * failing the island is solved as one.
 *
 * A large heap that is falling into itself has many contacts to join: as long as they are many, its parts are solved
 * roughly, to ten times the tolerance. */
#include <math.h>
#include <string.h>

#include "base/sets.h"
#include "project/project.h"
#include "project/solvers.h"

/* Islands of fewer contacts gain nothing: four seconds of the card house of SP08 take 42,059 factorizations with this,
 * 50,100 without. */
enum { SMALL = 24 };
static const double worth_it = 0.9; /* largest part over all active contacts, above which it is solved whole */
static const double few = 0.02;     /* new contacts over those of the parts, from which on the guess is nearly right */
static const double rough = 10;     /* over the tolerance, while contacts join */
static const double parting_rms = 0.25; /* a contact that parts faster than this share of |q|/sqrt(n) is inactive */

typedef struct split {
  const ds_subproblem *whole;
  bool *active, *fresh;         /* fresh: active since the last round */
  int32_t *parent;              /* union of bodies joined by active contacts */
  int32_t *part, part_count;    /* of a body, or -1 */
  int32_t *contact_start;       /* part_count + 1: its contacts in `contacts` */
  int32_t *contacts;            /* active ones, part by part, in their order */
  int32_t *body_start, *bodies; /* the same for bodies */
} split;

static bool split_new(ds_arena *arena, split *s, const ds_subproblem *p) {
  size_t nb = (size_t)p->body_count + 2, nc = (size_t)p->contact_count + 2;
  s->whole = p;
  s->active = DS_NEW0(arena, bool, nc);
  s->fresh = DS_NEW0(arena, bool, nc);
  s->parent = DS_NEW(arena, int32_t, nb);
  s->part = DS_NEW(arena, int32_t, nb);
  s->contact_start = DS_NEW(arena, int32_t, nb);
  s->contacts = DS_NEW(arena, int32_t, nc);
  s->body_start = DS_NEW(arena, int32_t, nb);
  s->bodies = DS_NEW(arena, int32_t, nb);
  return !ds_arena_failed(arena);
}

static int32_t a_body_of(const ds_subproblem *p, int32_t k) {
  return p->body[2 * k] >= 0 ? p->body[2 * k] : p->body[2 * k + 1];
}

/* Puts the n items into their groups: stable counting sort; items of group -1 are left out. */
static void group(int32_t *start, int32_t *sorted, int32_t groups, int32_t n, const split *s, bool contacts) {
  memset(start, 0, ((size_t)groups + 1) * sizeof *start);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < n; i++) {
      if (contacts && !s->active[i]) continue;
      int32_t g = s->part[contacts ? a_body_of(s->whole, i) : i];
      if (g < 0) continue;
      if (pass == 0)
        start[g + 1]++;
      else
        sorted[start[g]++] = i;
    }
    if (pass == 0)
      for (int32_t g = 0; g < groups; g++) start[g + 1] += start[g];
  }
  for (int32_t g = groups; g > 0; g--) start[g] = start[g - 1]; /* pass 1 moved every start to its end */
  start[0] = 0;
}

/* Parts from the active contacts. Returns the most contacts in any of them. */
static int32_t find_parts(split *s) {
  const ds_subproblem *p = s->whole;
  ds_sets_single(s->parent, p->body_count);
  for (int32_t b = 0; b < p->body_count; b++) s->part[b] = -1;
  for (int32_t k = 0; k < p->contact_count; k++) {
    int32_t a = p->body[2 * k], b = p->body[2 * k + 1];
    if (s->active[k] && a >= 0 && b >= 0) ds_sets_join(s->parent, a, b);
  }
  for (int32_t k = 0; k < p->contact_count; k++)
    if (s->active[k]) s->part[ds_sets_root(s->parent, a_body_of(p, k))] = 0; /* a part that has a contact */
  s->part_count = 0;
  for (int32_t b = 0; b < p->body_count; b++) { /* a root comes before its members */
    int32_t root = ds_sets_root(s->parent, b);
    if (root == b && s->part[b] == 0) s->part[b] = s->part_count++;
    if (root != b) s->part[b] = s->part[root];
  }
  group(s->contact_start, s->contacts, s->part_count, p->contact_count, s, true);
  group(s->body_start, s->bodies, s->part_count, p->body_count, s, false);
  int32_t most = 0;
  for (int32_t i = 0; i < s->part_count; i++) {
    int32_t n = s->contact_start[i + 1] - s->contact_start[i];
    if (n > most) most = n;
  }
  return most;
}

/* The problem of one part: its own bodies and contacts, the Jacobians of the whole. */
static bool part_problem(ds_arena *arena, ds_subproblem *q, double **r, double **v, const split *s, int32_t index,
                         const double *warm) {
  const ds_subproblem *p = s->whole;
  const int32_t *bodies = s->bodies + s->body_start[index], *contacts = s->contacts + s->contact_start[index];
  int32_t nb = s->body_start[index + 1] - s->body_start[index];
  int32_t nc = s->contact_start[index + 1] - s->contact_start[index];
  int32_t *size = DS_NEW(arena, int32_t, nb + 1), *first = DS_NEW(arena, int32_t, nb + 1);
  int32_t *local = DS_NEW(arena, int32_t, p->body_count + 1);
  int32_t *body = DS_NEW(arena, int32_t, 2 * nc + 1), *jacobian = DS_NEW(arena, int32_t, 2 * nc + 1);
  double *b = DS_NEW(arena, double, 3 * (size_t)nc + 1), *mu = DS_NEW(arena, double, nc + 1);
  double *predicted = DS_NEW(arena, double, p->dof + 1);
  double *u_before = p->u_before ? DS_NEW(arena, double, 3 * (size_t)nc + 1) : NULL;
  *r = DS_NEW(arena, double, 3 * (size_t)nc + 1);
  *v = DS_NEW(arena, double, p->dof + 1);
  if (ds_arena_failed(arena)) return false;
  int32_t dof = 0;
  for (int32_t i = 0; i < nb; i++) {
    local[bodies[i]] = i;
    size[i] = p->size[bodies[i]];
    first[i] = dof;
    memcpy(predicted + dof, p->predicted + p->first[bodies[i]], (size_t)size[i] * sizeof(double));
    dof += size[i];
  }
  for (int32_t i = 0; i < nc; i++) {
    int32_t k = contacts[i];
    for (int side = 0; side < 2; side++) {
      int32_t whole = p->body[2 * k + side];
      body[2 * i + side] = whole < 0 ? -1 : local[whole];
      jacobian[2 * i + side] = p->jacobian[2 * k + side];
    }
    memcpy(b + 3 * i, p->b + 3 * k, 3 * sizeof(double));
    memcpy(*r + 3 * i, warm + 3 * k, 3 * sizeof(double));
    mu[i] = p->mu[k];
    if (u_before) memcpy(u_before + 3 * i, p->u_before + 3 * k, 3 * sizeof(double));
  }
  *q = (ds_subproblem){.body_count = nb, .contact_count = nc, .dof = dof, .size = size, .first = first, .g = p->g};
  q->body = body, q->jacobian = jacobian, q->b = b, q->mu = mu, q->predicted = predicted;
  q->u_before = u_before;
  q->samples = p->samples, q->least = p->least;
  return true;
}

/* Parts change only by contacts that have become active: the others have been solved. */
static bool has_fresh(const split *s, int32_t part) {
  for (int32_t i = s->contact_start[part]; i < s->contact_start[part + 1]; i++)
    if (s->fresh[s->contacts[i]]) return true;
  return false;
}

/* Solves the parts that are new, or roughly; r and v of the whole are filled. */
static bool solve_parts(const ds_solve *solve, double *r, double *v, ds_certificate *work, const split *s,
                        bool roughly) {
  ds_arena *arena = solve->arena;
  const ds_subproblem *p = s->whole;
  for (int32_t i = 0; i < s->part_count; i++) {
    if (!has_fresh(s, i)) continue;
    ds_arena_mark mark = ds_arena_get_mark(arena);
    ds_subproblem q;
    double *part_r, *part_v;
    ds_certificate c;
    if (!part_problem(arena, &q, &part_r, &part_v, s, i, r)) return false;
    ds_solve of_part = *solve;
    of_part.part = true;
    of_part.ends_on_contact = false; /* that is for the whole */
    if (q.body_count < 100) of_part.pool = NULL;
    bool done = roughly ? ds_project_roughly(&of_part, part_r, part_v, &c, &q,
                                             rough * ds_goal_of(solve->options, solve->purpose).moving)
                        : ds_project_island(&of_part, part_r, part_v, &c, &q);
    if (!done) return false;
    ds_certificate_add_work(work, &c);
    for (int32_t j = 0; j < q.contact_count; j++)
      memcpy(r + 3 * s->contacts[s->contact_start[i] + j], part_r + 3 * j, 3 * sizeof(double));
    for (int32_t j = 0; j < q.body_count; j++)
      memcpy(v + p->first[s->bodies[s->body_start[i] + j]], part_v + q.first[j], (size_t)q.size[j] * sizeof(double));
    ds_arena_release(arena, mark);
  }
  return true;
}

/* Contacts that the solution runs into become active; their number. */
static int32_t join_violated(split *s, const double *u, double least) {
  int32_t joined = 0;
  memset(s->fresh, 0, (size_t)s->whole->contact_count * sizeof *s->fresh);
  for (int32_t k = 0; k < s->whole->contact_count; k++) {
    if (s->active[k] || !(u[3 * k] < least)) continue;
    s->active[k] = s->fresh[k] = true;
    joined++;
  }
  return joined;
}

bool ds_project_parts(const ds_solve *solve, double *r, double *v, ds_certificate *work, const ds_subproblem *p) {
  const ds_options *options = solve->options;
  ds_arena *arena = solve->arena;
  int32_t nc = p->contact_count;
  split s;
  if (nc < SMALL || p->delassus || !ds_solver_of(options)->safeguarded || !options->sub_islands) return false;
  double *u = DS_NEW(arena, double, 3 * (size_t)nc + 1);
  if (!split_new(arena, &s, p) || !u) return false;
  double sum = 0;
  ds_subproblem_slip(u, p, p->predicted);
  for (int32_t i = 0; i < 3 * nc; i++) sum += u[i] * u[i];
  double rms = sqrt(sum / (3 * nc));
  ds_subproblem_velocity(v, p, r);
  ds_subproblem_slip(u, p, v);
  for (int32_t k = 0; k < nc; k++) s.active[k] = s.fresh[k] = r[3 * k] > 0 || !(u[3 * k] > parting_rms * rms);
  memcpy(v, p->predicted, (size_t)p->dof * sizeof(double)); /* of bodies that touch nothing */
  ds_goal goal = ds_goal_of(options, solve->purpose);
  bool guessing = nc >= DS_HEAP_CONTACTS && goal.moving >= DS_LOOSEST;
  for (;;) { /* contacts only join: it ends */
    int32_t largest = find_parts(&s);
    if (largest > worth_it * s.contact_start[s.part_count]) return false;
    if (!solve_parts(solve, r, v, work, &s, guessing)) return false;
    ds_subproblem_slip(u, p, v);
    int32_t joined = join_violated(&s, u, -goal.target * rms);
    if (guessing) {
      memcpy(s.fresh, s.active, (size_t)nc * sizeof *s.fresh);
      guessing = joined > few * s.contact_start[s.part_count];
      continue;
    }
    if (joined > 0) continue;
    ds_subproblem whole = *p;
    if (!ds_subproblem_prepare(arena, &whole)) return false;
    ds_subproblem_certify(work, &whole, r, v, u, ds_goal_tolerance(&goal, &whole, r, u));
    return work->converged;
  }
}
