// Two recordings side by side: this page in two frames, each with its recording. The one that was touched last leads: the other takes over its time, speed,
// and camera. Started by ?left=URL&right=URL.
import type { App } from "./app";

interface Side { frame: HTMLIFrameElement; app: App | null }

export class Pair {
  private readonly sides: Side[];
  private leader = 0;
  private started = false;

  constructor(left: string, right: string) {
    document.body.className = "pair";
    document.title = "Drystone: two recordings";
    this.sides = [left, right].map((url, index) => {
      const frame = document.createElement("iframe");
      frame.title = index ? "right recording" : "left recording";
      frame.src = `${location.pathname}?recording=${encodeURIComponent(url)}`;
      const side: Side = { frame, app: null };
      frame.addEventListener("load", () => this.attach(side, index));
      return side;
    });
    document.body.replaceChildren(...this.sides.map((side) => side.frame));
    requestAnimationFrame(() => this.tick());
  }

  private attach(side: Side, index: number): void {
    const inside = side.frame.contentWindow!;
    side.app = (inside as unknown as { drystone?: App }).drystone ?? null;
    for (const kind of ["pointerdown", "keydown", "wheel", "input"]) inside.addEventListener(kind, () => { this.leader = index; }, { capture: true, passive: true });
  }

  private tick(): void {
    requestAnimationFrame(() => this.tick());
    const [a, b] = this.sides.map((side) => side.app);
    if (!a?.player.history.length || !b?.player.history.length) return;
    if (!this.started && a.player.complete && b.player.complete) { // from the same beginning, the longer one leads
      this.started = true;
      this.leader = b.player.history.end > a.player.history.end ? 1 : 0;
      for (const app of [a, b]) app.player.scrub(app.player.history.begin);
      (this.leader ? b : a).player.playing = true;
      a.view.orbit.keepTo(b.view.orbit);
      b.view.orbit.keepTo(a.view.orbit);
    }
    if (!this.started) return;
    let leads = this.leader ? b : a, follows = this.leader ? a : b;
    if (!leads.player.playing && follows.player.playing && leads.player.time >= leads.player.history.end && follows.player.history.end > leads.player.time) {
      this.leader = 1 - this.leader; // it has ended, the other goes on
      [leads, follows] = [follows, leads];
    }
    follows.player.keepTo(leads.player);
    follows.view.orbit.keepTo(leads.view.orbit);
  }
}
