/* One independent part of a frictional contact problem: what stage 2 assembles and stage 4 solves, and the one error
 * measure of all solvers.
 *
 * In mass-scaled velocity space (M = I), with contact k touching at most two bodies:
 *
 *   v = v_p + G r,   u = Gᵀ v - b,   r_k in K_mu = {|r_T| <= mu r_N},   u_k + (mu |u_T|, 0, 0) in K*_mu,   orthogonal.
 *
 * Components of a contact: normal first, then two tangents. b_N carries restitution and open gaps, b_T the motion of
 * scripted bodies [DESIGN 2].
 *
 * Problems that come without bodies have only W = GᵀG. Their velocity is the contacts' own: v stands for Gᵀ(v - v_p) =
 * W r, so that the same lines hold with W in place of G and I in place of Gᵀ, and the tools need not know. */
#ifndef DS_PROBLEM_SUBPROBLEM_H
#define DS_PROBLEM_SUBPROBLEM_H

#include "base/arena.h"
#include "drystone/types.h"
#include "la/rows.h"

/* The largest error with which a step may be taken where no tolerance is given [project/goal.h]. */
#define DS_LOOSEST 1e-4
/* Islands of more bodies move chaotically where they collide, and the last digits of their motion tell nothing: they
 * take steps with impacts by Euler's rule (assemble.c), and Newton ends at the tolerance of what moves. With 2, 4, 8 a
 * pile of 60 takes 68, 76, 83 factorizations per step; where Newton ends so with fewer bodies, test_order misses. */
enum { DS_FEW_BODIES = 4 };

/* W in compressed rows of 3 x 3 row-major blocks, columns ascending, symmetric, every diagonal block there. */
typedef struct ds_delassus {
  const int32_t *start;  /* contact_count + 1 */
  const int32_t *column; /* start[contact_count] */
  const double *value;   /* 9 a block */
} ds_delassus;

/* What a contact has besides mu, for methods that do not take it from b and G as they are. */
typedef struct ds_contact_law {
  double restitution;
  double rebound; /* m/s: the share of b_N that is restitution */
  double flat[2]; /* lengths of its tangents in G: semi-axes of the ellipse of friction, over mu r_N */
} ds_contact_law;

typedef struct ds_subproblem {
  int32_t body_count, contact_count, dof;
  const int32_t *size;     /* body_count: degrees of freedom of a body */
  const int32_t *first;    /* body_count: its first row in vectors */
  const int32_t *body;     /* 2 x contact_count: bodies of a contact, -1 = the fixed world */
  const int32_t *jacobian; /* 2 x contact_count: offset in g of its 3 x size row-major block G_kᵀ */
  const double *g;
  const ds_delassus *delassus; /* the form without bodies: body_count = 0, dof = 3 contact_count; else NULL */
  const double *predicted;     /* v_p */
  const double *b;             /* 3 x contact_count */
  const double *mu;            /* contact_count */
  const double *u_before;      /* 3 x contact_count, as in ds_problem; NULL: not known */
  double least;                /* m/s a contact: errors of slower problems are relative to this; 0: none */
  int32_t samples; /* 0: the friction disk; else corners of the regular polygon in its place, the first along the first
                      tangent */
  const ds_contact_law *law; /* contact_count; NULL: nothing rebounds, friction is the same in all directions */
  const double *scale;       /* contact_count: W_k = largest diagonal entry of G_kᵀ G_k, 1/kg; 1 where that is 0 */
  const double *weight;    /* contact_count: mean of scale over the contacts of the same bodies; redundant impulses are
                              chosen    least in this metric, so that a patch shares its load evenly */
  const double *corner;    /* 2 x samples: of the polygon in the unit circle; NULL: the disk */
  const double *free_slip; /* q = Gᵀ v_p - b, 3 x contact_count: slip without impulses */
  double rho;              /* 3 contacts / trace of GᵀG: the step of the natural map */
  double slip;             /* |q|, q = Gᵀ v_p - b */
  double target;           /* the same, or what `least` makes of it: scale of the error of a zero impulse */
  double noise;            /* rounding of q: where q is no more than that, nothing is to be done */
} ds_subproblem;

/* Fills scale, rho, target and corner of a problem whose other members are set. False where memory ran out. */
bool ds_subproblem_prepare(ds_arena *arena, ds_subproblem *problem);

void ds_subproblem_velocity(double *v, const ds_subproblem *problem, const double *r);         /* v = v_p + G r */
void ds_subproblem_slip(double *u, const ds_subproblem *problem, const double *v);             /* u = Gᵀ v - b */
void ds_subproblem_add_impulse(double *v, const ds_subproblem *problem, const double *r);      /* v += G r */
void ds_subproblem_apply_transposed(double *y, const ds_subproblem *problem, const double *v); /* y = Gᵀ v */
/* The same with the normal or the tangential rows alone: r and y hold one number or two a contact. */
void ds_subproblem_add_part(double *v, const ds_subproblem *problem, const double *r, ds_rows_part part);
void ds_subproblem_times_part(double *y, const ds_subproblem *problem, const double *v, ds_rows_part part);

/* Contacts of the same two bodies follow one another: the first after k with others. */
int32_t ds_subproblem_end_of_pair(const ds_subproblem *problem, int32_t k);

/* Projection on the Coulomb cone K_mu: p may be x. */
void ds_cone_project(double p[3], const double x[3], double mu);

/* |r - P_K(r - rho u~)|, u~ = u + mu |u_T| n, for any rho. */
double ds_subproblem_natural_map(const ds_subproblem *problem, const double *r, const double *u, double rho);

/* The scale-free natural-map error |r - P_K(r - rho u~)| / max(|r|, rho |q|), u~ = u + mu |u_T| n, rho = 3 nc / tr W.
 * Impulses that cancel each other inside a wedge can grow without bound and make any error small that is relative to
 * them. So it is at least (|(-u_N)+| / |q|)², and at least (sum |r_N u_N| / E)², with the energy E = |v - v_p|²/2 of
 * what the impulses do (not less than rho |q|²/1000): both are nothing where the problem is solved. With a
 * friction polygon the map is Alart-Curnier's, which vanishes at the same points. */
double ds_subproblem_error(const ds_subproblem *problem, const double *r, const double *u);

/* The same without the last of the three: that one says whether an answer is one, but not which of two points is nearer
 * to it, and a tool that chooses by it turns back half-way. */
double ds_subproblem_progress(const ds_subproblem *problem, const double *r, const double *u);

/* Errors of a certificate for impulses r and velocity v; counts are left alone. */
void ds_subproblem_certify(ds_certificate *certificate, const ds_subproblem *problem, const double *r, const double *v,
                           double *u, double tolerance);

/* Adds the work of one solve to another's: counts are summed, the rest is the larger; errors are left alone. */
void ds_certificate_add_work(ds_certificate *sum, const ds_certificate *work);

/* Nearest point to x of a regular polygon of the given number of corners, the first at (radius, 0). Returns the rank of
 * the derivative: 2 inside, 1 on an edge (its unit direction goes to `edge`), 0 at a corner. `edge` may be NULL. */
int ds_polygon_project(double p[2], double edge[2], const double x[2], double radius, int32_t samples);

#endif
