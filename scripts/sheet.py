#!/usr/bin/env python3
"""Draws a sheet of 40 parts of ../shared/data/glare-real, each unchanged, with the findings marked, and corrected.

  sheet.py BLIK SHEET.png

Each part has 64 x 40 pixels and is shown at 300 %. The parts surround labelled glints and findings, drawn with a fixed
seed in proportion to their number in each picture, at least two per picture if possible. Needs python3-opencv and
python3-numpy.
"""
import glob, os, random, subprocess, sys, tempfile
import cv2, numpy as np

blik, sheet = sys.argv[1:]
data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/data/glare-real")
files = sorted(glob.glob(data + "/*_image.png"))
PARTS, W, H, ZOOM, COLUMNS = 40, 64, 40, 3, 2


def middles(mask):
    return [tuple(map(int, c)) for c in cv2.connectedComponentsWithStats(mask.astype(np.uint8))[3][1:]]


with tempfile.TemporaryDirectory() as out:
    subprocess.run([blik, "detect", "--quiet", "--marked", "-o", out, *files], check=True)
    subprocess.run([blik, "correct", "--quiet", "--no-report", "-o", out, *files], check=True)
    places, pictures = {}, {}
    for f in files:
        name = os.path.basename(f)[:-4]
        truth = cv2.imread(f.replace("_image", "_truth"), cv2.IMREAD_GRAYSCALE)
        mask = cv2.imread(f"{out}/{name}_mask.png", cv2.IMREAD_GRAYSCALE)
        places[name] = middles(truth == 255) + middles((mask > 127) & (truth != 255))
        corrected = glob.glob(f"{out}/{name}_corrected.*")
        pictures[name] = [cv2.imread(p) for p in (f, f"{out}/{name}_marked.png", corrected[0])]

random.seed(1)
total, rows = sum(map(len, places.values())), []
wanted = {name: min(max(2, round(PARTS * len(p) / total)), len(p)) for name, p in places.items()}
wanted[max(wanted, key=wanted.get)] += PARTS - sum(wanted.values())
for name, points in places.items():
    random.shuffle(points)
    taken = []
    h, w = pictures[name][0].shape[:2]
    for apart in (1, 0.25):  # overlapping parts only where there are too few others
        for x, y in points:
            x, y = min(max(x - W // 2, 0), w - W), min(max(y - H // 2, 0), h - H)
            near = [1 for u, v in taken if abs(x - u) < apart * W and abs(y - v) < apart * H]
            if len(taken) < wanted[name] and not near:
                taken.append((x, y))
    for x, y in sorted(taken, key=lambda p: p[::-1]):
        parts = [cv2.resize(p[y:y + H, x:x + W], None, fx=ZOOM, fy=ZOOM, interpolation=cv2.INTER_NEAREST)
                 for p in pictures[name]]
        row = np.hstack([cv2.copyMakeBorder(p, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=(64, 64, 64)) for p in parts])
        rows.append(row)
        print(len(rows), name, x, y)
rows += [np.zeros_like(rows[0])] * (-len(rows) % COLUMNS)
n = len(rows) // COLUMNS
cv2.imwrite(sheet, np.hstack([np.vstack(rows[c * n:(c + 1) * n]) for c in range(COLUMNS)]))
