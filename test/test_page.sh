#!/bin/bash
# The page of 'drystone view': its decoder in node, and all of it in a real browser, against this program. Needs node, chromium and the built page.
#   test_page.sh PROGRAM SOURCE
program=$1 source=$2
web=$(dirname "$program")/web
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }
[ -d "$web/node_modules/playwright-core" ] || { echo "skipped: the page was not built in $web"; exit 77; }
"$program" help view >/dev/null 2>&1 || { echo "skipped: this program has no viewer"; exit 77; }

# The tests run beside the modules they need, not in the source folder.
rm -rf "$web/test" && cp -r "$source/web/test" "$web/test" && cd "$web" || exit 1
node build.mjs --unit && node --test test/protocol.test.mjs test/pace.test.mjs test/document.test.mjs || exit 1
DRYSTONE=$program node test/run.mjs
