#!/bin/bash
# docs/paper.md is what bench/results/paper.json says, and no cell of it is empty.
# Usage: test_paper.sh PROGRAM SOURCE_DIR
command -v python3 >/dev/null || exit 77
. "$(dirname "$0")/shell.sh"
paper() { python3 "$source/scripts/paper.py" "$@"; }

check "the document" paper --check
cat check.log

# A copy of the script in which a claim has changed writes another document.
mkdir -p copy/scripts copy/docs copy/bench
cp "$source"/scripts/paper*.py copy/scripts
cp -r "$source/bench/results" copy/bench
cp "$source/docs/paper.md" copy/docs
check "the copy" python3 copy/scripts/paper.py --check
sed -i 's/Baumgarte penetrates/Baumgarte never penetrates/' copy/scripts/paper_claims.py
output=$(python3 copy/scripts/paper.py --check)
if [ $? -eq 1 ] && [[ $output == *"is not what bench/results/paper.json says"* ]]; then ok; else fail "a changed claim: $output"; fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
