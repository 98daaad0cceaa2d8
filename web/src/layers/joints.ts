// Joints: a bar along the axis of a kind that has one; on it a block for a slider, a diamond for a weld, a ball for all others. They move with the first of their bodies, also
// between frames.
// Hidden parts shine through faintly, as for contacts.
import { BoxGeometry, CylinderGeometry, DynamicDrawUsage, Group, InstancedMesh, Matrix4, MeshBasicMaterial, OctahedronGeometry, Quaternion, SphereGeometry, Vector3, type BufferGeometry } from "three";
import type { Joint } from "../protocol";
import type { World } from "../world";

const COLOR = 0x2a5bd0, BEHIND = 0.3;
const RADIUS = 0.035, LENGTH = 0.45; // of the typical body's size

/* One kind of mark: the place of each in the frame of its body. */
class Marks {
  readonly meshes: InstancedMesh[] = [];
  private readonly place: { body: number; matrix: Matrix4 }[];
  private readonly m = new Matrix4();

  constructor(root: Group, shape: BufferGeometry, joints: Joint[], matrix: (joint: Joint) => Matrix4) {
    this.place = joints.map((joint) => ({ body: joint.a, matrix: matrix(joint) }));
    for (const [behind, order] of [[true, 5], [false, 6]] as const) {
      const material = new MeshBasicMaterial({ color: COLOR, transparent: true, opacity: behind ? BEHIND : 1, depthTest: !behind, depthWrite: false, toneMapped: false });
      const mesh = new InstancedMesh(shape, material, joints.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.renderOrder = order;
      this.meshes.push(mesh);
      root.add(mesh);
    }
  }
  follow(world: World): void {
    this.place.forEach(({ body, matrix }, k) => {
      this.m.multiplyMatrices(world.bodyFrame(body), matrix);
      for (const mesh of this.meshes) mesh.setMatrixAt(k, this.m);
    });
    for (const mesh of this.meshes) mesh.instanceMatrix.needsUpdate = true;
  }
  free(): void {
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      (mesh.material as MeshBasicMaterial).dispose();
      mesh.dispose();
    }
  }
}

export class Joints {
  readonly root = new Group();
  private marks: Marks[] = [];
  count = 0; // joints that are drawn, for tests

  /* Of another scene; `near` is the size of its typical body. */
  take(joints: Joint[], near: number): void {
    for (const mark of this.marks) mark.free();
    this.root.clear();
    this.marks = [];
    this.count = joints.length;
    const size = RADIUS * near, at = (joint: Joint, scale: number) => new Matrix4().makeScale(scale, scale, scale).setPosition(...joint.point);
    const bar = (joint: Joint) => new Matrix4().compose(new Vector3(...joint.point), new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), new Vector3(...joint.axis).normalize()),
      new Vector3(0.4 * size, LENGTH * near, 0.4 * size));
    const kind = (name: string) => joints.filter((joint) => joint.kind === name), axes = joints.filter((joint) => Math.hypot(...joint.axis) > 0);
    const add = (shape: BufferGeometry, some: Joint[], matrix: (joint: Joint) => Matrix4) => { if (some.length) this.marks.push(new Marks(this.root, shape, some, matrix)); };
    add(new SphereGeometry(1, 20, 12), joints.filter((joint) => joint.kind !== "slider" && joint.kind !== "weld"), (joint) => at(joint, size));
    add(new CylinderGeometry(1, 1, 1, 12), axes, bar);
    add(new BoxGeometry(2, 2, 2), kind("slider"), (joint) => at(joint, size));
    add(new OctahedronGeometry(1), kind("weld"), (joint) => at(joint, 1.5 * size));
  }

  follow(world: World): void { if (this.root.visible) for (const mark of this.marks) mark.follow(world); }
}
