#!/usr/bin/env bash
# The program as a user meets it: every command, what it says on stdout and stderr, exit codes, files it leaves.
# Usage: bash test_cli.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
field() { sed -n "s/^  \"$1\": \\(.*[^,]\\),*\$/\\1/p" "$2"; }

# --- help and version
expect 2 "COMMAND"
expect 0 "card" help run
expect 0 "--record-every" run --help
expect 0 '"deadline": 0.5,' run stack:count=2 --time 0.05 --deadline 0.5 --report -
expect 0 "ended by --until-moved" run incline:mu=0.3 --time 5 --until-moved 0.1 --report moved.json
check "it has ended soon after that" test "$(awk "BEGIN { d = $(field displacement_max moved.json); print (d > 0.1 && d < 0.11) }")" = 1
expect 0 '"deadline": 0.25,' run stack:count=2 --time 0.05 --set options.deadline=0.25 --report -
expect 2 "deadline" run stack:count=2 --set options.deadline=-1
expect 0 "scenes" help
expect 0 "scenes" --help
expect 2 "did you mean 'run'" help rnu
expect 2 "did you mean 'run'" rnu
expect 2 "'drystone help' lists them" zzzzzz
for command in run solve check info scenes scene figures draw plot export help version; do expect 0 "drystone $command" help $command; done
expect 0 "drystone 0." version
expect 0 "drystone 0." --version
expect 2 "takes no arguments" version 1
check "the schema has the solvers" "$source/scripts/schema-methods.py" "$program" "$source/schema/scene.schema.json" --check
"$program" help 2>err.txt >/dev/null
check "help says nothing on stderr" test ! -s err.txt

# --- options: unknown, missing, out of range, not numbers
expect 2 "give a scene file or a generator" run
expect 2 "one scene" run incline stack
expect 2 "did you mean --time?" run incline --tme 3
expect 2 "'drystone help run' lists them" run incline --xyzzyx
expect 2 "--time needs a value" run incline --time
expect 2 "takes no value" run incline --strict=yes
for number in x 1x 1e '' nan inf 0x10 ' 1' 1,5; do expect 2 "--time: '$number' is not" run incline --time "$number"; done
expect 2 "out of range" run incline --time -1
expect 2 "out of range" run incline --step 0
expect 2 "out of range" run incline --tol 2
expect 2 "not a whole number" run incline --threads 1.5
expect 2 "out of range" run incline --threads 1000
expect 2 "not a whole number" run incline --threads 99999999999999999999
expect 2 "coupled|gauss-seidel|staggered" run incline --method newton
expect 2 "euler|midpoint" run incline --integrator leapfrog
expect 2 "newton|poisson|energetic" run incline --restitution-law galileo
expect 2 "simultaneous|sequential" run incline --impacts random
expect 2 "corners|even" run incline --face-pressure odd
expect 2 "unknown option" run incline --predictor none
expect 2 '"staggered" where it was "none"' run incline --set options.predictor=none
expect 2 "--record-every needs --record" run incline --record-every 2
expect 2 "too many steps" run incline --time 1e9 --step 1e-9

# --- where scenes come from
expect 2 "did you mean card-house?" run card-hous
expect 2 "No such file" run none.json
expect 2 "No such file" run no/such/file
expect 2 "is a directory" run "$folder"
expect 2 "" run incline:slop=1
expect 2 "" run incline:slope=x
expect 2 "" run incline --set options.tolernce=1
expect 2 "path=value" run incline --set nonsense

