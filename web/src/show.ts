// The display of a scene: its bodies at one time, with the layers that are on. The app chooses the time; a frame is drawn only if it
// would differ from the last one (`dirty`).
import { Color, Ray, Vector3 } from "three";
import { MOST_SHADOW_TRIANGLES } from "./detail";
import { Hand, type HandActions } from "./hand";
import { Contacts } from "./layers/contacts";
import { FieldSlice } from "./layers/field";
import { islandColors } from "./layers/islands";
import { Joints } from "./layers/joints";
import { Thrust, usedColor } from "./layers/thrust";
import { LAYERS, type LayerName } from "./layers/layers";
import { ModeShow } from "./layers/modes";
import { SphereTree } from "./layers/spheres";
import { pick } from "./pick";
import type { Moment } from "./player";
import type { Frame, Geometry, Scene, Verdict } from "./protocol";
import { DARK, LIGHT, View } from "./view";
import { World } from "./world";

const ACCENT = new Color(0xf2a51e);
const SAMPLES = 16; // bodies that are tested for being behind walls
const REFIT = 400; // ms between updates of the shadow's place

export class Show {
  readonly view: View;
  readonly contacts = new Contacts();
  readonly joints = new Joints();
  readonly thrust = new Thrust(this.contacts.arrowUniforms);
  readonly spheres: SphereTree;
  readonly field: FieldSlice;
  readonly modes = new ModeShow();
  readonly hand: Hand;
  readonly layers = new Set<LayerName>(LAYERS.filter((layer) => layer.initial).map((layer) => layer.name));
  scene: Scene | null = null;
  world: World | null = null;
  shown: Frame | null = null; // at or before the moment shown
  marked = -1; // body in the accent's colour
  dirty = true;
  private stale = false; // the display must be updated although the time is the same
  private between = -1;
  private placed = false;
  private lastSource = "";
  private refitAt = 0;
  private shadowReach = 1; // m
  private painted: Frame | null = null;
  used: Float32Array | null = null; // how much of friction or section bodies use, of the verdict that is shown
  private shadowBall = { center: new Vector3(), radius: 0 };

  constructor(canvas: HTMLCanvasElement, overlay: HTMLElement, hand: HandActions) {
    this.view = new View(canvas);
    this.spheres = new SphereTree(this.view.stage);
    this.field = new FieldSlice(this.view.stage);
    this.hand = new Hand(hand, this.contacts.arrowUniforms, overlay);
    this.view.stage.add(this.contacts.root, this.joints.root, this.thrust.root, this.hand.root);
    new ResizeObserver(() => { this.view.outgrown = this.dirty = true; }).observe(canvas.parentElement!);
    this.applyLayers();
  }

  // ---- the scene ------------------------------------------------------------------------------------------------------------

  begin(scene: Scene): void {
    this.forget();
    this.scene = scene;
    this.world = new World(scene, this.view);
    this.view.stage.add(this.world.root);
    this.view.occlusion.stage.add(this.world.occluders);
    this.joints.take(scene.joints, scene.nearSize);
    this.thrust.clear();
    this.used = null;
  }

  /* The shown frame was changed. */
  renew(): void { this.stale = this.dirty = true; }

  addGeometry(geometry: Geometry): void { this.world?.addGeometry(geometry); }

  private forget(): void {
    this.world?.dispose();
    this.spheres.clear();
    this.field.clear();
    this.hand.hide();
    this.hand.body = -1;
    this.world = null;
    this.shown = this.painted = null;
    this.between = this.marked = -1;
    this.placed = false;
    this.contacts.reset();
    this.joints.take([], 1);
    this.dirty = true;
  }

  /* Camera, light, ground and glass, once the first frame has the positions of bodies. */
  private place(): void {
    const scene = this.scene!, world = this.world!;
    this.placed = true;
    const ball = world.extent(), eye = new Vector3(...scene.eye), look = new Vector3(...scene.look);
    const size = Math.max(eye.distanceTo(look) * 0.5, scene.nearSize);
    if (scene.source !== this.lastSource || !this.lastSource) this.view.orbit.place(scene.eye, scene.look, size);
    this.lastSource = scene.source || scene.name;
    this.view.placeSun();
    world.applyPalette(this.view.palette);
    world.fitGrounds(look, Math.max(size, ball.radius));
    this.shadowBall = { center: ball.center, radius: ball.radius };
    this.shadowReach = ball.radius;
    this.fitShadow();
    this.placing(this.wallsHide());
    this.applyLayers();
  }
  placing: (wallsHide: boolean) => void = () => undefined; // the app switches the layer of glass walls

  /* Whether fixed bodies hide half of those that can move. */
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

  // ---- a moment -------------------------------------------------------------------------------------------------------------

