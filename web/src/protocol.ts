// The messages of docs/protocol.md, version 1: decoded from bytes and encoded to bytes. Input is not trusted:
// every count is checked against the length before an array is created, every index against its table, and bad input
// throws a ProtocolError that says what was expected.
//
// Arrays are views onto the message's own buffer, not copies: a recording of 400 MB is held once.

export const VERSION = 1;
export const HEADER = 16;
export const MOST_BYTES = 1 << 30; // of one message

export const enum Type {
  Hello = 1, Scene, Geometry, Frame, Status, Spheres, Field, Error, Taken, End, Verdict, SceneText,
  Play = 64, Pause, Step, Reset, Open, Set, Grab, Move, Release, Want, Probe, Seen, Picture, Stand, AskText, OpenText,
}

export class ProtocolError extends Error {}

export type Vec3 = [number, number, number];

export interface Parameter {
  name: string; unit: string; summary: string; initial: string; low: number; high: number; integer: boolean; choices: string[];
}
export interface SceneChoice { name: string; summary: string; parameters: Parameter[] }
export interface Film {
  width: number; height: number; rate: number; speed: number; show: string; from: number; to: number; dark: boolean;
  view: [number, number] | null; look: Vec3 | null; zoom: number; follow: number; // view: azimuth, elevation, degrees; follow: a body, -1 = none
}
export interface Hello { program: string; mode: "live" | "recording" | "film"; film: Film; scenes: SceneChoice[] }

export interface Part { geometry: number; position: Vec3; rotation: [number, number, number, number] }
export interface Body {
  name: string; kind: string; color: Vec3; mass: number; material: number; parts: Part[]; firstReduced: number; reduced: number;
}
export interface Scene {
  name: string; source: string; step: number; time: number; tolerance: number; method: string; methods: string[]; gravity: Vec3;
  frames: number; geometries: number; reduced: number; up: Vec3; eye: Vec3; look: Vec3; nearSize: number;
  materials: { name: string; mu: number }[]; bodies: Body[]; joints: Joint[];
}
export interface Joint { name: string; kind: string; a: number; b: number; point: Vec3; axis: Vec3 } // in the frame of body a

const MOST_LEVELS = 100;
export const enum Kind { Mesh = 0, HalfSpace = 1, Deformable = 2 }
export interface Level { corner: Uint32Array; error: number } // error: metres between the surfaces, estimated
export interface Geometry {
  index: number; kind: Kind; vertices: number; modes: number;
  position: Float32Array; normal: Float32Array; corner: Uint32Array; crease: Uint32Array; mode: Float32Array;
  levels: Level[]; // coarser surfaces over the same vertices, finest first
}

export interface Frame {
  step: number; time: number; bodies: number; contacts: number; contactsFound: number; flags: number; bytes: number;
  statistic: Float32Array; pose: Float32Array; velocity: Float32Array; coordinate: Float32Array;
  contactF: Float32Array; contactU: Uint32Array; handF: Float32Array | null; handU: Uint32Array | null;
}
export const CONVERGED = 1, HAND = 2, LEFT_OUT = 4, MISSED = 8;

// Words of a contact, and of the hand.
export const enum At { A = 0, B = 1, Point = 2, Normal = 5, Impulse = 8, Velocity = 11, Gap = 14, Mu = 15, Mode = 16, Island = 17 }
export const CONTACT_WORDS = 18;
export const enum Hand { Body = 0, Grip = 1, Target = 4, Force = 7, Torque = 10, Stiffness = 13 }
export const HAND_WORDS = 14;
export const OPEN = 0, STICK = 1, SLIDE = 2;
export const NO_ISLAND = 0xffffffff;

export interface Status {
  paused: boolean; speed: number; realtime: number; skipped: number; clients: number; tolerance: number; method: string;
  gravity: Vec3; mu: number[]; time: number; failed: string;
}
export interface Spheres { body: number; count: number; sphere: Float32Array } // 8 floats each
export interface Field {
  body: number; columns: number; rows: number; origin: Vec3; along: Vec3; up: Vec3; value: Float32Array;
}

