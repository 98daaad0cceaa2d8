// How finely bodies are drawn. A body is drawn with its coarsest level that differs from the finest by less than TOLERANCE pixels on the screen; where that would be
// more triangles than integrated graphics draw in a 60th of a second, the tolerance rises until it is not. Shadows follow the same rule with texels of the shadow map.
// docs/viewer.md has the budget and its source.
import { Frustum, Matrix4, Mesh, Sphere, Vector3, type Material, type PerspectiveCamera } from "three";

export const MOST_TRIANGLES = 220_000, MOST_SHADOW_TRIANGLES = 100_000; // of all bodies in one frame; ambient occlusion draws the latter once more
const TOLERANCE = 0.7; // pixels, or texels
const RISE = 1.3, COARSEST = 64;

/* One way to draw some bodies. The number of triangles is known before they are drawn. */
export interface Drawing {
  readonly occluder: Mesh; // all bodies as finely as their shadows, for depths: occlusion.ts
  look(sight: Sight): void; // once per frame, before the others
  triangles(tolerance: number): number; // pixels
  settle(tolerance: number): void;
  shadowTriangles(tolerance: number): number; // metres
  settleShadow(tolerance: number): void;
}

/* The same surface as its shadow has. */
export function occluderOf(caster: Mesh, material: Material): Mesh {
  const mesh = new Mesh(caster.geometry, material);
  mesh.frustumCulled = false;
  mesh.matrixAutoUpdate = false;
  return mesh;
}

/* What the camera sees, and at what size. */
export class Sight {
  private readonly frustum = new Frustum();
  private readonly eye = new Vector3();
  private readonly ball = new Sphere();
  private readonly matrix = new Matrix4();
  private pixels = 1; // per metre at a distance of one metre
  private near = 0;

  set(camera: PerspectiveCamera, height: number): this {
    this.frustum.setFromProjectionMatrix(this.matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
    this.eye.setFromMatrixPosition(camera.matrixWorld);
    this.pixels = height / (2 * Math.tan((camera.fov * Math.PI) / 360));
    this.near = camera.near;
    return this;
  }

  /* Pixels per metre at the near side of a ball; 0 if it is out of sight. */
  scale(x: number, y: number, z: number, radius: number): number {
    this.ball.center.set(x, y, z);
    this.ball.radius = radius;
    if (!this.frustum.intersectsSphere(this.ball)) return 0;
    return this.pixels / Math.max(this.ball.center.distanceTo(this.eye) - radius, this.near);
  }
}

/* Sets the level of every drawing; returns the tolerance that was needed. */
export function arrange(drawings: readonly Drawing[], sight: Sight): number {
  for (const drawing of drawings) drawing.look(sight);
  const tolerance = tolerable(TOLERANCE, MOST_TRIANGLES, (t) => sum(drawings, t));
  for (const drawing of drawings) drawing.settle(tolerance);
  return tolerance;
}

/* Returns the number of triangles. */
export function arrangeShadows(drawings: readonly Drawing[], metresPerTexel: number): number {
  const count = (t: number) => drawings.reduce((total, drawing) => total + drawing.shadowTriangles(t * metresPerTexel), 0), texels = tolerable(TOLERANCE, MOST_SHADOW_TRIANGLES, count);
  for (const drawing of drawings) drawing.settleShadow(texels * metresPerTexel);
  return count(texels);
}

function sum(drawings: readonly Drawing[], tolerance: number): number {
  let total = 0;
  for (const drawing of drawings) total += drawing.triangles(tolerance);
  return total;
}

function tolerable(least: number, most: number, triangles: (tolerance: number) => number): number {
  let tolerance = least;
  while (tolerance < COARSEST && triangles(tolerance) > most) tolerance *= RISE;
  return tolerance;
}

/* Index of the coarsest level whose error is no larger than this, metres. */
export function coarsest(levels: readonly { error: number }[], error: number): number {
  let k = levels.length - 1;
  while (k > 0 && levels[k].error > error) k--;
  return k;
}
