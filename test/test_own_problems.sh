#!/usr/bin/env bash
# Every problem of problems/ is solved from zero, and those without solution are not claimed to be.
# Usage: bash test_own_problems.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
for file in $(own_problems); do
  name=$(basename "$file" .hdf5)
  json=$(timeout 120 "$program" solve "$file" --cold --json)
  outcome=$(sed -n 's/.*"outcome": "\([^"]*\)".*/\1/p' <<<"$json")
  case $name in
    # friction holds what could escape: no solution exists, but a velocity that keeps out of both walls does
    infeasible-wedge-friction) right=$([ "$outcome" = jam ] && echo yes) ;;
    infeasible-*) right=$([ "$outcome" = "no solution" ] && echo yes) ;;
    *) right=$([ "$outcome" = solved ] && echo yes) ;;
  esac
  if [ "$right" = yes ]; then
    ok
  else
    fail "$name: $outcome; $(sed -n 's/.*"natural_error": \([^,]*\),.*/error \1/p' <<<"$json")"
  fi
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
