// The stored frames, oldest first, at most LIMIT bytes. A live scene drops its oldest frames. A recording, which must
// stay complete, drops every second frame instead, as often as needed.
import { CONVERGED, MISSED, type Frame } from "./protocol";

export const LIMIT = 512 << 20;

export class History {
  private frames: Frame[] = [];
  private first = 0; // index of the oldest in frames; those before were dropped
  private bytes = 0;
  private stride = 1; // a recording: every stride-th frame is kept
  private seen = 0;

  readonly missed: number[] = []; // times of frames with a step that was not certified, also of frames that are not kept

  constructor(private readonly keepsWhole: boolean, private readonly limit = LIMIT) {}

  get length(): number { return this.frames.length - this.first; }
  get begin(): number { return this.length ? this.at(0).time : 0; }
  get end(): number { return this.length ? this.last.time : 0; }
  get last(): Frame { return this.frames[this.frames.length - 1]; }
  get thinned(): number { return this.stride; }
  at(index: number): Frame { return this.frames[this.first + index]; }

  add(frame: Frame): void {
    // Time went back: the scene was restarted.
    if (this.length && frame.time < this.end) this.clear();
    if ((!(frame.flags & CONVERGED) || frame.flags & MISSED) && this.missed[this.missed.length - 1] !== frame.time) this.missed.push(frame.time);
    if (this.keepsWhole && this.seen++ % this.stride !== 0) return;
    this.frames.push(frame);
    this.bytes += frame.bytes;
    while (this.bytes > this.limit && this.length > 2) this.keepsWhole ? this.thin() : this.forget();
  }

  clear(): void {
    this.frames = [];
    this.first = this.bytes = 0;
    this.missed.length = 0;
  }

  /* Index of the last frame at or before a time, -1 where there is none. */
  find(time: number): number {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle).time <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private forget(): void {
    this.bytes -= this.at(0).bytes;
    this.frames[this.first++] = this.last;
    if (this.first > 1000 && this.first > this.frames.length / 2) {
      this.frames = this.frames.slice(this.first);
      this.first = 0;
    }
  }

  private thin(): void {
    this.frames = this.frames.filter((_, k) => k % 2 === 0);
    this.bytes = this.frames.reduce((sum, frame) => sum + frame.bytes, 0);
    this.stride *= 2;
  }
}
