// Jolt (WebAssembly) as a rival: reads a scene file, simulates it, prints one line of JSON.
//
// shipped: 1/60 s and Jolt's defaults (10 velocity and 2 position iterations, slop 20 mm). tuned: 1/240 s, 100 velocity
// and 10 position iterations, slop 1 mm, contacts found 1 mm ahead. Both: a convex radius of 50 mm or a tenth of the
// thinnest side, whichever is less, for cards are thinner than Jolt's default radius.
// Friction of a pair is the geometric mean, restitution the larger, as Jolt has them.
import initJolt from "jolt-physics/wasm-compat";
import { readFileSync } from "node:fs";
import { driverMain } from "./measure.mjs";
import { bodyCoefficients, geometricRule, maxRule, multiply, rotate } from "./scene.mjs";

const { version } = JSON.parse(readFileSync(new URL("./node_modules/jolt-physics/package.json", import.meta.url)));
const layerFixed = 0, layerMoving = 1;

function makeWorld(Jolt) {
  const settings = new Jolt.JoltSettings();
  settings.mMaxBodies = 4096;
  settings.mMaxBodyPairs = 65536;
  settings.mMaxContactConstraints = 16384;
  settings.mMaxWorkerThreads = 0;
  const pairs = new Jolt.ObjectLayerPairFilterTable(2);
  pairs.EnableCollision(layerFixed, layerMoving);
  pairs.EnableCollision(layerMoving, layerMoving);
  const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
  layers.MapObjectToBroadPhaseLayer(layerFixed, new Jolt.BroadPhaseLayer(0));
  layers.MapObjectToBroadPhaseLayer(layerMoving, new Jolt.BroadPhaseLayer(1));
  settings.mObjectLayerPairFilter = pairs;
  settings.mBroadPhaseLayerInterface = layers;
  settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, pairs, 2);
  return new Jolt.JoltInterface(settings);
}

function tune(Jolt, system) {
  const settings = system.GetPhysicsSettings();
  settings.mNumVelocitySteps = 100;
  settings.mNumPositionSteps = 10;
  settings.mPenetrationSlop = 1e-3;
  settings.mSpeculativeContactDistance = 1e-3;
  system.SetPhysicsSettings(settings);
}

// Jolt's cylinders and capsules lie along y; ours along z.
const alongZ = [Math.SQRT1_2, Math.SQRT1_2, 0, 0];

function shapeSettings(Jolt, shape) {
  const vec = (v) => new Jolt.Vec3(...v);
  const radius = (thinnest) => Math.min(0.05, 0.1 * thinnest);
  let out;
  switch (shape.kind) {
    case "sphere": out = new Jolt.SphereShapeSettings(shape.radius); break;
    case "capsule": out = new Jolt.CapsuleShapeSettings(shape.length / 2, shape.radius); break;
    case "box": {
      const half = shape.size.map((c) => c / 2);
      out = new Jolt.BoxShapeSettings(vec(half), radius(2 * Math.min(...half)));
      break;
    }
    case "cylinder": {
      const thinnest = Math.min(shape.length, 2 * shape.radius);
      out = new Jolt.CylinderShapeSettings(shape.length / 2, shape.radius, radius(thinnest));
      break;
    }
    case "half-space": return new Jolt.PlaneShapeSettings(new Jolt.Plane(vec([0, 0, 1]), 0), undefined, 100);
    case "hull": {
      out = new Jolt.ConvexHullShapeSettings();
      for (const p of shape.points) out.mPoints.push_back(vec(p));
      out.mHullTolerance = 1e-5;
      break;
    }
    default: throw new Error(`unknown shape "${shape.kind}"`);
  }
  out.mDensity = shape.density;
  if (shape.kind !== "capsule" && shape.kind !== "cylinder") return out;
  return new Jolt.RotatedTranslatedShapeSettings(vec([0, 0, 0]), quat(Jolt, alongZ), out);
}

const wxyz = (q) => [q.GetW(), q.GetX(), q.GetY(), q.GetZ()];
const quat = (Jolt, q) => new Jolt.Quat(q[1], q[2], q[3], q[0]);

function bodyShape(Jolt, body) {
  let settings;
  const [first] = body.shapes;
  const plain = body.shapes.length === 1 && first.position.every((c) => c === 0) && first.rotation[0] === 1;
  if (plain) {
    settings = shapeSettings(Jolt, first);
  } else if (body.shapes.length === 1) {
    const inner = shapeSettings(Jolt, first);
    const position = new Jolt.Vec3(...first.position);
    settings = new Jolt.RotatedTranslatedShapeSettings(position, quat(Jolt, first.rotation), inner);
  } else {
    settings = new Jolt.StaticCompoundShapeSettings();
    for (const shape of body.shapes) {
      const inner = shapeSettings(Jolt, shape);
      settings.AddShape(new Jolt.Vec3(...shape.position), quat(Jolt, shape.rotation), inner, 0);
    }
  }
  const result = settings.Create();
  if (result.HasError()) throw new Error(`Jolt refuses a shape: ${result.GetError().c_str()}`);
  return result.Get();
}

