#!/bin/bash
# Installs the packages of `make deb` on a clean Debian 12 and uses them there. As root: scripts/test-deb.sh PACKAGES_DIR
#
# debootstrap makes the system in a temporary folder (ROOT=DIR keeps it in DIR and uses it again); apt installs the
# packages with what they depend on from Debian's archive (MIRROR=URL). Then the program, its manual page, the Python
# package and a C program with the shared library have to run inside. Needs debootstrap and about 1 GB.
set -euo pipefail
packages=$(realpath "$1")
mirror=${MIRROR:-http://deb.debian.org/debian}
own=
root=${ROOT:-}
if [ -z "$root" ]; then
  own=$(mktemp -d)
  root=$own/root
fi
cleanup() {
  umount "$root/proc" 2>/dev/null || true
  [ -z "$own" ] || rm -rf "$own"
}
trap cleanup EXIT
[ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
cp /etc/resolv.conf "$root/etc/resolv.conf"
for file in /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf.d/*valid* /etc/apt/apt.conf.d/*registry*; do
  [ ! -e "$file" ] || cp "$file" "$root/etc/apt/apt.conf.d/"
done
mkdir -p "$root/packages" "$root/test"
cp "$packages"/*.deb "$root/packages/"
cp "$(dirname "$0")/../test/outside/outside.c" "$root/test/"
mount -t proc proc "$root/proc" 2>/dev/null || true
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

inside apt-get -q update >/dev/null
inside bash -c 'apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends /packages/*.deb' >"$root/install.log" 2>&1 ||
  { tail -20 "$root/install.log"; exit 1; }
echo "installed: $(inside dpkg-query -W -f '${Package} ${Version}, ' drystone libdrystone0 libdrystone-dev python3-drystone)"
inside drystone --version
inside drystone run card-house:levels=3 --time 1 --strict -o /test/house.h5 -q
inside drystone draw /test/house.h5 -o /test/house.png --size 160x90
inside bash -c 'drystone stand arch:shape=semicircle,stones=15,thickness=0.14 --quick >/dev/null; [ $? -eq 3 ]'
inside bash -c 'gzip -dc /usr/share/man/man1/drystone.1.gz | grep -q "^.SS sweep"'
inside python3 -c 'import drystone
simulation = drystone.Simulation("card-house:levels=3")
report = simulation.step(100)
assert report.worst.converged
print("Python: t =", simulation.state.time, "s,", len(simulation.contacts), "contacts, hash", simulation.state.hash)'
inside bash -c 'apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends gcc pkg-config' >"$root/install.log" 2>&1
inside bash -c 'cd /test && gcc -std=c17 outside.c -o outside $(pkg-config --cflags --libs drystone-scenes 2>/dev/null || echo -ldrystone-scenes -ldrystone) -lm && ./outside >/dev/null'
echo "C: compiled against the headers, linked with $(inside bash -c 'ldd /test/outside | grep -c libdrystone') shared libraries, runs"
inside bash -c 'apt-get -q -y purge drystone libdrystone0 libdrystone-dev python3-drystone' >"$root/install.log" 2>&1
[ ! -e "$root/usr/bin/drystone" ] && echo "purged"
echo "the packages work on Debian $(cat "$root/etc/debian_version")"
