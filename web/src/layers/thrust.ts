// Lines of a verdict: thrust in blue, forces on supports and the first motion in red with arrowheads. They shine through the blocks.
import { BufferGeometry, Color, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Vector3 } from "three";
import { LINE_WORDS } from "../protocol";

const COLORS = [new Color(0x3b7de0), new Color(0xe0483e), new Color(0xe0483e)]; // by kind
const HEAD = 0.22; // of the length of an arrow

export class Thrust {
  readonly root = new Group();
  count = 0; // lines that are drawn, for tests

  take(lines: Float32Array): void {
    this.clear();
    this.count = lines.length / LINE_WORDS;
    if (!this.count) return;
    const place: number[] = [], color: number[] = [];
    const add = (a: Vector3, b: Vector3, tint: Color) => {
      place.push(a.x, a.y, a.z, b.x, b.y, b.z);
      color.push(tint.r, tint.g, tint.b, tint.r, tint.g, tint.b);
    };
    for (let i = 0; i < lines.length; i += LINE_WORDS) {
      const a = new Vector3(lines[i], lines[i + 1], lines[i + 2]), b = new Vector3(lines[i + 3], lines[i + 4], lines[i + 5]);
      const kind = lines[i + 6], tint = COLORS[kind] ?? COLORS[0];
      add(a, b, tint);
      if (kind === 0) continue;
      const along = b.clone().sub(a), aside = new Vector3(-along.z, 0.3 * along.x, along.x).cross(along).setLength(0.5 * HEAD * along.length());
      const foot = a.clone().addScaledVector(along, 1 - HEAD);
      add(b, foot.clone().add(aside), tint);
      add(b, foot.clone().sub(aside), tint);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(place, 3));
    geometry.setAttribute("color", new Float32BufferAttribute(color, 3));
    const mesh = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, toneMapped: false }));
    mesh.renderOrder = 7;
    mesh.frustumCulled = false;
    this.root.add(mesh);
  }

  clear(): void {
    for (const child of this.root.children) {
      const mesh = child as LineSegments;
      mesh.geometry.dispose();
      (mesh.material as LineBasicMaterial).dispose();
    }
    this.root.clear();
    this.count = 0;
  }
}
