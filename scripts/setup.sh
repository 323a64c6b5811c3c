#!/usr/bin/env bash
# Installs what building (build) or testing (test) the window needs and is missing, on Debian and Ubuntu; "go" only
# checks the compiler. Says what it installs, uses sudo when not root, and asks for nothing that is there already.
set -euo pipefail

declare -A packages=(
  [go]=""
  [build]="gcc pkg-config libc6-dev libgl1-mesa-dev xorg-dev libgtk-3-dev"
  [test]="xvfb openbox xdotool imagemagick libgl1-mesa-dri procps"
)
go_needed=1.26

check_go() {
  local have
  have=$(go env GOVERSION 2>/dev/null | sed 's/^go//') || have=""
  if [ -z "$have" ] || [ "$(printf '%s\n%s\n' "$go_needed" "$have" | sort -V | head -n 1)" != "$go_needed" ]; then
    echo "Go $go_needed or newer is needed${have:+ (found $have)}: install it as https://go.dev/doc/install says, then run make again." >&2
    exit 1
  fi
}

missing=()
for group in "$@"; do
  if [ -z "${packages[$group]+known}" ]; then
    echo "setup.sh: unknown group $group; known: ${!packages[*]}" >&2
    exit 2
  fi
  for package in ${packages[$group]}; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done
done
check_go
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "Missing: ${missing[*]} (Debian's names). This system has no apt-get: install their counterparts, then run make again." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing: ${missing[*]}. Run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
