// Pictures of eight scenes in the page, for docs/images/view-*.png:
//   DRYSTONE=build/drystone node test/shots.mjs OUT [RECORDINGS [ONLY]]
// Recordings are made in RECORDINGS (default: a temporary folder) unless they are there. Pictures are reduced to a palette by ffmpeg.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, openPage, startView, until } from "./harness.mjs";

const [out = "shots", records = mkdtempSync(join(tmpdir(), "drystone-shots-")), only] = process.argv.slice(2);
const program = process.env.DRYSTONE;

/* turn: radians about z and up; zoom: factor of the distance; tab: of the panel, none hides it. */
const SHOTS = [
  { name: "card-house", live: "card-house:levels=4", layers: [], tab: "Scene", pull: true },
  { name: "arch", live: "arch", layers: ["normal", "friction"], tab: "Show", light: true },
  { name: "chess-drop", run: "chess-drop:count=32", seconds: 1.5, at: 1.4, layers: [], hide: ["contacts"], light: true },
  { name: "bunny-drop", run: "bunny-drop:count=24", seconds: 1.5, at: 1.4, layers: ["islands"], hide: ["contacts"], zoom: 0.85, turn: [0, 0.3] },
  { name: "composites", run: "composites", seconds: 1, at: 1, layers: ["friction"], zoom: 0.75, light: true },
  { name: "chairs", run: "chairs:count=9", seconds: 5, at: 4.6, layers: ["friction"], tab: "Plots" },
  { name: "soft-jam", run: "soft-jam", seconds: 2.5, at: 2.4, layers: ["normal", "friction"], zoom: 0.5 },
  { name: "jam", run: "jam:count=40", seconds: 3, at: 0.75, layers: [], zoom: 0.9, light: true },
];

async function pullCard(page) {
  const at = await page.evaluate(() => {
    const app = window.drystone, { bodies } = app.scene, z = (b) => app.world.pose[7 * b + 2];
    const body = bodies.map((_, b) => b).filter((b) => bodies[b].mass > 0).sort((a, b) => z(b) - z(a))[0];
    const p = app.world.position(body, app.view.orbit.target.clone()).project(app.view.orbit.camera), box = app.view.canvas.getBoundingClientRect();
    return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
  });
  // The pull is made of whole steps, so that the picture does not depend on how fast the machine is.
  await page.evaluate(() => window.drystone.toggle());
  await until(page, () => window.drystone.player.paused);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  for (let k = 1; k <= 5; k++) await page.mouse.move(at.x + 22 * k, at.y - 5 * k);
  const begun = await page.evaluate(() => {
    window.drystone.player.step(15);
    return window.drystone.player.history.last.step;
  });
  await until(page, (was) => window.drystone.shown.step >= was + 15 && window.drystone.shown.handF !== null, begun);
}

async function shoot(browser, shot) {
  const record = join(records, `${shot.name}.h5`);
  if (shot.run && !existsSync(record)) execFileSync(program, ["run", shot.run, "-t", String(shot.seconds), "-o", record, "-q"]);
  const view = startView([shot.live ?? record]);
  try {
    const { page, context, faults } = await openPage(browser, await view.url, { width: 1280, height: 760, light: shot.light ?? false });
    page.setDefaultTimeout(120_000);
    if (shot.run) await until(page, () => window.drystone?.scene && !(window.drystone.player.playing = false), null, 150_000);
    await until(page, () => window.drystone?.shown != null && window.drystone.player.complete, null, 120_000);
    await page.click(shot.tab ? `#tab-${shot.tab}` : "#toggle-panel");
    for (const name of shot.layers) await page.evaluate((n) => window.drystone.setLayer(n, true), name);
    for (const name of shot.hide ?? []) await page.evaluate((n) => window.drystone.setLayer(n, false), name);
    if (shot.at) await page.evaluate((t) => window.drystone.player.scrub(t), shot.at);
    await page.evaluate(([zoom, turn]) => { window.drystone.view.orbit.zoom(zoom); window.drystone.view.orbit.turn(...turn); window.drystone.view.orbit.jump(); window.drystone.show.dirty = true; }, [shot.zoom ?? 1, shot.turn ?? [0, 0]]);
    await page.waitForTimeout(1500);
    if (shot.pull) await pullCard(page);
    else if (shot.live) await page.evaluate(() => window.drystone.toggle());
    await page.waitForTimeout(1500);
    await until(page, () => window.drystone.settled, null, 150_000); // drawn at full resolution
    const big = join(records, `${shot.name}.png`), small = join(out, `view-${shot.name}.png`);
    await page.screenshot({ path: big, timeout: 120_000 });
    await context.close();
    execFileSync("ffmpeg", ["-y", "-loglevel", "error", "-i", big, "-vf", "split[a][b];[a]palettegen=max_colors=192[p];[b][p]paletteuse=dither=none", small]);
    console.log(`${new Date().toISOString().slice(11, 19)} ${small} ${Math.round(statSync(small).size / 1000)} kB${faults.length ? ` FAULTS: ${faults}` : ""}`);
  } finally {
    await view.stop();
  }
}

mkdirSync(out, { recursive: true });
mkdirSync(records, { recursive: true });
const browser = await launch();
for (const shot of SHOTS) if (!only || shot.name === only) await shoot(browser, shot);
await browser.close();
