# What the tests of the program share; sourced. Sets program and source from the test's arguments, goes to a folder of
# its own that is gone afterwards and holds the cache of solids, and counts in passed and failed.
set -u
program=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export DRYSTONE_CACHE=$folder/cache
passed=0
failed=0

fail() {
  echo "FAIL $*"
  failed=$((failed + 1))
}
ok() { passed=$((passed + 1)); }

# expect CODE TEXT ARGUMENTS...: the program's exit code, and TEXT (unless empty) in what it says on stdout or stderr.
expect() {
  local want=$1 text=$2 output code
  shift 2
  output=$(timeout 300 "$program" "$@" 2>&1 </dev/null)
  code=$?
  if [ "$code" -ne "$want" ]; then
    fail "drystone $*: exit code $code, wanted $want: $output"
  elif [[ $output != *"$text"* ]]; then
    fail "drystone $*: wanted '$text' in: $output"
  else
    ok
  fi
}

# check NAME COMMAND...: the command succeeds.
check() {
  local name=$1
  shift
  if "$@" >"$folder/check.log" 2>&1; then ok; else fail "$name: $* ($(head -3 "$folder/check.log"))"; fi
}

quick() { [ "${DRYSTONE_TEST_QUICK:-0}" != 0 ]; }
# The files of problems/; shortened tests leave the largest out, which takes longer than all others together.
own_problems() {
  local most=99999k
  if quick; then most=200k; fi
  find "$source/problems" -name '*.hdf5' -size "-$most" | sort
}

# What `drystone solve` has to say of a problem of that name at 1e-8.
own_outcome() {
  case $1 in
    # friction holds what could escape: no solution exists, but a velocity that keeps out of both walls does
    infeasible-wedge-friction) echo jam ;;
    infeasible-*) echo "no solution" ;;
    *) echo solved ;;
  esac
}
# is_own_outcome NAME OUTCOME
is_own_outcome() {
  [ "$2" = "$(own_outcome "$1")" ]
}

# refused COMMAND FILE TEXT...: `PROGRAM COMMAND FILE` ends with 2, and every TEXT stands in what it says.
refused() {
  local command=$1 file=$2 output code text
  shift 2
  output=$(timeout 60 "$program" "$command" "$file" 2>&1 </dev/null)
  code=$?
  if [ "$code" -ne 2 ]; then
    fail "$file: exit code $code, wanted 2: $output"
    return
  fi
  for text in "$@"; do
    if [[ $output != *"$text"* ]]; then
      fail "$file: wanted '$text' in: $output"
      return
    fi
  done
  ok
}
