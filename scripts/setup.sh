#!/usr/bin/env bash
# Installs what building the window (build), testing (test) or making packages (dist, opengl) needs and is missing, on
# Debian and Ubuntu; "go" only checks the compiler. Prints what it installs, uses sudo unless run as root, and skips
# installed packages.
set -euo pipefail

declare -A packages=(
  [go]=""
  [build]="gcc pkg-config libc6-dev libgl1-mesa-dev xorg-dev libwayland-dev libxkbcommon-dev libgtk-3-dev"
  [dist]="desktop-file-utils appstream librsvg2-bin binutils mmdebstrap rpm xz-utils gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 nsis imagemagick wine wine64 qemu-user-static"
  [opengl]="meson ninja-build python3-mako flex bison curl"
  [test]="xvfb x11-xkb-utils openbox xdotool libgl1-mesa-dri libtiff-tools libimage-exiftool-perl imagemagick libvips-tools python3-pil chromium"
)
go_needed=1.26

# check_go runs outside the module, where an older compiler reports its version instead of rejecting go.mod.
check_go() {
  local have
  have=$(cd / && go env GOVERSION 2>/dev/null | sed 's/^go//') || have=""
  if [ -z "$have" ] || [ "$(printf '%s\n%s\n' "$go_needed" "$have" | sort -V | head -n 1)" != "$go_needed" ]; then
    echo "Go $go_needed or newer is needed${have:+ (found $have)}, and go must be in PATH." >&2
    echo "How to get it: https://go.dev/doc/install. Then run make again." >&2
    exit 1
  fi
}

check_go
wanted=()
for group in "$@"; do
  if [ -z "${packages[$group]+known}" ]; then
    echo "setup.sh: unknown group $group; known: ${!packages[*]}" >&2
    exit 2
  fi
  # shellcheck disable=SC2206 # the names are split on purpose
  wanted+=(${packages[$group]})
done
[ ${#wanted[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "This system has no apt-get, so nothing is installed. Needed are (by Debian's names): ${wanted[*]}"
  exit 0
fi
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing: ${missing[*]}" >&2
    echo "There is no sudo here. Run as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
options=(-q -o Acquire::Retries=0 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)
"${as_root[@]}" apt-get "${options[@]}" update || echo "apt-get update failed; going on with the package lists that are there." >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y --no-install-recommends "${missing[@]}"
