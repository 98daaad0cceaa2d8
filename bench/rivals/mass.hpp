/* Faces of a convex hull, and mass, centre and inertia of a body made of shapes, so that a rival whose own mass
 * properties are approximate moves the same bodies as the others.
 *
 * Faces: every plane through three points that has all others on one side, in O(n^4): hulls of benchmark scenes have
 * few points. Hull integrals: sums over tetrahedra from the mean point, for a tetrahedron (0, a, b, c) with d = det(a,
 * b, c) volume d/6, first moment d/24 (a + b + c), second moment d/120 (s s' + a a' + b b' + c c'), s = a + b + c. */
#ifndef DRYSTONE_BENCH_MASS_HPP
#define DRYSTONE_BENCH_MASS_HPP

#include "scene.hpp"

struct Face {
  Vec normal; /* unit, outward */
  double offset = 0;
  std::vector<unsigned> ring; /* points in counter-clockwise order seen from outside */
};

inline std::vector<Face> hullFaces(const std::vector<Vec> &points) {
  std::vector<Face> faces;
  const size_t n = points.size();
  double size = 0;
  for (const Vec &p : points) size = std::max(size, norm(p - points[0]));
  const double eps = 1e-9 * size;
  auto add = [&](Vec normal, double offset) {
    for (const Face &face : faces)
      if (dot(face.normal, normal) > 1 - 1e-9 && std::fabs(face.offset - offset) <= eps) return;
    Face face;
    face.normal = normal;
    face.offset = offset;
    Vec centre;
    std::vector<unsigned> on;
    for (unsigned i = 0; i < n; i++)
      if (std::fabs(dot(normal, points[i]) - offset) <= eps) on.push_back(i), centre = centre + points[i];
    centre = (1 / static_cast<double>(on.size())) * centre;
    Vec axis = points[on[0]] - centre, side = cross(normal, axis);
    std::sort(on.begin(), on.end(), [&](unsigned a, unsigned b) {
      Vec u = points[a] - centre, v = points[b] - centre;
      return std::atan2(dot(u, side), dot(u, axis)) < std::atan2(dot(v, side), dot(v, axis));
    });
    face.ring = on;
    faces.push_back(face);
  };
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++)
      for (size_t k = j + 1; k < n; k++) {
        Vec normal = cross(points[j] - points[i], points[k] - points[i]);
        double length = norm(normal);
        if (length <= 1e-12 * size * size) continue;
        normal = (1 / length) * normal;
        double offset = dot(normal, points[i]), low = 0, high = 0;
        for (const Vec &p : points) {
          low = std::min(low, dot(normal, p) - offset);
          high = std::max(high, dot(normal, p) - offset);
        }
        if (high <= eps)
          add(normal, offset);
        else if (low >= -eps)
          add(-1.0 * normal, -offset);
      }
  return faces;
}

/* Volume, centre, and second moments (integral of x x') about the centre, in the frame in which they are given. */
struct Moments {
  double volume = 0;
  Vec centre;
  double second[3][3] = {};
};

