// The tab "Edit": what can be changed about the scene and its selected body, and the measure.
import { SHAPES, makeShape, setMaterial, turnBody, type BodyText, type Shape } from "./document";
import { el } from "./dom";
import type { Editor } from "./editor";
import type { Vec3 } from "./protocol";

export interface EditActions { save(): void; link(): void; openFile(): void; measure(on: boolean): void }

const NEW = "new material…";
const AXES = ["x", "y", "z"] as const;

export class EditPanel {
  private readonly body = el("div", { class: "group" });
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly measured = el("output", { id: "measured", class: "hint" });
  private readonly ruler: HTMLButtonElement;
  measuring = false;

  constructor(root: HTMLElement, private readonly editor: () => Editor, private readonly actions: EditActions) {
    const button = (id: string, text: string, title: string, click: () => void) => el("button", { type: "button", id, title, onclick: click }, text);
    this.undo = button("edit-undo", "Undo", "Take the last change back (Ctrl+Z)", () => this.editor().undo());
    this.redo = button("edit-redo", "Redo", "Make it again (Ctrl+Y)", () => this.editor().redo());
    const shape = el("select", { id: "edit-add-shape", "aria-label": "Shape of the new body" }, ...Object.keys(SHAPES).map((kind) => el("option", { value: kind }, kind)));
    this.ruler = button("edit-measure", "Measure", "Click two points", () => this.measure(!this.measuring));
    root.append(
      el("div", { class: "group" }, el("h2", {}, "Edit the start of the scene"),
        el("p", { class: "hint" }, "Click a body to select it, drag it to move it. Every change restarts the scene, paused."),
        el("div", { class: "keys" }, this.undo, this.redo, button("edit-here", "Start here", "The bodies as they are now, at rest, become the start", () => this.editor().startHere()))),
      el("div", { class: "group" }, el("h2", {}, "Add a body"), el("div", { class: "pair add" }, shape, button("edit-add", "Add", "Above the others", () => this.editor().add(shape.value)))),
      this.body,
      el("div", { class: "group" }, el("h2", {}, "Measure"), this.ruler, this.measured),
      el("div", { class: "group" }, el("h2", {}, "Keep"), el("div", { class: "keys" }, button("edit-save", "Save", "As a scene file, for drystone run", actions.save),
        button("edit-link", "Copy a link", "That holds the scene", actions.link), button("edit-open", "Open…", "A scene file", actions.openFile))));
  }

  measure(on: boolean): void {
    this.measuring = on;
    this.ruler.classList.toggle("primary", on);
    this.measured.textContent = on ? "Click two points." : "";
    this.actions.measure(on);
  }
  showMeasure(text: string): void { this.measured.textContent = text; }

  /* What the fields show: the text of the selected body. */
  show(chosen: number): void {
    const editor = this.editor(), body = editor.document?.bodies[chosen];
    this.undo.disabled = !editor.canUndo;
    this.redo.disabled = !editor.canRedo;
    this.body.replaceChildren();
    if (!editor.document) return this.body.append(el("p", { class: "hint" }, "Editing needs a live scene."));
    if (!body) return this.body.append(el("h2", {}, "Body"), el("p", { class: "hint" }, "None is selected."));
    const change = (act: (body: BodyText) => void) => editor.change((scene) => act(scene.bodies[chosen]));
    const [single] = body.shapes ?? [];
    this.body.append(el("h2", {}, `Body ${body.name ?? chosen}`), this.kindRow(body, change), this.tripleRow("Position", "m", "edit-position", body.position ?? [0, 0, 0], (v) => change((b) => { b.position = v; })),
      this.turnRow(chosen), this.materialRow(chosen, body), ...this.frictionRow(body));
    if (body.shapes?.length === 1 && single.kind in SHAPES) this.body.append(this.shapeRow(single, change), ...this.sizeRows(single, change));
    this.body.append(row("Mass", numberField("edit-mass", body.mass ?? "", "Mass", (value) => change((b) => { b.mass = value; })), "kg"),
      el("div", { class: "keys" }, el("button", { type: "button", id: "edit-copy", title: "Ctrl+D", onclick: () => editor.copy() }, "Copy"),
        el("button", { type: "button", id: "edit-delete", title: "Delete", onclick: () => editor.remove() }, "Delete")));
  }

