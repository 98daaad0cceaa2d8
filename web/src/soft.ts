// Deformable surfaces on the GPU. A vertex is at x + sum_i q_i d_i, where d_i is its displacement in mode i. Its normal comes from
// two tangents that move with it, t_a + sum_i q_i (d d_i / d t_a): their cross product is the normal of the deformed surface, exact for the
// mesh. The three vectors per mode and vertex are in a texture; q of every body that shares the geometry is a row of a second one.
import { DataTexture, FloatType, NearestFilter, RedFormat, RGBAFormat } from "three";
import type { Geometry } from "./protocol";

const WIDTH = 2048;

export interface SoftMaps { modeMap: DataTexture; coordinateMap: DataTexture; q: Float32Array; modes: number; vertices: number; tangent: Float32Array }

export function softMaps(geometry: Geometry, instances: number, mostRows: number): SoftMaps {
  const n = geometry.vertices;
  const modes = Math.min(geometry.modes, Math.floor((mostRows * WIDTH) / (3 * n)));
  const tangent = tangents(geometry.normal, n);
  const texels = new Float32Array(4 * WIDTH * Math.ceil((3 * n * Math.max(modes, 1)) / WIDTH));
  const slopes = new Slopes(geometry, tangent);
  for (let i = 0; i < modes; i++) slopes.write(texels, i);
  const modeMap = new DataTexture(texels, WIDTH, texels.length / 4 / WIDTH, RGBAFormat, FloatType);
  const q = new Float32Array(Math.max(modes, 1) * instances);
  const coordinateMap = new DataTexture(q, Math.max(modes, 1), instances, RedFormat, FloatType);
  for (const map of [modeMap, coordinateMap]) {
    map.minFilter = map.magFilter = NearestFilter;
    map.needsUpdate = true;
  }
  return { modeMap, coordinateMap, q, modes, vertices: n, tangent };
}

/* A unit vector across each normal. */
function tangents(normal: Float32Array, n: number): Float32Array {
  const tangent = new Float32Array(3 * n);
  for (let v = 0; v < 3 * n; v += 3) {
    const [x, y, z] = [normal[v], normal[v + 1], normal[v + 2]];
    const along = Math.abs(x) < 0.6 ? [0, z, -y] : [-z, 0, x];
    const length = Math.hypot(along[0], along[1], along[2]) || 1;
    for (let k = 0; k < 3; k++) tangent[v + k] = along[k] / length;
  }
  return tangent;
}

/* Derivatives of displacements along the two tangents of each vertex: least squares over the edges at it. */
class Slopes {
  private readonly n: number;
  private readonly weights: { to: number; a: number; b: number }[][];

  constructor(private readonly geometry: Geometry, tangent: Float32Array) {
    this.n = geometry.vertices;
    const sides: Set<number>[] = Array.from({ length: this.n }, () => new Set());
    const { corner } = geometry;
    for (let t = 0; t < corner.length; t += 3)
      for (let k = 0; k < 3; k++) {
        sides[corner[t + k]].add(corner[t + ((k + 1) % 3)]);
        sides[corner[t + k]].add(corner[t + ((k + 2) % 3)]);
      }
    this.weights = sides.map((side, v) => edgeWeights(geometry, tangent, v, [...side]));
  }

  write(texels: Float32Array, i: number): void {
    const mode = this.geometry.mode.subarray(i * 3 * this.n, (i + 1) * 3 * this.n);
    for (let v = 0; v < this.n; v++) {
      const at = 12 * (i * this.n + v);
      for (let k = 0; k < 3; k++) {
        let a = 0, b = 0;
        for (const edge of this.weights[v]) {
          const change = mode[3 * edge.to + k] - mode[3 * v + k];
          a += edge.a * change;
          b += edge.b * change;
        }
        texels[at + k] = mode[3 * v + k];
        texels[at + 4 + k] = a;
        texels[at + 8 + k] = b;
      }
    }
  }
}

function edgeWeights(geometry: Geometry, tangent: Float32Array, v: number, side: number[]): { to: number; a: number; b: number }[] {
  const { position: x, normal: m } = geometry, o = 3 * v;
  const t = [tangent[o], tangent[o + 1], tangent[o + 2]];
  const s = [m[o + 1] * t[2] - m[o + 2] * t[1], m[o + 2] * t[0] - m[o] * t[2], m[o] * t[1] - m[o + 1] * t[0]];
  const edges = side.map((to) => {
    const e = [x[3 * to] - x[o], x[3 * to + 1] - x[o + 1], x[3 * to + 2] - x[o + 2]];
    return { to, p: e[0] * t[0] + e[1] * t[1] + e[2] * t[2], q: e[0] * s[0] + e[1] * s[1] + e[2] * s[2] };
  });
  let pp = 0, pq = 0, qq = 0;
  for (const { p, q } of edges) { pp += p * p; pq += p * q; qq += q * q; }
  const det = pp * qq - pq * pq;
  if (!(det > 1e-12 * (pp + qq) * (pp + qq))) return [];
  return edges.map(({ to, p, q }) => ({ to, a: (qq * p - pq * q) / det, b: (pp * q - pq * p) / det }));
}

// In shaders that also have the head of placements.ts.
export const SOFT_HEAD = `
uniform highp sampler2D modeMap;
uniform highp sampler2D coordinateMap;
uniform int modeCount;
uniform int vertexCount;
vec3 softTexel(int k) { return texelFetch(modeMap, ivec2(k % ${WIDTH}, k / ${WIDTH}), 0).xyz; }
float softCoordinate(int i) { return texelFetch(coordinateMap, ivec2(i, int(placedColor.w + 0.5)), 0).x; }
vec3 softOffset() {
  vec3 d = vec3(0.0);
  for (int i = 0; i < modeCount; i++) d += softCoordinate(i) * softTexel(3 * (i * vertexCount + gl_VertexID));
  return d;
}
`;
export const SOFT_NORMAL_HEAD = `
attribute vec3 softTangent;
vec3 softNormal(vec3 n) {
  vec3 t = softTangent, s = cross(n, t);
  for (int i = 0; i < modeCount; i++) {
    int k = 3 * (i * vertexCount + gl_VertexID);
    float q = softCoordinate(i);
    t += q * softTexel(k + 1);
    s += q * softTexel(k + 2);
  }
  vec3 m = cross(t, s);
  return dot(m, m) > 0.0 ? normalize(m) : n;
}
`;

export function softUniforms({ modeMap, coordinateMap, modes, vertices }: SoftMaps): Record<string, { value: unknown }> {
  return { modeMap: { value: modeMap }, coordinateMap: { value: coordinateMap }, modeCount: { value: modes }, vertexCount: { value: vertices } };
}
