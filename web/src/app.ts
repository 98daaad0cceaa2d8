// The page as a whole: receives messages, keeps the display in step with the player, and draws only when something has changed.
import type { Vector3 } from "three";
import { download, picture, Video } from "./capture";
import { Choice } from "./choice";
import type { Chrome } from "./chrome";
import { makeFilm, Pulse } from "./film";
import { unpackScene } from "./document";
import { Editor } from "./editor";
import type { Hand } from "./hand";
import { History } from "./history";
import type { LayerName } from "./layers/layers";
import { pick } from "./pick";
import { Measure } from "./layers/measure";
import { Player } from "./player";
import { Pointer } from "./pointer";
import {
  checkFrame, encodeGrab, encodeMove, encodeOpen, encodeOpenText, encodePlain, encodePlay, encodeSeen, encodeSet, encodeStand, encodeStep, encodeWant, Type,
  type Frame, type Hello, type Message, type Scene, type Setting, type Status, type Vec3, type Verdict,
} from "./protocol";
import { Show } from "./show";
import { Source } from "./source";
import type { View } from "./view";
import type { World } from "./world";

const MOST_TEXT = 4e6; // bytes of a scene, below what a message may have
const MANY = 200; // moving bodies: above this contact marks are off at first
const AHEAD = 64; // frames of a film that wait to be drawn
const STILL = 250; // ms without a change before drawing at full resolution

export class App {
  readonly show: Show;
  readonly choice: Choice;
  readonly editor: Editor;
  readonly ruler = new Measure();
  private readonly texts = new Map<string, string>(); // scenes opened or edited in this page, by name
  readonly pointer: Pointer;
  readonly source: Source;
  readonly video = new Video();
  hello: Hello | null = null;
  player: Player;
  status: Status | null = null;
  private lastTick = 0;
  moving = false; // the last tick drew something
  private stillSince = 0; // ms; 0 = drawn at full resolution
  private filming = false;
  private readonly filmed = new Pulse(); // a frame of the film arrived or was drawn, or there are no more
  private chooseMarks = true; // contact marks by the number of bodies, until the user decides
  private linked = ""; // source of the scene that the address holds
  private linkedShown = false;
  private takenWaiter: (() => void) | null = null;

  constructor(canvas: HTMLCanvasElement, overlay: HTMLElement, readonly chrome: Chrome) {
    this.source = new Source({
      message: (message, fromSocket) => this.take(message, fromSocket),
      trouble: (text) => chrome.note(text, true),
      state: (state, text) => {
        chrome.setState(state, text);
        if (state === "open") this.want();
      },
      progress: (bytes, total) => chrome.setProgress(bytes, total),
      room: () => (this.filming && this.isAhead() ? this.room() : null),
    });
    this.player = this.makePlayer(false);
    const show = (this.show = new Show(canvas, overlay, {
      grab: (body, local, target) => this.send(encodeGrab(body, local, target)),
      move: (target) => this.send(encodeMove(target)),
      release: () => this.send(encodePlain(Type.Release)),
    }));
    show.placing = (wallsHide) => { if (wallsHide !== this.layers.has("through")) this.setLayer("through", wallsHide); };
    const choice = (this.choice = new Choice(show, chrome, this));
    const app = this;
    const editor = (this.editor = new Editor({
      get scene() { return app.scene; }, get shown() { return app.shown; }, get chosen() { return choice.chosen; },
      send: (message) => this.send(message), choose: (body) => choice.choose(body), top: () => this.top(),
      drawn: () => show.renew(), changed: () => chrome.panel.edit.show(choice.chosen),
      note: (text, bad) => chrome.note(text, bad), opened: (name, text) => { this.forgetLink(); this.remember(name, text); },
    }));
    choice.changed = () => chrome.panel.edit.show(choice.chosen);
    show.view.stage.add(this.ruler.root);
    this.pointer = new Pointer(canvas, show.view.orbit, {
      pick: (ray) => (show.world ? pick(show.world, ray) : null),
      canGrab: (hit) => (editor.active ? editor.canMove(hit.body) : this.canGrab(hit.body)),
      grab: (hit) => (editor.active ? editor.grab(hit, show.view.orbit.camera.getWorldDirection(hit.point.clone())) : choice.grab(hit)),
      move: (ray) => (editor.active ? editor.move(ray) : show.hand.move(ray)),
      release: () => (editor.active ? editor.release() : show.hand.release()),
      hover: (hit) => choice.hover(hit),
      choose: (hit) => (this.chrome.panel.edit.measuring ? this.measureAt(hit) : choice.choose(hit ? hit.body : -1)),
      focus: (hit) => choice.focus(hit),
    });
    const lost = "The graphics context was lost. It will be restored; otherwise reload the page.";
    canvas.addEventListener("webglcontextlost", () => chrome.note(lost, true));
    canvas.addEventListener("webglcontextrestored", () => {
      chrome.takeBack(lost);
      this.show.dirty = true;
    });
    document.addEventListener("visibilitychange", () => this.want());
    requestAnimationFrame((now) => this.tick(now));
  }

