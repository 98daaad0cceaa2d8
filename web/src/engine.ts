// The program without a server: a worker that runs the WebAssembly module and speaks the same messages as the socket (docs/protocol.md).
// The worker has one thread, so a step that takes long cannot be interrupted from inside: a request for another scene that is not taken
// up within PATIENCE ends the worker and starts a new one with that scene.
import type { Link, LinkEvents } from "./connection";
import { decode, Type } from "./protocol";

const PATIENCE = 2000; // ms
const URGENT = new Set<number>([Type.Open, Type.OpenText, Type.Reset]);

export class Engine implements Link {
  private worker!: Worker;
  private sent = 0;
  private taken = 0;
  private timer = 0;
  private opened: ArrayBuffer | null = null; // the last request for a scene

  constructor(private readonly script: string, private readonly scene: string, private readonly events: LinkEvents) {
    this.start(scene);
  }

  get isOpen(): boolean { return true; }

  send(message: ArrayBuffer): void {
    const type = new DataView(message).getUint32(0, true);
    if (type === Type.Open || type === Type.OpenText) this.opened = message.slice(0);
    this.worker.postMessage(message);
    const number = ++this.sent;
    if (!URGENT.has(type)) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => { if (this.taken < number) this.restart(); }, PATIENCE);
  }

  end(): void {
    clearTimeout(this.timer);
    this.worker.terminate();
  }

  private restart(): void {
    this.worker.terminate();
    this.sent = this.taken = 0;
    this.start(this.opened ? "" : this.scene);
    if (this.opened) this.send(this.opened.slice(0));
  }

  private start(scene: string): void {
    const worker = new Worker(this.script);
    worker.onmessage = ({ data }: MessageEvent<ArrayBuffer | number | string>) => {
      if (worker !== this.worker) return;
      if (typeof data === "number") this.taken = data;
      else if (typeof data === "string") this.events.error(data);
      else this.events.message(decode(data));
    };
    worker.onerror = (event) => this.events.error(`The simulation ended: ${event.message || "the worker cannot be loaded"}. Reload the page.`);
    this.worker = worker;
    worker.postMessage(scene);
    this.events.state("open", 0);
  }
}
