// Fewer triangles for what is small in the picture. Edges of a surface are collapsed onto one of their ends, the cheapest first, where the cost is the squared distance
// to the planes of all triangles that an end stands for [Garland and Heckbert 1997, "Surface simplification using quadric error metrics"]. A level is another list of corners over
// the same vertices, so that normals, modes and instances stay as they are.
import type { Geometry } from "./protocol";

export interface Level { corner: Uint32Array; error: number } // error: metres between the surfaces, estimated

const SHRINK = 0.4; // triangles of a level over those of the finer one
const FEWEST = 40; // triangles: no level below
const FARTHEST = 0.15; // of the radius: an error larger than this is another form
const FLATTEST = 0.2; // cosine between a triangle's normals before and after a collapse

/* The surface as it is, and coarser ones, finest first. */
export function levelsOf(geometry: Geometry, radius: number): Level[] {
  const levels: Level[] = [{ corner: geometry.corner, error: 0 }];
  const surface = new Surface(geometry);
  for (let target = SHRINK * surface.triangles; target >= FEWEST; target *= SHRINK) {
    surface.collapseTo(target, FARTHEST * radius);
    if (surface.triangles > 0.8 * (levels[levels.length - 1].corner.length / 3)) break; // nothing more can go
    levels.push({ corner: surface.corners(), error: surface.error });
  }
  return levels;
}

/* Vertices at one place, but for rounding, are one point; the point of each vertex. */
export function weld({ position, vertices }: Geometry): Uint32Array {
  let size = 0;
  for (const x of position) size = Math.max(size, Math.abs(x));
  const cell = 1e-4 * size, play = 1e-6 * size, points = new Map<string, number>(), at = new Uint32Array(vertices);
  let count = 0;
  for (let v = 0; v < vertices; v++) {
    const keys = cellsAround(position, 3 * v, cell, play), known = keys.find((key) => points.has(key));
    at[v] = known === undefined ? count++ : points.get(known)!;
    if (known === undefined) for (const key of keys) points.set(key, at[v]);
  }
  return at;
}

/* The cells of a grid that a place is in, or within `play` of. */
function cellsAround(x: Float32Array, o: number, cell: number, play: number): string[] {
  const along = (k: number) => {
    const low = Math.floor((x[o + k] - play) / cell), high = Math.floor((x[o + k] + play) / cell);
    return low === high ? [low] : [low, high];
  };
  return along(0).flatMap((i) => along(1).flatMap((j) => along(2).map((k) => `${i},${j},${k}`)));
}

/* A surface that loses triangles. Vertices that lie at one place are one point here, with a corner for each of their normals. */
class Surface {
  triangles: number;
  error = 0;
  private readonly x: Float64Array; // of points
  private readonly at: Uint32Array; // vertex -> point
  private readonly face: Uint32Array; // vertices, three a triangle
  private readonly dead: Uint8Array; // triangles
  private readonly around: number[][]; // point -> its triangles
  private readonly corners0: number[][]; // point -> its vertices
  private readonly quadric: Float64Array; // point -> 10 numbers: sums over planes of area times n nT, n d, d d
  private readonly weight: Float64Array; // point -> area of these planes
  private readonly age: Uint32Array; // point -> how often it changed; older entries of the heap are void
  private readonly heap = new Heap();

  constructor(private readonly geometry: Geometry) {
    const { position, corner } = geometry;
    this.at = weld(geometry);
    this.corners0 = [];
    this.at.forEach((point, v) => (this.corners0[point] ??= []).push(v));
    const n = this.corners0.length;
    this.x = new Float64Array(3 * n);
    for (let p = 0; p < n; p++) for (let k = 0; k < 3; k++) this.x[3 * p + k] = position[3 * this.corners0[p][0] + k];
    this.face = corner.slice();
    this.triangles = corner.length / 3;
    this.dead = new Uint8Array(this.triangles);
    this.around = Array.from({ length: n }, () => []);
    this.quadric = new Float64Array(10 * n);
    this.weight = new Float64Array(n);
    this.age = new Uint32Array(n);
    for (let t = 0; t < this.dead.length; t++) this.addTriangle(t);
    for (let t = 0; t < this.dead.length; t++)
      for (let k = 0; k < 3; k++) {
        const a = this.point(t, k), b = this.point(t, (k + 1) % 3);
        if (a !== b) this.offer(a, b);
      }
  }

