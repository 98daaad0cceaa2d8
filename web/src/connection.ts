// The WebSocket to the program. When it closes it is opened again, after 0.5 s, then 1, 2, 4, at most 8 s; a message that cannot be decoded
// is reported and the connection is closed, because what follows cannot be trusted.
import { decode, type Message } from "./protocol";

/* Where live messages come from: the program's socket, or a worker (engine.ts). */
export interface Link {
  readonly isOpen: boolean;
  send(message: ArrayBuffer): void;
  end(): void;
}

export interface LinkEvents {
  message(message: Message): void;
  state(state: "open" | "lost" | "refused" | "connecting", waitSeconds: number): void;
  error(text: string): void;
}

const FIRST_WAIT = 0.5, LONGEST_WAIT = 8;

export class Connection implements Link {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;
  private timer = 0;
  private ended = false;

  constructor(private readonly token: string, private readonly events: LinkEvents) {
    this.open();
  }

  get isOpen(): boolean { return this.socket?.readyState === WebSocket.OPEN; }

  send(message: ArrayBuffer): void {
    if (this.isOpen) this.socket!.send(message);
  }

  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private open(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/socket?token=${encodeURIComponent(this.token)}`);
    let opened = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      opened = true;
      this.events.state("open", 0);
    };
    socket.onmessage = (event) => this.receive(socket, event.data);
    socket.onclose = () => { if (!this.ended && this.socket === socket) void this.lost(opened); };
    this.socket = socket;
  }

  private receive(socket: WebSocket, data: unknown): void {
    let message: Message;
    try {
      if (!(data instanceof ArrayBuffer)) throw new Error("text instead of binary data");
      message = decode(data);
      this.wait = FIRST_WAIT;
      this.events.message(message);
    } catch (error) {
      this.events.error(`The program sent an invalid message: ${(error as Error).message}`);
      socket.close();
    }
  }

  /* Distinguishes a program that does not respond from one that refuses our token (it was restarted). */
  private async lost(wasOpen: boolean): Promise<void> {
    const refused = !wasOpen && (await answers());
    if (this.ended) return;
    this.events.state(refused ? "refused" : "lost", this.wait);
    this.timer = window.setTimeout(() => {
      this.events.state("connecting", 0);
      this.open();
    }, this.wait * 1000);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch("/", { method: "GET", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
