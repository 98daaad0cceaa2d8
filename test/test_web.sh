#!/bin/bash
# Without a server: the WebAssembly module in node and in a browser, with the hashes of the native build; the npm package with its types.
# Needs node and the module, which the preset wasm builds (scripts/install-deps.sh web); chromium for the browser's part.
#   test_web.sh PROGRAM SOURCE
program=$1 source=$2
web=$(dirname "$program")/web wasm=$(dirname "$program")/../wasm/wasm/drystone.wasm
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }
[ -d "$web/node_modules/playwright-core" ] || { echo "skipped: the page was not built in $web"; exit 77; }
[ -f "$wasm" ] || { echo "skipped: the module is not built; scripts/install-deps.sh web, then cmake --preset wasm && cmake --build build/wasm"; exit 77; }

# A copy, since another test builds the page in the same folder.
mkdir -p copy && ln -sfn "$(cd "$web" && pwd)/node_modules" copy/node_modules || exit 1
"$source/scripts/web.sh" page copy "$wasm" page || exit 1
"$source/scripts/web.sh" npm copy "$wasm" npm || exit 1
cat >copy/use.ts <<'TS'
import { load, type Report } from "../npm/index.js";
const drystone = await load();
const report: Report = drystone.simulate(drystone.generate("stack")).step(3);
const count: number = report.contacts;
// @ts-expect-error a report has no such member
const nothing = report.nothing;
export { count, nothing };
TS
(cd copy && node_modules/.bin/tsc use.ts --noEmit --strict --target es2022 --module esnext --moduleResolution bundler --lib es2022,dom) || exit 1
cp -r "$source/web/test" copy
node copy/test/alone.mjs page npm "$source/test/golden_hashes.inc"
