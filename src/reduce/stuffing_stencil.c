/* The stencils of isosurface stuffing [Labelle and Shewchuk 2007, section 3]: what of a lattice tetrahedron is inside,
 * as one to three tetrahedra.
 *
 * With p corners inside, z on the surface and n outside:
 *   n = 0            all of it
 *   p = 1            corner, and a cut point in place of each corner outside
 *   p = 2, n = 1     a pyramid: the trapezoid in the face of p, p, n under the corner on the surface
 *   p = 2, n = 2     a prism over the triangles (p, cut, cut) of both corners inside
 *   p = 3            a prism over the triangle of the corners inside and that of the cut points
 *
 * A trapezoid lies in a face that two lattice tetrahedra share, so the diagonal that cuts it depends on that face
 * alone:
 * - where the edge of p and p is long, both cut points are on short edges: from the even end of that edge (the parity
 *   rule). Both faces at that edge then get diagonals from the same corner.
 * - else to the cut point on the long edge.
 * Neither lets the three diagonals of a prism run in a circle, which could not be filled. The quadrilateral of four cut
 * points is on the surface and not shared; of its two diagonals the better possible one is used.
 *
 * Bounds: for every stencil, with cut points at both ends of where they may be and with corners on the surface anywhere
 * they may have been pulled to, dihedral angles are from 10.7 to 164.8 degrees (test_stuffing.c tries all of them). */
#include "reduce/stuffing.h"

static bool is_long(int a, int b) { return (a ^ b) == 1; }

/* A corner of a piece is an int; its place. */
static ds_vec3 place(const ds_stuffing_cell *c, int corner) {
  return corner < 4 ? c->x[corner] : c->cut[(corner - 4) / 4][(corner - 4) % 4];
}

static void set(int piece[4], int a, int b, int c, int d) { piece[0] = a, piece[1] = b, piece[2] = c, piece[3] = d; }

/* Of the inside corners p and q of a face with the outside corner n: whether the diagonal starts at p, and so ends at
 * the cut point of q and n. */
static bool starts_at(const ds_stuffing_cell *c, int p, int q, int n) {
  if (is_long(p, q)) return c->even[p];
  return is_long(q, n);
}

/* ---- prisms ---- */

/* Between the triangles a and b, with diagonals from a_i to b_j where up is true, else from b_i to a_j. One corner of a
 * has then two diagonals, one has none; false if they run in a circle. */
typedef struct prism {
  int a[3], b[3];
  bool up01, up12, up02;
} prism;

static bool cut_prism(int piece[3][4], const prism *p) {
  int ends[3] = {p->up01 + p->up02, !p->up01 + p->up12, !p->up12 + !p->up02};
  if (ends[0] == 1 && ends[1] == 1) return false;
  int two = ends[0] == 2 ? 0 : ends[1] == 2 ? 1 : 2, none = ends[0] == 0 ? 0 : ends[1] == 0 ? 1 : 2;
  int one = 3 - two - none;
  set(piece[0], p->a[two], p->b[0], p->b[1], p->b[2]);
  set(piece[1], p->a[two], p->a[one], p->b[one], p->b[none]);
  set(piece[2], p->a[0], p->a[1], p->a[2], p->b[none]);
  return true;
}

/* The least sine of the dihedral angles of three tetrahedra. */
static double least_sine(int piece[3][4], const ds_stuffing_cell *c) {
  double least = 1;
  for (int i = 0; i < 3; i++) {
    double angles[6];
    ds_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = place(c, piece[i][k]);
    ds_tet_angles(angles, x);
    for (int e = 0; e < 6; e++) least = fmin(least, sin(angles[e]));
  }
  return least;
}

static void two_and_two(int piece[3][4], const ds_stuffing_cell *c, const int *in, const int *out) {
  int a = in[0], b = in[1], n = out[0], m = out[1], other[3][4];
  prism p = {{a, DS_STUFFING_CUT(a, n), DS_STUFFING_CUT(a, m)},
             {b, DS_STUFFING_CUT(b, n), DS_STUFFING_CUT(b, m)},
             starts_at(c, a, b, n),
             true,
             starts_at(c, a, b, m)};
  bool first = cut_prism(piece, &p);
  p.up12 = false;
  bool second = cut_prism(other, &p);
  if (second && (!first || least_sine(other, c) > least_sine(piece, c)))
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 4; k++) piece[i][k] = other[i][k];
}

static void three(int piece[3][4], const ds_stuffing_cell *c, const int *in, int out) {
  prism p = {{in[0], in[1], in[2]},
             {DS_STUFFING_CUT(in[0], out), DS_STUFFING_CUT(in[1], out), DS_STUFFING_CUT(in[2], out)},
             starts_at(c, in[0], in[1], out),
             starts_at(c, in[1], in[2], out),
             starts_at(c, in[0], in[2], out)};
  cut_prism(piece, &p);
}

/* ---- the stencil ---- */

int ds_stuffing_stencil(int piece[3][4], const ds_stuffing_cell *c) {
  int in[4], on[4], out[4], p = 0, z = 0, n = 0;
  for (int i = 0; i < 4; i++) {
    if (c->sign[i] > 0)
      in[p++] = i;
    else if (c->sign[i] == 0)
      on[z++] = i;
    else
      out[n++] = i;
  }
  if (p == 0) return 0;
  if (n == 0) return set(piece[0], 0, 1, 2, 3), 1;
  if (p == 1) {
    for (int i = 0; i < 4; i++) piece[0][i] = c->sign[i] < 0 ? DS_STUFFING_CUT(in[0], i) : i;
    return 1;
  }
  if (p == 2 && n == 1) {
    bool first = starts_at(c, in[0], in[1], out[0]);
    int from = first ? in[0] : in[1], other = first ? in[1] : in[0], to = DS_STUFFING_CUT(other, out[0]);
    set(piece[0], from, other, to, on[0]);
    set(piece[1], from, to, DS_STUFFING_CUT(from, out[0]), on[0]);
    return 2;
  }
  if (p == 2)
    two_and_two(piece, c, in, out);
  else
    three(piece, c, in, out[0]);
  return 3;
}
