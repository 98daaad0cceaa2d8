#!/bin/bash
# `drystone export`: every format in an independent reader (Khronos' validator, three.js, TinyUSDZ, VTK where it is
# installed), all of them against each other, and bad input. Usage: test_export.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
modules=$(dirname "$program")/web/node_modules
for python in /usr/bin/python3 python3; do "$python" -c 'import numpy' 2>/dev/null && break; done

# bodies of all kinds, one that is tilted, thrown and turning; joints; a deformable body
"$program" run "$source/scenes/tour.json" --time 0.5 --record-every 2 -o tour.h5 --step 0.01 -q || fail "run tour"
"$program" run linkage --time 0.3 -o linkage.h5 --step 0.01 -q || fail "run linkage"
"$program" run soft-incline --time 0.1 -o soft.h5 --step 0.01 -q || fail "run soft-incline"
for name in tour linkage soft; do
  for ending in glb gltf pvd usda obj csv; do expect 0 "frames of" export $name.h5 -o $name.$ending; done
  for table in bodies contacts joints; do expect 0 "" export $name.h5 -o $name-$table.csv --what $table -q; done
  if [ -d "$modules/gltf-validator" ] && "$python" -c 'import numpy' 2>/dev/null; then
    check "readers of $name" node "$source/test/export/read.mjs" "$modules" $name.glb $name.gltf $name.usda
    cp check.log read.json
    check "exports of $name agree" "$python" "$source/test/export/compare.py" $name 0.01 read.json
    cat check.log
  else
    echo "not checked by readers: no gltf-validator, or no numpy"
  fi
done
grep -q '"targets"' soft.gltf || fail "a deformable body has no morph targets"

# ranges and rates
lines() { "$program" export linkage.h5 -o part.csv -q "$@" && tail -n +2 part.csv | wc -l; }
for case in "31:" "11:--from 0.2" "6:--to 0.05" "4:--rate 10" "16:--rate 50" "31:--rate 1000" "1:--from 0.1 --to 0.1"; do
  found=$(lines ${case#*:})
  [ "$found" = "${case%%:*}" ] && ok || fail "export ${case#*:}: $found frames, wanted ${case%%:*}"
done

expect 2 "no frame from 5" export linkage.h5 -o x.csv --from 5
expect 2 "by the end of its name" export linkage.h5 -o x.fbx
expect 2 "give the output" export linkage.h5
expect 2 "is not a recording" export "$source/scenes/tour.json" -o x.glb
expect 2 "--what is for .csv" export linkage.h5 -o x.glb --what bodies
expect 2 "--what" export linkage.h5 -o x.csv --what forces
expect 2 "x.glb" export linkage.h5 -o none/x.glb
head -c 3000 linkage.h5 >cut.h5
expect 2 "not a readable Drystone recording" export cut.h5 -o x.glb
[ ! -e x.glb ] && ok || fail "a failed export leaves a file"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
