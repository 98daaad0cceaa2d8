// Drystone in node and in browsers: the module drystone.wasm with names and types.
import { wasi } from "../src/wasi";

/** The scene text, or the same as an object: docs/scenes.md of Drystone. */
export type Scene = string | object;

export interface Report {
  /** Steps taken, and the time after them in seconds. */
  step: number; time: number;
  contacts: number; islands: number;
  /** Whether the error of every island is within the tolerance: the step's certificate. */
  converged: boolean;
  /** Largest natural-map error of any island, scale-free. */
  error: number;
  factorizations: number;
  /** Deepest overlap at the start of the step, m. */
  penetration: number;
  /** Kinetic, gravitational and elastic energy after the step, J. */
  energy: number;
}

export interface Contact {
  /** Indices of the two bodies. */
  a: number; b: number;
  mode: "open" | "stick" | "slide";
  point: number[];
  /** Unit, from b to a. */
  normal: number[];
  /** On a, N s. */
  impulse: number[];
  /** m, negative = overlap. */
  gap: number;
  mu: number;
  /** Sliding speed, m/s. */
  slip: number;
}

export type Mode = Contact["mode"];

interface Module {
  memory: WebAssembly.Memory;
  _initialize(): void;
  drystone_alloc(size: number): number;
  drystone_free(at: number): void;
  drystone_message(): number;
  drystone_version(): number;
  drystone_generate(specification: number): number;
  drystone_create(text: number, length: number, name: number): number;
  drystone_destroy(handle: number): void;
  drystone_step(handle: number, count: number): number;
  drystone_hash(handle: number): bigint;
  drystone_time(handle: number): number;
  drystone_duration(handle: number): number;
  drystone_step_size(handle: number): number;
  drystone_name(handle: number): number;
  drystone_body_count(handle: number): number;
  drystone_body_name(handle: number, body: number): number;
  drystone_poses(handle: number): number;
  drystone_contacts(handle: number, count: number): number;
  drystone_report(handle: number, numbers: number): void;
}

const CONTACT = 16; // numbers per contact, wasm/simulation.c
const MODES: Mode[] = ["open", "stick", "slide"];

