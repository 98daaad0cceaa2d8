// The camera: it turns about a point, z is up. Every move sets a goal, and the camera approaches it a little in each frame, so that mouse,
// keys and double clicks are equally smooth.
import { PerspectiveCamera, Vector3 } from "three";
import type { Vec3 } from "./protocol";

const SETTLE = 14; // 1/s: how fast the camera follows its goal
const STEEPEST = Math.PI / 2 - 0.01;

interface Place { azimuth: number; elevation: number; distance: number; look: Vector3 }

export class Orbit {
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  private readonly goal: Place = { azimuth: 0, elevation: 0.3, distance: 1, look: new Vector3() };
  private readonly now: Place = { azimuth: 0, elevation: 0.3, distance: 1, look: new Vector3() };
  private home: Place | null = null;
  private size = 1; // of the scene: bounds of zoom, and of the depth that is drawn

  constructor() { this.camera.up.set(0, 0, 1); }

  get target(): Vector3 { return this.now.look; }
  get distance(): number { return this.now.distance; }

  place(eye: Vec3, look: Vec3, size: number): void {
    const away = new Vector3(...eye).sub(new Vector3(...look));
    this.size = size;
    this.goal.look.set(...look);
    this.goal.distance = Math.max(away.length(), 1e-6);
    this.goal.azimuth = Math.atan2(away.y, away.x);
    this.goal.elevation = clamp(Math.asin(away.z / this.goal.distance), -STEEPEST, STEEPEST);
    this.home = copy(this.goal);
    this.jump();
  }

  /* At once: a direction in degrees, a point, a magnification; null keeps what is. */
  aim(view: [number, number] | null, look: Vec3 | null, zoom: number): void {
    if (view) {
      this.goal.azimuth = (view[0] * Math.PI) / 180;
      this.goal.elevation = clamp((view[1] * Math.PI) / 180, -STEEPEST, STEEPEST);
    }
    if (look) this.goal.look.set(...look);
    this.goal.distance /= zoom;
    this.jump();
  }

  goHome(): void { if (this.home) assign(this.goal, this.home); }

  turn(azimuth: number, elevation: number): void {
    this.goal.azimuth += azimuth;
    this.goal.elevation = clamp(this.goal.elevation + elevation, -STEEPEST, STEEPEST);
  }

  zoom(factor: number): void {
    this.goal.distance = clamp(this.goal.distance * factor, this.size * 0.01, this.size * 100);
  }

  /* As fractions of the height of the view. */
  pan(right: number, up: number): void {
    const scale = 2 * this.goal.distance * Math.tan((this.camera.fov * Math.PI) / 360);
    const x = new Vector3(), y = new Vector3(), z = new Vector3();
    this.camera.matrixWorld.extractBasis(x, y, z);
    this.goal.look.addScaledVector(x, -right * scale).addScaledVector(y, -up * scale);
  }

  focus(point: Vector3, radius: number): void {
    this.goal.look.copy(point);
    if (radius > 0) this.goal.distance = Math.max(radius / Math.sin((this.camera.fov * Math.PI) / 360), this.size * 0.01);
  }

  /* The place of another camera, once that has been moved. */
  keepTo(other: Orbit): void {
    const { goal } = other, key = [goal.azimuth, goal.elevation, goal.distance, ...goal.look.toArray()].join();
    if (this.kept.get(other) === key) return;
    if (this.kept.has(other)) assign(this.goal, goal);
    this.kept.set(other, key);
  }
  private readonly kept = new Map<Orbit, string>();

  jump(): void {
    assign(this.now, this.goal);
    this.apply();
  }

  /* Approaches the goal; true while it is not reached. */
  advance(seconds: number): boolean {
    const { now, goal } = this, part = 1 - Math.exp(-SETTLE * seconds);
    const far = Math.abs(goal.azimuth - now.azimuth) + Math.abs(goal.elevation - now.elevation) +
      Math.abs(Math.log(goal.distance / now.distance)) + goal.look.distanceTo(now.look) / now.distance;
    if (far === 0) return false;
    if (far < 1e-4) {
      this.jump();
      return true;
    }
    now.azimuth += part * (goal.azimuth - now.azimuth);
    now.elevation += part * (goal.elevation - now.elevation);
    now.distance *= Math.pow(goal.distance / now.distance, part);
    now.look.lerp(goal.look, part);
    this.apply();
    return true;
  }

  private apply(): void {
    const { azimuth, elevation, distance, look } = this.now, c = Math.cos(elevation);
    this.camera.position.set(c * Math.cos(azimuth), c * Math.sin(azimuth), Math.sin(elevation)).multiplyScalar(distance).add(look);
    this.camera.lookAt(look);
    this.camera.near = Math.max(distance * 0.02, this.size * 1e-3);
    this.camera.far = distance + this.size * 60;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
  }
}

function clamp(x: number, low: number, high: number): number { return Math.min(Math.max(x, low), high); }
function copy(place: Place): Place { return { ...place, look: place.look.clone() }; }
function assign(to: Place, from: Place): void {
  to.azimuth = from.azimuth;
  to.elevation = from.elevation;
  to.distance = from.distance;
  to.look.copy(from.look);
}
