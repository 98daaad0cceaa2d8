// A recording: messages one after the other, from a URL or a file. Decoded as they arrive, so that the first frame is shown before
// the last byte arrives.
import { decode, messageBytes, ProtocolError, type Message } from "./protocol";

export interface StreamEvents {
  message(message: Message): void;
  progress(bytes: number, total: number): void; // total 0 = unknown
  room(): Promise<void> | null; // to wait for before the next message is read
}

const HDF5 = [0x89, 0x48, 0x44, 0x46]; // how its files begin
const SLICE_MS = 12; // of decoding before the page gets control again

export async function readUrl(url: string, events: StreamEvents, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { signal, cache: "no-store" });
  if (!response.ok || !response.body) throw new Error(`${url.split("?")[0]}: ${response.status} ${response.statusText}`);
  await readStream(response.body, Number(response.headers.get("content-length") ?? 0), events, signal);
}

export async function readFile(file: File, events: StreamEvents, signal: AbortSignal): Promise<void> {
  await readStream(file.stream(), file.size, events, signal);
}

/* Throws where a file cannot be a recording for the page. */
export async function checkHead(file: File): Promise<void> {
  const head = await file.slice(0, 16).arrayBuffer(), bytes = new Uint8Array(head);
  if (bytes.length === 0) throw new ProtocolError("it is empty");
  if (HDF5.every((byte, k) => byte === bytes[k])) throw new ProtocolError(`it is an HDF5 file; "drystone view ${file.name}" shows it, and "--export FOLDER" makes a file for this page`);
  if (messageBytes(new DataView(head), 0) === 0) throw new ProtocolError("it is too short for a recording");
}

async function readStream(stream: ReadableStream<Uint8Array>, total: number, events: StreamEvents, signal: AbortSignal): Promise<void> {
  const reader = stream.getReader(), cutter = new Cutter();
  let received = 0, begun = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (signal.aborted) return reader.cancel();
    received += value.length;
    cutter.add(value);
    for (let bytes = cutter.next(); bytes; bytes = cutter.next()) {
      events.message(decode(bytes));
      await events.room();
      if (signal.aborted) return reader.cancel();
      if (performance.now() - begun > SLICE_MS) {
        events.progress(received, total);
        await new Promise((go) => setTimeout(go));
        begun = performance.now();
      }
    }
  }
  events.progress(received, received);
  if (received === 0) throw new ProtocolError("it is empty");
  if (cutter.left > 0) throw new ProtocolError(`the recording is truncated: the last message has only ${cutter.left} bytes`);
}

/* Cuts a stream of chunks into messages, each in a buffer of its own so that its arrays are aligned and old ones can be freed. */
export class Cutter {
  private chunks: Uint8Array[] = [];
  left = 0;

  add(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.left += chunk.length;
  }

  next(): ArrayBuffer | null {
    if (this.left < 16) return null;
    const head = new Uint8Array(16);
    this.copy(head);
    const whole = messageBytes(new DataView(head.buffer), 0);
    if (whole > this.left) return null;
    const bytes = new Uint8Array(whole);
    this.copy(bytes);
    this.drop(whole);
    return bytes.buffer;
  }

  private copy(to: Uint8Array): void {
    let at = 0;
    for (let k = 0; at < to.length; k++) {
      const part = this.chunks[k].subarray(0, to.length - at);
      to.set(part, at);
      at += part.length;
    }
  }

  private drop(bytes: number): void {
    this.left -= bytes;
    let k = 0;
    while (bytes > 0 && bytes >= this.chunks[k].length) bytes -= this.chunks[k++].length;
    this.chunks.splice(0, k);
    if (bytes > 0) this.chunks[0] = this.chunks[0].subarray(bytes);
  }
}
