// Levels of detail, and the rule for the resolution: what needs no browser of them.
import test from "node:test";
import assert from "node:assert/strict";
import { decode, levelsOf, Pace, weld } from "../dist/unit/unit.mjs";
import { ballGeometry, boxGeometry } from "./fixture.mjs";

const read = (bytes) => decode(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)).geometry;

/* Edges of a list of corners that have not exactly one neighbour on their other side. */
function openEdges(corner, at) {
  const sides = new Map();
  for (let t = 0; t < corner.length; t += 3) {
    const points = [at[corner[t]], at[corner[t + 1]], at[corner[t + 2]]];
    if (new Set(points).size < 3) continue; // empty
    points.forEach((a, k) => { const key = `${a},${points[(k + 1) % 3]}`; sides.set(key, (sides.get(key) ?? 0) + 1); });
  }
  return [...sides].filter(([key, count]) => count !== 1 || sides.get(key.split(",").reverse().join(",")) !== 1).length;
}

function volume({ position: x }, corner) {
  let sum = 0;
  for (let t = 0; t < corner.length; t += 3) {
    const [a, b, c] = [3 * corner[t], 3 * corner[t + 1], 3 * corner[t + 2]];
    sum += x[a] * (x[b + 1] * x[c + 2] - x[b + 2] * x[c + 1]) + x[a + 1] * (x[b + 2] * x[c] - x[b] * x[c + 2]) + x[a + 2] * (x[b] * x[c + 1] - x[b + 1] * x[c]);
  }
  return sum / 6;
}

test("levels of a ball are closed, ever coarser, and near to it", () => {
  for (const stretch of [0, 1]) { // a capsule of no length has a wall of empty triangles, and poles that rounding has moved apart
    const ball = read(ballGeometry(0, 1, 40, stretch)), levels = levelsOf(ball, 1 + stretch), at = weld(ball);
    assert.ok(levels.length >= 4, `${levels.length} levels, 4 expected`);
    levels.forEach(({ corner, error }, k) => {
      assert.equal(openEdges(corner, at), 0, `level ${k} of ${corner.length / 3} triangles has open edges`);
      if (k === 0) return assert.equal(error, 0);
      assert.ok(corner.length < 0.8 * levels[k - 1].corner.length, `${corner.length} corners after ${levels[k - 1].corner.length}`);
      assert.ok(error >= levels[k - 1].error, `error ${error} after ${levels[k - 1].error}`);
      // Corners stay on the ball, so that the volume falls by about the area times the error.
      const lost = (volume(ball, levels[0].corner) - volume(ball, corner)) / (4 * Math.PI * (1 + stretch));
      assert.ok(lost < 3 * error, `level ${k} lies ${lost} inside, error ${error}`);
    });
  }
});

test("a box keeps its triangles", () => assert.equal(levelsOf(read(boxGeometry(0, [1, 2, 3])), 4).length, 1));

const pictures = (pace, count, seconds) => { for (let k = 0; k < count; k++) pace.picture(typeof seconds === "function" ? seconds(pace) : seconds); };

test("fewer pixels where they help, all of them again where they do not", () => {
  const quick = new Pace();
  pictures(quick, 1000, 1 / 60);
  assert.equal(quick.part, 1);
  const pixels = new Pace(); // the time of a picture is that of its pixels: 40 ms for all of them
  pictures(pixels, 400, (pace) => 0.04 * pace.part ** 2);
  assert.ok(0.04 * pixels.part ** 2 < 0.02, `part ${pixels.part}`);
  const ticks = new Pace(); // 19 ms for all pixels, on a display of 60 Hz that shows nothing between its ticks: the first levels gain nothing
  pictures(ticks, 400, (pace) => Math.ceil((0.003 + 0.0165 * pace.part ** 2) * 60) / 60);
  assert.equal(ticks.part, 0.8);
  let drawn = 0;
  const hiccup = new Pace(); // a long picture now and then, as when a shader is compiled
  pictures(hiccup, 1000, (pace) => { assert.equal(pace.level, 0); return ++drawn % 40 === 0 ? 0.25 : 1 / 60; });
  const display = new Pace(); // a display of 30 Hz
  let coarse = 0;
  pictures(display, 2000, (pace) => { coarse += pace.part < 1 ? 1 : 0; return 1 / 30; });
  assert.equal(display.part, 1);
  assert.ok(coarse < 100, `${coarse} of 2,000 pictures were coarse for nothing`);
  pictures(pixels, 300, 1 / 60); // the load is gone
  assert.ok(pixels.part > 0.65, `part ${pixels.part}`);
});
