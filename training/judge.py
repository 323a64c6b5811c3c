"""Judges networks on labelled photographs, each painting counting the same.

  judge.py LABELS.json PHOTOS NAME=LOGITS.npz[,LOGITS.npz...] ... [--doubted FILE,...] [--least RISE]

LABELS.json is that of label.py (a place of one observer or several). A network finds a place if a component that rises by at
least RISE levels has a pixel within 3 px of it; its strength is sqrt(sum of logits). For several thresholds of strength the
table has, as means over paintings with at least 5 such labels: the share found of glare with a darkest channel of 120 and more
(bright) and of the rest (dim), the precision among decided places found, and the findings a megapixel (median). Places were
drawn from the candidates of three networks, so precision is that on such a mixture, not on a network's own findings.
"""
import argparse
import os

import numpy as np

import label

NEAR, ENOUGH = 3, 5


def painting(file):
    name = os.path.splitext(file)[0]
    return name[:-2] if name.endswith(("_a", "_b")) else name


def strengths(logits, value, places, least):
    """Returns the strength with which each place is found (0 if it is not), and all strengths."""
    import cv2
    n, part = cv2.connectedComponents((logits > 0).astype(np.uint8), connectivity=8)
    rows = list(label.components(logits, value))
    power = np.zeros(n)
    for x, y, strength, _, up in rows:
        power[part[y, x]] = strength if up >= least else 0
    power[0] = 0
    near = [power[part[max(0, y - NEAR):y + NEAR + 1, max(0, x - NEAR):x + NEAR + 1]].max() for x, y in places]
    return np.array(near), power[1:]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("labels")
    ap.add_argument("photos")
    ap.add_argument("networks", nargs="+")
    ap.add_argument("--doubted", default="")
    ap.add_argument("--least", type=int, default=30)
    o = ap.parse_args()
    by_file = {}
    for (f, x, y), v in label.by_place(label.read_labels(o.labels)[1]).items():
        by_file.setdefault(f, []).append((x, y, label.verdict(v.values(), f in o.doubted.split(","))))
    images = {f: label.read(os.path.join(o.photos, f)) for f in by_file if os.path.exists(os.path.join(o.photos, f))}
    for network in o.networks:
        title, sources = network.split("=")
        stores = [np.load(s) for s in sources.split(",")]
        bright, dim, wrong, density = {}, {}, {}, {}
        for f, image in images.items():
            name = os.path.splitext(f)[0]
            store = next((s for s in stores if name + "_s" in s), None)
            if store is None:
                continue
            logits = np.zeros(store[name + "_s"], np.float32)
            logits.ravel()[store[name + "_i"]] = store[name + "_v"]
            places = by_file[f]
            found, every = strengths(logits, label.level(image), [p[:2] for p in places], o.least)
            low, p = image.min(2), painting(f)
            for (x, y, l), s in zip(places, found):
                if l == "G":
                    peak = low[max(0, y - 2):y + 3, max(0, x - 2):x + 3].max()
                    (bright if peak >= 120 else dim).setdefault(p, []).append(s)
                elif l != "U":
                    wrong.setdefault(p, []).append(s)
            d = density.setdefault(p, [[], 0])
            d[0].append(every)
            d[1] += logits.size / 1e6
        print("%s (%d glints, %d others, %d paintings)" % (title, sum(map(len, bright.values())) + sum(map(len, dim.values())),
                                                         sum(map(len, wrong.values())), len(density)))
        for t in (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8):
            mean = lambda groups: np.mean([np.mean(np.array(v) > t) for v in groups.values() if len(v) >= ENOUGH] or [np.nan])
            precision, pooled = [], np.zeros(2)
            for p in density:
                good = sum(s > t for s in bright.get(p, []) + dim.get(p, []))
                bad = sum(s > t for s in wrong.get(p, []))
                pooled += good, bad
                if good + bad >= ENOUGH:
                    precision.append(good / (good + bad))
            rate = [sum((e > t).sum() for e in d[0]) / d[1] for d in density.values()]
            print("  %4.1f  bright %.3f  dim %.3f  others found %.3f  precision %.3f (pooled %.3f, %d paintings)  %6.1f a MP" % (
                t, mean(bright), mean(dim), mean(wrong), np.mean(precision or [np.nan]), pooled[0] / max(1, pooled.sum()),
                len(precision), np.median(rate)))


if __name__ == "__main__":
    main()
