#!/usr/bin/env python3
"""Measures correction on paintings outside the development set, in the true mask and 3 px around it.

  unseen.py BLIK [FOLDER]

The glare consists of the first renderer's standard spots; TestCorrectUnseenPaintings renders it into FOLDER if that does
not exist. Constants may be chosen on the first half of the paintings; the second half is for measurement only. Prints
PSNR and SSIM of each picture with the true mask grown by 5 x 5, with the found mask, and of cv2.inpaint with the true
mask; then, for the second half, the squared error by kind, and what could be reached with further knowledge. Needs
python3-opencv, python3-numpy and python3-scipy.
"""
import glob, json, os, subprocess, sys, tempfile
import cv2, numpy as np
from scipy import ndimage

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(root, "../shared/tools"))
import score

blik = os.path.abspath(sys.argv[1])
temporary = tempfile.TemporaryDirectory()
folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else temporary.name
if not os.path.exists(folder + "/measured"):
    subprocess.run(["go", "test", "-count=1", "-run", "CorrectUnseenPaintings", "./processing/correct"], check=True, cwd=root,
                   env=dict(os.environ, BLIK_UNSEEN=folder), stdout=subprocess.DEVNULL)
columns = ("true mask", "found mask", "Telea", "Navier-Stokes")


def linear(v):
    v = v.astype(float) / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def read(path):
    return score.read8(path)


def half(name):
    """Yields the name, the picture, its clean version, the mask and the columns of the table for each picture."""
    data, out = f"{folder}/{name}", f"{temporary.name}/{name}"
    files = sorted(glob.glob(data + "/*_glare.png"))
    for sub in ("masks", "found"):
        os.makedirs(f"{out}/{sub}")
    items = json.load(open(data + "/manifest.json"))["items"]
    for it in items:
        truth = cv2.imread(f"{data}/{it['mask']}", cv2.IMREAD_GRAYSCALE)
        cv2.imwrite(f"{out}/masks/{it['name']}_glare_mask.png", cv2.dilate(truth, np.ones((5, 5), np.uint8)))
    subprocess.run([blik, "detect", "--quiet", "--overwrite", "-o", out + "/found", *files], check=True)
    for masks, to in (("masks", "true"), ("found", "auto")):
        subprocess.run([blik, "correct", "--quiet", "--no-report", "--mask-dir", f"{out}/{masks}", "-o", f"{out}/{to}",
                        *files], check=True)
    for it in items:
        glare, clean = read(f"{data}/{it['glare']}"), read(f"{data}/{it['clean']}")
        truth = cv2.imread(f"{data}/{it['mask']}", cv2.IMREAD_GRAYSCALE)
        grown = cv2.dilate(truth, np.ones((5, 5), np.uint8))
        corrected = [read(score.find(f"{out}/{to}", it["name"], score.CORR)) for to in ("true", "auto")]
        corrected += [cv2.inpaint(glare, grown, 3, how) for how in (cv2.INPAINT_TELEA, cv2.INPAINT_NS)]
        yield it["name"], glare, clean, truth > 127, corrected


kinds = {}


