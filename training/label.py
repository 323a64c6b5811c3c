"""Labels findings on photographs by eye.

  label.py propose OUT.json PHOTO LOGITS.npz|FINDINGS.json...   candidates of one photograph from several networks
  label.py sheets DIR CANDIDATES.json... [--seed N] [--page N]  contact sheets and DIR/key.json
  label.py take LABELS.json DIR ANSWERS.txt OBSERVER            adds answers ("7 G": place 7 of the key is glare)
  label.py agree LABELS.json A B                                agreement of two observers: share and kappa
  label.py maps OUT LABELS.json CANDIDATES.json... --photos DIR draws label maps for training

A candidate is a place that a network marked, of any strength. A sheet shows each at 400 %, plain and marked, and in a wide
view at 100 %, because a light in an eye is known by the face around it. The observer does not see which network proposed a
place, nor how strongly. Labels: G glare, P painted light, E edge, frame or support, C canvas or paper, W invisible, D dust or
grain, U unsure. Disputed places count as unsure.

A label map has 255 for glare by eye (pixels above half the rise of the peak), 64 painted light, 65 edge or support, 66 other,
128 ignored (unsure, and candidates that nobody looked at, with a rim), 0 paint.
"""
import argparse
import hashlib
import json
import os

import numpy as np

LABELS = "GPECWDU"
NEAR = 4  # places closer than this are one, in pixels
STRATA, MOST = 8, 64
MAP = {"P": 64, "E": 65, "C": 66, "W": 66, "D": 66, "U": 128}


def read(path):
    import cv2
    return cv2.imread(path, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)


def level(image):
    """Returns the larger of the darkest channel and the lightness of a picture in BGR."""
    b, g, r = (image[..., i].astype(np.int32) for i in range(3))
    return np.maximum(np.minimum(np.minimum(r, g), b), (r + 2 * g + b + 2) >> 2)