export interface Verdict { verdict: string; proof: string; blocks: number; interfaces: number; points: number; time: number; lines: Float32Array; used: Float32Array } // LINE_WORDS floats each; how much of friction or section bodies use, none without an equilibrium
export const LINE_WORDS = 7; // from, to, kind: 0 thrust, 1 on a support, 2 motion
export const NO_BODY = 0xffffffff;

export type Message =
  | { type: Type.Hello; hello: Hello } | { type: Type.Scene; scene: Scene } | { type: Type.Geometry; geometry: Geometry }
  | { type: Type.Frame; frame: Frame } | { type: Type.Status; status: Status } | { type: Type.Spheres; spheres: Spheres }
  | { type: Type.Field; field: Field } | { type: Type.Error; text: string } | { type: Type.Taken } | { type: Type.End }
  | { type: Type.Verdict; verdict: Verdict }
  | { type: Type.SceneText; text: string };

// ---- reading ------------------------------------------------------------------------------------------------------------

// Reads the bytes of one message; every call checks that they are there.
class Reader {
  private readonly view: DataView;
  private readonly end: number;
  constructor(private readonly buffer: ArrayBuffer, private at: number, length: number) {
    this.end = at + length;
    this.view = new DataView(buffer);
  }
  private take(bytes: number): number {
    if (bytes > this.end - this.at) throw new ProtocolError(`message ends early: ${this.end - this.at} bytes left, ${bytes} expected`);
    const from = this.at;
    this.at += bytes;
    return from;
  }
  u32(): number { return this.view.getUint32(this.take(4), true); }
  f64(): number { return finite(this.view.getFloat64(this.take(8), true), "number"); }
  floats(count: number): Float32Array { return new Float32Array(this.buffer, this.take(4 * count), count); }
  words(count: number): Uint32Array { return new Uint32Array(this.buffer, this.take(4 * count), count); }
  vec3(): Vec3 {
    const v = this.floats(3);
    if (!allFinite(v)) throw new ProtocolError("a vector is not finite");
    return [v[0], v[1], v[2]];
  }
  done(): void {
    if (this.at !== this.end) throw new ProtocolError(`message is ${this.end - this.at} bytes longer than its counts imply`);
  }
}

function finite(x: number, what: string): number {
  if (!Number.isFinite(x)) throw new ProtocolError(`${what} is not finite`);
  return x;
}

function allFinite(values: Float32Array): boolean {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * 0; // NaN and infinities do not give 0
  return sum === 0;
}

function allBelow(values: Uint32Array, limit: number): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] >= limit) return false;
  return true;
}

/* The length of the message that begins at `at`, with header and padding; 0 where more bytes are needed to know. */
export function messageBytes(view: DataView, at: number): number {
  if (view.byteLength - at < HEADER) return 0;
  const version = view.getUint32(at + 4, true), length = view.getUint32(at + 8, true);
  if (version !== VERSION) throw new ProtocolError(`version ${version}: this page reads version ${VERSION}; is this a recording for the page?`);
  if (length > MOST_BYTES) throw new ProtocolError(`a message of ${length} bytes is too large for this page`);
  return HEADER + Math.ceil(length / 8) * 8;
}

/* One message that begins at the start of the buffer. Counts that depend on the scene are checked by checkFrame. */
export function decode(buffer: ArrayBuffer): Message {
  const view = new DataView(buffer);
  const whole = messageBytes(view, 0);
  if (whole === 0 || whole > buffer.byteLength) throw new ProtocolError("message is shorter than announced in its header");
  const type = view.getUint32(0, true), length = view.getUint32(8, true);
  const text = () => new TextDecoder().decode(new Uint8Array(buffer, HEADER, length));
  const reader = new Reader(buffer, HEADER, length);
  switch (type) {
    case Type.Hello: return { type, hello: readHello(json(text())) };
    case Type.Scene: return { type, scene: readScene(json(text())) };
    case Type.Status: return { type, status: readStatus(json(text())) };
    case Type.Geometry: return { type, geometry: readGeometry(reader) };
    case Type.Frame: return { type, frame: readFrame(reader, whole) };
    case Type.Spheres: return { type, spheres: readSpheres(reader) };
    case Type.Field: return { type, field: readField(reader) };
    case Type.Error: return { type, text: text().slice(0, 4000) };
    case Type.Taken: return { type };
    case Type.End: return { type };
    case Type.Verdict: return { type, verdict: readVerdict(json(text())) };
    case Type.SceneText: return { type, text: text() };
    default: throw new ProtocolError(`message of unknown type ${type}`);
  }
}

