// Tests of what can be changed and looked at in the page: editing, files, links, marks, legend, small screens. `live` opens a scene of a program (or of the
// worker) and hands the page to a test; `recorded` serves files.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recording } from "./fixture.mjs";
import { until } from "./harness.mjs";

const frames = () => window.drystone?.player.history.length > 0 && window.drystone.shown != null;

/* Pairs of visible boxes around the view that overlap. */
const overlaps = () => {
  const names = ["title", "tools", "readout", "key", "panel", "timeline"].filter((id) => {
    const e = document.getElementById(id), style = getComputedStyle(e), box = e.getBoundingClientRect();
    return !e.hidden && style.display !== "none" && style.visibility !== "hidden" && box.width > 1 && box.height > 1;
  });
  const found = [];
  for (const a of names) for (const b of names) {
    if (a >= b) continue;
    const p = document.getElementById(a).getBoundingClientRect(), q = document.getElementById(b).getBoundingClientRect();
    if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1) found.push(`${a} and ${b}`);
  }
  for (const id of [...names, "play", "scrub", "live"]) {
    const box = document.getElementById(id).getBoundingClientRect();
    if (box.width > 1 && (box.left < -1 || box.right > innerWidth + 1 || box.top < -1 || box.bottom > innerHeight + 1)) found.push(`${id} is beyond the window`);
  }
  return found;
};

/* Bodies whose middle is not to be seen from where the page begins, because title, tools or legend are over it or it is outside. */
const coveredBodies = () => {
  const { scene, world, view: { orbit, canvas } } = window.drystone, box = canvas.getBoundingClientRect(), hidden = [];
  scene.bodies.forEach((body, b) => {
    if (body.mass <= 0) return;
    const p = world.position(b, orbit.target.clone()).project(orbit.camera), x = box.left + ((p.x + 1) / 2) * box.width, y = box.top + ((1 - p.y) / 2) * box.height;
    const over = ["title", "tools", "key"].find((id) => { const r = document.getElementById(id).getBoundingClientRect(); return x > r.left && x < r.right && y > r.top && y < r.bottom; });
    if (over) hidden.push(`${body.name} by ${over}`);
    else if (Math.abs(p.x) > 1 || Math.abs(p.y) > 1) hidden.push(`${body.name} by the edge`);
  });
  return { view: { width: box.width, height: box.height }, hidden };
};

