// The tree of spheres of the chosen body, one level of it at a time. The program sends spheres in world coordinates; they are kept in the
// body's frame, so that they move with it until the next message.
import { DynamicDrawUsage, IcosahedronGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Vector3, type Object3D, type Group } from "three";
import type { Spheres } from "../protocol";
import type { World } from "../world";

export class SphereTree {
  private mesh: InstancedMesh | null = null;
  private body = -1;
  levels = 0;
  level = 1;
  private answer: Spheres | null = null;

  constructor(private readonly root: Group | Object3D) {}

  take(spheres: Spheres, world: World): void {
    this.clear();
    this.answer = spheres;
    this.body = spheres.body;
    this.levels = 0;
    for (let k = 0; k < spheres.count; k++) this.levels = Math.max(this.levels, spheres.sphere[8 * k + 4] + 1);
    this.level = Math.min(this.level, Math.max(this.levels - 1, 0));
    this.build(world);
  }

  private build(world: World): void {
    const { sphere, count } = this.answer!, chosen: number[] = [];
    for (let k = 0; k < count; k++) if (sphere[8 * k + 4] === this.level) chosen.push(8 * k);
    if (!chosen.length) return;
    const material = new MeshBasicMaterial({ color: 0x5aa0d8, wireframe: true, transparent: true, opacity: 0.28, depthWrite: false, toneMapped: false });
    this.mesh = new InstancedMesh(new IcosahedronGeometry(1, chosen.length > 500 ? 1 : 2), material, chosen.length);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    const inverse = world.bodyFrame(this.body).clone().invert(), p = new Vector3(), m = new Matrix4();
    chosen.forEach((o, k) => {
      const r = sphere[o + 3];
      p.set(sphere[o], sphere[o + 1], sphere[o + 2]).applyMatrix4(inverse);
      this.mesh!.setMatrixAt(k, m.makeScale(r, r, r).setPosition(p));
    });
    this.mesh.matrixAutoUpdate = false;
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 4;
    this.root.add(this.mesh);
    this.follow(world);
  }

  showLevel(level: number, world: World): void {
    this.level = level;
    if (!this.answer) return;
    this.removeMesh();
    this.build(world);
  }

  follow(world: World): void {
    if (!this.mesh) return;
    this.mesh.matrix.copy(world.bodyFrame(this.body));
    this.mesh.matrixWorldNeedsUpdate = true;
  }

  private removeMesh(): void {
    this.mesh?.removeFromParent();
    this.mesh?.geometry.dispose();
    this.mesh?.dispose();
    this.mesh = null;
  }

  clear(): void {
    this.removeMesh();
    this.answer = null;
  }
}