  /* Moves the bodies to a time; false if it cannot be shown yet. */
  update(moment: Moment | null, now: number): boolean {
    const { world } = this;
    if (!moment || !world || !world.complete) return false;
    const swinging = this.layers.has("modes") && this.marked >= 0;
    if (swinging) this.modes.apply(world, this.marked, now / 1000);
    else world.override = null;
    if (moment.from !== this.shown || moment.between !== this.between || swinging || this.stale) {
      this.stale = false;
      if (world.show(moment.from, moment.to, moment.between)) {
        this.view.moved();
        this.dirty = true;
        this.spheres.follow(world);
        this.field.follow(world);
        this.joints.follow(world);
      }
      this.between = moment.between;
    }
    if (!this.placed) this.place();
    if (moment.from !== this.shown) {
      this.shown = moment.from;
      this.showFrame(moment.from);
    }
    if (now - this.refitAt > REFIT) this.refitShadow(now);
    return true;
  }

  private showFrame(frame: Frame): void {
    const scene = this.scene!;
    this.contacts.show(frame, scene);
    this.hand.show(frame, scene, scene.nearSize / Math.max(this.contacts.scale || 1, 1e-12));
    if (this.layers.has("islands") || this.painted === null) this.paint();
    this.dirty = true;
  }

  private refitShadow(now: number): void {
    this.refitAt = now;
    const ball = this.world!.extent(), old = this.shadowBall;
    ball.radius = Math.min(ball.radius, 6 * this.view.orbit.distance);
    if (ball.center.distanceTo(old.center) < 0.15 * old.radius && ball.radius < 1.1 * old.radius && ball.radius > 0.6 * old.radius) return;
    this.shadowBall = { center: ball.center, radius: ball.radius };
    this.shadowReach = ball.radius * 1.1;
    this.fitShadow();
    this.dirty = true;
  }

  private fitShadow(): void { this.world!.chooseShadowDetail(this.view.fitShadow(this.shadowBall.center, this.shadowReach)); }

  draw(fully = false): void {
    if (this.view.prepare(fully) && this.world?.complete) this.fitShadow();
    const { camera } = this.view.orbit, { canvas, renderer } = this.view, ratio = renderer.getPixelRatio();
    this.contacts.camera(camera, canvas.height / ratio, ratio, this.scene?.nearSize ?? 1);
    this.world?.showCreases(this.layers.has("creases"));
    this.world?.chooseDetail(camera, canvas.height);
    this.occlude(fully);
    this.view.draw();
    this.hand.placeLabel(camera, canvas.clientWidth, canvas.clientHeight);
    this.dirty = false;
  }

  /* Where it is wanted, and the machine and the budget of triangles allow it. */
  private occlude(fully: boolean): void {
    const { world, scene, view: { occlusion, orbit, pace } } = this;
    if (world?.complete && scene && this.layers.has("occlusion") && (fully || pace.occlusion) && world.shadowTriangles <= MOST_SHADOW_TRIANGLES) occlusion.render(orbit.camera, scene.nearSize);
    else occlusion.clear();
  }

  // ---- layers and colours ---------------------------------------------------------------------------------------------------

  /* Marks are those of the simulation: they would cover the lines of a verdict, which is about other friction, tilt or blocks. */
  get marks(): boolean { return this.layers.has("contacts") && this.thrust.count === 0; }
  private showMarks(): void { this.contacts.points.visible = this.marks; }

  showVerdict(verdict: Verdict | null): void {
    if (verdict) this.thrust.take(verdict.lines);
    else this.thrust.clear();
    this.used = verdict?.used.length ? verdict.used : null;
    this.showMarks();
    this.paint();
    this.dirty = true;
  }

  applyLayers(): void {
    const { contacts, layers } = this;
    this.showMarks();
    contacts.normals.root.visible = layers.has("normal");
    contacts.frictions.root.visible = layers.has("friction");
    contacts.cones.visible = layers.has("cones");
    this.joints.root.visible = layers.has("joints");
    this.world?.seeThrough(layers.has("through"));
    this.view.moved();
    this.painted = null;
    this.stale = true;
    if (this.shown && this.scene) this.showFrame(this.shown);
    this.dirty = true;
  }

  scaleArrows(factor: number): void {
    this.contacts.factor = factor;
    this.applyLayers();
  }

  mark(body: number): void {
    this.marked = body;
    this.stale = true;
    this.spheres.clear();
    this.field.clear();
    this.paint();
  }

  chooseMode(mode: number): void {
    this.modes.choose(this.world!, this.marked, mode);
    this.stale = true;
  }

  private paint(): void {
    if (!this.world || !this.shown) return;
    const { used, scene } = this;
    const islands = used ? (body: number) => (scene!.bodies[body].mass > 0 ? usedColor(used[body]) : null) : this.layers.has("islands") ? islandColors(this.shown, scene!) : () => null;
    const mixed = new Color();
    this.world.paint((body) => {
      const color = islands(body);
      if (body !== this.marked) return color;
      if (color) mixed.copy(color);
      else mixed.setRGB(...this.scene!.bodies[body].color, "srgb");
      return mixed.lerp(ACCENT, 0.55);
    });
    this.painted = this.shown;
    this.dirty = true;
  }

  setLight(light: boolean): void {
    this.view.setPalette(light ? LIGHT : DARK);
    this.world?.applyPalette(this.view.palette);
    this.dirty = true;
  }
}
