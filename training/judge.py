"""Judges findings of the program on labelled photographs, each painting counting the same.

  judge.py LABELS.json[,LABELS.json] NAME=FOLDER[,FOLDER...]... [--only PAINTING,...] [--doubted FILE,...]

FOLDER holds NAME_findings.json of `blik detect --sensitivity 5`, by a program with the network that is judged; of several folders
the first with a photograph counts, so that each can hold those that its network never saw. LABELS.json is that of label.py, or a
list of places of one observer as in ../shared/data/labels. A place counts as found if it lies within 3 px of the box of a finding,
with the strength of the strongest one. For several thresholds of strength: the share of glare found (mean of the paintings with at
least 5 such labels, and all labels together), the share of right ones among the decided places found (mean of the paintings with at
least 3 of them, and all together), findings a megapixel (median and mean of paintings), and the share of each other kind found.
The first line also has the share of right ones on average where SHARES of the glare are found; there each place is weighted by one
over the root of the number of its painting's places.
Places were drawn from the candidates of several networks, so precision is that on such a mixture, not on a network's own findings.
"""
import argparse
import json
import os

import numpy as np

import label

NEAR, GLINTS, DECIDED = 3, 5, 3
STRENGTHS = (2.5, 4, 5, 6.3, 7.5, 8.5, 9.5, 11, 12.5)

SHARES = np.linspace(0.08, 0.36, 15)


def average(glare, other):
    """Returns the share of right places on average over SHARES; glare and other have the strengths of each painting."""
    rows = []
    for p in glare.keys() | other.keys():
        found = np.array(glare.get(p, []) + other.get(p, []))
        right = np.arange(len(found)) < len(glare.get(p, []))
        rows.append((found, right, np.full(len(found), len(found) ** -0.5)))
    found, right, weight = (np.concatenate(v) for v in zip(*rows))
    order = np.argsort(-found, kind="stable")
    hit, all_ = np.cumsum((weight * right)[order]), np.cumsum(weight[order])
    return np.mean((hit / all_)[np.searchsorted(hit / hit[-1], SHARES)])


def painting(file):
    name = os.path.splitext(file)[0]
    return name[:-2] if name.endswith(("_a", "_b")) else name


def findings(folders, file):
    for folder in folders:
        path = os.path.join(folder, os.path.splitext(file)[0] + "_findings.json")
        if os.path.exists(path):
            return json.load(open(path))
    return None


def strengths(report, places):
    """Returns the strength with which each place is found, 0 if it is not."""
    found = report["findings"]
    box = np.array([(f["left"], f["top"], f["left"] + f["width"], f["top"] + f["height"]) for f in found]).reshape(-1, 4)
    strength = np.array([f["strength"] for f in found])
    out = []
    for x, y in places:
        near = (box[:, 0] - NEAR <= x) & (x < box[:, 2] + NEAR) & (box[:, 1] - NEAR <= y) & (y < box[:, 3] + NEAR)
        out.append(strength[near].max() if near.any() else 0)
    return np.array(out), strength


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("labels")
    ap.add_argument("networks", nargs="+")
    ap.add_argument("--only", default="")
    ap.add_argument("--doubted", default="")
    o = ap.parse_args()
    by_file, only, doubted = {}, [p for p in o.only.split(",") if p], o.doubted.split(",")
    for store in o.labels.split(","):
        for (file, x, y), v in label.by_place(label.read_labels(store)[1]).items():
            if not only or painting(file) in only:
                by_file.setdefault(file, []).append((x, y, label.verdict(v.values(), file in doubted)))
    for network in o.networks:
        title, folders = network.split("=")
        glare, other, kinds, density = {}, {}, {}, {}
        for file, places in by_file.items():
            report = findings(folders.split(","), file)
            if report is None:
                continue
            p = painting(file)
            found, every = strengths(report, [q[:2] for q in places])
            for (_, _, kind), s in zip(places, found):
                if kind == "G":
                    glare.setdefault(p, []).append(s)
                elif kind != "U":
                    other.setdefault(p, []).append(s)
                    kinds.setdefault(kind, []).append(s)
            d = density.setdefault(p, [[], 0])
            d[0].append(every)
            d[1] += report["width"] * report["height"] / 1e6
        count = lambda groups: sum(map(len, groups.values()))
        print("%s: %d paintings, %d glints, %d others, right on average %.3f" % (
            title, len(density), count(glare), count(other), average(glare, other)))
        for t in STRENGTHS:
            above = lambda group: int((np.array(group) > t).sum())
            recall = [above(v) / len(v) for v in glare.values() if len(v) >= GLINTS]
            pairs = [(above(glare.get(p, [])), above(other.get(p, []))) for p in density]
            precision = [g / (g + n) for g, n in pairs if g + n >= DECIDED]
            right, decided = sum(g for g, _ in pairs), sum(map(sum, pairs))
            rate = [sum(map(above, d[0])) / d[1] for d in density.values()]
            print("  %.2f  found %.3f (%d paintings), all %.3f  right %.3f (%d paintings), all %.3f  a MP %.1f, mean %.1f  %s" % (
                t, np.mean(recall or [np.nan]), len(recall), sum(map(above, glare.values())) / max(1, count(glare)),
                np.mean(precision or [np.nan]), len(precision), right / max(1, decided), np.median(rate), np.mean(rate),
                " ".join("%s %.2f" % (k, above(v) / len(v)) for k, v in sorted(kinds.items()))))


if __name__ == "__main__":
    main()
