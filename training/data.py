"""Packs training sets (blik trainingset) into arrays, and draws augmented batches from them on the device.

  data.py pack OUT.npz SET [SET...]      OUT.npz is written uncompressed
"""
import concurrent.futures
import json
import os
import sys

import numpy as np

KINDS = ["varied", "condition", "spots", "clean"]
# The paintings of the labelled glints in glare-real are never used: other parts of them show unmarked glare.
RESERVED = ["p005", "p009"]
# The paintings of its clean crops are in fold 0, whose networks are trained without them.
FOLDS, FIRST_FOLD = 3, ["p013", "p018"]
RISE, CONTRAST = 22, 1.1
SHARES = "6,3,1.7,5"  # how often each kind is drawn

LUMINANCE = np.array([
    [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56],
    [14, 17, 22, 29, 51, 87, 80, 62], [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
    [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99]])
CHROMINANCE = np.array([
    [17, 18, 24, 47, 99, 99, 99, 99], [18, 21, 26, 66, 99, 99, 99, 99], [24, 26, 56, 99, 99, 99, 99, 99],
    [47, 66, 99, 99, 99, 99, 99, 99]] + 4 * [8 * [99]])


def painting(name):
    """Returns the painting of a file; all crops of a painting share it."""
    return "munch" if name.startswith("the_scream") else name.split("_")[0].replace("n11", "p038")


def folds(paintings):
    """Returns the fold of each painting, in the order of names; -1 for reserved ones."""
    names = sorted(set(paintings) - set(RESERVED))
    out = {n: i % FOLDS for i, n in enumerate(n for n in names if n not in FIRST_FOLD)}
    return out | {n: 0 for n in FIRST_FOLD} | {n: -1 for n in RESERVED}


def standing_out(picture, truth):
    """Marks invisible glints as unsure: those that rise by less than RISE levels above the median of their surroundings
    or by less than CONTRAST deviations of the ground. Returns the truth, and the number of each glint with its contrast."""
    import cv2
    n, label = cv2.connectedComponents((truth == 255).astype(np.uint8), connectivity=8)
    rise, contrast = np.zeros(n), np.zeros(n)
    for plane in (picture.min(2), cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)):
        over = plane.astype(np.float32) - cv2.medianBlur(plane, 21)
        mean = cv2.blur(plane.astype(np.float32), (33, 33))
        deviation = np.sqrt(np.maximum(cv2.blur(plane.astype(np.float32) ** 2, (33, 33)) - mean ** 2, 0))
        np.maximum.at(rise, label.ravel(), over.ravel())
        np.maximum.at(contrast, label.ravel(), (over / (deviation + 8)).ravel())
    faint = (rise < RISE) | (contrast < CONTRAST)
    faint[0] = False
    return np.where(faint[label], 128, truth).astype(np.uint8), label, contrast


def read(folder, item):
    import cv2
    im = cv2.imread(os.path.join(folder, item["picture"]), cv2.IMREAD_COLOR)[..., ::-1]
    truth, label, contrast = standing_out(im, cv2.imread(os.path.join(folder, item["truth"]), cv2.IMREAD_GRAYSCALE))
    area = np.bincount(label.ravel())
    # Pixels of small glints weigh more, and so do those of prominent glints, which must not be missed.
    weight = ((0.15 + 1.5 / np.sqrt(area)) * np.clip(contrast / 2.5, 0.3, 1.5)).astype(np.float32)
    weight[0] = 0
    return np.ascontiguousarray(im), truth, weight[label].astype(np.float16)


def pack(out, sets):
    items, made = [], []
    for folder in sets:
        manifest = json.load(open(os.path.join(folder, "manifest.json")))
        kinds = sorted({i["kind"] for i in manifest["items"]})
        made.append("seed %d: %d %s" % (manifest["seed"], len(manifest["items"]), ", ".join(kinds)))
        items += [(folder, item) for item in manifest["items"]]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        rows = list(pool.map(lambda x: read(*x), items))
    np.savez(out, sets=np.array(made), pictures=np.stack([r[0] for r in rows]), truth=np.stack([r[1] for r in rows]),
             weight=np.stack([r[2] for r in rows]), kind=np.array([KINDS.index(i["kind"]) for _, i in items]),
             painting=np.array([painting(i["painting"]) for _, i in items]), files=np.array([i["painting"] for _, i in items]),
             hashes=np.array([i["painting_sha256"] for _, i in items]))
    print("packed %d pictures of %d paintings" % (len(items), len({i["painting_sha256"] for _, i in items})))


