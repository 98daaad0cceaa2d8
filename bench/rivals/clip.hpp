/* Contact points of two convex hulls that touch face to face: the driver of ODE gives them to ODE, whose own collider
 * of convex shapes returns one point, with a normal of zero, where stones only touch, and no arch stands on that.
 *
 * The reference face is the one that separates the hulls most (or overlaps least); the other hull's face that opposes
 * it is clipped against the sides of the reference face; corners below the reference plane are contacts. */
#ifndef DRYSTONE_BENCH_CLIP_HPP
#define DRYSTONE_BENCH_CLIP_HPP

#include "mass.hpp"

struct Hull {
  std::vector<Vec> points;
  std::vector<Face> faces;
};

struct ClipContact {
  Vec point, normal; /* normal from b to a */
  double depth = 0;
};

inline Hull moved(const Hull &hull, const Pose &pose) {
  Hull out = hull;
  for (Vec &p : out.points) p = place(pose, p);
  for (Face &face : out.faces) {
    face.normal = rotate(pose.q, face.normal);
    face.offset += dot(face.normal, pose.p);
  }
  return out;
}

/* The face of a with the largest distance to b's nearest point. */
inline size_t bestFace(double *distance, const Hull &a, const Hull &b) {
  size_t best = 0;
  *distance = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < a.faces.size(); i++) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec &p : b.points) nearest = std::min(nearest, dot(a.faces[i].normal, p) - a.faces[i].offset);
    if (nearest > *distance) *distance = nearest, best = i;
  }
  return best;
}

/* The part of a polygon with dot(normal, p) <= offset. */
inline std::vector<Vec> clipPolygon(const std::vector<Vec> &polygon, Vec normal, double offset) {
  std::vector<Vec> out;
  for (size_t i = 0; i < polygon.size(); i++) {
    const Vec p = polygon[i], q = polygon[(i + 1) % polygon.size()];
    const double dp = dot(normal, p) - offset, dq = dot(normal, q) - offset;
    if (dp <= 0) out.push_back(p);
    if ((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) out.push_back(p + (dp / (dp - dq)) * (q - p));
  }
  return out;
}

inline std::vector<ClipContact> clipHulls(const Hull &a, const Hull &b) {
  double distanceA, distanceB;
  const size_t faceA = bestFace(&distanceA, a, b), faceB = bestFace(&distanceB, b, a);
  if (std::max(distanceA, distanceB) > 0) return {};
  const bool flip = distanceB > distanceA + 1e-9; /* prefers a's face, so that the choice does not flicker */
  const Hull &reference = flip ? b : a, &other = flip ? a : b;
  const Face &face = reference.faces[flip ? faceB : faceA];
  const Face *opposed = &other.faces[0];
  for (const Face &candidate : other.faces)
    if (dot(candidate.normal, face.normal) < dot(opposed->normal, face.normal)) opposed = &candidate;
  std::vector<Vec> polygon;
  for (unsigned corner : opposed->ring) polygon.push_back(other.points[corner]);
  for (size_t i = 0; i < face.ring.size(); i++) {
    const Vec p = reference.points[face.ring[i]], q = reference.points[face.ring[(i + 1) % face.ring.size()]];
    const Vec side = cross(q - p, face.normal);
    polygon = clipPolygon(polygon, side, dot(side, p));
  }
  std::vector<ClipContact> out;
  for (const Vec &p : polygon) {
    const double depth = face.offset - dot(face.normal, p);
    if (depth >= 0) out.push_back({p, (flip ? 1.0 : -1.0) * face.normal, depth});
  }
  return out;
}

#endif
