#!/usr/bin/env bash
# Prints the tables of docs/accuracy.md, in build/accuracy: photographed glare at the named sensitivities, rendered
# glare by cross-validation, the development pictures (figures of training), parts against wholes, what learning gains,
# and automatic correction; also draws a sheet of photograph crops. Needs build/blik-headless, ../shared, and a PYTHON
# with cv2, numpy and scipy, by default /usr/bin/python3 (Debian: python3-opencv, python3-scipy). FOLDS names the folder
# of the networks fold0.blik to fold2.blik, each trained without a third of the paintings, by default training/folds.
set -euo pipefail
cd "$(dirname "$0")/.."

blik=build/blik-headless
python=${PYTHON:-/usr/bin/python3}
shared=../shared
out=build/accuracy
mkdir -p "$out/paintings"

echo "Photographed glare, nothing fitted on it"
masks=()
for stop in certain balanced 0.5 visible dim; do
  "$blik" detect --overwrite --quiet --sensitivity "$stop" -o "$out/$stop" $shared/data/glare-real/*_image.png
  masks+=("$out/$stop")
done
"$python" $shared/tools/score_real.py --gt $shared/data/glare-real "${masks[@]}"

printf '\nPhotographed glare, enlarged\n'
"$python" scripts/enlarged.py "$blik" "$out"

printf '\nRendered glare by cross-validation\n'
cp -n $shared/data/paintings/*.jpg $shared/data/paintings-more/*.jpg $shared/data/negatives/*.png "$out/paintings/"
# p005 and p009 have labelled real glare and are never used for training.
rm -f "$out"/paintings/p005* "$out"/paintings/p009*
# Pictures rendered by another version of the program may have a different truth.
"$blik" --version >"$out/version.new"
if ! cmp -s "$out/version.new" "$out/version"; then
  rm -rf "$out"/{clean,condition,spots,varied,plain}
  mv "$out/version.new" "$out/version"
fi
sets=()
while read -r kind seed count; do
  if [ ! -f "$out/$kind/manifest.json" ]; then
    "$blik" trainingset -q -o "$out/$kind" --paintings "$out/paintings" --kind "$kind" --seed "$seed" --count "$count"
  fi
  sets+=("$out/$kind")
done <<'END'
clean 101 75
condition 102 100
spots 103 75
varied 104 25
plain 104 104
END
networks=()
for fold in 0 1 2; do networks+=(--network "${FOLDS:-training/folds}/fold$fold.blik"); done
"$blik" fit --exposures "${networks[@]}" "${sets[@]}" --overwrite -o "$out/decision.json"

printf '\nDevelopment pictures: figures of training\n'
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
