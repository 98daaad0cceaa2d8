#!/usr/bin/env bash
# Start page, guides and the page on sweeps as a newcomer follows them: every ```sh line is run with the program, every
# ```python block with the package of the build, every ```json block is a sweep. Usage: bash test_guides.sh PROGRAM SOURCE
. "$(dirname "$0")/shell.sh"

mkdir bin
ln -s "$program" bin/drystone
export PATH=$folder/bin:$PATH
for python in python3 /usr/bin/python3; do "$python" -c 'import numpy' 2>/dev/null && break; done
export PYTHONPATH=$(dirname "$program")/python

# blocks LANGUAGE PAGE: its fenced blocks, each ended by a line "%%"
blocks() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`$1\$/d; s/^\`\`\`\$/%%/; p}" "$2"; }

for page in start guide-masonry guide-robotics guide-graphics guide-teaching guide-ladder sweep; do
  mkdir "$page" && cd "$page" || exit 1
  ln -s "$source/scenes" "$source/include" .
  mkdir build && ln -s "$(dirname "$program")" build/release
  [ "$page" = start ] && blocks c "$source/docs/$page.md" | grep -v '^%%$' >house.c
  count=0 text=
  while IFS= read -r line; do # JSON first: commands use it
    if [ "$line" = "%%" ]; then
      printf '%s' "$text" >"$([ "$page" = sweep ] && echo slide || echo map).json"
      text=
    else
      text+=$line$'\n'
    fi
  done < <(blocks json "$source/docs/$page.md")
  if [ -s map.json ] || [ -s slide.json ]; then check "$page: its sweep" drystone sweep ./*.json -q --strict; fi
  while IFS= read -r line; do
    [ "$line" = "%%" ] && continue
    case $line in *sweeps/arch.json*) line="$line --show 1" ;; esac # 806 runs; test_sweep_program has a small one
    check "$page: $line" timeout 120 bash -ec "$line"
    cat "$folder/check.log" >>said.txt
    count=$((count + 1))
  done < <(blocks sh "$source/docs/$page.md")
  while IFS= read -r line; do
    if [ "$line" = "%%" ]; then
      if "$python" -c 'import numpy' 2>/dev/null; then
        check "$page: Python: $text" "$python" -c "$text"
        cat "$folder/check.log" >>said.txt
      fi
      count=$((count + 1)) text=
    else
      text+=$line$'\n'
    fi
  done < <(blocks python "$source/docs/$page.md")
  [ $count -gt 0 ] && ok || fail "$page: no commands"
  cd ..
done

# what the pages say comes out; lines of "start here" that are not what is printed are commands to be typed
while IFS= read -r line; do
  case $line in "" | %% | make* | export* | "python3 -m"*) continue ;; esac
  if [[ $line != *True ]] || "$python" -c 'import numpy' 2>/dev/null; then
    grep -qF -- "${line%...}" start/said.txt && ok || fail "start: nothing prints '$line'"
  fi
done < <(blocks text "$source/docs/start.md")
[ -s start/house.png ] && [ -s guide-masonry/arch.png ] && [ -s guide-masonry/map.sweep/map.svg ] &&
  [ -s guide-graphics/stack.glb ] && [ -s guide-teaching/roll.csv ] && ok || fail "files are missing"
grep -q 'displacement  0.0439' guide-teaching/slides.txt && ! grep -q 'displacement  0.0' guide-teaching/stays.txt && ok ||
  fail "the cube on the slope: $(grep displacement guide-teaching/s*.txt)"

# --- the site: it has no dead link, and its search finds things
check "the site" python3 "$source/site/build.py" "$folder/site"
cat check.log
[ "$(find site -name '*.html' | wc -l)" -ge 40 ] && ok || fail "few pages: $(find site -name '*.html' | wc -l)"
grep -q 'ds_stepper_create' site/c-drystone.html && grep -q 'Simulation' site/python-reference.html &&
  grep -q 'friction_samples' site/scene-reference.html && ok || fail "the references are not complete"
if command -v node >/dev/null; then
  cat >search.js <<'END'
const { find } = require(process.argv[2] + "/search.js");
eval(require("fs").readFileSync(process.argv[2] + "/search-index.js", "utf8").replace("const searchIndex", "globalThis.searchIndex"));
const wanted = [["latin hypercube", "sweep.html"], ["ds_step", "c-drystone.html"], ["restitution law", "motion.html"], ["--deadline", "touch"]];
for (const [query, page] of wanted)
  if (!find(searchIndex, query).some((e) => e[2].startsWith(page) || e[2].includes(page))) { console.log(query, find(searchIndex, query).map((e) => e[2])); process.exit(1); }
END
  check "the search" node search.js "$folder/site"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
