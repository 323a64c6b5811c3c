#!/bin/sh
# Installs Blik for this user into ~/.local or the folder given with --prefix; --remove uninstalls it but keeps the
# settings.
set -eu
prefix=$HOME/.local
remove=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 2; }
      prefix=$2
      shift
      ;;
    --remove) remove=yes ;;
    *)
      echo "usage: install.sh [--prefix FOLDER] [--remove]" >&2
      exit 2
      ;;
  esac
  shift
done
cd "$(dirname "$0")"
case $prefix in
  /*) ;;
  *) echo "install.sh: --prefix must begin with /" >&2; exit 2 ;;
esac
# Missing requirements are reported before anything is copied.
if [ -z "$remove" ]; then
  answer=$(bin/blik version 2>&1) || {
    missing=$(ldd bin/blik 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found/\1/p' | tr '\n' ' ')
    case $answer in
      *GLIBC_*) echo "install.sh: this system is too old: Blik needs the C library 2.34 of 2021 or newer." >&2 ;;
      *"xec format"*) echo "install.sh: this is a program for another processor than this machine's ($(uname -m))." >&2 ;;
      *) echo "install.sh: Blik does not start here. Missing: ${missing:-$answer}" >&2 ;;
    esac
    echo "The program without a window (blik-headless) needs no libraries." >&2
    exit 1
  }
fi
find bin share -type f | while read -r file; do
  if [ -n "$remove" ]; then
    rm -f "$prefix/$file"
  else
    mkdir -p "$prefix/$(dirname "$file")"
    rm -f "$prefix/$file"
    cp "$file" "$prefix/$file"
  fi
done
if command -v update-desktop-database >/dev/null 2>&1; then
  update-desktop-database -q "$prefix/share/applications" 2>/dev/null || true
fi
if [ -n "$remove" ]; then
  echo "Blik is removed from $prefix. Settings are in ${XDG_CONFIG_HOME:-$HOME/.config}/blik."
else
  echo "Blik is installed: $prefix/bin/blik"
fi