# --- going on from a recording
expect 0 "50 of 50 steps" run card-house:levels=2 -t 0.5 -o first.h5
expect 0 "50 of 50 steps" run card-house:levels=2 -t 1 --from first.h5 -o second.h5 --report second.json
check "it starts where the other ended" test "$(field start_time second.json)" = 0.5
check "speed is that of the steps done" awk "BEGIN { x = $(field speed second.json) * $(field wall_seconds second.json); exit !(x > 0.499 && x < 0.501) }"
expect 2 "cannot go to the standard output" run stack:count=1 --record -
check "time goes on" test "$(field time second.json)" = 1
check "a house that stands goes on standing" awk "BEGIN { exit !($(field displacement_max second.json) < 1e-9) }"
# bit for bit: rigid, shaken by a kinematic floor, jointed, deformable, thrown over with long steps, by the midpoint rule
for spec in card-house:levels=2,blocks=1 stack:count=3,shake=0.02 bridge:planks=4,blocks=2 soft-incline pile:count=12 \
  'pile:count=10 --integrator midpoint' 'pile:count=9,e=0.5 --restitution-law energetic --impacts sequential' \
  'pile:count=11 --face-pressure even'; do
  whole=(-t 1.2)
  case $spec in soft*) whole=(-t 0.12) ;; pile*) whole=(-t 1.2 --step 0.02) ;; esac
  half=("${whole[@]}")
  half[1]=$(awk "BEGIN { print ${whole[1]} / 2 }")
  "$program" run $spec "${whole[@]}" --report whole.json -q
  "$program" run $spec "${half[@]}" --threads 2 -o half.h5 --record-every 7 -q
  "$program" run $spec "${whole[@]}" --from half.h5 --report rest.json -q
  check "$spec goes on bit for bit" test "$(field state_hash whole.json)" = "$(field state_hash rest.json)"
  check "$spec has a hash" test -n "$(field state_hash whole.json)"
done
expect 2 "give a later end with --time" run card-house:levels=2 -t 0.5 --from first.h5
expect 2 "give the scene that was recorded" run card-house:levels=3 --from first.h5
expect 2 "must be different files" run card-house:levels=2 -t 1 --from first.h5 -o first.h5
expect 2 "none.h5" run card-house:levels=2 --from none.h5

# --- scenes, scene, check, info
expect 0 "card-house" scenes
expect 0 "levels" scenes card-house
expect 0 "card-house" scenes --brief
expect 2 "did you mean stack?" scenes stak
"$program" scene incline slope=0.3 mu=0.4 --set time=2 >incline.json
check "scene writes JSON" grep -q '"time": 2' incline.json
"$program" scene incline:slope=0.3,mu=0.4 >same.json
check "both ways to give parameters" grep -q 'slope=0.3,mu=0.4' same.json
expect 2 "did you mean incline?" scene inclin
expect 2 "give the name" scene
expect 0 "incline.json: ok: incline, 2 bodies (1 dynamic, 1 static, 0 kinematic)" check incline.json
expect 0 "ok" check incline.json same.json card-house
echo '{"drystone": 1, "bodyes": []}' >bad.json
expect 2 "bad.json:1:" check bad.json
expect 2 "incline.json: ok" check bad.json incline.json
expect 2 "give one or more" check
output=$("$program" check -q incline.json)
check "check -q says nothing" test -z "$output"
expect 0 "6 degrees of freedom" info incline.json
expect 0 "mu 0.4" info incline.json
expect 0 "tolerance 0.001" info incline.json --set options.tolerance=0.001
expect 2 "give one scene" info
expect 2 "" info bad.json

# --- a run, its summary, recording and report
output=$("$program" run incline.json --time 0.5 --threads 1 --record a.h5 --report a.json 2>err.txt)
check "a run" test $? -eq 0
check "silent on stderr when piped" test ! -s err.txt
for text in "incline: 2 bodies (1 dynamic), 50 steps" contacts converged "factorizations per step" displacement creep penetration energy "times real time" \
  "a.h5, 51 frames" "a.json"; do
  check "summary has $text" test -z "${output##*"$text"*}"
done
for name in version scene method step tolerance threads steps time bodies dof contacts_mean contacts_max \
  staggered_iterations_mean staggered_iterations_max factorizations factorizations_mean factorizations_max factorizations_max_time \
  factorizations_worst_mean factorizations_rest_mean rest_time energy_gained ms_max converged_share unconverged_steps rel_err_max residual_max \
  natural_error_max approach_velocity_max cone_violation_max dissipation_error_max penetration_max penetration_first_second separation_max stopped_bodies parts_mean parts_max outside_range_steps inverted_tets_max linear_strain_max \
  displacement_max displacement_settled_max creep_max drift_max energy_gain_max ms_mean ms_p99 state_hash peak_memory islands_max \
  first_unconverged_time wall_seconds cpu_seconds; do
  check "report has $name" grep -q "^  \"$name\": " a.json
