#!/usr/bin/env python3
"""Measures automatic correction against the clean picture, in the true mask and 3 px around it.

  repair.py BLIK

The pictures are three paintings by the program of each scene, which neither network nor weights have seen, and
../shared/data/glare-dev (training data). Prints the tables of ../shared/tools/score.py, for the found mask and
for the true mask grown by 5 x 5. Needs python3-opencv, python3-numpy and python3-scipy.
"""
import glob, json, os, subprocess, sys, tempfile
import cv2, numpy as np

blik = os.path.abspath(sys.argv[1])
shared = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared")


def run(*command):
    subprocess.run(command, check=True)


def table(title, data, files, out):
    masks = out + "/masks"
    os.makedirs(masks)
    for f in files:
        name = os.path.basename(f).rsplit("_glare", 1)[0]
        truth = cv2.imread(f"{data}/{name}_mask.png", cv2.IMREAD_GRAYSCALE)
        grown = cv2.dilate((truth > 127).astype(np.uint8) * 255, np.ones((5, 5), np.uint8))
        cv2.imwrite(f"{masks}/{name}_glare_mask.png", grown)
    run(blik, "detect", "--quiet", "-o", out + "/found", *files)
    for how, options in (("found", ("--mask-dir", out + "/found")), ("true", ("--mask-dir", masks))):
        corrected = f"{out}/{how}-corrected"
        run(blik, "correct", "--quiet", "--no-report", *options, "-o", corrected, *files)
        print(f"\n{title}, {how} mask", flush=True)
        run(sys.executable, shared + "/tools/score.py", "--gt", data, "--large-dir", shared + "/data/paintings",
            "--pred", options[1], "--corrected", corrected)


with tempfile.TemporaryDirectory() as out:
    data, items = out + "/painted", []
    os.makedirs(data)
    for scene in ("coast", "still-life", "portrait"):
        for seed in ("101", "102", "103"):
            name = f"{scene}-{seed}"
            run(blik, "sample", "--quiet", "--clean", "--width", "900", "--height", "700", "--scene", scene,
                "--seed", seed, "-o", f"{data}/{name}.png")
            os.rename(f"{data}/{name}.png", f"{data}/{name}_glare.png")
            items.append(dict(name=name, glare=f"{name}_glare.png", mask=f"{name}_mask.png", clean=f"{name}_clean.png"))
    json.dump({"items": items}, open(data + "/manifest.json", "w"))
    table("Painted by the program", data, sorted(glob.glob(data + "/*_glare.png")), out + "/a")
    dev = shared + "/data/glare-dev"
    table("Development pictures (training)", dev, sorted(glob.glob(dev + "/*_glare.*")), out + "/b")