function readGeometry(r: Reader): Geometry {
  const index = r.u32(), kind = r.u32(), n = r.u32(), m = r.u32(), e = r.u32(), modes = r.u32(), count = r.u32();
  r.u32();
  if (kind > Kind.Deformable) throw new ProtocolError(`geometry of unknown kind ${kind}`);
  if (kind === Kind.HalfSpace) {
    const none = new Float32Array(0), no = new Uint32Array(0);
    return { index, kind, vertices: 0, modes: 0, position: none, normal: none, corner: no, crease: no, mode: none, levels: [] };
  }
  const position = r.floats(3 * n), normal = r.floats(3 * n), corner = r.words(3 * m), crease = r.words(2 * e), mode = r.floats(modes * 3 * n);
  if (count > MOST_LEVELS) throw new ProtocolError(`a geometry of ${count} levels, at most ${MOST_LEVELS} expected`);
  const sizes = Array.from({ length: count }, () => ({ triangles: r.u32(), error: r.floats(1)[0] }));
  const levels = sizes.map(({ triangles, error }) => ({ corner: r.words(3 * triangles), error }));
  r.done();
  if (!allFinite(position) || !allFinite(normal) || !allFinite(mode)) throw new ProtocolError("a coordinate of a geometry is not finite");
  if (!levels.every(({ error }) => error >= 0 && Number.isFinite(error))) throw new ProtocolError("the error of a level is not a distance");
  if (!allBelow(corner, n) || !allBelow(crease, n) || !levels.every((level) => allBelow(level.corner, n))) throw new ProtocolError(`a corner of a geometry is not one of its ${n} vertices`);
  return { index, kind, vertices: n, modes, position, normal, corner, crease, mode, levels };
}

function readFrame(r: Reader, bytes: number): Frame {
  const step = r.f64(), time = r.f64(), bodies = r.u32(), reduced = r.u32(), contacts = r.u32(), contactsFound = r.u32();
  const flags = r.u32(), statistics = r.u32();
  const statistic = r.floats(statistics), pose = r.floats(7 * bodies), velocity = r.floats(6 * bodies), coordinate = r.floats(reduced);
  const contactU = r.words(CONTACT_WORDS * contacts);
  const contactF = new Float32Array(contactU.buffer as ArrayBuffer, contactU.byteOffset, contactU.length);
  const handU = flags & HAND ? r.words(HAND_WORDS) : null;
  const handF = handU ? new Float32Array(handU.buffer as ArrayBuffer, handU.byteOffset, HAND_WORDS) : null;
  r.done();
  if (statistics < 16) throw new ProtocolError(`${statistics} statistics in a frame, at least 16 expected`);
  if (!allFinite(pose) || !allFinite(coordinate)) throw new ProtocolError("a pose of a frame is not finite");
  return { step, time, bodies, contacts, contactsFound, flags, bytes, statistic, pose, velocity, coordinate, contactF, contactU, handF, handU };
}

/* A frame must fit its scene. */
export function checkFrame(frame: Frame, scene: Scene): void {
  const n = scene.bodies.length;
  if (frame.bodies !== n) throw new ProtocolError(`a frame of ${frame.bodies} bodies, the scene has ${n}`);
  if (frame.coordinate.length !== scene.reduced) throw new ProtocolError(`a frame of ${frame.coordinate.length} reduced coordinates, the scene has ${scene.reduced}`);
  for (let k = 0; k < frame.contacts; k++) {
    const at = k * CONTACT_WORDS;
    if (frame.contactU[at] >= n || frame.contactU[at + 1] >= n) throw new ProtocolError("a contact with a body that does not exist");
  }
  if (frame.handU && frame.handU[Hand.Body] >= n) throw new ProtocolError("a hand on a body that does not exist");
}

