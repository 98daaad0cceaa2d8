// A scene as text that can be edited: JSON with comments in, JSON out (docs/scenes.md). Nothing here is checked beyond what editing needs; the program checks
// the whole text when it opens it.
import type { Vec3 } from "./protocol";

export type Quaternion = [number, number, number, number]; // w, x, y, z
export interface Shape { kind: string; size?: Vec3; radius?: number; length?: number; height?: number; semi_axes?: Vec3; [key: string]: unknown }
export interface BodyText {
  name?: string; kind?: string; position?: Vec3; rotation?: unknown; material?: string; mu?: number; mass?: number; shapes?: Shape[];
  velocity?: Vec3; angular_velocity?: Vec3; deformable?: unknown; reduced?: number[]; reduced_rate?: number[]; [key: string]: unknown;
}
export interface SceneDocument {
  drystone: number; name?: string; materials?: Record<string, { mu?: number; e?: number }>; bodies: BodyText[]; joints?: { bodies?: string[] }[];
  interfaces?: { bodies?: string[] }[];
  [key: string]: unknown;
}

/* Shapes that can be added, with the names of their lengths. */
export const SHAPES: Record<string, string[]> = {
  box: ["size"], sphere: ["radius"], cylinder: ["radius", "length"], capsule: ["radius", "length"], cone: ["radius", "height"], ellipsoid: ["semi_axes"],
};

/* Comments become blanks, but not inside texts. */
export function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part[0] === '"' ? part : part.replace(/[^\n]/g, " ")));
}

export function parseScene(text: string): SceneDocument {
  const scene = JSON.parse(withoutComments(text)) as SceneDocument;
  if (typeof scene !== "object" || scene === null || !Array.isArray(scene.bodies)) throw new Error('a scene has an array "bodies"');
  return scene;
}

/* Two blanks per level; arrays of numbers in one line. */
export function printScene(scene: SceneDocument): string {
  return `${JSON.stringify(scene, null, 2).replace(/\[\s+(-?[\d.eE+-]+(?:,\s+-?[\d.eE+-]+)*)\s+\]/g, (_, inner: string) => `[${inner.replace(/\s+/g, " ")}]`)}\n`;
}

/* A name that no body has yet: "box 2". */
export function freshName(scene: SceneDocument, stem: string): string {
  const taken = new Set(scene.bodies.map((body) => body.name)), base = stem.replace(/ \d+$/, "");
  for (let k = 1; ; k++) if (!taken.has(`${base} ${k}`)) return `${base} ${k}`;
}

/* A shape of about that size. */
export function makeShape(kind: string, size: number): Shape {
  const s = tidy(size);
  switch (kind) {
    case "sphere": return { kind, radius: tidy(s / 2) };
    case "cylinder": return { kind, radius: tidy(s / 2), length: s };
    case "capsule": return { kind, radius: tidy(s / 4), length: tidy(s / 2) };
    case "cone": return { kind, radius: tidy(s / 2), height: s };
    case "ellipsoid": return { kind, semi_axes: [tidy(s / 2), tidy(s / 3), tidy(s / 4)] };
    default: return { kind: "box", size: [s, s, s] };
  }
}

/* Three significant digits: what is placed by hand is no more exact. */
export function tidy(x: number): number { return Number(x.toPrecision(3)); }

export function addBody(scene: SceneDocument, kind: string, size: number, position: Vec3): number {
  const material = Object.keys(scene.materials ?? {})[0];
  scene.bodies.push({ name: freshName(scene, kind), position: position.map(tidy) as Vec3, ...(material ? { material } : {}), shapes: [makeShape(kind, size)] });
  return scene.bodies.length - 1;
}

export function copyBody(scene: SceneDocument, body: number, offset: Vec3): number {
  const copy = structuredClone(scene.bodies[body]), from = copy.position ?? [0, 0, 0];
  copy.name = freshName(scene, copy.name ?? "body");
  copy.position = from.map((x, i) => x + offset[i]) as Vec3;
  scene.bodies.push(copy);
  return scene.bodies.length - 1;
}

