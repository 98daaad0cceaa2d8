#!/bin/bash
# Folders include each other as docs/layout.md says, without a cycle, and no function is longer than a screen or without a caller; and the
# checks find what breaks that.
# Usage: test_layout.sh PROGRAM SOURCE_DIR
command -v python3 >/dev/null || exit 77
. "$(dirname "$0")/shell.sh"
layout() { python3 "$source/scripts/check-includes.py" "$@"; }

lengths() { python3 "$source/scripts/check-functions.py" "$@"; }
path() { python3 "$source/scripts/check-path.py" "$@"; }
dead() { python3 "$source/scripts/check-dead.py" "$@"; }

check "the layout" layout "$source"
cat check.log
check "the faults of make mutate" python3 "$source/scripts/mutate.py" --check
check "the lengths" lengths "$source"
cat check.log

check "the path to a factorization" path "$source"
cat check.log

constants=$(python3 "$source/scripts/count-constants.py" "$source/src/project")
echo "$constants named constants of the solver"
check "at most 30 named constants" [ "$constants" -le 30 ]

check "functions that nothing calls" dead "$source"
cat check.log

# A copy, in which one thing is wrong at a time.
mkdir copy copy/docs
cp -r "$source/src" "$source/cli" copy
cp "$source/docs/layout.md" copy/docs
check "the copy" layout copy
wrong() {
  local name=$1 text=$2 tool=${3:-layout} output
  output=$($tool copy)
  if [ $? -eq 1 ] && [[ $output == *"$text"* ]]; then ok; else fail "$name: $output"; fi
}
echo '#include "body/scene.h"' >copy/src/base/upwards.h
wrong "an include upwards" "src/base/upwards.h: includes body/scene.h, but base may not include body"
rm copy/src/base/upwards.h
sed -i 's/^| `base`.*/| `base` | `body` |/' copy/docs/layout.md
wrong "a cycle in the table" "a cycle, base -> body -> base"
cp "$source/docs/layout.md" copy/docs
mkdir copy/src/attic
touch copy/src/attic/old.c
wrong "a folder that is not in the table" "no row for attic"

{ printf 'static int many(int a,\n                int b) {\n'; yes '  a += b;' | head -78; printf '  return a;\n}\n'; } >copy/src/la/long.c
wrong "a long function" "src/la/long.c:1: many has 82 lines, more than 80" lengths

sed -i 's/ds_step_find/ds_step_seek/g' copy/src/step.c
wrong "a path that has changed" "step.c: ds_step does not call ds_step_find" path

cp -r "$source/include" "$source/test" copy
echo 'int idle_one(int a) { return a; }' >copy/src/la/idle.c
wrong "a function that nothing calls" "src/la/idle.c: idle_one is called by nothing" dead
echo 'int other(int a) { return idle_one(a); }' >>copy/src/la/idle.c
wrong "a function of one file" "src/la/idle.c: idle_one is used in its own file only" dead

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
