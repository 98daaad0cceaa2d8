// Half-spaces: a disc around the scene that fades into the background, with a fine grid whose spacing is a round number of metres.
import { CircleGeometry, Color, Mesh, MeshBasicMaterial, MeshLambertMaterial, Vector2, type WebGLProgramParametersWithUniforms } from "three";
import { attenuate, type Occlusion } from "./occlusion";
import type { Palette } from "./view";

export class Ground extends Mesh<CircleGeometry, MeshLambertMaterial> {
  private readonly uniforms = {
    gridColor: { value: new Color() }, farColor: { value: new Color() }, gridSize: { value: 1 }, middle: { value: new Vector2() }, radius: { value: 1 },
  };

  readonly occluder: Mesh<CircleGeometry, MeshBasicMaterial>; // its depth alone

  constructor(private readonly sky: Occlusion["uniforms"]) {
    super(new CircleGeometry(1, 64), new MeshLambertMaterial({ transparent: true, toneMapped: false }));
    this.receiveShadow = true;
    this.renderOrder = -1;
    this.matrixAutoUpdate = false;
    this.frustumCulled = false;
    this.material.onBeforeCompile = (shader) => this.compile(shader);
    this.occluder = new Mesh(this.geometry, new MeshBasicMaterial({ colorWrite: false }));
    this.occluder.material.onBeforeCompile = (shader) => this.spread(shader);
    this.occluder.matrix = this.matrix;
    this.occluder.matrixAutoUpdate = false;
    this.occluder.frustumCulled = false;
  }

  /* `spacing` of the grid in metres; `radius` of the disc about (x, y), both in the half-space's own plane. */
  fit(x: number, y: number, radius: number, spacing: number): void {
    this.uniforms.middle.value.set(x, y);
    this.uniforms.radius.value = radius;
    this.uniforms.gridSize.value = spacing;
  }

  paint(palette: Palette): void {
    this.material.color.set(palette.ground);
    this.uniforms.gridColor.value.set(palette.grid);
    this.uniforms.farColor.value.set(palette.background);
  }

  private compile(shader: WebGLProgramParametersWithUniforms): void {
    this.spread(shader);
    attenuate(shader, this.sky);
    shader.fragmentShader = "varying vec2 place; varying float out01; uniform vec3 gridColor; uniform float gridSize;\n" + shader.fragmentShader.replace(
      "#include <color_fragment>", `#include <color_fragment>
      for (int level = 0; level < 2; level++) {
        vec2 cell = place / (gridSize * (level == 0 ? 1.0 : 5.0)), width = fwidth(cell);
        vec2 line = 1.0 - smoothstep(0.3 * width, 1.3 * width, abs(fract(cell - 0.5) - 0.5));
        float near = 1.0 - smoothstep(0.15, 0.5, max(width.x, width.y));
        diffuseColor.rgb = mix(diffuseColor.rgb, gridColor, max(line.x, line.y) * near * (level == 0 ? 0.22 : 0.42));
      }
      diffuseColor.a *= 1.0 - smoothstep(0.25, 1.0, out01);`);
  }

  private spread(shader: WebGLProgramParametersWithUniforms): void {
    Object.assign(shader.uniforms, this.uniforms);
    shader.vertexShader = "varying vec2 place; varying float out01; uniform vec2 middle; uniform float radius;\n" + shader.vertexShader.replace(
      "#include <begin_vertex>", "vec3 transformed = vec3(middle + position.xy * radius, 0.0); place = transformed.xy; out01 = length(position.xy);");
  }

  dispose(): void {
    for (const { geometry, material } of [this, this.occluder]) {
      geometry.dispose();
      material.dispose();
    }
  }
}

/* 1, 2 or 5 times a power of ten, not below x. */
export function roundUp(x: number): number {
  const decade = Math.pow(10, Math.floor(Math.log10(x)));
  const lead = x / decade;
  return (lead <= 1.001 ? 1 : lead <= 2.001 ? 2 : lead <= 5.001 ? 5 : 10) * decade;
}
