// Messages of the protocol made by hand: a synthetic scene of n boxes with contacts and, at wish, a deformable bar; for tests that need no program.
const VERSION = 1;

export function message(type, body) {
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const whole = Buffer.alloc(16 + Math.ceil(bytes.length / 8) * 8);
  whole.writeUInt32LE(type, 0);
  whole.writeUInt32LE(VERSION, 4);
  whole.writeUInt32LE(bytes.length, 8);
  bytes.copy(whole, 16);
  return whole;
}

export const json = (type, value) => message(type, JSON.stringify(value));

class Writer {
  parts = [];
  u32(...values) { this.parts.push(Buffer.from(new Uint32Array(values).buffer)); return this; }
  f32(...values) { this.parts.push(Buffer.from(new Float32Array(values.flat()).buffer)); return this; }
  f64(...values) { this.parts.push(Buffer.from(new Float64Array(values).buffer)); return this; }
  done(type) { return message(type, Buffer.concat(this.parts)); }
}

export function hello(mode, more = {}) { return json(1, { protocol: 1, program: "fixture", mode, scenes: [], ...more }); }

/* A box of half sizes a, b, c with flat sides: 24 vertices. With modes: bending and stretching of a bar along x. */
export function boxGeometry(index, [a, b, c], modes = 0) {
  const position = [], normal = [], corner = [], crease = [];
  for (let axis = 0; axis < 3; axis++)
    for (const side of [-1, 1]) {
      const base = position.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const p = [0, 0, 0], n = [0, 0, 0];
        p[axis] = n[axis] = side;
        p[(axis + 1) % 3] = u;
        p[(axis + 2) % 3] = v;
        position.push(p[0] * a, p[1] * b, p[2] * c);
        normal.push(...n);
      }
      corner.push(...(side > 0 ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2]).map((k) => base + k));
      crease.push(base, base + 1, base + 1, base + 2, base + 2, base + 3, base + 3, base);
    }
  const mode = [];
  for (let i = 0; i < modes; i++)
    for (let v = 0; v < position.length; v += 3) mode.push(i === 1 ? position[v] : 0, 0, i === 0 ? position[v] ** 2 / a : 0);
  return new Writer().u32(index, modes ? 2 : 0, position.length / 3, corner.length / 3, crease.length / 2, modes, 0, 0)
    .f32(position).f32(normal).u32(...corner).u32(...crease).f32(mode).done(3);
}

/* A ball of radius r, or a capsule of half length h along z: rings of s vertices, the equator twice. Its levels have every second (fourth, fifth, tenth) vertex of every second ring. */
export function ballGeometry(index, r, s, h = 0) {
  const position = [], normal = [];
  for (let i = 0; i <= s / 2 + 1; i++) {
    const ring = i <= s / 4 ? i : i - 1, angle = (2 * Math.PI * ring) / s, side = i <= s / 4 ? 1 : -1;
    for (let k = 0; k < s; k++) {
      const turn = (2 * Math.PI * k) / s, n = [Math.sin(angle) * Math.cos(turn), Math.sin(angle) * Math.sin(turn), Math.cos(angle)];
      normal.push(...n);
      position.push(r * n[0], r * n[1], r * n[2] + side * h);
    }
  }
  const every = (stride) => {
    const rings = Array.from({ length: s / 2 + 2 }, (_, i) => i).filter((i) => (i <= s / 4 ? i : i - 1) % stride === 0), corner = [];
    for (let i = 0; i + 1 < rings.length; i++)
      for (let k = 0; k < s; k += stride) {
        const a = rings[i] * s + k, b = rings[i] * s + ((k + stride) % s), below = (rings[i + 1] - rings[i]) * s;
        if (i > 0) corner.push(a, a + below, b);
        if (i + 2 < rings.length) corner.push(b, a + below, b + below);
      }
    return corner;
  };
  const [finest, ...levels] = [1, 2, 4, 5, 10].filter((stride) => (s / 2) % stride === 0 && s / stride >= 4).map((stride) => ({ stride, corner: every(stride) }));
  const writer = new Writer().u32(index, 0, position.length / 3, finest.corner.length / 3, 0, 0, levels.length, 0).f32(position).f32(normal).u32(...finest.corner);
  for (const level of levels) writer.u32(level.corner.length / 3).f32(r * (1 - Math.cos((Math.PI * level.stride) / s)));
  for (const level of levels) writer.u32(...level.corner);
  return writer.done(3);
}