inline void addOuter(double m[3][3], double s, Vec a, Vec b) {
  const double u[3] = {a.x, a.y, a.z}, v[3] = {b.x, b.y, b.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m[i][j] += s * u[i] * v[j];
}

inline Moments hullMoments(const std::vector<Vec> &points) {
  Moments m;
  Vec mean, first;
  for (const Vec &p : points) mean = mean + (1 / static_cast<double>(points.size())) * p;
  for (const Face &face : hullFaces(points))
    for (size_t i = 2; i < face.ring.size(); i++) {
      Vec a = points[face.ring[0]] - mean, b = points[face.ring[i - 1]] - mean, c = points[face.ring[i]] - mean;
      double d = dot(a, cross(b, c));
      Vec s = a + b + c;
      m.volume += d / 6;
      first = first + (d / 24) * s;
      for (Vec v : {s, a, b, c}) addOuter(m.second, d / 120, v, v);
    }
  Vec centre = (1 / m.volume) * first;
  addOuter(m.second, -m.volume, centre, centre);
  m.centre = mean + centre;
  return m;
}

/* Of what a closed surface encloses: the sum over the tetrahedra from a point to its triangles, with their signs. */
inline Moments meshMoments(const TriMesh &mesh) {
  Moments m;
  const Vec origin = mesh.points[0];
  Vec first;
  for (size_t t = 0; t + 2 < mesh.triangles.size(); t += 3) {
    const Vec a = mesh.points[mesh.triangles[t]] - origin, b = mesh.points[mesh.triangles[t + 1]] - origin;
    const Vec c = mesh.points[mesh.triangles[t + 2]] - origin, s = a + b + c;
    const double d = dot(a, cross(b, c));
    m.volume += d / 6;
    first = first + (d / 24) * s;
    for (Vec v : {s, a, b, c}) addOuter(m.second, d / 120, v, v);
  }
  const Vec centre = (1 / m.volume) * first;
  addOuter(m.second, -m.volume, centre, centre);
  m.centre = origin + centre;
  return m;
}

/* In the shape's own frame. */
inline Moments shapeMoments(const Shape &shape) {
  const double pi = std::acos(-1.0), r = shape.radius, l = shape.length;
  Moments m;
  auto diagonal = [&](double xx, double yy, double zz) {
    m.second[0][0] = xx, m.second[1][1] = yy, m.second[2][2] = zz;
  };
  switch (shape.kind) {
    case Shape::Sphere:
      m.volume = 4 * pi * r * r * r / 3;
      diagonal(m.volume * r * r / 5, m.volume * r * r / 5, m.volume * r * r / 5);
      break;
    case Shape::Box: {
      const Vec &s = shape.size;
      m.volume = s.x * s.y * s.z;
      diagonal(m.volume * s.x * s.x / 12, m.volume * s.y * s.y / 12, m.volume * s.z * s.z / 12);
      break;
    }
    case Shape::Cylinder:
      m.volume = pi * r * r * l;
      diagonal(m.volume * r * r / 4, m.volume * r * r / 4, m.volume * l * l / 12);
      break;
    case Shape::Capsule: {
      double tube = pi * r * r * l, ends = 4 * pi * r * r * r / 3;
      m.volume = tube + ends;
      double side = tube * r * r / 4 + ends * r * r / 5;
      diagonal(side, side, tube * l * l / 12 + ends * (r * r / 5 + l * l / 4 + 3 * l * r / 8));
      break;
    }
    case Shape::Hull:
      m = hullMoments(shape.points);
      break;
    case Shape::Solid:
      m = meshMoments(*shape.mesh);
      break;
    case Shape::HalfSpace:
      break;
  }
  return m;
}

/* Mass, centre of mass in the body's frame, principal moments of inertia and the rotation of the principal frame. */
struct Mass {
  double mass = 0;
  Vec centre;
  double inertia[3][3] = {}; /* about the centre, axes of the body's frame */
  Vec principal;
  Quat axes; /* principal frame to body frame */
};

inline Quat quatFromColumns(const double m[3][3]) {
  const double w2 = 1 + m[0][0] + m[1][1] + m[2][2], x2 = 1 + m[0][0] - m[1][1] - m[2][2];
  const double y2 = 1 - m[0][0] + m[1][1] - m[2][2], z2 = 1 - m[0][0] - m[1][1] + m[2][2];
  const double best = std::max(std::max(w2, x2), std::max(y2, z2)), s = 0.5 / std::sqrt(best);
  if (best == w2) return {w2 * s, (m[2][1] - m[1][2]) * s, (m[0][2] - m[2][0]) * s, (m[1][0] - m[0][1]) * s};
  if (best == x2) return {(m[2][1] - m[1][2]) * s, x2 * s, (m[0][1] + m[1][0]) * s, (m[0][2] + m[2][0]) * s};
  if (best == y2) return {(m[0][2] - m[2][0]) * s, (m[0][1] + m[1][0]) * s, y2 * s, (m[1][2] + m[2][1]) * s};
  return {(m[1][0] - m[0][1]) * s, (m[0][2] + m[2][0]) * s, (m[1][2] + m[2][1]) * s, z2 * s};
}

/* Jacobi rotations on the symmetric inertia; leaves a diagonal one as it is, so that boxes keep their frame. */
inline void findPrincipal(Mass *mass) {
  double a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a[i][j] = mass->inertia[i][j];
  for (int sweep = 0; sweep < 30; sweep++)
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (std::fabs(a[p][q]) <= 1e-14 * (a[0][0] + a[1][1] + a[2][2])) continue;
        double theta = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]), c = std::cos(theta), s = std::sin(theta);
        for (int k = 0; k < 3; k++) {
          double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 3; k++) {
          double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
          x = v[k][p], y = v[k][q];
          v[k][p] = c * x - s * y, v[k][q] = s * x + c * y;
        }
      }
  mass->principal = {a[0][0], a[1][1], a[2][2]};
  mass->axes = quatFromColumns(v);
}

inline Mass bodyMass(const Body &body) {
  Mass out;
  double second[3][3] = {};
  for (const Shape &shape : body.shapes) {
    Moments m = shapeMoments(shape);
    double mass = shape.density * m.volume;
    Vec centre = place(shape.pose, m.centre);
    out.mass += mass;
    out.centre = out.centre + mass * centre;
    const Vec unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        addOuter(second, shape.density * m.second[i][j], rotate(shape.pose.q, unit[i]), rotate(shape.pose.q, unit[j]));
    addOuter(second, mass, centre, centre);
  }
  if (out.mass <= 0) throw std::runtime_error("a dynamic body has no mass");
  out.centre = (1 / out.mass) * out.centre;
  addOuter(second, -out.mass, out.centre, out.centre);
  const double scale = body.mass > 0 ? body.mass / out.mass : 1, trace = second[0][0] + second[1][1] + second[2][2];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out.inertia[i][j] = scale * ((i == j ? trace : 0) - second[i][j]);
  out.mass *= scale;
  findPrincipal(&out);
  return out;
}

#endif
