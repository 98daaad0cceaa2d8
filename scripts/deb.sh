#!/bin/bash
# `make deb`: Debian packages of the built program, library and Python package. scripts/deb.sh BUILD_DIR OUTPUT_DIR
#
#   drystone          the program, its manual page, completion of shells, the schema of scene files
#   libdrystone0      libdrystone.so.0 and libdrystone-scenes.so.0
#   libdrystone-dev   headers, static libraries, CMake package, pkg-config files
#   python3-drystone  import drystone
#
# DEB_COMPRESSION=gzip makes larger packages faster. The shared libraries are linked from the static ones, whose objects can be anywhere in memory.
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
output=$(realpath "$2")
version=$("$build/drystone" version | awk '{ print $2 }')
machine=$(dpkg --print-architecture)
triplet=$(${CC:-cc} -dumpmachine)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- everything, as it is installed
DESTDIR=$work/all cmake --install "$build" --prefix /usr >/dev/null
lib=$(cd "$work/all" && find usr/lib -name libdrystone.a -printf '%h\n')
shared() { # NAME OTHERS...: libNAME.so.0 and its links
  local name=$1
  shift
  ${CC:-cc} -shared -o "$work/all/$lib/lib$name.so.$version" -Wl,-soname,"lib$name.so.0" -Wl,--no-undefined \
    -Wl,--whole-archive "$work/all/$lib/lib$name.a" -Wl,--no-whole-archive "$@" -lm -pthread
  strip --strip-unneeded "$work/all/$lib/lib$name.so.$version"
  ln -s "lib$name.so.$version" "$work/all/$lib/lib$name.so.0"
  ln -s "lib$name.so.0" "$work/all/$lib/lib$name.so"
}
shared drystone
shared drystone-scenes -L"$work/all/$lib" -ldrystone
if [ "$lib" = usr/lib ]; then # where Debian looks: /usr/lib/x86_64-linux-gnu
  mkdir "$work/all/usr/lib/$triplet"
  find "$work/all/usr/lib" -maxdepth 1 -mindepth 1 ! -name "$triplet" -exec mv -t "$work/all/usr/lib/$triplet" {} +
  lib=usr/lib/$triplet
fi
mkdir -p "$work/all/usr/share/man/man1" "$work/all/usr/share/bash-completion/completions" \
  "$work/all/usr/share/zsh/vendor-completions" "$work/all/usr/share/fish/vendor_completions.d"
"$build/drystone" help --man | gzip -9n >"$work/all/usr/share/man/man1/drystone.1.gz"
"$build/drystone" help --completion bash >"$work/all/usr/share/bash-completion/completions/drystone"
"$build/drystone" help --completion zsh >"$work/all/usr/share/zsh/vendor-completions/_drystone"
"$build/drystone" help --completion fish >"$work/all/usr/share/fish/vendor_completions.d/drystone.fish"
strip --strip-unneeded "$work/all/usr/bin/drystone"
python=$work/all/usr/lib/python3/dist-packages/drystone
mkdir -p "$python"
find "$build/python/drystone" -maxdepth 1 -type f -exec cp -t "$python" {} +
strip --strip-unneeded "$python/_drystone.so"

# --- packages
# Debian packages of the shared libraries that files need.
needs() {
  objdump -p "$@" 2>/dev/null | awk '$1 == "NEEDED" { print $2 }' | sort -u | while read -r name; do
    case $name in libdrystone*) continue ;; esac
    path=$(ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }')
    dpkg -S "$(realpath "$path")" "$path" 2>/dev/null | head -1 | cut -d: -f1
  done | sort -u | paste -sd, | sed 's/,/, /g'
}
# pack NAME DEPENDS SECTION SUMMARY PATHS...: moves the paths into a package
pack() {
  local name=$1 depends=$2 section=$3 summary=$4 root=$work/$1 path
  shift 4
  mkdir -p "$root/DEBIAN"
  for path in "$@"; do
    mkdir -p "$root/$(dirname "$path")"
    mv "$work/all/$path" "$root/$(dirname "$path")/"
  done
  mkdir -p "$root/usr/share/doc/$name"
  cp "$work"/all/usr/share/doc/drystone/* "$root/usr/share/doc/$name/"
  cat >"$root/DEBIAN/control" <<END
Package: $name
Version: $version-1
Architecture: $machine
Maintainer: Drystone <drystone@localhost>
Section: $section
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: $depends
Description: $summary
 Drystone simulates rigid and deformable bodies with exact Coulomb friction,
 and certifies every step.
END
  # the linker's cache, so that the library is found
  if [ "$name" = libdrystone0 ]; then printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"; fi
  find "$root/usr" -type d -exec chmod 755 {} +
  dpkg-deb --root-owner-group -Z"${DEB_COMPRESSION:-xz}" --build "$root" "$output/${name}_$version-1_$machine.deb" >/dev/null
  echo "$output/${name}_$version-1_$machine.deb"
}
libraries=()
for file in "$work/all/$lib"/*.so.*; do libraries+=("$lib/$(basename "$file")"); done
pack libdrystone0 "$(needs "$work/all/$lib"/*.so."$version")" libs "simulation with exact friction, shared library" \
  "${libraries[@]}"
pack python3-drystone "python3, python3-numpy, $(needs "$python/_drystone.so")" python \
  "simulation with exact friction, for Python" usr/lib/python3
pack drystone "$(needs "$work/all/usr/bin/drystone")" science "simulation with exact friction, the program" usr/bin \
  usr/share/man usr/share/bash-completion usr/share/zsh usr/share/fish usr/share/drystone
pack libdrystone-dev "libdrystone0 (= $version-1), libc6-dev" libdevel "simulation with exact friction, headers" \
  usr/include "$lib"