/* A geometry must have the modes that its bodies use, and a scene's parts must name geometries that are there. */
export function checkScene(scene: Scene): void {
  for (const body of scene.bodies) {
    for (const part of body.parts)
      if (!(part.geometry >= 0 && part.geometry < scene.geometries)) throw new ProtocolError(`body "${body.name}" has geometry ${part.geometry} of ${scene.geometries}`);
    if (body.firstReduced + body.reduced > scene.reduced) throw new ProtocolError(`body "${body.name}" has reduced coordinates beyond those of the scene`);
  }
  for (const joint of scene.joints) {
    if (joint.a >= scene.bodies.length || joint.b >= scene.bodies.length) throw new ProtocolError(`joint "${joint.name}" has a body that does not exist`);
  }
}

function readSpheres(r: Reader): Spheres {
  const body = r.u32(), count = r.u32(), sphere = r.floats(8 * count);
  r.done();
  if (!allFinite(sphere)) throw new ProtocolError("a sphere is not finite");
  return { body, count, sphere };
}

function readField(r: Reader): Field {
  const body = r.u32(), columns = r.u32(), rows = r.u32();
  r.u32();
  const origin = r.vec3(), along = r.vec3(), up = r.vec3(), value = r.floats(rows * columns);
  r.done();
  if (columns < 2 || rows < 2 || columns > 4096 || rows > 4096) throw new ProtocolError(`a field of ${columns} x ${rows} values, 2 to 4096 expected`);
  return { body, columns, rows, origin, along, up, value };
}

// ---- JSON: missing optional fields get a default, wrong ones are refused -----------------------------------------------

type Json = Record<string, unknown>;

function json(text: string): Json {
  let value: unknown;
  try { value = JSON.parse(text); } catch { throw new ProtocolError("invalid JSON"); }
  return object(value, "message");
}

function object(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new ProtocolError(`${what}: an object expected`);
  return value as Json;
}

function number(j: Json, key: string, absent?: number): number {
  const value = j[key];
  if (value === undefined && absent !== undefined) return absent;
  if (typeof value !== "number" || !Number.isFinite(value)) throw new ProtocolError(`"${key}": a number expected`);
  return value;
}

function count(j: Json, key: string, absent?: number): number {
  const value = number(j, key, absent);
  if (!Number.isInteger(value) || value < 0 || value > 1e9) throw new ProtocolError(`"${key}": a count expected`);
  return value;
}

function text(j: Json, key: string): string {
  const value = j[key];
  return value === undefined || value === null ? "" : String(value);
}

