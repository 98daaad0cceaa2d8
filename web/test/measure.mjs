// What pictures of a recording cost, for bench/view.py:
//   node test/measure.mjs RECORDING.bin [LAYERS [PICTURES]]
// Writes JSON: the most draw calls, triangles and bytes uploaded of a picture; ms of script and bytes of garbage a picture; pictures a second of this machine, drawn in software.
// LAYERS with commas, beside what the page shows at its start.
import { readFileSync } from "node:fs";
import { installGauge } from "./gauge.mjs";
import { launch, openPage, serveFolder, until } from "./harness.mjs";

const [file, layers = "", pictures = "100"] = process.argv.slice(2);
const IN_SOFTWARE = 1; // pictures: each takes a second, or many

/* One picture after the other, each at another moment, as while it plays. Runs in the page. */
function playThrough({ count, dry }) {
  const app = window.drystone, { history } = app.player, gl = app.view.renderer.getContext(), pixel = new Uint8Array(4), script = [], most = {};
  window.gauge.dry = dry;
  const shoot = (k) => {
    app.player.scrub(history.begin + ((history.end - history.begin) * (k + 0.5)) / count);
    window.gauge.take();
    const begun = performance.now();
    app.update(begun);
    app.show.draw(true);
    script.push(performance.now() - begun);
    for (const [key, value] of Object.entries(window.gauge.take())) most[key] = Math.max(most[key] ?? 0, value);
    if (!dry) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // the picture is done before the next begins
  };
  shoot(0); // shaders and buffers
  if (dry) shoot(count - 1);
  script.length = 0;
  for (const key in most) most[key] = 0;
  const begun = performance.now();
  for (let k = 0; k < count; k++) shoot(k);
  const rate = (1000 * count) / (performance.now() - begun), sorted = script.sort((a, b) => a - b);
  return { ...most, rate, script: { median: sorted[count >> 1], p99: sorted[Math.min(count - 1, Math.floor(0.99 * count))] } };
}

/* Processor time of the page's thread in ms: what others on the machine take is not in it. */
async function processorTime(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
}

/* Bytes that the script asks for and drops, a picture: the sampling profiler of the browser, what was collected included. */
async function garbage(session, page, count) {
  await session.send("HeapProfiler.startSampling", { samplingInterval: 1024, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true });
  await page.evaluate(playThrough, { count, dry: true });
  const { profile } = await session.send("HeapProfiler.stopSampling");
  const sum = (node) => node.selfSize + node.children.reduce((total, child) => total + sum(child), 0);
  return Math.round(sum(profile.head) / count);
}

/* What is in the scene. Runs in the page. */
function facts() {
  const { scene, world, view, player: { history } } = window.drystone, at = Array.from({ length: history.length }, (_, k) => history.at(k));
  return {
    bodies: scene.bodies.filter((body) => body.mass > 0).length, forms: world.batches.length, frames: at.length, contacts: Math.max(...at.map((frame) => frame.contacts)),
    whole: world.batches.reduce((total, { geometry, instances }) => total + (geometry.corner.length / 3) * instances.length, 0), width: view.canvas.width, height: view.canvas.height,
  };
}

const count = Number(pictures), server = await serveFolder({ "recording.bin": readFileSync(file) }), browser = await launch();
const { page, faults } = await openPage(browser, server.url, { width: 1280, height: 772, before: installGauge }); // 1280 x 720 above the time line
page.setDefaultTimeout(0);
await page.evaluate(() => { window.gauge.dry = true; });
await until(page, () => window.drystone?.shown != null && window.drystone.player.complete && !(window.drystone.player.playing = false), null, 300_000);
await page.evaluate((names) => {
  window.drystone.chrome.togglePanel();
  for (const name of names) window.drystone.setLayer(name, true);
}, layers.split(",").filter((name) => name));
await page.waitForTimeout(500);
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const begun = await processorTime(session), result = await page.evaluate(playThrough, { count, dry: true });
result.script.processor = (await processorTime(session) - begun) / (count + 2);
Object.assign(result, await page.evaluate(facts), { garbage: await garbage(session, page, 50) });
result.rate = (await page.evaluate(playThrough, { count: IN_SOFTWARE, dry: false })).rate;
await browser.close();
server.close();
if (faults.length) throw new Error(faults.join("\n"));
console.log(JSON.stringify(result));
