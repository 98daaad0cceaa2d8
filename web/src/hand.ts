// The hand: a press on a body that can move grabs it there; the target then moves in the plane through the grip that faces the camera. The arrow is the force
// of the hand as reported by the program, at the scale of the other arrows.
import { Group, LineDashedMaterial, Line, BufferGeometry, BufferAttribute, Plane, Ray, Vector3, type Camera } from "three";
import { el, withUnit } from "./dom";
import { Arrows, HAND } from "./layers/contacts";
import { Hand as Word, type Frame, type Scene, type Vec3 } from "./protocol";
import type { Hit } from "./pick";

export interface HandActions { grab(body: number, local: Vec3, target: Vec3): void; move(target: Vec3): void; release(): void }

export class Hand {
  readonly root = new Group();
  body = -1;
  readonly target = new Vector3();
  private readonly plane = new Plane();
  private readonly arrows: Arrows;
  private readonly thread: Line<BufferGeometry, LineDashedMaterial>;
  private readonly label = el("div", { class: "force", hidden: true });
  private readonly tip = new Vector3();

  constructor(private readonly actions: HandActions, uniforms: Record<string, { value: number }>, overlay: HTMLElement) {
    this.arrows = new Arrows(uniforms);
    const shape = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(6), 3));
    this.thread = new Line(shape, new LineDashedMaterial({ color: 0xf2a51e, depthTest: false, transparent: true, opacity: 0.8, toneMapped: false }));
    this.thread.frustumCulled = false;
    this.thread.renderOrder = 7;
    this.root.add(this.arrows.root, this.thread);
    this.root.visible = false;
    overlay.append(this.label);
  }

  get holds(): boolean { return this.body >= 0; }

  grab(hit: Hit, camera: Camera): void {
    this.body = hit.body;
    this.target.copy(hit.point);
    this.face(camera);
    this.actions.grab(hit.body, hit.local.toArray() as Vec3, this.target.toArray() as Vec3);
  }

  private face(camera: Camera): void {
    const normal = new Vector3();
    camera.getWorldDirection(normal);
    this.plane.setFromNormalAndCoplanarPoint(normal, this.target);
  }

  move(ray: Ray): void {
    if (!this.holds) return;
    const point = new Vector3();
    if (!ray.intersectPlane(this.plane, point)) return;
    this.target.copy(point);
    this.actions.move(point.toArray() as Vec3);
  }

  /* By keyboard: along the axes of the view. */
  nudge(by: Vector3): void {
    this.target.add(by);
    this.actions.move(this.target.toArray() as Vec3);
  }

  release(): void {
    if (!this.holds) return;
    this.body = -1;
    this.actions.release();
  }

  /* Draws the hand as in this frame. Arrow length is in metres per newton. */
  show(frame: Frame, scene: Scene, metresPerNewton: number): void {
    const hand = frame.handF;
    this.root.visible = hand !== null;
    this.label.hidden = hand === null;
    if (!hand) return;
    const [x, y, z] = [hand[Word.Force], hand[Word.Force + 1], hand[Word.Force + 2]], force = Math.hypot(x, y, z);
    const length = Math.min(force * metresPerNewton, 3 * scene.nearSize), a = force > 0 ? length / force : 0;
    this.arrows.begin(1);
    this.arrows.add(hand, Word.Grip, a * x, a * y, a * z, HAND);
    this.arrows.done();
    const p = this.thread.geometry.getAttribute("position") as BufferAttribute;
    p.setXYZ(0, hand[Word.Grip], hand[Word.Grip + 1], hand[Word.Grip + 2]);
    p.setXYZ(1, hand[Word.Target], hand[Word.Target + 1], hand[Word.Target + 2]);
    p.needsUpdate = true;
    this.thread.computeLineDistances();
    this.thread.material.dashSize = this.thread.material.gapSize = 0.04 * scene.nearSize;
    this.tip.set(hand[Word.Grip] + a * x, hand[Word.Grip + 1] + a * y, hand[Word.Grip + 2] + a * z);
    this.label.textContent = withUnit(force, "N");
  }

  hide(): void {
    this.root.visible = false;
    this.label.hidden = true;
  }

  placeLabel(camera: Camera, width: number, height: number): void {
    if (this.label.hidden) return;
    const p = this.tip.clone().project(camera);
    this.label.style.transform = `translate(${((p.x + 1) / 2) * width + 10}px, ${((1 - p.y) / 2) * height - 10}px)`;
  }
}
