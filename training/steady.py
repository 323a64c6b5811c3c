"""Prints how steady findings are: with other light, on the same picture mirrored, turned and cropped, and as another camera takes it.

  steady.py PROGRAM PICTURE... [--side N] [--margin M]
  steady.py PROGRAM --crops TRUTH

Takes the first N x N pixels of each picture (all of it, if that is less). For each change: the share of the findings that are kept,
F1 between those of the original and those of the changed picture (the smaller count of matches on both sides, places within 4 px),
and the number of findings as a multiple; means over the pictures with at least five findings. Of cropped pictures the findings within
M pixels of the new border do not count, because there is other paint about them. PROGRAM is Blik's command line.

With --crops, of the labelled bright and dim glints of TRUTH (crops.py) those found by the default: the share that are found in the changed
pictures too; the recall there; and false findings a megapixel on the pictures without glare. For enlarged pictures also the share of right
findings.
"""
import argparse
import glob
import json
import os
import subprocess
import tempfile

import cv2
import numpy as np
from scipy.spatial import cKDTree

from crops import Crop

NEAR = 4
FEW = 5  # a picture with fewer findings says nothing
CROP = 53, 77  # left and top: no multiple of the network's cells


def linear(picture):
    """Returns the light of a picture in sRGB, 0...1."""
    v = picture / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def whole(levels):
    return np.clip(levels + 0.5, 0, 255).astype(np.uint8)


def display(light):
    """Returns light as a picture in sRGB."""
    v = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    return whole(v * 255)


def noisy(picture):
    """Returns a picture with the noise of a sensor: about 6 levels in the dark and 3 on mid grey."""
    light = linear(picture)
    noise = np.random.default_rng(1).standard_normal(light.shape)
    return display(np.clip(light + np.sqrt(5e-4 * light + 4e-6) * noise, 0, 1))


