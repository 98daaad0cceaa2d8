// One deformation mode of the chosen body, oscillating in place of its own motion: the farthest vertex moves by a sixth of the body's size.
import type { World } from "../world";

const SWING = 1 / 3; // of the body's radius
const RATE = 0.6; // 1/s

export class ModeShow {
  mode = 0;
  private greatest = 0;

  /* Number of modes that the body has to show. */
  count(world: World, body: number): number { return batchOf(world, body)?.geometry.modes ?? 0; }

  choose(world: World, body: number, mode: number): void {
    const batch = batchOf(world, body);
    this.mode = mode;
    this.greatest = 0;
    if (!batch || mode >= batch.geometry.modes) return;
    const { mode: d, position } = batch.geometry;
    for (let k = 0; k < position.length; k += 3) {
      const o = mode * position.length + k;
      this.greatest = Math.max(this.greatest, Math.hypot(d[o], d[o + 1], d[o + 2]));
    }
  }

  apply(world: World, body: number, seconds: number): void {
    const size = batchOf(world, body)?.radius ?? 0;
    world.override = this.greatest > 0 ? { body, mode: this.mode, value: ((SWING * size) / this.greatest) * Math.sin(2 * Math.PI * RATE * seconds) } : null;
  }
}

function batchOf(world: World, body: number) {
  return world.batches.find((batch) => batch.soft && batch.instances.some((instance) => instance.body === body));
}
