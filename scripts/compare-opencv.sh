#!/usr/bin/env bash
# Compares correction with OpenCV's inpainting on ../shared/data/glare-dev: the same pictures, the same mask (the truth
# grown by 5 × 5), the same scorer. Uses build/blik-headless and a PYTHON with cv2, numpy and scipy, by default
# /usr/bin/python3 (Debian: python3-opencv, python3-scipy).
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-/usr/bin/python3}
data=../shared/data
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$python" - "$data/glare-dev" "$out" <<'END'
import glob, os, sys
import cv2, numpy as np

data, out = sys.argv[1:]
methods = {"navier-stokes": cv2.INPAINT_NS, "telea": cv2.INPAINT_TELEA}
for folder in ("masks", *methods):
    os.makedirs(os.path.join(out, folder))
for path in sorted(glob.glob(data + "/*_glare.*")):
    name = os.path.basename(path).rsplit("_glare", 1)[0]
    truth = cv2.imread(f"{data}/{name}_mask.png", cv2.IMREAD_GRAYSCALE)
    mask = cv2.dilate((truth > 127).astype(np.uint8) * 255, np.ones((5, 5), np.uint8))
    cv2.imwrite(f"{out}/masks/{name}_glare_mask.png", mask)
    for folder, method in methods.items():
        cv2.imwrite(f"{out}/{folder}/{name}_corrected.png", cv2.inpaint(cv2.imread(path), mask, 3, method))
END
correct() {
  build/blik-headless correct --quiet --no-report --mask-dir "$out/masks" -o "$@" "$data"/glare-dev/*_glare.*
}
correct "$out/blik"
correct "$out/blik-halo-0" --halo 0

for method in navier-stokes telea blik blik-halo-0; do
  echo "$method"
  "$python" ../shared/tools/score.py --gt "$data/glare-dev" --large-dir "$data/paintings" --pred "$out/masks" \
    --corrected "$out/$method"
done
