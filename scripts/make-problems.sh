#!/usr/bin/env bash
# Makes the project's own set of contact problems, problems/*.hdf5 and the table of problems/README.md, from scenes.
# usage: scripts/make-problems.sh PROGRAM [FOLDER [NAME...]]     FOLDER: default problems/
#
# With names only those are made, and their rows are printed instead of written into the table. Random problems come
# from make-random-problem, built beside the tests in the folder of the program.
#
# A problem is one island of one step. Steps were chosen because the solver failed or worked hard there; how a scene
# moves depends on every solve before, so that another version of the solver may make other problems of the same kind.
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
folder=$(realpath -m "${2:-$root/problems}")
only=("${@:3}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
cd "$root"
rows=""

wanted() { [ "${#only[@]}" -eq 0 ] || [[ " ${only[*]} " == *" $1 "* ]]; }

# row NAME WHY MADE_BY: of the table, for a file that is there
row() {
  local json
  json=$("$program" solve "$folder/$1.hdf5" --cold --rank --json)
  field() { sed -n "s/.*\"$1\": \([0-9]*\|null\)[,}].*/\1/p" <<<"$json"; }
  rows+="| \`$1\` | $(field contacts) | $(field dof | sed s/null/-/) | $(field rank) | $2 | $3 |"$'\n'
  echo "$1: $(stat -c %s "$folder/$1.hdf5") bytes"
}

# problem NAME STEP ISLAND H WHY SOURCE [OPTIONS...]: island ISLAND of step STEP, H s long, of a run
problem() {
  local name=$1 step=$2 island=$3 h=$4 why=$5 time file
  shift 5
  wanted "$name" || return 0
  time=$(awk "BEGIN { printf \"%.9g\", $step * $h }")
  rm -rf "$work/dump"
  "$program" run "$@" --time "$time" --threads 1 --dump-problems "$work/dump" --dump-when "every=$step" --quiet
  file=$(ls "$work"/dump/*-step"$(printf %06d "$step")"-island"$island".hdf5)
  mv "$file" "$folder/$name.hdf5"
  row "$name" "$why" "\`${*//$root\//}\`, step $step$([ "$island" = 0 ] || echo ", island $island")"
}

# random_problem NAME FAMILY NUMBER WHY: one of the random families
random_problem() {
  wanted "$1" || return 0
  "$(dirname "$program")/test/make-random-problem" "$folder/$1.hdf5" family="$2" number="$3"
  row "$1" "$4" "\`make-random-problem family=$2 number=$3\`"
}

# --- structures that stand
problem card-house 1 0 0.01 "stands by friction alone; cold start" card-house:levels=5
problem arch-501 1 0 0.01 "a chain of 501 stones: what one foot does reaches the other" arch:stones=501,contacts_per_face=4
problem planks 1 0 0.01 "seven times more rows than rank" scenes/problems/planks.json
problem mass-top 1 0 0.01 "10,000 kg on seven cubes of 1 kg" stack:count=8,top_mass=10000
problem mass-shaken 216 0 0.01 "the same on a shaking floor" stack:count=8,top_mass=10000,shake=0.1,frequency=3
problem mass-alternating 150 0 0.01 "10,000 kg and 1 kg in turn, on a shaking floor" \
  stack:count=8,shake=0.1,frequency=3 --set bodies.cube2.mass=10000 --set bodies.cube4.mass=10000 --set bodies.cube6.mass=10000

# --- struck and shaken
problem card-house-falling 7 0 0.01 "mu too small to stand: every card slides" card-house:levels=4,mu=0.35
problem card-house-struck 297 0 0.01 "after a block fell on it" card-house:levels=4,blocks=2
for step in 176 195 206 242; do
  problem card-house-shaken-$step $step 0 0.01 "collapsing on a shaking floor" card-house:levels=4,shake=0.02,frequency=5
done
for step in 2789 2815; do
  problem card-house-sp08-$step $step 0 0.001 "SP08 figure 7, struck by the first block" card-house-sp08
done
problem arch-struck 110 0 0.01 "SP08's arch, a block thrown at its leg" arch-sp08:load=leg --set options.contacts_per_face=8
problem arch-shaken 138 0 0.01 "joints open and slide" arch:stones=25,shake=0.1,frequency=3
problem wall-shaken 157 0 0.01 "bricks shear past each other, patches of 8 points" wall:rows=5,bricks=4,shake=0.1,frequency=4
problem planks-struck 8 0 0.01 "the impact of a ball, nineteen times more rows than rank" scenes/problems/planks.json
problem log-house 71 0 0.005 "crossing cylinders, one point each, struck by a boulder" scenes/problems/log-house.json
problem tool 36 0 0.01 "a scripted tool pushes blocks against each other" scenes/problems/tool.json
for step in 18 28; do
  problem wall-struck-$step $step 0 0.01 "hit by a ball: most bricks slide" wall:rows=6,bricks=5,ball_speed=15
done
problem wall-struck-large 21 0 0.01 "the same, 48 bricks" wall:rows=8,bricks=6,ball_speed=20,ball_height=0.4
for step in 3 9; do
  problem wall-uneven-$step $step 0 0.01 "bricks of different sizes, a little askew, hit by a ball" \
    wall:rows=5,bricks=5,jitter=1e-3,tilt=0.5,size_jitter=0.01,seed=4,ball_speed=12
done
problem card-house-ball-26 26 0 0.01 "cards a little askew, hit by a ball" card-house:levels=4,jitter=1e-4,tilt=0.2,ball_speed=3
problem card-house-ball-41 41 0 0.01 "the same with three storeys, falling" \
  card-house:levels=3,jitter=2e-4,tilt=0.5,seed=1,ball_speed=3
problem card-house-ball-13 13 0 0.01 "the same, just hit" card-house:levels=3,jitter=2e-4,tilt=0.5,seed=2,ball_speed=3
problem vault-uneven 4 0 0.01 "stones a little askew settle: few points of a joint touch" vault:courses=9,stones=3,jitter=5e-4,tilt=0.3
problem vault-struck-4 4 0 0.01 "stones more askew settle" \
  vault:courses=7,stones=3,jitter=1e-3,tilt=0.5,seed=1,ball_speed=15,ball_mass=30
problem vault-struck-42 42 0 0.01 "the same, after a ball of 30 kg has hit it" \
  vault:courses=7,stones=3,jitter=1e-3,tilt=0.5,seed=3,ball_speed=15,ball_mass=30
problem dome-uneven 4 0 0.01 "a dome of stones askew settles" vault:shape=dome,courses=4,stones=6,jitter=1e-3,tilt=0.5,seed=3
problem arch-uneven-5 5 0 0.01 "stones a little askew settle" arch:stones=15,jitter=1e-3,tilt=0.5,seed=3
problem arch-uneven-24 24 0 0.01 "stones of different sizes, four points a joint" \
  arch:stones=21,size_jitter=0.02,tilt=0.5,contacts_per_face=4
for step in 112 146; do
  problem jenga-$step $step 0 0.01 "a block is pulled out under load, on the side of a tower" scenes/problems/jenga.json
done
for step in 83 110; do
  problem jenga-uneven-$step $step 0 0.01 "the same, blocks of different sizes" scenes/problems/jenga-uneven.json
done

# --- heaps
problem capsules 30 0 0.01 "falling heap, lines of contact" pile:count=40,kind=capsules
problem rocks 42 0 0.01 "convex hulls, mu = 1" pile:count=30,kind=rocks,mu=1
for step in 57 103 130 158; do
  problem rocks-10-$step $step 0 0.01 "convex hulls, mu = 10: friction locks whole groups" pile:count=25,kind=rocks,mu=10
done
problem spheres-box 93 0 0.01 "balls of many sizes in a box: no redundancy, force chains" scenes/problems/spheres-box.json
problem jammed-tube-7 7 6 0.01 "wedged in a tube, mu = 1, under a falling ram" scenes/problems/jammed-tube.json
problem jammed-tube-29 29 0 0.01 "the same, all of it jammed" scenes/problems/jammed-tube.json
problem mu-0 22 0 0.01 "no friction: W's tangents play no part" pile:count=20,seed=3,mu=0
problem mu-0.1 38 0 0.01 "the same heap, mu = 0.1" pile:count=20,seed=3,mu=0.1
problem mu-1 31 0 0.01 "mu = 1" pile:count=20,seed=3,mu=1
problem mu-3 33 0 0.01 "mu = 3" pile:count=20,seed=3,mu=3
problem mu-10 29 0 0.01 "mu = 10" pile:count=20,seed=3,mu=10
problem mu-10-island 99 0 0.01 "mu = 10, five bodies" pile:count=20,seed=3,mu=10

# --- random
random_problem massratio-48 massratio 48 "a tower, light bodies under heavy ones"
random_problem massratio-82 massratio 82 "a tower, light bodies under heavy ones"
random_problem redundant-250 redundant 250 "tens of points in every face"
random_problem redundant-283 redundant 283 "tens of points in every face"
random_problem pebbles-80 pebbles 80 "stones that touch on normals of their own"
random_problem pebbles-173 pebbles 173 "stones that touch on normals of their own"
random_problem wedge-227 wedge 227 "a stack between driven walls, with a way out"
random_problem gears-266 gears 266 "a ring of inclined flanks, W alone"
random_problem gears-295 gears 295 "a ring of inclined flanks, W alone"

# --- paradoxes
problem painleve 1 0 0.001 "friction presses the sliding rod into the ground" scenes/problems/painleve.json
problem painleve-lifting 1 0 0.001 "two solutions: it flies off, or it is stopped" scenes/problems/painleve-lifting.json
problem painleve-rake 1 0 0.001 "six such rods joined" scenes/problems/painleve-rake.json

# --- without solution
problem infeasible-wedge 1 0 0.01 "two walls close on a block: no velocity keeps out of both" scenes/problems/wedge.json
problem infeasible-wedge-friction 1 0 0.01 "a ball could escape, but friction above tan 10° holds it" \
  scenes/problems/wedge-friction.json
random_problem infeasible-wedge-stack wedge 175 "a stack between walls that close, with no way out"

# names given: the rows are for whoever asked
if [ "${#only[@]}" -gt 0 ]; then
  printf %s "$rows"
  exit 0
fi

# the table between the marks of the README
if [ -f "$folder/README.md" ]; then
  { echo "| problem | contacts | dof | rank | what makes it hard | made by |"
    echo "|---|---|---|---|---|---|"
    printf %s "$rows"; } >"$work/table"
  awk -v table="$work/table" '
    /<!-- end -->/ { skip = 0 }
    !skip { print }
    /<!-- table -->/ { skip = 1; while ((getline line < table) > 0) print line }' "$folder/README.md" >"$work/README.md"
  mv "$work/README.md" "$folder/README.md"
fi
