#!/usr/bin/env bash
# Tests the arm64 program on another architecture, under qemu-user (Debian: qemu-user-static): that the compiler uses no
# fused multiply-add in the code that determines pixels, the short tests of processing and app, and that masks and
# corrected files equal those of this machine byte for byte. STEPS names some of fused, tests, masks, and window.
# Arguments: pictures besides the sample; without any a picture of 20 megapixels is rendered. A variable CHECKS sets the
# number of cases of property tests.
set -euo pipefail
cd "$(dirname "$0")/.."
qemu=qemu-aarch64-static go=${GO:-go} work=$PWD/build/arm64
command -v $qemu >/dev/null || { echo "There is no $qemu: run scripts/setup.sh dist." >&2; exit 1; }
mkdir -p "$work"
export CGO_ENABLED=0

fused() {
  local found
  # Without these conversions, float64(a*b) + c, results would depend on the processor.
  # With -trimpath the listing names files from the module on, as the last pattern expects.
  found=$(GOARCH=arm64 $go build -trimpath -gcflags='blik/processing/...=-S' \
    ./processing ./processing/detect ./processing/correct ./processing/cpu/... ./processing/banded \
    ./processing/network ./processing/internal/... 2>&1 >/dev/null |
    grep -E '[[:space:]]FN?M(ADD|SUB)[DS][[:space:]]' | grep -oE '\(blik/[^ )]*\.go:[0-9]+\)' | sort -u) || true
  [ -z "$found" ] || { echo "products are summed without being rounded:"; echo "$found"; return 1; }
  echo "no product is fused with a sum"
}

tests() {
  local package name failed=0
  for package in ${PACKAGES:-$($go list ./processing/... ./app/... ./lab/...)}; do
    package=${package#blik/} name=${package//\//_}
    GOARCH=arm64 $go test -vet=off -c -o "$work/$name.test" "./$package"
    [ -e "$work/$name.test" ] || continue
    echo "$package"
    (cd "$package" && $qemu "$work/$name.test" -test.short -test.timeout 1800s $(grep -lq rapid ./*_test.go 2>/dev/null &&
      echo "-rapid.checks ${CHECKS:-5} -rapid.nofailfile")) >"$work/$name.log" 2>&1 ||
      { failed=1; echo "FAIL $package"; grep -E '^\s*(--- FAIL|[a-z_]+_test.go)|^panic' "$work/$name.log" | head -n 20; }
  done
  return $failed
}

masks() {
  local picture pictures=(assets/sample.jpg "$@") name
  $go build -tags headless -o "$work/blik-here" .
  GOARCH=arm64 $go build -tags headless -o "$work/blik-arm64" .
  if [ $# -eq 0 ]; then
    [ -e "$work/sample-20.png" ] ||
      "$work/blik-here" sample --quiet --megapixels 20 --depth 16 --glare mixed --seed 7 -o "$work/sample-20.png"
    pictures+=("$work/sample-20.png")
  fi
  for picture in "${pictures[@]}"; do
    rm -rf "$work/here" "$work/there"
    "$work/blik-here" correct --quiet -o "$work/here" "$picture"
    "$work/blik-here" detect --quiet -o "$work/here" "$picture"
    $qemu "$work/blik-arm64" correct --quiet -o "$work/there" "$picture"
    $qemu "$work/blik-arm64" detect --quiet -o "$work/there" "$picture"
    for name in "$work"/here/*_mask.png "$work"/here/*_corrected.*; do
      case $name in *.html | *.json) continue ;; esac
      cmp "$name" "$work/there/$(basename "$name")"
      echo "$(basename "$picture"): $(basename "$name") is the same, $(sha256sum <"$name" | cut -c1-16)"
    done
  done
}

# window opens the program of build/dist-work, which scripts/dist.sh linux makes, on a virtual screen, with Mesa's software
# driver of build/sysroot-arm64.
window() {
  local root=$PWD/build/sysroot-arm64 program=$PWD/build/dist-work/linux-arm64/blik number server window=
  [ -x "$program" ] && [ -d "$root" ] || { echo "There is no window for arm64: run scripts/sysroot.sh and scripts/dist.sh linux." >&2; exit 1; }
  number=$((90 + RANDOM % 900))
  Xvfb ":$number" -screen 0 1280x860x24 +extension GLX -nolisten tcp >/dev/null 2>&1 &
  server=$!
  trap 'kill $window $server 2>/dev/null || true' EXIT
  for _ in $(seq 100); do [ ! -S "/tmp/.X11-unix/X$number" ] || break; sleep 0.1; done
  rm -f "$work/ui.log"
  HOME=$work/home DISPLAY=:$number LIBGL_DRIVERS_PATH=$root/usr/lib/aarch64-linux-gnu/dri LIBGL_ALWAYS_SOFTWARE=1 BLIK_UI_LOG=$work/ui.log \
    $qemu -L "$root" "$program" open --detect assets/sample.jpg &
  window=$!
  for _ in $(seq 600); do
    ! grep -q '^done' "$work/ui.log" 2>/dev/null || break
    kill -0 "$window" 2>/dev/null || { echo "the window has closed"; exit 1; }
    sleep 1
  done
  sleep 10
  DISPLAY=:$number import -window root "$work/window.png"
  cat "$work/ui.log"
}

for step in ${STEPS:-fused tests masks}; do "$step" "$@"; done
