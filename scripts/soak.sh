#!/bin/bash
# `make soak`: things that should stand, left standing for SOAK_TIME simulated seconds (600), two runs at a time; what is
# thrown and does not come to rest for less (see `seconds_of`).
#
# A scene passes when every step converged, no body's centre moved by 1e-5 m after the first second, the deepest overlap
# never grew beyond that of the first second (by 1e-9 m), and the creep over the last tenth would not use up that 1e-5 m
# in the whole time. Defaults everywhere: no setting is made for any scene. SOAK_SCENES chooses others.
# Deformable scenes in which things fall, slide or are pressed together first (see `falls`) pass when every step
# converged, no centre drifts by 1e-5 m over the last tenth of the time (drift_max: a woven patch that hangs on pegs goes
# on swinging on them), the deepest overlap at the end is less than 0.5 mm, and no energy was won.
# Those in which something goes on moving, or may fall out of the scene (see `moves`), pass when every step converged, the
# deepest overlap at the end is less than 0.5 mm, and no energy was won.
# Writes SOAK_TABLE (bench/results/soak.md); the reports stay in build/soak/. Exit 1 where a scene failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/field.sh

seconds=${SOAK_TIME:-600}
jobs=${SOAK_JOBS:-2}
table=${SOAK_TABLE:-bench/results/soak.md}
work=build/soak
if [ -n "${SOAK_SCENES:-}" ]; then
  read -r -a scenes <<<"$SOAK_SCENES"
else
  # shellcheck disable=SC2054
  scenes=(stack:count=10 stack:count=50 stack:count=10,top_mass=100
    card-house:levels=2 card-house:levels=3 card-house:levels=5 card-house:levels=7 card-house:levels=10
    arch:stones=25 arch:stones=101 arch:stones=501 wall arch-sp08:load=none card-house-sp08:blocks=0
    arch-sp08 card-house-sp08 soft-stack soft-jam hybrid chairs:over=0.9 composites:mu=0.5 dinosaurs
    jam chairs composites-thrown)
fi

# seconds_of SCENE: how long it is simulated. The patches of composites-thrown are all thrown within 0.45 s and have hit or
# passed the pegs after 1 s; then pieces fall. A second takes 300 to 500 s of processor time: 600 would take two to four days
seconds_of() {
  case "$1" in
    composites-thrown*) awk "BEGIN { print $seconds < 3 ? $seconds : 3 }" ;;
    *) echo "$seconds" ;;
  esac
}

report_of() { echo "$work/${1//[:,=]/_}.json"; }

run_one() {
  local report log status=0 begin=$SECONDS
  report=$(report_of "$1")
  log=${report%.json}.log
  rm -f "$report"
  build/drystone run "$1" --time "$(seconds_of "$1")" --threads 1 --strict --report "$report" >"$log" 2>&1 || status=$?
  echo "$status" >"${report%.json}.status"
  echo "  $1: exit $status after $((SECONDS - begin)) s"
}

# falls SCENE: whether it comes to rest only after a while
falls() {
  case "$1" in
    arch-sp08 | card-house-sp08 | chairs* | composites* | dinosaurs* | hybrid* | jam* | soft-jam* | soft-bounce*) true ;;
    *) false ;;
  esac
}

# moves SCENE: whether it need not come to rest at all
moves() {
  case "$1" in chairs | composites-thrown* | jam*) true ;; *) false ;; esac
}

# verdict SCENE: prints the row of the table and returns whether the scene stood
verdict() {
  local report status time why=""
  report=$(report_of "$1")
  time=$(seconds_of "$1")
  status=$(cat "${report%.json}.status")
  if [ ! -s "$report" ]; then
    echo "| $1 | | | | | | | | | | no report: exit $status, $(tail -n 1 "${report%.json}.log") |"
    return 1
  fi
  local share moved first deepest creep error ms mark=""
  share=$(field "$report" converged_share)
  moved=$(field "$report" displacement_settled_max)
  first=$(field "$report" penetration_first_second)
  deepest=$(field "$report" penetration_max)
  creep=$(field "$report" creep_max)
  error=$(field "$report" natural_error_max)
  ms=$(field "$report" total ms_mean)
  holds "$(field "$report" time) >= $time - 0.1" || why+=" ended early;"
  holds "$(field "$report" tolerance) <= 1e-8" || why+=" other tolerance;"
  holds "$share == 1" || why+=" not every step converged;"
  if falls "$1"; then
    mark="‡"
    moved=$(awk "BEGIN { print $(field "$report" drift_max) * $time / 10 }")
    moves "$1" || holds "$moved < 1e-5" || why+=" drifts;"
    holds "$(field "$report" penetration_last) < 5e-4" || why+=" overlaps;"
    if grep -q '"scripted motion"' "$report"; then # a floor that lifts what stands on it: 4e-5 of 1,900 J with chairs
      holds "$(field "$report" unexplained_gain_max) <= 1e-6 * $(field "$report" energy_start)" || why+=" won energy;"
    else
      holds "$(field "$report" energy_end) <= $(field "$report" energy_start)" || why+=" won energy;"
    fi
  else
    holds "$(field "$report" step) == 0.01" || why+=" other step;"
    holds "$moved < 1e-5" || why+=" moved;"
    holds "$deepest <= $first + 1e-9" || why+=" penetration grew;"
    holds "$creep * $time < 1e-5" || why+=" creeps;"
  fi
  [ "$status" = 0 ] || why+=" exit $status;"
  printf '| %s | %s | %s | %s | %s | %.1e | %.1e%s | %.1e | %.1e / %.1e | %.3f |%s |\n' "$1" "$time" \
    "$(field "$report" bodies)" "$(field "$report" contacts_max)" "$share" "$error" "$moved" "$mark" "$creep" "$first" "$deepest" "$ms" "${why:- stands}"
  [ -z "$why" ]
}

[ -x build/drystone ] || { echo "soak.sh: build/drystone is missing; run make" >&2; exit 2; }
mkdir -p "$work" "$(dirname "$table")"
echo "${#scenes[@]} scenes, $seconds simulated seconds each, $jobs at a time"
running=0
for ((i = ${#scenes[@]} - 1; i >= 0; i--)); do # the last ones take longest
  if [ "$running" -ge "$jobs" ]; then
    wait -n
    running=$((running - 1))
  fi
  run_one "${scenes[i]}" &
  running=$((running + 1))
done
wait

failed=0
{
  echo "# Things that should stand, $seconds simulated seconds"
  echo
  echo "Step 0.01 s (composites 0.003 s, thrown ones 0.001 s), tolerance 1e-8, one thread, defaults everywhere. Written by \`make soak\`;" \
    "limits in scripts/soak.sh. ‡ = comes to rest first: drift over the last tenth."
  echo
  echo "| scene | simulated, s | bodies | contacts | converged | natural-map error | moved after 1 s, m | creep, m/s |" \
    "penetration 1 s / all, m | ms per step | verdict |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|"
  for scene in "${scenes[@]}"; do
    verdict "$scene" || failed=$((failed + 1))
  done
} >"$table"
echo
cat "$table"
echo
echo "$((${#scenes[@]} - failed)) stand, $failed failed; table in $table"
[ "$failed" = 0 ]
