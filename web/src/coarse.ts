// Fewer triangles for large scenes. Vertices that share a cell of a grid are replaced by one of them, and triangles that collapse are left out: the coarse surface is
// another list of corners over the same vertices, so that normals, modes and instances stay as they are. 2,000 chess men have 9 million triangles, and a thirtieth of
// a window's height each: nobody sees the difference, and integrated graphics draw them at 60 pictures a second.
import type { Geometry } from "./protocol";

const CELLS = 20; // across the surface
export const WORTH = 800; // triangles: below this a surface is drawn as it is
export const MOST_TRIANGLES = 1e6; // of a scene that is drawn as it is
export const MOST_SHADOWS = 1e5; // triangles of a scene whose shadows are drawn as they are: a shadow shows even less
export const SMALL = 0.05; // of the height of the view: larger bodies are drawn as they are

export function coarseCorners(geometry: Geometry, radius: number): Uint32Array {
  const { position, normal, corner, vertices } = geometry, cell = (2 * radius) / CELLS, chosen = new Map<string, number>(), to = new Uint32Array(vertices);
  for (let v = 0; v < vertices; v++) {
    const o = 3 * v, key = `${Math.round(position[o] / cell)},${Math.round(position[o + 1] / cell)},${Math.round(position[o + 2] / cell)},${side(normal, o)}`;
    if (!chosen.has(key)) chosen.set(key, v);
    to[v] = chosen.get(key)!;
  }
  const place = (v: number) => `${position[3 * v]},${position[3 * v + 1]},${position[3 * v + 2]}`;
  const kept: number[] = [];
  for (let t = 0; t < corner.length; t += 3) {
    const a = to[corner[t]], b = to[corner[t + 1]], c = to[corner[t + 2]];
    if (a !== b && b !== c && c !== a && place(a) !== place(b) && place(b) !== place(c) && place(c) !== place(a)) kept.push(a, b, c);
  }
  return new Uint32Array(kept);
}

/* Both sides of a thin wall lie in one cell, and must not become one: the direction of the normal is part of the cell. */
function side(normal: Float32Array, o: number): number {
  let most = 0;
  for (let k = 1; k < 3; k++) if (Math.abs(normal[o + k]) > Math.abs(normal[o + most])) most = k;
  return 2 * most + (normal[o + most] > 0 ? 1 : 0);
}
