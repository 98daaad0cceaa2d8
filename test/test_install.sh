#!/bin/bash
# The installed library as an outsider meets it: the build of the program is installed to a fresh prefix, moved, and used
# by test/outside through find_package and through pkg-config; the program in docs/api.md is compiled and run; the headers
# compile as C++. A build of the library alone is configured only: the thread sanitizer's is one, with its tests.
# Usage: test_install.sh PROGRAM SOURCE_DIR
set -uo pipefail
build=$(cd "$(dirname "$1")" && pwd)
source=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# check NAME COMMAND...: runs it silently; on failure shows what it said
check() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name: $*"
    tail -n 30 "$work/log"
  fi
}
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

check "configure without program and tests" cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=None \
  -DDRYSTONE_TOOLS=OFF -DDRYSTONE_TESTS=OFF
check "no library of the program is looked for" bash -c "! grep -qE '^(HDF5|PNG|ZLIB)_' '$work/build/CMakeCache.txt'"
check "install" cmake --install "$build" --prefix "$work/first"
[ "$failed" = 0 ] || finish
mv "$work/first" "$work/prefix"
package=$(find "$work/prefix" -name drystone.pc)
export PKG_CONFIG_PATH=${package%/*}

check "find_package: configure" cmake -S "$source/test/outside" -B "$work/outside" -G Ninja \
  -DCMAKE_PREFIX_PATH="$work/prefix"
check "find_package: build" cmake --build "$work/outside"
check "find_package: run" "$work/outside/outside"

read -r -a flags <<<"$(pkg-config --cflags --libs drystone-scenes)"
check "pkg-config: version" pkg-config --atleast-version=0.1 drystone
read -r -a core <<<"$(pkg-config --cflags --libs drystone)"
check "the core alone: build" cc -std=c17 -Wall -Wextra -Werror "$source/examples/hello.c" -o "$work/hello" "${core[@]}"
check "the core alone: run" "$work/hello"
check "the core alone: all of it" cc "$source/examples/hello.c" -o "$work/whole" -Wl,--whole-archive "${core[@]}" \
  -Wl,--no-whole-archive
check "pkg-config: build" cc -std=c17 -Wall -Wextra -Werror "$source/test/outside/outside.c" -o "$work/outside_pc" \
  "${flags[@]}"
check "pkg-config: run" "$work/outside_pc"

# docs/api.md: its C blocks, in order, are one program
sed -n '/^```c$/,/^```$/{/^```/!p}' "$source/docs/api.md" >"$work/api.c"
check "docs/api.md: build" cc -std=c17 -Wall -Wextra -Werror "$work/api.c" -o "$work/api" "${flags[@]}"
check "docs/api.md: run" "$work/api"
sed -n '/^```c$/,/^```$/{/^```/!p}' "$source/docs/problems.md" >"$work/problem.c"
check "docs/problems.md: build" cc -std=c17 -Wall -Wextra -Werror "$work/problem.c" -o "$work/problem" "${flags[@]}"
check "docs/problems.md: run" "$work/problem"

for compiler in c++ clang++; do
  command -v $compiler >/dev/null || continue
  printf '#include <drystone/drystone.h>\n#include <drystone/problem.h>\n#include <drystone/scene_file.h>\n' >"$work/header.cpp"
  check "headers as C++ ($compiler)" $compiler -std=c++17 -Wall -Wextra -Werror -fsyntax-only "$work/header.cpp" \
    "${flags[@]:0:1}"
done
finish
