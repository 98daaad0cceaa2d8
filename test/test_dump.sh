#!/usr/bin/env bash
# drystone run --dump-problems: which islands become files, their names and number, and that they can be solved.
# Usage: bash test_dump.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
is() { if [ "$2" = "$3" ]; then ok; else fail "$1: $2, wanted $3"; fi; }

# refuses TEXT ARGUMENTS...: exit status 2 and TEXT in the message
refuses() {
  local text=$1 output code
  shift
  output=$(timeout 60 "$program" "$@" 2>&1)
  code=$?
  if [ "$code" -eq 2 ] && [[ $output == *"$text"* ]]; then ok; else fail "drystone $*: $code, $output"; fi
}
run() { timeout 120 "$program" run "$@" --quiet || fail "run $*: exit status $?"; }
files() { find "$1" -name '*.hdf5' | wc -l; }

refuses "--dump-when needs --dump-problems" run slide --dump-when every=3
refuses "'often' is not one of" run slide --dump-problems d --dump-when often
for when in every=0 every=x every= slowest=0 slowest=1001 slowest=1.5; do
  refuses "a whole number" run slide --dump-problems d --dump-when $when
done
refuses "cannot create the folder" run slide --dump-problems no/such/folder
touch file
refuses "is not a folder" run slide --dump-problems file
is "folders made by what was refused" "$(ls -d d 2>/dev/null)" ""

# every=N: one file an island; the name tells step and island
run stack:count=3 --time 0.1 --dump-problems every --dump-when every=4
is "every=4 of 10 steps" "$(cd every && echo *)" "stack-step000004-island0.hdf5 stack-step000008-island0.hdf5"
run dominoes:count=4 --time 0.01 --dump-problems islands --dump-when every=1
is "four dominoes" "$(files islands)" 4

# unconverged, the default: none, and all of them where the method is poor
run stack:count=3 --time 0.1 --dump-problems none
is "converged steps" "$(files none)" 0
run card-house:levels=2 --time 0.03 --method gauss-seidel --tol 1e-14 --integrator euler --dump-problems poor
is "unconverged steps" "$(files poor)" 3

# slowest=K: K files at the end, fewer where there were fewer
run pile:count=10 --time 0.3 --dump-problems slow --dump-when slowest=5
is "slowest=5" "$(files slow)" 5
run stack:count=2 --time 0.03 --dump-problems slow2 --dump-when slowest=5
is "slowest=5 of 3" "$(files slow2)" 3

# a limit, told once
output=$(timeout 120 "$program" run dominoes:count=30 --time 0.4 --dump-problems many --dump-when every=1 2>&1)
is "at most 1000 files" "$(files many)" 1000
is "reported once" "$(grep -c 'no more are written' <<<"$output")" 1
is "summary" "$(grep -c 'problems      1000 in many' <<<"$output")" 1

# the same run writes the same files
run stack:count=3 --time 0.1 --dump-problems again --dump-when every=4
if cmp -s every/stack-step000008-island0.hdf5 again/stack-step000008-island0.hdf5; then ok; else fail "files differ"; fi

# and they are solved, from the step's start and from zero
for option in "" --cold; do
  if timeout 120 "$program" solve every/*.hdf5 islands/*.hdf5 slow/*.hdf5 --strict $option >solve.txt 2>&1; then ok
  else fail "solve $option: $(cat solve.txt)"; fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