/* With the joints that it has. */
export function deleteBody(scene: SceneDocument, body: number): void {
  const [gone] = scene.bodies.splice(body, 1);
  if (!gone.name || !scene.joints) return;
  scene.joints = scene.joints.filter((joint) => !joint.bodies?.includes(gone.name!));
  if (!scene.joints.length) delete scene.joints;
}

/* Interfaces are where bodies touch at the start: without those of bodies that are gone, or have another place or form than before. Poses of frames have seven
 * digits. */
export function dropInterfaces(scene: SceneDocument, before: SceneDocument): void {
  if (!scene.interfaces) return;
  const old = new Map(before.bodies.map((body) => [body.name, body])), far = Math.max(...before.bodies.flatMap((body) => (body.position ?? [0]).map(Math.abs)));
  const stays = (body: BodyText): boolean => {
    const was = old.get(body.name), at = body.position ?? [0, 0, 0], from = was?.position ?? [0, 0, 0];
    if (!was || JSON.stringify(body.shapes) !== JSON.stringify(was.shapes)) return false;
    const q = rotationOf(was), turned = 1 - Math.abs(rotationOf(body).reduce((sum, x, i) => sum + x * q[i], 0));
    return turned < 1e-11 && at.every((x, i) => Math.abs(x - from[i]) <= 1e-6 * far);
  };
  const kept = new Set(scene.bodies.filter(stays).map((body) => body.name));
  scene.interfaces = scene.interfaces.filter((one) => one.bodies?.every((name) => kept.has(name)));
  if (!scene.interfaces.length) delete scene.interfaces;
}

export function setMaterial(scene: SceneDocument, body: number, name: string): void {
  const { [body]: target } = scene.bodies;
  scene.materials ??= {};
  scene.materials[name] ??= { mu: target.mu ?? 0.5 };
  target.material = name;
  delete target.mu;
  delete target.e;
}

/* The rotation of a body as a unit quaternion. */
export function rotationOf(body: BodyText): Quaternion {
  const r = body.rotation as Quaternion | { axis: Vec3; degrees?: number; radians?: number } | undefined;
  if (!r) return [1, 0, 0, 0];
  if (Array.isArray(r)) return r;
  const angle = (r.radians ?? ((r.degrees ?? 0) * Math.PI) / 180) / 2, n = Math.hypot(...r.axis) || 1;
  return [Math.cos(angle), ...(r.axis.map((x) => (Math.sin(angle) * x) / n) as Vec3)];
}

/* Turned about an axis of the world, degrees. */
export function turnBody(scene: SceneDocument, body: number, axis: 0 | 1 | 2, degrees: number): void {
  const half = (degrees * Math.PI) / 360, a: Quaternion = [Math.cos(half), 0, 0, 0], b = rotationOf(scene.bodies[body]);
  a[axis + 1] = Math.sin(half);
  const q: Quaternion = [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
  const n = Math.hypot(...q);
  scene.bodies[body].rotation = q.map((x) => x / n);
}

/* The present becomes the start: poses and reduced coordinates of a frame, at rest. */
export function startFrom(scene: SceneDocument, pose: ArrayLike<number>, coordinate: ArrayLike<number>, reduced: { first: number; count: number }[]): void {
  scene.bodies.forEach((body, b) => {
    if ((body.kind ?? "dynamic") !== "dynamic") return;
    const q = [0, 1, 2, 3].map((i) => pose[7 * b + 3 + i]), n = Math.hypot(...q);
    body.position = [0, 1, 2].map((i) => pose[7 * b + i]) as Vec3;
    body.rotation = q.map((x) => x / n);
    delete body.velocity;
    delete body.angular_velocity;
    const { first, count } = reduced[b];
    if (count) body.reduced = Array.from({ length: count }, (_, i) => coordinate[first + i]);
    delete body.reduced_rate;
  });
}

// ---- a scene in a link ----

async function throughStream(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes as BlobPart]).stream().pipeThrough(stream)).arrayBuffer());
}

/* Compressed, in letters that a link may hold. */
export async function packScene(text: string): Promise<string> {
  const bytes = await throughStream(new TextEncoder().encode(JSON.stringify(JSON.parse(withoutComments(text)))), new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export async function unpackScene(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  return printScene(parseScene(new TextDecoder().decode(await throughStream(bytes, new DecompressionStream("deflate-raw")))));
}
