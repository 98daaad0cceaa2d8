/* What every C++ driver measures of a run, and the loop that measures it; measure.mjs is the same for the others.
 *
 * displacement_max          of any centre of mass from its start
 * displacement_settled_max  of any centre from where it was at 1 s
 * creep_max                 largest mean speed over the last tenth of the run, m/s
 * penetration_max           deepest contact the engine itself reports, looked at every 0.25 s
 * fell_at                   first time at which a centre is further from its start than half its body's longest side
 * cpu_per_second            processor time (user and system) inside the engine's step, per simulated second
 *
 * peak_memory               largest resident memory of the process, bytes
 *
 * With --poses a file gets every 0.1 s, and at the end, a line "time T" and one a body: place and rotation of the
 * body's frame, velocity of the centre, angular velocity; bench-drop judges them. A run ends early when something has
 * fallen (unless told to go on) or the processor time is spent; "time" says how far it came. */
#ifndef DRYSTONE_BENCH_MEASURE_HPP
#define DRYSTONE_BENCH_MEASURE_HPP

#include <cstdio>
#include <cstring>
#include <ctime>

#include "mass.hpp"

struct Arguments {
  std::string scene, meshes, poses;
  bool tuned = false, keepGoing = false;
  double time = 10, cpuLimit = 1e9;
};

inline Arguments readArguments(int argc, char **argv) {
  Arguments out;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    if (word == "--keep-going")
      out.keepGoing = true;
    else if (word.compare(0, 2, "--") != 0)
      out.scene = word;
    else if (i + 1 >= argc)
      throw std::runtime_error(word + " needs a value");
    else if (word == "--time")
      out.time = std::atof(argv[++i]);
    else if (word == "--meshes")
      out.meshes = argv[++i];
    else if (word == "--poses")
      out.poses = argv[++i];
    else if (word == "--cpu-limit")
      out.cpuLimit = std::atof(argv[++i]);
    else if (word == "--setting")
      out.tuned = std::strcmp(argv[++i], "tuned") == 0;
    else
      throw std::runtime_error("unknown option " + word);
  }
  if (out.scene.empty() || !(out.time > 0))
    throw std::runtime_error(
        "usage: driver SCENE.json [--setting shipped|tuned] [--time S] [--cpu-limit S] [--keep-going] "
        "[--meshes FOLDER] [--poses FILE]");
  return out;
}

/* Where a body is: the frame in which its shapes are given, velocity of its centre of mass. */
struct Motion {
  Pose pose;
  Vec velocity, angularVelocity;
};

/* What a driver gives: the dynamic bodies are numbered in the order of the file. */
struct Engine {
  virtual ~Engine() = default;
  virtual void step() = 0;
  virtual size_t count() const = 0;
  virtual Vec centre(size_t body) const = 0;
  virtual Motion motion(size_t body) const = 0;
  virtual double penetration() = 0; /* deepest contact of the last step, m, >= 0 */
  virtual size_t contacts() = 0;
};

inline double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double longestSide(const Body &body) {
  const double inf = std::numeric_limits<double>::infinity();
  Vec low = {inf, inf, inf}, high = {-inf, -inf, -inf};
  auto take = [&](Vec p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  };
  for (const Shape &shape : body.shapes) {
    double end = shape.length / 2 + (shape.kind == Shape::Capsule ? shape.radius : 0);
    if (shape.kind == Shape::Sphere) end = shape.radius;
    Vec half = shape.kind == Shape::Box ? 0.5 * shape.size : Vec{shape.radius, shape.radius, end};
    if (shape.kind == Shape::Hull || shape.kind == Shape::Solid)
      for (const Vec &p : shape.mesh ? shape.mesh->points : shape.points) take(place(shape.pose, p));
    else
      for (int i = 0; i < 8; i++)
        take(place(shape.pose, Vec{i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z}));
  }
  return std::max(std::max(high.x - low.x, high.y - low.y), high.z - low.z);
}

class Measure {
 public:
  Measure(const Scene &scene, const Arguments &arguments, Engine &engine, double h)
      : arguments_(arguments), engine_(engine), h_(h) {
    for (const Body &body : scene.bodies)
      if (body.dynamic) sides_.push_back(longestSide(body));
    if (arguments.poses.empty()) return;
    poses_.reset(std::fopen(arguments.poses.c_str(), "w"));
    if (!poses_) throw std::runtime_error("cannot write " + arguments.poses);
  }

  void run() {
    const long steps = std::lround(arguments_.time / h_), every = std::max(1L, std::lround(0.01 / h_));
    const long probe = std::max(1L, std::lround(0.25 / h_)), frame = std::max(1L, std::lround(0.1 / h_));
    start_ = centres();
    double begin = cpuSeconds();
    for (steps_ = 1; steps_ <= steps; steps_++) {
      engine_.step();
      const bool last = steps_ == steps, deep = steps_ % probe == 0 || last || steps_ == 1;
      if (steps_ % every != 0 && !deep) continue;
      cpu_ += cpuSeconds() - begin;
      look(static_cast<double>(steps_) * h_, deep);
      if (poses_ && (last || steps_ % frame < every)) writePoses(static_cast<double>(steps_) * h_);
      if (last) break;
      if (fellAt_ >= 0 && !arguments_.keepGoing) break;
      if (cpu_ > arguments_.cpuLimit) {
        stopped_ = "cpu-limit";
        if (poses_) writePoses(static_cast<double>(steps_) * h_);
        break;
      }
      begin = cpuSeconds();
    }
  }