  private point(t: number, k: number): number { return this.at[this.face[3 * t + k]]; }

  private addTriangle(t: number): void {
    const p = [this.point(t, 0), this.point(t, 1), this.point(t, 2)], normal = [0, 0, 0];
    const length = this.normalOf(normal, p[0], p[1], p[2]);
    if (p[0] === p[1] || p[1] === p[2] || p[2] === p[0]) {
      this.dead[t] = 1;
      this.triangles--;
      return;
    }
    for (const q of p) this.around[q].push(t);
    if (!(length > 0)) return;
    const [a, b, c] = normal.map((y) => y / length), o = 3 * p[0], d = -(a * this.x[o] + b * this.x[o + 1] + c * this.x[o + 2]), area = 0.5 * length;
    const plane = [a * a, a * b, a * c, a * d, b * b, b * c, b * d, c * c, c * d, d * d];
    for (const q of p) {
      for (let k = 0; k < 10; k++) this.quadric[10 * q + k] += area * plane[k];
      this.weight[q] += area;
    }
  }

  /* (b - a) x (c - a) of three points; its length. */
  private normalOf(out: number[], a: number, b: number, c: number): number {
    const { x } = this, ux = x[3 * b] - x[3 * a], uy = x[3 * b + 1] - x[3 * a + 1], uz = x[3 * b + 2] - x[3 * a + 2];
    const vx = x[3 * c] - x[3 * a], vy = x[3 * c + 1] - x[3 * a + 1], vz = x[3 * c + 2] - x[3 * a + 2];
    out[0] = uy * vz - uz * vy;
    out[1] = uz * vx - ux * vz;
    out[2] = ux * vy - uy * vx;
    return Math.hypot(out[0], out[1], out[2]);
  }

  /* Squared distance at point p to the planes that p and q stand for, times their area. */
  private cost(p: number, q: number): number {
    const x = this.x[3 * p], y = this.x[3 * p + 1], z = this.x[3 * p + 2], a = 10 * p, b = 10 * q, Q = this.quadric, s = (k: number) => Q[a + k] + Q[b + k];
    return Math.max(s(0) * x * x + 2 * s(1) * x * y + 2 * s(2) * x * z + 2 * s(3) * x + s(4) * y * y + 2 * s(5) * y * z + 2 * s(6) * y + s(7) * z * z + 2 * s(8) * z + s(9), 0);
  }

  /* An edge as a candidate, in its cheaper direction. */
  private offer(a: number, b: number): void {
    const toB = this.cost(b, a), toA = this.cost(a, b);
    const [from, to] = toB <= toA ? [a, b] : [b, a];
    this.heap.push({ cost: Math.min(toA, toB), from, to, fromAge: this.age[from], toAge: this.age[to] });
  }

  collapseTo(target: number, farthest: number): void {
    while (this.triangles > target) {
      const edge = this.heap.pop();
      if (!edge) return;
      const { from, to } = edge;
      if (edge.fromAge !== this.age[from] || edge.toAge !== this.age[to]) continue;
      const distance = Math.sqrt(edge.cost / Math.max(this.weight[from] + this.weight[to], 1e-300));
      if (distance > farthest) {
        this.heap.push(edge); // for nobody: what follows is dearer
        return;
      }
      if (!this.allowed(from, to)) continue;
      this.error = Math.max(this.error, distance);
      this.collapse(from, to);
    }
  }