function list(j: Json, key: string): unknown[] {
  const value = j[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ProtocolError(`"${key}": a list expected`);
  return value;
}

function numbers(j: Json, key: string, n: number, absent?: number[]): number[] {
  if (j[key] === undefined && absent) return absent;
  const values = list(j, key);
  if (values.length !== n || !values.every((x) => typeof x === "number" && Number.isFinite(x))) throw new ProtocolError(`"${key}": ${n} numbers expected`);
  return values as number[];
}

function vec3(j: Json, key: string, absent?: Vec3): Vec3 { return numbers(j, key, 3, absent) as Vec3; }

function readHello(j: Json): Hello {
  if (number(j, "protocol") !== VERSION) throw new ProtocolError(`protocol ${j["protocol"]}: this page supports ${VERSION}; reload it from the program`);
  const mode = text(j, "mode");
  if (mode !== "live" && mode !== "recording" && mode !== "film") throw new ProtocolError(`unknown mode "${mode}"`);
  const film = mode === "film" ? object(j["film"], "film") : {};
  return {
    program: text(j, "program"), mode, scenes: list(j, "scenes").map(readChoice),
    film: {
      width: within(number(film, "width", 1280), 16, 8192), height: within(number(film, "height", 720), 16, 8192),
      rate: within(number(film, "rate", 30), 0.1, 1000), speed: within(number(film, "speed", 1), 1e-6, 1e6), show: text(film, "show"),
      from: number(film, "from", -1e9), to: number(film, "to", 1e9), dark: film["dark"] === true, zoom: within(number(film, "zoom", 1), 0.01, 100),
      view: film["view"] ? (numbers(film, "view", 2) as [number, number]) : null, look: film["look"] ? vec3(film, "look") : null, follow: number(film, "follow", -1),
    },
  };
}

function within(x: number, low: number, high: number): number {
  if (!(x >= low && x <= high)) throw new ProtocolError(`${x} is not between ${low} and ${high}`);
  return x;
}

function readChoice(value: unknown): SceneChoice {
  const j = object(value, "scene");
  return { name: text(j, "name"), summary: text(j, "summary"), parameters: list(j, "parameters").map(readParameter) };
}

function readParameter(value: unknown): Parameter {
  const j = object(value, "parameter"), choices = j["choices"];
  return {
    name: text(j, "name"), unit: text(j, "unit"), summary: text(j, "summary"), initial: text(j, "initial"),
    low: typeof j["low"] === "number" ? j["low"] : -Infinity, high: typeof j["high"] === "number" ? j["high"] : Infinity,
    integer: j["integer"] === true,
    choices: typeof choices === "string" ? choices.split("|").filter((c) => c !== "") : list(j, "choices").map(String),
  };
}

function readScene(j: Json): Scene {
  const bodies = list(j, "bodies").map(readBody);
  const scene: Scene = {
    name: text(j, "name"), source: text(j, "source"), step: number(j, "step", 0.01), time: number(j, "time", 0),
    tolerance: number(j, "tolerance", 0), method: text(j, "method"), methods: list(j, "methods").map(String), gravity: vec3(j, "gravity", [0, 0, 0]),
    frames: count(j, "frames", 0), geometries: count(j, "geometries"), reduced: count(j, "reduced", 0),
    up: vec3(j, "up", [0, 0, 1]), eye: vec3(j, "eye"), look: vec3(j, "look"), nearSize: number(j, "near_size", 0.1),
    materials: list(j, "materials").map((m) => ({ name: text(object(m, "material"), "name"), mu: number(object(m, "material"), "mu", 0) })), bodies,
    joints: list(j, "joints").map(readJoint),
  };
  if (!(scene.nearSize > 0)) scene.nearSize = 0.1;
  checkScene(scene);
  return scene;
}

function readBody(value: unknown): Body {
  const j = object(value, "body");
  return {
    name: text(j, "name"), kind: text(j, "kind"), color: vec3(j, "color", [0.7, 0.7, 0.7]), mass: number(j, "mass", 0),
    material: count(j, "material", 0), parts: list(j, "parts").map(readPart), firstReduced: count(j, "first_reduced", 0), reduced: count(j, "reduced", 0),
  };
}

function readJoint(value: unknown): Joint {
  const j = object(value, "joint");
  return { name: text(j, "name"), kind: text(j, "kind"), a: count(j, "a"), b: count(j, "b"), point: vec3(j, "point"), axis: vec3(j, "axis", [0, 0, 0]) };
}

function readPart(value: unknown): Part {
  const j = object(value, "part");
  return { geometry: count(j, "geometry"), position: vec3(j, "position", [0, 0, 0]), rotation: numbers(j, "rotation", 4, [1, 0, 0, 0]) as Part["rotation"] };
}

function readStatus(j: Json): Status {
  return {
    paused: j["paused"] === true, speed: number(j, "speed", 1), realtime: number(j, "realtime", 0), skipped: number(j, "skipped", 0),
    clients: number(j, "clients", 1), tolerance: number(j, "tolerance", 0), method: text(j, "method"), gravity: vec3(j, "gravity", [0, 0, 0]),
    mu: list(j, "mu").map(Number), time: number(j, "time", 0), failed: text(j, "failed"),
  };
}

function readVerdict(j: Json): Verdict {
  const lines = Float32Array.from(list(j, "lines").map(Number));
  if (lines.length % LINE_WORDS !== 0 || !allFinite(lines)) throw new ProtocolError("the lines of a verdict are not 7 numbers each");
  const used = Float32Array.from(list(j, "used").map(Number));
  if (!allFinite(used)) throw new ProtocolError("what bodies use is no number");
  return { verdict: text(j, "verdict"), proof: text(j, "proof"), blocks: number(j, "blocks", 0), interfaces: number(j, "interfaces", 0), points: number(j, "points", 0), time: number(j, "time", 0), lines, used };
}

// ---- writing ------------------------------------------------------------------------------------------------------------

function message(type: Type, length: number): DataView<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(HEADER + Math.ceil(length / 8) * 8));
  view.setUint32(0, type, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, length, true);
  return view;
}

