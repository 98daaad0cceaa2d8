#!/usr/bin/env bash
# drystone solve from end to end: table, JSON, files written and read again, exit codes; then our own problems, all of
# which reach 1e-8 or, where the name starts with "infeasible", are told to have no solution (own_outcome in shell.sh);
# then those of the folder DRYSTONE_PROBLEMS, where set.
# Usage: bash test_solve.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
# field NAME: of one JSON object on stdin
field() { sed -n "s/^.*\"$1\": \\(\"[^\"]*\"\\|[^,}]*\\)[,}].*\$/\\1/p"; }
# at_most A B: as numbers
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a != "null" && a + 0 <= b + 0) }'; }

# One contact that slides, by hand: W = 1, mu = 0.5, q = (-1, 2, 0). The tangent stops at -mu r_N t: r = (1, -0.5, 0).
printf '3 1\n0 3 3\n3 3\n1 0 0 0 1 0 0 0 1\n-1.0 2.0 0.0\n0.5\n' >slide.dat
# A wedge pushed apart: two normals against each other, both approaching.
printf '2 2\n0 2 2\n2 2\n1 0 0 1\n0 2 4\n2 4\n1 0 0 1 -1 0 0 1\n0.0 0.0\n-1.0 0.0 -1.0 0.0\n0.0 0.0\n' >wedge.dat
# The same sliding contact with an asymmetric W.
printf '3 1\n0 3 3\n3 3\n1 0.01 0 0 1 0 0 0 1\n-1.0 2.0 0.0\n0.5\n' >skew.dat
printf '3 1\n0 3 3\n3 3\n1 0 0 0 nan 0 0 0 1\n-1.0 2.0 0.0\n0.5\n' >bad.dat

# --- arguments
expect 2 "give one or more problem files" solve
expect 2 "expected more than 0" solve slide.dat --tol 0
expect 2 "coupled|gauss-seidel|staggered" solve slide.dat --method newton
expect 2 "out of range" solve slide.dat --max-iterations 0
expect 2 "did you mean --asymmetric?" solve slide.dat --asymetric
expect 2 "exactly one problem file" solve slide.dat skew.dat --write-solution x.hdf5
expect 2 "exactly one problem file" solve slide.dat skew.dat --write-problem x.hdf5
expect 2 "different files" solve slide.dat --write-solution x.hdf5 --write-problem x.hdf5
expect 0 "--write-solution" help solve
expect 0 "solve" help

# --- the table
expect 0 "slide.dat        1       -      -       1  solved" solve slide.dat
expect 0 "slide.dat        1       -      3       1  solved" solve slide.dat --rank
expect 0 "W is asymmetric by" solve skew.dat
expect 0 "solved" solve slide.dat --method gauss-seidel --tol 1e-6 --threads 2
expect 0 "no solution" solve wedge.dat
expect 1 "no solution" solve wedge.dat --strict
expect 1 "1 of 3 problems have no certified solution" solve slide.dat wedge.dat skew.dat --strict
expect 0 "solved" solve slide.dat --strict
expect 2 "bad.dat:4: expected a value of a dense matrix, a finite number, found 'nan'" solve bad.dat
expect 2 "skew.dat" solve slide.dat bad.dat skew.dat
expect 2 "slide.dat" solve wedge.dat bad.dat slide.dat --strict
output=$("$program" solve slide.dat bad.dat skew.dat 2>/dev/null)
check "the others are solved" test "$(grep -c ' solved ' <<<"$output")" -eq 2
"$program" solve slide.dat skew.dat >/dev/null 2>err.txt
check "silent on stderr when piped" test ! -s err.txt

# --- JSON
"$program" solve --json slide.dat skew.dat wedge.dat >rows.json
check "one object a line" test "$(wc -l <rows.json)" -eq 3
for name in file form dimension contacts dof rank islands converged outcome natural_error siconos_error asymmetry \
  asymmetric_error cone_violation complementarity dissipation_error approach_velocity residual iterations factorizations \
  time_ms path; do
  check "JSON has $name" test "$(grep -c "\"$name\": " rows.json)" -eq 3
done
if command -v python3 >/dev/null; then
  check "every line is JSON" python3 -c 'import json, sys; [json.loads(line) for line in open("rows.json")]'