def count(glare, clean, truth, corrected):
    """Adds this picture's shares of error and of pixels of each kind."""
    ring = score.dil(truth, 3, square=False)
    error = [((c.astype(float) - clean) ** 2).mean(axis=2) for c in corrected]
    label, n = ndimage.label(ring, np.ones((3, 3)))
    area = np.r_[0, ndimage.sum_labels(truth, label, np.arange(1, n + 1))][label]
    light, clipped = (linear(glare) - linear(clean)).mean(axis=2), glare >= 251
    grey = cv2.cvtColor(clean, cv2.COLOR_BGR2GRAY).astype(float)
    rough = np.sqrt(np.maximum(cv2.blur(grey * grey, (9, 9)) - cv2.blur(grey, (9, 9)) ** 2, 0))
    smooth = cv2.GaussianBlur(clean, (0, 0), 3).astype(float)
    saturation = 1 - (smooth.min(axis=2) + 1) / (smooth.max(axis=2) + 1)
    for name, where in (
        ("spots up to 9 px", area <= 9), ("10 to 30 px", (area > 9) & (area <= 30)),
        ("31 to 100 px", (area > 30) & (area <= 100)), ("101 to 400 px", (area > 100) & (area <= 400)),
        ("above 400 px", area > 400),
        ("all channels clipped", clipped.all(axis=2)), ("some clipped", clipped.any(axis=2) & ~clipped.all(axis=2)),
        ("light above 0.3", ~clipped.any(axis=2) & (light > 0.3)),
        ("light 0.08 to 0.3", ~clipped.any(axis=2) & (light > 0.08) & (light <= 0.3)),
        ("light 0.01 to 0.08", ~clipped.any(axis=2) & (light > 0.01) & (light <= 0.08)),
        ("light up to 0.01", ~clipped.any(axis=2) & (light <= 0.01)),
        ("dark paint (level below 40)", grey < 40), ("saturated paint (above 0.5)", saturation > 0.5),
        ("flat paint (deviation below 5)", rough < 5), ("rough paint (5 to 15)", (rough >= 5) & (rough < 15)),
        ("edges (15 and more)", rough >= 15),
    ):
        where = where & ring
        row = kinds.setdefault(name, [])
        row.append([where.sum() / ring.sum(), *(e[where].sum() / error[0][ring].sum() for e in (error[0], *error[2:]))])


bounds = {}


def bound(glare, clean, truth, corrected):
    """Adds what the correction with the true mask could reach on this picture with further knowledge."""
    ring = score.dil(truth, 3, square=False)
    light, clipped = (linear(glare) - linear(clean)).mean(axis=2), (glare >= 251).any(axis=2)
    off = corrected.astype(float) - clean
    label, n = ndimage.label(ring, np.ones((3, 3)))
    known = np.r_[0, np.arange(1, n + 1)]
    level = np.stack([np.where(ring, ndimage.mean(off[..., k], label, known)[label], 0) for k in range(3)], axis=2)
    nearer = ((glare.astype(float) - clean) ** 2).sum(axis=2) < (off ** 2).sum(axis=2)
    for name, picture in (
        ("as it is", corrected),
        ("paint known where all is clipped", np.where((glare >= 251).all(axis=2)[..., None], clean, corrected)),
        ("where clipped or light above 0.3", np.where((clipped | (light > 0.3))[..., None], clean, corrected)),
        ("mean colour of each spot known", np.clip(np.round(corrected - level), 0, 255).astype(np.uint8)),
        ("original kept where that is nearer", np.where(nearer[..., None], glare, corrected)),
    ):
        v = score.score_corrected(picture, clean, glare, truth)
        bounds.setdefault(name, []).append([v["PSNR"], v["SSIM"]])


for name in ("chosen", "measured"):
    print(f"\n{'First half, constants were chosen on it' if name == 'chosen' else 'Second half, unseen'}")
    print(f"{'picture':38}" + "".join(f"{c:>16}" for c in columns))
    rows = []
    for picture, glare, clean, truth, corrected in half(name):
        values = [score.score_corrected(c, clean, glare, truth) for c in corrected]
        rows.append([[v["PSNR"], v["SSIM"]] for v in values])
        print(f"{picture:38}" + "".join(f"{v['PSNR']:>8.2f} / {v['SSIM']:.3f}" for v in values))
        if name == "measured":
            count(glare, clean, truth, corrected)
            bound(glare, clean, truth, corrected[0])
    print(f"{'mean':38}" + "".join(f"{p:>8.2f} / {s:.3f}" for p, s in np.mean(rows, axis=0)))
print(f"\n{'second half, by kind, %':38}{'pixels':>10}{'error':>10}{'Telea':>10}{'Navier-Stokes':>16}")
for name, rows in kinds.items():
    pixels, error, telea, ns = 100 * np.mean(rows, axis=0)
    print(f"{name:38}{pixels:>10.1f}{error:>10.1f}{telea:>10.1f}{ns:>16.1f}")
print("\nsecond half, what it would reach with the true mask if it knew more")
for name, rows in bounds.items():
    psnr, ssim = np.mean(rows, axis=0)
    print(f"{name:38}{psnr:>8.2f} / {ssim:.3f}")
