// What lies under the pointer: the first triangle on a ray. Bodies are first tested by their bounding balls; deformable ones are deformed for the
// test only if the ray hits their ball.
import { Matrix4, Ray, Vector3 } from "three";
import type { Batch, World } from "./world";

export interface Hit { body: number; point: Vector3; local: Vector3; distance: number }

const SOFT_MARGIN = 1.5; // a deformed body may leave the ball of its rest shape

export function pick(world: World, ray: Ray): Hit | null {
  let best: Hit | null = null;
  const m = new Matrix4(), inverse = new Matrix4(), local = new Ray(), point = new Vector3();
  for (const batch of world.batches) {
    const reach = batch.radius * (batch.soft ? SOFT_MARGIN : 1);
    for (const { body, part, slot } of batch.instances) {
      m.multiplyMatrices(world.bodyFrame(body), part);
      inverse.copy(m).invert();
      local.copy(ray).applyMatrix4(inverse);
      if (local.distanceSqToPoint(batch.center) > reach * reach) continue;
      if (best && local.origin.distanceTo(batch.center) - reach > best.distance) continue;
      const distance = firstTriangle(local, positions(batch, slot), batch.geometry.corner, best ? best.distance : Infinity);
      if (distance === Infinity) continue;
      ray.at(distance, point);
      best = { body, point: point.clone(), local: point.clone().applyMatrix4(world.bodyFrame(body).clone().invert()), distance };
    }
  }
  return best;
}

function positions(batch: Batch, slot: number): Float32Array {
  const { soft, geometry } = batch;
  if (!soft) return geometry.position;
  const x = geometry.position.slice();
  for (let i = 0; i < soft.modes; i++) {
    const q = soft.q[slot * soft.modes + i], from = i * x.length;
    if (q !== 0) for (let k = 0; k < x.length; k++) x[k] += q * geometry.mode[from + k];
  }
  return x;
}

/* Möller and Trumbore's test, front sides only. */
function firstTriangle(ray: Ray, x: Float32Array, corner: Uint32Array, limit: number): number {
  const { origin: o, direction: d } = ray;
  let best = limit;
  for (let t = 0; t < corner.length; t += 3) {
    const a = 3 * corner[t], b = 3 * corner[t + 1], c = 3 * corner[t + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const px = d.y * vz - d.z * vy, py = d.z * vx - d.x * vz, pz = d.x * vy - d.y * vx;
    const det = ux * px + uy * py + uz * pz;
    if (!(det > 0)) continue;
    const sx = o.x - x[a], sy = o.y - x[a + 1], sz = o.z - x[a + 2];
    const u = sx * px + sy * py + sz * pz;
    if (u < 0 || u > det) continue;
    const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
    const w = d.x * qx + d.y * qy + d.z * qz;
    if (w < 0 || u + w > det) continue;
    const distance = (vx * qx + vy * qy + vz * qz) / det;
    if (distance > 0 && distance < best) best = distance;
  }
  return best < limit ? best : Infinity;
}