  private kindRow(body: BodyText, change: (act: (body: BodyText) => void) => void): HTMLElement {
    const select = el("select", { id: "edit-kind", "aria-label": "Kind" }, ...["dynamic", "static", "kinematic"].map((kind) => el("option", { value: kind }, kind)));
    select.value = body.kind ?? "dynamic";
    select.addEventListener("change", () => change((b) => { b.kind = select.value; }));
    return row("Kind", select);
  }

  private tripleRow(label: string, unit: string, id: string, value: Vec3, set: (value: Vec3) => void): HTMLElement {
    const inputs = AXES.map((axis, i) => numberField(`${id}-${axis}`, Number(value[i].toPrecision(4)), `${label} ${axis}`, (x) => set(value.map((y, k) => (k === i ? x : y)) as Vec3)));
    return row(label, el("span", { class: "triple" }, ...inputs), unit);
  }

  /* Buttons that turn about the axes of the world. */
  private turnRow(chosen: number): HTMLElement {
    const degrees = el("input", { type: "number", id: "edit-degrees", step: "any", value: 15, "aria-label": "Degrees" });
    const buttons = AXES.map((axis, i) => el("button", { type: "button", id: `edit-turn-${axis}`, title: `Turn about ${axis}`,
      onclick: () => { const angle = Number(degrees.value); if (Number.isFinite(angle)) this.editor().change((scene) => turnBody(scene, chosen, i as 0 | 1 | 2, angle)); } }, `↻${axis}`));
    return row("Turn", el("span", { class: "turn" }, degrees, ...buttons), "°");
  }

  private materialRow(chosen: number, body: BodyText): HTMLElement {
    const editor = this.editor(), names = Object.keys(editor.document!.materials ?? {});
    const select = el("select", { id: "edit-material", "aria-label": "Material" }, ...(body.material ? [] : [el("option", { value: "" }, "its own")]), ...names.map((name) => el("option", { value: name }, name)), el("option", { value: NEW }, NEW));
    select.value = body.material ?? "";
    select.addEventListener("change", () => {
      if (!select.value) return;
      let name = select.value;
      if (name === NEW) for (let k = 1; ; k++) if (!names.includes((name = `material ${k}`))) break;
      editor.change((scene) => setMaterial(scene, chosen, name));
    });
    return row("Material", select);
  }

  private frictionRow(body: BodyText): HTMLElement[] {
    const editor = this.editor(), material = body.material ? editor.document!.materials?.[body.material] : undefined, chosen = editor.document!.bodies.indexOf(body);
    const set = (mu: number) => editor.change((scene) => {
      const own = scene.bodies[chosen];
      if (own.material && scene.materials?.[own.material]) scene.materials[own.material].mu = mu;
      else own.mu = mu;
    });
    return [row("Friction μ", numberField("edit-mu", material?.mu ?? body.mu ?? 0.5, "Friction", set, 0))];
  }

  private shapeRow(shape: Shape, change: (act: (body: BodyText) => void) => void): HTMLElement {
    const select = el("select", { id: "edit-shape", "aria-label": "Shape" }, ...Object.keys(SHAPES).map((kind) => el("option", { value: kind }, kind)));
    select.value = shape.kind;
    const size = shape.size?.[0] ?? (shape.semi_axes ? 2 * shape.semi_axes[0] : 2 * (shape.radius ?? 0.5));
    select.addEventListener("change", () => change((b) => { b.shapes = [makeShape(select.value, size)]; }));
    return row("Shape", select);
  }

  private sizeRows(shape: Shape, change: (act: (body: BodyText) => void) => void): HTMLElement[] {
    return SHAPES[shape.kind].map((key) => {
      const value = shape[key] as number | Vec3, set = (next: number | Vec3) => change((b) => { (b.shapes![0] as Record<string, unknown>)[key] = next; });
      if (Array.isArray(value)) return this.tripleRow(key === "size" ? "Size" : "Semi-axes", "m", `edit-${key}`, value, set);
      return row(key[0].toUpperCase() + key.slice(1), numberField(`edit-${key}`, value, key, set, 0), "m");
    });
  }
}

function numberField(id: string, value: number | string, label: string, set: (value: number) => void, min?: number): HTMLInputElement {
  const input = el("input", { type: "number", step: "any", id, value, "aria-label": label, ...(min === undefined ? {} : { min }) });
  input.addEventListener("change", () => {
    const next = Number(input.value);
    if (input.value !== "" && Number.isFinite(next) && input.checkValidity()) set(next);
  });
  return input;
}

function row(label: string, control: HTMLElement, unit = ""): HTMLElement {
  return el("div", { class: "row" }, el("span", {}, label, unit ? el("small", {}, unit) : ""), control);
}
