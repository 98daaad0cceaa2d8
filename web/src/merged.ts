// Bodies whose forms differ, such as the 2,000 of a pile: all their surfaces in one list of vertices, each with the number of its part, and one draw call. All have the same
// level of detail, that of the nearest.
import { BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, type Material, Mesh, MeshStandardMaterial } from "three";
import { coarsest, occluderOf, type Drawing, type Sight } from "./detail";
import type { Placements } from "./placements";
import type { Level } from "./protocol";
import type { Batch } from "./world";

export const MOST_ALIKE = 3, MOST_EACH = 2000; // instances and triangles of a form that is merged
const ERRORS = [0, 0.02, 0.06, 0.16]; // of a typical radius: error of each level

export interface Form { batch: Batch; levels: readonly Level[]; centers: Float32Array }

export class Merged implements Drawing {
  readonly root = new Group();
  readonly material: MeshStandardMaterial;
  readonly lineMaterial: LineBasicMaterial;
  private readonly levels: { corners: BufferAttribute; error: number; triangles: number }[];
  private readonly mesh: Mesh;
  private readonly caster: Mesh;
  readonly occluder: Mesh;
  private readonly lines: LineSegments;
  private nearest = 0; // pixels per metre
  private linesOn = true;

  constructor(private readonly forms: readonly Form[], placements: Placements) {
    const radii = forms.map(({ batch }) => batch.radius).sort((a, b) => a - b), typical = radii[radii.length >> 1];
    const copies = forms.flatMap((form) => form.batch.instances.map(({ row }) => ({ form, row })));
    const shape = mergeVertices(copies);
    this.levels = ERRORS.map((part) => {
      const error = part * typical, corners = mergeCorners(copies, ({ levels }) => levels[coarsest(levels, error)].corner);
      return { corners, error, triangles: corners.count / 3 };
    }).filter((level, k, all) => k === 0 || level.triangles < all[k - 1].triangles);
    this.material = placements.surface(null);
    this.lineMaterial = placements.crease(null);
    this.mesh = new Mesh(over(shape, this.levels[0].corners), this.material);
    this.mesh.receiveShadow = true;
    this.caster = new Mesh(over(shape, this.levels[0].corners), this.material);
    this.caster.castShadow = true;
    this.caster.customDepthMaterial = placements.shadow(null);
    this.occluder = occluderOf(this.caster, placements.depth(null));
    this.caster.onBeforeRender = () => this.caster.geometry.setDrawRange(0, 0); // nothing but its shadow
    this.caster.onAfterRender = () => this.caster.geometry.setDrawRange(0, Infinity);
    this.lines = new LineSegments(over(shape, mergeCorners(copies, ({ batch }) => batch.geometry.crease)), this.lineMaterial);
    for (const object of [this.mesh, this.caster, this.lines]) {
      object.frustumCulled = false;
      object.matrixAutoUpdate = false;
      this.root.add(object);
    }
  }

  look(sight: Sight): void {
    this.nearest = 0;
    for (const { centers: c, batch: { radius } } of this.forms)
      for (let k = 0; k < c.length; k += 3) this.nearest = Math.max(this.nearest, sight.scale(c[k], c[k + 1], c[k + 2], radius));
    this.mesh.visible = this.nearest > 0;
  }

  triangles(tolerance: number): number { return this.nearest > 0 ? this.levels[coarsest(this.levels, tolerance / this.nearest)].triangles : 0; }

  settle(tolerance: number): void {
    if (!(this.nearest > 0)) return this.showLines(this.linesOn);
    const { corners } = this.levels[coarsest(this.levels, tolerance / this.nearest)];
    if (this.mesh.geometry.index !== corners) this.mesh.geometry.setIndex(corners);
    this.showLines(this.linesOn);
  }

  shadowTriangles(error: number): number { return this.levels[coarsest(this.levels, error)].triangles; }
  settleShadow(error: number): void { this.caster.geometry.setIndex(this.levels[coarsest(this.levels, error)].corners); }

  showLines(on: boolean): void {
    this.linesOn = on;
    this.lines.visible = on && this.mesh.visible;
  }

  dispose(): void {
    for (const { geometry } of [this.mesh, this.caster, this.lines]) geometry.dispose();
    this.caster.customDepthMaterial!.dispose();
    (this.occluder.material as Material).dispose();
    this.material.dispose();
    this.lineMaterial.dispose();
  }
}

type Copy = { form: Form; row: number };

function mergeVertices(copies: readonly Copy[]): BufferGeometry {
  const count = copies.reduce((total, { form }) => total + form.batch.geometry.vertices, 0), shape = new BufferGeometry();
  const position = new Float32Array(3 * count), normal = new Float32Array(3 * count), part = new Float32Array(count);
  let at = 0;
  for (const { form: { batch: { geometry } }, row } of copies) {
    position.set(geometry.position, 3 * at);
    normal.set(geometry.normal, 3 * at);
    part.fill(row, at, at + geometry.vertices);
    at += geometry.vertices;
  }
  shape.setAttribute("position", new BufferAttribute(position, 3));
  shape.setAttribute("normal", new BufferAttribute(normal, 3));
  shape.setAttribute("part", new BufferAttribute(part, 1));
  return shape;
}

function mergeCorners(copies: readonly Copy[], cornersOf: (form: Form) => Uint32Array): BufferAttribute {
  const merged = new Uint32Array(copies.reduce((total, { form }) => total + cornersOf(form).length, 0));
  let at = 0, base = 0;
  for (const { form } of copies) {
    for (const corner of cornersOf(form)) merged[at++] = base + corner;
    base += form.batch.geometry.vertices;
  }
  return new BufferAttribute(merged, 1);
}

function over(shape: BufferGeometry, corners: BufferAttribute): BufferGeometry {
  const geometry = new BufferGeometry();
  for (const [name, attribute] of Object.entries(shape.attributes)) geometry.setAttribute(name, attribute);
  geometry.setIndex(corners);
  return geometry;
}
