// Contact points, forces as arrows and friction cones of one frame. Forces are impulses over the step, so an arrow is newtons; all arrows of a scene have one
// scale, a round number of newtons for the size of a typical body, given in the legend. They act on the first body of the contact, or on the one that can move. Stick is green and a disc, slide is red and a
// diamond, for those who cannot distinguish the colours. Hidden parts shine through faintly, unless there are too many to be legible.
import {
  BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, Group, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, Points, ShaderMaterial, type Camera,
} from "three";
import { roundUp } from "../ground";
import { At, CONTACT_WORDS, OPEN, SLIDE, STICK, type Frame, type Scene } from "../protocol";

const BEHIND = 0.14; // opacity of hidden parts
const MOST_BEHIND = 4000; // contacts: above this nothing shines through
const LARGEST = 0.5; // of the largest force of a frame counts as a larger one
const LONGEST = 5; // typical bodies: longer arrows are cut
const SHORTEST = 0.004; // typical bodies: shorter ones are not drawn
const SIDES = [{ upTo: 1500, sides: 24 }, { upTo: 6000, sides: 8 }, { upTo: Infinity, sides: 4 }]; // of cones, by their number

/* What something is coloured by: the mode of a contact, or what follows. */
export const NORMAL = 3, HAND = 4, THRUST = 5, SUPPORT = 6, MOTION = 7;
const TINT = `
vec3 tintOf(float kind) {
  return kind < ${OPEN}.5 ? vec3(0.55, 0.57, 0.6) : kind < ${STICK}.5 ? vec3(0.16, 0.62, 0.33) : kind < ${SLIDE}.5 ? vec3(0.86, 0.2, 0.16) : kind < ${NORMAL}.5 ? vec3(0.27, 0.6, 0.96) : kind < ${HAND}.5 ? vec3(0.95, 0.65, 0.12) :
    kind < ${THRUST}.5 ? vec3(0.16, 0.42, 0.93) : kind < ${SUPPORT}.5 ? vec3(0.62, 0.3, 0.86) : vec3(0.93, 0.3, 0.1);
}`;

const POINT_VERTEX = `${TINT}
attribute float kind; uniform float size; varying vec3 vTint; varying float vKind;
void main() { vTint = tintOf(kind); vKind = kind; gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0); gl_PointSize = size * (kind == 0.0 ? 0.45 : kind > 1.5 ? 1.25 : 1.0);
  gl_Position.z -= 0.0006 * gl_Position.w; }`;
const POINT_FRAGMENT = `
uniform float alpha; varying vec3 vTint; varying float vKind;
void main() { vec2 p = 2.0 * gl_PointCoord - 1.0; float d = vKind > 1.5 ? abs(p.x) + abs(p.y) : length(p); float w = fwidth(d);
  float a = 1.0 - smoothstep(1.0 - w, 1.0, d); if (a <= 0.0) discard; float rim = vKind == 0.0 ? 0.0 : smoothstep(0.62 - w, 0.62 + w, d);
  gl_FragColor = vec4(mix(vTint, vec3(1.0), rim * 0.85), a * alpha * (vKind == 0.0 ? 0.6 : 1.0)); }`;

