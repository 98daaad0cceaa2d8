// The bodies. Those of one form are instances of one mesh (instanced.ts), those of very many forms are merged (merged.ts), so 2,000 bodies are a handful of draw calls; a frame is
// shown by writing one matrix per part into a texture (placements.ts), and only for bodies that moved. Poses between two frames are interpolated.
import { BufferAttribute, BufferGeometry, Color, Group, Matrix4, Quaternion, Sphere, SRGBColorSpace, Vector3, type PerspectiveCamera } from "three";
import { arrange, arrangeShadows, Sight } from "./detail";
import { Ground, roundUp } from "./ground";
import { Instanced } from "./instanced";
import { Merged, MOST_ALIKE, MOST_EACH, type Form } from "./merged";
import { Placements } from "./placements";
import { Kind, type Frame, type Geometry, type Scene } from "./protocol";
import { softMaps, type SoftMaps } from "./soft";
import type { Palette, View } from "./view";

const GLASS = 0.22;

/* One part of one body: number `slot` of the bodies that share its geometry, number `row` of all parts of the scene. */
export interface Instance { body: number; part: Matrix4; slot: number; row: number }
/* All parts of one geometry. */
export interface Batch { geometry: Geometry; shape: BufferGeometry; radius: number; center: Vector3; instances: Instance[]; soft: SoftMaps | null }

export class World {
  readonly root = new Group();
  readonly occluders = new Group(); // for occlusion.ts
  shadowTriangles = 0;
  readonly batches: Batch[] = [];
  readonly pose: Float32Array; // as shown
  readonly coordinate: Float32Array; // as shown
  readonly radius: Float32Array; // of each body about its frame
  readonly grounds: { body: number; part: Matrix4; ground: Ground }[] = [];
  private readonly drawings: (Instanced | Merged)[] = [];
  private readonly placements: Placements;
  private readonly partsOf: { row: number; part: Matrix4; center: Vector3; centers: Float32Array; slot: number }[][];
  private readonly bodyMatrix: Matrix4[];
  private readonly shownPose: Float32Array;
  private readonly moved: Uint8Array;
  private readonly sight = new Sight();
  private leftOut = -1; // a body that is not drawn
  private arrived = 0;
  private rows = 0;

  constructor(readonly scene: Scene, private readonly view: View) {
    const n = scene.bodies.length;
    this.pose = new Float32Array(7 * n);
    this.shownPose = new Float32Array(7 * n).fill(NaN);
    this.moved = new Uint8Array(n);
    this.coordinate = new Float32Array(scene.reduced);
    this.radius = new Float32Array(n);
    this.partsOf = Array.from({ length: n }, () => []);
    this.bodyMatrix = Array.from({ length: n }, () => new Matrix4());
    this.placements = new Placements(scene.bodies.reduce((total, body) => total + body.parts.length, 0), view.occlusion.uniforms);
  }

  get complete(): boolean { return this.arrived >= this.scene.geometries; }

  // ---- forms ----------------------------------------------------------------------------------------------------------------

  addGeometry(geometry: Geometry): void {
    const instances: Instance[] = [];
    this.scene.bodies.forEach((body, index) => {
      for (const part of body.parts)
        if (part.geometry === geometry.index) instances.push({ body: index, part: partMatrix(part.position, part.rotation), slot: instances.length, row: this.rows++ });
    });
    this.arrived++;
    if (geometry.kind === Kind.HalfSpace) this.addGrounds(instances);
    else if (instances.length && geometry.vertices) this.addBatch(geometry, instances);
    if (this.complete) this.build();
  }

  private addGrounds(instances: Instance[]): void {
    for (const { body, part } of instances) {
      const ground = new Ground(this.view.occlusion.uniforms);
      this.grounds.push({ body, part, ground });
      this.root.add(ground);
      this.occluders.add(ground.occluder);
    }
  }

  private addBatch(geometry: Geometry, instances: Instance[]): void {
    const shape = bufferGeometry(geometry), ball = shape.boundingSphere!;
    const soft = geometry.kind === Kind.Deformable ? softMaps(geometry, instances.length, this.view.renderer.capabilities.maxTextureSize) : null;
    if (soft) {
      shape.setAttribute("softTangent", new BufferAttribute(soft.tangent, 3));
      for (const { row, slot } of instances) this.placements.setSoftRow(row, slot);
    }
    this.batches.push({ geometry, shape, radius: ball.radius, center: ball.center.clone(), instances, soft });
    for (const { body, part } of instances) {
      const reach = ball.center.clone().applyMatrix4(part).length() + ball.radius;
      this.radius[body] = Math.max(this.radius[body], reach);
    }
  }

  /* Once all forms are there: which of them are drawn together, and how finely. */
  private build(): void {
    const levelsOf = ({ corner, levels }: Geometry) => [{ corner, error: 0 }, ...levels];
    const forms = this.batches.map((batch): Form => ({ batch, levels: levelsOf(batch.geometry), centers: new Float32Array(3 * batch.instances.length) }));
    const few = forms.filter(({ batch }) => this.canMerge(batch));
    const merged = new Set(few.length > 1 ? few : []);
    if (merged.size) this.drawings.push(new Merged([...merged], this.placements));
    for (const form of forms) if (!merged.has(form)) this.drawings.push(new Instanced(form.batch, form.levels, this.placements, form.centers));
    for (const { batch: { instances, center }, centers } of forms)
      for (const { body, row, part, slot } of instances) this.partsOf[body].push({ row, part, center, centers, slot });
    for (const { root, occluder } of this.drawings) {
      this.root.add(root);
      this.occluders.add(occluder);
    }
  }

