/* A mesh prepared for drawing.
 *
 * Two triangles at an edge are smooth together where their normals differ by less than CREASE. A corner's normal is the
 * mean of the triangles' around its vertex that are smooth with it from edge to edge, weighted by their angle there;
 * corners with the same triangles share a vertex. Edges that are not smooth are drawn as lines, unless the mesh was
 * coarsened. Around a vertex triangles are found by sorting, so that vertices with many of them cost no more. */
#include "skin.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sets.h"

#define CREASE_COSINE 0.81915204428899178 /* of 35 degrees */
#define COARSE_COSINE 0.57357643635104605 /* of 55: surfaces of tetrahedra are coarser than they are curved */

/* One corner of a triangle, sorted by its vertex and by the vertex that follows in the triangle. */
typedef struct spoke {
  int32_t vertex, next, corner;
} spoke;

typedef struct builder {
  const ds_mesh *mesh;
  const ds_vec3 *rest; /* vertices that define the creases */
  double crease;       /* cosine */
  ds_vec3 *normals;    /* one per triangle */
  ds_vec3 *rest_normals;
  spoke *spokes;
  int32_t *group;   /* disjoint sets of corners that share a normal */
  int32_t *surface; /* disjoint sets of triangles that are smooth together */
  uint8_t *edges;   /* one per triangle, as in ds_triangle */
  int32_t *vertex;  /* of a group's root: its vertex in the skin */
} builder;

static int compare(const void *a, const void *b) {
  const spoke *x = a, *y = b;
  if (x->vertex != y->vertex) return x->vertex < y->vertex ? -1 : 1;
  if (x->next != y->next) return x->next < y->next ? -1 : 1;
  return (x->corner > y->corner) - (x->corner < y->corner);
}

static int32_t corner_vertex(const ds_mesh *mesh, int32_t corner) { return mesh->triangles[corner]; }
static int32_t turn(int32_t corner, int32_t by) { return corner - corner % 3 + (corner % 3 + by) % 3; }

