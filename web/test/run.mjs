// The page in a real browser, against the real program (DRYSTONE=path of drystone). Prints a line a test and a summary; exits with 1 where one failed,
// with 77 where there is no browser or no program. Any console error, exception or request to another host fails the test that it happened in.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editTests } from "./edits.mjs";
import { ballGeometry, recording } from "./fixture.mjs";
import { installGauge } from "./gauge.mjs";
import { pairTests } from "./pairs.mjs";
import { chromiumPath, launch, openPage, serveFolder, startView, until } from "./harness.mjs";

const program = process.env.DRYSTONE, only = process.argv[2];
if (!program || !chromiumPath()) {
  console.log("skipped: chromium and DRYSTONE=path/to/drystone are needed");
  process.exit(77);
}

const folder = mkdtempSync(join(tmpdir(), "drystone-page-")), browser = await launch();
const SIZE = { width: 760, height: 440 };
const BUDGET = { calls: 100, triangles: 500_000, bytes: 2_000_000 }; // of a picture: docs/viewer.md
const frames = () => window.drystone?.player.history.length > 3 && window.drystone.shown != null;

function check(condition, text) { if (!condition) throw new Error(text); }

/* Opens an address, hands the page to the test, and looks at what went wrong. */
async function visit(url, test, options = {}) {
  const { page, context, faults } = await openPage(browser, url, { ...SIZE, ...options });
  try {
    await test(page);
  } catch (error) {
    throw new Error([error.message, ...faults].join("\n        "));
  } finally {
    faults.closing = true;
    await context.close();
  }
  check(!faults.length, faults.join("\n"));
}

/* Opens a scene live, hands the page to the test, and ends both. */
async function live(words, test, options = {}) {
  const view = startView(words);
  try {
    await visit(await view.url, async (page) => {
      await until(page, frames, null, 20_000);
      await test(page, view);
    }, options);
  } finally {
    await view.stop();
  }
}

async function recorded(files, test, address = "", allowed, more = {}) {
  const server = await serveFolder(files);
  try {
    await visit(server.url + address, test, { allowed, ...more });
  } finally {
    server.close();
  }
}

