"""Ranks findings by their network's logits and by how steep they are, on labelled crops and photographs.

  steepness.py TRUTH CROPS LABELS.json[,LABELS.json] PHOTOGRAPHS[,PHOTOGRAPHS...] [--only PAINTING,...]

CROPS and PHOTOGRAPHS hold findings of `blik detect --sensitivity 5`; of several PHOTOGRAPHS the first with a picture counts, as in
judge.py. Their strength is √(Σ logit · √contrast / radius), with contrast = rise / (ground + 16) and a radius of at least 1; the
logits follow from it and from the finding's area, rise and peak, nearly: where components touch, the area is that of all. For each
rule: of the decided places found, the share that are glare where a fifth of the glare is found (mean of the paintings with at least 3;
all together), averaged over thresholds with nearly that recall; and the recall of crops (bright / dim) at 8 false findings a megapixel.
"""
import argparse
import glob
import os

import numpy as np

import judge
import label
from crops import Crop

FOUND, NEARLY, RATE = 0.2, 0.02, 8
RULES = {
    "√Σ logit": lambda s, radius, rise, contrast: s,
    "/ radius^½": lambda s, radius, rise, contrast: s / radius ** 0.5,
    "· rise^½ / radius^½": lambda s, radius, rise, contrast: s * (rise / radius) ** 0.5,
    "· contrast^½ / radius^½": lambda s, radius, rise, contrast: s * (contrast / radius) ** 0.5,
    "· contrast^¼ / radius^½": lambda s, radius, rise, contrast: s * (contrast ** 0.5 / radius) ** 0.5,
}


def ranked(findings, rule):
    """Gives findings the strength of a rule."""
    out = []
    for f in findings:
        radius, rise = max(1, (f["area"] / np.pi) ** 0.5), f["rise"]
        contrast = rise / (f["peak"] - rise + 16)
        logits = f["strength"] / (contrast ** 0.5 / radius) ** 0.5
        out.append({**f, "strength": float(rule(logits, radius, rise, contrast))})
    return out


class Ranked(Crop):
    def __init__(self, truth, name, folder, rule):
        self.rule = rule
        super().__init__(truth, name, folder)

    def judged(self, findings):
        return ranked(findings, self.rule)


def on_crops(truth, folder, rule):
    """Returns the recall of bright and of dim glints."""
    names = sorted(os.path.basename(f)[:-10] for f in glob.glob(truth + "/*_truth.png"))
    crops = [Ranked(truth, n, folder, rule) for n in names]
    clean = [c for c in crops if not c.glare.any()]
    area = sum(np.count_nonzero(~c.unsure) for c in clean) / 1e6
    for t in np.unique(np.concatenate([[0], *(c.strength for c in clean)])):
        if sum(c.found(t)[2] for c in clean) <= RATE * area:
            break
    hit = np.concatenate([c.found(t)[0] for c in crops])
    bright = np.concatenate([c.bright for c in crops])
    return hit[bright].mean(), hit[~bright].mean()


def on_photographs(places, folders, rule):
    """Returns the shares of right places, mean of paintings and all together."""
    glare, other = {}, {}
    for file, of in places.items():
        report = judge.findings(folders, file)
        if report is None:
            continue
        report["findings"] = ranked(report["findings"], rule)
        for (_, _, kind), s in zip(of, judge.strengths(report, [q[:2] for q in of])[0]):
            if kind != "U":
                (glare if kind == "G" else other).setdefault(judge.painting(file), []).append(s)
    rows = []
    for t in np.unique(np.concatenate([*glare.values(), *other.values()])):
        above = lambda group: int((np.array(group) >= max(t, 1e-9)).sum())
        found = np.mean([above(v) / len(v) for v in glare.values() if len(v) >= judge.GLINTS])
        pairs = [(above(glare.get(p, [])), above(other.get(p, []))) for p in {*glare, *other}]
        right = [g / (g + n) for g, n in pairs if g + n >= judge.DECIDED]
        if abs(found - FOUND) <= NEARLY and right:
            rows.append((np.mean(right), sum(g for g, _ in pairs) / sum(map(sum, pairs))))
    return np.mean(rows, 0) if rows else (np.nan, np.nan)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("truth")
    ap.add_argument("crops")
    ap.add_argument("labels")
    ap.add_argument("photographs")
    ap.add_argument("--only", default="")
    o = ap.parse_args()
    places, only = {}, [p for p in o.only.split(",") if p]
    for store in o.labels.split(","):
        for (file, x, y), v in label.by_place(label.read_labels(store)[1]).items():
            if not only or judge.painting(file) in only:
                places.setdefault(file, []).append((x, y, label.verdict(v.values(), False)))
    for name, rule in RULES.items():
        print("%-24s photographs %.2f; %.2f  crops %.2f / %.2f" % (
            name, *on_photographs(places, o.photographs.split(","), rule), *on_crops(o.truth, o.crops, rule)), flush=True)


if __name__ == "__main__":
    main()