export function editTests({ live, recorded, check, folder, program }) {
  const bodies = (page, count) => until(page, (n) => window.drystone.scene?.bodies.length === n && window.drystone.shown?.time === 0 && window.drystone.editor.document?.bodies.length === n, count);
  const field = async (page, id, value) => { await page.fill(`#${id}`, String(value)); await page.press(`#${id}`, "Enter"); };
  /* The program has taken the change, its first frame is shown, and the condition holds. */
  const edited = async (page, condition, argument) => {
    await until(page, condition, argument);
    await until(page, () => window.drystone.editor.settled && window.drystone.shown?.time === 0);
    await until(page, condition, argument);
  };
  const text = (page) => page.evaluate(() => JSON.parse(window.drystone.editor.json));

  return {
    "a scene is edited, undone, saved and runs": () => live(["stack:count=2"], async (page) => {
      await page.click("#tab-Edit");
      await until(page, () => window.drystone.editor.document !== null);
      await page.selectOption("#edit-add-shape", "sphere");
      await page.click("#edit-add");
      await bodies(page, 4);
      await until(page, () => window.drystone.chosen === 3 && document.getElementById("edit-radius") !== null && window.drystone.status.paused);
      // shape, size, material and friction of the new body
      await page.selectOption("#edit-shape", "cylinder");
      await edited(page, () => document.getElementById("edit-length") !== null);
      await field(page, "edit-length", 0.3);
      await edited(page, () => window.drystone.editor.document.bodies[3].shapes[0].length === 0.3);
      await page.selectOption("#edit-material", "new material…");
      await edited(page, () => window.drystone.scene.materials.some((m) => m.name === "material 1"));
      await field(page, "edit-mu", 0.85);
      await edited(page, () => Math.abs(window.drystone.scene.materials.find((m) => m.name === "material 1").mu - 0.85) < 1e-9);
      await page.click("#edit-turn-x");
      await edited(page, () => Math.abs(window.drystone.shown.pose[7 * 3 + 4] - Math.sin(Math.PI / 24)) < 1e-6);
      await field(page, "edit-position-x", 0.5);
      await edited(page, () => Math.abs(window.drystone.shown.pose[7 * 3] - 0.5) < 1e-6);
      // moved with the mouse
      const place = (body = 3) => page.evaluate((b) => {
        const app = window.drystone, p = app.world.position(b, app.view.orbit.target.clone()).project(app.view.orbit.camera), box = app.view.canvas.getBoundingClientRect();
        return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
      }, body);
      await page.evaluate(() => { window.drystone.view.orbit.goHome(); window.drystone.view.orbit.zoom(1.6); window.drystone.view.orbit.jump(); });
      await page.waitForTimeout(200);
      const at = await place(), before = (await text(page)).bodies[3].position;
      await page.mouse.move(at.x, at.y);
      await page.mouse.down();
      for (let k = 1; k <= 5; k++) await page.mouse.move(at.x + 8 * k, at.y - 8 * k);
      await page.mouse.up();
      await edited(page, (z) => window.drystone.editor.document.bodies[3].position[2] > z + 0.01 && window.drystone.shown?.time === 0, before[2]);
      const moved = (await text(page)).bodies[3].position, shown = await place();
      check(Math.hypot(shown.x - at.x - 40, shown.y - at.y + 40) < 12, `the body is drawn ${shown.x - at.x}, ${shown.y - at.y} px away, 40, -40 expected`);
      await page.click("#edit-undo");
      await edited(page, (x) => window.drystone.editor.document.bodies[3].position[0] === x && window.drystone.shown?.time === 0, before[0]);
      await page.click("#edit-redo");
      await edited(page, (x) => window.drystone.editor.document.bodies[3].position[0] === x && window.drystone.shown?.time === 0, moved[0]);
      await page.click("#edit-copy");
      await bodies(page, 5);
      await page.click("#edit-delete");
      await bodies(page, 4);
      await page.click("#edit-undo");
      await bodies(page, 5);
      await until(page, () => window.drystone.chosen === 4); // the body that is back
      await page.click("#edit-redo");
      await bodies(page, 4);
      // what the program refuses is taken back
      await page.evaluate(() => window.drystone.choice.choose(3));
      await field(page, "edit-mass", 1e13);
      await page.click('.note.bad:has-text("taken back") button');
      await edited(page, () => window.drystone.editor.document.bodies[3].mass === undefined);
      const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#edit-save")]), file = join(folder, "edited.json");
      writeFileSync(file, readFileSync(await saved.path()));
      if (program) execFileSync(program, ["check", file], { stdio: "pipe" });
      check(JSON.stringify(JSON.parse(readFileSync(file, "utf8")).bodies[3].position) === JSON.stringify(moved), "the file does not have what was edited");
      await page.evaluate(() => window.drystone.toggle());
      await until(page, () => window.drystone.shown?.time > 0.3);
      await page.click("#edit-here");
      await edited(page, () => window.drystone.shown?.time === 0 && window.drystone.status.paused && !("velocity" in window.drystone.editor.document.bodies[3]));
      const low = (await text(page)).bodies[3].position[2];
      check(low < moved[2] - 0.01, `the body that fell starts at ${low} m, below ${moved[2]} expected`);
      const start = (await text(page)).bodies[2].position[2];
      // a drag while it runs goes back to the start, where bodies are moved
      await page.evaluate(() => window.drystone.toggle());
      await until(page, () => window.drystone.shown?.time > 0.1);
      const drag = async () => {
        const from = await place(2);
        await page.mouse.move(from.x, from.y);
        await page.mouse.down();
        for (let k = 1; k <= 5; k++) await page.mouse.move(from.x + 8 * k, from.y - 8 * k);
        await page.mouse.up();
      };
      await drag();
      await edited(page, () => window.drystone.shown?.time === 0 && window.drystone.status.paused && window.drystone.chosen === 2);
      const top = (await text(page)).bodies[2].position[2];
      check(top === start, `a drag of a running scene moves its start from ${start} to ${top} m`);
      await page.waitForTimeout(200);
      await drag();
      await edited(page, (z) => window.drystone.editor.document.bodies[2].position[2] > z + 0.01, top);
    }),

    "two points are measured": () => live(["stack:count=1,size=0.2"], async (page) => {
      await page.click("#tab-Edit");
      await page.click("#edit-measure");
      const corners = await page.evaluate(() => {
        const app = window.drystone, { orbit, canvas } = app.view, box = canvas.getBoundingClientRect(), m = app.world.bodyFrame(1);
        orbit.jump();
        return [[-0.09, -0.1, -0.05], [0.09, -0.1, 0.05]].map((p) => {
          const v = orbit.target.clone().set(...p).applyMatrix4(m).project(orbit.camera);
          return { x: box.left + ((v.x + 1) / 2) * box.width, y: box.top + ((1 - v.y) / 2) * box.height };
        });
      });
      for (const { x, y } of corners) await page.mouse.click(x, y);
      const said = await page.textContent("#measured"), millimetres = Number(/^([\d.]+) mm/.exec(said)?.[1]);
      check(Math.abs(millimetres - 1000 * Math.hypot(0.18, 0.1)) < 3, `measured "${said}", ${(1000 * Math.hypot(0.18, 0.1)).toFixed(0)} mm expected`);
    }),

    "a scene from a file is in the picker and is returned to": () => live(["bounce"], async (page) => {
      const scene = { drystone: 1, name: "mine", bodies: [{ name: "floor", kind: "static", shapes: [{ kind: "half-space" }] }, { name: "egg", position: [0, 0, 1], shapes: [{ kind: "ellipsoid", semi_axes: [0.2, 0.2, 0.3] }] }] };
      await page.setInputFiles("#file", { name: "mine.json", mimeType: "application/json", buffer: Buffer.from(`// with a comment\n${JSON.stringify(scene)}`) });
      await until(page, () => window.drystone.scene.source === "mine.json" && window.drystone.shown != null);
      check((await page.inputValue("#scene")) === "here:mine.json", `the picker shows ${await page.inputValue("#scene")}`);
      await page.selectOption("#scene", "linkage");
      await page.click("#open");
      await until(page, () => window.drystone.scene.source === "linkage" && window.drystone.shown != null);
      await page.selectOption("#scene", "here:mine.json");
      await page.click("#open");
      await until(page, () => window.drystone.scene.source === "mine.json" && window.drystone.scene.bodies[1].name === "egg" && window.drystone.shown != null);
      await page.click("#tab-Edit");
      await until(page, () => window.drystone.editor.document?.bodies.length === 2); // comments are understood
      await page.setInputFiles("#file", { name: "wrong.json", mimeType: "application/json", buffer: Buffer.from('{"drystone": 1, "bodies": [{"shapes": [{"kind": "cube"}]}]}') });
      await page.waitForSelector('.note.bad:has-text("wrong.json:1:")');
      // and a link holds it
      await page.click("#edit-link");
      await until(page, () => location.hash.startsWith("#scene="));
      const link = await page.evaluate(() => location.href);
      check(new URL(link).search.length > 30 && link === await page.evaluate(() => window.drystone.editor.link()), `the link is not the address ${link}`);
      await page.evaluate(() => { window.drystone.open("bounce"); });
      await until(page, () => window.drystone.scene.source === "bounce" && location.hash === ""); // the address is no longer that of the scene
      await page.goto("about:blank");
      await page.goto(link);
      await until(page, () => window.drystone?.scene?.source === "from the link" && window.drystone.scene.bodies[1].name === "egg");
    }, { allowed: /WebSocket/ }),

    "the scene of the command line is in the picker and is returned to": async () => {
      const file = join(folder, "given.json");
      writeFileSync(file, '{"drystone": 1, "name": "given", "bodies": [{"kind": "static", "shapes": [{"kind": "half-space"}]}, {"name": "egg", "position": [0, 0, 1], "shapes": [{"kind": "sphere", "radius": 0.2}]}]}');
      await live([file], async (page) => {
        const shows = (source) => until(page, (wanted) => window.drystone.scene.source === wanted && window.drystone.shown != null, source);
        check((await page.inputValue("#scene")) === file, `the picker shows ${await page.inputValue("#scene")}`);
        await page.selectOption("#scene", "linkage");
        await page.click("#open");
        await shows("linkage");
        await page.selectOption("#scene", file);
        await page.click("#open");
        await shows(file);
      });
    },

    "a recording opened in a live page leads back to the live scene, and a wrong file changes nothing": () => live(["bounce"], async (page) => {
      const shows = (wanted) => until(page, (name) => window.drystone.scene.name === name && window.drystone.shown != null, wanted);
      const give = (name, buffer) => page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer });
      await give("run.h5", Buffer.concat([Buffer.from([0x89, 0x48, 0x44, 0x46]), Buffer.alloc(100)]));
      await page.waitForSelector('.note.bad:has-text("drystone view run.h5")');
      check(await page.evaluate(() => window.drystone.live && window.drystone.source.isOpen), "a file that is no recording ended the live scene");
      await give("long.bin", recording(200, 300));
      await give("recording.bin", recording(3, 20));
      await until(page, () => window.drystone.scene.bodies.length === 4 && window.drystone.player.complete);
      await page.waitForTimeout(300);
      check((await page.evaluate(() => [window.drystone.scene.bodies.length, window.drystone.player.history.length])).join() === "4,20", "two recordings were mixed");
      await page.click("#back-live");
      await shows("bounce");
      const time = await page.evaluate(() => window.drystone.shown.time);
      await until(page, (was) => window.drystone.shown.time !== was, time);
      check(await page.isVisible("#scene"), "the picker is gone");
    }, { allowed: /WebSocket/ }),

    "steps without a certificate are red on the time line": () => recorded({ "recording.bin": recording(3, 40, { missed: [10, 30] }) }, async (page) => {
      await until(page, () => window.drystone?.player.history.length === 40 && window.drystone.shown != null);
      await until(page, () => window.drystone.player.complete && document.getElementById("clock").title.includes("2 steps without a certificate"));
      const marks = await page.evaluate(() => {
        const c = document.getElementById("misses"), data = c.getContext("2d").getImageData(0, 4, c.width, 1).data, at = [];
        for (let x = 0; x < c.width; x++) if (data[4 * x + 3] > 100 && data[4 * x] > 150 && data[4 * x + 1] < 130) at.push(x / c.width);
        return at;
      });
      check(marks.length >= 2 && marks.every((x) => Math.abs(x - 10 / 39) < 0.02 || Math.abs(x - 30 / 39) < 0.02), `red at ${marks}`);
    }),

    "contact marks are off at first above 200 bodies": async () => {
      for (const [count, on] of [[60, true], [250, false]])
        await recorded({ "recording.bin": recording(count, 3) }, async (page) => {
          await until(page, frames);
          check((await page.evaluate(() => window.drystone.layers.has("contacts"))) === on && (await page.isChecked("#layer-contacts")) === on, `${count} bodies: contact marks are ${on ? "off" : "on"}`);
        });
    },

    "every arrow has a legend": () => live(["arch"], async (page) => {
      for (const name of ["normal", "friction", "cones"]) await page.evaluate((n) => window.drystone.setLayer(n, true), name);
      await until(page, () => ["sticks", "slides", "normal force", "friction force", "most friction"].every((word) => document.getElementById("key").textContent.includes(word)) && document.querySelector("#key .scale"));
      await page.click("#tab-Stand");
      await until(page, () => document.querySelector("#key .thrust") && document.querySelector("#key .support") && window.drystone.show.thrust.count > 5);
    }),

    "nothing overlaps on a phone, and the panel leaves the scene its place": async () => {
      for (const [width, height] of [[390, 844], [844, 390], [360, 640], [640, 360], [320, 568]])
        await live(["card-house:levels=3"], async (page) => {
          await page.evaluate(() => { for (const name of ["normal", "friction", "cones"]) window.drystone.setLayer(name, true); window.drystone.choice.choose(2); });
          await page.waitForTimeout(300);
          for (const panel of [false, true]) {
            if ((await page.isVisible("#panel")) !== panel) await page.click("#toggle-panel");
            await page.waitForTimeout(150);
            const found = await page.evaluate(overlaps);
            const how = `${width} x ${height}, panel ${panel ? "open" : "closed"}`;
            check(!found.length, `${how}: ${found.join(", ")}`);
            const { view, hidden } = await page.evaluate(coveredBodies);
            check(view.width * view.height > 0.44 * width * height, `${how}: the view has ${view.width} x ${view.height} pixels`);
            check(!hidden.length, `${how}: hidden are ${hidden.join(", ")}`);
            if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `phone-${width}-${panel ? "panel" : "view"}.png`) });
          }
        }, { width, height });
    },
  };
}
