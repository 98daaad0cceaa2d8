// Contact points, forces as arrows and friction cones of one frame. Forces are impulses over the step, so an arrow is newtons; all arrows of a scene have one
// scale, a round number of newtons for the size of a typical body, which the legend tells. They act on the first body of the contact, or on the one that can move. Stick is green and a disc, slide is red and a
// diamond: who cannot tell the colours sees the shape. What lies behind a body shines through faintly.
import {
  BufferAttribute, BufferGeometry, ConeGeometry, CylinderGeometry, DoubleSide, Group, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, Points, ShaderMaterial, type Camera,
} from "three";
import { roundUp } from "../ground";
import { At, CONTACT_WORDS, SLIDE, STICK, type Frame, type Scene } from "../protocol";

export const STICK_COLOR = [0.16, 0.62, 0.33], SLIDE_COLOR = [0.86, 0.2, 0.16], OPEN_COLOR = [0.55, 0.57, 0.6], NORMAL_COLOR = [0.27, 0.6, 0.96];
const BEHIND = 0.14; // how much of what is hidden shines through
const LONGEST = 5; // typical bodies: longer arrows are cut

const POINT_VERTEX = `
attribute vec3 tint; attribute float shape; uniform float size; varying vec3 vTint; varying float vShape;
void main() { vTint = tint; vShape = shape; gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0); gl_PointSize = size * (shape == 0.0 ? 0.45 : shape > 1.5 ? 1.25 : 1.0);
  gl_Position.z -= 0.0006 * gl_Position.w; }`;
const POINT_FRAGMENT = `
uniform float alpha; varying vec3 vTint; varying float vShape;
void main() { vec2 p = 2.0 * gl_PointCoord - 1.0; float d = vShape > 1.5 ? abs(p.x) + abs(p.y) : length(p); float w = fwidth(d);
  float a = 1.0 - smoothstep(1.0 - w, 1.0, d); if (a <= 0.0) discard; float rim = vShape == 0.0 ? 0.0 : smoothstep(0.62 - w, 0.62 + w, d);
  gl_FragColor = vec4(mix(vTint, vec3(1.0), rim * 0.85), a * alpha * (vShape == 0.0 ? 0.6 : 1.0)); }`;

const ARROW_VERTEX = `
attribute vec3 start; attribute vec3 along; attribute vec3 tint; attribute float head; uniform float thickness; uniform float pixel; varying vec3 vTint; varying float vLight;
void main() {
  float len = length(along); vec3 z = len > 0.0 ? along / len : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0))), y = cross(z, x);
  float depth = -(viewMatrix * vec4(start, 1.0)).z, r = min(clamp(thickness, 1.3 * pixel * depth, 3.0 * pixel * depth), 0.12 * len);
  float tip = min(6.0 * r, 0.5 * len), at = head < 0.5 ? position.z * (len - tip) : len - tip + position.z * tip;
  float wide = head < 0.5 ? r : 2.6 * r;
  vec3 n = x * position.x + y * position.y;
  vTint = tint; vLight = 0.72 + 0.28 * normalize((viewMatrix * vec4(n + 1e-6 * z, 0.0)).xyz).y;
  gl_Position = projectionMatrix * viewMatrix * vec4(start + n * wide + z * at, 1.0);
}`;
const CONE_VERTEX = `
attribute vec3 start; attribute vec3 along; attribute vec3 tint; attribute float mu; varying vec3 vTint; varying float vLight;
void main() {
  float len = length(along); vec3 z = len > 0.0 ? along / len : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0))), y = cross(z, x);
  vTint = tint; vLight = 1.0;
  gl_Position = projectionMatrix * viewMatrix * vec4(start + (mu * (x * position.x + y * position.y) + z * position.z) * len, 1.0);
}`;
const PLAIN_FRAGMENT = `uniform float alpha; varying vec3 vTint; varying float vLight; void main() { gl_FragColor = vec4(vTint * vLight, alpha); }`;

type Shape = BufferGeometry | InstancedBufferGeometry;

/* One geometry drawn twice: where it is seen, and faintly where it is hidden. */
function twice(make: (material: ShaderMaterial) => Points | Mesh, vertexShader: string, fragmentShader: string, uniforms: Record<string, { value: number }>, alpha: number): Group {
  const group = new Group();
  for (const [behind, order] of [[true, 5], [false, 6]] as const) {
    const material = new ShaderMaterial({
      vertexShader, fragmentShader, uniforms: { ...uniforms, alpha: { value: behind ? BEHIND * alpha : alpha } },
      transparent: true, depthTest: !behind, depthWrite: false, side: DoubleSide, toneMapped: false,
    });
    const object = make(material);
    object.frustumCulled = false;
    object.renderOrder = order;
    group.add(object);
  }
  return group;
}

/* Attributes that grow when more is needed, so that most frames allocate nothing. */
class Columns {
  private room = 0;
  private readonly arrays = new Map<string, Float32Array>();
  constructor(private readonly shape: Shape, private readonly sizes: Record<string, number>, private readonly instanced: boolean) { this.grow(256); }

