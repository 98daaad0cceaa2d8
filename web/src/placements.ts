// Pose and colour of every part of every body: four texels of one texture per part, written once per frame and read by the vertex shader. The attribute `part` of a
// mesh, per instance or per vertex, selects them, so that bodies of any forms share draw calls:
//   texels 0 to 2: the rows of the 3 x 4 matrix from the part's frame to the world;   texel 3: red, green, blue (linear), and the row of its reduced coordinates (soft.ts)
import {
  Color, DataTexture, FloatType, LineBasicMaterial, Material, Matrix4, MeshBasicMaterial, MeshDepthMaterial, MeshStandardMaterial, NearestFilter, RGBAFormat, type WebGLProgramParametersWithUniforms,
} from "three";
import { attenuate, type Occlusion } from "./occlusion";
import { SOFT_HEAD, SOFT_NORMAL_HEAD, softUniforms, type SoftMaps } from "./soft";

const TEXELS = 4, WIDTH = 256 * TEXELS;

const HEAD = `
uniform highp sampler2D placements;
attribute float part;
vec4 placedX, placedY, placedZ, placedColor;
void readPlacement() {
  ivec2 at = ivec2((${TEXELS} * int(part + 0.5)) % ${WIDTH}, (${TEXELS} * int(part + 0.5)) / ${WIDTH});
  placedX = texelFetch(placements, at, 0); placedY = texelFetch(placements, at + ivec2(1, 0), 0); placedZ = texelFetch(placements, at + ivec2(2, 0), 0);
  placedColor = texelFetch(placements, at + ivec2(3, 0), 0);
}
`;
const MAIN = "void main() {", READ = "void main() { readPlacement();";
const PLACED = `#include <begin_vertex>
SOFT { vec4 here = vec4(transformed, 1.0); transformed = vec3(dot(placedX, here), dot(placedY, here), dot(placedZ, here)); }`;
const TURNED = `#include <beginnormal_vertex>
SOFT objectNormal = vec3(dot(placedX.xyz, objectNormal), dot(placedY.xyz, objectNormal), dot(placedZ.xyz, objectNormal)); partColor = placedColor.rgb;`;

export class Placements {
  readonly texture: DataTexture;
  private readonly texels: Float32Array;

  constructor(parts: number, private readonly sky: Occlusion["uniforms"]) {
    const rows = Math.max(1, Math.ceil((TEXELS * parts) / WIDTH));
    this.texels = new Float32Array(4 * WIDTH * rows);
    this.texture = new DataTexture(this.texels, WIDTH, rows, RGBAFormat, FloatType);
    this.texture.minFilter = this.texture.magFilter = NearestFilter;
  }

  place(part: number, { elements: m }: Matrix4): void {
    const o = 4 * TEXELS * part, t = this.texels;
    for (let row = 0; row < 3; row++) for (let k = 0; k < 4; k++) t[o + 4 * row + k] = m[4 * k + row];
    this.texture.needsUpdate = true;
  }

  paint(part: number, color: Color): void {
    color.toArray(this.texels, 4 * TEXELS * part + 12);
    this.texture.needsUpdate = true;
  }

  setSoftRow(part: number, row: number): void { this.texels[4 * TEXELS * part + 15] = row; }

  // ---- materials of three.js placed by the texture ------------------------------------------------------------

  surface(soft: SoftMaps | null): MeshStandardMaterial {
    const material = new MeshStandardMaterial({ roughness: 0.6, metalness: 0, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    return this.patch(material, soft, true);
  }
  shadow(soft: SoftMaps | null): MeshDepthMaterial { return this.patch(new MeshDepthMaterial(), soft, false); }
  depth(soft: SoftMaps | null): MeshBasicMaterial { return this.patch(new MeshBasicMaterial({ colorWrite: false }), soft, false); }
  crease(soft: SoftMaps | null): LineBasicMaterial { return this.patch(new LineBasicMaterial({ transparent: true, depthWrite: false }), soft, false); }

  private patch<M extends Material>(material: M, soft: SoftMaps | null, lit: boolean): M {
    material.customProgramCacheKey = () => `placed ${soft ? "soft" : "rigid"} ${lit ? "lit" : "plain"}`;
    material.onBeforeCompile = (shader) => this.compile(shader, soft, lit);
    return material;
  }

  private compile(shader: WebGLProgramParametersWithUniforms, soft: SoftMaps | null, lit: boolean): void {
    shader.uniforms.placements = { value: this.texture };
    if (soft) Object.assign(shader.uniforms, softUniforms(soft));
    const head = HEAD + (soft ? SOFT_HEAD : "") + (soft && lit ? SOFT_NORMAL_HEAD : "") + (lit ? "varying vec3 partColor;\n" : "");
    shader.vertexShader = head + shader.vertexShader.replace(MAIN, READ).replace("#include <begin_vertex>", PLACED.replace("SOFT", soft ? "transformed += softOffset();" : ""));
    if (!lit) return;
    attenuate(shader, this.sky);
    shader.vertexShader = shader.vertexShader.replace("#include <beginnormal_vertex>", TURNED.replace("SOFT", soft ? "objectNormal = softNormal(objectNormal);" : ""));
    shader.fragmentShader = "varying vec3 partColor;\n" + shader.fragmentShader.replace("#include <color_fragment>", "#include <color_fragment>\n diffuseColor.rgb *= partColor;");
  }

  dispose(): void { this.texture.dispose(); }
}
