// Everything around the view: title, tools, panel, timeline, readout, legend and notes. It displays the app's state and forwards user input.
import type { App } from "./app";
import { MOTION, SUPPORT, THRUST } from "./layers/contacts";
import { el, iconButton, setIcon, withUnit } from "./dom";
import { Readout } from "./hover";
import { Panel } from "./panel";
import { Plots } from "./plots";
import type { Hello, Scene, Status } from "./protocol";
import { Timeline } from "./timeline";

const byId = (id: string) => document.getElementById(id)!;
const NOTE_MS = 9000;
const SMALL = { width: 560, height: 400 }; // px, of the view: as in app.css

function paceText(realtime: number): string { return realtime < 0.01 ? "less than 0.01" : realtime.toFixed(realtime < 0.1 ? 2 : 1); }

export class Chrome {
  readonly panel: Panel;
  readonly readout = new Readout(byId("readout"));
  private readonly timeline: Timeline;
  private readonly plots: Plots;
  private readonly file = byId("file") as HTMLInputElement;
  private videoButton: HTMLElement | null = null;
  private followedAt = 0;
  private pace = "";

  constructor(app: () => App) {
    this.panel = new Panel(byId("panel"), {
      open: (specification) => app().open(specification), set: (what, index, value) => app().set(what, index, value), layer: (name, on) => app().setLayer(name, on),
      arrows: (factor) => app().show.scaleArrows(factor), probe: (level) => app().choice.showLevel(level), mode: (index) => app().choice.chooseMode(index), pickFile: () => this.file.click(),
      stand: (mu, tilt, azimuth, removed, full) => app().stand(mu, tilt, azimuth, removed, full), standEnd: () => app().standEnd(),
      editor: () => app().editor, openText: (name) => app().openText(name), backToLive: () => app().backToLive(),
      edit: { save: () => app().saveScene(), link: () => void app().copyLink(), openFile: () => this.file.click(), measure: (on) => app().measure(on) },
    });
    this.timeline = new Timeline(byId("timeline"), {
      toggle: () => app().toggle(), step: (by) => app().player.step(by), restart: () => app().restart(), scrub: (time) => app().player.scrub(time),
      live: () => app().player.goLive(), speed: (speed) => app().player.setSpeed(speed),
    });
    this.plots = new Plots(this.panel.plots, (time) => app().player.scrub(time));
    this.file.addEventListener("change", () => { if (this.file.files?.[0]) void app().loadFile(this.file.files[0]); this.file.value = ""; });
    // After a mouse click the keyboard focus returns to the view; after Tab it stays.
    document.addEventListener("click", (event) => {
      const button = (event.target as Element).closest("#timeline button, #tools button");
      if (button && button.id !== "help" && event.detail > 0) byId("canvas").focus({ preventScroll: true });
    });
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void app().loadFile(file);
    });
  }

  buildTools(app: App, help: () => void, theme: () => void): void {
    const sizes = new ResizeObserver(() => this.makeRoom(app));
    for (const id of ["view", "high", "key"]) sizes.observe(byId(id));
    this.videoButton = iconButton("video", "Record a video (V)", () => void app.toggleVideo(), "video");
    byId("tools").append(
      iconButton("home", "Reset the camera (H)", () => app.view.orbit.goHome(), "home"), iconButton("camera", "Save an image (S)", () => void app.screenshot(), "screenshot"), this.videoButton,
      iconButton("open", "Open a scene or a recording (O)", () => this.file.click(), "open-recording"), iconButton("theme", "Dark or light (T)", theme, "theme"), iconButton("help", "Keys (?)", help, "help"),
      iconButton("panel", "Show or hide the panel (P)", () => this.togglePanel(), "toggle-panel"));
  }

  togglePanel(): void {
    byId("panel").hidden = !byId("panel").hidden;
    document.querySelector("main")!.classList.toggle("alone", byId("panel").hidden);
  }

  /* In a small view, title, tools and legend leave the scene its own place. */
  private makeRoom(app: App): void {
    const view = byId("view").getBoundingClientRect(), small = view.width < SMALL.width || view.height < SMALL.height;
    const top = small ? byId("high").getBoundingClientRect().bottom - view.top : 0, key = byId("key").getBoundingClientRect();
    const bottom = small && key.height > 0 ? view.bottom - key.top : 0;
    if (app.view.cover(top, top + bottom < 0.6 * view.height ? bottom : 0)) app.show.dirty = true;
  }

  changeSpeed(app: App, by: number): void { app.player.setSpeed(this.timeline.chooseSpeed(by)); }
  pickFile(): void { this.file.click(); }

  setHello(hello: Hello, hidesLive: boolean): void { this.panel.setHello(hello, hidesLive); }

  setScene(scene: Scene, live: boolean): void {
    byId("name").textContent = scene.name || scene.source || "Scene";
    document.title = `${scene.name || "Scene"} – Drystone`;
    byId("facts").dataset.source = scene.source;
    this.panel.setScene(scene, live);
  }

  setStatus(status: Status): void {
    this.panel.setStatus(status);
    this.pace = status.paused ? "paused" : status.realtime > 0 ? `${paceText(status.realtime)}× real time` : "";
  }

  setState(state: "open" | "lost" | "connecting", text: string): void {
    const element = byId("state");
    element.textContent = text;
    element.dataset.state = state;
    document.documentElement.dataset.connection = state;
  }

  setProgress(bytes: number, total: number): void {
    const bar = byId("progress");
    bar.hidden = total > 0 && bytes >= total;
    bar.classList.toggle("unknown", total === 0);
    (bar.firstElementChild as HTMLElement).style.width = total ? `${(100 * bytes) / total}%` : "30%";
    bar.setAttribute("aria-valuetext", `${(bytes / 1e6).toFixed(1)} MB`);
  }

  showEmpty(on: boolean): void {
    const empty = byId("empty");
    if (empty.hidden === !on) return;
    empty.hidden = !on;
    const asFile = location.protocol === "file:";
    if (on)
      empty.replaceChildren(el("h2", {}, asFile ? "Open recording.bin" : "No recording here"),
        el("p", {}, asFile ? "This page was opened as a file and cannot load recordings itself: drop recording.bin here, or open it." : "Drop a recording on this page, or open one."),
        el("button", { type: "button", class: "primary", onclick: () => this.file.click() }, "Open a recording…"), el("p", { class: "hint" }, "“drystone view RECORD.h5 --export FOLDER” writes this page with a recording beside it."));
  }

  note(text: string, bad: boolean): void {
    const note = el("div", { class: bad ? "note bad" : "note" }, el("span", {}, text), iconButton("close", "Close", () => note.remove()));
    const notes = byId("notes");
    this.takeBack(text);
    notes.append(note);
    while (notes.children.length > 4) notes.firstElementChild!.remove();
    setTimeout(() => note.remove(), bad ? 3 * NOTE_MS : NOTE_MS);
  }

  takeBack(text: string): void {
    for (const note of [...byId("notes").children]) if (note.firstElementChild?.textContent === text) note.remove();
  }

  /* Ten times per second is enough for text. */
  follow(app: App, now: number): void {
    if (now - this.followedAt < 100) {
      if (app.player.isPlaying && app.shown) this.timeline.show(app.player, app.shown.step, app.scene?.time ?? 0);
      return;
    }
    this.followedAt = now;
    const { player, shown, scene } = app;
    this.timeline.show(player, shown?.step ?? 0, scene?.time ?? 0);
    if (this.panel.showVisible) this.showPicture(app);
    if (this.panel.plotsVisible) this.plots.show(player.history, player.time, shown);
    this.readout.show(shown, scene, app.hovered >= 0 ? app.hovered : app.chosen, app.hovered < 0 || app.hovered === app.chosen);
    if (this.videoButton) {
      this.videoButton.classList.toggle("recording", app.video.running);
      setIcon(this.videoButton, "video", app.video.running ? "Stop the video (V)" : "Record a video (V)");
    }
    if (shown && scene) this.showFacts(app);
  }

  private showFacts(app: App): void {
    const frame = app.shown!, moving = app.scene!.bodies.filter((body) => body.mass > 0).length;
    const words = [`${moving} ${moving === 1 ? "body" : "bodies"}`, `${frame.contactsFound} contacts`, ...(frame.flags & 1 ? [] : ["not converged"]), ...(app.live && app.player.following ? [this.pace] : [])];
    byId("facts").textContent = words.filter((word) => word).join(" · ");
    this.showKey(app);
  }

  private showPicture({ view, moving }: App): void {
    const { canvas, pace, renderer: { info: { render } } } = view, part = Math.round(100 * pace.part);
    this.panel.showPicture([
      ["Pixels", `${canvas.width} × ${canvas.height}`], ["Resolution while moving", part < 100 ? `${part} % of each side` : "full"],
      ["Frames per second", moving ? String(Math.round(1 / pace.seconds)) : "–"], ["Draw calls", String(render.calls)], ["Triangles", render.triangles.toLocaleString("en")],
    ]);
  }

  /* The legend: only what is shown, and the scale of arrows. */
  private showKey(app: App): void {
    const { layers } = app, key = byId("key"), items: [string, string][] = [], { kinds } = app.show.thrust;
    if (app.show.marks || layers.has("friction") || layers.has("cones")) items.push(["stick", "sticks"], ["slide", "slides"]);
    if (layers.has("normal")) items.push(["normal", "normal force"]);
    if (layers.has("friction")) items.push(["friction", "friction force"]);
    if (layers.has("cones")) items.push(["cone", "most friction"]);
    if (layers.has("joints") && app.scene!.joints.length > 0) items.push(["joint", "joint"]);
    if (app.hand.root.visible) items.push(["pull", "pull"]);
    if (app.show.used) items.push(["used", "utilization"]);
    for (const [kind, name, text] of [[THRUST, "thrust", "thrust"], [SUPPORT, "support", "on a support"], [MOTION, "motion", "first motion"]] as const) if (kinds.has(kind)) items.push([name, text]);
    const arrows = (layers.has("normal") || layers.has("friction") || layers.has("cones") || app.hand.root.visible) && app.show.contacts.scale > 0;
    const perPixel = (2 * Math.tan((app.view.orbit.camera.fov * Math.PI) / 360) * app.view.orbit.distance) / app.view.canvas.clientHeight;
    let part = 1;
    while ((part * app.scene!.nearSize) / perPixel > 110) part /= 2;
    const text = arrows ? withUnit(part * app.show.contacts.scale, "N") : "", wide = Math.round((part * app.scene!.nearSize) / perPixel);
    const mark = `${items.map(([name]) => name).join()}|${text}|${wide}`;
    if (key.dataset.mark === mark) return;
    key.dataset.mark = mark;
    key.replaceChildren(...items.map(([name, label]) => el("span", { class: name }, el("i"), label)));
    if (!arrows) return;
    const bar = el("i");
    bar.style.width = `${wide}px`;
    key.append(el("span", { class: "scale" }, bar, text));
  }
}