done
check "no NaN in JSON" test "$(grep -Eic ': *-?(nan|inf)' a.json)" -eq 0
if command -v python3 >/dev/null; then check "the report is JSON" python3 -m json.tool a.json; fi
check "steps" test "$(field steps a.json)" = 50
check "dof" test "$(field dof a.json)" = 6
check "converged" test "$(field converged_share a.json)" = 1
check "at rest from the start" test "$(field rest_time a.json)" = 0
check "not yet at rest for a second" test "$(field factorizations_rest_mean a.json)" = null
check "no settled displacement before 1 s" test "$(field displacement_settled_max a.json)" = null
check "nothing else is left" test "$(ls | grep -c part)" -eq 0
# creep is from end to end of a window, drift without swings: a pendulum has the one, a ball that flies both
echo '{"drystone": 1, "time": 400, "bodies": [{"name": "post", "kind": "static", "shapes": [{"kind": "sphere", "radius": 0.01}]},
  {"name": "bob", "position": [0.3, 0, -1], "shapes": [{"kind": "sphere", "radius": 0.1}]}],
  "joints": [{"name": "pivot", "kind": "ball", "bodies": ["post", "bob"], "point": [0, 0, 0]}]}' >pendulum.json
expect 0 "" run pendulum.json --report pendulum_report.json
check "a pendulum creeps" awk "BEGIN { exit !($(field creep_max pendulum_report.json) > 1e-3) }"
check "a pendulum does not drift" awk "BEGIN { exit !($(field drift_max pendulum_report.json) < 1e-4) }"
echo '{"drystone": 1, "time": 2, "gravity": [0, 0, 0], "bodies": [{"name": "ball", "velocity": [0.6, 0, 0.8],
  "shapes": [{"kind": "sphere", "radius": 0.1}]}]}' >flies.json
expect 0 "" run flies.json --report flies_report.json
check "a ball that flies drifts as it flies" awk "BEGIN { d = $(field drift_max flies_report.json) - 1; exit !(d * d < 1e-18) }"
# a motor is named as what may raise the energy, a brake is not
motor() {
  echo '{"drystone": 1, "time": 0.2, "bodies": [{"name": "rail", "kind": "static", "shapes": [{"kind": "box", "size": [1, 0.1, 0.1]}]},
    {"name": "car", "position": [0, 0, 0.2], "shapes": [{"kind": "box", "size": [0.1, 0.1, 0.1]}]}], "joints": [{"kind": "slider",
    "bodies": ["rail", "car"], "point": [0, 0, 0], "axis": [1, 0, 0], "max_force": 100, "speed": '$1'}]}' >motor.json
}
motor 0.5
expect 0 "" run motor.json --report motor_report.json
check "a motor is a cause" grep -q '"motors"' motor_report.json
motor 0
expect 0 "" run motor.json --report motor_report.json
check "a brake is none" bash -c "! grep -q '\"motors\"' motor_report.json"
# joints that open are reported; a chain whose waves are faster than the step holds
expect 0 "steps taken in up to 16 parts" run bridge --time 2 --step 0.2 --integrator euler
# a bar between two posts, one of which goes away: no step is short enough, so none is advised
cat >tear.json <<'END'
{"drystone": 1, "time": 0.2, "bodies": [
  {"name": "left", "kind": "static", "position": [-1, 0, 0], "shapes": [{"kind": "box", "size": [0.1, 0.1, 0.1]}]},
  {"name": "right", "kind": "kinematic", "position": [1, 0, 0], "motion": {"kind": "velocity", "velocity": [0.5, 0, 0]},
   "shapes": [{"kind": "box", "size": [0.1, 0.1, 0.1]}]},
  {"name": "bar", "shapes": [{"kind": "box", "size": [1.8, 0.05, 0.05]}]}],
 "joints": [{"kind": "ball", "bodies": ["bar", "left"], "point": [-1, 0, 0]},
            {"kind": "ball", "bodies": ["bar", "right"], "point": [1, 0, 0]}]}
END
expect 0 "drift 0.1 m at most at t = 0.2 s: joints have opened" run tear.json
check "no advice that does not help" bash -c "! '$program' run tear.json | grep -q -e --step"
expect 0 '"joint_drift_time": 0.2' run tear.json --report -
expect 0 "converged     6 of 6 steps" run bridge:planks=70,blocks=20 --time 0.06 --report chain.json
check "its joints hold" awk "BEGIN { exit !($(field joint_drift_max chain.json) < 1e-10) }"
expect 0 "frames       51, from t = 0 s to 0.5 s" info a.h5
expect 0 "complete" info a.h5
expect 2 "not recordings" info a.h5 --set time=1

