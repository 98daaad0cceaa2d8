// Lines of a verdict, as wide as arrows: thrust in blue, forces on supports in violet, the first motion in orange. They shine through the blocks.
import { Color, type Group } from "three";
import { LINE_WORDS } from "../protocol";
import { Arrows, MOTION, SUPPORT, THRUST } from "./contacts";

// as in the pictures of drystone stand
const UNUSED = new Color(0xedebe0), HALF = new Color(0xf5b34d), ALL = new Color(0xd93829);

/* White where nothing is used, orange at half, red where all of it is. */
export function usedColor(share: number): Color {
  const s = 2 * Math.min(Math.max(share || 0, 0), 1);
  return s < 1 ? UNUSED.clone().lerp(HALF, s) : HALF.clone().lerp(ALL, s - 1);
}

const KINDS = [THRUST, SUPPORT, MOTION];

export class Thrust {
  private readonly arrows: Arrows;
  count = 0; // lines that are drawn
  readonly kinds = new Set<number>(); // of them, for the legend

  constructor(uniforms: Record<string, { value: number }>) { this.arrows = new Arrows(uniforms, 0.95, 0.7); }

  get root(): Group { return this.arrows.root; }

  take(lines: Float32Array): void {
    this.count = lines.length / LINE_WORDS;
    this.kinds.clear();
    this.arrows.begin(this.count);
    for (let i = 0; i < lines.length; i += LINE_WORDS) {
      const kind = KINDS[lines[i + 6]] ?? THRUST;
      this.kinds.add(kind);
      this.arrows.add(lines, i, lines[i + 3] - lines[i], lines[i + 4] - lines[i + 1], lines[i + 5] - lines[i + 2], kind);
    }
    this.arrows.done();
  }

  clear(): void { this.take(new Float32Array(0)); }
}
