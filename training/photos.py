"""Puts together the photographs for training from ../shared/data.

  photos.py DATA OUT

OUT gets NAME.jpg and its label map NAME_lab.png (data.py says what is in it) of the labelled photographs, of paintings-new and the
Scream, and of two stacks of lamps (icon-demetrios, painted-door; canvas-fattori is kept for judging), and zones.json.
"""
import argparse
import importlib.util
import json
import os
import shutil
import tempfile

import cv2
import numpy as np

import label

STACKS = {"icon": "icon-demetrios", "door": "painted-door"}
GLARE, OTHER = 255, 66  # of a label map
UNLIT = 4  # of the pictures of a stack without glints every fourth is enough
HERE = os.path.dirname(os.path.abspath(__file__))


def name_of(file):
    """Names the pictures of one painting PAINTING__PART."""
    name = os.path.splitext(file)[0]
    return "n_" + (name[:-2] + "__" + name[-1] if name[-2:] in ("_a", "_b") else name)


def labelled(data, out):
    """Copies the photographs with label maps, and draws those of the places in training/labels."""
    for file in sorted(os.listdir(os.path.join(data, "labels"))):
        if file.endswith("_lab.png"):
            shutil.copy(os.path.join(data, "labels", file), out)
            shutil.copy(os.path.join(data, "photographs", file[:-8] + ".jpg"), out)
    pictures, places = label.read_labels(os.path.join(HERE, "labels", "labels.json"))
    about = json.load(open(os.path.join(data, "paintings-new", "about.json")))
    doubted = [f for f in pictures if "real" not in about.get(f, {"use": ""})["use"]]
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(pictures):
            source = os.path.join(data, "paintings-new" if file in about else "paintings")
            rows = os.path.join(folder, "places.json")
            of = [[p["x"], p["y"]] for p in places if p["file"] == file]
            json.dump({"file": file, "sha256": label.digest(os.path.join(source, file)), "all": of}, open(rows, "w"))
            label.maps(folder, os.path.join(HERE, "labels", "labels.json"), [rows], source, doubted)
            shutil.copy(os.path.join(source, file), os.path.join(out, name_of(file) + ".jpg"))
            shutil.copy(os.path.join(folder, os.path.splitext(file)[0] + "_lab.png"), os.path.join(out, name_of(file) + "_lab.png"))


def eyes(out):
    """Marks eyes as judged: teachers that take their lights for glare are not followed there."""
    for name, places in json.load(open(os.path.join(HERE, "labels", "eyes.json"))).items():
        path = os.path.join(out, name + "_lab.png")
        marks = cv2.imread(path, cv2.IMREAD_UNCHANGED)
        for x, y, r in places:
            own = marks[y - r:y + r, x - r:x + r]
            own[own != GLARE] = OTHER
        cv2.imwrite(path, marks)


def stacks(data, out):
    spec = importlib.util.spec_from_file_location("multi_light", os.path.join(data, "..", "tools", "multi_light.py"))
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for short, name in STACKS.items():
        with tempfile.TemporaryDirectory() as folder:
            tool.make(os.path.join(data, "multi-light", name), folder)
            lit = sorted(f[:-10] for f in os.listdir(folder) if f.startswith("p") and f.endswith("_image.png"))
            unlit = sorted(f[:-10] for f in os.listdir(folder) if f.startswith("n"))[::UNLIT]
            for file in lit + unlit:
                image = cv2.imread(os.path.join(folder, file + "_image.png"))
                to = os.path.join(out, "stack_%s__%s" % (short, file))
                cv2.imwrite(to + ".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])
                if file in lit:
                    shutil.copy(os.path.join(folder, file + "_truth.png"), to + "_lab.png")
                else:
                    cv2.imwrite(to + "_lab.png", np.zeros(image.shape[:2], np.uint8))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data")
    ap.add_argument("out")
    o = ap.parse_args()
    os.makedirs(o.out, exist_ok=True)
    labelled(o.data, o.out)
    eyes(o.out)
    stacks(o.data, o.out)
    shutil.copy(os.path.join(o.data, "labels", "zones.json"), o.out)


if __name__ == "__main__":
    main()
