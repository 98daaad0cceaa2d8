#!/bin/bash
# Assembles what runs without a server, from the page's sources with their modules (build/release/web, made by `make`) and the module:
#
#   scripts/web.sh page WEB WASM OUTPUT [PROGRAM]   the page with its worker; with PROGRAM also the gallery, whose pictures it draws
#   scripts/web.sh npm WEB WASM OUTPUT              the npm package with its types
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
what=$1 web=$2 wasm=$3 output=$4 program=${5:-}
[ -d "$web/node_modules/esbuild" ] || { echo "web.sh: $web has no modules; run make, with npm and a network" >&2; exit 1; }
[ -f "$wasm" ] || { echo "web.sh: there is no $wasm; run make web" >&2; exit 1; }
rm -rf "$web/src" "$web/npm"
cp -r "$source/web/src" "$source/web/npm" "$source"/web/*.mjs "$source"/web/*.json "$web"
mkdir -p "$output"
output=$(cd "$output" && pwd)
case $what in
  page)
    (cd "$web" && node build.mjs --alone "$output")
    if [ -n "$program" ]; then node "$source/web/gallery.mjs" "$program" "$output"; fi
    ;;
  npm)
    (cd "$web" && node build.mjs --npm "$output" &&
      node_modules/.bin/tsc npm/index.ts --declaration --emitDeclarationOnly --outDir "$output/types" --target es2022 --module esnext \
        --moduleResolution bundler --lib es2022,dom --skipLibCheck --strict)
    mv "$output/types/npm/index.d.ts" "$output/index.d.ts"
    rm -r "$output/types"
    cp "$source/LICENSE" "$output"
    ;;
  *) echo "web.sh: 'page' or 'npm' expected" >&2; exit 2 ;;
esac
install -m 644 "$wasm" "$output/drystone.wasm"
