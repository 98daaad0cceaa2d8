// Which moment is shown. A recording is played by the page's own clock. A live scene shows its newest frame or, if frames
// arrive more slowly than the display refreshes, the time one frame ago, so that there are two to interpolate between. Scrubbing leaves the present; the
// end of the history leads back to it.
import type { History } from "./history";
import type { Frame } from "./protocol";

export interface Program { play(speed: number): void; pause(): void; step(count: number): void }
export interface Moment { from: Frame; to: Frame; between: number; index: number }

const DISPLAY = 0.022; // s: frames that come faster than this need no interpolation

export class Player {
  time = 0;
  playing = false; // through the history
  following: boolean;
  speed = 1;
  paused = false; // the program, as reported
  private gap = 0; // smoothed wall time between live frames
  private arrivedAt = 0;

  constructor(readonly history: History, readonly live: boolean, private readonly program: Program) {
    this.following = live;
    this.playing = !live;
  }

  get isPlaying(): boolean { return this.following ? !this.paused : this.playing; }

  arrived(now: number): void {
    if (this.arrivedAt > 0) this.gap += 0.1 * (Math.min(now - this.arrivedAt, 1) - this.gap);
    this.arrivedAt = now;
    if (!this.live && this.history.length === 1) this.time = this.history.begin;
  }

  advance(seconds: number): void {
    const { history } = this;
    if (!history.length) return;
    if (this.following) this.follow(seconds);
    else if (this.playing) {
      this.time += seconds * (this.speed || 4);
      if (this.time >= history.end) this.reachEnd();
    }
    this.time = Math.min(Math.max(this.time, history.begin), history.end);
  }

  private reachEnd(): void {
    this.time = this.history.end;
    if (this.live) this.goLive();
    else if (this.complete) this.playing = false;
  }
  complete = true; // of a recording: no more frames come

  private follow(seconds: number): void {
    const { history } = this, n = history.length;
    if (this.gap < DISPLAY || this.paused || n < 2) {
      this.time = history.end;
      return;
    }
    const span = history.end - history.at(n - 2).time;
    this.time += (seconds * span) / this.gap;
    this.time = Math.min(Math.max(this.time, history.end - 2 * span), history.end);
  }

  moment(): Moment | null {
    const { history } = this;
    if (!history.length) return null;
    const index = Math.max(history.find(this.time), 0), from = history.at(index), to = history.at(Math.min(index + 1, history.length - 1));
    const span = to.time - from.time;
    return { from, to, index, between: span > 0 ? Math.min(Math.max((this.time - from.time) / span, 0), 1) : 0 };
  }

  toggle(): void {
    if (this.following) this.paused ? this.program.play(this.speed) : this.program.pause();
    else {
      if (!this.live && !this.playing && this.time >= this.history.end) this.time = this.history.begin;
      this.playing = !this.playing;
    }
  }

  step(by: number): void {
    const { history } = this;
    if (!history.length) return;
    if (this.following && by > 0) {
      if (!this.paused) this.program.pause();
      this.program.step(by);
      return;
    }
    if (this.following && !this.paused) this.program.pause();
    const index = history.find((this.following ? history.end : this.time) + 1e-12) + by;
    this.following = this.playing = false;
    if (this.live && index >= history.length - 1) this.goLive();
    else this.time = history.at(Math.min(Math.max(index, 0), history.length - 1)).time;
  }

  scrub(time: number): void {
    this.following = this.playing = false;
    this.time = Math.min(Math.max(time, this.history.begin), this.history.end);
  }

  /* The time and pace of another recording; it stays at its ends where the other goes further. */
  keepTo(other: Player): void {
    this.scrub(other.time);
    this.playing = other.playing;
    this.speed = other.speed;
  }

  goLive(): void {
    if (!this.live) return;
    this.following = true;
    this.playing = false;
    this.time = this.history.end;
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    if (this.live && this.following && !this.paused) this.program.play(speed);
  }
}
