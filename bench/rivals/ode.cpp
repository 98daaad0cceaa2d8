/* ODE as a rival: reads a scene file, simulates it with the iterative solver (QuickStep), prints one line of JSON.
 *
 * Hulls collide by clip.hpp, see there; every other pair by ODE's own colliders, solids as triangle meshes (dTriMesh),
 * with up to 64 contacts a pair.
 * shipped: 1/60 s, 20 iterations, default ERP and CFM. tuned: 1/600 s, 200 iterations, a contact
 * surface layer of 0.1 mm, without which contacts flicker and no card house stands. Both: friction in proportion to
 * the normal force (dContactApprox1), up to 16 contacts a pair of shapes, no auto-disable. */
#include <ode/ode.h>
#include <ode/version.h>

#include "clip.hpp"
#include "measure.hpp"

namespace {

void setGeomPose(dGeomID geom, const Pose &pose) {
  dGeomSetPosition(geom, pose.p.x, pose.p.y, pose.p.z);
  const dQuaternion q = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
  dGeomSetQuaternion(geom, q);
}

class OdeEngine : public Engine {
 public:
  OdeEngine(const Scene &scene, bool tuned, double h) : scene_(scene), h_(h) {
    dInitODE2(0);
    world_ = dWorldCreate();
    space_ = dHashSpaceCreate(nullptr);
    group_ = dJointGroupCreate(0);
    dWorldSetGravity(world_, scene.gravity.x, scene.gravity.y, scene.gravity.z);
    dWorldSetAutoDisableFlag(world_, 0);
    if (tuned) {
      dWorldSetQuickStepNumIterations(world_, 200);
      dWorldSetContactSurfaceLayer(world_, 1e-4);
    }
    size_t shapes = 0;
    for (const Body &body : scene.bodies) shapes += body.shapes.size();
    hulls_.reserve(shapes); /* ODE keeps pointers into it */
    for (size_t i = 0; i < scene.bodies.size(); i++) addBody(i);
  }
  ~OdeEngine() override {
    dJointGroupDestroy(group_);
    dSpaceDestroy(space_);
    for (const auto &entry : data_) dGeomTriMeshDataDestroy(entry.second);
    dWorldDestroy(world_);
    dCloseODE();
  }
  void step() override {
    depth_ = 0;
    contacts_ = 0;
    dSpaceCollide(space_, this, &OdeEngine::near);
    for (dGeomID mesh : meshes_) keepTransform(mesh);
    dWorldQuickStep(world_, h_);
    dJointGroupEmpty(group_);
  }
  size_t count() const override { return bodies_.size(); }
  Vec centre(size_t body) const override {
    const dReal *p = dBodyGetPosition(bodies_[body]);
    return {p[0], p[1], p[2]};
  }
  Motion motion(size_t body) const override {
    const dBodyID id = bodies_[body];
    const dReal *q = dBodyGetQuaternion(id), *v = dBodyGetLinearVel(id), *w = dBodyGetAngularVel(id);
    const Quat turn = {q[0], q[1], q[2], q[3]};
    return {{centre(body) - rotate(turn, centres_[body]), turn}, {v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
  }
  double penetration() override { return depth_; }
  size_t contacts() override { return contacts_; }

 private:
  /* The arrays that ODE's convex shape points into, and the same hull for the clipping. */
  struct Convex {
    std::vector<dReal> planes, points;
    std::vector<unsigned> polygons;
    Hull hull;
  };
  const Scene &scene_;
  double h_, depth_ = 0;
  size_t contacts_ = 0;
  dWorldID world_;
  dSpaceID space_;
  dJointGroupID group_;
  std::vector<dBodyID> bodies_;
  std::vector<Vec> centres_; /* of mass, in the bodies' frames */
  std::vector<Convex> hulls_;
  std::vector<dGeomID> meshes_;
  std::map<const TriMesh *, dTriMeshDataID> data_;

  /* What a shape points at. */
  struct Tag {
    size_t body;
    size_t hull; /* index in hulls_, or none */
  };
  static constexpr size_t none = static_cast<size_t>(-1), most = 16, mostOfMesh = 64;
  std::vector<Tag> tags_;

  static Pose geomPose(dGeomID geom) {
    const dReal *p = dGeomGetPosition(geom);
    dQuaternion q;
    dGeomGetQuaternion(geom, q);
    return {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
  }
  size_t collide(dContact *contacts, dGeomID a, dGeomID b, const Tag &tagA, const Tag &tagB) const {
    const bool mesh = dGeomGetClass(a) == dTriMeshClass || dGeomGetClass(b) == dTriMeshClass;
    if (tagA.hull == none || tagB.hull == none)
      return static_cast<size_t>(
          dCollide(a, b, static_cast<int>(mesh ? mostOfMesh : most), &contacts[0].geom, sizeof(dContact)));
    size_t count = 0;
    const Hull hullA = moved(hulls_[tagA.hull].hull, geomPose(a)), hullB = moved(hulls_[tagB.hull].hull, geomPose(b));
    for (const ClipContact &c : clipHulls(hullA, hullB)) {
      if (count == most) break;
      dContactGeom &geom = contacts[count++].geom;
      geom.pos[0] = c.point.x, geom.pos[1] = c.point.y, geom.pos[2] = c.point.z;
      geom.normal[0] = c.normal.x, geom.normal[1] = c.normal.y, geom.normal[2] = c.normal.z;
      geom.depth = c.depth;
      geom.g1 = a, geom.g2 = b;
    }
    return count;
  }
  static void near(void *data, dGeomID a, dGeomID b) {
    OdeEngine *self = static_cast<OdeEngine *>(data);
    dBodyID bodyA = dGeomGetBody(a), bodyB = dGeomGetBody(b);
    if (bodyA == bodyB) return;
    const Tag &tagA = self->tags_[reinterpret_cast<size_t>(dGeomGetData(a))];
    const Tag &tagB = self->tags_[reinterpret_cast<size_t>(dGeomGetData(b))];
    const size_t m = self->scene_.bodies[tagA.body].material, n = self->scene_.bodies[tagB.body].material;
    dContact contacts[mostOfMesh] = {};
    const size_t found = self->collide(contacts, a, b, tagA, tagB);
    for (size_t k = 0; k < found; k++) {
      dSurfaceParameters &surface = contacts[k].surface;
      surface.mode = dContactApprox1;
      surface.mu = self->scene_.pairMu(m, n);
      surface.bounce = self->scene_.pairRestitution(m, n);
      surface.bounce_vel = 0.01;
      if (surface.bounce > 0) surface.mode |= dContactBounce;
      self->depth_ = std::max(self->depth_, contacts[k].geom.depth);
      dJointAttach(dJointCreateContact(self->world_, self->group_, &contacts[k]), bodyA, bodyB);
    }
    self->contacts_ += found;
  }
  /* Where a mesh was a step ago, which ODE's collider of two meshes wants to know. */
  static void keepTransform(dGeomID mesh) {
    const dReal *p = dGeomGetPosition(mesh), *r = dGeomGetRotation(mesh);
    const dReal last[16] = {r[0], r[1], r[2], 0, r[4], r[5], r[6], 0, r[8], r[9], r[10], 0, p[0], p[1], p[2], 1};
    dGeomTriMeshSetLastTransform(mesh, last);
  }
  dGeomID addMesh(const TriMesh &mesh) {
    dTriMeshDataID &data = data_[&mesh];
    if (!data) {
      data = dGeomTriMeshDataCreate();
      dGeomTriMeshDataBuildDouble(data, mesh.points.data(), sizeof(Vec), static_cast<int>(mesh.points.size()),
                                  mesh.triangles.data(), static_cast<int>(mesh.triangles.size()), 3 * sizeof(unsigned));
    }
    meshes_.push_back(dCreateTriMesh(space_, data, nullptr, nullptr, nullptr));
    return meshes_.back();
  }
  dGeomID addHull(const Shape &shape, Vec shift) {
    hulls_.emplace_back();
    Convex &hull = hulls_.back();
    hull.hull.points = shape.points;
    for (Vec &p : hull.hull.points) {
      p = p - shift;
      for (double c : {p.x, p.y, p.z}) hull.points.push_back(c);
    }
    const std::vector<Face> &faces = hull.hull.faces = hullFaces(hull.hull.points);
    for (const Face &face : faces) {
      for (double c : {face.normal.x, face.normal.y, face.normal.z, face.offset}) hull.planes.push_back(c);
      hull.polygons.push_back(static_cast<unsigned>(face.ring.size()));
      hull.polygons.insert(hull.polygons.end(), face.ring.begin(), face.ring.end());
    }
    return dCreateConvex(space_, hull.planes.data(), static_cast<unsigned>(faces.size()), hull.points.data(),
                         static_cast<unsigned>(hull.hull.points.size()), hull.polygons.data());
  }
  /* ODE's convex shape wants the origin inside, so a hull is shifted by its centre, and its pose back. */
  dGeomID addShape(const Shape &shape, const Pose &body, Pose *pose) {
    *pose = shape.pose;
    switch (shape.kind) {
      case Shape::Sphere:
        return dCreateSphere(space_, shape.radius);
      case Shape::Box:
        return dCreateBox(space_, shape.size.x, shape.size.y, shape.size.z);
      case Shape::Capsule:
        return dCreateCapsule(space_, shape.radius, shape.length);
      case Shape::Cylinder:
        return dCreateCylinder(space_, shape.radius, shape.length);
      case Shape::Hull: {
        const Vec shift = hullMoments(shape.points).centre;
        pose->p = place(shape.pose, shift);
        return addHull(shape, shift);
      }
      case Shape::Solid:
        return addMesh(*shape.mesh);
      case Shape::HalfSpace:
        break;
    }
    const Pose world = place(body, shape.pose);
    const Vec n = rotate(world.q, {0, 0, 1});
    return dCreatePlane(space_, n.x, n.y, n.z, dot(n, world.p));
  }
  void addBody(size_t index) {
    const Body &def = scene_.bodies[index];
    dBodyID body = nullptr;
    Mass mass;
    if (def.dynamic) {
      mass = bodyMass(def);
      body = dBodyCreate(world_);
      bodies_.push_back(body);
      centres_.push_back(mass.centre);
      dMass m;
      const double(*t)[3] = mass.inertia;
      dMassSetParameters(&m, mass.mass, 0, 0, 0, t[0][0], t[1][1], t[2][2], t[0][1], t[0][2], t[1][2]);
      dBodySetMass(body, &m);
      const Vec p = place(def.pose, mass.centre);
      const Vec v = def.velocity + cross(def.angularVelocity, p - def.pose.p), w = def.angularVelocity;
      const dQuaternion q = {def.pose.q.w, def.pose.q.x, def.pose.q.y, def.pose.q.z};
      dBodySetPosition(body, p.x, p.y, p.z);
      dBodySetQuaternion(body, q);
      dBodySetLinearVel(body, v.x, v.y, v.z);
      dBodySetAngularVel(body, w.x, w.y, w.z);
      dBodySetDamping(body, std::min(1.0, def.linearDamping * h_), std::min(1.0, def.angularDamping * h_));
    }
    for (const Shape &shape : def.shapes) {
      Pose pose;
      dGeomID geom = addShape(shape, def.pose, &pose);
      dGeomSetData(geom, reinterpret_cast<void *>(tags_.size()));
      tags_.push_back({index, shape.kind == Shape::Hull ? hulls_.size() - 1 : none});
      if (body) {
        dGeomSetBody(geom, body);
        const Vec offset = pose.p - mass.centre;
        const dQuaternion q = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        dGeomSetOffsetPosition(geom, offset.x, offset.y, offset.z);
        dGeomSetOffsetQuaternion(geom, q);
      } else if (shape.kind != Shape::HalfSpace) {
        setGeomPose(geom, place(def.pose, pose));
      }
    }
  }
};

void run(const Arguments &arguments, const Scene &scene) {
  const double h = arguments.tuned ? 1.0 / 600 : 1.0 / 60;
  OdeEngine engine(scene, arguments.tuned, h);
  Measure measure(scene, arguments, engine, h);
  measure.run();
  measure.print("ODE", dODE_VERSION,
                arguments.tuned ? "1/600 s, 200 iterations, surface layer 0.1 mm" : "1/60 s, 20 iterations");
}

}  // namespace

int main(int argc, char **argv) { return driverMain(argc, argv, run); }
