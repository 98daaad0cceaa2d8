// The body under the pointer and the selected body: how they are found, pulled and focused, and what is requested from the program about the selected one.
import { Vector3 } from "three";
import type { Chrome } from "./chrome";
import type { Hit } from "./pick";
import { encodeProbe, type Field, type Spheres } from "./protocol";
import type { Show } from "./show";

const REPROBE = 0.25; // s between requests about a deformable body

/* What the program allows now. */
export interface Program { readonly live: boolean; canGrab(body: number): boolean; send(message: ArrayBuffer): void }

export class Choice {
  hovered = -1;
  chosen = -1;
  changed: () => void = () => undefined;
  private probedAt = 0;

  constructor(private readonly show: Show, private readonly chrome: Chrome, private readonly program: Program) {}

  forget(): void { this.hovered = this.chosen = -1; }

  hover(hit: Hit | null): void {
    this.hovered = hit ? hit.body : -1;
    this.show.view.canvas.style.cursor = hit && this.program.canGrab(hit.body) ? "grab" : "";
  }

  choose(body: number): void {
    if (body === this.chosen) return;
    this.chosen = body;
    this.changed();
    this.show.mark(body);
    if (this.show.world) this.chrome.panel.setModes(body >= 0 ? this.show.modes.count(this.show.world, body) : 0);
    if (this.show.layers.has("modes")) this.chooseMode(0);
    this.probe();
  }

  chooseNext(by: number): void {
    const { scene, shown } = this.show, bodies = scene?.bodies ?? [], movable = bodies.map((_, b) => b).filter((b) => bodies[b].mass > 0);
    if (!movable.length || !shown) return;
    const now = movable.indexOf(this.chosen), next = now < 0 ? (by > 0 ? 0 : movable.length - 1) : (now + by + movable.length) % movable.length;
    this.choose(movable[next]);
    this.chrome.readout.say(this.chrome.readout.sentence(shown, scene!, this.chosen));
  }

  chooseFirst(deformable: boolean): void {
    const bodies = this.show.scene?.bodies ?? [], wanted = bodies.findIndex((body) => (deformable ? body.reduced > 0 : body.mass > 0));
    if (wanted >= 0) this.choose(wanted);
  }

  // ---- the hand -------------------------------------------------------------------------------------------------------------

  grab(hit: Hit): void {
    this.choose(hit.body);
    this.show.hand.grab(hit, this.show.view.orbit.camera);
  }

  /* By keyboard: at the centre of the chosen body. */
  grabChosen(): void {
    const { hand, world, view } = this.show;
    if (hand.holds) return hand.release();
    if (this.chosen < 0 || !this.program.canGrab(this.chosen)) return;
    const point = world!.position(this.chosen, new Vector3());
    hand.grab({ body: this.chosen, point, local: new Vector3(), distance: 0 }, view.orbit.camera);
  }

  nudge(right: number, up: number): void {
    const x = new Vector3(), y = new Vector3(), z = new Vector3();
    this.show.view.orbit.camera.matrixWorld.extractBasis(x, y, z);
    const step = 0.15 * this.show.scene!.nearSize;
    this.show.hand.nudge(x.multiplyScalar(right * step).addScaledVector(y, up * step));
  }

  // ---- the camera -----------------------------------------------------------------------------------------------------------

  focus(hit: Hit | null): void {
    const { world, scene, view } = this.show;
    if (!hit || !world) return view.orbit.goHome();
    const big = world.radius[hit.body] > 20 * scene!.nearSize;
    view.orbit.focus(big ? hit.point : world.position(hit.body, new Vector3()), big ? 0 : 2.2 * world.radius[hit.body]);
  }

  focusChosen(): void {
    const { world, view } = this.show;
    if (this.chosen >= 0 && world) view.orbit.focus(world.position(this.chosen, new Vector3()), 2.2 * world.radius[this.chosen]);
    else view.orbit.goHome();
  }

  // ---- what is asked about it -------------------------------------------------------------------------------------------------

  chooseMode(mode: number): void {
    const { world, modes, layers } = this.show;
    if (!world || this.chosen < 0) return;
    const count = modes.count(world, this.chosen);
    this.chrome.panel.setModes(count);
    if (layers.has("modes") && count === 0) this.chrome.note("The selected body is rigid: select a deformable one.", false);
    this.show.chooseMode(Math.min(mode, Math.max(count - 1, 0)));
  }

  /* Requests the sphere tree and the distance field of the selected body, if they are shown. */
  probe(): void {
    if (!this.program.live || this.chosen < 0) return;
    const { axis, place } = this.chrome.panel.probeChoice();
    if (this.show.layers.has("spheres")) this.program.send(encodeProbe(1, this.chosen, 0, 0));
    if (this.show.layers.has("field")) this.program.send(encodeProbe(2, this.chosen, axis, place));
  }

  /* A deformable body's spheres change while it moves. */
  reprobe(now: number): void {
    if (this.chosen < 0 || !this.show.scene!.bodies[this.chosen].reduced || now / 1000 - this.probedAt < REPROBE) return;
    this.probedAt = now / 1000;
    this.probe();
  }

  showLevel(level: number): void {
    const { world, spheres } = this.show;
    if (world && level !== spheres.level) {
      spheres.showLevel(level, world);
      this.show.dirty = true;
    } else this.probe();
  }

  takeSpheres(answer: Spheres): void {
    const { world, spheres, layers } = this.show;
    if (!world || answer.body !== this.chosen || !layers.has("spheres")) return;
    spheres.take(answer, world);
    this.chrome.panel.setLevels(spheres.levels);
    this.show.dirty = true;
  }

  takeField(answer: Field): void {
    const { world, field, layers } = this.show;
    if (!world || answer.body !== this.chosen || !layers.has("field")) return;
    field.take(answer, world);
    this.show.dirty = true;
  }
}
