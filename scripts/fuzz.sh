#!/bin/bash
# Runs the fuzz targets of build/fuzz side by side for FUZZ_TIME seconds. The corpus grows in build/fuzz/corpus; an input that
# breaks something is kept as build/fuzz/crash-*, and the script fails.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/fuzz
seconds=${FUZZ_TIME:-600}
trap 'rm -f /dev/shm/fuzz_problem_*.hdf5' EXIT # what a crash left
"$build/fuzz/fuzz-seeds" "$build/seeds"
# The bad problems of the tests are good seeds too.
find test/bad_problems -name '*.dat' -exec cp {} "$build/seeds/text/" \;

# run TARGET SEEDS LONGEST_INPUT
run() {
  echo "== $1, $seconds s"
  mkdir -p "$build/corpus/$2"
  "$build/fuzz/$1" -max_total_time="$seconds" -max_len="$3" -timeout=120 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/crash-" -verbosity=1 "$build/corpus/$2" "$build/seeds/$2" 2>&1 |
    grep -v -E '^#[0-9]+.*(NEW|REDUCE|RELOAD|pulse)|NEW_FUNC|# Uses:' # progress of libFuzzer, thousands of lines
}
run fuzz_problem text 16384 &
text=$!
run fuzz_mesh mesh 4096 &
mesh=$!
run fuzz_tets tets 4096 &
tets=$!
status=0
run fuzz_problem_hdf5 hdf5 8192 || status=$?
wait "$text" || status=$?
wait "$mesh" || status=$?
wait "$tets" || status=$?
exit "$status"