def rise(value, y, x, marked):
    """Returns the rise of a peak over the median of its unmarked surroundings, 25 x 25 pixels."""
    box = np.s_[max(0, y - 12):y + 13, max(0, x - 12):x + 13]
    rest = value[box][~marked[box]]
    rest = rest if len(rest) >= 50 else value[box].ravel()
    return int(value[y, x]) - int(np.sort(rest, axis=None)[(len(rest) - 1) // 2])


def components(logits, value):
    """Yields x, y of the peak, strength, area and rise of the 8-connected components of positive logits."""
    import cv2
    marked = logits > 0
    n, label = cv2.connectedComponents(marked.astype(np.uint8), connectivity=8)
    at = np.flatnonzero(marked)
    of = label.ravel()[at]
    total = np.bincount(of, weights=logits.ravel()[at], minlength=n)
    area = np.bincount(of, minlength=n)
    order = np.lexsort((at, -value.ravel()[at], of))
    first = np.unique(of[order], return_index=True)[1]
    for k in order[first]:
        y, x = divmod(int(at[k]), logits.shape[1])
        yield x, y, float(total[of[k]]) ** 0.5, int(area[of[k]]), rise(value, y, x, marked)


def sparse(path, name):
    """Returns the logits of a picture from an .npz of apply.py."""
    store = np.load(path)
    out = np.zeros(store[name + "_s"], np.float32)
    out.ravel()[store[name + "_i"]] = store[name + "_v"]
    return out


def digest(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()


def propose(out, photo, sources):
    """Draws up to MOST candidates, equally from all ranks of strength."""
    image = read(photo)
    value, name = level(image), os.path.splitext(os.path.basename(photo))[0]
    found = []
    for source in sources:
        if source.endswith(".npz"):
            rows = list(components(sparse(source, name), value))
        else:
            rows = [(f["left"] + f["width"] // 2, f["top"] + f["height"] // 2, f["score"], f["area"], None)
                    for f in json.load(open(source))["findings"]]
        ranks = np.argsort(np.argsort([-r[2] for r in rows])) / max(1, len(rows))
        for (x, y, strength, area, up), rank in zip(rows, ranks):
            if up is None:
                box = value[max(0, y - 3):y + 4, max(0, x - 3):x + 4]
                up = int(box.max()) - int(np.median(value[max(0, y - 12):y + 13, max(0, x - 12):x + 13]))
            if up >= 20:
                found.append([float(rank), x, y, area, up, os.path.basename(source)])
    found.sort()
    kept = []
    for f in found:
        near = [k for k in kept if abs(k[1] - f[1]) < NEAR and abs(k[2] - f[2]) < NEAR]
        if near:
            near[0][5] += " " + f[5]
        else:
            kept.append(f)
    rng = np.random.default_rng(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))
    bands = [list(b) for b in np.array_split(np.array(kept, dtype=object), STRATA)]
    chosen = []
    while len(chosen) < min(MOST, len(kept)):
        for band in bands:
            if band and len(chosen) < MOST:
                chosen.append(band.pop(int(rng.integers(len(band)))))
    places = [{"x": int(c[1]), "y": int(c[2]), "rank": round(float(c[0]), 3), "area": int(c[3]), "rise": int(c[4]), "by": c[5]} for c in chosen]
    json.dump({"file": os.path.basename(photo), "path": photo, "sha256": digest(photo), "places": places,
               "all": [[int(k[1]), int(k[2])] for k in kept]}, open(out, "w"), indent=1)
    print(name, len(kept), "candidates,", len(places), "drawn")


def window(image, x, y, side):
    """Returns side x side pixels about a place; outside the picture is grey."""
    r = side // 2
    padded = np.full((side, side, 3), 90, np.uint8)
    h, w = image.shape[:2]
    y0, y1, x0, x1 = max(0, y - r), min(h, y - r + side), max(0, x - r), min(w, x - r + side)
    padded[y0 - y + r:y1 - y + r, x0 - x + r:x1 - x + r] = image[y0:y1, x0:x1]
    return padded


def tile(image, place, number):
    import cv2
    near = cv2.resize(window(image, place["x"], place["y"], 64), (256, 256), interpolation=cv2.INTER_CUBIC)
    marked = near.copy()
    cv2.circle(marked, (130, 130), 6 * 4, (0, 255, 255), 1, cv2.LINE_AA)
    wide = window(image, place["x"], place["y"], 384)
    wide = cv2.resize(wide, (256, 256), interpolation=cv2.INTER_AREA)
    cv2.circle(wide, (128, 128), 12, (0, 255, 255), 1, cv2.LINE_AA)
    row = np.concatenate([near, marked, wide], 1)
    cv2.putText(row, str(number), (4, 22), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 0, 0), 4, cv2.LINE_AA)
    cv2.putText(row, str(number), (4, 22), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 255, 255), 1, cv2.LINE_AA)
    return row


def sheets(folder, sources, seed, page):
    """Writes sheets of two columns; with a seed, places are in random order."""
    import cv2
    os.makedirs(folder, exist_ok=True)
    places = []
    for source in sources:
        c = json.load(open(source))
        places += [dict(p, file=c["file"], path=c["path"], sha256=c["sha256"]) for p in c["places"]]
    if seed is not None:
        places = [places[i] for i in np.random.default_rng(seed).permutation(len(places))]
    images = {}
    for first in range(0, len(places), page):
        part = places[first:first + page]
        tiles = [tile(images.setdefault(p["path"], read(p["path"])), p, first + i + 1) for i, p in enumerate(part)]
        tiles += [np.zeros_like(tiles[0])] * (len(tiles) % 2)
        rows = [np.concatenate([a, np.zeros((256, 12, 3), np.uint8), b], 1) for a, b in zip(tiles[0::2], tiles[1::2])]
        gap = np.zeros((8, rows[0].shape[1], 3), np.uint8)
        cv2.imwrite("%s/sheet%02d.png" % (folder, first // page + 1), np.concatenate([v for r in rows for v in (r, gap)]))
    json.dump(places, open(folder + "/key.json", "w"), indent=1)
    print(folder, len(places), "places on", (len(places) + page - 1) // page, "sheets")


def read_labels(store):
    """Returns the hashes of the pictures by file, and the labelled places; a list of places has no hashes."""
    kept = json.load(open(store)) if os.path.exists(store) else []
    return ({}, kept) if isinstance(kept, list) else (kept["pictures"], kept["places"])


def write_labels(store, pictures, places):
    rows = ",\n".join(json.dumps(p) for p in places)
    with open(store, "w") as out:
        out.write('{"pictures": %s,\n"places": [\n%s\n]}\n' % (json.dumps(pictures, indent=1), rows))


def take(store, folder, answers, observer):
    places = json.load(open(folder + "/key.json"))
    pictures, kept = read_labels(store)
    given = {}
    for line in open(answers):
        words = line.split()
        if words and not line.startswith("#"):
            number, label = int(words[0]), words[1].upper()
            if label not in LABELS or not 1 <= number <= len(places):
                raise SystemExit("%s: %r is no answer" % (answers, line))
            given[number] = label
    for number, label in sorted(given.items()):
        p = places[number - 1]
        if pictures.setdefault(p["file"], p["sha256"]) != p["sha256"]:
            raise SystemExit("%s: the labels are for another picture of this name" % p["file"])
        kept.append({"file": p["file"], "x": p["x"], "y": p["y"], "label": label, "observer": observer})
    write_labels(store, pictures, kept)
    print(len(given), "of", len(places), "answers;", len(kept), "in", store)


def by_place(rows):
    out = {}
    for r in rows:
        out.setdefault((r["file"], r["x"], r["y"]), {})[r.get("observer", "first")] = r["label"]
    return out


def agree(store, a, b):
    """Prints agreement over all labels, and over places that both observers decided."""
    pairs = [(v[a], v[b]) for v in by_place(read_labels(store)[1]).values() if a in v and b in v]
    kind = lambda l: {"G": "G", "U": "U"}.get(l, "N")
    for name, rows in (("glare, not, unsure", [(kind(p), kind(q)) for p, q in pairs]),
                       ("decided by both", [(kind(p), kind(q)) for p, q in pairs if "U" not in (p, q)])):
        n = len(rows)
        same = sum(p == q for p, q in rows) / n
        kinds = {k for r in rows for k in r}
        chance = sum(sum(p == k for p, _ in rows) * sum(q == k for _, q in rows) for k in kinds) / n ** 2
        print("%-20s n %d, agreement %.3f, kappa %.3f" % (name, n, same, (same - chance) / (1 - chance)))


def verdict(labels, doubted=False):
    """Returns one label for a place: disputed between glare and anything else is unsure, and so are what only one observer
    could not see, and all glare on a photograph on which another observer found none."""
    labels = list(labels)
    if labels == ["W"] or doubted and "G" in labels:
        return "U"
    decided = [l for l in labels if l != "U"]
    glare = [l == "G" for l in decided]
    return "U" if not decided or len(decided) * 2 <= len(labels) or any(glare) != all(glare) else decided[0]


def maps(out, store, sources, photos, doubted):
    """Draws the label map of each photograph in sources."""
    import cv2
    os.makedirs(out, exist_ok=True)
    pictures, rows = read_labels(store)
    places = by_place(rows)
    for source in sources:
        c = json.load(open(source))
        if pictures.get(c["file"], c["sha256"]) != c["sha256"]:
            raise SystemExit("%s: the labels are for another picture of this name" % c["file"])
        image = read(os.path.join(photos, c["file"]))
        value = level(image)
        blank = np.zeros(value.shape, bool)
        mine = {(x, y): verdict(v.values(), c["file"] in doubted) for (f, x, y), v in places.items() if f == c["file"]}
        lab = np.zeros(value.shape, np.uint8)
        for x, y in c["all"]:
            lab[max(0, y - 5):y + 6, max(0, x - 5):x + 6] = 128
        for (x, y), label in mine.items():
            y0, x0 = max(0, y - 14), max(0, x - 14)
            box = value[y0:y + 15, x0:x + 15]
            core = box[max(0, y - y0 - 2):y - y0 + 3, max(0, x - x0 - 2):x - x0 + 3]
            peak = int(core.max())
            py, px = np.argwhere(box[max(0, y - y0 - 2):, max(0, x - x0 - 2):][:5, :5] == peak)[0] + [max(0, y - y0 - 2), max(0, x - x0 - 2)]
            up = rise(value, y0 + py, x0 + px, blank)
            n, part = cv2.connectedComponents((box * 2 > 2 * peak - up).astype(np.uint8), connectivity=8)
            spot = part == part[py, px]
            rim = cv2.dilate(spot.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
            area = lab[y0:y + 15, x0:x + 15]
            area[rim & (area != 255)] = 128
            area[spot] = 255 if label == "G" else MAP[label]
        name = os.path.splitext(c["file"])[0]
        cv2.imwrite("%s/%s_lab.png" % (out, name), lab)
        print(name, {l: sum(v == l for v in mine.values()) for l in LABELS})


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("command", choices=["propose", "sheets", "take", "agree", "maps"])
    ap.add_argument("to")
    ap.add_argument("arguments", nargs="+")
    ap.add_argument("--seed", type=int)
    ap.add_argument("--page", type=int, default=10)
    ap.add_argument("--photos", default=".")
    ap.add_argument("--doubted", default="", help="files on which an earlier observer found no glare")
    o = ap.parse_args()
    a = o.arguments
    if o.command == "propose":
        propose(o.to, a[0], a[1:])
    elif o.command == "sheets":
        sheets(o.to, a, o.seed, o.page)
    elif o.command == "take":
        take(o.to, *a)
    elif o.command == "agree":
        agree(o.to, *a)
    else:
        maps(o.to, a[0], a[1:], o.photos, o.doubted.split(","))


if __name__ == "__main__":
    main()
