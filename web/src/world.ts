// The bodies. Parts that share a geometry are instances of one mesh, so 2,000 bodies are a handful of draw calls; a frame is shown by writing one
// matrix a part, and only for bodies that moved. Poses between two frames are interpolated.
import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, InstancedBufferAttribute, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4,
  MeshDepthMaterial, MeshStandardMaterial, PerspectiveCamera, Quaternion, Sphere, SRGBColorSpace, Vector3,
} from "three";
import { coarseCorners, MOST_SHADOWS, MOST_TRIANGLES, SMALL, WORTH } from "./coarse";
import { Ground, roundUp } from "./ground";
import { Kind, type Frame, type Geometry, type Scene } from "./protocol";
import { soften, softMaps, type SoftMaps } from "./soft";
import type { Palette, View } from "./view";

const GLASS = 0.22;

/* One part of one body: instance `slot` of the batch of its geometry. */
export interface Instance { body: number; part: Matrix4; slot: number }
export interface Batch {
  geometry: Geometry; radius: number; center: Vector3; instances: Instance[]; mesh: InstancedMesh; lines: InstancedLines | null; soft: SoftMaps | null;
  fine: BufferAttribute; coarse: BufferAttribute | null; // corners
}

/* Crease lines are instanced like meshes; three.js asks for no more than these fields. */
class InstancedLines extends LineSegments {
  readonly isInstancedMesh = true;
  readonly instanceColor = null;
  readonly morphTexture = null;
  constructor(geometry: BufferGeometry, material: LineBasicMaterial, readonly instanceMatrix: InstancedBufferAttribute, public count: number) {
    super(geometry, material);
    this.frustumCulled = false;
  }
}

export class World {
  readonly root = new Group();
  readonly batches: Batch[] = [];
  readonly pose: Float32Array; // as shown
  readonly coordinate: Float32Array; // as shown
  readonly radius: Float32Array; // of each body about its frame
  readonly grounds: { body: number; part: Matrix4; ground: Ground }[] = [];
  private readonly partsOf: { batch: Batch; slot: number; part: Matrix4 }[][];
  private readonly lineMaterials: LineBasicMaterial[] = [];
  private readonly bodyMatrix: Matrix4[];
  private readonly shownPose: Float32Array;
  private arrived = 0;

  constructor(readonly scene: Scene, private readonly view: View) {
    const n = scene.bodies.length;
    this.pose = new Float32Array(7 * n);
    this.shownPose = new Float32Array(7 * n).fill(NaN);
    this.coordinate = new Float32Array(scene.reduced);
    this.radius = new Float32Array(n);
    this.partsOf = Array.from({ length: n }, () => []);
    this.bodyMatrix = Array.from({ length: n }, () => new Matrix4());
  }

  get complete(): boolean { return this.arrived >= this.scene.geometries; }

  addGeometry(geometry: Geometry): void {
    const instances: Instance[] = [];
    this.scene.bodies.forEach((body, index) => {
      for (const part of body.parts)
        if (part.geometry === geometry.index) instances.push({ body: index, part: partMatrix(part.position, part.rotation), slot: instances.length });
    });
    this.arrived++;
    if (geometry.kind === Kind.HalfSpace) this.addGrounds(instances);
    else if (instances.length && geometry.vertices) this.addBatch(geometry, instances);
  }

  private addGrounds(instances: Instance[]): void {
    for (const { body, part } of instances) {
      const ground = new Ground();
      this.grounds.push({ body, part, ground });
      this.root.add(ground);
    }
  }

