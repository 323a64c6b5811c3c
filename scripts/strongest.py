#!/usr/bin/env python3
"""Draws two sheets of findings on photographs, to be looked at: the sixty strongest, and the sixty weakest that the default
accepts, at most eight of a painting.

  strongest.py FOLDER OUT PHOTO...

FOLDER holds NAME_findings.json of `blik detect --sensitivity 5`. OUT gets strongest.png, weakest.png and, for each tile in
order, the painting, place and strength in strongest.txt and weakest.txt. A tile is that of training/label.py: 64 px about the
finding at 400 %, the same marked, 384 px about it. Needs python3-opencv and python3-numpy.
"""
import json
import os
import sys

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../training"))
import judge
import label

MANY, OF_A_PAINTING, COLUMNS = 60, 8, 3
DECISION = os.path.join(HERE, "../processing/decision.json")


def draw(path, found, photos):
    taken, of = [], {}
    for strength, name, place in found:
        painting = judge.painting(name)
        if len(taken) < MANY and of.get(painting, 0) < OF_A_PAINTING:
            of[painting] = of.get(painting, 0) + 1
            taken.append((strength, name, place))
    images = {name: label.read(photos[name]) for _, name, _ in taken}
    tiles = [label.tile(images[name], place, k + 1) for k, (_, name, place) in enumerate(taken)]
    tiles += [np.zeros((256, 768, 3), np.uint8)] * (-len(tiles) % COLUMNS)
    rows = [np.concatenate(tiles[k:k + COLUMNS], 1) for k in range(0, len(tiles), COLUMNS)]
    cv2.imwrite(path + ".png", np.concatenate(rows))
    with open(path + ".txt", "w") as out:
        for k, (strength, name, place) in enumerate(taken):
            print(k + 1, name, place["x"], place["y"], round(strength, 2), file=out)


def main():
    folder, out, *paths = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    photos = {os.path.splitext(os.path.basename(p))[0]: p for p in paths}
    found = []
    for name in sorted(photos):
        for f in json.load(open(os.path.join(folder, name + "_findings.json")))["findings"]:
            place = {"x": f["left"] + f["width"] // 2, "y": f["top"] + f["height"] // 2}
            found.append((f["strength"], name, place))
    strengths = json.load(open(DECISION))["strengths"]
    default = strengths[len(strengths) // 2]
    accepted = sorted((f for f in found if f[0] > default), key=lambda f: f[0])
    draw(os.path.join(out, "strongest"), accepted[::-1], photos)
    draw(os.path.join(out, "weakest"), accepted, photos)


if __name__ == "__main__":
    main()