  private grow(room: number): void {
    this.room = room;
    this.shape.dispose();
    for (const [name, size] of Object.entries(this.sizes)) {
      const array = new Float32Array(room * size);
      this.arrays.set(name, array);
      this.shape.setAttribute(name, this.instanced ? new InstancedBufferAttribute(array, size) : new BufferAttribute(array, size));
    }
  }
  ready(count: number): void { if (count > this.room) this.grow(2 * count); }
  get(name: string): Float32Array { return this.arrays.get(name)!; }
  done(count: number): void {
    for (const name of this.arrays.keys()) this.shape.getAttribute(name).needsUpdate = true;
    if (this.shape instanceof InstancedBufferGeometry) this.shape.instanceCount = count;
    else this.shape.setDrawRange(0, count);
  }
}

function arrowShape(): InstancedBufferGeometry {
  const shaft = new CylinderGeometry(1, 1, 1, 8, 1, true), tip = new ConeGeometry(1, 1, 12, 1, false);
  const shape = new InstancedBufferGeometry(), position: number[] = [], head: number[] = [], index: number[] = [];
  [shaft, tip].forEach((part, which) => {
    const p = part.getAttribute("position"), base = head.length;
    for (let k = 0; k < p.count; k++) {
      position.push(p.getX(k), p.getZ(k), p.getY(k) + 0.5);
      head.push(which);
    }
    for (const k of part.getIndex()!.array) index.push(base + k);
  });
  shape.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  shape.setAttribute("head", new BufferAttribute(new Float32Array(head), 1));
  shape.setIndex(index);
  return shape;
}

function coneShape(): InstancedBufferGeometry {
  const shape = new InstancedBufferGeometry(), position = [0, 0, 0], index: number[] = [], sides = 24;
  for (let k = 0; k < sides; k++) {
    const angle = (2 * Math.PI * k) / sides;
    position.push(Math.cos(angle), Math.sin(angle), 1);
    index.push(0, 1 + k, 1 + ((k + 1) % sides));
  }
  shape.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  shape.setIndex(index);
  return shape;
}

/* Arrows of one colour rule; also used for the hand. */
export class Arrows {
  readonly root: Group;
  private readonly columns: Columns;
  private count = 0;
  constructor(uniforms: Record<string, { value: number }>, alpha = 0.95) {
    const shape = arrowShape();
    this.columns = new Columns(shape, { start: 3, along: 3, tint: 3 }, true);
    this.root = twice((material) => new Mesh(shape, material), ARROW_VERTEX, PLAIN_FRAGMENT, uniforms, alpha);
  }
  begin(most: number): void {
    this.columns.ready(most);
    this.count = 0;
  }
  add(p: ArrayLike<number>, at: number, x: number, y: number, z: number, tint: readonly number[]): void {
    const o = 3 * this.count++, start = this.columns.get("start"), along = this.columns.get("along"), color = this.columns.get("tint");
    for (let k = 0; k < 3; k++) {
      start[o + k] = p[at + k];
      color[o + k] = tint[k];
    }
    along[o] = x;
    along[o + 1] = y;
    along[o + 2] = z;
  }
  done(): void { this.columns.done(this.count); }
}

export class Contacts {
  readonly root = new Group();
  private readonly uniforms = { size: { value: 9 }, thickness: { value: 0.001 }, pixel: { value: 0.001 } };
  readonly points: Group;
  readonly normals: Arrows;
  readonly frictions: Arrows;
  readonly cones: Group;
  private readonly pointColumns: Columns;
  private readonly coneColumns: Columns;
  private newtons = 0; // that an arrow as long as a typical body is
  factor = 1; // by which the user made arrows longer

  constructor() {
    const points = new BufferGeometry(), cones = coneShape();
    this.pointColumns = new Columns(points, { position: 3, tint: 3, shape: 1 }, false);
    this.coneColumns = new Columns(cones, { start: 3, along: 3, tint: 3, mu: 1 }, true);
    this.points = twice((material) => new Points(points, material), POINT_VERTEX, POINT_FRAGMENT, this.uniforms, 1);
    this.cones = twice((material) => new Mesh(cones, material), CONE_VERTEX, PLAIN_FRAGMENT, {}, 0.22);
    this.normals = new Arrows(this.uniforms);
    this.frictions = new Arrows(this.uniforms);
    this.root.add(this.cones, this.points, this.normals.root, this.frictions.root);
  }

  get arrowUniforms(): Record<string, { value: number }> { return this.uniforms; }
  get scale(): number { return this.newtons / this.factor; }
  reset(): void { this.newtons = 0; }

  camera(camera: Camera & { fov: number }, height: number, ratio: number, near: number): void {
    this.uniforms.pixel.value = (2 * Math.tan((camera.fov * Math.PI) / 360)) / height;
    this.uniforms.size.value = 9 * ratio;
    this.uniforms.thickness.value = 0.011 * near;
  }

