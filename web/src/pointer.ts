// The mouse, the pen or a finger on the view: turn, move sideways, zoom, hover, choose, and pull bodies of live scenes.
import { Ray, Vector2, Vector3 } from "three";
import type { Orbit } from "./orbit";
import type { Hit } from "./pick";

export interface PointerActions {
  pick(ray: Ray): Hit | null;
  canGrab(hit: Hit): boolean;
  grab(hit: Hit): void;
  move(ray: Ray): void;
  release(): void;
  hover(hit: Hit | null): void;
  choose(hit: Hit | null): void;
  focus(hit: Hit | null): void;
}

const CLICK = 4; // px: less is no drag
const TURN = 2.6; // radians for a drag over the height of the view

export class Pointer {
  private readonly at = new Vector2();
  private readonly down = new Vector2();
  private drag: "none" | "press" | "turn" | "pan" | "hand" = "none";
  private pressed: Hit | null = null;
  private readonly fingers = new Map<number, Vector2>();
  private pinch = 0;
  private over = false;
  private fresh = false; // moved since the last hover

  constructor(private readonly canvas: HTMLCanvasElement, private readonly orbit: Orbit, private readonly actions: PointerActions) {
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, (event) => this.lift(event));
    canvas.addEventListener("pointerleave", () => { this.over = false; this.fresh = true; });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("dblclick", (event) => this.actions.focus(this.actions.pick(this.ray(event))));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  ray(event: { clientX: number; clientY: number }): Ray {
    const box = this.canvas.getBoundingClientRect(), { camera } = this.orbit;
    const x = ((event.clientX - box.left) / box.width) * 2 - 1, y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const origin = new Vector3().setFromMatrixPosition(camera.matrixWorld);
    return new Ray(origin, new Vector3(x, y, 0.5).unproject(camera).sub(origin).normalize());
  }

  /* Called once per frame: picking at every mouse event would cost more than it is worth. */
  hover(): void {
    if (!this.fresh || this.drag !== "none") return;
    this.fresh = false;
    this.actions.hover(this.over ? this.actions.pick(this.ray({ clientX: this.at.x, clientY: this.at.y })) : null);
  }

  private press(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, new Vector2(event.clientX, event.clientY));
    if (this.fingers.size === 2) return this.beginPinch();
    this.at.set(event.clientX, event.clientY);
    this.down.copy(this.at);
    this.pressed = event.button === 0 && !event.shiftKey ? this.actions.pick(this.ray(event)) : null;
    this.drag = event.button === 0 ? "press" : "pan";
    if (event.shiftKey && event.button === 0) this.drag = "turn";
  }

  private beginPinch(): void {
    if (this.drag === "hand") this.actions.release();
    this.drag = "none";
    const [a, b] = [...this.fingers.values()];
    this.pinch = a.distanceTo(b);
  }

  private move(event: PointerEvent): void {
    this.fingers.get(event.pointerId)?.set(event.clientX, event.clientY);
    if (this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()], distance = a.distanceTo(b);
      if (this.pinch > 0 && distance > 0) this.orbit.zoom(this.pinch / distance);
      this.pinch = distance;
      return;
    }
    const height = this.canvas.clientHeight, dx = event.clientX - this.at.x, dy = event.clientY - this.at.y;
    this.at.set(event.clientX, event.clientY);
    this.over = this.fresh = true;
    if (this.drag === "press" && this.at.distanceTo(this.down) > CLICK) this.beginDrag();
    if (this.drag === "turn") this.orbit.turn((-dx / height) * TURN, (dy / height) * TURN);
    else if (this.drag === "pan") this.orbit.pan(dx / height, -dy / height);
    else if (this.drag === "hand") this.actions.move(this.ray(event));
  }

  private beginDrag(): void {
    if (this.pressed && this.actions.canGrab(this.pressed)) {
      this.drag = "hand";
      this.actions.grab(this.pressed);
    } else this.drag = "turn";
  }

  private lift(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.drag === "press") this.actions.choose(this.pressed);
    if (this.drag === "hand") this.actions.release();
    this.drag = "none";
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1;
    this.orbit.zoom(Math.exp(Math.min(Math.max(event.deltaY * unit, -400), 400) * 0.0012));
  }
}
