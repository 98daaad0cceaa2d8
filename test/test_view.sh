#!/usr/bin/env bash
# `drystone view`: who may connect, what clients are sent and may ask for, and that none of them harms the simulation.
# Usage: bash test_view.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
"$program" help view >/dev/null 2>&1 || exit 77 # built without the viewer

# --- arguments
expect 2 "give a scene" view
expect 2 "two can be shown side by side if both are recordings" view stack arch
expect 2 "did you mean card-house?" view card-hause --no-open
expect 2 "--export takes a recording" view stack --export here
expect 2 "is not a numeric address" view stack --bind nowhere --no-open
DRYSTONE_TOKEN=short expect 2 "DRYSTONE_TOKEN is not usable" view stack --no-open

timeout 280 python3 "$source/test/test_view.py" "$program"
code=$?
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$code" -eq 0 ]
