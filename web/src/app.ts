// The page as a whole: receives messages, keeps the display in step with the player, and draws only when something has changed.
import { download, picture, Video } from "./capture";
import { Choice } from "./choice";
import type { Chrome } from "./chrome";
import { makeFilm } from "./film";
import type { Hand } from "./hand";
import { History } from "./history";
import type { LayerName } from "./layers/layers";
import { pick } from "./pick";
import { Player } from "./player";
import { Pointer } from "./pointer";
import {
  checkFrame, encodeGrab, encodeMove, encodeOpen, encodePlain, encodePlay, encodeSeen, encodeSet, encodeStand, encodeStep, encodeWant, Type,
  type Frame, type Hello, type Message, type Scene, type Setting, type Status, type Verdict,
} from "./protocol";
import { Show } from "./show";
import { Source } from "./source";
import type { View } from "./view";
import type { World } from "./world";

const STILL = 250; // ms without a change before drawing at full resolution

export class App {
  readonly show: Show;
  readonly choice: Choice;
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
    });
    this.player = this.makePlayer(false);
    const show = (this.show = new Show(canvas, overlay, {
      grab: (body, local, target) => this.send(encodeGrab(body, local, target)),
      move: (target) => this.send(encodeMove(target)),
      release: () => this.send(encodePlain(Type.Release)),
    }));
    show.placing = (wallsHide) => { if (wallsHide !== this.layers.has("through")) this.setLayer("through", wallsHide); };
    const choice = (this.choice = new Choice(show, chrome, this));
    this.pointer = new Pointer(canvas, show.view.orbit, {
      pick: (ray) => (show.world ? pick(show.world, ray) : null),
      canGrab: (hit) => this.canGrab(hit.body),
      grab: (hit) => choice.grab(hit),
      move: (ray) => show.hand.move(ray),
      release: () => show.hand.release(),
      hover: (hit) => choice.hover(hit),
      choose: (hit) => choice.choose(hit ? hit.body : -1),
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
    this.hello = null;
    const failure = await this.source.loadFile(file);
    if (failure) this.chrome.note(`${file.name} cannot be read: ${failure}. Expected a file written by "drystone view --export" (recording.bin).`, true);
    this.loaded();
  }

  private loaded(): void {
    const { thinned } = this.player.history;
    this.player.complete = true;
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
      case Type.Error: return this.chrome.note(message.text, true);
      case Type.Taken: return this.takenWaiter?.();
      case Type.End: return;
      case Type.Verdict: return this.takeVerdict(message.verdict);
      case Type.SceneText: return;
    }
  }

  private takeHello(hello: Hello, fromSocket: boolean): void {
    if (!fromSocket && this.hello) return; // a recording repeats it
    const again = this.hello?.mode === hello.mode;
    this.hello = hello;
    this.chrome.setHello(hello);
    if (hello.mode === "live") this.want();
    else if (fromSocket && !(again && this.player.history.length)) {
      const token = new URLSearchParams(location.search).get("token") ?? "";
      const done = this.loadUrl(`/recording?token=${encodeURIComponent(token)}`, false);
      if (hello.mode === "film") void done.then(() => this.film(hello));
    }
  }

  private takeScene(scene: Scene): void {
    this.choice.forget();
    this.show.begin(scene);
    this.player = this.makePlayer(this.live, this.player.speed);
    this.player.complete = this.live;
    this.chrome.setScene(scene, this.live);
    this.chrome.showEmpty(false);
  }

  private makePlayer(live: boolean, speed = 1): Player {
    const player = new Player(new History(!live), live, {
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

  stand(mu: number, tilt: number, azimuth: number, removed: number, full: boolean): void { this.send(encodeStand(mu, tilt, azimuth, removed, full)); }

  private takeVerdict(verdict: Verdict): void {
    this.chrome.panel.stand.take(verdict);
    this.show.thrust.take(verdict.lines);
    this.show.dirty = true;
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

  private film(hello: Hello): Promise<void> | void {
    if (!this.player.history.length || !this.world?.complete) return this.chrome.note("The recording has no frames.", true);
    this.filming = true;
    return makeFilm(this.show, this.player, hello.film, { send: (message) => this.send(message), taken: () => new Promise((go) => (this.takenWaiter = go)) });
  }
}
