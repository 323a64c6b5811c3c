#!/usr/bin/env bash
# Prints the figures of docs/accuracy.md, in build/accuracy: whole photographs, also by cross-validation, labelled crops at
# several sensitivities, other light and turned pictures, many lamps, other detectors, development pictures (training
# figures), relief, parts against wholes, what learning gains, and automatic correction; also draws sheets of findings and
# of crops.
# Needs build/blik-headless, ../shared, and a PYTHON with cv2, numpy and scipy, by default /usr/bin/python3 (Debian:
# python3-opencv, python3-scipy); for the cross-validation also Go and python3-torch, for other detectors also
# python3-astroscrappy and python3-sep.
set -euo pipefail
cd "$(dirname "$0")/.."

blik=build/blik-headless
python=${PYTHON:-/usr/bin/python3}
shared=../shared
out=build/accuracy
mkdir -p "$out"

echo "Whole photographs of paintings whose labels nothing was trained on"
photographs=($shared/data/photographs/p0{03,13,24,33}.jpg $shared/data/paintings-new/*.jpg
  $shared/data/paintings/the_scream_munch.jpg)
"$blik" detect --overwrite --quiet --sensitivity 5 -o "$out/photographs" "${photographs[@]}"
scripts/folds.sh "$out/folds" "${photographs[@]}"
"$python" training/judge.py training/labels/labels.json,$shared/data/labels/labels.json blik="$out/photographs" \
  cv="$out/folds/0,$out/folds/1,$out/folds/2,$out/folds/3"

printf '\nThe sixty strongest and the sixty weakest findings of these: %s\n' "$out/sheets"
"$python" scripts/strongest.py "$out/photographs" "$out/sheets" "${photographs[@]}"

printf '\nLabelled crops of p005 and p009, which are never trained on\n'
masks=()
for stop in certain balanced visible dim 5; do
  "$blik" detect --overwrite --quiet --sensitivity "$stop" -o "$out/$stop" $shared/data/glare-real/*_image.png
  masks+=("$out/$stop")
done
"$python" $shared/tools/score_real.py --gt $shared/data/glare-real "${masks[@]}"
"$python" training/crops.py $shared/data/glare-real "$out/5"

printf '\nOther light, turned and cropped pictures\n'
"$python" training/steady.py "$blik" $shared/data/photographs/p009.jpg $shared/data/photographs/p005.jpg
"$python" training/steady.py "$blik" --crops $shared/data/glare-real

printf '\nMany lamps: canvas-fattori, at the default and at sensitivities 2 and 4\n'
lamps=$out/lamps
"$python" $shared/tools/multi_light.py make $shared/data/multi-light/canvas-fattori "$lamps"
for sensitivity in 0 2 4; do
  "$blik" detect --overwrite --quiet --sensitivity $sensitivity -o "$out/lamps$sensitivity" "$lamps"/*_image.png
  "$python" $shared/tools/multi_light.py score "$lamps" "$out/lamps$sensitivity"
done

printf '\nOther detectors\n'
few=$out/few
rm -rf "$few"
mkdir "$few"
for picture in $(find "$lamps" -name 'p*_image.png' | sort | head -3) $(find "$lamps" -name 'n*_image.png' | sort | head -8); do
  cp "${picture%_image.png}"_*.png "$few"
done
"$python" training/anchors.py crops=$shared/data/glare-real lamps="$few" --blik "$blik" --trial $shared/tools/network-spike

printf '\nDevelopment pictures: training figures\n'
"$blik" detect --overwrite --quiet -o "$out/dev" $shared/data/glare-dev/*_glare.*
"$blik" score $shared/data/glare-dev "$out/dev"

printf '\nRelief\n'
"$python" $shared/tools/make_relief.py --out "$out/relief" --per 1
"$blik" detect --overwrite --quiet -o "$out/relief-found" "$out"/relief/*_glare.*
"$blik" score "$out/relief" "$out/relief-found"

printf '\nParts of a photograph against the whole\n'
"$python" scripts/parts.py "$blik"

printf '\nLearning from the left half of a picture\n'
"$python" scripts/learning.py "$blik"

printf '\nAutomatic correction\n'
"$python" scripts/repair.py "$blik"
"$python" scripts/unseen.py "$blik" "$out/unseen"

printf '\nParts of photographs as they are, marked and corrected: %s\n' "$out/sheet.png"
"$python" scripts/sheet.py "$blik" "$out/sheet.png"
