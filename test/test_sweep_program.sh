#!/usr/bin/env bash
# drystone sweep: designs, metrics, tables, maps, resuming, failed runs, kills, and what it refuses.
. "$(dirname "$0")/shell.sh"

sweep() { # FILE: a sweep of a cube on a slope from the lines on stdin
  { echo '{"drystone_sweep": 1, "scene": "incline:velocity=1", "arguments": ["--time", "0.05"],'; cat; echo '}'; } >"$1"
}

# --- a grid: the last parameter changes fastest; maps in all formats
sweep grid.json <<'END'
 "name": "grid",
 "parameters": [{"generator": "mu", "values": [0.2, 0.6]},
                {"name": "slope", "generator": "slope", "from": 0.1, "to": 0.3, "count": 3}],
 "metrics": ["displacement_max", "stands", "state_hash", {"name": "v", "body": "cube", "quantity": "speed"}],
 "maps": [{"x": "mu", "y": "slope", "value": "displacement_max", "file": "a.png"},
          {"x": "mu", "y": "slope", "value": "state_hash", "file": "b.svg"},
          {"x": "mu", "y": "slope", "value": "v", "file": "c.pdf", "log": true}]
END
expect 0 "6 of 6 runs finished, 6 of them now; 0 failed" sweep grid.json -j 2
[ "$(cut -d, -f1-3 grid.sweep/results.csv | tr '\n' ' ')" = "run,mu,slope 1,0.2,0.1 2,0.2,0.2 3,0.2,0.3 4,0.6,0.1 5,0.6,0.2 6,0.6,0.3 " ] &&
  ok || fail "the table: $(cat grid.sweep/results.csv)"
[ "$(head -c 4 grid.sweep/a.png | tail -c 3)" = PNG ] && grep -q '<svg' grid.sweep/b.svg &&
  [ "$(head -c 4 grid.sweep/c.pdf)" = %PDF ] && ok || fail "the maps: $(ls grid.sweep)"
[ "$(head -c 4 grid.sweep/results.h5 | tail -c 3)" = HDF ] && ok || fail "no HDF5"

