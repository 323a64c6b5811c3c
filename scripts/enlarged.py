"""Measures detection on enlarged photographs with labelled glints, as a substitute for scans of higher resolution.

  enlarged.py BLIK [FOLDER [OPTION...]]     reads ../shared/data/glare-real; masks are left in FOLDER

Each photograph is enlarged 1, 2, 3 and 4 times (cubic interpolation), searched with `BLIK detect` and the options, and
the mask is reduced again: a pixel counts if at least 35 % of it is marked. ../shared/tools/score_real.py scores it.
"""
import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

DATA = "../shared/data/glare-real"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    results = []
    for n in (1, 2, 3, 4):
        out = os.path.join(folder, "enlarged%d" % n)
        os.makedirs(out, exist_ok=True)
        results.append(out)
        for path in sorted(glob.glob(DATA + "/*_image.png")):
            name = os.path.basename(path)[:-len(".png")]
            picture = cv2.imread(path)
            with tempfile.TemporaryDirectory() as work:
                large = os.path.join(work, name + ".png")
                cv2.imwrite(large, cv2.resize(picture, None, fx=n, fy=n, interpolation=cv2.INTER_CUBIC))
                subprocess.run([sys.argv[1], "detect", "--quiet", "-o", work, *sys.argv[3:], large], check=True)
                mask = cv2.imread(os.path.join(work, name + "_mask.png"), cv2.IMREAD_GRAYSCALE)
            share = cv2.resize((mask > 127).astype(np.float32), picture.shape[1::-1], interpolation=cv2.INTER_AREA)
            cv2.imwrite(os.path.join(out, name + "_mask.png"), np.where(share >= 0.35, 255, 0).astype(np.uint8))
    subprocess.run([sys.executable, "../shared/tools/score_real.py", "--gt", DATA, *results], check=True)


main()
