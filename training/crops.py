"""Recall on labelled crops at fixed rates of false findings.

  crops.py TRUTH FOLDER...

TRUTH has NAME_image.png and NAME_truth.png, as ../shared/data/glare-real: 255 glare, 128 unsure, 0 certainly none. FOLDER holds
what `blik detect --sensitivity 5` writes of them: NAME_image_mask.png and NAME_image_findings.json. For each folder and each
number of false findings a megapixel on the pictures without glare, at the least strength with at most so many: the recall of
bright glints (darkest channel up to 120 or more) and of dim ones, the share of right findings, and the strength. The rules of
counting are those of ../shared/tools/score_real.py.
"""
import glob
import json
import os
import sys

import cv2
import numpy as np

from anchors import NEAR, components

RATES = 4, 8, 16, 30
BRIGHT = 120


def wide(mask):
    return cv2.dilate(mask.astype(np.uint8), NEAR) > 0


def strengths(mask, findings):
    """Returns the components of a mask and the strength of each, that of its strongest finding."""
    n, part, box, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    out = np.zeros(n)
    for f in findings:
        left, top, width, height = (f[k] for k in ("left", "top", "width", "height"))
        own = np.unique(part[top:top + height, left:left + width])
        for k in own[own > 0]:
            x, y, w, h = box[k, :4]
            if x >= left and y >= top and x + w <= left + width and y + h <= top + height:
                out[k] = max(out[k], f["strength"])
    return part, out


class Crop:
    def __init__(self, truth, name, folder):
        mask = cv2.imread("%s/%s_image_mask.png" % (folder, name), cv2.IMREAD_GRAYSCALE) > 127
        report = json.load(open("%s/%s_image_findings.json" % (folder, name)))
        self.part, self.strength = strengths(mask, report["findings"])
        image = cv2.imread("%s/%s_image.png" % (truth, name))
        label = cv2.imread("%s/%s_truth.png" % (truth, name), cv2.IMREAD_GRAYSCALE)
        self.glare, self.unsure = label == 255, label == 128
        n, self.glint = components(self.glare)
        peak = np.zeros(n, int)
        np.maximum.at(peak, self.glint.ravel(), image.min(2).ravel())
        self.bright = peak[1:] >= BRIGHT

    def found(self, least):
        """Returns which glints are found, and the numbers of right and of wrong findings."""
        kept = np.concatenate([[False], self.strength[1:] > least])
        hit = np.isin(np.arange(1, len(self.bright) + 1), self.glint[wide(kept[self.part]) & self.glare])
        right = np.zeros(len(kept), bool)
        right[self.part[wide(self.glare)]] = True
        size = np.maximum(np.bincount(self.part.ravel(), minlength=len(kept)), 1)
        doubtful = np.bincount(self.part[wide(wide(self.unsure))], minlength=len(kept)) / size >= 0.5
        return hit, np.count_nonzero(kept & right), np.count_nonzero(kept & ~right & ~doubtful)


def main():
    truth, *folders = sys.argv[1:]
    names = sorted(os.path.basename(f)[:-10] for f in glob.glob(truth + "/*_truth.png"))
    for folder in folders:
        crops = [Crop(truth, n, folder) for n in names]
        clean = [c for c in crops if not c.glare.any()]
        area = sum(np.count_nonzero(~c.unsure) for c in clean) / 1e6
        text = []
        for rate in RATES:
            low, high = 0.0, 20.0
            for _ in range(14):
                middle = (low + high) / 2
                if sum(c.found(middle)[2] for c in clean) <= rate * area:
                    high = middle
                else:
                    low = middle
            hit, right, wrong = zip(*(c.found(high) for c in crops if c.glare.any()))
            hit, bright = np.concatenate(hit), np.concatenate([c.bright for c in crops])
            text.append("%d: %.2f / %.2f, %.2f right, strength %.2f" % (
                rate, hit[bright].mean(), hit[~bright].mean(), sum(right) / max(1, sum(right) + sum(wrong)), high))
        print("%-16s %s" % (os.path.basename(os.path.normpath(folder)), "; ".join(text)), flush=True)


if __name__ == "__main__":
    main()