/* The spoke from a vertex to another one, or NULL. */
static const spoke *find_spoke(const spoke *spokes, int32_t count, int32_t vertex, int32_t next) {
  int32_t low = 0, high = count;
  spoke want = {vertex, next, -1};
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (compare(&spokes[middle], &want) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && spokes[low].vertex == vertex && spokes[low].next == next ? &spokes[low] : NULL;
}

/* Joins what is smooth together: at corner c, across the edge from the corner before it. Counts open edges. */
static void join_corner(builder *b, int32_t *open_edges, int32_t c) {
  int32_t corners = 3 * b->mesh->triangle_count, before = turn(c, 2);
  int32_t v = corner_vertex(b->mesh, c), p = corner_vertex(b->mesh, before);
  const spoke *other = find_spoke(b->spokes, corners, v, p);
  if (!other) {
    ++*open_edges;
    return;
  }
  int32_t t = c / 3, u = other->corner / 3;
  if (t == u || v3_dot(b->rest_normals[t], b->rest_normals[u]) < b->crease) return;
  /* both ends of the edge: here c and other->corner, there the corner before c and the one after the other */
  ds_sets_join(b->group, c, other->corner);
  ds_sets_join(b->group, before, turn(other->corner, 1));
  ds_sets_join(b->surface, t, u);
  b->edges[t] &= (uint8_t) ~(1u << before % 3);
  b->edges[u] &= (uint8_t) ~(1u << other->corner % 3);
}

static double corner_angle(const ds_mesh *mesh, int32_t c) {
  ds_vec3 p = mesh->vertices[corner_vertex(mesh, c)];
  ds_vec3 a = v3_sub(mesh->vertices[corner_vertex(mesh, turn(c, 1))], p);
  ds_vec3 e = v3_sub(mesh->vertices[corner_vertex(mesh, turn(c, 2))], p);
  return atan2(v3_norm(v3_cross(a, e)), v3_dot(a, e));
}

static bool builder_create(builder *b, const ds_mesh *mesh, const ds_vec3 *rest) {
  size_t triangles = (size_t)mesh->triangle_count + 1, corners = 3 * triangles;
  *b = (builder){.mesh = mesh, .rest = rest ? rest : mesh->vertices, .crease = rest ? COARSE_COSINE : CREASE_COSINE};
  b->rest_normals = malloc(triangles * sizeof *b->rest_normals);
  b->normals = malloc(triangles * sizeof *b->normals);
  b->spokes = malloc(corners * sizeof *b->spokes);
  b->group = malloc(corners * sizeof *b->group);
  b->surface = malloc(triangles * sizeof *b->surface);
  b->edges = malloc(triangles * sizeof *b->edges);
  b->vertex = malloc(corners * sizeof *b->vertex);
  return b->rest_normals && b->normals && b->spokes && b->group && b->surface && b->edges && b->vertex;
}

static void builder_free(builder *b) {
  free(b->rest_normals);
  free(b->normals);
  free(b->spokes);
  free(b->group);
  free(b->surface);
  free(b->edges);
  free(b->vertex);
}

static ds_vec3 triangle_normal(const ds_vec3 *x, const int32_t *k) {
  return v3_unit(v3_cross(v3_sub(x[k[1]], x[k[0]]), v3_sub(x[k[2]], x[k[0]])));
}

static void find_groups(builder *b, ds_skin *skin) {
  const ds_mesh *mesh = b->mesh;
  int32_t corners = 3 * mesh->triangle_count;
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *k = mesh->triangles + 3 * (size_t)t;
    ds_vec3 x = mesh->vertices[k[0]], y = mesh->vertices[k[1]], z = mesh->vertices[k[2]];
    b->normals[t] = triangle_normal(mesh->vertices, k);
    b->rest_normals[t] = triangle_normal(b->rest, k);
    b->edges[t] = 7;
    skin->volume += v3_dot(x, v3_cross(y, z)) / 6;
  }
  for (int32_t c = 0; c < corners; c++)
    b->spokes[c] = (spoke){corner_vertex(mesh, c), corner_vertex(mesh, turn(c, 1)), c};
  qsort(b->spokes, (size_t)corners, sizeof *b->spokes, compare);
  ds_sets_single(b->group, corners);
  ds_sets_single(b->surface, mesh->triangle_count);
  for (int32_t c = 0; c < corners; c++) join_corner(b, &skin->open_edges, c);
}

static void store(float out[3], ds_vec3 a) { out[0] = (float)a.x, out[1] = (float)a.y, out[2] = (float)a.z; }

/* A vertex for every group, with the mean normal; then the triangles. */
static void fill_skin(ds_skin *skin, builder *b, bool lines) {
  const ds_mesh *mesh = b->mesh;
  int32_t corners = 3 * mesh->triangle_count;
  for (int32_t c = 0; c < corners; c++) {
    int32_t root = ds_sets_root(b->group, c);
    if (root == c) { /* the lowest of its group: met first */
      b->vertex[c] = skin->vertex_count++;
      store(skin->vertices[b->vertex[c]].position, mesh->vertices[corner_vertex(mesh, c)]);
      memset(skin->vertices[b->vertex[c]].normal, 0, sizeof skin->vertices[0].normal);
    }
    float *n = skin->vertices[b->vertex[root]].normal;
    ds_vec3 add = v3_scale(corner_angle(mesh, c), b->normals[c / 3]);
    n[0] += (float)add.x, n[1] += (float)add.y, n[2] += (float)add.z;
  }
  for (int32_t i = 0; i < skin->vertex_count; i++) {
    float *n = skin->vertices[i].normal;
    store(n, v3_unit(v3(n[0], n[1], n[2])));
  }
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    int32_t root = ds_sets_root(b->surface, t);
    ds_triangle *out = &skin->triangles[t];
    *out = (ds_triangle){.edges = lines ? b->edges[t] : 0};
    out->surface = root == t ? skin->surface_count++ : skin->triangles[root].surface;
    for (int k = 0; k < 3; k++) out->corner[k] = b->vertex[ds_sets_root(b->group, 3 * t + k)];
  }
  skin->triangle_count = mesh->triangle_count;
}

