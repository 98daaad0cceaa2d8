// The page as a whole: takes messages, keeps what is shown in step with the player, and draws a picture when there is something new to see.
import { Color, Ray, Vector3 } from "three";
import { download, filmMoments, picture, shootFilm, Video } from "./capture";
import { Connection } from "./connection";
import { Chrome } from "./chrome";
import { Hand } from "./hand";
import { History } from "./history";
import { Contacts } from "./layers/contacts";
import { FieldSlice } from "./layers/field";
import { islandColors } from "./layers/islands";
import { LAYERS, layersOf, type LayerName } from "./layers/layers";
import { ModeShow } from "./layers/modes";
import { SphereTree } from "./layers/spheres";
import { pick, type Hit } from "./pick";
import { Player } from "./player";
import { Pointer } from "./pointer";
import {
  checkFrame, encodeGrab, encodeMove, encodeOpen, encodePlain, encodePlay, encodeProbe, encodeSeen, encodeSet, encodeStep, encodeWant, Type,
  type Frame, type Hello, type Message, type Scene, type Setting, type Status,
} from "./protocol";
import { readFile, readUrl, type StreamEvents } from "./stream";
import { DARK, LIGHT, View } from "./view";
import { World } from "./world";

const ACCENT = new Color(0xf2a51e);
const SAMPLES = 16; // bodies that are looked for behind walls
const STILL = 250; // ms without a change before the picture is drawn at full resolution
const REPROBE = 0.25; // s between questions about a deformable body's spheres

export class App {
  readonly view: View;
  readonly contacts = new Contacts();
  readonly spheres: SphereTree;
  readonly field: FieldSlice;
  readonly modes = new ModeShow();
  readonly hand: Hand;
  readonly pointer: Pointer;
  readonly video = new Video();
  readonly layers = new Set<LayerName>(LAYERS.filter((layer) => layer.initial).map((layer) => layer.name));
  hello: Hello | null = null;
  scene: Scene | null = null;
  world: World | null = null;
  player: Player;
  status: Status | null = null;
  hovered = -1;
  chosen = -1;
  shown: Frame | null = null; // at or before the moment shown
  dirty = true;
  spent = { frames: 0, script: 0, worst: 0 }; // ms in this script, for tests
  private between = -1;
  private placed = false;
  private lastSource = "";
  private lastTick = 0;
  private shadowAt = 0;
  private probedAt = 0;
  private painted: Frame | null = null;
  private shadowBall = { center: new Vector3(), radius: 0 };
  private connection: Connection | null = null;
  private loading: AbortController | null = null;
  private takenWaiter: (() => void) | null = null;
  private endOfRecording: (() => void) | null = null;

  constructor(canvas: HTMLCanvasElement, overlay: HTMLElement, readonly chrome: Chrome) {
    this.view = new View(canvas);
    this.spheres = new SphereTree(this.view.stage);
    this.field = new FieldSlice(this.view.stage);
    this.player = this.makePlayer(false);
    this.hand = new Hand({
      grab: (body, local, target) => this.send(encodeGrab(body, local, target)),
      move: (target) => this.send(encodeMove(target)),
      release: () => this.send(encodePlain(Type.Release)),
    }, this.contacts.arrowUniforms, overlay);
    this.view.stage.add(this.contacts.root, this.hand.root);
    this.pointer = new Pointer(canvas, this.view.orbit, {
      pick: (ray) => (this.world ? pick(this.world, ray) : null),
      canGrab: (hit) => this.canGrab(hit.body),
      grab: (hit) => this.grab(hit),
      move: (ray) => this.hand.move(ray),
      release: () => this.hand.release(),
      hover: (hit) => this.hover(hit),
      choose: (hit) => this.choose(hit ? hit.body : -1),
      focus: (hit) => this.focus(hit),
    });
    this.applyLayers();
    new ResizeObserver(() => { this.view.outgrown = this.dirty = true; }).observe(canvas.parentElement!);
    canvas.addEventListener("webglcontextlost", () => chrome.note("The graphics card lost this page's picture; it comes back, or reload.", true));
    document.addEventListener("visibilitychange", () => this.want());
    requestAnimationFrame((now) => this.tick(now));
  }

  // ---- where messages come from -----------------------------------------------------------------------------------------