  show(frame: Frame, scene: Scene): void {
    this.chooseScale(frame, scene);
    if (this.points.visible) this.showPoints(frame);
    if (this.cones.visible) this.showCones(frame, scene);
    if (this.normals.root.visible || this.frictions.root.visible) this.showArrows(frame, scene);
  }

  /* The scale changes only when the larger forces of a frame are no longer between a tenth and twice of what it was made for. */
  private chooseScale(frame: Frame, scene: Scene): void {
    const force: number[] = [], stride = Math.max(1, Math.floor(frame.contacts / 400)) * CONTACT_WORDS;
    for (let o = 0; o < frame.contactF.length; o += stride) {
      const f = Math.hypot(frame.contactF[o + At.Impulse], frame.contactF[o + At.Impulse + 1], frame.contactF[o + At.Impulse + 2]) / scene.step;
      if (f > 0) force.push(f);
    }
    if (!force.length) return;
    const large = force.sort((a, b) => a - b)[Math.floor(0.9 * (force.length - 1))];
    if (!(this.newtons > 0) || large > 2 * this.newtons || large < 0.1 * this.newtons) this.newtons = roundUp(1.2 * large);
  }

  private showPoints(frame: Frame): void {
    this.pointColumns.ready(frame.contacts);
    const p = this.pointColumns.get("position"), t = this.pointColumns.get("tint"), s = this.pointColumns.get("shape");
    for (let k = 0; k < frame.contacts; k++) {
      const o = k * CONTACT_WORDS, mode = frame.contactU[o + At.Mode], tint = colorOf(mode);
      for (let i = 0; i < 3; i++) {
        p[3 * k + i] = frame.contactF[o + At.Point + i];
        t[3 * k + i] = tint[i];
      }
      s[k] = mode;
    }
    this.pointColumns.done(frame.contacts);
  }

  private showArrows(frame: Frame, scene: Scene): void {
    const f = frame.contactF, perImpulse = scene.nearSize / (this.scale * scene.step), longest = LONGEST * scene.nearSize;
    this.normals.begin(frame.contacts);
    this.frictions.begin(frame.contacts);
    for (let k = 0; k < frame.contacts; k++) {
      const o = k * CONTACT_WORDS, n = o + At.Normal, j = o + At.Impulse;
      const along = f[j] * f[n] + f[j + 1] * f[n + 1] + f[j + 2] * f[n + 2];
      const length = Math.hypot(f[j], f[j + 1], f[j + 2]) * perImpulse;
      if (!(length > 0.004 * scene.nearSize)) continue;
      const a = onMovable(frame, scene, o) * perImpulse * Math.min(1, longest / length);
      this.normals.add(f, o + At.Point, a * along * f[n], a * along * f[n + 1], a * along * f[n + 2], NORMAL_COLOR);
      const x = a * (f[j] - along * f[n]), y = a * (f[j + 1] - along * f[n + 1]), z = a * (f[j + 2] - along * f[n + 2]);
      if (Math.hypot(x, y, z) > 0.004 * scene.nearSize) this.frictions.add(f, o + At.Point, x, y, z, colorOf(frame.contactU[o + At.Mode]));
    }
    this.normals.done();
    this.frictions.done();
  }

  private showCones(frame: Frame, scene: Scene): void {
    this.coneColumns.ready(frame.contacts);
    const start = this.coneColumns.get("start"), axis = this.coneColumns.get("along"), t = this.coneColumns.get("tint"), mu = this.coneColumns.get("mu");
    const f = frame.contactF, perImpulse = scene.nearSize / (this.scale * scene.step);
    let count = 0;
    for (let o = 0; o < f.length; o += CONTACT_WORDS) {
      const n = o + At.Normal, j = o + At.Impulse, along = f[j] * f[n] + f[j + 1] * f[n + 1] + f[j + 2] * f[n + 2];
      const length = Math.min(along * perImpulse, LONGEST * scene.nearSize);
      if (!(length > 0.004 * scene.nearSize)) continue;
      const tint = colorOf(frame.contactU[o + At.Mode]), sign = onMovable(frame, scene, o);
      for (let i = 0; i < 3; i++) {
        start[3 * count + i] = f[o + At.Point + i];
        axis[3 * count + i] = sign * length * f[n + i];
        t[3 * count + i] = tint[i];
      }
      mu[count++] = f[o + At.Mu];
    }
    this.coneColumns.done(count);
  }
}

/* Impulses are on body a; where a cannot move, the arrow shows what b feels. */
function onMovable(frame: Frame, scene: Scene, o: number): 1 | -1 {
  return scene.bodies[frame.contactU[o + At.A]].mass > 0 || scene.bodies[frame.contactU[o + At.B]].mass <= 0 ? 1 : -1;
}

function colorOf(mode: number): readonly number[] { return mode === STICK ? STICK_COLOR : mode === SLIDE ? SLIDE_COLOR : OPEN_COLOR; }
