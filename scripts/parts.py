"""Compares detection in parts of a photograph with detection in the whole of it.

  parts.py BLIK      reads ../shared/data/glare-dev

Detection runs on four parts of each development picture, of up to 900 x 700 pixels; pixels within 128 of a part's border
are not compared. Parts that begin at multiples of 128 pixels give the same mask; others align differently with the cells
of the network.
"""
import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

MARGIN = 128


def findings(mask):
    return cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)[0] - 1


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pictures = sorted(glob.glob("../shared/data/glare-dev/*_glare.*"))
    print("%-28s %8s %8s %8s %8s %8s" % ("parts", "whole px", "part px", "differ", "findings", "in parts"))
    for name, step, shift in (("at multiples of 128", 128, 0), ("at multiples of 128, plus 5", 128, 5)):
        totals = np.zeros(5, int)
        for path in pictures:
            with tempfile.TemporaryDirectory() as folder:
                picture = cv2.imread(path)
                h, w = picture.shape[:2]
                parts = []
                for k in range(4):
                    y, x = (int(f * side) // step * step + shift for f, side in ((0.1 + 0.45 * (k // 2), h), (0.1 + 0.45 * (k % 2), w)))
                    part = picture[y:y + 700, x:x + 900]
                    parts.append((y, x) + part.shape[:2])
                    cv2.imwrite("%s/%d.png" % (folder, k), part)
                cv2.imwrite(folder + "/whole.png", picture)
                files = ["%s/%s.png" % (folder, n) for n in ("whole", 0, 1, 2, 3)]
                subprocess.run([sys.argv[1], "detect", "--quiet", "-o", folder] + files, check=True)
                read = lambda n: cv2.imread("%s/%s_mask.png" % (folder, n), cv2.IMREAD_GRAYSCALE) > 127
                whole = read("whole")
                for k, (y, x, a, b) in enumerate(parts):
                    here = whole[y + MARGIN:y + a - MARGIN, x + MARGIN:x + b - MARGIN]
                    part = read(k)[MARGIN:a - MARGIN, MARGIN:b - MARGIN]
                    totals += here.sum(), part.sum(), (here != part).sum(), findings(here), findings(part)
        print("%-28s %8d %8d %8d %8d %8d" % (name, *totals))


if __name__ == "__main__":
    main()