// A ribbon that faces the camera, shaded as if it were round: position is (across, along) and whether it is the head.
const ARROW_VERTEX = `${TINT}
attribute vec3 start; attribute vec3 along; attribute float kind; uniform float thickness; uniform float pixel; varying vec3 vTint; varying float vAcross;
void main() {
  float len = length(along); vec3 z = len > 0.0 ? along / len : vec3(0.0, 0.0, 1.0), side = cross(z, cameraPosition - start);
  float depth = -(viewMatrix * vec4(start, 1.0)).z, r = clamp(thickness, 1.3 * pixel * depth, 3.0 * pixel * depth);
  bool line = abs(kind - ${THRUST}.0) < 0.5; // a line of thrust has no head, and short pieces of it are as wide as long ones
  if (!line) r = min(r, 0.12 * len);
  float tip = line ? 0.0 : min(6.0 * r, 0.5 * len), at = position.z < 0.5 ? position.y * (len - tip) : len - tip + position.y * tip;
  float wide = position.z < 0.5 ? r : 2.6 * r;
  vTint = tintOf(kind); vAcross = position.x;
  gl_Position = projectionMatrix * viewMatrix * vec4(start + (length(side) > 0.0 ? normalize(side) : side) * (position.x * wide) + z * at, 1.0);
}`;
const ARROW_FRAGMENT = `uniform float alpha; varying vec3 vTint; varying float vAcross; void main() { gl_FragColor = vec4(vTint * (1.0 - 0.4 * vAcross * vAcross), alpha); }`;
const CONE_VERTEX = `${TINT}
attribute vec3 start; attribute vec3 along; attribute float kind; attribute float mu; varying vec3 vTint; varying float vAlong;
void main() {
  float len = length(along); vec3 z = len > 0.0 ? along / len : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0))), y = cross(z, x);
  vTint = tintOf(kind);
  vAlong = position.z;
  gl_Position = projectionMatrix * viewMatrix * vec4(start + (mu * (x * position.x + y * position.y) + z * position.z) * len, 1.0);
}`;
// A rim of two pixels: where it is, friction is at its limit.
const CONE_FRAGMENT = `
uniform float alpha; varying vec3 vTint; varying float vAlong;
void main() { float w = fwidth(vAlong), rim = smoothstep(1.0 - 3.0 * w, 1.0 - 1.6 * w, vAlong) * step(w, 0.2);
  gl_FragColor = vec4(mix(vTint, 0.75 * vTint, rim), mix(alpha * (0.55 + 0.45 * vAlong), min(1.0, 3.6 * alpha), rim)); }`;

type Shape = BufferGeometry | InstancedBufferGeometry;

/* One geometry drawn twice: where it is visible, and faintly where it is hidden. */
class Twice {
  readonly root = new Group();
  private readonly behind: Points | Mesh;

  constructor(make: (material: ShaderMaterial) => Points | Mesh, vertexShader: string, fragmentShader: string, uniforms: Record<string, { value: number }>, alpha: number, hidden = BEHIND * alpha) {
    const one = (behind: boolean) => {
      const object = make(new ShaderMaterial({
        vertexShader, fragmentShader, uniforms: { ...uniforms, alpha: { value: behind ? hidden : alpha } },
        transparent: true, depthTest: !behind, depthWrite: false, side: DoubleSide, toneMapped: false,
      }));
      object.frustumCulled = false;
      object.renderOrder = behind ? 5 : 6;
      this.root.add(object);
      return object;
    };
    this.behind = one(true);
    one(false);
  }

  count(things: number): void { this.behind.visible = things <= MOST_BEHIND; }
}

/* Attributes that grow when more is needed, so that most frames allocate nothing, and of which only the used part is sent to the graphics card. */
class Columns {
  private room = 0;
  private readonly columns = new Map<string, BufferAttribute>();
  constructor(private readonly shape: Shape, private readonly sizes: Record<string, number>, private readonly instanced: boolean) { this.grow(256); }

  private grow(room: number): void {
    this.room = room;
    this.shape.dispose();
    for (const [name, size] of Object.entries(this.sizes)) {
      const array = new Float32Array(room * size), column = this.instanced ? new InstancedBufferAttribute(array, size) : new BufferAttribute(array, size);
      this.columns.set(name, column.setUsage(DynamicDrawUsage));
      this.shape.setAttribute(name, column);
    }
  }
  ready(count: number): void { if (count > this.room) this.grow(2 * count); }
  get(name: string): Float32Array { return this.columns.get(name)!.array as Float32Array; }
  done(count: number): void {
    if (this.shape instanceof InstancedBufferGeometry) this.shape.instanceCount = count;
    else this.shape.setDrawRange(0, count);
    if (count)
      for (const column of this.columns.values()) {
        column.clearUpdateRanges();
        column.addUpdateRange(0, count * column.itemSize);
        column.needsUpdate = true;
      }
  }
}

