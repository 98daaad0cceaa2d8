/* An assembly as linear algebra on the graph of its free blocks.
 *
 * Velocities of n free blocks, scaled by mass m and radius of gyration l: (sqrt(m) v, sqrt(m) l w), with m in units of
 * the mean mass. Row k of Gᵀ gives the relative velocity u of point k, block b against block a, as normal and two
 * tangents; G r are the forces and torques of contact forces r. Forces are in units of the mean weight. An equilibrium
 * is r in K = {|r_T| <= mu r_N} with G r = -w.
 *
 * Tension T of an interface: r has T added to the normal force, and the pull of T on either block is among the loads w.
 * Points that crush have r_N + slack = limit, one more row each: nodes of the pattern after those of the blocks. */
#ifndef DS_STAND_GRAPH_H
#define DS_STAND_GRAPH_H

#include "base/arena.h"
#include "drystone/stand.h"
#include "la/block.h"

/* An interface: its points are those of the assembly that matter, the corners of its polygon. */
typedef struct ds_patch {
  int32_t first, count;
  int32_t body[2]; /* free blocks a and b, -1 = support */
  ds_vec3 axis[3]; /* normal and tangents */
  ds_vec3 arm[2];  /* from the centres of the blocks to the patch's first point */
} ds_patch;

typedef struct ds_graph {
  const ds_assembly *assembly;
  int32_t n, points;
  ds_patch *patch;      /* one per interface */
  int32_t *point;       /* points: as numbered in the assembly */
  double *offset;       /* 3 x points: from the patch's first point, along its axes */
  int32_t *slot;        /* of a block among the free ones, -1 = support */
  int32_t *block;       /* n: the reverse */
  int32_t *body;        /* 2 x points: free blocks a and b of a point, -1 = support */
  double *g;            /* 36 x points: G_kᵀ of a, then of b, each 3 x 6 row-major */
  double *mu;           /* points */
  double *root_mass;    /* n: sqrt(m) */
  double *radius;       /* n: l */
  double *load;         /* 6 n: w */
  double unit;          /* N: of forces */
  int32_t limits;       /* points that crush */
  int32_t *limit_point; /* limits: which ones */
  double *limit;        /* limits: their largest normal force, tension included */
  ds_block_pattern *pattern;
} ds_graph;

/* NULL where memory ran out. */
ds_graph *ds_graph_create(ds_arena *arena, const ds_assembly *assembly);
/* Forces and torques per block, scaled: w of the graph has the weights, too. torque may be NULL. */
void ds_graph_scale_load(double *load, const ds_graph *graph, const ds_vec3 *force, const ds_vec3 *torque);
void ds_graph_add_forces(double *out, const ds_graph *graph, const double *r); /* out += G r */
void ds_graph_slip(double *u, const ds_graph *graph, const double *v);         /* u = Gᵀ v */
/* Scaled velocities as twists of all blocks, and scaled contact forces in N: along the normal of the interface, and
 * vectors of friction, drawn in by rounding so that none leaves its cone. friction may be NULL. */
void ds_graph_twists(ds_twist *twist, const ds_graph *graph, const double *v);
/* Tension is taken off. */
void ds_graph_forces(double *normal, ds_vec3 *friction, const ds_graph *graph, const double *r);
#endif
