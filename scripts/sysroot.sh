#!/usr/bin/env bash
# Makes build/sysroot-arm64 with the headers and libraries of Debian 12 for building the arm64 window, and Mesa for its
# tests. The system is not changed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/build/sysroot-arm64
[ ! -d "$root/usr/include/gtk-3.0" ] || exit 0
command -v mmdebstrap >/dev/null || { echo "There is no mmdebstrap: run scripts/setup.sh dist." >&2; exit 1; }
mkdir -p build
rm -rf "$root"
mmdebstrap --arch=arm64 --variant=extract --skip=check/qemu --include=libc6-dev,libgl1-mesa-dev,xorg-dev,libwayland-dev,libxkbcommon-dev,libgtk-3-dev,libgl1-mesa-dri \
  bookworm "$root" http://deb.debian.org/debian
# Absolute links would lead out of it.
find "$root" -type l -lname '/*' | while read -r link; do
  ln -snf "$(realpath -m --relative-to="$(dirname "$link")" "$root$(readlink "$link")")" "$link"
done
