#!/usr/bin/env bash
# Scenes of others that are not clean, from the folder DRYSTONE_CASES: they have to stand, every step certified, and at
# rest a step has to cost hardly any work. Counts are compared, not times.
# Usage: bash test_cases.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
cases=${DRYSTONE_CASES:-}
if [ -z "$cases" ] || [ ! -d "$cases" ]; then
  echo "DRYSTONE_CASES names no folder: skipped"
  exit 77
fi

value() { sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" "$1" | head -1; }
at_most() { awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && x + 0 <= y + 0) }'; }

# stands NAME SCENE STEPS_AFTER DISPLACEMENT SETTLED: factorizations after the first second, and how far things move in
# metres, in all and after the first second
stands() {
  local name=$1 scene=$2 steps=$3 end
  end=$(awk -v n="$steps" 'BEGIN { print 1 + 0.01 * n }')
  "$program" run "$scene" --time 1 --quiet --report first.json || return
  "$program" run "$scene" --time "$end" --quiet --report all.json || return
  local work unconverged moved settled
  work=$(awk -v a="$(value all.json factorizations)" -v b="$(value first.json factorizations)" -v n="$steps" 'BEGIN { print (a - b) / n }')
  unconverged=$(value all.json unconverged_steps)
  moved=$(value all.json displacement_max)
  settled=$(value all.json displacement_settled_max)
  echo "  $name: $work factorizations per step at rest, moved $moved m, after the first second $settled m"
  check "$name: every step is certified" test "$unconverged" = 0
  check "$name: at most one factorization per step at rest" at_most "$work" 1
  check "$name: moves by at most $4 m" at_most "$moved" "$4"
  check "$name: moves by at most $5 m after the first second" at_most "$settled" "$5"
}

convert() { python3 "$source/scripts/compas-scene.py" "$cases/$1" -o "$2" "${@:3}" >/dev/null; }

# cards of 0.7 mm, tilted by 0.1 to 0.3 degrees and overlapping by up to 0.5 mm
[ ! -f "$cases/house_of_cards.scene.json" ] || stands "house of cards" "$cases/house_of_cards.scene.json" 200 2e-3 1e-12
if [ -f "$cases/armadillo_cra.json" ] && ! quick; then
  # 399 blocks as hulls, which overlap by up to 32 mm
  check "the vault is converted" convert armadillo_cra.json vault.json
  stands "Armadillo Vault" vault.json 100 1e-9 1e-12
  # the same by the 1,014 interfaces of the file; with half the friction that it needs it falls
  stands "Armadillo Vault by its interfaces" "$cases/armadillo_cra.json" 100 1e-12 1e-12
  check "its interfaces do not overlap" at_most "$(value all.json penetration_max)" 1e-12
  "$program" scene "$cases/armadillo_cra.json" | sed 's/"mu": [0-9.]*/"mu": 0.1/g' >smooth.json
  "$program" run smooth.json --time 0.05 --quiet --report smooth-run.json
  check "the smooth vault falls" at_most 1e-3 "$(value smooth-run.json displacement_max)"
  check "the smooth vault: every step is certified" test "$(value smooth-run.json unconverged_steps)" = 0
fi
if [ -f "$cases/concave-long.json" ]; then # two blocks that enclose each other: seven interfaces of one pair
  "$program" scene "$cases/concave-long.json" --set bodies.0.kind=static >concave.json
  stands "concave-long by its interfaces" concave.json 200 1e-12 1e-12
fi
for assembly in "type-a 0,1 0.84" "type-b 0,1 0.84" "bridge 0,1 0.9" "shelf-stable 0 0.9" "cubes 0 0.84"; do
  read -r name supports mu <<<"$assembly"
  [ -f "$cases/$name.json" ] || continue
  check "$name is converted to hulls" convert "$name.json" hulls.json --supports "$supports" --mu "$mu"
  check "$name: the hulls are a scene" "$program" check hulls.json
  check "$name is converted to solids" convert "$name.json" solids.json --supports "$supports" --mu "$mu" --as solids
  check "$name: the solids are a scene" "$program" check solids.json
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