  private neighbours(p: number): Set<number> {
    const found = new Set<number>();
    for (const t of this.around[p]) for (let k = 0; k < 3; k++) found.add(this.point(t, k));
    found.delete(p);
    return found;
  }

  /* No triangle turns over, and the surface stays one: the ends of an edge share the two tips of its triangles, and no other point. */
  private allowed(from: number, to: number): boolean {
    const others = this.neighbours(to), before = [0, 0, 0], after = [0, 0, 0];
    let shared = 0;
    for (const p of this.neighbours(from)) if (others.has(p)) shared++;
    if (shared > 2) return false;
    for (const t of this.around[from]) {
      const p = [this.point(t, 0), this.point(t, 1), this.point(t, 2)];
      if (p.includes(to)) continue;
      const was = this.normalOf(before, p[0], p[1], p[2]), q = p.map((k) => (k === from ? to : k)), is = this.normalOf(after, q[0], q[1], q[2]);
      if (!(before[0] * after[0] + before[1] * after[1] + before[2] * after[2] > FLATTEST * was * is)) return false;
    }
    return true;
  }

  private collapse(from: number, to: number): void {
    for (const t of this.around[from]) {
      if (this.dead[t]) continue;
      let gone = false;
      for (let k = 0; k < 3; k++) gone = gone || this.point(t, k) === to;
      if (gone) {
        this.dead[t] = 1;
        this.triangles--;
        continue;
      }
      for (let k = 0; k < 3; k++) if (this.point(t, k) === from) this.face[3 * t + k] = this.alike(this.face[3 * t + k], to);
      this.around[to].push(t);
    }
    this.around[from] = [];
    this.around[to] = this.around[to].filter((t) => !this.dead[t]);
    for (let k = 0; k < 10; k++) this.quadric[10 * to + k] += this.quadric[10 * from + k];
    this.weight[to] += this.weight[from];
    this.age[from]++;
    this.age[to]++;
    for (const p of this.neighbours(to)) {
      this.around[p] = this.around[p].filter((t) => !this.dead[t]);
      this.offer(to, p);
    }
  }

  /* The vertex at a point whose normal is nearest to that of another vertex. */
  private alike(vertex: number, point: number): number {
    const { normal } = this.geometry;
    let best = this.corners0[point][0], most = -Infinity;
    for (const v of this.corners0[point]) {
      const dot = normal[3 * v] * normal[3 * vertex] + normal[3 * v + 1] * normal[3 * vertex + 1] + normal[3 * v + 2] * normal[3 * vertex + 2];
      if (dot > most) [best, most] = [v, dot];
    }
    return best;
  }

  corners(): Uint32Array {
    const kept = new Uint32Array(3 * this.triangles);
    let at = 0;
    for (let t = 0; t < this.dead.length; t++) if (!this.dead[t]) for (let k = 0; k < 3; k++) kept[at++] = this.face[3 * t + k];
    return kept;
  }
}

interface Edge { cost: number; from: number; to: number; fromAge: number; toAge: number }

/* The cheapest edge first. */
class Heap {
  private readonly edges: Edge[] = [];

  push(edge: Edge): void {
    const { edges } = this;
    let k = edges.length;
    edges.push(edge);
    while (k > 0) {
      const up = (k - 1) >> 1;
      if (edges[up].cost <= edge.cost) break;
      edges[k] = edges[up];
      k = up;
    }
    edges[k] = edge;
  }

  pop(): Edge | undefined {
    const { edges } = this, first = edges[0], last = edges.pop();
    if (!last || !edges.length) return first;
    let k = 0;
    for (;;) {
      let down = 2 * k + 1;
      if (down >= edges.length) break;
      if (down + 1 < edges.length && edges[down + 1].cost < edges[down].cost) down++;
      if (edges[down].cost >= last.cost) break;
      edges[k] = edges[down];
      k = down;
    }
    edges[k] = last;
    return first;
  }
}
