// The rule for the resolution: what needs no browser of it.
import test from "node:test";
import assert from "node:assert/strict";
import { Pace } from "../dist/unit/unit.mjs";

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