  connect(token: string): void {
    this.chrome.setState("connecting", "Connecting…");
    this.connection = new Connection(token, {
      message: (message) => this.take(message, true),
      error: (text) => this.chrome.note(text, true),
      state: (state, wait) => {
        if (state === "open") this.opened(token);
        else if (state === "lost") this.chrome.setState("lost", `Connection lost. Next attempt in ${wait} s.`);
        else if (state === "refused") this.chrome.setState("lost", "The program does not know this address. If it was started again, open the address that it printed.");
        else this.chrome.setState("connecting", "Connecting…");
      },
    });
  }

  private opened(_token: string): void {
    this.chrome.setState("open", "");
    this.want();
  }

  async loadUrl(url: string, quietWhereAbsent: boolean): Promise<void> {
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    try {
      await readUrl(url, this.streamEvents(), loading.signal);
    } catch (error) {
      if (loading.signal.aborted) return;
      if (quietWhereAbsent && !this.scene) this.chrome.showEmpty(true);
      else this.chrome.note(`The recording cannot be read: ${(error as Error).message}`, true);
    }
    this.loaded();
  }

  async loadFile(file: File): Promise<void> {
    this.loading?.abort();
    this.connection?.end();
    this.connection = null;
    this.hello = null;
    this.chrome.setState("open", "");
    try {
      await readFile(file, this.streamEvents());
    } catch (error) {
      this.chrome.note(`${file.name} cannot be read: ${(error as Error).message}. A file that "drystone view --export" wrote is expected (recording.bin).`, true);
    }
    this.loaded();
  }

  private streamEvents(): StreamEvents {
    return { message: (message) => this.take(message, false), progress: (bytes, total) => this.chrome.setProgress(bytes, total) };
  }

  private loaded(): void {
    this.player.complete = true;
    this.chrome.setProgress(1, 1);
    this.endOfRecording?.();
    if (this.player.history.thinned > 1) this.chrome.note(`The recording is large: every ${this.player.history.thinned}th frame is kept.`, false);
  }

  send(message: ArrayBuffer): void { this.connection?.send(message); }

  /* A hidden page asks for few frames. */
  private want(): void {
    if (this.hello?.mode === "live") this.send(encodeWant(1, document.hidden ? 2 : 60));
  }

  // ---- messages ---------------------------------------------------------------------------------------------------------

