#!/usr/bin/env bash
# Installs a deb in a minimal system, as a user would, and starts command line and window in it. Arguments: the suite of
# Debian or Ubuntu (bookworm, trixie, noble), the deb, and a file for a screenshot of the window. With an rpm, files and
# program are tested in Debian, because no rpm-based system is available, but not the names of its dependencies. The
# system is made in build/chroots by mmdebstrap. Needs root, for chroot, and scripts/setup.sh test dist for Xvfb and
# mmdebstrap.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "This runs as root only: it changes into another system by chroot." >&2; exit 1; }
# Mounts below build are visible only to this script and end with it.
[ -n "${UNSHARED:-}" ] || UNSHARED=1 exec unshare --mount "$0" "$@"
cd "$(dirname "$0")/.."
suite=$1 package=$(realpath "$2") shot=$(realpath -m "$3")
root=$PWD/build/chroots/$suite
if [ ! -x "$root/usr/bin/apt-get" ]; then
  mirror=http://deb.debian.org/debian options=()
  if [ "$suite" = noble ]; then
    mirror=http://archive.ubuntu.com/ubuntu
    options=(--components=main,universe)
    # From Debian 13 on, the package of that name contains the keys.
    keyring=${UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
    options+=("--keyring=$keyring")
  fi
  mkdir -p build/chroots
  mmdebstrap --variant=apt "${options[@]}" "$suite" "$root" "$mirror"
fi
inside() { chroot "$root" /usr/bin/env -i HOME=/root/home PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }
cleanup() {
  [ -z "${window:-}" ] || kill "$window" 2>/dev/null || true
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
}
trap cleanup EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# A home folder in which Blik has never run.
rm -rf "$root/root/home" "$root/root/out" "$root/root/ui.log"
mkdir -p "$root/root/home"
cp assets/sample.jpg "$root/root/sample.jpg"
apt_get() {
  inside DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$root/root/apt.log" 2>&1 || { tail -n 20 "$root/root/apt.log"; exit 1; }
}
apt_get update -q
case $package in
  *.rpm)
    # The dependencies have other names here, so they are installed explicitly beforehand.
    apt_get install -y -q rpm libgtk-3-0t64 libgl1 libgl1-mesa-dri libxcursor1 libxi6 libxinerama1 libxrandr2
    cp "$package" "$root/root/blik.rpm"
    inside rpm -i --nodeps /root/blik.rpm
    inside rpm -V --nodeps blik
    echo "$suite: the rpm is installed, $(inside rpm -ql blik | wc -l) files"
    ;;
  *)
    cp "$package" "$root/root/blik.deb"
    apt_get install -y -q /root/blik.deb
    echo "$suite: installed with $(grep -c '^Setting up' "$root/root/apt.log") packages"
    ;;
esac

echo "== without a display"
inside blik /root/sample.jpg 2>&1 && { echo "a window without a display?"; exit 1; }
echo "== command line"
inside blik version
inside sh -c 'cd /root && blik detect --overwrite -o out sample.jpg && cd out && sha256sum sample_mask.png'
inside sh -c 'test -s /usr/share/man/man1/blik-detect.1.gz && test -s /usr/share/man/ru/man1/blik-detect.1.gz'

echo "== window"
number=$((90 + RANDOM % 900))
mkdir -p "$root/tmp/.X11-unix"
Xvfb ":$number" -screen 0 1280x860x24 +extension GLX -nolisten tcp >/dev/null 2>&1 &
server=$!
for _ in $(seq 100); do [ ! -S "/tmp/.X11-unix/X$number" ] || break; sleep 0.1; done
mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
inside DISPLAY=":$number" LIBGL_ALWAYS_SOFTWARE=1 blik doctor
inside DISPLAY=":$number" LIBGL_ALWAYS_SOFTWARE=1 BLIK_UI_LOG=/root/ui.log blik open --detect /root/sample.jpg &
window=$!
for _ in $(seq 600); do
  ! grep -q '^done' "$root/root/ui.log" 2>/dev/null || break
  kill -0 "$window" 2>/dev/null || { echo "the window has closed"; exit 1; }
  sleep 0.5
done
sleep 3
DISPLAY=":$number" import -window root "$shot"
cat "$root/root/ui.log"
case $package in
  *.rpm) inside rpm -e blik ;;
  *) apt_get purge -y -q blik ;;
esac
[ ! -e "$root/usr/bin/blik" ] && echo "removed"