async function compile(source?: string | URL | BufferSource | WebAssembly.Module): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source as BufferSource);
  const url = new URL((source as string | URL) ?? "./drystone.wasm", import.meta.url);
  if (url.protocol === "file:") {
    const { readFile } = await import(/* webpackIgnore: true */ "node:fs/promises" as string);
    return WebAssembly.compile(await readFile(url));
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/** Loads the module: by default drystone.wasm beside this file; else an address, bytes, or a compiled module. */
export async function load(source?: string | URL | BufferSource | WebAssembly.Module): Promise<Drystone> {
  let wasm!: Module;
  const instance = await WebAssembly.instantiate(await compile(source), { wasi_snapshot_preview1: wasi(() => wasm.memory) });
  wasm = instance.exports as unknown as Module;
  wasm._initialize();
  return new Drystone(wasm);
}

export class Drystone {
  readonly #wasm: Module;
  /** @internal */
  constructor(wasm: unknown) { this.#wasm = wasm as Module; }

  get version(): string { return text(this.#wasm, this.#wasm.drystone_version()); }

  /** The scene text of a generator with parameters, such as "card-house:levels=3". Throws where there is none. */
  generate(specification: string): string {
    const wasm = this.#wasm;
    return withText(wasm, specification, (at) => {
      const result = wasm.drystone_generate(at);
      if (!result) throw new Error(text(wasm, wasm.drystone_message()));
      const scene = text(wasm, result);
      wasm.drystone_free(result);
      return scene;
    });
  }

  /** A scene at its start. Throws "name:line:column: what is wrong" where the scene is not valid. */
  simulate(scene: Scene, name = "scene"): Simulation {
    const wasm = this.#wasm, json = typeof scene === "string" ? scene : JSON.stringify(scene);
    const handle = withText(wasm, json, (at, length) => withText(wasm, name, (called) => wasm.drystone_create(at, length, called)));
    if (!handle) throw new Error(text(wasm, wasm.drystone_message()));
    return new Simulation(wasm, handle);
  }
}

export class Simulation {
  readonly #wasm: Module;
  #handle: number;
  readonly name: string;
  /** s */
  readonly stepSize: number;
  /** How long the scene is meant to run, s. */
  readonly duration: number;
  /** Names of the bodies, by index. */
  readonly bodies: string[];

  /** @internal */
  constructor(wasm: unknown, handle: number) {
    const w = (this.#wasm = wasm as Module);
    this.#handle = handle;
    this.name = text(w, w.drystone_name(handle));
    this.stepSize = w.drystone_step_size(handle);
    this.duration = w.drystone_duration(handle);
    this.bodies = Array.from({ length: w.drystone_body_count(handle) }, (_, i) => text(w, w.drystone_body_name(handle, i)));
  }

  get #open(): number {
    if (!this.#handle) throw new Error("this simulation was closed");
    return this.#handle;
  }

  /** Takes steps; the report of the last one. Throws where a step fails; the state is then that before it. */
  step(count = 1): Report {
    if (!Number.isInteger(count) || count < 0) throw new RangeError("the number of steps must be an integer, 0 or more");
    const taken = this.#wasm.drystone_step(this.#open, count);
    if (taken < count) throw new Error(text(this.#wasm, this.#wasm.drystone_message()));
    return this.report;
  }

  /** Simulated, s. */
  get time(): number { return this.#wasm.drystone_time(this.#open); }
  /** The state's hash: 16 hexadecimal digits, the same as in C and in Python. */
  get hash(): string { return BigInt.asUintN(64, this.#wasm.drystone_hash(this.#open)).toString(16).padStart(16, "0"); }
  /** 7 numbers per body: position (m) and rotation w, x, y, z. A copy. */
  get poses(): Float64Array {
    const at = this.#wasm.drystone_poses(this.#open);
    return new Float64Array(this.#wasm.memory.buffer, at, 7 * this.bodies.length).slice();
  }

  get report(): Report {
    const wasm = this.#wasm, at = wasm.drystone_alloc(64);
    wasm.drystone_report(this.#open, at);
    const [step, contacts, islands, converged, error, factorizations, penetration, energy] = new Float64Array(wasm.memory.buffer, at, 8);
    wasm.drystone_free(at);
    return { step, time: this.time, contacts, islands, converged: converged !== 0, error, factorizations, penetration, energy };
  }

  /** Of the last step. */
  get contacts(): Contact[] {
    const wasm = this.#wasm, count = wasm.drystone_alloc(8);
    const at = wasm.drystone_contacts(this.#open, count), n = new Int32Array(wasm.memory.buffer, count, 1)[0];
    const all = new Float64Array(wasm.memory.buffer, at, CONTACT * n), result: Contact[] = [];
    for (let i = 0; i < n; i++) {
      const c = all.slice(CONTACT * i, CONTACT * (i + 1));
      result.push({ a: c[0], b: c[1], mode: MODES[c[2]], point: [...c.slice(3, 6)], normal: [...c.slice(6, 9)], impulse: [...c.slice(9, 12)], gap: c[12], mu: c[13], slip: c[14] });
    }
    wasm.drystone_free(count);
    return result;
  }

  /** Frees the memory; the simulation cannot be used any more. */
  close(): void {
    if (this.#handle) this.#wasm.drystone_destroy(this.#handle);
    this.#handle = 0;
  }
}

function text(wasm: Module, at: number): string {
  const bytes = new Uint8Array(wasm.memory.buffer);
  return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
}

function withText<T>(wasm: Module, string: string, use: (at: number, length: number) => T): T {
  const bytes = new TextEncoder().encode(string), at = wasm.drystone_alloc(bytes.length + 1);
  if (!at) throw new Error("out of memory");
  const memory = new Uint8Array(wasm.memory.buffer);
  memory.set(bytes, at);
  memory[at + bytes.length] = 0;
  try { return use(at, bytes.length); } finally { wasm.drystone_free(at); }
}
