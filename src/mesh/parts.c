/* Which part of a mesh lies in which: whether the sign of every closed part's volume fits its place.
 *
 * The winding number of a closed surface about a point is the sum of the solid angles of its triangles over 4 pi
 * [Van Oosterom and Strackee 1983]: +1 in a part turned outwards, -1 in one turned inwards, 0 outside. Summed over the
 * other parts it has to be 0 where a part is solid and 1 where it is a cavity, and then the part's own sign follows.
 * Only parts whose box holds the box of the other are summed. Limits: time grows with the square of the number of
 * parts, as box tests. */
#include <math.h>
#include <stdlib.h>

#include "la/vec3.h"
#include "mesh/mesh.h"

typedef struct shells {
  const ds_vec3 *x;
  const int32_t *triangles;
  int32_t *start, *member; /* triangles of every part */
  ds_vec3 *low, *high;     /* boxes */
} shells;

static ds_vec3 corner(const shells *s, int32_t t, int k) { return s->x[s->triangles[3 * (int64_t)t + k]]; }

/* Solid angle of a triangle seen from p, 4 pi for all around: tan(angle/2) = det / (...). */
static double solid_angle(const shells *s, int32_t t, ds_vec3 p) {
  ds_vec3 a = v3_sub(corner(s, t, 0), p), b = v3_sub(corner(s, t, 1), p), c = v3_sub(corner(s, t, 2), p);
  double la = v3_norm(a), lb = v3_norm(b), lc = v3_norm(c);
  double below = la * lb * lc + v3_dot(a, b) * lc + v3_dot(b, c) * la + v3_dot(c, a) * lb;
  return 2 * atan2(v3_dot(a, v3_cross(b, c)), below);
}

static double winding(const shells *s, int32_t part, ds_vec3 p) {
  double sum = 0;
  for (int32_t i = s->start[part]; i < s->start[part + 1]; i++) sum += solid_angle(s, s->member[i], p);
  return sum / (4 * DS_PI);
}

/* The middle of the part's largest triangle, which lies on its surface but on no other. */
static ds_vec3 point_of(const shells *s, int32_t part) {
  ds_vec3 best = v3(0, 0, 0);
  double area = -1;
  for (int32_t i = s->start[part]; i < s->start[part + 1]; i++) {
    ds_vec3 a = corner(s, s->member[i], 0), b = corner(s, s->member[i], 1), c = corner(s, s->member[i], 2);
    double twice = v3_norm(v3_cross(v3_sub(b, a), v3_sub(c, a)));
    if (!(twice > area)) continue;
    area = twice;
    best = v3_scale(1.0 / 3, v3_add(a, v3_add(b, c)));
  }
  return best;
}

static bool holds(const shells *s, int32_t outer, int32_t inner) {
  ds_vec3 al = s->low[outer], ah = s->high[outer], bl = s->low[inner], bh = s->high[inner];
  return al.x <= bl.x && al.y <= bl.y && al.z <= bl.z && ah.x >= bh.x && ah.y >= bh.y && ah.z >= bh.z;
}

static void fill(shells *s, const ds_mesh_parts *parts, int32_t n) {
  for (int32_t t = 0; t < n; t++)
    if (parts->of[t] >= 0) s->start[parts->of[t] + 1]++;
  for (int32_t p = 0; p < parts->count; p++) {
    s->start[p + 1] += s->start[p];
    s->low[p] = v3(INFINITY, INFINITY, INFINITY);
    s->high[p] = v3_neg(s->low[p]);
  }
  for (int32_t t = 0; t < n; t++) {
    int32_t p = parts->of[t];
    if (p < 0) continue;
    s->member[s->start[p]++] = t;
    for (int k = 0; k < 3; k++) {
      s->low[p] = v3_min(s->low[p], corner(s, t, k));
      s->high[p] = v3_max(s->high[p], corner(s, t, k));
    }
  }
  /* the starts have moved on by one part */
  for (int32_t p = parts->count; p > 0; p--) s->start[p] = s->start[p - 1];
  s->start[0] = 0;
}

static bool is_inverted(const shells *s, const ds_mesh_parts *parts, int32_t part) {
  double around = 0;
  ds_vec3 p = point_of(s, part);
  for (int32_t other = 0; other < parts->count; other++)
    if (other != part && !parts->broken[other] && holds(s, other, part)) around += round(winding(s, other, p));
  return around != (parts->volume[part] > 0 ? 0 : 1);
}

bool ds_mesh_find_inverted(int32_t *count, int32_t *first, const ds_mesh_parts *parts, const ds_vec3 *x,
                           const int32_t *triangles, int32_t n, double least) {
  size_t room = (size_t)parts->count + 2;
  shells s = {.x = x, .triangles = triangles};
  s.start = calloc(room, sizeof *s.start);
  s.member = malloc(((size_t)n + 1) * sizeof *s.member);
  s.low = malloc(room * sizeof *s.low);
  s.high = malloc(room * sizeof *s.high);
  bool ok = s.start && s.member && s.low && s.high;
  *count = 0;
  *first = -1;
  if (ok) {
    fill(&s, parts, n);
    for (int32_t p = 0; p < parts->count; p++) {
      if (parts->broken[p] || !(fabs(parts->volume[p]) > least) || !is_inverted(&s, parts, p)) continue;
      if ((*count)++ == 0) *first = s.member[s.start[p]];
    }
  }
  free(s.start);
  free(s.member);
  free(s.low);
  free(s.high);
  return ok;
}
