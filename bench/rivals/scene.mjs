// A scene file as the drivers under node need it; scene.hpp is the same for the C++ drivers, with the same limits: what
// would change the motion and is not supported throws.
import { readFileSync } from "node:fs";

// JSON with // and block comments, which are cut outside of strings.
export function parseScene(text) {
  const plain = text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (whole, string) => string ?? " ");
  return JSON.parse(plain);
}

function rotation(value) {
  if (value === undefined) return [1, 0, 0, 0];
  let q = value;
  if (!Array.isArray(value)) {
    const angle = value.radians ?? ((value.degrees ?? 0) * Math.PI) / 180;
    const s = Math.sin(angle / 2) / Math.hypot(...value.axis);
    q = [Math.cos(angle / 2), s * value.axis[0], s * value.axis[1], s * value.axis[2]];
  }
  const n = Math.hypot(...q);
  return q.map((c) => c / n);
}

export function multiply(a, b) {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

export function rotate(q, v) {
  const [w, x, y, z] = q;
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [
    v[0] + w * t[0] + y * t[2] - z * t[1],
    v[1] + w * t[1] + z * t[0] - x * t[2],
    v[2] + w * t[2] + x * t[1] - y * t[0],
  ];
}

export function place(position, q, v) {
  const r = rotate(q, v);
  return [position[0] + r[0], position[1] + r[1], position[2] + r[2]];
}

const mix = {
  geometric: (a, b) => Math.sqrt(a * b),
  min: Math.min,
  max: Math.max,
  average: (a, b) => (a + b) / 2,
  product: (a, b) => a * b,
};

function readBody(json, materials, names) {
  for (const key of ["motion", "force", "torque"])
    if (json[key] !== undefined) throw new Error(`this driver does not support "${key}"`);
  if (json.release_time > 0) throw new Error('this driver does not support "release_time"');
  let material = 0;
  if (json.material !== undefined) {
    material = names.get(json.material);
    if (material === undefined) throw new Error(`unknown material "${json.material}"`);
  } else if (json.mu !== undefined || json.e !== undefined) {
    material = materials.push({ mu: json.mu ?? 0.5, e: json.e ?? 0 }) - 1;
  }
  return {
    dynamic: (json.kind ?? "dynamic") === "dynamic",
    position: json.position ?? [0, 0, 0],
    rotation: rotation(json.rotation),
    velocity: json.velocity ?? [0, 0, 0],
    angularVelocity: json.angular_velocity ?? [0, 0, 0],
    material,
    mass: json.mass ?? 0,
    linearDamping: json.linear_damping ?? 0,
    angularDamping: json.angular_damping ?? 0,
    shapes: (json.shapes ?? []).map((shape) => ({
      ...shape,
      position: shape.position ?? [0, 0, 0],
      rotation: rotation(shape.rotation),
      density: shape.density ?? json.density ?? 1000,
    })),
  };
}

export function readScene(path) {
  const json = parseScene(readFileSync(path, "utf8"));
  if (json.joints?.length > 0) throw new Error('this driver does not support "joints"');
  const materials = [{ mu: 0.5, e: 0 }];
  const names = new Map();
  for (const [name, material] of Object.entries(json.materials ?? {}))
    if (typeof material === "object")
      names.set(name, materials.push({ mu: material.mu ?? 0.5, e: material.e ?? 0 }) - 1);
  const bodies = (json.bodies ?? []).map((body) => readBody(body, materials, names));
  const n = materials.length;
  const table = (key, rule) => materials.flatMap((a) => materials.map((b) => rule(a[key], b[key])));
  const mu = table("mu", mix[json.friction_rule ?? "geometric"]);
  const e = table("e", mix[json.restitution_rule ?? "max"]);
  for (const pair of json.pairs ?? []) {
    const [i, j] = pair.materials.map((name) => names.get(name));
    mu[i * n + j] = mu[j * n + i] = pair.mu ?? mu[i * n + j];
    e[i * n + j] = e[j * n + i] = pair.e ?? e[i * n + j];
  }
  const pair = (values) => (a, b) => values[a.material * n + b.material];
  return { name: json.name ?? "", gravity: json.gravity ?? [0, 0, -9.81], bodies, pairMu: pair(mu), pairE: pair(e) };
}

// One coefficient a body, with which the engine's own rule for pairs gives the file's coefficient for every pair; an
// engine that cannot express the file's table is not run with a wrong one.
export function bodyCoefficients(scene, pairValue, rule, what) {
  const own = scene.bodies.map((body) => pairValue(body, body));
  const seen = new Map();
  scene.bodies.forEach((body, i) => seen.set(`${body.material},${body.dynamic}`, i));
  for (const i of seen.values())
    for (const j of seen.values()) {
      const [a, b] = [scene.bodies[i], scene.bodies[j]];
      if (!a.dynamic && !b.dynamic) continue;
      if (Math.abs(rule(own[i], own[j]) - pairValue(a, b)) > 1e-12)
        throw new Error(`this engine's rule for pairs cannot express the scene's ${what}`);
    }
  return own;
}

export const maxRule = Math.max;
export const geometricRule = mix.geometric;

// Longest side of a body's box in its own frame, for the rule of what has fallen.
export function longestSide(body) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const take = (p) => p.forEach((c, i) => ((low[i] = Math.min(low[i], c)), (high[i] = Math.max(high[i], c))));
  for (const shape of body.shapes) {
    const r = shape.radius ?? 0;
    let half = [r, r, (shape.length ?? 0) / 2 + (shape.kind === "capsule" ? r : 0)];
    if (shape.kind === "sphere") half = [r, r, r];
    if (shape.kind === "box") half = shape.size.map((c) => c / 2);
    const corners = shape.points ?? [0, 1, 2, 3, 4, 5, 6, 7].map((i) => half.map((c, k) => ((i >> k) & 1 ? c : -c)));
    for (const p of corners) take(place(shape.position, shape.rotation, p));
  }
  return Math.max(...high.map((c, i) => c - low[i]));
}
