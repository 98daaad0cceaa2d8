// The source of messages and the sink of commands: the program's socket, a recording at a URL, or a file that the user opened.
import { Connection, type Link, type LinkEvents } from "./connection";
import { Engine } from "./engine";
import type { Message } from "./protocol";
import { checkHead, readFile, readUrl, type StreamEvents } from "./stream";

export interface SourceEvents {
  message(message: Message, fromSocket: boolean): void;
  trouble(text: string): void;
  state(state: "open" | "lost" | "connecting", text: string): void;
  progress(bytes: number, total: number): void;
  room(): Promise<void> | null; // of a recording: to wait for before more is read
}

export class Source {
  private connection: Link | null = null;
  private loading: AbortController | null = null;
  private begin: (() => Link) | null = null; // the connection that the page was opened with, made again

  constructor(private readonly events: SourceEvents) {}

  get isOpen(): boolean { return this.connection?.isOpen === true; }
  send(message: ArrayBuffer): void { this.connection?.send(message); }

  connect(token: string): void {
    this.goLive(() => {
      this.events.state("connecting", "Connecting…");
      return new Connection(token, this.linkEvents());
    });
  }

  /* Without a program: the worker's script, and the scene to begin with. */
  run(script: string, scene: string): void { this.goLive(() => new Engine(script, scene, this.linkEvents())); }

  /* Whether a recording that the user opened hides a live scene; and back to it. */
  get hidesLive(): boolean { return this.begin !== null && this.connection === null; }
  back(): void { if (this.begin) this.goLive(this.begin); }

  private goLive(begin: () => Link): void {
    this.loading?.abort();
    this.begin = begin;
    this.connection = begin();
  }

  private linkEvents(): LinkEvents {
    let own: Link | null = null; // what is still on its way when the user opens a file is dropped
    return {
      message: (message) => {
        own ??= this.connection;
        if (own === this.connection) this.events.message(message, true);
      },
      error: (text) => this.events.trouble(text),
      state: (state, wait) => {
        if (state === "open") this.events.state("open", "");
        else if (state === "lost") this.events.state("lost", `Connection lost. Next attempt in ${wait} s.`);
        else if (state === "refused") this.events.state("lost", "The access token is not valid. If the program was restarted, open the URL that it printed.");
        else this.events.state("connecting", "Connecting…");
      },
    };
  }

  /* Resolves when the recording is read: "" or the reason of a failure; null if another one replaced it meanwhile. */
  async loadUrl(url: string): Promise<string | null> {
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    try {
      await readUrl(url, this.streamEvents(), loading.signal);
      return "";
    } catch (error) {
      return loading.signal.aborted ? null : (error as Error).message;
    }
  }

  /* The user's file replaces the program, if it is a recording at all. `begun` is called before its first message. */
  async loadFile(file: File, begun: () => void): Promise<string | null> {
    let loading: AbortController | null = null;
    try {
      await checkHead(file);
      this.loading?.abort();
      loading = this.loading = new AbortController();
      this.connection?.end();
      this.connection = null;
      this.events.state("open", "");
      begun();
      await readFile(file, this.streamEvents(), loading.signal);
      return "";
    } catch (error) {
      return loading?.signal.aborted ? null : (error as Error).message;
    }
  }

  private streamEvents(): StreamEvents {
    return { message: (message) => this.events.message(message, false), progress: (bytes, total) => this.events.progress(bytes, total), room: () => this.events.room() };
  }
}