export const halfSpace = (index) => new Writer().u32(index, 1, 0, 0, 0, 0, 0, 0).done(3);

/* A field of n bodies of so many forms on a floor, the first of them soft where asked. */
export function scene(n, { soft = false, frames = 0, mu = 0.5, forms = 1, joints = undefined } = {}) {
  const bodies = [{ name: "floor", kind: "static", color: [0.5, 0.5, 0.5], mass: 0, material: 0, parts: [{ geometry: 0, position: [0, 0, 0], rotation: [1, 0, 0, 0] }], first_reduced: 0, reduced: 0 }];
  for (let k = 0; k < n; k++)
    bodies.push({ name: `box ${k}`, kind: soft && k === 0 ? "deformable" : "rigid", color: [0.4 + 0.4 * ((k * 0.37) % 1), 0.5, 0.6], mass: 1, material: 0,
      parts: [{ geometry: 1 + (soft && k === 0 ? forms : k % forms), position: [0, 0, 0], rotation: [1, 0, 0, 0] }], first_reduced: 0, reduced: soft && k === 0 ? 2 : 0 });
  const side = Math.ceil(Math.sqrt(n));
  return json(2, { name: "fixture", source: "fixture", step: 0.01, time: frames * 0.01, tolerance: 1e-8, method: "coupled", methods: ["coupled", "gauss-seidel"], gravity: [0, 0, -9.81], frames, geometries: 1 + forms + (soft ? 1 : 0),
    reduced: soft ? 2 : 0, up: [0, 0, 1], eye: [0.6 * side, -1 * side, 0.6 * side], look: [0, 0, 0.3], near_size: 0.4, materials: [{ name: "wood", mu }], bodies, joints });
}

/* Boxes, or what `form` makes of an index and a number from 0 to 1. */
export const geometries = (soft, { forms = 1, form = (index, x) => boxGeometry(index, [0.2, 0.15, 0.1 + 0.1 * x]) } = {}) =>
  [halfSpace(0), ...Array.from({ length: forms }, (_, k) => form(1 + k, k / forms)), ...(soft ? [boxGeometry(1 + forms, [0.4, 0.15, 0.1], 2)] : [])];

/* Boxes that rock; 4 contacts each. */
export function frame(step, n, { soft = false, contactsEach = 4, missed = [] } = {}) {
  const time = step * 0.01, side = Math.ceil(Math.sqrt(n)), w = new Writer();
  w.f64(step, time).u32(n + 1, soft ? 2 : 0, n * contactsEach, n * contactsEach, missed.includes(step) ? 0 : 1, 16);
  w.f32([1, 3, 2, 1e-9, 1e-12, 1e-10, Math.abs(Math.sin(time)), 2, 0, n * contactsEach, n, 0.1, 0.2, 0.1, 1 + Math.sin(time), 0.05]);
  const pose = [0, 0, 0, 1, 0, 0, 0], velocity = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < n; k++) {
    const angle = 0.2 * Math.sin(3 * time + k);
    pose.push(((k % side) - side / 2) * 0.6, (Math.floor(k / side) - side / 2) * 0.6, 0.12 + 0.05 * Math.abs(Math.sin(2 * time + k)), Math.cos(angle), 0, 0, Math.sin(angle));
    velocity.push(0, 0, 0.1, 0, 0, 0.6);
  }
  w.f32(pose).f32(velocity);
  if (soft) w.f32([0.5 * Math.sin(5 * time), 0.2 * Math.sin(7 * time)]);
  for (let k = 0; k < n; k++)
    for (let c = 0; c < contactsEach; c++) {
      const x = pose[7 * (k + 1)] + (c & 1 ? 0.2 : -0.2), y = pose[7 * (k + 1) + 1] + (c & 2 ? 0.15 : -0.15);
      w.u32(k + 1, 0).f32([x, y, 0, 0, 0, 1, 0.01 * ((k % 3) - 1), 0, 0.025, 0, 0, 0, 0, 0.5]).u32(1 + (k % 2), k);
    }
  return w.done(4);
}

export function recording(n, frames, options = {}) {
  return Buffer.concat([hello("recording"), scene(n, { ...options, frames }), ...geometries(options.soft, options),
    ...Array.from({ length: frames }, (_, k) => frame(k, n, options)), message(10, Buffer.alloc(0))]);
}
