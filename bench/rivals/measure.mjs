// What the drivers under node measure, and the loop that measures it: the same quantities as measure.hpp, see there.
//
// Processor time is that of the whole node process (user and system) around the steps: compiling WebAssembly and
// collecting garbage are in it, as is the slower code of WebAssembly itself. Reading positions and contacts is not.
import { longestSide, readScene } from "./scene.mjs";

export function readArguments(argv) {
  const out = { scene: "", setting: "shipped", time: 10, cpuLimit: Infinity, keepGoing: false, probe: 0.25 };
  for (let i = 2; i < argv.length; i++) {
    const word = argv[i];
    if (word === "--keep-going") out.keepGoing = true;
    else if (!word.startsWith("--")) out.scene = word;
    else if (i + 1 >= argv.length) throw new Error(`${word} needs a value`);
    else if (word === "--time") out.time = Number(argv[++i]);
    else if (word === "--cpu-limit") out.cpuLimit = Number(argv[++i]);
    else if (word === "--probe") out.probe = Number(argv[++i]); // s between looks at overlaps
    else if (word === "--setting") out.setting = argv[++i];
    else throw new Error(`unknown option ${word}`);
  }
  if (!out.scene || !(out.time > 0) || !(out.probe > 0) || !["shipped", "tuned", "noslip"].includes(out.setting))
    throw new Error("usage: driver.mjs SCENE.json [--setting shipped|tuned] [--time S] [--cpu-limit S] [--probe S] " +
      "[--keep-going]");
  return out;
}

function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return 1e-6 * (user + system);
}

const distance = (a, i, b) => Math.hypot(a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2]);

// The engine: { name, version, settings, h, step(), centres() -> Float64Array, penetration(), contacts() }, and, where
// it has them, substeps of a step, prepareDeep(), called before a step whose contacts will be asked for, and energy(), kinetic
// and of height, J: its rises from look to look, every 10 ms, are summed.
function run(engine, scene, options) {
  const { h } = engine;
  const sides = scene.bodies.filter((body) => body.dynamic).map(longestSide);
  const steps = Math.round(options.time / h), every = Math.max(1, Math.round(0.01 / h));
  const probe = Math.max(1, Math.round(options.probe / h));
  const start = Float64Array.from(engine.centres());
  const out = { displacement_max: 0, displacement_settled_max: null, creep_max: null };
  Object.assign(out, { penetration_max: 0, fell_at: null });
  let energy = engine.energy ? engine.energy() : null;
  Object.assign(out, { energy_start: energy, energy_gained: energy === null ? null : 0, energy_gain_max: energy && 0 });
  let settled = null, tenth = null, tenthTime = 0, cpu = 0, stopped = null, finite = true, contacts = 0, step = 1;
  const look = (time) => {
    const now = engine.centres();
    if (energy !== null) {
      const rise = engine.energy() - energy;
      out.energy_gained += Math.max(0, rise);
      out.energy_gain_max = Math.max(out.energy_gain_max, rise);
      energy += rise;
    }
    for (let i = 0; i < now.length; i += 3) {
      const moved = distance(now, i, start);
      if (!Number.isFinite(moved)) {
        finite = false;
        out.fell_at ??= time;
        continue;
      }
      out.displacement_max = Math.max(out.displacement_max, moved);
      if (moved > sides[i / 3] / 2) out.fell_at ??= time;
      if (settled)
        out.displacement_settled_max = Math.max(out.displacement_settled_max, distance(now, i, settled));
    }
    if (!settled && time >= 1 - 1e-9) {
      settled = Float64Array.from(now);
      out.displacement_settled_max = 0;
    }
    if (!tenth && time >= 0.9 * options.time - 1e-9) {
      tenth = Float64Array.from(now);
      tenthTime = time;
    } else if (tenth) {
      out.creep_max = 0;
      for (let i = 0; i < now.length; i += 3)
        out.creep_max = Math.max(out.creep_max, distance(now, i, tenth) / (time - tenthTime));
    }
  };
  let begin = cpuSeconds();
  for (; step <= steps; step++) {
    const last = step === steps, deep = step % probe === 0 || last || step === 1;
    if (deep && engine.prepareDeep) {
      cpu += cpuSeconds() - begin;
      engine.prepareDeep();
      begin = cpuSeconds();
    }
    engine.step();
    if (step % every !== 0 && !deep) continue;
    cpu += cpuSeconds() - begin;
    look(step * h);
    if (deep) {
      out.penetration_max = Math.max(out.penetration_max, engine.penetration());
      contacts = engine.contacts();
    }
    if (last || (out.fell_at !== null && !options.keepGoing)) break;
    if (cpu > options.cpuLimit) {
      stopped = "cpu-limit";
      break;
    }
    begin = cpuSeconds();
  }
  const time = step * h;
  return {
    engine: engine.name, version: engine.version, setting: options.setting,
    settings: engine.settings, step: h, substeps: engine.substeps ?? 1, steps: step, time, bodies: sides.length,
    contacts, ...out,
    cpu_per_second: cpu / time, stopped, finite,
  };
}

// The main of a driver: makeEngine(scene, setting) may be asynchronous. Exit code 2 where the scene cannot be run.
export async function driverMain(makeEngine) {
  try {
    const options = readArguments(process.argv);
    const scene = readScene(options.scene);
    const engine = await makeEngine(scene, options.setting);
    process.stdout.write(JSON.stringify(run(engine, scene, options)) + "\n");
  } catch (error) {
    process.stderr.write(`${process.argv[1]}: ${error?.stack ?? error}\n`);
    process.exitCode = 2;
  }
}
