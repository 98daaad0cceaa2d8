// The tab "Stand": does it stand as it is now, with other friction, on tilted ground, without one of its blocks? The program answers; the verdict follows
// the sliders, one question at a time, the newest first. When they rest, proofs that take longer are asked for.
import { el } from "./dom";
import type { PanelActions } from "./panel";
import { NO_BODY, type Scene, type Verdict } from "./protocol";

const REST = 300; // ms without a change before the full question is asked

export class StandPanel {
  private readonly mu = el("input", { type: "range", min: 0, max: 1.5, step: 0.01, value: 0.5, id: "stand-mu", "aria-label": "Friction of all interfaces" });
  private readonly own = el("input", { type: "checkbox", id: "stand-own", "aria-label": "Friction of the scene" });
  private readonly tilt = el("input", { type: "range", min: 0, max: 60, step: 0.25, value: 0, id: "stand-tilt", "aria-label": "Tilt of the ground in degrees" });
  private readonly azimuth = el("input", { type: "range", min: 0, max: 360, step: 5, value: 0, id: "stand-azimuth", "aria-label": "Direction of the tilt in degrees" });
  private readonly removed = el("select", { id: "stand-removed", "aria-label": "Block that is pulled out" });
  private readonly word = el("strong", { id: "stand-verdict" });
  private readonly proof = el("p", { class: "hint", id: "stand-proof" });
  private readonly facts = el("dl", { class: "facts", id: "stand-facts" });
  private readonly values = el("p", { class: "hint" });
  private readonly form = el("div", { class: "group" });
  private live = false;
  private waiting = false; // for an answer
  private pending = false; // a change since the question
  private timer = 0;
  private again = false; // the full question is due
  private full = false; // the last question was
  private open = false;
  settled = false; // the verdict is that of the full question, for the values shown

  constructor(page: HTMLElement, private readonly actions: PanelActions) {
    this.own.checked = true;
    for (const input of [this.mu, this.own, this.tilt, this.azimuth, this.removed]) input.addEventListener("input", () => this.changed(input === this.mu));
    this.form.append(el("h2", {}, "Does it stand?"), el("p", { class: "verdict", "aria-live": "polite" }, this.word), this.proof,
      row("μ of the scene", this.own), row("μ of all", this.mu), row("Tilt", this.tilt), row("Toward", this.azimuth), row("Pull out", this.removed), this.values, this.facts);
    page.append(this.form);
  }

  setScene(scene: Scene, live: boolean): void {
    this.live = live;
    this.waiting = this.pending = this.again = this.settled = false;
    this.removed.replaceChildren(el("option", { value: String(NO_BODY) }, "none"));
    scene.bodies.forEach((body, k) => { if (body.mass > 0) this.removed.append(el("option", { value: String(k) }, body.name || String(k))); });
    this.mu.value = String(scene.materials[scene.bodies.find((body) => body.mass > 0)?.material ?? 0]?.mu ?? 0.5);
    this.tilt.value = this.azimuth.value = "0";
    this.show("", live ? "" : "Verdicts are available for live scenes only.");
  }

  /* The quick verdict first: all that can be proven may take seconds, above all in a browser alone. */
  enter(): void {
    this.open = true;
    if (!this.live) return;
    this.ask(false);
    this.again = true;
  }
  leave(): void {
    window.clearTimeout(this.timer);
    this.open = this.again = this.pending = false;
    this.actions.standEnd();
  }

  private changed(ofMu: boolean): void {
    if (ofMu) this.own.checked = false;
    this.settled = false;
    if (!this.live) return;
    if (this.waiting) this.pending = true;
    else this.ask(false);
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (this.waiting) this.again = true;
      else this.ask(true);
    }, REST);
  }

  private ask(full: boolean): void {
    this.waiting = true;
    this.pending = this.again = false;
    this.full = full;
    this.values.textContent = `${this.own.checked ? "the scene's friction" : `μ ${Number(this.mu.value).toFixed(2)}`}, ${Number(this.tilt.value).toFixed(2)}° toward ${this.azimuth.value}°`;
    this.actions.stand(this.own.checked ? -1 : Number(this.mu.value), Number(this.tilt.value), Number(this.azimuth.value), Number(this.removed.value), full);
  }

  /* False: the tab was left meanwhile. */
  take(verdict: Verdict): boolean {
    this.waiting = false;
    if (!this.open) return false;
    this.show(verdict.verdict, verdict.proof);
    this.facts.replaceChildren(...([["Blocks", verdict.blocks], ["Interfaces", `${verdict.interfaces} with ${verdict.points} points`], ["Time", `${(1000 * verdict.time).toFixed(1)} ms`]] as const)
      .flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, String(text))]));
    if (this.again) this.ask(true);
    else if (this.pending) this.ask(false);
    else this.settled = this.full;
    return true;
  }

  private show(word: string, proof: string): void {
    this.word.textContent = word;
    this.word.dataset["verdict"] = word;
    this.proof.textContent = proof;
    if (!word) this.facts.replaceChildren();
  }
}

function row(label: string, control: HTMLElement): HTMLElement { return el("label", { class: "row" }, el("span", {}, label), control); }
