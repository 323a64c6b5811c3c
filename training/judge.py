"""Finds glints in logits, and judges networks on rendered pictures.

A finding is an 8-connected component of positive logits; its strength is the square root of the sum of its logits.
"""
import concurrent.futures

import numpy as np

BRIGHT = 120  # a glint is bright if its darkest channel peaks at this level or above
RATES = (3, 6, 12, 25, 60)  # false components per megapixel of clean pictures at which recall is reported


def findings(logit):
    """float [h, w] -> labels int32 [h, w], strength of each label (0 for label 0)"""
    import cv2
    n, label = cv2.connectedComponents((logit > 0).astype(np.uint8), connectivity=8)
    total = np.bincount(label.ravel(), np.maximum(logit, 0).ravel(), minlength=n)
    total[0] = 0
    return label, np.sqrt(total)


def mask(logit, threshold):
    label, strength = findings(logit)
    return np.where((strength > threshold)[label], 255, 0).astype(np.uint8)


def logits(net, rgb):
    """uint8 [h, w, 3] -> float32 [h, w], exact for a quantised network"""
    import torch
    from planes import planes_torch
    h, w = rgb.shape[:2]
    even = np.pad(rgb, ((0, h & 1), (0, w & 1), (0, 0)), mode="edge")
    device = next(net.parameters()).device
    with torch.no_grad():
        planes = planes_torch(torch.from_numpy(np.ascontiguousarray(even.transpose(2, 0, 1)))[None].to(device))
        return net(planes)[0, 0, :h, :w].float().cpu().numpy()


def compare(logit, truth, rgb):
    """Returns the strengths of false and of correct findings, and (best strength, bright?) of each true glint of 3 px or more."""
    import cv2
    label, strength = findings(logit)
    wide = lambda m: cv2.dilate(m.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    right = np.zeros(len(strength), bool)
    right[np.unique(label[wide(truth == 255)])] = True
    unsure = np.bincount(label[wide(truth == 128)].ravel(), minlength=len(strength)) * 2 >= np.bincount(label.ravel(), minlength=len(strength))
    n, true, stats, _ = cv2.connectedComponentsWithStats((truth == 255).astype(np.uint8), connectivity=8)
    reach = cv2.dilate(strength[label].astype(np.float32), np.ones((3, 3), np.uint8))
    best, peak = np.zeros(n), np.zeros(n)
    np.maximum.at(best, true.ravel(), reach.ravel())
    np.maximum.at(peak, true.ravel(), rgb.min(2).ravel())
    ok = stats[1:, cv2.CC_STAT_AREA] >= 3
    return strength[1:][~right[1:] & ~unsure[1:]], strength[1:][right[1:]], np.stack([best[1:][ok], peak[1:][ok] >= BRIGHT], 1)


def judge(net, store, items):
    """Returns recall at given rates of false findings on clean pictures, thresholds, and precision on varied glints."""
    rows = [(store["kind"][i], logits(net, store["pictures"][i]), store["truth"][i], store["pictures"][i]) for i in items]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        parts = list(pool.map(lambda r: compare(*r[1:]), rows))
    kinds = np.array([r[0] for r in rows])
    of = lambda k, j: np.concatenate([p[j] for p, kind in zip(parts, kinds) if kind == k] or [np.zeros((0, 2) if j == 2 else 0)])
    clean = np.sort(of(3, 0))[::-1]
    megapixels = sum(r[2].size for r in rows if r[0] == 3) / 1e6
    out = {}
    for rate in RATES:
        allowed = int(rate * megapixels)
        threshold = float(clean[allowed]) if allowed < len(clean) else 0.0
        glints, spots = of(0, 2), of(2, 2)
        share = lambda a: round(float((a > threshold).mean()), 3) if len(a) else None
        right, wrong = (of(0, 1) > threshold).sum(), (of(0, 0) > threshold).sum()
        out[rate] = {"threshold": round(threshold, 2), "bright": share(glints[glints[:, 1] == 1, 0]),
                     "dim": share(glints[glints[:, 1] == 0, 0]), "precision": round(float(right / max(right + wrong, 1)), 3),
                     "condition": share(of(1, 2)[:, 0]), "spots": share(spots[:, 0])}
    return out
