// Rapier (WebAssembly) as a rival: reads a scene file, simulates it, prints one line of JSON.
//
// shipped: 1/60 s and Rapier's defaults (4 solver iterations, contacts as springs of 30 Hz). tuned: 1/240 s, 20 solver
// iterations of 4 sweeps each, contacts of 480 Hz, allowed error 0.1 mm, contacts found 2 mm ahead, and hulls smaller
// by 1e-4: hulls that touch exactly are otherwise found half a stone deep in each other. The best of several tried.
// Friction and restitution of a pair are the larger of the two coefficients.
import RAPIER from "@dimforge/rapier3d-compat";
import { driverMain } from "./measure.mjs";
import { bodyCoefficients, maxRule, multiply } from "./scene.mjs";

const vec = (v) => ({ x: v[0], y: v[1], z: v[2] });
const quat = (q) => ({ w: q[0], x: q[1], y: q[2], z: q[3] });
// Rapier's cylinders and capsules lie along y; ours along z.
const alongZ = [Math.SQRT1_2, Math.SQRT1_2, 0, 0];

// The hull's points, drawn towards their mean by a part of their distance.
function shrunk(points, part) {
  const mean = [0, 1, 2].map((c) => points.reduce((sum, p) => sum + p[c], 0) / points.length);
  return points.flatMap((p) => p.map((x, c) => x + part * (mean[c] - x)));
}

function colliderOf(shape, tuned) {
  const half = shape.length / 2;
  switch (shape.kind) {
    case "sphere": return RAPIER.ColliderDesc.ball(shape.radius);
    case "box": return RAPIER.ColliderDesc.cuboid(...shape.size.map((c) => c / 2));
    case "capsule": return RAPIER.ColliderDesc.capsule(half, shape.radius);
    case "cylinder": return RAPIER.ColliderDesc.cylinder(half, shape.radius);
    case "half-space": return new RAPIER.ColliderDesc(new RAPIER.HalfSpace(vec([0, 0, 1])));
    case "hull": {
      const hull = RAPIER.ColliderDesc.convexHull(Float32Array.from(shrunk(shape.points, tuned ? 1e-4 : 0)));
      if (!hull) throw new Error("Rapier refuses a hull");
      return hull;
    }
    default: throw new Error(`unknown shape "${shape.kind}"`);
  }
}

function addBody(world, body, mu, e, tuned) {
  const desc = body.dynamic ? RAPIER.RigidBodyDesc.dynamic() : RAPIER.RigidBodyDesc.fixed();
  desc.setTranslation(...body.position).setRotation(quat(body.rotation)).setCanSleep(false);
  desc.setLinearDamping(body.linearDamping).setAngularDamping(body.angularDamping);
  const made = world.createRigidBody(desc);
  const colliders = body.shapes.map((shape) => {
    const turned = shape.kind === "capsule" || shape.kind === "cylinder";
    const rotation = turned ? multiply(shape.rotation, alongZ) : shape.rotation;
    const collider = colliderOf(shape, tuned).setTranslation(...shape.position).setRotation(quat(rotation));
    collider.setFriction(mu).setFrictionCombineRule(RAPIER.CoefficientCombineRule.Max);
    collider.setRestitution(e).setRestitutionCombineRule(RAPIER.CoefficientCombineRule.Max).setDensity(shape.density);
    return world.createCollider(collider, made);
  });
  if (body.dynamic) {
    made.recomputeMassPropertiesFromColliders();
    // A mass given in the file scales what density and shapes have given.
    if (body.mass > 0) {
      const scale = body.mass / made.mass();
      colliders.forEach((collider, i) => collider.setDensity(body.shapes[i].density * scale));
      made.recomputeMassPropertiesFromColliders();
    }
    made.setAngvel(vec(body.angularVelocity), true);
    made.setLinvel(vec(body.velocity), true);
  }
  return { made, colliders };
}

async function makeEngine(scene, setting) {
  const tuned = setting !== "shipped";
  await RAPIER.init();
  const world = new RAPIER.World(vec(scene.gravity));
  const h = tuned ? 1 / 240 : 1 / 60;
  world.timestep = h;
  if (tuned) {
    world.numSolverIterations = 20;
    world.numInternalPgsIterations = 4;
    world.integrationParameters.contact_natural_frequency = 480;
    world.integrationParameters.normalizedAllowedLinearError = 1e-4;
    world.integrationParameters.normalizedPredictionDistance = 2e-3;
  }
  const mu = bodyCoefficients(scene, scene.pairMu, maxRule, "friction");
  const e = bodyCoefficients(scene, scene.pairE, maxRule, "restitution");
  const all = scene.bodies.map((body, i) => addBody(world, body, mu[i], e[i], tuned));
  const moving = all.filter((_, i) => scene.bodies[i].dynamic);
  const centres = new Float64Array(3 * moving.length);
  let contacts = 0;
  const look = () => {
    let depth = 0;
    contacts = 0;
    const done = new Set();
    for (const { colliders } of moving)
      for (const collider of colliders) {
        done.add(collider.handle);
        world.contactPairsWith(collider, (other) => {
          if (done.has(other.handle)) return;
          world.contactPair(collider, other, (manifold) => {
            for (let i = 0; i < manifold.numContacts(); i++) depth = Math.max(depth, -manifold.contactDist(i));
            contacts += manifold.numSolverContacts();
          });
        });
      }
    return depth;
  };
  return {
    name: "Rapier",
    version: RAPIER.version(),
    settings: tuned ? "1/240 s, 20 iterations of 4 sweeps, 480 Hz" : "1/60 s, 4 iterations",
    h,
    substeps: world.numSolverIterations,
    step: () => world.step(),
    centres() {
      moving.forEach(({ made }, k) => {
        const p = made.worldCom();
        centres[3 * k] = p.x;
        centres[3 * k + 1] = p.y;
        centres[3 * k + 2] = p.z;
      });
      return centres;
    },
    penetration: look,
    contacts: () => contacts,
  };
}

await driverMain(makeEngine);
