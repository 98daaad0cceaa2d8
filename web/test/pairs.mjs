// Two recordings that play together: in the viewer, and in the page of `drystone compare`.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startView, until } from "./harness.mjs";

export const pairTests = ({ visit, check, folder, program }) => ({
  "two recordings play together, and the camera of one moves both": async () => {
    const files = [["long", "0.4"], ["short", "0.2"]].map(([name, time]) => {
      const file = join(folder, `${name}.h5`);
      execFileSync(program, ["run", "card-pair", "--time", time, "-q", "-o", file]);
      return file;
    });
    const view = startView(files);
    const sides = () => [...document.querySelectorAll("iframe")].map((frame) => {
      const { player, view } = frame.contentWindow.drystone;
      return { time: player.time, end: player.history.end, azimuth: view.orbit.goal.azimuth };
    });
    try {
      await visit(await view.url, async (page) => {
        await until(page, () => window.pair?.started, null, 20_000);
        await until(page, () => document.querySelectorAll("iframe")[0].contentWindow.drystone.player.time >= 0.4 - 1e-9, null, 20_000);
        const ended = await page.evaluate(sides);
        check(Math.abs(ended[1].time - 0.2) < 1e-9 && Math.abs(ended[1].end - 0.2) < 1e-9, `the short one is at ${ended[1].time} of ${ended[1].end} s`);
        const right = page.frames().find((frame) => frame !== page.mainFrame() && frame.url().includes("second"));
        await right.evaluate(() => {
          window.dispatchEvent(new Event("wheel"));
          window.drystone.player.scrub(0.1);
          window.drystone.view.orbit.turn(0.5, 0);
        });
        const both = () => [...document.querySelectorAll("iframe")].every((frame) => Math.abs(frame.contentWindow.drystone.player.time - 0.1) < 1e-9);
        await until(page, both, null, 20_000);
        const after = await page.evaluate(sides);
        check(Math.abs(after[0].azimuth - after[1].azimuth) < 1e-12 && Math.abs(after[0].azimuth - ended[0].azimuth - 0.5) < 1e-9,
          `azimuths ${after.map((side) => side.azimuth)}, ${ended[0].azimuth} before`);
      });
    } finally {
      await view.stop();
    }
  },

  "the page of compare plays two runs at the same time": async () => {
    const file = join(folder, "compare.html");
    execFileSync(program, ["compare", "card-pair", "--time", "0.4", "--methods", "coupled,two-pass", "-q", "-o", file]);
    await visit(pathToFileURL(file).href, async (page) => {
      const look = () => page.evaluate(() => [...document.querySelectorAll("#player canvas")].map((canvas) => canvas.toDataURL()));
      const first = await look();
      check(first[0] === first[1], "the two pictures differ at the start");
      await page.$eval("#player input", (slider) => { slider.value = 1000; slider.oninput(); });
      const last = await look();
      check(last[0] !== last[1] && last[1] !== first[1], "the cards that fall look like those that stand");
      check(last[0] === first[0], "the cards that stand have moved");
      await page.selectOption("#player select[aria-label=right]", "0");
      const same = await look();
      check(same[0] === same[1], "the same run looks different on both sides");
      await page.click("#play");
      await until(page, () => document.querySelector("#play").textContent === "Play" && document.querySelector("#player output").textContent === "0.40 s", null, 20_000);
    });
  },
});