  private take(message: Message, fromSocket: boolean): void {
    switch (message.type) {
      case Type.Hello: return this.takeHello(message.hello, fromSocket);
      case Type.Scene: return this.takeScene(message.scene);
      case Type.Geometry: return this.world?.addGeometry(message.geometry);
      case Type.Frame: return this.takeFrame(message.frame, fromSocket);
      case Type.Status: return this.takeStatus(message.status);
      case Type.Spheres:
        if (this.world && message.spheres.body === this.chosen && this.layers.has("spheres")) {
          this.spheres.take(message.spheres, this.world);
          this.chrome.panel.setLevels(this.spheres.levels);
          this.dirty = true;
        }
        return;
      case Type.Field:
        if (this.world && message.field.body === this.chosen && this.layers.has("field")) {
          this.field.take(message.field, this.world);
          this.dirty = true;
        }
        return;
      case Type.Error: return this.chrome.note(message.text, true);
      case Type.Taken: return this.takenWaiter?.();
      case Type.End: return;
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

  get live(): boolean { return this.hello?.mode === "live"; }

  private takeScene(scene: Scene): void {
    this.forgetScene();
    this.scene = scene;
    this.player = this.makePlayer(this.live, this.player.speed);
    this.player.complete = this.live;
    this.world = new World(scene, this.view);
    this.view.stage.add(this.world.root);
    this.placed = false;
    this.chrome.setScene(scene, this.live);
    this.chrome.showEmpty(false);
  }

  private forgetScene(): void {
    this.world?.dispose();
    this.spheres.clear();
    this.field.clear();
    this.hand.hide();
    this.hand.body = -1;
    this.world = null;
    this.shown = this.painted = null;
    this.between = this.hovered = this.chosen = -1;
    this.contacts.reset();
    this.dirty = true;
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

  // ---- each picture -------------------------------------------------------------------------------------------------------

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    const begun = performance.now(), seconds = Math.min((now - this.lastTick) / 1000, 0.1);
    this.lastTick = now;
    if (this.filming) return;
    this.player.advance(seconds);
    this.pointer.hover();
    this.update(now);
    if (this.view.orbit.advance(seconds)) this.dirty = true;
    if (this.dirty || this.video.running) {
      if (this.drew && !this.video.running) this.view.adapt(seconds);
      this.draw(this.video.running); // a video keeps its resolution
      this.drew = true;
      this.stillSince = now;
    } else {
      this.drew = false;
      if (now - this.stillSince > STILL && this.stillSince > 0) this.drawStill();
    }
    this.chrome.follow(this, now);
    const took = performance.now() - begun;
    this.spent.frames++;
    this.spent.script += took;
    this.spent.worst = Math.max(this.spent.worst, took);
  }

  private drew = false;
  private stillSince = 0;

  private drawStill(): void {
    this.stillSince = 0;
    this.draw(true);
  }

  /* Brings the world to the player's moment. */
  private update(now: number): void {
    const moment = this.player.moment(), { world, scene } = this;
    if (!moment || !world || !scene || !world.complete) return;
    const swinging = this.layers.has("modes") && this.chosen >= 0;
    if (swinging) this.modes.apply(world, this.chosen, now / 1000);
    else world.override = null;
    if (moment.from !== this.shown || moment.between !== this.between || swinging || this.stale) {
      this.stale = false;
      if (world.show(moment.from, moment.to, moment.between)) {
        this.view.moved();
        this.dirty = true;
        this.spheres.follow(world);
        this.field.follow(world);
      }
      this.between = moment.between;
    }
    if (!this.placed) this.placeScene();
    if (moment.from !== this.shown) {
      this.shown = moment.from;
      this.showFrame(moment.from);
    }
    if (now - this.shadowAt > 400) this.refitShadow(now);
    this.reprobe(now);
  }
  private stale = false; // what is shown must be written again, though the moment is the same

  private showFrame(frame: Frame): void {
    const scene = this.scene!;
    this.contacts.show(frame, scene);
    this.hand.show(frame, scene, scene.nearSize / Math.max(this.contacts.scale || 1, 1e-12));
    if (this.layers.has("islands") || this.painted === null) this.paint();
    this.dirty = true;
  }

  private placeScene(): void {
    const scene = this.scene!, world = this.world!;
    this.placed = true;
    const ball = world.extent(), eye = new Vector3(...scene.eye), look = new Vector3(...scene.look);
    const size = Math.max(eye.distanceTo(look) * 0.5, scene.nearSize);
    if (scene.source !== this.lastSource || !this.lastSource) this.view.orbit.place(scene.eye, scene.look, size);
    this.lastSource = scene.source || scene.name;
    this.view.placeSun();
    world.makeCoarse();
    world.applyPalette(this.view.palette);
    world.fitGrounds(look, Math.max(size, ball.radius));
    this.shadowBall = { center: ball.center, radius: ball.radius };
    this.view.fitShadow(ball.center, ball.radius);
    if (this.wallsHide() !== this.layers.has("through")) this.setLayer("through", !this.layers.has("through"));
    this.applyLayers();
  }

  /* Do fixed bodies stand before half of those that can move? */
  private wallsHide(): boolean {
    const { bodies } = this.scene!, world = this.world!, eye = this.view.orbit.camera.position, p = new Vector3();
    const movable = bodies.map((_, b) => b).filter((b) => bodies[b].mass > 0), stride = Math.max(1, Math.floor(movable.length / SAMPLES));
    let hidden = 0, seen = 0;
    for (let k = 0; k < movable.length; k += stride) {
      const hit = pick(world, new Ray(eye, world.position(movable[k], p).sub(eye).normalize()));
      hit && bodies[hit.body].mass <= 0 ? hidden++ : seen++;
    }
    return hidden > seen;
  }

  private refitShadow(now: number): void {
    this.shadowAt = now;
    const ball = this.world!.extent(), old = this.shadowBall;
    const most = 6 * this.view.orbit.distance;
    ball.radius = Math.min(ball.radius, most);
    if (ball.center.distanceTo(old.center) < 0.15 * old.radius && ball.radius < 1.1 * old.radius && ball.radius > 0.6 * old.radius) return;
    this.shadowBall = { center: ball.center, radius: ball.radius };
    this.view.fitShadow(ball.center, ball.radius * 1.1);
    this.dirty = true;
  }

  draw(fully = false): void {
    this.view.prepare(fully);
    const { camera } = this.view.orbit, { canvas, renderer } = this.view, ratio = renderer.getPixelRatio();
    this.contacts.camera(camera, canvas.height / ratio, ratio, this.scene?.nearSize ?? 1);
    this.showEdges();
    this.view.draw();
    this.hand.placeLabel(camera, canvas.clientWidth, canvas.clientHeight);
    this.dirty = false;
  }

  // ---- layers and colours -----------------------------------------------------------------------------------------------

  setLayer(name: LayerName, on: boolean): void {
    on ? this.layers.add(name) : this.layers.delete(name);
    if (on && ["spheres", "field", "modes"].includes(name) && this.chosen < 0) this.chooseFirst(name === "modes");
    if (on && (name === "spheres" || name === "field") && !this.live) this.chrome.note("Sphere trees and distance fields are asked from the program: open the scene live.", false);
    if (name === "modes") this.chooseMode(this.modes.mode);
    if (!on && name === "spheres") this.spheres.clear();
    if (!on && name === "field") this.field.clear();
    this.chrome.panel.showLayer(name, on);
    this.applyLayers();
    this.probe();
  }

  private applyLayers(): void {
    const { contacts, layers } = this;
    contacts.points.visible = layers.has("contacts");
    contacts.normals.root.visible = layers.has("normal");
    contacts.frictions.root.visible = layers.has("friction");
    contacts.cones.visible = layers.has("cones");
    this.world?.seeThrough(layers.has("through"));
    this.view.moved();
    this.painted = null;
    this.stale = true;
    if (this.shown && this.scene) this.showFrame(this.shown);
    this.dirty = true;
  }

  private showEdges(): void {
    for (const { lines } of this.world?.batches ?? []) if (lines) lines.visible = this.layers.has("creases");
    this.world?.chooseDetail(this.view.orbit.camera);
  }

  scaleArrows(factor: number): void {
    this.contacts.factor = factor;
    this.applyLayers();
  }

  private paint(): void {
    if (!this.world || !this.shown) return;
    const islands = this.layers.has("islands") ? islandColors(this.shown, this.scene!) : () => null;
    const marked = new Color();
    this.world.paint((body) => {
      const color = islands(body);
      if (body !== this.chosen) return color;
      if (color) marked.copy(color);
      else marked.setRGB(...this.scene!.bodies[body].color, "srgb");
      return marked.lerp(ACCENT, 0.55);
    });
    this.painted = this.shown;
    this.dirty = true;
  }

  setLight(light: boolean): void {
    this.view.setPalette(light ? LIGHT : DARK);
    this.world?.applyPalette(this.view.palette);
    this.dirty = true;
  }

  // ---- bodies -------------------------------------------------------------------------------------------------------------

  canGrab(body: number): boolean { return this.live && this.connection?.isOpen === true && this.player.following && this.scene!.bodies[body].mass > 0; }

  private grab(hit: Hit): void {
    this.choose(hit.body);
    this.hand.grab(hit, this.view.orbit.camera);
  }

  /* By keyboard: at the centre of the chosen body. */
  grabChosen(): void {
    if (this.hand.holds) return this.hand.release();
    if (this.chosen < 0 || !this.canGrab(this.chosen)) return;
    const point = this.world!.position(this.chosen, new Vector3());
    this.hand.grab({ body: this.chosen, point, local: new Vector3(), distance: 0 }, this.view.orbit.camera);
  }

  nudge(right: number, up: number): void {
    const x = new Vector3(), y = new Vector3(), z = new Vector3();
    this.view.orbit.camera.matrixWorld.extractBasis(x, y, z);
    const step = 0.15 * this.scene!.nearSize;
    this.hand.nudge(x.multiplyScalar(right * step).addScaledVector(y, up * step));
  }

  private hover(hit: Hit | null): void {
    this.hovered = hit ? hit.body : -1;
    this.view.canvas.style.cursor = hit && this.canGrab(hit.body) ? "grab" : "";
  }

  choose(body: number): void {
    if (body === this.chosen) return;
    this.chosen = body;
    this.spheres.clear();
    this.field.clear();
    if (this.world) this.chrome.panel.setModes(body >= 0 ? this.modes.count(this.world, body) : 0);
    if (this.layers.has("modes")) this.chooseMode(0);
    this.stale = true;
    this.paint();
    this.probe();
  }

  chooseNext(by: number): void {
    const bodies = this.scene?.bodies ?? [], movable = bodies.map((_, b) => b).filter((b) => bodies[b].mass > 0);
    if (!movable.length || !this.shown) return;
    const now = movable.indexOf(this.chosen), next = now < 0 ? (by > 0 ? 0 : movable.length - 1) : (now + by + movable.length) % movable.length;
    this.choose(movable[next]);
    this.chrome.readout.say(this.chrome.readout.sentence(this.shown, this.scene!, this.chosen));
  }

  private chooseFirst(deformable: boolean): void {
    const bodies = this.scene?.bodies ?? [], wanted = bodies.findIndex((body) => (deformable ? body.reduced > 0 : body.mass > 0));
    if (wanted >= 0) this.choose(wanted);
  }

  private focus(hit: Hit | null): void {
    if (!hit || !this.world) return this.view.orbit.goHome();
    const big = this.world.radius[hit.body] > 20 * this.scene!.nearSize;
    this.view.orbit.focus(big ? hit.point : this.world.position(hit.body, new Vector3()), big ? 0 : 2.2 * this.world.radius[hit.body]);
  }

  focusChosen(): void {
    if (this.chosen >= 0 && this.world) this.view.orbit.focus(this.world.position(this.chosen, new Vector3()), 2.2 * this.world.radius[this.chosen]);
    else this.view.orbit.goHome();
  }

  chooseMode(mode: number): void {
    if (!this.world || this.chosen < 0) return;
    const count = this.modes.count(this.world, this.chosen);
    this.chrome.panel.setModes(count);
    if (this.layers.has("modes") && count === 0) this.chrome.note("The chosen body is rigid: choose a deformable one.", false);
    this.modes.choose(this.world, this.chosen, Math.min(mode, Math.max(count - 1, 0)));
    this.stale = true;
  }

  /* Asks for the sphere tree and the field of the chosen body, where they are shown. */
  probe(): void {
    if (!this.live || this.chosen < 0) return;
    const { axis, place } = this.chrome.panel.probeChoice();
    if (this.layers.has("spheres")) this.send(encodeProbe(1, this.chosen, 0, 0));
    if (this.layers.has("field")) this.send(encodeProbe(2, this.chosen, axis, place));
  }

  showProbe(level: number): void {
    if (this.world && level !== this.spheres.level) {
      this.spheres.showLevel(level, this.world);
      this.dirty = true;
    } else this.probe();
  }

  private reprobe(now: number): void {
    if (!this.layers.has("spheres") || this.chosen < 0 || !this.scene!.bodies[this.chosen].reduced || now / 1000 - this.probedAt < REPROBE) return;
    this.probedAt = now / 1000;
    if (this.live) this.send(encodeProbe(1, this.chosen, 0, 0));
  }

  // ---- what the user asks for ---------------------------------------------------------------------------------------------

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
  retry(): void { this.connection?.retry(); }

  async screenshot(): Promise<void> {
    download(await picture(this.view.canvas, () => this.draw(true)), `${this.fileName()}.png`);
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

  // ---- film ---------------------------------------------------------------------------------------------------------------

  private filming = false;

  private async film(hello: Hello): Promise<void> {
    const { history } = this.player;
    if (!history.length || !this.world?.complete) return this.chrome.note("The recording holds no frame to film.", true);
    this.filming = true;
    document.documentElement.dataset.film = "on";
    this.view.fixSize(hello.film.width, hello.film.height);
    this.layers.clear();
    for (const name of layersOf(hello.film.show)) this.layers.add(name);
    this.player.scrub(history.begin);
    this.update(0);
    this.view.orbit.jump();
    const taken = () => new Promise<void>((go) => (this.takenWaiter = go));
    await shootFilm(filmMoments(history.begin, history.end, hello.film), (time) => this.shoot(time), (message) => this.send(message), taken);
    document.documentElement.dataset.film = "done";
  }

  private shoot(time: number): Promise<Blob> {
    this.player.scrub(time);
    this.update(time * 1000);
    return picture(this.view.canvas, () => this.draw());
  }
}
