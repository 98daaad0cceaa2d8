// The worker of a page without a server: drystone.wasm with the live scene of `drystone view`. Takes turns when they are due, passes messages on.
import { wasi } from "./wasi";

interface Module {
  memory: WebAssembly.Memory;
  _initialize(): void;
  drystone_alloc(size: number): number;
  drystone_free(at: number): void;
  drystone_page_open(source: number): number;
  drystone_page_receive(at: number, size: number): void;
  drystone_page_turn(): number;
  drystone_page_next(): number;
  drystone_page_bytes(message: number): number;
  drystone_page_size(message: number): number;
  drystone_page_release(message: number): void;
}

const LONGEST = 250; // ms between two turns, for the status
const post = self.postMessage.bind(self) as (data: unknown, transfer?: Transferable[]) => void;
const waiting: ArrayBuffer[] = [];
const now = new MessageChannel();
let wasm: Module | null = null, timer = 0, taken = 0;

function put(bytes: Uint8Array): number {
  const at = wasm!.drystone_alloc(bytes.length + 1), memory = new Uint8Array(wasm!.memory.buffer);
  if (!at) throw new Error("out of memory");
  memory.set(bytes, at);
  memory[at + bytes.length] = 0;
  return at;
}

async function open(scene: string): Promise<void> {
  const answer = await fetch(new URL("drystone.wasm", self.location.href));
  if (!answer.ok) throw new Error(`drystone.wasm: ${answer.status} ${answer.statusText}`);
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), { wasi_snapshot_preview1: wasi(() => wasm!.memory) });
  wasm = instance.exports as unknown as Module;
  wasm._initialize();
  if (!wasm.drystone_page_open(put(new TextEncoder().encode(scene)))) throw new Error("out of memory"); // the name stays the module's
  now.port1.onmessage = turn;
  for (const message of waiting.splice(0)) receive(message);
  turn();
}

function receive(message: ArrayBuffer): void {
  const bytes = new Uint8Array(message), at = put(bytes);
  wasm!.drystone_page_receive(at, bytes.length);
  wasm!.drystone_free(at);
}

function flush(): void {
  for (let message; (message = wasm!.drystone_page_next()); wasm!.drystone_page_release(message)) {
    const from = wasm!.drystone_page_bytes(message), bytes = wasm!.memory.buffer.slice(from, from + wasm!.drystone_page_size(message));
    post(bytes, [bytes]);
  }
}

function turn(): void {
  clearTimeout(timer);
  try {
    const wait = wasm!.drystone_page_turn();
    flush();
    post(taken);
    if (wait > 0) timer = self.setTimeout(turn, Math.min(1000 * wait, LONGEST));
    else now.port2.postMessage(0); // after messages that have arrived
  } catch (error) {
    post(`The simulation ended: ${(error as Error).message}. Reload the page.`);
  }
}

self.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
  if (typeof data === "string") {
    open(data).catch((error: Error) => post(`The simulation cannot start: ${error.message}`));
    return;
  }
  taken++;
  if (!wasm) waiting.push(data);
  else {
    receive(data);
    turn();
  }
};