# what a row says is what the run itself says
hash() { awk -F, -v run="$2" 'NR > 1 && $1 == run { print $6 }' "$1"; }
command=$("$program" sweep grid.json --show 5)
[ "$command" = "drystone run incline:velocity=1,mu=0.6,slope=0.2 --time 0.05" ] && ok || fail "--show: $command"
report=$("$program" ${command#drystone } --report -)
[[ $report == *"\"state_hash\": \"$(hash grid.sweep/results.csv 5)\""* ]] && ok || fail "another hash than the run alone"
[ "$("$program" sweep grid.json --list | wc -l)" = 6 ] && ok || fail "--list"
# a cube that slides from 1 m/s for 0.05 s: v = 1 - g (mu cos - sin) t, to first order in the steps' rounding
awk -F, 'NR == 5 { t = atan2(0.1, 1); want = 1 - 9.81 * (0.6 * cos(t) - sin(t)) * 0.05; exit !($7 - want < 1e-6 && want - $7 < 1e-6) }' \
  grid.sweep/results.csv && ok || fail "the speed: $(sed -n 5p grid.sweep/results.csv)"

# --- again: nothing is repeated; one value more: only what is new; the same bytes with another number of workers
expect 0 "6 of 6 runs finished, 0 of them now" sweep grid.json
sed -i 's/\[0.2, 0.6\]/[0.2, 0.6, 0.9]/' grid.json
expect 0 "9 of 9 runs finished, 3 of them now" sweep grid.json -j 1
[ "$(cat grid.sweep/runs-*.jsonl | wc -l)" = 9 ] && ok || fail "not nine lines"
expect 0 "9 of 9" sweep grid.json -j 3 -o other
cmp -s grid.sweep/results.csv other/results.csv && cmp -s grid.sweep/results.h5 other/results.h5 && ok || fail "tables differ"

# a torn last line is run again, and its rest does not spoil the next one
first=$(ls other/runs-*.jsonl | head -1)
truncate -s -20 "$first"
rm other/results.*
expect 0 "9 of 9 runs finished, 1 of them now" sweep grid.json -o other
cmp -s grid.sweep/results.csv other/results.csv && ok || fail "after a torn line the table differs"
expect 0 "9 of 9 runs finished, 0 of them now" sweep grid.json -o other

# --- list and Latin hypercube
sweep list.json <<'END'
 "design": "list", "metrics": ["time"],
 "parameters": [{"generator": "mu", "values": [0.1, 0.2]}, {"option": "--method", "values": ["coupled", "pgs"]}]
END
expect 0 "2 of 2" sweep list.json
grep -q '^2,0.2,pgs,' list.sweep/results.csv && ok || fail "the list: $(cat list.sweep/results.csv)"
sweep random.json <<'END'
 "design": "latin-hypercube", "samples": 10, "seed": 3, "metrics": ["stands"],
 "parameters": [{"generator": "mu", "from": 0, "to": 1}, {"generator": "mass", "from": 1, "to": 1024, "scale": "log"}],
 "maps": [{"x": "mu", "y": "mass", "value": "stands", "file": "dots.svg"}]
END
expect 0 "10 of 10" sweep random.json
# one value in every tenth of each range
awk -F, 'NR > 1 { a[int(10 * $2)]++; b[int(log($3) / log(2))]++ } END { for (i = 0; i < 10; i++) if (a[i] != 1 || b[i] != 1) exit 1 }' \
  random.sweep/results.csv && ok || fail "no Latin hypercube: $(cat random.sweep/results.csv)"

# --- metrics of a body that flies 0.25 m and turns by 1 rad in half a second: more than half its radius, so it does not stand
cat >flight.json <<'END'
{"drystone": 1, "gravity": [0, 0, 0], "materials": {"stone": {"mu": 0.6, "e": 0}},
 "bodies": [{"name": "brick", "material": "stone", "position": [1, 0, 0], "velocity": [0.3, 0.4, 0],
 "angular_velocity": [0, 0, 2], "shapes": [{"kind": "box", "size": [0.4, 0.4, 0.4]}]}]}
END
cat >body.json <<'END'
{"drystone_sweep": 1, "scene": "flight.json", "parameters": [{"option": "--time", "values": [0.1, 0.5]}],
 "metrics": [{"name": "angle", "body": "brick", "quantity": "angle"}, {"name": "way", "body": "brick", "quantity": "distance"},
             "stands"]}
END
expect 0 "2 of 2" sweep body.json
awk -F, 'function near(x, y) { return x - y < 1e-9 && y - x < 1e-9 }
  NR > 1 { t = $2; if (!near($3, 2 * t * 180 / 3.14159265358979) || !near($4, 0.5 * t) || $5 != (t < 0.3)) exit 1; n++ }
  END { if (n != 2) exit 1 }' body.sweep/results.csv && ok || fail "the body: $(cat body.sweep/results.csv)"
# the same file elsewhere is the same scene: nothing is run again
mkdir moved && mv flight.json body.json moved && mv body.sweep moved
expect 0 "2 of 2 runs finished, 0 of them now" sweep moved/body.json

# --- stand; runs that fail are rows with their message, and are not repeated unless asked for
cat >arch.json <<'END'
{"drystone_sweep": 1, "scene": "arch:shape=semicircle,stones=15", "command": "stand", "arguments": ["--quick"],
 "parameters": [{"generator": "thickness", "values": [0.08, 0.14, 7]}], "metrics": ["verdict"]}
END
expect 0 "3 of 3 runs finished, 3 of them now; 1 failed" sweep arch.json
grep -q '^1,0.08,FALLS,done' arch.sweep/results.csv && grep -q '^2,0.14,CAN STAND,done' arch.sweep/results.csv &&
  grep -q '^3,7,,failed,.*thickness' arch.sweep/results.csv && ok || fail "arches: $(cat arch.sweep/results.csv)"
expect 1 "0 of them now; 1 failed" sweep arch.json --strict
expect 0 "1 of them now; 1 failed" sweep arch.json --retry
sweep slow.json <<'END'
 "limit": 2, "metrics": ["steps"], "parameters": [{"option": "--time", "values": [0.05, 1e8]}]
END
expect 0 "1 failed" sweep slow.json
grep -q 'time limit of 2 s' slow.sweep/results.csv && ok || fail "no time limit: $(cat slow.sweep/results.csv)"

# --- interrupted: exit status 130, and the same command continues
sweep long.json <<'END'
 "metrics": ["state_hash"], "parameters": [{"option": "--time", "from": 0.1, "to": 600, "count": 12}]
END
timeout --foreground -s INT 0.5 "$program" sweep long.json -q 2>/dev/null
code=$?
expect 0 "12 of 12" sweep long.json
[ $code = 124 ] || [ $code = 130 ] && ok || fail "interrupted: $code"
[ "$(cat long.sweep/runs-*.jsonl | sort -u | wc -l)" = 12 ] && [ "$(cat long.sweep/runs-*.jsonl | wc -l)" = 12 ] && ok || fail "12 runs, once"

# --- killed with SIGKILL, workers, runs and all of it: nothing lost, nothing twice
runs=100 kills=6
if quick; then runs=36 kills=3; fi
check "kills" python3 "$source/scripts/sweep-soak.py" "$program" --runs $runs --kills $kills

# --- what it refuses, with the line
bad() { # TEXT: stdin is the file
  cat >bad.json
  expect 2 "$1" sweep bad.json
}
bad "bad.json:2:" <<<$'{"drystone_sweep": 1, "scene": "incline",\n "parametres": []}'
bad 'bad.json:1:32: there is no file and no generator' <<<'{"drystone_sweep": 1, "scene": "inkline", "parameters": [], "metrics": []}'
bad 'parameters[0]: give one of "generator", "set" and "option"' <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"values": [1]}], "metrics": ["time"]}'
bad 'give the "count"' <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"generator": "mu", "from": 0, "to": 1}], "metrics": ["time"]}'
bad "the report has no such field" <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"generator": "mu", "values": [1]}], "metrics": ["tim"]}'
bad 'no body named "cub"' <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"generator": "mu", "values": [1]}], "metrics": [{"name": "x", "body": "cub", "quantity": "x"}]}'
bad "the first run cannot be done" <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"generator": "nu", "values": [1]}], "metrics": ["time"]}'
bad "is for the sweep to give" <<<'{"drystone_sweep": 1, "scene": "incline", "arguments": ["--report=x"], "parameters": [{"generator": "mu", "values": [1]}], "metrics": ["time"]}'
bad "is the name of another column" <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"generator": "mu", "values": [1]}], "metrics": [{"name": "mu", "field": "time"}]}'
bad "more than 1000000 runs" <<<'{"drystone_sweep": 1, "scene": "incline", "parameters": [{"generator": "mu", "from": 0, "to": 1, "count": 2000}, {"generator": "slope", "from": 0, "to": 1, "count": 2000}], "metrics": ["time"]}'
expect 2 "give a sweep file" sweep
expect 2 "No such file" sweep nowhere.json
expect 2 "--show 10: there are 9 runs" sweep grid.json --show 10
expect 2 "cannot make the folder" sweep grid.json -o /nowhere/at/all
for file in "$source"/scenes/sweeps/*.json; do
  grep -q '"drystone_sweep"' "$file" && expect 0 "drystone " sweep "$file" --show 1
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
