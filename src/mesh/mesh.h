/* What the files of src/mesh share: reading (input.c, read_*.c), merging, exact predicates, crossing triangles.
 *
 * A reader works on the bytes of a whole file. It takes words and numbers from text or values from binary parts, and
 * hands over vertices and polygons; polygons are split into fans of triangles. Every function that returns bool returns
 * false after writing the message; readers pass that on. */
#ifndef DS_MESH_MESH_H
#define DS_MESH_MESH_H

#include <stddef.h>

#include "drystone/solid.h"

#define DS_MESH_BYTES_MAX ((size_t)1 << 31)
#define DS_MESH_ELEMENTS_MAX 100000000 /* vertices, triangles, entries of any section */

typedef struct ds_mesh_input {
  const char *bytes;
  size_t length, at;
  const char *name;
  double scale;
  bool from_file;     /* name is a path: files beside it may be read */
  bool binary;        /* messages name the byte, not the line */
  bool by_line;       /* ds_mesh_take_word stops at the end of the line */
  bool comments;      /* '#' starts one anywhere */
  bool joins;         /* a backslash at the end of a line joins the next */
  bool volume;        /* tetrahedra are requested, not a surface */
  int32_t materials;  /* different ones in use of a file of tetrahedra, */
  double material[3]; /* and where it is one: young, poisson, density */
  int32_t base;       /* number of the first vertex, in messages */
  ds_vec3 *vertices;
  int32_t vertex_count, vertex_capacity;
  int32_t (*triangles)[3];
  int32_t triangle_count, triangle_capacity;
  int32_t corners, fan[2]; /* of the polygon in hand: how many, its first and last one */
  int32_t highest;         /* vertex index in use, and the place where it was met first: vertices may come later */
  size_t highest_at;
  int32_t (*tets)[4];
  size_t *tet_at; /* where each was met */
  int32_t tet_count, tet_capacity, tet_at_capacity;
  ds_status status;
  ds_error *error;
} ds_mesh_input;

/* ---- messages (input.c) ---- */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool ds_mesh_fail(ds_mesh_input *in, size_t at, const char *format, ...); /* "file:line: ..." or "file: byte n: ..." */
bool ds_mesh_fail_memory(ds_mesh_input *in);

/* ---- words of text ---- */
typedef struct ds_mesh_word {
  const char *text; /* not ended by 0 */
  size_t length, at;
} ds_mesh_word;
typedef struct ds_mesh_quote {
  char text[48];
} ds_mesh_quote;
bool ds_mesh_take_word(ds_mesh_input *in, ds_mesh_word *word); /* false at the end, without a message */
bool ds_mesh_next_line(ds_mesh_input *in);                     /* to the start of the next line; false at the end */
bool ds_mesh_word_is(const ds_mesh_word *word, const char *text);
bool ds_mesh_word_is_any_case(const ds_mesh_word *word, const char *lower);
ds_mesh_quote ds_mesh_quote_word(const ds_mesh_word *word);                  /* printable, for messages */
bool ds_mesh_parse_integer(int64_t *value, const char *text, size_t length); /* no message */
/* The next word as the format requires it; `what` names it in messages. */
bool ds_mesh_take_number(ds_mesh_input *in, double *value, const char *what);
bool ds_mesh_take_integer(ds_mesh_input *in, int64_t *value, const char *what);
bool ds_mesh_take_count(ds_mesh_input *in, int64_t *value, const char *what); /* 0 .. DS_MESH_ELEMENTS_MAX */
bool ds_mesh_skip_words(ds_mesh_input *in, int64_t count, const char *what);

/* ---- bytes ---- */
bool ds_mesh_take_bytes(ds_mesh_input *in, const char **bytes, size_t count, const char *what);
uint64_t ds_mesh_load(const char *bytes, size_t size, bool big_endian);    /* size 1, 2, 4, 8 */
double ds_mesh_load_real(const char *bytes, size_t size, bool big_endian); /* size 4, 8 */

