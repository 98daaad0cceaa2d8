#!/usr/bin/env bash
# Makes the project's own set of contact problems, problems/*.hdf5 and the table of problems/README.md, from scenes.
# usage: scripts/make-problems.sh PROGRAM [FOLDER]     FOLDER: default problems/
#
# A problem is one island of one step. Steps were chosen because the solver failed or worked hard there; how a scene
# moves depends on every solve before, so that another version of the solver may make other problems of the same kind.
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
folder=$(realpath -m "${2:-$root/problems}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
cd "$root"
rows=""

# problem NAME STEP ISLAND H WHY SOURCE [OPTIONS...]: island ISLAND of step STEP, H s long, of a run
problem() {
  local name=$1 step=$2 island=$3 h=$4 why=$5 time file json
  shift 5
  time=$(awk "BEGIN { printf \"%.9g\", $step * $h }")
  rm -rf "$work/dump"
  "$program" run "$@" --time "$time" --threads 1 --dump-problems "$work/dump" --dump-when "every=$step" --quiet
  file=$(ls "$work"/dump/*-step"$(printf %06d "$step")"-island"$island".hdf5)
  mv "$file" "$folder/$name.hdf5"
  json=$("$program" solve "$folder/$name.hdf5" --cold --rank --json)
  field() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" <<<"$json"; }
  rows+="| \`$name\` | $(field contacts) | $(field dof) | $(field rank) | $why | \`${*//$root\//}\`, step $step"
  rows+="$([ "$island" = 0 ] || echo ", island $island") |"$'\n'
  echo "$name: $(stat -c %s "$folder/$name.hdf5") bytes"
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

# --- paradoxes
problem painleve 1 0 0.001 "friction presses the sliding rod into the ground" scenes/problems/painleve.json
problem painleve-lifting 1 0 0.001 "two solutions: it flies off, or it is stopped" scenes/problems/painleve-lifting.json
problem painleve-rake 1 0 0.001 "six such rods joined" scenes/problems/painleve-rake.json

# --- without solution
problem infeasible-wedge 1 0 0.01 "two walls close on a block: no velocity keeps out of both" scenes/problems/wedge.json
problem infeasible-wedge-friction 1 0 0.01 "a ball could escape, but friction above tan 10° holds it" \
  scenes/problems/wedge-friction.json

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
