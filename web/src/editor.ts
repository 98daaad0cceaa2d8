// Editing: changes of the scene's text, each sent to the program as a whole, with undo. The scene is then at its start, paused. A change that the program
// refuses is taken back.
import { Plane, Vector3, type Ray } from "three";
import { addBody, copyBody, deleteBody, dropInterfaces, packScene, parseScene, printScene, startFrom, tidy, type SceneDocument } from "./document";
import type { Hit } from "./pick";
import { encodeOpenText, encodePlain, Type, type Frame, type Scene, type Vec3 } from "./protocol";

export interface EditorProgram {
  readonly scene: Scene | null;
  readonly shown: Frame | null;
  readonly chosen: number;
  send(message: ArrayBuffer): void;
  choose(body: number): void;
  top(): Vec3; // a free place above the bodies
  drawn(): void; // the shown frame was changed
  changed(): void; // what the panel shows
  note(text: string, bad: boolean): void;
  opened(name: string, text: string): void; // for the picker
}

const LINK_MAX = 8000; // characters: longer links are cut by programs that pass them on

/* A text of the scene, and the body that was selected when it was left. */
interface Version { text: string; chosen: number }

export class Editor {
  active = false;
  document: SceneDocument | null = null;
  private name = "";
  private text = ""; // what the program has, or was sent last
  private past: Version[] = [];
  private future: Version[] = [];
  private before: Version & { past: Version[]; future: Version[] } | null = null; // until the program has taken the change
  private keep = -1; // body to be selected when the changed scene is there
  private drag: { body: number; plane: Plane; from: Vector3; start: Vec3; moved: Vec3 } | null = null;

  constructor(private readonly program: EditorProgram) {}

  get settled(): boolean { return this.before === null; } // the program has taken the last change
  get canUndo(): boolean { return this.past.length > 0; }
  get canRedo(): boolean { return this.future.length > 0; }

  enter(): void {
    this.active = true;
    if (!this.document) this.program.send(encodePlain(Type.AskText));
  }
  leave(): void { this.active = false; }

  // ---- what the program says ------------------------------------------------------------------------------------------------

  takeText(text: string): void {
    try {
      this.document = parseScene(text);
      this.text = text;
    } catch (error) {
      this.program.note(`The scene cannot be edited: ${(error as Error).message}`, true);
    }
    this.program.changed();
  }

  takeScene(scene: Scene): void {
    if (scene.source === this.name && this.document) {
      this.before = null;
      if (this.keep >= 0 && this.keep < scene.bodies.length) this.program.choose(this.keep);
      this.program.changed();
      return;
    }
    this.document = null;
    this.name = scene.source;
    this.past = [];
    this.future = [];
    this.before = null;
    if (this.active) this.enter();
    this.program.changed();
  }

  /* True if the error is the answer to a change, which is then taken back. */
  takeError(): boolean {
    if (!this.before) return false;
    const { text, past, future } = this.before;
    this.before = null;
    this.past = past;
    this.future = future;
    this.text = text;
    this.document = parseScene(text);
    this.program.drawn();
    this.program.changed();
    return true;
  }

  // ---- changes --------------------------------------------------------------------------------------------------------------

  change(act: (scene: SceneDocument) => number | void): void {
    if (!this.document || !this.program.scene) return;
    const before = this.snapshot();
    this.past.push(this.present());
    this.future = [];
    this.keep = act(this.document) ?? this.program.chosen;
    dropInterfaces(this.document, parseScene(before.text));
    this.submit(printScene(this.document), before);
  }

  undo(): void { this.go(this.past, this.future); }
  redo(): void { this.go(this.future, this.past); }

  private go(from: Version[], to: Version[]): void {
    if (!from.length || !this.document) return;
    const before = this.snapshot(), { text, chosen } = from.pop()!;
    to.push(this.present());
    this.document = parseScene(text);
    this.keep = chosen;
    this.submit(text, before);
  }