/* Where a body is on the screen. */
const place = (page, name) => page.evaluate((wanted) => {
  const app = window.drystone, body = app.scene.bodies.findIndex((b) => b.name === wanted || (!wanted && b.mass > 0));
  const p = app.world.position(body, app.view.orbit.target.clone()).project(app.view.orbit.camera), box = app.view.canvas.getBoundingClientRect();
  return { body, x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
}, name);
const position = (page, body) => page.evaluate((b) => Array.from(window.drystone.player.history.last.pose.slice(7 * b, 7 * b + 3)), body);
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const number = (page, selector, value) => page.$eval(selector, (input, v) => { input.value = String(v); input.dispatchEvent(new Event("input")); input.dispatchEvent(new Event("change")); }, value);

const tests = {
  "a live card house opens, and a card is pulled": () => live(["card-house:levels=2"], async (page) => {
    const top = await page.evaluate(() => {
      const app = window.drystone, z = (b) => app.world.pose[7 * b + 2];
      return app.scene.bodies.map((_, b) => b).filter((b) => app.scene.bodies[b].mass > 0).sort((a, b) => z(b) - z(a))[0];
    });
    const name = await page.evaluate((b) => window.drystone.scene.bodies[b].name, top);
    const before = await position(page, top), at = await place(page, name);
    await page.mouse.move(at.x, at.y);
    await until(page, () => window.drystone.hovered >= 0);
    const body = await page.evaluate(() => window.drystone.hovered), first = await position(page, body);
    await page.mouse.down();
    for (let k = 1; k <= 8; k++) await page.mouse.move(at.x + 14 * k, at.y - 4 * k);
    await until(page, () => window.drystone.player.history.last.handF !== null);
    await page.waitForTimeout(400);
    const force = await page.evaluate(() => {
      const hand = window.drystone.player.history.last.handF;
      return hand ? Math.hypot(hand[7], hand[8], hand[9]) : -1;
    });
    check(force > 0, `the hand pulls with ${force} N, more than 0 expected`);
    check(await page.isVisible(".force"), "no label tells the force");
    await page.mouse.up();
    await until(page, () => window.drystone.player.history.last.handF === null);
    const moved = distance(first, await position(page, body)), fell = distance(before, await position(page, top));
    check(moved > 0.01 || fell > 0.01, `the pulled card moved ${moved} m, the top card ${fell} m; more than 0.01 expected`);
  }),

  "the verdict follows friction, tilt and a block that is pulled out": () => live(["wall"], async (page) => {
    const verdict = (word) => until(page, (w) => window.drystone.chrome.panel.stand.settled && document.getElementById("stand-verdict").textContent === w, word, 20_000);
    const slide = (id, value) => page.evaluate(([i, v]) => {
      const input = document.getElementById(i);
      input.value = String(v);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, [id, value]);
    await page.click("#tab-Stand");
    await verdict("STANDS");
    check((await page.evaluate(() => window.drystone.show.thrust.count)) > 100, "the wall has no lines of thrust");
    const colored = () => page.evaluate(() => window.drystone.show.used?.length === window.drystone.scene.bodies.length);
    check(await colored(), "blocks are not coloured by what they use");
    const marks = () => page.evaluate(() => window.drystone.show.contacts.points.visible);
    check(!(await marks()), "marks of contacts cover the lines of thrust");
    await slide("stand-tilt", 10);
    await verdict("CAN STAND");
    const slow = await page.evaluate(async () => { // as a slider moves
      const app = window.drystone, { stand } = app.chrome.panel, take = stand.take.bind(stand), begin = performance.now(), times = [];
      stand.take = (v) => { times.push(1000 * v.time); take(v); };
      const input = document.getElementById("stand-tilt");
      for (let k = 0; performance.now() - begin < 1000 || times.length < 3; k++) {
        input.value = String(10 + (k % 8) / 4);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((go) => setTimeout(go, 16));
      }
      stand.take = take;
      return times.sort((a, b) => a - b)[times.length >> 1];
    });
    check(slow < 50, `a verdict on 105 bricks takes ${slow} ms of processor time; less than 50 expected`);
    await slide("stand-tilt", 45);
    await verdict("FALLS");
    check(!(await colored()), "blocks that fall are coloured by what they use");
    await slide("stand-tilt", 12);
    await slide("stand-mu", 0.1);
    await verdict("FALLS");
    if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
    await slide("stand-mu", 0.7);
    await verdict("CAN STAND");
    await slide("stand-tilt", 0);
    const brick = await page.evaluate(() => window.drystone.scene.bodies.findIndex((b) => b.mass > 0));
    const drawn = (wanted) => until(page, ([b, wanted]) => { // by the size of its matrix
      const { world } = window.drystone, [{ row }] = world.partsOf[b], size = Math.hypot(...world.placements.texels.slice(16 * row, 16 * row + 3));
      return wanted ? size > 0.5 : size === 0;
    }, [brick, wanted]);
    await drawn(true);
    await slide("stand-removed", brick);
    await drawn(false);
    await until(page, () => ["FALLS", "CAN STAND", "STANDS"].includes(document.getElementById("stand-verdict").textContent));
    await slide("stand-removed", brick + 60); // the wall stands without it
    await until(page, () => window.drystone.chrome.panel.stand.settled);
    check(await colored(), "blocks are not coloured while one is pulled out");
    await page.click("#tab-Scene");
    await drawn(true); // it comes back
    check((await page.evaluate(() => window.drystone.show.thrust.count)) === 0, "lines of thrust stay");
    check(await marks(), "the marks of contacts do not come back");
  }),

  "scrubbing leaves the present and comes back": () => live(["card-house:levels=2"], async (page) => {
    await until(page, () => window.drystone.player.history.end > window.drystone.player.history.begin + 0.6);
    await until(page, () => Number(document.getElementById("scrub").max) > window.drystone.player.history.begin + 0.3);
    const then = await page.evaluate(() => {
      const { history } = window.drystone.player;
      return history.at(Math.max(history.find(history.begin + 0.25), 2)).time;
    });
    await number(page, "#scrub", then);
    await until(page, (time) => !window.drystone.player.following && Math.abs(window.drystone.player.time - time) < 1e-6 && Math.abs(window.drystone.shown.time - time) < 1e-6, then);
    const step = await page.evaluate(() => window.drystone.shown.step);
    await page.focus("#canvas");
    await page.keyboard.press(",");
    await until(page, (was) => window.drystone.shown.step < was, step);
    await page.click("#live");
    await until(page, () => window.drystone.player.following && window.drystone.player.history.end - window.drystone.player.time < 0.1);
    await page.keyboard.press("Space");
    await until(page, () => window.drystone.player.paused);
    await page.waitForTimeout(150);
    const last = await page.evaluate(() => window.drystone.player.history.last.step);
    await page.focus("#canvas");
    await page.keyboard.press(".");
    await until(page, (was) => window.drystone.player.history.last.step === was + 1, last);
    await page.click("#restart");
    await until(page, (was) => window.drystone.player.history.length > 0 && window.drystone.player.history.last.step < was, last);
  }),

  "a picture that the card lost comes back": () => live(["card-house:levels=2"], async (page) => {
    const noted = () => document.getElementById("notes").textContent.includes("graphics context was lost");
    await page.evaluate(() => { (window.card = window.drystone.view.renderer.getContext().getExtension("WEBGL_lose_context")).loseContext(); });
    await until(page, noted);
    await page.evaluate(() => window.card.restoreContext());
    await page.waitForFunction(() => !document.getElementById("notes").textContent.includes("graphics context was lost"));
    const colors = await page.evaluate(() => {
      const { view, show } = window.drystone, gl = view.renderer.getContext(), pixel = new Uint8Array(4), seen = new Set();
      show.draw(true);
      for (let k = 0; k < 400; k++) {
        gl.readPixels(((k % 20) + 0.5) * view.canvas.width / 20, (Math.floor(k / 20) + 0.5) * view.canvas.height / 20, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        seen.add(pixel.join());
      }
      return seen.size;
    });
    check(colors > 30, `${colors} colours where a card house was expected`);
  }),

  "coarser while it moves, fine where it stands": () => live(["card-house:levels=2"], async (page) => {
    await page.click("#play");
    await until(page, () => window.drystone.player.paused);
    const at = (level) => page.evaluate((wanted) => {
      const { view, show } = window.drystone, gl = view.renderer.getContext();
      if (wanted >= 0) view.pace.level = wanted;
      show.draw(wanted < 0);
      return { width: view.canvas.width, shadow: view.sun.shadow.map.width, fault: gl.getError() };
    }, level);
    const full = await at(-1), first = await at(2), third = await at(4), again = await at(-1);
    for (const { fault } of [full, first, third, again]) check(fault === 0, `WebGL fault ${fault}`);
    check(full.shadow === 2048 && first.shadow === 1024 && again.shadow === 2048, `shadow maps of ${full.shadow}, ${first.shadow}, ${again.shadow} texels`);
    check(first.width === full.width && Math.abs(third.width - 0.65 * full.width) < 2 && again.width === full.width, `${full.width}, ${first.width}, ${third.width}, ${again.width} pixels wide`);
  }),

  "ambient occlusion darkens the ground beside a body, and is left out where it is off or frames are late": () => recorded({ "recording.bin": recording(1, 3) }, async (page) => {
    await until(page, () => window.drystone?.player.history.length === 3 && window.drystone.shown != null && !(window.drystone.player.playing = false));
    await page.click("#tab-Show");
    await page.keyboard.press("t"); // light
    await page.evaluate(() => { const { view: { orbit }, world } = window.drystone; orbit.focus(world.position(1, orbit.target.clone()), 1); orbit.jump(); });
    const seen = () => page.evaluate(() => {
      const { view, show, world } = window.drystone, gl = view.renderer.getContext(), at = world.position(1, view.orbit.target.clone()), pixel = new Uint8Array(4);
      const ground = (x, y) => { // mean over some pixels of the light at a point of the ground
        const p = at.clone().setX(at.x + x).setY(at.y + y).setZ(0).project(view.orbit.camera);
        let sum = 0;
        for (let k = 0; k < 9; k++) {
          gl.readPixels(Math.round((p.x + 1) / 2 * view.canvas.width) + (k % 3) - 1, Math.round((p.y + 1) / 2 * view.canvas.height) + Math.floor(k / 3) - 1, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
          sum += pixel[0] + pixel[1] + pixel[2];
        }
        return sum / 27;
      };
      const look = (fully) => { show.draw(fully); return { near: ground(0, -0.17), far: ground(0, -0.65) }; };
      view.pace.level = 1;
      const late = look(false), still = look(true);
      view.pace.level = 0;
      return { late, still, moving: look(false), fault: gl.getError() };
    });
    const on = await seen();
    await page.click("#layer-occlusion");
    const off = await seen(), text = JSON.stringify({ on, off });
    check(on.fault === 0 && off.fault === 0, `WebGL faults: ${text}`);
    check(off.still.near - on.still.near > 5 && Math.abs(off.still.far - on.still.far) < 1.5, `darker beside the body alone: ${text}`);
    check(Math.abs(on.moving.near - on.still.near) < 0.1 && Math.abs(on.late.near - off.still.near) < 1.5, `left out where frames are late: ${text}`);
  }),

  "every layer is drawn": () => live(["soft-stack:count=1"], async (page) => {
    await page.click("#tab-Show");
    for (const name of ["contacts", "normal", "friction", "cones", "islands", "creases", "joints", "occlusion", "through", "spheres", "field", "modes"]) {
      const before = await page.isChecked(`#layer-${name}`);
      await page.$eval(`#layer-${name}`, (box) => box.click());
      check((await page.isChecked(`#layer-${name}`)) !== before, `${name} did not change`);
      check(await page.evaluate((n) => window.drystone.layers.has(n), name) !== before, `${name} is not what its switch says`);
    }
    await until(page, () => window.drystone.show.spheres.levels > 1);
    await until(page, () => window.drystone.show.field.mesh?.visible); // of a deformable body, as it is
    await until(page, () => window.drystone.world.override !== null);
    await number(page, "#level", 2);
    await number(page, "#place", 0.4);
    await page.click("#tab-Plots");
    await until(page, () => [...document.querySelectorAll("canvas.plot")].filter((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((x) => x > 0)).length === 5);
  }),

  "joints are drawn where they are and can be hidden": () => live(["linkage"], async (page) => {
    const seen = () => page.evaluate(() => {
      const { scene, world } = window.drystone, { joints } = window.drystone.show, mark = joints.root.children[0], m = mark.matrixWorld.clone();
      mark.getMatrixAt(0, m);
      const j = scene.joints[0], f = world.bodyFrame(j.a).elements, want = [0, 1, 2].map((i) => f[i] * j.point[0] + f[4 + i] * j.point[1] + f[8 + i] * j.point[2] + f[12 + i]);
      return { count: joints.count, visible: joints.root.visible, off: Math.hypot(...want.map((x, i) => x - m.elements[12 + i])), at: want };
    });
    const before = await seen();
    check(before.count === 3, `${before.count} joints, not 3`);
    check(before.visible && before.off < 1e-6, `the first joint is drawn ${before.off} m beside its place`);
    await until(page, (time) => window.drystone.shown.time > time + 0.2, await page.evaluate(() => window.drystone.shown.time));
    const after = await seen(), moved = distance(before.at, after.at);
    check(after.off < 1e-6 && moved > 0.01, `the crank's pin has moved ${moved} m and is drawn ${after.off} m beside its place`);
    const radius = Math.hypot(after.at[0], after.at[2] - 0.5); // about the axle of docs/generators.md
    check(Math.abs(radius - 0.12) < 1e-5, `the pin is ${radius} m from the axle, not 0.12`);
    check(await page.$("#key .joint"), "the legend does not name joints");
    await page.keyboard.press("j");
    await until(page, () => !window.drystone.show.joints.root.visible && !document.querySelector("#key .joint"));
  }),

  "less friction lets a block slide": () => live(["incline:mu=0.5,slope=0.4"], async (page) => {
    const { body } = await place(page, ""), before = await position(page, body);
    await page.waitForTimeout(400);
    const rest = distance(before, await position(page, body));
    check(rest < 1e-3, `at mu = 0.5 the block went ${rest} m, rest expected`);
    const all = (await page.$("#mu-all")) ? "#mu-all" : "#mu-0";
    await page.fill(all, "0.0505"); // between two steps of the field
    await page.press(all, "Enter");
    await until(page, () => window.drystone.status.mu.every((mu) => Math.abs(mu - 0.0505) < 1e-6));
    await page.waitForTimeout(900);
    const gone = distance(before, await position(page, body));
    check(gone > 0.05, `at mu = 0.0505 the block went ${gone} m, more than 0.05 expected`);
    await page.fill("#gravity-z", "0");
    await page.press("#gravity-z", "Enter");
    await until(page, () => window.drystone.status.gravity[2] === 0);
  }),

  "another scene is opened from the panel": () => live(["bounce"], async (page) => {
    await page.selectOption("#scene", "stack");
    await page.click("#parameters summary");
    const first = await page.$eval('#parameters input[type="number"]', (input) => input.name);
    await page.fill(`#parameters input[name="${first}"]`, "3");
    await page.click("#open");
    await until(page, () => window.drystone.scene.name.startsWith("stack") && window.drystone.shown != null);
    const moving = await page.evaluate(() => window.drystone.scene.bodies.filter((b) => b.mass > 0).length);
    check(first !== "count" || moving === 3, `${moving} bodies, 3 expected`);
  }),

  "the page comes back when the program does": async () => {
    process.env.DRYSTONE_TOKEN = "0123456789abcdef0123456789abcdef";
    let view = startView(["bounce"]);
    const url = await view.url, port = new URL(url).port;
    try {
      await visit(url, async (page) => {
        await until(page, frames);
        await view.stop();
        await until(page, () => document.documentElement.dataset.connection === "lost" && document.getElementById("state").textContent.includes("lost")); // in one look: the next attempt begins soon
        view = startView(["bounce", "--port", port]);
        await view.url;
        await until(page, () => document.documentElement.dataset.connection === "open" && window.drystone.player.history.length > 3, null, 15_000);
      }, { allowed: /WebSocket|ERR_CONNECTION_REFUSED/ });
    } finally {
      delete process.env.DRYSTONE_TOKEN;
      await view.stop();
    }
  },

  "a recording opens from the program, from a folder and from a file": async () => {
    const record = join(folder, "record.h5"), out = join(folder, "out");
    execFileSync(program, ["run", "card-house:levels=2", "-t", "0.5", "-o", record, "-q"]);
    execFileSync(program, ["view", record, "--export", out]);
    const all = (page) => until(page, () => window.drystone?.player.history.length === 51 && window.drystone.player.complete && window.drystone.shown != null, null, 15_000);
    const view = startView([record]);
    try {
      await visit(await view.url, all);
    } finally {
      await view.stop();
    }
    const bytes = readFileSync(join(out, "recording.bin"));
    await recorded(Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(join(out, name))])), async (page) => {
      await all(page);
      await page.$eval("#canvas", (canvas) => canvas.focus());
      await number(page, "#scrub", 0.2);
      for (let k = 0; k < 3; k++) await page.keyboard.press(".");
      await until(page, () => window.drystone.shown.step === 23);
    });
    await recorded({}, async (page) => {
      await page.waitForSelector("#empty button");
      await page.setInputFiles("#file", { name: "recording.bin", mimeType: "application/octet-stream", buffer: bytes });
      await all(page);
      const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#screenshot")]);
      const png = readFileSync(await saved.path());
      check(png.length > 5000 && png.readUInt32BE(0) === 0x89504e47, `a picture of ${png.length} bytes`);
      await page.focus("#canvas");
      await page.keyboard.press("v");
      await until(page, () => window.drystone.video.running && window.drystone.player.time > 0.3);
      await page.waitForTimeout(1000); // the encoder lags behind on a busy machine
      const [video] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("v")]), film = readFileSync(await video.path());
      check(film.length > 2000 && (film.readUInt32BE(0) === 0x1a45dfa3 || film.toString("latin1", 4, 8) === "ftyp"), `a video of ${film.length} bytes`); // WebM or MP4
    }, "", /404/);
  },

  "a film has every picture": async () => {
    const record = join(folder, "film.h5"), out = join(folder, "pictures");
    execFileSync(program, ["run", "bounce", "-t", "0.3", "-o", record, "-q"]);
    execFileSync(program, ["film", record, "-o", `${out}/`, "--size", "160x120", "--rate", "20", "--show", "contacts,forces"], { stdio: "pipe", timeout: 50_000 });
    const pictures = readdirSync(out).filter((name) => name.endsWith(".png"));
    check(pictures.length === 7, `${pictures.length} pictures, 7 expected`);
    const one = readFileSync(join(out, pictures[0]));
    check(one.readUInt32BE(16) === 160 && one.readUInt32BE(20) === 120, `a picture of ${one.readUInt32BE(16)} x ${one.readUInt32BE(20)}`);
  },

  "invalid recordings are reported, not fatal": async () => {
    const whole = recording(3, 5, { soft: true });
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, k) => (k * 7919) & 255));
    await recorded({}, async (page) => {
      await page.waitForSelector(".note.bad");
      for (const [name, buffer, reason] of [["short.bin", whole.subarray(0, whole.length - 100), "is truncated"], ["noise.bin", noise, "version"], ["empty.bin", Buffer.alloc(0), "it is empty"]]) {
        await page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer });
        await page.waitForSelector(`.note.bad:has-text("${name}"):has-text("${reason}")`);
      }
      await page.setInputFiles("#file", { name: "good.bin", mimeType: "application/octet-stream", buffer: whole });
      await until(page, () => window.drystone.player.history.length === 5 && window.drystone.shown != null);
    }, "?recording=nothing.bin", /404/);
    await recorded({}, async (page) => { await page.waitForSelector(".note.bad"); }, "?recording=http://example.org/x.bin");
  },

  "all of it by keyboard": () => recorded({ "recording.bin": recording(4, 30, { soft: true }) }, async (page) => {
    await until(page, frames);
    await page.focus("#canvas");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await until(page, () => window.drystone.chosen === 2);
    await page.waitForSelector("#readout:not([hidden])");
    check((await page.textContent(".spoken")).includes("box 1"), `spoken: ${await page.textContent(".spoken")}`);
    const azimuth = () => page.evaluate(() => window.drystone.view.orbit.camera.position.x);
    const before = await azimuth();
    for (let k = 0; k < 3; k++) await page.keyboard.press("ArrowLeft");
    await page.waitForTimeout(300);
    check(Math.abs((await azimuth()) - before) > 1e-3, "the camera did not turn");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.keyboard.press("t");
    check((await page.getAttribute("html", "data-theme")) === "light", "the theme did not change");
    await page.focus("#canvas");
    await page.keyboard.press("Tab");
    check(await page.evaluate(() => document.activeElement.id !== "canvas"), "Tab does not leave the view");
    const nameless = await page.$$eval("button, input, select", (all) => all.filter((e) => !e.hidden && !e.getAttribute("aria-label") && !e.textContent.trim() && !e.closest("label") && e.id !== "file").length);
    check(nameless === 0, `${nameless} controls have no name`);
  }),

  // The budget of docs/viewer.md, with everything shown: near, far and from above, while bodies move.
  ...Object.fromEntries([
    ["2,000 boxes of one form", {}], ["2,000 boxes that all differ", { forms: 2000 }], ["2,000 balls of 1,600 triangles", { forms: 6, form: (index, x) => ballGeometry(index, 0.15 + 0.05 * x, 40) }],
    ["2,000 capsules that all differ", { forms: 2000, form: (index, x) => ballGeometry(index, 0.1, 20, 0.05 + 0.1 * x) }],
  ].map(([what, options]) => [`${what} stay within the budget of integrated graphics`, () => recorded({ "recording.bin": recording(2000, 6, options) }, async (page) => {
    await until(page, () => window.drystone?.player.history.length === 6 && window.drystone.shown != null && !(window.drystone.player.playing = false), null, 30_000);
    const most = await page.evaluate(() => {
      const app = window.drystone, { orbit } = app.view, most = {};
      for (const name of ["normal", "friction", "cones", "islands"]) app.setLayer(name, true);
      window.gauge.dry = true;
      const round = (counts) => {
        orbit.goHome();
        for (const factor of [1, 0.2, 0.1, 50, 5]) {
          orbit.zoom(factor);
          for (let k = 0; k < 6; k++) {
            orbit.turn(0.8, k === 3 ? 0.5 : 0);
            orbit.jump();
            app.player.scrub(0.0099 * k);
            app.update(performance.now());
            window.gauge.take();
            app.show.draw(true);
            const counted = window.gauge.take();
            if (counts) for (const key in counted) most[key] = Math.max(most[key] ?? 0, counted[key]);
          }
        }
      };
      round(false); // surfaces are sent once, when they are first needed
      round(true);
      window.gauge.dry = false;
      return most;
    });
    const calls = most.calls + most.shadowCalls, triangles = most.triangles + most.shadowTriangles;
    console.log(`    at most ${calls} draw calls, ${triangles} triangles (${most.shadowTriangles} of them for shadows), ${most.bytes} bytes a picture`);
    check(most.shadowTriangles > 0 && most.triangles > 2000, "nothing was drawn");
    check(calls <= BUDGET.calls, `${calls} draw calls, at most ${BUDGET.calls} expected`);
    check(triangles <= BUDGET.triangles, `${triangles} triangles, at most ${BUDGET.triangles} expected`);
    check(most.bytes <= BUDGET.bytes, `${most.bytes} bytes uploaded, at most ${BUDGET.bytes} expected`);
  }, "", undefined, { before: installGauge })])),

  "what is out of sight is not drawn, what is far is drawn coarsely": () => recorded({ "recording.bin": recording(500, 3, { forms: 1, form: (index) => ballGeometry(index, 0.2, 40) }) }, async (page) => {
    await until(page, () => window.drystone?.player.history.length === 3 && window.drystone.shown != null && !(window.drystone.player.playing = false), null, 30_000);
    const [far, near, away] = await page.evaluate(() => {
      const app = window.drystone, { orbit } = app.view;
      window.gauge.dry = true;
      const look = () => {
        orbit.jump();
        window.gauge.take();
        app.show.draw(true);
        return window.gauge.take().triangles;
      };
      const far = (orbit.zoom(5), look()), near = (orbit.zoom(0.05), look());
      orbit.camera.lookAt(orbit.camera.position.clone().setZ(1e6));
      orbit.camera.updateMatrixWorld();
      window.gauge.take();
      app.show.draw(true);
      window.gauge.dry = false;
      return [far, near, window.gauge.take().triangles];
    });
    check(far < 0.1 * 500 * 1600, `${far} triangles from afar, fewer than a tenth of ${500 * 1600} expected`);
    check(near > 1600, `${near} triangles from near, more than those of one ball expected`);
    check(away < near && away < 1000, `${away} triangles where nothing is in sight`);
  }, "", undefined, { before: installGauge }),
};

Object.assign(tests, editTests({ live, recorded, check, folder, program }), pairTests({ visit, check, folder, program }));

let failed = 0, run = 0;
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const begun = Date.now();
  run++;
  try {
    await test();
    console.log(`ok      ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(`${run - failed} of ${run} tests of the page passed`);
process.exit(failed ? 1 : 0);
