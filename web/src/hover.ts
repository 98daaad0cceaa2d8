// The readout: which body is under the pointer or chosen, how fast it moves and what its contacts do to it. Announced to screen readers when a body is
// selected by keyboard.
import { el, withUnit } from "./dom";
import { At, CONTACT_WORDS, SLIDE, type Frame, type Scene } from "./protocol";

interface Sums { contacts: number; sliding: number; normal: number; friction: number; others: Set<number> }

export function contactSums(frame: Frame, scene: Scene, body: number): Sums {
  const sums: Sums = { contacts: 0, sliding: 0, normal: 0, friction: 0, others: new Set() }, f = frame.contactF, u = frame.contactU;
  for (let o = 0; o < u.length; o += CONTACT_WORDS) {
    if (u[o + At.A] !== body && u[o + At.B] !== body) continue;
    const n = o + At.Normal, j = o + At.Impulse, along = f[j] * f[n] + f[j + 1] * f[n + 1] + f[j + 2] * f[n + 2];
    const whole = Math.hypot(f[j], f[j + 1], f[j + 2]);
    sums.contacts++;
    if (u[o + At.Mode] === SLIDE) sums.sliding++;
    sums.normal += along / scene.step;
    sums.friction += Math.sqrt(Math.max(whole * whole - along * along, 0)) / scene.step;
    sums.others.add(u[o + At.A] === body ? u[o + At.B] : u[o + At.A]);
  }
  return sums;
}

export class Readout {
  private readonly name = el("strong");
  private readonly lines = el("div", { class: "lines" });
  private readonly spoken = el("div", { class: "spoken", role: "status", "aria-live": "polite" });

  constructor(private readonly root: HTMLElement) {
    root.append(this.name, this.lines);
    root.after(this.spoken);
    root.hidden = true;
  }

  show(frame: Frame | null, scene: Scene | null, body: number, chosen: boolean): void {
    this.root.hidden = !frame || !scene || body < 0;
    if (!frame || !scene || body < 0) return;
    const { name, mass, kind } = scene.bodies[body], v = frame.velocity, o = 6 * body, sums = contactSums(frame, scene, body);
    this.root.classList.toggle("chosen", chosen);
    this.name.textContent = name || `body ${body}`;
    const rows: [string, string][] = [["", mass > 0 ? `${kind}, ${withUnit(mass * 1000, "g")}` : kind]];
    if (mass > 0 || kind === "kinematic")
      rows.push(["velocity", withUnit(Math.hypot(v[o], v[o + 1], v[o + 2]), "m/s")], ["turning", withUnit(Math.hypot(v[o + 3], v[o + 4], v[o + 5]), "rad/s")]);
    rows.push(["contacts", sums.contacts ? `${sums.contacts}${sums.sliding ? `, ${sums.sliding} sliding` : ", all sticking"}` : "none"]);
    if (sums.contacts) rows.push(["normal force", withUnit(sums.normal, "N")], ["friction", withUnit(sums.friction, "N")]);
    this.lines.replaceChildren(...rows.map(([term, text]) => el("div", {}, el("span", {}, term), el("span", {}, text))));
  }

  say(text: string): void { this.spoken.textContent = text; }

  sentence(frame: Frame, scene: Scene, body: number): string {
    const sums = contactSums(frame, scene, body), v = frame.velocity, o = 6 * body;
    return `${scene.bodies[body].name || `body ${body}`}: ${withUnit(Math.hypot(v[o], v[o + 1], v[o + 2]), "m/s")}, ${sums.contacts} contacts, ${sums.sliding} sliding, normal force ${withUnit(sums.normal, "N")}`;
  }
}
