// Builds the page: src/ -> index.html, app.js, app.css in dist/, or in the folder given as argument or in OUTDIR.
// --unit bundles what needs no browser, as a module that node can test.
import { build } from "esbuild";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const common = { bundle: true, logLevel: "warning", absWorkingDir: here, legalComments: "eof" };

if (words.includes("--unit")) {
  const outfile = resolve(here, "dist/unit/unit.mjs");
  await build({ ...common, entryPoints: ["src/unit.ts"], outfile, format: "esm", platform: "neutral" });
} else {
  const outdir = resolve(words.find((word) => !word.startsWith("-")) ?? process.env.OUTDIR ?? join(here, "dist"));
  mkdirSync(outdir, { recursive: true });
  await build({
    ...common,
    entryPoints: { app: "src/main.ts" },
    outdir,
    format: "iife", // not a module: a page opened from a folder may not load modules
    target: ["es2021"],
    minify: !words.includes("--debug"),
  });
  copyFileSync(join(here, "src/index.html"), join(outdir, "index.html"));
  copyFileSync(join(here, "src/app.css"), join(outdir, "app.css"));
}
