#!/bin/bash
# Installs the Debian packages that Drystone needs, and only those that are missing.
#
#   scripts/install-deps.sh [--list] [build] [python] [test] [bench] [cluster] [web] [debtest]
#
# build   compiler, make, CMake, the libraries of the program (the library itself needs none), and npm for its page
# python  python3 with numpy, for the Python package
# test    clang, sanitizers, clang-format, python3 with numpy and VTK, which reads exports; chromium and ffmpeg, which
#         films need too
# bench   the rivals from Debian, CHOLMOD, and node for the rivals from npm
# cluster Slurm and Open MPI on this machine, for the test of 'drystone sweep' with them; it is skipped without
# web     clang for WebAssembly: the page without a server, the npm package (also part of test)
# debtest debootstrap, which makes the clean Debian of make debtest
# --list  prints the packages of the groups and installs nothing
#
# Without a group: build. Where all is there it ends at once and needs no network. Written for Debian 12; a tool that came
# from elsewhere (node from its own site, python3 from pyenv) is used as it is.
set -euo pipefail

build="make gcc libc6-dev cmake ninja-build pkg-config libhdf5-dev libpng-dev zlib1g-dev libwebsockets-dev
       nodejs npm ca-certificates"
python="python3 python3-numpy"
test="clang clang-format libclang-rt-14-dev git $python python3-vtk9 chromium ffmpeg"
web="clang lld wasi-libc libclang-rt-14-dev-wasm32 nodejs npm"
test+=" $web"
bench="g++ libode-dev libbullet-dev libsuitesparse-dev libsiconos-numerics-dev nodejs npm ca-certificates python3
       python3-matplotlib python3-cvxopt python3-scipy"
cluster="slurm-wlm slurmctld slurmd openmpi-bin"
debtest="debootstrap"

# The command that makes a package unnecessary when something other than Debian provides it.
stand_in() {
  case $1 in
    nodejs) echo node ;;
    npm) echo npm ;;
    python3) echo python3 ;;
    cmake) echo cmake ;;
    ninja-build) echo ninja ;;
    pkg-config) echo pkg-config ;;
    git) echo git ;;
    chromium) echo chromium ;;
    ffmpeg) echo ffmpeg ;;
  esac
}

# cmake must be 3.25 or later for CMakePresets.json
usable() {
  local command=$1
  command -v "$command" >/dev/null 2>&1 || return 1
  [ "$command" = cmake ] || return 0
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" = 3.25 ]
}

installed() {
  local command
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return 0
  command=$(stand_in "$1")
  [ -n "$command" ] && usable "$command"
}

list=no
packages=""
[ $# -gt 0 ] || set -- build
for group in "$@"; do
  case $group in
    --list) list=yes ;;
    build) packages+=" $build" ;;
    python) packages+=" $python" ;;
    test) packages+=" $test" ;;
    bench) packages+=" $bench" ;;
    cluster) packages+=" $cluster" ;;
    web) packages+=" $web" ;;
    debtest) packages+=" $debtest" ;;
    *)
      echo "install-deps.sh: unknown group '$group'; known are build, python, test, bench, cluster, web, debtest" >&2
      exit 2
      ;;
  esac
done
if [ $list = yes ]; then
  for package in ${packages:-$build}; do echo "$package"; done
  exit 0
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install-deps.sh: not a Debian system, nothing installed. Drystone needs what these packages hold:$packages" >&2
  exit 0
fi
missing=()
for package in $packages; do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "install-deps.sh: neither root nor sudo. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
}
# The package lists may be fresh already, so installing is tried first; on a bare system there are none.
if ! apt install --no-install-recommends "${missing[@]}"; then
  if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
    tail -n 20 "$log" >&2
    echo "install-deps.sh: apt-get failed. By hand: apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
