// Ambient occlusion: how much of the sky a surface sees, from the depths around it on the screen. Corners, gaps and the ground under a body get less of the light
// that comes from everywhere; the sun has its shadow map. Three passes at half the resolution, before the image itself:
//   1. the depth of all bodies and grounds, bodies as finely as their shadows (stage);
//   2. at each pixel, SAMPLES points on a spiral around it, within a radius in metres: obscurance as in McGuire, Mara and Luebke, "Scalable Ambient Obscurance" (HPG 2012),
//      eq. 1: the nearer to the normal and to the pixel, the more a point hides;
//   3. a mean over PATTERN x PATTERN pixels at the same depth, which takes out the pattern of turns of the spiral.
// Materials multiply their indirect light by the result (`attenuate`). Where nothing is rendered, that is one white texel.
import {
  BufferAttribute, BufferGeometry, DataTexture, DepthTexture, LinearFilter, Matrix4, Mesh, NearestFilter, RawShaderMaterial, GLSL3, Scene as Stage, Texture, UnsignedIntType, Vector2, WebGLRenderTarget,
  type PerspectiveCamera, type WebGLProgramParametersWithUniforms, type WebGLRenderer,
} from "three";

const SAMPLES = 10, TURNS = 3; // of the spiral
const PATTERN = 4; // pixels
const REACH = 0.8; // of a typical body: the radius
const MOST_SCREEN = 0.12; // of the height: the radius on the screen, where the camera is near
const FLAT = 0.002; // of the distance: what rises less above a surface is rounding of its depth
const NEAREST = 0.0001; // of the square of the radius: bounds what a point that touches hides
const STRENGTH = 3.5; // by eye: card houses, arches, woven strands, light and dark

const VERTEX = "in vec3 position; void main() { gl_Position = vec4(position, 1.0); }";
const HEAD = `precision highp float;
uniform highp sampler2D depths;
uniform mat4 projection;
uniform vec2 size;
out vec4 outColor;
float depth(ivec2 at) { // z in the camera's frame, below 0
  return -projection[3].z / (2.0 * texelFetch(depths, clamp(at, ivec2(0), ivec2(size) - 1), 0).x - 1.0 + projection[2].z);
}
vec3 place(ivec2 at) {
  float z = depth(at);
  return vec3(-z * (2.0 * (vec2(at) + 0.5) / size - 1.0 + projection[2].xy) / vec2(projection[0].x, projection[1].y), z);
}
`;
const OBSCURE = `${HEAD}
uniform float radius;
uniform float scale; // pixels per metre at a distance of one metre
vec3 shorter(vec3 a, vec3 b) { return dot(a, a) < dot(b, b) ? a : b; }
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec3 p = place(at);
  float pixels = min(radius * scale / -p.z, ${MOST_SCREEN} * size.y), within = pixels * -p.z / scale;
  if (pixels < 1.0 || texelFetch(depths, at, 0).x >= 1.0) { outColor = vec4(1.0); return; }
  // Along the surface that is nearer in depth, so that the normal does not mix two bodies.
  vec3 right = shorter(place(at + ivec2(1, 0)) - p, p - place(at - ivec2(1, 0))), up = shorter(place(at + ivec2(0, 1)) - p, p - place(at - ivec2(0, 1)));
  vec3 n = normalize(cross(right, up));
  int turn = ${PATTERN} * (at.y % ${PATTERN}) + at.x % ${PATTERN}; // every pixel of the pattern has another begin of the spiral
  float begin = ${(2 * Math.PI).toFixed(6)} * float((turn * 7) % ${PATTERN ** 2}) / ${PATTERN ** 2}.0, inner = (float((turn * 11) % ${PATTERN ** 2}) + 0.5) / ${PATTERN ** 2}.0, sum = 0.0;
  for (int i = 0; i < ${SAMPLES}; i++) {
    float part = (float(i) + inner) / ${SAMPLES}.0, angle = begin + ${(2 * Math.PI * TURNS).toFixed(6)} * part;
    vec3 v = place(at + ivec2(round(part * pixels * vec2(cos(angle), sin(angle))))) - p;
    float far = dot(v, v), fall = max(1.0 - far / (within * within), 0.0), slope = dot(v, n) + ${FLAT} * p.z;
    sum += fall * fall * fall * max(slope, 0.0) / (far + ${NEAREST} * within * within) * within;
  }
  outColor = vec4(vec3(max(0.0, 1.0 - ${STRENGTH} * sum / ${SAMPLES}.0)), 1.0);
}`;
const SMOOTH = `${HEAD}
uniform sampler2D rough;
uniform float radius;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), last = ivec2(size) - 1;
  float here = depth(at), sum = 0.0, weight = 0.0;
  for (int y = 0; y < ${PATTERN}; y++) for (int x = 0; x < ${PATTERN}; x++) {
    ivec2 there = clamp(at + ivec2(x, y) - ${PATTERN / 2}, ivec2(0), last);
    float near = max(0.001, 1.0 - abs(depth(there) - here) / (0.25 * radius));
    sum += near * texelFetch(rough, there, 0).x;
    weight += near;
  }
  outColor = vec4(vec3(sum / weight), 1.0);
}`;