# --- the same run again is the same state, with any number of threads
"$program" run incline.json --time 0.5 --threads 2 --report b.json -q
check "state_hash does not depend on threads" test "$(field state_hash a.json)" = "$(field state_hash b.json)"

# --- options reach the run
"$program" run incline.json --time 0.1 --step 0.005 --tol 1e-5 --method gauss-seidel --report c.json -q
check "--step" test "$(field steps c.json)" = 20
check "--tol" test "$(field tolerance c.json)" = 1e-05
check "--method" test "$(field method c.json)" = '"gauss-seidel"'
"$program" run incline.json --set time=0.2 --set options.step=0.02 --report c.json -q
check "--set" test "$(field steps c.json)" = 10
"$program" run incline.json --time 0 --report c.json -q
check "no steps at all" test "$(field steps c.json)-$(field contacts_mean c.json)" = 0-null
"$program" run incline.json --time 0.3 --record-every 7 --record d.h5 -q
expect 0 "frames       6, from t = 0 s to 0.3 s" info d.h5
output=$("$program" run incline.json --time 0.05 --report -)
check "--report - writes to stdout" test "${output:0:1}" = "{"
output=$("$program" run incline.json --time 0.05 -q 2>&1)
check "-q says nothing" test -z "$output"
expect 0 "" run incline.json --time 0.1 --strict
cat >rod.json <<'END'
{"drystone": 1, "time": 2, "bodies": [
  {"name": "floor", "kind": "static", "mu": 0, "shapes": [{"kind": "half-space"}]},
  {"name": "rod", "mu": 0, "position": [0, 0, 0.01], "angular_velocity": [0, 0, 60],
   "shapes": [{"kind": "box", "size": [1, 0.02, 0.02]}]}]}
END
expect 1 "gained energy that nothing accounts for" run rod.json --step 0.05 --integrator euler --strict
expect 0 "" run rod.json --step 0.01 --strict
expect 1 "did not pass their certificate" run pile:count=20 --time 0.5 --strict --tol 1e-12 --step-budget 1
cat >pushed.json <<'END'
{"drystone": 1, "name": "pushed", "time": 0.4, "bodies": [
 {"name": "rail", "kind": "static", "position": [0, 0, -1], "shapes": [{"kind": "box", "size": [0.1, 0.1, 0.1]}]},
 {"name": "rod", "kind": "kinematic", "position": [-1, 0, 0], "motion": {"kind": "velocity", "velocity": [1, 0, 0]},
  "shapes": [{"kind": "box", "size": [0.1, 0.1, 0.1]}]},
 {"name": "carriage", "shapes": [{"kind": "box", "size": [0.2, 0.2, 0.2]}]}],
 "joints": [{"kind": "slider", "bodies": ["rail", "carriage"], "point": [0, 0, 0], "axis": [1, 0, 0], "lower": -1, "upper": 0.2},
  {"kind": "weld", "bodies": ["rod", "carriage"], "point": [-0.5, 0, 0]}]}
END
expect 0 "infeasible    20 of them, first at t = 0.21 s: scripted bodies or joints" run pushed.json

# --- places that cannot be written are found before the run; what was there stays
echo old >keep.json
expect 2 "directory" run incline.json --report "$folder"
expect 2 "directory" run incline.json --record "$folder"
expect 2 "No such file" run incline.json --report no/such.json
expect 2 "No such file" run incline.json --record no/such.h5
expect 2 "different files" run incline.json --report x --record x
expect 2 "different files" run incline.json --report incline.json
expect 2 "different files" run incline.json --record incline.json
expect 2 "" run bad.json --report keep.json
check "an old report stays until there is a new one" grep -q old keep.json
ln -s keep.json link.json
"$program" run incline.json --time 0.05 --report link.json -q
check "a link stays a link" test -L link.json
check "and its file has the report" grep -q state_hash keep.json
if [ -w /dev/full ]; then
  "$program" version >/dev/full 2>err.txt
  check "a full disk under stdout is not success" test $? -eq 2
