#!/bin/bash
# Every scene file of the repository is valid and runs for a second with every step certified.
# usage: test_scenes.sh PROGRAM SOURCE_DIR
set -u
program=$1
source=$2
passed=0
failed=0
for scene in "$source"/scenes/*.json; do
  if "$program" check "$scene" >/dev/null && "$program" run "$scene" --time 1 --strict --quiet; then
    passed=$((passed + 1))
  else
    echo "FAIL $scene"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