function addBody(Jolt, bodies, body, mu, e) {
  const motion = body.dynamic ? Jolt.EMotionType_Dynamic : Jolt.EMotionType_Static;
  const settings = new Jolt.BodyCreationSettings(
    bodyShape(Jolt, body), new Jolt.RVec3(...body.position), quat(Jolt, body.rotation), motion,
    body.dynamic ? layerMoving : layerFixed);
  settings.mFriction = mu;
  settings.mRestitution = e;
  settings.mAllowSleeping = false;
  settings.mLinearDamping = body.linearDamping;
  settings.mAngularDamping = body.angularDamping;
  if (body.dynamic && body.mass > 0) {
    settings.mOverrideMassProperties = Jolt.EOverrideMassProperties_CalculateInertia;
    settings.mMassPropertiesOverride.mMass = body.mass;
  }
  const made = bodies.CreateBody(settings);
  bodies.AddBody(made.GetID(), Jolt.EActivation_Activate);
  if (body.dynamic) {
    made.SetAngularVelocity(new Jolt.Vec3(...body.angularVelocity));
    // Jolt's velocity is that of the centre of mass; the file's that of the body's origin.
    const c = made.GetCenterOfMassPosition(), w = body.angularVelocity;
    const arm = [c.GetX() - body.position[0], c.GetY() - body.position[1], c.GetZ() - body.position[2]];
    made.SetLinearVelocity(new Jolt.Vec3(
      body.velocity[0] + w[1] * arm[2] - w[2] * arm[1],
      body.velocity[1] + w[2] * arm[0] - w[0] * arm[2],
      body.velocity[2] + w[0] * arm[1] - w[1] * arm[0]));
  }
  return made;
}

// Listens to the contacts of one step; without it Jolt runs unobserved.
function makeListener(Jolt, seen) {
  const listener = new Jolt.ContactListenerJS();
  const look = (bodyA, bodyB, manifold) => {
    const wrapped = Jolt.wrapPointer(manifold, Jolt.ContactManifold);
    seen.depth = Math.max(seen.depth, wrapped.mPenetrationDepth);
    seen.contacts += wrapped.mRelativeContactPointsOn1.size();
  };
  listener.OnContactValidate = () => Jolt.ValidateResult_AcceptAllContactsForThisBodyPair;
  listener.OnContactAdded = look;
  listener.OnContactPersisted = look;
  listener.OnContactRemoved = () => {};
  return listener;
}

async function makeEngine(scene, setting) {
  const tuned = setting !== "shipped";
  const Jolt = await initJolt();
  const world = makeWorld(Jolt);
  const system = world.GetPhysicsSystem();
  const bodies = system.GetBodyInterface();
  system.SetGravity(new Jolt.Vec3(...scene.gravity));
  if (tuned) tune(Jolt, system);
  const mu = bodyCoefficients(scene, scene.pairMu, geometricRule, "friction");
  const e = bodyCoefficients(scene, scene.pairE, maxRule, "restitution");
  const made = scene.bodies.map((body, i) => addBody(Jolt, bodies, body, mu[i], e[i]));
  system.OptimizeBroadPhase();
  const moving = made.filter((_, i) => scene.bodies[i].dynamic);
  const centres = new Float64Array(3 * moving.length);
  const h = tuned ? 1 / 240 : 1 / 60;
  const seen = { depth: 0, contacts: 0 };
  const listener = makeListener(Jolt, seen);
  let observed = false;
  return {
    name: "Jolt",
    version,
    settings: tuned ? "1/240 s, 100/10 iterations, slop 1 mm" : "1/60 s, 10/2 iterations, slop 20 mm",
    h,
    prepareDeep() {
      seen.depth = seen.contacts = 0;
      system.SetContactListener(listener);
      observed = true;
    },
    step() {
      world.Step(h, 1);
      if (observed) system.SetContactListener(null);
      observed = false;
    },
    centres() {
      moving.forEach((body, k) => {
        const p = body.GetCenterOfMassPosition();
        centres[3 * k] = p.GetX();
        centres[3 * k + 1] = p.GetY();
        centres[3 * k + 2] = p.GetZ();
      });
      return centres;
    },
    energy() {
      const [gx, gy, gz] = scene.gravity;
      let sum = 0;
      for (const body of moving) {
        const motion = body.GetMotionProperties(), mass = 1 / motion.GetInverseMass();
        const p = body.GetCenterOfMassPosition(), v = body.GetLinearVelocity(), w = body.GetAngularVelocity();
        const height = p.GetX() * gx + p.GetY() * gy + p.GetZ() * gz;
        sum += mass * (0.5 * (v.GetX() ** 2 + v.GetY() ** 2 + v.GetZ() ** 2) - height);
        const spin = [w.GetX(), w.GetY(), w.GetZ()]; // Jolt returns some vectors in one place: read before the next call
        const inverse = motion.GetInverseInertiaDiagonal(), i = [inverse.GetX(), inverse.GetY(), inverse.GetZ()];
        const about = multiply(wxyz(body.GetRotation()), wxyz(motion.GetInertiaRotation()));
        const inside = rotate([about[0], -about[1], -about[2], -about[3]], spin);
        for (let k = 0; k < 3; k++) if (i[k] > 0) sum += (0.5 * inside[k] ** 2) / i[k];
      }
      return sum;
    },
    penetration: () => Math.max(0, seen.depth),
    contacts: () => seen.contacts,
  };
}

await driverMain(makeEngine);
