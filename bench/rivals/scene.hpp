/* A scene file as the C++ drivers need it: bodies, shapes, and the coefficients of every pair of materials.
 *
 * Reads the format of schema/scene.schema.json as far as the benchmark uses it. The triangles of a solid are read from
 * FOLDER/NAME.obj, which bench-drop writes: every engine has the same ones. What would change the motion and is not
 * supported (scripted motion, release times, forces) throws: a rival must run the same scene or none. */
#ifndef DRYSTONE_BENCH_SCENE_HPP
#define DRYSTONE_BENCH_SCENE_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>

#include "json.hpp"

struct Vec {
  double x = 0, y = 0, z = 0;
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double norm(Vec a) { return std::sqrt(dot(a, a)); }

struct Quat {
  double w = 1, x = 0, y = 0, z = 0;
};
inline Quat operator*(Quat a, Quat b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
inline Quat conj(Quat q) { return {q.w, -q.x, -q.y, -q.z}; }
inline Vec rotate(Quat q, Vec v) {
  Vec u = {q.x, q.y, q.z}, t = 2.0 * cross(u, v);
  return v + q.w * t + cross(u, t);
}

struct Pose {
  Vec p;
  Quat q;
};
inline Vec place(const Pose &pose, Vec s) { return pose.p + rotate(pose.q, s); }
inline Pose place(const Pose &a, const Pose &b) { return {place(a, b.p), a.q * b.q}; }

struct TriMesh {
  std::vector<Vec> points;
  std::vector<unsigned> triangles; /* 3 a triangle, counter-clockwise seen from outside */
};

/* Lines "v x y z" and "f a b c"; other lines are not looked at. */
inline TriMesh readObj(const std::string &path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  TriMesh mesh;
  std::string line, word;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words >> word;
    Vec p;
    unsigned a = 0, b = 0, c = 0;
    if (word == "v" && words >> p.x >> p.y >> p.z) mesh.points.push_back(p);
    if (word == "f" && words >> a >> b >> c)
      for (unsigned i : {a, b, c}) mesh.triangles.push_back(i - 1);
  }
  for (unsigned i : mesh.triangles)
    if (i >= mesh.points.size()) throw std::runtime_error(path + ": a triangle names a vertex that is not there");
  if (mesh.triangles.empty()) throw std::runtime_error(path + ": no triangles");
  return mesh;
}

struct Shape {
  enum Kind { Sphere, Box, Capsule, Cylinder, Hull, HalfSpace, Solid } kind = Box;
  Pose pose;
  double density = 1000, radius = 0, length = 0;
  Vec size;
  std::vector<Vec> points;
  std::shared_ptr<const TriMesh> mesh; /* of a solid, shared by all bodies of its form */
};

struct Body {
  bool dynamic = true;
  Pose pose;
  Vec velocity, angularVelocity;
  size_t material = 0;
  double mass = 0, linearDamping = 0, angularDamping = 0;
  std::vector<Shape> shapes;
};

struct Scene {
  std::string name;
  Vec gravity = {0, 0, -9.81};
  std::vector<Body> bodies;
  size_t materials = 0;
  std::vector<double> mu, e; /* materials x materials */
  double pairMu(size_t a, size_t b) const { return mu[a * materials + b]; }
  double pairRestitution(size_t a, size_t b) const { return e[a * materials + b]; }
};

class SceneReader {
 public:
  static Scene readFile(const std::string &path, const std::string &meshes = "") {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot open " + path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string content = text.str();
    SceneReader reader;
    reader.folder_ = meshes;
    reader.read(JsonReader(content).read());
    return reader.scene_;
  }

 private:
  Scene scene_;
  std::string folder_; /* of meshes */
  std::map<std::string, size_t> names_;
  std::map<std::string, std::shared_ptr<const TriMesh>> meshes_;
  std::vector<std::array<double, 2>> coefficients_; /* mu, e of each material */

