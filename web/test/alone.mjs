// Without a server: the npm package in node and in a browser gives the state hashes of test_golden, and the page of `make web` runs a scene by itself.
// Usage: node alone.mjs WEB_FOLDER NPM_FOLDER golden_hashes.inc
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromiumPath, launch, openPage, until } from "./harness.mjs";

const [web, npm, golden] = process.argv.slice(2).map((path) => resolve(path));
const STEPS = 20; // EARLY of test_golden.c
const SCENES = ["incline", "wall:rows=5,bricks=4,ball_speed=10", "card-house:levels=3,shake=0.01", "arch:stones=15", "pile:count=30", "bridge", "linkage", "soft-incline", "soft-stack:count=3"];
const wanted = new Map([...readFileSync(golden, "utf8").matchAll(/^\{"(.*)", \d+, (?:true|false), 0x(\w+)u/gm)].map(([, scene, hash]) => [scene, hash]));

let failed = 0, passed = 0;
async function test(name, run) {
  const begun = Date.now();
  try {
    await run();
    passed++;
    console.log(`ok      ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.stack ?? error.message}`);
  }
}
function check(condition, text) { if (!condition) throw new Error(text); }

/* Runs in node and in the page. */
async function hashes({ address, scenes, steps }) {
  const { load } = await import(address), drystone = await load(), result = [];
  for (const scene of scenes) {
    const simulation = drystone.simulate(drystone.generate(scene), scene);
    simulation.step(steps);
    result.push(simulation.hash);
    simulation.close();
  }
  return result;
}
function compare(found) {
  SCENES.forEach((scene, k) => check(found[k] === wanted.get(scene), `${scene}: hash ${found[k]} after ${STEPS} steps, natively ${wanted.get(scene)}`));
  console.log(`    ${found.length} scenes have the hashes of the native build`);
}

async function serve() {
  const types = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm", png: "image/png" };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname), file = path.startsWith("/npm/") ? join(npm, path.slice(5)) : join(web, path === "/" ? "index.html" : path);
    if (path === "/favicon.ico") return response.writeHead(204).end();
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => { server.closeAllConnections?.(); server.close(); } };
}

await test("hashes in node", async () => compare(await hashes({ address: pathToFileURL(join(npm, "index.js")).href, scenes: SCENES, steps: STEPS })));
await test("the package in node: bodies, contacts, report, errors", async () => {
  const { load } = await import(pathToFileURL(join(npm, "index.js")).href), drystone = await load();
  const stack = drystone.simulate(JSON.parse(drystone.generate("stack:count=3")), "stack"), report = stack.step(50);
  check(report.converged && report.step === 50 && Math.abs(report.time - 50 * stack.stepSize) < 1e-12, JSON.stringify(report));
  check(stack.contacts.length === report.contacts && report.contacts === 12, `${stack.contacts.length} contacts, 12 expected`);
  const weight = stack.contacts.filter((c) => stack.bodies[c.b] === "floor" || stack.bodies[c.a] === "floor").reduce((sum, c) => sum + Math.abs(c.impulse[2]), 0) / stack.stepSize;
  check(Math.abs(weight - 3 * 9.81) < 1e-6, `the floor carries ${weight} N, 3 kg expected`);
  check(stack.poses.length === 7 * stack.bodies.length, `${stack.poses.length} numbers of ${stack.bodies.length} bodies`);
  check(Math.abs(stack.poses[9] - stack.poses[16]) > 0.01, "bodies of a stack at one height");
  stack.close();
  for (const [scene, reason] of [["{", "wrong:1:"], ['{"drystone": 1, "bodies": [{"name": "a", "shapes": [{"kind": "cube"}]}]}', "cube"], ['{"drystone": 1, "solids": {"a": {"file": "/etc/passwd"}}, "bodies": [{"shapes": [{"kind": "solid", "solid": "a"}]}]}', "/etc/passwd"]]) {
    let message = "";
    try { drystone.simulate(scene, "wrong"); } catch (error) { message = error.message; }
    check(message.includes(reason), `the message of ${scene} is "${message}"`);
  }
  let none = "";
  try { drystone.generate("card-hose"); } catch (error) { none = error.message; }
  check(none.includes("card-house"), `the message of a wrong generator is "${none}"`);
});

if (!chromiumPath()) console.log("skipped: no browser");
else {
  const browser = await launch(), server = await serve();
  const visit = async (address, run) => {
    const { page, context, faults } = await openPage(browser, server.url + address, { width: 760, height: 440 });
    try { await run(page); } finally { faults.closing = true; await context.close(); }
    check(!faults.length, faults.join("\n"));
  };
  const runs = (page, scene) => until(page, (name) => window.drystone?.scene?.source === name && window.drystone.player.history.length > 5 && window.drystone.shown?.time > 0.05, scene, 40_000);
  await test("hashes in the browser", () => visit("app.css", async (page) => {
    compare(await page.evaluate(hashes, { address: `${server.url}npm/index.js`, scenes: SCENES, steps: STEPS }));
  }));
  await test("the page runs scenes without a program", () => visit("?scene=card-house:levels=2", async (page) => {
    await runs(page, "card-house:levels=2");
    const picked = await page.evaluate(() => document.querySelectorAll("#scene option").length);
    check(picked > 30, `${picked} scenes in the picker`);
    await page.selectOption("#scene", "linkage");
    await page.click("#open");
    await runs(page, "linkage");
    await page.evaluate(() => window.drystone.toggle());
    await until(page, () => window.drystone.status.paused);
  }));
  server.close();
  await browser.close();
}
console.log(`${passed} of ${passed + failed} tests without a server passed`);
process.exit(failed ? 1 : 0);