  get view(): View { return this.show.view; }
  get world(): World | null { return this.show.world; }
  get scene(): Scene | null { return this.show.scene; }
  get shown(): Frame | null { return this.show.shown; }
  get layers(): Set<LayerName> { return this.show.layers; }
  get hand(): Hand { return this.show.hand; }
  get hovered(): number { return this.choice.hovered; }
  get chosen(): number { return this.choice.chosen; }
  get live(): boolean { return this.hello?.mode === "live"; }
  /* Whether the newest frame is drawn at full resolution. */
  get settled(): boolean { return !this.show.dirty && this.stillSince === 0; }

  // ---- where messages come from -----------------------------------------------------------------------------------------

  async loadUrl(url: string, quietWhereAbsent: boolean): Promise<void> {
    const failure = await this.source.loadUrl(url);
    if (failure === null) return;
    if (failure && quietWhereAbsent && !this.scene) this.chrome.showEmpty(true);
    else if (failure) this.chrome.note(`The recording cannot be read: ${failure}`, true);
    this.loaded();
  }

  async loadFile(file: File): Promise<void> {
    if (/\.json$/i.test(file.name)) return this.loadScene(file);
    let begun = false;
    const failure = await this.source.loadFile(file, () => { begun = true; this.hello = null; });
    if (failure) this.chrome.note(`${file.name} cannot be read: ${failure}. Expected a file written by "drystone view --export" (recording.bin).`, true);
    if (begun && failure !== null) this.loaded();
  }

  /* From a recording that was opened here to the live scene. */
  backToLive(): void {
    this.hello = null;
    this.source.back();
  }

  private async loadScene(file: File): Promise<void> {
    if (!this.live) return this.chrome.note("Scene files need a live page: drystone view, or the page of make web. Here only recordings can be opened.", true);
    if (file.size > MOST_TEXT) return this.chrome.note(`${file.name} has ${file.size} bytes; a page may open scenes of up to ${MOST_TEXT}.`, true);
    const text = await file.text();
    this.remember(file.name, text);
    this.openText(file.name);
  }

  openText(name: string): void {
    const text = this.texts.get(name);
    if (text !== undefined) this.send(encodeOpenText(name, text));
  }

  private remember(name: string, text: string): void {
    this.texts.delete(name);
    this.texts.set(name, text);
    this.chrome.panel.setOpened([...this.texts.keys()].reverse());
  }

  /* #scene= in the address: a small scene, compressed. */
  private async openLink(): Promise<void> {
    const packed = /^#scene=([\w-]+)$/.exec(location.hash)?.[1];
    if (!packed) return;
    try {
      this.remember((this.linked = "from the link"), await unpackScene(packed));
      this.openText(this.linked);
    } catch {
      this.chrome.note("The scene in the address cannot be read; the link may have been cut.", true);
    }
  }

  /* The address holds another scene than the page shows. */
  private forgetLink(): void {
    if (this.linkedShown) history.replaceState(null, "", location.pathname + location.search);
    this.linkedShown = false;
  }

  private loaded(): void {
    const { thinned } = this.player.history;
    this.player.complete = true;
    this.filmed.beat();
    this.chrome.setProgress(1, 1);
    if (thinned > 1) this.chrome.note(`The recording is large: every ${thinned}th frame is kept.`, false);
  }

  send(message: ArrayBuffer): void { this.source.send(message); }

  /* A hidden page asks for few frames. */
  private want(): void {
    if (this.live) this.send(encodeWant(1, document.hidden ? 2 : 60));
  }

  // ---- messages ---------------------------------------------------------------------------------------------------------

