"""Scores Blik beside other detectors on the same real truth, with swept thresholds.

  anchors.py GROUP=FOLDER... [--blik PROGRAM] [--trial SCRIPTS] [--runs N]

FOLDER holds NAME_image.png and NAME_truth.png: 255 glare, 128 unsure, 0 certainly none; a picture without a truth has no glare.
Folders of the shared data are glare-real, and what tools/multi_light.py makes of a stack of lamps. Detectors: Blik (PROGRAM, the
command line), the networks of the trial in SCRIPTS (../shared/tools/network-spike), lightness over its median of 25 x 25, white
top-hat of 15 x 15, lightness over its median of 3 x 3 (the rule of G'MIC's remove_hotpixels), astroscrappy.detect_cosmics, and
sep.extract. For each detector the least false findings a megapixel, on ground without glare, at a recall of 0.25, 0.5 and 0.75,
and the recall at a precision of 0.9 and at 6 false findings a megapixel, with 5 and 95 % of N bootstrap runs over pictures.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

NEAR = np.ones((3, 3), np.uint8)
STRENGTHS = np.geomspace(0.7, 24, 14)
LEAST_RISE = 30


def components(mask):
    return cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)


def counts(mask, truth):
    """Returns true glints, found ones, right and wrong findings, and findings and megapixels of a picture without glare."""
    glare, unsure = truth == 255, truth == 128
    n, part = components(glare)
    found = np.unique(part[(cv2.dilate(mask.astype(np.uint8), NEAR) > 0) & glare])
    m, mark = components(mask)
    right = np.zeros(m, bool)
    right[np.unique(mark[cv2.dilate(glare.astype(np.uint8), NEAR) > 0])] = True
    doubtful = np.bincount(mark[unsure], minlength=m) * 2 > np.bincount(mark.ravel(), minlength=m)
    right[0] = False
    wrong = ~right & ~doubtful
    wrong[0] = False
    clean = not glare.any()
    return np.array([n - 1, np.count_nonzero(found), right.sum(), wrong.sum(),
                     (m - 1 - doubtful[1:].sum()) * clean, (~unsure).sum() / 1e6 * clean])


def lightness(image):
    b, g, r = (image[..., i].astype(np.int32) for i in range(3))
    return ((r + 2 * g + b + 2) >> 2).astype(np.uint8)


def swept(score, thresholds):
    return [score > t for t in thresholds]


def residual(size):
    return lambda image: swept(lightness(image).astype(int) - cv2.medianBlur(lightness(image), size), np.geomspace(4, 200, 14))


def tophat(image):
    return swept(cv2.morphologyEx(lightness(image), cv2.MORPH_TOPHAT, np.ones((15, 15), np.uint8)), np.geomspace(4, 200, 14))


def cosmics(image):
    import astroscrappy
    v = lightness(image).astype(np.float32)
    return [astroscrappy.detect_cosmics(v, sigclip=s, sigfrac=0.3, objlim=o, gain=1.0, readnoise=2.0, satlevel=1e9)[0]
            for s in (4.5, 8, 15, 30) for o in (1.0, 3.0, 6.0)]


def sources(image):
    import sep
    v = np.ascontiguousarray(lightness(image).astype(np.float32))
    sep.set_extract_pixstack(5_000_000)
    ground = sep.Background(v, bw=32, bh=32)
    out = []
    for t in np.geomspace(2, 60, 14):
        try:
            found = sep.extract(v - ground, float(t), err=ground.globalrms, minarea=1, segmentation_map=True, deblend_cont=1.0)
            out.append(found[1] > 0)
        except Exception:  # more objects than it can hold
            out.append(np.ones(v.shape, bool))
    return out


def trial(scripts, name):
    sys.path.insert(0, scripts)
    import nets
    import torch
    d = torch.load(os.path.join(scripts, name), map_location="cpu")
    net, planes = nets.build(d["name"])
    net.load_state_dict(d["state"])
    net = net.float().eval()

    def find(image):
        logits = nets.whole(net, planes, torch.from_numpy(image[..., ::-1].copy()).permute(2, 0, 1)).numpy()
        n, part = components(logits > 0)
        power = np.sqrt(np.bincount(part.ravel(), np.maximum(logits, 0).ravel(), minlength=n))
        rise = np.zeros(n)
        for value in (lightness(image), image.min(2)):
            np.maximum.at(rise, part.ravel(), (value.astype(int) - cv2.medianBlur(np.ascontiguousarray(value), 25)).ravel())
        power[rise < LEAST_RISE] = 0
        power[0] = 0
        return swept(power[part], STRENGTHS)
    return find


def blik(program, images):
    """Returns for each picture its masks at falling sensitivities."""
    out = {f: [] for f in images}
    with tempfile.TemporaryDirectory() as folder:
        for s in np.linspace(5, -5, 14):
            # One name for each, since pictures of different folders may be named alike.
            links = []
            for k, f in enumerate(images):
                links.append(os.path.join(folder, "%04d.png" % k))
                if not os.path.exists(links[-1]):
                    os.symlink(os.path.abspath(f), links[-1])
            subprocess.run([program, "detect", "-q", "--overwrite", "--sensitivity", "%.3f" % s, "-o", folder + "/out"] + links, check=True)
            for k, f in enumerate(images):
                out[f].append(cv2.imread("%s/out/%04d_mask.png" % (folder, k), 0) > 127)
    return lambda f: out[f]


def curve(rows):
    """Recall, precision and false findings a megapixel of each threshold; rows are [picture, threshold, count]."""
    s = rows.sum(0)
    return (s[:, 1] / np.maximum(s[:, 0], 1), s[:, 2] / np.maximum(s[:, 2] + s[:, 3], 1),
            s[:, 4] / np.maximum(s[:, 5], 1e-9) if s[0, 5] else np.full(len(s), np.nan))


def figures(rows):
    recall, precision, false = curve(rows)
    best = lambda ok: recall[ok].max() if ok.any() else 0.0
    out = [false[recall >= r].min() if (recall >= r).any() else np.nan for r in (0.25, 0.5, 0.75)]
    return np.array(out + [best(precision >= 0.9), best(false <= 6)])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("groups", nargs="+")
    ap.add_argument("--blik")
    ap.add_argument("--trial")
    ap.add_argument("--runs", type=int, default=400)
    o = ap.parse_args()
    groups = {g.split("=")[0]: sorted(glob.glob(g.split("=")[1] + "/*_image.png")) for g in o.groups}
    images = [f for files in groups.values() for f in files]
    whole = lambda find: lambda f: find(cv2.imread(f))
    detectors = {}
    if o.blik:
        detectors["Blik"] = blik(o.blik, images)
    if o.trial:
        detectors.update({"trial, " + n[:-3]: whole(trial(o.trial, n)) for n in ("C_u12-inv.pt", "D_u16-abs.pt")})
    detectors.update({"median residual, 25": whole(residual(25)), "top-hat, 15": whole(tophat), "hot pixels, 3": whole(residual(3)),
                      "astroscrappy": whole(cosmics), "SEP": whole(sources)})
    print("%-12s %-20s %s" % ("group", "detector", "false/MP at recall .25 .50 .75 | recall at precision .9 (5-95 %) | at 6 false/MP (5-95 %)"))
    rng = np.random.default_rng(1)
    for group, files in groups.items():
        truths = []
        for f in files:
            t = f.replace("_image", "_truth")
            truths.append(cv2.imread(t, 0) if os.path.exists(t) else np.zeros(cv2.imread(f).shape[:2], np.uint8))
        for name, find in detectors.items():
            rows = np.stack([[counts(m, t) for m in find(f)] for f, t in zip(files, truths)])
            own = figures(rows)
            with np.errstate(all="ignore"):
                runs = np.stack([figures(rows[rng.integers(0, len(rows), len(rows))]) for _ in range(o.runs)])
            low, high = np.nanpercentile(runs[:, 3:], (5, 95), axis=0)
            print("%-12s %-20s %8.1f %8.1f %8.1f | %.2f (%.2f-%.2f) | %.2f (%.2f-%.2f)" % (
                group, name, *own[:3], own[3], low[0], high[0], own[4], low[1], high[1]), flush=True)


if __name__ == "__main__":
    main()