  private present(): Version { return { text: this.text, chosen: this.program.chosen }; }
  private snapshot(): NonNullable<Editor["before"]> { return { ...this.present(), past: [...this.past], future: [...this.future] }; }

  private submit(text: string, before: NonNullable<Editor["before"]>): void {
    this.before ??= before;
    this.text = text;
    if (!this.name.endsWith(" (edited)")) this.name = `${this.name} (edited)`;
    this.program.send(encodePlain(Type.Pause));
    this.program.send(encodeOpenText(this.name, text));
    this.program.opened(this.name, text);
    this.program.changed();
  }

  add(kind: string): void {
    const size = this.program.scene?.nearSize ?? 1;
    this.change((scene) => addBody(scene, kind, 0.8 * size, this.program.top()));
  }

  copy(): void {
    const { chosen } = this.program, size = this.program.scene?.nearSize ?? 1;
    if (chosen >= 0) this.change((scene) => copyBody(scene, chosen, [0, 0, tidy(1.2 * size)]));
  }

  remove(): void {
    const { chosen } = this.program;
    if (chosen < 0 || !this.document) return;
    if (this.document.bodies.length === 1) return this.program.note("A scene has at least one body.", false);
    this.change((scene) => { deleteBody(scene, chosen); return -1; });
  }

  startHere(): void {
    const { shown, scene } = this.program;
    if (shown && scene) this.change((text) => startFrom(text, shown.pose, shown.coordinate, scene.bodies.map(({ firstReduced, reduced }) => ({ first: firstReduced, count: reduced }))));
  }

  // ---- moving a body with the pointer ---------------------------------------------------------------------------------------

  canMove(body: number): boolean { return this.active && this.document?.bodies[body] !== undefined && this.program.shown !== null; }

  /* What is edited is the start: a scene that has gone on goes back to it first. */
  grab(hit: Hit, direction: Vector3): void {
    if (this.program.shown!.time !== 0) {
      this.keep = hit.body;
      this.program.send(encodePlain(Type.Pause));
      this.program.send(encodePlain(Type.Reset));
      return this.program.note("The scene is back at its start, where bodies are moved. “Start here” would have kept it as it was.", false);
    }
    const position = this.document!.bodies[hit.body].position ?? [0, 0, 0];
    this.program.choose(hit.body);
    this.drag = { body: hit.body, plane: new Plane().setFromNormalAndCoplanarPoint(direction, hit.point), from: hit.point.clone(), start: [...position], moved: [...position] };
  }

  /* The shown frame follows the pointer; the program gets the place when the pointer lets go. */
  move(ray: Ray): void {
    const { drag } = this, at = new Vector3(), frame = this.program.shown;
    if (!drag || !frame || !ray.intersectPlane(drag.plane, at)) return;
    const unit = 10 ** Math.floor(Math.log10((this.program.scene?.nearSize ?? 1) / 20));
    at.sub(drag.from);
    drag.moved = drag.start.map((x, i) => Number((x + unit * Math.round(at.getComponent(i) / unit)).toPrecision(12))) as Vec3;
    for (let i = 0; i < 3; i++) frame.pose[7 * drag.body + i] = drag.moved[i];
    this.program.drawn();
  }

  release(): void {
    const { drag } = this;
    this.drag = null;
    if (drag && drag.moved.some((x, i) => x !== drag.start[i])) this.change((scene) => { scene.bodies[drag.body].position = drag.moved; });
  }

  // ---- out ------------------------------------------------------------------------------------------------------------------

  get json(): string { return this.text; }

  async link(): Promise<string> {
    const own = new URLSearchParams(location.search).has("token") ? location.search : ""; // without it a program does not let the page in
    const link = `${location.origin}${location.pathname}${own}#scene=${await packScene(this.text)}`;
    if (link.length > LINK_MAX) throw new Error(`The scene is too large for a link: ${link.length} characters, at most ${LINK_MAX}. Save it as a file.`);
    return link;
  }
}