/* ---- what comes together ---- */
bool ds_mesh_check_count(ds_mesh_input *in, int64_t count, size_t at, const char *what);
bool ds_mesh_add_vertex(ds_mesh_input *in, ds_vec3 x, size_t at); /* scaled here */
void ds_mesh_begin_polygon(ds_mesh_input *in);
bool ds_mesh_add_corner(ds_mesh_input *in, int64_t index, size_t at); /* index from 0; may come before its vertex */
/* The vertex with a number of the file, which has to be there already. */
bool ds_mesh_find_vertex(ds_mesh_input *in, int32_t *vertex, int64_t number, size_t at);
/* Tetrahedra of any order: 4, 10, 20, 35 or 56 nodes, corners first. The other nodes have to lie where they do in a
 * tetrahedron with straight edges; their order does not matter. */
bool ds_mesh_add_tet(ds_mesh_input *in, const int32_t *vertex, int32_t nodes, size_t at);

/* ---- files (read.c) ---- */
/* All bytes of a file, to be freed. */
ds_status ds_mesh_load_file(char **bytes, size_t *length, const char *path, ds_error *error);
/* Runs a reader with the numbers of the C locale. */
bool ds_mesh_run_reader(ds_mesh_input *in, bool (*read)(ds_mesh_input *in));

/* ---- formats (read_*.c) ---- */
bool ds_mesh_read_obj(ds_mesh_input *in);
bool ds_mesh_read_stl(ds_mesh_input *in);
bool ds_mesh_read_ply(ds_mesh_input *in);
bool ds_mesh_read_msh(ds_mesh_input *in);                     /* tetrahedra too */
bool ds_mesh_is_binary_stl(const char *bytes, size_t length); /* by its length */

/* ---- data (mesh.c) ---- Vertices with the same coordinates become one, vertices that no triangle uses go; order is
 * kept. The indices must be in range. */
ds_status ds_mesh_merge(ds_mesh *mesh, ds_error *error);
/* The same numbers give the same hash, for tables whose result does not depend on it. */
uint32_t ds_mesh_hash(uint64_t a, uint64_t b, uint64_t c);

/* ---- tet_faces.c ---- Face f = 4 t + k of tetrahedron t, four nodes each, outward where its volume is positive. */
typedef struct ds_tet_fault {
  int32_t face;     /* the first one with it, or -1 */
  const char *what; /* "tetrahedron t has a face that ..." */
} ds_tet_fault;
void ds_tet_face(int32_t corner[3], const int32_t *tets, int32_t face);
/* twin[f]: the face of another tetrahedron with the same corners, or -1. False if memory ran out. */
bool ds_tet_faces_pair(int32_t *twin, ds_tet_fault *fault, const int32_t *tets, int32_t count);

/* ---- predicates (exact.c): signs without rounding, for coordinates of at most 1 ---- */
/* Sign of the determinant of (a - d, b - d, c - d): +1 where d sees a, b, c run clockwise. */
int ds_mesh_orient3(ds_vec3 a, ds_vec3 b, ds_vec3 c, ds_vec3 d);
/* Sign of the area of a, b, c in the plane that is left when `axis` (0, 1, 2) is dropped. */
int ds_mesh_orient2(ds_vec3 a, ds_vec3 b, ds_vec3 c, int axis);

/* ---- self_crossing.c ---- Pairs of triangles that have points in common other than the corner or edge they share.
 * Coordinates of at most 1; triangles with skip[t] are left out. *first: the lowest triangle of any pair, or -1. The
 * search ends after DS_MESH_CROSSINGS_MAX pairs. False if memory ran out. */
#define DS_MESH_CROSSINGS_MAX 100000
bool ds_mesh_find_crossings(int32_t *count, int32_t *first, const ds_vec3 *x, const int32_t *triangles, int32_t n,
                            const bool *skip);

/* ---- parts.c ---- The parts of a mesh: surfaces connected by edges. */
typedef struct ds_mesh_parts {
  int32_t count;
  int32_t *of;    /* per triangle: its part, numbered in order of first triangles; -1 = in none */
  bool *broken;   /* per part: not closed, or with invalid edges; its volume is meaningless */
  double *volume; /* per part */
} ds_mesh_parts;
/* Parts whose sign of volume is wrong for the place where they are: a part that lies in no other encloses what is
 * solid, one within it is a cavity, one within that is solid again. *first: the lowest triangle of the first such part,
 * or -1. Volumes up to `least` are nothing. False if memory ran out. */
bool ds_mesh_find_inverted(int32_t *count, int32_t *first, const ds_mesh_parts *parts, const ds_vec3 *x,
                           const int32_t *triangles, int32_t n, double least);

#endif
