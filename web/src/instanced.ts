// Bodies of one form, drawn as instances: one draw call per level of detail in use. Those out of sight are not drawn; shadows are cast by all, at a level of
// their own.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, InstancedBufferAttribute, InstancedBufferGeometry, LineBasicMaterial, LineSegments, type Material, Mesh, MeshBasicMaterial, MeshStandardMaterial } from "three";
import { coarsest, occluderOf, type Drawing, type Sight } from "./detail";
import type { Placements } from "./placements";
import type { Level } from "./protocol";
import type { Batch } from "./world";

const UNSEEN = 255;
const SOFT_MARGIN = 1.5; // a deformed body may leave the ball of its rest shape
const unlit = new MeshBasicMaterial({ colorWrite: false, depthWrite: false });

interface Drawn { mesh: Mesh<InstancedBufferGeometry>; part: InstancedBufferAttribute; triangles: number; error: number }

export class Instanced implements Drawing {
  readonly root = new Group();
  readonly material: MeshStandardMaterial;
  readonly lineMaterial: LineBasicMaterial | null = null;
  private readonly levels: Drawn[];
  private readonly lines: LineSegments<InstancedBufferGeometry> | null = null;
  private readonly caster: Mesh<InstancedBufferGeometry>;
  readonly occluder: Mesh;
  private readonly corners: BufferAttribute[];
  private readonly scale: Float32Array; // pixels per metre, one per instance
  private readonly chosen: Uint8Array; // level
  private readonly counts: Uint32Array; // instances of each level
  private linesOn = true;

  constructor(readonly batch: Batch, levels: readonly Level[], placements: Placements, private readonly centers: Float32Array) {
    const { geometry, shape, soft, instances } = batch, n = instances.length;
    this.material = placements.surface(soft);
    this.corners = levels.map(({ corner }) => new BufferAttribute(corner, 1));
    this.scale = new Float32Array(n);
    this.chosen = new Uint8Array(n).fill(levels.length > 1 ? UNSEEN : 0);
    this.counts = new Uint32Array(levels.length);
    this.levels = levels.map(({ error, corner }, k) => {
      const part = this.partList();
      const mesh = new Mesh(this.over(shape, this.corners[k], part), this.material);
      mesh.receiveShadow = true;
      return { mesh, part, triangles: corner.length / 3, error };
    });
    this.caster = levels.length > 1 ? this.makeCaster(shape) : this.levels[0].mesh;
    this.caster.castShadow = true;
    this.caster.customDepthMaterial = placements.shadow(soft);
    this.occluder = occluderOf(this.caster, placements.depth(soft));
    if (geometry.crease.length) {
      this.lineMaterial = placements.crease(soft);
      this.lines = new LineSegments(this.over(shape, new BufferAttribute(geometry.crease, 1), this.levels[0].part), this.lineMaterial);
    }
    for (const object of [...this.levels.map(({ mesh }) => mesh), this.caster, ...(this.lines ? [this.lines] : [])]) {
      object.frustumCulled = false;
      object.matrixAutoUpdate = false;
      this.root.add(object);
    }
    if (levels.length > 1) for (const { mesh } of this.levels) mesh.visible = false;
  }

  /* All instances, in order. */
  private partList(): InstancedBufferAttribute {
    return new InstancedBufferAttribute(Float32Array.from(this.batch.instances, ({ row }) => row), 1).setUsage(DynamicDrawUsage);
  }

  private over(shape: BufferGeometry, corners: BufferAttribute, part: InstancedBufferAttribute): InstancedBufferGeometry {
    const geometry = new InstancedBufferGeometry();
    for (const [name, attribute] of Object.entries(shape.attributes)) geometry.setAttribute(name, attribute);
    geometry.setAttribute("part", part);
    geometry.setIndex(corners);
    geometry.instanceCount = part.count;
    return geometry;
  }

  /* Draws nothing but its shadow. */
  private makeCaster(shape: BufferGeometry): Mesh<InstancedBufferGeometry> {
    const mesh = new Mesh(this.over(shape, this.corners[0], this.partList()), unlit), all = mesh.geometry.instanceCount;
    mesh.onBeforeRender = () => { mesh.geometry.instanceCount = 0; };
    mesh.onAfterRender = () => { mesh.geometry.instanceCount = all; };
    return mesh;
  }

  look(sight: Sight): void {
    if (this.levels.length === 1) return;
    const { centers: c, scale, batch: { radius, soft } } = this, reach = radius * (soft ? SOFT_MARGIN : 1);
    for (let k = 0; k < scale.length; k++) scale[k] = sight.scale(c[3 * k], c[3 * k + 1], c[3 * k + 2], reach);
  }

  triangles(tolerance: number): number {
    const { levels, scale } = this;
    if (levels.length === 1) return levels[0].triangles * scale.length;
    let total = 0;
    for (let k = 0; k < scale.length; k++) if (scale[k] > 0) total += levels[coarsest(levels, tolerance / scale[k])].triangles;
    return total;
  }

  settle(tolerance: number): void {
    const { levels, scale, chosen } = this;
    if (levels.length === 1) return;
    let changed = false;
    for (let k = 0; k < scale.length; k++) {
      const level = scale[k] > 0 ? coarsest(levels, tolerance / scale[k]) : UNSEEN;
      if (level !== chosen[k]) {
        chosen[k] = level;
        changed = true;
      }
    }
    if (changed) this.list();
  }

  /* Every level's instances, in order. */
  private list(): void {
    const { levels, chosen, counts, batch: { instances } } = this;
    counts.fill(0);
    for (let k = 0; k < chosen.length; k++) if (chosen[k] !== UNSEEN) levels[chosen[k]].part.array[counts[chosen[k]]++] = instances[k].row;
    levels.forEach(({ mesh, part }, k) => {
      mesh.visible = counts[k] > 0;
      mesh.geometry.instanceCount = counts[k];
      if (!counts[k]) return;
      part.clearUpdateRanges();
      part.addUpdateRange(0, counts[k]);
      part.needsUpdate = true;
    });
    if (this.lines) this.lines.geometry.instanceCount = counts[0];
    this.showLines(this.linesOn);
  }

  shadowTriangles(error: number): number { return this.levels[coarsest(this.levels, error)].triangles * this.scale.length; }
  settleShadow(error: number): void { if (this.levels.length > 1) this.caster.geometry.setIndex(this.corners[coarsest(this.levels, error)]); }

  /* Creases belong to the finest level: on coarser ones they are thinner than a pixel. */
  showLines(on: boolean): void {
    this.linesOn = on;
    if (this.lines) this.lines.visible = on && this.levels[0].mesh.visible;
  }

  /* As glass without shadow, so that the inside of a tube is visible. */
  makeGlass(on: boolean, opacity: number): void {
    const { material } = this;
    if (material.transparent !== on) material.needsUpdate = true;
    material.transparent = on;
    material.opacity = on ? opacity : 1;
    material.depthWrite = !on;
    this.caster.castShadow = this.occluder.visible = !on;
    for (const { mesh } of this.levels) mesh.renderOrder = on ? 3 : 0;
  }

  dispose(): void {
    for (const { mesh } of this.levels) mesh.geometry.dispose();
    this.caster.geometry.dispose();
    this.lines?.geometry.dispose();
    this.caster.customDepthMaterial!.dispose();
    (this.occluder.material as Material).dispose();
    this.material.dispose();
    this.lineMaterial?.dispose();
  }
}
