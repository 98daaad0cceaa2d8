// Builds the page: src/ -> index.html, app.js, app.css in dist/, or in the folder given as argument or in OUTDIR.
// --alone DIR also builds the worker: a page that needs no program, with drystone.wasm beside it (make web).
// --npm DIR builds the npm package but for its types and drystone.wasm (make npm).
// --unit bundles what needs no browser, as a module that node can test.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const alone = words.includes("--alone");
const folderOf = (option) => resolve(words[words.indexOf(option) + 1]);
const common = { bundle: true, logLevel: "warning", absWorkingDir: here, legalComments: "eof" };

if (words.includes("--unit")) {
  const outfile = resolve(here, "dist/unit/unit.mjs");
  await build({ ...common, entryPoints: ["src/unit.ts"], outfile, format: "esm", platform: "neutral" });
} else if (words.includes("--npm")) {
  await build({ ...common, entryPoints: ["npm/index.ts"], outfile: resolve(folderOf("--npm"), "index.js"), format: "esm", platform: "neutral", target: ["es2022"], external: ["node:fs/promises"] });
  for (const name of ["package.json", "README.md"]) copyFileSync(join(here, "npm", name), join(folderOf("--npm"), name));
} else {
  const outdir = resolve(words.find((word) => !word.startsWith("-")) ?? process.env.OUTDIR ?? join(here, "dist"));
  mkdirSync(outdir, { recursive: true });
  await build({
    ...common,
    entryPoints: { app: "src/main.ts", ...(alone ? { worker: "src/worker.ts" } : {}) },
    outdir,
    format: "iife", // not a module: a page opened from a folder may not load modules
    target: ["es2021"],
    minify: !words.includes("--debug"),
  });
  const page = readFileSync(join(here, "src/index.html"), "utf8");
  writeFileSync(join(outdir, "index.html"), alone ? page.replace("<html ", '<html data-engine="worker.js" ') : page);
  copyFileSync(join(here, "src/app.css"), join(outdir, "app.css"));
}
