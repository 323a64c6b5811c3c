#!/usr/bin/env python3
"""Measures what blik learn gains. It learns from the left half of a picture of ../shared/data/glare-real; the right half
and the other pictures are scored before and after.

  learning.py BLIK

Prints the figures of blik learn for the parts that it left out, then the tables of ../shared/tools/score_real.py. Needs
python3-opencv and python3-numpy.
"""
import glob, os, subprocess, sys, tempfile
import cv2

blik = os.path.abspath(sys.argv[1])
shared = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared")
files = sorted(glob.glob(shared + "/data/glare-real/*_image.png"))


def read(f):
    return [cv2.imread(p, cv2.IMREAD_UNCHANGED) for p in (f, f.replace("_image", "_truth"))]


def halves(f, left):
    pictures = read(f)
    half = pictures[0].shape[1] // 2
    return [p[:, :half] if left else p[:, half:] for p in pictures]


def put(folder, f, pictures):
    os.makedirs(folder, exist_ok=True)
    for kind, p in zip(("image", "truth"), pictures):
        cv2.imwrite(f"{folder}/{os.path.basename(f).replace('image', kind)}", p)


for f in files:
    if not os.path.basename(f).startswith("g0"):
        continue
    with tempfile.TemporaryDirectory() as out:
        put(out + "/left", f, halves(f, True))
        put(out + "/right-half", f, halves(f, False))
        for g in files:
            if g != f:
                put(out + "/others", g, read(g))
        name = os.path.basename(f)
        said = subprocess.run([blik, "learn", "--overwrite", "-o", out + "/my.json", "--from",
                               f"{out}/left/{name}={out}/left/{name.replace('image', 'truth')}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"\n{name}, left half:\n{said.stdout.strip()}", flush=True)
        if not os.path.exists(out + "/my.json"):
            continue
        for where in ("right-half", "others"):
            masks = []
            for how, options in (("default", []), ("learned", ["--preset", out + "/my.json"])):
                masks.append(f"{out}/{where}-{how}")
                pictures = sorted(glob.glob(f"{out}/{where}/*_image.png"))
                subprocess.run([blik, "detect", "--quiet", "-o", masks[-1], *options, *pictures], check=True)
            score = [sys.executable, shared + "/tools/score_real.py", "--gt", f"{out}/{where}"]
            subprocess.run(score + masks, check=True)
