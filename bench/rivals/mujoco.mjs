// MuJoCo (WebAssembly) as a rival: a scene file becomes MJCF text; one line of JSON is printed.
//
// shipped: MuJoCo's defaults (2 ms, Newton, pyramidal cones). tuned: elliptic cones, impratio 100, contacts with a time
// constant of 6 ms instead of 20: with 20 the weight of a stack presses its lowest contacts through, and nearer to two
// steps a sliding box hops. noslip: the same with 50 iterations of the noslip solver.
// Friction of a pair is the larger of the two coefficients, only sliding friction counts; MuJoCo has no restitution.
import loadMujoco from "@mujoco/mujoco";
import { driverMain } from "./measure.mjs";
import { bodyCoefficients, maxRule, rotate } from "./scene.mjs";

const options = {
  shipped: "",
  tuned: 'cone="elliptic" impratio="100"',
  noslip: 'cone="elliptic" impratio="100" noslip_iterations="50"',
};
const contactOptions = { shipped: "", tuned: 'solref="0.006 1"', noslip: 'solref="0.006 1"' };
const descriptions = {
  shipped: "2 ms, defaults",
  tuned: "2 ms, elliptic, impratio 100, solref 6 ms",
  noslip: "2 ms, elliptic, impratio 100, solref 6 ms, noslip 50",
};
const numbers = (values) => values.join(" ");

// Meshes go into assets; a geom is a line of MJCF.
function geomText(shape, mu, assets, setting) {
  const pose = `pos="${numbers(shape.position)}" quat="${numbers(shape.rotation)}"`;
  const common = `${pose} density="${shape.density}" friction="${mu} 0 0" condim="3" ${contactOptions[setting]}`;
  const r = shape.radius, half = shape.length / 2;
  switch (shape.kind) {
    case "sphere": return `<geom type="sphere" size="${r}" ${common}/>`;
    case "box": return `<geom type="box" size="${numbers(shape.size.map((c) => c / 2))}" ${common}/>`;
    case "capsule": return `<geom type="capsule" size="${r} ${half}" ${common}/>`;
    case "cylinder": return `<geom type="cylinder" size="${r} ${half}" ${common}/>`;
    case "half-space": return `<geom type="plane" size="50 50 1" ${common}/>`;
    case "hull":
      assets.push(`<mesh name="hull${assets.length}" vertex="${shape.points.map(numbers).join(" ")}"/>`);
      return `<geom type="mesh" mesh="hull${assets.length - 1}" ${common}/>`;
    default: throw new Error(`unknown shape "${shape.kind}"`);
  }
}

function sceneText(scene, setting) {
  const mus = bodyCoefficients(scene, scene.pairMu, maxRule, "friction");
  const assets = [];
  const bodies = scene.bodies.map((body, i) => {
    if (body.linearDamping || body.angularDamping) throw new Error("this driver does not support damping");
    const geoms = body.shapes.map((shape) => geomText(shape, mus[i], assets, setting)).join("");
    const joint = body.dynamic ? "<freejoint/>" : "";
    return `<body pos="${numbers(body.position)}" quat="${numbers(body.rotation)}">${joint}${geoms}</body>`;
  });
  const option = options[setting];
  return `<mujoco><compiler autolimits="true"/><option gravity="${numbers(scene.gravity)}" ${option}/>
    <size memory="200M"/><asset>${assets.join("\n")}</asset><worldbody>${bodies.join("\n")}</worldbody></mujoco>`;
}

async function makeEngine(scene, setting) {
  const mujoco = await loadMujoco();
  const model = mujoco.MjModel.from_xml_string(sceneText(scene, setting));
  const dynamic = scene.bodies.map((_, i) => i).filter((i) => scene.bodies[i].dynamic);
  // Body 0 is the world. A mass given in the file scales what density and shapes have given.
  for (const i of dynamic) {
    if (!(scene.bodies[i].mass > 0)) continue;
    const scale = scene.bodies[i].mass / model.body_mass[i + 1];
    model.body_mass[i + 1] *= scale;
    for (let k = 0; k < 3; k++) model.body_inertia[3 * (i + 1) + k] *= scale;
  }
  const data = new mujoco.MjData(model);
  mujoco.mj_setConst(model, data);
  mujoco.mj_resetData(model, data);
  // A free joint's velocity: linear in the world's frame, angular in the body's.
  dynamic.forEach((i, k) => {
    const [w, x, y, z] = scene.bodies[i].rotation;
    const local = rotate([w, -x, -y, -z], scene.bodies[i].angularVelocity);
    for (let c = 0; c < 3; c++) {
      data.qvel[6 * k + c] = scene.bodies[i].velocity[c];
      data.qvel[6 * k + 3 + c] = local[c];
    }
  });
  mujoco.mj_forward(model, data);
  const centres = new Float64Array(3 * dynamic.length);
  return {
    name: "MuJoCo",
    version: mujoco.mj_versionString(),
    settings: descriptions[setting],
    h: model.opt.timestep,
    step: () => mujoco.mj_step(model, data),
    centres() {
      // Positions are those of the last forward pass, half a step's work behind qpos: bring them up to date.
      mujoco.mj_kinematics(model, data);
      mujoco.mj_comPos(model, data);
      const all = data.xipos;
      dynamic.forEach((i, k) => {
        for (let c = 0; c < 3; c++) centres[3 * k + c] = all[3 * (i + 1) + c];
      });
      return centres;
    },
    penetration() {
      let depth = 0;
      const contacts = data.contact;
      for (let i = 0; i < contacts.size(); i++) {
        const contact = contacts.get(i);
        depth = Math.max(depth, -contact.dist);
        contact.delete();
      }
      contacts.delete();
      return depth;
    },
    contacts: () => data.ncon,
  };
}

await driverMain(makeEngine);
