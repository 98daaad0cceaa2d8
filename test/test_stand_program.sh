#!/usr/bin/env bash
# drystone stand and verify: exit codes, what they print, certificates against the verifier in exact fractions, bad input,
# and the assemblies of others in the folder DRYSTONE_CASES.
# Usage: bash test_stand_program.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
cases=${DRYSTONE_CASES:-}

# proven CODE TEXT FILE ARGUMENTS...: the verdict, and its certificate by both verifiers
proven() {
  local code=$1 text=$2 file=$3
  shift 3
  expect "$code" "$text" stand "$file" --certificate proof.json "$@"
  expect 0 "valid: ${text%%:*}" verify proof.json
  check "$file: exact fractions agree" python3 "$source/scripts/verify-stand.py" proof.json
}

# ---- scenes ----
proven 0 "STANDS: proven: it is in equilibrium without any friction" stack:count=4
proven 0 "STANDS: proven for motions in its plane" card-house:levels=1
proven 0 "STANDS: proven for motions in its plane" arch:stones=9
proven 4 "FALLS: proven: a mechanism" overhang:count=5,factor=1.0001
proven 0 "STANDS: proven" overhang:count=5,factor=0.9999
proven 4 "FALLS: proven" card-house:levels=2,mu=0.1 --quick
proven 3 "CAN STAND: an equilibrium exists" vault --quick
proven 0 "STANDS: proven" log-house:ramp=0
expect 4 "mechanism, velocities" stand incline:slope=0.5,mu=0.3
expect 0 "load tilt:x: proven to stand up to 0 degrees, equilibrium up to 11.3099 degrees, proven to fall above 11.3099" \
  stand stack:count=5 --load tilt:x