  void print(const char *engine, const char *version, const std::string &settings) const {
    const double time = static_cast<double>(steps_) * h_;
    std::printf("{\"engine\": \"%s\", \"version\": \"%s\", \"setting\": \"%s\", \"settings\": \"%s\", ", engine,
                version, arguments_.tuned ? "tuned" : "shipped", settings.c_str());
    std::printf("\"step\": %.9g, \"substeps\": 1, \"steps\": %ld, \"time\": %.9g, \"bodies\": %zu, \"contacts\": %zu, ",
                h_, steps_, time, sides_.size(), contacts_);
    std::printf("\"displacement_max\": %.10g, \"displacement_settled_max\": %s, \"creep_max\": %s, ", displacement_,
                number(settled_.empty() ? -1 : settledMax_).c_str(), number(tenth_.empty() ? -1 : creep_).c_str());
    std::printf("\"penetration_max\": %.6g, \"fell_at\": %s, ", penetration_, number(fellAt_).c_str());
    std::printf("\"peak_memory\": %.0f, ", peakMemory());
    std::printf("\"cpu_per_second\": %.6g, \"stopped\": %s, \"finite\": %s}\n", cpu_ / time,
                stopped_ ? (std::string("\"") + stopped_ + "\"").c_str() : "null", finite_ ? "true" : "false");
  }

 private:
  const Arguments &arguments_;
  Engine &engine_;
  double h_;
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> poses_;
  long steps_ = 0;
  std::vector<double> sides_;
  std::vector<Vec> start_, settled_, tenth_;
  double displacement_ = 0, settledMax_ = 0, creep_ = 0, penetration_ = 0, fellAt_ = -1, cpu_ = 0, tenthTime_ = 0;
  size_t contacts_ = 0;
  bool finite_ = true;
  const char *stopped_ = nullptr;

  static std::string number(double value) {
    if (value < 0 || !std::isfinite(value)) return "null";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }
  std::vector<Vec> centres() const {
    std::vector<Vec> out(engine_.count());
    for (size_t i = 0; i < out.size(); i++) out[i] = engine_.centre(i);
    return out;
  }
  /* The kernel's own figure for this program: getrusage would count what ran before it in the same process. */
  static double peakMemory() {
    std::ifstream file("/proc/self/status");
    std::string word;
    double kib = 0;
    while (file >> word)
      if (word == "VmHWM:" && file >> kib) break;
    return 1024 * kib;
  }
  /* Written out at once: a driver that crashes later has said how far it came. */
  void writePoses(double time) {
    std::fprintf(poses_.get(), "time %.9g\n", time);
    for (size_t i = 0; i < engine_.count(); i++) {
      const Motion m = engine_.motion(i);
      const Vec &p = m.pose.p, &v = m.velocity, &w = m.angularVelocity;
      const Quat &q = m.pose.q;
      std::fprintf(poses_.get(), "%.9g %.9g %.9g %.9g %.9g %.9g %.9g ", p.x, p.y, p.z, q.w, q.x, q.y, q.z);
      std::fprintf(poses_.get(), "%.6g %.6g %.6g %.6g %.6g %.6g\n", v.x, v.y, v.z, w.x, w.y, w.z);
    }
    std::fflush(poses_.get());
  }
  void look(double time, bool deep) {
    const std::vector<Vec> now = centres();
    for (size_t i = 0; i < now.size(); i++) {
      const double moved = norm(now[i] - start_[i]);
      if (!std::isfinite(moved)) {
        finite_ = false;
        if (fellAt_ < 0) fellAt_ = time;
        continue;
      }
      displacement_ = std::max(displacement_, moved);
      if (moved > sides_[i] / 2 && fellAt_ < 0) fellAt_ = time;
      if (!settled_.empty()) settledMax_ = std::max(settledMax_, norm(now[i] - settled_[i]));
    }
    if (settled_.empty() && time >= 1 - 1e-9) settled_ = now;
    if (tenth_.empty() && time >= 0.9 * arguments_.time - 1e-9) tenth_ = now, tenthTime_ = time;
    if (!tenth_.empty() && time > tenthTime_) {
      creep_ = 0;
      for (size_t i = 0; i < now.size(); i++) creep_ = std::max(creep_, norm(now[i] - tenth_[i]) / (time - tenthTime_));
    }
    if (!deep) return;
    penetration_ = std::max(penetration_, engine_.penetration());
    contacts_ = engine_.contacts();
  }
};

/* The main of a driver: a message and exit code 2 where the scene cannot be run. */
template <typename Run>
int driverMain(int argc, char **argv, Run run) {
  try {
    const Arguments arguments = readArguments(argc, argv);
    run(arguments, SceneReader::readFile(arguments.scene, arguments.meshes));
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

#endif
