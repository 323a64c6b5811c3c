#!/usr/bin/env bash
# Says in a line each what of the tests this machine skips, and why.
set -euo pipefail
cd "$(dirname "$0")/.."

skipped() { echo "Skipped: $1 ($2)"; }

lacking=()
for program in Xvfb openbox xdotool setxkbmap; do
  command -v "$program" >/dev/null || lacking+=("$program")
done
[ ${#lacking[@]} -eq 0 ] || skipped "the tests of the real window" "there is no ${lacking[*]}; make setup-test installs it"

lacking=()
for program in exiftool tiffcmp tiffcp tiffdump tiffinfo; do
  command -v "$program" >/dev/null || lacking+=("$program")
done
for python in python3 /usr/bin/python3; do
  ! "$python" -c 'import PIL' 2>/dev/null || { pillow=yes; break; }
done
[ -n "${pillow:-}" ] || lacking+=(Pillow)
[ ${#lacking[@]} -eq 0 ] || skipped "comparisons with other programs" "there is no ${lacking[*]}; make setup-test installs it"

[ -d ../shared/data ] || skipped "the tests on real pictures" "../shared/data is absent"
[ -n "$(scripts/cuda.sh where)" ] || skipped "the tests of the GPU's code" "there is no cuda.h; make cuda fetches it"
[ -e /dev/nvidia0 ] || skipped "the tests on a GPU" "this machine has none"
if [ "${GOEXPERIMENT:-}" != simd ]; then
  skipped "the vector kernels" "GOEXPERIMENT is ${GOEXPERIMENT:-empty}"
fi
