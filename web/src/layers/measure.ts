// The distance between two points that the user clicked: a line through everything, and its length with the parts along the axes.
import { BufferGeometry, Group, Line, LineBasicMaterial, Points, PointsMaterial, type Vector3 } from "three";
import { withUnit } from "../dom";

export class Measure {
  readonly root = new Group();
  private points: Vector3[] = [];

  /* A third point begins anew. What is to be said. */
  add(point: Vector3): string {
    if (this.points.length === 2) this.points = [];
    this.points.push(point.clone());
    this.draw();
    if (this.points.length < 2) return "Click the second point.";
    const [a, b] = this.points, d = b.clone().sub(a), along = (x: number) => withUnit(x, "m");
    return `${along(d.length())} (x ${along(d.x)}, y ${along(d.y)}, z ${along(d.z)})`;
  }

  clear(): void {
    this.points = [];
    this.draw();
  }

  private draw(): void {
    for (const child of this.root.children) {
      const drawn = child as Line | Points;
      drawn.geometry.dispose();
      (drawn.material as LineBasicMaterial).dispose();
    }
    this.root.clear();
    if (!this.points.length) return;
    const geometry = new BufferGeometry().setFromPoints(this.points), look = { color: 0xf2a51e, depthTest: false, transparent: true, toneMapped: false };
    this.root.add(new Line(geometry, new LineBasicMaterial(look)), new Points(geometry.clone(), new PointsMaterial({ ...look, size: 7, sizeAttenuation: false })));
    for (const child of this.root.children) {
      child.renderOrder = 8;
      child.frustumCulled = false;
    }
  }
}
