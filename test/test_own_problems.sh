#!/usr/bin/env bash
# Every problem of problems/ is solved from zero, those without solution are not claimed to be, and the work stays
# within bounds.
# Usage: bash test_own_problems.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
budget=4000 # factorizations of one problem
most=15400  # of all together: 10 % above the 14,001 of 68 problems
sum=0
# field NAME: of one JSON object on stdin
field() { sed -n "s/.*\"$1\": \"\\{0,1\\}\\([^\",]*\\).*/\\1/p"; }

for file in $(own_problems); do
  name=$(basename "$file" .hdf5)
  json=$(timeout 120 "$program" solve "$file" --cold --json)
  outcome=$(field outcome <<<"$json")
  work=$(field factorizations <<<"$json")
  if is_own_outcome "$name" "$outcome"; then ok; else fail "$name: $outcome; error $(field natural_error <<<"$json")"; fi
  if [ "${work:-99999}" -le $budget ]; then ok; else fail "$name: ${work:-no} factorizations, budget $budget"; fi
  sum=$((sum + ${work:-0}))
done
echo "$sum factorizations"
if [ "$sum" -le $most ]; then ok; else fail "$sum factorizations, wanted at most $most"; fi

echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