export class Occlusion {
  readonly stage = new Stage(); // what hides the sky
  readonly uniforms = { occlusionMap: { value: white() }, occlusionSize: { value: new Vector2(1, 1) } };
  private readonly none = this.uniforms.occlusionMap.value;
  private readonly depths: WebGLRenderTarget;
  private readonly rough = target();
  private readonly smooth = target();
  private readonly shared = { depths: { value: null as DepthTexture | null }, projection: { value: new Matrix4() }, size: { value: new Vector2() }, radius: { value: 1 } };
  private readonly obscure = this.pass(OBSCURE, { scale: { value: 1 } });
  private readonly smoothen = this.pass(SMOOTH, { rough: { value: this.rough.texture } });

  constructor(private readonly renderer: WebGLRenderer) {
    this.depths = new WebGLRenderTarget(1, 1, { depthTexture: new DepthTexture(1, 1, UnsignedIntType) });
    this.shared.depths.value = this.depths.depthTexture;
  }

  /* Materials see the whole sky. */
  clear(): void { this.uniforms.occlusionMap.value = this.none; }

  /* For the image that is drawn next; `near` is the size of a typical body, m. */
  render(camera: PerspectiveCamera, near: number): void {
    const { renderer, shared, uniforms } = this, full = renderer.getDrawingBufferSize(uniforms.occlusionSize.value), { shadowMap } = renderer;
    const width = Math.ceil(full.x / 2), height = Math.ceil(full.y / 2), stale = shadowMap.needsUpdate;
    for (const map of [this.depths, this.rough, this.smooth]) map.setSize(width, height);
    shared.size.value.set(width, height);
    shared.projection.value.copy(camera.projectionMatrix);
    shared.radius.value = REACH * near;
    this.obscure.uniforms.scale.value = height * 0.5 * camera.projectionMatrix.elements[5];
    shadowMap.needsUpdate = false; // it is for the image itself
    this.draw(this.stage, this.depths, camera);
    this.draw(this.obscure.stage, this.rough, camera);
    this.draw(this.smoothen.stage, this.smooth, camera);
    renderer.setRenderTarget(null);
    shadowMap.needsUpdate = stale;
    uniforms.occlusionMap.value = this.smooth.texture;
  }

  private draw(stage: Stage, to: WebGLRenderTarget, camera: PerspectiveCamera): void {
    this.renderer.setRenderTarget(to);
    this.renderer.render(stage, camera);
  }

  /* One triangle over the whole image. */
  private pass(fragmentShader: string, own: Record<string, { value: unknown }>): { stage: Stage; uniforms: Record<string, { value: unknown }> } {
    const uniforms: Record<string, { value: unknown }> = { ...this.shared, ...own }, stage = new Stage(), shape = new BufferGeometry();
    shape.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const mesh = new Mesh(shape, new RawShaderMaterial({ glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader, uniforms, depthTest: false, depthWrite: false }));
    mesh.frustumCulled = false;
    stage.add(mesh);
    return { stage, uniforms };
  }
}

/* A lit material of three.js gets less light from the sky where that is hidden. */
export function attenuate(shader: WebGLProgramParametersWithUniforms, uniforms: Occlusion["uniforms"]): void {
  Object.assign(shader.uniforms, uniforms);
  shader.fragmentShader = "uniform sampler2D occlusionMap; uniform vec2 occlusionSize;\n" + shader.fragmentShader.replace(
    "#include <aomap_fragment>", "reflectedLight.indirectDiffuse *= texture2D(occlusionMap, gl_FragCoord.xy / occlusionSize).x;");
}

function target(): WebGLRenderTarget {
  return new WebGLRenderTarget(1, 1, { depthBuffer: false, minFilter: LinearFilter, magFilter: LinearFilter });
}

function white(): Texture {
  const texture = new DataTexture(new Uint8Array([255, 255, 255, 255]), 1, 1);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}
