"""Writes the masks of a network for a folder of pictures.

  evaluate.py NET.pt PICTURES OUT THRESHOLD [THRESHOLD...]

PICTURES holds NAME_image.png or NAME_glare.png|jpg; OUT-THRESHOLD gets NAME_image_mask.png or NAME_glare_mask.png, for
score_real.py and score.py of ../shared/tools.
"""
import glob
import os
import sys

import cv2
import torch

import judge
from model import Net


def load(path, device="cpu"):
    stored = torch.load(path, map_location=device)
    net = Net(stored["spec"])
    if stored["exact"]:
        net.fold()
    net.load_state_dict(stored["state"])
    return net.to(device).eval()


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    net, thresholds = load(sys.argv[1]), [float(t) for t in sys.argv[4:]]
    for path in sorted(glob.glob(os.path.join(sys.argv[2], "*"))):
        stem = os.path.splitext(os.path.basename(path))[0]
        if not stem.endswith(("_image", "_glare")):
            continue
        logit = judge.logits(net, cv2.imread(path, cv2.IMREAD_COLOR)[..., ::-1])
        for t in thresholds:
            out = "%s-%g" % (sys.argv[3], t)
            os.makedirs(out, exist_ok=True)
            cv2.imwrite(os.path.join(out, stem + "_mask.png"), judge.mask(logit, t))


if __name__ == "__main__":
    main()
