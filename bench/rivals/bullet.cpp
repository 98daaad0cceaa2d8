/* Bullet as a rival: reads a scene file, simulates it with the sequential impulse solver, prints one line of JSON.
 *
 * shipped: 1/60 s, 10 iterations, default collision margin. tuned: 1/240 s, 200 iterations, two friction directions,
 * collision margin of hulls 0. Both: the deactivation is off; friction and restitution of a pair are the file's, set by
 * Bullet's callbacks; inertia is exact. Built once with Bullet's usual single precision and once with double
 * (BT_USE_DOUBLE_PRECISION).
 *
 * Solids are btGImpactMeshShape, Bullet's moving concave mesh, with a margin of 1 mm in place of its 100 mm: the foot
 * of a pawn has a radius of 16 mm. */
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletDynamicsCommon.h>

#include <memory>

#include "measure.hpp"

namespace {

/* A half-space is a large box: Bullet's own plane shape gives one contact point a step, on which nothing stands well.
 */
const double groundHalf = 50;
const double solidMargin = 0.001;

btScalar real(double x) { return static_cast<btScalar>(x); }
btVector3 vector(Vec v) { return btVector3(real(v.x), real(v.y), real(v.z)); }
btTransform transform(const Pose &pose) {
  const Quat &q = pose.q;
  return btTransform(btQuaternion(real(q.x), real(q.y), real(q.z), real(q.w)), vector(pose.p));
}

/* Bullet's callbacks carry no user data, so a body points at its scene and material. */
struct Tag {
  const Scene *scene;
  size_t material;
};
const Tag *tag(const btCollisionObject *object) { return static_cast<const Tag *>(object->getUserPointer()); }
btScalar pairFriction(const btCollisionObject *a, const btCollisionObject *b) {
  return real(tag(a)->scene->pairMu(tag(a)->material, tag(b)->material));
}
btScalar pairRestitution(const btCollisionObject *a, const btCollisionObject *b) {
  return real(tag(a)->scene->pairRestitution(tag(a)->material, tag(b)->material));
}

class BulletEngine : public Engine {
 public:
  BulletEngine(const Scene &scene, bool tuned, double h)
      : tuned_(tuned),
        h_(real(h)),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broadphase_, &solver_, &configuration_) {
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher_);
    gCalculateCombinedFrictionCallback = pairFriction;
    gCalculateCombinedRestitutionCallback = pairRestitution;
    world_.setGravity(vector(scene.gravity));
    if (tuned) {
      world_.getSolverInfo().m_numIterations = 200;
      world_.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
    tags_.reserve(scene.bodies.size());
    for (const Body &body : scene.bodies)
      for (const Shape &shape : body.shapes) solids_ = solids_ || shape.kind == Shape::Solid;
    for (const Body &body : scene.bodies) addBody(scene, body);
  }
  ~BulletEngine() override {
    for (auto &body : all_) world_.removeRigidBody(body.get());
  }
  void step() override { world_.stepSimulation(h_, 0); }
  size_t count() const override { return dynamic_.size(); }
  Vec centre(size_t body) const override { return back(dynamic_[body]->getCenterOfMassPosition()); }
  Motion motion(size_t body) const override {
    const btRigidBody *b = dynamic_[body];
    const btQuaternion q = b->getOrientation();
    const Quat turn = Quat{static_cast<double>(q.w()), static_cast<double>(q.x()), static_cast<double>(q.y()),
                           static_cast<double>(q.z())} *
                      conj(frames_[body].q);
    return {{centre(body) - rotate(turn, frames_[body].p), turn},
            back(b->getLinearVelocity()),
            back(b->getAngularVelocity())};
  }
  double penetration() override {
    double depth = 0;
    for (int i = 0; i < dispatcher_.getNumManifolds(); i++) {
      const btPersistentManifold *manifold = dispatcher_.getManifoldByIndexInternal(i);
      for (int k = 0; k < manifold->getNumContacts(); k++)
        depth = std::max(depth, -static_cast<double>(manifold->getContactPoint(k).getDistance()));
    }
    return depth;
  }
  size_t contacts() override {
    size_t out = 0;
    for (int i = 0; i < dispatcher_.getNumManifolds(); i++)
      out += static_cast<size_t>(dispatcher_.getManifoldByIndexInternal(i)->getNumContacts());
    return out;
  }

 private:
  bool tuned_, solids_ = false;
  btScalar h_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  std::vector<Tag> tags_;
  std::vector<Pose> frames_; /* of the dynamic bodies: Bullet's frame in the body's own */
  /* A mesh in Bullet's frame, with the arrays that Bullet points into; shared by all bodies of that form. */
  struct Solid {
    const TriMesh *mesh;
    Pose pose;
    std::vector<btScalar> points;
    std::vector<int> triangles;
    std::unique_ptr<btTriangleIndexVertexArray> array;
    btGImpactMeshShape *shape;
  };
  std::vector<std::unique_ptr<Solid>> meshes_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> all_;
  std::vector<btRigidBody *> dynamic_;
  btDiscreteDynamicsWorld world_;

