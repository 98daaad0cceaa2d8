// The panel on the right: the scene and its parameters, what is shown, and the plots. Its only state is its fields, which show the program's
// STATUS unless the user is typing in them.
import { el } from "./dom";
import { EditPanel, type EditActions } from "./edit";
import type { Editor } from "./editor";
import { StandPanel } from "./stand";
import { LAYERS, type LayerName } from "./layers/layers";
import { Setting, type Hello, type Parameter, type Scene, type SceneChoice, type Status } from "./protocol";

export interface PanelActions {
  open(specification: string): void;
  set(what: Setting, index: number, value: number): void;
  layer(name: LayerName, on: boolean): void;
  arrows(factor: number): void;
  probe(level: number, axis: number, place: number): void;
  mode(index: number): void;
  pickFile(): void;
  stand(mu: number, tilt: number, azimuth: number, removed: number, full: boolean): void;
  standEnd(): void;
  editor(): Editor;
  edit: EditActions;
  openText(name: string): void; // of setOpened
  backToLive(): void;
}

const TABS = ["Scene", "Edit", "Show", "Stand", "Plots"] as const;
const HERE = "here:"; // before the names of scenes that were opened in this page
type Tab = (typeof TABS)[number];

export class Panel {
  readonly plots = el("div");
  private readonly pages = new Map<Tab, HTMLElement>();
  private readonly tabs = new Map<Tab, HTMLButtonElement>();
  private readonly picker = el("div", { class: "group" });
  private readonly setters = el("div", { class: "group" });
  private readonly facts = el("dl", { class: "facts" });
  private readonly picture = el("dl", { class: "facts", id: "picture" });
  private readonly boxes = new Map<LayerName, HTMLInputElement>();
  private readonly details = new Map<LayerName, HTMLElement>();
  private readonly fields: { input: HTMLInputElement | HTMLSelectElement; read: (status: Status) => string }[] = [];
  private level!: HTMLInputElement;
  private axis!: HTMLSelectElement;
  private place!: HTMLInputElement;
  private modeIndex!: HTMLInputElement;
  private chosen: Tab = "Scene";
  readonly stand: StandPanel;
  readonly edit: EditPanel;
  private opened: string[] = [];