expect 0 "load push:90: proven to stand up to 0, equilibrium up to 0.2, proven to fall above 0.2" stand stack:count=5 --load push:90
expect 0 "least friction: an equilibrium at 0, none below 0" stand stack:count=2 --least-mu
expect 0 "can be removed: cube2" stand stack:count=2 --remove
expect 4 "FALLS" stand stack:count=2 --supports 0 --set 'gravity=[9,0,-9]' --mu 0.5
expect 0 "with gaps up to 6.6e-06 m: 10 interfaces with 40 points, STANDS" stand arch:stones=9
expect 0 "640 more" stand log-house:ramp=0
expect 0 "log67 - log69" stand log-house:ramp=0 --all
check "JSON" bash -c "'$program' stand stack:count=3 --json --load tilt:x --ranges --remove --least-mu | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d[\"verdict\"] == \"STANDS\" and d[\"margin\"] > 0 and d[\"residual\"] < 1e-9
assert abs(d[\"loads\"][\"tilt:x\"][\"falls\"] - 1 / 3) < 1e-6, d[\"loads\"]
assert d[\"least_mu\"][\"equilibrium\"] == 0
face = d[\"interfaces\"][\"0\"]
assert abs(face[\"range\"][0] - face[\"normal\"]) < 1e-4 * face[\"normal\"]
assert d[\"blocks\"][\"3\"][\"without\"] == \"STANDS\" and d[\"blocks\"][\"1\"][\"without\"] == \"FALLS\"
'"

# ---- recordings, OBJ, bricks, materials, pictures ----
"$program" run stack:count=3 -t 0.1 -o stack.h5 -q
expect 0 "STANDS" stand stack.h5 --time 0.05
expect 2 "is out of range" stand stack.h5 --time 9
expect 2 "--time is for recordings" stand stack:count=3 --time 1
python3 - <<'END'
import json
for n in 19, 20:
    json.dump({str(i + 1): {"x": 2 * i, "y": 3, "z": i, "brick_id": 2, "ori": 1} for i in range(n)}, open(f"stair{n}.json", "w"))
with open("boxes.obj", "w") as file:
    for b in range(2):
        file.write(f"g box{b}\n")
        for i in range(8):
            file.write(f"v {(i & 1) + 0.4 * b} {i >> 1 & 1} {(i >> 2) + b}\n")
        for f in ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)):
            file.write("f " + " ".join(str(v + 8 * b) for v in f) + "\n")
json.dump({"interfaces": [{"a": "floor", "mu": 0.4, "strength": 1e5}]}, open("rules.json", "w"))
END
proven 0 "STANDS: proven" stair19.json
proven 4 "FALLS: proven" stair20.json
proven 0 "STANDS: proven" boxes.obj --supports 0
proven 4 "FALLS: proven" stack:count=3 --strength 700
proven 3 "CAN STAND" arch:stones=9 --cohesion 2e4 --quick
proven 4 "FALLS: proven" arch:stones=9 --cohesion 10 --strength 2e4 --quick
expect 0 "load settle:abutment-left,-1,0,0: the support carries" stand arch:stones=9 --load settle:abutment-left,-1,0,0
expect 0 "order of assembly: cube1 cube2 cube3" stand stack:count=3 --order --interfaces rules.json
expect 0 "STANDS" stand arch:stones=9 -o arch.png --size 320x180 --polar polar.svg
expect 4 "FALLS" stand card-house:levels=1,mu=0.1 --quick -o fall.svg
check "pictures" bash -c "head -c 4 arch.png | grep -q PNG && grep -q '<path' fall.svg && grep -q '<path' polar.svg"
expect 4 "FALLS" stand card-house:levels=1,mu=0.1 --quick -o fall.h5
check "the first motion can be drawn" "$program" draw fall.h5 -t 2 -o fall.png --size 64x64
expect 2 "there is no mechanism" stand stack:count=2 -o still.h5
check "bricks run" "$program" run stair19.json -t 0.02 -q
expect 2 "ends in .png or .svg" stand stack:count=2 -o still.gif
expect 2 "no interface is between" stand boxes.obj --supports 0 --interfaces rules.json

# ---- an arch with gaps of 2 mm: what stands by the interfaces that were found stands as dynamics ----
python3 - <<'END'
from math import cos, pi, sin
n, gap = 11, 1e-3  # every joint is moved inwards by half the gap
with open("gaps.obj", "w") as file:
    for k in range(-1, n + 1):
        file.write(f"o stone{k + 1}\n")
        lo, hi = pi * k / n, pi * (k + 1) / n
        for angle, way in ((lo, 1), (hi, -1)):
            for r in 1, 1.3:
                for y in -0.3, 0.3:
                    x, z = -r * cos(angle) + way * gap * sin(angle), r * sin(angle) + way * gap * cos(angle)
                    file.write(f"v {x:.12f} {y} {z:.12f}\n")
        for f in ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)):
            file.write("f " + " ".join(str(v + 8 * (k + 1)) for v in f) + "\n")
END
expect 4 "0 interfaces with 0 points" stand gaps.obj --supports 0,12
proven 0 "STANDS: proven for motions in its plane" gaps.obj --supports 0,12 --tolerance 0.003 -o gaps.json
expect 0 "STANDS: proven for motions in its plane" stand gaps.json
expect 0 "displacement  0 m" run gaps.json -t 1
expect 2 "no surfaces: it is a scene already" stand stack:count=2 -o again.json
expect 2 "neither cohesion, nor clutch, nor strength" stand boxes.obj --supports 0 --cohesion 1e4 -o again.json
expect 2 "--set changes scenes" stand stair19.json --set 'gravity=[3,0,-9.81]'
expect 2 "would overwrite" stand stair19.json -o stair19.json

# ---- bad input ----
expect 2 "give one scene" stand
expect 2 "give one scene" stand a b
expect 2 "nowhere" stand nowhere.json
expect 2 "expected numbers of blocks" stand stack:count=2 --supports 1,x
expect 2 "there is no body 9" stand stack:count=2 --supports 9
expect 2 "expected tilt:DIR" stand stack:count=2 --load tilt:up
expect 2 "expected tilt:DIR" stand stack:count=2 --load heavy
expect 2 "there is no block named nobody" stand stack:count=2 --load point:nobody,1,0,0
expect 2 "--mu" stand stack:count=2 --mu -1
expect 2 "joints" stand bridge
expect 2 "deformable" stand soft-stack
expect 2 "give one or more certificates" verify
echo '{"drystone_certificate": 1, "verdict": "FALLS"}' >bad.json
expect 2 "bad.json:1:1: expected a vector" verify bad.json
echo '{"data": {"graph": {"node": {"x": {}}}}}' >bad.json
expect 2 "bad.json:1:35: a node must be an object whose key is a number" stand bad.json
echo '{"data": {"graph": {"node": {"1": {"block": {"vertex": {}, "face": {}}}}}}}' >bad.json
expect 2 "node 1 has no block with vertices and faces" stand bad.json

# a certificate that was changed by hand
"$program" stand incline:slope=0.5,mu=0.3 --certificate proof.json >/dev/null
sed 's/"mu": "[^"]*"/"mu": "1"/' proof.json >changed.json
expect 1 "do not separate as their friction asks" verify changed.json
check "the script finds it, too" bash -c "python3 '$source/scripts/verify-stand.py' changed.json; [ \$? = 1 ]"
"$program" stand stack:count=3 --certificate proof.json >/dev/null
sed 's/"mass": "[^"]*"/"mass": "9"/' proof.json >changed.json
expect 1 "unbalanced" verify changed.json
check "the script finds it, too" bash -c "python3 '$source/scripts/verify-stand.py' changed.json; [ \$? = 1 ]"
check "the verifier has at most 300 lines" test "$(wc -l <"$source/scripts/verify-stand.py")" -le 300

# ---- assemblies of compas_cra ----
if [ -n "$cases" ] && [ -d "$cases" ]; then
  proven 0 "STANDS" "$cases/type-a.json" --supports 0,1 --mu 0.84
  proven 0 "STANDS" "$cases/type-b.json" --supports 0,1 --mu 0.84
  proven 3 "CAN STAND" "$cases/bridge.json" --supports 0,1 --mu 0.9
  proven 3 "CAN STAND" "$cases/shelf-stable.json" --supports 0 --mu 0.9
  proven 4 "FALLS" "$cases/shelf-stable.json" --supports 0 --mu 0.25
  proven 0 "STANDS" "$cases/cubes.json" --supports 0 --mu 0.84
  proven 0 "STANDS" "$cases/concave-long.json" --supports 0 --mu 0.84
  check "an assembly runs" "$program" run "$cases/concave-long.json" --set bodies.0.kind=static -t 0.1 -q
  expect 2 "there is no block 77" stand "$cases/cubes.json" --supports 77
  if ! quick; then
    proven 3 "CAN STAND" "$cases/armadillo_cra.json"
    proven 4 "FALLS" "$cases/armadillo_cra.json" --mu 0.17
    expect 3 "CAN STAND" stand "$cases/armadillo_cra.json" --quick -o vault.png --size 320x180
    check "a picture of the vault" test -s vault.png
    work=$("$program" stand "$cases/armadillo_cra.json" --json | sed -n 's/^ *"factorizations": \([0-9]*\),$/\1/p' | head -1)
    check "the vault takes at most 15 factorizations, not $work" test "$work" -le 15
  fi
fi
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
