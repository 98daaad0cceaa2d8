#!/usr/bin/env bash
# A quick version of the second part of `make shake`: random imperfect scenes stand or settle, every step certified, little
# work at rest, no energy gained. And structures that a ball hits.
# Usage: bash test_imperfect.sh PROGRAM SOURCE_DIR
command -v python3 >/dev/null || exit 77
. "$(dirname "$0")/shell.sh"

shake() { timeout 300 python3 "$source/scripts/shake.py" --program "$program" --work "$folder/work" --jobs 1 "$@"; }

scenes=7 time=3
if quick; then scenes=3 time=0.5; fi
output=$(shake --imperfect --scenes $scenes --time $time -o "$folder/table.md" 2>&1)
code=$?
if [ $code -eq 0 ] && [[ $output == *"$scenes of $scenes scenes: every step certified"* ]]; then ok; else fail "$code: $output"; fi
check "a row a scene" test "$(grep -c '^| [0-9]' table.md)" -eq $scenes
output=$(shake --imperfect --scenes $scenes --time $time --resume 2>&1)
if [[ $output == *"$scenes of $scenes scenes"* ]]; then ok; else fail "resumed: $output"; fi
for wrong in "--scenes 0" "--time -1" "wall"; do
  output=$(shake --imperfect $wrong 2>&1)
  if [ $? -eq 2 ]; then ok; else fail "--imperfect $wrong: $output"; fi
done

# a limit of processor time ends a run after the step it is in, and says so
output=$(shake --imperfect --scenes 1 --time 1e5 --cpu-limit 0.1 2>&1)
if [ $? -eq 1 ] && [[ $output == *"ended after"* ]]; then ok; else fail "ended by its limit: $output"; fi

for scene in arch:stones=9,ball_speed=6 tower:levels=3,ball_speed=3,ball_mass=0.01 wall:rows=2,bricks=2,ball_speed=1; do
  check "$scene" "$program" run $scene --time 0.3 --strict --quiet --report hit.json
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