  private addBatch(geometry: Geometry, instances: Instance[]): void {
    const shape = bufferGeometry(geometry), ball = shape.boundingSphere!;
    const soft = geometry.kind === Kind.Deformable ? softMaps(geometry, instances.length, this.view.renderer.capabilities.maxTextureSize) : null;
    if (soft) shape.setAttribute("softTangent", new BufferAttribute(soft.tangent, 3));
    const material = new MeshStandardMaterial({ roughness: 0.6, metalness: 0, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    if (soft) material.onBeforeCompile = (shader) => soften(shader, soft, true);
    const mesh = new InstancedMesh(shape, material, instances.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    if (soft) {
      mesh.customDepthMaterial = new MeshDepthMaterial();
      mesh.customDepthMaterial.onBeforeCompile = (shader) => soften(shader, soft, false);
    }
    const batch: Batch = {
      geometry, radius: ball.radius, center: ball.center.clone(), instances, mesh, soft, lines: this.makeLines(geometry, shape, mesh, soft),
      fine: shape.getIndex()!, coarse: null,
    };
    this.root.add(mesh);
    if (batch.lines) this.root.add(batch.lines);
    this.batches.push(batch);
    for (const { body, slot, part } of instances) {
      this.partsOf[body].push({ batch, slot, part });
      const reach = ball.center.clone().applyMatrix4(part).length() + ball.radius;
      this.radius[body] = Math.max(this.radius[body], reach);
    }
  }

  private makeLines(geometry: Geometry, shape: BufferGeometry, mesh: InstancedMesh, soft: SoftMaps | null): InstancedLines | null {
    if (!geometry.crease.length) return null;
    const lines = new BufferGeometry();
    lines.setAttribute("position", shape.getAttribute("position"));
    lines.setIndex(new BufferAttribute(geometry.crease, 1));
    const material = new LineBasicMaterial({ transparent: true, depthWrite: false });
    if (soft) material.onBeforeCompile = (shader) => soften(shader, soft, false);
    this.lineMaterials.push(material);
    return new InstancedLines(lines, material, mesh.instanceMatrix, mesh.count);
  }

  /* In a scene of very many triangles: shadows of coarse surfaces, and coarse surfaces where they are small. */
  makeCoarse(): void {
    let triangles = 0;
    for (const { geometry, instances } of this.batches) triangles += (geometry.corner.length / 3) * instances.length;
    if (triangles < MOST_SHADOWS) return;
    for (const batch of this.batches) {
      if (batch.geometry.corner.length / 3 < WORTH) continue;
      const coarse = new BufferAttribute(coarseCorners(batch.geometry, batch.radius), 1), { mesh } = batch;
      if (triangles >= MOST_TRIANGLES) {
        batch.coarse = coarse;
        (mesh.material as MeshStandardMaterial).side = DoubleSide; // a coarse surface has cracks: its own inside is seen through them
      }
      let drawn: BufferAttribute | null = null;
      mesh.onBeforeShadow = () => {
        drawn = mesh.geometry.index;
        mesh.geometry.index = coarse;
      };
      mesh.onAfterShadow = () => (mesh.geometry.index = drawn);
    }
  }

  /* Fixed bodies as glass, which casts no shadow, so that what happens inside a tube can be seen. */
  seeThrough(on: boolean): void {
    for (const { mesh, instances } of this.batches) {
      if (instances.some(({ body }) => this.scene.bodies[body].mass > 0)) continue;
      const material = mesh.material as MeshStandardMaterial;
      if (material.transparent !== on) material.needsUpdate = true;
      material.transparent = on;
      material.opacity = on ? GLASS : 1;
      material.depthWrite = !on;
      mesh.castShadow = !on;
      mesh.renderOrder = on ? 3 : 0;
    }
  }

  /* A kind of body is drawn coarsely while its nearest one is small in the view. */
  chooseDetail(camera: PerspectiveCamera): void {
    const height = 2 * Math.tan((camera.fov * Math.PI) / 360), p = new Vector3();
    for (const { coarse, fine, mesh, lines, instances, radius } of this.batches) {
      if (!coarse) continue;
      const nearest = Math.min(...instances.map(({ body }) => this.position(body, p).distanceTo(camera.position)));
      const small = (2 * radius) / (height * Math.max(nearest - radius, 1e-9)) < SMALL;
      mesh.geometry.index = small ? coarse : fine;
      if (lines) lines.visible = lines.visible && !small;
    }
  }

  /* Shows the state a part `between` (0 to 1) of the way from one frame to the next. True where something moved. */
  show(from: Frame, to: Frame, between: number): boolean {
    const moved = this.interpolate(from, to, between);
    const p = new Vector3(), q = new Quaternion(), one = new Vector3(1, 1, 1), m = new Matrix4();
    let any = false;
    for (let b = 0; b < this.scene.bodies.length; b++) {
      if (!moved[b]) continue;
      any = true;
      const at = 7 * b, { pose } = this;
      this.bodyMatrix[b].compose(p.fromArray(pose, at), q.set(pose[at + 4], pose[at + 5], pose[at + 6], pose[at + 3]), one);
      for (const { batch, slot, part } of this.partsOf[b]) {
        m.multiplyMatrices(this.bodyMatrix[b], part);
        m.toArray(batch.mesh.instanceMatrix.array, 16 * slot);
        batch.mesh.instanceMatrix.needsUpdate = true;
      }
    }
    for (const { body, part, ground } of this.grounds)
      if (moved[body]) {
        ground.matrix.multiplyMatrices(this.bodyMatrix[body], part);
        ground.matrixWorldNeedsUpdate = true;
      }
    return this.writeCoordinates() || any;
  }

  private interpolate(from: Frame, to: Frame, w: number): Uint8Array {
    const n = this.scene.bodies.length, { pose, shownPose } = this, a = from.pose, b = to.pose, moved = new Uint8Array(n);
    for (let k = 0; k < n; k++) {
      const o = 7 * k;
      let dot = 0, change = 0;
      for (let i = 3; i < 7; i++) dot += a[o + i] * b[o + i];
      const sign = dot < 0 ? -1 : 1;
      for (let i = 0; i < 3; i++) pose[o + i] = a[o + i] + w * (b[o + i] - a[o + i]);
      let length = 0;
      for (let i = 3; i < 7; i++) {
        pose[o + i] = a[o + i] + w * (sign * b[o + i] - a[o + i]);
        length += pose[o + i] * pose[o + i];
      }
      const scale = length > 0 ? 1 / Math.sqrt(length) : 0;
      for (let i = 3; i < 7; i++) pose[o + i] *= scale;
      for (let i = 0; i < 7; i++) {
        if (!(Math.abs(pose[o + i] - shownPose[o + i]) < 1e-7)) change = 1;
      }
      if (change) {
        moved[k] = 1;
        for (let i = 0; i < 7; i++) shownPose[o + i] = pose[o + i];
      }
    }
    for (let i = 0; i < this.coordinate.length; i++) this.coordinate[i] = from.coordinate[i] + w * (to.coordinate[i] - from.coordinate[i]);
    return moved;
  }

  /* A mode shown instead of the reduced coordinates of a body: see layers/modes.ts. */
  override: { body: number; mode: number; value: number } | null = null;

  private writeCoordinates(): boolean {
    let any = false;
    for (const { soft, instances } of this.batches) {
      if (!soft || !soft.modes) continue;
      let changed = false;
      for (const { body, slot } of instances) {
        const { firstReduced, reduced } = this.scene.bodies[body], over = this.override?.body === body ? this.override : null;
        for (let i = 0; i < soft.modes; i++) {
          const value = Math.fround(over ? (i === over.mode ? over.value : 0) : i < reduced ? this.coordinate[firstReduced + i] : 0);
          if (soft.q[slot * soft.modes + i] !== value) {
            soft.q[slot * soft.modes + i] = value;
            changed = true;
          }
        }
      }
      if (changed) soft.coordinateMap.needsUpdate = any = true;
    }
    return any;
  }

  /* Colours of all bodies, sRGB; null keeps the scene's own. */
  paint(colorOf: (body: number) => Color | null): void {
    const color = new Color();
    for (const { mesh, instances } of this.batches)
      for (const { body, slot } of instances) {
        const [r, g, b] = this.scene.bodies[body].color;
        mesh.setColorAt(slot, colorOf(body) ?? color.setRGB(r, g, b, SRGBColorSpace));
        mesh.instanceColor!.needsUpdate = true;
      }
  }

  applyPalette(palette: Palette): void {
    for (const { ground } of this.grounds) ground.paint(palette);
    for (const material of this.lineMaterials) {
      material.color.set(palette.crease);
      material.opacity = palette.creaseAlpha;
    }
  }

  /* The ball around what can move (or all bodies with a shape, where nothing can), without the farthest twentieth. */
  extent(): Sphere {
    const { bodies } = this.scene, can = (b: number) => this.radius[b] > 0 && bodies[b].mass > 0;
    let chosen = bodies.map((_, b) => b).filter(can);
    if (!chosen.length) chosen = bodies.map((_, b) => b).filter((b) => this.radius[b] > 0);
    const center = new Vector3(), p = new Vector3();
    if (!chosen.length) return new Sphere(center, this.scene.nearSize);
    const middle = (k: number) => chosen.map((b) => this.pose[7 * b + k]).sort((x, y) => x - y)[chosen.length >> 1];
    center.set(middle(0), middle(1), middle(2));
    const reach = chosen.map((b) => p.fromArray(this.pose, 7 * b).distanceTo(center) + this.radius[b]).sort((x, y) => x - y);
    return new Sphere(center, reach[Math.floor(0.95 * (reach.length - 1))]);
  }

  fitGrounds(center: Vector3, radius: number): void {
    for (const { ground } of this.grounds) {
      const local = center.clone().applyMatrix4(ground.matrix.clone().invert());
      ground.fit(local.x, local.y, 9 * radius, roundUp(this.scene.nearSize * 0.7));
    }
  }

  bodyFrame(body: number): Matrix4 { return this.bodyMatrix[body]; }
  position(body: number, to: Vector3): Vector3 { return to.fromArray(this.pose, 7 * body); }

  dispose(): void {
    for (const { mesh, lines, soft } of this.batches) {
      mesh.geometry.dispose();
      (mesh.material as MeshStandardMaterial).dispose();
      mesh.customDepthMaterial?.dispose();
      mesh.dispose();
      lines?.geometry.dispose();
      soft?.modeMap.dispose();
      soft?.coordinateMap.dispose();
    }
    for (const material of this.lineMaterials) material.dispose();
    for (const { ground } of this.grounds) ground.material.dispose();
    this.root.removeFromParent();
  }
}

function partMatrix(position: readonly number[], rotation: readonly number[]): Matrix4 {
  return new Matrix4().compose(new Vector3(...position), new Quaternion(rotation[1], rotation[2], rotation[3], rotation[0]).normalize(), new Vector3(1, 1, 1));
}

function bufferGeometry(geometry: Geometry): BufferGeometry {
  const shape = new BufferGeometry();
  shape.setAttribute("position", new BufferAttribute(geometry.position, 3));
  shape.setAttribute("normal", new BufferAttribute(geometry.normal, 3));
  shape.setIndex(new BufferAttribute(geometry.corner, 1));
  shape.computeBoundingSphere();
  return shape;
}
