#!/usr/bin/env bash
# Prints figures of docs/accuracy.md, in build/accuracy: labelled crops at several sensitivities, development pictures
# (training figures), parts against wholes, what learning gains, and automatic correction; also draws a sheet of crops.
# Needs build/blik-headless, ../shared, and a PYTHON with cv2, numpy and scipy, by default /usr/bin/python3 (Debian:
# python3-opencv, python3-scipy).
set -euo pipefail
cd "$(dirname "$0")/.."

blik=build/blik-headless
python=${PYTHON:-/usr/bin/python3}
shared=../shared
out=build/accuracy
mkdir -p "$out"

echo "Labelled crops of p005 and p009, which are never trained on"
masks=()
for stop in certain balanced visible dim 5; do
  "$blik" detect --overwrite --quiet --sensitivity "$stop" -o "$out/$stop" $shared/data/glare-real/*_image.png
  masks+=("$out/$stop")
done
"$python" $shared/tools/score_real.py --gt $shared/data/glare-real "${masks[@]}"

printf '\nDevelopment pictures: training figures\n'
"$blik" detect --overwrite --quiet -o "$out/dev" $shared/data/glare-dev/*_glare.*
"$blik" score $shared/data/glare-dev "$out/dev"

printf '\nParts of a photograph against the whole\n'
"$python" scripts/parts.py "$blik"

printf '\nLearning from the left half of a picture\n'
"$python" scripts/learning.py "$blik"

printf '\nAutomatic correction\n'
"$python" scripts/repair.py "$blik"
"$python" scripts/unseen.py "$blik" "$out/unseen"

printf '\nParts of photographs as they are, marked and corrected: %s\n' "$out/sheet.png"
"$python" scripts/sheet.py "$blik" "$out/sheet.png"
