// One colour per island: bodies in contact, directly or through others, have the same; those that touch nothing are grey. The numbers of islands change from
// step to step, so an island has the colour of its lowest body, which rarely changes.
import { Color } from "three";
import { At, CONTACT_WORDS, NO_ISLAND, type Frame, type Scene } from "../protocol";

const ALONE = new Color(0.32, 0.33, 0.34);
const GOLDEN = 0.61803398875;

export function islandColors(frame: Frame, scene: Scene): (body: number) => Color | null {
  const n = scene.bodies.length, islandOf = new Uint32Array(n).fill(NO_ISLAND), lowest = new Map<number, number>();
  for (let o = 0; o < frame.contactU.length; o += CONTACT_WORDS) {
    const island = frame.contactU[o + At.Island];
    if (island === NO_ISLAND) continue;
    for (const body of [frame.contactU[o + At.A], frame.contactU[o + At.B]]) {
      if (scene.bodies[body].mass <= 0) continue;
      islandOf[body] = island;
      lowest.set(island, Math.min(lowest.get(island) ?? body, body));
    }
  }
  const colors = new Map<number, Color>();
  return (body) => {
    if (scene.bodies[body].mass <= 0) return null;
    if (islandOf[body] === NO_ISLAND) return ALONE;
    const key = lowest.get(islandOf[body])!;
    let color = colors.get(key);
    if (!color) colors.set(key, (color = new Color().setHSL((key * GOLDEN) % 1, 0.5, 0.56)));
    return color;
  };
}
