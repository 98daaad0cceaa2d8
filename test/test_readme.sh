#!/usr/bin/env bash
# README.md as a newcomer follows it: its C block is compiled against the library of the build and run, and every line
# of its ```sh blocks is run where a fresh clone would be, `make` excepted: that is how the program came here. `view`
# is ended after a while, `film` makes few frames. Usage: bash test_readme.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"

for name in examples include problems scenes; do ln -s "$source/$name" .; done
mkdir build
ln -s "$program" build/drystone
ln -s "$(dirname "$program")" build/release
# blocks LANGUAGE: the lines of all fenced blocks in that language
blocks() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/!p}" "$source/README.md"; }
blocks c >house.c

count=0
while IFS= read -r line; do
  case $line in
    "" | make*) continue ;;
    *" view "*) check "$line" timeout --foreground --preserve-status -s INT 5 bash -c "${line%%#*} --no-open" ;;
    *" film "*)
      command -v chromium >/dev/null && command -v ffmpeg >/dev/null || continue
      check "$line" bash -c "${line%%#*} --rate 2"
      ;;
    *) check "$line" bash -ec "$line" ;;
  esac
  count=$((count + 1))
done < <(blocks sh)
[ "$count" -ge 10 ] || fail "only $count commands found in README.md"
for made in wall.h5 wall.png wall-plot.png wall.json part.png house; do
  [ -s "$made" ] && ok || fail "$made was not made"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
