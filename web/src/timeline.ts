// The bar at the bottom: play, step, scrub, speed, and the way back to the present of a live scene.
import { el, iconButton, setIcon } from "./dom";
import type { Player } from "./player";

const SPEEDS: [string, number][] = [["⅛×", 0.125], ["¼×", 0.25], ["½×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4], ["max", 0]];

export interface TimelineActions { toggle(): void; step(by: number): void; restart(): void; scrub(time: number): void; live(): void; speed(speed: number): void }

export class Timeline {
  private readonly play: HTMLButtonElement;
  private readonly range = el("input", { type: "range", id: "scrub", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time" });
  private readonly loaded = el("div", { class: "loaded" });
  private readonly clock = el("output", { class: "clock", id: "clock" });
  private readonly live: HTMLButtonElement;
  private readonly speed = el("select", { id: "speed", "aria-label": "Speed", title: "Speed" });
  private readonly misses = el("canvas", { class: "misses", id: "misses", width: 600, height: 9, "aria-hidden": "true" });
  private drawn = ""; // what the marks were drawn for
  private held = false;

  constructor(root: HTMLElement, actions: TimelineActions) {
    this.play = iconButton("play", "Play (space)", actions.toggle, "play");
    this.live = el("button", { class: "live", id: "live", type: "button", title: "Back to the present (L)", onclick: actions.live }, el("i"), "Live");
    for (const [label, value] of SPEEDS) this.speed.append(el("option", { value }, label));
    this.speed.value = "1";
    this.speed.addEventListener("change", () => actions.speed(Number(this.speed.value)));
    this.range.addEventListener("input", () => actions.scrub(Number(this.range.value)));
    this.range.addEventListener("pointerdown", () => (this.held = true));
    for (const end of ["pointerup", "pointercancel", "change"]) this.range.addEventListener(end, () => (this.held = false));
    root.append(
      el("div", { class: "buttons" }, iconButton("restart", "Restart (R)", actions.restart, "restart"), iconButton("previous", "One frame back (,)", () => actions.step(-1), "back"), this.play,
        iconButton("next", "One frame forward (.)", () => actions.step(1), "forward")),
      el("div", { class: "track" }, this.loaded, this.misses, this.range), this.clock, this.speed, this.live);
  }

  chooseSpeed(by: number): number {
    const index = Math.min(Math.max(this.speed.selectedIndex + by, 0), SPEEDS.length - 1);
    this.speed.selectedIndex = index;
    return SPEEDS[index][1];
  }

  show(player: Player, step: number, expectedEnd: number): void {
    const { history } = player, end = Math.max(history.end, player.complete ? 0 : expectedEnd), begin = history.begin;
    setIcon(this.play, player.isPlaying ? "pause" : "play", player.isPlaying ? "Pause (space)" : "Play (space)");
    this.live.hidden = !player.live;
    this.live.classList.toggle("on", player.following);
    this.live.setAttribute("aria-pressed", String(player.following));
    this.range.min = String(begin);
    this.range.max = String(end);
    if (!this.held) this.range.value = String(player.time);
    const part = end > begin ? (player.time - begin) / (end - begin) : 0, there = end > begin ? (history.end - begin) / (end - begin) : 0;
    this.range.style.setProperty("--part", `${100 * part}%`);
    this.loaded.style.width = `${100 * there}%`;
    this.range.setAttribute("aria-valuetext", `${player.time.toFixed(2)} seconds`);
    const text = `${player.time.toFixed(2)} s`;
    this.clock.textContent = player.live ? text : `${text} / ${end.toFixed(1)}`;
    const { missed } = history;
    this.clock.title = `step ${Math.round(step)}${missed.length ? `; ${missed.length} steps without a certificate, red on the bar` : ""}`;
    this.mark(missed, begin, end);
  }

  /* Red where a step was not certified. */
  private mark(missed: readonly number[], begin: number, end: number): void {
    const now = `${missed.length} ${missed[0] ?? ""} ${begin} ${end}`, { width, height } = this.misses, pen = this.misses.getContext("2d")!;
    if (now === this.drawn || (!missed.length && this.drawn.startsWith("0 "))) return;
    this.drawn = now;
    pen.clearRect(0, 0, width, height);
    pen.fillStyle = getComputedStyle(this.misses).getPropertyValue("--slide") || "#ea5a50";
    for (const time of missed) if (time >= begin) pen.fillRect(Math.round(((time - begin) / Math.max(end - begin, 1e-9)) * (width - 2)), 0, 2, height);
  }
}