def compressed(picture, quality):
    """Returns a picture as a JPEG file holds it, whose blocks lie across those of the original."""
    wide = cv2.copyMakeBorder(picture, 4, 4, 4, 4, cv2.BORDER_REFLECT)
    return cv2.imdecode(cv2.imencode(".jpg", wide, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)[4:-4, 4:-4]


def same(at):
    return at


def changes(picture):
    """Yields the name of a change, the changed picture, and a function that takes its places [n, 2] back to the original."""
    w = picture.shape[1]
    yield "half the light", display(linear(picture) * 0.5), same
    yield "twice the light", display(linear(picture) * 2), same
    yield "mirrored", picture[:, ::-1], lambda at: np.stack([w - at[:, 0], at[:, 1]], 1)
    yield "turned", np.rot90(picture), lambda at: np.stack([w - at[:, 1], at[:, 0]], 1)
    yield "cropped", picture[CROP[1]:, CROP[0]:], lambda at: at + CROP
    soft = cv2.GaussianBlur(picture, (0, 0), 1).astype(float)
    yield "JPEG, quality 90", compressed(picture, 90), same
    yield "JPEG, quality 75", compressed(picture, 75), same
    yield "noise", noisy(picture), same
    yield "sharpened", whole(picture + 0.8 * (picture - soft)), same
    yield "softened", cv2.GaussianBlur(picture, (0, 0), 0.8), same
    yield "half the colour", whole((picture + picture.mean(2, keepdims=True)) / 2), same


def centres(program, picture):
    """Returns the centres of the findings, [n, 2] as x and y."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.png")
        cv2.imwrite(path, np.ascontiguousarray(picture))
        subprocess.run([program, "detect", "-q", "-o", folder, path], check=True)
        found = json.load(open(os.path.join(folder, "picture_findings.json")))["findings"]
    return np.array([(f["left"] + f["width"] / 2, f["top"] + f["height"] / 2) for f in found]).reshape(-1, 2)


def near(of, to):
    """Returns how many places have another one near."""
    return int((cKDTree(to).query(of)[0] <= NEAR).sum()) if len(of) and len(to) else 0


def figures(crops):
    """Returns which bright and which dim glints the default finds, the share of right findings where there is glare, and how many false
    ones a megapixel where there is none."""
    found, right, wrong = zip(*(c.found(0) for c in crops))
    bare = np.array([not c.glare.any() for c in crops])
    false = np.dot(wrong, bare) / np.dot([np.count_nonzero(~c.unsure) for c in crops], bare) * 1e6
    found, bright = np.concatenate(found), np.concatenate([c.bright for c in crops])
    return found[bright], found[~bright], np.dot(right, ~bare) / np.dot(np.add(right, wrong), ~bare), false


def hits(program, truth, pictures):
    """Returns which bright and which dim glints of TRUTH are found in its pictures, changed, {name: pixels}, and how many false findings
    a megapixel where there is no glare."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, n + "_image.png") for n in pictures]
        for path, picture in zip(paths, pictures.values()):
            cv2.imwrite(path, np.ascontiguousarray(picture))
        subprocess.run([program, "detect", "-q", "-o", folder, *paths], check=True)
        crops = [Crop(truth, n, folder) for n in pictures]
    bright, dim, _, false = figures(crops)
    return bright, dim, false


def larger(program, truth, names, factor):
    """Returns the recall of bright and of dim glints, the share of right findings where there is glare, and false ones a megapixel where
    there is none, in pictures and truth enlarged by a factor."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name in names:
            for part, how in ("image", cv2.INTER_CUBIC), ("truth", cv2.INTER_NEAREST):
                paths.append(os.path.join(folder, "%s_%s.png" % (name, part)))
                picture = cv2.imread("%s/%s_%s.png" % (truth, name, part), cv2.IMREAD_UNCHANGED)
                cv2.imwrite(paths[-1], cv2.resize(picture, None, fx=factor, fy=factor, interpolation=how))
        subprocess.run([program, "detect", "-q", "-o", folder, *paths[::2]], check=True)
        crops = [Crop(folder, n, folder) for n in names]
    bright, dim, right, false = figures(crops)
    return bright.mean(), dim.mean(), right, false


def judge_crops(program, truth):
    names = sorted(os.path.basename(f)[:-len("_truth.png")] for f in glob.glob(truth + "/*_truth.png"))
    pictures = {n: cv2.imread("%s/%s_image.png" % (truth, n)) for n in names}
    *first, false = hits(program, truth, pictures)
    print("%-16s found %.2f / %.2f  %.1f false a megapixel" % ("as they are", *(f.mean() for f in first), false))
    for name, _, back in changes(pictures[names[0]]):
        if back is not same:
            continue
        changed = {n: next(c for k, c, _ in changes(p) if k == name) for n, p in pictures.items()}
        *now, false = hits(program, truth, changed)
        kept = [(f & g).sum() / max(1, f.sum()) for f, g in zip(first, now)]
        print("%-16s kept %.2f / %.2f  found %.2f / %.2f  %.1f false a megapixel" % (
            name, *kept, *(g.mean() for g in now), false))
    for factor in 1.5, 2:
        print("enlarged by %g   found %.2f / %.2f  %.2f right  %.1f false a megapixel" % (
            factor, *larger(program, truth, names, factor)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("program")
    ap.add_argument("pictures", nargs="*")
    ap.add_argument("--crops")
    ap.add_argument("--side", type=int, default=3000)
    ap.add_argument("--margin", type=int, default=0)
    o = ap.parse_args()
    if o.crops:
        judge_crops(o.program, o.crops)
    rows = {}
    for path in o.pictures:
        picture = cv2.imread(path, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)[:o.side, :o.side]
        every = centres(o.program, picture)
        if len(every) < FEW:
            print("%s: %d findings, left out" % (path, len(every)))
            continue
        for name, changed, back in changes(picture):
            own, other = every, back(centres(o.program, changed))
            if name == "cropped" and o.margin:
                own, other = (at[(at > np.add(CROP, o.margin)).all(1)] for at in (own, other))
            kept, found = near(own, other), near(other, own)
            f1 = 2 * min(kept, found) / max(1, len(own) + len(other))
            rows.setdefault(name, []).append((kept / max(1, len(own)), f1, len(other) / max(1, len(own))))
    for name, values in rows.items():
        print("%-16s kept %.2f  F1 %.2f  %.2f times as many" % (name, *np.mean(values, 0)))


if __name__ == "__main__":
    main()