  private take(message: Message, fromSocket: boolean): void {
    switch (message.type) {
      case Type.Hello: return this.takeHello(message.hello, fromSocket);
      case Type.Scene: return this.takeScene(message.scene);
      case Type.Geometry: return this.show.addGeometry(message.geometry);
      case Type.Frame: return this.takeFrame(message.frame, fromSocket);
      case Type.Status: return this.takeStatus(message.status);
      case Type.Spheres: return this.choice.takeSpheres(message.spheres);
      case Type.Field: return this.choice.takeField(message.field);
      case Type.Error: return this.takeError(message.text);
      case Type.Taken: return this.takenWaiter?.();
      case Type.End: return;
      case Type.Verdict: return this.takeVerdict(message.verdict);
      case Type.SceneText: return this.editor.takeText(message.text);
    }
  }

  private takeHello(hello: Hello, fromSocket: boolean): void {
    if (!fromSocket && this.hello) return; // a recording repeats it
    const again = this.hello?.mode === hello.mode;
    this.hello = hello;
    this.chrome.setHello(hello, this.source.hidesLive);
    if (hello.mode === "live") {
      this.want();
      if (!again) void this.openLink();
    }
    else if (fromSocket && !(again && this.player.history.length)) {
      const token = new URLSearchParams(location.search).get("token") ?? "";
      void this.loadUrl(`/recording?token=${encodeURIComponent(token)}`, false);
    }
  }

  private takeScene(scene: Scene): void {
    this.choice.forget();
    this.show.begin(scene);
    this.player = this.makePlayer(this.live, this.player.speed);
    this.player.complete = this.live;
    this.chrome.setScene(scene, this.live);
    this.chrome.showEmpty(false);
    this.ruler.clear();
    if (this.chooseMarks) this.switchLayer("contacts", scene.bodies.filter((body) => body.mass > 0).length <= MANY);
    if (this.live) this.editor.takeScene(scene);
    if (scene.source !== this.linked) this.forgetLink();
    else this.linkedShown = true;
  }

  private takeError(text: string): void {
    this.chrome.note(this.editor.takeError() ? `${text} The change was taken back.` : text, true);
  }

  /* A free place above the middle of the view. */
  private top(): Vec3 {
    const { world, scene } = this, middle = this.view.orbit.target, size = scene?.nearSize ?? 1;
    let top = middle.z;
    scene?.bodies.forEach((body, b) => { if (body.mass > 0) top = Math.max(top, world!.position(b, middle.clone()).z + world!.radius[b]); });
    return [middle.x, middle.y, top + size];
  }

  private makePlayer(live: boolean, speed = 1): Player {
    const player = new Player(new History(!live && this.hello?.mode !== "film"), live, {
      play: (s) => this.send(encodePlay(s)), pause: () => this.send(encodePlain(Type.Pause)), step: (count) => this.send(encodeStep(count)),
    });
    player.speed = speed;
    player.paused = this.status?.paused ?? false;
    return player;
  }

  private takeFrame(frame: Frame, fromSocket: boolean): void {
    if (!this.scene) return;
    checkFrame(frame, this.scene);
    this.player.history.add(frame);
    this.player.arrived(performance.now() / 1000);
    if (fromSocket) this.send(encodeSeen(frame.step));
    this.chrome.showEmpty(false);
    if (this.hello?.mode === "film" && !this.filming) void this.film(this.hello);
    this.filmed.beat();
  }

  private takeStatus(status: Status): void {
    if (status.failed && status.failed !== this.status?.failed) this.chrome.note(status.failed, true);
    this.status = status;
    this.player.paused = status.paused;
    this.chrome.setStatus(status);
  }