fi
for foreign in bad.json a.json; do
  cp $foreign foreign.h5
  expect 2 "" info foreign.h5
done
head -c 3000 a.h5 >cut.h5
expect 2 "cut.h5: not a readable Drystone recording" info cut.h5

# --- meshes and solids
cube() { # FILE [triangle lines to leave out]
  printf 'v 0 0 0\nv 20 0 0\nv 0 20 0\nv 20 20 0\nv 0 0 20\nv 20 0 20\nv 0 20 20\nv 20 20 20\n' >"$1"
  printf 'f %s\n' '1 3 4 2' '5 6 8 7' '1 2 6 5' '3 7 8 4' '1 5 7 3' '2 4 8 6' | head -n "${2:-6}" >>"$1"
}
cube cube.obj
cube open.obj 5
mkdir -p sub/parts
cp cube.obj sub/parts/
expect 0 "king" figures
expect 2 "takes no arguments" figures king
expect 0 "cube.obj: ok: 12 triangles, 8 vertices, 1 part, 0.02 x 0.02 x 0.02 m, area 0.0024 m², volume 8e-06 m³" \
  check cube.obj --scale 0.001
expect 0 "figure:pawn: ok" check figure:pawn
expect 2 "open.obj: open: 4, first triangle" check open.obj
expect 2 "close the holes" check open.obj
expect 2 "cube.obj: ok" check open.obj cube.obj
expect 2 "none.obj" check none.obj
expect 2 "did you mean king?" check figure:kng
expect 2 "'drystone figures' lists them" info figure:zzzzzzzz
expect 0 "mass         0.0624 kg at 7800 kg/m³" info cube.obj --scale 0.001 --density 7800
expect 0 "centre       0.01 0.01 0.01 m" info cube.obj --scale 0.001
expect 0 "thickness    0.02 m" info cube.obj --scale 0.001 --no-cache
expect 0 "read from the cache" info cube.obj --scale 0.001
expect 0 "built in" info cube.obj --scale 0.001 --no-cache
expect 2 "lists all faults" info open.obj
expect 2 "not meshes" info cube.obj --set time=1
expect 2 "are for meshes" info incline.json --density 2
expect 2 "out of range" info cube.obj --scale 0
expect 2 "cannot be created" info cube.obj --cache bad.json/x
check "built solids are kept" test "$(find cache -name '*.solid' | wc -l)" -eq 1
cat >sub/solid.json <<'END'
{"drystone": 1, "name": "boxes", "time": 0.05,
 "solids": {"cube": {"file": "parts/cube.obj", "scale": 0.001}, "other": {"file": "none.obj"},
  "nut": {"recipe": {"kind": "subtraction", "of": [
    {"kind": "cylinder", "radius": 0.02, "length": 0.01}, {"kind": "cylinder", "radius": 0.01, "length": 0.02}]}}},
 "bodies": [{"name": "floor", "kind": "static", "shapes": [{"kind": "half-space"}]},
  {"name": "a", "shapes": [{"kind": "solid", "solid": "cube"}]},
  {"name": "b", "position": [0, 0, 0.02], "shapes": [{"kind": "solid", "solid": "cube"}]},
  {"name": "c", "position": [0.1, 0, 0.0051], "shapes": [{"kind": "solid", "solid": "nut"}]}]}
END
expect 0 "sub/solid.json: ok: boxes, 4 bodies" check sub/solid.json
expect 0 "solids       2," info sub/solid.json
expect 0 "1 half-space 3 solid" info sub/solid.json
expect 2 "did you mean \"cube\"?" check sub/solid.json --set bodies.a.shapes.0.solid=cub
expect 2 "sub/none.obj" check sub/solid.json --set bodies.a.shapes.0.solid=other
expect 2 "cannot be created" run sub/solid.json --cache bad.json/x
rm -rf cache
expect 0 "4 bodies" run sub/solid.json --no-cache --record solid.h5
check "--no-cache keeps nothing" test ! -e cache
expect 0 "4 bodies" run sub/solid.json --cache other/place
check "--cache makes the folder" test "$(find other/place -name '*.solid' | wc -l)" -eq 2
rm -rf sub other
expect 0 "solid        nut: " info solid.h5
expect 0 "" run incline.json --time 0.05 --strict
check "no cache without solids" test ! -e cache

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
