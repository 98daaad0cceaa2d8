// A slice through the distance field of the chosen body: blue inside, orange outside, a dark line where the distance is zero and a thin one at
// every round number of metres.
import { BufferAttribute, BufferGeometry, DataTexture, DoubleSide, FloatType, LinearFilter, Mesh, RedFormat, ShaderMaterial, type Group, type Object3D } from "three";
import { roundUp } from "../ground";
import type { Field } from "../protocol";
import type { World } from "../world";

const VERTEX = `varying vec2 at; attribute vec2 place; void main() { at = place; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`;
const FRAGMENT = `
varying vec2 at; uniform highp sampler2D values; uniform float reach; uniform float spacing;
void main() {
  float d = texture2D(values, at).x, t = clamp(abs(d) / reach, 0.0, 1.0), w = fwidth(d);
  vec3 color = d < 0.0 ? mix(vec3(0.75, 0.87, 0.97), vec3(0.09, 0.30, 0.58), t) : mix(vec3(0.98, 0.92, 0.84), vec3(0.80, 0.42, 0.12), t);
  float ring = abs(fract(d / spacing - 0.5) - 0.5) * spacing;
  color = mix(color, color * 0.6, 1.0 - smoothstep(0.4 * w, 1.2 * w, ring));
  color = mix(color, vec3(0.05), 1.0 - smoothstep(1.0 * w, 2.2 * w, abs(d)));
  gl_FragColor = vec4(color, d < 0.0 ? 0.95 : mix(0.85, 0.25, t));
}`;

export class FieldSlice {
  private mesh: Mesh<BufferGeometry, ShaderMaterial> | null = null;
  private body = -1;

  constructor(private readonly root: Group | Object3D) {}

  take(field: Field, world: World): void {
    this.clear();
    this.body = field.body;
    const values = new DataTexture(new Float32Array(field.value), field.columns, field.rows, RedFormat, FloatType);
    values.minFilter = values.magFilter = LinearFilter;
    values.needsUpdate = true;
    let reach = 0;
    for (const d of field.value) if (d < 0) reach = Math.max(reach, -d);
    if (reach === 0) reach = world.scene.nearSize * 0.3;
    const material = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, side: DoubleSide, transparent: true, depthTest: false, depthWrite: false, toneMapped: false,
      uniforms: { values: { value: values }, reach: { value: reach }, spacing: { value: roundUp(reach / 4) } },
    });
    this.mesh = new Mesh(slice(field), material);
    this.mesh.matrixAutoUpdate = false;
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 4;
    this.root.add(this.mesh);
    this.follow(world);
  }

  follow(world: World): void {
    if (!this.mesh) return;
    this.mesh.matrix.copy(world.bodyFrame(this.body));
    this.mesh.matrixWorldNeedsUpdate = true;
  }

  clear(): void {
    if (!this.mesh) return;
    (this.mesh.material.uniforms.values.value as DataTexture).dispose();
    this.mesh.material.dispose();
    this.mesh.geometry.dispose();
    this.mesh.removeFromParent();
    this.mesh = null;
  }
}

/* Values are at the corners of cells: the texture's outer half texels are not shown. */
function slice({ origin: o, along: a, up: u, columns, rows }: Field): BufferGeometry {
  const shape = new BufferGeometry(), position: number[] = [], place: number[] = [];
  const w = columns - 1, h = rows - 1;
  for (const [i, j] of [[0, 0], [1, 0], [1, 1], [0, 1]]) {
    for (let k = 0; k < 3; k++) position.push(o[k] + i * w * a[k] + j * h * u[k]);
    place.push((0.5 + i * w) / columns, (0.5 + j * h) / rows);
  }
  shape.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  shape.setAttribute("place", new BufferAttribute(new Float32Array(place), 2));
  shape.setIndex([0, 1, 2, 0, 2, 3]);
  return shape;
}
