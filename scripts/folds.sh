#!/usr/bin/env bash
# Judges the rules of detection by cross-validation over paintings: builds the program with each of the four networks of
# training/folds, and finds glints in those photographs whose paintings that network never saw.
# Usage: scripts/folds.sh OUT PICTURE...; OUT/0 to OUT/3 get the findings. Needs Go and a PYTHON with torch.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
export GOEXPERIMENT=simd

for fold in 0 1 2 3; do
  printf '{"Replace": {"%s": "%s"}}' "$PWD/processing/network/glints.blik" "$PWD/training/folds/$fold.blik" >"$out/overlay.json"
  go build -overlay "$out/overlay.json" -tags headless -o "$out/blik" .
  mapfile -t own < <("${PYTHON:-/usr/bin/python3}" - "$fold" "$@" <<'PY'
import os, sys
sys.path.insert(0, "training")
import data, judge
for path in sys.argv[2:]:
    name = judge.painting(os.path.basename(path))
    if int(sys.argv[1]) in (data.fold_of(name), data.fold_of("n_" + name)):
        print(path)
PY
  )
  "$out/blik" detect --overwrite --quiet --sensitivity 5 -o "$out/$fold" "${own[@]}"
done
rm "$out/blik" "$out/overlay.json"