class Batches:
    """Draws augmented patches on the device. choose is the array of numbers of the examples to draw from."""

    def __init__(self, store, choose, device, seed, batch, shares, side=192):
        import torch
        self.torch, self.device, self.batch, self.side = torch, device, batch, side
        take = lambda a: torch.from_numpy(np.ascontiguousarray(a[choose])).to(device)
        self.pictures, self.truth, self.weight = take(store["pictures"]), take(store["truth"]), take(store["weight"])
        kind = store["kind"][choose]
        self.of_kind = [np.flatnonzero(kind == k) for k in range(len(KINDS))]
        self.shares = shares
        self.hardness = np.ones(len(choose))
        self.rng = np.random.default_rng(seed)
        self.gen = torch.Generator(device=device).manual_seed(seed)

    def uniform(self, low, high):
        return low + (high - low) * self.torch.rand(self.batch, generator=self.gen, device=self.device)

    def chance(self, p):
        return self.torch.rand(self.batch, generator=self.gen, device=self.device) < p

    def choose(self):
        """Draws numbers of examples: kinds by their shares, clean examples in proportion to their difficulty so far."""
        shares = np.array([s if len(o) else 0 for s, o in zip(self.shares, self.of_kind)])
        out = np.empty(self.batch, np.int64)
        for i, k in enumerate(self.rng.choice(len(KINDS), self.batch, p=shares / shares.sum())):
            of = self.of_kind[k]
            p = 0.3 + self.hardness[of] / self.hardness[of].mean() if KINDS[k] == "clean" else np.ones(len(of))
            out[i] = self.rng.choice(of, p=p / p.sum())
        return out

    def note(self, chosen, loss):
        """Stores the difficulty of the negatives of each chosen example."""
        for i, v in zip(chosen, loss):
            self.hardness[i] += 0.3 * (float(v) - self.hardness[i])

    def geometry(self):
        """Returns source positions [batch, side, side] of upright, rotated or mirrored patches, and scales; half are 1."""
        t, b, n = self.torch, self.batch, self.side
        h, w = self.truth.shape[1:]
        scale = t.where(self.chance(0.5), t.ones(b, device=self.device), t.exp(self.uniform(np.log(0.55), np.log(1.8))))
        span = scale * (n - 1)
        y0, x0 = self.uniform(0, 1) * (h - 1 - span), self.uniform(0, 1) * (w - 1 - span)
        exact = scale == 1
        y0, x0 = t.where(exact, y0.floor(), y0), t.where(exact, x0.floor(), x0)
        r = t.arange(n, device=self.device, dtype=t.float32)
        v, u = (r * scale[:, None])[:, :, None].expand(b, n, n), (r * scale[:, None])[:, None, :].expand(b, n, n)
        turn, flip = self.chance(0.5)[:, None, None], self.chance(0.5)[:, None, None]
        mirror = self.chance(0.5)[:, None, None]
        v, u = t.where(turn, u, v), t.where(turn, v, u)
        v, u = t.where(flip, span[:, None, None] - v, v), t.where(mirror, span[:, None, None] - u, u)
        return v + y0[:, None, None], u + x0[:, None, None], scale

    def gather(self, chosen, y, x):
        """Returns bilinear colour [batch, 3, side, side] in 0...1, shares of glare and of unsure ground, and weights."""
        t = self.torch
        h, w = self.truth.shape[1:]
        y, x = y.clamp(0, h - 1.001), x.clamp(0, w - 1.001)
        j, i = y.long(), x.long()
        fy, fx = y - j, x - i
        base = chosen[:, None, None] * (h * w) + j * w + i
        colour, truth, weight = self.pictures.view(-1, 3), self.truth.view(-1), self.weight.view(-1)
        out = glare = unsure = heavy = 0
        for step, share in ((0, (1 - fy) * (1 - fx)), (1, (1 - fy) * fx), (w, fy * (1 - fx)), (w + 1, fy * fx)):
            at = base + step
            out = out + colour[at].float() * (share / 255)[..., None]
            level = truth[at]
            glare, unsure = glare + share * (level == 255), unsure + share * (level == 128)
            heavy = t.maximum(t.as_tensor(heavy, device=self.device), weight[at].float() * (share > 0.05))
        return out.permute(0, 3, 1, 2), glare, unsure, heavy

    def photograph(self, rgb):
        """Varies exposure, tint, lens and camera."""
        t, f = self.torch, self.torch.nn.functional
        one = lambda v: v[:, None, None, None]
        rgb = rgb.clamp(1e-4, 1) ** one(t.exp(self.uniform(-0.35, 0.35)))
        rgb = rgb * one(t.where(self.chance(0.5), self.uniform(0.45, 1.2), t.ones(self.batch, device=self.device)))
        grey = rgb.mean(1, keepdim=True)
        rich = one(t.where(self.chance(0.4), self.uniform(1.0, 2.2), t.ones(self.batch, device=self.device)))
        black = one(t.where(self.chance(0.3), self.uniform(0.0, 0.15), t.zeros(self.batch, device=self.device)))
        rgb = (((grey + rich * (rgb - grey)).clamp(0, 1) - black) / (1 - black)).clamp(min=0)
        tint = 1 + 0.12 * (2 * t.rand(self.batch, 3, generator=self.gen, device=self.device) - 1)
        rgb = rgb * t.where(one(self.chance(0.5)), tint[:, :, None, None], t.ones_like(tint)[:, :, None, None])
        rgb = t.where(one(self.chance(0.05)), rgb.mean(1, keepdim=True), rgb)
        sigma = t.where(self.chance(0.35), self.uniform(0.3, 1.1), t.full((self.batch,), 0.01, device=self.device))
        d = t.arange(-3, 4, device=self.device, dtype=t.float32)
        k = t.exp(-d ** 2 / (2 * sigma[:, None] ** 2))
        k = (k / k.sum(1, keepdim=True)).repeat_interleave(3, 0)
        flat = rgb.reshape(1, -1, self.side, self.side)
        soft = f.conv2d(f.pad(flat, (3, 3, 0, 0), "reflect"), k[:, None, None], groups=len(k))
        soft = f.conv2d(f.pad(soft, (0, 0, 3, 3), "reflect"), k[:, None, :, None], groups=len(k)).view_as(rgb)
        around = f.avg_pool2d(f.pad(rgb, (1, 1, 1, 1), "reflect"), 3, 1)
        sharp = one(t.where(self.chance(0.35), self.uniform(0.2, 1.5), t.zeros(self.batch, device=self.device)))
        rgb = soft + sharp * (rgb - around)
        grain = one(t.where(self.chance(0.5), t.exp(self.uniform(np.log(6e-4), np.log(0.018))), t.zeros(self.batch, device=self.device)))
        rgb = rgb + grain * t.randn(rgb.shape, generator=self.gen, device=self.device)
        return (self.jpeg(rgb.clamp(0, 1)).clamp(0, 1) * 255 + 0.5).to(t.uint8)

    def jpeg(self, rgb):
        """Applies JPEG quantisation (ITU-T T.81, tables of annex K) to half of the pictures, without chroma subsampling."""
        t, n = self.torch, self.side // 8
        quality = self.uniform(60, 97)
        factor = t.where(quality < 50, 50 / quality, 2 - quality / 50)[:, None, None, None]
        tables = t.from_numpy(np.stack([LUMINANCE, CHROMINANCE, CHROMINANCE])).to(self.device).float()
        step = (tables * factor).clamp(min=1).round().view(self.batch, 3, 1, 8, 1, 8)
        y = rgb[:, 0] * 0.299 + rgb[:, 1] * 0.587 + rgb[:, 2] * 0.114
        colour = t.stack([y - 128 / 255, (rgb[:, 2] - y) / 1.772, (rgb[:, 0] - y) / 1.402], 1) * 255
        k = t.arange(8, device=self.device, dtype=t.float32)
        dct = t.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16) * t.where(k == 0, 1 / 8, 1 / 4).sqrt()[:, None]
        blocks = t.einsum("ui,bcpiqj,vj->bcpuqv", dct, colour.reshape(self.batch, 3, n, 8, n, 8), dct)
        back = t.einsum("ui,bcpuqv,vj->bcpiqj", dct, (blocks / step).round() * step, dct)
        y, cb, cr = (back.reshape(colour.shape) / 255).unbind(1)
        y = y + 128 / 255
        out = t.stack([y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb], 1)
        return t.where(self.chance(0.5)[:, None, None, None], out, rgb)

    def next(self):
        """Returns pictures uint8 [batch, 3, side, side], targets 0 or 1, pixel weights (0 where unsure), chosen numbers."""
        t = self.torch
        chosen = self.choose()
        number = t.from_numpy(chosen).to(self.device)
        y, x, scale = self.geometry()
        d = ((scale - 1).clamp(min=0) / 4)[:, None, None]
        parts = [self.gather(number, y + a * d, x + b * d) for a, b in ((-1, -1), (-1, 1), (1, -1), (1, 1))]
        rgb, glare, unsure, heavy = (sum(p[i] for p in parts) / 4 for i in range(4))
        target = glare > 0.5
        ignore = ~target & ((glare > 0.15) | (unsure > 0.25))
        return self.photograph(rgb), target, t.where(target, heavy, (~ignore).float()), chosen


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] != "pack":
        sys.exit(__doc__)
    pack(sys.argv[2], sys.argv[3:])