static bool build(ds_skin *skin, const ds_mesh *mesh, const ds_vec3 *rest, bool lines) {
  builder b;
  bool good = builder_create(&b, mesh, rest);
  if (good) {
    find_groups(&b, skin);
    size_t corners = 3 * (size_t)mesh->triangle_count;
    skin->vertices = malloc((corners + 1) * sizeof *skin->vertices);
    skin->triangles = malloc(((size_t)mesh->triangle_count + 1) * sizeof *skin->triangles);
    good = skin->vertices && skin->triangles;
    if (good) fill_skin(skin, &b, lines);
  }
  builder_free(&b);
  return good;
}

bool ds_skin_build(ds_skin *skin, const ds_mesh *mesh, const ds_vec3 *rest, int32_t triangles) {
  *skin = (ds_skin){0};
  if (mesh->triangle_count <= triangles && mesh->triangle_count <= INT32_MAX / 4) {
    if (build(skin, mesh, rest, true)) return true;
  } else {
    ds_mesh coarse = *mesh; /* has the same vertices */
    size_t bytes = 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles;
    coarse.triangles = malloc(bytes);
    bool good = coarse.triangles != NULL;
    if (good) memcpy(coarse.triangles, mesh->triangles, bytes);
    good = good && ds_mesh_decimate(&coarse, NULL, triangles, INFINITY, NULL) == DS_OK &&
           build(skin, &coarse, NULL, false);
    free(coarse.triangles);
    if (good) return true;
  }
  ds_skin_free(skin);
  return false;
}

void ds_skin_free(ds_skin *skin) {
  free(skin->vertices);
  free(skin->triangles);
  *skin = (ds_skin){0};
}

bool ds_model_add_skin(ds_model *model, const ds_skin *skin, ds_pose pose, int32_t paint, bool back) {
  int32_t vertices = skin->vertex_count, triangles = skin->triangle_count, first = model->vertex_count;
  if (first > INT32_MAX - vertices || model->triangle_count > INT32_MAX - triangles ||
      !ds_array_reserve(&model->vertices, &model->vertex_capacity, first + vertices, sizeof *model->vertices) ||
      !ds_array_reserve(&model->triangles, &model->triangle_capacity, model->triangle_count + triangles,
                        sizeof *model->triangles))
    return false;
  ds_vec3 x = quat_rotate(pose.q, v3(1, 0, 0)), y = quat_rotate(pose.q, v3(0, 1, 0)), z = v3_cross(x, y);
  ds_vec3 at = v3_sub(pose.p, model->origin);
  double side = back ? -1 : 1;
  for (int32_t i = 0; i < vertices; i++) {
    const float *p = skin->vertices[i].position, *n = skin->vertices[i].normal;
    ds_vertex *out = &model->vertices[first + i];
    store(out->position, v3_mad(v3_mad(v3_mad(at, p[0], x), p[1], y), p[2], z));
    store(out->normal, v3_mad(v3_mad(v3_scale(side * n[0], x), side * n[1], y), side * n[2], z));
  }
  for (int32_t i = 0; i < triangles; i++) {
    ds_triangle t = skin->triangles[i];
    for (int k = 0; k < 3; k++) t.corner[k] += first;
    if (back) {
      int32_t swap = t.corner[1];
      t.corner[1] = t.corner[2], t.corner[2] = swap;
      t.edges = (uint8_t)((t.edges & 2) | (t.edges & 1) << 2 | t.edges >> 2);
    }
    t.surface += model->surface_count;
    t.paint = paint;
    model->triangles[model->triangle_count + i] = t;
  }
  model->vertex_count += vertices;
  model->triangle_count += triangles;
  model->surface_count += skin->surface_count;
  return true;
}
