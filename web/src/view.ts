// Renderer, light and ground. A frame is drawn only on request, and the shadow map is updated only when something moved:
// both matter on integrated graphics.
import {
  AmbientLight, Color, DirectionalLight, HemisphereLight, NeutralToneMapping, PCFShadowMap, Scene as Stage, SRGBColorSpace, Vector3, WebGLRenderer,
} from "three";
import { Occlusion } from "./occlusion";
import { Orbit } from "./orbit";
import { LEVELS, Pace } from "./pace";

const FIELD = 35; // degrees, of the height, or of the width where that is less
const MOST_PIXELS = 3.2e6; // in the drawing buffer: a 4K display has a lower resolution

export interface Palette { background: string; ground: string; grid: string; crease: number; creaseAlpha: number; sky: string; earth: string }
export const DARK: Palette = { background: "#1a1d20", ground: "#2b2f33", grid: "#43494f", crease: 0x05070a, creaseAlpha: 0.5, sky: "#dfe8f2", earth: "#6b6a68" };
export const LIGHT: Palette = { background: "#ecebe7", ground: "#cfcfce", grid: "#b3b0aa", crease: 0x1c1f24, creaseAlpha: 0.45, sky: "#ffffff", earth: "#c9c5bc" };

export class View {
  readonly renderer: WebGLRenderer;
  readonly stage = new Stage();
  readonly orbit = new Orbit();
  readonly sun = new DirectionalLight(0xfffaf3, 2.5);
  private readonly fill = new DirectionalLight(0xe6eeff, 0.6);
  private readonly sky = new HemisphereLight(0xffffff, 0x888888, 1.8);
  private readonly toSun = new Vector3(0, 0, 1);
  private fixedSize: [number, number] | null = null;
  private covered = { top: 0, bottom: 0 }; // px, by what lies over the image
  readonly pace = new Pace();
  readonly occlusion: Occlusion;
  outgrown = false; // the window has another size
  private part = 1; // of the full resolution that the drawing buffer has
  private texels: number = LEVELS[0].shadow; // along the sides of the shadow map
  palette: Palette = DARK;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance", preserveDrawingBuffer: false });
    this.occlusion = new Occlusion(this.renderer);
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(this.texels, this.texels);
    this.sun.shadow.radius = 6;
    this.stage.add(this.sun, this.sun.target, this.fill, this.sky, new AmbientLight(0xffffff, 0.12));
    this.resize();
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.stage.background = new Color(palette.background);
    this.sky.color.set(palette.sky);
    this.sky.groundColor.set(palette.earth);
  }

  /* The sun is behind the camera, to the left. */
  placeSun(): void {
    const x = new Vector3(), y = new Vector3(), z = new Vector3();
    this.orbit.camera.matrixWorld.extractBasis(x, y, z);
    z.setZ(0).normalize();
    x.setZ(0).normalize();
    this.toSun.set(0, 0, 1.25).addScaledVector(x, -0.75).addScaledVector(z, 0.55).normalize();
    this.fill.position.set(0, 0, 0.5).addScaledVector(x, 1).addScaledVector(z, 0.4);
  }

  /* Shadows are drawn for what lies in this ball; metres per texel. */
  fitShadow(center: Vector3, radius: number): number {
    const camera = this.sun.shadow.camera, r = Math.max(radius, 1e-4) * 1.15;
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).addScaledVector(this.toSun, 4 * r);
    this.sun.target.updateMatrixWorld();
    camera.left = camera.bottom = -r;
    camera.right = camera.top = r;
    camera.near = r;
    camera.far = 8 * r;
    camera.updateProjectionMatrix();
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = (2.2 * r) / this.texels;
    this.moved();
    return (2 * r) / this.texels;
  }

  moved(): void { this.renderer.shadowMap.needsUpdate = true; }

  /* A film has images of a given size, independent of the window. */
  fixSize(width: number, height: number): void {
    this.fixedSize = [width, height];
    this.resize();
  }

  /* The scene is fitted into what is not covered. True if that changed. */
  cover(top: number, bottom: number): boolean {
    if (top === this.covered.top && bottom === this.covered.bottom) return false;
    this.covered = { top, bottom };
    return (this.outgrown = true);
  }

  resize(): void {
    const box = this.canvas.parentElement!.getBoundingClientRect();
    const [width, height] = this.fixedSize ?? [Math.max(box.width, 1), Math.max(box.height, 1)];
    const most = Math.sqrt(MOST_PIXELS / (width * height));
    this.renderer.setPixelRatio(this.fixedSize ? 1 : Math.min(window.devicePixelRatio || 1, 2, Math.max(most, 0.75)) * this.part);
    this.renderer.setSize(width, height, false); // its place on the page is the style sheet's
    // A tall and narrow window shows as much to the sides as a square one.
    const { top, bottom } = this.fixedSize ? { top: 0, bottom: 0 } : this.covered, free = height - top - bottom, { camera } = this.orbit;
    camera.fov = (360 / Math.PI) * Math.atan(Math.tan((FIELD * Math.PI) / 360) * (height / Math.min(free, width, height)));
    camera.setViewOffset(width, height, 0, (bottom - top) / 2, width, height);
  }

  /* Sets the resolution before drawing: the full one if nothing moves or the image is kept. A change of size clears the canvas, so it is made here, just before drawing. True if the shadow map was replaced and must be fitted. */
  prepare(fully: boolean): boolean {
    const { part, shadow } = LEVELS[fully ? 0 : this.pace.level];
    if (part !== this.part || this.outgrown) {
      this.part = part;
      this.outgrown = false;
      this.resize();
    }
    if (shadow === this.texels) return false;
    this.texels = shadow;
    this.sun.shadow.mapSize.set(shadow, shadow);
    this.sun.shadow.map?.dispose();
    this.sun.shadow.map = null;
    return true;
  }

  draw(): void { this.renderer.render(this.stage, this.orbit.camera); }
}