fi
row=$(sed -n 1p rows.json)
check "file" test "$(field file <<<"$row")" = '"slide.dat"'
check "form" test "$(field form <<<"$row")" = '"local"'
check "contacts" test "$(field contacts <<<"$row")" = 1
check "converged" test "$(field converged <<<"$row")" = true
check "no rank unasked" test "$(field rank <<<"$row")" = null
check "a rank on request" test "$("$program" solve --rank --json slide.dat | field rank)" = 3
check "natural_error" at_most "$(field natural_error <<<"$row")" 1e-8
check "no asymmetry" test "$(field asymmetry <<<"$row")" = 0
row=$(sed -n 2p rows.json)
check "an asymmetry is told" at_most 1e-4 "$(field asymmetry <<<"$row")"
check "and its error" at_most 1e-5 "$(field asymmetric_error <<<"$row")"
row=$("$program" solve --json --asymmetric skew.dat)
check "--asymmetric corrects" at_most "$(field asymmetric_error <<<"$row")" 1e-8
row=$(sed -n 3p rows.json)
check "no solution is an outcome" test "$(field outcome <<<"$row")" = '"no solution"'
check "and not converged" test "$(field converged <<<"$row")" = false
check "a global problem has degrees of freedom" test "$(field dof <<<"$row")" = 2

# --- files: what is written is solved to the same bits
"$program" solve --json slide.dat --write-solution s.hdf5 --write-problem p.dat >/dev/null
check "a solution" test -s s.hdf5
check "a problem" test -s p.dat
expect 2 "ends in .hdf5 or .h5" solve slide.dat --write-solution s.dat
expect 2 "ends in .hdf5, .h5 or .dat" solve slide.dat --write-problem p.txt
expect 2 "No such file" solve slide.dat --write-problem no/such.hdf5
check "nothing else is left" test "$(find . -name '*.part*' | wc -l)" -eq 0
same() { # same FILE FILE: errors and counts of both, without name and time
  diff <("$program" solve --json "$1" | sed 's/"file": "[^"]*", //; s/"time_ms": [^,]*, //') \
    <("$program" solve --json "$2" | sed 's/"file": "[^"]*", //; s/"time_ms": [^,]*, //')
}
check "the solution's file is the same problem" same slide.dat s.hdf5
check "the text is the same problem" same slide.dat p.dat
# M = 1 without a hint at its bodies falls apart into single rows: the bodies are found again, and the work is the same
"$program" solve "$source/problems/wall-shaken.hdf5" --cold --write-problem wall.dat >/dev/null
work=$("$program" solve --json --cold "$source/problems/wall-shaken.hdf5" | field factorizations)
check "bodies are found without a hint" test "$work" -gt 0 -a "$("$program" solve --json wall.dat | field factorizations)" = "$work"

# --- sets of problems: solve_set NAME FOLDER
solve_set() {
  local name=$1 count=0 unsolved=0 file error outcome row
  shift
  timeout 500 "$program" solve --json "$@" >set.json 2>err.txt || fail "$name: $(head -3 err.txt)"
  while IFS= read -r row; do
    file=$(field file <<<"$row")
    error=$(field natural_error <<<"$row")
    outcome=$(field outcome <<<"$row")
    count=$((count + 1))
    if is_own_outcome "$(basename "$file" .hdf5\")" "${outcome//\"/}"; then
      [ "$outcome" != '"solved"' ] && continue
      at_most "$error" 1e-8 && continue
    fi
    unsolved=$((unsolved + 1))
    fail "$name: $file: $outcome, natural_error $error"
  done <set.json
  if [ "$count" -ne $# ]; then fail "$name: $# files, $count results"; else ok; fi
  echo "$name: $((count - unsolved)) of $count as they should be"
}
mapfile -t files < <(own_problems)
solve_set "our own problems" "${files[@]}"

# what is dumped keeps its bodies and its order: written again and solved again, it is the same
"$program" solve "$source/problems/card-house.hdf5" --write-problem again.hdf5 >/dev/null
check "a problem written again is the same" same "$source/problems/card-house.hdf5" again.hdf5

if [ -n "${DRYSTONE_PROBLEMS:-}" ] && [ -d "$DRYSTONE_PROBLEMS" ] && ! quick; then
  mapfile -t files < <(find "$DRYSTONE_PROBLEMS" -name '*.hdf5' -o -name '*.dat' | sort)
  [ "${#files[@]}" -eq 0 ] || solve_set "DRYSTONE_PROBLEMS" "${files[@]}"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