function arrowShape(): InstancedBufferGeometry {
  const shape = new InstancedBufferGeometry();
  shape.setAttribute("position", new BufferAttribute(new Float32Array([-1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1, 0, -1, 0, 1, 1, 0, 1, 0, 1, 1]), 3));
  shape.setIndex([0, 1, 2, 0, 2, 3, 4, 5, 6]);
  return shape;
}

/* Cones with each number of sides: lists of corners one after the other, over the vertices of the finest. */
function coneShape(): InstancedBufferGeometry {
  const shape = new InstancedBufferGeometry(), position = [0, 0, 0], index: number[] = [], most = SIDES[0].sides;
  for (let k = 0; k < most; k++) position.push(Math.cos((2 * Math.PI * k) / most), Math.sin((2 * Math.PI * k) / most), 1);
  for (const { sides } of SIDES) for (let k = 0; k < most; k += most / sides) index.push(0, 1 + k, 1 + ((k + most / sides) % most));
  shape.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
  shape.setIndex(index);
  return shape;
}

function chooseSides(shape: InstancedBufferGeometry, cones: number): void {
  let first = 0;
  for (const { upTo, sides } of SIDES) {
    if (cones <= upTo) return shape.setDrawRange(first, 3 * sides);
    first += 3 * sides;
  }
}

/* Also used for the hand. */
export class Arrows {
  private readonly pair: Twice;
  private readonly columns: Columns;
  private count = 0;
  constructor(uniforms: Record<string, { value: number }>, alpha = 0.95, hidden = BEHIND * alpha) {
    const shape = arrowShape();
    this.columns = new Columns(shape, { start: 3, along: 3, kind: 1 }, true);
    this.pair = new Twice((material) => new Mesh(shape, material), ARROW_VERTEX, ARROW_FRAGMENT, uniforms, alpha, hidden);
  }
  get root(): Group { return this.pair.root; }
  begin(most: number): void {
    this.columns.ready(most);
    this.count = 0;
  }
  add(p: ArrayLike<number>, at: number, x: number, y: number, z: number, kind: number): void {
    const o = 3 * this.count, start = this.columns.get("start"), along = this.columns.get("along");
    for (let k = 0; k < 3; k++) start[o + k] = p[at + k];
    this.columns.get("kind")[this.count++] = kind;
    along[o] = x;
    along[o + 1] = y;
    along[o + 2] = z;
  }
  done(): void {
    this.columns.done(this.count);
    this.pair.count(this.count);
  }
}

export class Contacts {
  readonly root = new Group();
  private readonly uniforms = { size: { value: 9 }, thickness: { value: 0.001 }, pixel: { value: 0.001 } };
  readonly normals: Arrows;
  readonly frictions: Arrows;
  private readonly pointPair: Twice;
  private readonly conePair: Twice;
  private readonly coneShape = coneShape();
  private readonly pointColumns: Columns;
  private readonly coneColumns: Columns;
  private newtons = 0; // for an arrow as long as a typical body
  factor = 1; // by which the user scaled arrows

  constructor() {
    const points = new BufferGeometry();
    this.pointColumns = new Columns(points, { position: 3, kind: 1 }, false);
    this.coneColumns = new Columns(this.coneShape, { start: 3, along: 3, kind: 1, mu: 1 }, true);
    this.pointPair = new Twice((material) => new Points(points, material), POINT_VERTEX, POINT_FRAGMENT, this.uniforms, 1);
    this.conePair = new Twice((material) => new Mesh(this.coneShape, material), CONE_VERTEX, CONE_FRAGMENT, {}, 0.22);
    this.normals = new Arrows(this.uniforms);
    this.frictions = new Arrows(this.uniforms);
    this.root.add(this.cones, this.points, this.normals.root, this.frictions.root);
  }

  get points(): Group { return this.pointPair.root; }
  get cones(): Group { return this.conePair.root; }
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