  static Vec back(const btVector3 &v) {
    return {static_cast<double>(v.x()), static_cast<double>(v.y()), static_cast<double>(v.z())};
  }
  template <typename T>
  T *keep(T *shape) {
    shapes_.emplace_back(shape);
    return shape;
  }
  btCollisionShape *addMesh(const TriMesh &mesh, const Pose &pose) {
    for (const auto &made : meshes_)
      if (made->mesh == &mesh && norm(made->pose.p - pose.p) < 1e-12 &&
          norm({made->pose.q.x - pose.q.x, made->pose.q.y - pose.q.y, made->pose.q.z - pose.q.z}) < 1e-12)
        return made->shape;
    meshes_.emplace_back(new Solid{&mesh, pose, {}, {}, nullptr, nullptr});
    Solid &solid = *meshes_.back();
    for (const Vec &p : mesh.points) {
      const Vec moved = place(pose, p);
      for (double c : {moved.x, moved.y, moved.z}) solid.points.push_back(real(c));
    }
    solid.triangles.assign(mesh.triangles.begin(), mesh.triangles.end());
    solid.array.reset(new btTriangleIndexVertexArray(
        static_cast<int>(solid.triangles.size() / 3), solid.triangles.data(), 3 * sizeof(int),
        static_cast<int>(mesh.points.size()), solid.points.data(), 3 * sizeof(btScalar)));
    solid.shape = keep(new btGImpactMeshShape(solid.array.get()));
    solid.shape->setMargin(real(solidMargin));
    solid.shape->updateBound();
    return solid.shape;
  }
  /* The pose is in Bullet's frame of the body: the principal one, at the centre of mass. */
  btCollisionShape *addShape(const Shape &shape, const Pose &pose) {
    switch (shape.kind) {
      case Shape::Sphere:
        return keep(new btSphereShape(real(shape.radius)));
      case Shape::Box:
        return keep(new btBoxShape(vector(0.5 * shape.size)));
      case Shape::Capsule:
        return keep(new btCapsuleShapeZ(real(shape.radius), real(shape.length)));
      case Shape::Cylinder:
        return keep(new btCylinderShapeZ(btVector3(real(shape.radius), real(shape.radius), real(shape.length / 2))));
      case Shape::HalfSpace:
        return keep(new btBoxShape(vector(Vec{groundHalf, groundHalf, 1})));
      case Shape::Solid:
        return addMesh(*shape.mesh, pose);
      case Shape::Hull:
        break;
    }
    btConvexHullShape *hull = keep(new btConvexHullShape());
    for (const Vec &p : shape.points) hull->addPoint(vector(place(pose, p)), false);
    hull->recalcLocalAabb();
    if (tuned_) hull->setMargin(0);
    return hull;
  }
  /* A hull takes its pose into its points; the others need a compound unless it is the identity. */
  btCollisionShape *addShapes(const Body &body, const Pose &inverse) {
    auto inside = [](const Shape &shape) { return shape.kind == Shape::Hull || shape.kind == Shape::Solid; };
    auto identity = [](const Pose &p) { return norm(p.p) < 1e-12 && std::fabs(std::fabs(p.q.w) - 1) < 1e-12; };
    if (body.shapes.size() == 1) {
      const Pose pose = place(inverse, body.shapes[0].pose);
      /* for moving meshes Bullet has a collider of its own with planes, and is far faster with them than with a box */
      if (solids_ && body.shapes[0].kind == Shape::HalfSpace) {
        const Vec up = rotate(pose.q, {0, 0, 1});
        return keep(new btStaticPlaneShape(vector(up), real(dot(up, pose.p))));
      }
      if (inside(body.shapes[0]) || (identity(pose) && body.shapes[0].kind != Shape::HalfSpace))
        return addShape(body.shapes[0], pose);
    }
    btCompoundShape *compound = keep(new btCompoundShape());
    for (const Shape &shape : body.shapes) {
      Pose pose = place(inverse, shape.pose);
      if (shape.kind == Shape::HalfSpace) pose = place(pose, Pose{{0, 0, -1}, {}});
      compound->addChildShape(inside(shape) ? btTransform::getIdentity() : transform(pose), addShape(shape, pose));
    }
    return compound;
  }
  void addBody(const Scene &scene, const Body &body) {
    Mass mass;
    if (body.dynamic) mass = bodyMass(body);
    const Pose frame = {mass.centre, mass.axes};
    const Pose inverse = {rotate(conj(frame.q), -1.0 * frame.p), conj(frame.q)};
    btCollisionShape *shape = addShapes(body, inverse);
    btRigidBody::btRigidBodyConstructionInfo info(real(mass.mass), nullptr, shape, vector(mass.principal));
    info.m_startWorldTransform = transform(place(body.pose, frame));
    info.m_linearDamping = real(body.linearDamping);
    info.m_angularDamping = real(body.angularDamping);
    all_.emplace_back(new btRigidBody(info));
    btRigidBody *made = all_.back().get();
    tags_.push_back({&scene, body.material});
    made->setUserPointer(&tags_.back());
    if (body.dynamic) {
      const Vec arm = place(body.pose, mass.centre) - body.pose.p;
      made->setLinearVelocity(vector(body.velocity + cross(body.angularVelocity, arm)));
      made->setAngularVelocity(vector(body.angularVelocity));
      made->setActivationState(DISABLE_DEACTIVATION);
      dynamic_.push_back(made);
      frames_.push_back(frame);
    }
    world_.addRigidBody(made);
  }
};

void run(const Arguments &arguments, const Scene &scene) {
  const double h = arguments.tuned ? 1.0 / 240 : 1.0 / 60;
  BulletEngine engine(scene, arguments.tuned, h);
  Measure measure(scene, arguments, engine, h);
  measure.run();
  const std::string precision = sizeof(btScalar) == 8 ? "double precision" : "single precision";
  const char *settings =
      arguments.tuned ? "1/240 s, 200 iterations, 2 friction directions, " : "1/60 s, 10 iterations, ";
  const int v = btGetVersion();
  measure.print("Bullet", (std::to_string(v / 100) + "." + std::to_string(v % 100)).c_str(), settings + precision);
}

}  // namespace

int main(int argc, char **argv) { return driverMain(argc, argv, run); }