  // ---- drawing -------------------------------------------------------------------------------------------------------

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    const seconds = Math.min((now - this.lastTick) / 1000, 0.1);
    this.lastTick = now;
    if (this.filming) return;
    this.player.advance(seconds);
    this.pointer.hover();
    this.update(now);
    if (this.view.orbit.advance(seconds)) this.show.dirty = true;
    if (this.show.dirty || this.video.running) {
      if (this.moving && !this.video.running) this.view.pace.picture(seconds);
      this.show.draw(this.video.running); // a video keeps its resolution
      this.moving = true;
      this.stillSince = now;
    } else {
      this.moving = false;
      if (now - this.stillSince > STILL && this.stillSince > 0) this.drawStill();
    }
    this.chrome.follow(this, now);
  }

  private drawStill(): void {
    this.stillSince = 0;
    this.show.draw(true);
  }

  /* Moves the bodies to the player's time. */
  private update(now: number): void {
    if (this.show.update(this.player.moment(), now)) this.choice.reprobe(now);
  }

  // ---- what the user asks for ---------------------------------------------------------------------------------------------

  canGrab(body: number): boolean { return this.live && this.source.isOpen && this.player.following && this.scene!.bodies[body].mass > 0; }

  setLayer(name: LayerName, on: boolean): void {
    if (name === "contacts") this.chooseMarks = false;
    this.switchLayer(name, on);
  }

  private switchLayer(name: LayerName, on: boolean): void {
    const { show, choice } = this;
    on ? show.layers.add(name) : show.layers.delete(name);
    if (on && ["spheres", "field", "modes"].includes(name) && this.chosen < 0) choice.chooseFirst(name === "modes");
    if (on && (name === "spheres" || name === "field") && !this.live) this.chrome.note("Sphere trees and distance fields are available for live scenes only.", false);
    if (name === "modes") choice.chooseMode(show.modes.mode);
    if (!on && name === "spheres") show.spheres.clear();
    if (!on && name === "field") show.field.clear();
    this.chrome.panel.showLayer(name, on);
    show.applyLayers();
    choice.probe();
  }

  toggle(): void { this.player.toggle(); }
  restart(): void {
    if (this.live) this.send(encodePlain(Type.Reset));
    else this.player.scrub(this.player.history.begin);
  }
  open(specification: string): void {
    this.chrome.note(`Opening ${specification}…`, false);
    this.send(encodeOpen(specification));
  }
  set(what: Setting, index: number, value: number): void { this.send(encodeSet(what, index, value)); }

  stand(mu: number, tilt: number, azimuth: number, removed: number, full: boolean): void {
    this.send(encodeStand(mu, tilt, azimuth, removed, full));
    this.leaveOut(removed);
  }
  standEnd(): void {
    this.show.showVerdict(null);
    this.leaveOut(-1);
  }
  private leaveOut(body: number): void {
    this.world?.leaveOut(body);
    this.show.renew();
  }

  private takeVerdict(verdict: Verdict): void {
    if (!this.chrome.panel.stand.take(verdict)) return;
    this.show.showVerdict(verdict);
  }

  measure(on: boolean): void {
    if (!on) this.ruler.clear();
    this.show.dirty = true;
  }

  private measureAt(hit: { point: Vector3 } | null): void {
    if (!hit) return;
    this.chrome.panel.edit.showMeasure(this.ruler.add(hit.point));
    this.show.dirty = true;
  }

  saveScene(): void {
    if (this.editor.json) download(new Blob([this.editor.json], { type: "application/json" }), `${(this.scene?.name || "scene").replace(/[^\w.-]+/g, "-")}.json`);
  }

  async copyLink(): Promise<void> {
    try {
      const link = await this.editor.link();
      this.linked = this.scene?.source ?? "";
      this.linkedShown = true;
      history.replaceState(null, "", link.slice(link.indexOf("#")));
      await navigator.clipboard?.writeText(link).catch(() => undefined);
      const where = location.search.includes("token=") ? " It works while this program runs; what begins with # also opens in any page of make web." : "";
      this.chrome.note(`The link with the scene is copied, and is the address of this page.${where}`, false);
    } catch (error) {
      this.chrome.note((error as Error).message, true);
    }
  }

  async screenshot(): Promise<void> {
    download(await picture(this.view.canvas, () => this.show.draw(true)), `${this.fileName()}.png`);
  }

  async toggleVideo(): Promise<void> {
    if (this.video.running) return this.video.stop(this.fileName());
    try {
      this.video.start(this.view.canvas);
      if (!this.live && !this.player.playing) this.player.toggle();
    } catch (error) {
      this.chrome.note((error as Error).message, true);
    }
  }

  private fileName(): string { return `${(this.scene?.name || "drystone").replace(/[^\w.-]+/g, "-")}-${this.player.time.toFixed(2)}s`; }

  private film(hello: Hello): Promise<void> {
    this.filming = true;
    return makeFilm(this.show, this.player, hello.film, {
      send: (message) => this.send(message),
      taken: () => new Promise((go) => (this.takenWaiter = go)),
      arrived: (time) => this.arrived(time),
    }).catch((error: Error) => this.chrome.note(error.message, true));
  }

  /* Resolves when there are frames on both sides of a moment of the film. */
  private async arrived(time: number): Promise<void> {
    const { player } = this;
    player.scrub(time); // what is earlier is drawn
    this.filmed.beat();
    while (!player.complete && player.history.end <= time) await this.filmed.next();
    if (player.history.end < time) throw new Error(`The recording ends at ${player.history.end} s; the film needs ${time} s.`);
  }

  private isAhead(): boolean { return this.player.history.length - this.player.history.find(this.player.time) > AHEAD; }

  private async room(): Promise<void> {
    while (this.isAhead()) await this.filmed.next();
  }
}