  constructor(private readonly root: HTMLElement, private readonly actions: PanelActions) {
    const bar = el("div", { class: "tabs", role: "tablist", "aria-label": "Panel" });
    for (const tab of TABS) {
      const button = el("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": `page-${tab}`, onclick: () => this.choose(tab) }, tab);
      button.addEventListener("keydown", (event) => this.walkTabs(event, tab));
      const page = el("div", { class: "page", role: "tabpanel", id: `page-${tab}`, "aria-labelledby": `tab-${tab}` });
      this.tabs.set(tab, button);
      this.pages.set(tab, page);
      bar.append(button);
    }
    root.append(bar, ...this.pages.values());
    this.pages.get("Scene")!.append(this.picker, this.setters, this.facts);
    this.edit = new EditPanel(this.pages.get("Edit")!, actions.editor, actions.edit);
    this.buildLayers(this.pages.get("Show")!);
    this.stand = new StandPanel(this.pages.get("Stand")!, actions);
    this.pages.get("Plots")!.append(this.plots);
    this.choose("Scene");
  }

  get plotsVisible(): boolean { return this.chosen === "Plots" && !this.root.hidden; }

  choose(tab: Tab): void {
    if (this.chosen === "Stand" && tab !== "Stand") this.stand.leave();
    if (this.chosen === "Edit" && tab !== "Edit") { this.edit.measure(false); this.actions.editor().leave(); }
    this.chosen = tab;
    if (tab === "Edit") this.actions.editor().enter();
    if (tab === "Stand") this.stand.enter();
    for (const name of TABS) {
      this.pages.get(name)!.hidden = name !== tab;
      const button = this.tabs.get(name)!;
      button.setAttribute("aria-selected", String(name === tab));
      button.tabIndex = name === tab ? 0 : -1;
    }
  }

  private walkTabs(event: KeyboardEvent, tab: Tab): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
    this.choose(next);
    this.tabs.get(next)!.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- scene ----------------------------------------------------------------------------------------------------------

  /* `hidesLive`: it is a recording in the place of a live scene. */
  setHello(hello: Hello, hidesLive: boolean): void {
    this.picker.replaceChildren();
    if (hidesLive) this.picker.append(el("button", { type: "button", class: "wide", id: "back-live", onclick: () => this.actions.backToLive() }, "Back to the live scene"));
    if (hello.mode === "live" && hello.scenes.length) this.buildPicker(hello.scenes);
    else this.picker.append(el("button", { type: "button", class: "wide", id: "open-file", onclick: () => this.actions.pickFile() }, "Open a recording…"));
  }

  private buildPicker(scenes: SceneChoice[]): void {
    const select = el("select", { id: "scene", "aria-label": "Scene" }), summary = el("p", { class: "hint" }), rows = el("div");
    const details = el("details", { id: "parameters" }, el("summary", {}, "Parameters"), rows);
    const form = el("form", {}, details, el("button", { type: "submit", class: "wide", id: "open" }, "Open"));
    const here = el("optgroup", { label: "Opened here" }), first = el("optgroup", { label: "Opened by the program" }), generators = el("optgroup", { label: "Generators" });
    for (const { name } of scenes) generators.append(el("option", { value: name }, name));
    this.fillHere = () => {
      here.replaceChildren(...this.opened.map((name) => el("option", { value: HERE + name }, name)));
      here.hidden = !this.opened.length;
    };
    this.fillHere();
    first.hidden = true;
    select.append(here, first, generators);
    select.selectedIndex = this.opened.length;
    const chosen = () => scenes.find((scene) => scene.name === select.value);
    const fill = () => {
      const scene = chosen();
      summary.textContent = scene?.summary ?? (select.value.startsWith(HERE) ? "From a file or edited in this page." : "As the command line names it.");
      rows.replaceChildren(...(scene?.parameters ?? []).map(parameterRow));
      details.hidden = !scene?.parameters.length;
    };
    select.addEventListener("change", fill);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const scene = chosen();
      if (scene) this.actions.open(specification(scene, form));
      else if (!select.value.startsWith(HERE)) this.actions.open(select.value);
      else this.actions.openText(select.value.slice(HERE.length));
    });
    const file = el("button", { type: "button", class: "wide", id: "open-file", onclick: () => this.actions.pickFile() }, "Open a scene file or a recording…");
    this.picker.append(el("h2", {}, "Scene"), select, summary, form, file);
    fill();
    this.selectScene = (source) => {
      const [name, rest] = source.split(":"), known = this.opened.includes(source), made = scenes.some((scene) => scene.name === name);
      if (!known && !made) { // what the command line names, such as a scene file: the program opens it again by that name
        first.replaceChildren(el("option", { value: source }, source));
        first.hidden = false;
      }
      select.value = known ? HERE + source : made ? name : source;
      fill();
      if (!made || known) return;
      for (const pair of (rest ?? "").split(",")) {
        const [key, value] = pair.split("=");
        const input = form.querySelector<HTMLInputElement>(`[name="${CSS.escape(key ?? "")}"]`);
        if (input && value !== undefined) input.value = value;
      }
    };
  }
  private selectScene: (source: string) => void = () => undefined;
  private fillHere: () => void = () => undefined;

  /* Scenes of this page, newest first: the picker leads back to them. */
  setOpened(names: string[]): void {
    this.opened = names;
    this.fillHere();
  }

  setScene(scene: Scene, live: boolean): void {
    this.stand.setScene(scene, live);
    if (this.chosen === "Stand") this.stand.enter();
    this.selectScene(scene.source);
    this.fields.length = 0;
    this.setters.replaceChildren();
    if (live) this.buildSetters(scene);
    this.facts.replaceChildren();
    const moving = scene.bodies.filter((body) => body.mass > 0).length;
    for (const [term, text] of [["Bodies", `${moving} moving, ${scene.bodies.length - moving} fixed`], ["Step", `${scene.step * 1000} ms`],
      ["Degrees of freedom", String(6 * moving + scene.reduced)], ...(live ? [] : [["Tolerance", String(scene.tolerance)], ["Method", scene.method]])])
      this.facts.append(el("dt", {}, term), el("dd", {}, text));
  }

  private buildSetters(scene: Scene): void {
    this.setters.append(el("h2", {}, "While it runs"));
    scene.materials.slice(0, 12).forEach((material, k) => this.addFriction(material.name, k, material.mu));
    if (scene.materials.length > 1) this.addFriction("all", -1, scene.materials[0].mu);
    const gravity = el("span", { class: "triple" });
    ["x", "y", "z"].forEach((axis, k) => {
      const input = el("input", { type: "number", step: "any", value: scene.gravity[k], "aria-label": `Gravity along ${axis}, m/s²`, id: `gravity-${axis}` });
      this.bind(input, (status) => String(Number(status.gravity[k].toPrecision(6))), (value) => this.actions.set(Setting.Gravity, k, value));
      gravity.append(input);
    });
    const tolerance = el("input", { type: "number", step: "any", min: 0, value: scene.tolerance, "aria-label": "Tolerance", id: "tolerance" });
    this.bind(tolerance, (status) => String(status.tolerance), (value) => this.actions.set(Setting.Tolerance, 0, value));
    const method = el("select", { "aria-label": "Method", id: "method" }, ...scene.methods.map((name) => el("option", { value: name }, name)));
    method.value = scene.method;
    method.addEventListener("change", () => this.actions.set(Setting.Method, 0, method.selectedIndex));
    this.fields.push({ input: method, read: (status) => status.method });
    this.setters.append(row("Gravity", gravity, "m/s²"), row("Tolerance", tolerance), row("Method", method));
  }

  private addFriction(name: string, index: number, mu: number): void {
    const label = `μ ${name}`, what = index < 0 ? Setting.MuOfAll : Setting.Mu, at = Math.max(index, 0);
    const range = el("input", { type: "range", min: 0, max: Math.max(1.5, 2 * mu), step: 0.01, value: mu, "aria-label": `Friction of ${name}` });
    const input = el("input", { class: "loose", type: "number", min: 0, max: 10, step: 0.01, value: mu, "aria-label": `Friction of ${name}, number`, id: index < 0 ? "mu-all" : `mu-${index}` });
    range.addEventListener("input", () => {
      input.value = range.value;
      this.actions.set(what, at, Number(range.value));
    });
    this.bind(input, (status) => String(Number((status.mu[at] ?? mu).toPrecision(6))), (value) => {
      range.value = String(value);
      this.actions.set(what, at, value);
    });
    this.fields.push({ input: range, read: (status) => String(status.mu[at] ?? mu) });
    this.setters.append(row(label, el("span", { class: "pair" }, range, input)));
  }

  private bind(input: HTMLInputElement, read: (status: Status) => string, send: (value: number) => void): void {
    input.addEventListener("change", () => {
      const value = Number(input.value), { badInput, rangeOverflow, rangeUnderflow } = input.validity; // values between steps are good
      if (input.value !== "" && Number.isFinite(value) && !badInput && !rangeOverflow && !rangeUnderflow) send(value);
    });
    this.fields.push({ input, read });
  }

  setStatus(status: Status): void {
    for (const { input, read } of this.fields) {
      if (document.activeElement === input) continue;
      const value = read(status);
      if (input.value !== value) input.value = value;
    }
  }

  // ---- layers ----------------------------------------------------------------------------------------------------------

  private buildLayers(page: HTMLElement): void {
    const group = el("div", { class: "group" }, el("h2", {}, "Layers"));
    for (const layer of LAYERS) {
      const box = el("input", { type: "checkbox", role: "switch", id: `layer-${layer.name}` });
      box.checked = layer.initial;
      box.addEventListener("change", () => this.actions.layer(layer.name, box.checked));
      this.boxes.set(layer.name, box);
      group.append(el("label", { class: "switch" }, box, el("span", {}, layer.label, el("small", {}, layer.hint)), el("kbd", {}, layer.key)));
      const detail = this.detail(layer.name);
      if (detail) {
        detail.hidden = true;
        this.details.set(layer.name, detail);
        group.append(detail);
      }
    }
    const arrows = el("input", { type: "range", min: -1, max: 1, step: 0.1, value: 0, id: "arrows", "aria-label": "Length of arrows" });
    arrows.addEventListener("input", () => this.actions.arrows(Math.pow(10, Number(arrows.value))));
    group.append(row("Arrow length", arrows));
    page.append(group, el("div", { class: "group" }, el("h2", {}, "Picture"), this.picture));
  }

  private detail(name: LayerName): HTMLElement | null {
    const probe = () => this.actions.probe(Number(this.level.value), this.axis.selectedIndex, Number(this.place.value));
    if (name === "spheres") {
      this.level = el("input", { type: "range", min: 0, max: 12, step: 1, value: 1, "aria-label": "Level of the sphere tree", id: "level" });
      this.level.addEventListener("input", probe);
      return el("div", { class: "detail" }, row("Level", this.level));
    }
    if (name === "field") {
      this.axis = el("select", { "aria-label": "Axis across the slice", id: "axis" }, el("option", {}, "x"), el("option", {}, "y"), el("option", {}, "z"));
      this.axis.selectedIndex = 1;
      this.place = el("input", { type: "range", min: 0, max: 1, step: 0.01, value: 0.5, "aria-label": "Place of the slice", id: "place" });
      this.axis.addEventListener("change", probe);
      this.place.addEventListener("input", probe);
      return el("div", { class: "detail" }, row("Across", this.axis), row("Place", this.place));
    }
    if (name === "modes") {
      this.modeIndex = el("input", { type: "number", min: 1, max: 1, step: 1, value: 1, "aria-label": "Number of the mode", id: "mode" });
      this.modeIndex.addEventListener("input", () => this.actions.mode(Math.max(Number(this.modeIndex.value), 1) - 1));
      return el("div", { class: "detail" }, row("Mode", this.modeIndex));
    }
    return null;
  }

  probeChoice(): { level: number; axis: number; place: number } {
    return { level: Number(this.level.value), axis: this.axis.selectedIndex, place: Number(this.place.value) };
  }
  setLevels(levels: number): void { this.level.max = String(Math.max(levels - 1, 0)); }
  setModes(modes: number): void { this.modeIndex.max = String(Math.max(modes, 1)); }

  get showVisible(): boolean { return this.chosen === "Show" && !this.root.hidden; }

  /* Size and cost of the last frame. */
  showPicture(facts: [string, string][]): void { this.picture.replaceChildren(...facts.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)])); }

  showLayer(name: LayerName, on: boolean): void {
    this.boxes.get(name)!.checked = on;
    const detail = this.details.get(name);
    if (detail) detail.hidden = !on;
  }
}

