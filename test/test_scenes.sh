#!/usr/bin/env bash
# Every scene file of the repository is valid and runs for a second with every step certified.
# Usage: bash test_scenes.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
for scene in "$source"/scenes/*.json; do
  if "$program" check "$scene" >/dev/null && "$program" run "$scene" --time 1 --strict --quiet; then
    ok
  else
    fail "$scene"
  fi
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