  /* The larger forces of a frame are drawn up to half a typical body long, the largest up to a whole one: longer cones would hide what they belong to.
     The scale changes only when these leave the range of 0.12 to 1 times the force of a typical body's length. */
  private chooseScale(frame: Frame, scene: Scene): void {
    const force: number[] = [], stride = Math.max(1, Math.floor(frame.contacts / 400)) * CONTACT_WORDS;
    for (let o = 0; o < frame.contactF.length; o += stride) {
      const f = Math.hypot(frame.contactF[o + At.Impulse], frame.contactF[o + At.Impulse + 1], frame.contactF[o + At.Impulse + 2]) / scene.step;
      if (f > 0) force.push(f);
    }
    if (!force.length) return;
    force.sort((a, b) => a - b);
    const large = Math.max(force[Math.floor(0.9 * (force.length - 1))], LARGEST * force[force.length - 1]);
    if (!(this.newtons > 0) || large > this.newtons || large < 0.12 * this.newtons) this.newtons = roundUp(2 * large);
  }

  private showPoints(frame: Frame): void {
    this.pointColumns.ready(frame.contacts);
    const p = this.pointColumns.get("position"), kind = this.pointColumns.get("kind");
    for (let k = 0; k < frame.contacts; k++) {
      const o = k * CONTACT_WORDS;
      for (let i = 0; i < 3; i++) p[3 * k + i] = frame.contactF[o + At.Point + i];
      kind[k] = frame.contactU[o + At.Mode];
    }
    this.pointColumns.done(frame.contacts);
    this.pointPair.count(frame.contacts);
  }

  private showArrows(frame: Frame, scene: Scene): void {
    const f = frame.contactF, perImpulse = scene.nearSize / (this.scale * scene.step), longest = LONGEST * scene.nearSize;
    this.normals.begin(frame.contacts);
    this.frictions.begin(frame.contacts);
    for (let k = 0; k < frame.contacts; k++) {
      const o = k * CONTACT_WORDS, n = o + At.Normal, j = o + At.Impulse;
      const along = f[j] * f[n] + f[j + 1] * f[n + 1] + f[j + 2] * f[n + 2];
      const length = Math.hypot(f[j], f[j + 1], f[j + 2]) * perImpulse;
      if (!(length > SHORTEST * scene.nearSize)) continue;
      const a = onMovable(frame, scene, o) * perImpulse * Math.min(1, longest / length);
      this.normals.add(f, o + At.Point, a * along * f[n], a * along * f[n + 1], a * along * f[n + 2], NORMAL);
      const x = a * (f[j] - along * f[n]), y = a * (f[j + 1] - along * f[n + 1]), z = a * (f[j + 2] - along * f[n + 2]);
      if (Math.hypot(x, y, z) > SHORTEST * scene.nearSize) this.frictions.add(f, o + At.Point, x, y, z, frame.contactU[o + At.Mode]);
    }
    this.normals.done();
    this.frictions.done();
  }

  private showCones(frame: Frame, scene: Scene): void {
    this.coneColumns.ready(frame.contacts);
    const start = this.coneColumns.get("start"), axis = this.coneColumns.get("along"), kind = this.coneColumns.get("kind"), mu = this.coneColumns.get("mu");
    const f = frame.contactF, perImpulse = scene.nearSize / (this.scale * scene.step);
    let count = 0;
    for (let o = 0; o < f.length; o += CONTACT_WORDS) {
      const n = o + At.Normal, j = o + At.Impulse, along = f[j] * f[n] + f[j + 1] * f[n + 1] + f[j + 2] * f[n + 2];
      const length = Math.min(along * perImpulse, LONGEST * scene.nearSize);
      if (!(length > SHORTEST * scene.nearSize)) continue;
      const sign = onMovable(frame, scene, o);
      for (let i = 0; i < 3; i++) {
        start[3 * count + i] = f[o + At.Point + i];
        axis[3 * count + i] = sign * length * f[n + i];
      }
      kind[count] = frame.contactU[o + At.Mode];
      mu[count++] = f[o + At.Mu];
    }
    this.coneColumns.done(count);
    this.conePair.count(count);
    chooseSides(this.coneShape, count);
  }
}

/* Impulses are on body a; if a cannot move, the arrow shows the force on b. */
function onMovable(frame: Frame, scene: Scene, o: number): 1 | -1 {
  return scene.bodies[frame.contactU[o + At.A]].mass > 0 || scene.bodies[frame.contactU[o + At.B]].mass <= 0 ? 1 : -1;
}
