"""Renders crops with the relief renderer of ../shared/tools/make_relief.py, on photographs.

  relief.py MAKE_RELIEF.py PHOTOS OUT.pt COUNT SEED [--skip p005,p009]

Conditions come in turn, each painting equally often. Every picture of 1200 x 900 gives two crops about its glare and, every second
one, a crop of the clean picture. OUT is as render.py writes it.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import os

import cv2
import numpy as np
import torch

from render import PAPER, SIDE, jpeg

MARGIN = 0.06  # of each side, beside what zones.json says is frame or support


def module(path):
    spec = importlib.util.spec_from_file_location("make_relief", path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def rendered(path, photo, zone, seed):
    """Returns rows of R, G, B, label and whether there was a lamp."""
    cv2.setNumThreads(1)
    tool, rng = module(path), np.random.default_rng(seed)
    picture = cv2.imread(photo, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    h, w = picture.shape[:2]
    left, right, top, bottom = (v / 100 + MARGIN for v in zone)
    picture = picture[int(top * h):h - int(bottom * h), int(left * w):w - int(right * w)]
    name = list(tool.CONDITIONS)[seed % len(tool.CONDITIONS)]
    c = {**tool.BASE, **tool.CONDITIONS[name]}
    c.update(frac=c["frac"] * float(np.exp(rng.normal(0, 0.6))), psf=c["psf"] * float(rng.uniform(0.8, 1.4)), ext="png")
    image, clean, mask, _ = tool.render(tool.crop(picture, rng.random(2), c), c, seed)
    image = np.repeat(image[..., None], 3, 2) if image.ndim == 2 else image
    rows, at = [], np.argwhere(mask)
    for k in range(3 if seed % 2 else 2):
        near = at[rng.integers(len(at))] if len(at) else (0, 0)
        y, x = (int(np.clip(n - rng.integers(64, SIDE - 64), 0, s - SIDE)) for n, s in zip(near, mask.shape))
        cut = slice(y, y + SIDE), slice(x, x + SIDE)
        rgb = np.ascontiguousarray((image if k < 2 else clean)[cut][..., ::-1])
        label = mask[cut] * np.uint8(255 if k < 2 else 0)
        rows.append((np.concatenate([jpeg(rgb, rng), label[..., None]], 2), k < 2))
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("tool")
    ap.add_argument("photos")
    ap.add_argument("out")
    ap.add_argument("count", type=int)
    ap.add_argument("seed", type=int)
    ap.add_argument("--skip", default="p005,p009")
    o = ap.parse_args()
    apart = (*o.skip.split(","), *PAPER)
    names = sorted(f[:-4] for f in os.listdir(o.photos) if f.endswith(".jpg") and not f.startswith(("crop_", "stack_"))
                   and f[:-4] not in apart)
    zones = json.load(open(os.path.join(o.photos, "zones.json")))
    x, lit, of = [], [], []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        jobs = [(k, pool.submit(rendered, o.tool, os.path.join(o.photos, names[k] + ".jpg"), zones.get(names[k], [0] * 4), o.seed + n))
                for n in range(o.count) for k in [n % len(names)]]
        for k, job in jobs:
            for row, lamp in job.result():
                x.append(torch.from_numpy(row).permute(2, 0, 1))
                lit.append(lamp)
                of.append(k)
    torch.save({"x": torch.stack(x), "lit": torch.tensor(lit), "painting": torch.tensor(of), "names": names}, o.out)
    print("%s: %d crops of %d pictures" % (o.out, len(x), o.count), flush=True)


if __name__ == "__main__":
    main()