function row(label: string, control: HTMLElement, unit = ""): HTMLElement {
  return el("label", { class: "row" }, el("span", {}, label, unit ? el("small", {}, unit) : ""), control);
}

function parameterRow(parameter: Parameter): HTMLElement {
  const { name, unit, summary, initial, low, high, integer, choices } = parameter;
  let input: HTMLInputElement | HTMLSelectElement;
  if (choices.length) {
    input = el("select", { name }, ...choices.map((choice) => el("option", { value: choice }, choice)));
    input.value = initial;
  } else {
    input = el("input", { name, type: "number", step: integer ? 1 : "any", value: initial, ...(Number.isFinite(low) ? { min: low } : {}), ...(Number.isFinite(high) ? { max: high } : {}) });
  }
  input.dataset.initial = initial;
  input.title = summary;
  return row(name.replace(/_/g, " "), input, unit);
}

/* Only values that differ from the generator's defaults. */
function specification(scene: SceneChoice, form: HTMLFormElement): string {
  const pairs: string[] = [];
  for (const { name } of scene.parameters) {
    const input = form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement | null;
    if (input && input.value !== "" && input.value !== input.dataset.initial) pairs.push(`${name}=${input.value}`);
  }
  return pairs.length ? `${scene.name}:${pairs.join(",")}` : scene.name;
}
