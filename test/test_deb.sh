#!/bin/bash
# `make deb`: packages as they are installed, in a root of their own: the program runs, a C program is compiled against the
# headers and runs with the shared library, Python imports, the manual page and the completion of bash work.
# Usage: test_deb.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
for tool in dpkg-deb objdump strip gzip; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
[ -e "$(dirname "$program")/python/drystone/_drystone.so" ] || { echo "skipped: no Python package"; exit 77; }

check "the packages" env DEB_COMPRESSION=gzip bash "$source/scripts/deb.sh" "$(dirname "$program")" packages
cat check.log
[ "$(ls packages/*.deb 2>/dev/null | wc -l)" = 4 ] && ok || fail "four packages were expected: $(ls packages)"

# dpkg itself unpacks and configures where it may; else they are only extracted
mkdir -p root/var/lib/dpkg
touch root/var/lib/dpkg/status
if [ "$(id -u)" = 0 ]; then
  check "dpkg -i" dpkg --root="$folder/root" --force-depends --force-script-chrootless --log=/dev/null -i packages/*.deb
  check "dpkg knows them" bash -c "dpkg --root=$folder/root -s drystone libdrystone0 | grep -q 'install ok installed'"
else
  for file in packages/*.deb; do dpkg-deb -x "$file" root; done
fi
for file in packages/*.deb; do
  check "dependencies of $(basename "$file")" bash -c "dpkg-deb -f $file Depends | grep -qE '^[a-z0-9.+ ,()=-]+$'"
done

version=$("$program" version)
[ "$(root/usr/bin/drystone --version)" = "$version" ] && ok || fail "the version of the package"
check "the program runs" root/usr/bin/drystone run stack:count=2 --time 0.1 -q --strict
lib=$(dirname "$(find root/usr/lib -name libdrystone.so.0)")
[ "$(objdump -p "$lib/libdrystone.so" | awk '$1 == "SONAME" { print $2 }')" = libdrystone.so.0 ] && ok || fail "soname"
check "a C program" cc -std=c17 -Iroot/usr/include "$source/test/outside/outside.c" -o outside -L"$lib" -ldrystone-scenes -ldrystone -lm
objdump -p outside | grep -q 'NEEDED.*libdrystone-scenes.so.0' && ok || fail "it is not linked with the shared library"
check "it runs" env LD_LIBRARY_PATH="$lib" ./outside
for python in /usr/bin/python3 python3; do "$python" -c 'import numpy' 2>/dev/null && break; done
if "$python" -c 'import numpy' 2>/dev/null; then
  check "Python" env PYTHONPATH="$folder/root/usr/lib/python3/dist-packages" "$python" -c \
    'import drystone; assert "root/usr" in drystone.__file__; drystone.Simulation("stack:count=2").step(3)'
fi

# --- manual page and completion
zcat root/usr/share/man/man1/drystone.1.gz >drystone.1
for text in '^\.TH DRYSTONE 1' '^\.SS run SOURCE' '^\.B \\-t, \\-\\-time S$' '^\.SH EXIT STATUS'; do
  grep -q "$text" drystone.1 && ok || fail "the manual page has no line $text"
done
# every option that the help shows is in the page
"$program" help run | grep -oE '^ {2,6}(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sed 's/-/\\-/g' | while read -r name; do
  grep -qF -- "$name" drystone.1 || echo "$name"
done >missing
[ ! -s missing ] && ok || fail "options that are not in the manual page: $(cat missing)"
if command -v man >/dev/null; then
  LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l drystone.1 >page.txt 2>warnings.txt
  [ ! -s warnings.txt ] && grep -q "simulate S seconds" page.txt && ok || fail "man: $(head -3 warnings.txt)"
fi
complete() { # WORDS...: what bash offers for the last one
  bash -c '. root/usr/share/bash-completion/completions/drystone
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _drystone; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
[ "$(complete drystone ver)" = $'verify\nversion' ] && ok || fail "completion of commands: $(complete drystone ver)"
[ "$(complete drystone run card-house --rec)" = $'--record\n--record-every' ] && ok || fail "completion of options: $(complete drystone run card-house --rec)"
complete drystone run card-h | grep -qx card-house && ok || fail "completion of generators"
expect 2 "give bash, zsh or fish" help --completion tcsh
for shell in zsh fish; do
  "$program" help --completion $shell | grep -q -- --record-every && ok || fail "completion for $shell"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