  static Vec vec(const Json *value, Vec initial) {
    if (!value) return initial;
    if (value->kind != Json::Array || value->items.size() != 3) throw std::runtime_error("expected a vector [x, y, z]");
    return {value->items[0].number, value->items[1].number, value->items[2].number};
  }
  static Quat rotation(const Json *value) {
    if (!value) return {};
    Quat q;
    if (value->kind == Json::Array && value->items.size() == 4) {
      q = {value->items[0].number, value->items[1].number, value->items[2].number, value->items[3].number};
    } else {
      Vec axis = vec(value->find("axis"), {0, 0, 1});
      double angle = value->get("radians", value->get("degrees", 0.0) * std::acos(-1.0) / 180);
      double s = std::sin(angle / 2) / norm(axis);
      q = {std::cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
    }
    double n = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {q.w / n, q.x / n, q.y / n, q.z / n};
  }
  static double mix(const std::string &rule, double a, double b) {
    if (rule == "geometric") return std::sqrt(a * b);
    if (rule == "min") return std::min(a, b);
    if (rule == "max") return std::max(a, b);
    if (rule == "average") return (a + b) / 2;
    if (rule == "product") return a * b;
    throw std::runtime_error("unknown rule " + rule);
  }
  std::shared_ptr<const TriMesh> readMesh(const std::string &name) {
    if (folder_.empty()) throw std::runtime_error("a solid, but no folder of meshes was given");
    std::shared_ptr<const TriMesh> &mesh = meshes_[name];
    if (!mesh) mesh = std::make_shared<const TriMesh>(readObj(folder_ + "/" + name + ".obj"));
    return mesh;
  }
  Shape readShape(const Json &json, double density) {
    Shape shape;
    const std::string kind = json.get("kind", "");
    if (kind == "sphere")
      shape.kind = Shape::Sphere;
    else if (kind == "box")
      shape.kind = Shape::Box;
    else if (kind == "capsule")
      shape.kind = Shape::Capsule;
    else if (kind == "cylinder")
      shape.kind = Shape::Cylinder;
    else if (kind == "hull")
      shape.kind = Shape::Hull;
    else if (kind == "half-space")
      shape.kind = Shape::HalfSpace;
    else if (kind == "solid")
      shape.kind = Shape::Solid, shape.mesh = readMesh(json.get("solid", ""));
    else
      throw std::runtime_error("unknown shape \"" + kind + "\"");
    shape.pose = {vec(json.find("position"), {}), rotation(json.find("rotation"))};
    shape.density = json.get("density", density);
    shape.radius = json.get("radius", 0.0);
    shape.length = json.get("length", 0.0);
    shape.size = vec(json.find("size"), {});
    if (const Json *points = json.find("points"))
      for (const Json &point : points->items) shape.points.push_back(vec(&point, {}));
    return shape;
  }
  Body readBody(const Json &json) {
    for (const char *key : {"motion", "force", "torque"})
      if (json.find(key)) throw std::runtime_error(std::string("this driver does not support \"") + key + "\"");
    if (json.get("release_time", 0.0) > 0) throw std::runtime_error("this driver does not support \"release_time\"");
    Body body;
    body.dynamic = json.get("kind", "dynamic") == "dynamic";
    body.pose = {vec(json.find("position"), {}), rotation(json.find("rotation"))};
    body.velocity = vec(json.find("velocity"), {});
    body.angularVelocity = vec(json.find("angular_velocity"), {});
    body.mass = json.get("mass", 0.0);
    body.linearDamping = json.get("linear_damping", 0.0);
    body.angularDamping = json.get("angular_damping", 0.0);
    if (json.find("material")) {
      auto it = names_.find(json.get("material", ""));
      if (it == names_.end()) throw std::runtime_error("unknown material");
      body.material = it->second;
    } else if (json.find("mu") || json.find("e")) {
      body.material = coefficients_.size();
      coefficients_.push_back({json.get("mu", 0.5), json.get("e", 0.0)});
    }
    if (const Json *shapes = json.find("shapes"))
      for (const Json &shape : shapes->items) body.shapes.push_back(readShape(shape, json.get("density", 1000.0)));
    return body;
  }
  void read(const Json &json) {
    scene_.name = json.get("name", "");
    scene_.gravity = vec(json.find("gravity"), scene_.gravity);
    coefficients_.push_back({0.5, 0}); /* material 0 is the default one */
    if (const Json *materials = json.find("materials"))
      for (const auto &entry : materials->fields) {
        if (entry.second.kind != Json::Object) continue;
        names_[entry.first] = coefficients_.size();
        coefficients_.push_back({entry.second.get("mu", 0.5), entry.second.get("e", 0.0)});
      }
    if (const Json *bodies = json.find("bodies"))
      for (const Json &body : bodies->items) scene_.bodies.push_back(readBody(body));
    fillPairs(json);
  }
  void fillPairs(const Json &json) {
    const size_t n = scene_.materials = coefficients_.size();
    scene_.mu.resize(n * n);
    scene_.e.resize(n * n);
    const std::string ruleMu = json.get("friction_rule", "geometric"), ruleE = json.get("restitution_rule", "max");
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) {
        scene_.mu[i * n + j] = mix(ruleMu, coefficients_[i][0], coefficients_[j][0]);
        scene_.e[i * n + j] = mix(ruleE, coefficients_[i][1], coefficients_[j][1]);
      }
    const Json *joints = json.find("joints"), *pairs = json.find("pairs");
    if (joints && !joints->items.empty()) throw std::runtime_error("this driver does not support \"joints\"");
    if (!pairs) return;
    for (const Json &pair : pairs->items) {
      const Json *of = pair.find("materials");
      if (!of || of->items.size() != 2) throw std::runtime_error("a pair needs two materials");
      size_t i = names_.at(of->items[0].text), j = names_.at(of->items[1].text);
      scene_.mu[i * n + j] = scene_.mu[j * n + i] = pair.get("mu", scene_.mu[i * n + j]);
      scene_.e[i * n + j] = scene_.e[j * n + i] = pair.get("e", scene_.e[i * n + j]);
    }
  }
};

#endif