  /* Few bodies of a form that is rigid, small and never glass. */
  private canMerge({ geometry, soft, instances }: Batch): boolean {
    return !soft && instances.length <= MOST_ALIKE && geometry.corner.length / 3 <= MOST_EACH && instances.every(({ body }) => this.scene.bodies[body].mass > 0);
  }

  // ---- how they look ----------------------------------------------------------------------------------------------------------

  /* Before drawing at a height of so many pixels. */
  chooseDetail(camera: PerspectiveCamera, height: number): void { arrange(this.drawings, this.sight.set(camera, height)); }
  chooseShadowDetail(metresPerTexel: number): void { this.shadowTriangles = arrangeShadows(this.drawings, metresPerTexel); }
  showCreases(on: boolean): void { for (const drawing of this.drawings) drawing.showLines(on); }

  /* Fixed bodies as glass. */
  seeThrough(on: boolean): void {
    for (const drawing of this.drawings)
      if (drawing instanceof Instanced && drawing.batch.instances.every(({ body }) => this.scene.bodies[body].mass <= 0)) drawing.makeGlass(on, GLASS);
  }

  /* Colours of all bodies, sRGB; null keeps the scene's own. */
  paint(colorOf: (body: number) => Color | null): void {
    const color = new Color();
    this.partsOf.forEach((parts, body) => {
      if (!parts.length) return;
      const [r, g, b] = this.scene.bodies[body].color, chosen = colorOf(body) ?? color.setRGB(r, g, b, SRGBColorSpace);
      for (const { row } of parts) this.placements.paint(row, chosen);
    });
  }

  applyPalette(palette: Palette): void {
    for (const { ground } of this.grounds) ground.paint(palette);
    for (const { lineMaterial } of this.drawings) {
      lineMaterial?.color.set(palette.crease);
      if (lineMaterial) lineMaterial.opacity = palette.creaseAlpha;
    }
  }

  // ---- where they are ---------------------------------------------------------------------------------------------------------

  /* Shows the state a part `between` (0 to 1) of the way from one frame to the next. True where something moved. */
  show(from: Frame, to: Frame, between: number): boolean {
    this.interpolate(from, to, between);
    const { moved, pose } = this;
    let any = false;
    for (let b = 0; b < moved.length; b++) {
      if (!moved[b]) continue;
      any = true;
      const at = 7 * b;
      this.bodyMatrix[b].compose(P.fromArray(pose, at), Q.set(pose[at + 4], pose[at + 5], pose[at + 6], pose[at + 3]), ONE);
      for (const { row, part, center, centers, slot } of this.partsOf[b]) {
        M.multiplyMatrices(this.bodyMatrix[b], part);
        if (b === this.leftOut) M.scale(NOTHING);
        this.placements.place(row, M);
        P.copy(center).applyMatrix4(M).toArray(centers, 3 * slot);
      }
    }
    for (const { body, part, ground } of this.grounds)
      if (moved[body]) {
        ground.matrix.multiplyMatrices(this.bodyMatrix[body], part);
        ground.matrixWorldNeedsUpdate = true;
      }
    return this.writeCoordinates() || any;
  }

  /* Draws all bodies but one from the next call of `show` on; -1: all. */
  leaveOut(body: number): void {
    for (const b of [this.leftOut, body]) if (b >= 0 && b < this.moved.length) this.shownPose[7 * b] = NaN;
    this.leftOut = body;
  }

  private interpolate(from: Frame, to: Frame, w: number): void {
    const n = this.scene.bodies.length, { pose, shownPose, moved } = this, a = from.pose, b = to.pose;
    moved.fill(0);
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
    for (const drawing of this.drawings) drawing.dispose();
    for (const { soft } of this.batches) {
      soft?.modeMap.dispose();
      soft?.coordinateMap.dispose();
    }
    for (const { ground } of this.grounds) ground.dispose();
    this.placements.dispose();
    this.root.removeFromParent();
    this.occluders.removeFromParent();
  }
}

const P = new Vector3(), Q = new Quaternion(), ONE = new Vector3(1, 1, 1), NOTHING = new Vector3(0, 0, 0), M = new Matrix4(); // for show(), which allocates nothing

function partMatrix(position: readonly number[], rotation: readonly number[]): Matrix4 {
  return new Matrix4().compose(new Vector3(...position), new Quaternion(rotation[1], rotation[2], rotation[3], rotation[0]).normalize(), new Vector3(1, 1, 1));
}

function bufferGeometry(geometry: Geometry): BufferGeometry {
  const shape = new BufferGeometry();
  shape.setAttribute("position", new BufferAttribute(geometry.position, 3));
  shape.setAttribute("normal", new BufferAttribute(geometry.normal, 3));
  shape.computeBoundingSphere();
  return shape;
}