function floats(view: DataView, at: number, values: readonly number[]): void {
  values.forEach((value, i) => view.setFloat32(at + 4 * i, value, true));
}

export function encodePlain(type: Type.Pause | Type.Reset | Type.Release | Type.AskText): ArrayBuffer { return message(type, 0).buffer; }

export function encodePlay(speed: number): ArrayBuffer {
  const view = message(Type.Play, 4);
  view.setFloat32(HEADER, speed, true);
  return view.buffer;
}

export function encodeStep(steps: number): ArrayBuffer {
  const view = message(Type.Step, 4);
  view.setUint32(HEADER, steps, true);
  return view.buffer;
}

export function encodeOpen(specification: string): ArrayBuffer {
  const bytes = new TextEncoder().encode(specification);
  const view = message(Type.Open, bytes.length);
  new Uint8Array(view.buffer).set(bytes, HEADER);
  return view.buffer;
}

export const enum Setting { Tolerance = 1, Gravity, Mu, Method, MuOfAll }
export function encodeSet(what: Setting, index: number, value: number): ArrayBuffer {
  const view = message(Type.Set, 16);
  view.setUint32(HEADER, what, true);
  view.setUint32(HEADER + 4, index, true);
  view.setFloat64(HEADER + 8, value, true);
  return view.buffer;
}

export function encodeGrab(body: number, point: Vec3, target: Vec3): ArrayBuffer {
  const view = message(Type.Grab, 28);
  view.setUint32(HEADER, body, true);
  floats(view, HEADER + 4, [...point, ...target]);
  return view.buffer;
}

export function encodeMove(target: Vec3): ArrayBuffer {
  const view = message(Type.Move, 12);
  floats(view, HEADER, target);
  return view.buffer;
}

export function encodeWant(contacts: 0 | 1 | 2, rate: number): ArrayBuffer {
  const view = message(Type.Want, 8);
  view.setUint32(HEADER, contacts, true);
  view.setUint32(HEADER + 4, rate, true);
  return view.buffer;
}

export function encodeProbe(what: 1 | 2, body: number, axis: number, place: number): ArrayBuffer {
  const view = message(Type.Probe, 16);
  view.setUint32(HEADER, what, true);
  view.setUint32(HEADER + 4, body, true);
  view.setUint32(HEADER + 8, axis, true);
  view.setFloat32(HEADER + 12, place, true);
  return view.buffer;
}

/* Friction -1: the scene's. Degrees. `full`: also what takes longer than a moment. */
/* A scene as JSON, under a name for messages and the picker. */
export function encodeOpenText(name: string, text: string): ArrayBuffer {
  const encoder = new TextEncoder(), called = encoder.encode(name), bytes = encoder.encode(text), view = message(Type.OpenText, 4 + called.length + bytes.length);
  view.setUint32(HEADER, called.length, true);
  new Uint8Array(view.buffer, HEADER + 4).set(called);
  new Uint8Array(view.buffer, HEADER + 4 + called.length).set(bytes);
  return view.buffer as ArrayBuffer;
}

export function encodeStand(mu: number, tilt: number, azimuth: number, removed: number, full: boolean): ArrayBuffer {
  const view = message(Type.Stand, 20);
  floats(view, HEADER, [mu, tilt, azimuth]);
  view.setUint32(HEADER + 12, removed, true);
  view.setUint32(HEADER + 16, full ? 1 : 0, true);
  return view.buffer;
}

export function encodeSeen(step: number): ArrayBuffer {
  const view = message(Type.Seen, 8);
  view.setFloat64(HEADER, step, true);
  return view.buffer;
}

export function encodePicture(index: number, of: number, png: Uint8Array): ArrayBuffer {
  const view = message(Type.Picture, 8 + png.length);
  view.setUint32(HEADER, index, true);
  view.setUint32(HEADER + 4, of, true);
  new Uint8Array(view.buffer).set(png, HEADER + 8);
  return view.buffer;
}
